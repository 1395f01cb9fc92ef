/* SPDX-License-Identifier: MIT
 * store_hidden.h - bytes of records that nobody may read who can read the store: hidden by a stream that only the
 * holder of the store's key can make.  That nobody changed them is what the seal of their record says. */
#ifndef PTC_STORE_STORE_HIDDEN_H
#define PTC_STORE_STORE_HIDDEN_H

#include "store/store.h"

/* The meta of records whose bytes are hidden, so that they are hidden anew when the store's key is changed. */
#define PTC_STORE_HIDDEN "hidden"

/* Appends `text` as it is kept in records of the kind.  False: out of memory, or the store has no key. */
PTC_MUST_USE bool ptc_store_hide(PtcStore *store, const char *kind, PtcText text, PtcBuf *out);
/* Appends what was hidden.  PTC_STORE_DAMAGED: with another key, or it is not as it was written. */
PTC_MUST_USE PtcStoreStatus ptc_store_show(PtcStore *store, const char *kind, PtcText hidden,
                                           PtcBuf *out);

#endif
