/* SPDX-License-Identifier: MIT
 * schema_view.h - a JSON Schema looked at for what it declares: references followed, alternatives and properties found.
 * For texts and for arguments; whether a value fits is for tool/schema/schema.h to say. */
#ifndef PTC_TOOL_SCHEMA_SCHEMA_VIEW_H
#define PTC_TOOL_SCHEMA_SCHEMA_VIEW_H

#include "base/text.h"
#include "value/heap.h"

/* What types a schema names. */
enum {
    PTC_SCHEMA_TYPE_STRING = 1,
    PTC_SCHEMA_TYPE_INTEGER = 2,
    PTC_SCHEMA_TYPE_NUMBER = 4,
    PTC_SCHEMA_TYPE_BOOLEAN = 8,
    PTC_SCHEMA_TYPE_NULL = 16,
    PTC_SCHEMA_TYPE_ARRAY = 32,
    PTC_SCHEMA_TYPE_OBJECT = 64,
};

/* In the schema of an argument: where an OpenAPI service takes it, other than in a body. */
#define PTC_SCHEMA_PLACE "x-in"

/* The schema behind local references, within `root`: the schema itself when it has none, PTC_NONE when they lead
 * nowhere or in a circle. */
PtcValue ptc_schema_view_follow(PtcHeap *heap, PtcValue root, PtcValue schema);
/* Writes one step of a pointer with ~0, ~1 and %xx read, which makes it no longer; returns its length. */
size_t ptc_schema_view_step(PtcText step, char *out);

/* Bits of the types that it names; 0: none.  What has properties or items is an object or an array without a word. */
unsigned ptc_schema_view_types(PtcHeap *heap, PtcValue schema);
/* Does it take null? */
bool ptc_schema_view_null(PtcHeap *heap, PtcValue root, PtcValue schema);
/* anyOf or oneOf; PTC_NONE: neither. */
PtcValue ptc_schema_view_choices(PtcHeap *heap, PtcValue schema);
/* Its properties with those of its allOf; PTC_NONE: it has none.  `required`: the same, a list. */
PtcValue ptc_schema_view_properties(PtcHeap *heap, PtcValue root, PtcValue schema);
PtcValue ptc_schema_view_required(PtcHeap *heap, PtcValue root, PtcValue schema);
bool ptc_schema_view_lists(PtcValue list, PtcText text);
/* The value that a required member has when nobody gives one: its default, else the only one that it can have;
 * PTC_NONE: it must be given. */
PtcValue ptc_schema_view_implied(PtcHeap *heap, PtcValue root, PtcValue schema);

#endif
