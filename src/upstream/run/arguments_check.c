/* SPDX-License-Identifier: MIT
 * A value that is not known yet is nil in the arguments.  Findings about such a value are dropped; findings about its
 * key (unknown, given twice, ambiguous) are kept. */
#include "upstream/run/arguments_check.h"

#include "json/emit.h"
#include "json/parse.h"
#include "upstream/catalog/naming.h"
#include "value/coll/fields.h"

static bool same_key(PtcArena *arena, PtcText a, PtcText b)
{
    PtcText x, y;
    return ptc_naming_fold(arena, a, &x) && ptc_naming_fold(arena, b, &y) && ptc_text_same(x, y);
}

/* The first step of a path: opts of opts.dryRun. */
static PtcText first_step(const char *path)
{
    return (PtcText){path, strcspn(path, ".[")};
}

static bool about_value(const PtcArgumentIssue *issue)
{
    return strcmp(issue->problem, "missing") == 0 || strcmp(issue->problem, "type") == 0 ||
           strcmp(issue->problem, "enum") == 0;
}

static bool is_open_argument(PtcArena *arena, PtcValue open, const PtcArgumentIssue *issue)
{
    for (size_t i = 0; about_value(issue) && i < ptc_fields_count(open); i++) {
        PtcValue key = ptc_seq_nth(open, i);
        if (ptc_is_string(key) && same_key(arena, ptc_str_text(key), first_step(issue->path)))
            return true;
    }
    return false;
}

static void write_argument_issue(PtcBuf *out, const PtcArgumentIssue *issue)
{
    ptc_emit_object(out);
    ptc_emit_field_text(out, "path", ptc_text_cstr(issue->path));
    ptc_emit_field_text(out, "problem", ptc_text_cstr(issue->problem));
    if (issue->nearest[0])
        ptc_emit_field_text(out, "nearest", ptc_text_cstr(issue->nearest));
    ptc_emit_field_text(out, "message", ptc_text_cstr(issue->message));
    ptc_emit_object_end(out);
}

static void write_argument_issues(PtcHeap *heap, PtcBuf *out, PtcValue open,
                                  const PtcArgumentIssues *issues)
{
    PtcArena arena;
    ptc_arena_init(&arena, heap->pool->mem);
    ptc_emit_object(out);
    ptc_emit_key(out, "issues");
    ptc_emit_array(out);
    for (size_t i = 0; i < issues->count; i++)
        if (!is_open_argument(&arena, open, &issues->items[i]))
            write_argument_issue(out, &issues->items[i]);
    ptc_emit_array_end(out);
    ptc_emit_object_end(out);
    ptc_arena_deinit(&arena);
}

/* The arguments with nil for what is not known. */
static PtcValue whole_args(PtcHeap *heap, PtcValue question, PtcValue open)
{
    PtcValue args = ptc_map_field(heap, question, "args");
    if (args == PTC_NONE || !ptc_is_map(args))
        args = ptc_fields_map(heap);
    for (size_t i = 0; i < ptc_fields_count(open) && args != PTC_NONE; i++)
        if (ptc_is_string(ptc_seq_nth(open, i)))
            args = ptc_map_assoc(heap, args, ptc_seq_nth(open, i), PTC_NIL);
    return args;
}

bool ptc_arguments_check(PtcHeap *heap, PtcArgumentsIn in, PtcText text, PtcBuf *out)
{
    PtcJsonError error;
    PtcArgumentIssues issues = {0};
    PtcValue question = ptc_json_parse(heap, text.bytes, text.len, &error);
    if (question == PTC_NONE && !ptc_fields_ok(heap))
        return false;
    bool map = question != PTC_NONE && ptc_is_map(question);
    PtcValue open = map ? ptc_map_field(heap, question, "open") : PTC_NONE;
    in.args = map ? whole_args(heap, question, open) : PTC_NIL;
    in.unchecked = ptc_fields_count(open) > 0;
    if (in.args != PTC_NONE)
        (void)!ptc_arguments_fit(heap, &in, &issues);
    if (!ptc_fields_ok(heap))
        return false;
    write_argument_issues(heap, out, open, &issues);
    return ptc_buf_ok(out);
}
