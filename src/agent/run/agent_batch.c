/* SPDX-License-Identifier: MIT
 * Agent runs as lines of JSON.  What always holds: every line is answered with exactly one line, whatever is in it,
 * and an answer contains nothing that could differ if the line were run again. */
#include "agent/run/agent_batch.h"

#include <stdio.h>

#include "agent/definition/run_options.h"
#include "agent/run/agent_outcome.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "llm/script.h"
#include "value/coll/map.h"
#include "value/str.h"

/* A line as short as this fits into a bench for sure: if it does not, memory is short. */
enum { BATCH_SMALL_BYTES = PTC_BENCH_BYTES / 64 };

/* One line being answered. */
typedef struct BatchLine {
    const PtcAgentBatchOptions *options;
    PtcBench bench;
    PtcMem mem; /* for models and the log */
    PtcValue body, id;
    PtcAgentDef *def;
    PtcRunOptions run;
    PtcModel *model;
    PtcWhy fault;
    PtcBuf log; /* requests, as JSON without brackets */
    PtcBuf *out;
} BatchLine;

/* ---------------------------------------------------------------------------- the log */

static const PtcMessage *message_at(const PtcLlmRequest *q, size_t i)
{
    return ptc_llm_message(q, i);
}

static void log_roles(PtcBuf *log, const PtcLlmRequest *q)
{
    static const char *const roles[] = {"user", "assistant", "tool"};
    ptc_emit_key(log, "roles");
    ptc_emit_array(log);
    for (size_t i = 0; i < ptc_llm_message_count(q); i++)
        ptc_emit_cstr(log, roles[message_at(q, i)->role]);
    ptc_emit_array_end(log);
}

static void log_tools(PtcBuf *log, const PtcLlmRequest *q)
{
    ptc_emit_key(log, "tools");
    if (q->tool_count == 0) {
        ptc_emit_null(log);
        return;
    }
    ptc_emit_array(log);
    for (size_t i = 0; i < q->tool_count; i++)
        ptc_emit_text(log, q->tools[i].name);
    ptc_emit_array_end(log);
}

static void log_calls(PtcBuf *log, const PtcLlmRequest *q)
{
    ptc_emit_key(log, "calls");
    ptc_emit_array(log);
    for (size_t i = 0; i < ptc_llm_message_count(q); i++) {
        const PtcMessage *m = message_at(q, i);
        for (size_t c = 0; c < m->call_count; c++) {
            ptc_emit_array(log);
            ptc_emit_text(log, m->calls[c].id);
            ptc_emit_text(log, m->calls[c].name);
            ptc_emit_array_end(log);
        }
    }
    ptc_emit_array_end(log);
}

static void log_messages(PtcBuf *log, const char *key, const PtcLlmRequest *q, size_t from)
{
    ptc_emit_key(log, key);
    ptc_emit_array(log);
    for (size_t i = from; i < ptc_llm_message_count(q); i++)
        ptc_agent_message_write(log, message_at(q, i));
    ptc_emit_array_end(log);
}

static void log_system(PtcBuf *log, const PtcLlmRequest *q)
{
    ptc_emit_key(log, "system");
    ptc_emit_string(log);
    ptc_emit_string_part(log, q->system);
    if (q->system_more.bytes)
        ptc_emit_string_part(log, q->system_more);
    ptc_emit_string_end(log);
}

/* Where the messages after the assistant's last one begin. */
static size_t first_new_message(const PtcLlmRequest *q)
{
    size_t n = ptc_llm_message_count(q);
    while (n > 0 && message_at(q, n - 1)->role != PTC_ROLE_ASSISTANT)
        n--;
    return n;
}

static void log_request(void *user, const PtcProgress *p)
{
    BatchLine *l = user;
    PtcBuf *log = &l->log;
    const PtcLlmRequest *q = p->request;
    if (p->kind != PTC_PROGRESS_ASKED)
        return;
    ptc_emit_object(log);
    ptc_emit_field_text(log, "agent", p->agent);
    log_roles(log, q);
    log_tools(log, q);
    ptc_emit_field_bool(log, "schema", q->schema.bytes != NULL);
    log_calls(log, q);
    log_messages(log, "tail", q, first_new_message(q));
    if (l->run.full_requests) {
        log_system(log, q);
        log_messages(log, "messages", q, 0);
    }
    ptc_emit_object_end(log);
}

/* ----------------------------------------------------------------------------- answering */

static void begin_line_answer(BatchLine *l)
{
    ptc_emit_object(l->out);
    ptc_emit_key(l->out, "id");
    if (l->id == PTC_NONE || !ptc_emit_value(l->out, &l->bench.heap, l->id))
        ptc_emit_null(l->out);
}

static void answer_fault(BatchLine *l)
{
    const PtcWhy *f = &l->fault;
    begin_line_answer(l);
    ptc_emit_field_cstr(l->out, "outcome", ptc_fault_outcome(f));
    ptc_emit_field_cstr(l->out, "reason", ptc_agent_fault_word(ptc_fault_reason(f)));
    ptc_emit_field_cstr(l->out, "message", f->text);
    if (f->path[0])
        ptc_emit_field_cstr(l->out, "path", f->path);
    ptc_emit_field_raw(l->out, "requests", PTC_TEXT("[]"));
    ptc_emit_field_raw(l->out, "tool_runs", PTC_TEXT("{}"));
    ptc_emit_object_end(l->out);
}

static void answer_run(BatchLine *l, PtcAgentTree *tree, PtcAgentRun *run)
{
    PtcOutcomeOptions options = {.messages = l->run.collect_messages};
    begin_line_answer(l);
    ptc_agent_outcome_write(run, &options, l->out);
    ptc_emit_key(l->out, "requests");
    ptc_emit_array(l->out);
    if (l->log.len)
        ptc_emit_raw(l->out, ptc_buf_view(&l->log));
    ptc_emit_array_end(l->out);
    ptc_emit_key(l->out, "tool_runs");
    ptc_emit_object(l->out);
    for (size_t i = 0; i < tree->tool_count; i++) {
        ptc_emit_key_text(l->out, tree->tools[i].name);
        ptc_emit_uint(l->out, tree->tools[i].times);
    }
    ptc_emit_object_end(l->out);
    ptc_emit_object_end(l->out);
    l->out->failed = l->out->failed || !ptc_buf_ok(&l->log);
}

/* -------------------------------------------------------------------------------- reading */

static bool refuse_agent_line(BatchLine *l, const char *path, const char *message)
{
    return ptc_fault_input(&l->fault, path, "%s", message);
}

static PtcValue batch_line_member(BatchLine *l, const char *name)
{
    PtcValue v = ptc_map_field(&l->bench.heap, l->body, name);
    return v == PTC_NIL ? PTC_NONE : v;
}

static bool check_line_members(BatchLine *l)
{
    static const char *const known[] = {"id", "agent", "context", "run", "llm"};
    PtcValue key, value;
    for (size_t pos = 0; ptc_map_next(l->body, &pos, &key, &value);) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            found = found || ptc_text_is(ptc_str_text(key), known[i]);
        if (!found) {
            char path[80];
            snprintf(path, sizeof path, "%.*s", PTC_ARG(ptc_text_cut(ptc_str_view(key), 60)));
            return refuse_agent_line(
                l, path, "there is no such field; allowed are id, agent, context, run, llm");
        }
    }
    return true;
}

static bool parse_line(BatchLine *l, PtcText line)
{
    PtcJsonError e = {0};
    char why[300];
    l->body = ptc_json_parse(&l->bench.heap, line.bytes, line.len, &e);
    l->id = PTC_NONE;
    if (l->body == PTC_NONE && e.stopped && line.len < BATCH_SMALL_BYTES)
        return ptc_why_no_memory(&l->fault);
    if (l->body == PTC_NONE) {
        snprintf(why, sizeof why, "not JSON: column %u: %s", (unsigned)e.column,
                 e.stopped ? "it does not fit in memory" : e.message);
        return refuse_agent_line(l, "", why);
    }
    if (!ptc_is_map(l->body))
        return refuse_agent_line(l, "", "a request is an object with agent and llm");
    l->id = batch_line_member(l, "id");
    return check_line_members(l);
}

static bool read_line_agent(BatchLine *l)
{
    PtcAgentReading how = {.allow_commands = l->options->allow_tools,
                           .allow_http = l->options->allow_tools,
                           .command_advice = "--allow-tools allows them",
                           .http_advice = "--allow-tools allows them",
                           .allow_scripts = true,
                           .only_scripts = true};
    PtcValue agent = batch_line_member(l, "agent");
    if (agent == PTC_NONE)
        return refuse_agent_line(l, "agent", "a request needs an agent, an object");
    l->def = ptc_definition_read(agent, &how, &l->fault);
    return l->def != NULL;
}

static bool read_line_model(BatchLine *l)
{
    PtcValue replies = batch_line_member(l, "llm");
    PtcWhy why;
    if (replies == PTC_NONE)
        return true;
    if (!ptc_is_sequential(replies))
        return refuse_agent_line(l, "llm", "a list of replies: nothing goes over a network here");
    PtcText text = ptc_run_options_json(&l->bench, replies);
    if (!text.bytes)
        return ptc_why_no_memory(&l->fault);
    l->model = ptc_script_new(&l->mem, "script", text, NULL, &why);
    return l->model || refuse_agent_line(l, "llm", why.text);
}

static bool read_line_context(BatchLine *l)
{
    PtcValue context = batch_line_member(l, "context");
    if (context == PTC_NONE)
        return true;
    l->run.agent.input.context = ptc_run_options_json(&l->bench, context);
    return l->run.agent.input.context.bytes || ptc_why_no_memory(&l->fault);
}

static PtcModel *open_line_script(void *user, PtcText script, PtcWhy *why)
{
    BatchLine *l = user;
    return ptc_script_new(&l->mem, "script", script, NULL, why);
}

static PtcModel *refuse_line_model(void *user, PtcText spec, bool program, PtcWhy *why)
{
    (void)user, (void)spec, (void)program;
    ptc_why_say(why, PTC_WHY_INVALID, "a batch can only use scripts as models");
    return NULL;
}

static int64_t deadline_ms(const BatchLine *l)
{
    int64_t own = l->def->mission_timeout_ms, most = l->options->deadline_ms;
    return most > 0 && (own == 0 || most < own) ? most : own;
}

static void run_line(BatchLine *l)
{
    PtcAgentTree tree;
    PtcAgentRun run;
    PtcTreeHost host = {.open_script = open_line_script, .user = l};
    if (l->options->host)
        host = *l->options->host;
    host.open_model = refuse_line_model;
    host.progress = log_request;
    host.progress_user = l;
    if (!ptc_tree_init(&tree, &host, l->def->turn_budget, deadline_ms(l))) {
        l->out->failed = true;
        return;
    }
    l->run.agent.model = l->model;
    l->run.agent.cancel = l->options->cancel;
    ptc_agent_run_begin(&run, &tree, l->def, &l->run.agent);
    ptc_agent_run_go(&run);
    answer_run(l, &tree, &run);
    ptc_agent_run_end(&run);
    ptc_tree_deinit(&tree);
}

bool ptc_agent_batch_line(const PtcAgentBatchOptions *options, PtcText line, PtcBuf *out)
{
    BatchLine l = {.options = options, .out = out};
    ptc_bench_init(&l.bench);
    ptc_mem_init(&l.mem, (size_t)PTC_GB);
    ptc_buf_init(&l.log, &l.mem, (size_t)1 << 29);
    bool ok =
        parse_line(&l, line) && read_line_agent(&l) && read_line_model(&l) &&
        ptc_run_options_read(&l.bench, batch_line_member(&l, "run"), l.def, &l.run, &l.fault) &&
        read_line_context(&l);
    if (ok)
        run_line(&l);
    else
        answer_fault(&l);
    if (l.model)
        l.model->free(l.model);
    ptc_definition_release(l.def);
    ptc_buf_deinit(&l.log);
    ptc_bench_deinit(&l.bench);
    return ptc_buf_ok(out);
}
