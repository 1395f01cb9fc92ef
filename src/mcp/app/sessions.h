/* SPDX-License-Identifier: MIT
 * sessions.h - the sessions of a server: who owns them, how long they live, the bytes of their snapshots.
 *
 * A session is found by its handle, which cannot be guessed, and only by its owner.  It is a record of a store,
 * which other servers may share.  Whoever works on a session holds it, so that calls take turns, those of one server in
 * the order in which they came.  A hold can be lost: if another server has changed the session meanwhile, what was
 * done to it here must be repeated on the newer state or is not kept; if it was closed there, it is gone here too.
 * Everything is bounded: the number of sessions, the bytes of each, the bytes of all.  Any thread; no lock is held
 * while a program runs. */
#ifndef PTC_MCP_APP_SESSIONS_H
#define PTC_MCP_APP_SESSIONS_H

#include "base/budget.h"
#include "base/buf.h"
#include "store/store.h"

typedef struct PtcSessions PtcSessions;
typedef struct PtcSessionEntry PtcSessionEntry;

enum { PTC_SESSION_HANDLE = 40, PTC_SESSION_TITLE = 200 };

/* 0 or NULL takes the default in brackets. */
typedef struct PtcSessionsConfig {
    unsigned max;         /* sessions [1024] */
    unsigned owner_share; /* percentage of all this that one owner may have [100] */
    int64_t ttl_ms;       /* after its start [30 minutes] */
    int64_t idle_ms;      /* after its last use [15 minutes] */
    int64_t lease_ms;     /* how long a call may hold a session at most [2 minutes] */
    size_t bytes;         /* for the snapshot of one [4 MiB] */
    size_t total_bytes;   /* for all [256 MiB] */
    int64_t wait_ms;      /* for a session that is in use [5 s] */
    PtcStore *store;      /* borrowed */
} PtcSessionsConfig;

/* What can be said about a session; a copy. */
typedef struct PtcSessionInfo {
    char handle[PTC_SESSION_HANDLE];
    char title[PTC_SESSION_TITLE + 1];
    int64_t created_ms, used_ms;
    int64_t ends_ms;    /* the latest it may live */
    int64_t expires_ms; /* when it ends unless it is used before; all times since 1970 */
    uint64_t evals;
    size_t bindings, bytes;
    bool busy;
} PtcSessionInfo;

/* NULL: out of memory. */
PTC_MUST_USE PtcSessions *ptc_sessions_new(const PtcSessionsConfig *config);
/* After everything was let go. */
void ptc_sessions_free(PtcSessions *sessions);
const PtcSessionsConfig *ptc_sessions_config(const PtcSessions *sessions); /* defaults filled in */

/* The statuses below are the store's, and say a little more here.  ABSENT: this owner has no such session: never had,
 * closed, or expired.  BUSY: somebody holds it.  CONFLICT: another server has changed it since it was held, and nothing
 * was done.  FULL: there is no room for more sessions or more bytes. */

/* Starts an empty session.  ttl_ms > 0 shortens its life. */
PtcStoreStatus ptc_sessions_start(PtcSessions *sessions, const char *owner, PtcText title,
                                  int64_t ttl_ms, PtcSessionInfo *info);
/* Holds a session; *bytes is its snapshot (absent: empty), valid until it is let go.  `waits`: for others who hold it,
 * wait_ms at most. */
PtcStoreStatus ptc_sessions_hold(PtcSessions *sessions, const char *owner, PtcText handle,
                                 bool waits, PtcSessionEntry **held, PtcText *bytes);
/* The handle of a held session. */
const char *ptc_session_handle(const PtcSessionEntry *held);
/* How many bindings a held session had. */
size_t ptc_session_bindings(const PtcSessionEntry *held);
/* What a program did to a session. */
typedef struct PtcSessionChange {
    PtcText bytes; /* absent: it was used, nothing else */
    size_t bindings;
    bool evaluated; /* counts as an eval */
} PtcSessionChange;
/* Saves a change; the session stays held.  A change that does not fit (PTC_STORE_FULL) or comes too late
 * (PTC_STORE_CONFLICT, PTC_STORE_ABSENT) is not saved. */
PtcStoreStatus ptc_sessions_change(PtcSessions *sessions, PtcSessionEntry *held,
                                   const PtcSessionChange *change);
/* After PTC_STORE_CONFLICT: *bytes becomes the newer snapshot, for another try. */
PtcStoreStatus ptc_sessions_renew(PtcSessions *sessions, PtcSessionEntry *held, PtcText *bytes);
/* Lets go of it as it is now.  info may be NULL. */
void ptc_sessions_let_go(PtcSessions *sessions, PtcSessionEntry *held, PtcSessionInfo *info);
PtcStoreStatus ptc_sessions_close(PtcSessions *sessions, const char *owner, PtcText handle);
/* An owner's sessions, last used first, into infos (room for `max`); *all is how many there are. */
PTC_MUST_USE PtcStoreStatus ptc_sessions_list(PtcSessions *sessions, const char *owner,
                                              PtcSessionInfo *infos, size_t max, size_t *all);
PtcStore *ptc_sessions_store(const PtcSessions *sessions);

#endif
