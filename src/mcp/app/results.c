/* SPDX-License-Identifier: MIT
 * Large results, kept for a while.  What always holds: there are never more of them, and never more bytes, than
 * allowed; a result is only found by its owner. */
#include "mcp/app/results.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text/base64.h"
#include "base/text/secret.h"
#include "base/utf8.h"

enum { RANDOM_BYTES = 18 };

typedef struct Kept {
    struct Kept *older;
    char handle[PTC_RESULT_HANDLE];
    char *owner;
    PtcText parts[PTC_RESULT_PARTS];
    size_t bytes;
} Kept;

struct PtcResults {
    PtcMem mem;
    size_t max_count, max_bytes;
    /* It guards everything below.  Calls take it to keep a result and to copy a page; no other lock is taken
     * inside. */
    pthread_mutex_t lock;
    Kept *newest;
    size_t count, bytes;
};

PtcResults *ptc_results_new(size_t max_count, size_t max_bytes)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcResults *r = ptc_mem_alloc(&mem, sizeof *r);
    if (!r)
        return NULL;
    memset(r, 0, sizeof *r);
    ptc_mem_init(&r->mem, PTC_UNBOUNDED);
    r->max_count = max_count;
    r->max_bytes = max_bytes;
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

static void free_kept(PtcResults *r, Kept *k)
{
    for (int i = 0; i < PTC_RESULT_PARTS; i++)
        ptc_mem_free(&r->mem, (char *)(uintptr_t)k->parts[i].bytes, k->parts[i].len);
    if (k->owner)
        ptc_mem_free(&r->mem, k->owner, strlen(k->owner) + 1);
    ptc_mem_free(&r->mem, k, sizeof *k);
}

void ptc_results_free(PtcResults *r)
{
    PtcMem mem;
    if (!r)
        return;
    while (r->newest) {
        Kept *k = r->newest;
        r->newest = k->older;
        free_kept(r, k);
    }
    pthread_mutex_destroy(&r->lock);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *r);
    ptc_mem_free(&mem, r, sizeof *r);
}

static bool copy_part(PtcResults *r, PtcText *to, PtcText from)
{
    if (!from.bytes || from.len == 0)
        return true;
    char *copy = ptc_mem_alloc(&r->mem, from.len);
    if (!copy)
        return false;
    memcpy(copy, from.bytes, from.len);
    *to = (PtcText){copy, from.len};
    return true;
}

/* Random, so that a handle cannot be guessed; the owner is checked all the same. */
static bool make_result_handle(PtcResults *r, char handle[PTC_RESULT_HANDLE])
{
    unsigned char random[RANDOM_BYTES];
    PtcBuf text;
    ptc_buf_init(&text, &r->mem, PTC_RESULT_HANDLE - 3);
    bool ok = ptc_random_bytes(random, sizeof random) &&
              ptc_base64_add(&text, random, sizeof random, true);
    if (ok)
        snprintf(handle, PTC_RESULT_HANDLE, "r-%.*s", PTC_ARG_OF(text.data, text.len));
    ptc_buf_deinit(&text);
    return ok;
}

static Kept *copy_result_parts(PtcResults *r, const char *owner,
                               const PtcText parts[PTC_RESULT_PARTS])
{
    size_t len = strlen(owner) + 1;
    Kept *k = ptc_mem_alloc(&r->mem, sizeof *k);
    if (!k)
        return NULL;
    memset(k, 0, sizeof *k);
    bool ok = (k->owner = ptc_mem_alloc(&r->mem, len)) != NULL;
    if (ok)
        memcpy(k->owner, owner, len);
    for (int i = 0; ok && i < PTC_RESULT_PARTS; i++) {
        ok = copy_part(r, &k->parts[i], parts[i]);
        k->bytes += k->parts[i].len;
    }
    if (ok && make_result_handle(r, k->handle))
        return k;
    free_kept(r, k);
    return NULL;
}

/* How much an owner has, in bytes or in number. */
static size_t count_owner_results(const PtcResults *r, const char *owner, bool in_bytes)
{
    size_t n = 0;
    for (const Kept *k = r->newest; k; k = k->older)
        if (strcmp(k->owner, owner) == 0)
            n += in_bytes ? k->bytes : 1;
    return n;
}

/* The oldest result of the owner who has the most: so nobody can push out what others keep by keeping more. */
static Kept **find_spare(PtcResults *r, bool in_bytes)
{
    Kept **spare = &r->newest;
    size_t most = 0;
    for (Kept **at = &r->newest; *at; at = &(*at)->older) {
        size_t n = count_owner_results(r, (*at)->owner, in_bytes);
        if (n < most)
            continue;
        most = n;
        spare = at;
    }
    return spare;
}

/* Drops results until there is room. */
static void shrink(PtcResults *r)
{
    while (r->newest && (r->count > r->max_count || r->bytes > r->max_bytes)) {
        Kept **at = find_spare(r, r->bytes > r->max_bytes), *old = *at;
        *at = old->older;
        r->count--;
        r->bytes -= old->bytes;
        free_kept(r, old);
    }
}

/* Copied before the lock is taken: results can be large, and others should not wait. */
bool ptc_results_keep(PtcResults *r, const char *owner, const PtcText parts[PTC_RESULT_PARTS],
                      char handle[PTC_RESULT_HANDLE])
{
    size_t bytes = 0;
    for (int i = 0; i < PTC_RESULT_PARTS; i++)
        bytes += parts[i].len;
    Kept *k = bytes <= r->max_bytes ? copy_result_parts(r, owner, parts) : NULL;
    if (!k)
        return false;
    memcpy(handle, k->handle, PTC_RESULT_HANDLE);
    pthread_mutex_lock(&r->lock);
    k->older = r->newest;
    r->newest = k;
    r->count++;
    r->bytes += k->bytes;
    shrink(r);
    pthread_mutex_unlock(&r->lock);
    return true;
}

static const Kept *find_kept_result(const PtcResults *r, const char *owner, PtcText handle)
{
    for (const Kept *k = r->newest; k; k = k->older)
        if (strlen(k->handle) == handle.len &&
            ptc_secret_same(k->handle, handle.bytes, handle.len) && strcmp(k->owner, owner) == 0)
            return k;
    return NULL;
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

PtcResultsStatus ptc_results_page(PtcResults *r, const char *owner, PtcText handle,
                                  PtcResultPart part, size_t offset, size_t limit, PtcBuf *out,
                                  PtcResultPage *page)
{
    PtcResultsStatus status;
    *page = (PtcResultPage){.offset = offset};
    pthread_mutex_lock(&r->lock);
    const Kept *k = find_kept_result(r, owner, handle);
    if (!k)
        status = PTC_RESULTS_UNKNOWN;
    else if (!k->parts[part].bytes)
        status = PTC_RESULTS_ABSENT;
    else if ((page->total = k->parts[part].len) <= offset)
        status = PTC_RESULTS_BEYOND;
    else
        status = cut_page(k->parts[part], limit < 4 ? 4 : limit, out, page);
    pthread_mutex_unlock(&r->lock);
    return status;
}
