/* SPDX-License-Identifier: MIT
 * The server of the viewer.  What always holds: a connection reads one head, sends one answer and is closed; no call
 * blocks but poll; no more is read of a file than the answer announced. */
#define _GNU_SOURCE
#include "viewer/view_server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/text/hex.h"
#include "base/text/secret.h"
#include "mcp/http/http_bind.h"
#include "viewer/page_files.h"
#include "viewer/view_request.h"

enum { VIEW_CHUNK = 64 * PTC_KB, ANSWER_HEAD = 1536, VIEW_LIST_BYTES = 64 * PTC_MB };
enum { POLL_MS = 1000, PAUSE_MS = 100, COMPLAIN_MS = 10000 };

/* The page may load nothing but what we serve, may send nothing anywhere else, and no script can be written into it. */
#define POLICY                                                                       \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "  \
    "worker-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; " \
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types ptc-worker"

typedef struct {
    int fd;    /* -1: free */
    bool asks; /* the head is still arriving */
    int64_t last_ns;
    char head[PTC_VIEW_HEAD];
    size_t head_len;
    PtcBuf out; /* what goes out before the body: the head, or all of it */
    size_t out_sent;
    const char *body; /* constant bytes behind that; or NULL */
    size_t body_len, body_sent;
    int file; /* or a file, -1: none */
    uint64_t file_at, file_end;
} Connection;

struct PtcViewServer {
    PtcMem *mem;
    PtcViewFiles *files;
    PtcViewPlace place;
    int listener;
    int64_t accept_ns, complain_ns; /* not before: the next connection, the next line about that */
    Connection connections[PTC_VIEW_CONNECTIONS];
};

/* --------------------------------------------------------------------------- new and free */

static bool make_secret(char secret[PTC_VIEW_SECRET + 1])
{
    unsigned char bytes[PTC_VIEW_SECRET / 2];
    if (!ptc_random_bytes(bytes, sizeof bytes))
        return false;
    ptc_hex_write(secret, bytes, sizeof bytes);
    return true;
}

static bool open_server(PtcViewServer *s, unsigned port, PtcWhy *why)
{
    PtcHttpAddress address;
    char text[32];
    snprintf(text, sizeof text, "127.0.0.1:%u", port);
    if (!make_secret(s->place.secret) || !make_secret(s->place.door))
        return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "the system has no random numbers");
    char wrong[200];
    if (!ptc_http_address_parse(&address, text, wrong, sizeof wrong) ||
        (s->listener = ptc_http_listen(&address, wrong, sizeof wrong)) < 0)
        return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s", wrong);
    s->place.port = ptc_http_address_port(&address);
    return true;
}

PtcViewServer *ptc_view_server_new(PtcMem *mem, PtcViewFiles *files, unsigned port, PtcWhy *why)
{
    PtcViewServer *s = ptc_mem_alloc(mem, sizeof *s);
    ptc_why_no_memory(why);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    s->mem = mem;
    s->files = files;
    s->listener = -1;
    for (size_t i = 0; i < PTC_VIEW_CONNECTIONS; i++)
        s->connections[i].fd = s->connections[i].file = -1;
    if (open_server(s, port, why))
        return s;
    ptc_view_server_free(s);
    return NULL;
}

static void drop_connection(Connection *c)
{
    if (c->fd >= 0)
        close(c->fd);
    if (c->file >= 0)
        close(c->file);
    ptc_buf_deinit(&c->out);
    c->fd = c->file = -1;
}

void ptc_view_server_free(PtcViewServer *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < PTC_VIEW_CONNECTIONS; i++)
        if (s->connections[i].fd >= 0)
            drop_connection(&s->connections[i]);
    if (s->listener >= 0)
        close(s->listener);
    ptc_mem_free(s->mem, s, sizeof *s);
}

void ptc_view_server_address(const PtcViewServer *s, char address[PTC_VIEW_ADDRESS])
{
    snprintf(address, PTC_VIEW_ADDRESS, "http://127.0.0.1:%u/%s/", s->place.port, s->place.secret);
}

void ptc_view_server_door(const PtcViewServer *s, char address[PTC_VIEW_ADDRESS])
{
    snprintf(address, PTC_VIEW_ADDRESS, "http://127.0.0.1:%u/%s", s->place.port, s->place.door);
}

/* -------------------------------------------------------------------------------- answers */

typedef struct {
    const char *name, *type;
    const unsigned char *bytes;
    const size_t *len;
} FilePart;

#define HTML "text/html; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
static const FilePart parts[] = {
    {"", HTML, ptc_page_index, &ptc_page_index_len},
    {"style.css", "text/css; charset=utf-8", ptc_page_style, &ptc_page_style_len},
    {"app.js", SCRIPT, ptc_page_app, &ptc_page_app_len},
    {"rows.js", SCRIPT, ptc_page_rows, &ptc_page_rows_len},
    {"detail.js", SCRIPT, ptc_page_detail, &ptc_page_detail_len},
    {"text.js", SCRIPT, ptc_page_text, &ptc_page_text_len},
    {"worker.js", SCRIPT, ptc_page_worker, &ptc_page_worker_len},
};

static const char *status_name(int status)
{
    switch (status) {
    case 200: return "OK";
    case 303: return "See Other";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 505: return "HTTP Version Not Supported";
    default: return "Bad Request";
    }
}

/* The head of an answer whose body has `len` bytes; `more` are further fields. */
static void write_answer_head(Connection *c, int status, const char *type, uint64_t len,
                              const char *more)
{
    ptc_buf_addf(&c->out,
                 "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %llu\r\n"
                 "Connection: close\r\nCache-Control: no-store\r\n"
                 "Content-Security-Policy: " POLICY "\r\n"
                 "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                 "Cross-Origin-Opener-Policy: same-origin\r\n"
                 "Cross-Origin-Resource-Policy: same-origin\r\n%s\r\n",
                 status, status_name(status), type, (unsigned long long)len, more);
}

static void refuse_connection(Connection *c, int status, bool head)
{
    const char *text = status == 403 ? "This address is not for you.\n" : status_name(status);
    write_answer_head(c, status, "text/plain; charset=utf-8", strlen(text),
                      status == 405 ? "Allow: GET\r\n" : "");
    if (!head)
        ptc_buf_add_cstr(&c->out, text);
}

static void answer_part(Connection *c, const PtcViewRequest *r)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!ptc_text_is(r->name, parts[i].name))
            continue;
        write_answer_head(c, 200, parts[i].type, *parts[i].len, "");
        c->body = (const char *)parts[i].bytes;
        c->body_len = r->head ? 0 : *parts[i].len;
        return;
    }
    refuse_connection(c, 404, r->head);
}

/* What was given is looked at again, so that a reload shows new files.  What cannot be read by now is left out. */
static void answer_list(PtcViewServer *s, Connection *c, const PtcViewRequest *r)
{
    PtcBuf list;
    PtcWhy why;
    (void)!ptc_view_files_scan(s->files, &why);
    ptc_buf_init(&list, s->mem, VIEW_LIST_BYTES);
    ptc_view_files_list(s->files, &list);
    if (ptc_buf_ok(&list)) {
        write_answer_head(c, 200, "application/json", list.len, "");
        if (!r->head)
            ptc_buf_add(&c->out, list.data, list.len);
    } else {
        refuse_connection(c, 500, r->head);
    }
    ptc_buf_deinit(&list);
}

static void answer_trace(PtcViewServer *s, Connection *c, const PtcViewRequest *r)
{
    uint64_t bytes;
    int fd = ptc_view_files_open(s->files, r->number, &bytes);
    if (fd < 0) {
        refuse_connection(c, 404, r->head);
        return;
    }
    write_answer_head(c, 200, "application/x-ndjson", bytes, "");
    c->file = fd;
    c->file_at = 0;
    c->file_end = r->head ? 0 : bytes;
}

/* A browser is started with this address, which everybody can read in the list of processes; so it leads to the page
 * only once. */
static void answer_door(PtcViewServer *s, Connection *c, const PtcViewRequest *r)
{
    char more[PTC_VIEW_SECRET + 32];
    snprintf(more, sizeof more, "Location: /%s/\r\n", s->place.secret);
    if (!r->head)
        s->place.door[0] = '\0';
    write_answer_head(c, 303, "text/plain; charset=utf-8", 0, more);
}

static void answer_view_request(PtcViewServer *s, Connection *c, size_t head_len)
{
    PtcViewRequest r = ptc_view_request_read(&s->place, (PtcText){c->head, head_len});
    c->asks = false;
    switch (r.kind) {
    case PTC_VIEW_REFUSED: refuse_connection(c, r.status, r.head); break;
    case PTC_VIEW_FILE: answer_part(c, &r); break;
    case PTC_VIEW_LIST: answer_list(s, c, &r); break;
    case PTC_VIEW_TRACE: answer_trace(s, c, &r); break;
    case PTC_VIEW_DOOR: answer_door(s, c, &r); break;
    }
}

/* ---------------------------------------------------------------------------- connections */

static void read_some(PtcViewServer *s, Connection *c)
{
    ssize_t n = recv(c->fd, c->head + c->head_len, sizeof c->head - c->head_len, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        drop_connection(c);
        return;
    }
    c->head_len += (size_t)n;
    size_t end = ptc_view_request_end((PtcText){c->head, c->head_len});
    if (end) {
        answer_view_request(s, c, end);
    } else if (c->head_len == sizeof c->head) {
        c->asks = false;
        refuse_connection(c, 431, false);
    }
}

/* The next bytes to send: of the head, the constant body, the file.  False: there are none, or they cannot be read. */
static bool next_bytes(Connection *c, char *chunk, PtcText *bytes)
{
    if (c->out_sent < c->out.len) {
        *bytes = (PtcText){c->out.data + c->out_sent, c->out.len - c->out_sent};
        return true;
    }
    if (c->body_sent < c->body_len) {
        *bytes = (PtcText){c->body + c->body_sent, c->body_len - c->body_sent};
        return true;
    }
    if (c->file_at >= c->file_end)
        return false;
    uint64_t left = c->file_end - c->file_at;
    ssize_t n =
        pread(c->file, chunk, left < VIEW_CHUNK ? (size_t)left : VIEW_CHUNK, (off_t)c->file_at);
    *bytes = (PtcText){chunk, n > 0 ? (size_t)n : 0};
    return n > 0;
}

static void note_sent(Connection *c, size_t n)
{
    if (c->out_sent < c->out.len)
        c->out_sent += n;
    else if (c->body_sent < c->body_len)
        c->body_sent += n;
    else
        c->file_at += n;
}

/* One send, so that no connection keeps the others waiting. */
static void write_connection(Connection *c, int64_t now)
{
    char chunk[VIEW_CHUNK];
    PtcText bytes;
    if (!ptc_buf_ok(&c->out) || !next_bytes(c, chunk, &bytes)) {
        drop_connection(c);
        return;
    }
    ssize_t n = send(c->fd, bytes.bytes, bytes.len, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        drop_connection(c);
    else if (n > 0) {
        note_sent(c, (size_t)n);
        c->last_ns = now;
    }
}

static Connection *find_free_connection(PtcViewServer *s)
{
    for (size_t i = 0; i < PTC_VIEW_CONNECTIONS; i++)
        if (s->connections[i].fd < 0)
            return &s->connections[i];
    return NULL;
}

/* The connection that has waited longest to ask anything; NULL: all are being answered.  A request comes at once, so
 * whoever is silent can go when others want to come in. */
static Connection *oldest_silent(PtcViewServer *s)
{
    Connection *oldest = NULL;
    for (size_t i = 0; i < PTC_VIEW_CONNECTIONS; i++) {
        Connection *c = &s->connections[i];
        if (c->fd >= 0 && c->asks && (!oldest || c->last_ns < oldest->last_ns))
            oldest = c;
    }
    return oldest;
}

/* There is no descriptor for the next connection: one that is silent makes room, and we try again after a while. */
static void pause_view_accepting(PtcViewServer *s, int64_t now)
{
    Connection *silent = oldest_silent(s);
    s->accept_ns = now + PAUSE_MS * PTC_MS;
    if (now >= s->complain_ns) {
        s->complain_ns = now + COMPLAIN_MS * PTC_MS;
        dprintf(STDERR_FILENO, "ptc view: no connection can be accepted now: %s\n",
                strerror(errno));
    }
    if (silent)
        drop_connection(silent);
}

static void accept_one(PtcViewServer *s, int64_t now)
{
    Connection *c = find_free_connection(s), *silent = c ? NULL : oldest_silent(s);
    int fd = c || silent ? accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_view_accepting(s, now);
        return;
    }
    if (silent)
        drop_connection(c = silent);
    c->fd = fd;
    c->file = -1;
    c->asks = true;
    c->last_ns = now;
    c->head_len = c->out_sent = c->body_len = c->body_sent = 0;
    c->file_at = c->file_end = 0;
    ptc_buf_init(&c->out, s->mem, VIEW_LIST_BYTES + ANSWER_HEAD);
}

static bool is_connection_late(const Connection *c, int64_t now)
{
    int64_t most = c->asks ? PTC_VIEW_HEAD_MS : PTC_VIEW_STALL_MS;
    return now - c->last_ns > most * PTC_MS;
}

/* Time is looked at before events: a head that comes a byte at a time would otherwise keep its place for hours. */
static void serve_connection(PtcViewServer *s, Connection *c, short events, int64_t now)
{
    if ((events & (POLLERR | POLLNVAL)) || is_connection_late(c, now))
        drop_connection(c);
    else if (c->asks && (events & (POLLIN | POLLHUP)))
        read_some(s, c);
    else if (!c->asks && (events & (POLLOUT | POLLHUP)))
        write_connection(c, now);
}

/* Fills the list for poll: the connections in their places, then the listener, then `stop`. */
static void fill_poll_list(const PtcViewServer *s, struct pollfd *list, int stop, bool accepts)
{
    bool room = false;
    for (size_t i = 0; i < PTC_VIEW_CONNECTIONS; i++) {
        const Connection *c = &s->connections[i];
        room |= c->fd < 0 || c->asks;
        list[i] = (struct pollfd){.fd = c->fd, .events = c->asks ? POLLIN : POLLOUT};
    }
    list[PTC_VIEW_CONNECTIONS] =
        (struct pollfd){.fd = room && accepts ? s->listener : -1, .events = POLLIN};
    list[PTC_VIEW_CONNECTIONS + 1] = (struct pollfd){.fd = stop, .events = POLLIN};
}

void ptc_view_server_run(PtcViewServer *s, int stop)
{
    struct pollfd list[PTC_VIEW_CONNECTIONS + 2];
    for (;;) {
        bool accepts = ptc_clock_ns(NULL) >= s->accept_ns;
        fill_poll_list(s, list, stop, accepts);
        int n = poll(list, PTC_VIEW_CONNECTIONS + 2, accepts ? POLL_MS : PAUSE_MS);
        if (n < 0 && errno != EINTR)
            return;
        if (n > 0 && list[PTC_VIEW_CONNECTIONS + 1].revents)
            return;
        int64_t now = ptc_clock_ns(NULL);
        for (size_t i = 0; i < PTC_VIEW_CONNECTIONS; i++)
            if (s->connections[i].fd >= 0)
                serve_connection(s, &s->connections[i], n > 0 ? list[i].revents : 0, now);
        if (n > 0 && (list[PTC_VIEW_CONNECTIONS].revents & POLLIN))
            accept_one(s, now);
    }
}
