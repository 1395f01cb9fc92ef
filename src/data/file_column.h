/* SPDX-License-Identifier: MIT
 * file_column.h - rows of several files together: each says which file it comes from. */
#ifndef PTC_DATA_FILE_COLUMN_H
#define PTC_DATA_FILE_COLUMN_H

#include "value/heap.h"

/* The rows with `file` as a key more (file_2, if they have that name): a list's elements, or anything else as the only
 * row.  Rows that are no maps become maps of `key` and the file.  PTC_NONE: out of memory. */
PTC_MUST_USE PtcValue ptc_file_column_add(PtcHeap *heap, PtcValue rows, const char *file,
                                          const char *key);

#endif
