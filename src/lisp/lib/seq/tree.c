/* SPDX-License-Identifier: MIT
 * Walking nested data: clojure.walk.  The way down is kept in a stack of our own, so that
 * nesting costs memory that is counted and never C stack. */
#include "lisp/lazy/seq_int.h"
#include "value/coll/sorted.h"
#include "value/coll/typed.h"
#include "value/coll/visit.h"

typedef struct Walker Walker;
/* Looks at the value in hand and may replace it. */
typedef bool (*Visitor)(Walker *w);

/* Everything that must survive a collection is in roots: the spine, which holds the collection and the
 * builder of each level, and the value in hand. */
struct Walker {
    PtcVM *vm;
    const PtcValue *argv;
    PtcValue *roots;
    PtcIter *its; /* one for each level */
    size_t depth, cap;
    Visitor before, after;
};

enum { TREE_SPINE, TREE_HAND, TREE_RESULT, TREE_ROOTS };

static PtcValue *hand(Walker *w)
{
    return &w->roots[TREE_HAND];
}

/* The collection (0) or the builder (1) of the innermost level. */
static PtcValue *level(Walker *w, size_t which)
{
    return &((PtcNode *)(uintptr_t)w->roots[TREE_SPINE])->slots[2 * (w->depth - 1) + which];
}

static bool walker_init(Walker *w, PtcVM *vm, const PtcValue *argv, PtcValue form)
{
    *w = (Walker){.vm = vm, .argv = argv, .roots = ptc_roots(vm, TREE_ROOTS)};
    if (w->roots)
        *hand(w) = form;
    return w->roots != NULL;
}

/* Ends a walk; the value in hand is its result. */
static bool walker_end(Walker *w, bool ok, PtcValue *out)
{
    ptc_heap_scratch_free(w->vm->heap, w->its, w->cap * sizeof *w->its);
    *out = *hand(w);
    return ok;
}

/* A spine with room for as many levels as there are iterators. */
static bool lengthen_spine(Walker *w)
{
    size_t old = 2 * w->depth, n = 2 * w->cap;
    PtcNode *spine =
        ptc_heap_object(w->vm->heap, PTC_T_NODE, sizeof *spine + n * sizeof(PtcValue), (uint32_t)n);
    if (!spine)
        return false;
    for (size_t i = 0; i < n; i++)
        spine->slots[i] =
            i < old ? ((PtcNode *)(uintptr_t)w->roots[TREE_SPINE])->slots[i] : PTC_NIL;
    w->roots[TREE_SPINE] = ptc_from_obj(spine);
    return true;
}

static bool grow_tree_walker(Walker *w)
{
    if (w->cap >= UINT32_MAX / 8)
        return ptc_budget_halt(&w->vm->budget, PTC_STOP_MEMORY);
    return PTC_GROW_SCRATCH(w->vm->heap, &w->its, &w->cap, w->cap + 1) &&
           PTC_RETRY(w->vm, lengthen_spine(w));
}

/* Goes into the collection in hand; false with an error when it has no end. */
static bool enter_tree_level(Walker *w)
{
    PtcValue coll = *hand(w);
    if (ptc_seq_endless(coll)) {
        ptc_fail_here(w->vm, PTC_E_VALUE, "the data contains a sequence without end");
        return ptc_fail_hint(w->vm, "nothing is lazy here: cut it first with (take n coll)");
    }
    if (w->depth == w->cap && !grow_tree_walker(w))
        return false;
    w->depth++;
    *level(w, 0) = coll;
    return ptc_iter_init(&w->its[w->depth - 1], w->vm->heap, coll);
}

/* Takes the next element of the innermost collection in hand. */
static bool next_tree_element(Walker *w)
{
    PtcValue x;
    if (!ptc_each(w->vm, &w->its[w->depth - 1], &x))
        return false;
    *hand(w) = x;
    return true;
}

static bool is_tree_level_ended(const Walker *w)
{
    return ptc_iter_end(&w->its[w->depth - 1]);
}

/* ------------------------------------------------------------------ rebuilding */

/* One element of what becomes a map: an entry, a map of several, or nil for none. */
static bool put_rebuilt_entry(PtcVM *vm, PtcDictBuild *b, PtcValue x)
{
    PtcValue key, value;
    if (x == PTC_NIL)
        return true;
    if (ptc_is_sequential(x) && !ptc_is_seq_flagged(x) && ptc_seq_count(x) == 2)
        return ptc_dict_build_put(b, ptc_seq_nth(x, 0), ptc_seq_nth(x, 1));
    if (!ptc_is_map(x))
        return ptc_fail_value_type(vm, x, "what the function gave for a map entry",
                                   "a [key value] pair");
    for (size_t pos = 0; ptc_map_next(x, &pos, &key, &value);)
        if (!ptc_dict_build_put(b, key, value) || !ptc_tick(&vm->budget, 1))
            return false;
    return true;
}

/* A set or map of items, PTC_NONE on failure. */
static PtcValue build_dict_of(PtcVM *vm, PtcValue items, bool is_set)
{
    PtcDictBuild b;
    PtcIter it;
    PtcValue x;
    bool ok = true;
    if (!ptc_iter_init(&it, vm->heap, items) || !ptc_dict_build_init(&b, vm->heap, is_set))
        return PTC_NONE;
    while (ok && ptc_next(vm, &it, &x))
        ok = is_set ? ptc_dict_build_put(&b, x, PTC_NIL) : put_rebuilt_entry(vm, &b, x);
    if (ok && ptc_iter_end(&it))
        return ptc_dict_build_done(&b);
    ptc_dict_build_cancel(&b);
    return PTC_NONE;
}

static int flags_of(PtcValue coll)
{
    if (ptc_is(coll, PTC_T_FLAT))
        return ptc_obj(coll)->flags & (PTC_SEQ | PTC_ENTRY);
    return ptc_is_sequential(coll) && ptc_is_seq_flagged(coll) ? PTC_SEQ : 0;
}

/* What a map or set becomes; a record stays one, with what it had, and what is sorted stays sorted. */
static PtcValue rebuilt(PtcVM *vm, PtcValue coll, PtcValue items)
{
    bool is_set = ptc_is_set(coll);
    PtcValue new = build_dict_of(vm, items, is_set), key, value, to = coll;
    if ((!ptc_is_typed(coll) && !ptc_is_sorted(coll)) || new == PTC_NONE)
        return new;
    if (ptc_is_sorted(coll))
        to = ptc_sorted_empty(vm->heap, is_set, ptc_sorted_by(coll));
    for (size_t pos = 0; to != PTC_NONE && ptc_map_next(new, &pos, &key, &value);)
        to = !ptc_tick(&vm->budget, 1) ? PTC_NONE
             : is_set                  ? ptc_set_add(vm->heap, to, key)
                                       : ptc_map_assoc(vm->heap, to, key, value);
    return to;
}

/* Leaves the innermost level; what was built of it is in hand then. */
static bool leave_tree_level(Walker *w)
{
    PtcValue coll = *level(w, 0), built;
    if (!ptc_root_done(w->vm, level(w, 1), flags_of(coll), hand(w)))
        return false;
    if (!ptc_is_sequential(coll)) {
        built = PTC_RETRY(w->vm, rebuilt(w->vm, coll, *hand(w)));
        if (built == PTC_NONE)
            return false;
        *hand(w) = built;
    }
    *level(w, 0) = *level(w, 1) = PTC_NIL;
    w->depth--;
    return true;
}

static bool enter_to_build(Walker *w)
{
    return enter_tree_level(w) && ptc_root_build(w->vm, level(w, 1));
}

/* The value in hand is done: adds it to the level it belongs to. */
static bool complete_tree_value(Walker *w)
{
    if (w->after && !w->after(w))
        return false;
    return w->depth == 0 || ptc_root_push(w->vm, level(w, 1), *hand(w));
}

/* Replaces every value by what `before` and `after` make of it, before and after its parts. */
static bool walk_all(Walker *w)
{
    for (;;) {
        if (w->before && !w->before(w))
            return false;
        if (ptc_visit_can(*hand(w)) ? !enter_to_build(w) : !complete_tree_value(w))
            return false;
        while (w->depth > 0 && !next_tree_element(w))
            if (!is_tree_level_ended(w) || !leave_tree_level(w) || !complete_tree_value(w))
                return false;
        if (w->depth == 0)
            return true;
    }
}

static bool walk_with(PtcVM *vm, const PtcValue *argv, Visitor before, Visitor after, PtcValue *out)
{
    Walker w;
    if (!walker_init(&w, vm, argv, argv[1]))
        return false;
    w.before = before;
    w.after = after;
    return walker_end(&w, walk_all(&w), out);
}

/* ----------------------------------------------------------------------- walks */

static bool call_on_hand(Walker *w)
{
    return ptc_call1(w->vm, w->argv[0], *hand(w), hand(w));
}

PTC_BUILTIN_EXPR(
    walk_prewalk, "clojure.walk", "prewalk", 2, 2, PTC_B_CALLS, "(prewalk f form)",
    "Replaces nested data from the outside in: f gets each value before its parts are walked.",
    "(prewalk #(if (number? %) (inc %) %) [1 [2 {:a 3}]]) => [2 [3 {:a 4}]]\n"
    "(prewalk #(if (map? %) (dissoc % :pw) %) [{:pw 1 :b 2}]) => [{:b 2}]\n"
    "(prewalk inc [1]) !! type_error",
    ptc_arg_callable(vm, argv, 0) && walk_with(vm, argv, call_on_hand, NULL, out))

PTC_BUILTIN_EXPR(
    walk_postwalk, "clojure.walk", "postwalk", 2, 2, PTC_B_CALLS | PTC_TAKES(PTC_IS_CALLED),
    "(postwalk f form)",
    "Replaces nested data from the inside out: f gets each value after its parts were walked.",
    "(postwalk #(if (vector? %) (reduce + %) %) [[1 2] [3 [4]]]) => 10\n"
    "(postwalk #(if (keyword? %) (name %) %) {:a [:b]}) => {\"a\" [\"b\"]}\n"
    "(postwalk 5 [1]) !! type_error",
    ptc_arg_callable(vm, argv, 0) && walk_with(vm, argv, NULL, call_on_hand, out))

/* One level: inner for each part, then outer for the whole. */
static bool walk_once(Walker *w)
{
    if (ptc_visit_can(*hand(w))) {
        if (!enter_to_build(w))
            return false;
        while (next_tree_element(w))
            if (!call_on_hand(w) || !complete_tree_value(w))
                return false;
        if (!is_tree_level_ended(w) || !leave_tree_level(w))
            return false;
    }
    return ptc_call1(w->vm, w->argv[1], *hand(w), hand(w));
}

PTC_BUILTIN(walk_walk, "clojure.walk", "walk", 3, 3,
            PTC_B_CALLS | PTC_TAKES2(PTC_IS_CALLED, PTC_IS_CALLED), "(walk inner outer form)",
            "Replaces each part of a collection by (inner part), then the whole by (outer whole).",
            "(walk inc identity [1 2]) => [2 3]\n(walk inc #(reduce + %) [1 2 3]) => 9\n"
            "(walk first identity {:a 1}) !! type_error")
{
    Walker w;
    if (!ptc_arg_callable(vm, argv, 0) || !ptc_arg_callable(vm, argv, 1) ||
        !walker_init(&w, vm, argv, argv[2]))
        return false;
    return walker_end(&w, walk_once(&w), out);
}

/* --------------------------------------------------------- walks without a function */

/* In hand, what argument 1 says for the value in hand. */
static bool replace_hand(Walker *w)
{
    PtcValue v = ptc_map_get(w->vm->heap, w->argv[0], *hand(w));
    if (v != PTC_NONE)
        *hand(w) = v;
    return w->vm->budget.stop == PTC_STOP_NONE;
}

PTC_BUILTIN_EXPR(
    walk_postwalk_replace, "clojure.walk", "postwalk-replace", 2, 2, PTC_B_CALLS,
    "(postwalk-replace smap form)",
    "Replaces values of nested data that are keys of smap by their values, from the inside out.",
    "(postwalk-replace {:a 1} [:a [:b :a]]) => [1 [:b 1]]\n(postwalk-replace [1] [1]) !! "
    "type_error",
    ptc_arg_map(vm, argv, 0) && walk_with(vm, argv, NULL, replace_hand, out))

PTC_BUILTIN_EXPR(
    walk_prewalk_replace, "clojure.walk", "prewalk-replace", 2, 2, PTC_B_CALLS,
    "(prewalk-replace smap form)",
    "Replaces values of nested data that are keys of smap by their values, from the outside in.",
    "(prewalk-replace {:a [:b] :b 2} [:a]) => [[2]]\n(prewalk-replace nil [1]) !! type_error",
    ptc_arg_map(vm, argv, 0) && walk_with(vm, argv, replace_hand, NULL, out))

/* The map with keys of one kind turned into the other, PTC_NONE on failure. */
static PtcValue keys_as(PtcVM *vm, PtcValue map, bool keywords)
{
    PtcDictBuild b;
    PtcValue key, value;
    bool ok = true;
    if (!ptc_dict_build_init(&b, vm->heap, false))
        return PTC_NONE;
    for (size_t pos = 0; ok && ptc_map_next(map, &pos, &key, &value);) {
        if (keywords && ptc_is_string(key))
            key = ptc_keyword_new(vm->heap, ptc_str_bytes(key), ptc_str_len(key));
        else if (!keywords && ptc_is_keyword(key))
            key = ptc_str_new(vm->heap, ptc_str_bytes(key), ptc_str_len(key));
        ok = key != PTC_NONE && ptc_dict_build_put(&b, key, value) && ptc_tick(&vm->budget, 1);
    }
    if (ok)
        return ptc_dict_build_done(&b);
    ptc_dict_build_cancel(&b);
    return PTC_NONE;
}

static bool change_tree_keys(Walker *w, bool keywords)
{
    if (!ptc_is_map(*hand(w)))
        return true;
    PtcValue map = PTC_RETRY(w->vm, keys_as(w->vm, *hand(w), keywords));
    if (map == PTC_NONE)
        return false;
    *hand(w) = map;
    return true;
}

static bool keywordize(Walker *w)
{
    return change_tree_keys(w, true);
}

static bool stringify(Walker *w)
{
    return change_tree_keys(w, false);
}

static bool walk_keys(PtcVM *vm, const PtcValue *argv, Visitor after, PtcValue *out)
{
    Walker w;
    if (!walker_init(&w, vm, argv, argv[0]))
        return false;
    w.after = after;
    return walker_end(&w, walk_all(&w), out);
}

PTC_BUILTIN_EXPR(
    walk_keywordize_keys, "clojure.walk", "keywordize-keys", 1, 1, PTC_B_CALLS,
    "(keywordize-keys form)", "Turns string keys of maps into keywords, at every depth.",
    "(keywordize-keys {\"a\" [{\"b\" \"c\"}]}) => {:a [{:b \"c\"}]}\n(keywordize-keys nil) => nil",
    walk_keys(vm, argv, keywordize, out))

PTC_BUILTIN_EXPR(walk_stringify_keys, "clojure.walk", "stringify-keys", 1, 1, PTC_B_CALLS,
                 "(stringify-keys form)",
                 "Turns keyword keys of maps into strings, at every depth.",
                 "(stringify-keys {:a [{:b :c}]}) => {\"a\" [{\"b\" :c}]}\n(stringify-keys 5) => 5",
                 walk_keys(vm, argv, stringify, out))

PTC_BUILTIN_TABLE(ptc_lib_tree, walk_walk, walk_prewalk, walk_postwalk, walk_prewalk_replace,
                  walk_postwalk_replace, walk_keywordize_keys, walk_stringify_keys);
