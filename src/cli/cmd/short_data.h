/* SPDX-License-Identifier: MIT
 * short_data.h - the files of the short form as data: `data` and `rows`, or under their names. */
#ifndef PTC_CLI_CMD_SHORT_DATA_H
#define PTC_CLI_CMD_SHORT_DATA_H

#include "cli/cmd/short_form.h"

typedef struct PtcShortData {
    const PtcShortForm *form;
    PtcDataIn *in;   /* how files are read */
    int64_t mb;      /* what all of them may take, or PTC_UNSET */
    bool each;       /* files without a name are not read here */
    PtcText program; /* whether it means standard input */
} PtcShortData;

/* Loads the files beside what is in *shared already, which is made if there is none.  False with a text in why. */
PTC_MUST_USE bool ptc_short_data_load(const PtcShortData *data, PtcShared **shared, PtcWhy *why);

/* The files without a name, at least one: standard input if there is none. */
char *const *ptc_short_data_inputs(const PtcShortForm *form, int *count);

#endif
