/* SPDX-License-Identifier: MIT
 * One task: an agent asks its model for a program, which calls upstreams.  What always holds: all programs of a task
 * are one run for the upstreams, so that its limits, its log of calls and what it did are those of the whole task; and
 * once something was called that is no read, the model is not asked again. */
#include <stdio.h>

#include "agent/run/agent_run.h"
#include "base/units.h"
#include "base/utf8.h"
#include "cli/mcp/mcp_task.h"
#include "cli/upstreams/upstreams_open.h"
#include "engine/engine.h"
#include "exec/waits.h"
#include "json/emit.h"
#include "json/parse.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum {
    LEAST_MS = 1000,
    TASK_MESSAGE_BYTES = 1 << 20,
    EFFECTS_BYTES = PTC_MB,
    LOAD_PART = 9,
    TASK_SHOWN_BYTES = 2000
};

/* Numbers of programs are spread, since they are mixed with paths (remote.h). */
static const uint64_t NEXT_PROGRAM = 0x9E3779B97F4A7C15;

/* A task being done. */
typedef struct {
    PtcMcpTasks *tasks;
    PtcAppTask *task;
    int64_t left_ms;
    int64_t end_ns; /* of the run */
    PtcWaits waits;
    PtcRemoteWatch watch;
    PtcRemoteRun remote;
    bool touched; /* something was called that is no read */
    PtcBuf mission;
    PtcWork work;
    PtcAgentTree tree;
    PtcAgentRun run;
} Doing;

static void fail_task(PtcAppTask *task, const char *reason, PtcText message)
{
    task->ok = false;
    snprintf(task->reason, sizeof task->reason, "%s", reason);
    ptc_buf_clear(&task->message);
    ptc_buf_add(&task->message, message.bytes, message.len);
}

static void fail_task_memory(PtcAppTask *task)
{
    fail_task(task, "no_memory", PTC_TEXT("the server is out of memory; try again a little later"));
}

/* ------------------------------------------------------------------------------ upstreams */

static void begin_task_wait(void *user, bool may_repeat)
{
    ptc_waits_begin(user, may_repeat);
}

static void end_task_wait(void *user, bool harmless)
{
    if (harmless)
        ptc_waits_harmless(user);
    ptc_waits_end(user);
}

static PtcRemoteMode mode_of(const Doing *d)
{
    if (!d->tasks->o->allow_writes)
        return PTC_REMOTE_ONLY_READS;
    return d->task->ask ? PTC_REMOTE_ASKS : PTC_REMOTE_REFUSES;
}

static bool begin_task_calls(Doing *d)
{
    PtcRemote *remote = ptc_mcp_upstreams_remote(d->tasks->upstreams);
    d->end_ns = ptc_clock_ns(NULL) + d->left_ms * PTC_MS;
    d->watch = (PtcRemoteWatch){begin_task_wait, end_task_wait, &d->waits};
    d->remote = (PtcRemoteRun){.remote = remote, .watch = &d->watch};
    d->remote.run =
        remote->begin(remote, d->task->owner, d->end_ns, d->task->cancel, &d->remote.version);
    if (!d->remote.run)
        return false;
    remote->allow(d->remote.run, mode_of(d));
    if (d->task->ask)
        remote->offer(d->remote.run, d->task->offers);
    remote->trace(d->remote.run, &d->task->trace);
    remote->listen(d->remote.run, d->task->listener);
    return true;
}

/* A model with one turn cannot look around first, so the first task waits a while for upstreams that were never listed.
 * Later ones do not, since a server that hangs would delay them all. */
static void load_task_upstreams(Doing *d)
{
    if (atomic_exchange(&d->tasks->waited, true))
        return;
    PtcManager *manager = ptc_mcp_upstreams_hold(d->tasks->upstreams);
    ptc_upstreams_learn(manager, &d->remote, d->task->cancel, d->left_ms / LOAD_PART);
    ptc_mcp_upstreams_release(d->tasks->upstreams, manager);
}

static void end_task_calls(Doing *d)
{
    PtcBuf *effects = &d->task->effects;
    d->remote.remote->listen(d->remote.run, NULL);
    bool any = d->remote.remote->effects(d->remote.run, effects);
    if (!any && d->task->ok)
        ptc_buf_clear(effects);
    d->remote.remote->end(d->remote.run, &d->task->call_log);
}

/* Was something called that is no read, whatever came of it?  When memory is short, it was. */
static bool has_effects(Doing *d)
{
    static const char *const lists[] = {"ran", "failed", "unknown"};
    PtcBench bench;
    PtcBuf json;
    PtcJsonError error;
    ptc_bench_init(&bench);
    ptc_buf_init(&json, &bench.mem, EFFECTS_BYTES);
    (void)d->remote.remote->effects(d->remote.run, &json);
    PtcValue v =
        ptc_buf_ok(&json) ? ptc_json_parse(&bench.heap, json.data, json.len, &error) : PTC_NONE;
    bool found = v == PTC_NONE || !ptc_is_map(v);
    for (size_t i = 0; !found && i < sizeof lists / sizeof *lists; i++)
        found = ptc_map_field(&bench.heap, v, lists[i]) != PTC_NONE;
    ptc_buf_deinit(&json);
    ptc_bench_deinit(&bench);
    return found;
}

/* --------------------------------------------------------------------------------- the run */

/* While the model thinks, others have the turn of the call. */
static void watch_task_progress(void *user, const PtcProgress *p)
{
    Doing *d = user;
    if (p->kind == PTC_PROGRESS_ASKED)
        ptc_waits_begin(&d->waits, true);
    else if (p->kind == PTC_PROGRESS_ANSWERED)
        ptc_waits_end(&d->waits);
}

static bool has_touched_something(void *user, int64_t requests, const PtcTokens *tokens)
{
    const Doing *d = user;
    (void)requests;
    (void)tokens;
    return d->touched;
}

static const PtcRemoteRun *begin_program(void *user, const PtcAgentRun *run)
{
    Doing *d = user;
    (void)run;
    d->remote.program += NEXT_PROGRAM;
    return &d->remote;
}

/* The calls are those of the task, whose answer and records have them. */
static bool end_program(void *user, const PtcRemoteRun *remote, PtcBuf *call_log)
{
    Doing *d = user;
    (void)remote;
    (void)call_log;
    d->touched = d->touched || has_effects(d);
    return !d->touched;
}

/* Calls of the program wait for a person, who has as much time as the question: none of it is the task's. */
static bool ask_person(void *user, const PtcRemoteRun *remote, int64_t *waited_ns)
{
    Doing *d = user;
    PtcRemoteRun *far = &d->remote;
    int64_t begun = ptc_clock_ns(NULL);
    (void)remote;
    if (!d->task->ask || far->remote->waiting(far->run, NULL) == 0)
        return false;
    bool answered = d->task->ask(d->task, far->run);
    *waited_ns = ptc_clock_ns(NULL) - begun;
    d->end_ns += *waited_ns;
    if (answered)
        far->remote->again(far->run, d->end_ns, d->task->cancel, &far->version);
    return answered;
}

static void write_mission(Doing *d)
{
    PtcBuf *out = &d->mission;
    ptc_buf_add(out, d->task->task.bytes, d->task->task.len);
    if (d->task->max_items)
        ptc_buf_addf(out, "\n\nA list that is the answer has at most %lld item%s.",
                     (long long)d->task->max_items, d->task->max_items == 1 ? "" : "s");
    ptc_buf_add_cstr(out, "\n\nThe answer is for a person to read: a text, or data where the task "
                          "asks for data.\n\n");
    ptc_mcp_tasks_about(d->tasks, out);
}

static PtcAgentOptions options_of_task(Doing *d)
{
    PtcAgentOptions options = ptc_agent_options();
    options.model = &d->tasks->model;
    options.message = ptc_buf_view(&d->mission);
    options.work = &d->work;
    options.cancel = d->task->cancel;
    return options;
}

/* --------------------------------------------------------------------------- what it gave */

static void warn_of_task(PtcAppTask *task, const char *kind, const char *format, long long n)
{
    char text[200];
    PtcBuf *out = &task->warnings;
    snprintf(text, sizeof text, format, n);
    if (out->len)
        out->len--; /* the bracket that ended it */
    else
        ptc_buf_add_char(out, '[');
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "kind", kind);
    ptc_emit_field_cstr(out, "message", text);
    ptc_emit_object_end(out);
    ptc_buf_add_char(out, ']');
}

static void take_answer_text(Doing *d, PtcText text)
{
    PtcAppTask *task = d->task;
    size_t most = (size_t)d->tasks->o->answer_bytes;
    if (text.len > most) {
        warn_of_task(task, "answer_truncated", "the answer is cut; it has %lld bytes",
                     (long long)text.len);
        text.len = ptc_utf8_valid_prefix(text.bytes, most);
    }
    ptc_buf_add(&task->answer, text.bytes, text.len);
}

static void check_answer_items(PtcAppTask *task, PtcValue v)
{
    if (task->max_items && v != PTC_NONE && ptc_is_sequential(v) &&
        ptc_seq_count(v) > (size_t)task->max_items)
        warn_of_task(task, "max_items_exceeded", "the answer has %lld items",
                     (long long)ptc_seq_count(v));
}

/* A text is the answer as it is; other values are shown as JSON and told as data too, unless they are too large. */
static void take_task_answer(Doing *d, PtcText json)
{
    PtcAppTask *task = d->task;
    PtcJsonError error;
    PtcBench bench;
    ptc_bench_init(&bench);
    PtcValue v = ptc_json_parse(&bench.heap, json.bytes, json.len, &error);
    task->ok = true;
    check_answer_items(task, v);
    if (v != PTC_NONE && ptc_is_string(v)) {
        take_answer_text(d, ptc_str_text(v));
    } else {
        take_answer_text(d, json);
        if (json.len <= (size_t)d->tasks->o->answer_bytes)
            ptc_buf_add(&task->result, json.bytes, json.len);
        else
            warn_of_task(task, "result_left_out", "structured_result would have %lld bytes",
                         (long long)json.len);
    }
    ptc_bench_deinit(&bench);
}

/* Was it stopped because another program might do again what this one did? */
static bool is_left_half_done(const Doing *d, const PtcVerdict *v)
{
    return d->touched && v->reason == PTC_FAULT_BUDGET_CALLBACK;
}

/* The words of agents, except where the options have their own. */
static const char *task_failure_reason(const Doing *d, const PtcVerdict *v)
{
    if (is_left_half_done(d, v))
        return "partial_side_effects";
    if (v->reason == PTC_FAULT_MISSION_TIMEOUT)
        return "task_timeout";
    bool slow = v->reason == PTC_FAULT_LLM_ERROR && v->status == PTC_LLM_TIMEOUT;
    return slow ? "planner_timeout" : ptc_agent_fault_word(v->reason);
}

static void take_task_failure(Doing *d, const PtcStepNow *now)
{
    const PtcVerdict *v = &now->verdict;
    const PtcTurn *last = now->turn_count ? &now->turns[now->turn_count - 1] : NULL;
    const char *reason = task_failure_reason(d, v);
    PtcBuf *out = &d->task->message;
    if (is_left_half_done(d, v))
        fail_task(
            d->task, reason,
            PTC_TEXT(
                "the program called something that is not a read and gave no answer; the model is "
                "not asked again, since another program might do the same twice"));
    else
        fail_task(d->task, reason, v->message);
    if (last && !last->ok && last->message.bytes && v->reason != PTC_FAULT_FAILED)
        ptc_buf_addf(out, "; last program: %s: %.*s", ptc_turn_word(last),
                     PTC_ARG(ptc_text_cut(last->message, TASK_SHOWN_BYTES)));
}

static void take_task_program(Doing *d, const PtcStepNow *now)
{
    PtcText program = now->turn.program;
    for (size_t i = 0; i < now->turn_count; i++)
        if (now->turns[i].program.bytes)
            program = now->turns[i].program;
    ptc_buf_add(&d->task->program, program.bytes, program.len);
    d->task->show_program = !d->tasks->o->hide_program;
}

static void take_planner(Doing *d, const PtcStepNow *now)
{
    PtcBuf *out = &d->task->planner;
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "model", d->tasks->inner->name);
    ptc_emit_field_uint(out, "turns", now->turn_count);
    ptc_emit_field_int(out, "requests", now->requests);
    ptc_emit_field_int(out, "duration_ms", (d->run.ended_ns - d->run.began_ns) / PTC_MS);
    if (now->tokens.reported) {
        ptc_emit_field_int(out, "input_tokens", now->tokens.input);
        ptc_emit_field_int(out, "output_tokens", now->tokens.output);
    }
    ptc_emit_object_end(out);
}

static void take_task_outcome(Doing *d)
{
    const PtcStepNow *now = &d->run.step.now;
    if (d->run.invalid) {
        fail_task(d->task, ptc_agent_fault_word(ptc_fault_reason(&d->run.fault)),
                  ptc_text_cstr(d->run.fault.text));
        return;
    }
    if (now->verdict.ok)
        take_task_answer(d, now->verdict.value);
    else
        take_task_failure(d, now);
    take_task_program(d, now);
    take_planner(d, now);
}

/* ------------------------------------------------------------------------------- the task */

static void run_agent(Doing *d)
{
    const PtcAgentDef *def = d->tasks->def;
    PtcTreeServers servers = {
        .begin = begin_program, .suspended = ask_person, .end = end_program, .user = d};
    PtcTreeHost host = {.progress = watch_task_progress,
                        .progress_user = d,
                        .stop = has_touched_something,
                        .stop_user = d,
                        .servers = &servers};
    PtcAgentOptions options = options_of_task(d);
    if (!ptc_tree_init(&d->tree, &host, def->turn_budget, d->left_ms)) {
        fail_task_memory(d->task);
        return;
    }
    d->tree.llm_timeout_ms = d->tasks->o->planner_ms;
    ptc_agent_run_begin(&d->run, &d->tree, def, &options);
    ptc_agent_run_go(&d->run);
    take_task_outcome(d);
    ptc_agent_run_end(&d->run);
    ptc_tree_deinit(&d->tree);
}

static void run_with_work(Doing *d)
{
    d->work.ptc->limits.deadline_ms = d->left_ms;
    ptc_waits_init(&d->waits, d->task->turn, NULL);
    if (begin_task_calls(d)) {
        load_task_upstreams(d);
        write_mission(d);
        if (ptc_buf_ok(&d->mission))
            run_agent(d);
        else
            fail_task_memory(d->task);
        (void)ptc_waits_close(&d->waits);
        end_task_calls(d);
    } else {
        fail_task_memory(d->task);
    }
    ptc_waits_deinit(&d->waits);
}

static void run_task_agent(Doing *d)
{
    PtcWhy fault;
    PtcWorkInput input = {.context = d->task->context};
    int64_t most =
        d->tasks->o->timeout_ms > d->task->may_ms ? d->tasks->o->timeout_ms : d->task->may_ms;
    int64_t left = most - d->task->waited_ms;
    d->left_ms = left > LEAST_MS ? left : LEAST_MS;
    ptc_buf_init(&d->mission, d->tasks->mem, TASK_MESSAGE_BYTES);
    if (ptc_work_open(&d->work, d->tasks->def, &input, &fault))
        run_with_work(d);
    else
        fail_task(d->task, ptc_agent_fault_word(ptc_fault_reason(&fault)),
                  ptc_text_cstr(fault.text));
    ptc_work_close(&d->work);
    ptc_buf_deinit(&d->mission);
}

void ptc_mcp_task_run(void *user, PtcAppTask *task)
{
    PtcMcpTasks *t = user;
    Doing *d = ptc_mem_alloc(t->mem, sizeof *d);
    if (!d) {
        fail_task_memory(task);
        return;
    }
    memset(d, 0, sizeof *d);
    d->tasks = t;
    d->task = task;
    run_task_agent(d);
    ptc_mem_free(t->mem, d, sizeof *d);
}
