/* SPDX-License-Identifier: MIT
 * fixture.c - a server with the tools, prompts and resources that the official conformance suite calls, in both eras.
 * Only for tests.  Speaks on stdin and stdout, or HTTP with --http. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "json/write.h"
#include "mcp/app/task_book.h"
#include "mcp/fixture_http.h"
#include "mcp/stdio/stdio.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

#include "mcp/fixture_tasks.h"

#define PNG                                                                                \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJ" \
    "RU5ErkJggg=="
#define WAV "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

static void say(PtcMcpCall *call, const char *text)
{
    ptc_mcp_text(call, text, strlen(text));
}

static PtcText text(const char *s)
{
    return (PtcText){s, strlen(s)};
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* A member of a map, PTC_NONE when it is not there. */
static PtcValue member(PtcMcpCall *call, PtcValue map, const char *name)
{
    PtcValue key = ptc_str_new(ptc_mcp_heap(call), name, strlen(name));
    bool there = map != PTC_NONE && ptc_is_map(map) && key != PTC_NONE;
    return there ? ptc_map_get(ptc_mcp_heap(call), map, key) : PTC_NONE;
}

/* A text of an elicitation's or a sampling's content. */
static PtcText content(PtcMcpCall *call, PtcValue answer, const char *name)
{
    PtcValue v = member(call, member(call, answer, "content"), name);
    return ptc_is_string(v) ? (PtcText){ptc_str_bytes(v), ptc_str_len(v)} : text("unknown");
}

/* -------------------------------------------------------------------------- plain tools */

static void simple_text(PtcMcpCall *call)
{
    say(call, "A plain text, for testing.");
}

static void image(PtcMcpCall *call)
{
    ptc_mcp_image(call, PNG, "image/png");
}

static void audio(PtcMcpCall *call)
{
    ptc_mcp_audio(call, WAV, "audio/wav");
}

static void embedded(PtcMcpCall *call)
{
    ptc_mcp_embed(call, text("test://embedded-resource"), "text/plain", "An embedded text.", 17);
}

static void several(PtcMcpCall *call)
{
    say(call, "A text, an image and a resource:");
    image(call);
    ptc_mcp_embed(call, text("test://mixed-content-resource"), "application/json", "{\"n\":123}",
                  9);
}

static void failing(PtcMcpCall *call)
{
    ptc_mcp_failf(call, "This tool fails, on purpose.");
}

static void logging(PtcMcpCall *call)
{
    static const char *const lines[] = {"begun", "going on", "done"};
    for (int i = 0; i < 3; i++) {
        ptc_mcp_log(call, PTC_MCP_INFO, "fixture", lines[i], strlen(lines[i]));
        sleep_ms(20);
    }
    say(call, "Logged three lines.");
}

static void progressing(PtcMcpCall *call)
{
    for (int i = 0; i <= 100; i += 50) {
        ptc_mcp_progress(call, i, 100, "on the way");
        sleep_ms(20);
    }
    say(call, "Went from 0 to 100.");
}

static void echo(PtcMcpCall *call)
{
    PtcText message;
    if (ptc_mcp_arg_text(call, "message", true, &message))
        ptc_mcp_text(call, message.bytes, message.len);
}

static void typed_args(PtcMcpCall *call)
{
    PtcText s;
    int64_t n = -1;
    bool b = false;
    PtcValue m;
    if (ptc_mcp_arg_text(call, "s", false, &s) && ptc_mcp_arg_int(call, "n", false, &n) &&
        ptc_mcp_arg_bool(call, "b", false, &b) && ptc_mcp_arg_map(call, "m", false, &m))
        ptc_mcp_textf(call, "s=%.*s n=%lld b=%d m=%d", (int)s.len, s.bytes ? s.bytes : "",
                      (long long)n, b, m != PTC_NONE);
}

static void sum(PtcMcpCall *call)
{
    char json[64];
    int64_t a = 0, b = 0;
    if (!ptc_mcp_arg_int(call, "a", true, &a) || !ptc_mcp_arg_int(call, "b", true, &b))
        return;
    int n = snprintf(json, sizeof json, "{\"sum\":%lld}", (long long)((uint64_t)a + (uint64_t)b));
    ptc_mcp_structured(call, json, (size_t)n);
}

/* Until it is cancelled, or as long as the argument says. */
static void slow(PtcMcpCall *call)
{
    int64_t ms = 60000;
    if (!ptc_mcp_arg_int(call, "ms", false, &ms))
        return;
    for (int64_t i = 0; i < ms && !ptc_mcp_cancelled(call); i++)
        sleep_ms(1);
    say(call, ptc_mcp_cancelled(call) ? "cancelled" : "slept");
}

static void large(PtcMcpCall *call)
{
    int64_t n = 0;
    if (!ptc_mcp_arg_int(call, "bytes", true, &n))
        return;
    char *bytes = n >= 0 && n < 1 << 28 ? malloc((size_t)n + 1) : NULL;
    if (!bytes) {
        ptc_mcp_failf(call, "bytes must be 0 to %d", 1 << 28);
        return;
    }
    memset(bytes, 'x', (size_t)n);
    ptc_mcp_text(call, bytes, (size_t)n);
    free(bytes);
}

static void change_tools(PtcMcpCall *call)
{
    ptc_mcp_list_changed(ptc_mcp_server(call), PTC_MCP_TOOLS);
    say(call, "Told everybody.");
}

static void change_prompts(PtcMcpCall *call)
{
    ptc_mcp_list_changed(ptc_mcp_server(call), PTC_MCP_PROMPTS);
    say(call, "Told everybody.");
}

static void change_resource(PtcMcpCall *call)
{
    ptc_mcp_resource_updated(ptc_mcp_server(call), "test://watched-resource");
    say(call, "Told everybody.");
}

/* ------------------------------------------------------------------------------- asking */

static const char ask_name[] =
    "{\"message\":\"What is your name?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":"
    "{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}}";
static const char ask_color[] =
    "{\"message\":\"And your favorite color?\",\"requestedSchema\":{\"type\":\"object\","
    "\"properties\":{\"color\":{\"type\":\"string\"}},\"required\":[\"color\"]}}";
static const char ask_ok[] =
    "{\"message\":\"Shall I?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":"
    "{\"ok\":{\"type\":\"boolean\"}},\"required\":[\"ok\"]}}";
static const char ask_context[] =
    "{\"message\":\"In which context?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":"
    "{\"context\":{\"type\":\"string\"}},\"required\":[\"context\"]}}";
static const char ask_capital[] =
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"
    "\"What is the capital of France?\"}}],\"maxTokens\":100}";

static const char defaults_form[] =
    "{\"message\":\"Please check these\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
    "\"name\":{\"type\":\"string\",\"description\":\"Name\",\"default\":\"John Doe\"},"
    "\"age\":{\"type\":\"integer\",\"description\":\"Age\",\"default\":30},"
    "\"score\":{\"type\":\"number\",\"description\":\"Score\",\"default\":95.5},"
    "\"status\":{\"type\":\"string\",\"description\":\"Status\",\"enum\":[\"active\",\"inactive\","
    "\"pending\"],\"default\":\"active\"},"
    "\"verified\":{\"type\":\"boolean\",\"description\":\"Verified\",\"default\":true}},"
    "\"required\":[]}}";

#define TITLED(list)                                             \
    "{\"" list "\":[{\"const\":\"value1\",\"title\":\"First\"}," \
    "{\"const\":\"value2\",\"title\":\"Second\"},{\"const\":\"value3\",\"title\":\"Third\"}]}"
static const char enums_form[] =
    "{\"message\":\"Please choose\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
    "\"untitledSingle\":{\"type\":\"string\",\"description\":\"One\",\"enum\":[\"option1\","
    "\"option2\",\"option3\"]},"
    "\"titledSingle\":{\"type\":\"string\",\"description\":\"One, with titles\",\"oneOf\":["
    "{\"const\":\"value1\",\"title\":\"First\"},{\"const\":\"value2\",\"title\":\"Second\"},"
    "{\"const\":\"value3\",\"title\":\"Third\"}]},"
    "\"legacyEnum\":{\"type\":\"string\",\"description\":\"One, the old way\",\"enum\":[\"opt1\","
    "\"opt2\",\"opt3\"],\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
    "\"untitledMulti\":{\"type\":\"array\",\"description\":\"Some\",\"minItems\":1,\"maxItems\":3,"
    "\"items\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]}},"
    "\"titledMulti\":{\"type\":\"array\",\"description\":\"Some, with titles\",\"minItems\":1,"
    "\"maxItems\":3,\"items\":" TITLED("anyOf") "}},\"required\":[]}}";

/* Asks; false when there is no answer: the call is then over for this time. */
static bool ask(PtcMcpCall *call, const char *key, const char *method, const char *params,
                PtcValue *answer)
{
    switch (ptc_mcp_ask(call, key, method, params, answer)) {
    case PTC_MCP_ASK_READY: return true;
    case PTC_MCP_ASK_PENDING: return false;
    case PTC_MCP_ASK_UNSUPPORTED:
        ptc_mcp_failf(call, "the client cannot answer %s", method);
        return false;
    default:
        if (*answer != PTC_NONE && ptc_is_string(*answer))
            ptc_mcp_failf(call, "no answer: %.*s", (int)ptc_str_len(*answer),
                          ptc_str_bytes(*answer));
        else
            ptc_mcp_failf(call, "no answer");
        return false;
    }
}

static bool elicit(PtcMcpCall *call, const char *key, const char *params, PtcValue *answer)
{
    return ask(call, key, "elicitation/create", params, answer);
}

/* Appends the value as JSON to a text block. */
static void say_json(PtcMcpCall *call, const char *before, PtcValue v)
{
    PtcBuf buf;
    PtcJsonError error;
    PtcJsonWriter writer = {ptc_mcp_heap(call), -1, NULL};
    ptc_buf_init(&buf, ptc_mcp_heap(call)->pool->mem, 1 << 20);
    ptc_buf_add_cstr(&buf, before);
    if (ptc_json_write(&writer, &buf, v, &error))
        ptc_mcp_text(call, buf.data, buf.len);
    ptc_buf_deinit(&buf);
}

/* {"messages":[...PROMPT...]} or {"message":PROMPT...}: params around an argument. */
static bool wrap_arg(PtcMcpCall *call, const char *name, const char *before, const char *after,
                     PtcBuf *buf)
{
    PtcText arg;
    ptc_buf_init(buf, ptc_mcp_heap(call)->pool->mem, 1 << 20);
    if (!ptc_mcp_arg_text(call, name, true, &arg))
        return false;
    ptc_buf_add_cstr(buf, before);
    ptc_json_write_string(buf, arg.bytes, arg.len);
    ptc_buf_add_cstr(buf, after);
    return ptc_buf_text(buf) != NULL;
}

static void sampling(PtcMcpCall *call)
{
    PtcBuf params;
    PtcValue answer;
    if (wrap_arg(call, "prompt",
                 "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":",
                 "}}],\"maxTokens\":100}", &params) &&
        ask(call, "sample", "sampling/createMessage", params.data, &answer)) {
        PtcText got = content(call, answer, "text");
        ptc_mcp_textf(call, "The model says: %.*s", (int)got.len, got.bytes);
    }
    ptc_buf_deinit(&params);
}

static void elicitation(PtcMcpCall *call)
{
    PtcBuf params;
    PtcValue answer;
    if (wrap_arg(call, "message", "{\"message\":",
                 ",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"response\":"
                 "{\"type\":\"string\",\"description\":\"The answer\"}},\"required\":"
                 "[\"response\"]}}",
                 &params) &&
        elicit(call, "answer", params.data, &answer))
        say_json(call, "The user says: ", answer);
    ptc_buf_deinit(&params);
}

static void elicit_defaults(PtcMcpCall *call)
{
    PtcValue answer;
    if (elicit(call, "form", defaults_form, &answer))
        say_json(call, "The user says: ", answer);
}

static void elicit_enums(PtcMcpCall *call)
{
    PtcValue answer;
    if (elicit(call, "form", enums_form, &answer))
        say_json(call, "The user says: ", answer);
}

static void need_sampling(PtcMcpCall *call)
{
    if (ptc_mcp_client_can(call, "sampling"))
        say(call, "The client can sample.");
    else
        ptc_mcp_need(call, "sampling");
}

static void input_elicitation(PtcMcpCall *call)
{
    PtcValue answer;
    if (!elicit(call, "user_name", ask_name, &answer))
        return;
    PtcText name = content(call, answer, "name");
    ptc_mcp_textf(call, "Hello, %.*s!", (int)name.len, name.bytes);
}

static void input_sampling(PtcMcpCall *call)
{
    PtcValue answer;
    if (!ask(call, "capital_question", "sampling/createMessage", ask_capital, &answer))
        return;
    PtcText got = content(call, answer, "text");
    ptc_mcp_textf(call, "The model says: %.*s", (int)got.len, got.bytes);
}

static size_t root_count(PtcMcpCall *call, PtcValue answer)
{
    PtcValue roots = member(call, answer, "roots");
    return roots != PTC_NONE && ptc_is_sequential(roots) ? ptc_seq_count(roots) : 0;
}

static void input_roots(PtcMcpCall *call)
{
    PtcValue answer;
    if (ask(call, "client_roots", "roots/list", "{}", &answer))
        ptc_mcp_textf(call, "%zu root(s)", root_count(call, answer));
}

/* Both with a state: the one for round trips, the other to be tampered with. */
static void input_state(PtcMcpCall *call)
{
    PtcValue answer;
    PtcText state = ptc_mcp_state(call);
    if (elicit(call, "confirm", ask_ok, &answer) && state.len == 5 &&
        memcmp(state.bytes, "asked", 5) == 0)
        say(call, "state-ok");
    else
        ptc_mcp_set_state(call, "asked", 5);
}

static void input_multiple(PtcMcpCall *call)
{
    PtcValue name, greeting, roots;
    bool have = elicit(call, "user_name", ask_name, &name);
    have &= ask(call, "greeting", "sampling/createMessage", ask_capital, &greeting);
    have &= ask(call, "client_roots", "roots/list", "{}", &roots);
    if (!have) {
        ptc_mcp_set_state(call, "multiple", 8);
        return;
    }
    PtcText who = content(call, name, "name");
    ptc_mcp_textf(call, "%.*s has %zu root(s)", (int)who.len, who.bytes, root_count(call, roots));
}

static void input_rounds(PtcMcpCall *call)
{
    PtcValue answer;
    PtcText state = ptc_mcp_state(call), got;
    if (!state.bytes) { /* round 1 asks for the name */
        if (!elicit(call, "step1", ask_name, &answer))
            ptc_mcp_set_state(call, "1", 1);
        return;
    }
    if (state.bytes[0] == '1') { /* round 2 keeps it and asks for the color */
        if (!elicit(call, "step1", ask_name, &answer)) {
            ptc_mcp_set_state(call, "1", 1);
            return;
        }
        char keep[100];
        got = content(call, answer, "name");
        int n = snprintf(keep, sizeof keep, "2%.*s", (int)got.len, got.bytes);
        ptc_mcp_set_state(call, keep, n < (int)sizeof keep ? (size_t)n : sizeof keep - 1);
        if (elicit(call, "step2", ask_color, &answer))
            say(call, "Both at once.");
        return;
    }
    if (!elicit(call, "step2", ask_color, &answer)) {
        ptc_mcp_set_state(call, state.bytes, state.len);
        return;
    }
    got = content(call, answer, "color");
    ptc_mcp_textf(call, "%.*s likes %.*s", (int)state.len - 1, state.bytes + 1, (int)got.len,
                  got.bytes);
}

/* Asks only for what the client declared. */
static void input_capabilities(PtcMcpCall *call)
{
    PtcValue answer;
    bool asked = false;
    if (ptc_mcp_client_can(call, "elicitation"))
        asked = !elicit(call, "elicit_input", ask_name, &answer);
    if (ptc_mcp_client_can(call, "sampling"))
        asked |= !ask(call, "sample_input", "sampling/createMessage", ask_capital, &answer);
    if (!asked)
        say(call, "Nothing was, or is left to be asked.");
}

/* ---------------------------------------------------------------- resources and prompts */

static void static_text(PtcMcpCall *call)
{
    ptc_mcp_contents_text(call, NULL, "The text of a resource.", 23);
}

static void static_binary(PtcMcpCall *call)
{
    ptc_mcp_contents_blob(call, NULL, PNG);
}

static void template_data(PtcMcpCall *call)
{
    char json[200];
    PtcText id = ptc_mcp_var(call, "id");
    int n = snprintf(json, sizeof json, "{\"id\":\"%.*s\",\"templateTest\":true}",
                     id.len < 100 ? (int)id.len : 100, id.bytes);
    ptc_mcp_contents_text(call, NULL, json, (size_t)n);
}

static void complete_id(PtcMcpCall *call)
{
    char value[16];
    for (int i = 0; i < 150; i++)
        ptc_mcp_suggest(call, value, (size_t)snprintf(value, sizeof value, "%d", i));
}

static void simple_prompt(PtcMcpCall *call)
{
    ptc_mcp_message_text(call, "user", "A plain prompt.", 15);
}

static void prompt_with_args(PtcMcpCall *call)
{
    PtcText a, b;
    PtcBuf buf;
    if (!ptc_mcp_arg_text(call, "arg1", true, &a) || !ptc_mcp_arg_text(call, "arg2", true, &b))
        return;
    ptc_buf_init(&buf, ptc_mcp_heap(call)->pool->mem, 1 << 20);
    if (ptc_buf_addf(&buf, "With arg1='%.*s' and arg2='%.*s'", (int)a.len, a.bytes, (int)b.len,
                     b.bytes))
        ptc_mcp_message_text(call, "user", buf.data, buf.len);
    ptc_buf_deinit(&buf);
}

static void complete_arg(PtcMcpCall *call)
{
    static const char *const words[] = {"paris", "park", "party"};
    PtcText name, typed;
    ptc_mcp_completing(call, &name, &typed);
    for (int i = 0; i < 3; i++)
        if (typed.len <= strlen(words[i]) && memcmp(words[i], typed.bytes, typed.len) == 0)
            ptc_mcp_suggest(call, words[i], strlen(words[i]));
}

static void prompt_with_resource(PtcMcpCall *call)
{
    PtcText uri;
    if (!ptc_mcp_arg_text(call, "resourceUri", true, &uri))
        return;
    ptc_mcp_message_embed(call, "user", uri, "text/plain", "The resource.", 13);
    ptc_mcp_message_text(call, "user", "Please read the resource above.", 31);
}

static void prompt_with_image(PtcMcpCall *call)
{
    ptc_mcp_message_image(call, "user", PNG, "image/png");
    ptc_mcp_message_text(call, "user", "Please look at the image above.", 31);
}

static void input_prompt(PtcMcpCall *call)
{
    PtcValue answer;
    char line[200];
    switch (ptc_mcp_ask(call, "user_context", "elicitation/create", ask_context, &answer)) {
    case PTC_MCP_ASK_READY: break;
    case PTC_MCP_ASK_PENDING: return;
    default: ptc_mcp_need(call, "elicitation"); return;
    }
    PtcText got = content(call, answer, "context");
    int n = snprintf(line, sizeof line, "In the context of %.*s",
                     got.len < 100 ? (int)got.len : 100, got.bytes);
    ptc_mcp_message_text(call, "user", line, (size_t)n);
}

/* --------------------------------------------------------------------------------- rows */

#define STRING_ARG(name)                                                                      \
    "{\"type\":\"object\",\"properties\":{\"" name "\":{\"type\":\"string\",\"description\":" \
    "\"The " name "\"}},\"required\":[\"" name "\"]}"

static const char wide_schema[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",\"$defs\":"
    "{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{\"street\":"
    "{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},\"properties\":{\"name\":"
    "{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},\"contactMethod\":"
    "{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},\"phone\":{\"type\":\"string\"},"
    "\"email\":{\"type\":\"string\"}},\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},"
    "{\"required\":[\"email\"]}]}],\"if\":{\"properties\":{\"contactMethod\":{\"const\":"
    "\"phone\"}},\"required\":[\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},\"else\":"
    "{\"required\":[\"email\"]},\"additionalProperties\":false}";

#define PLAIN(name_, what_, handler_)                            \
    {                                                            \
        .name = name_, .description = what_, .handler = handler_ \
    }
#define TOOL(name_, what_, handler_)                                                         \
    {                                                                                        \
        .name = name_, .description = what_, .flags = PTC_MCP_READ_ONLY, .handler = handler_ \
    }

static const PtcMcpTool tools[] = {
    TOOL("test_simple_text", "A text", simple_text),
    TOOL("test_image_content", "An image", image),
    {.name = "test_headers",
     .description = "Wants some of its arguments in headers",
     .input_schema =
         "{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\",\"x-mcp-header\":"
         "\"Region\"},\"where\":{\"type\":\"object\",\"properties\":{\"floor\":{\"type\":"
         "\"integer\","
         "\"x-mcp-header\":\"Floor\"},\"dry\":{\"type\":\"boolean\",\"x-mcp-header\":\"Dry\"}}},"
         "\"query\":{\"type\":\"string\"}}}",
     .flags = PTC_MCP_READ_ONLY,
     .handler = simple_text},
    TOOL("test_audio_content", "A sound", audio),
    TOOL("test_embedded_resource", "A resource", embedded),
    TOOL("test_multiple_content_types", "A text, an image and a resource", several),
    PLAIN("test_tool_with_logging", "Logs three lines", logging),
    TOOL("test_tool_with_progress", "Reports progress three times", progressing),
    TOOL("test_error_handling", "Fails", failing),
    {.name = "test_sampling",
     .description = "Asks the client's model",
     .input_schema = STRING_ARG("prompt"),
     .handler = sampling},
    {.name = "test_elicitation",
     .description = "Asks the user",
     .input_schema = STRING_ARG("message"),
     .handler = elicitation},
    PLAIN("test_elicitation_sep1034_defaults", "A form with defaults", elicit_defaults),
    PLAIN("test_elicitation_sep1330_enums", "A form with choices", elicit_enums),
    {.name = "json_schema_2020_12_tool",
     .description = "Has a schema with everything",
     .input_schema = wide_schema,
     .handler = simple_text},
    TOOL("test_missing_capability", "Needs sampling", need_sampling),
    TOOL("test_input_required_result_elicitation", "Asks for a name", input_elicitation),
    TOOL("test_input_required_result_sampling", "Asks the model", input_sampling),
    TOOL("test_input_required_result_list_roots", "Asks for the roots", input_roots),
    TOOL("test_input_required_result_request_state", "Keeps a state", input_state),
    TOOL("test_input_required_result_multiple_inputs", "Asks three things", input_multiple),
    TOOL("test_input_required_result_multi_round", "Asks twice", input_rounds),
    TOOL("test_input_required_result_tampered_state", "Guards a state", input_state),
    TOOL("test_input_required_result_capabilities", "Asks what it may", input_capabilities),
    PLAIN("test_streaming_elicitation", "Asks on a stream", input_elicitation),
    PLAIN("test_logging_tool", "Logs when it may", logging),
    TOOL("test_trigger_tool_change", "Says that tools changed", change_tools),
    TOOL("test_trigger_prompt_change", "Says that prompts changed", change_prompts),
    TOOL("test_trigger_resource_change", "Says that a resource changed", change_resource),
    {.name = "echo",
     .title = "Echo",
     .description = "Says what it is told",
     .input_schema = STRING_ARG("message"),
     .flags = PTC_MCP_READ_ONLY | PTC_MCP_IDEMPOTENT | PTC_MCP_CLOSED_WORLD,
     .handler = echo},
    {.name = "sum",
     .description = "Adds two integers",
     .input_schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":"
                     "{\"type\":\"integer\"}},\"required\":[\"a\",\"b\"]}",
     .output_schema = "{\"type\":\"object\",\"properties\":{\"sum\":{\"type\":\"integer\"}},"
                      "\"required\":[\"sum\"]}",
     .flags = PTC_MCP_READ_ONLY | PTC_MCP_IDEMPOTENT | PTC_MCP_CLOSED_WORLD,
     .handler = sum},
    {.name = "typed_args",
     .description = "Has optional arguments of all types",
     .input_schema = "{\"type\":\"object\",\"properties\":{\"s\":{\"type\":\"string\"},\"n\":"
                     "{\"type\":\"integer\"},\"b\":{\"type\":\"boolean\"},\"m\":{\"type\":"
                     "\"object\"}}}",
     .handler = typed_args},
    {.name = "slow",
     .description = "Takes its time",
     .input_schema = "{\"type\":\"object\",\"properties\":{\"ms\":{\"type\":\"integer\"}}}",
     .handler = slow},
    {.name = "large",
     .description = "Answers with so many bytes",
     .input_schema = "{\"type\":\"object\",\"properties\":{\"bytes\":{\"type\":\"integer\"}},"
                     "\"required\":[\"bytes\"]}",
     .handler = large},
    TASK_TOOLS,
};

static const PtcMcpResource resources[] = {
    {"test://static-text", "static-text", "A text", "A text that never changes", "text/plain",
     static_text, NULL, 60000},
    {"test://static-binary", "static-binary", "An image", "An image that never changes",
     "image/png", static_binary, NULL, 0},
    {"test://watched-resource", "watched-resource", "A watched text", "Can be subscribed to",
     "text/plain", static_text, NULL, 0},
};

static const PtcMcpTemplate templates[] = {
    {.uri_template = "test://template/{id}/data",
     .name = "template",
     .title = "By number",
     .description = "Has a variable",
     .mime = "application/json",
     .handler = template_data,
     .complete = complete_id},
};

static const PtcMcpPromptArg two_args[] = {{"arg1", "The first", true},
                                           {"arg2", "The second", true}};
static const PtcMcpPromptArg uri_arg[] = {{"resourceUri", "What to embed", true}};

static const PtcMcpPrompt prompts[] = {
    {"test_simple_prompt", "Plain", "A plain prompt", NULL, 0, simple_prompt, NULL, NULL},
    {"test_prompt_with_arguments", "Arguments", "Has two arguments", two_args, 2, prompt_with_args,
     complete_arg, NULL},
    {"test_prompt_with_embedded_resource", "Resource", "Embeds a resource", uri_arg, 1,
     prompt_with_resource, NULL, NULL},
    {"test_prompt_with_image", "Image", "Has an image", NULL, 0, prompt_with_image, NULL, NULL},
    {"test_input_required_result_prompt", "Asks", "Asks for a context", NULL, 0, input_prompt, NULL,
     NULL},
};

static const PtcMcpConfig config = {
    .name = "ptc-mcp-fixture",
    .version = "1.0.0",
    .title = "Fixture",
    .instructions = "For tests only.",
    .tools = tools,
    .tool_count = sizeof tools / sizeof *tools,
    .resources = resources,
    .resource_count = sizeof resources / sizeof *resources,
    .templates = templates,
    .template_count = sizeof templates / sizeof *templates,
    .prompts = prompts,
    .prompt_count = sizeof prompts / sizeof *prompts,
    .logging = true,
    .list_changed = true,
    .resource_updates = true,
};

/* For tests of limits: --page N, --running N, --waiting N, --frame N, --write-ms N. */
static void take_options(int argc, char **argv, PtcMcpConfig *c, PtcMcpStdio *io)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        long n = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--page") == 0)
            c->page_size = (size_t)n;
        else if (strcmp(argv[i], "--running") == 0)
            c->max_running = (unsigned)n;
        else if (strcmp(argv[i], "--waiting") == 0)
            c->max_waiting = n ? (unsigned)n : PTC_MCP_NO_WAITING;
        else if (strcmp(argv[i], "--frame") == 0)
            c->max_frame_bytes = (size_t)n;
        else if (strcmp(argv[i], "--write-ms") == 0)
            io->write_ms = n;
    }
}

static int serve_stdio(PtcMcp *mcp, const PtcMcpStdio *io)
{
    int error = ptc_mcp_stdio_serve(mcp, io);
    if (error)
        fprintf(stderr, "fixture: %s\n", strerror(error));
    return error != 0;
}

int main(int argc, char **argv)
{
    PtcWhy why;
    PtcMcpConfig c = config;
    PtcMcpStdio io;
    if (!ptc_mcp_stdio_open(&io)) {
        perror("fixture");
        return 1;
    }
    take_options(argc, argv, &c, &io);
    PtcTaskBook book;
    PtcStore *store = ptc_store_open(&(PtcStoreConfig){0}, &why);
    if (!store) {
        fprintf(stderr, "fixture: %s\n", why.text);
        return 1;
    }
    ptc_task_book_init(&book, store, 100);
    c.book = &book.book;
    PtcMcp *mcp = ptc_mcp_new(&c, &why);
    if (!mcp) {
        fprintf(stderr, "fixture: %s\n", why.text);
        return 1;
    }
    int failed =
        http_option(argc, argv, "--http") ? serve_http(mcp, argc, argv) : serve_stdio(mcp, &io);
    ptc_mcp_free(mcp);
    ptc_store_free(store);
    return failed;
}
