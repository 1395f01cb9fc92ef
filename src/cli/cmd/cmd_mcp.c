/* SPDX-License-Identifier: MIT
 * `ptc mcp`: from options to a running server.  What always holds: the process that workers are forked from is
 * started before any token, tool or data is read, and everything a server consists of is released in one place. */
#include "cli/cmd/cmd.h"
#include "cli/cmd/db_in.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_kinds.h"
#include "base/os/open_files.h"
#include "base/os/private_file.h"
#include "base/text/one_line.h"
#include "base/text/secret.h"
#include "cli/cmd/data_in.h"
#include "cli/io.h"
#include "cli/mcp/mcp_keep.h"
#include "cli/mcp/mcp_options.h"
#include "cli/mcp/mcp_upstreams.h"
#include "cli/out/otlp_out.h"
#include "exec/worker.h"
#include "json/emit.h"
#include "mcp/app/app.h"
#include "mcp/app/quotas.h"
#include "mcp/http/http.h"
#include "mcp/http/http_bind.h"
#include "mcp/http/http_tokens.h"
#include "mcp/stdio/stdio.h"
#include "store/store.h"
#include "store/store_shelf.h"
#include "tool/file.h"
#include "tool/kind/command.h"
#include "tool/learn.h"
#include "upstream/catalog/catalog_text.h"
#include "value/calendar.h"

/* LEASE_MS: on top of a program's time, for running it again and for writing. */
enum { DEADLINE_MS = 50 * 1000, LEASE_MS = 30 * 1000, MCP_ABOUT_BYTES = 2 * PTC_KB };

/* What a server consists of; all of it is released at the end. */
typedef struct {
    PtcMem *mem;
    PtcMcpOptions o;
    PtcArena arena;
    PtcLimits limits;
    PtcBuf tokens, about; /* about: describes --data */
    PtcMcpUpstreams upstreams;
    PtcBuf about_upstreams;
    PtcMcpTasks tasks;
    unsigned char key[PTC_MCP_KEY];     /* of tokens that clients keep */
    uint8_t root_key[PTC_STORE_SECRET]; /* of all servers with one store */
    PtcSecrets secrets;
    PtcOtlp *otlp;     /* or NULL */
    PtcZygote *zygote; /* of workers, until an executor takes it over */
    PtcTools *tools;
    PtcShared *data;
    PtcExecutor *executor;
    PtcAppConfig config;
    PtcStore *store;
    PtcMcpQuotas *quotas;
    PtcStoreShelf kept; /* in it, if others have it too */
    PtcApp *app;
    size_t owners;        /* of tokens */
    bool isolation_given; /* not the default */
    bool isolated;        /* programs run in workers */
    int failure;          /* the exit status if it never gets to serve */
} Server;

static bool refuse_mcp_option(const char *option, const char *why)
{
    ptc_options_wrong(&ptc_mcp_usage, "%s: %s", option, why);
    return false;
}

/* What is said on standard error in addition to the log of requests, in the same form. */
static void log_server_line(const Server *s, const char *format, ...) PTC_PRINTF(2, 3);
static void log_server_line(const Server *s, const char *format, ...)
{
    char text[1024], stamp[PTC_CALENDAR_TEXT];
    PtcBuf line;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ptc_buf_init(&line, s->mem, 16 * sizeof text);
    if (s->o.log_format) {
        ptc_iso_stamp(stamp, ptc_clock_wall_ms());
        ptc_emit_object(&line);
        ptc_emit_field_cstr(&line, "ts", stamp);
        ptc_emit_field_cstr(&line, "message", text);
        ptc_emit_object_end(&line);
    } else {
        ptc_buf_add_cstr(&line, "ptc mcp: ");
        ptc_one_line_add(&line, ptc_text_cstr(text));
    }
    if (ptc_buf_ok(&line))
        (void)!ptc_io_write_line(PTC_IO_STDERR, line.data, line.len);
    ptc_buf_deinit(&line);
}

/* The options are fine, but something cannot be done. */
static bool cannot(Server *s, const char *what, const char *why, const char *advice)
{
    s->failure = PTC_EXIT_FAILED;
    log_server_line(s, "%s: %s%s", what, why, advice);
    return false;
}

/* -------------------------------------------------------------------------------------- tokens */

/* The text of the token file. */
static bool read_token_file(const char *path, PtcBuf *text, PtcWhy *why)
{
    if (!ptc_private_file_check(path, why))
        return false;
    const char *unread = ptc_io_read(text, path);
    return !unread || ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s: %s", path, unread);
}

static bool count_owners(Server *s)
{
    PtcHttpTokens tokens;
    PtcWhy why;
    if (!ptc_http_tokens_init(&tokens, s->mem))
        return refuse_mcp_option("tokens", "out of memory");
    bool ok = !s->tokens.len || ptc_http_tokens_read(&tokens, ptc_buf_view(&s->tokens), &why);
    s->owners = ptc_http_tokens_owners(&tokens);
    ptc_http_tokens_deinit(&tokens);
    return ok || refuse_mcp_option("tokens", why.text);
}

/* The token in the environment is removed from it, so that nothing started later can see it. */
static bool take_server_tokens(Server *s)
{
    PtcWhy why;
    char *token = getenv("PTC_MCP_TOKEN");
    if (s->o.token_file && token && *token)
        return refuse_mcp_option("--token-file", "give it or PTC_MCP_TOKEN, not both");
    if (s->o.token_file) {
        if (!read_token_file(s->o.token_file, &s->tokens, &why))
            return refuse_mcp_option("--token-file", why.text);
    } else if (token && *token) {
        ptc_buf_add_cstr(&s->tokens, token);
    }
    if (token) {
        ptc_secret_wipe(token, strlen(token));
        unsetenv("PTC_MCP_TOKEN");
    }
    if (s->tokens.len && !s->o.http)
        return refuse_mcp_option(s->o.token_file ? "--token-file" : "PTC_MCP_TOKEN",
                                 "tokens go with --http");
    return ptc_buf_ok(&s->tokens) ? count_owners(s)
                                  : refuse_mcp_option("tokens", "there are too many");
}

/* The last word of a line is a token. */
static bool add_token_secret(Server *s, const char *line, const char *end)
{
    while (end > line && strchr(" \t\r", end[-1]))
        end--;
    const char *word = end;
    while (word > line && !strchr(" \t", word[-1]))
        word--;
    return word == end || ptc_secrets_add(&s->secrets, word, (size_t)(end - word));
}

/* What records must not contain: tokens ... */
static bool list_tokens(Server *s, const PtcBuf *tokens)
{
    const char *line = tokens->len ? tokens->data : "", *end = line + tokens->len;
    bool ok = true;
    while (ok && line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        ok = add_token_secret(s, line, stop ? stop : end);
        line = stop ? stop + 1 : end;
    }
    return ok;
}

/* ... and what tools find in their environment. */
static bool list_secrets(Server *s)
{
    const char *value;
    bool ok = list_tokens(s, &s->tokens);
    for (size_t i = 0; ok && s->tools && (value = ptc_command_secret(s->tools, i)); i++)
        ok = ptc_secrets_add(&s->secrets, value, strlen(value));
    return ok || refuse_mcp_option("tokens", "out of memory");
}

/* PtcHttpReload: new tokens become secrets before anybody can use them.  The thread that reads them again also waits
 * for signals to stop, so a pipe that nobody writes to must not block it. */
static bool reload_token_file(void *user, PtcBuf *tokens, PtcWhy *why)
{
    Server *s = user;
    if (ptc_io_may_wait(s->o.token_file))
        return ptc_why_say(why, PTC_WHY_REFUSED,
                           "%s is a pipe or a device, which is read at the start only",
                           s->o.token_file);
    if (!read_token_file(s->o.token_file, tokens, why))
        return false;
    return list_tokens(s, tokens) || ptc_why_no_memory(why);
}

static void wipe_tokens(Server *s)
{
    if (s->tokens.data)
        ptc_secret_wipe(s->tokens.data, s->tokens.len);
    ptc_buf_deinit(&s->tokens);
}

/* ------------------------------------------------------------------------------- tools and data */

static bool read_server_tools(Server *s)
{
    PtcWhy why;
    PtcToolsFileOptions allow = {.command = true, .http = true, .kinds = ptc_agent_kinds};
    PtcBuf text;
    if (!s->o.tools)
        return true;
    if (s->o.tools[0] != '@')
        return refuse_mcp_option("--tools", "it takes @FILE");
    ptc_buf_init(&text, s->mem, PTC_IO_MAX);
    const char *unread = ptc_io_read(&text, s->o.tools + 1);
    s->tools = ptc_tools_new();
    ptc_why_no_memory(&why);
    bool ok = !unread && s->tools &&
              ptc_tools_read_json(s->tools, text.data ? text.data : "", text.len, &allow, &why);
    ptc_buf_deinit(&text);
    if (ok)
        ptc_toolset_learn(s->tools, !s->o.upstreams.no_learn);
    return ok || refuse_mcp_option(s->o.tools + 1, unread ? unread : why.text);
}

static bool add_server_dbs(Server *s)
{
    PtcWhy why;
    return ptc_db_in_add(&s->tools, s->mem, &s->o.dbs, &why) || refuse_mcp_option("--db", why.text);
}

static bool split_item(const char *item, char name[PTC_DATA_IN_NAME], const char **path)
{
    PtcWhy why;
    return ptc_data_in_split(item, name, path, &why) || refuse_mcp_option("--data", why.text);
}

/* What cannot be read is no reason to go on without workers, which would read it. */
static bool check_data(const Server *s)
{
    char name[PTC_DATA_IN_NAME], why[500];
    const char *path;
    for (size_t i = 0; i < s->o.data.count; i++) {
        if (!split_item(s->o.data.items[i], name, &path))
            return false;
        if (ptc_shared_is_name(name) && access(path, R_OK) != 0) {
            snprintf(why, sizeof why, "%.300s: %s", path, strerror(errno));
            return refuse_mcp_option("--data", why);
        }
    }
    return true;
}

static void say_loaded(const Server *s, const char *name, size_t count, size_t bytes)
{
    log_server_line(s, "data/%s: %zu item%s, %.1f MiB", name, count, count == 1 ? "" : "s",
                    (double)bytes / PTC_MB);
}

/* Loads it into this process. */
static bool load_server_data(Server *s)
{
    char name[PTC_DATA_IN_NAME];
    PtcWhy why;
    const char *path, *loaded;
    size_t count, bytes;
    if (s->o.data.count == 0)
        return true;
    if (!(s->data = ptc_shared_new()))
        return refuse_mcp_option("--data", "out of memory");
    for (size_t i = 0; i < s->o.data.count; i++) {
        if (!split_item(s->o.data.items[i], name, &path))
            return false;
        if (!ptc_shared_load(s->data, name, path, NULL, &why))
            return refuse_mcp_option("--data", why.text);
    }
    ptc_buf_clear(&s->about);
    ptc_shared_describe(s->data, &s->about, MCP_ABOUT_BYTES);
    for (size_t i = 0; ptc_shared_item(s->data, i, &loaded, &count, &bytes); i++)
        say_loaded(s, loaded, count, bytes);
    return true;
}

/* Sends it to the process that workers are forked from. */
static bool send_data(Server *s, PtcWhy *why)
{
    char name[PTC_DATA_IN_NAME];
    const char *path;
    PtcLoaded loaded = {.about = &s->about};
    for (size_t i = 0; i < s->o.data.count; i++) {
        if (!split_item(s->o.data.items[i], name, &path) ||
            !ptc_zygote_load(s->zygote, name, path, &loaded, why))
            return false;
        say_loaded(s, name, loaded.count, loaded.bytes);
    }
    return true;
}

/* -------------------------------------------------------------------------------------- upstreams */

/* PtcManagerConfig.log, from any thread. */
static void say_upstream(void *user, PtcText line)
{
    log_server_line(user, "%.*s", PTC_ARG(line));
}

/* Nothing is started: what is known about upstreams comes from the last time. */
static bool open_server_upstreams(Server *s)
{
    enum { IDLE_MS = 30 * 60 * 1000 };
    bool kept = s->o.trace_dir || s->o.debug_tool;
    if (s->o.http && !s->o.upstreams.idle_ms)
        s->o.upstreams.idle_ms = IDLE_MS;
    s->o.upstreams.payloads = kept && s->o.trace_payloads != PTC_PAYLOADS_NONE;
    s->o.upstreams.records = &s->secrets;
    s->o.upstreams.realm = s->o.http ? "http:" : "";
    if (!ptc_mcp_upstreams_open(&s->upstreams, s->mem, &s->o.upstreams, say_upstream, s,
                                &s->failure))
        return false;
    if (s->upstreams.mem)
        ptc_mcp_upstreams_describe(&s->upstreams, &s->about_upstreams, PTC_CATALOG_TEXT_BYTES);
    return true;
}

/* Tasks are about upstreams. */
static bool open_tasks(Server *s)
{
    PtcWhy why;
    if (!s->o.task.on)
        return true;
    s->failure = PTC_EXIT_USAGE;
    if (!s->upstreams.mem)
        return refuse_mcp_option("--task",
                                 "it needs at least one upstream; name a file with --upstreams, or "
                                 "those of a client with --import");
    return ptc_mcp_tasks_open(&s->tasks, s->mem, &s->o.task, &s->upstreams, &s->limits, &why) ||
           refuse_mcp_option(s->tasks.inner ? "--task" : "--task-model", why.text);
}

/* ------------------------------------------------------------------------------------ the server */

static void set_server_limits(Server *s)
{
    const PtcMcpOptions *o = &s->o;
    PtcLimits *l = &s->limits;
    ptc_limits_init(l, sizeof *l);
    l->timeout_ms = o->program_timeout_ms ? o->program_timeout_ms : PTC_UNSET;
    l->memory_bytes = o->program_memory_mb ? o->program_memory_mb * PTC_MB : PTC_UNSET;
    /* Clients give up after a minute. */
    l->deadline_ms =
        DEADLINE_MS + (o->program_timeout_ms > DEADLINE_MS ? o->program_timeout_ms : 0);
    if (s->upstreams.mem)
        ptc_upstreams_limits(&s->upstreams.now->files, l);
    if (l->timeout_ms == PTC_UNSET)
        l->timeout_ms = PTC_MCP_PROGRAM_MS;
    if (l->memory_bytes == PTC_UNSET)
        l->memory_bytes = (int64_t)PTC_MCP_PROGRAM_MB * PTC_MB;
    l->program_bytes = o->max_program_bytes;
    l->context_bytes = o->max_context_bytes;
    l->session_bytes = o->session_memory_kb * PTC_KB;
    l->max_tool_calls = o->max_tool_calls;
    l->check = o->check;
}

/* The process that workers come from is started before anything is read that they must not see.  Whether it is wanted
 * is only guessed from argv at this point; it ends again if the options say otherwise. */
static void start_zygote(Server *s, int argc, char **argv)
{
    const char *asked = getenv("PTC_MCP_ISOLATION");
    PtcWhy why;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "--print-config", 14) == 0 || strncmp(argv[i], "--install", 9) == 0 ||
            ptc_options_is_help(argv[i]))
            return;
        if (strcmp(argv[i], "--isolation") == 0 && i + 1 < argc)
            asked = argv[i + 1];
        else if (strncmp(argv[i], "--isolation=", 12) == 0)
            asked = argv[i] + 12;
    }
    if (!asked || strcmp(asked, "none") != 0)
        s->zygote = ptc_zygote_start(NULL, &why);
}

static bool make_workers(Server *s, PtcExecutorConfig *config, PtcWhy *why)
{
    if (!s->zygote && !(s->zygote = ptc_zygote_start(NULL, why)))
        return false;
    if (!send_data(s, why))
        return false;
    config->zygote = s->zygote;
    if (!(s->executor = ptc_executor_workers(config, why)))
        return false;
    s->zygote = NULL;
    return true;
}

/* What runs programs: workers, or engines in this process. */
static bool make_executor(Server *s)
{
    PtcWhy why;
    PtcExecutorConfig config = {
        .tools = s->tools, .limits = s->limits, .max_idle = (unsigned)s->o.max_running};
    ptc_why_init(&why);
    config.remote = ptc_mcp_upstreams_remote(&s->upstreams);
    if (!check_data(s))
        return false;
    if (s->o.isolation != PTC_ISOLATION_NONE) {
        if ((s->isolated = make_workers(s, &config, &why)))
            return true;
        if (s->o.isolation == PTC_ISOLATION_ON)
            return cannot(s,
                          s->isolation_given ? "--isolation on"
                                             : "--isolation on, the default with --http",
                          why.text, "; --isolation auto goes on without");
        log_server_line(s, "programs run in this process, not in workers: %s", why.text);
    }
    if (s->o.http && s->tools) /* all owners would use the same set */
        ptc_toolset_learn(s->tools, false);
    ptc_zygote_free(s->zygote);
    s->zygote = NULL;
    if (!load_server_data(s))
        return false;
    config.zygote = NULL;
    config.data = s->data;
    s->executor = ptc_executor_in_process(&config, &why);
    return s->executor || refuse_mcp_option("limits", why.text);
}

/* PtcRecorderConfig.traced */
static void send_trace(void *user, PtcText lines)
{
    ptc_otlp_lines(user, lines);
}

static void set_config(Server *s)
{
    const PtcMcpOptions *o = &s->o;
    PtcAppConfig *c = &s->config;
    c->executor = s->executor;
    c->tools = s->tools;
    c->about_data = ptc_buf_text(&s->about);
    if (s->upstreams.mem) {
        PtcManager *manager = ptc_mcp_upstreams_hold(&s->upstreams);
        ptc_mcp_upstreams_tell(&s->upstreams, ptc_buf_text(&s->about_upstreams), !o->http, c);
        c->can_ask = ptc_toolset_may_repeat(s->tools); /* after a question they are called again */
        /* A browser comes back to this machine, and tokens serve every owner. */
        c->can_sign_in = !o->http;
        c->approval_ttl_ms = o->approval_ttl_ms;
        c->approval_wait_ms = o->approval_wait_ms;
        c->key = ptc_manager_key(manager, "tokens of clients", s->key) ? s->key : NULL;
        ptc_mcp_upstreams_release(&s->upstreams, manager);
    }
    if (o->task.on)
        ptc_mcp_tasks_tell(&s->tasks, &c->tasks);
    c->limits = &s->limits;
    c->profile = o->profile >= 0 ? (PtcAppProfile)o->profile
                 : o->debug_tool ? PTC_APP_DEBUG
                                 : PTC_APP_SLIM;
    c->owner_share = s->owners > 1 ? (unsigned)o->owner_share : 100;
    c->private_lists = s->owners > 0;
    c->structured = (PtcMcpStructured)o->structured;
    c->task_after_ms = o->task_after_ms;
    c->task_max_ms = o->task_max_ms;
    c->task_ttl_ms = o->task_ttl_ms;
    c->task_lease_ms = o->lease_ms;
    c->sessions = o->sessions;
    c->session = (PtcSessionsConfig){.max = (unsigned)o->max_sessions,
                                     .owner_share = c->owner_share,
                                     .ttl_ms = o->session_ttl_ms,
                                     .idle_ms = o->session_idle_ms,
                                     .lease_ms = s->limits.deadline_ms + LEASE_MS,
                                     .bytes = (size_t)o->session_memory_kb * PTC_KB,
                                     .total_bytes = (size_t)o->sessions_memory_mb * PTC_MB,
                                     .wait_ms = o->session_wait_ms};
    c->store = s->store;
    c->debug_tool = o->debug_tool;
    c->recorder.ring = (size_t)o->debug_ring;
    c->recorder.payloads = (PtcPayloads)o->trace_payloads;
    c->recorder.secrets = &s->secrets;
    c->recorder.trace_dir = o->trace_dir;
    c->recorder.traced = s->otlp ? send_trace : NULL;
    c->recorder.traced_user = s->otlp;
    c->recorder.trace_files = (size_t)o->trace_max_files;
    c->max_program_bytes = (size_t)o->max_program_bytes;
    c->max_context_bytes = (size_t)o->max_context_bytes;
    c->progress_ms = o->progress_ms;
    c->max_frame_bytes = (size_t)o->max_frame_bytes;
    c->max_running = (unsigned)o->max_running;
    c->max_waiting = o->max_waiting ? (unsigned)o->max_waiting : PTC_MCP_NO_WAITING;
    c->wait_ms = o->queue_ms;
}

/* What only works with --http. */
static bool check_lone(const PtcMcpOptions *o)
{
    const char *lone = o->http                ? NULL
                       : o->hosts.count       ? "--allow-host"
                       : o->origins.count     ? "--allow-origin"
                       : o->stateless         ? "--stateless"
                       : o->log_format        ? "--log-format"
                       : o->max_connections   ? "--max-connections"
                       : o->request_ms        ? "--request-ms"
                       : o->send_ms           ? "--send-ms"
                       : o->leave_ms >= 0     ? "--leave-ms"
                       : o->drain_ms          ? "--drain-ms"
                       : o->upstreams.idle_ms ? "--upstream-idle-ms"
                                              : NULL;
    return !lone || refuse_mcp_option(lone, "it goes with --http");
}

static bool check_server_options(Server *s)
{
    PtcMcpOptions *o = &s->o;
    PtcHttpAddress address;
    PtcWhy why;
    s->isolation_given = o->isolation >= 0;
    if (!s->isolation_given)
        o->isolation = o->http ? PTC_ISOLATION_ON : PTC_ISOLATION_AUTO;
    if (o->task.on && !o->task.model)
        return refuse_mcp_option("--task", "it needs a model: --task-model");
    if (!o->task.on && (o->task.model || o->task.allow_writes || o->task.hide_program))
        return refuse_mcp_option(o->task.model          ? "--task-model"
                                 : o->task.allow_writes ? "--task-allow-writes"
                                                        : "--task-hide-program",
                                 "it goes with --task");
    if (o->http && !ptc_http_address_parse(&address, o->http, &why))
        return refuse_mcp_option("--http", why.text);
    if (o->store.url && !ptc_store_is_url(o->store.url, &why))
        return refuse_mcp_option("--store", why.text);
    if (!o->http && (o->owner_calls || o->owner_rate))
        return refuse_mcp_option(o->owner_calls ? "--owner-calls" : "--owner-rate",
                                 "it goes with --http");
    return check_lone(o);
}

static bool make_app(Server *s)
{
    PtcWhy why;
    set_config(s);
    if (s->o.owner_calls || s->o.owner_rate) {
        s->quotas = ptc_mcp_quotas_new(s->store, s->o.owner_calls, s->o.owner_rate);
        if (!s->quotas)
            return cannot(s, "cannot start", "out of memory", "");
        s->config.quota = ptc_mcp_quotas_of(s->quotas);
    }
    s->app = ptc_app_new(&s->config, &why);
    if (s->app && s->o.task.on && s->isolated)
        log_server_line(s, "programs of lisp_task run in this process, not in workers");
    if (s->app)
        ptc_mcp_upstreams_follow(&s->upstreams, s->app);
    return s->app || cannot(s, "cannot start", why.text, "");
}

/* ------------------------------------------------------------------------------------- serving */

static bool open_collector(Server *s)
{
    PtcWhy why;
    if (s->o.otlp)
        s->failure = PTC_EXIT_USAGE;
    return ptc_otlp_out_open(s->mem, "mcp", s->o.otlp, false, &s->otlp, &why) ||
           refuse_mcp_option("--otlp", why.text);
}

/* PtcHttpConfig.metrics */
static void add_metrics(void *user, PtcBuf *out)
{
    Server *s = user;
    if (s->upstreams.mem)
        ptc_mcp_upstreams_metrics(&s->upstreams, out);
    if (ptc_store_is_shared(s->store))
        ptc_store_metrics(s->store, out);
    if (s->otlp)
        ptc_otlp_metrics(s->otlp, out);
}

static int serve_stdio(Server *s, const PtcMcpStdio *io)
{
    int error = ptc_mcp_stdio_serve(ptc_app_mcp(s->app), io);
    if (error)
        ptc_io_printf(PTC_IO_STDERR, "ptc mcp: %s\n", strerror(error));
    return error ? PTC_EXIT_FAILED : PTC_EXIT_OK;
}

/* For the transport 0 is what was not given. */
static int64_t leave_ms_of(const PtcMcpOptions *o)
{
    return o->leave_ms < 0 ? 0 : o->leave_ms == 0 ? -1 : o->leave_ms;
}

static bool is_server_ready(void *user, PtcBuf *out)
{
    Server *s = user;
    char why[PTC_STORE_WHY];
    bool ready = ptc_store_ready(s->store, why);
    if (!ready)
        ptc_buf_addf(out, "store: %s\n", why);
    return ready;
}

static int serve_http(Server *s)
{
    PtcWhy why;
    PtcHttpConfig config = {.listen = s->o.http,
                            .tokens = s->tokens.data,
                            .tokens_len = s->tokens.len,
                            .hosts = s->o.hosts.items,
                            .host_count = s->o.hosts.count,
                            .origins = s->o.origins.items,
                            .origin_count = s->o.origins.count,
                            .stateless = s->o.stateless,
                            .max_connections = (unsigned)s->o.max_connections,
                            .request_ms = s->o.request_ms,
                            .send_ms = s->o.send_ms,
                            .leave_ms = leave_ms_of(&s->o),
                            .drain_ms = s->o.drain_ms,
                            .log_fd = PTC_IO_STDERR,
                            .quiet = s->o.quiet,
                            .json_log = s->o.log_format,
                            .owner_share = s->config.owner_share,
                            .isolation = s->isolated ? "workers" : "none",
                            .reload = s->o.token_file ? reload_token_file : NULL,
                            .reload_user = s,
                            .metrics = add_metrics,
                            .metrics_user = s,
                            .ready = is_server_ready,
                            .ready_user = s};
    if (s->upstreams.mem) {
        config.again = ptc_mcp_upstreams_read_again;
        config.again_user = &s->upstreams;
    }
    PtcMcpKeep keep;
    if (!s->o.stateless && ptc_store_is_shared(s->store)) {
        ptc_mcp_keep_init(&keep, s->store, ptc_http_defaults.max_sessions, s->config.owner_share);
        config.keep = &keep.keep;
    }
    PtcHttp *http = ptc_http_new(ptc_app_mcp(s->app), &config, &why);
    wipe_tokens(s);
    if (!http) {
        (void)cannot(s, "--http", why.text, "");
        return PTC_EXIT_FAILED;
    }
    if (s->o.quiet)
        log_server_line(s, "listening on port %u", ptc_http_port(http));
    ptc_http_serve(http);
    ptc_http_free(http);
    return PTC_EXIT_OK;
}

/* Servers with one store open each other's tokens, and mean the same by an upstream. */
static bool share_keys(Server *s)
{
    PtcWhy why;
    if (!ptc_store_is_shared(s->store))
        return true;
    s->o.upstreams.root_key = s->root_key;
    if (ptc_store_secret(s->store, "root-key", s->root_key, &why))
        return true;
    ptc_io_printf(PTC_IO_STDERR, "ptc mcp: store: %s\n", why.text);
    return false;
}

/* PtcStoreOptions.say */
static void log_store(void *user, const char *text)
{
    log_server_line(user, "%s", text);
}

/* Who reads it learns that what is written there can be changed by others. */
static bool open_store(Server *s)
{
    s->failure = PTC_EXIT_FAILED;
    s->o.store.say = log_store;
    s->o.store.say_user = s;
    s->store = ptc_store_open_options(&s->o.store, "mcp", false);
    if (!s->store)
        return false;
    if (ptc_store_is_shared(s->store) && !ptc_store_is_sealed(s->store))
        log_server_line(s, "the store is not sealed: whoever may write it can change what is in it "
                           "(--store-key), and tokens of upstreams stay in files of this machine");
    if (ptc_store_is_shared(s->store) && !ptc_store_is_durable(s->store))
        log_server_line(s,
                        "no call becomes a task: the store may lose what it has acknowledged (ptc "
                        "store check says why)");
    if (ptc_store_is_shared(s->store)) {
        ptc_store_shelf_init(&s->kept, s->store);
        s->o.upstreams.shelf = &s->kept.shelf;
    }
    if (!share_keys(s))
        return false;
    s->failure = PTC_EXIT_USAGE;
    return true;
}

static int run_mcp_server(Server *s)
{
    PtcMcpStdio io = {0};
    ptc_open_files_raise();
    if (!check_server_options(s) || !take_server_tokens(s))
        return s->failure;
    if (s->o.http)
        ptc_http_block_signals();
    else if (!ptc_mcp_stdio_open(&io)) {
        ptc_io_printf(PTC_IO_STDERR, "ptc mcp: standard input and output: %s\n", strerror(errno));
        return PTC_EXIT_FAILED;
    }
    if (!read_server_tools(s) || !add_server_dbs(s) || !list_secrets(s) || !open_store(s) ||
        !open_server_upstreams(s))
        return s->failure;
    set_server_limits(s);
    if (!open_tasks(s) || !make_executor(s) || !open_collector(s) || !make_app(s))
        return s->failure;
    return s->o.http ? serve_http(s) : serve_stdio(s, &io);
}

static void release_server(Server *s)
{
    wipe_tokens(s);
    ptc_mcp_upstreams_follow(&s->upstreams, NULL);
    ptc_app_free(s->app);
    ptc_otlp_free(s->otlp);
    ptc_mcp_quotas_free(s->quotas);
    if (s->executor)
        s->executor->free(s->executor);
    ptc_mcp_tasks_close(&s->tasks);
    ptc_mcp_upstreams_close(&s->upstreams); /* which may learn of secrets until then */
    ptc_store_shelf_deinit(&s->kept);
    ptc_store_free(s->store);
    ptc_secrets_deinit(&s->secrets);
    ptc_buf_deinit(&s->about_upstreams);
    if (s->tools)
        ptc_tools_free(s->tools);
    ptc_shared_free(s->data);
    ptc_zygote_free(s->zygote);
    ptc_buf_deinit(&s->about);
    ptc_arena_deinit(&s->arena);
}

int ptc_cmd_mcp(PtcMem *mem, int argc, char **argv)
{
    Server s = {.mem = mem, .failure = PTC_EXIT_USAGE};
    int count = argc, status;
    ptc_arena_init(&s.arena, mem);
    start_zygote(&s, argc, argv);
    ptc_buf_init(&s.tokens, mem, PTC_MB);
    ptc_secrets_init(&s.secrets, mem, PTC_SECRET_MIN);
    ptc_buf_init(&s.about, mem, MCP_ABOUT_BYTES + 4096);
    ptc_buf_init(&s.about_upstreams, mem, 4096);
    char **copy = ptc_arena_alloc(&s.arena, ((size_t)argc + 1) * sizeof *copy);
    if (!copy)
        return PTC_EXIT_FAILED;
    memcpy(copy, argv, (size_t)argc * sizeof *copy);
    PtcParse parse = ptc_mcp_options_read(&s.o, &s.arena, &count, argv);
    if (parse != PTC_PARSE_OK)
        status = parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    else if ((s.o.print_config >= 0 || s.o.install >= 0) &&
             !(check_server_options(&s) && check_data(&s) && read_server_tools(&s)))
        status = s.failure; /* a client would be told to start what does not start */
    else if (s.o.print_config >= 0)
        status = ptc_mcp_print_config(&s.arena, &s.o, argc, copy);
    else if (s.o.install >= 0)
        status = ptc_mcp_install(&s.arena, &s.o, argc, copy);
    else
        status = run_mcp_server(&s);
    release_server(&s);
    return status;
}
