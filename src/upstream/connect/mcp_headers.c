/* SPDX-License-Identifier: MIT
 * Headers from arguments.  What always holds: a value is written by header_value.h, so no argument can end a header. */
#include "upstream/connect/mcp_headers.h"

#include "json/emit.h"
#include "mcp/client/header_value.h"
#include "upstream/config/header.h"
#include "value/coll/fields.h"

enum { HEADER_DEPTH = 64, MCP_HEADERS = 64 };

static const char annotation[] = "x-mcp-header";

/* ------------------------------------------------------------------------------- checking */

typedef struct {
    PtcHeap *heap;
    PtcValue seen;
    bool bad;
} HeaderCheck;

/* A number that is no integer has many texts, so the specification has no `number` here. */
static bool is_scalar_type(PtcText type)
{
    return type.bytes && (ptc_text_is(type, "string") || ptc_text_is(type, "integer") ||
                          ptc_text_is(type, "boolean"));
}

static void check_header_name(HeaderCheck *c, PtcValue schema, PtcValue name, bool reachable)
{
    PtcText text = ptc_str_text(name);
    PtcText type = ptc_fields_text(c->heap, schema, "type");
    if (!reachable || !text.bytes || !ptc_header_is_name(text) || !is_scalar_type(type)) {
        c->bad = true;
        return;
    }
    PtcValue lower = ptc_header_lower(c->heap, text);
    PtcText key = lower == PTC_NONE ? text : ptc_str_text(lower);
    if (ptc_fields_get(c->heap, c->seen, key) != PTC_NONE)
        c->bad = true;
    ptc_fields_put_key(c->heap, &c->seen, key, PTC_TRUE);
}

static void check_header_schema(HeaderCheck *c, PtcValue schema, bool reachable, int depth);

/* Everything inside of a part of a schema; `names`: its keys are names of properties, not keywords. */
static void check_inside(HeaderCheck *c, PtcValue part, bool names, bool reachable, int depth)
{
    PtcValue key, value;
    if (depth > HEADER_DEPTH)
        c->bad = true;
    else if (ptc_is_map(part) && names)
        for (size_t pos = 0; !c->bad && ptc_map_next(part, &pos, &key, &value);)
            check_header_schema(c, value, reachable, depth + 1);
    else if (ptc_is_map(part))
        check_header_schema(c, part, reachable, depth + 1);
    else
        for (size_t i = 0; !c->bad && i < ptc_fields_count(part); i++)
            check_inside(c, ptc_seq_nth(part, i), false, false, depth + 1);
}

/* Keywords whose values are data, not schemas. */
static bool is_data(PtcText keyword)
{
    return ptc_text_is(keyword, "default") || ptc_text_is(keyword, "examples") ||
           ptc_text_is(keyword, "enum") || ptc_text_is(keyword, "const");
}

static void check_header_schema(HeaderCheck *c, PtcValue schema, bool reachable, int depth)
{
    PtcValue key, value;
    if (!ptc_is_map(schema) || !ptc_tick(c->heap->budget, 1))
        return;
    for (size_t pos = 0; !c->bad && ptc_map_next(schema, &pos, &key, &value);) {
        PtcText keyword = ptc_str_text(key);
        bool properties = ptc_text_is(keyword, "properties");
        bool names =
            properties || ptc_text_is(keyword, "$defs") || ptc_text_is(keyword, "definitions") ||
            ptc_text_is(keyword, "patternProperties") || ptc_text_is(keyword, "dependentSchemas");
        if (ptc_text_is(keyword, annotation))
            check_header_name(c, schema, value, reachable);
        else if (!is_data(keyword))
            check_inside(c, value, names, reachable && properties, depth);
    }
}

bool ptc_mcp_headers_fit(PtcHeap *heap, PtcValue schema)
{
    HeaderCheck c = {heap, ptc_fields_map(heap), false};
    if (schema != PTC_NONE && c.seen != PTC_NONE)
        check_header_schema(&c, schema, true, 0);
    return !c.bad && ptc_fields_ok(heap);
}

/* --------------------------------------------------------------------------------- values */

static PtcValue encode_header_value(PtcHeap *heap, PtcText text)
{
    PtcBuf out;
    ptc_buf_init(&out, heap->pool->mem, PTC_UNBOUNDED);
    ptc_header_value_add(&out, text);
    PtcValue value = ptc_fields_buf(heap, &out);
    ptc_buf_deinit(&out);
    return value;
}

/* An argument as the text of a header; PTC_NONE: it goes without one. */
static PtcValue value_text(PtcHeap *heap, PtcValue v)
{
    PtcBuf out;
    if (ptc_is_string(v))
        return encode_header_value(heap, ptc_str_text(v));
    if (!ptc_is_bool(v) && !ptc_is_number(v))
        return PTC_NONE;
    double d = ptc_is_float(v) ? ptc_to_float(v) : 0.5;
    if (d == (double)(int64_t)d && d > -1e15 && d < 1e15)
        v = ptc_int((int64_t)d);
    ptc_buf_init(&out, heap->pool->mem, PTC_UNBOUNDED);
    ptc_emit_value(&out, heap, v);
    PtcValue text = ptc_fields_buf(heap, &out);
    ptc_buf_deinit(&out);
    return text;
}

static void add_param_header(PtcHeap *heap, PtcValue *headers, PtcText name, PtcValue v)
{
    PtcBuf out;
    ptc_buf_init(&out, heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_add_cstr(&out, "mcp-param-");
    ptc_buf_add(&out, name.bytes, name.len);
    PtcValue whole = ptc_fields_buf(heap, &out);
    PtcValue key = whole == PTC_NONE ? PTC_NONE : ptc_header_lower(heap, ptc_str_text(whole));
    if (key != PTC_NONE && ptc_map_count(*headers) < MCP_HEADERS)
        ptc_fields_put_key(heap, headers, ptc_str_text(key), value_text(heap, v));
    ptc_buf_deinit(&out);
}

static void add_param_headers(PtcHeap *heap, PtcValue *headers, PtcValue schema, PtcValue args,
                              int depth)
{
    PtcValue key, property;
    PtcValue properties = ptc_map_field(heap, schema, "properties");
    if (depth > HEADER_DEPTH || properties == PTC_NONE || !ptc_is_map(properties) ||
        !ptc_is_map(args))
        return;
    for (size_t pos = 0; ptc_map_next(properties, &pos, &key, &property);) {
        PtcValue v = ptc_map_get(heap, args, key);
        PtcText name = ptc_fields_text(heap, property, annotation);
        if (v == PTC_NONE)
            continue;
        if (name.bytes)
            add_param_header(heap, headers, name, v);
        else if (ptc_is_map(property))
            add_param_headers(heap, headers, property, v, depth + 1);
    }
}

PtcValue ptc_mcp_headers(PtcHeap *heap, PtcText tool, PtcValue schema, PtcValue args)
{
    PtcValue headers = ptc_fields_map(heap);
    if (headers == PTC_NONE)
        return PTC_NONE;
    ptc_fields_put_text(heap, &headers, "mcp-method", PTC_TEXT("tools/call"));
    ptc_fields_put(heap, &headers, "mcp-name", encode_header_value(heap, tool));
    if (schema != PTC_NONE)
        add_param_headers(heap, &headers, schema, args, 0);
    return ptc_fields_ok(heap) ? headers : PTC_NONE;
}
