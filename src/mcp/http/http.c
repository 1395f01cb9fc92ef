/* SPDX-License-Identifier: MIT
 * http.c - the HTTP server: libmicrohttpd accepts and parses, a thread for each connection; exchanges (http_exchange.c)
 * answer; the thread of ptc_http_serve watches.
 *
 * A stream of events is written to the socket by us, inside the access handler, which then has the connection closed:
 * only so can a handler that runs on the connection's own thread send before it has returned. */
#include "mcp/http/http.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mcp/http/http_bind.h"
#include "mcp/http/http_conn.h"
#include "mcp/http/http_mhd.h"

#define SECOND_NS INT64_C(1000000000)
#define MS_NS INT64_C(1000000)

enum { HEAD_MAX = 32 * 1024 }; /* of a request's head; larger ones are answered 431 */

const PtcHttpConfig ptc_http_defaults = {
    .path = "/mcp",
    .max_sessions = 1024,
    .max_connections = 256,
    .request_ms = 60 * 1000,
    .send_ms = 120 * 1000,
    .drain_ms = 10 * 1000,
    .stack_bytes = 1024 * 1024,
    .log_fd = STDERR_FILENO,
};

/* What the watcher's own descriptors are in epoll; connections have larger numbers. */
enum { EVENT_STOP = 1, EVENT_SIGNAL = 2 };

struct PtcHttp {
    PtcHttpShared shared;
    PtcHttpConns conns;
    PtcMhd mhd;
    struct MHD_Daemon *daemon;
    PtcHttpAddress address;
    int listen_fd, ask_fd; /* ask_fd: ptc_http_stop */
    int64_t drain_ns;
    int64_t swept_ns;
    bool hurry; /* a second request to stop */
};

unsigned ptc_http_port(const PtcHttp *http)
{
    return ptc_http_address_port(&http->address);
}

/* ------------------------------------------------- what libmicrohttpd calls */

static void on_connection(void *user, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
    PtcHttp *http = user;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        int fd = http->mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
                     ->connect_fd;
        const struct sockaddr *address =
            http->mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
                ->client_addr;
        *socket_context = ptc_http_conn_open(&http->conns, fd, address);
    } else if (*socket_context) {
        ptc_http_conn_close(&http->conns, *socket_context);
        *socket_context = NULL;
    }
}

static PtcHttpConn *conn_of(PtcHttp *http, struct MHD_Connection *connection)
{
    return http->mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
        ->socket_context;
}

/* The lines of a head, as they lie in the library's buffer. */
typedef struct {
    PtcHttpHead *head;
    const char *at; /* where the next line begins; NULL: it is not looked at */
} Lines;

/* Is the line "name: value" all that lies between the line before it and the next one?  The library (0.9) has put NULs over
 * the colon and the line's end, and takes a NUL that the client sent for the end of a value too. */
static void check_line(Lines *lines, const char *name, size_t name_len, const char *value,
                       size_t value_len)
{
    const char *p = lines->at;
    if (!p || lines->head->odd)
        return;
    lines->head->odd = name != p || p[name_len] != 0;
    if (lines->head->odd)
        return;
    for (p += name_len + 1; *p == ' ' || *p == '\t'; p++)
        ;
    lines->head->odd = !value || value != p || p[value_len] != 0 || p[value_len + 1] != 0;
    lines->at = p + value_len + 2;
}

static enum MHD_Result on_field(void *user, enum MHD_ValueKind kind, const char *name,
                                size_t name_len, const char *value, size_t value_len)
{
    Lines *lines = user;
    (void)kind;
    check_line(lines, name, name_len, value, value_len);
    ptc_http_head_add(lines->head, name, name_len, value, value_len);
    return MHD_YES;
}

/* The address of a request as it was sent, which is looked at before the library decodes it. */
static void *on_uri(void *user, const char *uri, struct MHD_Connection *connection)
{
    PtcHttpConn *conn = conn_of(user, connection);
    if (conn)
        conn->uri_len = uri ? strlen(uri) : 0;
    return NULL;
}

/* The first line, "verb uri version", with NULs over the blanks. */
static bool check_first(const char *verb, size_t uri_len, const char *version)
{
    const char *uri = verb + strlen(verb) + 1;
    return *uri != ' ' && version == uri + uri_len + 1 && memchr(uri, '\r', uri_len) == NULL;
}

/* Reads the fields, and whether the head is written in a way that leaves nothing to guess.  Version 1 of the library sees
 * to that itself when it is told to be strict. */
static void read_head(PtcHttp *http, struct MHD_Connection *connection, PtcHttpConn *conn,
                      const char *verb, const char *version)
{
    PtcHttpHead *head = &conn->exchange.head;
    Lines lines = {.head = head};
    if (http->mhd.trusts_nul) {
        head->odd = !check_first(verb, conn->uri_len, version);
        lines.at = version + strlen(version) + 2;
    }
    http->mhd.MHD_get_connection_values_n(connection, MHD_HEADER_KIND, on_field, &lines);
    const union MHD_ConnectionInfo *size =
        http->mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (lines.at && !head->odd)
        head->odd = lines.at[0] != 0 || lines.at[1] != 0 || !size ||
                    lines.at + 2 != verb + size->header_size;
}

static void add_header(PtcHttp *http, struct MHD_Response *response, const char *name,
                       const char *value)
{
    if (value)
        (void)http->mhd.MHD_add_response_header(response, name, value);
}

static enum MHD_Result send_answer(PtcHttp *http, struct MHD_Connection *connection,
                                   const PtcHttpOut *out)
{
    /* libmicrohttpd wants a pointer it may change, and does not in this mode. */
    void *text = (void *)(uintptr_t)(out->text ? out->text : "");
    struct MHD_Response *response = http->mhd.MHD_create_response_from_buffer(
        out->text ? out->len : 0, text, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    add_header(http, response, "Content-Type", out->type);
    add_header(http, response, "Allow", out->allow);
    add_header(http, response, "Mcp-Session-Id", out->session);
    add_header(http, response, "WWW-Authenticate", out->authenticate);
    add_header(http, response, "Retry-After", out->retry_after);
    if (out->close || atomic_load_explicit(&http->shared.stopping, memory_order_relaxed))
        add_header(http, response, "Connection", "close");
    enum MHD_Result queued =
        http->mhd.MHD_queue_response(connection, (unsigned)out->status, response);
    http->mhd.MHD_destroy_response(response);
    return queued;
}

/* The head has arrived.  A client that waits for `100 Continue` is refused before it sends anything. */
static enum MHD_Result begin_request(PtcHttp *http, struct MHD_Connection *connection,
                                     PtcHttpConn *conn, const char *path, const char *verb,
                                     const char *version)
{
    PtcHttpExchange *ex = &conn->exchange;
    read_head(http, connection, conn, verb, version);
    ptc_http_exchange_open(ex, verb, path);
    if (ex->refused && (ex->out.close || ex->head.field[PTC_HTTP_EXPECT].bytes))
        return send_answer(http, connection, &ex->out);
    return MHD_YES;
}

static enum MHD_Result take_body(PtcHttpConn *conn, const char *bytes, size_t *len)
{
    ptc_http_exchange_body(&conn->exchange, bytes, *len);
    *len = 0;
    return ptc_http_exchange_enough(&conn->exchange) ? MHD_NO : MHD_YES;
}

static enum MHD_Result end_request(PtcHttp *http, struct MHD_Connection *connection,
                                   PtcHttpConn *conn)
{
    const PtcHttpOut *out = &conn->exchange.out;
    ptc_http_conn_enter(conn, PTC_HTTP_WORKING);
    ptc_http_exchange_answer(&conn->exchange);
    ptc_http_conn_enter(conn, PTC_HTTP_SENDING);
    if (out->streamed || out->status == 0)
        return MHD_NO;
    return send_answer(http, connection, out);
}

/* Called when the head is there, for each piece of the body, and at the end.  *state tells the first. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path,
                                  const char *verb, const char *version, const char *bytes,
                                  size_t *len, void **state)
{
    PtcHttp *http = user;
    PtcHttpConn *conn = conn_of(http, connection);
    if (!conn)
        return MHD_NO;
    if (!*state) {
        *state = conn;
        return begin_request(http, connection, conn, path, verb, version);
    }
    return *len ? take_body(conn, bytes, len) : end_request(http, connection, conn);
}

static void on_completed(void *user, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode how)
{
    PtcHttpConn *conn = *state;
    (void)user, (void)connection, (void)how;
    if (!conn)
        return;
    ptc_http_exchange_close(&conn->exchange);
    *state = NULL;
    ptc_http_conn_enter(conn, PTC_HTTP_RECEIVING);
}

/* -------------------------------------------------------------------- start */

static bool start_daemon(PtcHttp *http, const PtcHttpConfig *config)
{
    unsigned connections = config->max_connections;
    unsigned each = config->max_per_address ? config->max_per_address : (connections + 1) / 2;
    if (http->shared.guard.loopback) /* a proxy's connections all come from here */
        each = connections;
    http->daemon = http->mhd.MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
            MHD_USE_ITC,
        0, NULL, NULL, on_request, http, MHD_OPTION_LISTEN_SOCKET, http->listen_fd,
        MHD_OPTION_THREAD_STACK_SIZE, config->stack_bytes, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, each, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEAD_MAX, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, http, MHD_OPTION_URI_LOG_CALLBACK, on_uri, http,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    return http->daemon != NULL;
}

static bool watch_fd(PtcHttp *http, int fd, uint64_t id)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = id};
    return fd >= 0 && epoll_ctl(http->conns.epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool complain(char why[PTC_MCP_WHY], const char *what, const char *about, const char *reason)
{
    (void)snprintf(why, PTC_MCP_WHY, "%s%s%s%s", what, about, *about ? ": " : "", reason);
    return false;
}

static bool add_names(PtcHttpNames *names, const char *const *list, size_t count, const char *what,
                      char why[PTC_MCP_WHY])
{
    for (size_t i = 0; i < count; i++) {
        const char *reason = ptc_http_names_add(names, list[i]);
        if (reason)
            return complain(why, what, list[i], reason);
    }
    return true;
}

static bool set_up_guard(PtcHttp *http, const PtcHttpConfig *config, char why[PTC_MCP_WHY])
{
    PtcHttpGuard *guard = &http->shared.guard;
    if (config->tokens) {
        size_t line;
        const char *reason =
            ptc_http_guard_add_tokens(guard, config->tokens, config->tokens_len, &line);
        char at[32];
        (void)snprintf(at, sizeof at, "line %zu", line);
        if (reason)
            return complain(why, "tokens, ", at, reason);
    }
    if (!guard->loopback && guard->token_count == 0)
        return complain(why, "", "",
                        "an address that other machines can reach needs a bearer token "
                        "(--token-file FILE); without one listen on 127.0.0.1");
    return add_names(&guard->hosts, config->hosts, config->host_count, "host ", why) &&
           add_names(&guard->origins, config->origins, config->origin_count, "origin ", why);
}

static int log_fd_of(const PtcHttpConfig *config)
{
    return config->quiet ? -1 : config->log_fd;
}

static void set_limits(PtcHttp *http, const PtcHttpConfig *config)
{
    http->shared.stateless = config->stateless;
    http->shared.path = config->path;
    http->conns.request_ns = config->request_ms * MS_NS;
    http->conns.send_ns = config->send_ms * MS_NS;
    http->drain_ns = config->drain_ms * MS_NS;
}

/* Everything but the daemon.  What was opened is closed by ptc_http_free. */
static bool prepare(PtcHttp *http, const PtcHttpConfig *config, char why[PTC_MCP_WHY])
{
    if (!set_up_guard(http, config, why))
        return false;
    set_limits(http, config);
    http->listen_fd = ptc_http_listen(&http->address, why, PTC_MCP_WHY);
    if (http->listen_fd < 0 || !ptc_mhd_load(&http->mhd, why, PTC_MCP_WHY))
        return false;
    http->ask_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    http->shared.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (http->shared.stop_fd < 0 || !watch_fd(http, http->ask_fd, EVENT_STOP))
        return complain(why, "", "", strerror(errno));
    return start_daemon(http, config) || complain(why, "", "", "the HTTP library did not start");
}

/* The parts that own memory; false with nothing left of them. */
static bool init_parts(PtcHttp *http, PtcMcp *mcp, const PtcHttpConfig *config)
{
    bool loopback = ptc_http_address_is_local(&http->address);
    /* A few more slots than connections: closed ones give theirs back a little later. */
    size_t slots = (size_t)config->max_connections + 16;
    if (!ptc_http_shared_init(&http->shared, mcp, loopback, config->max_sessions,
                              log_fd_of(config)))
        return false;
    if (ptc_http_conns_init(&http->conns, &http->shared, slots))
        return true;
    ptc_http_shared_deinit(&http->shared);
    return false;
}

static PtcHttpConfig with_defaults(const PtcHttpConfig *given)
{
    const PtcHttpConfig *d = &ptc_http_defaults;
    PtcHttpConfig c = *given;
    c.path = c.path ? c.path : d->path;
    c.max_sessions = c.max_sessions ? c.max_sessions : d->max_sessions;
    c.max_connections = c.max_connections ? c.max_connections : d->max_connections;
    c.request_ms = c.request_ms ? c.request_ms : d->request_ms;
    c.send_ms = c.send_ms ? c.send_ms : d->send_ms;
    c.drain_ms = c.drain_ms ? c.drain_ms : d->drain_ms;
    c.stack_bytes = c.stack_bytes ? c.stack_bytes : d->stack_bytes;
    c.log_fd = c.log_fd ? c.log_fd : d->log_fd;
    return c;
}

PtcHttp *ptc_http_new(PtcMcp *mcp, const PtcHttpConfig *given, char why[PTC_MCP_WHY])
{
    PtcHttpConfig config = with_defaults(given);
    PtcHttpAddress address;
    if (!ptc_http_address_parse(&address, config.listen, why, PTC_MCP_WHY))
        return NULL;
    PtcMem *mem = ptc_mcp_mem(mcp);
    PtcHttp *http = ptc_mem_alloc(mem, sizeof *http);
    if (http) {
        memset(http, 0, sizeof *http);
        http->address = address;
        http->listen_fd = http->ask_fd = -1;
    }
    if (!http || !init_parts(http, mcp, &config)) {
        ptc_mem_free(mem, http, sizeof *http);
        complain(why, "", "", "no memory");
        return NULL;
    }
    if (prepare(http, &config, why))
        return http;
    ptc_http_free(http);
    return NULL;
}

/* --------------------------------------------------------------------- serve */

static sigset_t stop_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

void ptc_http_block_signals(void)
{
    sigset_t set = stop_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* the reader of the log may go away */
}

void ptc_http_stop(PtcHttp *http)
{
    uint64_t one = 1;
    ssize_t n = write(http->ask_fd, &one, sizeof one);
    (void)n;
}

/* Reads off the event; whether it asks to stop. */
static bool take_event(PtcHttp *http, uint64_t id, int signal_fd)
{
    struct signalfd_siginfo info;
    uint64_t count;
    ssize_t n = 0;
    if (id == EVENT_STOP)
        n = read(http->ask_fd, &count, sizeof count);
    else if (id == EVENT_SIGNAL)
        n = read(signal_fd, &info, sizeof info);
    else
        ptc_http_conns_event(&http->conns, id);
    return n > 0;
}

/* Waits a little for events, then looks after everything.  True: asked to stop. */
static bool watch_once(PtcHttp *http, int signal_fd, int64_t *ticked_ns)
{
    struct epoll_event events[64];
    bool stop = false;
    int n = epoll_wait(http->conns.epoll_fd, events, 64, 200);
    for (int i = 0; i < n; i++)
        stop |= take_event(http, events[i].data.u64, signal_fd);
    int64_t now = ptc_clock_ns(NULL);
    ptc_http_log_flush(&http->shared.log);
    if (now - *ticked_ns >= SECOND_NS) {
        *ticked_ns = now;
        ptc_http_conns_tick(&http->conns, now);
    }
    if (now - http->swept_ns >= 10 * SECOND_NS) {
        http->swept_ns = now;
        ptc_http_sessions_sweep(&http->shared.sessions, now, false);
    }
    return stop;
}

/* No new connections; /ready says so; streams end. */
static void stop_accepting(PtcHttp *http)
{
    uint64_t one = 1;
    ptc_http_log_say(&http->shared.log, "stopping: calls under way have %lld s to end",
                     (long long)(http->drain_ns / SECOND_NS));
    http->mhd.MHD_quiesce_daemon(http->daemon);
    (void)shutdown(http->listen_fd, SHUT_RDWR); /* who connects now is refused, not left waiting */
    atomic_store(&http->shared.stopping, true);
    ssize_t n = write(http->shared.stop_fd, &one, sizeof one);
    (void)n;
}

/* Until no request is under way, the time is over or somebody asks again. */
static void drain(PtcHttp *http, int signal_fd, int64_t until_ns)
{
    int64_t ticked = 0;
    while (ptc_http_conns_busy(&http->conns) > 0 && ptc_clock_ns(NULL) < until_ns)
        if (watch_once(http, signal_fd, &ticked))
            return;
}

void ptc_http_serve(PtcHttp *http, bool signals)
{
    int64_t ticked = 0;
    sigset_t set = stop_signals();
    int signal_fd = signals ? signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK) : -1;
    if (signals)
        (void)watch_fd(http, signal_fd, EVENT_SIGNAL);
    ptc_http_log_say(&http->shared.log, "listening on port %u, endpoint %s", ptc_http_port(http),
                     http->shared.path);
    while (!watch_once(http, signal_fd, &ticked))
        ;
    stop_accepting(http);
    drain(http, signal_fd, ptc_clock_ns(NULL) + http->drain_ns);
    ptc_mcp_stop(http->shared.mcp);
    ptc_http_sessions_sweep(&http->shared.sessions, 0, true);
    ptc_http_conns_cancel(&http->conns);
    drain(http, signal_fd, ptc_clock_ns(NULL) + 2 * SECOND_NS);
    http->mhd.MHD_stop_daemon(http->daemon);
    http->daemon = NULL;
    ptc_http_log_say(&http->shared.log, "stopped");
    if (signal_fd >= 0)
        close(signal_fd);
}

void ptc_http_free(PtcHttp *http)
{
    PtcMem *mem = http->shared.mem;
    if (http->daemon) {
        http->mhd.MHD_quiesce_daemon(http->daemon); /* else the library closes the socket */
        http->mhd.MHD_stop_daemon(http->daemon);
    }
    if (http->listen_fd >= 0)
        close(http->listen_fd);
    if (http->ask_fd >= 0)
        close(http->ask_fd);
    if (http->shared.stop_fd >= 0)
        close(http->shared.stop_fd);
    ptc_http_conns_deinit(&http->conns);
    ptc_http_shared_deinit(&http->shared);
    ptc_mhd_unload(&http->mhd);
    ptc_mem_free(mem, http, sizeof *http);
}
