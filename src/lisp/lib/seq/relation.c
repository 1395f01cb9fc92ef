/* SPDX-License-Identifier: MIT
 * Relations, which are sets (or other collections) of maps: the rest of clojure.set, and joins of lists of rows.  Keys
 * are flexible, as look-ups are: a column may be spelled differently in two relations.  Joins put large tables
 * together, so they are in C; lisp/prelude has the others. */
#include "lisp/lazy/seq_int.h"
#include "lisp/prelude/prelude.h"
#include "lisp/vm/registry.h"
#include "lisp/vm/vm_int.h"

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
    bool
        of_rows; /* lists of rows, not relations: a value that is missing or nil is equal to none */
    size_t made; /* rows, before equal ones become one */
    PtcValue
        names; /* of_rows: the keys of the second, as the result has them; nil: it does not have it */
} Join;

/* The value of a row under one key of its side. */
static PtcValue value_of(const Join *j, PtcValue row, size_t i)
{
    PtcValue v = ptc_map_get_flex(j->vm->heap, row, *ptc_build_slot(j->pairs, i));
    if (!ptc_tick(&j->vm->budget, 1))
        return PTC_NONE;
    return v != PTC_NONE ? v : j->of_rows ? PTC_NIL : PTC_UNBOUND;
}

/* The values of a row under the keys of its side, or the only one; what is missing counts as a value of its own, or
 * (of_rows) makes them nil. */
static PtcValue values_of(const Join *j, PtcValue row, size_t side)
{
    PtcHeap *heap = j->vm->heap;
    size_t n = ptc_build_count(j->pairs);
    if (n == 2)
        return value_of(j, row, side);
    PtcValue b = ptc_build_new(heap);
    for (size_t i = side; b != PTC_NONE && i < n; i += 2) {
        PtcValue v = value_of(j, row, i);
        if (v == PTC_NONE || (v == PTC_NIL && j->of_rows))
            return v;
        if (!ptc_build_add(heap, b, v))
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
        if (values == PTC_NIL && j->of_rows)
            continue;
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
    Join j = {vm,     ptc_build_new(vm->heap), ptc_iter_hint(&a) <= ptc_iter_hint(&b), false, 0,
              PTC_NIL};
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

/* -------------------------------------------------------------------- joins of rows */

typedef enum { JOIN_INNER, JOIN_LEFT, JOIN_ANTI } JoinKind;

static bool fail_columns(PtcVM *vm, const PtcValue *argv)
{
    return ptc_fail_type(vm, argv, 0,
                         "a column such as :id, columns such as [:a :b], or a map of the names of "
                         "the first rows to those of the second, {:a :b}");
}

static bool add_pair(Join *j, PtcValue a, PtcValue b)
{
    return ptc_build_add(j->vm->heap, j->pairs, a) && ptc_build_add(j->vm->heap, j->pairs, b) &&
           ptc_tick(&j->vm->budget, 1);
}

/* Argument 0 as pairs of columns. */
static bool arg_columns(Join *j, const PtcValue *argv)
{
    PtcIter it;
    PtcValue key, other;
    if (ptc_is_map(argv[0])) {
        for (size_t pos = 0; ptc_map_next(argv[0], &pos, &key, &other);)
            if (!add_pair(j, key, other))
                return false;
    } else if (ptc_is_keyword(argv[0]) || ptc_is_string(argv[0])) {
        return add_pair(j, argv[0], argv[0]);
    } else {
        if (!ptc_is_sequential(argv[0]) || ptc_seq_endless(argv[0]))
            return fail_columns(j->vm, argv);
        if (!ptc_iter_init(&it, j->vm->heap, argv[0]))
            return false;
        while (ptc_next(j->vm, &it, &key))
            if (!add_pair(j, key, key))
                return false;
        if (!ptc_iter_end(&it))
            return false;
    }
    for (size_t i = 0; i < ptc_build_count(j->pairs); i++) {
        PtcValue column = *ptc_build_slot(j->pairs, i);
        if (!ptc_is_keyword(column) && !ptc_is_string(column))
            return fail_columns(j->vm, argv);
    }
    return ptc_build_count(j->pairs) > 0 || fail_columns(j->vm, argv);
}

/* All keys of the rows, each with itself. */
static PtcValue keys_of_rows(PtcVM *vm, PtcIter it)
{
    PtcDictBuild keys;
    PtcValue row, key;
    bool ok = ptc_dict_build_init(&keys, vm->heap, false);
    while (ok && next_relation_row(vm, &it, &row))
        for (size_t pos = 0; ok && ptc_map_next(row, &pos, &key, NULL);)
            ok = ptc_tick(&vm->budget, 1) &&
                 (ptc_dict_build_find(&keys, key) >= 0 || ptc_dict_build_put(&keys, key, key));
    PtcValue done = PTC_NONE;
    return end_build(&keys, ok && ptc_iter_end(&it), &done) ? done : PTC_NONE;
}

/* :n as :n_2, or with a higher number, which neither side has. */
static PtcValue another_name(PtcVM *vm, PtcValue key, PtcValue a, PtcValue b)
{
    PtcHeap *heap = vm->heap;
    PtcValue name = PTC_NONE;
    for (unsigned n = 2; name == PTC_NONE && ptc_tick(&vm->budget, 1); n++) {
        PtcBuf buf;
        ptc_heap_buf_init(heap, &buf);
        ptc_buf_add(&buf, ptc_str_bytes(key), ptc_str_len(key));
        ptc_buf_addf(&buf, "_%u", n);
        if (ptc_buf_ok(&buf))
            name = (ptc_is_keyword(key) ? ptc_keyword_new : ptc_str_new)(heap, buf.data, buf.len);
        ptc_buf_deinit(&buf);
        if (name == PTC_NONE)
            break;
        if (ptc_map_key_flex(heap, a, name) != PTC_NONE ||
            ptc_map_key_flex(heap, b, name) != PTC_NONE)
            name = PTC_NONE;
    }
    return name;
}

/* What the columns of the second are called in the result: those that the first has, too, get another name, and those
 * that were joined by are left out, since they say the same. */
static bool name_columns(Join *j, PtcIter a, PtcIter b)
{
    PtcVM *vm = j->vm;
    PtcValue key, name, keys = keys_of_rows(vm, a), others = PTC_NONE;
    if (keys == PTC_NONE || (others = keys_of_rows(vm, b)) == PTC_NONE)
        return false;
    j->names = others;
    for (size_t pos = 0; ptc_map_next(others, &pos, &key, NULL);) {
        if (!ptc_tick(&vm->budget, 1))
            return false;
        if (!ptc_is_named(key) || ptc_map_key_flex(vm->heap, keys, key) == PTC_NONE)
            continue;
        name = PTC_NONE;
        for (size_t i = 1; i < ptc_build_count(j->pairs); i += 2)
            if (ptc_map_key_flex(vm->heap, others, *ptc_build_slot(j->pairs, i)) == key)
                name = PTC_NIL;
        if (name == PTC_NONE)
            name = another_name(vm, key, keys, others);
        if (name == PTC_NONE ||
            (j->names = ptc_map_assoc(vm->heap, j->names, key, name)) == PTC_NONE)
            return false;
    }
    return true;
}

static PtcValue join_named(const Join *j, PtcValue a, PtcValue b)
{
    PtcHeap *heap = j->vm->heap;
    PtcValue key, value;
    for (size_t pos = 0; a != PTC_NONE && ptc_map_next(b, &pos, &key, &value);) {
        PtcValue name = ptc_map_get(heap, j->names, key);
        if (!ptc_tick(&j->vm->budget, 1))
            return PTC_NONE;
        if (name != PTC_NIL && name != PTC_NONE)
            a = ptc_map_assoc(heap, a, name, value);
    }
    return a;
}

static bool add_joined(Join *j, JoinKind kind, PtcValue row, PtcValue matches, PtcValue built)
{
    PtcHeap *heap = j->vm->heap;
    if (matches == PTC_NIL)
        return kind == JOIN_INNER || ptc_build_add(heap, built, row);
    size_t n = ptc_seq_count(matches);
    j->made += n;
    for (size_t i = 0; kind != JOIN_ANTI && i < n; i++) {
        PtcValue both = join_named(j, row, ptc_seq_nth(matches, i));
        if (both == PTC_NONE || !ptc_build_add(heap, built, both))
            return false;
    }
    return true;
}

static bool join_each(Join *j, JoinKind kind, PtcIter it, PtcDictBuild *groups, PtcValue built)
{
    PtcValue row;
    while (next_relation_row(j->vm, &it, &row)) {
        PtcValue values = values_of(j, row, 0);
        if (values == PTC_NONE)
            return false;
        int64_t at = values == PTC_NIL ? -1 : ptc_dict_build_find(groups, values);
        if (!add_joined(j, kind, row, at < 0 ? PTC_NIL : *ptc_dict_build_slot(groups, at), built))
            return false;
    }
    return ptc_iter_end(&it);
}

/* Nothing matched: 1 is not "1". */
static void warn_other_types(const Join *j, PtcIter a, PtcIter b)
{
    PtcValue first, second;
    if (!next_relation_row(j->vm, &a, &first) || !next_relation_row(j->vm, &b, &second))
        return;
    for (size_t i = 0; i < ptc_build_count(j->pairs); i += 2) {
        PtcValue x = value_of(j, first, i), y = value_of(j, second, i + 1);
        if (x == PTC_NONE || y == PTC_NONE || x == PTC_NIL || y == PTC_NIL ||
            strcmp(ptc_type_name(x), ptc_type_name(y)) == 0)
            continue;
        PtcWarningItem *w = ptc_warnings_here(j->vm, PTC_W_TYPE_MISMATCH);
        if (!w)
            return;
        ptc_diag_format(w->message, PTC_MESSAGE_MAX + 1,
                        "%s: no rows match; :%s is %s in the first rows and %s in the second",
                        ptc_builtin_row(j->vm->running)->name,
                        ptc_str_bytes(*ptc_build_slot(j->pairs, i)), ptc_type_name(x),
                        ptc_type_name(y));
        ptc_diag_format(w->hint, PTC_HINT_MAX + 1,
                        "convert one of them first, such as (map #(update %% :%s str) rows)",
                        ptc_str_bytes(*ptc_build_slot(j->pairs, i)));
        return;
    }
}

static bool warn_unmatched(const Join *j, const PtcValue *argv, PtcIter a, PtcIter b)
{
    for (size_t i = 0; i < ptc_build_count(j->pairs); i++)
        if (!ptc_key_check(j->vm, *ptc_build_slot(j->pairs, i), argv[1 + i % 2], false))
            return false;
    warn_other_types(j, a, b);
    return true;
}

static bool join_lists(PtcVM *vm, JoinKind kind, const PtcValue *argv, PtcValue *out)
{
    PtcIter a, b;
    PtcDictBuild groups;
    Join j = {.vm = vm, .pairs = ptc_build_new(vm->heap), .of_rows = true, .names = PTC_NIL};
    PtcValue built = ptc_build_new(vm->heap);
    if (j.pairs == PTC_NONE || built == PTC_NONE || !arg_columns(&j, argv) ||
        !arg_rows(vm, argv, 1, &a) || !arg_rows(vm, argv, 2, &b) ||
        (kind != JOIN_ANTI && !name_columns(&j, a, b)) ||
        !ptc_dict_build_init(&groups, vm->heap, false))
        return false;
    bool ok = group_rows(&j, b, &groups) && join_each(&j, kind, a, &groups, built);
    ptc_dict_build_cancel(&groups);
    return ok && ptc_give(out, ptc_build_done(vm->heap, built, PTC_SEQ)) &&
           (j.made > 0 || warn_unmatched(&j, argv, a, b));
}

#define TABLE_ROWS (PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET)
#define TABLE_COLUMNS (PTC_IS_KEYWORD | PTC_IS_STRING | PTC_IS_LIST | PTC_IS_MAP)

/* With fewer arguments it is clojure.string/join, which has had the name for longer. */
PTC_BUILTIN(
    core_join, "clojure.core", "join", 1, 3,
    PTC_TAKES3(PTC_IS_SEQABLE | PTC_IS_KEYWORD, PTC_IS_SEQABLE, TABLE_ROWS) |
        PTC_GIVES(PTC_IS_STRING | PTC_IS_LIST),
    "(join columns rows1 rows2)",
    "The rows of the first table, each with every row of the second that has the same in a column, "
    "in columns [:a :b], or under other names, {:sku :id}. Nil matches nothing. A column of the "
    "second that the first has, too, gets _2 behind its name. (join separator? coll) joins texts.",
    "(join :id [{:id 1 :n 5} {:id 2 :n 6}] [{:id 1 :x \"a\"}]) => [{:id 1, :n 5, :x \"a\"}]\n"
    "(join {:sku :id} [{:sku 7 :n 1}] [{:id 7 :n 2}]) => [{:sku 7, :n 1, :id 7, :n_2 2}]\n"
    "(join [:a :b] [{:a 1 :b 2}] [{:a 1 :b 3}]) => []\n(join \", \" [1 2]) => \"1, 2\"\n"
    "(join 5 [{}] [{}]) !! type_error")
{
    if (argc == 3)
        return join_lists(vm, JOIN_INNER, argv, out);
    vm->running = (uint32_t)ptc_builtin_find("str/join", strlen("str/join"));
    return ptc_builtin_row(vm->running)->fn(vm, argc, argv, out);
}

PTC_BUILTIN_EXPR(core_left_join, "clojure.core", "left-join", 3, 3,
                 PTC_TAKES3(TABLE_COLUMNS, TABLE_ROWS, TABLE_ROWS) | PTC_GIVES(PTC_IS_LIST),
                 "(left-join columns rows1 rows2)",
                 "As join; rows of the first table for which the second has none stay as they are.",
                 "(left-join :id [{:id 1} {:id 2}] [{:id 1 :x 5}]) => [{:id 1, :x 5} {:id 2}]\n"
                 "(left-join :id [{:id nil}] [{:id nil :x 1}]) => [{:id nil}]\n"
                 "(left-join :id [1] []) !! type_error",
                 join_lists(vm, JOIN_LEFT, argv, out))

PTC_BUILTIN_EXPR(core_anti_join, "clojure.core", "anti-join", 3, 3,
                 PTC_TAKES3(TABLE_COLUMNS, TABLE_ROWS, TABLE_ROWS) | PTC_GIVES(PTC_IS_LIST),
                 "(anti-join columns rows1 rows2)",
                 "The rows of the first table for which join finds none in the second.",
                 "(anti-join :id [{:id 1} {:id 2}] [{:id 1}]) => [{:id 2}]\n"
                 "(anti-join {:sku :id} [{:sku 1}] nil) => [{:sku 1}]",
                 join_lists(vm, JOIN_ANTI, argv, out))

/* ----------------------------------------------------------------------------- tables */

PTC_PRELUDE(core_group_sum, "clojure.core", "group-sum", 3, 3,
            PTC_B_CALLS | PTC_TAKES3(PTC_IS_KEYED, PTC_IS_KEYED, PTC_IS_SEQABLE) |
                PTC_GIVES(PTC_IS_MAP),
            "(group-sum key value rows)",
            "A map from each key to the sum of a field or function of the rows that have it; nil "
            "is skipped.",
            "(group-sum :k :n [{:k \"a\" :n 1} {:k \"b\" :n 5} {:k \"a\" :n 2}]) => {\"a\" 3, "
            "\"b\" 5}\n(group-sum even? identity [1 2 4]) => {false 1, true 6}\n"
            "(group-sum :k :n [{:k 1 :n \"x\"}]) !! arithmetic_error\n(group-sum :k 5 []) !! "
            "type_error");

PTC_PRELUDE(
    core_pivot, "clojure.core", "pivot", 4, 5,
    PTC_B_CALLS | PTC_TAKES3(TABLE_COLUMNS, PTC_IS_KEYED, 0) | PTC_GIVES(PTC_IS_LIST),
    "(pivot row column value f? rows)",
    "A table with one row for each value of row (a column, columns [:a :b], or {:name f}) and a "
    "column for each value of column: what f, or sum, gives for the values of the rows that have "
    "both; nil where there are none. Numbers and texts are in order, others as they come.",
    "(pivot :k :m :n [{:k 1 :m \"y\" :n 2} {:k 1 :m \"x\" :n 3} {:k 2 :m \"y\" :n 4}]) => [{:k 1, "
    "\"x\" 3, \"y\" 2} {:k 2, \"x\" nil, \"y\" 4}]\n"
    "(pivot {:odd odd?} #(quot % 10) identity count [1 2 3 11]) => [{:odd true, \"0\" 2, \"1\" 1} "
    "{:odd false, \"0\" 1, \"1\" nil}]\n(pivot odd? :m :n [1]) !! type_error");

PTC_PRELUDE(
    core_flatten_keys, "clojure.core", "flatten-keys", 1, 2,
    PTC_TAKES2(PTC_IS_NIL | PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP, PTC_IS_STRING) |
        PTC_GIVES(PTC_IS_LIST | PTC_IS_MAP),
    "(flatten-keys x separator?)",
    "A map, or a list of maps, with what is in maps inside of them under keys such as :a.b; lists "
    "stay as they are.",
    "(flatten-keys {:a {:b 1 :k {:d 2}} :e [3]}) => {:a.b 1, :a.k.d 2, :e [3]}\n"
    "(flatten-keys [{\"a\" {\"b\" 1}}] \"_\") => [{\"a_b\" 1}]\n(flatten-keys 5) !! type_error");

PTC_BUILTIN_TABLE(ptc_lib_relation, set_project, set_rename, set_index, set_join, core_join,
                  core_left_join, core_anti_join, core_group_sum, core_pivot, core_flatten_keys);
