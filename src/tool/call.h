/* SPDX-License-Identifier: MIT
 * call.h - one call of a tool, from the program's side (call.c) and from the tool's (answer.c).
 *
 * A call is on the C stack of the thread that runs the program, unless its tool may answer later: then it is counted,
 * in the ledger of the set, and outlives the run when nobody waits for it any more. */
#ifndef PTC_TOOL_CALL_H
#define PTC_TOOL_CALL_H

#include "tool/tools.h"

/* A place to make values in: a PtcData of the host's, or (ptc NULL) the heap of a run. */
struct PtcData {
    Ptc *ptc;
    PtcHeap *heap;
};

struct PtcToolCall {
    const PtcTool *tool;
    PtcTools *tools; /* held, when counted */
    bool counted;
    atomic_uint refs; /* counted: the program and the tool */
    PtcVM *vm;
    PtcValue args;
    PtcData data;
    PtcBuf json; /* args as text, when asked for */
    pthread_t thread;
    int64_t begun_ns, end_ns; /* when nobody waits any more */
    atomic_bool inside;       /* the function is running, on `thread` */
    atomic_bool cancelled;    /* after it: nobody waits */
    /* the answer; under the lock when counted */
    pthread_mutex_t lock;
    pthread_cond_t answered_now;
    bool answered, ok;
    bool elsewhere;  /* answered from another thread, which has let go of the call then */
    PtcValue result; /* PTC_NONE: in text */
    char *text;      /* JSON, or the error's message, in the ledger of the set */
    size_t text_len;
};

/* The program stops waiting for compute time since the call began; the clock starts again. */
int64_t ptc_call_pause(PtcToolCall *call);
/* JSON text as a value in the run's heap; PTC_NONE with a message when it is not JSON, with none at a limit. */
PtcValue ptc_call_parse(PtcVM *vm, const char *json, size_t len, char *error, size_t size);
void ptc_call_release(PtcToolCall *call);

#endif
