/* SPDX-License-Identifier: MIT
 * trace_out.h - the file of --trace: events of agents (agent_trace.h), readable by its owner only; and the collector
 * of --otlp. */
#ifndef PTC_CLI_OUT_TRACE_OUT_H
#define PTC_CLI_OUT_TRACE_OUT_H

#include "agent/run/agent_trace.h"
#include "cli/out/otlp_out.h"

typedef struct PtcTraceOut {
    PtcAgentTrace trace;
    const char *command, *path;
    int fd;        /* -1: there is none */
    PtcOtlp *otlp; /* NULL: there is none */
} PtcTraceOut;

/* Creates or replaces the file; no path (NULL) means no file, no `otlp` no collector.  False: the message is on
 * standard error.  `secrets` are borrowed. */
PTC_MUST_USE bool ptc_trace_out_open(PtcTraceOut *out, const char *command, const char *path,
                                     const char *otlp, const PtcSecrets *secrets);
/* To be called from PtcTreeHost.progress. */
void ptc_trace_out_tell(PtcTraceOut *out, const PtcProgress *progress);
/* False: not all of it could be written, which has been reported on standard error. */
bool ptc_trace_out_close(PtcTraceOut *out);

#endif
