/* SPDX-License-Identifier: MIT
 * chunks.h - a text in pieces, as data of an agent (docs/agents.md). */
#ifndef PTC_AGENT_RUN_CHUNKS_H
#define PTC_AGENT_RUN_CHUNKS_H

#include "base/text.h"
#include "base/why.h"
#include "value/heap.h"

enum { PTC_CHUNKS_MAX = 100000, PTC_CHUNKS_TOKEN = 4 /* characters */ };
#define PTC_CHUNKS_SIZE ((int64_t)1 << 42) /* the largest size and overlap */

typedef struct PtcChunks {
    bool lines;            /* pieces are counted in lines, else in characters */
    int64_t size, overlap; /* of a piece; of two that follow each other */
} PtcChunks;

/* Are the numbers such that every piece makes progress?  False with a reason. */
PTC_MUST_USE bool ptc_chunks_check(const PtcChunks *how, PtcWhy *why);
/* Sets `key` of a map to the list of pieces.  False with a reason. */
PTC_MUST_USE bool ptc_chunks_add(PtcHeap *heap, PtcValue *map, PtcText key, const PtcChunks *how,
                                 PtcText text, PtcWhy *why);

#endif
