/* SPDX-License-Identifier: MIT
 * Connections to an engine.  What always holds: nobody waits for the engine with the lock held; a connection is idle
 * or belongs to one caller, and `open` counts both. */
#include "store/store_pool.h"

#include <string.h>

#include "base/budget.h"
#include "base/os/cond.h"
#include "base/os/thread.h"

enum {
    POOL_STACK = 512 * PTC_KB, /* names are looked up on it */
    BACK_OFF_MS = 100,
    BACK_OFF_MOST_MS = 4500, /* with the keeper's probe, 6 s until somebody notices that it works */
};

struct PtcStorePool {
    PtcMem *mem;
    const PtcStorePoolClass *class;
    void *user;
    PtcStoreTrouble *trouble;
    pthread_t thread;
    bool has_thread;
    /* It guards the rest. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* for those who wait for a connection */
    pthread_cond_t wanted;  /* for the thread */
    bool ends, connecting;
    unsigned most, open, idle_count, waiting;
    unsigned failures; /* in a row, 0: the last attempt worked */
    int64_t next_ns;   /* no attempt before */
    PtcWhy why;        /* of the last failure */
    void *idle[PTC_STORE_POOL_MOST];
};

/* --------------------------------------------------------------------------- connecting */

/* After a failure it goes on trying, so that whoever comes later finds a connection. */
static bool wants_one(const PtcStorePool *p)
{
    return p->open < p->most && (p->waiting > p->idle_count || (p->failures && !p->open));
}

static int64_t back_off_ns(unsigned failures)
{
    int64_t ms = BACK_OFF_MS;
    for (unsigned i = 1; i < failures && ms < BACK_OFF_MOST_MS; i++)
        ms *= 2;
    return (ms < BACK_OFF_MOST_MS ? ms : BACK_OFF_MOST_MS) * PTC_MS;
}

/* With the lock held, which it lets go in between. */
static void connect_one(PtcStorePool *p)
{
    PtcWhy why;
    ptc_why_init(&why);
    p->connecting = true;
    pthread_mutex_unlock(&p->lock);
    int64_t until = ptc_clock_ns(NULL) + PTC_STORE_CONNECT_MS * PTC_MS;
    void *connection = p->class->connect(p->user, until, &why);
    pthread_mutex_lock(&p->lock);
    p->connecting = false;
    if (connection) {
        p->idle[p->idle_count++] = connection;
        p->open++;
        p->failures = 0;
    } else {
        p->failures++;
        p->next_ns = ptc_clock_ns(NULL) + back_off_ns(p->failures);
        ptc_why_copy(&p->why, &why);
        ptc_store_trouble_say(p->trouble, "%s", why.text);
    }
    pthread_cond_broadcast(&p->changed);
}

static void *make_connections(void *user)
{
    PtcStorePool *p = user;
    pthread_mutex_lock(&p->lock);
    while (!p->ends) {
        if (!wants_one(p))
            ptc_cond_wait_until(&p->wanted, &p->lock, INT64_MAX);
        else if (p->failures && ptc_clock_ns(NULL) < p->next_ns)
            ptc_cond_wait_until(&p->wanted, &p->lock, p->next_ns);
        else
            connect_one(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* ------------------------------------------------------------------------- taking, giving */

/* With the lock held, which it lets go in between. */
static void drop(PtcStorePool *p, void *connection)
{
    p->open--;
    pthread_mutex_unlock(&p->lock);
    p->class->disconnect(p->user, connection);
    pthread_mutex_lock(&p->lock);
    pthread_cond_signal(&p->wanted);
}

/* An idle connection that works, or NULL; with the lock held, which it lets go in between. */
static void *take_idle(PtcStorePool *p)
{
    while (p->idle_count) {
        void *connection = p->idle[--p->idle_count];
        if (p->class->is_alive(p->user, connection))
            return connection;
        drop(p, connection);
    }
    return NULL;
}

/* With the lock held.  False: it is too late. */
static bool wait_for_one(PtcStorePool *p, int64_t until_ns)
{
    p->waiting++;
    pthread_cond_signal(&p->wanted);
    bool in_time = ptc_cond_wait_until(&p->changed, &p->lock, until_ns);
    p->waiting--;
    return in_time;
}

/* Why there is none; with the lock held. */
static PtcStoreStatus say_there_is_none(PtcStorePool *p, bool unreachable)
{
    if (unreachable)
        ptc_store_trouble_say(p->trouble, "%s", p->why.text);
    else
        ptc_store_trouble_say(p->trouble, "the store is busy: no connection is free");
    return unreachable ? PTC_STORE_FAILED : PTC_STORE_BUSY;
}

PtcStoreStatus ptc_store_pool_take(PtcStorePool *p, int64_t until_ns, void **connection)
{
    PtcStoreStatus status = PTC_STORE_OK;
    bool late = false;
    pthread_mutex_lock(&p->lock);
    while (!(*connection = take_idle(p))) {
        bool unreachable = p->failures && !p->open;
        if (unreachable || late) {
            status = say_there_is_none(p, unreachable);
            break;
        }
        late = !wait_for_one(p, until_ns);
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* With the lock held, which it lets go in between. */
static void drop_idle(PtcStorePool *p)
{
    while (p->idle_count)
        drop(p, p->idle[--p->idle_count]);
}

void ptc_store_pool_give(PtcStorePool *p, void *connection, bool broken)
{
    pthread_mutex_lock(&p->lock);
    if (broken) {
        drop_idle(p);
        drop(p, connection);
    } else {
        p->idle[p->idle_count++] = connection;
        pthread_cond_signal(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
}

/* --------------------------------------------------------------------------------- life */

bool ptc_store_pool_begin(PtcStorePool *p, int64_t ms, PtcWhy *why)
{
    int64_t until = ptc_clock_ns(NULL) + ms * PTC_MS;
    bool late = false;
    ptc_why_say(why, PTC_WHY_LATE, "the store does not answer");
    pthread_mutex_lock(&p->lock);
    while (!p->open && !(late && !p->connecting) &&
           !(p->failures && p->why.class == PTC_WHY_REFUSED))
        late |= !wait_for_one(p, late ? INT64_MAX : until);
    bool connected = p->open > 0;
    if (!connected && p->failures)
        ptc_why_copy(why, &p->why);
    pthread_mutex_unlock(&p->lock);
    return connected;
}

PtcStorePool *ptc_store_pool_new(PtcMem *mem, const PtcStorePoolClass *class, void *user,
                                 unsigned most, PtcStoreTrouble *trouble)
{
    PtcStorePool *p = ptc_mem_alloc(mem, sizeof *p);
    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    p->mem = mem;
    p->class = class;
    p->user = user;
    p->trouble = trouble;
    p->most = most < 1 ? 1 : most < PTC_STORE_POOL_MOST ? most : PTC_STORE_POOL_MOST;
    pthread_mutex_init(&p->lock, NULL);
    ptc_cond_init(&p->changed);
    ptc_cond_init(&p->wanted);
    p->has_thread = ptc_thread_start(&p->thread, POOL_STACK, make_connections, p);
    if (p->has_thread)
        return p;
    ptc_store_pool_free(p);
    return NULL;
}

void ptc_store_pool_free(PtcStorePool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ends = true;
    pthread_cond_broadcast(&p->wanted);
    pthread_mutex_unlock(&p->lock);
    if (p->has_thread)
        pthread_join(p->thread, NULL);
    pthread_mutex_lock(&p->lock);
    drop_idle(p);
    pthread_mutex_unlock(&p->lock);
    pthread_cond_destroy(&p->wanted);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    ptc_mem_free(p->mem, p, sizeof *p);
}
