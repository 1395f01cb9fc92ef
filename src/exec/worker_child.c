/* SPDX-License-Identifier: MIT
 * A worker process: reads tasks from descriptor 0, runs them, sends what programs ask the server and answers
 * (worker_talk.h).
 *
 * All threads are started before the first task; after that the sandbox allows no more.  The first thread runs
 * programs. */
#define _GNU_SOURCE
#include "exec/worker.h"

#include <stdio.h>

#include "engine/engine.h"
#include "engine/outcome.h"
#include "exec/sandbox.h"
#include "exec/worker_talk.h"
#include "tool/learn.h"
#include "tool/source.h"
#include "tool/wire/answer.h"

enum { CHILD_KEPT = 64 * PTC_KB, CHILD_ARGUMENTS_BYTES = PTC_FRAME_MAX / 2 };

/* What the function of a tool of the server gets as `user`. */
typedef struct ServerTool {
    PtcWorker *worker;
    uint32_t number;
} ServerTool;

struct PtcWorker {
    PtcRemote remote; /* first: other servers, which this server asks for us */
    PtcRemoteRun remote_run;
    PtcMem mem;
    Ptc *ptc;
    PtcTools *tools;
    PtcShared *data; /* or NULL */
    PtcWorkerHook hook;
    PtcBuf inbox; /* payload of the RUN being worked on */
    PtcTalk talk;
};

/* ------------------------------------------------------------------------------- tools */

/* The function of every tool of the server.  Without an answer in time it returns without one, and the caller says
 * why. */
static PtcToolAnswer ask_parent_for_tool(PtcToolCall *call, void *user)
{
    const ServerTool *tool = user;
    PtcTalk *talk = &tool->worker->talk;
    PtcTalkWait wait;
    const char *json = ptc_answer_args_json(call);
    if (!json || call->json.len > CHILD_ARGUMENTS_BYTES) {
        ptc_answer_fail(call, PTC_TEXT("its arguments are too large"));
        return PTC_TOOL_ANSWERED;
    }
    ptc_talk_ask(talk, &wait, PTC_FRAME_CALL, &tool->number, 1, ptc_buf_view(&call->json));
    if (ptc_talk_wait(talk, &wait, call->budget, call->end_ns)) {
        if (wait.ok)
            ptc_answer_json(call, ptc_buf_view(&wait.answer));
        else
            ptc_answer_fail(call, ptc_buf_view(&wait.answer));
    }
    ptc_talk_done(talk, &wait);
    return PTC_TOOL_ANSWERED;
}

/* ----------------------------------------------------------------------- other servers */

/* The wait of an ask lives from ask to finish. */
static PtcRemoteStatus ask_parent_for_remote(void *run, PtcRemoteAsk *ask)
{
    PtcWorker *w = run;
    PtcTalkWait *wait = ptc_mem_alloc(&w->mem, sizeof *wait);
    const uint32_t numbers[PTC_FRAME_ASK_NUMBERS] = {(uint32_t)ask->op,
                                                     ask->slot,
                                                     ask->tool,
                                                     (uint32_t)ask->id.path,
                                                     (uint32_t)(ask->id.path >> 32),
                                                     ask->id.count};
    if (!wait)
        return PTC_REMOTE_NO_MEMORY;
    ask->own = wait;
    ptc_talk_ask(&w->talk, wait, PTC_FRAME_ASK, numbers, PTC_FRAME_ASK_NUMBERS, ask->text);
    return PTC_REMOTE_PENDING;
}

static void remote_wait(void *run, PtcRemoteAsk *ask, PtcBudget *budget)
{
    PtcWorker *w = run;
    if (ptc_talk_wait(&w->talk, ask->own, budget, INT64_MAX))
        ask->ready(ask);
}

static void remote_cancel(void *run, PtcRemoteAsk *ask)
{
    (void)run;
    ask->ready(ask);
}

/* Whether something was changed is for the server to know. */
static bool remote_finish(void *run, PtcRemoteAsk *ask, PtcRemoteAnswer *answer)
{
    PtcWorker *w = run;
    PtcTalkWait *wait = ask->own;
    answer->ok = wait->answered && wait->ok;
    answer->may_repeat = true;
    bool told = ptc_buf_add(&answer->text, wait->answer.data, wait->answer.len);
    ptc_talk_done(&w->talk, wait);
    ptc_mem_free(&w->mem, wait, sizeof *wait);
    return told;
}

/* The server answers this at once, so there is no need for a time limit or a cancel. */
static bool remote_knows(PtcRemote *self, PtcText ns, PtcBuf *nearest)
{
    PtcWorker *w = (PtcWorker *)(void *)self;
    PtcTalkWait wait;
    const uint32_t numbers[PTC_FRAME_ASK_NUMBERS] = {PTC_FRAME_KNOWS};
    ptc_talk_ask(&w->talk, &wait, PTC_FRAME_ASK, numbers, PTC_FRAME_ASK_NUMBERS, ns);
    bool known = ptc_talk_wait(&w->talk, &wait, NULL, INT64_MAX) && wait.ok;
    if (!known && nearest)
        ptc_buf_add(nearest, wait.answer.data, wait.answer.len);
    ptc_talk_done(&w->talk, &wait);
    return known;
}

/* ------------------------------------------------------------------------------ running */

static void cancel_worker_run(void *user)
{
    PtcWorker *w = user;
    ptc_engine_cancel(w->ptc);
}

static void send_done(PtcWorker *w, uint64_t id, PtcTaskStatus status, const PtcTaskOut *out)
{
    PtcBuf buf;
    ptc_buf_init(&buf, &w->mem, PTC_FRAME_MAX);
    if (!ptc_frame_put_done(&buf, id, status, out))
        ptc_sandbox_end();
    ptc_talk_send(&w->talk, &buf);
    ptc_buf_deinit(&buf);
}

static PtcTaskStatus run_worker_task(PtcWorker *w, const PtcTaskIn *in, PtcTaskOut *out)
{
    if (w->hook && w->hook(in, out, 0))
        return PTC_TASK_DONE;
    w->remote_run.version = in->remote_version;
    w->remote_run.plan = in->plan;
    w->ptc->remote = in->use_remote ? &w->remote_run : NULL;
    return ptc_task_run(w->ptc, in, in->use_tools ? w->tools : NULL, in->use_data ? w->data : NULL,
                        out);
}

static void run_task(PtcWorker *w)
{
    PtcTaskIn in;
    PtcTaskOut out;
    size_t maxima[PTC_TASK_PARTS];
    uint64_t id = w->talk.task;
    if (!ptc_frame_get_run(w->inbox.data, w->inbox.len, &in, maxima))
        ptc_sandbox_end();
    ptc_task_out_init(&out, &w->mem, 0);
    for (size_t i = 0; i < PTC_TASK_PARTS; i++)
        out.parts[i].max = maxima[i];
    PtcTaskStatus status = run_worker_task(w, &in, &out);
    ptc_talk_over(&w->talk);
    send_done(w, id, status, &out);
    ptc_task_out_deinit(&out);
}

/* The order matters: the filter that forbids threads comes last, when all of them exist. */
_Noreturn void ptc_worker_serve(PtcWorker *w)
{
    PtcWhy why;
    if (!ptc_sandbox_worker(&why) || !ptc_talk_start(&w->talk))
        ptc_sandbox_end();
    ptc_talk_ready(&w->talk);
    /* After READY, because the server can do other things meanwhile.  With fewer threads than wanted, programs still
     * run. */
    (void)!ptc_engine_start_threads(w->ptc);
    if (!ptc_sandbox_threads(&why))
        ptc_sandbox_end();
    for (;;) {
        ptc_talk_next(&w->talk, &w->inbox);
        run_task(w);
        if (w->inbox.cap > CHILD_KEPT) /* an idle worker should not hold on to it */
            ptc_buf_deinit(&w->inbox);
    }
}

/* --------------------------------------------------------------------- before the fork */

PtcWorker *ptc_worker_new(PtcWorkerHook hook)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcWorker *w = ptc_mem_alloc(&mem, sizeof *w);
    if (!w)
        return NULL;
    memset(w, 0, sizeof *w);
    ptc_mem_init(&w->mem, PTC_UNBOUNDED);
    w->hook = hook;
    ptc_buf_init(&w->inbox, &w->mem, PTC_FRAME_MAX);
    ptc_talk_init(&w->talk, &w->mem, cancel_worker_run, w);
    w->remote = (PtcRemote){.ask = ask_parent_for_remote,
                            .finish = remote_finish,
                            .cancel = remote_cancel,
                            .knows = remote_knows};
    w->remote_run = (PtcRemoteRun){.remote = &w->remote, .run = w, .wait = remote_wait};
    return w;
}

static void free_stub(void *user)
{
    ServerTool *remote = user;
    ptc_mem_free(&remote->worker->mem, remote, sizeof *remote);
}

static bool put_worker_tool(PtcWorker *w, const PtcWorkerTool *tool, PtcTool *t, PtcWhy *why)
{
    ptc_tool_init(&t->info, tool->name.bytes, tool->name.len);
    t->info.signature = tool->signature.bytes;
    t->info.signature_len = tool->signature.len;
    t->info.description = tool->description.bytes;
    t->info.description_len = tool->description.len;
    t->info.skip_validation = tool->skip_validation;
    t->info.extra = tool->extra;
    t->info.cache = tool->cache;
    t->info.on_error_value = tool->on_error_value;
    t->info.read_only = tool->read_only;
    t->info.serial = tool->serial;
    t->info.timeout_ms = tool->timeout_ms;
    if (tool->learns)
        ptc_toolset_learn(w->tools, true);
    return ptc_toolset_put(w->tools, t, why);
}

/* The server has already read the same text, so this normally succeeds. */
static bool put_lisp(PtcWorker *w, const PtcWorkerTool *tool, PtcWhy *why)
{
    PtcSource source;
    ptc_source_init(&source, w->tools);
    PtcTool t = {.lisp = ptc_source_read(&source, tool->lisp.bytes, tool->lisp.len, why)};
    ptc_source_deinit(&source);
    return t.lisp != PTC_NONE && put_worker_tool(w, tool, &t, why);
}

static bool put_remote(PtcWorker *w, const PtcWorkerTool *tool, PtcWhy *why)
{
    ServerTool *remote = ptc_mem_alloc(&w->mem, sizeof *remote);
    if (!remote)
        return ptc_why_no_memory(why);
    *remote = (ServerTool){w, (uint32_t)w->tools->count};
    PtcTool t = {
        .function = ask_parent_for_tool, .user = remote, .free_user = free_stub, .lisp = PTC_NONE};
    if (put_worker_tool(w, tool, &t, why))
        return true;
    free_stub(remote);
    return false;
}

bool ptc_worker_add_tool(PtcWorker *w, const PtcWorkerTool *tool, PtcWhy *why)
{
    if (!w->tools)
        w->tools = ptc_toolset_new();
    if (!w->tools)
        return ptc_why_no_memory(why);
    return tool->lisp.bytes ? put_lisp(w, tool, why) : put_remote(w, tool, why);
}

static void measure_loaded_data(const PtcShared *data, const char *name, PtcLoaded *loaded)
{
    const char *found;
    for (size_t i = 0; ptc_shared_item(data, i, &found, &loaded->count, &loaded->bytes); i++)
        if (strcmp(found, name) == 0)
            return;
}

bool ptc_worker_load(PtcWorker *w, const char *name, const char *path, PtcLoaded *loaded,
                     PtcWhy *why)
{
    if (!w->data)
        w->data = ptc_shared_new();
    if (!w->data)
        return ptc_why_no_memory(why);
    if (!ptc_shared_load(w->data, name, path, NULL, why))
        return false;
    measure_loaded_data(w->data, name, loaded);
    ptc_shared_describe(w->data, loaded->about, loaded->about->max);
    return true;
}

/* Runs one program before the fork, so that workers share the pages every run needs. */
static void run_warm_up(Ptc *ptc)
{
    PtcRun run = {.size = sizeof run, .program = "(+ 1 2)", .program_len = 7};
    PtcOutcome *o = NULL;
    if (ptc_engine_run(ptc, &run, &o) == PTC_OK)
        ptc_outcome_drop(o);
}

bool ptc_worker_prepare(PtcWorker *w, PtcLimits *limits, PtcWhy *why)
{
    w->ptc = ptc_engine_with(limits);
    if (!w->ptc)
        return ptc_why_say(why, PTC_WHY_NO_MEMORY, "out of memory, or a limit is out of range");
    run_warm_up(w->ptc);
    *limits = w->ptc->limits;
    return true;
}
