/* SPDX-License-Identifier: MIT
 * MCP: which era a message belongs to, the modern envelope, the headers of HTTP. */
#include "mcp_help.h"

#define V "io.modelcontextprotocol/protocolVersion"
#define C "io.modelcontextprotocol/clientCapabilities"
#define WANTED(key, why) "params._meta[\\\"io.modelcontextprotocol/" key "\\\"] " why

#define DISCOVERED(id)                                                                        \
    RESULT(id, "\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"          \
               "\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{"           \
               "\"listChanged\":true,\"subscribe\":true},\"prompts\":{\"listChanged\":true}," \
               "\"completions\":{},\"logging\":{}},\"ttlMs\":300000,\"cacheScope\":"          \
               "\"public\"," INFO)

#define UNSUPPORTED(id, version)                                                \
    ERROR_DATA(id, "-32022",                                                    \
               "protocol version " version " is not supported; this server "    \
               "speaks 2026-07-28 and, after initialize, 2025-11-25 and older", \
               "{\"supported\":[\"2026-07-28\"],\"requested\":\"" version "\"}")

static const Exchange envelopes[] = {
    /* Discovery, with and without a name of the client. */
    {REQUEST("1", "server/discover", MODERN("{}", "")), DISCOVERED("1")},
    {REQUEST("1", "server/discover",
             MODERN("{\"sampling\":{}}",
                    ",\"io.modelcontextprotocol/clientInfo\":{\"name\":\"c\",\"version\":\"1\"}")),
     DISCOVERED("1")},
    /* A malformed envelope is an error, never the other era. */
    {REQUEST("1", "server/discover", "\"_meta\":{\"" V "\":7}"),
     ERROR("1", "-32602", WANTED("protocolVersion", "must be a string"))},
    {REQUEST("1", "server/discover", "\"_meta\":{\"" V "\":null}"),
     ERROR("1", "-32602", WANTED("protocolVersion", "must be a string"))},
    {REQUEST("1", "tools/list", "\"_meta\":{" META_VERSION "}"),
     ERROR("1", "-32602",
           WANTED("clientCapabilities", "must be an object; {} when there are none"))},
    {REQUEST("1", "tools/list", MODERN("[]", "")),
     ERROR("1", "-32602",
           WANTED("clientCapabilities", "must be an object; {} when there are none"))},
    {REQUEST("1", "tools/list", MODERN("{}", ",\"io.modelcontextprotocol/clientInfo\":\"x\"")),
     ERROR("1", "-32602", WANTED("clientInfo", "must be an object with a name and a version"))},
    {REQUEST("1", "tools/list",
             MODERN("{}", ",\"io.modelcontextprotocol/clientInfo\":{\"name\":\"x\"}")),
     ERROR("1", "-32602", WANTED("clientInfo", "must be an object with a name and a version"))},
    {REQUEST("1", "tools/list", MODERN("{}", ",\"io.modelcontextprotocol/logLevel\":\"loud\"")),
     ERROR("1", "-32602", WANTED("logLevel", "must be debug, info, notice, warning, error ..."))},
    /* Versions that we do not speak. */
    {REQUEST("1", "server/discover", "\"_meta\":{\"" V "\":\"v999\"}"), UNSUPPORTED("1", "v999")},
    {REQUEST("1", "server/discover", "\"_meta\":{\"" V "\":\"\"}"), UNSUPPORTED("1", "")},
    /* A claim of a legacy version is legacy. */
    {REQUEST("1", "ping", "\"_meta\":{\"" V "\":\"2025-11-25\"}"), RESULT("1", "")},
    /* Nothing claimed: legacy. */
    {REQUEST("1", "ping", "\"_meta\":{\"" C "\":{}}"), RESULT("1", "")},
};

/* Over HTTP: the status and a part of the answer. */
typedef struct {
    const char *headers[8];
    const char *in;
    int status;
    const char *part;
} Post;

#define MODERN_HEADERS(method) "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method
#define CALL(name) REQUEST("1", "tools/call", MODERN("{}", "") ",\"name\":\"" name "\"")

static const Post posts[] = {
    {{MODERN_HEADERS("server/discover")},
     REQUEST("1", "server/discover", MODERN("{}", "")),
     200,
     "supportedVersions"},
    {{"mcp-protocol-version", " 2026-07-28\t", "MCP-METHOD", "  server/discover "},
     REQUEST("1", "server/discover", MODERN("{}", "")),
     200,
     "supportedVersions"},
    /* Headers of the modern era, a message without its envelope. */
    {{MODERN_HEADERS("server/discover")},
     REQUEST("1", "server/discover", ""),
     400,
     "\"code\":-32602"},
    {{MODERN_HEADERS("server/discover")},
     REQUEST("1", "server/discover", "\"_meta\":{" META_VERSION "}"),
     400,
     "\"code\":-32602"},
    {{MODERN_HEADERS("initialize")},
     REQUEST("1", "initialize", "\"protocolVersion\":\"2025-11-25\""),
     400,
     "\"code\":-32602"},
    /* Versions that we do not speak. */
    {{"MCP-Protocol-Version", "v999", "Mcp-Method", "server/discover"},
     REQUEST("1", "server/discover", "\"_meta\":{\"" V "\":\"v999\"}"),
     400,
     "\"code\":-32022"},
    {{MODERN_HEADERS("server/discover")},
     REQUEST("1", "server/discover", "\"_meta\":{\"" V "\":\"v999\"}"),
     400,
     "\"code\":-32020"},
    /* Headers that do not say what the message says. */
    {{"Mcp-Method", "server/discover"},
     REQUEST("1", "server/discover", MODERN("{}", "")),
     400,
     "\"code\":-32020"},
    {{"MCP-Protocol-Version", "2025-11-25"},
     REQUEST("1", "server/discover", MODERN("{}", "")),
     400,
     "\"code\":-32020"},
    {{"MCP-Protocol-Version", "2026-07-28"},
     REQUEST("1", "server/discover", MODERN("{}", "")),
     400,
     "the header Mcp-Method is \\\"\\\" and the message says \\\"server/discover\\\""},
    {{MODERN_HEADERS("tools/list")},
     REQUEST("1", "server/discover", MODERN("{}", "")),
     400,
     "\"code\":-32020"},
    {{MODERN_HEADERS("tools/call")}, CALL("fail"), 400, "\"code\":-32020"},
    {{MODERN_HEADERS("tools/call"), "Mcp-Name", "echo"}, CALL("fail"), 400, "\"code\":-32020"},
    {{MODERN_HEADERS("tools/call"), "Mcp-Name", "fail"}, CALL("fail"), 200, "\"isError\":true"},
    {{MODERN_HEADERS("tools/call"), "Mcp-Name", "  fail  "}, CALL("fail"), 200, "\"isError\":true"},
    {{MODERN_HEADERS("tools/call"), "Mcp-Name", "=?base64?ZmFpbA==?="},
     CALL("fail"),
     200,
     "\"isError\":true"},
    {{MODERN_HEADERS("tools/call"), "Mcp-Name", "=?base64?ZmFpbB==?="},
     CALL("fail"),
     400,
     "\"code\":-32020"},
    {{MODERN_HEADERS("tools/call"), "Mcp-Name", "=?base64?!?="},
     CALL("fail"),
     400,
     "\"code\":-32020"},
    {{MODERN_HEADERS("tools/call"), "Mcp-Name", "\xff\xfe"}, CALL("fail"), 400, "\"code\":-32020"},
    {{MODERN_HEADERS("tools/call")},
     REQUEST("1", "tools/call", MODERN("{}", "")),
     200,
     "\"code\":-32602"},
    {{MODERN_HEADERS("resources/read"), "Mcp-Name", "r://one"},
     REQUEST("1", "resources/read", MODERN("{}", "") ",\"uri\":\"r://one\""),
     200,
     "contents"},
    {{MODERN_HEADERS("resources/read"), "Mcp-Name", "r://two"},
     REQUEST("1", "resources/read", MODERN("{}", "") ",\"uri\":\"r://one\""),
     400,
     "\"code\":-32020"},
    /* Methods that the modern era does not have. */
    {{MODERN_HEADERS("ping")}, REQUEST("1", "ping", MODERN("{}", "")), 404, "\"code\":-32601"},
    {{MODERN_HEADERS("initialize")},
     REQUEST("1", "initialize", MODERN("{}", "")),
     404,
     "\"code\":-32601"},
    {{MODERN_HEADERS("unknown")},
     REQUEST("1", "unknown", MODERN("{}", "")),
     404,
     "\"code\":-32601"},
    {{MODERN_HEADERS("x")}, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}", 202, ""},
    {{NULL}, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}", 202, ""},
    {{NULL}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 202, ""},
    /* What a call needs of the client. */
    {{MODERN_HEADERS("tools/call"), "Mcp-Name", "ask"}, CALL("ask"), 400, "\"code\":-32021"},
    /* Errors of calls are in the body. */
    {{MODERN_HEADERS("tools/call"), "Mcp-Name", "none"}, CALL("none"), 200, "\"code\":-32602"},
    /* Legacy: the version is in the header, or absent. */
    {{NULL}, REQUEST("1", "ping", ""), 200, "\"result\":{}"},
    {{"MCP-Protocol-Version", "2025-06-18"}, REQUEST("1", "ping", ""), 200, "\"result\":{}"},
    {{"MCP-Protocol-Version", "2025-03-26"}, REQUEST("1", "ping", ""), 200, "\"result\":{}"},
    {{"MCP-Protocol-Version", "1999-01-01"}, REQUEST("1", "ping", ""), 400, "\"code\":-32022"},
    {{"MCP-Protocol-Version", ""}, REQUEST("1", "ping", ""), 400, "\"code\":-32022"},
    {{"MCP-Protocol-Version", "1999-01-01"},
     REQUEST("1", "initialize", "\"protocolVersion\":\"2025-11-25\""),
     200,
     "serverInfo"},
    {{NULL}, REQUEST("1", "no/such", ""), 200, "\"code\":-32601"},
    /* What is no request. */
    {{NULL}, "[]", 400, "\"code\":-32600"},
    {{NULL}, "{", 400, "\"code\":-32700"},
    {{NULL}, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", 400, "\"code\":-32600"},
};

static void test_posts(PtcMcp *mcp)
{
    for (size_t i = 0; i < sizeof posts / sizeof *posts; i++) {
        const Post *p = &posts[i];
        int status = 0;
        PtcMcpIn in = {.text = p->in,
                       .len = strlen(p->in),
                       .header = help_header,
                       .header_user = (void *)(uintptr_t)p->headers};
        const char *out = tell_in(mcp, in, &status);
        bool ok = status == p->status && (*p->part ? strstr(out, p->part) != NULL : !*out);
        if (check_count(ok))
            printf("post %zu: %s\n  got:  %d %s\n  want: %d %s\n", i, p->in, status, out, p->status,
                   p->part);
    }
}

/* Over HTTP the handshake makes a peer for the session. */
static void test_session(PtcMcp *mcp)
{
    const char *const headers[] = {NULL};
    const char *init = REQUEST("1", "initialize",
                               "\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
                               "{\"roots\":{},\"elicitation\":{}}");
    PtcMcpIn in = {.text = init,
                   .len = strlen(init),
                   .header = help_header,
                   .header_user = (void *)(uintptr_t)headers};
    PtcMcpCall *call = ptc_mcp_begin(mcp, &in);
    PtcMcpPeer *peer = ptc_mcp_take_peer(call);
    CHECK(peer && !ptc_mcp_take_peer(call));
    CHECK(ptc_mcp_method(call).len == 10);
    ptc_mcp_call_free(call);
    ptc_mcp_peer_set_sink(peer, (PtcMcpSink){hear, &help_heard});
    help_heard.len = 0;
    ptc_mcp_list_changed(mcp, PTC_MCP_PROMPTS);
    CHECK_STR(help_heard.text,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/list_changed\"}\n");
    ptc_mcp_peer_close(peer);
    ptc_mcp_peer_free(peer);
    /* One that nobody took ends with its call. */
    ptc_mcp_call_free(ptc_mcp_begin(mcp, &in));
}

int main(void)
{
    PtcMcp *mcp = help_server(help_config());
    check_exchanges(mcp, NULL, envelopes, sizeof envelopes / sizeof *envelopes);
    test_posts(mcp);
    test_session(mcp);
    ptc_mcp_free(mcp);
    return check_done("mcp_era");
}
