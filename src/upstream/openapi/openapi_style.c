/* SPDX-License-Identifier: MIT
 * Styles of parameters.  All characters of a value are percent-encoded except unreserved ones; only what a style itself
 * puts between values is left as it is.  Headers are not encoded; whoever sends them checks them. */
#include "upstream/openapi/openapi_style.h"

#include <stdio.h>

#include "base/buf.h"
#include "json/emit.h"
#include "net/url.h"
#include "value/coll/fields.h"

enum { STYLE_DEPTH = 8 };

void ptc_openapi_style_text(PtcBuf *out, PtcHeap *heap, PtcValue v)
{
    PtcText text = ptc_str_text(v);
    PtcBuf json;
    if (text.bytes) {
        ptc_buf_add(out, text.bytes, text.len);
        return;
    }
    ptc_buf_init(&json, heap->pool->mem, PTC_UNBOUNDED);
    ptc_emit_value(&json, heap, v);
    ptc_buf_add(out, json.data, json.len);
    ptc_buf_end_part(out, &json);
}

typedef struct {
    PtcBuf *out;
    PtcHeap *heap;
    const PtcParameter *p;
} Style;

/* Reserved characters stay where the document says so, except those that would end the value. */
static void encode_reserved(PtcBuf *out, PtcText text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.bytes[i];
        if (c && strchr(":/?@!$'()*,;=", c))
            ptc_buf_add_char(out, c);
        else
            ptc_url_encode(out, (PtcText){&text.bytes[i], 1});
    }
}

static void add_styled_text(Style *s, PtcText text)
{
    if (s->p->in == PTC_IN_HEADER)
        ptc_buf_add(s->out, text.bytes, text.len);
    else if (s->p->reserved && s->p->in == PTC_IN_QUERY)
        encode_reserved(s->out, text);
    else
        ptc_url_encode(s->out, text);
}

static void add_styled_value(Style *s, PtcValue v)
{
    PtcBuf text;
    ptc_buf_init(&text, s->heap->pool->mem, PTC_UNBOUNDED);
    ptc_openapi_style_text(&text, s->heap, v);
    add_styled_text(s, ptc_buf_view(&text));
    ptc_buf_end_part(s->out, &text);
}

static void add_styled_name(Style *s)
{
    if (s->p->in == PTC_IN_QUERY || s->p->in == PTC_IN_COOKIE || s->p->style == PTC_STYLE_MATRIX)
        ptc_url_encode(s->out, s->p->name);
}

/* What stands between, and before the first when `first`. */
static void add_separator(Style *s, const char *separator, bool *first)
{
    if (!*first)
        ptc_buf_add_cstr(s->out, separator);
    *first = false;
}

/* Items or members one after the other: a,b or k,v,k,v; exploded members as k=v. */
static void add_joined(Style *s, PtcValue v, const char *separator, bool pairs)
{
    PtcValue key, value;
    bool first = true;
    for (size_t i = 0; i < ptc_fields_count(v); i++)
        if (ptc_seq_nth(v, i) != PTC_NIL) {
            add_separator(s, separator, &first);
            add_styled_value(s, ptc_seq_nth(v, i));
        }
    if (!ptc_is_map(v))
        return;
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        if (value == PTC_NIL)
            continue;
        add_separator(s, separator, &first);
        add_styled_text(s, ptc_str_text(key));
        ptc_buf_add_cstr(s->out, pairs ? "=" : separator);
        add_styled_value(s, value);
    }
}

static bool is_compound(PtcValue v)
{
    return ptc_is_map(v) || ptc_is_sequential(v);
}

/* One name and value for each part: ;a=1;a=2, &a=1&a=2; members go by their own names. */
static void add_exploded(Style *s, PtcValue v, const char *before)
{
    PtcValue key, value;
    for (size_t i = 0; i < ptc_fields_count(v); i++)
        if (ptc_seq_nth(v, i) != PTC_NIL) {
            ptc_buf_add_cstr(s->out, before);
            ptc_url_encode(s->out, s->p->name);
            ptc_buf_add_char(s->out, '=');
            add_styled_value(s, ptc_seq_nth(v, i));
        }
    if (!ptc_is_map(v))
        return;
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);)
        if (value != PTC_NIL) {
            ptc_buf_add_cstr(s->out, before);
            ptc_url_encode(s->out, ptc_str_text(key));
            ptc_buf_add_char(s->out, '=');
            add_styled_value(s, value);
        }
}

static void add_deep(Style *s, PtcValue v, PtcText name, int depth);

/* The same one step further in: filter[a], the brackets encoded. */
static void add_deep_step(Style *s, PtcValue v, PtcText name, PtcText step, int depth)
{
    PtcBuf inner;
    if (!ptc_buf_ok(s->out))
        return;
    ptc_buf_init(&inner, s->heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_add(&inner, name.bytes, name.len);
    ptc_buf_add_cstr(&inner, "%5B");
    ptc_url_encode(&inner, step);
    ptc_buf_add_cstr(&inner, "%5D");
    add_deep(s, v, ptc_buf_view(&inner), depth + 1);
    ptc_buf_end_part(s->out, &inner);
}

/* filter[a][b]=c.  OpenAPI says nothing of lists here; servers take ids[]=1 and, where the items have parts that belong
 * together, items[0][price]=1. */
static void add_deep(Style *s, PtcValue v, PtcText name, int depth)
{
    PtcValue key, value;
    char number[24];
    if (v == PTC_NIL)
        return;
    if (depth == STYLE_DEPTH || !is_compound(v)) {
        ptc_buf_add_char(s->out, '&');
        ptc_buf_add(s->out, name.bytes, name.len);
        ptc_buf_add_char(s->out, '=');
        add_styled_value(s, v);
        return;
    }
    for (size_t i = 0; i < ptc_fields_count(v); i++) {
        snprintf(number, sizeof number, "%zu", i);
        bool plain = !is_compound(ptc_seq_nth(v, i));
        add_deep_step(s, ptc_seq_nth(v, i), name, ptc_text_cstr(plain ? "" : number), depth);
    }
    for (size_t pos = 0; ptc_is_map(v) && ptc_map_next(v, &pos, &key, &value);)
        add_deep_step(s, value, name, ptc_str_text(key), depth);
}

static void add_deep_object(Style *s, PtcValue v)
{
    PtcBuf name;
    ptc_buf_init(&name, s->heap->pool->mem, PTC_UNBOUNDED);
    ptc_url_encode(&name, s->p->name);
    add_deep(s, v, ptc_buf_view(&name), 0);
    ptc_buf_end_part(s->out, &name);
}

/* What stands between the items of a list. */
static const char *delimiter(const Style *s)
{
    bool plain = s->p->in == PTC_IN_HEADER;
    switch (s->p->style) {
    case PTC_STYLE_SPACE: return plain ? " " : "%20";
    case PTC_STYLE_PIPE: return plain ? "|" : "%7C";
    case PTC_STYLE_TAB: return plain ? "\t" : "%09";
    case PTC_STYLE_LABEL: return s->p->explode ? "." : ",";
    default: return ",";
    }
}

/* Queries and cookies. */
static void add_form_style(Style *s, PtcValue v)
{
    const char *before = s->p->in == PTC_IN_COOKIE ? "; " : "&";
    if (is_compound(v) && s->p->explode) {
        add_exploded(s, v, before);
        return;
    }
    ptc_buf_add_cstr(s->out, before);
    add_styled_name(s);
    ptc_buf_add_char(s->out, '=');
    if (is_compound(v))
        add_joined(s, v, delimiter(s), false);
    else
        add_styled_value(s, v);
}

static void add_matrix(Style *s, PtcValue v)
{
    PtcText text = ptc_str_text(v);
    if (is_compound(v) && s->p->explode) {
        add_exploded(s, v, ";");
        return;
    }
    ptc_buf_add_char(s->out, ';');
    add_styled_name(s);
    if (text.bytes && text.len == 0)
        return;
    ptc_buf_add_char(s->out, '=');
    if (is_compound(v))
        add_joined(s, v, ",", false);
    else
        add_styled_value(s, v);
}

/* Paths and headers. */
static void add_simple(Style *s, PtcValue v)
{
    if (s->p->style == PTC_STYLE_LABEL)
        ptc_buf_add_char(s->out, '.');
    if (is_compound(v))
        add_joined(s, v, delimiter(s), s->p->explode);
    else
        add_styled_value(s, v);
}

static void add_styled_json(Style *s, PtcValue v)
{
    PtcBuf json;
    ptc_buf_init(&json, s->heap->pool->mem, PTC_UNBOUNDED);
    ptc_emit_value(&json, s->heap, v);
    if (s->p->in == PTC_IN_QUERY || s->p->in == PTC_IN_COOKIE) {
        ptc_buf_add_cstr(s->out, s->p->in == PTC_IN_COOKIE ? "; " : "&");
        add_styled_name(s);
        ptc_buf_add_char(s->out, '=');
    }
    add_styled_text(s, ptc_buf_view(&json));
    ptc_buf_end_part(s->out, &json);
}

void ptc_openapi_style_add(PtcBuf *out, PtcHeap *heap, const PtcParameter *p, PtcValue v)
{
    Style s = {out, heap, p};
    if (p->style == PTC_STYLE_JSON)
        add_styled_json(&s, v);
    else if (p->style == PTC_STYLE_DEEP && p->in == PTC_IN_QUERY && is_compound(v))
        add_deep_object(&s, v);
    else if (p->in == PTC_IN_QUERY || p->in == PTC_IN_COOKIE)
        add_form_style(&s, v);
    else if (p->style == PTC_STYLE_MATRIX)
        add_matrix(&s, v);
    else
        add_simple(&s, v);
}

void ptc_openapi_style_read(PtcHeap *heap, PtcValue from, PtcParameter *p)
{
    static const char *const names[] = {"simple",       "label",          "matrix",
                                        "form",         "spaceDelimited", "pipeDelimited",
                                        "tabDelimited", "deepObject"};
    PtcText style = ptc_fields_text(heap, from, "style");
    PtcValue explode = ptc_map_field(heap, from, "explode");
    bool simple = p->in == PTC_IN_PATH || p->in == PTC_IN_HEADER;
    p->style = simple ? PTC_STYLE_SIMPLE : PTC_STYLE_FORM;
    for (size_t i = 0; style.bytes && i < sizeof names / sizeof *names; i++)
        if (ptc_text_is(style, names[i]))
            p->style = (PtcParameterStyle)i;
    p->explode = explode == PTC_NONE ? p->style == PTC_STYLE_FORM : explode == PTC_TRUE;
    p->reserved = ptc_fields_is(heap, from, "allowReserved", PTC_TRUE);
}

void ptc_openapi_style_form(PtcBuf *out, PtcHeap *heap, PtcValue object, PtcValue encoding)
{
    PtcValue key, value;
    size_t start = out->len;
    for (size_t pos = 0; ptc_map_next(object, &pos, &key, &value);) {
        PtcParameter p = {.name = ptc_str_text(key), .in = PTC_IN_QUERY};
        PtcValue how = ptc_fields_get(heap, encoding, p.name);
        ptc_openapi_style_read(heap, how, &p);
        PtcText type = ptc_fields_text(heap, how, "contentType");
        bool json = ptc_is_map(value) || (type.bytes && ptc_text_is(type, "application/json"));
        if (json && ptc_map_field(heap, how, "style") == PTC_NONE)
            p.style = PTC_STYLE_JSON;
        if (value != PTC_NIL)
            ptc_openapi_style_add(out, heap, &p, value);
    }
    if (out->len > start) { /* without the & before the first */
        memmove(out->data + start, out->data + start + 1, out->len - start - 1);
        out->len--;
    }
}
