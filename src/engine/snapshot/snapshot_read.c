/* SPDX-License-Identifier: MIT
 * Values from bytes, object by object.  What always holds: nothing is allocated because the bytes merely claim it.  A
 * count is believed only as far as bytes follow, and objects go into the session's heap, which has a limit. */
#include "base/grow.h"
#include "base/utf8.h"
#include "engine/snapshot/snapshot_int.h"
#include "value/regex/regex.h"
#include "value/time/time.h"

#include "value/number/decimal.h"
#include <stdio.h>

/* ------------------------------------------------------------------------------ numbers */

void ptc_snapshot_note(SnapReader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!r->why->class)
        ptc_why_vsay(r->why, PTC_WHY_INVALID, 0, format, args);
    va_end(args);
}

static bool cut_short(SnapReader *r)
{
    return SNAP_BAD(r, "the bytes end too early");
}

bool ptc_snapshot_get_byte(SnapReader *r, uint8_t *out)
{
    if (r->at == r->end)
        return cut_short(r);
    *out = *r->at++;
    return true;
}

bool ptc_snapshot_get_number(SnapReader *r, uint64_t most, uint64_t *out)
{
    uint64_t n = 0;
    uint8_t byte = 0x80;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        if (!ptc_snapshot_get_byte(r, &byte))
            return false;
        if (shift > 63 || (shift == 63 && byte > 1))
            return SNAP_BAD(r, "a number is too long");
        n |= (uint64_t)(byte & 0x7f) << shift;
    }
    *out = n;
    return n <= most || SNAP_BAD(r, "a number is out of its range");
}

bool ptc_snapshot_get_signed(SnapReader *r, int64_t *out)
{
    uint64_t n;
    if (!ptc_snapshot_get_number(r, UINT64_MAX, &n))
        return false;
    *out = (int64_t)(n >> 1 ^ (0 - (n & 1)));
    return true;
}

bool ptc_snapshot_get_text(SnapReader *r, size_t most, const char **text, size_t *len)
{
    uint64_t n;
    if (!ptc_snapshot_get_number(r, most, &n))
        return false;
    if (n > (uint64_t)(r->end - r->at))
        return cut_short(r);
    *text = (const char *)r->at;
    *len = (size_t)n;
    r->at += n;
    if (!ptc_tick(r->heap->budget, (int64_t)(n / 64)))
        return false;
    return ptc_utf8_valid(*text, *len) || SNAP_BAD(r, "a text is not UTF-8");
}

bool ptc_snapshot_get_count(SnapReader *r, size_t *out)
{
    uint64_t n;
    if (!ptc_snapshot_get_number(r, (uint64_t)(r->end - r->at), &n))
        return false;
    *out = (size_t)n;
    return true;
}

static bool get_word(SnapReader *r, uint64_t *out)
{
    if (r->end - r->at < 8)
        return cut_short(r);
    *out = 0;
    for (size_t i = 0; i < 8; i++)
        *out |= (uint64_t)*r->at++ << (8 * i);
    return true;
}

/* --------------------------------------------------------------------------- references */

/* The object that a reference points to. */
static bool find_referred_object(SnapReader *r, uint64_t token, uint32_t *number)
{
    uint64_t back = token - SNAP_REF;
    if (back >= r->count)
        return SNAP_BAD(r, "a reference leads nowhere");
    *number = (uint32_t)(r->count - 1 - back);
    return true;
}

bool ptc_snapshot_get_item(SnapReader *r, uint32_t *number)
{
    uint64_t token;
    if (!ptc_snapshot_get_number(r, UINT64_MAX, &token))
        return false;
    if (token < SNAP_REF)
        return SNAP_BAD(r, "a value stands where an object should be");
    return find_referred_object(r, token, number);
}

static bool get_int(SnapReader *r, PtcValue *out)
{
    int64_t n;
    if (!ptc_snapshot_get_signed(r, &n))
        return false;
    if (!ptc_fits_int(n))
        return SNAP_BAD(r, "a small integer is too large");
    *out = ptc_int(n);
    return true;
}

static bool get_float(SnapReader *r, PtcValue *out)
{
    uint64_t bits;
    double d;
    if (!get_word(r, &bits))
        return false;
    memcpy(&d, &bits, sizeof d);
    return (*out = ptc_float_new(r->heap, d)) != PTC_NONE;
}

static bool get_object(SnapReader *r, uint64_t token, PtcValue *out)
{
    uint32_t number;
    if (token < SNAP_REF)
        return SNAP_BAD(r, "a value is of an unknown kind");
    if (!find_referred_object(r, token, &number))
        return false;
    *out = r->items[number].value;
    return r->items[number].role == SNAP_IS_VALUE ||
           SNAP_BAD(r, "the inside of an object stands where a value should be");
}

bool ptc_snapshot_get_slot(SnapReader *r, bool holes, bool later, PtcValue *out)
{
    uint64_t token;
    if (!ptc_snapshot_get_number(r, UINT64_MAX, &token) || !ptc_tick(r->heap->budget, 1))
        return false;
    if (token == SNAP_HOLE && holes) {
        *out = PTC_UNBOUND;
        return true;
    }
    if (token == SNAP_LATER && later) {
        *out = PTC_NONE;
        return true;
    }
    switch (token) {
    case SNAP_NIL: *out = PTC_NIL; return true;
    case SNAP_FALSE: *out = PTC_FALSE; return true;
    case SNAP_TRUE: *out = PTC_TRUE; return true;
    case SNAP_INT: return get_int(r, out);
    case SNAP_FLOAT: return get_float(r, out);
    case SNAP_EMPTY_MAP: return (*out = ptc_map_empty(r->heap)) != PTC_NONE;
    case SNAP_EMPTY_SET: return (*out = ptc_set_empty(r->heap)) != PTC_NONE;
    default: return get_object(r, token, out);
    }
}

bool ptc_snapshot_get_value(SnapReader *r, PtcValue *out)
{
    return ptc_snapshot_get_slot(r, false, false, out);
}

bool ptc_snapshot_add(SnapReader *r, SnapItem item)
{
    if (item.value == PTC_NONE)
        return false;
    if (!PTC_GROW(&r->ptc->mem, &r->items, &r->cap, r->count + 1))
        return ptc_budget_halt(r->heap->budget, PTC_STOP_MEMORY);
    r->items[r->count++] = item;
    return true;
}

bool ptc_snapshot_add_value(SnapReader *r, PtcValue value)
{
    return ptc_snapshot_add(r, (SnapItem){.value = value, .role = SNAP_IS_VALUE});
}

PtcValue ptc_snapshot_record(SnapReader *r, unsigned kind, const PtcValue *fields, size_t n)
{
    PtcRecord *o =
        ptc_heap_object(r->heap, PTC_T_RECORD, sizeof *o + n * sizeof *fields, (uint32_t)n);
    if (!o)
        return PTC_NONE;
    o->obj.aux = (uint16_t)kind;
    memcpy(o->fields, fields, n * sizeof *fields);
    return ptc_from_obj(o);
}

/* ------------------------------------------------------------------------------ scalars */

static bool read_snapshot_text(SnapReader *r, SnapKind kind)
{
    const char *text;
    size_t len;
    if (!ptc_snapshot_get_text(r, UINT32_MAX / 2, &text, &len))
        return false;
    return ptc_snapshot_add_value(r, kind == SNAP_STRING    ? ptc_str_new(r->heap, text, len)
                                     : kind == SNAP_KEYWORD ? ptc_keyword_new(r->heap, text, len)
                                                            : ptc_symbol_new(r->heap, text, len));
}

/* A big integer must be normal: no superfluous limb, and too large for a word. */
static bool is_normal(const PtcBig *b)
{
    uint32_t n = b->obj.count;
    uint64_t most = (uint64_t)PTC_INT_MAX + (b->obj.flags & PTC_BIG_NEGATIVE ? 1 : 0);
    return n > 0 && b->limbs[n - 1] != 0 && (n > 1 || b->limbs[0] > most);
}

static bool read_big(SnapReader *r)
{
    uint64_t negative, n;
    if (!ptc_snapshot_get_number(r, 1, &negative) ||
        !ptc_snapshot_get_number(r, PTC_INT_BITS_MAX / 64, &n))
        return false;
    if (n * 8 > (uint64_t)(r->end - r->at))
        return cut_short(r);
    if (!ptc_tick(r->heap->budget, (int64_t)n))
        return false;
    PtcBig *b = ptc_heap_object(r->heap, PTC_T_BIGINT, sizeof *b + n * 8, (uint32_t)n);
    if (!b)
        return false;
    b->obj.flags = negative ? PTC_BIG_NEGATIVE : 0;
    for (size_t i = 0; i < n; i++)
        if (!get_word(r, &b->limbs[i]))
            return false;
    return is_normal(b) ? ptc_snapshot_add_value(r, ptc_from_obj(b))
                        : SNAP_BAD(r, "a large integer is written wrong");
}

static bool read_snapshot_builtin(SnapReader *r)
{
    const char *name;
    size_t len;
    if (!ptc_snapshot_get_text(r, 200, &name, &len))
        return false;
    int row = ptc_builtin_written(name, len);
    if (row < 0)
        return SNAP_BAD(r, "there is no function %.*s here", PTC_ARG_OF(name, len));
    return ptc_snapshot_add_value(r, ptc_builtin((uint32_t)row));
}

static bool read_reduced(SnapReader *r)
{
    PtcValue v;
    return ptc_snapshot_get_value(r, &v) &&
           ptc_snapshot_add_value(r, ptc_snapshot_record(r, PTC_R_REDUCED, &v, 1));
}

static bool read_regex(SnapReader *r)
{
    PtcRegexError error = {"", 0};
    const char *text;
    size_t len;
    if (!ptc_snapshot_get_text(r, PTC_REGEX_BYTES, &text, &len))
        return false;
    PtcValue pattern = ptc_str_new(r->heap, text, len);
    PtcValue regex = pattern == PTC_NONE ? pattern : ptc_regex_new(r->heap, pattern, &error);
    if (error.message[0])
        return SNAP_BAD(r, "a regular expression is not valid: %s", error.message);
    return ptc_snapshot_add_value(r, regex);
}

/* Named formatters may have patterns that no program can write. */
static PtcValue named_formatter(SnapReader *r, const char *text, size_t len)
{
    static const char names[][24] = {"ISO_LOCAL_DATE_TIME",  "ISO_DATE_TIME",     "ISO_INSTANT",
                                     "ISO_LOCAL_TIME",       "ISO_TIME",          "ISO_DATE",
                                     "ISO_OFFSET_DATE_TIME", "BASIC_ISO_DATE",    "ISO_WEEK_DATE",
                                     "ISO_ORDINAL_DATE",     "RFC_1123_DATE_TIME"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char full[64];
        int n = snprintf(full, sizeof full, "DateTimeFormatter/%s", names[i]);
        PtcValue f = ptc_interop_constant(r->heap, full, (size_t)n);
        PtcValue pattern = f == PTC_NONE ? PTC_NONE : ptc_record_field(f, 0);
        if (f != PTC_NONE && ptc_str_len(pattern) == len &&
            memcmp(ptc_str_bytes(pattern), text, len) == 0)
            return f;
    }
    return PTC_NONE;
}

static bool read_formatter(SnapReader *r)
{
    PtcWhy why;
    const char *text;
    size_t len;
    if (!ptc_snapshot_get_text(r, PTC_REGEX_BYTES, &text, &len))
        return false;
    PtcValue named = named_formatter(r, text, len);
    if (named != PTC_NONE)
        return ptc_snapshot_add_value(r, named);
    if (!ptc_pattern_check(text, len, &why))
        return SNAP_BAD(r, "a date pattern is not valid: %s", why.text);
    PtcValue pattern = ptc_str_new(r->heap, text, len);
    return pattern != PTC_NONE &&
           ptc_snapshot_add_value(r, ptc_snapshot_record(r, PTC_R_FORMATTER, &pattern, 1));
}

static bool read_snapshot_date(SnapReader *r)
{
    int64_t days;
    if (!ptc_snapshot_get_signed(r, &days))
        return false;
    if (!ptc_calendar_has(days))
        return SNAP_BAD(r, "a date is out of range");
    PtcValue field = ptc_int(days);
    return ptc_snapshot_add_value(r, ptc_snapshot_record(r, PTC_R_DATE, &field, 1));
}

static bool read_snapshot_time(SnapReader *r, unsigned kind)
{
    int64_t seconds;
    uint64_t nanos;
    if (!ptc_snapshot_get_signed(r, &seconds) || !ptc_snapshot_get_number(r, PTC_NANOS - 1, &nanos))
        return false;
    bool valid = kind == PTC_R_DURATION
                     ? seconds >= -PTC_DURATION_MAX && seconds <= PTC_DURATION_MAX
                     : ptc_calendar_has(ptc_floor_div(seconds, PTC_DAY_SECONDS));
    if (!valid)
        return SNAP_BAD(r, "a time is out of range");
    PtcValue fields[2] = {ptc_int(seconds), ptc_int((int64_t)nanos)};
    return ptc_snapshot_add_value(r, ptc_snapshot_record(r, kind, fields, 2));
}

static bool read_snapshot_period(SnapReader *r)
{
    PtcValue fields[3];
    for (size_t i = 0; i < 3; i++) {
        int64_t n;
        if (!ptc_snapshot_get_signed(r, &n))
            return false;
        if (n != (int32_t)n)
            return SNAP_BAD(r, "a period is out of range");
        fields[i] = ptc_int(n);
    }
    return ptc_snapshot_add_value(r, ptc_snapshot_record(r, PTC_R_PERIOD, fields, 3));
}

static bool read_snapshot_decimal(SnapReader *r)
{
    const char *text;
    size_t len;
    if (!ptc_snapshot_get_text(r, SIZE_MAX, &text, &len))
        return false;
    PtcValue v = ptc_decimal_parse(r->heap, text, len);
    if (v == PTC_NIL)
        return SNAP_BAD(r, "a decimal is not written as one");
    return v != PTC_NONE && ptc_snapshot_add_value(r, v);
}

static bool read_snapshot_enum(SnapReader *r)
{
    static const uint8_t sizes[PTC_G_COUNT] = {
        [PTC_G_DAY] = 7,  [PTC_G_MONTH] = 12,   [PTC_G_UNIT] = 13,
        [PTC_G_ZONE] = 1, [PTC_G_ROUNDING] = 8, [PTC_G_FIELD] = PTC_FIELD_COUNT,
        [PTC_G_WEEKS] = 1};
    uint64_t group, ordinal;
    if (!ptc_snapshot_get_number(r, PTC_G_COUNT - 1, &group) ||
        !ptc_snapshot_get_number(r, sizes[group] - 1u, &ordinal))
        return false;
    return ptc_snapshot_add_value(r, ptc_enum_new(r->heap, (PtcGroup)group, (int)ordinal));
}

/* ------------------------------------------------------------------------------ objects */

static bool read_snapshot_object(SnapReader *r, SnapKind kind)
{
    switch (kind) {
    case SNAP_STRING:
    case SNAP_KEYWORD:
    case SNAP_SYMBOL: return read_snapshot_text(r, kind);
    case SNAP_BIGINT: return read_big(r);
    case SNAP_BUILTIN: return read_snapshot_builtin(r);
    case SNAP_FLAT: return ptc_snapshot_read_flat(r);
    case SNAP_LEAF: return ptc_snapshot_read_leaf(r);
    case SNAP_INNER: return ptc_snapshot_read_inner(r);
    case SNAP_VEC: return ptc_snapshot_read_vec(r);
    case SNAP_SLICE: return ptc_snapshot_read_slice(r);
    case SNAP_RANGE: return ptc_snapshot_read_range(r);
    case SNAP_CONS: return ptc_snapshot_read_cons(r);
    case SNAP_SET: return ptc_snapshot_read_set(r);
    case SNAP_MAP: return ptc_snapshot_read_map(r);
    case SNAP_INDEX: return ptc_snapshot_read_index(r);
    case SNAP_DICT: return ptc_snapshot_read_dict(r);
    case SNAP_SORTED: return ptc_snapshot_read_sorted(r);
    case SNAP_PROTO: return ptc_snapshot_read_proto(r);
    case SNAP_CLOSURE: return ptc_snapshot_read_closure(r);
    case SNAP_VAR: return ptc_snapshot_read_var(r);
    case SNAP_FN: return ptc_snapshot_read_fn(r);
    case SNAP_STEP: return ptc_snapshot_read_step(r);
    case SNAP_REDUCED: return read_reduced(r);
    case SNAP_EXCEPTION: return ptc_snapshot_read_exception(r);
    case SNAP_REGEX: return read_regex(r);
    case SNAP_DATE: return read_snapshot_date(r);
    case SNAP_DATETIME: return read_snapshot_time(r, PTC_R_DATETIME);
    case SNAP_INSTANT: return read_snapshot_time(r, PTC_R_INSTANT);
    case SNAP_DURATION: return read_snapshot_time(r, PTC_R_DURATION);
    case SNAP_ENUM: return read_snapshot_enum(r);
    case SNAP_FORMATTER: return read_formatter(r);
    case SNAP_PRODUCER: return ptc_snapshot_read_producer(r);
    case SNAP_RING: return ptc_snapshot_read_ring(r);
    case SNAP_TOOL: return ptc_snapshot_read_tool(r);
    case SNAP_DECIMAL: return read_snapshot_decimal(r);
    case SNAP_PERIOD: return read_snapshot_period(r);
    case SNAP_CELL: return ptc_snapshot_read_cell(r);
    case SNAP_TYPED: return ptc_snapshot_read_typed(r);
    case SNAP_RECORD: return ptc_snapshot_read_record(r);
    case SNAP_MOMENT: return ptc_snapshot_read_moment(r);
    }
    return SNAP_BAD(r, "an object is of an unknown kind");
}

bool ptc_snapshot_read_objects(SnapReader *r)
{
    size_t n;
    uint8_t kind;
    if (!ptc_snapshot_get_count(r, &n))
        return false;
    if (n >= UINT32_MAX)
        return SNAP_BAD(r, "there are too many objects");
    for (size_t i = 0; i < n; i++)
        if (!ptc_snapshot_get_byte(r, &kind) || !ptc_tick(r->heap->budget, 4) ||
            !read_snapshot_object(r, (SnapKind)kind) || r->heap->budget->stop != PTC_STOP_NONE)
            return false;
    return ptc_snapshot_read_links(r) && ptc_snapshot_fill_indexes(r) &&
           ptc_snapshot_fill_cells(r) && ptc_snapshot_check_sets(r);
}
