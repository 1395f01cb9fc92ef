/* SPDX-License-Identifier: MIT
 * Tools with constant answers.  What always holds: answers live in the heap of the set and are shared, never copied. */
#include "tool/constant.h"

#include <stdio.h>

#include "base/utf8.h"
#include "json/parse.h"
#include "tool/wire/answer.h"

/* How much of arguments or keys a message shows. */
enum { SHOWN_BYTES = 120 };

typedef struct Constant {
    PtcValue value; /* the value; a string, the error; a map from arguments to values */
    PtcValue other; /* of a table, PTC_NONE: nothing */
} Constant;

static bool no_memory(const char *key, char *why, size_t size)
{
    snprintf(why, size, "%s: out of memory", key);
    return false;
}

static size_t shown_len(const char *text, size_t len)
{
    return len > SHOWN_BYTES ? ptc_utf8_valid_prefix(text, SHOWN_BYTES) : len;
}

static bool fill(PtcTools *tools, PtcTool *tool, PtcToolFn function, Constant constant)
{
    Constant *user = ptc_arena_alloc(&tools->arena, sizeof *user);
    if (!user)
        return false;
    *user = constant;
    tool->function = function;
    tool->pure = true;
    tool->user = user;
    return true;
}

/* ---------------------------------------------------------------------- value and error */

static PtcToolAnswer answer_value(PtcToolCall *call, void *user)
{
    const Constant *constant = user;
    ptc_answer_value(call, constant->value);
    return PTC_TOOL_ANSWERED;
}

bool ptc_constant_value(PtcTools *tools, PtcValue value, PtcTool *tool, char *why, size_t size)
{
    return fill(tools, tool, answer_value, (Constant){value, PTC_NONE}) ||
           no_memory("value", why, size);
}

static PtcToolAnswer answer_error(PtcToolCall *call, void *user)
{
    const Constant *constant = user;
    ptc_answer_fail(call, (PtcText){ptc_str_bytes(constant->value), ptc_str_len(constant->value)});
    return PTC_TOOL_ANSWERED;
}

bool ptc_constant_error(PtcTools *tools, PtcValue text, PtcTool *tool, char *why, size_t size)
{
    if (!ptc_is_string(text)) {
        snprintf(why, size, "error must be a string, the text of the failure");
        return false;
    }
    return fill(tools, tool, answer_error, (Constant){text, PTC_NONE}) ||
           no_memory("error", why, size);
}

/* --------------------------------------------------------------------------------- table */

static void fail_table(PtcToolCall *call)
{
    char text[SHOWN_BYTES + 100];
    const char *json = ptc_answer_args_json(call);
    size_t len = call->json.len, shown = json ? shown_len(json, len) : 0;
    snprintf(text, sizeof text, "its table has no entry for %.*s%s, and no \"*\"", (int)shown,
             json ? json : "", shown < len ? "..." : "");
    ptc_answer_fail(call, ptc_text_cstr(text));
}

/* A signature may have turned arguments into something that JSON does not have, such as dates: then they are looked
 * up as the JSON that they become. */
static PtcValue find_as_json(PtcToolCall *call, PtcValue table)
{
    PtcJsonError error;
    PtcHeap *heap = call->data.heap;
    const char *json = call->tool->info.sig ? ptc_answer_args_json(call) : NULL;
    PtcValue args = json ? ptc_json_parse(heap, json, call->json.len, &error) : PTC_NONE;
    return args == PTC_NONE ? PTC_NONE : ptc_map_get(heap, table, args);
}

static PtcToolAnswer answer_table(PtcToolCall *call, void *user)
{
    const Constant *table = user;
    PtcValue found = ptc_map_get(call->data.heap, table->value, call->args);
    if (found == PTC_NONE)
        found = find_as_json(call, table->value);
    if (found == PTC_NONE)
        found = table->other;
    if (found != PTC_NONE)
        ptc_answer_value(call, found);
    else
        fail_table(call);
    return PTC_TOOL_ANSWERED;
}

/* The arguments that a key stands for: an object, parsed as JSON so that spaces and order do not matter. */
static PtcValue read_key(PtcTools *tools, PtcValue key, char *why, size_t size)
{
    PtcJsonError error;
    const char *text = ptc_str_bytes(key);
    size_t len = ptc_str_len(key), shown = shown_len(text, len);
    PtcValue args = ptc_json_parse(&tools->heap, text, len, &error);
    if (args != PTC_NONE && ptc_is_map(args))
        return args;
    if (args == PTC_NONE && error.stopped)
        no_memory("table", why, size);
    else if (args == PTC_NONE)
        snprintf(why, size, "table: the key %.*s is not JSON: column %u: %s", (int)shown, text,
                 (unsigned)error.column, error.message);
    else
        snprintf(why, size,
                 "table: the key %.*s must be a JSON object, the arguments of a call, or *",
                 (int)shown, text);
    return PTC_NONE;
}

static bool add_entry(PtcTools *tools, PtcDictBuild *build, PtcValue key, PtcValue value, char *why,
                      size_t size)
{
    if (!ptc_is_string(key)) {
        snprintf(why, size, "table: its keys must be strings");
        return false;
    }
    PtcValue args = read_key(tools, key, why, size);
    if (args == PTC_NONE)
        return false;
    if (ptc_dict_build_find(build, args) >= 0) {
        snprintf(why, size, "table: the key %.*s occurs twice",
                 (int)shown_len(ptc_str_bytes(key), ptc_str_len(key)), ptc_str_bytes(key));
        return false;
    }
    return ptc_dict_build_put(build, args, value) || no_memory("table", why, size);
}

static bool is_star(PtcValue key)
{
    return ptc_is_string(key) && ptc_str_len(key) == 1 && ptc_str_bytes(key)[0] == '*';
}

bool ptc_constant_table(PtcTools *tools, PtcValue entries, PtcTool *tool, char *why, size_t size)
{
    PtcDictBuild build;
    PtcValue key, value, other = PTC_NONE;
    if (!ptc_is_map(entries)) {
        snprintf(why, size, "table must be an object from arguments (as JSON text) to results");
        return false;
    }
    if (!ptc_dict_build_init(&build, &tools->heap, false))
        return no_memory("table", why, size);
    for (size_t pos = 0; ptc_map_next(entries, &pos, &key, &value);)
        if (is_star(key)) {
            other = value;
        } else if (!add_entry(tools, &build, key, value, why, size)) {
            ptc_dict_build_cancel(&build);
            return false;
        }
    PtcValue map = ptc_dict_build_done(&build);
    return (map != PTC_NONE && fill(tools, tool, answer_table, (Constant){map, other})) ||
           no_memory("table", why, size);
}
