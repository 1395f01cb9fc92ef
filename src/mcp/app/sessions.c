/* SPDX-License-Identifier: MIT
 * Sessions as records of a store.  What always holds: the store has the newest state; what is kept here is only who
 * works on which session right now, and who waits for that.  The store is never called with the lock held, because it
 * may wait for other processes. */
#include "mcp/app/sessions.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/ascii.h"
#include "base/os/cond.h"
#include "base/text/base64.h"
#include "base/text/secret.h"
#include "base/utf8.h"
#include "store/store.h"

enum {
    RANDOM_BYTES = 18,
    SESSIONS_META = PTC_STORE_META,
    HOLD_LEASE_MS = 5000,
    HELD_PAUSE_MS = 20
};
static const char kind[] = "session";

/* A session that a call is working on, or waits for. */
struct PtcSessionEntry {
    PtcSessionEntry *next;
    PtcSessionInfo info; /* as it was read */
    uint64_t version;
    bool told;     /* the store knows that it was used */
    bool released; /* the store knows that it is not held any more */
    char *owner;
    PtcBuf bytes;
};

struct PtcSessions {
    PtcMem mem;
    PtcSessionsConfig config;
    PtcStore *store;
    /* It guards the list of sessions that calls hold or wait for, in the order in which they came: the first entry of
     * a session holds it.  The store calls back under its own lock and takes this one inside; so the store is never
     * called while it is held. */
    pthread_mutex_t lock;
    pthread_cond_t let_go;
    PtcSessionEntry *held;
};

static int64_t sessions_now_ms(PtcSessions *s)
{
    return ptc_store_now(s->store);
}

/* ---------------------------------------------------------------------------- records */

/* What the store keeps beside the bytes: evals, bindings, and the title on a line of its own.  The session ends when
 * the record expires.  store_sqlite_open.c writes the same form when it upgrades old files. */
static PtcText write_meta(char meta[SESSIONS_META], const PtcSessionInfo *info)
{
    int n = snprintf(meta, SESSIONS_META, "%llu %zu\n%s", (unsigned long long)info->evals,
                     info->bindings, info->title);
    return (PtcText){meta, (size_t)n};
}

/* Bounded to 19 digits, because what is in a store may be damaged. */
static bool take_meta_number(PtcText *text, char end, uint64_t *n)
{
    size_t i = 0;
    for (*n = 0; i < text->len && i < 19 && ptc_ascii_is_digit(text->bytes[i]); i++)
        *n = *n * 10 + (uint64_t)(text->bytes[i] - '0');
    if (i == 0 || i == text->len || text->bytes[i] != end)
        return false;
    *text = (PtcText){text->bytes + i + 1, text->len - i - 1};
    return true;
}

/* False: it was not written by write_meta. */
static bool read_stored(PtcSessions *s, PtcText handle, const PtcStored *stored,
                        PtcSessionInfo *info)
{
    PtcText meta = {stored->meta, stored->meta_len};
    uint64_t evals, bindings;
    int64_t at =
        sessions_now_ms(s); /* a session held by another server may count as used until later */
    *info = (PtcSessionInfo){.created_ms = stored->created_ms,
                             .used_ms = stored->used_ms < at ? stored->used_ms : at};
    if (!take_meta_number(&meta, ' ', &evals) || !take_meta_number(&meta, '\n', &bindings) ||
        meta.len > PTC_SESSION_TITLE || handle.len >= PTC_SESSION_HANDLE ||
        !ptc_utf8_valid(meta.bytes, meta.len) || memchr(meta.bytes, 0, meta.len))
        return false;
    info->evals = evals;
    info->bindings = (size_t)bindings;
    info->bytes = stored->size;
    memcpy(info->title, meta.bytes, meta.len);
    memcpy(info->handle, handle.bytes, handle.len);
    info->ends_ms = stored->expires_ms;
    int64_t idle = stored->used_ms + s->config.idle_ms;
    info->expires_ms = idle < info->ends_ms ? idle : info->ends_ms;
    return true;
}

static PtcStoreKey sessions_store_key(const char *owner, PtcText handle)
{
    return (PtcStoreKey){kind, ptc_text_cstr(owner), handle};
}

/* ------------------------------------------------------------------------------- held */

static PtcSessionEntry *new_session_entry(PtcSessions *s, const char *owner, PtcText handle)
{
    size_t len = strlen(owner) + 1;
    PtcSessionEntry *e = ptc_mem_alloc(&s->mem, sizeof *e);
    char *copy = e ? ptc_mem_alloc(&s->mem, len) : NULL;
    if (!copy) {
        ptc_mem_free(&s->mem, e, sizeof *e);
        return NULL;
    }
    memset(e, 0, sizeof *e);
    memcpy(copy, owner, len);
    memcpy(e->info.handle, handle.bytes, handle.len);
    e->owner = copy;
    ptc_buf_init(&e->bytes, &s->mem, s->config.bytes);
    return e;
}

static void free_session_entry(PtcSessions *s, PtcSessionEntry *e)
{
    ptc_mem_free(&s->mem, e->owner, strlen(e->owner) + 1);
    ptc_buf_deinit(&e->bytes);
    ptc_mem_free(&s->mem, e, sizeof *e);
}

/* With the lock held. */
static PtcSessionEntry **find_held(PtcSessions *s, PtcText owner, PtcText handle)
{
    PtcSessionEntry **e = &s->held;
    while (*e && !(ptc_text_is(handle, (*e)->info.handle) && ptc_text_is(owner, (*e)->owner)))
        e = &(*e)->next;
    return e;
}

static bool is_held(PtcSessions *s, PtcText owner, PtcText handle)
{
    pthread_mutex_lock(&s->lock);
    bool held = *find_held(s, owner, handle) != NULL;
    pthread_mutex_unlock(&s->lock);
    return held;
}

/* Takes the session for this call; false when somebody else has it. */
static bool take_session_entry(PtcSessions *s, PtcSessionEntry *e, int64_t until_ns)
{
    PtcText owner = ptc_text_cstr(e->owner), handle = ptc_text_cstr(e->info.handle);
    pthread_mutex_lock(&s->lock);
    PtcSessionEntry **at = &s->held;
    while (*at)
        at = &(*at)->next;
    *at = e;
    bool time_left = until_ns > 0;
    while (*find_held(s, owner, handle) != e && time_left)
        time_left = ptc_cond_wait_until(&s->let_go, &s->lock, until_ns);
    bool mine = *find_held(s, owner, handle) == e;
    pthread_mutex_unlock(&s->lock);
    return mine;
}

static void give_session_back(PtcSessions *s, PtcSessionEntry *e)
{
    pthread_mutex_lock(&s->lock);
    PtcSessionEntry **at = &s->held;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    pthread_cond_broadcast(&s->let_go);
    pthread_mutex_unlock(&s->lock);
    free_session_entry(s, e);
}

/* ------------------------------------------------------------------------ start, stop */

static void set_sessions_defaults(PtcSessionsConfig *c)
{
    c->max = c->max ? c->max : 1024;
    c->owner_share = c->owner_share ? c->owner_share : 100;
    c->ttl_ms = c->ttl_ms > 0 ? c->ttl_ms : 30 * 60 * 1000;
    c->idle_ms = c->idle_ms > 0 ? c->idle_ms : 15 * 60 * 1000;
    c->lease_ms = c->lease_ms > 0 ? c->lease_ms : 2 * 60 * 1000;
    c->bytes = c->bytes ? c->bytes : 4 * PTC_MB;
    c->total_bytes = c->total_bytes ? c->total_bytes : 256 * PTC_MB;
    c->wait_ms = c->wait_ms > 0 ? c->wait_ms : 5000;
}

PtcSessions *ptc_sessions_new(const PtcSessionsConfig *config)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcSessions *s = ptc_mem_alloc(&mem, sizeof *s);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    ptc_mem_init(&s->mem, PTC_UNBOUNDED);
    s->config = *config;
    s->store = config->store;
    set_sessions_defaults(&s->config);
    pthread_mutex_init(&s->lock, NULL);
    ptc_cond_init(&s->let_go);
    return s;
}

void ptc_sessions_free(PtcSessions *s)
{
    PtcMem mem;
    if (!s)
        return;
    pthread_cond_destroy(&s->let_go);
    pthread_mutex_destroy(&s->lock);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *s);
    ptc_mem_free(&mem, s, sizeof *s);
}

const PtcSessionsConfig *ptc_sessions_config(const PtcSessions *s)
{
    return &s->config;
}

static bool make_session_handle(PtcSessions *s, char handle[PTC_SESSION_HANDLE])
{
    unsigned char random[RANDOM_BYTES];
    PtcBuf text;
    ptc_buf_init(&text, &s->mem, PTC_SESSION_HANDLE - 3);
    bool ok = ptc_random_bytes(random, sizeof random) &&
              ptc_base64_add(&text, random, sizeof random, true);
    if (ok)
        snprintf(handle, PTC_SESSION_HANDLE, "s-%.*s", PTC_ARG_OF(text.data, text.len));
    ptc_buf_deinit(&text);
    return ok;
}

/* An owner's share of this much: always something, whatever the percentage. */
static size_t share(const PtcSessions *s, size_t all)
{
    size_t percent = s->config.owner_share < 100 ? s->config.owner_share : 100;
    return all / 100 * percent + (all % 100 * percent + 99) / 100;
}

/* Expired sessions are swept first: they must not count against the limit. */
PtcStoreStatus ptc_sessions_start(PtcSessions *s, const char *owner, PtcText title, int64_t ttl_ms,
                                  PtcSessionInfo *info)
{
    const PtcSessionsConfig *c = &s->config;
    char meta[SESSIONS_META];
    uint64_t version;
    int64_t at = sessions_now_ms(s), ttl = ttl_ms > 0 && ttl_ms < c->ttl_ms ? ttl_ms : c->ttl_ms;
    *info = (PtcSessionInfo){.created_ms = at, .used_ms = at, .ends_ms = at + ttl};
    info->expires_ms = at + (ttl < c->idle_ms ? ttl : c->idle_ms);
    if (title.bytes) {
        size_t len = title.len < PTC_SESSION_TITLE ? title.len : PTC_SESSION_TITLE;
        memcpy(info->title, title.bytes, ptc_utf8_valid_prefix(title.bytes, len));
    }
    if (!make_session_handle(s, info->handle))
        return PTC_STORE_NO_MEMORY;
    (void)!ptc_store_expire(s->store, kind, PTC_STORE_LISTED);
    PtcStoreKey key = sessions_store_key(owner, ptc_text_cstr(info->handle));
    PtcStorePut put = {.used_ms = at,
                       .expires_ms = info->ends_ms,
                       .idle_ms = c->idle_ms,
                       .meta = write_meta(meta, info),
                       .bytes = PTC_TEXT(""),
                       .bounds = {.count = c->max, .owner_count = share(s, c->max)}};
    return ptc_store_put(s->store, &key, &put, &version);
}

/* -------------------------------------------------------------------------------- use */

/* Reads a session, with its bytes unless `bytes` is NULL. */
static PtcStoreStatus read_stored_session(PtcSessions *s, const char *owner, PtcText handle,
                                          const PtcStoreHold *hold, PtcSessionInfo *info,
                                          uint64_t *version, PtcBuf *bytes)
{
    PtcStored stored;
    PtcStoreKey key = sessions_store_key(owner, handle);
    PtcStoreStatus status = ptc_store_get(s->store, &key, hold, &stored, bytes);
    if (status != PTC_STORE_OK) /* FULL: more than allowed, so this server did not write it */
        return status == PTC_STORE_FULL ? PTC_STORE_ABSENT : status;
    *version = stored.version;
    return read_stored(s, handle, &stored, info) ? PTC_STORE_OK : PTC_STORE_ABSENT;
}

/* Reads the current state into the entry. */
static PtcStoreStatus read_held(PtcSessions *s, PtcSessionEntry *e, const PtcStoreHold *hold,
                                PtcText *bytes)
{
    PtcSessionInfo info;
    ptc_buf_clear(&e->bytes);
    PtcStoreStatus status = read_stored_session(s, e->owner, ptc_text_cstr(e->info.handle), hold,
                                                &info, &e->version, &e->bytes);
    if (status != PTC_STORE_OK)
        return status;
    e->info = info;
    *bytes = (PtcText){e->bytes.len ? e->bytes.data : NULL, e->bytes.len};
    return status;
}

/* Writes the entry's info, with new bytes unless they are absent.  `last`: it is let go with this. */
static PtcStoreStatus write_stored_session(PtcSessions *s, PtcSessionEntry *e, PtcText bytes,
                                           bool last)
{
    char meta[SESSIONS_META];
    PtcStoreKey key = sessions_store_key(e->owner, ptc_text_cstr(e->info.handle));
    PtcStorePut put = {
        .expected = e->version,
        .used_ms = e->info.used_ms,
        .expires_ms = e->info.ends_ms,
        .idle_ms = s->config.idle_ms,
        .release = last,
        .meta = write_meta(meta, &e->info),
        .bytes = bytes,
        .bounds = {.bytes = s->config.total_bytes, .owner_bytes = share(s, s->config.total_bytes)}};
    uint64_t version;
    PtcStoreStatus status = ptc_store_put(s->store, &key, &put, &version);
    if (status == PTC_STORE_OK) { /* otherwise it would be a version that was never read */
        e->version = version;
        e->released = last;
    }
    return status;
}

/* Other servers remove what nobody has used for too long, and cannot see who holds it.  If that could happen before
 * the session is let go, it is marked as used until then. */
static void prolong(PtcSessions *s, PtcSessionEntry *e)
{
    const PtcSessionsConfig *c = &s->config;
    int64_t at = sessions_now_ms(s), used = at + c->lease_ms - c->idle_ms, before = e->info.used_ms;
    if (before >= used)
        return;
    e->info.used_ms = used > at ? used : at;
    (void)!write_stored_session(s, e, (PtcText){NULL, 0}, false);
    e->info.used_ms = before;
}

static PtcStoreKey entry_key(const PtcSessionEntry *e)
{
    return sessions_store_key(e->owner, ptc_text_cstr(e->info.handle));
}

/* Reads the session and holds it against other servers, which are asked again for as long as there is time. */
static PtcStoreStatus hold_among_servers(PtcSessions *s, PtcSessionEntry *e, int64_t until_ns,
                                         PtcText *bytes)
{
    const PtcStoreHold hold = {1, 1, HOLD_LEASE_MS};
    const struct timespec pause = {.tv_nsec = HELD_PAUSE_MS * PTC_MS};
    PtcStoreStatus status;
    while ((status = read_held(s, e, &hold, bytes)) == PTC_STORE_HELD &&
           ptc_clock_ns(NULL) < until_ns)
        nanosleep(&pause, NULL);
    PtcStoreKey key = entry_key(e);
    if (status == PTC_STORE_OK && !ptc_store_keep_hold(s->store, &key))
        return PTC_STORE_NO_MEMORY;
    return status;
}

/* Taken before it is read, so that two calls cannot both start from the same state. */
PtcStoreStatus ptc_sessions_hold(PtcSessions *s, const char *owner, PtcText handle, bool waits,
                                 PtcSessionEntry **held, PtcText *bytes)
{
    if (handle.len == 0 || handle.len >= PTC_SESSION_HANDLE || memchr(handle.bytes, 0, handle.len))
        return PTC_STORE_ABSENT;
    int64_t until = waits ? ptc_clock_ns(NULL) + s->config.wait_ms * PTC_MS : 0;
    PtcSessionEntry *e = new_session_entry(s, owner, handle);
    if (!e)
        return PTC_STORE_NO_MEMORY;
    PtcStoreStatus status = PTC_STORE_HELD;
    if (take_session_entry(s, e, until))
        status = hold_among_servers(s, e, until, bytes);
    if (status != PTC_STORE_OK) {
        give_session_back(s, e);
        return status;
    }
    prolong(s, e);
    *held = e;
    return PTC_STORE_OK;
}

const char *ptc_session_handle(const PtcSessionEntry *e)
{
    return e->info.handle;
}

size_t ptc_session_bindings(const PtcSessionEntry *held)
{
    return held->info.bindings;
}

/* Gives the session new bytes, or leaves it as it was. */
static PtcStoreStatus change_bytes(PtcSessions *s, PtcSessionEntry *e,
                                   const PtcSessionChange *change)
{
    if (change->bytes.len > s->config.bytes)
        return PTC_STORE_FULL;
    PtcSessionInfo before = e->info;
    e->info.bindings = change->bindings;
    e->info.bytes = change->bytes.len;
    PtcStoreStatus status = write_stored_session(s, e, change->bytes, true);
    e->told = status == PTC_STORE_OK;
    if (status != PTC_STORE_OK)
        e->info = before;
    return status;
}

PtcStoreStatus ptc_sessions_change(PtcSessions *s, PtcSessionEntry *e,
                                   const PtcSessionChange *change)
{
    e->info.evals += change->evaluated;
    e->info.used_ms = sessions_now_ms(s);
    if (!change->bytes.bytes)
        return PTC_STORE_OK;
    PtcStoreStatus status = change_bytes(s, e, change);
    /* Expired and gone: there is nothing left to change, and nobody who would notice. */
    return status == PTC_STORE_ABSENT && e->info.used_ms >= e->info.ends_ms ? PTC_STORE_OK : status;
}

PtcStoreStatus ptc_sessions_renew(PtcSessions *s, PtcSessionEntry *held, PtcText *bytes)
{
    PtcStoreStatus status = read_held(s, held, NULL, bytes);
    if (status == PTC_STORE_OK)
        prolong(s, held);
    return status;
}

void ptc_sessions_let_go(PtcSessions *s, PtcSessionEntry *e, PtcSessionInfo *info)
{
    PtcStoreKey key = entry_key(e);
    if (!e->told) { /* it was used; if others were faster, they have said so */
        e->info.used_ms = sessions_now_ms(s);
        (void)!write_stored_session(s, e, (PtcText){NULL, 0}, true);
    }
    ptc_store_let_go(s->store, &key, !e->released);
    if (info) {
        *info = e->info;
        int64_t idle = e->info.used_ms + s->config.idle_ms;
        info->expires_ms = idle < e->info.ends_ms ? idle : e->info.ends_ms;
    }
    give_session_back(s, e);
}

/* Damaged sessions can be closed too; otherwise they would stay until they expire. */
PtcStoreStatus ptc_sessions_close(PtcSessions *s, const char *owner, PtcText handle)
{
    PtcSessionInfo info;
    uint64_t version;
    PtcStoreKey key = sessions_store_key(owner, handle);
    if (is_held(s, key.owner, handle))
        return PTC_STORE_HELD;
    PtcStoreStatus status = read_stored_session(s, owner, handle, NULL, &info, &version, NULL);
    if (status != PTC_STORE_OK && status != PTC_STORE_DAMAGED)
        return status;
    return ptc_store_remove(s->store, &key, 0);
}

/* ----------------------------------------------------------------------------- telling */

typedef struct {
    PtcSessions *s;
    PtcSessionInfo *infos;
    size_t n, max, all;
    size_t page;                   /* how many there were in the last one */
    char last[PTC_SESSION_HANDLE]; /* of them */
} Listing;

/* Inserts a session in its place among those used last. */
static void insert_listed_session(Listing *l, const PtcSessionInfo *info)
{
    size_t i = l->n < l->max ? l->n++ : l->max;
    if (i == l->max && (l->max == 0 || l->infos[--i].used_ms >= info->used_ms))
        return;
    for (; i > 0 && l->infos[i - 1].used_ms < info->used_ms; i--)
        l->infos[i] = l->infos[i - 1];
    l->infos[i] = *info;
}

static bool add_listed_session(void *user, const PtcStoreKey *key, const PtcStored *stored)
{
    Listing *l = user;
    PtcSessionInfo info;
    if (!read_stored(l->s, key->key, stored, &info))
        return true;
    l->all++;
    l->page++;
    memcpy(l->last, info.handle, sizeof l->last);
    info.busy = is_held(l->s, key->owner, key->key);
    insert_listed_session(l, &info);
    return true;
}

PtcStoreStatus ptc_sessions_list(PtcSessions *s, const char *owner, PtcSessionInfo *infos,
                                 size_t max, size_t *all)
{
    Listing l = {.s = s, .infos = infos, .max = max};
    PtcStoreStatus status;
    do {
        PtcStoreKey last = sessions_store_key(owner, ptc_text_cstr(l.last));
        l.page = 0;
        status = ptc_store_list(s->store, kind, last.owner, l.all ? &last : NULL, PTC_STORE_LISTED,
                                add_listed_session, &l);
    } while (status == PTC_STORE_OK && l.page); /* a full one may have damaged records in it */
    *all = l.all;
    return status;
}

PtcStore *ptc_sessions_store(const PtcSessions *s)
{
    return s->store;
}
