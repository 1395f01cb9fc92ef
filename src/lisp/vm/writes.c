/* SPDX-License-Identifier: MIT
 * The list of writes, and values as short JSON.  Strings, collections and depth are cut, so that a thousand entries
 * fit anywhere; what has no JSON is a string of what is printed for it. */
#include "lisp/vm/writes.h"

#include <string.h>

#include "base/grow.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "value/coll/lazy.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/number/number.h"
#include "value/str.h"

enum {
    BRIEF_STRING = 200, /* bytes of a string */
    BRIEF_ITEMS = 50,   /* of a collection */
    BRIEF_DEPTH = 4,
    BRIEF_BYTES = PTC_KB, /* of a value: what follows is left out */
    BRIEF_ROOM = 4 * BRIEF_BYTES,
};

/* ------------------------------------------------------------------------- short JSON */

typedef struct Brief {
    PtcBuf *out;
    const PtcPrinter *printer;
    size_t end; /* of the buffer, where the value becomes too long */
} Brief;

static void add_brief_text(PtcBuf *out, PtcText text)
{
    size_t n = text.len;
    if (n > BRIEF_STRING)
        n = ptc_utf8_valid_prefix(text.bytes, BRIEF_STRING);
    ptc_emit_string(out);
    ptc_emit_string_part(out, (PtcText){text.bytes, n});
    if (n < text.len)
        ptc_emit_string_part(out, PTC_TEXT("..."));
    ptc_emit_string_end(out);
}

/* Anything that is neither a plain leaf nor a collection that is shown in parts. */
static void add_brief_print(const Brief *b, PtcValue v)
{
    PtcBuf text;
    ptc_buf_init(&text, b->out->mem, 2 * BRIEF_STRING);
    if (!ptc_print(b->printer, &text, v) && text.len)
        text.len = ptc_utf8_valid_prefix(text.data, text.len);
    add_brief_text(b->out, (PtcText){text.len ? text.data : "...", text.len ? text.len : 3});
    ptc_buf_deinit(&text);
}

static void add_brief_key(const Brief *b, PtcValue key)
{
    if (ptc_is_named(key))
        add_brief_text(b->out, (PtcText){ptc_str_bytes(key), ptc_str_len(key)});
    else
        add_brief_print(b, key);
    ptc_buf_add_char(b->out, ':');
}

static bool has_brief_room(const Brief *b, size_t i)
{
    return i < BRIEF_ITEMS && b->out->len < b->end && ptc_buf_ok(b->out);
}

static void add_brief(const Brief *b, PtcValue v, int depth);

static void add_brief_map(const Brief *b, PtcValue map, int depth)
{
    PtcValue key, value;
    size_t n = ptc_map_count(map), i = 0;
    ptc_emit_object(b->out);
    for (size_t pos = 0; has_brief_room(b, i) && ptc_map_next(map, &pos, &key, &value); i++) {
        add_brief_key(b, key);
        add_brief(b, value, depth + 1);
    }
    if (i < n)
        ptc_emit_field_uint(b->out, "...", n - i);
    ptc_emit_object_end(b->out);
}

static void add_brief_items(const Brief *b, PtcValue items, int depth)
{
    size_t n = ptc_seq_count(items), i = 0;
    ptc_emit_array(b->out);
    for (; i < n && has_brief_room(b, i); i++)
        add_brief(b, ptc_seq_nth(items, i), depth + 1);
    if (i < n)
        ptc_emit_cstr(b->out, "...");
    ptc_emit_array_end(b->out);
}

static void add_brief(const Brief *b, PtcValue v, int depth)
{
    bool parts = depth < BRIEF_DEPTH && v != PTC_NONE && !ptc_is_lazy(v);
    if (v == PTC_NONE || v == PTC_NIL)
        ptc_emit_null(b->out);
    else if (ptc_is_bool(v))
        ptc_emit_bool(b->out, v == PTC_TRUE);
    else if (ptc_is_int(v))
        ptc_emit_int(b->out, ptc_to_int(v));
    else if (ptc_is_float(v))
        ptc_emit_double(b->out, ptc_to_float(v));
    else if (ptc_is_named(v))
        add_brief_text(b->out, (PtcText){ptc_str_bytes(v), ptc_str_len(v)});
    else if (parts && ptc_is_map(v))
        add_brief_map(b, v, depth);
    else if (parts && ptc_is_sequential(v))
        add_brief_items(b, v, depth);
    else
        add_brief_print(b, v);
}

/* --------------------------------------------------------------------------- the list */

PtcWrite *ptc_writes_add(PtcWrites *writes, PtcMem *mem)
{
    writes->total++;
    bool room = writes->count < PTC_WRITES_MAX &&
                PTC_GROW(mem, &writes->items, &writes->cap, writes->count + 1);
    return room ? &writes->items[writes->count++] : NULL;
}

static void settle_write(PtcWrite *w, PtcMem *mem, const PtcPrinter *printer)
{
    PtcBuf text;
    Brief b = {&text, printer, BRIEF_BYTES};
    ptc_buf_init(&text, mem, 2 * BRIEF_ROOM);
    add_brief(&b, w->args, 0);
    size_t args = text.len;
    ptc_buf_add_char(&text, ' '); /* where another JSON text may begin */
    b.end = text.len + BRIEF_BYTES;
    add_brief(&b, w->result, 0);
    w->args = w->result = PTC_NONE;
    w->json =
        text.len && ptc_buf_ok(&text) ? ptc_mem_resize(mem, text.data, text.cap, text.len) : NULL;
    if (w->json) {
        w->args_len = (uint32_t)args;
        w->result_len = (uint32_t)(text.len - args);
        return;
    }
    ptc_buf_deinit(&text);
}

void ptc_writes_settle(PtcWrites *writes, PtcMem *mem, const PtcPrinter *printer)
{
    for (; writes->settled < writes->count; writes->settled++) {
        PtcWrite *w = &writes->items[writes->settled];
        if (!w->json)
            settle_write(w, mem, printer);
    }
}

void ptc_writes_move(PtcWrites *to, PtcMem *mem, PtcWrites *writes, size_t from, size_t n,
                     size_t total)
{
    to->total += total - n;
    for (size_t i = from; i < from + n; i++) {
        PtcWrite *from_entry = &writes->items[i], *w = ptc_writes_add(to, mem);
        if (w)
            *w = *from_entry;
        else
            ptc_mem_free(mem, from_entry->json,
                         (size_t)from_entry->args_len + from_entry->result_len);
        from_entry->json = NULL;
        from_entry->args_len = from_entry->result_len = 0;
    }
}

void ptc_writes_deinit(PtcWrites *writes, PtcMem *mem)
{
    for (size_t i = 0; i < writes->count; i++) {
        const PtcWrite *w = &writes->items[i];
        ptc_mem_free(mem, w->json, (size_t)w->args_len + w->result_len);
    }
    ptc_mem_free(mem, writes->items, writes->cap * sizeof *writes->items);
    *writes = (PtcWrites){0};
}

PtcText ptc_write_args(const PtcWrite *write)
{
    return write->json ? (PtcText){write->json, write->args_len} : PTC_TEXT("null");
}

PtcText ptc_write_result(const PtcWrite *write)
{
    return write->json ? (PtcText){write->json + write->args_len + 1, write->result_len - 1}
                       : PTC_TEXT("null");
}
