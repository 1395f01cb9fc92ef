/* SPDX-License-Identifier: MIT
 * Threads of the library.  What always holds: signals other than faults are blocked on them, so that the host's
 * handlers run on the host's threads. */
#include "base/os/thread.h"

#include <signal.h>

bool ptc_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *), void *user)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
    pthread_attr_t attr;
    sigset_t all, before;
    if (pthread_attr_init(&attr) != 0)
        return false;
    pthread_attr_setstacksize(&attr, stack);
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(thread, &attr, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return ok;
}
