/* SPDX-License-Identifier: MIT
 * The step: what an agent does next.  Read it from the bottom up: ptc_step, then a function for each event.
 *
 * Running out of memory is noticed in one place, at the end of an event: arena and buffer remember that they failed,
 * and the state goes back to the copy that was made at the beginning. */
#include "agent/step/step.h"

#include "agent/step/step_int.h"

PtcStepOptions ptc_step_options(const PtcAgentDef *def)
{
    PtcStepOptions options = {.token_limit = -1,
                              .retry = def->retry,
                              .depth = 1,
                              .max_depth = def->max_depth,
                              .has_model = true};
    if (options.retry.max_attempts < 1)
        options.retry.max_attempts = 1;
    return options;
}

void ptc_step_init(PtcStep *s, const PtcAgentDef *def, const PtcStepOptions *options)
{
    memset(s, 0, sizeof *s);
    s->def = def;
    s->options = *options;
    s->note = (PtcMessage){.role = PTC_ROLE_USER, .content = ptc_text_cstr(ptc_words_left_out())};
    ptc_mem_init(&s->mem, PTC_STEP_BYTES);
    ptc_arena_init(&s->arena, &s->mem);
    ptc_buf_init(&s->text, &s->mem, PTC_STEP_BYTES);
    ptc_messages_init(&s->now.messages, &s->arena);
    s->now.messages.count_tokens = def->count_tokens;
    s->now.messages.count_user = def->count_tokens_user;
    s->now.work = def->max_turns;
    s->now.retry = def->retry_turns;
}

void ptc_step_deinit(PtcStep *s)
{
    ptc_buf_deinit(&s->text);
    ptc_arena_deinit(&s->arena);
}

static PtcText keep(PtcStep *s, PtcText text)
{
    return ptc_messages_keep(&s->arena, text);
}

/* ------------------------------------------------------------------------------- the end */

static PtcAction finish_step(PtcStep *s, PtcVerdict verdict)
{
    s->now.state = PTC_STEP_DONE;
    s->now.verdict = verdict;
    return (PtcAction){.kind = PTC_ACTION_FINISH};
}

static PtcAction finish_ok(PtcStep *s, const char *by, PtcText answer)
{
    return finish_step(s, (PtcVerdict){.ok = true, .by = by, .value = answer});
}

static PtcAction finish_error(PtcStep *s, PtcAgentFault reason, const char *cause)
{
    return finish_step(s, (PtcVerdict){.reason = reason,
                                       .cause = cause,
                                       .message = ptc_text_cstr(ptc_agent_fault_text(reason))});
}

/* The same for a run that ran out of something: the last value it had becomes its partial answer. */
static PtcAction finish_short(PtcStep *s, PtcAgentFault reason, const char *cause)
{
    PtcAction action = finish_error(s, reason, cause);
    s->now.verdict.partial = s->now.bare;
    return action;
}

static const char *last_failure(const PtcStep *s)
{
    const PtcTurn *last = s->now.turn_count ? &s->now.turns[s->now.turn_count - 1] : NULL;
    return last && !last->ok ? ptc_turn_word(last) : NULL;
}

/* ------------------------------------------------------------------------------ the gate */

static bool is_over_budget(const PtcStep *s, const PtcFacts *f)
{
    return f->stop || (s->options.token_limit >= 0 && f->tree_tokens > s->options.token_limit);
}

/* Why no further request is possible; PTC_FAULT_NONE: one is. */
static PtcAgentFault closed(const PtcStep *s, const PtcFacts *f)
{
    if (s->now.work == 0 && s->now.retry == 0)
        return s->def->retry_turns > 0 ? PTC_FAULT_BUDGET_EXHAUSTED : PTC_FAULT_MAX_TURNS;
    if (f->budget <= 0)
        return PTC_FAULT_TURN_BUDGET;
    if (f->now_ns >= f->deadline_ns)
        return PTC_FAULT_MISSION_TIMEOUT;
    return is_over_budget(s, f) ? PTC_FAULT_BUDGET_CALLBACK : PTC_FAULT_NONE;
}

static PtcAction finish_over_budget(PtcStep *s)
{
    if (s->options.return_partial && s->now.bare_answer.bytes)
        return finish_ok(s, "partial", s->now.bare_answer);
    return finish_short(s, PTC_FAULT_BUDGET_CALLBACK, NULL);
}

static PtcAction finish_closed(PtcStep *s, PtcAgentFault reason)
{
    bool turns = s->now.work == 0 && s->now.retry == 0;
    if (reason == PTC_FAULT_BUDGET_CALLBACK)
        return finish_over_budget(s);
    turns = turns || reason == PTC_FAULT_TURN_BUDGET;
    return finish_short(s, reason, turns ? last_failure(s) : NULL);
}

/* ------------------------------------------------------------------------------- asking */

static PtcTurnType next_turn_type(const PtcStep *s, const PtcFacts *f)
{
    if (s->now.work == 0)
        return PTC_TURN_RETRY;
    return s->now.work == 1 || f->budget == 1 ? PTC_TURN_MUST_RETURN : PTC_TURN_NORMAL;
}

static PtcAction ask_for_turn(PtcStep *s, const PtcFacts *f)
{
    PtcStepNow *now = &s->now;
    static const PtcCompactionRule off;
    const PtcCompactionRule *rule = s->def->max_turns > 1 ? &s->def->compaction : &off;
    PtcSending sending =
        ptc_compaction_decide(rule, &now->messages, now->mission, (int64_t)now->turn_count + 1,
                              &s->note, &now->compacted);
    if (ptc_step_sent_bytes(s, sending) > PTC_LLM_REQUEST_BYTES) {
        PtcAction action =
            finish_short(s, PTC_FAULT_LLM_ERROR, ptc_llm_status_name(PTC_LLM_TOO_LARGE));
        now->verdict.status = PTC_LLM_TOO_LARGE;
        now->verdict.message = PTC_TEXT("the conversation has more bytes than a request may have");
        return action;
    }
    now->state = PTC_STEP_ASKING;
    now->type = next_turn_type(s, f);
    now->attempts++;
    now->requests++;
    return (PtcAction){.kind = PTC_ACTION_ASK, .request = ptc_step_request(s, sending, f)};
}

/* The next request, or the end. */
static PtcAction go_on_or_finish(PtcStep *s, const PtcFacts *f)
{
    PtcAgentFault reason = closed(s, f);
    return reason ? finish_closed(s, reason) : ask_for_turn(s, f);
}

/* -------------------------------------------------------------------------------- turns */

static void begin_turn(PtcStep *s, PtcTokens tokens)
{
    s->now.turn = (PtcTurn){.type = s->now.type, .ok = true, .tokens = tokens};
    s->now.turn_first = s->now.messages.count;
    s->now.attempts = s->now.gone = 0;
}

/* Is this a turn after which no other can follow?  Nobody could read the result of a native call. */
static bool is_last_turn(const PtcStep *s, const PtcFacts *f)
{
    return f->budget <= 0 || s->now.work + s->now.retry == 1;
}

/* ------------------------------------------------------------------------------ replies */

static PtcRemaining remaining(const PtcStep *s, const PtcFacts *f)
{
    return (PtcRemaining){.turns = f->budget < INT64_MAX ? f->budget + 1 : INT64_MAX,
                          .work_turns = s->now.work,
                          .retry_turns = s->now.retry,
                          .depth = s->options.depth,
                          .max_depth = s->options.max_depth,
                          .tokens = s->now.tokens,
                          .llm_requests = s->now.requests};
}

static PtcEnding ending_of_turn(const PtcStep *s)
{
    const PtcAgentDef *def = s->def;
    if (def->mode == PTC_MODE_COMBINED)
        return PTC_ENDS_NEVER;
    if (s->now.turn.type == PTC_TURN_NORMAL)
        return PTC_ENDS_RETURN;
    if (def->explicit_completion)
        return PTC_ENDS_DUE_RETURN;
    return def->max_turns == 1 && def->retry_turns == 0 ? PTC_ENDS_DUE_NIL : PTC_ENDS_DUE_VALUE;
}

/* Native calls in a turn that no other can follow: all of them are answered, none is made. */
static PtcAction refuse_last(PtcStep *s, const PtcFacts *f)
{
    for (size_t i = 0; s->now.pending && i < s->now.pending_count; i++) {
        s->now.pending[i].reason = PTC_FAULT_TOOL;
        s->now.pending[i].message = ptc_text_cstr(ptc_words_no_turn_left());
    }
    if (s->now.pending)
        ptc_step_set_calls(s, NULL, NULL);
    ptc_step_say_called(s, NULL, NULL);
    ptc_step_end_turn(s, PTC_FAULT_MUST_RETURN,
                      ptc_text_cstr(ptc_agent_fault_text(PTC_FAULT_MUST_RETURN)));
    return go_on_or_finish(s, f);
}

static PtcAction start_turn_program(PtcStep *s, const PtcHeard *heard, const PtcFacts *f)
{
    if (s->def->mode == PTC_MODE_COMBINED && is_last_turn(s, f))
        return refuse_last(s, f);
    s->now.turn.program = keep(s, heard->program);
    s->now.ending = ending_of_turn(s);
    s->now.state = PTC_STEP_RUNNING;
    return (PtcAction){.kind = PTC_ACTION_RUN,
                       .run = {.program = s->now.turn.program,
                               .ending = s->now.ending,
                               .fail_kind = s->now.fail_kind,
                               .fail_message = s->now.fail_message,
                               .did = s->now.did,
                               .remaining = remaining(s, f)}};
}

/* Counts the calls against the limit; refused calls count too. */
static void limit_calls(PtcStep *s)
{
    int64_t most = s->def->max_tool_calls;
    for (size_t i = 0; s->now.pending && i < s->now.pending_count; i++) {
        PtcPending *p = &s->now.pending[i];
        if (++s->now.native_calls <= most || most == 0 || p->reason)
            continue;
        ptc_step_begin_text(s);
        ptc_words_call_limit(&s->text, most);
        p->reason = PTC_FAULT_CALL_LIMIT;
        p->message = ptc_step_keep_text(s);
    }
}

/* All calls have been answered. */
static PtcAction end_calls(PtcStep *s, const PtcCallResult *results, const PtcFacts *f)
{
    ptc_step_set_calls(s, results, NULL);
    ptc_step_end_turn(s, PTC_FAULT_NONE, (PtcText){NULL, 0});
    ptc_step_say_called(s, results, closed(s, f) ? NULL : f);
    return go_on_or_finish(s, f);
}

static PtcAction make_calls(PtcStep *s, const PtcFacts *f)
{
    if (is_last_turn(s, f))
        return refuse_last(s, f);
    limit_calls(s);
    PtcCallOrder *orders = ptc_arena_alloc(&s->arena, (s->now.pending_count + 1) * sizeof *orders);
    size_t count = 0;
    for (size_t i = 0; orders && s->now.pending && i < s->now.pending_count; i++)
        if (!s->now.pending[i].reason)
            orders[count++] = (PtcCallOrder){s->now.pending[i].tool, s->now.pending[i].call.args};
    if (count == 0)
        return s->arena.failed ? finish_error(s, PTC_FAULT_NO_MEMORY, NULL) : end_calls(s, NULL, f);
    s->now.state = PTC_STEP_CALLING;
    return (PtcAction){.kind = PTC_ACTION_CALL, .call = {orders, count}};
}

static PtcAction take_plain_answer(PtcStep *s, const PtcHeard *heard)
{
    PtcText answer = keep(s, heard->answer);
    s->now.turn.value = answer;
    ptc_step_end_turn(s, PTC_FAULT_NONE, answer);
    return finish_ok(s, "answer", answer);
}

static PtcAction take_bad(PtcStep *s, const PtcHeard *heard, const PtcFacts *f)
{
    bool calls = s->now.pending_count && s->now.pending;
    s->now.turn.issues = keep(s, heard->issues);
    if (calls)
        ptc_step_set_calls(s, NULL, NULL);
    ptc_step_end_turn(s, heard->reason, keep(s, heard->message));
    if (calls)
        ptc_step_say_called(s, NULL, heard->feedback.bytes || closed(s, f) ? NULL : f);
    if (!closed(s, f))
        ptc_step_say_bad(s, heard, f);
    return go_on_or_finish(s, f);
}

static PtcAction on_reply(PtcStep *s, const PtcEvent *e)
{
    const PtcHeard *heard = e->reply.heard;
    const PtcFacts *f = &e->facts;
    ptc_step_add_tokens(&s->now.tokens, &e->reply.tokens);
    if (is_over_budget(s, f)) {
        bool use = s->options.return_partial && heard->kind == PTC_HEARD_ANSWER;
        PtcAction action =
            use ? finish_ok(s, "partial", keep(s, heard->answer)) : finish_over_budget(s);
        action.turn_back = true;
        return action;
    }
    if (heard->kind == PTC_HEARD_NO_MEMORY) { /* the rest of it is incomplete */
        s->arena.failed = true;
        return finish_error(s, PTC_FAULT_NO_MEMORY, NULL);
    }
    begin_turn(s, e->reply.tokens);
    ptc_step_say_assistant(s, heard, e->reply.opaque);
    switch (heard->kind) {
    case PTC_HEARD_PROGRAM: return start_turn_program(s, heard, f);
    case PTC_HEARD_CALLS: return make_calls(s, f);
    case PTC_HEARD_ANSWER: return take_plain_answer(s, heard);
    default: return take_bad(s, heard, f);
    }
}

/* ----------------------------------------------------------------------- failed requests */

static PtcAction finish_llm(PtcStep *s, PtcLlmStatus status, PtcText message)
{
    PtcAction action = finish_short(s, PTC_FAULT_LLM_ERROR, ptc_llm_status_name(status));
    s->now.verdict.status = status;
    s->now.verdict.message = keep(s, message.bytes ? message : PTC_TEXT("the request failed"));
    return action;
}

/* The next model is asked the same at once; without one the run ends.  A text that somebody has seen the beginning of
 * is not begun again. */
static PtcAction give_model_up(PtcStep *s, const PtcEvent *e, PtcText message)
{
    if (s->now.fallback == s->options.fallbacks || e->failed.streamed)
        return finish_llm(s, e->failed.status, message);
    s->now.fallback++;
    s->now.gone = s->now.attempts;
    s->now.state = PTC_STEP_WAITING;
    return (PtcAction){.kind = PTC_ACTION_WAIT};
}

/* Asks again after a while, if there is time left. */
static PtcAction retry_later(PtcStep *s, const PtcEvent *e)
{
    PtcText too_long;
    int64_t ms = ptc_step_wait_ms(s, e, &too_long);
    if (too_long.bytes)
        return give_model_up(s, e, too_long);
    s->now.state = PTC_STEP_WAITING;
    return (PtcAction){.kind = PTC_ACTION_WAIT, .wait_ms = ms};
}

static PtcAction end_failed_request(PtcStep *s, const PtcEvent *e)
{
    PtcLlmStatus status = e->failed.status;
    switch (status) {
    case PTC_LLM_CANCELLED: return finish_error(s, PTC_FAULT_CANCELLED, NULL);
    case PTC_LLM_DEADLINE: return finish_short(s, PTC_FAULT_MISSION_TIMEOUT, NULL);
    case PTC_LLM_NO_MEMORY: return finish_error(s, PTC_FAULT_NO_MEMORY, NULL);
    default: break;
    }
    s->now.errors++;
    if (status == PTC_LLM_REPLAY_MISMATCH) {
        PtcAction action = finish_error(s, PTC_FAULT_REPLAY_MISMATCH, NULL);
        s->now.verdict.message = keep(s, e->failed.error);
        return action;
    }
    bool again = s->options.retry.retryable >> status & 1 && !e->failed.streamed &&
                 s->now.attempts - s->now.gone < s->options.retry.max_attempts;
    return again ? retry_later(s, e) : give_model_up(s, e, e->failed.error);
}

static PtcAction on_failed(PtcStep *s, const PtcEvent *e)
{
    ptc_step_add_tokens(&s->now.tokens, &e->failed.tokens);
    PtcAction action = end_failed_request(s, e);
    action.turn_back = true;
    return action;
}

/* ---------------------------------------------------------------------------- programs */

typedef enum { GO_ON, END_OK, END_FAILED, END_MEMORY, END_CANCELLED } NextStep;

#define STEP_ANY (~0u)
#define STEP_END(e) (1u << PTC_RAN_##e)
#define STEP_ON(e) (1u << PTC_ENDS_##e)
enum { STEP_FITS = 2, MISFIT = 1, STEP_NIL = 1 << PTC_VALUE_NIL, STEP_VAR = 1 << PTC_VALUE_VAR };
enum {
    KEEP = 1,       /* steps that it checked off count */
    FAIL = 2,       /* the next program sees data/fail */
    STEP_WRONG = 4, /* the model is told that the value is not the answer it should be ... */
    MUST = 8,       /* ... or that an answer was due */
};

/* What a program that ended this way does to the run.  The first row that matches counts.  `reason` is the turn's;
 * NONE: it is ok. */
static const struct StepRow {
    unsigned ends, endings, kinds, fits;
    PtcAgentFault reason;
    NextStep next;
    const char *by;
    unsigned does;
} rows[] = {
    /* combined mode: the value is a result and nothing more */
    {STEP_END(VALUE) | STEP_END(RETURN), STEP_ON(NEVER), STEP_ANY, STEP_ANY, PTC_FAULT_NONE, GO_ON,
     NULL, KEEP},
    {STEP_END(FAIL), STEP_ON(NEVER), STEP_ANY, STEP_ANY, PTC_FAULT_FAIL, GO_ON, NULL, 0},
    /* (return v), (fail v) */
    {STEP_END(RETURN), STEP_ANY, STEP_ANY, STEP_FITS, PTC_FAULT_NONE, END_OK, "return", KEEP},
    {STEP_END(RETURN), STEP_ANY, STEP_ANY, MISFIT, PTC_FAULT_WRONG_RETURN, GO_ON, NULL, STEP_WRONG},
    {STEP_END(FAIL), STEP_ANY, STEP_ANY, STEP_ANY, PTC_FAULT_FAIL, END_FAILED, NULL, 0},
    /* a bare value: shown, or, when the answer is due, taken as the answer if it fits */
    {STEP_END(VALUE), STEP_ON(RETURN), STEP_ANY, STEP_ANY, PTC_FAULT_NONE, GO_ON, NULL, KEEP},
    {STEP_END(VALUE), STEP_ON(DUE_RETURN), STEP_ANY, STEP_ANY, PTC_FAULT_MUST_RETURN, GO_ON, NULL,
     KEEP | MUST},
    {STEP_END(VALUE), STEP_ON(DUE_VALUE), STEP_NIL | STEP_VAR, STEP_ANY, PTC_FAULT_MUST_RETURN,
     GO_ON, NULL, KEEP | MUST},
    {STEP_END(VALUE), STEP_ON(DUE_NIL), STEP_VAR, STEP_ANY, PTC_FAULT_MUST_RETURN, GO_ON, NULL,
     KEEP | MUST},
    {STEP_END(VALUE), STEP_ANY, STEP_ANY, STEP_FITS, PTC_FAULT_NONE, END_OK, "value", KEEP},
    {STEP_END(VALUE), STEP_ANY, STEP_ANY, MISFIT, PTC_FAULT_WRONG_RETURN, GO_ON, NULL,
     KEEP | STEP_WRONG},
    /* errors and limits */
    {STEP_END(FAILED), STEP_ANY, STEP_ANY, STEP_ANY, PTC_FAULT_PROGRAM, GO_ON, NULL, FAIL},
    {STEP_END(UNFIT), STEP_ANY, STEP_ANY, STEP_ANY, PTC_FAULT_WRONG_RETURN, GO_ON, NULL, FAIL},
    {STEP_END(MEMORY_LIMIT), STEP_ANY, STEP_ANY, STEP_ANY, PTC_FAULT_MEMORY_LIMIT, END_MEMORY, NULL,
     FAIL},
    {STEP_ANY, STEP_ANY, STEP_ANY, STEP_ANY, PTC_FAULT_CANCELLED, END_CANCELLED, NULL, 0},
};

static const struct StepRow *find_ending_row(PtcEnding ending, PtcRanEnd end, PtcValueKind kind,
                                             bool fits)
{
    const struct StepRow *row = rows;
    while (!(row->ends >> end & 1) || !(row->endings >> ending & 1) || !(row->kinds >> kind & 1) ||
           !(row->fits >> fits & 1))
        row++;
    return row;
}

bool ptc_step_ends(PtcEnding ending, PtcRanEnd end, PtcValueKind kind, bool fits)
{
    return find_ending_row(ending, end, kind, fits)->next == END_OK;
}

bool ptc_step_fails(PtcEnding ending, PtcRanEnd end, PtcValueKind kind, bool fits)
{
    return find_ending_row(ending, end, kind, fits)->reason != PTC_FAULT_NONE;
}

static PtcAction end_by_program(PtcStep *s, const struct StepRow *row, const PtcRan *ran)
{
    switch (row->next) {
    case END_OK: return finish_ok(s, row->by, s->now.turn.answer);
    case END_FAILED: {
        PtcAction action = finish_error(s, PTC_FAULT_FAILED, NULL);
        s->now.verdict.value = s->now.turn.value;
        if (ran->message.len)
            s->now.verdict.message = keep(s, ran->message);
        return action;
    }
    case END_MEMORY: return finish_error(s, PTC_FAULT_MEMORY_EXCEEDED, NULL);
    default: return finish_error(s, PTC_FAULT_CANCELLED, NULL);
    }
}

/* What the next program sees as data/fail.  Whatever had to be corrected leaves one when something was done outside
 * that must not be done again; errors always do. */
static void note_failure(PtcStep *s, const struct StepRow *row, const PtcRan *ran, PtcText message)
{
    if (row->reason)
        ptc_step_add_did(s, &ran->did);
    else
        s->now.did = (PtcDidCalls){NULL, 0, 0};
    bool seen = row->does & FAIL || s->now.did.count > 0;
    s->now.fail_kind = seen ? ptc_turn_word(&s->now.turn) : NULL;
    s->now.fail_message = seen ? message : (PtcText){NULL, 0};
}

static PtcAction on_ran(PtcStep *s, const PtcEvent *e)
{
    const PtcRan *ran = &e->ran;
    if (ran->end == PTC_RAN_NO_MEMORY) {
        s->arena.failed = true;
        return finish_error(s, PTC_FAULT_NO_MEMORY, NULL);
    }
    const struct StepRow *row =
        find_ending_row(s->now.ending, ran->end, ran->value_kind, ran->fits);
    bool over = row->next != GO_ON && !(row->next == END_MEMORY && s->def->memory_rollback);
    PtcSayAs as = row->does & STEP_WRONG ? PTC_SAY_WRONG_RETURN
                  : row->does & MUST     ? PTC_SAY_MUST_RETURN
                                         : PTC_SAY_RESULT;
    ptc_step_record(s, ran, as == PTC_SAY_WRONG_RETURN, row->next == END_OK);
    s->now.turn.kind = row->reason == PTC_FAULT_PROGRAM ? ran->kind : NULL;
    if (row->does & KEEP)
        ptc_step_add_done(s, ran);
    if (ran->journal_log.bytes)
        ptc_step_set_log(s, ran->journal_log);
    PtcText message = ran->message.bytes ? keep(s, ran->message)
                                         : ptc_text_cstr(ptc_agent_fault_text(row->reason));
    ptc_step_end_turn(s, row->reason, message);
    note_failure(s, row, ran, message);
    ptc_step_say_ran(s, ran, as, &e->facts, !over && !closed(s, &e->facts));
    return over ? end_by_program(s, row, ran) : go_on_or_finish(s, &e->facts);
}

/* ------------------------------------------------------------------------------- events */

/* Returns to the state before the current turn began. */
static void drop_turn(PtcStepNow *now)
{
    if (now->state == PTC_STEP_RUNNING || now->state == PTC_STEP_CALLING)
        now->messages.count = now->turn_first;
}

static PtcAction on_called(PtcStep *s, const PtcEvent *e)
{
    size_t due = 0;
    if (!e->called.results) {
        s->arena.failed = true;
        return finish_error(s, PTC_FAULT_NO_MEMORY, NULL);
    }
    for (size_t i = 0; i < s->now.pending_count; i++)
        due += !s->now.pending[i].reason;
    if (due != e->called.count) {
        drop_turn(&s->now);
        return finish_error(s, PTC_FAULT_INTERNAL, NULL);
    }
    return end_calls(s, e->called.results, &e->facts);
}

static PtcAction on_start(PtcStep *s, const PtcEvent *e)
{
    const PtcOpening *o = &e->opening;
    if (s->options.depth > s->options.max_depth)
        return finish_error(s, PTC_FAULT_MAX_DEPTH, NULL);
    if (!s->options.has_model)
        return finish_error(s, PTC_FAULT_LLM_REQUIRED, NULL);
    s->system = keep(s, o->system);
    ptc_step_set_log(s, o->journal_log);
    if (!ptc_messages_add_earlier(&s->now.messages, o->earlier, o->earlier_count) ||
        !ptc_step_say_mission(s, o->mission, &e->facts))
        return finish_error(s, PTC_FAULT_NO_MEMORY, NULL);
    s->now.mission = s->now.messages.count - 1;
    return go_on_or_finish(s, &e->facts);
}

static PtcAction on_waited(PtcStep *s, const PtcEvent *e)
{
    return go_on_or_finish(s, &e->facts);
}

static PtcAction on_step_cancel(PtcStep *s, const PtcEvent *e)
{
    (void)e;
    bool asking = s->now.state == PTC_STEP_ASKING;
    drop_turn(&s->now);
    PtcAction action = finish_error(s, PTC_FAULT_CANCELLED, NULL);
    action.turn_back = asking;
    return action;
}

static PtcAction dispatch_step_event(PtcStep *s, const PtcEvent *e)
{
    static const struct {
        unsigned states;
        PtcAction (*take)(PtcStep *s, const PtcEvent *e);
    } events[] = {
        [PTC_EVENT_START] = {1u << PTC_STEP_NEW, on_start},
        [PTC_EVENT_REPLY] = {1u << PTC_STEP_ASKING, on_reply},
        [PTC_EVENT_FAILED] = {1u << PTC_STEP_ASKING, on_failed},
        [PTC_EVENT_WAITED] = {1u << PTC_STEP_WAITING, on_waited},
        [PTC_EVENT_RAN] = {1u << PTC_STEP_RUNNING, on_ran},
        [PTC_EVENT_CALLED] = {1u << PTC_STEP_CALLING, on_called},
        [PTC_EVENT_CANCEL] = {STEP_ANY, on_step_cancel},
    };
    if (events[e->kind].states >> s->now.state & 1)
        return events[e->kind].take(s, e);
    drop_turn(&s->now);
    return finish_error(s, PTC_FAULT_INTERNAL, NULL);
}

PtcAction ptc_step(PtcStep *s, const PtcEvent *e)
{
    if (s->now.state == PTC_STEP_DONE)
        return (PtcAction){.kind = PTC_ACTION_FINISH};
    PtcStepNow before = s->now;
    PtcAction action = dispatch_step_event(s, e);
    if (!s->arena.failed && ptc_buf_ok(&s->text))
        return action;
    s->now = before;
    drop_turn(&s->now);
    action = finish_error(s, PTC_FAULT_NO_MEMORY, NULL);
    action.turn_back = before.state == PTC_STEP_ASKING;
    return action;
}
