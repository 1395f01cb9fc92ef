/* SPDX-License-Identifier: MIT
 * What is done to many records.  What always holds: they are listed first and changed then, a page at a time, because
 * an engine may not be used while it lists. */
#include "base/text/secret.h"
#include "store/store_hidden.h"
#include "store/store_int.h"

enum { MANY_KIND_LEN = 24, PAGE_BYTES = 4 * PTC_MB };

/* A page of keys, in bytes of their own: lengths, and then the texts. */
typedef struct {
    PtcBuf bytes;
    size_t count;
} KeyPage;

typedef struct {
    char kind[MANY_KIND_LEN];
    uint32_t owner_len, key_len;
} KeyHead;

static bool add_key(KeyPage *page, const PtcStoreKey *key)
{
    KeyHead head = {.owner_len = (uint32_t)key->owner.len, .key_len = (uint32_t)key->key.len};
    size_t kind_len = strlen(key->kind);
    if (kind_len >= sizeof head.kind)
        return true; /* no kind of ours */
    memcpy(head.kind, key->kind, kind_len);
    bool ok = ptc_buf_add(&page->bytes, &head, sizeof head) &&
              ptc_buf_add(&page->bytes, key->owner.bytes, key->owner.len) &&
              ptc_buf_add(&page->bytes, key->key.bytes, key->key.len);
    page->count += ok;
    return ok;
}

static bool page_row(void *user, const PtcStoreKey *key, const PtcStoreRow *row)
{
    (void)row;
    return add_key(user, key);
}

/* The next key of a page, from *at on; it points into the page and into *head. */
static bool next_key(const KeyPage *page, size_t *at, KeyHead *head, PtcStoreKey *key)
{
    if (page->bytes.len - *at < sizeof *head)
        return false;
    const char *from = page->bytes.data + *at;
    memcpy(head, from, sizeof *head);
    from += sizeof *head;
    *key =
        (PtcStoreKey){head->kind, {from, head->owner_len}, {from + head->owner_len, head->key_len}};
    *at += sizeof *head + head->owner_len + head->key_len;
    return true;
}

/* Does something to each record of an owner (absent: of all), of all kinds. */
typedef PtcStoreStatus EachRecord(PtcStore *store, const PtcStoreKey *key, size_t *count);

static PtcStoreStatus each_of_page(PtcStore *s, const KeyPage *page, EachRecord *each,
                                   size_t *count)
{
    PtcStoreStatus status = PTC_STORE_OK;
    PtcStoreKey key;
    KeyHead head;
    for (size_t at = 0; status == PTC_STORE_OK && next_key(page, &at, &head, &key);)
        status = each(s, &key, count);
    return status;
}

/* Pages begin behind the last key of the one before, so records that are added meanwhile do not keep it going. */
static PtcStoreStatus each_record(PtcStore *s, PtcText owner, EachRecord *each, size_t *count)
{
    KeyPage pages[2] = {{.count = 0}, {.count = 0}};
    KeyHead head;
    PtcStoreKey last;
    PtcStoreStatus status = PTC_STORE_OK;
    *count = 0;
    for (int i = 0; i < 2; i++)
        ptc_buf_init(&pages[i].bytes, &s->mem, PAGE_BYTES);
    for (unsigned turn = 0;; turn++) {
        KeyPage *page = &pages[turn % 2], *before = &pages[(turn + 1) % 2];
        bool follows = false;
        for (size_t at = 0; next_key(before, &at, &head, &last);)
            follows = true;
        ptc_buf_clear(&page->bytes);
        page->count = 0;
        status = s->driver->class->list(s->driver, NULL, owner, follows ? &last : NULL,
                                        PTC_STORE_LISTED, page_row, page);
        if (status == PTC_STORE_OK && !ptc_buf_ok(&page->bytes))
            status = PTC_STORE_NO_MEMORY;
        if (status == PTC_STORE_OK)
            status = each_of_page(s, page, each, count);
        if (status != PTC_STORE_OK || page->count == 0)
            break;
    }
    for (int i = 0; i < 2; i++)
        ptc_buf_deinit(&pages[i].bytes);
    return status;
}

/* But for what the store itself is: whoever uses it would be shut out. */
static PtcStoreStatus erase_one(PtcStore *s, const PtcStoreKey *key, size_t *count)
{
    if (strcmp(key->kind, "meta") == 0)
        return PTC_STORE_OK;
    PtcStoreStatus status = ptc_store_remove(s, key, 0);
    *count += status == PTC_STORE_OK;
    return status == PTC_STORE_ABSENT ? PTC_STORE_OK : status;
}

PtcStoreStatus ptc_store_erase(PtcStore *s, PtcText owner, size_t *count)
{
    return each_record(s, owner, erase_one, count);
}

typedef struct {
    PtcStoreKeys first; /* that key alone */
    bool sealed;        /* with it */
} SealLook;

static bool look_at_seals(void *user, const PtcStoreKey *key, const PtcStoreRow *row)
{
    SealLook *look = user;
    look->sealed = row->seal.len && row->seal.bytes[0] == PTC_STORE_FORMAT && row->rest_seal.len &&
                   row->rest_seal.bytes[0] == PTC_STORE_FORMAT &&
                   ptc_store_seal_check(&look->first, key, row, true) == PTC_STORE_OK;
    return false;
}

/* Its version would change, and whoever has read it would have to begin again: that is done once only. */
static bool has_first_seal(PtcStore *s, const PtcStoreKey *key)
{
    SealLook look = {.first = s->keys};
    look.first.count = s->keys.count ? 1 : 0;
    PtcStoreStatus status = s->driver->class->get(s->driver, key, NULL, true, look_at_seals, &look);
    ptc_secret_wipe(&look.first, sizeof look.first);
    return status == PTC_STORE_OK && look.sealed;
}

/* What is hidden with the other key would be lost with it. */
static PtcStoreStatus hide_anew(PtcStore *s, const char *kind, const PtcStored *stored,
                                PtcBuf *bytes)
{
    PtcBuf shown;
    if (!s->keys.count || !ptc_text_is((PtcText){stored->meta, stored->meta_len}, PTC_STORE_HIDDEN))
        return PTC_STORE_OK;
    ptc_buf_init(&shown, &s->mem, PTC_STORE_BYTES);
    PtcStoreStatus status = ptc_store_show(s, kind, ptc_buf_view(bytes), &shown);
    ptc_buf_clear(bytes);
    if (status == PTC_STORE_OK && !ptc_store_hide(s, kind, ptc_buf_view(&shown), bytes))
        status = PTC_STORE_NO_MEMORY;
    if (shown.data)
        ptc_secret_wipe(shown.data, shown.cap);
    ptc_buf_deinit(&shown);
    return status;
}

/* A record that is changed meanwhile is sealed with the new key by whoever changes it. */
static PtcStoreStatus reseal_one(PtcStore *s, const PtcStoreKey *key, size_t *count)
{
    PtcStored stored;
    PtcBuf bytes;
    uint64_t version;
    if (has_first_seal(s, key))
        return PTC_STORE_OK;
    ptc_buf_init(&bytes, &s->mem, PTC_STORE_BYTES);
    PtcStoreStatus status = ptc_store_get(s, key, NULL, &stored, &bytes);
    if (status == PTC_STORE_OK)
        status = hide_anew(s, key->kind, &stored, &bytes);
    if (status == PTC_STORE_OK) {
        PtcStorePut put = {.expected = stored.version,
                           .used_ms = stored.used_ms,
                           .expires_ms = stored.expires_ms,
                           .idle_ms = stored.idle_ms,
                           .meta = {stored.meta, stored.meta_len},
                           .bytes = bytes.len ? ptc_buf_view(&bytes) : PTC_TEXT("")};
        status = ptc_store_put(s, key, &put, &version);
        *count += status == PTC_STORE_OK && strcmp(key->kind, "meta") != 0; /* our own mark */
    }
    ptc_buf_deinit(&bytes);
    return status == PTC_STORE_ABSENT || status == PTC_STORE_CONFLICT ||
                   status == PTC_STORE_DAMAGED || status == PTC_STORE_NEWER
               ? PTC_STORE_OK
               : status;
}

PtcStoreStatus ptc_store_reseal(PtcStore *s, size_t *count)
{
    return each_record(s, (PtcText){NULL, 0}, reseal_one, count);
}

/* ---------------------------------------------------------------------------------- room */

/* What one owner has of a kind. */
typedef struct {
    size_t count, bytes;
    int64_t used_ms; /* of the oldest */
    uint64_t version;
    KeyPage oldest;
} OwnerShare;

/* Looking for what goes first: the oldest record of the owner who has the most. */
typedef struct {
    size_t count, bytes; /* of all owners */
    size_t unit;         /* what one record weighs beside its bytes */
    OwnerShare share, most;
    PtcBuf owner; /* whose records are being listed */
} RoomSearch;

static bool has_more(const OwnerShare *a, const OwnerShare *b, size_t unit)
{
    return a->bytes + a->count * unit > b->bytes + b->count * unit;
}

static void end_share(RoomSearch *r)
{
    if (has_more(&r->share, &r->most, r->unit)) {
        OwnerShare share = r->share;
        r->share = r->most;
        r->most = share;
    }
    r->share.count = r->share.bytes = 0;
}

static bool look_at_room(void *user, const PtcStoreKey *key, const PtcStored *stored)
{
    RoomSearch *r = user;
    OwnerShare *share = &r->share;
    if (!ptc_text_same(ptc_buf_view(&r->owner), key->owner)) {
        end_share(r);
        ptc_buf_clear(&r->owner);
        if (!ptc_buf_add(&r->owner, key->owner.bytes, key->owner.len))
            return false;
    }
    r->count++;
    r->bytes += stored->size;
    share->count++;
    share->bytes += stored->size;
    bool older = stored->used_ms < share->used_ms ||
                 (stored->used_ms == share->used_ms && stored->version < share->version);
    if (share->count > 1 && !older)
        return true;
    share->used_ms = stored->used_ms;
    share->version = stored->version;
    ptc_buf_clear(&share->oldest.bytes);
    return add_key(&share->oldest, key);
}

static bool fits(size_t have, size_t len, size_t most)
{
    return !most || (have <= most && len <= most - have);
}

/* Looks, and removes one record if there is no room yet (*enough). */
static PtcStoreStatus make_some_room(PtcStore *s, RoomSearch *r, const char *kind, PtcText owner,
                                     const PtcStoreBounds *b, size_t size, bool *enough)
{
    PtcStoreKey key;
    KeyHead head;
    size_t at = 0;
    PtcStoreStatus status = ptc_store_list(s, kind, owner, NULL, PTC_STORE_LISTED, look_at_room, r);
    end_share(r);
    *enough = fits(r->count, 1, owner.bytes ? b->owner_count : b->count) &&
              fits(r->bytes, size, owner.bytes ? b->owner_bytes : b->bytes);
    if (status != PTC_STORE_OK || *enough)
        return status;
    return next_key(&r->most.oldest, &at, &head, &key) ? ptc_store_remove(s, &key, 0)
                                                       : PTC_STORE_FULL;
}

PtcStoreStatus ptc_store_make_room(PtcStore *s, const char *kind, PtcText owner,
                                   const PtcStoreBounds *b, size_t size)
{
    size_t most = owner.bytes ? b->owner_bytes : b->bytes;
    PtcStoreStatus status = PTC_STORE_OK;
    bool enough = false;
    if (!fits(0, size, most))
        return PTC_STORE_FULL;
    for (int left = PTC_STORE_LISTED; left > 0 && !enough; left--) {
        RoomSearch r = {.unit = b->bytes && b->count ? b->bytes / b->count : 1};
        PtcBuf *bufs[] = {&r.share.oldest.bytes, &r.most.oldest.bytes, &r.owner};
        for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
            ptc_buf_init(bufs[i], &s->mem, 4 * PTC_STORE_NAME);
        status = make_some_room(s, &r, kind, owner, b, size, &enough);
        for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
            ptc_buf_deinit(bufs[i]);
        if (status != PTC_STORE_OK && status != PTC_STORE_ABSENT)
            break;
    }
    return status == PTC_STORE_OK && !enough ? PTC_STORE_FULL : status;
}
