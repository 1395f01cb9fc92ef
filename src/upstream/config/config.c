/* SPDX-License-Identifier: MIT
 * Files that name upstreams.  First the text becomes values, then credentials are checked, then each entry is read; all
 * mistakes are gathered, each with its place. */
#include "upstream/config/config.h"

#include <stdio.h>
#include <strings.h>

#include "base/text/nearest.h"
#include "base/utf8.h"
#include "upstream/catalog/canonical.h"
#include "upstream/catalog/naming.h"
#include "upstream/config/config_int.h"
#include "upstream/config/config_json.h"

/* ---------------------------------------------------------------------------------- mistakes */

static PtcValue make_config_place(Config *c, const char *path, const char *code)
{
    PtcValue at = ptc_fields_map(c->heap);
    ptc_fields_put_text(c->heap, &at, "path", ptc_text_cstr(path));
    ptc_fields_put_text(c->heap, &at, "code", ptc_text_cstr(code));
    return at;
}

/* An error; the line is that of the place, or of the nearest one around it that the file has. */
static void add_error(Config *c, const char *path, const char *code, size_t line,
                      const char *message)
{
    char at[PTC_PATH_BYTES];
    if (ptc_fields_count(c->out->errors) >= PTC_CONFIG_ERRORS)
        return;
    PtcValue error = make_config_place(c, path, code);
    snprintf(at, sizeof at, "%s", path);
    while (line == 0 && at[0]) {
        size_t n = strlen(at);
        line = ptc_config_json_line(c->heap, c->plain, at);
        while (n > 0 && at[n - 1] != '.' && at[n - 1] != '[')
            n--;
        at[n ? n - 1 : 0] = 0;
    }
    ptc_fields_put(c->heap, &error, "line", ptc_int((int64_t)(line ? line : 1)));
    ptc_fields_put_text(c->heap, &error, "message", ptc_text_cstr(message));
    ptc_fields_push(c->heap, &c->out->errors, error);
}

static void make_unusable(Config *c, const char *path, const char *code, const char *message)
{
    if (c->unusable != PTC_NONE)
        return;
    c->unusable = make_config_place(c, path, code);
    c->why = ptc_fields_string(c->heap, ptc_text_cstr(message));
}

void ptc_config_wrong(Config *c, const char *code, const char *message)
{
    if (c->theirs)
        make_unusable(c, c->path, code, message);
    else
        add_error(c, c->path, code, 0, message);
}

void ptc_config_wrong_in(Config *c, const char *key, const char *code, const char *message)
{
    char keep[PTC_PATH_BYTES];
    ptc_config_enter(c, ptc_text_cstr(key), keep);
    ptc_config_wrong(c, code, message);
    ptc_config_leave(c, keep);
}

void ptc_config_lacks(Config *c, const char *path, const char *code, const char *message)
{
    make_unusable(c, path ? path : c->path, code, message);
}

void ptc_config_secret(Config *c, PtcText text)
{
    if (text.bytes && text.len)
        ptc_fields_push(c->heap, &c->out->secrets, ptc_fields_string(c->heap, text));
}

static bool speaks_of(PtcText name, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= name.len; i++)
        if (strncasecmp(name.bytes + i, word, n) == 0)
            return true;
    return false;
}

bool ptc_config_is_secret_name(PtcText name)
{
    static const char *const words[] = {"key", "token", "secret", "password", "auth"};
    bool secret = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        secret = secret || speaks_of(name, words[i]);
    return secret;
}

void ptc_config_named_secret(Config *c, PtcText name, PtcValue value)
{
    PtcText text = ptc_str_text(value);
    if (!ptc_config_is_secret_name(name) || !text.bytes)
        return;
    ptc_config_secret(c, text);
    const char *blank = memchr(text.bytes, ' ', text.len);
    if (blank) /* the token of "Bearer token" */
        ptc_config_secret(c, (PtcText){blank + 1, text.len - (size_t)(blank - text.bytes) - 1});
}

void ptc_config_note(Config *c, const char *code)
{
    ptc_fields_push(c->heap, &c->notes, make_config_place(c, c->path, code));
}

void ptc_config_enter(Config *c, PtcText key, char keep[PTC_PATH_BYTES])
{
    PtcValue name = ptc_fields_string(c->heap, key.bytes ? key : PTC_TEXT(""));
    memcpy(keep, c->path, PTC_PATH_BYTES);
    if (name != PTC_NONE)
        ptc_path_add_key(c->path, sizeof c->path, name);
}

void ptc_config_enter_index(Config *c, size_t i, char keep[PTC_PATH_BYTES])
{
    memcpy(keep, c->path, PTC_PATH_BYTES);
    ptc_path_add_index(c->path, sizeof c->path, i);
}

PtcValue ptc_config_member(Config *c, const char *key)
{
    PtcValue v = ptc_map_field(c->heap, c->entry, key);
    return v == PTC_NIL ? PTC_NONE : v;
}

/* What a key is called here that other programs call by this word; NULL: not known, or not a key of this place. */
static const char *config_key_by_other_word(PtcText key, const char *const *known, size_t count)
{
    static const char *const words[][2] = {
        {"cmd", "command"},      {"headers", "static_headers"},  {"header", "static_headers"},
        {"environment", "env"},  {"timeout", "call_timeout_ms"}, {"type", "transport"},
        {"endpoint", "url"},     {"openapi", "schema_file"},     {"spec", "schema_file"},
        {"disabled", "enabled"},
    };
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (size_t i = 0; ptc_text_is(key, words[w][0]) && i < count; i++)
            if (strcmp(known[i], words[w][1]) == 0)
                return known[i];
    return NULL;
}

void ptc_config_unknown_key(Config *c, PtcText key, const char *const *known, size_t count)
{
    PtcNearest near;
    char message[160];
    const char *meant = config_key_by_other_word(key, known, count);
    c->strange = true;
    ptc_nearest_init(&near, key.bytes, key.len);
    for (size_t i = 0; i < count; i++)
        ptc_nearest_offer(&near, known[i], strlen(known[i]));
    meant = meant ? meant : near.best;
    snprintf(message, sizeof message, "there is no such key here%s%s%s",
             meant ? "; did you mean \"" : "", meant ? meant : "", meant ? "\"?" : "");
    ptc_config_wrong(c, "unknown_key", message);
}

/* ----------------------------------------------------------------------------------- dialects */

static const char *const dialect_names[] = {
    [PTC_DIALECT_CLAUDE_CODE] = "claude-code", [PTC_DIALECT_CLAUDE_DESKTOP] = "claude-desktop",
    [PTC_DIALECT_CURSOR] = "cursor",           [PTC_DIALECT_VSCODE] = "vscode",
    [PTC_DIALECT_WINDSURF] = "windsurf",       [PTC_DIALECT_ZED] = "zed",
    [PTC_DIALECT_GEMINI] = "gemini",
};

bool ptc_dialect_parse(PtcText name, PtcConfigDialect *out)
{
    for (size_t i = PTC_DIALECT_CLAUDE_CODE; i <= PTC_DIALECT_GEMINI; i++)
        if (name.bytes && ptc_text_is(name, dialect_names[i])) {
            *out = (PtcConfigDialect)i;
            return true;
        }
    *out = PTC_DIALECT_UNSET;
    return false;
}

/* Does the path end with these whole parts? */
static bool ends_with(PtcText path, const char *end)
{
    size_t n = strlen(end);
    return path.len >= n && memcmp(path.bytes + path.len - n, end, n) == 0 &&
           (path.len == n || path.bytes[path.len - n - 1] == '/');
}

/* By the path of a file; PTC_DIALECT_UNSET: it says nothing. */
static PtcConfigDialect dialect_of_path(PtcText path)
{
    static const struct {
        const char *end;
        PtcConfigDialect dialect;
    } ends[] = {
        {".claude.json", PTC_DIALECT_CLAUDE_CODE},
        {".mcp.json", PTC_DIALECT_CLAUDE_CODE},
        {"claude_desktop_config.json", PTC_DIALECT_CLAUDE_DESKTOP},
        {".cursor/mcp.json", PTC_DIALECT_CURSOR},
        {".vscode/mcp.json", PTC_DIALECT_VSCODE},
        {".vscode/settings.json", PTC_DIALECT_VSCODE},
        {"User/mcp.json", PTC_DIALECT_VSCODE},
        {"User/settings.json", PTC_DIALECT_VSCODE},
        {"windsurf/mcp_config.json", PTC_DIALECT_WINDSURF},
        {"zed/settings.json", PTC_DIALECT_ZED},
        {".zed/settings.json", PTC_DIALECT_ZED},
        {".gemini/settings.json", PTC_DIALECT_GEMINI},
    };
    for (size_t i = 0; path.bytes && i < sizeof ends / sizeof *ends; i++)
        if (ends_with(path, ends[i].end))
            return ends[i].dialect;
    return PTC_DIALECT_UNSET;
}

static bool has_root_key(Config *c, const char *key)
{
    return ptc_map_field(c->heap, c->root, key) != PTC_NONE;
}

/* Whose file it is: as the caller says, else by its path, else by its keys. */
static PtcConfigDialect find_dialect(Config *c)
{
    PtcConfigDialect dialect = c->in->dialect;
    if (dialect == PTC_DIALECT_UNSET && has_root_key(c, "upstreams"))
        return PTC_DIALECT_OURS;
    if (dialect == PTC_DIALECT_UNSET)
        dialect = dialect_of_path(c->in->file);
    if (dialect != PTC_DIALECT_UNSET)
        return dialect;
    if (has_root_key(c, "mcpServers"))
        return PTC_DIALECT_OTHER;
    PtcValue settings = ptc_map_field(c->heap, c->root, "mcp");
    bool vscode =
        has_root_key(c, "servers") || ptc_map_field(c->heap, settings, "servers") != PTC_NONE;
    return has_root_key(c, "context_servers") ? PTC_DIALECT_ZED
           : vscode                           ? PTC_DIALECT_VSCODE
                                              : PTC_DIALECT_OTHER;
}

/* ------------------------------------------------------------------------------------ entries */

/* ${input:id} by the credential of this name, or the default of an input that is no password. */
static PtcText find_input(void *user, PtcText id)
{
    Config *c = user;
    char path[PTC_PATH_BYTES];
    const char *code;
    PtcText value = ptc_config_credential(c, id, &code, path);
    if (value.bytes)
        return value;
    for (size_t i = 0; i < ptc_fields_count(c->inputs); i++) {
        PtcValue input = ptc_seq_nth(c->inputs, i);
        PtcText name = ptc_fields_text(c->heap, input, "id");
        if (name.bytes && ptc_text_same(name, id) &&
            !ptc_fields_is(c->heap, input, "password", PTC_TRUE))
            return ptc_fields_text(c->heap, input, "default");
    }
    return (PtcText){NULL, 0};
}

/* What a variable puts into a header, an environment or an address, and one that names a secret anywhere. */
static void note_value(void *user, PtcText name, PtcText value)
{
    Config *c = user;
    if (c->guarded || ptc_config_is_secret_name(name))
        ptc_config_secret(c, value);
}

/* The namespace of the entry; absent: out of memory. */
static PtcText find_namespace(Config *c, PtcArena *arena, PtcText name)
{
    PtcText ns = ptc_fields_text(c->heap, c->form, "namespace");
    if (!ns.bytes && !ptc_naming_namespace(arena, name, &ns))
        ptc_budget_halt(c->heap->budget, PTC_STOP_MEMORY);
    return ns;
}

/* Has an earlier entry this namespace? */
static bool is_namespace_used(Config *c, PtcText ns)
{
    for (size_t i = 0; i < ptc_fields_count(c->out->upstreams); i++) {
        PtcText other = ptc_fields_text(c->heap, ptc_seq_nth(c->out->upstreams, i), "namespace");
        if (other.bytes && ptc_naming_same_namespace(other, ns))
            return true;
    }
    return false;
}

/* Members that say nothing are left out.  An empty list of roots is kept: it means no directory at all, where a missing
 * one means those of the client. */
static bool says_nothing(PtcText key, PtcValue v)
{
    if (ptc_text_is(key, "roots"))
        return false;
    return (ptc_text_is(key, "enabled") && v == PTC_TRUE) ||
           (ptc_is_map(v) && ptc_map_count(v) == 0) || (ptc_is_sequential(v) && !ptc_seq_count(v));
}

static PtcValue finish_entry(Config *c, PtcText name, PtcText ns)
{
    PtcValue key, value, out = ptc_fields_map(c->heap);
    ptc_fields_put_text(c->heap, &out, "name", name);
    ptc_fields_put_text(c->heap, &out, "namespace", ns);
    if (c->unusable != PTC_NONE) {
        ptc_fields_put(c->heap, &out, "unusable", c->unusable);
        return out;
    }
    for (size_t pos = 0; ptc_map_next(c->form, &pos, &key, &value);)
        if (!ptc_text_is(ptc_str_text(key), "namespace") && !says_nothing(ptc_str_text(key), value))
            ptc_fields_put_key(c->heap, &out, ptc_str_text(key), value);
    for (size_t i = 0; i < ptc_fields_count(c->notes); i++)
        ptc_fields_push(c->heap, &c->out->notes, ptc_seq_nth(c->notes, i));
    return out;
}

/* All that the file says of the entry at hand, and what an environment file beside it says. */
static PtcValue written_entry_text(Config *c)
{
    PtcBuf out;
    ptc_buf_init(&out, c->heap->pool->mem, 2 * PTC_CONFIG_BYTES);
    ptc_canonical_add(&out, c->heap, c->entry);
    if (c->inputs != PTC_NONE) {
        ptc_buf_add_char(&out, '\n');
        ptc_canonical_add(&out, c->heap, c->inputs);
    }
    if (c->beside.bytes) {
        ptc_buf_add_char(&out, '\n');
        ptc_buf_add(&out, c->beside.bytes, c->beside.len);
    }
    PtcValue text = ptc_fields_buf(c->heap, &out);
    ptc_buf_deinit(&out);
    return text;
}

static void keep_place(Config *c)
{
    PtcValue at = ptc_fields_map(c->heap);
    ptc_fields_put_text(c->heap, &at, "path", ptc_text_cstr(c->path));
    if (c->in->lines)
        ptc_fields_put(c->heap, &at, "line", ptc_map_field(c->heap, c->lines, c->path));
    if (c->unusable != PTC_NONE)
        ptc_fields_put(c->heap, &at, "message", c->why);
    if (c->theirs)
        ptc_fields_put(c->heap, &at, "written", written_entry_text(c));
    ptc_fields_push(c->heap, &c->out->places, at);
}

/* Does a name have a character that is seen? */
static bool is_written(PtcText name)
{
    uint32_t code;
    for (size_t i = 0; i < name.len;) {
        i += ptc_utf8_decode(name.bytes + i, name.len - i, &code);
        if (code != ' ' && ptc_utf8_is_seen(code))
            return true;
    }
    return false;
}

static void read_entry(Config *c, PtcText name, PtcValue entry)
{
    PtcArena arena;
    c->entry = entry;
    c->beside = (PtcText){NULL, 0};
    c->form = ptc_fields_map(c->heap);
    c->notes = ptc_fields_list(c->heap);
    c->unusable = c->why = PTC_NONE;
    c->strange = false;
    c->variables.lenient = c->theirs;
    if (!is_written(name))
        ptc_config_wrong(c, "bad_value", "an upstream needs a name; this one is empty");
    if (!ptc_is_map(entry))
        ptc_config_wrong(c, "wrong_type", "an upstream is an object");
    else if (c->theirs)
        ptc_config_theirs(c);
    else
        ptc_config_ours(c);
    ptc_arena_init(&arena, c->heap->pool->mem);
    PtcText ns = find_namespace(c, &arena, name);
    if (ns.bytes && is_namespace_used(c, ns)) {
        c->unusable = PTC_NONE;
        ptc_config_wrong(c, "duplicate", "another upstream has this name; give it a \"namespace\"");
    }
    ptc_fields_push(c->heap, &c->out->upstreams, finish_entry(c, name, ns));
    keep_place(c);
    ptc_arena_deinit(&arena);
}

/* All entries of an object at the place at hand. */
static void read_container(Config *c, PtcValue container, bool theirs)
{
    char keep[PTC_PATH_BYTES];
    PtcValue key, value;
    c->theirs = false;
    if (!ptc_is_map(container)) {
        ptc_config_wrong(c, "wrong_type", "it must be an object from names to upstreams");
        return;
    }
    for (size_t pos = 0; ptc_map_next(container, &pos, &key, &value) && ptc_fields_ok(c->heap);) {
        if (ptc_fields_count(c->out->upstreams) == PTC_CONFIG_UPSTREAMS) {
            c->theirs = false;
            ptc_config_wrong(c, "bad_value", "there are more than 500 upstreams");
            return;
        }
        c->theirs = theirs;
        ptc_config_enter(c, ptc_str_text(key), keep);
        read_entry(c, ptc_str_text(key), value);
        ptc_config_leave(c, keep);
    }
    c->theirs = false;
}

/* Reads what an object of the file has under a key; false: nothing. */
static bool read_under(Config *c, PtcValue outer, const char *key, bool theirs)
{
    char keep[PTC_PATH_BYTES];
    PtcValue container = ptc_map_field(c->heap, outer, key);
    if (container == PTC_NONE)
        return false;
    ptc_config_enter(c, ptc_text_cstr(key), keep);
    read_container(c, container, theirs);
    ptc_config_leave(c, keep);
    return true;
}

/* --------------------------------------------------------------------------------- containers */

/* Is `path` the directory or one above it? */
static bool is_above_directory(PtcText path, PtcText directory)
{
    while (path.len > 1 && path.bytes[path.len - 1] == '/')
        path.len--;
    return path.len && path.len <= directory.len &&
           memcmp(path.bytes, directory.bytes, path.len) == 0 &&
           (path.len == directory.len || path.len == 1 || directory.bytes[path.len] == '/');
}

/* ~/.claude.json: beside the user's own servers, those of the nearest directory. */
static bool read_projects(Config *c)
{
    char keep[PTC_PATH_BYTES], inner[PTC_PATH_BYTES];
    PtcValue projects = ptc_map_field(c->heap, c->root, "projects"), key, value, best = PTC_NONE;
    PtcText name = {NULL, 0};
    if (projects == PTC_NONE || !ptc_is_map(projects))
        return false;
    for (size_t pos = 0; ptc_map_next(projects, &pos, &key, &value);)
        if (is_above_directory(ptc_str_text(key), c->in->project) && ptc_str_len(key) >= name.len) {
            name = ptc_str_text(key);
            best = value;
        }
    if (best == PTC_NONE)
        return true;
    ptc_config_enter(c, PTC_TEXT("projects"), keep);
    ptc_config_enter(c, name, inner);
    read_under(c, best, "mcpServers", true);
    ptc_config_leave(c, keep);
    return true;
}

/* VS Code's settings have `mcp.servers`. */
static bool read_settings(Config *c)
{
    char keep[PTC_PATH_BYTES];
    PtcValue mcp = ptc_map_field(c->heap, c->root, "mcp");
    if (mcp == PTC_NONE || !ptc_is_map(mcp))
        return false;
    if (c->inputs == PTC_NONE)
        c->inputs = ptc_map_field(c->heap, mcp, "inputs");
    ptc_config_enter(c, PTC_TEXT("mcp"), keep);
    bool found = read_under(c, mcp, "servers", true);
    ptc_config_leave(c, keep);
    return found;
}

static void check_top_keys(Config *c)
{
    static const char *const known[] = {"upstreams",  "credentials", "policy",          "$schema",
                                        "mcpServers", "servers",     "context_servers", "inputs"};
    enum { KNOWN = sizeof known / sizeof *known };
    char keep[PTC_PATH_BYTES];
    PtcValue key, value;
    for (size_t pos = 0; ptc_map_next(c->root, &pos, &key, &value);) {
        size_t i = 0;
        while (i < KNOWN && !ptc_text_is(ptc_str_text(key), known[i]))
            i++;
        ptc_config_enter(c, ptc_str_text(key), keep);
        if (i == KNOWN)
            ptc_config_unknown_key(c, ptc_str_text(key), known, KNOWN);
        ptc_config_leave(c, keep);
    }
}

/* Entries of other clients, wherever they put them. */
static bool read_any(Config *c)
{
    bool found = read_under(c, c->root, "mcpServers", true);
    found |= read_under(c, c->root, "servers", true);
    found |= read_under(c, c->root, "context_servers", true);
    return found;
}

static bool read_ours(Config *c)
{
    char keep[PTC_PATH_BYTES];
    PtcValue policy = ptc_map_field(c->heap, c->root, "policy");
    check_top_keys(c);
    if (policy != PTC_NONE) {
        ptc_config_enter(c, PTC_TEXT("policy"), keep);
        c->out->policy = ptc_config_rules(c, policy, ptc_config_is_policy);
        ptc_config_leave(c, keep);
    }
    bool found = read_under(c, c->root, "upstreams", false);
    return read_any(c) || found;
}

static bool read_containers(Config *c)
{
    bool found;
    switch (c->dialect) {
    case PTC_DIALECT_OURS: return read_ours(c);
    case PTC_DIALECT_VSCODE:
        found = read_under(c, c->root, "servers", true);
        found |= read_settings(c);
        return found || read_under(c, c->root, "mcpServers", true);
    case PTC_DIALECT_ZED:
        return read_under(c, c->root, "context_servers", true) ||
               read_under(c, c->root, "mcpServers", true);
    case PTC_DIALECT_CLAUDE_CODE:
        found = read_under(c, c->root, "mcpServers", true);
        return read_projects(c) || found;
    case PTC_DIALECT_OTHER: return read_any(c);
    default: return read_under(c, c->root, "mcpServers", true);
    }
}

/* --------------------------------------------------------------------------------------- file */

static void take_member(void *user, const char *path, size_t line, bool doubled)
{
    Config *c = user;
    if (doubled)
        add_error(c, path, "duplicate", 0, "this key occurs twice");
    else if (c->in->lines)
        ptc_fields_put(c->heap, &c->lines, path, ptc_int((int64_t)line));
}

static void read_root(Config *c)
{
    c->dialect = find_dialect(c);
    c->variables = (PtcVariables){.variable = c->in->variable,
                                  .user = c->in->user,
                                  .input = find_input,
                                  .input_user = c,
                                  .told = note_value,
                                  .project = c->in->project,
                                  .cwd = c->in->cwd,
                                  .bare = c->dialect == PTC_DIALECT_GEMINI};
    c->inputs = ptc_map_field(c->heap, c->root, "inputs");
    if (c->dialect == PTC_DIALECT_OURS) {
        c->credentials = ptc_map_field(c->heap, c->root, "credentials");
        ptc_config_credentials(c);
    }
    if (!read_containers(c))
        add_error(
            c, "", "no_container", 1,
            "it has none of upstreams, mcpServers, servers and context_servers; entries belong "
            "under one of them: {\"upstreams\": {\"name\": {\"command\": ...}}}");
    c->out->credentials = c->credentials;
}

/* A table in brackets, or a name with an equals sign, where a file begins. */
static bool looks_like_toml(const Config *c)
{
    PtcText t = ptc_text_skip_spaces(c->plain);
    const char *end = t.len ? memchr(t.bytes, '\n', t.len) : NULL;
    size_t line = end ? (size_t)(end - t.bytes) : t.len;
    return t.len && *t.bytes != '{' && *t.bytes != '"' &&
           (*t.bytes == '[' || memchr(t.bytes, '=', line));
}

static void read_plain_config(Config *c)
{
    PtcJsonError error;
    c->root = ptc_json_parse(c->heap, c->plain.bytes, c->plain.len, &error);
    if (c->root == PTC_NONE) {
        if (!error.stopped)
            add_error(c, "", "not_json", error.line,
                      looks_like_toml(c) ? "it looks like TOML; files are JSON" : error.message);
        return;
    }
    c->lines = ptc_fields_map(c->heap);
    ptc_config_json_walk(c->heap, c->plain, take_member, c);
    if (!ptc_is_map(c->root))
        add_error(c, "", "wrong_type", 1, "the file is an object");
    else if (ptc_fields_count(c->out->errors) == 0)
        read_root(c);
}

bool ptc_config_read(PtcHeap *heap, const PtcConfigIn *in, PtcConfig *out)
{
    PtcBuf plain;
    PtcValue empty = ptc_fields_list(heap);
    *out = (PtcConfig){.upstreams = empty,
                       .notes = empty,
                       .places = empty,
                       .errors = empty,
                       .policy = PTC_NONE,
                       .credentials = PTC_NONE,
                       .secrets = empty};
    Config c = {.heap = heap, .in = in, .out = out};
    ptc_buf_init(&plain, heap->pool->mem, PTC_CONFIG_BYTES);
    ptc_config_json_plain(&plain, in->text);
    c.plain = ptc_buf_view(&plain);
    if (plain.full)
        add_error(&c, "", "not_json", 1, "it has more than 32 MiB");
    else if (plain.failed)
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    else
        read_plain_config(&c);
    ptc_buf_deinit(&plain);
    out->ok = ptc_fields_count(out->errors) == 0;
    return ptc_fields_ok(heap);
}

const char *ptc_config_note_text(PtcText code)
{
    static const struct {
        const char *code, *text;
    } texts[] = {
        {"header_ignored", "we set this header ourselves, so it is not sent"},
        {"not_honoured", "consent given to another program is not given to us; \"policy\" is ours"},
        {"taken_as_seconds", "the number is taken as seconds"},
        {"looks_like_variable", "it looks like a variable and is sent as it is; write ${NAME}"},
        {"placeholder_left", "this placeholder is not known here and is left as text"},
        {"literal", "variables are not expanded here"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (code.bytes && ptc_text_is(code, texts[i].code))
            return texts[i].text;
    return "";
}

void ptc_config_message(PtcBuf *out, PtcHeap *heap, PtcText file, PtcValue error)
{
    PtcText path = ptc_fields_text(heap, error, "path");
    PtcText message = ptc_fields_text(heap, error, "message");
    PtcValue line = ptc_map_field(heap, error, "line");
    ptc_buf_add(out, file.bytes ? file.bytes : "-", file.bytes ? file.len : 1);
    ptc_buf_addf(out, ":%lld: ", line == PTC_NONE ? 1LL : (long long)ptc_to_int(line));
    ptc_buf_add(out, path.bytes, path.len);
    ptc_buf_add_cstr(out, path.len ? ": " : "");
    ptc_buf_add(out, message.bytes, message.len);
}
