/* SPDX-License-Identifier: MIT
 * http_log.h - one line per request, collected and written in blocks, so that a line costs no system call.  No line
 * contains anything of a body, a token or a session id. */
#ifndef PTC_MCP_HTTP_HTTP_LOG_H
#define PTC_MCP_HTTP_HTTP_LOG_H

#include <pthread.h>
#include <stdint.h>

#include "base/buf.h"
#include "mcp/http/http_head.h"

enum { PTC_HTTP_LOG_BYTES = 64 * PTC_KB };

typedef struct PtcHttpLog {
    /* It guards `lines`, and is held while they are written, so that lines stay whole.  Threads of connections
     * take it at the end of a request; no other lock is taken inside. */
    pthread_mutex_t lock;
    PtcBuf lines;
    int fd;    /* -1: no log */
    bool json; /* lines are JSON objects */
} PtcHttpLog;

typedef struct PtcHttpLogLine {
    const char *address, *owner, *verb, *path;
    PtcText method;             /* of MCP; may be empty */
    const char *tool, *failure; /* what was called and why it failed ("": it did not); or NULL */
    int status;                 /* 0: the connection was closed without an answer */
    int64_t took_ns;
    size_t in, out;
} PtcHttpLogLine;

void ptc_http_log_init(PtcHttpLog *log, PtcMem *mem, int fd);
void ptc_http_log_deinit(PtcHttpLog *log); /* writes what is left */

void ptc_http_log_add(PtcHttpLog *log, const PtcHttpLogLine *line);
/* A message of the server itself. */
void ptc_http_log_say(PtcHttpLog *log, const char *format, ...) PTC_PRINTF(2, 3);
/* Writes what was collected. */
void ptc_http_log_flush(PtcHttpLog *log);

#endif
