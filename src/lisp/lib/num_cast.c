/* SPDX-License-Identifier: MIT
 * Casts to Java's integers, and arithmetic that wraps around as theirs does. */
#include <math.h>

#include "base/ascii.h"
#include "base/text/uuid.h"
#include "lisp/lib/java/interop.h"
#include "lisp/number/num.h"
#include "lisp/vm/predicate.h"
#include "value/number/decimal.h"

/* The integer of any size that a string spells. */
static bool parse_whole(PtcVM *vm, PtcValue text, PtcValue *out)
{
    const char *p = ptc_str_bytes(text);
    size_t len = ptc_str_len(text), sign = len > 1 && (p[0] == '-' || p[0] == '+'), i = sign;
    while (i < len && ptc_ascii_is_digit(p[i]))
        i++;
    if (i == len && len > 0)
        return ptc_give(out, ptc_int_parse(vm->heap, p, len));
    return ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(NUMBER_FORMAT),
                         "the string does not spell an integer");
}

/* An integer of any size as it is, a float without its fraction. */
static bool to_bigint(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    if (ptc_is_string(argv[0]))
        return parse_whole(vm, argv[0], out);
    if (ptc_is_decimal(argv[0]))
        return ptc_give(out, ptc_decimal_to_int(vm->heap, argv[0]));
    if (!ptc_arg_number(vm, argv, 0))
        return false;
    if (ptc_is_integer(argv[0]))
        return ptc_give(out, argv[0]);
    double d = ptc_num_double(argv[0]);
    if (!isfinite(d))
        return ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(NUMBER_FORMAT),
                             "NaN and the infinities cannot be integers");
    PtcValue text = ptc_decimal_from_double(vm->heap, d); /* the digits that it shows, as Clojure */
    return text != PTC_NONE && ptc_give(out, ptc_decimal_to_int(vm->heap, text));
}

/* Within so many bits, or an error. */
static bool to_bits(PtcVM *vm, const PtcValue *argv, int bits, PtcValue *out)
{
    int64_t n;
    if (!ptc_as(vm, "clojure.core/long", 1, argv, out) || !ptc_int_get(*out, &n))
        return false;
    if (n >= -((int64_t)1 << (bits - 1)) && n < (int64_t)1 << (bits - 1))
        return true;
    return ptc_fail_here(vm, PTC_E_ARITH | PTC_AS(ILLEGAL_ARGUMENT),
                         "the number does not fit %d bits", bits);
}

/* The lowest bits of a number, with a sign. */
static int64_t wrapped(uint64_t n, int bits)
{
    return bits == 64 ? (int64_t)n : (int64_t)(n << (64 - bits)) >> (64 - bits);
}

/* A float that is too large becomes the largest long, or int where no more than its bits are wanted. */
static bool arg_wrapped(PtcVM *vm, const PtcValue *argv, int i, int bits, uint64_t *n)
{
    int64_t k;
    if (ptc_is_float(argv[i])) {
        double d = ptc_to_float(argv[i]), limit = bits == 64 ? 0x1p63 : 0x1p31;
        int64_t most = bits == 64 ? INT64_MAX : INT32_MAX;
        *n = isnan(d) ? 0 : (uint64_t)(d >= limit ? most : d < -limit ? -most - 1 : (int64_t)d);
        return true;
    }
    if (ptc_is_bigint(argv[i]) && !ptc_int_get(argv[i], &k)) {
        const PtcBig *big = (const PtcBig *)(uintptr_t)argv[i];
        *n = ptc_int_sign(argv[i]) < 0 ? 0 - big->limbs[0] : big->limbs[0];
        return true;
    }
    if (!ptc_arg_int(vm, argv, i, &k))
        return false;
    *n = (uint64_t)k;
    return true;
}

/* Floats have nothing to overflow: as +, - and * do it. */
static bool unchecked_float(PtcVM *vm, const PtcValue *argv, char op, PtcValue *out)
{
    double a, b = 1;
    bool two = op == '+' || op == '-' || op == '*';
    if (!ptc_arg_double(vm, argv, 0, &a) || (two && !ptc_arg_double(vm, argv, 1, &b)))
        return false;
    double d = op == '+' || op == 'i' ? a + b : op == '*' ? a * b : op == 'n' ? -a : a - b;
    return ptc_give(out, ptc_float_new(vm->heap, d));
}

static bool unchecked(PtcVM *vm, const PtcValue *argv, int bits, char op, PtcValue *out)
{
    uint64_t a, b = 0;
    bool two = op == '+' || op == '-' || op == '*' || op == '/' || op == '%';
    if (bits == 64 && strchr("+-*idn", op) &&
        (ptc_is_float(argv[0]) || (two && ptc_is_float(argv[1]))))
        return unchecked_float(vm, argv, op, out);
    if (!arg_wrapped(vm, argv, 0, bits, &a) || (two && !arg_wrapped(vm, argv, 1, bits, &b)))
        return false;
    int64_t x = wrapped(a, bits), y = wrapped(b, bits);
    if ((op == '/' || op == '%') && y == 0)
        return ptc_fail_here(vm, PTC_E_ARITH, "division by zero");
    uint64_t n = op == '+'   ? a + b
                 : op == '-' ? a - b
                 : op == '*' ? a * b
                 : op == 'i' ? a + 1
                 : op == 'd' ? a - 1
                 : op == 'n' ? 0 - a
                 : op == '/' ? (y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y))
                 : op == '%' ? (y == -1 ? 0 : (uint64_t)(x % y))
                             : a;
    return ptc_give(out, ptc_int_new(vm->heap, wrapped(n, bits)));
}

PTC_BUILTIN_EXPR(core_bigint, "clojure.core", "bigint", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER | PTC_IS_STRING) | PTC_GIVES(PTC_IS_INT), "(bigint x)",
                 "The number without its fraction, as an integer; integers have any size here.",
                 "(bigint 3.7) => 3\n(bigint \"12\") => 12\n(bigint nil) !! type_error",
                 to_bigint(vm, argv, out))
PTC_BUILTIN_EXPR(core_biginteger, "clojure.core", "biginteger", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER | PTC_IS_STRING) | PTC_GIVES(PTC_IS_INT), "(biginteger x)",
                 "The same as bigint.", "(biginteger 5) => 5\n(biginteger :a) !! type_error",
                 to_bigint(vm, argv, out))
PTC_BUILTIN_EXPR(new_big_integer, "clojure.core", "BigInteger.", 1, 2, 0, "(BigInteger. s radix?)",
                 "The integer that a string spells; within 64 bits when a radix is given.",
                 "(BigInteger. \"42\") => 42\n(BigInteger. \"x\") !! value_error",
                 argc == 2 || !ptc_is_string(argv[0])
                     ? ptc_as(vm, "Long/parseLong", argc, argv, out)
                     : parse_whole(vm, argv[0], out))
PTC_BUILTIN_EXPR(core_num, "clojure.core", "num", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_NUMBER), "(num x)",
                 "A number itself; anything else is an error.",
                 "(num 5) => 5\n(num \"5\") !! type_error",
                 ptc_arg_numeric(vm, argv, 0) && ptc_give(out, argv[0]))
PTC_BUILTIN_EXPR(core_short, "clojure.core", "short", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER | PTC_IS_STRING) | PTC_GIVES(PTC_IS_INT), "(short x)",
                 "The number without its fraction, within 16 bits.",
                 "(short 3.7) => 3\n(short 40000) !! arithmetic_error", to_bits(vm, argv, 16, out))
PTC_BUILTIN_EXPR(core_byte, "clojure.core", "byte", 1, 1,
                 PTC_TAKES(PTC_IS_NUMBER | PTC_IS_STRING) | PTC_GIVES(PTC_IS_INT), "(byte x)",
                 "The number without its fraction, within 8 bits.",
                 "(byte 3.7) => 3\n(byte 128) !! arithmetic_error", to_bits(vm, argv, 8, out))
#define WRAPPING(id, name_, argc_, args_, examples_, bits_, op_)                                   \
    PTC_BUILTIN_EXPR(                                                                              \
        core_unchecked_##id, "clojure.core", name_, argc_, argc_, 0, "(" name_ " " args_ ")",      \
        "As Java's integers of " #bits_ " bits do it: what does not fit wraps around.", examples_, \
        unchecked(vm, argv, bits_, op_, out))

WRAPPING(add, "unchecked-add", 2, "x y",
         "(unchecked-add 1 2) => 3\n(unchecked-add 9223372036854775807 1) => "
         "-9223372036854775808\n(unchecked-add 1 nil) !! type_error",
         64, '+')
WRAPPING(subtract, "unchecked-subtract", 2, "x y",
         "(unchecked-subtract 1 2) => -1\n(unchecked-subtract 1 nil) !! type_error", 64, '-')
WRAPPING(multiply, "unchecked-multiply", 2, "x y",
         "(unchecked-multiply 6 7) => 42\n(unchecked-multiply 1 nil) !! type_error", 64, '*')
WRAPPING(inc, "unchecked-inc", 1, "x", "(unchecked-inc 1) => 2\n(unchecked-inc nil) !! type_error",
         64, 'i')
WRAPPING(dec, "unchecked-dec", 1, "x", "(unchecked-dec 1) => 0\n(unchecked-dec nil) !! type_error",
         64, 'd')
WRAPPING(negate, "unchecked-negate", 1, "x",
         "(unchecked-negate 1) => -1\n(unchecked-negate nil) !! type_error", 64, 'n')
WRAPPING(add_int, "unchecked-add-int", 2, "x y",
         "(unchecked-add-int 1 2) => 3\n(unchecked-add-int 2147483647 1) => "
         "-2147483648\n(unchecked-add-int 1 nil) !! type_error",
         32, '+')
WRAPPING(subtract_int, "unchecked-subtract-int", 2, "x y",
         "(unchecked-subtract-int 1 2) => -1\n(unchecked-subtract-int 1 nil) !! type_error", 32,
         '-')
WRAPPING(multiply_int, "unchecked-multiply-int", 2, "x y",
         "(unchecked-multiply-int 6 7) => 42\n(unchecked-multiply-int 1 nil) !! type_error", 32,
         '*')
WRAPPING(inc_int, "unchecked-inc-int", 1, "x",
         "(unchecked-inc-int 1) => 2\n(unchecked-inc-int nil) !! type_error", 32, 'i')
WRAPPING(dec_int, "unchecked-dec-int", 1, "x",
         "(unchecked-dec-int 1) => 0\n(unchecked-dec-int nil) !! type_error", 32, 'd')
WRAPPING(negate_int, "unchecked-negate-int", 1, "x",
         "(unchecked-negate-int 1) => -1\n(unchecked-negate-int nil) !! type_error", 32, 'n')
PTC_BUILTIN_EXPR(core_unchecked_divide_int, "clojure.core", "unchecked-divide-int", 2, 2, 0,
                 "(unchecked-divide-int x y)", "As Java's integers of 32 bits do it.",
                 "(unchecked-divide-int 7 2) => 3\n(unchecked-divide-int 1 0) !! arithmetic_error",
                 unchecked(vm, argv, 32, '/', out))
PTC_BUILTIN_EXPR(
    core_unchecked_remainder_int, "clojure.core", "unchecked-remainder-int", 2, 2, 0,
    "(unchecked-remainder-int x y)", "As Java's integers of 32 bits do it.",
    "(unchecked-remainder-int 7 2) => 1\n(unchecked-remainder-int 1 0) !! arithmetic_error",
    unchecked(vm, argv, 32, '%', out))
PTC_BUILTIN_EXPR(core_unchecked_to_long, "clojure.core", "unchecked-long", 1, 1, 0,
                 "(unchecked-long x)", "The lowest 64 bits of a number, with a sign.",
                 "(unchecked-long 3.7) => 3\n(unchecked-long 18446744073709551621) => "
                 "5\n(unchecked-long nil) !! type_error",
                 unchecked(vm, argv, 64, '=', out))
PTC_BUILTIN_EXPR(
    core_unchecked_to_int, "clojure.core", "unchecked-int", 1, 1, 0, "(unchecked-int x)",
    "The lowest 32 bits of a number, with a sign.",
    "(unchecked-int 3.7) => 3\n(unchecked-int 4294967301) => 5\n(unchecked-int nil) !! type_error",
    unchecked(vm, argv, 32, '=', out))
PTC_BUILTIN_EXPR(
    core_unchecked_to_short, "clojure.core", "unchecked-short", 1, 1, 0, "(unchecked-short x)",
    "The lowest 16 bits of a number, with a sign.",
    "(unchecked-short 3.7) => 3\n(unchecked-short 65541) => 5\n(unchecked-short nil) !! type_error",
    unchecked(vm, argv, 16, '=', out))
PTC_BUILTIN_EXPR(
    core_unchecked_to_byte, "clojure.core", "unchecked-byte", 1, 1, 0, "(unchecked-byte x)",
    "The lowest 8 bits of a number, with a sign.",
    "(unchecked-byte 3.7) => 3\n(unchecked-byte 261) => 5\n(unchecked-byte nil) !! type_error",
    unchecked(vm, argv, 8, '=', out))
PTC_BUILTIN_EXPR(core_unchecked_to_double, "clojure.core", "unchecked-double", 1, 1, 0,
                 "(unchecked-double x)", "The same as double.",
                 "(unchecked-double 1) => 1.0\n(unchecked-double nil) !! type_error",
                 ptc_as(vm, "clojure.core/double", argc, argv, out))
PTC_BUILTIN_EXPR(core_unchecked_to_float, "clojure.core", "unchecked-float", 1, 1, 0,
                 "(unchecked-float x)", "The same as float.",
                 "(unchecked-float 1) => 1.0\n(unchecked-float nil) !! type_error",
                 ptc_as(vm, "clojure.core/double", argc, argv, out))
PTC_BUILTIN_EXPR(core_unchecked_to_char, "clojure.core", "unchecked-char", 1, 1, 0,
                 "(unchecked-char x)", "The same as char.",
                 "(unchecked-char 97) => \"a\"\n(unchecked-char nil) !! type_error",
                 ptc_as(vm, "clojure.core/char", argc, argv, out))

static bool is_uuid(PtcValue v)
{
    return ptc_is_string(v) && ptc_is_uuid(ptc_str_bytes(v), ptc_str_len(v));
}

PTC_PREDICATE(core_is_uuid, "uuid?", "Is it a string that spells a UUID.",
              "(uuid? \"b6883c0a-0342-4007-9966-bc2dfa6b109e\") => true\n(uuid? \"x\") => false",
              is_uuid(x))

/* The special forms of Clojure's compiler, whether or not they are special here. */
static bool is_special(PtcValue v)
{
    static const char *const names[] = {"&",
                                        ".",
                                        "case*",
                                        "catch",
                                        "def",
                                        "deftype*",
                                        "do",
                                        "finally",
                                        "fn*",
                                        "if",
                                        "import*",
                                        "let*",
                                        "letfn*",
                                        "loop*",
                                        "monitor-enter",
                                        "monitor-exit",
                                        "new",
                                        "quote",
                                        "recur",
                                        "reify*",
                                        "set!",
                                        "throw",
                                        "try",
                                        "var",
                                        "clojure.core/import*"};
    for (size_t i = 0; ptc_is(v, PTC_T_SYMBOL) && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], ptc_str_bytes(v)) == 0)
            return true;
    return false;
}

PTC_PREDICATE(core_is_special_symbol, "special-symbol?",
              "Is it the symbol of a special form of Clojure's compiler.",
              "(special-symbol? 'if) => true\n(special-symbol? 'when) => false\n(special-symbol? "
              ":if) => false",
              is_special(x))

PTC_BUILTIN_TABLE(ptc_lib_num_cast, core_bigint, core_biginteger, new_big_integer, core_num,
                  core_short, core_byte, core_unchecked_add, core_unchecked_subtract,
                  core_unchecked_multiply, core_unchecked_inc, core_unchecked_dec,
                  core_unchecked_negate, core_unchecked_add_int, core_unchecked_subtract_int,
                  core_unchecked_multiply_int, core_unchecked_inc_int, core_unchecked_dec_int,
                  core_unchecked_negate_int, core_unchecked_divide_int,
                  core_unchecked_remainder_int, core_unchecked_to_long, core_unchecked_to_int,
                  core_unchecked_to_short, core_unchecked_to_byte, core_unchecked_to_double,
                  core_unchecked_to_float, core_unchecked_to_char, core_is_uuid,
                  core_is_special_symbol);
