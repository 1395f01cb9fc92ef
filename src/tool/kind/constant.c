/* SPDX-License-Identifier: MIT
 * Tools with constant answers.  What always holds: answers live in the heap of the set and are shared, never copied. */
#include "tool/kind/constant.h"

#include <stdio.h>

#include "base/utf8.h"
#include "json/parse.h"
#include "tool/kind/kind.h"
#include "tool/wire/answer.h"

/* How much of arguments or keys a message shows. */
enum { CONSTANT_SHOWN_BYTES = 120 };

typedef struct Constant {
    PtcValue value; /* the value; a string, the error; a map from arguments to values */
    PtcValue other; /* of a table, PTC_NONE: nothing */
} Constant;

static bool set_constant(PtcToolReader *r, PtcValue value, PtcValue other)
{
    Constant *user = ptc_arena_alloc(&r->tools->kept.arena, sizeof *user);
    if (!user)
        return ptc_kind_refuse_memory(r);
    *user = (Constant){value, other};
    r->tool.user = user;
    return value != PTC_NONE;
}

/* A row of this file. */
#define CONSTANT_KIND(key_, schema_, doc_, read_, call_)                           \
    {                                                                              \
        .key = key_, .doc = doc_, .schema = schema_, .read = read_, .call = call_, \
        .options = PTC_KIND_SLEEP, .inside = true, .pure = true                    \
    }

/* ---------------------------------------------------------------------- value and error */

static PtcToolAnswer answer_value(PtcToolCall *call, void *user)
{
    const Constant *constant = user;
    ptc_answer_value(call, constant->value);
    return PTC_TOOL_ANSWERED;
}

static bool read_value_tool(PtcToolReader *r, PtcValue v)
{
    return set_constant(r, ptc_kind_keep(r, v), PTC_NONE);
}

const PtcToolKind ptc_constant_value_kind =
    CONSTANT_KIND("value", "{}", "always this value", read_value_tool, answer_value);

static PtcToolAnswer answer_constant_error(PtcToolCall *call, void *user)
{
    const Constant *constant = user;
    ptc_answer_fail(call, (PtcText){ptc_str_bytes(constant->value), ptc_str_len(constant->value)});
    return PTC_TOOL_ANSWERED;
}

static bool read_error_tool(PtcToolReader *r, PtcValue v)
{
    if (!ptc_is_string(v))
        return ptc_kind_refuse(r, "error must be a string, the text of the failure");
    return set_constant(r, ptc_kind_keep(r, v), PTC_NONE);
}

const PtcToolKind ptc_constant_error_kind =
    CONSTANT_KIND("error", "{\"type\": \"string\"}", "always fails with this text", read_error_tool,
                  answer_constant_error);

/* --------------------------------------------------------------------------------- table */

static void fail_table(PtcToolCall *call)
{
    char text[CONSTANT_SHOWN_BYTES + 100];
    const char *json = ptc_answer_args_json(call);
    PtcText shown = ptc_text_cut((PtcText){json, json ? call->json.len : 0}, CONSTANT_SHOWN_BYTES);
    snprintf(text, sizeof text, "its table has no entry for %.*s%s, and no \"*\"", PTC_ARG(shown),
             shown.len < call->json.len ? "..." : "");
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

/* The arguments that a key stands for: an object, parsed as JSON so that spaces and order do not matter.  PTC_NONE:
 * refused. */
static PtcValue read_constant_arguments(PtcToolReader *r, PtcText key)
{
    PtcJsonError error;
    PtcText shown = ptc_text_cut(key, CONSTANT_SHOWN_BYTES);
    PtcValue args = ptc_json_parse(&r->tools->kept.heap, key.bytes, key.len, &error);
    if (args != PTC_NONE && ptc_is_map(args))
        return args;
    if (args == PTC_NONE && error.stopped)
        ptc_kind_refuse_memory(r);
    else if (args == PTC_NONE)
        ptc_kind_refuse(r, "table: the key %.*s is not JSON: column %u: %s", PTC_ARG(shown),
                        (unsigned)error.column, error.message);
    else
        ptc_kind_refuse(r,
                        "table: the key %.*s must be a JSON object, the arguments of a call, or *",
                        PTC_ARG(shown));
    return PTC_NONE;
}

static bool add_table_entry(PtcToolReader *r, PtcDictBuild *build, PtcText key, PtcValue value)
{
    if (!key.bytes)
        return ptc_kind_refuse(r, "table: its keys must be strings");
    PtcValue args = read_constant_arguments(r, key);
    if (args == PTC_NONE)
        return false;
    if (ptc_dict_build_find(build, args) >= 0)
        return ptc_kind_refuse(r, "table: the key %.*s occurs twice",
                               PTC_ARG(ptc_text_cut(key, CONSTANT_SHOWN_BYTES)));
    return ptc_dict_build_put(build, args, value) || ptc_kind_refuse_memory(r);
}

static bool read_table(PtcToolReader *r, PtcValue v)
{
    PtcDictBuild build;
    PtcValue key, value, other = PTC_NONE, entries = ptc_kind_keep(r, v);
    if (entries == PTC_NONE)
        return false;
    if (!ptc_is_map(entries))
        return ptc_kind_refuse(r,
                               "table must be an object from arguments (as JSON text) to results");
    if (!ptc_dict_build_init(&build, &r->tools->kept.heap, false))
        return ptc_kind_refuse_memory(r);
    for (size_t pos = 0; ptc_map_next(entries, &pos, &key, &value);)
        if (ptc_text_is(ptc_str_text(key), "*")) {
            other = value;
        } else if (!add_table_entry(r, &build, ptc_str_text(key), value)) {
            ptc_dict_build_cancel(&build);
            return false;
        }
    PtcValue map = ptc_dict_build_done(&build);
    return map == PTC_NONE ? ptc_kind_refuse_memory(r) : set_constant(r, map, other);
}

const PtcToolKind ptc_constant_table_kind = CONSTANT_KIND(
    "table", "{\"type\": \"object\"}",
    "from arguments as JSON text to results; * stands for all others", read_table, answer_table);
