/* SPDX-License-Identifier: MIT
 * The cache of tool results: what is kept, what leaves, and one call for many threads. */
#include "json_help.h"

#include <pthread.h>
#include <sched.h>

#include "tool/cache.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"

static bool yes(void *user, bool paused)
{
    (void)paused;
    (void)user;
    return true;
}

static const PtcCacheWait forever = {yes, NULL};

static PtcCacheAnswer begin(PtcCache *c, const char *key, PtcValue *v, PtcCacheEntry **pending)
{
    return ptc_cache_begin(c, key, strlen(key), &h.heap, &forever, v, pending);
}

static void put(PtcCache *c, const char *key, PtcValue v)
{
    PtcValue ignored;
    PtcCacheEntry *pending;
    CHECK(begin(c, key, &ignored, &pending) == PTC_CACHE_MINE);
    ptc_cache_put(c, pending, v);
}

/* Is something stored?  A call that it would begin is given up at once. */
static bool get_stored(PtcCache *c, const char *key, PtcHeap *into, PtcValue *v)
{
    PtcCacheEntry *pending;
    PtcCacheAnswer a = ptc_cache_begin(c, key, strlen(key), into, &forever, v, &pending);
    if (a == PTC_CACHE_MINE)
        ptc_cache_abandon(c, pending);
    return a == PTC_CACHE_HIT;
}

/* The JSON of what is stored, "-" for nothing. */
static const char *look(PtcCache *c, const char *key)
{
    PtcValue v;
    return get_stored(c, key, &h.heap, &v) ? write(v) : "-";
}

static void test_basics(void)
{
    PtcCache c;
    PtcValue v, rows = parse("[{\"id\":1,\"s\":\"text\"},{\"id\":2,\"s\":\"text\"}]");
    PtcCacheEntry *pending;
    CHECK(ptc_cache_init(&c, &h.pool, 1 << 20, 100));
    CHECK_STR(look(&c, "a"), "-");
    put(&c, "a", rows);
    CHECK_STR(look(&c, "a"), "[{\"id\":1,\"s\":\"text\"},{\"id\":2,\"s\":\"text\"}]");
    CHECK(begin(&c, "a", &v, &pending) == PTC_CACHE_HIT && ptc_equal(&h.heap, v, rows));
    CHECK(v != rows && ptc_heap_owns(&h.heap, v) && c.hits == 2);
    CHECK_STR(look(&c, "A"), "-");
    /* A failure leaves nothing behind, and the next one may try. */
    CHECK(begin(&c, "b", &v, &pending) == PTC_CACHE_MINE);
    ptc_cache_abandon(&c, pending);
    CHECK_STR(look(&c, "b"), "-");
    put(&c, "b", PTC_NIL);
    CHECK_STR(look(&c, "b"), "null");
    put(&c, "", keyword("k"));
    CHECK(get_stored(&c, "", &h.heap, &v) && ptc_is_keyword(v));
    CHECK(c.count == 3 && c.pending_count == 0);
    ptc_cache_deinit(&c);
}

/* A tool that calls itself with the same arguments does not wait for itself. */
static void test_recursion(void)
{
    PtcCache c;
    PtcValue v;
    PtcCacheEntry *pending, *inner;
    CHECK(ptc_cache_init(&c, &h.pool, 1 << 20, 100));
    CHECK(begin(&c, "a", &v, &pending) == PTC_CACHE_MINE);
    CHECK(begin(&c, "a", &v, &inner) == PTC_CACHE_BYPASS && inner == NULL);
    ptc_cache_put(&c, pending, ptc_int(7));
    CHECK_STR(look(&c, "a"), "7");
    ptc_cache_deinit(&c);
}

static void test_entries(void)
{
    PtcCache c;
    char key[32];
    CHECK(ptc_cache_init(&c, &h.pool, 1 << 20, 10));
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "key %d", i);
        put(&c, key, ptc_int(i));
        CHECK(strcmp(look(&c, "key 0"), "0") == 0); /* in use, so it stays */
        CHECK(c.count <= 10);
    }
    CHECK_STR(look(&c, "key 999"), "999");
    CHECK_STR(look(&c, "key 991"), "991");
    CHECK_STR(look(&c, "key 990"), "-");
    ptc_cache_deinit(&c);
    CHECK(ptc_cache_init(&c, &h.pool, 1 << 20, 0));
    put(&c, "a", ptc_int(1));
    CHECK_STR(look(&c, "a"), "-");
    ptc_cache_deinit(&c);
}

static PtcValue text_of(size_t n)
{
    PtcValue s = ptc_str_begin(&h.heap, PTC_T_STRING, n);
    memset(ptc_str_room(s), 'x', n);
    ptc_str_seal(s);
    return s;
}

static void test_bytes(void)
{
    enum { MAX = 256 * 1024 };
    PtcCache c;
    char key[32];
    CHECK(ptc_cache_init(&c, &h.pool, MAX, 100000));
    for (int i = 0; i < 2000; i++) {
        PtcValue parts[2] = {ptc_int(i), text_of((size_t)(i * 37 % 3000))};
        snprintf(key, sizeof key, "key %d", i);
        put(&c, key, ptc_vec_new(&h.heap, parts, 2, 0));
        CHECK(c.bytes <= MAX && c.heap.page_bytes < 8 * MAX);
    }
    CHECK(c.count > 50 && c.count < 1000);
    PtcValue v;
    CHECK(get_stored(&c, "key 1999", &h.heap, &v) && ptc_seq_nth(v, 0) == ptc_int(1999));
    CHECK(ptc_str_len(ptc_seq_nth(v, 1)) == 1999 * 37 % 3000);
    size_t before = c.count;
    put(&c, "huge", text_of(MAX));
    CHECK_STR(look(&c, "huge"), "-");
    CHECK(c.count == before); /* and it drove nobody out */
    put(&c, "beyond", text_of(8 * MAX));
    CHECK_STR(look(&c, "beyond"), "-");
    put(&c, "small", ptc_int(1));
    CHECK_STR(look(&c, "small"), "1");
    ptc_cache_deinit(&c);
}

/* -------------------------------------------------------------------- threads */

enum { THREADS = 8, KEYS = 20 };

typedef struct {
    PtcCache cache;
    atomic_int calls[KEYS], failures, wrong;
} Shared;

static void *worker(void *arg)
{
    Shared *s = arg;
    PtcBudget budget;
    PtcHeap heap;
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &h.pool, &budget, 1 << 24);
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        PtcValue v;
        PtcCacheEntry *pending;
        int n = snprintf(key, sizeof key, "key %d", i);
        for (bool done = false; !done;) {
            PtcCacheAnswer a =
                ptc_cache_begin(&s->cache, key, (size_t)n, &heap, &forever, &v, &pending);
            if (a == PTC_CACHE_MINE && i % 5 == 0 && atomic_fetch_add(&s->calls[i], 1) == 0) {
                atomic_fetch_add(&s->failures, 1); /* the first call fails, another thread tries */
                ptc_cache_abandon(&s->cache, pending);
                continue;
            }
            if (a == PTC_CACHE_MINE) {
                atomic_fetch_add(&s->calls[i], i % 5 != 0);
                for (int k = 0; k < 50; k++)
                    sched_yield();
                v = ptc_str_new(&heap, key, (size_t)n);
                ptc_cache_put(&s->cache, pending, v);
            }
            done = true;
            if ((a != PTC_CACHE_MINE && a != PTC_CACHE_HIT) || !ptc_is_string(v) ||
                strcmp(ptc_str_bytes(v), key) != 0)
                atomic_fetch_add(&s->wrong, 1);
        }
    }
    ptc_heap_deinit(&heap);
    return NULL;
}

static void test_threads(void)
{
    static Shared s;
    pthread_t threads[THREADS];
    CHECK(ptc_cache_init(&s.cache, &h.pool, 1 << 20, 1000));
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, &s) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(s.wrong == 0 && s.failures == KEYS / 5 && s.cache.pending_count == 0);
    for (int i = 0; i < KEYS; i++)
        CHECK(s.calls[i] == (i % 5 == 0 ? 2 : 1));
    ptc_cache_deinit(&s.cache);
}

static bool never(void *user, bool paused)
{
    (void)paused;
    atomic_fetch_add((atomic_int *)user, 1);
    return false;
}

typedef struct {
    PtcCache *cache;
    PtcCacheAnswer answer;
    atomic_int asked;
} Waiter;

static void *give_up(void *arg)
{
    Waiter *w = arg;
    PtcBudget budget;
    PtcHeap heap;
    PtcValue v;
    PtcCacheEntry *pending;
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &h.pool, &budget, 1 << 24);
    PtcCacheWait wait = {never, &w->asked};
    w->answer = ptc_cache_begin(w->cache, "a", 1, &heap, &wait, &v, &pending);
    ptc_heap_deinit(&heap);
    return NULL;
}

/* Whoever waits can be called off. */
static void test_stop(void)
{
    PtcCache c;
    PtcValue v;
    PtcCacheEntry *pending;
    pthread_t thread;
    CHECK(ptc_cache_init(&c, &h.pool, 1 << 20, 10));
    Waiter w = {.cache = &c};
    CHECK(begin(&c, "a", &v, &pending) == PTC_CACHE_MINE);
    CHECK(pthread_create(&thread, NULL, give_up, &w) == 0);
    pthread_join(thread, NULL);
    CHECK(w.answer == PTC_CACHE_STOPPED && w.asked == 1);
    ptc_cache_put(&c, pending, ptc_int(1));
    ptc_cache_deinit(&c);
}

/* ------------------------------------------------------------------- no memory */

static void test_torture(void)
{
    static const char text[] = "{\"a\":[1,{\"b\":\"text\"}],\"c\":null}";
    for (uint64_t n = 1; n < 1000; n++) {
        CheckHeap t;
        PtcCache c;
        PtcJsonError e;
        PtcValue v, got = PTC_NONE;
        PtcCacheEntry *pending;
        check_heap_init(&t);
        v = ptc_json_parse(&t.heap, text, sizeof text - 1, &e);
        CHECK(v != PTC_NONE && ptc_cache_init(&c, &t.pool, 1 << 20, 100));
        ptc_mem_fail_at(&t.mem, n);
        for (int i = 0; i < 40; i++) {
            char key[16];
            int len = snprintf(key, sizeof key, "key %d", i);
            PtcCacheAnswer a =
                ptc_cache_begin(&c, key, (size_t)len, &t.heap, &forever, &got, &pending);
            CHECK(a == PTC_CACHE_MINE || a == PTC_CACHE_BYPASS);
            if (a == PTC_CACHE_MINE)
                ptc_cache_put(&c, pending, v);
        }
        bool all = get_stored(&c, "key 39", &t.heap, &got);
        CHECK(all ? ptc_equal(&t.heap, got, v) : true);
        bool done = atomic_load(&t.mem.count) < n;
        CHECK(c.pending_count == 0 && (!done || (all && c.count == 40)));
        ptc_cache_deinit(&c);
        check_heap_deinit(&t);
        if (done)
            return;
    }
    CHECK(!"torture ended");
}

/* A run whose heap is full is told so, and the entry stays. */
static void test_full_heap(void)
{
    PtcCache c;
    PtcBudget budget;
    PtcHeap small;
    PtcValue v;
    PtcCacheEntry *pending;
    CHECK(ptc_cache_init(&c, &h.pool, 1 << 20, 10));
    put(&c, "a", text_of(100000));
    ptc_budget_init(&budget);
    ptc_heap_init(&small, &h.pool, &budget, 50000);
    CHECK(ptc_cache_begin(&c, "a", 1, &small, &forever, &v, &pending) == PTC_CACHE_STOPPED);
    CHECK(v == PTC_NONE && budget.stop == PTC_STOP_MEMORY);
    ptc_heap_deinit(&small);
    CHECK(get_stored(&c, "a", &h.heap, &v) && ptc_str_len(v) == 100000);
    ptc_cache_deinit(&c);
}

int main(void)
{
    check_heap_init(&h);
    CHECK_RUN(test_basics());
    CHECK_RUN(test_recursion());
    CHECK_RUN(test_entries());
    CHECK_RUN(test_bytes());
    CHECK_RUN(test_threads());
    CHECK_RUN(test_stop());
    CHECK_RUN(test_torture());
    CHECK_RUN(test_full_heap());
    CHECK(h.budget.stop == PTC_STOP_NONE);
    check_heap_deinit(&h);
    return check_done("tool_cache");
}
