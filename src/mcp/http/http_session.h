/* SPDX-License-Identifier: MIT
 * http_session.h - the protocol sessions of legacy HTTP clients: an unguessable name for what `initialize` agreed
 * on.  Modern clients have none.  Any thread may call these functions. */
#ifndef PTC_MCP_HTTP_HTTP_SESSION_H
#define PTC_MCP_HTTP_HTTP_SESSION_H

#include <pthread.h>

#include "mcp/http/http_guard.h"
#include "mcp/server/transport.h"

enum {
    PTC_HTTP_SESSION_DIGITS = 32,      /* hexadecimal digits: 128 random bits */
    PTC_HTTP_SESSION_REST_S = 60,      /* one used since then is not dropped to make room */
    PTC_HTTP_SESSION_IDLE_S = 30 * 60, /* unused for this long, it ends */
    PTC_HTTP_SESSION_KEEP_S = 60,      /* one in use is saved again after this */
};

typedef struct PtcHttpSession PtcHttpSession;

/* Where sessions are kept besides memory, so that clients that do not initialize again can continue after a restart.
 * Any thread. */
typedef struct PtcHttpKeep {
    void (*save)(void *user, const char *owner, PtcText id, PtcText bytes);
    bool (*load)(void *user, const char *owner, PtcText id, PtcBuf *bytes);
    void (*forget)(void *user, const char *owner, PtcText id);
    void *user;
} PtcHttpKeep;

typedef struct PtcHttpSessions {
    PtcMem *mem;
    /* It guards the table and what sessions say is under it.  Requests take it to find, hold and let go of a
     * session; the lock of the guard's tokens is taken inside.  Stores are asked without it. */
    pthread_mutex_t lock;
    /* chains by the first byte of the id; open addressing is not worth it */
    PtcHttpSession **table;
    size_t count, max;
    unsigned owner_share; /* percentage of them that one owner may have */
    PtcMcp *mcp;
    const PtcHttpKeep *keep; /* NULL: in memory only */
} PtcHttpSessions;

/* False: out of memory. */
PTC_MUST_USE bool ptc_http_sessions_init(PtcHttpSessions *sessions, PtcMcp *mcp, size_t max);
/* Ends all of them; nobody may hold one any more. */
void ptc_http_sessions_deinit(PtcHttpSessions *sessions);

/* A new session, held by the caller, that owns the peer from now on.  NULL: too many, out of memory, or no random
 * bytes; the peer is then still the caller's. */
PTC_MUST_USE PtcHttpSession *ptc_http_session_new(PtcHttpSessions *sessions, PtcMcpPeer *peer,
                                                  const char *owner, int64_t now_ns);

/* The session of this id and owner, held; NULL if there is none.  The owner counts, so that a stolen id is worth
 * nothing without the token. */
PTC_MUST_USE PtcHttpSession *ptc_http_session_hold(PtcHttpSessions *sessions, PtcText id,
                                                   const char *owner, int64_t now_ns);
/* Saves it if it `changed` or was last saved some time ago. */
void ptc_http_session_keep(PtcHttpSessions *sessions, PtcHttpSession *session, bool changed,
                           int64_t now_ns);
/* Releases it; the last one to do so after its end frees it. */
void ptc_http_session_drop(PtcHttpSessions *sessions, PtcHttpSession *session, int64_t now_ns);
/* Ends it: its calls are cancelled, its id is unknown from now on.  The caller still holds it.  Without `forget` it
 * can be resumed from where it is kept. */
void ptc_http_session_end(PtcHttpSessions *sessions, PtcHttpSession *session, bool forget);
/* Ends those that nobody used for PTC_HTTP_SESSION_IDLE_S; with `all`, all of them. */
void ptc_http_sessions_sweep(PtcHttpSessions *sessions, int64_t now_ns, bool all);
size_t ptc_http_sessions_count(PtcHttpSessions *sessions);
/* One whose owner no longer has a token, held; NULL if there is none. */
PTC_MUST_USE PtcHttpSession *ptc_http_sessions_find(PtcHttpSessions *sessions, PtcHttpGuard *guard);

const char *ptc_http_session_id(const PtcHttpSession *session); /* NUL-ended */
PtcMcpPeer *ptc_http_session_peer(const PtcHttpSession *session);
/* A session has one stream of its own: takes it, or returns false if it is taken. */
PTC_MUST_USE bool ptc_http_session_take_stream(PtcHttpSession *session);
void ptc_http_session_give_stream(PtcHttpSession *session);
bool ptc_http_session_ended(const PtcHttpSession *session);

#endif
