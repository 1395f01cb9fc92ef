/* SPDX-License-Identifier: MIT
 * Records in PostgreSQL, which many machines may use at once.  What always holds: an operation is one statement
 * (store_pg_schema.c), which the server does as a whole or not at all; this file only puts parameters in and takes
 * rows out, all of them binary. */
#include <stdio.h>
#include <string.h>

#include "base/text/secret.h"
#include "store/store_pg_int.h"

static Pg *as_pg_store(PtcStoreDriver *driver)
{
    return (Pg *)(void *)driver;
}

/* -------------------------------------------------------------------------- parameters */

/* Absent bytes are NULL. */
static void add_bytes(PgArgs *a, PtcText bytes)
{
    a->values[a->count] = bytes.bytes;
    a->lengths[a->count++] = (int)bytes.len;
}

static void add_number(PgArgs *a, int64_t n)
{
    char *out = a->numbers[a->count];
    for (int i = 0; i < 8; i++)
        out[i] = (char)((uint64_t)n >> (56 - 8 * i));
    add_bytes(a, (PtcText){out, 8});
}

static PtcText kind_text(const char *kind)
{
    return kind ? ptc_text_cstr(kind) : (PtcText){NULL, 0};
}

static PtcText node_text(const uint8_t *node)
{
    return (PtcText){(const char *)node, PTC_STORE_NODE};
}

static void add_key(PgArgs *a, const PtcStoreKey *key)
{
    add_bytes(a, kind_text(key->kind));
    add_bytes(a, key->owner);
    add_bytes(a, key->key);
}

static void add_claim(PgArgs *a, const PtcStoreClaim *claim)
{
    add_bytes(a, node_text(claim->node));
    add_number(a, claim->n);
    add_number(a, claim->most);
    add_number(a, claim->ms);
}

/* --------------------------------------------------------------------------------- rows */

static PtcText text_at(Pg *pg, const PGresult *r, int row, int column)
{
    return (PtcText){pg->lib.getvalue(r, row, column), (size_t)pg->lib.getlength(r, row, column)};
}

/* 0 for NULL. */
static int64_t number_at(Pg *pg, const PGresult *r, int row, int column)
{
    PtcText text = text_at(pg, r, row, column);
    uint64_t n = 0;
    for (size_t i = 0; i < text.len && i < 8; i++)
        n = n << 8 | (uint8_t)text.bytes[i];
    return (int64_t)n;
}

/* Of all statements that read records: 0 whether the hold was taken, 1 to 10 here, 11 bytes, 12 to 14 owner, key and
 * kind. */
static PtcStoreRow row_at(Pg *pg, const PGresult *r, int at, bool with_bytes)
{
    PtcStoreRow row = {.version = (uint64_t)number_at(pg, r, at, 1),
                       .created_ms = number_at(pg, r, at, 3),
                       .used_ms = number_at(pg, r, at, 4),
                       .expires_ms = number_at(pg, r, at, 5),
                       .idle_ms = number_at(pg, r, at, 6),
                       .size = (size_t)number_at(pg, r, at, 7),
                       .meta = text_at(pg, r, at, 8),
                       .seal = text_at(pg, r, at, 9),
                       .rest_seal = text_at(pg, r, at, 10)};
    PtcText tag = text_at(pg, r, at, 2);
    if (tag.len == PTC_STORE_TAG)
        memcpy(row.tag, tag.bytes, PTC_STORE_TAG);
    if (with_bytes)
        row.bytes = text_at(pg, r, at, 11);
    return row;
}

/* Runs a statement whose answer are one or two numbers. */
static PtcStoreStatus ask_numbers(Pg *pg, const char *statement, const PgArgs *args, bool writes,
                                  int64_t numbers[2])
{
    PGresult *r;
    PtcStoreStatus status = ptc_pg_ask(pg, statement, args, writes, &r);
    numbers[0] = numbers[1] = 0;
    if (status != PTC_STORE_OK)
        return status;
    for (int i = 0; i < 2 && pg->lib.ntuples(r); i++)
        if (i < pg->lib.nfields(r))
            numbers[i] = number_at(pg, r, 0, i);
    pg->lib.clear(r);
    return PTC_STORE_OK;
}

/* ------------------------------------------------------------------------------ reading */

static PtcStoreStatus get_from_pg(PtcStoreDriver *driver, const PtcStoreKey *key,
                                  const PtcStoreClaim *claim, bool with_bytes,
                                  PtcStoreTakeRow *take, void *user)
{
    Pg *pg = as_pg_store(driver);
    PgArgs args = {.count = 0};
    PGresult *r;
    add_key(&args, key);
    if (claim)
        add_claim(&args, claim);
    add_number(&args, with_bytes);
    PtcStoreStatus status = ptc_pg_ask(pg, claim ? "ptc_get_held" : "ptc_get", &args, false, &r);
    if (status != PTC_STORE_OK)
        return status;
    if (pg->lib.ntuples(r) && number_at(pg, r, 0, 0) == 0) {
        status = PTC_STORE_HELD;
    } else if (!pg->lib.ntuples(r) || number_at(pg, r, 0, 1) == 0) {
        status = PTC_STORE_ABSENT;
    } else {
        PtcStoreRow row = row_at(pg, r, 0, with_bytes);
        take(user, key, &row);
    }
    pg->lib.clear(r);
    return status;
}

/* The kinds are in the result, which ends each value with a NUL. */
static PtcStoreStatus list_pg(PtcStoreDriver *driver, const char *kind, PtcText owner,
                              const PtcStoreKey *after, size_t n, PtcStoreTakeRow *take, void *user)
{
    static const PtcStoreKey first = {"", {"", 0}, {"", 0}};
    Pg *pg = as_pg_store(driver);
    PgArgs args = {.count = 0};
    PGresult *r;
    const char *all = owner.bytes ? "ptc_list_owner" : "ptc_list_kind";
    add_bytes(&args, kind_text(kind));
    add_bytes(&args, owner);
    add_key(&args, after ? after : &first);
    add_number(&args, (int64_t)n);
    PtcStoreStatus status = ptc_pg_ask(pg, kind ? all : "ptc_list_all", &args, false, &r);
    if (status != PTC_STORE_OK)
        return status;
    for (int i = 0; i < pg->lib.ntuples(r); i++) {
        PtcStoreRow row = row_at(pg, r, i, false);
        PtcStoreKey k = {text_at(pg, r, i, 14).bytes, text_at(pg, r, i, 12), text_at(pg, r, i, 13)};
        if (!take(user, &k, &row))
            break;
    }
    pg->lib.clear(r);
    return PTC_STORE_OK;
}

static PtcStoreStatus sum_pg(PtcStoreDriver *driver, const char *kind, PtcText owner, size_t *count,
                             size_t *bytes)
{
    PgArgs args = {.count = 0};
    int64_t sums[2];
    add_bytes(&args, kind_text(kind));
    add_bytes(&args, owner);
    PtcStoreStatus status = ask_numbers(as_pg_store(driver), "ptc_sum", &args, false, sums);
    *count = (size_t)sums[0];
    *bytes = (size_t)sums[1];
    return status;
}

/* ------------------------------------------------------------------------------ writing */

static void add_row(PgArgs *a, const PtcStoreRow *row)
{
    add_number(a, (int64_t)row->version);
    add_bytes(a, (PtcText){(const char *)row->tag, PTC_STORE_TAG});
    add_number(a, row->created_ms);
    add_number(a, row->used_ms);
    add_number(a, row->expires_ms);
    add_number(a, row->idle_ms);
    add_bytes(a, row->meta);
    add_bytes(a, row->bytes);
    add_bytes(a, row->seal);
    add_bytes(a, row->rest_seal);
}

/* The answers of ptc_put that are no version. */
enum { PUT_DONE = 0, PUT_ABSENT = -1, PUT_FULL = -2, PUT_FENCED = -3, PUT_ALONE = -4 };

static PtcStoreStatus put_once(Pg *pg, const PtcStoreKey *key, const PtcStoreWrite *w, bool alone,
                               int64_t *answer)
{
    static const PtcStoreKey none = {NULL, {NULL, 0}, {NULL, 0}};
    const PtcStoreBounds *b = &w->bounds;
    const size_t bounds[] = {b->count, b->owner_count, b->bytes, b->owner_bytes};
    PgArgs args = {.count = 0};
    int64_t numbers[2];
    add_key(&args, key);
    add_number(&args, (int64_t)w->expected);
    add_row(&args, &w->row);
    add_key(&args, w->guard ? w->guard : &none);
    add_number(&args, (int64_t)w->guard_version);
    for (int i = 0; i < 4; i++)
        add_number(&args, (int64_t)bounds[i]);
    add_number(&args, alone);
    add_bytes(&args, node_text(w->release));
    add_number(&args, w->wakes);
    PtcStoreStatus status = ask_numbers(pg, "ptc_put", &args, true, numbers);
    *answer = numbers[0];
    return status;
}

static PtcStoreStatus put_in_pg(PtcStoreDriver *driver, const PtcStoreKey *key,
                                const PtcStoreWrite *w, uint64_t *there)
{
    Pg *pg = as_pg_store(driver);
    int64_t answer;
    PtcStoreStatus status = put_once(pg, key, w, false, &answer);
    if (status == PTC_STORE_OK && answer == PUT_ALONE)
        status = put_once(pg, key, w, true, &answer);
    if (status != PTC_STORE_OK)
        return status;
    if (answer > 0)
        *there = (uint64_t)answer;
    return answer > 0             ? PTC_STORE_CONFLICT
           : answer == PUT_DONE   ? PTC_STORE_OK
           : answer == PUT_ABSENT ? PTC_STORE_ABSENT
           : answer == PUT_FENCED ? PTC_STORE_FENCED
                                  : PTC_STORE_FULL;
}

static PtcStoreStatus remove_from_pg(PtcStoreDriver *driver, const PtcStoreKey *key,
                                     uint64_t expected)
{
    PgArgs args = {.count = 0};
    int64_t found[2]; /* what was there, what was removed */
    add_key(&args, key);
    add_number(&args, (int64_t)expected);
    PtcStoreStatus status = ask_numbers(as_pg_store(driver), "ptc_remove", &args, true, found);
    if (status != PTC_STORE_OK || found[1])
        return status;
    return found[0] ? PTC_STORE_CONFLICT : PTC_STORE_ABSENT;
}

static PtcStoreStatus expire_pg(PtcStoreDriver *driver, const char *kind, int64_t now_ms, size_t n)
{
    PgArgs args = {.count = 0};
    int64_t none[2];
    (void)now_ms; /* the server's clock decides */
    add_bytes(&args, kind_text(kind));
    add_number(&args, (int64_t)n);
    return ask_numbers(as_pg_store(driver), "ptc_expire", &args, false, none);
}

static PtcStoreStatus hold_in_pg(PtcStoreDriver *driver, const PtcStoreKey *key,
                                 const PtcStoreClaim *claim)
{
    PgArgs args = {.count = 0};
    int64_t held[2];
    add_key(&args, key);
    add_claim(&args, claim);
    PtcStoreStatus status = ask_numbers(as_pg_store(driver), "ptc_claim", &args, false, held);
    return status == PTC_STORE_OK && !held[0] ? PTC_STORE_HELD : status;
}

/* ------------------------------------------------------------------------------- telling */

static PtcStoreStatus ask_pg_clock(PtcStoreDriver *driver, int64_t *now_ms)
{
    PgArgs args = {.count = 0};
    int64_t numbers[2];
    PtcStoreStatus status = ask_numbers(as_pg_store(driver), "ptc_clock", &args, false, numbers);
    *now_ms = numbers[0];
    return status;
}

static PtcStoreStatus tell_pg(PtcStoreDriver *driver, PtcBuf *out, bool *durable)
{
    Pg *pg = as_pg_store(driver);
    PgArgs args = {.count = 0};
    PGresult *r;
    PtcStoreStatus status = ptc_pg_ask(pg, "ptc_tell", &args, false, &r);
    if (status != PTC_STORE_OK)
        return status;
    PtcText version = text_at(pg, r, 0, 1);
    const char *end = memchr(version.bytes, ' ', version.len);
    version.len = end ? (size_t)(end - version.bytes) : version.len;
    *durable = true; /* without fsync too, as long as the machine lives */
    ptc_buf_addf(out, "postgresql %.*s, schema %d", PTC_ARG(version), PTC_STORE_SCHEMA);
    if (!number_at(pg, r, 0, 0))
        ptc_buf_add_cstr(out, "\nwhat was acknowledged may be lost: fsync is off");
    pg->lib.clear(r);
    return ptc_buf_ok(out) ? PTC_STORE_OK : PTC_STORE_NO_MEMORY;
}

/* ------------------------------------------------------------------------------------ life */

static void free_pg(PtcStoreDriver *driver)
{
    Pg *pg = as_pg_store(driver);
    PtcMem mem;
    ptc_pg_listen_no_more(pg);
    ptc_store_pool_free(pg->pool);
    if (pg->url)
        ptc_secret_wipe(pg->url, pg->url_size);
    ptc_mem_free(&pg->mem, pg->url, pg->url_size);
    pthread_mutex_destroy(&pg->base.trouble.lock);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *pg);
    ptc_mem_free(&mem, pg, sizeof *pg);
}

/* The library ends the password at the first '@' or '/', and would then name what follows as the host. */
static bool has_plain_password(const char *url)
{
    const char *at = strstr(url, "://") + 3;
    at += strcspn(at, "@/?");
    size_t rest = *at == '@' ? strcspn(at + 1, "?") : strcspn(at, "?");
    return *at && memchr(at + (*at == '@'), '@', rest);
}

/* What the library says about a wrong one may quote it, with its password. */
static bool check_url(Pg *pg, PtcWhy *why)
{
    if (has_plain_password(pg->url))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "an @ or / in the password of the store is written %%40 or %%2F");
    char *said = NULL;
    PQconninfoOption *options = pg->lib.conninfoParse(pg->url, &said);
    if (said)
        pg->lib.freemem(said);
    if (options)
        pg->lib.conninfoFree(options);
    return options ||
           ptc_why_say(why, PTC_WHY_INVALID, "the store is not postgres://USER@HOST:PORT/DATABASE");
}

static bool begin_pg(Pg *pg, const PtcStoreOpening *o, PtcWhy *why)
{
    pg->base.woke = o->woke;
    pg->base.woke_user = o->woke_user;
    pg->timeout_ms = o->timeout_ms;
    pg->upgrade = o->upgrade;
    pg->url_size = strlen(o->url) + 1;
    if (!ptc_pg_load(&pg->lib, why))
        return false;
    if (!(pg->url = ptc_mem_alloc(&pg->mem, pg->url_size)))
        return ptc_why_no_memory(why);
    memcpy(pg->url, o->url, pg->url_size);
    if (!check_url(pg, why))
        return false;
    pg->pool =
        ptc_store_pool_new(&pg->mem, &ptc_pg_pool_class, pg, o->connections, &pg->base.trouble);
    if (!pg->pool)
        return ptc_why_no_memory(why);
    return ptc_store_pool_begin(pg->pool, o->timeout_ms, why) &&
           (ptc_pg_listen(pg) || ptc_why_no_memory(why));
}

PtcStoreDriver *ptc_store_pg(const PtcStoreOpening *opening, PtcWhy *why)
{
    static const PtcStoreDriverClass class = {"postgresql",   true,         get_from_pg, put_in_pg,
                                              remove_from_pg, list_pg,      expire_pg,   sum_pg,
                                              hold_in_pg,     ask_pg_clock, tell_pg,     free_pg};
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    Pg *pg = ptc_mem_alloc(&mem, sizeof *pg);
    ptc_why_no_memory(why);
    if (!pg)
        return NULL;
    memset(pg, 0, sizeof *pg);
    ptc_mem_init(&pg->mem, PTC_UNBOUNDED);
    pg->base.class = &class;
    pg->stop[0] = pg->stop[1] = -1;
    pthread_mutex_init(&pg->base.trouble.lock, NULL);
    if (begin_pg(pg, opening, why))
        return &pg->base;
    free_pg(&pg->base);
    return NULL;
}
