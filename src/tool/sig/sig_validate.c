/* SPDX-License-Identifier: MIT
 * Strict validation, and the modes.  Recursion follows the type, whose depth is bounded. */
#include "base/ascii.h"
#include "tool/sig/sig_int.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/str.h"

typedef struct {
    PtcHeap *heap;
    PtcSigIssues *issues;
    bool closed;
    /* The value counts as what it is in JSON: a keyword or date is a string, a set a list. */
    bool as_json;
} Check;

bool ptc_sig_keyword_name(PtcValue str)
{
    const char *s = ptc_str_bytes(str);
    size_t len = ptc_str_len(str);
    for (size_t i = 0; i < len; i++)
        if (!(ptc_ascii_is_alnum(s[i]) || (s[i] && strchr("+-*<>=?!_", s[i]))))
            return false;
    return len > 0;
}

/* nil, true and false count as keywords: they are names too. */
static bool is_keyword(PtcValue v)
{
    return ptc_is_keyword(v) || v == PTC_NIL || ptc_is_bool(v) ||
           (ptc_is_string(v) && ptc_sig_keyword_name(v));
}

/* Without looking inside. */
static bool fits_signature_kind(PtcSigKind kind, PtcValue v)
{
    switch (kind) {
    case PTC_SIG_ANY: return true;
    case PTC_SIG_STRING: return ptc_is_string(v);
    case PTC_SIG_INT: return ptc_is_integer(v);
    case PTC_SIG_FLOAT: return ptc_is_number(v);
    case PTC_SIG_BOOL: return ptc_is_bool(v);
    case PTC_SIG_KEYWORD: return is_keyword(v);
    case PTC_SIG_DATETIME: return ptc_is_record(v, PTC_R_INSTANT);
    case PTC_SIG_LIST: return ptc_is_sequential(v);
    case PTC_SIG_MAP:
    case PTC_SIG_FIELDS:
    case PTC_SIG_CLOSED: return ptc_is_map(v);
    case PTC_SIG_OPTIONAL: break;
    }
    return false;
}

/* What becomes a string or a list in JSON. */
static bool fits_as_json(PtcSigKind kind, PtcValue v)
{
    if (kind == PTC_SIG_LIST)
        return ptc_is_set(v);
    if (kind == PTC_SIG_FLOAT)
        return ptc_is_record(v, PTC_R_DECIMAL);
    return kind == PTC_SIG_STRING &&
           (ptc_is_keyword(v) || ptc_is_record(v, PTC_R_DATE) || ptc_is_record(v, PTC_R_DATETIME) ||
            ptc_is_record(v, PTC_R_INSTANT) || ptc_is_record(v, PTC_R_DURATION));
}

static void note_mismatch(Check *c, const PtcSigType *type, PtcValue v, const PtcSigPath *path)
{
    char expected[32], got[PTC_SIG_SHOWN];
    ptc_sig_issue_add(c->issues, path, "expected %s, got %s", ptc_sig_expected(type, expected),
                      ptc_sig_describe(v, got));
}

static bool check_signature_value(Check *c, const PtcSigType *type, PtcValue v,
                                  const PtcSigPath *path);

static bool check_signature_list(Check *c, const PtcSigType *type, PtcValue list,
                                 const PtcSigPath *path)
{
    PtcIter it;
    PtcValue v;
    PtcSigPath here = {path, NULL, 0, 0};
    if (!ptc_iter_init(&it, c->heap, list))
        return false;
    for (; ptc_iter_next(&it, &v); here.index++)
        if (!check_signature_value(c, type->item, v, &here))
            return false;
    return !it.failed;
}

typedef struct {
    Check *check;
    const PtcSigType *type;
    const PtcSigPath *path;
} Extra;

static void note_extra_field(void *user, PtcValue key)
{
    const Extra *e = user;
    ptc_sig_issue_extra(e->check->heap, e->check->issues, e->path, e->type, key);
}

static bool check_fields(Check *c, const PtcSigType *type, PtcValue map, const PtcSigPath *path)
{
    size_t found = 0;
    PtcValue key;
    for (size_t i = 0; i < type->field_count; i++) {
        const PtcSigField *f = &type->fields[i];
        PtcValue v = ptc_sig_find(c->heap, f, map, &key);
        PtcSigPath here = {path, f->name, f->name_len, 0};
        found += v != PTC_NONE;
        if (v != PTC_NONE && !check_signature_value(c, f->type, v, &here))
            return false;
        if (v == PTC_NONE && f->type->kind != PTC_SIG_OPTIONAL)
            ptc_sig_issue_missing(c->issues, path, f, type, map);
    }
    bool closed = c->closed || type->kind == PTC_SIG_CLOSED;
    if (!closed || (found == ptc_map_count(map) && !type->aliased))
        return true;
    Extra extra = {c, type, path};
    return ptc_sig_each_extra(c->heap, type, map, note_extra_field, &extra);
}

/* False only when the budget stopped. */
static bool check_signature_value(Check *c, const PtcSigType *type, PtcValue v,
                                  const PtcSigPath *path)
{
    const PtcSigType *t = ptc_sig_required(type);
    if (!ptc_tick(c->heap->budget, 1 + (int64_t)t->field_count))
        return false;
    if (v == PTC_NIL && t != type)
        return true;
    if (!fits_signature_kind(t->kind, v) && !(c->as_json && fits_as_json(t->kind, v))) {
        note_mismatch(c, type, v, path);
        return true;
    }
    if (t->kind == PTC_SIG_LIST)
        return check_signature_list(c, t, v, path);
    if (t->kind == PTC_SIG_FIELDS || t->kind == PTC_SIG_CLOSED)
        return check_fields(c, t, v, path);
    return true;
}

static bool run_check(Check *c, const PtcSigType *type, PtcValue v)
{
    size_t before = c->issues->total;
    return check_signature_value(c, type, v, NULL) && c->issues->total == before &&
           c->heap->budget->stop == PTC_STOP_NONE;
}

bool ptc_sig_validate(PtcHeap *heap, const PtcSigType *type, bool closed, PtcValue v,
                      PtcSigIssues *issues)
{
    return run_check(&(Check){heap, issues, closed, false}, type, v);
}

/* ---------------------------------------------------------------------------------- modes */

static bool is_check_stopped(const PtcHeap *heap)
{
    return heap->budget->stop != PTC_STOP_NONE;
}

PtcValue ptc_sig_leave_out_nil(PtcHeap *heap, const PtcSig *sig, PtcValue args)
{
    PtcValue key;
    if (!ptc_is_map(args))
        return args;
    for (size_t i = 0; i < sig->params.field_count && args != PTC_NONE; i++) {
        const PtcSigField *f = &sig->params.fields[i];
        if (f->type->kind == PTC_SIG_OPTIONAL && ptc_sig_find(heap, f, args, &key) == PTC_NIL)
            args = ptc_map_dissoc(heap, args, key);
    }
    return is_check_stopped(heap) ? PTC_NONE : args;
}

PtcValue ptc_sig_input(PtcHeap *heap, const PtcSig *sig, PtcSigMode mode, PtcSigExtra extra,
                       PtcValue args, PtcSigIssues *warnings, PtcSigIssues *errors)
{
    if (mode == PTC_SIG_DISABLED || !sig->has_params)
        return args;
    if (args == PTC_NIL && (args = ptc_map_empty(heap)) == PTC_NONE)
        return PTC_NONE;
    if (PTC_LIKELY(mode == PTC_SIG_ENABLED))
        return ptc_sig_coerce(heap, &sig->params, extra, args, warnings, errors);
    bool closed = extra == PTC_SIG_EXTRA_REFUSED;
    if (mode == PTC_SIG_STRICT)
        return ptc_sig_validate(heap, &sig->params, closed, args, errors) ? args : PTC_NONE;
    extra = closed ? PTC_SIG_EXTRA_WARNED : extra;
    PtcValue coerced = ptc_sig_coerce(heap, &sig->params, extra, args, warnings, warnings);
    return coerced != PTC_NONE || is_check_stopped(heap) ? coerced : args;
}

bool ptc_sig_output(PtcHeap *heap, const PtcSig *sig, PtcSigMode mode, PtcValue v,
                    PtcSigIssues *warnings, PtcSigIssues *errors)
{
    if (mode == PTC_SIG_DISABLED)
        return true;
    bool warn = mode == PTC_SIG_WARN_ONLY;
    return ptc_sig_validate(heap, sig->result, mode == PTC_SIG_STRICT, v,
                            warn ? warnings : errors) ||
           (warn && !is_check_stopped(heap));
}

bool ptc_sig_validate_return(PtcHeap *heap, const PtcSig *sig, PtcValue v, PtcSigIssues *errors)
{
    return !sig || sig->result->kind == PTC_SIG_ANY ||
           run_check(&(Check){heap, errors, false, true}, sig->result, v);
}
