/* SPDX-License-Identifier: MIT
 * From the arguments of a call to a finished task.  What always holds: a function that returns false has answered
 * the call. */
#include "mcp/app/app_int.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "tool/wire/protocol.h"
#include "value/str.h"

enum { LEAST_MS = 1000 }; /* for a program, however long its call has waited */
enum {
    RESULT_BYTES = 8 * PTC_MB,
    PRINT_BYTES = 4 * PTC_MB,
    NAMES_BYTES = 16 * PTC_KB,
    MEMORY_BYTES = 4 * PTC_MB,
    JOB_ANSWER_BYTES = 48 * PTC_MB, /* for a session with very many names */
    JOB_CALLS_BYTES = 128 * PTC_KB,
    PICTURES_BYTES = 2 * PTC_MB,     /* for 1 MiB in base64 */
    JOB_CALL_LOG_BYTES = 4 * PTC_MB, /* for as many calls as a program may make, with long names */
    JOB_TEXT_BYTES = 256 * PTC_KB,   /* for anything else a model may read */
    JOB_ERROR_BYTES = 1 * PTC_MB,
};

static void init_out(PtcTaskOut *out, PtcMem *mem, size_t session_bytes)
{
    ptc_task_out_init(out, mem, JOB_TEXT_BYTES);
    out->text.max = out->json.max = RESULT_BYTES;
    out->prints.max = PRINT_BYTES;
    out->session.max = session_bytes;
    out->changed.max = out->stored.max = NAMES_BYTES;
    out->memory.max = MEMORY_BYTES;
    out->answer.max = JOB_ANSWER_BYTES;
    out->calls.max = JOB_CALLS_BYTES;
    out->call_log.max = JOB_CALL_LOG_BYTES;
    out->pictures.max = PICTURES_BYTES;
}

/* Which parts the answers of a profile, and the records of calls, need. */
static unsigned wanted_task_parts(const PtcApp *app)
{
    static const unsigned by_profile[] = {[PTC_APP_STRUCTURED] = PTC_WANT_STORED,
                                          [PTC_APP_DEBUG] =
                                              PTC_WANT_FEEDBACK | PTC_WANT_MEMORY | PTC_WANT_CALLS};
    return by_profile[app->config.profile] | (app->recorder ? PTC_WANT_CALLS : 0);
}

/* A call whose trace is told to a collector is a span of it, and what it calls are spans inside that.  What its client
 * does not want to be kept is not told. */
static void begin_span(PtcJob *job)
{
    job->trace = ptc_mcp_trace(job->call);
    if (!job->app->recorder || !job->app->config.recorder.traced)
        return;
    ptc_trace_parent_read(job->trace.parent, job->parent);
    if (job->parent[0] && !ptc_trace_parent_is_sampled(job->parent))
        return;
    bool made = job->parent[0] ? ptc_trace_parent_next(job->parent, job->span, NULL)
                               : ptc_trace_parent_new(job->span);
    if (!made) {
        job->span[0] = '\0';
        return;
    }
    job->trace.parent = ptc_text_cstr(job->span);
    job->trace.ours = true;
}

/* The clock is only read if there is a recorder to use it. */
void ptc_job_init(PtcJob *job, PtcMcpCall *call, const char *tool)
{
    PtcApp *app = ptc_mcp_user(call);
    PtcMem *mem = ptc_mcp_mem(ptc_mcp_server(call));
    *job = (PtcJob){.app = app, .call = call, .tool = tool, .owner = ptc_mcp_owner(call)};
    if (app->recorder)
        job->begun_ns = ptc_clock_ns(NULL);
    begin_span(job);
    ptc_task_in_init(&job->in);
    job->in.want = wanted_task_parts(app);
    job->in.limits.result_bytes = RESULT_BYTES;
    job->in.use_tools = job->in.use_data = true;
    if (app->suspended) {
        ptc_suspended_sweep(app->suspended);
        job->offers = ptc_app_offers(app, call);
        job->can_ask = job->offers & PTC_REMOTE_ELICITS;
    }
    init_out(&job->out, mem, app->sessions ? ptc_sessions_config(app->sessions)->bytes : 0);
    ptc_buf_init(&job->message, mem, PTC_RECORD_FILE_TEXT);
    ptc_buf_init(&job->question, mem, 32 * PTC_KB);
}

static PtcText view(const PtcBuf *buf)
{
    return (PtcText){buf->len ? buf->data : NULL, buf->len};
}

/* A session still held here belongs to a call that failed: it is let go unchanged. */
void ptc_job_done(PtcJob *job)
{
    if (job->failed)
        ptc_mcp_reason(job->call, job->reason);
    if (job->app->recorder && !job->unrecorded) {
        PtcCallNote note = {.tool = job->tool,
                            .owner = job->owner,
                            .span = job->span,
                            .parent = job->parent,
                            .ok = !job->failed,
                            .reason = job->reason,
                            .program = job->in.program,
                            .context = job->in.context,
                            .result = view(&job->out.text),
                            .message = view(&job->message),
                            .duration_us = (ptc_clock_ns(NULL) - job->begun_ns) / 1000,
                            .tool_calls = job->out.tool_calls,
                            .calls = view(&job->out.calls),
                            .call_log = view(&job->out.call_log),
                            .answered_bytes = job->answered_bytes,
                            .printed_bytes = job->printed_bytes};
        ptc_recorder_note(job->app->recorder, &note);
    }
    ptc_job_leave(job);
    if (job->held)
        ptc_sessions_let_go(job->app->sessions, job->held, NULL);
    ptc_task_out_deinit(&job->out);
    ptc_buf_deinit(&job->message);
    ptc_buf_deinit(&job->question);
}

/* ----------------------------------------------------------------------------------- failing */

/* In the debug profile an error is JSON of the same form as a program's error. */
static void fail_json(PtcJob *job)
{
    PtcBuf out;
    ptc_buf_init(&out, ptc_mcp_mem(ptc_mcp_server(job->call)), JOB_ERROR_BYTES);
    ptc_emit_object(&out);
    ptc_emit_field_cstr(&out, "status", "error");
    ptc_emit_field_cstr(&out, "reason", job->reason);
    ptc_emit_field_text(&out, "message", ptc_buf_view(&job->message));
    ptc_emit_field_text(&out, "feedback", ptc_buf_view(&job->message));
    ptc_emit_object_end(&out);
    ptc_mcp_fail(job->call, out.data, ptc_buf_ok(&out) ? out.len : 0);
    ptc_buf_deinit(&out);
}

bool ptc_job_fail(PtcJob *job, const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptc_buf_clear(&job->message);
    ptc_buf_vaddf(&job->message, format, args);
    va_end(args);
    job->failed = true;
    snprintf(job->reason, sizeof job->reason, "%s", reason);
    if (job->app->config.profile == PTC_APP_DEBUG && job->message.len)
        fail_json(job);
    else
        ptc_mcp_failf(job->call, "%s: %.*s", reason,
                      PTC_ARG_OF(job->message.data, job->message.len));
    return false;
}

/* The schemas say the same and are checked first; this is for what they let pass. */
static bool wrong_type(PtcJob *job, const char *name, const char *wanted)
{
    return ptc_job_fail(job, "args_error", "`%s` must be %s", name, wanted);
}

/* -------------------------------------------------------------------------------- arguments */

/* The argument; PTC_NONE when it is absent or null. */
static PtcValue optional_job_arg(PtcJob *job, const char *name)
{
    PtcValue v = ptc_mcp_arg(job->call, name);
    return v == PTC_NIL ? PTC_NONE : v;
}

bool ptc_job_text(PtcJob *job, const char *name, bool required, PtcText *out)
{
    PtcValue v = optional_job_arg(job, name);
    *out = (PtcText){NULL, 0};
    if (v == PTC_NONE)
        return !required ||
               ptc_job_fail(job, "args_error", "%s needs `%s`, a string", job->tool, name);
    if (!ptc_is_string(v))
        return wrong_type(job, name, "a string");
    *out = ptc_str_text(v);
    return true;
}

bool ptc_job_int(PtcJob *job, const char *name, int64_t min, int64_t max, int64_t *out)
{
    PtcValue v = optional_job_arg(job, name);
    if (v == PTC_NONE)
        return true;
    if (ptc_is_float(v)) { /* to JSON Schema 3.0 is an integer */
        double d = ptc_to_float(v);
        if (d >= -9e15 && d <= 9e15 && d == (double)(int64_t)d)
            v = ptc_int((int64_t)d);
    }
    int64_t n = ptc_is_int(v) ? ptc_to_int(v) : 0;
    if (!ptc_is_int(v) || n < min || n > max)
        return ptc_job_fail(job, "args_error", "`%s` must be an integer from %lld to %lld", name,
                            (long long)min, (long long)max);
    *out = n;
    return true;
}

bool ptc_job_flag(PtcJob *job, const char *name, bool *out)
{
    PtcValue v = optional_job_arg(job, name);
    if (v != PTC_NONE && !ptc_is_bool(v))
        return wrong_type(job, name, "true or false");
    if (v != PTC_NONE)
        *out = v == PTC_TRUE;
    return true;
}

/* A program that is missing, blank or not a string is refused in the words of the protocol. */
static bool program_arg(PtcJob *job)
{
    PtcValue v = ptc_mcp_arg(job->call, "program");
    PtcPrinter printer = {.heap = ptc_mcp_heap(job->call), .readable = true, .float_precision = -1};
    PtcBuf message;
    ptc_buf_init(&message, ptc_mcp_mem(ptc_mcp_server(job->call)), 512);
    bool good = ptc_protocol_validate_program(v, &printer, &message);
    if (!good)
        ptc_job_fail(job, "args_error", "%.*s",
                     PTC_ARG_OF(message.data, ptc_utf8_valid_prefix(message.data, message.len)));
    ptc_buf_deinit(&message);
    if (!good)
        return false;
    job->in.program = ptc_str_text(v);
    size_t most = job->app->config.max_program_bytes;
    return job->in.program.len <= most ||
           ptc_job_fail(job, "args_error", "`program` has %zu bytes; %zu are allowed",
                        job->in.program.len, most);
}

void ptc_app_refuse(PtcMcpCall *call, const char *text, size_t len)
{
    PtcJob job;
    const PtcMcpTool *row = ptc_mcp_tool(call);
    bool runs = row->handler == ptc_app_eval || row->handler == ptc_app_session_eval;
    ptc_job_init(&job, call, row->name);
    if (!runs || program_arg(&job)) /* it has answered in its own words */
        ptc_job_fail(&job, "args_error", "%.*s", PTC_ARG_OF(text, len));
    job.unrecorded = row->handler == ptc_app_debug;
    ptc_job_done(&job);
}

bool ptc_job_object(PtcJob *job, const char *name, PtcText *out)
{
    size_t most = job->app->config.max_context_bytes;
    PtcValue v = optional_job_arg(job, name);
    if (v == PTC_NONE)
        return true;
    if (!ptc_is_map(v))
        return wrong_type(job, name, "an object");
    *out = ptc_mcp_arg_raw(job->call, name);
    return out->len <= most ||
           ptc_job_fail(job, "args_error", "`%s` has %zu bytes; %zu are allowed", name, out->len,
                        most);
}

/* plan, reads, or nothing. */
static bool dry_run_arg(PtcJob *job)
{
    PtcText how;
    if (!job->app->config.remote)
        return true;
    if (!ptc_job_text(job, "dry_run", false, &how))
        return false;
    job->in.plan = ptc_text_is(how, "plan");
    if (how.bytes)
        job->asking.mode = job->in.plan ? PTC_REMOTE_PLANS : PTC_REMOTE_READS;
    return true;
}

bool ptc_job_eval_args(PtcJob *job)
{
    if (!program_arg(job) || !ptc_job_object(job, "context", &job->in.context) ||
        !ptc_job_text(job, "signature", false, &job->in.signature) ||
        !ptc_job_object(job, "output_schema", &job->in.output_schema) || !dry_run_arg(job))
        return false;
    if (job->in.signature.bytes && job->in.output_schema.bytes)
        return ptc_job_fail(job, "args_error", "give `signature` or `output_schema`, not both");
    return true;
}

/* --------------------------------------------------------------------------------- the task */

static void pause_call(void *call)
{
    ptc_mcp_pause(call);
}

static void resume_call(void *call)
{
    ptc_mcp_resume(call);
}

/* The time a call may take counts from its arrival, because clients do not know that it has waited. */
static int64_t time_left(const PtcJob *job)
{
    int64_t most = ptc_app_time_for(job->app, job->call), waited = ptc_mcp_waited_ms(job->call);
    return most <= 0 ? PTC_UNSET : most - waited > LEAST_MS ? most - waited : LEAST_MS;
}

static bool run_once(PtcJob *job)
{
    PtcExecutor *executor = job->app->config.executor;
    PtcTaskTurn turn = {pause_call, resume_call, job->call};
    PtcProgressCall waiting;
    job->in.turn = &turn;
    job->in.trace = job->trace;
    job->in.limits.deadline_ms = time_left(job);
    ptc_progress_sender_begin(job->app->sender, &waiting, job->call);
    job->in.listener = ptc_progress_sender_listener(&waiting);
    PtcTaskStatus status =
        executor->submit(executor, job->owner, &job->in, ptc_mcp_cancel_flag(job->call), &job->out);
    ptc_progress_sender_end(job->app->sender, &waiting);
    job->in.listener = NULL;
    job->in.turn = NULL;
    switch (status) {
    case PTC_TASK_DONE: return true;
    case PTC_TASK_CANCELLED:
        return ptc_job_fail_effects(job, "cancelled", "the call was cancelled");
    case PTC_TASK_LOST:
        return ptc_job_fail_effects(job, "worker_lost",
                                    job->out.message[0]
                                        ? job->out.message
                                        : "the process that ran the program ended unexpectedly");
    case PTC_TASK_NO_MEMORY: break;
    }
    return ptc_job_fail(job, "no_memory", "the server is out of memory; try again a little later");
}

/* The program is run again after each question, from its beginning: what it has called is remembered. */
bool ptc_job_submit(PtcJob *job)
{
    bool dry = job->asking.mode == PTC_REMOTE_PLANS || job->asking.mode == PTC_REMOTE_READS;
    bool asks = job->can_ask || job->offers || dry;
    if (!job->asking.run && !ptc_job_roots(job))
        return false;
    job->asking.offers = dry ? 0 : job->offers;
    job->in.asking = asks ? &job->asking : NULL;
    if (job->can_ask && job->asking.mode == PTC_REMOTE_REFUSES)
        job->asking.mode = PTC_REMOTE_ASKS;
    if (asks && !job->in.now_ms)
        job->in.now_ms = ptc_clock_wall_ms();
    while (!job->ask_first || ptc_job_ask(job)) {
        job->ask_first = false;
        if (!run_once(job) || !job->asking.run) {
            bool done = !job->failed;
            ptc_job_end_run(job);
            return done;
        }
        if (dry)
            return ptc_job_list_waiting(job);
        job->ask_first = true;
    }
    return false;
}

void ptc_job_json(PtcJob *job, const PtcBuf *json)
{
    if (ptc_buf_ok(json))
        ptc_mcp_structured(job->call, json->data, json->len);
    else
        ptc_job_fail(job, "no_memory", "the server is out of memory, or the answer is too large");
}
