/* SPDX-License-Identifier: MIT
 * Compiled agents on the command line.  What always holds: a file that cannot be written completely leaves the old
 * one in place. */
#define _GNU_SOURCE
#include "cli/run_compile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_compile.h"
#include "cli/cmd.h"
#include "cli/io.h"
#include "cli/shown.h"
#include "json/parse.h"

enum { FILE_BYTES = 16 * 1024 * 1024 };

static int complain(const char *command, const char *what, const char *why, int status)
{
    ptc_io_printf(PTC_IO_STDERR, "ptc %s: %s%s%s\n", command, what, what[0] ? ": " : "", why);
    return status;
}

static int complain_fault(const char *command, const PtcFault *f)
{
    return complain(command, f->no_memory ? "" : f->path, ptc_fault_message(f),
                    f->no_memory ? PTC_EXIT_FAILED : PTC_EXIT_USAGE);
}

/* ------------------------------------------------------------------------------- compiling */

/* Creates the file or replaces it as a whole; if it cannot be written, the old one remains. */
static bool write_file(const char *path, PtcText text)
{
    char next[4096];
    if (snprintf(next, sizeof next, "%s.next", path) >= (int)sizeof next)
        return false;
    int fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    bool ok = fd >= 0 && ptc_io_write_line(fd, text.bytes, text.len);
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    ok = ok && rename(next, path) == 0;
    if (!ok)
        unlink(next);
    return ok;
}

/* The agent's file as an object; it was read successfully before. */
static PtcValue read_again(PtcBench *b, PtcMem *mem, const char *path)
{
    PtcBuf file;
    PtcJsonError e;
    PtcValue v = PTC_NONE;
    ptc_buf_init(&file, mem, PTC_AGENT_FILE_BYTES);
    if (!ptc_io_read(&file, path))
        v = ptc_json_parse(&b->heap, file.data, file.len, &e);
    ptc_buf_deinit(&file);
    return v != PTC_NONE && ptc_is_map(v) ? v : PTC_NONE;
}

static int keep(PtcMem *mem, PtcBench *b, const PtcAgentRun *run, const char *path, const char *to)
{
    PtcBuf out;
    PtcValue agent = read_again(b, mem, path);
    if (agent == PTC_NONE)
        return complain("run", path, "it cannot be read again", PTC_EXIT_FAILED);
    ptc_buf_init(&out, mem, FILE_BYTES);
    ptc_compile_write(&out, b, agent, run);
    int status = PTC_EXIT_OK;
    if (!ptc_buf_ok(&out))
        status = complain("run", "--compile", "out of memory", PTC_EXIT_FAILED);
    else if (!write_file(to, ptc_buf_view(&out)))
        status = complain("run", to, strerror(errno), PTC_EXIT_FAILED);
    ptc_buf_deinit(&out);
    return status;
}

static int check_and_keep(PtcMem *mem, PtcBench *b, PtcAgentRun *run, const PtcRunCommand *o,
                          const char *path, PtcText sample)
{
    char why[PTC_COMPILE_WHY] = "";
    PtcText answer, program = ptc_compile_program(run);
    if (run->invalid)
        return complain_fault("run", &run->fault);
    if (!run->step.now.verdict.ok) {
        const PtcVerdict *v = &run->step.now.verdict;
        ptc_io_printf(PTC_IO_STDERR, "ptc run: nothing was compiled: %s: %.*s\n", v->reason,
                      (int)v->message.len, v->message.bytes ? v->message.bytes : "");
        return PTC_EXIT_FAILED;
    }
    if (!program.bytes)
        return complain("run", "nothing was compiled", "the answer came without a program",
                        PTC_EXIT_FAILED);
    if (!ptc_compile_run(run, program, sample, b, &answer, why))
        return complain("run", "nothing was compiled: the program does not work alone", why,
                        PTC_EXIT_FAILED);
    int status = keep(mem, b, run, path, o->compile);
    if (status == PTC_EXIT_OK)
        ptc_io_printf(PTC_IO_STDERR, "ptc run: compiled to %s; on the sample it gives %.*s\n",
                      o->compile, (int)(answer.len < 300 ? answer.len : 300), answer.bytes);
    return status;
}

int ptc_run_compile(PtcMem *mem, PtcAgentHost *host, const PtcAgentDef *def, const PtcRunCommand *o,
                    const char *path, PtcText sample, const PtcCancel *cancel)
{
    PtcAgentTree tree;
    PtcAgentRun run;
    PtcBench bench;
    PtcFault fault;
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
        status = check_and_keep(mem, &bench, &run, o, path, options.input.context);
        ptc_agent_run_end(&run);
        ptc_tree_deinit(&tree);
    }
    ptc_bench_deinit(&bench);
    return status;
}

/* -------------------------------------------------------------------------------- running */

static int run_program(PtcAgentHost *host, const PtcAgentDef *def, PtcBench *b, PtcText program,
                       PtcText context)
{
    PtcAgentTree tree;
    PtcAgentRun run;
    PtcText answer;
    char why[PTC_COMPILE_WHY] = "";
    PtcTreeHost tree_host = {.open_model = NULL};
    PtcAgentOptions options = ptc_agent_options();
    ptc_agent_host_fill(host, &tree_host);
    options.model = ptc_agent_host_model(host);
    if (!ptc_tree_init(&tree, &tree_host, def->turn_budget, 0))
        return complain("eval", "", "out of memory", PTC_EXIT_FAILED);
    ptc_agent_run_begin(&run, &tree, def, &options);
    run.model = options.model;
    bool ok = ptc_compile_run(&run, program, context, b, &answer, why);
    ptc_agent_run_end(&run);
    ptc_tree_deinit(&tree);
    if (!ok)
        return complain("eval", "", why, PTC_EXIT_FAILED);
    return ptc_shown_result("eval", answer.bytes, answer.len) ? PTC_EXIT_OK : PTC_EXIT_FAILED;
}

int ptc_run_compiled(PtcMem *mem, const char *file, PtcText context, const char *llm)
{
    PtcAgentHostOptions options = {.command = "eval", .llm = llm};
    PtcAgentHost *host = ptc_agent_host_open(mem, &options);
    PtcAgentReading how = {.allow_commands = true,
                           .allow_http = true,
                           .allow_scripts = true,
                           .functions = &ptc_agent_tool_functions};
    PtcBuf json;
    PtcBench bench;
    PtcFault fault = {.input = true};
    PtcText program;
    if (!host)
        return PTC_EXIT_USAGE;
    ptc_bench_init(&bench);
    ptc_buf_init(&json, mem, FILE_BYTES);
    const char *why = ptc_io_read(&json, file);
    int status = why ? complain("eval", file, why, PTC_EXIT_USAGE) : PTC_EXIT_USAGE;
    PtcAgentDef *def =
        why ? NULL : ptc_compile_read(&bench, ptc_buf_view(&json), &how, &program, &fault);
    if (def && !llm && ptc_compile_needs_llm(def))
        status =
            complain("eval", file, "its tools ask models: name one with --llm", PTC_EXIT_USAGE);
    else if (def)
        status = run_program(host, def, &bench, program, context);
    else if (!why)
        status = complain_fault("eval", &fault);
    ptc_definition_release(def);
    ptc_buf_deinit(&json);
    ptc_bench_deinit(&bench);
    (void)ptc_agent_host_close(host);
    return status;
}
