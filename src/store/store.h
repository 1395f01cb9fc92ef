/* SPDX-License-Identifier: MIT
 * store.h - records that outlive whoever wrote them, and that several processes may share: bytes by kind, owner and key.
 *
 * A record has a version, which counts the changes of its bytes.  Whoever changes one says which version it has read, and
 * is told when somebody else was there in between (PTC_STORE_CONFLICT) or has removed it for good (PTC_STORE_ABSENT): so
 * no change is lost and nothing comes back.  Times and a little text about the bytes (`meta`) are kept beside them and
 * can be read without them.
 *
 * A store is in memory (store_memory.c) or in a SQLite file (store_sqlite.c), where records are sealed (store_seal.h).  Any thread may use it at any time; no
 * function calls back while it holds a lock, but for those that say so. */
#ifndef PTC_STORE_STORE_H
#define PTC_STORE_STORE_H

#include "base/buf.h"
#include "base/text.h"

enum { PTC_STORE_META = 512 }; /* bytes that `meta` may have */

typedef struct PtcStore PtcStore;

typedef enum {
    PTC_STORE_OK,
    PTC_STORE_ABSENT,    /* there is no such record (any more) */
    PTC_STORE_CONFLICT,  /* it is there in another version */
    PTC_STORE_FULL,      /* a bound says no, or the buffer has not room enough */
    PTC_STORE_BUSY,      /* another process kept the store from us for too long */
    PTC_STORE_NO_MEMORY, /* nothing was done */
    PTC_STORE_DAMAGED,   /* somebody without the store's key has changed the record */
    PTC_STORE_FAILED, /* the store cannot be read or written; it has said why on standard error, once */
} PtcStoreStatus;

/* Which record.  Texts are borrowed, may hold any bytes, and are never absent. */
typedef struct PtcStoreKey {
    const char *kind; /* what users of one store keep apart, such as "session" */
    PtcText owner, key;
} PtcStoreKey;

/* What is known of a record without its bytes. */
typedef struct PtcStored {
    uint64_t version; /* from 1 */
    int64_t created_ms, used_ms, expires_ms;
    size_t size; /* of the bytes */
    size_t meta_len;
    char meta[PTC_STORE_META];
} PtcStored;

/* How much there may be of a kind; 0: no bound. */
typedef struct PtcStoreBounds {
    size_t count, owner_count; /* records in all, of one owner */
    size_t bytes, owner_bytes; /* of all together, of those of one owner */
} PtcStoreBounds;

static inline bool ptc_store_is_bounded(const PtcStoreBounds *b)
{
    return b->count || b->owner_count || b->bytes || b->owner_bytes;
}

/* A record to be written. */
typedef struct PtcStorePut {
    uint64_t expected; /* the version that was read; 0: it must be new */
    int64_t used_ms, expires_ms;
    PtcText meta;
    PtcText bytes; /* absent: they stay as they are, and so does the version */
    PtcStoreBounds bounds;
} PtcStorePut;

/* Called under a lock: it must not use the store. */
typedef bool PtcStoreVisit(void *user, const PtcStoreKey *key, const PtcStored *stored);

/* The functions of one kind of store; the wrappers below are how they are called. */
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

/* "sqlite:FILE", made where it is not there; NULL: in memory.  NULL with a text in why. */
PTC_MUST_USE PtcStore *ptc_store_open(const char *place, char *why, size_t size);

/* Could it be the name of a place? */
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

/* Writes a record, in one step or not at all; *version is the new one, on a conflict the one that is there.  A new one is
 * created at used_ms. */
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

/* Visits the records of an owner (absent: of all), in no order, until a visit returns false. */
static inline PTC_MUST_USE PtcStoreStatus ptc_store_list(PtcStore *store, const char *kind,
                                                         PtcText owner, PtcStoreVisit *visit,
                                                         void *user)
{
    return store->class->list(store, kind, owner, visit, user);
}

/* Removes the records whose time has come or that nobody has used for idle_ms, but those for which `spare` is true. */
static inline PTC_MUST_USE PtcStoreStatus ptc_store_expire(PtcStore *store, const char *kind,
                                                           int64_t now_ms, int64_t idle_ms,
                                                           PtcStoreVisit *spare, void *user)
{
    return store->class->expire(store, kind, now_ms, idle_ms, spare, user);
}

/* How many records of a kind there are, and their bytes. */
static inline PTC_MUST_USE PtcStoreStatus ptc_store_sum(PtcStore *store, const char *kind,
                                                        size_t *count, size_t *bytes)
{
    return store->class->sum(store, kind, count, bytes);
}

/* Has its time come?  (The one rule for it, used by all stores.) */
static inline bool ptc_stored_is_over(const PtcStored *stored, int64_t now_ms, int64_t idle_ms)
{
    return now_ms >= stored->expires_ms || now_ms - idle_ms >= stored->used_ms;
}

#endif
