/* SPDX-License-Identifier: MIT
 * check_int.h - shared by the files of the checker. */
#ifndef PTC_LISP_CHECK_CHECK_INT_H
#define PTC_LISP_CHECK_CHECK_INT_H

#include "lisp/check/check_program.h"
#include "lisp/check/origin.h"
#include "lisp/vm/builtin.h"

enum {
    CHECK_DEPTH = 600,      /* expressions inside each other, calls included */
    CHECK_CALL_DEPTH = 4,   /* functions inside each other */
    CHECK_VARIANTS = 4,     /* sets of arguments of one function that are told apart */
    CHECK_NODE_VISITS = 16, /* of one expression */
    CHECK_VISITS = 100000,  /* of all */
    CHECK_ARGS = 8,         /* arguments that are told apart */
    CHECK_PARTS = 8,        /* of comp, juxt, partial */
    CHECK_CAPTURES = 32,
    CHECK_ROUNDS = 2,  /* of a loop, before what changes is anything */
    CHECK_TRAIL = 256, /* narrowings in force */
    CHECK_GUARDS = 64, /* values that the tests around a place ask about */
    CHECK_FINDINGS = 32,
    CHECK_LOOKUPS = 512,
    CHECK_TESTED = 256,
    CHECK_DOUBTED = 64,
    CHECK_WORD = 128,           /* bytes of a name in a message */
    CHECK_REGION = 64 * PTC_KB, /* of text of functions of the session */
};

/* ---- functions as values */

typedef enum {
    CALLEE_FN,      /* fn with captures */
    CALLEE_BUILTIN, /* index */
    CALLEE_TOOL,    /* value: its record */
    CALLEE_PARTIAL, /* parts: function, arguments */
    CALLEE_COMP,    /* parts, the last is called first */
    CALLEE_JUXT,    /* parts */
    CALLEE_GIVES,   /* parts[0], whatever it is called with */
    CALLEE_XFORM,   /* a transducer: index is the builtin that made it, parts its arguments */
} CalleeKind;

typedef struct PtcCallee {
    CalleeKind kind;
    uint32_t index, count;
    PtcFn *fn;
    PtcValue value;
    const PtcOutline *parts[]; /* count of them; of FN: its captures */
} PtcCallee;

/* ---- one walk through the program */

/* What holds at a place. */
typedef struct Here {
    bool certain; /* every run of the program comes here, unless it fails before */
    bool wrote;   /* a call that is not read-only came before */
    bool
        muted; /* nothing is reported: inside of a try that catches, or code that is never reached */
    bool stopped; /* some runs may have ended before */
    bool sure;    /* every iteration of the builder around it comes here */
} Here;

/* A loop or function that recur goes back to, and what it gives. */
typedef struct RecurFrame {
    struct RecurFrame *outer;
    const PtcExpr *loop; /* NULL: a function */
    const PtcOutline *next[CHECK_ARGS];
    uint32_t count;
    bool again; /* recur was met */
} RecurFrame;

/* What a builder around has been given. */
typedef struct Build {
    struct Build *outer;
    const PtcLocal *local;
    const PtcOutline *item;
    unsigned least,
        repeats; /* least elements so far; how often this place is run at least, up to PTC_ENOUGH */
} Build;

/* A function called with arguments of these outlines. */
typedef struct Variant {
    struct Variant *next;
    const PtcOutline *const *captures;
    const PtcOutline *args[CHECK_ARGS];
    uint32_t argc;
    Here from; /* under which it was walked */
    bool stops, writes;
    const PtcOutline *result;
} Variant;

typedef struct PtcFnNotes {
    Variant *variants;
    uint32_t variant_count;
    bool walking, unsure; /* unsure: it is also called with what was not walked */
    bool foreign;         /* of an earlier program: its text is not this one's */
} PtcFnNotes;

/* A claim.  Of several at one place the first stays. */
typedef struct Finding {
    PtcErrorKind kind;
    PtcWarningKind warning;
    bool error;
    uint32_t first, last;
    uint32_t source; /* of a nil that may be there: not reported if that is tested anywhere */
    PtcFn *fn;       /* in which it was found; not reported if that is unsure */
    char message[PTC_MESSAGE_MAX + 4], hint[PTC_HINT_MAX + 4];
} Finding;

/* A key asked for at a place, over all visits. */
typedef struct Lookup {
    const PtcExpr *at;
    PtcText key;
    const PtcOutline *map; /* that lacks it */
    PtcFn *fn;
    uint32_t first, last;                    /* where it is told */
    bool hit, asked, wondered, wrote, heard; /* heard: a visit that missed was not muted */
    bool pair; /* a map was taken apart as a pair; the key has no name */
} Lookup;

typedef struct Narrowed {
    const PtcOutline **slot;
    const PtcOutline *old;
} Narrowed;

typedef struct Checker {
    PtcOutlines os;
    const PtcCheckJob *job;
    PtcArena *arena;
    PtcHeap *heap;
    PtcValueWalk data, text; /* of the context and session; of constants */
    uint32_t visits, depth, calls;
    uint32_t closures; /* functions of earlier programs inside each other, as captures */
    bool dry;          /* a round of a loop that is not the last: nothing is noted, but ... */
    bool first;        /* ... in its first round what is certain is */
    bool passing;      /* what was found depends on what tools gave so far */
    bool silent;       /* the bounds are passed: nothing will be said */
    Here here;
    uint32_t asking;  /* a test is being walked: what is looked up is asked for */
    uint32_t picking; /* a predicate is being called: what is looked up tells elements apart */
    bool wondering;   /* it is a predicate: a key may well be absent */
    bool updating; /* a function gets what was in a map: if that is nothing, nobody else says so */
    RecurFrame *frames;
    Build *builds;
    PtcFn *fn;
    uint32_t place_first, place_last; /* while a foreign function is walked: the call */
    bool placed;
    const PtcOutline **captures; /* of fn */
    const PtcOutline **globals;  /* by number; NULL: not known yet */
    uint32_t answers, misfits;   /* ends of the program that were met; those that do not fit */
    bool answer_unsure;          /* there may be others */
    uint32_t session_bytes;      /* of text of functions of earlier programs so far */
    uint32_t trail_count, guard_count, tested_count, doubted_count;
    Finding *findings;
    uint32_t finding_count;
    Lookup *lookups;
    uint32_t lookup_count;
    bool ending; /* the program has been walked, and functions in doubt are */
    /* From here on nothing is cleared: the counts say how much there is. */
    Narrowed trail[CHECK_TRAIL];
    const PtcLocal *guards[CHECK_GUARDS];
    uint32_t tested[CHECK_TESTED];
    /* Functions that are called where that cannot be followed; at the end they are walked with anything. */
    const PtcCallee *doubted[CHECK_DOUBTED];
} Checker;

/* ---- check_expr.c */
/* What an expression gives.  tail: its value is the program's. */
const PtcOutline *ptc_check_expr(Checker *c, PtcExpr *x, bool tail);
/* The same of the condition of a branch. */
const PtcOutline *ptc_check_test(Checker *c, PtcExpr *x);

/* ---- check_narrow.c */
/* From here on the test is known to have been true, or false. */
void ptc_check_assume(Checker *c, const PtcExpr *test, bool truth);
void ptc_check_undo(Checker *c, uint32_t trail);
void ptc_check_set(Checker *c, const PtcOutline **slot, const PtcOutline *now);
/* Where the outline of a local or a capture is kept; NULL: x is neither. */
const PtcOutline **ptc_check_slot(Checker *c, const PtcExpr *x);
/* Does it depend on nothing that is outside of the program's text? */
bool ptc_check_is_fixed(const PtcExpr *x, int depth);
/* The values that a test asks about become guards. */
void ptc_check_guard(Checker *c, const PtcExpr *test);
/* Whose value x is a part of; NULL: nobody's in particular. */
const PtcLocal *ptc_check_root(const Checker *c, const PtcExpr *x);
void ptc_check_note_tested(Checker *c, uint32_t source);

/* ---- check_fn.c */
PtcCallee *ptc_check_callee(Checker *c, CalleeKind kind, size_t parts);
const PtcOutline *ptc_check_fn_value(Checker *c, const PtcCallee *callee);
const PtcOutline *ptc_check_closure(Checker *c, PtcExpr *x);
/* What a call at a place gives. */
const PtcOutline *ptc_check_call(Checker *c, PtcExpr *at, const PtcOutline *f,
                                 const PtcOutline *const *args, uint32_t argc);
/* The same from a builtin that calls f with elements: `least` times at least. */
const PtcOutline *ptc_check_callback(Checker *c, PtcExpr *at, const PtcOutline *f,
                                     const PtcOutline *const *args, uint32_t argc, unsigned least);
/* It goes where its calls cannot be followed. */
void ptc_check_escape(Checker *c, const PtcOutline *o);
/* What an outline knew of a function is lost (PtcOutlines). */
void ptc_check_lost(void *checker, const PtcCallee *k);
/* After the program: those whose calls could not be followed, for what they call in turn. */
void ptc_check_end_functions(Checker *c);
/* The function that is being walked, by its own name. */
const PtcOutline *ptc_check_self(Checker *c);
/* Control goes where return may stand. */
void ptc_check_unknown_call(Checker *c);
/* A function that is a value: a builtin, a tool, one of an earlier program. */
const PtcOutline *ptc_check_fn_of_value(void *checker, PtcValue fn);

/* ---- check_session.c */
/* The function behind a closure of an earlier program, analyzed again; NULL: it cannot be. */
PtcFn *ptc_check_session_fn(Checker *c, PtcValue closure);

/* ---- check_builtin.c */
const PtcOutline *ptc_check_builtin(Checker *c, PtcExpr *at, uint32_t index,
                                    const PtcOutline *const *args, uint32_t argc);
/* Of all rules: NULL means that the kinds of the row are all there is to say. */
typedef struct RuleCall {
    PtcExpr *at;
    uint32_t index;
    const PtcOutline *const *args;
    uint32_t argc;
} RuleCall;
/* ---- rule_seq.c */
const PtcOutline *ptc_check_seq_rule(Checker *c, PtcRule rule, const RuleCall *call);
/* ---- rule_each.c */
const PtcOutline *ptc_check_each_rule(Checker *c, PtcRule rule, const RuleCall *call);
/* What a transducer makes of elements; NULL: it is none that is known. */
const PtcOutline *ptc_check_each_xform(Checker *c, PtcExpr *at, const PtcOutline *xform,
                                       const PtcOutline *item, unsigned *least);
/* ---- rule_map.c */
const PtcOutline *ptc_check_map_rule(Checker *c, PtcRule rule, const RuleCall *call);
/* ---- rule_fn.c */
const PtcOutline *ptc_check_fn_rule(Checker *c, PtcRule rule, const RuleCall *call);

/* ---- check_key.c */
/* DEFAULT: something is given for when it is absent; PEEK: nobody asked whether it is there. */
typedef enum { KEY_READ, KEY_DEFAULT, KEY_PEEK } KeyAsk;
const PtcOutline *ptc_check_key(Checker *c, PtcExpr *at, const PtcOutline *map,
                                const PtcOutline *key, KeyAsk ask);
void ptc_check_pair(Checker *c, PtcExpr *at, const PtcOutline *map);
/* The look-up at x was a test. */
void ptc_check_key_asked(Checker *c, const PtcExpr *x);
void ptc_check_report_keys(Checker *c);

/* ---- check_tool.c */
const PtcOutline *ptc_check_tool_call(Checker *c, PtcExpr *at, PtcValue tool,
                                      const PtcOutline *const *args, uint32_t argc);

/* ---- check_answer.c */
void ptc_check_answer(Checker *c, const PtcExpr *at, const PtcOutline *o);
/* Before the report: are the answers that do not fit all there are? */
void ptc_check_end_answers(Checker *c);

/* ---- check_fit.c */
typedef enum {
    FIT_ARGUMENT, /* of a tool of the host, which makes some things fit */
    FIT_FAR,      /* of another server, which may accept more */
    FIT_ANSWER,
} FitMode;
/* What does not fit, and where. */
typedef struct Misfit {
    char path[CHECK_WORD], what[200];
    PtcText missing, extra; /* the member that is meant, if that is what is wrong */
    const PtcSketch *in;    /* of the map that it is about */
} Misfit;
/* Is it certain that no such value fits? */
bool ptc_check_misfit(Checker *c, FitMode mode, const PtcOutline *o, const PtcSketch *want,
                      Misfit *out);

/* ---- check_say.c */
/* "a string", "a list of maps" ...; of unions the first kinds. */
void ptc_check_describe(const PtcOutline *o, char *out, size_t size);
void ptc_check_describe_kinds(unsigned kinds, char *out, size_t size);
/* Where something at an expression is told: a function of an earlier program has no place of its own. */
void ptc_check_place(const Checker *c, const PtcExpr *at, uint32_t *first, uint32_t *last);
/* Is something that was found inside of this function to be reported? */
bool ptc_check_is_doubted(const PtcFn *fn);
/* Notes a claim at a place; NULL: it is not to be reported. */
Finding *ptc_check_claim(Checker *c, const PtcExpr *at, bool error, PtcErrorKind kind,
                         PtcWarningKind warning);
/* A name as a message shows it: in one line, and not too long.  Returns `out`. */
const char *ptc_check_word(PtcText name, char out[CHECK_WORD]);
/* The names of a map's members, some of them: ":id, :name". */
void ptc_check_list_keys(const PtcOutline *map, char *out, size_t size);
void ptc_check_type(Checker *c, PtcExpr *at, uint32_t index, uint32_t arg, const PtcOutline *o,
                    unsigned wanted);
/* A nil among the kinds of a value that may be absent. */
void ptc_check_maybe(Checker *c, PtcExpr *at, const PtcExpr *value, uint32_t index,
                     const PtcOutline *o, unsigned wanted);
/* False: the program must not run. */
bool ptc_check_report(Checker *c);

#endif
