/* SPDX-License-Identifier: MIT
 * Seals that clients hold for us.  What always holds: a seal is compared in constant time, and nothing of a text is
 * used before its seal was found to be right. */
#include "mcp/server/seal.h"

#include "base/text/base64.h"
#include "base/text/hmac.h"
#include "base/text/secret.h"

/* Context and payload are preceded by their lengths, so that bytes cannot move from one to the other. */
static void seal_mac(const unsigned char key[PTC_SEAL_KEY], const void *context, size_t context_len,
                     const void *payload, size_t payload_len, unsigned char out[PTC_SHA256_BYTES])
{
    uint64_t sizes[2] = {context_len, payload_len};
    PtcText parts[] = {
        {(const char *)&sizes[0], sizeof sizes[0]},
        {context, context_len},
        {(const char *)&sizes[1], sizeof sizes[1]},
        {payload, payload_len},
    };
    ptc_hmac_parts((PtcText){(const char *)key, PTC_SEAL_KEY}, parts, sizeof parts / sizeof *parts,
                   out);
}

bool ptc_seal_add(PtcBuf *buf, const unsigned char key[PTC_SEAL_KEY], const void *context,
                  size_t context_len, const void *payload, size_t payload_len)
{
    unsigned char mac[PTC_SHA256_BYTES];
    seal_mac(key, context, context_len, payload, payload_len, mac);
    /* Whole groups of three bytes first: 15 of the MAC, then its last byte with the payload. */
    PtcBuf rest;
    ptc_buf_init(&rest, buf->mem, buf->max);
    bool ok = ptc_buf_add(&rest, mac + 15, PTC_SEAL_MAC - 15) &&
              ptc_buf_add(&rest, payload, payload_len) && ptc_base64_add(buf, mac, 15, true) &&
              ptc_base64_add(buf, rest.data, rest.len, true);
    ptc_buf_deinit(&rest);
    return ok;
}

bool ptc_seal_open(PtcBuf *buf, const unsigned char key[PTC_SEAL_KEY], const void *context,
                   size_t context_len, const char *text, size_t len)
{
    unsigned char mac[PTC_SHA256_BYTES];
    PtcBuf raw;
    ptc_buf_init(&raw, buf->mem, len + PTC_SEAL_MAC);
    bool ok = ptc_base64_decode(&raw, text, len, true) && raw.len >= PTC_SEAL_MAC;
    if (ok) {
        seal_mac(key, context, context_len, raw.data + PTC_SEAL_MAC, raw.len - PTC_SEAL_MAC, mac);
        ok = ptc_secret_same(mac, raw.data, PTC_SEAL_MAC) &&
             ptc_buf_add(buf, raw.data + PTC_SEAL_MAC, raw.len - PTC_SEAL_MAC);
    }
    ptc_buf_deinit(&raw);
    return ok;
}
