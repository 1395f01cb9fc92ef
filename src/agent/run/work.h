/* SPDX-License-Identifier: MIT
 * work.h - where the programs and native calls of one agent run: an engine with a session, which is the agent's
 * memory.
 *
 * A run has one; a conversation keeps it from message to message.  It belongs to one thread at a time.  The loop
 * knows nothing about engines: it asks for a program to be run or a tool to be called, and gets what the step must
 * know. */
#ifndef PTC_AGENT_RUN_WORK_H
#define PTC_AGENT_RUN_WORK_H

#include "agent/step/step.h"
#include "engine/session.h"
#include "tool/kind/native.h"

enum { PTC_WORK_RESULT_BYTES = 64 * PTC_KB }; /* of a native result in a message */

/* What a run brings with it; JSON objects, absent: none. */
typedef struct PtcWorkInput {
    PtcText context, journal, memory;
    /* Programs may call other servers: what the definition does not set is wider for them. */
    bool servers;
} PtcWorkInput;

/* What holds for one program or call. */
typedef struct PtcWorkLimits {
    const PtcCancel *cancel;
    int64_t end_ns; /* of the whole tree */
    void *host;     /* what tools find with ptc_call_host */
    int64_t now_ms; /* the time of day for a program; 0: the system's */
} PtcWorkLimits;

typedef struct PtcWork {
    const PtcAgentDef *def;
    PtcMem mem;
    PtcBench bench;   /* of the context, as the prompt shows it; texts of the last program */
    PtcValue context; /* in the bench's heap */
    Ptc *ptc;         /* NULL: no program can run */
    PtcSession *session;
    PtcHeapBox *data; /* the context for programs */
    PtcValue data_map;
    bool own_fail; /* the context has a key `fail` */
    PtcNative *native;
    PtcOutcome *outcome; /* of the last program */
    PtcArena arena;      /* for what it reported */
    PtcToolTally *tally; /* one for each tool of the set */
    bool servers;        /* as in its input */
    int64_t pmap_ms;     /* for one pmap or pcalls */
} PtcWork;

/* False with the fault: the input does not fit, or out of memory.  ptc_work_close in any case. */
PTC_MUST_USE bool ptc_work_open(PtcWork *w, const PtcAgentDef *def, const PtcWorkInput *in,
                                PtcWhy *fault);
void ptc_work_close(PtcWork *w);

/* Runs a program.  Texts in *ran are good until the next program. */
void ptc_work_run(PtcWork *w, const PtcAction *action, const PtcWorkLimits *limits, PtcRan *ran);
/* The last program waits for somebody who is not there, and is not run again: what its tasks did is kept after all.
 * False: out of memory. */
PTC_MUST_USE bool ptc_work_give_up(PtcWork *w);
/* Calls tools one after the other; texts are good until the next calls.  False: out of memory. */
PTC_MUST_USE bool ptc_work_call(PtcWork *w, const PtcCallOrder *orders, size_t count,
                                const PtcWorkLimits *limits, PtcCallResult *results);
/* Releases what is not needed while a model thinks. */
void ptc_work_rest(PtcWork *w);

/* Append a JSON object: the definitions, the results of tasks.  A value without JSON, or with more than 1 MiB of it, is
 * {"$text":"..."}. */
void ptc_work_memory(PtcWork *w, PtcBuf *out);
void ptc_work_journal(PtcWork *w, PtcBuf *out);
/* The same to be read again: the buffer is full when a result does not fit. */
void ptc_work_journal_whole(PtcWork *w, PtcBuf *out);
/* Completed tasks, a line each; empty: none. */
void ptc_work_journal_log(PtcWork *w, PtcBuf *out);

#endif
