/* SPDX-License-Identifier: MIT
 * upstreams_runner.h - programs that fetch another program before they start it (npx, uvx, ...), and what they
 * start. */
#ifndef PTC_CLI_UPSTREAMS_UPSTREAMS_RUNNER_H
#define PTC_CLI_UPSTREAMS_UPSTREAMS_RUNNER_H

#include "value/scratch.h"

typedef struct PtcRunner {
    const char *name;    /* npx, bunx, pnpx, uvx */
    const char *install; /* the command line that installs a package for good */
    char package[256];   /* without its version; "": it cannot be told */
    char program[256];   /* that the package brings; "": not known */
    bool on_path;        /* the program is installed already */
} PtcRunner;

/* Is the command of an entry in normal form such a program?  Looks at files of the machine, starts nothing. */
bool ptc_upstreams_runner(PtcScratch *scratch, PtcMem *mem, PtcValue entry, PtcRunner *out);

/* Is there a program of this name, in a directory of PATH or at its path? */
bool ptc_upstreams_runner_finds(const char *program);

#endif
