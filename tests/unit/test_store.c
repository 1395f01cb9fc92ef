/* SPDX-License-Identifier: MIT
 * Stores: the same cases in memory and in a SQLite file; files of older and newer versions; seals and their key; four
 * processes that count together; memory that fails. */
#include "store/store.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "store/sqlite_library.h"

static char path[200], place[220];
static PtcMem mem;

static PtcStore *open_store(const char *where)
{
    PtcWhy why;
    PtcStore *store = ptc_store_open(where, &why);
    if (!store)
        printf("%s\n", why.text);
    CHECK(store != NULL);
    return store;
}

static void remove_file(void)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char name[220];
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static void remove_key(void)
{
    char name[220];
    snprintf(name, sizeof name, "%s.key", path);
    unlink(name);
}

static PtcStoreKey key(const char *owner, const char *name)
{
    return (PtcStoreKey){"thing", ptc_text_cstr(owner), ptc_text_cstr(name)};
}

/* Writes text as version expected + 1; what the store says. */
static PtcStoreStatus put_text(PtcStore *s, const char *owner, const char *name, uint64_t expected,
                               const char *text)
{
    uint64_t version;
    PtcStoreKey k = key(owner, name);
    PtcStorePut put = {.expected = expected,
                       .used_ms = 10,
                       .expires_ms = 1000,
                       .meta = PTC_TEXT("m"),
                       .bytes = ptc_text_cstr(text)};
    PtcStoreStatus status = ptc_store_put(s, &k, &put, &version);
    CHECK(status != PTC_STORE_OK || version == expected + 1);
    return status;
}

/* "text version", or "-" */
static const char *read_back(PtcStore *s, const char *owner, const char *name)
{
    static char out[200];
    PtcStoreKey k = key(owner, name);
    PtcStored stored;
    PtcBuf bytes;
    ptc_buf_init(&bytes, &mem, 100);
    PtcStoreStatus status = ptc_store_get(s, &k, &stored, &bytes);
    snprintf(out, sizeof out, "-");
    if (status == PTC_STORE_OK)
        snprintf(out, sizeof out, "%.*s %llu", (int)bytes.len, bytes.data ? bytes.data : "",
                 (unsigned long long)stored.version);
    CHECK(status != PTC_STORE_OK || stored.size == bytes.len);
    ptc_buf_deinit(&bytes);
    return out;
}

/* ------------------------------------------------------------------------------ cases */

static void test_versions(PtcStore *s)
{
    uint64_t version;
    CHECK(put_text(s, "ann", "a", 0, "one") == PTC_STORE_OK);
    CHECK(put_text(s, "ann", "a", 0, "new") == PTC_STORE_CONFLICT);
    CHECK(put_text(s, "ann", "a", 2, "ahead") == PTC_STORE_CONFLICT);
    CHECK(put_text(s, "ann", "a", 1, "two") == PTC_STORE_OK);
    CHECK(put_text(s, "ann", "a", 1, "late") == PTC_STORE_CONFLICT);
    CHECK(put_text(s, "ann", "b", 1, "never there") == PTC_STORE_ABSENT);
    CHECK_STR(read_back(s, "ann", "a"), "two 2");
    CHECK_STR(read_back(s, "bob", "a"), "-");
    PtcStoreKey k = key("ann", "a"), other = {"other", k.owner, k.key};
    PtcStored stored;
    CHECK(ptc_store_get(s, &other, &stored, NULL) == PTC_STORE_ABSENT);
    /* without bytes: times and meta only, and only of the version that was read */
    PtcStorePut touch = {.expected = 2, .used_ms = 20, .expires_ms = 30, .meta = PTC_TEXT("n\0o")};
    CHECK(ptc_store_put(s, &k, &touch, &version) == PTC_STORE_OK && version == 2);
    CHECK(ptc_store_get(s, &k, &stored, NULL) == PTC_STORE_OK);
    CHECK(stored.created_ms == 10 && stored.used_ms == 20 && stored.expires_ms == 30);
    CHECK(stored.meta_len == 3 && memcmp(stored.meta, "n\0o", 3) == 0 && stored.size == 3);
    touch.expected = 1;
    CHECK(ptc_store_put(s, &k, &touch, &version) == PTC_STORE_CONFLICT && version == 2);
    CHECK_STR(read_back(s, "ann", "a"), "two 2");
    /* what was removed does not come back */
    CHECK(ptc_store_remove(s, &k) == PTC_STORE_OK && ptc_store_remove(s, &k) == PTC_STORE_ABSENT);
    CHECK(put_text(s, "ann", "a", 2, "three") == PTC_STORE_ABSENT);
    CHECK_STR(read_back(s, "ann", "a"), "-");
}

/* Owners, keys and bytes may hold anything; texts beyond the room are refused. */
static void test_bytes(PtcStore *s)
{
    uint64_t version;
    PtcStored stored;
    char meta[PTC_STORE_META + 1] = "";
    PtcStoreKey a = {"thing", PTC_TEXT(""), PTC_TEXT("a\0b")};
    PtcStoreKey b = {"thing", PTC_TEXT(""), PTC_TEXT("a\0c")};
    PtcStorePut put = {.bytes = PTC_TEXT("\0\xff\0"), .expires_ms = 100};
    CHECK(ptc_store_put(s, &a, &put, &version) == PTC_STORE_OK);
    CHECK(ptc_store_get(s, &b, &stored, NULL) == PTC_STORE_ABSENT);
    PtcBuf bytes;
    ptc_buf_init(&bytes, &mem, 100);
    CHECK(ptc_store_get(s, &a, &stored, &bytes) == PTC_STORE_OK && bytes.len == 3 &&
          memcmp(bytes.data, "\0\xff\0", 3) == 0);
    ptc_buf_deinit(&bytes);
    ptc_buf_init(&bytes, &mem, 2);
    CHECK(ptc_store_get(s, &a, &stored, &bytes) == PTC_STORE_FULL);
    ptc_buf_deinit(&bytes);
    PtcMem none;
    ptc_mem_init(&none, 1);
    ptc_buf_init(&bytes, &none, 100);
    CHECK(ptc_store_get(s, &a, &stored, &bytes) == PTC_STORE_NO_MEMORY);
    ptc_buf_deinit(&bytes);
    put.expected = 1;
    put.meta = (PtcText){meta, sizeof meta};
    CHECK(ptc_store_put(s, &a, &put, &version) == PTC_STORE_FULL);
    put.meta.len--;
    CHECK(ptc_store_put(s, &a, &put, &version) == PTC_STORE_OK);
    CHECK(ptc_store_get(s, &a, &stored, NULL) == PTC_STORE_OK && stored.meta_len == PTC_STORE_META);
    put.expected = 2;
    put.bytes = PTC_TEXT("");
    CHECK(ptc_store_put(s, &a, &put, &version) == PTC_STORE_OK && version == 3);
    CHECK(ptc_store_get(s, &a, &stored, NULL) == PTC_STORE_OK && stored.size == 0);
    CHECK(ptc_store_remove(s, &a) == PTC_STORE_OK);
}

static PtcStoreStatus bounded(PtcStore *s, const char *owner, const char *name, uint64_t expected,
                              size_t size)
{
    static const char block[2000];
    uint64_t version;
    PtcStoreKey k = key(owner, name);
    PtcStorePut put = {.expected = expected,
                       .expires_ms = 100,
                       .bytes = {block, size},
                       .bounds = {.count = 3, .owner_count = 2, .bytes = 1500}};
    return ptc_store_put(s, &k, &put, &version);
}

static void test_bounds(PtcStore *s)
{
    size_t count, bytes;
    CHECK(bounded(s, "ann", "a", 0, 0) == PTC_STORE_OK);
    CHECK(bounded(s, "ann", "b", 0, 0) == PTC_STORE_OK);
    CHECK(bounded(s, "ann", "c", 0, 0) == PTC_STORE_FULL);
    CHECK(bounded(s, "bob", "c", 0, 0) == PTC_STORE_OK);
    CHECK(bounded(s, "cay", "d", 0, 0) == PTC_STORE_FULL);
    CHECK(bounded(s, "ann", "a", 1, 1000) == PTC_STORE_OK);
    CHECK(bounded(s, "ann", "b", 1, 501) == PTC_STORE_FULL);
    CHECK(bounded(s, "ann", "b", 1, 500) == PTC_STORE_OK);
    CHECK(ptc_store_sum(s, "thing", &count, &bytes) == PTC_STORE_OK && count == 3 && bytes == 1500);
    CHECK(ptc_store_sum(s, "nothing", &count, &bytes) == PTC_STORE_OK && count + bytes == 0);
    CHECK(bounded(s, "ann", "a", 2, 1001) == PTC_STORE_FULL);
    CHECK(bounded(s, "ann", "a", 2, 10) == PTC_STORE_OK);
    CHECK(bounded(s, "ann", "b", 2, 1490) == PTC_STORE_OK);
}

typedef struct {
    size_t count, stop;
    const char *spared;
} Seen;

static bool count_one(void *user, const PtcStoreKey *k, const PtcStored *stored)
{
    Seen *seen = user;
    CHECK(strcmp(k->kind, "thing") == 0 && stored->version > 0);
    return ++seen->count != seen->stop;
}

static bool spare_one(void *user, const PtcStoreKey *k, const PtcStored *stored)
{
    Seen *seen = user;
    (void)stored;
    seen->count++;
    return ptc_text_is(k->key, seen->spared);
}

static size_t count_of(PtcStore *s, const char *owner, size_t stop)
{
    Seen seen = {.stop = stop};
    CHECK(ptc_store_list(s, "thing", ptc_text_cstr(owner), count_one, &seen) == PTC_STORE_OK);
    return seen.count;
}

/* After test_bounds: three records that expire at 100, used at 0. */
static void test_lists(PtcStore *s)
{
    CHECK(count_of(s, "ann", 0) == 2 && count_of(s, "bob", 0) == 1 && count_of(s, "cay", 0) == 0);
    CHECK(count_of(s, NULL, 0) == 3 && count_of(s, NULL, 2) == 2);
    Seen seen = {.spared = "a"};
    CHECK(ptc_store_expire(s, "thing", 99, 100, spare_one, &seen) == PTC_STORE_OK);
    CHECK(seen.count == 0 && count_of(s, NULL, 0) == 3);
    CHECK(ptc_store_expire(s, "thing", 50, 50, spare_one, &seen) == PTC_STORE_OK);
    CHECK(seen.count == 3 && count_of(s, NULL, 0) == 1 && count_of(s, "ann", 0) == 1);
    CHECK(ptc_store_expire(s, "other", 1000, 1, NULL, NULL) == PTC_STORE_OK);
    CHECK(count_of(s, NULL, 0) == 1);
    CHECK(ptc_store_expire(s, "thing", 100, 1000, NULL, NULL) == PTC_STORE_OK);
    CHECK(count_of(s, NULL, 0) == 0);
}

static void test_all(const char *where)
{
    PtcStore *s = open_store(where);
    if (!s)
        return;
    test_versions(s);
    test_bytes(s);
    test_bounds(s);
    test_lists(s);
    ptc_store_free(s);
}

/* ------------------------------------------------------------------------------- files */

static void test_file(void)
{
    PtcWhy why;
    struct stat st;
    remove_file();
    PtcStore *s = open_store(place);
    CHECK(put_text(s, "ann", "a", 0, "kept") == PTC_STORE_OK);
    ptc_store_free(s);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    s = open_store(place);
    CHECK_STR(read_back(s, "ann", "a"), "kept 1");
    PtcStore *other = open_store(place); /* as another process would */
    CHECK(put_text(other, "ann", "a", 1, "changed") == PTC_STORE_OK);
    CHECK(put_text(s, "ann", "a", 1, "late") == PTC_STORE_CONFLICT);
    CHECK_STR(read_back(s, "ann", "a"), "changed 2");
    PtcStoreKey k = key("ann", "a");
    CHECK(ptc_store_remove(other, &k) == PTC_STORE_OK);
    CHECK(put_text(s, "ann", "a", 2, "back") == PTC_STORE_ABSENT);
    ptc_store_free(other);
    ptc_store_free(s);
    CHECK(!ptc_store_open("mysql:x", &why) && strstr(why.text, "sqlite:FILE"));
    CHECK(!ptc_store_open("sqlite:", &why));
    CHECK(!ptc_store_open("sqlite:/no/such/directory/x", &why) &&
          strstr(why.text, "/no/such/directory/x"));
}

static void run_sql(const char *sql)
{
    PtcSqlite lib;
    sqlite3 *db;
    PtcWhy why;
    void *so = ptc_sqlite_load(&lib, &why);
    CHECK(so != NULL);
    if (!so)
        return;
    CHECK(lib.open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK);
    CHECK(lib.exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    lib.close_v2(db);
}

static bool refused(const char *word)
{
    PtcWhy why;
    PtcStore *s = ptc_store_open(place, &why);
    if (!s && !strstr(why.text, word))
        printf("%s\n", why.text);
    bool right = !s && strstr(why.text, word);
    ptc_store_free(s);
    return right;
}

/* A file in another format is refused, with its key and without. */
static void test_format(void)
{
    static const char *const other[] = {
        "PRAGMA user_version=4",
        "PRAGMA user_version=2",
        "PRAGMA user_version=0",
        "DROP TABLE ptc_record;CREATE TABLE ptc_session(handle TEXT);PRAGMA user_version=0",
    };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        remove_file();
        remove_key();
        PtcStore *s = open_store(place);
        CHECK(put_text(s, "ann", "a", 0, "kept") == PTC_STORE_OK);
        ptc_store_free(s);
        run_sql(other[i]);
        CHECK(refused(i ? "format of another version" : "newer version"));
        remove_key();
        CHECK(refused(i ? "format of another version" : "newer version"));
        run_sql("PRAGMA user_version=3");
        CHECK(refused(".key"));
    }
}

/* ------------------------------------------------------------------------------- seals */

/* The record after somebody without the key has run the statement on the file. */
static PtcStoreStatus after(const char *sql, const char *owner, const char *name, bool whole)
{
    PtcStored stored;
    PtcBuf bytes;
    remove_file();
    PtcStore *s = open_store(place);
    CHECK(put_text(s, "ann", "a", 0, "secret") == PTC_STORE_OK);
    CHECK(put_text(s, "ann", "a", 1, "of ann") == PTC_STORE_OK);
    CHECK(put_text(s, "bob", "b", 0, "of bob") == PTC_STORE_OK);
    run_sql(sql);
    PtcStoreKey k = key(owner, name);
    ptc_buf_init(&bytes, &mem, 100);
    PtcStoreStatus status = ptc_store_get(s, &k, &stored, whole ? &bytes : NULL);
    CHECK(status == PTC_STORE_OK || bytes.len == 0);
    ptc_buf_deinit(&bytes);
    ptc_store_free(s);
    return status;
}

/* What a record holds, whose it is, its name, version and times cannot be changed without the key. */
static void test_seals(void)
{
    static const char *const whole[] = {
        "UPDATE ptc_record SET bytes=X'00' WHERE key=X'61'",
        "UPDATE ptc_record SET bytes=(SELECT bytes FROM ptc_record WHERE key=X'62')",
        "UPDATE ptc_record SET seal=X'' WHERE key=X'61'",
    };
    static const char *const rest[] = {
        "UPDATE ptc_record SET expires_ms=expires_ms+1",
        "UPDATE ptc_record SET used_ms=used_ms+1",
        "UPDATE ptc_record SET meta=X'6e'",
        "UPDATE ptc_record SET version=1 WHERE key=X'61'",
        "UPDATE ptc_record SET rest_seal=X''",
        "UPDATE ptc_record SET rest_seal=seal",
    };
    CHECK(after("SELECT 1", "ann", "a", true) == PTC_STORE_OK);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        CHECK(after(whole[i], "ann", "a", true) == PTC_STORE_DAMAGED);
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        CHECK(after(rest[i], "ann", "a", false) == PTC_STORE_DAMAGED);
    CHECK(after("DELETE FROM ptc_record WHERE key=X'62';UPDATE ptc_record SET owner=CAST('bob' AS "
                "BLOB)",
                "bob", "a", true) == PTC_STORE_DAMAGED);
    CHECK(after("UPDATE ptc_record SET key=X'63' WHERE key=X'61'", "ann", "c", true) ==
          PTC_STORE_DAMAGED);
    CHECK(after("UPDATE ptc_record SET kind='other'", "ann", "a", true) == PTC_STORE_ABSENT);
    PtcStore *s = open_store(place);
    run_sql("UPDATE ptc_record SET kind='thing';UPDATE ptc_record SET meta=X'6e' WHERE key=X'61'");
    CHECK(count_of(s, NULL, 0) == 1);
    PtcStoreKey k = key("ann", "a"); /* it can still be got rid of */
    CHECK(ptc_store_remove(s, &k) == PTC_STORE_OK && count_of(s, NULL, 0) == 1);
    ptc_store_free(s);
}

/* Without its key a store is refused; a new one takes a key that is there. */
static void test_key(void)
{
    PtcWhy name;
    struct stat st;
    remove_file();
    remove_key();
    ptc_why_say(&name, PTC_WHY_INVALID, "%s.key", path);
    PtcStore *s = open_store(place);
    CHECK(put_text(s, "ann", "a", 0, "kept") == PTC_STORE_OK);
    ptc_store_free(s);
    CHECK(stat(name.text, &st) == 0 && (st.st_mode & 0777) == 0600 && st.st_size == 32);
    CHECK(chmod(name.text, 0640) == 0 && refused("chmod 600") && chmod(name.text, 0600) == 0);
    CHECK(chmod(path, 0604) == 0 && refused("chmod 600") && chmod(path, 0600) == 0);
    CHECK(truncate(name.text, 31) == 0 && refused("32 bytes"));
    remove_key();
    CHECK(refused(".key"));
    s = ptc_store_open("sqlite::memory:", &name);
    CHECK(s == NULL && strstr(name.text, "name a file"));
    run_sql("DROP TABLE ptc_record;PRAGMA user_version=0");
    s = open_store(place); /* a new store with an old key */
    CHECK_STR(read_back(s, "ann", "a"), "-");
    ptc_store_free(s);
}

/* ----------------------------------------------------------------------- many processes */

enum { PROCESSES = 4, ROUNDS = 100 };

/* Adds one to the number in a record, ROUNDS times, trying again when others were faster. */
static int count_up(void)
{
    PtcStoreKey k = key("", "counter");
    char text[32];
    PtcStore *s = ptc_store_open(place, NULL);
    if (!s)
        return 1;
    for (int done = 0; done < ROUNDS;) {
        PtcStored stored = {.version = 0};
        PtcBuf bytes;
        uint64_t version;
        ptc_buf_init(&bytes, &mem, 100);
        PtcStoreStatus status = ptc_store_get(s, &k, &stored, &bytes);
        long n = status == PTC_STORE_OK ? strtol(ptc_buf_text(&bytes), NULL, 10) : 0;
        ptc_buf_deinit(&bytes);
        if (status != PTC_STORE_OK && status != PTC_STORE_ABSENT)
            return 2;
        snprintf(text, sizeof text, "%ld", n + 1);
        PtcStorePut put = {
            .expected = stored.version, .expires_ms = 1, .bytes = ptc_text_cstr(text)};
        status = ptc_store_put(s, &k, &put, &version);
        done += status == PTC_STORE_OK;
        if (status != PTC_STORE_OK && status != PTC_STORE_CONFLICT && status != PTC_STORE_BUSY)
            return 3;
    }
    ptc_store_free(s);
    return 0;
}

/* They also make the file together. */
static void test_processes(void)
{
    pid_t children[PROCESSES];
    char want[40];
    remove_file();
    for (int i = 0; i < PROCESSES; i++)
        if ((children[i] = fork()) == 0) {
            alarm(120);
            _exit(count_up());
        }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    PtcStore *s = open_store(place);
    snprintf(want, sizeof want, "%d %d", PROCESSES * ROUNDS, PROCESSES * ROUNDS);
    CHECK_STR(read_back(s, "", "counter"), want);
    ptc_store_free(s);
}

int main(void)
{
    char directory[] = "/tmp/ptc-store-XXXXXX";
    ptc_mem_init(&mem, SIZE_MAX / 2);
    umask(0077);
    CHECK(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/s.db", directory);
    snprintf(place, sizeof place, "sqlite:%s", path);
    test_processes(); /* before a thread or a library is there */
    test_all(NULL);
    remove_file();
    test_all(place);
    test_file();
    test_seals();
    test_key();
    test_format();
    remove_file();
    remove_key();
    CHECK(rmdir(directory) == 0);
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("store");
}
