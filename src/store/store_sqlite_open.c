/* SPDX-License-Identifier: MIT
 * Opening a store in SQLite.  What always holds: when several processes open a new file at once, one of them makes
 * the tables and the key.  A file of another format is refused: nothing turns records without seals into sealed ones,
 * or anyone who can write to the file could get anything sealed by making it look old. */
#include "store/store_sqlite_int.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/ascii.h"
#include "base/budget.h"
#include "base/os/private_file.h"

enum { STORE_SCHEMA = 3, BUSY_MS = 5000 };

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
    "meta BLOB NOT NULL,bytes BLOB NOT NULL,rest_seal BLOB NOT NULL,"
    "seal BLOB NOT NULL,PRIMARY KEY(kind,owner,key));"
    "CREATE INDEX ptc_record_size ON ptc_record(kind,owner,size)";

static const char set_version[] = "PRAGMA user_version=3";
_Static_assert(STORE_SCHEMA == 3, "the number that is set");

/* One file being opened. */
typedef struct {
    Db *db;
    const char *path;
    PtcWhy *why;
    bool told; /* why already says what is wrong; otherwise ask SQLite */
} Opening;

static int refuse_opening(Opening *o, const char *what)
{
    ptc_why_say(o->why, PTC_WHY_REFUSED, "%s: %s", o->path, what);
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
    for (const char *p = columns ? values[0] : NULL; p && ptc_ascii_is_digit(*p) && *n < 1000; p++)
        *n = *n * 10 + (*p - '0');
    return 0;
}

static int ask_number(const Opening *o, const char *sql, long *n)
{
    return o->db->lib.exec(o->db->db, sql, note_number, n, NULL);
}

/* --------------------------------------------------------------------------------- tables */

/* A store whose key is missing is refused: a new key would make every record look damaged. */
static int take_store_key(Opening *o, bool make)
{
    bool absent;
    if (ptc_store_key_read(o->path, make, o->db->key, &absent, o->why))
        return SQLITE_OK;
    if (absent && !make)
        return refuse_opening(o, "its key, a file of the same name with .key appended, is missing; "
                                 "put it back, or remove the store and start again");
    o->told = true;
    return SQLITE_ERROR;
}

/* Inside a transaction, so that of several processes only one makes the tables.  The key is made late: if it existed
 * and the rest then failed, the file would be refused from then on. */
static int make_tables(Opening *o, long *found)
{
    long tables = 0;
    int code = ask_number(o, "PRAGMA user_version", found);
    if (code != SQLITE_OK || *found >= STORE_SCHEMA)
        return code;
    code = ask_number(o, "SELECT count(*)FROM sqlite_master WHERE name LIKE 'ptc!_%' ESCAPE '!'",
                      &tables);
    if (code == SQLITE_OK && (*found || tables))
        return refuse_opening(o,
                              "it has the format of another version of ptc; name another file, or "
                              "remove this one and its key");
    if (code == SQLITE_OK)
        code = exec(o, schema);
    if (code == SQLITE_OK)
        code = take_store_key(o, true);
    return code == SQLITE_OK ? exec(o, set_version) : code;
}

/* Does not write to a file that is up to date. */
static int check_store_schema(Opening *o)
{
    long found = 0;
    int code = ask_number(o, "PRAGMA user_version", &found);
    if (code == SQLITE_OK && found < STORE_SCHEMA) {
        if ((code = exec(o, "BEGIN IMMEDIATE")) != SQLITE_OK)
            return code;
        code = make_tables(o, &found);
        int ended = exec(o, code == SQLITE_OK ? "COMMIT" : "ROLLBACK");
        code = code == SQLITE_OK ? ended : code;
    }
    if (code == SQLITE_OK && found > STORE_SCHEMA)
        return refuse_opening(o, "it was written by a newer version of ptc");
    return code == SQLITE_OK ? take_store_key(o, false) : code;
}

/* Tries again for a while, because switching to the write-ahead log does not wait for other processes by itself. */
static int set_up_database(Opening *o)
{
    int64_t until = ptc_clock_ns(NULL) + BUSY_MS * PTC_MS;
    int code;
    do {
        code = exec(o, pragmas);
        if (code == SQLITE_OK)
            code = check_store_schema(o);
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
        code = set_up_database(o);
    umask(old);
    return code;
}

/* The statements are prepared once, when the tables are known to be there. */
bool ptc_store_sqlite_open(Db *db, const char *path, PtcWhy *why)
{
    Opening o = {.db = db, .path = path, .why = why};
    if (!ptc_private_file_check(path, why))
        return false;
    if (path[0] == ':') { /* SQLite's own names for databases in memory */
        (void)refuse_opening(&o, "name a file; without a store records are kept in memory");
        return false;
    }
    int code = open_file(&o);
    for (int i = 0; code == SQLITE_OK && i < STATEMENTS; i++)
        code = db->lib.prepare_v2(db->db, texts[i], -1, &db->statements[i], NULL);
    if (code != SQLITE_OK && !o.told)
        ptc_why_say(why, db->db ? PTC_WHY_UNAVAILABLE : PTC_WHY_NO_MEMORY, "%s: %s", path,
                    db->db ? db->lib.errmsg(db->db) : "out of memory");
    return code == SQLITE_OK;
}
