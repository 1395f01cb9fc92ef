/* SPDX-License-Identifier: MIT
 * Secrets that all users of a store share.  What always holds: of several that make one at the same time the first
 * wins, and all get that. */
#include <string.h>

#include "base/text/secret.h"
#include "store/store_int.h"

static PtcStoreStatus read_secret(PtcStore *s, const PtcStoreKey *key,
                                  uint8_t bytes[PTC_STORE_SECRET])
{
    PtcStored stored;
    PtcBuf found;
    ptc_buf_init(&found, &s->mem, PTC_STORE_SECRET);
    PtcStoreStatus status = ptc_store_get(s, key, NULL, &stored, &found);
    if (status == PTC_STORE_OK && found.len != PTC_STORE_SECRET)
        status = PTC_STORE_DAMAGED;
    if (status == PTC_STORE_OK)
        memcpy(bytes, found.data, PTC_STORE_SECRET);
    ptc_buf_deinit(&found);
    return status;
}

static PtcStoreStatus make_secret(PtcStore *s, const PtcStoreKey *key,
                                  uint8_t bytes[PTC_STORE_SECRET])
{
    uint64_t version;
    const PtcStorePut put = {.used_ms = ptc_store_now(s),
                             .expires_ms = PTC_STORE_NEVER,
                             .bytes = {(const char *)bytes, PTC_STORE_SECRET}};
    if (!ptc_random_bytes(bytes, PTC_STORE_SECRET))
        return PTC_STORE_NO_MEMORY;
    return ptc_store_put(s, key, &put, &version);
}

bool ptc_store_secret(PtcStore *s, const char *name, uint8_t bytes[PTC_STORE_SECRET], PtcWhy *why)
{
    char text[PTC_STORE_WHY];
    const PtcStoreKey key = {"meta", PTC_TEXT("-"), ptc_text_cstr(name)};
    PtcStoreStatus status = read_secret(s, &key, bytes);
    if (status == PTC_STORE_ABSENT)
        status = make_secret(s, &key, bytes);
    if (status == PTC_STORE_CONFLICT)
        status = read_secret(s, &key, bytes);
    if (status == PTC_STORE_OK)
        return true;
    if (status == PTC_STORE_DAMAGED)
        return ptc_why_say(why, PTC_WHY_INVALID, "its secret \"%s\" was changed by somebody", name);
    ptc_store_why(s, text);
    return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s", text);
}
