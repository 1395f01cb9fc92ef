/* SPDX-License-Identifier: MIT
 * Events of agents as lines of JSON.  What always holds: the lock of the tree is held, so lines come one after the
 * other and whole; a line that cannot be made in full is replaced by one that says so, never left half written. */
#include "agent/run/agent_trace.h"

#include <stdio.h>

#include "agent/run/agent_outcome.h"
#include "base/utf8.h"
#include "engine/outcome.h"
#include "json/emit.h"
#include "llm/llm_json.h"
#include "ptc/ptc.h"
#include "trace/call_log.h"
#include "value/calendar.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

/* How much of a text is read before it is cut: more than is kept, since [secret] is shorter than most secrets. */
enum { READ = 4 * PTC_TRACE_TEXT, ID = 96 };
#define TRACE_MEMORY ((size_t)64 * PTC_MB)

/* --------------------------------------------------------------------------------- texts */

/* The text without secrets, cut to what is kept. */
static PtcText clean_traced_text(PtcAgentTrace *t, PtcText text)
{
    if (text.len > READ)
        text.len = ptc_utf8_valid_prefix(text.bytes, READ);
    if (t->secrets) {
        ptc_buf_clear(&t->clean);
        ptc_secrets_blot(t->secrets, &t->clean, text, false);
        text = ptc_buf_ok(&t->clean) ? ptc_buf_view(&t->clean) : PTC_TEXT("");
    }
    if (text.len > PTC_TRACE_TEXT)
        text.len = ptc_utf8_valid_prefix(text.bytes, PTC_TRACE_TEXT);
    return text;
}

/* A member, and a second one with the full size when the text was cut; nothing for an absent text. */
static void add_traced_text(PtcAgentTrace *t, const char *key, PtcText text)
{
    char size[40];
    if (!text.bytes)
        return;
    PtcText kept = clean_traced_text(t, text);
    ptc_emit_field_text(&t->line, key, kept);
    if (text.len <= PTC_TRACE_TEXT)
        return;
    snprintf(size, sizeof size, "%.30s_bytes", key);
    ptc_emit_field_uint(&t->line, size, text.len);
}

static void add_us(PtcAgentTrace *t, const char *key, int64_t ns)
{
    ptc_emit_field_int(&t->line, key, ns / 1000);
}

static void add_traced_tokens(PtcAgentTrace *t, const PtcTokens *tokens)
{
    PtcBuf *out = &t->line;
    if (!tokens->reported)
        return;
    ptc_emit_key(out, "tokens");
    ptc_emit_object(out);
    ptc_emit_field_int(out, "input", tokens->input);
    ptc_emit_field_int(out, "output", tokens->output);
    ptc_emit_field_int(out, "cache_creation", tokens->cache_creation);
    ptc_emit_field_int(out, "cache_read", tokens->cache_read);
    ptc_llm_json_write_cost(out, tokens);
    ptc_emit_object_end(out);
}

/* --------------------------------------------------------------------------------- lines */

static void write_agent_trace_line(PtcAgentTrace *t)
{
    static const char last[] = "{\"event\":\"trace.stop\",\"reason\":\"too_large\"}\n";
    PtcText line = ptc_buf_view(&t->line);
    if (t->over)
        return;
    if (t->bytes + line.len > PTC_TRACE_BYTES) {
        line = (PtcText){last, sizeof last - 1};
        t->over = true;
    }
    t->bytes += line.len;
    if (!t->write(t->user, line))
        t->failed = t->over = true;
}

/* The beginning that all events of a tree share. */
static void begin_at(PtcAgentTrace *t, const char *event, const char *id, const char *parent,
                     int64_t at_ns)
{
    ptc_buf_clear(&t->line);
    ptc_emit_object(&t->line);
    ptc_emit_field_cstr(&t->line, "event", event);
    ptc_emit_field_cstr(&t->line, "id", id);
    ptc_emit_field_cstr(&t->line, "parent", parent);
    add_us(t, "at_us", at_ns);
}

static void begin_trace_event(PtcAgentTrace *t, const PtcProgress *p, const char *event,
                              const char *id, const char *parent)
{
    begin_at(t, event, id, parent, t->offset_ns + p->at_ns);
}

static void end_trace_event(PtcAgentTrace *t, const char *event, const char *id)
{
    ptc_emit_object_end(&t->line);
    if (!ptc_buf_ok(&t->line)) {
        ptc_buf_clear(&t->line);
        ptc_emit_object(&t->line);
        ptc_emit_field_cstr(&t->line, "event", event);
        ptc_emit_field_cstr(&t->line, "id", id);
        ptc_emit_field_bool(&t->line, "left_out", true);
        ptc_emit_object_end(&t->line);
    }
    ptc_buf_add_char(&t->line, '\n');
    if (ptc_buf_ok(&t->line))
        write_agent_trace_line(t);
    else
        t->failed = true;
}

/* ----------------------------------------------------------------------------------- ids */

/* r1, r1.t2, r1.t2.m1, r1.t2.p, r1.t2.c3: each number counts within the id in front of it. */
typedef struct Ids {
    char run[ID], turn[ID], model[ID], program[ID];
} Ids;

static void name_run(const PtcAgentTrace *t, uint64_t run, char id[ID])
{
    snprintf(id, ID, "r%llu", (unsigned long long)(t->runs_before + run));
}

static void name_all(const PtcAgentTrace *t, const PtcProgress *p, Ids *ids)
{
    name_run(t, p->run, ids->run);
    snprintf(ids->turn, ID, "%.24s.t%lld", ids->run, (long long)p->turn);
    snprintf(ids->model, ID, "%.48s.m%lld", ids->turn, (long long)p->attempt);
    snprintf(ids->program, ID, "%.48s.p", ids->turn);
}

/* What started an agent: the program that its parent is running, or the parent's turn when the model made the call.
 * The parent is waiting, so its state can be read. */
static void name_parent(const PtcAgentTrace *t, const PtcProgress *p, char id[ID])
{
    const PtcAgentRun *parent = p->what->parent;
    char run[ID];
    name_run(t, p->parent, run);
    snprintf(id, ID, "%.24s.t%lld%s", run, (long long)parent->step.now.turn_count + 1,
             parent->step.now.state == PTC_STEP_RUNNING ? ".p" : "");
}

/* --------------------------------------------------------------------------------- runs */

static void trace_run_start(PtcAgentTrace *t, const PtcProgress *p, const Ids *ids)
{
    static const char *const modes[PTC_MODE_COUNT] = {[PTC_MODE_CONTENT] = "content",
                                                      [PTC_MODE_TOOL_CALL] = "tool_call",
                                                      [PTC_MODE_TEXT] = "text",
                                                      [PTC_MODE_COMBINED] = "combined"};
    const PtcAgentRun *r = p->what;
    char parent[ID];
    if (p->parent)
        name_parent(t, p, parent);
    begin_trace_event(t, p, "run.start", ids->run, p->parent ? parent : NULL);
    add_traced_text(t, "agent", p->agent);
    add_traced_text(t, "name", r->def->name);
    ptc_emit_field_cstr(&t->line, "mode", modes[r->def->mode]);
    ptc_emit_field_int(&t->line, "depth", r->depth);
    end_trace_event(t, "run.start", ids->run);
}

static void add_verdict(PtcAgentTrace *t, const PtcAgentRun *r)
{
    const PtcVerdict *v = &r->step.now.verdict;
    PtcBuf *out = &t->line;
    ptc_emit_field_cstr(out, "outcome", ptc_agent_outcome_name(r));
    if (r->invalid) {
        add_traced_text(t, "message", ptc_text_cstr(r->fault.text));
    } else if (v->ok) {
        ptc_emit_field_cstr(out, "by", v->by);
        add_traced_text(t, "return", v->value);
    } else {
        ptc_emit_field_cstr(out, "reason", ptc_agent_fault_word(v->reason));
        if (v->cause)
            ptc_emit_field_cstr(out, "cause", v->cause);
        add_traced_text(t, "message", v->message);
    }
}

static void run_stop(PtcAgentTrace *t, const PtcProgress *p, const Ids *ids)
{
    const PtcAgentRun *r = p->what;
    const PtcStepNow *now = &r->step.now;
    char parent[ID];
    if (p->parent)
        name_parent(t, p, parent);
    begin_trace_event(t, p, "run.stop", ids->run, p->parent ? parent : NULL);
    add_us(t, "duration_us", p->duration_ns);
    add_verdict(t, r);
    ptc_emit_field_uint(&t->line, "turns", now->turn_count);
    ptc_emit_field_int(&t->line, "llm_requests", now->requests);
    ptc_emit_field_int(&t->line, "llm_errors", now->errors);
    ptc_emit_field_int(&t->line, "children", atomic_load(&r->children));
    add_traced_tokens(t, &now->tokens);
    end_trace_event(t, "run.stop", ids->run);
}

/* -------------------------------------------------------------------------------- turns */

static void turn_start(PtcAgentTrace *t, const PtcProgress *p, const Ids *ids)
{
    begin_trace_event(t, p, "turn.start", ids->turn, ids->run);
    ptc_emit_field_cstr(&t->line, "type", ptc_turn_type_name(p->what->step.now.type));
    end_trace_event(t, "turn.start", ids->turn);
}

static void turn_stop(PtcAgentTrace *t, const PtcProgress *p, const Ids *ids)
{
    const PtcTurn *turn = p->ended;
    begin_trace_event(t, p, "turn.stop", ids->turn, ids->run);
    add_us(t, "duration_us", p->duration_ns);
    ptc_emit_field_bool(&t->line, "ok", turn->ok);
    if (turn->reason)
        ptc_emit_field_cstr(&t->line, "reason", ptc_turn_word(turn));
    if (turn->reason)
        add_traced_text(t, "message", turn->message);
    ptc_emit_field_uint(&t->line, "calls", turn->call_count);
    add_traced_tokens(t, &turn->tokens);
    end_trace_event(t, "turn.stop", ids->turn);
}

/* --------------------------------------------------------------------------- model calls */

static void add_traced_calls(PtcAgentTrace *t, const PtcMessageCall *calls, size_t count)
{
    if (count == 0)
        return;
    ptc_emit_key(&t->line, "calls");
    ptc_emit_array(&t->line);
    for (size_t i = 0; i < count && i < PTC_TRACE_ITEMS; i++) {
        ptc_emit_object(&t->line);
        add_traced_text(t, "id", calls[i].id);
        add_traced_text(t, "name", calls[i].name);
        add_traced_text(t, "args", calls[i].args);
        ptc_emit_object_end(&t->line);
    }
    ptc_emit_array_end(&t->line);
}

/* The messages that the model has not seen before: those after its own last one. */
static void add_new_messages(PtcAgentTrace *t, const PtcLlmRequest *q)
{
    size_t count = ptc_llm_message_count(q), from = count;
    while (from > 0 && ptc_llm_message(q, from - 1)->role != PTC_ROLE_ASSISTANT)
        from--;
    ptc_emit_field_uint(&t->line, "messages", count);
    ptc_emit_key(&t->line, "new");
    ptc_emit_array(&t->line);
    for (size_t i = from; i < count && i - from < PTC_TRACE_ITEMS; i++) {
        const PtcMessage *m = ptc_llm_message(q, i);
        ptc_emit_object(&t->line);
        ptc_emit_field_cstr(&t->line, "role", m->role == PTC_ROLE_TOOL ? "tool" : "user");
        if (m->role == PTC_ROLE_TOOL)
            add_traced_text(t, "call", m->call_id);
        add_traced_text(t, "content", m->content);
        ptc_emit_object_end(&t->line);
    }
    ptc_emit_array_end(&t->line);
}

static void llm_start(PtcAgentTrace *t, const PtcProgress *p, const Ids *ids)
{
    const PtcLlmRequest *q = p->request;
    begin_trace_event(t, p, "llm.start", ids->model, ids->turn);
    ptc_emit_field_cstr(&t->line, "model", p->what->model ? p->what->model->name : NULL);
    if (p->turn == 1 && p->attempt == 1)
        add_traced_text(t, "system", q->system);
    add_new_messages(t, q);
    ptc_emit_key(&t->line, "tools");
    ptc_emit_array(&t->line);
    for (size_t i = 0; i < q->tool_count && i < PTC_TRACE_ITEMS; i++)
        ptc_emit_text(&t->line, q->tools[i].name);
    ptc_emit_array_end(&t->line);
    ptc_emit_field_bool(&t->line, "schema", q->schema.bytes != NULL);
    end_trace_event(t, "llm.start", ids->model);
}

static void llm_stop(PtcAgentTrace *t, const PtcProgress *p, const Ids *ids)
{
    const PtcLlmReply *reply = p->reply;
    begin_trace_event(t, p, "llm.stop", ids->model, ids->turn);
    add_us(t, "duration_us", p->duration_ns);
    bool ok = reply->status == PTC_LLM_OK;
    ptc_emit_field_cstr(&t->line, "status", ok ? "ok" : ptc_llm_status_name(reply->status));
    add_traced_text(t, ok ? "text" : "message", ok ? reply->text : reply->error);
    add_traced_calls(t, reply->calls, ok ? reply->call_count : 0);
    if (ok)
        ptc_emit_field_bool(&t->line, "cut", reply->cut);
    add_traced_tokens(t, &reply->tokens);
    end_trace_event(t, "llm.stop", ids->model);
}

/* ---------------------------------------------------------------------- programs, tools */

static void program_start(PtcAgentTrace *t, const PtcProgress *p, const Ids *ids)
{
    begin_trace_event(t, p, "program.start", ids->program, ids->turn);
    add_traced_text(t, "program", p->program);
    end_trace_event(t, "program.start", ids->program);
}

/* When a call began, from when it ended; nothing for one that was refused before it was made. */
static void add_call_start(PtcAgentTrace *t, int64_t ended_ns, int64_t duration_us)
{
    int64_t at_us = (ended_ns - t->began_ns) / 1000 - duration_us;
    if (ended_ns)
        ptc_emit_field_int(&t->line, "start_us", at_us > 0 ? at_us : 0);
}

/* One call; `number` counts those of the turn, from 1. */
static void tool_call(PtcAgentTrace *t, const PtcProgress *p, const Ids *ids, size_t number,
                      const PtcToolRecord *r, uint32_t tries, int64_t ended_ns)
{
    char id[ID];
    bool native = r->layer[0] == 'n';
    snprintf(id, ID, "%.48s.c%zu", ids->turn, number);
    begin_trace_event(t, p, "tool", id, native ? ids->turn : ids->program);
    add_call_start(t, ended_ns, r->duration_us);
    add_us(t, "duration_us", r->duration_us * 1000);
    add_traced_text(t, "name", (PtcText){r->name, r->name_len});
    ptc_emit_field_cstr(&t->line, "layer", r->layer);
    ptc_emit_field_bool(&t->line, "ok", r->ok);
    ptc_emit_field_bool(&t->line, "cached", r->cached);
    if (tries > 1)
        ptc_emit_field_uint(&t->line, "attempts", tries);
    add_traced_text(t, "args", (PtcText){r->arguments, r->arguments_len});
    add_traced_text(t, r->ok ? "result" : "message", (PtcText){r->result, r->result_len});
    end_trace_event(t, "tool", id);
}

static void program_tools(PtcAgentTrace *t, const PtcProgress *p, const Ids *ids)
{
    size_t count = p->outcome ? p->outcome->log.count : 0;
    for (size_t i = 0; i < count && !t->over; i++) {
        PtcToolRecord r = ptc_outcome_call(p->outcome, i);
        const PtcLogEntry *e = &p->outcome->log.items[i];
        tool_call(t, p, ids, i + 1, &r, e->tries, e->ended_ns);
    }
}

/* --------------------------------------------------------------------- calls of upstreams */

/* When a call began, in milliseconds since the trace did.  The log has the time of day, which may have been set
 * meanwhile. */
static int64_t began_ms(const PtcAgentTrace *t, PtcCallLog *l, size_t i)
{
    int64_t ms;
    PtcText ts = ptc_call_log_text(l, i, "ts");
    return ts.bytes && ptc_iso_millis(ts.bytes, ts.len, &ms) ? ms - t->began_ms : 0;
}

static int64_t took_ns(PtcCallLog *l, size_t i, int64_t most)
{
    PtcValue ms = ptc_call_log_member(l, i, "duration_ms");
    double took = ms != PTC_NONE && ptc_is_float(ms) ? ptc_to_float(ms) * 1e6 : 0;
    return took >= 0 && took < (double)most ? (int64_t)took : most;
}

/* The members of a call on one side of it. */
static void add_side(PtcAgentTrace *t, PtcCallLog *l, size_t i, bool asked)
{
    PtcValue key, value, call = ptc_seq_nth(l->calls, i);
    for (size_t pos = 0; ptc_is_map(call) && ptc_map_next(call, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        const char *payload = ptc_call_log_payload(name);
        if (ptc_text_is(name, "id") || ptc_call_log_is_asked(name) != asked)
            continue;
        if (payload) {
            add_traced_text(t, payload, ptc_str_text(value));
            continue;
        }
        ptc_emit_key_text(&t->line, name);
        ptc_emit_value(&t->line, &l->heap, value);
    }
}

static void upstream_call(PtcAgentTrace *t, const PtcProgress *p, const Ids *ids, PtcCallLog *l,
                          size_t i)
{
    char id[ID];
    int64_t end_ns = t->offset_ns + p->at_ns, first_ns = end_ns - p->duration_ns;
    int64_t ms = began_ms(t, l, i), began = ms < end_ns / PTC_MS ? ms * PTC_MS : end_ns;
    if (began < first_ns) /* as it does by the fraction that the log does not have */
        began = first_ns;
    snprintf(id, ID, "%.48s.u%zu", ids->turn, i + 1);
    begin_at(t, "upstream.start", id, ids->program, began);
    add_side(t, l, i, true);
    end_trace_event(t, "upstream.start", id);
    begin_at(t, "upstream.stop", id, ids->program, began + took_ns(l, i, end_ns - began));
    add_side(t, l, i, false);
    end_trace_event(t, "upstream.stop", id);
}

static void program_upstreams(PtcAgentTrace *t, const PtcProgress *p, const Ids *ids)
{
    PtcCallLog call_log;
    if (p->upstream_calls.len == 0)
        return;
    ptc_call_log_open(&call_log, &t->mem, p->upstream_calls);
    t->failed = t->failed || call_log.calls == PTC_NONE;
    for (size_t i = 0; i < call_log.count && !t->over; i++)
        upstream_call(t, p, ids, &call_log, i);
    ptc_call_log_close(&call_log);
}

/* -------------------------------------------------------------------------- ends of programs */

/* As JSON inside a text, as values are: like them it may have to be cut. */
static void add_traced_warnings(PtcAgentTrace *t, const PtcOutcome *outcome)
{
    PtcBuf json;
    if (!outcome || outcome->warnings.count == 0)
        return;
    ptc_buf_init(&json, &t->mem, PTC_TRACE_LINE);
    if (ptc_outcome_write_warnings(outcome, &json))
        add_traced_text(t, "warnings", ptc_buf_view(&json));
    ptc_buf_deinit(&json);
}

static void program_stop(PtcAgentTrace *t, const PtcProgress *p, const Ids *ids)
{
    static const char *const ends[] = {
        [PTC_RAN_VALUE] = "value",         [PTC_RAN_RETURN] = "return",
        [PTC_RAN_FAIL] = "fail",           [PTC_RAN_FAILED] = "error",
        [PTC_RAN_UNFIT] = "error",         [PTC_RAN_MEMORY_LIMIT] = "error",
        [PTC_RAN_CANCELLED] = "cancelled", [PTC_RAN_NO_MEMORY] = "no_memory",
    };
    const PtcRan *ran = p->ran;
    program_tools(t, p, ids);
    program_upstreams(t, p, ids);
    begin_trace_event(t, p, "program.stop", ids->program, ids->turn);
    add_us(t, "duration_us", p->duration_ns);
    ptc_emit_field_cstr(&t->line, "end", ends[ran->end]);
    if (ran->end == PTC_RAN_FAILED || ran->end == PTC_RAN_UNFIT || ran->end == PTC_RAN_MEMORY_LIMIT)
        ptc_emit_field_cstr(&t->line, "reason", ran->kind ? ran->kind : "memory_limit");
    add_traced_text(t, "message", ran->message);
    add_traced_text(t, "value", ran->value);
    add_traced_text(t, "prints", ran->prints);
    add_traced_warnings(t, p->outcome);
    ptc_emit_field_uint(&t->line, "calls", p->outcome ? p->outcome->log.total : 0);
    end_trace_event(t, "program.stop", ids->program);
}

static void native_calls(PtcAgentTrace *t, const PtcProgress *p, const Ids *ids)
{
    const PtcTools *tools = p->what->def->tools;
    for (size_t i = 0; i < p->call_count; i++) {
        const PtcCallOrder *order = &p->orders[i];
        const PtcCallResult *result = &p->results[i];
        const PtcToolInfo *info = &tools->items[order->tool].info;
        PtcToolRecord r = {.name = info->name,
                           .name_len = info->name_len,
                           .arguments = order->args.bytes,
                           .arguments_len = order->args.len,
                           .result = result->content.bytes,
                           .result_len = result->content.len,
                           .ok = result->ok,
                           .cached = result->cached,
                           .layer = "native",
                           .duration_us = result->took_ns / 1000};
        tool_call(t, p, ids, i + 1, &r, result->tries, result->ended_ns);
    }
}

/* --------------------------------------------------------------------------------- trace */

void ptc_agent_trace_init(PtcAgentTrace *t, const PtcSecrets *secrets,
                          bool (*write)(void *user, PtcText line), void *user)
{
    char stamp[PTC_CALENDAR_TEXT];
    *t = (PtcAgentTrace){
        .secrets = secrets, .write = write, .user = user, .began_ns = ptc_clock_ns(NULL)};
    t->began_ms = ptc_clock_wall_ms();
    ptc_mem_init(&t->mem, TRACE_MEMORY);
    ptc_buf_init(&t->line, &t->mem, PTC_TRACE_LINE);
    ptc_buf_init(&t->clean, &t->mem, (size_t)2 * READ + 16);
    ptc_iso_stamp(stamp, t->began_ms);
    ptc_emit_object(&t->line);
    ptc_emit_field_cstr(&t->line, "event", "trace.start");
    ptc_emit_field_int(&t->line, "version", PTC_TRACE_VERSION);
    ptc_emit_field_cstr(&t->line, "ptc", PTC_VERSION);
    ptc_emit_field_cstr(&t->line, "ts", stamp);
    end_trace_event(t, "trace.start", "");
}

bool ptc_agent_trace_deinit(PtcAgentTrace *t)
{
    ptc_buf_deinit(&t->clean);
    ptc_buf_deinit(&t->line);
    return !t->failed;
}

/* The top agent of another tree: the tree numbers its runs from 1 again, ours continue. */
static void note_run(PtcAgentTrace *t, const PtcProgress *p)
{
    if (p->kind != PTC_PROGRESS_RUN_BEGAN)
        return;
    if (!p->parent) {
        t->runs_before = t->runs;
        t->offset_ns = ptc_clock_ns(NULL) - p->at_ns - t->began_ns;
    }
    t->runs++;
}

void ptc_agent_trace_tell(PtcAgentTrace *t, const PtcProgress *p)
{
    Ids ids;
    note_run(t, p);
    if (t->over)
        return;
    name_all(t, p, &ids);
    switch (p->kind) {
    case PTC_PROGRESS_RUN_BEGAN: trace_run_start(t, p, &ids); break;
    case PTC_PROGRESS_RUN_ENDED: run_stop(t, p, &ids); break;
    case PTC_PROGRESS_ASKED:
        if (p->attempt == 1)
            turn_start(t, p, &ids);
        llm_start(t, p, &ids);
        break;
    case PTC_PROGRESS_ANSWERED: llm_stop(t, p, &ids); break;
    case PTC_PROGRESS_PROGRAM_BEGAN: program_start(t, p, &ids); break;
    case PTC_PROGRESS_PROGRAM_ENDED: program_stop(t, p, &ids); break;
    case PTC_PROGRESS_CALLING: break;
    case PTC_PROGRESS_CALLED: native_calls(t, p, &ids); break;
    case PTC_PROGRESS_TURN_ENDED: turn_stop(t, p, &ids); break;
    }
}
