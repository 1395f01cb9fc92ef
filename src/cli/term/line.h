/* SPDX-License-Identifier: MIT
 * line.h - a line typed at a terminal, with editing, history and completion.  Only uses ANSI sequences and termios.
 * The terminal is raw while a line is being read and unchanged at all other times. */
#ifndef PTC_CLI_TERM_LINE_H
#define PTC_CLI_TERM_LINE_H

#include <termios.h>

#include "cli/term/history.h"

/* Appends the candidates for the word, one per line, sorted. */
typedef void (*PtcLineComplete)(void *user, const char *word, size_t len, PtcBuf *out);

typedef struct PtcLine {
    PtcHistory *history;
    PtcLineComplete complete;
    void *user;
    PtcBuf text;   /* valid UTF-8 */
    size_t cursor; /* byte in text, between graphemes */
    size_t view;   /* first byte that is shown */
    PtcBuf typed;  /* the line being typed, while a history entry is shown */
    PtcBuf out;    /* for the terminal, written in one go */
    PtcBuf killed; /* by Ctrl-K, U, W */
    size_t entry;  /* of the history; its count: the line being typed */
    const char *prompt;
    size_t prompt_columns;
    struct termios cooked;
    char input[512]; /* read ahead: pasted lines are taken one by one */
    size_t input_at, input_len;
} PtcLine;

typedef enum {
    PTC_TYPED_LINE,
    PTC_TYPED_CANCEL, /* Ctrl-C */
    PTC_TYPED_END,    /* Ctrl-D on an empty line, or the terminal is gone */
} PtcTyped;

void ptc_line_init(PtcLine *line, PtcMem *mem, PtcHistory *history, PtcLineComplete complete,
                   void *user);
void ptc_line_deinit(PtcLine *line);

/* Reads a line; it is line->text until the next call.  `colour` is put before the prompt. */
PtcTyped ptc_line_read(PtcLine *line, const char *prompt, const char *colour);

#endif
