/* SPDX-License-Identifier: MIT
 * linger.h - waiting awake for a moment.  What is quick comes back before a thread could be put to sleep and woken
 * again, which costs more than a short program or a small tool.
 *
 * Whoever lingers looks for what it waits for in a loop, as long as ptc_linger_goes_on().  Each look yields the core;
 * where that takes long, others need it, and for a while nobody lingers. */
#ifndef PTC_EXEC_LINGER_H
#define PTC_EXEC_LINGER_H

#include <stdatomic.h>

#include "base/mem.h"

/* What the threads of an executor, or of a worker, share. */
typedef struct PtcLinger {
    bool may;                /* there are several cores */
    atomic_bool taken;       /* by one of the threads: more would keep each other from their work */
    _Atomic int64_t busy_ns; /* nobody lingers before */
    _Atomic int64_t usual_ns; /* that an answer of a server takes */
} PtcLinger;

void ptc_linger_init(PtcLinger *linger);
/* An answer of a server took so long. */
void ptc_linger_learn(PtcLinger *linger, int64_t ns);
/* Until when to wait awake for a worker or a server, or its answer; 0: not at all. */
int64_t ptc_linger_for_worker(const PtcLinger *linger, int64_t now);
int64_t ptc_linger_for_server(const PtcLinger *linger, int64_t now);
/* After each look; false: go to sleep now. */
bool ptc_linger_goes_on(PtcLinger *linger, int64_t until);
/* For executors: false when another thread lingers already.  What was taken is given back. */
bool ptc_linger_take(PtcLinger *linger);
void ptc_linger_give(PtcLinger *linger);

#endif
