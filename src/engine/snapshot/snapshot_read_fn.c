/* SPDX-License-Identifier: MIT
 * Functions from bytes: text that goes through reader, analyzer and compiler like any program, and functions that
 * builtins made.  The code behind the latter trusts what it is given, so everything is checked here. */
#include "base/utf8.h"
#include "engine/snapshot/snapshot_int.h"
#include "lisp/vm/vm_int.h"
#include "value/number/bigint.h"

#include <stdio.h>

enum { READ_FN_FIELDS_MAX = 1 << 20 };

/* ---------------------------------------------------------------------------- functions */

/* The global that a name's number stands for. */
static bool get_name(SnapReader *r, uint16_t *global)
{
    uint64_t number;
    if (r->name_count == 0)
        return SNAP_BAD(r, "there are no names");
    if (!ptc_snapshot_get_number(r, r->name_count - 1, &number))
        return false;
    *global = r->names[number];
    return *global != SNAP_NO_NAME || SNAP_BAD(r, "a function refers to the journal");
}

static bool get_names(SnapReader *r)
{
    size_t n;
    uint16_t global;
    memset(r->seen, 0, r->session->names.count);
    if (!ptc_snapshot_get_count(r, &n))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!get_name(r, &global) || !ptc_tick(r->heap->budget, 1))
            return false;
        r->seen[global] = PTC_MAY_NAME;
    }
    return true;
}

static bool bad_function(SnapReader *r, const PtcFnMaker *maker, const PtcFnText *text)
{
    const char *why = maker->diags.count ? maker->diags.items[0].message : "it is none";
    int shown = (int)ptc_utf8_valid_prefix(text->text, text->len < 40 ? text->len : 40);
    return SNAP_BAD(r, "the function %.*s does not compile here: %s", PTC_ARG_OF(text->text, shown),
                    why);
}

bool ptc_snapshot_read_proto(SnapReader *r)
{
    PtcFnText text = {0};
    uint64_t form, aliases;
    size_t most = (size_t)r->ptc->limits.program_bytes;
    if (!ptc_snapshot_get_number(r, PTC_FORM_COUNT - 1, &form) ||
        !ptc_snapshot_get_number(r, 1, &aliases) ||
        !ptc_snapshot_get_text(r, most, &text.text, &text.len) ||
        !ptc_snapshot_get_text(r, most, &text.captures, &text.captures_len) || !get_names(r) ||
        !ptc_tick(r->heap->budget, (int64_t)(text.len + r->session->names.count / 64)))
        return false;
    text.form = (PtcFnForm)form;
    text.aliases = aliases != 0;
    PtcFnMaker maker = {&r->ptc->arena, r->heap, &r->session->names, r->seen, {0}};
    PtcValue proto = ptc_function_compile(&maker, &text);
    if (proto == PTC_NONE && r->ptc->arena.failed)
        return ptc_budget_halt(r->heap->budget, PTC_STOP_MEMORY);
    if (proto == PTC_NONE && r->heap->budget->stop == PTC_STOP_NONE)
        return bad_function(r, &maker, &text);
    return ptc_snapshot_add(r, (SnapItem){.value = proto, .role = SNAP_IS_PROTO});
}

bool ptc_snapshot_read_closure(SnapReader *r)
{
    uint32_t number;
    if (!ptc_snapshot_get_item(r, &number))
        return false;
    if (r->items[number].role != SNAP_IS_PROTO)
        return SNAP_BAD(r, "a function has no text");
    size_t n = ptc_obj(r->items[number].value)->count;
    PtcClosure *c =
        ptc_heap_object(r->heap, PTC_T_CLOSURE, sizeof *c + n * sizeof(PtcValue), (uint32_t)n);
    if (!c)
        return false;
    c->proto = r->items[number].value;
    for (size_t i = 0; i < n; i++)
        c->captured[i] = PTC_UNBOUND;
    for (size_t i = 0; i < n; i++) {
        PtcValue v;
        if (!ptc_snapshot_get_slot(r, false, true, &v))
            return false;
        if (v != PTC_NONE)
            c->captured[i] = v;
    }
    return ptc_snapshot_add_value(r, ptc_from_obj(c));
}

static bool get_closure(SnapReader *r, PtcClosure **out)
{
    uint64_t number;
    if (r->count == 0)
        return SNAP_BAD(r, "there are no functions");
    if (!ptc_snapshot_get_number(r, r->count - 1, &number))
        return false;
    *out = (PtcClosure *)(uintptr_t)r->items[number].value;
    return ptc_is(r->items[number].value, PTC_T_CLOSURE) ||
           SNAP_BAD(r, "a link leads to something else than a function");
}

/* Fills captures that were left open; after that none may be open. */
bool ptc_snapshot_read_links(SnapReader *r)
{
    size_t n;
    if (!ptc_snapshot_get_count(r, &n))
        return false;
    for (size_t i = 0; i < n; i++) {
        PtcClosure *from, *to;
        uint64_t slot;
        if (!get_closure(r, &from) || !ptc_snapshot_get_number(r, UINT32_MAX, &slot) ||
            !get_closure(r, &to) || !ptc_tick(r->heap->budget, 1))
            return false;
        if (slot >= from->obj.count || from->captured[slot] != PTC_UNBOUND)
            return SNAP_BAD(r, "a link is for no capture");
        from->captured[slot] = ptc_from_obj(to);
    }
    for (size_t i = 0; i < r->count; i++) {
        const PtcClosure *c = (const PtcClosure *)(uintptr_t)r->items[i].value;
        bool closure = ptc_is(r->items[i].value, PTC_T_CLOSURE);
        for (uint32_t k = 0; closure && k < c->obj.count; k++)
            if (c->captured[k] == PTC_UNBOUND)
                return SNAP_BAD(r, "a function misses a capture");
    }
    return true;
}

bool ptc_snapshot_read_var(SnapReader *r)
{
    uint16_t global;
    if (!get_name(r, &global))
        return false;
    const PtcName *name = &r->session->names.items[global];
    PtcValue symbol = ptc_symbol_new(r->heap, name->text, name->len);
    PtcRecord *o = symbol == PTC_NONE
                       ? NULL
                       : ptc_heap_object(r->heap, PTC_T_VAR, sizeof *o + 2 * sizeof symbol, 2);
    if (!o)
        return false;
    o->fields[0] = symbol;
    o->fields[1] = ptc_int(global);
    return ptc_snapshot_add_value(r, ptc_from_obj(o));
}

/* ------------------------------------------------------------- functions of builtins */

/* Hidden builtins that records call, and the number of values they need. */
static const struct {
    const char *name;
    size_t least, most;
} composed[] = {
    {"composed", 1, READ_FN_FIELDS_MAX},
    {"compared", 1, 1},
    {"sampled", 1, 1},
    {"zip-made", 1, 1},
    {"partly", 1, READ_FN_FIELDS_MAX},
    {"negated", 1, 1},
    {"constant", 1, 1},
    {"juxtaposed", 1, READ_FN_FIELDS_MAX},
    {"nil-filled", 2, 4},
    {"every-of", 1, READ_FN_FIELDS_MAX},
    {"some-of", 1, READ_FN_FIELDS_MAX},
    {"memoized", 1, 1},
    {"completed", 2, 2},
    {"made", 2, 2},
    {"made-from", 2, 2},
    {"replaced", 1, 1},
};
enum { COMPOSED = sizeof composed / sizeof *composed };

static size_t find_composed(const char *name, size_t len)
{
    size_t i = 0;
    while (i < COMPOSED &&
           (strlen(composed[i].name) != len || memcmp(composed[i].name, name, len) != 0))
        i++;
    return i;
}

bool ptc_snapshot_knows_composed(const char *name, size_t len, size_t n)
{
    size_t at = find_composed(name, len);
    return at < COMPOSED && n >= composed[at].least && n <= composed[at].most;
}

static PtcValue hidden_builtin(const char *name)
{
    char full[40];
    int n = snprintf(full, sizeof full, "%%%s", name);
    return ptc_builtin((uint32_t)ptc_builtin_find(full, (size_t)n));
}

/* A PTC_R_FN whose first fields are given; the rest are read. */
static PtcValue get_fn_record(SnapReader *r, const PtcValue *given, size_t n, size_t more)
{
    PtcRecord *o = ptc_heap_object(r->heap, PTC_T_RECORD, sizeof *o + (n + more) * sizeof *given,
                                   (uint32_t)(n + more));
    if (!o)
        return PTC_NONE;
    o->obj.aux = PTC_R_FN;
    memcpy(o->fields, given, n * sizeof *given);
    for (size_t i = n; i < n + more; i++)
        if (!ptc_snapshot_get_value(r, &o->fields[i]))
            return PTC_NONE;
    return ptc_from_obj(o);
}

bool ptc_snapshot_read_fn(SnapReader *r)
{
    const char *name;
    size_t len, n;
    if (!ptc_snapshot_get_text(r, 40, &name, &len) || !ptc_snapshot_get_count(r, &n))
        return false;
    if (!ptc_snapshot_knows_composed(name, len, n))
        return SNAP_BAD(r, "a composed function is of an unknown kind");
    PtcValue builtin = hidden_builtin(composed[find_composed(name, len)].name);
    return ptc_snapshot_add_value(r, get_fn_record(r, &builtin, 1, n));
}

/* Its number belongs to some earlier run; only the name counts. */
bool ptc_snapshot_read_tool(SnapReader *r)
{
    const char *name;
    size_t len;
    if (!ptc_snapshot_get_text(r, (size_t)r->ptc->limits.program_bytes, &name, &len))
        return false;
    PtcValue f[3] = {hidden_builtin("tool"), ptc_str_new(r->heap, name, len), ptc_int(0)};
    return f[1] != PTC_NONE && ptc_snapshot_add_value(r, ptc_snapshot_record(r, PTC_R_FN, f, 3));
}

/* ------------------------------------------------------------ transducers and producers */

/* How many arguments each kind of step has, and how many of them are counts. */
static const struct {
    uint8_t least, most, counts;
} step_args[PTC_STEP_KINDS] = {
    [PTC_STEP_MAP] = {1, 1, 0},           [PTC_STEP_APPLY] = {1, 1, 0},
    [PTC_STEP_FILTER] = {1, 1, 0},        [PTC_STEP_REMOVE] = {1, 1, 0},
    [PTC_STEP_KEEP] = {1, 1, 0},          [PTC_STEP_MAP_INDEXED] = {1, 1, 0},
    [PTC_STEP_KEEP_INDEXED] = {1, 1, 0},  [PTC_STEP_TAKE] = {1, 1, 1},
    [PTC_STEP_TAKE_WHILE] = {1, 1, 0},    [PTC_STEP_TAKE_NTH] = {1, 1, 1},
    [PTC_STEP_DROP] = {1, 1, 1},          [PTC_STEP_DROP_WHILE] = {1, 1, 0},
    [PTC_STEP_MAPCAT] = {1, 1, 0},        [PTC_STEP_CAT] = {0, 0, 0},
    [PTC_STEP_INTERPOSE] = {1, 1, 0},     [PTC_STEP_PARTITION] = {2, 2, 2},
    [PTC_STEP_PARTITION_ALL] = {1, 1, 1}, [PTC_STEP_PARTITION_BY] = {1, 1, 0},
    [PTC_STEP_DISTINCT] = {0, 0, 0},      [PTC_STEP_DEDUPE] = {0, 0, 0},
    [PTC_STEP_REDUCTIONS] = {1, 2, 0},    [PTC_STEP_HALT_WHEN] = {1, 2, 0},
};

/* Counts are numbers; those of pieces and strides are greater than 0. */
static bool good_count(PtcStepKind kind, PtcValue v)
{
    if (!ptc_is_number(v) || kind == PTC_STEP_TAKE || kind == PTC_STEP_DROP)
        return ptc_is_number(v);
    return ptc_is_float(v) ? ptc_to_float(v) > 0 : ptc_int_sign(v) > 0;
}

bool ptc_snapshot_read_step(SnapReader *r)
{
    uint64_t code;
    PtcValue given[PTC_STEP_ARGS];
    size_t n;
    if (!ptc_snapshot_get_number(r, PTC_STEP_KINDS - 1, &code) ||
        !ptc_snapshot_get_value(r, &given[PTC_STEP_BUILTIN]) || !ptc_snapshot_get_count(r, &n))
        return false;
    PtcStepKind kind = ptc_snapshot_step_kind(code);
    if (kind == PTC_STEP_KINDS || !ptc_is_builtin(given[PTC_STEP_BUILTIN]) ||
        n < step_args[kind].least || n > step_args[kind].most)
        return SNAP_BAD(r, "a transducer is of an unknown kind");
    given[0] = hidden_builtin("xform");
    given[PTC_STEP_KIND] = ptc_int(kind);
    PtcValue step = get_fn_record(r, given, PTC_STEP_ARGS, n);
    for (size_t i = 0; step != PTC_NONE && i < step_args[kind].counts; i++)
        if (!good_count(kind, ptc_record_field(step, PTC_STEP_ARGS + i)))
            return SNAP_BAD(r, "a transducer counts with something else than a number");
    /* PTC_STEP_APPLY only accepts rows: it occurs in producers and is never a value. */
    return ptc_snapshot_add(
        r,
        (SnapItem){.value = step, .role = kind == PTC_STEP_APPLY ? SNAP_IS_STEP : SNAP_IS_VALUE});
}

static bool is_snapshot_source(PtcValue v)
{
    return ptc_is_seqable(v) || ptc_is_producer(v);
}

static bool good_rows(PtcValue v)
{
    if (!ptc_is(v, PTC_T_FLAT) || ptc_obj(v)->count == 0)
        return false;
    for (uint32_t i = 0; i < ptc_obj(v)->count; i++)
        if (!is_snapshot_source(((const PtcFlat *)(uintptr_t)v)->items[i]))
            return false;
    return true;
}

static bool good_source(PtcProducerSource source, PtcValue a, PtcValue b)
{
    switch (source) {
    case PTC_FROM_COLL: return ptc_is_seqable(a);
    case PTC_FROM_ITERATE:
    case PTC_FROM_REPEATEDLY: return ptc_is_callable(a);
    case PTC_FROM_ZIP: return good_rows(a);
    case PTC_FROM_CHAIN: return ptc_is_seqable(a) && is_snapshot_source(b);
    case PTC_FROM_TREE: /* only behind a lazy sequence */
    case PTC_FROM_LAZY: break;
    }
    return false;
}

/* Step i of a producer. */
static bool get_step(SnapReader *r, PtcProducerSource source, size_t i, PtcValue *out)
{
    uint32_t number;
    if (!ptc_snapshot_get_item(r, &number) || !ptc_tick(r->heap->budget, 1))
        return false;
    const SnapItem *item = &r->items[number];
    *out = item->value;
    bool rows = item->role == SNAP_IS_STEP && source == PTC_FROM_ZIP && i == 0;
    bool plain = item->role == SNAP_IS_VALUE && ptc_is_record(*out, PTC_R_FN) &&
                 ptc_record_field(*out, 0) == hidden_builtin("xform");
    return rows || plain || SNAP_BAD(r, "an endless sequence has an unknown step");
}

static PtcValue get_steps(SnapReader *r, PtcProducerSource source, size_t n)
{
    PtcValue b = n ? ptc_build_new(r->heap) : PTC_NIL, step;
    for (size_t i = 0; b != PTC_NONE && i < n; i++)
        if (!get_step(r, source, i, &step) || !ptc_build_add(r->heap, b, step))
            return PTC_NONE;
    return n && b != PTC_NONE ? ptc_build_done(r->heap, b, 0) : b;
}

bool ptc_snapshot_read_producer(SnapReader *r)
{
    uint64_t source;
    PtcValue f[SNAP_PRODUCER_FIELDS];
    size_t n;
    if (!ptc_snapshot_get_number(r, PTC_FROM_CHAIN, &source) || !ptc_snapshot_get_value(r, &f[1]) ||
        !ptc_snapshot_get_value(r, &f[2]) || !ptc_snapshot_get_count(r, &n))
        return false;
    if (!good_source((PtcProducerSource)source, f[1], f[2]))
        return SNAP_BAD(r, "an endless sequence comes from nowhere");
    f[0] = ptc_int((int64_t)source);
    f[3] = get_steps(r, (PtcProducerSource)source, n);
    return f[3] != PTC_NONE && ptc_snapshot_add_value(r, ptc_snapshot_record(r, PTC_R_PRODUCER, f,
                                                                             SNAP_PRODUCER_FIELDS));
}

/* --------------------------------------------------------------------------- exceptions */

static PtcErrorKind find_error_kind(const char *name, size_t len)
{
    for (int i = PTC_E_NONE + 1; i < PTC_E_COUNT; i++) {
        const char *known = ptc_error_kind_name((PtcErrorKind)i);
        if (strlen(known) == len && memcmp(known, name, len) == 0)
            return (PtcErrorKind)i;
    }
    return PTC_E_NONE;
}

bool ptc_snapshot_read_exception(SnapReader *r)
{
    enum {
        READ_FN_MESSAGE,
        READ_FN_DATA,
        READ_FN_CAUSE,
        READ_FN_KIND,
        READ_FN_FIRST,
        READ_FN_LAST,
        READ_FN_SOURCE,
        READ_FN_CLASS,
        READ_FN_FIELDS
    };
    PtcValue f[READ_FN_FIELDS];
    const char *name;
    size_t len;
    uint64_t first, last;
    if (!ptc_snapshot_get_text(r, SNAP_EXCEPTION_TEXT, &name, &len) ||
        !ptc_snapshot_get_value(r, &f[READ_FN_MESSAGE]) ||
        !ptc_snapshot_get_value(r, &f[READ_FN_DATA]) ||
        !ptc_snapshot_get_value(r, &f[READ_FN_CAUSE]) ||
        !ptc_snapshot_get_number(r, UINT32_MAX, &first) ||
        !ptc_snapshot_get_number(r, UINT32_MAX, &last) ||
        !ptc_snapshot_get_value(r, &f[READ_FN_SOURCE]))
        return false;
    const char *space = memchr(name, ' ', len);
    if (!space)
        return SNAP_BAD(r, "an exception has no class");
    PtcErrorKind kind = find_error_kind(name, (size_t)(space - name));
    PtcThrown thrown = ptc_thrown_find((PtcText){space + 1, len - (size_t)(space + 1 - name)});
    if (kind == PTC_E_NONE || thrown == PTC_C_NONE || ptc_error_is_terminal(kind) ||
        (f[READ_FN_MESSAGE] != PTC_NIL && !ptc_is_string(f[READ_FN_MESSAGE])) ||
        (f[READ_FN_DATA] != PTC_NIL && !ptc_is_map(f[READ_FN_DATA])) ||
        (f[READ_FN_SOURCE] != PTC_NIL && !ptc_is_string(f[READ_FN_SOURCE])))
        return SNAP_BAD(r, "an exception is not one");
    f[READ_FN_KIND] = ptc_int(kind);
    f[READ_FN_CLASS] = ptc_int(thrown);
    f[READ_FN_FIRST] = ptc_int((int64_t)first);
    f[READ_FN_LAST] = ptc_int((int64_t)last);
    return ptc_snapshot_add_value(r, ptc_snapshot_record(r, PTC_R_ERROR, f, READ_FN_FIELDS));
}
