/* SPDX-License-Identifier: MIT
 * zygote.h - what the server and the helper say to each other over the control socket: one packet each way. */
#ifndef PTC_EXEC_ZYGOTE_H
#define PTC_EXEC_ZYGOTE_H

#include "exec/frame.h"
#include "exec/worker.h"

#define PTC_ZYGOTE_ARGUMENT "--ptc-zygote"

enum {
    PTC_ZYGOTE_PACKET = 64 * PTC_KB,
    /* for a description of data or of a tool, and for a piece of source */
    PTC_ZYGOTE_DESCRIBE = 32 * PTC_KB,
    PTC_ZYGOTE_SOURCE_MAX = PTC_MB, /* for all pieces together */
};

/* The first number of a packet.  Every answer begins with a number, 1 for success; then comes an error text, or what
 * was asked for. */
typedef enum {
    PTC_ZYGOTE_DATA = 1, /* name, path */
    PTC_ZYGOTE_SOURCE,   /* a piece of the source of the tool announced next */
    PTC_ZYGOTE_TOOL,     /* a PtcWorkerTool */
    PTC_ZYGOTE_LOCK,     /* inspectable, PtcLimits */
    PTC_ZYGOTE_FORK,     /* with the worker's end of a socket; the answer carries a pidfd */
} PtcZygoteOp;

/* Sends a packet, with a descriptor unless fd is -1. */
PTC_MUST_USE bool ptc_zygote_send(int to, const void *bytes, size_t len, int fd);
/* Receives a packet; *fd is -1 when no descriptor came with it.  Returns the length, -1 on error, 0 at the end. */
ssize_t ptc_zygote_receive(int from, void *bytes, size_t size, int *fd);

#endif
