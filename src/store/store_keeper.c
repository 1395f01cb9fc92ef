/* SPDX-License-Identifier: MIT
 * The thread of a shared store: renews the holds of this node, asks for the engine's time, finds out whether it works,
 * sweeps what has expired.  And waiting for a record to change.  What always holds: holds come first, because they
 * end when they are late; no engine is called with the lock held. */
#include <stdio.h>

#include "base/budget.h"
#include "base/os/cond.h"
#include "base/os/thread.h"
#include "base/text/secret.h"
#include "store/store_int.h"

enum {
    KEEPER_STACK = 256 * PTC_KB,
    KEEPER_TICK_MS = 250,
    HOLD_MS = 5000,
    RENEW_MS = 1500,
    STORE_PROBE_MS = 500, /* while somebody asks whether the store is ready, or it is not */
    SILENT_MS = 2200,     /* an engine that takes so long is not ready, and one of 2 s is */
    PROBE_FOR_MS = 15000, /* after it was asked */
    CLOCK_MS = 10000,
    SWEEP_MS = 30000,
    SWEPT = 100,
    WAIT_POLL_MS = 100
};

struct PtcKeptHold {
    PtcKeptHold *next;
    unsigned users; /* the renewal may be using it */
    bool over;
    size_t size;
    PtcStoreKey key;
    char text[];
};

/* ------------------------------------------------------------------------------------- holds */

static void hold_kept(PtcStore *s, const PtcStoreKey *key, const PtcStoreHold *hold)
{
    atomic_store(&s->keeping_ns, ptc_clock_ns(NULL));
    (void)!ptc_store_hold(s, key, hold);
    atomic_store(&s->keeping_ns, 0);
}

bool ptc_store_keep_hold(PtcStore *s, const PtcStoreKey *key)
{
    size_t size = sizeof(PtcKeptHold) + key->owner.len + key->key.len;
    if (!s->has_keeper)
        return true;
    PtcKeptHold *kept = ptc_mem_alloc(&s->mem, size);
    if (!kept)
        return false;
    *kept = (PtcKeptHold){.size = size, .key = {.kind = key->kind}};
    memcpy(kept->text, key->owner.bytes, key->owner.len);
    memcpy(kept->text + key->owner.len, key->key.bytes, key->key.len);
    kept->key.owner = (PtcText){kept->text, key->owner.len};
    kept->key.key = (PtcText){kept->text + key->owner.len, key->key.len};
    pthread_mutex_lock(&s->lock);
    kept->next = s->kept;
    s->kept = kept;
    pthread_mutex_unlock(&s->lock);
    return true;
}

static bool is_kept(const PtcKeptHold *kept, const PtcStoreKey *key)
{
    return strcmp(kept->key.kind, key->kind) == 0 && ptc_text_same(kept->key.key, key->key) &&
           ptc_text_same(kept->key.owner, key->owner);
}

/* With the lock held. */
static void drop_over(PtcStore *s)
{
    for (PtcKeptHold **at = &s->kept; *at;) {
        PtcKeptHold *kept = *at;
        if (kept->over && !kept->users) {
            *at = kept->next;
            ptc_mem_free(&s->mem, kept, kept->size);
        } else {
            at = &kept->next;
        }
    }
}

static void end_hold(PtcStore *s, const PtcStoreKey *key)
{
    PtcStoreHold none = {0, 1, 0};
    (void)!ptc_store_hold(s, key, &none);
}

void ptc_store_let_go(PtcStore *s, const PtcStoreKey *key, bool end)
{
    pthread_mutex_lock(&s->lock);
    PtcKeptHold *kept = s->kept;
    while (kept && (kept->over || !is_kept(kept, key)))
        kept = kept->next;
    if (kept)
        kept->over = true;
    bool renewing = kept && kept->users; /* then the keeper ends it, after its renewal */
    drop_over(s);
    pthread_mutex_unlock(&s->lock);
    if (end && !renewing && ptc_store_is_shared(s))
        end_hold(s, key);
}

/* The next hold behind `last` (NULL: the first), which the caller uses until it asks for another one. */
static PtcKeptHold *next_kept(PtcStore *s, PtcKeptHold *last)
{
    pthread_mutex_lock(&s->lock);
    PtcKeptHold *next = last ? last->next : s->kept;
    while (next && next->over)
        next = next->next;
    if (next)
        next->users++;
    if (last && --last->users == 0)
        drop_over(s);
    pthread_mutex_unlock(&s->lock);
    return next;
}

static void renew_holds(PtcStore *s)
{
    const PtcStoreHold hold = {1, 1, HOLD_MS};
    for (PtcKeptHold *kept = NULL; (kept = next_kept(s, kept));) {
        hold_kept(s, &kept->key, &hold);
        pthread_mutex_lock(&s->lock);
        bool over = kept->over;
        pthread_mutex_unlock(&s->lock);
        if (over)
            end_hold(s, &kept->key);
    }
}

/* ------------------------------------------------------------------------------------- looking after */

/* A write that means nothing: it shows that the engine works. */
static void probe(PtcStore *s)
{
    const PtcStoreKey key = {"probe", PTC_TEXT("-"), {(const char *)s->node, sizeof s->node}};
    const PtcStoreHold hold = {1, 1, HOLD_MS};
    hold_kept(s, &key, &hold);
}

static bool wants_probe(PtcStore *s, int64_t now)
{
    bool asked = now - atomic_load(&s->asked_ns) < PROBE_FOR_MS * PTC_MS;
    return (asked || atomic_load(&s->failing)) &&
           now - atomic_load(&s->heard_ns) >= STORE_PROBE_MS * PTC_MS;
}

static void sweep_kinds(PtcStore *s)
{
    static const char *const kinds[] = {"session", "page",     "suspended", "grant",
                                        "shape",   "protocol", "oauth",     "run",
                                        "step",    "rate",     "node",      "probe"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ptc_store_expire(s, kinds[i], SWEPT) != PTC_STORE_OK)
            return;
}

/* Is it time again?  Then *last is now. */
static bool is_due(int64_t *last, int64_t now, int64_t each_ms)
{
    if (now - *last < each_ms * PTC_MS)
        return false;
    *last = now;
    return true;
}

/* Nodes sweep at different times, so that seldom two do. */
static int64_t first_sweep(const PtcStore *s, int64_t now)
{
    return now - (int64_t)(s->node[0] % (SWEEP_MS / 1000)) * PTC_S;
}

static void *look_after(void *user)
{
    PtcStore *s = user;
    int64_t now = ptc_clock_ns(NULL), renewed = now, probed = now, timed = now,
            swept = first_sweep(s, now);
    pthread_mutex_lock(&s->lock);
    while (!s->ends) {
        pthread_mutex_unlock(&s->lock);
        now = ptc_clock_ns(NULL);
        if (is_due(&renewed, now, RENEW_MS))
            renew_holds(s);
        if (wants_probe(s, now) && is_due(&probed, now, STORE_PROBE_MS))
            probe(s);
        if (!atomic_load(&s->failing) && is_due(&timed, now, CLOCK_MS))
            (void)!ptc_store_ask_clock(s);
        if (!atomic_load(&s->failing) && is_due(&swept, now, SWEEP_MS))
            sweep_kinds(s);
        pthread_mutex_lock(&s->lock);
        if (!s->ends)
            ptc_cond_wait_ms(&s->woken, &s->lock, KEEPER_TICK_MS);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

bool ptc_store_keeper_start(PtcStore *s)
{
    s->has_keeper = ptc_thread_start(&s->keeper, KEEPER_STACK, look_after, s);
    return s->has_keeper;
}

void ptc_store_keeper_stop(PtcStore *s)
{
    pthread_mutex_lock(&s->lock);
    s->ends = true;
    pthread_cond_broadcast(&s->woken);
    pthread_mutex_unlock(&s->lock);
    if (s->has_keeper)
        pthread_join(s->keeper, NULL);
    for (PtcKeptHold *kept = s->kept; kept; kept = s->kept) {
        s->kept = kept->next;
        ptc_mem_free(&s->mem, kept, kept->size);
    }
}

bool ptc_store_ready(PtcStore *s, char text[PTC_STORE_WHY])
{
    int64_t now = ptc_clock_ns(NULL), keeping = atomic_load(&s->keeping_ns);
    atomic_store(&s->asked_ns, now);
    bool failing = atomic_load(&s->failing);
    if (failing)
        ptc_store_why(s, text);
    else if (keeping && now - keeping >= SILENT_MS * PTC_MS)
        snprintf(text, PTC_STORE_WHY, "the store is busy: it does not answer");
    else
        return true;
    return false;
}

/* ------------------------------------------------------------------------------------- waiting */

void ptc_store_woke(void *store)
{
    PtcStore *s = store;
    pthread_mutex_lock(&s->lock);
    s->wakes++;
    pthread_cond_broadcast(&s->woken);
    pthread_mutex_unlock(&s->lock);
}

static bool has_version(PtcStore *s, const PtcStoreKey *key, uint64_t version)
{
    PtcStored stored;
    PtcStoreStatus status = ptc_store_get(s, key, NULL, &stored, NULL);
    if (status == PTC_STORE_ABSENT)
        return version == 0;
    return status != PTC_STORE_OK || stored.version == version;
}

void ptc_store_wait(PtcStore *s, const PtcStoreKey *key, uint64_t version, int64_t ms)
{
    int64_t until = ptc_clock_ns(NULL) + ms * PTC_MS;
    while (has_version(s, key, version) && ptc_clock_ns(NULL) < until) {
        int64_t poll = ptc_clock_ns(NULL) + WAIT_POLL_MS * PTC_MS;
        pthread_mutex_lock(&s->lock);
        uint64_t wakes = s->wakes;
        while (wakes == s->wakes &&
               ptc_cond_wait_until(&s->woken, &s->lock, poll < until ? poll : until))
            continue;
        pthread_mutex_unlock(&s->lock);
    }
}
