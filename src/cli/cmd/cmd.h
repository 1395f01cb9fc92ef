/* SPDX-License-Identifier: MIT
 * cmd.h - the subcommands of `ptc`.  Each takes the arguments after its name and returns the exit
 * status: results go to standard output, everything else to standard error. */
#ifndef PTC_CLI_CMD_CMD_H
#define PTC_CLI_CMD_CMD_H

#include "base/mem.h"

enum {
    PTC_EXIT_OK = 0,
    PTC_EXIT_FAILED = 1, /* the program (or a test) failed */
    PTC_EXIT_USAGE = 2,  /* the command was used wrongly */
};

/* The commands, in the order of --help, which is how completions know them. */
typedef struct PtcCmd {
    const char *name, *summary;
    int (*run)(PtcMem *mem, int argc, char **argv); /* NULL: this product has it not */
} PtcCmd;
/* Those that there are: the one at an index, NULL beyond the last (main.c). */
const PtcCmd *ptc_cmd_at(size_t index);

/* `mem` is the ledger for what the command itself holds; engines have their own. */
typedef int (*PtcCmdFn)(PtcMem *mem, int argc, char **argv);

int ptc_cmd_eval(PtcMem *mem, int argc, char **argv);
/* `ptc [OPTIONS] [FILE] PROGRAM`, `ptc SCRIPT ARGUMENTS`; there is at least one argument. */
int ptc_cmd_short(PtcMem *mem, int argc, char **argv);
int ptc_cmd_check(PtcMem *mem, int argc, char **argv);
int ptc_cmd_test(PtcMem *mem, int argc, char **argv);
int ptc_cmd_run(PtcMem *mem, int argc, char **argv);
int ptc_cmd_chat(PtcMem *mem, int argc, char **argv);
int ptc_cmd_init(PtcMem *mem, int argc, char **argv);
int ptc_cmd_repl(PtcMem *mem, int argc, char **argv);
int ptc_cmd_mcp(PtcMem *mem, int argc, char **argv);
int ptc_cmd_signature(PtcMem *mem, int argc, char **argv);
int ptc_cmd_upstreams(PtcMem *mem, int argc, char **argv);
int ptc_cmd_store(PtcMem *mem, int argc, char **argv);
int ptc_cmd_completions(PtcMem *mem, int argc, char **argv);
int ptc_cmd_trace(PtcMem *mem, int argc, char **argv);
int ptc_cmd_view(PtcMem *mem, int argc, char **argv);
int ptc_cmd_docs(PtcMem *mem, int argc, char **argv);
int ptc_cmd_doc(PtcMem *mem, int argc, char **argv);
int ptc_cmd_man(PtcMem *mem, int argc, char **argv);

#endif
