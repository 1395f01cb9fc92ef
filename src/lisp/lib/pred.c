/* SPDX-License-Identifier: MIT
 * What kind of value is it?  Also identity, boolean, not, names and keywords, and reading
 * numbers from strings. */
#include <math.h>

#include "base/utf8.h"
#include "lisp/lib/seq_int.h"
#include "value/number.h"

/* ---------------------------------------------------------------- predicates */

/* Endless ones included. */
static bool is_sequence(PtcValue v)
{
    return ptc_is_sequential(v) || ptc_is_producer(v);
}

static bool is_seq(PtcValue v)
{
    return (ptc_is_sequential(v) && ptc_is_seq_flagged(v)) || ptc_is_producer(v);
}

static bool is_vector(PtcValue v)
{
    return ptc_is_sequential(v) && !ptc_is_seq_flagged(v) && !ptc_is_queue(v);
}

static bool is_coll(PtcValue v)
{
    return is_sequence(v) || ptc_is_map(v) || ptc_is_set(v);
}

static bool is_associative(PtcValue v)
{
    return ptc_is_map(v) || is_vector(v);
}

static bool is_counted(PtcValue v)
{
    return (is_coll(v) && !ptc_is_producer(v)) || ptc_is_string(v);
}

static bool is_indexed(PtcValue v)
{
    return is_vector(v) || ptc_is_string(v);
}

static bool is_entry(PtcValue v)
{
    return ptc_is(v, PTC_T_FLAT) && (ptc_obj(v)->flags & PTC_ENTRY) != 0;
}

static bool is_fn(PtcValue v)
{
    return ptc_is_builtin(v) || ptc_is(v, PTC_T_CLOSURE) || ptc_is_record(v, PTC_R_FN);
}

static bool is_ifn(PtcValue v)
{
    return is_fn(v) || ptc_is_keyword(v) || ptc_is_map(v) || ptc_is_set(v) || is_vector(v);
}

/* Charges for a walk along a string. */
static bool charge(PtcVM *vm, PtcValue v)
{
    return !ptc_is_string(v) || ptc_tick(&vm->budget, (int64_t)(ptc_str_len(v) / 32));
}

/* One grapheme: characters are strings here. */
static bool is_char(PtcValue v)
{
    return ptc_is_string(v) && ptc_str_len(v) > 0 &&
           ptc_utf8_grapheme(ptc_str_bytes(v), ptc_str_len(v)) == ptc_str_len(v);
}

static bool is_symbol(PtcValue v)
{
    return ptc_is(v, PTC_T_SYMBOL);
}

/* sign: of the integer asked for */
static bool is_int_of_sign(PtcValue v, int sign)
{
    return ptc_is_integer(v) && ptc_int_sign(v) == sign;
}

#define PREDICATE(id, name_, doc_, examples_, test)                                   \
    PTC_BUILTIN(id, "clojure.core", name_, 1, 1, 0, "(" name_ " x)", doc_, examples_) \
    {                                                                                 \
        PtcValue x = argv[0];                                                         \
        PTC_UNUSED(vm);                                                               \
        PTC_UNUSED(argc);                                                             \
        PTC_UNUSED(x);                                                                \
        return ptc_give(out, ptc_bool(test));                                         \
    }

PREDICATE(core_is_nil, "nil?", "Is it nil.", "(nil? nil) => true\n(nil? false) => false",
          x == PTC_NIL)
PREDICATE(core_is_some, "some?", "Is it anything but nil.",
          "(some? 0) => true\n(some? nil) => false\n(filter some? [1 nil false]) => [1 false]",
          x != PTC_NIL)
PREDICATE(core_is_true, "true?", "Is it true itself.", "(true? true) => true\n(true? 1) => false",
          x == PTC_TRUE)
PREDICATE(core_is_false, "false?", "Is it false itself.",
          "(false? false) => true\n(false? nil) => false", x == PTC_FALSE)
PREDICATE(core_is_boolean, "boolean?", "Is it true or false.",
          "(boolean? false) => true\n(boolean? nil) => false", ptc_is_bool(x))
PREDICATE(core_is_number, "number?", "Is it a number, NaN and the infinite ones included.",
          "(number? 1.5) => true\n(number? ##NaN) => true\n(number? \"1\") => false",
          ptc_is_number(x))
PREDICATE(core_is_integer, "integer?", "Is it an integer, of any size.",
          "(integer? 5) => true\n(integer? 5.0) => false\n(integer? nil) => false",
          ptc_is_integer(x))
PREDICATE(core_is_int, "int?", "The same as integer?.", "(int? 5) => true\n(int? 5.0) => false",
          ptc_is_integer(x))
PREDICATE(core_is_float, "float?", "Is it a float.", "(float? 5.0) => true\n(float? 5) => false",
          ptc_is_float(x))
PREDICATE(core_is_double, "double?", "The same as float?.",
          "(double? 5.0) => true\n(double? 5) => false", ptc_is_float(x))
PREDICATE(core_is_nat_int, "nat-int?", "Is it an integer that is not negative.",
          "(nat-int? 0) => true\n(nat-int? -1) => false\n(nat-int? 1.0) => false",
          ptc_is_integer(x) && ptc_int_sign(x) >= 0)
PREDICATE(core_is_pos_int, "pos-int?", "Is it an integer above zero.",
          "(pos-int? 1) => true\n(pos-int? 0) => false\n(pos-int? nil) => false",
          is_int_of_sign(x, 1))
PREDICATE(core_is_neg_int, "neg-int?", "Is it an integer below zero.",
          "(neg-int? -1) => true\n(neg-int? 0) => false\n(neg-int? -1.0) => false",
          is_int_of_sign(x, -1))
PREDICATE(core_is_rational, "rational?", "Is it an exact number; here that is any integer.",
          "(rational? 3) => true\n(rational? 0.5) => false", ptc_is_integer(x))
PREDICATE(core_is_ratio, "ratio?", "Always false: there are no fractions, (/ 1 3) is a float.",
          "(ratio? (/ 1 3)) => false\n(ratio? 1) => false", false)
PREDICATE(core_is_decimal, "decimal?",
          "Always false: there are no decimals of unlimited precision.",
          "(decimal? 1.5) => false\n(decimal? 1) => false", false)
PREDICATE(core_is_string, "string?", "Is it a string.",
          "(string? \"a\") => true\n(string? :a) => false", ptc_is_string(x))
PREDICATE(core_is_keyword, "keyword?", "Is it a keyword.",
          "(keyword? :a) => true\n(keyword? \"a\") => false", ptc_is_keyword(x))
PREDICATE(core_is_symbol, "symbol?", "Is it a symbol; only quoted programs hold any.",
          "(symbol? 'a) => true\n(symbol? :a) => false", is_symbol(x))
PREDICATE(core_is_map, "map?", "Is it a map.", "(map? {:a 1}) => true\n(map? [1]) => false",
          ptc_is_map(x))
PREDICATE(core_is_set, "set?", "Is it a set.", "(set? #{1}) => true\n(set? [1]) => false",
          ptc_is_set(x))
PREDICATE(core_is_vector, "vector?", "Is it a vector, not a list or another sequence.",
          "(vector? [1]) => true\n(vector? (list 1)) => false\n(vector? nil) => false",
          is_vector(x))
PREDICATE(core_is_list, "list?", "The same as seq?: lists and sequences are one kind here.",
          "(list? (list 1)) => true\n(list? [1]) => false", is_seq(x))
PREDICATE(core_is_seq, "seq?", "Is it a list or another sequence, not a vector.",
          "(seq? (rest [1 2])) => true\n(seq? [1]) => false\n(seq? nil) => false", is_seq(x))
PREDICATE(core_is_coll, "coll?", "Is it a vector, sequence, map or set.",
          "(coll? [1]) => true\n(coll? {}) => true\n(coll? \"ab\") => false", is_coll(x))
PREDICATE(core_is_sequential, "sequential?", "Is it a vector or another sequence.",
          "(sequential? [1]) => true\n(sequential? {:a 1}) => false", is_sequence(x))
PREDICATE(core_is_associative, "associative?", "Does it take assoc: a map or vector.",
          "(associative? {}) => true\n(associative? [1]) => true\n(associative? #{1}) => false",
          is_associative(x))
PREDICATE(core_is_counted, "counted?", "Is its count known: a collection or string.",
          "(counted? [1]) => true\n(counted? {}) => true\n(counted? nil) => false", is_counted(x))
PREDICATE(core_is_indexed, "indexed?", "Are its elements found by number: a vector or string.",
          "(indexed? [1]) => true\n(indexed? \"ab\") => true\n(indexed? {}) => false",
          is_indexed(x))
PREDICATE(core_is_reversible, "reversible?",
          "Can it be walked from the end: a vector, sorted collection or string.",
          "(reversible? [1]) => true\n(reversible? \"ab\") => true\n(reversible? {}) => false",
          is_indexed(x) || ptc_is_sorted(x))
PREDICATE(core_is_seqable, "seqable?", "Can seq walk it: a collection, a string or nil.",
          "(seqable? \"ab\") => true\n(seqable? nil) => true\n(seqable? 5) => false",
          ptc_is_seqable(x) || ptc_is_producer(x))
PREDICATE(core_is_sorted, "sorted?", "Is it a sorted map or sorted set.",
          "(sorted? (sorted-set 2 1)) => true\n(sorted? [1 2]) => false\n(sorted? {}) => false",
          ptc_is_sorted(x))
PREDICATE(core_is_map_entry, "map-entry?", "Is it an entry taken from a map.",
          "(map-entry? (first {:a 1})) => true\n(map-entry? [:a 1]) => false", is_entry(x))
PREDICATE(core_is_fn, "fn?", "Is it a function.",
          "(fn? inc) => true\n(fn? (fn [x] x)) => true\n(fn? :a) => false", is_fn(x))
PREDICATE(core_is_ifn, "ifn?", "Can it be called: a function, keyword, map, set or vector.",
          "(ifn? inc) => true\n(ifn? :a) => true\n(ifn? \"a\") => false", is_ifn(x))

PTC_BUILTIN(core_is_char, "clojure.core", "char?", 1, 1, 0, "(char? x)",
            "Is it a string of exactly one character.",
            "(char? \"a\") => true\n(char? \"ab\") => false\n(char? 5) => false")
{
    PTC_UNUSED(argc);
    return charge(vm, argv[0]) && ptc_give(out, ptc_bool(is_char(argv[0])));
}

/* -------------------------------------------------------------------- values */

PTC_BUILTIN(core_identity, "clojure.core", "identity", 1, 1, 0, "(identity x)",
            "Its argument, unchanged.", "(identity 42) => 42\n(filter identity [1 nil 2]) => [1 2]")
{
    PTC_UNUSED(vm);
    PTC_UNUSED(argc);
    return ptc_give(out, argv[0]);
}

PREDICATE(core_boolean, "boolean", "false for nil and false, true for everything else.",
          "(boolean nil) => false\n(boolean 0) => true\n(boolean \"\") => true", ptc_truthy(x))
PREDICATE(core_not, "not", "true for nil and false, false for everything else.",
          "(not nil) => true\n(not 0) => false\n(not true) => false", !ptc_truthy(x))

/* The type's noun without its article. */
static const char *type_word(PtcValue v)
{
    if (ptc_is_number(v))
        return "number";
    if (ptc_is_sequential(v))
        return "vector";
    const char *noun = ptc_type_name(v), *space = strchr(noun, ' ');
    return space ? space + 1 : noun;
}

PTC_BUILTIN(core_type, "clojure.core", "type", 1, 1, 0, "(type x)",
            "The kind of a value as a keyword, nil for nil.",
            "(type 1.5) => :number\n(type [1]) => :vector\n(type {}) => :map\n(type nil) => nil")
{
    PTC_UNUSED(argc);
    if (argv[0] == PTC_NIL)
        return ptc_give(out, PTC_NIL);
    const char *word = type_word(argv[0]);
    return ptc_give(out, ptc_keyword_new(vm->heap, word, strlen(word)));
}

/* :space/name from two strings */
static bool qualified_keyword(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    const char *space, *name;
    size_t space_len, name_len;
    if (!ptc_arg_string(vm, argv, 0, &space, &space_len) ||
        !ptc_arg_string(vm, argv, 1, &name, &name_len))
        return false;
    PtcValue keyword = ptc_str_begin(vm->heap, PTC_T_KEYWORD, space_len + 1 + name_len);
    if (keyword == PTC_NONE)
        return false;
    char *room = ptc_str_room(keyword);
    memcpy(room, space, space_len);
    room[space_len] = '/';
    memcpy(room + space_len + 1, name, name_len);
    ptc_str_seal(keyword);
    return ptc_give(out, keyword);
}

PTC_BUILTIN(core_keyword, "clojure.core", "keyword", 1, 2, 0, "(keyword name), (keyword ns name)",
            "The keyword of that name, from a string, symbol or keyword; nil for nil.",
            "(keyword \"a\") => :a\n(keyword :b) => :b\n(keyword \"ns\" \"part\") => :ns/part\n"
            "(keyword nil) => nil\n(keyword 5) !! type_error")
{
    if (argc == 2)
        return qualified_keyword(vm, argv, out);
    if (argv[0] == PTC_NIL || ptc_is_keyword(argv[0]))
        return ptc_give(out, argv[0]);
    if (!ptc_is_named(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string or keyword");
    return ptc_give(out, ptc_keyword_new(vm->heap, ptc_str_bytes(argv[0]), ptc_str_len(argv[0])));
}

PTC_BUILTIN(core_name, "clojure.core", "name", 1, 1, 0, "(name x)",
            "The name of a keyword or symbol as a string, without its namespace; strings stay.",
            "(name :abc) => \"abc\"\n(name :a/b) => \"b\"\n(name \"abc\") => \"abc\"\n"
            "(name nil) !! type_error")
{
    PTC_UNUSED(argc);
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

/* ------------------------------------------------- reading numbers: integers */

typedef struct {
    const char *bytes;
    size_t len;
} Text;

static Text text_of(PtcValue string)
{
    return (Text){ptc_str_bytes(string), ptc_str_len(string)};
}

static int digit_of(char c)
{
    char low = (char)(c | 32);
    if (c >= '0' && c <= '9')
        return c - '0';
    return low >= 'a' && low <= 'z' ? low - 'a' + 10 : 99;
}

/* The whole text as sign? digits, within min and max. */
static bool read_integer(Text t, int radix, int64_t min, int64_t max, int64_t *out)
{
    bool negative = t.len > 0 && t.bytes[0] == '-';
    size_t i = negative || (t.len > 0 && t.bytes[0] == '+');
    int64_t n = 0; /* built below zero, where there is room for one more */
    if (i == t.len)
        return false;
    for (; i < t.len; i++) {
        int digit = digit_of(t.bytes[i]);
        if (digit >= radix || __builtin_mul_overflow(n, radix, &n) ||
            __builtin_sub_overflow(n, digit, &n))
            return false;
    }
    if (!negative && n == INT64_MIN)
        return false;
    *out = negative ? n : -n;
    return *out >= min && *out <= max;
}

static bool parse_long(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    int64_t n;
    if (!charge(vm, argv[0]))
        return false;
    if (!ptc_is_string(argv[0]) || !read_integer(text_of(argv[0]), 10, INT64_MIN, INT64_MAX, &n))
        return ptc_give(out, PTC_NIL);
    return ptc_give(out, ptc_int_new(vm->heap, n));
}

PTC_BUILTIN(core_parse_long, "clojure.core", "parse-long", 1, 1, 0, "(parse-long s)",
            "The integer of 64 bits that the whole string spells, else nil.",
            "(parse-long \"-17\") => -17\n(parse-long \"4.2\") => nil\n(parse-long nil) => nil")
{
    PTC_UNUSED(argc);
    return parse_long(vm, argv, out);
}

PTC_BUILTIN(core_parse_int, "clojure.core", "parse-int", 1, 1, 0, "(parse-int s)",
            "The same as parse-long.", "(parse-int \"128\") => 128\n(parse-int \"12 \") => nil")
{
    PTC_UNUSED(argc);
    return parse_long(vm, argv, out);
}

static bool fail_parse(PtcVM *vm, const char *noun, const char *gentle)
{
    const PtcBuiltin *row = ptc_builtin_row(vm->running);
    ptc_fail(vm, PTC_E_VALUE, "%s/%s: the string does not spell %s", row->ns, row->name, noun);
    return ptc_fail_hint(vm, "(%s s) gives nil instead of an error", gentle);
}

/* Java's parsers throw where ours give nil. */
static bool java_integer(PtcVM *vm, int argc, const PtcValue *argv, int bits, PtcValue *out)
{
    int64_t radix = 10, n;
    int64_t min = bits == 32 ? INT32_MIN : INT64_MIN, max = bits == 32 ? INT32_MAX : INT64_MAX;
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string");
    if (!charge(vm, argv[0]))
        return false;
    if (argc == 2 && !ptc_arg_int(vm, argv, 1, &radix))
        return false;
    if (radix < 2 || radix > 36)
        return ptc_fail(vm, PTC_E_VALUE, "%s: the radix must be from 2 to 36",
                        ptc_builtin_row(vm->running)->name);
    if (!read_integer(text_of(argv[0]), (int)radix, min, max, &n))
        return fail_parse(vm, bits == 32 ? "an integer of 32 bits" : "an integer of 64 bits",
                          "parse-long");
    return ptc_give(out, ptc_int_new(vm->heap, n));
}

PTC_BUILTIN(java_parse_int, "Integer", "parseInt", 1, 2, 0, "(Integer/parseInt s radix?)",
            "The integer of 32 bits that the whole string spells; anything else is an error.",
            "(Integer/parseInt \"+4\") => 4\n(Integer/parseInt \"ff\" 16) => 255\n"
            "(Integer/parseInt \"x\") !! value_error")
{
    return java_integer(vm, argc, argv, 32, out);
}

PTC_BUILTIN(java_parse_long, "Long", "parseLong", 1, 2, 0, "(Long/parseLong s radix?)",
            "The integer of 64 bits that the whole string spells; anything else is an error.",
            "(Long/parseLong \"-12\") => -12\n(Long/parseLong \"12L\") !! value_error\n"
            "(Long/parseLong nil) !! type_error")
{
    return java_integer(vm, argc, argv, 64, out);
}

/* --------------------------------------------------- reading numbers: floats */

static bool is_word(Text t, const char *word)
{
    return t.len == strlen(word) && memcmp(t.bytes, word, t.len) == 0;
}

static Text skip(Text t, size_t n)
{
    return (Text){t.bytes + n, t.len - n};
}

/* As much of a mantissa in hexadecimal as a double can hold; *scale counts bits dropped or after
 * the point.  Returns the length read. */
static size_t read_hex_digits(Text t, uint64_t *mantissa, int64_t *scale, bool *any)
{
    bool point = false;
    size_t i = 0;
    *mantissa = 0;
    *scale = 0;
    *any = false;
    for (; i < t.len; i++) {
        int digit = digit_of(t.bytes[i]);
        if (t.bytes[i] == '.' && !point) {
            point = true;
        } else if (digit < 16) {
            *any = true;
            if (*mantissa >> 59) {
                *mantissa |= digit != 0; /* rounds as if all were there */
                *scale += point ? 0 : 4;
            } else {
                *mantissa = *mantissa << 4 | (uint64_t)digit;
                *scale -= point ? 4 : 0;
            }
        } else {
            break;
        }
    }
    return i;
}

/* What follows 0x: digits, p, exponent. */
static bool read_hex_double(Text t, double *out)
{
    uint64_t mantissa;
    int64_t scale, exponent;
    bool any;
    size_t n = read_hex_digits(t, &mantissa, &scale, &any);
    if (!any || n == t.len || (t.bytes[n] | 32) != 'p')
        return false;
    if (!read_integer(skip(t, n + 1), 10, -100000, 100000, &exponent))
        return false;
    scale += exponent;
    *out = ldexp((double)mantissa, scale > 5000 ? 5000 : scale < -5000 ? -5000 : (int)scale);
    return true;
}

/* Digits with a point or exponent; a point may come first, which ptc_double_parse does not take. */
static bool read_decimal(PtcVM *vm, Text t, double *out)
{
    if (t.len < 2 || t.bytes[0] != '.')
        return t.len > 0 && digit_of(t.bytes[0]) < 10 && ptc_double_parse(t.bytes, t.len, out);
    if (digit_of(t.bytes[1]) > 9)
        return false;
    PtcBuf buf;
    ptc_buf_init(&buf, vm->mem, t.len + 1);
    bool ok = ptc_buf_add_char(&buf, '0') && ptc_buf_add(&buf, t.bytes, t.len);
    if (ok)
        ok = ptc_double_parse(buf.data, buf.len, out);
    else
        ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    ptc_buf_deinit(&buf);
    return ok;
}

/* As Java reads doubles: blanks around it, hexadecimal, NaN, Infinity and a type suffix go. */
static bool read_double(PtcVM *vm, Text t, double *out)
{
    while (t.len > 0 && (unsigned char)t.bytes[t.len - 1] <= ' ')
        t.len--;
    while (t.len > 0 && (unsigned char)t.bytes[0] <= ' ')
        t = skip(t, 1);
    bool negative = t.len > 0 && t.bytes[0] == '-', ok = true;
    if (negative || (t.len > 0 && t.bytes[0] == '+'))
        t = skip(t, 1);
    if (is_word(t, "NaN") || is_word(t, "Infinity")) {
        *out = t.bytes[0] == 'N' ? NAN : INFINITY;
    } else {
        char last = t.len > 1 ? (char)(t.bytes[t.len - 1] | 32) : 0;
        if (last == 'f' || last == 'd')
            t.len--;
        if (t.len > 2 && t.bytes[0] == '0' && (t.bytes[1] | 32) == 'x')
            ok = read_hex_double(skip(t, 2), out);
        else
            ok = read_decimal(vm, t, out);
    }
    if (ok && negative)
        *out = -*out;
    return ok;
}

PTC_BUILTIN(core_parse_double, "clojure.core", "parse-double", 1, 1, 0, "(parse-double s)",
            "The float that the whole string spells, else nil.",
            "(parse-double \"3.14\") => 3.14\n(parse-double \"1e3\") => 1000.0\n"
            "(parse-double \"1.5 kg\") => nil\n(parse-double nil) => nil")
{
    double d;
    PTC_UNUSED(argc);
    if (!charge(vm, argv[0]))
        return false;
    bool ok = ptc_is_string(argv[0]) && read_double(vm, text_of(argv[0]), &d);
    if (vm->budget.stop != PTC_STOP_NONE)
        return false;
    return ptc_give(out, ok ? ptc_float_new(vm->heap, d) : PTC_NIL);
}

static bool java_double(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    double d;
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string");
    if (!charge(vm, argv[0]))
        return false;
    if (!read_double(vm, text_of(argv[0]), &d))
        return fail_parse(vm, "a number", "parse-double");
    return ptc_give(out, ptc_float_new(vm->heap, d));
}

PTC_BUILTIN(java_parse_double, "Double", "parseDouble", 1, 1, 0, "(Double/parseDouble s)",
            "The float that the whole string spells; anything else is an error.",
            "(Double/parseDouble \"2.50\") => 2.5\n(Double/parseDouble \"two\") !! value_error")
{
    PTC_UNUSED(argc);
    return java_double(vm, argv, out);
}

PTC_BUILTIN(java_parse_float, "Float", "parseFloat", 1, 1, 0, "(Float/parseFloat s)",
            "The same as Double/parseDouble.",
            "(Float/parseFloat \"0.1\") => 0.1\n(Float/parseFloat \"\") !! value_error")
{
    PTC_UNUSED(argc);
    return java_double(vm, argv, out);
}

/* ------------------------------------------------------------------ booleans */

PTC_BUILTIN(core_parse_boolean, "clojure.core", "parse-boolean", 1, 1, 0, "(parse-boolean s)",
            "true for \"true\", false for \"false\", else nil.",
            "(parse-boolean \"true\") => true\n(parse-boolean \"false\") => false\n"
            "(parse-boolean \"yes\") => nil")
{
    PTC_UNUSED(vm);
    PTC_UNUSED(argc);
    Text t = ptc_is_string(argv[0]) ? text_of(argv[0]) : (Text){"", 0};
    return ptc_give(out, is_word(t, "true") ? PTC_TRUE : is_word(t, "false") ? PTC_FALSE : PTC_NIL);
}

PTC_BUILTIN(java_parse_boolean, "Boolean", "parseBoolean", 1, 1, 0, "(Boolean/parseBoolean s)",
            "Is it \"true\", in capital or small letters; false for any other string and for nil.",
            "(Boolean/parseBoolean \"TRUE\") => true\n(Boolean/parseBoolean \"yes\") => false\n"
            "(Boolean/parseBoolean 1) !! type_error")
{
    PTC_UNUSED(argc);
    if (argv[0] == PTC_NIL)
        return ptc_give(out, PTC_FALSE);
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string or nil");
    Text t = text_of(argv[0]);
    bool same = t.len == 4;
    for (size_t i = 0; i < 4 && same; i++)
        same = (t.bytes[i] | 32) == "true"[i];
    return ptc_give(out, ptc_bool(same));
}

const PtcBuiltin *const ptc_lib_pred[] = {
    &core_is_nil_def,        &core_is_some_def,
    &core_is_true_def,       &core_is_false_def,
    &core_is_boolean_def,    &core_is_number_def,
    &core_is_integer_def,    &core_is_int_def,
    &core_is_float_def,      &core_is_double_def,
    &core_is_nat_int_def,    &core_is_pos_int_def,
    &core_is_neg_int_def,    &core_is_rational_def,
    &core_is_ratio_def,      &core_is_decimal_def,
    &core_is_string_def,     &core_is_char_def,
    &core_is_keyword_def,    &core_is_symbol_def,
    &core_is_map_def,        &core_is_set_def,
    &core_is_vector_def,     &core_is_list_def,
    &core_is_seq_def,        &core_is_coll_def,
    &core_is_sequential_def, &core_is_associative_def,
    &core_is_counted_def,    &core_is_indexed_def,
    &core_is_reversible_def, &core_is_seqable_def,
    &core_is_sorted_def,     &core_is_map_entry_def,
    &core_is_fn_def,         &core_is_ifn_def,
    &core_identity_def,      &core_boolean_def,
    &core_not_def,           &core_type_def,
    &core_keyword_def,       &core_name_def,
    &core_parse_long_def,    &core_parse_int_def,
    &java_parse_int_def,     &java_parse_long_def,
    &core_parse_double_def,  &java_parse_double_def,
    &java_parse_float_def,   &core_parse_boolean_def,
    &java_parse_boolean_def, NULL,
};
