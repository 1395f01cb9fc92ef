/* SPDX-License-Identifier: MIT
 * Methods of Java's strings and collections.  They are strict where our own functions are not: a place
 * out of range is an index_error, a receiver of another type a type_error.  Positions count graphemes. */
#include "lisp/lib/java/interop.h"
#include "base/utf8.h"
#include "lisp/lib/text/regex_find.h"
#include "lisp/lib/time/time_give.h"

bool ptc_as(PtcVM *vm, const char *name, int argc, const PtcValue *argv, PtcValue *out)
{
    int row = ptc_builtin_find(name, strlen(name));
    if (row < 0)
        return ptc_fail(vm, PTC_E_VALUE, "%s is missing", name);
    return ptc_builtin_row((uint32_t)row)->fn(vm, argc, argv, out);
}

static bool check_string_args(PtcVM *vm, int argc, const PtcValue *argv)
{
    for (int i = 0; i < argc; i++)
        if (!ptc_is_string(argv[i]))
            return ptc_fail_type(vm, argv, i, "a string");
    return true;
}

static bool as_strs(PtcVM *vm, const char *name, int argc, const PtcValue *argv, PtcValue *out)
{
    return check_string_args(vm, argc, argv) && ptc_as(vm, name, argc, argv, out);
}

/* --------------------------------------------------------------------- whole strings */

PTC_BUILTIN_EXPR(str_to_lower, "java", ".toLowerCase", 1, 1,
                 PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(.toLowerCase s)",
                 "The string in lower case.",
                 "(.toLowerCase \"ABC\") => \"abc\"\n(.toLowerCase nil) !! type_error",
                 as_strs(vm, "clojure.string/lower-case", argc, argv, out))

PTC_BUILTIN_EXPR(str_to_upper, "java", ".toUpperCase", 1, 1,
                 PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(.toUpperCase s)",
                 "The string in upper case.",
                 "(.toUpperCase \"straße\") => \"STRASSE\"\n(.toUpperCase :a) !! type_error",
                 as_strs(vm, "clojure.string/upper-case", argc, argv, out))

PTC_BUILTIN_EXPR(
    str_starts_with, "java", ".startsWith", 2, 2,
    PTC_TAKES2(PTC_IS_STRING, PTC_IS_STRING) | PTC_GIVES(PTC_IS_BOOL), "(.startsWith s start)",
    "Does the string begin with this text?",
    "(.startsWith \"willow\" \"wi\") => true\n(.startsWith \"willow\" 5) !! type_error",
    as_strs(vm, "clojure.string/starts-with?", argc, argv, out))

PTC_BUILTIN_EXPR(str_ends_with, "java", ".endsWith", 2, 2,
                 PTC_TAKES2(PTC_IS_STRING, PTC_IS_STRING) | PTC_GIVES(PTC_IS_BOOL),
                 "(.endsWith s end)", "Does the string end with this text?",
                 "(.endsWith \"a.csv\" \".csv\") => true\n(.endsWith nil \"a\") !! type_error",
                 as_strs(vm, "clojure.string/ends-with?", argc, argv, out))

PTC_BUILTIN(str_length, "java", ".length", 1, 1, PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_INT),
            "(.length s)", "The number of characters (graphemes) of a string.",
            "(.length \"héllo\") => 5\n(.length [1 2]) !! type_error\n(.length nil) !! type_error")
{
    if (!check_string_args(vm, argc, argv))
        return false;
    return ptc_give(out, ptc_int((int64_t)ptc_str_graphemes(&vm->budget, argv[0])));
}

PTC_BUILTIN_EXPR(str_concat, "java", ".concat", 2, 2, 0, "(.concat s more)", "Two strings as one.",
                 "(.concat \"ab\" \"c\") => \"abc\"\n(.concat \"ab\" 1) !! type_error",
                 as_strs(vm, "clojure.core/str", argc, argv, out))

PTC_BUILTIN_EXPR(
    str_replace, "java", ".replace", 3, 3, 0, "(.replace s part by)",
    "The string with every occurrence of a part replaced; both are plain text.",
    "(.replace \"a.b.c\" \".\" \"-\") => \"a-b-c\"\n(.replace \"a\" nil \"b\") !! type_error",
    as_strs(vm, "clojure.string/replace", argc, argv, out))

/* The function collects when it runs out of memory, so its arguments are rooted. */
static bool replace_regex(PtcVM *vm, const char *function, const PtcValue *argv, PtcValue *out)
{
    PtcValue *args = ptc_roots(vm, 3);
    if (!args || !check_string_args(vm, 3, argv))
        return false;
    memcpy(args, argv, 3 * sizeof *args);
    PtcValue regex = PTC_RETRY(vm, ptc_regex_make(vm, argv[1]));
    args[1] = regex == PTC_NONE ? PTC_NIL : regex;
    return regex != PTC_NONE && ptc_as(vm, function, 3, args, out);
}

PTC_BUILTIN_EXPR(
    str_replace_all, "java", ".replaceAll", 3, 3, PTC_B_CALLS, "(.replaceAll s regex by)",
    "The string with every match of a regex, which is given as a string, replaced.",
    "(.replaceAll \"a1b2\" \"[0-9]\" \"\") => \"ab\"\n(.replaceAll \"a\" nil \"b\") !! type_error",
    replace_regex(vm, "clojure.string/replace", argv, out))
PTC_BUILTIN_EXPR(
    str_replace_one, "java", ".replaceFirst", 3, 3, PTC_B_CALLS, "(.replaceFirst s regex by)",
    "The string with the first match of a regex, which is given as a string, replaced.",
    "(.replaceFirst \"a1b2\" \"[0-9]\" \"\") => \"ab2\"\n(.replaceFirst 1 \"a\" \"b\") !! "
    "type_error",
    replace_regex(vm, "clojure.string/replace-first", argv, out))

PTC_BUILTIN(str_repeat, "java", ".repeat", 2, 2,
            PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(.repeat s n)",
            "The string n times.",
            "(.repeat \"ab\" 3) => \"ababab\"\n(.repeat \"ab\" -1) !! value_error")
{
    int64_t n;
    if (!check_string_args(vm, 1, argv) || !ptc_arg_int(vm, argv, 1, &n))
        return false;
    if (n < 0)
        return ptc_fail(vm, PTC_E_VALUE, ".repeat: %lld is below zero", (long long)n);
    PtcValue args[2] = {argv[1], argv[0]}, all;
    return ptc_as(vm, "clojure.core/repeat", argc, args, &all) &&
           ptc_as(vm, "clojure.string/join", 1, &all, out);
}

PTC_BUILTIN_EXPR(str_to_chars, "java", ".toCharArray", 1, 1, 0, "(.toCharArray s)",
                 "A vector of the characters of a string.",
                 "(.toCharArray \"ab\") => [\"a\" \"b\"]\n(.toCharArray 5) !! type_error",
                 as_strs(vm, "clojure.core/vec", argc, argv, out))

PTC_BUILTIN(str_bytes, "java", ".getBytes", 1, 2, 0, "(.getBytes s charset?)",
            "A vector of the bytes of a string in UTF-8, from -128 to 127.",
            "(.getBytes \"aé\") => [97 -61 -87]\n(.getBytes \"a\" \"UTF-8\") => [97]\n"
            "(.getBytes \"a\" \"UTF-16\") !! value_error")
{
    if (!check_string_args(vm, argc, argv))
        return false;
    if (argc == 2 && !ptc_text_is(ptc_str_text(argv[1]), "UTF-8"))
        return ptc_fail(vm, PTC_E_VALUE, ".getBytes: the only charset is UTF-8");
    PtcValue b = ptc_build_new(vm->heap);
    for (size_t i = 0, n = ptc_str_len(argv[0]); b != PTC_NONE && i < n; i++)
        if (!ptc_tick(&vm->budget, 1) ||
            !ptc_build_add(vm->heap, b, ptc_int((signed char)ptc_str_bytes(argv[0])[i])))
            return false;
    return b != PTC_NONE && ptc_give(out, ptc_build_done(vm->heap, b, 0));
}

/* Without spaces and control characters at both ends. */
static bool trim_java_string(PtcVM *vm, PtcValue str, PtcValue *out)
{
    const char *p = ptc_str_bytes(str), *end = p + ptc_str_len(str);
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    while (p < end && (unsigned char)end[-1] <= ' ')
        end--;
    return ptc_tick(&vm->budget, 1 + ptc_str_len(str) / 64) &&
           ptc_give(out, (size_t)(end - p) == ptc_str_len(str)
                             ? str
                             : ptc_str_new(vm->heap, p, (size_t)(end - p)));
}

PTC_BUILTIN_EXPR(str_trim, "java", ".trim", 1, 1,
                 PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(.trim s)",
                 "The string without spaces and control characters at both ends.",
                 "(.trim \" a b\\n\") => \"a b\"\n(.trim nil) !! type_error",
                 check_string_args(vm, argc, argv) && trim_java_string(vm, argv[0], out))

PTC_BUILTIN_EXPR(str_strip, "java", ".strip", 1, 1,
                 PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(.strip s)",
                 "The string without white space at both ends.",
                 "(.strip \" a b\\n\") => \"a b\"\n(.strip 5) !! type_error",
                 as_strs(vm, "clojure.string/trim", argc, argv, out))

PTC_BUILTIN_EXPR(str_is_blank, "java", ".isBlank", 1, 1,
                 PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_BOOL), "(.isBlank s)",
                 "Is the string empty or only white space?",
                 "(.isBlank \" \\n\") => true\n(.isBlank nil) !! type_error",
                 as_strs(vm, "clojure.string/blank?", argc, argv, out))

PTC_BUILTIN(str_equals_case, "java", ".equalsIgnoreCase", 2, 2, 0, "(.equalsIgnoreCase s other)",
            "Are two strings the same but for upper and lower case?  Other than a string is not.",
            "(.equalsIgnoreCase \"Yes\" \"YES\") => true\n(.equalsIgnoreCase \"a\" nil) => false\n"
            "(.equalsIgnoreCase nil \"a\") !! type_error")
{
    PtcValue a, b;
    if (!check_string_args(vm, 1, argv))
        return false;
    if (!ptc_is_string(argv[1]))
        return ptc_give(out, PTC_FALSE);
    if (!ptc_as(vm, "clojure.string/lower-case", 1, &argv[0], &a) ||
        !ptc_as(vm, "clojure.string/lower-case", 1, &argv[1], &b))
        return false;
    return ptc_give(out, ptc_bool(ptc_str_same(&vm->budget, a, b)));
}

/* ------------------------------------------------------------------------- positions */

/* A place: an integer, or a float cut to one, as Java's casts do. */
static bool arg_place(PtcVM *vm, const PtcValue *argv, int i, int64_t *out)
{
    if (!ptc_is_float(argv[i]))
        return ptc_arg_int(vm, argv, i, out);
    double d = ptc_to_float(argv[i]);
    if (!(d > -1e15 && d < 1e15))
        return ptc_fail_here(vm, PTC_E_INDEX | PTC_AS(STRING_INDEX),
                             "argument %d is not a position in a string", i + 1);
    *out = (int64_t)d;
    return true;
}

/* Where grapheme n begins in bytes; -1 when the string has fewer than n. */
static bool byte_place(PtcVM *vm, PtcValue str, int64_t n, int64_t *out)
{
    size_t len = ptc_str_len(str), at = 0;
    const char *bytes = ptc_str_bytes(str);
    *out = -1;
    if (n < 0 || (uint64_t)n > len)
        return true;
    if (ptc_str_simple(str)) {
        *out = n;
        return true;
    }
    for (; n > 0 && at < len; n--) {
        at += ptc_utf8_grapheme(&vm->budget, bytes + at, len - at);
        if (!ptc_tick(&vm->budget, 1))
            return false;
    }
    *out = n == 0 ? (int64_t)at : -1;
    return true;
}

static bool fail_place(PtcVM *vm, PtcValue str, int64_t n)
{
    return ptc_fail_here(vm, PTC_E_INDEX | PTC_AS(STRING_INDEX),
                         "%lld is outside of a string of %zu characters", (long long)n,
                         ptc_str_graphemes(&vm->budget, str));
}

PTC_BUILTIN(str_substring, "java", ".substring", 2, 3,
            PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(.substring s start end?)",
            "The part of a string from position start to before end, which must be inside of it.",
            "(.substring \"willow\" 1 3) => \"il\"\n(.substring \"willow\" 2) => \"llow\"\n"
            "(.substring \"willow\" 0 99) !! index_error\n"
            "(.substring \"willow\" 3 2) !! index_error")
{
    int64_t start, end = 0, from, to = (int64_t)0;
    if (!check_string_args(vm, 1, argv) || !arg_place(vm, argv, 1, &start) ||
        (argc == 3 && !arg_place(vm, argv, 2, &end)) || !byte_place(vm, argv[0], start, &from))
        return false;
    if (from < 0)
        return fail_place(vm, argv[0], start);
    to = (int64_t)ptc_str_len(argv[0]);
    if (argc == 3 && !byte_place(vm, argv[0], end, &to))
        return false;
    if (to < 0)
        return fail_place(vm, argv[0], end);
    if (to < from)
        return ptc_fail(vm, PTC_E_INDEX | PTC_AS(STRING_INDEX),
                        ".substring: the end %lld is before the start %lld", (long long)end,
                        (long long)start);
    return ptc_give(out, ptc_str_new(vm->heap, ptc_str_bytes(argv[0]) + from, (size_t)(to - from)));
}

PTC_BUILTIN(str_char_at, "java", ".charAt", 2, 2, 0, "(.charAt s n)",
            "The character at a position, as a string.",
            "(.charAt \"willow\" 2) => \"l\"\n(.charAt \"willow\" 6) !! index_error")
{
    int64_t n, at;
    if (!check_string_args(vm, 1, argv) || !arg_place(vm, argv, 1, &n) ||
        !byte_place(vm, argv[0], n, &at))
        return false;
    size_t len = ptc_str_len(argv[0]);
    if (at < 0 || (size_t)at == len)
        return fail_place(vm, argv[0], n);
    const char *p = ptc_str_bytes(argv[0]) + at;
    return ptc_give(out,
                    ptc_str_new(vm->heap, p, ptc_utf8_grapheme(&vm->budget, p, len - (size_t)at)));
}

/* The index of an element of a sequential, first or last; -1 when it has none. */
static bool element_place(PtcVM *vm, const PtcValue *argv, bool last, PtcValue *out)
{
    PtcIter it;
    PtcValue x;
    int64_t at = -1;
    if (!ptc_iter_init(&it, vm->heap, argv[0]))
        return false;
    for (int64_t i = 0; (at < 0 || last) && ptc_iter_next(&it, &x); i++) {
        if (!ptc_tick(&vm->budget, 1))
            return false;
        if (ptc_equal(vm->heap, x, argv[1]))
            at = i;
    }
    return ptc_iter_end(&it) && ptc_give(out, ptc_int(at));
}

/* What is looked for in a string: a string, or the number of a character. */
static bool arg_part(PtcVM *vm, const PtcValue *argv, PtcValue *part)
{
    char bytes[4];
    *part = argv[1];
    if (ptc_is_string(argv[1]))
        return true;
    size_t n = ptc_is_int(argv[1]) && ptc_to_int(argv[1]) >= 0 && ptc_to_int(argv[1]) <= 0x10ffff
                   ? ptc_utf8_encode((uint32_t)ptc_to_int(argv[1]), bytes)
                   : 0;
    if (n == 0)
        return ptc_fail_type(vm, argv, 1, "a string or the number of a character");
    return (*part = ptc_str_new(vm->heap, bytes, n)) != PTC_NONE;
}

static bool find_java_index(PtcVM *vm, int argc, const PtcValue *argv, bool last, PtcValue *out)
{
    PtcValue args[3] = {argv[0]};
    int64_t from = 0;
    if (argc == 2 && ptc_is_sequential(argv[0]))
        return element_place(vm, argv, last, out);
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string or vector");
    if (!arg_part(vm, argv, &args[1]) || (argc == 3 && !arg_place(vm, argv, 2, &from)))
        return false;
    args[2] = ptc_int(from < PTC_INT_MIN ? PTC_INT_MIN : from > PTC_INT_MAX ? PTC_INT_MAX : from);
    if (!ptc_as(vm, last ? "clojure.string/last-index-of" : "clojure.string/index-of", argc, args,
                out))
        return false;
    if (*out == PTC_NIL)
        *out = ptc_int(-1);
    return true;
}

PTC_BUILTIN_EXPR(str_index_of, "java", ".indexOf", 2, 3, 0, "(.indexOf s part from?)",
                 "The first position of a part in a string, or of an element in a vector; else -1.",
                 "(.indexOf \"willow\" \"l\") => 2\n(.indexOf \"willow\" \"z\") => -1\n"
                 "(.indexOf [:a :b] :b) => 1\n(.indexOf nil \"a\") !! type_error",
                 find_java_index(vm, argc, argv, false, out))

PTC_BUILTIN_EXPR(str_last_index_of, "java", ".lastIndexOf", 2, 3, 0, "(.lastIndexOf s part from?)",
                 "The last position of a part in a string, or of an element in a vector; else -1.",
                 "(.lastIndexOf \"willow\" \"l\") => 3\n(.lastIndexOf [1 2 1] 1) => 2\n"
                 "(.lastIndexOf \"willow\" :l) !! type_error",
                 find_java_index(vm, argc, argv, true, out))

/* ----------------------------------------------------------------------------- split */

/* Does the text mean itself as a pattern? */
static bool is_literal_pattern(PtcVM *vm, const char *p, size_t len)
{
    enum { INTEROP_PART = 4096 };
    for (size_t i = 0; i < len; i++) {
        if (p[i] != 0 && strchr(".$|()[{^?*+\\", p[i]))
            return false;
        if (i % INTEROP_PART == INTEROP_PART - 1 && !ptc_tick(&vm->budget, INTEROP_PART))
            return true;
    }
    return true;
}

PTC_BUILTIN(
    str_split, "java", ".split", 2, 3,
    PTC_TAKES3(PTC_IS_STRING, PTC_IS_STRING, PTC_IS_INT) | PTC_GIVES(PTC_IS_LIST),
    "(.split s pattern limit?)",
    "A vector of the parts of a string between separators; the string that describes them is "
    "a regex, so signs such as . need \\ before them.",
    "(.split \"a,b,,c,,\" \",\") => [\"a\" \"b\" \"\" \"c\"]\n"
    "(.split \"1.2\" \"\\\\.\") => [\"1\" \"2\"]\n"
    "(.split \"a  b\" \"\\\\s+\") => [\"a\" \"b\"]\n"
    "(.split \"a\" \"[\") !! value_error\n(.split nil \",\") !! type_error")
{
    PtcValue args[3] = {argv[0], argv[1], argc == 3 ? argv[2] : PTC_NIL};
    if (!check_string_args(vm, 2, argv))
        return false;
    if (!is_literal_pattern(vm, ptc_str_bytes(argv[1]), ptc_str_len(argv[1])) &&
        (args[1] = ptc_regex_make(vm, argv[1])) == PTC_NONE)
        return false;
    return ptc_as(vm, "clojure.string/split", argc, args, out);
}

/* ----------------------------------------------------------------------- any value */

PTC_BUILTIN(any_to_string, "java", ".toString", 1, 1, 0, "(.toString x)",
            "The text of a value, as str gives it; nil has none.",
            "(.toString 5) => \"5\"\n(.toString (LocalDate/of 2024 5 31)) => \"2024-05-31\"\n"
            "(.toString nil) !! type_error")
{
    if (argv[0] == PTC_NIL)
        return ptc_fail_type(vm, argv, 0, "any value but nil");
    return ptc_as(vm, "clojure.core/str", argc, argv, out);
}

PTC_BUILTIN(any_equals, "java", ".equals", 2, 2, 0, "(.equals a b)",
            "Are two values equal?  As =, but for nil, which has no methods.",
            "(.equals \"a\" \"a\") => true\n(.equals \"a\" nil) => false\n"
            "(.equals nil 1) !! type_error")
{
    if (argv[0] == PTC_NIL)
        return ptc_fail_type(vm, argv, 0, "any value but nil");
    return ptc_give(out, ptc_bool(ptc_equal(vm->heap, argv[0], argv[1])));
}

/* As Java counts it, by code points. */
static bool string_distance(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    const char *a = ptc_str_bytes(argv[0]), *b = ptc_str_bytes(argv[1]);
    size_t la = ptc_str_len(argv[0]), lb = ptc_str_len(argv[1]), i = 0, n = la < lb ? la : lb;
    if (!ptc_tick(&vm->budget, 1 + (int64_t)((la + lb) / 16))) /* the longer one may be counted */
        return false;
    while (i < n && a[i] == b[i])
        i++;
    while (i > 0 && ((i < la && ((unsigned char)a[i] & 0xc0) == 0x80) ||
                     (i < lb && ((unsigned char)b[i] & 0xc0) == 0x80)))
        i--;
    if (i == la || i == lb)
        return ptc_give(out, ptc_int((int64_t)ptc_utf8_count(a + i, la - i) -
                                     (int64_t)ptc_utf8_count(b + i, lb - i)));
    uint32_t x, y;
    ptc_utf8_decode(a + i, la - i, &x);
    ptc_utf8_decode(b + i, lb - i, &y);
    return ptc_give(out, ptc_int((int64_t)x - (int64_t)y));
}

PTC_BUILTIN(any_compare_to, "java", ".compareTo", 2, 2, 0, "(.compareTo a b)",
            "Negative, 0 or positive: is a less than, equal to or greater than b, which is of the "
            "same kind? Of "
            "strings the distance of the first characters that differ, else of the lengths.",
            "(.compareTo \"apple\" \"dog\") => -3\n"
            "(.compareTo (LocalDate/of 2024 5 31) (LocalDate/of 2024 5 1)) => 1\n"
            "(.compareTo 1 \"a\") !! type_error")
{
    if (argv[0] == PTC_NIL || argv[1] == PTC_NIL)
        return ptc_fail_type(vm, argv, argv[0] != PTC_NIL, "any value but nil");
    bool ok = true;
    if (ptc_is_string(argv[0]) && ptc_is_string(argv[1]))
        return string_distance(vm, argv, out);
    int order = ptc_compare(vm->heap, argv[0], argv[1], &ok);
    if (!ok)
        return ptc_fail_type(vm, argv, 1, "something that argument 1 can be compared with");
    return ptc_give(out, ptc_int((order > 0) - (order < 0)));
}

/* ---------------------------------------------------------------------- collections */

static bool has_element(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    if (ptc_is_set(argv[0]))
        return ptc_give(out, ptc_bool(ptc_set_has(vm->heap, argv[0], argv[1])));
    if (!element_place(vm, argv, false, out))
        return false;
    *out = ptc_bool(ptc_to_int(*out) >= 0);
    return true;
}

PTC_BUILTIN(any_contains, "java", ".contains", 2, 2,
            PTC_TAKES(PTC_IS_STRING | PTC_IS_LIST | PTC_IS_SET) | PTC_GIVES(PTC_IS_BOOL),
            "(.contains s part)",
            "Does a string contain a part; does a vector or set contain an element?",
            "(.contains \"willow\" \"ill\") => true\n(.contains [1 2] 2) => true\n"
            "(.contains \"willow\" nil) !! type_error\n(.contains {:a 1} :a) !! type_error")
{
    if (ptc_is_sequential(argv[0]) || ptc_is_set(argv[0]))
        return has_element(vm, argv, out);
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string, vector or set; for maps use .containsKey");
    return as_strs(vm, "clojure.string/includes?", argc, argv, out);
}

static bool arg_coll(PtcVM *vm, const PtcValue *argv)
{
    return ptc_is_sequential(argv[0]) || ptc_is_map(argv[0]) || ptc_is_set(argv[0]) ||
           ptc_fail_type(vm, argv, 0, "a collection");
}

PTC_BUILTIN_EXPR(coll_size, "java", ".size", 1, 1, 0, "(.size coll)",
                 "The number of elements of a collection.",
                 "(.size [1 2]) => 2\n(.size {:a 1}) => 1\n(.size \"ab\") !! type_error",
                 arg_coll(vm, argv) && ptc_as(vm, "clojure.core/count", argc, argv, out))

PTC_BUILTIN(any_is_empty, "java", ".isEmpty", 1, 1, 0, "(.isEmpty s)",
            "Is a string or collection empty?",
            "(.isEmpty \"\") => true\n(.isEmpty [1]) => false\n(.isEmpty nil) !! type_error")
{
    if (ptc_is_string(argv[0]))
        return ptc_give(out, ptc_bool(ptc_str_len(argv[0]) == 0));
    return arg_coll(vm, argv) && ptc_give(out, ptc_bool(ptc_obj(argv[0])->count == 0));
}

PTC_BUILTIN(
    coll_get, "java", ".get", 2, 2, 0, "(.get coll key)",
    "The value of a key in a map, nil when it has none; the element of a vector at an index, "
    "which must be there; a field of a date or time.",
    "(.get {:a 1} :a) => 1\n(.get (LocalDate/of 2024 5 31) ChronoField/DAY_OF_WEEK) => 5\n(.get "
    "{:a 1} :b) => nil\n(.get [1 2] 1) => 2\n"
    "(.get [1 2] 2) !! index_error\n(.get \"ab\" 0) !! type_error")
{
    int64_t n;
    if (ptc_is_map(argv[0]))
        return ptc_as(vm, "clojure.core/get", argc, argv, out);
    if (ptc_is_enum(argv[1], PTC_G_FIELD))
        return ptc_time_get(vm, argv, out);
    if (!ptc_is_sequential(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a map or vector");
    if (!ptc_arg_int(vm, argv, 1, &n))
        return false;
    if (n < 0 || (uint64_t)n >= ptc_seq_count(argv[0]))
        return ptc_fail(vm, PTC_E_INDEX, ".get: there is no element %lld in a vector of %zu",
                        (long long)n, ptc_seq_count(argv[0]));
    return ptc_as(vm, "clojure.core/nth", argc, argv, out);
}

PTC_BUILTIN_EXPR(map_get_or, "java", ".getOrDefault", 3, 3, 0, "(.getOrDefault map key default)",
                 "The value of a key in a map, or the default when it has none.",
                 "(.getOrDefault {:a 1} :b 0) => 0\n(.getOrDefault [1] 0 0) !! type_error",
                 ptc_arg_map(vm, argv, 0) && ptc_as(vm, "clojure.core/get", argc, argv, out))

PTC_BUILTIN_EXPR(map_contains_key, "java", ".containsKey", 2, 2, 0, "(.containsKey map key)",
                 "Does a map have this key?",
                 "(.containsKey {:a nil} :a) => true\n(.containsKey {:a 1} :b) => false\n"
                 "(.containsKey [1] 0) !! type_error",
                 ptc_arg_map(vm, argv, 0) && ptc_as(vm, "clojure.core/contains?", argc, argv, out))

PTC_BUILTIN_TABLE(ptc_lib_interop, str_to_lower, str_to_upper, str_starts_with, str_ends_with,
                  str_length, str_concat, str_replace, str_replace_all, str_replace_one, str_repeat,
                  str_to_chars, str_bytes, str_trim, str_strip, str_is_blank, str_equals_case,
                  str_substring, str_char_at, str_index_of, str_last_index_of, str_split,
                  any_to_string, any_equals, any_compare_to, any_contains, coll_size, any_is_empty,
                  coll_get, map_get_or, map_contains_key);
