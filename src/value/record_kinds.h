/* SPDX-License-Identifier: MIT
 * record_kinds.h - kinds of PTC_T_RECORD objects (obj.aux), also of those whose meaning only the language knows:
 * snapshots and other layers tell them apart by one list. */
#ifndef PTC_VALUE_RECORD_KINDS_H
#define PTC_VALUE_RECORD_KINDS_H

#include "value/heap.h"

enum {
    PTC_R_NONE = 0,
    /* A function made by a builtin, such as (partial f 1): fields[0] is a hidden builtin, the others are
     * what it needs.  Calling the record calls that builtin with the record before the arguments. */
    PTC_R_FN,
    PTC_R_REDUCED, /* (reduced x): fields[0] */
    /* What catch binds: message (string or nil), data (map or nil), cause (or nil), kind (an integer, PtcErrorKind),
     * where it happened: first, last (integers), source (string or nil); class (an integer, PtcThrown). */
    PTC_R_ERROR,
    PTC_R_REGEX,    /* pattern (string), compiled code (BYTES); regex.h */
    PTC_R_DATE,     /* days since 1970-01-01; time.h */
    PTC_R_DATETIME, /* seconds since 1970-01-01T00:00 without a zone, nanoseconds */
    PTC_R_INSTANT,  /* seconds since the epoch, nanoseconds */
    PTC_R_DURATION, /* seconds, nanoseconds */
    PTC_R_PERIOD,   /* years, months, days */
    PTC_R_ENUM, /* group (keyword), name (string), ordinal: DayOfWeek/MONDAY, ChronoUnit/DAYS ... */
    PTC_R_FORMATTER, /* pattern (string) */
    PTC_R_PRODUCER,  /* a sequence without end that is computed on demand; produce.h */
    PTC_R_DECIMAL,   /* unscaled integer, scale; decimal.h */
    PTC_R_MATCHER,   /* a regex at work on a string; matcher.c */
    PTC_R_CLOCK,     /* a time of day: seconds, nanoseconds; time.h */
    PTC_R_ZONED,     /* seconds since the epoch, offset in seconds, PtcZoneForm, nanoseconds */
    PTC_R_ZONE,      /* an offset other than UTC: seconds */
    PTC_R_YEARMONTH, /* months since January of year 0 */
    PTC_R_YEAR,      /* year */
    PTC_R_ADJUSTER,  /* which one, its argument, its day of the week (from 1) */
    /* From here on there is no order (value/equal.c). */
    PTC_R_CELL,     /* a place whose value may change; value/cell.h */
    PTC_R_TYPE,     /* what defrecord, deftype and reify make; typed.h */
    PTC_R_OBJECT,   /* a value of deftype or reify */
    PTC_R_PROTOCOL, /* dispatch.h has the fields of these */
    PTC_R_METHOD,   /* a function of a protocol */
    PTC_R_MULTI,    /* a multimethod */
    PTC_R_INLINE,   /* a method written inside of a type: what it captures are the fields */
    PTC_R_KINDS
};

static inline bool ptc_is_record(PtcValue v, unsigned kind)
{
    return ptc_is(v, PTC_T_RECORD) && ptc_obj(v)->aux == kind;
}

static inline PtcValue ptc_record_field(PtcValue record, size_t i)
{
    return ((const PtcRecord *)(uintptr_t)record)->fields[i];
}

/* A record of n fields; PTC_NONE: out of memory. */
PTC_MUST_USE PtcValue ptc_record_make(PtcHeap *heap, unsigned kind, const PtcValue *fields,
                                      size_t n);

#endif
