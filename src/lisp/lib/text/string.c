/* SPDX-License-Identifier: MIT
 * Strings: parts, search, replacing.  Positions and lengths count graphemes; where one byte is
 * one grapheme (ptc_str_simple) they are byte offsets and nothing is walked. */
#include "base/ascii.h"
#include "base/utf8.h"
#include "lisp/lazy/seq_int.h"
#include "lisp/lib/text/regex_find.h"
#include "lisp/prelude/prelude.h"
#include "lisp/vm/predicate.h"

/* Bytes from .. to of a string. */
static bool give_substring(PtcVM *vm, PtcValue str, size_t from, size_t to, PtcValue *out)
{
    if (from == 0 && to == ptc_str_len(str))
        return ptc_give(out, str);
    return ptc_give(out, ptc_str_new(vm->heap, ptc_str_bytes(str) + from, to - from));
}

/* Appends bytes from .. to of a string to a vector being built. */
static bool add_substring(PtcVM *vm, PtcValue build, PtcValue str, size_t from, size_t to)
{
    PtcValue part;
    return give_substring(vm, str, from, to, &part) && ptc_build_add(vm->heap, build, part) &&
           ptc_tick(&vm->budget, 1);
}

static bool check_text_arg(PtcVM *vm, const PtcValue *argv, int i)
{
    return ptc_is_string(argv[i]) || ptc_fail_type(vm, argv, i, "a string");
}

static bool check_text_args(PtcVM *vm, int argc, const PtcValue *argv)
{
    for (int i = 0; i < argc; i++)
        if (!check_text_arg(vm, argv, i))
            return false;
    return true;
}

/* The bytes of `count` graphemes from offset `from`, fewer at the end. */
static bool skip_graphemes(PtcVM *vm, PtcValue str, size_t from, uint64_t count, size_t *out)
{
    const char *bytes = ptc_str_bytes(str);
    size_t len = ptc_str_len(str), at = from;
    if (ptc_str_simple(str)) {
        *out = count < len - from ? from + (size_t)count : len;
        return true;
    }
    for (; count > 0 && at < len; count--) {
        at += ptc_utf8_grapheme(&vm->budget, bytes + at, len - at);
        if (!ptc_tick(&vm->budget, 1))
            return false;
    }
    *out = at;
    return true;
}

PTC_BUILTIN(
    core_subs, "clojure.core", "subs", 2, 3,
    PTC_TAKES3(PTC_IS_STRING, PTC_IS_INT, PTC_IS_INT) | PTC_GIVES(PTC_IS_STRING),
    "(subs s start end?)",
    "The part of a string from position start to before end, cut to what there is.",
    "(subs \"hello\" 1 3) => \"el\"\n(subs \"hello\" 2) => \"llo\"\n(subs \"abc\" 2 99) => \"c\"\n"
    "(subs 1 2) !! type_error")
{
    int64_t start, end = INT64_MAX;
    size_t from = 0, to = 0;
    if (!check_text_arg(vm, argv, 0) || !ptc_arg_int(vm, argv, 1, &start) ||
        (argc == 3 && !ptc_arg_int(vm, argv, 2, &end)))
        return false;
    if (start < 0 || end <= start)
        return ptc_give(out, ptc_str_new(vm->heap, "", 0));
    if (!skip_graphemes(vm, argv[0], 0, (uint64_t)start, &from) ||
        !skip_graphemes(vm, argv[0], from, (uint64_t)(end - start), &to))
        return false;
    return give_substring(vm, argv[0], from, to, out);
}

/* ---------------------------------------------------------------------- search */

/* NULL also when a limit tripped. */
static const char *search_string(PtcVM *vm, const char *in, size_t len, PtcValue part)
{
    return ptc_bytes_find(&vm->budget, in, len, ptc_str_bytes(part), ptc_str_len(part));
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
        const char *hit = search_string(vm, s + start, len - start, part);
        *at = hit ? hit - s : -1;
        return true;
    }
    for (int64_t i = from < (int64_t)(len - n) ? from : (int64_t)(len - n); i >= 0; i--) {
        if (n == 0 || (s[i] == p[0] && ptc_bytes_same(&vm->budget, s + i, p, n))) {
            *at = i;
            return true;
        }
        if (!ptc_tick(&vm->budget, 1))
            return false;
    }
    return true;
}

/* The same for any string.  It finds what includes? finds, and the position is the number of graphemes before that; a
 * part that begins inside of a grapheme stands behind it. */
static bool find_graphemes(PtcVM *vm, PtcValue str, PtcValue part, int64_t from, bool last,
                           int64_t *at)
{
    size_t start = 0;
    bool inside = !last && from > 0 && ptc_str_len(part) > 0; /* of the grapheme before `from` */
    if (last && from < 0) {
        *at = -1;
        return true;
    }
    if (from > 0 && !skip_graphemes(vm, str, 0, (uint64_t)(inside ? from - 1 : from), &start))
        return false;
    if (!find_bytes(vm, str, part, (int64_t)start + inside, last, at))
        return false;
    if (*at <= 0)
        return true;
    size_t before = (size_t)*at;
    *at = (int64_t)ptc_utf8_graphemes(&vm->budget, ptc_str_bytes(str), before);
    return true;
}

static bool find_position(PtcVM *vm, int argc, const PtcValue *argv, bool last, PtcValue *out)
{
    int64_t from = last ? INT64_MAX : 0, at;
    if (!check_text_args(vm, 2, argv) || (argc == 3 && !ptc_arg_int(vm, argv, 2, &from)))
        return false;
    if (!(ptc_str_simple(argv[0]) ? find_bytes : find_graphemes)(vm, argv[0], argv[1], from, last,
                                                                 &at))
        return false;
    *out = at < 0 ? PTC_NIL : ptc_int(at);
    return true;
}

PTC_BUILTIN_EXPR(
    string_index_of, "clojure.string", "index-of", 2, 3,
    PTC_TAKES3(PTC_IS_STRING, PTC_IS_STRING, PTC_IS_INT) | PTC_GIVES(PTC_IS_NIL | PTC_IS_INT),
    "(index-of s part from?)",
    "The position of the first occurrence of a part, at or after from; nil when there is none.",
    "(index-of \"willow\" \"l\") => 2\n(index-of \"willow\" \"l\" 3) => 3\n"
    "(index-of \"willow\" \"z\") => nil\n(index-of nil \"a\") !! type_error",
    find_position(vm, argc, argv, false, out))

PTC_BUILTIN_EXPR(
    string_last_index_of, "clojure.string", "last-index-of", 2, 3,
    PTC_TAKES3(PTC_IS_STRING, PTC_IS_STRING, PTC_IS_INT) | PTC_GIVES(PTC_IS_NIL | PTC_IS_INT),
    "(last-index-of s part from?)",
    "The position of the last occurrence of a part, at or before from; nil when there is none.",
    "(last-index-of \"willow\" \"l\") => 3\n(last-index-of \"willow\" \"l\" 2) => 2\n"
    "(last-index-of \"willow\" \"z\") => nil\n(last-index-of \"abc\" 1) !! type_error",
    find_position(vm, argc, argv, true, out))

PTC_BUILTIN(string_includes, "clojure.string", "includes?", 2, 2,
            PTC_TAKES2(PTC_IS_STRING, PTC_IS_STRING) | PTC_GIVES(PTC_IS_BOOL), "(includes? s part)",
            "Does the string contain this part?",
            "(includes? \"willow\" \"ill\") => true\n(includes? \"willow\" \"x\") => false\n"
            "(includes? [\"a\"] \"a\") !! type_error")
{
    if (!check_text_args(vm, argc, argv))
        return false;
    *out =
        ptc_bool(search_string(vm, ptc_str_bytes(argv[0]), ptc_str_len(argv[0]), argv[1]) != NULL);
    return true;
}

/* Does part stand at byte offset `at`? */
static bool stands_at(PtcVM *vm, PtcValue str, size_t at, PtcValue part)
{
    return ptc_bytes_same(&vm->budget, ptc_str_bytes(str) + at, ptc_str_bytes(part),
                          ptc_str_len(part));
}

PTC_BUILTIN(string_starts_with, "clojure.string", "starts-with?", 2, 2,
            PTC_TAKES2(PTC_IS_STRING, PTC_IS_STRING) | PTC_GIVES(PTC_IS_BOOL),
            "(starts-with? s start)", "Does the string begin with this text?",
            "(starts-with? \"undo\" \"un\") => true\n(starts-with? \"redo\" \"un\") => false\n"
            "(starts-with? nil \"a\") !! type_error")
{
    if (!check_text_args(vm, argc, argv))
        return false;
    *out = ptc_bool(ptc_str_len(argv[0]) >= ptc_str_len(argv[1]) &&
                    stands_at(vm, argv[0], 0, argv[1]));
    return true;
}

PTC_BUILTIN(string_ends_with, "clojure.string", "ends-with?", 2, 2,
            PTC_TAKES2(PTC_IS_STRING, PTC_IS_STRING) | PTC_GIVES(PTC_IS_BOOL), "(ends-with? s end)",
            "Does the string end with this text?",
            "(ends-with? \"a.csv\" \".csv\") => true\n(ends-with? \"a.csv\" \".txt\") => false\n"
            "(ends-with? \"a\" 1) !! type_error")
{
    if (!check_text_args(vm, argc, argv))
        return false;
    size_t len = ptc_str_len(argv[0]), n = ptc_str_len(argv[1]);
    *out = ptc_bool(len >= n && stands_at(vm, argv[0], len - n, argv[1]));
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
} StringParts;

static bool parts_add(StringParts *p, size_t to)
{
    if (to == p->from && !p->keep_empty) {
        p->empties++;
        return true;
    }
    for (; p->empties > 0; p->empties--)
        if (!add_substring(p->vm, p->build, p->str, 0, 0))
            return false;
    return add_substring(p->vm, p->build, p->str, p->from, to);
}

/* Splits at every sep, or after every grapheme when sep is empty, into at most `most` parts (0: any). */
static bool split_all(StringParts *p, PtcValue sep, size_t most)
{
    const char *bytes = ptc_str_bytes(p->str);
    size_t len = ptc_str_len(p->str), n = ptc_str_len(sep);
    for (size_t made = 1; most == 0 || made < most; made++) {
        size_t left = len - p->from;
        const char *hit =
            n ? search_string(p->vm, bytes + p->from, left, sep)
              : bytes + p->from +
                    (left ? ptc_utf8_grapheme(&p->vm->budget, bytes + p->from, left) : 0);
        if (!hit || (n == 0 && left == 0))
            break;
        if (!parts_add(p, (size_t)(hit - bytes)) || !ptc_tick(&p->vm->budget, 1))
            return false;
        p->from = (size_t)(hit - bytes) + n;
    }
    return parts_add(p, len);
}

PTC_BUILTIN(
    string_split, "clojure.string", "split", 2, 3,
    PTC_TAKES3(PTC_IS_STRING, PTC_IS_STRING | PTC_IS_OTHER, PTC_IS_INT) | PTC_GIVES(PTC_IS_LIST),
    "(split s separator limit?)",
    "A vector of the parts of a string between separators (a string or regex), at most limit of "
    "them; without a limit, empty parts at the end are left out.",
    "(split \"a,b,,c\" \",\") => [\"a\" \"b\" \"\" \"c\"]\n(split \"a,b,c\" \",\" 2) => [\"a\" "
    "\"b,c\"]\n"
    "(split \"a1b22c\" #\"\\d+\") => [\"a\" \"b\" \"c\"]\n"
    "(split \"abc\" \"\") => [\"a\" \"b\" \"c\"]\n(split nil \",\") !! type_error")
{
    int64_t limit = 0;
    if (!check_text_arg(vm, argv, 0) || (argc == 3 && !ptc_arg_int(vm, argv, 2, &limit)))
        return false;
    if (ptc_is_regex(argv[1]))
        return ptc_regex_split(vm, argv[0], argv[1], limit, out);
    if (!ptc_is_string(argv[1]))
        return ptc_fail_type(vm, argv, 1, "a regex or string");
    StringParts p = {
        .vm = vm, .str = argv[0], .build = ptc_build_new(vm->heap), .keep_empty = limit != 0};
    if (p.build == PTC_NONE)
        return false;
    if (ptc_str_len(argv[0]) == 0)
        p.keep_empty = true;
    return split_all(&p, argv[1], limit > 0 ? (size_t)limit : 0) &&
           ptc_give(out, ptc_build_done(vm->heap, p.build, 0));
}

PTC_BUILTIN(string_split_lines, "clojure.string", "split-lines", 1, 1,
            PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_LIST), "(split-lines s)",
            "A vector of the lines of a string, without empty ones at the end.",
            "(split-lines \"a\\nb\\r\\n\\nc\\n\") => [\"a\" \"b\" \"\" \"c\"]\n(split-lines \"\") "
            "=> [\"\"]\n"
            "(split-lines nil) !! type_error")
{
    if (!check_text_arg(vm, argv, 0))
        return false;
    const char *bytes = ptc_str_bytes(argv[0]), *hit;
    size_t len = ptc_str_len(argv[0]);
    StringParts p = {
        .vm = vm, .str = argv[0], .build = ptc_build_new(vm->heap), .keep_empty = len == 0};
    if (p.build == PTC_NONE)
        return false;
    while (p.from < len &&
           (hit = ptc_bytes_find_char(&vm->budget, bytes + p.from, len - p.from, '\n')) != NULL) {
        size_t end = (size_t)(hit - bytes);
        if (!parts_add(&p, end > p.from && hit[-1] == '\r' ? end - 1 : end) ||
            !ptc_tick(&vm->budget, 1))
            return false;
        p.from = end + 1;
    }
    return parts_add(&p, len) && ptc_give(out, ptc_build_done(vm->heap, p.build, 0));
}

/* ------------------------------------------------------------------------ trim */

/* White space as Clojure's trim sees it: no-break spaces are text. */
static bool is_trimmed_space(uint32_t c)
{
    if (c <= ' ')
        return ptc_ascii_is_white(c) || c >= 0x1c;
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
    while (left && from < to && (n = ptc_utf8_decode(bytes + from, to - from, &c), cut(c))) {
        from += n;
        if (!ptc_tick(&vm->budget, 1))
            return false;
    }
    while (right && from < to) {
        n = 1;
        while (n < 4 && to - n > from && ((unsigned char)bytes[to - n] & 0xc0) == 0x80)
            n++;
        ptc_utf8_decode(bytes + to - n, n, &c);
        if (!cut(c))
            break;
        to -= n;
        if (!ptc_tick(&vm->budget, 1))
            return false;
    }
    return give_substring(vm, str, from, to, out);
}

PTC_BUILTIN(string_trim, "clojure.string", "trim", 1, 1,
            PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(trim s)",
            "The string without white space at both ends.",
            "(trim \" \\t a b \\n\") => \"a b\"\n(trim \"\") => \"\"\n(trim nil) !! type_error")
{
    return check_text_args(vm, argc, argv) &&
           trim_by(vm, argv[0], is_trimmed_space, true, true, out);
}

PTC_BUILTIN(string_triml, "clojure.string", "triml", 1, 1,
            PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(triml s)",
            "The string without white space at its beginning.",
            "(triml \"  a \") => \"a \"\n(triml 5) !! type_error")
{
    return check_text_args(vm, argc, argv) &&
           trim_by(vm, argv[0], is_trimmed_space, true, false, out);
}

PTC_BUILTIN(string_trimr, "clojure.string", "trimr", 1, 1,
            PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(trimr s)",
            "The string without white space at its end.",
            "(trimr \"  a \") => \"  a\"\n(trimr [\"a \"]) !! type_error")
{
    return check_text_args(vm, argc, argv) &&
           trim_by(vm, argv[0], is_trimmed_space, false, true, out);
}

PTC_BUILTIN_EXPR(string_trim_newline, "clojure.string", "trim-newline", 1, 1,
                 PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(trim-newline s)",
                 "The string without newlines and carriage returns at its end.",
                 "(trim-newline \"a \\r\\n\\n\") => \"a \"\n(trim-newline \"\\na\") => \"\\na\"\n"
                 "(trim-newline nil) !! type_error",
                 check_text_args(vm, argc, argv) &&
                     trim_by(vm, argv[0], is_newline, false, true, out))

PTC_BUILTIN(string_blank, "clojure.string", "blank?", 1, 1,
            PTC_TAKES(PTC_IS_NIL | PTC_IS_STRING) | PTC_GIVES(PTC_IS_BOOL), "(blank? s)",
            "Is the string nil, empty or only white space?",
            "(blank? \" \\n\") => true\n(blank? nil) => true\n(blank? \" a \") => false\n(blank? "
            "5) !! type_error")
{
    PtcValue rest;
    if (argv[0] == PTC_NIL)
        return ptc_give(out, PTC_TRUE);
    if (!check_text_args(vm, argc, argv) ||
        !trim_by(vm, argv[0], is_trimmed_space, true, false, &rest))
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
        const char *hit = n ? search_string(vm, p, (size_t)(end - p), part) : p;
        if (!hit || !ptc_tick(&vm->budget, 1))
            break;
        if (n == 0 && p == end) {
            ++*count;
            break;
        }
        p = n ? hit + n : p + ptc_utf8_grapheme(&vm->budget, p, (size_t)(end - p));
    }
    return vm->budget.stop == PTC_STOP_NONE;
}

/* Writes str to `to` with the first `count` parts replaced. */
static bool write_text_replaced(PtcVM *vm, char *to, PtcValue str, PtcValue part, PtcValue by,
                                size_t count)
{
    const char *p = ptc_str_bytes(str), *end = p + ptc_str_len(str);
    size_t n = ptc_str_len(part), k = ptc_str_len(by);
    for (; count > 0; count--) {
        const char *hit = n ? search_string(vm, p, (size_t)(end - p), part) : p;
        if (!hit || !ptc_tick(&vm->budget, 1) ||
            !ptc_bytes_copy(&vm->budget, to, p, (size_t)(hit - p)) ||
            !ptc_bytes_copy(&vm->budget, to + (hit - p), ptc_str_bytes(by), k))
            return false;
        to += (size_t)(hit - p) + k;
        p = hit + n;
        if (n == 0 && p < end) {
            size_t g = ptc_utf8_grapheme(&vm->budget, p, (size_t)(end - p));
            memcpy(to, p, g);
            to += g;
            p += g;
        }
    }
    return ptc_bytes_copy(&vm->budget, to, p, (size_t)(end - p));
}

static bool replace_text(PtcVM *vm, int argc, const PtcValue *argv, size_t most, PtcValue *out)
{
    size_t count, len;
    if (!check_text_arg(vm, argv, 0))
        return false;
    if (!ptc_is_string(argv[1]))
        return ptc_fail_type(vm, argv, 1, "a regex or string");
    if (!check_text_args(vm, argc, argv) || !count_parts(vm, argv[0], argv[1], most, &count))
        return false;
    if (count == 0)
        return ptc_give(out, argv[0]);
    if (__builtin_mul_overflow(count, ptc_str_len(argv[2]), &len) ||
        __builtin_add_overflow(len, ptc_str_len(argv[0]) - count * ptc_str_len(argv[1]), &len))
        return ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    PtcValue str = ptc_str_begin(vm->heap, PTC_T_STRING, len);
    if (str == PTC_NONE ||
        !write_text_replaced(vm, ptc_str_room(str), argv[0], argv[1], argv[2], count))
        return false;
    ptc_str_seal(str);
    return ptc_give(out, str);
}

/* By a function, for a regex: that calls back, so these builtins see to their own memory. */
static bool replace_in_string(PtcVM *vm, int argc, const PtcValue *argv, size_t most, PtcValue *out)
{
    if (ptc_is_string(argv[0]) && ptc_is_regex(argv[1]))
        return ptc_regex_replace(vm, argv, most, out);
    return PTC_RETRY(vm, replace_text(vm, argc, argv, most, out));
}

PTC_BUILTIN_EXPR(
    string_replace, "clojure.string", "replace", 3, 3,
    PTC_B_CALLS |
        PTC_TAKES3(PTC_IS_STRING, PTC_IS_STRING | PTC_IS_OTHER, PTC_IS_CALLED | PTC_IS_STRING) |
        PTC_GIVES(PTC_IS_STRING),
    "(replace s part by)",
    "The string with every occurrence of a part, or every match of a regex, replaced. For a regex, "
    "the replacement may hold groups ($1) or be a function of the match.",
    "(replace \"a-b-c\" \"-\" \"+\") => \"a+b+c\"\n(replace \"ab\" \"\" \".\") => \".a.b.\"\n"
    "(replace \"x1y22\" #\"(\\d+)\" \"<$1>\") => \"x<1>y<22>\"\n"
    "(replace \"ab\" #\"[a-z]\" upper-case) => \"AB\"\n"
    "(replace nil \"a\" \"b\") !! type_error",
    replace_in_string(vm, argc, argv, SIZE_MAX, out))

PTC_BUILTIN_EXPR(
    string_replace_first, "clojure.string", "replace-first", 3, 3,
    PTC_B_CALLS |
        PTC_TAKES3(PTC_IS_STRING, PTC_IS_STRING | PTC_IS_OTHER, PTC_IS_CALLED | PTC_IS_STRING) |
        PTC_GIVES(PTC_IS_STRING),
    "(replace-first s part by)",
    "The string with the first occurrence of a part, or the first match of a regex, replaced.",
    "(replace-first \"a-b-c\" \"-\" \"+\") => \"a+b-c\"\n(replace-first \"abc\" \"x\" "
    "\"y\") => \"abc\"\n"
    "(replace-first \"a1b2\" #\"\\d\" \"#\") => \"a#b2\"\n"
    "(replace-first \"a\" \"a\" 1) !! type_error",
    replace_in_string(vm, argc, argv, 1, out))

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

PTC_BUILTIN(string_escape, "clojure.string", "escape", 2, 2,
            PTC_B_CALLS | PTC_TAKES2(PTC_IS_STRING, PTC_IS_CALLED) | PTC_GIVES(PTC_IS_STRING),
            "(escape s replacements)",
            "The string with each character replaced by what the map or function gives for it, "
            "unless that is nil.",
            "(clojure.string/escape \"a<b\" {\\< \"&lt;\"}) => \"a&lt;b\"\n"
            "(clojure.string/escape \"abc\" (fn [c] (when (= c \"b\") \"-\"))) => \"a-c\"\n"
            "(clojure.string/escape 5 {}) !! type_error")
{
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
    ok = ok && ptc_give(out, PTC_RETRY(vm, ptc_str_take(vm->heap, &buf)));
    ptc_buf_deinit(&buf);
    return ok;
}

PTC_BUILTIN(
    string_re_quote_replacement, "clojure.string", "re-quote-replacement", 1, 1,
    PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(re-quote-replacement s)",
    "The string as a replacement for a pattern that means just itself: $ and \\ are escaped.",
    "(clojure.string/re-quote-replacement \"$1\") => \"\\\\$1\"\n"
    "(clojure.string/replace \"a-b\" #\"-\" (clojure.string/re-quote-replacement \"$\")) => "
    "\"a$b\"\n"
    "(clojure.string/re-quote-replacement 5) !! type_error")
{
    const char *bytes;
    size_t len;
    PtcBuf buf;
    if (!ptc_arg_string(vm, argv, 0, &bytes, &len) || !ptc_tick_bytes(&vm->budget, len))
        return false;
    ptc_heap_buf_init(vm->heap, &buf);
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] == '$' || bytes[i] == '\\')
            ptc_buf_add(&buf, "\\", 1);
        ptc_buf_add(&buf, &bytes[i], 1);
    }
    bool ok = ptc_buf_ok(&buf) || ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    ok = ok && ptc_give(out, ptc_str_take(vm->heap, &buf));
    ptc_buf_deinit(&buf);
    return ok;
}

PTC_BUILTIN(
    string_reverse, "clojure.string", "reverse", 1, 1,
    PTC_TAKES(PTC_IS_STRING) | PTC_GIVES(PTC_IS_STRING), "(clojure.string/reverse s)",
    "The string with its characters in reverse order.",
    "(clojure.string/reverse \"abc\") => \"cba\"\n(clojure.string/reverse [1 2]) !! type_error")
{
    if (!check_text_args(vm, argc, argv))
        return false;
    size_t len = ptc_str_len(argv[0]), n;
    PtcValue str = ptc_str_begin(vm->heap, PTC_T_STRING, len);
    if (str == PTC_NONE)
        return false;
    const char *from = ptc_str_bytes(argv[0]);
    for (size_t at = 0; at < len; at += n) {
        n = ptc_str_simple(argv[0]) ? 1 : ptc_utf8_grapheme(&vm->budget, from + at, len - at);
        memcpy(ptc_str_room(str) + len - at - n, from + at, n);
        if (!ptc_tick(&vm->budget, 1))
            return false;
    }
    ptc_str_seal(str);
    return ptc_give(out, str);
}

PTC_BUILTIN(
    core_char, "clojure.core", "char", 1, 1, 0, "(char code)",
    "The character of a code point, as a string; a character is itself.",
    "(char 97) => \"a\"\n(apply str (map char [72 105])) => \"Hi\"\n(char -1) !! value_error\n"
    "(char \"ab\") !! type_error")
{
    int64_t code;
    char bytes[4];
    PtcValue v = argv[0];
    if (ptc_is_char(vm, v))
        return ptc_give(out, v);
    if (!ptc_is_number(v))
        return ptc_fail_type(vm, argv, 0, "a code point or a character");
    if (ptc_is_float(v)) /* cut, as Java's cast does; NaN is below all characters here */
        code = ptc_to_float(v) >= 0 && ptc_to_float(v) < 0x110000 ? (int64_t)ptc_to_float(v) : -1;
    else if (!ptc_arg_int(vm, argv, 0, &code))
        return false;
    if (code < 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return ptc_fail(vm, PTC_E_VALUE, "char: %lld is not the code point of a character",
                        (long long)code);
    return ptc_give(out, ptc_str_new(vm->heap, bytes, ptc_utf8_encode((uint32_t)code, bytes)));
}

/* lisp/prelude/string.clj has these two. */
PTC_PRELUDE(string_pad_left, "clojure.string", "pad-left", 2, 3,
            PTC_TAKES3(PTC_IS_NUMBER | PTC_IS_STRING, PTC_IS_INT, PTC_IS_STRING) |
                PTC_GIVES(PTC_IS_STRING),
            "(str/pad-left s width pad?)",
            "A string or number with blanks, or with pad, put before it until it is so wide: "
            "(str/pad-left n 5 \"0\") fills up with zeros.",
            "(str/pad-left \"ab\" 5) => \"   ab\"\n(str/pad-left 7 3 \"0\") => \"007\"\n"
            "(str/pad-left \"abc\" 2) => \"abc\"\n(str/pad-left \"a\" 3 \"\") !! value_error\n"
            "(str/pad-left nil 3) !! type_error");
PTC_PRELUDE(string_pad_right, "clojure.string", "pad-right", 2, 3,
            PTC_TAKES3(PTC_IS_NUMBER | PTC_IS_STRING, PTC_IS_INT, PTC_IS_STRING) |
                PTC_GIVES(PTC_IS_STRING),
            "(str/pad-right s width pad?)",
            "A string or number with blanks, or with pad, put after it until it is so wide.",
            "(str/pad-right \"ab\" 5 \".\") => \"ab...\"\n(str/pad-right \"x\" 4 \"-=\") => "
            "\"x-=-\"\n(str/pad-right \"x\" \"4\") !! type_error");

PTC_BUILTIN_TABLE(ptc_lib_string, core_subs, string_pad_left, string_pad_right, string_index_of,
                  string_last_index_of, string_includes, string_starts_with, string_ends_with,
                  string_split, string_split_lines, string_trim, string_triml, string_trimr,
                  string_trim_newline, string_blank, string_replace, string_replace_first,
                  string_reverse, string_escape, string_re_quote_replacement, core_char);
