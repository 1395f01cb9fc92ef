/* SPDX-License-Identifier: MIT
 * Connections to an engine that is not there: who gets one, who waits, who is refused at once and with which words. */
#include "store/store_pool.h"

#include <string.h>

#include "base/budget.h"
#include "check.h"

/* An engine whose connections are the addresses of these. */
typedef struct {
    _Atomic bool down, refuses, broken[8];
    _Atomic int made, ended;
} Fake;

static void *connect_to_fake(void *user, int64_t until_ns, PtcWhy *why)
{
    Fake *fake = user;
    if (until_ns > ptc_clock_ns(NULL) && !fake->down)
        return &fake->broken[fake->made++ % 8];
    ptc_why_say(why, fake->refuses ? PTC_WHY_REFUSED : PTC_WHY_UNAVAILABLE, "cannot connect");
    return NULL;
}

static void end_fake(void *user, void *connection)
{
    (void)connection;
    ((Fake *)user)->ended++;
}

static bool is_fake_alive(void *user, void *connection)
{
    (void)user;
    return !*(_Atomic bool *)connection;
}

static const PtcStorePoolClass fake_class = {connect_to_fake, end_fake, is_fake_alive};
static PtcMem mem;
static PtcStoreTrouble trouble = {.lock = PTHREAD_MUTEX_INITIALIZER};

static PtcStorePool *new_pool(Fake *fake)
{
    PtcStorePool *pool = ptc_store_pool_new(&mem, &fake_class, fake, 2, &trouble);
    CHECK(pool != NULL);
    return pool;
}

static int64_t in_ms(int64_t ms)
{
    return ptc_clock_ns(NULL) + ms * PTC_MS;
}

/* Two at most; the one that was given back last comes first; one that is dead is replaced. */
static void test_order(void)
{
    Fake fake = {.made = 0};
    PtcStorePool *pool = new_pool(&fake);
    PtcWhy why;
    void *a, *b, *c;
    CHECK(ptc_store_pool_begin(pool, 5000, &why));
    CHECK(ptc_store_pool_take(pool, in_ms(5000), &a) == PTC_STORE_OK);
    CHECK(ptc_store_pool_take(pool, in_ms(5000), &b) == PTC_STORE_OK && a != b);
    CHECK(ptc_store_pool_take(pool, in_ms(20), &c) == PTC_STORE_BUSY && !c);
    CHECK(strstr(trouble.text, "busy"));
    ptc_store_pool_give(pool, b, false);
    ptc_store_pool_give(pool, a, false);
    CHECK(ptc_store_pool_take(pool, in_ms(5000), &c) == PTC_STORE_OK && c == a);
    *(_Atomic bool *)b = true;
    CHECK(ptc_store_pool_take(pool, in_ms(5000), &a) == PTC_STORE_OK && a != b && a != c);
    CHECK(fake.made == 3 && fake.ended == 1);
    ptc_store_pool_give(pool, a, false);
    ptc_store_pool_give(pool, c, true);
    CHECK(fake.ended == 3);
    ptc_store_pool_free(pool);
}

static int64_t ms_until_refused(PtcStorePool *pool)
{
    void *connection;
    int64_t begun = ptc_clock_ns(NULL);
    CHECK(ptc_store_pool_take(pool, in_ms(60000), &connection) == PTC_STORE_FAILED && !connection);
    CHECK_STR(trouble.text, "cannot connect");
    return (ptc_clock_ns(NULL) - begun) / PTC_MS;
}

/* Nobody waits for an engine that is down, and nobody has to do anything for it to be found again. */
static void test_back_off(void)
{
    Fake fake = {.down = true};
    PtcStorePool *pool = new_pool(&fake);
    PtcWhy why;
    void *connection;
    CHECK(!ptc_store_pool_begin(pool, 250, &why));
    CHECK_STR(why.text, "cannot connect");
    CHECK(ms_until_refused(pool) < 5000);
    fake.down = false;
    int64_t until = in_ms(20000);
    while (!fake.made && ptc_clock_ns(NULL) < until)
        (void)!ptc_store_pool_begin(pool, 10, &why);
    CHECK(ptc_store_pool_take(pool, in_ms(5000), &connection) == PTC_STORE_OK);
    ptc_store_pool_give(pool, connection, false);
    ptc_store_pool_free(pool);
    CHECK(fake.made == 1 && fake.ended == 1);
    /* what is refused for good is not tried again at the beginning */
    Fake strict = {.down = true, .refuses = true};
    pool = new_pool(&strict);
    int64_t begun = ptc_clock_ns(NULL);
    CHECK(!ptc_store_pool_begin(pool, 60000, &why) && why.class == PTC_WHY_REFUSED);
    CHECK(ptc_clock_ns(NULL) - begun < 30 * PTC_S);
    ptc_store_pool_free(pool);
}

int main(void)
{
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    test_order();
    test_back_off();
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("store_pool");
}
