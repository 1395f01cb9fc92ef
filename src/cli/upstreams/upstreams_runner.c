/* SPDX-License-Identifier: MIT
 * Finds the program that npx or a similar runner would start.  They look into a registry or a cache each time before
 * the server runs, which takes seconds; the installed program starts at once.  Its name is in the package's own
 * package.json, when it was fetched once or is installed. */
#define _GNU_SOURCE
#include "cli/upstreams/upstreams_runner.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/io.h"
#include "json/parse.h"
#include "value/coll/fields.h"

enum { RUNNER_PATH_BYTES = 4096, RUNNER_JSON_BYTES = PTC_MB };

static const struct {
    const char *name, *install;
    bool npm;
} runners[] = {{"npx", "npm install -g", true},
               {"bunx", "bun install -g", true},
               {"pnpx", "pnpm add -g", true},
               {"uvx", "uv tool install", false}};

/* Calls back for each directory of PATH until one answers true. */
static bool any_dir(bool (*look)(void *user, const char *dir), void *user)
{
    const char *path = getenv("PATH");
    char dir[RUNNER_PATH_BYTES];
    for (const char *at = path ? path : ""; *at;) {
        size_t n = strcspn(at, ":");
        if (n && n < sizeof dir) {
            memcpy(dir, at, n);
            dir[n] = '\0';
            if (look(user, dir))
                return true;
        }
        at += n + (at[n] == ':');
    }
    return false;
}

static bool has_program(void *user, const char *dir)
{
    char path[RUNNER_PATH_BYTES];
    int n = snprintf(path, sizeof path, "%s/%s", dir, (const char *)user);
    return n > 0 && n < RUNNER_PATH_BYTES && access(path, X_OK) == 0;
}

bool ptc_upstreams_runner_finds(const char *program)
{
    char name[RUNNER_PATH_BYTES];
    if (strchr(program, '/'))
        return access(program, X_OK) == 0;
    snprintf(name, sizeof name, "%s", program);
    return any_dir(has_program, name);
}

/* --------------------------------------------------------------------------------- arguments */

/* @scope/name@1.2 without the version. */
static void take_package(PtcRunner *r, PtcText spec)
{
    size_t n = spec.len ? 1 : 0;
    while (n < spec.len && spec.bytes[n] != '@' && spec.bytes[n] != '=' && spec.bytes[n] != '[')
        n++;
    if (n >= sizeof r->package || memchr(spec.bytes, ' ', spec.len) ||
        (spec.len > 1 && memcmp(spec.bytes, "..", 2) == 0))
        n = 0;
    memcpy(r->package, spec.bytes, n);
    r->package[n] = '\0';
}

static bool is_option_among(PtcText arg, const char *const *names)
{
    for (; *names; names++)
        if (ptc_text_is(arg, *names))
            return true;
    return false;
}

/* Arguments up to the program that is started: -p and --from name the package, else the program does. */
static void read_runner_args(PtcRunner *r, PtcValue args)
{
    static const char *const named[] = {"-p", "--package", "--from", NULL};
    bool package = false;
    for (size_t i = 0; i < ptc_fields_count(args); i++) {
        PtcText arg = ptc_str_text(ptc_seq_nth(args, i));
        if (!arg.bytes)
            return;
        if (is_option_among(arg, named) && i + 1 < ptc_fields_count(args)) {
            take_package(r, ptc_str_text(ptc_seq_nth(args, ++i)));
            package = true;
        } else if (ptc_text_starts(arg, "--package=")) {
            take_package(r, (PtcText){arg.bytes + 10, arg.len - 10});
            package = true;
        } else if (arg.len == 0 || arg.bytes[0] != '-') {
            if (package)
                snprintf(r->program, sizeof r->program, "%.*s", PTC_ARG(arg));
            else
                take_package(r, arg);
            return;
        }
    }
}

/* -------------------------------------------------------------------------------------- bins */

typedef struct {
    PtcScratch *scratch;
    PtcMem *mem;
    PtcRunner *runner;
} RunnerSearch;

static const char *unscoped(const char *package)
{
    const char *slash = strrchr(package, '/');
    return slash ? slash + 1 : package;
}

/* The program of a package.json: the one with the package's name, else the first. */
static void take_bin(RunnerSearch *s, PtcValue json)
{
    PtcHeap *heap = &s->scratch->heap;
    PtcRunner *r = s->runner;
    PtcValue bin = ptc_map_field(heap, json, "bin"), key, value;
    const char *own = unscoped(r->package);
    size_t pos = 0;
    if (bin == PTC_NONE)
        return;
    if (ptc_is_string(bin) || (ptc_is_map(bin) && ptc_map_field(heap, bin, own) != PTC_NONE))
        snprintf(r->program, sizeof r->program, "%s", own);
    else if (ptc_is_map(bin) && ptc_map_next(bin, &pos, &key, &value))
        snprintf(r->program, sizeof r->program, "%.*s", PTC_ARG(ptc_str_view(key)));
}

/* PREFIX/node_modules/PACKAGE/package.json */
static bool read_package(RunnerSearch *s, const char *prefix)
{
    char path[2 * RUNNER_PATH_BYTES];
    PtcJsonError error;
    PtcBuf text;
    snprintf(path, sizeof path, "%s/node_modules/%s/package.json", prefix, s->runner->package);
    if (access(path, R_OK) != 0 || ptc_io_may_wait(path))
        return false;
    ptc_buf_init(&text, s->mem, RUNNER_JSON_BYTES);
    if (!ptc_io_read(&text, path)) {
        PtcValue json =
            ptc_json_parse(&s->scratch->heap, text.data ? text.data : "", text.len, &error);
        if (json != PTC_NONE)
            take_bin(s, json);
    }
    ptc_buf_deinit(&text);
    return s->runner->program[0] != '\0';
}

static bool in_prefix(void *user, const char *dir)
{
    char prefix[RUNNER_PATH_BYTES];
    int n = snprintf(prefix, sizeof prefix, "%s/../lib", dir);
    return n > 0 && n < RUNNER_PATH_BYTES && read_package(user, prefix);
}

/* npx keeps what it fetched below ~/.npm/_npx, in directories with names of its own. */
static bool in_npx(RunnerSearch *s)
{
    char cache[RUNNER_PATH_BYTES], prefix[2 * RUNNER_PATH_BYTES];
    const char *home = getenv("HOME");
    bool found = false;
    snprintf(cache, sizeof cache, "%s/.npm/_npx", home ? home : "");
    DIR *dir = opendir(cache);
    for (struct dirent *e; dir && !found && (e = readdir(dir));) {
        snprintf(prefix, sizeof prefix, "%s/%s", cache, e->d_name);
        found = e->d_name[0] != '.' && read_package(s, prefix);
    }
    if (dir)
        closedir(dir);
    return found;
}

bool ptc_upstreams_runner(PtcScratch *scratch, PtcMem *mem, PtcValue entry, PtcRunner *out)
{
    PtcText command = ptc_fields_text(&scratch->heap, entry, "command");
    RunnerSearch s = {.scratch = scratch, .mem = mem, .runner = out};
    size_t i = 0, count = sizeof runners / sizeof *runners;
    *out = (PtcRunner){0};
    const char *slash = command.bytes ? memrchr(command.bytes, '/', command.len) : NULL;
    if (slash)
        command = (PtcText){slash + 1, command.len - (size_t)(slash + 1 - command.bytes)};
    while (i < count && !(command.bytes && ptc_text_is(command, runners[i].name)))
        i++;
    if (i == count)
        return false;
    out->name = runners[i].name;
    out->install = runners[i].install;
    read_runner_args(out, ptc_map_field(&scratch->heap, entry, "args"));
    if (out->package[0] && !out->program[0]) {
        if (!runners[i].npm)
            snprintf(out->program, sizeof out->program, "%s", out->package);
        else if (!any_dir(in_prefix, &s))
            (void)in_npx(&s);
    }
    out->on_path = out->program[0] && ptc_upstreams_runner_finds(out->program);
    return true;
}
