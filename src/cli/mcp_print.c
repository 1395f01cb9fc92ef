/* SPDX-License-Identifier: MIT
 * --print-config: what to paste where, so that a client starts this binary. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/io.h"
#include "cli/mcp_options.h"
#include "json/write.h"

enum { CLAUDE_CODE, CLAUDE_DESKTOP, CURSOR, VSCODE, CODEX };

static const char *const places[] = {
    [CLAUDE_CODE] = "run this once:",
    [CLAUDE_DESKTOP] = "in claude_desktop_config.json (Settings, Developer, Edit Config):",
    [CURSOR] = "in ~/.cursor/mcp.json, or .cursor/mcp.json of a project:",
    [VSCODE] = "in .vscode/mcp.json:",
    [CODEX] = "in ~/.codex/config.toml:",
};

/* The arguments without --print-config. */
static int other_args(int argc, char **argv)
{
    int n = 0;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--print-config") == 0)
            i++;
        else if (strncmp(argv[i], "--print-config=", 15) != 0)
            argv[n++] = argv[i];
    }
    return n;
}

static void add_quoted(PtcBuf *out, const char *text)
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

static void add_command(PtcBuf *out, const char *path, int argc, char **argv)
{
    ptc_buf_add_cstr(out, "claude mcp add ptc -- ");
    add_quoted(out, path);
    ptc_buf_add_cstr(out, " mcp");
    for (int i = 0; i < argc; i++) {
        ptc_buf_add_char(out, ' ');
        add_quoted(out, argv[i]);
    }
}

/* JSON strings, which TOML takes too. */
static void add_list(PtcBuf *out, int argc, char **argv)
{
    ptc_buf_add_cstr(out, "[\"mcp\"");
    for (int i = 0; i < argc; i++) {
        ptc_buf_add_cstr(out, ", ");
        ptc_json_write_string(out, argv[i], strlen(argv[i]));
    }
    ptc_buf_add_char(out, ']');
}

static void add_json(PtcBuf *out, const char *head, const char *path, int argc, char **argv)
{
    ptc_buf_addf(out, "{\n  \"%s\": {\n    \"ptc\": {\n", head);
    if (strcmp(head, "servers") == 0)
        ptc_buf_add_cstr(out, "      \"type\": \"stdio\",\n");
    ptc_buf_add_cstr(out, "      \"command\": ");
    ptc_json_write_string(out, path, strlen(path));
    ptc_buf_add_cstr(out, ",\n      \"args\": ");
    add_list(out, argc, argv);
    ptc_buf_add_cstr(out, "\n    }\n  }\n}");
}

static void add_toml(PtcBuf *out, const char *path, int argc, char **argv)
{
    ptc_buf_add_cstr(out, "[mcp_servers.ptc]\ncommand = ");
    ptc_json_write_string(out, path, strlen(path));
    ptc_buf_add_cstr(out, "\nargs = ");
    add_list(out, argc, argv);
}

int ptc_mcp_print_config(PtcMem *mem, int client, int argc, char **argv)
{
    char path[4096];
    PtcBuf out;
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    if (len <= 0) {
        ptc_io_printf(PTC_IO_STDERR, "error: the path of this program is not known\n");
        return PTC_EXIT_FAILED;
    }
    path[len] = 0;
    argc = other_args(argc, argv);
    ptc_buf_init(&out, mem, PTC_IO_MAX);
    if (client == CLAUDE_CODE)
        add_command(&out, path, argc, argv);
    else if (client == CODEX)
        add_toml(&out, path, argc, argv);
    else
        add_json(&out, client == VSCODE ? "servers" : "mcpServers", path, argc, argv);
    ptc_io_printf(PTC_IO_STDERR, "%s\n", places[client]);
    bool ok = ptc_buf_ok(&out) && ptc_io_write_line(PTC_IO_STDOUT, out.data, out.len);
    ptc_buf_deinit(&out);
    return ok ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}
