/* SPDX-License-Identifier: MIT
 * origin.h - where outlines come from: what somebody declared (json/sketch.h), and values that are there already. */
#ifndef PTC_LISP_CHECK_ORIGIN_H
#define PTC_LISP_CHECK_ORIGIN_H

#include "json/sketch.h"
#include "lisp/check/outline.h"
#include "value/heap.h"

/* What a tool gives that declares this.  Of its maps only those that are closed have no other members for certain; all
 * others have none as far as they are declared, unless `open`: then nobody has said so. */
const PtcOutline *ptc_outline_of_sketch(PtcOutlines *os, const PtcSketch *sketch, bool open);
/* What results were like so far: the names of members, and nothing of what they are. */
const PtcOutline *ptc_outline_of_seen(PtcOutlines *os, const PtcSketch *sketch);

enum { PTC_VALUE_MAPS = 1000, PTC_VALUE_PARTS = 20000 };

/* How much of values was looked at, in one check of a program. */
typedef struct PtcValueWalk {
    PtcOutlines *os;
    PtcHeap *heap;
    uint32_t maps, parts;
    unsigned
        flags; /* of maps and lists: PTC_OUTLINE_GIVEN, or 0 for what the program itself says */
    const PtcOutline *(*of_fn)(void *user, PtcValue fn); /* NULL: functions are not looked at */
    void *user;
} PtcValueWalk;

/* What a value is.  Beyond the bounds nothing is said of what was not looked at. */
const PtcOutline *ptc_outline_of_value(PtcValueWalk *walk, PtcValue v);

#endif
