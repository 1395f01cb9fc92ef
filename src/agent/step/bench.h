/* SPDX-License-Identifier: MIT
 * bench.h - a workbench, memory for reading one reply of a model: an arena and a heap that are freed together once
 * the reply has been understood.  Both are bounded; a reply that needs more is treated as out of memory. */
#ifndef PTC_AGENT_STEP_BENCH_H
#define PTC_AGENT_STEP_BENCH_H

#include "base/arena.h"
#include "base/text.h"
#include "value/heap.h"

enum { PTC_BENCH_BYTES = 256 * PTC_MB };

typedef struct PtcBench {
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena arena;
} PtcBench;

void ptc_bench_init(PtcBench *s);
void ptc_bench_deinit(PtcBench *s);

/* A copy in the arena; absent: out of memory.  An absent text stays absent. */
PTC_MUST_USE PtcText ptc_bench_copy(PtcBench *s, PtcText text);
/* What is in the buffer, moved to the arena; the buffer is freed.  Absent: out of memory, or the buffer had failed. */
PTC_MUST_USE PtcText ptc_bench_take(PtcBench *s, PtcBuf *buf);

#endif
