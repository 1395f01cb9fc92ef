/* SPDX-License-Identifier: MIT
 * What always holds: a mark of ours stands outside of quotes, a text of others inside; whoever pads a value pushes
 * neither a key nor the end of a value out of sight. */
#include "upstream/catalog/quoted.h"

#include "base/utf8.h"
#include "json/emit.h"
#include "value/coll/fields.h"

enum { QUOTED_DEPTH = 64 };

/* How much of a text and of a list is shown.  The first that fits is taken. */
typedef struct {
    size_t text, items, all;
} Detail;
static const Detail details[] = {{300, 20, 600}, {80, 8, 1200}, {24, 3, PTC_QUOTED_BYTES}};

typedef struct {
    PtcBuf out;
    PtcHeap *heap;
    const Detail *detail;
} QuotedWriter;

/* ------------------------------------------------------------------------------------- texts */

static void add_quoted_code(PtcBuf *out, PtcText bytes, uint32_t code)
{
    const char *escape = code == '"'    ? "\\\""
                         : code == '\\' ? "\\\\"
                         : code == '\n' ? "\\n"
                         : code == '\t' ? "\\t"
                                        : NULL;
    if (escape)
        ptc_buf_add_cstr(out, escape);
    else if (ptc_utf8_is_seen(code))
        ptc_buf_add(out, bytes.bytes, bytes.len);
    else
        ptc_buf_addf(out, "\\u{%x}", (unsigned)code);
}

static void add_quoted_whole(PtcBuf *out, PtcText text)
{
    uint32_t code;
    ptc_buf_add_char(out, '"');
    for (size_t i = 0, n; i < text.len && ptc_buf_ok(out); i += n) {
        n = ptc_utf8_decode(text.bytes + i, text.len - i, &code);
        add_quoted_code(out, (PtcText){text.bytes + i, n}, code);
    }
    ptc_buf_add_char(out, '"');
}

void ptc_quoted_add(PtcBuf *out, PtcText text, size_t most)
{
    if (text.len <= most) {
        add_quoted_whole(out, text);
        return;
    }
    size_t head = ptc_utf8_valid_prefix(text.bytes, most / 2), tail = text.len - most / 2;
    while (tail < text.len && ((unsigned char)text.bytes[tail] & 0xc0) == 0x80)
        tail++;
    add_quoted_whole(out, (PtcText){text.bytes, head});
    ptc_buf_addf(out, " [%zu bytes left out] ", tail - head);
    add_quoted_whole(out, (PtcText){text.bytes + tail, text.len - tail});
}

/* ------------------------------------------------------------------------------------ values */

/* The keys of a value at any depth, each once.  What is too deep is not looked into, so it cannot be shown. */
static void gather_keys(QuotedWriter *w, PtcValue v, unsigned depth, PtcValue *keys)
{
    PtcValue key, value;
    w->out.full = w->out.full || depth > QUOTED_DEPTH;
    if (depth > QUOTED_DEPTH)
        return;
    for (size_t pos = 0; ptc_is_map(v) && ptc_map_next(v, &pos, &key, &value);) {
        if (ptc_fields_get(w->heap, *keys, ptc_str_text(key)) == PTC_NONE)
            ptc_fields_put_key(w->heap, keys, ptc_str_text(key), PTC_TRUE);
        gather_keys(w, value, depth + 1, keys);
    }
    for (size_t i = 0; ptc_is_sequential(v) && i < ptc_seq_count(v); i++)
        gather_keys(w, ptc_seq_nth(v, i), depth + 1, keys);
}

static void add_left_out(QuotedWriter *w, PtcValue list, size_t from, size_t to, unsigned depth)
{
    PtcValue key, value, keys = ptc_fields_map(w->heap);
    const char *before = ", with the keys ";
    for (size_t i = from; i < to; i++)
        gather_keys(w, ptc_seq_nth(list, i), depth + 1, &keys);
    ptc_buf_addf(&w->out, ", [%zu items left out", to - from);
    for (size_t pos = 0; keys != PTC_NONE && ptc_map_next(keys, &pos, &key, &value);) {
        ptc_buf_add_cstr(&w->out, before);
        ptc_quoted_add(&w->out, ptc_str_text(key), w->detail->text);
        before = ", ";
    }
    ptc_buf_add_cstr(&w->out, "], ");
}

static void add_quoted_value(QuotedWriter *w, PtcValue v, unsigned depth);

static void add_quoted_list(QuotedWriter *w, PtcValue list, unsigned depth)
{
    size_t n = ptc_seq_count(list), head = n <= w->detail->items ? n : w->detail->items - 1;
    ptc_buf_add_char(&w->out, '[');
    for (size_t i = 0; i < head; i++) {
        if (i)
            ptc_buf_add_char(&w->out, ',');
        add_quoted_value(w, ptc_seq_nth(list, i), depth + 1);
    }
    if (head < n) {
        add_left_out(w, list, head, n - 1, depth);
        add_quoted_value(w, ptc_seq_nth(list, n - 1), depth + 1);
    }
    ptc_buf_add_char(&w->out, ']');
}

static void add_quoted_map(QuotedWriter *w, PtcValue map, unsigned depth)
{
    PtcValue key, value;
    const char *before = "{";
    for (size_t pos = 0; ptc_buf_ok(&w->out) && ptc_map_next(map, &pos, &key, &value);) {
        ptc_buf_add_cstr(&w->out, before);
        ptc_quoted_add(&w->out, ptc_str_text(key), w->detail->text);
        ptc_buf_add_char(&w->out, ':');
        add_quoted_value(w, value, depth + 1);
        before = ",";
    }
    ptc_buf_add_cstr(&w->out, before[0] == '{' ? "{}" : "}");
}

/* A number may have as many digits as a text. */
static void add_scalar(QuotedWriter *w, PtcValue v)
{
    PtcBuf json;
    ptc_buf_init(&json, w->out.mem, PTC_UNBOUNDED);
    ptc_emit_value(&json, w->heap, v);
    if (json.len <= w->detail->text)
        ptc_buf_add(&w->out, json.data, json.len);
    else
        ptc_quoted_add(&w->out, ptc_buf_view(&json), w->detail->text);
    ptc_buf_end_part(&w->out, &json);
}

static void add_quoted_value(QuotedWriter *w, PtcValue v, unsigned depth)
{
    w->out.full = w->out.full || depth > QUOTED_DEPTH;
    if (!ptc_buf_ok(&w->out))
        return;
    if (ptc_is_string(v))
        ptc_quoted_add(&w->out, ptc_str_text(v), w->detail->text);
    else if (ptc_is_map(v))
        add_quoted_map(w, v, depth);
    else if (ptc_is_sequential(v))
        add_quoted_list(w, v, depth);
    else
        add_scalar(w, v);
}

bool ptc_quoted_add_value(PtcBuf *out, PtcHeap *heap, PtcValue v)
{
    bool ok = false;
    for (size_t i = 0; !ok && i < sizeof details / sizeof *details; i++) {
        QuotedWriter w = {.heap = heap, .detail = &details[i]};
        ptc_buf_init(&w.out, out->mem, details[i].all);
        add_quoted_value(&w, v, 0);
        ok = ptc_buf_ok(&w.out) && ptc_fields_ok(heap) && ptc_buf_add(out, w.out.data, w.out.len);
        ptc_buf_deinit(&w.out);
    }
    return ok;
}
