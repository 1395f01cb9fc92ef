/* SPDX-License-Identifier: MIT
 * store_seal.h - seals of stored records: tags (HMAC-SHA256) that only the holder of the key can make, so that someone
 * who can write to a store but not read its key can neither change a record nor give it another owner or key or a
 * longer life.  An older state of a record can be put back, seals and all.  Records are not encrypted.
 *
 * The key is random, in a file beside the store that only its owner may read. */
#ifndef PTC_STORE_STORE_SEAL_H
#define PTC_STORE_STORE_SEAL_H

#include "base/text/hmac.h"
#include "base/why.h"
#include "store/store.h"

enum { PTC_STORE_KEY_BYTES = 32 };

typedef struct PtcStoreSeal {
    uint8_t tag[PTC_SHA256_BYTES];
} PtcStoreSeal;

/* Reads the key of the store at `path` from the file `path`.key.  With `make`, a missing file is created; processes
 * that do so at the same time all get the same key.  False with a text in why; *absent: there is no such file. */
PTC_MUST_USE bool ptc_store_key_read(const char *path, bool make, uint8_t key[PTC_STORE_KEY_BYTES],
                                     bool *absent, PtcWhy *why);

/* Seals a record's bytes, together with its kind, owner, key and version. */
void ptc_store_seal_bytes(const uint8_t key[PTC_STORE_KEY_BYTES], const PtcStoreKey *record,
                          uint64_t version, PtcText bytes, PtcStoreSeal *seal);
/* Seals what is kept beside the bytes and may change without them. */
void ptc_store_seal_rest(const uint8_t key[PTC_STORE_KEY_BYTES], const PtcStoreKey *record,
                         uint64_t version, const PtcStorePut *put, PtcStoreSeal *seal);
/* Is `found` this seal? */
bool ptc_store_seal_is(const PtcStoreSeal *seal, PtcText found);

#endif
