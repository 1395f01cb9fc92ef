/* SPDX-License-Identifier: MIT
 * Runs of an agent, as ptc.h declares them: a single one, a chain, or one for each message of a conversation.  A
 * mission holds everything that they borrow: copies of the options, the model, the tree.  Mistakes in its input are
 * reported in the outcome. */
#include "api/api_mission.h"

#include "agent/run/model_host.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "llm/script.h"
#include "value/coll/map.h"
#include "value/str.h"

enum { MISSION_OUT_BYTES = 256 * PTC_MB, MISSION_BYTES = PTC_GB };

void ptc_mission_options_init(PtcMissionOptions *options, size_t size)
{
    PtcMissionOptions all = {
        .size = sizeof all, .token_limit = PTC_UNSET, .llm_timeout_ms = PTC_UNSET};
    api_copy_out(options, size, &all, sizeof all);
}

/* -------------------------------------------------------------------------------- models */

/* For an agent's own replies, if there is no PtcLlm to open them. */
static PtcModel *open_mission_script(void *user, PtcText script, PtcWhy *why)
{
    PtcMission *m = user;
    return ptc_script_new(&m->mem, "script", script, NULL, why);
}

static PtcTreeHost tree_host(PtcMission *m)
{
    PtcTreeHost host = {.open_script = open_mission_script, .user = m};
    if (m->o.llm)
        ptc_model_host_fill(m->o.llm, &host);
    ptc_api_watch_fill(m, &host);
    return host;
}

/* The model that the options name, or the host's function; NULL with a reason: it is not available. */
static PtcModel *make_model(PtcMission *m, PtcWhy *why)
{
    if (m->o.model)
        return ptc_model_host_open(m->o.llm, ptc_text_cstr(m->o.model), PTC_TRUST_HOST, why);
    m->target = (PtcAskTarget){m->o.ask, m->o.ask_user};
    PtcModel *model = ptc_ask_model_new(&m->mem, &m->target);
    if (model && m->o.llm)
        model = ptc_model_host_take(m->o.llm, model);
    if (!model)
        ptc_why_no_memory(why);
    return model;
}

/* ------------------------------------------------------------------------------- options */

/* A copy; *ok becomes false when out of memory. */
static PtcText copy_mission_text(PtcMission *m, const char *text, size_t len, bool *ok)
{
    PtcText kept = {NULL, 0};
    if (text)
        kept = ptc_bench_copy(&m->bench, (PtcText){text, len});
    *ok = *ok && (!text || kept.bytes);
    return kept;
}

/* The conversation so far, read as in a batch line. */
static bool read_mission_messages(PtcMission *m, PtcWhy *fault)
{
    PtcJsonError e = {0};
    PtcHeap *heap = &m->bench.heap;
    PtcValue object = PTC_NIL;
    if (m->o.messages) {
        PtcValue list = ptc_json_parse(heap, m->o.messages, m->o.messages_len, &e);
        PtcValue key = ptc_str_new(heap, "messages", 8);
        if (list == PTC_NONE && !e.stopped)
            return ptc_fault_input(fault, "messages", "not JSON: %s", e.message);
        object = list == PTC_NONE || key == PTC_NONE ? PTC_NONE : ptc_map_empty(heap);
        if (object != PTC_NONE)
            object = ptc_map_assoc(heap, object, key, list);
        if (object == PTC_NONE)
            return ptc_why_no_memory(fault);
    }
    return ptc_run_options_read(&m->bench, object, m->agents[0], &m->options, fault);
}

static bool copy_input(PtcMission *m, PtcWhy *fault)
{
    bool ok = true;
    PtcAgentOptions *a = &m->options.agent;
    a->input.context = copy_mission_text(m, m->o.context, m->o.context_len, &ok);
    a->input.journal = copy_mission_text(m, m->o.journal, m->o.journal_len, &ok);
    a->input.memory = copy_mission_text(m, m->o.memory, m->o.memory_len, &ok);
    a->token_limit = m->o.token_limit >= 0 ? m->o.token_limit : -1;
    a->return_partial = m->o.return_partial;
    a->cancel = &m->cancel;
    return ok || ptc_why_no_memory(fault);
}

static PtcStatus prepare_mission(PtcMission *m, char *error, size_t size)
{
    PtcWhy fault, why;
    if (!read_mission_messages(m, &fault) || !copy_input(m, &fault)) {
        if (fault.class == PTC_WHY_NO_MEMORY)
            return api_refuse(PTC_NO_MEMORY, error, size, "out of memory");
        ptc_why_say(&why, PTC_WHY_INVALID, "%.*s: %.*s",
                    PTC_ARG(ptc_text_cut(ptc_text_cstr(fault.path), 100)),
                    PTC_ARG(ptc_text_cut(ptc_text_cstr(fault.text), 280)));
        return api_refuse(PTC_BAD_DATA, error, size, why.text);
    }
    if ((m->o.model || m->o.ask) && !(m->model = make_model(m, &why)))
        return api_refuse(PTC_BAD_DATA, error, size, why.text);
    m->options.agent.model = m->model;
    m->o.model = m->o.context = m->o.journal = m->o.memory = m->o.messages = NULL;
    m->o.then = NULL;
    return PTC_OK;
}

/* NULL, or what is wrong with options before they are used. */
static const char *explain_bad_mission(const PtcMissionOptions *o)
{
    for (size_t i = 0; i < o->then_count; i++)
        if (i + 1 >= PTC_CHAIN_AGENTS || !o->then || !o->then[i])
            return "a chain has at most 32 agents, none of them NULL";
    if (o->model && o->ask)
        return "set model or ask, not both";
    if (o->model && !o->llm)
        return "a model that is named needs llm";
    return o->token_limit >= PTC_UNSET && o->llm_timeout_ms >= PTC_UNSET
               ? NULL
               : "token_limit and llm_timeout_ms must be 0 or more, or PTC_UNSET";
}

static void hold_agents(PtcMission *m, PtcAgent *first)
{
    m->agents[m->agent_count++] = ptc_definition_retain(first);
    for (size_t i = 0; i < m->o.then_count; i++)
        m->agents[m->agent_count++] = ptc_definition_retain(m->o.then[i]);
}

PtcStatus ptc_mission_new(PtcAgent *agent, const PtcMissionOptions *given, PtcMission **out,
                          char *error, size_t size)
{
    PtcMissionOptions o;
    PtcMem mem;
    ptc_mission_options_init(&o, sizeof o);
    if (!agent || !out || !api_copy_in(&o, sizeof o, given))
        return api_refuse(PTC_BAD_ARGUMENT, error, size, PTC_API_NOT_MADE);
    const char *why = explain_bad_mission(&o);
    if (why)
        return api_refuse(PTC_BAD_ARGUMENT, error, size, why);
    *out = NULL;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcMission *m = ptc_mem_alloc(&mem, sizeof *m);
    if (!m)
        return api_refuse(PTC_NO_MEMORY, error, size, "out of memory");
    memset(m, 0, sizeof *m);
    ptc_mem_init(&m->mem, MISSION_BYTES);
    ptc_bench_init(&m->bench);
    ptc_buf_init(&m->json, &m->mem, MISSION_OUT_BYTES);
    ptc_buf_init(&m->text, &m->mem, MISSION_OUT_BYTES);
    ptc_buf_init(&m->compiled, &m->mem, MISSION_OUT_BYTES);
    m->o = o;
    hold_agents(m, agent);
    PtcStatus status = prepare_mission(m, error, size);
    if (status == PTC_OK)
        *out = m;
    else
        ptc_mission_free(m);
    return status;
}

void ptc_mission_free(PtcMission *m)
{
    PtcMem mem;
    if (!m)
        return;
    if (m->begun)
        ptc_agent_run_end(&m->said);
    if (m->use == PTC_USE_ONCE)
        ptc_chain_end(&m->chain);
    if (m->use == PTC_USE_CHAT)
        ptc_agent_chat_close(&m->chat);
    ptc_api_watch_end(m);
    if (m->model)
        m->model->free(m->model);
    ptc_buf_deinit(&m->json);
    ptc_buf_deinit(&m->text);
    ptc_buf_deinit(&m->compiled);
    ptc_bench_deinit(&m->bench);
    for (size_t i = 0; i < m->agent_count; i++)
        ptc_definition_release(m->agents[i]);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *m);
    ptc_mem_free(&mem, m, sizeof *m);
}

/* ------------------------------------------------------------------------------- running */

/* The outcome's text, which has an accessor of its own.  An answer of nil is absent in the verdict. */
static void keep_mission_text(PtcMission *m)
{
    PtcText text = ptc_text_cstr(m->chain.message);
    if (!m->chain.reason) {
        const PtcVerdict *v = &m->last->step.now.verdict;
        text = m->last->invalid ? ptc_text_cstr(m->last->fault.text)
               : v->ok          ? v->value
                                : v->message;
    }
    if (!text.bytes)
        text = PTC_TEXT("null");
    ptc_buf_clear(&m->text);
    ptc_buf_add(&m->text, text.bytes, text.len);
}

static PtcStatus keep_outcome(PtcMission *m)
{
    PtcOutcomeOptions options = {.messages = m->o.collect_messages,
                                 .duration = !m->o.without_times};
    keep_mission_text(m);
    ptc_buf_clear(&m->json);
    ptc_emit_object(&m->json);
    if (m->use == PTC_USE_ONCE)
        ptc_chain_write(&m->chain, &options, &m->json);
    else
        ptc_agent_outcome_write(m->last, &options, &m->json);
    ptc_emit_object_end(&m->json);
    m->ended = api_cstr(&m->json) && api_cstr(&m->text);
    return m->ended ? PTC_OK : PTC_NO_MEMORY;
}

static int64_t llm_timeout_ms(const PtcMission *m)
{
    return m->o.llm_timeout_ms > 0 ? m->o.llm_timeout_ms : 0;
}

PtcStatus ptc_mission_run(PtcMission *m)
{
    if (!m || m->use != PTC_USE_NEW)
        return PTC_BAD_ARGUMENT;
    m->use = PTC_USE_ONCE;
    m->chain = (PtcChain){.defs = m->agents,
                          .count = m->agent_count,
                          .host = tree_host(m),
                          .options = m->options.agent,
                          .stream = m->o.watch != NULL,
                          .llm_timeout_ms = llm_timeout_ms(m)};
    ptc_api_watch_begin(m);
    bool ran = ptc_chain_run(&m->chain);
    m->last = ptc_chain_last(&m->chain);
    return ran ? keep_outcome(m) : PTC_NO_MEMORY;
}

/* ------------------------------------------------------------------------- conversations */

/* Nothing ran: the outcome says why. */
static PtcStatus refuse_chat(PtcMission *m, const PtcWhy *fault)
{
    ptc_agent_chat_close(&m->chat);
    m->use = PTC_USE_REFUSED;
    memset(&m->said, 0, sizeof m->said);
    m->said.invalid = true;
    m->said.fault = *fault;
    m->last = &m->said;
    return keep_outcome(m);
}

/* Opens the conversation with its first message; earlier ones are in the bench, which outlives it. */
static bool open_chat(PtcMission *m, PtcWhy *fault)
{
    PtcTreeHost host = tree_host(m);
    m->use = PTC_USE_CHAT;
    if (!ptc_agent_chat_open(&m->chat, m->agents[0], &host, &m->options.agent.input, fault))
        return false;
    m->chat.messages = (PtcMessage *)(uintptr_t)m->options.agent.messages;
    m->chat.count = m->options.agent.message_count;
    m->chat.tree.llm_timeout_ms = llm_timeout_ms(m);
    return true;
}

PtcStatus ptc_mission_say(PtcMission *m, const char *message, size_t len)
{
    PtcWhy fault;
    if (!m || !message || (m->use != PTC_USE_NEW && m->use != PTC_USE_CHAT) || m->agent_count > 1)
        return PTC_BAD_ARGUMENT;
    if (m->use == PTC_USE_NEW && !open_chat(m, &fault))
        return refuse_chat(m, &fault);
    if (m->begun)
        ptc_agent_run_end(&m->said);
    ptc_agent_chat_begin(&m->chat, &m->said, (PtcText){message, len}, &m->options.agent);
    m->begun = true;
    m->last = &m->said;
    ptc_api_watch_begin(m);
    ptc_agent_run_go(&m->said);
    atomic_store(&m->cancel.asked, false);
    PtcStatus status = keep_outcome(m);
    return ptc_agent_chat_keep(&m->chat, &m->said) ? status : PTC_NO_MEMORY;
}

void ptc_mission_cancel(PtcMission *m)
{
    if (m)
        atomic_store(&m->cancel.asked, true);
}

/* ------------------------------------------------------------------------------- outcome */

static const char *give_mission_text(const PtcBuf *buf, bool there, size_t *len)
{
    api_set_len(len, there ? buf->len : 0);
    return there ? buf->data : NULL;
}

const char *ptc_mission_json(const PtcMission *m, size_t *len)
{
    return give_mission_text(m ? &m->json : NULL, m && m->ended, len);
}

bool ptc_mission_ok(const PtcMission *m)
{
    return m && m->ended && !m->chain.reason && !m->last->invalid && m->last->step.now.verdict.ok;
}

bool ptc_mission_invalid(const PtcMission *m)
{
    return m && m->ended && !m->chain.reason && m->last->invalid &&
           m->last->fault.class != PTC_WHY_NO_MEMORY;
}

const char *ptc_mission_answer(const PtcMission *m, size_t *len)
{
    return give_mission_text(m ? &m->text : NULL, ptc_mission_ok(m), len);
}

const char *ptc_mission_reason(const PtcMission *m)
{
    if (!m || !m->ended || ptc_mission_ok(m))
        return NULL;
    if (m->chain.reason)
        return ptc_agent_fault_word(m->chain.reason);
    return ptc_agent_fault_word(m->last->invalid ? ptc_fault_reason(&m->last->fault)
                                                 : m->last->step.now.verdict.reason);
}

const char *ptc_mission_message(const PtcMission *m, size_t *len)
{
    return give_mission_text(m ? &m->text : NULL, ptc_mission_reason(m) != NULL, len);
}

bool ptc_mission_traced(const PtcMission *m)
{
    return m && (!m->tracing || !m->trace.failed);
}

/* From the first run of a chain to the last. */
static int64_t duration_us(const PtcMission *m)
{
    const PtcAgentRun *first =
        m->use == PTC_USE_ONCE && m->chain.ran ? &m->chain.links[0].run : m->last;
    return first ? (m->last->ended_ns - first->began_ns) / 1000 : 0;
}

bool ptc_mission_usage(PtcMission *m, PtcMissionUsage *usage)
{
    if (!m || !m->ended || m->use == PTC_USE_REFUSED || !usage || usage->size < sizeof(size_t))
        return false;
    PtcTreeSums sums = ptc_api_watch_sums(m);
    PtcMissionUsage all = {.size = sizeof all,
                           .turns = sums.turns,
                           .requests = sums.requests,
                           .failed_requests = sums.errors,
                           .input_tokens = sums.tokens.input,
                           .output_tokens = sums.tokens.output,
                           .cache_creation_tokens = sums.tokens.cache_creation,
                           .cache_read_tokens = sums.tokens.cache_read,
                           .duration_us = duration_us(m)};
    api_copy_out(usage, usage->size, &all, sizeof all);
    return true;
}
