/* SPDX-License-Identifier: MIT
 * Traces and request heads: whatever the bytes are, they are read to their end, reports are whole, exports are JSON,
 * and a request is never answered without the secret. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "json/check.h"
#include "viewer/trace_report.h"
#include "viewer/view_request.h"

typedef struct {
    PtcBuf text;
    PtcReport report;
} Reported;

static bool write_text(void *user, PtcText text)
{
    return ptc_buf_add(&((Reported *)user)->text, text.bytes, text.len);
}

static void began(void *user, const PtcTracePart *part)
{
    PtcReport *r = &((Reported *)user)->report;
    if (r->form->began)
        r->form->began(r, part);
}

static void ended(void *user, const PtcTracePart *part, const PtcTraceEvent *event)
{
    PtcReport *r = &((Reported *)user)->report;
    if (part->start_us < 0 || part->duration_us < 0 || part->end_us < part->start_us ||
        !memchr(part->name, 0, sizeof part->name))
        abort();
    r->form->ended(r, part, event);
}

static void read_lines(PtcParts *parts, PtcText rest)
{
    PtcWhy why;
    PtcTraceEvent event;
    while (rest.len > 0) {
        const char *end = memchr(rest.bytes, '\n', rest.len);
        PtcText line = {rest.bytes, end ? (size_t)(end - rest.bytes) : rest.len};
        rest =
            (PtcText){line.bytes + line.len + (end != NULL), rest.len - line.len - (end != NULL)};
        why.text[0] = '\0';
        if (!ptc_trace_event_read(&event, line, &why)) {
            if (!why.text[0])
                abort();
        } else if (!ptc_parts_take(parts, &event)) {
            abort();
        }
    }
    ptc_parts_end(parts);
}

/* The parts are given to the form directly, so that no file is needed. */
static void run_form(const char *form, PtcText bytes, bool json)
{
    PtcMem mem;
    Reported reported = {
        .report = {.top = 5, .file = "f", .file_count = 1, .write = write_text, .user = &reported}};
    ptc_mem_init(&mem, 512u << 20);
    ptc_buf_init(&reported.text, &mem, 256u << 20);
    if (!ptc_trace_report_init(&reported.report, &mem, ptc_trace_report_form(form)))
        abort();
    PtcParts *parts = ptc_parts_new(&mem, (PtcPartsSink){began, ended, &reported});
    if (!parts)
        abort();
    if (reported.report.form->file)
        reported.report.form->file(&reported.report);
    read_lines(parts, bytes);
    ptc_parts_free(parts);
    if (!ptc_trace_report_finish(&reported.report) && !reported.report.out.full)
        abort();
    if (json && ptc_json_value_len(reported.text.data, reported.text.len) + 1 != reported.text.len)
        abort();
    ptc_trace_report_deinit(&reported.report);
    ptc_buf_deinit(&reported.text);
    if (atomic_load(&mem.used) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const PtcViewPlace place = {.port = 80,
                                       .secret = "0123456789abcdef0123456789abcdef",
                                       .door = "fedcba9876543210fedcba9876543210"};
    PtcText text = {(const char *)bytes, len};
    run_form("summary", text, false);
    run_form("timeline", text, false);
    run_form("slowest", text, false);
    run_form("chrome", text, true);
    run_form("otlp", text, true);
    static const PtcViewFields fields = {.host = {"localhost:80", 12}, .hosts = 1};
    PtcViewRequest r = ptc_view_request_judge(&place, &fields, PTC_TEXT("GET"), text);
    if (r.kind != PTC_VIEW_REFUSED && !memmem(bytes, len, place.secret, PTC_VIEW_SECRET) &&
        !memmem(bytes, len, place.door, PTC_VIEW_SECRET))
        abort();
    return 0;
}
