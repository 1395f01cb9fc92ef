/* SPDX-License-Identifier: MIT
 * store.h - records that outlive their writer and that several processes may share: bytes by kind, owner and key.
 *
 * A record has a version, which counts the changes of its bytes.  Whoever changes a record says which version it has
 * read, and is told when somebody else changed it in between (PTC_STORE_CONFLICT) or removed it for good
 * (PTC_STORE_ABSENT).  So no change is lost, and nothing that was removed comes back.  Times and a short text about
 * the bytes (`meta`) are kept beside them and can be read without them.
 *
 * A store is in memory (store_memory.c) or in a SQLite file (store_sqlite.c), where records are sealed
 * (store_seal.h).  Any thread may use it at any time; no function calls back while it holds a lock, except those
 * that say so. */
#ifndef PTC_STORE_STORE_H
#define PTC_STORE_STORE_H

#include "base/buf.h"
#include "base/text.h"
#include "base/why.h"

enum { PTC_STORE_META = 512 }; /* the most bytes `meta` may have */

typedef struct PtcStore PtcStore;

typedef enum {
    PTC_STORE_OK,
    PTC_STORE_ABSENT,    /* no such record, or no longer */
    PTC_STORE_CONFLICT,  /* it exists, but in another version */
    PTC_STORE_FULL,      /* a bound was reached, or the buffer is too small */
    PTC_STORE_BUSY,      /* another process held the store for too long */
    PTC_STORE_NO_MEMORY, /* nothing was done */
    PTC_STORE_DAMAGED,   /* somebody without the store's key changed the record */
    PTC_STORE_FAILED, /* the store cannot be read or written; it said why on standard error, once */
} PtcStoreStatus;

/* Names a record.  The texts are borrowed, may hold any bytes, and are never absent. */
typedef struct PtcStoreKey {
    const char *kind; /* keeps the users of one store apart, such as "session" */
    PtcText owner, key;
} PtcStoreKey;

/* What is known about a record without its bytes. */
typedef struct PtcStored {
    uint64_t version; /* from 1 */
    int64_t created_ms, used_ms, expires_ms;
    size_t size; /* of the bytes */
    size_t meta_len;
    char meta[PTC_STORE_META];
} PtcStored;

/* How much there may be of one kind; 0: unlimited. */
typedef struct PtcStoreBounds {
    size_t count, owner_count; /* records in all, of one owner */
    size_t bytes, owner_bytes; /* of all records together, of those of one owner */
} PtcStoreBounds;

static inline bool ptc_store_is_bounded(const PtcStoreBounds *b)
{
    return b->count || b->owner_count || b->bytes || b->owner_bytes;
}

/* A record to write. */
typedef struct PtcStorePut {
    uint64_t expected; /* the version that was read; 0: the record must be new */
    int64_t used_ms, expires_ms;
    PtcText meta;
    PtcText bytes; /* absent: bytes and version stay as they are */
    PtcStoreBounds bounds;
} PtcStorePut;

/* Called with the lock held, so it must not use the store. */
typedef bool PtcStoreVisit(void *user, const PtcStoreKey *key, const PtcStored *stored);

/* The functions of one kind of store; call them through the wrappers below. */
typedef struct PtcStoreClass {
    PtcStoreStatus (*get)(PtcStore *store, const PtcStoreKey *key, PtcStored *stored,
                          PtcBuf *bytes);
    PtcStoreStatus (*put)(PtcStore *store, const PtcStoreKey *key, const PtcStorePut *put,
                          uint64_t *version);
    PtcStoreStatus (*remove)(PtcStore *store, const PtcStoreKey *key);
    PtcStoreStatus (*list)(PtcStore *store, const char *kind, PtcText owner, PtcStoreVisit *visit,
                           void *user);
    PtcStoreStatus (*expire)(PtcStore *store, const char *kind, int64_t now_ms, int64_t idle_ms,
                             PtcStoreVisit *spare, void *user);
    PtcStoreStatus (*sum)(PtcStore *store, const char *kind, size_t *count, size_t *bytes);
    void (*free)(PtcStore *store);
} PtcStoreClass;

struct PtcStore {
    const PtcStoreClass *class;
};

/* Opens "sqlite:FILE", creating it if needed; place NULL: a store in memory.  NULL with a text in why. */
PTC_MUST_USE PtcStore *ptc_store_open(const char *place, PtcWhy *why);

/* Does it have the form of a place? */
bool ptc_store_is_place(const char *place);

static inline void ptc_store_free(PtcStore *store)
{
    if (store)
        store->class->free(store);
}

/* Reads a record; the bytes are appended to `bytes` unless that is NULL. */
static inline PTC_MUST_USE PtcStoreStatus ptc_store_get(PtcStore *store, const PtcStoreKey *key,
                                                        PtcStored *stored, PtcBuf *bytes)
{
    return store->class->get(store, key, stored, bytes);
}

/* Writes a record in one step or not at all.  *version becomes the new one, or on a conflict the one that is there.
 * A new record counts as created at used_ms. */
static inline PTC_MUST_USE PtcStoreStatus ptc_store_put(PtcStore *store, const PtcStoreKey *key,
                                                        const PtcStorePut *put, uint64_t *version)
{
    return store->class->put(store, key, put, version);
}

/* Removes a record whatever its version: nobody who has read it can write it any more. */
static inline PTC_MUST_USE PtcStoreStatus ptc_store_remove(PtcStore *store, const PtcStoreKey *key)
{
    return store->class->remove(store, key);
}

/* Visits the records of an owner (absent: of everyone), in no particular order, until a visit returns false. */
static inline PTC_MUST_USE PtcStoreStatus ptc_store_list(PtcStore *store, const char *kind,
                                                         PtcText owner, PtcStoreVisit *visit,
                                                         void *user)
{
    return store->class->list(store, kind, owner, visit, user);
}

/* Removes the records that have expired or that nobody has used for idle_ms, except those for which `spare` returns
 * true. */
static inline PTC_MUST_USE PtcStoreStatus ptc_store_expire(PtcStore *store, const char *kind,
                                                           int64_t now_ms, int64_t idle_ms,
                                                           PtcStoreVisit *spare, void *user)
{
    return store->class->expire(store, kind, now_ms, idle_ms, spare, user);
}

/* Counts the records of a kind and their bytes. */
static inline PTC_MUST_USE PtcStoreStatus ptc_store_sum(PtcStore *store, const char *kind,
                                                        size_t *count, size_t *bytes)
{
    return store->class->sum(store, kind, count, bytes);
}

/* Has it expired?  All stores use this one rule. */
static inline bool ptc_stored_is_over(const PtcStored *stored, int64_t now_ms, int64_t idle_ms)
{
    return now_ms >= stored->expires_ms || now_ms - idle_ms >= stored->used_ms;
}

#endif
