/* SPDX-License-Identifier: MIT
 * Keywords and symbols: making them, and taking their namespace and name apart.  Both are plain text; what stands
 * before the slash is the namespace. */
#include "lisp/vm/predicate.h"

/* Bytes before the slash of a keyword or symbol, -1 when there is none. */
static int64_t namespace_len(PtcVM *vm, PtcValue v)
{
    const char *bytes = ptc_str_bytes(v);
    size_t len = ptc_str_len(v);
    const char *slash = len > 1 ? ptc_bytes_find_char(&vm->budget, bytes, len, '/') : NULL;
    return slash && slash + 1 < bytes + len ? (int64_t)(slash - bytes) : -1;
}

static bool is_ident(PtcValue v)
{
    return ptc_is_keyword(v) || ptc_is(v, PTC_T_SYMBOL);
}

static bool is_qualified(PtcVM *vm, PtcValue v)
{
    return is_ident(v) && namespace_len(vm, v) >= 0;
}

PTC_PREDICATE(
    core_is_ident, "ident?", "Is it a keyword or symbol.",
    "(ident? :a) => true\n(ident? 'a) => true\n(ident? \"a\") => false\n(ident? :a :b) !! "
    "arity_error",
    is_ident(x))
PTC_PREDICATE(
    core_is_simple_ident, "simple-ident?", "Is it a keyword or symbol without a namespace.",
    "(simple-ident? :a) => true\n(simple-ident? :a/b) => false\n(simple-ident?) !! arity_error",
    is_ident(x) && !is_qualified(vm, x))
PTC_PREDICATE(
    core_is_qualified_ident, "qualified-ident?", "Is it a keyword or symbol with a namespace.",
    "(qualified-ident? :a/b) => true\n(qualified-ident? 'a) => false\n(qualified-ident?) !! "
    "arity_error",
    is_qualified(vm, x))
PTC_PREDICATE(core_is_simple_keyword, "simple-keyword?", "Is it a keyword without a namespace.",
              "(simple-keyword? :a) => true\n(simple-keyword? :a/b) => false\n(simple-keyword?) !! "
              "arity_error",
              ptc_is_keyword(x) && !is_qualified(vm, x))
PTC_PREDICATE(core_is_qualified_keyword, "qualified-keyword?", "Is it a keyword with a namespace.",
              "(qualified-keyword? :a/b) => true\n(qualified-keyword? :a) => "
              "false\n(qualified-keyword?) !! arity_error",
              ptc_is_keyword(x) && is_qualified(vm, x))
PTC_PREDICATE(
    core_is_simple_symbol, "simple-symbol?", "Is it a symbol without a namespace.",
    "(simple-symbol? 'a) => true\n(simple-symbol? :a) => false\n(simple-symbol?) !! arity_error",
    ptc_is(x, PTC_T_SYMBOL) && !is_qualified(vm, x))
PTC_PREDICATE(
    core_is_qualified_symbol, "qualified-symbol?", "Is it a symbol with a namespace.",
    "(qualified-symbol? 'a/b) => true\n(qualified-symbol? 'a) => false\n(qualified-symbol?) "
    "!! arity_error",
    ptc_is(x, PTC_T_SYMBOL) && is_qualified(vm, x))

/* Two names with a slash between, as a keyword or symbol. */
static PtcValue new_qualified_name(PtcVM *vm, PtcTag type, PtcValue space, PtcValue name)
{
    size_t n = ptc_str_len(space);
    PtcValue v = ptc_str_begin(vm->heap, type, n + 1 + ptc_str_len(name));
    if (v == PTC_NONE)
        return v;
    char *room = ptc_str_room(v);
    memcpy(room, ptc_str_bytes(space), n);
    room[n] = '/';
    memcpy(room + n + 1, ptc_str_bytes(name), ptc_str_len(name));
    ptc_str_seal(v);
    return v;
}

static bool arg_two_strings(PtcVM *vm, const PtcValue *argv)
{
    for (int i = 0; i < 2; i++)
        if (!ptc_is_string(argv[i]))
            return ptc_fail_type(vm, argv, i, "a string");
    return true;
}

PTC_BUILTIN(core_keyword, "clojure.core", "keyword", 1, 2,
            PTC_TAKES2(PTC_IS_NIL | PTC_IS_STRING | PTC_IS_KEYWORD | PTC_IS_OTHER, PTC_IS_STRING) |
                PTC_GIVES(PTC_IS_NIL | PTC_IS_KEYWORD),
            "(keyword name), (keyword ns name)",
            "The keyword of that name, from a string, symbol or keyword; nil for nil.",
            "(keyword \"a\") => :a\n(keyword :b) => :b\n(keyword \"ns\" \"part\") => :ns/part\n"
            "(keyword nil) => nil\n(keyword nil \"a\") => :a\n(keyword 5) !! type_error")
{
    if (argc == 2 && argv[0] != PTC_NIL)
        return arg_two_strings(vm, argv) &&
               ptc_give(out, new_qualified_name(vm, PTC_T_KEYWORD, argv[0], argv[1]));
    PtcValue name = argv[argc - 1];
    if (argc == 2 && !ptc_is_string(name))
        return ptc_fail_type(vm, argv, 1, "a string");
    if (name == PTC_NIL || ptc_is_keyword(name))
        return ptc_give(out, name);
    if (!ptc_is_named(name))
        return ptc_fail_type(vm, argv, argc - 1, "a string or keyword");
    return ptc_give(out, ptc_keyword_new(vm->heap, ptc_str_bytes(name), ptc_str_len(name)));
}

PTC_BUILTIN(core_name, "clojure.core", "name", 1, 1,
            PTC_TAKES(PTC_IS_STRING | PTC_IS_KEYWORD | PTC_IS_OTHER) | PTC_GIVES(PTC_IS_STRING),
            "(name x)",
            "The name of a keyword or symbol as a string, without its namespace; strings stay.",
            "(name :abc) => \"abc\"\n(name :a/b) => \"b\"\n(name \"abc\") => \"abc\"\n"
            "(name nil) !! type_error")
{
    if (ptc_is_string(argv[0]))
        return ptc_give(out, argv[0]);
    if (!ptc_is_named(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a keyword or string");
    const char *bytes = ptc_str_bytes(argv[0]);
    size_t len = ptc_str_len(argv[0]);
    const char *slash = len > 1 ? memchr(bytes, '/', len) : NULL;
    size_t skip = slash ? (size_t)(slash + 1 - bytes) : 0;
    return ptc_give(out, ptc_str_new(vm->heap, bytes + skip, len - skip));
}

PTC_BUILTIN(
    core_namespace, "clojure.core", "namespace", 1, 1,
    PTC_TAKES(PTC_IS_KEYWORD | PTC_IS_OTHER) | PTC_GIVES(PTC_IS_NIL | PTC_IS_STRING),
    "(namespace x)",
    "What is before the slash of a keyword or symbol, as a string; nil when there is no slash.",
    "(namespace :order/id) => \"order\"\n(namespace :id) => nil\n(namespace \"a/b\") !! type_error")
{
    if (!is_ident(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a keyword or symbol");
    int64_t n = namespace_len(vm, argv[0]);
    return ptc_give(out,
                    n >= 0 ? ptc_str_new(vm->heap, ptc_str_bytes(argv[0]), (size_t)n) : PTC_NIL);
}

PTC_BUILTIN(
    core_symbol, "clojure.core", "symbol", 1, 2, PTC_GIVES(PTC_IS_OTHER), "(symbol ns? name)",
    "The symbol of this name; it is data, and stands for nothing.",
    "(symbol \"x\") => x\n(symbol :a) => a\n(symbol \"a\" \"b\") => a/b\n(symbol 5) !! type_error")
{
    if (argc == 2 && argv[0] != PTC_NIL) {
        return arg_two_strings(vm, argv) &&
               ptc_give(out, new_qualified_name(vm, PTC_T_SYMBOL, argv[0], argv[1]));
    }
    PtcValue name = argv[argc - 1];
    if (!ptc_is_named(name))
        return ptc_fail_type(vm, argv, argc - 1, "a string, keyword or symbol");
    return ptc_give(out, ptc_symbol_new(vm->heap, ptc_str_bytes(name), ptc_str_len(name)));
}

PTC_BUILTIN_TABLE(ptc_lib_ident, core_keyword, core_name, core_namespace, core_symbol,
                  core_is_ident, core_is_simple_ident, core_is_qualified_ident,
                  core_is_simple_keyword, core_is_qualified_keyword, core_is_simple_symbol,
                  core_is_qualified_symbol);
