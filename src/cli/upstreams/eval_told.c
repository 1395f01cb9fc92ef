/* SPDX-License-Identifier: MIT
 * Who is told gets names, times and reasons: programs, results and messages stay here. */
#include "cli/upstreams/eval_told.h"

#include <string.h>

#include "engine/outcome.h"

enum { EVAL_CALL_LOG = 64 * PTC_MB };

static void send_eval_trace(void *user, PtcText lines)
{
    ptc_otlp_lines(user, lines);
}

bool ptc_eval_told_begin(PtcEvalTold *told, PtcMem *mem, const char *option,
                         PtcUpstreams *upstreams, PtcWhy *why)
{
    *told = (PtcEvalTold){.otlp = NULL};
    ptc_buf_init(&told->call_log, mem, EVAL_CALL_LOG);
    if (!ptc_otlp_out_open(mem, "eval", option, false, &told->otlp, why))
        return false;
    if (!told->otlp || !ptc_trace_parent_new(told->span))
        return true;
    PtcRecorderConfig config = {
        .payloads = PTC_PAYLOADS_NONE, .traced = send_eval_trace, .traced_user = told->otlp};
    if (!(told->recorder = ptc_recorder_new(&config, why)))
        return false;
    told->trace = (PtcTraceContext){.parent = ptc_text_cstr(told->span), .ours = true};
    told->begun_ns = ptc_clock_ns(NULL);
    upstreams->trace = &told->trace;
    upstreams->call_log = &told->call_log;
    return true;
}

void ptc_eval_told_end(PtcEvalTold *told, const PtcRun *run, const PtcOutcome *outcome)
{
    if (told->recorder && outcome) {
        bool named = !outcome->ok && outcome->error_count;
        PtcCallNote note = {
            .tool = "eval",
            .owner = "",
            .span = told->span,
            .parent = "",
            .ok = outcome->ok,
            .reason = named ? ptc_error_kind_name(outcome->errors[0].kind) : "failed",
            .program = {run->program, run->program_len},
            .duration_us = (ptc_clock_ns(NULL) - told->begun_ns) / 1000,
            .call_log = {told->call_log.len ? told->call_log.data : NULL, told->call_log.len}};
        ptc_recorder_note(told->recorder, &note);
    }
    ptc_recorder_free(told->recorder);
    ptc_otlp_free(told->otlp);
    ptc_buf_deinit(&told->call_log);
    *told = (PtcEvalTold){.otlp = NULL};
}
