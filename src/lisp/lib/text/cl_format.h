/* SPDX-License-Identifier: MIT
 * cl_format.h - what the parts of cl-format share: one directive, and the numbers that it writes. */
#ifndef PTC_LISP_LIB_TEXT_CL_FORMAT_H
#define PTC_LISP_LIB_TEXT_CL_FORMAT_H

#include "lisp/vm/builtin.h"

enum { PTC_CL_PARAMS = 7, PTC_CL_MOST = 100000 /* the largest parameter */ };

/* ~3,'0:@d: parameters, modifiers and letter. */
typedef struct PtcClDirective {
    int64_t param[PTC_CL_PARAMS];
    bool has[PTC_CL_PARAMS];
    int count;
    bool colon, at;
    char letter;  /* in lower case */
    size_t first; /* bytes [first, last) of the template */
    size_t last;
} PtcClDirective;

static inline int64_t ptc_cl_param(const PtcClDirective *d, int i, int64_t otherwise)
{
    return i < PTC_CL_PARAMS && d->has[i] ? d->param[i] : otherwise;
}

/* --- numbers (cl_number.c): all append to buf.  False: failed, or the buffer is full. --- */

/* The character with this number, n times. */
bool ptc_cl_pad(PtcBuf *buf, int64_t character, int64_t n);
/* ~d ~b ~o ~x and ~radixr: the parameters from `from` on are width, padding, comma and interval. */
bool ptc_cl_integer(PtcVM *vm, PtcBuf *buf, PtcValue v, const PtcClDirective *d, int radix,
                    int from);
/* ~r: words, ordinals (:) and Roman numerals (@). */
bool ptc_cl_words(PtcVM *vm, PtcBuf *buf, PtcValue v, const PtcClDirective *d);
bool ptc_cl_fixed(PtcVM *vm, PtcBuf *buf, PtcValue v, const PtcClDirective *d);
bool ptc_cl_money(PtcVM *vm, PtcBuf *buf, PtcValue v, const PtcClDirective *d);

#endif
