/* SPDX-License-Identifier: MIT
 * process.h - one child process from start to end: input given, output taken, always reaped.
 *
 * The child leads a process group of its own, has every signal as the system sets it, no descriptor but the first
 * three, and the working directory of its parent.  Whatever is left of its group when it ends is killed; what left the
 * group (a daemon) is not ours any more.  No signal handler is installed, none of the host's is run for a broken
 * pipe, and no other child of the host is waited for.  From any thread, several at once. */
#ifndef PTC_BASE_PROCESS_H
#define PTC_BASE_PROCESS_H

#include "base/buf.h"

enum {
    PTC_PROCESS_SLICE_MS = 5,  /* between two looks at go_on */
    PTC_PROCESS_GRACE_MS = 50, /* between asking the group to end and killing it */
};

typedef enum {
    PTC_PROCESS_EXITED,    /* code: its exit status */
    PTC_PROCESS_KILLED,    /* code: the signal, which was not ours */
    PTC_PROCESS_LOST,      /* it ended, but the host ignores SIGCHLD or waits for all children */
    PTC_PROCESS_ENDED,     /* by us, because go_on said so */
    PTC_PROCESS_TOO_MUCH,  /* by us, because out was full */
    PTC_PROCESS_NO_MEMORY, /* by us, because out could not grow */
    PTC_PROCESS_NO_START,  /* code: errno */
} PtcProcessEnd;

typedef struct PtcProcess {
    /* what to run; argv[0] is looked for in the host's PATH unless it has a slash */
    char *const *argv, *const *envp;
    const char *input; /* its standard input, a file in memory: it need not be read */
    size_t input_len;
    PtcBuf *out; /* standard output; its maximum is the most the child may write */
    PtcBuf *err; /* standard error; beyond its maximum the oldest is dropped */
    /* Asked at least every PTC_PROCESS_SLICE_MS; false ends the child. */
    bool (*go_on)(void *user);
    void *user;
    /* how it went */
    PtcProcessEnd end;
    int code;
    bool err_cut; /* of standard error, the beginning was dropped */
} PtcProcess;

/* Runs it to its end, which is that of the child itself: what its own children write after that is not waited for. */
void ptc_process_run(PtcProcess *process);

#endif
