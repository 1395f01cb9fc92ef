/* SPDX-License-Identifier: MIT
 * Static functions of Java's Character, String, Integer, Long, Double and Boolean. */
#include <utf8proc.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "lisp/lib/java/interop.h"
#include "lisp/vm/predicate.h"

/* ------------------------------------------------------------------------- Character */

/* A character is a string of one grapheme, or the number of a code point; *code gets its first. */
static bool arg_char(PtcVM *vm, const PtcValue *argv, uint32_t *code)
{
    if (ptc_is_int(argv[0]) && ptc_to_int(argv[0]) >= 0 && ptc_to_int(argv[0]) <= 0x10ffff) {
        *code = (uint32_t)ptc_to_int(argv[0]);
        return true;
    }
    if (!ptc_is_char(vm, argv[0]))
        return ptc_fail_type(vm, argv, 0, "one character");
    ptc_utf8_decode(ptc_str_bytes(argv[0]), ptc_str_len(argv[0]), code);
    return true;
}

static bool is_java_letter(uint32_t c)
{
    utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}

static bool is_java_digit(uint32_t c)
{
    return utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_ND;
}

static bool is_letter_or_digit(uint32_t c)
{
    return is_java_letter(c) || is_java_digit(c);
}

static bool is_java_upper(uint32_t c)
{
    return utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_LU;
}

static bool is_java_lower(uint32_t c)
{
    return utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_LL;
}

/* No-break spaces are none for Java. */
static bool is_java_whitespace(uint32_t c)
{
    if (c <= ' ')
        return ptc_ascii_is_white(c) || c >= 0x1c;
    utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    return k >= UTF8PROC_CATEGORY_ZS && k <= UTF8PROC_CATEGORY_ZP && c != 0xa0 && c != 0x2007 &&
           c != 0x202f;
}

static bool is_space_char(uint32_t c)
{
    utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    return k >= UTF8PROC_CATEGORY_ZS && k <= UTF8PROC_CATEGORY_ZP;
}

/* Java's oldest test: only the blanks of ASCII. */
static bool is_old_space(uint32_t c)
{
    return ptc_ascii_is_space((int)c) || c == '\f';
}

static bool is_java_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f);
}

static bool is_title(uint32_t c)
{
    return utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_LT;
}

#define CHARACTER_TEST(id, name, test, doc, examples)                                    \
    PTC_BUILTIN(id, "Character", name, 1, 1, 0, "(Character/" name " c)", doc, examples) \
    {                                                                                    \
        uint32_t c;                                                                      \
        return arg_char(vm, argv, &c) && ptc_give(out, ptc_bool(test(c)));               \
    }

CHARACTER_TEST(char_is_letter, "isLetter", is_java_letter, "Is the character a letter?",
               "(Character/isLetter \\a) => true\n(Character/isLetter \"1\") => false\n"
               "(Character/isLetter \"ab\") !! type_error")
CHARACTER_TEST(char_is_alphabetic, "isAlphabetic", is_java_letter, "Is the character a letter?",
               "(Character/isAlphabetic \"é\") => true\n(Character/isAlphabetic nil) !! type_error")
CHARACTER_TEST(char_is_digit, "isDigit", is_java_digit, "Is the character a decimal digit?",
               "(Character/isDigit \\7) => true\n(Character/isDigit \"x\") => false\n"
               "(Character/isDigit \"\") !! type_error")
CHARACTER_TEST(char_is_letter_or_digit, "isLetterOrDigit", is_letter_or_digit,
               "Is the character a letter or a decimal digit?",
               "(Character/isLetterOrDigit \"_\") => false\n"
               "(Character/isLetterOrDigit nil) !! type_error")
CHARACTER_TEST(char_is_upper, "isUpperCase", is_java_upper, "Is the character a capital letter?",
               "(Character/isUpperCase \"A\") => true\n(Character/isUpperCase :a) !! type_error")
CHARACTER_TEST(char_is_lower, "isLowerCase", is_java_lower, "Is the character a small letter?",
               "(Character/isLowerCase \"A\") => false\n(Character/isLowerCase []) !! type_error")
CHARACTER_TEST(char_is_space, "isWhitespace", is_java_whitespace, "Is the character white space?",
               "(Character/isWhitespace \\space) => true\n"
               "(Character/isWhitespace \"  \") !! type_error")

CHARACTER_TEST(
    char_is_space_char, "isSpaceChar", is_space_char, "Is the character a blank of Unicode?",
    "(Character/isSpaceChar \\space) => true\n(Character/isSpaceChar \\newline) => false\n"
    "(Character/isSpaceChar nil) !! type_error")
CHARACTER_TEST(char_is_old_space, "isSpace", is_old_space,
               "Is the character a blank, tab or line end?",
               "(Character/isSpace \\tab) => true\n(Character/isSpace nil) !! type_error")
CHARACTER_TEST(char_is_control, "isISOControl", is_java_control,
               "Is the character a control character?",
               "(Character/isISOControl \\newline) => true\n(Character/isISOControl \\a) => false\n"
               "(Character/isISOControl nil) !! type_error")
CHARACTER_TEST(char_is_title, "isTitleCase", is_title, "Is the character a title-case letter?",
               "(Character/isTitleCase \\a) => false\n(Character/isTitleCase nil) !! type_error")

/* The character, with its first code point in the other case. */
static bool char_case(PtcVM *vm, const PtcValue *argv, bool upper, PtcValue *out)
{
    uint32_t c;
    char bytes[4];
    if (!arg_char(vm, argv, &c))
        return false;
    utf8proc_int32_t code = (utf8proc_int32_t)c;
    code = upper ? utf8proc_toupper(code) : utf8proc_tolower(code);
    if (!ptc_is_string(argv[0]))
        return ptc_give(out, ptc_int(code));
    if ((uint32_t)code == c)
        return ptc_give(out, argv[0]);
    size_t skip = ptc_utf8_decode(ptc_str_bytes(argv[0]), ptc_str_len(argv[0]), &c);
    size_t n = ptc_utf8_encode((uint32_t)code, bytes), rest = ptc_str_len(argv[0]) - skip;
    PtcValue s = ptc_str_begin(vm->heap, PTC_T_STRING, n + rest);
    if (s == PTC_NONE)
        return false;
    memcpy(ptc_str_room(s), bytes, n);
    memcpy(ptc_str_room(s) + n, ptc_str_bytes(argv[0]) + skip, rest);
    ptc_str_seal(s);
    return ptc_give(out, s);
}

PTC_BUILTIN_EXPR(
    char_to_upper, "Character", "toUpperCase", 1, 1, 0, "(Character/toUpperCase c)",
    "The character as a capital letter, if it has one.",
    "(Character/toUpperCase \\a) => \"A\"\n(Character/toUpperCase \"ab\") !! type_error",
    char_case(vm, argv, true, out))

PTC_BUILTIN_EXPR(
    char_to_lower, "Character", "toLowerCase", 1, 1, 0, "(Character/toLowerCase c)",
    "The character as a small letter, if it has one.",
    "(Character/toLowerCase \"A\") => \"a\"\n(Character/toLowerCase nil) !! type_error",
    char_case(vm, argv, false, out))

/* Digits of a script stand one after the other, zero first. */
static int64_t numeric_value(uint32_t c)
{
    if (is_java_digit(c)) {
        uint32_t zero = c;
        while (c - zero < 9 && is_java_digit(zero - 1))
            zero--;
        return c - zero;
    }
    return ptc_ascii_is_letter((int)c) ? ptc_ascii_digit_value((int)c) : -1;
}

PTC_BUILTIN(char_numeric, "Character", "getNumericValue", 1, 1, 0, "(Character/getNumericValue c)",
            "The number that a digit means; letters from a to z go on with 10 to 35; else -1.",
            "(Character/getNumericValue \\7) => 7\n(Character/getNumericValue \"f\") => 15\n"
            "(Character/getNumericValue \"-\") => -1\n"
            "(Character/getNumericValue \"77\") !! type_error")
{
    uint32_t c;
    return arg_char(vm, argv, &c) && ptc_give(out, ptc_int(numeric_value(c)));
}

static bool arg_radix(PtcVM *vm, const PtcValue *argv, int64_t *radix)
{
    return ptc_arg_int(vm, argv, 1, radix);
}

PTC_BUILTIN(char_digit, "Character", "digit", 2, 2, 0, "(Character/digit c radix)",
            "The value of a digit in a radix from 2 to 36; -1 when it is none.",
            "(Character/digit \\7 10) => 7\n(Character/digit \\f 16) => 15\n"
            "(Character/digit \\9 8) => -1\n(Character/digit \"77\" 10) !! type_error")
{
    uint32_t c;
    int64_t radix;
    if (!arg_char(vm, argv, &c) || !arg_radix(vm, argv, &radix))
        return false;
    int64_t n = numeric_value(c);
    return ptc_give(out, ptc_int(radix >= 2 && radix <= 36 && n < radix ? n : -1));
}

PTC_BUILTIN(char_for_digit, "Character", "forDigit", 2, 2, 0, "(Character/forDigit n radix)",
            "The digit for a number below the radix, in small letters; else the character 0.",
            "(Character/forDigit 11 16) => \"b\"\n(int (Character/forDigit 16 16)) => 0\n"
            "(Character/forDigit nil 10) !! type_error")
{
    int64_t n, radix;
    if (!ptc_arg_int(vm, argv, 0, &n) || !arg_radix(vm, argv, &radix))
        return false;
    bool fits = radix >= 2 && radix <= 36 && n >= 0 && n < radix;
    char c = fits ? "0123456789abcdefghijklmnopqrstuvwxyz"[n] : 0;
    return ptc_give(out, ptc_str_new(vm->heap, &c, 1));
}

/* A character as a string, of a string or the number of a code point. */
static bool char_text(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    uint32_t c;
    char bytes[4];
    if (!arg_char(vm, argv, &c))
        return false;
    if (ptc_is_string(argv[0]))
        return ptc_give(out, argv[0]);
    size_t n = ptc_utf8_encode(c, bytes);
    return n ? ptc_give(out, ptc_str_new(vm->heap, bytes, n))
             : ptc_fail_type(vm, argv, 0, "one character");
}

PTC_BUILTIN_EXPR(char_to_string, "Character", "toString", 1, 1, 0, "(Character/toString c)",
                 "The character as a string, also of the number of a code point.",
                 "(Character/toString \\a) => \"a\"\n(Character/toString 97) => \"a\"\n"
                 "(Character/toString \"ab\") !! type_error",
                 char_text(vm, argv, out))

PTC_BUILTIN_EXPR(char_value_of, "Character", "valueOf", 1, 1, 0, "(Character/valueOf c)",
                 "The character itself.",
                 "(Character/valueOf \\a) => \"a\"\n(Character/valueOf nil) !! type_error",
                 char_text(vm, argv, out))

PTC_BUILTIN(char_compare, "Character", "compare", 2, 2, 0, "(Character/compare a b)",
            "How far the code of one character is from that of another.",
            "(Character/compare \\c \\a) => 2\n(Character/compare \\a nil) !! type_error")
{
    uint32_t a, b;
    if (!arg_char(vm, argv, &a))
        return false;
    PtcValue other[1] = {argv[1]};
    return arg_char(vm, other, &b) && ptc_give(out, ptc_int((int64_t)a - (int64_t)b));
}

/* ------------------------------------------------------------------------------ UUID */

PTC_BUILTIN(
    uuid_from_string, "UUID", "fromString", 1, 1, 0, "(java.util.UUID/fromString s)",
    "The UUID in a string, as a string in lower case; anything else is an error.",
    "(java.util.UUID/fromString \"B6883C0A-0342-4007-9966-BC2DFA6B109E\") => "
    "\"b6883c0a-0342-4007-9966-bc2dfa6b109e\"\n"
    "(java.util.UUID/fromString \"x\") !! value_error\n(java.util.UUID/fromString 5) !! type_error")
{
    if (!ptc_as(vm, "clojure.core/parse-uuid", argc, argv, out))
        return false;
    if (*out != PTC_NIL)
        return true;
    ptc_fail(vm, PTC_E_VALUE, "UUID/fromString: the string is not a UUID");
    return ptc_fail_hint(vm, "(parse-uuid s) gives nil instead of an error");
}

PTC_BUILTIN_EXPR(uuid_random, "UUID", "randomUUID", 0, 0, PTC_B_EFFECT,
                 "(java.util.UUID/randomUUID)", "The same as random-uuid.",
                 "(uuid? (java.util.UUID/randomUUID)) => true",
                 ptc_as(vm, "clojure.core/random-uuid", 0, argv, out))

/* ---------------------------------------------------------------------------- String */

PTC_BUILTIN(string_new, "clojure.core", "String.", 0, 1, 0, "(String. s)",
            "A string, or a sequence of characters as one.",
            "(String. \"ab\") => \"ab\"\n(String. [\\a \\b]) => \"ab\"\n(String. 5) !! type_error")
{
    if (argc == 0)
        return ptc_give(out, ptc_str_new(vm->heap, "", 0));
    if (ptc_is_string(argv[0]))
        return ptc_give(out, argv[0]);
    if (!ptc_is_sequential(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string or a sequence of characters");
    return ptc_as(vm, "clojure.string/join", argc, argv, out);
}

PTC_BUILTIN(string_value_of, "String", "valueOf", 1, 1, 0, "(String/valueOf x)",
            "The text of a value, as str gives it; nil is null.",
            "(String/valueOf 5) => \"5\"\n(String/valueOf :a) => \":a\"\n"
            "(String/valueOf nil) => \"null\"\n(String/valueOf) !! arity_error")
{
    if (argv[0] == PTC_NIL)
        return ptc_give(out, ptc_str_new(vm->heap, "null", 4));
    return ptc_as(vm, "clojure.core/str", argc, argv, out);
}

PTC_BUILTIN(string_format, "String", "format", 1, -1, 0, "(String/format template & args)",
            "The same as format; the arguments may be in one vector.",
            "(String/format \"%s-%d\" \"a\" 5) => \"a-5\"\n"
            "(String/format \"%s-%d\" [\"a\" 5]) => \"a-5\"\n"
            "(String/format nil) !! type_error")
{
    enum { CLASS_MOST = 32 };
    PtcValue args[CLASS_MOST + 1] = {argv[0]};
    if (argc != 2 || !ptc_is_sequential(argv[1]) || ptc_is_seq_flagged(argv[1]))
        return ptc_as(vm, "clojure.core/format", argc, argv, out);
    size_t n = ptc_seq_count(argv[1]);
    if (n > CLASS_MOST)
        return ptc_fail(vm, PTC_E_VALUE, "String/format: %zu arguments in a vector, at most %d", n,
                        (int)CLASS_MOST);
    for (size_t i = 0; i < n; i++)
        args[i + 1] = ptc_seq_nth(argv[1], i);
    return ptc_as(vm, "clojure.core/format", (int)n + 1, args, out);
}

PTC_BUILTIN(string_join, "String", "join", 2, -1, 0, "(String/join separator coll)",
            "The texts of all elements, or of several arguments, with the separator between them.",
            "(String/join \", \" [\"a\" \"b\"]) => \"a, b\"\n"
            "(String/join \"-\" \"a\" \"b\") => \"a-b\"\n(String/join nil [\"a\"]) !! type_error")
{
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string");
    if (argc == 2 && !ptc_is_string(argv[1]))
        return ptc_as(vm, "clojure.string/join", argc, argv, out);
    PtcValue args[2] = {argv[0], ptc_vec_new(vm->heap, argv + 1, (size_t)argc - 1, 0)};
    return args[1] != PTC_NONE && ptc_as(vm, "clojure.string/join", 2, args, out);
}

/* --------------------------------------------------------------------------- numbers */

/* A number is itself, a string is parsed. */
static bool parse_java_value(PtcVM *vm, int argc, const PtcValue *argv, const char *parse,
                             PtcValue *out)
{
    return argc == 1 && ptc_is_integer(argv[0]) ? ptc_give(out, argv[0])
                                                : ptc_as(vm, parse, argc, argv, out);
}

PTC_BUILTIN_EXPR(integer_value_of, "Integer", "valueOf", 1, 2, 0, "(Integer/valueOf x radix?)",
                 "An integer itself, or the integer of 32 bits that a string spells.",
                 "(Integer/valueOf \"42\") => 42\n(Integer/valueOf 42) => 42\n"
                 "(Integer/valueOf \"x\") !! value_error\n(Integer/valueOf nil) !! type_error",
                 parse_java_value(vm, argc, argv, "Integer/parseInt", out))
PTC_BUILTIN_ROW(integer_new, run_integer_value_of, "clojure.core", "Integer.", 1, 1, 0,
                "(Integer. x)", "The same as Integer/valueOf.",
                "(Integer. \"42\") => 42\n(Integer. \"x\") !! value_error");

PTC_BUILTIN_EXPR(long_value_of, "Long", "valueOf", 1, 2, 0, "(Long/valueOf x radix?)",
                 "An integer itself, or the integer of 64 bits that a string spells.",
                 "(Long/valueOf \"42\") => 42\n(Long/valueOf \"4.2\") !! value_error",
                 parse_java_value(vm, argc, argv, "Long/parseLong", out))
PTC_BUILTIN_ROW(long_new, run_long_value_of, "clojure.core", "Long.", 1, 1, 0, "(Long. x)",
                "The same as Long/valueOf.", "(Long. \"42\") => 42\n(Long. \"x\") !! value_error");

PTC_BUILTIN(double_value_of, "Double", "valueOf", 1, 1, 0, "(Double/valueOf x)",
            "A number as a float, or the float that a string spells.",
            "(Double/valueOf \"4.5\") => 4.5\n(Double/valueOf 4) => 4.0\n"
            "(Double/valueOf \"x\") !! value_error")
{
    double d;
    if (ptc_is_number(argv[0]))
        return ptc_arg_double(vm, argv, 0, &d) && ptc_give(out, ptc_float_new(vm->heap, d));
    return ptc_as(vm, "Double/parseDouble", argc, argv, out);
}
PTC_BUILTIN_ROW(double_new, run_double_value_of, "clojure.core", "Double.", 1, 1, 0, "(Double. x)",
                "The same as Double/valueOf.",
                "(Double. \"4.5\") => 4.5\n(Double. \"x\") !! value_error");

PTC_BUILTIN(boolean_value_of, "Boolean", "valueOf", 1, 1, 0, "(Boolean/valueOf x)",
            "A boolean itself, or whether a string says true.",
            "(Boolean/valueOf \"True\") => true\n(Boolean/valueOf false) => false\n"
            "(Boolean/valueOf 1) !! type_error")
{
    if (ptc_is_bool(argv[0]))
        return ptc_give(out, argv[0]);
    return ptc_as(vm, "Boolean/parseBoolean", argc, argv, out);
}

PTC_BUILTIN_EXPR(system_line_separator, "System", "lineSeparator", 0, 0, 0,
                 "(System/lineSeparator)", "What ends a line: a line feed on every machine.",
                 "(System/lineSeparator) => \"\\n\"\n(System/lineSeparator 1) !! arity_error",
                 ptc_give(out, ptc_str_new(vm->heap, "\n", 1)))

PTC_BUILTIN(
    system_get_property, "System", "getProperty", 1, 2, 0, "(System/getProperty key default?)",
    "A line feed for \"line.separator\"; programs see nothing else of a system, so all other "
    "properties are the default, or nil.",
    "(System/getProperty \"line.separator\") => \"\\n\"\n"
    "(System/getProperty \"user.home\" \"none\") => \"none\"\n"
    "(System/getProperty \"user.home\") => nil\n(System/getProperty 5) !! type_error")
{
    if (!ptc_is_string(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string");
    if (ptc_text_is(ptc_str_text(argv[0]), "line.separator"))
        return ptc_give(out, ptc_str_new(vm->heap, "\n", 1));
    return ptc_give(out, argc == 2 ? argv[1] : PTC_NIL);
}

PTC_BUILTIN_TABLE(ptc_lib_interop_class, char_is_letter, char_is_alphabetic, char_is_digit,
                  char_is_letter_or_digit, char_is_upper, char_is_lower, char_is_space,
                  char_to_upper, char_to_lower, char_numeric, string_value_of, string_format,
                  string_join, integer_value_of, long_value_of, double_value_of, boolean_value_of,
                  char_is_space_char, char_is_old_space, char_is_control, char_is_title, char_digit,
                  char_for_digit, char_to_string, char_value_of, char_compare, uuid_from_string,
                  uuid_random, integer_new, long_new, double_new, string_new, system_line_separator,
                  system_get_property);
