/* SPDX-License-Identifier: MIT
 * results.h - results that were too large for their answer, kept as records of a store for a while, so that they can
 * be paged through any server that has the store.  Bounded in number and bytes, of an owner and of all: the oldest
 * of an owner go first.  Any thread. */
#ifndef PTC_MCP_APP_RESULTS_H
#define PTC_MCP_APP_RESULTS_H

#include "store/store.h"

typedef struct PtcResults {
    PtcStore *store; /* borrowed */
    PtcMem *mem;
    PtcStoreBounds bounds;
} PtcResults;

typedef enum {
    PTC_RESULT_TEXT,
    PTC_RESULT_JSON,
    PTC_RESULT_PRINTS,
    PTC_RESULT_PARTS
} PtcResultPart;
enum { PTC_RESULT_HANDLE = 40 };

/* Keeps copies of the parts.  False: they are larger than the whole room there is, or the store does not take them. */
PTC_MUST_USE bool ptc_results_keep(const PtcResults *results, const char *owner,
                                   const PtcText parts[PTC_RESULT_PARTS],
                                   char handle[PTC_RESULT_HANDLE]);

typedef struct PtcResultPage {
    size_t total;  /* bytes of the part */
    size_t offset; /* where the page begins, at the start of a character */
    size_t next;   /* where the next one begins; the total at the end */
} PtcResultPage;

typedef enum {
    PTC_RESULTS_OK,
    PTC_RESULTS_UNKNOWN, /* this owner has none of that handle, or no longer */
    PTC_RESULTS_ABSENT,  /* it has no such part */
    PTC_RESULTS_BEYOND,  /* offset is past its end */
    PTC_RESULTS_NO_MEMORY,
    PTC_RESULTS_FAILED, /* the store cannot be read */
} PtcResultsStatus;

/* Appends at most `limit` bytes from `offset` on, in whole characters. */
PtcResultsStatus ptc_results_page(const PtcResults *results, const char *owner, PtcText handle,
                                  PtcResultPart part, size_t offset, size_t limit, PtcBuf *out,
                                  PtcResultPage *page);

#endif
