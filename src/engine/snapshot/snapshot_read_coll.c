/* SPDX-License-Identifier: MIT
 * Collections from bytes.  What other code relies on is checked here: the height of a vector's nodes, how many keys
 * of a map are holes.  What is known about a node is kept with its item, so that a node shared by many vectors is
 * examined only once. */
#include "engine/snapshot/snapshot_int.h"
#include "lisp/lazy/seq_int.h"
#include "value/coll/dict.h"

/* A sequence of PTC_ENDLESS or more elements has no end, and is a range or made of cells. */
enum { READ_COLL_WIDTH = PTC_FLAT_MAX, BITS = 5, SEQ_MAX = PTC_ENDLESS - 1 };

static bool get_flags(SnapReader *r, uint8_t allowed, uint8_t *out)
{
    return ptc_snapshot_get_byte(r, out) &&
           ((*out & ~allowed) == 0 || SNAP_BAD(r, "a sequence has unknown flags"));
}

/* ----------------------------------------------------------------------------- vectors */

/* Reads n values, including holes, into `items`; counts the holes. */
static bool get_slots(SnapReader *r, PtcValue *items, size_t n, SnapItem *item)
{
    for (size_t i = 0; i < n; i++) {
        if (!ptc_snapshot_get_slot(r, true, false, &items[i]))
            return false;
        item->holes += items[i] == PTC_UNBOUND;
        item->odd_hole = item->odd_hole || (items[i] == PTC_UNBOUND && i % 2 == 1);
    }
    return true;
}

static void count_holes(SnapItem *to, const SnapItem *from)
{
    to->holes += from->holes;
    to->odd_hole = to->odd_hole || from->odd_hole;
}

bool ptc_snapshot_read_flat(SnapReader *r)
{
    PtcValue items[READ_COLL_WIDTH];
    SnapItem item = {.role = SNAP_IS_VALUE};
    uint8_t flags;
    uint64_t n;
    if (!get_flags(r, PTC_SEQ | PTC_ENTRY | PTC_QUEUE, &flags) ||
        !ptc_snapshot_get_number(r, READ_COLL_WIDTH, &n) || !get_slots(r, items, (size_t)n, &item))
        return false;
    item.role = item.holes ? SNAP_IS_ENTRIES : SNAP_IS_VALUE;
    item.value = ptc_vec_new(r->heap, items, (size_t)n, flags);
    return ptc_snapshot_add(r, item);
}

static PtcValue new_snapshot_node(SnapReader *r, const PtcValue *slots, size_t n)
{
    PtcNode *o = ptc_heap_object(r->heap, PTC_T_NODE, sizeof *o + n * sizeof *slots, (uint32_t)n);
    if (!o)
        return PTC_NONE;
    o->obj.aux = (uint16_t)n;
    memcpy(o->slots, slots, n * sizeof *slots);
    return ptc_from_obj(o);
}

bool ptc_snapshot_read_leaf(SnapReader *r)
{
    PtcValue slots[READ_COLL_WIDTH];
    SnapItem item = {.role = SNAP_IS_NODE};
    if (!get_slots(r, slots, READ_COLL_WIDTH, &item))
        return false;
    item.value = new_snapshot_node(r, slots, READ_COLL_WIDTH);
    return ptc_snapshot_add(r, item);
}

/* A full node of the given height, or of any height below SNAP_NODE_HEIGHT if that is -1. */
static bool get_node(SnapReader *r, int height, const SnapItem **out)
{
    uint32_t number;
    if (!ptc_snapshot_get_item(r, &number) || !ptc_tick(r->heap->budget, 1))
        return false;
    *out = &r->items[number];
    int its = (*out)->height;
    if ((*out)->role != SNAP_IS_NODE || (height < 0 ? its >= SNAP_NODE_HEIGHT : its != height))
        return SNAP_BAD(r, "the nodes of a vector do not fit each other");
    return true;
}

bool ptc_snapshot_read_inner(SnapReader *r)
{
    PtcValue slots[READ_COLL_WIDTH];
    SnapItem item = {.role = SNAP_IS_NODE};
    for (size_t i = 0; i < READ_COLL_WIDTH; i++) {
        const SnapItem *child;
        if (!get_node(r, i == 0 ? -1 : item.height - 1, &child))
            return false;
        item.height = (uint8_t)(child->height + 1);
        slots[i] = child->value;
        count_holes(&item, child);
    }
    item.value = new_snapshot_node(r, slots, READ_COLL_WIDTH);
    return ptc_snapshot_add(r, item);
}

/* The nodes of a tree with this many full leaves.  From the top down, the number of full nodes of a height is the
 * corresponding base-32 digit of `leaves`; each height has one node above them that holds these and the one below. */
static PtcValue get_tree(SnapReader *r, size_t leaves, SnapItem *whole, unsigned *height)
{
    PtcValue slots[SNAP_NODE_HEIGHT + 1][READ_COLL_WIDTH], below = PTC_NONE;
    size_t counts[SNAP_NODE_HEIGHT + 1];
    int top = SNAP_NODE_HEIGHT;
    while (top > 0 && leaves >> (BITS * top) == 0)
        top--;
    for (int k = top; k >= 0; k--) {
        counts[k] = leaves >> (BITS * k) & (READ_COLL_WIDTH - 1);
        for (size_t i = 0; i < counts[k]; i++) {
            const SnapItem *node;
            if (!get_node(r, k, &node))
                return PTC_NONE;
            slots[k][i] = node->value;
            count_holes(whole, node);
        }
    }
    for (int k = 0; k <= top; k++) {
        if (below != PTC_NONE)
            slots[k][counts[k]++] = below;
        bool alone = k == top && k > 0 && counts[k] == 1; /* needs no node above it */
        *height = alone ? (unsigned)k : (unsigned)k + 1;
        if (counts[k] > 0)
            below = alone ? slots[k][0] : new_snapshot_node(r, slots[k], counts[k]);
        if (counts[k] > 0 && below == PTC_NONE)
            return PTC_NONE;
    }
    return below;
}

bool ptc_snapshot_read_vec(SnapReader *r)
{
    PtcValue values[READ_COLL_WIDTH];
    SnapItem item = {.role = SNAP_IS_VALUE};
    uint8_t flags;
    uint64_t count;
    unsigned height;
    if (!get_flags(r, PTC_SEQ | PTC_QUEUE, &flags) || !ptc_snapshot_get_number(r, SEQ_MAX, &count))
        return false;
    if (count <= READ_COLL_WIDTH)
        return SNAP_BAD(r, "a large vector is small");
    size_t leaves = (size_t)(count - 1) / READ_COLL_WIDTH,
           n = (size_t)count - leaves * READ_COLL_WIDTH;
    PtcValue root = get_tree(r, leaves, &item, &height);
    if (root == PTC_NONE || !get_slots(r, values, n, &item))
        return false;
    PtcValue tail = new_snapshot_node(r, values, n);
    PtcVec *o =
        tail == PTC_NONE ? NULL : ptc_heap_object(r->heap, PTC_T_VEC, sizeof *o, (uint32_t)count);
    if (!o)
        return false;
    o->obj.flags = flags;
    o->obj.aux = (uint16_t)(height * BITS);
    o->root = root;
    o->tail = tail;
    item.role = item.holes ? SNAP_IS_ENTRIES : SNAP_IS_VALUE;
    item.value = ptc_from_obj(o);
    return ptc_snapshot_add(r, item);
}

/* --------------------------------------------------------------------- other sequences */

bool ptc_snapshot_read_slice(SnapReader *r)
{
    uint8_t flags;
    PtcValue base;
    uint64_t start, count;
    if (!get_flags(r, PTC_SEQ | PTC_QUEUE, &flags) || !ptc_snapshot_get_value(r, &base) ||
        !ptc_snapshot_get_number(r, SEQ_MAX, &start) ||
        !ptc_snapshot_get_number(r, SEQ_MAX, &count))
        return false;
    if ((!ptc_is(base, PTC_T_FLAT) && !ptc_is(base, PTC_T_VEC)) || count == 0 ||
        start + count > ptc_seq_count(base))
        return SNAP_BAD(r, "a part of a vector is larger than the vector");
    PtcSlice *o = ptc_heap_object(r->heap, PTC_T_SLICE, sizeof *o, (uint32_t)count);
    if (!o)
        return false;
    o->obj.flags = flags;
    o->base = base;
    o->start = start;
    return ptc_snapshot_add_value(r, ptc_from_obj(o));
}

bool ptc_snapshot_read_range(SnapReader *r)
{
    uint8_t flags;
    int64_t start, step;
    uint64_t count;
    if (!get_flags(r, PTC_SEQ | PTC_QUEUE, &flags) || !ptc_snapshot_get_signed(r, &start) ||
        !ptc_snapshot_get_signed(r, &step) || !ptc_snapshot_get_number(r, PTC_ENDLESS, &count))
        return false;
    int64_t far = PTC_INT_MAX / 2;
    bool endless = count == PTC_ENDLESS,
         near = start >= -far && start <= far && step > -PTC_ENDLESS && step < PTC_ENDLESS;
    __int128 last = (__int128)start + (__int128)step * (int64_t)(count ? count - 1 : 0);
    if (!ptc_fits_int(start) || !ptc_fits_int(step) || last < PTC_INT_MIN || last > PTC_INT_MAX ||
        (endless && !near))
        return SNAP_BAD(r, "a range goes too far");
    PtcValue v = ptc_range_new(r->heap, start, step, (size_t)count);
    if (v != PTC_NONE)
        ptc_obj(v)->flags = flags;
    return ptc_snapshot_add_value(r, v);
}

bool ptc_snapshot_read_cons(SnapReader *r)
{
    PtcValue first, rest;
    if (!ptc_snapshot_get_value(r, &first) || !ptc_snapshot_get_value(r, &rest))
        return false;
    if (!ptc_is_sequential(rest) || ptc_seq_count(rest) == SEQ_MAX)
        return SNAP_BAD(r, "a list goes on with something else");
    return ptc_snapshot_add_value(r, ptc_cons_new(r->heap, first, rest));
}

/* See new_ring in seq_part.c. */
bool ptc_snapshot_read_ring(SnapReader *r)
{
    size_t n;
    PtcCons *first = NULL, *last = NULL;
    if (!ptc_snapshot_get_count(r, &n))
        return false;
    if (n == 0)
        return SNAP_BAD(r, "a sequence without end has no elements");
    for (size_t i = 0; i < n; i++) {
        PtcCons *cell = ptc_heap_object(r->heap, PTC_T_CONS, sizeof *cell, PTC_ENDLESS);
        if (!cell || !ptc_snapshot_get_value(r, &cell->first))
            return false;
        if (last)
            last->rest = ptc_from_obj(cell);
        else
            first = cell;
        last = cell;
    }
    last->rest = ptc_from_obj(first);
    return ptc_snapshot_add_value(r, ptc_from_obj(first));
}

/* ---------------------------------------------------------------------- maps and sets */

bool ptc_snapshot_read_set(SnapReader *r)
{
    PtcValue keys[PTC_SMALL_MAX];
    uint32_t hashes[PTC_SMALL_MAX];
    uint64_t n;
    if (!ptc_snapshot_get_number(r, PTC_SMALL_MAX, &n))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!ptc_snapshot_get_value(r, &keys[i]))
            return false;
        hashes[i] = ptc_hash(r->heap, keys[i]);
    }
    if (r->heap->budget->stop != PTC_STOP_NONE)
        return false;
    return ptc_snapshot_add_value(r, ptc_shape_new(r->heap, keys, hashes, (size_t)n));
}

/* Keys can only be compared once every index is filled: a key may be a large map. */
bool ptc_snapshot_check_sets(SnapReader *r)
{
    for (size_t k = 0; k < r->count; k++) {
        if (!ptc_is(r->items[k].value, PTC_T_SSET))
            continue;
        const PtcShape *s = (const PtcShape *)(uintptr_t)r->items[k].value;
        const uint32_t *hashes = ptc_shape_hashes(s);
        for (uint32_t i = 0; i < s->obj.count; i++)
            for (uint32_t j = 0; j < i; j++)
                if (hashes[i] == hashes[j] && ptc_same(r->heap, s->keys[i], s->keys[j]))
                    return SNAP_BAD(r, "a set holds the same element twice");
        if (!ptc_tick(r->heap->budget, 16))
            return false;
    }
    return true;
}

bool ptc_snapshot_read_map(SnapReader *r)
{
    PtcValue shape, values[PTC_SMALL_MAX];
    if (!ptc_snapshot_get_value(r, &shape))
        return false;
    if (!ptc_is(shape, PTC_T_SSET))
        return SNAP_BAD(r, "a map has no set of keys");
    size_t n = ptc_obj(shape)->count;
    for (size_t i = 0; i < n; i++)
        if (!ptc_snapshot_get_value(r, &values[i]))
            return false;
    return ptc_snapshot_add_value(r, ptc_smap_new(r->heap, shape, values));
}

/* An index that leads nowhere so far. */
static PtcValue new_snapshot_index(SnapReader *r)
{
    PtcIndex *o = ptc_heap_object(r->heap, PTC_T_INDEX, sizeof *o, 0);
    if (!o || (o->root = ptc_hamt_build(r->heap, ptc_from_obj(o), NULL, NULL, 0)) == PTC_NONE)
        return PTC_NONE;
    return ptc_from_obj(o);
}

bool ptc_snapshot_read_index(SnapReader *r)
{
    return ptc_snapshot_add(r, (SnapItem){.value = new_snapshot_index(r), .role = SNAP_IS_INDEX});
}

/* The slots of all keys in a vector of entries, into `slots`; their number, or SIZE_MAX when a limit was hit. */
static size_t gather_slots(SnapReader *r, PtcValue entries, size_t stride, PtcValue *slots)
{
    size_t n = ptc_seq_count(entries) / stride, used = 0, left;
    for (size_t i = 0; i < n; i++) {
        PtcValue key = *ptc_vec_chunk(entries, i * stride, &left);
        if (key != PTC_UNBOUND)
            slots[used++] = ptc_hamt_slot(ptc_hash(r->heap, key), (uint32_t)i);
        if (!ptc_tick(r->heap->budget, 1))
            return SIZE_MAX;
    }
    return used;
}

static bool fill_index(SnapReader *r, PtcValue index, PtcValue entries, size_t stride)
{
    size_t n = ptc_seq_count(entries) / stride, bytes = 2 * (n + 1) * sizeof(PtcValue);
    PtcValue *slots = ptc_heap_scratch(r->heap, NULL, 0, bytes);
    if (!slots)
        return false;
    size_t used = gather_slots(r, entries, stride, slots);
    PtcValue root =
        used == SIZE_MAX ? PTC_NONE : ptc_hamt_build(r->heap, index, slots, slots + n + 1, used);
    ptc_heap_scratch_free(r->heap, slots, bytes);
    if (root == PTC_NONE || r->heap->budget->stop != PTC_STOP_NONE)
        return false;
    ((PtcIndex *)(uintptr_t)index)->root = root;
    ptc_obj(index)->count = (uint32_t)n;
    return true;
}

static bool is_entries(const SnapItem *item)
{
    return (item->role == SNAP_IS_VALUE || item->role == SNAP_IS_ENTRIES) &&
           (ptc_is(item->value, PTC_T_FLAT) || ptc_is(item->value, PTC_T_VEC));
}

bool ptc_snapshot_fill_indexes(SnapReader *r)
{
    for (size_t k = 0; k < r->count; k++) {
        uint64_t stride, number;
        if (r->items[k].role != SNAP_IS_INDEX)
            continue;
        if (!ptc_snapshot_get_number(r, 2, &stride) ||
            !ptc_snapshot_get_number(r, r->count - 1, &number))
            return false;
        if (stride == 0 || !is_entries(&r->items[number]))
            return SNAP_BAD(r, "an index leads to something else than entries");
        if (!fill_index(r, r->items[k].value, r->items[number].value, (size_t)stride))
            return false;
    }
    return true;
}

static PtcValue new_snapshot_dict(SnapReader *r, bool is_map, size_t count, PtcValue entries,
                                  PtcValue index)
{
    PtcDict *o =
        ptc_heap_object(r->heap, is_map ? PTC_T_BMAP : PTC_T_BSET, sizeof *o, (uint32_t)count);
    if (!o)
        return PTC_NONE;
    o->entries = entries;
    o->index = index;
    return ptc_from_obj(o);
}

bool ptc_snapshot_read_dict(SnapReader *r)
{
    uint64_t is_map;
    uint32_t entries_number, index_number;
    if (!ptc_snapshot_get_number(r, 1, &is_map) || !ptc_snapshot_get_item(r, &entries_number) ||
        !ptc_snapshot_get_item(r, &index_number))
        return false;
    const SnapItem *entries = &r->items[entries_number], *index = &r->items[index_number];
    size_t n = is_entries(entries) ? ptc_seq_count(entries->value) : 1, stride = is_map ? 2 : 1;
    if (!is_entries(entries) || index->role != SNAP_IS_INDEX || n % stride != 0 ||
        (is_map && entries->odd_hole))
        return SNAP_BAD(r, "a map has no proper entries");
    return ptc_snapshot_add_value(r, new_snapshot_dict(r, is_map != 0, n / stride - entries->holes,
                                                       entries->value, index->value));
}

/* The entries of a sorted map, in order. */
static PtcValue get_sorted_entries(SnapReader *r, size_t n)
{
    PtcValue b = ptc_build_new(r->heap), v;
    for (size_t i = 0; b != PTC_NONE && i < n; i++)
        if (!ptc_snapshot_get_value(r, &v) || !ptc_build_add(r->heap, b, v))
            return PTC_NONE;
    return b == PTC_NONE ? b : ptc_build_done(r->heap, b, 0);
}

bool ptc_snapshot_read_sorted(SnapReader *r)
{
    uint64_t is_map;
    PtcValue by;
    size_t n;
    if (!ptc_snapshot_get_number(r, 1, &is_map) || !ptc_snapshot_get_value(r, &by) ||
        !ptc_snapshot_get_count(r, &n))
        return false;
    if (n == 0)
        return ptc_snapshot_add_value(r, ptc_sorted_empty(r->heap, !is_map, by));
    size_t stride = is_map ? 2 : 1;
    PtcValue entries = get_sorted_entries(r, n * stride);
    PtcValue index = entries == PTC_NONE ? entries : new_snapshot_index(r);
    if (index == PTC_NONE || !fill_index(r, index, entries, stride))
        return false;
    PtcValue dict = new_snapshot_dict(r, is_map != 0, n, entries, index);
    return ptc_snapshot_add_value(r, dict == PTC_NONE ? dict : ptc_sorted_wrap(r->heap, dict, by));
}
