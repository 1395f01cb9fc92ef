/* SPDX-License-Identifier: MIT
 * tool_result.h - the result of a `tools/call` as the value that a program gets. */
#ifndef PTC_UPSTREAM_RUN_TOOL_RESULT_H
#define PTC_UPSTREAM_RUN_TOOL_RESULT_H

#include "base/text.h"
#include "tool/call_reason.h"
#include "tool/remote/remote.h"

typedef enum {
    PTC_TOOL_RESULT_JSON,
    PTC_TOOL_RESULT_TEXT,
    PTC_TOOL_RESULT_NONE,
    PTC_TOOL_RESULT_CONTENT,
} PtcResultKind;
const char *ptc_tool_result_kind(PtcResultKind kind);

/* What a note says, as bits. */
enum {
    PTC_NOTE_SCHEMA_MISMATCH = 1,
    PTC_NOTE_NO_STRUCTURED_CONTENT = 2,
    PTC_NOTE_UNKNOWN_BLOCK = 4,
    PTC_NOTE_BAD_BLOCK = 8,
    PTC_NOTE_TOOL_CHANGED = 16, /* since it was pinned; of the call, not of its result */
    PTC_NOTE_SCHEMA_SLOW = 32,  /* nothing is checked with it from now on */
};
/* Their names, from the lowest bit on; NULL at the end. */
extern const char *const ptc_tool_result_notes[];

typedef struct PtcToolResultIn {
    PtcValue result;
    /* Whoever wants values in a heap of its own: JSON and texts are made there.  NULL: nobody does. */
    PtcRemoteAnswer *answer;
    const PtcValue *structured;       /* the structuredContent, if that is there already; or NULL */
    bool modern;                      /* the era of the upstream */
    PtcValue output_schema;           /* a map, or PTC_NONE */
    const struct PtcSchema *compiled; /* the same, compiled */
    /* For checking with `compiled`, if there is one.  NULL: that is compiled now, for the budget of the heap. */
    PtcBudget *checks;
    bool given_up;   /* checking takes too long and is not done */
    bool leave_text; /* `parse_json: false` */
    bool strict;     /* `strict_output` */
    size_t blobs;    /* that the run has already: refs go on behind them */
} PtcToolResultIn;

typedef struct PtcToolResult {
    bool ok;
    PtcResultKind kind;
    PtcValue value;
    bool there; /* it is in the heap of the answer */
    unsigned notes;
    PtcCallReason reason; /* not ok */
    PtcValue message;     /* a string: the upstream's own text; PTC_NONE: it said nothing */
    /* What refs stand for: a list of {"ref", "mimeType"?, "data"} with the base64 text as it came. */
    PtcValue blobs;
} PtcToolResult;

/* False: out of memory. */
PTC_MUST_USE bool ptc_tool_result_read(PtcHeap *heap, const PtcToolResultIn *in,
                                       PtcToolResult *out);

/* A text as the value of a result: if it is as a whole a JSON object or array, and `parse`, that; else a string.
 * False: out of memory. */
PTC_MUST_USE bool ptc_tool_result_text(PtcHeap *heap, PtcRemoteAnswer *answer, PtcText text,
                                       bool parse, PtcToolResult *out);
/* How many blobs an answer has at most: blocks that are no text. */
size_t ptc_tool_result_most_blobs(PtcHeap *heap, PtcValue result);

/* {"type", "mimeType"?, "bytes", "ref"}, with the next number of out->blobs. */
PtcValue ptc_tool_result_blob(PtcHeap *heap, const char *type, PtcText mime, size_t bytes,
                              size_t before, PtcValue data, PtcToolResult *out);

#endif
