/* SPDX-License-Identifier: MIT
 * Persistent vectors, slices, ranges and cons lists.  What always holds: nodes that an older version can see are
 * never changed; only slots after its end are filled in place. */
#include "value/coll/vec.h"

#include "value/coll/iter.h"

enum { BITS = 5, VEC_WIDTH = 1 << BITS, VEC_MASK = VEC_WIDTH - 1 };
/* flags that a changed version keeps */
enum { VEC_KEPT = PTC_SEQ | PTC_QUEUE };

static PtcNode *as_vec_node(PtcValue v)
{
    return (PtcNode *)(uintptr_t)v;
}

static PtcVec *vec(PtcValue v)
{
    return (PtcVec *)(uintptr_t)v;
}

static PtcSlice *slice(PtcValue v)
{
    return (PtcSlice *)(uintptr_t)v;
}

/* A node with room for cap slots, holding the first n of items. */
static PtcNode *new_vec_node(PtcHeap *heap, const PtcValue *items, size_t n, size_t cap)
{
    PtcNode *o =
        ptc_heap_object(heap, PTC_T_NODE, sizeof(PtcNode) + cap * sizeof(PtcValue), (uint32_t)n);
    if (!o)
        return NULL;
    o->obj.aux = (uint16_t)cap;
    if (n)
        memcpy(o->slots, items, n * sizeof(PtcValue));
    return o;
}

static PtcValue new_flat(PtcHeap *heap, const PtcValue *items, size_t n, int flags)
{
    PtcFlat *o =
        ptc_heap_object(heap, PTC_T_FLAT, sizeof(PtcFlat) + n * sizeof(PtcValue), (uint32_t)n);
    if (!o)
        return PTC_NONE;
    o->obj.flags = (uint8_t)flags;
    ptc_copy_few(o->items, items, n);
    return ptc_from_obj(o);
}

static PtcValue new_vec(PtcHeap *heap, size_t count, unsigned shift, PtcValue root, PtcValue tail,
                        int flags)
{
    PtcVec *o = ptc_heap_object(heap, PTC_T_VEC, sizeof *o, (uint32_t)count);
    if (!o)
        return PTC_NONE;
    o->obj.flags = (uint8_t)flags;
    o->obj.aux = (uint16_t)shift;
    o->root = root;
    o->tail = tail;
    return ptc_from_obj(o);
}

/* Index of the first element in the tail of a VEC with this many elements. */
static size_t tail_start(size_t count)
{
    return (count - 1) & ~(size_t)VEC_MASK;
}

static bool too_many(PtcHeap *heap, size_t count)
{
    if (count < UINT32_MAX / 2)
        return false;
    ptc_budget_exceed(heap->budget, PTC_STOP_SIZE, "a collection may not have more elements than",
                      UINT32_MAX / 2);
    return true;
}

/* ----------------------------------------------------------------- reading */

static const PtcValue *vec_leaf(const PtcVec *v, size_t i)
{
    if (i >= tail_start(v->obj.count))
        return as_vec_node(v->tail)->slots;
    PtcNode *n = as_vec_node(v->root);
    for (unsigned level = v->obj.aux; level > 0; level -= BITS)
        n = as_vec_node(n->slots[(i >> level) & VEC_MASK]);
    return n->slots;
}

const PtcValue *ptc_vec_chunk(PtcValue v, size_t i, size_t *n)
{
    size_t left = ptc_seq_count(v) - i;
    if (ptc_tag(v) == PTC_T_SLICE) {
        const PtcValue *p = ptc_vec_chunk(slice(v)->base, slice(v)->start + i, n);
        if (*n > left)
            *n = left;
        return p;
    }
    if (ptc_tag(v) == PTC_T_FLAT) {
        *n = left;
        return ((PtcFlat *)(uintptr_t)v)->items + i;
    }
    size_t in_leaf = VEC_WIDTH - (i & VEC_MASK);
    *n = left < in_leaf ? left : in_leaf;
    return vec_leaf(vec(v), i) + (i & VEC_MASK);
}

PtcValue ptc_seq_nth(PtcValue seq, size_t i)
{
    for (;;) {
        switch (ptc_tag(seq)) {
        case PTC_T_FLAT: return ((PtcFlat *)(uintptr_t)seq)->items[i];
        case PTC_T_VEC: return vec_leaf(vec(seq), i)[i & VEC_MASK];
        case PTC_T_SLICE:
            i += slice(seq)->start;
            seq = slice(seq)->base;
            break;
        case PTC_T_RANGE: {
            PtcRange *r = (PtcRange *)(uintptr_t)seq;
            return ptc_int(r->start + (int64_t)i * r->step);
        }
        case PTC_T_CONS:
            if (i == 0)
                return ((PtcCons *)(uintptr_t)seq)->first;
            i--;
            seq = ((PtcCons *)(uintptr_t)seq)->rest;
            break;
        default: return PTC_NIL;
        }
    }
}

/* ---------------------------------------------------------------- appending */

/* Puts child at position idx, the number of slots before it.  In place if the slot after the last is free and ours;
 * older versions never look there. */
static PtcNode *node_append(PtcHeap *heap, PtcNode *n, size_t idx, PtcValue child)
{
    if (n->obj.count == idx && n->obj.aux > idx && ptc_heap_owns(heap, ptc_from_obj(n))) {
        n->slots[idx] = child;
        n->obj.count++;
        return n;
    }
    PtcNode *copy = new_vec_node(heap, n->slots, idx, VEC_WIDTH);
    if (!copy)
        return NULL;
    copy->slots[idx] = child;
    copy->obj.count++;
    return copy;
}

/* A chain of nodes from `level` down to the leaf. */
static PtcNode *new_path(PtcHeap *heap, unsigned level, PtcNode *leaf)
{
    PtcNode *n = leaf;
    for (unsigned at = 0; n && at < level; at += BITS) {
        PtcValue child = ptc_from_obj(n);
        n = new_vec_node(heap, &child, 1, VEC_WIDTH);
    }
    return n;
}

/* Adds a full leaf whose elements begin at index `first`. */
static PtcNode *push_leaf(PtcHeap *heap, PtcNode *n, unsigned level, size_t first, PtcNode *leaf)
{
    size_t idx = (first >> level) & VEC_MASK;
    if (level == BITS)
        return node_append(heap, n, idx, ptc_from_obj(leaf));
    bool inside = idx < n->obj.count && (first & (((size_t)1 << level) - 1)) != 0;
    PtcNode *child = inside ? push_leaf(heap, as_vec_node(n->slots[idx]), level - BITS, first, leaf)
                            : new_path(heap, level - BITS, leaf);
    if (!child)
        return NULL;
    if (inside && child == as_vec_node(n->slots[idx]))
        return n;
    if (!inside)
        return node_append(heap, n, idx, ptc_from_obj(child));
    PtcNode *copy = new_vec_node(heap, n->slots, idx + 1, VEC_WIDTH);
    if (copy)
        copy->slots[idx] = ptc_from_obj(child);
    return copy;
}

/* Adds a leaf to a tree of `first` elements (nil root: none), growing it by a level when full. */
static PtcNode *tree_push(PtcHeap *heap, PtcValue root, unsigned *shift, size_t first,
                          PtcNode *leaf)
{
    if (root == PTC_NIL) {
        *shift = BITS;
        return new_path(heap, BITS, leaf);
    }
    if ((first >> BITS) < ((size_t)1 << *shift))
        return push_leaf(heap, as_vec_node(root), *shift, first, leaf);
    PtcNode *path = new_path(heap, *shift, leaf);
    if (!path)
        return NULL;
    PtcValue both[2] = {root, ptc_from_obj(path)};
    *shift += BITS;
    return new_vec_node(heap, both, 2, VEC_WIDTH);
}

static PtcValue flat_conj(PtcHeap *heap, PtcValue v, PtcValue x, int flags)
{
    const PtcFlat *f = (const PtcFlat *)(uintptr_t)v;
    size_t n = f->obj.count;
    if (n < PTC_FLAT_MAX) {
        PtcFlat *o = ptc_heap_object(heap, PTC_T_FLAT, sizeof(PtcFlat) + (n + 1) * sizeof x,
                                     (uint32_t)n + 1);
        if (!o)
            return PTC_NONE;
        o->obj.flags = (uint8_t)flags;
        memcpy(o->items, f->items, n * sizeof x);
        o->items[n] = x;
        return ptc_from_obj(o);
    }
    PtcNode *leaf = new_vec_node(heap, f->items, n, VEC_WIDTH);
    PtcNode *root = leaf ? new_path(heap, BITS, leaf) : NULL;
    PtcNode *tail = root ? new_vec_node(heap, &x, 1, VEC_WIDTH) : NULL;
    if (!tail)
        return PTC_NONE;
    return new_vec(heap, n + 1, BITS, ptc_from_obj(root), ptc_from_obj(tail), flags);
}

static PtcValue vec_conj(PtcHeap *heap, const PtcVec *v, PtcValue x, int flags)
{
    size_t count = v->obj.count;
    size_t first = tail_start(count);
    if (too_many(heap, count))
        return PTC_NONE;
    if (count - first < VEC_WIDTH) {
        PtcNode *tail = node_append(heap, as_vec_node(v->tail), count - first, x);
        return tail ? new_vec(heap, count + 1, v->obj.aux, v->root, ptc_from_obj(tail), flags)
                    : PTC_NONE;
    }
    unsigned shift = v->obj.aux;
    PtcNode *root = tree_push(heap, v->root, &shift, first, as_vec_node(v->tail));
    PtcNode *tail = root ? new_vec_node(heap, &x, 1, VEC_WIDTH) : NULL;
    if (!tail)
        return PTC_NONE;
    return new_vec(heap, count + 1, shift, ptc_from_obj(root), ptc_from_obj(tail), flags);
}

static PtcValue new_slice(PtcHeap *heap, PtcValue base, size_t start, size_t count, int flags)
{
    PtcSlice *o = ptc_heap_object(heap, PTC_T_SLICE, sizeof *o, (uint32_t)count);
    if (!o)
        return PTC_NONE;
    o->obj.flags = (uint8_t)flags;
    o->base = base;
    o->start = start;
    return ptc_from_obj(o);
}

/* The elements of a slice as a separate vector. */
static PtcValue unslice(PtcHeap *heap, PtcValue v)
{
    PtcValue b = ptc_build_new(heap);
    size_t n = 0;
    for (size_t i = 0; b != PTC_NONE && i < ptc_seq_count(v); i += n) {
        const PtcValue *p = ptc_vec_chunk(v, i, &n);
        if (!ptc_tick(heap->budget, 1))
            return PTC_NONE;
        for (size_t k = 0; k < n; k++)
            if (!ptc_build_add(heap, b, p[k]))
                return PTC_NONE;
    }
    return b == PTC_NONE ? b : ptc_build_done(heap, b, ptc_obj(v)->flags & VEC_KEPT);
}

/* A slice that ends where its base ends grows with the base, so that a queue (conj at the end, rest at the front) has
 * constant cost; once most of the base is in front of the slice, the base is left behind. */
static PtcValue slice_conj(PtcHeap *heap, PtcValue v, PtcValue x)
{
    const PtcSlice *s = slice(v);
    size_t n = s->obj.count, whole = ptc_seq_count(s->base);
    if (n < PTC_FLAT_MAX || s->start + n != whole || s->start > whole / 2) {
        PtcValue own = unslice(heap, v);
        return own == PTC_NONE ? own : ptc_vec_conj(heap, own, x);
    }
    PtcValue base = ptc_vec_conj(heap, s->base, x);
    return base == PTC_NONE ? base : new_slice(heap, base, s->start, n + 1, s->obj.flags);
}

PtcValue ptc_vec_conj(PtcHeap *heap, PtcValue v, PtcValue x)
{
    int flags = ptc_obj(v)->flags & VEC_KEPT;
    if (ptc_tag(v) == PTC_T_FLAT)
        return flat_conj(heap, v, x, flags);
    if (ptc_tag(v) == PTC_T_SLICE)
        return slice_conj(heap, v, x);
    return vec_conj(heap, vec(v), x, flags);
}

PtcValue ptc_vec_conj2(PtcHeap *heap, PtcValue v, PtcValue x, PtcValue y)
{
    size_t count = ptc_seq_count(v), in_tail = count - tail_start(count);
    if (ptc_tag(v) == PTC_T_VEC && in_tail + 2 <= VEC_WIDTH && !too_many(heap, count)) {
        PtcNode *tail = node_append(heap, as_vec_node(vec(v)->tail), in_tail, x);
        if (!tail || !(tail = node_append(heap, tail, in_tail + 1, y)))
            return PTC_NONE;
        return new_vec(heap, count + 2, vec(v)->obj.aux, vec(v)->root, ptc_from_obj(tail),
                       ptc_obj(v)->flags & PTC_SEQ);
    }
    v = ptc_vec_conj(heap, v, x);
    return v == PTC_NONE ? v : ptc_vec_conj(heap, v, y);
}

/* ---------------------------------------------------------- replacing, popping */

static PtcNode *node_assoc(PtcHeap *heap, const PtcNode *n, unsigned level, size_t i, PtcValue x)
{
    PtcNode *copy = new_vec_node(heap, n->slots, n->obj.count, VEC_WIDTH);
    if (!copy)
        return NULL;
    size_t idx = (i >> level) & VEC_MASK;
    if (level == 0) {
        copy->slots[idx] = x;
        return copy;
    }
    PtcNode *child = node_assoc(heap, as_vec_node(n->slots[idx]), level - BITS, i, x);
    if (!child)
        return NULL;
    copy->slots[idx] = ptc_from_obj(child);
    return copy;
}

PtcValue ptc_vec_assoc(PtcHeap *heap, PtcValue v, size_t i, PtcValue x)
{
    size_t count = ptc_seq_count(v);
    int flags = ptc_obj(v)->flags & VEC_KEPT;
    if (ptc_tag(v) == PTC_T_FLAT) {
        PtcValue copy = new_flat(heap, ((PtcFlat *)(uintptr_t)v)->items, count, flags);
        if (copy != PTC_NONE)
            ((PtcFlat *)(uintptr_t)copy)->items[i] = x;
        return copy;
    }
    if (ptc_tag(v) == PTC_T_SLICE) {
        PtcValue base = ptc_vec_assoc(heap, slice(v)->base, slice(v)->start + i, x);
        return base == PTC_NONE ? base : new_slice(heap, base, slice(v)->start, count, flags);
    }
    const PtcVec *o = vec(v);
    bool in_tail = i >= tail_start(count);
    PtcNode *n = in_tail ? node_assoc(heap, as_vec_node(o->tail), 0, i, x)
                         : node_assoc(heap, as_vec_node(o->root), o->obj.aux, i, x);
    if (!n)
        return PTC_NONE;
    return new_vec(heap, count, o->obj.aux, in_tail ? o->root : ptc_from_obj(n),
                   in_tail ? ptc_from_obj(n) : o->tail, flags);
}

PtcValue ptc_vec_pop(PtcHeap *heap, PtcValue v)
{
    size_t n = ptc_seq_count(v) - 1;
    int flags = ptc_obj(v)->flags & VEC_KEPT;
    if (ptc_tag(v) != PTC_T_VEC || n <= PTC_FLAT_MAX)
        return ptc_seq_slice(heap, v, 0, n, flags);
    const PtcVec *o = vec(v);
    PtcValue tail = o->tail;
    if (n == tail_start(n + 1)) { /* the tail held one element: the last leaf becomes the tail */
        const PtcNode *leaf = as_vec_node(o->root);
        for (unsigned level = o->obj.aux; level > 0; level -= BITS)
            leaf = as_vec_node(leaf->slots[((n - 1) >> level) & VEC_MASK]);
        tail = ptc_from_obj(leaf);
    }
    return new_vec(heap, n, o->obj.aux, o->root, tail, flags);
}

/* ------------------------------------------------------------------- slices */

static PtcValue copy_front(PtcHeap *heap, PtcValue seq, size_t count, int flags)
{
    PtcIter it;
    PtcValue x, b = ptc_build_new(heap);
    if (b == PTC_NONE || !ptc_iter_init(&it, heap, seq))
        return PTC_NONE;
    while (count-- > 0 && ptc_iter_next(&it, &x))
        if (!ptc_tick(heap->budget, 1) || !ptc_build_add(heap, b, x))
            return PTC_NONE;
    return ptc_build_done(heap, b, flags);
}

PtcValue ptc_seq_slice(PtcHeap *heap, PtcValue seq, size_t start, size_t count, int flags)
{
    while (ptc_tag(seq) == PTC_T_CONS && start > 0) {
        if (!ptc_tick(heap->budget, 1))
            return PTC_NONE;
        seq = ((PtcCons *)(uintptr_t)seq)->rest;
        start--;
    }
    PtcTag tag = ptc_tag(seq);
    if (count == ptc_seq_count(seq) && start == 0 &&
        (tag == PTC_T_CONS || (ptc_obj(seq)->flags & VEC_KEPT) == flags))
        return seq;
    if (count == 0)
        return new_flat(heap, NULL, 0, flags);
    if (tag == PTC_T_CONS)
        return copy_front(heap, seq, count, flags);
    if (tag == PTC_T_RANGE) {
        PtcRange *r = (PtcRange *)(uintptr_t)seq;
        PtcValue v = ptc_range_new(heap, r->start + (int64_t)start * r->step, r->step, count);
        if (v != PTC_NONE)
            ptc_obj(v)->flags = (uint8_t)flags;
        return v;
    }
    if (tag == PTC_T_SLICE) {
        start += slice(seq)->start;
        seq = slice(seq)->base;
    }
    if (count <= 2 && ptc_tag(seq) == PTC_T_FLAT)
        return new_flat(heap, ((PtcFlat *)(uintptr_t)seq)->items + start, count, flags);
    return new_slice(heap, seq, start, count, flags);
}

PtcValue ptc_range_new(PtcHeap *heap, int64_t start, int64_t step, size_t n)
{
    if (too_many(heap, n))
        return PTC_NONE;
    PtcRange *o = ptc_heap_object(heap, PTC_T_RANGE, sizeof *o, (uint32_t)n);
    if (!o)
        return PTC_NONE;
    o->obj.flags = PTC_SEQ;
    o->start = start;
    o->step = step;
    return ptc_from_obj(o);
}

PtcValue ptc_cons_new(PtcHeap *heap, PtcValue x, PtcValue rest)
{
    size_t n = ptc_seq_count(rest);
    if (too_many(heap, n))
        return PTC_NONE;
    PtcCons *o = ptc_heap_object(heap, PTC_T_CONS, sizeof *o, (uint32_t)n + 1);
    if (!o)
        return PTC_NONE;
    o->first = x;
    o->rest = rest;
    return ptc_from_obj(o);
}

/* ----------------------------------------------------------------- building */

PtcValue ptc_build_new(PtcHeap *heap)
{
    PtcVecBuild *o = ptc_heap_object(heap, PTC_T_VECBUILD, sizeof *o, 0);
    if (!o)
        return PTC_NONE;
    o->root = o->tail = PTC_NIL;
    o->shift = o->waits = 0;
    return ptc_from_obj(o);
}

PtcValue ptc_build_waiting(PtcHeap *heap, PtcValue target)
{
    PtcValue b = ptc_build_new(heap);
    if (b == PTC_NONE)
        return b;
    ((PtcVecBuild *)(uintptr_t)b)->root = target;
    ((PtcVecBuild *)(uintptr_t)b)->waits = 1;
    return b;
}

/* Makes room for one more element in the tail. */
static bool build_room(PtcHeap *heap, PtcVecBuild *b)
{
    PtcNode *tail = NULL;
    if (b->tail == PTC_NIL) {
        tail = new_vec_node(heap, NULL, 0, 4);
    } else if (as_vec_node(b->tail)->obj.aux < VEC_WIDTH) {
        tail = new_vec_node(heap, as_vec_node(b->tail)->slots, as_vec_node(b->tail)->obj.count,
                            (size_t)as_vec_node(b->tail)->obj.aux * 2);
    } else {
        unsigned shift = b->shift;
        tail = new_vec_node(heap, NULL, 0, VEC_WIDTH);
        PtcNode *root =
            tail ? tree_push(heap, b->root, &shift, b->obj.count - VEC_WIDTH, as_vec_node(b->tail))
                 : NULL;
        if (!root || too_many(heap, b->obj.count))
            return false;
        b->root = ptc_from_obj(root);
        b->shift = shift;
    }
    if (tail)
        b->tail = ptc_from_obj(tail);
    return tail != NULL;
}

bool ptc_build_add(PtcHeap *heap, PtcValue build, PtcValue x)
{
    PtcVecBuild *b = (PtcVecBuild *)(uintptr_t)build;
    PtcNode *tail = as_vec_node(b->tail);
    if (b->tail == PTC_NIL || tail->obj.count == tail->obj.aux) {
        if (!build_room(heap, b))
            return false;
        tail = as_vec_node(b->tail);
    }
    tail->slots[tail->obj.count++] = x;
    b->obj.count++;
    return true;
}

PtcValue *ptc_build_slot(PtcValue build, size_t i)
{
    PtcVecBuild *b = (PtcVecBuild *)(uintptr_t)build;
    PtcNode *n = as_vec_node(b->tail);
    size_t in_tree = b->obj.count - n->obj.count;
    if (i >= in_tree)
        return &n->slots[i - in_tree];
    n = as_vec_node(b->root);
    for (unsigned level = b->shift; level > 0; level -= BITS)
        n = as_vec_node(n->slots[(i >> level) & VEC_MASK]);
    return &n->slots[i & VEC_MASK];
}

PtcValue ptc_build_done(PtcHeap *heap, PtcValue build, int flags)
{
    PtcVecBuild *b = (PtcVecBuild *)(uintptr_t)build;
    size_t n = b->obj.count;
    if (n <= PTC_FLAT_MAX)
        return new_flat(heap, n ? as_vec_node(b->tail)->slots : NULL, n, flags);
    return new_vec(heap, n, b->shift, b->root, b->tail, flags);
}

PtcValue ptc_vec_new(PtcHeap *heap, const PtcValue *items, size_t n, int flags)
{
    if (n <= PTC_FLAT_MAX)
        return new_flat(heap, items, n, flags);
    PtcValue b = ptc_build_new(heap);
    for (size_t i = 0; b != PTC_NONE && i < n; i++)
        if (!ptc_build_add(heap, b, items[i]))
            return PTC_NONE;
    return b == PTC_NONE ? b : ptc_build_done(heap, b, flags);
}

PtcValue ptc_vec_pair(PtcHeap *heap, PtcValue a, PtcValue b)
{
    PtcValue both[2] = {a, b};
    return new_flat(heap, both, 2, PTC_ENTRY);
}
