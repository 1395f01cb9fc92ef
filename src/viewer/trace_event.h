/* SPDX-License-Identifier: MIT
 * trace_event.h - one line of a trace (docs/trace.md, docs/mcp.md) as an event.
 *
 * A line is looked at once and nothing is allocated: an event points into its line.  Lines may come from anybody; what
 * is promised of a value holds for every event that was read. */
#ifndef PTC_VIEWER_TRACE_EVENT_H
#define PTC_VIEWER_TRACE_EVENT_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/text.h"
#include "base/why.h"

enum { PTC_TRACE_ID_BYTES = 64, PTC_TRACE_NAME_BYTES = 96, PTC_TRACE_SPAN_BYTES = 24 };

/* Parts of a run, each inside the one that its parent names. */
typedef enum {
    PTC_TRACE_PART_RUN,
    PTC_TRACE_PART_TURN,
    PTC_TRACE_PART_MODEL,
    PTC_TRACE_PART_PROGRAM,
    PTC_TRACE_PART_TOOL,
    PTC_TRACE_PART_CALL, /* of a tool of `ptc mcp`; calls of other servers in it are PTC_TRACE_PART_TOOL */
    PTC_TRACE_PART_COUNT,
} PtcTracePartKind;
const char *ptc_part_kind_name(PtcTracePartKind kind);

typedef enum {
    PTC_EVENT_OTHER, /* nothing that is known: to be ignored */
    PTC_EVENT_FIRST, /* trace.start */
    PTC_EVENT_CUT,   /* trace.stop: the trace had reached its largest size */
    PTC_EVENT_BEGIN, /* of a part */
    PTC_EVENT_END,
    PTC_EVENT_WHOLE, /* a part that is told when it has ended */
} PtcEventStep;

/* The members that are used; values are checked JSON, absent where there is none. */
#define PTC_TRACE_FIELDS(X) \
    X(event)                \
    X(id)                   \
    X(parent)               \
    X(at_us)                \
    X(start_us)             \
    X(duration_us)          \
    X(agent)                \
    X(name)                 \
    X(mode)                 \
    X(outcome)              \
    X(reason)               \
    X(message)              \
    X(tokens)               \
    X(type)                 \
    X(ok)                   \
    X(model)                \
    X(status)               \
    X(end)                  \
    X(warnings)             \
    X(layer)                \
    X(cached)               \
    X(ts)                   \
    X(request_id)           \
    X(tool)                 \
    X(calls)                \
    X(server)               \
    X(duration_ms)          \
    X(traceparent)          \
    X(parent_span)          \
    X(span_id)              \
    X(left_out)
enum {
#define PTC_TRACE_FIELD(name) PTC_FIELD_##name,
    PTC_TRACE_FIELDS(PTC_TRACE_FIELD)
#undef PTC_TRACE_FIELD
        PTC_FIELD_COUNT
};

typedef struct PtcTraceTokens {
    bool reported;
    int64_t input, output, cache_read; /* 0 to PTC_TRACE_TOKENS */
} PtcTraceTokens;
#define PTC_TRACE_TOKENS ((int64_t)1 << 40)
#define PTC_TRACE_TIME ((int64_t)1 << 50) /* microseconds: 35 years */

typedef struct PtcTraceEvent {
    PtcEventStep step;
    PtcTracePartKind kind;
    /* Without quotes and escapes; at most PTC_TRACE_ID_BYTES - 1 bytes; absent: none. */
    PtcText id, parent;
    int64_t at_us, start_us, duration_us; /* 0 to PTC_TRACE_TIME; -1: none, but for at_us */
    bool ok;                              /* of an end: it went well */
    PtcText field[PTC_FIELD_COUNT];
} PtcTraceEvent;

/* False with a text in why: the line is no event. */
PTC_MUST_USE bool ptc_trace_event_read(PtcTraceEvent *event, PtcText line, PtcWhy *why);

/* An item of the list `calls` that an end of PTC_TRACE_PART_CALL may have, as an event without an id.  False: it is
 * none. */
PTC_MUST_USE bool ptc_trace_event_item(PtcTraceEvent *event, PtcText item);

/* A field that is a string, for a reader: decoded, on one line, without what would act on a terminal, cut to fit.
 * Empty for an absent one and for what is not a string. */
void ptc_trace_event_show(const PtcTraceEvent *event, int field, char *out, size_t size);
/* When it was written ("ts"), in milliseconds since 1970; false: it does not say. */
PTC_MUST_USE bool ptc_trace_event_time(const PtcTraceEvent *event, int64_t *ms);
PtcTraceTokens ptc_trace_event_tokens(const PtcTraceEvent *event);

#endif
