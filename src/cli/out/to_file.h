/* SPDX-License-Identifier: MIT
 * to_file.h - what a command writes to standard output, into a file: -o FILE and -i.
 *
 * It goes into a file beside the one that is meant, which takes its place when all is written; until then, and when
 * something fails, the old file stays as it was. */
#ifndef PTC_CLI_OUT_TO_FILE_H
#define PTC_CLI_OUT_TO_FILE_H

#include <limits.h>

#include "base/why.h"
#include "cli/out/data_out.h"
#include "data/guess.h"

typedef struct PtcToFile {
    char path[PATH_MAX];   /* where it belongs; links are followed */
    char beside[PATH_MAX]; /* where it is written; "": straight into a device or pipe */
    bool in_place;         /* the old file is kept as FILE.bak */
    int standard;          /* standard output, meanwhile */
} PtcToFile;

/* Standard output goes into the file from here on.  False with a text in why: nothing has changed. */
PTC_MUST_USE bool ptc_to_file_begin(PtcToFile *to, const char *path, bool in_place, PtcWhy *why);
/* Ends that; what was written takes its place if it is to be kept.  False with a text in why: it did not. */
PTC_MUST_USE bool ptc_to_file_end(PtcToFile *to, bool keep, PtcWhy *why);

/* How a value is written back into the file that it was read from.  False, with the message on standard error: it is
 * nothing that such a file can hold. */
PTC_MUST_USE bool ptc_in_place_form(PtcDataOut *how, const PtcDataForm *was, PtcValue value);

/* The format that the ending of a name stands for; -1: none. */
int ptc_to_file_format(const char *path);

#endif
