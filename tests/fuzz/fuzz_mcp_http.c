/* SPDX-License-Identifier: MIT
 * fuzz_mcp_http.c - requests as the HTTP library hands them over: a request line, header lines, an empty line, the
 * body; several in one input, apart by a line "--".  `@` as a session id stands for the last one given.  No sockets.
 * A first byte of 0x80 and up makes an allocation fail.  Every answer must be whole, and nothing may leak. */
#define _GNU_SOURCE /* memmem */
#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "json/parse.h"
#include "mcp/http/http_exchange.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    PtcHttpShared shared;
    PtcHttpExchange ex;
    char session[64];
} Place;

static void hello(PtcMcpCall *call)
{
    PtcText name;
    if (!ptc_mcp_arg_text(call, "name", false, &name))
        return;
    ptc_mcp_progress(call, 1, 2, "half");
    ptc_mcp_log(call, PTC_MCP_INFO, NULL, "hello", 5);
    ptc_mcp_text(call, name.bytes ? name.bytes : "", name.len);
}

static void question(PtcMcpCall *call)
{
    PtcValue answer;
    if (ptc_mcp_ask(call, "q", "elicitation/create", "{}", &answer) == PTC_MCP_ASK_READY)
        ptc_mcp_text(call, "ok", 2);
}

static void page(PtcMcpCall *call)
{
    ptc_mcp_contents_text(call, NULL, "text", 4);
}

static PtcMcp *new_server(uint64_t fail)
{
    static const PtcMcpTool tools[] = {
        {.name = "hello", .handler = hello},
        {.name = "question", .handler = question},
    };
    static const PtcMcpResource resources[] = {
        {.uri = "test://page", .name = "page", .mime = "text/plain", .handler = page}};
    PtcMcpConfig config = {.name = "fuzz",
                           .version = "1",
                           .tools = tools,
                           .tool_count = 2,
                           .resources = resources,
                           .resource_count = 1,
                           .logging = true,
                           .list_changed = true,
                           .resource_updates = true,
                           .max_frame_bytes = 1 << 16,
                           .memory_bytes = 64 << 20,
                           .ask_timeout_ms = 1,
                           .fail_allocation = fail};
    PtcWhy why;
    return ptc_mcp_new(&config, &why);
}

/* Cuts off one line, without its end. */
static PtcText cut_line(const char **at, const char *end)
{
    const char *start = *at, *stop = memchr(start, '\n', (size_t)(end - start));
    *at = stop ? stop + 1 : end;
    return (PtcText){start, (size_t)((stop ? stop : end) - start)};
}

/* Copies that end with NUL, as those of the library; the caller frees them. */
static char *copy(const char *text, size_t len)
{
    char *to = malloc(len + 1);
    if (len)
        memcpy(to, text, len);
    to[len] = '\0';
    return to;
}

static void add_field(Place *at, PtcText line, char **kept)
{
    const char *colon = memchr(line.bytes, ':', line.len);
    size_t name = colon ? (size_t)(colon - line.bytes) : line.len;
    *kept = copy(line.bytes, line.len);
    char *value = colon ? *kept + name + 1 : *kept + line.len;
    size_t value_len = colon ? line.len - name - 1 : 0;
    if (value_len == 1 && *value == '@') {
        value = at->session;
        value_len = strlen(value);
    }
    ptc_http_head_add(&at->ex.head, *kept, name, value, value_len);
}

static void check_json(const char *text, size_t len)
{
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcJsonError error;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_pool_init(&pool, &mem);
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &pool, &budget, SIZE_MAX / 4);
    assert(ptc_json_parse(&heap, text, len, &error) != PTC_NONE);
    ptc_heap_deinit(&heap);
    ptc_pool_deinit(&pool);
}

static void check_answer(Place *at)
{
    const PtcHttpOut *out = &at->ex.out;
    assert(out->streamed || out->status == 0 || (out->status >= 200 && out->status < 600));
    assert(!out->type == !out->text || out->len == 0);
    if (!out->streamed && out->len && strcmp(out->type, "application/json") == 0)
        check_json(out->text, out->len);
    if (out->session) {
        assert(strlen(out->session) < sizeof at->session);
        memcpy(at->session, out->session, strlen(out->session) + 1);
    }
}

enum { FIELDS_MAX = 64 };

static void one_request(Place *at, const char *text, size_t len)
{
    static const char *const verbs[] = {"POST", "GET", "DELETE", "PUT"};
    static const char *const paths[] = {"/mcp", "/metrics", "/ready", "/health", "/other"};
    const char *end = text + len, *p = text;
    char *kept[FIELDS_MAX] = {0};
    size_t count = 0;
    PtcText first = cut_line(&p, end), line;
    unsigned choice = first.len ? (unsigned char)first.bytes[0] : 0;
    while (p < end && (line = cut_line(&p, end)).len && count < FIELDS_MAX)
        add_field(at, line, &kept[count++]);
    ptc_http_exchange_open(&at->ex, verbs[choice & 3], paths[(choice >> 2) % 5]);
    if (first.len > 1 && first.bytes[1] == 'v')
        ptc_http_exchange_vanish(&at->ex);
    char *body = copy(p, (size_t)(end - p));
    for (size_t done = 0, n = (size_t)(end - p), step; done < n; done += step) {
        step = n - done < 1000 ? n - done : 1000;
        ptc_http_exchange_body(&at->ex, body + done, step);
    }
    ptc_http_exchange_answer(&at->ex);
    free(body);
    check_answer(at);
    ptc_http_exchange_close(&at->ex);
    PtcMem *mem = at->ex.stream.pending.mem;
    int fd = at->ex.stream.fd;
    ptc_http_stream_deinit(&at->ex.stream);
    ptc_http_stream_init(&at->ex.stream, mem, fd);
    for (size_t i = 0; i < count; i++)
        free(kept[i]);
}

/* Where the next request begins, behind a line "--"; `end` when there is none. */
static const char *next_request(const char *p, const char *end, const char **stop)
{
    *stop = memmem(p, (size_t)(end - p), "\n--\n", 4);
    if (*stop)
        return *stop + 4;
    *stop = end;
    return end;
}

static bool open_place(Place *at, PtcMcp *mcp, const char *token)
{
    if (!ptc_http_shared_init(&at->shared, mcp, true, 4, -1))
        return false;
    if (token)
        assert(ptc_http_tokens_add(&at->shared.guard.tokens, ptc_text_cstr(token), PTC_TEXT("me"),
                                   NULL));
    ptc_http_exchange_init(&at->ex, &at->shared, (PtcHttpPeer){1, false}, "127.0.0.1", -1);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const char *p = (const char *)data + 1, *end = (const char *)data + size, *stop;
    Place at = {0};
    PtcMcp *mcp = new_server(data[0] >= 0x80 ? (uint64_t)(data[0] & 0x7f) + 1 : 0);
    if (!mcp)
        return 0;
    size_t before = atomic_load(&ptc_mcp_mem(mcp)->used);
    if (open_place(&at, mcp, (data[0] & 3) == 3 ? "0123456789abcdef" : NULL)) {
        at.shared.stateless = (data[0] & 4) != 0;
        for (const char *next; p < end; p = next) {
            next = next_request(p, end, &stop);
            one_request(&at, p, (size_t)(stop - p));
        }
        ptc_http_exchange_deinit(&at.ex);
        ptc_http_shared_deinit(&at.shared);
    }
    assert(atomic_load(&ptc_mcp_mem(mcp)->used) <= before + (1 << 20)); /* pages kept for later */
    ptc_mcp_free(mcp);
    return 0;
}
