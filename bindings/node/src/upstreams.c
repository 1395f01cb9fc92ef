/* SPDX-License-Identifier: MIT
 * Upstreams behind handles of JavaScript.  What always holds: a set is freed after the runs of all engines that use it,
 * because engines hold it; closing it is for index.js, which takes it away from idle engines first. */
#include "addon.h"

void drop_upstreams(Upstreams *upstreams)
{
    if (!upstreams || --upstreams->holds > 0)
        return;
    ptc_upstream_set_free(upstreams->set);
    free(upstreams);
}

static void finalize(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    drop_upstreams(data);
}

static PtcStatus open_set(napi_env env, napi_value from, Upstreams *upstreams, char *error)
{
    PtcUpstreamOptions o;
    ptc_upstream_options_init(&o, sizeof o);
    char *json = get_text(env, get_member(env, from, "json"), &o.json_len);
    char *path = get_text(env, get_member(env, from, "path"), NULL);
    char *policy = get_text(env, get_member(env, from, "policy"), NULL);
    char *command = get_text(env, get_member(env, from, "command"), NULL);
    o.json = json;
    o.path = path;
    o.policy = policy;
    o.command = command;
    o.approved = get_flag(env, from, "approved");
    o.call_timeout_ms = get_number(env, get_member(env, from, "callTimeoutMs"), PTC_UNSET);
    PtcStatus status = ptc_upstream_set_new(&o, &upstreams->set, error, ERROR_BYTES);
    free(json);
    free(path);
    free(policy);
    free(command);
    return status;
}

/* upstreamsNew({json or path, policy, approved, command, callTimeoutMs}) */
napi_value upstreams_new(napi_env env, napi_callback_info info)
{
    napi_value arg, handle;
    char error[ERROR_BYTES] = "out of memory";
    Upstreams *upstreams = NULL;
    if (!get_args(env, info, 1, &arg) || !(upstreams = calloc(1, sizeof *upstreams)))
        return NULL;
    upstreams->holds = 1;
    if (open_set(env, arg, upstreams, error) == PTC_OK &&
        napi_create_external(env, upstreams, finalize, NULL, &handle) == napi_ok)
        return handle;
    drop_upstreams(upstreams);
    return throw_text(env, error);
}

/* upstreamsStates(upstreams): [{name, state, tools, reason}] */
napi_value upstreams_states(napi_env env, napi_callback_info info)
{
    napi_value arg, list, item, count;
    PtcUpstreamStatus status = {.size = sizeof status};
    Upstreams *upstreams;
    if (!get_args(env, info, 1, &arg) || !(upstreams = get_handle(env, arg)))
        return NULL;
    napi_create_array(env, &list);
    for (uint32_t i = 0; ptc_upstream_set_state(upstreams->set, i, &status); i++) {
        napi_create_object(env, &item);
        set_member(env, item, "name", make_text(env, status.name, NAPI_AUTO_LENGTH));
        set_member(env, item, "state", make_text(env, status.state, NAPI_AUTO_LENGTH));
        set_member(env, item, "reason", make_text(env, status.reason, NAPI_AUTO_LENGTH));
        napi_create_uint32(env, (uint32_t)status.tools, &count);
        set_member(env, item, "tools", count);
        napi_set_element(env, list, i, item);
    }
    return list;
}

/* upstreamsClose(upstreams): ends the servers; no engine uses them any longer. */
napi_value upstreams_close(napi_env env, napi_callback_info info)
{
    napi_value arg;
    Upstreams *upstreams;
    if (!get_args(env, info, 1, &arg) || !(upstreams = get_handle(env, arg)))
        return NULL;
    ptc_upstream_set_free(upstreams->set);
    upstreams->set = NULL;
    return NULL;
}
