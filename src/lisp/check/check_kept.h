/* SPDX-License-Identifier: MIT
 * check_kept.h - programs in which nothing was found, so that they need not be checked again.
 *
 * A program is known by its whole text, that of the signature of its answer, and the number of the host whose tools
 * it calls.  Those that read data, or go on with what earlier programs defined, are not kept: what is found in them
 * depends on values.  A few of the latest are kept, in the ledger of who owns them. */
#ifndef PTC_LISP_CHECK_CHECK_KEPT_H
#define PTC_LISP_CHECK_CHECK_KEPT_H

#include "base/mem.h"
#include "base/text.h"

enum {
    PTC_CHECK_KEPT = 16,
    PTC_CHECK_KEPT_BYTES = 16 * PTC_KB, /* of a program and a signature together */
};

typedef struct PtcCheckedProgram {
    char *text; /* the program, then the signature */
    size_t program_len, answer_len;
    uint64_t host;
} PtcCheckedProgram;

/* All zero: none. */
typedef struct PtcCheckKept {
    PtcCheckedProgram items[PTC_CHECK_KEPT];
    size_t next; /* to be replaced */
} PtcCheckKept;

bool ptc_check_kept_has(const PtcCheckKept *kept, PtcText program, PtcText answer, uint64_t host);
/* Out of memory, or too long: it is not kept. */
void ptc_check_kept_add(PtcCheckKept *kept, PtcMem *mem, PtcText program, PtcText answer,
                        uint64_t host);
void ptc_check_kept_deinit(PtcCheckKept *kept, PtcMem *mem);

#endif
