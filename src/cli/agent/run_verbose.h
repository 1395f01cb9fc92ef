/* SPDX-License-Identifier: MIT
 * run_verbose.h - what an agent does, told on standard error while it happens: programs, what they printed and called,
 * what came of them.  Without secrets, and of each text no more than fits on a screen; --trace has all of it. */
#ifndef PTC_CLI_AGENT_RUN_VERBOSE_H
#define PTC_CLI_AGENT_RUN_VERBOSE_H

#include "agent/run/agent_tree.h"
#include "trace/redact.h"

typedef struct PtcRunVerbose {
    bool on;
    const PtcSecrets *secrets; /* borrowed */
    PtcMem mem;
    PtcBuf clean, line; /* used under the lock of the tree alone */
} PtcRunVerbose;

void ptc_run_verbose_begin(PtcRunVerbose *verbose, bool on, const PtcSecrets *secrets);
/* To be called from PtcTreeHost.progress. */
void ptc_run_verbose_tell(PtcRunVerbose *verbose, const PtcProgress *progress);
void ptc_run_verbose_end(PtcRunVerbose *verbose);

#endif
