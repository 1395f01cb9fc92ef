/* SPDX-License-Identifier: MIT
 * Stores: the same cases in memory, in a SQLite file, and in the engine that PTC_TEST_STORE names; older and newer
 * files; seals and their keys; holds of two nodes; four processes that count together.  The clock is ours; where an
 * engine has its own, a millisecond of ours is a second. */
#include "store/store.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/text/hex.h"
#include "base/text/hmac.h"
#include "check.h"
#include "sqlite/sqlite_library.h"

static char path[200], place[220];
static PtcMem mem;

static int64_t clock_ms;
/* The time of an engine that has its own when its cases began; 0: the clock is ours. */
static int64_t engine_ms;
static bool is_redis; /* it counts no bytes, and removes by itself what has ended */

static int64_t at(int64_t ms)
{
    return engine_ms ? engine_ms + ms * 1000 : ms;
}

static int64_t tell_time(void *user)
{
    (void)user;
    return clock_ms;
}

static PtcStore *try_open(const char *where, PtcWhy *why)
{
    PtcStoreConfig config = {.url = where, .now_ms = engine_ms ? NULL : tell_time};
    return ptc_store_open(&config, why);
}

static PtcStore *open_store(const char *where)
{
    PtcWhy why;
    PtcStore *store = try_open(where, &why);
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

/* The version of what was put as new last; those in tests count from it. */
static uint64_t first;

static PtcStoreStatus put_text(PtcStore *s, const char *owner, const char *name, uint64_t nth,
                               const char *text)
{
    uint64_t version;
    PtcStoreKey k = key(owner, name);
    PtcStorePut put = {.expected = nth ? first + nth - 1 : 0,
                       .used_ms = at(10),
                       .expires_ms = at(1000),
                       .meta = PTC_TEXT("m"),
                       .bytes = ptc_text_cstr(text)};
    PtcStoreStatus status = ptc_store_put(s, &k, &put, &version);
    CHECK(status != PTC_STORE_OK || nth == 0 || version == first + nth);
    if (status == PTC_STORE_OK && nth == 0)
        first = version;
    return status;
}

/* "text version", or "-"; the first version is 1 */
static const char *read_back(PtcStore *s, const char *owner, const char *name)
{
    static char out[200];
    PtcStoreKey k = key(owner, name);
    PtcStored stored;
    PtcBuf bytes;
    ptc_buf_init(&bytes, &mem, 100);
    PtcStoreStatus status = ptc_store_get(s, &k, NULL, &stored, &bytes);
    snprintf(out, sizeof out, "-");
    if (status == PTC_STORE_OK)
        snprintf(out, sizeof out, "%.*s %llu", (int)bytes.len, bytes.data ? bytes.data : "",
                 (unsigned long long)(stored.version - first + 1));
    CHECK(status != PTC_STORE_OK || stored.size == bytes.len);
    ptc_buf_deinit(&bytes);
    return out;
}

/* ------------------------------------------------------------------------------ cases */

static void test_versions(PtcStore *s)
{
    uint64_t version;
    clock_ms = 10;
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
    CHECK(ptc_store_get(s, &other, NULL, &stored, NULL) == PTC_STORE_ABSENT);
    /* without bytes: times and meta only, and only of the version that was read */
    PtcStorePut touch = {
        .expected = first + 1, .used_ms = at(20), .expires_ms = at(300), .meta = PTC_TEXT("n\0o")};
    CHECK(ptc_store_put(s, &k, &touch, &version) == PTC_STORE_OK && version == first + 1);
    CHECK(ptc_store_get(s, &k, NULL, &stored, NULL) == PTC_STORE_OK);
    CHECK(stored.used_ms == at(20) && stored.expires_ms == at(300));
    CHECK(engine_ms ? stored.created_ms >= at(0) : stored.created_ms == 10);
    CHECK(stored.meta_len == 3 && memcmp(stored.meta, "n\0o", 3) == 0 && stored.size == 3);
    touch.expected--;
    CHECK(ptc_store_put(s, &k, &touch, &version) == PTC_STORE_CONFLICT && version == first + 1);
    CHECK_STR(read_back(s, "ann", "a"), "two 2");
    /* what was removed does not come back */
    CHECK(ptc_store_remove(s, &k, first) == PTC_STORE_CONFLICT);
    CHECK(ptc_store_remove(s, &k, first + 1) == PTC_STORE_OK &&
          ptc_store_remove(s, &k, 0) == PTC_STORE_ABSENT);
    CHECK(put_text(s, "ann", "a", 2, "three") == PTC_STORE_ABSENT);
    CHECK_STR(read_back(s, "ann", "a"), "-");
    /* and what is made again has a version above all that were there */
    uint64_t before = first + 1;
    clock_ms = 11;
    CHECK(put_text(s, "ann", "a", 0, "again") == PTC_STORE_OK && first > before);
    CHECK(ptc_store_remove(s, &k, 0) == PTC_STORE_OK);
}

/* Until the engine has certainly passed this time, which is soon. */
static void wait_for_end(PtcStore *s, int64_t ms)
{
    while (engine_ms && ptc_store_now(s) < ms + 100)
        nanosleep(&(struct timespec){.tv_nsec = PTC_MS}, NULL);
}

/* What has expired is absent at once, and its key is free. */
static void test_expired(PtcStore *s)
{
    PtcStoreKey k = key("ann", "e");
    PtcStored stored;
    uint64_t version;
    PtcStorePut put = {.expires_ms = at(1000), .idle_ms = 50, .bytes = PTC_TEXT("x")};
    clock_ms = 10;
    put.used_ms = ptc_store_now(s);
    CHECK(ptc_store_put(s, &k, &put, &version) == PTC_STORE_OK);
    clock_ms = 59;
    CHECK(engine_ms ||
          (ptc_store_get(s, &k, NULL, &stored, NULL) == PTC_STORE_OK && stored.idle_ms == 50));
    clock_ms = 60;
    wait_for_end(s, put.used_ms + put.idle_ms);
    CHECK(ptc_store_get(s, &k, NULL, &stored, NULL) == PTC_STORE_ABSENT);
    put.expected = version;
    CHECK(ptc_store_put(s, &k, &put, &version) == PTC_STORE_ABSENT);
    put.expected = 0;
    put.used_ms = at(60);
    CHECK(ptc_store_put(s, &k, &put, &version) == PTC_STORE_OK && version > put.expected);
    CHECK(ptc_store_remove(s, &k, 0) == PTC_STORE_OK);
}

/* A put that another record guards is done only while that one has its version. */
static void test_guards(PtcStore *s)
{
    PtcStoreKey run = key("ann", "run"), step = key("ann", "run/1");
    uint64_t version, epoch;
    clock_ms = 10;
    PtcStorePut put = {.used_ms = at(10), .expires_ms = at(1000), .bytes = PTC_TEXT("r")};
    CHECK(ptc_store_put(s, &run, &put, &epoch) == PTC_STORE_OK);
    put.guard = &run;
    put.guard_version = epoch + 1;
    CHECK(ptc_store_put(s, &step, &put, &version) == PTC_STORE_FENCED);
    put.guard_version = epoch;
    CHECK(ptc_store_put(s, &step, &put, &version) == PTC_STORE_OK);
    CHECK(ptc_store_remove(s, &run, 0) == PTC_STORE_OK);
    put.expected = version;
    CHECK(ptc_store_put(s, &step, &put, &version) == PTC_STORE_FENCED);
    CHECK(ptc_store_remove(s, &step, 0) == PTC_STORE_OK);
}

/* Owners, keys and bytes may hold anything; texts beyond the room are refused. */
static void test_bytes(PtcStore *s)
{
    uint64_t version;
    PtcStored stored;
    char meta[PTC_STORE_META + 1] = "";
    PtcStoreKey a = {"thing", PTC_TEXT(""), PTC_TEXT("a\0b")};
    PtcStoreKey b = {"thing", PTC_TEXT(""), PTC_TEXT("a\0c")};
    PtcStorePut put = {.bytes = PTC_TEXT("\0\xff\0"), .expires_ms = at(1000)};
    clock_ms = 10;
    CHECK(ptc_store_put(s, &a, &put, &version) == PTC_STORE_OK);
    CHECK(ptc_store_get(s, &b, NULL, &stored, NULL) == PTC_STORE_ABSENT);
    PtcBuf bytes;
    ptc_buf_init(&bytes, &mem, 100);
    CHECK(ptc_store_get(s, &a, NULL, &stored, &bytes) == PTC_STORE_OK && bytes.len == 3 &&
          memcmp(bytes.data, "\0\xff\0", 3) == 0);
    ptc_buf_deinit(&bytes);
    ptc_buf_init(&bytes, &mem, 2);
    CHECK(ptc_store_get(s, &a, NULL, &stored, &bytes) == PTC_STORE_FULL);
    ptc_buf_deinit(&bytes);
    PtcMem none;
    ptc_mem_init(&none, 1);
    ptc_buf_init(&bytes, &none, 100);
    CHECK(ptc_store_get(s, &a, NULL, &stored, &bytes) == PTC_STORE_NO_MEMORY);
    ptc_buf_deinit(&bytes);
    put.expected = version;
    put.meta = (PtcText){meta, sizeof meta};
    CHECK(ptc_store_put(s, &a, &put, &version) == PTC_STORE_FULL);
    put.meta.len--;
    CHECK(ptc_store_put(s, &a, &put, &version) == PTC_STORE_OK);
    CHECK(ptc_store_get(s, &a, NULL, &stored, NULL) == PTC_STORE_OK &&
          stored.meta_len == PTC_STORE_META);
    put.expected = version;
    put.bytes = PTC_TEXT("");
    CHECK(ptc_store_put(s, &a, &put, &version) == PTC_STORE_OK && version == put.expected + 1);
    CHECK(ptc_store_get(s, &a, NULL, &stored, NULL) == PTC_STORE_OK && stored.size == 0);
    CHECK(ptc_store_remove(s, &a, 0) == PTC_STORE_OK);
}

/* As new, or in the place of what is there. */
static PtcStoreStatus bounded(PtcStore *s, const char *owner, const char *name, bool is_new,
                              size_t size)
{
    static const char block[2000];
    uint64_t version;
    PtcStored stored = {.version = 0};
    PtcStoreKey k = key(owner, name);
    CHECK(is_new || ptc_store_get(s, &k, NULL, &stored, NULL) == PTC_STORE_OK);
    PtcStorePut put = {.expected = stored.version,
                       .used_ms = at(0),
                       .expires_ms = at(100),
                       .idle_ms = at(50) - at(0),
                       .bytes = {block, size},
                       .bounds = {.count = 3, .owner_count = 2, .bytes = 1500}};
    return ptc_store_put(s, &k, &put, &version);
}

static void test_bounds(PtcStore *s)
{
    size_t count, bytes;
    clock_ms = 10;
    CHECK(bounded(s, "ann", "a", true, 0) == PTC_STORE_OK);
    CHECK(bounded(s, "ann", "b", true, 0) == PTC_STORE_OK);
    CHECK(bounded(s, "ann", "c", true, 0) == PTC_STORE_FULL);
    CHECK(bounded(s, "bob", "c", true, 0) == PTC_STORE_OK);
    CHECK(bounded(s, "cay", "d", true, 0) == PTC_STORE_FULL);
    CHECK(bounded(s, "ann", "a", false, 1000) == PTC_STORE_OK);
    CHECK(is_redis || bounded(s, "ann", "b", false, 501) == PTC_STORE_FULL);
    CHECK(bounded(s, "ann", "b", false, 500) == PTC_STORE_OK);
    CHECK(ptc_store_sum(s, "thing", &count, &bytes) == PTC_STORE_OK && count == 3 && bytes == 1500);
    CHECK(ptc_store_sum(s, "nothing", &count, &bytes) == PTC_STORE_OK && count + bytes == 0);
    CHECK(is_redis || bounded(s, "ann", "a", false, 1001) == PTC_STORE_FULL);
    CHECK(bounded(s, "ann", "a", false, 10) == PTC_STORE_OK);
    CHECK(bounded(s, "ann", "b", false, 1490) == PTC_STORE_OK);
}

typedef struct {
    size_t count, stop;
    char names[100];
} Seen;

static bool count_one(void *user, const PtcStoreKey *k, const PtcStored *stored)
{
    Seen *seen = user;
    CHECK(strcmp(k->kind, "thing") == 0 && stored->version > 0);
    strncat(seen->names, k->key.bytes, k->key.len);
    return ++seen->count != seen->stop;
}

static size_t count_of(PtcStore *s, const char *owner, size_t stop)
{
    Seen seen = {.stop = stop};
    CHECK(ptc_store_list(s, "thing", ptc_text_cstr(owner), NULL, 1000, count_one, &seen) ==
          PTC_STORE_OK);
    return seen.count;
}

/* An engine's clock cannot be set: the record ends now. */
static void end_record(PtcStore *s, const char *owner, const char *name)
{
    PtcStored stored = {.version = 0};
    PtcStoreKey k = key(owner, name);
    CHECK(ptc_store_get(s, &k, NULL, &stored, NULL) == PTC_STORE_OK);
    PtcStorePut put = {.expected = stored.version, .expires_ms = ptc_store_now(s)};
    CHECK(ptc_store_put(s, &k, &put, &stored.version) == PTC_STORE_OK);
    wait_for_end(s, put.expires_ms);
}

/* After test_bounds: a and b of ann and c of bob, which end at 100, or 50 after 0. */
static void test_lists(PtcStore *s)
{
    Seen seen = {.count = 0};
    PtcStoreKey b = key("ann", "b"), a = key("ann", "a");
    size_t count, bytes;
    CHECK(count_of(s, "ann", 0) == 2 && count_of(s, "bob", 0) == 1 && count_of(s, "cay", 0) == 0);
    CHECK(count_of(s, NULL, 0) == 3 && count_of(s, NULL, 2) == 2);
    CHECK(ptc_store_list(s, "thing", PTC_TEXT("ann"), NULL, 1, count_one, &seen) == PTC_STORE_OK);
    CHECK(ptc_store_list(s, "thing", PTC_TEXT("ann"), &a, 9, count_one, &seen) == PTC_STORE_OK);
    CHECK(ptc_store_list(s, "thing", (PtcText){NULL, 0}, &b, 9, count_one, &seen) == PTC_STORE_OK);
    CHECK_STR(seen.names, "abc");
    clock_ms = 49;
    CHECK(ptc_store_expire(s, "thing", 100) == PTC_STORE_OK && count_of(s, NULL, 0) == 3);
    clock_ms = 50;
    for (int i = 0; engine_ms && i < 3; i++)
        end_record(s, i < 2 ? "ann" : "bob", (const char *[]){"a", "b", "c"}[i]);
    CHECK(ptc_store_expire(s, "other", 100) == PTC_STORE_OK);
    CHECK(count_of(s, NULL, 0) == 0); /* seen by nobody, and still there */
    CHECK(ptc_store_sum(s, "thing", &count, &bytes) == PTC_STORE_OK && count == 3 * !is_redis);
    CHECK(ptc_store_expire(s, "thing", 2) == PTC_STORE_OK);
    CHECK(ptc_store_sum(s, "thing", &count, &bytes) == PTC_STORE_OK && count == 1 * !is_redis);
    CHECK(ptc_store_expire(s, "thing", 100) == PTC_STORE_OK);
    CHECK(ptc_store_sum(s, "thing", &count, &bytes) == PTC_STORE_OK && count == 0);
}

static void put_kind(PtcStore *s, const char *kind, const char *owner, const char *name,
                     int64_t used_ms)
{
    uint64_t version;
    PtcStoreKey k = {kind, ptc_text_cstr(owner), ptc_text_cstr(name)};
    PtcStorePut put = {.used_ms = at(used_ms), .expires_ms = at(1000), .bytes = PTC_TEXT("12345")};
    CHECK(ptc_store_put(s, &k, &put, &version) == PTC_STORE_OK);
}

/* Of all kinds, and of one owner alone; the oldest go first when there is no room. */
static void test_many(PtcStore *s)
{
    size_t count, bytes;
    PtcStoreBounds bounds = {.owner_count = 3, .owner_bytes = 12};
    clock_ms = 20;
    put_kind(s, "thing", "ann", "new", 15);
    put_kind(s, "thing", "ann", "old", 11);
    put_kind(s, "thing", "bob", "older", 10);
    put_kind(s, "other", "ann", "x", 12);
    CHECK(ptc_store_make_room(s, "thing", PTC_TEXT("ann"), &bounds, 2) == PTC_STORE_OK);
    CHECK(count_of(s, "ann", 0) == 2);
    CHECK(ptc_store_make_room(s, "thing", PTC_TEXT("ann"), &bounds, 3) == PTC_STORE_OK);
    CHECK(count_of(s, "ann", 0) == 1 && count_of(s, "bob", 0) == 1);
    CHECK(strstr(read_back(s, "ann", "new"), "12345") != NULL);
    CHECK(ptc_store_make_room(s, "thing", PTC_TEXT("ann"), &bounds, 13) == PTC_STORE_FULL);
    CHECK(ptc_store_reseal(s, &count) == PTC_STORE_OK && count == 0);
    CHECK(ptc_store_erase(s, PTC_TEXT("ann"), &count) == PTC_STORE_OK && count == 2);
    CHECK(count_of(s, "ann", 0) == 0 && count_of(s, "bob", 0) == 1);
    CHECK(ptc_store_sum(s, "other", &count, &bytes) == PTC_STORE_OK && count == 0);
    CHECK(ptc_store_erase(s, PTC_TEXT("bob"), &count) == PTC_STORE_OK && count == 1);
}

static void test_all(const char *where)
{
    PtcStore *s = open_store(where);
    if (!s)
        return;
    test_versions(s);
    test_expired(s);
    test_guards(s);
    test_bytes(s);
    test_bounds(s);
    test_lists(s);
    test_many(s);
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
    CHECK(ptc_store_remove(other, &k, 0) == PTC_STORE_OK);
    CHECK(put_text(s, "ann", "a", 2, "back") == PTC_STORE_ABSENT);
    ptc_store_free(other);
    ptc_store_free(s);
    CHECK(!try_open("mysql://u:secret@x", &why) && strstr(why.text, "sqlite:FILE") &&
          !strstr(why.text, "secret"));
    CHECK(!try_open("sqlite:", &why));
    CHECK(!try_open("sqlite:/no/such/directory/x", &why) &&
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

static void write_text(const char *name, const char *line, const char *next)
{
    FILE *f = fopen(name, "w");
    CHECK(f && fprintf(f, "%s\n%s", line, next ? next : "") > 0 && fclose(f) == 0);
}

static bool refused(const char *word)
{
    PtcWhy why;
    PtcStore *s = try_open(place, &why);
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
        "PRAGMA user_version=5",
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
        if (i < 3) {
            run_sql("PRAGMA user_version=4");
            CHECK(refused(".key"));
        }
    }
}

/* The seals of a file of the format before, made with the key of 32 bytes "k". */
static void old_seal(const char *word, const uint64_t numbers[3], const char *last, char out[65])
{
    uint8_t tag[PTC_SHA256_BYTES], head[64], key_bytes[32];
    const uint64_t all[8] = {strlen(word), 5,          3,          1,
                             numbers[0],   numbers[1], numbers[2], strlen(last)};
    memset(key_bytes, 'k', sizeof key_bytes);
    for (int i = 0; i < 64; i++)
        head[i] = (uint8_t)(all[i / 8] >> (8 * (i % 8)));
    const PtcText parts[] = {{(const char *)head, 64}, ptc_text_cstr(word), PTC_TEXT("thing"),
                             PTC_TEXT("ann"),          PTC_TEXT("a"),       ptc_text_cstr(last)};
    ptc_hmac_parts((PtcText){(const char *)key_bytes, 32}, parts, 6, tag);
    ptc_hex_write(out, tag, sizeof tag);
}

static void make_old_file(void)
{
    char name[220], sql[2000], seal[65], rest[65];
    snprintf(name, sizeof name, "%s.key", path);
    FILE *f = fopen(name, "w");
    for (int i = 0; f && i < 32; i++)
        fputc('k', f);
    CHECK(f && fclose(f) == 0);
    old_seal("bytes", (const uint64_t[]){7, 0, 0}, "kept", seal);
    old_seal("rest", (const uint64_t[]){7, 10, 1000}, "m", rest);
    snprintf(sql, sizeof sql,
             "CREATE TABLE ptc_record(kind TEXT NOT NULL,owner BLOB NOT NULL,key BLOB NOT NULL,"
             "version INTEGER,created_ms INTEGER,used_ms INTEGER,expires_ms INTEGER,size INTEGER,"
             "meta BLOB,bytes BLOB,rest_seal BLOB,seal BLOB,PRIMARY KEY(kind,owner,key));"
             "CREATE INDEX ptc_record_size ON ptc_record(kind,owner,size);"
             "INSERT INTO ptc_record VALUES('thing',X'616e6e',X'61',7,10,10,1000,4,X'6d',"
             "X'6b657074',X'%s',X'%s');PRAGMA user_version=3",
             rest, seal);
    run_sql(sql);
}

/* An older file is refused, until somebody asks for it to be made new; then what is in it is still there. */
static void test_upgrade(void)
{
    PtcWhy why;
    size_t count;
    remove_file();
    remove_key();
    make_old_file();
    clock_ms = 20;
    CHECK(refused("run ptc store migrate"));
    PtcStore *s =
        ptc_store_open(&(PtcStoreConfig){.url = place, .upgrade = true, .now_ms = tell_time}, &why);
    CHECK(s != NULL);
    first = 7;
    CHECK_STR(read_back(s, "ann", "a"), "kept 1");
    CHECK(ptc_store_reseal(s, &count) == PTC_STORE_OK && count == 1);
    CHECK(ptc_store_reseal(s, &count) == PTC_STORE_OK && count == 0); /* once only */
    ptc_store_free(s);
    s = open_store(place);
    CHECK_STR(read_back(s, "ann", "a"), "kept 2");
    ptc_store_free(s);
    run_sql("DROP INDEX ptc_record_size;PRAGMA user_version=3"); /* it only says that it is older */
    CHECK(!ptc_store_open(&(PtcStoreConfig){.url = place, .upgrade = true}, &why) &&
          strstr(why.text, "no such index"));
    remove_key();
}

/* Another key seals, and the one before still opens; a store has a key or it has none. */
static void test_two_keys(void)
{
    static const char digits[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    static const char others[] = "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    char name[220];
    PtcWhy why;
    size_t count;
    PtcStoreConfig config = {.url = place, .key_file = name, .now_ms = tell_time};
    remove_file();
    clock_ms = 20;
    snprintf(name, sizeof name, "%s.keys", path);
    write_text(name, digits, NULL);
    PtcStore *s = ptc_store_open(&config, &why);
    CHECK(s && ptc_store_is_sealed(s) && put_text(s, "ann", "a", 0, "kept") == PTC_STORE_OK);
    ptc_store_free(s);
    write_text(name, others, NULL);
    CHECK(!ptc_store_open(&config, &why) && strstr(why.text, "another key"));
    write_text(name, others, digits);
    s = ptc_store_open(&config, &why);
    CHECK(s != NULL);
    CHECK_STR(read_back(s, "ann", "a"), "kept 1");
    CHECK(ptc_store_reseal(s, &count) == PTC_STORE_OK && count == 1);
    CHECK(ptc_store_reseal(s, &count) == PTC_STORE_OK && count == 0); /* once only */
    ptc_store_free(s);
    write_text(name, others, NULL);
    s = ptc_store_open(&config, &why);
    CHECK(s != NULL);
    CHECK_STR(read_back(s, "ann", "a"), "kept 2");
    ptc_store_free(s);
    write_text(name, "00", NULL);
    CHECK(!ptc_store_open(&config, &why) && strstr(why.text, "64 hex digits"));
    unlink(name);
}

/* ------------------------------------------------------------------------------- holds */

static int64_t hold_ms;

static PtcStoreStatus hold_it(PtcStore *s, int64_t n, int64_t most)
{
    PtcStoreKey k = key("ann", "h");
    return ptc_store_hold(s, &k, &(PtcStoreHold){n, most, hold_ms});
}

/* Two nodes: one of them holds a record, or their numbers stay within a bound; what is not renewed is over. */
static void test_holds(const char *where)
{
    PtcStoreKey k = key("ann", "h");
    PtcStoreHold hold = {1, 1, engine_ms ? 60000 : 100};
    PtcStored stored;
    uint64_t version;
    remove_file();
    hold_ms = hold.ms;
    clock_ms = 20;
    PtcStore *a = open_store(where), *b = open_store(where);
    CHECK(hold_it(a, 1, 1) == PTC_STORE_OK && hold_it(b, 1, 1) == PTC_STORE_HELD);
    CHECK(hold_it(a, 1, 1) == PTC_STORE_OK && hold_it(a, 0, 1) == PTC_STORE_OK);
    CHECK(hold_it(b, 1, 1) == PTC_STORE_OK && hold_it(a, 1, 1) == PTC_STORE_HELD);
    hold_ms = 100; /* from now on b's ends early */
    CHECK(hold_it(b, 1, 1) == PTC_STORE_OK);
    clock_ms = 121;
    wait_for_end(b, ptc_store_now(b) + 100);
    hold_ms = hold.ms;
    CHECK(hold_it(a, 1, 1) == PTC_STORE_OK);
    CHECK(put_text(a, "ann", "h", 0, "one") == PTC_STORE_OK);
    CHECK(ptc_store_get(b, &k, &hold, &stored, NULL) == PTC_STORE_HELD);
    CHECK(ptc_store_get(a, &k, &hold, &stored, NULL) == PTC_STORE_OK);
    PtcStorePut put = {.expected = stored.version,
                       .used_ms = at(121),
                       .expires_ms = at(1000),
                       .release = true,
                       .bytes = PTC_TEXT("two")};
    CHECK(ptc_store_put(a, &k, &put, &version) == PTC_STORE_OK);
    CHECK(ptc_store_get(b, &k, &hold, &stored, NULL) == PTC_STORE_OK);
    CHECK(hold_it(b, 0, 1) == PTC_STORE_OK);
    CHECK(hold_it(a, 3, 5) == PTC_STORE_OK && hold_it(b, 3, 5) == PTC_STORE_HELD);
    CHECK(hold_it(b, 2, 5) == PTC_STORE_OK && hold_it(a, 4, 5) == PTC_STORE_HELD);
    ptc_store_free(a);
    ptc_store_free(b);
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
    PtcStoreStatus status = ptc_store_get(s, &k, NULL, &stored, whole ? &bytes : NULL);
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
        "UPDATE ptc_record SET seal=X'01' WHERE key=X'61'",
        "UPDATE ptc_record SET tag=zeroblob(16) WHERE key=X'61'",
    };
    static const char *const rest[] = {
        "UPDATE ptc_record SET expires=expires+1",
        "UPDATE ptc_record SET used=used+1",
        "UPDATE ptc_record SET idle=idle-1",
        "UPDATE ptc_record SET meta=X'6e'",
        "UPDATE ptc_record SET rest_seal=X'01'",
        "UPDATE ptc_record SET version=1 WHERE key=X'61'",
        "UPDATE ptc_record SET rest_seal=X''",
        "UPDATE ptc_record SET rest_seal=seal",
    };
    clock_ms = 20;
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
    CHECK(after("UPDATE ptc_record SET kind='other' WHERE kind='thing'", "ann", "a", true) ==
          PTC_STORE_ABSENT);
    PtcStore *s = open_store(place);
    run_sql("UPDATE ptc_record SET kind='thing' WHERE kind='other';UPDATE ptc_record SET "
            "meta=X'6e' WHERE key=X'61'");
    CHECK(count_of(s, NULL, 0) == 1);
    PtcStoreKey k = key("ann", "a"); /* it can still be got rid of */
    CHECK(ptc_store_remove(s, &k, 0) == PTC_STORE_OK && count_of(s, NULL, 0) == 1);
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
    CHECK(truncate(name.text, 31) == 0 && refused("holds no key"));
    remove_key();
    CHECK(refused(".key"));
    s = try_open("sqlite::memory:", &name);
    CHECK(s == NULL && strstr(name.text, "name a file"));
    run_sql("DROP TABLE ptc_record;DROP TABLE ptc_hold;PRAGMA user_version=0");
    s = open_store(place); /* a new store with an old key */
    CHECK_STR(read_back(s, "ann", "a"), "-");
    ptc_store_free(s);
}

/* ----------------------------------------------------------------------- many processes */

enum { PROCESSES = 4, ROUNDS = 100 };

/* Adds one to the number in a record, ROUNDS times, trying again when others were faster. */
static int count_up(const char *where)
{
    PtcStoreKey k = key("", "counter");
    char text[32];
    PtcStore *s = try_open(where, NULL);
    if (!s)
        return 1;
    for (int done = 0; done < ROUNDS;) {
        PtcStored stored = {.version = 0};
        PtcBuf bytes;
        uint64_t version;
        ptc_buf_init(&bytes, &mem, 100);
        PtcStoreStatus status = ptc_store_get(s, &k, NULL, &stored, &bytes);
        long n = status == PTC_STORE_OK ? strtol(ptc_buf_text(&bytes), NULL, 10) : 0;
        ptc_buf_deinit(&bytes);
        if (status != PTC_STORE_OK && status != PTC_STORE_ABSENT)
            return 2;
        snprintf(text, sizeof text, "%ld", n + 1);
        PtcStorePut put = {
            .expected = stored.version, .expires_ms = at(1000), .bytes = ptc_text_cstr(text)};
        status = ptc_store_put(s, &k, &put, &version);
        done += status == PTC_STORE_OK;
        if (status != PTC_STORE_OK && status != PTC_STORE_CONFLICT && status != PTC_STORE_BUSY)
            return 3;
    }
    ptc_store_free(s);
    return 0;
}

/* They also make the file together. */
static void test_processes(const char *where)
{
    pid_t children[PROCESSES];
    char want[40];
    remove_file();
    for (int i = 0; i < PROCESSES; i++)
        if ((children[i] = fork()) == 0) {
            alarm(120);
            _exit(count_up(where));
        }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    PtcStore *s = open_store(where);
    first = 0;
    snprintf(want, sizeof want, "%d ", PROCESSES * ROUNDS);
    CHECK(strncmp(read_back(s, "", "counter"), want, strlen(want)) == 0);
    PtcStoreKey k = key("", "counter");
    CHECK(ptc_store_remove(s, &k, 0) == PTC_STORE_OK);
    ptc_store_free(s);
}

/* An empty database: what there is afterwards belongs to these cases. */
static int test_engine(const char *where)
{
    engine_ms = ptc_clock_wall_ms();
    is_redis = strncmp(where, "redis", 5) == 0;
    test_processes(where), test_all(where), test_holds(where);
    return check_done("store");
}

int main(void)
{
    char directory[] = "/tmp/ptc-store-XXXXXX";
    const char *engine = getenv("PTC_TEST_STORE");
    ptc_mem_init(&mem, SIZE_MAX / 2);
    if (engine)
        return test_engine(engine);
    umask(0077);
    CHECK(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/s.db", directory);
    snprintf(place, sizeof place, "sqlite:%s", path);
    test_processes(place); /* before a thread or a library is there */
    test_all(NULL);
    remove_file();
    test_all(place);
    test_file();
    test_seals();
    test_key();
    test_format();
    test_upgrade();
    test_two_keys();
    test_holds(place);
    remove_file();
    remove_key();
    CHECK(rmdir(directory) == 0);
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("store");
}
