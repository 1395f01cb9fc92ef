/* SPDX-License-Identifier: MIT
 * Sets of tools from JSON.  What always holds: every message names the tool and the key; nothing that starts
 * processes or sends requests is accepted unless the options allow it. */
#include "tool/file.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text/nearest.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "lisp/vm/builtin.h"
#include "tool/kind/kind.h"
#include "tool/kind/mock.h"
#include "tool/kind/native.h"

enum { TIMEOUT_MAX = 24 * 3600 * 1000, TOOL_FILE_WHY = 300 };

/* An option of a tool. */
typedef struct Key {
    const char *name;
    bool (*read)(PtcToolReader *r, PtcValue v);
} Key;

/* ------------------------------------------------------------------------------- reasons */

/* Kinds that a definition of this file may be. */
static const PtcToolKind *const *allowed_tool_kinds(const PtcToolReader *r)
{
    return r->allow->kinds ? r->allow->kinds : ptc_tool_kinds;
}

/* Of a key inside another one the name begins with that one's, and it can be no kind. */
static bool refuse_unknown_key(PtcToolReader *r, PtcValue key, const char *inside, const Key *keys)
{
    PtcNearest near;
    char name[2 * PTC_TOOLS_FILE_SHOWN];
    if (!ptc_is_string(key))
        return ptc_kind_refuse(r, "its keys must be strings");
    snprintf(name, sizeof name, "%s%.*s", inside,
             PTC_ARG(ptc_text_cut(ptc_str_view(key), PTC_TOOLS_FILE_SHOWN)));
    r->key = name;
    ptc_nearest_init(&near, ptc_str_bytes(key), ptc_str_len(key));
    for (const PtcToolKind *const *k = allowed_tool_kinds(r); !*inside && *k; k++)
        if (!(*k)->is_word)
            ptc_nearest_offer(&near, (*k)->key, strlen((*k)->key));
    for (; keys->name; keys++)
        ptc_nearest_offer(&near, keys->name + strlen(inside), strlen(keys->name + strlen(inside)));
    if (near.best)
        ptc_kind_refuse(r, "unknown key %s; did you mean %s?", name, near.best);
    else
        ptc_kind_refuse(r, "unknown key %s", name);
    r->key = NULL;
    return false;
}

static bool refuse_type(PtcToolReader *r, const char *key, const char *wanted, PtcValue v)
{
    return ptc_kind_refuse(r, "%s must be %s, not %s", key, wanted, ptc_type_name(v));
}

/* ------------------------------------------------------------------------------- options */

static bool read_tool_text(PtcToolReader *r, const char *key, PtcValue v, const char **text,
                           size_t *len)
{
    if (!ptc_is_string(v))
        return refuse_type(r, key, "a string", v);
    *text = ptc_str_bytes(v);
    *len = ptc_str_len(v);
    return true;
}

static bool read_tool_bool(PtcToolReader *r, const char *key, PtcValue v, bool *out)
{
    if (!ptc_is_bool(v))
        return refuse_type(r, key, "true or false", v);
    *out = v == PTC_TRUE;
    return true;
}

static bool read_tool_int(PtcToolReader *r, const char *key, PtcValue v, int64_t max, int64_t *out)
{
    if (!ptc_is_int(v) || ptc_to_int(v) < 1 || ptc_to_int(v) > max)
        return ptc_kind_refuse(r, "%s must be a whole number from 1 to %lld", key, (long long)max);
    *out = ptc_to_int(v);
    return true;
}

static bool read_tool_signature(PtcToolReader *r, PtcValue v)
{
    PtcToolInfo *info = &r->tool.info;
    return read_tool_text(r, "signature", v, &info->signature, &info->signature_len);
}

static bool read_extra(PtcToolReader *r, PtcValue v)
{
    return read_tool_bool(r, "extra", v, &r->tool.info.extra);
}

static bool read_description(PtcToolReader *r, PtcValue v)
{
    PtcToolInfo *info = &r->tool.info;
    return read_tool_text(r, "description", v, &info->description, &info->description_len);
}

static bool read_cache_option(PtcToolReader *r, PtcValue v)
{
    return read_tool_bool(r, "cache", v, &r->tool.info.cache);
}

static bool read_expose(PtcToolReader *r, PtcValue v)
{
    if (ptc_is_string(v) &&
        ptc_expose_parse(ptc_str_bytes(v), ptc_str_len(v), &r->tool.info.expose))
        return true;
    return ptc_kind_refuse(r, "expose must be \"native\", \"ptc_lisp\" or \"both\"");
}

static bool read_timeout_option(PtcToolReader *r, PtcValue v)
{
    return read_tool_int(r, "timeout_ms", v, TIMEOUT_MAX, &r->tool.info.timeout_ms);
}

static bool read_serial(PtcToolReader *r, PtcValue v)
{
    return read_tool_bool(r, "serial", v, &r->tool.info.serial);
}

static bool read_read_only(PtcToolReader *r, PtcValue v)
{
    r->has_read_only = true;
    return read_tool_bool(r, "read_only", v, &r->tool.info.read_only);
}

static bool read_idempotent(PtcToolReader *r, PtcValue v)
{
    r->has_idempotent = true;
    return read_tool_bool(r, "idempotent", v, &r->tool.info.idempotent);
}

static bool is_tool_word(PtcValue v, const char *word)
{
    return ptc_is_string(v) && ptc_str_len(v) == strlen(word) &&
           memcmp(ptc_str_bytes(v), word, ptc_str_len(v)) == 0;
}

static bool read_on_error(PtcToolReader *r, PtcValue v)
{
    r->tool.info.on_error_value = is_tool_word(v, "value");
    return r->tool.info.on_error_value || is_tool_word(v, "fail") ||
           ptc_kind_refuse(r, "on_error must be \"value\" or \"fail\"");
}

static bool read_env_option(PtcToolReader *r, PtcValue v)
{
    r->env = v;
    return true;
}

static bool read_sleep(PtcToolReader *r, PtcValue v)
{
    return read_tool_int(r, "sleep_ms", v, TIMEOUT_MAX, &r->sleep_ms);
}

/* {"lisp": "(fn [result] {...})"} */
static bool read_lisp_preview(PtcToolReader *r, PtcValue v)
{
    PtcWhy why;
    PtcValue text = ptc_map_field(&r->tools->kept.heap, v, "lisp");
    if (text == PTC_NONE || !ptc_is_string(text) || ptc_map_count(v) != 1)
        return ptc_kind_refuse(r, "native_result.preview must be \"metadata\", \"rows\" or "
                                  "{\"lisp\": \"(fn [result] {...})\"}");
    r->tool.preview_lisp =
        ptc_source_read(&r->source, ptc_str_bytes(text), ptc_str_len(text), &why);
    if (r->tool.preview_lisp == PTC_NONE)
        return ptc_kind_refuse(r, "native_result.preview: %s", why.text);
    r->tool.info.native_result.kind = PTC_PREVIEW_CUSTOM;
    r->tool.info.native_result.fn = ptc_native_preview;
    return true;
}

static bool read_preview_key(PtcToolReader *r, PtcValue v)
{
    if (ptc_is_map(v))
        return read_lisp_preview(r, v);
    if (ptc_is_string(v) &&
        ptc_preview_parse(ptc_str_bytes(v), ptc_str_len(v), &r->tool.info.native_result.kind))
        return true;
    return ptc_kind_refuse(r, "native_result.preview must be \"metadata\" or \"rows\"");
}

static bool read_limit(PtcToolReader *r, PtcValue v)
{
    return read_tool_int(r, "native_result.limit", v, PTC_TOOL_ROWS_MAX,
                         &r->tool.info.native_result.limit);
}

/* Their names begin with the object's name. */
static const char inside_preview[] = "native_result.";
static const Key preview_keys[] = {{.name = "native_result.preview", .read = read_preview_key},
                                   {.name = "native_result.limit", .read = read_limit},
                                   {0}};

static bool read_retry_attempts(PtcToolReader *r, PtcValue v)
{
    return read_tool_int(r, "retry.attempts", v, PTC_TOOL_ATTEMPTS_MAX,
                         &r->tool.info.retry.attempts);
}

static bool read_retry_base(PtcToolReader *r, PtcValue v)
{
    return read_tool_int(r, "retry.base_ms", v, PTC_TOOL_BASE_MAX_MS, &r->tool.info.retry.base_ms);
}

static const char inside_retry[] = "retry.";
static const Key retry_keys[] = {{.name = "retry.attempts", .read = read_retry_attempts},
                                 {.name = "retry.base_ms", .read = read_retry_base},
                                 {0}};

static const Key *find_tool_key(const Key *keys, const char *inside, PtcValue name)
{
    for (; keys->name; keys++)
        if (is_tool_word(name, keys->name + strlen(inside)))
            return keys;
    return NULL;
}

static bool read_inner_keys(PtcToolReader *r, PtcValue v, const char *inside, const Key *keys)
{
    PtcValue name, value;
    for (size_t pos = 0; ptc_map_next(v, &pos, &name, &value);) {
        const Key *key = find_tool_key(keys, inside, name);
        if (!key)
            return refuse_unknown_key(r, name, inside, keys);
        r->key = key->name;
        if (value != PTC_NIL && !key->read(r, value))
            return false;
    }
    return true;
}

static bool read_native_result(PtcToolReader *r, PtcValue v)
{
    r->tool.info.has_native_result = true;
    return ptc_is_map(v)
               ? read_inner_keys(r, v, inside_preview, preview_keys)
               : refuse_type(r, "native_result", "an object such as {\"preview\": \"rows\"}", v);
}

static bool read_retry_option(PtcToolReader *r, PtcValue v)
{
    r->has_retry = true;
    return ptc_is_map(v) ? read_inner_keys(r, v, inside_retry, retry_keys)
                         : refuse_type(r, "retry", "an object such as {\"attempts\": 5}", v);
}

/* ---------------------------------------------------------------------------- definitions */

static const Key options[] = {
    {.name = "signature", .read = read_tool_signature},
    {.name = "extra", .read = read_extra},
    {.name = "description", .read = read_description},
    {.name = "cache", .read = read_cache_option},
    {.name = "expose", .read = read_expose},
    {.name = "native_result", .read = read_native_result},
    {.name = "timeout_ms", .read = read_timeout_option},
    {.name = "serial", .read = read_serial},
    {.name = "on_error", .read = read_on_error},
    {.name = "sleep_ms", .read = read_sleep},
    {.name = "read_only", .read = read_read_only},
    {.name = "idempotent", .read = read_idempotent},
    {.name = "retry", .read = read_retry_option},
    {.name = "env", .read = read_env_option},
    {0},
};

static bool read_tool_option(PtcToolReader *r, const Key *option, PtcValue value)
{
    r->key = option->name;
    bool ok = value == PTC_NIL || option->read(r, value);
    r->key = NULL;
    return ok;
}

static const PtcToolKind *find_tool_kind(const PtcToolReader *r, PtcValue name, bool is_word_alone)
{
    for (const PtcToolKind *const *k = allowed_tool_kinds(r); *k; k++)
        if ((*k)->is_word == is_word_alone && is_tool_word(name, (*k)->key))
            return *k;
    return NULL;
}

static bool may_be(const PtcToolReader *r, const PtcToolKind *kind, unsigned option)
{
    return !kind->is_word && (r->allow->agent || !kind->in_agent) &&
           (kind->options & option) == option;
}

/* "command, lisp and seq": the kinds that a tool may be here, or those of them that an option goes with. */
static const char *list_kinds(const PtcToolReader *r, unsigned option, char out[TOOL_FILE_WHY])
{
    size_t count = 0, at = 0, len = 0;
    for (const PtcToolKind *const *k = allowed_tool_kinds(r); *k; k++)
        count += may_be(r, *k, option);
    for (const PtcToolKind *const *k = allowed_tool_kinds(r); *k && len < TOOL_FILE_WHY; k++)
        if (may_be(r, *k, option)) {
            const char *before = at == 0 ? "" : at + 1 == count ? " and " : ", ";
            len += (size_t)snprintf(out + len, TOOL_FILE_WHY - len, "%s%s", before, (*k)->key);
            at++;
        }
    return out;
}

static bool take_kind(PtcToolReader *r, const PtcToolKind *found, const PtcToolKind **kind)
{
    if (*kind)
        return ptc_kind_refuse(r, "%s and %s exclude each other: a tool is one of them",
                               (*kind)->key, found->key);
    *kind = found;
    return true;
}

/* Reads the options and finds what kind of tool it is. */
static bool read_tool_keys(PtcToolReader *r, PtcValue definition, const PtcToolKind **kind,
                           PtcValue *what)
{
    PtcValue name, value;
    for (size_t pos = 0; ptc_map_next(definition, &pos, &name, &value);) {
        const PtcToolKind *found = find_tool_kind(r, name, false);
        const Key *option = found ? NULL : find_tool_key(options, "", name);
        if (!found && !option)
            return refuse_unknown_key(r, name, "", options);
        if (found && found->or_model && !ptc_is_map(value))
            r->model = value;
        else if (found && !take_kind(r, found, kind))
            return false;
        else if (found)
            *what = value;
        else if (!read_tool_option(r, option, value))
            return false;
    }
    return true;
}

static void set_hints(PtcToolReader *r)
{
    PtcToolInfo *info = &r->tool.info;
    if (!r->has_read_only)
        info->read_only = info->inside;
    if (!r->has_idempotent)
        info->idempotent = info->read_only;
}

/* Options that only go with some kinds. */
static bool check_tool_options(PtcToolReader *r, const PtcToolKind *kind)
{
    char list[TOOL_FILE_WHY];
    if (r->env != PTC_NONE && !(kind->options & PTC_KIND_ENV))
        return ptc_kind_refuse(r, "env goes with %s only", list_kinds(r, PTC_KIND_ENV, list));
    if (r->model != PTC_NONE && !(kind->options & PTC_KIND_MODEL))
        return ptc_kind_refuse(
            r, "llm is an object with prompt and signature, or beside agent a model");
    if (r->sleep_ms > 0 && !(kind->options & PTC_KIND_SLEEP))
        return ptc_kind_refuse(r, "sleep_ms goes with %s only",
                               list_kinds(r, PTC_KIND_SLEEP, list));
    if (r->has_retry && !(kind->options & PTC_KIND_RETRY))
        return ptc_kind_refuse(r, "retry goes with %s only", list_kinds(r, PTC_KIND_RETRY, list));
    return true;
}

/* A second call must do no harm. */
static bool check_retry(PtcToolReader *r)
{
    const PtcToolInfo *info = &r->tool.info;
    if (!r->has_retry || info->read_only || info->idempotent)
        return true;
    r->key = "retry";
    return ptc_kind_refuse(r,
                           "retry is for tools that may be called twice: add \"read_only\": true "
                           "if it changes nothing, or \"idempotent\": true if a second call "
                           "changes nothing more; otherwise leave retry out");
}

static bool read_kind(PtcToolReader *r, const PtcToolKind *kind, PtcValue what)
{
    if (!check_tool_options(r, kind))
        return false;
    ptc_kind_apply(kind, &r->tool);
    r->kind = kind;
    r->key = kind->is_word ? NULL : kind->key;
    if (!kind->read(r, what))
        return false;
    r->key = NULL;
    set_hints(r);
    if (!check_retry(r))
        return false;
    return r->sleep_ms == 0 || ptc_mock_delay(r->tools, r->sleep_ms, &r->tool) ||
           ptc_kind_refuse_memory(r);
}

static bool read_definition(PtcToolReader *r, PtcValue definition)
{
    char list[TOOL_FILE_WHY];
    PtcValue what = definition;
    const PtcToolKind *kind = find_tool_kind(r, definition, true);
    if (!kind && !ptc_is_map(definition))
        return ptc_kind_refuse(r, "its definition must be an object such as {\"value\": 1}, not %s",
                               ptc_type_name(definition));
    if (!kind && !read_tool_keys(r, definition, &kind, &what))
        return false;
    if (!kind)
        return ptc_kind_refuse(r, "one of %s must say what it does", list_kinds(r, 0, list));
    return read_kind(r, kind, what);
}

/* Puts the tool into the set.  What is still wrong then is the signature, or how options go together. */
static bool put_read_tool(PtcToolReader *r)
{
    PtcWhy why;
    if (r->allow->agent && !r->allow->check(r->allow->agent, &r->tool, &why))
        return ptc_kind_refuse(r, "%s", why.text);
    if (ptc_toolset_put(r->tools, &r->tool, &why))
        return true;
    /* The path of the fault has the name already. */
    size_t named = why.code == PTC_TOOL_NAMED ? strlen("tool : ") + r->tool.info.name_len : 0;
    r->key = why.path[0] ? why.path : NULL;
    ptc_kind_refuse(r, "%s", why.text + named);
    r->why->class = why.class;
    r->key = NULL;
    return false;
}

static bool read_tool(PtcToolReader *r, PtcValue name, PtcValue definition)
{
    PtcWhy why;
    r->tool = (PtcTool){.lisp = PTC_NONE, .preview_lisp = PTC_NONE};
    r->env = r->model = PTC_NONE;
    r->key = NULL;
    r->sleep_ms = 0;
    r->has_read_only = r->has_idempotent = r->has_retry = false;
    ptc_tool_init(&r->tool.info, ptc_str_bytes(name), ptc_str_len(name));
    if (!ptc_tool_check_name(ptc_str_bytes(name), ptc_str_len(name), &why))
        return ptc_kind_refuse(r, "%s", why.text);
    return read_definition(r, definition) && put_read_tool(r);
}

static bool read_tool_definitions(PtcToolReader *r, PtcValue definitions)
{
    PtcValue name, definition;
    for (size_t pos = 0; ptc_map_next(definitions, &pos, &name, &definition);) {
        if (!ptc_is_string(name))
            return ptc_why_say(r->why, PTC_WHY_INVALID, "names of tools must be strings");
        if (!read_tool(r, name, definition))
            return false;
    }
    return true;
}

static bool read_tool_set(PtcToolReader *r, PtcValue definitions)
{
    if (!ptc_is_map(definitions))
        return ptc_why_say(r->why, PTC_WHY_INVALID,
                           "tools must be an object from names to definitions, such as "
                           "{\"price\": {\"value\": 5}}, not %s",
                           ptc_is_sequential(definitions) ? "a list" : ptc_type_name(definitions));
    if (ptc_map_count(definitions) > PTC_TOOLS_FILE_MAX)
        return ptc_why_say(r->why, PTC_WHY_REFUSED,
                           "there are %zu tools, at most %d may be defined",
                           ptc_map_count(definitions), PTC_TOOLS_FILE_MAX);
    ptc_copy_init(&r->copy, &r->tools->kept.heap);
    ptc_source_init(&r->source, r->tools);
    bool ok = read_tool_definitions(r, definitions);
    ptc_source_deinit(&r->source);
    ptc_copy_deinit(&r->copy);
    return ok;
}

bool ptc_tools_read_at(PtcTools *tools, PtcValue definitions, const PtcToolsFileOptions *allow,
                       PtcWhy *why)
{
    PtcToolReader r = {.tools = tools, .allow = allow, .why = why};
    return read_tool_set(&r, definitions);
}

bool ptc_tools_read(PtcTools *tools, PtcValue definitions, const PtcToolsFileOptions *allow,
                    PtcWhy *why)
{
    PtcToolReader r = {.tools = tools, .allow = allow, .why = why};
    if (read_tool_set(&r, definitions))
        return true;
    if (why->path[0])
        ptc_why_prefix(why, "tool %.*s: ", PTC_ARG(ptc_kind_shown_name(&r)));
    return false;
}

bool ptc_tools_read_json(PtcTools *tools, const char *text, size_t len,
                         const PtcToolsFileOptions *allow, PtcWhy *why)
{
    PtcJsonError e;
    PtcValue v = ptc_json_parse(&tools->kept.heap, text, len, &e);
    if (v != PTC_NONE)
        return ptc_tools_read(tools, v, allow, why);
    return e.stopped ? ptc_why_no_memory(why)
                     : ptc_why_say(why, PTC_WHY_INVALID, "not JSON: line %u, column %u: %s",
                                   (unsigned)e.line, (unsigned)e.column, e.message);
}

bool ptc_tools_read_allowed(const char *text, PtcToolsFileOptions *allow, PtcWhy *why)
{
    *allow = (PtcToolsFileOptions){.command_advice = "--allow-tools command allows them",
                                   .http_advice = "--allow-tools http allows them"};
    while (*text) {
        size_t n = strcspn(text, ",");
        if (n == 7 && memcmp(text, "command", n) == 0)
            allow->command = true;
        else if (n == 4 && memcmp(text, "http", n) == 0)
            allow->http = true;
        else
            return ptc_why_say(why, PTC_WHY_INVALID, "command and http can be allowed, not '%.*s'",
                               PTC_ARG(ptc_text_cut((PtcText){text, n}, PTC_TOOLS_FILE_SHOWN)));
        text += n + (text[n] == ',');
    }
    return true;
}
