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
#include "tool/command.h"
#include "tool/constant.h"
#include "tool/mock.h"
#include "tool/native.h"
#include "tool/source.h"
#include "value/copy.h"

enum { SHOWN_NAME = 60, TIMEOUT_MAX = 24 * 3600 * 1000, WHY = 300 };

/* The state of reading one file; from `tool` on, of the current tool. */
typedef struct Reader {
    PtcTools *tools;
    const PtcToolsFileOptions *allow;
    PtcCopy copy;
    PtcSource source;
    PtcToolsFault *fault;
    PtcTool tool;
    const char *key;  /* being read, such as native_result.limit; NULL: the tool as a whole */
    PtcValue env;     /* PTC_NONE: none */
    PtcValue model;   /* "llm" with the name of a model or its replies; PTC_NONE: none */
    int64_t sleep_ms; /* 0: none */
    bool has_read_only, has_idempotent;
} Reader;

typedef struct Key {
    const char *name;
    bool (*read)(Reader *r, PtcValue v);
    /* Such a tool reaches nothing outside, so it is read-only unless it says otherwise. */
    bool inside;
    bool is_mock;
} Key;

/* ------------------------------------------------------------------------------- reasons */

/* How much of a text is shown. */
static int shown(const char *text, size_t len)
{
    return (int)(len > SHOWN_NAME ? ptc_utf8_valid_prefix(text, SHOWN_NAME) : len);
}

/* The path of the key being read, followed by what is inside it. */
static void set_path(Reader *r, const char *inner)
{
    const PtcToolInfo *info = &r->tool.info;
    r->fault->in_tool = true;
    r->fault->name_len = shown(info->name, info->name_len);
    ptc_diag_format(r->fault->path, sizeof r->fault->path, "%.*s%s%s%s%s", r->fault->name_len,
                    info->name, r->key ? "." : "", r->key ? r->key : "", *inner ? "." : "", inner);
}

static bool refuse(Reader *r, const char *format, ...) PTC_PRINTF(2, 3);

/* Always false. */
static bool refuse(Reader *r, const char *format, ...)
{
    char text[WHY];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    set_path(r, "");
    ptc_diag_format(r->fault->text, sizeof r->fault->text, "%s", text);
    return false;
}

/* What a function of the agent layer reported; its path is appended to ours. */
static bool refuse_inner(Reader *r, const PtcToolsFault *inner)
{
    char path[PTC_TOOLS_FILE_PATH];
    memcpy(path, inner->path, sizeof path);
    refuse(r, "%s", inner->text);
    set_path(r, path);
    r->fault->no_memory = inner->no_memory;
    return false;
}

static bool refuse_key(Reader *r, PtcValue key, const char *inside, const Key *const *lists)
{
    PtcNearest near;
    char name[2 * SHOWN_NAME];
    if (!ptc_is_string(key))
        return refuse(r, "its keys must be strings");
    snprintf(name, sizeof name, "%s%.*s", inside, shown(ptc_str_bytes(key), ptc_str_len(key)),
             ptc_str_bytes(key));
    r->key = name;
    ptc_nearest_init(&near, ptc_str_bytes(key), ptc_str_len(key));
    for (; *lists; lists++)
        for (const Key *k = *lists; k->name; k++)
            ptc_nearest_offer(&near, k->name + strlen(inside), strlen(k->name + strlen(inside)));
    if (near.best)
        refuse(r, "unknown key %s; did you mean %s?", name, near.best);
    else
        refuse(r, "unknown key %s", name);
    r->key = NULL;
    return false;
}

static bool refuse_type(Reader *r, const char *key, const char *wanted, PtcValue v)
{
    return refuse(r, "%s must be %s, not %s", key, wanted, ptc_type_name(v));
}

/* ------------------------------------------------------------------------------- options */

static bool read_text(Reader *r, const char *key, PtcValue v, const char **text, size_t *len)
{
    if (!ptc_is_string(v))
        return refuse_type(r, key, "a string", v);
    *text = ptc_str_bytes(v);
    *len = ptc_str_len(v);
    return true;
}

static bool read_bool(Reader *r, const char *key, PtcValue v, bool *out)
{
    if (!ptc_is_bool(v))
        return refuse_type(r, key, "true or false", v);
    *out = v == PTC_TRUE;
    return true;
}

static bool read_int(Reader *r, const char *key, PtcValue v, int64_t max, int64_t *out)
{
    if (!ptc_is_int(v) || ptc_to_int(v) < 1 || ptc_to_int(v) > max)
        return refuse(r, "%s must be a whole number from 1 to %lld", key, (long long)max);
    *out = ptc_to_int(v);
    return true;
}

static bool read_signature(Reader *r, PtcValue v)
{
    PtcToolInfo *info = &r->tool.info;
    return read_text(r, "signature", v, &info->signature, &info->signature_len);
}

static bool read_description(Reader *r, PtcValue v)
{
    PtcToolInfo *info = &r->tool.info;
    return read_text(r, "description", v, &info->description, &info->description_len);
}

static bool read_cache(Reader *r, PtcValue v)
{
    return read_bool(r, "cache", v, &r->tool.info.cache);
}

static bool read_expose(Reader *r, PtcValue v)
{
    if (ptc_is_string(v) &&
        ptc_expose_parse(ptc_str_bytes(v), ptc_str_len(v), &r->tool.info.expose))
        return true;
    return refuse(r, "expose must be \"native\", \"ptc_lisp\" or \"both\"");
}

static bool read_timeout(Reader *r, PtcValue v)
{
    return read_int(r, "timeout_ms", v, TIMEOUT_MAX, &r->tool.info.timeout_ms);
}

static bool read_serial(Reader *r, PtcValue v)
{
    return read_bool(r, "serial", v, &r->tool.info.serial);
}

static bool read_read_only(Reader *r, PtcValue v)
{
    r->has_read_only = true;
    return read_bool(r, "read_only", v, &r->tool.info.read_only);
}

static bool read_idempotent(Reader *r, PtcValue v)
{
    r->has_idempotent = true;
    return read_bool(r, "idempotent", v, &r->tool.info.idempotent);
}

static bool is_word(PtcValue v, const char *word)
{
    return ptc_is_string(v) && ptc_str_len(v) == strlen(word) &&
           memcmp(ptc_str_bytes(v), word, ptc_str_len(v)) == 0;
}

static bool read_on_error(Reader *r, PtcValue v)
{
    r->tool.info.on_error_value = is_word(v, "value");
    return r->tool.info.on_error_value || is_word(v, "fail") ||
           refuse(r, "on_error must be \"value\" or \"fail\"");
}

static bool read_env(Reader *r, PtcValue v)
{
    r->env = v;
    return true;
}

static bool read_sleep(Reader *r, PtcValue v)
{
    return read_int(r, "sleep_ms", v, TIMEOUT_MAX, &r->sleep_ms);
}

/* {"lisp": "(fn [result] {...})"} */
static bool read_lisp_preview(Reader *r, PtcValue v)
{
    char why[WHY];
    PtcValue text = ptc_map_field(&r->tools->heap, v, "lisp");
    if (text == PTC_NONE || !ptc_is_string(text) || ptc_map_count(v) != 1)
        return refuse(r, "native_result.preview must be \"metadata\", \"rows\" or "
                         "{\"lisp\": \"(fn [result] {...})\"}");
    r->tool.preview_lisp =
        ptc_source_read(&r->source, ptc_str_bytes(text), ptc_str_len(text), why, sizeof why);
    if (r->tool.preview_lisp == PTC_NONE)
        return refuse(r, "native_result.preview: %s", why);
    r->tool.info.native_result.kind = PTC_PREVIEW_CUSTOM;
    r->tool.info.native_result.fn = ptc_native_preview;
    return true;
}

static bool read_preview(Reader *r, PtcValue v)
{
    if (ptc_is_map(v))
        return read_lisp_preview(r, v);
    if (ptc_is_string(v) &&
        ptc_preview_parse(ptc_str_bytes(v), ptc_str_len(v), &r->tool.info.native_result.kind))
        return true;
    return refuse(r, "native_result.preview must be \"metadata\" or \"rows\"");
}

static bool read_limit(Reader *r, PtcValue v)
{
    return read_int(r, "native_result.limit", v, PTC_TOOL_ROWS_MAX,
                    &r->tool.info.native_result.limit);
}

/* Their names begin with the object's name. */
static const char inside_preview[] = "native_result.";
static const Key preview_keys[] = {{.name = "native_result.preview", .read = read_preview},
                                   {.name = "native_result.limit", .read = read_limit},
                                   {0}};

static const Key *find_key(const Key *keys, const char *inside, PtcValue name)
{
    for (; keys->name; keys++)
        if (is_word(name, keys->name + strlen(inside)))
            return keys;
    return NULL;
}

static bool read_native_result(Reader *r, PtcValue v)
{
    static const Key *const lists[] = {preview_keys, NULL};
    PtcValue name, value;
    if (!ptc_is_map(v))
        return refuse_type(r, "native_result", "an object such as {\"preview\": \"rows\"}", v);
    r->tool.info.has_native_result = true;
    for (size_t pos = 0; ptc_map_next(v, &pos, &name, &value);) {
        const Key *key = find_key(preview_keys, inside_preview, name);
        if (!key)
            return refuse_key(r, name, inside_preview, lists);
        r->key = key->name;
        if (value != PTC_NIL && !key->read(r, value))
            return false;
    }
    return true;
}

/* --------------------------------------------------------------------------------- kinds */

/* A value for the set to keep. */
static PtcValue keep(Reader *r, PtcValue v)
{
    return ptc_is_obj(v) ? ptc_copy_value(&r->copy, v) : v;
}

static bool refuse_memory(Reader *r)
{
    r->fault->no_memory = true;
    return refuse(r, "out of memory");
}

typedef bool (*Constant)(PtcTools *tools, PtcValue v, PtcTool *tool, char *why, size_t size);

static bool read_constant(Reader *r, PtcValue v, Constant make)
{
    char why[WHY];
    PtcValue kept = keep(r, v);
    if (kept == PTC_NONE)
        return refuse_memory(r);
    return make(r->tools, kept, &r->tool, why, sizeof why) || refuse(r, "%s", why);
}

static bool read_value(Reader *r, PtcValue v)
{
    return read_constant(r, v, ptc_constant_value);
}

static bool read_error(Reader *r, PtcValue v)
{
    return read_constant(r, v, ptc_constant_error);
}

static bool read_table(Reader *r, PtcValue v)
{
    return read_constant(r, v, ptc_constant_table);
}

/* A copy that lives as long as the set. */
static bool keep_text(Reader *r, PtcText text, PtcText *kept)
{
    char *copy = ptc_arena_alloc(&r->tools->arena, text.len + 1);
    if (!copy)
        return false;
    memcpy(copy, text.bytes, text.len);
    *kept = (PtcText){copy, text.len};
    return true;
}

static bool read_lisp(Reader *r, PtcValue v)
{
    char why[WHY];
    if (!ptc_is_string(v))
        return refuse_type(r, "lisp", "a string such as \"(fn [args] ...)\"", v);
    if (!keep_text(r, ptc_str_text(v), &r->tool.source))
        return refuse_memory(r);
    r->tool.lisp = ptc_source_read(&r->source, ptc_str_bytes(v), ptc_str_len(v), why, sizeof why);
    return r->tool.lisp != PTC_NONE || refuse(r, "%s", why);
}

static bool refuse_kind(Reader *r, const char *kind, const char *advice)
{
    return refuse(r, "%s tools are not allowed here%s%s", kind, advice ? "; " : "",
                  advice ? advice : "");
}

static bool read_command(Reader *r, PtcValue v)
{
    char why[WHY];
    if (!r->allow->command)
        return refuse_kind(r, "command", r->allow->command_advice);
    r->tool.user = ptc_command_new(&r->tools->arena, v, r->env, why, sizeof why);
    r->tool.function = ptc_command_call;
    return r->tool.user || refuse(r, "%s", why);
}

static bool read_echo(Reader *r, PtcValue v)
{
    r->tool.function = ptc_mock_echo;
    r->tool.pure = true;
    return v == PTC_TRUE || refuse(r, "echo must be true");
}

static bool read_seq(Reader *r, PtcValue v)
{
    return read_constant(r, v, ptc_mock_seq);
}

/* A kind that needs an agent around it. */
static bool read_agent_kind(Reader *r, PtcToolsKind kind, const char *name, PtcValue v)
{
    PtcToolsFault inner = {.in_tool = false};
    if (!r->allow->agent_kind)
        return refuse(r, "%s is not available here: it belongs in the tools of an agent", name);
    if (r->tool.info.serial && kind != PTC_TOOLS_HTTP)
        return refuse(r, "serial does not go with %s: its calls wait for each other inside", name);
    return r->allow->agent_kind(r->allow->user, kind, v, r->model, &r->tool, &inner) ||
           refuse_inner(r, &inner);
}

static bool read_http(Reader *r, PtcValue v)
{
    if (!r->allow->http)
        return refuse_kind(r, "http", r->allow->http_advice);
    return read_agent_kind(r, PTC_TOOLS_HTTP, "http", v);
}

static bool read_agent(Reader *r, PtcValue v)
{
    return read_agent_kind(r, PTC_TOOLS_AGENT, "agent", v);
}

static bool read_llm(Reader *r, PtcValue v)
{
    return read_agent_kind(r, PTC_TOOLS_LLM, "llm", v);
}

/* ---------------------------------------------------------------------------- definitions */

static const Key kinds[] = {
    {.name = "command", .read = read_command},
    {.name = "lisp", .read = read_lisp, .inside = true},
    {.name = "value", .read = read_value, .inside = true, .is_mock = true},
    {.name = "error", .read = read_error, .inside = true, .is_mock = true},
    {.name = "table", .read = read_table, .inside = true, .is_mock = true},
    {.name = "echo", .read = read_echo, .inside = true, .is_mock = true},
    {.name = "seq", .read = read_seq, .inside = true, .is_mock = true},
    {.name = "http", .read = read_http},
    {.name = "agent", .read = read_agent},
    {.name = "llm", .read = read_llm},
    {0},
};

static const Key options[] = {
    {.name = "signature", .read = read_signature},
    {.name = "description", .read = read_description},
    {.name = "cache", .read = read_cache},
    {.name = "expose", .read = read_expose},
    {.name = "native_result", .read = read_native_result},
    {.name = "timeout_ms", .read = read_timeout},
    {.name = "serial", .read = read_serial},
    {.name = "on_error", .read = read_on_error},
    {.name = "sleep_ms", .read = read_sleep},
    {.name = "read_only", .read = read_read_only},
    {.name = "idempotent", .read = read_idempotent},
    {.name = "env", .read = read_env},
    {0},
};

static bool read_option(Reader *r, const Key *option, PtcValue value)
{
    r->key = option->name;
    bool ok = value == PTC_NIL || option->read(r, value);
    r->key = NULL;
    return ok;
}

/* Reads the options and finds what kind of tool it is. */
static bool read_keys(Reader *r, PtcValue definition, const Key **kind, PtcValue *what)
{
    static const Key *const lists[] = {kinds, options, NULL};
    PtcValue name, value;
    *kind = NULL;
    for (size_t pos = 0; ptc_map_next(definition, &pos, &name, &value);) {
        const Key *key = find_key(kinds, "", name);
        if (key && key->read == read_llm && !ptc_is_map(value)) { /* the model of an agent */
            r->model = value;
            continue;
        }
        const Key *option = key ? NULL : find_key(options, "", name);
        if (!key && !option)
            return refuse_key(r, name, "", lists);
        if (key && *kind)
            return refuse(r, "%s and %s exclude each other: a tool is one of them", (*kind)->name,
                          key->name);
        if (option && !read_option(r, option, value))
            return false;
        if (key) {
            *kind = key;
            *what = value;
        }
    }
    return true;
}

static void set_hints(Reader *r, const Key *kind)
{
    PtcToolInfo *info = &r->tool.info;
    info->inside = kind->inside;
    if (!r->has_read_only)
        info->read_only = kind->inside;
    if (!r->has_idempotent)
        info->idempotent = info->read_only;
}

/* Options that only go with some kinds. */
static bool check_options(Reader *r, const Key *kind)
{
    if (r->env != PTC_NONE && kind->read != read_command)
        return refuse(r, "env goes with command only");
    if (r->model != PTC_NONE && kind->read != read_agent)
        return refuse(r, "llm is an object with prompt and signature, or beside agent a model");
    if (r->sleep_ms > 0 && !kind->is_mock)
        return refuse(r, "sleep_ms goes with value, error, table, echo and seq only");
    return true;
}

static bool read_definition(Reader *r, PtcValue definition)
{
    const Key *kind;
    PtcValue what = PTC_NIL;
    if (is_word(definition, "self"))
        return read_agent_kind(r, PTC_TOOLS_SELF, "\"self\"", definition);
    if (!ptc_is_map(definition))
        return refuse(r, "its definition must be an object such as {\"value\": 1}, not %s",
                      ptc_type_name(definition));
    if (!read_keys(r, definition, &kind, &what))
        return false;
    if (!kind)
        return refuse(r, r->allow->agent_kind
                             ? "one of command, http, lisp, agent, llm, value, error, table, echo "
                               "and seq must say what it does"
                             : "one of command, lisp, value, error, table, echo and seq must say "
                               "what it does");
    if (!check_options(r, kind))
        return false;
    set_hints(r, kind);
    r->key = kind->name;
    if (!kind->read(r, what))
        return false;
    r->key = NULL;
    return r->sleep_ms == 0 || ptc_mock_delay(r->tools, r->sleep_ms, &r->tool) || refuse_memory(r);
}

/* What a set says of a tool begins with its name, which the path has already. */
static const char *without_name(const Reader *r, const char *why)
{
    static const char word[] = "tool ";
    const PtcToolInfo *info = &r->tool.info;
    const char *rest = why + sizeof word - 1 + info->name_len;
    bool named = strncmp(why, word, sizeof word - 1) == 0 && strlen(why) > info->name_len + 6 &&
                 memcmp(rest, ": ", 2) == 0;
    return named ? rest + 2 : why;
}

/* Puts the tool into the set.  What is still wrong then is the signature, or how options go together. */
static bool put(Reader *r)
{
    char why[PTC_TOOLS_FILE_WHY];
    PtcToolsFault inner = {.in_tool = false};
    if (r->allow->check && !r->allow->check(r->allow->user, &r->tool, &inner))
        return refuse_inner(r, &inner);
    if (ptc_toolset_put(r->tools, &r->tool, why, sizeof why))
        return true;
    r->key = r->tool.info.has_native_result && strstr(why, "native_result") ? "native_result"
             : strstr(why, "its signature")                                 ? "signature"
                                                                            : NULL;
    r->fault->no_memory = strcmp(why, "out of memory") == 0;
    return refuse(r, "%s", without_name(r, why));
}

static bool read_tool(Reader *r, PtcValue name, PtcValue definition)
{
    char why[PTC_TOOL_WHY];
    r->tool = (PtcTool){.lisp = PTC_NONE, .preview_lisp = PTC_NONE};
    r->env = r->model = PTC_NONE;
    r->key = NULL;
    r->sleep_ms = 0;
    r->has_read_only = r->has_idempotent = false;
    ptc_tool_init(&r->tool.info, ptc_str_bytes(name), ptc_str_len(name));
    if (!ptc_tool_check_name(ptc_str_bytes(name), ptc_str_len(name), why))
        return refuse(r, "%s", why);
    return read_definition(r, definition) && put(r);
}

/* Reports a problem with the set as a whole.  Always false. */
static bool refuse_all(Reader *r, const char *format, ...) PTC_PRINTF(2, 3);
static bool refuse_all(Reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->fault->text, sizeof r->fault->text, format, args);
    va_end(args);
    r->fault->path[0] = 0;
    r->fault->in_tool = false;
    return false;
}

static bool read_all(Reader *r, PtcValue definitions)
{
    PtcValue name, definition;
    for (size_t pos = 0; ptc_map_next(definitions, &pos, &name, &definition);) {
        if (!ptc_is_string(name))
            return refuse_all(r, "names of tools must be strings");
        if (!read_tool(r, name, definition))
            return false;
    }
    return true;
}

bool ptc_tools_read_at(PtcTools *tools, PtcValue definitions, const PtcToolsFileOptions *allow,
                       PtcToolsFault *fault)
{
    Reader r = {.tools = tools, .allow = allow, .fault = fault};
    *fault = (PtcToolsFault){.in_tool = false};
    if (!ptc_is_map(definitions))
        return refuse_all(&r,
                          "tools must be an object from names to definitions, such as "
                          "{\"price\": {\"value\": 5}}, not %s",
                          ptc_is_sequential(definitions) ? "a list" : ptc_type_name(definitions));
    if (ptc_map_count(definitions) > PTC_TOOLS_FILE_MAX)
        return refuse_all(&r, "there are %zu tools, at most %d may be defined",
                          ptc_map_count(definitions), PTC_TOOLS_FILE_MAX);
    ptc_copy_init(&r.copy, &tools->heap);
    ptc_source_init(&r.source, tools);
    bool ok = read_all(&r, definitions);
    ptc_source_deinit(&r.source);
    ptc_copy_deinit(&r.copy);
    return ok;
}

bool ptc_tools_read(PtcTools *tools, PtcValue definitions, const PtcToolsFileOptions *allow,
                    char *error, size_t size)
{
    PtcToolsFault fault;
    if (ptc_tools_read_at(tools, definitions, allow, &fault))
        return true;
    if (fault.in_tool)
        ptc_diag_format(error, size, "tool %.*s: %s", fault.name_len, fault.path, fault.text);
    else
        ptc_diag_format(error, size, "%s", fault.text);
    return false;
}

bool ptc_tools_read_json(PtcTools *tools, const char *text, size_t len,
                         const PtcToolsFileOptions *allow, char *error, size_t size)
{
    PtcJsonError e;
    PtcValue v = ptc_json_parse(&tools->heap, text, len, &e);
    if (v != PTC_NONE)
        return ptc_tools_read(tools, v, allow, error, size);
    if (e.stopped)
        snprintf(error, size, "out of memory");
    else
        snprintf(error, size, "not JSON: line %u, column %u: %s", (unsigned)e.line,
                 (unsigned)e.column, e.message);
    return false;
}

bool ptc_tools_read_allowed(const char *text, PtcToolsFileOptions *allow, char *error, size_t size)
{
    *allow = (PtcToolsFileOptions){.command_advice = "--allow-tools command allows them",
                                   .http_advice = "--allow-tools http allows them"};
    while (*text) {
        size_t n = strcspn(text, ",");
        if (n == 7 && memcmp(text, "command", n) == 0)
            allow->command = true;
        else if (n == 4 && memcmp(text, "http", n) == 0)
            allow->http = true;
        else {
            ptc_diag_format(error, size, "command and http can be allowed, not '%.*s'",
                            (int)(n < SHOWN_NAME ? n : SHOWN_NAME), text);
            return false;
        }
        text += n + (text[n] == ',');
    }
    return true;
}
