/* SPDX-License-Identifier: MIT
 * --print-config: what to paste where, so that a client starts this binary, or finds the server that speaks HTTP.
 *
 * Each client has its own file and its own terms; a row says which.  All values are JSON strings, which TOML and YAML
 * accept too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/mcp/mcp_options.h"
#include "cli/mcp/mcp_paths.h"
#include "json/write.h"
#include "mcp/http/http_bind.h"

/* What an entry consists of. */
typedef struct {
    PtcBuf out;
    char exe_text[4096], url_text[160];
    const char *exe;
    int argc;
    char **argv;     /* of the server, without --print-config */
    const char *url; /* NULL: the client starts the server */
    bool token;      /* the server asks for one */
    const struct Client *client;
} PrintedEntry;

typedef struct Client {
    const char *place; /* where to paste it */
    void (*print)(PrintedEntry *e);
    const char *section; /* of JSON: the object that holds the servers */
    /* "type" of an entry with a command, and of one with a URL; NULL: it has none. */
    const char *type;
    const char *http_type;
    const char *url_key;
    const char *bearer; /* the value of the header, in the client's own notation for a variable */
    const char *rest;   /* members at the end of an entry */
    /* Of JSON: the client's own, below the home directory; NULL: there is none that --install writes. */
    const char *file;
} Client;

/* ------------------------------------------------------------------------------- pieces */

static void add_json_cstring(PtcBuf *out, const char *text)
{
    ptc_json_write_string(out, text, strlen(text));
}

/* ["first", "mcp", ...]; first may be NULL. */
static void add_argument_list(PrintedEntry *e, const char *first)
{
    PtcBuf *out = &e->out;
    ptc_buf_add_char(out, '[');
    if (first) {
        add_json_cstring(out, first);
        ptc_buf_add_cstr(out, ", ");
    }
    add_json_cstring(out, "mcp");
    for (int i = 0; i < e->argc; i++) {
        ptc_buf_add_cstr(out, ", ");
        add_json_cstring(out, e->argv[i]);
    }
    ptc_buf_add_char(out, ']');
}

/* A member on its own line, after a comma unless it is the first; its value follows. */
static void add_entry_key(PtcBuf *out, bool *first, const char *key)
{
    ptc_buf_addf(out, "%s\n      \"%s\": ", *first ? "" : ",", key);
    *first = false;
}

static void add_entry_member(PtcBuf *out, bool *first, const char *key, const char *value)
{
    add_entry_key(out, first, key);
    add_json_cstring(out, value);
}

/* {"Authorization": "Bearer ..."} */
static void add_headers(PrintedEntry *e)
{
    ptc_buf_add_cstr(&e->out, "{\"Authorization\": ");
    add_json_cstring(&e->out, e->client->bearer);
    ptc_buf_add_char(&e->out, '}');
}

/* --------------------------------------------------------------------------------- JSON */

static void add_entry_command(PrintedEntry *e, bool *first)
{
    add_entry_member(&e->out, first, "command", e->exe);
    add_entry_key(&e->out, first, "args");
    add_argument_list(e, NULL);
}

static void add_url(PrintedEntry *e, bool *first)
{
    add_entry_member(&e->out, first, e->client->url_key, e->url);
    if (e->token) {
        add_entry_key(&e->out, first, "headers");
        add_headers(e);
    }
}

static void begin_entry_json(PrintedEntry *e, const char *before)
{
    ptc_buf_addf(&e->out, "{\n%s  \"%s\": {\n    \"ptc\": {", before, e->client->section);
}

static void end_json(PrintedEntry *e, bool *first)
{
    if (e->client->rest)
        ptc_buf_addf(&e->out, "%s\n      %s", *first ? "" : ",", e->client->rest);
    ptc_buf_add_cstr(&e->out, "\n    }\n  }\n}");
}

static void print_entry_json(PrintedEntry *e)
{
    bool first = true;
    const char *type = e->url ? e->client->http_type : e->client->type;
    begin_entry_json(e, "");
    if (type)
        add_entry_member(&e->out, &first, "type", type);
    if (e->url)
        add_url(e, &first);
    else
        add_entry_command(e, &first);
    end_json(e, &first);
}

/* This client only starts programs, so a proxy program passes the messages on to a URL. */
static void print_claude_desktop(PrintedEntry *e)
{
    bool first = true;
    if (!e->url) {
        print_entry_json(e);
        return;
    }
    begin_entry_json(e, "");
    add_entry_member(&e->out, &first, "command", "npx");
    add_entry_key(&e->out, &first, "args");
    ptc_buf_add_cstr(&e->out, "[\"-y\", \"mcp-remote\", ");
    add_json_cstring(&e->out, e->url);
    ptc_buf_add_cstr(&e->out,
                     e->token ? ", \"--header\", \"Authorization:${PTC_AUTHORIZATION}\"]" : "]");
    if (e->token) {
        add_entry_key(&e->out, &first, "env");
        ptc_buf_add_cstr(&e->out, "{\"PTC_AUTHORIZATION\": \"Bearer YOUR_TOKEN\"}");
    }
    end_json(e, &first);
}

/* Asks the user for the token and keeps it. */
static void print_vscode(PrintedEntry *e)
{
    bool first = true;
    if (!e->url || !e->token) {
        print_entry_json(e);
        return;
    }
    begin_entry_json(e, "  \"inputs\": [{\"type\": \"promptString\", \"id\": \"ptc-token\", "
                        "\"description\": \"Token of ptc\", \"password\": true}],\n");
    add_entry_member(&e->out, &first, "type", e->client->http_type);
    add_url(e, &first);
    end_json(e, &first);
}

/* The program and its arguments are one list. */
static void print_opencode(PrintedEntry *e)
{
    bool first = true;
    begin_entry_json(e, "  \"$schema\": \"https://opencode.ai/config.json\",\n");
    add_entry_member(&e->out, &first, "type", e->url ? "remote" : "local");
    if (e->url) {
        add_url(e, &first);
    } else {
        add_entry_key(&e->out, &first, "command");
        add_argument_list(e, e->exe);
    }
    end_json(e, &first);
}

/* --------------------------------------------------------------------------- TOML, YAML */

static void add_entry_field(PrintedEntry *e, const char *before, const char *value)
{
    ptc_buf_add_cstr(&e->out, before);
    add_json_cstring(&e->out, value);
}

static void print_codex(PrintedEntry *e)
{
    ptc_buf_add_cstr(&e->out, "[mcp_servers.ptc]\n");
    if (e->url) {
        add_entry_field(e, "url = ", e->url);
        if (e->token)
            add_entry_field(e, "\nbearer_token_env_var = ", "PTC_TOKEN");
        return;
    }
    add_entry_field(e, "command = ", e->exe);
    ptc_buf_add_cstr(&e->out, "\nargs = ");
    add_argument_list(e, NULL);
}

static void print_continue(PrintedEntry *e)
{
    ptc_buf_add_cstr(&e->out, "name: ptc\nversion: 0.0.1\nschema: v1\nmcpServers:\n"
                              "  - name: ptc\n");
    if (e->url) {
        ptc_buf_add_cstr(&e->out, "    type: streamable-http\n");
        add_entry_field(e, "    url: ", e->url);
        if (e->token) {
            ptc_buf_add_cstr(&e->out, "\n    requestOptions:\n      headers: ");
            add_headers(e);
        }
        return;
    }
    ptc_buf_add_cstr(&e->out, "    type: stdio\n");
    add_entry_field(e, "    command: ", e->exe);
    ptc_buf_add_cstr(&e->out, "\n    args: ");
    add_argument_list(e, NULL);
}

static void print_goose(PrintedEntry *e)
{
    ptc_buf_addf(&e->out,
                 "extensions:\n  ptc:\n    enabled: true\n    type: %s\n    name: ptc\n"
                 "    description: Runs PTC-Lisp programs\n",
                 e->url ? "streamable_http" : "stdio");
    if (e->url) {
        add_entry_field(e, "    uri: ", e->url);
        ptc_buf_add_cstr(&e->out, "\n    headers: ");
        if (e->token)
            add_headers(e);
        else
            ptc_buf_add_cstr(&e->out, "{}");
    } else {
        add_entry_field(e, "    cmd: ", e->exe);
        ptc_buf_add_cstr(&e->out, "\n    args: ");
        add_argument_list(e, NULL);
    }
    ptc_buf_add_cstr(&e->out, "\n    envs: {}\n    env_keys: []\n    timeout: 300");
}

/* -------------------------------------------------------------------------------- shell */

static void add_quoted_argument(PtcBuf *out, const char *text)
{
    if (text[0] &&
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=@./:,+") ==
            strlen(text)) {
        ptc_buf_add_cstr(out, text);
        return;
    }
    ptc_buf_add_char(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            ptc_buf_add_cstr(out, "'\\''");
        else
            ptc_buf_add_char(out, *text);
    ptc_buf_add_char(out, '\'');
}

static void add_shell(PtcBuf *out, const PrintedEntry *e)
{
    add_quoted_argument(out, e->exe);
    ptc_buf_add_cstr(out, " mcp");
    for (int i = 0; i < e->argc; i++) {
        ptc_buf_add_char(out, ' ');
        add_quoted_argument(out, e->argv[i]);
    }
}

static void print_claude_code(PrintedEntry *e)
{
    if (!e->url) {
        ptc_buf_add_cstr(&e->out, "claude mcp add ptc -- ");
        add_shell(&e->out, e);
        return;
    }
    ptc_buf_add_cstr(&e->out, "claude mcp add --transport http ptc ");
    add_quoted_argument(&e->out, e->url);
    if (e->token)
        ptc_buf_addf(&e->out, " --header \"Authorization: %s\"", e->client->bearer);
}

/* ------------------------------------------------------------------------------ clients */

#define YOURS "Bearer YOUR_TOKEN"

/* In the order of the words of the option. */
static const Client clients[] = {
    {.place = "run this once:",
     .print = print_claude_code,
     .section = "mcpServers",
     .type = "stdio",
     .http_type = "http",
     .url_key = "url",
     .bearer = "Bearer $PTC_TOKEN",
     .file = ".claude.json"},
    {.place = "in claude_desktop_config.json (Settings, Developer, Edit Config):",
     .print = print_claude_desktop,
     .section = "mcpServers",
     .file = ".config/Claude/claude_desktop_config.json"},
    {.place = "in ~/.cursor/mcp.json, or .cursor/mcp.json of a project:",
     .print = print_entry_json,
     .section = "mcpServers",
     .url_key = "url",
     .bearer = "Bearer ${env:PTC_TOKEN}",
     .file = ".cursor/mcp.json"},
    {.place = "in .vscode/mcp.json:",
     .print = print_vscode,
     .section = "servers",
     .type = "stdio",
     .http_type = "http",
     .url_key = "url",
     .bearer = "Bearer ${input:ptc-token}",
     .file = ".config/Code/User/mcp.json"},
    {.place = "in ~/.codex/config.toml:", .print = print_codex},
    {.place = "in ~/.gemini/settings.json, or .gemini/settings.json of a project:",
     .print = print_entry_json,
     .section = "mcpServers",
     .url_key = "httpUrl",
     .bearer = "Bearer $PTC_TOKEN",
     .file = ".gemini/settings.json"},
    {.place = "in ~/.config/opencode/opencode.json, or opencode.json of a project:",
     .print = print_opencode,
     .section = "mcp",
     .url_key = "url",
     .bearer = "Bearer {env:PTC_TOKEN}",
     .rest = "\"enabled\": true",
     .file = ".config/opencode/opencode.json"},
    {.place = "in ~/.codeium/windsurf/mcp_config.json:",
     .print = print_entry_json,
     .section = "mcpServers",
     .url_key = "serverUrl",
     .bearer = "Bearer ${env:PTC_TOKEN}",
     .file = ".codeium/windsurf/mcp_config.json"},
    {.place = "in the settings of Zed (zed: open settings):",
     .print = print_entry_json,
     .section = "context_servers",
     .url_key = "url",
     .bearer = YOURS,
     .file = ".config/zed/settings.json"},
    {.place = "in cline_mcp_settings.json (MCP Servers, Configure):",
     .print = print_entry_json,
     .section = "mcpServers",
     .http_type = "streamableHttp",
     .url_key = "url",
     .bearer = YOURS,
     .rest = "\"disabled\": false"},
    {.place = "in .continue/mcpServers/ptc.yaml of a project:",
     .print = print_continue,
     .bearer = "Bearer ${{ secrets.PTC_TOKEN }}"},
    {.place = "in ~/.config/goose/config.yaml:", .print = print_goose, .bearer = YOURS},
    {.place = "in mcp.json (Program, Install, Edit mcp.json):",
     .print = print_entry_json,
     .section = "mcpServers",
     .url_key = "url",
     .bearer = YOURS,
     .file = ".lmstudio/mcp.json"},
};

/* Removes --print-config and --install from the arguments. */
static int other_args(int argc, char **argv)
{
    int n = 0;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--print-config") == 0 || strcmp(argv[i], "--install") == 0)
            i++;
        else if (strncmp(argv[i], "--print-config=", 15) != 0 &&
                 strncmp(argv[i], "--install=", 10) != 0)
            argv[n++] = argv[i];
    }
    return n;
}

/* Where clients on this machine find the server; false: there is no telling. */
static bool make_server_url(const char *listen, char *url, size_t size)
{
    PtcHttpAddress address;
    PtcWhy why;
    if (!ptc_http_address_parse(&address, listen, &why)) {
        ptc_options_wrong(&ptc_mcp_usage, "--http: %s", why.text);
        return false;
    }
    if (ptc_http_address_port(&address) == 0) {
        ptc_options_wrong(&ptc_mcp_usage, "--http: give a port, so that clients know it");
        return false;
    }
    bool any = strncmp(listen, "0.0.0.0:", 8) == 0 || strncmp(listen, "[::]:", 5) == 0;
    const char *colon = strrchr(listen, ':');
    snprintf(url, size, "http://%.*s%s/mcp",
             PTC_ARG_OF(any ? "127.0.0.1" : listen, any ? 9 : colon - listen), colon);
    return true;
}

/* The server must be running for the client to find it. */
static void tell_server_start(const PrintedEntry *e)
{
    PtcBuf line;
    ptc_buf_init(&line, e->out.mem, PTC_IO_MAX);
    add_shell(&line, e);
    if (ptc_buf_ok(&line))
        ptc_io_printf(PTC_IO_STDERR, "the server runs by itself: %.*s\n",
                      PTC_ARG_OF(line.data, line.len));
    ptc_buf_deinit(&line);
}

static int print_entry(PrintedEntry *e)
{
    e->client->print(e);
    if (e->url)
        tell_server_start(e);
    ptc_io_printf(PTC_IO_STDERR, "%s\n", e->client->place);
    bool ok = ptc_buf_ok(&e->out) && ptc_io_write_line(PTC_IO_STDOUT, e->out.data, e->out.len);
    return ok ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

/* The entry for this binary and these arguments; the status is that of the command. */
static int make_entry(PrintedEntry *e, PtcArena *arena, const PtcMcpOptions *o, int client,
                      int argc, char **argv)
{
    ssize_t len = readlink("/proc/self/exe", e->exe_text, sizeof e->exe_text - 1);
    if (len <= 0) {
        ptc_io_printf(PTC_IO_STDERR, "error: the path of this program is not known\n");
        return PTC_EXIT_FAILED;
    }
    e->exe_text[len] = 0;
    e->exe = e->exe_text;
    e->argc = other_args(argc, argv);
    e->argv = argv;
    e->client = &clients[client];
    if (!ptc_mcp_paths_absolute(arena, e->argc, argv) ||
        (o->http && !make_server_url(o->http, e->url_text, sizeof e->url_text)))
        return PTC_EXIT_USAGE;
    const char *token = getenv("PTC_MCP_TOKEN");
    e->url = o->http ? e->url_text : NULL;
    e->token = o->token_file || (token && *token);
    return PTC_EXIT_OK;
}

int ptc_mcp_print_config(PtcArena *arena, const PtcMcpOptions *o, int argc, char **argv)
{
    PrintedEntry e = {.argc = 0};
    int status = make_entry(&e, arena, o, o->print_config, argc, argv);
    if (status != PTC_EXIT_OK)
        return status;
    ptc_buf_init(&e.out, arena->mem, PTC_IO_MAX);
    status = print_entry(&e);
    ptc_buf_deinit(&e.out);
    return status;
}

int ptc_mcp_print_document(PtcArena *arena, const PtcMcpOptions *o, int argc, char **argv,
                           PtcBuf *out, const char **section, const char **file)
{
    PrintedEntry e = {.argc = 0};
    int status = make_entry(&e, arena, o, o->install, argc, argv);
    if (status != PTC_EXIT_OK)
        return status;
    if (!e.client->file || (e.url && e.token))
        return ptc_options_wrong(
            &ptc_mcp_usage, "--install: %s; --print-config prints what to paste",
            e.client->file ? "a token has to be put in by hand"
                           : "the file of this client cannot be edited from here");
    ptc_buf_init(&e.out, out->mem, PTC_IO_MAX);
    if (e.client->print == print_claude_code)
        print_entry_json(&e);
    else
        e.client->print(&e);
    *out = e.out;
    *section = e.client->section;
    *file = e.client->file;
    if (e.url)
        tell_server_start(&e);
    return ptc_buf_ok(out) ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}
