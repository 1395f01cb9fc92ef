/* SPDX-License-Identifier: MIT
 * `ptc repl`: programs typed one after the other, in one session.  A terminal gets line editing, history and colours;
 * a pipe gets plain text. */
#include "cli/cmd/cmd.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text/nearest.h"
#include "cli/cmd/data_in.h"
#include "cli/cmd/db_in.h"
#include "cli/cmd/short_data.h"
#include "cli/cmd/tools_in.h"
#include "cli/io.h"
#include "cli/options.h"
#include "cli/out/repl_out.h"
#include "cli/out/show.h"
#include "cli/out/shown.h"
#include "cli/term/line.h"
#include "cli/term/repl_words.h"
#include "cli/upstreams/upstreams_open.h"
#include "engine/outcome.h"
#include "lisp/lib/builtin_doc.h"
#include "lisp/vm/limits.h"
#include "net/lines.h"

typedef struct {
    const char *context, *tools;
    int64_t timeout_ms, memory_mb, loop_limit, max_depth, float_precision, context_mb;
    int check; /* PTC_UNSET: not given */
    PtcOptionList data, dbs;
    PtcInputOptions input;
    PtcUpstreamsOptions upstreams;
} ReplOptions;

typedef struct {
    PtcMem *mem;
    Ptc *ptc;
    PtcSession *session;
    PtcData *data;
    PtcShared *shared; /* files, --data; or NULL */
    bool files;        /* their data need no data/ before their names */
    PtcTools *tools;   /* --tools; or NULL */
    PtcValue context;
    bool editing; /* input and output are a terminal that can be drawn on */
    bool prompts, quit;
    PtcBuf pending; /* lines of a program that is incomplete so far */
    PtcReplOut out;
    PtcHistory history;
    PtcLine line;
    PtcLines lines;
    PtcUpstreams upstreams;
} Repl;

#define REPL_AT(field) offsetof(ReplOptions, field)

static const PtcOption table[] = {
    {"context", 0, PTC_OPTION_TEXT, REPL_AT(context), "JSON|@FILE",
     "an object; its keys are data/key in programs", 0, 0, PTC_GROUP_DATA | PTC_GROUP_COMMON},
    {"data", 0, PTC_OPTION_LIST, REPL_AT(data), "NAME=@FILE",
     "a file of JSON, JSON Lines, CSV or lines as data/NAME (ptc docs data)", 0, 0,
     PTC_GROUP_DATA | PTC_GROUP_COMMON},
    PTC_INPUT_ROWS(REPL_AT(input)),
    {"context-mb", 0, PTC_OPTION_INT, REPL_AT(context_mb), "N",
     "memory for the data of --context or of files, in MiB (4, and 1024 for files)", 1, 1 << 20,
     PTC_GROUP_DATA},
    {"tools", 0, PTC_OPTION_TEXT, REPL_AT(tools), "JSON|@FILE",
     "tools that programs may call (ptc docs tools)", 0, 0, PTC_GROUP_TOOLS | PTC_GROUP_COMMON},
    {"db", 0, PTC_OPTION_LIST, REPL_AT(dbs), "NAME=URL", PTC_DB_IN_HELP, 0, 0, PTC_GROUP_TOOLS},
    {"timeout-ms", 0, PTC_OPTION_INT, REPL_AT(timeout_ms), "N", "compute time of a program", 1,
     (int64_t)24 * 3600 * 1000, PTC_GROUP_LIMITS | PTC_GROUP_COMMON},
    {"memory-mb", 0, PTC_OPTION_INT, REPL_AT(memory_mb), "N", "live memory in MiB", 1, 1 << 20,
     PTC_GROUP_LIMITS | PTC_GROUP_COMMON},
    {"loop-limit", 0, PTC_OPTION_INT, REPL_AT(loop_limit), "N", "loop iterations (no limit)", 0,
     PTC_UNBOUNDED, PTC_GROUP_LIMITS},
    {"max-depth", 0, PTC_OPTION_INT, REPL_AT(max_depth), "N", "nested calls", 1, PTC_DEPTH_MAX,
     PTC_GROUP_LIMITS},
    PTC_OPTION_CHECK(REPL_AT(check), PTC_GROUP_RESULT),
    {"float-precision", 0, PTC_OPTION_INT, REPL_AT(float_precision), "N",
     "digits after the point in results (shortest)", 0, 15, PTC_GROUP_RESULT},
#ifndef PTC_ENGINE
    PTC_UPSTREAMS_ROWS(REPL_AT(upstreams)),
#endif
};

/* Limits that are not given have the engine's defaults. */
static void resolve_repl_limits(void *target)
{
    ReplOptions *o = target;
    Ptc *ptc = ptc_new(NULL);
    const PtcLimits *limits = ptc ? ptc_limits_of(ptc) : NULL;
    if (limits) {
        o->timeout_ms = limits->timeout_ms;
        o->memory_mb = limits->memory_bytes >> 20;
        o->max_depth = limits->max_depth;
    }
    ptc_free(ptc);
}

static const PtcUsage usage = {
    .command = "repl",
    .synopsis = "[OPTIONS] [FILE... | NAME=FILE...]",
    .summary =
        "Reads programs, runs them in one session and prints their results.  With files, rows "
        "and data are what is in them, and limits are as wide as those of ptc FILE PROGRAM.  "
        "Type :help for more commands.  In a pipe it prints only results; the exit status is 0.",
    .examples = "  ptc repl\n  ptc repl orders.csv\n  ptc repl --data orders=@orders.csv --tools "
                "@tools.json\n  echo '(+ "
                "1 2)' | ptc repl\n",
    .options = table,
    .option_count = sizeof table / sizeof *table,
    .resolve = resolve_repl_limits,
};

/* ------------------------------------------------------------------- running */

/* The engine whose run Ctrl-C ends; without a run nothing happens.  ptc_cancel only reads and writes lock-free
 * atomics, so a signal handler may call it. */
static Ptc *interrupted;

static void interrupt_repl(int signal)
{
    (void)signal;
    ptc_cancel(interrupted);
}

static PtcStatus run_repl_program(Repl *r, const char *program, size_t len, PtcOutcome **outcome)
{
    static const PtcRunMore bare = {.bare_data = true};
    PtcRun run;
    ptc_run_init(&run, sizeof run);
    run.program = program;
    run.program_len = len;
    run.session = r->session;
    run.context = r->context;
    run.tools = r->tools;
    return ptc_upstreams_eval(&r->upstreams, r->ptc, &run, r->files ? &bare : NULL, outcome);
}

/* Is the program correct so far, but incomplete? */
static bool is_unfinished(const PtcOutcome *outcome)
{
    return outcome->error_count && outcome->errors[0].detail == PTC_DETAIL_UNCLOSED;
}

/* Runs a program and shows the outcome.  False: it is incomplete, and nothing was done. */
static bool evaluate(Repl *r, const char *name, const char *program, size_t len, bool more)
{
    PtcOutcome *outcome = NULL;
    if (run_repl_program(r, program, len, &outcome) != PTC_OK) {
        ptc_io_printf(PTC_IO_STDERR, "error: out of memory\n");
        return true;
    }
    bool unfinished = more && is_unfinished(outcome);
    if (!unfinished)
        ptc_repl_out_show(&r->out, outcome, &(PtcReported){name, {program, len}, 0});
    if (!unfinished)
        ptc_upstreams_say_effects(&r->upstreams);
    ptc_outcome_free(outcome);
    r->quit = r->quit || r->out.failed;
    return !unfinished;
}

/* ------------------------------------------------------------------ commands */

static void do_repl_help(Repl *r, const char *arg)
{
    (void)r;
    (void)arg;
    ptc_io_printf(
        PTC_IO_STDOUT,
        "A program is run when its parentheses are closed. *1 *2 *3 are the last results.\n"
        "  :doc NAME    what a function or form does; (doc 'name) and (dir 'ns) work too\n"
        "  :load FILE   run a file in this session\n"
        "  :all         the last result as a whole, if it was shortened\n"
        "  :reset       forget all definitions\n"
        "  :limits      what a program may use\n"
        "  :quit        leave, as quit, exit and Ctrl-D do\n"
        "Tab completes names and columns of data, the up key brings earlier programs back, Ctrl-R "
        "searches them,\n"
        "Ctrl-C ends a program that runs or drops what you have typed.\n");
}

/* What a tool, an upstream or a definition is: the language itself tells. */
static void do_doc_program(Repl *r, const char *name)
{
    char program[PTC_ROW_NAME + 16];
    snprintf(program, sizeof program, "(doc '%s)", name);
    evaluate(r, NULL, program, strlen(program), false);
}

static void do_doc(Repl *r, const char *arg)
{
    PtcBuf *text = &r->out.text;
    if (!*arg)
        ptc_buf_add_cstr(text, "which name? Write :doc map\n");
    else if (!ptc_show_name(text, arg, strlen(arg), r->out.colour) && strlen(arg) < PTC_ROW_NAME &&
             !strpbrk(arg, " \t()[]{}\"';,@^`~\\")) {
        ptc_buf_clear(text);
        do_doc_program(r, arg);
    }
    ptc_repl_out_flush(&r->out, PTC_IO_STDOUT);
}

static void do_load(Repl *r, const char *arg)
{
    PtcBuf text;
    ptc_buf_init(&text, r->mem, PTC_IO_MAX);
    const char *error = *arg ? ptc_io_read(&text, arg) : "which file? Write :load FILE";
    if (error)
        ptc_io_printf(PTC_IO_STDERR, "error: %s%s%s\n", arg, *arg ? ": " : "", error);
    else
        evaluate(r, arg, text.data ? text.data : "", text.len, false);
    ptc_buf_deinit(&text);
}

static void do_repl_reset(Repl *r, const char *arg)
{
    (void)arg;
    if (ptc_session_forget_all(r->session) != PTC_OK) {
        ptc_io_printf(PTC_IO_STDERR, "error: out of memory\n");
        return;
    }
    ptc_io_printf(PTC_IO_STDOUT, "all definitions were removed\n");
}

static void do_limits(Repl *r, const char *arg)
{
    (void)arg;
    const PtcLimits *l = ptc_limits_of(r->ptc);
    char loops[24];
    snprintf(loops, sizeof loops, l->loop_limit >= PTC_UNBOUNDED ? "no limit" : "%lld",
             (long long)l->loop_limit);
    ptc_io_printf(PTC_IO_STDOUT,
                  "compute time       %lld ms\nlive memory        %lld bytes\n"
                  "loop iterations    %s\nnested calls       %lld\nsize of a program  %lld bytes\n"
                  "session            %zu of %lld bytes\n",
                  (long long)l->timeout_ms, (long long)l->memory_bytes, loops,
                  (long long)l->max_depth, (long long)l->program_bytes,
                  ptc_session_bytes(r->session), (long long)l->session_bytes);
}

static void do_all(Repl *r, const char *arg)
{
    (void)arg;
    ptc_repl_out_all(&r->out);
}

static void do_repl_quit(Repl *r, const char *arg)
{
    (void)arg;
    r->quit = true;
}

/* Words without a colon are commands only when nothing else is on the line and nothing has that name. */
static const struct {
    const char *name;
    void (*run)(Repl *r, const char *arg);
} commands[] = {
    {":all", do_all},        {":doc", do_doc},        {":exit", do_repl_quit},
    {":help", do_repl_help}, {":load", do_load},      {":limits", do_limits},
    {":q", do_repl_quit},    {":quit", do_repl_quit}, {":reset", do_repl_reset},
    {"exit", do_repl_quit},  {"quit", do_repl_quit},  {"help", do_repl_help},
};
enum { REPL_COMMANDS = sizeof commands / sizeof *commands };
static const char *const command_names[] = {":all",  ":doc",  ":exit",  ":help", ":limits",
                                            ":load", ":quit", ":reset", NULL};

static bool is_defined(const Repl *r, const char *name, size_t len)
{
    const char *defined;
    size_t n;
    for (size_t i = 0; (defined = ptc_session_name(r->session, i, &n)) != NULL; i++)
        if (n == len && memcmp(defined, name, n) == 0)
            return true;
    return false;
}

/* Runs the line if it is a command; other keywords are programs. */
static bool run_repl_command(Repl *r, PtcBuf *line)
{
    const char *text = ptc_buf_text(line);
    if (!text)
        return false;
    text += strspn(text, " \t\n");
    size_t n = strcspn(text, " \t\n");
    for (size_t i = 0; i < REPL_COMMANDS; i++) {
        if (strlen(commands[i].name) != n || memcmp(commands[i].name, text, n) != 0)
            continue;
        char arg[1024];
        if (*text != ':' && (text[n + strspn(text + n, " \t\r\n")] || is_defined(r, text, n)))
            return false;
        text += n;
        text += strspn(text, " \t");
        n = strcspn(text, "\n");
        while (n > 0 && strchr(" \t\r", text[n - 1]))
            n--;
        n = n < sizeof arg ? n : sizeof arg - 1;
        memcpy(arg, text, n);
        arg[n] = 0;
        commands[i].run(r, arg);
        return true;
    }
    return false;
}

/* A keyword is a program, so a command that is misspelt runs as one: at a terminal the reader learns which was
 * meant. */
static void hint_command(const Repl *r, const char *line, size_t len)
{
    size_t from = 0, n = 0;
    while (from < len && strchr(" \t\n", line[from]))
        from++;
    while (from + n < len && !strchr(" \t\r\n", line[from + n]))
        n++;
    if (!r->prompts || n < 2 || line[from] != ':')
        return;
    PtcNearest near;
    ptc_nearest_init(&near, line + from, n);
    for (size_t i = 0; command_names[i]; i++)
        ptc_nearest_offer(&near, command_names[i], strlen(command_names[i]));
    if (near.best)
        ptc_io_printf(PTC_IO_STDOUT, "%.*s is a keyword, not a command; did you mean %s?\n",
                      PTC_ARG_OF(line + from, n), near.best);
}

static void complete_repl_word(void *user, const char *word, size_t len, PtcBuf *out)
{
    Repl *r = user;
    PtcReplWords words = {.ptc = r->ptc,
                          .session = r->session,
                          .context = r->context,
                          .bare_data = r->files,
                          .tools = r->tools,
                          .upstreams = &r->upstreams,
                          .commands = command_names};
    ptc_repl_words(&words, word, len, out);
}

/* --------------------------------------------------------------------- input */

/* The next line, with its line feed, at the end of r->pending. */
static PtcTyped read_repl_line(Repl *r)
{
    const char *prompt = r->pending.len ? " ...  " : "ptc=> ";
    PtcText line;
    if (r->editing) {
        PtcTyped typed = ptc_line_read(&r->line, prompt, ptc_repl_out_paint(&r->out, "\033[32m"));
        ptc_buf_add(&r->pending, r->line.text.data, typed == PTC_TYPED_LINE ? r->line.text.len : 0);
        ptc_buf_add_char(&r->pending, '\n');
        return typed;
    }
    if (r->prompts)
        (void)!ptc_io_write(PTC_IO_STDOUT, prompt, strlen(prompt));
    PtcLineStatus status = ptc_lines_next(&r->lines, &line);
    if (status == PTC_LINE_TOO_LONG)
        ptc_io_printf(PTC_IO_STDERR, "error: a line is too long\n");
    if (status == PTC_LINE_OK) {
        ptc_buf_add(&r->pending, line.bytes, line.len);
        ptc_buf_add_char(&r->pending, '\n');
    }
    return status == PTC_LINE_OK || status == PTC_LINE_TOO_LONG ? PTC_TYPED_LINE : PTC_TYPED_END;
}

/* Takes one more line; true when r->pending has been dealt with. */
static bool take_repl_line(Repl *r, bool fresh)
{
    PtcTyped typed = read_repl_line(r);
    if (typed == PTC_TYPED_CANCEL)
        return true;
    if (typed == PTC_TYPED_END) {
        r->quit = true;
        if (!ptc_text_is_blank(ptc_buf_view(&r->pending)) && !r->prompts)
            evaluate(r, NULL, r->pending.data, r->pending.len, false);
        return true;
    }
    if (ptc_text_is_blank(ptc_buf_view(&r->pending)))
        return true;
    size_t len = r->pending.len - 1; /* without the last line feed */
    bool command = fresh && run_repl_command(r, &r->pending);
    bool done = command || evaluate(r, NULL, r->pending.data, len, ptc_buf_ok(&r->pending));
    if (fresh && !command)
        hint_command(r, r->pending.data, len);
    if (done && r->editing)
        ptc_history_add(&r->history, r->pending.data, len);
    return done;
}

static void run_repl(Repl *r)
{
    struct sigaction action = {.sa_handler = interrupt_repl, .sa_flags = SA_RESTART};
    if (r->prompts) {
        interrupted = r->ptc;
        sigaction(SIGINT, &action, NULL);
        ptc_io_printf(PTC_IO_STDOUT, "ptc %s  :help for help, :quit or Ctrl-D to leave\n",
                      ptc_version());
    }
    while (!r->quit)
        if (take_repl_line(r, r->pending.len == 0))
            ptc_buf_clear(&r->pending);
    signal(SIGINT, SIG_DFL); /* the engine is about to be freed */
}

/* ------------------------------------------------------------------- command */

static Ptc *new_repl_engine(const ReplOptions *o, const PtcUpstreams *upstreams, bool files)
{
    PtcLimits limits;
    PtcOptions options;
    ptc_limits_init(&limits, sizeof limits);
    ptc_options_init(&options, sizeof options);
    limits.timeout_ms = o->timeout_ms;
    limits.memory_bytes = o->memory_mb == PTC_UNSET ? PTC_UNSET : o->memory_mb << 20;
    limits.loop_limit = o->loop_limit;
    limits.max_depth = o->max_depth;
    limits.check = o->check;
    limits.context_bytes = o->context_mb == PTC_UNSET ? PTC_UNSET : o->context_mb << 20;
    if (files) {
        ptc_short_form_limits(&limits);
        limits.session_bytes = limits.memory_bytes;
    }
    ptc_upstreams_limits(upstreams, &limits);
    options.limits = &limits;
    options.float_precision = o->float_precision;
    return ptc_new(&options);
}

static int load_repl_context(Repl *r, const char *text)
{
    PtcBuf file;
    const char *error = NULL;
    char why[200] = "it must be a JSON object, {\"key\": value}";
    PtcWhy forgot;
    if (ptc_data_in_forgot_at("--context", text, &forgot))
        return ptc_options_wrong(&usage, "%s", forgot.text);
    ptc_buf_init(&file, r->mem, PTC_IO_MAX);
    if (text[0] == '@')
        error = ptc_io_read(&file, text + 1);
    else
        ptc_buf_add_cstr(&file, text);
    if (!error && (r->data = ptc_data_new(r->ptc, PTC_UNSET)))
        r->context = ptc_make_json(r->data, file.data ? file.data : "", file.len, why, sizeof why);
    ptc_buf_deinit(&file);
    if (r->context && ptc_value_type(r->context) == PTC_TYPE_MAP)
        return PTC_EXIT_OK;
    return ptc_options_refuse(&usage, "--context: %s", error ? error : why);
}

static int load_repl_data(Repl *r, const ReplOptions *o, const PtcShortForm *form)
{
    PtcDataIn in;
    PtcWhy why;
    PtcShortData files = {.form = form, .in = &in, .mb = o->context_mb, .program = {"", 0}};
    if (o->data.count == 0 && !r->files)
        return PTC_EXIT_OK;
    if (!ptc_data_in_read(&in, &o->input, &why))
        return ptc_options_wrong(&usage, "%s", why.text);
    if (!ptc_data_in_load(&r->shared, &usage, &o->data, o->context_mb, &in))
        return PTC_EXIT_USAGE;
    if (r->files && !ptc_short_data_load(&files, &r->shared, &why))
        return ptc_options_refuse(&usage, "%s", why.text);
    r->context = ptc_data_in_context(r->shared, r->ptc, &r->data, r->context);
    return r->context ? PTC_EXIT_OK : ptc_options_refuse(&usage, "the data do not fit into memory");
}

static int load_repl_tools(Repl *r, const ReplOptions *o)
{
    PtcWhy why;
    bool learns = !o->upstreams.no_learn;
    if ((!o->tools || (r->tools = ptc_tools_in_load(r->mem, o->tools, learns, &why))) &&
        ptc_db_in_add(&r->tools, r->mem, &o->dbs, &why))
        return PTC_EXIT_OK;
    return ptc_options_refuse(&usage, "%s", why.text);
}

static void set_up_repl(Repl *r)
{
    const char *term = getenv("TERM");
    bool in = isatty(PTC_IO_STDIN) == 1, out = isatty(PTC_IO_STDOUT) == 1;
    r->prompts = in && out;
    r->editing = r->prompts && term && strcmp(term, "dumb") != 0;
    ptc_buf_init(&r->pending, r->mem, PTC_IO_MAX);
    ptc_repl_out_init(&r->out, r->mem, r->prompts, r->editing && ptc_shown_colour(PTC_IO_STDOUT));
    ptc_lines_init(&r->lines, r->mem, PTC_IO_STDIN, PTC_IO_MAX);
    if (r->editing)
        ptc_history_init(&r->history, r->mem, "history");
    ptc_line_init(&r->line, r->mem, &r->history, complete_repl_word, r);
}

static void tear_down_repl(Repl *r)
{
    ptc_line_deinit(&r->line);
    if (r->editing)
        ptc_history_deinit(&r->history);
    ptc_lines_deinit(&r->lines);
    ptc_repl_out_deinit(&r->out);
    ptc_buf_deinit(&r->pending);
    ptc_session_free(r->session);
    ptc_data_free(r->data);
    ptc_shared_free(r->shared);
    ptc_tools_free(r->tools);
    ptc_free(r->ptc);
    ptc_upstreams_close(&r->upstreams);
}

/* Files with data; what is wrong with them, or NULL. */
static const char *refuse_repl_files(PtcShortForm *form, int argc, char **argv)
{
    const char *wrong = ptc_short_form_read(form, argc, argv, true);
    for (int i = 0; !wrong && i < argc; i++)
        if (strcmp(argv[i], "-") == 0)
            wrong = "standard input is where programs are read from";
        else if (ptc_short_form_is_script(argv[i]))
            wrong = "files are data here; :load FILE runs a file";
    return wrong;
}

int ptc_cmd_repl(PtcMem *mem, int argc, char **argv)
{
    ReplOptions o = {.timeout_ms = PTC_UNSET,
                     .check = PTC_UNSET,
                     .memory_mb = PTC_UNSET,
                     .loop_limit = PTC_UNSET,
                     .max_depth = PTC_UNSET,
                     .float_precision = PTC_UNSET,
                     .context_mb = PTC_UNSET,
                     .input = {.kind = -1},
                     .upstreams = PTC_UPSTREAMS_DEFAULTS};
    int status;
    PtcParse parse = ptc_options_parse(&usage, &o, &argc, argv);
    if (parse != PTC_PARSE_OK)
        return parse == PTC_PARSE_HELP ? PTC_EXIT_OK : PTC_EXIT_USAGE;
    PtcShortForm form;
    const char *wrong = refuse_repl_files(&form, argc, argv);
    if (wrong)
        return ptc_options_wrong(&usage, "%s", wrong);
    static Repl r; /* the history is large */
    r = (Repl){.mem = mem, .files = argc > 0};
    if (!ptc_upstreams_open(&r.upstreams, mem, "repl", &o.upstreams, NULL, NULL, &status)) {
        ptc_upstreams_close(&r.upstreams);
        return status;
    }
    r.ptc = new_repl_engine(&o, &r.upstreams, r.files);
    if (!r.ptc || !(r.session = ptc_session_new(r.ptc))) {
        ptc_free(r.ptc);
        ptc_upstreams_close(&r.upstreams);
        return ptc_options_refuse(&usage, "cannot start: out of memory, or a limit is too large");
    }
    set_up_repl(&r);
    status = o.context ? load_repl_context(&r, o.context) : PTC_EXIT_OK;
    if (status == PTC_EXIT_OK)
        status = load_repl_data(&r, &o, &form);
    if (status == PTC_EXIT_OK)
        status = load_repl_tools(&r, &o);
    if (status == PTC_EXIT_OK)
        run_repl(&r);
    tear_down_repl(&r);
    return status;
}
