/* SPDX-License-Identifier: MIT
 * warnings.h - what runs but is probably wrong.  A warning never changes what a program does or gives, so whatever goes
 * wrong while one is made is passed over.  At most ten are kept, in the order of the program, one for each place. */
#ifndef PTC_LISP_ANALYZE_WARNINGS_H
#define PTC_LISP_ANALYZE_WARNINGS_H

#include "lisp/read/diag.h"

typedef enum {
    PTC_W_UNKNOWN_DATA,  /* data/NAME without such data */
    PTC_W_UNKNOWN_KEY,   /* a key that no row has */
    PTC_W_DROPPED_VALUE, /* a value that nobody uses */
    PTC_W_EQUAL_ROWS,    /* rows that became one */
    PTC_W_HIDDEN_FORM,   /* a call of what has the name of a form */
    PTC_W_TYPE_MISMATCH, /* a value that a function does not take */
    PTC_W_MAYBE_NIL,     /* what may be absent, used as if it were always there */
    PTC_W_TOOL_ARGS,     /* arguments that a tool refuses */
    PTC_W_ANSWER,        /* an answer that is not what was asked for */
} PtcWarningKind;

/* "unknown_data" and so on. */
const char *ptc_warning_kind_name(PtcWarningKind kind);

enum { PTC_WARNINGS_MAX = 10 };

typedef struct PtcWarningItem {
    PtcWarningKind kind;
    uint32_t line, column;
    bool earlier; /* these are in the text of an earlier program of the session */
    bool checked; /* found before the program ran, as all are that ptc_warnings_add adds */
    bool general; /* the run, if it finds the same, can say it better */
    char message[PTC_MESSAGE_MAX + 4];
    char hint[PTC_HINT_MAX + 4];
} PtcWarningItem;

/* All zero: none. */
typedef struct PtcWarnings {
    /* PTC_WARNINGS_MAX of them, made with the first, in the ledger `mem`; or NULL. */
    PtcWarningItem *items;
    size_t count;
    PtcMem *mem;
} PtcWarnings;

void ptc_warnings_deinit(PtcWarnings *w);
/* A new warning at a place, whose texts are to be filled in; NULL: there is one of this kind there already, there
 * are enough of them, or out of memory. */
PtcWarningItem *ptc_warnings_add(PtcWarnings *w, PtcMem *mem, PtcWarningKind kind, uint32_t line,
                                 uint32_t column);
/* Adds copies of warnings [from, from + n) of another list. */
void ptc_warnings_merge(PtcWarnings *w, PtcMem *mem, const PtcWarnings *other, size_t from,
                        size_t n);

struct PtcVM;
/* The same at the instruction that calls the builtin which is running. */
PtcWarningItem *ptc_warnings_here(struct PtcVM *vm, PtcWarningKind kind);

#endif
