/* SPDX-License-Identifier: MIT
 * Cells, types, protocols and multimethods from bytes.  Code that gets these values trusts their fields, so everything
 * is checked here; what cells hold is checked by those who read it, since it comes last. */
#include "engine/snapshot/snapshot_int.h"
#include "lisp/dispatch/dispatch.h"
#include "lisp/vm/vm_int.h"

/* -------------------------------------------------------------------------------- cells */

bool ptc_snapshot_read_cell(SnapReader *r)
{
    uint64_t kind, number;
    if (!ptc_snapshot_get_number(r, PTC_CELL_KINDS - 1, &kind) ||
        !ptc_snapshot_get_number(r, UINT32_MAX, &number))
        return false;
    PtcValue cell = ptc_cell_new(r->heap, (PtcCellKind)kind, PTC_NIL, PTC_NIL);
    if (cell == PTC_NONE)
        return false;
    ((PtcRecord *)(uintptr_t)cell)->fields[PTC_CELL_NUMBER] = ptc_int((int64_t)number);
    return ptc_snapshot_add_value(r, cell);
}

static bool fill_cell(SnapReader *r, PtcValue cell)
{
    PtcValue *f = ((PtcRecord *)(uintptr_t)cell)->fields;
    bool delay = ptc_cell_kind(cell) == PTC_CELL_DELAY;
    if (!ptc_snapshot_get_slot(r, delay, false, &f[PTC_CELL_VALUE]) ||
        !ptc_snapshot_get_value(r, &f[PTC_CELL_MORE]))
        return false;
    bool good = delay ? ptc_is_callable(f[PTC_CELL_MORE]) : f[PTC_CELL_MORE] == PTC_NIL;
    return good || SNAP_BAD(r, "an atom or a delay is written wrong");
}

bool ptc_snapshot_fill_cells(SnapReader *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (ptc_is_cell(r->items[i].value) && !fill_cell(r, r->items[i].value))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------ records */

static const uint8_t kinds[SNAP_R_COUNT] = {
    [SNAP_R_TYPE] = PTC_R_TYPE,         [SNAP_R_OBJECT] = PTC_R_OBJECT,
    [SNAP_R_PROTOCOL] = PTC_R_PROTOCOL, [SNAP_R_METHOD] = PTC_R_METHOD,
    [SNAP_R_MULTI] = PTC_R_MULTI,       [SNAP_R_INLINE] = PTC_R_INLINE};

SnapRecord ptc_snapshot_record_code(unsigned kind)
{
    int code = 0;
    while (code < SNAP_R_COUNT && kinds[code] != kind)
        code++;
    return (SnapRecord)code;
}

/* A vector of at most so many elements, all of which the test accepts. */
static bool is_vector_of(PtcValue v, bool (*good)(PtcValue))
{
    if (!ptc_is(v, PTC_T_FLAT) && !ptc_is(v, PTC_T_VEC))
        return false;
    for (size_t i = 0, n = ptc_seq_count(v); i < n; i++)
        if (!good(ptc_seq_nth(v, i)))
            return false;
    return true;
}

static bool is_atom_cell(PtcValue v)
{
    return ptc_is_cell(v) && ptc_cell_kind(v) == PTC_CELL_ATOM;
}

static bool is_snapshot_type(const PtcValue *f, size_t n)
{
    return n == PTC_TYPE_FIELDS && ptc_is(f[PTC_TYPE_NAME], PTC_T_SYMBOL) &&
           is_vector_of(f[PTC_TYPE_BASIS], ptc_is_keyword) && ptc_is_int(f[PTC_TYPE_KIND]) &&
           ptc_to_int(f[PTC_TYPE_KIND]) >= 0 && ptc_to_int(f[PTC_TYPE_KIND]) < PTC_KIND_COUNT;
}

static bool good_object(const PtcValue *f, size_t n)
{
    return n >= PTC_OBJECT_VALUES && ptc_is_type(f[PTC_OBJECT_TYPE]) &&
           ptc_is_int(f[PTC_OBJECT_NUMBER]) &&
           (f[PTC_OBJECT_METHODS] == PTC_NIL || ptc_is_map(f[PTC_OBJECT_METHODS])) &&
           n - PTC_OBJECT_VALUES ==
               ptc_seq_count(ptc_type_field(f[PTC_OBJECT_TYPE], PTC_TYPE_BASIS));
}

static bool good_multi(const PtcValue *f, size_t n)
{
    return n == PTC_MULTI_FIELDS && ptc_is(f[PTC_MULTI_NAME], PTC_T_SYMBOL) &&
           ptc_is_callable(f[PTC_MULTI_BY]) && is_atom_cell(f[PTC_MULTI_METHODS]) &&
           is_atom_cell(f[PTC_MULTI_PREFERS]);
}

static bool is_place(PtcValue v)
{
    return ptc_is_int(v) && ptc_to_int(v) >= -1;
}

static bool good_inline(const PtcValue *f, size_t n)
{
    return n == PTC_INLINE_FIELDS && ptc_is(f[PTC_INLINE_CLOSURE], PTC_T_CLOSURE) &&
           is_vector_of(f[PTC_INLINE_PLACES], is_place) &&
           ptc_seq_count(f[PTC_INLINE_PLACES]) == ptc_obj(f[PTC_INLINE_CLOSURE])->count;
}

static bool is_good(SnapRecord code, const PtcValue *f, size_t n)
{
    switch (code) {
    case SNAP_R_TYPE: return is_snapshot_type(f, n);
    case SNAP_R_OBJECT: return good_object(f, n);
    case SNAP_R_PROTOCOL:
        return n == PTC_PROTOCOL_FIELDS && ptc_is(f[PTC_PROTOCOL_NAME], PTC_T_SYMBOL) &&
               is_vector_of(f[PTC_PROTOCOL_METHODS], ptc_is_keyword) &&
               is_atom_cell(f[PTC_PROTOCOL_CELL]);
    case SNAP_R_METHOD:
        return n == PTC_METHOD_FIELDS && ptc_is_record(f[PTC_METHOD_PROTOCOL], PTC_R_PROTOCOL) &&
               ptc_is_keyword(f[PTC_METHOD_KEY]);
    case SNAP_R_MULTI: return good_multi(f, n);
    case SNAP_R_INLINE: return good_inline(f, n);
    case SNAP_R_COUNT: break;
    }
    return false;
}

bool ptc_snapshot_read_record(SnapReader *r)
{
    uint64_t code;
    size_t n;
    if (!ptc_snapshot_get_number(r, SNAP_R_COUNT - 1, &code) || !ptc_snapshot_get_count(r, &n))
        return false;
    PtcRecord *o = ptc_heap_object(r->heap, PTC_T_RECORD, sizeof *o + n * sizeof(PtcValue), 0);
    if (!o)
        return false;
    o->obj.aux = kinds[code];
    for (size_t i = 0; i < n; i++)
        if (!ptc_snapshot_get_value(r, &o->fields[i]))
            return false;
    o->obj.count = (uint32_t)n;
    return is_good((SnapRecord)code, o->fields, n)
               ? ptc_snapshot_add_value(r, ptc_from_obj(o))
               : SNAP_BAD(r, "a type or one of its parts is written wrong");
}

/* A map with the type before it. */
bool ptc_snapshot_read_typed(SnapReader *r)
{
    PtcValue type;
    uint8_t kind;
    if (!ptc_snapshot_get_value(r, &type) || !ptc_snapshot_get_byte(r, &kind))
        return false;
    if (!ptc_is_type(type) || (kind != SNAP_MAP && kind != SNAP_DICT))
        return SNAP_BAD(r, "a record has no type");
    if (!(kind == SNAP_MAP ? ptc_snapshot_read_map : ptc_snapshot_read_dict)(r))
        return false;
    PtcValue *map = &r->items[r->count - 1].value;
    if (!ptc_is_map(*map))
        return SNAP_BAD(r, "a record is not a map");
    return (*map = ptc_typed_new(r->heap, *map, type)) != PTC_NONE;
}
