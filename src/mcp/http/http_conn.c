/* SPDX-License-Identifier: MIT
 * http_conn.c - the table of connections.  What always holds: every open connection has a slot, because without one
 * nobody would notice that it is slow or gone. */
#include "mcp/http/http_conn.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/budget.h"

enum {
    SPARE = 32,         /* slots for connections being shut down */
    CROWDED_S = 5,      /* how long a connection may idle when nearly all are in use */
    SLOT_BITS = 16,     /* of an id: the slot; the rest is a count */
    FIRST_ID = 1 << 20, /* smaller ids are the watcher's own */
    CLOSE_MS = 2000,    /* how long a client may take to close after the last answer */
};

bool ptc_http_conns_init(PtcHttpConns *conns, PtcHttpShared *shared, size_t most,
                         size_t most_of_peer)
{
    size_t max = most + SPARE;
    *conns = (PtcHttpConns){.shared = shared,
                            .max = max,
                            .most = most,
                            .most_of_peer = most_of_peer,
                            .most_of_owner = most,
                            .next_id = FIRST_ID >> SLOT_BITS};
    conns->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    conns->slot = ptc_mem_alloc(shared->mem, max * sizeof *conns->slot);
    pthread_mutex_init(&conns->lock, NULL);
    if (conns->epoll_fd >= 0 && conns->slot) {
        memset(conns->slot, 0, max * sizeof *conns->slot);
        return true;
    }
    ptc_http_conns_deinit(conns);
    return false;
}

void ptc_http_conns_deinit(PtcHttpConns *conns)
{
    if (conns->epoll_fd >= 0)
        close(conns->epoll_fd);
    ptc_mem_free(conns->shared->mem, conns->slot, conns->max * sizeof *conns->slot);
    pthread_mutex_destroy(&conns->lock);
}

/* ------------------------------------------------------------ open and close */

size_t ptc_http_conns_slots(const PtcHttpConns *conns)
{
    return conns->max;
}

bool ptc_http_conns_are_full(PtcHttpConns *conns)
{
    pthread_mutex_lock(&conns->lock);
    bool full = conns->count == conns->max;
    pthread_mutex_unlock(&conns->lock);
    if (full)
        ptc_http_metrics_fault(&conns->shared->metrics, PTC_HTTP_FAULT_BUSY);
    return full;
}

PtcHttpPeer ptc_http_conn_peer(const struct sockaddr *address)
{
    PtcHttpPeer peer = {0, false};
    const struct in6_addr *v6 = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    uint32_t v4 = 0;
    if (address->sa_family == AF_INET) {
        peer.high = ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr;
    } else if (address->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(v6)) {
        memcpy(&v4, v6->s6_addr + 12, sizeof v4);
        peer.high = v4;
    } else if (address->sa_family == AF_INET6) {
        memcpy(&peer.high, v6, sizeof peer.high);
        peer.v6 = true;
    }
    return peer;
}

static bool same_peer(PtcHttpPeer a, PtcHttpPeer b)
{
    return a.high == b.high && a.v6 == b.v6;
}

static void name_address(char *to, size_t size, const struct sockaddr *address)
{
    const void *bytes =
        address->sa_family == AF_INET6
            ? (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr
            : (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr;
    if (!inet_ntop(address->sa_family, bytes, to, (socklen_t)size))
        *to = '\0';
}

static size_t find_free_slot(const PtcHttpConns *conns)
{
    size_t i = 0;
    while (i < conns->max && conns->slot[i])
        i++;
    return i;
}

/* Doomed connections do not count: they are on their way out. */
static size_t count_peer(const PtcHttpConns *conns, PtcHttpPeer peer)
{
    size_t n = 0;
    for (size_t i = 0; i < conns->max; i++)
        n += conns->slot[i] && !conns->slot[i]->doomed &&
             same_peer(conns->slot[i]->exchange.peer, peer);
    return n;
}

/* The oldest connection (of this peer, unless NULL) whose client has not yet shown that it may be here. */
static PtcHttpConn *find_stranger(const PtcHttpConns *conns, const PtcHttpPeer *peer)
{
    PtcHttpConn *oldest = NULL;
    for (size_t i = 0; i < conns->max; i++) {
        PtcHttpConn *c = conns->slot[i];
        if (c && !c->doomed && !atomic_load(&c->exchange.welcome) &&
            (!peer || same_peer(c->exchange.peer, *peer)) &&
            (!oldest || c->opened_ns < oldest->opened_ns))
            oldest = c;
    }
    return oldest;
}

/* Shuts one down; false: there is none to shut down. */
static bool make_conn_room(PtcHttpConns *conns, const PtcHttpPeer *peer)
{
    PtcHttpConn *old = find_stranger(conns, peer);
    if (!old)
        return false;
    old->doomed = true;
    conns->doomed++;
    ptc_http_metrics_fault(&conns->shared->metrics, PTC_HTTP_FAULT_SLOW);
    (void)shutdown(old->fd, SHUT_RDWR);
    return true;
}

void ptc_http_conns_make_room(PtcHttpConns *conns)
{
    pthread_mutex_lock(&conns->lock);
    (void)make_conn_room(conns, NULL);
    pthread_mutex_unlock(&conns->lock);
}

/* Is there room for one more of this peer, or can room be made? */
static bool admit_peer(PtcHttpConns *conns, PtcHttpPeer peer)
{
    if (count_peer(conns, peer) >= conns->most_of_peer && !make_conn_room(conns, &peer))
        return false;
    return conns->count - conns->doomed < conns->most || make_conn_room(conns, NULL);
}

/* Gives it an id and a slot; false if all are taken. */
static bool settle_conn(PtcHttpConns *conns, PtcHttpConn *conn)
{
    pthread_mutex_lock(&conns->lock);
    size_t i = admit_peer(conns, conn->exchange.peer) ? find_free_slot(conns) : conns->max;
    bool room = i < conns->max;
    if (room) {
        conn->id = conns->next_id++ << SLOT_BITS | i;
        conns->slot[i] = conn;
        conns->count++;
    }
    pthread_mutex_unlock(&conns->lock);
    return room;
}

static size_t slot_of_conn(uint64_t id)
{
    return (size_t)(id & ((1 << SLOT_BITS) - 1));
}

/* Without a slot nobody would look after the connection, so it is shut down. */
static PtcHttpConn *reject(PtcHttpConns *conns, PtcHttpConn *conn, int fd)
{
    (void)shutdown(fd, SHUT_RDWR);
    ptc_http_metrics_fault(&conns->shared->metrics, PTC_HTTP_FAULT_BUSY);
    if (conn)
        ptc_http_exchange_deinit(&conn->exchange);
    ptc_mem_free(conns->shared->mem, conn, sizeof *conn);
    return NULL;
}

/* TCP_NODELAY because answers are written whole; waiting to fill a packet would only add latency. */
PtcHttpConn *ptc_http_conn_open(PtcHttpConns *conns, int fd, const struct sockaddr *address)
{
    PtcHttpConn *conn = ptc_mem_alloc(conns->shared->mem, sizeof *conn);
    if (!conn)
        return reject(conns, NULL, fd);
    conn->fd = fd;
    conn->uri_len = 0;
    conn->doomed = conn->last = false;
    atomic_init(&conn->asked, false);
    conn->owner[0] = '\0';
    conn->opened_ns = ptc_clock_ns(NULL);
    name_address(conn->address, sizeof conn->address, address);
    ptc_http_exchange_init(&conn->exchange, conns->shared, ptc_http_conn_peer(address),
                           conn->address, fd);
    ptc_http_conn_enter(conn, PTC_HTTP_RECEIVING);
    if (!settle_conn(conns, conn))
        return reject(conns, conn, fd);
    atomic_fetch_add(&conns->shared->connections, 1);
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.u64 = conn->id};
    (void)epoll_ctl(conns->epoll_fd, EPOLL_CTL_ADD, fd, &event);
    return conn;
}

static size_t count_owner(const PtcHttpConns *conns, const PtcHttpConn *except, const char *owner)
{
    size_t n = 0;
    for (size_t i = 0; i < conns->max; i++) {
        const PtcHttpConn *c = conns->slot[i];
        n += c && c != except && !c->doomed && strcmp(c->owner, owner) == 0;
    }
    return n;
}

bool ptc_http_conn_claim(PtcHttpConns *conns, PtcHttpConn *conn)
{
    const char *owner = conn->exchange.owner;
    if (!owner[0] || conns->most_of_owner >= conns->most)
        return true;
    pthread_mutex_lock(&conns->lock);
    bool room = count_owner(conns, conn, owner) < conns->most_of_owner;
    memcpy(conn->owner, room ? owner : "", room ? sizeof conn->owner : 1);
    pthread_mutex_unlock(&conns->lock);
    return room;
}

/* Out of epoll before the socket's number can be reused. */
void ptc_http_conn_close(PtcHttpConns *conns, PtcHttpConn *conn)
{
    (void)epoll_ctl(conns->epoll_fd, EPOLL_CTL_DEL, conn->fd, NULL);
    pthread_mutex_lock(&conns->lock);
    conns->slot[slot_of_conn(conn->id)] = NULL;
    conns->count--;
    conns->doomed -= conn->doomed;
    pthread_mutex_unlock(&conns->lock);
    atomic_fetch_sub(&conns->shared->connections, 1);
    ptc_http_exchange_deinit(&conn->exchange);
    ptc_mem_free(conns->shared->mem, conn, sizeof *conn);
}

void ptc_http_conn_enter(PtcHttpConn *conn, PtcHttpPhase phase)
{
    atomic_store_explicit(&conn->since_ns, ptc_clock_ns(NULL), memory_order_relaxed);
    atomic_store_explicit(&conn->phase, (int)phase, memory_order_release);
}

/* ------------------------------------------------------------------ watching */

/* The id has a count in it, so an event of a connection that is gone finds nobody. */
void ptc_http_conns_event(PtcHttpConns *conns, uint64_t id)
{
    pthread_mutex_lock(&conns->lock);
    PtcHttpConn *conn = slot_of_conn(id) < conns->max ? conns->slot[slot_of_conn(id)] : NULL;
    if (conn && conn->id == id)
        ptc_http_exchange_vanish(&conn->exchange);
    pthread_mutex_unlock(&conns->lock);
}

/* How long this phase may last; 0: unlimited. */
static int64_t allowed_ns(const PtcHttpConns *conns, int phase)
{
    bool crowded = conns->count - conns->doomed > conns->most - conns->most / 10;
    switch (phase) {
    case PTC_HTTP_RECEIVING: return crowded ? CROWDED_S * PTC_S : conns->request_ns;
    case PTC_HTTP_SENDING: return conns->send_ns;
    default: return 0;
    }
}

/* Shutting the socket down makes the connection's own thread notice; closing it here would race with that thread. */
static void tick_one(PtcHttpConns *conns, PtcHttpConn *conn, int64_t now_ns)
{
    int phase = atomic_load_explicit(&conn->phase, memory_order_acquire);
    int64_t since = atomic_load_explicit(&conn->since_ns, memory_order_relaxed);
    int64_t allowed = allowed_ns(conns, phase);
    if (phase == PTC_HTTP_WORKING)
        ptc_http_stream_tick(&conn->exchange.stream, now_ns);
    if (allowed && now_ns - since > allowed) {
        ptc_http_metrics_fault(&conns->shared->metrics, PTC_HTTP_FAULT_SLOW);
        (void)shutdown(conn->fd, SHUT_RDWR);
    }
}

void ptc_http_conns_tick(PtcHttpConns *conns, int64_t now_ns)
{
    pthread_mutex_lock(&conns->lock);
    for (size_t i = 0; i < conns->max; i++)
        if (conns->slot[i])
            tick_one(conns, conns->slot[i], now_ns);
    pthread_mutex_unlock(&conns->lock);
}

void ptc_http_conns_cancel(PtcHttpConns *conns)
{
    pthread_mutex_lock(&conns->lock);
    for (size_t i = 0; i < conns->max; i++)
        if (conns->slot[i])
            ptc_http_exchange_cancel(&conns->slot[i]->exchange);
    pthread_mutex_unlock(&conns->lock);
}

size_t ptc_http_conns_busy(PtcHttpConns *conns)
{
    size_t busy = 0;
    pthread_mutex_lock(&conns->lock);
    for (size_t i = 0; i < conns->max; i++)
        busy += conns->slot[i] && atomic_load(&conns->slot[i]->asked);
    pthread_mutex_unlock(&conns->lock);
    return busy;
}

size_t ptc_http_conns_open(PtcHttpConns *conns)
{
    pthread_mutex_lock(&conns->lock);
    size_t open = conns->count;
    pthread_mutex_unlock(&conns->lock);
    return open;
}

/* ------------------------------------------------------------------- parting */

/* A request that comes at the same moment gets no answer, and nothing of it is done: its client sees that the
 * connection was closed, as it would if its request had come a little later. */
void ptc_http_conns_part(PtcHttpConns *conns, int64_t since_ns)
{
    pthread_mutex_lock(&conns->lock);
    for (size_t i = 0; i < conns->max; i++) {
        const PtcHttpConn *c = conns->slot[i];
        if (c && !atomic_load(&c->asked) &&
            atomic_load_explicit(&c->since_ns, memory_order_relaxed) <= since_ns)
            (void)shutdown(c->fd, SHUT_WR);
    }
    pthread_mutex_unlock(&conns->lock);
}

/* It no longer counts, so that clients who do not close keep nobody out.  False: too many are on their way out. */
static bool doom(PtcHttpConns *conns, PtcHttpConn *conn)
{
    pthread_mutex_lock(&conns->lock);
    bool room = !conn->doomed && conns->doomed < SPARE / 2;
    conn->doomed = conn->doomed || room;
    conns->doomed += room;
    pthread_mutex_unlock(&conns->lock);
    return room;
}

void ptc_http_conn_await_close(PtcHttpConns *conns, PtcHttpConn *conn)
{
    char ignored[4096];
    struct pollfd p = {.fd = conn->fd, .events = POLLIN};
    int64_t until = ptc_clock_ns(NULL) + CLOSE_MS * PTC_MS, left;
    ssize_t n = 1;
    if (!doom(conns, conn))
        return;
    (void)shutdown(conn->fd, SHUT_WR);
    while (n > 0 && (left = until - ptc_clock_ns(NULL)) > 0)
        n = poll(&p, 1, (int)(left / PTC_MS) + 1) > 0
                ? recv(conn->fd, ignored, sizeof ignored, MSG_DONTWAIT)
                : 0;
}
