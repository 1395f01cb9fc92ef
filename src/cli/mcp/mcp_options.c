/* SPDX-License-Identifier: MIT
 * The options of `ptc mcp`: one table for the configuration file, the environment and the command line.  What always
 * holds: the command line wins over the environment, which wins over the file; a misspelt name is an error in all
 * three. */
#include "cli/mcp/mcp_options.h"
#include "cli/cmd/db_in.h"
#include "cli/out/otlp_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/text/nearest.h"
#include "cli/io.h"
#include "json/parse.h"
#include "mcp/http/http.h"
#include "value/coll/map.h"
#include "value/str.h"

extern char **environ;

#define MCP_AT(field) offsetof(PtcMcpOptions, field)
#define DAY_MS ((int64_t)24 * 3600 * 1000)
#define GIB ((int64_t)1 << 30)
#define ENV "PTC_MCP_"

/* Each can also be set in the environment (--max-sessions is PTC_MCP_MAX_SESSIONS) and in the configuration file. */
#define MCP_CLIENTS                                                                               \
    "claude-code|claude-desktop|cursor|vscode|codex|gemini|opencode|windsurf|zed|cline|continue|" \
    "goose|lmstudio"

static const PtcOption table[] = {
    {"http", 0, PTC_OPTION_TEXT, MCP_AT(http), "HOST:PORT",
     "serve Streamable HTTP at this address instead of stdio", 0, 0,
     PTC_GROUP_HTTP | PTC_GROUP_COMMON},
    {"token-file", 0, PTC_OPTION_TEXT, MCP_AT(token_file), "FILE",
     "bearer tokens for --http, one TOKEN or OWNER TOKEN per line; or one token in PTC_MCP_TOKEN",
     0, 0, PTC_GROUP_HTTP | PTC_GROUP_COMMON},
    {"allow-host", 0, PTC_OPTION_LIST, MCP_AT(hosts), "NAME",
     "another name of this server, for --http", 0, 0, PTC_GROUP_HTTP},
    {"allow-origin", 0, PTC_OPTION_LIST, MCP_AT(origins), "ORIGIN",
     "pages from this origin may call, such as https://app.example.com", 0, 0, PTC_GROUP_HTTP},
    {"stateless", 0, PTC_OPTION_FLAG, MCP_AT(stateless), NULL,
     "with --http: no protocol sessions for clients older than 2026", 0, 0, PTC_GROUP_HTTP},
    {"owner-share", 0, PTC_OPTION_INT, MCP_AT(owner_share), "N",
     "percent of calls, connections and sessions that one owner may take when there are several", 1,
     100, PTC_GROUP_HTTP},
    {"owner-calls", 0, PTC_OPTION_INT, MCP_AT(owner_calls), "N",
     "with --http: calls that one owner may have at once, on all servers with one --store", 1,
     100000, PTC_GROUP_HTTP},
    {"owner-rate", 0, PTC_OPTION_INT, MCP_AT(owner_rate), "N",
     "with --http: calls that one owner may make in a minute, on all servers with one --store", 1,
     10 * PTC_MILLION, PTC_GROUP_HTTP},
    {"log-format", 0, PTC_OPTION_CHOICE, MCP_AT(log_format), "text|json",
     "with --http: how the request log is written", 0, 0, PTC_GROUP_HTTP},
    {"max-connections", 0, PTC_OPTION_INT, MCP_AT(max_connections), "N",
     "with --http: connections at once", 1, 10000, PTC_GROUP_HTTP},
    {"request-ms", 0, PTC_OPTION_INT, MCP_AT(request_ms), "N",
     "with --http: time for a whole request to arrive", 1, DAY_MS, PTC_GROUP_HTTP},
    {"send-ms", 0, PTC_OPTION_INT, MCP_AT(send_ms), "N",
     "with --http: time for the client to read an answer", 1, DAY_MS, PTC_GROUP_HTTP},
    {"leave-ms", 0, PTC_OPTION_INT, MCP_AT(leave_ms), "N",
     "with --http: how long calls are still taken after SIGTERM, while /ready says no", 0, DAY_MS,
     PTC_GROUP_HTTP},
    {"drain-ms", 0, PTC_OPTION_INT, MCP_AT(drain_ms), "N",
     "with --http: time for running calls to end when the server is asked to stop", 1, DAY_MS,
     PTC_GROUP_HTTP},
    {"tools", 0, PTC_OPTION_TEXT, MCP_AT(tools), "@FILE",
     "tools that programs may call (ptc docs tools)", 0, 0, PTC_GROUP_PROGRAMS | PTC_GROUP_COMMON},
    {"db", 0, PTC_OPTION_LIST, MCP_AT(dbs), "NAME=URL", PTC_DB_IN_HELP, 0, 0, PTC_GROUP_PROGRAMS},
    {"data", 0, PTC_OPTION_LIST, MCP_AT(data), "NAME=@FILE",
     "a file of JSON, JSON Lines, CSV or lines that programs see as data/NAME", 0, 0,
     PTC_GROUP_PROGRAMS | PTC_GROUP_COMMON},
    PTC_UPSTREAMS_ROWS(MCP_AT(upstreams)),
    {"upstream-idle-ms", 0, PTC_OPTION_INT, MCP_AT(upstreams.idle_ms), "N",
     "with --http: end the upstreams of an owner who has called nothing for this long (1800000)",
     1000, 7 * 24 * 3600 * 1000, PTC_GROUP_UPSTREAMS},
    {"approval-ttl-ms", 0, PTC_OPTION_INT, MCP_AT(approval_ttl_ms), "N",
     "how long a question to a person waits for an answer", 1, DAY_MS, PTC_GROUP_APPROVALS},
    {"approval-wait-ms", 0, PTC_OPTION_INT, MCP_AT(approval_wait_ms), "N",
     "how long a call of a client older than 2026 waits for that before it answers suspended", 1,
     DAY_MS, PTC_GROUP_APPROVALS},
    {"tasks-after-ms", 0, PTC_OPTION_INT, MCP_AT(task_after_ms), "N",
     "a call that takes so long becomes a task of MCP, for clients that know them", 1, DAY_MS,
     PTC_GROUP_SERVING},
    {"tasks-max-ms", 0, PTC_OPTION_INT, MCP_AT(task_max_ms), "N", "how long such a task may take",
     1, DAY_MS, PTC_GROUP_SERVING},
    {"tasks-ttl-ms", 0, PTC_OPTION_INT, MCP_AT(task_ttl_ms), "N",
     "how long it is kept, from its creation", 1, 30 * DAY_MS, PTC_GROUP_SERVING},
    {"lease-ms", 0, PTC_OPTION_INT, MCP_AT(lease_ms), "N",
     "such a task has failed when its server was not heard of for so long", 2000, DAY_MS,
     PTC_GROUP_SERVING},
    PTC_MCP_TASK_ROWS(MCP_AT(task)),
    {"sessions", 0, PTC_OPTION_FLAG, MCP_AT(sessions), NULL,
     "offer sessions: programs that build on each other", 0, 0,
     PTC_GROUP_SESSIONS | PTC_GROUP_COMMON},
    PTC_STORE_ROWS(MCP_AT(store), PTC_GROUP_SESSIONS),
    {"session-store", 0, PTC_OPTION_TEXT, MCP_AT(store.url), "URL", "the same as --store", 0, 0,
     PTC_GROUP_SESSIONS},
    {"session-wait-ms", 0, PTC_OPTION_INT, MCP_AT(session_wait_ms), "N",
     "how long a call waits for a session that another one uses (5000)", 1, DAY_MS,
     PTC_GROUP_SESSIONS},
    {"max-sessions", 0, PTC_OPTION_INT, MCP_AT(max_sessions), "N", "sessions at once", 1, 100000,
     PTC_GROUP_SESSIONS},
    {"session-ttl-ms", 0, PTC_OPTION_INT, MCP_AT(session_ttl_ms), "N", "how long a session lives",
     1, 365 * DAY_MS, PTC_GROUP_SESSIONS},
    {"session-idle-ms", 0, PTC_OPTION_INT, MCP_AT(session_idle_ms), "N",
     "how long a session lives while nobody uses it", 1, 365 * DAY_MS, PTC_GROUP_SESSIONS},
    {"session-memory-kb", 0, PTC_OPTION_INT, MCP_AT(session_memory_kb), "N",
     "KiB that one session may take", 1, 1 << 20, PTC_GROUP_SESSIONS},
    {"sessions-memory-mb", 0, PTC_OPTION_INT, MCP_AT(sessions_memory_mb), "N",
     "MiB that all sessions together may take", 1, 1 << 20, PTC_GROUP_SESSIONS},
    {"profile", 0, PTC_OPTION_CHOICE, MCP_AT(profile), "slim|structured|debug",
     "how much detail answers have (slim; debug with --debug-tool)", 0, 0, PTC_GROUP_SERVING},
    {"structured", 0, PTC_OPTION_CHOICE, MCP_AT(structured), "auto|always|never",
     "structured content beside the text; auto: not for clients that show a model both", 0, 0,
     PTC_GROUP_SERVING},
    {"debug-tool", 0, PTC_OPTION_FLAG, MCP_AT(debug_tool), NULL,
     "offer lisp_debug, which tells what was called recently", 0, 0, PTC_GROUP_TRACES},
    {"debug-ring", 0, PTC_OPTION_INT, MCP_AT(debug_ring), "N", "calls that lisp_debug remembers",
     10, 5000, PTC_GROUP_TRACES},
    {"trace-dir", 0, PTC_OPTION_TEXT, MCP_AT(trace_dir), "DIR",
     "write a JSON Lines file for each call", 0, 0, PTC_GROUP_TRACES},
    {"trace-payloads", 0, PTC_OPTION_CHOICE, MCP_AT(trace_payloads), "none|summary|full",
     "how much traces and lisp_debug show of programs and results", 0, 0, PTC_GROUP_TRACES},
    {"trace-max-files", 0, PTC_OPTION_INT, MCP_AT(trace_max_files), "N",
     "traces to keep; older ones are removed", 1, 100000, PTC_GROUP_TRACES},
    PTC_OTLP_ROW(MCP_AT(otlp), PTC_GROUP_TRACES),
    {"max-concurrent-calls", 0, PTC_OPTION_INT, MCP_AT(max_running), "N",
     "calls that run at once (the number of cores)", 1, 1024, PTC_GROUP_SERVING},
    {"max-queued-calls", 0, PTC_OPTION_INT, MCP_AT(max_waiting), "N",
     "calls that may wait; further ones are refused as busy", 0, 10000, PTC_GROUP_SERVING},
    {"queue-ms", 0, PTC_OPTION_INT, MCP_AT(queue_ms), "N",
     "how long a call waits for its turn before it is refused as busy", 1, DAY_MS,
     PTC_GROUP_SERVING},
    {"max-frame-bytes", 0, PTC_OPTION_INT, MCP_AT(max_frame_bytes), "N",
     "largest size of a message", 1024, GIB, PTC_GROUP_SERVING},
    {"max-program-bytes", 0, PTC_OPTION_INT, MCP_AT(max_program_bytes), "N",
     "largest size of a program", 1, 64 << 20, PTC_GROUP_PROGRAMS},
    {"max-context-bytes", 0, PTC_OPTION_INT, MCP_AT(max_context_bytes), "N",
     "largest size of a context", 2, GIB, PTC_GROUP_PROGRAMS},
    {"program-timeout-ms", 0, PTC_OPTION_INT, MCP_AT(program_timeout_ms), "N",
     "compute time of one program (1000; 5000 with upstreams)", 1, DAY_MS, PTC_GROUP_PROGRAMS},
    {"program-memory-mb", 0, PTC_OPTION_INT, MCP_AT(program_memory_mb), "N",
     "live memory of one program, in MiB (10; 64 with upstreams)", 1, 1 << 20, PTC_GROUP_PROGRAMS},
    {"max-tool-calls", 0, PTC_OPTION_INT, MCP_AT(max_tool_calls), "N",
     "tool calls in one program (no limit)", 0, 1 << 30, PTC_GROUP_PROGRAMS},
    PTC_OPTION_CHECK(MCP_AT(check), PTC_GROUP_PROGRAMS),
    {"progress-ms", 0, PTC_OPTION_INT, MCP_AT(progress_ms), "N",
     "time between progress notifications, for clients that ask for them", 1, DAY_MS,
     PTC_GROUP_SERVING},
    {"isolation", 0, PTC_OPTION_CHOICE, MCP_AT(isolation), "auto|on|none",
     "run programs in locked-down processes; auto: if the system can (auto; on with --http)", 0, 0,
     PTC_GROUP_PROGRAMS},
    {"quiet", 0, PTC_OPTION_FLAG, MCP_AT(quiet), NULL, "no request log with --http", 0, 0,
     PTC_GROUP_HTTP},
    {"config", 0, PTC_OPTION_TEXT, MCP_AT(config), "FILE",
     "a JSON object with any of these options", 0, 0, PTC_GROUP_SERVING | PTC_GROUP_COMMON},
    {"print-config", 0, PTC_OPTION_CHOICE, MCP_AT(print_config), MCP_CLIENTS,
     "print what to paste into a client's configuration", 0, 0,
     PTC_GROUP_SERVING | PTC_GROUP_COMMON},
    {"install", 0, PTC_OPTION_CHOICE, MCP_AT(install), MCP_CLIENTS,
     "write that into the client's own file, after making a copy of it", 0, 0,
     PTC_GROUP_SERVING | PTC_GROUP_COMMON},
};

_Static_assert(PTC_MCP_PROGRAM_MS == 1000 && PTC_MCP_PROGRAM_MB == 10,
               "the help of --program-timeout-ms and --program-memory-mb has these numbers");

/* What the transport uses for limits that are not given. */
static void resolve_mcp_limits(void *target)
{
    PtcMcpOptions *o = target;
    const PtcHttpConfig *d = &ptc_http_defaults;
    o->max_connections = o->max_connections ? o->max_connections : d->max_connections;
    o->request_ms = o->request_ms ? o->request_ms : d->request_ms;
    o->send_ms = o->send_ms ? o->send_ms : d->send_ms;
    o->leave_ms = o->leave_ms >= 0 ? o->leave_ms : d->leave_ms;
    o->drain_ms = o->drain_ms ? o->drain_ms : d->drain_ms;
    o->task.max_turns = o->task.max_turns < 0 ? 1 : o->task.max_turns;
    o->task.retry_turns = o->task.retry_turns < 0 ? 0 : o->task.retry_turns;
}

const PtcUsage ptc_mcp_usage = {
    .command = "mcp",
    .synopsis = "[OPTIONS]",
    .summary = "Serves lisp_eval to MCP clients on standard input and output, or over HTTP.\n"
               "Each option can also be set in the environment (--max-sessions is "
               "PTC_MCP_MAX_SESSIONS) and in the file of --config (\"max_sessions\"); the command "
               "line wins, then the environment.\n"
               "Exit status: 0 done, 1 it could not serve, 2 wrong usage.",
    .examples = "  ptc mcp --install cursor\n"
                "  ptc mcp --print-config claude-code\n"
                "  ptc mcp --sessions --data orders=@orders.csv\n"
                "  ptc mcp --tools @tools.json --profile structured\n"
                "  ptc mcp --http 127.0.0.1:7332 --token-file tokens.txt\n",
    .options = table,
    .option_count = sizeof table / sizeof *table,
    .resolve = resolve_mcp_limits,
};

/* These only make sense on the command line. */
static bool only_argv(const PtcOption *option)
{
    return option->field == MCP_AT(print_config) || option->field == MCP_AT(install);
}

static void set_mcp_defaults(PtcMcpOptions *o)
{
    *o = (PtcMcpOptions){.profile = -1,
                         .upstreams = PTC_UPSTREAMS_DEFAULTS,
                         .task = PTC_MCP_TASK_DEFAULTS,
                         .trace_payloads = 1,
                         .isolation = -1,
                         .check = -1,
                         .leave_ms = -1,
                         .print_config = -1,
                         .install = -1,
                         .owner_share = 50,
                         .max_sessions = 1024,
                         .approval_ttl_ms = 10 * 60 * 1000,
                         .approval_wait_ms = 45 * 1000,
                         .task_after_ms = 10 * 1000,
                         .task_max_ms = 60 * 60 * 1000,
                         .task_ttl_ms = 60 * 60 * 1000,
                         .lease_ms = 30 * 1000,
                         .session_ttl_ms = 30 * 60 * 1000,
                         .session_idle_ms = 15 * 60 * 1000,
                         .session_memory_kb = 4096,
                         .sessions_memory_mb = 256,
                         .debug_ring = 500,
                         .trace_max_files = 1000,
                         .max_waiting = 1000,
                         .queue_ms = 30000,
                         .max_frame_bytes = 8 << 20,
                         .max_program_bytes = 64 << 10,
                         .max_context_bytes = 4 << 20,
                         .max_tool_calls = -1,
                         .progress_ms = 10000};
}

/* A list from a place with higher precedence replaces the one before. */
static void clear_list(const PtcOption *option, PtcMcpOptions *o)
{
    if (option->type == PTC_OPTION_LIST)
        ((PtcOptionList *)(void *)((char *)o + option->field))->count = 0;
}

/* -------------------------------------------------------------------------------- environment */

static void env_name(const PtcOption *option, char *name, size_t size)
{
    snprintf(name, size, ENV "%s", option->name);
    for (char *p = name; *p; p++)
        *p = *p == '-' ? '_' : ptc_ascii_upper(*p);
}

/* Items of a list are separated by commas. */
static bool set_items(const PtcOption *option, PtcMcpOptions *o, PtcArena *arena,
                      const char *origin, const char *text)
{
    size_t len = strlen(text) + 1;
    char *copy = ptc_arena_alloc(arena, len);
    if (!copy)
        return false;
    memcpy(copy, text, len);
    clear_list(option, o);
    for (char *item = copy, *next; item; item = next) {
        if ((next = strchr(item, ',')))
            *next++ = 0;
        if (*item && !ptc_options_set(&ptc_mcp_usage, option, o, origin, item))
            return false;
    }
    return true;
}

static bool read_option_environment(PtcMcpOptions *o, PtcArena *arena)
{
    char name[64];
    for (size_t i = 0; i < ptc_mcp_usage.option_count; i++) {
        const PtcOption *option = &table[i];
        env_name(option, name, sizeof name);
        const char *text = only_argv(option) ? NULL : getenv(name);
        if (!text)
            continue;
        bool ok = option->type == PTC_OPTION_LIST
                      ? set_items(option, o, arena, name, text)
                      : ptc_options_set(&ptc_mcp_usage, option, o, name, text);
        if (!ok)
            return false;
    }
    return true;
}

/* A misspelt name would otherwise be ignored silently. */
static bool check_environment(void)
{
    char name[64];
    for (char **e = environ; *e; e++) {
        size_t len = strcspn(*e, "=");
        bool known =
            strncmp(*e, ENV, sizeof ENV - 1) != 0 || strncmp(*e, ENV "TOKEN=", sizeof ENV + 5) == 0;
        PtcNearest nearest;
        ptc_nearest_init(&nearest, *e, len);
        char names[sizeof table / sizeof *table][64];
        for (size_t i = 0; i < ptc_mcp_usage.option_count && !known; i++) {
            env_name(&table[i], names[i], sizeof names[i]);
            known =
                strlen(names[i]) == len && memcmp(names[i], *e, len) == 0 && !only_argv(&table[i]);
            ptc_nearest_offer(&nearest, names[i], strlen(names[i]));
        }
        if (known)
            continue;
        snprintf(name, sizeof name, "%.*s", PTC_ARG_OF(*e, len));
        ptc_options_wrong(&ptc_mcp_usage, "the environment has %s, which is not an option%s%s%s",
                          name, nearest.best ? "; did you mean " : "",
                          nearest.best ? nearest.best : "", nearest.best ? "?" : "");
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------- configuration */

typedef struct {
    PtcMcpOptions *o;
    PtcArena *arena;
    const char *path;
} File;

static const char *copy_joined_text(PtcArena *arena, const char *a, size_t a_len, const char *b,
                                    size_t b_len)
{
    char *copy = ptc_arena_alloc(arena, a_len + b_len + 1);
    if (!copy)
        return NULL;
    memcpy(copy, a, a_len);
    memcpy(copy + a_len, b, b_len);
    copy[a_len + b_len] = 0;
    return copy;
}

static bool no_nul(const char *text, size_t len)
{
    return memchr(text, 0, len) == NULL;
}

/* The text to set an option's value from; NULL: it has another type. */
static const char *option_text_of(const File *f, PtcValue v)
{
    char number[32];
    int64_t n;
    bool b;
    if (ptc_is_string(v) && no_nul(ptc_str_bytes(v), ptc_str_len(v)))
        return copy_joined_text(f->arena, ptc_str_bytes(v), ptc_str_len(v), "", 0);
    if (ptc_value_bool(v, &b))
        return b ? "true" : "false";
    if (!ptc_value_int(v, &n))
        return NULL;
    snprintf(number, sizeof number, "%lld", (long long)n);
    return copy_joined_text(f->arena, number, strlen(number), "", 0);
}

/* ["a=@f"] and {"a": "@f"} mean the same. */
static bool set_list(const File *f, const PtcOption *option, const char *origin, PtcValue v)
{
    clear_list(option, f->o);
    for (size_t i = 0; i < ptc_value_count(v); i++) {
        PtcValue key = ptc_value_key_at(v, i), item = ptc_value_at(v, i);
        const char *text = NULL;
        if (item != PTC_NONE && ptc_is_string(item) &&
            no_nul(ptc_str_bytes(item), ptc_str_len(item)))
            text = copy_joined_text(f->arena, ptc_str_bytes(item), ptc_str_len(item), "", 0);
        if (text && key != PTC_NONE && no_nul(ptc_str_bytes(key), ptc_str_len(key))) {
            const char *name =
                copy_joined_text(f->arena, ptc_str_bytes(key), ptc_str_len(key), "=", 1);
            text = name ? copy_joined_text(f->arena, name, strlen(name), text, strlen(text)) : NULL;
        }
        if (!text) {
            ptc_options_wrong(&ptc_mcp_usage, "%s: its items must be strings", origin);
            return false;
        }
        if (!ptc_options_set(&ptc_mcp_usage, option, f->o, origin, text))
            return false;
    }
    return true;
}

static bool type_fits(const PtcOption *option, PtcValue v)
{
    if (option->type == PTC_OPTION_FLAG)
        return ptc_is_bool(v);
    if (option->type == PTC_OPTION_INT)
        return ptc_is_int(v);
    return ptc_is_string(v);
}

static bool set_member(const File *f, const PtcOption *option, const char *origin, PtcValue v)
{
    if (option->type == PTC_OPTION_LIST && (ptc_is_sequential(v) || ptc_is_map(v)))
        return set_list(f, option, origin, v);
    const char *text =
        option->type != PTC_OPTION_LIST && type_fits(option, v) ? option_text_of(f, v) : NULL;
    if (text)
        return ptc_options_set(&ptc_mcp_usage, option, f->o, origin, text);
    ptc_options_wrong(&ptc_mcp_usage, "%s must be %s", origin,
                      option->type == PTC_OPTION_FLAG   ? "true or false"
                      : option->type == PTC_OPTION_INT  ? "a whole number"
                      : option->type == PTC_OPTION_LIST ? "a list of strings"
                                                        : "a string");
    return false;
}

/* The option that a member stands for: "max_sessions" or "max-sessions". */
static const PtcOption *find_member_option(const char *key, size_t len)
{
    for (size_t i = 0; i < ptc_mcp_usage.option_count; i++) {
        const char *name = table[i].name;
        size_t k = 0;
        while (k < len && name[k] && (key[k] == name[k] || (key[k] == '_' && name[k] == '-')))
            k++;
        if (k == len && !name[k] && !only_argv(&table[i]) && table[i].field != MCP_AT(config))
            return &table[i];
    }
    return NULL;
}

static bool unknown_member(const File *f, const char *key, size_t len)
{
    PtcNearest nearest;
    ptc_nearest_init(&nearest, key, len);
    for (size_t i = 0; i < ptc_mcp_usage.option_count; i++)
        ptc_nearest_offer(&nearest, table[i].name, strlen(table[i].name));
    ptc_options_wrong(&ptc_mcp_usage, "%.200s: \"%.*s\" is not an option%s%s%s", f->path,
                      PTC_ARG(ptc_text_cut((PtcText){key, len}, 40)),
                      nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "",
                      nearest.best ? "?" : "");
    return false;
}

static bool set_members(const File *f, PtcValue map)
{
    PtcValue key, value;
    char origin[300];
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, &value);) {
        const PtcOption *option = find_member_option(ptc_str_bytes(key), ptc_str_len(key));
        if (!option)
            return unknown_member(f, ptc_str_bytes(key), ptc_str_len(key));
        snprintf(origin, sizeof origin, "%s: \"%s\"", f->path, ptc_str_bytes(key));
        if (!set_member(f, option, origin, value))
            return false;
    }
    return true;
}

static bool parse_config(const File *f, PtcMem *mem, const PtcBuf *text)
{
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcJsonError error;
    ptc_pool_init(&pool, mem);
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &pool, &budget, PTC_IO_MAX);
    PtcValue v = ptc_json_parse(&heap, text->data ? text->data : "", text->len, &error);
    bool ok = false;
    if (v == PTC_NONE)
        ptc_options_wrong(&ptc_mcp_usage, "%.200s, line %u, column %u: %s", f->path,
                          (unsigned)error.line, (unsigned)error.column, error.message);
    else if (!ptc_is_map(v))
        ptc_options_wrong(&ptc_mcp_usage, "%.200s: it must hold a JSON object", f->path);
    else
        ok = set_members(f, v);
    ptc_heap_deinit(&heap);
    ptc_pool_deinit(&pool);
    return ok;
}

static bool read_mcp_config(PtcMcpOptions *o, PtcArena *arena, const char *path)
{
    PtcBuf text;
    File f = {o, arena, path};
    ptc_buf_init(&text, arena->mem, PTC_IO_MAX);
    const char *why = ptc_io_read(&text, path);
    if (why)
        ptc_options_wrong(&ptc_mcp_usage, "cannot read the configuration %.200s: %s", path, why);
    bool ok = !why && parse_config(&f, arena->mem, &text);
    ptc_buf_deinit(&text);
    return ok;
}

/* ------------------------------------------------------------------------------------- reading */

/* The file given by --config must be known before the rest of argv is read, since the rest takes precedence over it. */
static const char *find_config(int argc, char **argv)
{
    const char *path = getenv(ENV "CONFIG");
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], "--config=", 9) == 0)
            path = argv[i] + 9;
        else if (strcmp(argv[i], "--config") == 0 && i + 1 < argc)
            path = argv[i + 1];
    return path;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (ptc_options_is_help(argv[i]))
            return true;
    return false;
}

/* Lists on the command line replace those from the other places. */
static void take_lists(PtcMcpOptions *o, const PtcMcpOptions *given)
{
    for (size_t i = 0; i < ptc_mcp_usage.option_count; i++) {
        if (table[i].type != PTC_OPTION_LIST)
            continue;
        const PtcOptionList *list = (const void *)((const char *)given + table[i].field);
        if (list->count)
            *(PtcOptionList *)(void *)((char *)o + table[i].field) = *list;
    }
}

/* An argument that is not an option: often the name of one without its dashes, or a file. */
static void refuse_argument(const char *arg)
{
    size_t len = strlen(arg);
    bool option = ptc_options_find(&ptc_mcp_usage, arg, len) != NULL;
    if (!option && access(arg, F_OK) == 0)
        ptc_options_wrong(&ptc_mcp_usage,
                          "'%.60s' is not an option; programs see a file as data with "
                          "--data NAME=@%.60s",
                          arg, arg);
    else
        ptc_options_wrong(&ptc_mcp_usage, "'%.60s' is not an option%s%.60s%s", arg,
                          option ? "; did you mean --" : "", option ? arg : "", option ? "?" : "");
}

PtcParse ptc_mcp_options_read(PtcMcpOptions *o, PtcArena *arena, int *argc, char **argv)
{
    set_mcp_defaults(o);
    const char *path = find_config(*argc, argv);
    if (!asks_for_help(*argc, argv) &&
        (!check_environment() || (path && !read_mcp_config(o, arena, path)) ||
         !read_option_environment(o, arena)))
        return PTC_PARSE_WRONG;
    PtcMcpOptions before = *o;
    for (size_t i = 0; i < ptc_mcp_usage.option_count; i++)
        clear_list(&table[i], o);
    PtcParse parse = ptc_options_parse(&ptc_mcp_usage, o, argc, argv);
    PtcMcpOptions given = *o;
    take_lists(o, &before);
    take_lists(o, &given);
    if (parse == PTC_PARSE_OK && *argc > 0) {
        refuse_argument(argv[0]);
        return PTC_PARSE_WRONG;
    }
    return parse;
}
