/* SPDX-License-Identifier: MIT
 * Accounts.  Between grants a heap counts for itself.  What always holds: the amount granted is never less than the
 * amount used, and at most one grant more for each heap. */
#include "value/account.h"

#include "value/heap.h"

enum {
    GRANT_BYTES = 32 * PTC_KB,
    MIN_ROOM = PTC_MB, /* garbage worth a collection, at least and at most */
    MAX_ROOM = 4 * PTC_MB,
    ENOUGH_BYTES =
        256 * PTC_KB, /* beyond what was refused: the next request would be refused too */
};

/* Makes *grant at least `need`, if all grants together stay within `most`; takes somewhat more if possible.  The total
 * never counts what is not granted: a thread may stand still between any two steps, and others would be refused
 * meanwhile. */
static bool draw_grant(atomic_size_t *total, size_t most, size_t *grant, size_t need)
{
    if (need <= *grant)
        return true;
    size_t exact = need - *grant, n, now = atomic_load_explicit(total, memory_order_relaxed);
    do {
        size_t left = most > now ? most - now : 0;
        if (exact > left)
            return false;
        n = left - exact < GRANT_BYTES ? exact : exact + GRANT_BYTES;
    } while (!atomic_compare_exchange_weak_explicit(total, &now, now + n, memory_order_relaxed,
                                                    memory_order_relaxed));
    *grant += n;
    return true;
}

/* Gives back the idle part of a grant of which `need` is in use, except for `keep`, if that is worthwhile. */
static void give_back_grant(atomic_size_t *total, size_t *grant, size_t need, size_t keep)
{
    if (*grant <= need || *grant - need <= 2 * keep)
        return;
    size_t idle = *grant - need - keep;
    atomic_fetch_sub_explicit(total, idle, memory_order_relaxed);
    *grant -= idle;
}

size_t ptc_account_limit(const PtcHeap *heap)
{
    const PtcAccount *a = heap->account;
    if (!a)
        return ptc_size_add(heap->limit, heap->in_tool ? heap->tool_bytes : heap->raised);
    size_t raised = atomic_load_explicit(&a->raised, memory_order_relaxed);
    return ptc_size_add(a->limit, heap->in_tool ? a->tool_bytes : raised);
}

/* Raises the limit by at most n; says by how much. */
static size_t raise_limit(PtcAccount *a, size_t n)
{
    size_t now = atomic_load_explicit(&a->raised, memory_order_relaxed), more;
    do {
        size_t left = a->tool_bytes > now ? a->tool_bytes - now : 0;
        more = n < left ? n : left;
    } while (!atomic_compare_exchange_weak_explicit(&a->raised, &now, now + more,
                                                    memory_order_relaxed, memory_order_relaxed));
    return more;
}

/* Before a tool's result takes n bytes: they raise the limit at once, so that no other thread runs short because of
 * them. */
static void raise_first(PtcHeap *heap, size_t n)
{
    size_t grown = heap->used > heap->tool_from ? heap->used - heap->tool_from : 0;
    size_t want = ptc_size_add(grown, n);
    if (heap->in_tool && want > heap->raising)
        heap->raising += raise_limit(heap->account, want - heap->raising);
}

size_t ptc_account_raised(PtcHeap *heap, size_t grown)
{
    raise_first(heap, 0);
    size_t n = grown < heap->raising ? grown : heap->raising;
    atomic_fetch_sub_explicit(&heap->account->raised, heap->raising - n, memory_order_relaxed);
    heap->raising = 0;
    return n;
}

/* When several threads are working, one must not fail because of the garbage of the others. */
bool ptc_account_fits(PtcHeap *heap, size_t n)
{
    size_t out = heap->used + heap->scratch, most = ptc_account_limit(heap);
    if (!heap->account)
        return n <= most && out <= most - n;
    raise_first(heap, n);
    if (ptc_heap_is_shared(heap))
        most = ptc_size_add(most, most / 8);
    heap->lacking = n;
    return draw_grant(&heap->account->used, most, &heap->used_grant, ptc_size_add(out, n));
}

/* Pages with holes may cost this much more than the limit before it counts as used up. */
bool ptc_account_holds(PtcHeap *heap, size_t n)
{
    size_t out = heap->page_bytes + heap->scratch, limit = ptc_account_limit(heap);
    size_t most = ptc_size_add(limit, limit / 10 + 8 * PTC_PAGE_BYTES);
    if (!heap->account)
        return n <= most && out <= most - n;
    raise_first(heap, n);
    if (ptc_heap_is_shared(heap))
        most = ptc_size_add(most, limit / 10);
    heap->lacking = n;
    return draw_grant(&heap->account->held, most, &heap->held_grant, ptc_size_add(out, n));
}

static void return_idle(PtcHeap *heap, size_t keep)
{
    PtcAccount *a = heap->account;
    give_back_grant(&a->used, &heap->used_grant, heap->used + heap->scratch, keep);
    give_back_grant(&a->held, &heap->held_grant, heap->page_bytes + heap->scratch, keep);
}

void ptc_account_settle(PtcHeap *heap)
{
    return_idle(heap, GRANT_BYTES);
}

void ptc_account_rest(PtcHeap *heap)
{
    if (heap->account)
        return_idle(heap, 0);
}

void ptc_account_leave(PtcHeap *heap)
{
    PtcAccount *a = heap->account;
    if (!a)
        return;
    atomic_fetch_sub_explicit(&a->used, heap->used_grant, memory_order_relaxed);
    atomic_fetch_sub_explicit(&a->held, heap->held_grant, memory_order_relaxed);
    atomic_fetch_sub_explicit(&a->raised, heap->raised + heap->raising, memory_order_relaxed);
    heap->used_grant = heap->held_grant = heap->raised = heap->raising = 0;
    heap->account = NULL;
}

/* The garbage of all threads together should stay a fraction of what is left, and well below the eighth that
 * ptc_account_fits allows for. */
static size_t shared_room(const PtcHeap *heap, size_t limit)
{
    size_t used = atomic_load_explicit(&heap->account->used, memory_order_relaxed);
    size_t heaps = atomic_load_explicit(&heap->account->heaps, memory_order_relaxed);
    size_t left = limit > used ? limit - used : 0;
    size_t room = (left / 2 > limit / 16 ? left / 2 : limit / 16) / (heaps ? heaps : 1);
    return room > MAX_ROOM ? MAX_ROOM : room;
}

/* A collection pays off after about as much garbage as there is live data, but not before MIN_ROOM; beyond MAX_ROOM
 * more room only costs cache misses and page faults. */
size_t ptc_account_threshold(const PtcHeap *heap)
{
    size_t limit = ptc_account_limit(heap), room = limit / 4;
    if (ptc_heap_is_shared(heap))
        return ptc_size_add(heap->live, shared_room(heap, limit));
    if (heap->account) {
        size_t used = atomic_load_explicit(&heap->account->used, memory_order_relaxed);
        size_t others = used > heap->used_grant ? used - heap->used_grant : 0;
        limit = limit > others ? limit - others : 0;
    }
    room = room < MIN_ROOM ? MIN_ROOM : room > MAX_ROOM ? MAX_ROOM : room;
    if (room < heap->live)
        room = heap->live;
    return room >= limit || heap->live > limit - room ? limit : heap->live + room;
}

void ptc_account_open(PtcAccount *account, const PtcHeap *heap)
{
    atomic_init(&account->used, heap->used + heap->scratch);
    atomic_init(&account->held, heap->page_bytes + heap->scratch);
    atomic_init(&account->raised, heap->raised);
    atomic_init(&account->heaps, 0);
    atomic_init(&account->asked, 0);
    atomic_init(&account->short_of, 0);
    account->limit = heap->limit;
    account->tool_bytes = heap->tool_bytes;
}

void ptc_account_share(PtcHeap *heap, PtcAccount *account)
{
    heap->account = account;
    heap->answered = atomic_load_explicit(&account->asked, memory_order_relaxed);
    heap->collect_at = ptc_account_threshold(heap);
}

bool ptc_account_ask(PtcHeap *heap)
{
    if (!ptc_heap_is_shared(heap) || heap->lacking > ptc_account_limit(heap))
        return false;
    heap->answered = atomic_fetch_add_explicit(&heap->account->asked, 1, memory_order_relaxed) + 1;
    atomic_fetch_add_explicit(&heap->account->short_of, 1, memory_order_relaxed);
    return true;
}

bool ptc_account_is_short(const PtcHeap *heap)
{
    const PtcAccount *a = heap->account;
    return ptc_account_left(heap) < ptc_size_add(heap->lacking, ENOUGH_BYTES) &&
           atomic_load_explicit(&a->short_of, memory_order_relaxed) <
               atomic_load_explicit(&a->heaps, memory_order_relaxed);
}

void ptc_account_asked(PtcHeap *heap)
{
    atomic_fetch_sub_explicit(&heap->account->short_of, 1, memory_order_relaxed);
}

size_t ptc_account_left(const PtcHeap *heap)
{
    size_t out = heap->used + heap->scratch, limit = ptc_account_limit(heap);
    if (heap->account)
        out = atomic_load_explicit(&heap->account->used, memory_order_relaxed);
    return limit > out ? limit - out : 0;
}

void ptc_account_join(PtcHeap *heap, PtcAccount *account)
{
    heap->account = account;
    heap->used_grant = heap->used + heap->scratch;
    heap->held_grant = heap->page_bytes + heap->scratch;
}

void ptc_account_part(PtcHeap *heap)
{
    heap->account = NULL;
    heap->used_grant = heap->held_grant = 0;
    heap->collect_at = ptc_account_threshold(heap);
    if (heap->used > heap->collect_at)
        heap->budget->wake = true;
}
