/* SPDX-License-Identifier: MIT
 * The `ptc` command: finds the subcommand and calls it.  Nothing else happens before the subcommand asks for it,
 * since a cold start is most of what a short run costs. */
#include "cli/cmd/cmd.h"

#include <signal.h>
#include <string.h>

#include "base/os/leash.h"
#include "base/text/nearest.h"
#include "cli/cmd/short_form.h"
#include "cli/io.h"
#include "exec/worker.h"
#include "lisp/lib/builtins.h"
#include "lisp/vm/builtin.h"
#include "ptc/ptc.h"
#include "sql/sql.h"

/* The engine alone is a product without these commands, and says so (engine_alone.c). */
#ifdef PTC_ENGINE
#define BEYOND_ENGINE(run) NULL
#else
#define BEYOND_ENGINE(run) run
#endif

static const PtcCmd commands[] = {
    {"eval", "run a program, or a batch of them (--jsonl)", ptc_cmd_eval},
    {"check", "find mistakes in programs without running them", ptc_cmd_check},
    {"run", "run an agent, or a batch of them (--jsonl)", BEYOND_ENGINE(ptc_cmd_run)},
    {"chat", "talk with an agent, or with a model", BEYOND_ENGINE(ptc_cmd_chat)},
    {"init", "make a project with an agent that runs at once", BEYOND_ENGINE(ptc_cmd_init)},
    {"test", "run data-driven test files", ptc_cmd_test},
    {"repl", "type programs one after the other", ptc_cmd_repl},
    {"mcp", "serve MCP clients on standard input and output, or over HTTP",
     BEYOND_ENGINE(ptc_cmd_mcp)},
    {"signature", "read a signature, check a value, print its JSON Schema", ptc_cmd_signature},
    {"upstreams", "servers programs may call: list, check, call, doctor, pins, login",
     BEYOND_ENGINE(ptc_cmd_upstreams)},
    {"store", "what servers keep: migrate, check, erase", BEYOND_ENGINE(ptc_cmd_store)},
    {"view", "show traces in a browser: runs, timelines, programs, messages",
     BEYOND_ENGINE(ptc_cmd_view)},
    {"trace", "traces as tables, or in the formats of other tools", BEYOND_ENGINE(ptc_cmd_trace)},
    {"docs", "guides and the reference of all functions", ptc_cmd_docs},
    {"doc", "one function or special form", ptc_cmd_doc},
    {"completions", "what a shell needs to complete commands and options", ptc_cmd_completions},
    {"man", "the manual page: ptc man | man -l -", ptc_cmd_man},
};
enum { MAIN_COMMANDS = sizeof commands / sizeof *commands };

/* What the commands themselves may hold; engines have limits of their own. */
static const size_t memory = (size_t)PTC_GB;

const PtcCmd *ptc_cmd_at(size_t index)
{
    for (size_t i = 0; i < MAIN_COMMANDS; i++)
        if (commands[i].run && index-- == 0)
            return &commands[i];
    return NULL;
}

static void print_command_list(int fd)
{
    ptc_io_printf(fd, "usage: ptc COMMAND [ARGUMENTS]\n"
                      "       ptc [OPTIONS] [FILE] PROGRAM\n"
                      "Runs PTC-Lisp, a Clojure subset, inside hard limits.\n\ncommands:\n");
    const PtcCmd *c;
    for (size_t i = 0; (c = ptc_cmd_at(i)) != NULL; i++)
        ptc_io_printf(fd, "  %-12s%s\n", c->name, c->summary);
    ptc_io_printf(fd,
                  "\n  ptc COMMAND --help    options and examples; ptc help COMMAND is the same;\n"
                  "                        --help all shows every option of a long list\n"
                  "  ptc version\n\nexamples:\n"
                  "  ptc '(+ 1 2)'\n"
                  "  ptc orders.csv '(sum-by :total rows)'\n"
                  "  cat orders.json | ptc '(count data)'\n");
}

static const PtcCmd *find_cli_command(const char *name)
{
    for (size_t i = 0; i < MAIN_COMMANDS; i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

/* Words that people know from other programs, and what they are called here; NULL: not known. */
static const char *command_by_other_word(const char *name)
{
    static const char *const words[][2] = {
        {"serve", "mcp"},
        {"server", "mcp"},
        {"install", "mcp --install CLIENT"},
        {"shell", "repl"},
        {"agent", "run"},
        {"new", "init"},
        {"console", "repl"},
        {"login", "upstreams login NAME"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i][0], name))
            return words[i][1];
    return NULL;
}

static int refuse_unknown_command(const char *name)
{
    PtcNearest nearest;
    const char *other = command_by_other_word(name);
    ptc_builtins_ready();
    ptc_nearest_init(&nearest, name, strlen(name));
    for (size_t i = 0; i < MAIN_COMMANDS; i++)
        ptc_nearest_offer(&nearest, commands[i].name, strlen(commands[i].name));
    ptc_io_printf(PTC_IO_STDERR, "ptc: unknown command '%.60s'", name);
    if (other || nearest.best)
        ptc_io_printf(PTC_IO_STDERR, "; did you mean %s?", other ? other : nearest.best);
    else if (ptc_builtin_find(name, strlen(name)) >= 0)
        ptc_io_printf(PTC_IO_STDERR, "; as a program: ptc '(%.60s data)'", name);
    ptc_io_printf(PTC_IO_STDERR, "\nTry: ptc --help\n");
    return PTC_EXIT_USAGE;
}

static int say_left_out(const char *name)
{
    ptc_io_printf(PTC_IO_STDERR,
                  "ptc: %s is not in this build, which is the engine alone\n"
                  "Try: ptc --help\n",
                  name);
    return PTC_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (ptc_zygote_asked(argc, argv))
        return ptc_zygote_main(NULL);
    if (ptc_leash_asked(argc, argv))
        return ptc_leash_main(argc, argv);
    if (ptc_sql_asked(argc, argv))
        return ptc_sql_main();
    signal(SIGPIPE, SIG_IGN); /* a reader that went away shows up as an error of write */
    signal(SIGXFSZ, SIG_IGN); /* and so does a limit on the size of files */
    signal(
        SIGCHLD,
        SIG_DFL); /* a parent may pass on that it is ignored, and exit statuses of tools would be lost */
    if (argc < 2) {
        print_command_list(PTC_IO_STDERR);
        return PTC_EXIT_USAGE;
    }
    static char help[] = "--help";
    char *asked[] = {argv[0], argc > 2 ? argv[2] : NULL, help, argc > 3 ? argv[3] : NULL};
    if (!strcmp(argv[1], "help") && argc > 2) {
        argc = argc > 3 ? 4 : 3;
        argv = asked;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_command_list(PTC_IO_STDOUT);
        return PTC_EXIT_OK;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version") || !strcmp(argv[1], "-V") ||
        (!strcmp(argv[1], "-v") && argc == 2)) {
        ptc_io_printf(PTC_IO_STDOUT, "ptc %s\n", ptc_version());
        return PTC_EXIT_OK;
    }
    const PtcCmd *command = find_cli_command(argv[1]);
    if (!command && !ptc_short_form_begins(argv[1]))
        return refuse_unknown_command(argv[1]);
    if (command && !command->run)
        return say_left_out(command->name);
    PtcMem mem;
    ptc_mem_init(&mem, memory);
    if (!command)
        return ptc_cmd_short(&mem, argc - 1, argv + 1);
    return command->run(&mem, argc - 2, argv + 2);
}
