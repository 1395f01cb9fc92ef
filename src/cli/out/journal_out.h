/* SPDX-License-Identifier: MIT
 * journal_out.h - the file of --journal: read when a command begins, replaced after every program of the top agent. */
#ifndef PTC_CLI_OUT_JOURNAL_OUT_H
#define PTC_CLI_OUT_JOURNAL_OUT_H

#include "agent/run/agent_tree.h"
#include "agent/run/journal_file.h"

typedef struct PtcJournalOut {
    PtcJournalFile *file; /* NULL: there is none */
    PtcBuf text;          /* what was written last */
    PtcWhy error;         /* why it could not be written, unless its class is none */
} PtcJournalOut;

/* No path (NULL) means no journal.  False with a reason; ptc_journal_out_close in any case. */
PTC_MUST_USE bool ptc_journal_out_open(PtcJournalOut *out, PtcMem *mem, const char *path,
                                       PtcWhy *why);
void ptc_journal_out_close(PtcJournalOut *out);

/* The tasks that are done; absent: none. */
PtcText ptc_journal_out_text(const PtcJournalOut *out);
/* To be called from PtcTreeHost.progress. */
void ptc_journal_out_tell(PtcJournalOut *out, const PtcProgress *progress);
/* False: it could not be written, which is reported on standard error. */
bool ptc_journal_out_ok(const PtcJournalOut *out, const char *command);

#endif
