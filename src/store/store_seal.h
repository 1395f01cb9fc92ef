/* SPDX-License-Identifier: MIT
 * store_seal.h - seals of stored records: tags (HMAC-SHA256) that only the holder of the key can make, so that someone
 * who can write to a store but not read its key can neither change a record nor give it another owner or key or a
 * longer life.  An older state of a record can be put back, seals and all.  Records are not encrypted.
 *
 * A key is 32 random bytes in a file that only its owner may read: the bytes themselves, or 64 hex digits on a line.
 * A file may have a second line while keys are changed: the first seals, both are accepted. */
#ifndef PTC_STORE_STORE_SEAL_H
#define PTC_STORE_STORE_SEAL_H

#include "base/text/hmac.h"
#include "base/why.h"
#include "store/driver.h"

enum {
    PTC_STORE_KEY_BYTES = 32,
    PTC_STORE_KEYS = 2,
    PTC_STORE_FORMAT = 1, /* of records */
    PTC_STORE_SEALED = 1 + PTC_SHA256_BYTES,
    PTC_STORE_KEY_ID = 5, /* four hex digits that tell keys apart */
};

typedef struct PtcStoreKeys {
    size_t count; /* 0: nothing is sealed */
    uint8_t key[PTC_STORE_KEYS][PTC_STORE_KEY_BYTES];
} PtcStoreKeys;

/* A seal begins with the format of the record; without a key that is all. */
typedef struct PtcStoreSeal {
    uint8_t bytes[PTC_STORE_SEALED];
    size_t len;
} PtcStoreSeal;

/* Reads the keys.  With `make`, a missing file is created; processes that do so at the same time all get the same
 * key.  False with a text in why; *absent: there is no such file. */
PTC_MUST_USE bool ptc_store_keys_read(const char *file, bool make, PtcStoreKeys *keys, bool *absent,
                                      PtcWhy *why);
void ptc_store_key_id(const PtcStoreKeys *keys, size_t nth, char id[PTC_STORE_KEY_ID]);

/* Seals a row's bytes, together with what the record is called and what does not change without them. */
void ptc_store_seal_bytes(const PtcStoreKeys *keys, const PtcStoreKey *record,
                          const PtcStoreRow *row, PtcStoreSeal *seal);
/* Seals what is kept beside the bytes and may change without them. */
void ptc_store_seal_rest(const PtcStoreKeys *keys, const PtcStoreKey *record,
                         const PtcStoreRow *row, PtcStoreSeal *seal);
/* Is the row as it was written?  `with_bytes`: its bytes too.  PTC_STORE_OK, DAMAGED or NEWER. */
PtcStoreStatus ptc_store_seal_check(const PtcStoreKeys *keys, const PtcStoreKey *record,
                                    const PtcStoreRow *row, bool with_bytes);

#endif
