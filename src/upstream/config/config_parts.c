/* SPDX-License-Identifier: MIT
 * Parts that entries of all files have: programs, their environment, addresses, OAuth. */
#include <stdio.h>

#include "base/os/dotenv.h"
#include "net/url.h"
#include "upstream/config/config_int.h"

/* -------------------------------------------------------------------------------- programs */

static PtcText last_command_part(PtcText path)
{
    for (size_t i = path.len; i > 0; i--)
        if (path.bytes[i - 1] == '/' || path.bytes[i - 1] == '\\')
            return (PtcText){path.bytes + i, path.len - i};
    return path;
}

static bool is_command_path(PtcText command)
{
    return command.len && (strchr("/.~\\", command.bytes[0]) ||
                           (command.len > 2 && command.bytes[1] == ':' &&
                            (command.bytes[2] == '\\' || command.bytes[2] == '/')));
}

static bool has_blank(PtcText text)
{
    return memchr(text.bytes, ' ', text.len) || memchr(text.bytes, '\t', text.len) ||
           memchr(text.bytes, '\n', text.len);
}

/* npx and its like start what one of their arguments names. */
static bool is_our_package(PtcText arg)
{
    return ptc_text_is(arg, "ptc-lisp") || ptc_text_starts(arg, "ptc-lisp@");
}

static bool is_ourselves(PtcText command, PtcValue args)
{
    PtcText name = last_command_part(command);
    size_t n = ptc_fields_count(args);
    if (ptc_text_is(name, "ptc") || ptc_text_is(name, "ptc.exe"))
        return n == 0 || ptc_text_is(ptc_str_text(ptc_seq_nth(args, 0)), "mcp");
    if (is_our_package(name))
        return true;
    static const char *const runners[] = {"npx",  "npm",  "bunx", "bun",
                                          "pnpm", "pnpx", "yarn", "node"};
    for (size_t i = 0; i < sizeof runners / sizeof *runners; i++)
        if (ptc_text_is(name, runners[i]))
            for (size_t j = 0; j < n; j++)
                if (is_our_package(ptc_str_text(ptc_seq_nth(args, j))))
                    return true;
    return false;
}

void ptc_config_check_command(Config *c)
{
    char message[200];
    PtcText command = ptc_fields_text(c->heap, c->form, "command");
    PtcValue args = ptc_map_field(c->heap, c->form, "args");
    if (!command.bytes)
        return;
    if (command.len == 0) {
        ptc_config_wrong_in(c, "command", "missing", "it must name a program");
    } else if (has_blank(command) && !is_command_path(command)) {
        size_t n = strcspn(ptc_str_bytes(ptc_map_field(c->heap, c->form, "command")), " \t\n");
        snprintf(
            message, sizeof message,
            "this is a line for a shell; write \"command\": \"%.*s\" and the rest, word by word, "
            "into \"args\"",
            PTC_ARG(ptc_text_cut((PtcText){command.bytes, n}, 60)));
        ptc_config_wrong_in(c, "command", "shell_line", message);
    } else if (is_ourselves(command, args)) {
        ptc_config_wrong_in(c, "command", "self", "this is ptc itself, which would call itself");
    }
}

/* ----------------------------------------------------------------------------- environment */

typedef struct {
    Config *c;
    PtcValue env;
} EnvFile;

static bool add_pair(void *user, PtcText name, PtcText value)
{
    EnvFile *file = user;
    ptc_config_secret(file->c, value);
    ptc_fields_put_key(file->c->heap, &file->env, name, ptc_fields_string(file->c->heap, value));
    return ptc_fields_ok(file->c->heap);
}

/* The path, from the project on when it is relative. */
static PtcValue whole_path(Config *c, PtcText path)
{
    PtcBuf out;
    ptc_buf_init(&out, c->heap->pool->mem, PTC_CONFIG_BYTES);
    if (path.len == 0 || path.bytes[0] != '/') {
        ptc_buf_add(&out, c->in->project.bytes, c->in->project.len);
        ptc_buf_add_char(&out, '/');
    }
    while (path.len > 2 && ptc_text_starts(path, "./"))
        path = (PtcText){path.bytes + 2, path.len - 2};
    ptc_buf_add(&out, path.bytes, path.len);
    PtcValue whole = ptc_fields_buf(c->heap, &out);
    ptc_buf_deinit(&out);
    return whole;
}

void ptc_config_env_file(Config *c, PtcText path)
{
    PtcValue key, value, own = ptc_map_field(c->heap, c->form, "env");
    EnvFile file = {c, ptc_fields_map(c->heap)};
    PtcValue whole = whole_path(c, path);
    char message[240];
    if (whole == PTC_NONE)
        return;
    PtcText text = c->in->read(c->in->user, ptc_str_text(whole));
    if (!text.bytes) {
        snprintf(message, sizeof message, "%.*s cannot be read",
                 PTC_ARG(ptc_text_cut(ptc_str_view(whole), 200)));
        ptc_config_lacks(c, NULL, "missing_file", message);
        return;
    }
    c->beside = text;
    if (!ptc_dotenv_parse(text, c->heap->pool->mem, add_pair, &file))
        ptc_budget_halt(c->heap->budget, PTC_STOP_MEMORY);
    if (own != PTC_NONE && ptc_is_map(own))
        for (size_t pos = 0; ptc_map_next(own, &pos, &key, &value);)
            ptc_fields_put_key(c->heap, &file.env, ptc_str_text(key), value);
    ptc_config_put(c, "env", file.env);
}

/* ------------------------------------------------------------------------------- addresses */

bool ptc_config_check_url(Config *c, PtcText text, bool insecure, bool insecure_auth,
                          bool credentials)
{
    PtcUrl url;
    PtcWhy why;
    if (!ptc_url_parse(text, &url, &why)) {
        ptc_why_prefix(&why, "the address ");
        ptc_config_wrong(c, "bad_url", why.text);
        return false;
    }
    if (url.https || url.loopback)
        return true;
    if (!insecure) {
        ptc_config_wrong(c, "insecure_url",
                         "http is for this machine only; use https, or allow_insecure_http");
        return false;
    }
    return !credentials || insecure_auth;
}

/* ----------------------------------------------------------------------------------- OAuth */

/* Scopes: an array, or words in one text. */
static PtcValue read_scopes(Config *c, PtcValue v)
{
    PtcValue out = ptc_fields_list(c->heap);
    if (!ptc_is_string(v))
        return ptc_config_texts(c, v, true, false);
    PtcValue text = ptc_config_expanded(c, v, false);
    PtcText rest = ptc_str_text(text);
    while (rest.len) {
        size_t n = 0;
        while (n < rest.len && rest.bytes[n] != ' ' && rest.bytes[n] != ',')
            n++;
        if (n)
            ptc_fields_push(c->heap, &out, ptc_fields_string(c->heap, (PtcText){rest.bytes, n}));
        n += n < rest.len;
        rest = (PtcText){rest.bytes + n, rest.len - n};
    }
    return out;
}

static PtcValue read_oauth_member(Config *c, const char *to, PtcValue v)
{
    if (strcmp(to, "scopes") == 0)
        return read_scopes(c, v);
    if (strcmp(to, "client_secret") == 0) {
        PtcValue secret = ptc_config_guarded(c, v, false);
        if (secret != PTC_NONE)
            ptc_config_secret(c, ptc_str_text(secret));
        return secret;
    }
    if (strcmp(to, "callback_port") != 0) {
        PtcValue text = ptc_config_expanded(c, v, false);
        PtcText word = text == PTC_NONE ? PTC_TEXT("/") : ptc_str_text(text);
        if (strcmp(to, "grant") == 0 && text != PTC_NONE &&
            !ptc_text_is(word, "client_credentials") && !ptc_text_is(word, "authorization_code"))
            ptc_config_wrong(c, "bad_value", "it must be authorization_code or client_credentials");
        if (strcmp(to, "private_key_file") == 0 && !ptc_text_starts(word, "/"))
            ptc_config_wrong(c, "bad_value",
                             "it must be a whole path, such as ${userHome}/key.pem");
        return text;
    }
    PtcValue port = ptc_config_number(c, v);
    if (port != PTC_NONE && ptc_to_int(port) > 65535) {
        ptc_config_wrong(c, "bad_value", "a port is a number from 1 to 65535");
        return PTC_NONE;
    }
    return port;
}

static const char *new_key_name(const ConfigRename *keys, PtcText key)
{
    for (; keys->from; keys++)
        if (ptc_text_is(key, keys->from))
            return keys->to;
    return NULL;
}

PtcValue ptc_config_oauth(Config *c, PtcValue v, const ConfigRename *keys, bool strict)
{
    char keep[PTC_PATH_BYTES];
    PtcValue key, value, out = ptc_fields_map(c->heap);
    if (!ptc_is_map(v)) {
        ptc_config_wrong(c, "wrong_type", "it must be an object");
        return PTC_NONE;
    }
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value);) {
        const char *to = new_key_name(keys, ptc_str_text(key));
        ptc_config_enter(c, ptc_str_text(key), keep);
        if (to)
            ptc_fields_put(c->heap, &out, to, read_oauth_member(c, to, value));
        else if (strict)
            ptc_config_wrong(c, "unknown_key", "oauth has no such key");
        ptc_config_leave(c, keep);
    }
    return out;
}
