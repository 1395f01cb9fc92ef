/* SPDX-License-Identifier: MIT
 * Records in a SQLite file, which several processes of a machine may have open at once.  What always holds: a change is
 * one transaction that takes the write lock before it reads, so what it compared (versions, bounds, guards) still holds
 * when it writes, whatever other processes do; the connection is used by one thread at a time. */
#include <dlfcn.h>
#include <stdio.h>

#include "store/store_sqlite_int.h"

static Db *as_sqlite_store(PtcStoreDriver *driver)
{
    return (Db *)(void *)driver;
}

/* -------------------------------------------------------------------------- statements */

/* What an error code of SQLite means to callers. */
static PtcStoreStatus failure(Db *db, int code)
{
    code &= 0xff; /* drop the extended code */
    if (code == SQLITE_NOMEM)
        return PTC_STORE_NO_MEMORY;
    bool busy = code == SQLITE_BUSY || code == SQLITE_LOCKED;
    ptc_store_trouble_say(&db->base.trouble, "%s",
                          busy                      ? "the store is busy: another process holds it"
                          : code == SQLITE_FULL     ? "the store is full"
                          : code == SQLITE_READONLY ? "the store is read-only"
                                                    : db->lib.errmsg(db->db));
    return busy ? PTC_STORE_BUSY : PTC_STORE_FAILED;
}

/* Bindings are cleared because they point into the caller's memory. */
static void finish_statement(Db *db, Statement which)
{
    db->lib.reset(db->statements[which]);
    db->lib.clear_bindings(db->statements[which]);
}

/* Runs a statement that returns no row. */
static PtcStoreStatus run_statement(Db *db, Statement which, int bound)
{
    int code = bound == SQLITE_OK ? db->lib.step(db->statements[which]) : bound;
    PtcStoreStatus status = code == SQLITE_DONE ? PTC_STORE_OK : failure(db, code);
    finish_statement(db, which);
    return status;
}

static int bind_bytes(Db *db, Statement which, int at, PtcText bytes)
{
    return db->lib.bind_blob64(db->statements[which], at, bytes.len ? bytes.bytes : "", bytes.len,
                               SQLITE_STATIC);
}

static int bind_number(Db *db, Statement which, int at, int64_t n)
{
    return db->lib.bind_int64(db->statements[which], at, n);
}

static int bind_kind(Db *db, Statement which, const char *kind)
{
    return db->lib.bind_text(db->statements[which], 1, kind, -1, SQLITE_STATIC);
}

static int bind_record_key(Db *db, Statement which, const PtcStoreKey *key)
{
    return bind_kind(db, which, key->kind) | bind_bytes(db, which, 2, key->owner) |
           bind_bytes(db, which, 3, key->key);
}

static int64_t column_number(Db *db, Statement which, int at)
{
    return db->lib.column_int64(db->statements[which], at);
}

static PtcText column_bytes_of(Db *db, Statement which, int at)
{
    sqlite3_stmt *statement = db->statements[which];
    const void *bytes = db->lib.column_blob(statement, at);
    return (PtcText){bytes ? bytes : "", (size_t)db->lib.column_bytes(statement, at)};
}

/* -------------------------------------------------------------------------- transactions */

/* BEGIN IMMEDIATE: takes the write lock now, so that what is read next cannot change. */
static PtcStoreStatus begin_transaction(Db *db)
{
    return run_statement(db, BEGIN, SQLITE_OK);
}

/* Commits a success and rolls back anything else. */
static PtcStoreStatus end_transaction(Db *db, PtcStoreStatus status)
{
    if (status == PTC_STORE_OK)
        status = run_statement(db, COMMIT, SQLITE_OK);
    if (status != PTC_STORE_OK) { /* fails if SQLite has rolled back already, which is fine */
        (void)!db->lib.step(db->statements[ROLLBACK]);
        finish_statement(db, ROLLBACK);
    }
    return status;
}

/* --------------------------------------------------------------------------------- holds */

/* What all other nodes have put beside the record. */
static PtcStoreStatus count_held(Db *db, const PtcStoreKey *key, const PtcStoreClaim *claim,
                                 int64_t *held)
{
    PtcText node = {(const char *)claim->node, PTC_STORE_NODE};
    int code = bind_record_key(db, HELD, key) | bind_bytes(db, HELD, 4, node) |
               bind_number(db, HELD, 5, claim->now_ms);
    if (code == SQLITE_OK)
        code = db->lib.step(db->statements[HELD]);
    *held = code == SQLITE_ROW ? column_number(db, HELD, 0) : 0;
    PtcStoreStatus status = code == SQLITE_ROW ? PTC_STORE_OK : failure(db, code);
    finish_statement(db, HELD);
    return status;
}

static PtcStoreStatus let_go_in_sqlite(Db *db, const PtcStoreKey *key, const uint8_t *node)
{
    PtcText text = {(const char *)node, PTC_STORE_NODE};
    return run_statement(db, LET_GO,
                         bind_record_key(db, LET_GO, key) | bind_bytes(db, LET_GO, 4, text));
}

/* Inside a transaction. */
static PtcStoreStatus claim_in_sqlite(Db *db, const PtcStoreKey *key, const PtcStoreClaim *claim)
{
    int64_t held;
    PtcText node = {(const char *)claim->node, PTC_STORE_NODE};
    if (claim->n == 0)
        return let_go_in_sqlite(db, key, claim->node);
    PtcStoreStatus status = count_held(db, key, claim, &held);
    if (status != PTC_STORE_OK)
        return status;
    if (held > claim->most - claim->n)
        return PTC_STORE_HELD;
    return run_statement(db, HOLD,
                         bind_record_key(db, HOLD, key) | bind_bytes(db, HOLD, 4, node) |
                             bind_number(db, HOLD, 5, claim->n) |
                             bind_number(db, HOLD, 6, claim->now_ms + claim->ms));
}

static PtcStoreStatus hold_in_sqlite(PtcStoreDriver *driver, const PtcStoreKey *key,
                                     const PtcStoreClaim *claim)
{
    Db *db = as_sqlite_store(driver);
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = begin_transaction(db);
    if (status == PTC_STORE_OK)
        status = end_transaction(db, claim_in_sqlite(db, key, claim));
    pthread_mutex_unlock(&db->lock);
    return status;
}

/* ------------------------------------------------------------------------------ reading */

/* The first ten columns of GET and the lists. */
static PtcStoreRow row_of(Db *db, Statement which)
{
    PtcStoreRow row = {.version = (uint64_t)column_number(db, which, 0),
                       .created_ms = column_number(db, which, 2),
                       .used_ms = column_number(db, which, 3),
                       .expires_ms = column_number(db, which, 4),
                       .idle_ms = column_number(db, which, 5),
                       .size = (size_t)column_number(db, which, 6),
                       .meta = column_bytes_of(db, which, 7),
                       .seal = column_bytes_of(db, which, 8),
                       .rest_seal = column_bytes_of(db, which, 9)};
    PtcText tag = column_bytes_of(db, which, 1);
    if (tag.len == PTC_STORE_TAG)
        memcpy(row.tag, tag.bytes, PTC_STORE_TAG);
    return row;
}

static PtcStoreStatus read_record_row(Db *db, const PtcStoreKey *key, bool with_bytes,
                                      PtcStoreTakeRow *take, void *user)
{
    PtcStoreStatus status = PTC_STORE_OK;
    int code = bind_record_key(db, GET, key) | bind_number(db, GET, 4, with_bytes);
    if (code == SQLITE_OK)
        code = db->lib.step(db->statements[GET]);
    if (code == SQLITE_DONE) {
        status = PTC_STORE_ABSENT;
    } else if (code != SQLITE_ROW) {
        status = failure(db, code);
    } else {
        PtcStoreRow row = row_of(db, GET);
        if (with_bytes)
            row.bytes = column_bytes_of(db, GET, 10);
        take(user, key, &row);
    }
    finish_statement(db, GET);
    return status;
}

static PtcStoreStatus get_claimed(Db *db, const PtcStoreKey *key, const PtcStoreClaim *claim,
                                  bool with_bytes, PtcStoreTakeRow *take, void *user)
{
    PtcStoreStatus status = begin_transaction(db);
    if (status != PTC_STORE_OK)
        return status;
    status = claim_in_sqlite(db, key, claim);
    PtcStoreStatus found = PTC_STORE_OK;
    if (status == PTC_STORE_OK)
        found = read_record_row(db, key, with_bytes, take, user);
    status = end_transaction(db, status == PTC_STORE_OK ? found : status);
    return status;
}

static PtcStoreStatus get_from_sqlite(PtcStoreDriver *driver, const PtcStoreKey *key,
                                      const PtcStoreClaim *claim, bool with_bytes,
                                      PtcStoreTakeRow *take, void *user)
{
    Db *db = as_sqlite_store(driver);
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = claim ? get_claimed(db, key, claim, with_bytes, take, user)
                                  : read_record_row(db, key, with_bytes, take, user);
    pthread_mutex_unlock(&db->lock);
    return status;
}

/* Takes the rows of a list whose parameters are bound. */
static PtcStoreStatus take_rows(Db *db, Statement which, int code, PtcStoreTakeRow *take,
                                void *user)
{
    bool more = true;
    while (code == SQLITE_OK && more &&
           (code = db->lib.step(db->statements[which])) == SQLITE_ROW) {
        PtcStoreRow row = row_of(db, which);
        PtcText kind = column_bytes_of(db, which, 12);
        PtcStoreKey key = {kind.bytes, column_bytes_of(db, which, 10),
                           column_bytes_of(db, which, 11)};
        more = take(user, &key, &row);
        code = SQLITE_OK;
    }
    finish_statement(db, which);
    return code == SQLITE_DONE || !more ? PTC_STORE_OK : failure(db, code);
}

/* ?1 kind, ?2 owner; ?4 and ?5 owner and key of the one before, ?6 its kind, ?7 how many. */
static PtcStoreStatus list_sqlite(PtcStoreDriver *driver, const char *kind, PtcText owner,
                                  const PtcStoreKey *after, size_t n, PtcStoreTakeRow *take,
                                  void *user)
{
    Db *db = as_sqlite_store(driver);
    Statement which = !kind ? LIST_ALL : owner.bytes ? LIST_OWNER : LIST_KIND;
    PtcText none = PTC_TEXT("");
    pthread_mutex_lock(&db->lock);
    int code = bind_kind(db, which, kind) | bind_bytes(db, which, 4, after ? after->owner : none) |
               bind_bytes(db, which, 5, after ? after->key : none) |
               bind_number(db, which, 7, (int64_t)n);
    if (owner.bytes)
        code |= bind_bytes(db, which, 2, owner);
    code |=
        db->lib.bind_text(db->statements[which], 6, after ? after->kind : "", -1, SQLITE_STATIC);
    PtcStoreStatus status = take_rows(db, which, code, take, user);
    pthread_mutex_unlock(&db->lock);
    return status;
}

/* How much there is of a kind, in all and for one owner. */
typedef struct {
    size_t count, bytes, own_count, own_bytes;
} StoreSum;

static PtcStoreStatus add_up(Db *db, const char *kind, PtcText owner, StoreSum *sum)
{
    int code = bind_kind(db, SUM, kind) | bind_bytes(db, SUM, 2, owner);
    if (code == SQLITE_OK)
        code = db->lib.step(db->statements[SUM]);
    bool ok = code == SQLITE_ROW;
    size_t *all[] = {&sum->count, &sum->bytes, &sum->own_count, &sum->own_bytes};
    for (int i = 0; i < 4; i++)
        *all[i] = ok ? (size_t)column_number(db, SUM, i) : 0;
    finish_statement(db, SUM);
    return ok ? PTC_STORE_OK : failure(db, code);
}

static PtcStoreStatus sum_sqlite(PtcStoreDriver *driver, const char *kind, PtcText owner,
                                 size_t *count, size_t *bytes)
{
    Db *db = as_sqlite_store(driver);
    StoreSum found;
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = add_up(db, kind, owner.bytes ? owner : PTC_TEXT(""), &found);
    pthread_mutex_unlock(&db->lock);
    *count = owner.bytes ? found.own_count : found.count;
    *bytes = owner.bytes ? found.own_bytes : found.bytes;
    return status;
}

/* ------------------------------------------------------------------------------ writing */

/* What is there before a write; version 0: nothing. */
typedef struct {
    uint64_t version;
    size_t size;
    bool over;
} Before;

static PtcStoreStatus peek(Db *db, const PtcStoreKey *key, int64_t now_ms, Before *before)
{
    *before = (Before){.version = 0};
    int code = bind_record_key(db, PEEK, key) | bind_number(db, PEEK, 4, now_ms);
    if (code == SQLITE_OK)
        code = db->lib.step(db->statements[PEEK]);
    if (code == SQLITE_ROW)
        *before = (Before){(uint64_t)column_number(db, PEEK, 0), (size_t)column_number(db, PEEK, 1),
                           column_number(db, PEEK, 2) != 0};
    PtcStoreStatus status =
        code == SQLITE_ROW || code == SQLITE_DONE ? PTC_STORE_OK : failure(db, code);
    finish_statement(db, PEEK);
    return status;
}

/* Would `len` bytes fit in place of `old` ones, where there are `have` and may be `most` (0: unlimited)? */
static bool has_replacement_room(size_t have, size_t old, size_t len, size_t most)
{
    have -= old < have ? old : have;
    return !most || (have <= most && len <= most - have);
}

/* Would the record fit in place of one of `old` bytes (0 for a new record)? */
static PtcStoreStatus check_bounds(Db *db, const PtcStoreKey *key, const PtcStoreWrite *w,
                                   size_t old)
{
    const PtcStoreBounds *b = &w->bounds;
    bool is_new = w->expected == 0;
    size_t len = w->row.bytes.len;
    StoreSum sum;
    if (!ptc_store_is_bounded(b) || !w->row.bytes.bytes || (!is_new && len <= old))
        return PTC_STORE_OK;
    PtcStoreStatus status = add_up(db, key->kind, key->owner, &sum);
    if (status != PTC_STORE_OK)
        return status;
    bool many = is_new && (!has_replacement_room(sum.count, 0, 1, b->count) ||
                           !has_replacement_room(sum.own_count, 0, 1, b->owner_count));
    bool large = !has_replacement_room(sum.bytes, old, len, b->bytes) ||
                 !has_replacement_room(sum.own_bytes, old, len, b->owner_bytes);
    return many || large ? PTC_STORE_FULL : PTC_STORE_OK;
}

static PtcStoreStatus write_row(Db *db, const PtcStoreKey *key, const PtcStoreWrite *w)
{
    const PtcStoreRow *row = &w->row;
    Statement which = w->expected == 0 ? ADD : row->bytes.bytes ? CHANGE : TOUCH;
    int code = bind_record_key(db, which, key) | bind_number(db, which, 4, row->used_ms) |
               bind_number(db, which, 5, row->expires_ms) |
               bind_number(db, which, 6, row->idle_ms) | bind_bytes(db, which, 7, row->meta) |
               bind_bytes(db, which, 8, row->rest_seal);
    if (which != TOUCH)
        code |= bind_number(db, which, 9, (int64_t)row->version) |
                bind_bytes(db, which, 10, (PtcText){(const char *)row->tag, PTC_STORE_TAG}) |
                bind_number(db, which, 11, (int64_t)row->bytes.len) |
                bind_bytes(db, which, 12, row->bytes) | bind_bytes(db, which, 13, row->seal);
    if (which == ADD)
        code |= bind_number(db, which, 14, row->created_ms);
    return run_statement(db, which, code);
}

static PtcStoreStatus check_guard(Db *db, const PtcStoreWrite *w)
{
    Before guard;
    if (!w->guard)
        return PTC_STORE_OK;
    PtcStoreStatus status = peek(db, w->guard, w->now_ms, &guard);
    return status == PTC_STORE_OK && guard.version != w->guard_version ? PTC_STORE_FENCED : status;
}

static PtcStoreStatus remove_row(Db *db, const PtcStoreKey *key)
{
    return run_statement(db, REMOVE, bind_record_key(db, REMOVE, key));
}

/* Inside the transaction, so nothing changes between the checks and the write. */
static PtcStoreStatus put_locked(Db *db, const PtcStoreKey *key, const PtcStoreWrite *w,
                                 uint64_t *there)
{
    Before before;
    PtcStoreStatus status = check_guard(db, w);
    if (status == PTC_STORE_OK)
        status = peek(db, key, w->now_ms, &before);
    if (status != PTC_STORE_OK)
        return status;
    bool gone = before.version && before.over;
    *there = gone ? 0 : before.version;
    if (*there != w->expected)
        return *there ? PTC_STORE_CONFLICT : PTC_STORE_ABSENT;
    if (gone && (status = remove_row(db, key)) != PTC_STORE_OK)
        return status;
    status = check_bounds(db, key, w, gone ? 0 : before.size);
    if (status == PTC_STORE_OK)
        status = write_row(db, key, w);
    return status == PTC_STORE_OK && w->release ? let_go_in_sqlite(db, key, w->release) : status;
}

/* What others were told of is kept even when the power fails. */
static bool must_last(const char *kind)
{
    return strcmp(kind, "run") == 0 || strcmp(kind, "step") == 0 || strcmp(kind, "suspended") == 0;
}

static PtcStoreStatus set_lasting(Db *db, bool on)
{
    int code = db->lib.exec(db->db, on ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
                            NULL, NULL, NULL);
    return code == SQLITE_OK ? PTC_STORE_OK : failure(db, code);
}

static PtcStoreStatus put_in_sqlite(PtcStoreDriver *driver, const PtcStoreKey *key,
                                    const PtcStoreWrite *w, uint64_t *there)
{
    Db *db = as_sqlite_store(driver);
    bool lasting = must_last(key->kind);
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = lasting ? set_lasting(db, true) : PTC_STORE_OK;
    if (status == PTC_STORE_OK)
        status = begin_transaction(db);
    if (status == PTC_STORE_OK)
        status = end_transaction(db, put_locked(db, key, w, there));
    if (lasting)
        (void)!set_lasting(db, false);
    pthread_mutex_unlock(&db->lock);
    return status;
}

static PtcStoreStatus remove_locked(Db *db, const PtcStoreKey *key, uint64_t expected)
{
    Before before;
    PtcStoreStatus status = peek(db, key, 0, &before);
    if (status != PTC_STORE_OK)
        return status;
    if (!before.version)
        return PTC_STORE_ABSENT;
    return expected && before.version != expected ? PTC_STORE_CONFLICT : remove_row(db, key);
}

static PtcStoreStatus remove_from_sqlite(PtcStoreDriver *driver, const PtcStoreKey *key,
                                         uint64_t expected)
{
    Db *db = as_sqlite_store(driver);
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = begin_transaction(db);
    if (status == PTC_STORE_OK)
        status = end_transaction(db, remove_locked(db, key, expected));
    pthread_mutex_unlock(&db->lock);
    return status;
}

/* Holds that are over go with it. */
static PtcStoreStatus expire_sqlite(PtcStoreDriver *driver, const char *kind, int64_t now_ms,
                                    size_t n)
{
    Db *db = as_sqlite_store(driver);
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status =
        run_statement(db, SWEEP,
                      bind_kind(db, SWEEP, kind) | bind_number(db, SWEEP, 2, now_ms) |
                          bind_number(db, SWEEP, 3, (int64_t)n));
    if (status == PTC_STORE_OK)
        status = run_statement(db, SWEEP_HOLDS, bind_number(db, SWEEP_HOLDS, 1, now_ms));
    pthread_mutex_unlock(&db->lock);
    return status;
}

static PtcStoreStatus tell_sqlite(PtcStoreDriver *driver, PtcBuf *out, bool *durable)
{
    Db *db = as_sqlite_store(driver);
    *durable = true;
    return ptc_buf_addf(out, "sqlite %s, schema %d", db->lib.libversion(), PTC_STORE_SCHEMA)
               ? PTC_STORE_OK
               : PTC_STORE_NO_MEMORY;
}

/* ------------------------------------------------------------------------------------ life */

static void free_db(PtcStoreDriver *driver)
{
    Db *db = as_sqlite_store(driver);
    PtcMem mem;
    for (int i = 0; i < STATEMENTS; i++)
        if (db->statements[i])
            db->lib.finalize(db->statements[i]);
    if (db->db)
        db->lib.close_v2(db->db);
    if (db->so)
        dlclose(db->so);
    pthread_mutex_destroy(&db->lock);
    pthread_mutex_destroy(&db->base.trouble.lock);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *db);
    ptc_mem_free(&mem, db, sizeof *db);
}

PtcStoreDriver *ptc_store_sqlite(const PtcStoreOpening *opening, PtcWhy *why)
{
    static const PtcStoreDriverClass class = {
        "sqlite",      true,       get_from_sqlite, put_in_sqlite, remove_from_sqlite, list_sqlite,
        expire_sqlite, sum_sqlite, hold_in_sqlite,  NULL,          tell_sqlite,        free_db};
    const char *path = opening->url + strlen("sqlite:");
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    Db *db = ptc_mem_alloc(&mem, sizeof *db);
    ptc_why_no_memory(why);
    if (!db)
        return NULL;
    memset(db, 0, sizeof *db);
    db->base.class = &class;
    pthread_mutex_init(&db->lock, NULL);
    pthread_mutex_init(&db->base.trouble.lock, NULL);
    if ((db->so = ptc_sqlite_load(&db->lib, why)) && ptc_store_sqlite_open(db, path, opening, why))
        return &db->base;
    free_db(&db->base);
    return NULL;
}
