/* SPDX-License-Identifier: MIT
 * Upper and lower case.  ASCII text is changed byte by byte; for the rest the rules of Unicode hold that need no
 * language: one letter may become several, and a sigma at the end of a word has a form of its own. */
#include <utf8proc.h>

#include "base/utf8.h"
#include "lisp/vm/builtin.h"
#include "value/str.h"

enum { ASCII_PART = 64 * PTC_KB };

/* Characters whose upper case is several. */
static const struct {
    uint16_t from, to[3];
} long_upper[] = {
    /* clang-format off */
    {0x00df, {0x0053, 0x0053, 0}}, {0x0149, {0x02bc, 0x004e, 0}},
    {0x01f0, {0x004a, 0x030c, 0}}, {0x0390, {0x0399, 0x0308, 0x0301}},
    {0x03b0, {0x03a5, 0x0308, 0x0301}}, {0x0587, {0x0535, 0x0552, 0}},
    {0x1e96, {0x0048, 0x0331, 0}}, {0x1e97, {0x0054, 0x0308, 0}},
    {0x1e98, {0x0057, 0x030a, 0}}, {0x1e99, {0x0059, 0x030a, 0}},
    {0x1e9a, {0x0041, 0x02be, 0}}, {0x1f50, {0x03a5, 0x0313, 0}},
    {0x1f52, {0x03a5, 0x0313, 0x0300}}, {0x1f54, {0x03a5, 0x0313, 0x0301}},
    {0x1f56, {0x03a5, 0x0313, 0x0342}}, {0x1fb2, {0x1fba, 0x0399, 0}},
    {0x1fb3, {0x0391, 0x0399, 0}}, {0x1fb4, {0x0386, 0x0399, 0}},
    {0x1fb6, {0x0391, 0x0342, 0}}, {0x1fb7, {0x0391, 0x0342, 0x0399}},
    {0x1fbc, {0x0391, 0x0399, 0}}, {0x1fc2, {0x1fca, 0x0399, 0}},
    {0x1fc3, {0x0397, 0x0399, 0}}, {0x1fc4, {0x0389, 0x0399, 0}},
    {0x1fc6, {0x0397, 0x0342, 0}}, {0x1fc7, {0x0397, 0x0342, 0x0399}},
    {0x1fcc, {0x0397, 0x0399, 0}}, {0x1fd2, {0x0399, 0x0308, 0x0300}},
    {0x1fd3, {0x0399, 0x0308, 0x0301}}, {0x1fd6, {0x0399, 0x0342, 0}},
    {0x1fd7, {0x0399, 0x0308, 0x0342}}, {0x1fe2, {0x03a5, 0x0308, 0x0300}},
    {0x1fe3, {0x03a5, 0x0308, 0x0301}}, {0x1fe4, {0x03a1, 0x0313, 0}},
    {0x1fe6, {0x03a5, 0x0342, 0}}, {0x1fe7, {0x03a5, 0x0308, 0x0342}},
    {0x1ff2, {0x1ffa, 0x0399, 0}}, {0x1ff3, {0x03a9, 0x0399, 0}},
    {0x1ff4, {0x038f, 0x0399, 0}}, {0x1ff6, {0x03a9, 0x0342, 0}},
    {0x1ff7, {0x03a9, 0x0342, 0x0399}}, {0x1ffc, {0x03a9, 0x0399, 0}},
    {0xfb00, {0x0046, 0x0046, 0}}, {0xfb01, {0x0046, 0x0049, 0}},
    {0xfb02, {0x0046, 0x004c, 0}}, {0xfb03, {0x0046, 0x0046, 0x0049}},
    {0xfb04, {0x0046, 0x0046, 0x004c}}, {0xfb05, {0x0053, 0x0054, 0}},
    {0xfb06, {0x0053, 0x0054, 0}}, {0xfb13, {0x0544, 0x0546, 0}},
    {0xfb14, {0x0544, 0x0535, 0}}, {0xfb15, {0x0544, 0x053b, 0}},
    {0xfb16, {0x054e, 0x0546, 0}}, {0xfb17, {0x0544, 0x053d, 0}},
    /* clang-format on */
};

static bool add_code_point(PtcBuf *buf, uint32_t code)
{
    char utf8[4];
    return ptc_buf_add(buf, utf8, ptc_utf8_encode(code, utf8));
}

static bool add_upper(PtcBuf *buf, uint32_t c)
{
    if (c >= 0x1f80 && c <= 0x1faf) /* Greek with iota below */
        return add_code_point(buf, (c < 0x1f90   ? 0x1f08
                                    : c < 0x1fa0 ? 0x1f28
                                                 : 0x1f68) +
                                       (c & 7)) &&
               add_code_point(buf, 0x399);
    size_t low = 0, high = sizeof long_upper / sizeof long_upper[0];
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (long_upper[mid].from < c)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == sizeof long_upper / sizeof long_upper[0] || long_upper[low].from != c)
        return add_code_point(buf, (uint32_t)utf8proc_toupper((utf8proc_int32_t)c));
    for (int i = 0; i < 3 && long_upper[low].to[i]; i++)
        if (!add_code_point(buf, long_upper[low].to[i]))
            return false;
    return true;
}

/* 1 for a letter with case, 0 for what stands between words, -1 for what words may hold. */
static int casing(uint32_t c)
{
    utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    if (k == UTF8PROC_CATEGORY_LU || k == UTF8PROC_CATEGORY_LL || k == UTF8PROC_CATEGORY_LT)
        return 1;
    return k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_ME || k == UTF8PROC_CATEGORY_CF ||
                   k == UTF8PROC_CATEGORY_LM || k == UTF8PROC_CATEGORY_SK || c == '\'' ||
                   c == 0x2019
               ? -1
               : 0;
}

/* Does a letter with case follow, before the word ends? */
static bool word_goes_on(PtcVM *vm, const char *p, size_t len)
{
    uint32_t c;
    for (size_t at = 0; at < len;) {
        at += ptc_utf8_decode(p + at, len - at, &c);
        int k = casing(c);
        if (k >= 0 || !ptc_tick(&vm->budget, 1))
            return k == 1;
    }
    return false;
}

/* Appends bytes in lower or upper case.  A sigma that ends a word has a form of its own. */
static bool add_cased(PtcVM *vm, PtcBuf *buf, const char *p, size_t len, bool upper)
{
    uint32_t c;
    bool in_word = false;
    for (size_t at = 0; at < len;) {
        at += ptc_utf8_decode(p + at, len - at, &c);
        bool ok = upper        ? add_upper(buf, c)
                  : c == 0x130 ? ptc_buf_add(buf, "i\xcc\x87", 3)
                  : c == 0x3a3 && in_word && !word_goes_on(vm, p + at, len - at)
                      ? add_code_point(buf, 0x3c2)
                      : add_code_point(buf, (uint32_t)utf8proc_tolower((utf8proc_int32_t)c));
        if (!ok || !ptc_tick(&vm->budget, 1))
            return false;
        int k = upper ? 0 : casing(c);
        in_word = k < 0 ? in_word : k == 1;
    }
    return true;
}

static bool write_ascii_cased(PtcVM *vm, char *to, const char *from, size_t n, bool upper)
{
    const char first = upper ? 'a' : 'A';
    for (size_t at = 0, end; at < n; at = end) {
        end = n - at < ASCII_PART ? n : at + ASCII_PART;
        for (size_t i = at; i < end; i++)
            to[i] = (char)(from[i] ^ ((unsigned char)(from[i] - first) < 26 ? 0x20 : 0));
        if (!ptc_tick_bytes(&vm->budget, end - at))
            return false;
    }
    return true;
}

/* The first `first` bytes in upper case (or as `upper` says), the others in lower case. */
static bool change_string_case(PtcVM *vm, PtcValue str, size_t first, bool upper, PtcValue *out)
{
    const char *bytes = ptc_str_bytes(str);
    size_t len = ptc_str_len(str);
    if (ptc_str_simple(str)) {
        PtcValue to = ptc_str_begin(vm->heap, PTC_T_STRING, len);
        if (to == PTC_NONE || !write_ascii_cased(vm, ptc_str_room(to), bytes, first, upper) ||
            !write_ascii_cased(vm, ptc_str_room(to) + first, bytes + first, len - first, false))
            return false;
        ptc_str_seal(to);
        return ptc_give(out, to);
    }
    PtcBuf buf;
    ptc_heap_buf_init(vm->heap, &buf);
    bool ok = add_cased(vm, &buf, bytes, first, upper) &&
              add_cased(vm, &buf, bytes + first, len - first, false);
    if (!ptc_buf_ok(&buf))
        ok = ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    ok = ok && ptc_give(out, ptc_str_take(vm->heap, &buf));
    ptc_buf_deinit(&buf);
    return ok;
}

static bool check_case_arg(PtcVM *vm, const PtcValue *argv)
{
    return ptc_is_string(argv[0]) || ptc_fail_type(vm, argv, 0, "a string");
}

static bool change_all(PtcVM *vm, const PtcValue *argv, bool upper, PtcValue *out)
{
    return check_case_arg(vm, argv) &&
           change_string_case(vm, argv[0], ptc_str_len(argv[0]), upper, out);
}

PTC_BUILTIN_EXPR(string_upper_case, "clojure.string", "upper-case", 1, 1,
                 PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(upper-case s)",
                 "The string in upper case.",
                 "(upper-case \"abc\") => \"ABC\"\n(upper-case nil) !! type_error",
                 change_all(vm, argv, true, out))

PTC_BUILTIN_EXPR(string_upcase, "clojure.string", "upcase", 1, 1,
                 PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(upcase s)",
                 "The string in upper case: another name of upper-case.",
                 "(upcase \"a1-b\") => \"A1-B\"\n(upcase :abc) !! type_error",
                 change_all(vm, argv, true, out))

PTC_BUILTIN_EXPR(string_lower_case, "clojure.string", "lower-case", 1, 1,
                 PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(lower-case s)",
                 "The string in lower case.",
                 "(lower-case \"ABC\") => \"abc\"\n(lower-case nil) !! type_error",
                 change_all(vm, argv, false, out))

PTC_BUILTIN_EXPR(string_downcase, "clojure.string", "downcase", 1, 1,
                 PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(downcase s)",
                 "The string in lower case: another name of lower-case.",
                 "(downcase \"A1-B\") => \"a1-b\"\n(downcase 5) !! type_error",
                 change_all(vm, argv, false, out))

PTC_BUILTIN(string_capitalize, "clojure.string", "capitalize", 1, 1,
            PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(capitalize s)",
            "The string with its first character in upper case and the others in lower case.",
            "(capitalize \"hELLO wORLD\") => \"Hello world\"\n(capitalize \"\") => \"\"\n"
            "(capitalize nil) !! type_error")
{
    if (!check_case_arg(vm, argv))
        return false;
    size_t len = ptc_str_len(argv[0]);
    size_t first = len ? ptc_utf8_grapheme(&vm->budget, ptc_str_bytes(argv[0]), len) : 0;
    return change_string_case(vm, argv[0], first, true, out);
}

PTC_BUILTIN_TABLE(ptc_lib_string_case, string_upper_case, string_upcase, string_lower_case,
                  string_downcase, string_capitalize);
