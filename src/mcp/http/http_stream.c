/* SPDX-License-Identifier: MIT
 * http_stream.c - server-sent events on a socket.  What always holds: adding an event never waits, and once a stream
 * is broken nothing more is written to it. */
#include "mcp/http/http_stream.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/budget.h"

static const char RESPONSE_HEAD[] = "HTTP/1.1 200 OK\r\n"
                                    "Content-Type: text/event-stream\r\n"
                                    "Cache-Control: no-cache, no-transform\r\n"
                                    "X-Accel-Buffering: no\r\n"
                                    "Connection: close\r\n";

void ptc_http_stream_init(PtcHttpStream *stream, PtcMem *mem, int fd)
{
    *stream = (PtcHttpStream){.fd = fd};
    pthread_mutex_init(&stream->lock, NULL);
    ptc_buf_init(&stream->pending, mem, PTC_UNBOUNDED); /* bounded by the ledger */
}

void ptc_http_stream_deinit(PtcHttpStream *stream)
{
    ptc_buf_deinit(&stream->pending);
    pthread_mutex_destroy(&stream->lock);
}

/* ----------------------------------------------------- with the lock held ---- */

static void forget_pending_events(PtcHttpStream *stream)
{
    ptc_buf_clear(&stream->pending);
    stream->at = 0;
}

static size_t backlog(const PtcHttpStream *stream)
{
    return stream->pending.len - stream->at;
}

static bool give_stream_up(PtcHttpStream *stream)
{
    stream->broken = true;
    forget_pending_events(stream);
    return false;
}

/* How many of these bytes the socket takes without waiting; 0 if it is full, -1 if it is broken. */
static ssize_t write_to_stream(PtcHttpStream *stream, const char *bytes, size_t len)
{
    if (stream->fd < 0)
        return (ssize_t)len;
    ssize_t n = send(stream->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0)
        return n;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
}

/* Sends as much of `pending` as possible without waiting. */
static bool flush_stream(PtcHttpStream *stream)
{
    size_t before = backlog(stream);
    ssize_t n = 1;
    while (n > 0 && backlog(stream) > 0) {
        n = write_to_stream(stream, stream->pending.data + stream->at, backlog(stream));
        if (n < 0)
            return give_stream_up(stream);
        stream->at += (size_t)n;
    }
    if (before > backlog(stream)) {
        stream->sent += before - backlog(stream);
        stream->sent_ns = ptc_clock_ns(NULL);
    }
    if (backlog(stream) == 0)
        forget_pending_events(stream);
    return true;
}

static void add_head(PtcHttpStream *stream)
{
    PtcBuf *out = &stream->pending;
    if (!stream->begun) {
        ptc_buf_add_cstr(out, RESPONSE_HEAD);
        if (stream->origin.bytes)
            ptc_buf_addf(out, "Access-Control-Allow-Origin: %.*s\r\nVary: Origin\r\n",
                         PTC_ARG(stream->origin));
        ptc_buf_add_cstr(out, "\r\n");
    }
    stream->begun = true;
}

static bool add_event(PtcHttpStream *stream, const char *json, size_t len)
{
    static const char front[] = "event: message\ndata: ", back[] = "\n\n";
    PtcBuf *pending = &stream->pending;
    add_head(stream);
    if (json) {
        ptc_buf_add(pending, front, sizeof front - 1);
        ptc_buf_add(pending, json, len);
        ptc_buf_add(pending, back, sizeof back - 1);
    }
    return ptc_buf_ok(pending) || give_stream_up(stream);
}

/* Nothing waits before it.  Without memory there is none this time, and no half of a head either. */
static void add_comment(PtcHttpStream *stream)
{
    bool begun = stream->begun;
    add_head(stream);
    if (ptc_buf_add_cstr(&stream->pending, ":\n\n"))
        return;
    forget_pending_events(stream);
    stream->begun = begun;
}

/* ------------------------------------------------------------------------- */

/* A client too far behind is given up, because what it has not read is kept in memory. */
static bool add_and_flush(PtcHttpStream *stream, const char *json, size_t len)
{
    pthread_mutex_lock(&stream->lock);
    bool ok = !stream->broken && add_event(stream, json, len) && flush_stream(stream);
    if (ok && backlog(stream) > PTC_HTTP_STREAM_BACKLOG)
        ok = give_stream_up(stream);
    pthread_mutex_unlock(&stream->lock);
    return ok;
}

void ptc_http_stream_arm(PtcHttpStream *stream, int64_t now_ns)
{
    pthread_mutex_lock(&stream->lock);
    stream->armed = true;
    stream->sent_ns = now_ns;
    pthread_mutex_unlock(&stream->lock);
}

bool ptc_http_stream_disarm(PtcHttpStream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->armed = false;
    bool begun = stream->begun;
    pthread_mutex_unlock(&stream->lock);
    return begun;
}

bool ptc_http_stream_begin(PtcHttpStream *stream)
{
    return add_and_flush(stream, NULL, 0);
}

bool ptc_http_stream_send(void *stream, const char *json, size_t len)
{
    return add_and_flush(stream, json, len);
}

/* A comment keeps proxies from closing a silent connection. */
void ptc_http_stream_tick(PtcHttpStream *stream, int64_t now_ns)
{
    pthread_mutex_lock(&stream->lock);
    bool silent = now_ns - stream->sent_ns >= PTC_HTTP_KEEP_ALIVE_S * PTC_S && !backlog(stream);
    if (silent && !stream->broken && (stream->begun || stream->armed))
        add_comment(stream);
    if (!stream->broken)
        flush_stream(stream);
    pthread_mutex_unlock(&stream->lock);
}

bool ptc_http_stream_is_open(PtcHttpStream *stream)
{
    pthread_mutex_lock(&stream->lock);
    bool open = stream->begun && !stream->broken;
    pthread_mutex_unlock(&stream->lock);
    return open;
}

bool ptc_http_stream_is_behind(PtcHttpStream *stream)
{
    pthread_mutex_lock(&stream->lock);
    bool behind = backlog(stream) > 0 && !stream->broken;
    pthread_mutex_unlock(&stream->lock);
    return behind;
}

/* Waits until the socket takes more; false if the time is up or the client is gone. */
static bool wait_socket_writable(int fd, int64_t until_ns)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int64_t left_ms = (until_ns - ptc_clock_ns(NULL)) / PTC_MS;
    int n = left_ms > 0 ? poll(&p, 1, (int)left_ms) : 0;
    return (n > 0 && !(p.revents & (POLLERR | POLLHUP))) || (n < 0 && errno == EINTR);
}

/* The only place that waits, on the connection's own thread. */
void ptc_http_stream_finish(PtcHttpStream *stream, const char *json, size_t len)
{
    int64_t until = ptc_clock_ns(NULL) + PTC_HTTP_STREAM_WAIT_S * PTC_S;
    pthread_mutex_lock(&stream->lock);
    bool go_on = !stream->broken && add_event(stream, json, len) && flush_stream(stream);
    pthread_mutex_unlock(&stream->lock);
    while (go_on && ptc_http_stream_is_behind(stream)) {
        go_on = wait_socket_writable(stream->fd, until);
        pthread_mutex_lock(&stream->lock);
        go_on = go_on && !stream->broken && flush_stream(stream);
        pthread_mutex_unlock(&stream->lock);
    }
}
