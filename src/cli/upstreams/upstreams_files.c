/* SPDX-License-Identifier: MIT
 * Which files name upstreams, and what they say together.  What always holds: the same name in two files that were
 * named is a mistake; an import never replaces an entry of a named file; no entry of a project's file is used that
 * nobody has approved. */
#include "cli/upstreams/upstreams_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "cli/upstreams/upstreams_places.h"
#include "upstream/catalog/naming.h"
#include "upstream/config/config.h"
#include "upstream/config/entry.h"
#include "upstream/config/rule_check.h"
#include "upstream/config/variables.h"
#include "value/coll/fields.h"

enum { FILES_PATH_BYTES = PTC_UPSTREAMS_PATH, FILES_CLIENTS = PTC_DIALECT_OTHER + 1 };

/* A file to be read. */
typedef struct {
    const char *path;
    PtcConfigDialect dialect;
    bool import; /* nobody named the file itself */
    /* Of a project's file: the option that names it; NULL: it is the person's own. */
    const char *how;
    const char *project;
} ConfigSource;

typedef struct {
    PtcUpstreams *u;
    const char *command;
    const PtcUpstreamsOptions *options;
    char cwd[FILES_PATH_BYTES];
    int *status;
    bool lines; /* places need them */
    /* Files that `from` has read: the person's own, the project's. */
    PtcConfig froms[FILES_CLIENTS][2];
    bool from_read[FILES_CLIENTS][2];
    char from_path[FILES_CLIENTS][2][FILES_PATH_BYTES];
} ConfigReading;

/* A message on standard error; control characters in what files say are shown as text, not sent to the terminal. */
static bool fail_reading(ConfigReading *r, int status, const char *what, const char *why)
{
    PtcBuf line;
    ptc_buf_init(&line, r->u->mem, 16 * PTC_KB);
    if (!r->options->say)
        ptc_buf_addf(&line, "ptc %s: ", r->command);
    ptc_buf_addf(&line, "%s: %s", what, why);
    *r->status = status;
    if (r->options->say)
        r->options->say(r->options->say_user, ptc_buf_view(&line));
    else
        (void)!ptc_shown_write_line(PTC_IO_STDERR, ptc_buf_view(&line).bytes, line.len);
    ptc_buf_deinit(&line);
    return false;
}

static void notice(ConfigReading *r, const char *what, const char *why)
{
    int status = *r->status;
    if (!r->options->quiet)
        (void)fail_reading(r, status, what, why);
}

/* ------------------------------------------------------------------------------------ paths */

/* $NAME/ptc, or ~/FALLBACK/ptc; empty: neither is set. */
static void find_dir(char out[FILES_PATH_BYTES], const char *variable, const char *fallback)
{
    const char *dir = getenv(variable), *home = getenv("HOME");
    int n = 0;
    if (dir && dir[0] == '/')
        n = snprintf(out, FILES_PATH_BYTES, "%s/ptc", dir);
    else if (home && home[0] == '/')
        n = snprintf(out, FILES_PATH_BYTES, "%s/%s/ptc", home, fallback);
    if (n <= 0 || n >= FILES_PATH_BYTES)
        out[0] = '\0';
}

void ptc_upstreams_files_state(char dir[PTC_UPSTREAMS_PATH])
{
    find_dir(dir, "XDG_STATE_HOME", ".local/state");
}

/* ------------------------------------------------------------------------------------ world */

/* The text lives in the scratch's arena. */
static PtcText read_config_text(PtcUpstreams *u, const char *path, const char **why)
{
    PtcBuf buf;
    char *kept = NULL;
    ptc_buf_init(&buf, u->mem, PTC_CONFIG_BYTES);
    *why = ptc_io_read(&buf, path);
    size_t len = buf.len;
    if (!*why && !(kept = ptc_arena_alloc(&u->scratch.arena, len + 1)))
        *why = "out of memory";
    if (kept && len)
        memcpy(kept, buf.data, len);
    ptc_buf_deinit(&buf);
    return *why ? (PtcText){NULL, 0} : (PtcText){kept, len};
}

static PtcText read_beside_file(void *user, PtcText path)
{
    ConfigReading *r = user;
    const char *why;
    char name[FILES_PATH_BYTES];
    if (path.len >= sizeof name)
        return (PtcText){NULL, 0};
    memcpy(name, path.bytes, path.len);
    name[path.len] = '\0';
    return ptc_io_may_wait(name) ? (PtcText){NULL, 0} : read_config_text(r->u, name, &why);
}

/* ------------------------------------------------------------------------------------ rules */

/* Of two rules with the same glob the stricter one stays. */
static void merge_rule(PtcHeap *heap, PtcValue *into, PtcText glob, PtcText word)
{
    PtcPolicy old, new;
    if (*into == PTC_NONE)
        *into = ptc_fields_map(heap);
    PtcValue there = ptc_fields_get(heap, *into, glob);
    bool stays = there != PTC_NONE && ptc_policy_parse(ptc_str_text(there), &old) &&
                 ptc_policy_parse(word, &new) && old >= new;
    if (!stays)
        ptc_fields_put_key(heap, into, glob, ptc_fields_string(heap, word));
}

static void merge_policy(PtcHeap *heap, PtcValue *into, PtcValue from)
{
    PtcValue key, value;
    for (size_t pos = 0; from != PTC_NONE && ptc_map_next(from, &pos, &key, &value);)
        merge_rule(heap, into, ptc_str_text(key), ptc_str_text(value));
}

/* --allow and --deny: server/tool, or a server for all of its tools. */
static bool add_rules(ConfigReading *r, const PtcOptionList *list, const char *word)
{
    char glob[FILES_PATH_BYTES];
    for (size_t i = 0; i < list->count; i++) {
        if (strlen(list->items[i]) > sizeof glob - 3) /* a rule that is cut would fit more */
            return fail_reading(r, PTC_EXIT_USAGE, word, "the pattern is too long");
        snprintf(glob, sizeof glob, "%s%s", list->items[i],
                 strchr(list->items[i], '/') ? "" : "/*");
        merge_rule(&r->u->scratch.heap, &r->u->policy, ptc_text_cstr(glob), ptc_text_cstr(word));
    }
    return true;
}

static void notice_rule(void *user, PtcText line)
{
    notice(user, "policy", line.bytes);
}

/* Once all files are read: a rule may be for a server of another one. */
static bool check_policy_rules(ConfigReading *r)
{
    PtcWhy why;
    return ptc_rule_check_servers(&r->u->scratch.heap, r->u->entries, r->u->policy, notice_rule, r,
                                  &why) ||
           fail_reading(r, PTC_EXIT_USAGE, "policy", why.text);
}

/* Two credentials with one name would send the one of this file to an upstream of the other. */
static bool merge_credentials(ConfigReading *r, PtcValue from, const char *path)
{
    PtcHeap *heap = &r->u->scratch.heap;
    PtcValue key, value, *into = &r->u->credentials;
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
                     PTC_ARG(ptc_text_cut(name, 200)));
            return fail_reading(r, PTC_EXIT_USAGE, path, text);
        }
        ptc_fields_put_key(heap, into, name, value);
    }
    return true;
}

static void add_config_items(PtcHeap *heap, PtcValue *into, PtcValue list)
{
    for (size_t i = 0; i < ptc_fields_count(list); i++)
        ptc_fields_push(heap, into, ptc_seq_nth(list, i));
}

/* ------------------------------------------------------------------------------------ notes */

static void add_notes(ConfigReading *r, const PtcConfig *config, const char *path)
{
    PtcHeap *heap = &r->u->scratch.heap;
    for (size_t i = 0; i < ptc_fields_count(config->notes); i++) {
        PtcValue note = ptc_seq_nth(config->notes, i);
        PtcText code = ptc_fields_text(heap, note, "code");
        PtcText at = ptc_fields_text(heap, note, "path");
        char text[600];
        ptc_fields_put_text(heap, &note, "file", ptc_text_cstr(path));
        ptc_fields_push(heap, &r->u->notes, note);
        snprintf(text, sizeof text, "%.*s: %s", PTC_ARG(ptc_text_cut(at, 300)),
                 ptc_config_note_text(code));
        notice(r, path, text);
    }
}

static bool tell_mistakes(ConfigReading *r, const PtcConfig *config, const char *path)
{
    PtcUpstreams *u = r->u;
    for (size_t i = 0; i < ptc_fields_count(config->errors); i++) {
        PtcBuf line;
        ptc_buf_init(&line, u->mem, 4096);
        ptc_config_message(&line, &u->scratch.heap, ptc_text_cstr(path),
                           ptc_seq_nth(config->errors, i));
        (void)!ptc_shown_write_line(PTC_IO_STDERR, line.data ? line.data : "", line.len);
        ptc_buf_deinit(&line);
    }
    *r->status = PTC_EXIT_USAGE;
    return false;
}

/* ------------------------------------------------------------------------------------- read */

/* What a file says, without anything done about it. */
static bool read_upstream_config(ConfigReading *r, const ConfigSource *s, PtcConfig *config)
{
    PtcUpstreams *u = r->u;
    const char *why;
    /* a file that nobody named must not hold us up, nor any while we serve */
    if ((s->import || r->options->say) && ptc_io_may_wait(s->path))
        return fail_reading(r, PTC_EXIT_FAILED, s->path, "it is not a regular file");
    PtcConfigIn in = {.text = read_config_text(u, s->path, &why),
                      .file = ptc_text_cstr(s->path),
                      .project = ptc_text_cstr(s->project ? s->project : r->cwd),
                      .cwd = ptc_text_cstr(r->cwd),
                      .dialect = s->dialect,
                      .lines = r->lines,
                      .variable = ptc_variables_environ,
                      .read = read_beside_file,
                      .user = r};
    if (why) /* who names a file that is not there has made a mistake in the command */
        return fail_reading(r, s->import ? PTC_EXIT_FAILED : PTC_EXIT_USAGE, s->path, why);
    if (!ptc_config_read(&u->scratch.heap, &in, config))
        return fail_reading(r, PTC_EXIT_FAILED, s->path, "out of memory");
    return config->ok || tell_mistakes(r, config, s->path);
}

/* CLIENT or CLIENT:project; false: it is neither. */
static bool parse_client(const char *text, PtcConfigDialect *dialect, bool *project)
{
    const char *colon = strchr(text, ':');
    PtcText name = colon ? (PtcText){text, (size_t)(colon - text)} : ptc_text_cstr(text);
    *project = colon != NULL;
    return (!colon || strcmp(colon, ":project") == 0) && ptc_dialect_parse(name, dialect);
}

/* -------------------------------------------------------------------------------------- from */

/* The file of a client, read once for all entries that take from it.  False: *why says why not. */
static bool read_from(ConfigReading *r, PtcConfigDialect dialect, bool project, PtcConfig **out,
                      const char **why)
{
    char dir[FILES_PATH_BYTES], *path = r->from_path[dialect][project];
    size_t at = 0;
    *out = &r->froms[dialect][project];
    *why = "that client has no file here";
    if (r->from_read[dialect][project])
        return (*out)->ok;
    r->from_read[dialect][project] = true;
    if (!ptc_upstreams_places_next(&at, dialect, project ? r->cwd : NULL, path, dir))
        return false;
    ConfigSource s = {
        .path = path, .dialect = dialect, .import = true, .project = project ? dir : NULL};
    if (!read_upstream_config(r, &s, *out)) {
        *why = NULL; /* it has been told */
        return false;
    }
    add_config_items(&r->u->scratch.heap, &r->u->secrets, (*out)->secrets);
    add_notes(r, *out, path);
    return true;
}

/* The definition of the client with the keys of our entry on top. */
static void overlay(PtcHeap *heap, PtcValue *entry, PtcValue theirs)
{
    PtcValue key, value, out = theirs;
    for (size_t pos = 0; ptc_map_next(*entry, &pos, &key, &value);)
        if (!ptc_text_is(ptc_str_text(key), "from"))
            ptc_fields_put_key(heap, &out, ptc_str_text(key), value);
    *entry = out;
}

/* `written` of the client's entry goes to the place, since that is what has to be approved. */
static void take_from(ConfigReading *r, PtcConfig *config, const char *client, PtcValue *entry,
                      PtcValue *place)
{
    PtcHeap *heap = &r->u->scratch.heap;
    PtcText name = ptc_fields_text(heap, *entry, "name");
    char message[200];
    for (size_t i = 0; i < ptc_fields_count(config->upstreams); i++) {
        PtcValue theirs = ptc_seq_nth(config->upstreams, i);
        PtcValue at = ptc_seq_nth(config->places, i);
        if (!ptc_text_same(ptc_fields_text(heap, theirs, "name"), name))
            continue;
        ptc_fields_put(heap, place, "written", ptc_map_field(heap, at, "written"));
        ptc_fields_put(heap, place, "message", ptc_map_field(heap, at, "message"));
        if (ptc_map_field(heap, theirs, "unusable") != PTC_NONE)
            *entry = theirs;
        else
            overlay(heap, entry, theirs);
        return;
    }
    snprintf(message, sizeof message, "%.40s has no upstream \"%.*s\"", client,
             PTC_ARG(ptc_text_cut(name, 100)));
    ptc_upstreams_unusable(heap, entry, place, "missing", message);
}

/* Entries with `from`; false: it names no client, or its file is broken. */
static bool resolve_from(ConfigReading *r, const char *path, PtcValue *entry, PtcValue *place)
{
    PtcHeap *heap = &r->u->scratch.heap;
    PtcText from = ptc_fields_text(heap, *entry, "from");
    PtcConfigDialect dialect;
    PtcConfig *config;
    const char *why;
    bool project;
    char client[64], how[100], text[200];
    if (!from.bytes)
        return true;
    snprintf(client, sizeof client, "%.*s", PTC_ARG(ptc_text_cut(from, 60)));
    if (!parse_client(client, &dialect, &project)) {
        snprintf(text, sizeof text, "\"from\": \"%s\" names no client; there are %s", client,
                 "claude-code, claude-desktop, cursor, vscode, windsurf, zed and gemini");
        return fail_reading(r, PTC_EXIT_USAGE, path, text);
    }
    if (read_from(r, dialect, project, &config, &why))
        take_from(r, config, client, entry, place);
    else if (!why)
        return false;
    else
        ptc_upstreams_unusable(heap, entry, place, "missing_file", why);
    snprintf(how, sizeof how, "with the same options");
    if (project)
        ptc_upstreams_project(r->u, how, entry, place);
    return true;
}

/* ------------------------------------------------------------------------------------ merge */

/* FILE:LINE of an upstream. */
static void place_text(ConfigReading *r, PtcValue place, char out[600])
{
    PtcHeap *heap = &r->u->scratch.heap;
    PtcText file = ptc_fields_text(heap, place, "file");
    PtcValue line = ptc_map_field(heap, place, "line");
    int n = snprintf(out, 600, "%.*s", PTC_ARG(ptc_text_cut(file, 500)));
    if (line != PTC_NONE && n > 0)
        snprintf(out + n, 600 - (size_t)n, ":%lld", (long long)ptc_to_int(line));
}

/* The number of the upstream with this name, or with a namespace that programs cannot tell from this one; -1: none. */
static int find_same_upstream(ConfigReading *r, PtcText name, PtcText ns, bool *by_name)
{
    PtcHeap *heap = &r->u->scratch.heap;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < ptc_fields_count(r->u->entries); i++) {
            PtcValue other = ptc_seq_nth(r->u->entries, i);
            PtcText other_ns = ptc_fields_text(heap, other, "namespace");
            *by_name = pass == 0;
            if (pass == 0 ? ptc_text_same(ptc_fields_text(heap, other, "name"), name)
                          : ns.bytes && other_ns.bytes && ptc_naming_same_namespace(other_ns, ns))
                return (int)i;
        }
    return -1;
}

/* Another file has the name or the namespace.  True: the entry goes on, as unusable; false with *left: it is left
 * out. */
static bool settle_same_upstream(ConfigReading *r, const ConfigSource *s, int same, bool by_name,
                                 PtcValue *entry, PtcValue *place, bool *left)
{
    PtcHeap *heap = &r->u->scratch.heap;
    PtcText name = ptc_fields_text(heap, *entry, "name");
    char here[600], there[600], text[1400];
    place_text(r, *place, here);
    place_text(r, ptc_seq_nth(r->u->places, (size_t)same), there);
    *left = by_name && s->import;
    snprintf(text, sizeof text, "the upstream \"%.*s\" %s %s%s", PTC_ARG(ptc_text_cut(name, 100)),
             *left     ? "is left out:"
             : by_name ? "is also in"
                       : "has the namespace of one in",
             there,
             *left     ? " has it"
             : by_name ? ""
                       : "; give it a \"namespace\"");
    if (*left)
        notice(r, here, text);
    else if (by_name || ptc_map_field(heap, *place, "written") == PTC_NONE)
        return fail_reading(r, PTC_EXIT_USAGE, here, text);
    else
        ptc_upstreams_unusable(heap, entry, place, "duplicate", text);
    return !*left;
}

static bool merge_upstream_entry(ConfigReading *r, const ConfigSource *s, PtcValue entry,
                                 PtcValue place)
{
    PtcUpstreams *u = r->u;
    PtcHeap *heap = &u->scratch.heap;
    bool by_name, left = false;
    ptc_fields_put_text(heap, &place, "file", ptc_text_cstr(s->path));
    int same = find_same_upstream(r, ptc_fields_text(heap, entry, "name"),
                                  ptc_fields_text(heap, entry, "namespace"), &by_name);
    if (same >= 0 && !settle_same_upstream(r, s, same, by_name, &entry, &place, &left))
        return left;
    if (s->how)
        ptc_upstreams_project(u, s->how, &entry, &place);
    if (!resolve_from(r, s->path, &entry, &place))
        return false;
    ptc_fields_push(heap, &u->entries, ptc_entry_locate(heap, entry, s->path));
    ptc_fields_push(heap, &u->places, place);
    return true;
}

static bool read_config_source(ConfigReading *r, const ConfigSource *s)
{
    PtcUpstreams *u = r->u;
    PtcHeap *heap = &u->scratch.heap;
    PtcConfig config;
    if (!read_upstream_config(r, s, &config))
        return false;
    for (size_t i = 0; i < ptc_fields_count(config.upstreams); i++)
        if (!merge_upstream_entry(r, s, ptc_seq_nth(config.upstreams, i),
                                  ptc_seq_nth(config.places, i)))
            return false;
    merge_policy(heap, &u->policy, config.policy);
    if (!merge_credentials(r, config.credentials, s->path))
        return false;
    add_config_items(heap, &u->secrets, config.secrets);
    add_notes(r, &config, s->path);
    return ptc_fields_ok(heap) || fail_reading(r, PTC_EXIT_FAILED, s->path, "out of memory");
}

/* ------------------------------------------------------------------------------------ files */

/* The directory above .vscode or .cursor, where that is not the home directory. */
static const char *project_of(ConfigReading *r, const char *path, char project[FILES_PATH_BYTES])
{
    static const char *const dirs[] = {"/.vscode/", "/.cursor/"};
    const char *home = getenv("HOME");
    char full[FILES_PATH_BYTES];
    int n = snprintf(full, sizeof full, "%s%s%s", path[0] == '/' ? "" : r->cwd,
                     path[0] == '/' ? "" : "/", path);
    for (size_t i = 0; n > 0 && n < FILES_PATH_BYTES && i < 2; i++) {
        char *at = strstr(full, dirs[i]);
        if (!at || strchr(at + strlen(dirs[i]), '/'))
            continue;
        *at = '\0';
        snprintf(project, FILES_PATH_BYTES, "%s", full);
        return home && strcmp(home, project) == 0 ? NULL : project;
    }
    return NULL;
}

/* CLIENT:FILE, or a file alone. */
static bool read_named(ConfigReading *r, const char *item)
{
    PtcConfigDialect dialect = PTC_DIALECT_UNSET;
    char project[FILES_PATH_BYTES];
    const char *colon = strchr(item, ':');
    if (colon && ptc_dialect_parse((PtcText){item, (size_t)(colon - item)}, &dialect))
        item = colon + 1;
    return read_config_source(
        r,
        &(ConfigSource){.path = item, .dialect = dialect, .project = project_of(r, item, project)});
}

static bool read_import(ConfigReading *r, const char *client)
{
    PtcConfigDialect dialect;
    char path[FILES_PATH_BYTES], dir[FILES_PATH_BYTES], how[120], text[200];
    bool found = false, project;
    size_t at = 0;
    if (!parse_client(client, &dialect, &project))
        return fail_reading(
            r, PTC_EXIT_USAGE, "--import",
            "it takes claude-code, claude-desktop, cursor, vscode, windsurf, zed or "
            "gemini, with :project for the file of the project");
    snprintf(how, sizeof how, "--import %.100s", client);
    while (ptc_upstreams_places_next(&at, dialect, project ? r->cwd : NULL, path, dir)) {
        found = true;
        ConfigSource s = {.path = path,
                          .dialect = dialect,
                          .import = true,
                          .how = project ? how : NULL,
                          .project = project ? dir : NULL};
        if (!read_config_source(r, &s))
            return false;
    }
    const char *name = ptc_upstreams_places_name(dialect, project);
    snprintf(text, sizeof text, "%.100s has no file here%s%s%s", client,
             name ? project ? ": no " : ": no ~/" : "", name ? name : "",
             name && project ? " in this directory or one above it" : "");
    return found || fail_reading(r, PTC_EXIT_FAILED, "--import", text);
}

/* The file that is read when none is named; false: there is none. */
static bool find_default(char path[FILES_PATH_BYTES])
{
    char dir[FILES_PATH_BYTES];
    find_dir(dir, "XDG_CONFIG_HOME", ".config");
    int n = snprintf(path, FILES_PATH_BYTES, "%s/upstreams.json", dir);
    return dir[0] && n > 0 && n < FILES_PATH_BYTES && access(path, F_OK) == 0;
}

static bool has_named_files(const PtcUpstreamsOptions *options)
{
    return options->files.count || options->imports.count;
}

bool ptc_upstreams_files_any(const PtcUpstreamsOptions *options)
{
    char path[FILES_PATH_BYTES];
    return !options->none && (has_named_files(options) || find_default(path));
}

static bool read_config_files(ConfigReading *r)
{
    const PtcUpstreamsOptions *o = r->options;
    char path[FILES_PATH_BYTES];
    bool ok = true;
    if (!has_named_files(o) && find_default(path))
        ok = read_config_source(r, &(ConfigSource){.path = path, .dialect = PTC_DIALECT_OURS});
    for (size_t i = 0; ok && i < o->files.count; i++)
        ok = read_named(r, o->files.items[i]);
    for (size_t i = 0; ok && i < o->imports.count; i++)
        ok = read_import(r, o->imports.items[i]);
    return ok;
}

bool ptc_upstreams_files_client(PtcUpstreams *u, PtcConfigDialect dialect, PtcConfig *config,
                                char path[FILES_PATH_BYTES])
{
    const char *why;
    char cwd[FILES_PATH_BYTES];
    size_t at = 0;
    ConfigReading r = {.u = u}; /* for read_beside */
    while (ptc_upstreams_places_next(&at, dialect, NULL, path, NULL)) {
        if (ptc_io_may_wait(path))
            continue;
        PtcConfigIn in = {.text = read_config_text(u, path, &why),
                          .file = ptc_text_cstr(path),
                          .project = ptc_text_cstr(getcwd(cwd, sizeof cwd) ? cwd : "/"),
                          .dialect = dialect,
                          .variable = ptc_variables_environ,
                          .read = read_beside_file,
                          .user = &r};
        return !why && ptc_config_read(&u->scratch.heap, &in, config) && config->ok;
    }
    return false;
}

bool ptc_upstreams_files_read(PtcUpstreams *u, const char *command,
                              const PtcUpstreamsOptions *options, int *status)
{
    PtcHeap *heap = &u->scratch.heap;
    ConfigReading *r = ptc_mem_alloc(u->mem, sizeof *r);
    *status = PTC_EXIT_FAILED;
    if (!r)
        return false;
    memset(r, 0, sizeof *r);
    r->u = u;
    r->command = command;
    r->options = options;
    r->status = status;
    r->lines = options->lines || options->files.count + options->imports.count > 1;
    u->policy = u->credentials = PTC_NONE;
    u->entries = ptc_fields_list(heap);
    u->places = ptc_fields_list(heap);
    u->secrets = ptc_fields_list(heap);
    u->notes = ptc_fields_list(heap);
    find_dir(u->cache_dir, "XDG_CACHE_HOME", ".cache");
    ptc_upstreams_files_state(u->state_dir);
    if (!getcwd(r->cwd, sizeof r->cwd))
        r->cwd[0] = '\0';
    bool ok = read_config_files(r) && add_rules(r, &options->allow, "allow") &&
              add_rules(r, &options->deny, "deny") && check_policy_rules(r);
    ok = ok &&
         (ptc_fields_ok(heap) || fail_reading(r, PTC_EXIT_FAILED, "upstreams", "out of memory"));
    ptc_mem_free(u->mem, r, sizeof *r);
    return ok;
}
