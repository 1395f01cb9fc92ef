/* SPDX-License-Identifier: MIT
 * Opening a store: which engine a URL names, its keys, and the record that says whether it is sealed.  The only file
 * that knows which engines there are. */
#include <stdio.h>

#include "base/os/cond.h"
#include "base/text/secret.h"
#include "store/store_int.h"

enum { STORE_TIMEOUT_MS = 5000, STORE_CONNECTIONS = 8, KEY_FILE_NAME = 4096 };

/* What begins a URL, and what opens it. */
static const struct {
    const char *scheme;
    bool needs_more; /* behind the scheme */
    PtcStoreDriverOpen *open;
} engines[] = {
    {"memory:", false, ptc_store_memory}, {"sqlite:", true, ptc_store_sqlite},
    {"postgres://", true, ptc_store_pg},  {"postgresql://", true, ptc_store_pg},
    {"redis://", true, ptc_store_redis},  {"rediss://", true, ptc_store_redis},
};

static const char known[] = "a store is memory:, sqlite:FILE, postgres://... or redis://HOST";

static PtcStoreDriverOpen *engine_of(const char *url)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        size_t len = strlen(engines[i].scheme);
        if (strncmp(url, engines[i].scheme, len) == 0 && (url[len] || !engines[i].needs_more))
            return engines[i].open;
    }
    return NULL;
}

/* What may be shown of a wrong one: there may be a password behind the scheme. */
static PtcText scheme_of(const char *url)
{
    size_t n = strcspn(url, ":");
    return (PtcText){url, n < 40 ? n : 40};
}

bool ptc_store_is_url(const char *url, PtcWhy *why)
{
    return engine_of(url) ||
           ptc_why_say(why, PTC_WHY_INVALID, "%s, not '%.*s...'", known, PTC_ARG(scheme_of(url)));
}

/* ------------------------------------------------------------------------------------ keys */

static const PtcStoreKey marker = {"meta", {"-", 1}, {"sealed", 6}};

typedef struct {
    const PtcStoreKeys *keys;
    bool sealed;
    PtcStoreStatus fits;
} Marker;

static bool take_marker(void *user, const PtcStoreKey *key, const PtcStoreRow *row)
{
    Marker *m = user;
    m->sealed = row->seal.len > 1;
    m->fits = ptc_store_seal_check(m->keys, key, row, true);
    return false;
}

static bool is_sqlite_own_key(const PtcStoreConfig *c)
{
    return c->url && !c->key_file && strncmp(c->url, "sqlite:", 7) == 0;
}

/* `make`: the store is new, so its key may be. */
static bool read_keys(PtcStore *s, const PtcStoreConfig *c, bool make, PtcWhy *why)
{
    char own[KEY_FILE_NAME];
    bool absent, sqlite = is_sqlite_own_key(c);
    if (!c->key_file && !sqlite)
        return true;
    if (sqlite && snprintf(own, sizeof own, "%s.key", c->url + 7) >= (int)sizeof own)
        return ptc_why_say(why, PTC_WHY_INVALID, "the name of the store is too long");
    if (ptc_store_keys_read(sqlite ? own : c->key_file, make && sqlite, &s->keys, &absent, why))
        return true;
    if (absent && sqlite)
        ptc_why_reword(why,
                       "%s: its key, %s, is missing; put it back, or remove the store and start "
                       "again",
                       c->url + 7, own);
    return false;
}

static bool refuse_key(PtcStore *s, const Marker *m, PtcWhy *why)
{
    if (m->fits == PTC_STORE_NEWER)
        return ptc_why_say(why, PTC_WHY_REFUSED, "the store was written by a newer version of ptc");
    if (!m->sealed)
        return ptc_why_say(
            why, PTC_WHY_REFUSED,
            "the store was used without a key until now: use it without, or begin an "
            "empty one with --store-key");
    return ptc_why_say(why, PTC_WHY_REFUSED,
                       s->keys.count ? "the store is sealed with another key than this one"
                                     : "the store is sealed: give its key with --store-key FILE");
}

static bool say_failed(PtcStore *s, PtcStoreStatus status, PtcWhy *why)
{
    char text[PTC_STORE_WHY];
    if (status == PTC_STORE_NO_MEMORY)
        return ptc_why_no_memory(why);
    ptc_store_why(s, text);
    return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "%s", text[0] ? text : "it does not answer");
}

/* Of several nodes that open an empty store at once, the first decides whether it is sealed. */
static bool settle_keys(PtcStore *s, const PtcStoreConfig *c, PtcWhy *why)
{
    Marker m = {&s->keys, false, PTC_STORE_OK};
    uint64_t version;
    PtcStoreStatus status = s->driver->class->get(s->driver, &marker, NULL, true, take_marker, &m);
    bool is_new = s->is_new = status == PTC_STORE_ABSENT;
    if (status != PTC_STORE_OK && !is_new)
        return say_failed(s, status, why);
    if (!read_keys(s, c, is_new, why))
        return false;
    if (is_new) {
        int64_t now = ptc_store_now(s);
        PtcStorePut put = {.used_ms = now, .expires_ms = PTC_STORE_NEVER, .bytes = PTC_TEXT("1")};
        status = ptc_store_put(s, &marker, &put, &version);
        if (status != PTC_STORE_OK && status != PTC_STORE_CONFLICT)
            return say_failed(s, status, why);
    }
    status = s->driver->class->get(s->driver, &marker, NULL, true, take_marker, &m);
    if (status != PTC_STORE_OK)
        return say_failed(s, status, why);
    return m.fits == PTC_STORE_OK || refuse_key(s, &m, why);
}

/* ------------------------------------------------------------------------------------ life */

static bool open_engine(PtcStore *s, const PtcStoreConfig *c, PtcWhy *why)
{
    const char *url = c->url ? c->url : "memory:";
    PtcStoreDriverOpen *open = engine_of(url);
    PtcStoreOpening opening = {
        url,        s->timeout_ms,  c->connections ? c->connections : STORE_CONNECTIONS,
        c->upgrade, ptc_store_woke, s};
    PtcBuf said;
    if (!open)
        return ptc_store_is_url(url, why);
    if (!(s->driver = open(&opening, why)))
        return false;
    PtcStoreStatus status = ptc_store_ask_clock(s);
    if (status != PTC_STORE_OK)
        return say_failed(s, status, why);
    if (!settle_keys(s, c, why))
        return false;
    ptc_buf_init(&said, &s->mem, 16 * PTC_KB);
    (void)!ptc_store_tell(s, &said); /* for what is durable */
    ptc_buf_deinit(&said);
    /* Whoever has a clock of his own wants to know what happens when. */
    return !ptc_store_is_shared(s) || s->now_ms || ptc_store_keeper_start(s) ||
           ptc_why_no_memory(why);
}

static void say_on_stderr(void *user, const char *text)
{
    (void)user;
    fprintf(stderr, "ptc: %s\n", text);
}

PtcStore *ptc_store_open(const PtcStoreConfig *config, PtcWhy *why)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcStore *s = ptc_mem_alloc(&mem, sizeof *s);
    ptc_why_no_memory(why);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    ptc_mem_init(&s->mem, PTC_UNBOUNDED);
    pthread_mutex_init(&s->lock, NULL);
    ptc_cond_init(&s->woken);
    s->timeout_ms = config->timeout_ms > 0 ? config->timeout_ms : STORE_TIMEOUT_MS;
    s->now_ms = config->now_ms;
    s->now_user = config->now_user;
    s->say = config->say ? config->say : say_on_stderr;
    s->say_user = config->say_user;
    if (ptc_random_bytes(s->node, sizeof s->node) && open_engine(s, config, why))
        return s;
    ptc_store_free(s);
    return NULL;
}

void ptc_store_free(PtcStore *s)
{
    PtcMem mem;
    if (!s)
        return;
    ptc_store_keeper_stop(s);
    if (s->driver)
        s->driver->class->free(s->driver);
    ptc_secret_wipe(&s->keys, sizeof s->keys);
    pthread_cond_destroy(&s->woken);
    pthread_mutex_destroy(&s->lock);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *s);
    ptc_mem_free(&mem, s, sizeof *s);
}
