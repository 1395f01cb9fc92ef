/* SPDX-License-Identifier: MIT
 * eval_told.h - --otlp of `ptc eval`: its program as a span, with what it calls in other servers inside. */
#ifndef PTC_CLI_UPSTREAMS_EVAL_TOLD_H
#define PTC_CLI_UPSTREAMS_EVAL_TOLD_H

#include "base/text/trace_context.h"
#include "cli/out/otlp_out.h"
#include "cli/upstreams/upstreams_open.h"
#include "trace/recorder.h"

typedef struct PtcEvalTold {
    PtcOtlp *otlp; /* NULL: nobody is told */
    PtcRecorder *recorder;
    PtcTraceContext trace;
    char span[PTC_TRACE_PARENT];
    PtcBuf call_log;
    int64_t begun_ns;
} PtcEvalTold;

/* Before the program runs; `option` as given, NULL: nobody is told.  False: why says what is wrong. */
PTC_MUST_USE bool ptc_eval_told_begin(PtcEvalTold *told, PtcMem *mem, const char *option,
                                      PtcUpstreams *upstreams, PtcWhy *why);
/* When it has run, and at the end in any case; no outcome (NULL): it did not run. */
void ptc_eval_told_end(PtcEvalTold *told, const PtcRun *run, const PtcOutcome *outcome);

#endif
