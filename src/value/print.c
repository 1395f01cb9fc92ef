/* SPDX-License-Identifier: MIT
 * Values as text.  What always holds: no C recursion; what does not fit the buffer is cut between characters. */
#include "value/print.h"

#include <math.h>

#include "value/cell.h"
#include "value/coll/lazy.h"
#include "value/coll/typed.h"
#include "value/coll/vec.h"
#include "value/coll/visit.h"
#include "value/number/bigint.h"
#include "value/number/decimal.h"
#include "value/number/number.h"
#include "value/str.h"

enum { TEXT_PART = 16 * PTC_KB };

/* Appends what fits, whole characters only.  Always false. */
static PTC_NOINLINE bool add_fitting_part(PtcBuf *buf, const char *bytes, size_t room)
{
    while (room > 0 && ((unsigned char)bytes[room] & 0xc0) == 0x80)
        room--;
    ptc_buf_add(buf, bytes, room);
    buf->full = true;
    return false;
}

/* Appends all of it, or what fits and then false. */
static inline bool add_printed(PtcBuf *buf, const char *bytes, size_t n)
{
    size_t room = buf->len < buf->max ? buf->max - buf->len : 0;
    return PTC_LIKELY(n <= room) ? ptc_buf_add(buf, bytes, n) : add_fitting_part(buf, bytes, room);
}

static inline bool add_cstr(PtcBuf *buf, const char *s)
{
    return add_printed(buf, s, strlen(s));
}

/* -------------------------------------------------------------------- scalars */

static bool is_odd(char c)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\' || c == 0x7f;
}

static bool add_printed_escape(PtcBuf *buf, char c)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', 'u', '0', '0', hex[(c >> 4) & 15], hex[c & 15]};
    switch (c) {
    case '"': return add_cstr(buf, "\\\"");
    case '\\': return add_cstr(buf, "\\\\");
    case '\n': return add_cstr(buf, "\\n");
    case '\r': return add_cstr(buf, "\\r");
    case '\t': return add_cstr(buf, "\\t");
    default: return add_printed(buf, text, sizeof text);
    }
}

static bool add_printed_escaped(PtcBuf *buf, const char *p, size_t len)
{
    const char *end = p + len;
    bool ok = true;
    while (ok && p < end) {
        const char *run = p;
        while (p < end && !is_odd(*p))
            p++;
        ok =
            add_printed(buf, run, (size_t)(p - run)) && (p == end || add_printed_escape(buf, *p++));
    }
    return ok;
}

/* Adds the text of a string in parts, each charged; they end between characters, since the last one that fits is
 * cut. */
static bool add_printed_text(const PtcPrinter *printer, PtcBuf *buf, PtcValue str, bool escaped)
{
    const char *text = ptc_str_bytes(str);
    size_t len = ptc_str_len(str), at = 0, n;
    bool ok = true;
    do {
        n = len - at < TEXT_PART ? len - at : TEXT_PART;
        while (n < len - at && ((unsigned char)text[at + n] & 0xc0) == 0x80)
            n++;
        ok = ptc_tick_scan(printer->heap->budget, n) &&
             (escaped ? add_printed_escaped(buf, text + at, n) : add_printed(buf, text + at, n));
        at += n;
    } while (ok && at < len);
    return ok;
}

static bool add_printed_double(const PtcPrinter *printer, PtcBuf *buf, double d)
{
    char text[PTC_DOUBLE_TEXT];
    if (printer->float_precision >= 0 && isfinite(d))
        d = ptc_double_round(d, printer->float_precision);
    return add_printed(buf, text, ptc_double_print(d, text));
}

/* A large integer goes through a separate buffer, so that it can be cut. */
static bool add_printed_integer(const PtcPrinter *printer, PtcBuf *buf, PtcValue v)
{
    PtcBuf digits;
    if (ptc_is_int(v) && buf->len < buf->max && buf->max - buf->len >= 20)
        return ptc_int_print(printer->heap, buf, v);
    ptc_buf_init(&digits, buf->mem, PTC_UNBOUNDED);
    bool ok = ptc_int_print(printer->heap, &digits, v);
    buf->failed |= digits.failed;
    ok = ok && add_printed(buf, digits.data, digits.len);
    ptc_buf_deinit(&digits);
    return ok;
}

static bool add_decimal(const PtcPrinter *printer, PtcBuf *buf, PtcValue v, const char *suffix)
{
    PtcBuf digits;
    ptc_buf_init(&digits, buf->mem, PTC_UNBOUNDED);
    bool ok = ptc_decimal_print(printer->heap, &digits, v, false);
    buf->failed |= digits.failed;
    ok = ok && add_printed(buf, digits.data, digits.len) && add_cstr(buf, suffix);
    ptc_buf_deinit(&digits);
    return ok;
}

/* ------------------------------------------------------------ functions, vars */

static bool add_printed_function(PtcBuf *buf, const char *name, size_t len)
{
    return add_cstr(buf, "#fn[") && add_printed(buf, name, len) && add_cstr(buf, "]");
}

static bool add_builtin(const PtcPrinter *printer, PtcBuf *buf, PtcValue v)
{
    const char *name = printer->builtin_name ? printer->builtin_name(ptc_builtin_index(v)) : NULL;
    name = name ? name : "builtin";
    return add_printed_function(buf, name, strlen(name));
}

static bool add_closure(PtcBuf *buf, PtcValue v)
{
    PtcValue proto = ((const PtcClosure *)(const void *)ptc_obj(v))->proto;
    PtcValue name = ((const PtcProto *)(const void *)ptc_obj(proto))->name;
    if (!ptc_is_named(name))
        return add_cstr(buf, "#fn[anonymous]");
    return add_printed_function(buf, ptc_str_bytes(name), ptc_str_len(name));
}

/* Values of which the value layer only knows the outline: the hook is asked first. */
static bool add_printed_other(const PtcPrinter *printer, PtcBuf *buf, PtcValue v)
{
    if (printer->other && printer->other(printer, buf, v))
        return true;
    if (!ptc_buf_ok(buf))
        return false;
    if (ptc_is(v, PTC_T_CLOSURE))
        return add_closure(buf, v);
    if (!ptc_is(v, PTC_T_VAR))
        return add_cstr(buf, "#object");
    PtcValue name = ((const PtcRecord *)(const void *)ptc_obj(v))->fields[0];
    if (!ptc_is_named(name))
        return add_cstr(buf, "#'?");
    return add_cstr(buf, "#'") && add_printed(buf, ptc_str_bytes(name), ptc_str_len(name));
}

/* ---------------------------------------------------------------- collections */

/* Anything except a collection. */
static bool add_printed_leaf(const PtcPrinter *printer, PtcBuf *buf, PtcValue v)
{
    if (ptc_is_integer(v))
        return add_printed_integer(printer, buf, v);
    if (ptc_is_float(v))
        return add_printed_double(printer, buf, ptc_to_float(v));
    if (ptc_is_builtin(v))
        return add_builtin(printer, buf, v);
    if (ptc_is_decimal(v))
        return add_decimal(printer, buf, v, "M");
    switch (ptc_tag(v)) {
    case PTC_T_NONE:
        return add_cstr(buf, v == PTC_NIL     ? "nil"
                             : v == PTC_TRUE  ? "true"
                             : v == PTC_FALSE ? "false"
                                              : "#unbound");
    case PTC_T_STRING:
        return add_cstr(buf, "\"") && add_printed_text(printer, buf, v, true) &&
               add_cstr(buf, "\"");
    case PTC_T_KEYWORD: return add_cstr(buf, ":") && add_printed_text(printer, buf, v, false);
    case PTC_T_SYMBOL: return add_printed_text(printer, buf, v, false);
    default: return add_printed_other(printer, buf, v);
    }
}

/* What stands before the entries of a record: #user.Point */
static bool add_printed_type(PtcBuf *buf, PtcValue type)
{
    PtcValue name = ptc_type_field(type, PTC_TYPE_NAME);
    return add_cstr(buf, "#") && add_printed(buf, ptc_str_bytes(name), ptc_str_len(name));
}

/* #atom[1]: no address, so that what a run prints repeats; "..." for a cell inside of itself. */
static bool add_printed_cell(const PtcPrinter *printer, PtcBuf *buf, PtcWalk *walk, PtcValue cell)
{
    static const char *const names[] = {"#atom[", "#volatile[", "#delay["};
    PtcCellKind kind = ptc_cell_kind(cell);
    if (!add_cstr(buf, names[kind < PTC_CELL_KINDS ? kind : 0]))
        return false;
    if (ptc_cell_is_open(walk, cell))
        return add_cstr(buf, "...]");
    if (ptc_cell_get(printer->heap, cell) == PTC_UNBOUND)
        return add_cstr(buf, "pending]");
    return ptc_visit_cell(walk, cell);
}

/* A leaf, or the opening bracket of a collection, which is then the innermost. */
static bool add_printed_value(const PtcPrinter *printer, PtcBuf *buf, PtcWalk *walk, PtcValue v)
{
    if (!ptc_tick(printer->heap->budget, 1))
        return false;
    if (PTC_UNLIKELY(ptc_is_cell(v)))
        return add_printed_cell(printer, buf, walk, v);
    PtcValue plain = ptc_lazy_plain(v);
    v = plain == PTC_NONE ? v : plain;
    if (!ptc_visit_can(v))
        return add_printed_leaf(printer, buf, v);
    if (ptc_is_sequential(v) && ptc_seq_count(v) >= PTC_ENDLESS)
        return add_cstr(buf, "#seq[endless]");
    if (PTC_UNLIKELY(ptc_is_typed(v)) && !add_printed_type(buf, ptc_typed_type(v)))
        return false;
    return add_cstr(buf, ptc_is_map(v)   ? "{"
                         : ptc_is_set(v) ? "#{"
                                         : "[") &&
           ptc_visit_begin(walk, v);
}

/* The next item of the innermost collection, or its closing bracket. */
static bool add_next_printed(const PtcPrinter *printer, PtcBuf *buf, PtcWalk *walk)
{
    PtcFrame *top = ptc_walk_top(walk);
    bool first = ptc_visit_is_first(top);
    PtcValue v;
    const char *separator = " ";
    switch (ptc_visit_next(top, &v)) {
    case PTC_VISIT_END:
        walk->count--;
        return add_cstr(buf, ptc_is_sequential(top->a) || ptc_is_cell(top->a) ? "]" : "}");
    case PTC_VISIT_KEY: separator = first ? "" : ", "; break;
    case PTC_VISIT_ITEM: separator = first ? "" : " "; break;
    case PTC_VISIT_VALUE: break;
    }
    return add_cstr(buf, separator) && add_printed_value(printer, buf, walk, v);
}

bool ptc_print(const PtcPrinter *printer, PtcBuf *buf, PtcValue v)
{
    if (!printer->readable && ptc_is_string(v))
        return add_printed_text(printer, buf, v, false);
    if (!printer->readable && ptc_is_decimal(v))
        return add_decimal(printer, buf, v, "");
    PtcWalk walk;
    ptc_walk_init(&walk, printer->heap);
    bool ok = add_printed_value(printer, buf, &walk, v);
    while (ok && walk.count)
        ok = add_next_printed(printer, buf, &walk);
    ptc_walk_deinit(&walk);
    return ok;
}
