/* SPDX-License-Identifier: MIT
 * Runs that a later call continues, with the state that a modern client sends back or the token that a legacy one was
 * given.  What always holds: a run belongs to one call, or waits in the table of suspended runs; a function that
 * returns false has answered the call. */
#include <stdio.h>

#include "json/parse.h"
#include "mcp/app/app_int.h"
#include "value/str.h"

enum { RESUME_ANSWER_BYTES = (1 + PTC_ALONG) * 64 * PTC_KB, RESUME_LOOK_MS = 100 };

static PtcMem *mem_of(const PtcJob *job)
{
    return ptc_mcp_mem(ptc_mcp_server(job->call));
}

void ptc_job_name_question(char key[PTC_QUESTION_KEY], uint32_t round, uint64_t mark, unsigned nth)
{
    int n = snprintf(key, PTC_QUESTION_KEY, "approve-%u-%016llx", (unsigned)round,
                     (unsigned long long)mark);
    if (nth)
        snprintf(key + n, PTC_QUESTION_KEY - (size_t)n, "-%u", nth + 1);
}

void ptc_job_take_effects(PtcJob *job)
{
    ptc_buf_clear(&job->out.took);
    job->out.took_any = job->app->config.remote->effects(job->asking.run, &job->out.took);
}

/* The record of this call still tells of them. */
static void own_text(PtcJob *job, PtcText *text)
{
    PtcValue copy = text->bytes && job->app->recorder
                        ? ptc_str_new(ptc_mcp_heap(job->call), text->bytes, text->len)
                        : PTC_NONE;
    *text = copy == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(copy);
}

/* Whoever goes on with a program in a session holds the session again. */
static void let_session_wait(PtcJob *job)
{
    if (job->held)
        ptc_sessions_let_go(job->app->sessions, job->held, NULL);
    job->held = NULL;
}

bool ptc_job_put_back(PtcJob *job)
{
    PtcSuspendedRow *row = job->row;
    own_text(job, &job->in.program);
    own_text(job, &job->in.context);
    let_session_wait(job);
    row->mode = job->asking.mode;
    row->offers = job->asking.offers;
    row->here.run = job->asking.run;
    row->here.background = job->background;
    job->asking.run = NULL;
    job->background = NULL;
    job->row = NULL;
    return ptc_suspended_wait(job->app->suspended, row) ||
           ptc_job_fail_effects(job, "store_failed",
                                "a person would have to be asked, and the run cannot be kept "
                                "meanwhile: the store cannot be read or written, or is full");
}

/* Leaves the row as it was found.  False always: the call was answered. */
static bool leave_row(PtcJob *job, PtcSuspendedRow *row)
{
    job->row = NULL;
    if (row->state == PTC_ROW_TAKEN && ptc_suspended_wait(job->app->suspended, row))
        return false;
    if (row->state != PTC_ROW_TAKEN)
        ptc_suspended_drop(job->app->suspended, row);
    return false;
}

/* The run of the row, from what was written or as it is here. */
static bool take_run(PtcJob *job, PtcSuspendedRow *row)
{
    PtcRemote *remote = job->app->config.remote;
    if (!row->here.run && row->run.bytes && remote->restore)
        row->here.run = remote->restore(remote, job->owner, row->run);
    if (!row->here.run) {
        ptc_job_fail(job, "no_memory",
                     "the run cannot be read, or the server is out of memory; try again a little "
                     "later");
        return leave_row(job, row);
    }
    job->asking = (PtcTaskAsking){row->mode, row->offers, row->here.run};
    job->background = row->here.background;
    row->here = (PtcSuspendedHere){.run = NULL};
    return true;
}

/* The run of the row becomes the call's.  False: the call was answered. */
static bool adopt(PtcJob *job, PtcSuspendedRow *row)
{
    bool gone = false;
    if (row->session.bytes && !ptc_session_hold_again(job, row->session, &gone) && !gone)
        return leave_row(job, row);
    job->in.program = row->program;
    job->in.context = row->context;
    job->in.signature = row->signature;
    job->in.output_schema = row->output_schema;
    job->in.now_ms = row->now_ms;
    job->inquiry = row->inquiry;
    job->along = row->along;
    job->round = row->round;
    job->mark = row->mark;
    /* whatever this client can: the question was answered, or cannot be asked now */
    job->can_ask = true;
    if (!take_run(job, row))
        return false;
    job->row = row;
    ptc_job_take_effects(job);
    return !gone || ptc_job_fail_effects(job, "unknown_session",
                                         "the session of the program was closed, or its time is "
                                         "over, so nothing more of the program was run");
}

/* A task is continued by lisp_task, every other run by lisp_eval.  True: the row was put back, and the call
 * answered. */
static bool is_of_other_tool(PtcJob *job, PtcSuspendedRow *row)
{
    if (row->is_task == ptc_job_is_task(job->tool))
        return false;
    ptc_job_fail(job, "args_error", "this token is for %s",
                 row->is_task ? "lisp_task" : "lisp_eval");
    return !leave_row(job, row);
}

/* Once more what was answered before. */
static bool answer_again(PtcJob *job, PtcSuspendedRow *row)
{
    job->unrecorded = true;
    if (row->told.len) {
        ptc_job_tell(job, &row->told, row->told_ok);
    } else if (row->has_out && !row->failed && !row->is_task) { /* as it was told then */
        PtcTaskOut mine = job->out;
        job->out = row->out;
        job->in.program = row->program;
        job->in.context = row->context;
        job->in.in_session = row->session.bytes != NULL;
        job->info = row->info;
        ptc_job_answer(job);
        job->out = mine;
        job->in.program = job->in.context = (PtcText){NULL, 0};
    } else if (row->failed) {
        ptc_job_fail(job, row->reason, "%.*s", PTC_ARG_OF(row->message.data, row->message.len));
    } else {
        ptc_job_fail(job, "args_error", "this was answered already, with more than could be kept");
    }
    ptc_suspended_drop(job->app->suspended, row);
    return false;
}

static bool tell_gone(PtcJob *job, const PtcSuspendedToken *token)
{
    bool late = ptc_suspended_is_late(job->app->suspended, token);
    return ptc_job_fail(
        job, late ? "expired" : "lost",
        "%s; nothing more of the program was run; when the question was last asked, "
        "%s%.*s",
        late ? "the time for an answer is over"
             : "the server that had the run was restarted or is gone",
        token->effects.len ? "this had happened:" : "nothing had taken effect",
        PTC_ARG(token->effects));
}

/* What a call brings to go on with a run. */
typedef struct {
    PtcSuspendedToken token;
    PtcValue answer; /* PTC_NONE: the question is to be asked once more */
    uint8_t reply[PTC_SHA256_BYTES];
    bool legacy; /* by `resume` */
} Coming;

/* Waits while another call does what this one asks for. */
static PtcSuspendedFound take_suspended_row(PtcJob *job, Coming *c, PtcSuspendedRow **row)
{
    PtcSuspended *table = job->app->suspended;
    int64_t end = ptc_clock_ns(NULL) + job->app->deadline_ms * PTC_MS;
    bool peek = !c->legacy && c->answer == PTC_NONE;
    c->token.resumes = c->legacy;
    PtcSuspendedFound found;
    while ((found = ptc_suspended_take(table, job->owner, &c->token, c->reply, peek, row)) ==
               PTC_SUSPENDED_BUSY &&
           !ptc_mcp_cancelled(job->call) && ptc_clock_ns(NULL) < end) {
        ptc_mcp_pause(job->call);
        ptc_suspended_await(table, job->owner, &c->token, RESUME_LOOK_MS);
        ptc_mcp_resume(job->call);
    }
    return found;
}

static bool can_ask(PtcJob *job, const PtcSuspendedRow *row)
{
    return row->inquiry ? ptc_app_offers(job->app, job->call) != 0
                        : ptc_mcp_can_ask(job->call, "elicitation/create");
}

/* There is no answer, and this client cannot be asked for one: another may. */
static bool leave_untouched(PtcJob *job, const Coming *c, PtcSuspendedRow *row)
{
    char key[PTC_QUESTION_KEY];
    job->unrecorded = true;
    if (c->legacy) {
        ptc_job_fail(job, "suspended",
                     "the program waits for a person, and this client cannot ask one: it "
                     "did not offer \"elicitation\"; nothing is lost: the same token "
                     "continues the run from a client that can");
        return leave_row(job, row);
    }
    ptc_job_name_question(key, c->token.round, c->token.mark, 0);
    ptc_job_fail(job, "suspended",
                 "the program waits for a person; this request has no answer, and "
                 "the question cannot be repeated to a client that does not offer "
                 "\"elicitation\"; nothing is lost: send the same requestState again with "
                 "the answer as \"%s\" in inputResponses, or with that capability",
                 key);
    return leave_row(job, row);
}

/* The run waits on, for an answer that can be used. */
static bool leave_wrong(PtcJob *job, const Coming *c, PtcSuspendedRow *row, const char *wrong)
{
    char key[PTC_QUESTION_KEY];
    ptc_job_name_question(key, c->token.round, c->token.mark, 0);
    ptc_job_fail(job, "args_error",
                 "inputResponses: the answer to \"%s\" cannot be used: %s; the run still "
                 "waits for one",
                 key, wrong);
    return leave_row(job, row);
}

static bool tell_used(PtcJob *job, const Coming *c)
{
    return ptc_job_fail(
        job, "args_error", "%s",
        c->answer == PTC_NONE
            ? "this question was answered already; send the same answer again to get the result"
            : "this question was answered already, differently");
}

/* What a person has answered at another place. */
static PtcValue said_elsewhere(PtcJob *job, const PtcSuspendedRow *row)
{
    PtcJsonError error;
    return ptc_json_parse(ptc_mcp_heap(job->call), row->said.data, row->said.len, &error);
}

/* Goes on with a run that waits; `same`: somebody was told to before, and it waits again. */
static bool go_on_waiting(PtcJob *job, const Coming *c, PtcSuspendedRow *row, bool same)
{
    PtcValue answer = same ? PTC_NONE : row->said.len ? said_elsewhere(job, row) : c->answer;
    bool tell = same && c->legacy; /* what the call before was told */
    bool drop = ptc_mcp_cancelled(job->call) && !c->legacy && answer == PTC_NONE;
    if (drop) /* it was a task, and nobody wants it any more */
        return adopt(job, row) && ptc_job_fail_effects(job, "cancelled", "the call was cancelled");
    if (answer == PTC_NONE && !tell && !can_ask(job, row))
        return leave_untouched(job, c, row);
    job->inquiry = row->inquiry;
    const char *wrong = answer == PTC_NONE || tell ? NULL : ptc_job_wrong_answer(job, answer);
    if (wrong)
        return leave_wrong(job, c, row, wrong);
    if (!adopt(job, row))
        return false;
    if (tell)
        return ptc_job_suspend(job, NULL);
    if (c->legacy)
        job->round++; /* whoever brings the old token again gets what comes of this */
    job->ask_first = answer == PTC_NONE || job->inquiry; /* there may be another question */
    return answer == PTC_NONE || ptc_job_take_answer(job, answer);
}

static bool tell_lost(PtcJob *job, const PtcSuspendedToken *token)
{
    return ptc_job_fail(job, "lost",
                        "the server that had the program is gone, and so is the run: what it did "
                        "after that, if anything, is not known; when the question was last asked, "
                        "%s%.*s",
                        token->effects.len ? "this had happened:" : "nothing had taken effect",
                        PTC_ARG(token->effects));
}

static bool tell_elsewhere(PtcJob *job)
{
    return ptc_job_fail(job, "busy",
                        "another server of these has the run: a call of it is open there, to a "
                        "server that has asked, or it is a task; nothing was done: send the same "
                        "again until that server gets it");
}

static bool go_on_with_row(PtcJob *job, Coming *c)
{
    PtcSuspendedRow *row;
    PtcSuspendedFound found = take_suspended_row(job, c, &row);
    switch (found) {
    case PTC_SUSPENDED_GONE: return tell_gone(job, &c->token);
    case PTC_SUSPENDED_USED: return tell_used(job, c);
    case PTC_SUSPENDED_OTHER:
        return ptc_job_fail(job, "args_error",
                            "this question is not asked any more, another one has taken its place; "
                            "send the same requestState without an answer to be asked that");
    case PTC_SUSPENDED_BUSY:
        return ptc_job_fail(job, "busy",
                            "another call is already continuing this run; try again later");
    case PTC_SUSPENDED_LOST: return tell_lost(job, &c->token);
    case PTC_SUSPENDED_ELSEWHERE: return tell_elsewhere(job);
    case PTC_SUSPENDED_FAILED:
        return ptc_job_fail(job, "store_failed",
                            "the run cannot be read from the store, or the server is out of "
                            "memory; nothing was done: try again");
    case PTC_SUSPENDED_SAME:
    case PTC_SUSPENDED_TAKEN: break;
    }
    if (is_of_other_tool(job, row))
        return false;
    return row->state == PTC_ROW_TAKEN ? go_on_waiting(job, c, row, found == PTC_SUSPENDED_SAME)
                                       : answer_again(job, row);
}

/* Which questions were answered, and how. */
static bool digest_reply(PtcJob *job, Coming *c)
{
    PtcBuf text;
    char key[PTC_QUESTION_KEY];
    ptc_buf_init(&text, mem_of(job), RESUME_ANSWER_BYTES);
    bool ok = ptc_emit_value(&text, ptc_mcp_heap(job->call), c->answer);
    for (unsigned nth = 1; nth <= PTC_ALONG; nth++) {
        ptc_job_name_question(key, c->token.round, c->token.mark, nth);
        PtcValue other = ptc_mcp_reply_to(job->call, key);
        if (other != PTC_NONE)
            ok = ptc_buf_addf(&text, "\n%u ", nth) &&
                 ptc_emit_value(&text, ptc_mcp_heap(job->call), other) && ok;
    }
    ptc_suspended_digest(c->token.round, ptc_buf_view(&text), c->reply);
    ptc_buf_deinit(&text);
    return ok;
}

/* Modern: the state of the call before, and perhaps an answer. */
static bool resume_state(PtcJob *job, PtcText state)
{
    Coming c = {.answer = PTC_NONE};
    char key[PTC_QUESTION_KEY];
    if (!ptc_suspended_get_token(state, &c.token))
        return ptc_job_fail(job, "args_error", "requestState belongs to another kind of call");
    ptc_job_name_question(key, c.token.round, c.token.mark, 0);
    c.answer = ptc_mcp_reply_to(job->call, key);
    if (c.answer == PTC_NONE)
        return go_on_with_row(job, &c);
    if (!digest_reply(job, &c))
        return ptc_job_fail(job, "args_error", "the answer to the question is too large");
    return go_on_with_row(job, &c);
}

/* lisp_eval {"resume": token} */
static bool resume_token(PtcJob *job, PtcText text)
{
    Coming c = {.answer = PTC_NONE, .legacy = true};
    PtcBuf bytes;
    bool go_on = false;
    ptc_sha256("resume", 6, c.reply);
    ptc_buf_init(&bytes, mem_of(job), PTC_SUSPENDED_TOKEN);
    if (ptc_mcp_arg(job->call, "program") != PTC_NONE)
        ptc_job_fail(job, "args_error", "give `resume` alone: the program is known");
    else if (!ptc_mcp_unseal(job->call, text, &bytes) ||
             !ptc_suspended_get_token(ptc_buf_view(&bytes), &c.token))
        ptc_job_fail(job, "args_error",
                     "`resume` is not a token that this server gave you; take it from the answer "
                     "that said \"suspended\"");
    else
        go_on = go_on_with_row(job, &c);
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
    ptc_buf_clear(&row->message);
    ptc_buf_add(&row->message, job->message.data, job->message.len);
    ptc_task_out_init(&job->out, mem_of(job), 0);
    job->in = (PtcTaskIn){0};
    job->row = NULL;
    ptc_suspended_answered(job->app->suspended, row);
}
