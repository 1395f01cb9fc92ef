/* SPDX-License-Identifier: MIT
 * Asking a person about the calls of a program that wait: the question, what the answer means, and runs that are gone on
 * with by a later call.  What always holds: a run belongs to one call, or waits in the table of suspended runs; a function
 * that returns false has answered the call. */
#include "mcp/app/app_int.h"

#include <stdio.h>

#include "base/secret.h"
#include "json/parse.h"
#include "value/map.h"
#include "value/str.h"
#include "value/vec.h"

enum { SHOWN_CALLS = 10, SHOWN_ARGS = 300, QUESTION_BYTES = 32 * 1024, KEY = 48, LOOK_MS = 100 };

static const char *const decisions[] = {[PTC_REMOTE_ONCE] = "once",
                                        [PTC_REMOTE_RUN] = "run",
                                        [PTC_REMOTE_PROCESS] = "process",
                                        [PTC_REMOTE_ALWAYS] = "always",
                                        [PTC_REMOTE_NO] = "no"};

#define SCHEMA                                                                                 \
    "{\"type\":\"object\",\"properties\":{\"decision\":{\"type\":\"string\",\"title\":"        \
    "\"Decision\",\"description\":\"May the program make these calls?\",\"enum\":[\"once\","   \
    "\"run\",\"process\",\"always\",\"no\"],\"enumNames\":[\"yes, these calls\",\"yes, these " \
    "tools for this run\",\"yes, these tools until ptc ends\",\"yes, these tools always, as "  \
    "they are defined now\",\"no\"]}},\"required\":[\"decision\"]}"

static PtcMem *mem_of(const PtcJob *job)
{
    return ptc_mcp_mem(ptc_mcp_server(job->call));
}

static PtcRemote *remote_of(const PtcJob *job)
{
    return job->app->config.remote;
}

static bool is_task(const char *tool)
{
    return strcmp(tool, "lisp_task") == 0;
}

void ptc_job_end_run(PtcJob *job)
{
    if (job->errand)
        ptc_errand_free(job->errand);
    else if (job->asking.run)
        remote_of(job)->end(job->asking.run, NULL);
    job->asking.run = NULL;
    job->errand = NULL;
}

/* ------------------------------------------------------------------------------- the question */

static PtcText field(PtcHeap *heap, PtcValue map, const char *name)
{
    PtcValue v = ptc_map_field(heap, map, name);
    return v != PTC_NONE && ptc_is_string(v) ? ptc_str_text(v) : PTC_TEXT("");
}

/* 1. notes/write (destructive) {"text":"a"} */
static void add_call(PtcBuf *out, PtcHeap *heap, PtcValue call, size_t number)
{
    PtcText server = field(heap, call, "server"), tool = field(heap, call, "tool");
    PtcText effect = field(heap, call, "effect"), args = field(heap, call, "args");
    ptc_buf_addf(out, "\n%zu. %.*s/%.*s (%.*s) %.*s", number, (int)server.len, server.bytes,
                 (int)tool.len, tool.bytes, (int)effect.len, effect.bytes, (int)args.len,
                 args.bytes);
}

size_t ptc_job_add_calls(PtcJob *job, PtcBuf *out, PtcBuf *json)
{
    PtcBuf list;
    PtcJsonError error;
    const char *why;
    PtcHeap *heap = ptc_mcp_heap(job->call);
    size_t n = remote_of(job)->waiting(job->asking.run, &why);
    ptc_buf_init(&list, mem_of(job), QUESTION_BYTES);
    remote_of(job)->question(job->asking.run, SHOWN_CALLS, SHOWN_ARGS, &list);
    PtcValue calls =
        ptc_buf_ok(&list) ? ptc_json_parse(heap, list.data, list.len, &error) : PTC_NONE;
    size_t shown = calls != PTC_NONE && ptc_is_sequential(calls) ? ptc_seq_count(calls) : 0;
    for (size_t i = 0; i < shown; i++)
        add_call(out, heap, ptc_seq_nth(calls, i), i + 1);
    if (n > shown)
        ptc_buf_addf(out, "\nand %zu more", n - shown);
    if (calls == PTC_NONE) /* nobody is asked about what cannot be shown */
        out->failed = true;
    if (json)
        ptc_emit_raw(json, calls == PTC_NONE ? PTC_TEXT("[]") : ptc_buf_view(&list));
    ptc_buf_deinit(&list);
    return n;
}

static bool put_question(PtcJob *job, PtcBuf *params)
{
    PtcBuf text, calls;
    ptc_buf_init(&text, mem_of(job), QUESTION_BYTES);
    ptc_buf_init(&calls, mem_of(job), QUESTION_BYTES);
    size_t n = ptc_job_add_calls(job, &calls, NULL);
    ptc_buf_addf(&text, "A program wants to make %zu call%s that need%s your approval:", n,
                 n == 1 ? "" : "s", n == 1 ? "s" : "");
    ptc_buf_add(&text, calls.data, calls.len);
    if (job->out.took_any)
        ptc_job_effects_line(job, &text);
    ptc_emit_object(params);
    ptc_emit_field_text(params, "message", ptc_buf_view(&text));
    ptc_emit_field_raw(params, "requestedSchema", PTC_TEXT(SCHEMA));
    bool ok = ptc_emit_object_end(params) && ptc_buf_ok(&text) && ptc_buf_ok(&calls) &&
              ptc_buf_text(params);
    ptc_buf_deinit(&text);
    ptc_buf_deinit(&calls);
    return ok;
}

/* ---------------------------------------------------------------------------------- the answer */

/* Anything but a yes that we know counts as a no. */
static PtcRemoteDecision decision_of(PtcHeap *heap, PtcValue answer)
{
    PtcValue content = ptc_map_field(heap, answer, "content");
    PtcText said = content != PTC_NONE && ptc_is_map(content) ? field(heap, content, "decision")
                                                              : PTC_TEXT("");
    for (int i = PTC_REMOTE_ONCE; i < PTC_REMOTE_NO; i++)
        if (ptc_text_is(field(heap, answer, "action"), "accept") && ptc_text_is(said, decisions[i]))
            return (PtcRemoteDecision)i;
    return PTC_REMOTE_NO;
}

static bool take_answer(PtcJob *job, PtcValue answer)
{
    PtcHeap *heap = ptc_mcp_heap(job->call);
    if (job->inquiry) {
        ptc_job_reply(job, answer);
        job->round++;
        return true;
    }
    if (ptc_text_is(field(heap, answer, "action"), "cancel"))
        return ptc_job_fail_effects(job, "cancelled",
                                    "the question was not answered: the run is over");
    (void)remote_of(job)->decide(job->asking.run, decision_of(heap, answer));
    job->round++;
    return true;
}

/* -------------------------------------------------------------------------------- leaving a run */

/* Puts the run into the table.  `token` gets what brings it back.  False: answered. */
static bool park(PtcJob *job, PtcBuf *token)
{
    PtcSuspended *table = job->app->suspended;
    PtcSuspendedRow *row = job->row;
    PtcBuf line;
    bool asked = row && row->round == job->round; /* the same question once more */
    if (!row && !(row = ptc_suspended_add(table, job->owner, job->tool, &job->in)))
        return ptc_job_fail_effects(
            job, "tool_denied",
            "too many runs wait for an answer already, so nobody can be asked; "
            "try again when some have been answered");
    row->round = job->round;
    row->mark = job->mark;
    if (!asked)
        row->ends_ms = ptc_clock_wall_ms() + table->ttl_ms;
    ptc_buf_init(&line, mem_of(job), QUESTION_BYTES);
    job->out.ok = false;
    ptc_job_effects_line(job, &line);
    ptc_suspended_put_token(row, ptc_buf_view(&line), token);
    ptc_buf_deinit(&line);
    row->asking = job->asking;
    row->held = job->held;
    row->errand = job->errand;
    row->inquiry = job->inquiry;
    job->asking.run = NULL;
    job->held = NULL;
    job->errand = NULL;
    job->row = row;
    return true;
}

static void put_back(PtcJob *job)
{
    PtcSuspendedRow *row = job->row;
    job->row = NULL;
    ptc_suspended_wait(job->app->suspended, row);
}

/* Modern: the client gets the question, and calls again. */
static bool leave_pending(PtcJob *job)
{
    PtcBuf token;
    ptc_buf_init(&token, mem_of(job), PTC_SUSPENDED_TOKEN);
    if (park(job, &token)) {
        ptc_mcp_set_state(job->call, token.data, token.len);
        put_back(job);
        job->unrecorded = true;
    }
    ptc_buf_deinit(&token);
    return false;
}

/* Legacy: nobody has answered in time; the model may go on later. */
static bool leave_suspended(PtcJob *job)
{
    PtcBuf token, sealed, calls;
    ptc_buf_init(&token, mem_of(job), PTC_SUSPENDED_TOKEN);
    ptc_buf_init(&sealed, mem_of(job), 2 * PTC_SUSPENDED_TOKEN);
    ptc_buf_init(&calls, mem_of(job), QUESTION_BYTES);
    size_t n = ptc_job_add_calls(job, &calls, NULL);
    bool inquiry = job->inquiry != 0;
    if (park(job, &token)) {
        bool ok = ptc_mcp_seal(job->call, ptc_buf_view(&token), &sealed);
        put_back(job);
        if (ok && inquiry)
            ptc_job_fail(job, "suspended",
                         "a server that the program calls has a question, which nobody has "
                         "answered yet.\nTo ask again and go on: %s {\"resume\":\"%.*s\"}",
                         is_task(job->tool) ? "lisp_task" : "lisp_eval", (int)sealed.len,
                         sealed.data);
        else if (ok)
            ptc_job_fail(job, "suspended",
                         "%zu call%s of the program wait%s for a person, who has not answered yet:"
                         "%.*s\nTo ask again and go on: %s {\"resume\":\"%.*s\"}",
                         n, n == 1 ? "" : "s", n == 1 ? "s" : "", (int)calls.len, calls.data,
                         is_task(job->tool) ? "lisp_task" : "lisp_eval", (int)sealed.len,
                         sealed.data);
        else
            ptc_job_fail(job, "no_memory", "the server is out of memory");
    }
    ptc_buf_deinit(&token);
    ptc_buf_deinit(&sealed);
    ptc_buf_deinit(&calls);
    return false;
}

static void name_question(char key[KEY], uint32_t round, uint64_t mark)
{
    snprintf(key, KEY, "approve-%u-%016llx", (unsigned)round, (unsigned long long)mark);
}

static bool has_calls(PtcJob *job)
{
    PtcBuf list;
    ptc_buf_init(&list, mem_of(job), QUESTION_BYTES);
    remote_of(job)->question(job->asking.run, 1, 1, &list);
    bool any = list.len > sizeof "[]" - 1;
    ptc_buf_deinit(&list);
    return any;
}

/* False: out of memory. */
static bool ask_about_calls(PtcJob *job, const char *key, PtcValue *answer, PtcMcpAsk *asked)
{
    PtcBuf params;
    ptc_buf_init(&params, mem_of(job), 4 * QUESTION_BYTES);
    bool ok = put_question(job, &params);
    if (ok)
        *asked = ptc_mcp_ask(job->call, key, "elicitation/create", ptc_buf_text(&params), answer);
    ptc_buf_deinit(&params);
    return ok || ptc_job_fail_effects(job, "no_memory", "the server is out of memory");
}

/* What becomes of a question that was put.  False: the call was answered. */
static bool follow(PtcJob *job, PtcMcpAsk asked, PtcValue answer)
{
    if (asked == PTC_MCP_ASK_READY)
        return take_answer(job, answer);
    if (asked == PTC_MCP_ASK_PENDING)
        return leave_pending(job);
    if (ptc_mcp_cancelled(job->call))
        return ptc_job_fail_effects(job, "cancelled", "the call was cancelled");
    if (asked == PTC_MCP_ASK_FAILED && answer == PTC_NONE)
        return leave_suspended(job);
    if (job->inquiry) { /* the server is told that nobody answers */
        ptc_job_reply(job, PTC_NONE);
        return true;
    }
    return ptc_job_fail_effects(
        job, "tool_denied", "calls of the program need approval, and the client cannot be asked");
}

/* One question; those of servers come first.  *more: there may be another. */
static bool ask_one(PtcJob *job, bool *more)
{
    char key[KEY];
    PtcValue answer = PTC_NONE;
    /* Modern clients send answers with the call, so the name of a question must not be known before it was asked. */
    if (!ptc_random_bytes(&job->mark, sizeof job->mark))
        return ptc_job_fail_effects(job, "no_memory", "the system has no random numbers");
    name_question(key, job->round, job->mark);
    PtcMcpAsk asked = ptc_job_inquire(job, key, &answer);
    *more = job->inquiry != 0;
    if (!*more && !has_calls(job))
        return true;
    if (!*more && !ask_about_calls(job, key, &answer, &asked))
        return false;
    return follow(job, asked, answer);
}

/* A progress token is of no use while a person thinks; the pulse is the caller's. */
bool ptc_job_ask(PtcJob *job)
{
    bool more = true;
    while (more)
        if (!ask_one(job, &more))
            return false;
    return true;
}

/* --------------------------------------------------------------------------------- coming back */

void ptc_job_take_effects(PtcJob *job)
{
    ptc_buf_clear(&job->out.took);
    job->out.took_any = remote_of(job)->effects(job->asking.run, &job->out.took);
}

/* The run of the row becomes the call's. */
static void adopt(PtcJob *job, PtcSuspendedRow *row)
{
    PtcText traceparent = job->in.traceparent;
    job->row = row;
    job->in = row->in;
    job->in.traceparent = traceparent;
    job->asking = row->asking;
    job->held = row->held;
    job->errand = row->errand;
    job->inquiry = row->inquiry;
    job->round = row->round;
    job->can_ask =
        true; /* whatever this client can: the question was answered, or cannot be asked now */
    row->asking.run = NULL;
    row->held = NULL;
    row->errand = NULL;
    ptc_job_take_effects(job);
}

/* A task is gone on with by lisp_task, every other run by lisp_eval.  True: the row was put back, and the call answered. */
static bool is_of_other_tool(PtcJob *job, PtcSuspendedRow *row)
{
    if (is_task(row->tool) == is_task(job->tool))
        return false;
    const char *right = is_task(row->tool) ? "lisp_task" : "lisp_eval";
    if (row->asking.run)
        ptc_suspended_wait(job->app->suspended, row);
    else
        ptc_suspended_answered(job->app->suspended, row);
    return !ptc_job_fail(job, "args_error", "this token is for %s", right);
}

/* Once more what was answered before. */
static bool answer_again(PtcJob *job, PtcSuspendedRow *row)
{
    job->unrecorded = true;
    if (row->told.len) {
        ptc_job_tell(job, &row->told, row->told_ok);
    } else if (row->has_out && !row->failed) { /* as it was told then */
        PtcTaskOut mine = job->out;
        job->out = row->out;
        job->in = row->in;
        job->info = row->info;
        ptc_job_answer(job);
        job->out = mine;
    } else if (row->failed) {
        ptc_job_fail(job, row->reason, "%.*s", (int)row->message.len,
                     row->message.data ? row->message.data : "");
    } else {
        ptc_job_fail(job, "args_error", "this was answered already, with more than could be kept");
    }
    ptc_suspended_answered(job->app->suspended, row);
    return false;
}

static bool tell_gone(PtcJob *job, const PtcSuspendedToken *token)
{
    bool late = token->ends_ms <= ptc_clock_wall_ms();
    return ptc_job_fail(job, late ? "expired" : "lost",
                        "%s; nothing more of the program was run%s%.*s",
                        late ? "the time for an answer is over"
                             : "this server does not have the run any more: it was started anew",
                        token->effects.len ? "" : ", and nothing had taken effect",
                        (int)token->effects.len, token->effects.bytes);
}

/* Waits while another call does what this one asks for. */
static PtcSuspendedFound take_row(PtcJob *job, const PtcSuspendedToken *token, const uint8_t *reply,
                                  bool peek, PtcSuspendedRow **row)
{
    PtcSuspended *table = job->app->suspended;
    int64_t end = ptc_clock_ns(NULL) + job->app->deadline_ms * 1000000;
    PtcSuspendedFound found;
    while ((found = ptc_suspended_take(table, job->owner, token, reply, peek, row)) ==
               PTC_SUSPENDED_BUSY &&
           !ptc_mcp_cancelled(job->call) && ptc_clock_ns(NULL) < end) {
        ptc_mcp_pause(job->call);
        ptc_suspended_await(table, LOOK_MS);
        ptc_mcp_resume(job->call);
    }
    return found;
}

/* Goes on with the run of a token.  `answer` PTC_NONE: the question is asked once more. */
static bool go_on_with(PtcJob *job, const PtcSuspendedToken *token, PtcValue answer,
                       const uint8_t *reply, bool peek)
{
    PtcSuspendedRow *row;
    switch (take_row(job, token, reply, peek, &row)) {
    case PTC_SUSPENDED_GONE: return tell_gone(job, token);
    case PTC_SUSPENDED_USED:
        return ptc_job_fail(job, "args_error", "this question was answered already, differently");
    case PTC_SUSPENDED_BUSY:
        return ptc_job_fail(job, "busy", "this run is being gone on with; try again later");
    case PTC_SUSPENDED_SAME:
        if (!row->asking.run)
            return !is_of_other_tool(job, row) && answer_again(job, row);
        answer = PTC_NONE;
        break;
    case PTC_SUSPENDED_TAKEN: break;
    }
    if (is_of_other_tool(job, row))
        return false;
    adopt(job, row);
    job->ask_first = answer == PTC_NONE || job->inquiry; /* there may be another question */
    return answer == PTC_NONE || take_answer(job, answer);
}

/* Modern: the state of the call before, and perhaps an answer. */
static bool resume_state(PtcJob *job, PtcText state)
{
    PtcSuspendedToken token;
    char key[KEY];
    uint8_t reply[PTC_SHA256_BYTES] = {0};
    PtcBuf text;
    if (!ptc_suspended_get_token(state, &token))
        return ptc_job_fail(job, "args_error", "requestState is of another kind");
    name_question(key, token.round, token.mark);
    PtcValue answer = ptc_mcp_reply_to(job->call, key);
    if (answer == PTC_NONE)
        return go_on_with(job, &token, answer, reply, true);
    ptc_buf_init(&text, mem_of(job), QUESTION_BYTES);
    bool ok = ptc_emit_value(&text, ptc_mcp_heap(job->call), answer);
    ptc_sha256(text.data ? text.data : "", text.len, reply);
    ptc_buf_deinit(&text);
    if (!ok)
        return ptc_job_fail(job, "args_error", "the answer to the question is too large");
    return go_on_with(job, &token, answer, reply, false);
}

/* lisp_eval {"resume": token} */
static bool resume_token(PtcJob *job, PtcText text)
{
    PtcSuspendedToken token;
    uint8_t reply[PTC_SHA256_BYTES];
    PtcBuf bytes;
    bool go_on = false;
    ptc_sha256("resume", 6, reply);
    ptc_buf_init(&bytes, mem_of(job), PTC_SUSPENDED_TOKEN);
    if (ptc_mcp_arg(job->call, "program") != PTC_NONE)
        ptc_job_fail(job, "args_error", "give `resume` alone: the program is known");
    else if (!ptc_mcp_unseal(job->call, text, &bytes) ||
             !ptc_suspended_get_token(ptc_buf_view(&bytes), &token))
        ptc_job_fail(job, "args_error",
                     "`resume` is no token that this server gave you; take it from the answer "
                     "that said \"suspended\"");
    else if ((go_on = go_on_with(job, &token, PTC_NONE, reply, false)))
        job->round++; /* whoever brings the old token again gets what comes of this */
    ptc_buf_deinit(&bytes);
    return go_on;
}

bool ptc_job_resumes(PtcJob *job, bool *go_on)
{
    PtcText state, token;
    *go_on = false;
    if (!job->app->suspended)
        return false;
    state = ptc_mcp_state(job->call);
    if (state.bytes) {
        *go_on = resume_state(job, state);
        return true;
    }
    if (!ptc_job_text(job, "resume", false, &token))
        return true;
    if (token.bytes)
        *go_on = resume_token(job, token);
    return token.bytes != NULL;
}

/* The answer stays for whoever asks for the same again. */
void ptc_job_leave(PtcJob *job)
{
    PtcSuspendedRow *row = job->row;
    ptc_job_end_run(job);
    if (!row)
        return;
    row->has_out = true;
    row->out = job->out;
    row->info = job->info;
    row->failed = job->failed && !job->answered;
    snprintf(row->reason, sizeof row->reason, "%s", job->reason);
    ptc_buf_add(&row->message, job->message.data, job->message.len);
    ptc_task_out_init(&job->out, mem_of(job), 0);
    job->in = (PtcTaskIn){0};
    job->row = NULL;
    ptc_suspended_answered(job->app->suspended, row);
}
