/* SPDX-License-Identifier: MIT
 * MCP: framing, ids, the legacy handshake, hostile messages. */
#include "mcp_help.h"

static const Exchange framing[] = {
    /* Ids are strings and integers, errors echo them. */
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", RESULT("1", "")},
    {"{\"jsonrpc\":\"2.0\",\"id\":\"\\u00e9\\n\",\"method\":\"ping\"}", RESULT("\"é\\n\"", "")},
    {"{\"jsonrpc\":\"2.0\",\"id\":-12345678901234567890123,\"method\":\"ping\"}",
     RESULT("-12345678901234567890123", "")},
    {"{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"ping\"}", RESULT("\"\"", "")},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
     ERROR("null", "-32600", "the id of a request is a string or an integer")},
    {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
     ERROR("null", "-32600", "the id of a request is a string or an integer")},
    {"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}",
     ERROR("null", "-32600", "the id of a request is a string or an integer")},
    {"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}",
     ERROR("null", "-32600", "the id of a request is a string or an integer")},
    {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
     ERROR("null", "-32600", "the id of a request is a string or an integer")},
    /* Of two equal keys the last counts. */
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", RESULT("2", "")},
    /* No batches. */
    {"[]", ERROR("null", "-32600", "batches are not supported: send one message at a time")},
    {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
     ERROR("null", "-32600", "batches are not supported: send one message at a time")},
    {"7", ERROR("null", "-32600", "a message is a JSON object")},
    {"\"ping\"", ERROR("null", "-32600", "a message is a JSON object")},
    {"null", ERROR("null", "-32600", "a message is a JSON object")},
    {"{}", ERROR("null", "-32600", "\\\"jsonrpc\\\" must be \\\"2.0\\\"")},
    {"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}",
     ERROR("1", "-32600", "\\\"jsonrpc\\\" must be \\\"2.0\\\"")},
    {"{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"ping\"}",
     ERROR("\"a\"", "-32600", "\\\"jsonrpc\\\" must be \\\"2.0\\\"")},
    {"{\"jsonrpc\":\"2.0\",\"id\":1}",
     ERROR("1", "-32600", "a message needs a \\\"method\\\" that is a string")},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}",
     ERROR("1", "-32600", "a message needs a \\\"method\\\" that is a string")},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}",
     ERROR("1", "-32602", "\\\"params\\\" must be an object")},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":3}}",
     ERROR("1", "-32602", "\\\"_meta\\\" must be an object")},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{\"progressToken\":{}"
     "}}}",
     ERROR("1", "-32602", "\\\"progressToken\\\" must be a string or an integer")},
    /* Not JSON. */
    {"", ERROR("null", "-32700", "not JSON: expected a value, but the text ends, at byte 0")},
    {"{\"jsonrpc\":",
     ERROR("null", "-32700", "not JSON: expected a value, but the text ends, at byte 11")},
    {"\xff", ERROR("null", "-32700", "not JSON: expected a value, found byte 0xFF, at byte 0")},
    /* Notifications and answers get no answer, whatever is wrong with them. */
    {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", ""},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"no such thing\",\"params\":7}", ""},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}", ""},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}", ""},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":{}}}",
     ""},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":99}}",
     ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":\"ptc-1\",\"result\":{}}", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":\"ptc-99999999999999999999\",\"result\":{}}", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1}}", ""},
    {"{\"jsonrpc\":\"1.0\",\"id\":null,\"error\":{\"code\":1}}", ""},
    /* Unknown methods, in each era its own. */
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}",
     ERROR("1", "-32601", "this server has no method no/such in protocol 2025-11-25 and older")},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}",
     ERROR("1", "-32601",
           "this server has no method server/discover in protocol 2025-11-25 and older")},
    {REQUEST("1", "ping", MODERN("{}", "")),
     ERROR("1", "-32601", "this server has no method ping in protocol 2026-07-28")},
    {REQUEST("1", "initialize", MODERN("{}", "")),
     ERROR("1", "-32601", "this server has no method initialize in protocol 2026-07-28")},
    {REQUEST("1", "resources/subscribe", MODERN("{}", "")),
     ERROR("1", "-32601", "this server has no method resources/subscribe in protocol 2026-07-28")},
};

#define CAPS                                                                                  \
    "\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{\"listChanged\":true," \
    "\"subscribe\":true},\"prompts\":{\"listChanged\":true},\"completions\":{},\"logging\":{}}"
#define WELCOME(version)                                                                          \
    RESULT("1", "\"protocolVersion\":\"" version "\"," CAPS ",\"serverInfo\":{\"name\":\"help\"," \
                "\"version\":\"1\"}")

static const Exchange handshakes[] = {
    /* The version is agreed upon: the one that was asked for, or our newest. */
    {REQUEST("1", "initialize", "\"protocolVersion\":\"2025-11-25\""), WELCOME("2025-11-25")},
    {REQUEST("1", "initialize", "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}"),
     WELCOME("2025-06-18")},
    {REQUEST("1", "initialize", "\"protocolVersion\":\"2024-11-05\""), WELCOME("2024-11-05")},
    {REQUEST("1", "initialize", "\"protocolVersion\":\"1999-01-01\""), WELCOME("2025-11-25")},
    {REQUEST("1", "initialize", "\"protocolVersion\":\"2026-07-28\""), WELCOME("2025-11-25")},
    {REQUEST("1", "initialize", "\"protocolVersion\":\"\",\"capabilities\":7,\"clientInfo\":[]"),
     WELCOME("2025-11-25")},
    {REQUEST("1", "initialize", "\"protocolVersion\":7"),
     ERROR("1", "-32602", "initialize needs a \\\"protocolVersion\\\" that is a string")},
    {REQUEST("1", "initialize", ""),
     ERROR("1", "-32602", "initialize needs a \\\"protocolVersion\\\" that is a string")},
    /* A claim that is not whole leaves it the legacy handshake. */
    {REQUEST("1", "initialize", "\"protocolVersion\":\"2025-11-25\",\"_meta\":{" META_VERSION "}"),
     WELCOME("2025-11-25")},
    {REQUEST("1", "initialize",
             "\"protocolVersion\":\"2025-11-25\",\"_meta\":{"
             "\"io.modelcontextprotocol/protocolVersion\":7}"),
     WELCOME("2025-11-25")},
    /* After the handshake. */
    {REQUEST("2", "ping", ""), RESULT("2", "")},
    {REQUEST("3", "logging/setLevel", "\"level\":\"warning\""), RESULT("3", "")},
    {REQUEST("3", "logging/setLevel", "\"level\":\"loud\""),
     ERROR("3", "-32602",
           "\\\"level\\\" must be debug, info, notice, warning, error, critical, alert or "
           "emergency")},
    {REQUEST("3", "logging/setLevel", ""), ERROR("3", "-32602",
                                                 "\\\"level\\\" must be debug, info, notice, "
                                                 "warning, error, critical, alert or emergency")},
    {REQUEST("4", "resources/subscribe", "\"uri\":\"r://one\""), RESULT("4", "")},
    {REQUEST("4", "resources/subscribe", "\"uri\":\"r://one\""), RESULT("4", "")},
    {REQUEST("4", "resources/unsubscribe", "\"uri\":\"r://one\""), RESULT("4", "")},
    {REQUEST("4", "resources/unsubscribe", "\"uri\":\"r://never\""), RESULT("4", "")},
    {REQUEST("4", "resources/subscribe", "\"uri\":7"),
     ERROR("4", "-32602", "\\\"uri\\\" must be a string")},
    {REQUEST("4", "resources/subscribe", "\"uri\":\"a\\u0000b\""),
     ERROR("4", "-32602",
           "at most 1024 resources of at most 8192 bytes each can be subscribed to")},
};

static void test_tables(PtcMcp *mcp)
{
    PtcMcpPeer *peer = ptc_mcp_peer_new(mcp, (PtcMcpSink){NULL, NULL});
    check_exchanges(mcp, peer, framing, sizeof framing / sizeof *framing);
    check_exchanges(mcp, peer, handshakes, sizeof handshakes / sizeof *handshakes);
    check_exchanges(mcp, NULL, framing, sizeof framing / sizeof *framing);
    ptc_mcp_peer_free(peer);
}

/* Deep, long and broken: an error each, and the server goes on. */
static void test_hostile(PtcMcp *mcp)
{
    enum { BIG = 1 << 20 };
    static char big[BIG + 100];
    memset(big, '[', BIG);
    CHECK(strstr(tell(mcp, NULL, big), "\"code\":-32700"));
    for (int i = 0; i < BIG; i += 5)
        memcpy(big + i, "{\"a\":", 5);
    big[BIG - 2] = 0;
    CHECK(strstr(tell(mcp, NULL, big), "\"code\":-32700"));
    memset(big, 'a', BIG + 1);
    CHECK_STR(tell(mcp, NULL, big),
              ERROR("null", "-32600", "a message may have at most 1048576 bytes"));
    sprintf(big, "{\"jsonrpc\":\"2.0\",\"id\":\"%0*d\",\"method\":\"%0*d\"}", 5000, 7, 5000, 7);
    CHECK(strstr(tell(mcp, NULL, big), "\"code\":-32601"));
    sprintf(big, "{\"jsonrpc\":\"2.0\",\"id\":\"%0*d\",\"method\":\"ping\"}", 100000, 7);
    CHECK(strstr(tell(mcp, NULL, big), "\"code\":-32603")); /* no answer can hold this id */
    CHECK_STR(tell(mcp, NULL, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\\ud800\"}"),
              ERROR("null", "-32700",
                    "not JSON: half of a surrogate pair is not a character, at byte 37"));
    CHECK_STR(tell(mcp, NULL, REQUEST("1", "ping", "")), RESULT("1", ""));
}

static void test_too_long(PtcMcp *mcp)
{
    PtcMcpCall *call = ptc_mcp_begin_too_long(mcp);
    const PtcBuf *answer = ptc_mcp_answer(call);
    const char want[] = ERROR("null", "-32600", "a message may have at most 1048576 bytes");
    CHECK(answer->len == sizeof want - 1 && memcmp(answer->data, want, answer->len) == 0);
    CHECK(ptc_mcp_http_status(call) == 413 && !ptc_mcp_is_request(call));
    ptc_mcp_call_free(call);
}

/* Rows that would break clients do not get a server. */
static void test_bad_rows(void)
{
    static const struct {
        PtcMcpTool tool;
        const char *why;
    } rows[] = {
        {{.name = "a b", .handler = row_echo}, "a b: a tool's name is 1 to 64 of a-z A-Z 0-9 _ -"},
        {{.name = "", .handler = row_echo}, ": a tool's name is 1 to 64 of a-z A-Z 0-9 _ -"},
        {{.name = NULL, .handler = row_echo},
         "a row without a name: a tool's name is 1 to 64 of a-z A-Z 0-9 _ -"},
        {{.name = "a"}, "a: a tool needs a handler"},
        {{.name = "a", .handler = row_echo, .input_schema = "{"},
         "a: inputSchema: expected a key in quotes, but the text ends"},
        {{.name = "a", .handler = row_echo, .input_schema = "{\"type\":\"string\"}"},
         "a: inputSchema must be an object schema: \"type\":\"object\""},
        {{.name = "a",
          .handler = row_echo,
          .input_schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"int\"}}}"},
         "a: inputSchema: #/properties/n/type: \"int\" is not a type; did you mean integer"},
        {{.name = "a", .handler = row_echo, .output_schema = "[]"},
         "a: outputSchema must be an object schema: \"type\":\"object\""},
        {{.name = "a", .handler = row_echo, .description = "\xff"}, "a: description is not UTF-8"},
    };
    PtcWhy why;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PtcMcpConfig c = {.name = "x", .version = "1", .tools = &rows[i].tool, .tool_count = 1};
        PtcMcp *mcp = ptc_mcp_new(&c, &why);
        CHECK(!mcp);
        CHECK_STR(why.text, rows[i].why);
    }
    PtcMcpTool twice[] = {{.name = "a", .handler = row_echo}, {.name = "a", .handler = row_echo}};
    PtcMcpConfig c = {.name = "x", .version = "1", .tools = twice, .tool_count = 2};
    CHECK(!ptc_mcp_new(&c, &why));
    CHECK_STR(why.text, "a: two tools have this name");
    const char *templates[] = {"t://{", "t://{}", "t://{a}{b}", "t://a}", "t://{a b}"};
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
        PtcMcpTemplate t = {.uri_template = templates[i], .handler = row_read};
        c = (PtcMcpConfig){.name = "x", .version = "1", .templates = &t, .template_count = 1};
        CHECK(!ptc_mcp_new(&c, &why));
    }
    c = (PtcMcpConfig){.name = "x"};
    CHECK(!ptc_mcp_new(&c, &why));
    CHECK_STR(why.text, "a server needs a name and a version");
}

/* A server offers only what it has rows for. */
static void test_bare(void)
{
    PtcMcp *mcp = help_server((PtcMcpConfig){.name = "bare", .version = "0"});
    static const char *const methods[] = {"tools/list",          "tools/call",
                                          "prompts/list",        "resources/list",
                                          "completion/complete", "logging/setLevel"};
    char in[200];
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        sprintf(in, REQUEST("1", "%s", ""), methods[i]);
        CHECK(strstr(tell(mcp, NULL, in), "\"code\":-32601"));
    }
    CHECK(strstr(tell(mcp, NULL, REQUEST("1", "subscriptions/listen", MODERN("{}", ""))),
                 "\"code\":-32601"));
    CHECK(strstr(tell(mcp, NULL, REQUEST("1", "server/discover", MODERN("{}", ""))),
                 "\"capabilities\":{}"));
    ptc_mcp_free(mcp);
}

int main(void)
{
    PtcMcp *mcp = help_server(help_config());
    test_tables(mcp);
    test_hostile(mcp);
    test_too_long(mcp);
    test_bad_rows();
    test_bare();
    ptc_mcp_free(mcp);
    return check_done("mcp_rpc");
}
