/* SPDX-License-Identifier: MIT
 * Arenas.  What always holds: the newest chunk comes first and is the only one with free room; a failure is
 * remembered until the next reset, so callers may check once at the end. */
#include "base/arena.h"

#include <string.h>

enum { CHUNK_BYTES = 16 * PTC_KB };

struct PtcArenaChunk {
    PtcArenaChunk *next;
    size_t size; /* with this header */
};

void ptc_arena_init(PtcArena *arena, PtcMem *mem)
{
    memset(arena, 0, sizeof *arena);
    arena->mem = mem;
}

/* Points the cursor at the newest chunk. */
static void use_newest(PtcArena *arena)
{
    PtcArenaChunk *c = arena->chunks;
    arena->cur = c ? (char *)(c + 1) : NULL;
    arena->end = c ? (char *)c + c->size : NULL;
}

void ptc_arena_reset(PtcArena *arena)
{
    while (arena->chunks && arena->chunks->next) {
        PtcArenaChunk *c = arena->chunks;
        arena->chunks = c->next;
        ptc_mem_free(arena->mem, c, c->size);
    }
    arena->failed = false;
    use_newest(arena);
}

void ptc_arena_deinit(PtcArena *arena)
{
    ptc_arena_reset(arena);
    if (arena->chunks)
        ptc_mem_free(arena->mem, arena->chunks, arena->chunks->size);
    arena->chunks = NULL;
    use_newest(arena);
}

void *ptc_arena_grow(PtcArena *arena, size_t size)
{
    size_t room = CHUNK_BYTES - sizeof(PtcArenaChunk);
    if (size > SIZE_MAX / 2) {
        arena->failed = true;
        return NULL;
    }
    size_t need = (size + 7) & ~(size_t)7;
    size_t bytes = sizeof(PtcArenaChunk) + (need > room ? need : room);
    PtcArenaChunk *c = ptc_mem_alloc(arena->mem, bytes);
    if (!c) {
        arena->failed = true;
        return NULL;
    }
    c->next = arena->chunks;
    c->size = bytes;
    arena->chunks = c;
    use_newest(arena);
    void *p = arena->cur;
    arena->cur += need;
    return p;
}

void *ptc_arena_zalloc(PtcArena *arena, size_t size)
{
    void *p = ptc_arena_alloc(arena, size);
    if (p)
        memset(p, 0, size);
    return p;
}

void *ptc_arena_push(PtcArena *arena, void *array, size_t count, size_t item)
{
    bool full = count == 0 || (count >= 4 && (count & (count - 1)) == 0);
    if (!full)
        return array;
    size_t cap = count < 4 ? 4 : count * 2;
    if (cap > SIZE_MAX / 2 / item) {
        arena->failed = true;
        return NULL;
    }
    void *p = ptc_arena_alloc(arena, cap * item);
    if (p && count)
        memcpy(p, array, count * item);
    return p;
}
