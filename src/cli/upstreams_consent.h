/* SPDX-License-Identifier: MIT
 * upstreams_consent.h - a person at a terminal is asked before `ptc upstreams call` calls what policy asks about. */
#ifndef PTC_CLI_UPSTREAMS_CONSENT_H
#define PTC_CLI_UPSTREAMS_CONSENT_H

#include "cli/upstreams_open.h"

/* Asks when somebody is there to be asked and a yes would help; options->approved becomes true then.  False: the answer
 * was no, or the files cannot be read; that is told, and `status` the exit status.  Without a terminal, and for calls
 * that are allowed or denied anyway, nothing is asked. */
PTC_MUST_USE bool ptc_upstreams_consent(PtcMem *mem, PtcUpstreamsOptions *options, const char *call,
                                        const char *arguments, int *status);

#endif
