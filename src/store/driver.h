/* SPDX-License-Identifier: MIT
 * driver.h - what an engine does for a store.  A driver keeps rows whose bytes, seals and tags mean nothing to it; what
 * is the same for all engines is in store*.c.
 *
 * What a driver promises: each function is one step or nothing; it waits no longer than the time it was given; any
 * thread may call it; no message holds a password.  A write that was sent and whose answer was lost is
 * PTC_STORE_UNKNOWN; every other failure means that nothing was done. */
#ifndef PTC_STORE_DRIVER_H
#define PTC_STORE_DRIVER_H

#include <pthread.h>

#include "store/store.h"

enum { PTC_STORE_NODE = 16, PTC_STORE_SEAL_MOST = 64 };

/* A record as an engine keeps it. */
typedef struct PtcStoreRow {
    uint64_t version;
    uint8_t tag[PTC_STORE_TAG];
    int64_t created_ms, used_ms, expires_ms, idle_ms; /* idle_ms is never 0 */
    size_t size;
    PtcText meta, bytes, seal, rest_seal;
} PtcStoreRow;

typedef struct PtcStoreWrite {
    uint64_t expected;
    PtcStoreRow
        row; /* its version is the new one; bytes absent: times, meta and rest_seal alone are written */
    PtcStoreBounds bounds;
    const PtcStoreKey *guard; /* or NULL */
    uint64_t guard_version;
    const uint8_t *release; /* the node whose hold ends, or NULL */
    bool wakes;
    int64_t now_ms; /* for engines that have no clock of their own */
} PtcStoreWrite;

/* A hold as a driver sees it; the node is this process. */
typedef struct PtcStoreClaim {
    const uint8_t *node; /* PTC_STORE_NODE bytes */
    int64_t n, most, ms, now_ms;
} PtcStoreClaim;

/* Takes a row; what it points to is valid until it returns.  Called under a driver's lock, perhaps. */
typedef bool PtcStoreTakeRow(void *user, const PtcStoreKey *key, const PtcStoreRow *row);

/* What went wrong last, in words; any thread. */
typedef struct PtcStoreTrouble {
    pthread_mutex_t lock; /* guards the text, for a moment */
    char text[PTC_STORE_WHY];
} PtcStoreTrouble;

void ptc_store_trouble_say(PtcStoreTrouble *trouble, const char *format, ...) PTC_PRINTF(2, 3);

typedef struct PtcStoreDriver PtcStoreDriver;

typedef struct PtcStoreDriverClass {
    const char *name;
    bool shared;
    /* `with_bytes`: otherwise row->bytes is absent, and row->size says how many there are.  With a claim that another
     * node refuses: PTC_STORE_HELD. */
    PtcStoreStatus (*get)(PtcStoreDriver *driver, const PtcStoreKey *key,
                          const PtcStoreClaim *claim, bool with_bytes, PtcStoreTakeRow *take,
                          void *user);
    /* Over a record that has expired, a new one may be put.  *there: the version on a conflict. */
    PtcStoreStatus (*put)(PtcStoreDriver *driver, const PtcStoreKey *key,
                          const PtcStoreWrite *write, uint64_t *there);
    PtcStoreStatus (*remove)(PtcStoreDriver *driver, const PtcStoreKey *key, uint64_t expected);
    /* `kind` NULL: of all kinds.  `after` or NULL: by its owner and key. Without bytes. */
    PtcStoreStatus (*list)(PtcStoreDriver *driver, const char *kind, PtcText owner,
                           const PtcStoreKey *after, size_t n, PtcStoreTakeRow *take, void *user);
    PtcStoreStatus (*expire)(PtcStoreDriver *driver, const char *kind, int64_t now_ms, size_t n);
    PtcStoreStatus (*sum)(PtcStoreDriver *driver, const char *kind, PtcText owner, size_t *count,
                          size_t *bytes);
    /* Also a probe: it fails when the engine cannot be written. */
    PtcStoreStatus (*hold)(PtcStoreDriver *driver, const PtcStoreKey *key,
                           const PtcStoreClaim *claim);
    /* NULL: that of the machine. */
    PtcStoreStatus (*clock)(PtcStoreDriver *driver, int64_t *now_ms);
    /* "postgresql 15.3, schema 1", then a line for each thing that does not work; *durable: nothing acknowledged is
     * lost when the engine is killed, and nothing is pushed out. */
    PtcStoreStatus (*tell)(PtcStoreDriver *driver, PtcBuf *out, bool *durable);
    void (*free)(PtcStoreDriver *driver);
} PtcStoreDriverClass;

struct PtcStoreDriver {
    const PtcStoreDriverClass *class;
    PtcStoreTrouble trouble;
    /* Tells those who wait that some record has changed; any thread. */
    void (*woke)(void *user);
    void *woke_user;
};

/* What a driver is opened with. */
typedef struct PtcStoreOpening {
    const char *url; /* whole */
    int64_t timeout_ms;
    unsigned connections;
    bool upgrade;
    void (*woke)(void *user);
    void *woke_user;
} PtcStoreOpening;

/* Opens an engine and sets its schema up; NULL with a text in why. */
typedef PtcStoreDriver *PtcStoreDriverOpen(const PtcStoreOpening *opening, PtcWhy *why);

PtcStoreDriverOpen ptc_store_memory, ptc_store_sqlite, ptc_store_pg, ptc_store_redis;

/* The order of lists: below 0, 0 or above 0. */
int ptc_store_key_order(const PtcStoreKey *a, const PtcStoreKey *b);

/* The schema that this version of ptc reads and writes. */
enum { PTC_STORE_SCHEMA = 1 };

/* Has it ended?  All engines use this one rule. */
static inline bool ptc_store_row_is_over(const PtcStoreRow *row, int64_t now_ms)
{
    return now_ms >= row->expires_ms || now_ms - row->idle_ms >= row->used_ms;
}

#endif
