/* SPDX-License-Identifier: MIT
 * mcp_help.h - a small server, and messages in, messages out, without a transport. */
#ifndef PTC_TESTS_MCP_HELP_H
#define PTC_TESTS_MCP_HELP_H

#include <stdlib.h>
#include <strings.h>

#include "check.h"
#include "mcp/server/transport.h"
#include "value/coll/map.h"
#include "value/str.h"

/* ------------------------------------------------------------------------------ the server */

static inline void row_echo(PtcMcpCall *call)
{
    PtcText say;
    if (ptc_mcp_arg_text(call, "say", true, &say))
        ptc_mcp_text(call, say.bytes, say.len);
}

static inline void row_data(PtcMcpCall *call)
{
    int64_t n = 0;
    char json[40];
    if (ptc_mcp_arg_int(call, "n", true, &n))
        ptc_mcp_structured(call, json, (size_t)sprintf(json, "{\"n\": %lld}", (long long)n));
}

static inline void row_liar(PtcMcpCall *call)
{
    ptc_mcp_text(call, "no data", 7);
}

static inline void row_fail(PtcMcpCall *call)
{
    ptc_mcp_text(call, "dropped", 7);
    ptc_mcp_structured(call, "{}", 2);
    ptc_mcp_failf(call, "broke at %d%%", 50);
    ptc_mcp_text(call, "too late", 8);
}

static inline void row_steps(PtcMcpCall *call)
{
    double steps[] = {0, 0.5, 0.5, 0.25, 1e20, 2};
    for (size_t i = 0; i < 6; i++)
        ptc_mcp_progress(call, steps[i], i ? -1 : 10, i ? NULL : "go");
    ptc_mcp_log(call, PTC_MCP_DEBUG, NULL, "fine", 4);
    ptc_mcp_log(call, PTC_MCP_ERROR, "me", "bad", 3);
}

static inline void row_ask(PtcMcpCall *call)
{
    PtcValue a, b;
    PtcText state = ptc_mcp_state(call);
    PtcMcpAsk first = ptc_mcp_ask(call, "who", "elicitation/create", "{\"message\":\"?\"}", &a);
    PtcMcpAsk second = ptc_mcp_ask(call, "roots", "roots/list", "{}", &b);
    if (first == PTC_MCP_ASK_UNSUPPORTED || second == PTC_MCP_ASK_UNSUPPORTED)
        ptc_mcp_need(call, "elicitation");
    else if (first == PTC_MCP_ASK_FAILED)
        ptc_mcp_failf(call, "failed: %.*s", a ? (int)ptc_str_len(a) : 1,
                      a ? ptc_str_bytes(a) : "-");
    else if (first == PTC_MCP_ASK_PENDING || second == PTC_MCP_ASK_PENDING)
        ptc_mcp_set_state(call, "S", 1);
    else
        ptc_mcp_textf(call, "state %.*s, %zu fields", (int)state.len,
                      state.bytes ? state.bytes : "", ptc_map_count(a));
}

static inline void row_bytes(PtcMcpCall *call)
{
    ptc_mcp_text(call, "\xff", 1);
}

static inline void row_large(PtcMcpCall *call)
{
    for (int i = 0; i < 200; i++)
        ptc_mcp_text(call, "0123456789012345678901234567890123456789", 40);
}

/* How many members its argument `doc` has as a value, and its text. */
static inline void row_doc(PtcMcpCall *call)
{
    PtcText raw = ptc_mcp_arg_raw(call, "doc");
    PtcValue v = ptc_mcp_arg(call, "doc");
    ptc_mcp_textf(call, "%d %.*s", v != PTC_NONE && ptc_is_map(v) ? (int)ptc_map_count(v) : -1,
                  (int)raw.len, raw.bytes ? raw.bytes : "");
}

static inline void row_read(PtcMcpCall *call)
{
    PtcText id = ptc_mcp_var(call, "id");
    ptc_mcp_contents_text(call, NULL, id.bytes ? id.bytes : "plain", id.bytes ? id.len : 5);
}

static inline void row_prompt(PtcMcpCall *call)
{
    PtcText who;
    if (ptc_mcp_arg_text(call, "who", true, &who))
        ptc_mcp_message_text(call, "user", who.bytes, who.len);
}

static inline void row_complete(PtcMcpCall *call)
{
    PtcText name, typed, other;
    ptc_mcp_completing(call, &name, &typed);
    ptc_mcp_suggest(call, name.bytes, name.len);
    ptc_mcp_suggest(call, typed.bytes, typed.len);
    if (ptc_mcp_arg_text(call, "other", false, &other) && other.bytes)
        ptc_mcp_suggest(call, other.bytes, other.len);
}

static inline void row_many(PtcMcpCall *call)
{
    for (int i = 0; i < 101; i++)
        ptc_mcp_suggest(call, "x", 1);
}

static const char *const help_raw[] = {"doc", NULL};
static const PtcMcpTool help_tools[] = {
    {.name = "echo",
     .title = "Echo",
     .input_schema = "{ \"type\": \"object\", \"required\": [\"say\"] }",
     .flags = PTC_MCP_READ_ONLY | PTC_MCP_IDEMPOTENT | PTC_MCP_CLOSED_WORLD,
     .handler = row_echo},
    {.name = "data", .output_schema = "{\"type\":\"object\"}", .handler = row_data},
    {.name = "liar", .output_schema = "{\"type\":\"object\"}", .handler = row_liar},
    {.name = "fail", .handler = row_fail},
    {.name = "steps", .handler = row_steps},
    {.name = "ask", .raw = help_raw, .handler = row_ask},
    {.name = "bytes", .handler = row_bytes},
    {.name = "large", .handler = row_large},
    {.name = "doc", .raw = help_raw, .handler = row_doc},
    {.name = "doc_value", .handler = row_doc},
};

static const PtcMcpResource help_resources[] = {
    {"r://one", "one", NULL, NULL, "text/plain", row_read, NULL, 5},
    {"r://two", "two", "Two", "The second", NULL, row_read, NULL, 0},
};

static const PtcMcpTemplate help_templates[] = {
    {.uri_template = "t://{id}/end", .name = "t", .handler = row_read, .complete = row_many},
};

static const PtcMcpPromptArg help_args[] = {{"who", "For whom", true}, {"why", NULL, false}};
static const PtcMcpPrompt help_prompts[] = {
    {"greet", "Greet", "Says hello", help_args, 2, row_prompt, row_complete, NULL},
};

static inline PtcMcpConfig help_config(void)
{
    return (PtcMcpConfig){
        .name = "help",
        .version = "1",
        .tools = help_tools,
        .tool_count = sizeof help_tools / sizeof *help_tools,
        .resources = help_resources,
        .resource_count = 2,
        .templates = help_templates,
        .template_count = 1,
        .prompts = help_prompts,
        .prompt_count = 1,
        .logging = true,
        .list_changed = true,
        .resource_updates = true,
        .max_frame_bytes = 1 << 20,
        .max_answer_bytes = 8000,
        .max_running = 2,
    };
}

/* ------------------------------------------------------------------------------- messages */

/* What came out: messages for the sink and the answer, a line each. */
typedef struct {
    pthread_mutex_t lock;
    char text[1 << 16];
    size_t len;
} Heard;

static inline bool hear(void *user, const char *json, size_t len)
{
    Heard *heard = user;
    pthread_mutex_lock(&heard->lock);
    if (heard->len + len + 2 < sizeof heard->text) {
        memcpy(heard->text + heard->len, json, len);
        heard->len += len;
        heard->text[heard->len++] = '\n';
        heard->text[heard->len] = 0;
    }
    pthread_mutex_unlock(&heard->lock);
    return true;
}

static Heard help_heard = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The headers of HTTP as {name, value, name, value ..., NULL}. */
static inline const char *help_header(void *user, const char *name)
{
    const char *const *h = user;
    for (; h[0]; h += 2)
        if (strcasecmp(h[0], name) == 0)
            return h[1];
    return NULL;
}

/* Handles one message to its end; returns all that was said because of it. */
static inline const char *tell_in(PtcMcp *mcp, PtcMcpIn in, int *status)
{
    Heard *heard = &help_heard;
    heard->len = 0;
    heard->text[0] = 0;
    in.sink = (PtcMcpSink){hear, heard};
    PtcMcpCall *call = ptc_mcp_begin(mcp, &in);
    if (!call)
        return "no call";
    ptc_mcp_run(call);
    const PtcBuf *answer = ptc_mcp_answer(call);
    if (answer)
        hear(heard, answer->data, answer->len);
    *status = ptc_mcp_http_status(call);
    if (ptc_mcp_next(call) == PTC_MCP_LISTEN && ptc_mcp_listen(call) && in.peer)
        call = NULL;
    ptc_mcp_call_free(call);
    if (heard->len)
        heard->text[heard->len - 1] = 0;
    return heard->text;
}

static inline const char *tell(PtcMcp *mcp, PtcMcpPeer *peer, const char *message)
{
    int status;
    return tell_in(mcp, (PtcMcpIn){.text = message, .len = strlen(message), .peer = peer}, &status);
}

#define META_VERSION "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""
#define META_CAPS(caps) "\"io.modelcontextprotocol/clientCapabilities\":" caps
/* "_meta":{...} of the modern era; more begins with a comma. */
#define MODERN(caps, more) "\"_meta\":{" META_VERSION "," META_CAPS(caps) more "}"
#define INFO \
    "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"help\",\"version\":\"1\"}}"

/* Requests and answers around what matters. */
#define REQUEST(id, method, params) \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" params "}}"
#define RESULT(id, result) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{" result "}}"
#define ERROR(id, code, message)                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code ",\"message\":\"" message "\"}" \
    "}"
#define ERROR_DATA(id, code, message, data)                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code ",\"message\":\"" message "\"," \
    "\"data\":" data "}}"

typedef struct {
    const char *in, *out;
} Exchange;

static inline void check_exchanges(PtcMcp *mcp, PtcMcpPeer *peer, const Exchange *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_str("row", (int)i, rows[i].in, tell(mcp, peer, rows[i].in), rows[i].out);
}

static inline PtcMcp *help_server(PtcMcpConfig config)
{
    PtcWhy why;
    PtcMcp *mcp = ptc_mcp_new(&config, &why);
    if (!mcp) {
        printf("%s\n", why.text);
        exit(1);
    }
    return mcp;
}

#endif
