/* SPDX-License-Identifier: MIT
 * Batch lines: a JSON request in, a JSON answer out.  What always holds: every line is answered with exactly one
 * object, even a line that is not JSON or for which there was not enough memory; an answer that could not be
 * completed is not returned. */
#include "api/batch.h"

#include <stdio.h>
#include <string.h>

#include "api/api_int.h"
#include "base/utf8.h"
#include "engine/session_named.h"
#include "json/emit.h"
#include "tool/convert.h"
#include "value/calendar.h"

enum { REQUEST_SLACK = PTC_MB };

/* One line that is being answered. */
typedef struct BatchRequest {
    Ptc *ptc;
    PtcData *data;
    PtcValue body, id;
    PtcRun run;
    PtcLimits limits;
    const PtcBatchOptions *options;
    PtcTools *tools; /* the line's own, or NULL */
    PtcWhy why;      /* it cannot be run ... */
    bool too_large;  /* ... because of its size */
    PtcBuf out;
} BatchRequest;

/* ---------------------------------------------------------------------------- requests */

static PtcValue request_field(PtcValue map, const char *name)
{
    PtcValue key, value;
    size_t len = strlen(name);
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);)
        if (ptc_is_string(key) && ptc_str_len(key) == len &&
            memcmp(ptc_str_bytes(key), name, len) == 0)
            return value == PTC_NIL ? PTC_NONE : value;
    return PTC_NONE;
}

static bool refuse_batch_line(BatchRequest *r, const char *problem)
{
    return ptc_why_say(&r->why, PTC_WHY_INVALID, "%s", problem);
}

/* What is no limit may be anything, whatever the batch was started with. */
static bool set_line_word(BatchRequest *r, const PtcLimit *limit, PtcValue value)
{
    int n = ptc_is_string(value) ? ptc_text_choice(ptc_str_text(value), limit->words) : -1;
    *ptc_limits_field(&r->limits, limit) = n;
    return n >= 0 || ptc_why_say(&r->why, PTC_WHY_INVALID, "options.%s must be one of %s",
                                 limit->line, limit->words);
}

/* Limits of the whole batch apply to every line, because lines may come from somebody else. */
static bool set_line_limit(BatchRequest *r, const PtcLimit *limit, PtcValue value)
{
    if (!ptc_is_int(value) || ptc_to_int(value) < 0 || ptc_to_int(value) > (int64_t)1 << 40)
        return ptc_why_say(&r->why, PTC_WHY_INVALID,
                           "options.%s must be a whole number of at least 0", limit->line);
    PtcLimits most;
    ptc_limits_unset(&most);
    if (r->options->most)
        most = *r->options->most;
    int64_t n = ptc_to_int(value), max = *ptc_limits_field(&most, limit);
    *ptc_limits_field(&r->limits, limit) = n * limit->unit;
    return max == PTC_UNSET || n * limit->unit <= max ||
           ptc_why_say(&r->why, PTC_WHY_INVALID,
                       "options.%s is %lld, but no line of this batch may have more than %lld, "
                       "which it was started with",
                       limit->line, (long long)n, (long long)(max / limit->unit));
}

/* ISO 8601 text, or milliseconds. */
static bool read_now(BatchRequest *r, PtcValue value)
{
    int64_t ms = 0;
    bool fits = ptc_is_int(value) ? ptc_millis_fit(ms = ptc_to_int(value))
                : ptc_is_string(value)
                    ? ptc_iso_millis(ptc_str_bytes(value), ptc_str_len(value), &ms)
                    : false;
    if (!fits || ms == 0)
        return refuse_batch_line(r,
                                 "options.now must be a time such as \"2026-01-31T12:00:00Z\", or "
                                 "milliseconds since 1970, "
                                 "other than 0");
    r->run.now_ms = ms;
    return true;
}

static bool refuse_line_option(BatchRequest *r, PtcText name)
{
    const PtcLimit *limit;
    char known[200] = "";
    size_t shown = name.len > 40 ? ptc_utf8_valid_prefix(name.bytes, 40) : name.len;
    for (size_t i = 0, n = 0; n < sizeof known && (limit = ptc_limits_row(i)); i++)
        if (limit->line)
            n += (size_t)snprintf(known + n, sizeof known - n, "%s, ", limit->line);
    return ptc_why_say(&r->why, PTC_WHY_INVALID, "unknown option %.*s; known: %snow",
                       PTC_ARG_OF(name.bytes, shown), known);
}

static bool read_line_option(BatchRequest *r, PtcValue key, PtcValue value)
{
    PtcText name = ptc_str_text(key);
    const PtcLimit *limit = ptc_limits_of_line(name);
    if (ptc_text_is(name, "now"))
        return read_now(r, value);
    if (!limit)
        return refuse_line_option(r, name);
    return limit->words ? set_line_word(r, limit, value) : set_line_limit(r, limit, value);
}

static bool read_line_options(BatchRequest *r, PtcValue options)
{
    PtcValue key, value;
    if (options == PTC_NONE)
        return true;
    if (!ptc_is_map(options))
        return refuse_batch_line(r, "options must be an object");
    for (size_t pos = 0; ptc_map_next(options, &pos, &key, &value);)
        if (!read_line_option(r, key, value))
            return false;
    r->run.limits = &r->limits;
    return true;
}

static bool read_session_name(BatchRequest *r, PtcValue name)
{
    if (name == PTC_NONE && !r->options->one_session)
        return true;
    if (name != PTC_NONE && !ptc_is_string(name))
        return refuse_batch_line(r, "session must be a string");
    PtcText text = {"", 0};
    if (name != PTC_NONE)
        text = (PtcText){ptc_str_bytes(name), ptc_str_len(name)};
    r->run.session = ptc_session_named(r->ptc, text);
    return r->run.session || refuse_batch_line(r, "no room for another session");
}

/* The context has a limit of its own, but shares its heap with the rest of the line.  How much the whole line takes
 * is known; what the context alone takes is only measured if that is too much. */
static bool hold_context(BatchRequest *r)
{
    PtcHeap *heap = r->data->heap;
    size_t limit = (size_t)r->ptc->limits.context_bytes;
    if (r->run.context == PTC_NONE || heap->used <= limit)
        return true;
    ptc_heap_mark_begin(heap);
    ptc_heap_mark(heap, r->run.context);
    size_t bytes = heap->live;
    ptc_heap_mark(heap, r->body);
    ptc_heap_mark_finish(heap);
    r->too_large = bytes > limit;
    return !r->too_large || ptc_why_say(&r->why, PTC_WHY_REFUSED,
                                        "the context needs %zu bytes once decoded, its limit is "
                                        "%zu: pass less data, or raise context_bytes",
                                        bytes, limit);
}

/* A line's own tools replace those that all lines share. */
static bool read_line_tools(BatchRequest *r, PtcValue definitions)
{
    r->run.tools = r->options->tools;
    if (definitions == PTC_NONE)
        return true;
    if (!ptc_is_map(definitions))
        return refuse_batch_line(r, "\"tools\" must be an object from names to definitions");
    r->tools = ptc_tools_new();
    if (!r->tools)
        return refuse_batch_line(r, "the host is out of memory");
    r->run.tools = r->tools;
    return ptc_tools_read(r->tools, definitions, &r->options->allow, &r->why);
}

static bool read_contract(BatchRequest *r, PtcValue signature, PtcValue journal)
{
    if (signature != PTC_NONE && !ptc_is_string(signature))
        return refuse_batch_line(r, "\"signature\" must be a string");
    if (journal != PTC_NONE && !ptc_is_map(journal))
        return refuse_batch_line(r, "\"journal\" must be an object");
    if (signature != PTC_NONE) {
        r->run.signature = ptc_str_bytes(signature);
        r->run.signature_len = ptc_str_len(signature);
    }
    r->run.journal = journal;
    return true;
}

static bool read_batch_line(BatchRequest *r, const char *line, size_t len)
{
    char error[200] = "";
    r->body = ptc_make_json(r->data, line, len, error, sizeof error);
    if (r->body == PTC_NONE) {
        r->too_large = r->data->heap->budget->stop == PTC_STOP_MEMORY;
        return ptc_why_say(&r->why, r->too_large ? PTC_WHY_REFUSED : PTC_WHY_INVALID, "%s%s",
                           r->too_large ? "" : "the line is not JSON: ", error);
    }
    if (!ptc_is_map(r->body))
        return refuse_batch_line(r, "a request is a JSON object with \"program\"");
    r->id = request_field(r->body, "id");
    PtcValue program = request_field(r->body, "program"),
             context = request_field(r->body, "context");
    if (program == PTC_NONE || !ptc_is_string(program))
        return refuse_batch_line(r, "\"program\" must be a string");
    if (context != PTC_NONE && !ptc_is_map(context))
        return refuse_batch_line(r, "\"context\" must be an object");
    r->run.program = ptc_str_bytes(program);
    r->run.program_len = ptc_str_len(program);
    r->run.context = context;
    return hold_context(r) && read_line_options(r, request_field(r->body, "options")) &&
           read_session_name(r, request_field(r->body, "session")) &&
           read_contract(r, request_field(r->body, "signature"),
                         request_field(r->body, "journal")) &&
           read_line_tools(r, request_field(r->body, "tools"));
}

/* ----------------------------------------------------------------------------- answers */

/* An empty text may have a NULL pointer, which the emitter would write as null. */
static void add_batch_field(PtcBuf *out, const char *name, const char *text, size_t len)
{
    ptc_emit_field_text(out, name, (PtcText){text ? text : "", len});
}

/* An id that cannot be written as JSON becomes null: the line must be answered in any case. */
static void begin_batch_answer(BatchRequest *r, bool ok)
{
    ptc_emit_object(&r->out);
    ptc_emit_key(&r->out, "id");
    size_t before = r->out.len;
    if (r->id == PTC_NONE || !ptc_emit_value(&r->out, r->data->heap, r->id)) {
        r->out.len = before;
        ptc_emit_null(&r->out);
    }
    ptc_emit_field_bool(&r->out, "ok", ok);
}

static void add_batch_prints(PtcBuf *out, const PtcOutcome *o)
{
    ptc_emit_key(out, "prints");
    ptc_emit_array(out);
    for (size_t i = 0; i < ptc_outcome_print_count(o); i++) {
        size_t len;
        const char *text = ptc_outcome_print(o, i, &len);
        ptc_emit_text(out, (PtcText){text ? text : "", len});
    }
    ptc_emit_array_end(out);
    if (ptc_outcome_prints_cut(o))
        ptc_emit_field_bool(out, "prints_truncated", true);
}

/* The clock began with the request, so a run that took all its time has left none: what it did is told all the same. */
static void add_batch_value(BatchRequest *r, const char *name, PtcValue v)
{
    PtcJsonError error;
    size_t before = r->out.len;
    ptc_engine_budget_unclocked(r->ptc, r->data->heap->budget);
    ptc_emit_key(&r->out, name);
    if (!ptc_to_json_value(r->data->heap, &r->out, v, -1, &error) && !r->out.failed)
        r->out.len = before; /* a function in a journal, for example, cannot be JSON */
}

static void add_batch_calls(BatchRequest *r, PtcOutcome *o)
{
    PtcToolRecord record = {.size = sizeof record};
    size_t n = ptc_outcome_tool_count(o, NULL);
    ptc_emit_key(&r->out, "tool_calls");
    ptc_emit_array(&r->out);
    for (size_t i = 0; i < n && ptc_outcome_tool(o, i, &record); i++) {
        ptc_emit_object(&r->out);
        add_batch_field(&r->out, "name", record.name, record.name_len);
        ptc_emit_field_bool(&r->out, "ok", record.ok);
        ptc_emit_field_bool(&r->out, "cached", record.cached);
        ptc_emit_object_end(&r->out);
    }
    ptc_emit_array_end(&r->out);
}

/* What the run did outside, and the warnings: reported even when it failed. */
static void add_batch_effects(BatchRequest *r, PtcOutcome *o)
{
    if (ptc_outcome_warning_count(o) > 0) {
        ptc_emit_key(&r->out, "warnings");
        ptc_outcome_write_warnings(o, &r->out);
    }
    if (r->run.tools)
        add_batch_calls(r, o);
    if (ptc_outcome_journal(o) != PTC_NONE)
        add_batch_value(r, "journal", ptc_outcome_journal(o));
    if (ptc_outcome_summaries(o) != PTC_NONE)
        add_batch_value(r, "summaries", ptc_outcome_summaries(o));
}

/* The result as text and, if possible, as JSON. */
static void add_batch_result(BatchRequest *r, PtcOutcome *o)
{
    size_t len, why_len;
    bool cut = false;
    const char *text = ptc_outcome_text(o, &len, &cut);
    add_batch_field(&r->out, "text", text, text ? len : 0);
    if (cut)
        ptc_emit_field_bool(&r->out, "truncated", true);
    const char *json = ptc_outcome_json(o, &len);
    if (!text || (!json && !o->json_none)) /* an answer is complete, or there is none at all */
        r->out.failed = true;
    if (json)
        ptc_emit_field_raw(&r->out, "json", (PtcText){json, len});
    const char *why = ptc_outcome_json_problem(o, &why_len, NULL);
    if (why)
        add_batch_field(&r->out, "json_error", why, why_len);
    if (json && o->validated)
        ptc_emit_field_raw(&r->out, "validated", (PtcText){json, len});
}

static void answer_batch_success(BatchRequest *r, PtcOutcome *o)
{
    begin_batch_answer(r, true);
    add_batch_result(r, o);
    add_batch_prints(&r->out, o);
    add_batch_effects(r, o);
    if (ptc_outcome_control(o))
        ptc_emit_field_cstr(&r->out, "control", ptc_outcome_control(o));
    ptc_emit_object_end(&r->out);
}

static void add_error_place(PtcBuf *out, const PtcError *e)
{
    ptc_emit_field_uint(out, "line", e->line);
    ptc_emit_field_uint(out, "column", e->column);
}

static void add_batch_finding(PtcBuf *out, const PtcError *e)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "kind", e->kind);
    add_batch_field(out, "message", e->message, e->message_len);
    add_error_place(out, e);
    add_batch_field(out, "hint", e->hint, e->hint_len);
    add_batch_field(out, "form", e->form, e->form_len);
    if (e->earlier)
        ptc_emit_field_bool(out, "earlier", true);
    ptc_emit_object_end(out);
}

/* The error of the line as a whole: the first one. */
static void begin_error(BatchRequest *r, const PtcError *e)
{
    begin_batch_answer(r, false);
    ptc_emit_field_cstr(&r->out, "reason", e->reason);
    ptc_emit_field_cstr(&r->out, "phase", e->phase);
    ptc_emit_field_cstr(&r->out, "kind", e->kind);
    add_batch_field(&r->out, "message", e->message, e->message_len);
    add_error_place(&r->out, e);
    ptc_emit_key(&r->out, "errors");
    ptc_emit_array(&r->out);
}

static void answer_batch_error(BatchRequest *r, PtcOutcome *o)
{
    PtcError e = {.size = sizeof e};
    ptc_outcome_error(o, 0, &e);
    begin_error(r, &e);
    for (size_t i = 0; i < ptc_outcome_error_count(o); i++) {
        ptc_outcome_error(o, i, &e);
        add_batch_finding(&r->out, &e);
    }
    ptc_emit_array_end(&r->out);
    add_batch_prints(&r->out, o);
    add_batch_effects(r, o);
    ptc_emit_object_end(&r->out);
}

/* A request that could not be run at all. */
static void answer_problem(BatchRequest *r, const char *reason, const char *kind)
{
    PtcBuf *out = &r->out;
    PtcError e = {.reason = reason,
                  .phase = "parse",
                  .kind = kind,
                  .message = r->why.text,
                  .message_len = strlen(r->why.text)};
    begin_error(r, &e);
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "kind", kind);
    add_batch_field(out, "message", e.message, e.message_len);
    add_error_place(out, &e);
    ptc_emit_field_cstr(out, "hint", "");
    ptc_emit_object_end(out);
    ptc_emit_array_end(out);
    ptc_emit_key(out, "prints");
    ptc_emit_array(out);
    ptc_emit_array_end(out);
    ptc_emit_object_end(out);
}

static void answer_batch_line(BatchRequest *r, const char *line, size_t len)
{
    PtcOutcome *o = NULL;
    if (!read_batch_line(r, line, len)) {
        answer_problem(r, "args_error", r->too_large ? "size_exceeded" : "args_error");
        return;
    }
    PtcStatus status = ptc_eval(r->ptc, &r->run, &o);
    if (status == PTC_BAD_ARGUMENT) {
        refuse_batch_line(r, "an option is out of range");
        answer_problem(r, "args_error", "args_error");
    } else if (status != PTC_OK) {
        refuse_batch_line(r, "the host is out of memory");
        answer_problem(r, "memory_limit", "memory_exceeded");
    } else if (ptc_outcome_ok(o)) {
        answer_batch_success(r, o);
    } else {
        answer_batch_error(r, o);
    }
    ptc_outcome_free(o);
}

PtcStatus ptc_batch_line(Ptc *ptc, const char *line, size_t len, const PtcBatchOptions *options,
                         char **out, size_t *out_len)
{
    if (!ptc || !line || !out)
        return PTC_BAD_ARGUMENT;
    BatchRequest r = {.ptc = ptc, .options = options};
    r.data = ptc_data_new(ptc, ptc->limits.context_bytes + ptc->limits.program_bytes * 2 +
                                   REQUEST_SLACK);
    if (!r.data)
        return PTC_NO_MEMORY;
    ptc_run_init(&r.run, sizeof r.run);
    r.run.now_ms = options->now_ms;
    ptc_limits_init(&r.limits, sizeof r.limits);
    ptc_buf_init(&r.out, &ptc->mem, PTC_UNBOUNDED);
    answer_batch_line(&r, line, len);
    ptc_tools_free(r.tools);
    ptc_data_free(r.data);
    return ptc_engine_give_text(&r.out, true, out, out_len);
}

PtcStatus ptc_eval_json(Ptc *ptc, const char *request, size_t len, char **out, size_t *out_len)
{
    static const PtcBatchOptions none = {0};
    return ptc_batch_line(ptc, request, len, &none, out, out_len);
}
