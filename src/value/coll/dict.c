/* SPDX-License-Identifier: MIT
 * Large maps and sets.  dict.h describes the structure.  What always holds: an entry number only counts if the entry
 * there has the key that is looked for. */
#include "value/coll/dict.h"

#include "value/coll/map.h"
#include "value/coll/sorted.h"
#include "value/coll/vec.h"
#include "value/equal.h"

static PtcDict *as_dict(PtcValue v)
{
    return (PtcDict *)(uintptr_t)v;
}

/* Elements of the entry vector for one entry. */
static size_t stride(PtcValue v)
{
    return ptc_tag(v) == PTC_T_BMAP ? 2 : 1;
}

static PtcValue new_dict_object(PtcHeap *heap, PtcTag tag, size_t count, PtcValue entries,
                                PtcValue index)
{
    PtcDict *o = ptc_heap_object(heap, tag, sizeof *o, (uint32_t)count);
    if (!o)
        return PTC_NONE;
    o->entries = entries;
    o->index = index;
    return ptc_from_obj(o);
}

/* Another version of v. */
static PtcValue version(PtcHeap *heap, PtcValue v, size_t count, PtcValue entries, PtcValue index,
                        PtcValue order)
{
    return ptc_is_sorted(v) ? ptc_sorted_version(heap, v, count, entries, index, order)
                            : new_dict_object(heap, ptc_tag(v), count, entries, index);
}

static PtcValue order_of(PtcValue v)
{
    return ptc_is_sorted(v) ? ((const PtcSorted *)(uintptr_t)v)->order : PTC_NIL;
}

static PtcIndex *dict_index(PtcValue v)
{
    return (PtcIndex *)(uintptr_t)as_dict(v)->index;
}

/* An index without a trie yet, for maps of n entries. */
static PtcIndex *new_dict_index(PtcHeap *heap, size_t n)
{
    PtcIndex *o = ptc_heap_object(heap, PTC_T_INDEX, sizeof *o, (uint32_t)n);
    if (o)
        o->root = PTC_NIL;
    return o;
}

/* The only entry that a keyword means with other letter case or blanks; -1 if there is none, or two.  All keys are
 * examined, so this is only done for small maps. */
static PTC_NOINLINE int64_t find_loose_entry(PtcHeap *heap, PtcValue v, PtcValue key)
{
    size_t n = ptc_seq_count(as_dict(v)->entries) / stride(v);
    int64_t found = -1;
    if (!ptc_is_keyword(key) || as_dict(v)->obj.count > PTC_LOOSE_MAX ||
        !ptc_tick(heap->budget, 1 + (int64_t)n / 16))
        return -1;
    for (size_t i = 0; i < n; i++) {
        PtcValue stored = ptc_seq_nth(as_dict(v)->entries, i * stride(v));
        if (stored == PTC_UNBOUND || !ptc_key_loose(heap, stored, key))
            continue;
        if (found >= 0)
            return -1;
        found = (int64_t)i;
    }
    return found;
}

/* Number of the entry with this key, -1 if absent.  Keys that flexible access treats as equal have equal hashes, so
 * one probe finds them all. */
static int64_t find_dict_entry(PtcHeap *heap, PtcValue v, PtcValue key, uint32_t hash, bool flex)
{
    const PtcValue *slots;
    size_t n = ptc_hamt_find(dict_index(v)->root, hash, &slots);
    size_t known = ptc_seq_count(as_dict(v)->entries);
    int64_t best = -1;
    int likeness = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t entry = (int64_t)((slots[i] & 0xffffffff) >> 1);
        if ((size_t)entry * stride(v) >= known)
            continue; /* belongs to a newer version */
        PtcValue stored = ptc_seq_nth(as_dict(v)->entries, (size_t)entry * stride(v));
        if (stored == key || ptc_same(heap, stored, key))
            return entry;
        int like = flex ? ptc_key_likeness(heap, stored, key) : 0;
        /* Slots of a shared index are in no order: of two equally good keys, the older entry wins. */
        if (like > likeness || (like > 0 && like == likeness && entry < best)) {
            likeness = like;
            best = entry;
        }
        if (!ptc_tick(heap->budget, 1))
            return -1;
    }
    return best < 0 && flex ? find_loose_entry(heap, v, key) : best;
}

PtcValue ptc_dict_get(PtcHeap *heap, PtcValue v, PtcValue key, bool flex)
{
    int64_t entry = find_dict_entry(heap, v, key, ptc_hash(heap, key), flex);
    return entry < 0 ? PTC_NONE : ptc_seq_nth(as_dict(v)->entries, (size_t)entry * 2 + 1);
}

PtcValue ptc_dict_key(PtcHeap *heap, PtcValue v, PtcValue key, bool flex)
{
    int64_t entry = find_dict_entry(heap, v, key, ptc_hash(heap, key), flex);
    return entry < 0 ? PTC_NONE : ptc_seq_nth(as_dict(v)->entries, (size_t)entry * stride(v));
}

/* The index with one more entry.  The newest version of a map changes its index in place; any other gets a separate
 * index. */
static PtcValue index_add(PtcHeap *heap, PtcValue v, uint32_t hash, size_t number)
{
    PtcIndex *index = dict_index(v);
    PtcValue old_root = index->root;
    if (index->obj.count != number || !ptc_heap_owns(heap, ptc_from_obj(index))) {
        if (!(index = new_dict_index(heap, number)))
            return PTC_NONE;
    }
    PtcValue root =
        ptc_hamt_insert(heap, ptc_from_obj(index), old_root, ptc_hamt_slot(hash, (uint32_t)number));
    if (root == PTC_NONE)
        return PTC_NONE;
    index->root = root;
    index->obj.count = (uint32_t)number + 1;
    return ptc_from_obj(index);
}

static PtcValue replace_value(PtcHeap *heap, PtcValue v, int64_t entry, PtcValue value)
{
    const PtcDict *d = as_dict(v);
    if (ptc_tag(v) == PTC_T_BSET)
        return v;
    PtcValue entries = ptc_vec_assoc(heap, d->entries, (size_t)entry * 2 + 1, value);
    return entries == PTC_NONE ? entries
                               : version(heap, v, d->obj.count, entries, d->index, order_of(v));
}

static PtcValue add_dict_entry(PtcHeap *heap, PtcValue v, PtcValue key, PtcValue value,
                               uint32_t hash)
{
    const PtcDict *d = as_dict(v);
    bool is_map = ptc_tag(v) == PTC_T_BMAP;
    size_t number = ptc_seq_count(d->entries) / stride(v), rank;
    PtcValue order = PTC_NIL;
    int64_t same;
    if (ptc_is_sorted(v)) {
        if (!ptc_sorted_place(heap, v, key, &rank, &same))
            return PTC_NONE;
        if (same >= 0)
            return replace_value(heap, v, same, value);
        if ((order = ptc_order_insert(heap, order_of(v), rank, (uint32_t)number)) == PTC_NONE)
            return PTC_NONE;
    }
    PtcValue entries =
        is_map ? ptc_vec_conj2(heap, d->entries, key, value) : ptc_vec_conj(heap, d->entries, key);
    PtcValue index = entries == PTC_NONE ? entries : index_add(heap, v, hash, number);
    return index == PTC_NONE ? index : version(heap, v, d->obj.count + 1, entries, index, order);
}

PtcValue ptc_dict_put(PtcHeap *heap, PtcValue v, PtcValue key, PtcValue value, bool flex)
{
    uint32_t hash = ptc_hash(heap, key);
    int64_t entry = find_dict_entry(heap, v, key, hash, flex);
    if (heap->budget->stop != PTC_STOP_NONE) /* then the hash is worth nothing */
        return PTC_NONE;
    return entry < 0 ? add_dict_entry(heap, v, key, value, hash)
                     : replace_value(heap, v, entry, value);
}

static PtcValue large_done(PtcDictBuild *b);

PtcValue ptc_dict_build_done_sorted(PtcDictBuild *b, PtcValue by)
{
    PtcHeap *heap = b->heap;
    bool empty = b->count == 0, is_set = b->is_set;
    PtcValue v = empty ? PTC_NIL : large_done(b);
    ptc_dict_build_cancel(b);
    if (empty)
        return ptc_sorted_empty(heap, is_set, by);
    return v == PTC_NONE ? v : ptc_sorted_wrap(heap, v, by);
}

/* Rebuilds the map without holes; it may become a small one. */
static PtcValue rebuild(PtcHeap *heap, PtcValue v)
{
    PtcDictBuild b;
    if (!ptc_dict_build_init(&b, heap, ptc_tag(v) == PTC_T_BSET))
        return PTC_NONE;
    PtcValue key, value;
    for (size_t pos = 0; ptc_dict_next(v, &pos, &key, &value);) {
        if (!ptc_dict_build_put(&b, key, value) || !ptc_tick(heap->budget, 1)) {
            ptc_dict_build_cancel(&b);
            return PTC_NONE;
        }
    }
    return ptc_is_sorted(v) ? ptc_dict_build_done_sorted(&b, ptc_sorted_by(v))
                            : ptc_dict_build_done(&b);
}

/* The order of v without an entry; nil for unsorted maps. */
static PtcValue order_without(PtcHeap *heap, PtcValue v, int64_t entry)
{
    size_t rank;
    if (!ptc_is_sorted(v))
        return PTC_NIL;
    return ptc_order_find(heap, v, (uint32_t)entry, &rank)
               ? ptc_order_remove(heap, order_of(v), rank)
               : PTC_NONE;
}

PtcValue ptc_dict_remove(PtcHeap *heap, PtcValue v, PtcValue key)
{
    const PtcDict *d = as_dict(v);
    uint32_t hash = ptc_hash(heap, key);
    int64_t entry = find_dict_entry(heap, v, key, hash, false);
    if (heap->budget->stop != PTC_STOP_NONE)
        return PTC_NONE;
    if (entry < 0)
        return v;
    PtcValue order = order_without(heap, v, entry);
    if (order == PTC_NONE)
        return PTC_NONE;
    PtcValue entries = ptc_vec_assoc(heap, d->entries, (size_t)entry * stride(v), PTC_UNBOUND);
    if (stride(v) == 2 && entries != PTC_NONE)
        entries = ptc_vec_assoc(heap, entries, (size_t)entry * 2 + 1, PTC_NIL);
    if (entries == PTC_NONE)
        return PTC_NONE;
    PtcIndex *index = new_dict_index(heap, ptc_seq_count(entries) / stride(v));
    if (!index)
        return PTC_NONE;
    index->root = ptc_hamt_remove(heap, ptc_from_obj(index), dict_index(v)->root,
                                  ptc_hamt_slot(hash, (uint32_t)entry));
    if (index->root == PTC_NONE)
        return PTC_NONE;
    PtcValue less = version(heap, v, d->obj.count - 1, entries, ptc_from_obj(index), order);
    if (less == PTC_NONE)
        return less;
    size_t live = ptc_obj(less)->count;
    bool holes =
        ptc_seq_count(entries) / stride(v) >= 2 * live + (ptc_is_sorted(v) ? PTC_SMALL_MAX : 0);
    bool small = live <= PTC_SMALL_MAX / 2 && !ptc_is_sorted(v);
    return small || holes ? rebuild(heap, less) : less;
}

static bool next_by_rank(PtcValue v, size_t *pos, PtcValue *key, PtcValue *value)
{
    if (*pos >= ptc_obj(v)->count)
        return false;
    size_t left, step = stride(v);
    const PtcValue *at =
        ptc_vec_chunk(as_dict(v)->entries, ptc_order_at(order_of(v), *pos) * step, &left);
    ++*pos;
    *key = at[0];
    if (value)
        *value = step == 2 ? at[1] : PTC_NIL;
    return true;
}

bool ptc_dict_next(PtcValue v, size_t *pos, PtcValue *key, PtcValue *value)
{
    const PtcDict *d = as_dict(v);
    if (ptc_is_sorted(v))
        return next_by_rank(v, pos, key, value);
    size_t step = stride(v), n = ptc_seq_count(d->entries) / step;
    while (*pos < n) {
        size_t left;
        const PtcValue *at = ptc_vec_chunk(d->entries, *pos * step, &left);
        ++*pos;
        if (at[0] == PTC_UNBOUND)
            continue;
        *key = at[0];
        if (value)
            *value = step == 2 ? at[1] : PTC_NIL; /* chunks hold an even number of elements */
        return true;
    }
    return false;
}

PtcValue ptc_dict_from_small(PtcHeap *heap, PtcValue small)
{
    bool is_map = ptc_tag(small) == PTC_T_SMAP;
    const PtcShape *s =
        (const PtcShape *)(uintptr_t)(is_map ? ((PtcSmap *)(uintptr_t)small)->shape : small);
    size_t n = s->obj.count;
    PtcValue items[2 * PTC_SMALL_MAX], slots[PTC_SMALL_MAX], scratch[PTC_SMALL_MAX];
    for (size_t i = 0; i < n; i++) {
        items[is_map ? 2 * i : i] = s->keys[i];
        if (is_map)
            items[2 * i + 1] = ((PtcSmap *)(uintptr_t)small)->values[i];
        slots[i] = ptc_hamt_slot(ptc_shape_hashes(s)[i], (uint32_t)i);
    }
    PtcValue entries = ptc_vec_new(heap, items, is_map ? 2 * n : n, 0);
    PtcIndex *index = entries == PTC_NONE ? NULL : new_dict_index(heap, n);
    if (!index ||
        (index->root = ptc_hamt_build(heap, ptc_from_obj(index), slots, scratch, n)) == PTC_NONE)
        return PTC_NONE;
    return new_dict_object(heap, is_map ? PTC_T_BMAP : PTC_T_BSET, n, entries, ptc_from_obj(index));
}

/* ----------------------------------------------------------------- building */

bool ptc_dict_build_init(PtcDictBuild *b, PtcHeap *heap, bool is_set)
{
    memset(b, 0, sizeof *b);
    b->heap = heap;
    b->is_set = is_set;
    b->entries = ptc_build_new(heap);
    return b->entries != PTC_NONE;
}

void ptc_dict_build_cancel(PtcDictBuild *b)
{
    ptc_heap_scratch_free(b->heap, b->table, b->table_cap * sizeof *b->table);
    ptc_heap_scratch_free(b->heap, b->hashes, b->hash_cap * sizeof *b->hashes);
    b->table = b->hashes = NULL;
    b->table_cap = 0;
    b->hash_cap = 0;
}

PtcValue ptc_dict_build_key(PtcDictBuild *b, int64_t entry)
{
    return *ptc_build_slot(b->entries, (size_t)entry * (b->is_set ? 1 : 2));
}

PtcValue *ptc_dict_build_slot(PtcDictBuild *b, int64_t entry)
{
    return ptc_build_slot(b->entries, (size_t)entry * 2 + 1);
}

/* The slot in the table with this key, or the free one where it belongs.  Every step after the first ticks: hashes
 * are seeded, but time must not depend on that alone. */
static uint32_t probe_dict_table(PtcDictBuild *b, PtcValue key, uint32_t hash)
{
    uint32_t mask = b->table_cap - 1;
    for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
        uint32_t entry = b->table[at];
        if (entry == 0)
            return at;
        if (b->hashes[entry - 1] == hash) {
            PtcValue stored = ptc_dict_build_key(b, entry - 1);
            if (stored == key || ptc_same(b->heap, stored, key))
                return at;
        }
        if (!ptc_tick(b->heap->budget, 1))
            return at;
    }
}

int64_t ptc_dict_build_find(PtcDictBuild *b, PtcValue key)
{
    if (b->count == 0)
        return -1;
    return (int64_t)b->table[probe_dict_table(b, key, ptc_hash(b->heap, key))] - 1;
}

/* Writes all entries into a larger table; here too every step after the first ticks. */
static bool fill_table(const PtcDictBuild *b, uint32_t *table, uint32_t mask)
{
    PtcBudget *budget = b->heap->budget;
    if (!ptc_tick(budget, b->count))
        return false;
    memset(table, 0, ((size_t)mask + 1) * sizeof *table);
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t at = b->hashes[i] & mask;
        while (table[at]) {
            at = (at + 1) & mask;
            if (!ptc_tick(budget, 1))
                return false;
        }
        table[at] = i + 1;
    }
    return true;
}

static bool grow_dict_table(PtcDictBuild *b)
{
    uint32_t cap = b->table_cap ? b->table_cap * 2 : 32;
    uint32_t *table =
        cap < UINT32_MAX / 4 ? ptc_heap_scratch(b->heap, NULL, 0, cap * sizeof *table) : NULL;
    if (!table)
        return ptc_budget_halt(b->heap->budget, PTC_STOP_MEMORY);
    if (!fill_table(b, table, cap - 1)) {
        ptc_heap_scratch_free(b->heap, table, cap * sizeof *table);
        return false;
    }
    ptc_heap_scratch_free(b->heap, b->table, b->table_cap * sizeof *table);
    b->table = table;
    b->table_cap = cap;
    return true;
}

static bool make_room_for_entry(PtcDictBuild *b)
{
    if (b->count * 2 >= b->table_cap && !grow_dict_table(b))
        return false;
    return PTC_GROW_SCRATCH(b->heap, &b->hashes, &b->hash_cap, b->count + (size_t)1);
}

bool ptc_dict_build_put(PtcDictBuild *b, PtcValue key, PtcValue value)
{
    if (!make_room_for_entry(b))
        return false;
    uint32_t hash = ptc_hash(b->heap, key);
    uint32_t at = probe_dict_table(b, key, hash);
    if (b->heap->budget->stop != PTC_STOP_NONE)
        return false;
    if (b->table[at]) {
        if (!b->is_set)
            *ptc_dict_build_slot(b, b->table[at] - 1) = value;
        return true;
    }
    if (!ptc_build_add(b->heap, b->entries, key) ||
        (!b->is_set && !ptc_build_add(b->heap, b->entries, value)))
        return false;
    b->hashes[b->count] = hash;
    b->table[at] = ++b->count;
    return true;
}

static PtcValue small_done(PtcDictBuild *b)
{
    PtcValue keys[PTC_SMALL_MAX], values[PTC_SMALL_MAX];
    for (uint32_t i = 0; i < b->count; i++) {
        keys[i] = ptc_dict_build_key(b, i);
        if (!b->is_set)
            values[i] = *ptc_dict_build_slot(b, i);
    }
    PtcValue shape = ptc_shape_new(b->heap, keys, b->hashes, b->count);
    return b->is_set || shape == PTC_NONE ? shape : ptc_smap_new(b->heap, shape, values);
}

/* The trie over all entries, built in one go so that it leaves no garbage. */
static PtcValue build_index(PtcDictBuild *b)
{
    size_t n = b->count, bytes = 2 * n * sizeof(PtcValue);
    PtcValue *slots = ptc_heap_scratch(b->heap, NULL, 0, bytes);
    if (!slots)
        return PTC_NONE;
    for (size_t i = 0; i < n; i++)
        slots[i] = ptc_hamt_slot(b->hashes[i], (uint32_t)i);
    PtcIndex *index = new_dict_index(b->heap, n);
    if (index)
        index->root = ptc_hamt_build(b->heap, ptc_from_obj(index), slots, slots + n, n);
    ptc_heap_scratch_free(b->heap, slots, bytes);
    return index && index->root != PTC_NONE ? ptc_from_obj(index) : PTC_NONE;
}

static PtcValue large_done(PtcDictBuild *b)
{
    PtcValue entries = ptc_build_done(b->heap, b->entries, 0);
    PtcValue index = entries == PTC_NONE ? entries : build_index(b);
    return index == PTC_NONE ? index
                             : new_dict_object(b->heap, b->is_set ? PTC_T_BSET : PTC_T_BMAP,
                                               b->count, entries, index);
}

PtcValue ptc_dict_build_done(PtcDictBuild *b)
{
    PtcValue v = b->count <= PTC_SMALL_MAX ? small_done(b) : large_done(b);
    ptc_dict_build_cancel(b);
    return v;
}
