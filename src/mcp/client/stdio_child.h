/* SPDX-License-Identifier: MIT
 * stdio_child.h - a stdio server as a process under its leash: started, and left to end by itself. */
#ifndef PTC_MCP_CLIENT_STDIO_CHILD_H
#define PTC_MCP_CLIENT_STDIO_CHILD_H

#include <sys/types.h>

#include "mcp/client/link.h"

/* From closing its standard input to SIGTERM, and from there to SIGKILL. */
enum { PTC_STDIO_GRACE_MS = 500 };

/* Our ends; none of them blocks.  -1: closed. */
typedef struct PtcStdioChild {
    int in, out, err;
    int control; /* readable when the leash, and all of the server with it, is gone; closing it ends the server */
    pid_t pid; /* of the leash */
} PtcStdioChild;

/* False with the reason, as a clause.  That the program itself cannot be started shows later: by its exit. */
PTC_MUST_USE bool ptc_stdio_child_start(PtcStdioChild *child, PtcMem *mem,
                                        const PtcLinkConfig *config, PtcBuf *why);
/* Closes the pipes and lets it end; the loop reaps it. */
void ptc_stdio_child_leave(PtcStdioChild *child, PtcMem *mem, PtcLoop *loop);
/* The control socket says that the leash has ended: reaps it.  Its exit status as of a shell; -1: not known. */
int ptc_stdio_child_reap(PtcStdioChild *child);

#endif
