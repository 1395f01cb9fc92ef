/* SPDX-License-Identifier: MIT
 * One program of an agent: what it is given, and what the step is told about how it ended. */
#include <stdio.h>

#include "agent/run/work_int.h"
#include "agent/step/judge.h"
#include "engine/engine.h"
#include "engine/payload.h"
#include "json/emit.h"
#include "json/parse.h"
#include "tool/contract.h"
#include "tool/sig/sig_sketch.h"
#include "tool/wire/feedback.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum { GIVEN_BYTES = 4 * PTC_MB, WORK_TEXT_BYTES = 256 * PTC_MB };
enum { DID_BYTES = 32 * PTC_KB }; /* of a call in data/fail, as values */

/* -------------------------------------------------------------------- what it is given */

/* A map being built; PTC_NONE once something has failed. */
typedef struct ContextMaking {
    PtcHeap *heap;
    PtcValue map;
} ContextMaking;

static void put_made_member(ContextMaking *m, const char *name, PtcValue v)
{
    PtcValue key = ptc_keyword_new(m->heap, name, strlen(name));
    m->map = m->map == PTC_NONE || key == PTC_NONE || v == PTC_NONE
                 ? PTC_NONE
                 : ptc_map_assoc(m->heap, m->map, key, v);
}

static void put_int(ContextMaking *m, const char *name, int64_t n)
{
    put_made_member(m, name, ptc_int_new(m->heap, n));
}

static ContextMaking begin_made_map(PtcHeap *heap)
{
    return (ContextMaking){heap, ptc_map_empty(heap)};
}

static PtcValue tokens_map(PtcHeap *heap, const PtcTokens *t)
{
    ContextMaking m = begin_made_map(heap);
    put_int(&m, "input", t->input);
    put_int(&m, "output", t->output);
    put_int(&m, "total", t->input + t->output);
    put_int(&m, "cache-creation", t->cache_creation);
    put_int(&m, "cache-read", t->cache_read);
    return m.map;
}

static PtcValue remaining_map(PtcHeap *heap, const PtcRemaining *r)
{
    ContextMaking m = begin_made_map(heap), depth = begin_made_map(heap);
    put_int(&depth, "current", r->depth);
    put_int(&depth, "max", r->max_depth);
    put_int(&m, "turns", r->turns);
    put_int(&m, "work-turns", r->work_turns);
    put_int(&m, "retry-turns", r->retry_turns);
    put_made_member(&m, "depth", depth.map);
    put_made_member(&m, "tokens", tokens_map(heap, &r->tokens));
    put_int(&m, "llm-requests", r->llm_requests);
    return m.map;
}

static PtcValue read_did_json(PtcHeap *heap, PtcText json)
{
    PtcJsonError e = {0};
    return ptc_json_parse(heap, json.bytes, json.len, &e);
}

/* A list of {:tool :args :result}; nobody has the results of calls that are unknown. */
static PtcValue did_vector(PtcWork *w, PtcHeap *heap, const PtcDidCalls *did, bool unknown)
{
    PtcValue *items = ptc_arena_alloc(&w->arena, (did->count + 1) * sizeof *items);
    size_t n = 0;
    for (size_t i = 0; items && i < did->count; i++) {
        const PtcDidCall *call = &did->items[i];
        ContextMaking m = begin_made_map(heap);
        if (call->unknown != unknown)
            continue;
        put_made_member(&m, "tool", ptc_str_new(heap, call->tool.bytes, call->tool.len));
        put_made_member(&m, "args", read_did_json(heap, call->args));
        if (!unknown)
            put_made_member(&m, "result", read_did_json(heap, call->result));
        items[n++] = m.map;
        if (m.map == PTC_NONE)
            return PTC_NONE;
    }
    return items ? ptc_vec_new(heap, items, n, 0) : PTC_NONE;
}

/* The context, with data/fail after a program that failed.  A key of the caller's own is never hidden. */
static PtcValue context_of(PtcWork *w, PtcHeap *heap, const PtcAction *a)
{
    const PtcDidCalls *did = &a->run.did;
    if (!a->run.fail_kind || w->own_fail)
        return w->data_map;
    ContextMaking fail = begin_made_map(heap),
                  m = {heap, w->data_map == PTC_NIL ? ptc_map_empty(heap) : w->data_map};
    put_made_member(&fail, "reason",
                    ptc_keyword_new(heap, a->run.fail_kind, strlen(a->run.fail_kind)));
    put_made_member(&fail, "message",
                    ptc_str_new(heap, a->run.fail_message.bytes ? a->run.fail_message.bytes : "",
                                a->run.fail_message.len));
    put_made_member(&fail, "done", did_vector(w, heap, did, false));
    put_made_member(&fail, "unknown", did_vector(w, heap, did, true));
    if (did->cut)
        put_int(&fail, "cut", (int64_t)did->cut);
    PtcValue key = ptc_str_new(heap, "fail", 4);
    return key == PTC_NONE || fail.map == PTC_NONE || m.map == PTC_NONE
               ? PTC_NONE
               : ptc_map_assoc(heap, m.map, key, fail.map);
}

/* -------------------------------------------------------------------- what it gave */

static void take_run_prints(PtcWork *w, PtcRan *ran)
{
    PtcBuf out;
    const PtcPrints *prints = &w->outcome->prints;
    ptc_buf_init(&out, &w->mem, WORK_TEXT_BYTES);
    ptc_emit_array(&out);
    for (size_t i = 0; i < prints->count; i++)
        ptc_emit_text(&out, ptc_prints_line(prints, i));
    ptc_emit_array_end(&out);
    ran->prints = ptc_work_keep(w, &out);
}

static void take_tool_calls(PtcWork *w, PtcRan *ran)
{
    PtcOutcome *o = w->outcome;
    PtcTurnCall *calls = ptc_arena_zalloc(&w->arena, (o->log.count + 1) * sizeof *calls);
    for (size_t i = 0; calls && i < o->log.count; i++) {
        PtcToolRecord r = ptc_outcome_call(o, i);
        calls[i] = (PtcTurnCall){.name = {r.name, r.name_len},
                                 .ok = r.ok,
                                 .cached = r.cached,
                                 .tries = o->log.items[i].tries};
    }
    ran->calls = calls;
    ran->call_count = calls ? o->log.count : 0;
}

static void forget_kept(PtcWork *w)
{
    for (size_t i = 0; w->def->tools && i < w->def->tools->count; i++)
        atomic_store(&w->tally[i].kept, 0);
}

/* Counts the calls that the journal stands for. */
static void count_kept(PtcWork *w)
{
    const PtcLog *log = &w->outcome->log;
    if (log->forgot)
        forget_kept(w);
    for (size_t i = 0; i < log->count; i++) {
        const PtcLogEntry *e = &log->items[i];
        if (e->journaled && !e->cached && (e->ok || e->unknown))
            atomic_fetch_add(&w->tally[e->tool].kept, 1);
    }
}

/* Ids and texts of step-done are strings, whatever the program wrote. */
static void take_done_steps(PtcWork *w, PtcRan *ran)
{
    PtcValue map = w->outcome->summaries, key, value;
    size_t n = ptc_is_map(map) ? ptc_map_count(map) : 0, i = 0;
    PtcDoneStep *done = n ? ptc_arena_zalloc(&w->arena, n * sizeof *done) : NULL;
    for (size_t pos = 0; done && i < n && ptc_map_next(map, &pos, &key, &value); i++)
        done[i] = (PtcDoneStep){ptc_str_text(key), ptc_str_text(value)};
    ran->done = done;
    ran->done_count = i;
}

/* Names whose definitions were discarded. */
static void take_lost(PtcWork *w, PtcRan *ran)
{
    const PtcBuf *all = &w->outcome->lost;
    size_t n = 0, i = 0;
    for (size_t at = 0; at < all->len; at++)
        n += all->data[at] == '\n';
    PtcText *lost = n ? ptc_arena_alloc(&w->arena, n * sizeof *lost) : NULL;
    for (const char *p = all->data; lost && i < n; i++) {
        const char *end = memchr(p, '\n', all->len - (size_t)(p - all->data));
        lost[i] = (PtcText){p, (size_t)(end - p)};
        p = end + 1;
    }
    ran->lost = lost;
    ran->lost_count = i;
}

/* What a program that must be corrected has changed outside; of others nobody asks. */
static void take_did(PtcWork *w, PtcEnding ending, PtcRan *ran)
{
    ran->own_fail = w->own_fail;
    if (!w->outcome->log.writes.total ||
        !ptc_step_fails(ending, ran->end, ran->value_kind, ran->fits))
        return;
    const PtcWrites *writes = ptc_outcome_writes(w->outcome);
    PtcDidCall *calls = ptc_arena_zalloc(&w->arena, (writes->count + 1) * sizeof *calls);
    for (size_t i = 0; calls && i < writes->count; i++)
        calls[i] = (PtcDidCall){writes->items[i].tool, ptc_write_args(&writes->items[i]),
                                ptc_write_result(&writes->items[i]), writes->items[i].unknown};
    ran->did = (PtcDidCalls){calls, calls ? writes->count : 0, writes->total - writes->count};
}

static void take_journal(PtcWork *w, PtcRan *ran)
{
    PtcBuf log;
    if (!w->def->journaling)
        return;
    ptc_buf_init(&log, &w->mem, WORK_TEXT_BYTES);
    ptc_work_journal_log(w, &log);
    ran->journal_log = ptc_work_keep(w, &log);
}

static void take_payload(PtcWork *w, PtcRan *ran)
{
    PtcBuf payload, feedback;
    const PtcAgentFormat *f = &w->def->format;
    PtcFormatOptions format;
    ptc_format_unset(&format);
    format.size = sizeof format;
    format.feedback_max_chars = f->feedback_max_chars;
    format.preview_max_chars = f->preview_max_chars;
    format.max_print_length = f->max_print_length;
    format.output_max_bytes = f->output_max_bytes;
    PtcPayloadOptions options = {.size = sizeof options,
                                 .format = &format,
                                 .session =
                                     w->outcome->ok && !w->outcome->dropped ? w->session : NULL};
    PtcPayloadParts parts = {
        .feedback = &feedback, .whole = w->def->mode == PTC_MODE_CONTENT, .answer = &payload};
    ptc_buf_init(&payload, &w->mem, ptc_payload_room(w->outcome));
    ptc_buf_init(&feedback, &w->mem, ptc_payload_room(w->outcome));
    w->arena.failed |= !ptc_payload_parts(w->outcome, &options, &parts);
    ran->payload = ptc_work_keep(w, &payload);
    ran->feedback = ptc_work_keep(w, &feedback);
}

/* The value as a turn shows it. */
static void take_run_value(PtcWork *w, PtcRan *ran)
{
    PtcBuf out;
    PtcValue v = w->outcome->value;
    ran->value_kind = v == PTC_NIL           ? PTC_VALUE_NIL
                      : ptc_is(v, PTC_T_VAR) ? PTC_VALUE_VAR
                                             : PTC_VALUE_PLAIN;
    if (v == PTC_NONE || v == PTC_NIL)
        return;
    ptc_buf_init(&out, &w->mem, WORK_TEXT_BYTES);
    ptc_work_add_value(w, &out, v);
    ran->value = ptc_work_keep(w, &out);
}

/* Why the value is not the answer. */
static void take_findings(PtcWork *w, PtcRan *ran)
{
    PtcBench bench;
    ptc_bench_init(&bench);
    ran->issues = ptc_messages_keep(&w->arena, ptc_buf_view(&w->outcome->issues));
    ran->findings = ptc_messages_keep(&w->arena, ptc_judge_findings(&bench, ran->issues));
    w->arena.failed |= !ran->issues.bytes || !ran->findings.bytes;
    ptc_bench_deinit(&bench);
}

static void take_verdict(PtcWork *w, PtcRan *ran)
{
    PtcOutcome *o = w->outcome;
    ran->fits = o->fits;
    if (o->fits) {
        const char *json = ptc_outcome_show_answer(o);
        ran->answer =
            json ? ptc_messages_keep(&w->arena, ptc_buf_view(&o->answer)) : (PtcText){NULL, 0};
        w->arena.failed |= !json;
    } else {
        take_findings(w, ran);
    }
}

static void take_run_error(PtcWork *w, PtcRan *ran)
{
    PtcOutcome *o = w->outcome;
    PtcError e = ptc_outcome_finding(o, 0);
    ran->message = ptc_messages_keep(&w->arena, (PtcText){e.message, e.message_len});
    ran->kind = o->errors[0].kind == PTC_E_DEADLINE ? ptc_error_kind_name(PTC_E_TIMEOUT) : e.kind;
    bool unfit = o->errors[0].phase == PTC_PHASE_CHECK && o->errors[0].kind == PTC_E_VALIDATION;
    ran->end = unfit                                    ? PTC_RAN_UNFIT
               : o->control == PTC_CONTROL_FAIL         ? PTC_RAN_FAIL
               : o->errors[0].kind == PTC_E_CANCELLED   ? PTC_RAN_CANCELLED
               : o->errors[0].kind == PTC_E_DEFINITIONS ? PTC_RAN_MEMORY_LIMIT
                                                        : PTC_RAN_FAILED;
    if (ran->end == PTC_RAN_FAIL)
        take_run_value(w, ran);
    else
        ran->value_kind = PTC_VALUE_NIL;
}

static void take_run_outcome(PtcWork *w, PtcEnding ending, PtcRan *ran)
{
    PtcOutcome *o = w->outcome;
    if (o->ok) {
        ran->end = o->control == PTC_CONTROL_RETURN ? PTC_RAN_RETURN : PTC_RAN_VALUE;
        take_run_value(w, ran);
        take_verdict(w, ran);
    } else {
        take_run_error(w, ran);
    }
    take_run_prints(w, ran);
    take_tool_calls(w, ran);
    count_kept(w);
    take_done_steps(w, ran);
    take_lost(w, ran);
    take_did(w, ending, ran);
    take_journal(w, ran);
    take_payload(w, ran);
}

/* ------------------------------------------------------------------------------ running */

static PtcRunEnding run_ending_of(PtcEnding ending)
{
    switch (ending) {
    case PTC_ENDS_NEVER: return PTC_RUN_ENDS_NEVER;
    case PTC_ENDS_RETURN:
    case PTC_ENDS_DUE_RETURN: return PTC_RUN_ENDS_BY_RETURN;
    case PTC_ENDS_DUE_VALUE:
    case PTC_ENDS_DUE_NIL: break;
    }
    return PTC_RUN_ENDS_BY_VALUE;
}

static PtcBareAnswer bare_answer_of(PtcEnding ending)
{
    return ending == PTC_ENDS_DUE_VALUE ? PTC_BARE_PLAIN
           : ending == PTC_ENDS_DUE_NIL ? PTC_BARE_ANY
                                        : PTC_BARE_NONE;
}

static bool run_in(PtcWork *w, PtcHeapBox *given, const PtcAction *a, const PtcWorkLimits *limits)
{
    PtcLimits merged;
    PtcContract wanted = {.sig = w->def->want.sig, .schema = w->def->want.schema};
    bool may_answer = a->run.ending != PTC_ENDS_NEVER;
    if (wanted.sig && may_answer)
        wanted.sketch = ptc_sig_sketch(&w->arena, wanted.sig->result, false);
    PtcRun run = {.size = sizeof run,
                  .program = a->run.program.bytes,
                  .program_len = a->run.program.len,
                  .session = w->session,
                  .tools = w->def->tools,
                  .limits = &merged,
                  .now_ms = limits->now_ms,
                  .context = context_of(w, &given->heap, a),
                  .budget = remaining_map(&given->heap, &a->run.remaining)};
    PtcRunMore more = {.judge = true,
                       .wanted = &wanted,
                       .definition_bytes = w->def->memory_limit,
                       .ending = run_ending_of(a->run.ending),
                       .bare_answer = bare_answer_of(a->run.ending),
                       .host = limits->host,
                       .tally = w->tally,
                       .cancel = limits->cancel,
                       .hard_ns = limits->end_ns,
                       .pmap_ms = w->pmap_ms};
    if (run.context == PTC_NONE || run.budget == PTC_NONE)
        return false;
    merged = w->ptc->limits;
    return ptc_engine_run_more(w->ptc, &run, &more, &w->outcome) == PTC_OK;
}

bool ptc_work_give_up(PtcWork *w)
{
    return ptc_engine_keep_journal(w->session, w->outcome);
}

void ptc_work_run(PtcWork *w, const PtcAction *a, const PtcWorkLimits *limits, PtcRan *ran)
{
    *ran = (PtcRan){.end = PTC_RAN_NO_MEMORY};
    ptc_outcome_drop(w->outcome);
    w->outcome = NULL;
    ptc_arena_reset(&w->arena);
    PtcHeapBox *given = ptc_box_new(w->ptc, GIVEN_BYTES + a->run.did.count * DID_BYTES);
    if (!given)
        return;
    if (run_in(w, given, a, limits))
        take_run_outcome(w, a->run.ending, ran);
    ptc_box_release(&given->heap);
    if (w->arena.failed)
        *ran = (PtcRan){.end = PTC_RAN_NO_MEMORY};
}
