/* SPDX-License-Identifier: MIT
 * worker.h - programs evaluated in processes of their own (docs/isolation.md).
 *
 *   server ---- control socket ---- helper ("zygote")
 *     |                               | fork, for each worker
 *     +-------- one socket each ---- workers
 *
 * The helper is this program started anew with an empty environment, so nothing that the server has read is in its
 * memory.  It loads --data, locks itself down, and then only forks workers.  Linux only. */
#ifndef PTC_EXEC_WORKER_H
#define PTC_EXEC_WORKER_H

#include <sys/types.h>

#include "exec/task.h"

enum { PTC_WORKER_WHY = 200 }; /* room for what went wrong */

/* ---------------------------------------------------------- in the helper's main */

/* main() asks this before anything else, and if so returns what ptc_zygote_main gives. */
bool ptc_zygote_asked(int argc, char **argv);

/* For tests: does a task instead of ptc_task_run inside the worker, when it gives true.  fd is the worker's pipe. */
typedef bool (*PtcWorkerHook)(const PtcTaskIn *in, PtcTaskOut *out, int fd);
int ptc_zygote_main(PtcWorkerHook hook);

/* ---------------------------------------------------------------- in the server */

/* The server's hold on its helper.  From any thread, one call at a time inside. */
typedef struct PtcZygote PtcZygote;

/* Starts the helper: the first thing the server does.  path NULL: the running binary.  NULL with a text in why. */
PtcZygote *ptc_zygote_start(const char *path, char why[PTC_WORKER_WHY]);
/* What was loaded: elements and bytes of it, and in `about` (the caller's, replaced; or NULL) lines for the tool's
 * description, of all files so far. */
typedef struct PtcLoaded {
    size_t count, bytes;
    PtcBuf *about;
} PtcLoaded;

/* Has it read a file of --data, before it is locked. */
PTC_MUST_USE bool ptc_zygote_load(PtcZygote *zygote, const char *name, const char *path,
                                  PtcLoaded *loaded, char why[PTC_WORKER_WHY]);
/* Says what workers are for, then shuts the helper in.  inspectable: for tests, other processes of the user may look
 * into workers. */
PTC_MUST_USE bool ptc_zygote_lock(PtcZygote *zygote, const PtcTools *tools, const PtcLimits *limits,
                                  bool inspectable, char why[PTC_WORKER_WHY]);
/* A new worker: our end of its socket, and a descriptor of the process, both the caller's.  A helper that has died is
 * started again first. */
PTC_MUST_USE bool ptc_zygote_fork(PtcZygote *zygote, int *fd, int *pidfd, pid_t *pid,
                                  char why[PTC_WORKER_WHY]);
/* Ends the helper, and with it all workers. */
void ptc_zygote_free(PtcZygote *zygote);

/* ------------------------------------------------------------------ in the helper */

/* One worker to be: made in the helper, served by each fork of it. */
typedef struct PtcWorker PtcWorker;
typedef struct PtcWorkerTool {
    PtcText name, signature, description;
    PtcText lisp; /* source of a tool that runs in the worker; absent: it runs in the server */
    bool skip_validation, cache, on_error_value;
    bool serial; /* of tools in the server, the server sees to that */
    int64_t timeout_ms;
} PtcWorkerTool;

PtcWorker *ptc_worker_new(PtcWorkerHook hook);
/* Tools that programs see.  Those in PTC-Lisp run as a part of the program, under its limits; calls of the others go to the
 * server by number. */
PTC_MUST_USE bool ptc_worker_add_tool(PtcWorker *worker, const PtcWorkerTool *tool,
                                      char why[PTC_WORKER_WHY]);
PTC_MUST_USE bool ptc_worker_load(PtcWorker *worker, const char *name, const char *path,
                                  PtcLoaded *loaded, char why[PTC_WORKER_WHY]);
/* The engine, warm; *limits become those that hold. */
PTC_MUST_USE bool ptc_worker_prepare(PtcWorker *worker, PtcLimits *limits,
                                     char why[PTC_WORKER_WHY]);
/* In the new process, with the socket as descriptor 0: shuts itself in and serves until the socket ends.  Does not
 * return. */
_Noreturn void ptc_worker_serve(PtcWorker *worker);

#endif
