/* SPDX-License-Identifier: MIT
 * ledger.h - the calls that a run made in other servers, a JSON array as the upstream layer writes it
 * (PtcTaskOut.ledger), read for answers and records: how many, how much, and how that compares with what the program
 * answered.
 *
 * Bytes are exact; tokens are estimates and say so.  Only what succeeded counts as payload that was reduced. */
#ifndef PTC_TRACE_LEDGER_H
#define PTC_TRACE_LEDGER_H

#include "base/buf.h"
#include "value/heap.h"

/* An array read once; closed with what it took. */
typedef struct PtcLedger {
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcValue calls; /* a sequence; PTC_NONE: there is none that can be read */
    size_t count;
} PtcLedger;

void ptc_ledger_open(PtcLedger *ledger, PtcMem *mem, PtcText json);
void ptc_ledger_close(PtcLedger *ledger);

/* A member of call i; 0 and an absent text when it is not there or something else. */
PtcValue ptc_ledger_member(PtcLedger *ledger, size_t i, const char *name);
PtcText ptc_ledger_text(PtcLedger *ledger, size_t i, const char *name);
uint64_t ptc_ledger_number(PtcLedger *ledger, size_t i, const char *name);
/* Why call i failed; "": it did not. */
PtcText ptc_ledger_reason(PtcLedger *ledger, size_t i);

/* Is the member of that name known before the call is made? */
bool ptc_ledger_is_asked(PtcText name);
/* The same name if it is that of a payload: a text that was asked or answered; else NULL. */
const char *ptc_ledger_payload(PtcText name);

/* A call of a ledger as answers have it: all of it but what was asked and what came back, which only traces show.
 * With an `id` (from 1) it has that number in place of its own. */
void ptc_ledger_put_call(PtcBuf *out, PtcHeap *heap, PtcValue call, uint64_t id);
/* The member "upstream_calls": all calls, so written. */
void ptc_ledger_put_calls(PtcLedger *ledger, PtcBuf *out);

typedef struct PtcLedgerSums {
    uint64_t calls, ok, errors, oversize;
    uint64_t result_bytes, error_bytes, oversize_bytes;
} PtcLedgerSums;
void ptc_ledger_sum(PtcLedger *ledger, PtcLedgerSums *sums);

/* How often what was received is what was answered, in hundredths; -1: one of them is 0. */
int64_t ptc_ledger_ratio(uint64_t received, uint64_t answered);
/* The same as a JSON value: 59.26, or null. */
void ptc_ledger_put_ratio(PtcBuf *out, const char *key, int64_t hundredths);

/* The member "ptc_metrics". */
void ptc_ledger_put_metrics(PtcBuf *out, const PtcLedgerSums *sums, uint64_t answered,
                            uint64_t printed);

#endif
