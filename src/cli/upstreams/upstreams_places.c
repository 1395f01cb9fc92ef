/* SPDX-License-Identifier: MIT */
#include "cli/upstreams/upstreams_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    PtcConfigDialect dialect;
    bool project;
    const char *path;
} places[] = {
    {PTC_DIALECT_CLAUDE_CODE, false, ".claude.json"},
    {PTC_DIALECT_CLAUDE_DESKTOP, false, ".config/Claude/claude_desktop_config.json"},
    {PTC_DIALECT_CURSOR, false, ".cursor/mcp.json"},
    {PTC_DIALECT_VSCODE, false, ".config/Code/User/mcp.json"},
    {PTC_DIALECT_VSCODE, false, ".config/Code - Insiders/User/mcp.json"},
    {PTC_DIALECT_WINDSURF, false, ".codeium/windsurf/mcp_config.json"},
    {PTC_DIALECT_ZED, false, ".config/zed/settings.json"},
    {PTC_DIALECT_GEMINI, false, ".gemini/settings.json"},
    {PTC_DIALECT_CLAUDE_CODE, true, ".mcp.json"},
    {PTC_DIALECT_CURSOR, true, ".cursor/mcp.json"},
    {PTC_DIALECT_VSCODE, true, ".vscode/mcp.json"},
    {PTC_DIALECT_ZED, true, ".zed/settings.json"},
    {PTC_DIALECT_GEMINI, true, ".gemini/settings.json"},
};
enum { PLACES = sizeof places / sizeof *places };

static bool is_file_in_dir(char path[PTC_UPSTREAMS_PATH], const char *dir, size_t dir_len,
                           const char *name)
{
    int n = snprintf(path, PTC_UPSTREAMS_PATH, "%.*s/%s", PTC_ARG_OF(dir, dir_len), name);
    return n > 0 && n < PTC_UPSTREAMS_PATH && access(path, F_OK) == 0;
}

static bool find_project(const char *cwd, const char *name, char path[PTC_UPSTREAMS_PATH],
                         char project[PTC_UPSTREAMS_PATH])
{
    const char *home = getenv("HOME");
    size_t home_len = home ? strlen(home) : 0;
    for (size_t n = strlen(cwd); n > 0; n--) {
        if (n < strlen(cwd) && cwd[n] != '/')
            continue;
        if (home_len == n && memcmp(home, cwd, n) == 0)
            return false;
        if (is_file_in_dir(path, cwd, n, name)) {
            snprintf(project, PTC_UPSTREAMS_PATH, "%.*s", PTC_ARG_OF(cwd, n));
            return true;
        }
    }
    return false;
}

bool ptc_upstreams_places_next(size_t *at, PtcConfigDialect dialect, const char *cwd,
                               char path[PTC_UPSTREAMS_PATH], char project[PTC_UPSTREAMS_PATH])
{
    const char *home = getenv("HOME");
    while (*at < PLACES) {
        size_t i = (*at)++;
        if (places[i].dialect != dialect || places[i].project != (cwd != NULL))
            continue;
        if (cwd ? find_project(cwd, places[i].path, path, project)
                : home && is_file_in_dir(path, home, strlen(home), places[i].path))
            return true;
    }
    return false;
}

const char *ptc_upstreams_places_name(PtcConfigDialect dialect, bool project)
{
    for (size_t i = 0; i < PLACES; i++)
        if (places[i].dialect == dialect && places[i].project == project)
            return places[i].path;
    return NULL;
}
