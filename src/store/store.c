/* SPDX-License-Identifier: MIT
 * What is the same for every engine.  What always holds: what is read is checked before it is used; a write whose
 * answer was lost is looked up before anybody is told that it failed; times are the engine's. */
#include "store/store.h"

#include <stdio.h>
#include <time.h>

#include "base/budget.h"
#include "base/text/secret.h"
#include "store/store_int.h"

enum { RESOLVE_MS = 5000, RESOLVE_PAUSE_MS = 50, CLOCK_QUICK_MS = 200 };

void ptc_store_trouble_say(PtcStoreTrouble *trouble, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&trouble->lock);
    vsnprintf(trouble->text, sizeof trouble->text, format, args);
    pthread_mutex_unlock(&trouble->lock);
    va_end(args);
}

static int text_order(PtcText a, PtcText b)
{
    int order = memcmp(a.bytes, b.bytes, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

int ptc_store_key_order(const PtcStoreKey *a, const PtcStoreKey *b)
{
    int order = text_order(a->owner, b->owner);
    if (!order)
        order = text_order(a->key, b->key);
    return order ? order : strcmp(a->kind, b->kind);
}

void ptc_store_why(PtcStore *store, char text[PTC_STORE_WHY])
{
    PtcStoreTrouble *trouble = &store->driver->trouble;
    pthread_mutex_lock(&trouble->lock);
    memcpy(text, trouble->text, PTC_STORE_WHY);
    pthread_mutex_unlock(&trouble->lock);
}

bool ptc_store_is_shared(const PtcStore *store)
{
    return store->driver->class->shared;
}

bool ptc_store_is_sealed(const PtcStore *store)
{
    return store->keys.count > 0;
}

bool ptc_store_is_new(const PtcStore *store)
{
    return store->is_new;
}

bool ptc_store_is_durable(PtcStore *store)
{
    return store->durable;
}

/* ---------------------------------------------------------------------------------- times */

static int64_t machine_ms(void)
{
    return ptc_clock_ns(NULL) / PTC_MS;
}

int64_t ptc_store_now(PtcStore *store)
{
    return store->now_ms                 ? store->now_ms(store->now_user)
           : store->driver->class->clock ? machine_ms() + atomic_load(&store->ahead_ms)
                                         : ptc_clock_wall_ms();
}

/* An answer that took long says little: the process may have been stopped while it was on its way. */
PtcStoreStatus ptc_store_ask_clock(PtcStore *store)
{
    int64_t begun = machine_ms(), now;
    if (!store->driver->class->clock)
        return PTC_STORE_OK;
    PtcStoreStatus status = store->driver->class->clock(store->driver, &now);
    bool quick = machine_ms() - begun <= CLOCK_QUICK_MS;
    if (status == PTC_STORE_OK && (quick || !atomic_load(&store->ahead_ms)))
        atomic_store(&store->ahead_ms, now - begun);
    return status;
}

/* Said once when it begins to fail and once when that is over. */
static void tell_change(PtcStore *s, bool failing)
{
    static const char cannot[] = "the store cannot be used: ";
    char text[sizeof cannot + PTC_STORE_WHY];
    if (atomic_exchange(&s->failing, failing) == failing)
        return;
    memcpy(text, cannot, sizeof cannot);
    ptc_store_why(s, text + sizeof cannot - 1);
    s->say(s->say_user, failing ? text : "the store can be used again");
}

/* A busy store is in trouble too: those who ask whether it is ready must know.  A full one can still remove things, so
 * only what takes room shows that it works again. */
PtcStoreStatus ptc_store_noted(PtcStore *s, PtcStoreOp op, PtcStoreStatus status, int64_t begun_ns)
{
    int64_t now = ptc_clock_ns(NULL);
    PtcStoreCount *count = &s->counts[op][status];
    atomic_fetch_add_explicit(&count->times, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&count->ns, (uint64_t)(now - begun_ns), memory_order_relaxed);
    bool failed =
        status == PTC_STORE_FAILED || status == PTC_STORE_BUSY || status == PTC_STORE_UNKNOWN;
    bool wrote = op == PTC_STORE_OP_PUT || op == PTC_STORE_OP_HOLD;
    if (status == PTC_STORE_NO_MEMORY)
        return status;
    if (status == PTC_STORE_DAMAGED && !atomic_exchange(&s->told_of_seals, true))
        s->say(s->say_user,
               "a record of the store was changed by someone who does not have its key");
    if (failed || (wrote && atomic_load_explicit(&s->failing, memory_order_relaxed)))
        tell_change(s, failed);
    if (wrote && !failed)
        atomic_store_explicit(&s->heard_ns, now, memory_order_relaxed);
    return status;
}

/* --------------------------------------------------------------------------------- reading */

static void take_stored(const PtcStoreRow *row, PtcStored *stored)
{
    *stored =
        (PtcStored){.version = row->version,
                    .created_ms = row->created_ms,
                    .used_ms = row->used_ms,
                    .expires_ms = row->expires_ms,
                    .idle_ms = row->idle_ms,
                    .size = row->size,
                    .meta_len = row->meta.len < PTC_STORE_META ? row->meta.len : PTC_STORE_META};
    memcpy(stored->tag, row->tag, PTC_STORE_TAG);
    if (stored->meta_len)
        memcpy(stored->meta, row->meta.bytes, stored->meta_len);
}

typedef struct {
    PtcStore *store;
    PtcStored *stored;
    PtcBuf *bytes; /* or NULL */
    PtcStoreStatus status;
} RowReading;

static bool read_row(void *user, const PtcStoreKey *key, const PtcStoreRow *row)
{
    RowReading *r = user;
    r->status = ptc_store_seal_check(&r->store->keys, key, row, r->bytes != NULL);
    if (r->status != PTC_STORE_OK)
        return false;
    take_stored(row, r->stored);
    if (ptc_store_row_is_over(row, ptc_store_now(r->store)))
        r->status = PTC_STORE_ABSENT;
    else if (r->bytes && !ptc_buf_add(r->bytes, row->bytes.bytes, row->bytes.len))
        r->status = r->bytes->full ? PTC_STORE_FULL : PTC_STORE_NO_MEMORY;
    return false;
}

static PtcStoreClaim claim_of(PtcStore *s, const PtcStoreHold *hold)
{
    return (PtcStoreClaim){s->node, hold->n, hold->most, hold->ms, ptc_store_now(s)};
}

static bool is_key(const PtcStoreKey *key)
{
    return key->owner.len <= PTC_STORE_NAME && key->key.len <= PTC_STORE_NAME;
}

static PtcStoreStatus get_record(PtcStore *s, const PtcStoreKey *key, const PtcStoreHold *hold,
                                 PtcStored *stored, PtcBuf *bytes)
{
    PtcStoreClaim claim = hold ? claim_of(s, hold) : (PtcStoreClaim){0};
    RowReading r = {s, stored, bytes, PTC_STORE_OK};
    PtcStoreStatus status =
        s->driver->class->get(s->driver, key, hold ? &claim : NULL, bytes != NULL, read_row, &r);
    if (status != PTC_STORE_OK)
        return status;
    if (hold && r.status != PTC_STORE_OK) { /* nobody holds what he did not get */
        claim.n = 0;
        (void)!s->driver->class->hold(s->driver, key, &claim);
    }
    return r.status;
}

PtcStoreStatus ptc_store_get(PtcStore *s, const PtcStoreKey *key, const PtcStoreHold *hold,
                             PtcStored *stored, PtcBuf *bytes)
{
    int64_t begun = ptc_clock_ns(NULL);
    if (!is_key(key))
        return PTC_STORE_ABSENT;
    return ptc_store_noted(s, PTC_STORE_OP_GET, get_record(s, key, hold, stored, bytes), begun);
}

typedef struct {
    PtcStore *store;
    PtcStoreVisit *visit;
    void *user;
    int64_t now_ms;
} StoreListing;

/* Damaged records are left out: one bad row must not hide the others. */
static bool list_row(void *user, const PtcStoreKey *key, const PtcStoreRow *row)
{
    StoreListing *l = user;
    PtcStored stored;
    if (ptc_store_row_is_over(row, l->now_ms) ||
        ptc_store_seal_check(&l->store->keys, key, row, false) != PTC_STORE_OK)
        return true;
    take_stored(row, &stored);
    return l->visit(l->user, key, &stored);
}

PtcStoreStatus ptc_store_list(PtcStore *s, const char *kind, PtcText owner,
                              const PtcStoreKey *after, size_t n, PtcStoreVisit *visit, void *user)
{
    int64_t begun = ptc_clock_ns(NULL);
    StoreListing l = {s, visit, user, ptc_store_now(s)};
    n = n < PTC_STORE_LISTED ? n : PTC_STORE_LISTED;
    return ptc_store_noted(s, PTC_STORE_OP_LIST,
                           s->driver->class->list(s->driver, kind, owner, after, n, list_row, &l),
                           begun);
}

PtcStoreStatus ptc_store_sum(PtcStore *s, const char *kind, size_t *count, size_t *bytes)
{
    int64_t begun = ptc_clock_ns(NULL);
    *count = *bytes = 0;
    return ptc_store_noted(s, PTC_STORE_OP_SUM,
                           s->driver->class->sum(s->driver, kind, (PtcText){NULL, 0}, count, bytes),
                           begun);
}

/* --------------------------------------------------------------------------------- writing */

/* A write with its seals, which point into it. */
typedef struct {
    PtcStoreWrite write;
    PtcStoreSeal seal, rest;
} SealedWrite;

static PtcText seal_text(const PtcStoreSeal *seal)
{
    return (PtcText){(const char *)seal->bytes, seal->len};
}

/* The store's time in microseconds; of two records of this node the later one has the higher version. */
static uint64_t first_version(PtcStore *s, int64_t now_ms)
{
    uint64_t last = atomic_load(&s->last_version), next;
    do
        next = (uint64_t)now_ms * (PTC_MS / PTC_US) > last ? (uint64_t)now_ms * (PTC_MS / PTC_US)
                                                           : last + 1;
    while (!atomic_compare_exchange_weak(&s->last_version, &last, next));
    return next;
}

static bool seal_write(PtcStore *s, const PtcStoreKey *key, const PtcStorePut *put, SealedWrite *w)
{
    int64_t now = ptc_store_now(s);
    bool whole = put->bytes.bytes || !put->expected;
    uint64_t first = put->expected ? 0 : first_version(s, now);
    w->write =
        (PtcStoreWrite){.expected = put->expected,
                        .row = {.version = !put->expected ? first : put->expected + whole,
                                .created_ms = now, /* for a new one */
                                .used_ms = put->used_ms,
                                .expires_ms = put->expires_ms,
                                .idle_ms = put->idle_ms ? put->idle_ms : PTC_STORE_NEVER,
                                .size = put->bytes.len,
                                .meta = put->meta.bytes ? put->meta : PTC_TEXT(""),
                                .bytes = whole && !put->bytes.bytes ? PTC_TEXT("") : put->bytes},
                        .bounds = put->bounds,
                        .guard = put->guard,
                        .guard_version = put->guard_version,
                        .release = put->release ? s->node : NULL,
                        .wakes = put->wakes,
                        .now_ms = now};
    PtcStoreRow *row = &w->write.row;
    ptc_store_seal_rest(&s->keys, key, row, &w->rest);
    row->rest_seal = seal_text(&w->rest);
    if (!whole)
        return true;
    if (!ptc_random_bytes(row->tag, sizeof row->tag))
        return false;
    ptc_store_seal_bytes(&s->keys, key, row, &w->seal);
    row->seal = seal_text(&w->seal);
    return true;
}

static void pause_resolving(void)
{
    nanosleep(&(struct timespec){.tv_nsec = RESOLVE_PAUSE_MS * PTC_MS}, NULL);
}

/* What became of a write whose answer was lost, if reading the record tells; UNKNOWN: it is to be sent again, BUSY:
 * it cannot be read now. */
static PtcStoreStatus look_for_write(PtcStore *s, const PtcStoreKey *key, const PtcStoreWrite *w,
                                     bool *again, uint64_t *there)
{
    PtcStored found;
    PtcStoreStatus status = get_record(s, key, NULL, &found, NULL);
    *again = false;
    if (status == PTC_STORE_ABSENT) {
        *again = !w->expected;
        return w->expected ? PTC_STORE_ABSENT : PTC_STORE_UNKNOWN;
    }
    if (status != PTC_STORE_OK)
        return status == PTC_STORE_FAILED || status == PTC_STORE_NO_MEMORY ? PTC_STORE_BUSY
                                                                           : status;
    *there = found.version;
    if (w->row.bytes.bytes && memcmp(found.tag, w->row.tag, sizeof found.tag) == 0)
        return PTC_STORE_OK;
    *again = w->expected && found.version == w->expected;
    if (*again || (w->expected && found.version > w->expected + 1))
        return PTC_STORE_UNKNOWN; /* with others after it, ours may have been in between */
    return PTC_STORE_CONFLICT;
}

/* Sends it again with the same tag, so that the first, if it still arrives, changes nothing. */
static PtcStoreStatus resolve_write(PtcStore *s, const PtcStoreKey *key, const PtcStoreWrite *w,
                                    uint64_t *there)
{
    int64_t until = ptc_clock_ns(NULL) + RESOLVE_MS * PTC_MS;
    PtcStoreStatus status = PTC_STORE_UNKNOWN;
    while (ptc_clock_ns(NULL) < until) {
        bool again;
        status = look_for_write(s, key, w, &again, there);
        if (again)
            status = s->driver->class->put(s->driver, key, w, there);
        else if (status != PTC_STORE_BUSY)
            return status;
        if (again && status != PTC_STORE_UNKNOWN && status != PTC_STORE_CONFLICT &&
            status != PTC_STORE_FAILED && status != PTC_STORE_BUSY)
            return status;
        pause_resolving();
    }
    return PTC_STORE_UNKNOWN;
}

static PtcStoreStatus put_record(PtcStore *s, const PtcStoreKey *key, const PtcStorePut *put,
                                 uint64_t *version)
{
    SealedWrite w;
    if (put->meta.len > PTC_STORE_META || put->bytes.len > PTC_STORE_BYTES || !is_key(key))
        return PTC_STORE_FULL;
    if (!seal_write(s, key, put, &w))
        return PTC_STORE_NO_MEMORY;
    PtcStoreStatus status = s->driver->class->put(s->driver, key, &w.write, version);
    if (status == PTC_STORE_UNKNOWN)
        status = resolve_write(s, key, &w.write, version);
    if (status == PTC_STORE_OK) {
        *version = w.write.row.version;
        if (put->wakes)
            ptc_store_woke(s);
    }
    return status;
}

PtcStoreStatus ptc_store_put(PtcStore *s, const PtcStoreKey *key, const PtcStorePut *put,
                             uint64_t *version)
{
    int64_t begun = ptc_clock_ns(NULL);
    *version = 0;
    return ptc_store_noted(s, PTC_STORE_OP_PUT, put_record(s, key, put, version), begun);
}

/* Done twice it is the same, so a lost answer is no matter: then it is gone. */
static PtcStoreStatus remove_record(PtcStore *s, const PtcStoreKey *key, uint64_t expected)
{
    PtcStoreStatus status = s->driver->class->remove(s->driver, key, expected);
    int64_t until = ptc_clock_ns(NULL) + RESOLVE_MS * PTC_MS;
    bool lost = status == PTC_STORE_UNKNOWN;
    while (
        lost && ptc_clock_ns(NULL) < until &&
        (status == PTC_STORE_UNKNOWN || status == PTC_STORE_FAILED || status == PTC_STORE_BUSY)) {
        pause_resolving();
        status = s->driver->class->remove(s->driver, key, expected);
    }
    if (lost && status == PTC_STORE_ABSENT)
        return PTC_STORE_OK;
    return lost && status != PTC_STORE_OK && status != PTC_STORE_CONFLICT ? PTC_STORE_UNKNOWN
                                                                          : status;
}

PtcStoreStatus ptc_store_remove(PtcStore *s, const PtcStoreKey *key, uint64_t expected)
{
    int64_t begun = ptc_clock_ns(NULL);
    if (!is_key(key))
        return PTC_STORE_ABSENT;
    return ptc_store_noted(s, PTC_STORE_OP_REMOVE, remove_record(s, key, expected), begun);
}

PtcStoreStatus ptc_store_expire(PtcStore *s, const char *kind, size_t n)
{
    int64_t begun = ptc_clock_ns(NULL);
    PtcStoreStatus status = s->driver->class->expire(s->driver, kind, ptc_store_now(s),
                                                     n < PTC_STORE_LISTED ? n : PTC_STORE_LISTED);
    return ptc_store_noted(s, PTC_STORE_OP_EXPIRE, status, begun);
}

PtcStoreStatus ptc_store_hold(PtcStore *s, const PtcStoreKey *key, const PtcStoreHold *hold)
{
    int64_t begun = ptc_clock_ns(NULL);
    PtcStoreClaim claim = claim_of(s, hold);
    if (!is_key(key))
        return PTC_STORE_HELD;
    PtcStoreStatus status = s->driver->class->hold(s->driver, key, &claim);
    return ptc_store_noted(s, hold->n ? PTC_STORE_OP_HOLD : PTC_STORE_OP_RELEASE,
                           status == PTC_STORE_UNKNOWN ? PTC_STORE_FAILED : status, begun);
}

/* ----------------------------------------------------------------------------------- telling */

PtcStoreStatus ptc_store_tell(PtcStore *s, PtcBuf *out)
{
    char id[PTC_STORE_KEY_ID];
    PtcBuf said;
    ptc_buf_init(&said, &s->mem, 16 * PTC_KB);
    PtcStoreStatus status = s->driver->class->tell(s->driver, &said, &s->durable);
    PtcText text = ptc_buf_view(&said);
    const char *end = text.len ? memchr(text.bytes, '\n', text.len) : NULL;
    size_t first = end ? (size_t)(end - text.bytes) : text.len;
    ptc_buf_add(out, text.bytes, first);
    if (s->keys.count) {
        ptc_store_key_id(&s->keys, 0, id);
        ptc_buf_addf(out, ", sealed with key %s", id);
    } else {
        ptc_buf_add_cstr(out, ", not sealed");
    }
    ptc_buf_add(out, text.bytes + first, text.len - first);
    ptc_buf_deinit(&said);
    return status == PTC_STORE_OK && !ptc_buf_ok(out) ? PTC_STORE_NO_MEMORY : status;
}
