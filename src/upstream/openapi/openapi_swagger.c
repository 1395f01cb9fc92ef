/* SPDX-License-Identifier: MIT
 * Swagger 2.0 as OpenAPI 3.0.  The document may be hostile: what differs from the specification is passed on as it is,
 * so that whoever reads the result finds it and says so.  What always holds: nothing here recurses, and of two
 * parameters with one name and place the operation's replaces that of its path. */
#include "upstream/openapi/openapi_swagger.h"

#include "net/url.h"
#include "tool/schema/schema_view.h"
#include "value/coll/fields.h"

typedef struct {
    PtcHeap *heap;
    PtcValue document;  /* as it was */
    PtcValue operation; /* at hand; PTC_NONE: none */
} Swagger;

/* What the parameters of an operation become. */
typedef struct {
    PtcValue list;                           /* those that are not sent in a body */
    PtcValue body;                           /* the parameter that is the body; PTC_NONE: none */
    PtcValue properties, required, encoding; /* of a form */
    bool file;                               /* one of its members is a file */
} SwaggerParts;

bool ptc_openapi_swagger_is(PtcHeap *heap, PtcValue document)
{
    PtcValue version = ptc_map_field(heap, document, "swagger");
    PtcText text = version == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(version);
    return (text.bytes && ptc_text_starts(text, "2.")) ||
           (version != PTC_NONE && ptc_is_float(version) && ptc_to_float(version) == 2.0);
}

static bool is_form_type(PtcText type)
{
    return ptc_text_is(type, "application/x-www-form-urlencoded") ||
           ptc_text_is(type, "multipart/form-data");
}

/* ----------------------------------------------------------------------------------- schemas */

static void rewrite_ref(PtcHeap *heap, PtcValue *map, PtcText ref)
{
    static const char *const prefixes[][2] = {{"#/definitions/", "#/components/schemas/"},
                                              {"#/parameters/", "#/components/parameters/"},
                                              {"#/responses/", "#/components/responses/"}};
    PtcBuf out;
    ptc_buf_init(&out, heap->pool->mem, PTC_UNBOUNDED);
    for (size_t i = 0; i < 3; i++)
        if (ptc_text_starts(ref, prefixes[i][0])) {
            size_t n = strlen(prefixes[i][0]);
            ptc_buf_add_cstr(&out, prefixes[i][1]);
            ptc_buf_add(&out, ref.bytes + n, ref.len - n);
            ptc_fields_put(heap, map, "$ref", ptc_fields_buf(heap, &out));
        }
    ptc_buf_deinit(&out);
}

void ptc_openapi_swagger_node(PtcHeap *heap, PtcValue *map)
{
    PtcText ref = ptc_fields_text(heap, *map, "$ref"), type = ptc_fields_text(heap, *map, "type");
    PtcText by = ptc_fields_text(heap, *map, "discriminator");
    if (ref.bytes)
        rewrite_ref(heap, map, ref);
    if (type.bytes && ptc_text_is(type, "file")) {
        ptc_fields_put_text(heap, map, "type", PTC_TEXT("string"));
        ptc_fields_put_text(heap, map, "format", PTC_TEXT("binary"));
    }
    if (ptc_fields_is(heap, *map, "x-nullable", PTC_TRUE))
        ptc_fields_put(heap, map, "nullable", PTC_TRUE);
    if (by.bytes) {
        PtcValue object = ptc_fields_map(heap);
        ptc_fields_put_text(heap, &object, "propertyName", by);
        ptc_fields_put(heap, map, "discriminator", object);
    }
}

/* -------------------------------------------------------------------------------- parameters */

/* How the items of an array are put together. */
static void put_style(PtcHeap *heap, PtcValue *to, PtcValue parameter)
{
    static const struct {
        const char *format, *style;
    } styles[] = {{"multi", "form"},
                  {"ssv", "spaceDelimited"},
                  {"tsv", "tabDelimited"},
                  {"pipes", "pipeDelimited"}};
    PtcText format = ptc_fields_text(heap, parameter, "collectionFormat");
    PtcText type = ptc_fields_text(heap, parameter, "type"), style = PTC_TEXT("form");
    if (!type.bytes || !ptc_text_is(type, "array"))
        return;
    for (size_t i = 0; format.bytes && i < sizeof styles / sizeof *styles; i++)
        if (ptc_text_is(format, styles[i].format))
            style = ptc_text_cstr(styles[i].style);
    ptc_fields_put_text(heap, to, "style", style);
    ptc_fields_put(heap, to, "explode", ptc_bool(format.bytes && ptc_text_is(format, "multi")));
}

/* A parameter is its own schema, but for a few members. */
static PtcValue schema_of(PtcHeap *heap, PtcValue parameter)
{
    static const char *const others[] = {"name",        "in",       "collectionFormat",
                                         "description", "required", "allowEmptyValue"};
    PtcValue schema = ptc_map_field(heap, parameter, "schema");
    if (schema != PTC_NONE)
        return schema;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ptc_fields_remove(heap, &parameter, others[i]);
    return parameter;
}

static PtcValue convert_parameter(Swagger *s, PtcValue parameter)
{
    PtcHeap *heap = s->heap;
    static const char *const same[] = {"name", "in", "description", "required"};
    PtcValue out = ptc_fields_map(heap);
    PtcText in = ptc_fields_text(heap, parameter, "in");
    for (size_t i = 0; i < 4; i++)
        ptc_fields_put(heap, &out, same[i], ptc_map_field(heap, parameter, same[i]));
    ptc_fields_put(heap, &out, "schema", schema_of(heap, parameter));
    if (in.bytes && ptc_text_is(in, "query"))
        put_style(heap, &out, parameter);
    return out;
}

static void add_form_member(PtcHeap *heap, SwaggerParts *parts, PtcValue parameter)
{
    PtcText name = ptc_fields_text(heap, parameter, "name");
    PtcText type = ptc_fields_text(heap, parameter, "type");
    PtcText about = ptc_fields_text(heap, parameter, "description");
    PtcValue schema = schema_of(heap, parameter), style = ptc_fields_map(heap);
    if (about.len)
        ptc_fields_put_text(heap, &schema, "description", about);
    ptc_fields_put_key(heap, &parts->properties, name, schema);
    if (ptc_fields_is(heap, parameter, "required", PTC_TRUE))
        ptc_fields_push(heap, &parts->required, ptc_fields_string(heap, name));
    put_style(heap, &style, parameter);
    if (style != PTC_NONE && ptc_map_count(style))
        ptc_fields_put_key(heap, &parts->encoding, name, style);
    parts->file = parts->file || (type.bytes && ptc_text_is(type, "file"));
}

/* References to what is still a parameter stay; others are followed here, because what they lead to moves. */
static void take_parameter(Swagger *s, SwaggerParts *parts, PtcValue v)
{
    PtcValue p = ptc_schema_view_follow(s->heap, s->document, v);
    PtcText ref = ptc_fields_text(s->heap, v, "$ref");
    PtcText in = p == PTC_NONE ? (PtcText){NULL, 0} : ptc_fields_text(s->heap, p, "in");
    if (!in.bytes || !ptc_fields_text(s->heap, p, "name").len)
        ptc_fields_push(s->heap, &parts->list, v);
    else if (ptc_text_is(in, "body"))
        parts->body = p;
    else if (ptc_text_is(in, "formData"))
        add_form_member(s->heap, parts, p);
    else if (ref.bytes && ptc_text_starts(ref, "#/parameters/"))
        ptc_fields_push(s->heap, &parts->list, v);
    else
        ptc_fields_push(s->heap, &parts->list, convert_parameter(s, p));
}

static void take_parameters(Swagger *s, SwaggerParts *parts, PtcValue of)
{
    PtcValue list = ptc_map_field(s->heap, of, "parameters");
    parts->list = ptc_fields_list(s->heap);
    for (size_t i = 0; i < ptc_fields_count(list) && ptc_fields_ok(s->heap); i++)
        take_parameter(s, parts, ptc_seq_nth(list, i));
}

/* -------------------------------------------------------------------------------- operations */

/* `consumes` or `produces`: the operation's, else the document's, else JSON. */
static PtcValue media_types(Swagger *s, const char *key)
{
    PtcValue list = ptc_map_field(s->heap, s->operation, key);
    if (!ptc_fields_count(list))
        list = ptc_map_field(s->heap, s->document, key);
    if (!ptc_fields_count(list)) {
        list = ptc_fields_list(s->heap);
        ptc_fields_push(s->heap, &list, ptc_fields_string(s->heap, PTC_TEXT("application/json")));
    }
    return list;
}

/* {"application/json": media} for each of the types, or for the forms among them. */
static PtcValue content_of(PtcHeap *heap, PtcValue types, PtcValue media, bool forms)
{
    PtcValue content = ptc_fields_map(heap);
    for (size_t i = 0; i < ptc_fields_count(types); i++) {
        PtcText type = ptc_str_text(ptc_seq_nth(types, i));
        if (type.bytes && (!forms || is_form_type(type)))
            ptc_fields_put_key(heap, &content, type, media);
    }
    return content;
}

static PtcValue form_content(PtcHeap *heap, PtcValue types, const SwaggerParts *parts)
{
    PtcValue schema = ptc_fields_map(heap), media = ptc_fields_map(heap);
    ptc_fields_put_text(heap, &schema, "type", PTC_TEXT("object"));
    ptc_fields_put(heap, &schema, "properties", parts->properties);
    ptc_fields_put(heap, &schema, "required", parts->required);
    ptc_fields_put(heap, &media, "schema", schema);
    ptc_fields_put(heap, &media, "encoding", parts->encoding);
    PtcValue content = content_of(heap, types, media, true);
    if (parts->file)
        ptc_fields_remove(heap, &content, "application/x-www-form-urlencoded");
    if (content != PTC_NONE && !ptc_map_count(content))
        ptc_fields_put(heap, &content,
                       parts->file ? "multipart/form-data" : "application/x-www-form-urlencoded",
                       media);
    return content;
}

static PtcValue request_body(Swagger *s, const SwaggerParts *parts)
{
    PtcHeap *heap = s->heap;
    PtcValue out = ptc_fields_map(heap), media = ptc_fields_map(heap);
    PtcValue types = media_types(s, "consumes");
    if (parts->body == PTC_NONE) {
        ptc_fields_put(heap, &out, "content", form_content(heap, types, parts));
        ptc_fields_put(heap, &out, "required", ptc_bool(ptc_fields_count(parts->required) > 0));
        return out;
    }
    ptc_fields_put(heap, &media, "schema", ptc_map_field(heap, parts->body, "schema"));
    ptc_fields_put(heap, &out, "content", content_of(heap, types, media, false));
    ptc_fields_put(heap, &out, "required", ptc_map_field(heap, parts->body, "required"));
    ptc_fields_put(heap, &out, "description", ptc_map_field(heap, parts->body, "description"));
    return out;
}

static PtcValue convert_response(Swagger *s, PtcValue response)
{
    PtcValue media = ptc_fields_map(s->heap), schema = ptc_map_field(s->heap, response, "schema");
    if (schema == PTC_NONE)
        return response;
    ptc_fields_put(s->heap, &media, "schema", schema);
    ptc_fields_remove(s->heap, &response, "schema");
    ptc_fields_put(s->heap, &response, "content",
                   content_of(s->heap, media_types(s, "produces"), media, false));
    return response;
}

/* Each member of a map as `convert` makes it; what is no map is no member. */
typedef PtcValue Convert(Swagger *s, PtcValue member);
static PtcValue convert_each(Swagger *s, PtcValue map, Convert *convert)
{
    PtcValue key, value, out = ptc_fields_map(s->heap);
    for (size_t pos = 0; map != PTC_NONE && ptc_is_map(map) && ptc_fields_ok(s->heap) &&
                         ptc_map_next(map, &pos, &key, &value);)
        if (ptc_is_map(value))
            ptc_fields_put_key(s->heap, &out, ptc_str_text(key), convert(s, value));
    return out;
}

static PtcValue convert_operation(Swagger *s, PtcValue operation, SwaggerParts parts)
{
    PtcHeap *heap = s->heap;
    s->operation = operation;
    take_parameters(s, &parts, operation);
    PtcValue responses = ptc_map_field(heap, operation, "responses"), out = operation;
    ptc_fields_put(heap, &out, "parameters", parts.list);
    ptc_fields_put(heap, &out, "responses", convert_each(s, responses, convert_response));
    if (parts.body != PTC_NONE || (parts.properties != PTC_NONE && ptc_map_count(parts.properties)))
        ptc_fields_put(heap, &out, "requestBody", request_body(s, &parts));
    return out;
}

static PtcValue convert_item(Swagger *s, PtcValue item)
{
    static const char *const methods[] = {"get",     "put",  "post", "delete",
                                          "options", "head", "patch"};
    PtcValue map = ptc_fields_map(s->heap), list = ptc_fields_list(s->heap);
    SwaggerParts parts = {
        .list = list, .body = PTC_NONE, .properties = map, .required = list, .encoding = map};
    take_parameters(s, &parts, item);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        PtcValue operation = ptc_map_field(s->heap, item, methods[i]);
        if (operation != PTC_NONE && ptc_is_map(operation))
            ptc_fields_put(s->heap, &item, methods[i], convert_operation(s, operation, parts));
    }
    ptc_fields_put(s->heap, &item, "parameters", parts.list);
    return item;
}

/* ---------------------------------------------------------------------------------- document */

static PtcValue convert_scheme(Swagger *s, PtcValue scheme)
{
    static const char *const flows[][2] = {{"implicit", "implicit"},
                                           {"password", "password"},
                                           {"application", "clientCredentials"},
                                           {"accessCode", "authorizationCode"}};
    PtcText type = ptc_fields_text(s->heap, scheme, "type");
    PtcText flow = ptc_fields_text(s->heap, scheme, "flow");
    PtcValue by = ptc_fields_map(s->heap);
    if (type.bytes && ptc_text_is(type, "basic")) {
        ptc_fields_put_text(s->heap, &scheme, "type", PTC_TEXT("http"));
        ptc_fields_put_text(s->heap, &scheme, "scheme", PTC_TEXT("basic"));
    }
    for (size_t i = 0; flow.bytes && i < 4; i++)
        if (ptc_text_is(flow, flows[i][0])) {
            ptc_fields_put(s->heap, &by, flows[i][1], scheme);
            ptc_fields_put(s->heap, &scheme, "flows", by);
        }
    return scheme;
}

/* https where it is among the schemes or none is named; without a host only the path, which then is relative to where
 * the document came from. */
static PtcValue servers_of(Swagger *s)
{
    PtcHeap *heap = s->heap;
    PtcBuf url;
    PtcValue schemes = ptc_map_field(heap, s->document, "schemes");
    PtcText host = ptc_fields_text(heap, s->document, "host");
    PtcText base = ptc_fields_text(heap, s->document, "basePath");
    PtcText first =
        ptc_fields_count(schemes) ? ptc_str_text(ptc_seq_nth(schemes, 0)) : PTC_TEXT("https");
    bool plain = first.bytes && ptc_text_is(first, "http") &&
                 !ptc_schema_view_lists(schemes, PTC_TEXT("https"));
    ptc_buf_init(&url, heap->pool->mem, PTC_URL_BYTES);
    if (host.len) {
        ptc_buf_add_cstr(&url, plain ? "http://" : "https://");
        ptc_buf_add(&url, host.bytes, host.len);
    }
    if (!base.len || base.bytes[0] != '/')
        ptc_buf_add_char(&url, '/');
    ptc_buf_add(&url, base.bytes, base.len);
    PtcValue list = ptc_fields_list(heap), server = ptc_fields_map(heap);
    ptc_fields_put(heap, &server, "url", url.full ? PTC_NONE : ptc_fields_buf(heap, &url));
    ptc_fields_push(heap, &list, server);
    ptc_buf_deinit(&url);
    return list;
}

PtcValue ptc_openapi_swagger(PtcHeap *heap, PtcValue document)
{
    static const struct {
        const char *from, *to;
        Convert *convert; /* NULL: as it is */
    } parts[] = {{"definitions", "schemas", NULL},
                 {"parameters", "parameters", convert_parameter},
                 {"responses", "responses", convert_response},
                 {"securityDefinitions", "securitySchemes", convert_scheme}};
    Swagger s = {heap, document, PTC_NONE};
    PtcValue out = ptc_fields_map(heap), components = ptc_fields_map(heap);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        PtcValue from = ptc_map_field(heap, document, parts[i].from);
        ptc_fields_put(heap, &components, parts[i].to,
                       parts[i].convert ? convert_each(&s, from, parts[i].convert) : from);
    }
    ptc_fields_put_text(heap, &out, "openapi", PTC_TEXT("3.0.3"));
    ptc_fields_put(heap, &out, "info", ptc_map_field(heap, document, "info"));
    ptc_fields_put(heap, &out, "servers", servers_of(&s));
    ptc_fields_put(heap, &out, "security", ptc_map_field(heap, document, "security"));
    ptc_fields_put(heap, &out, "paths",
                   convert_each(&s, ptc_map_field(heap, document, "paths"), convert_item));
    ptc_fields_put(heap, &out, "components", components);
    return ptc_fields_ok(heap) ? out : PTC_NONE;
}
