/* SPDX-License-Identifier: MIT
 * Strings: parts, search, replacing, case.  Positions and lengths count graphemes; where one byte is
 * one grapheme (ptc_str_simple) they are byte offsets and nothing is walked. */
#define _GNU_SOURCE /* memmem */
#include <utf8proc.h>

#include "base/utf8.h"
#include "lisp/lib/regex.h"

/* Charges for a look at so many bytes. */
static bool tick_bytes(PtcVM *vm, size_t n)
{
    return ptc_tick(&vm->budget, 1 + (int64_t)(n / 64));
}

/* Bytes from .. to of a string. */
static bool give_part(PtcVM *vm, PtcValue str, size_t from, size_t to, PtcValue *out)
{
    if (from == 0 && to == ptc_str_len(str))
        return ptc_give(out, str);
    return ptc_give(out, ptc_str_new(vm->heap, ptc_str_bytes(str) + from, to - from));
}

/* Appends bytes from .. to of a string to a vector being built. */
static bool add_part(PtcVM *vm, PtcValue build, PtcValue str, size_t from, size_t to)
{
    PtcValue part;
    return give_part(vm, str, from, to, &part) && ptc_build_add(vm->heap, build, part) &&
           tick_bytes(vm, to - from);
}

/* Ends work in a scratch buffer: its text, or false when something failed before. */
static bool give_buf(PtcVM *vm, PtcBuf *buf, bool ok, PtcValue *out)
{
    if (!ptc_buf_ok(buf))
        ok = ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    ok = ok && ptc_give(out, ptc_str_take(vm->heap, buf));
    ptc_buf_deinit(buf);
    return ok;
}

static bool arg_str(PtcVM *vm, const PtcValue *argv, int i)
{
    return ptc_is_string(argv[i]) || ptc_fail_type(vm, argv, i, "a string");
}

static bool arg_strs(PtcVM *vm, int argc, const PtcValue *argv)
{
    for (int i = 0; i < argc; i++)
        if (!arg_str(vm, argv, i))
            return false;
    return true;
}

/* The bytes of `count` graphemes from offset `from`, fewer at the end. */
static bool skip(PtcVM *vm, PtcValue str, size_t from, uint64_t count, size_t *out)
{
    const char *bytes = ptc_str_bytes(str);
    size_t len = ptc_str_len(str), at = from;
    if (ptc_str_simple(str)) {
        *out = count < len - from ? from + (size_t)count : len;
        return true;
    }
    for (; count > 0 && at < len; count--) {
        at += ptc_utf8_grapheme(bytes + at, len - at);
        if (!ptc_tick(&vm->budget, 1))
            return false;
    }
    *out = at;
    return true;
}

PTC_BUILTIN(
    core_subs, "clojure.core", "subs", 2, 3, 0, "(subs s start end?)",
    "The part of a string from position start to before end, cut to what there is.",
    "(subs \"hello\" 1 3) => \"el\"\n(subs \"hello\" 2) => \"llo\"\n(subs \"abc\" 2 99) => \"c\"\n"
    "(subs 1 2) !! type_error")
{
    int64_t start, end = INT64_MAX;
    size_t from = 0, to = 0;
    if (!arg_str(vm, argv, 0) || !ptc_arg_int(vm, argv, 1, &start) ||
        (argc == 3 && !ptc_arg_int(vm, argv, 2, &end)))
        return false;
    if (start < 0 || end <= start)
        return ptc_give(out, ptc_str_new(vm->heap, "", 0));
    if (!skip(vm, argv[0], 0, (uint64_t)start, &from) ||
        !skip(vm, argv[0], from, (uint64_t)(end - start), &to))
        return false;
    return give_part(vm, argv[0], from, to, out);
}

/* ---------------------------------------------------------------------- search */

static const char *search(const char *in, size_t len, PtcValue part)
{
    return memmem(in, len, ptc_str_bytes(part), ptc_str_len(part));
}

/* Where part stands in a simple string: first at or after from, or last at or before it; else -1. */
static bool find_bytes(PtcVM *vm, PtcValue str, PtcValue part, int64_t from, bool last, int64_t *at)
{
    const char *s = ptc_str_bytes(str), *p = ptc_str_bytes(part);
    size_t len = ptc_str_len(str), n = ptc_str_len(part);
    *at = -1;
    if (n > len)
        return true;
    if (!last) {
        size_t start = from < 0 ? 0 : (uint64_t)from > len ? len : (size_t)from;
        const char *hit = search(s + start, len - start, part);
        *at = hit ? hit - s : -1;
        return tick_bytes(vm, len - start);
    }
    for (int64_t i = from < (int64_t)(len - n) ? from : (int64_t)(len - n); i >= 0; i--) {
        if (n == 0 || (s[i] == p[0] && memcmp(s + i, p, n) == 0)) {
            *at = i;
            return true;
        }
        if (!tick_bytes(vm, s[i] == p[0] ? n : 0))
            return false;
    }
    return true;
}

/* The same for any string, in graphemes; a match begins where a grapheme does. */
static bool find_graphemes(PtcVM *vm, PtcValue str, PtcValue part, int64_t from, bool last,
                           int64_t *at)
{
    const char *p = ptc_str_bytes(str), *end = p + ptc_str_len(str);
    size_t n = ptc_str_len(part);
    *at = -1;
    for (int64_t i = 0;; i++) {
        bool here = (size_t)(end - p) >= n && memcmp(p, ptc_str_bytes(part), n) == 0;
        if (here && (last ? i <= from : i >= from || p == end))
            *at = i;
        if (p == end || (*at >= 0 && !last) || (last && i >= from))
            return true;
        p += ptc_utf8_grapheme(p, (size_t)(end - p));
        if (!tick_bytes(vm, n))
            return false;
    }
}

static bool find_position(PtcVM *vm, int argc, const PtcValue *argv, bool last, PtcValue *out)
{
    int64_t from = last ? INT64_MAX : 0, at;
    if (!arg_strs(vm, 2, argv) || (argc == 3 && !ptc_arg_int(vm, argv, 2, &from)))
        return false;
    if (!(ptc_str_simple(argv[0]) ? find_bytes : find_graphemes)(vm, argv[0], argv[1], from, last,
                                                                 &at))
        return false;
    *out = at < 0 ? PTC_NIL : ptc_int(at);
    return true;
}

PTC_BUILTIN(
    string_index_of, "clojure.string", "index-of", 2, 3, 0, "(index-of s part from?)",
    "The position of the first occurrence of a part, at or after from; nil when there is none.",
    "(index-of \"willow\" \"l\") => 2\n(index-of \"willow\" \"l\" 3) => 3\n"
    "(index-of \"willow\" \"z\") => nil\n(index-of nil \"a\") !! type_error")
{
    return find_position(vm, argc, argv, false, out);
}

PTC_BUILTIN(
    string_last_index_of, "clojure.string", "last-index-of", 2, 3, 0,
    "(last-index-of s part from?)",
    "The position of the last occurrence of a part, at or before from; nil when there is none.",
    "(last-index-of \"willow\" \"l\") => 3\n(last-index-of \"willow\" \"l\" 2) => 2\n"
    "(last-index-of \"willow\" \"z\") => nil\n(last-index-of \"abc\" 1) !! type_error")
{
    return find_position(vm, argc, argv, true, out);
}

PTC_BUILTIN(string_includes, "clojure.string", "includes?", 2, 2, 0, "(includes? s part)",
            "Does the string contain this part?",
            "(includes? \"willow\" \"ill\") => true\n(includes? \"willow\" \"x\") => false\n"
            "(includes? [\"a\"] \"a\") !! type_error")
{
    if (!arg_strs(vm, argc, argv) || !tick_bytes(vm, ptc_str_len(argv[0])))
        return false;
    *out = ptc_bool(search(ptc_str_bytes(argv[0]), ptc_str_len(argv[0]), argv[1]) != NULL);
    return true;
}

/* Does part stand at byte offset `at`? */
static bool stands_at(PtcValue str, size_t at, PtcValue part)
{
    return memcmp(ptc_str_bytes(str) + at, ptc_str_bytes(part), ptc_str_len(part)) == 0;
}

PTC_BUILTIN(string_starts_with, "clojure.string", "starts-with?", 2, 2, 0, "(starts-with? s start)",
            "Does the string begin with this text?",
            "(starts-with? \"undo\" \"un\") => true\n(starts-with? \"redo\" \"un\") => false\n"
            "(starts-with? nil \"a\") !! type_error")
{
    if (!arg_strs(vm, argc, argv))
        return false;
    *out = ptc_bool(ptc_str_len(argv[0]) >= ptc_str_len(argv[1]) && stands_at(argv[0], 0, argv[1]));
    return true;
}

PTC_BUILTIN(string_ends_with, "clojure.string", "ends-with?", 2, 2, 0, "(ends-with? s end)",
            "Does the string end with this text?",
            "(ends-with? \"a.csv\" \".csv\") => true\n(ends-with? \"a.csv\" \".txt\") => false\n"
            "(ends-with? \"a\" 1) !! type_error")
{
    if (!arg_strs(vm, argc, argv))
        return false;
    size_t len = ptc_str_len(argv[0]), n = ptc_str_len(argv[1]);
    *out = ptc_bool(len >= n && stands_at(argv[0], len - n, argv[1]));
    return true;
}

/* ----------------------------------------------------------------------- split */

/* Parts on their way into a vector.  Empty ones at the end are dropped unless a limit was given. */
typedef struct {
    PtcVM *vm;
    PtcValue str, build;
    size_t from;    /* where the next part begins */
    size_t empties; /* empty parts not added yet */
    bool keep_empty;
} Parts;

static bool parts_add(Parts *p, size_t to)
{
    if (to == p->from && !p->keep_empty) {
        p->empties++;
        return true;
    }
    for (; p->empties > 0; p->empties--)
        if (!add_part(p->vm, p->build, p->str, 0, 0))
            return false;
    return add_part(p->vm, p->build, p->str, p->from, to);
}

/* Splits at every sep, or after every grapheme when sep is empty, into at most `most` parts (0: any). */
static bool split_all(Parts *p, PtcValue sep, size_t most)
{
    const char *bytes = ptc_str_bytes(p->str);
    size_t len = ptc_str_len(p->str), n = ptc_str_len(sep);
    for (size_t made = 1; most == 0 || made < most; made++) {
        size_t left = len - p->from;
        const char *hit =
            n ? search(bytes + p->from, left, sep)
              : bytes + p->from + (left ? ptc_utf8_grapheme(bytes + p->from, left) : 0);
        if (!hit || (n == 0 && left == 0))
            break;
        if (!parts_add(p, (size_t)(hit - bytes)) ||
            !tick_bytes(p->vm, (size_t)(hit - bytes) - p->from))
            return false;
        p->from = (size_t)(hit - bytes) + n;
    }
    return parts_add(p, len);
}

PTC_BUILTIN(
    string_split, "clojure.string", "split", 2, 3, 0, "(split s separator limit?)",
    "A vector of the parts of a string between separators (a string or regex), at most limit of "
    "them; without a limit, empty parts at the end are left out.",
    "(split \"a,b,,c\" \",\") => [\"a\" \"b\" \"\" \"c\"]\n(split \"a,b,c\" \",\" 2) => [\"a\" "
    "\"b,c\"]\n"
    "(split \"a1b22c\" #\"\\d+\") => [\"a\" \"b\" \"c\"]\n"
    "(split \"abc\" \"\") => [\"a\" \"b\" \"c\"]\n(split nil \",\") !! type_error")
{
    int64_t limit = 0;
    if (!arg_str(vm, argv, 0) || (argc == 3 && !ptc_arg_int(vm, argv, 2, &limit)))
        return false;
    if (ptc_is_regex(argv[1]))
        return ptc_regex_split(vm, argv[0], argv[1], limit, out);
    if (!ptc_is_string(argv[1]))
        return ptc_fail_type(vm, argv, 1, "a regex or string");
    Parts p = {
        .vm = vm, .str = argv[0], .build = ptc_build_new(vm->heap), .keep_empty = limit != 0};
    if (p.build == PTC_NONE)
        return false;
    if (ptc_str_len(argv[0]) == 0)
        p.keep_empty = true;
    return split_all(&p, argv[1], limit > 0 ? (size_t)limit : 0) &&
           ptc_give(out, ptc_build_done(vm->heap, p.build, 0));
}

PTC_BUILTIN(string_split_lines, "clojure.string", "split-lines", 1, 1, 0, "(split-lines s)",
            "A vector of the lines of a string, without empty ones at the end.",
            "(split-lines \"a\\nb\\r\\n\\nc\\n\") => [\"a\" \"b\" \"\" \"c\"]\n(split-lines \"\") "
            "=> [\"\"]\n"
            "(split-lines nil) !! type_error")
{
    PTC_UNUSED(argc);
    if (!arg_str(vm, argv, 0))
        return false;
    const char *bytes = ptc_str_bytes(argv[0]), *hit;
    size_t len = ptc_str_len(argv[0]);
    Parts p = {.vm = vm, .str = argv[0], .build = ptc_build_new(vm->heap), .keep_empty = len == 0};
    if (p.build == PTC_NONE)
        return false;
    while (p.from < len && (hit = memchr(bytes + p.from, '\n', len - p.from)) != NULL) {
        size_t end = (size_t)(hit - bytes);
        if (!parts_add(&p, end > p.from && hit[-1] == '\r' ? end - 1 : end) ||
            !tick_bytes(vm, end - p.from))
            return false;
        p.from = end + 1;
    }
    return parts_add(&p, len) && ptc_give(out, ptc_build_done(vm->heap, p.build, 0));
}

/* ------------------------------------------------------------------------ trim */

/* White space as Clojure's trim sees it: no-break spaces are text. */
static bool is_space(uint32_t c)
{
    if (c <= ' ')
        return c == ' ' || (c >= '\t' && c <= '\r') || c >= 0x1c;
    return c >= 0x1680 && (c == 0x1680 || (c >= 0x2000 && c <= 0x200a && c != 0x2007) ||
                           c == 0x2028 || c == 0x2029 || c == 0x205f || c == 0x3000);
}

static bool is_newline(uint32_t c)
{
    return c == '\n' || c == '\r';
}

/* Cuts characters that `cut` holds for from either end. */
static bool trim_by(PtcVM *vm, PtcValue str, bool (*cut)(uint32_t), bool left, bool right,
                    PtcValue *out)
{
    const char *bytes = ptc_str_bytes(str);
    size_t from = 0, to = ptc_str_len(str), n;
    uint32_t c;
    while (left && from < to && (n = ptc_utf8_decode(bytes + from, to - from, &c), cut(c)))
        from += n;
    while (right && from < to) {
        n = 1;
        while (n < 4 && to - n > from && ((unsigned char)bytes[to - n] & 0xc0) == 0x80)
            n++;
        ptc_utf8_decode(bytes + to - n, n, &c);
        if (!cut(c))
            break;
        to -= n;
    }
    return tick_bytes(vm, ptc_str_len(str)) && give_part(vm, str, from, to, out);
}

PTC_BUILTIN(string_trim, "clojure.string", "trim", 1, 1, 0, "(trim s)",
            "The string without white space at both ends.",
            "(trim \" \\t a b \\n\") => \"a b\"\n(trim \"\") => \"\"\n(trim nil) !! type_error")
{
    return arg_strs(vm, argc, argv) && trim_by(vm, argv[0], is_space, true, true, out);
}

PTC_BUILTIN(string_triml, "clojure.string", "triml", 1, 1, 0, "(triml s)",
            "The string without white space at its beginning.",
            "(triml \"  a \") => \"a \"\n(triml 5) !! type_error")
{
    return arg_strs(vm, argc, argv) && trim_by(vm, argv[0], is_space, true, false, out);
}

PTC_BUILTIN(string_trimr, "clojure.string", "trimr", 1, 1, 0, "(trimr s)",
            "The string without white space at its end.",
            "(trimr \"  a \") => \"  a\"\n(trimr [\"a \"]) !! type_error")
{
    return arg_strs(vm, argc, argv) && trim_by(vm, argv[0], is_space, false, true, out);
}

PTC_BUILTIN(string_trim_newline, "clojure.string", "trim-newline", 1, 1, 0, "(trim-newline s)",
            "The string without newlines and carriage returns at its end.",
            "(trim-newline \"a \\r\\n\\n\") => \"a \"\n(trim-newline \"\\na\") => \"\\na\"\n"
            "(trim-newline nil) !! type_error")
{
    return arg_strs(vm, argc, argv) && trim_by(vm, argv[0], is_newline, false, true, out);
}

PTC_BUILTIN(string_blank, "clojure.string", "blank?", 1, 1, 0, "(blank? s)",
            "Is the string nil, empty or only white space?",
            "(blank? \" \\n\") => true\n(blank? nil) => true\n(blank? \" a \") => false\n(blank? "
            "5) !! type_error")
{
    PtcValue rest;
    if (argv[0] == PTC_NIL)
        return ptc_give(out, PTC_TRUE);
    if (!arg_strs(vm, argc, argv) || !trim_by(vm, argv[0], is_space, true, false, &rest))
        return false;
    *out = ptc_bool(ptc_str_len(rest) == 0);
    return true;
}

/* --------------------------------------------------------------------- replace */

/* How often part stands in str, up to `most` times; with an empty part, how many gaps there are. */
static bool count_parts(PtcVM *vm, PtcValue str, PtcValue part, size_t most, size_t *count)
{
    const char *p = ptc_str_bytes(str), *end = p + ptc_str_len(str);
    size_t n = ptc_str_len(part);
    for (*count = 0; *count < most; ++*count) {
        const char *hit = n ? search(p, (size_t)(end - p), part) : p;
        if (!hit || !tick_bytes(vm, (size_t)(hit - p)))
            break;
        if (n == 0 && p == end) {
            ++*count;
            break;
        }
        p = n ? hit + n : p + ptc_utf8_grapheme(p, (size_t)(end - p));
    }
    return tick_bytes(vm, (size_t)(end - p));
}

/* Writes str to `to` with the first `count` parts replaced. */
static void write_replaced(char *to, PtcValue str, PtcValue part, PtcValue by, size_t count)
{
    const char *p = ptc_str_bytes(str), *end = p + ptc_str_len(str);
    size_t n = ptc_str_len(part), k = ptc_str_len(by);
    for (; count > 0; count--) {
        const char *hit = n ? search(p, (size_t)(end - p), part) : p;
        memcpy(to, p, (size_t)(hit - p));
        memcpy(to + (hit - p), ptc_str_bytes(by), k);
        to += (size_t)(hit - p) + k;
        p = hit + n;
        if (n == 0 && p < end) {
            size_t g = ptc_utf8_grapheme(p, (size_t)(end - p));
            memcpy(to, p, g);
            to += g;
            p += g;
        }
    }
    memcpy(to, p, (size_t)(end - p));
}

static bool replace_text(PtcVM *vm, int argc, const PtcValue *argv, size_t most, PtcValue *out)
{
    size_t count, len;
    if (!arg_str(vm, argv, 0))
        return false;
    if (!ptc_is_string(argv[1]))
        return ptc_fail_type(vm, argv, 1, "a regex or string");
    if (!arg_strs(vm, argc, argv) || !count_parts(vm, argv[0], argv[1], most, &count))
        return false;
    if (count == 0)
        return ptc_give(out, argv[0]);
    if (__builtin_mul_overflow(count, ptc_str_len(argv[2]), &len) ||
        __builtin_add_overflow(len, ptc_str_len(argv[0]) - count * ptc_str_len(argv[1]), &len))
        return ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    PtcValue str = ptc_str_begin(vm->heap, PTC_T_STRING, len);
    if (str == PTC_NONE || !tick_bytes(vm, len))
        return false;
    write_replaced(ptc_str_room(str), argv[0], argv[1], argv[2], count);
    ptc_str_seal(str);
    return ptc_give(out, str);
}

/* By a function, for a regex: that calls back, so these builtins see to their own memory. */
static bool replace(PtcVM *vm, int argc, const PtcValue *argv, size_t most, PtcValue *out)
{
    if (ptc_is_string(argv[0]) && ptc_is_regex(argv[1]))
        return ptc_regex_replace(vm, argv, most, out);
    return replace_text(vm, argc, argv, most, out) ||
           (ptc_recover(vm) && replace_text(vm, argc, argv, most, out));
}

PTC_BUILTIN(
    string_replace, "clojure.string", "replace", 3, 3, PTC_B_CALLS, "(replace s part by)",
    "The string with every occurrence of a part, or every match of a regex, replaced. For a regex, "
    "the replacement may hold groups ($1) or be a function of the match.",
    "(replace \"a-b-c\" \"-\" \"+\") => \"a+b+c\"\n(replace \"ab\" \"\" \".\") => \".a.b.\"\n"
    "(replace \"x1y22\" #\"(\\d+)\" \"<$1>\") => \"x<1>y<22>\"\n"
    "(replace \"ab\" #\"[a-z]\" upper-case) => \"AB\"\n"
    "(replace nil \"a\" \"b\") !! type_error")
{
    return replace(vm, argc, argv, SIZE_MAX, out);
}

PTC_BUILTIN(
    string_replace_first, "clojure.string", "replace-first", 3, 3, PTC_B_CALLS,
    "(replace-first s part by)",
    "The string with the first occurrence of a part, or the first match of a regex, replaced.",
    "(replace-first \"a-b-c\" \"-\" \"+\") => \"a+b-c\"\n(replace-first \"abc\" \"x\" "
    "\"y\") => \"abc\"\n"
    "(replace-first \"a1b2\" #\"\\d\" \"#\") => \"a#b2\"\n"
    "(replace-first \"a\" \"a\" 1) !! type_error")
{
    return replace(vm, argc, argv, 1, out);
}

PTC_BUILTIN(
    string_reverse, "clojure.string", "reverse", 1, 1, 0, "(clojure.string/reverse s)",
    "The string with its characters in reverse order.",
    "(clojure.string/reverse \"abc\") => \"cba\"\n(clojure.string/reverse [1 2]) !! type_error")
{
    if (!arg_strs(vm, argc, argv))
        return false;
    size_t len = ptc_str_len(argv[0]), n;
    PtcValue str = ptc_str_begin(vm->heap, PTC_T_STRING, len);
    if (str == PTC_NONE)
        return false;
    const char *from = ptc_str_bytes(argv[0]);
    for (size_t at = 0; at < len; at += n) {
        n = ptc_str_simple(argv[0]) ? 1 : ptc_utf8_grapheme(from + at, len - at);
        memcpy(ptc_str_room(str) + len - at - n, from + at, n);
        if (!ptc_tick(&vm->budget, 1))
            return false;
    }
    ptc_str_seal(str);
    return ptc_give(out, str);
}

/* ------------------------------------------------------------------------ case */

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

static bool add_code(PtcBuf *buf, uint32_t code)
{
    char utf8[4];
    return ptc_buf_add(buf, utf8, ptc_utf8_encode(code, utf8));
}

static bool add_upper(PtcBuf *buf, uint32_t c)
{
    if (c >= 0x1f80 && c <= 0x1faf) /* Greek with iota below */
        return add_code(buf, (c < 0x1f90   ? 0x1f08
                              : c < 0x1fa0 ? 0x1f28
                                           : 0x1f68) +
                                 (c & 7)) &&
               add_code(buf, 0x399);
    size_t low = 0, high = sizeof long_upper / sizeof long_upper[0];
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (long_upper[mid].from < c)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == sizeof long_upper / sizeof long_upper[0] || long_upper[low].from != c)
        return add_code(buf, (uint32_t)utf8proc_toupper((utf8proc_int32_t)c));
    for (int i = 0; i < 3 && long_upper[low].to[i]; i++)
        if (!add_code(buf, long_upper[low].to[i]))
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
static bool word_goes_on(const char *p, size_t len)
{
    uint32_t c;
    for (size_t at = 0; at < len;) {
        at += ptc_utf8_decode(p + at, len - at, &c);
        int k = casing(c);
        if (k >= 0)
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
                  : c == 0x3a3 && in_word && !word_goes_on(p + at, len - at)
                      ? add_code(buf, 0x3c2)
                      : add_code(buf, (uint32_t)utf8proc_tolower((utf8proc_int32_t)c));
        if (!ok || !ptc_tick(&vm->budget, 1))
            return false;
        int k = upper ? 0 : casing(c);
        in_word = k < 0 ? in_word : k == 1;
    }
    return true;
}

static void write_ascii_cased(char *to, const char *from, size_t n, bool upper)
{
    for (size_t i = 0; i < n; i++) {
        char c = from[i];
        bool letter = upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
        to[i] = letter ? c ^ 0x20 : c;
    }
}

/* The first `first` bytes in upper case (or as `upper` says), the others in lower case. */
static bool change_case(PtcVM *vm, PtcValue str, size_t first, bool upper, PtcValue *out)
{
    const char *bytes = ptc_str_bytes(str);
    size_t len = ptc_str_len(str);
    if (ptc_str_simple(str)) {
        PtcValue to = ptc_str_begin(vm->heap, PTC_T_STRING, len);
        if (to == PTC_NONE || !tick_bytes(vm, len))
            return false;
        write_ascii_cased(ptc_str_room(to), bytes, first, upper);
        write_ascii_cased(ptc_str_room(to) + first, bytes + first, len - first, false);
        ptc_str_seal(to);
        return ptc_give(out, to);
    }
    PtcBuf buf;
    ptc_heap_buf_init(vm->heap, &buf);
    bool ok = add_cased(vm, &buf, bytes, first, upper) &&
              add_cased(vm, &buf, bytes + first, len - first, false);
    return give_buf(vm, &buf, ok, out);
}

static bool change_all(PtcVM *vm, const PtcValue *argv, bool upper, PtcValue *out)
{
    return arg_str(vm, argv, 0) && change_case(vm, argv[0], ptc_str_len(argv[0]), upper, out);
}

PTC_BUILTIN(string_upper_case, "clojure.string", "upper-case", 1, 1, 0, "(upper-case s)",
            "The string in upper case.",
            "(upper-case \"abc\") => \"ABC\"\n(upper-case nil) !! type_error")
{
    PTC_UNUSED(argc);
    return change_all(vm, argv, true, out);
}

PTC_BUILTIN(string_upcase, "clojure.string", "upcase", 1, 1, 0, "(upcase s)",
            "The string in upper case: another name of upper-case.",
            "(upcase \"a1-b\") => \"A1-B\"\n(upcase :abc) !! type_error")
{
    PTC_UNUSED(argc);
    return change_all(vm, argv, true, out);
}

PTC_BUILTIN(string_lower_case, "clojure.string", "lower-case", 1, 1, 0, "(lower-case s)",
            "The string in lower case.",
            "(lower-case \"ABC\") => \"abc\"\n(lower-case nil) !! type_error")
{
    PTC_UNUSED(argc);
    return change_all(vm, argv, false, out);
}

PTC_BUILTIN(string_downcase, "clojure.string", "downcase", 1, 1, 0, "(downcase s)",
            "The string in lower case: another name of lower-case.",
            "(downcase \"A1-B\") => \"a1-b\"\n(downcase 5) !! type_error")
{
    PTC_UNUSED(argc);
    return change_all(vm, argv, false, out);
}

PTC_BUILTIN(string_capitalize, "clojure.string", "capitalize", 1, 1, 0, "(capitalize s)",
            "The string with its first character in upper case and the others in lower case.",
            "(capitalize \"hELLO wORLD\") => \"Hello world\"\n(capitalize \"\") => \"\"\n"
            "(capitalize nil) !! type_error")
{
    PTC_UNUSED(argc);
    size_t first;
    return arg_str(vm, argv, 0) && skip(vm, argv[0], 0, 1, &first) &&
           change_case(vm, argv[0], first, true, out);
}

const PtcBuiltin *const ptc_lib_string[] = {&core_subs_def,
                                            &string_index_of_def,
                                            &string_last_index_of_def,
                                            &string_includes_def,
                                            &string_starts_with_def,
                                            &string_ends_with_def,
                                            &string_split_def,
                                            &string_split_lines_def,
                                            &string_trim_def,
                                            &string_triml_def,
                                            &string_trimr_def,
                                            &string_trim_newline_def,
                                            &string_blank_def,
                                            &string_replace_def,
                                            &string_replace_first_def,
                                            &string_reverse_def,
                                            &string_upper_case_def,
                                            &string_upcase_def,
                                            &string_lower_case_def,
                                            &string_downcase_def,
                                            &string_capitalize_def,
                                            NULL};
