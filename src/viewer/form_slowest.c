/* SPDX-License-Identifier: MIT
 * The form "slowest": the requests, programs and calls that took longest.  What always holds: the rows are sorted, the
 * slowest first, and there are at most `top` of them. */
#include <stdio.h>

#include "viewer/trace_report.h"

typedef struct {
    PtcTracePart part;
    char file_name[PTC_TRACE_NAME_BYTES];
} SlowRow;

typedef struct {
    SlowRow rows[PTC_REPORT_TOP_MAX];
    size_t count;
} Slowest;

static void insert_slow_part(PtcReport *r, const PtcTracePart *part, const PtcTraceEvent *event)
{
    Slowest *s = r->state;
    (void)event;
    if (part->kind == PTC_TRACE_PART_RUN || part->kind == PTC_TRACE_PART_TURN || !part->ended)
        return; /* they take as long as what is in them */
    size_t at = s->count;
    while (at > 0 && s->rows[at - 1].part.duration_us < part->duration_us)
        at--;
    if (at >= r->top)
        return;
    if (s->count < r->top)
        s->count++;
    memmove(&s->rows[at + 1], &s->rows[at], (s->count - 1 - at) * sizeof *s->rows);
    SlowRow *row = &s->rows[at];
    row->part = *part;
    const char *base = strrchr(r->file, '/');
    snprintf(row->file_name, sizeof row->file_name, "%s", base ? base + 1 : r->file);
}

static void finish_slowest(PtcReport *r)
{
    const Slowest *s = r->state;
    char took[PTC_REPORT_TIME], at[PTC_REPORT_TIME];
    bool many = r->file_count > 1;
    ptc_buf_addf(&r->out, "%12s  %12s  %-8s %-24s %s\n", "TOOK", "AT", "KIND", "NAME",
                 many ? "WHERE                  FILE" : "WHERE");
    for (size_t i = 0; i < s->count; i++) {
        const PtcTracePart *p = &s->rows[i].part;
        ptc_trace_report_time(took, p->duration_us);
        ptc_trace_report_time(at, p->start_us);
        ptc_buf_addf(&r->out, "%12s  %12s  %-8s %-24s ", took, at, ptc_part_kind_name(p->kind),
                     p->name);
        if (many)
            ptc_buf_addf(&r->out, "%-22s %s", p->id, s->rows[i].file_name);
        else
            ptc_buf_add_cstr(&r->out, p->id);
        ptc_buf_addf(&r->out, "%s%s\n", p->ok ? "" : "  failed: ", p->ok ? "" : p->reason);
    }
}

const PtcReportForm ptc_form_slowest = {.name = "slowest",
                                        .help =
                                            "the requests, programs and calls that took longest",
                                        .state_size = sizeof(Slowest),
                                        .ended = insert_slow_part,
                                        .finish = finish_slowest};
