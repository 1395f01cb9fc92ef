/* SPDX-License-Identifier: MIT
 * Pages come in chunks of eight.  A chunk goes back to the system when none of its pages is in use; a free page among
 * others in use can at least give back its memory, except for the part with its header. */
#include "value/pool.h"

#include <string.h>

#include "base/poison.h"

_Static_assert(sizeof(PtcPage) <= PTC_PAGE_FIRST, "page header fits before the first object");
_Static_assert(PTC_PAGE_FIRST % PTC_LINE_BYTES == 0, "objects start on a line");

enum {
    CHUNK_PAGES = 8,
    KEEP_PAGES = 64, /* free pages a pool keeps */
};

struct PtcChunk {
    PtcChunk *next;
    char *block;
    uint32_t out; /* pages in use */
    /* Pages at its end that were never used: being untouched, they take no memory. */
    uint32_t fresh;
    bool going; /* about to be given back */
};

void ptc_pool_init(PtcPool *pool, PtcMem *mem)
{
    memset(pool, 0, sizeof *pool);
    pool->mem = mem;
    size_t grain = ptc_mem_grain();
    pool->grain = grain < PTC_PAGE_BYTES ? grain : PTC_PAGE_BYTES;
    pthread_mutex_init(&pool->lock, NULL);
}

static void free_chunk(PtcPool *pool, PtcChunk *chunk, void (*give)(PtcMem *, void *, size_t))
{
    PTC_UNPOISON(chunk->block, CHUNK_PAGES * PTC_PAGE_BYTES);
    give(pool->mem, chunk->block, CHUNK_PAGES * PTC_PAGE_BYTES);
    ptc_mem_free(pool->mem, chunk, sizeof *chunk);
}

void ptc_pool_deinit(PtcPool *pool)
{
    while (pool->chunks) {
        PtcChunk *c = pool->chunks;
        pool->chunks = c->next;
        free_chunk(pool, c, pool->chunks ? ptc_mem_free_aligned : ptc_mem_keep);
    }
    pool->free = NULL;
    pthread_mutex_destroy(&pool->lock);
}

/* ------------------------------------------------------------------------- free pages */

static void warm_add(PtcPool *pool, size_t n)
{
    atomic_fetch_add_explicit(&pool->warm, n, memory_order_relaxed);
}

static void warm_sub(PtcPool *pool, size_t n)
{
    atomic_fetch_sub_explicit(&pool->warm, n, memory_order_relaxed);
}

static void add_free(PtcPool *pool, PtcPage *p)
{
    p->next = pool->free;
    pool->free = p;
    pool->free_count++;
    warm_add(pool, p->touched);
}

/* Gives back everything after the first `keep` bytes. */
static void cool(PtcPage *p, size_t keep)
{
    if (p->touched <= keep)
        return;
    ptc_mem_forget((char *)p + keep, p->touched - keep);
    p->touched = (uint32_t)keep;
}

static bool add_pool_chunk(PtcPool *pool)
{
    PtcChunk *c = ptc_mem_alloc(pool->mem, sizeof *c);
    if (!c)
        return false;
    c->block = ptc_mem_alloc_aligned(pool->mem, PTC_PAGE_BYTES, CHUNK_PAGES * PTC_PAGE_BYTES);
    if (!c->block) {
        ptc_mem_free(pool->mem, c, sizeof *c);
        return false;
    }
    c->out = 0;
    c->fresh = CHUNK_PAGES;
    c->next = pool->chunks;
    pool->chunks = pool->fresh = c;
    pool->free_count += CHUNK_PAGES;
    return true;
}

/* A page that was never used. */
static PtcPage *take_fresh(PtcPool *pool)
{
    PtcChunk *c = pool->fresh;
    PtcPage *p = (PtcPage *)(void *)(c->block + (size_t)(CHUNK_PAGES - c->fresh) * PTC_PAGE_BYTES);
    p->chunk = c;
    p->touched = 0;
    if (--c->fresh == 0)
        pool->fresh = NULL;
    return p;
}

/* With the lock held; NULL: out of memory. */
static PtcPage *take_free(PtcPool *pool)
{
    PtcPage *p = pool->free;
    if (p) {
        pool->free = p->next;
        warm_sub(pool, p->touched);
        return p;
    }
    return pool->fresh || add_pool_chunk(pool) ? take_fresh(pool) : NULL;
}

PtcPage *ptc_pool_take(PtcPool *pool, size_t bytes)
{
    size_t need = ptc_pool_charge(pool, bytes);
    pthread_mutex_lock(&pool->lock);
    PtcPage *p = take_free(pool);
    if (p) {
        pool->free_count--;
        p->chunk->out++;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!p)
        return NULL;
    cool(p, need);
    p->touched = (uint32_t)need;
    p->bytes = need;
    return p;
}

/* Gives completely free chunks back to the system, but keeps some pages: the next run is likely to be like the last. */
static void trim_pool(PtcPool *pool, size_t keep)
{
    size_t left = pool->free_count;
    for (PtcChunk *c = pool->chunks; c; c = c->next) {
        c->going = c->out == 0 && left >= keep + CHUNK_PAGES;
        left -= c->going ? CHUNK_PAGES : 0;
    }
    for (PtcPage **link = &pool->free; *link;) {
        PtcPage *p = *link;
        if (p->chunk->going) {
            *link = p->next;
            warm_sub(pool, p->touched);
        } else {
            link = &p->next;
        }
    }
    pool->free_count = left;
    for (PtcChunk **at = &pool->chunks; *at;) {
        PtcChunk *c = *at;
        if (c->going) {
            pool->fresh = pool->fresh == c ? NULL : pool->fresh;
            *at = c->next;
            free_chunk(pool, c, ptc_mem_free_aligned);
        } else {
            at = &c->next;
        }
    }
}

void ptc_pool_give(PtcPool *pool, PtcPage *list)
{
    if (!list)
        return;
    pthread_mutex_lock(&pool->lock);
    while (list) {
        PtcPage *p = list;
        list = p->next;
        PTC_POISON((char *)p + PTC_PAGE_FIRST, PTC_PAGE_BYTES - PTC_PAGE_FIRST);
        p->chunk->out--;
        add_free(pool, p);
    }
    pool->emptied = false;
    if (pool->free_count > KEEP_PAGES)
        trim_pool(pool, KEEP_PAGES / 2);
    pthread_mutex_unlock(&pool->lock);
}

void ptc_pool_empty(PtcPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    if (!pool->emptied) {
        trim_pool(pool, 0);
        for (PtcPage *p = pool->free; p; p = p->next) {
            warm_sub(pool, p->touched);
            cool(p, pool->grain);
            warm_add(pool, p->touched);
        }
    }
    pool->emptied = true;
    pthread_mutex_unlock(&pool->lock);
}
