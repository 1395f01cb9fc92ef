/* SPDX-License-Identifier: MIT
 * diag.h - what is wrong with a program: up to ten findings of the reader and analyzer, or the one
 * error that ended a run.  Messages are for a model or person to repair from: what was found,
 * what was expected, the nearest way to write it. */
#ifndef PTC_LISP_READ_DIAG_H
#define PTC_LISP_READ_DIAG_H

#include "base/arena.h"
#include "lisp/vm/thrown.h"

/* A closed set, finer than the reasons of the wire format (ptc_error_reason). */
typedef enum {
    PTC_E_NONE = 0,
    PTC_E_PARSE,
    PTC_E_INVALID_FORM,
    PTC_E_UNBOUND,
    PTC_E_ARITY,
    PTC_E_TYPE,
    PTC_E_ARITH,
    PTC_E_NOT_CALLABLE,
    PTC_E_INDEX,
    PTC_E_VALUE,
    PTC_E_TOOL,
    PTC_E_UNKNOWN_TOOL,
    PTC_E_TOOL_ARGS,
    PTC_E_TOOL_LIMIT,
    PTC_E_VALIDATION,
    PTC_E_THROWN,
    PTC_E_FAIL,
    PTC_E_TIMEOUT,
    PTC_E_DEADLINE,
    PTC_E_MEMORY,
    PTC_E_DEFINITIONS, /* they take more than an agent may keep */
    PTC_E_LOOP,
    PTC_E_DEPTH,
    PTC_E_SIZE,
    PTC_E_CANCELLED,
    PTC_E_ARGS,
    PTC_E_TOOL_DENIED,
    PTC_E_KEY,       /* a key that nothing has */
    PTC_E_SUSPENDED, /* somebody must be asked before it can go on */
    PTC_E_COUNT
} PtcErrorKind;

/* "type_error" and so on; the wire's reason for it, "runtime_error" and so on. */
const char *ptc_error_kind_name(PtcErrorKind kind);
const char *ptc_error_reason(PtcErrorKind kind);
/* No program may catch it. */
bool ptc_error_is_terminal(PtcErrorKind kind);
/* The class of an error of this kind, when nothing finer is known. */
PtcThrown ptc_error_thrown(PtcErrorKind kind);

enum { PTC_DIAG_MAX = 10, PTC_MESSAGE_MAX = 300, PTC_HINT_MAX = 200 };

/* What a finding is more closely than its kind says, for front ends that add something to it. */
typedef enum PtcDiagDetail {
    PTC_DETAIL_NONE,
    PTC_DETAIL_UNNAMED,  /* nothing in the whole program has this name */
    PTC_DETAIL_UNCLOSED, /* the program ends inside of something */
} PtcDiagDetail;

typedef struct PtcDiag {
    PtcErrorKind kind;
    PtcDiagDetail detail;
    PtcThrown thrown;     /* its class, for catch; only of the error that ended a run */
    uint32_t first, last; /* the form, as byte offsets into the program */
    char message[PTC_MESSAGE_MAX + 4];
    char hint[PTC_HINT_MAX + 4];
    /* A nil was where something else belongs: whoever knows the element at work adds it to the hint. */
    bool about_nil;
} PtcDiag;

typedef struct PtcDiags {
    PtcDiag *items; /* PTC_DIAG_MAX of them, in the arena, made with the first finding */
    size_t count;
    PtcArena *arena;
} PtcDiags;

void ptc_diags_init(PtcDiags *diags, PtcArena *arena);

/* Adds a finding (the eleventh and later are dropped) and returns it, or NULL.  The message is cut to PTC_MESSAGE_MAX
 * bytes at a character boundary.  A second finding of the same kind at the same place is dropped. */
PtcDiag *ptc_diag_add(PtcDiags *diags, PtcErrorKind kind, uint32_t first, uint32_t last,
                      const char *format, ...) PTC_PRINTF(5, 6);
void ptc_diag_hint(PtcDiag *diag, const char *format, ...) PTC_PRINTF(2, 3);

/* For a call of what is no function. */
extern const char ptc_hint_data_called[], ptc_hint_string_called[];

/* Formats into a fixed field of `size` bytes, cut at a character boundary with "..." */
void ptc_diag_format(char *out, size_t size, const char *format, ...) PTC_PRINTF(3, 4);

/* Line and column (in characters), both from 1, of a byte offset. */
void ptc_diag_place(const char *source, size_t len, uint32_t offset, uint32_t *line,
                    uint32_t *column);

#endif
