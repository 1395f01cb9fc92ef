/* SPDX-License-Identifier: MIT
 * sql_read.h - the answer of a question as a value: rows as maps from names of columns, in a vector; or of a change
 * {"changed" n}. */
#ifndef PTC_SQL_SQL_READ_H
#define PTC_SQL_SQL_READ_H

#include "base/text.h"
#include "value/heap.h"

/* PTC_NONE: out of memory (the budget of the heap has stopped), or it is no answer. */
PTC_MUST_USE PtcValue ptc_sql_read(PtcHeap *heap, PtcText answer);

#endif
