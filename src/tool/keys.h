/* SPDX-License-Identifier: MIT
 * keys.h - the arguments of a tool call as the tool gets them: values that JSON can express.
 *
 *   maps                       keys are strings with `_` for `-`; numbers, booleans, nil and dates as keys by their
 *                              printed text; two keys that come out as one are an error
 *   keywords, symbols          strings of their names (hyphens stay)
 *   sets                       vectors
 *   dates, times, durations    ISO 8601 strings
 *   nil, booleans, numbers, strings, vectors, lists   as they are; NaN and the infinities are an error
 *   anything else              an error that says where
 *
 * at every depth.  Nothing is copied that need not change: a value that already has this form is returned unchanged,
 * and strings are shared.  The heap remembers the new shape of a small map, so that calls of the same form do no work
 * per key. */
#ifndef PTC_TOOL_KEYS_H
#define PTC_TOOL_KEYS_H

#include "tool/place.h"
#include "value/heap.h"

/* PTC_NONE with *error filled; args must be a map.  Must not be called across a safepoint with values that nothing
 * roots. */
PTC_MUST_USE PtcValue ptc_tool_args(PtcHeap *heap, PtcValue args, PtcKeysError *error);

/* The same for a small map whose values stay as they are and whose keys have been seen before, as in most calls.
 * PTC_NONE says nothing: then ptc_tool_args does it.  60 instructions in place of 270. */
PTC_MUST_USE PtcValue ptc_tool_args_quick(PtcHeap *heap, PtcValue args);

/* The arguments as a program wrote them: none, one map, or alternating keywords and values.  `name` is for the
 * message. */
PTC_MUST_USE PtcValue ptc_tool_args_pairs(PtcHeap *heap, const char *name, size_t name_len,
                                          int argc, const PtcValue *argv, PtcKeysError *error);

/* One argument that is neither a map nor half of a pair: the value of the only parameter that is required, if the tool
 * has such a one. */
static inline bool ptc_is_lone_argument(int argc, const PtcValue *argv)
{
    return argc == 1 && !ptc_is_map(argv[0]) && !ptc_is_keyword(argv[0]);
}

/* The string that a key becomes in JSON, with `_` for `-` in names if asked for.  PTC_NONE if it has none, or when
 * out of memory (its budget is then stopped). */
PTC_MUST_USE PtcValue ptc_key_string(PtcHeap *heap, PtcValue key, bool underscores);

#endif
