/* SPDX-License-Identifier: MIT
 * Waiting awake.  What always holds: one wait of this kind takes a fraction of a millisecond, unless others need the
 * core; and then it is not tried again for a while, because giving up the core costs a whole turn of theirs. */
#include "exec/spin_wait.h"

#include <sched.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/units.h"

enum {
    WORKER_NS = 100 * PTC_US,
    QUICK_NS = 400 * PTC_US, /* servers whose answers take longer are waited for asleep */
    SERVER_NS = 500 * PTC_US,
    CROWDED_NS = 1 * PTC_MS, /* more than a quick server needs of a core that it shares with us */
    BUSY_NS = 250 * PTC_MS,
};

void ptc_spin_wait_init(PtcSpinWait *l)
{
    *l = (PtcSpinWait){.may = sysconf(_SC_NPROCESSORS_ONLN) > 1};
}

/* An average in which the last few count, so that one slow answer among quick ones does not end it. */
void ptc_spin_wait_learn(PtcSpinWait *l, int64_t ns)
{
    int64_t usual = atomic_load(&l->usual_ns);
    atomic_store(&l->usual_ns, usual ? usual + (ns - usual) / 4 : ns);
}

int64_t ptc_spin_wait_for_worker(const PtcSpinWait *l, int64_t now)
{
    return l->may && now > atomic_load(&l->busy_ns) ? now + WORKER_NS : 0;
}

int64_t ptc_spin_wait_for_server(const PtcSpinWait *l, int64_t now)
{
    if (!l->may || now <= atomic_load(&l->busy_ns) || atomic_load(&l->usual_ns) > QUICK_NS)
        return 0;
    return now + SERVER_NS;
}

bool ptc_spin_wait_goes_on(PtcSpinWait *l, int64_t until)
{
    if (until == 0)
        return false;
    int64_t before = ptc_clock_ns(NULL);
    sched_yield();
    int64_t now = ptc_clock_ns(NULL);
    if (now - before > CROWDED_NS)
        atomic_store(&l->busy_ns, now + BUSY_NS);
    return now < until;
}

bool ptc_spin_wait_take(PtcSpinWait *l)
{
    return !atomic_exchange(&l->taken, true);
}

void ptc_spin_wait_give(PtcSpinWait *l)
{
    atomic_store(&l->taken, false);
}
