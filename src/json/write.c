/* SPDX-License-Identifier: MIT
 * Writes values as JSON.  What always holds: nesting never recurses in C, every item is paid for with a tick, and
 * two keys of a map that would become the same string are found before the map is written. */
#include "json/write.h"

#include <math.h>
#include <stdio.h>

#include "json/emit.h"
#include "json/swar.h"
#include "value/cell.h"
#include "value/coll/lazy.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/coll/visit.h"
#include "value/number/bigint.h"
#include "value/number/decimal.h"
#include "value/number/number.h"
#include "value/str.h"

enum { STRING_PART = 16 * PTC_KB };

typedef struct JsonWriter {
    const PtcJsonWriter *with;
    PtcBuf *buf;
    PtcJsonError *error;
    PtcWalk walk;
    PtcValue checked; /* a shape whose keys are known not to clash */
    bool underscores; /* hyphens in keys become underscores */
    PtcBuf *steps;    /* gets the way to what cannot be JSON; or NULL */
} JsonWriter;

/* -------------------------------------------------------------------- failure */

/* Where the walk is, such as rows[2].name; at a key, the innermost step is left out. */
static void add_walk_path(const JsonWriter *ws, bool at_key, char *path, size_t size)
{
    size_t steps = ws->walk.count - (at_key && ws->walk.count ? 1 : 0);
    for (size_t i = 0; i < steps && strlen(path) < size - 1; i++) {
        const PtcFrame *f = &ws->walk.frames[i];
        if (ptc_is_map(f->a))
            ptc_path_add_key(path, size, f->b);
        else if (!ptc_is_cell(f->a))
            ptc_path_add_index(path, size, f->pos - 1);
    }
}

static void add_json_key_step(PtcBuf *out, PtcValue key)
{
    if (ptc_is_named(key))
        ptc_emit_text(out, (PtcText){ptc_str_bytes(key), ptc_str_len(key)});
    else if (ptc_is_int(key))
        ptc_emit_int(out, ptc_to_int(key));
    else
        ptc_emit_cstr(out, "?");
}

/* The same as a JSON array. */
static void add_steps(const JsonWriter *ws, bool at_key, PtcBuf *out)
{
    size_t steps = ws->walk.count - (at_key && ws->walk.count ? 1 : 0);
    ptc_emit_array(out);
    for (size_t i = 0; i < steps; i++) {
        const PtcFrame *f = &ws->walk.frames[i];
        if (ptc_is_map(f->a))
            add_json_key_step(out, f->b);
        else if (!ptc_is_cell(f->a))
            ptc_emit_uint(out, f->pos - 1);
    }
    ptc_emit_array_end(out);
}

/* Always false. */
static bool refuse_json_value(JsonWriter *ws, const char *what, const char *why, bool at_key)
{
    PtcJsonError *e = ws->error;
    snprintf(e->what, sizeof e->what, "%s", what);
    add_walk_path(ws, at_key, e->path, sizeof e->path);
    const char *dot = e->path[0] && e->path[0] != '[' ? "." : "";
    snprintf(e->message, sizeof e->message, "%s %s, at $%s", what, why, dot);
    ptc_path_add_text(e->message, sizeof e->message, e->path, strlen(e->path));
    if (ws->steps)
        add_steps(ws, at_key, ws->steps);
    return false;
}

/* What is nested deeper could not be read back.  Always false. */
static bool refuse_json_depth(JsonWriter *ws)
{
    ws->error->too_deep = true;
    snprintf(ws->error->message, sizeof ws->error->message, "nested deeper than %d levels",
             PTC_JSON_MAX_DEPTH);
    return false;
}

/* What to call a value that cannot be JSON or cannot be a key. */
static const char *unwritable_name(PtcValue v)
{
    if (ptc_is_builtin(v) || ptc_is(v, PTC_T_CLOSURE))
        return "a function";
    if (ptc_is(v, PTC_T_VAR))
        return "a var";
    if (ptc_is_map(v))
        return "a map";
    if (ptc_is_set(v))
        return "a set";
    return ptc_is_sequential(v) ? "a vector" : "this value";
}

/* Fills in the error when the buffer or the budget failed, which does not do so itself.  Always false. */
static bool explain_json_write(JsonWriter *ws)
{
    PtcBudget *budget = ws->with->heap->budget;
    PtcJsonError *e = ws->error;
    if (ws->buf->failed)
        ptc_budget_halt(budget, PTC_STOP_MEMORY);
    e->stopped = budget->stop != PTC_STOP_NONE;
    if (e->stopped)
        snprintf(e->message, sizeof e->message, "stopped by a limit");
    else if (!e->message[0])
        snprintf(e->message, sizeof e->message, "the JSON is longer than %zu bytes", ws->buf->max);
    return false;
}

/* -------------------------------------------------------------------- strings */

static bool add_json_escape(PtcBuf *buf, char c)
{
    static const char names[] = "\"\\bfnrt";
    static const char meant[] = "\"\\\b\f\n\r\t";
    static const char hex[] = "0123456789abcdef";
    const char *found = c ? strchr(meant, c) : NULL;
    if (found)
        return ptc_buf_add(buf, (char[]){'\\', names[found - meant]}, 2);
    return ptc_buf_add(buf, (char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
}

/* Is there room for n more bytes without growing? */
static bool has_buffer_room(const PtcBuf *buf, size_t n)
{
    return n <= buf->cap - buf->len && n <= buf->max - buf->len && ptc_buf_ok(buf);
}

/* Most strings have nothing to escape and fit: those are copied in one go. */
static bool copy_unescaped(PtcBuf *buf, const char *text, size_t len)
{
    if (!has_buffer_room(buf, len + 2))
        return false;
    char *to = buf->data + buf->len;
    to[0] = '"';
    memcpy(to + 1, text, len);
    to[len + 1] = '"';
    buf->len += len + 2;
    return true;
}

/* Appends the text from p on; nothing before `plain` needs an escape. */
static bool add_json_escaped(PtcBuf *buf, const char *p, const char *plain, const char *end)
{
    bool ok = ptc_buf_add(buf, p, (size_t)(plain - p));
    while (ok && plain < end) {
        ok = add_json_escape(buf, *plain);
        p = plain + 1;
        plain = ptc_json_skip_plain(p, end);
        ok = ok && ptc_buf_add(buf, p, (size_t)(plain - p));
    }
    return ok;
}

bool ptc_json_write_escaped(PtcBuf *buf, const char *text, size_t len)
{
    if (len == 0) /* the text may be NULL, and adding 0 to that is undefined */
        return true;
    return add_json_escaped(buf, text, ptc_json_skip_plain(text, text + len), text + len);
}

bool ptc_json_write_string(PtcBuf *buf, const char *text, size_t len)
{
    if (len == 0)
        return ptc_buf_add(buf, "\"\"", 2);
    const char *end = text + len, *plain = ptc_json_skip_plain(text, end);
    if (plain == end && copy_unescaped(buf, text, len))
        return true;
    return ptc_buf_add(buf, "\"", 1) && add_json_escaped(buf, text, plain, end) &&
           ptc_buf_add(buf, "\"", 1);
}

/* A long string in parts, each paid for. */
static bool add_json_string(const JsonWriter *ws, PtcBuf *buf, PtcValue str)
{
    size_t len = ptc_str_len(str), n;
    if (len <= STRING_PART)
        return ptc_tick_scan(ws->with->heap->budget, len) &&
               ptc_json_write_string(buf, ptc_str_bytes(str), len);
    bool ok = ptc_buf_add(buf, "\"", 1);
    for (size_t at = 0; ok && at < len; at += n) {
        n = len - at < STRING_PART ? len - at : STRING_PART;
        ok = ptc_tick_scan(ws->with->heap->budget, n) &&
             ptc_json_write_escaped(buf, ptc_str_bytes(str) + at, n);
    }
    return ok && ptc_buf_add(buf, "\"", 1);
}

/* -------------------------------------------------------------------- scalars */

static bool add_json_double(JsonWriter *ws, double d)
{
    char text[PTC_DOUBLE_TEXT];
    if (!isfinite(d)) {
        ptc_double_print(d, text);
        return refuse_json_value(ws, text, "cannot be JSON", false);
    }
    if (ws->with->float_precision >= 0)
        d = ptc_double_round(d, ws->with->float_precision);
    return ptc_buf_add(ws->buf, text, ptc_double_json(d, text));
}

static bool add_json_other(JsonWriter *ws, PtcValue v)
{
    if (ptc_is_decimal(v)) /* the number that it is, with all its digits */
        return ptc_decimal_print(ws->with->heap, ws->buf, v, false);
    const char *what = unwritable_name(v);
    if (ws->with->other && ws->with->other(ws->with, ws->buf, v, &what))
        return true;
    return ptc_buf_ok(ws->buf) && refuse_json_value(ws, what, "cannot be JSON", false);
}

/* Anything but a collection. */
static bool add_json_leaf(JsonWriter *ws, PtcValue v)
{
    if (ptc_is_integer(v))
        return ptc_int_print(ws->with->heap, ws->buf, v);
    if (ptc_is_named(v))
        return add_json_string(ws, ws->buf, v);
    if (ptc_is_float(v))
        return add_json_double(ws, ptc_to_float(v));
    switch (v) {
    case PTC_NIL: return ptc_buf_add(ws->buf, "null", 4);
    case PTC_TRUE: return ptc_buf_add(ws->buf, "true", 4);
    case PTC_FALSE: return ptc_buf_add(ws->buf, "false", 5);
    default: return add_json_other(ws, v);
    }
}

/* ----------------------------------------------------------------------- keys */

static bool add_other_key(JsonWriter *ws, PtcBuf *buf, PtcValue key)
{
    size_t before = buf->len;
    const char *what = unwritable_name(key);
    if (ws->with->other && ws->with->other(ws->with, buf, key, &what) && buf->data[before] == '"')
        return true;
    return ptc_buf_ok(buf) && refuse_json_value(ws, what, "cannot be a key in JSON", true);
}

static bool has_hyphen(PtcValue name)
{
    return memchr(ptc_str_bytes(name), '-', ptc_str_len(name)) != NULL;
}

/* A name with `_` for `-`, as a JSON string. */
static bool add_underscored(PtcBuf *buf, PtcValue name)
{
    const char *p = ptc_str_bytes(name), *end = p + ptc_str_len(name), *hyphen;
    bool ok = ptc_buf_add(buf, "\"", 1);
    for (; ok && (hyphen = memchr(p, '-', (size_t)(end - p))); p = hyphen + 1)
        ok = ptc_json_write_escaped(buf, p, (size_t)(hyphen - p)) && ptc_buf_add(buf, "_", 1);
    return ok && ptc_json_write_escaped(buf, p, (size_t)(end - p)) && ptc_buf_add(buf, "\"", 1);
}

/* Appends a key as a JSON string. */
static bool add_json_key(JsonWriter *ws, PtcBuf *buf, PtcValue key)
{
    char text[PTC_DOUBLE_TEXT];
    if (PTC_LIKELY(ptc_is_named(key)))
        return ws->underscores && has_hyphen(key)
                   ? ptc_tick_scan(ws->with->heap->budget, ptc_str_len(key)) &&
                         add_underscored(buf, key)
                   : add_json_string(ws, buf, key);
    if (ptc_is_integer(key))
        return ptc_buf_add(buf, "\"", 1) && ptc_int_print(ws->with->heap, buf, key) &&
               ptc_buf_add(buf, "\"", 1);
    if (ptc_is_float(key)) {
        ptc_double_print(ptc_to_float(key), text);
        return ptc_buf_addf(buf, "\"%s\"", text);
    }
    if (key == PTC_NIL || ptc_is_bool(key)) {
        const char *word = key == PTC_NIL ? "nil" : key == PTC_TRUE ? "true" : "false";
        return ptc_buf_addf(buf, "\"%s\"", word);
    }
    return add_other_key(ws, buf, key);
}

/* The string a key becomes, or PTC_NONE. */
static PtcValue key_string(JsonWriter *ws, PtcValue key)
{
    PtcBuf text;
    PtcJsonError ignored;
    bool renamed = ws->underscores && ptc_is_named(key) && has_hyphen(key);
    if (ptc_is_string(key) && !renamed)
        return key;
    if (ptc_is_named(key) && !renamed)
        return ptc_str_new(ws->with->heap, ptc_str_bytes(key), ptc_str_len(key));
    ptc_buf_init(&text, ws->buf->mem, PTC_UNBOUNDED);
    PtcValue v = PTC_NONE;
    if (add_json_key(ws, &text, key))
        v = ptc_json_parse(ws->with->heap, text.data, text.len, &ignored);
    if (text.failed)
        ptc_budget_halt(ws->with->heap->budget, PTC_STOP_MEMORY);
    ptc_buf_deinit(&text);
    return v;
}

/* Keys of one kind cannot clash, unless their names are changed. */
static int kind_of_key(const JsonWriter *ws, PtcValue key)
{
    PtcTag tag = ptc_tag(key);
    if (ws->underscores && ptc_is_named(key) && has_hyphen(key))
        return -1;
    return tag == PTC_T_BIGINT || tag == PTC_T_FLOAT ? PTC_T_NONE : (int)tag;
}

/* Keys of one kind cannot clash, so most maps need no further check. */
static bool is_mixed(const JsonWriter *ws, PtcValue map)
{
    PtcValue key;
    size_t pos = 0;
    bool any = ptc_map_next(map, &pos, &key, NULL);
    int kind = any ? kind_of_key(ws, key) : 0;
    while (ptc_map_next(map, &pos, &key, NULL)) {
        if (kind_of_key(ws, key) != kind || kind < 0)
            return true;
    }
    return false;
}

/* Fails when two keys of a map become the same string. */
static bool check_mixed(JsonWriter *ws, PtcValue map)
{
    PtcDictBuild seen;
    PtcValue key;
    if (!ptc_dict_build_init(&seen, ws->with->heap, true))
        return false;
    bool ok = true;
    for (size_t pos = 0; ok && ptc_map_next(map, &pos, &key, NULL);) {
        key = key_string(ws, key);
        ok = key != PTC_NONE && ptc_tick(ws->with->heap->budget, 1);
        if (ok && ptc_dict_build_find(&seen, key) >= 0)
            ok = refuse_json_value(ws, "two keys that become the same string", "cannot be JSON",
                                   false);
        ok = ok && ptc_dict_build_put(&seen, key, PTC_NIL);
    }
    ptc_dict_build_cancel(&seen);
    return ok;
}

/* The last shape is remembered, since rows of a table all have the same one. */
static bool check_json_keys(JsonWriter *ws, PtcValue map)
{
    bool small = ptc_is(map, PTC_T_SMAP);
    PtcValue shape = small ? ((const PtcSmap *)(const void *)ptc_obj(map))->shape : PTC_NONE;
    if (small && shape == ws->checked)
        return true;
    if (!ptc_tick(ws->with->heap->budget, (int64_t)(ptc_map_count(map) / 16)))
        return false;
    if (is_mixed(ws, map) && !check_mixed(ws, map))
        return false;
    ws->checked = shape;
    return true;
}

/* ---------------------------------------------------------------- collections */

/* A cell is what it holds. */
static bool add_json_cell(JsonWriter *ws, PtcValue cell)
{
    if (ptc_cell_is_open(&ws->walk, cell))
        return refuse_json_value(ws, "an atom that contains itself", "cannot be JSON", false);
    if (ptc_cell_get(ws->with->heap, cell) == PTC_UNBOUND)
        return refuse_json_value(ws, "a delay that was not computed", "cannot be JSON", false);
    return ws->walk.count >= PTC_JSON_MAX_DEPTH ? refuse_json_depth(ws)
                                                : ptc_visit_cell(&ws->walk, cell);
}

/* A leaf, or the opening bracket of a collection, which becomes the innermost. */
static bool add_json_value(JsonWriter *ws, PtcValue v)
{
    if (PTC_UNLIKELY(ptc_is_cell(v)))
        return add_json_cell(ws, v);
    if (ptc_is_lazy(v) && (v = ptc_lazy_demand(ws->with->heap, v)) == PTC_NONE)
        return false;
    if (!ptc_visit_can(v))
        return add_json_leaf(ws, v);
    if (ptc_is_sequential(v) && ptc_seq_count(v) >= PTC_ENDLESS)
        return refuse_json_value(ws, "a sequence without end", "cannot be JSON", false);
    if (ws->walk.count >= PTC_JSON_MAX_DEPTH)
        return refuse_json_depth(ws);
    if (ptc_is_map(v) && !check_json_keys(ws, v))
        return false;
    return ptc_buf_add(ws->buf, ptc_is_map(v) ? "{" : "[", 1) && ptc_visit_begin(&ws->walk, v);
}

/* The next item of the innermost collection, or its closing bracket. */
static bool add_next_json(JsonWriter *ws)
{
    PtcFrame *top = ptc_walk_top(&ws->walk);
    bool first = ptc_visit_is_first(top);
    PtcValue v = PTC_NONE;
    PtcVisit step = ptc_visit_next(top, &v);
    if (step == PTC_VISIT_END) {
        ws->walk.count--;
        return ptc_is_cell(top->a) || ptc_buf_add(ws->buf, ptc_is_map(top->a) ? "}" : "]", 1);
    }
    if (!ptc_tick(ws->with->heap->budget, 1))
        return false;
    if (step == PTC_VISIT_VALUE)
        return ptc_buf_add(ws->buf, ":", 1) && add_json_value(ws, v);
    if (!first && !ptc_buf_add(ws->buf, ",", 1))
        return false;
    return step == PTC_VISIT_KEY ? add_json_key(ws, ws->buf, v) : add_json_value(ws, v);
}

static bool write_json_tree(JsonWriter *ws, PtcValue v)
{
    memset(ws->error, 0, sizeof *ws->error);
    ptc_walk_init(&ws->walk, ws->with->heap);
    bool ok = add_json_value(ws, v);
    while (ok && ws->walk.count)
        ok = add_next_json(ws);
    ptc_walk_deinit(&ws->walk);
    return ok || explain_json_write(ws);
}

bool ptc_json_write(const PtcJsonWriter *writer, PtcBuf *buf, PtcValue v, PtcJsonError *error)
{
    return write_json_tree(
        &(JsonWriter){.with = writer, .buf = buf, .error = error, .checked = PTC_NONE}, v);
}

bool ptc_json_write_answer(const PtcJsonWriter *writer, PtcBuf *buf, PtcValue v, PtcBuf *steps,
                           PtcJsonError *error)
{
    JsonWriter ws = {.with = writer,
                     .buf = buf,
                     .error = error,
                     .checked = PTC_NONE,
                     .underscores = true,
                     .steps = steps};
    return write_json_tree(&ws, v);
}
