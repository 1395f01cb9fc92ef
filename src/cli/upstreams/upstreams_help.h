/* SPDX-License-Identifier: MIT
 * upstreams_help.h - what `ptc upstreams WORD --help` says about each word. */
#ifndef PTC_CLI_UPSTREAMS_UPSTREAMS_HELP_H
#define PTC_CLI_UPSTREAMS_UPSTREAMS_HELP_H

#include "cli/options.h"

/* The usage of the word that the arguments have, with the options of `all`; `all` itself: they have none. */
PtcUsage ptc_upstreams_help(const PtcUsage *all, int argc, char **argv);

#endif
