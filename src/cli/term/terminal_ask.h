/* SPDX-License-Identifier: MIT
 * terminal_ask.h - asks whoever sits at the terminal about calls of a program that wait, and what servers want to
 * know. */
#ifndef PTC_CLI_TERM_TERMINAL_ASK_H
#define PTC_CLI_TERM_TERMINAL_ASK_H

#include "cli/term/terminal_line.h"
#include "tool/remote/remote.h"

/* Right after begin(), where somebody can be asked (terminal_line.h): the run may wait for approvals, and servers may
 * ask with forms. */
void ptc_terminal_offer(PtcRemote *remote, void *run);
/* Asks what waits; what was said is applied to the run.  False: the run is not to go on. */
PTC_MUST_USE bool ptc_terminal_ask(PtcMem *mem, PtcRemote *remote, void *run,
                                   const PtcCancel *cancel);

#endif
