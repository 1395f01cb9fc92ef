/* SPDX-License-Identifier: MIT
 * typed.h - what defrecord, deftype and reify make values of.
 *
 * A type is a record of its name, the keywords of its fields, and what kind of type it is.  Types with the same name
 * are the same type, so that a session may define one again, and copies and snapshots need no care.
 *
 * A value of a defrecord is a map with its type behind the entries (PTC_TYPED): everything that takes a map takes it.
 * assoc keeps the type, dissoc keeps it unless the key is a field, and whatever else makes a new map makes a plain one.
 * Maps of different types, or with and without one, are not equal.
 *
 * A value of a deftype or reify is an object: a PTC_R_OBJECT, equal to itself only. */
#ifndef PTC_VALUE_COLL_TYPED_H
#define PTC_VALUE_COLL_TYPED_H

#include "value/record_kinds.h"

typedef enum { PTC_TYPE_NAME, PTC_TYPE_BASIS, PTC_TYPE_KIND, PTC_TYPE_FIELDS } PtcTypeField;
typedef enum { PTC_KIND_RECORD, PTC_KIND_TYPE, PTC_KIND_REIFIED, PTC_KIND_COUNT } PtcTypeKind;

/* Fields of an object; the values of its fields follow. */
typedef enum {
    PTC_OBJECT_TYPE,
    PTC_OBJECT_NUMBER,  /* for the hash, as that of a cell */
    PTC_OBJECT_METHODS, /* of reify: map from the name of a protocol to its methods; or nil */
    PTC_OBJECT_VALUES
} PtcObjectField;

static inline bool ptc_is_type(PtcValue v)
{
    return ptc_is_record(v, PTC_R_TYPE);
}

static inline bool ptc_is_object(PtcValue v)
{
    return ptc_is_record(v, PTC_R_OBJECT);
}

static inline PtcValue ptc_type_field(PtcValue type, PtcTypeField i)
{
    return ((const PtcRecord *)(uintptr_t)type)->fields[i];
}

/* Is it a value of a defrecord? */
static inline bool ptc_is_typed(PtcValue v)
{
    return ptc_is_map(v) && (ptc_obj(v)->flags & PTC_TYPED) != 0;
}

/* The type of a value of a defrecord, deftype or reify; PTC_NONE for all others. */
PtcValue ptc_typed_type(PtcValue v);
/* Do two values have the same type, or both none? */
bool ptc_typed_alike(PtcHeap *heap, PtcValue a, PtcValue b);
/* Number of the field with this keyword; -1: there is none. */
int64_t ptc_type_find(PtcHeap *heap, PtcValue type, PtcValue key);

/* The map with a type; it must not be sorted. */
PTC_MUST_USE PtcValue ptc_typed_new(PtcHeap *heap, PtcValue map, PtcValue type);

#endif
