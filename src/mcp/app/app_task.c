/* SPDX-License-Identifier: MIT
 * lisp_task: a task in plain words, which a model of this server does by writing a program.  Who asks the model is not known
 * here: the configuration has a function for it.  What always holds: an answer says what the program was and what it did
 * in other servers, whether it succeeded or not. */
#include "mcp/app/app_int.h"

#include <stdio.h>

#include "base/utf8.h"
#include "trace/ledger.h"
#include "value/map.h"
#include "value/str.h"

enum {
    KIB = 1 << 10,
    TASK_BYTES = 64 * KIB,
    TEXT_BYTES = 4 * KIB * KIB,
    MOST_ITEMS = 1000000,
};

/* ---------------------------------------------------------------------------------- the row */

static const char *const raw_args[] = {"context", NULL};

#define LIST "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"additionalProperties\":true}}"
#define OBJECT "{\"type\":\"object\",\"additionalProperties\":true}"
#define TEXT "{\"type\":\"string\"}"

static const PtcMcpTool task_row = {
    .name = "lisp_task",
    .title = "Do a task with other servers",
    .input_schema =
        "{\"type\":\"object\",\"properties\":{\"task\":{\"type\":\"string\",\"description\":\"what "
        "to do, in plain words\"},\"context\":{\"type\":\"object\",\"description\":\"values for "
        "it\",\"additionalProperties\":true},\"constraints\":{\"type\":\"object\",\"properties\":{"
        "\"max_items\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000000,\"description\":"
        "\"of a list that is the answer\"}},\"additionalProperties\":false}},\"required\":["
        "\"task\"],\"additionalProperties\":false}",
    .output_schema = "{\"type\":\"object\",\"properties\":{\"status\":" TEXT ",\"answer\":" TEXT
                     ",\"program\":" TEXT ",\"upstream_calls\":" LIST ",\"effects\":" OBJECT
                     ",\"planner\":" OBJECT ",\"warnings\":" LIST
                     "},\"required\":[\"status\",\"answer\",\"upstream_calls\",\"planner\"]}",
    .raw = raw_args,
    .handler = ptc_app_task,
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
    if (!app->config.tasks.changes)
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
    size_t blank = 0;
    while (blank < out->len && strchr(" \t\r\n", out->bytes[blank]) && out->bytes[blank])
        blank++;
    if (blank == out->len)
        return ptc_job_fail(job, "args_error", "`task` is empty; say what is to be done");
    return out->len <= TASK_BYTES ||
           ptc_job_fail(job, "args_error",
                        "`task` has %zu bytes; %d are allowed; put data into `context`", out->len,
                        TASK_BYTES);
}

/* ----------------------------------------------------------------------------------- answer */

static void put_calls(PtcBuf *out, PtcText json)
{
    PtcLedger ledger;
    ptc_ledger_open(&ledger, out->mem, json);
    if (ledger.calls == PTC_NONE)
        ptc_emit_field_raw(out, "upstream_calls", PTC_TEXT("[]"));
    else
        ptc_ledger_put_calls(&ledger, out);
    ptc_ledger_close(&ledger);
}

/* What both kinds of answers have. */
static void put_rest(PtcAppTask *task, PtcBuf *out)
{
    if (task->program.len && task->show_program)
        ptc_emit_field_text(out, "program", ptc_buf_view(&task->program));
    put_calls(out, ptc_buf_view(&task->ledger));
    if (task->effects.len)
        ptc_emit_field_raw(out, "effects", ptc_buf_view(&task->effects));
    ptc_emit_field_raw(out, "planner",
                       task->planner.len ? ptc_buf_view(&task->planner) : PTC_TEXT("{}"));
    if (task->warnings.len)
        ptc_emit_field_raw(out, "warnings", ptc_buf_view(&task->warnings));
}

static void answer_ok(PtcJob *job, PtcAppTask *task, PtcBuf *out)
{
    ptc_emit_field_cstr(out, "status", "ok");
    ptc_emit_field_text(out, "answer", ptc_buf_view(&task->answer));
    if (task->result.len)
        ptc_emit_field_raw(out, "structured_result", ptc_buf_view(&task->result));
    put_rest(task, out);
    ptc_emit_object_end(out);
    job->answered_bytes = task->answer.len;
    ptc_job_json(job, out);
}

static void answer_error(PtcJob *job, PtcAppTask *task, PtcBuf *out)
{
    job->failed = true;
    snprintf(job->reason, sizeof job->reason, "%.23s", task->reason);
    ptc_buf_add(&job->message, task->message.data, task->message.len);
    ptc_emit_field_cstr(out, "status", "error");
    ptc_emit_field_cstr(out, "reason", task->reason);
    ptc_emit_field_text(out, "message", ptc_buf_view(&task->message));
    put_rest(task, out);
    if (ptc_emit_object_end(out) && ptc_buf_ok(out))
        ptc_mcp_fail(job->call, out->data, out->len);
    else
        ptc_mcp_failf(job->call, "%s: the answer does not fit in memory", task->reason);
}

static void answer(PtcJob *job, PtcAppTask *task)
{
    PtcBuf out;
    ptc_buf_init(&out, ptc_mcp_mem(ptc_mcp_server(job->call)), 4 * TEXT_BYTES);
    ptc_emit_object(&out);
    if (task->ok)
        answer_ok(job, task, &out);
    else
        answer_error(job, task, &out);
    ptc_buf_deinit(&out);
}

/* --------------------------------------------------------------------------------- the call */

static void leave(void *call)
{
    ptc_mcp_pause(call);
}

static void enter(void *call)
{
    ptc_mcp_resume(call);
}

static PtcBuf *const *buffers(PtcAppTask *t, PtcBuf *list[8])
{
    PtcBuf *all[] = {&t->message, &t->answer,  &t->result,  &t->program,
                     &t->ledger,  &t->effects, &t->planner, &t->warnings};
    memcpy(list, all, sizeof all);
    return list;
}

static void run(PtcJob *job, PtcAppTask *task)
{
    const PtcAppTasks *tasks = &job->app->config.tasks;
    PtcTaskTurn turn = {leave, enter, job->call};
    PtcBeat beat;
    task->turn = &turn;
    ptc_pulse_begin(job->app->pulse, &beat, job->call);
    tasks->run(tasks->user, task);
    ptc_pulse_end(job->app->pulse, &beat);
    job->in.program = ptc_buf_view(&task->program);
    job->in.context = task->context;
    ptc_buf_add(&job->out.ledger, task->ledger.data, task->ledger.len);
    ptc_buf_add(&job->out.text, task->answer.data, task->answer.len);
    answer(job, task);
}

void ptc_app_task(PtcMcpCall *call)
{
    PtcJob job;
    PtcBuf *list[8];
    PtcAppTask task = {.owner = ptc_mcp_owner(call),
                       .waited_ms = ptc_mcp_waited_ms(call),
                       .cancel = ptc_mcp_cancel_flag(call),
                       .traceparent = ptc_mcp_meta_text(call, "traceparent"),
                       .show_program = true};
    ptc_job_init(&job, call, "lisp_task");
    for (size_t i = 0; i < 8; i++)
        ptc_buf_init(buffers(&task, list)[i], ptc_mcp_mem(ptc_mcp_server(call)), TEXT_BYTES);
    if (task_arg(&job, &task.task) && ptc_job_object(&job, "context", &task.context) &&
        max_items_arg(&job, &task.max_items))
        run(&job, &task);
    ptc_job_done(&job);
    for (size_t i = 0; i < 8; i++)
        ptc_buf_deinit(buffers(&task, list)[i]);
}
