/* SPDX-License-Identifier: MIT
 * short_form.h - `ptc [OPTIONS] [FILE] PROGRAM` and `ptc SCRIPT ARGUMENTS`: a program without the word eval. */
#ifndef PTC_CLI_CMD_SHORT_FORM_H
#define PTC_CLI_CMD_SHORT_FORM_H

#include <stdbool.h>

#include "ptc/ptc.h"

typedef struct PtcShortForm {
    /* Its text; NULL: it comes from a file, which an option or `script` names. */
    const char *program;
    const char *script; /* a file with the program; or NULL */
    const char *input;  /* a file with data, "-" for standard input; NULL: none is named */
    char **args;        /* of a script */
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

/* Standard input if the program means it: no file was named, it mentions `data` or `rows`, and somebody may write
 * there.  A program that does not ask must not wait for a terminal, or for a pipe that nobody closes. */
const char *ptc_short_form_input(const PtcShortForm *form, const char *program, size_t len);

/* The limits of programs that people type about their own files, where none is given. */
void ptc_short_form_limits(PtcLimits *limits);

#endif
