/* SPDX-License-Identifier: MIT
 * Turns what OpenAPI 3.0 writes in its own way into JSON Schema.  Anything that looks like a schema is treated as one,
 * wherever it is; in an example that does no harm, because nobody reads examples. */
#include "upstream/openapi_dialect.h"

#include "upstream/fields.h"

enum { DEPTH = 128 }; /* deeper parts stay as they are */

static void put_nullable(PtcHeap *heap, PtcValue *map)
{
    PtcValue type = ptc_map_field(heap, *map, "type"), list = ptc_fields_list(heap);
    if (!ptc_fields_is(heap, *map, "nullable", PTC_TRUE) || type == PTC_NONE ||
        !ptc_is_string(type))
        return;
    ptc_fields_push(heap, &list, type);
    ptc_fields_push(heap, &list, ptc_fields_string(heap, PTC_TEXT("null")));
    ptc_fields_put(heap, map, "type", list);
}

static void remove_field(PtcHeap *heap, PtcValue *map, const char *name)
{
    PtcValue key = ptc_fields_string(heap, ptc_text_cstr(name));
    PtcValue less = key == PTC_NONE ? PTC_NONE : ptc_map_dissoc(heap, *map, key);
    *map = less == PTC_NONE ? *map : less;
}

/* {"minimum": 1, "exclusiveMinimum": true} */
static void put_exclusive(PtcHeap *heap, PtcValue *map, const char *limit, const char *exclusive)
{
    PtcValue flag = ptc_map_field(heap, *map, exclusive);
    PtcValue number = ptc_map_field(heap, *map, limit);
    if (flag == PTC_NONE || !ptc_is_bool(flag))
        return;
    remove_field(heap, map, exclusive);
    if (flag != PTC_TRUE || number == PTC_NONE)
        return;
    remove_field(heap, map, limit);
    ptc_fields_put(heap, map, exclusive, number);
}

static PtcValue convert(PtcHeap *heap, PtcValue v, int depth);

static PtcValue convert_list(PtcHeap *heap, PtcValue v, int depth)
{
    PtcValue out = ptc_fields_list(heap);
    for (size_t i = 0; i < ptc_fields_count(v) && ptc_fields_ok(heap); i++)
        ptc_fields_push(heap, &out, convert(heap, ptc_seq_nth(v, i), depth));
    return out;
}

static PtcValue convert(PtcHeap *heap, PtcValue v, int depth)
{
    PtcValue key, value, out;
    if (depth == DEPTH || !(ptc_is_map(v) || ptc_is_sequential(v)))
        return v;
    if (ptc_is_sequential(v))
        return convert_list(heap, v, depth + 1);
    out = ptc_fields_map(heap);
    for (size_t pos = 0; ptc_fields_ok(heap) && ptc_map_next(v, &pos, &key, &value);)
        ptc_fields_put_key(heap, &out, ptc_str_text(key), convert(heap, value, depth + 1));
    if (out == PTC_NONE)
        return out;
    put_nullable(heap, &out);
    put_exclusive(heap, &out, "minimum", "exclusiveMinimum");
    put_exclusive(heap, &out, "maximum", "exclusiveMaximum");
    return out;
}

PtcValue ptc_openapi_dialect(PtcHeap *heap, PtcValue document)
{
    PtcText version = ptc_fields_text(heap, document, "openapi");
    if (!version.bytes || !ptc_text_starts(version, "3.0"))
        return document;
    PtcValue out = convert(heap, document, 0);
    return ptc_fields_ok(heap) ? out : PTC_NONE;
}
