/* SPDX-License-Identifier: MIT
 * client_driver.c - what the official conformance suite runs as a client: connects to the address in its last argument
 * and does what the scenario in MCP_CONFORMANCE_SCENARIO asks for.  The rest is the client library's.
 *
 *     conformance client --command build/release/client_driver --requirements 2026-07-28
 *
 * With --stdio PROGRAM [ARGUMENT...] it starts a server instead, lists its tools and measures calls of `echo`. */
#define _GNU_SOURCE /* memmem */
#include "base/os/leash.h"
#include "json/emit.h"
#include "json/members.h"
#include "json/parse.h"
#include "unit/link_help.h"
#include "upstream/connect/mcp_headers.h"
#include "upstream/driver_login.h"
#include "value/coll/fields.h"

enum { CALL_MS = 20000, ROUNDS = 5 };

static CheckHeap heap;
static PtcMem mem;
static Peer peer;
static Call call;
static PtcValue tools;
static Visitor visitor;

static PtcValue parse(const char *text)
{
    PtcJsonError error;
    PtcValue v = ptc_json_parse(&heap.heap, text, strlen(text), &error);
    return v == PTC_NONE ? PTC_NIL : v;
}

static PtcValue field(PtcValue v, const char *name)
{
    PtcValue found = ptc_is_map(v) ? ptc_map_field(&heap.heap, v, name) : PTC_NONE;
    return found == PTC_NONE ? PTC_NIL : found;
}

/* Every field of the form with its default, as somebody would answer who changes nothing. */
static void answer_form(PtcBuf *out, PtcText params)
{
    PtcText key, value,
        properties = ptc_members_get(ptc_members_get(params, "requestedSchema"), "properties");
    PtcMembers members = ptc_members_of(properties.bytes ? properties : PTC_TEXT("{}"));
    ptc_buf_add_cstr(out, "{\"action\":\"accept\",\"content\":{");
    while (ptc_members_next(&members, &key, &value)) {
        PtcText otherwise = ptc_members_get(value, "default");
        bool is_bool = ptc_text_is(ptc_members_plain(ptc_members_get(value, "type")), "boolean");
        if (!otherwise.bytes && !is_bool)
            continue;
        ptc_emit_next(out);
        ptc_buf_addf(out, "\"%.*s\":", (int)key.len, key.bytes);
        ptc_emit_raw(out, otherwise.bytes ? otherwise : PTC_TEXT("true"));
    }
    ptc_buf_add_cstr(out, "}}");
}

static bool on_request(void *user, PtcText method, PtcText params, PtcBuf *result)
{
    (void)user;
    if (!ptc_text_is(method, "elicitation/create"))
        return false;
    answer_form(result, params);
    return true;
}

static bool on_headers(void *user, PtcBuf *lines, PtcWhy *why)
{
    (void)user;
    return visitor_headers(&visitor, lines, why);
}

static bool on_refused(void *user, int status, const char *challenge, PtcText lines, PtcWhy *why)
{
    (void)user;
    return visitor_refused(&visitor, status, challenge, lines, why);
}

/* ---------------------------------------------------------------------------- calls */

static PtcValue tool_named(PtcText name)
{
    for (size_t i = 0; i < ptc_fields_count(tools); i++)
        if (ptc_text_same(ptc_fields_text(&heap.heap, ptc_seq_nth(tools, i), "name"), name))
            return ptc_seq_nth(tools, i);
    return PTC_NIL;
}

/* The lines for arguments that the tool wants to see in headers. */
static void write_headers(PtcBuf *lines, PtcValue tool, PtcValue args)
{
    PtcValue key, value;
    PtcText name = ptc_fields_text(&heap.heap, tool, "name");
    PtcValue headers = ptc_mcp_headers(&heap.heap, name, field(tool, "inputSchema"), args);
    for (size_t pos = 0; headers != PTC_NONE && ptc_map_next(headers, &pos, &key, &value);) {
        PtcText k = ptc_str_text(key), v = ptc_str_text(value);
        ptc_buf_addf(lines, "%.*s: %.*s\n", (int)k.len, k.bytes, (int)v.len, v.bytes);
    }
}

/* One request with its headers; the result is in call.text. */
static bool ask(const char *method, PtcText params, PtcText headers)
{
    free(call.text);
    call = (Call){.peer = &peer, .ask.done = call_done};
    call.ask.end_ns = ptc_clock_ns(NULL) + (int64_t)CALL_MS * 1000000;
    if (!ptc_link_ask(peer.link, &call.ask, method, params, headers))
        return false;
    bool ok = call_wait(&call) == PTC_LINK_ANSWER;
    fprintf(stderr, "%s %.*s\n  -> %d %s\n", method, (int)params.len, params.bytes, call.end,
            call.text);
    return ok;
}

/* What a server asks for before it goes on: the same call again, with answers and its state. */
static bool wants_more(PtcBuf *params, const char *head)
{
    PtcText result = ptc_text_cstr(call.text), key, value;
    PtcText state = ptc_members_get(result, "requestState");
    if (!ptc_text_is(ptc_members_plain(ptc_members_get(result, "resultType")), "input_required"))
        return false;
    PtcText requests = ptc_members_get(result, "inputRequests");
    PtcMembers members = ptc_members_of(requests.bytes ? requests : PTC_TEXT("{}"));
    ptc_buf_clear(params);
    ptc_buf_addf(params, "%s,\"inputResponses\":{", head);
    while (ptc_members_next(&members, &key, &value)) {
        ptc_emit_next(params);
        ptc_buf_addf(params, "\"%.*s\":", (int)key.len, key.bytes);
        answer_form(params, ptc_members_get(value, "params"));
    }
    ptc_buf_add_cstr(params, "}");
    if (state.bytes)
        ptc_emit_field_raw(params, "requestState", state);
    ptc_buf_add_cstr(params, "}");
    return true;
}

static bool call_with(PtcText name, PtcValue args)
{
    PtcBuf head, params, headers;
    ptc_buf_init(&head, &mem, SIZE_MAX / 4);
    ptc_buf_init(&params, &mem, SIZE_MAX / 4);
    ptc_buf_init(&headers, &mem, SIZE_MAX / 4);
    ptc_emit_object(&head);
    ptc_emit_field_text(&head, "name", name);
    ptc_emit_key(&head, "arguments");
    ptc_emit_value(&head, &heap.heap, args);
    ptc_buf_addf(&params, "%s}", ptc_buf_text(&head));
    write_headers(&headers, tool_named(name), args);
    bool ok = ask("tools/call", ptc_buf_view(&params), ptc_buf_view(&headers));
    for (int i = 0; ok && i < ROUNDS && wants_more(&params, ptc_buf_text(&head)); i++)
        ok = ask("tools/call", ptc_buf_view(&params), ptc_buf_view(&headers));
    ptc_buf_deinit(&head);
    ptc_buf_deinit(&params);
    ptc_buf_deinit(&headers);
    return ok;
}

/* ------------------------------------------------------------------------ scenarios */

static bool list(void)
{
    static Listing listing;
    bool ok = list_tools(&listing, &peer) == PTC_LINK_ANSWER;
    fprintf(stderr, "tools/list -> %d %s\n", listing.end, listing.text);
    tools = ok ? parse(listing.text) : PTC_NIL;
    return ok;
}

/* An argument of the declared type. */
static PtcValue sample(PtcValue schema)
{
    PtcText type = ptc_fields_text(&heap.heap, schema, "type");
    return !type.bytes                    ? PTC_NIL
           : ptc_text_is(type, "integer") ? ptc_int(5)
           : ptc_text_is(type, "number")  ? ptc_int(5)
           : ptc_text_is(type, "boolean") ? PTC_TRUE
           : ptc_text_is(type, "string")  ? ptc_fields_string(&heap.heap, PTC_TEXT("x"))
                                          : PTC_NIL;
}

/* Every tool that may be called over HTTP, with arguments made up from its schema. */
static bool call_all(void)
{
    bool ok = true;
    for (size_t i = 0; i < ptc_fields_count(tools); i++) {
        PtcValue tool = ptc_seq_nth(tools, i), schema = field(tool, "inputSchema"), key, value;
        PtcValue args = ptc_fields_map(&heap.heap), properties = field(schema, "properties");
        if (!ptc_mcp_headers_fit(&heap.heap, schema))
            continue;
        for (size_t pos = 0;
             ptc_is_map(properties) && ptc_map_next(properties, &pos, &key, &value);)
            ptc_fields_put_key(&heap.heap, &args, ptc_str_text(key), sample(value));
        ok = call_with(ptc_fields_text(&heap.heap, tool, "name"), args) && ok;
    }
    return ok;
}

static bool call_given(const char *context)
{
    PtcValue calls = field(parse(context), "toolCalls");
    bool ok = ptc_fields_count(calls) > 0;
    for (size_t i = 0; i < ptc_fields_count(calls); i++) {
        PtcValue one = ptc_seq_nth(calls, i);
        ok = call_with(ptc_fields_text(&heap.heap, one, "name"), field(one, "arguments")) && ok;
    }
    return ok;
}

/* The schema of one tool, as the other's argument. */
static bool echo_schema(void)
{
    PtcValue args = ptc_fields_map(&heap.heap);
    PtcValue tool = tool_named(PTC_TEXT("json_schema_2020_12_tool"));
    ptc_fields_put(&heap.heap, &args, "schema", field(tool, "inputSchema"));
    return call_with(PTC_TEXT("json_schema_echo"), args);
}

/* The first of a list, asked for by its name. */
static bool read_first(const char *lister, const char *member, const char *method, const char *key)
{
    char params[512];
    if (!ask(lister, PTC_TEXT("{}"), (PtcText){NULL, 0}))
        return false;
    PtcValue all = field(parse(call.text), member);
    if (ptc_fields_count(all) == 0)
        return false;
    PtcText name = ptc_fields_text(&heap.heap, ptc_seq_nth(all, 0), key);
    snprintf(params, sizeof params, "{\"%s\":\"%.*s\"}", key, (int)name.len, name.bytes);
    return ask(method, ptc_text_cstr(params), (PtcText){NULL, 0});
}

static bool play(const char *scenario, const char *context)
{
    if (!list())
        return false;
    if (!strcmp(scenario, "initialize") || !strcmp(scenario, "json-schema-ref-no-deref") ||
        !strcmp(scenario, "request-metadata"))
        return true;
    if (!strcmp(scenario, "http-custom-headers"))
        return call_given(context);
    if (!strcmp(scenario, "json-schema-2020-12-preservation"))
        return echo_schema();
    bool ok = call_all();
    if (!strcmp(scenario, "http-standard-headers"))
        ok = read_first("resources/list", "resources", "resources/read", "uri") &&
             read_first("prompts/list", "prompts", "prompts/get", "name") && ok;
    return ok;
}

/* Round trips of a small call, one after the other: the least and the middle one, in microseconds. */
static bool measure(void)
{
    enum { TIMES = 500 };
    static int64_t took[TIMES];
    for (int i = 0; i < TIMES; i++) {
        int64_t begun = ptc_clock_ns(NULL);
        if (call_tool(&call, &peer,
                      "{\"name\":\"echo\",\"arguments\":{\"message\":\"hi\",\"text\":\"hi\"}}",
                      CALL_MS) != PTC_LINK_ANSWER)
            return false;
        took[i] = ptc_clock_ns(NULL) - begun;
        for (int k = i; k > 0 && took[k - 1] > took[k]; k--) {
            int64_t swap = took[k];
            took[k] = took[k - 1];
            took[k - 1] = swap;
        }
    }
    printf("echo: least %d us, middle %d us\n", (int)(took[0] / 1000),
           (int)(took[TIMES / 2] / 1000));
    return true;
}

/* Says what a real server has told; tests/upstream/test_client_real.py reads it. */
static bool visit(void)
{
    PtcText about = ptc_link_about(peer.link);
    printf("era %d, about %.*s\n", ptc_link_era(peer.link), (int)about.len, about.bytes);
    if (!list())
        return false;
    printf("tools %zu\n", ptc_fields_count(tools));
    return tool_named(PTC_TEXT("echo")) == PTC_NIL || measure();
}

static const char *kept(PtcValue text)
{
    return ptc_is_string(text) ? ptc_oauth_doc_keep(&visitor.work.arena, ptc_str_text(text)) : NULL;
}

/* The path of a file with the key, which is removed at the end; NULL: there is none. */
static const char *key_file(PtcValue pem)
{
    static char path[] = "/tmp/client_driver.XXXXXX";
    int fd = ptc_is_string(pem) ? mkstemp(path) : -1;
    if (fd < 0)
        return NULL;
    bool ok = write(fd, ptc_str_bytes(pem), ptc_str_len(pem)) == (ssize_t)ptc_str_len(pem);
    close(fd);
    return ok ? path : NULL;
}

static bool run_link(PtcLinkConfig *c, PtcLoop *loop, int argc, char **argv)
{
    static const char *env[4];
    static char path[4096];
    const char *scenario = getenv("MCP_CONFORMANCE_SCENARIO"),
               *context = getenv("MCP_CONFORMANCE_CONTEXT");
    bool stdio = !strcmp(argv[1], "--stdio");
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    env[0] = path;
    c->transport = stdio ? PTC_LINK_STDIO : PTC_LINK_HTTP;
    c->argv = (const char *const *)(uintptr_t)(argv + 2);
    c->env = env;
    c->url = argv[argc - 1];
    visitor.site.url = c->url;
    visitor.site.client_id = kept(field(parse(context ? context : "{}"), "client_id"));
    visitor.site.client_secret = kept(field(parse(context ? context : "{}"), "client_secret"));
    visitor.site.private_key_file =
        key_file(field(parse(context ? context : "{}"), "private_key_pem"));
    visitor.by_client = scenario && strstr(scenario, "client-credentials");
    peer.link = ptc_link_new(&mem, loop, c);
    bool ok = peer.link && peer_connect(&peer);
    if (peer.link && !ok && visitor.record.access &&
        peer.auth[0]) /* what was signed in to may have been given up for another one */
        ok = peer_connect(&peer);
    fprintf(stderr, "state %d: %s\n", peer.state, peer.why);
    ok = ok && (stdio ? visit() : play(scenario ? scenario : "", context ? context : "{}"));
    peer_free(&peer);
    if (visitor.site.private_key_file)
        unlink(visitor.site.private_key_file);
    return ok;
}

int main(int argc, char **argv)
{
    if (ptc_leash_asked(argc, argv))
        return ptc_leash_main(argc, argv);
    if (argc < 2) {
        fprintf(stderr, "usage: client_driver URL, client_driver --stdio PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    check_heap_init(&heap);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    PtcLoop *loop = ptc_loop_new(&mem);
    PtcClient *http = ptc_client_new(&mem, NULL);
    peer_init(&peer, &mem, loop);
    PtcLinkConfig c = peer_config(&peer);
    c.http = http;
    c.headers = on_headers;
    c.refused = on_refused;
    c.request = on_request;
    c.capabilities = PTC_TEXT("{\"elicitation\":{\"form\":{\"applyDefaults\":true}}}");
    visitor_init(&visitor, &mem, http, "");
    bool ok = run_link(&c, loop, argc, argv);
    visitor_deinit(&visitor);
    free(call.text);
    ptc_client_free(http);
    ptc_loop_free(loop);
    check_heap_deinit(&heap);
    return ok && check_counts.failed == 0 ? 0 : 1;
}
