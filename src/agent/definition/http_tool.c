/* SPDX-License-Identifier: MIT
 * HTTP requests as tools: the arguments go out as a JSON body or as a query, the result is the JSON that comes back.
 *
 * Redirects are followed by hand, for GET alone and only to the same server, so that headers with keys go nowhere else.
 * Keys come from the environment when the tool is called; what was looked up counts as a secret from then on, and is
 * blotted out of what the server says: it may well repeat the request, and a model, an outcome and a record would keep
 * it. */
#include <stdio.h>

#include "agent/agent_kinds.h"
#include "agent/definition/agent_tool.h"
#include "base/ascii.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "net/client.h"
#include "net/retry_after.h"
#include "tool/wire/answer.h"
#include "trace/redact.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/str.h"

enum {
    BODY_BYTES = 16 * PTC_MB,
    URL_BYTES = 16 * PTC_KB, /* with the query */
    REDIRECTS = 5,
    HTTP_TOOL_SHOWN = 230, /* bytes shown of the body of an unsuccessful answer */
    HTTP_TOOL_NAME_BYTES = 128,
};

/* ------------------------------------------------------------------------------- reading */

static const char *const methods[] = {[PTC_HTTP_GET] = "GET",
                                      [PTC_HTTP_POST] = "POST",
                                      [PTC_HTTP_PUT] = "PUT",
                                      [PTC_HTTP_PATCH] = "PATCH",
                                      [PTC_HTTP_DELETE] = "DELETE"};

static bool starts_any_case(PtcText t, const char *word)
{
    size_t n = strlen(word);
    if (t.len < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((t.bytes[i] | 0x20) != (word[i] | 0x20))
            return false;
    return true;
}

/* What is between the scheme and the path: a host, perhaps with a port, perhaps with parts that do not belong there. */
static PtcText authority_of(PtcText url, size_t scheme)
{
    size_t n = scheme;
    while (n < url.len && !strchr("/?#", url.bytes[n]))
        n++;
    return (PtcText){url.bytes + scheme, n - scheme};
}

static bool is_loopback(PtcText authority)
{
    const char *colon = memchr(authority.bytes, ':', authority.len);
    size_t n = colon ? (size_t)(colon - authority.bytes) : authority.len;
    PtcText host = {authority.bytes, n};
    return ptc_text_is(host, "localhost") || ptc_text_starts(host, "127.") ||
           ptc_text_starts(authority, "[::1]");
}

static bool read_url(PtcFieldReader *r, PtcValue v, PtcText *out)
{
    if (!ptc_fields_text(r, v, out))
        return false;
    bool https = starts_any_case(*out, "https://"), http = starts_any_case(*out, "http://");
    PtcText authority = authority_of(*out, https ? 8 : http ? 7 : out->len);
    for (size_t i = 0; i < out->len; i++)
        if ((unsigned char)out->bytes[i] <= ' ' || out->bytes[i] == 0x7f)
            return ptc_fields_refuse(r, v, "a URL without blanks");
    if (authority.len == 0)
        return ptc_fields_refuse(r, v, "a URL such as https://example.org/path");
    if (memchr(authority.bytes, '@', authority.len))
        return ptc_fault_set(r->fault, r->path, "a URL must not contain a user name or password");
    if (http && !is_loopback(authority))
        return ptc_fields_refuse(r, v, "https; http only to this machine");
    return true;
}

static bool read_method(PtcFieldReader *r, PtcValue v, PtcHttpMethod *out)
{
    for (int i = PTC_HTTP_GET; i <= PTC_HTTP_DELETE; i++)
        if (ptc_text_is(ptc_str_text(v), methods[i])) {
            *out = (PtcHttpMethod)i;
            return true;
        }
    return ptc_fields_refuse(r, v, "\"GET\", \"POST\", \"PUT\", \"PATCH\" or \"DELETE\"");
}

/* ------------------------------------------------------------------------------- headers */

static bool is_token(PtcText t)
{
    for (size_t i = 0; i < t.len; i++) {
        char c = t.bytes[i];
        if (!ptc_ascii_is_alnum(c) && !(c && strchr("!#$%&'*+-.^_`|~", c)))
            return false;
    }
    return t.len > 0;
}

static bool same_any_case(PtcText t, const char *word)
{
    return t.len == strlen(word) && starts_any_case(t, word);
}

static bool is_one_of(PtcText name, const char *const *names)
{
    for (; *names; names++)
        if (same_any_case(name, *names))
            return true;
    return false;
}

/* Does it contain a ${NAME}?  False with *bad set for one that is malformed. */
static bool has_variable(PtcText t, bool *bad)
{
    bool found = false;
    for (size_t i = 0; i + 1 < t.len; i++) {
        if (t.bytes[i] != '$' || t.bytes[i + 1] != '{')
            continue;
        size_t n = i + 2;
        while (n < t.len && ptc_ascii_is_name(t.bytes[n]) &&
               (n > i + 2 || !ptc_ascii_is_digit(t.bytes[n])))
            n++;
        if (n == i + 2 || n == t.len || t.bytes[n] != '}')
            *bad = true;
        found = true;
    }
    return found;
}

/* Keys must not be written in a file: it would be copied, shown and kept. */
static bool check_header(PtcFieldReader *r, PtcText name, PtcText value)
{
    static const char *const secret[] = {
        "authorization",  "proxy-authorization", "x-api-key", "api-key",
        "x-goog-api-key", "x-auth-token",        "cookie",    NULL};
    static const char *const ours[] = {"host",       "content-length", "transfer-encoding",
                                       "connection", "expect",         NULL};
    bool bad = false;
    if (!is_token(name) || is_one_of(name, ours))
        return ptc_fault_set(r->fault, r->path, "a header of this name cannot be set");
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.bytes[i] < ' ' && value.bytes[i] != '\t')
            return ptc_fault_set(r->fault, r->path, "a header must not contain control characters");
    bool variable = has_variable(value, &bad);
    if (bad)
        return ptc_fault_set(r->fault, r->path, "a variable is written ${NAME}");
    if (!variable && is_one_of(name, secret))
        return ptc_fault_set(r->fault, r->path,
                             "keys come from the environment: write ${NAME} and set that variable");
    return true;
}

static bool read_headers(PtcFieldReader *r, PtcValue v, PtcHttpTool *out)
{
    PtcValue key, value;
    char outer[sizeof r->path];
    if (!ptc_is_map(v) || ptc_map_count(v) > 100)
        return ptc_fields_refuse(r, v, "an object from names to texts");
    PtcHttpHeader *headers =
        ptc_arena_zalloc(&r->def->arena, (ptc_map_count(v) + 1) * sizeof *headers);
    if (!headers)
        return ptc_why_no_memory(r->fault);
    memcpy(outer, r->path, sizeof outer);
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key), text = ptc_str_text(value);
        snprintf(r->path, sizeof r->path, "%.60s.%.*s", outer,
                 PTC_ARG(name.bytes ? ptc_text_cut(name, 50) : PTC_TEXT("?")));
        if (!name.bytes || !text.bytes)
            return ptc_fields_refuse(r, value, "a text");
        PtcHttpHeader *h = &headers[out->header_count++];
        if (!check_header(r, name, text) || !ptc_fields_copy(r, name, &h->name) ||
            !ptc_fields_copy(r, text, &h->value))
            return false;
    }
    out->headers = headers;
    return true;
}

static bool read_http_field(PtcFieldReader *r, PtcText name, PtcValue v, PtcHttpTool *out)
{
    if (ptc_text_is(name, "url"))
        return read_url(r, v, &out->url);
    if (ptc_text_is(name, "method"))
        return read_method(r, v, &out->method);
    if (ptc_text_is(name, "headers"))
        return read_headers(r, v, out);
    return ptc_fault_set(r->fault, r->path,
                         "there is no such field; allowed are url, method, headers");
}

static bool read_request(PtcFieldReader *r, PtcValue v, PtcTool *tool)
{
    PtcValue key, value;
    PtcAgentTool *note = ptc_definition_note(r->def, tool);
    PtcHttpTool *http = ptc_arena_zalloc(&r->def->arena, sizeof *http);
    if (!note || !http)
        return ptc_why_no_memory(r->fault);
    if (!ptc_is_map(v))
        return ptc_fields_refuse(r, v, "an object with url");
    http->method = PTC_HTTP_POST;
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        snprintf(r->path, sizeof r->path, "%.*s",
                 PTC_ARG(name.bytes ? ptc_text_cut(name, 60) : PTC_TEXT("?")));
        if (!read_http_field(r, name, value, http))
            return false;
    }
    if (!http->url.bytes)
        return ptc_fault_set(r->fault, "url", "an http tool needs a url");
    note->http = http;
    return true;
}

static bool read_http(PtcToolReader *r, PtcValue v)
{
    return r->allow->http ? ptc_definition_read_kind(r, v, read_request)
                          : ptc_kind_refuse_reach(r, "http", r->allow->http_advice);
}

/* ------------------------------------------------------------------------------ requests */

/* One call. */
typedef struct Exchange {
    PtcToolCall *call;
    const PtcHttpTool *tool;
    const PtcTreeHost *host;
    PtcAgentRun *run;
    PtcMem mem;
    PtcArena arena;
    PtcBuf url, body;
    PtcBuf plain, clean; /* for clean_text */
    PtcText *headers;
    size_t header_count;
    char why[400];
} Exchange;

static bool sends_query(const PtcHttpTool *tool)
{
    return tool->method == PTC_HTTP_GET || tool->method == PTC_HTTP_DELETE;
}

static bool refuse_exchange(Exchange *x, const char *why)
{
    snprintf(x->why, sizeof x->why, "%s", why);
    return false;
}

/* --------------------------------------------------------------------------------- query */

static bool add_query_value(Exchange *x, PtcValue v)
{
    PtcBuf text;
    PtcText plain = ptc_str_text(v);
    if (plain.bytes)
        return ptc_url_encode(&x->url, plain);
    ptc_buf_init(&text, &x->mem, URL_BYTES);
    bool ok = ptc_emit_value(&text, x->call->data.heap, v) &&
              ptc_url_encode(&x->url, ptc_buf_view(&text));
    ptc_buf_deinit(&text);
    return ok;
}

static bool add_query_arguments(Exchange *x)
{
    PtcValue key, value;
    char sign = memchr(x->url.data, '?', x->url.len) ? '&' : '?';
    for (size_t pos = 0; ptc_map_next(x->call->args, &pos, &key, &value); sign = '&') {
        if (value == PTC_NIL)
            continue;
        if (!ptc_buf_add_char(&x->url, sign) || !ptc_url_encode(&x->url, ptc_str_text(key)) ||
            !ptc_buf_add_char(&x->url, '=') || !add_query_value(x, value))
            return refuse_exchange(x, "its arguments are too long for a query");
    }
    return true;
}

/* ------------------------------------------------------------------------------- headers */

/* A header's value with each ${NAME} replaced. */
static bool add_expanded(Exchange *x, PtcBuf *out, PtcText text)
{
    char name[HTTP_TOOL_NAME_BYTES];
    for (size_t i = 0; i < text.len;) {
        const char *end;
        size_t n;
        if (text.len - i < 3 || text.bytes[i] != '$' || text.bytes[i + 1] != '{' ||
            !(end = memchr(text.bytes + i, '}', text.len - i)) ||
            (n = (size_t)(end - text.bytes) - i - 2) >= sizeof name) {
            ptc_buf_add_char(out, text.bytes[i++]);
            continue;
        }
        memcpy(name, text.bytes + i + 2, n);
        name[n] = 0;
        const char *value = x->host->variable ? x->host->variable(x->host->user, name) : NULL;
        if (!value || !*value) {
            snprintf(x->why, sizeof x->why, "the environment variable %s is not set", name);
            return false;
        }
        if (strpbrk(value, "\r\n"))
            return refuse_exchange(x, "a variable of its headers holds a line end");
        ptc_buf_add_cstr(out, value);
        i += n + 3;
    }
    return true;
}

static bool add_tool_header(Exchange *x, PtcText name, PtcText value)
{
    PtcBuf line;
    ptc_buf_init(&line, &x->mem, 64 * PTC_KB);
    ptc_buf_add(&line, name.bytes, name.len);
    ptc_buf_add_cstr(&line, ": ");
    bool ok = add_expanded(x, &line, value);
    PtcText kept = ptc_messages_keep(&x->arena, ptc_buf_view(&line));
    ok = ok && (ptc_buf_ok(&line) || refuse_exchange(x, "a header is too long"));
    ptc_buf_deinit(&line);
    if (ok)
        x->headers[x->header_count++] = kept;
    return ok && (kept.bytes || refuse_exchange(x, "out of memory"));
}

static bool make_tool_headers(Exchange *x)
{
    const PtcHttpTool *t = x->tool;
    x->headers = ptc_arena_zalloc(&x->arena, (t->header_count + 2) * sizeof *x->headers);
    if (!x->headers)
        return refuse_exchange(x, "out of memory");
    if (!add_tool_header(x, PTC_TEXT("Accept"), PTC_TEXT("application/json")))
        return false;
    if (!sends_query(t) &&
        !add_tool_header(x, PTC_TEXT("Content-Type"), PTC_TEXT("application/json")))
        return false;
    for (size_t i = 0; i < t->header_count; i++)
        if (!add_tool_header(x, t->headers[i].name, t->headers[i].value))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------- sending */

static PtcPiece take_piece(void *user, const PtcClientAnswer *answer, PtcText bytes)
{
    Exchange *x = user;
    (void)answer;
    return ptc_buf_add(&x->body, bytes.bytes, bytes.len) ? PTC_PIECE_MORE : PTC_PIECE_STOP;
}

static void send_tool_request(Exchange *x, PtcText body, PtcClientAnswer *answer)
{
    int64_t end = ptc_clock_ns(NULL) + ptc_answer_time_left_ms(x->call) * PTC_MS;
    PtcClientRequest request = {.method = methods[x->tool->method],
                                .url = ptc_buf_text(&x->url),
                                .body = body,
                                .headers = x->headers,
                                .header_count = x->header_count,
                                .max_body = BODY_BYTES,
                                .deadline_ns =
                                    end < x->run->deadline_ns ? end : x->run->deadline_ns,
                                .cancel = ptc_call_cancel(x->call),
                                .piece = take_piece,
                                .user = x};
    ptc_buf_clear(&x->body);
    ptc_client_send(x->host->client, &x->mem, &request, answer);
}

/* Changes the address if the redirect stays on the same server; false if it does not. */
static bool follow_tool_redirect(Exchange *x, const PtcClientAnswer *answer)
{
    PtcUrl from, to;
    PtcText old = ptc_buf_view(&x->url), location = ptc_text_cstr(answer->location);
    if (x->tool->method != PTC_HTTP_GET || answer->status < 301 || answer->status > 308 ||
        !location.len || !ptc_url_parse(old, &from, NULL))
        return false;
    PtcBuf next;
    ptc_buf_init(&next, &x->mem, URL_BYTES);
    if (location.bytes[0] == '/' && !ptc_text_starts(location, "//"))
        ptc_buf_add(&next, old.bytes, old.len - from.path.len);
    ptc_buf_add(&next, location.bytes, location.len);
    bool same = ptc_buf_ok(&next) && ptc_url_parse(ptc_buf_view(&next), &to, NULL) &&
                ptc_url_same_server(&from, &to);
    if (same) { /* it takes its place, so that no memory is needed that there may not be */
        ptc_buf_deinit(&x->url);
        x->url = next;
    } else {
        ptc_buf_deinit(&next);
    }
    return same;
}

/* ------------------------------------------------------------------------------- answers */

/* JSON may spell every letter in several ways; written again it has the one that secrets are known by. */
static PtcText spelled_out(Exchange *x, PtcText text)
{
    PtcJsonError e;
    if (!text.len || !memchr(text.bytes, '\\', text.len))
        return text;
    PtcValue v = ptc_json_parse(x->call->data.heap, text.bytes, text.len, &e);
    ptc_buf_clear(&x->plain);
    bool ok = v != PTC_NONE && ptc_emit_value(&x->plain, x->call->data.heap, v);
    return ok && ptc_buf_ok(&x->plain) ? ptc_buf_view(&x->plain) : text;
}

/* What the server said without secrets; good until the next one.  Without memory there is nothing to tell. */
static PtcText clean_server_text(Exchange *x, PtcText text)
{
    if (!x->host->secrets)
        return text;
    ptc_buf_clear(&x->clean);
    ptc_secrets_blot_part(x->host->secrets, &x->clean, spelled_out(x, text), true);
    return ptc_buf_ok(&x->clean) ? ptc_buf_view(&x->clean) : (PtcText){"", 0};
}

static void fail_status(Exchange *x, const PtcClientAnswer *a)
{
    PtcText body = clean_server_text(x, ptc_buf_view(&a->error_body));
    size_t n = body.len < HTTP_TOOL_SHOWN ? body.len : HTTP_TOOL_SHOWN;
    char text[HTTP_TOOL_SHOWN + 200];
    snprintf(text, sizeof text, "HTTP status %d%s%.*s", a->status, n ? ": " : "",
             PTC_ARG_OF(body.bytes, ptc_utf8_valid_prefix(body.bytes, n)));
    /* A service that answers 4xx has not done what it was asked for. */
    PtcCallFault fault = {ptc_call_reason_of_status(a->status), a->status >= 500, -1};
    if (a->retry_after[0])
        fault.retry_after_ms =
            ptc_retry_after_ms(ptc_text_cstr(a->retry_after), ptc_clock_wall_ms());
    ptc_answer_fault(x->call, fault, ptc_text_cstr(text));
}

/* What it means that no answer came. */
static PtcCallFault fault_of_end(int end)
{
    switch (end) {
    case PTC_CLIENT_BAD_REQUEST:
    case PTC_CLIENT_BAD_TLS: return (PtcCallFault){PTC_CALL_UNAVAILABLE, false, -1};
    case PTC_CLIENT_NO_CONNECTION:
    case PTC_CLIENT_CONNECT_TIMEOUT: return (PtcCallFault){PTC_CALL_NOT_CONNECTED, false, -1};
    case PTC_CLIENT_BROKEN: return (PtcCallFault){PTC_CALL_RESET, true, -1};
    case PTC_CLIENT_SILENCE:
    case PTC_CLIENT_TIMEOUT:
    case PTC_CLIENT_DEADLINE: return (PtcCallFault){PTC_CALL_LATE, true, -1};
    }
    return (PtcCallFault){PTC_CALL_BAD_ANSWER, true, -1};
}

static void fail_exchange(Exchange *x, const PtcClientAnswer *a)
{
    char text[400];
    PtcText why = clean_server_text(x, ptc_text_cstr(a->why.text));
    if (a->why.code == PTC_CLIENT_STOPPED || a->why.code == PTC_CLIENT_TOO_LARGE)
        snprintf(text, sizeof text, "its answer is larger than the %d MiB that are allowed",
                 BODY_BYTES / PTC_MB);
    else
        snprintf(text, sizeof text, "%.*s", PTC_ARG(why));
    ptc_answer_fault(x->call, fault_of_end(a->why.code), ptc_text_cstr(text));
}

static void take_http_result(Exchange *x)
{
    PtcText json = clean_server_text(x, ptc_buf_view(&x->body));
    if (x->body.len && !json.len)
        ptc_answer_fail(x->call, PTC_TEXT("its answer came, but there is no memory for it"));
    else
        ptc_answer_json(x->call, json.len ? json : PTC_TEXT("null"));
}

static void take_http_answer(Exchange *x, const PtcClientAnswer *a)
{
    if (!ptc_client_answered(a))
        fail_exchange(x, a);
    else if (a->status < 200 || a->status > 299)
        fail_status(x, a);
    else
        take_http_result(x);
}

static void exchange_with_server(Exchange *x, PtcText body)
{
    PtcClientAnswer answer;
    for (int times = 0;; times++) {
        send_tool_request(x, body, &answer);
        if (times == REDIRECTS || !ptc_client_answered(&answer) ||
            !follow_tool_redirect(x, &answer))
            break;
        ptc_client_answer_deinit(&answer);
    }
    take_http_answer(x, &answer);
    ptc_client_answer_deinit(&answer);
}

static PtcToolAnswer answer_request(PtcToolCall *call, void *user)
{
    const PtcAgentTool *tool = user;
    Exchange x = {.call = call, .tool = tool->http, .run = ptc_agent_tool_run(call)};
    if (!x.run)
        return PTC_TOOL_ANSWERED;
    x.host = &x.run->tree->host;
    ptc_mem_init(&x.mem, 8 * BODY_BYTES);
    ptc_arena_init(&x.arena, &x.mem);
    ptc_buf_init(&x.url, &x.mem, URL_BYTES);
    ptc_buf_init(&x.body, &x.mem, BODY_BYTES);
    ptc_buf_init(&x.plain, &x.mem, 2 * BODY_BYTES);
    ptc_buf_init(&x.clean, &x.mem, 4 * BODY_BYTES);
    bool ok = x.host->client || refuse_exchange(&x, "http tools are not possible here");
    ok = ok && (ptc_buf_add(&x.url, x.tool->url.bytes, x.tool->url.len) ||
                refuse_exchange(&x, "out of memory"));
    ok = ok && (!sends_query(x.tool) || add_query_arguments(&x)) && make_tool_headers(&x);
    ok = ok && (ptc_answer_args_json(call) || refuse_exchange(&x, "out of memory"));
    if (ok)
        exchange_with_server(&x,
                             sends_query(x.tool) ? (PtcText){NULL, 0} : ptc_buf_view(&call->json));
    else
        ptc_answer_fail(call, ptc_text_cstr(x.why));
    ptc_buf_deinit(&x.clean);
    ptc_buf_deinit(&x.plain);
    ptc_buf_deinit(&x.body);
    ptc_buf_deinit(&x.url);
    ptc_arena_deinit(&x.arena);
    return PTC_TOOL_ANSWERED;
}

const PtcToolKind ptc_http_kind = {
    .key = "http",
    .doc = "a request; arguments as JSON body, or as query for GET and DELETE",
    .schema = "{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"url\"],"
              " \"properties\": {"
              "  \"url\": {\"type\": \"string\", \"pattern\": \"^[Hh][Tt][Tt][Pp][Ss]?://.\"},"
              "  \"method\": {\"enum\": [\"GET\", \"POST\", \"PUT\", \"PATCH\", \"DELETE\"]},"
              "  \"headers\": {\"description\": \"${NAME} is read from the environment\","
              "   \"type\": \"object\", \"maxProperties\": 100,"
              "   \"additionalProperties\": {\"type\": \"string\"}}}}",
    .read = read_http,
    .call = answer_request,
    .options = PTC_KIND_RETRY,
    .in_agent = true,
};
