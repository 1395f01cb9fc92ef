/* SPDX-License-Identifier: MIT
 * terminal_line.h - lines that are typed at the terminal itself: standard input may be the program, and standard output
 * its result. */
#ifndef PTC_CLI_TERM_TERMINAL_LINE_H
#define PTC_CLI_TERM_TERMINAL_LINE_H

#include "base/budget.h"
#include "base/buf.h"

typedef struct PtcTerminalLine {
    int fd;
    const PtcCancel *cancel; /* or NULL */
    char text[4096];
    size_t len;
    bool cut; /* more was typed than fits */
} PtcTerminalLine;

/* Is there somebody to ask: does this process have a terminal that shows what it says? */
bool ptc_terminal_line_possible(void);
/* False: there is no terminal. */
PTC_MUST_USE bool ptc_terminal_line_open(PtcTerminalLine *line, const PtcCancel *cancel);
/* Forgets what was typed or pasted before it was asked for; opening does so too. */
void ptc_terminal_line_forget(const PtcTerminalLine *line);
void ptc_terminal_line_close(PtcTerminalLine *line);

typedef enum {
    PTC_TERMINAL_LINE, /* without white space around it */
    PTC_TERMINAL_END,  /* Ctrl-D */
    PTC_TERMINAL_GONE, /* cancelled, or the terminal is gone */
} PtcTerminalTyped;
PtcTerminalTyped ptc_terminal_line_read(PtcTerminalLine *line);

#endif
