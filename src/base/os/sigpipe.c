/* SPDX-License-Identifier: MIT
 * SIGPIPE, held back for the time of a write.  What always holds: every hold is released on its thread, and a signal
 * that was pending before stays pending. */
#include "base/os/sigpipe.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static sigset_t only_pipe(void)
{
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    return pipe;
}

static bool is_sigpipe_ignored(void)
{
    struct sigaction now;
    return sigaction(SIGPIPE, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
           now.sa_handler == SIG_IGN;
}

void ptc_sigpipe_hold(PtcSigpipe *held)
{
    sigset_t pipe = only_pipe(), pending;
    held->needed = !is_sigpipe_ignored();
    if (!held->needed)
        return;
    sigemptyset(&pending);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &held->old);
    held->ours = !sigismember(&pending, SIGPIPE);
}

void ptc_sigpipe_release(const PtcSigpipe *held)
{
    sigset_t pipe = only_pipe();
    int error = errno;
    if (!held->needed)
        return;
    if (held->ours && !sigismember(&held->old, SIGPIPE))
        while (sigtimedwait(&pipe, NULL, &(struct timespec){0, 0}) > 0)
            continue;
    pthread_sigmask(SIG_SETMASK, &held->old, NULL);
    errno = error;
}
