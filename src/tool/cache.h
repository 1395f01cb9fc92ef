/* SPDX-License-Identifier: MIT
 * cache.h - results of tools that are pure, by key (cache_key.h).
 *
 * Bounded in bytes and entries: the least recently used leaves first.  Values are copied in and out, into the cache's
 * own heap and the caller's, so that no run holds on to another's memory.  All functions except init and deinit may
 * be called from several threads; the lock is held while a value is copied.
 *
 * A call that may be answered from the cache goes
 *
 *     switch (ptc_cache_begin(cache, key, len, heap, &wait, &value, &pending)) {
 *     case PTC_CACHE_HIT: use value; break;
 *     case PTC_CACHE_MINE: call the tool, then ptc_cache_put on success or ptc_cache_abandon; break;
 *     case PTC_CACHE_BYPASS: call the tool and keep nothing; break;
 *     case PTC_CACHE_STOPPED: the run is over, or out of memory: see its budget; break;
 *     }
 *
 * so that if several threads ask for the same thing at once, one calls the tool and the others wait for it.  If that
 * call fails, the next of them tries.  Only successes are kept. */
#ifndef PTC_TOOL_CACHE_H
#define PTC_TOOL_CACHE_H

#include <pthread.h>

#include "value/heap.h"

typedef struct PtcCacheEntry PtcCacheEntry;

enum { PTC_CACHE_ENTRIES = 1024 }; /* results that a run or session keeps */

typedef struct PtcCache {
    /* It guards everything below.  Threads of one run, or of runs that share a session, take it to look up and to
     * store; a tool is called without it.  Storing takes the lock of the pool inside, for pages. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a call in flight has ended */
    PtcBudget budget;       /* of the heap; never runs out of time */
    PtcHeap heap;
    PtcMem *mem;
    PtcCacheEntry **table; /* chains, by hash; NULL before the first entry */
    size_t table_cap;
    PtcCacheEntry *newest, *oldest; /* stored entries by last use */
    size_t count;                   /* stored entries ... */
    size_t pending_count;           /* ... and calls in flight */
    size_t bytes;                   /* of the stored entries, with their keys */
    size_t max_bytes, max_entries;
    uint64_t hits, misses; /* answers of _begin */
} PtcCache;

typedef enum {
    PTC_CACHE_HIT,
    PTC_CACHE_MINE,
    PTC_CACHE_BYPASS, /* no memory for an entry, or this thread itself has the call in flight: a
                       * tool that calls itself */
    PTC_CACHE_STOPPED,
} PtcCacheAnswer;

/* Called every few milliseconds, without the lock, while waiting for another thread's call; false: give up.
 * `paused`: that thread's budget was in a pause, so the time since the last call does not count. */
typedef struct PtcCacheWait {
    bool (*go_on)(void *user, bool paused);
    void *user;
} PtcCacheWait;

/* False if the system cannot provide a lock.  The pool must outlive the cache. */
PTC_MUST_USE bool ptc_cache_init(PtcCache *cache, PtcPool *pool, size_t max_bytes,
                                 size_t max_entries);
/* Nothing may be in flight. */
void ptc_cache_deinit(PtcCache *cache);

/* HIT fills *value with a copy in `into`; MINE fills *pending.  The key is copied. */
PTC_MUST_USE PtcCacheAnswer ptc_cache_begin(PtcCache *cache, const char *key, size_t len,
                                            PtcHeap *into, const PtcCacheWait *wait,
                                            PtcValue *value, PtcCacheEntry **pending);
/* Ends a call in flight, from any thread that may read the value.  A value that is too large is not kept. */
void ptc_cache_put(PtcCache *cache, PtcCacheEntry *pending, PtcValue value);
void ptc_cache_abandon(PtcCache *cache, PtcCacheEntry *pending);

#endif
