/* SPDX-License-Identifier: MIT
 * http_session.h - the protocol sessions of legacy HTTP clients: an unguessable name for what `initialize`
 * agreed on.  Modern clients have none.  All functions may be called by any thread. */
#ifndef PTC_MCP_HTTP_HTTP_SESSION_H
#define PTC_MCP_HTTP_HTTP_SESSION_H

#include <pthread.h>

#include "mcp/http/http_guard.h"
#include "mcp/server/transport.h"

enum {
    PTC_HTTP_SESSION_DIGITS = 32,      /* hexadecimal digits: 128 random bits */
    PTC_HTTP_SESSION_REST_S = 60,      /* one that was used since is not dropped to make room */
    PTC_HTTP_SESSION_IDLE_S = 30 * 60, /* unused for so long, it ends */
    PTC_HTTP_SESSION_KEEP_S = 60,      /* one that is used is kept anew after this */
};

typedef struct PtcHttpSession PtcHttpSession;

/* Where sessions are kept beside memory, so that clients which do not begin anew go on after a restart.  Any thread. */
typedef struct PtcHttpKeep {
    void (*save)(void *user, const char *owner, PtcText id, PtcText bytes);
    bool (*load)(void *user, const char *owner, PtcText id, PtcBuf *bytes);
    void (*forget)(void *user, const char *owner, PtcText id);
    void *user;
} PtcHttpKeep;

typedef struct PtcHttpSessions {
    PtcMem *mem;
    pthread_mutex_t lock;
    PtcHttpSession **table; /* open addressing is not worth it: chains by first byte of the id */
    size_t count, max;
    unsigned owner_share; /* percent of them that one owner may have */
    PtcMcp *mcp;
    const PtcHttpKeep *keep; /* NULL: in memory only */
} PtcHttpSessions;

/* False: no memory. */
PTC_MUST_USE bool ptc_http_sessions_init(PtcHttpSessions *sessions, PtcMcp *mcp, size_t max);
/* Ends all; nobody may hold one any more. */
void ptc_http_sessions_deinit(PtcHttpSessions *sessions);

/* A new session, held by the caller, that owns the peer from now on.  NULL: too many, no memory or no random
 * bytes; the peer is then still the caller's. */
PTC_MUST_USE PtcHttpSession *ptc_http_session_new(PtcHttpSessions *sessions, PtcMcpPeer *peer,
                                                  const char *owner, int64_t now_ns);

/* The session of this id and owner, held; NULL when there is none.  The owner counts, so that a stolen id is
 * worth nothing without the token. */
PTC_MUST_USE PtcHttpSession *ptc_http_session_hold(PtcHttpSessions *sessions, PtcText id,
                                                   const char *owner, int64_t now_ns);
/* Has it kept, when that is some time ago or `changed`. */
void ptc_http_session_keep(PtcHttpSessions *sessions, PtcHttpSession *session, bool changed,
                           int64_t now_ns);
/* Gives it back; the last one to do so after its end frees it. */
void ptc_http_session_drop(PtcHttpSessions *sessions, PtcHttpSession *session, int64_t now_ns);
/* Ends it: its calls are cancelled, its id is unknown from now on.  The caller still holds it.  Without `forget` it can
 * be taken up again from where it is kept. */
void ptc_http_session_end(PtcHttpSessions *sessions, PtcHttpSession *session, bool forget);
/* Ends those that nobody used for PTC_HTTP_SESSION_IDLE_S; with `all`, every one. */
void ptc_http_sessions_sweep(PtcHttpSessions *sessions, int64_t now_ns, bool all);
size_t ptc_http_sessions_count(PtcHttpSessions *sessions);
/* One whose owner has no token any more, held; NULL when there is none. */
PTC_MUST_USE PtcHttpSession *ptc_http_sessions_find(PtcHttpSessions *sessions, PtcHttpGuard *guard);

const char *ptc_http_session_id(const PtcHttpSession *session); /* NUL-ended */
PtcMcpPeer *ptc_http_session_peer(const PtcHttpSession *session);
/* A session has one stream of its own: takes it, or false when it is taken. */
PTC_MUST_USE bool ptc_http_session_take_stream(PtcHttpSession *session);
void ptc_http_session_give_stream(PtcHttpSession *session);
bool ptc_http_session_ended(const PtcHttpSession *session);

#endif
