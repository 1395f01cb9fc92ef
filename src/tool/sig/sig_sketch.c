/* SPDX-License-Identifier: MIT
 * Signatures as sketches.  What always holds: a sketch says no more than the signature; recursion follows the type,
 * whose depth is bounded. */
#include "tool/sig/sig_sketch.h"

static const PtcSketch any = {.kind = PTC_SKETCH_ANY}, nil = {.kind = PTC_SKETCH_NIL};

static PtcSketchKind sketch_kind(PtcSigKind kind)
{
    switch (kind) {
    case PTC_SIG_STRING: return PTC_SKETCH_STRING;
    case PTC_SIG_INT: return PTC_SKETCH_INT;
    case PTC_SIG_FLOAT: return PTC_SKETCH_NUMBER;
    case PTC_SIG_BOOL: return PTC_SKETCH_BOOL;
    case PTC_SIG_KEYWORD: return PTC_SKETCH_KEYWORD;
    case PTC_SIG_DATETIME: return PTC_SKETCH_DATETIME;
    case PTC_SIG_LIST: return PTC_SKETCH_LIST;
    case PTC_SIG_MAP:
    case PTC_SIG_FIELDS:
    case PTC_SIG_CLOSED: return PTC_SKETCH_MAP;
    case PTC_SIG_OPTIONAL: return PTC_SKETCH_UNION;
    default: return PTC_SKETCH_ANY;
    }
}

static bool sketch_fields(PtcArena *arena, const PtcSigType *type, PtcSketch *to)
{
    PtcSketchField *fields = ptc_arena_alloc(arena, type->field_count * sizeof *fields);
    if (!fields)
        return false;
    for (size_t i = 0; i < type->field_count; i++) {
        const PtcSigField *f = &type->fields[i];
        bool optional = f->type->kind == PTC_SIG_OPTIONAL;
        const PtcSketch *of = ptc_sig_sketch(arena, ptc_sig_required(f->type), false);
        if (!of)
            return false;
        fields[i] = (PtcSketchField){{f->name, f->name_len}, of, optional};
    }
    to->fields = fields;
    to->count = (uint32_t)type->field_count;
    return true;
}

static bool sketch_optional(PtcArena *arena, const PtcSigType *type, PtcSketch *to)
{
    const PtcSketch **of = ptc_arena_alloc(arena, 2 * sizeof *of);
    const PtcSketch *inner = of ? ptc_sig_sketch(arena, type->item, false) : NULL;
    if (!inner)
        return false;
    of[0] = inner;
    of[1] = &nil;
    to->of = of;
    to->count = 2;
    return true;
}

const PtcSketch *ptc_sig_sketch(PtcArena *arena, const PtcSigType *type, bool closed)
{
    if (type->kind == PTC_SIG_ANY)
        return &any;
    PtcSketch *to = ptc_arena_zalloc(arena, sizeof *to);
    if (!to)
        return NULL;
    to->kind = sketch_kind(type->kind);
    to->closed = closed || type->kind == PTC_SIG_CLOSED;
    if (type->kind == PTC_SIG_LIST)
        return (to->item = ptc_sig_sketch(arena, type->item, false)) ? to : NULL;
    bool ok = true;
    if (type->kind == PTC_SIG_OPTIONAL)
        ok = sketch_optional(arena, type, to);
    else if (type->field_count)
        ok = sketch_fields(arena, type, to);
    return ok ? to : NULL;
}
