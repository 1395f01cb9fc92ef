/* SPDX-License-Identifier: MIT
 * Which files name upstreams, and what they say together.  What always holds: the same name in two files that were named
 * is a mistake; an import never replaces an entry of a named file. */
#include "cli/upstreams_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/io.h"
#include "cli/shown.h"
#include "engine/engine.h"
#include "upstream/config.h"
#include "upstream/fields.h"

extern char **environ;

enum { HEAP_BYTES = 256 * 1024 * 1024 };

typedef struct {
    PtcUpstreams *u;
    const char *command;
    char cwd[4096];
    int *status;
} Opening;

static bool fail(Opening *o, int status, const char *what, const char *why)
{
    *o->status = status;
    ptc_io_printf(PTC_IO_STDERR, "ptc %s: %s: %s\n", o->command, what, why);
    return false;
}

/* ------------------------------------------------------------------------------------ paths */

/* $NAME/ptc, or ~/FALLBACK/ptc; empty: neither is set. */
static void find_dir(char out[4096], const char *variable, const char *fallback)
{
    const char *dir = getenv(variable), *home = getenv("HOME");
    int n = 0;
    if (dir && dir[0] == '/')
        n = snprintf(out, 4096, "%s/ptc", dir);
    else if (home && home[0] == '/')
        n = snprintf(out, 4096, "%s/%s/ptc", home, fallback);
    if (n <= 0 || n >= 4096)
        out[0] = '\0';
}

/* Where clients keep the file of the person, below the home directory. */
static const struct {
    PtcDialect dialect;
    const char *path;
} homes[] = {
    {PTC_DIALECT_CLAUDE_CODE, ".claude.json"},
    {PTC_DIALECT_CLAUDE_DESKTOP, ".config/Claude/claude_desktop_config.json"},
    {PTC_DIALECT_CURSOR, ".cursor/mcp.json"},
    {PTC_DIALECT_VSCODE, ".config/Code/User/mcp.json"},
    {PTC_DIALECT_VSCODE, ".config/Code - Insiders/User/mcp.json"},
    {PTC_DIALECT_WINDSURF, ".codeium/windsurf/mcp_config.json"},
    {PTC_DIALECT_ZED, ".config/zed/settings.json"},
    {PTC_DIALECT_GEMINI, ".gemini/settings.json"},
};

/* ------------------------------------------------------------------------------------ world */

static PtcText variable(void *user, PtcText name)
{
    (void)user;
    for (char **v = environ; *v; v++)
        if (strncmp(*v, name.bytes, name.len) == 0 && (*v)[name.len] == '=')
            return ptc_text_cstr(*v + name.len + 1);
    return (PtcText){NULL, 0};
}

/* The text lives in the desk's arena. */
static PtcText read_text(PtcUpstreams *u, const char *path, const char **why)
{
    PtcBuf buf;
    char *kept = NULL;
    ptc_buf_init(&buf, u->mem, PTC_CONFIG_BYTES);
    *why = ptc_io_read(&buf, path);
    size_t len = buf.len;
    if (!*why && !(kept = ptc_arena_alloc(&u->desk.arena, len + 1)))
        *why = "out of memory";
    if (kept && len)
        memcpy(kept, buf.data, len);
    ptc_buf_deinit(&buf);
    return *why ? (PtcText){NULL, 0} : (PtcText){kept, len};
}

static PtcText read_beside(void *user, PtcText path)
{
    Opening *o = user;
    const char *why;
    char name[4096];
    if (path.len >= sizeof name)
        return (PtcText){NULL, 0};
    memcpy(name, path.bytes, path.len);
    name[path.len] = '\0';
    return ptc_io_may_wait(name) ? (PtcText){NULL, 0} : read_text(o->u, name, &why);
}

/* ------------------------------------------------------------------------------------ merge */

static bool has_entry(PtcUpstreams *u, PtcText name)
{
    for (size_t i = 0; i < ptc_fields_count(u->entries); i++)
        if (ptc_text_same(ptc_fields_text(&u->desk.heap, ptc_seq_nth(u->entries, i), "name"), name))
            return true;
    return false;
}

/* Of two rules with the same glob the stricter one stays. */
static void merge_policy(PtcHeap *heap, PtcValue *into, PtcValue from)
{
    PtcValue key, value;
    PtcPolicy old, new;
    if (from == PTC_NONE)
        return;
    if (*into == PTC_NONE)
        *into = ptc_fields_map(heap);
    for (size_t pos = 0; ptc_map_next(from, &pos, &key, &value);) {
        PtcValue there = ptc_fields_get(heap, *into, ptc_str_text(key));
        bool stays = there != PTC_NONE && ptc_policy_parse(ptc_str_text(there), &old) &&
                     ptc_policy_parse(ptc_str_text(value), &new) && old >= new;
        if (!stays)
            ptc_fields_put_key(heap, into, ptc_str_text(key), value);
    }
}

/* Two credentials with one name would send the one of this file to an upstream of the other. */
static bool merge_credentials(Opening *o, PtcValue from, const char *path)
{
    PtcHeap *heap = &o->u->desk.heap;
    PtcValue key, value, *into = &o->u->credentials;
    char text[300];
    if (from == PTC_NONE)
        return true;
    if (*into == PTC_NONE)
        *into = ptc_fields_map(heap);
    for (size_t pos = 0; ptc_map_next(from, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        if (ptc_fields_get(heap, *into, name) != PTC_NONE) {
            snprintf(text, sizeof text,
                     "the credential \"%.*s\" is in another file as well; give it another name",
                     (int)(name.len < 200 ? name.len : 200), name.bytes);
            return fail(o, PTC_EXIT_USAGE, path, text);
        }
        ptc_fields_put_key(heap, into, name, value);
    }
    return true;
}

static bool merge(Opening *o, const PtcConfig *config, const char *path, bool import)
{
    PtcUpstreams *u = o->u;
    PtcHeap *heap = &u->desk.heap;
    for (size_t i = 0; i < ptc_fields_count(config->upstreams); i++) {
        PtcValue entry = ptc_seq_nth(config->upstreams, i);
        PtcText name = ptc_fields_text(heap, entry, "name");
        if (!has_entry(u, name)) {
            PtcValue place = ptc_seq_nth(config->places, i);
            ptc_fields_put_text(heap, &place, "file", ptc_text_cstr(path));
            ptc_fields_push(heap, &u->entries, entry);
            ptc_fields_push(heap, &u->places, place);
        } else if (import) {
            ptc_io_printf(PTC_IO_STDERR, "ptc %s: %s: %.*s is left out: a named file has it\n",
                          o->command, path, (int)name.len, name.bytes);
        } else {
            char text[300];
            snprintf(text, sizeof text, "the upstream \"%.*s\" is in another file as well",
                     (int)(name.len < 200 ? name.len : 200), name.bytes);
            return fail(o, PTC_EXIT_USAGE, path, text);
        }
    }
    merge_policy(heap, &u->policy, config->policy);
    if (!merge_credentials(o, config->credentials, path))
        return false;
    for (size_t i = 0; i < ptc_fields_count(config->secrets); i++)
        ptc_fields_push(heap, &u->secrets, ptc_seq_nth(config->secrets, i));
    return ptc_fields_ok(heap) || fail(o, PTC_EXIT_FAILED, path, "out of memory");
}

static bool tell_mistakes(Opening *o, const PtcConfig *config, const char *path)
{
    PtcUpstreams *u = o->u;
    for (size_t i = 0; i < ptc_fields_count(config->errors); i++) {
        PtcBuf line;
        ptc_buf_init(&line, u->mem, 4096);
        ptc_config_message(&line, &u->desk.heap, ptc_text_cstr(path),
                           ptc_seq_nth(config->errors, i));
        (void)!ptc_shown_write_line(PTC_IO_STDERR, line.data ? line.data : "", line.len);
        ptc_buf_deinit(&line);
    }
    *o->status = PTC_EXIT_USAGE;
    return false;
}

static bool read_one(Opening *o, const char *path, PtcDialect dialect, bool import)
{
    PtcUpstreams *u = o->u;
    const char *why;
    PtcConfig config;
    PtcConfigIn in = {.text = read_text(u, path, &why),
                      .file = ptc_text_cstr(path),
                      .project = ptc_text_cstr(o->cwd),
                      .dialect = dialect,
                      .variable = variable,
                      .read = read_beside,
                      .user = o};
    if (why)
        return fail(o, PTC_EXIT_FAILED, path, why);
    if (!ptc_config_read(&u->desk.heap, &in, &config))
        return fail(o, PTC_EXIT_FAILED, path, "out of memory");
    return config.ok ? merge(o, &config, path, import) : tell_mistakes(o, &config, path);
}

/* ------------------------------------------------------------------------------------ files */

/* CLIENT:FILE, or a file alone. */
static bool read_named(Opening *o, const char *item)
{
    PtcDialect dialect = PTC_DIALECT_UNSET;
    const char *colon = strchr(item, ':');
    if (colon && ptc_dialect_parse((PtcText){item, (size_t)(colon - item)}, &dialect))
        item = colon + 1;
    return read_one(o, item, dialect, false);
}

/* The file that is read when none is named; false: there is none. */
static bool find_default(char path[4200])
{
    char dir[4096];
    find_dir(dir, "XDG_CONFIG_HOME", ".config");
    snprintf(path, 4200, "%s/upstreams.json", dir);
    return dir[0] && access(path, F_OK) == 0;
}

/* A file that nobody named on the command line must not be able to hold us up. */
static bool read_unnamed(Opening *o, const char *path, PtcDialect dialect, bool import)
{
    if (ptc_io_may_wait(path))
        return fail(o, PTC_EXIT_FAILED, path, "it is no regular file");
    return read_one(o, path, dialect, import);
}

static bool read_import(Opening *o, const char *client)
{
    PtcDialect dialect;
    char path[4096];
    const char *home = getenv("HOME");
    bool found = false;
    if (!ptc_dialect_parse(ptc_text_cstr(client), &dialect))
        return fail(
            o, PTC_EXIT_USAGE, "--import",
            "it takes claude-code, claude-desktop, cursor, vscode, windsurf, zed or gemini");
    for (size_t i = 0; home && i < sizeof homes / sizeof *homes; i++) {
        int n = homes[i].dialect == dialect
                    ? snprintf(path, sizeof path, "%s/%s", home, homes[i].path)
                    : -1;
        if (n <= 0 || (size_t)n >= sizeof path || access(path, F_OK) != 0)
            continue;
        found = true;
        if (!read_unnamed(o, path, dialect, true))
            return false;
    }
    return found || fail(o, PTC_EXIT_FAILED, "--import", "that client has no file here");
}

static bool read_all(Opening *o, const PtcUpstreamsOptions *options, const char *otherwise)
{
    bool ok = !otherwise || read_unnamed(o, otherwise, PTC_DIALECT_OURS, false);
    for (size_t i = 0; ok && i < options->files.count; i++)
        ok = read_named(o, options->files.items[i]);
    for (size_t i = 0; ok && i < options->imports.count; i++)
        ok = read_import(o, options->imports.items[i]);
    return ok;
}

static bool make_manager(Opening *o, const PtcUpstreamsOptions *options,
                         void (*log)(void *user, PtcText line), void *user)
{
    PtcUpstreams *u = o->u;
    char why[200];
    find_dir(u->cache_dir, "XDG_CACHE_HOME", ".cache");
    find_dir(u->state_dir, "XDG_STATE_HOME", ".local/state");
    PtcManagerConfig config = {.heap = &u->desk.heap,
                               .entries = u->entries,
                               .places = u->places,
                               .policy = u->policy,
                               .credentials = u->credentials,
                               .secrets = u->secrets,
                               .posture = options->policy < 0 ? PTC_POSTURE_DEFAULT
                                                              : (PtcPosture)options->policy,
                               .approved = options->approved,
                               .cache_dir = u->cache_dir[0] ? u->cache_dir : NULL,
                               .state_dir = u->state_dir[0] ? u->state_dir : NULL,
                               .environment = (const char *const *)environ,
                               .call_ms = options->call_ms,
                               .load_ms = options->load_ms,
                               .log = log,
                               .user = user};
    u->manager = ptc_manager_new(u->mem, &config, why);
    return u->manager || fail(o, PTC_EXIT_FAILED, "upstreams", why);
}

bool ptc_upstreams_open(PtcUpstreams *u, PtcMem *mem, const char *command,
                        const PtcUpstreamsOptions *options, void (*log)(void *user, PtcText line),
                        void *user, int *status)
{
    Opening o = {.u = u, .command = command, .status = status};
    char otherwise[4200];
    bool named = options->files.count || options->imports.count;
    memset(u, 0, sizeof *u);
    if (options->none || (!named && !find_default(otherwise))) /* which costs nothing */
        return true;
    u->mem = mem;
    ptc_desk_init(&u->desk, mem, HEAP_BYTES);
    u->policy = u->credentials = PTC_NONE;
    u->entries = ptc_fields_list(&u->desk.heap);
    u->secrets = ptc_fields_list(&u->desk.heap);
    u->places = ptc_fields_list(&u->desk.heap);
    if (!getcwd(o.cwd, sizeof o.cwd))
        o.cwd[0] = '\0';
    return read_all(&o, options, named ? NULL : otherwise) &&
           (ptc_fields_count(u->entries) == 0 || make_manager(&o, options, log, user));
}

/* -------------------------------------------------------------------------------- programs */

static void set_unset(int64_t *limit, int64_t to)
{
    if (*limit == PTC_UNSET)
        *limit = to;
}

void ptc_upstreams_limits(const PtcUpstreams *u, PtcLimits *limits)
{
    if (!u->manager)
        return;
    set_unset(&limits->timeout_ms, 5 * 1000);
    set_unset(&limits->deadline_ms, 60 * 1000);
    set_unset(&limits->memory_bytes, 64 << 20);
    set_unset(&limits->max_workers, 16);
}

static PtcStatus eval(Ptc *ptc, const PtcRun *run, const PtcRunMore *more, PtcOutcome **outcome)
{
    return more ? ptc_engine_run_more(ptc, run, more, outcome) : ptc_eval(ptc, run, outcome);
}

PtcStatus ptc_upstreams_eval(PtcUpstreams *u, Ptc *ptc, const PtcRun *run, const PtcRunMore *more,
                             PtcOutcome **outcome)
{
    if (!u->manager)
        return eval(ptc, run, more, outcome);
    PtcRemote *remote = ptc_manager_remote(u->manager);
    PtcRemoteRun far = {.remote = remote};
    int64_t end = ptc_clock_ns(NULL) + ptc_limits_of(ptc)->deadline_ms * 1000000;
    far.run = remote->begin(remote, "local", end, &ptc->cancel, &far.version);
    if (!far.run)
        return PTC_NO_MEMORY;
    ptc->remote = &far;
    PtcStatus status = eval(ptc, run, more, outcome);
    ptc->remote = NULL;
    remote->end(far.run, NULL);
    return status;
}

void ptc_upstreams_close(PtcUpstreams *u)
{
    if (!u->mem)
        return;
    ptc_manager_free(u->manager);
    ptc_desk_deinit(&u->desk);
    u->mem = NULL;
}
