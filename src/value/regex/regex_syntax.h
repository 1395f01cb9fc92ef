/* SPDX-License-Identifier: MIT
 * regex_syntax.h - from Java's notation of patterns to PCRE2's; for regex_match.c. */
#ifndef PTC_VALUE_REGEX_REGEX_SYNTAX_H
#define PTC_VALUE_REGEX_REGEX_SYNTAX_H

#include "value/regex/regex.h"

typedef struct PtcRegexText {
    const char *pattern;
    size_t len, at; /* at: the next byte of the pattern */
    PtcBuf out;     /* PCRE2's notation */
    PtcRegexError *error;
    bool caseless, extended, unicode; /* flags seen anywhere */
    size_t target, source; /* the byte of the pattern that byte `target` of out comes from */
} PtcRegexText;

/* Translates; false: error says why, or out has failed.  out is the caller's to deinit in either case. */
PTC_MUST_USE bool ptc_regex_translate(PtcRegexText *t);

#endif
