/* SPDX-License-Identifier: MIT
 * Matchers: a regex at work on a string, as re-matcher gives it.  It is the one thing here that goes on by being used,
 * as in Java: each re-find leaves it behind the match.  Only the heap that owns it may move it on, so that no thread
 * changes what another one reads, and nothing that a session keeps ever changes. */
#include "lisp/lib/text/matcher.h"

#include "lisp/lib/text/regex_find.h"
#include "lisp/vm/vm_int.h"

/* Where the next search begins (bytes), and the last match: nil, or a vector of it and its groups. */
enum { M_REGEX, M_STR, M_FROM, M_GROUPS, M_START, M_END, M_FIELDS };

static bool arg_matcher(PtcVM *vm, const PtcValue *argv, int i)
{
    return ptc_is_record(argv[i], PTC_R_MATCHER) ||
           ptc_fail_type(vm, argv, i, "a matcher, as (re-matcher regex s) gives it");
}

static PtcValue *matcher_fields(PtcValue matcher)
{
    return ((PtcRecord *)(uintptr_t)matcher)->fields;
}

static bool arg_movable(PtcVM *vm, const PtcValue *argv)
{
    if (!arg_matcher(vm, argv, 0))
        return false;
    if (ptc_heap_owns(vm->heap, argv[0]))
        return true;
    ptc_fail_here(vm, PTC_E_VALUE,
                  "the matcher was made outside of this pmap, or by another program");
    return ptc_fail_hint(vm, "make it where it is used: (re-matcher regex s)");
}

PTC_BUILTIN(regex_matcher, "regex", "re-matcher", 2, 2, 0, "(re-matcher regex s)",
            "A matcher: each (re-find m) gives the next match in the string, and (re-groups m) the "
            "last one again.",
            "(let [m (re-matcher #\"\\d\" \"a1b2\")] [(re-find m) (re-find m) (re-find m)]) => "
            "[\"1\" \"2\" nil]\n(re-matcher \"a\" \"b\") !! type_error")
{
    if (!ptc_is_regex(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a regex, #\"...\" or (re-pattern s)");
    if (!ptc_is_string(argv[1]))
        return ptc_fail_type(vm, argv, 1, "a string");
    PtcValue fields[M_FIELDS] = {argv[0], argv[1], ptc_int(0), PTC_NIL, ptc_int(0), ptc_int(0)};
    return ptc_give(out, ptc_record_new(vm, PTC_R_MATCHER, fields, M_FIELDS));
}

/* The whole match and its groups, always as a vector. */
static PtcValue groups_of(PtcMatcher *m)
{
    PtcValue build = ptc_build_new(m->heap);
    for (unsigned i = 0; build != PTC_NONE && i <= m->groups; i++) {
        PtcValue group = ptc_matcher_group(m, i);
        if (group == PTC_NONE || !ptc_tick(m->heap->budget, 1) ||
            !ptc_build_add(m->heap, build, group))
            return PTC_NONE;
    }
    return build == PTC_NONE ? build : ptc_build_done(m->heap, build, 0);
}

/* Moves the matcher on by one search; *found says whether that found something.  Nothing changes when it fails. */
static bool advance_matcher(PtcVM *vm, PtcValue matcher, PtcMatch (*how)(PtcMatcher *), bool *found)
{
    PtcMatcher m;
    PtcValue *f = matcher_fields(matcher), groups = PTC_NIL;
    PtcMatch match = PTC_MATCH_FAILED;
    if (ptc_matcher_init(&m, vm->heap, f[M_REGEX], f[M_STR])) {
        m.from = (size_t)ptc_to_int(f[M_FROM]);
        match = how(&m);
    }
    if (match == PTC_MATCH_FOUND && (groups = groups_of(&m)) == PTC_NONE)
        match = PTC_MATCH_FAILED;
    *found = match == PTC_MATCH_FOUND;
    if (match != PTC_MATCH_FAILED) {
        f[M_GROUPS] = groups;
        f[M_FROM] = ptc_int((int64_t)m.from);
        f[M_START] = ptc_int(*found ? (int64_t)m.at[0] : 0);
        f[M_END] = ptc_int(*found ? (int64_t)m.at[1] : 0);
    }
    ptc_regex_end(vm, &m);
    return match != PTC_MATCH_FAILED;
}

/* As re-find gives a match: a string, or a vector when there are groups. */
static PtcValue last_match(PtcValue matcher)
{
    PtcValue groups = matcher_fields(matcher)[M_GROUPS];
    if (groups == PTC_NIL)
        return PTC_NIL;
    return ptc_seq_count(groups) == 1 ? ptc_seq_nth(groups, 0) : groups;
}

bool ptc_matcher_find(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    bool found;
    return arg_movable(vm, argv) && advance_matcher(vm, argv[0], ptc_matcher_next, &found) &&
           ptc_give(out, found ? last_match(argv[0]) : PTC_NIL);
}

static bool has_match(PtcVM *vm, const PtcValue *argv)
{
    if (!arg_matcher(vm, argv, 0))
        return false;
    if (matcher_fields(argv[0])[M_GROUPS] != PTC_NIL)
        return true;
    ptc_fail_here(vm, PTC_E_VALUE | PTC_AS(ILLEGAL_STATE), "the matcher has found nothing");
    return ptc_fail_hint(vm, "ask it first: (re-find m) or (.matches m)");
}

PTC_BUILTIN_EXPR(regex_groups, "regex", "re-groups", 1, 1, 0, "(re-groups matcher)",
                 "The last match of a matcher, as re-find gave it.",
                 "(let [m (re-matcher #\"(\\w)=(\\d)\" \"a=1\")] (re-find m) (re-groups m)) => "
                 "[\"a=1\" \"a\" \"1\"]\n(re-groups (re-matcher #\"a\" \"a\")) !! value_error\n"
                 "(re-groups \"a\") !! type_error",
                 has_match(vm, argv) && ptc_give(out, last_match(argv[0])))

/* ---------------------------------------------------------------------------- methods */

PTC_BUILTIN(matcher_find, "java", ".find", 1, 1, 0, "(.find matcher)",
            "Moves a matcher to the next match; is there one?",
            "(.find (re-matcher #\"\\d\" \"a1\")) => true\n(.find \"a\") !! type_error")
{
    bool found;
    return arg_movable(vm, argv) && advance_matcher(vm, argv[0], ptc_matcher_next, &found) &&
           ptc_give(out, ptc_bool(found));
}

/* (.matches s pattern), where the pattern is text. */
static bool string_matches(PtcVM *vm, const PtcValue *argv, PtcValue *out)
{
    PtcMatcher m;
    if (!ptc_is_string(argv[1]))
        return ptc_fail_type(vm, argv, 1, "a string with a pattern");
    PtcValue regex = ptc_regex_make(vm, argv[1]);
    if (regex == PTC_NONE)
        return false;
    PtcMatch found =
        ptc_matcher_init(&m, vm->heap, regex, argv[0]) ? ptc_matcher_whole(&m) : PTC_MATCH_FAILED;
    ptc_regex_end(vm, &m);
    *out = ptc_bool(found == PTC_MATCH_FOUND);
    return found != PTC_MATCH_FAILED;
}

/* The whole string from its beginning, wherever the last search has ended. */
static PtcMatch from_start(PtcMatcher *m)
{
    m->from = 0;
    PtcMatch match = ptc_matcher_whole(m);
    m->from = match == PTC_MATCH_FOUND ? m->at[1] : 0;
    return match;
}

PTC_BUILTIN(matcher_matches, "java", ".matches", 1, 2, 0,
            "(.matches matcher), (.matches s pattern)",
            "Does the regex match the whole string?  Its groups are then those of the matcher.",
            "(.matches (re-matcher #\"\\d+\" \"12\")) => true\n(.matches \"ab\" \"a\") => false\n"
            "(.matches \"12\" \"[0-9]+\") => true\n(.matches 5) !! type_error")
{
    bool found;
    if (argc == 2 && ptc_is_string(argv[0]))
        return string_matches(vm, argv, out);
    return arg_movable(vm, argv) && advance_matcher(vm, argv[0], from_start, &found) &&
           ptc_give(out, ptc_bool(found));
}

/* The number of the group that argument i names or counts; 0 without one. */
static bool group_number(PtcVM *vm, int argc, const PtcValue *argv, int64_t *n)
{
    PtcMatcher m;
    *n = 0;
    if (argc == 1)
        return true;
    if (!ptc_is_string(argv[1]))
        return ptc_arg_int(vm, argv, 1, n);
    char name[64];
    size_t len = ptc_str_len(argv[1]);
    const PtcValue *f = matcher_fields(argv[0]);
    bool ok = len < sizeof name && ptc_matcher_init(&m, vm->heap, f[M_REGEX], f[M_STR]);
    if (ok) {
        memcpy(name, ptc_str_bytes(argv[1]), len);
        name[len] = 0;
        *n = ptc_matcher_name(&m, name);
    }
    if (len < sizeof name)
        ptc_regex_end(vm, &m);
    return ok || (vm->budget.stop == PTC_STOP_NONE && (*n = -1));
}

PTC_BUILTIN(matcher_group, "java", ".group", 1, 2, 0, "(.group matcher group?)",
            "The last match of a matcher, or one of its groups by number or name; nil when that "
            "took no part.",
            "(let [m (re-matcher #\"(?<k>\\w)=(\\d)\" \"a=1\")] (.find m) [(.group m) (.group m 2) "
            "(.group m \"k\")]) => [\"a=1\" \"1\" \"a\"]\n"
            "(let [m (re-matcher #\"a\" \"a\")] (.find m) (.group m 1)) !! index_error\n"
            "(.group (re-matcher #\"a\" \"b\")) !! value_error")
{
    int64_t n;
    if (!has_match(vm, argv) || !group_number(vm, argc, argv, &n))
        return false;
    PtcValue groups = matcher_fields(argv[0])[M_GROUPS];
    if (n < 0 || n >= (int64_t)ptc_seq_count(groups))
        return ptc_fail(vm, PTC_E_INDEX, ".group: the regex has no such group");
    return ptc_give(out, ptc_seq_nth(groups, (size_t)n));
}

PTC_BUILTIN(matcher_group_count, "java", ".groupCount", 1, 1, 0, "(.groupCount matcher)",
            "The number of groups of its regex.",
            "(.groupCount (re-matcher #\"(a)(b)\" \"\")) => 2\n(.groupCount 5) !! type_error")
{
    PtcMatcher m;
    if (!arg_matcher(vm, argv, 0))
        return false;
    const PtcValue *f = matcher_fields(argv[0]);
    bool ok = ptc_matcher_init(&m, vm->heap, f[M_REGEX], f[M_STR]);
    *out = ptc_int(ok ? m.groups : 0);
    ptc_regex_end(vm, &m);
    return ok;
}

/* A place in bytes as one in graphemes, which positions count here. */
static bool give_place(PtcVM *vm, PtcValue matcher, int field, PtcValue *out)
{
    PtcValue str = matcher_fields(matcher)[M_STR];
    size_t bytes = (size_t)ptc_to_int(matcher_fields(matcher)[field]);
    if (ptc_str_simple(str))
        return ptc_give(out, ptc_int((int64_t)bytes));
    PtcValue front = ptc_str_new(vm->heap, ptc_str_bytes(str), bytes);
    return front != PTC_NONE &&
           ptc_give(out, ptc_int((int64_t)ptc_str_graphemes(&vm->budget, front)));
}

PTC_BUILTIN_EXPR(matcher_start, "java", ".start", 1, 1, 0, "(.start matcher)",
                 "Where the last match begins, in characters from 0.",
                 "(let [m (re-matcher #\"b+\" \"abb\")] (.find m) [(.start m) (.end m)]) => [1 3]\n"
                 "(.start (re-matcher #\"a\" \"a\")) !! value_error",
                 has_match(vm, argv) && give_place(vm, argv[0], M_START, out))

PTC_BUILTIN_EXPR(matcher_end, "java", ".end", 1, 1, 0, "(.end matcher)",
                 "Where the last match ends, in characters from 0.",
                 "(let [m (re-matcher #\"é\" \"éa\")] (.find m) (.end m)) => 1\n"
                 "(.end (re-matcher #\"a\" \"a\")) !! value_error",
                 has_match(vm, argv) && give_place(vm, argv[0], M_END, out))

PTC_BUILTIN_TABLE(ptc_lib_matcher, regex_matcher, regex_groups, matcher_find, matcher_matches,
                  matcher_group, matcher_group_count, matcher_start, matcher_end);
