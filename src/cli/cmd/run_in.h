/* SPDX-License-Identifier: MIT
 * run_in.h - what a program is given on the command line, in every command that takes it: --context, --signature,
 * --output-schema, and the program in a file.  Each returns an exit status; a message is on standard error then. */
#ifndef PTC_CLI_CMD_RUN_IN_H
#define PTC_CLI_CMD_RUN_IN_H

#include "base/buf.h"
#include "cli/options.h"
#include "ptc/ptc.h"

/* The program in a file, "-" for standard input.  The first line of a script is for the system: it becomes a
 * comment. */
int ptc_run_in_program(const PtcUsage *usage, const char *path, PtcBuf *file, PtcRun *run);
/* JSON, or @FILE; NULL: none.  *data is made for it. */
int ptc_run_in_context(const PtcUsage *usage, Ptc *ptc, const char *text, PtcBuf *file,
                       PtcData **data, PtcRun *run);
/* A signature, or a schema as JSON or @FILE; NULL: none. */
int ptc_run_in_wanted(const PtcUsage *usage, const char *signature, const char *schema,
                      PtcBuf *file, PtcRun *run);

#endif
