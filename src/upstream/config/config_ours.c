/* SPDX-License-Identifier: MIT
 * Entries of our own file.  One row for each key says which transports have it and how it is read.  A key that the
 * entry's transport does not have is a mistake, so that nothing a person wrote is silently ignored. */
#include "upstream/catalog/naming.h"
#include "upstream/config/config_int.h"

/* Kinds of upstreams, as bits. */
enum { STDIO = 1, HTTP = 2, OPENAPI = 4, FROM = 8, WEB = HTTP | OPENAPI, ALL = STDIO | WEB | FROM };

typedef PtcValue (*ReadFn)(Config *c, PtcValue v);

/* ----------------------------------------------------------------------------------- values */

static PtcValue read_texts(Config *c, PtcValue v)
{
    return ptc_config_texts(c, v, false, false);
}

static PtcValue read_expanded(Config *c, PtcValue v)
{
    return ptc_config_expanded(c, v, false);
}

static PtcValue read_our_url(Config *c, PtcValue v)
{
    return ptc_config_guarded(c, v, false);
}

static PtcValue read_our_args(Config *c, PtcValue v)
{
    return ptc_config_texts(c, v, true, false);
}

static PtcValue read_tool_policy(Config *c, PtcValue v)
{
    return ptc_config_rules(c, v, ptc_config_is_policy);
}

static PtcValue read_tool_effects(Config *c, PtcValue v)
{
    return ptc_config_rules(c, v, ptc_config_is_effect);
}

static PtcValue read_our_oauth(Config *c, PtcValue v)
{
    static const ConfigRename keys[] = {{"client_id", "client_id"},
                                        {"client_secret", "client_secret"},
                                        {"client_id_url", "client_id_url"},
                                        {"scopes", "scopes"},
                                        {"callback_port", "callback_port"},
                                        {"grant", "grant"},
                                        {"private_key_file", "private_key_file"},
                                        {NULL, NULL}};
    return ptc_config_oauth(c, v, keys, true);
}

static PtcValue read_retry_word(Config *c, PtcValue v)
{
    PtcText text = ptc_str_text(v);
    if (text.bytes && (ptc_text_is(text, "none") || ptc_text_is(text, "default")))
        return v;
    ptc_config_wrong(c, text.bytes ? "bad_value" : "wrong_type", "it must be none or default");
    return PTC_NONE;
}

static PtcValue read_pin(Config *c, PtcValue v)
{
    PtcText text = ptc_str_text(v);
    if (ptc_is_bool(v) || (text.bytes && ptc_text_is(text, "strict")))
        return v;
    ptc_config_wrong(c, text.bytes ? "bad_value" : "wrong_type",
                     "it must be strict, true or false");
    return PTC_NONE;
}

static PtcValue read_namespace(Config *c, PtcValue v)
{
    if (ptc_config_text(c, v) == PTC_NONE)
        return PTC_NONE;
    if (ptc_naming_is_namespace(ptc_str_text(v)))
        return v;
    ptc_config_wrong(c, "bad_name",
                     "a namespace is made of letters, digits, _ . and -, begins with a letter, and "
                     "is not one of the language's own");
    return PTC_NONE;
}

/* Scheme -> credential. */
static PtcValue read_security(Config *c, PtcValue v)
{
    char keep[PTC_PATH_BYTES];
    PtcValue key, value;
    if (!ptc_is_map(v)) {
        ptc_config_wrong(c, "wrong_type", "it must be an object from schemes to credentials");
        return PTC_NONE;
    }
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        ptc_config_enter(c, ptc_str_text(key), keep);
        ptc_config_names_credential(c, value);
        ptc_config_leave(c, keep);
    }
    return v;
}

static PtcValue read_override(Config *c, PtcValue v)
{
    static const char *const keys[] = {"name", "description", "default_args"};
    char keep[PTC_PATH_BYTES];
    PtcValue key, value;
    if (!ptc_is_map(v)) {
        ptc_config_wrong(c, "wrong_type", "it must be an object");
        return PTC_NONE;
    }
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        ptc_config_enter(c, name, keep);
        if (ptc_text_is(name, "default_args") && !ptc_is_map(value))
            ptc_config_wrong(c, "wrong_type", "it must be an object");
        else if (ptc_text_is(name, "name") || ptc_text_is(name, "description"))
            (void)!ptc_config_text(c, value);
        else if (!ptc_text_is(name, "default_args"))
            ptc_config_unknown_key(c, name, keys, 3);
        ptc_config_leave(c, keep);
    }
    return v;
}

static PtcValue read_overrides(Config *c, PtcValue v)
{
    char keep[PTC_PATH_BYTES];
    PtcValue key, value;
    if (!ptc_is_map(v)) {
        ptc_config_wrong(c, "wrong_type", "it must be an object from operations to changes");
        return PTC_NONE;
    }
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        ptc_config_enter(c, ptc_str_text(key), keep);
        (void)!read_override(c, value);
        ptc_config_leave(c, keep);
    }
    return v;
}

/* ------------------------------------------------------------------------------------- keys */

/* `to`: the name in normal form; NULL: the same. */
typedef struct {
    const char *name;
    int kinds;
    ReadFn read;
    const char *to;
} ConfigKey;

static const ConfigKey keys[] = {
    {"transport", STDIO | WEB, NULL, NULL}, /* read before the others */
    {"from", FROM, ptc_config_text, NULL},
    {"description", ALL, ptc_config_text, NULL},
    {"enabled", ALL, ptc_config_bool, NULL},
    {"namespace", ALL, read_namespace, NULL},
    {"include_tools", ALL, read_texts, NULL},
    {"exclude_tools", ALL, read_texts, NULL},
    {"policy", ALL, read_tool_policy, NULL},
    {"effects", ALL, read_tool_effects, NULL},
    {"trust_annotations", ALL, ptc_config_bool, NULL},
    {"call_timeout_ms", ALL, ptc_config_number, NULL},
    {"handshake_timeout_ms", ALL, ptc_config_number, NULL},
    {"max_response_bytes", ALL, ptc_config_number, NULL},
    {"max_concurrency", ALL, ptc_config_number, NULL},
    {"retry", ALL, read_retry_word, NULL},
    {"parse_json", ALL, ptc_config_bool, NULL},
    {"strict_output", ALL, ptc_config_bool, NULL},
    {"pin", ALL, read_pin, NULL},
    {"roots", ALL, read_texts, NULL},
    {"sampling", ALL, ptc_config_bool, NULL},
    {"elicitation", ALL, ptc_config_bool, NULL},
    {"shared", ALL, ptc_config_bool, NULL},
    {"command", STDIO, read_expanded, NULL},
    {"args", STDIO, read_our_args, NULL},
    {"env", STDIO, ptc_config_env, NULL},
    {"env_file", STDIO, read_expanded, NULL},
    {"cwd", STDIO, read_expanded, NULL},
    {"cd", STDIO, read_expanded, "cwd"},
    {"inherit_env", STDIO, read_texts, NULL},
    {"url", HTTP, read_our_url, NULL},
    {"auth", WEB, ptc_config_auth, NULL},
    {"static_headers", WEB, ptc_config_static_headers, "headers"},
    {"oauth", WEB, read_our_oauth, NULL},
    {"ca_file", WEB, ptc_config_text, NULL},
    {"request_timeout_ms", WEB, ptc_config_number, NULL},
    {"connect_timeout_ms", WEB, ptc_config_number, NULL},
    {"allow_insecure_http", WEB, ptc_config_bool, NULL},
    {"allow_insecure_auth", WEB, ptc_config_bool, NULL},
    {"base_url", OPENAPI, ptc_config_text, NULL},
    {"schema_file", OPENAPI, ptc_config_text, NULL},
    {"schema_url", OPENAPI, ptc_config_text, NULL},
    {"include_operations", OPENAPI, read_texts, NULL},
    {"exclude_operations", OPENAPI, read_texts, NULL},
    {"operation_overrides", OPENAPI, read_overrides, NULL},
    {"allow_writes", OPENAPI, ptc_config_bool, NULL},
    {"security", OPENAPI, read_security, NULL},
    {"schema_max_bytes", OPENAPI, ptc_config_number, NULL},
};
enum { KEYS = sizeof keys / sizeof *keys };

static const ConfigKey *find_config_key(PtcText name, int kinds)
{
    for (size_t i = 0; i < KEYS; i++)
        if (ptc_text_is(name, keys[i].name) && keys[i].kinds & kinds)
            return &keys[i];
    return NULL;
}

static void unknown_key(Config *c, PtcText name, int kinds)
{
    const char *known[KEYS];
    size_t n = 0;
    const ConfigKey *other = find_config_key(name, ~0);
    if (other) {
        c->strange = true;
        ptc_config_wrong(c, "unknown_key",
                         kinds & FROM           ? "this key does not go with \"from\""
                         : other->kinds & STDIO ? "this key is only for servers with a \"command\""
                         : other->kinds & HTTP  ? "this key is only for servers with a \"url\""
                                                : "this key is only for OpenAPI services");
        return;
    }
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].kinds & kinds)
            known[n++] = keys[i].name;
    ptc_config_unknown_key(c, name, known, n);
}

static void read_entry_members(Config *c, int kinds)
{
    char keep[PTC_PATH_BYTES];
    PtcValue key, value;
    for (size_t pos = 0; ptc_map_next(c->entry, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        const ConfigKey *row = find_config_key(name, kinds);
        ptc_config_enter(c, name, keep);
        if (!row)
            unknown_key(c, name, kinds);
        else if (row->read && value == PTC_NIL)
            ptc_config_wrong(c, "wrong_type", "it must have a value; leave the key out instead");
        else if (row->read)
            ptc_config_put(c, row->to ? row->to : row->name, row->read(c, value));
        ptc_config_leave(c, keep);
    }
}

/* ------------------------------------------------------------------------------- transports */

static const struct {
    const char *name, *normal;
    int kind;
} transports[] = {{"mcp_stdio", "stdio", STDIO}, {"stdio", "stdio", STDIO},
                  {"mcp_http", "http", HTTP},    {"http", "http", HTTP},
                  {"sse", "sse", HTTP},          {"openapi", "openapi", OPENAPI}};

static void put_transport(Config *c, const char *normal)
{
    ptc_fields_put_text(c->heap, &c->form, "transport", ptc_text_cstr(normal));
}

static int read_our_transport(Config *c, PtcValue v)
{
    PtcText name = ptc_str_text(v);
    for (size_t i = 0; i < sizeof transports / sizeof *transports; i++)
        if (name.bytes && ptc_text_is(name, transports[i].name)) {
            put_transport(c, transports[i].normal);
            return transports[i].kind;
        }
    if (name.bytes)
        ptc_config_wrong_in(c, "transport", "unknown_transport",
                            "it must be stdio, http, sse or openapi");
    else
        ptc_config_wrong_in(c, "transport", "wrong_type", "it must be a string");
    return 0;
}

/* By what is there, when nothing is said.  0: it cannot be known, and a mistake has been told. */
static int guessed_transport(Config *c)
{
    bool command = ptc_config_member(c, "command") != PTC_NONE;
    bool url = ptc_config_member(c, "url") != PTC_NONE;
    bool base = ptc_config_member(c, "base_url") != PTC_NONE;
    bool document = ptc_config_member(c, "schema_file") != PTC_NONE ||
                    ptc_config_member(c, "schema_url") != PTC_NONE;
    if (command + url + base > 1) {
        ptc_config_wrong(c, "conflict", "command, url and base_url are for different transports");
        return 0;
    }
    put_transport(c, command ? "stdio" : url ? "auto" : "openapi");
    return command ? STDIO : url ? HTTP : base || document ? OPENAPI : 0;
}

static int find_transport(Config *c)
{
    PtcValue transport = ptc_config_member(c, "transport");
    if (ptc_config_member(c, "from") != PTC_NONE)
        return FROM;
    return transport != PTC_NONE ? read_our_transport(c, transport) : guessed_transport(c);
}

/* ----------------------------------------------------------------------------------- checks */

static void check_stdio(Config *c)
{
    char keep[PTC_PATH_BYTES];
    PtcText file = ptc_fields_text(c->heap, c->form, "env_file");
    if (ptc_config_member(c, "command") == PTC_NONE && !c->strange)
        ptc_config_wrong_in(c, "command", "missing", "it names the program to start");
    if (ptc_config_member(c, "cwd") != PTC_NONE && ptc_config_member(c, "cd") != PTC_NONE)
        ptc_config_wrong_in(c, "cd", "conflict", "cd and cwd mean the same; give one of them");
    ptc_config_check_command(c);
    if (!file.bytes)
        return;
    ptc_config_enter(c, PTC_TEXT("env_file"), keep);
    ptc_config_env_file(c, file);
    ptc_config_leave(c, keep);
}

/* An address of the entry; with credentials when they go there. */
static void check_address(Config *c, const char *key, bool credentials)
{
    char keep[PTC_PATH_BYTES];
    PtcText url = ptc_fields_text(c->heap, c->form, key);
    bool insecure = ptc_config_member(c, "allow_insecure_http") == PTC_TRUE;
    bool insecure_auth = ptc_config_member(c, "allow_insecure_auth") == PTC_TRUE;
    if (!url.bytes)
        return;
    size_t before = ptc_fields_count(c->out->errors);
    ptc_config_enter(c, ptc_text_cstr(key), keep);
    bool ok = ptc_config_check_url(c, url, insecure, insecure_auth, credentials);
    ptc_config_leave(c, keep);
    if (!ok && ptc_fields_count(c->out->errors) == before)
        ptc_config_wrong_in(c, "auth", "insecure_auth",
                            "credentials would go over http; use https, or allow_insecure_auth");
}

static bool has_config_credentials(Config *c)
{
    PtcValue auth = ptc_config_member(c, "auth");
    return (auth != PTC_NONE && ptc_fields_count(auth)) ||
           ptc_config_member(c, "oauth") != PTC_NONE ||
           ptc_config_member(c, "security") != PTC_NONE;
}

static void check_openapi(Config *c)
{
    bool file = ptc_config_member(c, "schema_file") != PTC_NONE;
    bool url = ptc_config_member(c, "schema_url") != PTC_NONE;
    if (file && url)
        ptc_config_wrong(c, "conflict", "give schema_file or schema_url, not both");
    else if (!file && !url && !c->strange)
        ptc_config_wrong(c, "missing", "schema_file or schema_url must say where the document is");
    check_address(c, "base_url", has_config_credentials(c));
    check_address(c, "schema_url", false);
}

void ptc_config_ours(Config *c)
{
    int kind = find_transport(c);
    read_entry_members(c, kind ? kind : STDIO | WEB);
    if (kind == 0 && !c->strange && ptc_config_member(c, "transport") == PTC_NONE &&
        ptc_config_member(c, "command") == PTC_NONE && ptc_config_member(c, "url") == PTC_NONE &&
        ptc_config_member(c, "base_url") == PTC_NONE)
        ptc_config_wrong(c, "missing",
                         "command, url, base_url or schema_file must say what the upstream is");
    if (kind == STDIO)
        check_stdio(c);
    if (kind == HTTP && ptc_config_member(c, "url") == PTC_NONE && !c->strange)
        ptc_config_wrong_in(c, "url", "missing", "it is the address of the server");
    if (kind == HTTP)
        check_address(c, "url", has_config_credentials(c));
    if (kind == OPENAPI)
        check_openapi(c);
    if (kind & WEB)
        ptc_config_check_auth(c);
}
