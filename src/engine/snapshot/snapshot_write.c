/* SPDX-License-Identifier: MIT
 * Values as bytes.  A walk with its own stack writes every object once, after everything that it refers to. */
#include "engine/snapshot/snapshot_int.h"

#include <stdio.h>

#include "base/grow.h"

enum { NODE_BITS = 5 }; /* a node of a large vector has 32 slots */

/* ------------------------------------------------------------------------------ numbers */

void ptc_snapshot_put_number(PtcBuf *out, uint64_t n)
{
    uint8_t bytes[10];
    size_t len = 0;
    for (; n >= 0x80; n >>= 7)
        bytes[len++] = (uint8_t)(n | 0x80);
    bytes[len++] = (uint8_t)n;
    ptc_buf_add(out, bytes, len);
}

void ptc_snapshot_put_signed(PtcBuf *out, int64_t n)
{
    ptc_snapshot_put_number(out, (uint64_t)n << 1 ^ (uint64_t)(n >> 63));
}

void ptc_snapshot_put_text(PtcBuf *out, const char *text, size_t len)
{
    ptc_snapshot_put_number(out, len);
    ptc_buf_add(out, text, len);
}

static void put_snapshot_word(PtcBuf *out, uint64_t word)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> (8 * i));
    ptc_buf_add(out, bytes, sizeof bytes);
}

bool ptc_snapshot_refuse(SnapWriter *w, const char *format, ...)
{
    va_list args;
    if (w->why->class)
        return false;
    va_start(args, format);
    ptc_why_vsay(w->why, PTC_WHY_REFUSED, 0, format, args);
    va_end(args);
    return ptc_why_prefix(w->why, "%.*s: ", PTC_ARG_OF(w->binding->text, w->binding->len));
}

/* --------------------------------------------------------------------------- references */

static bool is_empty_constant(PtcValue v)
{
    return (ptc_is(v, PTC_T_SSET) || ptc_is(v, PTC_T_SMAP)) && ptc_obj(v)->count == 0 &&
           !ptc_is_typed(v);
}

/* Is it written as a separate object? */
static bool is_separate_object(PtcValue v)
{
    return ptc_is_builtin(v) || (ptc_is_obj(v) && !ptc_is(v, PTC_T_FLOAT) && !is_empty_constant(v));
}

void ptc_snapshot_put_value(const SnapWriter *w, PtcBuf *out, uint64_t from, PtcValue v)
{
    if (is_separate_object(v)) {
        const PtcIdEntry *e = ptc_idmap_find(&w->objects, v);
        ptc_snapshot_put_number(out, e && e->number ? SNAP_REF + from - e->number : SNAP_LATER);
    } else if (ptc_is_int(v)) {
        ptc_snapshot_put_number(out, SNAP_INT);
        ptc_snapshot_put_signed(out, ptc_to_int(v));
    } else if (ptc_is_float(v)) {
        double d = ptc_to_float(v);
        uint64_t bits;
        memcpy(&bits, &d, sizeof bits);
        ptc_snapshot_put_number(out, SNAP_FLOAT);
        put_snapshot_word(out, bits);
    } else {
        ptc_snapshot_put_number(out, v == PTC_NIL            ? SNAP_NIL
                                     : v == PTC_FALSE        ? SNAP_FALSE
                                     : v == PTC_TRUE         ? SNAP_TRUE
                                     : v == PTC_UNBOUND      ? SNAP_HOLE
                                     : ptc_is(v, PTC_T_SMAP) ? SNAP_EMPTY_MAP
                                                             : SNAP_EMPTY_SET);
    }
}

static void put_snapshot_value(SnapWriter *w, PtcValue v)
{
    ptc_snapshot_put_value(w, &w->out, w->count, v);
}

/* ------------------------------------------------------------------------- what belongs */

static PtcDict *as_written_dict(PtcValue v)
{
    return (PtcDict *)(uintptr_t)v;
}

/* What orders a sorted map, then its keys and values in order. */
static bool next_sorted(PtcFrame *f, PtcValue *child)
{
    if (f->pos++ == 0) {
        *child = ptc_sorted_by(f->a);
        return true;
    }
    if (f->acc != PTC_NONE) {
        *child = f->acc;
        f->acc = PTC_NONE;
        return true;
    }
    PtcValue value = PTC_NIL;
    if (!ptc_map_next(f->a, &f->pos_b, child, &value))
        return false;
    f->acc = ptc_is(f->a, PTC_T_BMAP) ? value : PTC_NONE;
    return true;
}

/* The node of the given height that holds leaf number `leaf`. */
static PtcValue node_at(const PtcVec *v, size_t leaf, unsigned height)
{
    PtcValue node = v->root;
    for (unsigned h = v->obj.aux / NODE_BITS; h > height; h--)
        node = ((const PtcNode *)(uintptr_t)node)
                   ->slots[leaf >> (NODE_BITS * (h - 1)) & (PTC_FLAT_MAX - 1)];
    return node;
}

/* Part i of a large vector: first full nodes, the highest first, then the elements after them.  What later versions
 * have added to shared nodes is not included. */
static bool part_of_vec(PtcValue vec, size_t i, PtcValue *out)
{
    const PtcVec *v = (const PtcVec *)(uintptr_t)vec;
    size_t leaves = (v->obj.count - 1) / PTC_FLAT_MAX, leaf = 0;
    for (unsigned height = v->obj.aux / NODE_BITS + 1; height-- > 0;) {
        size_t n = leaves >> (NODE_BITS * height) & (PTC_FLAT_MAX - 1);
        if (i < n) {
            *out = node_at(v, leaf + (i << (NODE_BITS * height)), height);
            return true;
        }
        i -= n;
        leaf += n << (NODE_BITS * height);
    }
    if (i >= v->obj.count - leaves * PTC_FLAT_MAX)
        return false;
    *out = ((const PtcNode *)(uintptr_t)v->tail)->slots[i];
    return true;
}

/* Is it a cell of a ring?  Other cells in front of something endless count one more. */
static bool is_ring(PtcValue v)
{
    return ptc_is(v, PTC_T_CONS) && ptc_seq_count(v) == PTC_ENDLESS;
}

static bool next_of_ring(PtcFrame *f, PtcValue *child)
{
    if (f->pos++ == 0)
        f->b = f->a;
    else if (f->b == f->a)
        return false;
    const PtcCons *cell = (const PtcCons *)(uintptr_t)f->b;
    *child = cell->first;
    f->b = cell->rest;
    return true;
}

static bool next_value(PtcFrame *f, PtcValue *child)
{
    PtcLayout at = ptc_object_layout(ptc_obj(f->a));
    if (f->pos >= at.value_count)
        return false;
    *child = at.values[f->pos++];
    return true;
}

static bool next_captured(PtcFrame *f, PtcValue *child)
{
    PtcClosure *c = (PtcClosure *)(uintptr_t)f->a;
    if (f->pos == 0) {
        f->pos = 1;
        *child = ptc_function_main(c->proto);
        return true;
    }
    if (f->pos > c->obj.count)
        return false;
    *child = c->captured[f->pos++ - 1];
    return true;
}

/* The next of the values that must be written before this frame's object; false if there are no more. */
static bool next_child(PtcFrame *f, PtcValue *child)
{
    switch (ptc_tag(f->a)) {
    case PTC_T_VEC: return part_of_vec(f->a, f->pos++, child);
    case PTC_T_FLAT:
    case PTC_T_NODE:
    case PTC_T_SLICE:
    case PTC_T_SSET:
    case PTC_T_SMAP: return next_value(f, child);
    case PTC_T_CONS: return is_ring(f->a) ? next_of_ring(f, child) : next_value(f, child);
    case PTC_T_BMAP:
    case PTC_T_BSET: return ptc_is_sorted(f->a) ? next_sorted(f, child) : next_value(f, child);
    case PTC_T_CLOSURE: return next_captured(f, child);
    case PTC_T_RECORD: return ptc_snapshot_next_field(f, child);
    default: return false;
    }
}

/* ------------------------------------------------------------------------------ writing */

static bool write_builtin(SnapWriter *w, PtcValue v)
{
    char name[160];
    uint32_t index = ptc_builtin_index(v);
    const PtcBuiltin *row = ptc_builtin_row(index);
    int n = snprintf(name, sizeof name, "%s/%s", row->ns, row->name);
    if (n < 0 || (size_t)n >= sizeof name || ptc_builtin_find(name, (size_t)n) != (int)index)
        return ptc_snapshot_refuse(w, "the function %s cannot be stored", row->name);
    ptc_snapshot_put_number(&w->out, SNAP_BUILTIN);
    ptc_snapshot_put_text(&w->out, name, (size_t)n);
    return true;
}

static void write_big(SnapWriter *w, PtcValue v)
{
    const PtcBig *b = (const PtcBig *)(uintptr_t)v;
    ptc_snapshot_put_number(&w->out, SNAP_BIGINT);
    ptc_snapshot_put_number(&w->out, b->obj.flags & PTC_BIG_NEGATIVE ? 1 : 0);
    ptc_snapshot_put_number(&w->out, b->obj.count);
    for (uint32_t i = 0; i < b->obj.count; i++)
        put_snapshot_word(&w->out, b->limbs[i]);
}

static void write_snapshot_values(SnapWriter *w, const PtcValue *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_snapshot_value(w, values[i]);
}

static void write_counted(SnapWriter *w, SnapKind kind, PtcValue v)
{
    PtcLayout at = ptc_object_layout(ptc_obj(v));
    ptc_snapshot_put_number(&w->out, kind);
    if (kind == SNAP_FLAT)
        ptc_snapshot_put_number(&w->out, ptc_obj(v)->flags);
    if (kind == SNAP_FLAT || kind == SNAP_SET)
        ptc_snapshot_put_number(&w->out, at.value_count);
    write_snapshot_values(w, at.values, at.value_count);
}

static bool write_vec(SnapWriter *w, PtcValue v)
{
    PtcValue part;
    ptc_snapshot_put_number(&w->out, SNAP_VEC);
    ptc_snapshot_put_number(&w->out, ptc_obj(v)->flags);
    ptc_snapshot_put_number(&w->out, ptc_obj(v)->count);
    for (size_t i = 0; part_of_vec(v, i, &part); i++)
        put_snapshot_value(w, part);
    return ptc_tick(&w->work->budget, 8);
}

static void write_ring(SnapWriter *w, PtcValue v)
{
    size_t n = 1;
    const PtcCons *cell = (const PtcCons *)(uintptr_t)v;
    for (; cell->rest != v; cell = (const PtcCons *)(uintptr_t)cell->rest)
        n++;
    ptc_snapshot_put_number(&w->out, SNAP_RING);
    ptc_snapshot_put_number(&w->out, n);
    cell = (const PtcCons *)(uintptr_t)v;
    for (; n > 0; n--, cell = (const PtcCons *)(uintptr_t)cell->rest)
        put_snapshot_value(w, cell->first);
}

static void write_slice(SnapWriter *w, PtcValue v)
{
    const PtcSlice *s = (const PtcSlice *)(uintptr_t)v;
    ptc_snapshot_put_number(&w->out, SNAP_SLICE);
    ptc_snapshot_put_number(&w->out, s->obj.flags);
    put_snapshot_value(w, s->base);
    ptc_snapshot_put_number(&w->out, s->start);
    ptc_snapshot_put_number(&w->out, s->obj.count);
}

static void write_range(SnapWriter *w, PtcValue v)
{
    const PtcRange *range = (const PtcRange *)(uintptr_t)v;
    ptc_snapshot_put_number(&w->out, SNAP_RANGE);
    ptc_snapshot_put_number(&w->out, range->obj.flags);
    ptc_snapshot_put_signed(&w->out, range->start);
    ptc_snapshot_put_signed(&w->out, range->step);
    ptc_snapshot_put_number(&w->out, range->obj.count);
}

static bool write_sorted(SnapWriter *w, PtcValue v)
{
    PtcValue key, value;
    bool is_map = ptc_is(v, PTC_T_BMAP);
    ptc_snapshot_put_number(&w->out, SNAP_SORTED);
    ptc_snapshot_put_number(&w->out, is_map);
    put_snapshot_value(w, ptc_sorted_by(v));
    ptc_snapshot_put_number(&w->out, ptc_map_count(v));
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        put_snapshot_value(w, key);
        if (is_map)
            put_snapshot_value(w, value);
        if (!ptc_tick(&w->work->budget, 1))
            return false;
    }
    return true;
}

static bool write_index(SnapWriter *w, PtcValue v)
{
    if (!PTC_GROW(&w->session->ptc->mem, &w->indexes, &w->index_cap, w->index_count + 1))
        return ptc_budget_halt(&w->work->budget, PTC_STOP_MEMORY);
    w->indexes[w->index_count++] = v;
    ptc_snapshot_put_number(&w->out, SNAP_INDEX);
    return true;
}

static bool write_cell(SnapWriter *w, PtcValue v)
{
    if (!PTC_GROW(&w->session->ptc->mem, &w->cells, &w->cell_cap, w->cell_count + 1))
        return ptc_budget_halt(&w->work->budget, PTC_STOP_MEMORY);
    w->cells[w->cell_count++] = v;
    ptc_snapshot_put_number(&w->out, SNAP_CELL);
    ptc_snapshot_put_number(&w->out, ptc_cell_kind(v));
    ptc_snapshot_put_number(&w->out, (uint64_t)ptc_to_int(ptc_record_field(v, PTC_CELL_NUMBER)));
    return true;
}

/* Among maps that share an index, the version with the most entries leads. */
static bool follow_leader(SnapWriter *w, PtcValue v)
{
    bool fresh;
    PtcIdEntry *e = ptc_idmap_at(&w->leaders, as_written_dict(v)->index, &fresh);
    if (!e)
        return ptc_budget_halt(&w->work->budget, PTC_STOP_MEMORY);
    if (fresh || ptc_seq_count(as_written_dict((PtcValue)e->number)->entries) <
                     ptc_seq_count(as_written_dict(v)->entries))
        e->number = v;
    return true;
}

/* What stands before a map that has a type. */
static void write_type(SnapWriter *w, PtcValue v)
{
    if (!ptc_is_typed(v))
        return;
    ptc_snapshot_put_number(&w->out, SNAP_TYPED);
    put_snapshot_value(w, ptc_typed_type(v));
}

static bool write_dict(SnapWriter *w, PtcValue v)
{
    if (ptc_is_sorted(v))
        return write_sorted(w, v);
    write_type(w, v);
    ptc_snapshot_put_number(&w->out, SNAP_DICT);
    ptc_snapshot_put_number(&w->out, ptc_is(v, PTC_T_BMAP));
    put_snapshot_value(w, as_written_dict(v)->entries);
    put_snapshot_value(w, as_written_dict(v)->index);
    return follow_leader(w, v);
}

/* Captures that are still being written themselves become links. */
static bool note_link(SnapWriter *w, PtcValue closure, uint32_t slot)
{
    if (!PTC_GROW(&w->session->ptc->mem, &w->links, &w->link_cap, w->link_count + 1))
        return ptc_budget_halt(&w->work->budget, PTC_STOP_MEMORY);
    w->links[w->link_count++] = (SnapLink){closure, slot};
    return true;
}

static bool write_closure(SnapWriter *w, PtcValue v)
{
    const PtcClosure *c = (const PtcClosure *)(uintptr_t)v;
    ptc_snapshot_put_number(&w->out, SNAP_CLOSURE);
    put_snapshot_value(w, ptc_function_main(c->proto));
    for (uint32_t i = 0; i < c->obj.count; i++) {
        const PtcIdEntry *e =
            is_separate_object(c->captured[i]) ? ptc_idmap_find(&w->objects, c->captured[i]) : NULL;
        if (e && e->number == 0 && !note_link(w, v, i))
            return false;
        put_snapshot_value(w, c->captured[i]);
    }
    return true;
}

static bool write_snapshot_text(SnapWriter *w, SnapKind kind, PtcValue v)
{
    ptc_snapshot_put_number(&w->out, kind);
    ptc_snapshot_put_text(&w->out, ptc_str_bytes(v), ptc_str_len(v));
    return true;
}

static bool is_inner(PtcValue node)
{
    return ptc_is(((const PtcNode *)(uintptr_t)node)->slots[0], PTC_T_NODE);
}

/* Everything that v refers to has been written already. */
static bool write_object(SnapWriter *w, PtcValue v)
{
    if (ptc_is_builtin(v))
        return write_builtin(w, v);
    switch (ptc_tag(v)) {
    case PTC_T_STRING: return write_snapshot_text(w, SNAP_STRING, v);
    case PTC_T_KEYWORD: return write_snapshot_text(w, SNAP_KEYWORD, v);
    case PTC_T_SYMBOL: return write_snapshot_text(w, SNAP_SYMBOL, v);
    case PTC_T_BIGINT: write_big(w, v); return true;
    case PTC_T_FLAT: write_counted(w, SNAP_FLAT, v); return true;
    case PTC_T_NODE: write_counted(w, is_inner(v) ? SNAP_INNER : SNAP_LEAF, v); return true;
    case PTC_T_VEC: return write_vec(w, v);
    case PTC_T_SLICE: write_slice(w, v); return true;
    case PTC_T_RANGE: write_range(w, v); return true;
    case PTC_T_SSET: write_counted(w, SNAP_SET, v); return true;
    case PTC_T_CONS:
    case PTC_T_SMAP: {
        if (is_ring(v)) {
            write_ring(w, v);
            return true;
        }
        PtcLayout at = ptc_object_layout(ptc_obj(v));
        write_type(w, v);
        ptc_snapshot_put_number(&w->out, ptc_is(v, PTC_T_CONS) ? SNAP_CONS : SNAP_MAP);
        write_snapshot_values(w, at.values, at.value_count - ptc_is_typed(v));
        return true;
    }
    case PTC_T_BMAP:
    case PTC_T_BSET: return write_dict(w, v);
    case PTC_T_INDEX: return write_index(w, v);
    case PTC_T_CLOSURE: return write_closure(w, v);
    case PTC_T_PROTO: return ptc_snapshot_write_proto(w, v);
    case PTC_T_VAR: return ptc_snapshot_write_var(w, v);
    case PTC_T_RECORD: return ptc_is_cell(v) ? write_cell(w, v) : ptc_snapshot_write_record(w, v);
    default: return ptc_snapshot_refuse(w, "it holds something that cannot be stored");
    }
}

/* ------------------------------------------------------------------------------ walking */

/* Opens a frame for v, unless it was seen before. */
static bool visit_if_new(SnapWriter *w, PtcWalk *walk, PtcValue v)
{
    bool fresh;
    if (!is_separate_object(v))
        return true;
    const PtcIdEntry *e = ptc_idmap_at(&w->objects, v, &fresh);
    if (!e)
        return ptc_budget_halt(&w->work->budget, PTC_STOP_MEMORY);
    if (fresh)
        return ptc_walk_push(walk, v, 0);
    const PtcFrame *top = ptc_walk_top(walk);
    bool linked = top && ptc_is(top->a, PTC_T_CLOSURE) && ptc_is(v, PTC_T_CLOSURE);
    bool circle = e->number == 0 && top && !linked;
    return !circle || ptc_snapshot_refuse(w, "it refers to itself in a way that cannot be stored");
}

static bool finish_snapshot_object(SnapWriter *w, PtcValue v)
{
    if (!write_object(w, v))
        return false;
    if (!ptc_buf_ok(&w->out))
        return ptc_budget_halt(&w->work->budget, PTC_STOP_MEMORY);
    ptc_idmap_find(&w->objects, v)->number = ++w->count;
    return true;
}

static bool write_with_children(SnapWriter *w, PtcValue v)
{
    PtcWalk walk;
    PtcValue child;
    ptc_walk_init(&walk, &w->work->heap);
    bool ok = visit_if_new(w, &walk, v);
    for (PtcFrame *f; ok && (f = ptc_walk_top(&walk)) != NULL;) {
        if (next_child(f, &child)) {
            ok = visit_if_new(w, &walk, child) && ptc_tick(&w->work->budget, 1);
            continue;
        }
        v = f->a;
        walk.count--;
        ok = finish_snapshot_object(w, v);
    }
    ptc_walk_deinit(&walk);
    return ok;
}

/* What cells hold is written when nothing is open any more, since it may refer to whatever holds the cell. */
bool ptc_snapshot_write(SnapWriter *w, PtcValue v)
{
    bool ok = write_with_children(w, v);
    while (ok && w->cells_done < w->cell_count) {
        PtcValue cell = w->cells[w->cells_done++];
        ok = write_with_children(w, ptc_record_field(cell, PTC_CELL_VALUE)) &&
             write_with_children(w, ptc_record_field(cell, PTC_CELL_MORE));
    }
    return ok;
}

static uint64_t snapshot_number_of(const SnapWriter *w, PtcValue v)
{
    return ptc_idmap_find(&w->objects, v)->number - 1;
}

bool ptc_snapshot_write_end(SnapWriter *w)
{
    ptc_snapshot_put_number(&w->out, w->link_count);
    for (size_t i = 0; i < w->link_count; i++) {
        const PtcClosure *c = (const PtcClosure *)(uintptr_t)w->links[i].closure;
        ptc_snapshot_put_number(&w->out, snapshot_number_of(w, w->links[i].closure));
        ptc_snapshot_put_number(&w->out, w->links[i].slot);
        ptc_snapshot_put_number(&w->out, snapshot_number_of(w, c->captured[w->links[i].slot]));
    }
    for (size_t i = 0; i < w->index_count; i++) {
        PtcValue leader = (PtcValue)ptc_idmap_find(&w->leaders, w->indexes[i])->number;
        ptc_snapshot_put_number(&w->out, ptc_is(leader, PTC_T_BMAP) ? 2 : 1);
        ptc_snapshot_put_number(&w->out, snapshot_number_of(w, as_written_dict(leader)->entries));
    }
    for (size_t i = 0; i < w->cell_count; i++) {
        put_snapshot_value(w, ptc_record_field(w->cells[i], PTC_CELL_VALUE));
        put_snapshot_value(w, ptc_record_field(w->cells[i], PTC_CELL_MORE));
    }
    return ptc_buf_ok(&w->out) || ptc_budget_halt(&w->work->budget, PTC_STOP_MEMORY);
}
