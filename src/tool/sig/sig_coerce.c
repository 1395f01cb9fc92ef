/* SPDX-License-Identifier: MIT
 * Makes values fit: leniently for the arguments of tools, and giving types back to what was JSON.
 *
 * A part that fits is returned as the same word, so a container is only copied from the first part on that does not.
 * Recursion follows the type, whose depth is bounded. */
#include <math.h>

#include "base/ascii.h"
#include "tool/sig/sig_int.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/number/bigint.h"
#include "value/number/number.h"
#include "value/str.h"

typedef struct {
    PtcHeap *heap;
    PtcSigIssues *warnings,
        *errors; /* NULL: adding types to what was JSON, which leaves what does not fit */
    PtcSigExtra extra;
    size_t failed; /* errors so far; both lists may be the same */
    bool whole;    /* only makes whole numbers what should be integers */
} Coerce;

/* Each of the functions below returns the value to use, or PTC_NONE if out of memory or the budget stopped.  After
 * an error it is any value. */
static PtcValue coerce_value(Coerce *c, const PtcSigType *type, PtcValue v, const PtcSigPath *path);

static PtcValue refuse_coercion(Coerce *c, const PtcSigType *type, PtcValue v,
                                const PtcSigPath *path)
{
    char expected[32], got[PTC_SIG_SHOWN];
    c->failed++;
    if (c->errors)
        ptc_sig_issue_add(c->errors, path, "expected %s, got %s", ptc_sig_expected(type, expected),
                          ptc_sig_describe(v, got));
    return v;
}

static PtcValue warn_of_coercion(Coerce *c, PtcSigKind kind, PtcValue from, PtcValue to,
                                 const PtcSigPath *path)
{
    char got[PTC_SIG_SHOWN];
    if (to != PTC_NONE && c->warnings)
        ptc_sig_issue_add(c->warnings, path, "took %s as %s", ptc_sig_describe(from, got),
                          ptc_sig_kind_name(kind));
    return to;
}

/* -------------------------------------------------------------------------------- scalars */

static PtcValue coerce_to_string(Coerce *c, const PtcSigType *type, PtcValue v,
                                 const PtcSigPath *path)
{
    if (ptc_is_keyword(v))
        return warn_of_coercion(c, PTC_SIG_STRING, v,
                                ptc_str_new(c->heap, ptc_str_bytes(v), ptc_str_len(v)), path);
    if (ptc_is_bool(v))
        return warn_of_coercion(c, PTC_SIG_STRING, v,
                                v == PTC_TRUE ? ptc_str_new(c->heap, "true", 4)
                                              : ptc_str_new(c->heap, "false", 5),
                                path);
    if (ptc_kind_bit(v) & (PTC_K_DATE | PTC_K_DATETIME | PTC_K_INSTANT))
        return warn_of_coercion(c, PTC_SIG_STRING, v, ptc_sig_time_text(c->heap, v), path);
    return refuse_coercion(c, type, v, path);
}

static bool is_decimal(const char *s, size_t len)
{
    size_t i = len > 0 && (*s == '-' || *s == '+');
    if (i == len)
        return false;
    while (i < len && ptc_ascii_is_digit(s[i]))
        i++;
    return i == len;
}

/* Numbers too long for the budget are refused here: they are the fault of the data, not a reason to stop the run. */
static PtcValue to_int(Coerce *c, const PtcSigType *type, PtcValue v, const PtcSigPath *path)
{
    if (!ptc_is_string(v))
        return refuse_coercion(c, type, v, path);
    const char *s = ptc_str_bytes(v);
    size_t len = ptc_str_len(v);
    if ((int64_t)len > c->heap->budget->max_int_bits / 4 || !is_decimal(s, len))
        return refuse_coercion(c, type, v, path);
    return warn_of_coercion(c, PTC_SIG_INT, v, ptc_int_parse(c->heap, s, len), path);
}

/* Beyond 2^53 a float does not say which integer is meant. */
static PtcValue whole_to_int(Coerce *c, PtcValue v)
{
    double d = ptc_is_float(v) ? ptc_to_float(v) : NAN;
    return fabs(d) <= 0x1p53 && d == floor(d) ? ptc_int_new(c->heap, (int64_t)d) : v;
}

static PtcValue to_float(Coerce *c, const PtcSigType *type, PtcValue v, const PtcSigPath *path)
{
    double d;
    if (ptc_is_integer(v)) {
        d = ptc_int_to_double(v);
        return isfinite(d) ? ptc_float_new(c->heap, d) : refuse_coercion(c, type, v, path);
    }
    if (!ptc_is_string(v))
        return refuse_coercion(c, type, v, path);
    const char *s = ptc_str_bytes(v), *end = s + ptc_str_len(v);
    while (s < end && ptc_ascii_is_white(*s))
        s++;
    while (s < end && ptc_ascii_is_white(end[-1]))
        end--;
    if (!ptc_double_parse(s, (size_t)(end - s), &d) || !isfinite(d))
        return refuse_coercion(c, type, v, path);
    return warn_of_coercion(c, PTC_SIG_FLOAT, v, ptc_float_new(c->heap, d), path);
}

static PtcValue to_bool(Coerce *c, const PtcSigType *type, PtcValue v, const PtcSigPath *path)
{
    if (ptc_is_string(v) && ptc_str_len(v) == 4 && memcmp(ptc_str_bytes(v), "true", 4) == 0)
        return warn_of_coercion(c, PTC_SIG_BOOL, v, PTC_TRUE, path);
    if (ptc_is_string(v) && ptc_str_len(v) == 5 && memcmp(ptc_str_bytes(v), "false", 5) == 0)
        return warn_of_coercion(c, PTC_SIG_BOOL, v, PTC_FALSE, path);
    return refuse_coercion(c, type, v, path);
}

static PtcValue to_keyword(Coerce *c, const PtcSigType *type, PtcValue v, const PtcSigPath *path)
{
    if (!ptc_is_string(v) || !ptc_sig_keyword_name(v))
        return refuse_coercion(c, type, v, path);
    return warn_of_coercion(c, PTC_SIG_KEYWORD, v,
                            ptc_keyword_new(c->heap, ptc_str_bytes(v), ptc_str_len(v)), path);
}

static PtcValue to_datetime(Coerce *c, const PtcSigType *type, PtcValue v, const PtcSigPath *path)
{
    PtcMoment p;
    PtcWhy why;
    char got[PTC_SIG_SHOWN];
    if (!ptc_is_string(v))
        return refuse_coercion(c, type, v, path);
    if (!ptc_sig_datetime_read(v, &p, &why)) {
        c->failed++;
        if (c->errors)
            ptc_sig_issue_add(c->errors, path, "expected datetime, got %s: %s",
                              ptc_sig_describe(v, got), why.text);
        return v;
    }
    PtcValue to = warn_of_coercion(c, PTC_SIG_DATETIME, v, ptc_sig_datetime_new(c->heap, &p), path);
    if (to != PTC_NONE && p.offset != 0 && c->warnings)
        ptc_sig_issue_add(c->warnings, path, "the datetime was not in UTC and is now");
    return to;
}

static bool fits_plain(PtcSigKind kind, PtcValue v)
{
    switch (kind) {
    case PTC_SIG_STRING: return ptc_is_string(v);
    case PTC_SIG_INT: return ptc_is_integer(v);
    case PTC_SIG_FLOAT: return ptc_is_float(v);
    case PTC_SIG_BOOL: return ptc_is_bool(v);
    case PTC_SIG_KEYWORD: return ptc_is_keyword(v) || ptc_is_bool(v) || v == PTC_NIL;
    case PTC_SIG_DATETIME: return ptc_is_record(v, PTC_R_INSTANT);
    case PTC_SIG_MAP: return ptc_is_map(v);
    default: return true;
    }
}

static PtcValue coerce_plain(Coerce *c, const PtcSigType *type, PtcValue v, const PtcSigPath *path)
{
    PtcSigKind kind = ptc_sig_required(type)->kind;
    if (PTC_LIKELY(fits_plain(kind, v)))
        return v;
    if (c->whole)
        return kind == PTC_SIG_INT ? whole_to_int(c, v) : v;
    if (!c->errors && kind != PTC_SIG_DATETIME && kind != PTC_SIG_KEYWORD)
        return v;
    switch (kind) {
    case PTC_SIG_STRING: return coerce_to_string(c, type, v, path);
    case PTC_SIG_INT: return to_int(c, type, v, path);
    case PTC_SIG_FLOAT: return to_float(c, type, v, path);
    case PTC_SIG_BOOL: return to_bool(c, type, v, path);
    case PTC_SIG_KEYWORD: return to_keyword(c, type, v, path);
    case PTC_SIG_DATETIME: return to_datetime(c, type, v, path);
    default: return refuse_coercion(c, type, v, path);
    }
}

/* ---------------------------------------------------------------------------------- lists */

/* A builder with the first n elements. */
static PtcValue begin_list(Coerce *c, PtcValue list, size_t n)
{
    PtcIter it;
    PtcValue v, build = ptc_build_new(c->heap);
    if (build == PTC_NONE || !ptc_iter_init(&it, c->heap, list))
        return PTC_NONE;
    for (; n > 0 && ptc_iter_next(&it, &v); n--)
        if (!ptc_tick(c->heap->budget, 1) || !ptc_build_add(c->heap, build, v))
            return PTC_NONE;
    return n ? PTC_NONE : build;
}

static PtcValue coerce_list(Coerce *c, const PtcSigType *type, PtcValue list,
                            const PtcSigPath *path)
{
    PtcIter it;
    PtcValue v, build = PTC_NONE;
    PtcSigPath here = {path, NULL, 0, 0};
    if (!ptc_iter_init(&it, c->heap, list))
        return PTC_NONE;
    for (; ptc_iter_next(&it, &v); here.index++) {
        PtcValue to = coerce_value(c, type->item, v, &here);
        if (to == PTC_NONE)
            return PTC_NONE;
        if (PTC_LIKELY(to == v && build == PTC_NONE))
            continue;
        if (build == PTC_NONE && (build = begin_list(c, list, here.index)) == PTC_NONE)
            return PTC_NONE;
        if (!ptc_build_add(c->heap, build, to))
            return PTC_NONE;
    }
    if (it.failed)
        return PTC_NONE;
    return build == PTC_NONE ? list : ptc_build_done(c->heap, build, 0);
}

/* ----------------------------------------------------------------------------------- maps */

/* The map without its order, or, where others are left out, only its first n fields.  (Adding to a sorted map may call
 * the program.) */
static PtcValue begin_map(Coerce *c, const PtcSigType *type, PtcValue map, size_t n)
{
    PtcValue key, value;
    bool whole = c->extra != PTC_SIG_EXTRA_LEFT_OUT;
    if (whole && !ptc_is_sorted(map))
        return map;
    PtcValue to = ptc_map_empty(c->heap);
    if (whole) {
        for (size_t pos = 0; to != PTC_NONE && ptc_map_next(map, &pos, &key, &value);)
            to = ptc_tick(c->heap->budget, 1) ? ptc_map_assoc(c->heap, to, key, value) : PTC_NONE;
        return to;
    }
    for (size_t i = 0; to != PTC_NONE && i < n; i++) {
        value = ptc_sig_find(c->heap, &type->fields[i], map, &key);
        if (value != PTC_NONE)
            to = ptc_map_assoc(c->heap, to, key, value);
    }
    return to;
}

typedef struct {
    Coerce *coerce;
    const PtcSigType *type;
    const PtcSigPath *path;
    size_t count;
    PtcSigExtra how;
} CoercedExtra;

static void note_extra_coerced(void *user, PtcValue key)
{
    CoercedExtra *e = user;
    Coerce *c = e->coerce;
    bool refused = e->how == PTC_SIG_EXTRA_REFUSED;
    e->count++;
    if (e->how == PTC_SIG_EXTRA_LEFT_OUT)
        return;
    c->failed += refused;
    ptc_sig_issue_extra(c->heap, refused ? c->errors : c->warnings, e->path, e->type, key);
}

/* Does the map have keys other than those of the fields, which are to be left out? */
static bool find_extra(Coerce *c, const PtcSigType *type, PtcValue map, size_t found,
                       const PtcSigPath *path, bool *any)
{
    PtcSigExtra how = type->kind == PTC_SIG_CLOSED ? PTC_SIG_EXTRA_REFUSED : c->extra;
    *any = false;
    if (!c->errors || (found == ptc_map_count(map) && !type->aliased) || how == PTC_SIG_EXTRA_KEPT)
        return true;
    CoercedExtra extra = {c, type, path, 0, how};
    bool ok = ptc_sig_each_extra(c->heap, type, map, note_extra_coerced, &extra);
    *any = how == PTC_SIG_EXTRA_LEFT_OUT && extra.count > 0;
    return ok;
}

static void note_missing(Coerce *c, const PtcSigType *type, const PtcSigField *f, PtcValue map,
                         const PtcSigPath *path)
{
    if (!c->errors || f->type->kind == PTC_SIG_OPTIONAL)
        return;
    c->failed++;
    ptc_sig_issue_missing(c->errors, path, f, type, map);
}

static PtcValue coerce_fields(Coerce *c, const PtcSigType *type, PtcValue map,
                              const PtcSigPath *path)
{
    size_t found = 0;
    PtcValue key, build = PTC_NONE;
    for (size_t i = 0; i < type->field_count; i++) {
        const PtcSigField *f = &type->fields[i];
        PtcSigPath here = {path, f->name, f->name_len, 0};
        PtcValue v = ptc_sig_find(c->heap, f, map, &key);
        if (v == PTC_NONE) {
            note_missing(c, type, f, map, path);
            continue;
        }
        found++;
        PtcValue to = coerce_value(c, f->type, v, &here);
        if (to == PTC_NONE)
            return PTC_NONE;
        if (PTC_LIKELY(to == v && build == PTC_NONE))
            continue;
        if (build == PTC_NONE)
            build = begin_map(c, type, map, i);
        if (build == PTC_NONE || (build = ptc_map_assoc(c->heap, build, key, to)) == PTC_NONE)
            return PTC_NONE;
    }
    bool extra;
    if (!find_extra(c, type, map, found, path, &extra))
        return PTC_NONE;
    if (build != PTC_NONE || !extra)
        return build != PTC_NONE ? build : map;
    return begin_map(c, type, map, type->field_count);
}

/* ------------------------------------------------------------------------------------ all */

static PtcValue coerce_value(Coerce *c, const PtcSigType *type, PtcValue v, const PtcSigPath *path)
{
    const PtcSigType *t = ptc_sig_required(type);
    if (!ptc_tick(c->heap->budget, 1 + (int64_t)t->field_count))
        return PTC_NONE;
    if (v == PTC_NIL && t != type)
        return v;
    if (t->kind == PTC_SIG_LIST)
        return ptc_is_sequential(v) || (c->whole && ptc_is_set(v))
                   ? coerce_list(c, t, v, path)
                   : refuse_coercion(c, type, v, path);
    if (t->kind == PTC_SIG_FIELDS || t->kind == PTC_SIG_CLOSED)
        return ptc_is_map(v) ? coerce_fields(c, t, v, path) : refuse_coercion(c, type, v, path);
    return coerce_plain(c, type, v, path);
}

/* A look-up that ran out of budget answers "absent", so the budget is checked as well. */
static PtcValue unless_stopped(PtcHeap *heap, PtcValue v)
{
    return heap->budget->stop == PTC_STOP_NONE ? v : PTC_NONE;
}

PtcValue ptc_sig_coerce(PtcHeap *heap, const PtcSigType *type, PtcSigExtra extra, PtcValue v,
                        PtcSigIssues *warnings, PtcSigIssues *errors)
{
    Coerce c = {heap, warnings, errors, extra, 0, false};
    PtcValue to = coerce_value(&c, type, v, NULL);
    return c.failed ? PTC_NONE : unless_stopped(heap, to);
}

PtcValue ptc_sig_atomize(PtcHeap *heap, const PtcSigType *type, PtcValue v)
{
    Coerce c = {heap, NULL, NULL, PTC_SIG_EXTRA_KEPT, 0, false};
    return unless_stopped(heap, coerce_value(&c, type, v, NULL));
}

PtcValue ptc_sig_whole(PtcHeap *heap, const PtcSigType *type, PtcValue v)
{
    Coerce c = {heap, NULL, NULL, PTC_SIG_EXTRA_KEPT, 0, true};
    return unless_stopped(heap, coerce_value(&c, type, v, NULL));
}
