/* SPDX-License-Identifier: MIT
 * The server of the viewer.  libmicrohttpd reads requests and sends answers; we accept, and say who has to go.  What
 * always holds: a connection asks once, gets one answer and is closed; no call blocks but poll; all of it is one
 * thread. */
#define _GNU_SOURCE
#include "viewer/view_server.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/text/hex.h"
#include "base/text/secret.h"
#include "mcp/http/http_bind.h"
#include "mcp/http/http_mhd.h"
#include "viewer/page_files.h"
#include "viewer/view_request.h"

enum {
    VIEW_CONNECTION_BYTES = 32 * PTC_KB,
    VIEW_LIST_BYTES = 64 * PTC_MB,
    VIEW_BODY_BYTES = 4 * PTC_KB /* of an approval */
};
enum { POLL_MS = 1000, PAUSE_MS = 100, COMPLAIN_MS = 10000 };

/* The page may load nothing but what we serve, may send nothing anywhere else, and no script can be written into it. */
#define POLICY                                                                       \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "  \
    "worker-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; " \
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types ptc-worker"

typedef struct {
    bool used;
    bool asks; /* the head is still arriving */
    bool
        escaped; /* its path has characters that none of ours has, and which would be read before we see it */
    int fd;
    int64_t since_ns;
    size_t body_len; /* of an approval; more than there is room for: it was too long */
    char body[VIEW_BODY_BYTES];
} Connection;

struct PtcViewServer {
    PtcMem *mem;
    PtcViewFiles *files;
    const PtcViewDesk *desk;
    PtcViewPlace place;
    PtcMhd mhd;
    struct MHD_Daemon *daemon;
    int listener;
    int64_t accept_ns, complain_ns; /* not before: the next connection, the next line about that */
    Connection connections[PTC_VIEW_CONNECTIONS];
};

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
    {"approvals.html", HTML, ptc_page_approvals, &ptc_page_approvals_len},
    {"desk.js", SCRIPT, ptc_page_desk, &ptc_page_desk_len},
};

/* In every answer. */
static const char *const fixed[][2] = {
    {"Connection", "close"},
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy", POLICY},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

typedef struct {
    PtcViewServer *server;
    struct MHD_Connection *connection;
    bool head; /* HEAD: nothing happens but the answer */
} Asker;

/* Sends and gives up a response; `more` is the value of a further field. */
static enum MHD_Result send_response(const Asker *to, int status, const char *type,
                                     struct MHD_Response *response, const char *field,
                                     const char *more)
{
    const PtcMhd *mhd = &to->server->mhd;
    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        (void)mhd->MHD_add_response_header(response, fixed[i][0], fixed[i][1]);
    (void)mhd->MHD_add_response_header(response, "Content-Type", type);
    if (field)
        (void)mhd->MHD_add_response_header(response, field, more);
    enum MHD_Result queued = mhd->MHD_queue_response(to->connection, (unsigned)status, response);
    mhd->MHD_destroy_response(response);
    return queued;
}

/* Bytes that stay, or of which a copy is made. */
static struct MHD_Response *respond_with(const Asker *to, const void *bytes, size_t len,
                                         enum MHD_ResponseMemoryMode mode)
{
    /* The library takes a pointer to non-const, but does not write through it in these modes. */
    return to->server->mhd.MHD_create_response_from_buffer(len, (void *)(uintptr_t)bytes, mode);
}

static enum MHD_Result refuse_asker(const Asker *to, int status)
{
    const char *text = status == 403 ? "This address is not for you.\n"
                                     : to->server->mhd.MHD_get_reason_phrase_for((unsigned)status);
    return send_response(to, status, "text/plain; charset=utf-8",
                         respond_with(to, text, strlen(text), MHD_RESPMEM_PERSISTENT),
                         status == 405 ? "Allow" : NULL, "GET");
}

static enum MHD_Result answer_part(const Asker *to, PtcText name)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (ptc_text_is(name, parts[i].name))
            return send_response(
                to, 200, parts[i].type,
                respond_with(to, parts[i].bytes, *parts[i].len, MHD_RESPMEM_PERSISTENT), NULL,
                NULL);
    return refuse_asker(to, 404);
}

static enum MHD_Result answer_json(const Asker *to, PtcBuf *json)
{
    enum MHD_Result result =
        ptc_buf_ok(json)
            ? send_response(to, 200, "application/json",
                            respond_with(to, json->data, json->len, MHD_RESPMEM_MUST_COPY), NULL,
                            NULL)
            : refuse_asker(to, 500);
    ptc_buf_deinit(json);
    return result;
}

/* What was given is looked at again, so that a reload shows new files.  What cannot be read by now is left out. */
static enum MHD_Result answer_list(const Asker *to)
{
    PtcViewServer *s = to->server;
    PtcBuf list;
    PtcWhy why;
    (void)!ptc_view_files_scan(s->files, &why);
    ptc_buf_init(&list, s->mem, VIEW_LIST_BYTES);
    ptc_view_files_list(s->files, &list);
    return answer_json(to, &list);
}

static enum MHD_Result answer_waiting(const Asker *to)
{
    const PtcViewDesk *desk = to->server->desk;
    PtcBuf list;
    ptc_buf_init(&list, to->server->mem, VIEW_LIST_BYTES);
    if (!desk)
        ptc_buf_add_cstr(&list, "null");
    if (!desk || desk->list(desk->user, &list))
        return answer_json(to, &list);
    enum MHD_Result result =
        send_response(to, 503, "text/plain; charset=utf-8",
                      respond_with(to, list.data, list.len, MHD_RESPMEM_MUST_COPY), NULL, NULL);
    ptc_buf_deinit(&list);
    return result;
}

/* The body comes in pieces, and nothing at last. */
static enum MHD_Result take_answer(const Asker *to, Connection *c, const char *bytes, size_t *len)
{
    const PtcViewDesk *desk = to->server->desk;
    PtcBuf out;
    if (*len) {
        size_t room =
            sizeof c->body - (c->body_len < sizeof c->body ? c->body_len : sizeof c->body);
        memcpy(c->body + c->body_len, bytes, *len < room ? *len : room);
        c->body_len = *len <= room ? c->body_len + *len : sizeof c->body + 1;
        *len = 0;
        return MHD_YES;
    }
    if (!desk || c->body_len > sizeof c->body)
        return refuse_asker(to, desk ? 413 : 404);
    ptc_buf_init(&out, to->server->mem, VIEW_LIST_BYTES);
    desk->answer(desk->user, (PtcText){c->body, c->body_len}, &out);
    return answer_json(to, &out);
}

/* The library reads the file piece by piece, no further than its size now, and closes it. */
static enum MHD_Result answer_trace(const Asker *to, size_t number)
{
    uint64_t bytes;
    int fd = ptc_view_files_open(to->server->files, number, &bytes);
    if (fd < 0)
        return refuse_asker(to, 404);
    struct MHD_Response *response = to->server->mhd.MHD_create_response_from_fd64(bytes, fd);
    if (!response)
        close(fd);
    return send_response(to, 200, "application/x-ndjson", response, NULL, NULL);
}

/* A browser is started with this address, which everybody can read in the list of processes; so it leads to the page
 * only once. */
static enum MHD_Result answer_door(const Asker *to)
{
    char page[PTC_VIEW_SECRET + 3];
    snprintf(page, sizeof page, "/%s/", to->server->place.secret);
    if (!to->head)
        to->server->place.door[0] = '\0';
    return send_response(to, 303, "text/plain; charset=utf-8",
                         respond_with(to, "", 0, MHD_RESPMEM_PERSISTENT), "Location", page);
}

/* ------------------------------------------------------------------ what the library calls */

static enum MHD_Result on_view_field(void *user, enum MHD_ValueKind kind, const char *name,
                                     size_t name_len, const char *value, size_t value_len)
{
    (void)kind;
    ptc_view_fields_add(user, (PtcText){name, name_len}, (PtcText){value, value ? value_len : 0});
    return MHD_YES;
}

/* A head has arrived.  It is answered at once, unless it is an approval: then a body comes, in the time of a head. */
static enum MHD_Result on_view_request(void *user, struct MHD_Connection *connection,
                                       const char *path, const char *method, const char *version,
                                       const char *bytes, size_t *len, void **state)
{
    PtcViewServer *s = user;
    const PtcMhd *mhd = &s->mhd;
    Connection *c = mhd->MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
                        ->socket_context;
    PtcViewFields fields = {0};
    (void)version;
    mhd->MHD_get_connection_values_n(connection, MHD_HEADER_KIND, on_view_field, &fields);
    Asker to = {s, connection, strcmp(method, "HEAD") == 0};
    PtcViewRequest r =
        ptc_view_request_judge(&s->place, &fields, ptc_text_cstr(method), ptc_text_cstr(path));
    if (mhd->MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, NULL, NULL) > 0 &&
        r.kind != PTC_VIEW_REFUSED)
        return refuse_asker(&to, 404);
    bool begins = r.kind == PTC_VIEW_ANSWER && !*state;
    c->asks = begins || *len;
    if (begins) {
        *state = c;
        c->body_len = 0;
        return MHD_YES;
    }
    switch (r.kind) {
    case PTC_VIEW_WAITING: return answer_waiting(&to);
    case PTC_VIEW_ANSWER: return take_answer(&to, c, bytes, len);
    case PTC_VIEW_REFUSED: return refuse_asker(&to, r.status);
    case PTC_VIEW_FILE: return answer_part(&to, r.name);
    case PTC_VIEW_LIST: return answer_list(&to);
    case PTC_VIEW_TRACE: return answer_trace(&to, r.number);
    case PTC_VIEW_DOOR: return answer_door(&to);
    }
    return MHD_NO;
}

static Connection *find_free_connection(PtcViewServer *s)
{
    for (size_t i = 0; i < PTC_VIEW_CONNECTIONS; i++)
        if (!s->connections[i].used)
            return &s->connections[i];
    return NULL;
}

/* A connection is accepted only when one is free. */
static void on_view_connection(void *user, struct MHD_Connection *connection, void **context,
                               enum MHD_ConnectionNotificationCode what)
{
    PtcViewServer *s = user;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        Connection *c = *context = find_free_connection(s);
        int fd = s->mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
                     ->connect_fd;
        *c = (Connection){.used = true, .asks = true, .fd = fd, .since_ns = ptc_clock_ns(NULL)};
    } else {
        ((Connection *)*context)->used = false;
    }
}

/* --------------------------------------------------------------------------- new and free */

static bool make_secret(char secret[PTC_VIEW_SECRET + 1])
{
    unsigned char bytes[PTC_VIEW_SECRET / 2];
    if (!ptc_random_bytes(bytes, sizeof bytes))
        return false;
    ptc_hex_write(secret, bytes, sizeof bytes);
    return true;
}

/* Without a thread of its own, and without a socket to listen on: when descriptors run out it would try to accept
 * again and again. */
static bool start_view_daemon(PtcViewServer *s)
{
    s->daemon = s->mhd.MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, on_view_request, s,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)INT_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)VIEW_CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)(PTC_VIEW_STALL_MS / 1000), MHD_OPTION_NOTIFY_CONNECTION, on_view_connection, s,
        MHD_OPTION_END);
    return s->daemon != NULL;
}

static bool open_server(PtcViewServer *s, unsigned port, PtcWhy *why)
{
    PtcHttpAddress address;
    char text[32];
    snprintf(text, sizeof text, "127.0.0.1:%u", port);
    if (!make_secret(s->place.secret) || !make_secret(s->place.door))
        return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "the system has no random numbers");
    if (!ptc_http_address_parse(&address, text, why) ||
        (s->listener = ptc_http_listen(&address, why)) < 0 || !ptc_mhd_load(&s->mhd, why))
        return false;
    s->place.port = ptc_http_address_port(&address);
    return start_view_daemon(s) ||
           ptc_why_say(why, PTC_WHY_UNAVAILABLE, "the HTTP library did not start");
}

PtcViewServer *ptc_view_server_new(PtcMem *mem, PtcViewFiles *files, const PtcViewDesk *desk,
                                   unsigned port, PtcWhy *why)
{
    PtcViewServer *s = ptc_mem_alloc(mem, sizeof *s);
    ptc_why_no_memory(why);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    s->mem = mem;
    s->files = files;
    s->desk = desk;
    s->listener = -1;
    if (open_server(s, port, why))
        return s;
    ptc_view_server_free(s);
    return NULL;
}

void ptc_view_server_free(PtcViewServer *s)
{
    if (!s)
        return;
    if (s->daemon)
        s->mhd.MHD_stop_daemon(s->daemon);
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

/* ---------------------------------------------------------------------------- connections */

/* The connection that has waited longest to ask anything; NULL: all are being answered.  A request comes at once, so
 * whoever is silent can go when others want to come in. */
static Connection *oldest_silent(PtcViewServer *s)
{
    Connection *oldest = NULL;
    for (size_t i = 0; i < PTC_VIEW_CONNECTIONS; i++) {
        Connection *c = &s->connections[i];
        if (c->used && c->asks && (!oldest || c->since_ns < oldest->since_ns))
            oldest = c;
    }
    return oldest;
}

/* The library sees the end of the connection and closes it. */
static void end_connection(Connection *c)
{
    c->asks = false;
    (void)shutdown(c->fd, SHUT_RDWR);
}

/* A head has its time, however steadily its bytes come; the library only notices those who do nothing at all. */
static void end_late_connections(PtcViewServer *s, int64_t now)
{
    for (Connection *c; (c = oldest_silent(s)) && now - c->since_ns > PTC_VIEW_HEAD_MS * PTC_MS;)
        end_connection(c);
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
        end_connection(silent);
}

static void accept_one(PtcViewServer *s, int64_t now)
{
    PtcHttpAddress from;
    socklen_t len = sizeof from;
    if (!find_free_connection(s)) { /* there is one when we come here next */
        end_connection(oldest_silent(s));
        return;
    }
    int fd = accept4(s->listener, &from.any, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        (void)s->mhd.MHD_add_connection(s->daemon, fd, &from.any, len);
    else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        pause_view_accepting(s, now);
}

static int poll_ms(PtcViewServer *s, bool accepts)
{
    MHD_UNSIGNED_LONG_LONG most;
    int ms = accepts ? POLL_MS : PAUSE_MS;
    if (s->mhd.MHD_get_timeout(s->daemon, &most) == MHD_YES && most < (unsigned)ms)
        ms = (int)most;
    return ms;
}

void ptc_view_server_run(PtcViewServer *s, int stop)
{
    int events = s->mhd.MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    for (;;) {
        bool accepts = ptc_clock_ns(NULL) >= s->accept_ns;
        bool room = accepts && (find_free_connection(s) || oldest_silent(s));
        struct pollfd list[] = {{.fd = stop, .events = POLLIN},
                                {.fd = room ? s->listener : -1, .events = POLLIN},
                                {.fd = events, .events = POLLIN}};
        int n = poll(list, 3, poll_ms(s, accepts));
        if ((n < 0 && errno != EINTR) || (n > 0 && list[0].revents))
            return;
        int64_t now = ptc_clock_ns(NULL);
        if (n > 0 && (list[1].revents & POLLIN))
            accept_one(s, now);
        end_late_connections(s, now);
        (void)s->mhd.MHD_run(s->daemon);
    }
}
