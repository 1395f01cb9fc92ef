/* SPDX-License-Identifier: MIT
 * data_in.h - files of data for programs: --data NAME=@FILE in every command that has it. */
#ifndef PTC_CLI_CMD_DATA_IN_H
#define PTC_CLI_CMD_DATA_IN_H

#include "base/why.h"
#include "cli/options.h"
#include "data/data_file.h"
#include "data/shared.h"
#include "ptc/ptc.h"

enum { PTC_DATA_IN_MB = 1024, PTC_DATA_IN_NAME = 80 };

/* Divides NAME=@FILE.  False with what is wrong, and how it is written, in why. */
PTC_MUST_USE bool ptc_data_in_split(const char *item, char name[PTC_DATA_IN_NAME],
                                    const char **path, PtcWhy *why);

/* The options that say how files are read. */
typedef struct PtcInputOptions {
    int kind; /* of PTC_DATA_KINDS; -1: not given */
    const char *separator;
    bool no_header, skip_bad;
} PtcInputOptions;

#define PTC_INPUT_ROWS(at)                                                                \
    {"input",                                                                             \
     0,                                                                                   \
     PTC_OPTION_CHOICE,                                                                   \
     (at) + offsetof(PtcInputOptions, kind),                                              \
     PTC_DATA_KINDS,                                                                      \
     "what files or standard input are (their ending or their beginning says it)",        \
     0,                                                                                   \
     0,                                                                                   \
     PTC_GROUP_DATA},                                                                     \
        {"separator",                                                                     \
         0,                                                                               \
         PTC_OPTION_TEXT,                                                                 \
         (at) + offsetof(PtcInputOptions, separator),                                     \
         "SIGN",                                                                          \
         "what divides the fields of CSV: one sign, or tab (comma, semicolon or tab)",    \
         0,                                                                               \
         0,                                                                               \
         PTC_GROUP_DATA},                                                                 \
        {"no-header",                                                                     \
         0,                                                                               \
         PTC_OPTION_FLAG,                                                                 \
         (at) + offsetof(PtcInputOptions, no_header),                                     \
         NULL,                                                                            \
         "no line of CSV names the columns: they are column1, column2 ...",               \
         0,                                                                               \
         0,                                                                               \
         PTC_GROUP_DATA},                                                                 \
    {                                                                                     \
        "skip-bad", 0, PTC_OPTION_FLAG, (at) + offsetof(PtcInputOptions, skip_bad), NULL, \
            "leave out rows that cannot be read, and say how many", 0, 0, PTC_GROUP_DATA  \
    }

/* How the files of a command are read. */
typedef struct PtcDataIn {
    PtcDataForm form;
    bool skip_bad;
    PtcBadLines bad; /* of the file that is read now */
    PtcDataForm was; /* how the last file without a name was read */
} PtcDataIn;

/* What the options say.  False with what is wrong in why. */
PTC_MUST_USE bool ptc_data_in_read(PtcDataIn *in, const PtcInputOptions *options, PtcWhy *why);
/* How one file is read.  An `entry` is a file of --data, of which --input says something only if its name does not. */
PtcDataForm ptc_data_in_form(PtcDataIn *in, const char *path, bool entry);

/* Loads the files, with what is in *shared already; makes *shared if there is none and there are files.  mb: what all
 * data may take (PTC_UNSET: PTC_DATA_IN_MB).  in: NULL: the command has no such options.  False: the message is on
 * standard error. */
PTC_MUST_USE bool ptc_data_in_load(PtcShared **shared, const PtcUsage *usage,
                                   const PtcOptionList *items, int64_t mb, PtcDataIn *in);
/* Makes *shared if there is none. */
PTC_MUST_USE bool ptc_data_in_ready(PtcShared **shared, int64_t mb);

/* Says on standard error what a file was taken for, where it may be something else. */
void ptc_data_in_say(const char *path, const PtcDataForm *form);
/* And what was left out of it. */
void ptc_data_in_say_bad(const char *path, const PtcDataForm *form);
/* Adds to a message about data that --input reads it in another way, if it was not given. */
void ptc_data_in_advise(const PtcDataForm *form, PtcWhy *why);

/* A text of --context JSON|@FILE that is the name of a file: what to write instead, in why.  False: it is not. */
bool ptc_data_in_forgot_at(const char *option, const char *text, PtcWhy *why);

/* The context of runs: the files, and `context` (0: none), which wins; *data is made if it is NULL, and holds it.  0:
 * out of memory. */
PTC_MUST_USE PtcValue ptc_data_in_context(const PtcShared *shared, Ptc *ptc, PtcData **data,
                                          PtcValue context);

#endif
