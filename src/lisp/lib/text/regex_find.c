/* SPDX-License-Identifier: MIT
 * Functions that take regular expressions.  Notation and results are Clojure's (Java's): \w, \d and \b know ASCII
 * only, . stops at line ends, an empty match moves the search on by one character. */
#include "lisp/lib/text/regex_find.h"

#include "base/ascii.h"
#include "lisp/lib/text/matcher.h"
#include "lisp/vm/vm_int.h"

static bool arg_regex(PtcVM *vm, const PtcValue *argv, int i)
{
    return ptc_is_regex(argv[i]) ||
           ptc_fail_type(vm, argv, i, "a regex, #\"...\" or (re-pattern s)");
}

static bool check_string_arg(PtcVM *vm, const PtcValue *argv, int i)
{
    return ptc_is_string(argv[i]) || ptc_fail_type(vm, argv, i, "a string");
}

static bool tick_bytes(PtcVM *vm, size_t n)
{
    return ptc_tick(&vm->budget, 1 + (int64_t)(n / 64));
}

PtcValue ptc_regex_make(PtcVM *vm, PtcValue pattern)
{
    PtcRegexError error;
    PtcValue regex = ptc_regex_new(vm->heap, pattern, &error);
    if (regex == PTC_NONE && error.message[0])
        ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(PATTERN_SYNTAX),
                      "the pattern is not valid near character %zu: %s",
                      ptc_regex_error_place(pattern, &error), error.message);
    return regex;
}

void ptc_regex_end(PtcVM *vm, PtcMatcher *m)
{
    if (m->why)
        ptc_fail_here(vm, PTC_E_VALUE, "%s", m->why);
    ptc_matcher_deinit(m);
}

PTC_BUILTIN(
    regex_pattern, "regex", "re-pattern", 1, 1,
    PTC_TAKES(PTC_IS_STRING | PTC_IS_OTHER) | PTC_GIVES(PTC_IS_OTHER), "(re-pattern s)",
    "The regex that a string spells; a regex is returned as it is. #\"...\" in a program is "
    "compiled only once.",
    "(re-pattern \"\\\\d+\") => #\"\\d+\"\n(re-find (re-pattern \"b.\") \"abc\") => \"bc\"\n"
    "(re-pattern \"[ab\") !! value_error")
{
    if (ptc_is_regex(argv[0]))
        return ptc_give(out, argv[0]);
    return check_string_arg(vm, argv, 0) && ptc_give(out, ptc_regex_make(vm, argv[0]));
}

PTC_BUILTIN_EXPR(regex_is, "regex", "regex?", 1, 1, 0, "(regex? x)", "Is it a regex?",
                 "(regex? #\"a+\") => true\n(regex? \"a+\") => false\n(regex? nil) => false",
                 ptc_give(out, ptc_bool(ptc_is_regex(argv[0]))))

/* ------------------------------------------------------------------------ find */

/* The match, nil when there is none; arguments are (regex s). */
static bool give_match(PtcVM *vm, const PtcValue *argv, PtcMatch (*how)(PtcMatcher *),
                       PtcValue *out)
{
    PtcMatcher m;
    if (!arg_regex(vm, argv, 0) || !check_string_arg(vm, argv, 1))
        return false;
    PtcMatch found = ptc_matcher_init(&m, vm->heap, argv[0], argv[1]) ? how(&m) : PTC_MATCH_FAILED;
    bool ok = found != PTC_MATCH_FAILED &&
              ptc_give(out, found == PTC_MATCH_FOUND ? ptc_matcher_value(&m) : PTC_NIL);
    ptc_regex_end(vm, &m);
    return ok;
}

PTC_BUILTIN(
    regex_find, "regex", "re-find", 1, 2,
    PTC_TAKES2(PTC_IS_OTHER, PTC_IS_STRING) | PTC_GIVES(PTC_IS_NIL | PTC_IS_STRING | PTC_IS_LIST),
    "(re-find regex s)",
    "The first match in a string, or the next one of a matcher; nil when there is none. With "
    "groups: a vector of the match and its groups.",
    "(re-find #\"\\d+\" \"v12 b3\") => \"12\"\n(re-find #\"(\\w+)@(\\w+)\" \"to ann@home\") => "
    "[\"ann@home\" \"ann\" \"home\"]\n(re-find #\"x\" \"abc\") => nil\n(re-find \"x\" \"abc\") !! "
    "type_error")
{
    if (argc == 1 && !ptc_is_record(argv[0], PTC_R_MATCHER)) {
        ptc_fail(vm, PTC_E_ARITY, "re-find takes 2 arguments, got 1");
        return ptc_fail_hint(vm, "usage: (re-find regex s)");
    }
    if (argc == 1)
        return ptc_matcher_find(vm, argv, out);
    return give_match(vm, argv, ptc_matcher_next, out);
}

PTC_BUILTIN_EXPR(
    regex_matches, "regex", "re-matches", 2, 2,
    PTC_TAKES2(PTC_IS_OTHER, PTC_IS_STRING) | PTC_GIVES(PTC_IS_NIL | PTC_IS_STRING | PTC_IS_LIST),
    "(re-matches regex s)",
    "The match when the regex matches the whole string, else nil. With groups: a vector of the "
    "match and its "
    "groups.",
    "(re-matches #\"\\d+\" \"2048\") => \"2048\"\n(re-matches #\"\\d+\" \"2048kb\") => nil\n"
    "(re-matches #\"(\\d+)-(\\d+)\" \"10-20\") => [\"10-20\" \"10\" \"20\"]\n"
    "(re-matches #\"a\" nil) !! type_error",
    give_match(vm, argv, ptc_matcher_whole, out))

PTC_BUILTIN(regex_seq, "regex", "re-seq", 2, 2,
            PTC_TAKES2(PTC_IS_OTHER, PTC_IS_STRING) | PTC_GIVES(PTC_IS_NIL | PTC_IS_LIST),
            "(re-seq regex s)",
            "All matches in a string, each as re-find gives it; nil when there is none.",
            "(re-seq #\"\\d+\" \"a1b22\") => [\"1\" \"22\"]\n(re-seq #\"(\\w)(\\d)\" \"a1 b2\") => "
            "[[\"a1\" \"a\" \"1\"] [\"b2\" \"b\" \"2\"]]\n(re-seq #\"x\" \"abc\") => nil\n"
            "(re-seq #\"x\" [1]) !! type_error")
{
    PtcMatcher m;
    if (!arg_regex(vm, argv, 0) || !check_string_arg(vm, argv, 1))
        return false;
    PtcValue build = ptc_build_new(vm->heap), v;
    PtcMatch found = PTC_MATCH_FAILED;
    if (ptc_matcher_init(&m, vm->heap, argv[0], argv[1]) && build != PTC_NONE)
        while ((found = ptc_matcher_next(&m)) == PTC_MATCH_FOUND) {
            v = ptc_matcher_value(&m);
            if (v == PTC_NONE || !ptc_build_add(vm->heap, build, v))
                break;
        }
    ptc_regex_end(vm, &m);
    if (found != PTC_MATCH_NONE)
        return false;
    return ptc_give(out,
                    ptc_build_count(build) ? ptc_build_done(vm->heap, build, PTC_SEQ) : PTC_NIL);
}

/* --------------------------------------------------------------------- extract */

/* Group number argv[2] (else 1) of the first match, nil when there is none; the pattern may be a string. */
static bool extract(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcMatcher m;
    PtcValue regex = argv[0];
    int64_t group = 1;
    if (!ptc_is_string(regex) && !ptc_is_regex(regex))
        return ptc_fail_type(vm, argv, 0, "a string or regex");
    if (!check_string_arg(vm, argv, 1) || (argc > 2 && !ptc_arg_int(vm, argv, 2, &group)))
        return false;
    if (!ptc_is_regex(regex) && (regex = ptc_regex_make(vm, regex)) == PTC_NONE)
        return false;
    PtcMatch found =
        ptc_matcher_init(&m, vm->heap, regex, argv[1]) ? ptc_matcher_next(&m) : PTC_MATCH_FAILED;
    bool there = found == PTC_MATCH_FOUND && group >= 0 && group <= m.groups;
    bool ok = found != PTC_MATCH_FAILED &&
              ptc_give(out, there ? ptc_matcher_group(&m, (unsigned)group) : PTC_NIL);
    ptc_regex_end(vm, &m);
    return ok;
}

PTC_BUILTIN_EXPR(
    regex_extract, "regex", "extract", 2, 3,
    PTC_TAKES3(PTC_IS_STRING | PTC_IS_OTHER, PTC_IS_STRING, PTC_IS_INT) |
        PTC_GIVES(PTC_IS_NIL | PTC_IS_STRING),
    "(extract pattern s group?)",
    "A group of the first match: the first group, or the one with this number (0: the "
    "whole match); nil when "
    "there is none.",
    "(extract \"id=(\\\\d+)\" \"id=42\") => \"42\"\n(extract #\"id=(\\d+)\" \"id=42\" 0) "
    "=> \"id=42\"\n"
    "(extract \"id=(\\\\d+)\" \"none\") => nil\n(extract \"(a\" \"a\") !! value_error",
    extract(vm, argc, argv, out))

/* [+-]digits */
static bool is_integer_text(PtcValue str)
{
    const char *s = ptc_str_bytes(str);
    size_t len = ptc_str_len(str), i = len > 0 && (s[0] == '-' || s[0] == '+');
    if (i == len)
        return false;
    while (i < len && ptc_ascii_is_digit(s[i]))
        i++;
    return i == len;
}

PTC_BUILTIN(regex_extract_int, "regex", "extract-int", 2, 4,
            PTC_TAKES2(PTC_IS_STRING | PTC_IS_OTHER, PTC_IS_STRING),
            "(extract-int pattern s group? default?)",
            "A group of the first match, as extract finds it, read as an integer; the default, or "
            "nil, when there is "
            "none.",
            "(extract-int \"age=(\\\\d+)\" \"age=25\") => 25\n(extract-int \"age=(\\\\d+)\" "
            "\"none\" 1 0) => 0\n"
            "(extract-int \"(\\\\w+)\" \"abc\") => nil\n(extract-int \"(\\\\d+)\" 5) !! type_error")
{
    PtcValue text;
    if (!extract(vm, argc, argv, &text))
        return false;
    if (text == PTC_NIL || !is_integer_text(text))
        return ptc_give(out, argc > 3 ? argv[3] : PTC_NIL);
    return ptc_give(out, ptc_int_parse(vm->heap, ptc_str_bytes(text), ptc_str_len(text)));
}

/* ----------------------------------------------------------------------- split */

/* Parts on their way into a vector; empty ones wait until a part follows. */
typedef struct {
    PtcVM *vm;
    PtcValue str, build;
    size_t from, empties;
    bool keep_empty;
} Parts;

static bool add_split_part(Parts *p, size_t from, size_t to)
{
    PtcValue part = from == 0 && to == ptc_str_len(p->str)
                        ? p->str
                        : ptc_str_new(p->vm->heap, ptc_str_bytes(p->str) + from, to - from);
    return part != PTC_NONE && ptc_build_add(p->vm->heap, p->build, part) &&
           tick_bytes(p->vm, to - from);
}

/* The part from the last separator to `to`. */
static bool end_split_part(Parts *p, size_t to)
{
    if (to == p->from && !p->keep_empty) {
        p->empties++;
        return true;
    }
    for (; p->empties > 0; p->empties--)
        if (!add_split_part(p, to, to))
            return false;
    return add_split_part(p, p->from, to);
}

static bool split_parts(Parts *p, PtcMatcher *m, int64_t limit)
{
    PtcMatch found = PTC_MATCH_NONE;
    for (int64_t made = 1; limit <= 0 || made < limit;) {
        found = ptc_matcher_next(m);
        if (found != PTC_MATCH_FOUND)
            break;
        if (m->at[1] == 0)
            continue; /* nothing at the very start separates nothing */
        if (!end_split_part(p, m->at[0]))
            return false;
        p->from = m->at[1];
        made++;
    }
    return found != PTC_MATCH_FAILED && end_split_part(p, ptc_str_len(p->str));
}

bool ptc_regex_split(PtcVM *vm, PtcValue str, PtcValue regex, int64_t limit, PtcValue *out)
{
    PtcMatcher m;
    Parts p = {.vm = vm, .str = str, .build = ptc_build_new(vm->heap)};
    p.keep_empty = limit != 0 || ptc_str_len(str) == 0;
    bool ok = ptc_matcher_init(&m, vm->heap, regex, str) && p.build != PTC_NONE &&
              split_parts(&p, &m, limit);
    ptc_regex_end(vm, &m);
    return ok && ptc_give(out, ptc_build_done(vm->heap, p.build, 0));
}

PTC_BUILTIN(regex_split, "regex", "re-split", 2, 2,
            PTC_TAKES2(PTC_IS_OTHER, PTC_IS_STRING) | PTC_GIVES(PTC_IS_LIST), "(re-split regex s)",
            "A vector of the parts of a string between matches, without empty ones at the end.",
            "(re-split #\"\\s+\" \"a  b c\") => [\"a\" \"b\" \"c\"]\n(re-split #\",\" \"a,,b,\") "
            "=> [\"a\" \"\" \"b\"]\n"
            "(re-split \",\" \"a,b\") !! type_error")
{
    return arg_regex(vm, argv, 0) && check_string_arg(vm, argv, 1) &&
           ptc_regex_split(vm, argv[1], argv[0], 0, out);
}

/* --------------------------------------------------------------------- replace */

/* The group that $n or ${name} at s[*i] (after the $) means; *i moves behind it. */
static bool group_reference(PtcVM *vm, PtcMatcher *m, const char *s, size_t len, size_t *i,
                            unsigned *group)
{
    char name[40];
    size_t n = 0, at = *i;
    if (at < len && s[at] == '{') {
        for (at++; at < len && s[at] != '}' && n < sizeof name - 1; at++)
            name[n++] = s[at];
        name[n] = 0;
        int number = at < len && s[at] == '}' ? ptc_matcher_name(m, name) : -1;
        if (number < 0)
            return ptc_fail_here(vm, PTC_E_VALUE, "the regex has no group named %s", name);
        *group = (unsigned)number;
        *i = at + 1;
        return true;
    }
    if (at >= len || !ptc_ascii_is_digit(s[at])) {
        ptc_fail_here(vm, PTC_E_VALUE,
                      "in a replacement, $ comes before the number or {name} of a group");
        return ptc_fail_hint(vm, "write \\\\$ for a $ itself");
    }
    unsigned number = (unsigned)(s[at++] - '0');
    if (number > m->groups)
        return ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(INDEX), "the regex has no group %u", number);
    while (at < len && ptc_ascii_is_digit(s[at]) &&
           number * 10 + (unsigned)(s[at] - '0') <= m->groups)
        number = number * 10 + (unsigned)(s[at++] - '0');
    *group = number;
    *i = at;
    return true;
}

/* Appends the replacement of the last match: $n is group n, \x is x. */
static bool expand_replacement(PtcVM *vm, PtcMatcher *m, PtcBuf *buf, PtcValue by)
{
    const char *s = ptc_str_bytes(by), *str = ptc_str_bytes(m->str);
    size_t len = ptc_str_len(by), i = 0;
    while (i < len) {
        unsigned group = 0;
        char c = s[i++];
        if (c == '$') {
            if (!group_reference(vm, m, s, len, &i, &group))
                return false;
            size_t from = m->at[2 * (size_t)group], to = m->at[2 * (size_t)group + 1];
            if (from < to && to <= ptc_str_len(m->str) && !ptc_buf_add(buf, str + from, to - from))
                return false;
        } else {
            if (c == '\\' && i == len)
                return ptc_fail_here(vm, PTC_E_VALUE,
                                     "the replacement ends with a single backslash");
            if (!ptc_buf_add_char(buf, c == '\\' ? s[i++] : c))
                return false;
        }
    }
    return true;
}

/* Appends what the function gives for the last match. */
static bool expand_call(PtcVM *vm, PtcMatcher *m, PtcBuf *buf, PtcValue f)
{
    PtcValue result, match = PTC_RETRY(vm, ptc_matcher_value(m));
    if (match == PTC_NONE || !ptc_call1(vm, f, match, &result))
        return false;
    if (!ptc_is_string(result))
        return ptc_fail_value_type(vm, result, "what the function gave for a match", "a string");
    return ptc_buf_add(buf, ptc_str_bytes(result), ptc_str_len(result));
}

static PtcMatch next_or_recover(PtcVM *vm, PtcMatcher *m, bool calls)
{
    PtcMatch found = ptc_matcher_next(m);
    if (found == PTC_MATCH_FAILED && calls && ptc_recover(vm))
        found = ptc_matcher_next(m);
    return found;
}

/* Appends the string with the first `most` matches replaced; *count says how many there were. */
static bool write_regex_replaced(PtcVM *vm, PtcMatcher *m, PtcBuf *buf, PtcValue by, size_t most,
                                 size_t *count)
{
    const char *str = ptc_str_bytes(m->str);
    size_t done = 0;
    bool calls = !ptc_is_string(by);
    for (*count = 0; *count < most; ++*count) {
        PtcMatch found = next_or_recover(vm, m, calls);
        if (found == PTC_MATCH_FAILED)
            return false;
        if (found == PTC_MATCH_NONE)
            break;
        size_t from = m->at[0], to = m->at[1], before = buf->len;
        if (!ptc_buf_add(buf, str + done, from - done) ||
            !(calls ? expand_call : expand_replacement)(vm, m, buf, by) ||
            !tick_bytes(vm, buf->len - before))
            return false;
        done = to;
    }
    return ptc_buf_add(buf, str + done, ptc_str_len(m->str) - done);
}

static bool replace_matches(PtcVM *vm, const PtcValue *argv, size_t most, PtcValue *out)
{
    PtcMatcher m;
    PtcBuf buf;
    size_t count = 0;
    ptc_heap_buf_init(vm->heap, &buf);
    bool ok = ptc_matcher_init(&m, vm->heap, argv[1], argv[0]) &&
              write_regex_replaced(vm, &m, &buf, argv[2], most, &count);
    ptc_regex_end(vm, &m);
    if (!ptc_buf_ok(&buf))
        ok = ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    if (ok && count == 0) {
        *out = argv[0];
    } else if (ok) {
        *out = PTC_RETRY(vm, ptc_str_take(vm->heap, &buf));
        ok = *out != PTC_NONE;
    }
    ptc_buf_deinit(&buf);
    return ok;
}

bool ptc_regex_replace(PtcVM *vm, const PtcValue *argv, size_t most, PtcValue *out)
{
    if (ptc_is_string(argv[2]))
        return PTC_RETRY(vm, replace_matches(vm, argv, most, out));
    if (!ptc_is_callable(argv[2]))
        return ptc_fail_type(vm, argv, 2, "a string or function");
    return replace_matches(vm, argv, most, out);
}

PTC_BUILTIN_TABLE(ptc_lib_regex, regex_pattern, regex_is, regex_find, regex_matches, regex_seq,
                  regex_extract, regex_extract_int, regex_split);
