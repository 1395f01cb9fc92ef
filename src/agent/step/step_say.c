/* SPDX-License-Identifier: MIT
 * What the step adds to the conversation.  Every pending call is answered here, once and in order. */
#include "agent/step/step_int.h"

static PtcArena *arena(PtcStep *s)
{
    return &s->arena;
}

static bool failed(const PtcStep *s)
{
    return s->arena.failed || !ptc_buf_ok(&s->text);
}

void ptc_step_begin_text(PtcStep *s)
{
    /* What failed must not be forgotten when the buffer is emptied. */
    s->arena.failed = s->arena.failed || !ptc_buf_ok(&s->text);
    ptc_buf_clear(&s->text);
}

PtcText ptc_step_keep_text(PtcStep *s)
{
    PtcText text = ptc_buf_view(&s->text);
    while (text.len && text.bytes[text.len - 1] == '\n')
        text.len--;
    return failed(s) ? (PtcText){NULL, 0} : ptc_messages_keep(arena(s), text);
}

/* ---------------------------------------------------------------------------- assistant */

static PtcPending *make_pending(PtcStep *s, const PtcHeard *heard, PtcMessageCall *calls)
{
    PtcPending *pending = ptc_arena_zalloc(arena(s), (heard->call_count + 1) * sizeof *pending);
    for (size_t i = 0; pending && i < heard->call_count; i++) {
        const PtcHeardCall *from = &heard->calls[i];
        uint64_t number = (uint64_t)++s->now.calls;
        pending[i] =
            (PtcPending){.call = {.id = ptc_messages_id(&s->now.messages, from->id, number),
                                  .name = ptc_messages_keep(arena(s), from->name),
                                  .args = ptc_messages_keep(arena(s), from->args)},
                         .tool = from->tool,
                         .reason = from->reason,
                         .message = ptc_messages_keep(arena(s), from->message)};
        calls[i] = pending[i].call;
    }
    return pending;
}

static bool is_blank_reply(PtcText t)
{
    for (size_t i = 0; i < t.len; i++)
        if ((unsigned char)t.bytes[i] > ' ')
            return false;
    return true;
}

void ptc_step_say_assistant(PtcStep *s, const PtcHeard *heard, PtcText opaque)
{
    PtcMessageCall *calls = ptc_arena_alloc(arena(s), (heard->call_count + 1) * sizeof *calls);
    PtcText content = heard->content;
    s->now.pending = calls ? make_pending(s, heard, calls) : NULL;
    s->now.pending_count = heard->call_count;
    if (heard->call_count == 0 && is_blank_reply(content))
        content = ptc_text_cstr(ptc_words_empty_mark());
    if (!failed(s))
        (void)!ptc_messages_add_assistant(&s->now.messages, content, calls, heard->call_count,
                                          opaque);
}

/* ----------------------------------------------------------------------------- feedback */

/* How many turns are left, unless this should not be said. */
static void add_turns(PtcStep *s, const PtcFacts *facts)
{
    const PtcStepNow *now = &s->now;
    int64_t turns = now->work + now->retry;
    bool few = facts->budget < turns;
    PtcTurnsLeft left = {.turns = few ? facts->budget : turns,
                         .retries = few         ? 0
                                    : now->work ? now->retry
                                                : 0,
                         .must_return = now->work > 0 && (now->work == 1 || facts->budget == 1),
                         .retry = now->work == 0,
                         .first = now->turn_count == 0};
    if (left.turns <= 0 || s->def->max_turns == 1 ||
        (s->def->format.minimal_turn_info && left.turns > 2))
        return;
    ptc_words_turns(&s->text, s->def, &left);
}

/* What add_turns says, kept; absent: nothing. */
static PtcText turns_text(PtcStep *s, const PtcFacts *facts)
{
    if (!facts)
        return (PtcText){NULL, 0};
    ptc_step_begin_text(s);
    add_turns(s, facts);
    return s->text.len ? ptc_step_keep_text(s) : (PtcText){NULL, 0};
}

static void add_feedback_lines(PtcBuf *out, PtcText text)
{
    ptc_buf_add(out, text.bytes, text.len);
    if (text.len && text.bytes[text.len - 1] != '\n')
        ptc_buf_add_char(out, '\n');
}

/* Has it computed what is wanted, on a turn on which only (return value) gives the answer?  Where anything would do,
 * this says nothing. */
static bool would_fit(const PtcStep *s, const PtcRan *ran)
{
    const PtcSigType *type = ptc_want_type(&s->def->want);
    return ran->end == PTC_RAN_VALUE && ran->fits && ran->value_kind == PTC_VALUE_PLAIN &&
           s->now.ending != PTC_ENDS_NEVER &&
           (s->def->want.schema || (type && type->kind != PTC_SIG_ANY));
}

/* What a model reads about a program that ran; `open`: it has turns left in which to use it. */
static void build_run_feedback(PtcStep *s, const PtcRan *ran, PtcSayAs as, const PtcFacts *facts,
                               bool open)
{
    PtcBuf *out = &s->text;
    if (as == PTC_SAY_WRONG_RETURN)
        ptc_words_wrong_return(out, s->def, ran->value, ran->findings);
    else if (as == PTC_SAY_MUST_RETURN)
        ptc_words_must_return(out, s->def);
    add_feedback_lines(out, ran->feedback);
    if (!open)
        return;
    if (would_fit(s, ran))
        ptc_words_would_fit(out);
    ptc_words_lost(out, ran->lost, ran->lost_count);
    if (!s->now.turn.ok)
        ptc_words_did(out, &s->now.did, !ran->own_fail);
    if (s->now.turn.ok)
        ptc_words_plan(out, s->def, s->now.done, s->now.done_count);
    if (ran->journal_log.bytes && s->def->journaling && s->def->format.log_in_user_message)
        ptc_words_journal_log(out, ran->journal_log);
    add_turns(s, facts);
}

/* A user's message must not be empty. */
static void add_user(PtcStep *s, PtcText text)
{
    if (!failed(s))
        (void)!ptc_messages_add_user(&s->now.messages, text.len ? text : PTC_TEXT("Go on."));
}

void ptc_step_say_ran(PtcStep *s, const PtcRan *ran, PtcSayAs as, const PtcFacts *facts, bool open)
{
    bool native = s->now.pending_count > 0;
    if (!native && !open)
        return; /* nobody will read it */
    ptc_step_begin_text(s);
    build_run_feedback(s, ran, as, facts, open);
    PtcText feedback = ptc_step_keep_text(s);
    if (!native || !feedback.bytes) {
        add_user(s, feedback);
        return;
    }
    ptc_step_begin_text(s);
    if (as == PTC_SAY_WRONG_RETURN)
        ptc_messages_error(&s->text, PTC_FAULT_PROGRAM,
                           ptc_text_cstr(ptc_agent_fault_text(PTC_FAULT_WRONG_RETURN)), feedback);
    else
        ptc_messages_payload(&s->text, ran->payload, feedback);
    bool error =
        as == PTC_SAY_WRONG_RETURN || (ran->end != PTC_RAN_VALUE && ran->end != PTC_RAN_RETURN);
    if (!failed(s))
        (void)!ptc_messages_add_tool(&s->now.messages, &s->now.pending[0].call,
                                     ptc_buf_view(&s->text), error);
}

/* ------------------------------------------------------------------------------- calls */

/* What the tool gave stays as it is, so `more` comes behind it. */
static void answer_made_call(PtcStep *s, const PtcPending *p, PtcText content, PtcText more)
{
    ptc_step_begin_text(s);
    ptc_buf_add(&s->text, content.bytes, content.len);
    if (more.len) {
        ptc_buf_add_char(&s->text, '\n');
        ptc_buf_add(&s->text, more.bytes, more.len);
    }
    if (failed(s) ||
        !ptc_messages_add_tool(&s->now.messages, &p->call, ptc_buf_view(&s->text), false))
        return;
    if (more.len)
        ptc_messages_mark_note(&s->now.messages, content.len);
}

static void answer_failed_call(PtcStep *s, const PtcPending *p, PtcAgentFault reason,
                               PtcText message, PtcText more)
{
    ptc_step_begin_text(s);
    ptc_messages_error(&s->text, reason, message, more);
    if (!failed(s))
        (void)!ptc_messages_add_tool(&s->now.messages, &p->call, ptc_buf_view(&s->text), true);
}

void ptc_step_say_called(PtcStep *s, const PtcCallResult *results, const PtcFacts *facts)
{
    PtcText turns = turns_text(s, facts);
    for (size_t i = 0; i < s->now.pending_count && !failed(s); i++) {
        const PtcPending *p = &s->now.pending[i];
        const PtcCallResult *result = p->reason ? NULL : results++;
        PtcText more = i + 1 == s->now.pending_count ? turns : (PtcText){NULL, 0};
        if (result && result->ok)
            answer_made_call(s, p, result->content, more);
        else if (result)
            answer_failed_call(s, p, result->reason, result->content, more);
        else
            answer_failed_call(s, p, p->reason, p->message, more);
    }
}

void ptc_step_say_bad(PtcStep *s, const PtcHeard *heard, const PtcFacts *facts)
{
    if (!heard->feedback.bytes)
        return;
    ptc_step_begin_text(s);
    add_feedback_lines(&s->text, heard->feedback);
    add_turns(s, facts);
    add_user(s, ptc_step_keep_text(s));
}

/* ----------------------------------------------------------------------------- requests */

bool ptc_step_say_mission(PtcStep *s, PtcText mission, const PtcFacts *facts)
{
    bool only_answers = s->def->mode == PTC_MODE_TEXT && s->def->offer_count == 0;
    PtcText turns = turns_text(s, only_answers ? NULL : facts);
    ptc_step_begin_text(s);
    ptc_buf_add(&s->text, mission.bytes, mission.len);
    if (turns.len)
        ptc_buf_addf(&s->text, "\n\n%.*s", PTC_ARG(turns));
    return !failed(s) && ptc_messages_add_user(&s->now.messages, ptc_buf_view(&s->text));
}

void ptc_step_set_log(PtcStep *s, PtcText log)
{
    s->now.system_more = (PtcText){NULL, 0};
    if (log.len == 0 || !s->def->journaling || s->def->format.log_in_user_message)
        return;
    ptc_step_begin_text(s);
    ptc_words_journal_log(&s->text, log);
    s->now.system_more = ptc_step_keep_text(s);
}

size_t ptc_step_sent_bytes(const PtcStep *s, PtcSending sending)
{
    const PtcConversation *c = &s->now.messages;
    size_t n = sending.from == 0 ? c->bytes : 0;
    for (size_t i = sending.from; sending.from && i < c->count; i++)
        n += c->items[i].content.len;
    return n;
}

PtcLlmRequest ptc_step_request(const PtcStep *s, PtcSending sending, const PtcFacts *f)
{
    const PtcConversation *c = &s->now.messages;
    const PtcAgentDef *def = s->def;
    return (PtcLlmRequest){
        .system = s->system,
        .system_more = s->now.system_more,
        .parts = {{sending.first, sending.first != NULL},
                  {c->items + sending.from, c->count - sending.from}},
        .tools = def->offer,
        .tool_count = def->offer_count,
        .one_call = def->mode == PTC_MODE_TOOL_CALL,
        .schema = def->send_schema,
        .effort = def->thinking.effort,
        .thinking_tokens = def->thinking.budget_tokens,
        .deadline_ns = f->deadline_ns,
    };
}
