/* SPDX-License-Identifier: MIT
 * Sheets as records.  What always holds: a record is written over the version that was read and no other, so of two
 * nodes that change a sheet at once the second begins again; a secret is never in a record as it is. */
#include "store/store_shelf.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/budget.h"
#include "store/store_hidden.h"
#include "store/store_int.h"

enum { SHEET_HOLD_MS = 5000, SHEET_STEP_MS = 50 };

static PtcStoreKey key_of_sheet(const PtcSheet *sheet)
{
    return (PtcStoreKey){sheet->kind, sheet->owner, sheet->key};
}

static PtcSheetMark mark_of_version(uint64_t version)
{
    return (PtcSheetMark){{version}};
}

static PtcSheetStatus fail_sheet(PtcStore *store, PtcStoreStatus status, PtcWhy *why)
{
    char text[PTC_STORE_WHY];
    ptc_store_why(store, text);
    errno = EIO;
    if (status == PTC_STORE_NO_MEMORY) {
        errno = ENOMEM;
        ptc_why_no_memory(why);
    } else if (status == PTC_STORE_DAMAGED) {
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "the record was changed by someone without the key");
    } else if (status == PTC_STORE_NEWER) {
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "written by a newer ptc");
    } else if (status == PTC_STORE_FULL) {
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "it would be too large");
    } else {
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "the store: %s",
                    text[0] ? text : "it does not answer");
    }
    return PTC_SHEET_FAILED;
}

/* ------------------------------------------------------------------------------------ sheets */

static bool is_hidden_record(const PtcStored *stored)
{
    return ptc_text_is((PtcText){stored->meta, stored->meta_len}, PTC_STORE_HIDDEN);
}

/* What a secret sheet has is of no use unless it is hidden, and the other way round. */
static PtcStoreStatus take_hidden(PtcStore *store, const PtcSheet *sheet, const PtcStored *stored,
                                  PtcBuf *bytes, PtcBuf *out)
{
    if (!is_hidden_record(stored))
        return PTC_STORE_DAMAGED;
    return ptc_store_show(store, sheet->kind, ptc_buf_view(bytes), out);
}

static PtcSheetStatus read_record_sheet(PtcShelf *shelf, const PtcSheet *sheet, PtcBuf *out,
                                        PtcSheetMark *mark, PtcWhy *why)
{
    PtcStore *store = ((PtcStoreShelf *)shelf)->store;
    PtcStoreKey key = key_of_sheet(sheet);
    PtcStored stored;
    PtcBuf bytes;
    ptc_buf_init(&bytes, out->mem, PTC_STORE_BYTES);
    *mark = (PtcSheetMark){{0}};
    PtcStoreStatus status = ptc_store_get(store, &key, NULL, &stored, sheet->secret ? &bytes : out);
    if (status == PTC_STORE_OK && sheet->secret)
        status = take_hidden(store, sheet, &stored, &bytes, out);
    ptc_buf_deinit(&bytes);
    if (status == PTC_STORE_ABSENT)
        return PTC_SHEET_ABSENT;
    if (status != PTC_STORE_OK)
        return fail_sheet(store, status, why);
    *mark = mark_of_version(stored.version);
    return PTC_SHEET_OK;
}

static bool look_at_record(PtcShelf *shelf, const PtcSheet *sheet, PtcSheetMark *mark)
{
    PtcStoreKey key = key_of_sheet(sheet);
    PtcStored stored;
    PtcStoreStatus status =
        ptc_store_get(((PtcStoreShelf *)shelf)->store, &key, NULL, &stored, NULL);
    *mark = mark_of_version(status == PTC_STORE_OK ? stored.version : 0);
    return status == PTC_STORE_OK || status == PTC_STORE_ABSENT;
}

static PtcSheetStatus put_sheet(PtcStore *store, const PtcSheet *sheet, PtcText bytes,
                                const PtcSheetWrite *how, PtcSheetMark *mark, PtcWhy *why)
{
    uint64_t version;
    PtcStoreKey key = key_of_sheet(sheet);
    const PtcStorePut put = {.expected = how->over.part[0],
                             .used_ms = ptc_store_now(store),
                             .expires_ms = how->until_ms ? how->until_ms : PTC_STORE_NEVER,
                             .idle_ms = how->idle_ms,
                             .meta = sheet->secret ? PTC_TEXT(PTC_STORE_HIDDEN) : PTC_TEXT(""),
                             .bytes = bytes};
    PtcStoreStatus status = ptc_store_put(store, &key, &put, &version);
    if (status == PTC_STORE_CONFLICT || status == PTC_STORE_ABSENT)
        return PTC_SHEET_CHANGED;
    if (status != PTC_STORE_OK)
        return fail_sheet(store, status, why);
    *mark = mark_of_version(version);
    return PTC_SHEET_OK;
}

static PtcSheetStatus write_record_sheet(PtcShelf *shelf, const PtcSheet *sheet, PtcText text,
                                         const PtcSheetWrite *how, PtcSheetMark *mark, PtcWhy *why)
{
    PtcStore *store = ((PtcStoreShelf *)shelf)->store;
    PtcBuf hidden;
    if (!sheet->secret)
        return put_sheet(store, sheet, text, how, mark, why);
    if (!shelf->secrets) {
        ptc_why_say(why, PTC_WHY_REFUSED, "secrets are kept in a store with a key only");
        return PTC_SHEET_FAILED;
    }
    ptc_buf_init(&hidden, &store->mem, PTC_STORE_BYTES);
    PtcSheetStatus status = ptc_store_hide(store, sheet->kind, text, &hidden)
                                ? put_sheet(store, sheet, ptc_buf_view(&hidden), how, mark, why)
                                : fail_sheet(store, PTC_STORE_NO_MEMORY, why);
    ptc_buf_deinit(&hidden);
    return status;
}

static PtcSheetStatus remove_record_sheet(PtcShelf *shelf, const PtcSheet *sheet)
{
    PtcStoreKey key = key_of_sheet(sheet);
    PtcStoreStatus status = ptc_store_remove(((PtcStoreShelf *)shelf)->store, &key, 0);
    return status == PTC_STORE_OK       ? PTC_SHEET_OK
           : status == PTC_STORE_ABSENT ? PTC_SHEET_ABSENT
                                        : PTC_SHEET_FAILED;
}

/* ------------------------------------------------------------------------------------- locks */

static bool is_same_sheet(const PtcSheet *a, const PtcSheet *b)
{
    return strcmp(a->kind, b->kind) == 0 && ptc_text_same(a->owner, b->owner) &&
           ptc_text_same(a->key, b->key);
}

/* A hold is of a node, so threads of one node have to be told apart here. */
static bool take_turn(PtcStoreShelf *s, PtcSheetLock *lock)
{
    pthread_mutex_lock(&s->lock);
    PtcSheetLock *other = s->held;
    while (other && !is_same_sheet(other->held, lock->held))
        other = other->next;
    if (!other) {
        lock->next = s->held;
        s->held = lock;
    }
    pthread_mutex_unlock(&s->lock);
    return !other;
}

static void end_turn(PtcStoreShelf *s, PtcSheetLock *lock)
{
    pthread_mutex_lock(&s->lock);
    PtcSheetLock **at = &s->held;
    while (*at && *at != lock)
        at = &(*at)->next;
    if (*at)
        *at = lock->next;
    pthread_mutex_unlock(&s->lock);
}

/* With the turn: the hold of this node, which the keeper of the store renews. */
static PtcStoreStatus hold_sheet(PtcStoreShelf *s, const PtcSheet *sheet)
{
    const PtcStoreHold hold = {1, 1, SHEET_HOLD_MS};
    PtcStoreKey key = key_of_sheet(sheet);
    PtcStoreStatus status = ptc_store_hold(s->store, &key, &hold);
    if (status == PTC_STORE_OK && !ptc_store_keep_hold(s->store, &key))
        status = PTC_STORE_NO_MEMORY;
    return status;
}

static bool lock_record_sheet(PtcShelf *shelf, const PtcSheet *sheet, int64_t wait_ms,
                              PtcSheetLock *lock, PtcWhy *why)
{
    static const struct timespec step = {.tv_nsec = SHEET_STEP_MS * PTC_MS};
    PtcStoreShelf *s = (PtcStoreShelf *)shelf;
    int64_t until = ptc_clock_ns(NULL) + wait_ms * PTC_MS;
    *lock = (PtcSheetLock){.fd = -1, .held = sheet->alone ? sheet : NULL};
    while (lock->held) {
        bool turn = take_turn(s, lock);
        PtcStoreStatus status = turn ? hold_sheet(s, sheet) : PTC_STORE_HELD;
        if (status == PTC_STORE_OK)
            return true;
        if (turn)
            end_turn(s, lock);
        if (status != PTC_STORE_HELD)
            return fail_sheet(s->store, status, why) == PTC_SHEET_OK;
        if (ptc_clock_ns(NULL) >= until) {
            errno = EWOULDBLOCK;
            return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "another server is changing it");
        }
        nanosleep(&step, NULL);
    }
    return true;
}

static void unlock_record_sheet(PtcShelf *shelf, PtcSheetLock *lock)
{
    PtcStoreShelf *s = (PtcStoreShelf *)shelf;
    if (!lock->held)
        return;
    PtcStoreKey key = key_of_sheet(lock->held);
    ptc_store_let_go(s->store, &key, true);
    end_turn(s, lock);
    lock->held = NULL;
}

static int64_t store_now_ms(PtcShelf *shelf)
{
    return ptc_store_now(((PtcStoreShelf *)shelf)->store);
}

void ptc_store_shelf_init(PtcStoreShelf *s, PtcStore *store)
{
    memset(s, 0, sizeof *s);
    s->shelf = (PtcShelf){.shared = true,
                          .secrets = ptc_store_is_sealed(store),
                          .read = read_record_sheet,
                          .look = look_at_record,
                          .write = write_record_sheet,
                          .remove = remove_record_sheet,
                          .lock = lock_record_sheet,
                          .unlock = unlock_record_sheet,
                          .now_ms = store_now_ms};
    s->store = store;
    pthread_mutex_init(&s->lock, NULL);
}

void ptc_store_shelf_deinit(PtcStoreShelf *s)
{
    if (s->store)
        pthread_mutex_destroy(&s->lock);
    s->store = NULL;
}
