/* SPDX-License-Identifier: MIT
 * http.c - the HTTP server.  libmicrohttpd accepts and parses, with a thread for each connection, and calls
 * http_calls.c; exchanges (http_exchange.c) answer; the thread of ptc_http_serve watches.  What always holds:
 * everything opened before the daemon starts is closed by ptc_http_free, however far the start got. */
#define _GNU_SOURCE /* accept4 */
#include "mcp/http/http.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/open_files.h"
#include "base/text/secret.h"
#include "mcp/http/http_int.h"

enum {
    HEAD_MAX = 32 * PTC_KB,   /* for a request's head; larger ones are answered 431 */
    BODIES = 64 * PTC_MB,     /* for all bodies together that have not fully arrived */
    HTTP_TOKENS_MAX = PTC_MB, /* for the text of a token file */
    ACCEPTS = 64,             /* connections taken in one go */
    OTHER_FILES = 128,        /* that a server has open beside its connections */
    WATCH_MS = 200,           /* between two looks at what tells of no event */
    PAUSE_MS = 100,           /* before accepting again, when there was no descriptor left */
    COMPLAIN_S = 10,          /* between two lines about that */
};

const PtcHttpConfig ptc_http_defaults = {
    .path = "/mcp",
    .max_sessions = 1024,
    .max_connections = 256,
    .request_ms = 60 * 1000,
    .send_ms = 120 * 1000,
    .leave_ms = 2 * 1000,
    .drain_ms = 10 * 1000,
    .stack_bytes = PTC_MB,
    .log_fd = STDERR_FILENO,
    .owner_share = 100,
};

/* The watcher's own descriptors in epoll; connections have larger numbers. */
enum { EVENT_SIGNAL = 1, EVENT_LISTEN = 2 };

unsigned ptc_http_port(const PtcHttp *http)
{
    return ptc_http_address_port(&http->address);
}

/* -------------------------------------------------------------------- start */

/* One thread per connection: handlers block, and a slow client holds up nobody else.  We accept connections ourselves:
 * the library would try again and again, without a pause, when there is no descriptor left for one.  We also count them
 * ourselves: at its own limit, version 0.9 never unlocks what its threads need. */
static bool start_daemon(PtcHttp *http, const PtcHttpConfig *config)
{
    http->daemon = http->mhd.MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
            MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET,
        0, NULL, NULL, ptc_http_on_request, http, MHD_OPTION_THREAD_STACK_SIZE, config->stack_bytes,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)INT_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEAD_MAX, MHD_OPTION_NOTIFY_CONNECTION, ptc_http_on_connection, http,
        MHD_OPTION_NOTIFY_COMPLETED, ptc_http_on_completed, http, MHD_OPTION_URI_LOG_CALLBACK,
        ptc_http_on_uri, http, MHD_OPTION_UNESCAPE_CALLBACK, ptc_http_on_escapes, http,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    return http->daemon != NULL;
}

static bool watch_fd(PtcHttp *http, int fd, uint64_t id)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = id};
    return fd >= 0 && epoll_ctl(http->conns.epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool add_http_names(PtcHttpNames *names, const char *const *list, size_t count,
                           const char *what, PtcWhy *why)
{
    for (size_t i = 0; i < count; i++)
        if (!ptc_http_names_add(names, list[i], why))
            return ptc_why_prefix(why, "%s %.300s: ", what, list[i]);
    return true;
}

/* Makes the text of a token file the guard's tokens, replacing those it has. */
static bool take_guard_tokens(PtcHttp *http, PtcText text, PtcWhy *why)
{
    PtcHttpTokens tokens;
    if (!ptc_http_tokens_init(&tokens, http->shared.mem))
        return ptc_why_no_memory(why);
    bool ok = ptc_http_tokens_read(&tokens, text, why);
    if (ok)
        ptc_http_guard_replace(&http->shared.guard, &tokens);
    ptc_http_tokens_deinit(&tokens);
    return ok || ptc_why_prefix(why, "tokens, %s: ", why->path);
}

/* Refused rather than warned about: a server open to the network without a token is never meant. */
static bool set_up_guard(PtcHttp *http, const PtcHttpConfig *config, PtcWhy *why)
{
    PtcHttpGuard *guard = &http->shared.guard;
    if (config->tokens &&
        !take_guard_tokens(http, (PtcText){config->tokens, config->tokens_len}, why))
        return false;
    if (!guard->loopback && guard->tokens.count == 0)
        return ptc_why_say(why, PTC_WHY_REFUSED,
                           "an address that other machines can reach needs a bearer token "
                           "(--token-file FILE); without one listen on 127.0.0.1");
    return add_http_names(&guard->hosts, config->hosts, config->host_count, "host", why) &&
           add_http_names(&guard->origins, config->origins, config->origin_count, "origin", why);
}

static int log_fd_of(const PtcHttpConfig *config)
{
    return config->quiet ? -1 : config->log_fd;
}

/* At least two messages must fit at once, or large messages could never arrive. */
static void set_http_limits(PtcHttp *http, const PtcHttpConfig *config)
{
    size_t two = 2 * ptc_mcp_max_frame(http->shared.mcp);
    size_t bodies = config->max_body_bytes ? config->max_body_bytes : BODIES;
    http->shared.stateless = config->stateless;
    http->shared.path = config->path;
    http->shared.isolation = config->isolation;
    http->shared.more_metrics = config->metrics;
    http->shared.metrics_user = config->metrics_user;
    http->shared.ready = config->ready;
    http->shared.ready_user = config->ready_user;
    http->shared.max_body_bytes = bodies > two ? bodies : two;
    http->reload = config->reload;
    http->reload_user = config->reload_user;
    http->again = config->again;
    http->again_user = config->again_user;
    http->conns.request_ns = config->request_ms * PTC_MS;
    http->conns.send_ns = config->send_ms * PTC_MS;
    http->leave_ns = config->leave_ms > 0 ? config->leave_ms * PTC_MS : 0;
    http->drain_ns = config->drain_ms * PTC_MS;
}

/* Running out of descriptors under load would be told too late. */
static bool check_files(const PtcHttp *http, PtcWhy *why)
{
    size_t need = ptc_http_conns_slots(&http->conns) + OTHER_FILES, limit = ptc_open_files_limit();
    return limit >= need ||
           ptc_why_say(why, PTC_WHY_UNAVAILABLE,
                       "%zu connections need %zu open files, and the limit here is %zu: raise it "
                       "(ulimit -n, LimitNOFILE=), or give a lower --max-connections",
                       http->conns.most, need, limit);
}

/* Everything but the daemon.  What was opened is closed by ptc_http_free. */
static bool prepare_http(PtcHttp *http, const PtcHttpConfig *config, PtcWhy *why)
{
    if (!set_up_guard(http, config, why) || !check_files(http, why))
        return false;
    set_http_limits(http, config);
    http->listen_fd = ptc_http_listen(&http->address, why);
    if (http->listen_fd < 0 || !ptc_mhd_load(&http->mhd, why))
        return false;
    http->shared.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (http->shared.stop_fd < 0 || !watch_fd(http, http->listen_fd, EVENT_LISTEN))
        return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s", strerror(errno));
    return start_daemon(http, config) ||
           ptc_why_say(why, PTC_WHY_UNAVAILABLE, "the HTTP library did not start");
}

/* The parts that own memory; on failure nothing is left of them. */
static bool init_parts(PtcHttp *http, PtcMcp *mcp, const PtcHttpConfig *config)
{
    bool loopback = ptc_http_address_is_local(&http->address);
    size_t most = config->max_connections;
    size_t each = config->max_per_address ? config->max_per_address : (most + 1) / 2;
    if (loopback) /* all connections of a proxy come from here */
        each = most;
    if (!ptc_http_shared_init(&http->shared, mcp, loopback, config->max_sessions,
                              log_fd_of(config)))
        return false;
    http->shared.sessions.owner_share = config->owner_share;
    http->shared.sessions.keep = config->keep;
    http->shared.log.json = config->json_log;
    if (ptc_http_conns_init(&http->conns, &http->shared, most, each)) {
        http->conns.most_of_owner = (most * config->owner_share + 99) / 100;
        return true;
    }
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
    c.leave_ms = c.leave_ms ? c.leave_ms : d->leave_ms;
    c.drain_ms = c.drain_ms ? c.drain_ms : d->drain_ms;
    c.stack_bytes = c.stack_bytes ? c.stack_bytes : d->stack_bytes;
    c.log_fd = c.log_fd ? c.log_fd : d->log_fd;
    c.owner_share = c.owner_share ? c.owner_share : d->owner_share;
    return c;
}

PtcHttp *ptc_http_new(PtcMcp *mcp, const PtcHttpConfig *given, PtcWhy *why)
{
    PtcHttpConfig config = with_defaults(given);
    PtcHttpAddress address;
    if (!ptc_http_address_parse(&address, config.listen, why))
        return NULL;
    PtcMem *mem = ptc_mcp_mem(mcp);
    PtcHttp *http = ptc_mem_alloc(mem, sizeof *http);
    if (http) {
        memset(http, 0, sizeof *http);
        http->address = address;
        http->listen_fd = http->signal_fd = -1;
    }
    if (!http || !init_parts(http, mcp, &config)) {
        ptc_mem_free(mem, http, sizeof *http);
        ptc_why_no_memory(why);
        return NULL;
    }
    if (prepare_http(http, &config, why))
        return http;
    ptc_http_free(http);
    return NULL;
}

/* --------------------------------------------------------------------- serve */

static sigset_t our_signals(void)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(&set, signals[i]);
    return set;
}

void ptc_http_block_signals(void)
{
    sigset_t set = our_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* whoever reads the log may go away */
}

/* Owners who no longer have a token lose the sessions they opened with it. */
static void end_sessions_of_strangers(PtcHttp *http)
{
    PtcHttpSession *session;
    while ((session = ptc_http_sessions_find(&http->shared.sessions, &http->shared.guard)) !=
           NULL) {
        ptc_http_session_end(&http->shared.sessions, session, true);
        ptc_http_session_drop(&http->shared.sessions, session, ptc_clock_ns(NULL));
    }
}

/* If anything is wrong with the new tokens, the old ones stay in use. */
static void reload_guard_tokens(PtcHttp *http)
{
    PtcWhy why;
    PtcBuf text;
    ptc_buf_init(&text, http->shared.mem, HTTP_TOKENS_MAX);
    ptc_why_say(&why, PTC_WHY_UNAVAILABLE, "there is no token file");
    bool ok = http->reload && http->reload(http->reload_user, &text, &why) &&
              take_guard_tokens(http, ptc_buf_view(&text), &why);
    if (text.data)
        ptc_secret_wipe(text.data, text.cap);
    ptc_buf_deinit(&text);
    if (ok) {
        end_sessions_of_strangers(http);
        ptc_http_log_say(&http->shared.log, "the tokens were read again: %zu of %zu owners",
                         http->shared.guard.tokens.count,
                         ptc_http_tokens_owners(&http->shared.guard.tokens));
    } else {
        ptc_http_log_say(&http->shared.log, "the tokens stay as they were: %s", why.text);
    }
}

static void watch_listener(PtcHttp *http, bool on)
{
    struct epoll_event event = {.events = on ? EPOLLIN : 0, .data.u64 = EVENT_LISTEN};
    (void)epoll_ctl(http->conns.epoll_fd, EPOLL_CTL_MOD, http->listen_fd, &event);
}

/* There is no descriptor for the next connection, which waits: one that is not in use makes room, and we try again
 * after a while. */
static void pause_http_accepting(PtcHttp *http, int error)
{
    int64_t now = ptc_clock_ns(NULL);
    watch_listener(http, false);
    http->accept_ns = now + PAUSE_MS * PTC_MS;
    ptc_http_conns_make_room(&http->conns);
    if (http->complained_ns && now - http->complained_ns < COMPLAIN_S * PTC_S)
        return;
    http->complained_ns = now;
    ptc_http_log_say(&http->shared.log,
                     "no connection can be accepted now: %s; %zu are open, and files %zu at most",
                     strerror(error), atomic_load(&http->shared.connections),
                     ptc_open_files_limit());
}

bool ptc_http_accept(PtcHttp *http)
{
    PtcHttpAddress from;
    int fd = 0;
    for (int i = 0; i < ACCEPTS && fd >= 0; i++) {
        socklen_t len = sizeof from;
        fd = accept4(http->listen_fd, &from.any, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0 && ptc_http_conns_are_full(&http->conns))
            close(fd);
        else if (fd >= 0)
            (void)http->mhd.MHD_add_connection(http->daemon, fd, &from.any, len);
    }
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
        pause_http_accepting(http, errno);
    return fd >= 0;
}

/* The kernel itself sends SIGHUP when the terminal is gone: nobody is there to whom we would be of use.  From others
 * it means what it means for servers. */
static PtcHttpAsked take_http_signal(PtcHttp *http)
{
    struct signalfd_siginfo info;
    if (read(http->signal_fd, &info, sizeof info) != (ssize_t)sizeof info)
        return PTC_HTTP_SERVES;
    bool hung_up = info.ssi_signo == SIGHUP && info.ssi_code == SI_KERNEL;
    if (info.ssi_signo == SIGTERM)
        return PTC_HTTP_IS_TO_LEAVE;
    if (info.ssi_signo == SIGINT || hung_up)
        return PTC_HTTP_IS_TO_STOP;
    if (http->reload || !http->again)
        reload_guard_tokens(http);
    if (http->again)
        http->again(http->again_user);
    return PTC_HTTP_SERVES;
}

static PtcHttpAsked take_http_event(PtcHttp *http, uint64_t id)
{
    if (id == EVENT_SIGNAL)
        return take_http_signal(http);
    if (id == EVENT_LISTEN)
        (void)ptc_http_accept(http);
    else
        ptc_http_conns_event(&http->conns, id);
    return PTC_HTTP_SERVES;
}

PtcHttpAsked ptc_http_watch(PtcHttp *http, int most_ms)
{
    struct epoll_event events[64];
    PtcHttpAsked asked = PTC_HTTP_SERVES;
    int n = epoll_wait(http->conns.epoll_fd, events, 64, most_ms);
    for (int i = 0; i < n; i++) {
        PtcHttpAsked one = take_http_event(http, events[i].data.u64);
        asked = one > asked ? one : asked;
    }
    int64_t now = ptc_clock_ns(NULL);
    ptc_http_log_flush(&http->shared.log);
    if (http->accept_ns && now >= http->accept_ns) {
        http->accept_ns = 0;
        watch_listener(http, true);
    }
    if (now - http->ticked_ns >= PTC_S) {
        http->ticked_ns = now;
        ptc_http_conns_tick(&http->conns, now);
    }
    if (now - http->swept_ns >= 10 * PTC_S) {
        http->swept_ns = now;
        ptc_http_sessions_sweep(&http->shared.sessions, now, false);
    }
    return asked;
}

void ptc_http_serve(PtcHttp *http)
{
    PtcHttpAsked asked;
    sigset_t set = our_signals();
    http->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    (void)watch_fd(http, http->signal_fd, EVENT_SIGNAL);
    ptc_http_log_say(&http->shared.log, "listening on port %u, endpoint %s", ptc_http_port(http),
                     http->shared.path);
    while ((asked = ptc_http_watch(http, WATCH_MS)) == PTC_HTTP_SERVES)
        ;
    ptc_http_stop(http, asked);
    http->mhd.MHD_stop_daemon(http->daemon);
    http->daemon = NULL;
    ptc_http_log_say(&http->shared.log, "stopped");
}

void ptc_http_free(PtcHttp *http)
{
    PtcMem *mem = http->shared.mem;
    if (http->daemon)
        http->mhd.MHD_stop_daemon(http->daemon);
    if (http->listen_fd >= 0)
        close(http->listen_fd);
    if (http->signal_fd >= 0)
        close(http->signal_fd);
    if (http->shared.stop_fd >= 0)
        close(http->shared.stop_fd);
    ptc_http_conns_deinit(&http->conns);
    ptc_http_shared_deinit(&http->shared);
    ptc_mem_free(mem, http, sizeof *http);
}
