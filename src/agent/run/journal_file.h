/* SPDX-License-Identifier: MIT
 * journal_file.h - the journal of an agent in a file, so that completed tasks survive the process.
 *
 * While a file is open it is locked (FILE.lock): a second run on it is refused instead of losing what the first one
 * did.  It is written whole beside itself and renamed, so that it is never seen half written. */
#ifndef PTC_AGENT_RUN_JOURNAL_FILE_H
#define PTC_AGENT_RUN_JOURNAL_FILE_H

#include "base/buf.h"
#include "base/why.h"

enum { PTC_JOURNAL_BYTES = 64 * PTC_MB };

typedef struct PtcJournalFile PtcJournalFile;

/* Opens and reads it; a missing file counts as empty.  NULL with a reason. */
PTC_MUST_USE PtcJournalFile *ptc_journal_file_open(PtcMem *mem, const char *path, PtcWhy *why);
/* Releases the lock and frees it. */
void ptc_journal_file_close(PtcJournalFile *file);

/* What it held when it was opened; absent: nothing. */
PtcText ptc_journal_file_text(const PtcJournalFile *file);
/* Replaces the contents.  False with a reason: the old journal is still in place. */
PTC_MUST_USE bool ptc_journal_file_write(PtcJournalFile *file, PtcText json, PtcWhy *why);

#endif
