/* SPDX-License-Identifier: MIT
 * `ptc eval`: one program from the command line, a file or standard input; or a batch (--jsonl). */
#include "cli/cmd.h"

#include <errno.h>

#include "base/buf.h"
#include "cli/io.h"
#include "cli/jsonl.h"
#include "cli/options.h"
#include "cli/report.h"
#include "ptc/ptc.h"

typedef enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_PAYLOAD } Format;

typedef struct {
    const char *file, *context;
    int format; /* -1: not given */
    bool jsonl, session;
    int64_t timeout_ms, deadline_ms, memory_mb, loop_limit, max_depth, program_bytes;
    int64_t float_precision;
} Options;

/* ------------------------------------------------------------------- table */

#define AT(field) offsetof(Options, field)
#define MS_MAX ((int64_t)24 * 3600 * 1000)

static const PtcOption table[] = {
    {"file", 'f', PTC_OPTION_TEXT, AT(file), "FILE", "read the program from a file", 0, 0},
    {"context", 0, PTC_OPTION_TEXT, AT(context), "JSON|@FILE",
     "an object; its keys are data/key in the program", 0, 0},
    {"format", 0, PTC_OPTION_CHOICE, AT(format), "text|json|payload",
     "how to print the result (text); payload: what lisp_eval answers", 0, 0},
    {"timeout-ms", 0, PTC_OPTION_INT, AT(timeout_ms), "N", "compute time (1000)", 1, MS_MAX},
    {"deadline-ms", 0, PTC_OPTION_INT, AT(deadline_ms), "N", "time for everything (60000)", 1,
     MS_MAX},
    {"memory-mb", 0, PTC_OPTION_INT, AT(memory_mb), "N", "live memory in MiB (10)", 1, 1 << 20},
    {"loop-limit", 0, PTC_OPTION_INT, AT(loop_limit), "N", "loop iterations (1000000)", 0,
     INT64_MAX / 2},
    {"max-depth", 0, PTC_OPTION_INT, AT(max_depth), "N", "nested calls (10000)", 1, 1000000},
    {"program-bytes", 0, PTC_OPTION_INT, AT(program_bytes), "N", "size of the program (65536)", 1,
     64 << 20},
    {"float-precision", 0, PTC_OPTION_INT, AT(float_precision), "N",
     "digits after the point in results (shortest)", 0, 15},
    {"jsonl", 0, PTC_OPTION_FLAG, AT(jsonl), NULL,
     "answer request lines from standard input (docs/batch.md)", 0, 0},
    {"session", 0, PTC_OPTION_FLAG, AT(session), NULL,
     "with --jsonl: all lines share their definitions", 0, 0},
    {"tools", 0, PTC_OPTION_LATER, 0, "@FILE", "programs cannot call tools so far", 0, 0},
    {"max-tool-calls", 0, PTC_OPTION_LATER, 0, "N", "it comes with tools", 0, 0},
    {"signature", 0, PTC_OPTION_LATER, 0, "SIG", "it comes with tools", 0, 0},
    {"output-schema", 0, PTC_OPTION_LATER, 0, "@FILE", "it comes with tools", 0, 0},
    {"allow-tools", 0, PTC_OPTION_LATER, 0, "KINDS", "it comes with tools", 0, 0},
};

static const PtcUsage usage = {
    .command = "eval",
    .synopsis = "PROGRAM | -f FILE | -\n       ptc eval --jsonl [--session]",
    .summary = "Runs a program and prints its result; what it prints goes to standard error.\n"
               "Exit status: 0 done, 1 the program failed, 2 wrong usage.",
    .examples =
        "  ptc eval '(reduce + (range 10))'\n"
        "  ptc eval --context '{\"xs\":[1,2,3]}' --format json '{:sum (reduce + data/xs)}'\n"
        "  ptc eval --context @orders.json -f report.clj\n"
        "  echo '{\"id\":1,\"program\":\"(inc 1)\"}' | ptc eval --jsonl\n",
    .options = table,
    .option_count = sizeof table / sizeof *table,
};

/* ------------------------------------------------------------------ engine */

static Ptc *new_engine(const Options *o)
{
    PtcLimits limits;
    PtcOptions options;
    ptc_limits_init(&limits, sizeof limits);
    ptc_options_init(&options, sizeof options);
    limits.timeout_ms = o->timeout_ms;
    limits.deadline_ms = o->deadline_ms;
    limits.memory_bytes = o->memory_mb == PTC_UNSET ? PTC_UNSET : o->memory_mb << 20;
    limits.loop_limit = o->loop_limit;
    limits.max_depth = o->max_depth;
    limits.program_bytes = o->program_bytes;
    options.limits = &limits;
    options.float_precision = o->float_precision;
    return ptc_new(&options);
}

/* What one run holds; all of it is released in release(). */
typedef struct {
    const Options *options;
    Ptc *ptc;
    PtcData *data;
    PtcOutcome *outcome;
    PtcBuf program, context;
    const char *name; /* the program's file, NULL for none */
    PtcRun run;
} Eval;

static void release(Eval *e)
{
    ptc_outcome_free(e->outcome);
    ptc_data_free(e->data);
    ptc_free(e->ptc);
    ptc_buf_deinit(&e->program);
    ptc_buf_deinit(&e->context);
}

/* ------------------------------------------------------------------- input */

/* Takes the program from where the arguments say.  PTC_EXIT_OK or PTC_EXIT_USAGE. */
static int load_program(Eval *e, int argc, char **argv)
{
    const char *file = e->options->file;
    if (argc + (file != NULL) != 1)
        return ptc_options_wrong(&usage, argc || file ? "give one program, not several"
                                                      : "which program? Give it, -f FILE or -");
    if (!file && strcmp(argv[0], "-") != 0) {
        e->run.program = argv[0];
        e->run.program_len = strlen(argv[0]);
        return PTC_EXIT_OK;
    }
    const char *path = file ? file : "-";
    const char *error = ptc_io_read(&e->program, path);
    if (error)
        return ptc_options_wrong(&usage, "cannot read %.200s: %s", path, error);
    e->name = file;
    e->run.program = e->program.data ? e->program.data : "";
    e->run.program_len = e->program.len;
    return PTC_EXIT_OK;
}

static int load_context(Eval *e)
{
    const char *text = e->options->context, *error;
    char why[240] = "memory is short";
    if (!text)
        return PTC_EXIT_OK;
    size_t len = strlen(text);
    if (text[0] == '@') {
        if ((error = ptc_io_read(&e->context, text + 1)))
            return ptc_options_wrong(&usage, "cannot read the context %.200s: %s", text + 1, error);
        text = e->context.data ? e->context.data : "";
        len = e->context.len;
    }
    if (!(e->data = ptc_data_new(e->ptc, PTC_UNSET)))
        return ptc_options_wrong(&usage, "--context: %s", why);
    e->run.context = ptc_make_json(e->data, text, len, why, sizeof why);
    if (!e->run.context)
        return ptc_options_wrong(&usage, "--context: %s", why);
    if (ptc_value_type(e->run.context) != PTC_TYPE_MAP)
        return ptc_options_wrong(&usage, "--context wants a JSON object, {\"key\": value}");
    return PTC_EXIT_OK;
}

/* ------------------------------------------------------------------ output */

static int write_line(const char *text, size_t len)
{
    if (ptc_io_write_line(PTC_IO_STDOUT, text, len))
        return PTC_EXIT_OK;
    if (errno != EPIPE)
        ptc_io_printf(PTC_IO_STDERR, "error: standard output cannot be written\n");
    return PTC_EXIT_FAILED;
}

/* The answer as `lisp_eval` gives it; printed text and errors are in it. */
static int write_payload(Eval *e)
{
    size_t len;
    const char *text = ptc_outcome_payload(e->outcome, NULL, &len);
    if (!text) {
        ptc_io_printf(PTC_IO_STDERR, "error: the payload does not fit in memory\n");
        return PTC_EXIT_FAILED;
    }
    int status = write_line(text, len);
    return ptc_outcome_ok(e->outcome) ? status : PTC_EXIT_FAILED;
}

/* What the program printed, and what is wrong with it, to standard error. */
static bool write_remarks(PtcMem *mem, Eval *e)
{
    PtcBuf out;
    size_t len;
    ptc_buf_init(&out, mem, PTC_IO_MAX);
    for (size_t i = 0; i < ptc_outcome_print_count(e->outcome); i++) {
        const char *line = ptc_outcome_print(e->outcome, i, &len);
        ptc_buf_add(&out, line, len);
        ptc_buf_add_char(&out, '\n');
    }
    if (ptc_outcome_prints_cut(e->outcome))
        ptc_buf_add_cstr(&out, "note: printed output was cut at its limit\n");
    ptc_report(&out, e->outcome, e->name, e->run.program, e->run.program_len);
    bool ok = ptc_io_write(PTC_IO_STDERR, out.data, out.len) && ptc_buf_ok(&out);
    ptc_buf_deinit(&out);
    return ok;
}

static int write_result(Eval *e)
{
    bool json = e->options->format == FORMAT_JSON, cut = false;
    size_t len;
    const char *text =
        json ? ptc_outcome_json(e->outcome, &len) : ptc_outcome_text(e->outcome, &len, &cut);
    if (!text) {
        ptc_io_printf(PTC_IO_STDERR, "error: the result %s\n",
                      json ? "cannot be JSON; --format text shows it" : "does not fit in memory");
        return PTC_EXIT_FAILED;
    }
    if (cut)
        ptc_io_printf(PTC_IO_STDERR, "note: the result was cut at its limit\n");
    return write_line(text, len);
}

static int eval_one(PtcMem *mem, Eval *e, int argc, char **argv)
{
    int status = load_program(e, argc, argv);
    if (status == PTC_EXIT_OK)
        status = load_context(e);
    if (status != PTC_EXIT_OK)
        return status;
    if (ptc_eval(e->ptc, &e->run, &e->outcome) != PTC_OK) {
        ptc_io_printf(PTC_IO_STDERR, "error: memory is short\n");
        return PTC_EXIT_FAILED;
    }
    if (e->options->format == FORMAT_PAYLOAD)
        return write_payload(e);
    bool written = write_remarks(mem, e);
    if (!ptc_outcome_ok(e->outcome) || !written)
        return PTC_EXIT_FAILED;
    return write_result(e);
}

/* ----------------------------------------------------------------- command */

/* What does not go together. */
static int check(const Options *o, int argc)
{
    if (o->session && !o->jsonl)
        return ptc_options_wrong(&usage, "--session goes with --jsonl only");
    if (o->jsonl && (argc > 0 || o->file))
        return ptc_options_wrong(&usage, "--jsonl reads programs from standard input; "
                                         "give no program beside it");
    if (o->jsonl && (o->context || o->format >= 0))
        return ptc_options_wrong(&usage, "with --jsonl, --%s does not apply: each line has its own",
                                 o->context ? "context" : "format");
    return PTC_EXIT_OK;
}

int ptc_cmd_eval(PtcMem *mem, int argc, char **argv)
{
    Options o = {NULL,      NULL,      -1,        false,     false,     PTC_UNSET,
                 PTC_UNSET, PTC_UNSET, PTC_UNSET, PTC_UNSET, PTC_UNSET, PTC_UNSET};
    PtcParse parse = ptc_options_parse(&usage, &o, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    int status = check(&o, argc);
    if (status != PTC_EXIT_OK)
        return status;
    Eval e = {.options = &o, .ptc = new_engine(&o)};
    if (!e.ptc)
        return ptc_options_wrong(&usage, "cannot start: memory is short, or a limit is too large");
    ptc_buf_init(&e.program, mem, PTC_IO_MAX);
    ptc_buf_init(&e.context, mem, PTC_IO_MAX);
    ptc_run_init(&e.run, sizeof e.run);
    status = o.jsonl ? ptc_jsonl_run(mem, e.ptc, o.session) : eval_one(mem, &e, argc, argv);
    release(&e);
    return status;
}
