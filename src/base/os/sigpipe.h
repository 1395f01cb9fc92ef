/* SPDX-License-Identifier: MIT
 * sigpipe.h - writing to somebody who has gone must not end the host.  The signal is held back in the calling thread
 * alone, and removed if it arrived meanwhile; the host's own way of handling it is not touched. */
#ifndef PTC_BASE_OS_SIGPIPE_H
#define PTC_BASE_OS_SIGPIPE_H

#include <signal.h>
#include <stdbool.h>

typedef struct PtcSigpipe {
    bool needed; /* the process does not ignore it */
    sigset_t old;
    bool ours; /* it was not pending before, so one that is pending later came from us */
} PtcSigpipe;

void ptc_sigpipe_hold(PtcSigpipe *held);
/* On the same thread.  Leaves errno as it is. */
void ptc_sigpipe_release(const PtcSigpipe *held);

#endif
