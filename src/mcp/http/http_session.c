/* SPDX-License-Identifier: MIT
 * http_session.c - a table of sessions, each counted: in the table (1) and by every request that uses it. */
#include "mcp/http/http_session.h"

#include <string.h>
#include <sys/random.h>

#include "mcp/http/http_guard.h"

enum { CHAINS = 256 };
#define SECOND_NS INT64_C(1000000000)

struct PtcHttpSession {
    char id[PTC_HTTP_SESSION_DIGITS + 1];
    char owner[PTC_HTTP_OWNER_MAX];
    PtcMcpPeer *peer;
    uint32_t holders; /* under the lock */
    atomic_bool ended, streaming;
    int64_t used_ns;
    PtcHttpSession *next;
};

bool ptc_http_sessions_init(PtcHttpSessions *sessions, PtcMem *mem, size_t max)
{
    *sessions = (PtcHttpSessions){.mem = mem, .max = max};
    sessions->table = ptc_mem_alloc(mem, CHAINS * sizeof *sessions->table);
    if (!sessions->table)
        return false;
    memset(sessions->table, 0, CHAINS * sizeof *sessions->table);
    pthread_mutex_init(&sessions->lock, NULL);
    return true;
}

void ptc_http_sessions_deinit(PtcHttpSessions *sessions)
{
    ptc_http_sessions_sweep(sessions, 0, true);
    ptc_mem_free(sessions->mem, sessions->table, CHAINS * sizeof *sessions->table);
    pthread_mutex_destroy(&sessions->lock);
}

static unsigned digit_value(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static PtcHttpSession **chain_of(PtcHttpSessions *sessions, const char *id)
{
    return &sessions->table[(digit_value(id[0]) << 4 | digit_value(id[1])) % CHAINS];
}

static bool make_id(char id[PTC_HTTP_SESSION_DIGITS + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[PTC_HTTP_SESSION_DIGITS / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        id[2 * i] = digits[bytes[i] >> 4];
        id[2 * i + 1] = digits[bytes[i] & 15];
    }
    id[PTC_HTTP_SESSION_DIGITS] = '\0';
    return true;
}

static void free_session(PtcHttpSessions *sessions, PtcHttpSession *session)
{
    ptc_mcp_peer_free(session->peer);
    ptc_mem_free(sessions->mem, session, sizeof *session);
}

/* Takes it out of its chain; the lock is held. */
static void unlink_session(PtcHttpSessions *sessions, PtcHttpSession *session)
{
    PtcHttpSession **at = chain_of(sessions, session->id);
    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
    sessions->count--;
}

/* Longest unused session that nobody holds and that rested, or NULL; the lock is held. */
static PtcHttpSession *find_rested(PtcHttpSessions *sessions, int64_t before_ns)
{
    PtcHttpSession *oldest = NULL;
    for (size_t i = 0; i < CHAINS; i++)
        for (PtcHttpSession *s = sessions->table[i]; s; s = s->next)
            if (s->holders == 1 && s->used_ns <= before_ns &&
                (!oldest || s->used_ns < oldest->used_ns))
                oldest = s;
    return oldest;
}

/* Drops one session used before that time; false when there is none. */
static bool drop_rested(PtcHttpSessions *sessions, int64_t before_ns)
{
    pthread_mutex_lock(&sessions->lock);
    PtcHttpSession *old = find_rested(sessions, before_ns);
    if (old)
        unlink_session(sessions, old);
    pthread_mutex_unlock(&sessions->lock);
    if (!old)
        return false;
    ptc_mcp_peer_close(old->peer);
    free_session(sessions, old);
    return true;
}

static bool insert(PtcHttpSessions *sessions, PtcHttpSession *session)
{
    pthread_mutex_lock(&sessions->lock);
    bool room = sessions->count < sessions->max;
    if (room) {
        PtcHttpSession **chain = chain_of(sessions, session->id);
        session->next = *chain;
        *chain = session;
        sessions->count++;
    }
    pthread_mutex_unlock(&sessions->lock);
    return room;
}

PtcHttpSession *ptc_http_session_new(PtcHttpSessions *sessions, PtcMcpPeer *peer, const char *owner,
                                     int64_t now_ns)
{
    PtcHttpSession *session = ptc_mem_alloc(sessions->mem, sizeof *session);
    if (!session)
        return NULL;
    *session = (PtcHttpSession){.peer = peer, .holders = 2, .used_ns = now_ns};
    memcpy(session->owner, owner, strnlen(owner, PTC_HTTP_OWNER_MAX - 1));
    if (make_id(session->id)) {
        if (insert(sessions, session))
            return session;
        if (drop_rested(sessions, now_ns - PTC_HTTP_SESSION_REST_S * SECOND_NS) &&
            insert(sessions, session))
            return session;
    }
    ptc_mem_free(sessions->mem, session, sizeof *session);
    return NULL;
}

static bool well_formed(PtcText id)
{
    if (!id.bytes || id.len != PTC_HTTP_SESSION_DIGITS)
        return false;
    for (size_t i = 0; i < id.len; i++)
        if (!((id.bytes[i] >= '0' && id.bytes[i] <= '9') ||
              (id.bytes[i] >= 'a' && id.bytes[i] <= 'f')))
            return false;
    return true;
}

PtcHttpSession *ptc_http_session_hold(PtcHttpSessions *sessions, PtcText id, const char *owner,
                                      int64_t now_ns)
{
    if (!well_formed(id))
        return NULL;
    pthread_mutex_lock(&sessions->lock);
    PtcHttpSession *s = *chain_of(sessions, id.bytes);
    while (s && (memcmp(s->id, id.bytes, id.len) != 0 || strcmp(s->owner, owner) != 0))
        s = s->next;
    if (s) {
        s->holders++;
        s->used_ns = now_ns;
    }
    pthread_mutex_unlock(&sessions->lock);
    return s;
}

void ptc_http_session_drop(PtcHttpSessions *sessions, PtcHttpSession *session, int64_t now_ns)
{
    pthread_mutex_lock(&sessions->lock);
    bool last = --session->holders == 0;
    session->used_ns = now_ns;
    pthread_mutex_unlock(&sessions->lock);
    if (last)
        free_session(sessions, session);
}

void ptc_http_session_end(PtcHttpSessions *sessions, PtcHttpSession *session)
{
    pthread_mutex_lock(&sessions->lock);
    bool first = !atomic_exchange(&session->ended, true);
    if (first) {
        unlink_session(sessions, session);
        session->holders--; /* the caller's remains */
    }
    pthread_mutex_unlock(&sessions->lock);
    if (first)
        ptc_mcp_peer_close(session->peer);
}

/* One session of the chain that is to end, held; NULL when none is. */
static PtcHttpSession *hold_stale(PtcHttpSessions *sessions, size_t chain, int64_t before_ns,
                                  bool all)
{
    pthread_mutex_lock(&sessions->lock);
    PtcHttpSession *s = sessions->table[chain];
    while (s && !all && !(s->holders == 1 && s->used_ns <= before_ns))
        s = s->next;
    if (s)
        s->holders++;
    pthread_mutex_unlock(&sessions->lock);
    return s;
}

void ptc_http_sessions_sweep(PtcHttpSessions *sessions, int64_t now_ns, bool all)
{
    int64_t before = now_ns - PTC_HTTP_SESSION_IDLE_S * SECOND_NS;
    for (size_t i = 0; i < CHAINS; i++) {
        PtcHttpSession *s;
        while ((s = hold_stale(sessions, i, before, all)) != NULL) {
            ptc_http_session_end(sessions, s);
            ptc_http_session_drop(sessions, s, now_ns);
        }
    }
}

size_t ptc_http_sessions_count(PtcHttpSessions *sessions)
{
    pthread_mutex_lock(&sessions->lock);
    size_t count = sessions->count;
    pthread_mutex_unlock(&sessions->lock);
    return count;
}

const char *ptc_http_session_id(const PtcHttpSession *session)
{
    return session->id;
}

PtcMcpPeer *ptc_http_session_peer(const PtcHttpSession *session)
{
    return session->peer;
}

bool ptc_http_session_ended(const PtcHttpSession *session)
{
    return atomic_load(&session->ended);
}

bool ptc_http_session_take_stream(PtcHttpSession *session)
{
    return !atomic_exchange(&session->streaming, true);
}

void ptc_http_session_give_stream(PtcHttpSession *session)
{
    atomic_store(&session->streaming, false);
}
