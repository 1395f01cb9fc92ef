/* SPDX-License-Identifier: MIT
 * Makes paths in arguments absolute.  What always holds: a file that must exist is checked, so that a client never
 * gets a configuration that cannot work. */
#include "cli/mcp/mcp_paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/mcp/mcp_options.h"
#include "upstream/config/config.h"

/* Options that name a file: what comes before its name in the value, and whether it must exist already. */
static const struct {
    const char *option, *before;
    bool exists;
} named[] = {
    {"--config", "", true},       {"--tools", "@", true},           {"--data", "=@", true},
    {"--token-file", "", true},   {"--session-store", ":", false},  {"--trace-dir", "", false},
    {"--upstreams", "", true},    {"--upstreams-config", "", true}, {"--task-agent", "", true},
    {"--task-summary", "", true}, {"--task-model", "", true},
};
enum { PATHS_NAMED = sizeof named / sizeof *named };

static bool refuse_option_path(const char *option, const char *path, const char *why)
{
    ptc_options_wrong(&ptc_mcp_usage, "%s: %.200s: %s", option, path, why);
    return false;
}

/* The absolute directory of a file that need not exist yet; `last` becomes the file's own name. */
static bool resolve_parent(const char *path, char full[PATH_MAX], const char **last)
{
    char parent[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    *last = slash ? slash + 1 : path;
    if (slash && slash == path)
        parent[0] = '/';
    else if (slash)
        snprintf(parent, sizeof parent, "%.*s", PTC_ARG_OF(path, slash - path));
    return strlen(path) < PATH_MAX - 2 && realpath(parent, full) != NULL;
}

static bool resolve_option_path(const char *option, const char *path, bool exists,
                                char full[2 * PATH_MAX])
{
    const char *last;
    char parent[PATH_MAX];
    if (realpath(path, full))
        return !exists || access(full, R_OK) == 0 ||
               refuse_option_path(option, path, "it cannot be read");
    if (exists)
        return refuse_option_path(option, path, "there is no such file");
    if (!resolve_parent(path, parent, &last) || !*last)
        return refuse_option_path(option, path, "there is no such directory");
    snprintf(full, 2 * PATH_MAX, "%s%s%s", parent, parent[1] ? "/" : "", last);
    return true;
}

/* "front" and the path as one argument. */
static char *join_option_path(PtcArena *arena, const char *front, size_t len, const char *path)
{
    size_t size = len + strlen(path) + 1;
    char *text = ptc_arena_alloc(arena, size);
    if (text)
        snprintf(text, size, "%.*s%s", PTC_ARG_OF(front, len), path);
    return text;
}

/* The file of CLIENT:FILE, or of a file alone. */
static const char *behind_client(const char *value)
{
    PtcConfigDialect dialect;
    const char *colon = strchr(value, ':');
    bool client = colon && ptc_dialect_parse((PtcText){value, (size_t)(colon - value)}, &dialect);
    return client ? colon + 1 : value;
}

/* exec:PROGRAM ARGUMENT ...; a program without a slash is looked for in PATH, which is the client's affair. */
static bool rewrite_program(PtcArena *arena, const char *option, char **argument, const char *at)
{
    char program[PATH_MAX], full[2 * PATH_MAX];
    size_t len = strcspn(at, " \t");
    if (len >= sizeof program || !memchr(at, '/', len) || at[0] == '/')
        return true;
    memcpy(program, at, len);
    program[len] = '\0';
    if (!resolve_option_path(option, program, true, full))
        return false;
    if (strpbrk(full, " \t"))
        return refuse_option_path(option, full,
                                  "its absolute path has a blank, where arguments are split");
    char *text = join_option_path(arena, *argument, (size_t)(at - *argument), full);
    text = text ? join_option_path(arena, text, strlen(text), at + len) : NULL;
    if (text)
        *argument = text;
    return text != NULL;
}

/* Models may be files: script:FILE, replay:FILE. */
static bool rewrite_model(PtcArena *arena, const char *option, char **argument, const char *value)
{
    char full[2 * PATH_MAX];
    enum { EXEC = sizeof "exec:" - 1, PATHS_HEAD = sizeof "script:" - 1 };
    if (strncmp(value, "exec:", EXEC) == 0)
        return rewrite_program(arena, option, argument, value + EXEC);
    if (strncmp(value, "script:", PATHS_HEAD) != 0 && strncmp(value, "replay:", PATHS_HEAD) != 0)
        return true;
    if (!resolve_option_path(option, value + PATHS_HEAD, true, full))
        return false;
    char *text = join_option_path(arena, *argument, (size_t)(value + PATHS_HEAD - *argument), full);
    if (text)
        *argument = text;
    return text != NULL;
}

/* Makes the path that begins at `value` in an argument absolute. */
static bool rewrite_path_argument(PtcArena *arena, size_t i, char **argument, const char *value)
{
    char full[2 * PATH_MAX];
    const char *before = named[i].before, *at = *before ? strstr(value, before) : value;
    if (strcmp(named[i].option, "--task-model") == 0)
        return rewrite_model(arena, named[i].option, argument, value);
    if (strncmp(named[i].option, "--upstreams", 11) == 0)
        at = behind_client(value);
    if (!at)
        return true; /* a mistake, which is reported when the option is used */
    at += strlen(before);
    if (!resolve_option_path(named[i].option, at, named[i].exists, full))
        return false;
    char *text = join_option_path(arena, *argument, (size_t)(at - *argument), full);
    if (text)
        *argument = text;
    return text != NULL;
}

bool ptc_mcp_paths_absolute(PtcArena *arena, int argc, char **argv)
{
    for (int a = 0; a < argc; a++)
        for (size_t i = 0; i < PATHS_NAMED; i++) {
            size_t len = strlen(named[i].option);
            bool same = strncmp(argv[a], named[i].option, len) == 0;
            if (same && argv[a][len] == '=') {
                if (!rewrite_path_argument(arena, i, &argv[a], argv[a] + len + 1))
                    return false;
            } else if (same && !argv[a][len] && a + 1 < argc) {
                a++;
                if (!rewrite_path_argument(arena, i, &argv[a], argv[a]))
                    return false;
                break;
            }
        }
    return true;
}
