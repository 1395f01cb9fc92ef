/* SPDX-License-Identifier: MIT
 * order.h - sorts by text: names of tools, keys of maps, encodings of values. */
#ifndef PTC_TOOL_ORDER_H
#define PTC_TOOL_ORDER_H

#include <stddef.h>

#include "base/budget.h"
#include "base/text.h"

/* An item to be sorted begins with a PtcText. */
enum { PTC_ORDER_ITEM_MAX = 64 };

/* <0, 0, >0: by bytes, a prefix before what it is a prefix of. */
int ptc_order_compare(const PtcText *a, const PtcText *b);

/* Sorts n items of `size` bytes (at most PTC_ORDER_ITEM_MAX) in place, without allocating; items with the same text
 * end up in any order.  budget may be NULL; false if it stopped, and the order is then undefined. */
PTC_MUST_USE bool ptc_order_sort(PtcBudget *budget, void *items, size_t n, size_t size);

#endif
