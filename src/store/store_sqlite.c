/* SPDX-License-Identifier: MIT */
#include "store/store_sqlite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The functions of the library that are used here. */
typedef struct {
    __typeof__(sqlite3_open_v2) *open_v2;
    __typeof__(sqlite3_close_v2) *close_v2;
    __typeof__(sqlite3_exec) *exec;
    __typeof__(sqlite3_prepare_v2) *prepare_v2;
    __typeof__(sqlite3_step) *step;
    __typeof__(sqlite3_reset) *reset;
    __typeof__(sqlite3_clear_bindings) *clear_bindings;
    __typeof__(sqlite3_finalize) *finalize;
    __typeof__(sqlite3_bind_text) *bind_text;
    __typeof__(sqlite3_bind_int64) *bind_int64;
    __typeof__(sqlite3_bind_blob64) *bind_blob64;
    __typeof__(sqlite3_column_text) *column_text;
    __typeof__(sqlite3_column_int64) *column_int64;
    __typeof__(sqlite3_column_blob) *column_blob;
    __typeof__(sqlite3_column_bytes) *column_bytes;
    __typeof__(sqlite3_errmsg) *errmsg;
    __typeof__(sqlite3_busy_timeout) *busy_timeout;
} Library;

struct PtcSessionDb {
    PtcMem *mem;
    Library lib;
    void *so;
    pthread_mutex_t lock; /* one statement at a time */
    sqlite3 *db;
    sqlite3_stmt *put, *remove;
    bool complained;
};

static const char *const names[] = {
    "sqlite3_open_v2",      "sqlite3_close_v2",    "sqlite3_exec",           "sqlite3_prepare_v2",
    "sqlite3_step",         "sqlite3_reset",       "sqlite3_clear_bindings", "sqlite3_finalize",
    "sqlite3_bind_text",    "sqlite3_bind_int64",  "sqlite3_bind_blob64",    "sqlite3_column_text",
    "sqlite3_column_int64", "sqlite3_column_blob", "sqlite3_column_bytes",   "sqlite3_errmsg",
    "sqlite3_busy_timeout",
};
_Static_assert(sizeof names / sizeof *names == sizeof(Library) / sizeof(void *), "one name each");

static bool load_library(PtcSessionDb *db, char *why, size_t size)
{
    db->so = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!db->so)
        db->so = dlopen("libsqlite3.so", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; db->so && i < sizeof names / sizeof *names; i++) {
        void *at = dlsym(db->so, names[i]);
        if (!at) {
            snprintf(why, size, "the SQLite library is too old: it has no %s", names[i]);
            return false;
        }
        memcpy((char *)&db->lib + i * sizeof at, &at, sizeof at);
    }
    if (!db->so)
        snprintf(why, size, "the SQLite library (libsqlite3.so.0) is not installed");
    return db->so != NULL;
}

static const char schema[] =
    "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA trusted_schema=OFF;"
    "CREATE TABLE IF NOT EXISTS ptc_session(handle TEXT PRIMARY KEY,owner TEXT NOT NULL,"
    "title TEXT NOT NULL,created_ms INTEGER NOT NULL,used_ms INTEGER NOT NULL,"
    "ends_ms INTEGER NOT NULL,evals INTEGER NOT NULL,bindings INTEGER NOT NULL,"
    "snapshot BLOB)WITHOUT ROWID;";
static const char put_sql[] = "INSERT OR REPLACE INTO ptc_session VALUES(?,?,?,?,?,?,?,?,?)";
static const char remove_sql[] = "DELETE FROM ptc_session WHERE handle=?";
static const char load_sql[] = "SELECT * FROM ptc_session ORDER BY used_ms DESC";

/* What sessions hold is nobody else's business, also where umask is generous. */
static bool open_file(PtcSessionDb *db, const char *path, char *why, size_t size)
{
    mode_t old = umask(0077);
    int got = db->lib.open_v2(
        path, &db->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (got == SQLITE_OK) {
        db->lib.busy_timeout(db->db, 5000);
        got = db->lib.exec(db->db, schema, NULL, NULL, NULL);
    }
    umask(old);
    if (got == SQLITE_OK)
        got = db->lib.prepare_v2(db->db, put_sql, -1, &db->put, NULL);
    if (got == SQLITE_OK)
        got = db->lib.prepare_v2(db->db, remove_sql, -1, &db->remove, NULL);
    if (got != SQLITE_OK)
        snprintf(why, size, "%s: %s", path, db->db ? db->lib.errmsg(db->db) : "no memory");
    return got == SQLITE_OK;
}

PtcSessionDb *ptc_session_db_open(PtcMem *mem, const char *path, char *why, size_t size)
{
    PtcSessionDb *db = ptc_mem_alloc(mem, sizeof *db);
    snprintf(why, size, "memory is short");
    if (!db)
        return NULL;
    memset(db, 0, sizeof *db);
    db->mem = mem;
    pthread_mutex_init(&db->lock, NULL);
    if (load_library(db, why, size) && open_file(db, path, why, size))
        return db;
    ptc_session_db_close(db);
    return NULL;
}

void ptc_session_db_close(PtcSessionDb *db)
{
    if (!db)
        return;
    if (db->put)
        db->lib.finalize(db->put);
    if (db->remove)
        db->lib.finalize(db->remove);
    if (db->db)
        db->lib.close_v2(db->db);
    if (db->so)
        dlclose(db->so);
    pthread_mutex_destroy(&db->lock);
    ptc_mem_free(db->mem, db, sizeof *db);
}

bool ptc_session_db_load(PtcSessionDb *db, bool (*fn)(void *user, const PtcSessionRow *row),
                         void *user)
{
    const Library *lib = &db->lib;
    sqlite3_stmt *load;
    int got = SQLITE_ROW;
    if (lib->prepare_v2(db->db, load_sql, -1, &load, NULL) != SQLITE_OK)
        return false;
    for (bool more = true; more && (got = lib->step(load)) == SQLITE_ROW;) {
        PtcSessionRow row = {
            .handle = (const char *)lib->column_text(load, 0),
            .owner = (const char *)lib->column_text(load, 1),
            .title = (const char *)lib->column_text(load, 2),
            .created_ms = lib->column_int64(load, 3),
            .used_ms = lib->column_int64(load, 4),
            .ends_ms = lib->column_int64(load, 5),
            .evals = (uint64_t)lib->column_int64(load, 6),
            .bindings = (size_t)lib->column_int64(load, 7),
            .bytes = {lib->column_blob(load, 8), (size_t)lib->column_bytes(load, 8)},
        };
        more = !row.handle || !row.owner || !row.title || fn(user, &row);
    }
    lib->finalize(load);
    return got == SQLITE_DONE || got == SQLITE_ROW;
}

static void run(PtcSessionDb *db, sqlite3_stmt *statement, int bound)
{
    if (bound == SQLITE_OK)
        bound = db->lib.step(statement);
    if (bound != SQLITE_DONE && !db->complained) {
        db->complained = true;
        fprintf(stderr,
                "ptc mcp: the session store cannot be written: %s; sessions live on in "
                "memory only\n",
                db->lib.errmsg(db->db));
    }
    db->lib.reset(statement);
    db->lib.clear_bindings(statement);
}

void ptc_session_db_put(PtcSessionDb *db, const PtcSessionRow *row)
{
    const Library *lib = &db->lib;
    pthread_mutex_lock(&db->lock);
    int bound = lib->bind_text(db->put, 1, row->handle, -1, SQLITE_STATIC) |
                lib->bind_text(db->put, 2, row->owner, -1, SQLITE_STATIC) |
                lib->bind_text(db->put, 3, row->title, -1, SQLITE_STATIC) |
                lib->bind_int64(db->put, 4, row->created_ms) |
                lib->bind_int64(db->put, 5, row->used_ms) |
                lib->bind_int64(db->put, 6, row->ends_ms) |
                lib->bind_int64(db->put, 7, (int64_t)row->evals) |
                lib->bind_int64(db->put, 8, (int64_t)row->bindings) |
                lib->bind_blob64(db->put, 9, row->bytes.bytes, row->bytes.len, SQLITE_STATIC);
    run(db, db->put, bound);
    pthread_mutex_unlock(&db->lock);
}

void ptc_session_db_remove(PtcSessionDb *db, const char *handle)
{
    pthread_mutex_lock(&db->lock);
    run(db, db->remove, db->lib.bind_text(db->remove, 1, handle, -1, SQLITE_STATIC));
    pthread_mutex_unlock(&db->lock);
}
