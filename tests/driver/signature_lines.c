/* SPDX-License-Identifier: MIT
 * `ptc-test-driver signature`; README.md describes the lines. */
#include <stdio.h>

#include "base/text/nearest.h"
#include "cli/cmd/signature.h"
#include "driver/driver.h"
#include "driver/signature_forms.h"
#include "json/emit.h"
#include "tool/sig/sig_schema.h"
#include "value/coll/map.h"
#include "value/str.h"

/* One line that is being answered. */
typedef struct {
    PtcSigDesk desk;
    PtcValue body, id, value; /* PTC_NONE: absent */
    const PtcSig *sig;
    PtcSig from_schema;
    PtcSigMode mode;
    PtcBuf *out;
    char problem[300];
} Request;

/* -------------------------------------------------------------------------------- reading */

/* A field of the request, PTC_NONE if it is absent. */
static PtcValue field(Request *r, const char *name)
{
    return ptc_map_field(&r->desk.heap, r->body, name);
}

/* --------------------------------------------------------------------------------- errors */

static void begin(Request *r, bool ok)
{
    ptc_buf_clear(r->out);
    ptc_emit_object(r->out);
    ptc_emit_key(r->out, "id");
    size_t before = r->out->len;
    if (r->id == PTC_NONE || !ptc_sig_desk_write(&r->desk, r->out, r->id)) {
        r->out->len = before;
        ptc_emit_null(r->out);
    }
    ptc_emit_field_bool(r->out, "ok", ok);
}

static void answer_error(Request *r, const char *reason, const char *message, unsigned line,
                         unsigned column)
{
    begin(r, false);
    ptc_emit_field_cstr(r->out, "reason", reason);
    ptc_emit_key(r->out, "error");
    ptc_emit_object(r->out);
    ptc_emit_field_cstr(r->out, "message", message);
    ptc_emit_field_uint(r->out, "line", line);
    ptc_emit_field_uint(r->out, "column", column);
    ptc_emit_object_end(r->out);
    ptc_emit_object_end(r->out);
}

static void answer_args_error(Request *r, const char *message)
{
    answer_error(r, "args_error", message, 0, 0);
}

static void answer_no_memory(Request *r)
{
    answer_error(r, "memory_limit", "the value is too large", 0, 0);
}

/* -------------------------------------------------------------------------------- answers */

static void answer_parse(Request *r)
{
    begin(r, true);
    ptc_emit_key(r->out, "params");
    ptc_sig_fields_json(r->out, &r->sig->params);
    ptc_emit_key(r->out, "return");
    ptc_sig_type_json(r->out, r->sig->result);
    PtcBuf text;
    ptc_buf_init(&text, r->desk.mem, PTC_DRIVER_LINE_MAX);
    if (ptc_sig_print(&text, r->sig))
        ptc_emit_field_text(r->out, "text", ptc_buf_view(&text));
    ptc_buf_deinit(&text);
    ptc_emit_object_end(r->out);
}

/* A list of issues; and their number, if the list does not contain all of them. */
static void add_issues(Request *r, const char *name, const PtcSigIssues *issues)
{
    char total[32];
    ptc_emit_key(r->out, name);
    ptc_sig_issues_json(r->out, issues);
    snprintf(total, sizeof total, "%s_total", name);
    if (issues->total > issues->count)
        ptc_emit_field_uint(r->out, total, issues->total);
}

/* What validation says once ISO 8601 strings have become datetimes, if that differs. */
static void add_json_route(Request *r, bool valid)
{
    PtcSigDesk *d = &r->desk;
    size_t before = d->errors.total;
    PtcValue typed = ptc_sig_atomize(&d->heap, r->sig->result, r->value);
    if (typed == PTC_NONE || typed == r->value)
        return;
    ptc_sig_issues_deinit(&d->errors);
    ptc_sig_issues_deinit(&d->warnings);
    ptc_sig_issues_init(&d->errors, d->mem);
    ptc_sig_issues_init(&d->warnings, d->mem);
    bool ok = ptc_sig_output(&d->heap, r->sig, r->mode, typed, &d->warnings, &d->errors);
    if (ok == valid && d->errors.total == before)
        return;
    ptc_emit_key(r->out, "json_route");
    ptc_emit_object(r->out);
    ptc_emit_field_bool(r->out, "ok", ok);
    add_issues(r, "errors", &d->errors);
    ptc_emit_object_end(r->out);
}

static bool stopped(const Request *r)
{
    return r->desk.budget.stop != PTC_STOP_NONE;
}

static void answer_validate(Request *r)
{
    PtcSigDesk *d = &r->desk;
    bool ok = ptc_sig_output(&d->heap, r->sig, r->mode, r->value, &d->warnings, &d->errors);
    if (stopped(r)) {
        answer_no_memory(r);
        return;
    }
    begin(r, ok);
    if (!ok)
        ptc_emit_field_cstr(r->out, "reason", "validation_error");
    ptc_emit_field_bool(r->out, "valid", ok);
    add_issues(r, "errors", &d->errors);
    if (d->warnings.total)
        add_issues(r, "warnings", &d->warnings);
    add_json_route(r, ok);
    ptc_emit_object_end(r->out);
}

static void answer_coerce(Request *r)
{
    PtcSigDesk *d = &r->desk;
    PtcValue v = ptc_sig_desk_input(d, r->sig, r->mode, r->value);
    if (v == PTC_NONE && stopped(r)) {
        answer_no_memory(r);
        return;
    }
    begin(r, v != PTC_NONE);
    if (v != PTC_NONE) {
        ptc_emit_key(r->out, "value");
        if (!ptc_sig_desk_write(d, r->out, v)) {
            answer_args_error(r, "the value cannot be JSON");
            return;
        }
    } else {
        ptc_emit_field_cstr(r->out, "reason", "validation_error");
        add_issues(r, "errors", &d->errors);
    }
    add_issues(r, "warnings", &d->warnings);
    ptc_emit_object_end(r->out);
}

/* With a name, tool_schema is the whole definition of a tool; without, that of its parameters. */
static void answer_schema(Request *r)
{
    PtcValue name = field(r, "name"), about = field(r, "description");
    bool described = about != PTC_NONE && ptc_is_string(about);
    begin(r, true);
    ptc_emit_key(r->out, "schema");
    ptc_sig_schema_result(r->out, r->sig->result);
    ptc_emit_key(r->out, "tool_schema");
    if (name != PTC_NONE && ptc_is_string(name))
        ptc_sig_schema_tool(r->out, ptc_str_bytes(name), ptc_str_len(name),
                            described ? ptc_str_bytes(about) : NULL,
                            described ? ptc_str_len(about) : 0, r->sig);
    else
        ptc_sig_schema_params(r->out, r->sig, false);
    ptc_emit_field_bool(r->out, "returns_list", ptc_sig_returns_list(r->sig));
    ptc_emit_object_end(r->out);
}

/* ------------------------------------------------------------------------------- requests */

static const struct {
    const char *name;
    void (*answer)(Request *r);
    bool value;
} operations[] = {
    {"parse", answer_parse, false},
    {"validate", answer_validate, true},
    {"coerce", answer_coerce, true},
    {"schema", answer_schema, false},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* The signature of the request: its text, or a JSON Schema for the result.  False: the line has been answered. */
static bool read_signature(Request *r)
{
    PtcSigDesk *d = &r->desk;
    PtcSigError error;
    PtcValue text = field(r, "signature"), schema = field(r, "schema");
    if (text == PTC_NONE && schema != PTC_NONE) {
        r->from_schema.params.kind = PTC_SIG_FIELDS;
        r->sig = &r->from_schema;
        if (ptc_sig_import(&d->arena, &d->heap, schema, &r->from_schema.result, &error))
            return true;
        answer_error(r, error.stopped ? "memory_limit" : "parse_error", error.message, 0, 0);
        return false;
    }
    if (text == PTC_NONE || !ptc_is_string(text)) {
        answer_args_error(r, "\"signature\" must be a string");
        return false;
    }
    if (ptc_sig_parse(&d->arena, ptc_str_bytes(text), ptc_str_len(text), &r->sig, &error))
        return true;
    answer_error(r, error.stopped ? "memory_limit" : "parse_error", error.message, error.line,
                 error.column);
    return false;
}

static bool read_mode(Request *r)
{
    PtcValue mode = field(r, "mode");
    if (mode == PTC_NONE)
        return true;
    if (ptc_is_string(mode) && ptc_sig_mode_named(ptc_str_bytes(mode), ptc_str_len(mode), &r->mode))
        return true;
    answer_args_error(r, "\"mode\" is enabled, warn_only, disabled or strict");
    return false;
}

static void answer_no_operation(Request *r, PtcValue op)
{
    PtcNearest nearest;
    bool text = ptc_is_string(op);
    ptc_nearest_init(&nearest, text ? ptc_str_bytes(op) : "", text ? ptc_str_len(op) : 0);
    for (size_t i = 0; i < OPERATIONS; i++)
        ptc_nearest_offer(&nearest, operations[i].name, strlen(operations[i].name));
    snprintf(r->problem, sizeof r->problem, "\"op\" is parse, validate, coerce or schema%s%s%s",
             nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "",
             nearest.best ? "?" : "");
    answer_args_error(r, r->problem);
}

static void answer_operation(Request *r)
{
    PtcValue op = field(r, "op"), value = field(r, "value");
    size_t i = 0;
    while (i < OPERATIONS && op != PTC_NONE && !ptc_text_is(ptc_str_text(op), operations[i].name))
        i++;
    if (i == OPERATIONS) {
        answer_no_operation(r, op);
        return;
    }
    if (!read_mode(r) || !read_signature(r))
        return;
    if (operations[i].value && value == PTC_NONE) {
        snprintf(r->problem, sizeof r->problem, "%s wants a \"value\"", operations[i].name);
        answer_args_error(r, r->problem);
        return;
    }
    if (value != PTC_NONE && (r->value = ptc_sig_read_tags(&r->desk.heap, value)) == PTC_NONE)
        answer_no_memory(r);
    else
        operations[i].answer(r);
}

static void answer(Request *r, const char *line, size_t len)
{
    PtcJsonError error;
    r->body = ptc_json_parse(&r->desk.heap, line, len, &error);
    if (r->body == PTC_NONE) {
        snprintf(r->problem, sizeof r->problem, "the line is not JSON: %s", error.message);
        answer_error(r, error.stopped ? "memory_limit" : "args_error", r->problem, error.line,
                     error.column);
    } else if (!ptc_is_map(r->body)) {
        answer_args_error(r, "a request is a JSON object with \"signature\" and \"op\"");
    } else {
        r->id = field(r, "id");
        answer_operation(r);
    }
}

static void answer_signature_line(PtcMem *mem, PtcText line, PtcBuf *out)
{
    Request r = {.body = PTC_NONE, .out = out};
    ptc_sig_desk_init(&r.desk, mem);
    answer(&r, line.bytes, line.len);
    ptc_sig_desk_deinit(&r.desk);
}

#define NO_ANSWER(reason, message)                                                          \
    "{\"id\":null,\"ok\":false,\"reason\":\"" reason "\",\"error\":{\"message\":\"" message \
    "\",\"line\":0,\"column\":0}}"

const PtcDriver ptc_driver_signature = {
    .name = "signature",
    .no_memory = NO_ANSWER("memory_limit", "out of memory while answering this line"),
    .too_long = NO_ANSWER("args_error", "the line is longer than 64 MiB"),
    .answer = answer_signature_line,
};
