/* SPDX-License-Identifier: MIT
 * A heap and an arena of one's own. */
#include "upstream/desk.h"

void ptc_desk_init(PtcDesk *desk, PtcMem *mem, size_t limit)
{
    ptc_pool_init(&desk->pool, mem);
    ptc_budget_init(&desk->budget);
    ptc_heap_init(&desk->heap, &desk->pool, &desk->budget, limit);
    ptc_arena_init(&desk->arena, mem);
}

void ptc_desk_deinit(PtcDesk *desk)
{
    ptc_arena_deinit(&desk->arena);
    ptc_heap_deinit(&desk->heap);
    ptc_pool_deinit(&desk->pool);
}
