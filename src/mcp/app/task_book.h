/* SPDX-License-Identifier: MIT
 * task_book.h - the book of tasks (PtcMcpBook) as records of a store, so that all servers on the store know them. */
#ifndef PTC_MCP_APP_TASK_BOOK_H
#define PTC_MCP_APP_TASK_BOOK_H

#include "mcp/server/mcp.h"
#include "store/store.h"

typedef struct PtcTaskBook {
    PtcMcpBook book; /* for PtcMcpConfig */
    PtcStore *store;
    unsigned share; /* percentage of its bounds that one owner may have */
} PtcTaskBook;

/* On a store that outlives it; nothing is to be freed. */
void ptc_task_book_init(PtcTaskBook *book, PtcStore *store, unsigned share);

#endif
