/* SPDX-License-Identifier: MIT
 * recorder.h - what was done: a bounded ring of calls for `lisp_debug`, and a file for each call in --trace-dir.
 *
 * This is the one place that decides how much of the payloads (programs, contexts, results, messages, arguments and
 * results of tools) is recorded:
 *   none     sizes only
 *   summary  sizes and SHA-256
 *   full     the texts, cut to PTC_RECORD_TEXT in the ring
 * Known secrets (bearer tokens, values of variables passed to tools) are removed from every text before anything
 * else is done with it, hashing included.  Any thread may call. */
#ifndef PTC_TRACE_RECORDER_H
#define PTC_TRACE_RECORDER_H

#include "base/text.h"
#include "base/why.h"
#include "trace/redact.h"

typedef struct PtcRecorder PtcRecorder;

typedef enum { PTC_PAYLOADS_NONE, PTC_PAYLOADS_SUMMARY, PTC_PAYLOADS_FULL } PtcPayloads;
enum { PTC_RECORD_TEXT = 8 * PTC_KB, PTC_RECORD_FILE_TEXT = PTC_MB };

typedef struct PtcRecorderConfig {
    size_t ring; /* calls kept; 0: none */
    PtcPayloads payloads;
    const char *trace_dir; /* NULL: no files */
    size_t trace_files;    /* beyond this the oldest are removed */
    /* Gets the trace of each call that has a span, once it has ended; any thread.  NULL: nobody wants them. */
    void (*traced)(void *user, PtcText lines);
    void *traced_user;
    const PtcSecrets *secrets, *more_secrets; /* borrowed; NULL: none */
} PtcRecorderConfig;

/* One call, as its handler reports it; the texts are borrowed. */
typedef struct PtcCallNote {
    const char *tool; /* a constant */
    const char *owner;
    const char *span;   /* the call's own, as a traceparent; "": it is part of no trace */
    const char *parent; /* the traceparent of who asked; "": none */
    bool ok;
    const char *reason; /* "" when ok */
    PtcText program, context, result, message;
    int64_t duration_us;
    uint64_t tool_calls;
    PtcText calls;    /* tool calls: JSON as in a PtcPayloadParts; absent: none */
    PtcText call_log; /* calls of other servers: JSON as in trace/call_log.h; absent: none */
    size_t answered_bytes, printed_bytes; /* of the result and of what was printed, as sent */
} PtcCallNote;

/* NULL with a text in why.  The directory's name is copied. */
PTC_MUST_USE PtcRecorder *ptc_recorder_new(const PtcRecorderConfig *config, PtcWhy *why);
void ptc_recorder_free(PtcRecorder *recorder);
const char *ptc_payloads_name(PtcPayloads payloads);

void ptc_recorder_note(PtcRecorder *recorder, const PtcCallNote *note);

/* The answers of lisp_debug, each a JSON object appended to out.  They only ever show the calls of one owner. */
typedef struct PtcRecent {
    size_t limit;
    bool errors_only;
    int64_t since_ms; /* leave out older calls; 0: all */
} PtcRecent;
/* `upstreams`: JSON about other servers that goes in as it is; absent: none. */
void ptc_recorder_stats(PtcRecorder *recorder, const char *owner, PtcText upstreams, PtcBuf *out);
void ptc_recorder_recent(PtcRecorder *recorder, const char *owner, const PtcRecent *wanted,
                         PtcBuf *out);
/* False: the ring has no such call of this owner. */
PTC_MUST_USE bool ptc_recorder_get(PtcRecorder *recorder, const char *owner, PtcText id,
                                   PtcBuf *out);

#endif
