/* SPDX-License-Identifier: MIT
 * Documents.  They may be hostile: everything is checked before it is used.  An operation that differs from the
 * specification is left out; the others are not affected. */
#include "upstream/openapi/openapi.h"

#include <strings.h>

#include "base/ascii.h"
#include "net/url.h"
#include "tool/schema/schema_view.h"
#include "upstream/config/header.h"
#include "upstream/openapi/openapi_media.h"
#include "upstream/openapi/openapi_style.h"
#include "value/coll/fields.h"

bool ptc_openapi_is_document(PtcHeap *heap, PtcValue document, PtcWhy *why)
{
    PtcText version = ptc_fields_text(heap, document, "openapi");
    if (version.bytes && (ptc_text_starts(version, "3.0") || ptc_text_starts(version, "3.1")))
        return true;
    bool other = version.bytes || ptc_map_field(heap, document, "swagger") != PTC_NONE;
    return ptc_why_say(why, PTC_WHY_INVALID, "%s",
                       other ? "only Swagger 2.0, OpenAPI 3.0 and 3.1 are read"
                             : "it is not an OpenAPI document");
}

/* ------------------------------------------------------------------------------- operations */

static const struct {
    const char *key, *method;
    PtcEffect effect;
} methods[] = {
    {"get", "GET", {PTC_EFFECT_READ, true}},
    {"head", "HEAD", {PTC_EFFECT_READ, true}},
    {"post", "POST", {PTC_EFFECT_WRITE, false}},
    {"put", "PUT", {PTC_EFFECT_DESTRUCTIVE, true}},
    {"patch", "PATCH", {PTC_EFFECT_DESTRUCTIVE, false}},
    {"delete", "DELETE", {PTC_EFFECT_DESTRUCTIVE, true}},
    {"options", "OPTIONS", {PTC_EFFECT_UNKNOWN, false}},
    {"trace", "TRACE", {PTC_EFFECT_UNKNOWN, false}},
};
enum { METHODS = sizeof methods / sizeof *methods };

/* Method and path as one name: get_pets_id. */
static bool make_name(PtcArena *arena, const char *method, PtcText path, PtcText *name)
{
    size_t n = strlen(method);
    char *out = ptc_arena_alloc(arena, n + path.len + 2);
    if (!out)
        return false;
    memcpy(out, method, n);
    for (size_t i = 0; i < path.len; i++) {
        char c = path.bytes[i];
        bool plain = ptc_ascii_is_alnum(c) || ((unsigned char)c & 0x80);
        if (plain)
            out[n++] = c;
        else if (out[n - 1] != '_')
            out[n++] = '_';
    }
    while (n > 0 && out[n - 1] == '_')
        n--;
    *name = (PtcText){out, n};
    return true;
}

/* Why a reference has nothing behind it. */
static PtcSkipReason why_lost(PtcHeap *heap, PtcValue v)
{
    PtcText ref = ptc_fields_text(heap, v, "$ref");
    return ref.len && ref.bytes[0] != '#' ? PTC_LEFT_REMOTE : PTC_LEFT_BROKEN;
}

/* The next path with an object under it. */
static bool next_item(PtcHeap *heap, PtcValue document, PtcOpenapiEach *each)
{
    PtcValue key, item, paths = ptc_map_field(heap, document, "paths");
    while (paths != PTC_NONE && ptc_is_map(paths) &&
           ptc_map_next(paths, &each->path, &key, &item)) {
        each->template = ptc_str_text(key);
        each->method = 0;
        if (!ptc_is_map(item) || !each->template.len || each->template.bytes[0] != '/')
            continue;
        each->item = ptc_schema_view_follow(heap, document, item);
        each->left = each->item == PTC_NONE ? why_lost(heap, item) : PTC_LEFT_NOT;
        each->item = each->item == PTC_NONE ? item : each->item;
        return true;
    }
    each->item = PTC_NONE;
    return false;
}

bool ptc_openapi_next(PtcArena *arena, PtcHeap *heap, PtcValue document, PtcOpenapiEach *each,
                      PtcOperation *out)
{
    while (each->item != PTC_NONE || next_item(heap, document, each)) {
        while (each->method < METHODS) {
            size_t i = each->method++;
            PtcValue operation = ptc_map_field(heap, each->item, methods[i].key);
            if (each->left && i == 0)
                operation = each->item; /* it stands for all that the path may have */
            if (operation == PTC_NONE || !ptc_is_map(operation))
                continue;
            *out = (PtcOperation){.name = ptc_fields_text(heap, operation, "operationId"),
                                  .method = methods[i].method,
                                  .path = each->template,
                                  .item = each->item,
                                  .operation = operation,
                                  .reads = i < 2,
                                  .effect = methods[i].effect,
                                  .left = each->left,
                                  .body = PTC_NONE};
            out->deprecated = ptc_fields_is(heap, operation, "deprecated", PTC_TRUE);
            return out->name.len || make_name(arena, methods[i].key, each->template, &out->name);
        }
        each->item = PTC_NONE;
    }
    return false;
}

bool ptc_openapi_is(const PtcOperation *o, PtcOperationName name)
{
    PtcText request = name.request;
    size_t n = strlen(o->method);
    if (!ptc_text_same(o->name, name.text) || !request.bytes)
        return ptc_text_same(o->name, name.text);
    return request.len > n && memcmp(request.bytes, o->method, n) == 0 && request.bytes[n] == ' ' &&
           ptc_text_same((PtcText){request.bytes + n + 1, request.len - n - 1}, o->path);
}

/* ------------------------------------------------------------------------------- parameters */

static const char *const places[] = {"path", "query", "header", "cookie"};

static bool read_in(PtcText text, PtcParameterIn *in)
{
    for (int i = 0; i < 4; i++)
        if (text.bytes && ptc_text_is(text, places[i])) {
            *in = (PtcParameterIn)i;
            return true;
        }
    return false;
}

/* The only media type of a `content`, or of many the first. */
static PtcValue content_schema(PtcHeap *heap, PtcValue content)
{
    PtcValue key, media;
    size_t pos = 0;
    return ptc_is_map(content) && ptc_map_next(content, &pos, &key, &media)
               ? ptc_map_field(heap, media, "schema")
               : PTC_NONE;
}

static PtcSkipReason read_parameter(PtcHeap *heap, PtcValue document, PtcValue at,
                                    PtcParameter *out)
{
    PtcValue v = ptc_schema_view_follow(heap, document, at);
    if (v == PTC_NONE || !ptc_is_map(v))
        return why_lost(heap, at);
    PtcValue content = ptc_map_field(heap, v, "content");
    *out = (PtcParameter){.name = ptc_fields_text(heap, v, "name"),
                          .schema = ptc_map_field(heap, v, "schema"),
                          .description = ptc_fields_text(heap, v, "description")};
    if (!out->name.len || !read_in(ptc_fields_text(heap, v, "in"), &out->in))
        return PTC_LEFT_PARAMETER;
    out->argument = out->name;
    ptc_openapi_style_read(heap, v, out);
    out->required = out->in == PTC_IN_PATH || ptc_fields_is(heap, v, "required", PTC_TRUE);
    if (content != PTC_NONE) {
        out->style = PTC_STYLE_JSON;
        out->schema = content_schema(heap, content);
    }
    return PTC_LEFT_NOT;
}

static bool is_header(const PtcParameter *p, const char *const names[3])
{
    for (size_t i = 0; p->in == PTC_IN_HEADER && i < 3; i++)
        if (p->name.len == strlen(names[i]) &&
            strncasecmp(p->name.bytes, names[i], p->name.len) == 0)
            return true;
    return false;
}

/* Headers that are not for parameters to set. */
static bool is_ignored_header(const PtcParameter *p)
{
    static const char *const names[] = {"accept", "content-type", "authorization"};
    return is_header(p, names) || (p->in == PTC_IN_HEADER && ptc_header_is_ours(p->name));
}

/* Servers that know these do as they say, whatever the method is. */
static bool is_other_method(const PtcParameter *p)
{
    static const char *const names[] = {"x-http-method-override", "x-http-method",
                                        "x-method-override"};
    return is_header(p, names);
}

/* Those of the path, then those of the operation, which replace what they share. */
static PtcSkipReason add_operation_parameters(PtcHeap *heap, PtcValue document, PtcValue list,
                                              PtcOperation *to)
{
    PtcSkipReason left;
    for (size_t i = 0; i < ptc_fields_count(list); i++) {
        PtcParameter p;
        size_t at = 0;
        if ((left = read_parameter(heap, document, ptc_seq_nth(list, i), &p)))
            return left;
        if (is_ignored_header(&p))
            continue;
        if (is_other_method(&p)) {
            to->reads = false;
            to->effect = (PtcEffect){PTC_EFFECT_DESTRUCTIVE, false};
        }
        while (at < to->count &&
               !(to->parameters[at].in == p.in && ptc_text_same(to->parameters[at].name, p.name)))
            at++;
        if (at == PTC_OPENAPI_PARAMETERS)
            return PTC_LEFT_PARAMETERS;
        to->parameters[at] = p;
        to->count += at == to->count;
    }
    return PTC_LEFT_NOT;
}

/* An {id} of the template that is declared nowhere is a required parameter all the same. */
static PtcSkipReason add_undeclared(PtcOperation *to)
{
    for (size_t i = 0; i < to->path.len; i++) {
        const char *start = to->path.bytes + i + 1;
        const char *end =
            to->path.bytes[i] == '{' ? memchr(start, '}', to->path.len - i - 1) : NULL;
        if (!end)
            continue;
        PtcText name = {start, (size_t)(end - start)};
        bool known = false;
        for (size_t j = 0; j < to->count; j++)
            known |=
                to->parameters[j].in == PTC_IN_PATH && ptc_text_same(to->parameters[j].name, name);
        if (!known && to->count == PTC_OPENAPI_PARAMETERS)
            return PTC_LEFT_PARAMETERS;
        if (!known)
            to->parameters[to->count++] =
                (PtcParameter){.name = name, .argument = name, .in = PTC_IN_PATH, .required = true};
    }
    return PTC_LEFT_NOT;
}

/* The later of two parameters with the same name gets its place appended: id_query. */
static bool name_arguments(PtcArena *arena, PtcOperation *to)
{
    for (size_t i = 0; i < to->count; i++) {
        PtcParameter *p = &to->parameters[i];
        bool taken = false;
        for (size_t j = 0; j < i; j++)
            taken |= ptc_text_same(to->parameters[j].argument, p->name);
        if (!taken)
            continue;
        size_t n = strlen(places[p->in]), len = p->name.len + 1 + n;
        char *name = ptc_arena_alloc(arena, len);
        if (!name)
            return false;
        memcpy(name, p->name.bytes, p->name.len);
        name[p->name.len] = '_';
        memcpy(name + p->name.len + 1, places[p->in], n);
        p->argument = (PtcText){name, len};
    }
    return true;
}

/* Is an argument spelled like this? */
static bool has_argument(const PtcOperation *o, const char *name)
{
    for (size_t i = 0; i < o->count; i++)
        if (ptc_text_is(o->parameters[i].argument, name))
            return true;
    return false;
}

static PtcSkipReason load_body(PtcHeap *heap, PtcValue document, PtcOperation *to)
{
    PtcValue body = ptc_map_field(heap, to->operation, "requestBody");
    to->body_argument = has_argument(to, "body") ? PTC_TEXT("request_body") : PTC_TEXT("body");
    if (body == PTC_NONE)
        return PTC_LEFT_NOT;
    to->body = ptc_schema_view_follow(heap, document, body);
    if (to->body == PTC_NONE || !ptc_is_map(to->body))
        return why_lost(heap, body);
    to->body_required = ptc_fields_is(heap, to->body, "required", PTC_TRUE);
    size_t types = ptc_openapi_media_count(heap, to);
    if (types == 0 && to->body_required)
        return PTC_LEFT_MEDIA_TYPE;
    if (types == 0)
        to->body = PTC_NONE;
    if (types > 1)
        to->type_argument = has_argument(to, "content_type") ? PTC_TEXT("body_content_type")
                                                             : PTC_TEXT("content_type");
    return PTC_LEFT_NOT;
}

PtcSkipReason ptc_openapi_load(PtcArena *arena, PtcHeap *heap, PtcValue document,
                               PtcOperation *operation)
{
    PtcSkipReason left;
    operation->parameters =
        ptc_arena_alloc(arena, PTC_OPENAPI_PARAMETERS * sizeof *operation->parameters);
    if (!operation->parameters)
        return PTC_LEFT_SIZE;
    PtcValue shared = ptc_map_field(heap, operation->item, "parameters");
    PtcValue own = ptc_map_field(heap, operation->operation, "parameters");
    if ((left = operation->left) ||
        (left = add_operation_parameters(heap, document, shared, operation)) ||
        (left = add_operation_parameters(heap, document, own, operation)) ||
        (left = add_undeclared(operation)))
        return left;
    return name_arguments(arena, operation) ? load_body(heap, document, operation) : PTC_LEFT_SIZE;
}

/* ----------------------------------------------------------------------------------- schema */

/* The schema of a parameter, with what the document says of the parameter itself. */
static PtcValue parameter_schema(PtcHeap *heap, const PtcParameter *p)
{
    PtcValue schema = p->schema == PTC_NONE ? ptc_fields_map(heap) : p->schema;
    if (schema == PTC_NONE || !ptc_is_map(schema))
        return schema;
    if (p->description.len)
        ptc_fields_put_text(heap, &schema, "description", p->description);
    if (p->style != PTC_STYLE_JSON)
        ptc_fields_put_text(heap, &schema, PTC_SCHEMA_PLACE, ptc_text_cstr(places[p->in]));
    return schema;
}

PtcValue ptc_openapi_schema(PtcHeap *heap, PtcValue document, const PtcOperation *operation)
{
    PtcValue schema = ptc_fields_map(heap), properties = ptc_fields_map(heap);
    PtcValue required = ptc_fields_list(heap);
    for (size_t i = 0; i < operation->count; i++) {
        const PtcParameter *p = &operation->parameters[i];
        ptc_fields_put_key(heap, &properties, p->argument, parameter_schema(heap, p));
        if (p->required)
            ptc_fields_push(heap, &required, ptc_fields_string(heap, p->argument));
    }
    if (operation->body != PTC_NONE) {
        ptc_fields_put_key(heap, &properties, operation->body_argument,
                           ptc_openapi_media_schema(heap, document, operation));
        if (operation->body_required)
            ptc_fields_push(heap, &required, ptc_fields_string(heap, operation->body_argument));
        if (operation->type_argument.bytes)
            ptc_fields_put_key(heap, &properties, operation->type_argument,
                               ptc_openapi_media_choice(heap, operation));
    }
    ptc_fields_put_text(heap, &schema, "type", PTC_TEXT("object"));
    ptc_fields_put(heap, &schema, "properties", properties);
    ptc_fields_put(heap, &schema, "required", required);
    ptc_fields_put(heap, &schema, "additionalProperties", PTC_FALSE);
    return ptc_fields_ok(heap) ? schema : PTC_NONE;
}

/* ------------------------------------------------------------------------------------- base */

/* The address of a server with the defaults of its variables; one that begins with its host is meant with https. */
static PtcValue server_url(PtcHeap *heap, PtcValue server)
{
    PtcBuf out;
    PtcText url = ptc_fields_text(heap, server, "url");
    PtcValue variables = ptc_map_field(heap, server, "variables");
    bool whole = url.bytes != NULL;
    ptc_buf_init(&out, heap->pool->mem, PTC_URL_BYTES);
    if (whole && ptc_text_starts(url, "//"))
        ptc_buf_add_cstr(&out, "https:");
    for (size_t i = 0; whole && i < url.len; i++) {
        const char *end = url.bytes[i] == '{' ? memchr(url.bytes + i, '}', url.len - i) : NULL;
        if (!end) {
            ptc_buf_add_char(&out, url.bytes[i]);
            continue;
        }
        PtcText name = {url.bytes + i + 1, (size_t)(end - url.bytes) - i - 1};
        PtcValue variable = ptc_fields_get(heap, variables, name);
        PtcText value = ptc_fields_text(heap, variable, "default");
        whole = value.bytes != NULL;
        ptc_buf_add(&out, value.bytes, value.len);
        i += name.len + 1;
    }
    PtcValue text = whole && ptc_buf_ok(&out) ? ptc_fields_buf(heap, &out) : PTC_NONE;
    ptc_buf_deinit(&out);
    return text;
}

static PtcValue first_server(PtcHeap *heap, PtcValue of)
{
    PtcValue servers = of == PTC_NONE ? PTC_NONE : ptc_map_field(heap, of, "servers");
    return ptc_fields_count(servers) ? server_url(heap, ptc_seq_nth(servers, 0)) : PTC_NONE;
}

static bool has_servers(PtcHeap *heap, PtcValue of)
{
    return ptc_fields_count(ptc_map_field(heap, of, "servers")) > 0;
}

/* Do both lead to one origin?  A path alone leads nowhere else. */
static bool same_origin(PtcText base, PtcText other)
{
    PtcUrl a, b;
    if (other.len && other.bytes[0] == '/')
        return true;
    return ptc_url_parse(base, &a, NULL) && ptc_url_parse(other, &b, NULL) &&
           ptc_url_same_server(&a, &b);
}

PtcValue ptc_openapi_base(PtcHeap *heap, PtcValue document, const PtcOperation *operation,
                          PtcText base_url)
{
    PtcUrl url;
    PtcValue own = has_servers(heap, operation->operation)
                       ? first_server(heap, operation->operation)
                   : has_servers(heap, operation->item) ? first_server(heap, operation->item)
                                                        : PTC_NIL;
    PtcValue base =
        base_url.bytes ? ptc_fields_string(heap, base_url) : first_server(heap, document);
    if (own != PTC_NIL && base == PTC_NONE && !base_url.bytes)
        base = own;
    if (own == PTC_NONE || base == PTC_NONE || !ptc_url_parse(ptc_str_text(base), &url, NULL))
        return PTC_NONE;
    if (own == PTC_NIL)
        return base;
    if (!same_origin(ptc_str_text(base), ptc_str_text(own)))
        return PTC_NONE;
    bool whole = ptc_url_parse(ptc_str_text(own), &url, NULL);
    return whole && !base_url.bytes ? own : base;
}
