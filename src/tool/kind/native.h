/* SPDX-License-Identifier: MIT
 * native.h - tools called by the host itself, JSON in and JSON out, without a program.  As with programs, arguments
 * are checked, results cached, and calls that must not overlap kept apart: it is the same code. */
#ifndef PTC_TOOL_KIND_NATIVE_H
#define PTC_TOOL_KIND_NATIVE_H

#include "tool/toolset.h"

/* Each may be left 0. */
typedef struct PtcNativeOptions {
    const PtcCancel *cancel;
    int64_t deadline_ns;  /* in the system's monotonic clock; 0: none */
    int64_t hard_ns;      /* the same, for tools whose time does not count; 0: the deadline */
    int64_t memory_bytes; /* of arguments and result [32 MiB] */
    PtcCache *cache;      /* shared with programs, for tools that have one */
    bool preview; /* answer with the preview of a tool that has one, if its result is cached ... */
    bool preview_all;    /* ... and with that of any other tool that programs may call too */
    void *host;          /* for ptc_call_host */
    PtcToolTally *tally; /* one for each tool of the set, added to */
    PtcBuf *issues;      /* gets what is wrong with arguments: [{"path":["id"],"message":"..."}] */
} PtcNativeOptions;

typedef enum {
    PTC_NATIVE_OK,
    PTC_NATIVE_UNKNOWN, /* there is no such tool */
    PTC_NATIVE_ARGS,    /* the arguments do not match its signature */
    PTC_NATIVE_FAILED,  /* it said so, or returned something that cannot be JSON */
    PTC_NATIVE_TIMEOUT, /* its own limit or the deadline passed */
    PTC_NATIVE_CANCELLED,
    PTC_NATIVE_MEMORY, /* arguments and result take too much */
} PtcNativeEnd;

/* How a call went. */
typedef struct PtcNativeAnswer {
    PtcNativeEnd end;
    bool cached;
    bool preview;              /* it is a preview, not the result */
    bool unknown;              /* the tool was called, but nobody waited for its end */
    uint32_t tries;            /* how often the tool was called */
    int64_t took_ns, ended_ns; /* the latter on the clock of the run; 0: it was not called */
} PtcNativeAnswer;

/* What calls need; reusable, by one thread at a time. */
typedef struct PtcNative PtcNative;
PtcNative *ptc_native_new(void);
void ptc_native_free(PtcNative *native);

/* Calls a tool by its number with a JSON object.  *ok: the result is in out, as JSON on one line; else out is what went
 * wrong, as text.  False: out of memory, or out is full. */
PTC_MUST_USE bool ptc_native_call(PtcNative *native, PtcTools *tools, size_t tool, const char *args,
                                  size_t args_len, const PtcNativeOptions *options, PtcBuf *out,
                                  bool *ok);

/* The same, with more about how it went.  A negative tool number: there is no such tool. */
PTC_MUST_USE bool ptc_native_ask(PtcNative *native, PtcTools *tools, int tool, PtcText args,
                                 const PtcNativeOptions *options, PtcBuf *out,
                                 PtcNativeAnswer *answer);

/* Makes the preview of a tool that has a PTC-Lisp function for it; PtcNativeResult.fn is then this function. */
bool ptc_native_preview(void *user, PtcHeap *heap, PtcValue result, PtcValue *preview);

#endif
