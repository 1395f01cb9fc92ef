/* SPDX-License-Identifier: MIT
 * Reads lines from a descriptor.  What always holds: next <= scanned <= buf.len, with no line feed between next and
 * scanned; the buffer never holds more than the longest line and two chunks. */
#include "net/lines.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum {
    LINES_CHUNK = 64 * PTC_KB, /* how much is read at once */
    LINES_KEPT =
        16 * PTC_MB, /* a larger buffer is freed once empty; below that, growing again costs more */
};

void ptc_lines_init(PtcLines *lines, PtcMem *mem, int fd, size_t max)
{
    *lines = (PtcLines){.fd = fd, .stop = -1, .max = max};
    ptc_buf_init(&lines->buf, mem, max + 2 * LINES_CHUNK);
}

void ptc_lines_deinit(PtcLines *lines)
{
    ptc_buf_deinit(&lines->buf);
}

/* ----------------------------------------------------------------------------- reading */

/* Waits until there is something to read; false: it failed, or (with *stopped) was asked to stop. */
static bool wait_readable(const PtcLines *lines, bool *stopped)
{
    struct pollfd p[2] = {{.fd = lines->fd, .events = POLLIN},
                          {.fd = lines->stop, .events = POLLIN}};
    int n;
    do
        n = poll(p, 2, -1);
    while (n < 0 && errno == EINTR);
    *stopped = n > 0 && p[1].revents;
    return n > 0 && !*stopped;
}

/* Reads once, at the end of the buffer, which has room for a chunk.  Returns the bytes read; 0 at the end; -1 on
 * failure. */
static ssize_t read_chunk(PtcLines *lines, bool *stopped)
{
    PtcBuf *buf = &lines->buf;
    for (;;) {
        if (lines->stop >= 0 && !wait_readable(lines, stopped))
            return *stopped ? 0 : -1;
        ssize_t n = read(lines->fd, buf->data + buf->len, LINES_CHUNK);
        if (n >= 0 || (errno != EINTR && errno != EAGAIN))
            return n;
        if (errno == EAGAIN && lines->stop < 0 && !wait_readable(lines, stopped))
            return -1;
    }
}

/* Drops what was handed out and reads more.  False: reading failed, or out of memory. */
static bool read_more_lines(PtcLines *lines)
{
    PtcBuf *buf = &lines->buf;
    bool stopped = false;
    size_t rest = buf->len - lines->next;
    if (rest > 0 && lines->next > 0)
        memmove(buf->data, buf->data + lines->next, rest);
    buf->len = rest;
    lines->scanned -= lines->next;
    lines->next = 0;
    if (rest == 0 && buf->cap > LINES_KEPT)
        ptc_buf_deinit(buf);
    if (!ptc_buf_reserve(buf, LINES_CHUNK)) {
        errno = ENOMEM;
        return false;
    }
    ssize_t n = read_chunk(lines, &stopped);
    lines->ended = n == 0;
    if (stopped) {
        lines->next = lines->scanned = buf->len;
        lines->skipping = false;
    }
    buf->len += n > 0 ? (size_t)n : 0;
    return n >= 0;
}

/* ------------------------------------------------------------------------------- lines */

/* Hands out the bytes from next up to `end`, and continues at `after`. */
static PtcLineStatus take_line_up_to(PtcLines *lines, size_t end, size_t after, PtcText *line)
{
    bool skipped = lines->skipping || end - lines->next > lines->max;
    *line =
        skipped ? (PtcText){NULL, 0} : (PtcText){lines->buf.data + lines->next, end - lines->next};
    lines->next = lines->scanned = after;
    lines->skipping = false;
    return skipped ? PTC_LINE_TOO_LONG : PTC_LINE_OK;
}

/* Only bytes that were not scanned before are searched, so a long line costs linear time. */
PtcLineStatus ptc_lines_next(PtcLines *lines, PtcText *line)
{
    PtcBuf *buf = &lines->buf;
    *line = (PtcText){NULL, 0};
    for (;;) {
        size_t unseen = buf->len - lines->scanned;
        char *lf = unseen ? memchr(buf->data + lines->scanned, '\n', unseen) : NULL;
        if (lf)
            return take_line_up_to(lines, (size_t)(lf - buf->data), (size_t)(lf - buf->data) + 1,
                                   line);
        lines->scanned = buf->len;
        if (lines->ended)
            break;
        lines->skipping |= buf->len - lines->next > lines->max;
        if (lines->skipping)
            lines->next = buf->len;
        if (!read_more_lines(lines))
            return PTC_LINE_FAILED;
    }
    if (!ptc_lines_pending(lines) && !lines->skipping)
        return PTC_LINE_END;
    return take_line_up_to(lines, buf->len, buf->len, line);
}

bool ptc_line_is_blank(PtcText line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.bytes[i] != ' ' && line.bytes[i] != '\t' && line.bytes[i] != '\r')
            return false;
    return true;
}
