/* SPDX-License-Identifier: MIT */
#include "mcp/app/sessions.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/secret.h"
#include "base/utf8.h"
#include "store/store_sqlite.h"

enum { BUCKETS = 1024, RANDOM_BYTES = 18 };
#define MIB ((size_t)1 << 20)

struct PtcSessionEntry {
    PtcSessionEntry *next; /* in its bucket */
    PtcSessionInfo info;   /* bytes is the length of `bytes` */
    int64_t ends_ms;       /* the latest it may live */
    char *owner, *bytes;
    bool held;
};

struct PtcSessions {
    PtcMem mem;
    PtcSessionsConfig config;
    PtcSessionDb *db;
    pthread_mutex_t lock; /* for all below */
    PtcSessionEntry *buckets[BUCKETS];
    size_t count, bytes;
};

static int64_t system_now(void *user)
{
    (void)user;
    return ptc_clock_wall_ms();
}

static int64_t now(PtcSessions *s)
{
    return s->config.now_ms(s->config.now_user);
}

/* ------------------------------------------------------------------------------- the table */

/* Handles are random in every place; the last letters spread well. */
static size_t bucket_of(const char *handle, size_t len)
{
    size_t h = 0;
    for (size_t i = len > 6 ? len - 6 : 0; i < len; i++)
        h = h * 31 + (unsigned char)handle[i];
    return h % BUCKETS;
}

static void free_entry(PtcSessions *s, PtcSessionEntry *e)
{
    ptc_mem_free(&s->mem, e->owner, strlen(e->owner) + 1);
    ptc_mem_free(&s->mem, e->bytes, e->info.bytes);
    ptc_mem_free(&s->mem, e, sizeof *e);
}

static PtcSessionEntry *new_entry(PtcSessions *s, const char *owner)
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
    e->owner = copy;
    return e;
}

static void link_entry(PtcSessions *s, PtcSessionEntry *e)
{
    PtcSessionEntry **at = &s->buckets[bucket_of(e->info.handle, strlen(e->info.handle))];
    e->next = *at;
    *at = e;
    s->count++;
    s->bytes += e->info.bytes;
}

/* Takes it out of the table and the store. */
static void drop(PtcSessions *s, PtcSessionEntry **at)
{
    PtcSessionEntry *e = *at;
    *at = e->next;
    s->count--;
    s->bytes -= e->info.bytes;
    if (s->db)
        ptc_session_db_remove(s->db, e->info.handle);
    free_entry(s, e);
}

static bool is_over(const PtcSessions *s, const PtcSessionEntry *e, int64_t at)
{
    return !e->held && (at >= e->ends_ms || at >= e->info.used_ms + s->config.idle_ms);
}

static void sweep(PtcSessions *s, int64_t at)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (PtcSessionEntry **e = &s->buckets[i]; *e;)
            if (is_over(s, *e, at))
                drop(s, e);
            else
                e = &(*e)->next;
}

static PtcSessionEntry **find(PtcSessions *s, const char *owner, PtcText handle)
{
    PtcSessionEntry **e = &s->buckets[bucket_of(handle.bytes, handle.len)];
    for (; *e; e = &(*e)->next)
        if (strlen((*e)->info.handle) == handle.len &&
            ptc_secret_same((*e)->info.handle, handle.bytes, handle.len) &&
            strcmp((*e)->owner, owner) == 0)
            break;
    if (*e && is_over(s, *e, now(s)))
        drop(s, e);
    else if (*e)
        return e;
    return NULL;
}

static void tell(const PtcSessions *s, const PtcSessionEntry *e, PtcSessionInfo *info)
{
    int64_t idle = e->info.used_ms + s->config.idle_ms;
    *info = e->info;
    info->busy = e->held;
    info->expires_ms = idle < e->ends_ms ? idle : e->ends_ms;
}

static void store(PtcSessions *s, const PtcSessionEntry *e)
{
    if (s->db)
        ptc_session_db_put(s->db, &(PtcSessionRow){.handle = e->info.handle,
                                                   .owner = e->owner,
                                                   .title = e->info.title,
                                                   .created_ms = e->info.created_ms,
                                                   .used_ms = e->info.used_ms,
                                                   .ends_ms = e->ends_ms,
                                                   .evals = e->info.evals,
                                                   .bindings = e->info.bindings,
                                                   .bytes = {e->bytes, e->info.bytes}});
}

/* ----------------------------------------------------------------------------- start, stop */

static bool copy_text(char *to, size_t size, const char *from)
{
    size_t len = strlen(from);
    if (len >= size || !ptc_utf8_valid(from, len))
        return false;
    memcpy(to, from, len + 1);
    return true;
}

/* A row of the store becomes a session again, unless it is over or more than there may be. */
static bool take_row(void *user, const PtcSessionRow *row)
{
    PtcSessions *s = user;
    const PtcSessionsConfig *c = &s->config;
    if (s->count >= c->max || row->bytes.len > c->bytes ||
        row->bytes.len > c->total_bytes - s->bytes)
        return true;
    PtcSessionEntry *e = new_entry(s, row->owner);
    if (!e)
        return false;
    e->info.created_ms = row->created_ms;
    e->info.used_ms = row->used_ms;
    e->info.evals = row->evals;
    e->info.bindings = row->bindings;
    e->ends_ms = row->ends_ms;
    bool good = copy_text(e->info.handle, sizeof e->info.handle, row->handle) &&
                copy_text(e->info.title, sizeof e->info.title, row->title);
    if (good && row->bytes.len && (e->bytes = ptc_mem_alloc(&s->mem, row->bytes.len))) {
        memcpy(e->bytes, row->bytes.bytes, row->bytes.len);
        e->info.bytes = row->bytes.len;
    }
    if (good && e->info.bytes == row->bytes.len)
        link_entry(s, e);
    else
        free_entry(s, e);
    return true;
}

static bool open_store(PtcSessions *s, char *why, size_t size)
{
    static const char prefix[] = "sqlite:";
    const char *path = s->config.store;
    if (!path)
        return true;
    if (strncmp(path, prefix, sizeof prefix - 1) != 0 || !path[sizeof prefix - 1]) {
        snprintf(why, size, "a session store is sqlite:FILE, not '%.100s'", path);
        return false;
    }
    if (!(s->db = ptc_session_db_open(&s->mem, path + sizeof prefix - 1, why, size)))
        return false;
    snprintf(why, size, "%s: the sessions in it cannot be read", path);
    if (!ptc_session_db_load(s->db, take_row, s))
        return false;
    sweep(s, now(s));
    return true;
}

static void set_defaults(PtcSessionsConfig *c)
{
    c->max = c->max ? c->max : 1024;
    c->max_an_owner = c->max_an_owner ? c->max_an_owner : c->max;
    c->ttl_ms = c->ttl_ms > 0 ? c->ttl_ms : 30 * 60 * 1000;
    c->idle_ms = c->idle_ms > 0 ? c->idle_ms : 15 * 60 * 1000;
    c->bytes = c->bytes ? c->bytes : 4 * MIB;
    c->total_bytes = c->total_bytes ? c->total_bytes : 256 * MIB;
    if (!c->now_ms)
        c->now_ms = system_now;
}

PtcSessions *ptc_sessions_new(const PtcSessionsConfig *config, char *why, size_t size)
{
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    PtcSessions *s = ptc_mem_alloc(&mem, sizeof *s);
    snprintf(why, size, "memory is short");
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    ptc_mem_init(&s->mem, SIZE_MAX / 2);
    s->config = *config;
    set_defaults(&s->config);
    pthread_mutex_init(&s->lock, NULL);
    if (open_store(s, why, size))
        return s;
    ptc_sessions_free(s);
    return NULL;
}

void ptc_sessions_free(PtcSessions *s)
{
    PtcMem mem;
    if (!s)
        return;
    ptc_session_db_close(s->db);
    for (size_t i = 0; i < BUCKETS; i++)
        while (s->buckets[i]) {
            PtcSessionEntry *e = s->buckets[i];
            s->buckets[i] = e->next;
            free_entry(s, e);
        }
    pthread_mutex_destroy(&s->lock);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    atomic_store(&mem.used, sizeof *s);
    ptc_mem_free(&mem, s, sizeof *s);
}

const PtcSessionsConfig *ptc_sessions_config(const PtcSessions *s)
{
    return &s->config;
}

/* ------------------------------------------------------------------------------------- use */

static size_t count_of(const PtcSessions *s, const char *owner)
{
    size_t n = 0;
    for (size_t i = 0; i < BUCKETS; i++)
        for (const PtcSessionEntry *e = s->buckets[i]; e; e = e->next)
            n += strcmp(e->owner, owner) == 0;
    return n;
}

static bool make_handle(PtcSessions *s, char handle[PTC_SESSION_HANDLE])
{
    unsigned char random[RANDOM_BYTES];
    PtcBuf text;
    ptc_buf_init(&text, &s->mem, PTC_SESSION_HANDLE - 3);
    bool ok = ptc_random_bytes(random, sizeof random) &&
              ptc_base64_add(&text, random, sizeof random, true);
    if (ok)
        snprintf(handle, PTC_SESSION_HANDLE, "s-%.*s", (int)text.len, text.data);
    ptc_buf_deinit(&text);
    return ok;
}

PtcSessionsStatus ptc_sessions_start(PtcSessions *s, const char *owner, PtcText title,
                                     int64_t ttl_ms, PtcSessionInfo *info)
{
    PtcSessionsStatus status = PTC_SESSIONS_NO_MEMORY;
    const PtcSessionsConfig *c = &s->config;
    pthread_mutex_lock(&s->lock);
    int64_t at = now(s);
    sweep(s, at);
    if (s->count >= c->max || count_of(s, owner) >= c->max_an_owner) {
        status = PTC_SESSIONS_FULL;
    } else {
        PtcSessionEntry *e = new_entry(s, owner);
        if (e && make_handle(s, e->info.handle)) {
            size_t len = title.len < PTC_SESSION_TITLE ? title.len : PTC_SESSION_TITLE;
            if (title.bytes)
                memcpy(e->info.title, title.bytes, ptc_utf8_valid_prefix(title.bytes, len));
            e->info.created_ms = e->info.used_ms = at;
            e->ends_ms = at + (ttl_ms > 0 && ttl_ms < c->ttl_ms ? ttl_ms : c->ttl_ms);
            link_entry(s, e);
            store(s, e);
            tell(s, e, info);
            status = PTC_SESSIONS_OK;
        } else if (e) {
            free_entry(s, e);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

PtcSessionsStatus ptc_sessions_hold(PtcSessions *s, const char *owner, PtcText handle,
                                    PtcSessionEntry **held, PtcText *bytes)
{
    PtcSessionsStatus status = PTC_SESSIONS_UNKNOWN;
    pthread_mutex_lock(&s->lock);
    PtcSessionEntry **e = find(s, owner, handle);
    if (e && (*e)->held) {
        status = PTC_SESSIONS_BUSY;
    } else if (e) {
        (*e)->held = true;
        *held = *e;
        *bytes = (PtcText){(*e)->bytes, (*e)->info.bytes};
        status = PTC_SESSIONS_OK;
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

size_t ptc_session_bindings(const PtcSessionEntry *held)
{
    return held->info.bindings;
}

/* Gives the session other bytes, or leaves it as it was. */
static PtcSessionsStatus change_bytes(PtcSessions *s, PtcSessionEntry *e, PtcText bytes)
{
    size_t others = s->bytes - e->info.bytes;
    if (bytes.len > s->config.bytes || bytes.len > s->config.total_bytes - others)
        return PTC_SESSIONS_FULL;
    char *copy = ptc_mem_alloc(&s->mem, bytes.len);
    if (!copy)
        return PTC_SESSIONS_NO_MEMORY;
    memcpy(copy, bytes.bytes, bytes.len);
    ptc_mem_free(&s->mem, e->bytes, e->info.bytes);
    e->bytes = copy;
    e->info.bytes = bytes.len;
    s->bytes = others + bytes.len;
    return PTC_SESSIONS_OK;
}

PtcSessionsStatus ptc_sessions_let_go(PtcSessions *s, PtcSessionEntry *e,
                                      const PtcSessionChange *change, PtcSessionInfo *info)
{
    PtcSessionsStatus status = PTC_SESSIONS_OK;
    pthread_mutex_lock(&s->lock);
    if (change && change->bytes.bytes)
        status = change_bytes(s, e, change->bytes);
    if (change && change->bytes.bytes && status == PTC_SESSIONS_OK)
        e->info.bindings = change->bindings;
    if (change)
        e->info.evals += change->evaluated;
    e->info.used_ms = now(s);
    pthread_mutex_unlock(&s->lock);
    store(s, e); /* it is still held: nobody else looks at it */
    pthread_mutex_lock(&s->lock);
    e->held = false;
    if (info)
        tell(s, e, info);
    pthread_mutex_unlock(&s->lock);
    return status;
}

PtcSessionsStatus ptc_sessions_close(PtcSessions *s, const char *owner, PtcText handle)
{
    pthread_mutex_lock(&s->lock);
    PtcSessionEntry **e = find(s, owner, handle);
    PtcSessionsStatus status = !e           ? PTC_SESSIONS_UNKNOWN
                               : (*e)->held ? PTC_SESSIONS_BUSY
                                            : PTC_SESSIONS_OK;
    if (status == PTC_SESSIONS_OK)
        drop(s, e);
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* Puts one where it belongs among those that were used last. */
static void insert(PtcSessionInfo *infos, size_t *n, size_t max, const PtcSessionInfo *info)
{
    size_t i = *n < max ? (*n)++ : max;
    if (i == max && (max == 0 || infos[--i].used_ms >= info->used_ms))
        return;
    for (; i > 0 && infos[i - 1].used_ms < info->used_ms; i--)
        infos[i] = infos[i - 1];
    infos[i] = *info;
}

size_t ptc_sessions_list(PtcSessions *s, const char *owner, PtcSessionInfo *infos, size_t max)
{
    PtcSessionInfo info;
    size_t n = 0, all = 0;
    pthread_mutex_lock(&s->lock);
    sweep(s, now(s));
    for (size_t i = 0; i < BUCKETS; i++)
        for (const PtcSessionEntry *e = s->buckets[i]; e; e = e->next)
            if (strcmp(e->owner, owner) == 0) {
                all++;
                tell(s, e, &info);
                insert(infos, &n, max, &info);
            }
    pthread_mutex_unlock(&s->lock);
    return all;
}

size_t ptc_sessions_bytes(PtcSessions *s, size_t *count)
{
    pthread_mutex_lock(&s->lock);
    size_t bytes = s->bytes;
    if (count)
        *count = s->count;
    pthread_mutex_unlock(&s->lock);
    return bytes;
}
