/* SPDX-License-Identifier: MIT
 * sandbox.h - what the helper process and the workers may still ask of the kernel.  Linux on x86-64 and arm64.
 *
 * Filters are lists of what is allowed; everything else fails with EPERM.  A process keeps all filters that it was given
 * and those of its parent, so what a worker may do is a part of what the helper may. */
#ifndef PTC_EXEC_SANDBOX_H
#define PTC_EXEC_SANDBOX_H

#include "ptc/ptc.h"

enum { PTC_SANDBOX_WHY = 200 };

/* How much a process may hold beyond what it holds now, for runs under these limits (every field set): memory, no
 * core file, no file of any size.  Before the filter. */
bool ptc_sandbox_resources(const PtcLimits *limits, char why[PTC_SANDBOX_WHY]);

/* The helper: what workers may, and forking, passing descriptors on, tightening itself.  Files and new programs are
 * out of reach from here on, privileges cannot be gained. */
bool ptc_sandbox_helper(char why[PTC_SANDBOX_WHY]);

/* A worker, before it has threads: memory, time, threads, and reading and writing descriptor 0.  No descriptor can be
 * opened any more. */
bool ptc_sandbox_worker(char why[PTC_SANDBOX_WHY]);

/* Ends the process at once, running nothing. */
_Noreturn void ptc_sandbox_end(void);

#endif
