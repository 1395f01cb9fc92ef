/* SPDX-License-Identifier: MIT
 * store_shelf.h - a shelf (base/os/shelf.h) in a store: each sheet is a record of its kind, owner and key.
 *
 * A secret sheet is encrypted with a key that is made from the store's (store_hidden.h), and not kept in a store that
 * has none; others are only sealed. */
#ifndef PTC_STORE_STORE_SHELF_H
#define PTC_STORE_STORE_SHELF_H

#include <pthread.h>

#include "base/os/shelf.h"
#include "store/store.h"

typedef struct PtcStoreShelf {
    PtcShelf shelf;
    PtcStore *store; /* borrowed; NULL: it was not initialised */
    /* It guards the list of sheets that threads of this process hold, for a moment. */
    pthread_mutex_t lock;
    PtcSheetLock *held;
} PtcStoreShelf;

void ptc_store_shelf_init(PtcStoreShelf *shelf, PtcStore *store);
/* Also one that is all zeros. */
void ptc_store_shelf_deinit(PtcStoreShelf *shelf);

#endif
