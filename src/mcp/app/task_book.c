/* SPDX-License-Identifier: MIT
 * What always holds: a record whose time is over is absent, swept or not. */
#include "mcp/app/task_book.h"

#include <pthread.h>

enum {
    BOOK_SWEEP_MS = 30 * 1000,
    BOOK_RECORDS = 4096, /* two of a task */
    BOOK_OWNER_RECORDS = 256,
    BOOK_BYTES = 512 * PTC_MB,
    BOOK_OWNER_BYTES = 128 * PTC_MB,
};

static const char book_kind[] = "run";

static PtcMcpBookAnswer book_answer(PtcStoreStatus status)
{
    switch (status) {
    case PTC_STORE_OK: return PTC_MCP_BOOK_OK;
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
    (void)user;
    return ptc_clock_wall_ms();
}

static PtcMcpBookAnswer book_get(void *user, const char *owner, const char *key, PtcBuf *bytes,
                                 uint64_t *version)
{
    PtcTaskBook *b = user;
    PtcStored stored;
    PtcStoreKey name = book_key(owner, key);
    PtcStoreStatus got = ptc_store_get(b->store, &name, &stored, bytes);
    *version = stored.version;
    if (got == PTC_STORE_OK && stored.expires_ms <= book_now(b))
        return PTC_MCP_BOOK_ABSENT;
    return book_answer(got);
}

static void sweep_book(PtcTaskBook *b, int64_t now)
{
    pthread_mutex_lock(&b->lock);
    bool due = now >= b->sweep_ms;
    if (due)
        b->sweep_ms = now + BOOK_SWEEP_MS;
    pthread_mutex_unlock(&b->lock);
    if (due)
        (void)!ptc_store_expire(b->store, book_kind, now, INT64_MAX / 2, NULL, NULL);
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
    int64_t now = book_now(b);
    sweep_book(b, now);
    PtcStorePut put = {.expected = *version,
                       .used_ms = now,
                       .expires_ms = expires_ms,
                       .meta = PTC_TEXT(""),
                       .bytes = bytes,
                       .bounds = {.count = BOOK_RECORDS,
                                  .owner_count = book_share(b, BOOK_RECORDS, BOOK_OWNER_RECORDS),
                                  .bytes = BOOK_BYTES,
                                  .owner_bytes = book_share(b, BOOK_BYTES, BOOK_OWNER_BYTES)}};
    return book_answer(ptc_store_put(b->store, &name, &put, version));
}

bool ptc_task_book_init(PtcTaskBook *b, PtcStore *store, unsigned share, PtcWhy *why)
{
    *b = (PtcTaskBook){.store = store, .share = share ? share : 100};
    if (!store && !(b->store = b->own = ptc_store_open(NULL, why)))
        return false;
    pthread_mutex_init(&b->lock, NULL);
    b->book = (PtcMcpBook){book_get, book_put, book_now, b};
    return true;
}

void ptc_task_book_deinit(PtcTaskBook *b)
{
    if (!b->store)
        return;
    pthread_mutex_destroy(&b->lock);
    ptc_store_free(b->own);
    b->store = NULL;
}
