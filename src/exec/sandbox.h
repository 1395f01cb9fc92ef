/* SPDX-License-Identifier: MIT
 * sandbox.h - what the helper process and the workers may still ask of the kernel.  Linux on x86-64 and arm64.
 *
 * Filters are lists of what is allowed; everything else fails with EPERM.  A process keeps all filters that it was given
 * and those of its parent, so what a worker may do is a part of what the helper may. */
#ifndef PTC_EXEC_SANDBOX_H
#define PTC_EXEC_SANDBOX_H

#include "ptc/ptc.h"

enum { PTC_SANDBOX_WHY = 200 };

/* How much a process may hold beyond what it holds now, for runs under these limits (every field set): memory, address
 * space, no core file, no file of any size.  Before everything below. */
bool ptc_sandbox_resources(const PtcLimits *limits, char why[PTC_SANDBOX_WHY]);

/* No capability is left, and none can come back; who is root becomes nobody, where the system lets it.  False: something is
 * left. */
bool ptc_sandbox_privileges(char why[PTC_SANDBOX_WHY]);

/* The helper: what workers may, and forking, passing descriptors on, tightening itself.  Files and new programs are
 * out of reach from here on, privileges cannot be gained. */
bool ptc_sandbox_helper(char why[PTC_SANDBOX_WHY]);

/* A worker, before it has threads: memory, time, threads, and reading and writing descriptor 0.  No descriptor can be
 * opened any more. */
bool ptc_sandbox_worker(char why[PTC_SANDBOX_WHY]);
/* The same worker, all of its threads: none can be started any more.  A filter cannot count, so this comes when all that are
 * needed are there, and before anything runs that is not ours. */
bool ptc_sandbox_threads(char why[PTC_SANDBOX_WHY]);

/* Ends the process at once, running nothing. */
_Noreturn void ptc_sandbox_end(void);

#endif
