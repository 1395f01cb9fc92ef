/* SPDX-License-Identifier: MIT
 * http_session.c - a table of sessions.  What always holds: a session is freed when its count reaches 0; the table
 * counts as one holder, and so does every request that uses it. */
#include "mcp/http/http_session.h"

#include <string.h>
#include <sys/random.h>

#include "base/ascii.h"

enum { CHAINS = 256, KEPT_MAX = PTC_MB };

struct PtcHttpSession {
    char id[PTC_HTTP_SESSION_DIGITS + 1];
    char owner[PTC_HTTP_OWNER_MAX];
    PtcMcpPeer *peer;
    uint32_t holders; /* under the lock */
    atomic_bool ended, streaming;
    atomic_bool forgotten; /* it must not be kept any more */
    int64_t used_ns, kept_ns;
    PtcHttpSession *next;
};

bool ptc_http_sessions_init(PtcHttpSessions *sessions, PtcMcp *mcp, size_t max)
{
    PtcMem *mem = ptc_mcp_mem(mcp);
    *sessions = (PtcHttpSessions){.mem = mem, .mcp = mcp, .max = max, .owner_share = 100};
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

static PtcHttpSession **session_chain_of(PtcHttpSessions *sessions, const char *id)
{
    int first = ptc_ascii_hex_value(id[0]) << 4 | ptc_ascii_hex_value(id[1]);
    return &sessions->table[(unsigned)first % CHAINS];
}

/* 128 random bits: an id is as good as a password for its session. */
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

/* Takes it out of its chain.  With the lock held. */
static void unlink_session(PtcHttpSessions *sessions, PtcHttpSession *session)
{
    PtcHttpSession **at = session_chain_of(sessions, session->id);
    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
    sessions->count--;
}

static bool is_session_of(const PtcHttpSession *session, const char *owner)
{
    return !owner || strcmp(session->owner, owner) == 0;
}

/* The session unused for longest (of this owner, unless NULL) that nobody holds and that has rested; or NULL.  With
 * the lock held. */
static PtcHttpSession *find_rested(PtcHttpSessions *sessions, const char *owner, int64_t before_ns)
{
    PtcHttpSession *oldest = NULL;
    for (size_t i = 0; i < CHAINS; i++)
        for (PtcHttpSession *s = sessions->table[i]; s; s = s->next)
            if (s->holders == 1 && s->used_ns <= before_ns && is_session_of(s, owner) &&
                (!oldest || s->used_ns < oldest->used_ns))
                oldest = s;
    return oldest;
}

/* Drops one session that was last used before that time; false if there is none. */
static bool drop_rested(PtcHttpSessions *sessions, const char *owner, int64_t before_ns)
{
    pthread_mutex_lock(&sessions->lock);
    PtcHttpSession *old = find_rested(sessions, owner, before_ns);
    if (old)
        unlink_session(sessions, old);
    pthread_mutex_unlock(&sessions->lock);
    if (!old)
        return false;
    ptc_mcp_peer_close(old->peer);
    free_session(sessions, old);
    return true;
}

static size_t count_sessions_of(const PtcHttpSessions *sessions, const char *owner)
{
    size_t n = 0;
    for (size_t i = 0; i < CHAINS; i++)
        for (const PtcHttpSession *s = sessions->table[i]; s; s = s->next)
            n += is_session_of(s, owner);
    return n;
}

/* Is there room in the table?  There is; the owner has too many; there are too many in all; it is there already. */
typedef enum { SESSION_FITS, SESSION_OWNER_FULL, SESSION_ALL_FULL, SESSION_TAKEN } Room;

/* With the lock held. */
static Room room_for(PtcHttpSessions *sessions, const PtcHttpSession *session)
{
    size_t own = (sessions->max * sessions->owner_share + 99) / 100;
    for (const PtcHttpSession *s = *session_chain_of(sessions, session->id); s; s = s->next)
        if (memcmp(s->id, session->id, PTC_HTTP_SESSION_DIGITS) == 0)
            return SESSION_TAKEN;
    if (sessions->count >= sessions->max)
        return SESSION_ALL_FULL;
    if (sessions->owner_share < 100 && count_sessions_of(sessions, session->owner) >= own)
        return SESSION_OWNER_FULL;
    return SESSION_FITS;
}

static Room insert_http_session(PtcHttpSessions *sessions, PtcHttpSession *session)
{
    pthread_mutex_lock(&sessions->lock);
    Room room = room_for(sessions, session);
    if (room == SESSION_FITS) {
        PtcHttpSession **chain = session_chain_of(sessions, session->id);
        session->next = *chain;
        *chain = session;
        sessions->count++;
    }
    pthread_mutex_unlock(&sessions->lock);
    return room;
}

/* Inserts it; if there is no room, in place of one that has rested. */
static bool settle_http_session(PtcHttpSessions *sessions, PtcHttpSession *session, int64_t now_ns)
{
    Room room = insert_http_session(sessions, session);
    if (room == SESSION_FITS || room == SESSION_TAKEN)
        return room == SESSION_FITS;
    return drop_rested(sessions, room == SESSION_OWNER_FULL ? session->owner : NULL,
                       now_ns - PTC_HTTP_SESSION_REST_S * PTC_S) &&
           insert_http_session(sessions, session) == SESSION_FITS;
}

static PtcText id_of_session(const PtcHttpSession *session)
{
    return (PtcText){session->id, PTC_HTTP_SESSION_DIGITS};
}

/* Not after every request: writing to a store costs more than most calls. */
void ptc_http_session_keep(PtcHttpSessions *sessions, PtcHttpSession *session, bool changed,
                           int64_t now_ns)
{
    const PtcHttpKeep *keep = sessions->keep;
    if (!keep || atomic_load(&session->ended))
        return;
    pthread_mutex_lock(&sessions->lock);
    bool due = changed || now_ns - session->kept_ns >= PTC_HTTP_SESSION_KEEP_S * PTC_S;
    if (due)
        session->kept_ns = now_ns;
    pthread_mutex_unlock(&sessions->lock);
    if (!due)
        return;
    PtcBuf bytes;
    ptc_buf_init(&bytes, sessions->mem, KEPT_MAX);
    if (ptc_mcp_peer_save(session->peer, &bytes))
        keep->save(keep->user, session->owner, id_of_session(session), ptc_buf_view(&bytes));
    ptc_buf_deinit(&bytes);
    if (atomic_load(&session->forgotten)) /* meanwhile, and perhaps before it was saved */
        keep->forget(keep->user, session->owner, id_of_session(session));
}

/* A session of this owner with a peer, held twice: by the table it will be put into and by the caller. */
static PtcHttpSession *new_session(PtcHttpSessions *sessions, PtcMcpPeer *peer, const char *owner,
                                   int64_t now_ns)
{
    PtcHttpSession *session = ptc_mem_alloc(sessions->mem, sizeof *session);
    if (!session)
        return NULL;
    *session = (PtcHttpSession){.peer = peer, .holders = 2, .used_ns = now_ns, .kept_ns = now_ns};
    memcpy(session->owner, owner, strnlen(owner, PTC_HTTP_OWNER_MAX - 1));
    return session;
}

PtcHttpSession *ptc_http_session_new(PtcHttpSessions *sessions, PtcMcpPeer *peer, const char *owner,
                                     int64_t now_ns)
{
    PtcHttpSession *session = new_session(sessions, peer, owner, now_ns);
    if (!session)
        return NULL;
    if (make_id(session->id) && settle_http_session(sessions, session, now_ns)) {
        ptc_http_session_keep(sessions, session, true, now_ns);
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
        if (!ptc_ascii_is_lower_hex(id.bytes[i]))
            return false;
    return true;
}

/* The session in the table, held; NULL if there is none. */
static PtcHttpSession *hold_known(PtcHttpSessions *sessions, PtcText id, const char *owner,
                                  int64_t now_ns)
{
    pthread_mutex_lock(&sessions->lock);
    PtcHttpSession *s = *session_chain_of(sessions, id.bytes);
    while (s && (memcmp(s->id, id.bytes, id.len) != 0 || strcmp(s->owner, owner) != 0))
        s = s->next;
    if (s) {
        s->holders++;
        s->used_ns = now_ns;
    }
    pthread_mutex_unlock(&sessions->lock);
    return s;
}

static PtcMcpPeer *load_peer(PtcHttpSessions *sessions, PtcText id, const char *owner)
{
    const PtcHttpKeep *keep = sessions->keep;
    PtcMcpPeer *peer = NULL;
    PtcBuf bytes;
    ptc_buf_init(&bytes, sessions->mem, KEPT_MAX);
    if (keep->load(keep->user, owner, id, &bytes))
        peer = ptc_mcp_peer_restore(sessions->mcp, ptc_buf_view(&bytes));
    ptc_buf_deinit(&bytes);
    return peer;
}

/* A session that an earlier server, or one beside this one, has kept.  If two requests arrive at once, one brings it
 * back and the other finds it there. */
static PtcHttpSession *hold_kept(PtcHttpSessions *sessions, PtcText id, const char *owner,
                                 int64_t now_ns)
{
    PtcMcpPeer *peer = load_peer(sessions, id, owner);
    PtcHttpSession *session = peer ? new_session(sessions, peer, owner, now_ns) : NULL;
    bool taken = session != NULL;
    if (session) {
        memcpy(session->id, id.bytes, id.len);
        session->kept_ns = 0;
        if (settle_http_session(sessions, session, now_ns))
            return session;
        ptc_mem_free(sessions->mem, session, sizeof *session);
    }
    ptc_mcp_peer_free(peer);
    return taken ? hold_known(sessions, id, owner, now_ns) : NULL;
}

PtcHttpSession *ptc_http_session_hold(PtcHttpSessions *sessions, PtcText id, const char *owner,
                                      int64_t now_ns)
{
    if (!well_formed(id))
        return NULL;
    PtcHttpSession *session = hold_known(sessions, id, owner, now_ns);
    return session || !sessions->keep ? session : hold_kept(sessions, id, owner, now_ns);
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

/* Only the first to end it takes it out of the table. */
void ptc_http_session_end(PtcHttpSessions *sessions, PtcHttpSession *session, bool forget)
{
    pthread_mutex_lock(&sessions->lock);
    bool first = !atomic_exchange(&session->ended, true);
    if (first) {
        unlink_session(sessions, session);
        session->holders--; /* the caller's hold remains */
    }
    pthread_mutex_unlock(&sessions->lock);
    if (first && forget && sessions->keep) {
        atomic_store(&session->forgotten, true);
        sessions->keep->forget(sessions->keep->user, session->owner, id_of_session(session));
    }
    if (first)
        ptc_mcp_peer_close(session->peer);
}

/* One session of the chain that should end, held; NULL if there is none. */
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
    int64_t before = now_ns - PTC_HTTP_SESSION_IDLE_S * PTC_S;
    for (size_t i = 0; i < CHAINS; i++) {
        PtcHttpSession *s;
        while ((s = hold_stale(sessions, i, before, all)) != NULL) {
            ptc_http_session_end(sessions, s, false);
            ptc_http_session_drop(sessions, s, now_ns);
        }
    }
}

PtcHttpSession *ptc_http_sessions_find(PtcHttpSessions *sessions, PtcHttpGuard *guard)
{
    PtcHttpSession *found = NULL;
    pthread_mutex_lock(&sessions->lock);
    for (size_t i = 0; i < CHAINS && !found; i++)
        for (PtcHttpSession *s = sessions->table[i]; s && !found; s = s->next)
            if (!ptc_http_guard_has_owner(guard, s->owner))
                found = s;
    if (found)
        found->holders++;
    pthread_mutex_unlock(&sessions->lock);
    return found;
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
