/* SPDX-License-Identifier: MIT
 * weigh.h - how many bytes values take, including everything that they refer to. */
#ifndef PTC_ENGINE_WEIGH_H
#define PTC_ENGINE_WEIGH_H

#include "value/heap.h"

/* The bytes of values[0..n) and of everything that they refer to, each object once; PTC_UNBOUND counts nothing.  It
 * stops once it knows that they are more than `most`, and returns what it has counted.  The heap provides budget and
 * temporary memory; false when that ran out. */
PTC_MUST_USE bool ptc_weigh(PtcHeap *heap, const PtcValue *values, size_t n, size_t most,
                            size_t *bytes);

#endif
