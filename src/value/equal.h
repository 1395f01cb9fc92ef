/* SPDX-License-Identifier: MIT
 * equal.h - equality, hashing and order, for values of any depth and size, without C recursion.  They tick; when a
 * limit is hit they return false/0 and the budget is stopped. */
#ifndef PTC_VALUE_EQUAL_H
#define PTC_VALUE_EQUAL_H

#include "value/heap.h"

/* `=`: numbers by value (1 = 1.0), sequentials by elements, maps and sets without order. */
bool ptc_equal(PtcHeap *heap, PtcValue a, PtcValue b);
/* As keys and set elements are compared: as above, but 1 and 1.0 differ. */
bool ptc_same(PtcHeap *heap, PtcValue a, PtcValue b);
/* Equal for values that are the same; never 0. */
uint32_t ptc_hash(PtcHeap *heap, PtcValue v);

/* <0, 0, >0.  nil comes before everything; numbers, strings, keywords, booleans, and sequentials (by length, then
 * element) are ordered among themselves.  Otherwise *ok becomes false. */
int ptc_compare(PtcHeap *heap, PtcValue a, PtcValue b, bool *ok);

#endif
