/* SPDX-License-Identifier: MIT
 * upstream_help.h - a heap with a ledger that can be made to fail, for targets about upstreams.  The first byte of an
 * input says which allocation fails. */
#ifndef PTC_TESTS_FUZZ_UPSTREAM_HELP_H
#define PTC_TESTS_FUZZ_UPSTREAM_HELP_H

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "value/coll/fields.h"

typedef struct Desk {
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena arena;
} Desk;

static inline void desk_init(Desk *d)
{
    ptc_mem_init(&d->mem, (size_t)256 << 20);
    ptc_pool_init(&d->pool, &d->mem);
    ptc_budget_init(&d->budget);
    ptc_heap_init(&d->heap, &d->pool, &d->budget, (size_t)128 << 20);
    ptc_arena_init(&d->arena, &d->mem);
}

static inline void desk_deinit(Desk *d)
{
    ptc_arena_deinit(&d->arena);
    ptc_heap_deinit(&d->heap);
    ptc_pool_deinit(&d->pool);
    assert(atomic_load(&d->mem.used) == 0);
}

/* What comes out can be JSON, in valid UTF-8. */
static inline void desk_check_json(Desk *d, PtcValue v)
{
    PtcBuf out;
    ptc_buf_init(&out, &d->mem, SIZE_MAX / 4);
    if (v != PTC_NONE && ptc_emit_value(&out, &d->heap, v))
        assert(ptc_utf8_valid(out.data, out.len));
    else
        assert(v == PTC_NONE || !ptc_fields_ok(&d->heap) || out.failed);
    ptc_buf_deinit(&out);
}

/* A copy without the first byte that ends where its block ends, so that reading on is found. */
static inline char *desk_copy(const uint8_t *data, size_t size)
{
    char *copy = malloc(size);
    memcpy(copy, data + 1, size - 1);
    return copy;
}

#endif
