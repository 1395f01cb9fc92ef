/* SPDX-License-Identifier: MIT
 * http_stream.h - a stream of server-sent events, written straight to a connection's socket.
 *
 * Events may come from any thread and under other people's locks, so adding one never waits: what the socket does
 * not take at once is kept, and goes out with later events or ptc_http_stream_tick.  Only the end waits, on the
 * thread of the connection.  The stream ends with the connection (no Content-Length). */
#ifndef PTC_MCP_HTTP_HTTP_STREAM_H
#define PTC_MCP_HTTP_HTTP_STREAM_H

#include <pthread.h>

#include "base/buf.h"
#include "mcp/http/http_head.h"

enum {
    PTC_HTTP_KEEP_ALIVE_S = 15,       /* a stream is never silent for longer */
    PTC_HTTP_STREAM_WAIT_S = 120,     /* how long the end waits for a client that reads slowly */
    PTC_HTTP_STREAM_BACKLOG = PTC_MB, /* a client further behind is given up */
};

typedef struct PtcHttpStream {
    /* It guards what is to be sent and how far that is.  The thread of the call writes under it, without blocking,
     * and the thread of the server's tick; no other lock is taken inside. */
    pthread_mutex_t lock;
    int fd;         /* the connection's; -1: writes go nowhere (tests) */
    PtcBuf pending; /* to be sent; the socket has taken what lies before `at` */
    size_t at;
    bool armed;     /* it may begin with a comment if the answer takes long */
    bool begun;     /* the head of the response was written */
    bool broken;    /* the client is gone or too slow: nothing more is written */
    PtcText origin; /* a page of this origin may read it; absent: no page may */
    size_t sent;    /* bytes so far */
    int64_t sent_ns;
} PtcHttpStream;

void ptc_http_stream_init(PtcHttpStream *stream, PtcMem *mem, int fd);
void ptc_http_stream_deinit(PtcHttpStream *stream);

/* A call runs: a long silence begins the stream, so that nothing on the way takes the connection for dead. */
void ptc_http_stream_arm(PtcHttpStream *stream, int64_t now_ns);
/* The call has ended; returns whether the stream has begun.  If not, it no longer will by itself. */
bool ptc_http_stream_disarm(PtcHttpStream *stream);

/* Writes the head of the response, unless that was done already. */
bool ptc_http_stream_begin(PtcHttpStream *stream);
/* Sends one message as an event, after the response's head if it is the first.  False: the client is gone.  Has the
 * form of PtcMcpSink.send. */
bool ptc_http_stream_send(void *stream, const char *json, size_t len);
/* Gives the socket what it takes now; adds a comment if nothing was sent for PTC_HTTP_KEEP_ALIVE_S. */
void ptc_http_stream_tick(PtcHttpStream *stream, int64_t now_ns);
bool ptc_http_stream_is_open(PtcHttpStream *stream); /* begun and not broken */
bool ptc_http_stream_is_behind(PtcHttpStream *stream);
/* Sends the last message (NULL: none), then waits until the socket has taken everything. */
void ptc_http_stream_finish(PtcHttpStream *stream, const char *json, size_t len);

#endif
