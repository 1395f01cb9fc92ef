/* SPDX-License-Identifier: MIT
 * The loop.  It decides nothing itself: it collects the facts, lets the step decide, performs the action, and tells
 * the step what came of it.
 *
 * Collecting the facts, the step and claiming a turn happen under one lock of the tree; requests, programs and calls
 * do not. */
#include "agent/run/agent_run.h"

#include <stdio.h>

#include "agent/prompt/prompt.h"
#include "agent/run/agent_compile.h"
#include "engine/engine.h"
#include "llm/model_price.h"
#include "llm/waiting.h"

enum {
    AGENT_CALL_LOG_BYTES = 4 * PTC_MB
}; /* of the calls of one program, as the trace gets them */

PtcAgentOptions ptc_agent_options(void)
{
    return (PtcAgentOptions){.token_limit = -1, .stop_after_requests = -1};
}

/* ----------------------------------------------------------------------------- beginning */

static void begin_agent_run(PtcAgentRun *r, PtcAgentTree *tree, const PtcAgentDef *def,
                            const PtcAgentOptions *options)
{
    memset(r, 0, sizeof *r);
    r->tree = tree;
    r->def = def;
    r->options = *options;
    r->began_ns = ptc_clock_ns(NULL);
    r->deadline_ns = tree->deadline_ns;
    ptc_bench_init(&r->bench);
}

/* The run's own deadline, if it is earlier. */
static void set_deadline(PtcAgentRun *r)
{
    int64_t own = r->began_ns + r->def->mission_timeout_ms * PTC_MS;
    r->hurried = r->def->mission_timeout_ms > 0 || (r->parent && r->parent->hurried);
    if (r->def->mission_timeout_ms > 0 && own < r->deadline_ns)
        r->deadline_ns = own;
}

void ptc_agent_run_begin(PtcAgentRun *r, PtcAgentTree *tree, const PtcAgentDef *def,
                         const PtcAgentOptions *options)
{
    begin_agent_run(r, tree, def, options);
    r->depth = options->nesting_depth + 1;
    r->max_depth = def->max_depth;
    set_deadline(r);
}

/* "" for the top agent, then the names of the tools; names and depth are bounded, so it fits. */
static void set_agent_path(PtcAgentRun *r, const char *outer, PtcText tool)
{
    size_t n = strlen(outer);
    memcpy(r->path, outer, n);
    if (n && n + 1 < sizeof r->path)
        r->path[n++] = '/';
    size_t room = sizeof r->path - 1 - n, len = tool.len < room ? tool.len : room;
    memcpy(r->path + n, tool.bytes, len);
    r->path[n + len] = 0;
}

void ptc_agent_run_begin_child(PtcAgentRun *r, PtcAgentRun *parent, const PtcAgentDef *def,
                               PtcText tool, const PtcAgentOptions *options)
{
    begin_agent_run(r, parent->tree, def, options);
    r->parent = parent;
    r->depth = parent->depth + 1;
    r->max_depth = def->max_depth < parent->max_depth ? def->max_depth : parent->max_depth;
    r->deadline_ns = parent->deadline_ns;
    r->options.token_limit = parent->options.token_limit;
    set_agent_path(r, parent->path, tool);
    set_deadline(r);
    atomic_fetch_add(&parent->children, 1);
}

void ptc_agent_run_end(PtcAgentRun *r)
{
    if (r->work_open)
        ptc_work_close(&r->own);
    ptc_step_deinit(&r->step);
    ptc_bench_deinit(&r->bench);
}

/* --------------------------------------------------------------------------------- model */

/* Opens a model by name; NULL: it is not available. */
static PtcModel *open_run_model(PtcAgentRun *r, const char *field, PtcModelChoice choice,
                                bool program)
{
    PtcWhy why;
    PtcModel *model = choice.script.bytes ? ptc_tree_script(r->tree, choice.script, &why)
                                          : ptc_tree_model(r->tree, choice.name, program, &why);
    if (!model)
        ptc_fault_set(&r->fault, field, "%s", why.text);
    return model;
}

/* All are opened before anything is sent, so that one that is not available is not found out when it is needed. */
static bool open_fallbacks(PtcAgentRun *r)
{
    const PtcAgentDef *def = r->def;
    for (size_t i = 0; i < def->fallback_count; i++) {
        r->fallbacks[i] = open_run_model(r, "llm_fallback", def->fallbacks[i], false);
        if (!r->fallbacks[i])
            return false;
        r->fallback_count++;
    }
    return true;
}

/* After a step, under the lock: the model that is asked next. */
static void switch_model(PtcAgentRun *r)
{
    int64_t fallback = r->step.now.fallback;
    if (fallback > 0)
        r->model = r->fallbacks[fallback - 1];
}

/* The first of these: the model that was given, the definition's, the tool's, the parent's.  False: a model was named
 * that is not available. */
static bool find_run_model(PtcAgentRun *r)
{
    const PtcAgentDef *def = r->def;
    const PtcAgentTool *tool = r->tool;
    r->model = r->options.model;
    if (r->model)
        return true;
    if (def->llm_script.bytes || def->llm.bytes) {
        PtcModelChoice choice = {def->llm, def->llm_script};
        r->model = open_run_model(r, "llm", choice, false);
        return r->model && open_fallbacks(r);
    }
    if (tool && (tool->script.bytes || tool->model.bytes)) {
        PtcModelChoice choice = {tool->model, tool->script};
        r->model = open_run_model(r, "llm", choice, !tool->owner);
        return r->model != NULL;
    }
    r->model = r->parent ? r->parent->model : NULL;
    return true;
}

/* ------------------------------------------------------------------------------- prompts */

/* The tasks that are done; absent: none. */
static PtcText first_log(PtcAgentRun *r)
{
    PtcBuf log;
    if (!r->def->journaling)
        return (PtcText){NULL, 0};
    ptc_buf_init(&log, &r->bench.mem, PTC_BENCH_BYTES / 4);
    ptc_work_journal_log(r->work, &log);
    PtcText text = ptc_bench_take(&r->bench, &log);
    return text.len ? text : (PtcText){NULL, 0};
}

static PtcText about_servers(const PtcAgentRun *r)
{
    const PtcTreeServers *servers = r->tree->host.servers;
    return servers ? servers->about : (PtcText){NULL, 0};
}

static bool make_prompts(PtcAgentRun *r, PtcOpening *opening)
{
    PtcPrompt prompt;
    opening->journal_log = first_log(r);
    PtcPromptInput in = {.context = r->work->context,
                         .descriptions = r->options.descriptions,
                         .journal_log = opening->journal_log,
                         .message = r->options.message,
                         .servers = about_servers(r)};
    if (!ptc_prompt_make(&r->bench, r->def, &in, &prompt, &r->fault))
        return false;
    opening->system = r->system = prompt.system;
    opening->mission = r->mission = prompt.user;
    opening->earlier = r->options.messages;
    opening->earlier_count = r->options.message_count;
    r->missing = prompt.missing;
    return true;
}

static bool open_work(PtcAgentRun *r)
{
    r->work = r->options.work;
    if (r->work)
        return true;
    r->work = &r->own;
    r->work_open = true;
    r->options.input.servers = r->tree->host.servers != NULL;
    return ptc_work_open(&r->own, r->def, &r->options.input, &r->fault);
}

static void init_step(PtcAgentRun *r)
{
    PtcStepOptions o = ptc_step_options(r->def);
    o.token_limit = r->options.token_limit;
    o.return_partial = r->options.return_partial;
    o.depth = r->depth;
    o.max_depth = r->max_depth;
    o.has_model = r->model != NULL;
    o.fallbacks = (int64_t)r->fallback_count;
    if (r->options.retry)
        o.retry = *r->options.retry;
    int64_t attempts = r->options.retry ? o.retry.max_attempts : r->def->retry.max_attempts;
    o.retry.max_attempts = attempts > 0 ? attempts : r->model && r->model->network ? 3 : 1;
    ptc_step_init(&r->step, r->def, &o);
}

static bool prepare_agent_run(PtcAgentRun *r, PtcOpening *opening)
{
    r->invalid = !find_run_model(r);
    init_step(r);
    r->invalid = r->invalid ||
                 !ptc_messages_check(r->options.messages, r->options.message_count, &r->fault) ||
                 !open_work(r) || !make_prompts(r, opening);
    return !r->invalid;
}

/* --------------------------------------------------------------------------------- steps */

static PtcProgress progress(const PtcAgentRun *r, PtcProgressKind kind)
{
    return (PtcProgress){.kind = kind,
                         .run = r->number,
                         .parent = r->parent ? r->parent->number : 0,
                         .agent = ptc_text_cstr(r->path),
                         .turn = (int64_t)r->step.now.turn_count + 1,
                         .attempt = r->step.now.attempts,
                         .what = r};
}

static bool says_stop(const PtcAgentRun *r)
{
    const PtcTreeHost *host = &r->tree->host;
    int64_t most = r->options.stop_after_requests;
    if (most >= 0 && r->step.now.requests >= most)
        return true;
    return host->stop && host->stop(host->stop_user, r->tree->sums.requests, &r->tree->sums.tokens);
}

static PtcFacts facts(const PtcAgentRun *r)
{
    return (PtcFacts){.now_ns = ptc_clock_ns(NULL),
                      .deadline_ns = r->deadline_ns,
                      .hurried = r->hurried,
                      .budget = r->free_of_budget ? INT64_MAX : r->tree->budget,
                      .tree_tokens = ptc_tree_tokens(r->tree),
                      .stop = says_stop(r)};
}

/* Gives back a turn that was not used; claims one for a request. */
static void account(PtcAgentRun *r, const PtcAction *a)
{
    PtcAgentTree *t = r->tree;
    if (a->turn_back && !r->free_of_budget)
        t->budget++;
    if (a->turn_back)
        t->sums.turns--;
    if (a->kind != PTC_ACTION_ASK)
        return;
    t->sums.turns++;
    r->request = ++t->sums.requests;
    if (!r->free_of_budget)
        t->budget--;
    if (r->step.now.attempts == 1)
        r->turn_began_ns = ptc_clock_ns(NULL);
    PtcProgress p = progress(r, PTC_PROGRESS_ASKED);
    p.request = &a->request;
    ptc_tree_tell(t, p);
}

static void tell_turn(PtcAgentRun *r)
{
    PtcProgress p = progress(r, PTC_PROGRESS_TURN_ENDED);
    p.ended = &r->step.now.turns[--p.turn - 1];
    p.duration_ns = ptc_clock_ns(NULL) - r->turn_began_ns;
    ptc_tree_tell(r->tree, p);
}

/* Tells the step what happened; under the lock. */
static PtcAction step_locked(PtcAgentRun *r, PtcEvent *e)
{
    e->facts = facts(r);
    if (ptc_cancelled(r->options.cancel))
        *e = (PtcEvent){.kind = PTC_EVENT_CANCEL, .facts = e->facts};
    size_t turns = r->step.now.turn_count;
    PtcAction action = ptc_step(&r->step, e);
    switch_model(r);
    if (r->step.now.turn_count > turns)
        tell_turn(r);
    account(r, &action);
    return action;
}

static PtcAction step_agent_run(PtcAgentRun *r, PtcEvent e)
{
    pthread_mutex_lock(&r->tree->lock);
    PtcAction action = step_locked(r, &e);
    pthread_mutex_unlock(&r->tree->lock);
    return action;
}

bool ptc_agent_run_prepare(PtcAgentRun *r, PtcLlmRequest *request)
{
    PtcOpening opening;
    if (!prepare_agent_run(r, &opening))
        return false;
    r->step.options.has_model = true;
    PtcEvent e = {.kind = PTC_EVENT_START, .opening = opening};
    e.facts = facts(r);
    PtcAction action = ptc_step(&r->step, &e);
    if (action.kind != PTC_ACTION_ASK)
        return false;
    *request = action.request;
    return true;
}

/* ------------------------------------------------------------------------------- asking */

static void ask_model(PtcAgentRun *r, PtcLlmRequest *request, PtcArena *arena, PtcLlmReply *reply)
{
    *reply = (PtcLlmReply){.status = PTC_LLM_CONFIG_ERROR, .retry_after_ms = -1};
    if (r->request > PTC_TREE_REQUESTS) {
        reply->error = PTC_TEXT("this run and the agents it started have sent 1000 requests, which "
                                "is the most that one run may send");
        return;
    }
    request->cancel = r->options.cancel;
    request->timeout_ms =
        r->tree->llm_timeout_ms ? r->tree->llm_timeout_ms : r->def->llm_timeout_ms;
    request->agent = ptc_text_cstr(r->path);
    if (r->options.stream && r->tree->host.stream) {
        request->stream = r->tree->host.stream;
        request->stream_user = r->tree->host.stream_user;
    }
    r->model->ask(r->model, request, arena, reply);
}

static PtcEvent event_of(const PtcLlmReply *reply, const PtcHeard *heard)
{
    if (reply->status == PTC_LLM_OK)
        return (PtcEvent){.kind = PTC_EVENT_REPLY, .reply = {heard, reply->tokens, reply->opaque}};
    return (PtcEvent){.kind = PTC_EVENT_FAILED,
                      .failed = {.status = reply->status,
                                 .error = reply->error,
                                 .retry_after_ms = reply->retry_after_ms,
                                 .streamed = reply->streamed,
                                 .tokens = reply->tokens}};
}

/* The reply's tokens are counted for the whole tree before any other agent's next step. */
static PtcAction take_reply(PtcAgentRun *r, const PtcLlmReply *reply, PtcEvent *e, int64_t begun)
{
    PtcAgentTree *t = r->tree;
    PtcProgress p = progress(r, PTC_PROGRESS_ANSWERED);
    p.reply = reply;
    p.duration_ns = ptc_clock_ns(NULL) - begun;
    pthread_mutex_lock(&t->lock);
    ptc_tree_add_tokens(t, &reply->tokens);
    t->sums.errors += reply->status != PTC_LLM_OK;
    ptc_tree_tell(t, p);
    PtcAction action = step_locked(r, e);
    pthread_mutex_unlock(&t->lock);
    return action;
}

static PtcAction ask_run_model(PtcAgentRun *r, PtcLlmRequest request)
{
    PtcBench bench;
    PtcLlmReply reply;
    PtcHeard heard;
    int64_t begun = ptc_clock_ns(NULL);
    ptc_work_rest(r->work);
    ptc_bench_init(&bench);
    ask_model(r, &request, &bench.arena, &reply);
    reply.tokens.cost = ptc_model_price_cost(&r->model->price, &reply.tokens);
    if (reply.status == PTC_LLM_OK)
        ptc_hear(&bench, r->def, &reply, &heard);
    PtcEvent e = event_of(&reply, &heard);
    PtcAction action = take_reply(r, &reply, &e, begun);
    ptc_bench_deinit(&bench);
    return action;
}

/* ------------------------------------------------------------------- programs and calls */

static PtcWorkLimits work_limits(PtcAgentRun *r)
{
    return (PtcWorkLimits){.cancel = r->options.cancel, .end_ns = r->deadline_ns, .host = r};
}

static void tell_run_progress(PtcAgentRun *r, PtcProgress p)
{
    pthread_mutex_lock(&r->tree->lock);
    ptc_tree_tell(r->tree, p);
    pthread_mutex_unlock(&r->tree->lock);
}

/* Did the program stop for a question that has been answered now? */
static bool runs_again(PtcAgentRun *r, PtcWorkLimits *limits)
{
    const PtcTreeServers *servers = r->tree->host.servers;
    const PtcOutcome *o = r->work->outcome;
    int64_t waited = 0;
    if (!servers || !o || o->ok || o->errors[0].kind != PTC_E_SUSPENDED)
        return false;
    bool again = servers->suspended(servers->user, r->work->ptc->remote, &waited);
    pthread_mutex_lock(&r->tree->lock);
    r->tree->deadline_ns += waited;
    r->deadline_ns += waited;
    pthread_mutex_unlock(&r->tree->lock);
    limits->end_ns = r->deadline_ns;
    if (!again)
        (void)!ptc_work_give_up(r->work); /* without memory the next program cannot run either */
    return again;
}

/* Runs the program, and again after each question that was answered.  `call_log` gets its calls of other servers. */
static void run_work(PtcAgentRun *r, const PtcAction *a, PtcRan *ran, PtcBuf *call_log)
{
    const PtcTreeServers *servers = r->tree->host.servers;
    PtcWorkLimits limits = work_limits(r);
    *ran = (PtcRan){.end = PTC_RAN_NO_MEMORY};
    if (servers) {
        limits.now_ms = ptc_clock_wall_ms();
        if (!(r->work->ptc->remote = servers->begin(servers->user, r)))
            return;
    }
    do {
        ptc_work_run(r->work, a, &limits, ran);
    } while (runs_again(r, &limits));
    if (servers && !servers->end(servers->user, r->work->ptc->remote, call_log))
        atomic_store(&r->unsafe, true);
    r->work->ptc->remote = NULL;
}

static void run_alone(PtcAgentRun *r, const PtcAction *a, PtcRan *ran)
{
    PtcBuf call_log;
    int64_t begun = ptc_clock_ns(NULL);
    PtcProgress p = progress(r, PTC_PROGRESS_PROGRAM_BEGAN);
    p.program = a->run.program;
    tell_run_progress(r, p);
    ptc_buf_init(&call_log, &r->work->mem, AGENT_CALL_LOG_BYTES);
    run_work(r, a, ran, &call_log);
    p = progress(r, PTC_PROGRESS_PROGRAM_ENDED);
    p.ran = ran;
    p.outcome = r->work->outcome;
    p.upstream_calls = ptc_buf_view(&call_log);
    p.duration_ns = ptc_clock_ns(NULL) - begun;
    tell_run_progress(r, p);
    ptc_buf_deinit(&call_log);
}

static PtcAction run_turn_program(PtcAgentRun *r, const PtcAction *a)
{
    PtcEvent e = {.kind = PTC_EVENT_RAN};
    run_alone(r, a, &e.ran);
    return step_agent_run(r, e);
}

static PtcAction call_tools(PtcAgentRun *r, const PtcAction *a)
{
    PtcBench bench;
    PtcWorkLimits limits = work_limits(r);
    int64_t begun = ptc_clock_ns(NULL);
    ptc_bench_init(&bench);
    PtcProgress p = progress(r, PTC_PROGRESS_CALLING);
    p.orders = a->call.calls;
    p.call_count = a->call.count;
    tell_run_progress(r, p);
    PtcCallResult *results = ptc_arena_zalloc(&bench.arena, (a->call.count + 1) * sizeof *results);
    if (!results || !ptc_work_call(r->work, a->call.calls, a->call.count, &limits, results)) {
        ptc_bench_deinit(&bench);
        return step_agent_run(r, (PtcEvent){.kind = PTC_EVENT_CALLED});
    }
    p.kind = PTC_PROGRESS_CALLED;
    p.results = results;
    p.duration_ns = ptc_clock_ns(NULL) - begun;
    tell_run_progress(r, p);
    PtcAction next =
        step_agent_run(r, (PtcEvent){.kind = PTC_EVENT_CALLED, .called = {results, a->call.count}});
    ptc_bench_deinit(&bench);
    return next;
}

/* --------------------------------------------------------------------------------- loop */

/* A run that must stop waiting is told so by its next step.  A wait is not a request, so the limit of a request does
 * not apply. */
static void wait_between_requests(const PtcAgentRun *r, int64_t ms)
{
    PtcLlmRequest request = {
        .cancel = r->options.cancel, .deadline_ns = r->deadline_ns, .timeout_ms = INT64_MAX};
    (void)!ptc_waiting_sleep(&request, ms);
}

static PtcAction perform(PtcAgentRun *r, const PtcAction *a)
{
    switch (a->kind) {
    case PTC_ACTION_ASK: return ask_run_model(r, a->request);
    case PTC_ACTION_RUN: return run_turn_program(r, a);
    case PTC_ACTION_CALL: return call_tools(r, a);
    case PTC_ACTION_WAIT:
        wait_between_requests(r, a->wait_ms);
        return step_agent_run(r, (PtcEvent){.kind = PTC_EVENT_WAITED});
    case PTC_ACTION_FINISH: break;
    }
    return *a;
}

static void count_tools(PtcAgentRun *r)
{
    const PtcTools *tools = r->def->tools;
    for (size_t i = 0; r->work && r->work->tally && tools && i < tools->count; i++) {
        const PtcToolInfo *info = &tools->items[i].info;
        uint64_t times = atomic_load(&r->work->tally[i].started);
        if (times)
            ptc_tree_count_tool(r->tree, (PtcText){info->name, info->name_len}, times);
    }
}

static void take_turns(PtcAgentRun *r)
{
    PtcOpening opening;
    if (!prepare_agent_run(r, &opening))
        return;
    PtcAction a = step_agent_run(r, (PtcEvent){.kind = PTC_EVENT_START, .opening = opening});
    while (a.kind != PTC_ACTION_FINISH)
        a = perform(r, &a);
}

/* Without a turn: nobody is asked for the program, which its tools may still do. */
static void run_compiled(PtcAgentRun *r)
{
    PtcRan ran;
    r->invalid = !find_run_model(r);
    init_step(r);
    r->invalid = r->invalid || !open_work(r);
    if (r->invalid)
        return;
    PtcAction a = ptc_compile_action(r, r->def->program);
    run_alone(r, &a, &ran);
    r->step.now.verdict = ptc_compile_verdict(&ran);
}

void ptc_agent_run_go(PtcAgentRun *r)
{
    PtcAgentTree *t = r->tree;
    pthread_mutex_lock(&t->lock);
    r->number = ++t->runs;
    ptc_tree_tell(t, progress(r, PTC_PROGRESS_RUN_BEGAN));
    pthread_mutex_unlock(&t->lock);
    if (r->def->program.bytes)
        run_compiled(r);
    else
        take_turns(r);
    r->ended_ns = ptc_clock_ns(NULL);
    pthread_mutex_lock(&t->lock);
    count_tools(r);
    PtcProgress p = progress(r, PTC_PROGRESS_RUN_ENDED);
    p.duration_ns = r->ended_ns - r->began_ns;
    ptc_tree_tell(t, p);
    pthread_mutex_unlock(&t->lock);
}
