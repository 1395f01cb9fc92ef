/* SPDX-License-Identifier: MIT
 * What clients and their models read about the tools: descriptions and schemas.  What always holds: schemas are flat
 * objects without references, because several clients drop anything else. */
#include "mcp/app/app_int.h"

#include "tool/toolset.h"
#include "tool/wire/card.h"

enum { TOOLS_BYTES = 6 * PTC_KB, SENTENCE = 160 };

/* ----------------------------------------------------------------------------------- schemas */

#define STRING(text) "{\"type\":\"string\",\"description\":\"" text "\"}"
#define OBJECT(members, required)                                                    \
    "{\"type\":\"object\",\"properties\":{" members "},\"required\":[" required "]," \
    "\"additionalProperties\":false}"
#define SESSION_ID "\"session_id\":" STRING("from lisp_session_start")
#define PROGRAM \
    "\"program\":" STRING("PTC-Lisp source; the value of the last expression is the answer")
#define EVAL_ARGS                                                                                  \
    PROGRAM ","                                                                                    \
            "\"context\":{\"type\":\"object\",\"description\":\"values for the program: key k is " \
            "data/k\","                                                                            \
            "\"additionalProperties\":true},"                                                      \
            "\"signature\":" STRING("what the result must be, such as {count :int, names "         \
                                    "[:string]}") ","                                              \
                                                  "\"output_schema\":{\"type\":\"object\","        \
                                                  "\"description\":\"the same as JSON Schema; "    \
                                                  "give one of "                                   \
                                                  "the two\",\"additionalProperties\":true}"

/* With other servers: a dry run, and going on with a run that waits for a person. */
#define UPSTREAM_ARGS                                                                          \
    ",\"dry_run\":{\"type\":\"string\",\"enum\":[\"plan\",\"reads\"],\"description\":\"plan: " \
    "list calls, make none; reads: stop before the first that is no read\"}"
#define RESUME_ARG ",\"resume\":" STRING("token of an answer that said suspended; alone")

#define NUMBER "{\"type\":\"integer\"}"
#define TEXT "{\"type\":\"string\"}"
#define FLAG "{\"type\":\"boolean\"}"
#define TEXTS "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
#define ANY_OBJECT "{\"type\":\"object\",\"additionalProperties\":true}"
#define LIST_OF(item) "{\"type\":\"array\",\"items\":" item "}"
#define OUTPUT(members, required) \
    "{\"type\":\"object\",\"properties\":{" members "},\"required\":[" required "]}"

#define CUT_MEMBERS                                                                            \
    "\"warnings\":" LIST_OF(ANY_OBJECT) ",\"truncated\":" FLAG ",\"prints_truncated\":" FLAG   \
                                        ",\"result_bytes\":" NUMBER ",\"next_offset\":" NUMBER \
                                        ",\"prints_next_offset\":" NUMBER                      \
                                        ",\"result_handle\":" TEXT
/* `validated`, and the `result` of the slim profile, may be anything.  Some clients build types from a schema and drop
 * members that it does not name, others complain about `{}` or a list of types; so each type is named, and the items of
 * an array are objects or anything else. */
#define ANY                                                                          \
    "{\"anyOf\":[" ANY_OBJECT                                                        \
    "," LIST_OF("{\"anyOf\":[" ANY_OBJECT                                            \
                ",{\"not\":{\"type\":\"object\"}}]}") "," TEXT "," NUMBER            \
                                                      ",{\"type\":\"number\"}," FLAG \
                                                      ",{\"type\":\"null\"}]}"
#define MORE_MEMBERS                                                                       \
    "\"status\":" TEXT ",\"result\":" TEXT ",\"prints\":" TEXTS ",\"session\":" ANY_OBJECT \
    ",\"validated\":" ANY ",\"changed_keys\":" TEXTS ",\"stored_keys\":" TEXTS             \
    ",\"validated_preview\":" TEXT ",\"validated_preview_truncated\":" FLAG                \
    ",\"validated_bytes\":" NUMBER ",\"output_truncated\":" FLAG "," CUT_MEMBERS

#define EVAL_OUTPUTS(more)                                                                         \
    {                                                                                              \
        [PTC_APP_SLIM] = OUTPUT("\"result\":" ANY ",\"prints\":" TEXTS ",\"stored\":" TEXTS        \
                                "," CUT_MEMBERS more,                                              \
                                "\"result\""),                                                     \
        [PTC_APP_STRUCTURED] = OUTPUT(MORE_MEMBERS more, "\"status\",\"result\""),                 \
        [PTC_APP_DEBUG] = OUTPUT(                                                                  \
            MORE_MEMBERS more                                                                      \
            ",\"feedback\":" TEXT ",\"memory\":" ANY_OBJECT                                        \
            ",\"tool_calls\":" LIST_OF(ANY_OBJECT) ",\"metrics\":" ANY_OBJECT                      \
                                                   ",\"upstream_calls\":" LIST_OF(                 \
                                                       ANY_OBJECT) ",\"ptc_metrics\":" ANY_OBJECT, \
            "\"status\",\"result\",\"prints\",\"truncated\""),                                     \
    }
/* By whether programs can call other servers, and by profile. */
static const char *const eval_output[2][3] = {EVAL_OUTPUTS(""),
                                              EVAL_OUTPUTS(",\"effects\":" ANY_OBJECT)};

/* ---------------------------------------------------------------------------------- the rows */

enum {
    PURE = PTC_MCP_READ_ONLY | PTC_MCP_NOT_DESTRUCTIVE | PTC_MCP_IDEMPOTENT | PTC_MCP_CLOSED_WORLD
};

/* These are parsed by whoever runs the program. */
static const char *const raw_args[] = {"context", "output_schema", NULL};

static const PtcMcpTool eval_row = {
    .name = "lisp_eval",
    .title = "Run a PTC-Lisp program",
    .input_schema = OBJECT(EVAL_ARGS, "\"program\""),
    .raw = raw_args,
    .handler = ptc_app_eval,
    .task = PTC_MCP_TASK_MAY,
};

static const PtcMcpTool page_row = {
    .name = "lisp_result_page",
    .title = "More of a large result",
    .description =
        "Gives the rest of a result that was cut, page by page: handle is the result_handle "
        "of the answer, offset its next_offset, then that of the page before. A program "
        "that filters or counts is usually the better way.",
    .input_schema = OBJECT(
        "\"handle\":" STRING(
            "result_handle of the answer that was cut") ","
                                                        "\"offset\":{\"type\":\"integer\","
                                                        "\"minimum\":0,\"description\":\"in bytes; "
                                                        "0\"},"
                                                        "\"limit\":{\"type\":\"integer\","
                                                        "\"minimum\":1,\"maximum\":65536,"
                                                        "\"description\":"
                                                        "\"bytes at most; 16384\"},"
                                                        "\"part\":{\"type\":\"string\",\"enum\":["
                                                        "\"result\",\"json\",\"prints\"],"
                                                        "\"description\":\"result: as printed; "
                                                        "json: as JSON; prints: what was "
                                                        "printed\"}",
        "\"handle\""),
    .output_schema = OUTPUT("\"part\":" TEXT ",\"offset\":" NUMBER ",\"total_bytes\":" NUMBER
                            ",\"next_offset\":" NUMBER ",\"text\":" TEXT,
                            "\"part\",\"offset\",\"total_bytes\",\"text\""),
    .flags = PURE,
    .handler = ptc_app_page,
};

static const PtcMcpTool debug_row = {
    .name = "lisp_debug",
    .title = "What was called lately",
    .description = "Tells about your calls on this server: op stats (counts, times, reasons of "
                   "errors), recent (the last calls), get (one call, by request_id).",
    .input_schema = OBJECT(
        "\"op\":{\"type\":\"string\",\"enum\":[\"stats\",\"recent\",\"get\"]},"
        "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":200,\"description\":"
        "\"recent: how many; 20\"},"
        "\"errors_only\":{\"type\":\"boolean\",\"description\":\"recent: failures only\"},"
        "\"since_seconds\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"recent: not "
        "older than this\"},"
        "\"request_id\":" STRING("get: from recent"),
        "\"op\""),
    .output_schema = OUTPUT("\"op\":" TEXT ",\"payload_policy\":" TEXT ",\"ring_size\":" NUMBER
                            ",\"calls\":" NUMBER ",\"count\":" NUMBER ",\"trace_dir_enabled\":" FLAG
                            ",\"by_tool\":" ANY_OBJECT ",\"errors\":" ANY_OBJECT
                            ",\"upstream_calls\":" ANY_OBJECT ",\"payload_reduction\":" ANY_OBJECT
                            ",\"upstreams\":" LIST_OF(ANY_OBJECT) ",\"records\":" LIST_OF(
                                ANY_OBJECT) ",\"record\":" ANY_OBJECT,
                            "\"op\",\"payload_policy\""),
    .flags = PURE & ~PTC_MCP_IDEMPOTENT,
    .handler = ptc_app_debug,
};

static const PtcMcpTool session_rows[] = {
    {
        .name = "lisp_session_start",
        .title = "Begin a session",
        .description =
            "Begins a session, in which what programs def stays for later programs. Give "
            "its session_id to lisp_session_eval; close it when done.",
        .input_schema =
            OBJECT("\"title\":" STRING(
                       "to know it again in lisp_session_list") ","
                                                                "\"ttl_ms\":{\"type\":\"integer\","
                                                                "\"minimum\":1,\"description\":"
                                                                "\"ends it earlier than the server "
                                                                "would\"}",
                   ""),
        .output_schema =
            OUTPUT("\"session_id\":" TEXT ",\"expires_at\":" TEXT ",\"limits\":" ANY_OBJECT,
                   "\"session_id\",\"expires_at\",\"limits\""),
        .flags = PTC_MCP_NOT_DESTRUCTIVE | PTC_MCP_CLOSED_WORLD,
        .handler = ptc_app_session_start,
    },
    {
        .name = "lisp_session_eval",
        .title = "Run a program in a session",
        .description =
            "Like lisp_eval, which says what the language is, but in a session: what (def "
            "...) and (defn ...) name stays for later programs, and *1 *2 *3 are the last "
            "results. A program that fails changes nothing. One program at a time.",
        .input_schema = OBJECT(SESSION_ID "," EVAL_ARGS, "\"session_id\",\"program\""),
        .raw = raw_args,
        .handler = ptc_app_session_eval,
    },
    {
        .name = "lisp_session_inspect",
        .title = "What a session holds",
        .description =
            "Lists the bindings of a session with type, size and a short preview, and the "
            "last results.",
        .input_schema = OBJECT(SESSION_ID, "\"session_id\""),
        .output_schema = OUTPUT(
            "\"session\":" ANY_OBJECT ",\"count\":" NUMBER ",\"bytes\":" NUMBER ",\"limit\":" NUMBER
            ",\"bindings\":" LIST_OF(ANY_OBJECT) ",\"history\":" LIST_OF(ANY_OBJECT),
            "\"session\""),
        .flags = PURE,
        .handler = ptc_app_session_inspect,
    },
    {
        .name = "lisp_session_list",
        .title = "Your sessions",
        .description = "Lists your sessions, last used first, without what they hold.",
        .input_schema = OBJECT("", ""),
        .output_schema = OUTPUT("\"count\":" NUMBER ",\"sessions\":" LIST_OF(ANY_OBJECT),
                                "\"count\",\"sessions\""),
        .flags = PURE,
        .handler = ptc_app_session_list,
    },
    {
        .name = "lisp_session_forget",
        .title = "Forget bindings",
        .description =
            "Removes bindings from a session: those named, or everything with all: true.",
        .input_schema = OBJECT(
            SESSION_ID ",\"bindings\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
                       "\"maxItems\":100,\"description\":\"names\"},"
                       "\"all\":{\"type\":\"boolean\",\"description\":\"everything, the last "
                       "results too\"}",
            "\"session_id\""),
        .output_schema = OUTPUT("\"session_id\":" TEXT ",\"forgotten\":" NUMBER
                                ",\"bindings\":" NUMBER ",\"bytes\":" NUMBER,
                                "\"session_id\",\"forgotten\""),
        .flags = PTC_MCP_IDEMPOTENT | PTC_MCP_CLOSED_WORLD,
        .handler = ptc_app_session_forget,
    },
    {
        .name = "lisp_session_close",
        .title = "End a session",
        .description = "Ends a session; what it holds is gone.",
        .input_schema = OBJECT(SESSION_ID, "\"session_id\""),
        .output_schema =
            OUTPUT("\"session_id\":" TEXT ",\"closed\":" FLAG, "\"session_id\",\"closed\""),
        .flags = PTC_MCP_IDEMPOTENT | PTC_MCP_CLOSED_WORLD,
        .handler = ptc_app_session_close,
    },
};

/* ------------------------------------------------------------------------------- descriptions */

/* Up to the first full stop, or cut at SENTENCE bytes. */
static size_t sentence(const char *text)
{
    size_t n = 0;
    while (text[n] && text[n] != '\n' && n < SENTENCE &&
           !(text[n] == '.' && (!text[n + 1] || text[n + 1] == ' ')))
        n++;
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return n;
}

/* Bounded, because a description is sent with every conversation. */
static void add_tools_text(PtcBuf *out, const PtcTools *tools)
{
    size_t begin = out->len, count = ptc_tools_count(tools);
    ptc_buf_add_cstr(out, "\nTools:\n");
    for (size_t i = 0; i < count; i++) {
        const char *about = ptc_tools_description(tools, i),
                   *signature = ptc_tools_signature(tools, i);
        ptc_buf_addf(out, "tool/%s%s%s", ptc_tools_name(tools, i), *signature ? " " : "",
                     signature);
        bool whole = tools->items[i].info.told_whole;
        ptc_buf_addf(out, "%s%.*s\n", *about ? ": " : "",
                     PTC_ARG_OF(about, whole ? strlen(about) : sentence(about)));
        if (out->len - begin > TOOLS_BYTES && i + 1 < count) {
            ptc_buf_addf(out, "and %zu more: (apropos \"\")\n", count - i - 1);
            break;
        }
    }
}

static void describe_eval(const PtcAppConfig *c, PtcBuf *out)
{
    bool tools = c->tools && ptc_tools_count(c->tools);
    bool others = c->about_upstreams && *c->about_upstreams;
    if (c->limits && c->limits->timeout_ms > 0 && c->limits->memory_bytes > 0)
        ptc_card_add(out, tools, others, c->limits->timeout_ms, c->limits->memory_bytes);
    else
        ptc_buf_add_cstr(out, ptc_card_text(tools, others));
    if (tools)
        add_tools_text(out, c->tools);
    if (c->about_data && *c->about_data) {
        ptc_buf_add_cstr(out, "\nBesides the context, programs see these, already loaded:\n");
        ptc_buf_add_cstr(out, c->about_data);
    }
    if (others)
        ptc_buf_addf(out, "\n%s", c->about_upstreams);
    if (out->len && out->data[out->len - 1] == '\n')
        out->len--;
}

/* Running a program in a session changes the session. */
enum { SESSION_FLAGS = PTC_MCP_NOT_DESTRUCTIVE | PTC_MCP_CLOSED_WORLD };

static void add_app_tool_row(PtcApp *app, const PtcMcpTool *row)
{
    PtcMcpTool *to = &app->tools[app->tool_count++];
    *to = *row;
    to->user = app;
    to->refuse = ptc_app_refuse;
}

/* What running a program may do: as much as the tools it can call. */
static unsigned eval_flags(const PtcAppConfig *c)
{
    const PtcTools *tools = c->tools;
    unsigned flags = PURE;
    if (c->about_upstreams && *c->about_upstreams)
        flags &= ~PTC_MCP_CLOSED_WORLD;
    if (c->upstreams_change)
        flags = 0;
    for (size_t i = 0; tools && i < tools->count; i++) {
        const PtcToolInfo *info = &tools->items[i].info;
        if (!info->inside)
            flags &= ~PTC_MCP_CLOSED_WORLD;
        if (!info->read_only)
            flags &= ~(PTC_MCP_READ_ONLY | PTC_MCP_NOT_DESTRUCTIVE);
        if (!info->read_only && !info->idempotent)
            flags &= ~PTC_MCP_IDEMPOTENT;
    }
    return flags;
}

bool ptc_app_rows(PtcApp *app)
{
    const PtcAppConfig *c = &app->config;
    unsigned flags = eval_flags(c);
    describe_eval(c, &app->description);
    add_app_tool_row(app, &eval_row);
    app->tools[0].description = ptc_buf_text(&app->description);
    app->tools[0].output_schema = eval_output[c->remote != NULL][c->profile];
    if (c->remote) /* the program is not required: `resume` may take its place */
        app->tools[0].input_schema = OBJECT(EVAL_ARGS UPSTREAM_ARGS RESUME_ARG, "");
    app->tools[0].flags = flags;
    for (size_t i = 0; c->sessions && i < sizeof session_rows / sizeof *session_rows; i++) {
        add_app_tool_row(app, &session_rows[i]);
        PtcMcpTool *row = &app->tools[app->tool_count - 1];
        if (row->handler != ptc_app_session_eval)
            continue;
        row->output_schema = eval_output[c->remote != NULL][c->profile];
        if (c->remote)
            row->input_schema =
                OBJECT(SESSION_ID "," EVAL_ARGS UPSTREAM_ARGS, "\"session_id\",\"program\"");
        row->flags = flags & SESSION_FLAGS;
    }
    add_app_tool_row(app, &page_row);
    PtcMcpTool task;
    if (c->tasks.run && !ptc_app_task_row(app, &task))
        return false;
    if (c->tasks.run)
        add_app_tool_row(app, &task);
    if (c->debug_tool)
        add_app_tool_row(app, &debug_row);
    return ptc_buf_ok(&app->description);
}

void ptc_app_retell(PtcApp *app, const char *about, bool change)
{
    PtcAppConfig c = app->config;
    PtcMcpTool tools[PTC_APP_TOOLS];
    PtcBuf description, task;
    c.about_upstreams = about;
    c.upstreams_change = change;
    unsigned flags = eval_flags(&c);
    ptc_buf_init(&description, &app->mem, app->description.max);
    ptc_buf_init(&task, &app->mem, app->task_description.max);
    describe_eval(&c, &description);
    if (c.tasks.run)
        ptc_app_describe_task(app, &task);
    memcpy(tools, app->tools, sizeof tools);
    tools[0].description = ptc_buf_text(&description);
    tools[0].flags = flags;
    for (size_t i = 0; i < app->tool_count; i++) {
        if (tools[i].handler == ptc_app_session_eval)
            tools[i].flags = flags & SESSION_FLAGS;
        if (tools[i].handler == ptc_app_task && ptc_buf_text(&task))
            tools[i].description = ptc_buf_text(&task);
    }
    if (tools[0].description)
        (void)!ptc_mcp_retell_tools(app->mcp, tools);
    ptc_buf_deinit(&description);
    ptc_buf_deinit(&task);
}
