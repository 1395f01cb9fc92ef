/* SPDX-License-Identifier: MIT
 * agent_trace.h - what agents did, as lines of JSON to be read later; docs/trace.md describes them.
 *
 * A trace takes the progress of one tree after the other.  Secrets are removed from every text before it is cut;
 * every line and the trace as a whole have a limit. */
#ifndef PTC_AGENT_RUN_AGENT_TRACE_H
#define PTC_AGENT_RUN_AGENT_TRACE_H

#include "agent/run/agent_tree.h"
#include "trace/redact.h"

enum {
    PTC_TRACE_VERSION = 1,
    PTC_TRACE_TEXT = 16 * PTC_KB,   /* bytes of one text */
    PTC_TRACE_ITEMS = 128,          /* of a list in an event */
    PTC_TRACE_LINE = 8 * PTC_MB,    /* bytes of a line */
    PTC_TRACE_BYTES = 256 * PTC_MB, /* of all lines */
};

typedef struct PtcAgentTrace {
    const PtcSecrets *secrets; /* or NULL */
    /* Takes a line, with its line feed.  False: it could not be written, and nothing more will be. */
    bool (*write)(void *user, PtcText line);
    void *user;
    PtcMem mem;
    PtcBuf line, clean;
    int64_t began_ns, began_ms; /* by the clock, and by the time of day */
    int64_t offset_ns;          /* from the start of the trace to the beginning of this tree */
    uint64_t runs_before, runs; /* in the trees before this one; including this one */
    uint64_t bytes;
    bool failed, over; /* a line was not written; no more will be */
} PtcAgentTrace;

/* Writes the first line.  `secrets` are borrowed; NULL: there are none. */
void ptc_agent_trace_init(PtcAgentTrace *trace, const PtcSecrets *secrets,
                          bool (*write)(void *user, PtcText line), void *user);
/* Writes what happened; to be called from PtcTreeHost.progress. */
void ptc_agent_trace_tell(PtcAgentTrace *trace, const PtcProgress *progress);
/* False: a line could not be written. */
bool ptc_agent_trace_deinit(PtcAgentTrace *trace);

#endif
