/* SPDX-License-Identifier: MIT
 * What remains of a turn: its record, its tokens, the steps that it checked off; and how long to wait before it is
 * asked for again. */
#include "agent/step/step_int.h"
#include "base/units.h"

enum { TURN_TOKENS_MAX = 1000 * PTC_MILLION, DONE_MAX = 1000 };
#define LONGEST_WAIT_MS ((int64_t)5 * 60 * 1000)

static PtcText keep(PtcStep *s, PtcText text)
{
    return ptc_messages_keep(&s->arena, text);
}

void ptc_step_add_tokens(PtcTokens *sum, const PtcTokens *t)
{
    if (!t->reported)
        return;
    sum->reported = true;
    sum->input += t->input < TURN_TOKENS_MAX ? t->input : TURN_TOKENS_MAX;
    sum->output += t->output < TURN_TOKENS_MAX ? t->output : TURN_TOKENS_MAX;
    sum->cache_creation +=
        t->cache_creation < TURN_TOKENS_MAX ? t->cache_creation : TURN_TOKENS_MAX;
    sum->cost += t->cost;
    sum->cache_read += t->cache_read < TURN_TOKENS_MAX ? t->cache_read : TURN_TOKENS_MAX;
}

const char *ptc_turn_word(const PtcTurn *turn)
{
    return turn->reason == PTC_FAULT_PROGRAM ? turn->kind : ptc_agent_fault_word(turn->reason);
}

void ptc_step_end_turn(PtcStep *s, PtcAgentFault reason, PtcText message)
{
    PtcStepNow *now = &s->now;
    now->turn.ok = !reason;
    now->turn.reason = reason;
    now->turn.message = reason ? message : (PtcText){NULL, 0};
    PtcTurn *turns = ptc_arena_push(&s->arena, now->turns, now->turn_count, sizeof *turns);
    if (turns) {
        now->turns = turns;
        turns[now->turn_count++] = now->turn;
    }
    if (now->work > 0)
        now->work--;
    else
        now->retry--;
}

static void copy_turn_calls(PtcStep *s, const PtcTurnCall *calls, size_t count, PtcTurnCall *to)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = calls[i];
        to[i].name = keep(s, calls[i].name);
    }
}

void ptc_step_set_calls(PtcStep *s, const PtcCallResult *results, const PtcRan *ran)
{
    bool program_only = s->def->mode == PTC_MODE_TOOL_CALL && ran;
    size_t native = program_only ? 0 : s->now.pending_count, inner = ran ? ran->call_count : 0;
    PtcTurnCall *calls = ptc_arena_zalloc(&s->arena, (native + inner + 1) * sizeof *calls);
    if (!calls)
        return;
    for (size_t i = 0; i < native; i++) {
        const PtcPending *p = &s->now.pending[i];
        const PtcCallResult *r = p->reason || !results ? NULL : results++;
        bool ran_well = ran && (ran->end == PTC_RAN_VALUE || ran->end == PTC_RAN_RETURN);
        calls[i] = (PtcTurnCall){p->call.name, true, r ? r->ok : ran_well, r && r->cached,
                                 r ? r->tries : 0};
    }
    if (inner)
        copy_turn_calls(s, ran->calls, inner, calls + native);
    s->now.turn.calls = calls;
    s->now.turn.call_count = native + inner;
}

void ptc_step_record(PtcStep *s, const PtcRan *ran, bool misfit, bool ends)
{
    PtcTurn *turn = &s->now.turn;
    bool bare = ran->end == PTC_RAN_VALUE && s->now.ending != PTC_ENDS_NEVER &&
                ran->value_kind == PTC_VALUE_PLAIN;
    PtcText value = keep(s, ran->value),
            answer = keep(s, ran->fits ? ran->answer : (PtcText){NULL, 0});
    bool nil = ran->value_kind == PTC_VALUE_NIL;
    turn->value = misfit || nil ? (PtcText){NULL, 0} : ends ? answer : value;
    turn->issues = keep(s, misfit ? ran->issues : (PtcText){NULL, 0});
    turn->prints = keep(s, ran->prints);
    turn->answer = answer;
    if (bare) {
        turn->bare = s->now.bare = value;
        s->now.bare_answer = answer;
    }
    PtcText *lost = ptc_arena_alloc(&s->arena, (ran->lost_count + 1) * sizeof *lost);
    for (size_t i = 0; lost && i < ran->lost_count; i++)
        lost[i] = keep(s, ran->lost[i]);
    turn->lost = lost;
    turn->lost_count = lost ? ran->lost_count : 0;
    ptc_step_set_calls(s, NULL, ran);
}

/* The list is copied, since the old state may have to be restored. */
void ptc_step_add_done(PtcStep *s, const PtcRan *ran)
{
    PtcStepNow *now = &s->now;
    PtcDoneStep *all =
        ran->done_count
            ? ptc_arena_alloc(&s->arena, (now->done_count + ran->done_count) * sizeof *all)
            : NULL;
    size_t n = now->done_count;
    if (!all)
        return;
    if (n)
        memcpy(all, now->done, n * sizeof *all);
    for (size_t i = 0; i < ran->done_count && n < DONE_MAX; i++) {
        size_t at = 0;
        while (at < n && !ptc_text_same(all[at].id, ran->done[i].id))
            at++;
        all[at] = (PtcDoneStep){keep(s, ran->done[i].id), keep(s, ran->done[i].text)};
        n += at == n;
    }
    now->done = all;
    now->done_count = n;
}

/* ----------------------------------------------------------------------------- waiting */

static int64_t backoff_ms(const PtcLlmRetry *retry, int64_t attempts)
{
    int64_t ms = retry->base_delay_ms;
    if (retry->backoff == PTC_BACKOFF_LINEAR)
        return ms * attempts;
    for (int64_t i = 1; retry->backoff == PTC_BACKOFF_EXPONENTIAL && i < attempts; i++)
        ms *= 2;
    return ms;
}

int64_t ptc_step_wait_ms(PtcStep *s, const PtcEvent *e, PtcText *too_long)
{
    int64_t asked = e->failed.retry_after_ms, now = e->facts.now_ns, end = e->facts.deadline_ns;
    int64_t ms = asked >= 0 ? asked : backoff_ms(&s->options.retry, s->now.attempts - s->now.gone);
    *too_long = (PtcText){NULL, 0};
    if (ms < (end - now) / PTC_MS && (e->facts.hurried || ms <= LONGEST_WAIT_MS))
        return ms;
    ptc_step_begin_text(s);
    ptc_buf_add(&s->text, e->failed.error.bytes, e->failed.error.len);
    ptc_buf_addf(&s->text, " (to be asked again after %lld ms, which is too long)", (long long)ms);
    *too_long = ptc_buf_view(&s->text);
    return ms;
}
