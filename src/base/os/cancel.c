/* SPDX-License-Identifier: MIT
 * One list for the whole process: sleepers are few, requests are rare, and a request may concern any of them. */
#include "base/os/cancel.h"

#include <pthread.h>

/* It guards the list.  Whoever begins or ends a wait takes it, holding no lock that a kick() takes: ptc_cancel_ask
 * calls kick() under it, and kick() takes the lock of the one who waits. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static PtcCancelWait *waits;

static bool concerns(const PtcCancelWait *wait, const PtcCancel *cancel)
{
    const PtcCancel *c = wait->cancel;
    while (c && c != cancel)
        c = c->outer;
    return c != NULL;
}

void ptc_cancel_ask(PtcCancel *cancel)
{
    atomic_store(&cancel->asked, true);
    pthread_mutex_lock(&lock);
    for (PtcCancelWait *w = waits; w; w = w->next)
        if (concerns(w, cancel))
            w->kick(w->user);
    pthread_mutex_unlock(&lock);
}

void ptc_cancel_wait_begin(PtcCancelWait *wait)
{
    pthread_mutex_lock(&lock);
    wait->next = waits;
    wait->link = &waits;
    if (waits)
        waits->link = &wait->next;
    waits = wait;
    pthread_mutex_unlock(&lock);
}

void ptc_cancel_wait_end(PtcCancelWait *wait)
{
    pthread_mutex_lock(&lock);
    *wait->link = wait->next;
    if (wait->next)
        wait->next->link = wait->link;
    pthread_mutex_unlock(&lock);
}
