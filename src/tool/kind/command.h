/* SPDX-License-Identifier: MIT
 * command.h - tools that are external commands: the arguments of a call as JSON on standard input, the result as JSON
 * on standard output, a non-zero exit status for failure with its text on standard error.
 *
 * What a failed command wrote reaches programs and models, so values of the variables that its definition names are
 * replaced by [secret].  No shell is involved.  The child sees PATH, HOME, LANG and the variables its definition
 * names, as they were when the definition was read. */
#ifndef PTC_TOOL_KIND_COMMAND_H
#define PTC_TOOL_KIND_COMMAND_H

#include "base/arena.h"
#include "base/os/process.h"
#include "base/why.h"
#include "ptc/ptc.h"
#include "value/value.h"

enum {
    PTC_COMMAND_WORDS_MAX = 1000,          /* of the command line, and variables */
    PTC_COMMAND_ERROR_BYTES = 64 * PTC_KB, /* of standard error that are kept, the last ones */
    PTC_COMMAND_TEXT = 320,                /* room for the description of a failure */
};

typedef struct PtcCommand {
    char **argv, **envp; /* each ends with a NULL */
    size_t own;          /* where the variables that its definition names begin in envp */
} PtcCommand;

/* The command line is an array of strings, and so are the names of variables, in "env". */
extern const struct PtcToolKind ptc_command_kind;

/* The variables of a child: PATH, HOME, LANG and those of the array `names` (PTC_NONE: none), which begin at *own.
 * NULL with a text in why. */
PTC_MUST_USE char **ptc_command_environment(PtcArena *arena, PtcValue names, size_t *own,
                                            PtcWhy *why);
/* Gives the process a standard error without the values of variables that its definition names, in `clean`; false: out
 * of memory. */
PTC_MUST_USE bool ptc_command_blot(const PtcCommand *command, PtcProcess *process, PtcBuf *clean);

/* The value of a variable that a definition of the set names, for code that must not show it; NULL past the last
 * one. */
const char *ptc_command_secret(const PtcTools *tools, size_t index);

/* Interprets a process that ended by itself: true with the JSON of its result, or false with an error message, which
 * is UTF-8 whatever the process wrote. */
PTC_MUST_USE bool ptc_command_judge(const PtcProcess *process, const char **json, size_t *len,
                                    char text[PTC_COMMAND_TEXT]);

#endif
