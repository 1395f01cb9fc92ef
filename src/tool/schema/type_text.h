/* SPDX-License-Identifier: MIT
 * type_text.h - a JSON Schema as a short type: string, int, [T], {a T, b? T}, {* T}, "x"|"y", A|B. */
#ifndef PTC_TOOL_SCHEMA_TYPE_TEXT_H
#define PTC_TOOL_SCHEMA_TYPE_TEXT_H

#include "base/buf.h"
#include "value/heap.h"

enum {
    PTC_TYPE_TEXT_LEVELS = 3,   /* of maps inside each other that are shown */
    PTC_TYPE_TEXT_SHOWN = 12,   /* properties of a map, values of an enum */
    PTC_TYPE_TEXT_BYTES = 4096, /* of one type; a longer one is shown as any */
};

/* Appends the type.  References are those of `root`; what contains itself, and what is nested deeper, is `map`. */
void ptc_type_text_add(PtcBuf *out, PtcHeap *heap, PtcValue root, PtcValue schema);

#endif
