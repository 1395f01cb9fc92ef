/* SPDX-License-Identifier: MIT
 * Media types of bodies.  What always holds: a type that we send is chosen from those that the document lists, and the
 * schema of a body takes every value that one of these types takes. */
#include "upstream/openapi/openapi_media.h"

#include <strings.h>

#include "json/parse.h"
#include "tool/schema/schema_view.h"
#include "value/coll/fields.h"
#include "value/equal.h"

enum { SCHEMAS = 32 }; /* of a body; one with more takes anything */
#define JSON_PATCH "application/json-patch+json"

/* A media type without its parameters. */
static PtcText bare_type(PtcText media)
{
    for (size_t i = 0; i < media.len; i++)
        if (media.bytes[i] == ';' || media.bytes[i] == ' ')
            media.len = i;
    return media;
}

/* What a media type begins with, or ends in; the first that fits counts. */
static const struct {
    const char *text;
    bool begins;
    PtcBodyKind kind;
} kinds[] = {{"*/*", true, PTC_BODY_JSON},
             {"application/*", true, PTC_BODY_JSON},
             {"/json", false, PTC_BODY_JSON},
             {"+json", false, PTC_BODY_JSON},
             {"application/x-www-form-urlencoded", true, PTC_BODY_FORM},
             {"multipart/form-data", true, PTC_BODY_MULTIPART},
             {"multipart/", true, PTC_BODY_NONE},
             {"text/", true, PTC_BODY_TEXT},
             {"image/", true, PTC_BODY_BINARY},
             {"/xml", false, PTC_BODY_TEXT},
             {"+xml", false, PTC_BODY_TEXT},
             {"yaml", false, PTC_BODY_TEXT}};

static PtcBodyKind kind_of_media(PtcText media)
{
    PtcText type = bare_type(media);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].text), at = kinds[i].begins || n > type.len ? 0 : type.len - n;
        if (n <= type.len && strncasecmp(type.bytes + at, kinds[i].text, n) == 0)
            return kinds[i].kind;
    }
    return memchr(type.bytes, '/', type.len) ? PTC_BODY_BINARY : PTC_BODY_NONE;
}

/* The next that we send; begin with *pos 0. */
static bool next_media(PtcHeap *heap, const PtcOperation *operation, size_t *pos, PtcBodyMedia *out)
{
    PtcValue key, media, content = ptc_map_field(heap, operation->body, "content");
    while (content != PTC_NONE && ptc_is_map(content) && ptc_map_next(content, pos, &key, &media)) {
        PtcText type = ptc_str_text(key);
        *out = (PtcBodyMedia){.kind = kind_of_media(type),
                              .type = type,
                              .schema = ptc_map_field(heap, media, "schema"),
                              .encoding = ptc_map_field(heap, media, "encoding")};
        if (memchr(type.bytes, '*', type.len))
            out->type = out->kind == PTC_BODY_JSON   ? PTC_TEXT("application/json")
                        : out->kind == PTC_BODY_TEXT ? PTC_TEXT("text/plain")
                                                     : PTC_TEXT("application/octet-stream");
        if (out->kind != PTC_BODY_NONE)
            return true;
    }
    return false;
}

size_t ptc_openapi_media_count(PtcHeap *heap, const PtcOperation *operation)
{
    PtcBodyMedia media;
    size_t n = 0;
    for (size_t pos = 0; next_media(heap, operation, &pos, &media);)
        n++;
    return n;
}

/* The smaller, the better. */
static int rank_media(const PtcBodyMedia *media, PtcText wanted, PtcValue value)
{
    int rank = 2 * (int)media->kind + 2;
    if (wanted.bytes && ptc_text_same(media->type, wanted))
        return 0;
    if (ptc_text_is(bare_type(media->type), JSON_PATCH))
        return value != PTC_NONE && ptc_is_sequential(value) ? 1 : rank + 1;
    return rank;
}

PtcBodyMedia ptc_openapi_media_for(PtcHeap *heap, const PtcOperation *operation, PtcText wanted,
                                   PtcValue value)
{
    PtcBodyMedia media, best = {.kind = PTC_BODY_NONE, .schema = PTC_NONE, .encoding = PTC_NONE};
    for (size_t pos = 0; next_media(heap, operation, &pos, &media);)
        if (best.kind == PTC_BODY_NONE ||
            rank_media(&media, wanted, value) < rank_media(&best, wanted, value))
            best = media;
    return best;
}

PtcValue ptc_openapi_media_choice(PtcHeap *heap, const PtcOperation *operation)
{
    PtcBodyMedia media,
        usual = ptc_openapi_media_for(heap, operation, (PtcText){NULL, 0}, PTC_NONE);
    PtcValue schema = ptc_fields_map(heap), values = ptc_fields_list(heap);
    bool patch = false;
    PtcBuf about;
    for (size_t pos = 0; next_media(heap, operation, &pos, &media);) {
        ptc_fields_push(heap, &values, ptc_fields_string(heap, media.type));
        patch = patch || ptc_text_is(bare_type(media.type), JSON_PATCH);
    }
    ptc_buf_init(&about, heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_addf(&about, "how the body is sent; left out: %.*s", PTC_ARG(usual.type));
    if (patch && !ptc_text_is(bare_type(usual.type), JSON_PATCH))
        ptc_buf_add_cstr(&about, ", and a vector as " JSON_PATCH);
    ptc_fields_put_text(heap, &schema, "type", PTC_TEXT("string"));
    ptc_fields_put(heap, &schema, "enum", values);
    ptc_fields_put(heap, &schema, "description", ptc_fields_buf(heap, &about));
    ptc_buf_deinit(&about);
    return schema;
}

/* ------------------------------------------------------------------------------------- files */

static bool is_file_schema(PtcHeap *heap, PtcValue schema)
{
    PtcText format = ptc_fields_text(heap, schema, "format");
    return (format.bytes && ptc_text_is(format, "binary")) ||
           ptc_map_field(heap, schema, "contentMediaType") != PTC_NONE ||
           ptc_map_field(heap, schema, "contentEncoding") != PTC_NONE;
}

bool ptc_openapi_media_is_file(PtcHeap *heap, PtcValue document, PtcValue schema)
{
    PtcValue seen = ptc_schema_view_follow(heap, document, schema);
    PtcValue items = ptc_map_field(heap, seen, "items");
    return is_file_schema(heap, seen) ||
           (items != PTC_NONE &&
            is_file_schema(heap, ptc_schema_view_follow(heap, document, items)));
}

/* {"ref": "blob-1"}, which is what results have in place of bytes, or {"text": "..."}; both may say what the file is
 * called and what it is. */
static const char file_schema[] =
    "{\"type\": \"object\", \"properties\": {\"ref\": {\"type\": \"string\"}, \"text\": {\"type\": "
    "\"string\"}, \"filename\": {\"type\": \"string\"}, \"mimeType\": {\"type\": \"string\"}}}";
/* What a JSON Patch is, though documents often say that it is an object. */
static const char patch_schema[] = "{\"type\": \"array\", \"items\": {\"type\": \"object\"}}";

/* {"anyOf": [schema, other]} */
static PtcValue either(PtcHeap *heap, PtcValue schema, const char *other)
{
    PtcJsonError error;
    PtcValue out = ptc_fields_map(heap), any = ptc_fields_list(heap);
    ptc_fields_push(heap, &any, schema);
    ptc_fields_push(heap, &any, ptc_json_parse(heap, other, strlen(other), &error));
    ptc_fields_put(heap, &out, "anyOf", any);
    return out;
}

/* A file, or an array of files, with the other way to give one. */
static PtcValue with_file(PtcHeap *heap, PtcValue document, PtcValue schema)
{
    PtcValue seen = ptc_schema_view_follow(heap, document, schema);
    if (!ptc_openapi_media_is_file(heap, document, schema))
        return schema;
    if (is_file_schema(heap, seen))
        return either(heap, schema, file_schema);
    ptc_fields_put(heap, &seen, "items",
                   either(heap, ptc_map_field(heap, seen, "items"), file_schema));
    return seen;
}

static PtcValue multipart_schema(PtcHeap *heap, PtcValue document, PtcValue schema)
{
    PtcValue key, value, seen = ptc_schema_view_follow(heap, document, schema);
    PtcValue from = ptc_map_field(heap, seen, "properties"), properties = from;
    if (from == PTC_NONE || !ptc_is_map(from))
        return schema;
    for (size_t pos = 0; ptc_map_next(from, &pos, &key, &value);) {
        PtcValue to = with_file(heap, document, value);
        if (to != value)
            ptc_fields_put_key(heap, &properties, ptc_str_text(key), to);
    }
    if (properties != from)
        ptc_fields_put(heap, &seen, "properties", properties);
    return properties == from ? schema : seen;
}

/* ----------------------------------------------------------------------------------- schemas */

/* What is sent as it is, such as XML: a string, where the schema says what is in it. */
static PtcValue text_schema(PtcHeap *heap, PtcValue document, const PtcBodyMedia *media)
{
    PtcValue seen = ptc_schema_view_follow(heap, document, media->schema);
    PtcValue schema = ptc_fields_map(heap);
    unsigned types = seen == PTC_NONE ? 0 : ptc_schema_view_types(heap, seen);
    if (!(types & (PTC_SCHEMA_TYPE_OBJECT | PTC_SCHEMA_TYPE_ARRAY)))
        return media->schema;
    ptc_fields_put_text(heap, &schema, "type", PTC_TEXT("string"));
    ptc_fields_put_text(heap, &schema, "contentMediaType", media->type);
    return schema;
}

/* The schema for one of the types; PTC_NONE: anything. */
static PtcValue schema_for(PtcHeap *heap, PtcValue document, const PtcBodyMedia *media)
{
    if (media->kind == PTC_BODY_TEXT)
        return text_schema(heap, document, media);
    if (media->schema == PTC_NONE)
        return PTC_NONE;
    if (media->kind == PTC_BODY_BINARY)
        return either(heap, text_schema(heap, document, media), file_schema);
    if (media->kind == PTC_BODY_MULTIPART)
        return multipart_schema(heap, document, media->schema);
    return ptc_text_is(bare_type(media->type), JSON_PATCH)
               ? either(heap, media->schema, patch_schema)
               : media->schema;
}

static bool holds(PtcHeap *heap, PtcValue list, PtcValue v)
{
    for (size_t i = 0; i < ptc_fields_count(list); i++)
        if (ptc_equal(heap, ptc_seq_nth(list, i), v))
            return true;
    return false;
}

PtcValue ptc_openapi_media_schema(PtcHeap *heap, PtcValue document, const PtcOperation *operation)
{
    PtcBodyMedia media = ptc_openapi_media_for(heap, operation, (PtcText){NULL, 0}, PTC_NONE);
    PtcValue first = schema_for(heap, document, &media), all = ptc_fields_list(heap);
    PtcValue out = ptc_fields_map(heap);
    if (first == PTC_NONE || !operation->type_argument.bytes)
        return first == PTC_NONE ? out : first;
    ptc_fields_push(heap, &all, first);
    for (size_t pos = 0; next_media(heap, operation, &pos, &media);) {
        PtcValue one = schema_for(heap, document, &media);
        if (one == PTC_NONE || ptc_fields_count(all) == SCHEMAS)
            return out;
        if (!holds(heap, all, one))
            ptc_fields_push(heap, &all, one);
    }
    ptc_fields_put(heap, &out, "anyOf", all);
    return ptc_fields_count(all) == 1 ? first : out;
}
