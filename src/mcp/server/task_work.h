/* SPDX-License-Identifier: MIT
 * task_work.h - a call that may become a task, on a thread of its own; and a task that waits here for answers. */
#ifndef PTC_MCP_SERVER_TASK_WORK_H
#define PTC_MCP_SERVER_TASK_WORK_H

#include "mcp/server/task_record.h"

typedef enum {
    PTC_WORK_ATTACHED, /* to the call of a client, which gets its answer */
    PTC_WORK_MAKING,   /* that call makes a task of it */
    PTC_WORK_DETACHED, /* it is a task and runs */
    PTC_WORK_PARKED,   /* it is a task and waits for answers; it has no thread */
} PtcMcpWorkPhase;

/* Everything is under PtcMcpWorkList.lock, but for `inner`, which belongs to the thread of the work. */
struct PtcMcpWork {
    PtcMcp *mcp;
    PtcMcpWork *next;
    char id[PTC_MCP_TASK_ID + 1];
    char *owner;
    PtcBuf request;    /* the message */
    PtcBuf state;      /* while it is parked: of its handler; empty: it set none */
    PtcMcpCall *outer; /* while it is attached */
    PtcMcpCall *inner; /* while it has a thread */
    PtcMcpWorkPhase phase;
    unsigned
        refs; /* it is freed with the last: of its thread, of `outer`, of who looks after it, of being parked */
    unsigned uses_outer, uses_inner; /* calls that others are using just now */
    bool done, taken;                /* the inner call has ended; the outer one has its answer */
    bool client_gone;                /* the outer one was cancelled */
    enum { PTC_WORK_WANTED, PTC_WORK_CANCELLED, PTC_WORK_LATE, PTC_WORK_LOST } fate;
    bool noted; /* the message is not in the record yet */
    char message[PTC_MCP_TASK_MESSAGE];
};

/* ---- task_run.c.  All with the lock held, unless they say so. */
/* Without the lock.  NULL: no memory. */
PTC_MUST_USE PtcMcpWork *ptc_mcp_work_new(PtcMcp *mcp, const char *owner, PtcText request);
/* Without the lock: the call that does the work.  NULL: no memory. */
PTC_MUST_USE PtcMcpCall *ptc_mcp_work_begin(PtcMcpWork *work);
/* It is one of its server from now on, with one reference. */
void ptc_mcp_work_enter(PtcMcpWork *work);
/* Starts its thread, which has a reference of its own.  False: there is none. */
PTC_MUST_USE bool ptc_mcp_work_start(PtcMcpWork *work);
void ptc_mcp_work_unref(PtcMcpWork *work);
/* Cancels what runs, and remembers why it ends.  Lets go of the lock meanwhile. */
void ptc_mcp_work_stop(PtcMcpWork *work, int fate);

/* ---- task_resume.c.  Without the lock. */
/* A parked work whose questions are all answered runs on. */
void ptc_mcp_work_go_on(PtcMcpWork *work);
/* A parked work whose task has ended: its handler is called once more, cancelled, so that it lets go of what it has. */
void ptc_mcp_work_drop(PtcMcpWork *work);

#endif
