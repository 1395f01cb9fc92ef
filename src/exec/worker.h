/* SPDX-License-Identifier: MIT
 * worker.h - programs evaluated in processes of their own (docs/isolation.md).
 *
 *   server ---- control socket ---- helper ("zygote")
 *     |                               | fork, for each worker
 *     +-------- one socket each ---- workers
 *
 * The helper is this program started again with an empty environment, so nothing the server has read is in its
 * memory.  It loads --data, locks itself down, and then only forks workers.  Linux only. */
#ifndef PTC_EXEC_WORKER_H
#define PTC_EXEC_WORKER_H

#include <sys/types.h>

#include "base/why.h"
#include "exec/task.h"

/* ---------------------------------------------------------- in the helper's main */

/* main() asks this before anything else; if true, it returns what ptc_zygote_main returns. */
bool ptc_zygote_asked(int argc, char **argv);

/* For tests: does a task inside the worker in place of ptc_task_run, if it returns true.  fd is the worker's socket. */
typedef bool (*PtcWorkerHook)(const PtcTaskIn *in, PtcTaskOut *out, int fd);
int ptc_zygote_main(PtcWorkerHook hook);

/* ---------------------------------------------------------------- in the server */

/* The server's handle on its helper.  Any thread may call; one call at a time gets through. */
typedef struct PtcZygote PtcZygote;

/* Starts the helper, which must be the first thing the server does.  path NULL: the running binary.  NULL with a
 * text in why. */
PtcZygote *ptc_zygote_start(const char *path, PtcWhy *why);
/* What was loaded: its elements and bytes, and in `about` (the caller's buffer, replaced; or NULL) the lines about
 * all files so far for the tool's description. */
typedef struct PtcLoaded {
    size_t count, bytes;
    PtcBuf *about;
} PtcLoaded;

/* Makes the helper read a file of --data; only before it is locked. */
PTC_MUST_USE bool ptc_zygote_load(PtcZygote *zygote, const char *name, const char *path,
                                  PtcLoaded *loaded, PtcWhy *why);
/* Tells the helper about tools and limits, then shuts it in.  inspectable: for tests, other processes of the user
 * may look into workers. */
PTC_MUST_USE bool ptc_zygote_lock(PtcZygote *zygote, const PtcTools *tools, const PtcLimits *limits,
                                  bool inspectable, PtcWhy *why);
/* Forks a worker: our end of its socket and a pidfd, both the caller's.  A helper that has died is started again
 * first. */
PTC_MUST_USE bool ptc_zygote_fork(PtcZygote *zygote, int *fd, int *pidfd, pid_t *pid, PtcWhy *why);
/* Ends the helper, and with it all workers. */
void ptc_zygote_free(PtcZygote *zygote);

/* ------------------------------------------------------------------ in the helper */

/* A worker before the fork: set up once in the helper, then served by every child. */
typedef struct PtcWorker PtcWorker;
typedef struct PtcWorkerTool {
    PtcText name, signature, description;
    PtcText lisp; /* source, for a tool that runs in the worker; absent: it runs in the server */
    bool skip_validation, extra, cache, on_error_value, read_only;
    bool learns; /* what its results are like, as the server's set does */
    bool serial; /* only for tools in the worker; the server sees to its own */
    int64_t timeout_ms;
} PtcWorkerTool;

PtcWorker *ptc_worker_new(PtcWorkerHook hook);
/* Adds a tool that programs can call.  Tools in PTC-Lisp run as part of the program, under its limits; calls of the
 * others go to the server by number. */
PTC_MUST_USE bool ptc_worker_add_tool(PtcWorker *worker, const PtcWorkerTool *tool, PtcWhy *why);
PTC_MUST_USE bool ptc_worker_load(PtcWorker *worker, const char *name, const char *path,
                                  PtcLoaded *loaded, PtcWhy *why);
/* Makes the engine and warms it up; *limits become those in effect. */
PTC_MUST_USE bool ptc_worker_prepare(PtcWorker *worker, PtcLimits *limits, PtcWhy *why);
/* In the new process, with the socket as descriptor 0: shuts itself in and serves until the socket closes.  Does not
 * return. */
_Noreturn void ptc_worker_serve(PtcWorker *worker);

#endif
