/* SPDX-License-Identifier: MIT
 * read_int.h - what read.c (structure) and read_atom.c (numbers, strings, characters, names) share.
 * A function that reads a form starts at r->pos, leaves r->pos behind the form and returns NULL when
 * it failed: a finding has been added, or memory or time ran out. */
#ifndef PTC_LISP_READ_READ_INT_H
#define PTC_LISP_READ_READ_INT_H

#include "lisp/read/form.h"

typedef struct PtcReading {
    const PtcReader *in;
    const char *source;
    uint32_t len, pos;
    uint32_t depth;                /* forms now open, with prefixes such as ' */
    uint32_t open[PTC_FORM_DEPTH]; /* where each of them begins */
    uint32_t margin;               /* a list that begins a line inside an open form; 0: none */
    bool in_short_fn;
} PtcReading;

/* The beginning of a form as it goes into a message: on one line, cut when long. */
typedef struct PtcExcerpt {
    char text[48];
} PtcExcerpt;

PtcExcerpt ptc_read_excerpt(const PtcReading *r, uint32_t first, uint32_t last);

/* Adds a parse error about bytes [first, last).  The hint goes in apart, with ptc_diag_hint. */
#define PTC_READ_FAIL(r, first, last, ...) \
    ptc_diag_add((r)->in->diags, PTC_E_PARSE, (first), (last), __VA_ARGS__)

/* A form of bytes [first, r->pos), its last part not filled in. */
PtcForm *ptc_read_new(PtcReading *r, PtcFormKind kind, uint32_t first);

/* Length of the white-space character at `at`, 0 when there is none. */
uint32_t ptc_read_blank(const PtcReading *r, uint32_t at);
/* Where the token that begins at `at` ends; `at` itself when no token begins there. */
uint32_t ptc_read_token_end(const PtcReading *r, uint32_t at);

PtcForm *ptc_read_string(PtcReading *r);
PtcForm *ptc_read_regex(PtcReading *r);
PtcForm *ptc_read_char(PtcReading *r);
PtcForm *ptc_read_keyword(PtcReading *r);
/* ##Inf and its kin. */
PtcForm *ptc_read_special(PtcReading *r);
/* A number or a symbol. */
PtcForm *ptc_read_token(PtcReading *r);

/* The form that a prefix of `width` bytes at r->pos applies to (read.c). */
PtcForm *ptc_read_operand(PtcReading *r, uint32_t width);
/* A map literal, its opener at r->pos (read.c). */
PtcForm *ptc_read_map(PtcReading *r);
/* #inst, #uuid and #:a{...} (read_tag.c); what it does not know it leaves alone, with *known false. */
PtcForm *ptc_read_tagged(PtcReading *r, bool *known);

#endif
