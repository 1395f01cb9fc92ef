/* SPDX-License-Identifier: MIT
 * hint.h - a tool call written as a program, for the cache hint of a preview. */
#ifndef PTC_TOOL_HINT_H
#define PTC_TOOL_HINT_H

#include "base/buf.h"
#include "value/heap.h"

/* Appends `(tool/name {:key value})`, a program that makes the same call.  False if buf is full, the budget stopped,
 * or the arguments cannot be written in a program. */
PTC_MUST_USE bool ptc_hint_call(PtcHeap *heap, PtcBuf *buf, const char *name, size_t name_len,
                                PtcValue args);

/* Appends the whole sentence as a JSON string.  Arguments that are too long to repeat, or cannot be written in a
 * program, are left out. */
PTC_MUST_USE bool ptc_hint_write(PtcHeap *heap, PtcBuf *buf, const char *name, size_t name_len,
                                 PtcValue args);

#endif
