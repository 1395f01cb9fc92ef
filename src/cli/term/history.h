/* SPDX-License-Identifier: MIT
 * history.h - what was typed before, kept in a file between sessions.
 *
 * The file has one entry per line (a line feed in it is \n, a backslash \\), at most PTC_HISTORY_ENTRIES of them, and
 * only the user may read it (mode 0600). */
#ifndef PTC_CLI_TERM_HISTORY_H
#define PTC_CLI_TERM_HISTORY_H

#include "base/buf.h"

enum {
    PTC_HISTORY_ENTRIES = 1000,
    PTC_HISTORY_ENTRY_BYTES = 16 * PTC_KB /* of an entry; longer ones are not kept */
};

typedef struct PtcHistoryEntry {
    char *text;
    size_t len;
} PtcHistoryEntry;

typedef struct PtcHistory {
    PtcMem *mem;
    PtcHistoryEntry items[PTC_HISTORY_ENTRIES]; /* oldest first */
    size_t count;
    char path[512]; /* empty: there is no file */
} PtcHistory;

/* Reads $XDG_STATE_HOME/ptc/NAME (or ~/.local/state/ptc/NAME), if it exists. */
void ptc_history_init(PtcHistory *history, PtcMem *mem, const char *name);
void ptc_history_deinit(PtcHistory *history);
/* Adds an entry, here and in the file, unless it is blank or the same as the last one. */
void ptc_history_add(PtcHistory *history, const char *text, size_t len);

#endif
