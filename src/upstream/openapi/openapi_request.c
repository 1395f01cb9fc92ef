/* SPDX-License-Identifier: MIT
 * Requests.  What always holds of one that is made: no argument can leave its place in the address (no `.`, `..` or
 * empty segment, everything encoded), and none can end a header. */
#include "upstream/openapi/openapi_request.h"

#include "base/buf.h"
#include "net/url.h"
#include "upstream/catalog/naming.h"
#include "upstream/config/header.h"
#include "upstream/connect/auth_apply.h"
#include "upstream/openapi/openapi_body.h"
#include "upstream/openapi/openapi_style.h"
#include "value/coll/fields.h"

enum { COOKIE_BYTES = 64 * PTC_KB };

/* One request in the making. */
typedef struct {
    PtcArena *arena;
    PtcHeap *heap;
    const PtcOpenapiCall *call;
    PtcOpenapiRequest *out;
    PtcOperation operation;
    PtcValue args; /* as they are sent */
    PtcBuf target, query, cookie;
} RequestMaking;

static bool fail_operation(RequestMaking *m, PtcCallReason code)
{
    m->out->code = code;
    return false;
}

static void refuse_operation_argument(RequestMaking *m, PtcText argument, const char *problem,
                                      const char *message)
{
    char path[PTC_PATH_BYTES] = "";
    PtcValue key = argument.bytes ? ptc_fields_string(m->heap, argument) : PTC_NONE;
    if (key != PTC_NONE)
        ptc_path_add_key(path, sizeof path, key);
    ptc_arguments_refuse(&m->out->issues, path, problem, (PtcText){NULL, 0}, message);
}

/* -------------------------------------------------------------------------------- operation */

static bool find_operation(RequestMaking *m)
{
    PtcOpenapiEach each = {.item = PTC_NONE};
    PtcValue document = m->call->document;
    if (document == PTC_NONE || !ptc_openapi_is_document(m->heap, document, NULL))
        return fail_operation(m, PTC_CALL_UNSUPPORTED_DOCUMENT);
    while (ptc_openapi_next(m->arena, m->heap, document, &each, &m->operation))
        if (ptc_openapi_is(&m->operation, m->call->operation)) {
            if (ptc_openapi_load(m->arena, m->heap, document, &m->operation))
                return fail_operation(m, PTC_CALL_UNKNOWN_TOOL);
            return m->operation.reads || m->call->allow_writes ||
                   fail_operation(m, PTC_CALL_WRITES_NOT_ALLOWED);
        }
    return fail_operation(m, PTC_CALL_UNKNOWN_TOOL);
}

/* -------------------------------------------------------------------------------- arguments */

static bool is_given(RequestMaking *m, PtcText name)
{
    PtcValue key, value;
    PtcText word, other;
    if (!ptc_naming_fold(m->arena, name, &word))
        return false;
    for (size_t pos = 0; ptc_map_next(m->call->args, &pos, &key, &value);)
        if (ptc_is_named(key) &&
            ptc_naming_fold(m->arena, (PtcText){ptc_str_bytes(key), ptc_str_len(key)}, &other) &&
            ptc_text_same(word, other))
            return true;
    return false;
}

/* Arguments and defaults together, without what is nil: that leaves a parameter out. */
static PtcValue merge_default_arguments(RequestMaking *m)
{
    PtcValue key, value, all = ptc_fields_map(m->heap), defaults = m->call->defaults;
    for (size_t pos = 0; all != PTC_NONE && ptc_map_next(m->call->args, &pos, &key, &value);) {
        PtcValue to = value == PTC_NIL ? all : ptc_map_assoc(m->heap, all, key, value);
        all = to == PTC_NONE ? all : to;
    }
    if (defaults != PTC_NONE && ptc_is_map(defaults))
        for (size_t pos = 0; ptc_map_next(defaults, &pos, &key, &value);)
            if (value != PTC_NIL && !is_given(m, ptc_str_text(key)))
                ptc_fields_put_key(m->heap, &all, ptc_str_text(key), value);
    return all;
}

static bool fit_operation_arguments(RequestMaking *m)
{
    PtcArgumentsIn in = {.schema = ptc_openapi_schema(m->heap, m->call->document, &m->operation),
                         .root = m->call->document,
                         .args = merge_default_arguments(m),
                         .unchecked = true,
                         .closed = true};
    if (in.schema == PTC_NONE || in.args == PTC_NONE)
        return false;
    m->args = ptc_arguments_fit(m->heap, &in, &m->out->issues);
    return m->args != PTC_NONE || fail_operation(m, PTC_CALL_INVALID_ARGS);
}

/* ------------------------------------------------------------------------------- parameters */

static PtcValue operation_argument(RequestMaking *m, const PtcParameter *p)
{
    PtcValue v = ptc_fields_get(m->heap, m->args, p->argument);
    return v == PTC_NIL ? PTC_NONE : v;
}

static bool is_bad_segment(PtcText text)
{
    return text.len == 0 || ptc_text_is(text, ".") || ptc_text_is(text, "..");
}

static void add_segment(RequestMaking *m, PtcBuf *to, PtcText name)
{
    const PtcParameter *p = NULL;
    PtcBuf plain;
    for (size_t i = 0; i < m->operation.count; i++)
        if (m->operation.parameters[i].in == PTC_IN_PATH &&
            ptc_text_same(m->operation.parameters[i].name, name))
            p = &m->operation.parameters[i];
    PtcValue v = p ? operation_argument(m, p) : PTC_NONE;
    if (v == PTC_NONE)
        return; /* every parameter of a path is required, so this is among the issues already */
    ptc_buf_init(&plain, m->heap->pool->mem, PTC_UNBOUNDED);
    ptc_openapi_style_text(&plain, m->heap, v);
    bool empty =
        (ptc_is_sequential(v) && !ptc_seq_count(v)) || (ptc_is_map(v) && !ptc_map_count(v));
    size_t start = to->len;
    if (empty || (ptc_is_string(v) && ptc_buf_ok(&plain) && is_bad_segment(ptc_buf_view(&plain))))
        refuse_operation_argument(m, p->argument, "bad_path",
                                  "a part of a path cannot be empty, . or ..");
    else
        ptc_openapi_style_add(to, m->heap, p, v);
    if (ptc_is_sequential(v) && ptc_buf_ok(to) &&
        is_bad_segment((PtcText){to->data + start, to->len - start}))
        refuse_operation_argument(m, p->argument, "bad_path",
                                  "a part of a path cannot be empty, . or ..");
    ptc_buf_end_part(to, &plain);
}

/* Values must not bring into the path what the document may not either: parts that are `.` or `..`. */
static void check_request_path(RequestMaking *m, size_t base)
{
    if (m->out->issues.count || !ptc_buf_ok(&m->target))
        return;
    if (!ptc_url_path_stays((PtcText){m->target.data + base, m->target.len - base}))
        refuse_operation_argument(m, (PtcText){NULL, 0}, "bad_path",
                                  "a part of a path cannot be empty, . or ..");
}

/* Documents that have several operations for one path tell them apart by what is behind a `?`, which is sent as a part
 * of the query, or behind a `#`, which is not sent. */
static void add_request_path(RequestMaking *m, PtcText base)
{
    PtcText path = m->operation.path;
    PtcBuf *to = &m->target;
    while (base.len && base.bytes[base.len - 1] == '/')
        base.len--;
    ptc_buf_add(&m->target, base.bytes, base.len);
    for (size_t i = 0; i < path.len && path.bytes[i] != '#'; i++) {
        const char *start = path.bytes + i + 1;
        const char *end = path.bytes[i] == '{' ? memchr(start, '}', path.len - i - 1) : NULL;
        unsigned char c = (unsigned char)path.bytes[i];
        if (end) {
            add_segment(m, to, (PtcText){start, (size_t)(end - start)});
            i += (size_t)(end - start) + 1;
        } else if (c == '?' && to == &m->target) {
            to = &m->query;
            ptc_buf_add_char(to, '&');
        } else if (c <= ' ' || c > '~' || strchr("\"#<>?\\^`{|}", (char)c)) {
            ptc_url_encode(to, (PtcText){path.bytes + i, 1});
        } else {
            ptc_buf_add_char(to, (char)c);
        }
    }
    check_request_path(m, base.len);
}

static void put_request_header(RequestMaking *m, PtcText name, PtcValue value)
{
    PtcValue lower = ptc_header_lower(m->heap, name);
    if (lower != PTC_NONE)
        ptc_fields_put_key(m->heap, &m->out->headers, ptc_str_text(lower), value);
}

static void add_parameter_header(RequestMaking *m, const PtcParameter *p, PtcValue v)
{
    PtcBuf value;
    ptc_buf_init(&value, m->heap->pool->mem, PTC_UNBOUNDED);
    ptc_openapi_style_add(&value, m->heap, p, v);
    if (!ptc_header_is_name(p->name) || !ptc_header_is_value(ptc_buf_view(&value)))
        refuse_operation_argument(m, p->argument, "bad_header", "a header is one line");
    else
        put_request_header(m, p->name, ptc_fields_buf(m->heap, &value));
    ptc_buf_deinit(&value);
}

static void add_request_parameters(RequestMaking *m)
{
    for (size_t i = 0; i < m->operation.count; i++) {
        const PtcParameter *p = &m->operation.parameters[i];
        PtcValue v = operation_argument(m, p);
        if (v == PTC_NONE || p->in == PTC_IN_PATH)
            continue;
        if (p->in == PTC_IN_HEADER)
            add_parameter_header(m, p, v);
        else
            ptc_openapi_style_add(p->in == PTC_IN_QUERY ? &m->query : &m->cookie, m->heap, p, v);
    }
    if (m->cookie.len > 2)
        put_request_header(
            m, PTC_TEXT("cookie"),
            ptc_fields_string(m->heap, (PtcText){m->cookie.data + 2, m->cookie.len - 2}));
}

/* ------------------------------------------------------------------------------------ parts */

/* What we want to get: JSON where the document has it among the answers or says nothing. */
static PtcText accepted(RequestMaking *m)
{
    PtcValue key, value, answers = ptc_map_field(m->heap, m->operation.operation, "responses");
    PtcText first = {NULL, 0};
    if (answers == PTC_NONE || !ptc_is_map(answers))
        return PTC_TEXT("application/json");
    for (size_t pos = 0; ptc_map_next(answers, &pos, &key, &value);) {
        PtcValue media, type, content = ptc_map_field(m->heap, value, "content");
        if (!ptc_text_starts(ptc_str_text(key), "2") || content == PTC_NONE || !ptc_is_map(content))
            continue;
        for (size_t at = 0; ptc_map_next(content, &at, &type, &media);) {
            PtcText name = ptc_str_text(type);
            if (!first.bytes && ptc_header_is_value(name))
                first = name;
            if (strstr(name.bytes, "json") || strchr(name.bytes, '*'))
                return PTC_TEXT("application/json");
        }
    }
    return first.bytes ? first : PTC_TEXT("application/json");
}

static bool add_operation_body(RequestMaking *m)
{
    PtcValue v = m->operation.body == PTC_NONE
                     ? PTC_NONE
                     : ptc_fields_get(m->heap, m->args, m->operation.body_argument);
    if (v == PTC_NONE)
        return true;
    PtcValue type = ptc_fields_get(m->heap, m->args, m->operation.type_argument);
    PtcText wanted = type == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(type);
    PtcOpenapiBodyIn in = {.media = ptc_openapi_media_for(m->heap, &m->operation, wanted, v),
                           .document = m->call->document,
                           .value = v,
                           .blob = m->call->blob,
                           .user = m->call->user};
    type = ptc_openapi_body_write(&m->out->body, m->heap, &in);
    if (type == PTC_NONE)
        return fail_operation(m, PTC_CALL_UNSUPPORTED_BODY);
    m->out->has_body = true;
    put_request_header(m, PTC_TEXT("content-type"), type);
    return true;
}

static bool add_static(RequestMaking *m)
{
    PtcValue key, value, from = m->call->static_headers;
    PtcText binding;
    if (from != PTC_NONE && ptc_is_map(from))
        for (size_t pos = 0; ptc_map_next(from, &pos, &key, &value);)
            if (ptc_is_string(value) && ptc_header_is_name(ptc_str_text(key)) &&
                ptc_header_is_value(ptc_str_text(value)))
                put_request_header(m, ptc_str_text(key), value);
    return m->call->auth == PTC_NONE ||
           ptc_auth_apply(m->heap, m->call->auth, m->call->credentials, &m->out->headers, &m->query,
                          &binding) ||
           fail_operation(m, PTC_CALL_AUTH_FAILED);
}

/* Origin and target of an address. */
static bool add_address(RequestMaking *m, PtcValue base)
{
    PtcUrl url;
    PtcText text = ptc_str_text(base);
    if (!ptc_url_parse(text, &url, NULL))
        return fail_operation(m, PTC_CALL_UNSUPPORTED_DOCUMENT);
    size_t origin = text.len - url.path.len;
    const char *question = memchr(url.path.bytes, '?', url.path.len);
    m->out->origin = ptc_fields_string(m->heap, (PtcText){text.bytes, origin});
    add_request_path(m, (PtcText){url.path.bytes,
                                  question ? (size_t)(question - url.path.bytes) : url.path.len});
    return true;
}

/* Has the operation servers of its own?  Then it is left out; the rest of the document is not affected. */
static bool leads_elsewhere(RequestMaking *m)
{
    return ptc_map_field(m->heap, m->operation.operation, "servers") != PTC_NONE ||
           ptc_map_field(m->heap, m->operation.item, "servers") != PTC_NONE;
}

/* Names and values of a few bytes may be sent many times. */
static bool is_too_large(const RequestMaking *m)
{
    return m->out->body.full || m->target.full || m->query.full || m->cookie.full;
}

static bool make_operation_request(RequestMaking *m)
{
    if (!find_operation(m))
        return false;
    if (!ptc_url_path_stays(m->operation.path))
        return fail_operation(m, PTC_CALL_UNKNOWN_TOOL);
    PtcValue base = ptc_openapi_base(m->heap, m->call->document, &m->operation, m->call->base_url);
    if (base == PTC_NONE)
        return fail_operation(m, leads_elsewhere(m) ? PTC_CALL_UNKNOWN_TOOL
                                                    : PTC_CALL_UNSUPPORTED_DOCUMENT);
    m->out->method = m->operation.method;
    if (!fit_operation_arguments(m))
        return false;
    ptc_fields_put_text(m->heap, &m->out->headers, "accept", accepted(m));
    if (!add_address(m, base))
        return false;
    add_request_parameters(m);
    if (m->out->issues.count)
        return fail_operation(m, PTC_CALL_INVALID_ARGS);
    if (is_too_large(m) || !add_operation_body(m) || !add_static(m))
        return false;
    if (m->query.len > 1) {
        ptc_buf_add_char(&m->target, '?');
        ptc_buf_add(&m->target, m->query.data + 1, m->query.len - 1);
    }
    m->out->target = m->target.full ? PTC_NIL : ptc_fields_buf(m->heap, &m->target);
    return true;
}

bool ptc_openapi_request(PtcArena *arena, PtcHeap *heap, const PtcOpenapiCall *call,
                         PtcOpenapiRequest *out)
{
    RequestMaking m = {.arena = arena, .heap = heap, .call = call, .out = out, .args = PTC_NONE};
    *out = (PtcOpenapiRequest){.headers = ptc_fields_map(heap)};
    ptc_buf_init(&out->body, heap->pool->mem, (size_t)PTC_OPENAPI_BODY_MB << 20);
    ptc_buf_init(&m.target, heap->pool->mem, PTC_URL_BYTES);
    ptc_buf_init(&m.query, heap->pool->mem, PTC_URL_BYTES);
    ptc_buf_init(&m.cookie, heap->pool->mem, COOKIE_BYTES);
    bool ok = make_operation_request(&m) || out->code;
    if (is_too_large(&m))
        ok = !fail_operation(&m, PTC_CALL_REQUEST_TOO_LARGE);
    ok = ok && !out->body.failed && !m.target.failed && !m.query.failed &&
         !m.cookie.failed; /* what lost a part would ask for something else */
    ptc_buf_deinit(&m.cookie);
    ptc_buf_deinit(&m.query);
    ptc_buf_deinit(&m.target);
    return ok && ptc_fields_ok(heap);
}

void ptc_openapi_request_deinit(PtcOpenapiRequest *request)
{
    ptc_buf_deinit(&request->body);
}
