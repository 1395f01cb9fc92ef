/* SPDX-License-Identifier: MIT
 * The form "otlp": OpenTelemetry's JSON, as collectors accept it at /v1/traces.  Ids are made from the trace itself, so
 * that sending a trace twice does not make two of it.  Names of attributes are those of the conventions for generative
 * AI where there are such.  Texts other than names, reasons and the messages of errors are left out. */
#include <stdio.h>

#include "base/units.h"
#include "json/emit.h"
#include "ptc/ptc.h"
#include "viewer/trace_report.h"

enum {
    TRACE_ID = 16,
    SPAN_ID = 8,
    INTERNAL = 1,
    OTLP_SERVER = 2,
    CLIENT = 3,
    STATUS_OK = 1,
    STATUS_ERROR = 2
};
enum { OTLP_MESSAGE = 512 };

typedef struct {
    bool any;
} Otlp;

static void begin_otlp_span(PtcReport *r)
{
    Otlp *o = r->state;
    if (o->any) {
        ptc_buf_add_cstr(&r->out, ",\n");
    } else {
        ptc_buf_add_cstr(&r->out, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":"
                                  "\"service.name\",\"value\":{\"stringValue\":");
        ptc_emit_cstr(&r->out, r->service ? r->service : "ptc");
        ptc_buf_add_cstr(&r->out,
                         "}}]},"
                         "\"scopeSpans\":[{\"scope\":{\"name\":\"ptc\",\"version\":\"" PTC_VERSION
                         "\"},\"spans\":[\n");
    }
    o->any = true;
    ptc_emit_object(&r->out);
}

/* ------------------------------------------------------------------------------------- ids */

/* The parts of a traceparent. */
enum { OTLP_TRACE_AT = 3, OTLP_SPAN_AT = 36 };

static bool is_span_id(const char *text)
{
    return strspn(text, "0123456789abcdef") == 2 * SPAN_ID && !text[2 * SPAN_ID];
}

static void add_trace_id(PtcReport *r)
{
    ptc_emit_key(&r->out, "traceId");
    if (r->span[0])
        ptc_emit_text(&r->out, (PtcText){r->span + OTLP_TRACE_AT, 2 * TRACE_ID});
    else
        ptc_emit_hex(&r->out, r->digest, TRACE_ID);
}

static void add_span_id(PtcReport *r, const char *key, const char *id)
{
    uint8_t digest[PTC_SHA256_BYTES];
    if (r->span[0] && strcmp(id, r->root) == 0) {
        ptc_emit_field_text(&r->out, key, (PtcText){r->span + OTLP_SPAN_AT, 2 * SPAN_ID});
        return;
    }
    PtcText both[] = {{(const char *)r->digest, TRACE_ID}, ptc_text_cstr(id)};
    ptc_sha256_parts(both, 2, digest);
    ptc_emit_key(&r->out, key);
    ptc_emit_hex(&r->out, digest, SPAN_ID);
}

/* Nanoseconds since 1970, as text: a JSON number would lose some of them. */
static void add_span_time(PtcReport *r, const char *key, int64_t us)
{
    char text[40];
    int64_t most = INT64_MAX / (2 * PTC_MS), ms = r->began_ms < most ? r->began_ms : most;
    int64_t left = INT64_MAX / 1000 - ms * 1000; /* microseconds until the end of the numbers */
    us = us < left ? us : left;
    snprintf(text, sizeof text, "%lld", (long long)((ms * 1000 + us) * 1000));
    ptc_emit_field_cstr(&r->out, key, text);
}

/* ------------------------------------------------------------------------------ attributes */

static void begin_attribute(PtcBuf *out, const char *key)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "key", key);
    ptc_emit_key(out, "value");
    ptc_emit_object(out);
}

static void end_attribute(PtcBuf *out)
{
    ptc_emit_object_end(out);
    ptc_emit_object_end(out);
}

static void add_text_attribute(PtcBuf *out, const char *key, const char *text)
{
    if (!text[0])
        return;
    begin_attribute(out, key);
    ptc_emit_field_cstr(out, "stringValue", text);
    end_attribute(out);
}

static void add_number_attribute(PtcBuf *out, const char *key, int64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)n);
    begin_attribute(out, key);
    ptc_emit_field_cstr(out, "intValue", text);
    end_attribute(out);
}

static void add_kind_attributes(PtcBuf *out, const PtcTracePart *part)
{
    switch (part->kind) {
    case PTC_TRACE_PART_RUN:
        add_text_attribute(out, "gen_ai.operation.name", "invoke_agent");
        add_text_attribute(out, "gen_ai.agent.name", part->name);
        add_text_attribute(out, "ptc.mode", part->mode);
        break;
    case PTC_TRACE_PART_MODEL:
        add_text_attribute(out, "gen_ai.operation.name", "chat");
        add_text_attribute(out, "gen_ai.request.model", part->name);
        break;
    case PTC_TRACE_PART_TOOL:
    case PTC_TRACE_PART_CALL:
        add_text_attribute(out, "gen_ai.operation.name", "execute_tool");
        add_text_attribute(out, "gen_ai.tool.name", part->name);
        break;
    default: break;
    }
}

static void add_attributes(PtcBuf *out, const PtcTracePart *part)
{
    ptc_emit_key(out, "attributes");
    ptc_emit_array(out);
    add_text_attribute(out, "ptc.kind", ptc_part_kind_name(part->kind));
    add_text_attribute(out, "ptc.id", part->id);
    add_kind_attributes(out, part);
    if (part->tokens.reported && part->kind == PTC_TRACE_PART_MODEL) {
        add_number_attribute(out, "gen_ai.usage.input_tokens", part->tokens.input);
        add_number_attribute(out, "gen_ai.usage.output_tokens", part->tokens.output);
    }
    if (!part->ok)
        add_text_attribute(out, "error.type", part->reason);
    ptc_emit_array_end(out);
}

/* ----------------------------------------------------------------------------------- spans */

static void add_span_status(PtcBuf *out, const PtcTracePart *part, const PtcTraceEvent *event)
{
    char message[OTLP_MESSAGE] = "";
    ptc_emit_key(out, "status");
    ptc_emit_object(out);
    if (part->ended)
        ptc_emit_field_int(out, "code", part->ok ? STATUS_OK : STATUS_ERROR);
    if (event && !part->ok)
        ptc_trace_event_show(event, PTC_FIELD_message, message, sizeof message);
    if (message[0])
        ptc_emit_field_cstr(out, "message", message);
    ptc_emit_object_end(out);
}

static void add_span_name(PtcBuf *out, const PtcTracePart *part)
{
    static const char *const verbs[PTC_TRACE_PART_COUNT] = {
        "invoke_agent", "turn", "chat", "program", "execute_tool", "execute_tool"};
    ptc_emit_key(out, "name");
    ptc_emit_string(out);
    ptc_emit_string_part(out, ptc_text_cstr(verbs[part->kind]));
    if (part->name[0])
        ptc_emit_string_part(out, PTC_TEXT(" "));
    ptc_emit_string_part(out, ptc_text_cstr(part->name));
    ptc_emit_string_end(out);
}

/* Calls of `ptc mcp` come from outside, models and other servers are outside. */
static int kind_of_span(const PtcTracePart *part)
{
    if (part->kind == PTC_TRACE_PART_CALL)
        return OTLP_SERVER;
    return part->kind == PTC_TRACE_PART_MODEL || part->outside ? CLIENT : INTERNAL;
}

static void add_otlp_span(PtcReport *r, const PtcTracePart *part, const PtcTraceEvent *event)
{
    PtcBuf *out = &r->out;
    begin_otlp_span(r);
    add_trace_id(r);
    if (is_span_id(part->span))
        ptc_emit_field_cstr(out, "spanId", part->span);
    else
        add_span_id(r, "spanId", part->id);
    if (part->parent[0])
        add_span_id(r, "parentSpanId", part->parent);
    else if (is_span_id(r->parent_span))
        ptc_emit_field_cstr(out, "parentSpanId", r->parent_span);
    add_span_name(out, part);
    ptc_emit_field_int(out, "kind", kind_of_span(part));
    add_span_time(r, "startTimeUnixNano", part->start_us);
    add_span_time(r, "endTimeUnixNano", part->end_us);
    add_attributes(out, part);
    add_span_status(out, part, event);
    ptc_emit_object_end(out);
}

static void finish_otlp(PtcReport *r)
{
    Otlp *o = r->state;
    ptc_buf_add_cstr(&r->out, o->any ? "\n]}]}]}\n" : "{\"resourceSpans\":[]}\n");
    o->any = false; /* what comes next is another document */
}

const PtcReportForm ptc_form_otlp = {.name = "otlp",
                                     .help = "OpenTelemetry's JSON, for a collector",
                                     .state_size = sizeof(Otlp),
                                     .ended = add_otlp_span,
                                     .finish = finish_otlp};
