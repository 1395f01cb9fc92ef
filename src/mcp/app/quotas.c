/* SPDX-License-Identifier: MIT
 * Quotas of owners.  What always holds: one thread at a time asks the store about an owner, and no lock is held
 * meanwhile, so that numbers arrive there in the order in which they were true; a call that was let in is counted until
 * it has ended, whatever the store says. */
#include "mcp/app/quotas.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/os/cond.h"
#include "base/os/thread.h"
#include "base/text/secret.h"

enum {
    CALLS_MS = 10000, /* the number of a server that is not heard of ends */
    TELL_MS = 3000,
    TURN_MS = 1000, /* of waiting for others that ask the store; then it counts as failing */
    QUOTA_STACK = 256 * PTC_KB,
    CALLS_RETRY_MS = 200, /* nobody knows when a call ends */
    BUCKET_US = 60 * PTC_SECOND_US,
    BUCKET_MS = 2 * 60 * 1000,
    IN_ADVANCE = 600, /* a tenth of a second, in minutes */
    BUCKET_TURNS = 20,
    QUOTA_NODE = 16,
};

typedef struct QuotaOwner {
    struct QuotaOwner *next;
    size_t size;
    uint64_t running;
    int64_t told_ns;     /* when the store was told last */
    bool asking;         /* a thread asks the store; nobody else may */
    bool changed;        /* the store has another number than `running` */
    int64_t ahead;       /* calls that were taken from the bucket in advance */
    int64_t own_full_us; /* of this server's own bucket: when it is full again */
    char name[];
} QuotaOwner;

struct PtcMcpQuotas {
    PtcMem mem;
    PtcMcpQuota quota;
    PtcStore *store; /* NULL: none that others have too */
    int64_t calls, rate;
    uint8_t node[QUOTA_NODE];
    /* It guards all below, and is held briefly; the store is not used with it. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    QuotaOwner *owners;
    int64_t nodes; /* that were seen last, this one included */
    int64_t seen_ns;
    bool ends, has_thread;
    pthread_t thread;
};

static const PtcText everybody = {"-", 1};

/* ------------------------------------------------------------------------------------ owners */

/* With the lock held.  NULL: out of memory. */
static QuotaOwner *find_quota_owner(PtcMcpQuotas *q, const char *name)
{
    for (QuotaOwner *o = q->owners; o; o = o->next)
        if (strcmp(o->name, name) == 0)
            return o;
    size_t len = strlen(name) + 1;
    QuotaOwner *o = ptc_mem_alloc(&q->mem, sizeof *o + len);
    if (!o)
        return NULL;
    memset(o, 0, sizeof *o);
    o->size = sizeof *o + len;
    memcpy(o->name, name, len);
    o->next = q->owners;
    q->owners = o;
    return o;
}

/* With the lock held: the turn to ask the store about an owner.  False: a slow store would make all wait for each. */
static bool begin_asking(PtcMcpQuotas *q, QuotaOwner *o)
{
    int64_t until = ptc_clock_ns(NULL) + TURN_MS * PTC_MS;
    for (bool in_time = true; o->asking && in_time;)
        in_time = ptc_cond_wait_until(&q->changed, &q->lock, until);
    bool mine = !o->asking;
    o->asking = true;
    return mine;
}

static void end_asking(PtcMcpQuotas *q, QuotaOwner *o)
{
    o->asking = false;
    pthread_cond_broadcast(&q->changed);
}

/* With the lock held: this server's part, at least one. */
static int64_t part_of(const PtcMcpQuotas *q, int64_t all)
{
    return all / q->nodes > 0 ? all / q->nodes : 1;
}

/* --------------------------------------------------------------------------------- at once */

/* `most` INT64_MAX: it is so, whatever others have. */
static PtcStoreStatus tell_calls(PtcMcpQuotas *q, const QuotaOwner *o, uint64_t n, int64_t most)
{
    const PtcStoreHold hold = {(int64_t)n, most, CALLS_MS};
    PtcText name = {o->name, strlen(o->name)};
    const PtcStoreKey key = {"calls", name, name.len ? name : everybody};
    return ptc_store_hold(q->store, &key, &hold);
}

/* With the lock held, which is let go while the store is asked. */
static bool begin_call(PtcMcpQuotas *q, QuotaOwner *o)
{
    PtcStoreStatus status = PTC_STORE_FAILED;
    bool mine = begin_asking(q, o);
    if (q->store && mine) {
        uint64_t n = o->running + 1;
        pthread_mutex_unlock(&q->lock);
        status = tell_calls(q, o, n, q->calls);
        pthread_mutex_lock(&q->lock);
        /* calls that have ended meanwhile are told by the thread */
        o->changed = o->changed || status != PTC_STORE_HELD;
        if (status == PTC_STORE_OK && o->running + 1 == n)
            o->changed = false;
        o->told_ns = ptc_clock_ns(NULL);
    }
    bool may = status == PTC_STORE_OK ||
               (status != PTC_STORE_HELD && (int64_t)o->running < part_of(q, q->calls));
    o->running += may;
    o->changed = o->changed || !mine;
    if (mine)
        end_asking(q, o);
    return may;
}

/* ---------------------------------------------------------------------------------- rate */

/* A bucket is a time: when it will be full again.  Each call makes it later.  How many may begin of `wanted`; 0:
 * *retry_ms says when one may. */
static int64_t take_from_bucket(int64_t *full_us, int64_t now_us, int64_t rate, int64_t wanted,
                                int64_t *retry_ms)
{
    int64_t each_us = BUCKET_US / rate, from = *full_us > now_us ? *full_us : now_us;
    if (each_us < 1)
        each_us = 1;
    int64_t room = (now_us + BUCKET_US - from) / each_us, n = room < wanted ? room : wanted;
    if (n > 0)
        *full_us = from + n * each_us;
    else
        *retry_ms = (from + each_us - BUCKET_US - now_us) / 1000 + 1;
    return n > 0 ? n : 0;
}

static bool read_bucket(const char *text, size_t len, int64_t *full_us)
{
    *full_us = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || *full_us > INT64_MAX / 10 - 1)
            return false;
        *full_us = *full_us * 10 + (text[i] - '0');
    }
    return len > 0;
}

/* Reads the record, and writes it if that lets a call begin.  OK with *n 0: none may. */
static PtcStoreStatus try_bucket(PtcMcpQuotas *q, const PtcStoreKey *key, int64_t wanted,
                                 int64_t *n, int64_t *retry_ms)
{
    PtcStored stored = {.version = 0};
    char text[24];
    int64_t full_us = 0, now_ms;
    uint64_t version;
    PtcBuf bytes;
    ptc_buf_init(&bytes, &q->mem, 64);
    PtcStoreStatus status = ptc_store_get(q->store, key, NULL, &stored, &bytes);
    now_ms = ptc_store_now(q->store);
    bool there = status == PTC_STORE_OK;
    if ((there || status == PTC_STORE_ABSENT) &&
        (!there || !read_bucket(bytes.data, bytes.len, &full_us) ||
         full_us > (now_ms + BUCKET_MS) * 1000))
        full_us = 0; /* nobody's calls end for ever because of what a record says */
    ptc_buf_deinit(&bytes);
    if (!there && status != PTC_STORE_ABSENT)
        return status;
    if ((*n = take_from_bucket(&full_us, now_ms * 1000, q->rate, wanted, retry_ms)) == 0)
        return PTC_STORE_OK;
    int len = snprintf(text, sizeof text, "%" PRId64, full_us);
    const PtcStorePut put = {.expected = there ? stored.version : 0,
                             .used_ms = now_ms,
                             .expires_ms = now_ms + BUCKET_MS,
                             .bytes = {text, (size_t)len}};
    return ptc_store_put(q->store, key, &put, &version);
}

static PtcStoreStatus ask_bucket(PtcMcpQuotas *q, const QuotaOwner *o, int64_t *n,
                                 int64_t *retry_ms)
{
    PtcText name = {o->name, strlen(o->name)};
    const PtcStoreKey key = {"rate", name, name.len ? name : everybody};
    int64_t wanted = q->rate / IN_ADVANCE > 0 ? q->rate / IN_ADVANCE : 1;
    PtcStoreStatus status = PTC_STORE_CONFLICT;
    for (int i = 0; i < BUCKET_TURNS; i++) {
        status = try_bucket(q, &key, wanted, n, retry_ms);
        if (status != PTC_STORE_CONFLICT && status != PTC_STORE_ABSENT)
            break;
    }
    return status;
}

/* With the lock held, which is let go while the store is asked. */
static bool take_call(PtcMcpQuotas *q, QuotaOwner *o, int64_t *retry_ms)
{
    PtcStoreStatus status = PTC_STORE_FAILED;
    int64_t n = 0;
    bool mine = begin_asking(q, o);
    if (o->ahead > 0) {
        status = PTC_STORE_OK;
    } else if (q->store && mine) {
        pthread_mutex_unlock(&q->lock);
        status = ask_bucket(q, o, &n, retry_ms);
        pthread_mutex_lock(&q->lock);
        o->ahead += status == PTC_STORE_OK ? n : 0;
    }
    if (status != PTC_STORE_OK)
        o->ahead += take_from_bucket(&o->own_full_us, ptc_clock_ns(NULL) / PTC_US,
                                     part_of(q, q->rate), 1, retry_ms);
    bool may = o->ahead > 0;
    o->ahead -= may;
    if (mine)
        end_asking(q, o);
    return may;
}

/* ------------------------------------------------------------------------------------- calls */

static const char *begin_quota(void *user, const char *owner, int64_t *retry_ms)
{
    PtcMcpQuotas *q = user;
    const char *why = NULL;
    pthread_mutex_lock(&q->lock);
    QuotaOwner *o = find_quota_owner(q, owner);
    *retry_ms = CALLS_RETRY_MS;
    if (o && q->calls && !begin_call(q, o))
        why = "as many calls as you may have at once";
    if (o && !why && q->rate && !take_call(q, o, retry_ms)) {
        why = "as many calls as you may make in a minute";
        o->running -= q->calls > 0;
        o->changed = true;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return why;
}

static void end_quota(void *user, const char *owner)
{
    PtcMcpQuotas *q = user;
    pthread_mutex_lock(&q->lock);
    QuotaOwner *o = q->calls ? find_quota_owner(q, owner) : NULL;
    if (o && o->running > 0) {
        o->running--;
        o->changed = true;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
}

/* -------------------------------------------------------------------------------- the thread */

static bool count_node(void *user, const PtcStoreKey *key, const PtcStored *stored)
{
    (void)key;
    (void)stored;
    ++*(int64_t *)user;
    return true;
}

/* Says that this server is there, and counts those that say so. */
static void meet_nodes(PtcMcpQuotas *q, bool leaves)
{
    int64_t count = 0, now = ptc_store_now(q->store);
    uint64_t version;
    PtcStored stored;
    const PtcStoreKey key = {"node", everybody, {(const char *)q->node, sizeof q->node}};
    if (leaves) {
        (void)!ptc_store_remove(q->store, &key, 0);
        return;
    }
    PtcStoreStatus status = ptc_store_get(q->store, &key, NULL, &stored, NULL);
    PtcStorePut put = {.expected = status == PTC_STORE_OK ? stored.version : 0,
                       .used_ms = now,
                       .expires_ms = now + CALLS_MS};
    if (!put.expected)
        put.bytes = PTC_TEXT("1");
    if (status == PTC_STORE_OK || status == PTC_STORE_ABSENT)
        status = ptc_store_put(q->store, &key, &put, &version);
    if (status == PTC_STORE_OK)
        status =
            ptc_store_list(q->store, "node", everybody, NULL, PTC_STORE_LISTED, count_node, &count);
    pthread_mutex_lock(&q->lock);
    if (status == PTC_STORE_OK && count > 0)
        q->nodes = count;
    pthread_mutex_unlock(&q->lock);
}

/* With the lock held: an owner of whom the store is to be told something. */
static QuotaOwner *owner_to_tell(PtcMcpQuotas *q, int64_t now_ns)
{
    QuotaOwner *o = q->owners;
    while (o &&
           (o->asking || !(o->changed || (o->running && now_ns - o->told_ns >= TELL_MS * PTC_MS))))
        o = o->next;
    return o;
}

/* With the lock held, which is let go meanwhile. */
static void tell_owner(PtcMcpQuotas *q, QuotaOwner *o)
{
    o->asking = true;
    o->changed = false;
    o->told_ns = ptc_clock_ns(NULL);
    uint64_t n = o->running;
    pthread_mutex_unlock(&q->lock);
    (void)!tell_calls(q, o, n, INT64_MAX);
    pthread_mutex_lock(&q->lock);
    end_asking(q, o);
}

static void *tell_store(void *user)
{
    PtcMcpQuotas *q = user;
    pthread_mutex_lock(&q->lock);
    while (!q->ends) {
        int64_t now = ptc_clock_ns(NULL);
        QuotaOwner *o = q->calls ? owner_to_tell(q, now) : NULL;
        if (o) {
            tell_owner(q, o);
        } else if (!q->seen_ns || now - q->seen_ns >= TELL_MS * PTC_MS) {
            q->seen_ns = now;
            pthread_mutex_unlock(&q->lock);
            meet_nodes(q, false);
            pthread_mutex_lock(&q->lock);
        } else {
            ptc_cond_wait_ms(&q->changed, &q->lock, 500);
        }
    }
    pthread_mutex_unlock(&q->lock);
    meet_nodes(q, true);
    return NULL;
}

/* -------------------------------------------------------------------------------------- life */

PtcMcpQuotas *ptc_mcp_quotas_new(PtcStore *store, int64_t calls, int64_t rate)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcMcpQuotas *q = ptc_mem_alloc(&mem, sizeof *q);
    if (!q)
        return NULL;
    memset(q, 0, sizeof *q);
    ptc_mem_init(&q->mem, PTC_UNBOUNDED);
    q->quota = (PtcMcpQuota){begin_quota, end_quota, q};
    q->store = ptc_store_is_shared(store) ? store : NULL;
    q->calls = calls;
    q->rate = rate;
    q->nodes = 1;
    pthread_mutex_init(&q->lock, NULL);
    ptc_cond_init(&q->changed);
    bool ok = ptc_random_bytes(q->node, sizeof q->node);
    if (ok && q->store)
        ok = q->has_thread = ptc_thread_start(&q->thread, QUOTA_STACK, tell_store, q);
    if (ok)
        return q;
    ptc_mcp_quotas_free(q);
    return NULL;
}

void ptc_mcp_quotas_free(PtcMcpQuotas *q)
{
    PtcMem mem;
    if (!q)
        return;
    pthread_mutex_lock(&q->lock);
    q->ends = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    if (q->has_thread)
        pthread_join(q->thread, NULL);
    for (QuotaOwner *o = q->owners; o; o = q->owners) {
        q->owners = o->next;
        ptc_mem_free(&q->mem, o, o->size);
    }
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *q);
    ptc_mem_free(&mem, q, sizeof *q);
}

const PtcMcpQuota *ptc_mcp_quotas_of(PtcMcpQuotas *q)
{
    return &q->quota;
}
