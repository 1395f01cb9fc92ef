/* SPDX-License-Identifier: MIT
 * From the normal form of an upstream to what starting and calling it needs.  What always holds: of our environment a
 * process gets only a few harmless variables and those that `inherit_env` names, beside what its entry says. */
#include "upstream/config/entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "value/coll/fields.h"

#define DEPTH_NAME "PTC_UPSTREAM_DEPTH"

/* Variables that every process gets. */
static const char *const plain[] = {"HOME", "LOGNAME", "PATH",   "SHELL", "TERM",
                                    "USER", "LANG",    "LC_ALL", "TMPDIR"};

typedef struct {
    PtcArena *arena;
    PtcHeap *heap;
    const char *const *environment;
    const char **items;
    size_t count;
} Env;

/* ------------------------------------------------------------------------------------ texts */

static const char *join_entry_texts(PtcArena *arena, PtcText a, const char *between, PtcText b)
{
    size_t n = strlen(between);
    char *s = ptc_arena_alloc(arena, a.len + n + b.len + 1);
    if (!s)
        return NULL;
    memcpy(s, a.bytes, a.len);
    memcpy(s + a.len, between, n);
    if (b.len)
        memcpy(s + a.len + n, b.bytes, b.len);
    s[a.len + n + b.len] = '\0';
    return s;
}

/* NULL also for a text that is not there. */
static const char *cstr(PtcArena *arena, PtcText text)
{
    return text.bytes ? join_entry_texts(arena, text, "", (PtcText){"", 0}) : NULL;
}

static bool push_entry_string(PtcArena *arena, const char ***list, size_t *count, const char *item)
{
    const char **grown = ptc_arena_push(arena, *list, *count, sizeof *grown);
    if (!grown)
        return false;
    *list = grown;
    grown[(*count)++] = item;
    return true;
}

/* ------------------------------------------------------------------------------ environment */

static PtcText variable_name_of(const char *variable)
{
    const char *equals = strchr(variable, '=');
    return (PtcText){variable, equals ? (size_t)(equals - variable) : strlen(variable)};
}

static bool is_plain_variable(PtcText name)
{
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (ptc_text_is(name, plain[i]))
            return true;
    return false;
}

static bool fits_one(PtcValue globs, PtcSpelt name, bool loosely)
{
    for (size_t i = 0; i < ptc_fields_count(globs); i++)
        if (ptc_policy_fits(ptc_str_text(ptc_seq_nth(globs, i)), name, loosely))
            return true;
    return false;
}

/* How often ptc was started by ptc already. */
static int depth_in_environment(const char *const *environment)
{
    for (size_t i = 0; environment[i]; i++)
        if (ptc_text_is(variable_name_of(environment[i]), DEPTH_NAME))
            return (int)strtol(environment[i] + sizeof DEPTH_NAME, NULL, 10);
    return 0;
}

static bool add_depth(Env *env)
{
    char text[sizeof DEPTH_NAME + 16];
    snprintf(text, sizeof text, "%s=%d", DEPTH_NAME, depth_in_environment(env->environment) + 1);
    const char *kept = cstr(env->arena, ptc_text_cstr(text));
    return kept && push_entry_string(env->arena, &env->items, &env->count, kept);
}

/* Those of ours that go on, unless the entry has its own or takes them away. */
static bool add_ours(Env *env, PtcValue own, PtcValue inherit)
{
    for (size_t i = 0; env->environment[i]; i++) {
        PtcText name = variable_name_of(env->environment[i]);
        if (!is_plain_variable(name) && !fits_one(inherit, (PtcSpelt){.raw = name}, false))
            continue;
        if (own != PTC_NONE && ptc_fields_get(env->heap, own, name) != PTC_NONE)
            continue;
        if (!push_entry_string(env->arena, &env->items, &env->count, env->environment[i]))
            return false;
    }
    return true;
}

static bool add_own(Env *env, PtcValue own)
{
    PtcValue key, value;
    for (size_t pos = 0; own != PTC_NONE && ptc_map_next(own, &pos, &key, &value);) {
        PtcText text = ptc_str_text(value);
        if (!text.bytes) /* null takes a variable away */
            continue;
        const char *item = join_entry_texts(env->arena, ptc_str_text(key), "=", text);
        if (!item || !push_entry_string(env->arena, &env->items, &env->count, item))
            return false;
    }
    return true;
}

static bool read_entry_env(PtcArena *arena, PtcHeap *heap, PtcValue form,
                           const char *const *environment, PtcEntry *out)
{
    Env env = {.arena = arena, .heap = heap, .environment = environment};
    PtcValue own = ptc_map_field(heap, form, "env");
    bool ok = add_ours(&env, own, ptc_map_field(heap, form, "inherit_env")) && add_own(&env, own) &&
              add_depth(&env) && push_entry_string(arena, &env.items, &env.count, NULL);
    out->env = env.items;
    return ok;
}

/* ------------------------------------------------------------------------------------ entry */

static bool read_argv(PtcArena *arena, PtcHeap *heap, PtcValue form, PtcEntry *out)
{
    const char **items = NULL;
    size_t count = 0;
    PtcValue args = ptc_map_field(heap, form, "args");
    const char *command = cstr(arena, ptc_fields_text(heap, form, "command"));
    bool ok = command && push_entry_string(arena, &items, &count, command);
    for (size_t i = 0; ok && i < ptc_fields_count(args); i++) {
        const char *arg = cstr(arena, ptc_str_text(ptc_seq_nth(args, i)));
        ok = arg && push_entry_string(arena, &items, &count, arg);
    }
    ok = ok && push_entry_string(arena, &items, &count, NULL);
    out->argv = items;
    return ok;
}

/* A number above `most` counts as `most`. */
static int64_t entry_number_of(PtcHeap *heap, PtcValue form, const char *key, int64_t otherwise,
                               int64_t most)
{
    PtcValue v = ptc_map_field(heap, form, key);
    int64_t n = v != PTC_NONE && ptc_is_int(v) && ptc_to_int(v) > 0 ? ptc_to_int(v) : otherwise;
    return n < most ? n : most;
}

static PtcLinkTransport link_transport_of(PtcText text)
{
    return ptc_text_is(text, "http")  ? PTC_LINK_HTTP
           : ptc_text_is(text, "sse") ? PTC_LINK_SSE
                                      : PTC_LINK_HTTP_OR_SSE;
}

static const char *entry_kind_of(PtcText text)
{
    static const char *const kinds[] = {"stdio", "http", "sse", "openapi"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ptc_text_is(text, kinds[i]))
            return kinds[i];
    return "auto";
}

static void read_limits(PtcHeap *heap, PtcValue form, int64_t call_ms, PtcEntry *out)
{
    enum { DAY_MS = 24 * 3600 * 1000, RESPONSE_MOST = 64 * PTC_MB, AT_ONCE_MOST = 1024 };
    call_ms = call_ms < DAY_MS ? call_ms : DAY_MS;
    out->call_ms =
        entry_number_of(heap, form, "call_timeout_ms",
                        entry_number_of(heap, form, "request_timeout_ms", call_ms, DAY_MS), DAY_MS);
    out->handshake_ms =
        entry_number_of(heap, form, "handshake_timeout_ms", PTC_ENTRY_HANDSHAKE_MS, DAY_MS);
    out->connect_ms = entry_number_of(heap, form, "connect_timeout_ms", 0, DAY_MS);
    out->max_response = (size_t)entry_number_of(heap, form, "max_response_bytes",
                                                PTC_ENTRY_RESPONSE_BYTES, RESPONSE_MOST);
    out->at_once =
        (unsigned)entry_number_of(heap, form, "max_concurrency", PTC_ENTRY_AT_ONCE, AT_ONCE_MOST);
    out->distrust = ptc_fields_is(heap, form, "trust_annotations", PTC_FALSE);
    out->leave_text = ptc_fields_is(heap, form, "parse_json", PTC_FALSE);
    out->strict_output = ptc_fields_is(heap, form, "strict_output", PTC_TRUE);
    out->insecure_http = ptc_fields_is(heap, form, "allow_insecure_http", PTC_TRUE);
    out->insecure_auth = ptc_fields_is(heap, form, "allow_insecure_auth", PTC_TRUE);
    out->shared = ptc_fields_is(heap, form, "shared", PTC_TRUE);
    out->no_elicitation = ptc_fields_is(heap, form, "elicitation", PTC_FALSE);
    out->no_sampling = ptc_fields_is(heap, form, "sampling", PTC_FALSE);
    PtcText pin = ptc_fields_text(heap, form, "pin");
    out->pin_strict = pin.bytes && ptc_text_is(pin, "strict");
    out->no_pins = ptc_fields_is(heap, form, "pin", PTC_FALSE);
    PtcText retry = ptc_fields_text(heap, form, "retry");
    out->no_retry = retry.bytes && ptc_text_is(retry, "none");
}

static void read_rules(PtcHeap *heap, PtcValue form, PtcEntry *out)
{
    out->headers = ptc_map_field(heap, form, "headers");
    out->auth = ptc_map_field(heap, form, "auth");
    out->oauth = ptc_map_field(heap, form, "oauth");
    PtcText grant = ptc_fields_text(heap, out->oauth, "grant");
    out->client_grant = grant.bytes && ptc_text_is(grant, "client_credentials");
    out->policy = ptc_map_field(heap, form, "policy");
    out->effects = ptc_map_field(heap, form, "effects");
    out->roots = ptc_map_field(heap, form, "roots");
    out->include = ptc_map_field(heap, form, "include_tools");
    out->exclude = ptc_map_field(heap, form, "exclude_tools");
}

/* Requests to a service hold no state of whoever makes them, so all owners share one. */
static bool read_openapi(PtcArena *arena, PtcHeap *heap, PtcValue form, PtcEntry *out)
{
    enum { SCHEMA_MOST = 64 * PTC_MB };
    out->shared = true;
    out->base_url = cstr(arena, ptc_fields_text(heap, form, "base_url"));
    out->schema_file = cstr(arena, ptc_fields_text(heap, form, "schema_file"));
    out->schema_url = cstr(arena, ptc_fields_text(heap, form, "schema_url"));
    out->include_operations = ptc_map_field(heap, form, "include_operations");
    out->exclude_operations = ptc_map_field(heap, form, "exclude_operations");
    out->overrides = ptc_map_field(heap, form, "operation_overrides");
    out->security = ptc_map_field(heap, form, "security");
    out->allow_writes = ptc_fields_is(heap, form, "allow_writes", PTC_TRUE);
    out->schema_max = (size_t)entry_number_of(heap, form, "schema_max_bytes",
                                              PTC_ENTRY_SCHEMA_BYTES, SCHEMA_MOST);
    return out->schema_file || out->schema_url;
}

/* Why the entry cannot be used; absent: it can. */
static PtcText why_unusable(PtcHeap *heap, PtcValue form, const char *const *environment)
{
    PtcValue unusable = ptc_map_field(heap, form, "unusable");
    if (unusable != PTC_NONE && ptc_is_map(unusable))
        return ptc_fields_text(heap, unusable, "code");
    if (depth_in_environment(environment) >= PTC_ENTRY_DEPTH)
        return PTC_TEXT("ptc has started itself twice already");
    return (PtcText){NULL, 0};
}

bool ptc_entry_read(PtcArena *arena, PtcHeap *heap, PtcValue form, const char *const *environment,
                    int64_t call_ms, PtcEntry *out)
{
    PtcText transport = ptc_fields_text(heap, form, "transport");
    *out = (PtcEntry){.name = ptc_fields_text(heap, form, "name"),
                      .ns = ptc_fields_text(heap, form, "namespace"),
                      .description = ptc_fields_text(heap, form, "description"),
                      .unusable = why_unusable(heap, form, environment),
                      .disabled = ptc_fields_is(heap, form, "enabled", PTC_FALSE),
                      .form = form};
    read_rules(heap, form, out);
    read_limits(heap, form, call_ms, out);
    out->self = out->unusable.bytes && ptc_text_is(out->unusable, "self");
    if (out->unusable.bytes)
        return true;
    out->openapi = ptc_text_is(transport, "openapi");
    out->web = !out->openapi && !ptc_text_is(transport, "stdio");
    out->ca_file = cstr(arena, ptc_fields_text(heap, form, "ca_file"));
    out->kind = entry_kind_of(transport);
    if (out->openapi)
        return read_openapi(arena, heap, form, out);
    if (!out->web) {
        out->cwd = cstr(arena, ptc_fields_text(heap, form, "cwd"));
        return read_argv(arena, heap, form, out) &&
               read_entry_env(arena, heap, form, environment, out);
    }
    out->transport = link_transport_of(transport);
    out->url = cstr(arena, ptc_fields_text(heap, form, "url"));
    return out->url != NULL;
}

PtcValue ptc_entry_locate(PtcHeap *heap, PtcValue form, const char *path)
{
    PtcBuf located;
    PtcText file = ptc_fields_text(heap, form, "schema_file");
    const char *slash = strrchr(path, '/');
    if (!file.len || file.bytes[0] == '/' || !slash)
        return form;
    ptc_buf_init(&located, heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_add(&located, path, (size_t)(slash - path) + 1);
    ptc_buf_add(&located, file.bytes, file.len);
    ptc_fields_put(heap, &form, "schema_file", ptc_fields_buf(heap, &located));
    ptc_buf_deinit(&located);
    return form;
}

uint64_t ptc_entry_stamp(const PtcEntry *e)
{
    enum { PRIME = 1000003 };
    struct stat st;
    if (!e->schema_file || stat(e->schema_file, &st) != 0)
        return 0;
    uint64_t time = (uint64_t)st.st_ctim.tv_sec * PTC_S + (uint64_t)st.st_ctim.tv_nsec;
    return ((time * PRIME + (uint64_t)st.st_size) * PRIME + st.st_ino) | 1;
}

bool ptc_entry_shows(const PtcEntry *entry, PtcSpelt tool)
{
    if (fits_one(entry->exclude, tool, true))
        return false;
    return entry->include == PTC_NONE || fits_one(entry->include, tool, false);
}
