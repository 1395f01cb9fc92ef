/* SPDX-License-Identifier: MIT
 * Tasks as records of the kind `run`.  What always holds: what cannot be known to have been written counts as not
 * written, which the next look at the record sets right. */
#include "mcp/app/task_book.h"

enum {
    BOOK_RECORDS = 16384, /* one of a task, and one more until it has ended */
    BOOK_OWNER_RECORDS = 1024,
    BOOK_BYTES = 512 * PTC_MB,
    BOOK_OWNER_BYTES = 128 * PTC_MB,
};

static const char book_kind[] = "run";

static PtcMcpBookAnswer book_answer(PtcStoreStatus status)
{
    switch (status) {
    case PTC_STORE_OK: return PTC_MCP_BOOK_OK;
    case PTC_STORE_DAMAGED: /* it can never be read again */
    case PTC_STORE_ABSENT: return PTC_MCP_BOOK_ABSENT;
    case PTC_STORE_CONFLICT: return PTC_MCP_BOOK_CONFLICT;
    case PTC_STORE_FULL: return PTC_MCP_BOOK_FULL;
    default: return PTC_MCP_BOOK_FAILED;
    }
}

static PtcStoreKey book_key(const char *owner, const char *key)
{
    return (PtcStoreKey){book_kind, ptc_text_cstr(owner), ptc_text_cstr(key)};
}

static int64_t book_now(void *user)
{
    const PtcTaskBook *b = user;
    return ptc_store_now(b->store);
}

static PtcMcpBookAnswer book_get(void *user, const char *owner, const char *key, PtcBuf *bytes,
                                 uint64_t *version)
{
    PtcTaskBook *b = user;
    PtcStored stored;
    PtcStoreKey name = book_key(owner, key);
    PtcStoreStatus got = ptc_store_get(b->store, &name, NULL, &stored, bytes);
    if (got == PTC_STORE_OK)
        *version = stored.version;
    return book_answer(got);
}

/* What stays because it cannot be removed now goes when its time is over. */
static void book_remove(void *user, const char *owner, const char *key)
{
    PtcTaskBook *b = user;
    PtcStoreKey name = book_key(owner, key);
    (void)!ptc_store_remove(b->store, &name, 0);
}

static size_t book_share(const PtcTaskBook *b, size_t most, size_t of_owner)
{
    size_t share = most / 100 * b->share;
    return share < of_owner ? share : of_owner;
}

static PtcMcpBookAnswer book_put(void *user, const char *owner, const char *key, PtcText bytes,
                                 int64_t expires_ms, uint64_t *version)
{
    PtcTaskBook *b = user;
    PtcStoreKey name = book_key(owner, key);
    PtcStorePut put = {.expected = *version,
                       .used_ms = book_now(b),
                       .expires_ms = expires_ms,
                       .meta = PTC_TEXT(""),
                       .bytes = bytes,
                       .bounds = {.count = BOOK_RECORDS,
                                  .owner_count = book_share(b, BOOK_RECORDS, BOOK_OWNER_RECORDS),
                                  .bytes = BOOK_BYTES,
                                  .owner_bytes = book_share(b, BOOK_BYTES, BOOK_OWNER_BYTES)},
                       .wakes = true};
    return book_answer(ptc_store_put(b->store, &name, &put, version));
}

void ptc_task_book_init(PtcTaskBook *b, PtcStore *store, unsigned share)
{
    *b = (PtcTaskBook){.store = store, .share = share ? share : 100};
    b->book = (PtcMcpBook){.get = book_get,
                           .put = book_put,
                           .remove = book_remove,
                           .now_ms = book_now,
                           .shared = ptc_store_is_shared(store),
                           .user = b};
}
