/* SPDX-License-Identifier: MIT
 * Engines, sessions and data behind handles of JavaScript.  What always holds: an engine is freed after everything that
 * was made with it, in whatever order the collector finds the handles. */
#include "addon.h"

void hold_engine(Engine *engine)
{
    engine->holds++;
}

void drop_engine(Engine *engine)
{
    if (--engine->holds > 0)
        return;
    ptc_free(engine->ptc);
    drop_upstreams(engine->upstreams);
    free(engine);
}

/* Fields in the order of PtcLimits; what is no number is not set. */
bool read_limits(napi_env env, napi_value list, PtcLimits *limits)
{
    uint32_t count = 0;
    bool is_list = false;
    napi_value item;
    ptc_limits_init(limits, sizeof *limits);
    if (napi_is_array(env, list, &is_list) != napi_ok || !is_list)
        return false;
    napi_get_array_length(env, list, &count);
    for (uint32_t i = 0; i < count && i < (sizeof *limits - sizeof(size_t)) / sizeof(int64_t);
         i++) {
        napi_get_element(env, list, i, &item);
        (&limits->timeout_ms)[i] = get_number(env, item, PTC_UNSET);
    }
    return true;
}

static void finalize_engine(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    drop_engine(data);
}

/* engineNew(limits or null, floatPrecision) */
napi_value engine_new(napi_env env, napi_callback_info info)
{
    napi_value args[2], handle;
    PtcLimits limits;
    PtcOptions options;
    Engine *engine = NULL;
    if (!get_args(env, info, 2, args) || !(engine = calloc(1, sizeof *engine)))
        return NULL;
    ptc_options_init(&options, sizeof options);
    if (read_limits(env, args[0], &limits))
        options.limits = &limits;
    options.float_precision = get_number(env, args[1], PTC_UNSET);
    engine->ptc = ptc_new(&options);
    engine->holds = 1;
    if (engine->ptc && napi_create_external(env, engine, finalize_engine, NULL, &handle) == napi_ok)
        return handle;
    drop_engine(engine);
    return throw_text(env, "a limit is out of range, or there is not enough memory");
}

/* An engine that can be used now; NULL: an exception is pending. */
static Engine *idle(napi_env env, Engine *engine)
{
    if (engine && !engine->closed && !engine->busy)
        return engine;
    throw_text(env, !engine          ? "not an engine"
                    : engine->closed ? "this engine was closed"
                                     : "this engine is running a program");
    return NULL;
}

/* engineUse(engine, upstreams or null) */
napi_value engine_use(napi_env env, napi_callback_info info)
{
    napi_value args[2];
    Engine *engine;
    if (!get_args(env, info, 2, args) || !(engine = get_handle(env, args[0])))
        return NULL;
    Upstreams *upstreams = get_handle(env, args[1]);
    if (engine->busy)
        return throw_text(env, "an engine that uses them is running a program");
    if (upstreams && !upstreams->set)
        return throw_text(env, "these upstreams were closed");
    if (ptc_upstream_set_use(upstreams ? upstreams->set : NULL, engine->ptc) != PTC_OK)
        return throw_text(env, "this engine is running a program");
    if (upstreams)
        upstreams->holds++;
    drop_upstreams(engine->upstreams);
    engine->upstreams = upstreams;
    return NULL;
}

napi_value engine_close(napi_env env, napi_callback_info info)
{
    napi_value arg;
    Engine *engine = NULL;
    if (!get_args(env, info, 1, &arg) || !(engine = get_handle(env, arg)) || engine->closed)
        return NULL;
    if (engine->busy)
        return throw_text(env, "this engine is running a program");
    engine->closed = true;
    return NULL;
}

napi_value engine_cancel(napi_env env, napi_callback_info info)
{
    napi_value arg;
    Engine *engine;
    if (get_args(env, info, 1, &arg) && (engine = get_handle(env, arg)) != NULL)
        ptc_cancel(engine->ptc);
    return NULL;
}

/* ------------------------------------------------------------------------------------ parts */

static void finalize_part(napi_env env, void *data, void *hint)
{
    Part *part = data;
    (void)env;
    (void)hint;
    ptc_session_free(part->session);
    ptc_data_free(part->data);
    drop_engine(part->engine);
    free(part);
}

/* A handle for the part, which is freed if there can be none. */
static napi_value part_handle(napi_env env, Engine *engine, Part part)
{
    napi_value handle;
    Part *kept = calloc(1, sizeof *kept);
    if (kept) {
        *kept = part;
        kept->engine = engine;
        hold_engine(engine);
        if (napi_create_external(env, kept, finalize_part, NULL, &handle) == napi_ok)
            return handle;
        finalize_part(env, kept, NULL);
        return throw_text(env, "out of memory");
    }
    ptc_session_free(part.session);
    ptc_data_free(part.data);
    return throw_text(env, "out of memory");
}

napi_value session_new(napi_env env, napi_callback_info info)
{
    napi_value arg;
    Engine *engine;
    if (!get_args(env, info, 1, &arg) || !(engine = idle(env, get_handle(env, arg))))
        return NULL;
    return part_handle(env, engine, (Part){.session = ptc_session_new(engine->ptc)});
}

/* dataNew(engine, json, limit) */
napi_value data_new(napi_env env, napi_callback_info info)
{
    napi_value args[3];
    char error[ERROR_BYTES] = "out of memory", *json;
    size_t len;
    Engine *engine;
    if (!get_args(env, info, 3, args) || !(engine = idle(env, get_handle(env, args[0]))))
        return NULL;
    Part part = {.data = ptc_data_new(engine->ptc, get_number(env, args[2], PTC_UNSET))};
    json = get_text(env, args[1], &len);
    if (part.data && json)
        part.value = ptc_make_json(part.data, json, len, error, sizeof error);
    free(json);
    if (part.value)
        return part_handle(env, engine, part);
    ptc_data_free(part.data);
    return throw_text(env, error);
}

static Part *session_of(napi_env env, napi_value handle)
{
    Part *part = get_handle(env, handle);
    return part && part->session && idle(env, part->engine) ? part : NULL;
}

/* sessionGet(session, name): JSON, or undefined when there is none of that name. */
napi_value session_get(napi_env env, napi_callback_info info)
{
    napi_value args[2], result = NULL;
    char error[ERROR_BYTES] = "out of memory", *out = NULL, *name;
    size_t len = 0;
    Part *part;
    if (!get_args(env, info, 2, args) || !(part = session_of(env, args[0])) ||
        !(name = get_text(env, args[1], &len)))
        return NULL;
    PtcValue value = ptc_session_value(part->session, name, len);
    free(name);
    if (!value)
        return NULL;
    if (ptc_value_json(part->engine->ptc, value, &out, &len, error, sizeof error) != PTC_OK)
        return throw_text(env, error);
    result = make_text(env, out, len);
    ptc_text_free(part->engine->ptc, out, len);
    return result;
}

/* sessionSet(session, name, data) */
napi_value session_set(napi_env env, napi_callback_info info)
{
    napi_value args[3];
    size_t len;
    char *name;
    Part *part, *data;
    if (!get_args(env, info, 3, args) || !(part = session_of(env, args[0])) ||
        !(data = get_handle(env, args[2])) || !(name = get_text(env, args[1], &len)))
        return NULL;
    PtcStatus status = ptc_session_set(part->session, name, len, data->value);
    free(name);
    return status == PTC_OK
               ? NULL
               : throw_text(env, "it is no name for a definition, or the session is full");
}

/* sessionForget(session, name or null): everything without a name. */
napi_value session_forget(napi_env env, napi_callback_info info)
{
    napi_value args[2], result;
    size_t len;
    Part *part;
    bool done = false;
    if (!get_args(env, info, 2, args) || !(part = session_of(env, args[0])))
        return NULL;
    char *name = get_text(env, args[1], &len);
    if (name)
        done = ptc_session_forget(part->session, name, len);
    else
        done = ptc_session_forget_all(part->session) == PTC_OK;
    free(name);
    napi_get_boolean(env, done, &result);
    return result;
}

napi_value session_names(napi_env env, napi_callback_info info)
{
    napi_value arg, list;
    Part *part;
    const char *name;
    size_t len;
    if (!get_args(env, info, 1, &arg) || !(part = session_of(env, arg)))
        return NULL;
    napi_create_array(env, &list);
    for (uint32_t i = 0; (name = ptc_session_name(part->session, i, &len)) != NULL; i++)
        napi_set_element(env, list, i, make_text(env, name, len));
    return list;
}

/* sessionSnapshot(session, key): bytes. */
napi_value session_snapshot(napi_env env, napi_callback_info info)
{
    napi_value args[2], result = NULL;
    void *key = NULL;
    char error[ERROR_BYTES] = "the key is too short, or there is not enough memory", *out = NULL;
    size_t key_len = 0, len = 0;
    Part *part;
    if (!get_args(env, info, 2, args) || !(part = session_of(env, args[0])))
        return NULL;
    napi_get_buffer_info(env, args[1], &key, &key_len);
    if (ptc_session_snapshot(part->session, key, key_len, &out, &len, error, sizeof error) !=
        PTC_OK)
        return throw_text(env, error);
    napi_create_buffer_copy(env, len, out, NULL, &result);
    ptc_text_free(part->engine->ptc, out, len);
    return result;
}

/* sessionRestore(engine, bytes, key) */
napi_value session_restore(napi_env env, napi_callback_info info)
{
    napi_value args[3];
    void *bytes = NULL, *key = NULL;
    char error[ERROR_BYTES] = "not enough memory";
    size_t len = 0, key_len = 0;
    Engine *engine;
    Part part = {.session = NULL};
    if (!get_args(env, info, 3, args) || !(engine = idle(env, get_handle(env, args[0]))))
        return NULL;
    napi_get_buffer_info(env, args[1], &bytes, &len);
    napi_get_buffer_info(env, args[2], &key, &key_len);
    if (ptc_session_restore(engine->ptc, key, key_len, bytes, len, &part.session, error,
                            sizeof error) != PTC_OK)
        return throw_text(env, error);
    return part_handle(env, engine, part);
}
