/* SPDX-License-Identifier: MIT
 * blot_blocks.h - the result of a `tools/call` without secrets that are split over its text blocks. */
#ifndef PTC_UPSTREAM_RUN_BLOT_BLOCKS_H
#define PTC_UPSTREAM_RUN_BLOT_BLOCKS_H

#include "trace/redact.h"
#include "value/heap.h"

/* The result, a map, with [secret] where one begins in one block and nothing of it in the next ones; secrets inside of
 * one block are left to blot_json.h.  PTC_NONE: out of memory. */
PTC_MUST_USE PtcValue ptc_blot_blocks(const PtcSecrets *secrets, PtcHeap *heap, PtcValue result);

#endif
