/* SPDX-License-Identifier: MIT
 * trace_context.h - W3C Trace Context and Baggage: what whoever asked us says of the trace that their request is part
 * of, and what we say of it when we ask others on their behalf.
 *
 * What comes in is checked once, here; what is not as the standards say is left out as if it had not been said. */
#ifndef PTC_BASE_TEXT_TRACE_CONTEXT_H
#define PTC_BASE_TEXT_TRACE_CONTEXT_H

#include "base/text.h"
#include <stdbool.h>

enum {
    PTC_TRACE_PARENT = 56,    /* bytes of a traceparent with its NUL */
    PTC_TRACE_STATE = 512,    /* bytes of a tracestate; members beyond that are left out */
    PTC_TRACE_BAGGAGE = 8192, /* bytes of a baggage; a longer one is left out */
    PTC_TRACE_MEMBERS = 32,   /* of a tracestate */
    PTC_TRACE_CARRIED = 64,   /* members of a baggage */
};

/* Borrowed texts, each absent when there is none. */
typedef struct PtcTraceContext {
    PtcText parent, state, baggage;
    /* The parent is a span that this process tells a collector of: calls on its behalf are spans, too. */
    bool ours;
} PtcTraceContext;

/* Leaves out what is not as it should be.  A state without a parent means nothing. */
void ptc_trace_context_check(PtcTraceContext *context);

/* "" when it is none of version 00, or one that cannot be right. */
void ptc_trace_parent_read(PtcText text, char out[PTC_TRACE_PARENT]);
/* Makes a parent of the trace and the flags of another one and a new span; false: no random bytes.  `span` gets its 16
 * digits and a NUL, or is NULL. */
bool ptc_trace_parent_next(const char parent[PTC_TRACE_PARENT], char out[PTC_TRACE_PARENT],
                           char span[17]);
/* The first one of a new trace. */
bool ptc_trace_parent_new(char out[PTC_TRACE_PARENT]);
/* Does whoever began the trace want it to be kept? */
bool ptc_trace_parent_is_sampled(const char parent[PTC_TRACE_PARENT]);

#endif
