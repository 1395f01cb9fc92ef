/* SPDX-License-Identifier: MIT
 * quoted.h - text of others and arguments of calls, as a person reads them before saying yes: between quotes that the
 * text cannot end, with everything that is not seen made visible, and with what is left out told. */
#ifndef PTC_UPSTREAM_CATALOG_QUOTED_H
#define PTC_UPSTREAM_CATALOG_QUOTED_H

#include "base/buf.h"
#include "value/heap.h"

enum { PTC_QUOTED_BYTES = 4000 }; /* of one value */

/* Appends the text; of one with more than `most` bytes the beginning and the end, and between these, outside of the
 * quotes, how much is left out. */
void ptc_quoted_add(PtcBuf *out, PtcText text, size_t most);

/* Appends a value that came from JSON, in at most PTC_QUOTED_BYTES: every key, and of long texts and lists the
 * beginning and the end.  False: not even its keys fit, or out of memory; nothing is appended then. */
PTC_MUST_USE bool ptc_quoted_add_value(PtcBuf *out, PtcHeap *heap, PtcValue v);

#endif
