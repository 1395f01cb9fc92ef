/* SPDX-License-Identifier: MIT
 * blot_json.h - JSON without secrets, which stays JSON. */
#ifndef PTC_UPSTREAM_RUN_BLOT_JSON_H
#define PTC_UPSTREAM_RUN_BLOT_JSON_H

#include "trace/redact.h"
#include "value/heap.h"

/* Appends JSON that was written by json/emit.h (an upstream's own text may hide a secret in escapes) with [secret] in
 * place of each secret: in strings and keys, and a number that has one in it becomes the string "[secret]". */
void ptc_blot_json(const PtcSecrets *secrets, PtcBuf *out, PtcText json);

/* Would that find a secret in the JSON of a value that was read from JSON?  The heap is for the work, wherever the
 * value is.  Out of memory: it may. */
bool ptc_blot_would_find(const PtcSecrets *secrets, PtcHeap *heap, PtcValue value);

#endif
