/* SPDX-License-Identifier: MIT
 * cache_key.h - one text for all spellings of a tool call.
 *
 * Two calls have the same key if their names are the same bytes and their arguments the same values, where
 *   - the order of a map's entries and of a set's elements is no difference,
 *   - keys of maps are the same as keyword or string, with hyphen or underscore,
 *   - a float that is a whole number is that integer (1.0 is 1, -0.0 is 0), except as a key of a map.
 * Otherwise types are distinguished: a vector is not a set, a date not a string, a keyword as a value not a string.
 * Arguments that went through ptc_tool_args no longer contain sets, dates or keywords; use those, so that a call from
 * a program and the same call from outside share a key.  The text is exact, not a hash: equal keys are equal calls. */
#ifndef PTC_TOOL_CACHE_KEY_H
#define PTC_TOOL_CACHE_KEY_H

#include "base/buf.h"
#include "tool/place.h"
#include "value/heap.h"

/* Appends the key.  False with *error filled: a value that cannot be an argument, two keys of a map that become the
 * same, a limit, or (stopped false, no path) a full buffer. */
PTC_MUST_USE bool ptc_cache_key(PtcHeap *heap, PtcBuf *out, const char *name, size_t name_len,
                                PtcValue args, PtcKeysError *error);

#endif
