/* SPDX-License-Identifier: MIT
 * quotas.h - what an owner may have at once and in a minute (--owner-calls, --owner-rate), of all servers with one
 * store together.
 *
 * Calls at once are numbers that each server has beside a key of the store (ptc_store_hold), which end ten seconds
 * after it was last heard of.  Calls of a minute are a bucket in a record: full at first, filled evenly, and a server
 * takes up to a tenth of a second's worth in advance.  While the store cannot be used, and without one that others
 * have too, a server counts for itself: its part of the servers that it has seen last. */
#ifndef PTC_MCP_APP_QUOTAS_H
#define PTC_MCP_APP_QUOTAS_H

#include "mcp/server/mcp.h"
#include "store/store.h"

typedef struct PtcMcpQuotas PtcMcpQuotas;

/* 0: no bound.  The store is borrowed.  NULL: out of memory. */
PTC_MUST_USE PtcMcpQuotas *ptc_mcp_quotas_new(PtcStore *store, int64_t calls, int64_t rate);
/* No call may be under way. */
void ptc_mcp_quotas_free(PtcMcpQuotas *quotas); /* NULL is fine */
const PtcMcpQuota *ptc_mcp_quotas_of(PtcMcpQuotas *quotas);

#endif
