/* SPDX-License-Identifier: MIT
 * help.h - what --help prints of a command's table: no line wider than the terminal, at first only the options that
 * are common, with `all` the others too, in groups. */
#ifndef PTC_CLI_HELP_H
#define PTC_CLI_HELP_H

#include "cli/options.h"

/* A command with more options than this has them in groups. */
enum { PTC_HELP_FEW = 15 };

/* Prints it to standard output; `target` has the defaults. */
void ptc_help_print(const PtcUsage *usage, const void *target, bool all);

/* The title of a group, such as "programs and limits". */
const char *ptc_help_title(unsigned group);
/* The next option of a group, from *at on, which is moved behind it; NULL: there is none. */
const PtcOption *ptc_help_next(const PtcUsage *usage, unsigned group, size_t *at);

#endif
