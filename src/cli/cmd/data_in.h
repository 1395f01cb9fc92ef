/* SPDX-License-Identifier: MIT
 * data_in.h - files of data for programs: --data NAME=@FILE in every command that has it. */
#ifndef PTC_CLI_CMD_DATA_IN_H
#define PTC_CLI_CMD_DATA_IN_H

#include "base/why.h"
#include "cli/options.h"
#include "data/shared.h"
#include "ptc/ptc.h"

enum { PTC_DATA_IN_MB = 1024, PTC_DATA_IN_NAME = 80 };

/* Divides NAME=@FILE.  False with what is wrong, and how it is written, in why. */
PTC_MUST_USE bool ptc_data_in_split(const char *item, char name[PTC_DATA_IN_NAME],
                                    const char **path, PtcWhy *why);

/* Loads the files, with what is in *shared already; makes *shared if there is none and there are files.  mb: what all
 * data may take (PTC_UNSET: PTC_DATA_IN_MB).  given: what --input says of those whose names do not say it, or
 * PTC_DATA_TOLD; NULL: the command has no --input.  False: the message is on standard error. */
PTC_MUST_USE bool ptc_data_in_load(PtcShared **shared, const PtcUsage *usage,
                                   const PtcOptionList *items, int64_t mb,
                                   const PtcDataKind *given);

/* Says on standard error what standard input was taken for, where it may be something else. */
void ptc_data_in_say(const char *path, const PtcDataForm *form);
/* Adds to a message about data that --input reads it in another way, if it was not given. */
void ptc_data_in_advise(const PtcDataForm *form, PtcWhy *why);

/* A text of --context JSON|@FILE that is the name of a file: what to write instead, in why.  False: it is not. */
bool ptc_data_in_forgot_at(const char *option, const char *text, PtcWhy *why);

/* The context of runs: the files, and `context` (0: none), which wins; *data is made if it is NULL, and holds it.  0:
 * out of memory. */
PTC_MUST_USE PtcValue ptc_data_in_context(const PtcShared *shared, Ptc *ptc, PtcData **data,
                                          PtcValue context);

#endif
