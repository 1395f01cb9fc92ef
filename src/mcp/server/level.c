/* SPDX-License-Identifier: MIT
 * The levels of log messages, by the names the protocol gives them. */
#include "mcp/server/mcp_int.h"

static const char *const level_names[] = {"debug", "info",     "notice", "warning",
                                          "error", "critical", "alert",  "emergency"};

bool ptc_mcp_level_of(PtcValue v, PtcMcpLevel *level)
{
    for (int i = 0; i < PTC_MCP_NO_LOG; i++)
        if (ptc_text_is(ptc_str_text(v), level_names[i])) {
            *level = (PtcMcpLevel)i;
            return true;
        }
    return false;
}

const char *ptc_mcp_level_name(PtcMcpLevel level)
{
    return level_names[level];
}
