/* SPDX-License-Identifier: MIT
 * Memory for reading one reply.  What always holds: arena and heap are bounded, and are freed together. */
#include "agent/step/bench.h"

void ptc_bench_init(PtcBench *s)
{
    ptc_mem_init(&s->mem, PTC_BENCH_BYTES);
    ptc_pool_init(&s->pool, &s->mem);
    ptc_budget_init(&s->budget);
    ptc_heap_init(&s->heap, &s->pool, &s->budget, PTC_BENCH_BYTES / 2);
    ptc_arena_init(&s->arena, &s->mem);
}

void ptc_bench_deinit(PtcBench *s)
{
    ptc_arena_deinit(&s->arena);
    ptc_heap_deinit(&s->heap);
    ptc_pool_deinit(&s->pool);
}

PtcText ptc_bench_copy(PtcBench *s, PtcText text)
{
    char *copy = text.bytes ? ptc_arena_alloc(&s->arena, text.len + 1) : NULL;
    if (!copy)
        return (PtcText){NULL, 0};
    memcpy(copy, text.bytes, text.len);
    copy[text.len] = 0;
    return (PtcText){copy, text.len};
}

PtcText ptc_bench_take(PtcBench *s, PtcBuf *buf)
{
    PtcText text = ptc_buf_ok(buf) ? ptc_bench_copy(s, ptc_buf_view(buf)) : (PtcText){NULL, 0};
    ptc_buf_deinit(buf);
    return text;
}
