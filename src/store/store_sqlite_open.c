/* SPDX-License-Identifier: MIT
 * Opening a store in SQLite.  What always holds: when several processes open a new file at once, one of them makes
 * the tables.  A file of another format is refused, and one of the format before is only changed when that is asked
 * for: nothing turns records without seals into sealed ones, or anyone who can write to the file could get anything
 * sealed by making it look old. */
#include "store/store_sqlite_int.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/ascii.h"
#include "base/budget.h"
#include "base/os/private_file.h"

/* 4 is schema 1 of all engines; 3 is what there was before. */
enum { FILE_SCHEMA = 4, OLD_FILE_SCHEMA = 3 };

#define ROW "version,tag,created,used,expires,idle,size,meta,seal,rest_seal,"
#define OVER(now) "(expires<=" now " OR used+idle<=" now ")"
#define THIS "kind=?1 AND owner=?2 AND key=?3"
#define LISTED "SELECT " ROW "owner,key,kind FROM ptc_record WHERE (owner,key,kind)>(?4,?5,?6) AND "
#define IN_ORDER " ORDER BY owner,key,kind LIMIT ?7"

/* ?1 kind, ?2 owner and ?3 key wherever they occur.  The bytes are only read when they are wanted, because they may
 * be large. */
static const char *const texts[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [GET] = "SELECT " ROW "CASE WHEN ?4 THEN bytes END FROM ptc_record WHERE " THIS,
    [PEEK] = "SELECT version,size," OVER("?4") " FROM ptc_record WHERE " THIS,
    [ADD] = "INSERT INTO ptc_record(kind,owner,key,version,tag,created,used,expires,idle,size,meta,"
            "bytes,seal,rest_seal)VALUES(?1,?2,?3,?9,?10,?14,?4,?5,?6,?11,?7,?12,?13,?8)",
    [CHANGE] = "UPDATE ptc_record SET used=?4,expires=?5,idle=?6,meta=?7,rest_seal=?8,version=?9,"
               "tag=?10,size=?11,bytes=?12,seal=?13 WHERE " THIS,
    [TOUCH] = "UPDATE ptc_record SET used=?4,expires=?5,idle=?6,meta=?7,rest_seal=?8 WHERE " THIS,
    [REMOVE] = "DELETE FROM ptc_record WHERE " THIS,
    [LIST_OWNER] = LISTED "kind=?1 AND owner=?2" IN_ORDER,
    [LIST_KIND] = LISTED "kind=?1" IN_ORDER,
    [LIST_ALL] = LISTED "(?2 IS NULL OR owner=?2)" IN_ORDER,
    [SWEEP] = "DELETE FROM ptc_record WHERE rowid IN(SELECT rowid FROM ptc_record WHERE kind=?1 "
              "AND " OVER("?2") " LIMIT ?3)",
    [SUM] = "SELECT count(*),total(size),total(owner=?2),total(size*(owner=?2))"
            "FROM ptc_record WHERE kind=?1",
    [HELD] = "SELECT total(n) FROM ptc_hold WHERE " THIS " AND node<>?4 AND until>?5",
    [HOLD] =
        "INSERT OR REPLACE INTO ptc_hold(kind,owner,key,node,n,until)VALUES(?1,?2,?3,?4,?5,?6)",
    [LET_GO] = "DELETE FROM ptc_hold WHERE " THIS " AND node=?4",
    [SWEEP_HOLDS] = "DELETE FROM ptc_hold WHERE until<=?1",
};

static const char pragmas[] = "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
                              "PRAGMA trusted_schema=OFF";

/* The index lets sums be computed without reading the bytes. */
static const char schema[] =
    "CREATE TABLE ptc_record(kind TEXT NOT NULL,owner BLOB NOT NULL,key BLOB NOT NULL,"
    "version INTEGER NOT NULL,tag BLOB NOT NULL,created INTEGER NOT NULL,used INTEGER NOT NULL,"
    "expires INTEGER NOT NULL,idle INTEGER NOT NULL,size INTEGER NOT NULL,meta BLOB NOT NULL,"
    "seal BLOB NOT NULL,rest_seal BLOB NOT NULL,bytes BLOB NOT NULL,PRIMARY KEY(kind,owner,key));"
    "CREATE INDEX ptc_record_size ON ptc_record(kind,owner,size);"
    "CREATE TABLE ptc_hold(kind TEXT,owner BLOB,key BLOB,node BLOB,n INTEGER NOT NULL,"
    "until INTEGER NOT NULL,PRIMARY KEY(kind,owner,key,node))WITHOUT ROWID";

/* The seals of before are kept as format 0.  Their records knew no time of idleness; half an hour is what sessions
 * had at most by default. */
static const char upgrade_begin[] = "ALTER TABLE ptc_record RENAME TO ptc_old;"
                                    "DROP INDEX ptc_record_size";
static const char upgrade_end[] =
    "INSERT INTO ptc_record SELECT kind,owner,key,version,zeroblob(16),created_ms,used_ms,"
    "expires_ms,1800000,size,meta,CAST(X'00'||seal AS BLOB),CAST(X'00'||rest_seal AS BLOB),bytes "
    "FROM ptc_old;DROP TABLE ptc_old";

static const char set_version[] = "PRAGMA user_version=4";
_Static_assert(FILE_SCHEMA == 4, "the number that is set");

/* One file being opened. */
typedef struct {
    Db *db;
    const char *path;
    int64_t timeout_ms;
    bool upgrade;
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

static int make_tables(Opening *o)
{
    long tables = 0;
    int code = ask_number(
        o, "SELECT count(*)FROM sqlite_master WHERE name LIKE 'ptc!_%' ESCAPE '!'", &tables);
    if (code == SQLITE_OK && tables)
        return refuse_opening(o, "it has the format of another version of ptc; name another file, "
                                 "or remove this one and its key");
    return code == SQLITE_OK ? exec(o, schema) : code;
}

static int upgrade_tables(Opening *o)
{
    if (!o->upgrade)
        return refuse_opening(o, "the store has schema 0, this ptc needs 1: run ptc store migrate");
    int code = exec(o, upgrade_begin);
    if (code == SQLITE_OK)
        code = exec(o, schema);
    return code == SQLITE_OK ? exec(o, upgrade_end) : code;
}

/* Inside a transaction, so that of several processes only one makes the tables. */
static int set_up_tables(Opening *o, long *found)
{
    int code = ask_number(o, "PRAGMA user_version", found);
    if (code != SQLITE_OK || *found >= FILE_SCHEMA)
        return code;
    if (*found && *found != OLD_FILE_SCHEMA)
        return refuse_opening(o, "it has the format of another version of ptc; name another file, "
                                 "or remove this one and its key");
    code = *found ? upgrade_tables(o) : make_tables(o);
    return code == SQLITE_OK ? exec(o, set_version) : code;
}

/* Does not write to a file that is up to date. */
static int check_store_schema(Opening *o)
{
    long found = 0;
    int code = ask_number(o, "PRAGMA user_version", &found);
    if (code == SQLITE_OK && found < FILE_SCHEMA) {
        if ((code = exec(o, "BEGIN IMMEDIATE")) != SQLITE_OK)
            return code;
        code = set_up_tables(o, &found);
        if (code != SQLITE_OK && !o->told && (code & 0xff) != SQLITE_BUSY)
            code = refuse_opening(o, o->db->lib.errmsg(o->db->db)); /* before the end forgets it */
        int ended = exec(o, code == SQLITE_OK ? "COMMIT" : "ROLLBACK");
        code = code == SQLITE_OK ? ended : code;
    }
    if (code == SQLITE_OK && found > FILE_SCHEMA)
        return refuse_opening(o, "it was written by a newer version of ptc");
    return code;
}

/* Tries again for a while, because switching to the write-ahead log does not wait for other processes by itself. */
static int set_up_database(Opening *o)
{
    int64_t until = ptc_clock_ns(NULL) + o->timeout_ms * PTC_MS;
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
        code = db->lib.busy_timeout(db->db, (int)o->timeout_ms);
    if (code == SQLITE_OK)
        code = set_up_database(o);
    umask(old);
    return code;
}

/* The statements are prepared once, when the tables are known to be there. */
bool ptc_store_sqlite_open(Db *db, const char *path, const PtcStoreOpening *opening, PtcWhy *why)
{
    Opening o = {.db = db,
                 .path = path,
                 .timeout_ms = opening->timeout_ms,
                 .upgrade = opening->upgrade,
                 .why = why};
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
