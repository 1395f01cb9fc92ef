/* SPDX-License-Identifier: MIT
 * store_int.h - what the files of the store share. */
#ifndef PTC_STORE_STORE_INT_H
#define PTC_STORE_STORE_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/driver.h"
#include "store/store_seal.h"

typedef enum {
    PTC_STORE_OP_GET,
    PTC_STORE_OP_PUT,
    PTC_STORE_OP_REMOVE,
    PTC_STORE_OP_LIST,
    PTC_STORE_OP_EXPIRE,
    PTC_STORE_OP_SUM,
    PTC_STORE_OP_HOLD,
    PTC_STORE_OP_RELEASE, /* a hold that ends */
    PTC_STORE_OPS
} PtcStoreOp;

typedef struct PtcStoreCount {
    _Atomic uint64_t times, ns;
} PtcStoreCount;

/* A hold that is renewed until it is let go. */
typedef struct PtcKeptHold PtcKeptHold;

struct PtcStore {
    PtcMem mem;
    PtcStoreDriver *driver;
    PtcStoreKeys keys;
    uint8_t node[PTC_STORE_NODE];
    int64_t timeout_ms;
    int64_t (*now_ms)(void *user); /* of tests; or NULL */
    void *now_user;
    void (*say)(void *user, const char *text); /* PtcStoreConfig.say */
    void *say_user;
    bool durable, is_new;
    /* how far the store's clock is ahead of this machine's monotonic one */
    _Atomic int64_t ahead_ms;
    _Atomic uint64_t last_version; /* that a new record of this node was given */
    PtcStoreCount counts[PTC_STORE_OPS][PTC_STORE_STATUSES];
    /* the state that /ready tells: of the last operation or probe */
    _Atomic bool failing;
    _Atomic bool told_of_seals;
    _Atomic int64_t keeping_ns; /* when the keeper asked the engine; 0: it was answered */
    _Atomic int64_t asked_ns,
        heard_ns; /* when it was asked for; when the engine last answered a write */
    /* It guards the rest: who waits, what is held, and the thread that looks after both.  Nothing else is taken
     * inside, and no engine is called with it. */
    pthread_mutex_t lock;
    pthread_cond_t woken;
    uint64_t wakes;
    PtcKeptHold *kept;
    pthread_t keeper;
    bool has_keeper, ends;
};

/* ---- store.c */
/* Counts an operation that began at begun_ns, and says so when the store stops or begins to work. */
PtcStoreStatus ptc_store_noted(PtcStore *store, PtcStoreOp op, PtcStoreStatus status,
                               int64_t begun_ns);
/* Asks the engine for its time. */
PtcStoreStatus ptc_store_ask_clock(PtcStore *store);

/* ---- store_keeper.c */
PTC_MUST_USE bool ptc_store_keeper_start(PtcStore *store);
void ptc_store_keeper_stop(PtcStore *store);
/* For drivers: some record has changed. */
void ptc_store_woke(void *store);

#endif
