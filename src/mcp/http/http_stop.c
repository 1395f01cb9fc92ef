/* SPDX-License-Identifier: MIT
 * http_stop.c - how the server ends, in steps, each of which has its time.  What always holds: a request that has
 * arrived is answered, and a socket is closed only after its client was told, or has said nothing for a while; so
 * servers that are restarted one after the other lose no call.
 *
 *     leave     /ready says no, calls are taken, and each answer is the last on its connection      leave_ms
 *     drain     calls are refused, streams end, and calls under way go on                           drain_ms
 *     refuse    nobody can connect any more
 *     cancel    what has not ended by itself                                                        CANCEL_MS
 *     part      connections that are left are closed, first by us in our direction     leave_ms / 2 + PART_MS
 *
 * A signal ends the step, and what follows is no longer polite. */
#include <linux/filter.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mcp/http/http_int.h"

enum {
    LOOK_MS = 10, /* between two looks whether a step is over */
    CANCEL_MS = 2000,
    PART_MS = 2000,
    HALF_MADE_MS = 20, /* for clients whose connection is half made ... */
    LOCAL_MS = 2,      /* ... on this machine */
};

static size_t forever(PtcHttpConns *conns)
{
    (void)conns;
    return 1;
}

static size_t calls_and_tasks(PtcHttpConns *conns)
{
    PtcHttp *http = (PtcHttp *)(void *)((char *)conns - offsetof(PtcHttp, conns));
    return ptc_http_conns_busy(conns) + ptc_mcp_tasks_to_await(http->shared.mcp);
}

/* Until nothing is left, or the time is up.  False: somebody has asked again. */
static bool watch_for(PtcHttp *http, size_t (*left)(PtcHttpConns *), int64_t ns)
{
    int64_t until = ptc_clock_ns(NULL) + ns;
    while (left(&http->conns) > 0 && ptc_clock_ns(NULL) < until)
        if (ptc_http_watch(http, ns < LOOK_MS * PTC_MS ? 1 : LOOK_MS) != PTC_HTTP_SERVES)
            return false;
    return true;
}

static bool leave(PtcHttp *http)
{
    atomic_store(&http->shared.leaving, true);
    if (http->leave_ns == 0)
        return true;
    ptc_http_log_say(&http->shared.log, "leaving: calls are taken for another %.1f s",
                     (double)http->leave_ns / PTC_S);
    return watch_for(http, forever, http->leave_ns);
}

/* No new calls; streams end. */
static void stop_beginning(PtcHttp *http)
{
    uint64_t one = 1;
    ptc_http_log_say(&http->shared.log, "stopping: calls under way have %lld s to end",
                     (long long)(http->drain_ns / PTC_S));
    atomic_store(&http->shared.stopping, true);
    ssize_t n = write(http->shared.stop_fd, &one, sizeof one);
    (void)n;
}

/* Drops the packet that begins a connection, which says SYN without ACK in byte 13.  It comes again a second later,
 * and is then refused, or meets whoever listens there next. */
static void drop_beginnings(int listen_fd)
{
    enum { FLAGS = 13, SYN = 0x02, ACK = 0x10 };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SYN | ACK),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYN, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog filter = {.len = sizeof code / sizeof *code, .filter = code};
    (void)setsockopt(listen_fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

/* To close a listener resets the connections that wait to be accepted: so no new one may begin, those that have are
 * taken, and then it is closed.  Where the kernel has no such filter, the last ones may be lost. */
static void refuse_connections(PtcHttp *http)
{
    drop_beginnings(http->listen_fd);
    bool local = ptc_http_address_is_local(&http->address);
    (void)watch_for(http, forever, (local ? LOCAL_MS : HALF_MADE_MS) * PTC_MS);
    while (ptc_http_accept(http))
        ;
    (void)epoll_ctl(http->conns.epoll_fd, EPOLL_CTL_DEL, http->listen_fd, NULL);
    close(http->listen_fd);
    http->listen_fd = -1;
    http->accept_ns = 0;
}

static void cancel_calls(PtcHttp *http)
{
    ptc_mcp_stop(http->shared.mcp);
    ptc_http_sessions_sweep(&http->shared.sessions, 0, true);
    ptc_http_conns_cancel(&http->conns);
    (void)watch_for(http, ptc_http_conns_busy, CANCEL_MS * PTC_MS);
}

/* A client that keeps its connection, and has not asked since we began to leave, does not know yet that we go.  What
 * it asks now is refused, and then it knows; when it stays silent we part. */
static void part(PtcHttp *http)
{
    int64_t silent = http->leave_ns / 2;
    int64_t until = ptc_clock_ns(NULL) + silent + PART_MS * PTC_MS;
    while (ptc_http_conns_open(&http->conns) > 0 && ptc_clock_ns(NULL) < until) {
        ptc_http_conns_part(&http->conns, ptc_clock_ns(NULL) - silent);
        if (ptc_http_watch(http, LOOK_MS) != PTC_HTTP_SERVES)
            return;
    }
}

void ptc_http_stop(PtcHttp *http, PtcHttpAsked asked)
{
    if (asked == PTC_HTTP_IS_TO_STOP)
        http->leave_ns = 0;
    bool polite = leave(http);
    stop_beginning(http);
    if (!polite || !watch_for(http, calls_and_tasks, http->drain_ns))
        http->leave_ns = 0;
    refuse_connections(http);
    cancel_calls(http);
    part(http);
}
