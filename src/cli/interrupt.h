/* SPDX-License-Identifier: MIT
 * interrupt.h - signals that end a command while an agent runs.  Commands that run as tools lead groups of their own,
 * which neither a terminal's Ctrl-C nor the end of this process reaches: so the run is cancelled, which ends them. */
#ifndef PTC_CLI_INTERRUPT_H
#define PTC_CLI_INTERRUPT_H

#include "base/budget.h"

/* Asked by SIGINT, SIGTERM and SIGHUP once they are caught; also for whoever must stop a run for another reason. */
extern PtcCancel ptc_interrupt;

/* Catches them, except those that the parent has ignored (nohup); a second one of a kind ends the process. */
void ptc_interrupt_catch(void);
/* They end the process again, as ever. */
void ptc_interrupt_let(void);

#endif
