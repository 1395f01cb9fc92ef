/* SPDX-License-Identifier: MIT
 * The Node addon: the functions that index.js calls, and what they share.  What always holds: texts cross as UTF-8,
 * values as JSON, and every check that a person could meet is made in index.js, so messages here are for its
 * mistakes. */
#include "addon.h"

napi_value throw_text(napi_env env, const char *text)
{
    napi_throw_error(env, NULL, text);
    return NULL;
}

bool get_args(napi_env env, napi_callback_info info, size_t count, napi_value *args)
{
    size_t given = count;
    if (napi_get_cb_info(env, info, &given, args, NULL, NULL) == napi_ok && given >= count)
        return true;
    throw_text(env, "too few arguments");
    return false;
}

char *get_text(napi_env env, napi_value value, size_t *len)
{
    size_t n = 0;
    char *text;
    if (napi_get_value_string_utf8(env, value, NULL, 0, &n) != napi_ok || !(text = malloc(n + 1)))
        return NULL;
    napi_get_value_string_utf8(env, value, text, n + 1, &n);
    if (len)
        *len = n;
    return text;
}

napi_value make_text(napi_env env, const char *text, size_t len)
{
    napi_value value = NULL;
    if (!text)
        napi_get_null(env, &value);
    else
        napi_create_string_utf8(env, text, len, &value);
    return value;
}

napi_value get_member(napi_env env, napi_value object, const char *name)
{
    napi_value value = NULL;
    napi_get_named_property(env, object, name, &value);
    return value;
}

void set_member(napi_env env, napi_value object, const char *name, napi_value value)
{
    napi_set_named_property(env, object, name, value);
}

int64_t get_number(napi_env env, napi_value value, int64_t otherwise)
{
    double number;
    return value && napi_get_value_double(env, value, &number) == napi_ok && number == number &&
                   number >= -9e18 && number <= 9e18
               ? (int64_t)number
               : otherwise;
}

bool get_flag(napi_env env, napi_value object, const char *name)
{
    bool flag = false;
    napi_value value = get_member(env, object, name);
    return value && napi_get_value_bool(env, value, &flag) == napi_ok && flag;
}

void *get_handle(napi_env env, napi_value value)
{
    void *pointer = NULL;
    return value && napi_get_value_external(env, value, &pointer) == napi_ok ? pointer : NULL;
}

static napi_value version(napi_env env, napi_callback_info info)
{
    (void)info;
    return make_text(env, ptc_version(), NAPI_AUTO_LENGTH);
}

static napi_value language_card(napi_env env, napi_callback_info info)
{
    napi_value arg;
    bool tools = false;
    if (!get_args(env, info, 1, &arg))
        return NULL;
    napi_get_value_bool(env, arg, &tools);
    return make_text(env, ptc_language_card(tools), NAPI_AUTO_LENGTH);
}

static napi_value limits(napi_env env, napi_callback_info info)
{
    napi_value list, name;
    PtcLimitRange range = {.size = sizeof range};
    (void)info;
    napi_create_array(env, &list);
    for (uint32_t i = 0; ptc_limit_range(i, &range); i++) {
        name = make_text(env, range.name, NAPI_AUTO_LENGTH);
        napi_set_element(env, list, i, name);
    }
    return list;
}

NAPI_MODULE_INIT()
{
    static const struct {
        const char *name;
        napi_callback function;
    } rows[] = {{"version", version},
                {"languageCard", language_card},
                {"limits", limits},
                {"engineNew", engine_new},
                {"engineClose", engine_close},
                {"engineCancel", engine_cancel},
                {"sessionNew", session_new},
                {"sessionGet", session_get},
                {"sessionSet", session_set},
                {"sessionForget", session_forget},
                {"sessionNames", session_names},
                {"sessionSnapshot", session_snapshot},
                {"sessionRestore", session_restore},
                {"dataNew", data_new},
                {"toolsNew", tools_new},
                {"toolsAnswer", tools_answer},
                {"run", run_program},
                {"engineUse", engine_use},
                {"upstreamsNew", upstreams_new},
                {"upstreamsStates", upstreams_states},
                {"upstreamsClose", upstreams_close},
                {"llmNew", llm_new},
                {"llmClose", llm_close},
                {"agentNew", agent_new},
                {"missionNew", mission_new},
                {"missionRun", mission_run},
                {"missionCancel", mission_cancel},
                {"missionClose", mission_close},
                {"askAnswer", ask_answer}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        napi_value function;
        if (napi_create_function(env, rows[i].name, NAPI_AUTO_LENGTH, rows[i].function, NULL,
                                 &function) != napi_ok)
            return NULL;
        set_member(env, exports, rows[i].name, function);
    }
    return exports;
}
