/* SPDX-License-Identifier: MIT
 * terminal_ask.h - asks whoever sits at the terminal about calls of a program that wait. */
#ifndef PTC_CLI_TERMINAL_ASK_H
#define PTC_CLI_TERMINAL_ASK_H

#include "base/mem.h"
#include "tool/remote.h"

/* Is there somebody to ask: does this process have a terminal that shows what it says? */
bool ptc_terminal_can_ask(void);
/* Shows the calls that wait and takes the answer, which is applied to the run.  False: the run is not to go on. */
PTC_MUST_USE bool ptc_terminal_ask(PtcMem *mem, PtcRemote *remote, void *run,
                                   const PtcCancel *cancel);

#endif
