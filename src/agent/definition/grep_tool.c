/* SPDX-License-Identifier: MIT
 * grep and grep-n.  Each line is matched by itself.  With context, a line is held back until it is known whether a
 * match follows closely enough, so the text is walked over only once. */
#include <stdio.h>

#include "agent/agent_kinds.h"
#include "tool/wire/answer.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/regex/regex.h"
#include "value/str.h"

enum { CONTEXT_MAX = 1000 };

typedef struct Grep {
    PtcToolCall *call;
    PtcHeap *heap;
    PtcValue regex; /* PTC_NONE: every line matches */
    PtcText text;
    bool numbered;
    size_t context;
    PtcValue found;    /* a vector being built */
    size_t pos, line;  /* the next line, its number from 1 */
    size_t told;       /* lines up to this number have been reported or passed over */
    size_t open_to;    /* lines up to this number belong to the match before them */
    PtcValue names[3]; /* line, text, match */
} Grep;

/* -------------------------------------------------------------------------------- lines */

/* The line at *pos without its end; false at the end of the text.  Empty lines at the very end do not count. */
static bool next_text_line(PtcText text, size_t *pos, PtcText *line)
{
    if (*pos >= text.len)
        return false;
    const char *from = text.bytes + *pos, *end = memchr(from, '\n', text.len - *pos);
    size_t n = end ? (size_t)(end - from) : text.len - *pos;
    *pos += n + (end != NULL);
    if (n && end && from[n - 1] == '\r')
        n--;
    *line = (PtcText){from, n};
    return true;
}

static PtcText without_empty_end(PtcText t)
{
    while (t.len && (t.bytes[t.len - 1] == '\n' || t.bytes[t.len - 1] == '\r'))
        t.len--;
    return t;
}

/* ------------------------------------------------------------------------------ telling */

static PtcValue make_match_entry(Grep *g, PtcText line, size_t number, bool match)
{
    PtcValue text = ptc_str_new(g->heap, line.bytes, line.len);
    PtcValue values[] = {ptc_int((int64_t)number), text, match ? PTC_TRUE : PTC_FALSE};
    PtcValue map = g->numbered ? ptc_map_empty(g->heap) : text;
    for (size_t i = 0; text != PTC_NONE && map != PTC_NONE && g->numbered && i < 3; i++)
        map = ptc_map_assoc(g->heap, map, g->names[i], values[i]);
    return text == PTC_NONE ? PTC_NONE : map;
}

static bool tell_match(Grep *g, PtcText line, size_t number, bool match)
{
    PtcValue v = make_match_entry(g, line, number, match);
    g->told = number;
    return v != PTC_NONE && ptc_build_add(g->heap, g->found, v);
}

/* Reports the lines before a match at line `at`, which begins at byte `before`: as many as the context asks for. */
static bool tell_before(Grep *g, size_t before, size_t at)
{
    size_t first = at > g->context + 1 ? at - g->context : 1;
    if (first <= g->told)
        first = g->told + 1;
    size_t pos = before;
    for (size_t n = at; n > first; n--)
        for (pos--; pos > 0 && g->text.bytes[pos - 1] != '\n';)
            pos--;
    PtcText line;
    for (size_t n = first; n < at; n++)
        if (!next_text_line(g->text, &pos, &line) || !tell_match(g, line, n, false))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------ matching */

static PtcMatch match_line(Grep *g, PtcText line)
{
    PtcMatcher m;
    if (g->regex == PTC_NONE)
        return PTC_MATCH_FOUND;
    PtcValue str = ptc_str_new(g->heap, line.bytes, line.len);
    if (str == PTC_NONE)
        return PTC_MATCH_FAILED;
    PtcMatch got =
        ptc_matcher_init(&m, g->heap, g->regex, str) ? ptc_matcher_next(&m) : PTC_MATCH_FAILED;
    ptc_matcher_deinit(&m);
    return got;
}

static bool take_grep_line(Grep *g, PtcText line, size_t begins)
{
    PtcMatch got = match_line(g, line);
    size_t number = ++g->line;
    if (got == PTC_MATCH_FAILED)
        return false;
    if (got == PTC_MATCH_FOUND) {
        g->open_to = number + g->context;
        return tell_before(g, begins, number) && tell_match(g, line, number, true);
    }
    return number > g->open_to || g->open_to == 0 || tell_match(g, line, number, false);
}

static bool grep_lines(Grep *g)
{
    PtcText line;
    for (size_t begins = 0; next_text_line(g->text, &g->pos, &line); begins = g->pos)
        if (!ptc_tick(g->heap->budget, 1 + (int64_t)line.len / 64) ||
            !take_grep_line(g, line, begins))
            return false;
    return true;
}

/* ----------------------------------------------------------------------------- patterns */

/* The pattern in Java's notation, ignoring case.  PTC_NONE: the heap is full. */
static PtcValue plain_pattern(PtcHeap *heap, PtcText p)
{
    PtcBuf buf;
    bool greps = false;
    for (size_t i = 0; i + 1 < p.len; i++)
        if (p.bytes[i] == '\\') {
            greps = greps || p.bytes[i + 1] == '|';
            i++;
        }
    ptc_heap_buf_init(heap, &buf);
    ptc_buf_add_cstr(&buf, "(?iu)");
    for (size_t i = 0; i < p.len; i++) {
        bool escape = p.bytes[i] == '\\' && i + 1 < p.len;
        if (!(escape && greps && strchr("()|", p.bytes[i + 1])))
            ptc_buf_add_char(&buf, p.bytes[i]);
        if (escape)
            ptc_buf_add_char(&buf, p.bytes[++i]);
    }
    PtcValue v = ptc_buf_ok(&buf) ? ptc_str_take(heap, &buf) : PTC_NONE;
    ptc_buf_deinit(&buf);
    return v;
}

/* False: the call has been answered, or the budget stopped. */
static bool read_grep_pattern(Grep *g, PtcText pattern)
{
    PtcRegexError error = {.message = ""};
    char text[300];
    g->regex = PTC_NONE;
    if (pattern.len == 0)
        return true;
    PtcValue v = plain_pattern(g->heap, pattern);
    if (v != PTC_NONE)
        g->regex = ptc_regex_new(g->heap, v, &error);
    if (v == PTC_NONE || g->regex != PTC_NONE || !error.message[0])
        return g->regex != PTC_NONE;
    snprintf(text, sizeof text, "pattern is not a valid regular expression: %s", error.message);
    ptc_answer_fail(g->call, ptc_text_cstr(text));
    return false;
}

/* ------------------------------------------------------------------------------ the tools */

static bool read_context_lines(Grep *g, PtcValue v)
{
    if (v == PTC_NONE || v == PTC_NIL)
        return true;
    if (!ptc_is_int(v) || ptc_to_int(v) < 0 || ptc_to_int(v) > CONTEXT_MAX) {
        ptc_answer_fail(g->call, PTC_TEXT("context is a number of lines from 0 to 1000"));
        return false;
    }
    g->context = (size_t)ptc_to_int(v);
    return true;
}

static bool make_names(Grep *g)
{
    static const char *const names[] = {"line", "text", "match"};
    for (size_t i = 0; i < 3; i++)
        if ((g->names[i] = ptc_str_new(g->heap, names[i], strlen(names[i]))) == PTC_NONE)
            return false;
    return (g->found = ptc_build_new(g->heap)) != PTC_NONE;
}

static PtcToolAnswer answer_grep_matches(PtcToolCall *call, bool numbered)
{
    Grep g = {.call = call, .heap = call->data.heap, .numbered = numbered};
    PtcText pattern = ptc_str_text(ptc_map_field(g.heap, call->args, "pattern"));
    PtcValue text = ptc_map_field(g.heap, call->args, "text");
    if (!pattern.bytes || text == PTC_NONE || !ptc_is_string(text)) {
        ptc_answer_fail(call, PTC_TEXT("pattern and text must be strings"));
        return PTC_TOOL_ANSWERED;
    }
    g.text = without_empty_end(ptc_str_text(text));
    if (numbered && !read_context_lines(&g, ptc_map_field(g.heap, call->args, "context")))
        return PTC_TOOL_ANSWERED;
    if (!read_grep_pattern(&g, pattern) || !make_names(&g) || !grep_lines(&g))
        return PTC_TOOL_ANSWERED;
    PtcValue all = ptc_build_done(g.heap, g.found, 0);
    if (all != PTC_NONE)
        ptc_answer_value(call, all);
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer answer_grep(PtcToolCall *call, void *user)
{
    (void)user;
    return answer_grep_matches(call, false);
}

static PtcToolAnswer answer_grep_n(PtcToolCall *call, void *user)
{
    (void)user;
    return answer_grep_matches(call, true);
}

const PtcToolKind ptc_grep_kind = {
    .key = "grep",
    .doc = "Lines of a text (not of a file) that match a regular expression, ignoring case.",
    .signature = "(pattern :string, text :string) -> [:string]",
    .call = answer_grep,
    .inside = true,
    .pure = true,
};

const PtcToolKind ptc_grep_n_kind = {
    .key = "grep-n",
    .doc = "Like grep, with line numbers; context: lines before and after each match.",
    .signature = "(pattern :string, text :string, context :int?)"
                 " -> [{line :int, text :string, match :bool}]",
    .call = answer_grep_n,
    .inside = true,
    .pure = true,
};
