/* SPDX-License-Identifier: MIT
 * variables.h - ${...} in the values of a file. */
#ifndef PTC_UPSTREAM_CONFIG_VARIABLES_H
#define PTC_UPSTREAM_CONFIG_VARIABLES_H

#include "base/buf.h"
#include "value/heap.h"

typedef struct PtcVariables {
    PtcText (*variable)(void *user, PtcText name); /* absent: it is not set */
    /* The value of ${input:id} when no variable has it; absent: nobody gives one. */
    PtcText (*input)(void *user, PtcText id);
    /* Told of every value that is put in and that somebody else gave, with the name of its variable or input; may be
     * NULL. */
    void (*told)(void *user, PtcText name, PtcText value);
    void *user, *input_user; /* input_user: for input and told */
    PtcText project, cwd;
    bool bare;    /* $VAR is a variable too */
    bool lenient; /* another client's file: what is no placeholder of ours may stay as text */
} PtcVariables;

typedef enum PtcVariableFault {
    PTC_VARIABLE_WELL,
    PTC_VARIABLE_UNSET,
    PTC_VARIABLE_NO_INPUT,
    PTC_VARIABLE_BAD, /* a ${...} that means nothing */
} PtcVariableFault;

typedef struct PtcExpanded {
    PtcVariableFault fault;
    const char *note; /* placeholder_left, looks_like_variable; NULL: none */
    bool changed;     /* something was put in */
    PtcText lacking;  /* the variable or input that a fault is about; absent: none */
} PtcExpanded;

/* For PtcVariables.variable: the variable of this process. */
PtcText ptc_variables_environ(void *user, PtcText name);

/* Appends the text with placeholders replaced, once.  After a fault what was appended is of no use. */
PtcExpanded ptc_variables_expand(PtcBuf *out, const PtcVariables *v, PtcText text);

#endif
