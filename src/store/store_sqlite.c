/* SPDX-License-Identifier: MIT
 * Records in a SQLite file.  What always holds: a change is one transaction that takes the write lock before it reads, so
 * what it has compared (versions, bounds) is still so when it writes, whatever other processes do; the connection is used
 * by one thread at a time. */
#include "store/store_sqlite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/budget.h"
#include "store/sqlite_library.h"

enum { SCHEMA = 2, BUSY_MS = 5000 };

typedef enum {
    BEGIN,
    COMMIT,
    ROLLBACK,
    GET,
    ADD,
    CHANGE,
    TOUCH,
    REMOVE,
    LIST,
    OVER,
    SUM,
    STATEMENTS
} Statement;

/* ?1 kind, ?2 owner, ?3 key, wherever there are any.  The bytes are asked for only when they are wanted: they may be
 * large. */
static const char *const texts[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [GET] = "SELECT version,created_ms,used_ms,expires_ms,size,meta,CASE WHEN ?4 THEN bytes END"
            " FROM ptc_record WHERE kind=?1 AND owner=?2 AND key=?3",
    [ADD] = "INSERT INTO ptc_record(kind,owner,key,version,created_ms,used_ms,expires_ms,size,meta,"
            "bytes)VALUES(?1,?2,?3,1,?5,?5,?6,?7,?8,?9)",
    [CHANGE] = "UPDATE ptc_record SET version=version+1,used_ms=?5,expires_ms=?6,size=?7,meta=?8,"
               "bytes=?9 WHERE kind=?1 AND owner=?2 AND key=?3 AND version=?4 AND(?10 OR size>=?7)",
    [TOUCH] = "UPDATE ptc_record SET used_ms=?5,expires_ms=?6,meta=?8"
              " WHERE kind=?1 AND owner=?2 AND key=?3 AND version=?4",
    [REMOVE] = "DELETE FROM ptc_record WHERE kind=?1 AND owner=?2 AND key=?3",
    [LIST] = "SELECT version,created_ms,used_ms,expires_ms,size,meta,owner,key FROM ptc_record"
             " WHERE kind=?1 AND(?2 IS NULL OR owner=?2)",
    [OVER] = "SELECT version,created_ms,used_ms,expires_ms,size,meta,owner,key FROM ptc_record"
             " WHERE kind=?1 AND(expires_ms<=?2 OR used_ms<=?3)",
    [SUM] = "SELECT count(*),total(size),total(owner=?2)FROM ptc_record WHERE kind=?1",
};

typedef struct {
    PtcStore base;
    PtcSqlite lib;
    void *so;
    pthread_mutex_t lock; /* one statement at a time */
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    bool complained;
} Db;

static Db *of(PtcStore *store)
{
    return (Db *)(void *)store;
}

/* -------------------------------------------------------------------------- statements */

/* What a code of SQLite that is no success means. */
static PtcStoreStatus failure(Db *db, int code)
{
    code &= 0xff; /* without the details */
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return PTC_STORE_BUSY;
    if (code == SQLITE_NOMEM)
        return PTC_STORE_NO_MEMORY;
    if (!db->complained)
        fprintf(stderr, "ptc: the store cannot be used: %s\n", db->lib.errmsg(db->db));
    db->complained = true;
    return PTC_STORE_FAILED;
}

static void finish(Db *db, Statement which)
{
    db->lib.reset(db->statements[which]);
    db->lib.clear_bindings(db->statements[which]);
}

/* Runs a statement that gives no row. */
static PtcStoreStatus run(Db *db, Statement which, int bound)
{
    int code = bound == SQLITE_OK ? db->lib.step(db->statements[which]) : bound;
    PtcStoreStatus status = code == SQLITE_DONE ? PTC_STORE_OK : failure(db, code);
    finish(db, which);
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

static int bind_key(Db *db, Statement which, const PtcStoreKey *key)
{
    return bind_kind(db, which, key->kind) | bind_bytes(db, which, 2, key->owner) |
           bind_bytes(db, which, 3, key->key);
}

static PtcText column(Db *db, Statement which, int at)
{
    sqlite3_stmt *statement = db->statements[which];
    const void *bytes = db->lib.column_blob(statement, at);
    return (PtcText){bytes ? bytes : "", (size_t)db->lib.column_bytes(statement, at)};
}

/* The first six columns. */
static void take_stored(Db *db, Statement which, PtcStored *stored)
{
    sqlite3_stmt *statement = db->statements[which];
    PtcText meta = column(db, which, 5);
    *stored = (PtcStored){.version = (uint64_t)db->lib.column_int64(statement, 0),
                          .created_ms = db->lib.column_int64(statement, 1),
                          .used_ms = db->lib.column_int64(statement, 2),
                          .expires_ms = db->lib.column_int64(statement, 3),
                          .size = (size_t)db->lib.column_int64(statement, 4)};
    stored->meta_len = meta.len < PTC_STORE_META ? meta.len : PTC_STORE_META;
    memcpy(stored->meta, meta.bytes, stored->meta_len);
}

/* -------------------------------------------------------------------------- transactions */

static PtcStoreStatus begin(Db *db)
{
    return run(db, BEGIN, SQLITE_OK);
}

/* Commits what went well, takes the rest back. */
static PtcStoreStatus end(Db *db, PtcStoreStatus status)
{
    if (status == PTC_STORE_OK)
        status = run(db, COMMIT, SQLITE_OK);
    if (status !=
        PTC_STORE_OK) { /* SQLite may have done so already: what it says of it does not matter */
        (void)!db->lib.step(db->statements[ROLLBACK]);
        finish(db, ROLLBACK);
    }
    return status;
}

/* ------------------------------------------------------------------------------ reading */

static PtcStoreStatus read_row(Db *db, const PtcStoreKey *key, PtcStored *stored, PtcBuf *bytes)
{
    PtcStoreStatus status = PTC_STORE_OK;
    int code = bind_key(db, GET, key) | bind_number(db, GET, 4, bytes != NULL);
    if (code == SQLITE_OK)
        code = db->lib.step(db->statements[GET]);
    if (code == SQLITE_DONE) {
        status = PTC_STORE_ABSENT;
    } else if (code != SQLITE_ROW) {
        status = failure(db, code);
    } else {
        take_stored(db, GET, stored);
        PtcText text = bytes ? column(db, GET, 6) : PTC_TEXT("");
        if (bytes && !ptc_buf_add(bytes, text.bytes, text.len))
            status = bytes->full ? PTC_STORE_FULL : PTC_STORE_NO_MEMORY;
    }
    finish(db, GET);
    return status;
}

static PtcStoreStatus get(PtcStore *store, const PtcStoreKey *key, PtcStored *stored, PtcBuf *bytes)
{
    Db *db = of(store);
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = read_row(db, key, stored, bytes);
    pthread_mutex_unlock(&db->lock);
    return status;
}

/* Visits the rows of a statement whose bindings are made. */
static PtcStoreStatus visit_rows(Db *db, Statement which, int code, const char *kind,
                                 PtcStoreVisit *visit, void *user)
{
    PtcStored stored;
    bool more = true;
    while (code == SQLITE_OK && more &&
           (code = db->lib.step(db->statements[which])) == SQLITE_ROW) {
        take_stored(db, which, &stored);
        PtcStoreKey key = {kind, column(db, which, 6), column(db, which, 7)};
        more = visit(user, &key, &stored);
        code = SQLITE_OK;
    }
    finish(db, which);
    return code == SQLITE_DONE || !more ? PTC_STORE_OK : failure(db, code);
}

static PtcStoreStatus list(PtcStore *store, const char *kind, PtcText owner, PtcStoreVisit *visit,
                           void *user)
{
    Db *db = of(store);
    pthread_mutex_lock(&db->lock);
    int code = bind_kind(db, LIST, kind);
    if (owner.bytes)
        code |= bind_bytes(db, LIST, 2, owner);
    PtcStoreStatus status = visit_rows(db, LIST, code, kind, visit, user);
    pthread_mutex_unlock(&db->lock);
    return status;
}

static PtcStoreStatus add_up(Db *db, const char *kind, PtcText owner, size_t *count, size_t *bytes,
                             size_t *mine)
{
    int code = bind_kind(db, SUM, kind) | bind_bytes(db, SUM, 2, owner);
    if (code == SQLITE_OK)
        code = db->lib.step(db->statements[SUM]);
    bool ok = code == SQLITE_ROW;
    *count = ok ? (size_t)db->lib.column_int64(db->statements[SUM], 0) : 0;
    *bytes = ok ? (size_t)db->lib.column_int64(db->statements[SUM], 1) : 0;
    *mine = ok ? (size_t)db->lib.column_int64(db->statements[SUM], 2) : 0;
    finish(db, SUM);
    return ok ? PTC_STORE_OK : failure(db, code);
}

static PtcStoreStatus sum(PtcStore *store, const char *kind, size_t *count, size_t *bytes)
{
    Db *db = of(store);
    size_t mine;
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = add_up(db, kind, PTC_TEXT(""), count, bytes, &mine);
    pthread_mutex_unlock(&db->lock);
    return status;
}

/* ------------------------------------------------------------------------------ writing */

/* Would the record fit, in place of one of `old` bytes (0 too when it is new)? */
static PtcStoreStatus check_bounds(Db *db, const PtcStoreKey *key, const PtcStorePut *put,
                                   size_t old)
{
    const PtcStoreBounds *b = &put->bounds;
    size_t count, bytes, mine;
    bool is_new = put->expected == 0;
    if ((!b->count && !b->owner_count && !b->bytes) || (!is_new && put->bytes.len <= old))
        return PTC_STORE_OK;
    PtcStoreStatus status = add_up(db, key->kind, key->owner, &count, &bytes, &mine);
    if (status != PTC_STORE_OK)
        return status;
    bytes -= old < bytes ? old : bytes;
    bool many =
        is_new && ((b->count && count >= b->count) || (b->owner_count && mine >= b->owner_count));
    bool large = b->bytes && (bytes > b->bytes || put->bytes.len > b->bytes - bytes);
    return many || large ? PTC_STORE_FULL : PTC_STORE_OK;
}

/* `may_grow`: a record may become larger. */
static PtcStoreStatus write_row(Db *db, const PtcStoreKey *key, const PtcStorePut *put,
                                bool may_grow)
{
    Statement which = put->expected == 0 ? ADD : put->bytes.bytes ? CHANGE : TOUCH;
    int code = bind_key(db, which, key) | bind_number(db, which, 5, put->used_ms) |
               bind_number(db, which, 6, put->expires_ms) | bind_bytes(db, which, 8, put->meta);
    if (which != ADD)
        code |= bind_number(db, which, 4, (int64_t)put->expected);
    if (which != TOUCH)
        code |= bind_number(db, which, 7, (int64_t)put->bytes.len) |
                bind_bytes(db, which, 9, put->bytes);
    if (which == CHANGE)
        code |= bind_number(db, which, 10, may_grow);
    return run(db, which, code);
}

/* Inside the transaction. */
static PtcStoreStatus put_locked(Db *db, const PtcStoreKey *key, const PtcStorePut *put,
                                 uint64_t *version)
{
    PtcStored there = {.version = 0};
    PtcStoreStatus status = read_row(db, key, &there, NULL);
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

/* As a rule the version is right and the record no larger than before: then one statement does it (*done). */
static PtcStoreStatus put_at_once(Db *db, const PtcStoreKey *key, const PtcStorePut *put,
                                  uint64_t *version, bool *done)
{
    PtcStoreStatus status = write_row(db, key, put, put->bounds.bytes == 0);
    *done = status == PTC_STORE_OK && db->lib.changes(db->db) > 0;
    if (*done)
        *version = put->expected + (put->bytes.bytes != NULL);
    return status;
}

static PtcStoreStatus put(PtcStore *store, const PtcStoreKey *key, const PtcStorePut *record,
                          uint64_t *version)
{
    Db *db = of(store);
    *version = 0;
    if (record->meta.len > PTC_STORE_META)
        return PTC_STORE_FULL;
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = PTC_STORE_OK;
    bool done = false;
    if (record->expected)
        status = put_at_once(db, key, record, version, &done);
    if (status == PTC_STORE_OK && !done && (status = begin(db)) == PTC_STORE_OK)
        status = end(db, put_locked(db, key, record, version));
    pthread_mutex_unlock(&db->lock);
    return status;
}

static PtcStoreStatus remove_row(Db *db, const PtcStoreKey *key)
{
    PtcStoreStatus status = run(db, REMOVE, bind_key(db, REMOVE, key));
    return status == PTC_STORE_OK && db->lib.changes(db->db) == 0 ? PTC_STORE_ABSENT : status;
}

static PtcStoreStatus remove_one(PtcStore *store, const PtcStoreKey *key)
{
    Db *db = of(store);
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = remove_row(db, key);
    pthread_mutex_unlock(&db->lock);
    return status;
}

/* Records are removed in the midst of the list of those that are over, which SQLite allows in a transaction. */
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

static PtcStoreStatus expire(PtcStore *store, const char *kind, int64_t now_ms, int64_t idle_ms,
                             PtcStoreVisit *spare, void *user)
{
    Db *db = of(store);
    Sweep s = {db, spare, user, PTC_STORE_OK};
    pthread_mutex_lock(&db->lock);
    PtcStoreStatus status = begin(db);
    if (status == PTC_STORE_OK) {
        int code = bind_kind(db, OVER, kind) | bind_number(db, OVER, 2, now_ms) |
                   bind_number(db, OVER, 3, now_ms - idle_ms);
        status = visit_rows(db, OVER, code, kind, sweep_one, &s);
        status = end(db, status == PTC_STORE_OK ? s.status : status);
    }
    pthread_mutex_unlock(&db->lock);
    return status;
}

/* -------------------------------------------------------------------------------- opening */

static const char pragmas[] = "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
                              "PRAGMA trusted_schema=OFF";

/* The index lets sums pass by the bytes. */
static const char schema[] =
    "CREATE TABLE IF NOT EXISTS ptc_record(kind TEXT NOT NULL,owner BLOB NOT NULL,"
    "key BLOB NOT NULL,version INTEGER NOT NULL,created_ms INTEGER NOT NULL,"
    "used_ms INTEGER NOT NULL,expires_ms INTEGER NOT NULL,size INTEGER NOT NULL,"
    "meta BLOB NOT NULL,bytes BLOB NOT NULL,PRIMARY KEY(kind,owner,key));"
    "CREATE INDEX IF NOT EXISTS ptc_record_size ON ptc_record(kind,owner,size);"
    "PRAGMA user_version=2";
_Static_assert(SCHEMA == 2, "the schema ends with its number");

/* Before there were versions, sessions had a table of their own; what is meta now were columns, and is put together as
 * mcp/app/sessions.c writes it. */
static const char migration[] =
    "INSERT OR IGNORE INTO ptc_record SELECT 'session',CAST(owner AS BLOB),CAST(handle AS BLOB),1,"
    "created_ms,used_ms,ends_ms,coalesce(length(snapshot),0),"
    "CAST(evals||' '||bindings||char(10)||title AS BLOB),coalesce(snapshot,X'')FROM ptc_session;"
    "DROP TABLE ptc_session";

static int note_number(void *user, int columns, char **values, char **names)
{
    (void)names;
    long *n = user;
    *n = 0;
    for (const char *p = columns ? values[0] : NULL; p && *p >= '0' && *p <= '9' && *n < 1000; p++)
        *n = *n * 10 + (*p - '0');
    return 0;
}

static int ask_number(Db *db, const char *sql, long *n)
{
    return db->lib.exec(db->db, sql, note_number, n, NULL);
}

/* Inside a transaction, so that of several processes that come first only one makes the tables. */
static int make_tables(Db *db, long *found)
{
    long old = 0;
    int code = ask_number(db, "PRAGMA user_version", found);
    if (code == SQLITE_OK && *found < SCHEMA)
        code = db->lib.exec(db->db, schema, NULL, NULL, NULL);
    if (code == SQLITE_OK && *found < SCHEMA)
        code = ask_number(db, "SELECT count(*)FROM sqlite_master WHERE name='ptc_session'", &old);
    return code == SQLITE_OK && old ? db->lib.exec(db->db, migration, NULL, NULL, NULL) : code;
}

/* A file that is up to date is not written to. */
static int check_schema(Db *db, long *found)
{
    int code = ask_number(db, "PRAGMA user_version", found);
    if (code != SQLITE_OK || *found >= SCHEMA)
        return code;
    code = db->lib.exec(db->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return code;
    code = make_tables(db, found);
    int ended = db->lib.exec(db->db, code == SQLITE_OK ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL);
    return code == SQLITE_OK ? ended : code;
}

/* Switching to the write-ahead log does not wait for others by itself. */
static int set_up(Db *db, long *found)
{
    int64_t until = ptc_clock_ns(NULL) + (int64_t)BUSY_MS * 1000000;
    int code;
    do {
        code = db->lib.exec(db->db, pragmas, NULL, NULL, NULL);
        if (code == SQLITE_OK)
            code = check_schema(db, found);
    } while ((code & 0xff) == SQLITE_BUSY && ptc_clock_ns(NULL) < until);
    return code;
}

/* What records hold is nobody else's business, also where umask is generous. */
static bool open_file(Db *db, const char *path, char *why, size_t size)
{
    long found = 0;
    mode_t old = umask(0077);
    int code = db->lib.open_v2(
        path, &db->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = db->lib.busy_timeout(db->db, BUSY_MS);
    if (code == SQLITE_OK)
        code = set_up(db, &found);
    umask(old);
    if (code == SQLITE_OK && found > SCHEMA) {
        snprintf(why, size, "%s: it was written by a newer version of ptc", path);
        return false;
    }
    for (int i = 0; code == SQLITE_OK && i < STATEMENTS; i++)
        code = db->lib.prepare_v2(db->db, texts[i], -1, &db->statements[i], NULL);
    if (code != SQLITE_OK)
        snprintf(why, size, "%s: %s", path, db->db ? db->lib.errmsg(db->db) : "memory is short");
    return code == SQLITE_OK;
}

static void free_db(PtcStore *store)
{
    Db *db = of(store);
    PtcMem mem;
    for (int i = 0; i < STATEMENTS; i++)
        if (db->statements[i])
            db->lib.finalize(db->statements[i]);
    if (db->db)
        db->lib.close_v2(db->db);
    if (db->so)
        dlclose(db->so);
    pthread_mutex_destroy(&db->lock);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    atomic_store(&mem.used, sizeof *db);
    ptc_mem_free(&mem, db, sizeof *db);
}

PtcStore *ptc_store_sqlite(const char *path, char *why, size_t size)
{
    static const PtcStoreClass class = {get, put, remove_one, list, expire, sum, free_db};
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    Db *db = ptc_mem_alloc(&mem, sizeof *db);
    snprintf(why, size, "memory is short");
    if (!db)
        return NULL;
    memset(db, 0, sizeof *db);
    db->base.class = &class;
    pthread_mutex_init(&db->lock, NULL);
    if ((db->so = ptc_sqlite_load(&db->lib, why, size)) && open_file(db, path, why, size))
        return &db->base;
    free_db(&db->base);
    return NULL;
}
