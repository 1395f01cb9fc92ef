/* SPDX-License-Identifier: MIT
 * MCP: tools, resources, prompts, completions, lists, progress and log, in both eras. */
#include "mcp_help.h"

#define M MODERN("{}", "")
#define TOOL_CALL(name, rest) REQUEST("1", "tools/call", "\"name\":\"" name "\"" rest)
#define TEXT_BLOCK(text) "\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]"

static const Exchange calls[] = {
    /* What every modern result has and no legacy one. */
    {TOOL_CALL("echo", ",\"arguments\":{\"say\":\"a\\\"\\u0000\\ud83d\\ude00\"}"),
     RESULT("1", TEXT_BLOCK("a\\\"\\u0000\xf0\x9f\x98\x80"))},
    {TOOL_CALL("echo", ",\"arguments\":{\"say\":\"a\"}," M),
     RESULT("1", "\"resultType\":\"complete\"," TEXT_BLOCK("a") "," INFO)},
    /* The text block repeats structured content. */
    {TOOL_CALL("data", ",\"arguments\":{\"n\":7}"),
     RESULT("1", TEXT_BLOCK("{\\\"n\\\": 7}") ",\"structuredContent\":{\"n\": 7}")},
    {TOOL_CALL("data", ",\"arguments\":{\"n\":7.0}," M),
     RESULT("1", "\"resultType\":\"complete\"," TEXT_BLOCK(
                     "{\\\"n\\\": 7}") ",\"structuredContent\":{\"n\": 7}," INFO)},
    {TOOL_CALL("liar", ""), ERROR("1", "-32603", "liar promises structured content and gave none")},
    /* Failures are for the model to see, unknown tools are not. */
    {TOOL_CALL("fail", ""), RESULT("1", TEXT_BLOCK("broke at 50%") ",\"isError\":true")},
    {TOOL_CALL("echo", ""),
     RESULT("1",
            TEXT_BLOCK("wrong arguments: the key \\\"say\\\" is missing") ",\"isError\":true")},
    {TOOL_CALL("echo", ",\"arguments\":null"),
     RESULT("1",
            TEXT_BLOCK("wrong arguments: the key \\\"say\\\" is missing") ",\"isError\":true")},
    {TOOL_CALL("echo", ",\"arguments\":{\"say\":null}"),
     RESULT("1",
            TEXT_BLOCK("argument \\\"say\\\" is required and was not given") ",\"isError\":true")},
    {TOOL_CALL("echo", ",\"arguments\":{\"say\":{}}"),
     RESULT("1", TEXT_BLOCK("argument \\\"say\\\" must be a string") ",\"isError\":true")},
    {TOOL_CALL("data", ",\"arguments\":{\"n\":1.5}"),
     RESULT("1", TEXT_BLOCK("argument \\\"n\\\" must be an integer") ",\"isError\":true")},
    {TOOL_CALL("data", ",\"arguments\":{\"n\":99999999999999999999}"),
     RESULT("1", TEXT_BLOCK("argument \\\"n\\\" must be an integer") ",\"isError\":true")},
    {TOOL_CALL("ecco", ""), ERROR("1", "-32602", "there is no tool ecco; did you mean echo?")},
    {TOOL_CALL("zzzzzzzzzz", "," M), ERROR("1", "-32602", "there is no tool zzzzzzzzzz")},
    {TOOL_CALL("", ""), ERROR("1", "-32602", "there is no tool ")},
    {REQUEST("1", "tools/call", ""), ERROR("1", "-32602", "\\\"name\\\" must be a string")},
    {REQUEST("1", "tools/call", "\"name\":[]"),
     ERROR("1", "-32602", "\\\"name\\\" must be a string")},
    {TOOL_CALL("echo", ",\"arguments\":[]"),
     ERROR("1", "-32602", "\\\"arguments\\\" must be an object")},
    {TOOL_CALL("echo", ",\"arguments\":\"say\""),
     ERROR("1", "-32602", "\\\"arguments\\\" must be an object")},
    /* Faults of handlers. */
    {TOOL_CALL("bytes", ""),
     ERROR("1", "-32603", "the handler answered with bytes that are not UTF-8")},
    {TOOL_CALL("large", ""), ERROR("1", "-32603", "the answer would be larger than 8000 bytes")},
};

static const Exchange reads[] = {
    {REQUEST("1", "resources/read", "\"uri\":\"r://one\""),
     RESULT("1",
            "\"contents\":[{\"uri\":\"r://one\",\"mimeType\":\"text/plain\",\"text\":\"plain\"}]")},
    {REQUEST("1", "resources/read", "\"uri\":\"r://one\"," M),
     RESULT("1", "\"resultType\":\"complete\",\"contents\":[{\"uri\":\"r://"
                 "one\",\"mimeType\":\"text/plain\","
                 "\"text\":\"plain\"}],\"ttlMs\":5,\"cacheScope\":\"private\"," INFO)},
    {REQUEST("1", "resources/read", "\"uri\":\"t://a b/end\""),
     RESULT("1", "\"contents\":[{\"uri\":\"t://a b/end\",\"text\":\"a b\"}]")},
    {REQUEST("1", "resources/read", "\"uri\":\"t:///end\""),
     ERROR_DATA("1", "-32002", "there is no resource t:///end", "{\"uri\":\"t:///end\"}")},
    {REQUEST("1", "resources/read", "\"uri\":\"t://a/b/end\""),
     ERROR_DATA("1", "-32002", "there is no resource t://a/b/end", "{\"uri\":\"t://a/b/end\"}")},
    {REQUEST("1", "resources/read", "\"uri\":\"t://a/end2\""),
     ERROR_DATA("1", "-32002", "there is no resource t://a/end2", "{\"uri\":\"t://a/end2\"}")},
    {REQUEST("1", "resources/read", "\"uri\":\"r://none\"," M),
     ERROR_DATA("1", "-32602", "there is no resource r://none", "{\"uri\":\"r://none\"}")},
    {REQUEST("1", "resources/read", "\"uri\":7"),
     ERROR("1", "-32602", "\\\"uri\\\" must be a string")},
    /* prompts */
    {REQUEST("1", "prompts/get", "\"name\":\"greet\",\"arguments\":{\"who\":\"Ada\"}"),
     RESULT("1",
            "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"Ada\"}}]")},
    {REQUEST("1", "prompts/get", "\"name\":\"greet\",\"arguments\":{\"who\":\"Ada\"}," M),
     RESULT("1", "\"resultType\":\"complete\",\"messages\":[{\"role\":\"user\",\"content\":{"
                 "\"type\":\"text\","
                 "\"text\":\"Ada\"}}]," INFO)},
    {REQUEST("1", "prompts/get", "\"name\":\"greet\""),
     ERROR("1", "-32602", "the prompt greet needs the argument \\\"who\\\"")},
    {REQUEST("1", "prompts/get", "\"name\":\"greet\",\"arguments\":{\"who\":7}"),
     ERROR("1", "-32602", "the arguments of a prompt are strings")},
    {REQUEST("1", "prompts/get", "\"name\":\"gret\""),
     ERROR("1", "-32602", "there is no prompt gret; did you mean greet?")},
    {REQUEST("1", "prompts/get", "\"name\":7"),
     ERROR("1", "-32602", "\\\"name\\\" must be a string")},
    /* completions */
    {REQUEST("1", "completion/complete",
             "\"ref\":{\"type\":\"ref/"
             "prompt\",\"name\":\"greet\"},\"argument\":{\"name\":\"who\",\"value\":\"A\"},"
             "\"context\":{\"arguments\":{\"other\":\"o\"}}"),
     RESULT("1",
            "\"completion\":{\"values\":[\"who\",\"A\",\"o\"],\"total\":3,\"hasMore\":false}")},
    {REQUEST("1", "completion/complete",
             "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"r://"
             "one\"},\"argument\":{\"name\":\"x\",\"value\":\"\"}," M),
     RESULT("1", "\"resultType\":\"complete\",\"completion\":{\"values\":[],\"total\":0,"
                 "\"hasMore\":false}," INFO)},
    {REQUEST("1", "completion/complete",
             "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"r://"
             "no\"},\"argument\":{\"name\":\"x\",\"value\":\"\"}"),
     ERROR_DATA("1", "-32002", "there is no resource r://no", "{\"uri\":\"r://no\"}")},
    {REQUEST("1", "completion/complete",
             "\"ref\":{\"type\":\"ref/resource\"},\"argument\":{\"name\":\"x\",\"value\":\"\"}"),
     ERROR("1", "-32602", "a reference to a resource needs its \\\"uri\\\"")},
    {REQUEST("1", "completion/complete",
             "\"ref\":{\"type\":\"ref/"
             "prompt\",\"name\":[]},\"argument\":{\"name\":\"x\",\"value\":\"\"}"),
     ERROR("1", "-32602", "a reference to a prompt needs its \\\"name\\\"")},
    {REQUEST("1", "completion/complete", "\"ref\":7,\"argument\":{\"name\":\"x\",\"value\":\"\"}"),
     ERROR("1", "-32602", "\\\"ref\\\" must have the \\\"type\\\" ref/prompt or ref/resource")},
    {REQUEST("1", "completion/complete",
             "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"greet\"},\"argument\":[]"),
     ERROR("1", "-32602",
           "\\\"argument\\\" must have a \\\"name\\\" and a \\\"value\\\", both strings")},
    {REQUEST("1", "completion/complete",
             "\"ref\":{\"type\":\"ref/"
             "prompt\",\"name\":\"greet\"},\"argument\":{\"name\":\"x\",\"value\":\"\"},"
             "\"context\":{\"arguments\":7}"),
     ERROR("1", "-32602", "\\\"arguments\\\" must be an object")},
};

#define RESOURCES                                                                        \
    "\"resources\":[{\"uri\":\"r://one\",\"name\":\"one\",\"mimeType\":\"text/plain\"}," \
    "{\"uri\":\"r://two\",\"name\":\"two\",\"title\":\"Two\",\"description\":\"The second\"}]"
#define PROMPTS                                                                            \
    "\"prompts\":[{\"name\":\"greet\",\"title\":\"Greet\",\"description\":\"Says hello\"," \
    "\"arguments\":[{\"name\":\"who\",\"description\":\"For whom\",\"required\":true},"    \
    "{\"name\":\"why\",\"required\":false}]}]"
#define HINTS "\"ttlMs\":300000,\"cacheScope\":\"public\","

static const Exchange lists[] = {
    {REQUEST("1", "resources/list", ""), RESULT("1", RESOURCES)},
    {REQUEST("1", "resources/list", M),
     RESULT("1", "\"resultType\":\"complete\"," RESOURCES "," HINTS INFO)},
    {REQUEST("1", "prompts/list", ""), RESULT("1", PROMPTS)},
    {REQUEST("1", "prompts/list", M),
     RESULT("1", "\"resultType\":\"complete\"," PROMPTS "," HINTS INFO)},
    {REQUEST("1", "resources/templates/list", ""),
     RESULT("1", "\"resourceTemplates\":[{\"uriTemplate\":\"t://{id}/end\",\"name\":\"t\"}]")},
    /* Cursors that the server did not give. */
    {REQUEST("1", "resources/list", "\"cursor\":\"\""), RESULT("1", RESOURCES)},
    {REQUEST("1", "resources/list", "\"cursor\":\"x\""),
     ERROR("1", "-32602", "this cursor is not one that this server gave for this list")},
    {REQUEST("1", "resources/list", "\"cursor\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"," M),
     ERROR("1", "-32602", "this cursor is not one that this server gave for this list")},
    {REQUEST("1", "resources/list", "\"cursor\":7"),
     ERROR("1", "-32602", "this cursor is not one that this server gave for this list")},
    {REQUEST("1", "resources/list", "\"cursor\":null"),
     ERROR("1", "-32602", "this cursor is not one that this server gave for this list")},
};

#define PROGRESS(n, rest)                              \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" \
    "progress\",\"params\":{\"progressToken\":\"p\","  \
    "\"progress\":" n rest "}}\n"
#define LOG(level, rest)                                                                       \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"" level \
    "\"," rest "}}\n"
#define LEVEL(level) ",\"io.modelcontextprotocol/logLevel\":\"" level "\""

static const Exchange streams[] = {
    /* Progress: only with a token, only forward. */
    {TOOL_CALL("steps", ",\"_meta\":{\"progressToken\":\"p\"}"),
     PROGRESS("0", ",\"total\":10,\"message\":\"go\"") PROGRESS("0.5", "") PROGRESS("1.0e20", "")
         LOG("error", "\"logger\":\"me\",\"data\":\"bad\"") RESULT("1", "\"content\":[]")},
    {TOOL_CALL("steps", ""),
     LOG("error", "\"logger\":\"me\",\"data\":\"bad\"") RESULT("1", "\"content\":[]")},
    /* Modern: log only when the request says so. */
    {TOOL_CALL("steps", "," M), RESULT("1", "\"resultType\":\"complete\",\"content\":[]," INFO)},
    {TOOL_CALL("steps", "," MODERN("{}", LEVEL("debug"))),
     LOG("debug", "\"data\":\"fine\"") LOG("error", "\"logger\":\"me\",\"data\":\"bad\"")
         RESULT("1", "\"resultType\":\"complete\",\"content\":[]," INFO)},
    {TOOL_CALL("steps", "," MODERN("{}", LEVEL("alert"))),
     RESULT("1", "\"resultType\":\"complete\",\"content\":[]," INFO)},
};

/* The tools as clients see them. */
static void test_tools_list(PtcMcp *mcp)
{
    static char first[1 << 14];
    strcpy(first, tell(mcp, NULL, REQUEST("1", "tools/list", "")));
    CHECK_STR(tell(mcp, NULL, REQUEST("1", "tools/list", "")), first);
    CHECK(strstr(
        first,
        "{\"name\":\"echo\",\"title\":\"Echo\",\"inputSchema\":{\"type\":\"object\",\"required\":"
        "[\"say\"]},\"annotations\":{\"title\":\"Echo\",\"readOnlyHint\":true,\"destructiveHint\":"
        "false,\"idempotentHint\":true,\"openWorldHint\":false}},{\"name\":\"data\","
        "\"inputSchema\":"
        "{\"type\":\"object\",\"properties\":{}},"
        "\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":true,\"idempotentHint\":false,"
        "\"openWorldHint\":true},\"outputSchema\":{\"type\":\"object\"}}"));
}

/* Walks a list in pages; returns the number of pages, and the names seen. */
static int walk(PtcMcp *mcp, const char *method, char *cursor_out)
{
    char in[400], cursor[200] = "";
    int pages = 0;
    for (;;) {
        sprintf(in, REQUEST("1", "%s", "\"cursor\":\"%s\""), method, cursor);
        const char *out = tell(mcp, NULL, in), *next = strstr(out, "\"nextCursor\":\"");
        pages++;
        if (!next || pages > 100)
            return pages;
        sscanf(next + 14, "%199[^\"]", cursor);
        strcpy(cursor_out, cursor);
    }
}

#define DOC(tool, arguments) \
    REQUEST("1", "tools/call", "\"name\":\"" tool "\",\"arguments\":{" arguments "}")
#define SAID(text) RESULT("1", "\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]")

/* Arguments that stay text: for the rows that want them so, and only where they are objects. */
static const Exchange raws[] = {
    {DOC("doc", "\"doc\":{\"a\": [1,\t2]}"), SAID("0 {\\\"a\\\": [1,\\t2]}")},
    {DOC("doc", "\"do\\u0063\":{}"), SAID("0 {}")},
    {DOC("doc", "\"doc\":{\"a\":1},\"doc\":{}"), SAID("0 {}")},
    {DOC("doc", "\"doc\":{\"a\":1},\"doc\":null"), SAID("-1 ")},
    {DOC("doc", "\"doc\":[{\"a\":1}]"), SAID("-1 ")},
    {DOC("doc", "\"other\":{\"doc\":{}}"), SAID("-1 ")},
    {DOC("doc_value", "\"n\":7,\"doc\":{\"a\":1}"), SAID("1 ")},
    {REQUEST("1", "prompts/get",
             "\"name\":\"greet\",\"arguments\":{\"who\":\"x\",\"doc\":{\"a\":1}}"),
     ERROR("1", "-32602", "the arguments of a prompt are strings")},
};

static void test_pages(void)
{
    PtcMcpConfig c = help_config();
    char cursor[200], in[400];
    c.page_size = 3;
    PtcMcp *mcp = help_server(c), *other = help_server(c);
    CHECK(walk(mcp, "tools/list", cursor) == 4);
    CHECK(walk(mcp, "prompts/list", cursor) == 1);
    c.page_size = 1;
    PtcMcp *single = help_server(c);
    CHECK(walk(single, "resources/list", cursor) == 2);
    /* A cursor is for its list and its server only. */
    sprintf(in, REQUEST("1", "resources/list", "\"cursor\":\"%s\""), cursor);
    CHECK(strstr(tell(single, NULL, in), "\"resources\":[{\"uri\":\"r://two\""));
    CHECK(strstr(tell(other, NULL, in), "\"code\":-32602"));
    sprintf(in, REQUEST("1", "tools/list", "\"cursor\":\"%s\""), cursor);
    CHECK(strstr(tell(single, NULL, in), "\"code\":-32602"));
    cursor[5] = cursor[5] == 'A' ? 'B' : 'A';
    sprintf(in, REQUEST("1", "resources/list", "\"cursor\":\"%s\""), cursor);
    CHECK(strstr(tell(single, NULL, in), "\"code\":-32602"));
    ptc_mcp_free(mcp);
    ptc_mcp_free(other);
    ptc_mcp_free(single);
}

static void test_completion_limit(PtcMcp *mcp)
{
    const char *out = tell(mcp, NULL,
                           REQUEST("1", "completion/complete",
                                   "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"t://{id}/end\"},"
                                   "\"argument\":{\"name\":\"id\",\"value\":\"\"}"));
    CHECK(strstr(out, "\"x\"],\"total\":101,\"hasMore\":true}"));
    int values = 0;
    for (const char *p = out; (p = strstr(p, "\"x\"")); p++)
        values++;
    CHECK(values == 100);
}

/* Data of this many bytes, on one line or not. */
static void row_wide(PtcMcpCall *call)
{
    static char json[9000];
    int64_t bytes = 0;
    PtcText before;
    if (!ptc_mcp_arg_int(call, "bytes", true, &bytes) ||
        !ptc_mcp_arg_text(call, "before", true, &before))
        return;
    memset(json, 'x', sizeof json);
    memcpy(json, "{\"a\":", 5);
    memcpy(json + 5, before.bytes, before.len);
    json[5 + before.len] = '"';
    memcpy(json + bytes - 2, "\"}", 2);
    ptc_mcp_structured(call, json, (size_t)bytes);
}

/* Data that do not fit are an error, not an answer without them. */
static void test_wide_data(void)
{
    PtcMcpTool row = {.name = "wide", .handler = row_wide};
    PtcMcp *mcp = help_server((PtcMcpConfig){
        .name = "help", .version = "1", .tools = &row, .tool_count = 1, .max_answer_bytes = 8000});
    static const char *const calls_of[] = {
        TOOL_CALL("wide", ",\"arguments\":{\"bytes\":8001,\"before\":\"\"}"),
        TOOL_CALL("wide", ",\"arguments\":{\"bytes\":8002,\"before\":\"\\n\"}"),
        TOOL_CALL("wide", ",\"arguments\":{\"bytes\":8000,\"before\":\"\"}")};
    for (size_t i = 0; i < 3; i++)
        CHECK_STR(
            tell(mcp, NULL, calls_of[i]),
            i < 2 ? ERROR("1", "-32603", "structured content: the JSON is longer than 8000 bytes")
                  : ERROR("1", "-32603", "the answer would be larger than 8000 bytes"));
    CHECK(strstr(
        tell(mcp, NULL, TOOL_CALL("wide", ",\"arguments\":{\"bytes\":3000,\"before\":\"\"}")),
        "\"structuredContent\":{\"a\":\"xx"));
    ptc_mcp_free(mcp);
}

int main(void)
{
    PtcMcp *mcp = help_server(help_config());
    check_exchanges(mcp, NULL, calls, sizeof calls / sizeof *calls);
    check_exchanges(mcp, NULL, reads, sizeof reads / sizeof *reads);
    check_exchanges(mcp, NULL, lists, sizeof lists / sizeof *lists);
    check_exchanges(mcp, NULL, streams, sizeof streams / sizeof *streams);
    check_exchanges(mcp, NULL, raws, sizeof raws / sizeof *raws);
    test_tools_list(mcp);
    test_pages();
    test_completion_limit(mcp);
    test_wide_data();
    ptc_mcp_free(mcp);
    return check_done("mcp_calls");
}
