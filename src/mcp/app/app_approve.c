/* SPDX-License-Identifier: MIT
 * Asking a person about the calls of a program that wait: the question, what the answer means, and runs that are left
 * for a later call (app_resume.c).  What always holds: a run belongs to one call, or waits in the table of suspended
 * runs; a function that returns false has answered the call. */
#include "mcp/app/app_int.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/text/secret.h"
#include "base/utf8.h"
#include "exec/asked_calls.h"
#include "json/parse.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum {
    APPROVE_QUESTION_BYTES = 32 * PTC_KB,
    APPROVE_WORDS = 200, /* of a client about why it has not answered */
    APPROVE_WHY = APPROVE_WORDS + 80
};

static const char *const decisions[] = {[PTC_REMOTE_ONCE] = "once",
                                        [PTC_REMOTE_RUN] = "run",
                                        [PTC_REMOTE_PROCESS] = "process",
                                        [PTC_REMOTE_ALWAYS] = "always",
                                        [PTC_REMOTE_NO] = "no"};

#define APPROVE_SCHEMA                                                                         \
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

bool ptc_job_is_task(const char *tool)
{
    return strcmp(tool, "lisp_task") == 0;
}

void ptc_job_end_run(PtcJob *job)
{
    if (job->background)
        ptc_background_task_free(job->background);
    else if (job->asking.run)
        remote_of(job)->end(job->asking.run, NULL);
    job->asking.run = NULL;
    job->background = NULL;
}

/* ------------------------------------------------------------------------------- the question */

static PtcText text_field_or_empty(PtcHeap *heap, PtcValue map, const char *name)
{
    PtcValue v = ptc_map_field(heap, map, name);
    return v != PTC_NONE && ptc_is_string(v) ? ptc_str_text(v) : PTC_TEXT("");
}

bool ptc_job_list_waiting(PtcJob *job)
{
    PtcTaskOut *out = &job->out;
    PtcAskedCalls calls = {remote_of(job), job->asking.run, ptc_mcp_heap(job->call), mem_of(job)};
    ptc_buf_clear(&out->text);
    ptc_buf_clear(&out->json);
    ptc_buf_clear(&out->feedback);
    ptc_asked_calls_dry_run(&calls, job->asking.mode == PTC_REMOTE_PLANS, job->in.program,
                            &out->text, &out->json);
    if (out->text.failed || out->json.failed)
        return ptc_job_fail_effects(job, "no_memory", "the server is out of memory");
    out->ok = true;
    out->text_cut = out->validated = false;
    out->reason[0] = out->kind[0] = out->message[0] = '\0';
    ptc_job_end_run(job);
    return true;
}

static bool put_approval_question(PtcJob *job, PtcBuf *params)
{
    PtcBuf text, calls;
    ptc_buf_init(&text, mem_of(job), APPROVE_QUESTION_BYTES);
    ptc_buf_init(&calls, mem_of(job), APPROVE_QUESTION_BYTES);
    size_t n = remote_of(job)->question(job->asking.run, &calls, NULL);
    ptc_buf_addf(&text, "A program wants to make %zu call%s that need%s your approval:", n,
                 n == 1 ? "" : "s", n == 1 ? "s" : "");
    ptc_buf_add(&text, calls.data, calls.len);
    if (job->out.took_any)
        ptc_job_effects_line(job, &text);
    ptc_emit_object(params);
    ptc_emit_field_text(params, "message", ptc_buf_view(&text));
    ptc_emit_field_raw(params, "requestedSchema", PTC_TEXT(APPROVE_SCHEMA));
    ptc_buf_clear(&job->question);
    ptc_buf_add(&job->question, text.data, text.len);
    bool ok = ptc_emit_object_end(params) && ptc_buf_ok(&text) && ptc_buf_ok(&calls) &&
              ptc_buf_text(params);
    ptc_buf_deinit(&text);
    ptc_buf_deinit(&calls);
    return ok;
}

/* ---------------------------------------------------------------------------------- the answer */

static PtcText said_in(PtcHeap *heap, PtcValue answer)
{
    PtcValue content = ptc_map_field(heap, answer, "content");
    return content != PTC_NONE && ptc_is_map(content)
               ? text_field_or_empty(heap, content, "decision")
               : PTC_TEXT("");
}

/* A person who sees a form again is better off than one whose answer was taken for something else.  Answers to what
 * servers ask are for the servers to check. */
const char *ptc_job_wrong_answer(PtcJob *job, PtcValue answer)
{
    PtcHeap *heap = ptc_mcp_heap(job->call);
    if (job->inquiry)
        return NULL;
    PtcText action = text_field_or_empty(heap, answer, "action"), said = said_in(heap, answer);
    if (ptc_text_is(action, "decline") || ptc_text_is(action, "cancel"))
        return NULL;
    if (!ptc_text_is(action, "accept"))
        return "\"action\" must be \"accept\", \"decline\" or \"cancel\"";
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++)
        if (decisions[i] && ptc_text_is(said, decisions[i]))
            return NULL;
    return "\"content\" must have \"decision\", one of \"once\", \"run\", \"process\", \"always\" "
           "and \"no\"";
}

static PtcRemoteDecision decision_of(PtcHeap *heap, PtcValue answer)
{
    PtcText said = said_in(heap, answer);
    for (int i = PTC_REMOTE_ONCE; i < PTC_REMOTE_NO; i++)
        if (ptc_text_is(text_field_or_empty(heap, answer, "action"), "accept") &&
            ptc_text_is(said, decisions[i]))
            return (PtcRemoteDecision)i;
    return PTC_REMOTE_NO;
}

bool ptc_job_take_answer(PtcJob *job, PtcValue answer)
{
    PtcHeap *heap = ptc_mcp_heap(job->call);
    job->decided = true;
    if (job->inquiry) {
        ptc_job_reply(job, answer);
        job->round++;
        return true;
    }
    if (ptc_text_is(text_field_or_empty(heap, answer, "action"), "cancel"))
        return ptc_job_fail_effects(job, "cancelled",
                                    "the question was not answered: the run is over");
    /* Effects say why an approval could not be kept. */
    (void)remote_of(job)->decide(job->asking.run, decision_of(heap, answer), NULL);
    job->round++;
    return true;
}

/* -------------------------------------------------------------------------------- leaving a run */

/* The row of the run; NULL: answered. */
static PtcSuspendedRow *row_of(PtcJob *job)
{
    PtcSuspendedNew new = {.owner = job->owner,
                           .is_task = ptc_job_is_task(job->tool),
                           .in = &job->in,
                           .session = {NULL, 0}};
    if (job->held)
        new.session = ptc_text_cstr(ptc_session_handle(job->held));
    if (!job->row && !(job->row = ptc_suspended_add(job->app->suspended, &new)))
        ptc_job_fail_effects(job, "tool_denied",
                             "too many runs wait for an answer already, so nobody can be asked; "
                             "try again when some have been answered");
    return job->row;
}

/* Puts the run into the table.  `token` gets what brings it back.  False: answered. */
static bool park(PtcJob *job, PtcBuf *token)
{
    PtcSuspended *table = job->app->suspended;
    PtcBuf line;
    bool asked = job->row && !job->decided; /* the same question once more */
    PtcSuspendedRow *row = row_of(job);
    if (!row)
        return false;
    row->round = job->round;
    row->mark = job->mark;
    row->inquiry = job->inquiry;
    row->along = job->along;
    ptc_buf_clear(&row->said);
    ptc_buf_clear(&row->asked);
    if (!job->inquiry)
        ptc_buf_add(&row->asked, job->question.data, job->question.len);
    if (!ptc_suspended_set_end(table, row, !asked))
        return ptc_job_fail_effects(job, "expired", "the time for an answer is over");
    ptc_buf_init(&line, mem_of(job), APPROVE_QUESTION_BYTES);
    job->out.ok = false;
    ptc_job_effects_line(job, &line);
    ptc_suspended_put_token(row, ptc_buf_view(&line), token);
    ptc_buf_end_part(token, &line);
    return ptc_job_put_back(job);
}

/* Modern: the client gets the question, and calls again. */
static bool leave_pending(PtcJob *job)
{
    PtcBuf token;
    ptc_buf_init(&token, mem_of(job), PTC_SUSPENDED_TOKEN);
    if (park(job, &token)) {
        if (ptc_buf_ok(&token))
            ptc_mcp_set_state(job->call, token.data, token.len);
        else /* with a part of the token nobody could go on, so the question is taken back */
            ptc_mcp_error(job->call, PTC_MCP_INTERNAL_ERROR, "out of memory", NULL);
        job->unrecorded = true;
    }
    ptc_buf_deinit(&token);
    return false;
}

bool ptc_job_suspend(PtcJob *job, const char *why)
{
    PtcBuf token, sealed, calls;
    ptc_buf_init(&token, mem_of(job), PTC_SUSPENDED_TOKEN);
    ptc_buf_init(&sealed, mem_of(job), 2 * PTC_SUSPENDED_TOKEN);
    ptc_buf_init(&calls, mem_of(job), APPROVE_QUESTION_BYTES);
    size_t n = remote_of(job)->question(job->asking.run, &calls, NULL);
    bool inquiry = job->inquiry != 0;
    const char *tool = ptc_job_is_task(job->tool) ? "lisp_task" : "lisp_eval";
    if (park(job, &token)) {
        bool ok = ptc_buf_ok(&token) && ptc_buf_ok(&calls) &&
                  ptc_mcp_seal(job->call, ptc_buf_view(&token), &sealed);
        if (ok && inquiry)
            ptc_job_fail(job, "suspended",
                         "a server that the program calls has a question, which nobody has "
                         "answered yet.\nTo ask again and continue: %s {\"resume\":\"%.*s\"}",
                         tool, PTC_ARG_OF(sealed.data, sealed.len));
        else if (ok)
            ptc_job_fail(job, "suspended",
                         "%zu call%s of the program wait%s for a person, %s:%.*s\n"
                         "To ask again and continue: %s {\"resume\":\"%.*s\"}",
                         n, n == 1 ? "" : "s", n == 1 ? "s" : "",
                         why ? why : "who has not answered yet", PTC_ARG_OF(calls.data, calls.len),
                         tool, PTC_ARG_OF(sealed.data, sealed.len));
        else
            ptc_job_fail(job, "no_memory", "the server is out of memory");
    }
    ptc_buf_deinit(&token);
    ptc_buf_deinit(&sealed);
    ptc_buf_deinit(&calls);
    return false;
}

/* Legacy: the client has sent something that is not an answer, or nothing. */
static bool leave_unanswered(PtcJob *job, PtcText words)
{
    char why[APPROVE_WHY];
    if (words.bytes)
        snprintf(why, sizeof why, "but the client did not answer the question as it should: %.*s",
                 PTC_ARG(ptc_text_cut(words, APPROVE_WORDS)));
    return ptc_job_suspend(job, words.bytes ? why : NULL);
}

/* False: out of memory. */
static bool ask_client_about_calls(PtcJob *job, const char *key, PtcValue *answer, PtcMcpAsk *asked)
{
    PtcBuf params;
    ptc_buf_init(&params, mem_of(job), 4 * APPROVE_QUESTION_BYTES);
    bool ok = put_approval_question(job, &params);
    if (ok)
        *asked = ptc_mcp_ask(job->call, key, "elicitation/create", ptc_buf_text(&params), answer);
    ptc_buf_deinit(&params);
    return ok || ptc_job_fail_effects(job, "no_memory", "the server is out of memory");
}

/* Nobody has answered; a server is told so, and about calls a person may still be asked. */
static bool follow_failed(PtcJob *job, PtcValue words)
{
    if (words == PTC_NONE || !ptc_is_string(words))
        return leave_unanswered(job, (PtcText){NULL, 0});
    if (!job->inquiry)
        return leave_unanswered(job, ptc_str_text(words));
    ptc_job_reply(job, PTC_NONE);
    return true;
}

/* What becomes of a question that was put.  False: the call was answered. */
static bool follow_approval_answer(PtcJob *job, PtcMcpAsk asked, PtcValue answer)
{
    const char *wrong = asked == PTC_MCP_ASK_READY ? ptc_job_wrong_answer(job, answer) : NULL;
    if (wrong)
        return leave_unanswered(job, ptc_text_cstr(wrong));
    if (asked == PTC_MCP_ASK_READY)
        return ptc_job_take_answer(job, answer);
    if (asked == PTC_MCP_ASK_PENDING)
        return leave_pending(job);
    if (ptc_mcp_cancelled(job->call))
        return ptc_job_fail_effects(job, "cancelled", "the call was cancelled");
    if (asked == PTC_MCP_ASK_FAILED)
        return follow_failed(job, answer);
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
    char key[PTC_QUESTION_KEY];
    PtcValue answer = PTC_NONE;
    /* Modern clients send answers with the call, so the name of a question must not be known before it was asked. */
    if (!ptc_random_bytes(&job->mark, sizeof job->mark))
        return ptc_job_fail_effects(job, "no_memory", "the system has no random numbers");
    PtcMcpAsk asked = ptc_job_inquire(job, &answer);
    *more = job->inquiry != 0;
    if (!*more && !remote_of(job)->question(job->asking.run, NULL, NULL))
        return true;
    ptc_job_name_question(key, job->round, job->mark, 0);
    if (!*more && !ask_client_about_calls(job, key, &answer, &asked))
        return false;
    return follow_approval_answer(job, asked, answer);
}

/* A progress token is of no use while a person thinks; the sender of progress is the caller's. */
bool ptc_job_ask(PtcJob *job)
{
    bool more = true;
    while (more)
        if (!ask_one(job, &more))
            return false;
    return true;
}
