/* SPDX-License-Identifier: MIT
 * pool.h - pages for the heaps of one engine, kept for the next run.  Has a lock of its own.
 *
 * A page knows how much of it the system has had to provide (`touched`), so that one that holds little is charged
 * little: the rest is given back to the system first. */
#ifndef PTC_VALUE_POOL_H
#define PTC_VALUE_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/mem.h"

enum {
    PTC_PAGE_BYTES = 32 * PTC_KB,
    PTC_LINE_BYTES = 16,
    PTC_PAGE_LINES = PTC_PAGE_BYTES / PTC_LINE_BYTES,
};

typedef struct PtcPage PtcPage;
typedef struct PtcChunk PtcChunk;

struct PtcPage {
    struct PtcHeap *heap; /* owner */
    PtcPage *next;
    PtcChunk *chunk;  /* NULL for pages with a block of their own */
    void *block;      /* of such a page: what to free; the page may begin after its start */
    size_t bytes;     /* that it is charged; for a block: its size */
    uint32_t touched; /* of a page in a chunk: bytes from its beginning that take memory */
    bool rescan;      /* marking ran out of stack here: objects marked but not yet followed */
    bool recycled;    /* has marks from the last collection; allocate in free lines only */
    uint64_t lines[PTC_PAGE_LINES / 64]; /* a bit for each line in use */
    uint64_t marks[PTC_PAGE_BYTES / 8 / 64];
};
enum { PTC_PAGE_FIRST = 896 }; /* offset of the first object: a whole number of lines */

typedef struct PtcPool {
    PtcMem *mem;
    size_t grain; /* the unit in which the system hands out memory */
    /* It guards everything below.  Every heap of the engine takes it to get and give back pages, so it is the innermost
     * lock of all: nothing is locked inside. */
    pthread_mutex_t lock;
    PtcPage *free;
    size_t free_count;
    atomic_size_t warm;       /* bytes of free pages that take memory */
    bool emptied;             /* nothing has come back since it was emptied */
    PtcChunk *chunks, *fresh; /* all; the one with pages that were never used, or NULL */
} PtcPool;

void ptc_pool_init(PtcPool *pool, PtcMem *mem);
void ptc_pool_deinit(PtcPool *pool);

/* Bytes charged for a page if that many are used, including the header. */
static inline size_t ptc_pool_charge(const PtcPool *pool, size_t bytes)
{
    return (bytes + pool->grain - 1) & ~(pool->grain - 1);
}

/* A page of which that many bytes will be used; no more than a page has.  NULL: out of memory. */
PTC_MUST_USE PtcPage *ptc_pool_take(PtcPool *pool, size_t bytes);
/* Takes back a list of pages. */
void ptc_pool_give(PtcPool *pool, PtcPage *list);
/* Keeps as little as possible: a heap near its limit is about to take other memory. */
void ptc_pool_empty(PtcPool *pool);

#endif
