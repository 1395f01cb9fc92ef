/* SPDX-License-Identifier: MIT
 * `ptc run FILE`.  The answer goes to standard output, everything else to standard error; with --json the whole
 * outcome goes to standard output, whatever it is. */
#include "cli/agent/run_agent.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/run/agent_chain.h"
#include "agent/step/judge.h"
#include "cli/agent/agent_host.h"
#include "cli/agent/agent_upstreams.h"
#include "cli/agent/run_chunks.h"
#include "cli/agent/run_compile.h"
#include "cli/agent/run_dry.h"
#include "cli/agent/run_live.h"
#include "cli/agent/run_verbose.h"
#include "cli/cmd/cmd.h"
#include "cli/cmd/data_in.h"
#include "cli/cmd/db_in.h"
#include "cli/interrupt.h"
#include "cli/io.h"
#include "cli/out/journal_out.h"
#include "cli/out/shown.h"
#include "cli/out/trace_out.h"
#include "data/data_file.h"
#include "json/emit.h"
#include "json/parse.h"
#include "tool/learn.h"
#include "value/coll/map.h"

enum { RUN_OUT_BYTES = 256 * PTC_MB };

/* One invocation of the command. */
typedef struct Command {
    PtcMem *mem;
    const PtcRunCommand *o;
    const char *path;
    PtcAgentHost *host;
    PtcTools *dbs; /* of --db; or NULL */
    PtcAgentDef *defs[PTC_CHAIN_AGENTS];
    size_t count;
    PtcBench bench; /* of the context */
    PtcText context;
    PtcJournalOut journal;
    PtcTraceOut trace;
    PtcRunLive live;
    PtcRunVerbose verbose;
    PtcAgentUpstreams upstreams;
    PtcChain chain;
} Command;

/* ------------------------------------------------------------------------------ refusing */

/* What is wrong with the agent, its input or the command line: exit status 2, unless memory is short. */
static int refuse_in(const Command *c, const char *file, PtcAgentFault reason, const char *path,
                     const char *message)
{
    PtcBuf out;
    const char *word = ptc_agent_fault_word(reason);
    bool failed = reason == PTC_FAULT_NO_MEMORY;
    int status = failed ? PTC_EXIT_FAILED : PTC_EXIT_USAGE;
    if (!c->o->json) {
        ptc_io_printf(PTC_IO_STDERR, "ptc run: %s%s%s%s%s: %s\n", word, file ? ": " : "",
                      file ? file : "", path[0] ? ": " : "", path, message);
        return status;
    }
    ptc_buf_init(&out, c->mem, PTC_MB);
    ptc_emit_object(&out);
    ptc_emit_field_cstr(&out, "outcome", failed ? "error" : "invalid");
    ptc_emit_field_cstr(&out, "reason", word);
    ptc_emit_field_cstr(&out, "message", message);
    if (file)
        ptc_emit_field_cstr(&out, "file", file);
    if (path[0])
        ptc_emit_field_cstr(&out, "path", path);
    ptc_emit_object_end(&out);
    if (!ptc_shown_result("run", out.data, out.len))
        status = PTC_EXIT_FAILED;
    ptc_buf_deinit(&out);
    return status;
}

static int refuse_run(const Command *c, PtcAgentFault reason, const char *path, const char *message)
{
    return refuse_in(c, NULL, reason, path, message);
}

/* `file` is where the fault is, unless the message begins with its name already; NULL: not known. */
static int refuse_run_fault(const Command *c, const char *file, const PtcWhy *f)
{
    size_t n = file ? strlen(file) : 0;
    bool named = n && strncmp(f->text, file, n) == 0 && f->text[n] == ':';
    bool journal =
        c->o->journal && strcmp(f->path, "run.journal") == 0; /* the batch's name for it */
    return refuse_in(c, f->class == PTC_WHY_NO_MEMORY || named ? NULL : file, ptc_fault_reason(f),
                     journal ? c->o->journal : f->path, f->text);
}

/* The file of what is wrong with the input of a run; NULL: it came from the command line, or from several. */
static const char *input_file(const Command *c, const PtcWhy *f)
{
    bool context = f->code == PTC_FAULT_INVALID_INPUT && strncmp(f->path, "context", 7) == 0;
    bool alone = c->o->data.count == 0 && c->o->chunks.count == 0;
    return context && alone && c->o->context && c->o->context[0] == '@' ? c->o->context + 1 : NULL;
}

/* ------------------------------------------------------------------------------- reading */

static bool read_run_agent(Command *c, const char *path, int *status)
{
    PtcWhy fault;
    PtcAgentReading how = {.allow_commands = true,
                           .allow_http = true,
                           .allow_scripts = true,
                           .compiling = c->o->compile != NULL,
                           .check = c->o->check >= 0 ? &c->o->check : NULL,
                           .check_model = ptc_agent_host_check_model,
                           .user = c->host,
                           .tools = c->dbs};
    if (c->count == PTC_CHAIN_AGENTS) {
        *status = refuse_run(c, PTC_FAULT_INVALID_INPUT, "--then", "a chain has at most 32 agents");
        return false;
    }
    c->defs[c->count] = ptc_definition_open(path, &how, &fault);
    if (!c->defs[c->count]) {
        *status = refuse_run_fault(c, path, &fault);
        return false;
    }
    ptc_toolset_learn(c->defs[c->count++]->tools, !c->o->upstreams.no_learn);
    return true;
}

static bool read_agents(Command *c, int *status)
{
    bool ok = read_run_agent(c, c->path, status);
    for (size_t i = 0; ok && i < c->o->then.count; i++)
        ok = read_run_agent(c, c->o->then.items[i], status);
    return ok;
}

/* JSON on the command line, or in a file named with @. */
static bool read_option_text(Command *c, const char *option, const char *text, PtcText *out,
                             int *status)
{
    PtcBuf buf;
    *out = ptc_text_cstr(text);
    if (text && text[0] != '@' && access(text, F_OK) == 0) {
        *status = refuse_run(c, PTC_FAULT_INVALID_INPUT, option,
                             "this is the name of a file; write @ before it to read it");
        return false;
    }
    if (!text || text[0] != '@')
        return true;
    ptc_buf_init(&buf, &c->bench.mem, PTC_IO_MAX);
    const char *why = ptc_io_read(&buf, text + 1);
    if (why) {
        char message[400];
        snprintf(message, sizeof message, "%.200s: %s", text + 1, why);
        *status = refuse_run(c, PTC_FAULT_INVALID_INPUT, option, message);
        ptc_buf_deinit(&buf);
        return false;
    }
    *out = ptc_bench_take(&c->bench, &buf);
    if (!out->bytes)
        *status = refuse_run(c, PTC_FAULT_NO_MEMORY, "", "out of memory");
    return out->bytes != NULL;
}

/* Adds the pieces of a file under their key. */
static bool add_file_chunks(Command *c, const char *text, PtcValue *map, int *status)
{
    PtcChunkSpec spec;
    PtcBuf file;
    PtcWhy why;
    if (!ptc_chunk_parse(text, &spec, &why)) {
        *status = refuse_run(c, PTC_FAULT_INVALID_INPUT, "--chunk", why.text);
        return false;
    }
    ptc_buf_init(&file, c->mem, PTC_IO_MAX);
    const char *unread = ptc_io_read(&file, spec.path);
    bool ok = unread ? ptc_why_say(&why, PTC_WHY_UNAVAILABLE, "%s", unread)
                     : ptc_chunks_add(&c->bench.heap, map, spec.key, &spec.how, ptc_buf_view(&file),
                                      &why);
    if (!ok) {
        ptc_why_prefix(&why, "%s: ", spec.path);
        *status = refuse_run(c, PTC_FAULT_INVALID_INPUT, "--chunk", why.text);
    }
    ptc_buf_deinit(&file);
    return ok;
}

/* A file of data under its name. */
static bool add_data(Command *c, const char *item, PtcValue *map, int *status)
{
    char name[PTC_DATA_IN_NAME];
    PtcWhy why;
    const char *path;
    PtcHeap *heap = &c->bench.heap;
    PtcDataFile file = {.heap = heap, .why = &why};
    PtcValue v =
        ptc_data_in_split(item, name, &path, &why) ? ptc_data_file_read(&file, path) : PTC_NONE;
    if (v != PTC_NONE)
        ptc_why_no_memory(&why); /* unless it becomes a part of the map */
    PtcValue key = v == PTC_NONE ? PTC_NONE : ptc_str_new(heap, name, strlen(name));
    if (key != PTC_NONE && (*map = ptc_map_assoc(heap, *map, key, v)) != PTC_NONE)
        return true;
    *status = refuse_run(c, PTC_FAULT_INVALID_INPUT, "--data", why.text);
    return false;
}

/* What --data and --chunk bring becomes a part of the context. */
static bool add_files(Command *c, int *status)
{
    PtcJsonError e = {0};
    PtcBuf out;
    PtcHeap *heap = &c->bench.heap;
    PtcText given = c->context.bytes ? c->context : PTC_TEXT("{}");
    if (c->o->chunks.count == 0 && c->o->data.count == 0)
        return true;
    PtcValue map = ptc_json_parse(heap, given.bytes, given.len, &e);
    if (map == PTC_NONE || !ptc_is_map(map)) {
        *status = e.stopped ? refuse_run(c, PTC_FAULT_NO_MEMORY, "", "out of memory")
                            : refuse_run(c, PTC_FAULT_INVALID_INPUT, "context",
                                         "it must be a JSON object");
        return false;
    }
    for (size_t i = 0; i < c->o->data.count; i++)
        if (!add_data(c, c->o->data.items[i], &map, status))
            return false;
    for (size_t i = 0; i < c->o->chunks.count; i++)
        if (!add_file_chunks(c, c->o->chunks.items[i], &map, status))
            return false;
    ptc_buf_init(&out, &c->bench.mem, RUN_OUT_BYTES);
    ptc_emit_value(&out, heap, map);
    c->context = ptc_bench_take(&c->bench, &out);
    if (!c->context.bytes)
        *status = refuse_run(c, PTC_FAULT_NO_MEMORY, "", "out of memory");
    return c->context.bytes != NULL;
}

static bool open_journal(Command *c, int *status)
{
    PtcWhy why;
    if (c->o->journal && c->count > 1) {
        *status = refuse_run(c, PTC_FAULT_INVALID_INPUT, "--journal",
                             "a chain has no journal; run its agents one by one");
        return false;
    }
    bool ok = ptc_journal_out_open(&c->journal, c->mem, c->o->journal, &why);
    if (!ok)
        *status = refuse_run(c, PTC_FAULT_INVALID_INPUT, "--journal", why.text);
    return ok;
}

static bool read_run_inputs(Command *c, int *status)
{
    return read_agents(c, status) &&
           read_option_text(c, "--context", c->o->context, &c->context, status) &&
           add_files(c, status) && open_journal(c, status);
}

/* ------------------------------------------------------------------------------- watching */

static void watch_run_progress(void *user, const PtcProgress *p)
{
    Command *c = user;
    ptc_trace_out_tell(&c->trace, p);
    ptc_run_live_tell(&c->live, p);
    ptc_run_verbose_tell(&c->verbose, p);
    ptc_journal_out_tell(&c->journal, p);
}

/* -------------------------------------------------------------------------------- output */

/* What was wrong with the last turn, when no answer came of it. */
static void tell_last_turn(Command *c, const PtcStepNow *now)
{
    const PtcTurn *t = now->turn_count ? &now->turns[now->turn_count - 1] : NULL;
    if (!t || t->ok || !t->message.bytes)
        return;
    PtcText found = t->issues.bytes ? ptc_judge_findings(&c->bench, t->issues) : (PtcText){"", 0};
    ptc_io_printf(PTC_IO_STDERR, "last turn: %.*s%s%.*s\n", PTC_ARG(t->message),
                  found.len ? "\n" : "", PTC_ARG(found));
}

static void tell_run_failure(Command *c)
{
    PtcAgentRun *run = ptc_chain_last(&c->chain);
    const PtcVerdict *v = run ? &run->step.now.verdict : NULL;
    if (c->chain.reason) {
        ptc_io_printf(PTC_IO_STDERR, "ptc run: %s: %s\n", ptc_agent_fault_word(c->chain.reason),
                      c->chain.message);
        return;
    }
    ptc_io_printf(PTC_IO_STDERR, "ptc run: %s: %.*s%s%s%s\n", ptc_agent_fault_word(v->reason),
                  PTC_ARG(v->message), v->cause ? " (" : "", v->cause ? v->cause : "",
                  v->cause ? ")" : "");
    if (v->cause && v->reason != PTC_FAULT_LLM_ERROR)
        tell_last_turn(c, &run->step.now);
    if (v->value.bytes)
        ptc_io_printf(PTC_IO_STDERR, "value: %.*s\n", PTC_ARG(v->value));
    if (v->partial.bytes)
        ptc_io_printf(PTC_IO_STDERR, "partial: %.*s\n", PTC_ARG(v->partial));
}

static int exit_status(const Command *c)
{
    PtcAgentRun *run = ptc_chain_last((PtcChain *)&c->chain);
    if (ptc_chain_ok(&c->chain))
        return PTC_EXIT_OK;
    if (c->chain.reason || !run)
        return PTC_EXIT_FAILED;
    bool usage = run->invalid ? run->fault.class != PTC_WHY_NO_MEMORY
                              : run->step.now.verdict.reason == PTC_FAULT_LLM_REQUIRED;
    return usage ? PTC_EXIT_USAGE : PTC_EXIT_FAILED;
}

/* Recorded and replayed runs are meant to be compared byte by byte, and no two take the same time. */
static bool tells_time(const Command *c)
{
    return !c->o->record && !(c->o->llm && strncmp(c->o->llm, "replay:", 7) == 0);
}

static bool print_run_json(Command *c)
{
    PtcBuf out;
    PtcOutcomeOptions options = {.messages = c->o->messages, .duration = tells_time(c)};
    ptc_buf_init(&out, c->mem, RUN_OUT_BYTES);
    ptc_emit_object(&out);
    ptc_chain_write(&c->chain, &options, &out);
    ptc_agent_upstreams_write(&c->upstreams, !ptc_chain_ok(&c->chain), &out);
    ptc_emit_object_end(&out);
    bool made = ptc_buf_ok(&out);
    bool ok = made && ptc_shown_result("run", out.data, out.len);
    if (!made)
        ptc_io_printf(PTC_IO_STDERR, "ptc run: the outcome does not fit in memory\n");
    ptc_buf_deinit(&out);
    return ok;
}

static int print_outcome(Command *c)
{
    PtcAgentRun *run = ptc_chain_last(&c->chain);
    int status = exit_status(c);
    bool written = true;
    if (run && run->missing)
        ptc_io_printf(
            PTC_IO_STDERR,
            "ptc run: placeholders of the prompt that have no value and stay as they are: %zu\n",
            run->missing);
    if (c->o->json)
        written = print_run_json(c);
    else if (status == PTC_EXIT_OK)
        written = ptc_shown_answer("run", &c->bench.heap, run->step.now.verdict.value);
    else if (!c->chain.reason && run && run->invalid)
        refuse_run_fault(c, input_file(c, &run->fault), &run->fault);
    else
        tell_run_failure(c);
    ptc_agent_upstreams_say(&c->upstreams, !ptc_chain_ok(&c->chain));
    return ptc_journal_out_ok(&c->journal, "run") && written ? status : PTC_EXIT_FAILED;
}

/* ------------------------------------------------------------------------------- running */

static PtcAgentOptions run_agent_options(Command *c)
{
    PtcAgentOptions o = ptc_agent_options();
    o.model = ptc_agent_host_model(c->host);
    o.input.context = c->context;
    o.token_limit = c->o->token_limit;
    o.return_partial = c->o->exceeded == 1;
    o.cancel = &ptc_interrupt;
    o.input.journal = ptc_journal_out_text(&c->journal);
    return o;
}

static int run_chain(Command *c)
{
    int status = PTC_EXIT_FAILED;
    if (!ptc_trace_out_open(&c->trace, "run", c->o->trace, c->o->otlp,
                            ptc_agent_host_secrets(c->host)))
        return PTC_EXIT_USAGE;
    c->chain = (PtcChain){.defs = c->defs,
                          .count = c->count,
                          .options = run_agent_options(c),
                          .llm_timeout_ms = c->o->llm_timeout_ms};
    ptc_agent_host_fill(c->host, &c->chain.host);
    c->chain.host.servers = ptc_agent_upstreams_servers(&c->upstreams);
    c->chain.host.progress = watch_run_progress;
    c->chain.host.progress_user = c;
    ptc_interrupt_catch();
    ptc_run_verbose_begin(&c->verbose, c->o->verbose, ptc_agent_host_secrets(c->host));
    if (!c->o->verbose)
        ptc_run_live_begin(&c->live);
    bool ran = ptc_chain_run(&c->chain);
    ptc_run_live_end(&c->live);
    ptc_run_verbose_end(&c->verbose);
    if (ran)
        status = print_outcome(c);
    else
        ptc_io_printf(PTC_IO_STDERR, "ptc run: out of memory\n");
    ptc_chain_end(&c->chain);
    return ptc_trace_out_close(&c->trace) || status != PTC_EXIT_OK ? status : PTC_EXIT_FAILED;
}

static int run_dry(Command *c)
{
    PtcAgentTree tree;
    PtcAgentRun run;
    PtcTreeHost host = {.open_model = NULL};
    PtcLlmRequest request;
    PtcAgentOptions options = run_agent_options(c);
    int status = PTC_EXIT_FAILED;
    ptc_agent_host_fill(c->host, &host);
    host.servers = ptc_agent_upstreams_servers(&c->upstreams);
    if (!ptc_tree_init(&tree, &host, c->defs[0]->turn_budget, 0))
        return refuse_run(c, PTC_FAULT_NO_MEMORY, "", "out of memory");
    ptc_agent_run_begin(&run, &tree, c->defs[0], &options);
    if (ptc_agent_run_prepare(&run, &request))
        status = ptc_run_dry_print(c->mem, run.model, &request, c->o->json);
    else if (run.invalid)
        status = refuse_run_fault(c, input_file(c, &run.fault), &run.fault);
    else
        status = refuse_run(c, PTC_FAULT_NO_MEMORY, "", "out of memory");
    ptc_agent_run_end(&run);
    ptc_tree_deinit(&tree);
    return status;
}

/* ----------------------------------------------------------------------------- upstreams */

/* Agents that never run a program have no use for them. */
static bool has_program_agents(const Command *c)
{
    bool any = false;
    for (size_t i = 0; i < c->count; i++)
        any = any || !ptc_definition_is_plain(c->defs[i]);
    return any && !c->o->compile;
}

static bool open_run_upstreams(Command *c, int *status)
{
    PtcUpstreamsOptions options = c->o->upstreams;
    PtcAgentUpstreamsConfig config = {.command = "run",
                                      .options = &options,
                                      .records = ptc_agent_host_more_secrets(c->host),
                                      .cancel = &ptc_interrupt,
                                      .live = &c->live,
                                      .traced = c->o->trace || c->o->otlp || c->o->verbose,
                                      .start = !c->o->dry_run};
    bool named = options.files.count || options.imports.count, used = has_program_agents(c);
    options.none = options.none || !used;
    bool ok = ptc_agent_upstreams_open(&c->upstreams, c->mem, &config, status);
    if (!ok && c->o->json)
        (void)refuse_run(c, PTC_FAULT_INVALID_INPUT, "--upstreams",
                         "standard error says what is wrong");
    if (named && !used) {
        *status =
            refuse_run(c, PTC_FAULT_INVALID_INPUT, "--upstreams",
                       "only programs call upstreams, and this agent writes none; leave it out, "
                       "or \"output\": \"text\" of the agent");
        return false;
    }
    return ok;
}

static int compile_run_agent(Command *c)
{
    PtcText sample;
    int status;
    if (c->count > 1 || c->o->journal)
        return refuse_run(c, PTC_FAULT_INVALID_INPUT, "--compile",
                          "it goes with one agent, without --journal");
    if (!read_option_text(c, "--sample", c->o->sample, &sample, &status))
        return status;
    ptc_interrupt_catch();
    return ptc_run_compile(c->mem, c->host, c->defs[0], c->o, sample, &ptc_interrupt);
}

static void close_run_parts(Command *c)
{
    ptc_journal_out_close(&c->journal);
    for (size_t i = 0; i < c->count; i++)
        ptc_definition_release(c->defs[i]);
    ptc_bench_deinit(&c->bench);
}

static bool open_run_dbs(Command *c)
{
    PtcWhy why;
    if (ptc_db_in_add(&c->dbs, c->mem, &c->o->dbs, &why))
        return true;
    refuse_run(c, PTC_FAULT_INVALID_INPUT, NULL, why.text);
    return false;
}

int ptc_run_agent(PtcMem *mem, const PtcRunCommand *o, const char *path)
{
    PtcAgentHostOptions host = {.command = "run",
                                .llm = o->llm,
                                .models = o->models,
                                .record = o->record,
                                .replay_loose = o->replay_loose};
    Command c = {.mem = mem, .o = o, .path = path};
    int status = PTC_EXIT_USAGE;
    if (!(c.host = ptc_agent_host_open(mem, &host)))
        return status;
    ptc_bench_init(&c.bench);
    bool read = open_run_dbs(&c) && read_run_inputs(&c, &status);
    if (read && open_run_upstreams(&c, &status))
        status = o->compile ? compile_run_agent(&c) : o->dry_run ? run_dry(&c) : run_chain(&c);
    if (read)
        ptc_agent_upstreams_close(&c.upstreams);
    close_run_parts(&c);
    ptc_tools_free(c.dbs);
    return ptc_agent_host_close(c.host) || status != PTC_EXIT_OK ? status : PTC_EXIT_FAILED;
}
