/* SPDX-License-Identifier: MIT
 * trace_carry.h - the trace that a run is part of (base/text/trace_context.h), carried on to the servers that it
 * calls: in `_meta` of MCP, and in headers of HTTP. */
#ifndef PTC_UPSTREAM_CONNECT_TRACE_CARRY_H
#define PTC_UPSTREAM_CONNECT_TRACE_CARRY_H

#include "base/buf.h"
#include "base/text/trace_context.h"
#include "value/heap.h"

/* Of a run. */
typedef struct PtcTraceCarry {
    char parent[PTC_TRACE_PARENT]; /* "": none */
    bool ours;
    PtcBuf state, baggage; /* empty: none */
} PtcTraceCarry;

void ptc_trace_carry_init(PtcTraceCarry *carry, PtcMem *mem);
void ptc_trace_carry_deinit(PtcTraceCarry *carry);
/* What is not as it should be is not taken; without memory nothing is. */
void ptc_trace_carry_take(PtcTraceCarry *carry, const PtcTraceContext *context);

/* A new span for a call: its traceparent; "": none.  `span` gets its id when it is told to a collector, else "". */
void ptc_trace_carry_next(const PtcTraceCarry *carry, char parent[PTC_TRACE_PARENT], char span[17]);
/* The member "_meta" of a message; nothing when there is nothing to say. */
void ptc_trace_carry_meta(const PtcTraceCarry *carry, const char parent[PTC_TRACE_PARENT],
                          PtcBuf *params);
/* Lines of headers, each ended by a line feed. */
void ptc_trace_carry_lines(const PtcTraceCarry *carry, const char parent[PTC_TRACE_PARENT],
                           PtcBuf *headers);
/* Headers as a map, without those that are there. */
void ptc_trace_carry_map(const PtcTraceCarry *carry, const char parent[PTC_TRACE_PARENT],
                         PtcHeap *heap, PtcValue *headers);

#endif
