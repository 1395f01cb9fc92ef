/* SPDX-License-Identifier: MIT
 * Compiled agents on the command line.  What always holds: a file that cannot be written completely leaves the old
 * one in place. */
#define _GNU_SOURCE
#include "cli/agent/run_compile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/run/agent_compile.h"
#include "base/os/whole_file.h"
#include "cli/cmd/cmd.h"
#include "cli/io.h"
#include "cli/out/shown.h"

enum { COMPILED_FILE_BYTES = 16 * PTC_MB };

static int complain_of_compile(const char *command, const char *what, const char *why, int status)
{
    ptc_io_printf(PTC_IO_STDERR, "ptc %s: %s%s%s\n", command, what, what[0] ? ": " : "", why);
    return status;
}

static int complain_fault(const char *command, const PtcWhy *f)
{
    return complain_of_compile(command, f->path, f->text,
                               f->class == PTC_WHY_NO_MEMORY ? PTC_EXIT_FAILED : PTC_EXIT_USAGE);
}

/* ------------------------------------------------------------------------------- compiling */

static int check_and_keep(PtcMem *mem, PtcBench *b, PtcAgentRun *run, const char *to,
                          PtcText sample)
{
    PtcWhy why;
    PtcText answer;
    PtcBuf out;
    int status = PTC_EXIT_OK;
    if (run->invalid)
        return complain_fault("run", &run->fault);
    ptc_buf_init(&out, mem, COMPILED_FILE_BYTES);
    if (!ptc_compile_keep(run, sample, b, &out, &answer, &why))
        status = complain_of_compile("run", "nothing was compiled", why.text, PTC_EXIT_FAILED);
    else if (!ptc_whole_file_put(to, ptc_buf_view(&out),
                                 (PtcWholeFile){.mode = 0644, .line = true}))
        status = complain_of_compile("run", to, strerror(errno), PTC_EXIT_FAILED);
    else
        ptc_io_printf(PTC_IO_STDERR, "ptc run: compiled to %s; on the sample it gives %.*s\n", to,
                      PTC_ARG(ptc_text_cut(answer, 300)));
    ptc_buf_deinit(&out);
    return status;
}

int ptc_run_compile(PtcMem *mem, PtcAgentHost *host, const PtcAgentDef *def, const PtcRunCommand *o,
                    PtcText sample, const PtcCancel *cancel)
{
    PtcAgentTree tree;
    PtcAgentRun run;
    PtcBench bench;
    PtcWhy fault;
    PtcTreeHost tree_host = {.open_model = NULL};
    PtcAgentOptions options = ptc_agent_options();
    int status = PTC_EXIT_FAILED;
    ptc_bench_init(&bench);
    if (!ptc_compile_check(def, &fault) ||
        !ptc_compile_sample(&bench, def, sample, &options.input.context, &fault)) {
        ptc_bench_deinit(&bench);
        return complain_fault("run", &fault);
    }
    ptc_agent_host_fill(host, &tree_host);
    options.model = ptc_agent_host_model(host);
    options.token_limit = o->token_limit;
    options.cancel = cancel;
    if (ptc_tree_init(&tree, &tree_host, def->turn_budget, def->mission_timeout_ms)) {
        tree.llm_timeout_ms = o->llm_timeout_ms;
        ptc_agent_run_begin(&run, &tree, def, &options);
        ptc_agent_run_go(&run);
        status = check_and_keep(mem, &bench, &run, o->compile, options.input.context);
        ptc_agent_run_end(&run);
        ptc_tree_deinit(&tree);
    }
    ptc_bench_deinit(&bench);
    return status;
}

/* -------------------------------------------------------------------------------- running */

static int run_compiled_agent(PtcAgentHost *host, const PtcAgentDef *def, PtcBench *b,
                              PtcText context)
{
    PtcAgentTree tree;
    PtcAgentRun run;
    PtcText answer;
    PtcWhy why;
    PtcTreeHost tree_host = {.open_model = NULL};
    PtcAgentOptions options = ptc_agent_options();
    ptc_agent_host_fill(host, &tree_host);
    options.model = ptc_agent_host_model(host);
    if (!ptc_tree_init(&tree, &tree_host, def->turn_budget, 0))
        return complain_of_compile("eval", "", "out of memory", PTC_EXIT_FAILED);
    ptc_agent_run_begin(&run, &tree, def, &options);
    run.model = options.model;
    bool ok = ptc_compile_run(&run, def->program, context, b, &answer, &why);
    ptc_agent_run_end(&run);
    ptc_tree_deinit(&tree);
    if (!ok)
        return complain_of_compile("eval", "", why.text, PTC_EXIT_FAILED);
    return ptc_shown_result("eval", answer.bytes, answer.len) ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

int ptc_run_compiled(PtcMem *mem, const char *file, PtcText context, const char *llm)
{
    PtcAgentHostOptions options = {.command = "eval", .llm = llm};
    PtcAgentHost *host = ptc_agent_host_open(mem, &options);
    PtcAgentReading how = {.allow_commands = true, .allow_http = true, .allow_scripts = true};
    PtcBuf json;
    PtcBench bench;
    PtcWhy fault;
    if (!host)
        return PTC_EXIT_USAGE;
    ptc_bench_init(&bench);
    ptc_buf_init(&json, mem, COMPILED_FILE_BYTES);
    const char *why = ptc_io_read(&json, file);
    int status = why ? complain_of_compile("eval", file, why, PTC_EXIT_USAGE) : PTC_EXIT_USAGE;
    PtcAgentDef *def = why ? NULL : ptc_compile_read(ptc_buf_view(&json), &how, &fault);
    if (def && !llm && ptc_compile_needs_llm(def))
        status = complain_of_compile("eval", file, "its tools ask models: name one with --llm",
                                     PTC_EXIT_USAGE);
    else if (def)
        status = run_compiled_agent(host, def, &bench, context);
    else if (!why)
        status = complain_fault("eval", &fault);
    ptc_definition_release(def);
    ptc_buf_deinit(&json);
    ptc_bench_deinit(&bench);
    (void)ptc_agent_host_close(host);
    return status;
}
