/* SPDX-License-Identifier: MIT
 * http_conn.h - open connections and how long they may take.
 *
 * Each has a slot as long as the HTTP library knows its socket.  One thread watches them all: a client that vanishes
 * is noticed through epoll, a slow one by looking at every slot once a second.  Its socket is then shut down, which
 * the connection's own thread sees.  There is no other timeout, so sending a byte now and then buys no time.
 *
 * When the limit is reached, in all or for one peer, the oldest connection whose client is still unknown makes room:
 * someone who merely holds connections open cannot keep out those who use theirs.  Of several owners, none has more
 * than its share. */
#ifndef PTC_MCP_HTTP_HTTP_CONN_H
#define PTC_MCP_HTTP_HTTP_CONN_H

#include <netinet/in.h>

#include "mcp/http/http_exchange.h"

typedef enum {
    PTC_HTTP_RECEIVING, /* waiting for a request, or for the rest of one */
    PTC_HTTP_WORKING,
    PTC_HTTP_SENDING,
} PtcHttpPhase;

typedef struct PtcHttpConn {
    PtcHttpExchange exchange;
    uint64_t id; /* slot number and a count, so that an old event finds nobody */
    int fd;
    atomic_int phase;
    atomic_int_fast64_t since_ns; /* when the phase began */
    atomic_bool asked;            /* a head has come, and the end of its answer has not been sent */
    bool last;                    /* its client was told that no answer comes after this one */
    char address[INET6_ADDRSTRLEN];
    size_t uri_len; /* of the request's first line, as it was sent */
    int64_t opened_ns;
    /* guarded by the lock of all */
    bool doomed; /* on its way out: shut down to make room, or after its last answer */
    char owner[PTC_HTTP_OWNER_MAX]; /* as whom its client last spoke; "": not known */
} PtcHttpConn;

typedef struct PtcHttpConns {
    PtcHttpShared *shared;
    /* It guards the slots, and of each connection what says so.  Connections that open, close or become somebody's
     * take it, and the thread that looks after times; the locks of an exchange, of its stream and of its call are
     * taken inside. */
    pthread_mutex_t lock;
    PtcHttpConn **slot;
    size_t max, count;                 /* slots; those in use, doomed ones included */
    size_t doomed, most, most_of_peer; /* limits for connections that are not doomed */
    size_t most_of_owner;
    uint64_t next_id;
    int epoll_fd;
    int64_t request_ns, send_ns;
} PtcHttpConns;

/* At most `most` connections, `most_of_peer` of one peer; most_of_owner is as many until it is set. */
PTC_MUST_USE bool ptc_http_conns_init(PtcHttpConns *conns, PtcHttpShared *shared, size_t most,
                                      size_t most_of_peer);
/* How many may be open: a few more, because what is shut down takes a moment to go. */
size_t ptc_http_conns_slots(const PtcHttpConns *conns);
/* All of these are; counts as a fault. */
bool ptc_http_conns_are_full(PtcHttpConns *conns);
void ptc_http_conns_deinit(PtcHttpConns *conns);

/* Who is at the other end, as far as limits are concerned. */
PtcHttpPeer ptc_http_conn_peer(const struct sockaddr *address);
/* A connection that the HTTP library accepted; NULL: no room, and its socket was shut down.  Freed by
 * ptc_http_conn_close, which must come before the socket's number is reused. */
PTC_MUST_USE PtcHttpConn *ptc_http_conn_open(PtcHttpConns *conns, int fd,
                                             const struct sockaddr *address);
void ptc_http_conn_close(PtcHttpConns *conns, PtcHttpConn *conn);
void ptc_http_conn_enter(PtcHttpConn *conn, PtcHttpPhase phase);

/* The connection has become one of the owner of its exchange.  False: it has enough of them. */
PTC_MUST_USE bool ptc_http_conn_claim(PtcHttpConns *conns, PtcHttpConn *conn);
/* Shuts down the oldest connection whose client is still unknown, if there is one. */
void ptc_http_conns_make_room(PtcHttpConns *conns);

/* An event of epoll_fd about a connection. */
void ptc_http_conns_event(PtcHttpConns *conns, uint64_t id);
/* Once a second: keeps streams alive, shuts down what is too slow. */
void ptc_http_conns_tick(PtcHttpConns *conns, int64_t now_ns);
/* Cancels every call under way. */
void ptc_http_conns_cancel(PtcHttpConns *conns);
/* How many are in the middle of a request. */
size_t ptc_http_conns_busy(PtcHttpConns *conns);
size_t ptc_http_conns_open(PtcHttpConns *conns);
/* Those that wait for a request since then, or longer, are told that nothing more comes; most clients close theirs. */
void ptc_http_conns_part(PtcHttpConns *conns, int64_t since_ns);
/* After the last answer, on the connection's thread: reads until the client closes, for a moment.  To close a socket
 * with bytes in it that nobody has read resets the connection, and the client may lose what it was sent. */
void ptc_http_conn_await_close(PtcHttpConns *conns, PtcHttpConn *conn);

#endif
