/* SPDX-License-Identifier: MIT
 * Turns what OpenAPI 3.0 and Swagger 2.0 write in their own way into JSON Schema.  Anything that looks like a schema is
 * treated as one, wherever it is; in an example that does no harm, because nobody reads examples. */
#include "upstream/openapi/openapi_dialect.h"

#include "upstream/openapi/openapi.h"
#include "upstream/openapi/openapi_swagger.h"
#include "value/coll/fields.h"

enum { OPENAPI_DEPTH = 128 }; /* deeper parts stay as they are */

static void put_nullable(PtcHeap *heap, PtcValue *map)
{
    PtcValue type = ptc_map_field(heap, *map, "type");
    if (!ptc_fields_is(heap, *map, "nullable", PTC_TRUE) || type == PTC_NONE ||
        !ptc_is_string(type))
        return;
    PtcValue list = ptc_fields_list(heap);
    ptc_fields_push(heap, &list, type);
    ptc_fields_push(heap, &list, ptc_fields_string(heap, PTC_TEXT("null")));
    ptc_fields_put(heap, map, "type", list);
}

/* {"minimum": 1, "exclusiveMinimum": true} */
static void put_exclusive(PtcHeap *heap, PtcValue *map, const char *limit, const char *exclusive)
{
    PtcValue flag = ptc_map_field(heap, *map, exclusive);
    PtcValue number = ptc_map_field(heap, *map, limit);
    if (flag == PTC_NONE || !ptc_is_bool(flag))
        return;
    ptc_fields_remove(heap, map, exclusive);
    if (flag != PTC_TRUE || number == PTC_NONE)
        return;
    ptc_fields_remove(heap, map, limit);
    ptc_fields_put(heap, map, exclusive, number);
}

typedef struct {
    PtcHeap *heap;
    bool swagger; /* it is Swagger 2.0 */
} Converting;

static PtcValue convert_dialect(Converting *c, PtcValue v, int depth);

static PtcValue convert_list(Converting *c, PtcValue v, int depth)
{
    PtcValue out = ptc_fields_list(c->heap);
    bool changed = false;
    for (size_t i = 0; i < ptc_fields_count(v) && ptc_fields_ok(c->heap); i++) {
        PtcValue to = convert_dialect(c, ptc_seq_nth(v, i), depth);
        changed = changed || to != ptc_seq_nth(v, i);
        ptc_fields_push(c->heap, &out, to);
    }
    return changed ? out : v;
}

/* What does not change is not copied: that is most of a document. */
static PtcValue convert_dialect(Converting *c, PtcValue v, int depth)
{
    PtcHeap *heap = c->heap;
    PtcValue key, value, out = v;
    if (depth == OPENAPI_DEPTH || !(ptc_is_map(v) || ptc_is_sequential(v)))
        return v;
    if (ptc_is_sequential(v))
        return convert_list(c, v, depth + 1);
    for (size_t pos = 0; ptc_fields_ok(heap) && ptc_map_next(v, &pos, &key, &value);) {
        PtcValue to = convert_dialect(c, value, depth + 1);
        if (to != value)
            ptc_fields_put_key(heap, &out, ptc_str_text(key), to);
    }
    if (c->swagger)
        ptc_openapi_swagger_node(heap, &out);
    put_nullable(heap, &out);
    put_exclusive(heap, &out, "minimum", "exclusiveMinimum");
    put_exclusive(heap, &out, "maximum", "exclusiveMaximum");
    return out;
}

PtcValue ptc_openapi_dialect(PtcHeap *heap, PtcValue document, PtcWhy *why)
{
    Converting c = {heap, ptc_openapi_swagger_is(heap, document)};
    if (c.swagger)
        document = ptc_openapi_swagger(heap, document);
    else if (!ptc_openapi_is_document(heap, document, why))
        return PTC_NONE;
    PtcText version = ptc_fields_text(heap, document, "openapi");
    if (version.bytes && ptc_text_starts(version, "3.0"))
        document = convert_dialect(&c, document, 0);
    if (ptc_fields_ok(heap))
        return document;
    ptc_why_say(why, PTC_WHY_NO_MEMORY, "it needs more memory than there is");
    return PTC_NONE;
}
