/* SPDX-License-Identifier: MIT
 * driver.h - the test driver: lines of JSON in, lines of JSON out, answered by functions of the library that no command
 * reaches one by one.  README.md describes the lines. */
#ifndef PTC_DRIVER_H
#define PTC_DRIVER_H

#include "base/buf.h"
#include "base/text.h"
#include "value/heap.h"

#define PTC_DRIVER_LINE_MAX ((size_t)64 << 20)

/* One kind of lines. */
typedef struct PtcDriver {
    const char *name;
    const char *no_memory, *too_long; /* answers to lines that cannot be answered */
    /* Writes the answer to an empty buffer, which is not ok afterwards if there was no memory for it. */
    void (*answer)(PtcMem *mem, PtcText line, PtcBuf *out);
} PtcDriver;

extern const PtcDriver ptc_driver_signature, ptc_driver_upstreams;

/* ---- signature_tags.c */
/* The value with tags read: {"$kw":"a"} is :a, {"$datetime":"..."} a datetime, {"$date":..}, {"$naive":..},
 * {"$set":[..]}, {"$map":[[key,value],..]}.  PTC_NONE when out of memory. */
PTC_MUST_USE PtcValue ptc_sig_read_tags(PtcHeap *heap, PtcValue v);

#endif
