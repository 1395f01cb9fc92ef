/* SPDX-License-Identifier: MIT
 * task_book.h - the book of tasks (PtcMcpBook) as records of a store, so that all servers on the store know them. */
#ifndef PTC_MCP_APP_TASK_BOOK_H
#define PTC_MCP_APP_TASK_BOOK_H

#include "mcp/server/mcp.h"
#include "store/store.h"

typedef struct PtcTaskBook {
    PtcMcpBook book; /* for PtcMcpConfig */
    PtcStore *store;
    PtcStore *own;  /* in memory, when none was given; NULL: one was */
    unsigned share; /* percentage of its bounds that one owner may have */
    /* It guards the rest, for a moment each. */
    pthread_mutex_t lock;
    int64_t sweep_ms; /* when forgotten tasks are looked for again */
} PtcTaskBook;

/* On a store that outlives it, or (NULL) in memory.  False, and why. */
PTC_MUST_USE bool ptc_task_book_init(PtcTaskBook *book, PtcStore *store, unsigned share,
                                     PtcWhy *why);
void ptc_task_book_deinit(PtcTaskBook *book);

#endif
