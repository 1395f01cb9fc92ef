/* SPDX-License-Identifier: MIT
 * Native calls: tools that the model calls itself, with the same checks, cache and counting that programs get. */
#include "agent/run/work_int.h"
#include "json/parse.h"

enum { RESULT_MAX = 16 * PTC_MB };

/* A tool with a time limit of its own ends by that, however often it is tried. */
static PtcNativeOptions native_call_options(PtcWork *w, const PtcCallOrder *order,
                                            const PtcWorkLimits *limits)
{
    int64_t own = (int)order->tool < 0 ? 0 : w->def->tools->items[order->tool].info.timeout_ms;
    int64_t ms = own > w->def->deadline_ms ? own : w->def->deadline_ms;
    int64_t end = ptc_clock_ns(NULL) + ms * PTC_MS;
    return (PtcNativeOptions){.cancel = limits->cancel,
                              .deadline_ns = end < limits->end_ns ? end : limits->end_ns,
                              .hard_ns = limits->end_ns,
                              .cache = ptc_work_cache(w),
                              .preview_all = w->def->mode == PTC_MODE_COMBINED,
                              .host = limits->host,
                              .tally = w->tally};
}

static PtcAgentFault reason_of_native_end(PtcNativeEnd end)
{
    switch (end) {
    case PTC_NATIVE_OK: return PTC_FAULT_NONE;
    case PTC_NATIVE_UNKNOWN: return PTC_FAULT_UNKNOWN_TOOL;
    case PTC_NATIVE_ARGS: return PTC_FAULT_ARGS;
    case PTC_NATIVE_TIMEOUT: return PTC_FAULT_TIMEOUT;
    case PTC_NATIVE_MEMORY: return PTC_FAULT_MEMORY_LIMIT;
    case PTC_NATIVE_FAILED:
    case PTC_NATIVE_CANCELLED: break;
    }
    return PTC_FAULT_TOOL;
}

/* In place of a result that is too long for a message. */
static void outline(PtcWork *w, PtcBuf *out)
{
    PtcBench bench;
    PtcJsonError e = {0};
    PtcBuf shown;
    ptc_bench_init(&bench);
    ptc_buf_init(&shown, &w->mem, PTC_WORK_RESULT_BYTES);
    PtcValue result = ptc_json_parse(&bench.heap, out->data, out->len, &e);
    bool ok = result != PTC_NONE && ptc_preview_outline(&bench.heap, &shown, result);
    ptc_buf_clear(out);
    out->failed = !ok || !ptc_buf_add(out, shown.data, shown.len);
    ptc_buf_deinit(&shown);
    ptc_bench_deinit(&bench);
}

static bool call_one(PtcWork *w, const PtcCallOrder *order, const PtcWorkLimits *limits,
                     PtcCallResult *result)
{
    PtcBuf out;
    PtcNativeAnswer answer = {.end = PTC_NATIVE_FAILED};
    PtcNativeOptions options = native_call_options(w, order, limits);
    ptc_buf_init(&out, &w->mem, RESULT_MAX);
    bool ok = ptc_native_ask(w->native, w->def->tools, (int)order->tool, order->args, &options,
                             &out, &answer);
    if (ok && answer.end == PTC_NATIVE_OK && out.len > PTC_WORK_RESULT_BYTES)
        outline(w, &out);
    *result = (PtcCallResult){.ok = answer.end == PTC_NATIVE_OK,
                              .cached = answer.cached,
                              .reason = reason_of_native_end(answer.end),
                              .tries = answer.tries,
                              .took_ns = answer.took_ns,
                              .ended_ns = answer.ended_ns};
    result->content = ptc_work_keep(w, &out);
    return ok && result->content.bytes;
}

bool ptc_work_call(PtcWork *w, const PtcCallOrder *orders, size_t count,
                   const PtcWorkLimits *limits, PtcCallResult *results)
{
    ptc_arena_reset(&w->arena);
    if (!w->native && !(w->native = ptc_native_new()))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!call_one(w, &orders[i], limits, &results[i]))
            return false;
    return true;
}
