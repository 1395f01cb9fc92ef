/* SPDX-License-Identifier: MIT
 * convert.h - values written as JSON.
 *
 *   nil, booleans           null, true, false
 *   integers of any size    numbers, all digits
 *   floats                  numbers; NaN and the infinities have no JSON and are refused
 *   strings                 strings
 *   keywords, symbols       strings of their names, without the colon
 *   vectors, lists, sets    arrays
 *   maps                    objects; keys become strings (numbers, booleans and nil by their printed text); two keys
 *                           that become the same one are refused
 *   dates, times, durations strings, ISO 8601
 *   anything else           refused: functions, vars, regexes, endless sequences ... */
#ifndef PTC_TOOL_CONVERT_H
#define PTC_TOOL_CONVERT_H

#include "base/buf.h"
#include "json/write.h"

/* Appends the JSON of v.  float_precision: digits after the point, -1 for all.  False with *error filled: `what` and
 * `path` name the first value that cannot be encoded (a path is never empty then: the whole value is `<root>`); both
 * are empty when the buffer is full or a limit was hit (error->stopped).  What was appended until then stays. */
PTC_MUST_USE bool ptc_to_json_value(PtcHeap *heap, PtcBuf *buf, PtcValue v, int float_precision,
                                    PtcJsonError *error);

/* The same for an answer: names in keys get underscores; see ptc_json_write_answer. */
PTC_MUST_USE bool ptc_to_json_answer(PtcHeap *heap, PtcBuf *buf, PtcValue v, int float_precision,
                                     PtcBuf *steps, PtcJsonError *error);

#endif
