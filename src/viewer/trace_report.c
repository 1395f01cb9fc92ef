/* SPDX-License-Identifier: MIT
 * From lines to reports.  What always holds: a line that is no event changes nothing but the count of bad ones. */
#include "viewer/trace_report.h"

#include <errno.h>
#include <stdio.h>

#include "base/units.h"
#include "net/lines.h"

enum { FLUSH = 64 * PTC_KB, OUT_MAX = 16 * PTC_MB };

static const PtcReportForm *const forms[] = {&ptc_form_summary, &ptc_form_timeline,
                                             &ptc_form_slowest, &ptc_form_chrome, &ptc_form_otlp};

const PtcReportForm *ptc_trace_report_form(const char *name)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i]->name, name) == 0)
            return forms[i];
    return NULL;
}

/* --------------------------------------------------------------------------------- output */

static void flush_report(PtcReport *r, size_t least)
{
    if (r->out.len < least || r->failed)
        return;
    if (!ptc_buf_ok(&r->out) || (r->out.len && !r->write(r->user, ptc_buf_view(&r->out))))
        r->failed = true;
    ptc_buf_clear(&r->out);
}

void ptc_trace_report_time(char out[PTC_REPORT_TIME], int64_t us)
{
    if (us < 1000)
        snprintf(out, PTC_REPORT_TIME, "%lld us", (long long)us);
    else if (us < 10000)
        snprintf(out, PTC_REPORT_TIME, "%.2f ms", (double)us / 1e3);
    else if (us < PTC_SECOND_US)
        snprintf(out, PTC_REPORT_TIME, "%.0f ms", (double)us / 1e3);
    else if (us < 600 * PTC_SECOND_US)
        snprintf(out, PTC_REPORT_TIME, "%.2f s", (double)us / 1e6);
    else
        snprintf(out, PTC_REPORT_TIME, "%lld min %02lld s", (long long)(us / (60 * PTC_SECOND_US)),
                 (long long)(us / PTC_SECOND_US % 60));
}

/* ----------------------------------------------------------------------------------- parts */

static void report_part_begun(void *user, const PtcTracePart *part)
{
    PtcReport *r = user;
    if (!r->root[0])
        memcpy(r->root, part->id, sizeof r->root);
    if (r->form->began)
        r->form->began(r, part);
}

static void report_part_ended(void *user, const PtcTracePart *part, const PtcTraceEvent *event)
{
    PtcReport *r = user;
    r->digest_done = true;
    r->form->ended(r, part, event);
}

bool ptc_trace_report_init(PtcReport *r, PtcMem *mem, const PtcReportForm *form)
{
    r->mem = mem;
    r->form = form;
    ptc_buf_init(&r->out, mem, OUT_MAX);
    r->parts = ptc_parts_new(mem, (PtcPartsSink){report_part_begun, report_part_ended, r});
    r->state = form->state_size ? ptc_mem_alloc(mem, form->state_size) : NULL;
    if (r->state)
        memset(r->state, 0, form->state_size);
    if (r->parts && (r->state || !form->state_size))
        return true;
    ptc_trace_report_deinit(r);
    return false;
}

void ptc_trace_report_deinit(PtcReport *r)
{
    ptc_parts_free(r->parts);
    ptc_mem_free(r->mem, r->state, r->state ? r->form->state_size : 0);
    ptc_buf_deinit(&r->out);
    r->parts = NULL;
    r->state = NULL;
}

/* ----------------------------------------------------------------------------------- lines */

static void skip_bad_line(PtcReport *r, uint64_t line, const char *what)
{
    r->bad++;
    r->tell(r->user, r->file, line, what);
}

/* Both kinds of traces say when they began in "ts". */
static void take_trace_time(PtcReport *r, const PtcTraceEvent *e)
{
    int64_t ms;
    if (ptc_trace_event_time(e, &ms))
        r->began_ms = ms;
}

/* Ids of other formats come from this, so that the same trace always has the same ones. */
static void add_line_digest(PtcReport *r, PtcText line)
{
    PtcText both[] = {{(const char *)r->digest, sizeof r->digest}, line};
    uint8_t digest[PTC_SHA256_BYTES];
    if (r->digest_done)
        return;
    ptc_sha256_parts(both, 2, digest);
    memcpy(r->digest, digest, sizeof digest);
}

static void take_trace_span(PtcReport *r, const PtcTraceEvent *e)
{
    char text[2 * PTC_TRACE_PARENT]; /* with room to show that it was cut */
    ptc_trace_event_show(e, PTC_FIELD_traceparent, text, sizeof text);
    ptc_trace_parent_read(ptc_text_cstr(text), r->span);
    ptc_trace_event_show(e, PTC_FIELD_parent_span, r->parent_span, sizeof r->parent_span);
}

void ptc_trace_report_line(PtcReport *r, uint64_t number, PtcText line)
{
    PtcTraceEvent event;
    PtcWhy why;
    if (ptc_line_is_blank(line))
        return;
    add_line_digest(r, line);
    if (!ptc_trace_event_read(&event, line, &why)) {
        skip_bad_line(r, number, why.text);
        return;
    }
    r->events++;
    if (r->began_ms == 0 && (event.step == PTC_EVENT_FIRST || event.kind == PTC_TRACE_PART_CALL))
        take_trace_time(r, &event);
    if (event.step == PTC_EVENT_FIRST)
        take_trace_span(r, &event);
    if (event.step == PTC_EVENT_CUT)
        r->tell(r->user, r->file, number, "the trace ends here: it had reached its largest size");
    if (!ptc_parts_take(r->parts, &event))
        r->failed = true;
    flush_report(r, FLUSH);
}

/* Editors on Windows put a byte order mark before a file. */
static PtcText without_mark(PtcText line)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t n = ptc_text_starts(line, mark) ? sizeof mark - 1 : 0;
    return (PtcText){line.bytes + n, line.len - n};
}

static const char *read_lines(PtcReport *r, PtcLines *lines)
{
    PtcText line;
    for (uint64_t number = 1; !r->failed; number++) {
        switch (ptc_lines_next(lines, &line)) {
        case PTC_LINE_OK:
            ptc_trace_report_line(r, number, number == 1 ? without_mark(line) : line);
            break;
        case PTC_LINE_TOO_LONG: skip_bad_line(r, number, "it is longer than 16 MiB"); break;
        case PTC_LINE_END: return NULL;
        case PTC_LINE_FAILED: return strerror(errno);
        }
    }
    return NULL;
}

void ptc_trace_report_begin(PtcReport *r, const char *name)
{
    r->file = name;
    r->file_count++;
    r->began_ms = 0;
    r->digest_done = false;
    memset(r->digest, 0, sizeof r->digest);
    r->span[0] = r->parent_span[0] = r->root[0] = '\0';
    if (r->form->file)
        r->form->file(r);
}

void ptc_trace_report_end(PtcReport *r)
{
    ptc_parts_end(r->parts);
    flush_report(r, 1);
}

const char *ptc_trace_report_read(PtcReport *r, int fd, const char *name)
{
    PtcLines lines;
    ptc_trace_report_begin(r, name);
    ptc_lines_init(&lines, r->mem, fd, PTC_REPORT_LINE);
    const char *why = read_lines(r, &lines);
    ptc_lines_deinit(&lines);
    ptc_trace_report_end(r);
    return why;
}

bool ptc_trace_report_finish(PtcReport *r)
{
    r->form->finish(r);
    flush_report(r, 1);
    return !r->failed;
}
