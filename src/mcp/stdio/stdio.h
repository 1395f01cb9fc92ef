/* SPDX-License-Identifier: MIT
 * stdio.h - MCP over two file descriptors: one message per line. */
#ifndef PTC_MCP_STDIO_STDIO_H
#define PTC_MCP_STDIO_STDIO_H

#include "mcp/server/transport.h"

typedef struct PtcMcpStdio {
    int in, out;      /* not closed by ptc_mcp_stdio_serve */
    int64_t write_ms; /* a client that reads nothing for this long is given up [10 s] */
    int64_t grace_ms; /* after the input ended, calls get so long to be answered before they are
                         cancelled [100 ms], so that `echo ... | server` says something */
} PtcMcpStdio;

/* Keeps the real standard input and output for MCP.  Descriptor 1 is pointed at standard error, so that a stray
 * print breaks nothing, and 0 at /dev/null; SIGPIPE is ignored.  The caller closes both at the end.  False with
 * errno set if the system refuses. */
PTC_MUST_USE bool ptc_mcp_stdio_open(PtcMcpStdio *io);

/* Serves until the input ends, the client stops reading, or ptc_mcp_stop.  Calls under way are then cancelled and
 * their threads joined.  Returns 0 when the input ended, else an errno that says what broke (EPIPE, ETIMEDOUT,
 * ENOMEM ...). */
PTC_MUST_USE int ptc_mcp_stdio_serve(PtcMcp *mcp, const PtcMcpStdio *io);

#endif
