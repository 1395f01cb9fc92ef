/* SPDX-License-Identifier: MIT
 * sig_int.h - declarations shared by the sig_*.c files. */
#ifndef PTC_TOOL_SIG_SIG_INT_H
#define PTC_TOOL_SIG_SIG_INT_H

#include "base/why.h"
#include "tool/sig/sig.h"
#include "tool/sig/sig_check.h"
#include "value/time/time.h"

/* Where a walk is in a value; lives on the C stack. */
typedef struct PtcSigPath {
    const struct PtcSigPath *up; /* NULL: the value itself */
    const char *name;            /* NULL: an index */
    size_t len, index;
} PtcSigPath;

/* Keeps an issue, unless there are enough of them, with a copy of the path. */
void ptc_sig_issue_add(PtcSigIssues *issues, const PtcSigPath *path, const char *format, ...)
    PTC_PRINTF(3, 4);

enum { PTC_SIG_SHOWN = 120 };
/* What a value is, for messages: `string "abc"`, `int 5`, `map`. */
const char *ptc_sig_describe(PtcValue v, char out[PTC_SIG_SHOWN]);
/* The same for a type: `int`, `list or nil`. */
const char *ptc_sig_expected(const PtcSigType *type, char out[32]);

/* Fills a field: copies the name and makes its keys.  False: out of memory. */
PTC_MUST_USE bool ptc_sig_field_init(PtcArena *arena, PtcSigField *field, const char *name,
                                     size_t len);
/* Could one key of a value be taken for either field? */
bool ptc_sig_fields_clash(const PtcSigField *a, const PtcSigField *b);
/* The value of a field in a map, PTC_NONE if it is absent; *key becomes the key as the map has it. */
PtcValue ptc_sig_find(PtcHeap *heap, const PtcSigField *field, PtcValue map, PtcValue *key);
/* Called for every key of the map that belongs to no field of the type.  False if the budget stopped. */
typedef void (*PtcSigExtraFn)(void *user, PtcValue key);
PTC_MUST_USE bool ptc_sig_each_extra(PtcHeap *heap, const PtcSigType *type, PtcValue map,
                                     PtcSigExtraFn fn, void *user);
/* Issues for a missing field, and for a key that belongs to no field, where the heap is charged for the search for near
 * names. */
void ptc_sig_issue_missing(PtcSigIssues *issues, const PtcSigPath *path, const PtcSigField *field,
                           const PtcSigType *type, PtcValue map);
void ptc_sig_issue_extra(PtcHeap *heap, PtcSigIssues *issues, const PtcSigPath *path,
                         const PtcSigType *type, PtcValue key);

/* May a keyword have this name? */
bool ptc_sig_keyword_name(PtcValue str);
/* ISO 8601 with an offset: 2024-02-29T10:00:00.5+01:00.  False with why. */
bool ptc_sig_datetime_read(PtcValue str, PtcMoment *out, PtcWhy *why);
/* The point in time as a value.  PTC_NONE when out of memory. */
PTC_MUST_USE PtcValue ptc_sig_datetime_new(PtcHeap *heap, const PtcMoment *p);
/* The ISO 8601 text of a date, date-time or instant.  PTC_NONE if v is none of these, or out of memory. */
PTC_MUST_USE PtcValue ptc_sig_time_text(PtcHeap *heap, PtcValue v);

#endif
