/* SPDX-License-Identifier: MIT
 * store_pool.h - connections to an engine on the network.  One thread makes them, so that nobody waits longer than he
 * wants to, however long a name takes to be found.  While the engine cannot be reached it is tried again after
 * 100 ms, doubling to 4.5 s; in between everybody who wants a connection is refused at once, with the reason. */
#ifndef PTC_STORE_STORE_POOL_H
#define PTC_STORE_STORE_POOL_H

#include "store/driver.h"

enum { PTC_STORE_CONNECT_MS = 2000, PTC_STORE_POOL_MOST = 64 };

typedef struct PtcStorePool PtcStorePool;

/* What the pool does with a connection, which is any block of the driver's. */
typedef struct PtcStorePoolClass {
    /* Connects: the engine must have taken the connection until then.  Called on the pool's thread.  NULL with a
     * text in why: of the class PTC_WHY_REFUSED when it is of no use to try again at once, as with a wrong password. */
    void *(*connect)(void *user, int64_t until_ns, PtcWhy *why);
    void (*disconnect)(void *user, void *connection);
    /* Is one that nobody used for a while still connected?  Must not wait. */
    bool (*is_alive)(void *user, void *connection);
} PtcStorePoolClass;

/* At most `most` connections; the words of failures go to `trouble`.  NULL: no memory. */
PTC_MUST_USE PtcStorePool *ptc_store_pool_new(PtcMem *mem, const PtcStorePoolClass *class,
                                              void *user, unsigned most, PtcStoreTrouble *trouble);
/* Nobody may use it, or a connection of it, any more.  NULL is allowed. */
void ptc_store_pool_free(PtcStorePool *pool);
/* Waits for the first connection, trying again for so long, unless it is refused for good; an attempt that is under
 * way is waited for.  False with a text in why. */
PTC_MUST_USE bool ptc_store_pool_begin(PtcStorePool *pool, int64_t ms, PtcWhy *why);
/* A connection for the caller alone, the one that was used last if there is a choice: PTC_STORE_OK, or
 * PTC_STORE_FAILED or PTC_STORE_BUSY with words in the trouble. */
PTC_MUST_USE PtcStoreStatus ptc_store_pool_take(PtcStorePool *pool, int64_t until_ns,
                                                void **connection);
/* Gives it back.  `broken`: it is of no use any more, and so are probably those that nobody uses at the moment. */
void ptc_store_pool_give(PtcStorePool *pool, void *connection, bool broken);

#endif
