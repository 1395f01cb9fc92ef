/* SPDX-License-Identifier: MIT
 * MCP with memory that runs out: whichever allocation fails, the client gets a whole JSON answer or none, and nothing
 * leaks.  (AddressSanitizer watches too.) */
#include "json/parse.h"
#include "mcp/server/mcp_int.h"
#include "mcp_help.h"

#define M \
    MODERN("{\"elicitation\":{},\"roots\":{}}", ",\"io.modelcontextprotocol/logLevel\":\"debug\"")

static const char *const messages[] = {
    REQUEST("1", "server/discover", M),
    REQUEST("1", "initialize",
            "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"roots\":{}}"),
    REQUEST("\"long enough not to fit the word\"", "tools/list", M),
    REQUEST("1", "tools/call", "\"name\":\"echo\",\"arguments\":{\"say\":\"hello\"}"),
    REQUEST("1", "tools/call", "\"name\":\"data\",\"arguments\":{\"n\":7}," M),
    REQUEST("1", "tools/call", "\"name\":\"doc\",\"arguments\":{\"doc\":{\"a\":[1,2]}}"),
    REQUEST("1", "tools/call", "\"name\":\"data\",\"arguments\":{\"doc\":{\"a\":[1,2]}}"),
    REQUEST("1", "tools/call", "\"name\":\"fail\""),
    REQUEST("1", "tools/call", "\"name\":\"ecco\""),
    REQUEST("1", "tools/call", "\"name\":\"steps\",\"_meta\":{\"progressToken\":\"abc\"}"),
    REQUEST("1", "tools/call", "\"name\":\"ask\"," M),
    REQUEST("1", "tools/call",
            "\"name\":\"ask\"," M ",\"inputResponses\":{\"who\":{},\"roots\":{}}"),
    REQUEST("1", "tools/call", "\"name\":\"ask\"," M ",\"requestState\":\"AAAA\""),
    REQUEST("1", "tools/call", "\"name\":\"large\""),
    REQUEST("1", "resources/read", "\"uri\":\"t://x/end\"," M),
    REQUEST("1", "resources/read", "\"uri\":\"r://none\""),
    REQUEST("1", "prompts/get", "\"name\":\"greet\",\"arguments\":{\"who\":\"Ada\"}"),
    REQUEST(
        "1", "subscriptions/listen",
        M ",\"notifications\":{\"toolsListChanged\":true,\"resourceSubscriptions\":[\"r://one\"]}"),
    REQUEST("1", "resources/subscribe", "\"uri\":\"r://one\""),
    REQUEST("1", "resources/list", "\"cursor\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\""),
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
    "{\"jsonrpc\":\"2.0\",\"id\":\"ptc-1\",\"result\":{}}",
    "{\"jsonrpc\":",
};

/* Every line of what was said is JSON. */
static bool all_json(const char *text)
{
    CheckHeap h;
    PtcJsonError error;
    bool ok = true;
    check_heap_init(&h);
    for (const char *end; ok && *text; text = *end ? end + 1 : end) {
        end = strchr(text, '\n');
        end = end ? end : text + strlen(text);
        ok = ptc_json_parse(&h.heap, text, (size_t)(end - text), &error) != PTC_NONE;
    }
    check_heap_deinit(&h);
    return ok;
}

/* One message with the nth allocation failing; true when none did. */
static bool try_message(PtcMcp *mcp, PtcMcpPeer *peer, const char *message, uint64_t n)
{
    ptc_mem_fail_at(&mcp->mem, n);
    const char *out = tell(mcp, peer, message);
    bool all = atomic_load(&mcp->mem.count) < n;
    ptc_mem_fail_at(&mcp->mem, 0);
    if (check_count(strcmp(out, "no call") == 0 || all_json(out)))
        printf("%s\n  allocation %llu: %s\n", message, (unsigned long long)n, out);
    return all;
}

static void test_messages(void)
{
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        for (uint64_t n = 1; n < 500; n++) {
            PtcMcp *mcp = help_server(help_config());
            size_t before = atomic_load(&mcp->mem.used);
            PtcMcpPeer *peer = ptc_mcp_peer_new(mcp, (PtcMcpSink){hear, &help_heard});
            bool all = try_message(mcp, peer, messages[i], n);
            ptc_mcp_list_changed(mcp, PTC_MCP_TOOLS);
            ptc_mcp_peer_free(peer);
            ptc_pool_deinit(&mcp->pool); /* pages are kept for the next message; that is no leak */
            ptc_pool_init(&mcp->pool, &mcp->mem);
            CHECK(atomic_load(&mcp->mem.used) <= before);
            ptc_mcp_free(mcp);
            if (all)
                break;
            CHECK(n < 499);
        }
    }
}

static void test_new(void)
{
    for (uint64_t n = 1; n < 500; n++) {
        PtcWhy why = {0};
        PtcMcpConfig c = help_config();
        c.fail_allocation = n;
        PtcMcp *mcp = ptc_mcp_new(&c, &why);
        CHECK(mcp || why.text[0]);
        bool done = mcp && atomic_load(&mcp->mem.count) < n;
        ptc_mcp_free(mcp);
        if (done)
            return;
    }
    CHECK(!"ends");
}

/* A server with hardly any memory says so and lives on. */
static void test_small(void)
{
    PtcMcpConfig c = help_config();
    c.memory_bytes = 600 * 1024;
    PtcMcp *mcp = help_server(c);
    static char big[600000];
    int n = sprintf(
        big,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
        "\"arguments\":{\"say\":\"");
    memset(big + n, 'x', 500000);
    strcpy(big + n + 500000, "\"}}}");
    for (int i = 0; i < 3; i++) {
        CHECK(strstr(tell(mcp, NULL, big),
                     "the message needs more memory or time than the server has"));
        CHECK_STR(tell(mcp, NULL, REQUEST("1", "ping", "")), RESULT("1", ""));
    }
    ptc_mcp_free(mcp);
}

int main(void)
{
    test_messages();
    test_new();
    test_small();
    return check_done("mcp_torture");
}
