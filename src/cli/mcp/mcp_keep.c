/* SPDX-License-Identifier: MIT
 * Sessions of the protocol in a store.  What always holds: the store has the digest of a session's id, not the id
 * itself, so that whoever reads the store cannot take over a session. */
#include "cli/mcp/mcp_keep.h"

#include "base/text/hmac.h"

static const char kind[] = "protocol";
static const int64_t IDLE_MS = (int64_t)PTC_HTTP_SESSION_IDLE_S * 1000;

static PtcStoreKey session_store_key(const char *owner, PtcText id,
                                     uint8_t digest[PTC_SHA256_BYTES])
{
    ptc_sha256(id.bytes, id.len, digest);
    return (PtcStoreKey){kind, ptc_text_cstr(owner), {(const char *)digest, PTC_SHA256_BYTES}};
}

/* A session that cannot be saved is lost with the process, as it would be without a store. */
static void save_mcp_session(void *user, const char *owner, PtcText id, PtcText bytes)
{
    PtcMcpKeep *k = user;
    uint8_t digest[PTC_SHA256_BYTES];
    PtcStored stored = {.version = 0};
    uint64_t version;
    PtcStoreKey key = session_store_key(owner, id, digest);
    PtcStoreStatus status = ptc_store_get(k->store, &key, NULL, &stored, NULL);
    PtcStorePut put = {.expected = status == PTC_STORE_OK ? stored.version : 0,
                       .used_ms = ptc_store_now(k->store),
                       .idle_ms = IDLE_MS,
                       .expires_ms = PTC_STORE_NEVER,
                       .meta = PTC_TEXT(""),
                       .bytes = bytes,
                       .bounds = {.count = k->max, .owner_count = k->max_of_owner}};
    if (status == PTC_STORE_OK || status == PTC_STORE_ABSENT)
        (void)!ptc_store_put(k->store, &key, &put, &version);
}

static bool load_mcp_session(void *user, const char *owner, PtcText id, PtcBuf *bytes)
{
    PtcMcpKeep *k = user;
    uint8_t digest[PTC_SHA256_BYTES];
    PtcStored stored;
    PtcStoreKey key = session_store_key(owner, id, digest);
    return ptc_store_get(k->store, &key, NULL, &stored, bytes) == PTC_STORE_OK;
}

static void forget_mcp_session(void *user, const char *owner, PtcText id)
{
    PtcMcpKeep *k = user;
    uint8_t digest[PTC_SHA256_BYTES];
    PtcStoreKey key = session_store_key(owner, id, digest);
    (void)!ptc_store_remove(k->store, &key, 0);
}

void ptc_mcp_keep_init(PtcMcpKeep *k, PtcStore *store, size_t max, unsigned owner_share)
{
    *k = (PtcMcpKeep){.keep = {save_mcp_session, load_mcp_session, forget_mcp_session, k},
                      .store = store,
                      .max = max,
                      .max_of_owner = (max * owner_share + 99) / 100};
}
