/* SPDX-License-Identifier: MIT
 * Functions that fit nowhere else: memoize and trampoline, names and their parts, metadata that is not there, and
 * transients that are plain values. */
#include "base/utf8.h"
#include "lisp/lib/seq_int.h"
#include "lisp/record.h"

/* ------------------------------------------------------------------------ functions */

/* What a memoized function (a record) is known by: the function itself where that is told apart quickly. */
static PtcValue memo_key(PtcValue record)
{
    PtcValue f = ptc_record_field(record, 1);
    return ptc_is(f, PTC_T_CLOSURE) || ptc_is_builtin(f) ? f : record;
}

/* What it gave for these arguments; PTC_NONE when that is not known. */
static PtcValue recall(PtcVM *vm, PtcValue record, PtcValue args)
{
    PtcValue own =
        vm->memo == PTC_NIL ? PTC_NONE : ptc_map_get(vm->heap, vm->memo, memo_key(record));
    return own == PTC_NONE ? own : ptc_map_get(vm->heap, own, args);
}

static bool remember(PtcVM *vm, PtcValue record, PtcValue args, PtcValue result)
{
    PtcValue all = vm->memo == PTC_NIL ? ptc_map_empty(vm->heap) : vm->memo;
    if (all == PTC_NONE)
        return false;
    PtcValue own = ptc_map_get(vm->heap, all, memo_key(record));
    own = own == PTC_NONE ? ptc_map_empty(vm->heap) : own;
    own = own == PTC_NONE ? own : ptc_map_assoc(vm->heap, own, args, result);
    all = own == PTC_NONE ? own : ptc_map_assoc(vm->heap, all, memo_key(record), own);
    if (all == PTC_NONE)
        return false;
    vm->memo = all;
    return true;
}

PTC_BUILTIN(
    core_memoize, "clojure.core", "memoize", 1, 1, 0, "(memoize f)",
    "A function that calls f once for the same arguments and gives what it gave again, as long as "
    "the run "
    "lasts.",
    "((memoize inc) 1) => 2\n(let [f (memoize (fn [a b] (* a b)))] [(f 6 7) (f 6 7)]) => [42 42]\n"
    "(memoize 5) !! type_error")
{
    PTC_UNUSED(argc);
    return ptc_arg_callable(vm, argv, 0) && ptc_give(out, ptc_fn_record(vm, "memoized", argv, 1));
}

PTC_BUILTIN(more_memoized, "clojure.core", "memoized", 1, -1, PTC_B_CALLS | PTC_B_HIDDEN,
            "((memoize f) & args)", "What memoize gives.", "")
{
    PtcValue *slots = ptc_roots(vm, 2); /* arguments, result */
    if (!slots)
        return false;
    PtcValue args = ptc_vec_new(vm->heap, argv + 1, (size_t)argc - 1, 0);
    if (args == PTC_NONE && ptc_recover(vm))
        args = ptc_vec_new(vm->heap, argv + 1, (size_t)argc - 1, 0);
    if (args == PTC_NONE)
        return false;
    slots[0] = args;
    PtcValue known = recall(vm, argv[0], args);
    if (vm->budget.stop != PTC_STOP_NONE)
        return false;
    if (known != PTC_NONE)
        return ptc_give(out, known);
    if (!ptc_call(vm, ptc_record_field(argv[0], 1), argc - 1, argv + 1, &slots[1]))
        return false;
    *out = slots[1];
    return remember(vm, argv[0], slots[0], slots[1]) ||
           (ptc_recover(vm) && remember(vm, argv[0], slots[0], slots[1]));
}

static bool is_function(PtcValue v)
{
    return ptc_is_builtin(v) || ptc_is(v, PTC_T_CLOSURE) || ptc_is_record(v, PTC_R_FN);
}

PTC_BUILTIN(core_trampoline, "clojure.core", "trampoline", 1, -1, PTC_B_CALLS,
            "(trampoline f & args)",
            "Calls f with the arguments, then, as long as the result is a function, calls that "
            "without any.",
            "(trampoline (fn f [n] (if (pos? n) (fn [] (f (dec n))) :done)) 1000) => "
            ":done\n(trampoline + 1 2) => 3\n"
            "(trampoline 5) !! not_callable")
{
    PtcValue *v = ptc_roots(vm, 1);
    if (!v || !ptc_call(vm, argv[0], argc - 1, argv + 1, v))
        return false;
    while (is_function(*v))
        if (!ptc_tick(&vm->budget, 1) || !ptc_call(vm, *v, 0, NULL, v))
            return false;
    return ptc_give(out, *v);
}

/* ---------------------------------------------------------------------------- names */

/* Bytes before the slash of a keyword or symbol, 0 when there is none. */
static size_t prefix_len(PtcValue v)
{
    const char *bytes = ptc_str_bytes(v);
    size_t len = ptc_str_len(v);
    const char *slash = len > 1 ? memchr(bytes + 1, '/', len - 1) : NULL;
    return slash && slash + 1 < bytes + len ? (size_t)(slash - bytes) : 0;
}

static bool is_ident(PtcValue v)
{
    return ptc_is_keyword(v) || ptc_is(v, PTC_T_SYMBOL);
}

static bool is_qualified(PtcValue v)
{
    return is_ident(v) && prefix_len(v) > 0;
}

/* A predicate of one argument x. */
#define PREDICATE(id, name, doc, examples, test)                                  \
    PTC_BUILTIN(id, "clojure.core", name, 1, 1, 0, "(" name " x)", doc, examples) \
    {                                                                             \
        PTC_UNUSED(vm);                                                           \
        PTC_UNUSED(argc);                                                         \
        PtcValue x = argv[0];                                                     \
        *out = ptc_bool(test);                                                    \
        return true;                                                              \
    }

PREDICATE(core_is_any, "any?", "Always true.",
          "(any? nil) => true\n(any? 1) => true\n(any?) !! arity_error", ((void)x, true))
PREDICATE(core_is_ident, "ident?", "Is it a keyword or symbol.",
          "(ident? :a) => true\n(ident? 'a) => true\n(ident? \"a\") => false\n(ident? :a :b) !! "
          "arity_error",
          is_ident(x))
PREDICATE(
    core_is_simple_ident, "simple-ident?", "Is it a keyword or symbol without a namespace.",
    "(simple-ident? :a) => true\n(simple-ident? :a/b) => false\n(simple-ident?) !! arity_error",
    is_ident(x) && !is_qualified(x))
PREDICATE(core_is_qualified_ident, "qualified-ident?",
          "Is it a keyword or symbol with a namespace.",
          "(qualified-ident? :a/b) => true\n(qualified-ident? 'a) => false\n(qualified-ident?) !! "
          "arity_error",
          is_qualified(x))
PREDICATE(core_is_simple_keyword, "simple-keyword?", "Is it a keyword without a namespace.",
          "(simple-keyword? :a) => true\n(simple-keyword? :a/b) => false\n(simple-keyword?) !! "
          "arity_error",
          ptc_is_keyword(x) && !is_qualified(x))
PREDICATE(core_is_qualified_keyword, "qualified-keyword?", "Is it a keyword with a namespace.",
          "(qualified-keyword? :a/b) => true\n(qualified-keyword? :a) => "
          "false\n(qualified-keyword?) !! arity_error",
          ptc_is_keyword(x) && is_qualified(x))
PREDICATE(
    core_is_simple_symbol, "simple-symbol?", "Is it a symbol without a namespace.",
    "(simple-symbol? 'a) => true\n(simple-symbol? :a) => false\n(simple-symbol?) !! arity_error",
    ptc_is(x, PTC_T_SYMBOL) && !is_qualified(x))
PREDICATE(core_is_qualified_symbol, "qualified-symbol?", "Is it a symbol with a namespace.",
          "(qualified-symbol? 'a/b) => true\n(qualified-symbol? 'a) => false\n(qualified-symbol?) "
          "!! arity_error",
          ptc_is(x, PTC_T_SYMBOL) && is_qualified(x))

PTC_BUILTIN(
    core_namespace, "clojure.core", "namespace", 1, 1, 0, "(namespace x)",
    "What stands before the slash of a keyword or symbol, as a string; nil when there is no slash.",
    "(namespace :order/id) => \"order\"\n(namespace :id) => nil\n(namespace \"a/b\") !! type_error")
{
    PTC_UNUSED(argc);
    if (!is_ident(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a keyword or symbol");
    size_t n = prefix_len(argv[0]);
    return ptc_give(out, n ? ptc_str_new(vm->heap, ptc_str_bytes(argv[0]), n) : PTC_NIL);
}

/* A symbol of two names with a slash between. */
static PtcValue qualified_symbol(PtcVM *vm, PtcValue a, PtcValue b)
{
    size_t na = ptc_str_len(a), nb = ptc_str_len(b);
    PtcValue v = ptc_str_begin(vm->heap, PTC_T_SYMBOL, na + 1 + nb);
    if (v == PTC_NONE)
        return v;
    memcpy(ptc_str_room(v), ptc_str_bytes(a), na);
    ptc_str_room(v)[na] = '/';
    memcpy(ptc_str_room(v) + na + 1, ptc_str_bytes(b), nb);
    ptc_str_seal(v);
    return v;
}

PTC_BUILTIN(
    core_symbol, "clojure.core", "symbol", 1, 2, 0, "(symbol ns? name)",
    "The symbol of this name; it is data, and stands for nothing.",
    "(symbol \"x\") => x\n(symbol :a) => a\n(symbol \"a\" \"b\") => a/b\n(symbol 5) !! type_error")
{
    if (argc == 2 && argv[0] != PTC_NIL) {
        if (!ptc_is_string(argv[0]) || !ptc_is_string(argv[1]))
            return ptc_fail_type(vm, argv, ptc_is_string(argv[0]) ? 1 : 0, "a string");
        return ptc_give(out, qualified_symbol(vm, argv[0], argv[1]));
    }
    PtcValue name = argv[argc - 1];
    if (!ptc_is_named(name))
        return ptc_fail_type(vm, argv, argc - 1, "a string, keyword or symbol");
    return ptc_give(out, ptc_symbol_new(vm->heap, ptc_str_bytes(name), ptc_str_len(name)));
}

PTC_BUILTIN(
    core_char, "clojure.core", "char", 1, 1, 0, "(char code)",
    "The character of a code point, as a string; a character is itself.",
    "(char 97) => \"a\"\n(apply str (map char [72 105])) => \"Hi\"\n(char -1) !! value_error\n"
    "(char \"ab\") !! type_error")
{
    PTC_UNUSED(argc);
    int64_t code;
    char bytes[4];
    PtcValue v = argv[0];
    if (ptc_is_string(v) && ptc_str_len(v) > 0 &&
        ptc_utf8_grapheme(ptc_str_bytes(v), ptc_str_len(v)) == ptc_str_len(v))
        return ptc_give(out, v);
    if (!ptc_is_integer(v))
        return ptc_fail_type(vm, argv, 0, "a code point or a character");
    if (!ptc_arg_int(vm, argv, 0, &code))
        return false;
    if (code < 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return ptc_fail(vm, PTC_E_VALUE, "char: %lld is no code point of a character",
                        (long long)code);
    return ptc_give(out, ptc_str_new(vm->heap, bytes, ptc_utf8_encode((uint32_t)code, bytes)));
}

/* ------------------------------------------------------------------ sameness, metadata */

PTC_BUILTIN(
    core_identical, "clojure.core", "identical?", 2, 2, 0, "(identical? a b)",
    "Are both the same value, for collections even the same object?  Use = to compare contents.",
    "(identical? :a :a) => true\n(identical? 1 1.0) => false\n(let [v [1]] (identical? v v)) => "
    "true\n"
    "(identical? 1) !! arity_error")
{
    PTC_UNUSED(argc);
    PtcValue a = argv[0], b = argv[1];
    bool plain = ptc_is_named(a) || ptc_is_number(a);
    *out = ptc_bool(a == b || (plain && ptc_same(vm->heap, a, b)));
    return true;
}

static bool arg_can_have_meta(PtcVM *vm, const PtcValue *argv)
{
    PtcValue v = argv[0];
    return ptc_is_sequential(v) || ptc_is_map(v) || ptc_is_set(v) || is_function(v) ||
           ptc_is(v, PTC_T_SYMBOL) ||
           ptc_fail_type(vm, argv, 0, "a collection, symbol or function");
}

PTC_BUILTIN(core_with_meta, "clojure.core", "with-meta", 2, 2, 0, "(with-meta x meta)",
            "x itself: values carry no metadata here.",
            "(with-meta [1 2] {:source \"a\"}) => [1 2]\n(meta (with-meta [1] {:a 1})) => nil\n"
            "(with-meta 5 {}) !! type_error")
{
    PTC_UNUSED(argc);
    if (!arg_can_have_meta(vm, argv))
        return false;
    if (argv[1] != PTC_NIL && !ptc_is_map(argv[1]))
        return ptc_fail_type(vm, argv, 1, "a map or nil");
    return ptc_give(out, argv[0]);
}

PTC_BUILTIN(core_vary_meta, "clojure.core", "vary-meta", 2, -1, 0, "(vary-meta x f & args)",
            "x itself: values carry no metadata here, and f is not called.",
            "(vary-meta [1 2] assoc :a 1) => [1 2]\n(vary-meta \"s\" assoc :a 1) !! type_error")
{
    PTC_UNUSED(argc);
    return arg_can_have_meta(vm, argv) && ptc_arg_callable(vm, argv, 1) && ptc_give(out, argv[0]);
}

/* ----------------------------------------------------------------------- transients */

/* Runs another builtin in the place of this one. */
static bool instead(PtcVM *vm, const char *name, int argc, const PtcValue *argv, PtcValue *out)
{
    return ptc_builtin_row((uint32_t)ptc_builtin_find(name, strlen(name)))->fn(vm, argc, argv, out);
}

static bool arg_transient(PtcVM *vm, const PtcValue *argv)
{
    PtcValue v = argv[0];
    return ptc_is_map(v) || ptc_is_set(v) || (ptc_is_sequential(v) && !ptc_is_seq_flagged(v)) ||
           ptc_fail_type(vm, argv, 0, "a vector, map or set");
}

PTC_BUILTIN(core_transient, "clojure.core", "transient", 1, 1, 0, "(transient coll)",
            "The collection itself: adding to plain collections is quick enough here.",
            "(persistent! (conj! (transient [1]) 2)) => [1 2]\n(transient (list 1)) !! type_error")
{
    PTC_UNUSED(argc);
    return arg_transient(vm, argv) && ptc_give(out, argv[0]);
}

PTC_BUILTIN(core_persistent, "clojure.core", "persistent!", 1, 1, 0, "(persistent! coll)",
            "The collection itself.",
            "(persistent! (assoc! (transient {}) :a 1)) => {:a 1}\n(persistent! 5) !! type_error")
{
    PTC_UNUSED(argc);
    return arg_transient(vm, argv) && ptc_give(out, argv[0]);
}

PTC_BUILTIN(core_conj_bang, "clojure.core", "conj!", 0, 2, 0, "(conj! coll x)",
            "The same as conj: the result has x added, coll stays as it is.",
            "(conj! (transient [1]) 2) => [1 2]\n(conj! (transient #{}) 2) => #{2}\n(conj! 5 1) !! "
            "type_error")
{
    if (argc == 0)
        return ptc_give(out, ptc_vec_new(vm->heap, NULL, 0, 0));
    return arg_transient(vm, argv) && instead(vm, "conj", argc, argv, out);
}

PTC_BUILTIN(core_assoc_bang, "clojure.core", "assoc!", 3, -1, 0, "(assoc! coll key value ...)",
            "The same as assoc: the result has the keys set, coll stays as it is.",
            "(assoc! (transient {}) :a 1) => {:a 1}\n(assoc! (transient [1]) 0 5) => [5]\n(assoc! "
            "5 1 1) !! type_error")
{
    return arg_transient(vm, argv) && instead(vm, "assoc", argc, argv, out);
}

PTC_BUILTIN(core_dissoc_bang, "clojure.core", "dissoc!", 2, -1, 0, "(dissoc! map & keys)",
            "The same as dissoc: the result lacks the keys, the map stays as it is.",
            "(dissoc! (transient {:a 1 :b 2}) :a) => {:b 2}\n(dissoc! [1] 0) !! type_error")
{
    return ptc_arg_map(vm, argv, 0) && instead(vm, "dissoc", argc, argv, out);
}

PTC_BUILTIN(core_disj_bang, "clojure.core", "disj!", 1, -1, 0, "(disj! set & elements)",
            "The same as disj: the result lacks the elements, the set stays as it is.",
            "(disj! (transient #{1 2}) 1) => #{2}\n(disj! [1] 1) !! type_error")
{
    return instead(vm, "disj", argc, argv, out);
}

PTC_BUILTIN(core_pop_bang, "clojure.core", "pop!", 1, 1, 0, "(pop! vector)",
            "The same as pop: the result lacks the last element, the vector stays as it is.",
            "(pop! (transient [1 2])) => [1]\n(pop! {}) !! type_error")
{
    return instead(vm, "pop", argc, argv, out);
}

/* ---------------------------------------------------------------------------- others */

PTC_BUILTIN(core_bounded_count, "clojure.core", "bounded-count", 2, 2, 0, "(bounded-count n coll)",
            "How many elements a collection has; of a sequence at most the first n are counted.",
            "(bounded-count 2 (list 1 2 3)) => 2\n(bounded-count 3 (range)) => 3\n(bounded-count 2 "
            "[1 2 3]) => 3\n"
            "(bounded-count 2 5) !! type_error")
{
    PTC_UNUSED(argc);
    PtcIter it;
    PtcValue coll = argv[1], x;
    size_t n, count = 0;
    if (!ptc_arg_n(vm, argv, 0, &n) || !ptc_arg_iter(vm, argv, 1, &it))
        return false;
    if (ptc_is_string(coll)) {
        while (count < n && ptc_next(vm, &it, &x))
            count++;
        return ptc_give(out, ptc_int((int64_t)count)) && !it.failed;
    }
    count = coll == PTC_NIL ? 0 : ptc_obj(coll)->count;
    bool bounded = ptc_is_sequential(coll) && ptc_is_seq_flagged(coll);
    return ptc_give(out, ptc_int((int64_t)(bounded && n < count ? n : count)));
}

/* xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx */
static bool is_uuid(const char *s, size_t len)
{
    bool ok = len == 36;
    for (size_t i = 0; ok && i < len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        char c = (char)(s[i] | 32);
        ok = dash ? s[i] == '-' : (s[i] >= '0' && s[i] <= '9') || (c >= 'a' && c <= 'f');
    }
    return ok;
}

PTC_BUILTIN(core_parse_uuid, "clojure.core", "parse-uuid", 1, 1, 0, "(parse-uuid s)",
            "The UUID in a string, as a string in lower case; nil when it is none.",
            "(parse-uuid \"B6883C0A-0342-4007-9966-BC2DFA6B109E\") => "
            "\"b6883c0a-0342-4007-9966-bc2dfa6b109e\"\n"
            "(parse-uuid \"x\") => nil\n(parse-uuid 5) !! type_error")
{
    PTC_UNUSED(argc);
    const char *s;
    size_t len;
    char lower[36];
    if (!ptc_arg_string(vm, argv, 0, &s, &len))
        return false;
    if (!is_uuid(s, len))
        return ptc_give(out, PTC_NIL);
    for (size_t i = 0; i < sizeof lower; i++)
        lower[i] = s[i] >= 'A' && s[i] <= 'F' ? (char)(s[i] | 32) : s[i];
    return ptc_give(out, ptc_str_new(vm->heap, lower, sizeof lower));
}

/* s with every character that `by` knows replaced by what it says. */
static bool escape_all(PtcVM *vm, PtcIter *it, PtcValue by, PtcValue *slot, PtcBuf *buf)
{
    PtcValue x;
    while (ptc_each(vm, it, &x)) {
        slot[0] = x;
        /* not by ptc_call: a map is asked for just this character, in no other spelling */
        if (ptc_is_map(by))
            slot[1] = ptc_map_get(vm->heap, by, x);
        else if (!ptc_call1(vm, by, x, &slot[1]))
            return false;
        bool keep = slot[1] == PTC_NONE || slot[1] == PTC_NIL;
        slot[1] = keep ? slot[0] : slot[1];
        if (!ptc_vm_write(vm, buf, slot[1], false))
            return false;
    }
    return ptc_iter_end(it);
}

PTC_BUILTIN(string_escape, "clojure.string", "escape", 2, 2, PTC_B_CALLS, "(escape s replacements)",
            "The string with each character replaced by what the map or function gives for it, "
            "unless that is nil.",
            "(clojure.string/escape \"a<b\" {\\< \"&lt;\"}) => \"a&lt;b\"\n"
            "(clojure.string/escape \"abc\" (fn [c] (when (= c \"b\") \"-\"))) => \"a-c\"\n"
            "(clojure.string/escape 5 {}) !! type_error")
{
    PTC_UNUSED(argc);
    PtcIter it;
    PtcBuf buf;
    PtcValue *slots = ptc_roots(vm, 2);
    if (!slots)
        return false;
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string");
    if (!ptc_arg_callable(vm, argv, 1) || !ptc_arg_iter(vm, argv, 0, &it))
        return false;
    ptc_heap_buf_init(vm->heap, &buf);
    bool ok = escape_all(vm, &it, argv[1], slots, &buf);
    if (!ptc_buf_ok(&buf))
        ok = ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    if (ok && !ptc_give(out, ptc_str_take(vm->heap, &buf)))
        ok = ptc_recover(vm) && ptc_give(out, ptc_str_take(vm->heap, &buf));
    ptc_buf_deinit(&buf);
    return ok;
}

const PtcBuiltin *const ptc_lib_more[] = {&core_memoize_def,
                                          &more_memoized_def,
                                          &core_trampoline_def,
                                          &core_is_any_def,
                                          &core_is_ident_def,
                                          &core_is_simple_ident_def,
                                          &core_is_qualified_ident_def,
                                          &core_is_simple_keyword_def,
                                          &core_is_qualified_keyword_def,
                                          &core_is_simple_symbol_def,
                                          &core_is_qualified_symbol_def,
                                          &core_namespace_def,
                                          &core_symbol_def,
                                          &core_char_def,
                                          &core_identical_def,
                                          &core_with_meta_def,
                                          &core_vary_meta_def,
                                          &core_transient_def,
                                          &core_persistent_def,
                                          &core_conj_bang_def,
                                          &core_assoc_bang_def,
                                          &core_dissoc_bang_def,
                                          &core_disj_bang_def,
                                          &core_pop_bang_def,
                                          &core_bounded_count_def,
                                          &core_parse_uuid_def,
                                          &string_escape_def,
                                          NULL};
