/* SPDX-License-Identifier: MIT
 * The form "timeline": what happened, a line each, in the order in which the trace tells it. */
#include "viewer/trace_report.h"

enum { INDENT_MAX = 12 };

static void head(PtcReport *r)
{
    if (r->file_count > 1)
        ptc_buf_add_char(&r->out, '\n');
    ptc_buf_addf(&r->out, "%s\n%11s  %10s  WHAT\n", r->file, "AT ms", "TOOK");
}

/* When, how long, and the place of what follows. */
static void begin_line(PtcReport *r, const PtcTracePart *part, int64_t at_us, const char *took)
{
    unsigned depth = part->depth < INDENT_MAX ? part->depth : INDENT_MAX;
    ptc_buf_addf(&r->out, "%9lld.%01lld  %10s  ", (long long)(at_us / 1000),
                 (long long)(at_us / 100 % 10), took);
    for (unsigned i = 0; i < depth; i++)
        ptc_buf_add_cstr(&r->out, "  ");
    ptc_buf_add_cstr(&r->out, ptc_part_kind_name(part->kind));
    if (part->name[0])
        ptc_buf_addf(&r->out, " %s", part->name);
}

static void add_begin_line(PtcReport *r, const PtcTracePart *part)
{
    if (part->kind == PTC_TRACE_PART_MODEL || part->kind == PTC_TRACE_PART_CALL ||
        part->kind == PTC_TRACE_PART_TOOL)
        return; /* the line at their end says everything */
    begin_line(r, part, part->start_us, "");
    bool usual = part->kind == PTC_TRACE_PART_TURN && strcmp(part->mode, "normal") == 0;
    if (part->mode[0] && !usual)
        ptc_buf_addf(&r->out, " (%s)", part->mode);
    ptc_buf_add_char(&r->out, '\n');
}

static void add_part_rest(PtcReport *r, const PtcTracePart *part)
{
    PtcBuf *out = &r->out;
    if (part->tokens.reported && part->kind == PTC_TRACE_PART_MODEL)
        ptc_buf_addf(out, ", %lld tokens in, %lld out", (long long)part->tokens.input,
                     (long long)part->tokens.output);
    if (part->cached)
        ptc_buf_add_cstr(out, ", cached");
    if (part->warned)
        ptc_buf_add_cstr(out, ", with warnings");
    ptc_buf_add_char(out, '\n');
}

static void add_end_line(PtcReport *r, const PtcTracePart *part, const PtcTraceEvent *event)
{
    char took[PTC_REPORT_TIME];
    bool whole = part->kind == PTC_TRACE_PART_MODEL || part->kind == PTC_TRACE_PART_CALL ||
                 part->kind == PTC_TRACE_PART_TOOL;
    (void)event;
    if (part->kind == PTC_TRACE_PART_TURN && part->ok)
        return; /* the next line is another turn, or the end of the run */
    ptc_trace_report_time(took, part->duration_us);
    begin_line(r, part, part->start_us + (whole ? 0 : part->duration_us), took);
    if (!part->ok)
        ptc_buf_addf(&r->out, ": %s", part->reason[0] ? part->reason : "failed");
    else if (!whole)
        ptc_buf_addf(&r->out, ": %s", part->reason[0] ? part->reason : "ok");
    add_part_rest(r, part);
}

static void finish_timeline(PtcReport *r)
{
    (void)r;
}

const PtcReportForm ptc_form_timeline = {.name = "timeline",
                                         .help =
                                             "what happened, a line each; times in milliseconds",
                                         .file = head,
                                         .began = add_begin_line,
                                         .ended = add_end_line,
                                         .finish = finish_timeline};
