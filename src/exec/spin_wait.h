/* SPDX-License-Identifier: MIT
 * spin_wait.h - waiting awake for a moment.  What is quick comes back before a thread could be put to sleep and woken
 * again, which costs more than a short program or a small tool.
 *
 * Whoever spins looks for what it waits for in a loop, as long as ptc_spin_wait_goes_on().  Each look yields the core;
 * where that takes long, others need it, and for a while nobody spins. */
#ifndef PTC_EXEC_SPIN_WAIT_H
#define PTC_EXEC_SPIN_WAIT_H

#include <stdatomic.h>

#include "base/mem.h"

/* What the threads of an executor, or of a worker, share. */
typedef struct PtcSpinWait {
    bool may;                /* there are several cores */
    atomic_bool taken;       /* by one of the threads: more would keep each other from their work */
    _Atomic int64_t busy_ns; /* nobody spins before */
    _Atomic int64_t usual_ns; /* that an answer of a server takes */
} PtcSpinWait;

void ptc_spin_wait_init(PtcSpinWait *spin);
/* An answer of a server took so long. */
void ptc_spin_wait_learn(PtcSpinWait *spin, int64_t ns);
/* Until when to wait awake for a worker or a server, or its answer; 0: not at all. */
int64_t ptc_spin_wait_for_worker(const PtcSpinWait *spin, int64_t now);
int64_t ptc_spin_wait_for_server(const PtcSpinWait *spin, int64_t now);
/* After each look; false: go to sleep now. */
bool ptc_spin_wait_goes_on(PtcSpinWait *spin, int64_t until);
/* For executors: false when another thread spins already.  What was taken is given back. */
bool ptc_spin_wait_take(PtcSpinWait *spin);
void ptc_spin_wait_give(PtcSpinWait *spin);

#endif
