/* SPDX-License-Identifier: MIT
 * native.h - tools called by the host itself, JSON in and JSON out, without a program.  Arguments are checked, results
 * cached, calls that must not overlap kept apart, as they are for programs: it is the same code. */
#ifndef PTC_TOOL_NATIVE_H
#define PTC_TOOL_NATIVE_H

#include "tool/toolset.h"

/* Each may be left 0. */
typedef struct PtcNativeOptions {
    const PtcCancel *cancel;
    int64_t deadline_ns;  /* in the system's monotonic clock; 0: none */
    int64_t memory_bytes; /* of arguments and result [32 MiB] */
    PtcCache *cache;      /* shared with programs, for tools that have one */
    bool preview; /* answer with the preview of a tool that has one, if its result is cached */
} PtcNativeOptions;

/* What calls need, to be used again and again by one thread at a time. */
typedef struct PtcNative PtcNative;
PtcNative *ptc_native_new(void);
void ptc_native_free(PtcNative *native);

/* Calls a tool by its number with a JSON object.  *ok: the result is in out, as JSON on one line; else out is what went
 * wrong, as text.  False: no memory, or out is full. */
PTC_MUST_USE bool ptc_native_call(PtcNative *native, PtcTools *tools, size_t tool, const char *args,
                                  size_t args_len, const PtcNativeOptions *options, PtcBuf *out,
                                  bool *ok);

/* The same by name, for a single call. */
PTC_MUST_USE bool ptc_native_call_named(PtcTools *tools, PtcText name, PtcText args,
                                        const PtcNativeOptions *options, PtcBuf *out, bool *ok);

/* Makes the preview of a tool that has a function in PTC-Lisp for it: what PtcNativeResult.fn then is. */
bool ptc_native_preview(void *user, PtcHeap *heap, PtcValue result, PtcValue *preview);

#endif
