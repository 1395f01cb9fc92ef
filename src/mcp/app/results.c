/* SPDX-License-Identifier: MIT
 * Large results, kept for a while.  What always holds: a result is only found by its owner.  A record begins with the
 * lengths of its parts. */
#include "mcp/app/results.h"

#include <stdio.h>
#include <time.h>

#include "base/text/base64.h"
#include "base/text/secret.h"
#include "base/utf8.h"

enum {
    RESULT_RANDOM_BYTES = 18,
    RESULT_MS = 30 * 60 * 1000,
    ROOM_TRIES = 64,
    ROOM_PAUSE_NS = 100000
};
static const char result_kind[] = "page";

/* The beginning of a record.  Servers of one store may have different byte orders, so it is text. */
enum { PART_DIGITS = 10, RESULT_HEAD = PTC_RESULT_PARTS * (PART_DIGITS + 1) };

/* ------------------------------------------------------------------------------------- keeping */

/* Random, so that a handle cannot be guessed; the owner is checked all the same. */
static bool make_result_handle(PtcMem *mem, char handle[PTC_RESULT_HANDLE])
{
    unsigned char random[RESULT_RANDOM_BYTES];
    PtcBuf text;
    ptc_buf_init(&text, mem, PTC_RESULT_HANDLE - 3);
    bool ok = ptc_random_bytes(random, sizeof random) &&
              ptc_base64_add(&text, random, sizeof random, true);
    if (ok)
        snprintf(handle, PTC_RESULT_HANDLE, "r-%.*s", PTC_ARG_OF(text.data, text.len));
    ptc_buf_deinit(&text);
    return ok;
}

static bool put_result_parts(PtcBuf *out, const PtcText parts[PTC_RESULT_PARTS])
{
    for (int i = 0; i < PTC_RESULT_PARTS; i++)
        ptc_buf_addf(out, "%*zu\n", PART_DIGITS, parts[i].len);
    for (int i = 0; i < PTC_RESULT_PARTS; i++)
        ptc_buf_add(out, parts[i].bytes, parts[i].len);
    return ptc_buf_ok(out);
}

/* Makes room among the owner's results and among those of all, in turn and many times, since others may take it. */
static PtcStoreStatus put_result(const PtcResults *r, const PtcStoreKey *key, PtcText bytes)
{
    const PtcText owners[] = {key->owner, {NULL, 0}};
    int64_t now = ptc_store_now(r->store);
    uint64_t version;
    PtcStorePut put = {
        .used_ms = now, .expires_ms = now + RESULT_MS, .bytes = bytes, .bounds = r->bounds};
    PtcStoreStatus status = ptc_store_put(r->store, key, &put, &version);
    for (size_t i = 0; status == PTC_STORE_FULL && i < ROOM_TRIES; i++) {
        status = ptc_store_make_room(r->store, key->kind, owners[i % 2], &r->bounds, bytes.len);
        if (status == PTC_STORE_OK)
            status = ptc_store_put(r->store, key, &put, &version);
        if (status == PTC_STORE_FULL) /* each in his own time, so that not all go on together */
            nanosleep(&(struct timespec){.tv_nsec = (long)(i % 8) * ROOM_PAUSE_NS}, NULL);
    }
    return status;
}

bool ptc_results_keep(const PtcResults *r, const char *owner, const PtcText parts[PTC_RESULT_PARTS],
                      char handle[PTC_RESULT_HANDLE])
{
    char made[PTC_RESULT_HANDLE];
    PtcBuf bytes;
    size_t most = r->bounds.owner_bytes < PTC_STORE_BYTES ? r->bounds.owner_bytes : PTC_STORE_BYTES;
    ptc_buf_init(&bytes, r->mem, most);
    bool kept = put_result_parts(&bytes, parts) && make_result_handle(r->mem, made);
    if (kept) {
        PtcStoreKey key = {result_kind, ptc_text_cstr(owner), ptc_text_cstr(made)};
        kept = put_result(r, &key, ptc_buf_view(&bytes)) == PTC_STORE_OK;
    }
    if (kept)
        memcpy(handle, made, sizeof made);
    ptc_buf_deinit(&bytes);
    return kept;
}

/* ------------------------------------------------------------------------------------- reading */

static uint64_t read_part_length(const char *digits)
{
    uint64_t n = 0;
    for (int i = 0; i < PART_DIGITS; i++)
        if (digits[i] != ' ')
            n = n * 10 + (uint64_t)(digits[i] - '0');
    return n;
}

/* The part of a record; empty: it has none.  False: the record was not written by put_result_parts. */
static bool find_part(PtcText record, PtcResultPart part, PtcText *found)
{
    *found = (PtcText){NULL, 0};
    if (record.len < RESULT_HEAD)
        return false;
    size_t at = RESULT_HEAD;
    for (int i = 0; i < PTC_RESULT_PARTS; i++) {
        uint64_t len = read_part_length(record.bytes + (size_t)i * (PART_DIGITS + 1));
        if (len > record.len - at)
            return false;
        if (i == (int)part)
            *found = (PtcText){record.bytes + at, (size_t)len};
        at += (size_t)len;
    }
    return true;
}

static bool inside_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Whole characters, so that every page is valid UTF-8. */
static PtcResultsStatus cut_page(PtcText part, size_t limit, PtcBuf *out, PtcResultPage *page)
{
    size_t offset = page->offset;
    while (offset > 0 && offset < part.len && inside_character(part.bytes[offset]))
        offset--;
    size_t n = part.len - offset < limit ? part.len - offset : limit;
    while (n > 0 && offset + n < part.len && inside_character(part.bytes[offset + n]))
        n--;
    page->total = part.len;
    page->offset = offset;
    page->next = offset + n;
    return ptc_buf_add(out, part.bytes + offset, n) ? PTC_RESULTS_OK : PTC_RESULTS_NO_MEMORY;
}

static PtcResultsStatus page_of(PtcText record, PtcResultPart part, size_t limit, PtcBuf *out,
                                PtcResultPage *page)
{
    PtcText text;
    if (!find_part(record, part, &text))
        return PTC_RESULTS_UNKNOWN;
    if (text.len == 0)
        return PTC_RESULTS_ABSENT;
    page->total = text.len;
    return text.len <= page->offset ? PTC_RESULTS_BEYOND
                                    : cut_page(text, limit < 4 ? 4 : limit, out, page);
}

PtcResultsStatus ptc_results_page(const PtcResults *r, const char *owner, PtcText handle,
                                  PtcResultPart part, size_t offset, size_t limit, PtcBuf *out,
                                  PtcResultPage *page)
{
    PtcStoreKey key = {result_kind, ptc_text_cstr(owner), handle};
    PtcStored stored;
    PtcBuf record;
    *page = (PtcResultPage){.offset = offset};
    ptc_buf_init(&record, r->mem, PTC_STORE_BYTES);
    PtcStoreStatus found = ptc_store_get(r->store, &key, NULL, &stored, &record);
    PtcResultsStatus status =
        found == PTC_STORE_OK          ? page_of(ptc_buf_view(&record), part, limit, out, page)
        : found == PTC_STORE_NO_MEMORY ? PTC_RESULTS_NO_MEMORY
        : found == PTC_STORE_ABSENT || found == PTC_STORE_DAMAGED ? PTC_RESULTS_UNKNOWN
                                                                  : PTC_RESULTS_FAILED;
    ptc_buf_deinit(&record);
    return status;
}
