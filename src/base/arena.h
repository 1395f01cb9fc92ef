/* SPDX-License-Identifier: MIT
 * arena.h - memory that is freed all at once: what the reader, analyzer and compiler make for one program.
 * ptc_arena_reset keeps the first chunk, so that the next program need not allocate again. */
#ifndef PTC_BASE_ARENA_H
#define PTC_BASE_ARENA_H

#include "base/mem.h"

typedef struct PtcArenaChunk PtcArenaChunk;

typedef struct PtcArena {
    PtcMem *mem;
    PtcArenaChunk *chunks; /* newest first */
    char *cur, *end;
    bool failed; /* an allocation has failed since the last reset */
} PtcArena;

void ptc_arena_init(PtcArena *arena, PtcMem *mem);
void ptc_arena_reset(PtcArena *arena);
void ptc_arena_deinit(PtcArena *arena);

/* Slow half of ptc_arena_alloc. */
void *ptc_arena_grow(PtcArena *arena, size_t size);

/* Uninitialised memory, aligned to 8; NULL sets arena->failed. */
static inline PTC_MUST_USE void *ptc_arena_alloc(PtcArena *arena, size_t size)
{
    size_t need = (size + 7) & ~(size_t)7;
    if (PTC_UNLIKELY(need < size || need > (size_t)(arena->end - arena->cur)))
        return ptc_arena_grow(arena, size);
    void *p = arena->cur;
    arena->cur += need;
    return p;
}

/* The same, zeroed. */
PTC_MUST_USE void *ptc_arena_zalloc(PtcArena *arena, size_t size);

/* Grows an array of `item`-sized elements to hold one more than `count`; capacities are powers of two from 4.
 * Returns the (moved) array or NULL. */
PTC_MUST_USE void *ptc_arena_push(PtcArena *arena, void *array, size_t count, size_t item);

#endif
