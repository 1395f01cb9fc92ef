/* SPDX-License-Identifier: MIT
 * leash.h - how a leash is started; link.h says what main() has to do. */
#ifndef PTC_MCP_CLIENT_LEASH_H
#define PTC_MCP_CLIENT_LEASH_H

#include "mcp/client/link.h"

#define PTC_LEASH_ARGUMENT "--ptc-leash"

enum {
    PTC_LEASH_CONTROL = 3, /* its descriptor for the control socket */
    PTC_LEASH_GRACE_MS =
        500, /* from closing standard input to SIGTERM, and from there to SIGKILL */
};

#endif
