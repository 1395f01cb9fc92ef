/* SPDX-License-Identifier: MIT
 * Hidden bytes: the id of the store's key, 32 random bytes, then the text.  Its n-th 32 bytes are hidden by the tag of
 * the random bytes and n, under a key that is made from the store's for this kind.  What always holds: no stream is
 * used twice, since each text has random bytes of its own. */
#include "store/store_hidden.h"

#include "base/text/secret.h"
#include "store/store_int.h"

enum {
    NONCE_BYTES = 32,
    KEY_ID_BYTES = PTC_STORE_KEY_ID - 1,
    HIDDEN_HEAD = KEY_ID_BYTES + NONCE_BYTES
};

/* Hides or shows. */
static void hide_bytes(const PtcStore *store, size_t nth, const char *kind, const char *nonce,
                       char *bytes, size_t len)
{
    uint8_t key[PTC_SHA256_BYTES], stream[PTC_SHA256_BYTES], number[8];
    const PtcText purpose[] = {PTC_TEXT("hide "), ptc_text_cstr(kind)};
    ptc_hmac_parts((PtcText){(const char *)store->keys.key[nth], PTC_STORE_KEY_BYTES}, purpose, 2,
                   key);
    for (size_t at = 0; at < len; at += sizeof stream) {
        for (unsigned i = 0; i < sizeof number; i++)
            number[i] = (uint8_t)((uint64_t)(at / sizeof stream) >> (8 * i));
        const PtcText parts[] = {{nonce, NONCE_BYTES}, {(const char *)number, sizeof number}};
        ptc_hmac_parts((PtcText){(const char *)key, sizeof key}, parts, 2, stream);
        for (size_t i = 0; i < sizeof stream && at + i < len; i++)
            bytes[at + i] = (char)((uint8_t)bytes[at + i] ^ stream[i]);
    }
    ptc_secret_wipe(stream, sizeof stream);
    ptc_secret_wipe(key, sizeof key);
}

bool ptc_store_hide(PtcStore *store, const char *kind, PtcText text, PtcBuf *out)
{
    char id[PTC_STORE_KEY_ID];
    uint8_t nonce[NONCE_BYTES];
    size_t before = out->len;
    if (!store->keys.count || !ptc_random_bytes(nonce, sizeof nonce))
        return false;
    ptc_store_key_id(&store->keys, 0, id);
    bool ok = ptc_buf_add(out, id, KEY_ID_BYTES) && ptc_buf_add(out, nonce, sizeof nonce) &&
              ptc_buf_add(out, text.bytes, text.len);
    if (ok)
        hide_bytes(store, 0, kind, (const char *)nonce, out->data + before + HIDDEN_HEAD, text.len);
    return ok;
}

PtcStoreStatus ptc_store_show(PtcStore *store, const char *kind, PtcText hidden, PtcBuf *out)
{
    char id[PTC_STORE_KEY_ID];
    if (hidden.len < HIDDEN_HEAD)
        return PTC_STORE_DAMAGED;
    for (size_t i = 0; i < store->keys.count; i++) {
        ptc_store_key_id(&store->keys, i, id);
        if (memcmp(id, hidden.bytes, KEY_ID_BYTES) != 0)
            continue;
        size_t len = hidden.len - HIDDEN_HEAD, before = out->len;
        if (!ptc_buf_add(out, hidden.bytes + HIDDEN_HEAD, len))
            return out->full ? PTC_STORE_FULL : PTC_STORE_NO_MEMORY;
        hide_bytes(store, i, kind, hidden.bytes + KEY_ID_BYTES, out->data + before, len);
        return PTC_STORE_OK;
    }
    return PTC_STORE_DAMAGED;
}
