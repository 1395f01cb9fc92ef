/* SPDX-License-Identifier: MIT
 * Credentials of our file, and the headers that carry them.  Values never become part of what is read: an entry names
 * its credentials, and whoever sends a request asks for them at that moment. */
#include <stdio.h>
#include <strings.h>

#include "base/text/nearest.h"
#include "upstream/config/config_int.h"
#include "upstream/config/header.h"

/* ----------------------------------------------------------------------------- credentials */

static const char *const env_keys[] = {"source", "var", "scheme_hint", NULL};
static const char *const file_keys[] = {"source", "path", "scheme_hint", NULL};
static const char *const literal_keys[] = {"source", "value", "scheme_hint", NULL};
static const char *const exec_keys[] = {"source", "command", "ttl_ms", "scheme_hint", NULL};

static const struct {
    const char *name;
    const char *const *keys; /* the second is required */
} sources[] = {
    {"env", env_keys}, {"file", file_keys}, {"literal", literal_keys}, {"exec", exec_keys}};
enum { SOURCES = sizeof sources / sizeof *sources };

static int find_source_kind(PtcText name)
{
    for (int i = 0; i < SOURCES; i++)
        if (name.bytes && ptc_text_is(name, sources[i].name))
            return i;
    return -1;
}

static void check_credential_member(Config *c, PtcText key, PtcValue v)
{
    if (ptc_text_is(key, "command")) {
        PtcValue words = ptc_config_texts(c, v, false, false);
        if (words != PTC_NONE && ptc_fields_count(words) == 0)
            ptc_config_wrong(c, "bad_value", "it must name a program");
    } else if (ptc_text_is(key, "ttl_ms")) {
        (void)!ptc_config_number(c, v);
    } else {
        (void)!ptc_config_text(c, v);
    }
}

static void check_credential(Config *c, PtcValue v)
{
    char keep[PTC_PATH_BYTES];
    PtcValue key, value;
    if (!ptc_is_map(v)) {
        ptc_config_wrong(c, "wrong_type", "it must be an object with \"source\"");
        return;
    }
    PtcValue source = ptc_map_field(c->heap, v, "source");
    int kind = source == PTC_NONE ? -1 : find_source_kind(ptc_str_text(source));
    if (source == PTC_NONE)
        ptc_config_wrong_in(c, "source", "missing", "it says where the credential comes from");
    else if (kind < 0)
        ptc_config_wrong_in(c, "source", ptc_is_string(source) ? "bad_value" : "wrong_type",
                            "it must be env, file, literal or exec");
    if (kind < 0)
        return;
    const char *const *keys = sources[kind].keys;
    size_t count = 0;
    while (keys[count])
        count++;
    if (ptc_map_field(c->heap, v, keys[1]) == PTC_NONE)
        ptc_config_wrong_in(c, keys[1], "missing", "a credential from this source needs it");
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        size_t i = 0;
        while (i < count && !ptc_text_is(name, keys[i]))
            i++;
        ptc_config_enter(c, name, keep);
        if (i == count)
            ptc_config_unknown_key(c, name, keys, count);
        else
            check_credential_member(c, name, value);
        ptc_config_leave(c, keep);
    }
}

void ptc_config_credentials(Config *c)
{
    char keep[PTC_PATH_BYTES], inner[PTC_PATH_BYTES];
    PtcValue key, value;
    if (c->credentials == PTC_NONE)
        return;
    ptc_config_enter(c, PTC_TEXT("credentials"), keep);
    if (!ptc_is_map(c->credentials)) {
        ptc_config_wrong(c, "wrong_type", "it must be an object from names to credentials");
        c->credentials = PTC_NONE;
    } else {
        for (size_t pos = 0; ptc_map_next(c->credentials, &pos, &key, &value);) {
            ptc_config_enter(c, ptc_str_text(key), inner);
            check_credential(c, value);
            ptc_config_leave(c, inner);
        }
    }
    ptc_config_leave(c, keep);
}

/* The place of a member of a credential. */
static void credential_path(PtcHeap *heap, PtcText name, const char *key, char path[PTC_PATH_BYTES])
{
    PtcValue value = ptc_fields_string(heap, name);
    snprintf(path, PTC_PATH_BYTES, "credentials");
    if (value != PTC_NONE)
        ptc_path_add_key(path, PTC_PATH_BYTES, value);
    ptc_path_add_text(path, PTC_PATH_BYTES, ".", 1);
    ptc_path_add_text(path, PTC_PATH_BYTES, key, strlen(key));
}

PtcText ptc_config_credential(Config *c, PtcText name, const char **code, char path[PTC_PATH_BYTES])
{
    PtcText none = {NULL, 0};
    PtcValue credential =
        c->credentials == PTC_NONE ? PTC_NONE : ptc_fields_get(c->heap, c->credentials, name);
    *code = NULL;
    if (credential == PTC_NONE)
        return none;
    int kind = find_source_kind(ptc_fields_text(c->heap, credential, "source"));
    PtcText what = kind < 0 ? none : ptc_fields_text(c->heap, credential, sources[kind].keys[1]);
    PtcText value = none;
    if (!what.bytes)
        return none;
    credential_path(c->heap, name, sources[kind].keys[1], path);
    if (kind == 0) {
        value = c->in->variable(c->in->user, what);
        if (!value.len)
            *code = "unset_variable";
    } else if (kind == 1) {
        value = c->in->read(c->in->user, what);
        if (!value.bytes)
            *code = "missing_file";
        while (value.len && strchr(" \t\r\n", value.bytes[value.len - 1]))
            value.len--;
    } else {
        value = what;
    }
    if (!*code)
        ptc_config_secret(c, value);
    return *code ? none : value;
}

static void unknown_credential(Config *c, PtcText name)
{
    PtcNearest near;
    PtcValue key, value;
    char message[200];
    ptc_nearest_init(&near, name.bytes, name.len);
    if (c->credentials != PTC_NONE)
        for (size_t pos = 0; ptc_map_next(c->credentials, &pos, &key, &value);)
            ptc_nearest_offer(&near, ptc_str_bytes(key), ptc_str_len(key));
    snprintf(message, sizeof message, "there is no credential \"%.*s\"%s%.*s%s",
             PTC_ARG(ptc_text_cut(name, 60)), near.best ? "; did you mean \"" : "",
             PTC_ARG_OF(near.best, near.best_len), near.best ? "\"?" : "");
    ptc_config_wrong(c, "unknown_credential", message);
}

/* -------------------------------------------------------------------------------- bindings */

static const char *const auth_keys[] = {"scheme", "binding", "header", "in", "name"};
enum { AUTH_KEYS = sizeof auth_keys / sizeof *auth_keys };

/* What is missing is the variable or the file that the credential names. */
static void lacks_credential(Config *c, PtcText name, const char *path, const char *code)
{
    char message[240];
    PtcValue how = ptc_fields_get(c->heap, c->credentials, name);
    PtcText variable = ptc_fields_text(c->heap, how, "var");
    PtcText file = ptc_fields_text(c->heap, how, "path"), what = variable.bytes ? variable : file;
    snprintf(message, sizeof message, "the credential \"%.*s\" cannot be read: %s%.*s%s",
             PTC_ARG(ptc_text_cut(name, 60)), variable.bytes ? "the variable " : "",
             PTC_ARG(ptc_text_cut(what, 100)), variable.bytes ? " is not set" : " cannot be read");
    ptc_config_lacks(c, path, code, message);
}

void ptc_config_names_credential(Config *c, PtcValue v)
{
    char path[PTC_PATH_BYTES];
    const char *code;
    PtcText name = ptc_str_text(v);
    if (!name.bytes)
        ptc_config_wrong(c, "wrong_type", "it must be the name of a credential");
    else if (c->credentials == PTC_NONE ||
             ptc_fields_get(c->heap, c->credentials, name) == PTC_NONE)
        unknown_credential(c, name);
    else if (!ptc_config_credential(c, name, &code, path).bytes && code)
        lacks_credential(c, name, path, code);
}

static void check_binding(Config *c, PtcValue v)
{
    char keep[PTC_PATH_BYTES];
    ptc_config_enter(c, PTC_TEXT("binding"), keep);
    if (v == PTC_NONE)
        ptc_config_wrong(c, "missing", "it names a credential");
    else
        ptc_config_names_credential(c, v);
    ptc_config_leave(c, keep);
}

/* The header, or with `in: "query"` the parameter, that a key goes into. */
static void check_carrier(Config *c, PtcValue auth)
{
    PtcText in = ptc_fields_text(c->heap, auth, "in");
    bool query = in.bytes && ptc_text_is(in, "query");
    PtcText header = ptc_fields_text(c->heap, auth, "header");
    PtcText name = ptc_fields_text(c->heap, auth, "name");
    if (in.bytes && !query && !ptc_text_is(in, "header"))
        ptc_config_wrong_in(c, "in", "bad_value", "it must be header or query");
    else if (query && !name.bytes && !header.bytes)
        ptc_config_wrong_in(c, "name", "missing", "it names the parameter that carries the key");
    else if (!query && !header.bytes)
        ptc_config_wrong_in(c, "header", "missing", "it names the header that carries the key");
    else if (!query && !ptc_header_is_name(header))
        ptc_config_wrong_in(c, "header", "bad_header", "this cannot be the name of a header");
    else if (!query && ptc_header_is_reserved(header) &&
             !(header.len == 9 && strncasecmp(header.bytes, "x-api-key", 9) == 0))
        ptc_config_wrong_in(c, "header", "reserved_header", "this header is not set by hand");
}

static void check_emitter(Config *c, PtcValue auth)
{
    char keep[PTC_PATH_BYTES];
    PtcValue key, value;
    PtcText scheme = ptc_fields_text(c->heap, auth, "scheme");
    bool carried =
        scheme.bytes && (ptc_text_is(scheme, "api_key") || ptc_text_is(scheme, "custom_header"));
    if (!ptc_is_map(auth)) {
        ptc_config_wrong(c, "wrong_type", "it must be an object with \"scheme\" and \"binding\"");
        return;
    }
    for (size_t pos = 0; ptc_map_next(auth, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        size_t i = 0;
        while (i < AUTH_KEYS && !ptc_text_is(name, auth_keys[i]))
            i++;
        ptc_config_enter(c, name, keep);
        if (i == AUTH_KEYS)
            ptc_config_unknown_key(c, name, auth_keys, AUTH_KEYS);
        ptc_config_leave(c, keep);
    }
    if (ptc_map_field(c->heap, auth, "scheme") == PTC_NONE)
        ptc_config_wrong_in(c, "scheme", "missing",
                            "it must be bearer, basic, api_key or custom_header");
    else if (!scheme.bytes ||
             !(carried || ptc_text_is(scheme, "bearer") || ptc_text_is(scheme, "basic")))
        ptc_config_wrong_in(c, "scheme", scheme.bytes ? "bad_value" : "wrong_type",
                            "it must be bearer, basic, api_key or custom_header");
    check_binding(c, ptc_map_field(c->heap, auth, "binding"));
    if (carried)
        check_carrier(c, auth);
}

PtcValue ptc_config_auth(Config *c, PtcValue v)
{
    char keep[PTC_PATH_BYTES];
    if (!ptc_is_sequential(v)) {
        ptc_config_wrong(c, "wrong_type", "it must be an array");
        return PTC_NONE;
    }
    for (size_t i = 0; i < ptc_fields_count(v); i++) {
        ptc_config_enter_index(c, i, keep);
        check_emitter(c, ptc_seq_nth(v, i));
        ptc_config_leave(c, keep);
    }
    return v;
}

/* The header that a binding sets, in lower case; PTC_NONE: none. */
static PtcValue emitted(Config *c, PtcValue auth)
{
    PtcText scheme = ptc_fields_text(c->heap, auth, "scheme");
    PtcText in = ptc_fields_text(c->heap, auth, "in");
    if (!scheme.bytes || (in.bytes && ptc_text_is(in, "query")))
        return PTC_NONE;
    if (ptc_text_is(scheme, "bearer") || ptc_text_is(scheme, "basic"))
        return ptc_fields_string(c->heap, PTC_TEXT("authorization"));
    PtcText header = ptc_fields_text(c->heap, auth, "header");
    return header.bytes ? ptc_header_lower(c->heap, header) : PTC_NONE;
}

/* No header is set by two bindings, or by one and by hand. */
void ptc_config_check_auth(Config *c)
{
    char keep[PTC_PATH_BYTES], inner[PTC_PATH_BYTES];
    PtcValue auth = ptc_map_field(c->heap, c->form, "auth");
    PtcValue seen = ptc_map_field(c->heap, c->form, "headers");
    if (seen == PTC_NONE || !ptc_is_map(seen))
        seen = ptc_fields_map(c->heap);
    ptc_config_enter(c, PTC_TEXT("auth"), keep);
    for (size_t i = 0; i < ptc_fields_count(auth); i++) {
        PtcValue name = emitted(c, ptc_seq_nth(auth, i));
        if (name == PTC_NONE)
            continue;
        ptc_config_enter_index(c, i, inner);
        if (ptc_map_get(c->heap, seen, name) != PTC_NONE)
            ptc_config_wrong_in(c,
                                ptc_map_field(c->heap, ptc_seq_nth(auth, i), "header") == PTC_NONE
                                    ? "scheme"
                                    : "header",
                                "conflict", "this header is set twice");
        ptc_fields_put_key(c->heap, &seen, ptc_str_text(name), PTC_TRUE);
        ptc_config_leave(c, inner);
    }
    ptc_config_leave(c, keep);
}

/* --------------------------------------------------------------------------------- headers */

PtcValue ptc_config_static_headers(Config *c, PtcValue v)
{
    char keep[PTC_PATH_BYTES];
    PtcValue key, value, out = ptc_fields_map(c->heap);
    if (!ptc_is_map(v)) {
        ptc_config_wrong(c, "wrong_type", "it must be an object from names to values");
        return PTC_NONE;
    }
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key), text = ptc_str_text(value);
        ptc_config_enter(c, name, keep);
        PtcValue lower = ptc_header_lower(c->heap, name);
        if (!ptc_header_is_name(name))
            ptc_config_wrong(c, "bad_header", "this cannot be the name of a header");
        else if (ptc_header_is_reserved(name))
            ptc_config_wrong(c, "reserved_header",
                             "this header is not set by hand; credentials belong to \"auth\"");
        else if (!text.bytes)
            ptc_config_wrong(c, "wrong_type", "it must be a string");
        else if (!ptc_header_is_value(text))
            ptc_config_wrong(c, "bad_header", "a header is one line");
        else if (lower != PTC_NONE && ptc_map_get(c->heap, out, lower) != PTC_NONE)
            ptc_config_wrong(c, "duplicate", "this header is there already, in another case");
        else if (lower != PTC_NONE)
            ptc_fields_put_key(c->heap, &out, ptc_str_text(lower), value);
        ptc_config_named_secret(c, name, value);
        if (text.bytes && memchr(text.bytes, '$', text.len) && strstr(text.bytes, "${"))
            ptc_config_note(c, "literal");
        ptc_config_leave(c, keep);
    }
    return out;
}
