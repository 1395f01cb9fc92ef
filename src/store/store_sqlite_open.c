/* SPDX-License-Identifier: MIT
 * Opening a store in SQLite.  What always holds: when several processes open a new file at once, one of them makes
 * the tables and the key.  A file whose records have no seals is sealed once, and never again once there is a key:
 * otherwise anyone who can write to the file could get anything sealed by making it look old. */
#include "store/store_sqlite_int.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/budget.h"
#include "base/os/private_file.h"

enum { SCHEMA = 3, BUSY_MS = 5000 };

/* ?1 kind, ?2 owner and ?3 key wherever they occur.  The bytes are only read when they are wanted, because they may
 * be large. */
static const char *const texts[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [GET] = "SELECT version,created_ms,used_ms,expires_ms,size,meta,CASE WHEN ?4 THEN bytes END,"
            "rest_seal,seal FROM ptc_record WHERE kind=?1 AND owner=?2 AND key=?3",
    [ADD] = "INSERT INTO ptc_record(kind,owner,key,version,created_ms,used_ms,expires_ms,size,meta,"
            "bytes,rest_seal,seal)VALUES(?1,?2,?3,1,?5,?5,?6,?7,?8,?9,?11,?12)",
    [CHANGE] = "UPDATE ptc_record SET version=version+1,used_ms=?5,expires_ms=?6,size=?7,meta=?8,"
               "bytes=?9,rest_seal=?11,seal=?12"
               " WHERE kind=?1 AND owner=?2 AND key=?3 AND version=?4 AND(?10 OR size>=?7)",
    [TOUCH] = "UPDATE ptc_record SET used_ms=?5,expires_ms=?6,meta=?8,rest_seal=?11"
              " WHERE kind=?1 AND owner=?2 AND key=?3 AND version=?4",
    [REMOVE] = "DELETE FROM ptc_record WHERE kind=?1 AND owner=?2 AND key=?3",
    [LIST] = "SELECT version,created_ms,used_ms,expires_ms,size,meta,owner,key,rest_seal"
             " FROM ptc_record WHERE kind=?1 AND(?2 IS NULL OR owner=?2)",
    [OVER] = "SELECT version,created_ms,used_ms,expires_ms,size,meta,owner,key,rest_seal"
             " FROM ptc_record WHERE kind=?1 AND(expires_ms<=?2 OR used_ms<=?3)",
    [SUM] = "SELECT count(*),total(size),total(owner=?2),total(size*(owner=?2))"
            "FROM ptc_record WHERE kind=?1",
};

static const char pragmas[] = "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
                              "PRAGMA trusted_schema=OFF";

/* The index lets sums be computed without reading the bytes. */
static const char schema[] =
    "CREATE TABLE ptc_record(kind TEXT NOT NULL,owner BLOB NOT NULL,"
    "key BLOB NOT NULL,version INTEGER NOT NULL,created_ms INTEGER NOT NULL,"
    "used_ms INTEGER NOT NULL,expires_ms INTEGER NOT NULL,size INTEGER NOT NULL,"
    "meta BLOB NOT NULL,bytes BLOB NOT NULL,rest_seal BLOB NOT NULL DEFAULT X'',"
    "seal BLOB NOT NULL DEFAULT X'',PRIMARY KEY(kind,owner,key));"
    "CREATE INDEX ptc_record_size ON ptc_record(kind,owner,size)";

/* Upgrades files from before there were seals. */
static const char add_seals[] = "ALTER TABLE ptc_record ADD COLUMN rest_seal BLOB NOT NULL "
                                "DEFAULT X'';"
                                "ALTER TABLE ptc_record ADD COLUMN seal BLOB NOT NULL DEFAULT X''";

/* Older files had a table of sessions; its columns become `meta`, in the form mcp/app/sessions.c writes. */
static const char take_sessions[] =
    "INSERT OR IGNORE INTO ptc_record SELECT 'session',CAST(owner AS BLOB),CAST(handle AS BLOB),1,"
    "created_ms,used_ms,ends_ms,coalesce(length(snapshot),0),"
    "CAST(evals||' '||bindings||char(10)||title AS BLOB),coalesce(snapshot,X''),X'',X''"
    "FROM ptc_session;"
    "DROP TABLE ptc_session";

static const char set_version[] = "PRAGMA user_version=3";
_Static_assert(SCHEMA == 3, "the number that is set");

/* One file being opened. */
typedef struct {
    Db *db;
    const char *path;
    char *why;
    size_t size;
    bool told;    /* why already says what is wrong; otherwise ask SQLite */
    bool own_key; /* the key was made here, just now */
} Opening;

static int refuse(Opening *o, const char *what)
{
    snprintf(o->why, o->size, "%s: %s", o->path, what);
    o->told = true;
    return SQLITE_ERROR;
}

static int exec(const Opening *o, const char *sql)
{
    return o->db->lib.exec(o->db->db, sql, NULL, NULL, NULL);
}

/* Bounded, because the file may be anything. */
static int note_number(void *user, int columns, char **values, char **names)
{
    (void)names;
    long *n = user;
    *n = 0;
    for (const char *p = columns ? values[0] : NULL; p && *p >= '0' && *p <= '9' && *n < 1000; p++)
        *n = *n * 10 + (*p - '0');
    return 0;
}

static int ask_number(const Opening *o, const char *sql, long *n)
{
    return o->db->lib.exec(o->db->db, sql, note_number, n, NULL);
}

/* ---------------------------------------------------------------------------------- seals */

/* A store whose key is missing is refused: a new key would make every record look damaged. */
static int take_key(Opening *o, bool make)
{
    bool absent;
    if (ptc_store_key_read(o->path, make, o->db->key, &absent, o->why, o->size)) {
        o->own_key = o->own_key || make;
        return SQLITE_OK;
    }
    if (absent && !make)
        return refuse(o, "its key, a file of the same name with .key appended, is missing; "
                         "put it back, or remove the store and start again");
    o->told = true;
    return SQLITE_ERROR;
}

static PtcText column(const Opening *o, sqlite3_stmt *row, int at)
{
    const void *bytes = o->db->lib.column_blob(row, at);
    return (PtcText){bytes ? bytes : "", (size_t)o->db->lib.column_bytes(row, at)};
}

static int bind_seal(const Opening *o, sqlite3_stmt *statement, int at, const PtcStoreSeal *seal)
{
    return o->db->lib.bind_blob64(statement, at, seal->tag, sizeof seal->tag, SQLITE_STATIC);
}

/* Seals the record of a row: rowid, kind, owner, key, version, used_ms, expires_ms, meta, bytes. */
static int seal_row(const Opening *o, sqlite3_stmt *row, sqlite3_stmt *update)
{
    const PtcSqlite *lib = &o->db->lib;
    char kind[64];
    PtcStoreSeal bytes, rest;
    PtcText name = column(o, row, 1);
    snprintf(kind, sizeof kind, "%.*s", (int)name.len, name.bytes);
    PtcStoreKey key = {kind, column(o, row, 2), column(o, row, 3)};
    PtcStorePut put = {.used_ms = lib->column_int64(row, 5),
                       .expires_ms = lib->column_int64(row, 6),
                       .meta = column(o, row, 7)};
    uint64_t version = (uint64_t)lib->column_int64(row, 4);
    ptc_store_seal_rest(o->db->key, &key, version, &put, &rest);
    ptc_store_seal_bytes(o->db->key, &key, version, column(o, row, 8), &bytes);
    int code = bind_seal(o, update, 1, &rest) | bind_seal(o, update, 2, &bytes) |
               lib->bind_int64(update, 3, lib->column_int64(row, 0));
    if (code == SQLITE_OK)
        code = lib->step(update);
    lib->reset(update);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int seal_rows(const Opening *o, sqlite3_stmt *rows, sqlite3_stmt *update)
{
    int code;
    while ((code = o->db->lib.step(rows)) == SQLITE_ROW)
        if ((code = seal_row(o, rows, update)) != SQLITE_OK)
            return code;
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int seal_all(const Opening *o)
{
    const PtcSqlite *lib = &o->db->lib;
    sqlite3_stmt *rows = NULL, *update = NULL;
    int code = lib->prepare_v2(o->db->db,
                               "SELECT rowid,kind,owner,key,version,used_ms,expires_ms,meta,bytes "
                               "FROM ptc_record",
                               -1, &rows, NULL);
    if (code == SQLITE_OK)
        code =
            lib->prepare_v2(o->db->db, "UPDATE ptc_record SET rest_seal=?1,seal=?2 WHERE rowid=?3",
                            -1, &update, NULL);
    if (code == SQLITE_OK)
        code = seal_rows(o, rows, update);
    lib->finalize(rows);
    lib->finalize(update);
    return code;
}

/* --------------------------------------------------------------------------------- tables */

/* The key is made late: if it existed and the rest then failed, the file would be refused from then on. */
static int make_tables(Opening *o, long records, long sessions)
{
    uint8_t key[PTC_STORE_KEY_BYTES];
    bool absent, old = records || sessions;
    if (old && !o->own_key && ptc_store_key_read(o->path, false, key, &absent, o->why, o->size))
        return refuse(o, "it has no seals but there is a key beside it, so another file may have "
                         "been put in its place; if it is yours, remove the key");
    int code = exec(o, records ? add_seals : schema);
    if (code == SQLITE_OK && sessions)
        code = exec(o, take_sessions);
    if (code == SQLITE_OK)
        code = take_key(o, true);
    if (code == SQLITE_OK)
        code = seal_all(o);
    return code == SQLITE_OK ? exec(o, set_version) : code;
}

/* Inside a transaction, so that of several processes only one makes the tables. */
static int update(Opening *o, long *found)
{
    long records = 0, sessions = 0;
    int code = ask_number(o, "PRAGMA user_version", found);
    if (code != SQLITE_OK || *found >= SCHEMA)
        return code;
    code = ask_number(o, "SELECT count(*)FROM sqlite_master WHERE name='ptc_record'", &records);
    if (code == SQLITE_OK)
        code =
            ask_number(o, "SELECT count(*)FROM sqlite_master WHERE name='ptc_session'", &sessions);
    return code == SQLITE_OK ? make_tables(o, records, sessions) : code;
}

/* Does not write to a file that is up to date. */
static int check_schema(Opening *o)
{
    long found = 0;
    int code = ask_number(o, "PRAGMA user_version", &found);
    if (code == SQLITE_OK && found < SCHEMA) {
        if ((code = exec(o, "BEGIN IMMEDIATE")) != SQLITE_OK)
            return code;
        code = update(o, &found);
        int ended = exec(o, code == SQLITE_OK ? "COMMIT" : "ROLLBACK");
        code = code == SQLITE_OK ? ended : code;
    }
    if (code == SQLITE_OK && found > SCHEMA)
        return refuse(o, "it was written by a newer version of ptc");
    return code == SQLITE_OK ? take_key(o, false) : code;
}

/* Tries again for a while, because switching to the write-ahead log does not wait for other processes by itself. */
static int set_up(Opening *o)
{
    int64_t until = ptc_clock_ns(NULL) + (int64_t)BUSY_MS * 1000000;
    int code;
    do {
        code = exec(o, pragmas);
        if (code == SQLITE_OK)
            code = check_schema(o);
    } while ((code & 0xff) == SQLITE_BUSY && ptc_clock_ns(NULL) < until);
    return code;
}

/* Records are private, whatever the umask says. */
static int open_file(Opening *o)
{
    Db *db = o->db;
    mode_t old = umask(0077);
    int code = db->lib.open_v2(
        o->path, &db->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = db->lib.busy_timeout(db->db, BUSY_MS);
    if (code == SQLITE_OK)
        code = set_up(o);
    umask(old);
    return code;
}

/* The statements are prepared once, when the tables are known to be there. */
bool ptc_store_sqlite_open(Db *db, const char *path, char *why, size_t size)
{
    Opening o = {.db = db, .path = path, .why = why, .size = size};
    if (!ptc_private_file_check(path, why, size))
        return false;
    if (path[0] == ':') { /* SQLite's own names for databases in memory */
        (void)refuse(&o, "name a file; without a store records are kept in memory");
        return false;
    }
    int code = open_file(&o);
    for (int i = 0; code == SQLITE_OK && i < STATEMENTS; i++)
        code = db->lib.prepare_v2(db->db, texts[i], -1, &db->statements[i], NULL);
    if (code != SQLITE_OK && !o.told)
        snprintf(why, size, "%s: %s", path, db->db ? db->lib.errmsg(db->db) : "out of memory");
    return code == SQLITE_OK;
}
