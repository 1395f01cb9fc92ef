/* SPDX-License-Identifier: MIT
 * recorder_int.h - records as the files of the recorder share them. */
#ifndef PTC_TRACE_RECORDER_INT_H
#define PTC_TRACE_RECORDER_INT_H

#include <pthread.h>

#include "trace/call_log.h"
#include "trace/call_outcomes.h"
#include "trace/recorder.h"
#include "trace/trace_file.h"

enum { PTC_RECORD_OWNER = 16, PTC_RECORD_REASON = 24, PTC_RECORD_REQUEST = 32 };
/* Owners whose calls are counted apart; there are no more tokens at once.  Further ones share the last place. */
enum { PTC_RECORD_COUNTS = 128 };

typedef struct PtcCallRecord {
    uint64_t number; /* among the calls of its owner, from 1 */
    int64_t at_ms, duration_us;
    const char *tool;
    unsigned char owner[PTC_RECORD_OWNER]; /* the first bytes of its hash */
    char reason[PTC_RECORD_REASON];
    bool ok;
    size_t program_bytes, result_bytes;
    char *json; /* the record as ptc_recorder_get() returns it */
    size_t json_len;
    /* calls of other servers */
    PtcCallSums sums;
    PtcCallOutcomes outcomes;
    size_t answered_bytes;
} PtcCallRecord;

struct PtcRecorder {
    PtcMem mem;
    PtcPayloads payloads;
    const PtcSecrets *secrets[2]; /* or NULL */
    PtcTrace *trace;
    void (*traced)(void *user, PtcText lines); /* or NULL */
    void *traced_user;
    /* It guards everything below.  Threads that end a call take it to add a record, whose texts are ready by then, and
     * `lisp_debug` takes it to read; no other lock is taken inside. */
    pthread_mutex_t lock;
    PtcCallRecord *ring;
    size_t max, count, oldest;
    uint64_t calls;
    struct {
        unsigned char owner[PTC_RECORD_OWNER];
        uint64_t calls; /* 0: free */
    } counts[PTC_RECORD_COUNTS];
};

/* ---- recorder.c */
void ptc_recorder_owner(unsigned char out[PTC_RECORD_OWNER], const char *owner);
void ptc_recorder_name(char name[PTC_RECORD_REQUEST], uint64_t number);
/* The members "request_id" and "ts". */
void ptc_recorder_put_id(PtcBuf *out, uint64_t number);
void ptc_recorder_put_time(PtcBuf *out, int64_t ms);
/* A member with as much of the text as the policy allows; nothing for an absent one. */
void ptc_recorder_put_payload(PtcRecorder *r, PtcBuf *out, const char *name, PtcText text,
                              size_t max);

/* ---- recorder_calls.c: calls of other servers */
/* The members "upstream_calls" and "ptc_metrics"; nothing without calls. */
void ptc_recorder_put_calls(PtcRecorder *r, PtcBuf *out, const PtcCallNote *n, PtcCallLog *l);
/* Lines upstream.start and upstream.stop for each. */
void ptc_recorder_put_events(PtcRecorder *r, PtcBuf *out, PtcCallLog *l);

#endif
