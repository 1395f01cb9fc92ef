/* SPDX-License-Identifier: MIT
 * type_text.h - a JSON Schema as a short type, in the notation of json/sketch.h: string, int, [T], {a T, b? T}, {* T},
 * "x"|"y", A|B. */
#ifndef PTC_TOOL_SCHEMA_TYPE_TEXT_H
#define PTC_TOOL_SCHEMA_TYPE_TEXT_H

#include "base/buf.h"
#include "value/heap.h"

enum {
    PTC_TYPE_TEXT_LEVELS = 3,   /* of maps inside each other that are shown */
    PTC_TYPE_TEXT_SHOWN = 12,   /* properties of a map, values of an enum */
    PTC_TYPE_TEXT_BYTES = 4096, /* of one type; a longer one is shown as any */
};

/* Appends the type for readers.  References are those of `root`; what contains itself, and what is nested deeper, is
 * `map`.  With `gives` it is of a result: what is required is always there; else of arguments, where a tool has a
 * default for some of that. */
void ptc_type_text_add(PtcBuf *out, PtcHeap *heap, PtcValue root, PtcValue schema, bool gives);

/* The same for whoever looks things up in it: up to 64 members of maps six levels deep, `}!` where there can be no
 * others.  A type that is longer has fewer levels. */
void ptc_type_text_add_whole(PtcBuf *out, PtcHeap *heap, PtcValue root, PtcValue schema,
                             bool gives);

#endif
