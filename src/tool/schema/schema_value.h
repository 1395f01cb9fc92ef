/* SPDX-License-Identifier: MIT
 * schema_value.h - values seen as JSON, like json/write.h does: kinds, texts, numbers, equality.  For the schema_*.c
 * files. */
#ifndef PTC_TOOL_SCHEMA_SCHEMA_VALUE_H
#define PTC_TOOL_SCHEMA_SCHEMA_VALUE_H

#include "value/heap.h"

/* Memory and limits for work on values: a heap that is thrown away. */
typedef struct PtcSchemaWork {
    PtcBudget *budget;
    PtcMem *mem;
    PtcPool pool;
    PtcHeap heap;
} PtcSchemaWork;

void ptc_schema_work_init(PtcSchemaWork *work, PtcMem *mem, PtcBudget *budget);
void ptc_schema_work_deinit(PtcSchemaWork *work);

typedef enum {
    PTC_SCHEMA_NOT_JSON, /* a function, for example, or NaN */
    PTC_SCHEMA_NULL,
    PTC_SCHEMA_BOOLEAN,
    PTC_SCHEMA_INTEGER, /* 1.0 too */
    PTC_SCHEMA_FRACTION,
    PTC_SCHEMA_STRING,
    PTC_SCHEMA_ARRAY,
    PTC_SCHEMA_OBJECT,
    PTC_SCHEMA_KINDS
} PtcSchemaKind;

PtcSchemaKind ptc_schema_kind(PtcValue v);

static inline bool ptc_schema_is_number(PtcSchemaKind kind)
{
    return kind == PTC_SCHEMA_INTEGER || kind == PTC_SCHEMA_FRACTION;
}

/* The text of a string or key: bytes of the value itself, or of a text made for it. */
typedef struct PtcSchemaKey {
    const char *bytes;
    size_t len;
    char few[72];
} PtcSchemaKey;

/* For a value of kind STRING.  False: the budget stopped. */
PTC_MUST_USE bool ptc_schema_text(PtcSchemaWork *work, PtcValue v, PtcSchemaKey *out);
/* For a map's key; *json becomes false if it cannot be a key in JSON. */
PTC_MUST_USE bool ptc_schema_key(PtcSchemaWork *work, PtcValue key, PtcSchemaKey *out, bool *json);
/* The text as a value: v itself if it has bytes, otherwise a new string; PTC_NONE: the budget stopped. */
PTC_MUST_USE PtcValue ptc_schema_string(PtcSchemaWork *work, PtcValue v, const PtcSchemaKey *text);

/* The value of a map's key of this name, or PTC_NONE. */
PtcValue ptc_schema_get(PtcSchemaWork *work, PtcValue map, const char *bytes, size_t len);

/* Elements of an array, members of an object. */
static inline size_t ptc_schema_count(PtcValue v)
{
    return ptc_obj(v)->count;
}

/* Equality as in JSON: 1 is 1.0, the order of members does not matter.  Also false if the budget stops. */
bool ptc_schema_equal(PtcSchemaWork *work, PtcValue a, PtcValue b);
/* The first two equal elements of an array; false when there are none, or the budget stopped. */
bool ptc_schema_find_twins(PtcSchemaWork *work, PtcValue array, size_t *first, size_t *second);

/* <0, 0, >0 for two numbers. */
int ptc_schema_compare(PtcValue a, PtcValue b);
/* Is a number a multiple of another, positive one, judging by their decimal texts?  Also false if the budget stops. */
bool ptc_schema_is_multiple(PtcSchemaWork *work, PtcValue a, PtcValue of);
/* A non-negative integer as JSON may write it (2, 2.0); larger ones become UINT64_MAX. */
bool ptc_schema_natural(PtcValue v, uint64_t *out);

#endif
