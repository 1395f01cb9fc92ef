/* SPDX-License-Identifier: MIT
 * `ptc upstreams doctor`: check, and then advice.  Each piece of advice says what is wrong and what to write or run;
 * what cannot be acted on is not told.  What always holds: no value of a variable, a header or a file is shown. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/text/clean.h"
#include "base/text/nearest.h"
#include "base/text/one_line.h"
#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/out/shown.h"
#include "cli/upstreams/upstreams_ask.h"
#include "cli/upstreams/upstreams_files.h"
#include "cli/upstreams/upstreams_runner.h"
#include "json/emit.h"
#include "upstream/catalog/catalog_text.h"
#include "upstream/catalog/pins.h"
#include "value/coll/fields.h"

extern char **environ;

enum { DOCTOR_OUT_BYTES = 16 * PTC_MB, DOCTOR_TEXT_BYTES = 4096, NAMES_TOLD = 10 };

typedef struct {
    PtcUpstreamsCommand *c;
    PtcHeap *heap;
    PtcBuf out;
    size_t count; /* pieces of advice */
    /* The upstream at hand. */
    PtcUpstreamState state;
    PtcValue entry, place;
    int64_t ms; /* that its start took */
} Doctor;

/* ----------------------------------------------------------------------------------- advice */

/* A command or a directory may have been made with a secret. */
static void blot_doctor_text(const Doctor *d, const char *text, char safe[DOCTOR_TEXT_BYTES])
{
    PtcBuf out;
    ptc_buf_init(&out, d->c->mem, 2 * DOCTOR_TEXT_BYTES);
    ptc_secrets_blot(ptc_manager_secrets(d->c->upstreams->manager), &out, ptc_text_cstr(text),
                     false);
    snprintf(safe, DOCTOR_TEXT_BYTES, "%.*s", PTC_ARG_OF(out.data, out.len));
    ptc_buf_deinit(&out);
}

static void advise(Doctor *d, const char *code, const char *format, ...) PTC_PRINTF(3, 4);
static void advise(Doctor *d, const char *code, const char *format, ...)
{
    char text[DOCTOR_TEXT_BYTES], safe[DOCTOR_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    blot_doctor_text(d, text, safe);
    d->count++;
    if (d->c->json) {
        ptc_emit_object(&d->out);
        ptc_emit_field_text(&d->out, "server", d->state.name);
        ptc_emit_field_cstr(&d->out, "code", code);
        ptc_emit_field_cstr(&d->out, "advice", safe);
        ptc_emit_object_end(&d->out);
        return;
    }
    ptc_buf_add_cstr(&d->out, "- ");
    ptc_clean_add(&d->out, d->state.name, PTC_CLEAN_LINE, false);
    ptc_buf_addf(&d->out, "%s%s\n", d->state.name.bytes ? ": " : "", safe);
}

static PtcText entry_member_text(Doctor *d, const char *key)
{
    return ptc_fields_text(d->heap, d->entry, key);
}

enum { DOCTOR_SHOWN = 200 }; /* bytes of a text of a file in a message */

/* ---------------------------------------------------------------------------------- programs */

static void look_at_runner(Doctor *d)
{
    PtcRunner r;
    if (!ptc_upstreams_runner(&d->c->upstreams->scratch, d->c->mem, d->entry, &r) || !r.package[0])
        return;
    if (r.on_path)
        advise(d, "runner",
               "%s looks for the package each time (its start took %lld ms); the program is "
               "installed: write \"command\": \"%s\" and leave %s and the package out of \"args\"",
               r.name, (long long)d->ms, r.program, r.name);
    else if (r.program[0])
        advise(d, "runner",
               "%s looks for the package each time (its start took %lld ms); run %s %s, then write "
               "\"command\": \"%s\"",
               r.name, (long long)d->ms, r.install, r.package, r.program);
    else
        advise(d, "runner",
               "%s looks for the package each time (its start took %lld ms); run %s %s, then write "
               "its program as \"command\"",
               r.name, (long long)d->ms, r.install, r.package);
}

static void look_at_command(Doctor *d)
{
    char program[DOCTOR_TEXT_BYTES], dir[DOCTOR_TEXT_BYTES];
    struct stat st;
    PtcText command = entry_member_text(d, "command"), cwd = entry_member_text(d, "cwd");
    snprintf(dir, sizeof dir, "%.*s", PTC_ARG(cwd));
    snprintf(program, sizeof program, "%.*s", PTC_ARG(command));
    if (cwd.bytes && (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode)))
        advise(d, "no_directory", "\"cwd\": there is no directory %s", dir);
    else if (command.bytes && !(cwd.bytes && strchr(program, '/') && program[0] != '/') &&
             !ptc_upstreams_runner_finds(program))
        advise(d, "no_program",
               "\"command\": there is no program %s %s; install it, or write its whole path",
               program, strchr(program, '/') ? "there" : "in a directory of PATH");
}

/* --------------------------------------------------------------------------------- variables */

/* Does a process of the entry get the variable? */
static bool gets_variable(Doctor *d, PtcText name)
{
    static const char *const plain[] = {"HOME", "LOGNAME", "PATH",   "SHELL", "TERM",
                                        "USER", "LANG",    "LC_ALL", "TMPDIR"};
    PtcValue env = ptc_map_field(d->heap, d->entry, "env");
    PtcValue inherit = ptc_map_field(d->heap, d->entry, "inherit_env");
    if (env != PTC_NONE && ptc_fields_get(d->heap, env, name) != PTC_NONE)
        return true;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (ptc_text_is(name, plain[i]))
            return true;
    for (size_t i = 0; i < ptc_fields_count(inherit); i++)
        if (ptc_policy_glob(ptc_str_text(ptc_seq_nth(inherit, i)), name))
            return true;
    return false;
}

/* Is it a whole word of what the server wrote before it ended? */
static bool is_mentioned(const char *text, PtcText name)
{
    char word[128];
    if (name.len < 4 || name.len >= sizeof word)
        return false;
    memcpy(word, name.bytes, name.len);
    word[name.len] = '\0';
    for (const char *at = text; (at = strstr(at, word)); at += name.len) {
        char before = at == text ? ' ' : at[-1], after = at[name.len];
        if (before != '_' && after != '_' && !ptc_ascii_is_upper(after))
            return true;
    }
    return false;
}

/* GITHUB_TOKEN is for an upstream called github. */
static bool is_named_after(PtcText name, PtcText server)
{
    if (name.len <= server.len + 1 || name.bytes[server.len] != '_' || server.len < 3)
        return false;
    for (size_t i = 0; i < server.len; i++) {
        char c = server.bytes[i];
        char upper = c == '-' || c == '.' ? '_' : ptc_ascii_upper(c);
        if (name.bytes[i] != upper)
            return false;
    }
    return true;
}

/* How a network is left, and whom it trusts. */
static bool is_of_network(PtcText name)
{
    static const char *const names[] = {
        "HTTP_PROXY", "HTTPS_PROXY",   "ALL_PROXY",           "http_proxy",        "https_proxy",
        "all_proxy",  "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ptc_text_is(name, names[i]))
            return true;
    return false;
}

/* Is it set here, perhaps meant for the upstream, and kept from it? */
static bool is_kept_back(Doctor *d, const char *variable, PtcText *name)
{
    const char *equals = strchr(variable, '=');
    *name = (PtcText){variable, equals ? (size_t)(equals - variable) : 0};
    return name->len && equals[1] && !gets_variable(d, *name) &&
           (is_mentioned(d->state.reason, *name) || is_named_after(*name, d->state.ns) ||
            is_of_network(*name));
}

/* One piece of advice for all of them, because the key can be written once. */
static void look_at_variables(Doctor *d)
{
    PtcBuf names, quoted;
    PtcText name;
    size_t count = 0;
    if (!entry_member_text(d, "command").bytes)
        return;
    ptc_buf_init(&names, d->c->mem, DOCTOR_TEXT_BYTES);
    ptc_buf_init(&quoted, d->c->mem, DOCTOR_TEXT_BYTES);
    for (char **v = environ; *v && count < NAMES_TOLD; v++)
        if (is_kept_back(d, *v, &name)) {
            ptc_buf_addf(&names, "%s%.*s", count ? ", " : "",
                         PTC_ARG(ptc_text_cut(name, DOCTOR_SHOWN)));
            ptc_buf_addf(&quoted, "%s\"%.*s\"", count++ ? ", " : "",
                         PTC_ARG(ptc_text_cut(name, DOCTOR_SHOWN)));
        }
    if (count && ptc_buf_ok(&names) && ptc_buf_ok(&quoted))
        advise(d, "not_passed_on",
               "%.*s %s set here and not passed on to it; \"inherit_env\": [%.*s] does that",
               PTC_ARG_OF(names.data, names.len), count == 1 ? "is" : "are",
               PTC_ARG_OF(quoted.data, quoted.len));
    ptc_buf_deinit(&names);
    ptc_buf_deinit(&quoted);
}

/* ----------------------------------------------------------------------- secrets and permissions */

/* Does the file that names the upstream have this text in it? */
static bool is_in_file(Doctor *d, PtcText text)
{
    PtcBuf file;
    char path[DOCTOR_TEXT_BYTES];
    snprintf(path, sizeof path, "%.*s", PTC_ARG(d->state.file));
    ptc_buf_init(&file, d->c->mem, PTC_CONFIG_BYTES);
    bool found = !ptc_io_may_wait(path) && !ptc_io_read(&file, path) && text.len >= 4 &&
                 memmem(file.data ? file.data : "", file.len, text.bytes, text.len);
    ptc_buf_deinit(&file);
    return found;
}

/* Values of an environment or of headers whose names speak of secrets. */
static size_t look_at_literals(Doctor *d, const char *where)
{
    PtcValue key, value, map = ptc_map_field(d->heap, d->entry, where);
    size_t found = 0;
    bool env = strcmp(where, "env") == 0;
    for (size_t pos = 0; map != PTC_NONE && ptc_map_next(map, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key), text = ptc_str_text(value);
        if (!text.bytes || !ptc_config_is_secret_name(name) || !is_in_file(d, text))
            continue;
        found++;
        if (env)
            advise(
                d, "literal_secret",
                "env.%.*s is in %.*s in clear text; write \"${%.*s}\" for it and set that variable",
                PTC_ARG(ptc_text_cut(name, DOCTOR_SHOWN)),
                PTC_ARG(ptc_text_cut(d->state.file, DOCTOR_SHOWN)),
                PTC_ARG(ptc_text_cut(name, DOCTOR_SHOWN)));
        else
            advise(d, "literal_secret", "the header %.*s is in %.*s in clear text; %s",
                   PTC_ARG(ptc_text_cut(name, DOCTOR_SHOWN)),
                   PTC_ARG(ptc_text_cut(d->state.file, DOCTOR_SHOWN)),
                   ptc_map_field(d->heap, d->place, "written") != PTC_NONE
                       ? "write ${NAME} for the secret in it and set that variable"
                       : "use \"auth\" with a credential of source env, file or exec");
    }
    return found;
}

static void look_at_mode(Doctor *d, const char *path, bool secret)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return;
    unsigned mode = st.st_mode & 0777;
    if (mode & 022)
        advise(d, "loose", "others may write %s, and so start programs as you: chmod %o %s", path,
               secret ? 0600u : mode & ~022u, path);
    else if (secret && (mode & 044))
        advise(d, "loose", "others may read %s, which has a secret in it: chmod 600 %s", path,
               path);
}

static bool is_first_of_file(Doctor *d, size_t i)
{
    PtcUpstreamState other;
    for (size_t k = 0; k < i; k++) {
        ptc_manager_state(d->c->upstreams->manager, k, &other);
        if (ptc_text_same(other.file, d->state.file))
            return false;
    }
    return true;
}

static void look_at_file(Doctor *d, size_t i)
{
    char path[DOCTOR_TEXT_BYTES];
    size_t literals = look_at_literals(d, "env") + look_at_literals(d, "headers");
    if (!d->state.file.bytes || (!literals && !is_first_of_file(d, i)))
        return;
    snprintf(path, sizeof path, "%.*s", PTC_ARG(d->state.file));
    look_at_mode(d, path, literals > 0);
}

/* Credentials of our own files. */
static void look_at_credentials(Doctor *d)
{
    PtcValue key, value, all = d->c->upstreams->credentials;
    char path[DOCTOR_TEXT_BYTES];
    for (size_t pos = 0; all != PTC_NONE && ptc_map_next(all, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key), source = ptc_fields_text(d->heap, value, "source");
        PtcText file = ptc_fields_text(d->heap, value, "path");
        if (source.bytes && ptc_text_is(source, "literal"))
            advise(
                d, "literal_secret",
                "the credential \"%.*s\" is in the file in clear text; use the source env, file or "
                "exec",
                PTC_ARG(ptc_text_cut(name, DOCTOR_SHOWN)));
        snprintf(path, sizeof path, "%.*s", PTC_ARG(file));
        if (file.bytes)
            look_at_mode(d, path, true);
    }
}

/* ------------------------------------------------------------------------------------ clients */

static const char *const client_names[] = {
    "claude-code", "claude-desktop", "cursor", "vscode", "windsurf", "zed", "gemini"};

/* Does the client start ptc?  Ourselves as an upstream is what the reader refuses. */
static bool starts_ptc(Doctor *d, const PtcConfig *config)
{
    for (size_t i = 0; i < ptc_fields_count(config->upstreams); i++) {
        PtcValue why = ptc_map_field(d->heap, ptc_seq_nth(config->upstreams, i), "unusable");
        PtcText code = ptc_fields_text(d->heap, why, "code");
        if (code.bytes && ptc_text_is(code, "self"))
            return true;
    }
    return false;
}

static bool is_upstream(Doctor *d, PtcText name)
{
    PtcUpstreamState s;
    for (size_t i = 0; i < ptc_manager_count(d->c->upstreams->manager); i++) {
        ptc_manager_state(d->c->upstreams->manager, i, &s);
        if (ptc_text_same(s.name, name))
            return s.state < PTC_INSTANCE_STATES;
    }
    return false;
}

/* Servers that a client starts beside ptc: their tools would fill the model's context all the same. */
static void look_at_client(Doctor *d, const char *client)
{
    PtcConfigDialect dialect;
    PtcConfig config;
    char path[4096];
    if (!ptc_dialect_parse(ptc_text_cstr(client), &dialect) ||
        !ptc_upstreams_files_client(d->c->upstreams, dialect, &config, path) ||
        !starts_ptc(d, &config))
        return;
    for (size_t i = 0; i < ptc_fields_count(config.upstreams); i++) {
        PtcValue entry = ptc_seq_nth(config.upstreams, i);
        PtcText name = ptc_fields_text(d->heap, entry, "name");
        if (ptc_map_field(d->heap, entry, "unusable") != PTC_NONE ||
            ptc_fields_is(d->heap, entry, "enabled", PTC_FALSE) || !is_upstream(d, name))
            continue;
        d->state.name = name;
        advise(d, "started_twice",
               "%s starts ptc and this server as well, so the model sees its tools twice; copy the "
               "entry into your own upstreams.json and remove it from %s",
               client, path);
    }
    d->state.name = (PtcText){NULL, 0};
}

/* -------------------------------------------------------------------------------------- tools */

typedef struct {
    Doctor *d;
    size_t tools, silent, bytes;
} Tools;

static void count_tool(void *user, PtcText tool, bool annotated, size_t bytes)
{
    Tools *t = user;
    (void)tool;
    t->tools++;
    t->silent += !annotated;
    t->bytes += bytes;
}

/* A rule that fits no tool is a misspelling, and what it was to deny or allow is not. */
static void advise_of_rule(void *user, PtcText line)
{
    advise(user, "rule_fits_none", "%.*s", PTC_ARG(line));
}

static size_t look_at_tools(Doctor *d, size_t i)
{
    Tools t = {.d = d};
    ptc_manager_tools(d->c->upstreams->manager, i, count_tool, &t);
    if (t.silent && ptc_map_field(d->heap, d->entry, "effects") == PTC_NONE)
        advise(d, "no_annotations",
               "tools that do not say what they do: %zu of %zu; each call of them needs consent; "
               "say it for "
               "those you know: \"effects\": {\"get_*\": \"read\"}",
               t.silent, t.tools);
    return t.bytes;
}

/* Tools that have changed since they were pinned. */
static void count_changed(void *user, PtcText tool, unsigned parts)
{
    (void)tool;
    (void)parts;
    (*(size_t *)user)++;
}

/* What the entry itself says is no surprise to whoever wrote it. */
static bool is_chosen(const Doctor *d, PtcSkipReason left)
{
    return left == PTC_LEFT_EXCLUDED || left == PTC_LEFT_NOT_INCLUDED || left == PTC_LEFT_HIDDEN ||
           (left == PTC_LEFT_WRITES && ptc_fields_is(d->heap, d->entry, "allow_writes", PTC_FALSE));
}

static void look_at_left_out(Doctor *d)
{
    for (PtcSkipReason i = 0; i < PTC_LEFT_REASONS; i++)
        if (d->state.left[i].count && !is_chosen(d, i))
            advise(d, ptc_openapi_left_reasons[i].code,
                   "operations of its document that are left out: %zu, such as %s: %s",
                   d->state.left[i].count, d->state.left[i].first,
                   ptc_openapi_left_reasons[i].text);
}

static void look_at_pins(Doctor *d, size_t i)
{
    size_t changed = 0;
    char word[PTC_ONE_LINE_WORD];
    const char *name = ptc_one_line_word(word, d->state.name, (PtcText){NULL, 0});
    ptc_manager_changed(d->c->upstreams->manager, i, count_changed, &changed);
    if (changed)
        advise(d, "changed",
               "%zu of its tools have changed since they were pinned; ptc upstreams pins %s shows "
               "how, "
               "ptc upstreams approve %s takes them as they are",
               changed, name, name);
}

/* ---------------------------------------------------------------------------------------- all */

static bool look_at(Doctor *d, size_t i, size_t *bytes)
{
    PtcUpstreams *u = d->c->upstreams;
    bool good = ptc_upstreams_check_one(d->c, i, &d->ms);
    ptc_manager_state(u->manager, i, &d->state);
    d->entry = ptc_seq_nth(u->entries, i);
    d->place = ptc_seq_nth(u->places, i);
    bool down = d->state.state == PTC_INSTANCE_DOWN;
    if (d->state.state == PTC_UPSTREAM_UNUSABLE || (down && d->c->json)) /* a line has told it */
        advise(d, ptc_manager_state_word(d->state.state), "%s", d->state.reason);
    if (d->state.state >= PTC_INSTANCE_STATES)
        return good;
    look_at_command(d);
    look_at_runner(d);
    look_at_variables(d);
    look_at_file(d, i);
    look_at_pins(d, i);
    look_at_left_out(d);
    if (d->state.state == PTC_INSTANCE_READY) {
        ptc_manager_check_rules(d->c->upstreams->manager, i, advise_of_rule, d);
        *bytes += look_at_tools(d, i);
    }
    return good;
}

static void look_at_rest(Doctor *d, size_t bytes)
{
    PtcUpstreams *u = d->c->upstreams;
    PtcWhy why;
    PtcBuf text;
    d->state = (PtcUpstreamState){0};
    look_at_credentials(d);
    if (ptc_manager_pins(u->manager) && !ptc_pins_kept(ptc_manager_pins(u->manager), &why))
        advise(d, "pins", "%s", why.text);
    for (size_t i = 0; i < sizeof client_names / sizeof *client_names; i++)
        look_at_client(d, client_names[i]);
    ptc_buf_init(&text, d->c->mem, DOCTOR_OUT_BYTES);
    ptc_manager_describe(u->manager, &text, PTC_CATALOG_TEXT_BYTES);
    if (!d->c->json)
        ptc_buf_addf(
            &d->out,
            "A model sees %zu bytes about these servers; their own lists of tools have %zu.\n",
            text.len, bytes);
    ptc_buf_deinit(&text);
}

int ptc_upstreams_doctor(PtcUpstreamsCommand *c)
{
    Doctor d = {.c = c, .heap = &c->upstreams->scratch.heap};
    bool good = true;
    size_t bytes = 0;
    if (!c->upstreams->manager)
        return ptc_upstreams_list(c);
    c->quiet = c->json;
    ptc_buf_init(&d.out, c->mem, DOCTOR_OUT_BYTES);
    if (c->json)
        ptc_emit_array(&d.out);
    for (size_t i = 0; i < ptc_manager_count(c->upstreams->manager); i++)
        good = look_at(&d, i, &bytes) && good;
    look_at_rest(&d, bytes);
    if (c->json)
        ptc_buf_add_cstr(&d.out, "]\n");
    else if (!d.count)
        ptc_buf_add_cstr(&d.out, "Nothing to mend.\n");
    good = ptc_buf_ok(&d.out) && ptc_shown_write(PTC_IO_STDOUT, d.out.data, d.out.len) && good;
    ptc_buf_deinit(&d.out);
    return good ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}
