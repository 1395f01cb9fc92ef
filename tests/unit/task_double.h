/* SPDX-License-Identifier: MIT
 * task_double.h - the least that ptc_task_run and ptc_shared_* must do for workers to be tested without the server.  Weak:
 * where the real ones are linked, they are used. */
#ifndef PTC_TESTS_TASK_DOUBLE_H
#define PTC_TESTS_TASK_DOUBLE_H

#include <stdio.h>

#include "mcp/task.h"

#define WEAK __attribute__((weak))

struct PtcShared {
    char text[4096]; /* {"name":value} */
};

WEAK PtcShared *ptc_shared_new(void)
{
    static PtcShared only;
    return &only;
}

WEAK bool ptc_shared_load(PtcShared *shared, const char *name, const char *path, char *why,
                          size_t size)
{
    char text[2048];
    FILE *f = fopen(path, "r");
    if (!f) {
        snprintf(why, size, "%s: cannot be read", path);
        return false;
    }
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    snprintf(shared->text, sizeof shared->text, "{\"%s\":%.*s}", name, (int)n, text);
    return true;
}

WEAK void ptc_shared_describe(const PtcShared *shared, PtcBuf *buf, size_t max)
{
    (void)shared;
    (void)max;
    ptc_buf_add_cstr(buf, "rows\n");
}

WEAK bool ptc_shared_item(const PtcShared *shared, size_t index, const char **name, size_t *count,
                          size_t *bytes)
{
    *name = "rows";
    *count = 3;
    *bytes = strlen(shared->text);
    return index == 0;
}

static inline void double_result(PtcOutcome *o, PtcTaskOut *out)
{
    PtcError e = {.size = sizeof e};
    size_t len = 0;
    out->ok = ptc_outcome_ok(o);
    ptc_outcome_tool_count(o, &len);
    out->tool_calls = len;
    const char *text = ptc_outcome_payload(o, NULL, &len);
    if (text)
        ptc_buf_add(&out->payload, text, len);
    text = ptc_outcome_text(o, &len, &out->text_cut);
    if (text)
        ptc_buf_add(&out->text, text, len);
    if (!ptc_outcome_error(o, 0, &e))
        return;
    snprintf(out->reason, sizeof out->reason, "%s", e.reason);
    snprintf(out->kind, sizeof out->kind, "%s", e.kind);
    snprintf(out->message, sizeof out->message, "%s", e.message);
}

WEAK PtcTaskStatus ptc_task_run(Ptc *ptc, const PtcTaskIn *in, PtcTools *tools,
                                const PtcShared *data, PtcTaskOut *out)
{
    PtcRun run;
    PtcLimits limits;
    PtcOutcome *o = NULL;
    PtcBytesView context = in->context;
    if (data)
        context = (PtcBytesView){data->text, strlen(data->text)};
    PtcData *place = ptc_data_new(ptc, PTC_UNSET);
    ptc_run_init(&run, sizeof run);
    ptc_limits_init(&limits, sizeof limits);
    limits.timeout_ms = in->timeout_ms;
    limits.max_tool_calls = in->max_tool_calls;
    run.program = in->program.bytes;
    run.program_len = in->program.len;
    run.limits = &limits;
    run.tools = tools;
    if (context.bytes)
        run.context = ptc_make_json(place, context.bytes, context.len, NULL, 0);
    bool ran = ptc_eval(ptc, &run, &o) == PTC_OK;
    if (ran)
        double_result(o, out);
    ptc_outcome_free(o);
    ptc_data_free(place);
    return ran ? PTC_TASK_DONE : PTC_TASK_NO_MEMORY;
}

#endif
