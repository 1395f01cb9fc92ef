/* SPDX-License-Identifier: MIT
 * json_difference.h - where two JSON values first differ, in words. */
#ifndef PTC_LLM_JSON_DIFFERENCE_H
#define PTC_LLM_JSON_DIFFERENCE_H

#include "llm/json_box.h"

enum { PTC_DIFFERENCE_SHOWN = 60 }; /* bytes of a value */

/* Appends `PATH was VALUE and is now VALUE`, with the values cut so that the difference is visible; false: they are
 * equal apart from the order of members. */
bool ptc_json_difference(PtcJsonBox *box, PtcValue then, PtcValue now, PtcBuf *out);

#endif
