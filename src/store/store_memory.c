/* SPDX-License-Identifier: MIT
 * Records in memory.  What always holds: everything that can fail is done before anything changes, so a record is
 * there whole or not at all. */
#include "store/store_memory.h"

#include <pthread.h>
#include <stdio.h>

#include "base/text/secret.h"
#include "value/str.h"

enum { STORE_BUCKETS = 1024 };

typedef struct Entry {
    struct Entry *next; /* in its bucket */
    const char *kind;   /* NUL-terminated, in `text` like the others */
    PtcText owner, key;
    PtcStored stored;
    char *bytes; /* a block of stored.size; NULL when that is 0 */
    size_t text_len;
    char text[];
} Entry;

typedef struct {
    PtcStore base;
    PtcMem mem;
    /* It guards the entries.  `visit` and `spare` are called under it and may take a lock of their owner; so
     * nobody calls a store while holding such a lock. */
    pthread_mutex_t lock;
    Entry *buckets[STORE_BUCKETS];
} Memory;

static Memory *as_memory_store(PtcStore *store)
{
    return (Memory *)(void *)store;
}

/* ---------------------------------------------------------------------------- entries */

/* Keys may come from outside, so the hash is seeded, and comparing takes the same time wherever two keys differ. */
static Entry **find_memory_entry(Memory *m, const PtcStoreKey *key)
{
    Entry **at = &m->buckets[ptc_str_hash_bytes(key->key.bytes, key->key.len) % STORE_BUCKETS];
    for (; *at; at = &(*at)->next)
        if ((*at)->key.len == key->key.len &&
            ptc_secret_same((*at)->key.bytes, key->key.bytes, key->key.len) &&
            ptc_text_same((*at)->owner, key->owner) && strcmp((*at)->kind, key->kind) == 0)
            break;
    return at;
}

static void free_memory_entry(Memory *m, Entry *e)
{
    ptc_mem_free(&m->mem, e->bytes, e->stored.size);
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
    e->kind = e->text;
    e->owner = (PtcText){e->text + kind_len, key->owner.len};
    e->key = (PtcText){e->owner.bytes + e->owner.len, key->key.len};
    return e;
}

/* ---------------------------------------------------------------------------- walking */

/* The next entry of a kind; start with *bucket 0 and `at` NULL. */
static Entry *next_entry_of_kind(Memory *m, const char *kind, size_t *bucket, Entry *at)
{
    for (at = at ? at->next : m->buckets[*bucket]; *bucket < STORE_BUCKETS;) {
        for (; at; at = at->next)
            if (strcmp(at->kind, kind) == 0)
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
static bool fits_memory_bounds(Memory *m, const PtcStoreKey *key, const PtcStorePut *put,
                               const Entry *old)
{
    const PtcStoreBounds *b = &put->bounds;
    size_t count = 0, own_count = 0, bytes = 0, own_bytes = 0, bucket = 0;
    if (!ptc_store_is_bounded(b))
        return true;
    for (Entry *e = NULL; (e = next_entry_of_kind(m, key->kind, &bucket, e));) {
        bool own = ptc_text_same(e->owner, key->owner);
        size_t size = e == old ? 0 : e->stored.size;
        count++;
        own_count += own;
        bytes += size;
        own_bytes += own ? size : 0;
    }
    bool room =
        old || (has_bound_room(count, 1, b->count) && has_bound_room(own_count, 1, b->owner_count));
    return room && has_bound_room(bytes, put->bytes.len, b->bytes) &&
           has_bound_room(own_bytes, put->bytes.len, b->owner_bytes);
}

/* -------------------------------------------------------------------------- operations */

static PtcStoreStatus get_from_memory(PtcStore *store, const PtcStoreKey *key, PtcStored *stored,
                                      PtcBuf *bytes)
{
    Memory *m = as_memory_store(store);
    PtcStoreStatus status = PTC_STORE_ABSENT;
    pthread_mutex_lock(&m->lock);
    const Entry *e = *find_memory_entry(m, key);
    if (e) {
        *stored = e->stored;
        bool copied = !bytes || ptc_buf_add(bytes, e->bytes, e->stored.size);
        status = copied ? PTC_STORE_OK : bytes->full ? PTC_STORE_FULL : PTC_STORE_NO_MEMORY;
    }
    pthread_mutex_unlock(&m->lock);
    return status;
}

/* Replaces the bytes of an entry; false: out of memory. */
static bool set_bytes(Memory *m, Entry *e, PtcText bytes)
{
    char *copy = NULL;
    if (bytes.len && !(copy = ptc_mem_alloc(&m->mem, bytes.len)))
        return false;
    if (copy)
        memcpy(copy, bytes.bytes, bytes.len);
    ptc_mem_free(&m->mem, e->bytes, e->stored.size);
    e->bytes = copy;
    e->stored.size = bytes.len;
    e->stored.version++;
    return true;
}

/* What may change without the bytes, so the version stays. */
static void set_rest(Entry *e, const PtcStorePut *put)
{
    e->stored.used_ms = put->used_ms;
    e->stored.expires_ms = put->expires_ms;
    e->stored.meta_len = put->meta.len;
    if (put->meta.len)
        memcpy(e->stored.meta, put->meta.bytes, put->meta.len);
}

static PtcStoreStatus add_memory_record(Memory *m, Entry **at, const PtcStoreKey *key,
                                        const PtcStorePut *put)
{
    if (!fits_memory_bounds(m, key, put, NULL))
        return PTC_STORE_FULL;
    Entry *e = new_memory_entry(m, key);
    if (e && !set_bytes(m, e, put->bytes)) {
        free_memory_entry(m, e);
        e = NULL;
    }
    if (!e)
        return PTC_STORE_NO_MEMORY;
    set_rest(e, put);
    e->stored.created_ms = put->used_ms;
    *at = e; /* at the end of its bucket */
    return PTC_STORE_OK;
}

static PtcStoreStatus change_memory_record(Memory *m, Entry *e, const PtcStoreKey *key,
                                           const PtcStorePut *put)
{
    if (put->bytes.bytes) {
        if (put->bytes.len > e->stored.size && !fits_memory_bounds(m, key, put, e))
            return PTC_STORE_FULL;
        if (!set_bytes(m, e, put->bytes))
            return PTC_STORE_NO_MEMORY;
    }
    set_rest(e, put);
    return PTC_STORE_OK;
}

/* Compares and changes under one lock, so a version that was right stays right. */
static PtcStoreStatus put_in_memory(PtcStore *store, const PtcStoreKey *key,
                                    const PtcStorePut *record, uint64_t *version)
{
    Memory *m = as_memory_store(store);
    PtcStoreStatus status;
    if (record->meta.len > PTC_STORE_META)
        return PTC_STORE_FULL;
    pthread_mutex_lock(&m->lock);
    Entry **at = find_memory_entry(m, key);
    uint64_t there = *at ? (*at)->stored.version : 0;
    if (there != record->expected)
        status = *at ? PTC_STORE_CONFLICT : PTC_STORE_ABSENT;
    else if (*at)
        status = change_memory_record(m, *at, key, record);
    else
        status = add_memory_record(m, at, key, record);
    *version = *at ? (*at)->stored.version : 0;
    pthread_mutex_unlock(&m->lock);
    return status;
}

static PtcStoreStatus remove_from_memory(PtcStore *store, const PtcStoreKey *key)
{
    Memory *m = as_memory_store(store);
    pthread_mutex_lock(&m->lock);
    Entry **at = find_memory_entry(m, key);
    bool there = *at != NULL;
    if (there)
        drop_memory_entry(m, at);
    pthread_mutex_unlock(&m->lock);
    return there ? PTC_STORE_OK : PTC_STORE_ABSENT;
}

static PtcStoreKey memory_entry_key(const Entry *e)
{
    return (PtcStoreKey){e->kind, e->owner, e->key};
}

static PtcStoreStatus list_memory(PtcStore *store, const char *kind, PtcText owner,
                                  PtcStoreVisit *visit, void *user)
{
    Memory *m = as_memory_store(store);
    size_t bucket = 0;
    bool more = true;
    pthread_mutex_lock(&m->lock);
    for (Entry *e = NULL; more && (e = next_entry_of_kind(m, kind, &bucket, e));) {
        PtcStoreKey key = memory_entry_key(e);
        more = (owner.bytes && !ptc_text_same(e->owner, owner)) || visit(user, &key, &e->stored);
    }
    pthread_mutex_unlock(&m->lock);
    return PTC_STORE_OK;
}

static bool is_memory_entry_over(Entry *e, const char *kind, int64_t now_ms, int64_t idle_ms,
                                 PtcStoreVisit *spare, void *user)
{
    PtcStoreKey key = memory_entry_key(e);
    return strcmp(e->kind, kind) == 0 && ptc_stored_is_over(&e->stored, now_ms, idle_ms) &&
           !(spare && spare(user, &key, &e->stored));
}

/* Walks the buckets itself, because records are removed on the way. */
static PtcStoreStatus expire_memory(PtcStore *store, const char *kind, int64_t now_ms,
                                    int64_t idle_ms, PtcStoreVisit *spare, void *user)
{
    Memory *m = as_memory_store(store);
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < STORE_BUCKETS; i++)
        for (Entry **at = &m->buckets[i]; *at;)
            if (is_memory_entry_over(*at, kind, now_ms, idle_ms, spare, user))
                drop_memory_entry(m, at);
            else
                at = &(*at)->next;
    pthread_mutex_unlock(&m->lock);
    return PTC_STORE_OK;
}

static PtcStoreStatus sum_memory(PtcStore *store, const char *kind, size_t *count, size_t *bytes)
{
    Memory *m = as_memory_store(store);
    size_t bucket = 0;
    *count = *bytes = 0;
    pthread_mutex_lock(&m->lock);
    for (Entry *e = NULL; (e = next_entry_of_kind(m, kind, &bucket, e)); ++*count)
        *bytes += e->stored.size;
    pthread_mutex_unlock(&m->lock);
    return PTC_STORE_OK;
}

/* -------------------------------------------------------------------------- life */

static void free_memory_store(PtcStore *store)
{
    Memory *m = as_memory_store(store);
    PtcMem mem;
    for (size_t i = 0; i < STORE_BUCKETS; i++)
        while (m->buckets[i])
            drop_memory_entry(m, &m->buckets[i]);
    pthread_mutex_destroy(&m->lock);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *m);
    ptc_mem_free(&mem, m, sizeof *m);
}

PtcStore *ptc_store_memory(PtcWhy *why)
{
    static const PtcStoreClass class = {get_from_memory,  put_in_memory, remove_from_memory,
                                        list_memory,      expire_memory, sum_memory,
                                        free_memory_store};
    PtcMem mem;
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
    return &m->base;
}
