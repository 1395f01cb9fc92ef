/* SPDX-License-Identifier: MIT
 * Records in memory, which end with the process.  What always holds: everything that can fail is done before anything
 * changes, so a record is there whole or not at all. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text/secret.h"
#include "store/driver.h"
#include "value/str.h"

enum { STORE_BUCKETS = 1024 };

typedef struct Entry {
    struct Entry *next; /* in its bucket */
    PtcStoreKey key;    /* in `text`; the kind ends with a NUL */
    PtcStoreRow row;    /* its texts are the blocks below */
    char meta[PTC_STORE_META], seal[PTC_STORE_SEAL_MOST], rest_seal[PTC_STORE_SEAL_MOST];
    char *bytes; /* a block of row.size; NULL when that is 0 */
    size_t text_len;
    char text[];
} Entry;

typedef struct {
    PtcStoreDriver base;
    PtcMem mem;
    /* It guards the entries; rows are taken under it, and whoever takes them must not use the store. */
    pthread_mutex_t lock;
    Entry *buckets[STORE_BUCKETS];
} Memory;

static Memory *as_memory_store(PtcStoreDriver *driver)
{
    return (Memory *)(void *)driver;
}

/* ---------------------------------------------------------------------------- entries */

/* Keys may come from outside, so the hash is seeded, and comparing takes the same time wherever two keys differ. */
static Entry **find_memory_entry(Memory *m, const PtcStoreKey *key)
{
    Entry **at = &m->buckets[ptc_str_hash_bytes(key->key.bytes, key->key.len) % STORE_BUCKETS];
    for (; *at; at = &(*at)->next)
        if ((*at)->key.key.len == key->key.len &&
            ptc_secret_same((*at)->key.key.bytes, key->key.bytes, key->key.len) &&
            ptc_text_same((*at)->key.owner, key->owner) && strcmp((*at)->key.kind, key->kind) == 0)
            break;
    return at;
}

static void free_memory_entry(Memory *m, Entry *e)
{
    ptc_mem_free(&m->mem, e->bytes, e->row.size);
    ptc_mem_free(&m->mem, e, sizeof *e + e->text_len);
}

static void drop_memory_entry(Memory *m, Entry **at)
{
    Entry *e = *at;
    *at = e->next;
    free_memory_entry(m, e);
}

static Entry *new_memory_entry(Memory *m, const PtcStoreKey *key)
{
    size_t kind_len = strlen(key->kind) + 1, len = kind_len + key->owner.len + key->key.len;
    Entry *e = ptc_mem_alloc(&m->mem, sizeof *e + len);
    if (!e)
        return NULL;
    *e = (Entry){.text_len = len};
    memcpy(e->text, key->kind, kind_len);
    memcpy(e->text + kind_len, key->owner.bytes, key->owner.len);
    memcpy(e->text + kind_len + key->owner.len, key->key.bytes, key->key.len);
    e->key = (PtcStoreKey){e->text,
                           {e->text + kind_len, key->owner.len},
                           {e->text + kind_len + key->owner.len, key->key.len}};
    return e;
}

/* ---------------------------------------------------------------------------- walking */

/* The next entry of a kind (NULL: of any); start with *bucket 0 and `at` NULL. */
static Entry *next_memory_entry(Memory *m, const char *kind, size_t *bucket, Entry *at)
{
    for (at = at ? at->next : m->buckets[*bucket]; *bucket < STORE_BUCKETS;) {
        for (; at; at = at->next)
            if (!kind || strcmp(at->key.kind, kind) == 0)
                return at;
        at = ++*bucket < STORE_BUCKETS ? m->buckets[*bucket] : NULL;
    }
    return NULL;
}

static bool has_bound_room(size_t have, size_t len, size_t most)
{
    return !most || (have <= most && len <= most - have);
}

/* Would the record fit, with its bytes in place of those of `old` (NULL: a new record)? */
static bool fits_memory_bounds(Memory *m, const PtcStoreKey *key, const PtcStoreWrite *w,
                               const Entry *old)
{
    const PtcStoreBounds *b = &w->bounds;
    size_t count = 0, own_count = 0, bytes = 0, own_bytes = 0, bucket = 0, len = w->row.bytes.len;
    if (!ptc_store_is_bounded(b))
        return true;
    for (Entry *e = NULL; (e = next_memory_entry(m, key->kind, &bucket, e));) {
        bool own = ptc_text_same(e->key.owner, key->owner);
        size_t size = e == old ? 0 : e->row.size;
        if (ptc_store_row_is_over(&e->row, w->now_ms))
            continue;
        count++;
        own_count += own;
        bytes += size;
        own_bytes += own ? size : 0;
    }
    bool room =
        old || (has_bound_room(count, 1, b->count) && has_bound_room(own_count, 1, b->owner_count));
    return room && has_bound_room(bytes, len, b->bytes) &&
           has_bound_room(own_bytes, len, b->owner_bytes);
}

/* -------------------------------------------------------------------------- operations */

/* There is one process, so nobody else can hold anything. */
static PtcStoreStatus get_from_memory(PtcStoreDriver *driver, const PtcStoreKey *key,
                                      const PtcStoreClaim *claim, bool with_bytes,
                                      PtcStoreTakeRow *take, void *user)
{
    Memory *m = as_memory_store(driver);
    (void)claim;
    pthread_mutex_lock(&m->lock);
    const Entry *e = *find_memory_entry(m, key);
    if (e) {
        PtcStoreRow row = e->row;
        if (!with_bytes)
            row.bytes = (PtcText){NULL, 0};
        take(user, key, &row);
    }
    pthread_mutex_unlock(&m->lock);
    return e ? PTC_STORE_OK : PTC_STORE_ABSENT;
}

static PtcText keep_short(char *room, size_t most, PtcText text)
{
    size_t len = text.len < most ? text.len : most;
    if (len)
        memcpy(room, text.bytes, len);
    return (PtcText){room, len};
}

/* Gives an entry what was written; false: out of memory. */
static bool write_entry(Memory *m, Entry *e, const PtcStoreRow *row)
{
    char *copy = NULL;
    PtcStoreRow *to = &e->row;
    if (row->bytes.len && !(copy = ptc_mem_alloc(&m->mem, row->bytes.len)))
        return false;
    if (row->bytes.bytes) {
        if (copy)
            memcpy(copy, row->bytes.bytes, row->bytes.len);
        ptc_mem_free(&m->mem, e->bytes, to->size);
        e->bytes = copy;
        to->bytes = (PtcText){copy ? copy : "", row->bytes.len};
        to->size = row->bytes.len;
        to->version = row->version;
        memcpy(to->tag, row->tag, sizeof to->tag);
        to->seal = keep_short(e->seal, sizeof e->seal, row->seal);
    }
    to->used_ms = row->used_ms;
    to->expires_ms = row->expires_ms;
    to->idle_ms = row->idle_ms;
    to->meta = keep_short(e->meta, sizeof e->meta, row->meta);
    to->rest_seal = keep_short(e->rest_seal, sizeof e->rest_seal, row->rest_seal);
    return true;
}

static PtcStoreStatus add_memory_record(Memory *m, Entry **at, const PtcStoreKey *key,
                                        const PtcStoreWrite *w)
{
    if (!fits_memory_bounds(m, key, w, NULL))
        return PTC_STORE_FULL;
    Entry *e = new_memory_entry(m, key);
    if (e && !write_entry(m, e, &w->row)) {
        free_memory_entry(m, e);
        e = NULL;
    }
    if (!e)
        return PTC_STORE_NO_MEMORY;
    e->row.created_ms = w->row.created_ms;
    *at = e; /* at the end of its bucket */
    return PTC_STORE_OK;
}

static PtcStoreStatus change_memory_record(Memory *m, Entry *e, const PtcStoreKey *key,
                                           const PtcStoreWrite *w)
{
    if (w->row.bytes.bytes && w->row.bytes.len > e->row.size && !fits_memory_bounds(m, key, w, e))
        return PTC_STORE_FULL;
    return write_entry(m, e, &w->row) ? PTC_STORE_OK : PTC_STORE_NO_MEMORY;
}

static bool is_guarded(Memory *m, const PtcStoreWrite *w)
{
    const Entry *guard = w->guard ? *find_memory_entry(m, w->guard) : NULL;
    return !w->guard || (guard && guard->row.version == w->guard_version);
}

static PtcStoreStatus put_locked(Memory *m, const PtcStoreKey *key, const PtcStoreWrite *w,
                                 uint64_t *there)
{
    if (!is_guarded(m, w))
        return PTC_STORE_FENCED;
    Entry **at = find_memory_entry(m, key);
    if (*at && ptc_store_row_is_over(&(*at)->row, w->now_ms))
        drop_memory_entry(m, at);
    /* dropping has moved the end of the bucket */
    at = find_memory_entry(m, key);
    *there = *at ? (*at)->row.version : 0;
    if (*there != w->expected)
        return *at ? PTC_STORE_CONFLICT : PTC_STORE_ABSENT;
    return *at ? change_memory_record(m, *at, key, w) : add_memory_record(m, at, key, w);
}

/* Compares and changes under one lock, so a version that was right stays right. */
static PtcStoreStatus put_in_memory(PtcStoreDriver *driver, const PtcStoreKey *key,
                                    const PtcStoreWrite *w, uint64_t *there)
{
    Memory *m = as_memory_store(driver);
    pthread_mutex_lock(&m->lock);
    PtcStoreStatus status = put_locked(m, key, w, there);
    pthread_mutex_unlock(&m->lock);
    return status;
}

static PtcStoreStatus remove_from_memory(PtcStoreDriver *driver, const PtcStoreKey *key,
                                         uint64_t expected)
{
    Memory *m = as_memory_store(driver);
    pthread_mutex_lock(&m->lock);
    Entry **at = find_memory_entry(m, key);
    PtcStoreStatus status = !*at                                         ? PTC_STORE_ABSENT
                            : expected && (*at)->row.version != expected ? PTC_STORE_CONFLICT
                                                                         : PTC_STORE_OK;
    if (status == PTC_STORE_OK)
        drop_memory_entry(m, at);
    pthread_mutex_unlock(&m->lock);
    return status;
}

static int compare_entries(const void *a, const void *b)
{
    return ptc_store_key_order(&(*(Entry *const *)a)->key, &(*(Entry *const *)b)->key);
}

/* Those that are wanted, in `found` if there is room for all; how many there are. */
static size_t find_listed(Memory *m, const char *kind, PtcText owner, const PtcStoreKey *after,
                          Entry **found, size_t room)
{
    size_t bucket = 0, n = 0;
    for (Entry *e = NULL; (e = next_memory_entry(m, kind, &bucket, e));) {
        if ((owner.bytes && !ptc_text_same(e->key.owner, owner)) ||
            (after && ptc_store_key_order(&e->key, after) <= 0))
            continue;
        if (n < room)
            found[n] = e;
        n++;
    }
    return n;
}

static PtcStoreStatus list_memory(PtcStoreDriver *driver, const char *kind, PtcText owner,
                                  const PtcStoreKey *after, size_t n, PtcStoreTakeRow *take,
                                  void *user)
{
    Memory *m = as_memory_store(driver);
    pthread_mutex_lock(&m->lock);
    size_t count = find_listed(m, kind, owner, after, NULL, 0);
    Entry **found = count ? ptc_mem_alloc(&m->mem, count * sizeof *found) : NULL;
    if (found) {
        find_listed(m, kind, owner, after, found, count);
        qsort(found, count, sizeof *found, compare_entries);
        for (size_t i = 0; i < count && i < n; i++)
            if (!take(user, &found[i]->key, &found[i]->row))
                break;
        ptc_mem_free(&m->mem, found, count * sizeof *found);
    }
    pthread_mutex_unlock(&m->lock);
    return count && !found ? PTC_STORE_NO_MEMORY : PTC_STORE_OK;
}

/* Walks the buckets itself, because records are removed on the way. */
static PtcStoreStatus expire_memory(PtcStoreDriver *driver, const char *kind, int64_t now_ms,
                                    size_t n)
{
    Memory *m = as_memory_store(driver);
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < STORE_BUCKETS && n; i++)
        for (Entry **at = &m->buckets[i]; *at && n;)
            if (strcmp((*at)->key.kind, kind) == 0 && ptc_store_row_is_over(&(*at)->row, now_ms)) {
                drop_memory_entry(m, at);
                n--;
            } else {
                at = &(*at)->next;
            }
    pthread_mutex_unlock(&m->lock);
    return PTC_STORE_OK;
}

static PtcStoreStatus sum_memory(PtcStoreDriver *driver, const char *kind, PtcText owner,
                                 size_t *count, size_t *bytes)
{
    Memory *m = as_memory_store(driver);
    size_t bucket = 0;
    *count = *bytes = 0;
    pthread_mutex_lock(&m->lock);
    for (Entry *e = NULL; (e = next_memory_entry(m, kind, &bucket, e));) {
        if (owner.bytes && !ptc_text_same(e->key.owner, owner))
            continue;
        ++*count;
        *bytes += e->row.size;
    }
    pthread_mutex_unlock(&m->lock);
    return PTC_STORE_OK;
}

static PtcStoreStatus hold_in_memory(PtcStoreDriver *driver, const PtcStoreKey *key,
                                     const PtcStoreClaim *claim)
{
    (void)driver;
    (void)key;
    return claim->n <= claim->most ? PTC_STORE_OK : PTC_STORE_HELD;
}

static PtcStoreStatus tell_memory(PtcStoreDriver *driver, PtcBuf *out, bool *durable)
{
    (void)driver;
    *durable = false;
    return ptc_buf_addf(out, "memory, schema %d", PTC_STORE_SCHEMA) ? PTC_STORE_OK
                                                                    : PTC_STORE_NO_MEMORY;
}

/* -------------------------------------------------------------------------- life */

static void free_memory_store(PtcStoreDriver *driver)
{
    Memory *m = as_memory_store(driver);
    PtcMem mem;
    for (size_t i = 0; i < STORE_BUCKETS; i++)
        while (m->buckets[i])
            drop_memory_entry(m, &m->buckets[i]);
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->base.trouble.lock);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *m);
    ptc_mem_free(&mem, m, sizeof *m);
}

PtcStoreDriver *ptc_store_memory(const PtcStoreOpening *opening, PtcWhy *why)
{
    static const PtcStoreDriverClass class = {
        "memory",           false,       get_from_memory, put_in_memory,
        remove_from_memory, list_memory, expire_memory,   sum_memory,
        hold_in_memory,     NULL,        tell_memory,     free_memory_store};
    PtcMem mem;
    (void)opening;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    Memory *m = ptc_mem_alloc(&mem, sizeof *m);
    if (!m) {
        ptc_why_no_memory(why);
        return NULL;
    }
    memset(m, 0, sizeof *m);
    m->base.class = &class;
    ptc_mem_init(&m->mem, PTC_UNBOUNDED);
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->base.trouble.lock, NULL);
    return &m->base;
}
