/* SPDX-License-Identifier: MIT
 * Maps, and vectors as maps from index to element.  Keys are flexible: a look-up or write hits the
 * spelling that is there (:a for "a", a-b for a_b) when the exact key is not. */
#include "base/utf8.h"
#include "lisp/lazy/seq_int.h"

/* Arguments put together in a C array; more go into an array in the heap. */
enum { MAPS_FEW_ARGS = 16 };

/* A vector of two, as a map entry is. */
static bool is_pair(PtcValue v)
{
    return ptc_is_sequential(v) && !ptc_is_seq_flagged(v) && ptc_seq_count(v) == 2;
}

/* A key that is an index into count elements. */
static bool index_within(PtcValue key, size_t count, size_t *out)
{
    if (!ptc_is_int(key) || ptc_to_int(key) < 0 || (uint64_t)ptc_to_int(key) >= count)
        return false;
    *out = (size_t)ptc_to_int(key);
    return true;
}

/* --------------------------------------------------------------------- look-up */

/* The grapheme at an index; *out is PTC_NONE beyond the end. */
static bool grapheme_at(PtcVM *vm, PtcValue str, PtcValue key, PtcValue *out)
{
    const char *p = ptc_str_bytes(str), *end = p + ptc_str_len(str);
    size_t i, n = 1;
    *out = PTC_NONE;
    if (!index_within(key, ptc_str_len(str), &i))
        return true;
    if (ptc_str_simple(str))
        return ptc_give(out, ptc_str_new(vm->heap, p + i, 1));
    for (; p < end; p += n) {
        n = ptc_utf8_grapheme(&vm->budget, p, (size_t)(end - p));
        if (i-- == 0)
            return ptc_give(out, ptc_str_new(vm->heap, p, n));
        if (!ptc_tick(&vm->budget, 1))
            return false;
    }
    return true;
}

/* What is under a key of anything; *out is PTC_NONE when there is nothing. */
static bool look_up_key(PtcVM *vm, PtcValue coll, PtcValue key, PtcValue *out)
{
    size_t i;
    *out = PTC_NONE;
    if (ptc_is_map(coll)) {
        *out = ptc_map_get_flex(vm->heap, coll, key);
        return vm->budget.stop == PTC_STOP_NONE;
    }
    if (ptc_is_sequential(coll)) {
        if (!index_within(key, ptc_seq_count(coll), &i))
            return true;
        *out = ptc_seq_nth(coll, i);
        return ptc_is(coll, PTC_T_CONS) ? ptc_tick(&vm->budget, (int64_t)i) : true;
    }
    if (ptc_is_set(coll)) {
        *out = ptc_set_get(vm->heap, coll, key);
        return vm->budget.stop == PTC_STOP_NONE;
    }
    return ptc_is_string(coll) ? grapheme_at(vm, coll, key, out) : true;
}

/* Data of any kind may be asked for a key; a keyword or function in its place is probably a mistake. */
static bool arg_source(PtcVM *vm, const PtcValue *argv)
{
    PtcTag t = ptc_tag(argv[0]);
    if (ptc_is_builtin(argv[0]) || t == PTC_T_KEYWORD || t == PTC_T_CLOSURE)
        return ptc_fail_type(vm, argv, 0, "a map or other collection, which comes before the key");
    return true;
}

static bool arg_path(PtcVM *vm, const PtcValue *argv, PtcIter *it)
{
    if (argv[1] != PTC_NIL && !ptc_is_sequential(argv[1]))
        return ptc_fail_type(vm, argv, 1, "a vector of keys");
    return ptc_iter_init(it, vm->heap, argv[1]);
}

PTC_BUILTIN(
    core_get, "clojure.core", "get", 2, 3, PTC_TAKES(PTC_IS_ANY & ~PTC_IS_KEYWORD) | PTC_RULE(GET),
    "(get coll key default?)",
    "The value under a key of a map, an index of a vector or string, or an element of a set; "
    "nil or the default when it is absent.",
    "(get {:a 1} :a) => 1\n(get {\"a\" 1} :a) => 1\n(get [7 8] 5 :none) => :none\n"
    "(get :a {:a 1}) !! type_error")
{
    PtcValue v;
    if (!arg_source(vm, argv) || !look_up_key(vm, argv[0], argv[1], &v))
        return false;
    *out = v != PTC_NONE ? v : argc == 3 ? argv[2] : PTC_NIL;
    return true;
}

PTC_BUILTIN(
    core_get_in, "clojure.core", "get-in", 2, 3,
    PTC_TAKES2(PTC_IS_ANY & ~PTC_IS_KEYWORD, PTC_IS_NIL | PTC_IS_LIST) | PTC_RULE(GET_IN),
    "(get-in coll path default?)",
    "The value that a path of keys and indexes leads to; nil or the default when a step is absent.",
    "(get-in {:u {:tags [\"x\" \"y\"]}} [:u :tags 1]) => \"y\"\n"
    "(get-in {:u nil} [:u :name] \"?\") => \"?\"\n(get-in {:a 1} :a) !! type_error")
{
    PtcIter it;
    PtcValue key, v = argv[0];
    if (!arg_source(vm, argv) || !arg_path(vm, argv, &it))
        return false;
    while (v != PTC_NONE && ptc_iter_next(&it, &key))
        if (!look_up_key(vm, v, key, &v) || !ptc_tick(&vm->budget, 1))
            return false;
    *out = v != PTC_NONE ? v : argc == 3 ? argv[2] : PTC_NIL;
    return true;
}

PTC_BUILTIN(core_contains, "clojure.core", "contains?", 2, 2,
            PTC_TAKES(PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_BOOL) | PTC_RULE(CONTAINS),
            "(contains? coll key)",
            "Does a map have this key, a set this element, or a vector this index?",
            "(contains? {:a nil} :a) => true\n(contains? #{1 2} 3) => false\n"
            "(contains? [10 20] 1) => true\n(contains? \"abc\" \"a\") !! type_error")
{
    PtcValue coll = argv[0], v;
    if (ptc_is_string(coll) && !ptc_is_integer(argv[1]))
        return ptc_fail_type(vm, argv, 1, "an index; for part of a string use (includes? s part)");
    if (coll != PTC_NIL && !ptc_is_map(coll) && !ptc_is_set(coll) && !ptc_is_string(coll) &&
        !(ptc_is_sequential(coll) && !ptc_is_seq_flagged(coll)))
        return ptc_fail_type(
            vm, argv, 0, "a map, set, vector or nil; to search a sequence use (some #{x} coll)");
    if (!look_up_key(vm, coll, argv[1], &v))
        return false;
    *out = ptc_bool(v != PTC_NONE);
    return true;
}

/* The entry [key value] under a key of a map, vector or nil; PTC_NONE when there is none. */
static bool find_key_entry(PtcVM *vm, PtcValue coll, PtcValue key, PtcValue *stored,
                           PtcValue *value)
{
    if (!look_up_key(vm, coll, key, value))
        return false;
    *stored = key;
    if (*value != PTC_NONE && ptc_is_map(coll))
        *stored = ptc_map_key_flex(vm->heap, coll, key);
    return true;
}

static bool arg_associative(PtcVM *vm, const PtcValue *argv, int i)
{
    return argv[i] == PTC_NIL || ptc_is_map(argv[i]) || ptc_is_sequential(argv[i]) ||
           ptc_fail_type(vm, argv, i, "a map, vector or nil");
}

PTC_BUILTIN(
    core_find, "clojure.core", "find", 2, 2,
    PTC_TAKES(PTC_IS_ASSOCIATIVE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST) | PTC_RULE(FIND),
    "(find coll key)",
    "The entry [key value] of a map under a key, or of a vector under an index; nil when absent.",
    "(find {:a nil} :a) => [:a nil]\n(find [\"p\" \"q\"] 1) => [1 \"q\"]\n(find {} :a) => nil\n"
    "(find #{1} 1) !! type_error")
{
    PtcValue key, value;
    if (!arg_associative(vm, argv, 0) || !find_key_entry(vm, argv[0], argv[1], &key, &value))
        return false;
    return ptc_give(out, value == PTC_NONE ? PTC_NIL : ptc_vec_pair(vm->heap, key, value));
}

/* --------------------------------------------------------------------- writing */

/* Ranges and cons lists cannot be written to: a vector of the same elements, PTC_NONE on failure. */
static PtcValue vector_of_elements(PtcVM *vm, PtcValue seq)
{
    PtcIter it;
    PtcValue x, build = ptc_build_new(vm->heap);
    if (build == PTC_NONE || !ptc_iter_init(&it, vm->heap, seq))
        return PTC_NONE;
    while (ptc_iter_next(&it, &x))
        if (!ptc_build_add(vm->heap, build, x) || !ptc_tick(&vm->budget, 1))
            return PTC_NONE;
    return it.failed ? PTC_NONE : ptc_build_done(vm->heap, build, PTC_SEQ);
}

static bool put_at(PtcVM *vm, PtcValue seq, PtcValue key, PtcValue value, PtcValue *out)
{
    size_t count = ptc_seq_count(seq), i = count;
    if (!ptc_is_int(key))
        return ptc_fail_value_type(vm, key, "the key for a vector", "an index");
    if (ptc_to_int(key) != (int64_t)count && !index_within(key, count, &i)) {
        ptc_fail_here(vm, PTC_E_INDEX, "index %lld is out of range for a vector of %zu",
                      (long long)ptc_to_int(key), count);
        return ptc_fail_hint(vm, "indexes go from 0 to the length, which appends");
    }
    if (ptc_is(seq, PTC_T_RANGE) || ptc_is(seq, PTC_T_CONS))
        seq = vector_of_elements(vm, seq);
    if (seq == PTC_NONE)
        return false;
    return ptc_give(out, i == count ? ptc_vec_conj(vm->heap, seq, value)
                                    : ptc_vec_assoc(vm->heap, seq, i, value));
}

/* A map or vector with value under key.  role says what coll is, for the message. */
static bool put_under_key(PtcVM *vm, PtcValue coll, PtcValue key, PtcValue value, const char *role,
                          PtcValue *out)
{
    if (coll == PTC_NIL && (coll = ptc_map_empty(vm->heap)) == PTC_NONE)
        return false;
    if (ptc_is_map(coll))
        return ptc_give(out, ptc_map_assoc_flex(vm->heap, coll, key, value));
    if (ptc_is_sequential(coll))
        return put_at(vm, coll, key, value, out);
    return ptc_fail_value_type(vm, coll, role, "a map, vector or nil");
}

/* put for builtins that call back: all values are arguments or rooted. */
static bool put_rooted(PtcVM *vm, PtcValue coll, PtcValue key, PtcValue value, PtcValue *out)
{
    const char *role = "argument 1";
    return PTC_RETRY(vm, put_under_key(vm, coll, key, value, role, out));
}

PTC_BUILTIN(core_assoc, "clojure.core", "assoc", 3, -1,
            PTC_TAKES(PTC_IS_ASSOCIATIVE) | PTC_GIVES(PTC_IS_LIST | PTC_IS_MAP) | PTC_RULE(ASSOC),
            "(assoc coll key value ...)",
            "A map with these keys set to these values, or a vector with these indexes set.",
            "(assoc {:a 1} :b 2) => {:a 1, :b 2}\n(assoc {\"id\" 1} :id 2) => {\"id\" 2}\n"
            "(assoc [1 2] 0 9 2 3) => [9 2 3]\n(assoc [1] 5 0) !! index_error")
{
    PtcValue coll = argv[0];
    if (argc % 2 == 0)
        return ptc_fail(vm, PTC_E_ARITY | PTC_AS(ILLEGAL_ARGUMENT),
                        "assoc: the last key has no value");
    for (int i = 1; i < argc; i += 2)
        if (!put_under_key(vm, coll, argv[i], argv[i + 1], "argument 1", &coll) ||
            !ptc_tick(&vm->budget, 1))
            return false;
    *out = coll;
    return true;
}

/* What a path leads through, as an array coll, key, coll, key ...  *leaf is the value at its end, or nil.
 * The empty path is the key nil, as in Clojure. */
static PtcNode *descend(PtcVM *vm, const PtcValue *argv, PtcValue *leaf)
{
    PtcIter it;
    if (!arg_path(vm, argv, &it))
        return NULL;
    size_t n = ptc_iter_hint(&it), at = 0;
    n = n ? n : 1;
    if (n > UINT32_MAX / 4) {
        ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
        return NULL;
    }
    PtcNode *chain = ptc_heap_object(vm->heap, PTC_T_NODE, sizeof *chain + 2 * n * sizeof(PtcValue),
                                     (uint32_t)(2 * n));
    PtcValue v = argv[0], key;
    while (chain && at < 2 * n) {
        if (!ptc_iter_next(&it, &key))
            key = PTC_NIL;
        chain->slots[at++] = v;
        chain->slots[at++] = key;
        if (!look_up_key(vm, v, key, &v) || !ptc_tick(&vm->budget, 1))
            return NULL;
        v = v == PTC_NONE ? PTC_NIL : v;
    }
    *leaf = v;
    return chain;
}

/* The outermost collection after value is put at the end of the path. */
static bool ascend(PtcVM *vm, const PtcNode *chain, PtcValue value, PtcValue *out)
{
    for (size_t at = chain->obj.count; at > 0; at -= 2) {
        const char *role = at == 2 ? "argument 1" : "a value on the path";
        if (!put_under_key(vm, chain->slots[at - 2], chain->slots[at - 1], value, role, &value) ||
            !ptc_tick(&vm->budget, 1))
            return false;
    }
    *out = value;
    return true;
}

PTC_BUILTIN(
    core_assoc_in, "clojure.core", "assoc-in", 3, 3,
    PTC_TAKES2(PTC_IS_ASSOCIATIVE, PTC_IS_NIL | PTC_IS_LIST) | PTC_GIVES(PTC_IS_LIST | PTC_IS_MAP) |
        PTC_RULE(ASSOC_IN),
    "(assoc-in coll path value)",
    "The collection with the value set at a path of keys and indexes; missing maps are made.",
    "(assoc-in {} [:a :b] 1) => {:a {:b 1}}\n(assoc-in {:v [1 2]} [:v 0] 9) => {:v [9 2]}\n"
    "(assoc-in {:a 5} [:a :b] 1) !! type_error")
{
    PtcValue leaf;
    PtcNode *chain = descend(vm, argv, &leaf);
    return chain && ascend(vm, chain, argv[2], out);
}

/* (f first rest ...) */
static bool call_with(PtcVM *vm, PtcValue f, PtcValue first, int n, const PtcValue *rest,
                      PtcValue *out)
{
    PtcValue few[MAPS_FEW_ARGS];
    if (n < MAPS_FEW_ARGS) {
        few[0] = first;
        for (int i = 0; i < n; i++)
            few[i + 1] = rest[i];
        return ptc_call(vm, f, n + 1, few, out);
    }
    PtcValue *root = ptc_roots(vm, 1);
    if (!root)
        return false;
    *root = first;
    size_t bytes = sizeof(PtcNode) + ((size_t)n + 1) * sizeof(PtcValue);
    PtcNode *all = PTC_RETRY(vm, ptc_heap_object(vm->heap, PTC_T_NODE, bytes, (uint32_t)n + 1));
    if (!all)
        return false;
    all->slots[0] = first;
    memcpy(all->slots + 1, rest, (size_t)n * sizeof *rest);
    *root = ptc_from_obj(all);
    return ptc_call(vm, f, n + 1, all->slots, out);
}

PTC_BUILTIN(core_update, "clojure.core", "update", 3, -1,
            PTC_B_CALLS | PTC_TAKES(PTC_IS_ASSOCIATIVE) | PTC_GIVES(PTC_IS_LIST | PTC_IS_MAP) |
                PTC_RULE(UPDATE),
            "(update coll key f & args)",
            "The collection with the value under a key replaced by (f value args ...).",
            "(update {:n 1} :n inc) => {:n 2}\n(update {:n 1} :n + 10) => {:n 11}\n"
            "(update [1 2] 0 str) => [\"1\" 2]\n(update {} :n inc) !! type_error")
{
    PtcValue old;
    PtcValue *root = ptc_roots(vm, 1);
    if (!root || !arg_associative(vm, argv, 0) || !look_up_key(vm, argv[0], argv[1], &old) ||
        !call_with(vm, argv[2], old == PTC_NONE ? PTC_NIL : old, argc - 3, argv + 3, root))
        return false;
    return put_rooted(vm, argv[0], argv[1], *root, out);
}

PTC_BUILTIN(core_update_in, "clojure.core", "update-in", 3, -1,
            PTC_B_CALLS | PTC_TAKES2(PTC_IS_ASSOCIATIVE, PTC_IS_NIL | PTC_IS_LIST) |
                PTC_GIVES(PTC_IS_LIST | PTC_IS_MAP) | PTC_RULE(UPDATE_IN),
            "(update-in coll path f & args)",
            "The collection with the value at a path replaced by (f value args ...); missing maps "
            "are made.",
            "(update-in {:a {:n 1}} [:a :n] + 10) => {:a {:n 11}}\n"
            "(update-in {} [:log] (fnil conj []) \"x\") => {:log [\"x\"]}\n"
            "(update-in {:a 1} :a inc) !! type_error")
{
    PtcValue leaf;
    PtcValue *roots = ptc_roots(vm, 2);
    if (!roots)
        return false;
    PtcNode *chain = PTC_RETRY(vm, descend(vm, argv, &leaf));
    if (!chain)
        return false;
    roots[0] = ptc_from_obj(chain);
    if (!call_with(vm, argv[2], leaf, argc - 3, argv + 3, &roots[1]))
        return false;
    return PTC_RETRY(vm, ascend(vm, chain, roots[1], out));
}

PTC_BUILTIN(core_dissoc, "clojure.core", "dissoc", 1, -1,
            PTC_TAKES(PTC_IS_MAPPED) | PTC_GIVES(PTC_IS_MAPPED) | PTC_RULE(DISSOC),
            "(dissoc map & keys)", "The map without these keys.",
            "(dissoc {:a 1 :b 2 :c 3} :a :c) => {:b 2}\n(dissoc {\"id\" 1} :id) => {}\n"
            "(dissoc nil :a) => nil\n(dissoc [1 2] 0) !! type_error")
{
    PtcValue map = argv[0];
    if (map != PTC_NIL && !ptc_is_map(map))
        return ptc_fail_type(vm, argv, 0, "a map or nil");
    for (int i = 1; i < argc && map != PTC_NIL; i++) {
        PtcValue key = ptc_map_key_flex(vm->heap, map, argv[i]);
        if (key != PTC_NONE)
            map = ptc_map_dissoc(vm->heap, map, key);
        if (map == PTC_NONE || !ptc_tick(&vm->budget, 1))
            return false;
    }
    *out = map;
    return true;
}

/* -------------------------------------------------------------------- building */

/* A map in the making: few entries here, more in a table. */
typedef struct {
    PtcVM *vm;
    PtcValue keys[PTC_SMALL_MAX], values[PTC_SMALL_MAX];
    uint32_t hashes[PTC_SMALL_MAX];
    size_t count;
    bool large; /* the table is in use */
    PtcDictBuild table;
} MapMaking;

static bool making_init(MapMaking *m, PtcVM *vm, size_t most)
{
    m->vm = vm;
    m->count = 0;
    m->large = most > PTC_SMALL_MAX;
    return !m->large || ptc_dict_build_init(&m->table, vm->heap, false);
}

static bool making_put(MapMaking *m, PtcValue key, PtcValue value)
{
    if (!ptc_tick(&m->vm->budget, 1))
        return false;
    if (m->large)
        return ptc_dict_build_put(&m->table, key, value);
    uint32_t hash = ptc_hash(m->vm->heap, key);
    size_t i = 0;
    while (i < m->count && !(m->hashes[i] == hash && ptc_same(m->vm->heap, m->keys[i], key)))
        i++;
    if (i == m->count) {
        m->keys[m->count] = key;
        m->hashes[m->count++] = hash;
    }
    m->values[i] = value;
    return m->vm->budget.stop == PTC_STOP_NONE;
}

static bool making_end(MapMaking *m, bool ok, PtcValue *out)
{
    if (m->large) {
        if (ok)
            return ptc_give(out, ptc_dict_build_done(&m->table));
        ptc_dict_build_cancel(&m->table);
        return false;
    }
    PtcValue shape = ok ? ptc_shape_new(m->vm->heap, m->keys, m->hashes, m->count) : PTC_NONE;
    return shape != PTC_NONE && ptc_give(out, ptc_smap_new(m->vm->heap, shape, m->values));
}

static bool make_map_of_args(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    MapMaking m;
    bool ok = true;
    if (argc % 2 != 0)
        return ptc_fail_here(vm, PTC_E_ARITY | PTC_AS(ILLEGAL_ARGUMENT),
                             "the last key has no value");
    if (!making_init(&m, vm, (size_t)argc / 2))
        return false;
    for (int i = 0; ok && i < argc; i += 2)
        ok = making_put(&m, argv[i], argv[i + 1]);
    return making_end(&m, ok, out);
}

PTC_BUILTIN_EXPR(
    core_hash_map, "clojure.core", "hash-map", 0, -1, PTC_GIVES(PTC_IS_MAP) | PTC_RULE(HASH_MAP),
    "(hash-map key value ...)", "A map of these keys and values, in this order.",
    "(hash-map :a 1 :b 2) => {:a 1, :b 2}\n(hash-map) => {}\n(hash-map :a) !! arity_error",
    make_map_of_args(vm, argc, argv, out))

PTC_BUILTIN_EXPR(core_array_map, "clojure.core", "array-map", 0, -1,
                 PTC_GIVES(PTC_IS_MAP) | PTC_RULE(HASH_MAP), "(array-map key value ...)",
                 "The same as hash-map: maps keep their order anyway.",
                 "(array-map \"z\" 1 \"a\" 2) => {\"z\" 1, \"a\" 2}\n(array-map 1) !! arity_error",
                 make_map_of_args(vm, argc, argv, out))

PTC_BUILTIN(core_select_keys, "clojure.core", "select-keys", 2, 2,
            PTC_TAKES2(PTC_IS_ASSOCIATIVE, PTC_IS_SEQABLE) | PTC_GIVES(PTC_IS_MAP) |
                PTC_RULE(SELECT_KEYS),
            "(select-keys map keys)",
            "A map of only those entries whose keys are listed, in the order of the list.",
            "(select-keys {:a 1 :b 2 :c 3} [:c :a]) => {:c 3, :a 1}\n"
            "(select-keys {\"id\" 1 \"x\" 2} [:id :zz]) => {\"id\" 1}\n(select-keys {:a 1} :a) !! "
            "type_error")
{
    MapMaking m;
    PtcIter it;
    PtcValue wanted, key, value;
    bool ok = true;
    if (!arg_associative(vm, argv, 0) || !ptc_arg_all(vm, argv, 1, &it) ||
        !making_init(&m, vm, ptc_iter_hint(&it)))
        return false;
    while (ok && ptc_iter_next(&it, &wanted)) {
        ok = find_key_entry(vm, argv[0], wanted, &key, &value);
        if (ok && value != PTC_NONE)
            ok = making_put(&m, key, value);
        ok = ok && ptc_tick(&vm->budget, 1);
    }
    return making_end(&m, ok && !it.failed, out);
}

/* --------------------------------------------------------------------- merging */

/* acc with the entries of map; keys hit the spellings that were in acc before. */
static bool merge_map(PtcVM *vm, PtcValue acc, PtcValue map, PtcValue *out)
{
    PtcValue before = acc, key, value;
    PtcMapSink sink = {.vm = vm, .map = acc, .building = false};
    if (ptc_map_count(acc) == 0 && !ptc_is_sorted(acc))
        return ptc_give(out, map);
    if (ptc_is_sorted(acc) && !ptc_map_sink_init(vm, &sink, acc, ptc_map_count(map)))
        return false;
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);) {
        PtcValue spelled = ptc_map_key_flex(vm->heap, before, key);
        if (!ptc_map_sink_put(&sink, spelled == PTC_NONE ? key : spelled, value))
            return false;
        if (!ptc_tick(&vm->budget, 1))
            return ptc_map_sink_fail(&sink);
    }
    return ptc_give(out, ptc_map_sink_done(&sink));
}

PTC_BUILTIN(
    core_merge, "clojure.core", "merge", 0, -1,
    PTC_B_LONE | PTC_TAKES3(0, PTC_IS_ASSOCIATIVE, PTC_IS_ASSOCIATIVE) | PTC_RULE(MERGE),
    "(merge & maps)", "One map with the entries of all; later maps win, nil counts as empty.",
    "(merge {:a 1 :b 1} {:b 2}) => {:a 1, :b 2}\n(merge {:a 1} nil {:c 3}) => {:a 1, :c 3}\n"
    "(merge) => nil\n(merge {:a 1} 5) !! type_error")
{
    PtcValue acc = PTC_NIL;
    for (int i = 0; i < argc; i++) {
        PtcValue m = argv[i];
        if (m == PTC_NIL || (i == 0 && !ptc_truthy(m)))
            continue;
        if (acc == PTC_NIL && (i == 0 || ptc_is_map(m))) {
            acc = m;
            continue;
        }
        if (acc == PTC_NIL && (acc = ptc_map_empty(vm->heap)) == PTC_NONE)
            return false;
        if (!ptc_is_map(acc))
            return ptc_fail_type(vm, argv, 0, "a map or nil");
        bool ok = ptc_is_map(m) ? merge_map(vm, acc, m, &acc)
                  : is_pair(m)
                      ? put_under_key(vm, acc, ptc_seq_nth(m, 0), ptc_seq_nth(m, 1), "", &acc)
                      : ptc_fail_type(vm, argv, i, "a map, a [key value] pair or nil");
        if (!ok)
            return false;
    }
    *out = acc;
    return true;
}

/* One entry more in the map at acc[0]; acc[1] is scratch. */
static bool merge_map_entry(PtcVM *vm, PtcValue f, PtcValue *acc, PtcValue key, PtcValue value)
{
    PtcValue spelled = ptc_map_key_flex(vm->heap, acc[0], key);
    acc[1] = value;
    if (spelled != PTC_NONE) {
        PtcValue old = ptc_map_get(vm->heap, acc[0], spelled);
        if (!ptc_call2(vm, f, old, value, &acc[1]))
            return false;
        key = spelled;
    }
    PtcValue more = PTC_RETRY(vm, ptc_map_assoc(vm->heap, acc[0], key, acc[1]));
    if (more == PTC_NONE)
        return false;
    acc[0] = more;
    return ptc_tick(&vm->budget, 1);
}

PTC_BUILTIN(
    core_merge_with, "clojure.core", "merge-with", 1, -1,
    PTC_B_CALLS | PTC_TAKES3(0, PTC_IS_MAPPED, PTC_IS_MAPPED) | PTC_GIVES(PTC_IS_MAPPED),
    "(merge-with f & maps)",
    "One map with the entries of all; values under the same key are joined by (f earlier later).",
    "(merge-with + {:a 1 :b 2} {:a 10}) => {:a 11, :b 2}\n"
    "(merge-with into {:a [1]} {:a [2]}) => {:a [1 2]}\n(merge-with + {:a 1} {:a \"x\"}) !! "
    "type_error")
{
    PtcValue key, value;
    PtcValue *acc = ptc_roots(vm, 2);
    if (!acc)
        return false;
    for (int i = 1; i < argc; i++) {
        if (argv[i] == PTC_NIL)
            continue;
        if (!ptc_is_map(argv[i]))
            return ptc_fail_type(vm, argv, i, "a map or nil");
        if (acc[0] == PTC_NIL) {
            acc[0] = argv[i];
            continue;
        }
        for (size_t pos = 0; ptc_map_next(argv[i], &pos, &key, &value);)
            if (!merge_map_entry(vm, argv[0], acc, key, value))
                return false;
    }
    *out = acc[0];
    return true;
}

/* -------------------------------------------------------------------- all of it */

/* Keys (part 0) or values (part 1) of a map, or of a sequence of entries; nil when there are none. */
static bool give_keys_or_values(PtcVM *vm, const PtcValue *argv, int part, PtcValue *out)
{
    PtcIter it;
    PtcValue entry, build;
    *out = PTC_NIL;
    if (argv[0] != PTC_NIL && !ptc_is_map(argv[0]) && !ptc_is_sequential(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a map or nil");
    if (argv[0] == PTC_NIL || ptc_obj(argv[0])->count == 0)
        return true;
    if ((build = ptc_build_new(vm->heap)) == PTC_NONE)
        return false;
    PtcValue pair[2];
    for (size_t pos = 0; ptc_is_map(argv[0]) && ptc_map_next(argv[0], &pos, &pair[0], &pair[1]);)
        if (!ptc_build_add(vm->heap, build, pair[part]) || !ptc_tick(&vm->budget, 1))
            return false;
    if (!ptc_is_map(argv[0]) && ptc_iter_init(&it, vm->heap, argv[0])) {
        while (ptc_iter_next(&it, &entry)) {
            if (!is_pair(entry))
                return ptc_fail_value_type(vm, entry, "an element of argument 1", "a map entry");
            if (!ptc_build_add(vm->heap, build, ptc_seq_nth(entry, (size_t)part)) ||
                !ptc_tick(&vm->budget, 1))
                return false;
        }
    }
    return ptc_give(out, ptc_build_done(vm->heap, build, PTC_SEQ));
}

PTC_BUILTIN_EXPR(core_keys, "clojure.core", "keys", 1, 1,
                 PTC_TAKES(PTC_IS_ASSOCIATIVE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST) |
                     PTC_RULE(KEYS),
                 "(keys map)", "The keys of a map in order; nil when it is empty.",
                 "(keys {:a 1 \"b\" 2}) => [:a \"b\"]\n(keys {}) => nil\n(keys 5) !! type_error",
                 give_keys_or_values(vm, argv, 0, out))

PTC_BUILTIN_EXPR(core_vals, "clojure.core", "vals", 1, 1,
                 PTC_TAKES(PTC_IS_ASSOCIATIVE) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST) |
                     PTC_RULE(VALS),
                 "(vals map)",
                 "The values of a map in the order of its keys; nil when it is empty.",
                 "(vals {:a 1 :b nil}) => [1 nil]\n(vals nil) => nil\n(vals \"ab\") !! type_error",
                 give_keys_or_values(vm, argv, 1, out))

PTC_BUILTIN(
    core_entries, "clojure.core", "entries", 1, 1,
    PTC_TAKES(PTC_IS_MAPPED) | PTC_GIVES(PTC_IS_LIST), "(entries map)",
    "The entries of a map as a list of [key value] pairs.",
    "(entries {:a 1 :b 2}) => [[:a 1] [:b 2]]\n(entries nil) => []\n(entries [1]) !! type_error")
{
    PtcIter it;
    PtcValue entry, build;
    if (argv[0] != PTC_NIL && !ptc_arg_map(vm, argv, 0))
        return false;
    if (!ptc_arg_iter(vm, argv, 0, &it) || (build = ptc_build_new(vm->heap)) == PTC_NONE)
        return false;
    while (ptc_iter_next(&it, &entry))
        if (!ptc_build_add(vm->heap, build, entry) || !ptc_tick(&vm->budget, 1))
            return false;
    return ptc_iter_end(&it) && ptc_give(out, ptc_build_done(vm->heap, build, PTC_SEQ));
}

PTC_BUILTIN(core_key, "clojure.core", "key", 1, 1, PTC_TAKES(PTC_IS_LIST) | PTC_RULE(KEYS),
            "(key entry)", "The key of a map entry.",
            "(key (first {:a 1})) => :a\n(key [1 2 3]) !! type_error")
{
    if (!is_pair(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a map entry [key value]");
    return ptc_give(out, ptc_seq_nth(argv[0], 0));
}

PTC_BUILTIN_ROW(entry_key, run_core_key, "java", ".getKey", 1, 1, 0, "(.getKey entry)",
                "The key of a map entry, as key gives it.",
                "(.getKey (first {:a 1})) => :a\n(.getKey 5) !! type_error");

PTC_BUILTIN(core_val, "clojure.core", "val", 1, 1, PTC_TAKES(PTC_IS_LIST) | PTC_RULE(VALS),
            "(val entry)", "The value of a map entry.",
            "(val (first {:a 1})) => 1\n(val nil) !! type_error")
{
    if (!is_pair(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a map entry [key value]");
    return ptc_give(out, ptc_seq_nth(argv[0], 1));
}

/* The map with its keys (part 0) or values (part 1) replaced by the elements of fresh. */
static bool map_with(PtcVM *vm, PtcValue map, int part, PtcValue fresh, PtcValue *out)
{
    MapMaking m;
    PtcIter it;
    PtcValue pair[2];
    bool ok = ptc_iter_init(&it, vm->heap, fresh);
    if (!ok || !making_init(&m, vm, ptc_map_count(map)))
        return false;
    for (size_t pos = 0; ok && ptc_map_next(map, &pos, &pair[0], &pair[1]);)
        ok = ptc_iter_next(&it, &pair[part]) && making_put(&m, pair[0], pair[1]);
    return making_end(&m, ok, out);
}

/* (f x) for every key (part 0) or value (part 1). */
static bool update_parts(PtcVM *vm, const PtcValue *argv, int part, PtcValue *out)
{
    PtcValue map = argv[0], pair[2], x;
    PtcValue *slot = ptc_roots(vm, 1);
    if (map != PTC_NIL && !ptc_is_map(map))
        return ptc_fail_type(vm, argv, 0, "a map or nil, which comes before the function");
    if (!slot || !ptc_root_build(vm, slot))
        return false;
    for (size_t pos = 0; map != PTC_NIL && ptc_map_next(map, &pos, &pair[0], &pair[1]);)
        if (!ptc_call1(vm, argv[1], pair[part], &x) || !ptc_root_push(vm, slot, x) ||
            !ptc_tick(&vm->budget, 1))
            return false;
    if (map == PTC_NIL)
        return PTC_RETRY(vm, ptc_give(out, ptc_map_empty(vm->heap)));
    if (!ptc_root_done(vm, slot, 0, slot))
        return false;
    return PTC_RETRY(vm, map_with(vm, map, part, *slot, out));
}

PTC_BUILTIN_EXPR(core_update_vals, "clojure.core", "update-vals", 2, 2,
                 PTC_B_CALLS | PTC_TAKES(PTC_IS_MAPPED) | PTC_GIVES(PTC_IS_MAP) |
                     PTC_RULE(UPDATE_VALS),
                 "(update-vals map f)", "The map with every value v replaced by (f v).",
                 "(update-vals {:a 1 :b 2} inc) => {:a 2, :b 3}\n(update-vals nil inc) => {}\n"
                 "(update-vals inc {:a 1}) !! type_error",
                 update_parts(vm, argv, 1, out))

PTC_BUILTIN_EXPR(
    core_update_keys, "clojure.core", "update-keys", 2, 2,
    PTC_B_CALLS | PTC_TAKES(PTC_IS_MAPPED) | PTC_GIVES(PTC_IS_MAP), "(update-keys map f)",
    "The map with every key k replaced by (f k); of keys that become the same the last wins.",
    "(update-keys {\"a\" 1} keyword) => {:a 1}\n(update-keys {1 :x 2 :y} even?) => {false :x, true "
    ":y}\n"
    "(update-keys [1] inc) !! type_error",
    update_parts(vm, argv, 0, out))

PTC_BUILTIN_TABLE(ptc_lib_maps, core_get, core_get_in, core_contains, core_find, core_assoc,
                  core_assoc_in, core_update, core_update_in, core_dissoc, core_hash_map,
                  core_array_map, core_select_keys, core_merge, core_merge_with, core_keys,
                  core_vals, core_entries, core_key, core_val, entry_key, core_update_vals,
                  core_update_keys);
