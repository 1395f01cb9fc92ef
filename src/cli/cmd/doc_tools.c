/* SPDX-License-Identifier: MIT
 * `ptc doc` with --tools or upstreams.  A name of the language is shown as without them; any other is asked for with
 * (doc 'name), which knows tools and upstreams and, when there is none, the nearest.  What always holds: only a text
 * that is one symbol becomes part of a program. */
#include "cli/cmd/doc_tools.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/cmd/tools_in.h"
#include "cli/io.h"
#include "cli/out/repl_out.h"
#include "cli/out/show.h"
#include "cli/out/shown.h"
#include "lisp/lib/builtin_doc.h"

typedef struct {
    PtcMem *mem;
    Ptc *ptc;
    PtcTools *tools;
    PtcUpstreams upstreams;
    PtcReplOut out;
} DocWork;

bool ptc_doc_tools_given(const PtcDocOptions *o)
{
    return o->tools || o->upstreams.files.count > 0 || o->upstreams.imports.count > 0;
}

static int run_doc_program(DocWork *d, const char *program)
{
    PtcRun run;
    PtcOutcome *outcome = NULL;
    ptc_run_init(&run, sizeof run);
    run.program = program;
    run.program_len = strlen(program);
    run.tools = d->tools;
    if (ptc_upstreams_eval(&d->upstreams, d->ptc, &run, NULL, &outcome) != PTC_OK) {
        ptc_io_printf(PTC_IO_STDERR, "ptc doc: out of memory\n");
        return PTC_EXIT_FAILED;
    }
    bool ok = ptc_outcome_ok(outcome);
    ptc_repl_out_show(&d->out, outcome, &(PtcReported){NULL, {program, run.program_len}, 0});
    ptc_outcome_free(outcome);
    return ok && !d->out.failed ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

static int show_doc_of_name(DocWork *d, const char *name)
{
    char program[PTC_ROW_NAME + 16];
    if (!*name || strlen(name) >= PTC_ROW_NAME || strpbrk(name, " \t\r\n()[]{}\"';,@^`~\\")) {
        ptc_io_printf(PTC_IO_STDERR, "ptc doc: this is not a name: %.60s\n", name);
        return PTC_EXIT_USAGE;
    }
    bool known = ptc_show_name(&d->out.text, name, strlen(name), d->out.colour);
    if (known)
        ptc_repl_out_flush(&d->out, PTC_IO_STDOUT);
    ptc_buf_clear(&d->out.text);
    if (known && strcmp(name, "tool") != 0)
        return PTC_EXIT_OK;
    snprintf(program, sizeof program, known ? "(dir '%s)" : "(doc '%s)", name);
    return run_doc_program(d, program);
}

static int show_all(DocWork *d, int argc, char **argv)
{
    int status = PTC_EXIT_OK;
    if (argc == 0)
        return run_doc_program(d, "(dir 'tool)");
    for (int i = 0; i < argc && status == PTC_EXIT_OK; i++)
        status = show_doc_of_name(d, argv[i]);
    return status;
}

static Ptc *new_doc_engine(const PtcUpstreams *upstreams)
{
    PtcLimits limits;
    PtcOptions options;
    ptc_limits_init(&limits, sizeof limits);
    ptc_options_init(&options, sizeof options);
    ptc_upstreams_limits(upstreams, &limits);
    options.limits = &limits;
    return ptc_new(&options);
}

int ptc_doc_tools_run(PtcMem *mem, const PtcUsage *usage, const PtcDocOptions *o, int argc,
                      char **argv)
{
    DocWork d = {.mem = mem};
    PtcWhy why;
    int status = PTC_EXIT_FAILED;
    bool terminal = isatty(PTC_IO_STDOUT) == 1;
    if (argc == 0 && !o->tools)
        return ptc_options_wrong(usage, "which upstream?  ptc upstreams list has their names");
    ptc_repl_out_init(&d.out, mem, false, terminal && ptc_shown_colour(PTC_IO_STDOUT));
    if (!ptc_upstreams_open(&d.upstreams, mem, "doc", &o->upstreams, NULL, NULL, &status))
        ; /* it has said why */
    else if (o->tools && !(d.tools = ptc_tools_in_load(mem, o->tools, false, &why)))
        status = ptc_options_refuse(usage, "%s", why.text);
    else if (!(d.ptc = new_doc_engine(&d.upstreams)))
        ptc_io_printf(PTC_IO_STDERR, "ptc doc: out of memory\n");
    else
        status = show_all(&d, argc, argv);
    ptc_repl_out_deinit(&d.out);
    ptc_tools_free(d.tools);
    ptc_free(d.ptc);
    ptc_upstreams_close(&d.upstreams);
    return status;
}
