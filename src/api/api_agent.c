/* SPDX-License-Identifier: MIT
 * Agents and where their models come from, as ptc.h declares them.  What always holds: what a host passes in is
 * checked here and copied if it must outlive the call. */
#include "agent/run/agent_compile.h"
#include "agent/run/model_host.h"
#include "api/api_mission.h"

enum { CHILDREN_MAX = 1000 };

/* ---------------------------------------------------------------------------------- llm */

void ptc_llm_options_init(PtcLlmOptions *options, size_t size)
{
    PtcLlmOptions all = {.size = sizeof all};
    api_copy_out(options, size, &all, sizeof all);
}

PtcStatus ptc_llm_new(const PtcLlmOptions *given, PtcLlm **out, char *error, size_t size)
{
    PtcLlmOptions o = {.size = sizeof o};
    PtcWhy why;
    if (!out || !api_copy_in(&o, sizeof o, given))
        return api_refuse(PTC_BAD_ARGUMENT, error, size, PTC_API_NOT_MADE);
    PtcModelsOptions options = {.get = o.variable,
                                .user = o.variable_user,
                                .dotenv = o.dotenv,
                                .replay_loose = o.replay_loose};
    *out = NULL;
    PtcLlm *llm = ptc_model_host_new(&options, &why);
    bool ok = llm && (!o.aliases || ptc_model_host_add_aliases(llm, o.aliases, &why)) &&
              (!o.record || ptc_model_host_record(llm, o.record, &why));
    if (ok)
        *out = llm;
    else if (llm)
        (void)ptc_model_host_close(llm, NULL);
    return ok ? PTC_OK : api_refuse(PTC_BAD_DATA, error, size, why.text);
}

PtcStatus ptc_llm_free(PtcLlm *llm, char *error, size_t size)
{
    PtcWhy why;
    return !llm || ptc_model_host_close(llm, &why)
               ? PTC_OK
               : api_refuse(PTC_BAD_DATA, error, size, why.text);
}

/* -------------------------------------------------------------------------------- agents */

void ptc_agent_source_init(PtcAgentSource *source, size_t size)
{
    PtcAgentSource all = {.size = sizeof all};
    api_copy_out(source, size, &all, sizeof all);
}

/* The host's function that counts tokens, in the form that ptc.h declares. */
typedef struct Counter {
    int64_t (*function)(void *user, const char *text, size_t len);
    void *user;
} Counter;

static int64_t count_tokens(void *user, PtcText text)
{
    const Counter *c = user;
    return c->function(c->user, text.bytes ? text.bytes : "", text.len);
}

static bool set_counter(PtcAgent *agent, const PtcAgentSource *s)
{
    if (!s->count_tokens)
        return true;
    Counter *c = ptc_arena_alloc(&agent->arena, sizeof *c);
    if (!c)
        return false;
    *c = (Counter){s->count_tokens, s->count_tokens_user};
    agent->count_tokens = count_tokens;
    agent->count_tokens_user = c;
    return true;
}

static PtcStatus read_agent_source(const PtcAgentSource *s, const PtcAgentChild *children,
                                   PtcAgent **out, char *error, size_t size)
{
    PtcWhy fault;
    PtcAgentReading how = {.allow_commands = s->allow_commands,
                           .allow_http = s->allow_http,
                           .command_advice = "allow_commands of the PtcAgentSource allows them",
                           .http_advice = "allow_http of the PtcAgentSource allows them",
                           .allow_scripts = true,
                           .compiling = s->compile,
                           .check_model = s->llm ? ptc_model_host_check : NULL,
                           .user = s->llm,
                           .tools = s->tools,
                           .children = children,
                           .child_count = s->child_count};
    PtcText json = {s->json, s->json_len};
    PtcAgent *agent = s->path       ? ptc_definition_open(s->path, &how, &fault)
                      : s->compiled ? ptc_compile_read(json, &how, &fault)
                                    : ptc_definition_read_json(json, &how, &fault);
    if (!agent)
        return api_refuse_data(&fault, error, size);
    if (!set_counter(agent, s)) {
        ptc_definition_release(agent);
        return api_refuse(PTC_NO_MEMORY, error, size, "out of memory");
    }
    *out = agent;
    return PTC_OK;
}

/* NULL, or what is wrong with a source before it is read. */
static const char *explain_bad_source(const PtcAgentSource *s)
{
    if (!s->json == !s->path)
        return "give either json or path";
    if (s->compiled && (s->path || s->compile))
        return "compiled goes with json, and not with compile";
    bool whole =
        s->child_count <= CHILDREN_MAX && (!s->child_count || (s->children && s->child_names));
    for (size_t i = 0; whole && i < s->child_count; i++)
        whole = s->child_names[i] && s->children[i];
    return whole ? NULL
                 : "child_names and children must both have child_count entries, at most 1000";
}

PtcStatus ptc_agent_new(const PtcAgentSource *given, PtcAgent **out, char *error, size_t size)
{
    PtcAgentSource s = {.size = sizeof s};
    PtcMem mem;
    if (!out || !given || !api_copy_in(&s, sizeof s, given))
        return api_refuse(PTC_BAD_ARGUMENT, error, size, PTC_API_NOT_MADE);
    const char *why = explain_bad_source(&s);
    if (why)
        return api_refuse(PTC_BAD_ARGUMENT, error, size, why);
    *out = NULL;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    size_t bytes = (s.child_count + 1) * sizeof(PtcAgentChild);
    PtcAgentChild *children = ptc_mem_alloc(&mem, bytes);
    if (!children)
        return api_refuse(PTC_NO_MEMORY, error, size, "out of memory");
    for (size_t i = 0; i < s.child_count; i++)
        children[i] = (PtcAgentChild){ptc_text_cstr(s.child_names[i]), s.children[i]};
    PtcStatus status = read_agent_source(&s, children, out, error, size);
    ptc_mem_free(&mem, children, bytes);
    return status;
}

void ptc_agent_free(PtcAgent *agent)
{
    ptc_definition_release(agent);
}
