/* SPDX-License-Identifier: MIT
 * Functions and records as bytes.  A function is stored as the text it was written as.  Before that it is compiled
 * from this text alone and compared, so that a snapshot never contains a function that would come back different. */
#include <stdio.h>

#include "engine/snapshot/snapshot_int.h"
#include "lisp/vm/registry.h"
#include "lisp/vm/vm_int.h"
#include "value/number/decimal.h"
#include "value/regex/regex.h"
#include "value/time/time.h"

/* -------------------------------------------------------------------------------- names */

/* The number of a global in the snapshot. */
static uint32_t name_number(SnapWriter *w, uint32_t global)
{
    if (w->numbers[global] == 0) {
        w->others[w->other_count++] = global;
        w->numbers[global] = ++w->name_count;
    }
    return w->numbers[global] - 1;
}

bool ptc_snapshot_write_var(SnapWriter *w, PtcValue var)
{
    int64_t global = ptc_to_int(ptc_record_field(var, 1));
    if (global < 0 || global >= (int64_t)w->session->names.count)
        return ptc_snapshot_refuse(w, "it holds a var of another session");
    ptc_snapshot_put_number(&w->out, SNAP_VAR);
    ptc_snapshot_put_number(&w->out, name_number(w, (uint32_t)global));
    return true;
}

/* The names that the text of a function mentions, in the order of their numbers. */
static void write_names(SnapWriter *w)
{
    uint32_t count = w->session->names.count, n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (w->seen[i] & PTC_NAMES) {
            (void)name_number(w, i);
            n++;
        }
    ptc_snapshot_put_number(&w->out, n);
    for (uint32_t i = 0; i < w->session->history; i++)
        if (w->seen[i] & PTC_NAMES)
            ptc_snapshot_put_number(&w->out, i);
    for (uint32_t i = w->session->history; i < count; i++)
        if (w->seen[i] & PTC_NAMES && w->session->globals[i] != PTC_UNBOUND)
            ptc_snapshot_put_number(&w->out, w->numbers[i] - 1);
    for (uint32_t i = 0; i < w->other_count; i++)
        if (w->seen[w->others[i]] & PTC_NAMES)
            ptc_snapshot_put_number(&w->out, w->numbers[w->others[i]] - 1);
}

/* ---------------------------------------------------------------------------- functions */

/* Does the text produce the same function again?  A name that is also a builtin may only be a global where the code
 * takes it for one: the session may have got that global later. */
static bool comes_back(SnapWriter *w, PtcValue proto, const PtcFnText *text)
{
    PtcSession *s = w->session;
    PtcFnMaker maker = {&s->ptc->arena, &w->work->heap, &s->names, w->seen, {0}};
    PtcPrinter printer = ptc_vm_printer(&s->ptc->vm, true);
    printer.heap = &w->work->heap;
    memcpy(w->seen, w->plain, s->names.count);
    ptc_function_globals(proto, w->seen, s->names.count);
    PtcValue again = ptc_function_compile(&maker, text);
    return again != PTC_NONE && ptc_function_same(&printer, proto, again);
}

bool ptc_snapshot_write_proto(SnapWriter *w, PtcValue proto)
{
    PtcSession *s = w->session;
    PtcFnText text;
    bool ok = ptc_function_text(proto, &text);
    for (int without = 0; ok && without < 2; without++) {
        text.aliases = !without;
        if (comes_back(w, proto, &text))
            break;
        ok = !without;
    }
    if (s->ptc->arena.failed)
        return ptc_budget_halt(&w->work->budget, PTC_STOP_MEMORY);
    if (!ok || w->work->budget.stop != PTC_STOP_NONE)
        return ptc_snapshot_refuse(w,
                                   "it holds a function that its text alone does not make again; "
                                   "write it as one (fn ...) or (defn ...)");
    ptc_snapshot_put_number(&w->out, SNAP_PROTO);
    ptc_snapshot_put_number(&w->out, text.form);
    ptc_snapshot_put_number(&w->out, text.aliases);
    ptc_snapshot_put_text(&w->out, text.text, text.len);
    ptc_snapshot_put_text(&w->out, text.captures, text.captures_len);
    write_names(w);
    return true;
}

/* ------------------------------------------------------------------------------ records */

/* Numbers of steps in the format, which stay the same when the enum changes. */
static const uint8_t step_codes[] = {
    [PTC_STEP_MAP] = 0,          [PTC_STEP_APPLY] = 1,          [PTC_STEP_FILTER] = 2,
    [PTC_STEP_REMOVE] = 3,       [PTC_STEP_KEEP] = 4,           [PTC_STEP_MAP_INDEXED] = 5,
    [PTC_STEP_KEEP_INDEXED] = 6, [PTC_STEP_TAKE] = 7,           [PTC_STEP_TAKE_WHILE] = 8,
    [PTC_STEP_TAKE_NTH] = 9,     [PTC_STEP_DROP] = 10,          [PTC_STEP_DROP_WHILE] = 11,
    [PTC_STEP_MAPCAT] = 12,      [PTC_STEP_CAT] = 13,           [PTC_STEP_INTERPOSE] = 14,
    [PTC_STEP_PARTITION] = 15,   [PTC_STEP_PARTITION_ALL] = 16, [PTC_STEP_PARTITION_BY] = 17,
    [PTC_STEP_DISTINCT] = 18,    [PTC_STEP_DEDUPE] = 19,        [PTC_STEP_REDUCTIONS] = 20,
    [PTC_STEP_HALT_WHEN] = 21,
};
_Static_assert(sizeof step_codes == PTC_STEP_KINDS, "a code for each kind of step");

static int snapshot_step_code(PtcStepKind kind)
{
    return step_codes[kind];
}

PtcStepKind ptc_snapshot_step_kind(uint64_t code)
{
    for (size_t i = 0; i < sizeof step_codes; i++)
        if (step_codes[i] == code)
            return (PtcStepKind)i;
    return PTC_STEP_KINDS;
}

/* Is the hidden builtin of this name behind a function record? */
static bool is_behind(PtcValue record, const char *hidden)
{
    return ptc_record_field(record, 0) ==
           ptc_builtin((uint32_t)ptc_builtin_find(hidden, strlen(hidden)));
}

/* The steps of a producer; nil: none. */
static PtcValue steps_of(PtcValue producer)
{
    return ptc_record_field(producer, SNAP_PRODUCER_FIELDS - 1);
}

static size_t step_count(PtcValue producer)
{
    return steps_of(producer) == PTC_NIL ? 0 : ptc_seq_count(steps_of(producer));
}

static bool next_of_producer(PtcFrame *f, PtcValue *child)
{
    enum { WRITE_FN_PLAIN = SNAP_PRODUCER_FIELDS - 1 };
    if (f->pos >= WRITE_FN_PLAIN + step_count(f->a))
        return false;
    *child = f->pos < WRITE_FN_PLAIN ? ptc_record_field(f->a, f->pos)
                                     : ptc_seq_nth(steps_of(f->a), f->pos - WRITE_FN_PLAIN);
    f->pos++;
    return true;
}

bool ptc_snapshot_next_field(PtcFrame *f, PtcValue *child)
{
    unsigned kind = ptc_obj(f->a)->aux;
    if (kind == PTC_R_PRODUCER)
        return next_of_producer(f, child);
    size_t first = kind == PTC_R_FN ? 1 : 0; /* the hidden builtin is written by name */
    bool refers = (kind == PTC_R_FN && !is_behind(f->a, "%tool")) || kind == PTC_R_REDUCED ||
                  kind == PTC_R_ERROR || ptc_snapshot_record_code(kind) != SNAP_R_COUNT;
    if (!refers || first + f->pos >= ptc_obj(f->a)->count)
        return false;
    *child = ptc_record_field(f->a, first + f->pos++);
    return true;
}

static void put_field(SnapWriter *w, PtcValue record, size_t i)
{
    ptc_snapshot_put_value(w, &w->out, w->count, ptc_record_field(record, i));
}

static void put_fields(SnapWriter *w, PtcValue record, size_t from)
{
    size_t n = ptc_obj(record)->count;
    ptc_snapshot_put_number(&w->out, n - from);
    for (size_t i = from; i < n; i++)
        put_field(w, record, i);
}

static bool write_step(SnapWriter *w, PtcValue record)
{
    if (ptc_step_kind(record) >= PTC_STEP_KINDS)
        return ptc_snapshot_refuse(w, "it holds a transducer that cannot be stored");
    ptc_snapshot_put_number(&w->out, SNAP_STEP);
    ptc_snapshot_put_number(&w->out, (uint64_t)snapshot_step_code(ptc_step_kind(record)));
    put_field(w, record, PTC_STEP_BUILTIN);
    put_fields(w, record, PTC_STEP_ARGS);
    return true;
}

static bool write_tool(SnapWriter *w, PtcValue record)
{
    PtcValue name = ptc_record_field(record, 1);
    ptc_snapshot_put_number(&w->out, SNAP_TOOL);
    ptc_snapshot_put_text(&w->out, ptc_str_bytes(name), ptc_str_len(name));
    return true;
}

static bool write_fn(SnapWriter *w, PtcValue record)
{
    const char *hidden = ptc_builtin_name(ptc_builtin_index(ptc_record_field(record, 0)));
    if (!ptc_snapshot_knows_composed(hidden, strlen(hidden), ptc_obj(record)->count - 1))
        return ptc_snapshot_refuse(w, "it holds a function that cannot be stored");
    ptc_snapshot_put_number(&w->out, SNAP_FN);
    ptc_snapshot_put_text(&w->out, hidden, strlen(hidden));
    put_fields(w, record, 1);
    return true;
}

static void write_exception(SnapWriter *w, PtcValue record)
{
    enum {
        WRITE_FN_MESSAGE,
        WRITE_FN_DATA,
        WRITE_FN_CAUSE,
        WRITE_FN_KIND,
        WRITE_FN_FIRST,
        WRITE_FN_LAST,
        WRITE_FN_SOURCE
    };
    char kind[SNAP_EXCEPTION_TEXT];
    int n = snprintf(
        kind, sizeof kind, "%s %s",
        ptc_error_kind_name((PtcErrorKind)ptc_to_int(ptc_record_field(record, WRITE_FN_KIND))),
        ptc_thrown_full(ptc_except_class(record)));
    ptc_snapshot_put_number(&w->out, SNAP_EXCEPTION);
    ptc_snapshot_put_text(&w->out, kind, (size_t)n);
    put_field(w, record, WRITE_FN_MESSAGE);
    put_field(w, record, WRITE_FN_DATA);
    put_field(w, record, WRITE_FN_CAUSE);
    ptc_snapshot_put_number(&w->out,
                            (uint64_t)ptc_to_int(ptc_record_field(record, WRITE_FN_FIRST)));
    ptc_snapshot_put_number(&w->out, (uint64_t)ptc_to_int(ptc_record_field(record, WRITE_FN_LAST)));
    put_field(w, record, WRITE_FN_SOURCE);
}

static void write_time(SnapWriter *w, SnapKind kind, PtcValue record)
{
    ptc_snapshot_put_number(&w->out, kind);
    ptc_snapshot_put_signed(&w->out, ptc_to_int(ptc_record_field(record, 0)));
    if (kind != SNAP_DATE)
        ptc_snapshot_put_number(&w->out, (uint64_t)ptc_to_int(ptc_record_field(record, 1)));
}

static void write_period(SnapWriter *w, PtcValue record)
{
    ptc_snapshot_put_number(&w->out, SNAP_PERIOD);
    for (size_t i = 0; i < 3; i++)
        ptc_snapshot_put_signed(&w->out, ptc_to_int(ptc_record_field(record, i)));
}

static bool write_enum(SnapWriter *w, PtcValue record)
{
    int group = 0;
    while (group < PTC_G_COUNT && !ptc_is_enum(record, (PtcGroup)group))
        group++;
    ptc_snapshot_put_number(&w->out, SNAP_ENUM);
    ptc_snapshot_put_number(&w->out, (uint64_t)group);
    ptc_snapshot_put_number(&w->out, (uint64_t)ptc_enum_ordinal(record));
    return true;
}

static bool write_decimal(SnapWriter *w, PtcValue record)
{
    PtcBuf text;
    ptc_buf_init(&text, w->out.mem, PTC_UNBOUNDED);
    bool ok = ptc_decimal_print(&w->work->heap, &text, record, false);
    w->out.failed |= text.failed;
    ptc_snapshot_put_number(&w->out, SNAP_DECIMAL);
    ptc_snapshot_put_text(&w->out, ok ? text.data : "0", ok ? text.len : 1);
    ptc_buf_deinit(&text);
    return ok || ptc_snapshot_refuse(w, "a decimal is too long");
}

static bool write_pattern(SnapWriter *w, SnapKind kind, PtcValue record)
{
    PtcValue pattern = ptc_record_field(record, 0);
    ptc_snapshot_put_number(&w->out, kind);
    ptc_snapshot_put_text(&w->out, ptc_str_bytes(pattern), ptc_str_len(pattern));
    return true;
}

/* Sources are stored as their number in the enum. */
_Static_assert(PTC_FROM_COLL == 0 && PTC_FROM_ITERATE == 1 && PTC_FROM_REPEATEDLY == 2 &&
                   PTC_FROM_ZIP == 3 && PTC_FROM_CHAIN == 4,
               "a changed number needs a new version of the format");

static void write_producer(SnapWriter *w, PtcValue record)
{
    size_t n = step_count(record);
    ptc_snapshot_put_number(&w->out, SNAP_PRODUCER);
    ptc_snapshot_put_number(&w->out, (uint64_t)ptc_to_int(ptc_record_field(record, 0)));
    put_field(w, record, 1);
    put_field(w, record, 2);
    ptc_snapshot_put_number(&w->out, n);
    for (size_t i = 0; i < n; i++)
        ptc_snapshot_put_value(w, &w->out, w->count, ptc_seq_nth(steps_of(record), i));
}

bool ptc_snapshot_write_record(SnapWriter *w, PtcValue v)
{
    switch (ptc_obj(v)->aux) {
    case PTC_R_FN:
        return is_behind(v, "%xform")  ? write_step(w, v)
               : is_behind(v, "%tool") ? write_tool(w, v)
                                       : write_fn(w, v);
    case PTC_R_REDUCED:
        ptc_snapshot_put_number(&w->out, SNAP_REDUCED);
        put_field(w, v, 0);
        return true;
    case PTC_R_ERROR: write_exception(w, v); return true;
    case PTC_R_REGEX: return write_pattern(w, SNAP_REGEX, v);
    case PTC_R_FORMATTER: return write_pattern(w, SNAP_FORMATTER, v);
    case PTC_R_DATE: write_time(w, SNAP_DATE, v); return true;
    case PTC_R_DATETIME: write_time(w, SNAP_DATETIME, v); return true;
    case PTC_R_INSTANT: write_time(w, SNAP_INSTANT, v); return true;
    case PTC_R_DURATION: write_time(w, SNAP_DURATION, v); return true;
    case PTC_R_PERIOD: write_period(w, v); return true;
    case PTC_R_CLOCK:
    case PTC_R_ZONED:
    case PTC_R_ZONE:
    case PTC_R_YEARMONTH:
    case PTC_R_YEAR:
    case PTC_R_ADJUSTER: ptc_snapshot_write_moment(w, v); return true;
    case PTC_R_ENUM: return write_enum(w, v);
    case PTC_R_DECIMAL: return write_decimal(w, v);
    case PTC_R_PRODUCER: write_producer(w, v); return true;
    case PTC_R_TYPE:
    case PTC_R_OBJECT:
    case PTC_R_PROTOCOL:
    case PTC_R_METHOD:
    case PTC_R_MULTI:
    case PTC_R_INLINE:
        ptc_snapshot_put_number(&w->out, SNAP_RECORD);
        ptc_snapshot_put_number(&w->out, ptc_snapshot_record_code(ptc_obj(v)->aux));
        put_fields(w, v, 0);
        return true;
    default: return ptc_snapshot_refuse(w, "it holds something that cannot be stored");
    }
}
