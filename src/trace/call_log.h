/* SPDX-License-Identifier: MIT
 * call_log.h - the calls that a run made in other servers, a JSON array as the upstream layer writes it
 * (PtcTaskOut.call_log), read for answers and records: how many, how much, and how that compares with what the program
 * answered.
 *
 * Bytes are exact; tokens are estimates and say so.  Only what succeeded counts as payload that was reduced. */
#ifndef PTC_TRACE_CALL_LOG_H
#define PTC_TRACE_CALL_LOG_H

#include "base/buf.h"
#include "value/heap.h"

/* An array read once; closed with what it took. */
typedef struct PtcCallLog {
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcValue calls; /* a sequence; PTC_NONE: there is none that can be read */
    size_t count;
} PtcCallLog;

void ptc_call_log_open(PtcCallLog *call_log, PtcMem *mem, PtcText json);
void ptc_call_log_close(PtcCallLog *call_log);

/* A member of call i; 0 and an absent text when it is not there or something else. */
PtcValue ptc_call_log_member(PtcCallLog *call_log, size_t i, const char *name);
PtcText ptc_call_log_text(PtcCallLog *call_log, size_t i, const char *name);
uint64_t ptc_call_log_number(PtcCallLog *call_log, size_t i, const char *name);
/* Why call i failed; "": it did not. */
PtcText ptc_call_log_reason(PtcCallLog *call_log, size_t i);

/* Is the member of that name known before the call is made? */
bool ptc_call_log_is_asked(PtcText name);
/* The same name if it is that of a payload: a text that was asked or answered; else NULL. */
const char *ptc_call_log_payload(PtcText name);

/* A call of a log as answers have it: all of it but what was asked and what came back, which only traces show.
 * With an `id` (from 1) it has that number in place of its own. */
void ptc_call_log_put_call(PtcBuf *out, PtcHeap *heap, PtcValue call, uint64_t id);
/* The member "upstream_calls": all calls, so written. */
void ptc_call_log_put_calls(PtcCallLog *call_log, PtcBuf *out);

typedef struct PtcCallSums {
    uint64_t calls, ok, errors, oversize;
    uint64_t result_bytes, error_bytes, oversize_bytes;
} PtcCallSums;
void ptc_call_log_sum(PtcCallLog *call_log, PtcCallSums *sums);

/* How often what was received is what was answered, in hundredths; -1: one of them is 0. */
int64_t ptc_call_log_ratio(uint64_t received, uint64_t answered);
/* The same as a JSON value: 59.26, or null. */
void ptc_call_log_put_ratio(PtcBuf *out, const char *key, int64_t hundredths);

/* The member "ptc_metrics". */
void ptc_call_log_put_metrics(PtcBuf *out, const PtcCallSums *sums, uint64_t answered,
                              uint64_t printed);

#endif
