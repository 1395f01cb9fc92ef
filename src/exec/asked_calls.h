/* SPDX-License-Identifier: MIT
 * asked_calls.h - calls of other servers that a dry run has come to, in words. */
#ifndef PTC_EXEC_ASKED_CALLS_H
#define PTC_EXEC_ASKED_CALLS_H

#include "tool/remote/remote.h"
#include "value/heap.h"

/* Whose calls they are; the heap is for looking into them. */
typedef struct PtcAskedCalls {
    PtcRemote *remote;
    void *run;
    PtcHeap *heap;
    PtcMem *mem;
} PtcAskedCalls;

/* What a dry run found: `plan` all places of the program, else the calls that it stopped before; as text, and as
 * {"dry_run","calls","count"}. */
void ptc_asked_calls_dry_run(const PtcAskedCalls *calls, bool plan, PtcText program, PtcBuf *text,
                             PtcBuf *json);

#endif
