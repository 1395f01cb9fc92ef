/* SPDX-License-Identifier: MIT
 * form.h - what the reader makes of program text: a tree in the arena.  Offsets are bytes into the
 * program; line and column are worked out only when something is reported. */
#ifndef PTC_LISP_READ_FORM_H
#define PTC_LISP_READ_FORM_H

#include "lisp/read/diag.h"
#include "value/heap.h"

typedef enum {
    PTC_F_NIL,
    PTC_F_TRUE,
    PTC_F_FALSE,
    PTC_F_NUMBER,  /* value */
    PTC_F_TAGGED,  /* value: what a tagged literal such as #inst stands for */
    PTC_F_STRING,  /* text, len: decoded; also characters (\a) */
    PTC_F_REGEX,   /* text, len: as between the quotes */
    PTC_F_KEYWORD, /* text, len: without the colon */
    PTC_F_SYMBOL,  /* text, len: with its namespace */
    PTC_F_LIST,    /* items, count */
    PTC_F_VECTOR,
    PTC_F_MAP, /* count is even */
    PTC_F_SET,
    PTC_F_SHORT_FN, /* #(...): items are those of the list */
    PTC_F_QUOTE,    /* 'x: one item */
    PTC_F_TEMPLATE, /* `x: one item */
    PTC_F_UNQUOTE,  /* ~x: one item */
    PTC_F_SPLICE,   /* ~@x: one item */
    PTC_F_VAR,      /* #'x: text, len */
} PtcFormKind;

typedef struct PtcForm PtcForm;
struct PtcForm {
    PtcFormKind kind;
    uint32_t first, last; /* bytes [first, last) of the program */
    uint32_t count;       /* items */
    union {
        PtcValue value;
        struct {
            const char *text;
            size_t len;
        };
        PtcForm **items;
    };
};

/* Reading is bounded by these, besides time and memory. */
enum {
    PTC_FORM_DEPTH = 200,       /* nesting of forms */
    PTC_FORM_INT_DIGITS = 4096, /* digits of one integer literal */
};

typedef struct PtcReader {
    const char *source; /* valid UTF-8 is checked by the reader */
    size_t len;
    PtcArena *arena;
    PtcHeap *heap; /* for numbers too large for a word */
    PtcDiags *diags;
} PtcReader;

/* Reads all top-level forms into *forms, *count.  False after a parse error (in diags), or when memory or
 * time ran out (arena->failed, or the heap's budget stopped). */
PTC_MUST_USE bool ptc_read(const PtcReader *reader, PtcForm ***forms, size_t *count);
/* Reads the first form and looks no further; *form is NULL when there is none. */
PTC_MUST_USE bool ptc_read_first(const PtcReader *reader, PtcForm **form);

/* Makes values of forms, as quote and read-string do (form_value.c). */
typedef struct PtcFormMaker {
    PtcHeap *heap;
    void *user;
    /* A string, keyword or symbol; NULL: a new one each time. */
    PtcValue (*word)(void *user, PtcTag type, const char *text, size_t len);
    PtcValue (*regex)(void *user, const PtcForm *form); /* NULL: refused */
    bool strict;                                        /* no functions, and no key twice */
    const PtcForm *bad;                                 /* the form that was refused ... */
    const char *why; /* ... and why; NULL when memory or time ran out */
} PtcFormMaker;

/* PTC_NONE: see bad, or the heap's budget.  Forms nest at most PTC_FORM_DEPTH deep, so this may recurse. */
PTC_MUST_USE PtcValue ptc_form_value(PtcFormMaker *maker, const PtcForm *form);

#endif
