/* SPDX-License-Identifier: MIT
 * Tools and calls to them, as ptc.h declares them.  What always holds: a set of tools is checked when it is built,
 * and what a host's function returns is checked before a program sees it. */
#include "api/api_int.h"
#include "tool/wire/answer.h"

/* ----------------------------------------------------------------------------- definitions */

static PtcToolDef unset_def(void)
{
    return (PtcToolDef){
        .size = sizeof(PtcToolDef), .preview_limit = PTC_UNSET, .timeout_ms = PTC_UNSET};
}

void ptc_tool_def_init(PtcToolDef *def, size_t size)
{
    PtcToolDef all = unset_def();
    api_copy_out(def, size, &all, sizeof all);
}

static bool read_tool_type(const char *type, PtcToolInfo *info, PtcWhy *why)
{
    for (PtcToolType t = PTC_TOOL_NATIVE; t <= PTC_TOOL_SUBAGENT; t++)
        if (!type || strcmp(type, ptc_tool_type_name(t)) == 0) {
            info->type = t;
            return true;
        }
    return ptc_tool_refuse(why, info, "", "type must be native, llm or subagent");
}

/* Calls a host's preview function through the type that previews have. */
static bool call_preview(void *user, PtcHeap *heap, PtcValue result, PtcValue *out)
{
    const PtcTool *tool = user;
    PtcData data = {NULL, heap};
    *out = tool->preview(result, &data, tool->user);
    return *out != PTC_NONE;
}

static bool read_preview_option(const PtcToolDef *def, PtcToolInfo *info, PtcWhy *why)
{
    PtcNativeResult *how = &info->native_result;
    info->has_native_result = def->preview != NULL;
    if (!def->preview)
        return true;
    if (def->preview_limit != PTC_UNSET)
        how->limit = def->preview_limit;
    if (strcmp(def->preview, "function") == 0 && def->preview_function) {
        how->kind = PTC_PREVIEW_CUSTOM;
        how->fn = call_preview;
        return true;
    }
    return ptc_preview_parse(def->preview, strlen(def->preview), &how->kind) ||
           ptc_tool_refuse(why, info, "",
                           "preview must be metadata, rows, or function with preview_function");
}

static void read_plain_tool(const PtcToolDef *def, PtcTool *t)
{
    ptc_tool_init(&t->info, def->name ? def->name : "", def->name ? def->name_len : 0);
    t->function = def->function;
    t->user = def->user;
    t->free_user = def->free_user;
    t->preview = def->preview_function;
    t->pending = def->pending;
    t->lisp = PTC_NONE;
    t->info.signature = def->signature;
    t->info.signature_len = def->signature_len;
    t->info.skip_validation = def->skip_validation;
    t->info.extra = def->extra;
    t->info.description = def->description;
    t->info.description_len = def->description_len;
    t->info.cache = def->cache;
    t->info.timeout_ms = def->timeout_ms == PTC_UNSET ? 0 : def->timeout_ms;
    t->info.serial = def->serial;
    t->info.on_error_value = def->on_error_value;
    t->info.read_only = def->read_only;
    t->info.idempotent = def->idempotent || def->read_only;
}

static bool read_def(const PtcToolDef *def, PtcTool *t, PtcWhy *why)
{
    read_plain_tool(def, t);
    if (!def->function)
        return ptc_why_say(why, PTC_WHY_INVALID, "a tool needs a function");
    if (def->expose && !ptc_expose_parse(def->expose, strlen(def->expose), &t->info.expose))
        return ptc_tool_refuse(why, &t->info, "", "expose must be native, ptc_lisp or both");
    return read_tool_type(def->type, &t->info, why) && read_preview_option(def, &t->info, why);
}

PtcStatus ptc_tools_add(PtcTools *tools, const PtcToolDef *given, char *error, size_t size)
{
    PtcToolDef def = unset_def();
    PtcTool tool = {0};
    if (!tools || !given || !api_copy_in(&def, sizeof def, given))
        return api_refuse(PTC_BAD_ARGUMENT, error, size, PTC_API_NOT_MADE);
    PtcWhy why;
    return read_def(&def, &tool, &why) && ptc_toolset_put(tools, &tool, &why)
               ? PTC_OK
               : api_refuse(PTC_BAD_ARGUMENT, error, size, why.text);
}

/* ------------------------------------------------------------------------------------ sets */

PtcTools *ptc_tools_new(void)
{
    return ptc_toolset_new();
}

void ptc_tools_free(PtcTools *tools)
{
    ptc_toolset_release(tools);
}

size_t ptc_tools_count(const PtcTools *tools)
{
    return tools ? tools->count : 0;
}

static const PtcToolInfo *info_at(const PtcTools *tools, size_t i)
{
    return i < ptc_tools_count(tools) ? &tools->items[i].info : NULL;
}

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

const char *ptc_tools_name(const PtcTools *tools, size_t i)
{
    const PtcToolInfo *info = info_at(tools, i);
    return info ? info->name : NULL;
}

const char *ptc_tools_signature(const PtcTools *tools, size_t i)
{
    const PtcToolInfo *info = info_at(tools, i);
    return info ? text_or_empty(info->signature) : NULL;
}

const char *ptc_tools_description(const PtcTools *tools, size_t i)
{
    const PtcToolInfo *info = info_at(tools, i);
    return info ? text_or_empty(info->description) : NULL;
}

/* ----------------------------------------------------------------------------- exposure */

static bool read_output_mode(const char *output, const char *transport, PtcOutput *o,
                             PtcTransport *t)
{
    if (!output || (strcmp(output, "text") != 0 && strcmp(output, "ptc_lisp") != 0))
        return false;
    if (transport && strcmp(transport, "content") != 0 && strcmp(transport, "tool_call") != 0)
        return false;
    *o = output[0] == 't' ? PTC_OUTPUT_TEXT : PTC_OUTPUT_PTC_LISP;
    *t = !transport            ? PTC_TRANSPORT_UNSET
         : transport[0] == 'c' ? PTC_TRANSPORT_CONTENT
                               : PTC_TRANSPORT_TOOL_CALL;
    return true;
}

const char *ptc_tools_expose(const PtcTools *tools, size_t i, const char *output,
                             const char *transport)
{
    PtcOutput o;
    PtcTransport t;
    if (i >= ptc_tools_count(tools) || !read_output_mode(output, transport, &o, &t))
        return NULL;
    return ptc_expose_name(ptc_effective_expose(tools->items[i].info.expose, o, t));
}

/* Is the word one of those in the list "native,both"? */
static bool is_word_listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == 0))
            return true;
    return false;
}

size_t ptc_tools_filter(const PtcTools *tools, const char *output, const char *transport,
                        const char *layers, size_t *indexes, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; layers && i < ptc_tools_count(tools); i++) {
        const char *expose = ptc_tools_expose(tools, i, output, transport);
        if (!expose || !is_word_listed(layers, expose))
            continue;
        if (n < max)
            indexes[n] = i;
        n++;
    }
    return n;
}

/* -------------------------------------------------------------------------- native calls */

PtcStatus ptc_tools_call(Ptc *ptc, PtcSession *s, PtcTools *tools, const char *name,
                         size_t name_len, const char *args, size_t args_len, bool *ok, char **out,
                         size_t *out_len)
{
    PtcBuf buf;
    PtcNativeAnswer answer;
    if (!tools || !name || !args || !ok || !out || (s && s->ptc != ptc) || !api_idle(ptc) ||
        ptc_toolset_find(tools, (PtcText){name, name_len}) < 0)
        return PTC_BAD_ARGUMENT;
    PtcNativeOptions options = {.deadline_ns =
                                    ptc_clock_ns(NULL) + ptc->limits.deadline_ms * PTC_MS,
                                .memory_bytes = ptc->limits.tool_bytes,
                                .preview = true};
    ptc_buf_init(&buf, &ptc->mem, (size_t)ptc->limits.tool_bytes * 2);
    bool told = ptc_engine_call(ptc, s, tools, (PtcText){name, name_len}, (PtcText){args, args_len},
                                &options, &buf, &answer);
    *ok = told && answer.end == PTC_NATIVE_OK;
    return ptc_engine_give_text(&buf, told, out, out_len);
}

/* ----------------------------------------------------------------- a call from the tool's side */

const char *ptc_call_name(const PtcToolCall *call, size_t *len)
{
    api_set_len(len, call->tool->info.name_len);
    return call->tool->info.name;
}

PtcValue ptc_call_args(const PtcToolCall *call)
{
    return call->args;
}

PtcData *ptc_call_data(PtcToolCall *call)
{
    return &call->data;
}

const char *ptc_call_args_json(PtcToolCall *call, size_t *len)
{
    const char *json = ptc_answer_args_json(call);
    if (json)
        api_set_len(len, call->json.len);
    return json;
}

bool ptc_call_cancelled(PtcToolCall *call)
{
    return ptc_answer_cancelled(call);
}

int64_t ptc_call_time_left_ms(PtcToolCall *call)
{
    return ptc_answer_time_left_ms(call);
}

bool ptc_call_return(PtcToolCall *call, PtcValue value)
{
    return ptc_answer_value(call, value);
}

bool ptc_call_return_json(PtcToolCall *call, const char *json, size_t len)
{
    return ptc_answer_json(call, (PtcText){json, len});
}

bool ptc_call_fail(PtcToolCall *call, const char *message, size_t len)
{
    return ptc_answer_fail(call, (PtcText){message, len});
}
