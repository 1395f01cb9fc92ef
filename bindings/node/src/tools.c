/* SPDX-License-Identifier: MIT
 * Functions of JavaScript as tools.  What always holds: a call is handed to the thread of JavaScript and is pending
 * until toolsAnswer ends it, once; no thread of libptc waits inside a tool. */
#include "addon.h"

/* What the library holds for each tool. */
typedef struct Tool {
    ToolSet *set;
    uint32_t index;
} Tool;

/* A call on its way to JavaScript. */
typedef struct Asked {
    PtcToolCall *call;
    uint32_t index;
    size_t len;
    char json[]; /* the arguments */
} Asked;

static void drop_set(ToolSet *set)
{
    if (atomic_fetch_sub(&set->holds, 1) > 1)
        return;
    if (set->gate)
        gate_close(set->gate);
    free(set);
}

static void free_tool(void *user)
{
    Tool *tool = user;
    drop_set(tool->set);
    free(tool);
}

static PtcToolAnswer fail(PtcToolCall *call, const char *why)
{
    ptc_call_fail(call, why, strlen(why));
    return PTC_TOOL_ANSWERED;
}

/* On a thread of libptc. */
static PtcToolAnswer on_call(PtcToolCall *call, void *user)
{
    Tool *tool = user;
    size_t len = 0;
    const char *json = ptc_call_args_json(call, &len);
    Asked *asked = json ? malloc(sizeof *asked + len + 1) : NULL;
    if (!asked)
        return fail(call, "out of memory");
    asked->call = call;
    asked->index = tool->index;
    asked->len = len;
    memcpy(asked->json, json, len + 1);
    if (gate_call(tool->set->gate, asked))
        return PTC_TOOL_PENDING;
    free(asked);
    return fail(call, "JavaScript is ending");
}

/* On the thread of JavaScript: dispatch(index, arguments, call). */
static void to_js(napi_env env, napi_value function, void *context, void *data)
{
    Asked *asked = data;
    napi_value args[3], undefined;
    (void)context;
    if (!env || napi_create_external(env, asked->call, NULL, NULL, &args[2]) != napi_ok) {
        fail(asked->call, "JavaScript is ending");
        free(asked);
        return;
    }
    napi_create_uint32(env, asked->index, &args[0]);
    args[1] = make_text(env, asked->json, asked->len);
    napi_get_undefined(env, &undefined);
    napi_call_function(env, undefined, function, 3, args, NULL); /* it raises nothing */
    free(asked);
}

/* toolsAnswer(call, ok, text): JSON, or a message. */
napi_value tools_answer(napi_env env, napi_callback_info info)
{
    napi_value args[3];
    bool ok = false;
    size_t len = 0;
    if (!get_args(env, info, 3, args))
        return NULL;
    PtcToolCall *call = get_handle(env, args[0]);
    char *text = get_text(env, args[2], &len);
    napi_get_value_bool(env, args[1], &ok);
    if (!call)
        throw_text(env, "not a call");
    else if (ok && text)
        ptc_call_return_json(call, text, len);
    else
        ptc_call_fail(call, text ? text : "out of memory", text ? len : 13);
    free(text);
    return NULL;
}

/* ------------------------------------------------------------------------------ definitions */

static void finalize_set(napi_env env, void *data, void *hint)
{
    ToolSet *set = data;
    (void)env;
    (void)hint;
    ptc_tools_free(set->tools);
    drop_set(set);
}

static bool add_tool(napi_env env, ToolSet *set, napi_value from, uint32_t index, char *error)
{
    PtcToolDef def;
    Tool *tool = malloc(sizeof *tool);
    if (!tool)
        return false;
    ptc_tool_def_init(&def, sizeof def);
    char *name = get_text(env, get_member(env, from, "name"), &def.name_len);
    char *signature = get_text(env, get_member(env, from, "signature"), &def.signature_len);
    char *description = get_text(env, get_member(env, from, "description"), &def.description_len);
    *tool = (Tool){set, index};
    def.name = name ? name : "";
    def.signature = signature;
    def.description = description;
    def.cache = get_flag(env, from, "cache");
    def.serial = get_flag(env, from, "serial");
    def.on_error_value = get_flag(env, from, "onErrorValue");
    def.read_only = get_flag(env, from, "readOnly");
    def.idempotent = get_flag(env, from, "idempotent");
    def.extra = get_flag(env, from, "extra");
    def.timeout_ms = get_number(env, get_member(env, from, "timeoutMs"), PTC_UNSET);
    def.pending = true;
    def.function = on_call;
    def.user = tool;
    def.free_user = free_tool;
    atomic_fetch_add(&set->holds, 1);
    bool ok = ptc_tools_add(set->tools, &def, error, ERROR_BYTES) == PTC_OK;
    if (!ok)
        free_tool(tool);
    free(name);
    free(signature);
    free(description);
    return ok;
}

/* toolsNew(definitions, dispatch) */
napi_value tools_new(napi_env env, napi_callback_info info)
{
    napi_value args[2], item, handle;
    char error[ERROR_BYTES] = "out of memory";
    uint32_t count = 0;
    ToolSet *set = NULL;
    if (!get_args(env, info, 2, args) || !(set = calloc(1, sizeof *set)))
        return NULL;
    atomic_init(&set->holds, 1);
    set->tools = ptc_tools_new();
    set->gate = gate_new(env, args[1], "ptc tools", to_js, false);
    bool ok = set->tools && set->gate;
    napi_get_array_length(env, args[0], &count);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = napi_get_element(env, args[0], i, &item) == napi_ok &&
             add_tool(env, set, item, i, error);
    if (ok && napi_create_external(env, set, finalize_set, NULL, &handle) == napi_ok)
        return handle;
    finalize_set(env, set, NULL);
    return throw_text(env, error);
}
