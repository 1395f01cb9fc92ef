/* SPDX-License-Identifier: MIT
 * Entries of other clients' files.  There are many keys, and new ones appear: those that mean something to us are read,
 * all others are skipped.  Consent that a person gave to another program is not taken as given to us. */
#include "upstream/config/config_int.h"
#include "upstream/config/header.h"

static bool usable(const Config *c)
{
    return c->unusable == PTC_NONE;
}

/* Reads a member, where there is one, into the normal form. */
static void take_their_member(Config *c, const char *key, const char *to,
                              PtcValue (*read)(Config *, PtcValue))
{
    char keep[PTC_PATH_BYTES];
    PtcValue v = ptc_config_member(c, key);
    if (v == PTC_NONE || !usable(c))
        return;
    ptc_config_enter(c, ptc_text_cstr(key), keep);
    ptc_config_put(c, to, read(c, v));
    ptc_config_leave(c, keep);
}

static PtcValue read_texts(Config *c, PtcValue v)
{
    return ptc_config_texts(c, v, false, false);
}

static PtcValue read_expanded(Config *c, PtcValue v)
{
    return ptc_config_expanded(c, v, false);
}

static PtcValue read_their_args(Config *c, PtcValue v)
{
    return ptc_config_texts(c, v, true, true);
}

/* ------------------------------------------------------------------------------- transports */

static const char *transport_by_type(PtcText type)
{
    static const char *const http[] = {"http", "streamable-http", "streamableHttp",
                                       "streamable_http"};
    for (size_t i = 0; i < sizeof http / sizeof *http; i++)
        if (ptc_text_is(type, http[i]))
            return "http";
    return ptc_text_is(type, "stdio") ? "stdio" : ptc_text_is(type, "sse") ? "sse" : NULL;
}

/* What `type` and its like say; NULL: nothing, or it is no good. */
static const char *read_their_transport(Config *c)
{
    static const char *const keys[] = {"type", "transport", "transportType"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && usable(c); i++) {
        PtcValue v = ptc_config_member(c, keys[i]);
        if (v == PTC_NONE)
            continue;
        const char *name = ptc_is_string(v) ? transport_by_type(ptc_str_text(v)) : NULL;
        if (!ptc_is_string(v))
            ptc_config_wrong_in(c, keys[i], "wrong_type", "it must be a string");
        else if (!name)
            ptc_config_wrong_in(c, keys[i], "unknown_transport", "it must be stdio, http or sse");
        else if (found && strcmp(found, name) != 0)
            ptc_config_wrong(c, "conflict", "its keys name different transports");
        found = name;
    }
    return found;
}

/* The key of the address: httpUrl comes first, since it says more. */
static const char *url_key(Config *c)
{
    static const char *const keys[] = {"httpUrl", "serverUrl", "url"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (ptc_config_member(c, keys[i]) != PTC_NONE)
            return keys[i];
    return NULL;
}

/* --------------------------------------------------------------------------------- programs */

/* Arguments in the command, then those of `args`. */
static void join_args(Config *c, PtcValue first)
{
    PtcValue own = ptc_map_field(c->heap, c->form, "args");
    for (size_t i = 0; i < ptc_fields_count(own); i++)
        ptc_fields_push(c->heap, &first, ptc_seq_nth(own, i));
    if (ptc_fields_count(first))
        ptc_config_put(c, "args", first);
}

/* ["npx", "-y", "x"]: the program, then arguments. */
static void read_command_list(Config *c, PtcValue v)
{
    PtcValue words = read_their_args(c, v), rest = ptc_fields_list(c->heap);
    if (words == PTC_NONE || !usable(c))
        return;
    if (ptc_fields_count(words) == 0) {
        ptc_config_wrong(c, "missing", "it must name a program");
        return;
    }
    for (size_t i = 1; i < ptc_fields_count(words); i++)
        ptc_fields_push(c->heap, &rest, ptc_seq_nth(words, i));
    ptc_config_put(c, "command", ptc_seq_nth(words, 0));
    join_args(c, rest);
}

/* {"path", "args", "env"}, as older Zed has it. */
static void read_command_object(Config *c, PtcValue v)
{
    PtcValue outer = c->entry;
    PtcValue args = ptc_map_field(c->heap, c->form, "args");
    PtcValue env = ptc_map_field(c->heap, c->form, "env");
    c->entry = v;
    if (ptc_config_member(c, "path") == PTC_NONE)
        ptc_config_wrong_in(c, "path", "missing", "it names the program to start");
    take_their_member(c, "path", "command", read_expanded);
    take_their_member(c, "args", "args", read_their_args);
    take_their_member(c, "env", "env", ptc_config_env);
    c->entry = outer;
    PtcValue inner = ptc_map_field(c->heap, c->form, "args");
    if (args != PTC_NONE && inner != args) {
        ptc_config_put(c, "args", args);
        join_args(c, inner);
    }
    if (env != PTC_NONE && ptc_is_map(env)) {
        PtcValue key, value, all = ptc_map_field(c->heap, c->form, "env");
        for (size_t pos = 0; ptc_map_next(env, &pos, &key, &value);)
            ptc_fields_put_key(c->heap, &all, ptc_str_text(key), value);
        ptc_config_put(c, "env", all);
    }
}

static void read_their_command(Config *c)
{
    char keep[PTC_PATH_BYTES];
    PtcValue v = ptc_config_member(c, "command");
    ptc_config_enter(c, PTC_TEXT("command"), keep);
    if (ptc_is_sequential(v))
        read_command_list(c, v);
    else if (ptc_is_map(v))
        read_command_object(c, v);
    else
        ptc_config_put(c, "command", ptc_config_expanded(c, v, false));
    ptc_config_leave(c, keep);
}

static PtcValue read_env_file(Config *c, PtcValue v)
{
    PtcValue path = ptc_config_expanded(c, v, false);
    if (path != PTC_NONE)
        ptc_config_env_file(c, ptc_str_text(path));
    return PTC_NONE;
}

static void read_stdio(Config *c)
{
    if (ptc_config_member(c, "command") == PTC_NONE) {
        ptc_config_wrong_in(c, "command", "missing", "it names the program to start");
        return;
    }
    take_their_member(c, "args", "args", read_their_args);
    take_their_member(c, "env", "env", ptc_config_env);
    take_their_member(c, "cwd", "cwd", read_expanded);
    if (usable(c))
        read_their_command(c);
    take_their_member(c, "envFile", "env", read_env_file);
    if (usable(c))
        ptc_config_check_command(c);
}

/* ---------------------------------------------------------------------------------- servers */

static void read_their_header(Config *c, PtcText name, PtcValue value, PtcValue *out)
{
    PtcValue lower = ptc_header_lower(c->heap, name);
    if (!ptc_header_is_name(name)) {
        ptc_config_wrong(c, "bad_header", "this cannot be the name of a header");
        return;
    }
    if (ptc_header_is_ours(name)) {
        ptc_config_note(c, "header_ignored");
        return;
    }
    PtcValue text = ptc_config_guarded(c, value, true);
    if (text == PTC_NONE || lower == PTC_NONE)
        return;
    ptc_config_named_secret(c, name, text);
    if (!ptc_header_is_value(ptc_str_text(text)))
        ptc_config_wrong(c, "bad_header", "a header is one line");
    else if (ptc_map_get(c->heap, *out, lower) != PTC_NONE)
        ptc_config_wrong(c, "duplicate", "this header is there already, in another case");
    else
        ptc_fields_put_key(c->heap, out, ptc_str_text(lower), text);
}

static PtcValue read_their_headers(Config *c, PtcValue v)
{
    char keep[PTC_PATH_BYTES];
    PtcValue key, value, out = ptc_fields_map(c->heap);
    if (!ptc_is_map(v)) {
        ptc_config_wrong(c, "wrong_type", "it must be an object from names to values");
        return PTC_NONE;
    }
    for (size_t pos = 0; usable(c) && ptc_map_next(v, &pos, &key, &value);) {
        ptc_config_enter(c, ptc_str_text(key), keep);
        read_their_header(c, ptc_str_text(key), value, &out);
        ptc_config_leave(c, keep);
    }
    return out;
}

static PtcValue read_their_oauth(Config *c, PtcValue v)
{
    static const ConfigRename keys[] = {{"clientId", "client_id"},
                                        {"clientSecret", "client_secret"},
                                        {"scopes", "scopes"},
                                        {"callbackPort", "callback_port"},
                                        {NULL, NULL}};
    return ptc_config_oauth(c, v, keys, false);
}

static PtcValue read_auth(Config *c, PtcValue v)
{
    static const ConfigRename keys[] = {{"CLIENT_ID", "client_id"},
                                        {"CLIENT_SECRET", "client_secret"},
                                        {"scopes", "scopes"},
                                        {NULL, NULL}};
    return ptc_config_oauth(c, v, keys, false);
}

static PtcValue read_their_url(Config *c, PtcValue v)
{
    PtcValue url = ptc_config_guarded(c, v, false);
    if (url == PTC_NONE || !ptc_config_check_url(c, ptc_str_text(url), false, false, false))
        return PTC_NONE;
    return url;
}

static void read_their_http(Config *c)
{
    const char *key = url_key(c);
    if (!key) {
        ptc_config_wrong_in(c, "url", "missing", "it is the address of the server");
        return;
    }
    take_their_member(c, key, "url", read_their_url);
    take_their_member(c, "headers", "headers", read_their_headers);
    take_their_member(c, "headersHelper", "headers_command", ptc_config_text);
    take_their_member(c, "oauth", "oauth", read_their_oauth);
    if (ptc_is_map(ptc_map_field(c->heap, c->entry, "auth")))
        take_their_member(c, "auth", "oauth", read_auth);
}

/* ----------------------------------------------------------------------------------- others */

static void read_enabled(Config *c)
{
    PtcValue disabled = ptc_config_member(c, "disabled"), enabled = ptc_config_member(c, "enabled");
    if (disabled != PTC_NONE && !ptc_is_bool(disabled))
        ptc_config_wrong_in(c, "disabled", "wrong_type", "it must be true or false");
    else if (enabled != PTC_NONE && !ptc_is_bool(enabled))
        ptc_config_wrong_in(c, "enabled", "wrong_type", "it must be true or false");
    else if (disabled != PTC_NONE && disabled == enabled)
        ptc_config_wrong(c, "conflict", "disabled and enabled contradict each other");
    else if (disabled == PTC_TRUE || enabled == PTC_FALSE)
        ptc_config_put(c, "enabled", PTC_FALSE);
}

/* Milliseconds where the client means them, and where the number is too large for seconds to be meant. */
static PtcValue read_their_timeout(Config *c, PtcValue v)
{
    enum { FROM_MS = 1000 };
    bool ms = c->dialect == PTC_DIALECT_GEMINI || c->dialect == PTC_DIALECT_CLAUDE_CODE;
    if (!ptc_is_number(v)) {
        ptc_config_wrong(c, "wrong_type", "it must be a number");
        return PTC_NONE;
    }
    double n = ptc_is_int(v) ? (double)ptc_to_int(v) : ptc_is_float(v) ? ptc_to_float(v) : 0;
    if (!(n > 0 && n < 1e12)) {
        ptc_config_wrong(c, "bad_value", "it must be more than 0");
        return PTC_NONE;
    }
    if (ms || n >= FROM_MS)
        return ptc_int((int64_t)(n < 1 ? 1 : n));
    ptc_config_note(c, "taken_as_seconds");
    return ptc_int((int64_t)(n * 1000));
}

/* Consent to another program. */
static void note_consent(Config *c)
{
    static const char *const keys[] = {"trust", "autoApprove", "alwaysAllow"};
    char keep[PTC_PATH_BYTES];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        PtcValue v = ptc_config_member(c, keys[i]);
        bool empty = v == PTC_NONE || v == PTC_FALSE || (ptc_is_sequential(v) && !ptc_seq_count(v));
        ptc_config_enter(c, ptc_text_cstr(keys[i]), keep);
        if (!empty)
            ptc_config_note(c, "not_honoured");
        ptc_config_leave(c, keep);
    }
}

/* Gemini's exclusion and Windsurf's are one. */
static void read_excluded(Config *c)
{
    take_their_member(c, "excludeTools", "exclude_tools", read_texts);
    PtcValue first = ptc_map_field(c->heap, c->form, "exclude_tools");
    take_their_member(c, "disabledTools", "exclude_tools", read_texts);
    PtcValue all = ptc_map_field(c->heap, c->form, "exclude_tools");
    if (first == PTC_NONE || all == first)
        return;
    for (size_t i = 0; i < ptc_fields_count(all); i++)
        ptc_fields_push(c->heap, &first, ptc_seq_nth(all, i));
    ptc_config_put(c, "exclude_tools", first);
}

static void read_rest(Config *c)
{
    PtcValue about = ptc_config_member(c, "description");
    if (about != PTC_NONE && ptc_is_string(about))
        ptc_config_put(c, "description", about);
    if (usable(c))
        read_enabled(c);
    take_their_member(c, "includeTools", "include_tools", read_texts);
    read_excluded(c);
    take_their_member(c, "timeout", "call_timeout_ms", read_their_timeout);
    note_consent(c);
}

void ptc_config_theirs(Config *c)
{
    if (ptc_config_member(c, "sandboxEnabled") == PTC_TRUE) {
        ptc_config_wrong_in(c, "sandboxEnabled", "sandboxed",
                            "it would run unconfined here; copy the entry to allow that");
        return;
    }
    const char *named = read_their_transport(c), *url = url_key(c);
    bool command = ptc_config_member(c, "command") != PTC_NONE;
    if (!usable(c))
        return;
    if (!named && command && url) {
        ptc_config_wrong(c, "conflict", "it has a command and an address, and no type");
    } else if (!named && !command && !url) {
        ptc_config_wrong(c, "missing", "it has neither a command nor an address");
    } else {
        const char *meant = named                         ? named
                            : command                     ? "stdio"
                            : strcmp(url, "httpUrl") == 0 ? "http"
                                                          : "auto";
        ptc_fields_put_text(c->heap, &c->form, "transport", ptc_text_cstr(meant));
        if (strcmp(meant, "stdio") == 0)
            read_stdio(c);
        else
            read_their_http(c);
        read_rest(c);
    }
}
