/* SPDX-License-Identifier: MIT
 * expr.h - the checked program: forms with names resolved and sugar opened up, in the arena.  Made by
 * the analyzer, read by the compiler. */
#ifndef PTC_LISP_ANALYZE_EXPR_H
#define PTC_LISP_ANALYZE_EXPR_H

#include "lisp/analyze/names.h"
#include "lisp/analyze/warnings.h"
#include "lisp/read/form.h"
#include "lisp/vm/host.h"

typedef struct PtcExpr PtcExpr;
typedef struct PtcFn PtcFn;
typedef struct PtcLocal PtcLocal;
typedef struct PtcArity PtcArity;

/* A name bound by let, loop, fn ...; also unnamed temporaries (len 0). */
struct PtcLocal {
    const char *name;
    size_t len;
    PtcLocal *outer; /* next in scope */
    PtcFn *fn;       /* whose frame it lives in */
    bool is_self;    /* the function's own name */
    uint16_t reg;    /* set by the compiler */
    /* Notes of the checker: what is known of it now, what gave it its value, and whose value that is a part of. */
    const struct PtcOutline *now;
    const PtcExpr *init;
    const PtcLocal *root;
};

typedef enum {
    PTC_X_CONST,   /* value */
    PTC_X_LOCAL,   /* local */
    PTC_X_CAPTURE, /* index */
    PTC_X_SELF,
    PTC_X_GLOBAL,  /* index */
    PTC_X_BUILTIN, /* index */
    PTC_X_DATA,    /* value: keyword */
    PTC_X_IF,      /* a, b, c (NULL: nil) */
    PTC_X_COND,    /* items: test, result, test, result ...; a: otherwise (NULL: nil) */
    PTC_X_CASE,    /* a: subject local expr; items: constant, result ...; b: otherwise */
    PTC_X_DO,      /* items */
    PTC_X_LET,     /* locals, items: their values; a: body */
    PTC_X_LOOP,    /* the same */
    PTC_X_RECUR,   /* target: loop, or NULL for the function; items */
    PTC_X_FN,      /* fn */
    PTC_X_CALL,    /* a: function; items */
    PTC_X_CALLB,   /* index; items */
    PTC_X_DEF,     /* index, a, value: the var; once */
    PTC_X_AND,     /* items */
    PTC_X_OR,
    PTC_X_VECTOR,
    PTC_X_MAP, /* items: key, value ... */
    PTC_X_SET,
    PTC_X_EACH, /* gives nil.  a: collection; locals[0]: element; b: body; once: a BREAK may end it; local: the
                 * builder, or NULL */
    PTC_X_BREAK, /* target: an EACH around it */
    PTC_X_BUILD, /* locals[0]: builder; a: body that pushes to it.  Gives the seq built */
    PTC_X_PUSH,  /* locals[0]: builder; a */
    PTC_X_STOP,  /* index: 0 return, 1 fail; a */
    PTC_X_LETFN, /* locals, items: functions that may name each other; a: body */
} PtcExprKind;

struct PtcExpr {
    PtcExprKind kind;
    uint32_t first, last;
    uint32_t count; /* items, or locals */
    uint32_t index;
    bool once;
    uint8_t visits; /* the checker's */
    PtcValue value;
    PtcLocal *local;
    PtcLocal **locals;
    PtcExpr **items;
    PtcExpr *a, *b, *c;
    PtcExpr *target;
    PtcFn *fn;
    /* compiler's notes on LOOP and EACH */
    uint32_t start;     /* where recur jumps to */
    int32_t break_jump; /* chain of jumps to patch */
};

/* One parameter list and body of a function. */
struct PtcArity {
    PtcLocal **params; /* count of them, with the rest parameter */
    uint32_t count;
    bool variadic;
    PtcExpr *body;
    uint32_t first, last;
};

/* Where a captured value comes from, seen from the enclosing function. */
typedef struct PtcCapture {
    PtcLocal *local;
    /* As the x of CAP: 0 register of local, 1 the enclosing function's capture, 2 itself. */
    uint8_t from;
    uint16_t index;
} PtcCapture;

/* How a function is written, which its text alone does not always tell. */
typedef enum {
    PTC_FORM_NONE,      /* not at all: a program, or a part of try */
    PTC_FORM_FN,        /* (fn name? [x] ...) */
    PTC_FORM_SHORT,     /* #(...) */
    PTC_FORM_DEFN,      /* (defn name [x] ...) */
    PTC_FORM_LETFN,     /* (name [x] ...) in letfn */
    PTC_FORM_DELAY,     /* (delay ...) */
    PTC_FORM_METHOD,    /* (name [this] ...) in defrecord, deftype or reify */
    PTC_FORM_DEFMETHOD, /* (defmethod name value [x] ...) */
    PTC_FORM_COUNT
} PtcFnForm;

struct PtcFn {
    PtcFn *parent;
    const char *name;
    size_t name_len;
    PtcValue doc; /* string or nil */
    PtcArity *arities;
    uint32_t arity_count;
    PtcCapture *captures;
    uint32_t capture_count;
    uint32_t first, last;
    uint8_t form;             /* PtcFnForm */
    bool recurs;              /* recur goes back to its start */
    struct PtcFnNotes *notes; /* the checker's */
};

/* What the checker must know of a program before it begins. */
typedef struct PtcProgramFacts {
    bool outside; /* it calls tools, or reads data or what earlier programs defined */
    bool values;  /* it reads data or what earlier programs defined */
    bool calls;   /* it calls tools */
    bool stops;   /* return or fail stands inside of a function */
    bool catches; /* there is a try that catches */
    const uint8_t
        *defs; /* by global, def_count of them: how often the program defines it, up to 2 */
    size_t def_count;
    size_t earlier; /* globals of earlier programs */
} PtcProgramFacts;

/* A program ready to be compiled: a function without parameters. */
typedef struct PtcAnalysis {
    PtcArena *arena;
    PtcHeap *heap; /* for constants */
    PtcDiags *diags;
    PtcNames *names; /* of globals; names the program defines are added */
    const char *source;
    size_t source_len;
    const PtcHost *host;    /* whose tools the program may call, or NULL */
    PtcServers *servers;    /* other servers that it may call, or NULL */
    PtcValue context;       /* map of what data/... names, or nil */
    PtcWarnings *warnings;  /* what is found is added to these; or NULL */
    bool bare_data;         /* names of the context may be written without data/ */
    PtcProgramFacts *facts; /* is filled in; or NULL */
} PtcAnalysis;

/* The program as a function, or NULL with findings in diags (or arena->failed, or the budget
 * stopped). */
PTC_MUST_USE PtcFn *ptc_analyze(const PtcAnalysis *job, PtcForm **forms, size_t count);

/* A function away from the program that it was part of. */
typedef struct PtcLoneFn {
    PtcForm *form;
    PtcFnForm kind;
    const char *captures; /* names of the values it captures, separated by spaces */
    size_t captures_len;
    bool aliases; /* does it see what require declared? */
    /* By global, `seen_count` of them: what it may name, and what it does name. */
    uint8_t *seen;
    size_t seen_count;
    struct PtcPreludeScope
        *prelude; /* it is of the prelude and sees what is defined there; or NULL */
} PtcLoneFn;
enum { PTC_MAY_NAME = 1, PTC_NAMES = 2 };

/* The same for such a function; job->names is not added to.  NULL also when it does not capture exactly those values
 * in that order. */
PTC_MUST_USE PtcFn *ptc_analyze_lone(const PtcAnalysis *job, const PtcLoneFn *lone);

/* Is it the name of a special form or macro? */
bool ptc_analyze_is_form(const char *name, size_t len);

#endif
