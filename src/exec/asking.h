/* SPDX-License-Identifier: MIT
 * asking.h - a run in other servers, from the point of view of a task that may be stopped for a person's answer. */
#ifndef PTC_EXEC_ASKING_H
#define PTC_EXEC_ASKING_H

#include "exec/task.h"
#include "tool/remote/remote.h"

/* Begins a run, or continues the one that `asking` (may be NULL) has, which is then taken from it.  NULL: out of
 * memory. */
PTC_MUST_USE void *ptc_asking_begin(PtcTaskAsking *asking, PtcRemote *remote, const char *owner,
                                    int64_t deadline_ns, const PtcCancel *cancel,
                                    uint64_t *version);
/* Tells a run that has begun which trace it is part of, and who listens. */
void ptc_asking_about(PtcRemote *remote, void *run, const PtcTaskIn *in);
/* Ends it and says in `out` what was done; one that waits for a person goes back to `asking`. */
void ptc_asking_end(PtcTaskAsking *asking, PtcRemote *remote, void *run, PtcTaskOut *out);

#endif
