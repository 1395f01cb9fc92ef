/* SPDX-License-Identifier: MIT
 * The compressed 32-way hash trie of dict.h.  What always holds: only nodes owned by an index are changed in place,
 * and at most 7 levels deep. */
#include "value/coll/dict.h"

enum { BITS = 5, HAMT_MASK = 31, HASH_BITS = 32 };

static PtcHamt *hamt(PtcValue v)
{
    return (PtcHamt *)(uintptr_t)v;
}

static bool is_hamt_entry(PtcValue slot)
{
    return (slot & 1) != 0;
}

static uint32_t slot_hash(PtcValue slot)
{
    return (uint32_t)(slot >> 32);
}

static PtcHamt *new_hamt_node(PtcHeap *heap, PtcValue owner, size_t n, size_t cap, uint32_t bitmap)
{
    PtcHamt *o = ptc_heap_object(heap, PTC_T_HAMT, sizeof *o + cap * sizeof(PtcValue), (uint32_t)n);
    if (!o)
        return NULL;
    o->bitmap = bitmap;
    o->cap = (uint32_t)cap;
    o->owner = owner;
    return o;
}

static bool is_clash(const PtcHamt *n)
{
    return (n->obj.flags & PTC_HAMT_CLASH) != 0;
}

/* Position of the slot for this hash at this level, counting the bits before it. */
static size_t hamt_slot_place(uint32_t bitmap, uint32_t bit)
{
    return (size_t)__builtin_popcount(bitmap & (bit - 1));
}

static uint32_t bit_of(uint32_t hash, unsigned shift)
{
    return (uint32_t)1 << ((hash >> shift) & HAMT_MASK);
}

size_t ptc_hamt_find(PtcValue root, uint32_t hash, const PtcValue **slots)
{
    PtcHamt *n = hamt(root);
    for (unsigned shift = 0;; shift += BITS) {
        if (is_clash(n)) {
            *slots = n->slots;
            return slot_hash(n->slots[0]) == hash ? n->obj.count : 0;
        }
        uint32_t bit = bit_of(hash, shift);
        if (!(n->bitmap & bit))
            return 0;
        PtcValue *at = &n->slots[hamt_slot_place(n->bitmap, bit)];
        if (is_hamt_entry(*at)) {
            *slots = at;
            return slot_hash(*at) == hash ? 1 : 0;
        }
        n = hamt(*at);
    }
}

static bool owned(const PtcHeap *heap, PtcValue owner, const PtcHamt *n)
{
    return n->owner == owner && ptc_heap_owns(heap, ptc_from_obj(n));
}

/* The node with `slot` inserted before position `at`: in place if it is ours and has room. */
static PtcValue with_added(PtcHeap *heap, PtcValue owner, PtcHamt *n, size_t at, PtcValue slot,
                           uint32_t bitmap)
{
    size_t count = n->obj.count;
    if (count < n->cap && owned(heap, owner, n)) {
        memmove(n->slots + at + 1, n->slots + at, (count - at) * sizeof slot);
        n->slots[at] = slot;
        n->obj.count++;
        n->bitmap = bitmap;
        return ptc_from_obj(n);
    }
    size_t cap = is_clash(n) ? count + count / 2 + 1 : (count + 4) & ~(size_t)3;
    PtcHamt *o = new_hamt_node(heap, owner, count + 1, cap, bitmap);
    if (!o)
        return PTC_NONE;
    o->obj.flags = n->obj.flags;
    memcpy(o->slots, n->slots, at * sizeof slot);
    o->slots[at] = slot;
    memcpy(o->slots + at + 1, n->slots + at, (count - at) * sizeof slot);
    return ptc_from_obj(o);
}

static PtcValue copy_replaced(PtcHeap *heap, PtcValue owner, const PtcHamt *n, size_t at,
                              PtcValue slot)
{
    PtcHamt *o = new_hamt_node(heap, owner, n->obj.count, n->obj.count, n->bitmap);
    if (!o)
        return PTC_NONE;
    o->obj.flags = n->obj.flags;
    memcpy(o->slots, n->slots, n->obj.count * sizeof slot);
    o->slots[at] = slot;
    return ptc_from_obj(o);
}

/* The node with another slot at position `at`: in place if it is ours. */
static PtcValue with_replaced(PtcHeap *heap, PtcValue owner, PtcHamt *n, size_t at, PtcValue slot)
{
    if (!owned(heap, owner, n))
        return copy_replaced(heap, owner, n, at, slot);
    n->slots[at] = slot;
    return ptc_from_obj(n);
}

static PtcValue new_clash(PtcHeap *heap, PtcValue owner, PtcValue a, PtcValue b)
{
    PtcHamt *o = new_hamt_node(heap, owner, 2, 2, 0);
    if (!o)
        return PTC_NONE;
    o->obj.flags = PTC_HAMT_CLASH;
    o->slots[0] = a;
    o->slots[1] = b;
    return ptc_from_obj(o);
}

/* The smallest subtree at `shift` that contains both a (an entry or clash node with hash ha) and the entry b. */
static PtcValue join_hamt_entries(PtcHeap *heap, PtcValue owner, PtcValue a, uint32_t ha,
                                  PtcValue b, unsigned shift)
{
    uint32_t hb = slot_hash(b);
    if (ha == hb)
        return new_clash(heap, owner, a, b);
    uint32_t bit_a = bit_of(ha, shift), bit_b = bit_of(hb, shift);
    if (bit_a == bit_b) {
        PtcValue child = join_hamt_entries(heap, owner, a, ha, b, shift + BITS);
        PtcHamt *o = child == PTC_NONE ? NULL : new_hamt_node(heap, owner, 1, 1, bit_a);
        if (!o)
            return PTC_NONE;
        o->slots[0] = child;
        return ptc_from_obj(o);
    }
    PtcHamt *o = new_hamt_node(heap, owner, 2, 4, bit_a | bit_b);
    if (!o)
        return PTC_NONE;
    o->slots[bit_a < bit_b ? 0 : 1] = a;
    o->slots[bit_a < bit_b ? 1 : 0] = b;
    return ptc_from_obj(o);
}

static PtcValue insert_clash(PtcHeap *heap, PtcValue owner, PtcHamt *n, PtcValue slot,
                             unsigned shift)
{
    uint32_t theirs = slot_hash(n->slots[0]);
    if (theirs != slot_hash(slot))
        return join_hamt_entries(heap, owner, ptc_from_obj(n), theirs, slot, shift);
    if (!ptc_tick(heap->budget, n->obj.count))
        return PTC_NONE;
    for (size_t i = 0; i < n->obj.count; i++)
        if (n->slots[i] == slot)
            return ptc_from_obj(n);
    return with_added(heap, owner, n, n->obj.count, slot, 0);
}

/* Depth is bounded by the hash: at most 7 levels. */
static PtcValue insert_hamt_slot(PtcHeap *heap, PtcValue owner, PtcValue v, PtcValue slot,
                                 unsigned shift)
{
    PtcHamt *n = hamt(v);
    uint32_t hash = slot_hash(slot);
    if (is_clash(n))
        return insert_clash(heap, owner, n, slot, shift);
    uint32_t bit = bit_of(hash, shift);
    size_t at = hamt_slot_place(n->bitmap, bit);
    if (!(n->bitmap & bit))
        return with_added(heap, owner, n, at, slot, n->bitmap | bit);
    PtcValue old = n->slots[at];
    if (old == slot)
        return v;
    PtcValue child = is_hamt_entry(old)
                         ? join_hamt_entries(heap, owner, old, slot_hash(old), slot, shift + BITS)
                         : insert_hamt_slot(heap, owner, old, slot, shift + BITS);
    return child == PTC_NONE || child == old ? (child == PTC_NONE ? child : v)
                                             : with_replaced(heap, owner, n, at, child);
}

PtcValue ptc_hamt_insert(PtcHeap *heap, PtcValue owner, PtcValue root, PtcValue slot)
{
    return insert_hamt_slot(heap, owner, root, slot, 0);
}

static PtcValue hamt_without_slot(PtcHeap *heap, PtcValue owner, const PtcHamt *n, size_t at,
                                  uint32_t bitmap)
{
    PtcHamt *o = new_hamt_node(heap, owner, n->obj.count - 1, n->obj.count - 1, bitmap);
    if (!o)
        return PTC_NONE;
    o->obj.flags = n->obj.flags;
    memcpy(o->slots, n->slots, at * sizeof(PtcValue));
    memcpy(o->slots + at, n->slots + at + 1, (n->obj.count - at - 1) * sizeof(PtcValue));
    return ptc_from_obj(o);
}

static PtcValue remove_clash(PtcHeap *heap, PtcValue owner, PtcHamt *n, PtcValue slot)
{
    if (!ptc_tick(heap->budget, n->obj.count))
        return PTC_NONE;
    for (size_t i = 0; i < n->obj.count; i++)
        if (n->slots[i] == slot)
            return hamt_without_slot(heap, owner, n, i, 0);
    return ptc_from_obj(n);
}

/* `owner` is a new index.  Everything on the path is copied, even nodes that bear its address: a dead index may have
 * had the same address, and its nodes may live on in other versions. */
static PtcValue remove_from(PtcHeap *heap, PtcValue owner, PtcValue v, PtcValue slot,
                            unsigned shift)
{
    PtcHamt *n = hamt(v);
    if (is_clash(n))
        return remove_clash(heap, owner, n, slot);
    uint32_t bit = bit_of(slot_hash(slot), shift);
    size_t at = hamt_slot_place(n->bitmap, bit);
    if (!(n->bitmap & bit))
        return v;
    if (n->slots[at] == slot)
        return hamt_without_slot(heap, owner, n, at, n->bitmap & ~bit);
    if (is_hamt_entry(n->slots[at]))
        return v;
    PtcValue child = remove_from(heap, owner, n->slots[at], slot, shift + BITS);
    if (child == PTC_NONE || child == n->slots[at])
        return child == PTC_NONE ? child : v;
    if (hamt(child)->obj.count == 0)
        return hamt_without_slot(heap, owner, n, at, n->bitmap & ~bit);
    if (hamt(child)->obj.count == 1 && is_hamt_entry(hamt(child)->slots[0]))
        child = hamt(child)->slots[0];
    return copy_replaced(heap, owner, n, at, child);
}

PtcValue ptc_hamt_remove(PtcHeap *heap, PtcValue owner, PtcValue root, PtcValue slot)
{
    return remove_from(heap, owner, root, slot, 0);
}

static bool all_one_hash(const PtcValue *slots, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (slot_hash(slots[i]) != slot_hash(slots[0]))
            return false;
    return true;
}

static PtcValue build_hamt(PtcHeap *heap, PtcValue owner, PtcValue *slots, PtcValue *scratch,
                           size_t n, unsigned shift)
{
    if (!ptc_tick(heap->budget, (int64_t)n))
        return PTC_NONE;
    if (n > 1 && all_one_hash(slots, n)) {
        PtcHamt *o = new_hamt_node(heap, owner, n, n, 0);
        if (!o)
            return PTC_NONE;
        o->obj.flags = PTC_HAMT_CLASH;
        memcpy(o->slots, slots, n * sizeof *slots);
        return ptc_from_obj(o);
    }
    size_t start[HAMT_MASK + 2] = {0};
    for (size_t i = 0; i < n; i++)
        start[((slot_hash(slots[i]) >> shift) & HAMT_MASK) + 1]++;
    uint32_t bitmap = 0;
    size_t used = 0;
    for (size_t d = 0; d <= HAMT_MASK; d++) {
        if (start[d + 1]) {
            bitmap |= (uint32_t)1 << d;
            used++;
        }
        start[d + 1] += start[d];
    }
    size_t at[HAMT_MASK + 1];
    memcpy(at, start, sizeof at);
    for (size_t i = 0; i < n; i++)
        scratch[at[(slot_hash(slots[i]) >> shift) & HAMT_MASK]++] = slots[i];
    PtcHamt *o = new_hamt_node(heap, owner, used, used, bitmap);
    for (size_t d = 0, k = 0; o && d <= HAMT_MASK; d++) {
        size_t m = start[d + 1] - start[d];
        if (m == 0)
            continue;
        PtcValue child =
            m == 1 ? scratch[start[d]]
                   : build_hamt(heap, owner, scratch + start[d], slots + start[d], m, shift + BITS);
        if (child == PTC_NONE)
            return child;
        o->slots[k++] = child;
    }
    return o ? ptc_from_obj(o) : PTC_NONE;
}

PtcValue ptc_hamt_build(PtcHeap *heap, PtcValue owner, PtcValue *slots, PtcValue *scratch, size_t n)
{
    return build_hamt(heap, owner, slots, scratch, n, 0);
}
