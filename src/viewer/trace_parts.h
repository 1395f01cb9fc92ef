/* SPDX-License-Identifier: MIT
 * trace_parts.h - the events of a trace put together: each part of a run once it has ended, with what was said when it
 * began.  Memory depends on how many parts are under way at once, not on the length of the trace. */
#ifndef PTC_VIEWER_TRACE_PARTS_H
#define PTC_VIEWER_TRACE_PARTS_H

#include "base/mem.h"
#include "viewer/trace_event.h"

enum {
    PTC_PARTS_OPEN = 16384, /* parts under way; the beginnings of more are forgotten */
    PTC_PARTS_LANES = 64,   /* calls of a program side by side */
};

typedef struct PtcTracePart {
    PtcTracePartKind kind;
    char id[PTC_TRACE_ID_BYTES], parent[PTC_TRACE_ID_BYTES]; /* "": none */
    /* Of the agent, model or tool; of a turn its number; of a program "". */
    char name[PTC_TRACE_NAME_BYTES];
    char span[PTC_TRACE_SPAN_BYTES]; /* that others know it by; "": none */
    char mode[24];  /* of a run its mode, of a turn its type, of a call its layer */
    unsigned depth; /* parts around it that are under way */
    uint32_t run;   /* counts runs and calls of `ptc mcp`, from 1; 0: in none that is known */
    uint32_t lane;  /* of a call of a program: those with the same one do not overlap */
    int64_t start_us, duration_us;
    /* When its end was told, which is after all that is inside it; duration_us may be shorter. */
    int64_t end_us;
    bool ended, ok;
    bool outside;                      /* a call of another server */
    char reason[PTC_TRACE_NAME_BYTES]; /* why it is not ok; of a program also how it ended */
    bool cached, warned;
    PtcTraceTokens tokens;
} PtcTracePart;

typedef struct PtcPartsSink {
    void (*began)(void *user, const PtcTracePart *part); /* NULL: not wanted */
    /* `event` is its last one; NULL: the trace ends before it. */
    void (*ended)(void *user, const PtcTracePart *part, const PtcTraceEvent *event);
    void *user;
} PtcPartsSink;

typedef struct PtcParts PtcParts;

/* NULL: out of memory. */
PTC_MUST_USE PtcParts *ptc_parts_new(PtcMem *mem, PtcPartsSink sink);
void ptc_parts_free(PtcParts *parts);

/* False: out of memory; the event is lost. */
PTC_MUST_USE bool ptc_parts_take(PtcParts *parts, const PtcTraceEvent *event);
/* The end of a file: what is under way is told as not ended, and the next event belongs to another trace. */
void ptc_parts_end(PtcParts *parts);
/* Parts whose beginning was forgotten because there were too many. */
uint64_t ptc_parts_forgotten(const PtcParts *parts);

#endif
