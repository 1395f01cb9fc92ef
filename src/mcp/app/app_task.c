/* SPDX-License-Identifier: MIT
 * lisp_task: a task in plain words, which a model of this server does by writing a program.  Who asks the model is not
 * known here: the configuration has a function for it.  What always holds: an answer says what the program was and what
 * it did in other servers, whether it succeeded or not. */
#include "base/units.h"
#include "mcp/app/app_int.h"

#include <stdio.h>

#include "base/utf8.h"
#include "trace/call_log.h"
#include "value/coll/map.h"
#include "value/str.h"

enum {
    KIB = 1 << 10,
    TASK_BYTES = 64 * KIB,
    TASK_TEXT_BYTES = 4 * KIB * KIB,
    MOST_ITEMS = PTC_MILLION,
};

/* ---------------------------------------------------------------------------------- the row */

static const char *const raw_args[] = {"context", NULL};

#define TASK_LIST \
    "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"additionalProperties\":true}}"
#define TASK_OBJECT "{\"type\":\"object\",\"additionalProperties\":true}"
#define TASK_TEXT "{\"type\":\"string\"}"
#define ARGS                                                                                 \
    "\"task\":{\"type\":\"string\",\"description\":\"what to do, in plain words\"},"         \
    "\"context\":{\"type\":\"object\",\"description\":\"values for it\","                    \
    "\"additionalProperties\":true},\"constraints\":{\"type\":\"object\",\"properties\":{"   \
    "\"max_items\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000000,\"description\":" \
    "\"of a list that is the answer\"}},\"additionalProperties\":false}"

/* `task` is not required: `resume` may take its place. */
static const char asking_schema[] =
    "{\"type\":\"object\",\"properties\":{" ARGS
    ",\"resume\":{\"type\":\"string\",\"description\":\"token of an answer that said suspended; "
    "alone\"}},\"additionalProperties\":false}";

static const PtcMcpTool task_row = {
    .name = "lisp_task",
    .title = "Do a task with other servers",
    .input_schema = "{\"type\":\"object\",\"properties\":{" ARGS "},\"required\":[\"task\"],"
                    "\"additionalProperties\":false}",
    .output_schema =
        "{\"type\":\"object\",\"properties\":{\"status\":" TASK_TEXT ",\"answer\":" TASK_TEXT
        ",\"program\":" TASK_TEXT ",\"upstream_calls\":" TASK_LIST ",\"effects\":" TASK_OBJECT
        ",\"planner\":" TASK_OBJECT ",\"warnings\":" TASK_LIST
        "},\"required\":[\"status\",\"answer\",\"upstream_calls\",\"planner\"]}",
    .raw = raw_args,
    .handler = ptc_app_task,
    .task = PTC_MCP_TASK_MAY,
};

void ptc_app_describe_task(const PtcApp *app, PtcBuf *out)
{
    const PtcAppTasks *tasks = &app->config.tasks;
    ptc_buf_add_cstr(
        out, "Does a task given in plain words: a model of this server writes a program that "
             "calls the tools below, and only its answer comes back. To write the program "
             "yourself, use lisp_eval.\n");
    tasks->about(tasks->user, out);
    while (out->len && out->data[out->len - 1] == '\n')
        out->len--;
}

bool ptc_app_task_row(PtcApp *app, PtcMcpTool *row)
{
    *row = task_row;
    ptc_app_describe_task(app, &app->task_description);
    row->description = ptc_buf_text(&app->task_description);
    if (app->config.tasks.changes)
        row->input_schema = asking_schema;
    else
        row->flags = PTC_MCP_READ_ONLY | PTC_MCP_NOT_DESTRUCTIVE;
    return row->description != NULL;
}

/* -------------------------------------------------------------------------------- arguments */

static bool max_items_arg(PtcJob *job, int64_t *out)
{
    PtcValue v = ptc_mcp_arg(job->call, "constraints");
    v = v != PTC_NONE && ptc_is_map(v) ? ptc_map_field(ptc_mcp_heap(job->call), v, "max_items")
                                       : PTC_NONE;
    if (v == PTC_NONE || v == PTC_NIL)
        return true;
    if (!ptc_is_int(v) || ptc_to_int(v) < 1 || ptc_to_int(v) > MOST_ITEMS)
        return ptc_job_fail(job, "args_error",
                            "`constraints.max_items` must be an integer from 1 to %d", MOST_ITEMS);
    *out = ptc_to_int(v);
    return true;
}

static bool task_arg(PtcJob *job, PtcText *out)
{
    if (!ptc_job_text(job, "task", true, out))
        return false;
    if (ptc_text_is_blank(*out))
        return ptc_job_fail(job, "args_error", "`task` is empty; say what is to be done");
    return out->len <= TASK_BYTES ||
           ptc_job_fail(job, "args_error",
                        "`task` has %zu bytes; %d are allowed; put data into `context`", out->len,
                        TASK_BYTES);
}

/* ----------------------------------------------------------------------------------- answer */

static void put_task_calls(PtcBuf *out, PtcText json)
{
    PtcCallLog call_log;
    ptc_call_log_open(&call_log, out->mem, json);
    if (call_log.calls == PTC_NONE)
        ptc_emit_field_raw(out, "upstream_calls", PTC_TEXT("[]"));
    else
        ptc_call_log_put_calls(&call_log, out);
    ptc_call_log_close(&call_log);
}

/* What both kinds of answers have. */
static void put_rest(PtcAppTask *task, PtcBuf *out)
{
    if (task->program.len && task->show_program)
        ptc_emit_field_text(out, "program", ptc_buf_view(&task->program));
    put_task_calls(out, ptc_buf_view(&task->call_log));
    if (task->effects.len)
        ptc_emit_field_raw(out, "effects", ptc_buf_view(&task->effects));
    ptc_emit_field_raw(out, "planner",
                       task->planner.len ? ptc_buf_view(&task->planner) : PTC_TEXT("{}"));
    if (task->warnings.len)
        ptc_emit_field_raw(out, "warnings", ptc_buf_view(&task->warnings));
}

static void put_task_ok(PtcJob *job, PtcAppTask *task, PtcBuf *out)
{
    ptc_emit_field_cstr(out, "status", "ok");
    ptc_emit_field_text(out, "answer", ptc_buf_view(&task->answer));
    if (task->result.len)
        ptc_emit_field_raw(out, "structured_result", ptc_buf_view(&task->result));
    put_rest(task, out);
    job->answered_bytes = task->answer.len;
}

static void put_task_failure(PtcJob *job, PtcAppTask *task, PtcBuf *out)
{
    job->failed = true;
    snprintf(job->reason, sizeof job->reason, "%.23s", task->reason);
    ptc_buf_add(&job->message, task->message.data, task->message.len);
    ptc_emit_field_cstr(out, "status", "error");
    ptc_emit_field_cstr(out, "reason", task->reason);
    ptc_emit_field_text(out, "message", ptc_buf_view(&task->message));
    put_rest(task, out);
}

void ptc_job_tell(PtcJob *job, const PtcBuf *json, bool ok)
{
    if (ok)
        ptc_job_json(job, json);
    else if (ptc_buf_ok(json))
        ptc_mcp_fail(job->call, json->data, json->len);
    else
        ptc_mcp_failf(job->call, "no_memory: the answer does not fit in memory");
}

/* Whoever sends the same answer to a question again gets the same from us. */
static void keep_task_answer(PtcSuspendedRow *row, const PtcBuf *json, bool ok)
{
    ptc_buf_clear(&row->told);
    if (!ptc_buf_add(&row->told, json->data, json->len))
        ptc_buf_clear(&row->told);
    row->told_ok = ok;
}

static void answer_task_job(PtcJob *job, PtcAppTask *task)
{
    PtcBuf out;
    ptc_buf_init(&out, ptc_mcp_mem(ptc_mcp_server(job->call)), 4 * TASK_TEXT_BYTES);
    ptc_emit_object(&out);
    if (task->ok)
        put_task_ok(job, task, &out);
    else
        put_task_failure(job, task, &out);
    ptc_emit_object_end(&out);
    if (job->row && ptc_buf_ok(&out))
        keep_task_answer(job->row, &out, task->ok);
    ptc_job_tell(job, &out, task->ok);
    ptc_buf_deinit(&out);
}

/* --------------------------------------------------------------------------------- the call */

static void pause_task_call(void *call)
{
    ptc_mcp_pause(call);
}

static void resume_task_call(void *call)
{
    ptc_mcp_resume(call);
}

static void answer_for(PtcJob *job, PtcAppTask *task)
{
    job->in.program = ptc_buf_view(&task->program);
    job->in.context = task->context;
    ptc_buf_add(&job->out.call_log, task->call_log.data, task->call_log.len);
    ptc_buf_add(&job->out.text, task->answer.data, task->answer.len);
    answer_task_job(job, task);
}

/* Nobody can be asked, so it is done right here. */
static void run_task_here(PtcJob *job, PtcAppTask *task)
{
    const PtcAppTasks *tasks = &job->app->config.tasks;
    PtcTaskTurn turn = {pause_task_call, resume_task_call, job->call};
    PtcProgressCall waiting;
    task->turn = &turn;
    ptc_progress_sender_begin(job->app->sender, &waiting, job->call);
    task->listener = ptc_progress_sender_listener(&waiting);
    tasks->run(tasks->user, task);
    ptc_progress_sender_end(job->app->sender, &waiting);
    answer_for(job, task);
}

static PtcBackgroundState await_asking_task(PtcJob *job)
{
    PtcProgressCall waiting;
    ptc_progress_sender_begin(job->app->sender, &waiting, job->call);
    PtcBackgroundState state = ptc_background_task_await(job->background, job->call,
                                                         ptc_progress_sender_listener(&waiting));
    ptc_progress_sender_end(job->app->sender, &waiting);
    return state;
}

/* From question to question, until it is done or the client has to call again.  `asks`: it has asked, and waits. */
static void drive_asking_task(PtcJob *job, bool asks)
{
    for (; !job->ask_first || ptc_job_ask(job); asks = true) {
        job->ask_first = true;
        if (asks)
            ptc_background_task_go_on(job->background, job->call);
        if (await_asking_task(job) == PTC_BACKGROUND_DONE) {
            job->asking.run = NULL; /* it was the task's, and has ended */
            answer_for(job, &job->background->task);
            return;
        }
        job->asking.run = job->background->run;
        ptc_job_take_effects(job);
    }
}

static void begin_task_job(PtcJob *job, PtcAppTask *task)
{
    const PtcApp *app = job->app;
    bool asks = app->suspended && app->config.tasks.changes &&
                ptc_mcp_can_ask(job->call, "elicitation/create");
    if (!asks) {
        run_task_here(job, task);
        return;
    }
    task->offers = job->offers;
    job->background =
        ptc_background_task_new(&job->app->backgrounds, &app->config.tasks, task, job->call);
    if (job->background)
        drive_asking_task(job, false);
    else
        ptc_job_fail(job, "no_memory", "the server is out of memory; try again a little later");
}

static void do_task(PtcJob *job, PtcAppTask *task)
{
    bool go_on;
    if (ptc_job_resumes(job, &go_on)) {
        if (go_on)
            drive_asking_task(job, true);
    } else if (task_arg(job, &task->task) && ptc_job_object(job, "context", &task->context) &&
               max_items_arg(job, &task->max_items) && ptc_job_roots(job)) {
        begin_task_job(job, task);
    }
}

void ptc_app_task(PtcMcpCall *call)
{
    PtcJob job;
    PtcBuf *list[PTC_BACKGROUND_BUFS];
    const PtcApp *app = ptc_mcp_user(call);
    PtcAppTask task = {.owner = ptc_mcp_owner(call),
                       .waited_ms = ptc_mcp_waited_ms(call),
                       .may_ms = ptc_mcp_may_be_task(call) ? app->config.task_max_ms : 0,
                       .cancel = ptc_mcp_cancel_flag(call),
                       .show_program = true};
    ptc_job_init(&job, call, "lisp_task");
    task.trace = job.trace;
    ptc_background_task_bufs(&task, list);
    for (size_t i = 0; i < PTC_BACKGROUND_BUFS; i++)
        ptc_buf_init(list[i], ptc_mcp_mem(ptc_mcp_server(call)), TASK_TEXT_BYTES);
    do_task(&job, &task);
    ptc_job_done(&job);
    for (size_t i = 0; i < PTC_BACKGROUND_BUFS; i++)
        ptc_buf_deinit(list[i]);
}
