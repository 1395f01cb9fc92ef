/* SPDX-License-Identifier: MIT
 * short_form.h - `ptc [OPTIONS] [FILE...] PROGRAM`, `ptc FILE` and `ptc SCRIPT ARGUMENTS`: a program without the word
 * eval. */
#ifndef PTC_CLI_CMD_SHORT_FORM_H
#define PTC_CLI_CMD_SHORT_FORM_H

#include <stdbool.h>

#include "cli/cmd/data_in.h"
#include "ptc/ptc.h"

typedef struct PtcShortForm {
    /* Its text; NULL: it comes from a file, which an option or `script` names. */
    const char *program;
    const char *script; /* a file with the program; or NULL */
    char **named;       /* NAME=FILE, each */
    char **inputs;      /* files with data, "-" for standard input, each */
    int named_count, input_count;
    bool summary; /* there is no program: what is in the files is wanted */
    char **args;  /* of a script */
    int arg_count;
    char why[600]; /* what is wrong, where that names a file */
} PtcShortForm;

/* Is this first argument, which is no command, the beginning of one? */
bool ptc_short_form_begins(const char *first);
/* Is it a program in a file: one that begins with #!, or whose name ends in .clj or .ptc?  Everything behind it belongs
 * to the script. */
bool ptc_short_form_is_script(const char *path);

/* A name that only a file can have, whether there is one or not. */
bool ptc_short_form_is_path(const char *text);

/* Is it the name of a file, and nothing that a program could be? */
bool ptc_short_form_is_file(const char *text);

/* Finds out what the arguments that are not options mean; `given`: an option says what the program is.  NULL, or what
 * is wrong, as long as the form lives. */
const char *ptc_short_form_read(PtcShortForm *form, int argc, char **argv, bool given);

/* Is it NAME=FILE?  Then `name` becomes the name, and the file is returned; else NULL. */
const char *ptc_short_form_named(const char *text, char name[PTC_DATA_IN_NAME]);

/* Is standard input meant: no file was named, the program mentions `data` or `rows`, and somebody may write there?  A
 * program that does not ask must not wait for a terminal, or for a pipe that nobody closes. */
bool ptc_short_form_wants_stdin(const PtcShortForm *form, const char *program, size_t len);

/* The limits of programs that people type about their own files, where none is given. */
void ptc_short_form_limits(PtcLimits *limits);

#endif
