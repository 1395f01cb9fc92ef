/* SPDX-License-Identifier: MIT
 * Sets: making them, their algebra, and the rest of clojure.set that data work needs.  Results keep
 * the order of the first set; 1 and 1.0 are different elements. */
#include "lisp/lazy/seq_int.h"
#include "lisp/lib/seq/sorted_colls.h"

static bool arg_set(PtcVM *vm, const PtcValue *argv, int i)
{
    return argv[i] == PTC_NIL || ptc_is_set(argv[i]) ||
           ptc_fail_type(vm, argv, i, "a set or nil; make one with (set coll)");
}

static bool arg_sets(PtcVM *vm, int argc, const PtcValue *argv)
{
    for (int i = 0; i < argc; i++)
        if (!arg_set(vm, argv, i) || !ptc_tick(&vm->budget, 1))
            return false;
    return true;
}

static size_t set_count(PtcValue set)
{
    return set == PTC_NIL ? 0 : ptc_map_count(set);
}

/* Ends a build with its set, or without one when something failed before. */
static bool end_build(PtcDictBuild *b, bool ok, PtcValue *out)
{
    if (ok)
        return ptc_give(out, ptc_dict_build_done(b));
    ptc_dict_build_cancel(b);
    return false;
}

PTC_BUILTIN(core_set, "clojure.core", "set", 1, 1,
            PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_SET) | PTC_RULE(SET_OF), "(set coll)",
            "The set of the distinct elements of a collection, in order of first appearance.",
            "(set [3 1 3]) => #{3 1}\n(set \"aab\") => #{\"a\" \"b\"}\n(set nil) => #{}\n(set 5) "
            "!! type_error")
{
    PtcIter it;
    PtcDictBuild b;
    PtcValue x;
    bool ok = true;
    if (ptc_is_set(argv[0]))
        return ptc_give(out, argv[0]);
    if (!ptc_arg_all(vm, argv, 0, &it) || !ptc_dict_build_init(&b, vm->heap, true))
        return false;
    while (ok && ptc_iter_next(&it, &x))
        ok = ptc_dict_build_put(&b, x, PTC_NIL) && ptc_tick(&vm->budget, 1);
    return end_build(&b, ok && ptc_iter_end(&it), out);
}

PTC_BUILTIN(core_hash_set, "clojure.core", "hash-set", 0, -1, PTC_GIVES(PTC_IS_SET),
            "(hash-set & elements)", "The set of the distinct arguments.",
            "(hash-set 1 2 1) => #{1 2}\n(hash-set) => #{}")
{
    PtcDictBuild b;
    bool ok = true;
    if (!ptc_dict_build_init(&b, vm->heap, true))
        return false;
    for (int i = 0; ok && i < argc; i++)
        ok = ptc_dict_build_put(&b, argv[i], PTC_NIL) && ptc_tick(&vm->budget, 1);
    return end_build(&b, ok, out);
}

PTC_BUILTIN(core_disj, "clojure.core", "disj", 1, -1,
            PTC_TAKES(PTC_IS_NIL | PTC_IS_SET) | PTC_GIVES(PTC_IS_NIL | PTC_IS_SET),
            "(disj set & elements)", "The set without these elements.",
            "(disj #{1 2 3} 2 9) => #{1 3}\n(disj nil 1) => nil\n(disj [1 2] 1) !! type_error")
{
    PtcValue set = argv[0];
    if (!arg_set(vm, argv, 0))
        return false;
    for (int i = 1; i < argc && set != PTC_NIL; i++) {
        set = ptc_set_remove(vm->heap, set, argv[i]);
        if (set == PTC_NONE || !ptc_tick(&vm->budget, 1))
            return false;
    }
    *out = set;
    return true;
}

/* --------------------------------------------------------------------- algebra */

/* a with the elements of b, one by one or, when there are many, in one go. */
static bool unite(PtcVM *vm, PtcValue a, PtcValue b, PtcValue *out)
{
    PtcValue x;
    PtcDictBuild build;
    bool ok = true;
    *out = a;
    size_t few = set_count(a) / (ptc_is_sorted(a) ? 256 : 4) + PTC_SMALL_MAX;
    if (set_count(b) < few) {
        for (size_t pos = 0; ptc_map_next(b, &pos, &x, NULL);)
            if ((*out = ptc_set_add(vm->heap, *out, x)) == PTC_NONE || !ptc_tick(&vm->budget, 1))
                return false;
        return true;
    }
    if (!ptc_dict_build_init(&build, vm->heap, true))
        return false;
    for (size_t pos = 0; ok && ptc_map_next(a, &pos, &x, NULL);)
        ok = ptc_dict_build_put(&build, x, PTC_NIL) && ptc_tick(&vm->budget, 1);
    for (size_t pos = 0; ok && ptc_map_next(b, &pos, &x, NULL);)
        ok = ptc_dict_build_put(&build, x, PTC_NIL) && ptc_tick(&vm->budget, 1);
    if (ok && ptc_is_sorted(a))
        return ptc_give(out, ptc_sorted_done(vm, &build, ptc_sorted_by(a)));
    return end_build(&build, ok, out);
}

/* The same for a set of elements in the order of `like`, sorted if that is. */
static bool end_set_build(PtcDictBuild *b, bool ok, PtcValue like, PtcValue *out)
{
    if (ok && ptc_is_sorted(like))
        return ptc_give(out, ptc_dict_build_done_sorted(b, ptc_sorted_by(like)));
    return end_build(b, ok, out);
}

/* The elements of a that are in b (wanted) or are not. */
static bool keep_set_elements(PtcVM *vm, PtcValue a, PtcValue b, bool wanted, PtcValue *out)
{
    PtcValue x;
    PtcDictBuild build;
    bool ok = ptc_dict_build_init(&build, vm->heap, true);
    if (!ok)
        return false;
    for (size_t pos = 0; ok && ptc_map_next(a, &pos, &x, NULL);) {
        if (ptc_set_has(vm->heap, b, x) == wanted)
            ok = ptc_dict_build_put(&build, x, PTC_NIL);
        ok = ok && ptc_tick(&vm->budget, 1);
    }
    return end_set_build(&build, ok, a, out);
}

/* a without the elements of b. */
static bool subtract_set(PtcVM *vm, PtcValue a, PtcValue b, PtcValue *out)
{
    PtcValue x;
    if (set_count(b) > set_count(a) / (ptc_is_sorted(a) ? 256 : 4))
        return keep_set_elements(vm, a, b, false, out);
    *out = a;
    for (size_t pos = 0; ptc_map_next(b, &pos, &x, NULL);)
        if ((*out = ptc_set_remove(vm->heap, *out, x)) == PTC_NONE || !ptc_tick(&vm->budget, 1))
            return false;
    return true;
}

PTC_BUILTIN(set_union, "clojure.set", "union", 0, -1,
            PTC_TAKES_ALL(PTC_IS_NIL | PTC_IS_SET) | PTC_GIVES(PTC_IS_NIL | PTC_IS_SET),
            "(union & sets)", "The set of all elements of all sets.",
            "(union #{1 2} #{2 3}) => #{1 2 3}\n(union) => #{}\n(union #{1} [2]) !! type_error")
{
    PtcValue acc = argc ? PTC_NIL : ptc_set_empty(vm->heap);
    if (acc == PTC_NONE || !arg_sets(vm, argc, argv))
        return false;
    for (int i = 0; i < argc; i++) {
        if (acc == PTC_NIL && i > 0 && argv[i] != PTC_NIL && ptc_map_count(argv[i]) == 0)
            continue; /* nil with nothing added, as in Clojure */
        bool sorted =
            acc != PTC_NIL && argv[i] != PTC_NIL && ptc_is_sorted(acc) != ptc_is_sorted(argv[i]);
        if (sorted && ptc_map_count(acc) < ptc_map_count(argv[i])) {
            if (!unite(vm, argv[i], acc, &acc)) /* the larger one says whether it is sorted */
                return false;
        } else if (acc == PTC_NIL ||
                   (ptc_map_count(acc) == 0 && argv[i] != PTC_NIL && !ptc_is_sorted(acc)))
            acc = argv[i];
        else if (argv[i] != PTC_NIL && !unite(vm, acc, argv[i], &acc))
            return false;
    }
    *out = acc;
    return true;
}

PTC_BUILTIN(set_intersection, "clojure.set", "intersection", 1, -1,
            PTC_TAKES_ALL(PTC_IS_NIL | PTC_IS_SET) | PTC_GIVES(PTC_IS_NIL | PTC_IS_SET),
            "(intersection set & sets)", "The set of the elements that all sets have.",
            "(intersection #{1 2 3} #{3 2} #{2 9}) => #{2}\n(intersection #{1} #{2}) => #{}\n"
            "(intersection #{1} [1]) !! type_error")
{
    PtcValue acc = argv[0];
    if (!arg_sets(vm, argc, argv))
        return false;
    for (int i = 1; i < argc && acc != PTC_NIL; i++) {
        if (argv[i] == PTC_NIL)
            acc = PTC_NIL;
        else if (!keep_set_elements(vm, acc, argv[i], true, &acc))
            return false;
    }
    *out = acc;
    return true;
}

PTC_BUILTIN(set_difference, "clojure.set", "difference", 1, -1,
            PTC_TAKES_ALL(PTC_IS_NIL | PTC_IS_SET) | PTC_GIVES(PTC_IS_NIL | PTC_IS_SET),
            "(difference set & sets)",
            "The set of the elements of the first set that none of the others has.",
            "(difference #{1 2 3} #{1} #{3 4}) => #{2}\n(difference #{1}) => #{1}\n"
            "(difference [1 2] #{1}) !! type_error")
{
    PtcValue acc = argv[0];
    if (!arg_sets(vm, argc, argv))
        return false;
    for (int i = 1; i < argc && acc != PTC_NIL; i++)
        if (argv[i] != PTC_NIL && !subtract_set(vm, acc, argv[i], &acc))
            return false;
    *out = acc;
    return true;
}

/* Are all elements of a in b? */
static bool is_subset(PtcVM *vm, PtcValue a, PtcValue b, PtcValue *out)
{
    PtcValue x;
    bool all = set_count(a) <= set_count(b);
    for (size_t pos = 0; all && a != PTC_NIL && ptc_map_next(a, &pos, &x, NULL);) {
        all = ptc_set_has(vm->heap, b, x);
        if (!ptc_tick(&vm->budget, 1))
            return false;
    }
    *out = ptc_bool(all);
    return true;
}

PTC_BUILTIN_EXPR(
    set_subset, "clojure.set", "subset?", 2, 2,
    PTC_TAKES2(PTC_IS_NIL | PTC_IS_SET, PTC_IS_NIL | PTC_IS_SET) | PTC_GIVES(PTC_IS_BOOL),
    "(subset? set1 set2)", "Is every element of set1 in set2?",
    "(subset? #{1} #{1 2}) => true\n(subset? #{1 3} #{1 2}) => false\n(subset? [1] #{1}) "
    "!! type_error",
    arg_sets(vm, argc, argv) && is_subset(vm, argv[0], argv[1], out))

PTC_BUILTIN_EXPR(set_superset, "clojure.set", "superset?", 2, 2,
                 PTC_TAKES2(PTC_IS_NIL | PTC_IS_SET, PTC_IS_NIL | PTC_IS_SET) |
                     PTC_GIVES(PTC_IS_BOOL),
                 "(superset? set1 set2)", "Is every element of set2 in set1?",
                 "(superset? #{1 2} #{1}) => true\n(superset? #{1} #{1 2}) => false",
                 arg_sets(vm, argc, argv) && is_subset(vm, argv[1], argv[0], out))

/* ---------------------------------------------------------- more of clojure.set */

/* The elements of set at which flags is true. */
static bool select_flagged(PtcVM *vm, PtcValue set, PtcValue flags, PtcValue *out)
{
    PtcValue x, flag;
    PtcIter it;
    PtcDictBuild build;
    bool ok = ptc_iter_init(&it, vm->heap, flags);
    if (!ok || !ptc_dict_build_init(&build, vm->heap, true))
        return false;
    for (size_t pos = 0; ok && ptc_map_next(set, &pos, &x, NULL) && ptc_iter_next(&it, &flag);)
        ok = (!ptc_truthy(flag) || ptc_dict_build_put(&build, x, PTC_NIL)) &&
             ptc_tick(&vm->budget, 1);
    return end_set_build(&build, ok, set, out);
}

PTC_BUILTIN(
    set_select, "clojure.set", "select", 2, 2,
    PTC_B_CALLS | PTC_TAKES2(0, PTC_IS_NIL | PTC_IS_SET) | PTC_GIVES(PTC_IS_NIL | PTC_IS_SET),
    "(select pred set)", "The set of the elements for which (pred element) is true.",
    "(clojure.set/select odd? #{1 2 3}) => #{1 3}\n(clojure.set/select odd? [1]) !! type_error")
{
    PtcValue x, yes;
    PtcValue *flags = ptc_roots(vm, 1);
    if (!flags || !arg_set(vm, argv, 1))
        return false;
    if (argv[1] == PTC_NIL)
        return ptc_give(out, PTC_NIL);
    if (!ptc_root_build(vm, flags))
        return false;
    for (size_t pos = 0; ptc_map_next(argv[1], &pos, &x, NULL);)
        if (!ptc_call1(vm, argv[0], x, &yes) ||
            !ptc_root_push(vm, flags, ptc_bool(ptc_truthy(yes))) || !ptc_tick(&vm->budget, 1))
            return false;
    if (!ptc_root_done(vm, flags, 0, flags))
        return false;
    return PTC_RETRY(vm, select_flagged(vm, argv[1], *flags, out));
}

/* The name that a key of `map` gets by a map of old to new names; itself when it is not to be renamed. */
static PtcValue new_name(PtcVM *vm, PtcValue map, PtcValue names, PtcValue key)
{
    PtcValue from, to = ptc_map_get(vm->heap, names, key);
    if (to != PTC_NONE)
        return to;
    /* names may spell the key another way than the map does: what a look-up by that name finds is meant */
    for (size_t pos = 0; ptc_map_next(names, &pos, &from, &to);)
        if (ptc_is_named(from) && ptc_map_key_flex(vm->heap, map, from) == key)
            return to;
    return key;
}

PTC_BUILTIN(
    set_rename_keys, "clojure.set", "rename-keys", 2, 2,
    PTC_TAKES(PTC_IS_MAPPED) | PTC_GIVES(PTC_IS_MAPPED), "(rename-keys map names)",
    "The map with its keys renamed as the map of old to new names says.",
    "(rename-keys {:a 1 :b 2} {:a :x}) => {:x 1, :b 2}\n(rename-keys {:a 1} {:z :y}) => {:a 1}\n"
    "(rename-keys [1] {}) !! type_error")
{
    PtcDictBuild b;
    PtcValue key, value;
    bool ok = true;
    if (argv[0] == PTC_NIL)
        return ptc_give(out, PTC_NIL);
    if (!ptc_arg_map(vm, argv, 0) || !ptc_arg_map(vm, argv, 1) ||
        !ptc_dict_build_init(&b, vm->heap, false))
        return false;
    for (size_t pos = 0; ok && ptc_map_next(argv[0], &pos, &key, &value);) {
        PtcValue name = new_name(vm, argv[0], argv[1], key);
        /* a renamed entry takes the place of one that has the new name already */
        if (name != key || ptc_dict_build_find(&b, key) < 0)
            ok = ptc_dict_build_put(&b, name, value);
        ok = ok && ptc_tick(&vm->budget, 1 + (int64_t)ptc_map_count(argv[1]));
    }
    return end_build(&b, ok, out);
}

PTC_BUILTIN(set_map_invert, "clojure.set", "map-invert", 1, 1,
            PTC_TAKES(PTC_IS_MAPPED) | PTC_GIVES(PTC_IS_MAP), "(map-invert map)",
            "The map from each value to its key; of keys with one value the last wins.",
            "(map-invert {:a 1 :b 2}) => {1 :a, 2 :b}\n(map-invert nil) => {}\n(map-invert 5) !! "
            "type_error")
{
    PtcDictBuild b;
    PtcValue key, value;
    bool ok = true;
    if ((argv[0] != PTC_NIL && !ptc_arg_map(vm, argv, 0)) ||
        !ptc_dict_build_init(&b, vm->heap, false))
        return false;
    for (size_t pos = 0; ok && argv[0] != PTC_NIL && ptc_map_next(argv[0], &pos, &key, &value);)
        ok = ptc_dict_build_put(&b, value, key) && ptc_tick(&vm->budget, 1);
    return end_build(&b, ok, out);
}

PTC_BUILTIN_TABLE(ptc_lib_set, core_set, core_hash_set, core_disj, set_union, set_intersection,
                  set_difference, set_subset, set_superset, set_select, set_rename_keys,
                  set_map_invert);
