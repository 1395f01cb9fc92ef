/* SPDX-License-Identifier: MIT
 * fuzz_mcp.c - any bytes as MCP messages, a line each, to one server and one client.  The first byte says how: over
 * HTTP (0x01: without, 0x02: with modern headers that fit) and which allocation fails (from 0x80).  What is said is
 * JSON, notifications are not answered, nothing leaks. */
#define _GNU_SOURCE /* memmem */
#include <assert.h>

#include "json/parse.h"
#include "mcp/server/mcp_int.h"
#include "unit/mcp_help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_json(const char *text, size_t len)
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
    bool ok = ptc_json_parse(&heap, text, len, &error) != PTC_NONE;
    ptc_heap_deinit(&heap);
    ptc_pool_deinit(&pool);
    return ok;
}

static bool check_sent(void *user, const char *json, size_t len)
{
    (void)user;
    assert(is_json(json, len) && !memchr(json, '\n', len));
    return true;
}

/* Headers that repeat what the body says, as far as a scan can tell. */
typedef struct {
    char method[64], name[64];
    bool modern;
} Headers;

static void copy_after(const char *text, size_t len, const char *key, char out[64])
{
    const char *p = memmem(text, len, key, strlen(key));
    size_t n = 0;
    out[0] = 0;
    if (!p)
        return;
    for (p += strlen(key); p < text + len && *p != '"' && n < 63; p++)
        out[n++] = *p;
    out[n] = 0;
}

static const char *header(void *user, const char *name)
{
    Headers *h = user;
    if (strcasecmp(name, "MCP-Protocol-Version") == 0)
        return h->modern ? "2026-07-28" : NULL;
    if (strcasecmp(name, "Mcp-Method") == 0)
        return h->method;
    return strcasecmp(name, "Mcp-Name") == 0 ? h->name : NULL;
}

static void one_message(PtcMcp *mcp, PtcMcpPeer *peer, const char *text, size_t len, uint8_t how)
{
    Headers h = {.modern = (how & 2) != 0};
    copy_after(text, len, "\"method\":\"", h.method);
    copy_after(text, len, "\"name\":\"", h.name);
    PtcMcpIn in = {.text = text,
                   .len = len,
                   .sink = {check_sent, NULL},
                   .peer = how & 4 ? NULL : peer,
                   .header = how & 3 ? header : NULL,
                   .header_user = &h};
    PtcMcpCall *call = ptc_mcp_begin(mcp, &in);
    if (!call)
        return;
    ptc_mcp_run(call);
    const PtcBuf *answer = ptc_mcp_answer(call);
    assert(!answer || is_json(answer->data, answer->len));
    assert(!answer || !memchr(answer->data, '\n', answer->len));
    assert(ptc_mcp_http_status(call) >= 200 && ptc_mcp_http_status(call) < 600);
    if (ptc_mcp_next(call) == PTC_MCP_LISTEN) {
        assert(!answer);
        if (ptc_mcp_listen(call) && in.peer)
            return; /* the peer's */
        ptc_mcp_listen_end(call);
    } else {
        assert(!answer == (call->kind != PTC_RPC_BAD && call->kind != PTC_RPC_REQUEST));
    }
    ptc_mcp_call_free(call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcMcpConfig config = help_config();
    uint8_t how = size ? data[0] : 0;
    config.ask_timeout_ms = 1;
    config.page_size = how & 8 ? 1 : 0;
    PtcMcp *mcp = help_server(config);
    size_t before = atomic_load(&mcp->mem.used);
    PtcMcpPeer *peer = ptc_mcp_peer_new(mcp, (PtcMcpSink){check_sent, NULL});
    if (how >= 0x80)
        ptc_mem_fail_at(&mcp->mem, (uint64_t)(how & 0x70) + 1);
    const char *p = (const char *)data + (size > 0), *end = (const char *)data + size;
    for (int lines = 0; p < end && lines < 50; lines++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((stop ? stop : end) - p);
        char *exact = malloc(len ? len : 1); /* so that reads beyond it are seen */
        memcpy(exact, p, len);
        one_message(mcp, peer, exact, len, how);
        free(exact);
        ptc_mcp_list_changed(mcp, PTC_MCP_TOOLS);
        ptc_mcp_resource_updated(mcp, "r://one");
        p += len + 1;
    }
    ptc_mcp_peer_close(peer);
    ptc_mcp_peer_free(peer);
    ptc_pool_deinit(&mcp->pool);
    ptc_pool_init(&mcp->pool, &mcp->mem);
    assert(atomic_load(&mcp->mem.used) <= before);
    ptc_mcp_free(mcp);
    return 0;
}
