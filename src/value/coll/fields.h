/* SPDX-License-Identifier: MIT
 * fields.h - maps with string keys and lists, made member by member.
 *
 * Failure is sticky in the heap's budget: when out of memory, what was to be added is left out and the budget says so.
 * Makers of many members look once, at the end, with ptc_fields_ok. */
#ifndef PTC_VALUE_COLL_FIELDS_H
#define PTC_VALUE_COLL_FIELDS_H

#include "base/buf.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

static inline bool ptc_fields_ok(const PtcHeap *heap)
{
    return heap->budget->stop == PTC_STOP_NONE;
}

/* An empty map, an empty list; PTC_NONE as any maker. */
PTC_MUST_USE PtcValue ptc_fields_map(PtcHeap *heap);
PTC_MUST_USE PtcValue ptc_fields_list(PtcHeap *heap);

/* A text as a string; absent ones are nil. */
PTC_MUST_USE PtcValue ptc_fields_string(PtcHeap *heap, PtcText text);
/* What a buffer holds as a string. */
PTC_MUST_USE PtcValue ptc_fields_buf(PtcHeap *heap, const PtcBuf *buf);

/* Adds or replaces a member.  PTC_NONE is not added. */
void ptc_fields_put(PtcHeap *heap, PtcValue *map, const char *name, PtcValue value);
void ptc_fields_put_text(PtcHeap *heap, PtcValue *map, const char *name, PtcText text);
void ptc_fields_put_key(PtcHeap *heap, PtcValue *map, PtcText name, PtcValue value);
void ptc_fields_push(PtcHeap *heap, PtcValue *list, PtcValue value);
/* Takes a member away, if it is there. */
void ptc_fields_remove(PtcHeap *heap, PtcValue *map, const char *name);

/* What a map has under a name; PTC_NONE, or an absent text, also if the value is not a map, or the member not a
 * string. */
PtcValue ptc_fields_get(PtcHeap *heap, PtcValue map, PtcText name);
static inline PtcText ptc_fields_text(PtcHeap *heap, PtcValue map, const char *name)
{
    PtcValue v = ptc_map_field(heap, map, name);
    return v == PTC_NONE ? (PtcText){NULL, 0} : ptc_str_text(v);
}
static inline bool ptc_fields_is(PtcHeap *heap, PtcValue map, const char *name, PtcValue value)
{
    return ptc_map_field(heap, map, name) == value;
}

/* Items of a list; 0 for anything else. */
static inline size_t ptc_fields_count(PtcValue list)
{
    return list != PTC_NONE && ptc_is_sequential(list) ? ptc_seq_count(list) : 0;
}

#endif
