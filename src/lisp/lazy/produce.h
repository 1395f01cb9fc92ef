/* SPDX-License-Identifier: MIT
 * produce.h - sequences whose elements are computed when they are asked for, and the machine behind
 * them.
 *
 * A producer (PTC_R_PRODUCER) describes a sequence without end: where elements come from and the steps
 * they pass.  It never changes and holds no element but the seed.  To walk one, a cursor is opened: an
 * array in the heap with the state of the source and of each step, that one builtin owns and no program
 * sees.  Each pull takes one element from the source and sends it through the steps, so that nothing is
 * computed that was not asked for, and nothing is kept.
 *
 * A transducer is a list of the same steps.  `into`, `transduce` and `sequence` open a cursor over
 * their collection with them. */
#ifndef PTC_LISP_LAZY_PRODUCE_H
#define PTC_LISP_LAZY_PRODUCE_H

#include "lisp/lazy/seq_int.h"

/* Where elements come from, and what fields a and b mean. */
typedef enum PtcProducerSource {
    PTC_FROM_COLL,       /* a: anything that can be walked */
    PTC_FROM_ITERATE,    /* a: function, b: first element */
    PTC_FROM_REPEATEDLY, /* a: function without arguments */
    PTC_FROM_ZIP,        /* a: vector of collections and producers; the elements are rows */
    PTC_FROM_CHAIN, /* a: what comes first, finite; b: what follows, a collection or producer */
    PTC_FROM_TREE,  /* a: branch? and children; b: where the walk is (tree_seq.c) */
    PTC_FROM_LAZY, /* a: something lazy (force.h); only in cursors, in a recipe it is a PTC_FROM_COLL */
} PtcProducerSource;

typedef enum PtcStepKind {
    PTC_STEP_MAP,
    PTC_STEP_APPLY, /* map over rows: the elements are the arguments */
    PTC_STEP_FILTER,
    PTC_STEP_REMOVE,
    PTC_STEP_KEEP,
    PTC_STEP_MAP_INDEXED,
    PTC_STEP_KEEP_INDEXED,
    PTC_STEP_TAKE,
    PTC_STEP_TAKE_WHILE,
    PTC_STEP_TAKE_NTH,
    PTC_STEP_DROP,
    PTC_STEP_DROP_WHILE,
    PTC_STEP_MAPCAT,
    PTC_STEP_CAT,
    PTC_STEP_INTERPOSE,
    PTC_STEP_PARTITION,     /* n, step; perhaps what becomes of the rest: pad, or true to keep it */
    PTC_STEP_PARTITION_ALL, /* n: with the rest */
    PTC_STEP_PARTITION_BY,
    PTC_STEP_DISTINCT,
    PTC_STEP_DEDUPE,
    PTC_STEP_REDUCTIONS, /* f, perhaps init, which a chain has put in front already */
    PTC_STEP_HALT_WHEN,  /* pred, perhaps what makes the result: ptc_cursor_halted */
    PTC_STEP_KINDS
} PtcStepKind;

/* --- producers (produce.c).  PTC_NONE: out of memory. --- */
PTC_MUST_USE PtcValue ptc_producer_new(PtcVM *vm, PtcProducerSource source, PtcValue a, PtcValue b);
/* coll, which is a producer or any sequence without end, with one step more. */
PTC_MUST_USE PtcValue ptc_producer_add(PtcVM *vm, PtcValue coll, PtcStepKind kind, int argc,
                                       const PtcValue *argv);
PTC_MUST_USE PtcValue ptc_producer_step(PtcVM *vm, PtcValue coll, PtcValue step);
/* A recipe that was made from something lazy, source, as something lazy; other recipes as they are.  PTC_NONE as
 * source: always lazy.  kind is its last step. */
PTC_MUST_USE PtcValue ptc_producer_keep(PtcVM *vm, PtcValue producer, PtcValue source,
                                        PtcStepKind kind);
PTC_MUST_USE PtcValue ptc_producer_drop(PtcVM *vm, PtcValue producer, size_t n);
PTC_MUST_USE PtcValue ptc_producer_cons(PtcVM *vm, PtcValue x, PtcValue producer);
/* argv[0] ... of the running builtin as a step on argv[argc - 1], which has no end. */
PTC_MUST_USE bool ptc_stage(PtcVM *vm, PtcStepKind kind, int argc, const PtcValue *argv,
                            PtcValue *out);
/* The rows of argv[from] ..., all without end, through a step of kind with argv[0], when there is one. */
PTC_MUST_USE bool ptc_stage_rows(PtcVM *vm, int argc, const PtcValue *argv, int from,
                                 PtcValue *out);

/* --- cursors (produce.c): only for builtins that call back --- */

/* Opens one over coll with the steps of a pipeline (or nil) after its own; *slot is a root. */
PTC_MUST_USE bool ptc_cursor_open(PtcVM *vm, PtcValue coll, PtcValue pipeline, PtcValue *slot);
/* 1: *x is the next element; 0: the end; -1: failed.  May collect. */
int ptc_cursor_next(PtcVM *vm, PtcValue cursor, PtcValue *x);
/* Did a (halt-when pred f?) of its steps end it?  Then *x is the element that did, and *f the function, or nil. */
bool ptc_cursor_halted(PtcValue cursor, PtcValue *x, PtcValue *f);
/* The same as an iterator for ptc_each. */
PTC_MUST_USE bool ptc_cursor_iter(PtcVM *vm, PtcValue coll, PtcValue pipeline, PtcIter *it);

/* --- for builtins that do not call back: the work is done by a hidden one that does --- */

/* Element n of a producer; PTC_NONE when it ends before. */
PTC_MUST_USE bool ptc_produced_nth(PtcVM *vm, PtcValue producer, size_t n, PtcValue *out);
/* What follows the first n elements, nil when nothing does.  As in Clojure the first of it is computed, and (iterate f
 * x) goes on from there, so that a loop that takes one after the other walks each only once. */
PTC_MUST_USE bool ptc_produced_rest(PtcVM *vm, PtcValue producer, size_t n, PtcValue *out);
/* What follows the first n elements; nil (or_nil) or an empty sequence when nothing does.  Something lazy is given, so
 * that taking one after the other walks each only once. */
PTC_MUST_USE bool ptc_produced_next(PtcVM *vm, PtcValue producer, size_t n, bool or_nil,
                                    PtcValue *out);
/* Does it have more than n elements?  Nothing is computed if that is clear without it. */
PTC_MUST_USE bool ptc_produced_has(PtcVM *vm, PtcValue producer, size_t n, bool *has);
/* After one of these has run: running out of memory is final, since what they called may have had effects.  Always
 * false. */
bool ptc_produced_fail(PtcVM *vm);
/* The first n elements as a seq. */
PTC_MUST_USE bool ptc_produced_take(PtcVM *vm, PtcValue producer, size_t n, PtcValue *out);
/* The running builtin again, with the producers among its arguments cut to the shortest of the others. */
PTC_MUST_USE bool ptc_produced_beside(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out);
bool ptc_any_producer(int argc, const PtcValue *argv);

/* --- what is made of something lazy (lazy_seq.c) --- */
bool ptc_any_lazy(int argc, const PtcValue *argv);
/* (concat argv...) and (cycle lazy); not for builtins that call back. */
PTC_MUST_USE bool ptc_concat_later(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out);
PTC_MUST_USE bool ptc_cycle_later(PtcVM *vm, PtcValue lazy, PtcValue *out);
/* The rest of (mapcat f coll), which has met a lazy result: what was built in slots[0], that result in slots[1], and
 * what f will give for the elements to come. */
PTC_MUST_USE bool ptc_join_rest(PtcVM *vm, PtcValue f, PtcValue *slots, PtcIter *it, PtcValue *out);

/* --- the nodes of a tree (tree_seq.c) --- */

/* The next node of a walk with the two functions, whose state is in *state, a root: 1, 0, -1 as ptc_cursor_next. */
int ptc_tree_next(PtcVM *vm, PtcValue functions, PtcValue *state, PtcValue *x);

/* --- steps (xform.c) --- */

/* A step is a PTC_R_FN record, so that it can be called as a transducer: these fields, then arguments. */
enum { PTC_STEP_BUILTIN = 1, PTC_STEP_KIND = 2, PTC_STEP_ARGS = 3, PTC_STEP_MAX_ARGS = 4 };
/* What a cursor keeps for each of its steps. */
enum { PTC_S_STEP, PTC_S_A, PTC_S_B, PTC_S_PREV, PTC_S_SLOTS };

typedef enum PtcStepResult {
    PTC_STEP_FAILED,
    PTC_STEP_NOTHING, /* the element went no further */
    PTC_STEP_PASS,    /* *x goes on */
    PTC_STEP_MORE,    /* *x goes on, and ptc_step_more has others after it */
    PTC_STEP_LAST,    /* *x goes on, and this step takes no more */
    PTC_STEP_STOP,    /* nothing goes on, and this step takes no more */
} PtcStepResult;

PTC_MUST_USE PtcValue ptc_step_new(PtcVM *vm, PtcStepKind kind, int argc, const PtcValue *argv);
static inline PtcStepKind ptc_step_kind(PtcValue step)
{
    return (PtcStepKind)ptc_to_int(((const PtcRecord *)(uintptr_t)step)->fields[PTC_STEP_KIND]);
}
/* Sets the state up; true when it takes no element at all. */
bool ptc_step_start(PtcVM *vm, PtcValue *s);
PtcStepResult ptc_step_run(PtcVM *vm, PtcValue *s, PtcValue *x);
/* 1, 0, -1 as ptc_cursor_next. */
int ptc_step_more(PtcVM *vm, PtcValue *s, PtcValue *x);
/* What a step still holds when nothing more will come: 1, to be asked again; 0; -1. */
int ptc_step_flush(PtcVM *vm, PtcValue *s, PtcValue *x);

#endif
