/* SPDX-License-Identifier: MIT
 * process.h - one child process from start to end: given its input, its output collected, always reaped.
 *
 * The child leads its own session under a leash (leash.h), has default signal handling, only the first three
 * descriptors, and the working directory of its parent.  Whatever is left of it and its descendants when it ends, or
 * when we end, is killed, in whatever group or session it is.  No signal handler is installed, none of the host's runs
 * because of a broken pipe, and no other child of the host is waited for.  May be used from any thread, several at
 * once. */
#ifndef PTC_BASE_OS_PROCESS_H
#define PTC_BASE_OS_PROCESS_H

#include "base/buf.h"

enum {
    PTC_PROCESS_SLICE_MS = 5,  /* between two calls of go_on */
    PTC_PROCESS_GRACE_MS = 50, /* between asking what is left to end and killing it */
};

typedef enum {
    PTC_PROCESS_EXITED,    /* code: its exit status */
    PTC_PROCESS_KILLED,    /* code: the signal, which was not ours */
    PTC_PROCESS_ENDED,     /* by us, because go_on returned false */
    PTC_PROCESS_TOO_MUCH,  /* by us, because out was full */
    PTC_PROCESS_NO_MEMORY, /* by us, because out could not grow */
    PTC_PROCESS_NO_START,  /* code: errno */
} PtcProcessEnd;

typedef struct PtcProcess {
    /* what to run; argv[0] is searched for in the PATH of envp unless it contains a slash */
    char *const *argv, *const *envp;
    const char *input; /* its standard input, a file in memory: it need not be read */
    size_t input_len;
    PtcBuf *out; /* standard output; its maximum is the most the child may write */
    PtcBuf *err; /* standard error; beyond its maximum the oldest bytes are dropped */
    /* Called at least every PTC_PROCESS_SLICE_MS; false ends the child. */
    bool (*go_on)(void *user);
    void *user;
    /* how it went */
    PtcProcessEnd end;
    int code;
    bool err_cut; /* the beginning of standard error was dropped */
} PtcProcess;

/* Runs it to its end, meaning that of the child itself: its own children are then ended. */
void ptc_process_run(PtcProcess *process);

#endif
