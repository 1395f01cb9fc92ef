/* SPDX-License-Identifier: MIT
 * task_record.h - a task: a call of a tool that goes on after it was answered with an id (SEP-2663).  This is the
 * record that is kept of it in the book of the configuration, and how clients see it.
 *
 * What always holds: a task ends once, for nothing is written over an end; a question has one key for ever, q1, q2 ...;
 * whoever runs a task has its lease, and writes nothing any more once another node has taken it. */
#ifndef PTC_MCP_SERVER_TASK_RECORD_H
#define PTC_MCP_SERVER_TASK_RECORD_H

#include "mcp/server/mcp_int.h"

#define PTC_MCP_TASKS_EXTENSION "io.modelcontextprotocol/tasks"

enum {
    PTC_MCP_TASK_ID = 28, /* t- and 26 letters and digits, which are 128 random bits */
    PTC_MCP_TASK_ASKS = 16,
    PTC_MCP_TASK_NODE = 16,
    PTC_MCP_TASK_MESSAGE = 200,
    PTC_MCP_TASK_POLL_MS = 1000,
    PTC_MCP_TASK_LISTEN = 32, /* that one subscription is about */
};

typedef enum {
    PTC_MCP_TASK_WORKING,
    PTC_MCP_TASK_ASKING,
    PTC_MCP_TASK_COMPLETED,
    PTC_MCP_TASK_FAILED,
    PTC_MCP_TASK_CANCELLED,
} PtcMcpTaskStatus;

/* A question of the handler: by what name it asked, what, and the client's answer (absent: it is open). */
typedef struct PtcMcpTaskAsk {
    PtcText key, request, answer;
} PtcMcpTaskAsk;

/* The texts point into `bytes`, or wherever whoever changes the task has them until it is written. */
typedef struct PtcMcpTask {
    PtcMcpTaskStatus status;
    bool cancel;                     /* the client wants it to end */
    uint32_t changes;                /* that clients can see, to tell one state from another */
    uint32_t asked;                  /* questions before those of `asks` */
    uint8_t node[PTC_MCP_TASK_NODE]; /* that runs it, or waits for answers */
    int64_t made_ms, changed_ms, lease_ms; /* in the clock of the book, like the next two */
    int64_t ends_ms, expires_ms;
    PtcText message, outcome, state;
    PtcMcpTaskAsk asks[PTC_MCP_TASK_ASKS];
    uint32_t ask_count;
    uint64_t version; /* in the book; 0: it is not there yet */
    bool quiet;       /* what is changed now is not for clients to see */
    PtcBuf bytes;
} PtcMcpTask;

/* ---- task_record.c */
void ptc_mcp_task_init(PtcMcpTask *task, PtcMcp *mcp);
void ptc_mcp_task_deinit(PtcMcpTask *task);
/* A new id, ending in NUL; false: the system has no random numbers. */
PTC_MUST_USE bool ptc_mcp_task_new_id(char id[PTC_MCP_TASK_ID + 1]);
bool ptc_mcp_task_is_id(PtcText id);
bool ptc_mcp_task_is_over(const PtcMcpTask *task);
/* How many of its questions have no answer. */
uint32_t ptc_mcp_task_open(const PtcMcpTask *task);
/* Reads it; one whose node is gone, or whose time is over, ends here. */
PtcMcpBookAnswer ptc_mcp_task_read(PtcMcp *mcp, const char *owner, const char *id,
                                   PtcMcpTask *task);
/* Writes it, if it still has the version that was read. */
PtcMcpBookAnswer ptc_mcp_task_write(PtcMcp *mcp, const char *owner, const char *id,
                                    PtcMcpTask *task);
/* Reads, changes and writes it, again when others wrote meanwhile.  change says whether there is anything to be
 * written (and may set `quiet`); OK also when there is not.  `task` is initialised, and is afterwards as it was
 * written. */
typedef bool PtcMcpTaskChange(void *user, PtcMcpTask *task);
PtcMcpBookAnswer ptc_mcp_task_change(PtcMcp *mcp, const char *owner, const char *id,
                                     PtcMcpTask *task, PtcMcpTaskChange *change, void *user);
/* The task ends so; what was open is closed. */
void ptc_mcp_task_end(PtcMcpTask *task, PtcMcpTaskStatus status, PtcText outcome);
/* The members of an object: what clients see; with `all`, also its questions or its outcome. */
void ptc_mcp_task_emit(PtcBuf *out, const char *id, const PtcMcpTask *task, bool all);

/* ---- task_run.c */
typedef struct PtcMcpWork PtcMcpWork;
/* A call that may become a task runs on a thread of its own, and `call` is answered with what comes of it in time, or
 * with a task.  False: it cannot, and is to be run like any other. */
PTC_MUST_USE bool ptc_mcp_work_run(PtcMcpCall *call);
/* Where progress of a call goes that may be a task; `message` NULL: none. */
void ptc_mcp_work_note(PtcMcpWork *work, const char *message);
bool ptc_mcp_work_send(PtcMcpWork *work, const PtcBuf *message);

/* ---- task_resume.c */
/* A task whose questions are all answered goes on here, unless the node that asked is there to do so. */
void ptc_mcp_work_resume(PtcMcp *mcp, const char *owner, const char *id, const PtcMcpTask *task);

/* ---- task_mind.c */
/* A thread that looks after the tasks of this node is there from now on, and looks at once. */
void ptc_mcp_mind_wake(PtcMcp *mcp);

void ptc_mcp_tasks_init(PtcMcp *mcp);
void ptc_mcp_tasks_deinit(PtcMcp *mcp);

/* ---- notify.c: tells a listening call how a task is now; under the lock of the server */
void ptc_mcp_tell_task(PtcMcpCall *call, const char *id, const PtcMcpTask *task, PtcBuf *out);

/* ---- task_calls.c */
bool ptc_mcp_tasks_declared(PtcMcpCall *call);
/* The client must declare tasks: -32021 (legacy: -32602). */
void ptc_mcp_need_tasks(PtcMcpCall *call);
void ptc_mcp_do_task_get(PtcMcpCall *call);
void ptc_mcp_do_task_update(PtcMcpCall *call);
void ptc_mcp_do_task_cancel(PtcMcpCall *call);
/* subscriptions/listen: those of its taskIds that are this owner's.  False: refused. */
PTC_MUST_USE bool ptc_mcp_take_task_ids(PtcMcpCall *call, PtcValue list);

#endif
