/* SPDX-License-Identifier: MIT
 * Cached results of tools.  What always holds: an entry is either stored, in the list by last use, or in flight with
 * exactly one owner; the lock is held for every access to the table and the heap. */
#include "tool/cache.h"

#include <time.h>

#include "base/os/cond.h"
#include "value/copy.h"
#include "value/str.h"

enum {
    CACHE_WAIT_MS = 5,               /* between two checks whether to keep waiting */
    SLACK_BYTES = 2 * PTC_PAGE_BYTES /* of dead values, before a collection is worthwhile */
};

struct PtcCacheEntry {
    PtcCacheEntry *next;          /* in its chain */
    PtcCacheEntry *newer, *older; /* stored ones */
    uint64_t hash;
    PtcValue value; /* PTC_NONE: in flight */
    pthread_t owner;
    const PtcBudget *budget; /* in flight: the owner's */
    size_t bytes;            /* what it is charged */
    size_t key_len;
    char key[];
};

/* ----------------------------------------------------------------------- table */

static uint64_t hash_cache_key(const char *bytes, size_t len)
{
    uint64_t h = ptc_hash_begin(len), word = 0;
    for (; len >= sizeof word; bytes += sizeof word, len -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        h = ptc_hash_step(h, word);
    }
    word = 0;
    memcpy(&word, bytes, len);
    return ptc_hash_step(h, word);
}

static PtcCacheEntry **cache_chain_of(const PtcCache *cache, uint64_t hash)
{
    return &cache->table[(hash ^ hash >> 32) & (cache->table_cap - 1)];
}

static PtcCacheEntry *find_cache_entry(const PtcCache *cache, uint64_t hash, const char *key,
                                       size_t len)
{
    PtcCacheEntry *e = cache->table ? *cache_chain_of(cache, hash) : NULL;
    while (e && (e->hash != hash || e->key_len != len || memcmp(e->key, key, len) != 0))
        e = e->next;
    return e;
}

/* Enlarges the table if it has fewer chains than entries; staying small is not a failure. */
static bool grow_cache_table(PtcCache *cache)
{
    size_t cap = cache->table_cap ? cache->table_cap * 2 : 16,
           all = cache->count + cache->pending_count;
    if (cache->table && all < cache->table_cap)
        return true;
    PtcCacheEntry **old = cache->table, **table = ptc_mem_alloc(cache->mem, cap * sizeof(*table));
    if (!table)
        return old != NULL;
    memset(table, 0, cap * sizeof(*table));
    size_t old_cap = cache->table_cap;
    cache->table = table;
    cache->table_cap = cap;
    for (size_t i = 0; i < old_cap; i++) {
        for (PtcCacheEntry *e = old[i], *next; e; e = next) {
            PtcCacheEntry **chain = cache_chain_of(cache, e->hash);
            next = e->next;
            e->next = *chain;
            *chain = e;
        }
    }
    ptc_mem_free(cache->mem, old, old_cap * sizeof(*table));
    return true;
}

/* Removes an entry from its chain and frees it; its value stays in the heap. */
static void drop_cache_entry(PtcCache *cache, PtcCacheEntry *e)
{
    PtcCacheEntry **at = cache_chain_of(cache, e->hash);
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    ptc_mem_free(cache->mem, e, sizeof *e + e->key_len);
}

static void unlink_used(PtcCache *cache, PtcCacheEntry *e)
{
    *(e->newer ? &e->newer->older : &cache->newest) = e->older;
    *(e->older ? &e->older->newer : &cache->oldest) = e->newer;
}

static void link_newest(PtcCache *cache, PtcCacheEntry *e)
{
    e->newer = NULL;
    e->older = cache->newest;
    *(e->older ? &e->older->newer : &cache->oldest) = e;
    cache->newest = e;
}

static void evict(PtcCache *cache, PtcCacheEntry *e)
{
    unlink_used(cache, e);
    cache->count--;
    cache->bytes -= e->bytes;
    drop_cache_entry(cache, e);
}

/* ------------------------------------------------------------------------ heap */

/* Bytes of values in the heap, including dead ones. */
static size_t heap_bytes(const PtcHeap *heap)
{
    return heap->used - (size_t)(heap->end - heap->cur) - (size_t)(heap->over_end - heap->over);
}

static void collect_cache(PtcCache *cache)
{
    ptc_heap_mark_begin(&cache->heap);
    for (const PtcCacheEntry *e = cache->newest; e; e = e->older)
        ptc_heap_mark(&cache->heap, e->value);
    ptc_heap_mark_finish(&cache->heap);
}

/* Collects when as much is dead as alive. */
static void collect_cache_if_due(PtcCache *cache)
{
    if (heap_bytes(&cache->heap) > 2 * cache->bytes + SLACK_BYTES)
        collect_cache(cache);
}

/* A copy in the cache's heap and its size; PTC_NONE if it is too large or out of memory. */
static PtcValue copy_into_cache(PtcCache *cache, PtcValue v, size_t *bytes)
{
    PtcHeap *heap = &cache->heap;
    PtcCopy copy;
    size_t before = heap_bytes(heap);
    ptc_budget_init(&cache->budget);
    heap->limit = heap->used + cache->max_bytes + SLACK_BYTES;
    ptc_copy_init(&copy, heap);
    PtcValue new = ptc_copy_value(&copy, v);
    ptc_copy_deinit(&copy);
    *bytes = heap_bytes(heap) - before;
    return new;
}

/* A copy of a stored value for a run. */
static PtcValue copy_out_of_cache(PtcCache *cache, PtcCacheEntry *e, PtcHeap *into)
{
    PtcCopy copy;
    unlink_used(cache, e);
    link_newest(cache, e);
    cache->hits++;
    ptc_copy_init(&copy, into);
    PtcValue v = ptc_copy_value(&copy, e->value);
    ptc_copy_deinit(&copy);
    return v;
}

/* ------------------------------------------------------------------ life times */

bool ptc_cache_init(PtcCache *cache, PtcPool *pool, size_t max_bytes, size_t max_entries)
{
    memset(cache, 0, sizeof *cache);
    cache->mem = pool->mem;
    cache->max_bytes = max_bytes < SIZE_MAX / 8 ? max_bytes : SIZE_MAX / 8;
    cache->max_entries = max_entries;
    ptc_budget_init(&cache->budget);
    ptc_heap_init(&cache->heap, pool, &cache->budget, cache->max_bytes);
    if (pthread_mutex_init(&cache->lock, NULL) != 0)
        return false;
    ptc_cond_init(&cache->changed);
    return true;
}

void ptc_cache_deinit(PtcCache *cache)
{
    while (cache->oldest)
        evict(cache, cache->oldest);
    ptc_heap_deinit(&cache->heap);
    ptc_mem_free(cache->mem, cache->table, cache->table_cap * sizeof(*cache->table));
    pthread_cond_destroy(&cache->changed);
    pthread_mutex_destroy(&cache->lock);
}

/* --------------------------------------------------------------------- looking */

/* A new entry for a call in flight, or NULL. */
static PtcCacheEntry *new_pending_entry(PtcCache *cache, uint64_t hash, const char *key, size_t len,
                                        const PtcBudget *budget)
{
    if (len > PTC_UNBOUNDED || !grow_cache_table(cache))
        return NULL;
    PtcCacheEntry *e = ptc_mem_alloc(cache->mem, sizeof *e + len);
    if (!e)
        return NULL;
    *e = (PtcCacheEntry){.hash = hash, .owner = pthread_self(), .budget = budget, .key_len = len};
    memcpy(e->key, key, len);
    e->next = *cache_chain_of(cache, hash);
    *cache_chain_of(cache, hash) = e;
    cache->pending_count++;
    return e;
}

/* Waits a little, or until a call has ended; false if the run no longer wants to wait. */
static bool wait_more(PtcCache *cache, const PtcCacheWait *wait, bool paused)
{
    (void)ptc_cond_wait_ms(&cache->changed, &cache->lock, CACHE_WAIT_MS);
    pthread_mutex_unlock(&cache->lock);
    bool on = wait->go_on(wait->user, paused);
    pthread_mutex_lock(&cache->lock);
    return on;
}

static PtcCacheAnswer begin_cached_call(PtcCache *cache, const char *key, size_t len, PtcHeap *into,
                                        const PtcCacheWait *wait, PtcValue *value,
                                        PtcCacheEntry **pending)
{
    uint64_t hash = hash_cache_key(key, len);
    PtcCacheEntry *e;
    while ((e = find_cache_entry(cache, hash, key, len)) != NULL) {
        if (e->value != PTC_NONE) {
            *value = copy_out_of_cache(cache, e, into);
            return *value == PTC_NONE ? PTC_CACHE_STOPPED : PTC_CACHE_HIT;
        }
        if (pthread_equal(e->owner, pthread_self()))
            return PTC_CACHE_BYPASS;
        if (!wait_more(cache, wait, atomic_load(&e->budget->paused)))
            return PTC_CACHE_STOPPED;
    }
    cache->misses++;
    *pending = new_pending_entry(cache, hash, key, len, into->budget);
    return *pending ? PTC_CACHE_MINE : PTC_CACHE_BYPASS;
}

PtcCacheAnswer ptc_cache_begin(PtcCache *cache, const char *key, size_t len, PtcHeap *into,
                               const PtcCacheWait *wait, PtcValue *value, PtcCacheEntry **pending)
{
    *value = PTC_NONE;
    *pending = NULL;
    pthread_mutex_lock(&cache->lock);
    PtcCacheAnswer answer = begin_cached_call(cache, key, len, into, wait, value, pending);
    pthread_mutex_unlock(&cache->lock);
    return answer;
}

/* --------------------------------------------------------------------- storing */

/* Stores the value, unless it is too large. */
static bool store_cached_result(PtcCache *cache, PtcCacheEntry *e, PtcValue value)
{
    size_t bytes;
    PtcValue copy = copy_into_cache(cache, value, &bytes);
    bytes += sizeof *e + e->key_len;
    if (copy == PTC_NONE || bytes > cache->max_bytes || cache->max_entries == 0)
        return false;
    e->value = copy;
    e->bytes = bytes;
    while (cache->oldest &&
           (cache->count >= cache->max_entries || cache->bytes + bytes > cache->max_bytes))
        evict(cache, cache->oldest);
    cache->count++;
    cache->bytes += bytes;
    link_newest(cache, e);
    return true;
}

void ptc_cache_put(PtcCache *cache, PtcCacheEntry *pending, PtcValue value)
{
    pthread_mutex_lock(&cache->lock);
    cache->pending_count--;
    if (!store_cached_result(cache, pending, value))
        drop_cache_entry(cache, pending);
    collect_cache_if_due(cache);
    pthread_cond_broadcast(&cache->changed);
    pthread_mutex_unlock(&cache->lock);
}

void ptc_cache_abandon(PtcCache *cache, PtcCacheEntry *pending)
{
    pthread_mutex_lock(&cache->lock);
    cache->pending_count--;
    drop_cache_entry(cache, pending);
    pthread_cond_broadcast(&cache->changed);
    pthread_mutex_unlock(&cache->lock);
}
