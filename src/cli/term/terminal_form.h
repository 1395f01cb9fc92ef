/* SPDX-License-Identifier: MIT
 * terminal_form.h - a form that a server wants filled in (elicitation), asked at the terminal field by field. */
#ifndef PTC_CLI_TERM_TERMINAL_FORM_H
#define PTC_CLI_TERM_TERMINAL_FORM_H

#include "cli/term/terminal_line.h"

/* `question` is as PtcRemote.inquiry gives it.  `answer` gets {"action","content"?}; whoever types Ctrl-D, or something
 * wrong three times in a row, has put the form away (action cancel).  False: the run is not to go on. */
PTC_MUST_USE bool ptc_terminal_form(PtcMem *mem, PtcTerminalLine *line, PtcText question,
                                    PtcBuf *answer);

#endif
