/* SPDX-License-Identifier: MIT
 * work_int.h - declarations shared by the work_*.c files: work.c opens and closes, work_run.c runs programs,
 * work_call.c calls tools, work_tell.c writes what is remembered. */
#ifndef PTC_AGENT_RUN_WORK_INT_H
#define PTC_AGENT_RUN_WORK_INT_H

#include "agent/run/work.h"
#include "engine/outcome.h"
#include "tool/kind/native.h"

/* Moves what is in the buffer to the arena of the last program and frees the buffer.  Absent: out of memory. */
PtcText ptc_work_keep(PtcWork *w, PtcBuf *buf);
/* Results of cached tools, shared by programs and native calls; NULL: none are kept. */
PtcCache *ptc_work_cache(PtcWork *w);
/* Appends a value as JSON, {"$text":"..."} when it has none or too much. */
void ptc_work_add_value(PtcWork *w, PtcBuf *out, PtcValue v);

#endif
