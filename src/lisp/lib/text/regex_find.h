/* SPDX-License-Identifier: MIT
 * regex_find.h - regular expressions in builtins; value/regex/regex.h compiles and matches them. */
#ifndef PTC_LISP_LIB_TEXT_REGEX_FIND_H
#define PTC_LISP_LIB_TEXT_REGEX_FIND_H

#include "lisp/vm/record.h"
#include "value/regex/regex.h"

/* Compiles a pattern: says what is wrong with it in a value_error. */
PTC_MUST_USE PtcValue ptc_regex_make(PtcVM *vm, PtcValue pattern);
/* Deinits a matcher of a builtin; what was wrong with its pattern becomes the value_error of the call. */
void ptc_regex_end(PtcVM *vm, PtcMatcher *m);

/* For split and replace in string.c.  limit as Java's: at most so many parts; 0: all, without empty ones at the end;
 * below 0: all. */
PTC_MUST_USE bool ptc_regex_split(PtcVM *vm, PtcValue str, PtcValue regex, int64_t limit,
                                  PtcValue *out);
/* (replace s regex by): the first `most` matches; by is a string or a function.  For PTC_B_CALLS builtins. */
PTC_MUST_USE bool ptc_regex_replace(PtcVM *vm, const PtcValue *argv, size_t most, PtcValue *out);

#endif
