/* SPDX-License-Identifier: MIT
 * The form "chrome": the JSON that chrome://tracing, Perfetto and Speedscope read.  A file is a process, a run a
 * thread; calls that ran side by side are on threads of their own, since what is on one thread must lie inside each
 * other.  Texts other than names and reasons are left out. */
#include "base/utf8.h"
#include "json/emit.h"
#include "viewer/trace_report.h"

typedef struct {
    bool any;
    /* The file that is read has its record: one without events has none, and no document begins with it. */
    bool named;
} Chrome;

/* Records are written one by one, so the comma between them is ours. */
static void begin_chrome_record(PtcReport *r)
{
    Chrome *c = r->state;
    ptc_buf_add_cstr(&r->out, c->any ? ",\n" : "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    c->any = true;
    ptc_emit_object(&r->out);
}

static uint64_t thread_of(const PtcTracePart *part)
{
    uint64_t lane = part->kind == PTC_TRACE_PART_TOOL ? part->lane + 1 : 0;
    return (uint64_t)part->run * (PTC_PARTS_LANES + 1) + lane;
}

static void name_record(PtcReport *r, const char *what, uint64_t thread, const char *name)
{
    begin_chrome_record(r);
    ptc_emit_field_cstr(&r->out, "ph", "M");
    ptc_emit_field_cstr(&r->out, "name", what);
    ptc_emit_field_uint(&r->out, "pid", r->file_count);
    ptc_emit_field_uint(&r->out, "tid", thread);
    ptc_emit_key(&r->out, "args");
    ptc_emit_object(&r->out);
    PtcText text = ptc_text_cstr(name);
    text.len = ptc_utf8_valid_prefix(text.bytes, text.len);
    ptc_emit_field_text(&r->out, "name", text);
    ptc_emit_object_end(&r->out);
    ptc_emit_object_end(&r->out);
}

static void begin_chrome_file(PtcReport *r)
{
    ((Chrome *)r->state)->named = false;
}

static void name_chrome_file(PtcReport *r)
{
    Chrome *c = r->state;
    if (!c->named)
        name_record(r, "process_name", 0, r->file);
    c->named = true;
}

static void add_chrome_begin(PtcReport *r, const PtcTracePart *part)
{
    name_chrome_file(r);
    if (part->kind == PTC_TRACE_PART_RUN || part->kind == PTC_TRACE_PART_CALL)
        name_record(r, "thread_name", thread_of(part), part->name);
}

static void add_args(PtcBuf *out, const PtcTracePart *part)
{
    ptc_emit_key(out, "args");
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "id", part->id);
    ptc_emit_field_bool(out, "ok", part->ok);
    if (!part->ok)
        ptc_emit_field_cstr(out, "reason", part->reason);
    if (part->cached)
        ptc_emit_field_bool(out, "cached", true);
    if (part->tokens.reported) {
        ptc_emit_field_int(out, "tokens_in", part->tokens.input);
        ptc_emit_field_int(out, "tokens_out", part->tokens.output);
    }
    ptc_emit_object_end(out);
}

static void add_chrome_end(PtcReport *r, const PtcTracePart *part, const PtcTraceEvent *event)
{
    PtcBuf *out = &r->out;
    (void)event;
    name_chrome_file(r);
    begin_chrome_record(r);
    ptc_emit_field_cstr(out, "ph", "X");
    ptc_emit_key(out, "name");
    ptc_emit_string(out);
    bool plain = part->kind == PTC_TRACE_PART_TURN || part->kind == PTC_TRACE_PART_PROGRAM;
    if (plain)
        ptc_emit_string_part(out, ptc_text_cstr(ptc_part_kind_name(part->kind)));
    if (plain && part->name[0])
        ptc_emit_string_part(out, PTC_TEXT(" "));
    ptc_emit_string_part(out, ptc_text_cstr(part->name));
    ptc_emit_string_end(out);
    ptc_emit_field_cstr(out, "cat", ptc_part_kind_name(part->kind));
    ptc_emit_field_int(out, "ts", part->start_us);
    ptc_emit_field_int(out, "dur", part->end_us - part->start_us);
    ptc_emit_field_uint(out, "pid", r->file_count);
    ptc_emit_field_uint(out, "tid", thread_of(part));
    if (part->ended && !part->ok)
        ptc_emit_field_cstr(out, "cname", "terrible");
    add_args(out, part);
    ptc_emit_object_end(out);
}

static void finish_chrome(PtcReport *r)
{
    const Chrome *c = r->state;
    ptc_buf_add_cstr(&r->out, c->any ? "\n]}\n" : "{\"traceEvents\":[]}\n");
}

const PtcReportForm ptc_form_chrome = {.name = "chrome",
                                       .help = "JSON for chrome://tracing and Perfetto",
                                       .state_size = sizeof(Chrome),
                                       .file = begin_chrome_file,
                                       .began = add_chrome_begin,
                                       .ended = add_chrome_end,
                                       .finish = finish_chrome};
