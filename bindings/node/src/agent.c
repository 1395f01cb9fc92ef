/* SPDX-License-Identifier: MIT
 * Agents, and what opens models by name, behind handles of JavaScript.  What always holds: a PtcLlm is freed after the
 * missions that were given it, because they hold it. */
#include "addon.h"

/* -------------------------------------------------------------------------------------- llm */

void drop_llm(Llm *llm)
{
    if (!llm || --llm->holds > 0)
        return;
    (void)ptc_llm_free(llm->llm, NULL, 0);
    free(llm);
}

static void finalize_llm(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    drop_llm(data);
}

static PtcStatus open_llm(napi_env env, napi_value from, Llm *llm, char *error)
{
    PtcLlmOptions o;
    ptc_llm_options_init(&o, sizeof o);
    char *dotenv = get_text(env, get_member(env, from, "dotenv"), NULL);
    char *aliases = get_text(env, get_member(env, from, "aliases"), NULL);
    char *record = get_text(env, get_member(env, from, "record"), NULL);
    o.dotenv = dotenv;
    o.aliases = aliases;
    o.record = record;
    o.replay_loose = get_flag(env, from, "replayLoose");
    PtcStatus status = ptc_llm_new(&o, &llm->llm, error, ERROR_BYTES);
    free(dotenv);
    free(aliases);
    free(record);
    return status;
}

/* llmNew({dotenv, aliases, record, replayLoose}) */
napi_value llm_new(napi_env env, napi_callback_info info)
{
    napi_value arg, handle;
    char error[ERROR_BYTES] = "out of memory";
    Llm *llm = NULL;
    if (!get_args(env, info, 1, &arg) || !(llm = calloc(1, sizeof *llm)))
        return NULL;
    llm->holds = 1;
    if (open_llm(env, arg, llm, error) == PTC_OK &&
        napi_create_external(env, llm, finalize_llm, NULL, &handle) == napi_ok)
        return handle;
    drop_llm(llm);
    return throw_text(env, error);
}

/* llmClose(llm): throws if something uses it still, or if a record was not written completely. */
napi_value llm_close(napi_env env, napi_callback_info info)
{
    napi_value arg;
    char error[ERROR_BYTES] = "";
    Llm *llm;
    if (!get_args(env, info, 1, &arg) || !(llm = get_handle(env, arg)) || !llm->llm)
        return NULL;
    if (llm->holds > 1)
        return throw_text(env, "a run or a conversation uses it; close that first");
    PtcStatus status = ptc_llm_free(llm->llm, error, sizeof error);
    llm->llm = NULL;
    return status == PTC_OK ? NULL : throw_text(env, error);
}

/* ------------------------------------------------------------------------------------ agents */

static void finalize_agent(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    ptc_agent_free(data);
}

/* Names and agents of the children; false: out of memory, or one of them is none. */
static bool read_children(napi_env env, napi_value from, PtcAgentSource *source)
{
    uint32_t count = 0;
    napi_value names = get_member(env, from, "childNames");
    napi_value children = get_member(env, from, "children"), item;
    if (napi_get_array_length(env, names, &count) != napi_ok || count == 0)
        return true;
    char **texts = calloc(count, sizeof *texts);
    PtcAgent **agents = calloc(count, sizeof *agents);
    bool ok = texts && agents;
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = napi_get_element(env, names, i, &item) == napi_ok &&
             (texts[i] = get_text(env, item, NULL)) != NULL &&
             napi_get_element(env, children, i, &item) == napi_ok &&
             (agents[i] = get_handle(env, item)) != NULL;
    }
    source->child_names = (const char *const *)texts;
    source->children = agents;
    source->child_count = count;
    return ok;
}

static void free_children(PtcAgentSource *source)
{
    char **texts = (char **)source->child_names;
    for (size_t i = 0; texts && i < source->child_count; i++)
        free(texts[i]);
    free(texts);
    free((void *)source->children);
}

/* agentNew({json or path, tools, childNames, children, allowCommands, allowHttp}) */
napi_value agent_new(napi_env env, napi_callback_info info)
{
    napi_value from, handle;
    char error[ERROR_BYTES] = "out of memory";
    PtcAgentSource source;
    PtcAgent *agent = NULL;
    ToolSet *set;
    if (!get_args(env, info, 1, &from))
        return NULL;
    ptc_agent_source_init(&source, sizeof source);
    char *json = get_text(env, get_member(env, from, "json"), &source.json_len);
    char *path = get_text(env, get_member(env, from, "path"), NULL);
    source.json = json;
    source.path = path;
    if ((set = get_handle(env, get_member(env, from, "tools"))) != NULL)
        source.tools = set->tools;
    source.allow_commands = get_flag(env, from, "allowCommands");
    source.allow_http = get_flag(env, from, "allowHttp");
    bool ok = read_children(env, from, &source) &&
              ptc_agent_new(&source, &agent, error, sizeof error) == PTC_OK;
    free_children(&source);
    free(json);
    free(path);
    if (ok && napi_create_external(env, agent, finalize_agent, NULL, &handle) == napi_ok)
        return handle;
    ptc_agent_free(agent);
    return throw_text(env, error);
}
