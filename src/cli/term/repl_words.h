/* SPDX-License-Identifier: MIT
 * repl_words.h - what Tab completes in the REPL: functions, forms, definitions, data and their columns, tools,
 * upstreams and commands. */
#ifndef PTC_CLI_TERM_REPL_WORDS_H
#define PTC_CLI_TERM_REPL_WORDS_H

#include "cli/upstreams/upstreams_open.h"

typedef struct PtcReplWords {
    Ptc *ptc;
    PtcSession *session;
    PtcValue context; /* a map, or 0 */
    bool bare_data;   /* its keys need no data/ before them */
    PtcTools *tools;  /* or NULL */
    PtcUpstreams *upstreams;
    const char *const *commands; /* :help and so on, NULL at the end */
} PtcReplWords;

/* Appends the candidates for the word, one per line, sorted.  Behind `name/` of an upstream it is asked for its tools,
 * and started for that if it was never listed. */
void ptc_repl_words(const PtcReplWords *words, const char *word, size_t len, PtcBuf *out);

#endif
