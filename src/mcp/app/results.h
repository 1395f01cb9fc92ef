/* SPDX-License-Identifier: MIT
 * results.h - results that were too large for their answer, kept for a while so that they can be paged through.
 * Bounded in number and bytes: the oldest go first, of the owner who has the most.  Any thread. */
#ifndef PTC_MCP_APP_RESULTS_H
#define PTC_MCP_APP_RESULTS_H

#include "base/buf.h"

typedef struct PtcResults PtcResults;

typedef enum {
    PTC_RESULT_TEXT,
    PTC_RESULT_JSON,
    PTC_RESULT_PRINTS,
    PTC_RESULT_PARTS
} PtcResultPart;
enum { PTC_RESULT_HANDLE = 40 };

PTC_MUST_USE PtcResults *ptc_results_new(size_t max_count, size_t max_bytes);
void ptc_results_free(PtcResults *results);

/* Keeps copies of the parts.  False: they are larger than the whole room there is, or out of memory. */
PTC_MUST_USE bool ptc_results_keep(PtcResults *results, const char *owner,
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
} PtcResultsStatus;

/* Appends at most `limit` bytes from `offset` on, in whole characters. */
PtcResultsStatus ptc_results_page(PtcResults *results, const char *owner, PtcText handle,
                                  PtcResultPart part, size_t offset, size_t limit, PtcBuf *out,
                                  PtcResultPage *page);

#endif
