/* SPDX-License-Identifier: MIT
 * Relations, which are sets (or other collections) of maps: the rest of clojure.set.  Keys are flexible, as look-ups
 * are: a column may be spelled differently in two relations.  join puts large tables together, so it is in C;
 * lisp/prelude/set.clj has the others. */
#include "lisp/lazy/seq_int.h"
#include "lisp/prelude/prelude.h"

/* Rows of an argument; false when it is no collection. */
static bool arg_rows(PtcVM *vm, const PtcValue *argv, int i, PtcIter *it)
{
    if (ptc_is_map(argv[i]) || ptc_is_string(argv[i]))
        return ptc_fail_type(vm, argv, i, "a set or sequence of maps");
    return ptc_arg_all(vm, argv, i, it);
}

/* The next row, which must be a map. */
static bool next_relation_row(PtcVM *vm, PtcIter *it, PtcValue *row)
{
    if (!ptc_next(vm, it, row))
        return false;
    if (ptc_is_map(*row))
        return true;
    it->failed = true;
    ptc_fail_value_type(vm, *row, "a row of the relation", "a map");
    return false;
}

static bool end_build(PtcDictBuild *b, bool ok, PtcValue *out)
{
    if (ok)
        return ptc_give(out, ptc_dict_build_done(b));
    ptc_dict_build_cancel(b);
    return false;
}

PTC_PRELUDE(set_project, "clojure.set", "project", 2, 2,
            PTC_TAKES2(PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET,
                       PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET) |
                PTC_GIVES(PTC_IS_SET),
            "(project rows keys)", "The set of the rows with only these columns.",
            "(project #{{:a 1 :b 2} {:a 1 :b 3}} [:a]) => #{{:a 1}}\n(project [{:a 1 :b 2}] [:b]) "
            "=> #{{:b 2}}\n"
            "(project [1 2] [:a]) !! type_error");

PTC_PRELUDE(set_rename, "clojure.set", "rename", 2, 2,
            PTC_TAKES2(PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET, PTC_IS_MAP) | PTC_GIVES(PTC_IS_SET),
            "(rename rows names)",
            "The set of the rows with their columns renamed as the map of old to new names says.",
            "(rename #{{:a 1 :b 2}} {:a :x}) => #{{:x 1, :b 2}}\n(rename [] {:a :b}) => #{}\n"
            "(rename #{{:a 1}} [:a :b]) !! type_error");

PTC_PRELUDE(
    set_index, "clojure.set", "index", 2, 2,
    PTC_TAKES2(PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET, PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET) |
        PTC_GIVES(PTC_IS_MAP),
    "(index rows keys)",
    "A map from the values of these columns, as a map, to the set of the rows that have them.",
    "(index #{{:a 1 :b 2} {:a 1 :b 3}} [:a]) => {{:a 1} #{{:a 1, :b 2} {:a 1, :b 3}}}\n"
    "(index [] [:a]) => {}\n(index [1] [:a]) !! type_error");

/* ----------------------------------------------------------------------------- join */

/* What is joined: pairs of keys, those of the first relation at even places, and who wins other columns that
 * both have. */
typedef struct {
    PtcVM *vm;
    PtcValue pairs; /* vector builder */
    bool second_wins;
    size_t made; /* rows, before equal ones become one */
} Join;

/* The values of a row under the keys of its side; what is missing counts as a value of its own. */
static PtcValue values_of(const Join *j, PtcValue row, size_t side)
{
    PtcHeap *heap = j->vm->heap;
    PtcValue b = ptc_build_new(heap);
    for (size_t i = side; b != PTC_NONE && i < ptc_build_count(j->pairs); i += 2) {
        PtcValue v = ptc_map_get_flex(heap, row, *ptc_build_slot(j->pairs, i));
        if (!ptc_build_add(heap, b, v == PTC_NONE ? PTC_UNBOUND : v) ||
            !ptc_tick(&j->vm->budget, 1))
            return PTC_NONE;
    }
    return b == PTC_NONE ? b : ptc_build_done(heap, b, 0);
}

/* One row of two. */
static PtcValue join_two_rows(const Join *j, PtcValue a, PtcValue b)
{
    PtcHeap *heap = j->vm->heap;
    PtcValue key, value;
    for (size_t pos = 0; a != PTC_NONE && ptc_map_next(b, &pos, &key, &value);) {
        if (j->second_wins || ptc_map_key_flex(heap, a, key) == PTC_NONE)
            a = ptc_map_assoc_flex(heap, a, key, value);
        if (!ptc_tick(&j->vm->budget, 1))
            return PTC_NONE;
    }
    return a;
}

/* Pairs from a map of keys, or of the keys that both first rows have. */
static bool find_pairs(Join *j, PtcValue names, PtcValue a, PtcValue b)
{
    PtcHeap *heap = j->vm->heap;
    PtcValue key, other;
    for (size_t pos = 0; ptc_map_next(names == PTC_NIL ? a : names, &pos, &key, &other);) {
        if (names == PTC_NIL && (other = ptc_map_key_flex(heap, b, key)) == PTC_NONE)
            continue;
        if (!ptc_build_add(heap, j->pairs, key) || !ptc_build_add(heap, j->pairs, other) ||
            !ptc_tick(&j->vm->budget, 1))
            return false;
    }
    return true;
}

/* The rows by their values: vector of values -> vector of rows. */
static bool group_rows(const Join *j, PtcIter it, PtcDictBuild *groups)
{
    PtcHeap *heap = j->vm->heap;
    PtcValue row;
    while (next_relation_row(j->vm, &it, &row)) {
        PtcValue values = values_of(j, row, 1);
        if (values == PTC_NONE)
            return false;
        int64_t at = ptc_dict_build_find(groups, values);
        PtcValue rows = at < 0 ? ptc_vec_new(heap, &row, 1, 0)
                               : ptc_vec_conj(heap, *ptc_dict_build_slot(groups, at), row);
        if (rows == PTC_NONE || !ptc_dict_build_put(groups, values, rows))
            return false;
    }
    return ptc_iter_end(&it);
}

static bool join_rows(Join *j, PtcIter it, PtcDictBuild *groups, PtcDictBuild *result)
{
    PtcValue row;
    while (next_relation_row(j->vm, &it, &row)) {
        PtcValue values = values_of(j, row, 0);
        int64_t at = values == PTC_NONE ? -1 : ptc_dict_build_find(groups, values);
        PtcValue matches = at < 0 ? PTC_NIL : *ptc_dict_build_slot(groups, at);
        for (size_t i = 0; matches != PTC_NIL && i < ptc_seq_count(matches); i++) {
            PtcValue both = join_two_rows(j, row, ptc_seq_nth(matches, i));
            if (both == PTC_NONE || !ptc_dict_build_put(result, both, PTC_NIL))
                return false;
            j->made++;
        }
        if (values == PTC_NONE)
            return false;
    }
    return ptc_iter_end(&it);
}

/* A count or a sum over the set would be too small. */
static void warn_equal_rows(const Join *j, size_t count)
{
    PtcWarningItem *w = j->made > count ? ptc_warnings_here(j->vm, PTC_W_EQUAL_ROWS) : NULL;
    if (!w)
        return;
    ptc_diag_format(w->message, PTC_MESSAGE_MAX + 1,
                    "join: %zu joined rows are %zu in the set, because equal rows become one",
                    j->made, count);
    ptc_diag_format(
        w->hint, PTC_HINT_MAX + 1,
        "to keep them all, number them first: (map-indexed #(assoc %%2 :row %%1) rows)");
}

PTC_BUILTIN(
    set_join, "clojure.set", "join", 2, 3,
    PTC_TAKES3(PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET, PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET,
               PTC_IS_MAP) |
        PTC_GIVES(PTC_IS_SET),
    "(clojure.set/join rows1 rows2 names?)",
    "The set of all rows put together from a row of each relation that agree in the columns both "
    "have, or in those that a map of names pairs up. Equal rows become one, with a warning.",
    "(clojure.set/join #{{:id 1 :n \"a\"}} #{{:id 1 :x 5} {:id 2 :x 6}}) => #{{:id 1, :n \"a\", :x "
    "5}}\n"
    "(clojure.set/join #{{:id 1}} #{{:ref 1 :x 5}} {:id :ref}) => #{{:id 1, :ref 1, :x 5}}\n"
    "(clojure.set/join #{1} #{2}) !! type_error")
{
    PtcIter a, b;
    PtcValue row_a, row_b;
    if (!arg_rows(vm, argv, 0, &a) || !arg_rows(vm, argv, 1, &b) ||
        (argc == 3 && !ptc_arg_map(vm, argv, 2)))
        return false;
    Join j = {vm, ptc_build_new(vm->heap), ptc_iter_hint(&a) <= ptc_iter_hint(&b), 0};
    PtcIter first_a = a, first_b = b;
    bool some = next_relation_row(vm, &first_a, &row_a) && next_relation_row(vm, &first_b, &row_b);
    if (!some)
        return !first_a.failed && !first_b.failed && ptc_give(out, ptc_set_empty(vm->heap));
    PtcDictBuild groups, result;
    if (j.pairs == PTC_NONE || !find_pairs(&j, argc == 3 ? argv[2] : PTC_NIL, row_a, row_b) ||
        !ptc_dict_build_init(&groups, vm->heap, false))
        return false;
    bool ok = ptc_dict_build_init(&result, vm->heap, true) && group_rows(&j, b, &groups) &&
              join_rows(&j, a, &groups, &result);
    ptc_dict_build_cancel(&groups);
    if (ok)
        warn_equal_rows(&j, result.count);
    return end_build(&result, ok, out);
}

PTC_BUILTIN_TABLE(ptc_lib_relation, set_project, set_rename, set_index, set_join);
