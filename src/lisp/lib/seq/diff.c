/* SPDX-License-Identifier: MIT
 * clojure.data/diff: what only the first of two values holds, what only the second, what both do.  It goes into maps
 * and sequences as deep as DEPTH; the recursion is counted. */
#include "lisp/lib/java/interop.h"
#include "lisp/lib/seq/seq_int.h"

enum { DIFF_DEPTH = 100 };

typedef struct {
    PtcValue a, b, both; /* nil: nothing */
} Diff;

static bool diff(PtcVM *vm, PtcValue a, PtcValue b, unsigned depth, Diff *out);

/* Two values at the same place, PTC_NONE where there is none; so is a part that has nothing there.  A nil that differs
 * is something. */
static bool diff_place(PtcVM *vm, PtcValue x, PtcValue y, unsigned depth, Diff *d)
{
    *d = (Diff){x, y, PTC_NONE};
    if (x == PTC_NONE || y == PTC_NONE)
        return true;
    if (!diff(vm, x, y, depth + 1, d))
        return false;
    bool same = d->both != PTC_NIL || (x == PTC_NIL && y == PTC_NIL);
    d->a = same && d->a == PTC_NIL ? PTC_NONE : d->a;
    d->b = same && d->b == PTC_NIL ? PTC_NONE : d->b;
    d->both = same ? d->both : PTC_NONE;
    return true;
}

static bool put_diff_entry(PtcVM *vm, PtcValue *map, PtcValue key, PtcValue value)
{
    if (value == PTC_NONE)
        return true;
    if (*map == PTC_NIL && (*map = ptc_map_empty(vm->heap)) == PTC_NONE)
        return false;
    return (*map = ptc_map_assoc(vm->heap, *map, key, value)) != PTC_NONE;
}

static bool diff_key(PtcVM *vm, PtcValue key, PtcValue x, PtcValue y, unsigned depth, Diff *all)
{
    Diff d;
    return diff_place(vm, x, y, depth, &d) && put_diff_entry(vm, &all->a, key, d.a) &&
           put_diff_entry(vm, &all->b, key, d.b) && put_diff_entry(vm, &all->both, key, d.both);
}

static bool diff_maps(PtcVM *vm, PtcValue a, PtcValue b, unsigned depth, Diff *out)
{
    PtcValue key, x;
    *out = (Diff){PTC_NIL, PTC_NIL, PTC_NIL};
    for (size_t pos = 0; ptc_map_next(a, &pos, &key, &x);)
        if (!ptc_tick(&vm->budget, 1) ||
            !diff_key(vm, key, x, ptc_map_get(vm->heap, b, key), depth, out))
            return false;
    for (size_t pos = 0; ptc_map_next(b, &pos, &key, &x);)
        if (!ptc_tick(&vm->budget, 1) || (ptc_map_get(vm->heap, a, key) == PTC_NONE &&
                                          !diff_key(vm, key, PTC_NONE, x, depth, out)))
            return false;
    return true;
}

/* Adds x at place i, with nils before it. */
static bool put_diff_element(PtcVM *vm, PtcValue *vec, size_t i, PtcValue x)
{
    if (x == PTC_NONE)
        return true;
    if (*vec == PTC_NIL && (*vec = ptc_vec_new(vm->heap, NULL, 0, 0)) == PTC_NONE)
        return false;
    while (ptc_seq_count(*vec) < i)
        if (!ptc_tick(&vm->budget, 1) || (*vec = ptc_vec_conj(vm->heap, *vec, PTC_NIL)) == PTC_NONE)
            return false;
    return (*vec = ptc_vec_conj(vm->heap, *vec, x)) != PTC_NONE;
}

static bool diff_seqs(PtcVM *vm, PtcValue a, PtcValue b, unsigned depth, Diff *out)
{
    *out = (Diff){PTC_NIL, PTC_NIL, PTC_NIL};
    size_t na = ptc_seq_count(a), nb = ptc_seq_count(b), n = na > nb ? na : nb;
    for (size_t i = 0; i < n; i++) {
        Diff d;
        if (!ptc_tick(&vm->budget, 1) ||
            !diff_place(vm, i < na ? ptc_seq_nth(a, i) : PTC_NONE,
                        i < nb ? ptc_seq_nth(b, i) : PTC_NONE, depth, &d) ||
            !put_diff_element(vm, &out->a, i, d.a) || !put_diff_element(vm, &out->b, i, d.b) ||
            !put_diff_element(vm, &out->both, i, d.both))
            return false;
    }
    return true;
}

static bool set_part(PtcVM *vm, const char *name, PtcValue a, PtcValue b, PtcValue *out)
{
    PtcValue args[2] = {a, b};
    if (!ptc_as(vm, name, 2, args, out))
        return false;
    if (ptc_map_count(*out) == 0)
        *out = PTC_NIL;
    return true;
}

static bool diff(PtcVM *vm, PtcValue a, PtcValue b, unsigned depth, Diff *out)
{
    if (ptc_equal(vm->heap, a, b)) {
        *out = (Diff){PTC_NIL, PTC_NIL, a};
        return vm->budget.stop == PTC_STOP_NONE;
    }
    if (depth > DIFF_DEPTH)
        return ptc_fail(vm, PTC_E_VALUE, "diff: the values are nested deeper than %d",
                        (int)DIFF_DEPTH);
    if (ptc_is_map(a) && ptc_is_map(b))
        return diff_maps(vm, a, b, depth, out);
    if (ptc_is_set(a) && ptc_is_set(b))
        return set_part(vm, "clojure.set/difference", a, b, &out->a) &&
               set_part(vm, "clojure.set/difference", b, a, &out->b) &&
               set_part(vm, "clojure.set/intersection", a, b, &out->both);
    bool seqs = ptc_is_sequential(a) && ptc_is_sequential(b) && ptc_seq_count(a) < PTC_ENDLESS &&
                ptc_seq_count(b) < PTC_ENDLESS;
    if (seqs) {
        a = ptc_seq_flat(vm, a);
        b = a == PTC_NONE ? PTC_NONE : ptc_seq_flat(vm, b);
        return b != PTC_NONE && diff_seqs(vm, a, b, depth, out);
    }
    *out = (Diff){a, b, PTC_NIL};
    return vm->budget.stop == PTC_STOP_NONE;
}

PTC_BUILTIN(
    data_diff, "clojure.data", "diff", 2, 2, 0, "(clojure.data/diff a b)",
    "A vector of what only the first of two values holds, what only the second, and what both do; "
    "it goes into maps, sequences and sets.",
    "(clojure.data/diff {:a 1 :b 2} {:a 1 :b 3 :c 4}) => [{:b 2} {:b 3, :c 4} {:a 1}]\n"
    "(clojure.data/diff [1 2 3] [1 9]) => [[nil 2 3] [nil 9] [1]]\n"
    "(clojure.data/diff #{1 2} #{2}) => [#{1} nil #{2}]\n(clojure.data/diff 1 1) => [nil nil 1]\n"
    "(clojure.data/diff 1) !! arity_error")
{
    PTC_UNUSED(argc);
    Diff d;
    if (!diff(vm, argv[0], argv[1], 0, &d))
        return false;
    PtcValue parts[3] = {d.a, d.b, d.both};
    bool maps = ptc_is_map(argv[0]) && ptc_is_map(argv[1]) && (d.a != PTC_NIL || d.b != PTC_NIL);
    return ptc_give(out, ptc_vec_new(vm->heap, parts, 3, maps ? PTC_SEQ : 0)); /* as in Clojure */
}

const PtcBuiltin *const ptc_lib_diff[] = {&data_diff_def, NULL};
