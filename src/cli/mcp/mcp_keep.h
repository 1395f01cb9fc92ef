/* SPDX-License-Identifier: MIT
 * mcp_keep.h - sessions of the protocol as records of a store, so that clients using versions before 2026 can
 * continue after a restart of `ptc mcp --http`. */
#ifndef PTC_CLI_MCP_MCP_KEEP_H
#define PTC_CLI_MCP_MCP_KEEP_H

#include "mcp/http/http_session.h"
#include "store/store.h"

typedef struct PtcMcpKeep {
    PtcHttpKeep keep; /* for PtcHttpConfig */
    PtcStore *store;
    size_t max, max_of_owner;
} PtcMcpKeep;

/* The store is borrowed.  At most `max` sessions, of which one owner may have the given percentage. */
void ptc_mcp_keep_init(PtcMcpKeep *keep, PtcStore *store, size_t max, unsigned owner_share);

#endif
