/* SPDX-License-Identifier: MIT
 * view_files.h - the trace files that a command was given: files, and the files named *.jsonl of directories.
 *
 * A file keeps its number as long as the list lives, so a page may ask for what it saw in an earlier listing. */
#ifndef PTC_VIEWER_VIEW_FILES_H
#define PTC_VIEWER_VIEW_FILES_H

#include "base/buf.h"
#include "base/why.h"

enum { PTC_VIEW_FILES_MAX = 10000, PTC_VIEW_PATH = 4096 };

typedef struct PtcViewFiles {
    PtcMem *mem;
    char *const *given; /* borrowed: what the command was given */
    size_t given_count;
    char **paths; /* NUL-terminated, each a block of its own */
    size_t count, cap;
    uint32_t *slots; /* the paths by hash: numbers from 1, 0 for none */
    bool too_many;   /* there are more than PTC_VIEW_FILES_MAX */
} PtcViewFiles;

void ptc_view_files_init(PtcViewFiles *files, PtcMem *mem, char *const *given, size_t count);
void ptc_view_files_deinit(PtcViewFiles *files);

/* Looks again what there is; new files come after those that were known.  False with a text in why: something that
 * was given cannot be read, or out of memory. */
PTC_MUST_USE bool ptc_view_files_scan(PtcViewFiles *files, PtcWhy *why);

/* A descriptor of a file and its size; -1 when it is no regular file that can be read. */
PTC_MUST_USE int ptc_view_files_open(const PtcViewFiles *files, size_t number, uint64_t *bytes);

/* Appends {"files": [{"number", "name", "bytes", "modified_ms"}], "too_many"}. */
void ptc_view_files_list(const PtcViewFiles *files, PtcBuf *out);

#endif
