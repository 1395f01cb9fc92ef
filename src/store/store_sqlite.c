/* SPDX-License-Identifier: MIT
 * Records in a SQLite file.  What always holds: a change is one transaction that takes the write lock before it
 * reads, so what it compared (versions, bounds) still holds when it writes, whatever other processes do; everything
 * written is sealed but the time of creation and the size, and seals are checked before anything read is used; the
 * connection is used by one thread at a time. */
#include "store/store_sqlite.h"

#include <dlfcn.h>
#include <stdio.h>

#include "base/text/secret.h"
#include "store/store_sqlite_int.h"

static Db *as_sqlite_store(PtcStore *store)
{
    return (Db *)(void *)store;
}

/* -------------------------------------------------------------------------- statements */

/* What an error code of SQLite means to callers. */
static PtcStoreStatus failure(Db *db, int code)
{
    code &= 0xff; /* drop the extended code */
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return PTC_STORE_BUSY;
    if (code == SQLITE_NOMEM)
        return PTC_STORE_NO_MEMORY;
    if (!db->complained)
        fprintf(stderr, "ptc: the store cannot be used: %s\n", db->lib.errmsg(db->db));
    db->complained = true;
    return PTC_STORE_FAILED;
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

static PtcText column_bytes_of(Db *db, Statement which, int at)
{
    sqlite3_stmt *statement = db->statements[which];
    const void *bytes = db->lib.column_blob(statement, at);
    return (PtcText){bytes ? bytes : "", (size_t)db->lib.column_bytes(statement, at)};
}

/* The first six columns of GET, LIST and OVER. */
static void take_stored(Db *db, Statement which, PtcStored *stored)
{
    sqlite3_stmt *statement = db->statements[which];
    PtcText meta = column_bytes_of(db, which, 5);
    *stored = (PtcStored){.version = (uint64_t)db->lib.column_int64(statement, 0),
                          .created_ms = db->lib.column_int64(statement, 1),
                          .used_ms = db->lib.column_int64(statement, 2),
                          .expires_ms = db->lib.column_int64(statement, 3),
                          .size = (size_t)db->lib.column_int64(statement, 4)};
    stored->meta_len = meta.len < PTC_STORE_META ? meta.len : PTC_STORE_META;
    memcpy(stored->meta, meta.bytes, stored->meta_len);
}

/* ---------------------------------------------------------------------------------- seals */

/* For a record that is not as it was written. */
static PtcStoreStatus damaged(Db *db)
{
    if (!db->complained_of_seals)
        fprintf(stderr,
                "ptc: a record of the store was changed by someone who does not have its key\n");
    db->complained_of_seals = true;
    return PTC_STORE_DAMAGED;
}

/* Are the columns other than the bytes as they were written?  Their seal is in column `at`. */
static bool rest_is_good(Db *db, Statement which, int at, const PtcStoreKey *key,
                         const PtcStored *stored)
{
    PtcStoreSeal seal;
    PtcStorePut put = {.used_ms = stored->used_ms,
                       .expires_ms = stored->expires_ms,
                       .meta = {stored->meta, stored->meta_len}};
    ptc_store_seal_rest(db->key, key, stored->version, &put, &seal);
    return ptc_store_seal_is(&seal, column_bytes_of(db, which, at));
}

static bool bytes_are_good(Db *db, const PtcStoreKey *key, uint64_t version, PtcText bytes)
{
    PtcStoreSeal seal;
    ptc_store_seal_bytes(db->key, key, version, bytes, &seal);
    return ptc_store_seal_is(&seal, column_bytes_of(db, GET, 8));
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

/* ------------------------------------------------------------------------------ reading */

/* Takes the row that GET has found. */
static PtcStoreStatus take_found_row(Db *db, const PtcStoreKey *key, PtcStored *stored,
                                     PtcBuf *bytes)
{
    take_stored(db, GET, stored);
    if (!rest_is_good(db, GET, 7, key, stored))
        return damaged(db);
    if (!bytes)
        return PTC_STORE_OK;
    PtcText text = column_bytes_of(db, GET, 6);
    if (!bytes_are_good(db, key, stored->version, text))
        return damaged(db);
    if (ptc_buf_add(bytes, text.bytes, text.len))
        return PTC_STORE_OK;
    return bytes->full ? PTC_STORE_FULL : PTC_STORE_NO_MEMORY;
}

static PtcStoreStatus read_record_row(Db *db, const PtcStoreKey *key, PtcStored *stored,
                                      PtcBuf *bytes)
{
    PtcStoreStatus status = PTC_STORE_OK;
    int code = bind_record_key(db, GET, key) | bind_number(db, GET, 4, bytes != NULL);
    if (code == SQLITE_OK)
        code = db->lib.step(db->statements[GET]);
    if (code == SQLITE_DONE) {
        status = PTC_STORE_ABSENT;
    } else if (code != SQLITE_ROW) {
        status = failure(db, code);
    } else {
        status = take_found_row(db, key, stored, bytes);
    }
    finish_statement(db, GET);
    return status;
}

static PtcStoreStatus get_from_sqlite(PtcStore *store, const PtcStoreKey *key, PtcStored *stored,
                                      PtcBuf *bytes)
{
    Db *db = as_sqlite_store(store);
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = read_record_row(db, key, stored, bytes);
    pthread_mutex_unlock(&db->lock);
    return status;
}

/* Visits the rows of a statement whose parameters are bound; with `sealed`, rows with a bad seal are skipped. */
static PtcStoreStatus visit_rows(Db *db, Statement which, int code, const char *kind, bool sealed,
                                 PtcStoreVisit *visit, void *user)
{
    PtcStored stored;
    bool more = true;
    while (code == SQLITE_OK && more &&
           (code = db->lib.step(db->statements[which])) == SQLITE_ROW) {
        take_stored(db, which, &stored);
        PtcStoreKey key = {kind, column_bytes_of(db, which, 6), column_bytes_of(db, which, 7)};
        if (sealed && !rest_is_good(db, which, 8, &key, &stored))
            (void)damaged(db);
        else
            more = visit(user, &key, &stored);
        code = SQLITE_OK;
    }
    finish_statement(db, which);
    return code == SQLITE_DONE || !more ? PTC_STORE_OK : failure(db, code);
}

/* Damaged records are left out: one bad row must not hide the others. */
static PtcStoreStatus list_sqlite(PtcStore *store, const char *kind, PtcText owner,
                                  PtcStoreVisit *visit, void *user)
{
    Db *db = as_sqlite_store(store);
    pthread_mutex_lock(&db->lock);
    int code = bind_kind(db, LIST, kind);
    if (owner.bytes)
        code |= bind_bytes(db, LIST, 2, owner);
    PtcStoreStatus status = visit_rows(db, LIST, code, kind, true, visit, user);
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
        *all[i] = ok ? (size_t)db->lib.column_int64(db->statements[SUM], i) : 0;
    finish_statement(db, SUM);
    return ok ? PTC_STORE_OK : failure(db, code);
}

static PtcStoreStatus sum_sqlite(PtcStore *store, const char *kind, size_t *count, size_t *bytes)
{
    Db *db = as_sqlite_store(store);
    StoreSum found;
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = add_up(db, kind, PTC_TEXT(""), &found);
    pthread_mutex_unlock(&db->lock);
    *count = found.count;
    *bytes = found.bytes;
    return status;
}

/* ------------------------------------------------------------------------------ writing */

/* Would `len` bytes fit in place of `old` ones, where there are `have` and may be `most` (0: unlimited)? */
static bool has_replacement_room(size_t have, size_t old, size_t len, size_t most)
{
    have -= old < have ? old : have;
    return !most || (have <= most && len <= most - have);
}

/* Would the record fit in place of one of `old` bytes (0 for a new record)? */
static PtcStoreStatus check_bounds(Db *db, const PtcStoreKey *key, const PtcStorePut *put,
                                   size_t old)
{
    const PtcStoreBounds *b = &put->bounds;
    bool is_new = put->expected == 0;
    StoreSum sum;
    if (!ptc_store_is_bounded(b) || (!is_new && put->bytes.len <= old))
        return PTC_STORE_OK;
    PtcStoreStatus status = add_up(db, key->kind, key->owner, &sum);
    if (status != PTC_STORE_OK)
        return status;
    bool many = is_new && (!has_replacement_room(sum.count, 0, 1, b->count) ||
                           !has_replacement_room(sum.own_count, 0, 1, b->owner_count));
    bool large = !has_replacement_room(sum.bytes, old, put->bytes.len, b->bytes) ||
                 !has_replacement_room(sum.own_bytes, old, put->bytes.len, b->owner_bytes);
    return many || large ? PTC_STORE_FULL : PTC_STORE_OK;
}

static PtcText seal_text(const PtcStoreSeal *seal)
{
    return (PtcText){(const char *)seal->tag, sizeof seal->tag};
}

/* `may_grow`: the record may become larger than it is. */
static PtcStoreStatus write_row(Db *db, const PtcStoreKey *key, const PtcStorePut *put,
                                bool may_grow)
{
    Statement which = put->expected == 0 ? ADD : put->bytes.bytes ? CHANGE : TOUCH;
    int code = bind_record_key(db, which, key) | bind_number(db, which, 5, put->used_ms) |
               bind_number(db, which, 6, put->expires_ms) | bind_bytes(db, which, 8, put->meta);
    if (which != ADD)
        code |= bind_number(db, which, 4, (int64_t)put->expected);
    if (which != TOUCH)
        code |= bind_number(db, which, 7, (int64_t)put->bytes.len) |
                bind_bytes(db, which, 9, put->bytes);
    if (which == CHANGE)
        code |= bind_number(db, which, 10, may_grow);
    uint64_t version = put->expected + (which != TOUCH);
    PtcStoreSeal rest, bytes;
    ptc_store_seal_rest(db->key, key, version, put, &rest);
    code |= bind_bytes(db, which, 11, seal_text(&rest));
    if (which != TOUCH) {
        ptc_store_seal_bytes(db->key, key, version, put->bytes, &bytes);
        code |= bind_bytes(db, which, 12, seal_text(&bytes));
    }
    return run_statement(db, which, code);
}

/* Inside the transaction, so nothing changes between the checks and the write. */
static PtcStoreStatus put_locked(Db *db, const PtcStoreKey *key, const PtcStorePut *put,
                                 uint64_t *version)
{
    PtcStored there = {.version = 0};
    PtcStoreStatus status = read_record_row(db, key, &there, NULL);
    if (status != PTC_STORE_OK && status != PTC_STORE_ABSENT)
        return status;
    *version = there.version;
    if (there.version != put->expected)
        return status == PTC_STORE_OK ? PTC_STORE_CONFLICT : PTC_STORE_ABSENT;
    if (put->bytes.bytes || put->expected == 0)
        status = check_bounds(db, key, put, there.size);
    if (status == PTC_STORE_OK)
        status = write_row(db, key, put, true);
    if (status == PTC_STORE_OK && (put->bytes.bytes || put->expected == 0))
        *version = put->expected + 1;
    return status;
}

/* Usually the version is right and the record no larger than before; then one statement is enough (*done), and no
 * transaction is needed. */
static PtcStoreStatus put_at_once(Db *db, const PtcStoreKey *key, const PtcStorePut *put,
                                  uint64_t *version, bool *done)
{
    PtcStoreStatus status = write_row(db, key, put, !ptc_store_is_bounded(&put->bounds));
    *done = status == PTC_STORE_OK && db->lib.changes(db->db) > 0;
    if (*done)
        *version = put->expected + (put->bytes.bytes != NULL);
    return status;
}

/* The transaction is only for what put_at_once could not decide: a conflict, a missing record, a bound. */
static PtcStoreStatus put_in_sqlite(PtcStore *store, const PtcStoreKey *key,
                                    const PtcStorePut *record, uint64_t *version)
{
    Db *db = as_sqlite_store(store);
    *version = 0;
    if (record->meta.len > PTC_STORE_META)
        return PTC_STORE_FULL;
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = PTC_STORE_OK;
    bool done = false;
    if (record->expected)
        status = put_at_once(db, key, record, version, &done);
    if (status == PTC_STORE_OK && !done && (status = begin_transaction(db)) == PTC_STORE_OK)
        status = end_transaction(db, put_locked(db, key, record, version));
    pthread_mutex_unlock(&db->lock);
    return status;
}

static PtcStoreStatus remove_row(Db *db, const PtcStoreKey *key)
{
    PtcStoreStatus status = run_statement(db, REMOVE, bind_record_key(db, REMOVE, key));
    return status == PTC_STORE_OK && db->lib.changes(db->db) == 0 ? PTC_STORE_ABSENT : status;
}

static PtcStoreStatus remove_from_sqlite(PtcStore *store, const PtcStoreKey *key)
{
    Db *db = as_sqlite_store(store);
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = remove_row(db, key);
    pthread_mutex_unlock(&db->lock);
    return status;
}

/* For removing records while listing those that have expired, which SQLite allows inside a transaction. */
typedef struct {
    Db *db;
    PtcStoreVisit *spare;
    void *user;
    PtcStoreStatus status;
} Sweep;

static bool sweep_one(void *user, const PtcStoreKey *key, const PtcStored *stored)
{
    Sweep *s = user;
    if (!s->spare || !s->spare(s->user, key, stored)) {
        PtcStoreStatus status = remove_row(s->db, key);
        s->status = status == PTC_STORE_ABSENT ? PTC_STORE_OK : status;
    }
    return s->status == PTC_STORE_OK;
}

static PtcStoreStatus expire_sqlite(PtcStore *store, const char *kind, int64_t now_ms,
                                    int64_t idle_ms, PtcStoreVisit *spare, void *user)
{
    Db *db = as_sqlite_store(store);
    Sweep s = {db, spare, user, PTC_STORE_OK};
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = begin_transaction(db);
    if (status == PTC_STORE_OK) {
        int code = bind_kind(db, OVER, kind) | bind_number(db, OVER, 2, now_ms) |
                   bind_number(db, OVER, 3, now_ms - idle_ms);
        status = visit_rows(db, OVER, code, kind, false, sweep_one, &s);
        status = end_transaction(db, status == PTC_STORE_OK ? s.status : status);
    }
    pthread_mutex_unlock(&db->lock);
    return status;
}

/* ------------------------------------------------------------------------------------ life */

static void free_db(PtcStore *store)
{
    Db *db = as_sqlite_store(store);
    PtcMem mem;
    for (int i = 0; i < STATEMENTS; i++)
        if (db->statements[i])
            db->lib.finalize(db->statements[i]);
    if (db->db)
        db->lib.close_v2(db->db);
    if (db->so)
        dlclose(db->so);
    pthread_mutex_destroy(&db->lock);
    ptc_secret_wipe(db->key, sizeof db->key);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *db);
    ptc_mem_free(&mem, db, sizeof *db);
}

PtcStore *ptc_store_sqlite(const char *path, PtcWhy *why)
{
    static const PtcStoreClass class = {get_from_sqlite, put_in_sqlite, remove_from_sqlite,
                                        list_sqlite,     expire_sqlite, sum_sqlite,
                                        free_db};
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    Db *db = ptc_mem_alloc(&mem, sizeof *db);
    ptc_why_no_memory(why);
    if (!db)
        return NULL;
    memset(db, 0, sizeof *db);
    db->base.class = &class;
    pthread_mutex_init(&db->lock, NULL);
    if ((db->so = ptc_sqlite_load(&db->lib, why)) && ptc_store_sqlite_open(db, path, why))
        return &db->base;
    free_db(&db->base);
    return NULL;
}
