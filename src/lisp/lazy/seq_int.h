/* SPDX-License-Identifier: MIT
 * seq_int.h - what the files with sequence functions share, and nobody else sees.
 *
 * Two ways to walk: ptc_next for builtins that do not call back, ptc_each for those that do.  Both
 * tick.  After they said no, ptc_iter_end tells the end from a failure.  ptc_each also walks producers,
 * from ptc_arg_pull; ptc_arg_iter refuses those. */
#ifndef PTC_LISP_LAZY_SEQ_INT_H
#define PTC_LISP_LAZY_SEQ_INT_H

#include "lisp/vm/record.h"
#include "value/coll/lazy.h"

/* What is computed on demand is no sequential: a recipe such as (iterate f x), see produce.h, or something lazy, see
 * force.h. */
static inline bool ptc_is_recipe(PtcValue v)
{
    return ptc_is_record(v, PTC_R_PRODUCER);
}

static inline bool ptc_is_producer(PtcValue v)
{
    return ptc_is_recipe(v) || ptc_is_lazy(v);
}

/* Has it no end?  A lazy sequence may have one: whoever needs all of it calls ptc_fail_endless, and is then given what
 * it holds. */
static inline bool ptc_seq_endless(PtcValue v)
{
    return ptc_is_sequential(v) ? ptc_seq_count(v) >= PTC_ENDLESS : ptc_is_producer(v);
}

/* The running builtin, which has an iterator over argument i and looks at that no more, walks it now: notes, for the
 * hint of a limit, whether it has no end, and lets go of its beginning.  Gives what was noted before, for ptc_walked
 * when it is done.  That is always true. */
const char *ptc_walk(PtcVM *vm, const PtcValue *argv, int i);
static inline bool ptc_walked(PtcVM *vm, const char *outer)
{
    vm->endless = outer;
    return true;
}
/* value_error for argument i, which is such a sequence.  Always false. */
bool ptc_fail_endless(PtcVM *vm, int i);
/* Stops the run: a collection of more than PTC_ENDLESS elements was asked for.  Always false. */
bool ptc_fail_too_long(PtcVM *vm);

/* --- walking --- */

static inline bool ptc_next(PtcVM *vm, PtcIter *it, PtcValue *x)
{
    if (PTC_UNLIKELY(!ptc_tick(&vm->budget, 1))) {
        it->failed = true;
        return false;
    }
    return ptc_iter_next(it, x);
}

/* Slow half of ptc_each: when out of memory for an element, collects and tries again. */
bool ptc_each_slow(PtcVM *vm, PtcIter *it, PtcValue *x);

static inline bool ptc_each(PtcVM *vm, PtcIter *it, PtcValue *x)
{
    if (PTC_LIKELY(it->at != it->chunk_end && ptc_fuel_use(&vm->budget, 1) > 0 &&
                   !vm->budget.wake)) {
        *x = *it->at++;
        return true;
    }
    return ptc_each_slow(vm, it, x);
}

/* Several collections side by side, up to the end of the shortest. */
typedef struct PtcZip {
    PtcIter *its; /* `few`, or from the ledger */
    int n;
    bool calls; /* for a builtin that calls back: the elements are kept in root slots */
    bool failed;
    PtcIter few[2];
} PtcZip;

/* Over argv[from] ... argv[argc - 1], of which at least one must have an end. */
PTC_MUST_USE bool ptc_zip_init(PtcVM *vm, PtcZip *zip, int argc, const PtcValue *argv, int from,
                               bool calls);
void ptc_zip_deinit(PtcVM *vm, PtcZip *zip);
/* One element of each into row; false at the end, or when zip->failed. */
bool ptc_zip_next(PtcVM *vm, PtcZip *zip, PtcValue *row);

/* --- arguments --- */

/* Like ptc_arg_iter, for builtins that call back: producers too. */
bool ptc_arg_pull(PtcVM *vm, const PtcValue *argv, int i, PtcIter *it);
/* Like ptc_arg_iter, but what has no end is refused. */
bool ptc_arg_all(PtcVM *vm, const PtcValue *argv, int i, PtcIter *it);
/* A number of elements: negative is 0, fractions count as one more. */
bool ptc_arg_n(PtcVM *vm, const PtcValue *argv, int i, size_t *n);
/* Argument i as a sequential: itself, or a new one of what it holds.  PTC_NONE: failed. */
PTC_MUST_USE PtcValue ptc_arg_seq(PtcVM *vm, const PtcValue *argv, int i);
/* The same, but what has no end is refused. */
PTC_MUST_USE PtcValue ptc_arg_finite(PtcVM *vm, const PtcValue *argv, int i);
/* The same into a root slot, for builtins that call back.  Cons lists become vectors, so that slices
 * of it are cheap. */
PTC_MUST_USE bool ptc_root_seq(PtcVM *vm, const PtcValue *argv, int i, bool finite, PtcValue *slot);

/* --- parts of a sequential, as seqs that share with it --- */
PTC_MUST_USE PtcValue ptc_seq_take(PtcVM *vm, PtcValue seq, size_t n);
PTC_MUST_USE PtcValue ptc_seq_drop(PtcVM *vm, PtcValue seq, size_t n);
/* Leaves up to *n cells of a cons list behind; PTC_NONE when a limit trips. */
PTC_MUST_USE PtcValue ptc_seq_skip(PtcVM *vm, PtcValue seq, size_t *n);
/* x before seq, which may be nil. */
PTC_MUST_USE PtcValue ptc_seq_prepend(PtcVM *vm, PtcValue x, PtcValue seq);
/* Any sequential as one whose slices are cheap. */
PTC_MUST_USE PtcValue ptc_seq_flat(PtcVM *vm, PtcValue seq);
/* The elements of anything that can be walked, as a new vector. */
PTC_MUST_USE PtcValue ptc_seq_copy(PtcVM *vm, PtcIter *it, int flags);

/* All elements in scratch memory, for builtins that do not call back. */
typedef struct PtcItems {
    PtcValue *at;
    size_t n, cap;
} PtcItems;

PTC_MUST_USE bool ptc_items_init(PtcVM *vm, PtcItems *items, PtcIter *it);
void ptc_items_deinit(PtcVM *vm, PtcItems *items);
/* Scratch memory; NULL stops the budget.  Give back with ptc_heap_scratch_free(vm->heap, ...). */
PTC_MUST_USE void *ptc_vm_scratch(PtcVM *vm, size_t bytes);

/* --- adding (seq_into.c) --- */

/* (conj coll x), where coll comes from argv[0]. */
PTC_MUST_USE PtcValue ptc_conj_one(PtcVM *vm, const PtcValue *argv, PtcValue coll, PtcValue x);
/* (into argv[0] elements). */
PTC_MUST_USE PtcValue ptc_pour(PtcVM *vm, const PtcValue *argv, PtcIter *it);

/* A map to which about `more` entries are added.  A failure of any function has released it. */
typedef struct PtcMapSink {
    PtcVM *vm;
    PtcValue map;
    bool building;
    PtcDictBuild build;
} PtcMapSink;

PTC_MUST_USE bool ptc_map_sink_init(PtcVM *vm, PtcMapSink *sink, PtcValue to, size_t more);
PTC_MUST_USE bool ptc_map_sink_put(PtcMapSink *sink, PtcValue key, PtcValue value);
PTC_MUST_USE PtcValue ptc_map_sink_done(PtcMapSink *sink);
/* Releases it.  Always false. */
bool ptc_map_sink_fail(PtcMapSink *sink);

/* --- keys of elements (group.c): a function, a keyword, a path such as [:a :b], a string --- */
typedef struct PtcKeyFn {
    PtcValue f;
    enum { PTC_KEY_CALL, PTC_KEY_LOOKUP, PTC_KEY_PATH } kind;
} PtcKeyFn;

PTC_MUST_USE bool ptc_arg_keyfn(PtcVM *vm, const PtcValue *argv, int i, PtcKeyFn *key);
/* The keys of all elements of a sequential into a builder, when they have to be called for; else the
 * slot stays nil.  Then ptc_key_at gives them one by one without collecting. */
PTC_MUST_USE bool ptc_keys_collect(PtcVM *vm, const PtcKeyFn *key, PtcValue seq, PtcValue *slot);
PTC_MUST_USE bool ptc_key_at(PtcVM *vm, const PtcKeyFn *key, PtcValue keys, size_t i, PtcValue x,
                             PtcValue *out);

/* arithmetic_error: the value of an element, numbered from 1, is no number.  Always false. */
bool ptc_fail_no_number(PtcVM *vm, size_t number, PtcValue x);

/* Warns when no element of a sequential of maps has the key: a keyword, a string or a path; with only_near, only when
 * they have one that is spelt alike, since programs ask for keys that are rarely there.  False: the budget stopped
 * (key_check.c). */
PTC_MUST_USE bool ptc_key_check(PtcVM *vm, PtcValue key, PtcValue rows, bool only_near);

/* --- transducers (xform.c) --- */

/* What (map f) and its kin give when the collection is left out: a function that `into`,
 * `transduce` and `sequence` understand. */
PTC_MUST_USE bool ptc_xform(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out);
/* Runs argument `coll` through the transducer argument i; the result, a vector, is in *slot, what ran it in *cursor,
 * both roots. */
PTC_MUST_USE bool ptc_xform_run(PtcVM *vm, const PtcValue *argv, int i, int coll, PtcValue *slot,
                                PtcValue *cursor);
/* The result of a run, or what (halt-when pred) makes of it when that has ended it. */
PTC_MUST_USE bool ptc_xform_end(PtcVM *vm, PtcValue cursor, PtcValue result, PtcValue *out);
/* Folds the elements to come into *acc, a root slot. */
PTC_MUST_USE bool ptc_fold(PtcVM *vm, PtcValue f, PtcIter *it, PtcValue *acc);

#endif
