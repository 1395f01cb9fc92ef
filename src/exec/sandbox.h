/* SPDX-License-Identifier: MIT
 * sandbox.h - what the helper process and the workers may still ask of the kernel.  Linux on x86-64 and arm64.
 *
 * Filters list what is allowed; everything else fails with EPERM.  A process keeps all filters it was given and
 * those of its parent, so what a worker may do is a subset of what the helper may do. */
#ifndef PTC_EXEC_SANDBOX_H
#define PTC_EXEC_SANDBOX_H

#include "base/why.h"
#include "ptc/ptc.h"

/* Limits what the process may use beyond what it has now, for runs under these limits (every field set): memory,
 * address space, no core file, no file of any size.  Must come before everything below. */
bool ptc_sandbox_resources(const PtcLimits *limits, PtcWhy *why);

/* Drops all capabilities for good; root becomes nobody, where the system allows it.  False: something is left. */
bool ptc_sandbox_privileges(PtcWhy *why);

/* For the helper: what workers may do, and also forking, passing descriptors and restricting itself further.  From
 * here on it cannot open files, run programs or gain privileges. */
bool ptc_sandbox_helper(PtcWhy *why);

/* For a worker before it has threads: memory, time, threads, and reading and writing descriptor 0.  No descriptor
 * can be opened any more. */
bool ptc_sandbox_worker(PtcWhy *why);
/* For all threads of the same worker: no more can be started.  A filter cannot count, so this comes once all threads
 * exist, and before any code runs that is not ours. */
bool ptc_sandbox_threads(PtcWhy *why);

/* Ends the process at once, without running any exit handler. */
_Noreturn void ptc_sandbox_end(void);

#endif
