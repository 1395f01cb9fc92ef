/* SPDX-License-Identifier: MIT
 * What a host is told while a mission runs: events, lines of a trace, pieces of text, totals.  All of it is told under
 * the lock of the tree that runs, so one at a time. */
#include "api/api_mission.h"

#include "agent/run/model_host.h"

/* -------------------------------------------------------------------------------- events */

/* The number of the agent that runs in its chain. */
static size_t link_of(const PtcMission *m)
{
    return m->use == PTC_USE_ONCE && m->chain.ran ? m->chain.ran - 1 : 0;
}

static const char *program_reason(const PtcRan *ran)
{
    switch (ran->end) {
    case PTC_RAN_FAIL: return "fail";
    case PTC_RAN_UNFIT:
    case PTC_RAN_FAILED: return ran->kind;
    case PTC_RAN_MEMORY_LIMIT: return "memory_limit";
    case PTC_RAN_CANCELLED: return "cancelled";
    case PTC_RAN_NO_MEMORY: return "no_memory";
    default: return NULL;
    }
}

/* The word for what went wrong. */
static const char *progress_reason(const PtcProgress *p)
{
    switch (p->kind) {
    case PTC_PROGRESS_ANSWERED:
        return p->reply->status == PTC_LLM_OK ? NULL : ptc_llm_status_name(p->reply->status);
    case PTC_PROGRESS_PROGRAM_ENDED: return program_reason(p->ran);
    case PTC_PROGRESS_TURN_ENDED: return ptc_turn_word(p->ended);
    case PTC_PROGRESS_RUN_ENDED:
        return p->what->invalid ? "invalid"
                                : ptc_agent_fault_word(p->what->step.now.verdict.reason);
    default: return NULL;
    }
}

static void add_reply(PtcMissionEvent *e, const PtcLlmReply *reply)
{
    PtcText text = reply->status == PTC_LLM_OK ? reply->text : reply->error;
    e->text = text.bytes;
    e->text_len = text.len;
    e->calls = reply->call_count;
    e->input_tokens = reply->tokens.input;
    e->output_tokens = reply->tokens.output;
}

/* False: a kind that ptc.h does not have. */
static bool event_kind(PtcProgressKind kind, PtcMissionEventKind *out)
{
    switch (kind) {
    case PTC_PROGRESS_RUN_BEGAN: *out = PTC_MISSION_BEGAN; return true;
    case PTC_PROGRESS_RUN_ENDED: *out = PTC_MISSION_ENDED; return true;
    case PTC_PROGRESS_ASKED: *out = PTC_MISSION_ASKED; return true;
    case PTC_PROGRESS_ANSWERED: *out = PTC_MISSION_ANSWERED; return true;
    case PTC_PROGRESS_PROGRAM_BEGAN: *out = PTC_MISSION_PROGRAM_BEGAN; return true;
    case PTC_PROGRESS_PROGRAM_ENDED: *out = PTC_MISSION_PROGRAM_ENDED; return true;
    case PTC_PROGRESS_CALLED: *out = PTC_MISSION_CALLED; return true;
    case PTC_PROGRESS_TURN_ENDED: *out = PTC_MISSION_TURN_ENDED; return true;
    default: return false;
    }
}

static void send_mission_event(PtcMission *m, const PtcProgress *p)
{
    PtcMissionEvent e = {.size = sizeof e,
                         .run = p->run,
                         .parent = p->parent,
                         .agent = p->agent.bytes,
                         .agent_len = p->agent.len,
                         .turn = p->turn,
                         .at_us = p->at_ns / 1000,
                         .duration_us = p->duration_ns / 1000,
                         .text = p->program.bytes,
                         .text_len = p->program.len,
                         .calls = p->call_count,
                         .link = link_of(m)};
    if (!event_kind(p->kind, &e.kind))
        return;
    if (e.kind == PTC_MISSION_ANSWERED)
        add_reply(&e, p->reply);
    e.reason = progress_reason(p);
    e.ok = !e.reason;
    m->o.watch(m->o.watch_user, &e);
}

static void watch_mission(void *user, const PtcProgress *p)
{
    PtcMission *m = user;
    if (m->tracing)
        ptc_agent_trace_tell(&m->trace, p);
    if (m->o.watch)
        send_mission_event(m, p);
}

static bool stream_reply_text(void *user, PtcText piece)
{
    PtcMission *m = user;
    const PtcAgentRun *run = m->use == PTC_USE_ONCE ? ptc_chain_last(&m->chain) : m->last;
    PtcMissionEvent e = {.size = sizeof e,
                         .kind = PTC_MISSION_TEXT,
                         .run = run->number,
                         .agent = "",
                         .turn = (int64_t)run->step.now.turn_count + 1,
                         .at_us = (ptc_clock_ns(NULL) - run->tree->began_ns) / 1000,
                         .ok = true,
                         .text = piece.bytes,
                         .text_len = piece.len,
                         .link = link_of(m)};
    m->o.watch(m->o.watch_user, &e);
    return !atomic_load(&m->cancel.asked);
}

/* `tokens` are those of the current tree; the agents of a chain that ran before it count too. */
static bool ask_host_to_stop(void *user, int64_t requests, const PtcTokens *tokens)
{
    PtcMission *m = user;
    PtcTreeSums before = {.requests = 0};
    if (m->use == PTC_USE_ONCE)
        before = ptc_chain_sums(&m->chain, true);
    return m->o.stop(m->o.stop_user, before.requests + requests,
                     before.tokens.input + tokens->input, before.tokens.output + tokens->output);
}

void ptc_api_watch_fill(PtcMission *m, PtcTreeHost *host)
{
    host->progress = m->o.watch || m->o.trace ? watch_mission : NULL;
    host->stream = m->o.watch ? stream_reply_text : NULL;
    host->stop = m->o.stop ? ask_host_to_stop : NULL;
    host->progress_user = host->stream_user = host->stop_user = m;
}

PtcTreeSums ptc_api_watch_sums(const PtcMission *m)
{
    return m->use == PTC_USE_ONCE ? ptc_chain_sums(&m->chain, false) : m->chat.tree.sums;
}

/* --------------------------------------------------------------------------------- trace */

static bool write_host_trace(void *user, PtcText line)
{
    PtcMission *m = user;
    return m->o.trace(m->o.trace_user, line.bytes, line.len);
}

void ptc_api_watch_begin(PtcMission *m)
{
    if (!m->o.trace || m->tracing)
        return;
    ptc_agent_trace_init(&m->trace, m->o.llm ? ptc_model_host_secrets(m->o.llm) : NULL,
                         write_host_trace, m);
    m->tracing = true;
}

void ptc_api_watch_end(PtcMission *m)
{
    if (m->tracing)
        (void)ptc_agent_trace_deinit(&m->trace);
}
