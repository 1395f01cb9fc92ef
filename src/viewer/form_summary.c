/* SPDX-License-Identifier: MIT
 * The form "summary": how many runs, turns, requests, programs and calls, how they went, what they took; then by tool,
 * by model and by reason of failure.  What always holds: a table of names has a last row for all names beyond its
 * size. */
#include <stdio.h>

#include "viewer/trace_report.h"

enum { SUMMARY_NAMES = 200 };

typedef struct {
    char name[PTC_TRACE_NAME_BYTES];
    uint64_t count, failed, cached;
    int64_t total_us, max_us, input, output;
} Tally;

typedef struct {
    Tally kinds[PTC_TRACE_PART_COUNT];
    uint64_t within, unfinished, warned;
    int64_t cache_read, busy_us; /* of runs that are in no other, and calls */
    bool reported;
    Tally tools[SUMMARY_NAMES], models[SUMMARY_NAMES], reasons[SUMMARY_NAMES];
} Summary;

static Tally *find_name_tally(Tally *all, const char *name)
{
    size_t i = 0;
    while (i + 1 < SUMMARY_NAMES && all[i].count > 0 && strcmp(all[i].name, name) != 0)
        i++;
    if (all[i].count == 0)
        snprintf(all[i].name, sizeof all[i].name, "%s", i + 1 < SUMMARY_NAMES ? name : "(others)");
    return &all[i];
}

static int64_t plus(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static void add_to_tally(Tally *t, const PtcTracePart *part)
{
    t->count++;
    t->failed += part->ended && !part->ok;
    t->cached += part->cached;
    t->total_us = plus(t->total_us, part->duration_us);
    t->max_us = part->duration_us > t->max_us ? part->duration_us : t->max_us;
    if (part->kind == PTC_TRACE_PART_MODEL) {
        t->input = plus(t->input, part->tokens.input);
        t->output = plus(t->output, part->tokens.output);
    }
}

static void add_part_to_summary(PtcReport *r, const PtcTracePart *part, const PtcTraceEvent *event)
{
    Summary *s = r->state;
    (void)event;
    add_to_tally(&s->kinds[part->kind], part);
    if (part->kind == PTC_TRACE_PART_TOOL)
        add_to_tally(find_name_tally(s->tools, part->name), part);
    if (part->kind == PTC_TRACE_PART_MODEL)
        add_to_tally(find_name_tally(s->models, part->name), part);
    if (part->kind == PTC_TRACE_PART_RUN || part->kind == PTC_TRACE_PART_CALL) {
        s->unfinished += !part->ended;
        s->within += part->parent[0] != '\0';
        s->busy_us = plus(s->busy_us, part->parent[0] ? 0 : part->duration_us);
    }
    bool told = part->kind == PTC_TRACE_PART_TURN ||
                part->kind == PTC_TRACE_PART_RUN; /* by what is in them */
    if (part->ended && !part->ok && !told)
        add_to_tally(find_name_tally(s->reasons, part->reason[0] ? part->reason : "failed"), part);
    s->warned += part->warned;
    s->reported |= part->kind == PTC_TRACE_PART_MODEL && part->tokens.reported;
    s->cache_read =
        plus(s->cache_read, part->kind == PTC_TRACE_PART_MODEL ? part->tokens.cache_read : 0);
}

/* ------------------------------------------------------------------------------------ text */

static void add_tally_count(PtcBuf *out, const char *name, const Tally *t)
{
    ptc_buf_addf(out, "%-12s%llu", name, (unsigned long long)t->count);
    if (t->failed)
        ptc_buf_addf(out, ", %llu failed", (unsigned long long)t->failed);
}

static void add_runs(PtcBuf *out, const Summary *s)
{
    char took[PTC_REPORT_TIME];
    add_tally_count(out, "runs", &s->kinds[PTC_TRACE_PART_RUN]);
    if (s->unfinished)
        ptc_buf_addf(out, ", %llu unfinished", (unsigned long long)s->unfinished);
    if (s->within)
        ptc_buf_addf(out, ", %llu of them inside others", (unsigned long long)s->within);
    ptc_trace_report_time(took, s->busy_us);
    ptc_buf_addf(out, "\n%-12s%s\n", "time", took);
    add_tally_count(out, "turns", &s->kinds[PTC_TRACE_PART_TURN]);
    ptc_buf_add_char(out, '\n');
}

static void add_work(PtcBuf *out, const Summary *s)
{
    const Tally *models = &s->kinds[PTC_TRACE_PART_MODEL];
    add_tally_count(out, "requests", models);
    if (s->reported)
        ptc_buf_addf(out, "; %lld tokens in (%lld from cache), %lld out", (long long)models->input,
                     (long long)s->cache_read, (long long)models->output);
    ptc_buf_add_char(out, '\n');
    add_tally_count(out, "programs", &s->kinds[PTC_TRACE_PART_PROGRAM]);
    if (s->warned)
        ptc_buf_addf(out, ", %llu with warnings", (unsigned long long)s->warned);
    ptc_buf_add_char(out, '\n');
    add_tally_count(out, "tool calls", &s->kinds[PTC_TRACE_PART_TOOL]);
    if (s->kinds[PTC_TRACE_PART_TOOL].cached)
        ptc_buf_addf(out, ", %llu cached",
                     (unsigned long long)s->kinds[PTC_TRACE_PART_TOOL].cached);
    ptc_buf_add_char(out, '\n');
}

/* The row that took most comes first; the table is small. */
static void sort_tallies(Tally *all, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        Tally moved = all[i];
        size_t j = i;
        for (; j > 0 && all[j - 1].total_us < moved.total_us; j--)
            all[j] = all[j - 1];
        all[j] = moved;
    }
}

static size_t count_tally_rows(const Tally *all)
{
    size_t n = 0;
    while (n < SUMMARY_NAMES && all[n].count > 0)
        n++;
    return n;
}

static void add_tally_table(PtcBuf *out, const char *title, Tally *all, const char *extra)
{
    char total[PTC_REPORT_TIME], mean[PTC_REPORT_TIME], max[PTC_REPORT_TIME];
    size_t n = count_tally_rows(all);
    if (n == 0)
        return;
    sort_tallies(all, n);
    ptc_buf_addf(out, "\n%-28s%8s%8s%12s%12s%12s%s\n", title, "COUNT", "FAILED", "TOTAL", "MEAN",
                 "MAX", extra);
    for (size_t i = 0; i < n; i++) {
        const Tally *t = &all[i];
        ptc_trace_report_time(total, t->total_us);
        ptc_trace_report_time(mean, t->total_us / (int64_t)t->count);
        ptc_trace_report_time(max, t->max_us);
        ptc_buf_addf(out, "%-28s%8llu%8llu%12s%12s%12s", t->name, (unsigned long long)t->count,
                     (unsigned long long)t->failed, total, mean, max);
        if (extra[0])
            ptc_buf_addf(out, "%12lld%12lld", (long long)t->input, (long long)t->output);
        ptc_buf_add_char(out, '\n');
    }
}

static void add_reasons(PtcBuf *out, const Tally *all)
{
    size_t n = count_tally_rows(all);
    if (n > 0)
        ptc_buf_addf(out, "\n%8s  %s\n", "FAILED", "BECAUSE OF");
    for (size_t i = 0; i < n; i++)
        ptc_buf_addf(out, "%8llu  %s\n", (unsigned long long)all[i].count, all[i].name);
}

static void finish_summary(PtcReport *r)
{
    Summary *s = r->state;
    if (r->file_count > 1)
        ptc_buf_addf(&r->out, "%-12s%zu\n", "files", r->file_count);
    if (s->kinds[PTC_TRACE_PART_CALL].count) {
        add_tally_count(&r->out, "calls", &s->kinds[PTC_TRACE_PART_CALL]);
        ptc_buf_add_char(&r->out, '\n');
    }
    add_runs(&r->out, s);
    add_work(&r->out, s);
    add_tally_table(&r->out, "TOOL", s->tools, "");
    add_tally_table(&r->out, "MODEL", s->models, "   TOKENS IN  TOKENS OUT");
    add_reasons(&r->out, s->reasons);
}

const PtcReportForm ptc_form_summary = {
    .name = "summary",
    .help = "how many runs, requests and calls, how they went and how long they took",
    .state_size = sizeof(Summary),
    .ended = add_part_to_summary,
    .finish = finish_summary};
