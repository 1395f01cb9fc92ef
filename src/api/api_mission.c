/* SPDX-License-Identifier: MIT
 * Runs of an agent, as ptc.h declares them: a single one, or one for each message of a conversation.  A mission holds
 * everything that they borrow: copies of the options, the model, the tree.  Mistakes in its input are reported in the
 * outcome. */
#include "agent/agent_chat.h"
#include "agent/agent_outcome.h"
#include "agent/model_host.h"
#include "agent/run_options.h"
#include "api/api_ask.h"
#include "api/api_int.h"
#include "json/emit.h"
#include "json/parse.h"
#include "llm/script.h"
#include "value/map.h"
#include "value/str.h"

enum { OUT_BYTES = 256 * 1024 * 1024, MISSION_BYTES = 1024 * 1024 * 1024 };

/* What a mission is used for. */
typedef enum { NEW, ONCE, CHAT, REFUSED } Kind;

struct PtcMission {
    PtcMem mem;
    PtcMissionOptions o;
    PtcAgent *agent;
    PtcBench bench; /* of the options */
    PtcRunOptions options;
    PtcAskTarget target;
    PtcModel *model; /* or NULL: the agent's own */
    PtcCancel cancel;
    Kind kind;
    PtcAgentTree tree; /* ONCE */
    PtcAgentChat chat; /* CHAT */
    PtcAgentRun run;   /* the only run, or that of the last message */
    bool begun;        /* it must be ended */
    bool ended;        /* json and text are there, ending in NUL */
    PtcBuf json, text; /* the outcome; its answer, or an error message */
};

void ptc_mission_options_init(PtcMissionOptions *options, size_t size)
{
    PtcMissionOptions all = {
        .size = sizeof all, .token_limit = PTC_UNSET, .llm_timeout_ms = PTC_UNSET};
    api_copy_out(options, size, &all, sizeof all);
}

/* -------------------------------------------------------------------------------- events */

static const char *program_reason(const PtcRan *ran)
{
    switch (ran->end) {
    case PTC_RAN_FAIL: return "fail";
    case PTC_RAN_FAILED: return ran->kind;
    case PTC_RAN_MEMORY_LIMIT: return "memory_limit";
    case PTC_RAN_CANCELLED: return "cancelled";
    case PTC_RAN_NO_MEMORY: return "no_memory";
    default: return NULL;
    }
}

/* The word for what went wrong. */
static const char *reason_of(const PtcProgress *p)
{
    switch (p->kind) {
    case PTC_PROGRESS_ANSWERED:
        return p->reply->status == PTC_LLM_OK ? NULL : ptc_llm_status_name(p->reply->status);
    case PTC_PROGRESS_PROGRAM_ENDED: return program_reason(p->ran);
    case PTC_PROGRESS_TURN_ENDED: return p->ended->reason;
    case PTC_PROGRESS_RUN_ENDED:
        return p->what->invalid ? "invalid" : p->what->step.now.verdict.reason;
    default: return NULL;
    }
}

static void add_reply(PtcMissionEvent *e, const PtcLlmReply *reply)
{
    PtcText text = reply->status == PTC_LLM_OK ? reply->text : reply->error;
    e->text = text.bytes;
    e->text_len = text.len;
    e->calls = reply->call_count;
    e->input_tokens = reply->tokens.input;
    e->output_tokens = reply->tokens.output;
}

/* False: a kind that ptc.h does not have. */
static bool event_kind(PtcProgressKind kind, PtcMissionEventKind *out)
{
    switch (kind) {
    case PTC_PROGRESS_RUN_BEGAN: *out = PTC_MISSION_BEGAN; return true;
    case PTC_PROGRESS_RUN_ENDED: *out = PTC_MISSION_ENDED; return true;
    case PTC_PROGRESS_ASKED: *out = PTC_MISSION_ASKED; return true;
    case PTC_PROGRESS_ANSWERED: *out = PTC_MISSION_ANSWERED; return true;
    case PTC_PROGRESS_PROGRAM_BEGAN: *out = PTC_MISSION_PROGRAM_BEGAN; return true;
    case PTC_PROGRESS_PROGRAM_ENDED: *out = PTC_MISSION_PROGRAM_ENDED; return true;
    case PTC_PROGRESS_CALLED: *out = PTC_MISSION_CALLED; return true;
    case PTC_PROGRESS_TURN_ENDED: *out = PTC_MISSION_TURN_ENDED; return true;
    default: return false;
    }
}

static void watch(void *user, const PtcProgress *p)
{
    PtcMission *m = user;
    PtcMissionEvent e = {.size = sizeof e,
                         .run = p->run,
                         .parent = p->parent,
                         .agent = p->agent.bytes,
                         .agent_len = p->agent.len,
                         .turn = p->turn,
                         .at_us = p->at_ns / 1000,
                         .duration_us = p->duration_ns / 1000,
                         .text = p->program.bytes,
                         .text_len = p->program.len,
                         .calls = p->call_count};
    if (!event_kind(p->kind, &e.kind))
        return;
    if (e.kind == PTC_MISSION_ANSWERED)
        add_reply(&e, p->reply);
    e.reason = reason_of(p);
    e.ok = !e.reason;
    m->o.watch(m->o.watch_user, &e);
}

static bool stream(void *user, PtcText piece)
{
    PtcMission *m = user;
    PtcMissionEvent e = {.size = sizeof e,
                         .kind = PTC_MISSION_TEXT,
                         .run = m->run.number,
                         .agent = "",
                         .turn = (int64_t)m->run.step.now.turn_count + 1,
                         .at_us = (ptc_clock_ns(NULL) - m->run.tree->began_ns) / 1000,
                         .ok = true,
                         .text = piece.bytes,
                         .text_len = piece.len};
    m->o.watch(m->o.watch_user, &e);
    return !atomic_load(&m->cancel.asked);
}

static bool stop(void *user, int64_t requests, const PtcTokens *tokens)
{
    PtcMission *m = user;
    return m->o.stop(m->o.stop_user, requests, tokens->input, tokens->output);
}

/* -------------------------------------------------------------------------------- models */

/* For an agent's own replies, if there is no PtcLlm to open them. */
static PtcModel *open_script(void *user, PtcText script, char *why, size_t size)
{
    PtcMission *m = user;
    return ptc_script_new(&m->mem, "script", script, NULL, why, size);
}

static PtcTreeHost tree_host(PtcMission *m)
{
    PtcTreeHost host = {.open_script = open_script, .user = m};
    if (m->o.llm)
        ptc_model_host_fill(m->o.llm, &host);
    host.progress = m->o.watch ? watch : NULL;
    host.stream = m->o.watch ? stream : NULL;
    host.stop = m->o.stop ? stop : NULL;
    host.progress_user = host.stream_user = host.stop_user = m;
    return host;
}

/* The model that the options name, or the host's function; NULL with a reason: it is not available. */
static PtcModel *make_model(PtcMission *m, char *why, size_t size)
{
    if (m->o.model)
        return ptc_model_host_open(m->o.llm, ptc_text_cstr(m->o.model), PTC_TRUST_HOST, why, size);
    m->target = (PtcAskTarget){m->o.ask, m->o.ask_user};
    PtcModel *model = ptc_ask_model_new(&m->mem, &m->target);
    if (model && m->o.llm)
        model = ptc_model_host_take(m->o.llm, model);
    if (!model)
        snprintf(why, size, "out of memory");
    return model;
}

/* ------------------------------------------------------------------------------- options */

/* A copy; *ok becomes false when out of memory. */
static PtcText copy(PtcMission *m, const char *text, size_t len, bool *ok)
{
    PtcText kept = {NULL, 0};
    if (text)
        kept = ptc_bench_copy(&m->bench, (PtcText){text, len});
    *ok = *ok && (!text || kept.bytes);
    return kept;
}

/* The conversation so far, read as in a batch line. */
static bool read_messages(PtcMission *m, PtcFault *fault)
{
    PtcJsonError e = {0};
    PtcHeap *heap = &m->bench.heap;
    PtcValue object = PTC_NIL;
    if (m->o.messages) {
        PtcValue list = ptc_json_parse(heap, m->o.messages, m->o.messages_len, &e);
        PtcValue key = ptc_str_new(heap, "messages", 8);
        if (list == PTC_NONE && !e.stopped) {
            snprintf(fault->path, sizeof fault->path, "messages");
            snprintf(fault->message, sizeof fault->message, "not JSON: %s", e.message);
            return false;
        }
        object = list == PTC_NONE || key == PTC_NONE ? PTC_NONE : ptc_map_empty(heap);
        if (object != PTC_NONE)
            object = ptc_map_assoc(heap, object, key, list);
        if (object == PTC_NONE)
            return (fault->no_memory = true, false);
    }
    return ptc_run_options_read(&m->bench, object, m->agent, &m->options, fault);
}

static bool copy_input(PtcMission *m, PtcFault *fault)
{
    bool ok = true;
    PtcAgentOptions *a = &m->options.agent;
    a->input.context = copy(m, m->o.context, m->o.context_len, &ok);
    a->input.journal = copy(m, m->o.journal, m->o.journal_len, &ok);
    a->input.memory = copy(m, m->o.memory, m->o.memory_len, &ok);
    a->token_limit = m->o.token_limit >= 0 ? m->o.token_limit : -1;
    a->return_partial = m->o.return_partial;
    a->cancel = &m->cancel;
    a->stream = m->o.watch && m->agent->mode == PTC_MODE_TEXT && m->agent->offer_count == 0;
    fault->no_memory = !ok;
    return ok;
}

static PtcStatus prepare(PtcMission *m, char *error, size_t size)
{
    PtcFault fault = {.input = true};
    char why[PTC_MODEL_WHY] = "";
    if (!read_messages(m, &fault) || !copy_input(m, &fault)) {
        if (fault.no_memory)
            return api_refuse(PTC_NO_MEMORY, error, size, "out of memory");
        snprintf(why, sizeof why, "%.100s: %.280s", fault.path, fault.message);
        return api_refuse(PTC_BAD_DATA, error, size, why);
    }
    if ((m->o.model || m->o.ask) && !(m->model = make_model(m, why, sizeof why)))
        return api_refuse(PTC_BAD_DATA, error, size, why);
    m->options.agent.model = m->model;
    m->o.model = m->o.context = m->o.journal = m->o.memory = m->o.messages = NULL;
    return PTC_OK;
}

static bool are_sound(const PtcMissionOptions *o)
{
    return !(o->model && (o->ask || !o->llm)) && o->token_limit >= PTC_UNSET &&
           o->llm_timeout_ms >= PTC_UNSET;
}

PtcStatus ptc_mission_new(PtcAgent *agent, const PtcMissionOptions *given, PtcMission **out,
                          char *error, size_t size)
{
    PtcMissionOptions o;
    PtcMem mem;
    ptc_mission_options_init(&o, sizeof o);
    if (!agent || !out || !api_copy_in(&o, sizeof o, given) || !are_sound(&o))
        return PTC_BAD_ARGUMENT;
    *out = NULL;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    PtcMission *m = ptc_mem_alloc(&mem, sizeof *m);
    if (!m)
        return api_refuse(PTC_NO_MEMORY, error, size, "out of memory");
    memset(m, 0, sizeof *m);
    ptc_mem_init(&m->mem, MISSION_BYTES);
    ptc_bench_init(&m->bench);
    ptc_buf_init(&m->json, &m->mem, OUT_BYTES);
    ptc_buf_init(&m->text, &m->mem, OUT_BYTES);
    m->o = o;
    m->agent = ptc_definition_retain(agent);
    PtcStatus status = prepare(m, error, size);
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
        ptc_agent_run_end(&m->run);
    if (m->kind == ONCE)
        ptc_tree_deinit(&m->tree);
    if (m->kind == CHAT)
        ptc_agent_chat_close(&m->chat);
    if (m->model)
        m->model->free(m->model);
    ptc_buf_deinit(&m->json);
    ptc_buf_deinit(&m->text);
    ptc_bench_deinit(&m->bench);
    ptc_definition_release(m->agent);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    atomic_store(&mem.used, sizeof *m);
    ptc_mem_free(&mem, m, sizeof *m);
}

/* ------------------------------------------------------------------------------- running */

/* The outcome's text, which has an accessor of its own.  An answer of nil is absent in the verdict. */
static void keep_text(PtcMission *m)
{
    const PtcVerdict *v = &m->run.step.now.verdict;
    PtcText text = m->run.invalid ? ptc_text_cstr(ptc_fault_message(&m->run.fault))
                   : v->ok        ? v->value
                                  : v->message;
    if (!text.bytes)
        text = PTC_TEXT("null");
    ptc_buf_clear(&m->text);
    ptc_buf_add(&m->text, text.bytes, text.len);
}

static PtcStatus keep_outcome(PtcMission *m)
{
    PtcOutcomeOptions options = {.messages = m->o.collect_messages,
                                 .duration = !m->o.without_times};
    keep_text(m);
    ptc_buf_clear(&m->json);
    ptc_emit_object(&m->json);
    ptc_agent_outcome_write(&m->run, &options, &m->json);
    ptc_emit_object_end(&m->json);
    m->ended = api_cstr(&m->json) && api_cstr(&m->text);
    return m->ended ? PTC_OK : PTC_NO_MEMORY;
}

PtcStatus ptc_mission_run(PtcMission *m)
{
    if (!m || m->kind != NEW)
        return PTC_BAD_ARGUMENT;
    PtcTreeHost host = tree_host(m);
    if (!ptc_tree_init(&m->tree, &host, m->agent->turn_budget, m->agent->mission_timeout_ms))
        return PTC_NO_MEMORY;
    m->kind = ONCE;
    m->tree.llm_timeout_ms = m->o.llm_timeout_ms > 0 ? m->o.llm_timeout_ms : 0;
    ptc_agent_run_begin(&m->run, &m->tree, m->agent, &m->options.agent);
    m->begun = true;
    ptc_agent_run_go(&m->run);
    return keep_outcome(m);
}

/* ------------------------------------------------------------------------- conversations */

/* Nothing ran: the outcome says why. */
static PtcStatus refuse_chat(PtcMission *m, const PtcFault *fault)
{
    ptc_agent_chat_close(&m->chat);
    m->kind = REFUSED;
    memset(&m->run, 0, sizeof m->run);
    m->run.invalid = true;
    m->run.fault = *fault;
    return keep_outcome(m);
}

/* Opens the conversation with its first message; earlier ones are in the bench, which outlives it. */
static bool open_chat(PtcMission *m, PtcFault *fault)
{
    PtcTreeHost host = tree_host(m);
    m->kind = CHAT;
    if (!ptc_agent_chat_open(&m->chat, m->agent, &host, &m->options.agent.input, fault))
        return false;
    m->chat.messages = (PtcMessage *)(uintptr_t)m->options.agent.messages;
    m->chat.count = m->options.agent.message_count;
    m->chat.tree.llm_timeout_ms = m->o.llm_timeout_ms > 0 ? m->o.llm_timeout_ms : 0;
    return true;
}

PtcStatus ptc_mission_say(PtcMission *m, const char *message, size_t len)
{
    PtcFault fault = {.input = true};
    if (!m || !message || (m->kind != NEW && m->kind != CHAT))
        return PTC_BAD_ARGUMENT;
    if (m->kind == NEW && !open_chat(m, &fault))
        return refuse_chat(m, &fault);
    if (m->begun)
        ptc_agent_run_end(&m->run);
    ptc_agent_chat_begin(&m->chat, &m->run, (PtcText){message, len}, &m->options.agent);
    m->begun = true;
    ptc_agent_run_go(&m->run);
    atomic_store(&m->cancel.asked, false);
    PtcStatus status = keep_outcome(m);
    return ptc_agent_chat_keep(&m->chat, &m->run) ? status : PTC_NO_MEMORY;
}

void ptc_mission_cancel(PtcMission *m)
{
    if (m)
        atomic_store(&m->cancel.asked, true);
}

/* ------------------------------------------------------------------------------- outcome */

static const char *give(const PtcBuf *buf, bool there, size_t *len)
{
    api_set_len(len, there ? buf->len : 0);
    return there ? buf->data : NULL;
}

const char *ptc_mission_json(const PtcMission *m, size_t *len)
{
    return give(m ? &m->json : NULL, m && m->ended, len);
}

bool ptc_mission_ok(const PtcMission *m)
{
    return m && m->ended && !m->run.invalid && m->run.step.now.verdict.ok;
}

bool ptc_mission_invalid(const PtcMission *m)
{
    return m && m->ended && m->run.invalid && !m->run.fault.no_memory;
}

const char *ptc_mission_answer(const PtcMission *m, size_t *len)
{
    return give(m ? &m->text : NULL, ptc_mission_ok(m), len);
}

const char *ptc_mission_reason(const PtcMission *m)
{
    if (!m || !m->ended || ptc_mission_ok(m))
        return NULL;
    return m->run.invalid ? ptc_fault_reason(&m->run.fault) : m->run.step.now.verdict.reason;
}

const char *ptc_mission_message(const PtcMission *m, size_t *len)
{
    return give(m ? &m->text : NULL, ptc_mission_reason(m) != NULL, len);
}

bool ptc_mission_usage(PtcMission *m, PtcMissionUsage *usage)
{
    if (!m || !m->ended || !m->begun || !usage || usage->size < sizeof(size_t))
        return false;
    const PtcTreeSums *sums = &m->run.tree->sums;
    PtcMissionUsage all = {.size = sizeof all,
                           .turns = sums->turns,
                           .requests = sums->requests,
                           .failed_requests = sums->errors,
                           .input_tokens = sums->tokens.input,
                           .output_tokens = sums->tokens.output,
                           .cache_creation_tokens = sums->tokens.cache_creation,
                           .cache_read_tokens = sums->tokens.cache_read,
                           .duration_us = (m->run.ended_ns - m->run.began_ns) / 1000};
    api_copy_out(usage, usage->size, &all, sizeof all);
    return true;
}
