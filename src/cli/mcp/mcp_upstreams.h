/* SPDX-License-Identifier: MIT
 * mcp_upstreams.h - what `ptc mcp` tells its app and its HTTP server of upstreams. */
#ifndef PTC_CLI_MCP_MCP_UPSTREAMS_H
#define PTC_CLI_MCP_MCP_UPSTREAMS_H

#include "cli/upstreams/upstreams_open.h"
#include "mcp/app/app.h"

/* Sets what the app must know of them; `about` describes them for models, and lives as long as the upstreams.
 * `one_client`: all calls come from one client at this machine, whose directories upstreams may be told. */
void ptc_mcp_upstreams_tell(PtcUpstreams *upstreams, const char *about, bool one_client,
                            PtcAppConfig *config);
/* PtcHttpConfig.metrics, with the upstreams as its user. */
void ptc_mcp_upstreams_metrics(void *upstreams, PtcBuf *out);

enum { PTC_MCP_ABOUT_BYTES = 4096 };

/* Tells the clients of an app of upstreams that become known, once.  It stays where it is until unfollow, which comes
 * before the end of both. */
typedef struct PtcMcpFollow {
    PtcUpstreams *upstreams;
    PtcApp *app;
} PtcMcpFollow;
void ptc_mcp_upstreams_follow(PtcMcpFollow *follow, PtcUpstreams *upstreams, PtcApp *app);
void ptc_mcp_upstreams_unfollow(PtcMcpFollow *follow);

#endif
