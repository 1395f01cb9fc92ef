/* SPDX-License-Identifier: MIT
 * `ptc eval`: one program from the command line, a file or standard input; or a batch (--jsonl). */
#include "cli/cmd/cmd.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_kinds.h"
#include "api/batch.h"
#include "base/buf.h"
#include "cli/agent/run_compile.h"
#include "cli/cmd/data_in.h"
#include "cli/cmd/db_in.h"
#include "cli/cmd/each.h"
#include "cli/cmd/jsonl.h"
#include "cli/cmd/run_in.h"
#include "cli/cmd/short_data.h"
#include "cli/cmd/summary.h"
#include "cli/cmd/tools_in.h"
#include "cli/io.h"
#include "cli/options.h"
#include "cli/out/data_out.h"
#include "cli/out/report.h"
#include "cli/out/shown.h"
#include "cli/out/to_file.h"
#include "cli/upstreams/upstreams_open.h"
#ifndef PTC_ENGINE
#include "cli/upstreams/eval_told.h"
#endif
#include "engine/engine.h"
#include "lisp/vm/limits.h"
#include "ptc/ptc.h"
#include "value/calendar.h"

/* The options of the command, which the table below fills in.  Texts are borrowed from argv. */
typedef struct {
    const char *expression, *file, *context, *tools, *allow, *signature, *schema, *compiled, *llm,
        *otlp;
    int format;  /* -1: not given */
    int dry_run; /* likewise; 0: plan */
    int check;   /* likewise; PTC_CHECK_* */
    PtcInputOptions input;
    bool jsonl, session, raw, each, in_place;
    const char *output;
    int64_t timeout_ms, deadline_ms, memory_mb, loop_limit, max_depth, program_bytes, seed;
    int64_t float_precision, max_tool_calls, context_mb, result_mb;
    const char *now, *init;
    PtcOptionList data, dbs;
    PtcUpstreamsOptions upstreams;
} EvalOptions;

/* ------------------------------------------------------------------- table */

#define EVAL_AT(field) offsetof(EvalOptions, field)
#define MS_MAX ((int64_t)24 * 3600 * 1000)

static const PtcOption table[] = {
    {"expression", 'e', PTC_OPTION_TEXT, EVAL_AT(expression), "PROGRAM", "the program", 0, 0,
     PTC_GROUP_PROGRAM | PTC_GROUP_COMMON},
    {"file", 'f', PTC_OPTION_TEXT, EVAL_AT(file), "FILE", "read the program from a file", 0, 0,
     PTC_GROUP_PROGRAM | PTC_GROUP_COMMON},
    {"context", 0, PTC_OPTION_TEXT, EVAL_AT(context), "JSON|@FILE",
     "an object; its keys are data/key in the program", 0, 0, PTC_GROUP_DATA | PTC_GROUP_COMMON},
    {"data", 0, PTC_OPTION_LIST, EVAL_AT(data), "NAME=@FILE",
     "a file of JSON, JSON Lines, CSV or lines as data/NAME (ptc docs data)", 0, 0,
     PTC_GROUP_DATA | PTC_GROUP_COMMON},
    PTC_INPUT_ROWS(EVAL_AT(input)),
    {"each", 0, PTC_OPTION_FLAG, EVAL_AT(each), NULL,
     "ptc --each FILE PROGRAM: run the program for each row of a file of any size", 0, 0,
     PTC_GROUP_DATA},
    {"init", 0, PTC_OPTION_TEXT, EVAL_AT(init), "PROGRAM",
     "with --each: the initial `state`; each run returns the next", 0, 0, PTC_GROUP_DATA},
    {"context-mb", 0, PTC_OPTION_INT, EVAL_AT(context_mb), "N",
     "memory for the data of --context or --data, in MiB (4, and 1024 for --data)", 1, 1 << 20,
     PTC_GROUP_DATA},
    {"format", 0, PTC_OPTION_CHOICE, EVAL_AT(format), PTC_FORMATS,
     "how to print the result; payload: as lisp_eval would answer (text)", 0, 0,
     PTC_GROUP_RESULT | PTC_GROUP_COMMON},
    {"raw", 'r', PTC_OPTION_FLAG, EVAL_AT(raw), NULL, "print a string without its quotes", 0, 0,
     PTC_GROUP_RESULT | PTC_GROUP_COMMON},
    {"output", 'o', PTC_OPTION_TEXT, EVAL_AT(output), "FILE",
     "write the result to a file, in the format of its ending", 0, 0, PTC_GROUP_RESULT},
    {"in-place", 'i', PTC_OPTION_FLAG, EVAL_AT(in_place), NULL,
     "ptc -i FILE... PROGRAM: the result replaces each file, which stays as FILE.bak", 0, 0,
     PTC_GROUP_RESULT},
    {"result-mb", 0, PTC_OPTION_INT, EVAL_AT(result_mb), "N", "largest size of the result, in MiB",
     1, 2047, PTC_GROUP_RESULT},
    {"timeout-ms", 0, PTC_OPTION_INT, EVAL_AT(timeout_ms), "N", "compute time", 1, MS_MAX,
     PTC_GROUP_LIMITS | PTC_GROUP_COMMON},
    {"deadline-ms", 0, PTC_OPTION_INT, EVAL_AT(deadline_ms), "N", "time for everything", 1, MS_MAX,
     PTC_GROUP_LIMITS},
    {"memory-mb", 0, PTC_OPTION_INT, EVAL_AT(memory_mb), "N", "live memory in MiB", 1, 1 << 20,
     PTC_GROUP_LIMITS},
    {"loop-limit", 0, PTC_OPTION_INT, EVAL_AT(loop_limit), "N", "loop iterations (no limit)", 0,
     PTC_UNBOUNDED, PTC_GROUP_LIMITS},
    {"max-depth", 0, PTC_OPTION_INT, EVAL_AT(max_depth), "N", "nested calls", 1, PTC_DEPTH_MAX,
     PTC_GROUP_LIMITS},
    {"program-bytes", 0, PTC_OPTION_INT, EVAL_AT(program_bytes), "N", "largest size of the program",
     1, 64 << 20, PTC_GROUP_LIMITS},
    {"seed", 0, PTC_OPTION_INT, EVAL_AT(seed), "N", "where rand and similar functions begin", 0,
     PTC_UNBOUNDED, PTC_GROUP_PROGRAM},
    PTC_OPTION_CHECK(EVAL_AT(check), PTC_GROUP_PROGRAM),
    {"float-precision", 0, PTC_OPTION_INT, EVAL_AT(float_precision), "N",
     "digits after the point in results (shortest)", 0, 15, PTC_GROUP_RESULT},
    {"now", 0, PTC_OPTION_TEXT, EVAL_AT(now), "TIME",
     "the time of the run, 2026-01-31T12:00:00Z or milliseconds (when the run begins)", 0, 0,
     PTC_GROUP_PROGRAM},
    {"jsonl", 0, PTC_OPTION_FLAG, EVAL_AT(jsonl), NULL,
     "answer requests on standard input, one per line (ptc docs batch)", 0, 0, PTC_GROUP_PROGRAM},
    {"session", 0, PTC_OPTION_FLAG, EVAL_AT(session), NULL,
     "with --jsonl: all lines share their definitions", 0, 0, PTC_GROUP_PROGRAM},
    {"tools", 0, PTC_OPTION_TEXT, EVAL_AT(tools), "JSON|@FILE",
     "tools that programs may call (ptc docs tools)", 0, 0, PTC_GROUP_TOOLS | PTC_GROUP_COMMON},
    {"max-tool-calls", 0, PTC_OPTION_INT, EVAL_AT(max_tool_calls), "N",
     "tool calls in one run (no limit)", 0, 1 << 30, PTC_GROUP_TOOLS},
#ifndef PTC_ENGINE
    PTC_UPSTREAMS_ROWS(EVAL_AT(upstreams)),
    {"dry-run", 0, PTC_OPTION_CHOICE, EVAL_AT(dry_run), "plan|reads",
     "list what the program would call in upstreams; reads: run it up to the first call that is "
     "not a read",
     0, 0, PTC_GROUP_PROGRAM},
#endif
    {"db", 0, PTC_OPTION_LIST, EVAL_AT(dbs), "NAME=URL", PTC_DB_IN_HELP, 0, 0, PTC_GROUP_TOOLS},
    {"allow-tools", 0, PTC_OPTION_TEXT, EVAL_AT(allow), "KINDS",
     "with --jsonl: kinds of tools that lines may bring along, command (none)", 0, 0,
     PTC_GROUP_TOOLS},
    {"signature", 0, PTC_OPTION_TEXT, EVAL_AT(signature), "SIG",
     "what the result must be, such as '{count :int}'", 0, 0, PTC_GROUP_RESULT},
    {"output-schema", 0, PTC_OPTION_TEXT, EVAL_AT(schema), "JSON|@FILE",
     "what the result must be, as a JSON Schema", 0, 0, PTC_GROUP_RESULT},
#ifndef PTC_ENGINE
    PTC_OTLP_ROW(EVAL_AT(otlp), PTC_GROUP_TOOLS),
    {"compiled", 0, PTC_OPTION_TEXT, EVAL_AT(compiled), "FILE",
     "run what ptc run --compile made, with the data of --context", 0, 0, PTC_GROUP_PROGRAM},
    {"llm", 0, PTC_OPTION_TEXT, EVAL_AT(llm), "MODEL",
     "with --compiled: the model that its tools ask", 0, 0, PTC_GROUP_PROGRAM},
#endif
};

/* Limits that are not given have the engine's defaults. */
static void resolve_eval_limits(void *target)
{
    EvalOptions *o = target;
    Ptc *ptc = ptc_new(NULL);
    const PtcLimits *limits = ptc ? ptc_limits_of(ptc) : NULL;
    if (limits) {
        o->timeout_ms = limits->timeout_ms;
        o->deadline_ms = limits->deadline_ms;
        o->memory_mb = limits->memory_bytes >> 20;
        o->max_depth = limits->max_depth;
        o->program_bytes = limits->program_bytes;
        o->seed = limits->seed;
        o->result_mb = limits->result_bytes >> 20;
    }
    ptc_free(ptc);
}

static const PtcUsage usage = {
    .command = "eval",
    .synopsis =
        "PROGRAM | -e PROGRAM | -f FILE | -\n"
        "       ptc eval --jsonl [--session]\n"
        "       ptc [OPTIONS] [FILE...] PROGRAM   the program sees files as `data` and `rows`\n"
        "       ptc FILE                          what is in it",
    .summary = "Runs a program and prints its result; text that it prints goes to standard error.\n"
               "The form without eval has wider limits than those below (ptc docs limits).\n"
               "Exit status: 0 done, 1 the program failed, 2 wrong usage.",
    .examples =
        "  ptc eval '(reduce + (range 10))'\n"
        "  ptc eval --context '{\"xs\":[1,2,3]}' --format json '{:sum (reduce + data/xs)}'\n"
        "  ptc eval --context @orders.json -f report.clj\n"
        "  ptc eval --data orders=@orders.csv '(sum-by :total data/orders)'\n"
        "  ptc orders.csv '(sum-by :total rows)'\n"
        "  ptc eval --tools @tools.json '(:price (tool/price {:sku \"A\"}))'\n"
#ifndef PTC_ENGINE
        "  ptc eval --upstreams servers.json --dry-run plan -f cleanup.clj\n"
#endif
        "  echo '{\"id\":1,\"program\":\"(inc 1)\"}' | ptc eval --jsonl\n",
    .options = table,
    .option_count = sizeof table / sizeof *table,
    .resolve = resolve_eval_limits,
};

/* ------------------------------------------------------------------ engine */

/* The limits that were given. */
static void set_eval_limits(PtcLimits *limits, const EvalOptions *o)
{
    ptc_limits_init(limits, sizeof *limits);
    limits->timeout_ms = o->timeout_ms;
    limits->deadline_ms = o->deadline_ms;
    limits->memory_bytes = o->memory_mb == PTC_UNSET ? PTC_UNSET : o->memory_mb << 20;
    limits->loop_limit = o->loop_limit;
    limits->max_depth = o->max_depth;
    limits->program_bytes = o->program_bytes;
    limits->seed = o->seed;
    limits->check = o->check;
    limits->max_tool_calls = o->max_tool_calls;
    limits->context_bytes = o->context_mb == PTC_UNSET ? PTC_UNSET : o->context_mb << 20;
    limits->result_bytes = o->result_mb == PTC_UNSET ? PTC_UNSET : o->result_mb << 20;
}

static Ptc *new_eval_engine(const EvalOptions *o, const PtcUpstreams *upstreams, bool shorthand)
{
    PtcLimits limits;
    PtcOptions options;
    set_eval_limits(&limits, o);
    if (shorthand)
        ptc_short_form_limits(&limits);
    ptc_upstreams_limits(upstreams, &limits);
    ptc_options_init(&options, sizeof options);
    options.limits = &limits;
    options.float_precision = o->float_precision;
    return ptc_new(&options);
}

/* What one run holds; all of it is released in release_eval(). */
typedef struct {
    const EvalOptions *options;
    Ptc *ptc;
    PtcData *data;
    PtcOutcome *outcome;
    PtcTools *tools;
    PtcBuf program, context, schema;
    const char *name;              /* the program's file, NULL for none */
    PtcShared *shared;             /* data from files; or NULL */
    PtcDataIn in;                  /* how they are read */
    const PtcShortForm *shorthand; /* NULL: it is ptc eval */
    PtcUpstreams upstreams;
    PtcRun run;
} Eval;

static void release_eval(Eval *e)
{
    ptc_outcome_free(e->outcome);
    ptc_tools_free(e->tools);
    ptc_data_free(e->data);
    ptc_shared_free(e->shared);
    ptc_free(e->ptc);
    ptc_upstreams_close(&e->upstreams);
    ptc_buf_deinit(&e->program);
    ptc_buf_deinit(&e->schema);
    ptc_buf_deinit(&e->context);
}

/* ------------------------------------------------------------------- input */

/* A file where a program is expected: how it is written.  False: none of the arguments is one. */
static bool is_file_given(int argc, char **argv, PtcWhy *why)
{
    const char *file = NULL;
    for (int i = 0; i < argc && !file; i++)
        file = ptc_short_form_is_file(argv[i]) ? argv[i] : NULL;
    if (!file)
        return false;
    if (ptc_short_form_is_script(file))
        ptc_why_say(why, PTC_WHY_INVALID,
                    "%.200s is a file with a program; write ptc eval -f %.200s", file, file);
    else
        ptc_why_say(why, PTC_WHY_INVALID,
                    "%.200s is a file; for data write ptc %.200s '(count data)'", file, file);
    return true;
}

/* Reads the program from where the arguments say.  PTC_EXIT_OK or PTC_EXIT_USAGE. */
static int load_program(Eval *e, int argc, char **argv)
{
    const char *file = e->options->file, *text = e->options->expression;
    PtcWhy why;
    if (is_file_given(argc, argv, &why))
        return ptc_options_wrong(&usage, "%s", why.text);
    if (argc + (file != NULL) + (text != NULL) != 1)
        return ptc_options_wrong(&usage, argc || file || text
                                             ? "give one program, not several"
                                             : "which program? Give it, -f FILE or -");
    if (!file && (text || strcmp(argv[0], "-") != 0)) {
        e->run.program = text ? text : argv[0];
        e->run.program_len = strlen(e->run.program);
        return PTC_EXIT_OK;
    }
    e->name = file;
    return ptc_run_in_program(&usage, file ? file : "-", &e->program, &e->run);
}

static int load_eval_data(Eval *e)
{
    PtcWhy why;
    if (!ptc_data_in_read(&e->in, &e->options->input, &why))
        return ptc_options_wrong(&usage, "%s", why.text);
    if (!ptc_data_in_load(&e->shared, &usage, &e->options->data, e->options->context_mb, &e->in))
        return PTC_EXIT_USAGE;
    PtcShortData data = {.form = e->shorthand,
                         .in = &e->in,
                         .mb = e->options->context_mb,
                         .each = e->options->each,
                         .program = {e->run.program, e->run.program_len}};
    if (e->shorthand && !ptc_short_data_load(&data, &e->shared, &why))
        return ptc_options_refuse(&usage, "%s", why.text);
    if (!e->shared)
        return PTC_EXIT_OK;
    e->run.context = ptc_data_in_context(e->shared, e->ptc, &e->data, e->run.context);
    return e->run.context ? PTC_EXIT_OK : ptc_options_refuse(&usage, "--data: out of memory");
}

static int load_now(Eval *e)
{
    const char *now = e->options->now;
    if (!now || (ptc_iso_millis(now, strlen(now), &e->run.now_ms) && e->run.now_ms != 0))
        return PTC_EXIT_OK;
    return ptc_options_wrong(&usage, "--now wants a time such as 2026-01-31T12:00:00Z, or "
                                     "milliseconds since 1970, other than 0");
}

static int load_eval_tools(PtcMem *mem, Eval *e)
{
    PtcWhy why;
    bool learns = !e->options->upstreams.no_learn;
    if (e->options->tools && !(e->tools = ptc_tools_in_load(mem, e->options->tools, learns, &why)))
        return ptc_options_refuse(&usage, "%s", why.text);
    if (!ptc_db_in_add(&e->tools, mem, &e->options->dbs, &why))
        return ptc_options_refuse(&usage, "%s", why.text);
    e->run.tools = e->tools;
    return PTC_EXIT_OK;
}

/* ------------------------------------------------------------------ output */

/* The answer as `lisp_eval` gives it; it includes printed text and errors. */
static int write_payload(Eval *e)
{
    size_t len;
    const char *text = ptc_outcome_payload(e->outcome, NULL, &len);
    if (!text) {
        ptc_io_printf(PTC_IO_STDERR, "error: the payload does not fit in memory\n");
        return PTC_EXIT_FAILED;
    }
    int status = ptc_data_out_line(text, len);
    return ptc_outcome_ok(e->outcome) ? status : PTC_EXIT_FAILED;
}

static int write_eval_result(Eval *e)
{
    const EvalOptions *o = e->options;
    PtcDataOut how = {.format = o->format >= 0 ? (PtcFormat)o->format : PTC_FORMAT_TEXT,
                      .raw = o->raw};
    if (e->shorthand && o->format < 0) {
        how.format = ptc_data_out_usual(e->outcome);
        how.brief = true;
    }
    how.colour = how.format != PTC_FORMAT_TEXT && ptc_shown_colour(PTC_IO_STDOUT);
    if (o->in_place && !ptc_in_place_form(&how, &e->in.was, e->outcome->value))
        return PTC_EXIT_FAILED;
    return ptc_data_out_write(&how, e->outcome);
}

/* Is this a name that only a file's data has? */
static bool is_data_name(const char *name)
{
    return strcmp(name, "data") == 0 || strcmp(name, "rows") == 0;
}

/* Somebody at a terminal who forgot the file would be told about names only. */
static void explain_no_data(const Eval *e)
{
    bool alone = !e->shorthand || e->shorthand->input_count == 0;
    const PtcOutcomeError *error = e->outcome->error_count ? &e->outcome->errors[0] : NULL;
    if (alone && error && error->detail == PTC_DETAIL_UNNAMED && is_data_name(error->form))
        ptc_io_printf(PTC_IO_STDERR, "ptc: %s; for example ptc orders.csv '(count rows)'\n",
                      e->shorthand ? "no file is named, so there is no data"
                                   : "files are read without the word eval");
}

/* Warnings stand below the result, where a person looks last. */
static int write_outcome(PtcMem *mem, Eval *e)
{
    PtcReported about = {e->name, {e->run.program, e->run.program_len}, 0};
    bool ok = ptc_outcome_ok(e->outcome);
    unsigned first = PTC_REMARK_PRINTS | (ok ? 0 : PTC_REMARK_WARNINGS | PTC_REMARK_ERRORS);
    bool told = ptc_report_remarks(mem, e->outcome, &about, first);
    if (!ok) {
        explain_no_data(e);
        ptc_upstreams_say_effects(&e->upstreams);
    }
    if (!told || !ok)
        return PTC_EXIT_FAILED;
    int status = write_eval_result(e);
    if (ptc_outcome_warning_count(e->outcome) &&
        !ptc_report_remarks(mem, e->outcome, &about, PTC_REMARK_WARNINGS))
        status = PTC_EXIT_FAILED;
    return status;
}

static PtcStatus run_eval_program(Eval *e)
{
    static const PtcRunMore bare = {.bare_data = true};
    return ptc_upstreams_eval(&e->upstreams, e->ptc, &e->run, e->shorthand ? &bare : NULL,
                              &e->outcome);
}

/* Commands that run as tools lead their own process groups, which Ctrl-C on a terminal does not reach: so the run is
 * cancelled, and ends them.  A second signal ends this process as usual. */
static Ptc *interrupted;

static void cancel_eval_on_signal(int signal)
{
    (void)signal;
    ptc_cancel(interrupted); /* safe in a signal handler: lock-free atomics only */
}

static void catch_eval_signals(Ptc *ptc)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = cancel_eval_on_signal, .sa_flags = SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    interrupted = ptc;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

/* A program for each row: lines for results, or the last state. */
static int eval_each(PtcMem *mem, Eval *e)
{
    int64_t mb = e->options->context_mb;
    int format = e->options->init ? -1 : e->options->format;
    PtcEach each = {.mem = mem,
                    .ptc = e->ptc,
                    .run = &e->run,
                    .name = e->name,
                    .program = {e->run.program, e->run.program_len},
                    .init = e->options->init,
                    .in = &e->in,
                    .out = {.format = format > 0 ? (PtcFormat)format : PTC_FORMAT_JSONL,
                            .raw = e->options->raw},
                    .context_bytes = (mb == PTC_UNSET ? PTC_DATA_IN_MB : mb) << 20};
    each.inputs = ptc_short_data_inputs(e->shorthand, &each.input_count);
    int status = ptc_each(&each, &e->outcome);
    return status == PTC_EXIT_OK && e->outcome ? write_eval_result(e) : status;
}

static int refuse_eval_memory(void)
{
    ptc_io_printf(PTC_IO_STDERR, "error: out of memory\n");
    return PTC_EXIT_FAILED;
}

/* What it would call; what it printed before comes first. */
static int write_dry_run(PtcMem *mem, Eval *e, const PtcDryRun *dry)
{
    PtcReported about = {e->name, {e->run.program, e->run.program_len}, 0};
    const PtcBuf *out = e->options->format == PTC_FORMAT_JSON ? dry->json : dry->text;
    if (!ptc_report_remarks(mem, e->outcome, &about, PTC_REMARK_PRINTS | PTC_REMARK_WARNINGS))
        return PTC_EXIT_FAILED;
    if (ptc_buf_ok(out))
        return ptc_data_out_line(out->data, out->len);
    return refuse_eval_memory();
}

static int eval_dry(PtcMem *mem, Eval *e)
{
    static const PtcRunMore bare = {.bare_data = true};
    PtcBuf text, json;
    PtcDryRun dry = {.plan = e->options->dry_run == 0, .text = &text, .json = &json};
    if (!e->upstreams.manager)
        return ptc_options_wrong(&usage, "--dry-run is for programs that call upstreams; name them "
                                         "with --upstreams FILE or --import CLIENT");
    if (!dry.plan && !ptc_toolset_may_repeat(e->tools))
        return ptc_options_wrong(&usage, "--dry-run reads would call tools of --tools that are "
                                         "neither read_only nor idempotent; use --dry-run plan");
    catch_eval_signals(e->ptc);
    ptc_buf_init(&text, mem, PTC_IO_MAX);
    ptc_buf_init(&json, mem, PTC_IO_MAX);
    int status = PTC_EXIT_FAILED;
    if (ptc_upstreams_dry_run(&e->upstreams, e->ptc, &e->run, e->shorthand ? &bare : NULL, &dry,
                              &e->outcome) != PTC_OK)
        status = refuse_eval_memory();
    else
        status = dry.stopped ? write_dry_run(mem, e, &dry) : write_outcome(mem, e);
    ptc_buf_deinit(&text);
    ptc_buf_deinit(&json);
    return status;
}

/* What is in one of the files of the short form, or in all that have no name together. */
static int summarise(PtcMem *mem, Eval *e, const char *name, const char *title)
{
    PtcDataOut how = {.format = PTC_FORMAT_JSON, .raw = e->options->raw};
    if (e->options->format >= 0)
        how.format = (PtcFormat)e->options->format;
    else if (ptc_shown_on(PTC_IO_STDOUT))
        how.format = PTC_FORMAT_TABLE;
    how.colour = how.format != PTC_FORMAT_TEXT && ptc_shown_colour(PTC_IO_STDOUT);
    ptc_buf_clear(&e->program);
    ptc_outcome_free(e->outcome);
    e->outcome = NULL;
    e->run.program = ptc_summary_program(&e->program, name) ? e->program.data : "";
    e->run.program_len = e->program.len;
    if (run_eval_program(e) != PTC_OK)
        return refuse_eval_memory();
    return ptc_outcome_ok(e->outcome) ? ptc_summary_write(&how, e->outcome, title)
                                      : write_outcome(mem, e);
}

static int eval_summary(PtcMem *mem, Eval *e)
{
    const PtcShortForm *form = e->shorthand;
    char name[PTC_DATA_IN_NAME], title[PTC_DATA_IN_NAME];
    int status = load_eval_data(e);
    for (int i = 0; i < form->named_count && status == PTC_EXIT_OK; i++)
        status = ptc_short_form_named(form->named[i], name) ? summarise(mem, e, name, name)
                                                            : PTC_EXIT_USAGE;
    snprintf(title, sizeof title, "%d files", form->input_count);
    if (form->input_count && status == PTC_EXIT_OK)
        status = summarise(mem, e, NULL, form->input_count > 1 ? title : form->inputs[0]);
    return status;
}

#ifdef PTC_ENGINE
static int run_eval_told(PtcMem *mem, Eval *e)
{
    (void)mem;
    return run_eval_program(e) == PTC_OK ? PTC_EXIT_OK : refuse_eval_memory();
}
#else
static int run_eval_told(PtcMem *mem, Eval *e)
{
    PtcEvalTold told;
    PtcWhy why;
    int status = PTC_EXIT_OK;
    if (!ptc_eval_told_begin(&told, mem, e->options->otlp, &e->upstreams, &why))
        status = ptc_options_wrong(&usage, "--otlp: %s", why.text);
    else if (run_eval_program(e) != PTC_OK)
        status = refuse_eval_memory();
    ptc_eval_told_end(&told, &e->run, e->outcome);
    return status;
}
#endif

static int eval_one(PtcMem *mem, Eval *e, int argc, char **argv)
{
    if (e->shorthand && e->shorthand->summary)
        return eval_summary(mem, e);
    int status = load_program(e, argc, argv);
    if (status == PTC_EXIT_OK)
        status =
            ptc_run_in_context(&usage, e->ptc, e->options->context, &e->context, &e->data, &e->run);
    if (status == PTC_EXIT_OK)
        status = load_eval_data(e);
    if (status == PTC_EXIT_OK)
        status = ptc_run_in_wanted(&usage, e->options->signature, e->options->schema, &e->schema,
                                   &e->run);
    if (status != PTC_EXIT_OK)
        return status;
    if (e->options->each)
        return eval_each(mem, e);
    if (e->options->dry_run >= 0)
        return eval_dry(mem, e);
    if (e->tools || e->upstreams.manager)
        catch_eval_signals(e->ptc);
    status = run_eval_told(mem, e);
    if (status != PTC_EXIT_OK)
        return status;
    if (e->options->format == PTC_FORMAT_PAYLOAD)
        return write_payload(e);
    return write_outcome(mem, e);
}

/* ----------------------------------------------------------------- command */

/* Refuses options that do not go together. */
static int check_eval_options(const EvalOptions *o, int argc)
{
    if (o->otlp && (o->jsonl || o->each || o->dry_run >= 0))
        return ptc_options_wrong(&usage, "--otlp goes with one program that is run");
    if (o->init && !o->each)
        return ptc_options_wrong(&usage, "--init goes with --each only");
    if (o->session && !o->jsonl)
        return ptc_options_wrong(&usage, "--session goes with --jsonl only");
    if (o->jsonl && (argc > 0 || o->file || o->expression))
        return ptc_options_wrong(&usage, "--jsonl reads programs from standard input; "
                                         "give no program beside it");
    if (o->jsonl &&
        (o->context || o->data.count || o->format >= 0 || o->raw || o->signature || o->schema))
        return ptc_options_wrong(&usage, "with --jsonl, --%s does not apply: each line has its own",
                                 o->context       ? "context"
                                 : o->data.count  ? "data"
                                 : o->raw         ? "raw"
                                 : o->format >= 0 ? "format"
                                 : o->signature   ? "signature"
                                                  : "output-schema");
    if (o->jsonl && (o->upstreams.files.count || o->upstreams.imports.count))
        return ptc_options_wrong(&usage, "--upstreams and --import do not go with --jsonl");
    if (o->dry_run >= 0 && o->jsonl)
        return ptc_options_wrong(&usage, "--dry-run does not go with --jsonl");
    if (o->dry_run >= 0 && o->format > PTC_FORMAT_JSON)
        return ptc_options_wrong(&usage, "--dry-run is shown as --format text or json");
    if (o->allow && !o->jsonl)
        return ptc_options_wrong(&usage, "--allow-tools goes with --jsonl only: --tools may hold "
                                         "tools of every kind");
    return PTC_EXIT_OK;
}

static int eval_lines(PtcMem *mem, Eval *e)
{
    PtcLimits most;
    PtcBatchOptions options = {.one_session = e->options->session,
                               .tools = e->tools,
                               .most = &most,
                               .now_ms = e->run.now_ms};
    set_eval_limits(&most, e->options);
    PtcWhy why;
    const char *allow = e->options->allow ? e->options->allow : "";
    if (!ptc_tools_read_allowed(allow, &options.allow, &why))
        return ptc_options_wrong(&usage, "--allow-tools: %s", why.text);
    options.allow.kinds = ptc_agent_kinds;
    return ptc_jsonl_run(mem, e->ptc, &options);
}

/* A compiled agent comes with its own program, tools and limits. */
static int eval_compiled(PtcMem *mem, const EvalOptions *o, int argc)
{
    PtcBuf file;
    PtcText context = ptc_text_cstr(o->context);
    const char *error = NULL;
    if (argc || o->file || o->expression || o->data.count || o->tools || o->jsonl || o->signature ||
        o->schema || o->dry_run >= 0)
        return ptc_options_wrong(&usage, "--compiled goes with --context and --llm alone");
    ptc_buf_init(&file, mem, PTC_IO_MAX);
    if (o->context && o->context[0] == '@') {
        error = ptc_io_read(&file, o->context + 1);
        context = ptc_buf_view(&file);
    }
    int status = error ? ptc_options_refuse(&usage, "cannot read the context %.200s: %s",
                                            o->context + 1, error)
                       : ptc_run_compiled(mem, o->compiled, context, o->llm);
    ptc_buf_deinit(&file);
    return status;
}

static const EvalOptions unset = {.format = -1,
                                  .input.kind = -1,
                                  .dry_run = -1,
                                  .check = PTC_UNSET,
                                  .timeout_ms = PTC_UNSET,
                                  .deadline_ms = PTC_UNSET,
                                  .memory_mb = PTC_UNSET,
                                  .loop_limit = PTC_UNSET,
                                  .max_depth = PTC_UNSET,
                                  .program_bytes = PTC_UNSET,
                                  .seed = PTC_UNSET,
                                  .float_precision = PTC_UNSET,
                                  .max_tool_calls = PTC_UNSET,
                                  .context_mb = PTC_UNSET,
                                  .result_mb = PTC_UNSET,
                                  .upstreams = PTC_UPSTREAMS_DEFAULTS};

static int eval_with_options(PtcMem *mem, const EvalOptions *o, const PtcShortForm *form, int argc,
                             char **argv)
{
    int status;
    Eval e = {.options = o, .shorthand = form};
    /* Lines of a batch come from anywhere: they do not get what this user's own programs may call. */
    if (!o->jsonl && !o->each &&
        !ptc_upstreams_open(&e.upstreams, mem, "eval", &o->upstreams, NULL, NULL, &status)) {
        ptc_upstreams_close(&e.upstreams);
        return status;
    }
    e.ptc = new_eval_engine(o, &e.upstreams, form != NULL);
    if (!e.ptc) {
        ptc_upstreams_close(&e.upstreams);
        return ptc_options_refuse(&usage, "cannot start: out of memory, or a limit is too large");
    }
    ptc_buf_init(&e.program, mem, PTC_IO_MAX);
    ptc_buf_init(&e.context, mem, PTC_IO_MAX);
    ptc_buf_init(&e.schema, mem, PTC_IO_MAX);
    ptc_run_init(&e.run, sizeof e.run);
    status = load_now(&e);
    if (status == PTC_EXIT_OK)
        status = load_eval_tools(mem, &e);
    if (status == PTC_EXIT_OK)
        status = o->jsonl ? eval_lines(mem, &e) : eval_one(mem, &e, argc, argv);
    release_eval(&e);
    return status;
}

/* Into a file; NULL: to standard output. */
static int eval_into(PtcMem *mem, const EvalOptions *o, const PtcShortForm *form, const char *path,
                     int argc, char **argv)
{
    PtcToFile file;
    PtcWhy why;
    if (!path)
        return eval_with_options(mem, o, form, argc, argv);
    if (!o->in_place && ptc_text_choice(ptc_text_cstr(path), PTC_FORMATS) >= 0)
        return ptc_options_wrong(&usage, "-o names a file; for the format write --format %s", path);
    if (!ptc_to_file_begin(&file, path, o->in_place, &why))
        return ptc_options_refuse(&usage, "%s", why.text);
    int status = eval_with_options(mem, o, form, argc, argv);
    return ptc_to_file_end(&file, status == PTC_EXIT_OK, &why)
               ? status
               : ptc_options_refuse(&usage, "%s", why.text);
}

/* One file after the other, up to the first that fails. */
static int eval_in_place(PtcMem *mem, const EvalOptions *o, const PtcShortForm *form, int argc,
                         char **argv)
{
    int status = PTC_EXIT_OK;
    for (int i = 0; status == PTC_EXIT_OK && i < form->input_count; i++) {
        PtcShortForm one = *form;
        one.inputs = form->inputs + i;
        one.input_count = 1;
        status = eval_into(mem, o, &one, one.inputs[0], argc, argv);
    }
    return status;
}

int ptc_cmd_eval(PtcMem *mem, int argc, char **argv)
{
    EvalOptions o = unset;
    PtcParse parse = ptc_options_parse(&usage, &o, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    if (o.compiled)
        return eval_compiled(mem, &o, argc);
    if (o.in_place)
        return ptc_options_wrong(&usage, "-i is written without eval: ptc -i FILE PROGRAM");
    if (o.output && o.format < 0)
        o.format = ptc_to_file_format(o.output);
    if (o.each)
        return ptc_options_wrong(&usage, "--each is written without eval: ptc --each FILE PROGRAM");
    if ((o.input.kind >= 0 || o.input.separator || o.input.no_header || o.input.skip_bad) &&
        !o.data.count)
        return ptc_options_wrong(&usage,
                                 "--input is about a file or standard input, which ptc eval "
                                 "does not read: ptc --input lines FILE PROGRAM");
    int status = check_eval_options(&o, argc);
    return status == PTC_EXIT_OK ? eval_into(mem, &o, NULL, o.output, argc, argv) : status;
}

static const char *check_in_place(const EvalOptions *o, const PtcShortForm *form)
{
    if (form->input_count == 0 || form->summary)
        return "-i changes files: ptc -i orders.csv '(filter :total rows)'";
    if (o->output || o->format >= 0 || o->raw || o->each || o->dry_run >= 0)
        return "-i writes the file as it was read; it goes without --output, --format, --raw, "
               "--each and --dry-run";
    if (o->input.no_header)
        return "-i goes without --no-header: the file would have names of columns afterwards";
    return NULL;
}

static const char *check_each(const EvalOptions *o, const PtcShortForm *form)
{
    if (form->summary)
        return "which program? It comes last: ptc --each orders.csv '(:total row)'";
    if (!form->input_count && isatty(PTC_IO_STDIN) == 1)
        return "--each reads a file: ptc --each orders.csv '(:total row)'";
    if (o->tools || o->upstreams.files.count || o->upstreams.imports.count || o->dry_run >= 0)
        return "--each goes without --tools and --upstreams: a batch that fails is run again, row "
               "by row";
    if (!o->init && o->format >= 0 && o->format != PTC_FORMAT_JSONL &&
        o->format != PTC_FORMAT_CSV && o->format != PTC_FORMAT_TSV)
        return "--each writes --format jsonl, csv or tsv; with --init the last state has every "
               "format";
    return NULL;
}

int ptc_cmd_short(PtcMem *mem, int argc, char **argv)
{
    EvalOptions o = unset;
    PtcShortForm form;
    /* What follows a script is for the script, options too. */
    if (!ptc_short_form_is_script(argv[0])) {
        PtcParse parse = ptc_options_parse(&usage, &o, &argc, argv);
        if (parse != PTC_PARSE_OK)
            return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    }
    if (o.jsonl || o.compiled)
        return ptc_options_wrong(&usage, "write ptc eval %s",
                                 o.jsonl ? "--jsonl" : "--compiled FILE");
    if (o.output && o.format < 0)
        o.format = ptc_to_file_format(o.output);
    const char *wrong = ptc_short_form_read(&form, argc, argv, o.expression || o.file);
    if (!wrong && o.each)
        wrong = check_each(&o, &form);
    if (!wrong && o.in_place)
        wrong = check_in_place(&o, &form);
    if (wrong)
        return ptc_options_wrong(&usage, "%s", wrong);
    if (form.script)
        o.file = form.script;
    char *program = (char *)(uintptr_t)form.program;
    int status = check_eval_options(&o, form.program != NULL);
    if (status != PTC_EXIT_OK)
        return status;
    return o.in_place ? eval_in_place(mem, &o, &form, form.program != NULL, &program)
                      : eval_into(mem, &o, &form, o.output, form.program != NULL, &program);
}
