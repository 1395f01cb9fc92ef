/* SPDX-License-Identifier: MIT
 * matcher.h - matchers, which go on through a string from match to match (PTC_R_MATCHER). */
#ifndef PTC_LISP_LIB_TEXT_MATCHER_H
#define PTC_LISP_LIB_TEXT_MATCHER_H

#include "lisp/vm/record.h"

/* (re-find matcher): the next match, nil when there is none. */
PTC_MUST_USE bool ptc_matcher_find(PtcVM *vm, const PtcValue *argv, PtcValue *out);

#endif
