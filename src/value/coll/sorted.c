/* SPDX-License-Identifier: MIT
 * Sorted maps and sets.  What always holds: the order lists every live entry exactly once; comparing may call the
 * program and collect, so only rooted values are used across a comparison. */
#include "value/coll/sorted.h"

#include "value/coll/dict.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"

enum { SORTED_CHUNK = 256 }; /* entry numbers in a chunk at most */

static PtcOrderFn order_fn;

void ptc_sorted_use(PtcOrderFn fn)
{
    order_fn = fn;
}

static PtcSorted *sorted(PtcValue v)
{
    return (PtcSorted *)(uintptr_t)v;
}

/* ----------------------------------------------------------------------- the order */

/* An order is an array of chunk, rank after the chunk, chunk, rank ...; a chunk is BYTES that hold numbers. */
static const PtcNode *as_order_node(PtcValue order)
{
    return (const PtcNode *)(uintptr_t)order;
}

static size_t chunk_count(PtcValue order)
{
    return as_order_node(order)->obj.count / 2;
}

static size_t chunk_end(PtcValue order, size_t c)
{
    return (size_t)ptc_to_int(as_order_node(order)->slots[2 * c + 1]);
}

static size_t chunk_start(PtcValue order, size_t c)
{
    return c == 0 ? 0 : chunk_end(order, c - 1);
}

static const uint32_t *chunk_items(PtcValue order, size_t c)
{
    const PtcBytes *b = (const PtcBytes *)(uintptr_t)as_order_node(order)->slots[2 * c];
    return (const uint32_t *)(const void *)b->bytes;
}

static PtcValue new_chunk(PtcHeap *heap, const uint32_t *items, size_t n)
{
    size_t bytes = n * sizeof *items;
    PtcBytes *o = ptc_heap_object(heap, PTC_T_BYTES, sizeof *o + bytes, (uint32_t)bytes);
    if (!o)
        return PTC_NONE;
    memcpy(o->bytes, items, bytes);
    return ptc_from_obj(o);
}

static PtcNode *new_order(PtcHeap *heap, size_t chunks)
{
    size_t bytes = sizeof(PtcNode) + 2 * chunks * sizeof(PtcValue);
    return ptc_heap_object(heap, PTC_T_NODE, bytes, (uint32_t)(2 * chunks));
}

/* The first chunk that ends after `rank`, or at it with `or_at`; the number of chunks if none does. */
static size_t order_chunk_of(PtcValue order, size_t rank, bool or_at)
{
    size_t low = 0, high = chunk_count(order);
    while (low < high) {
        size_t mid = (low + high) / 2, end = chunk_end(order, mid);
        if (end > rank || (or_at && end == rank))
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

uint32_t ptc_order_at(PtcValue order, size_t rank)
{
    size_t c = order_chunk_of(order, rank, false);
    return chunk_items(order, c)[rank - chunk_start(order, c)];
}

/* The order with m chunks of the given lengths in place of `gone` chunks from c on. */
static PtcValue splice(PtcHeap *heap, PtcValue order, size_t c, size_t gone, const PtcValue *chunks,
                       size_t m)
{
    size_t n = chunk_count(order), end = chunk_start(order, c);
    PtcNode *o = new_order(heap, n - gone + m);
    if (!o || !ptc_tick(heap->budget, (int64_t)(n / 16)))
        return PTC_NONE;
    memcpy(o->slots, as_order_node(order)->slots, 2 * c * sizeof(PtcValue));
    PtcValue *to = o->slots + 2 * c;
    for (size_t i = 0; i < m; i++) {
        end += ptc_obj(chunks[i])->count / sizeof(uint32_t);
        *to++ = chunks[i];
        *to++ = ptc_int((int64_t)end);
    }
    for (size_t i = c + gone; i < n; i++) {
        end += chunk_end(order, i) - chunk_start(order, i);
        *to++ = as_order_node(order)->slots[2 * i];
        *to++ = ptc_int((int64_t)end);
    }
    return ptc_from_obj(o);
}

PtcValue ptc_order_insert(PtcHeap *heap, PtcValue order, size_t rank, uint32_t entry)
{
    uint32_t all[SORTED_CHUNK + 1];
    size_t n = chunk_count(order), c = order_chunk_of(order, rank, true), k = 0, at = 0;
    if (c < n) {
        k = chunk_end(order, c) - chunk_start(order, c);
        at = rank - chunk_start(order, c);
        memcpy(all, chunk_items(order, c), at * sizeof *all);
        memcpy(all + at + 1, chunk_items(order, c) + at, (k - at) * sizeof *all);
    }
    all[at] = entry;
    /* A full chunk is split in the middle, but at its end if keys arrive in order. */
    size_t cut = k < SORTED_CHUNK ? k + 1 : c + 1 == n && at == k ? k : SORTED_CHUNK / 2;
    PtcValue chunks[2] = {new_chunk(heap, all, cut), PTC_NIL};
    if (cut <= k)
        chunks[1] = new_chunk(heap, all + cut, k + 1 - cut);
    if (chunks[0] == PTC_NONE || chunks[1] == PTC_NONE)
        return PTC_NONE;
    return splice(heap, order, c, c < n, chunks, cut <= k ? 2 : 1);
}

PtcValue ptc_order_remove(PtcHeap *heap, PtcValue order, size_t rank)
{
    uint32_t all[SORTED_CHUNK];
    size_t c = order_chunk_of(order, rank, false);
    size_t k = chunk_end(order, c) - chunk_start(order, c), at = rank - chunk_start(order, c);
    memcpy(all, chunk_items(order, c), at * sizeof *all);
    memcpy(all + at, chunk_items(order, c) + at + 1, (k - at - 1) * sizeof *all);
    PtcValue less = k > 1 ? new_chunk(heap, all, k - 1) : PTC_NIL;
    return less == PTC_NONE ? less : splice(heap, order, c, 1, &less, k > 1 ? 1 : 0);
}

/* 0 1 2 ... n-1 */
static PtcValue identity(PtcHeap *heap, size_t n)
{
    uint32_t all[SORTED_CHUNK];
    PtcNode *o = new_order(heap, (n + SORTED_CHUNK - 1) / SORTED_CHUNK);
    for (size_t at = 0, c = 0; o && at < n; c++) {
        size_t k = n - at < SORTED_CHUNK ? n - at : SORTED_CHUNK;
        for (size_t i = 0; i < k; i++)
            all[i] = (uint32_t)(at++);
        o->slots[2 * c] = new_chunk(heap, all, k);
        o->slots[2 * c + 1] = ptc_int((int64_t)at);
        if (o->slots[2 * c] == PTC_NONE || !ptc_tick(heap->budget, SORTED_CHUNK / 16))
            return PTC_NONE;
    }
    return o ? ptc_from_obj(o) : PTC_NONE;
}

/* ------------------------------------------------------------------------- objects */

static PtcValue make_sorted_object(PtcHeap *heap, PtcTag tag, size_t count, PtcValue by,
                                   PtcValue entries, PtcValue index, PtcValue order)
{
    PtcSorted *o = ptc_heap_object(heap, tag, sizeof *o, (uint32_t)count);
    if (!o)
        return PTC_NONE;
    o->dict.obj.flags = PTC_SORTED;
    o->dict.entries = entries;
    o->dict.index = index;
    o->order = order;
    o->by = by;
    return ptc_from_obj(o);
}

PtcValue ptc_sorted_version(PtcHeap *heap, PtcValue v, size_t count, PtcValue entries,
                            PtcValue index, PtcValue order)
{
    return make_sorted_object(heap, ptc_tag(v), count, sorted(v)->by, entries, index, order);
}

PtcValue ptc_sorted_wrap(PtcHeap *heap, PtcValue dict, PtcValue by)
{
    const PtcDict *d = (const PtcDict *)(uintptr_t)dict;
    PtcValue order = identity(heap, d->obj.count);
    return order == PTC_NONE ? order
                             : make_sorted_object(heap, ptc_tag(dict), d->obj.count, by, d->entries,
                                                  d->index, order);
}

PtcValue ptc_sorted_empty(PtcHeap *heap, bool is_set, PtcValue by)
{
    PtcValue entries = ptc_vec_new(heap, NULL, 0, 0);
    PtcIndex *index =
        entries == PTC_NONE ? NULL : ptc_heap_object(heap, PTC_T_INDEX, sizeof *index, 0);
    if (!index)
        return PTC_NONE;
    index->root = ptc_hamt_build(heap, ptc_from_obj(index), NULL, NULL, 0);
    PtcNode *order = index->root == PTC_NONE ? NULL : new_order(heap, 0);
    if (!order)
        return PTC_NONE;
    return make_sorted_object(heap, is_set ? PTC_T_BSET : PTC_T_BMAP, 0, by, entries,
                              ptc_from_obj(index), ptc_from_obj(order));
}

/* ----------------------------------------------------------------------- comparing */

static int compare_sorted_keys(PtcHeap *heap, PtcValue by, PtcValue a, PtcValue b, bool *ok)
{
    if (by == PTC_NIL || by == PTC_TRUE) {
        bool ordered = true;
        int c = ptc_compare(heap, a, b, &ordered);
        *ok = heap->budget->stop == PTC_STOP_NONE;
        if (ordered || !*ok)
            return by == PTC_TRUE ? -c : c;
    }
    if (order_fn)
        return order_fn(heap, by, a, b, ok);
    *ok = false;
    return 0;
}

static PtcValue sorted_key_at(PtcValue v, size_t rank)
{
    size_t entry = ptc_order_at(sorted(v)->order, rank);
    return ptc_seq_nth(sorted(v)->dict.entries, ptc_tag(v) == PTC_T_BMAP ? 2 * entry : entry);
}

bool ptc_sorted_rank(PtcHeap *heap, PtcValue v, PtcValue key, bool after, size_t *rank)
{
    size_t low = 0, high = ptc_obj(v)->count;
    bool ok = true;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = compare_sorted_keys(heap, sorted(v)->by, sorted_key_at(v, mid), key, &ok);
        if (!ok || !ptc_tick(heap->budget, 1))
            return false;
        if (c < 0 || (after && c == 0))
            low = mid + 1;
        else
            high = mid;
    }
    *rank = low;
    return true;
}

/* Two keys without an order between them are the same key if a function orders them; otherwise they must also be
 * equal (some values are merely unordered, such as NaN). */
bool ptc_sorted_place(PtcHeap *heap, PtcValue v, PtcValue key, size_t *rank, int64_t *entry)
{
    PtcValue by = sorted(v)->by;
    size_t count = ptc_obj(v)->count;
    bool ok = true, native = by == PTC_NIL || by == PTC_TRUE;
    *entry = -1;
    *rank = 0;
    if (count == 0 && native) /* a first key that cannot be ordered is refused at once */
        (void)compare_sorted_keys(heap, by, key, key, &ok);
    if (count == 0)
        return ok;
    if (!ptc_sorted_rank(heap, v, key, false, rank))
        return false;
    for (; *rank < count; ++*rank) {
        PtcValue there = sorted_key_at(v, *rank);
        if (compare_sorted_keys(heap, by, there, key, &ok) != 0 || !ok ||
            !ptc_tick(heap->budget, 1))
            break;
        if (native && !ptc_equal(heap, there, key))
            continue;
        *entry = ptc_order_at(sorted(v)->order, *rank);
        break;
    }
    return ok && heap->budget->stop == PTC_STOP_NONE;
}

/* ------------------------------------------------------------------------- sorting */

/* A stable merge sort of entry numbers.  Keys are looked up again for every comparison, because comparing may
 * collect: only the entries are kept. */
typedef struct {
    PtcDictBuild *b;
    PtcValue by;
} NumberSort;

/* Does x come after y?  -1: failed. */
static int is_after_in_sort(const NumberSort *s, uint32_t x, uint32_t y)
{
    bool ok = true;
    int c = compare_sorted_keys(s->b->heap, s->by, ptc_dict_build_key(s->b, x),
                                ptc_dict_build_key(s->b, y), &ok);
    return ok && ptc_tick(s->b->heap->budget, 1) ? c > 0 : -1;
}

static bool merge_number_runs(const NumberSort *s, const uint32_t *left, size_t nl,
                              const uint32_t *right, size_t nr, uint32_t *to)
{
    int mixed = nr ? is_after_in_sort(s, left[nl - 1], right[0]) : 0;
    while (mixed > 0 && nl && nr) {
        int take_right = is_after_in_sort(s, left[0], right[0]);
        if (take_right < 0)
            return false;
        *to++ = take_right ? *right++ : *left++;
        nr -= take_right ? 1 : 0;
        nl -= take_right ? 0 : 1;
    }
    memcpy(to, left, nl * sizeof *to);
    memcpy(to + nl, right, nr * sizeof *to);
    return mixed >= 0;
}

/* Sorts numbers that have as much free space after them; the result is in front. */
static bool merge_sort_numbers(const NumberSort *s, uint32_t *numbers, size_t n)
{
    uint32_t *from = numbers, *to = numbers + n;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            size_t nl = n - i < width ? n - i : width;
            size_t nr = n - i - nl < width ? n - i - nl : width;
            if (!merge_number_runs(s, from + i, nl, from + i + nl, nr, to + i))
                return false;
        }
        uint32_t *t = from;
        from = to;
        to = t;
    }
    if (from != numbers)
        memcpy(numbers, from, n * sizeof *numbers);
    return true;
}

/* Sets same[i] to whether number i has the same key as the one before. */
static bool mark_same_keys(const NumberSort *s, const uint32_t *numbers, uint32_t *same, size_t n)
{
    PtcHeap *heap = s->b->heap;
    for (size_t i = 0; i < n; i++) {
        int after = i == 0 ? 1 : is_after_in_sort(s, numbers[i], numbers[i - 1]);
        if (after < 0)
            return false;
        same[i] = after == 0;
        if (same[i] && (s->by == PTC_NIL || s->by == PTC_TRUE))
            same[i] = ptc_equal(heap, ptc_dict_build_key(s->b, numbers[i]),
                                ptc_dict_build_key(s->b, numbers[i - 1]));
    }
    return true;
}

/* Entries and hashes of b in the order of numbers. */
static bool rewrite_sorted_build(PtcDictBuild *b, const uint32_t *numbers, uint32_t *same)
{
    PtcValue entries = ptc_build_new(b->heap);
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (entries == PTC_NONE)
            return false;
        if (same[i]) {
            if (!b->is_set)
                *ptc_build_slot(entries, 2 * kept - 1) = *ptc_dict_build_slot(b, numbers[i]);
            continue;
        }
        if (!ptc_build_add(b->heap, entries, ptc_dict_build_key(b, numbers[i])) ||
            (!b->is_set && !ptc_build_add(b->heap, entries, *ptc_dict_build_slot(b, numbers[i]))) ||
            !ptc_tick(b->heap->budget, 1))
            return false;
        same[kept++] = b->hashes[numbers[i]]; /* kept <= i: that slot has been read already */
    }
    if (kept)
        memcpy(b->hashes, same, kept * sizeof *same);
    b->entries = entries;
    b->count = (uint32_t)kept;
    return entries != PTC_NONE;
}

bool ptc_dict_build_sort(PtcDictBuild *b, PtcValue by)
{
    NumberSort s = {b, by};
    size_t n = b->count, bytes = 2 * n * sizeof(uint32_t);
    if (n == 0)
        return true;
    uint32_t *numbers = ptc_heap_scratch(b->heap, NULL, 0, bytes);
    if (!numbers)
        return false;
    for (size_t i = 0; i < n; i++)
        numbers[i] = (uint32_t)i;
    bool native = by == PTC_NIL || by == PTC_TRUE; /* a single key must be orderable, too */
    bool ok = (n > 1 || !native || is_after_in_sort(&s, 0, 0) >= 0) &&
              merge_sort_numbers(&s, numbers, n) && mark_same_keys(&s, numbers, numbers + n, n) &&
              rewrite_sorted_build(b, numbers, numbers + n);
    ptc_heap_scratch_free(b->heap, numbers, bytes);
    return ok;
}

/* ------------------------------------------------------------------------ removing */

/* By its key if that is quick and certain, otherwise by searching all of them. */
bool ptc_order_find(PtcHeap *heap, PtcValue v, uint32_t entry, size_t *rank)
{
    PtcValue order = sorted(v)->order, by = sorted(v)->by;
    size_t count = ptc_obj(v)->count;
    if (by == PTC_NIL || by == PTC_TRUE) {
        PtcValue key = ptc_seq_nth(sorted(v)->dict.entries,
                                   ptc_tag(v) == PTC_T_BMAP ? 2 * (size_t)entry : entry);
        if (!ptc_sorted_rank(heap, v, key, false, rank))
            return false;
        if (*rank < count && ptc_order_at(order, *rank) == entry)
            return true;
    }
    for (size_t c = 0; c < chunk_count(order); c++) {
        const uint32_t *items = chunk_items(order, c);
        size_t start = chunk_start(order, c), k = chunk_end(order, c) - start;
        for (size_t i = 0; i < k; i++)
            if (items[i] == entry) {
                *rank = start + i;
                return true;
            }
        if (!ptc_tick(heap->budget, SORTED_CHUNK / 16))
            return false;
    }
    *rank = 0;
    return false;
}
