/* SPDX-License-Identifier: MIT
 * The outcome of a run.  Members that do not apply are left out, except those that a reader may always rely on:
 * turns, usage, memory, journal, summaries and children. */
#include "agent/run/agent_outcome.h"

#include "json/emit.h"
#include "llm/llm_json.h"

/* ------------------------------------------------------------------------------ messages */

void ptc_agent_message_write(PtcBuf *out, const PtcMessage *m)
{
    static const char *const roles[] = {
        [PTC_ROLE_USER] = "user", [PTC_ROLE_ASSISTANT] = "assistant", [PTC_ROLE_TOOL] = "tool"};
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "role", roles[m->role]);
    ptc_emit_field_text(out, "content", ptc_llm_data_of(m));
    if (m->note)
        ptc_emit_field_text(out, "note", ptc_llm_note_of(m));
    if (m->call_count)
        ptc_emit_key(out, "tool_calls"), ptc_emit_array(out);
    for (size_t i = 0; i < m->call_count; i++) {
        ptc_emit_object(out);
        ptc_emit_field_text(out, "id", m->calls[i].id);
        ptc_emit_field_text(out, "name", m->calls[i].name);
        ptc_emit_field_raw(out, "args", m->calls[i].args);
        ptc_emit_object_end(out);
    }
    if (m->call_count)
        ptc_emit_array_end(out);
    if (m->role == PTC_ROLE_TOOL)
        ptc_emit_field_text(out, "tool_call_id", m->call_id);
    ptc_emit_object_end(out);
}

static void add_system_message(PtcBuf *out, const PtcStep *s)
{
    PtcBuf text;
    ptc_buf_init(&text, out->mem, out->max);
    ptc_buf_add(&text, s->system.bytes, s->system.len);
    ptc_buf_add(&text, s->now.system_more.bytes, s->now.system_more.len);
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "role", "system");
    ptc_emit_field_text(out, "content", ptc_buf_view(&text));
    ptc_emit_object_end(out);
    out->failed = out->failed || !ptc_buf_ok(&text);
    ptc_buf_deinit(&text);
}

static void add_messages(PtcBuf *out, const PtcStep *s)
{
    const PtcConversation *c = &s->now.messages;
    ptc_emit_key(out, "messages");
    ptc_emit_array(out);
    if (s->system.bytes)
        add_system_message(out, s);
    for (size_t i = 0; i < c->count; i++)
        ptc_agent_message_write(out, &c->items[i]);
    ptc_emit_array_end(out);
}

/* --------------------------------------------------------------------------------- turns */

static void add_outcome_tokens(PtcBuf *out, const PtcTokens *t)
{
    ptc_emit_field_int(out, "input_tokens", t->input);
    ptc_emit_field_int(out, "output_tokens", t->output);
    ptc_emit_field_int(out, "total_tokens", t->input + t->output);
    if (t->cache_creation || t->cache_read) {
        ptc_emit_field_int(out, "cache_creation_tokens", t->cache_creation);
        ptc_emit_field_int(out, "cache_read_tokens", t->cache_read);
    }
    ptc_llm_json_write_cost(out, t);
}

static void add_turn_call(PtcBuf *out, const PtcTurnCall *call)
{
    ptc_emit_object(out);
    ptc_emit_field_text(out, "name", call->name);
    ptc_emit_field_cstr(out, "layer", call->native ? "native" : "program");
    ptc_emit_field_bool(out, "ok", call->ok);
    ptc_emit_field_bool(out, "cached", call->cached);
    if (call->tries > 1)
        ptc_emit_field_uint(out, "attempts", call->tries);
    ptc_emit_object_end(out);
}

const char *ptc_turn_type_name(PtcTurnType type)
{
    static const char *const names[] = {[PTC_TURN_NORMAL] = "normal",
                                        [PTC_TURN_MUST_RETURN] = "must_return",
                                        [PTC_TURN_RETRY] = "retry"};
    return names[type];
}

static void add_turn(PtcBuf *out, const PtcTurn *t)
{
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "type", ptc_turn_type_name(t->type));
    ptc_emit_field_bool(out, "ok", t->ok);
    ptc_emit_field_text(out, "program", t->program);
    if (t->value.bytes)
        ptc_emit_field_raw(out, "value", t->value);
    if (t->reason) {
        ptc_emit_field_cstr(out, "reason", ptc_turn_word(t));
        ptc_emit_field_text(out, "message", t->message);
    }
    if (t->issues.bytes)
        ptc_emit_field_raw(out, "errors", t->issues);
    ptc_emit_field_raw(out, "prints", t->prints.bytes ? t->prints : PTC_TEXT("[]"));
    ptc_emit_key(out, "calls");
    ptc_emit_array(out);
    for (size_t i = 0; i < t->call_count; i++)
        add_turn_call(out, &t->calls[i]);
    ptc_emit_array_end(out);
    if (t->tokens.reported)
        ptc_llm_json_write_tokens(out, &t->tokens);
    ptc_emit_object_end(out);
}

/* --------------------------------------------------------------------------------- usage */

static void add_compaction(PtcBuf *out, const PtcCompacted *c)
{
    ptc_emit_key(out, "compaction");
    ptc_emit_object(out);
    ptc_emit_field_bool(out, "enabled", true);
    ptc_emit_field_bool(out, "triggered", c->triggered);
    ptc_emit_field_cstr(out, "strategy", "trim");
    ptc_emit_field_cstr(out, "reason", c->reason);
    ptc_emit_field_uint(out, "messages_before", c->messages_before);
    ptc_emit_field_uint(out, "messages_after", c->messages_after);
    ptc_emit_field_uint(out, "estimated_tokens_before", c->tokens_before);
    ptc_emit_field_uint(out, "estimated_tokens_after", c->tokens_after);
    ptc_emit_field_bool(out, "kept_initial_user", c->kept_initial_user);
    ptc_emit_field_int(out, "kept_recent_turns", c->kept_recent_turns);
    ptc_emit_field_bool(out, "over_budget", c->over_budget);
    ptc_emit_object_end(out);
}

static void add_tree(PtcBuf *out, PtcAgentTree *t)
{
    pthread_mutex_lock(&t->lock);
    PtcTreeSums sums = t->sums;
    pthread_mutex_unlock(&t->lock);
    ptc_emit_key(out, "tree");
    ptc_emit_object(out);
    ptc_emit_field_int(out, "turns", sums.turns);
    ptc_emit_field_int(out, "llm_requests", sums.requests);
    ptc_emit_field_int(out, "llm_errors", sums.errors);
    if (sums.tokens.reported)
        add_outcome_tokens(out, &sums.tokens);
    ptc_emit_object_end(out);
}

static void add_usage(PtcBuf *out, PtcAgentRun *r, bool duration)
{
    const PtcStepNow *now = &r->step.now;
    ptc_emit_key(out, "usage");
    ptc_emit_object(out);
    ptc_emit_field_uint(out, "turns", now->turn_count);
    ptc_emit_field_int(out, "llm_requests", now->requests);
    ptc_emit_field_int(out, "llm_errors", now->errors);
    if (now->tokens.reported)
        add_outcome_tokens(out, &now->tokens);
    if (now->compacted.enabled)
        add_compaction(out, &now->compacted);
    if (atomic_load(&r->children))
        add_tree(out, r->tree);
    if (duration)
        ptc_emit_field_int(out, "duration_ms", (r->ended_ns - r->began_ns) / PTC_MS);
    ptc_emit_object_end(out);
}

static void add_summaries(PtcBuf *out, const PtcStepNow *now)
{
    ptc_emit_key(out, "summaries");
    ptc_emit_object(out);
    for (size_t i = 0; i < now->done_count; i++) {
        ptc_emit_key_text(out, now->done[i].id);
        ptc_emit_text(out, now->done[i].text);
    }
    ptc_emit_object_end(out);
}

/* ------------------------------------------------------------------------------- effects */

typedef enum { OUTCOME_RAN, OUTCOME_UNKNOWN } CallEffect;

static uint64_t times_of_effect(const PtcToolTally *t, CallEffect which)
{
    uint64_t started = atomic_load(&t->started), ok = atomic_load(&t->ok),
             failed = atomic_load(&t->failed);
    return which == OUTCOME_RAN ? ok : started > ok + failed ? started - ok - failed : 0;
}

static void add_outcome_effects(PtcBuf *out, const PtcAgentRun *r, CallEffect which)
{
    const PtcTools *tools = r->def->tools;
    ptc_emit_array(out);
    for (size_t i = 0; r->work && r->work->tally && tools && i < tools->count; i++) {
        const PtcToolInfo *info = &tools->items[i].info;
        uint64_t n = times_of_effect(&r->work->tally[i], which);
        if (n == 0)
            continue;
        ptc_emit_object(out);
        ptc_emit_field_text(out, "name", (PtcText){info->name, info->name_len});
        ptc_emit_field_uint(out, "times", n);
        ptc_emit_object_end(out);
    }
    ptc_emit_array_end(out);
}

/* Would a retry repeat calls of this tool?  Those that the journal stands for are not made again, but only the top
 * agent's journal outlives the run. */
static bool would_repeat(const PtcAgentRun *r, const PtcToolTally *t)
{
    uint64_t kept = r->parent ? 0 : atomic_load(&t->kept);
    return times_of_effect(t, OUTCOME_RAN) + times_of_effect(t, OUTCOME_UNKNOWN) > kept;
}

bool ptc_agent_outcome_safe(const PtcAgentRun *r)
{
    const PtcTools *tools = r->def->tools;
    for (size_t i = 0; r->work && r->work->tally && tools && i < tools->count; i++) {
        const PtcToolInfo *info = &tools->items[i].info;
        if (would_repeat(r, &r->work->tally[i]) && !info->read_only && !info->idempotent &&
            !info->inside)
            return false;
    }
    return !atomic_load(&r->unsafe);
}

static void add_lost(PtcBuf *out, const PtcStepNow *now)
{
    ptc_emit_key(out, "lost");
    ptc_emit_array(out);
    const PtcTurn *last = now->turn_count ? &now->turns[now->turn_count - 1] : NULL;
    for (size_t i = 0; last && !last->ok && i < last->lost_count; i++)
        ptc_emit_text(out, last->lost[i]);
    ptc_emit_array_end(out);
}

static void add_all_effects(PtcBuf *out, const PtcAgentRun *r)
{
    ptc_emit_key(out, "effects");
    ptc_emit_object(out);
    ptc_emit_key(out, "ran");
    add_outcome_effects(out, r, OUTCOME_RAN);
    ptc_emit_key(out, "unknown");
    add_outcome_effects(out, r, OUTCOME_UNKNOWN);
    add_lost(out, &r->step.now);
    ptc_emit_field_bool(out, "safe_to_retry", ptc_agent_outcome_safe(r));
    ptc_emit_object_end(out);
}

/* --------------------------------------------------------------------------- the outcome */

const char *ptc_agent_outcome_name(const PtcAgentRun *r)
{
    return r->invalid ? ptc_fault_outcome(&r->fault) : r->step.now.verdict.ok ? "ok" : "error";
}

static void write_invalid(const PtcAgentRun *r, PtcBuf *out)
{
    ptc_emit_field_cstr(out, "reason", ptc_agent_fault_word(ptc_fault_reason(&r->fault)));
    ptc_emit_field_cstr(out, "message", r->fault.text);
    if (r->fault.path[0])
        ptc_emit_field_cstr(out, "path", r->fault.path);
}

static void write_verdict(const PtcVerdict *v, PtcBuf *out)
{
    if (v->ok) {
        ptc_emit_field_raw(out, "return", v->value);
        ptc_emit_field_cstr(out, "by", v->by);
        return;
    }
    ptc_emit_field_cstr(out, "reason", ptc_agent_fault_word(v->reason));
    ptc_emit_field_text(out, "message", v->message);
    if (v->cause)
        ptc_emit_field_cstr(out, "cause", v->cause);
    if (v->reason == PTC_FAULT_FAILED)
        ptc_emit_field_raw(out, "value", v->value);
    if (v->partial.bytes)
        ptc_emit_field_raw(out, "partial", v->partial);
}

static void write_rest(PtcAgentRun *r, const PtcOutcomeOptions *options, PtcBuf *out)
{
    const PtcStepNow *now = &r->step.now;
    ptc_emit_key(out, "turns");
    ptc_emit_array(out);
    for (size_t i = 0; i < now->turn_count; i++)
        add_turn(out, &now->turns[i]);
    ptc_emit_array_end(out);
    add_usage(out, r, options->duration);
    ptc_emit_key(out, "memory");
    ptc_work_memory(r->work, out);
    ptc_emit_key(out, "journal");
    ptc_work_journal(r->work, out);
    add_summaries(out, now);
    ptc_emit_field_int(out, "children", atomic_load(&r->children));
    if (options->messages)
        add_messages(out, &r->step);
    if (!now->verdict.ok)
        add_all_effects(out, r);
}

void ptc_agent_outcome_write(PtcAgentRun *r, const PtcOutcomeOptions *options, PtcBuf *out)
{
    ptc_emit_field_cstr(out, "outcome", ptc_agent_outcome_name(r));
    if (r->invalid) {
        write_invalid(r, out);
        return;
    }
    write_verdict(&r->step.now.verdict, out);
    write_rest(r, options, out);
}
