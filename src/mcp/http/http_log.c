/* SPDX-License-Identifier: MIT
 * http_log.c - the request log.  What always holds: logging never waits for whoever reads the log; lines that cannot
 * be written are dropped. */
#include "mcp/http/http_log.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/text/one_line.h"
#include "json/emit.h"
#include "value/calendar.h"

enum {
    WORD_MAX = 80, /* for what a client chose: method, path */
    SAID_MAX = 400,
    HTTP_LOG_CHUNK = 4096, /* PIPE_BUF: a writable pipe takes this much */
};

void ptc_http_log_init(PtcHttpLog *log, PtcMem *mem, int fd)
{
    *log = (PtcHttpLog){.fd = fd};
    ptc_buf_init(&log->lines, mem, PTC_HTTP_LOG_BYTES);
    pthread_mutex_init(&log->lock, NULL);
}

/* Would a write of CHUNK bytes go through without waiting?  The reader of a pipe may have stopped reading, and that
 * must not stop the server. */
static bool takes_chunk(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return poll(&p, 1, 0) > 0 && (p.revents & POLLOUT);
}

/* As many whole lines as make a chunk: what follows them may have to be dropped. */
static size_t log_chunk_of(const char *lines, size_t len)
{
    size_t n = len < HTTP_LOG_CHUNK ? len : HTTP_LOG_CHUNK;
    while (n > 0 && lines[n - 1] != '\n')
        n--;
    return n ? n : len < HTTP_LOG_CHUNK ? len : HTTP_LOG_CHUNK;
}

/* Lines that cannot be written are dropped. */
static void write_log_lines(PtcHttpLog *log)
{
    size_t at = 0;
    while (log->fd >= 0 && at < log->lines.len && takes_chunk(log->fd)) {
        const char *rest = log->lines.data + at;
        ssize_t n = write(log->fd, rest, log_chunk_of(rest, log->lines.len - at));
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    ptc_buf_clear(&log->lines);
}

void ptc_http_log_flush(PtcHttpLog *log)
{
    pthread_mutex_lock(&log->lock);
    write_log_lines(log);
    pthread_mutex_unlock(&log->lock);
}

void ptc_http_log_deinit(PtcHttpLog *log)
{
    ptc_http_log_flush(log);
    ptc_buf_deinit(&log->lines);
    pthread_mutex_destroy(&log->lock);
}

static void add_log_time(PtcBuf *out)
{
    char stamp[PTC_CALENDAR_TEXT];
    ptc_buf_add(out, stamp, ptc_iso_stamp(stamp, ptc_clock_wall_ms()));
}

/* A word that a client chose: nothing in it may end the line or the word, or colour a terminal. */
static void add_word(PtcBuf *out, const char *text, size_t len)
{
    char word[WORD_MAX];
    size_t n = 0;
    for (; n < len && n < WORD_MAX; n++)
        word[n] = text[n] > ' ' && text[n] <= '~' ? text[n] : '?';
    ptc_buf_add_char(out, ' ');
    if (n == 0)
        ptc_buf_add_char(out, '-');
    else
        ptc_buf_add(out, word, n);
}

static void add_log_field(PtcBuf *out, const char *key, PtcText text)
{
    if (text.len)
        ptc_emit_field_text(out, key, text);
}

static void begin_log_json(PtcBuf *out)
{
    char stamp[PTC_CALENDAR_TEXT];
    ptc_iso_stamp(stamp, ptc_clock_wall_ms());
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "ts", stamp);
}

static void add_log_json(PtcBuf *out, const PtcHttpLogLine *line)
{
    begin_log_json(out);
    add_log_field(out, "address", ptc_text_cstr(line->address));
    add_log_field(out, "owner", ptc_text_cstr(line->owner));
    add_log_field(out, "verb", ptc_text_cstr(line->verb));
    add_log_field(out, "path", ptc_text_cstr(line->path));
    add_log_field(out, "method", line->method);
    add_log_field(out, "tool", ptc_text_cstr(line->tool));
    if (line->tool)
        ptc_emit_field_cstr(out, "outcome", *line->failure ? "error" : "ok");
    add_log_field(out, "reason", ptc_text_cstr(line->failure));
    ptc_emit_field_int(out, "status", line->status);
    ptc_emit_key(out, "duration_ms");
    ptc_buf_addf(out, "%" PRId64 ".%03d", line->took_ns / PTC_MS,
                 (int)(line->took_ns / 1000 % 1000));
    ptc_emit_field_uint(out, "bytes_in", line->in);
    ptc_emit_field_uint(out, "bytes_out", line->out);
    ptc_emit_object_end(out);
    ptc_buf_add_char(out, '\n');
}

static void add_log_line(PtcBuf *out, const PtcHttpLogLine *line)
{
    add_log_time(out);
    add_word(out, line->address, strlen(line->address));
    add_word(out, line->owner, strlen(line->owner));
    add_word(out, line->verb, strlen(line->verb));
    add_word(out, line->path, strlen(line->path));
    add_word(out, line->method.bytes, line->method.len);
    ptc_buf_addf(out, " %d %" PRId64 ".%03dms %zu %zu\n", line->status, line->took_ns / PTC_MS,
                 (int)(line->took_ns / 1000 % 1000), line->in, line->out);
}

/* Makes room for a line.  With the lock held. */
static void make_log_room(PtcHttpLog *log)
{
    enum { LINE_MAX_BYTES = 1024 };
    if (log->lines.len + LINE_MAX_BYTES > PTC_HTTP_LOG_BYTES || !ptc_buf_ok(&log->lines))
        write_log_lines(log);
}

void ptc_http_log_add(PtcHttpLog *log, const PtcHttpLogLine *line)
{
    if (log->fd < 0)
        return;
    pthread_mutex_lock(&log->lock);
    make_log_room(log);
    if (log->json)
        add_log_json(&log->lines, line);
    else
        add_log_line(&log->lines, line);
    pthread_mutex_unlock(&log->lock);
}

static void add_said(PtcBuf *out, const char *text, bool json)
{
    if (json) {
        begin_log_json(out);
        ptc_emit_field_cstr(out, "message", text);
        ptc_emit_object_end(out);
    } else {
        add_log_time(out);
        ptc_buf_add_char(out, ' ');
        ptc_one_line_add(out, ptc_text_cstr(text)); /* a file name, say, may contain anything */
    }
    ptc_buf_add_char(out, '\n');
}

/* Written at once: what the server itself says should not wait for the next requests. */
void ptc_http_log_say(PtcHttpLog *log, const char *format, ...)
{
    char text[SAID_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&log->lock);
    make_log_room(log);
    add_said(&log->lines, text, log->json);
    write_log_lines(log);
    pthread_mutex_unlock(&log->lock);
}
