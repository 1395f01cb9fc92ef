/* SPDX-License-Identifier: MIT
 * trace_parent.h - `traceparent` of W3C Trace Context: whoever asked us sends one in `_meta`, and what we ask others on
 * its behalf belongs to the same trace. */
#ifndef PTC_UPSTREAM_CONNECT_TRACE_PARENT_H
#define PTC_UPSTREAM_CONNECT_TRACE_PARENT_H

#include "base/buf.h"

enum { PTC_TRACE_PARENT = 56 }; /* with its NUL */

/* "" when it is none of version 00, or one that cannot be right. */
void ptc_trace_parent_read(PtcText text, char out[PTC_TRACE_PARENT]);
/* The member "_meta" with the same trace and a new id for this call; nothing for "". */
void ptc_trace_parent_put(PtcBuf *params, const char parent[PTC_TRACE_PARENT]);

#endif
