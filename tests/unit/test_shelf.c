/* SPDX-License-Identifier: MIT
 * Sheets on shelves, and what is kept on them: in files and in a store, written by several at once, damaged, newer,
 * given to somebody else; secrets in a store. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/os/shelf.h"
#include "base/os/whole_file.h"
#include "sqlite/sqlite_library.h"
#include "store/store_shelf.h"
#include "upstream/run/grants.h"
#include "upstream/run/seen_book.h"

static char dir[64];
static PtcMem mem;
static int64_t ahead_ms; /* of the time of stores */

static int64_t tell_time(void *user)
{
    (void)user;
    return ptc_clock_wall_ms() + ahead_ms;
}

/* ------------------------------------------------------------------------------------ places */

/* One node: its own store on the file that all share. */
typedef struct {
    PtcStore *store;
    PtcStoreShelf kept;
} Node;

static PtcStoreConfig config_of(const char *keys)
{
    static char url[100], name[100];
    snprintf(url, sizeof url, "sqlite:%s/s.db", dir);
    snprintf(name, sizeof name, "%s/keys", dir);
    return (PtcStoreConfig){.url = url, .key_file = keys ? name : NULL, .now_ms = tell_time};
}

static const char first_key[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
static const char second_key[] = "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

static void write_keys(const char *a, const char *b)
{
    char text[200], path[100];
    snprintf(path, sizeof path, "%s/keys", dir);
    snprintf(text, sizeof text, "%s\n%s%s", a, b ? b : "", b ? "\n" : "");
    CHECK(ptc_whole_file_put(path, ptc_text_cstr(text), (PtcWholeFile){0}));
}

static void open_node(Node *n, const char *keys)
{
    PtcWhy why;
    PtcStoreConfig config = config_of(keys);
    n->store = ptc_store_open(&config, &why);
    CHECK(n->store != NULL);
    if (n->store)
        ptc_store_shelf_init(&n->kept, n->store);
}

static void close_node(Node *n)
{
    ptc_store_shelf_deinit(&n->kept);
    ptc_store_free(n->store);
}

static void clear_dir(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s/*", dir);
    CHECK(system(command) == 0);
}

/* What somebody does who can write the store but has no key. */
static void run_sql(const char *sql)
{
    char path[100];
    sqlite3 *db;
    PtcWhy why;
    PtcSqlite lib;
    snprintf(path, sizeof path, "%s/s.db", dir);
    CHECK(ptc_sqlite_load(&lib, &why) != NULL);
    CHECK(lib.open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
    CHECK(lib.exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    lib.close_v2(db);
}

/* ------------------------------------------------------------------------------------ sheets */

static PtcSheet sheet_of(const char *owner, const char *key)
{
    return (PtcSheet){.kind = "pin",
                      .owner = ptc_text_cstr(owner),
                      .key = ptc_text_cstr(key),
                      .file = "sheet.json",
                      .lock_file = "sheet.lock"};
}

static const char *read_sheet(PtcShelf *shelf, const PtcSheet *sheet, PtcSheetMark *mark)
{
    static char text[200];
    PtcBuf out;
    PtcWhy why;
    ptc_buf_init(&out, &mem, sizeof text - 1);
    PtcSheetStatus status = shelf->read(shelf, sheet, &out, mark, &why);
    snprintf(text, sizeof text, "%d %.*s", (int)status, (int)out.len, out.data ? out.data : "");
    ptc_buf_deinit(&out);
    return text;
}

static PtcSheetStatus write_sheet(PtcShelf *shelf, const PtcSheet *sheet, const char *text,
                                  PtcSheetMark *mark)
{
    PtcWhy why;
    const PtcSheetWrite how = {.over = *mark};
    return shelf->write(shelf, sheet, ptc_text_cstr(text), &how, mark, &why);
}

/* The same on both: what is written is read, by others too, and its mark says whether it has changed. */
static void test_sheet(PtcShelf *a, PtcShelf *b)
{
    PtcSheet sheet = sheet_of("-", "k");
    PtcSheetMark mark, other, seen;
    CHECK_STR(read_sheet(a, &sheet, &mark), "1 ");
    CHECK(a->look(a, &sheet, &seen) && ptc_sheet_same(&seen, &mark));
    CHECK(write_sheet(a, &sheet, "one", &mark) == PTC_SHEET_OK);
    CHECK_STR(read_sheet(b, &sheet, &other), "0 one");
    CHECK(ptc_sheet_same(&mark, &other));
    CHECK(write_sheet(b, &sheet, "another", &other) == PTC_SHEET_OK);
    CHECK(a->look(a, &sheet, &seen) && !ptc_sheet_same(&seen, &mark));
    CHECK(ptc_sheet_same(&seen, &other));
    CHECK(a->remove(a, &sheet) == PTC_SHEET_OK && b->remove(b, &sheet) == PTC_SHEET_ABSENT);
}

/* Of two who have read the same, the second is told; a lock is held by one node and one thread. */
static void test_shared_sheet(Node *a, Node *b)
{
    PtcSheet sheet = sheet_of("ann", "k"), lock_sheet = sheet;
    PtcSheetMark mine = {{0}}, theirs = {{0}};
    PtcSheetLock one, two;
    PtcWhy why;
    PtcShelf *sa = &a->kept.shelf, *sb = &b->kept.shelf;
    CHECK(write_sheet(sa, &sheet, "1", &mine) == PTC_SHEET_OK);
    CHECK(write_sheet(sb, &sheet, "2", &theirs) == PTC_SHEET_CHANGED);
    CHECK_STR(read_sheet(sb, &sheet, &theirs), "0 1");
    CHECK(write_sheet(sb, &sheet, "3", &theirs) == PTC_SHEET_OK);
    CHECK(write_sheet(sa, &sheet, "4", &mine) == PTC_SHEET_CHANGED);
    lock_sheet.alone = true;
    CHECK(sa->lock(sa, &lock_sheet, 0, &one, &why));
    CHECK(!sa->lock(sa, &lock_sheet, 60, &two, &why) && errno == EWOULDBLOCK);
    CHECK(!sb->lock(sb, &lock_sheet, 60, &two, &why) && errno == EWOULDBLOCK);
    CHECK(sb->lock(sb, &sheet, 0, &two, &why)); /* which needs none */
    sb->unlock(sb, &two);
    sa->unlock(sa, &one);
    CHECK(sb->lock(sb, &lock_sheet, 1000, &two, &why));
    sb->unlock(sb, &two);
    CHECK(sa->remove(sa, &sheet) == PTC_SHEET_OK);
}

/* ------------------------------------------------------------------------------------ grants */

static PtcGrantOf grant_of(const char *owner, const char *tool)
{
    static const uint8_t entry[PTC_SHA256_BYTES] = {1}, pin[PTC_SHA256_BYTES] = {2};
    return (PtcGrantOf){"http:", owner, PTC_TEXT("notes"), ptc_text_cstr(tool), entry, pin};
}

static bool is_granted(Node *n, const char *owner, const char *tool)
{
    PtcGrants g;
    PtcGrantOf of = grant_of(owner, tool);
    ptc_grants_init(&g, &mem);
    (void)ptc_grants_load(&g, &n->kept.shelf, of.realm, of.owner);
    bool granted = ptc_grants_find(&g, of) == PTC_GRANT_HOLDS;
    ptc_grants_deinit(&g);
    return granted;
}

static bool allow_on(Node *n, const char *owner, const char *tool, int64_t ms)
{
    PtcWhy why;
    return ptc_grants_keep(&mem, &n->kept.shelf, grant_of(owner, tool), ms, &why);
}

/* What one node was told counts on the other at once, for that owner, for as long as was said. */
static void test_shared_grants(Node *a, Node *b)
{
    CHECK(!is_granted(b, "ann", "write"));
    CHECK(allow_on(a, "ann", "write", PTC_GRANTS_DAY_MS) && allow_on(a, "ann", "mail", 0));
    CHECK(is_granted(b, "ann", "write") && is_granted(b, "ann", "mail"));
    CHECK(!is_granted(b, "bob", "write") && !is_granted(b, "", "write"));
    CHECK(allow_on(b, "bob", "write", PTC_GRANTS_DAY_MS) && is_granted(a, "bob", "write"));
    ahead_ms = PTC_GRANTS_DAY_MS;
    CHECK(!is_granted(b, "ann", "write") && is_granted(b, "ann", "mail"));
    CHECK(!is_granted(b, "bob", "write"));
    ahead_ms = 0;
}

typedef struct {
    Node *node;
    char letter;
} Writer;

enum { WRITERS = 4, GRANTS_OF_WRITER = 10 };

static void *allow_many(void *user)
{
    const Writer *w = user;
    for (int i = 0; i < GRANTS_OF_WRITER; i++)
        CHECK(allow_on(w->node, "dan", (char[]){w->letter, (char)('0' + i), 0}, 0));
    return NULL;
}

/* Nothing is lost of what two nodes write at once. */
static void test_grants_at_once(Node *nodes[2])
{
    pthread_t threads[WRITERS];
    Writer writers[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (Writer){nodes[i % 2], (char)('a' + i)};
        CHECK(pthread_create(&threads[i], NULL, allow_many, &writers[i]) == 0);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < WRITERS; i++)
        for (int k = 0; k < GRANTS_OF_WRITER; k++)
            CHECK(is_granted(nodes[0], "dan", (char[]){(char)('a' + i), (char)('0' + k), 0}));
}

/* Nobody without the key grants anything, and what a newer ptc wrote is not touched. */
static void test_hostile_grants(Node *a, Node *b)
{
    CHECK(allow_on(a, "eve", "write", 0) && is_granted(b, "eve", "write"));
    run_sql("INSERT INTO ptc_record SELECT "
            "kind,X'6d616c',key,version,tag,created,used,expires,idle,size,"
            "meta,seal,rest_seal,bytes FROM ptc_record WHERE kind='grant' AND owner=X'657665'");
    CHECK(!is_granted(b, "mal", "write")); /* the seal is of another owner */
    CHECK(!allow_on(b, "mal", "write", 0));
    run_sql(
        "UPDATE ptc_record SET bytes=CAST(replace(CAST(bytes AS TEXT),'write','erase') AS BLOB) "
        "WHERE kind='grant' AND owner=X'657665'");
    CHECK(!is_granted(b, "eve", "write") && !is_granted(b, "eve", "erase"));
    CHECK(allow_on(a, "ned", "write", 0));
    run_sql("UPDATE ptc_record SET seal=CAST(X'02'||substr(seal,2) AS BLOB),"
            "rest_seal=CAST(X'02'||substr(rest_seal,2) AS BLOB) WHERE owner=X'6e6564'");
    CHECK(!is_granted(b, "ned", "write") && !allow_on(b, "ned", "mail", 0));
}

/* Without a seal too, a sheet of another owner grants nothing: its lines say whose they are. */
static void test_forged_grants(void)
{
    Node n;
    clear_dir();
    PtcSheet ann = {.kind = "grant", .owner = PTC_TEXT("ann"), .key = PTC_TEXT("http:")}, bob = ann;
    PtcSheetMark mark;
    PtcWhy why;
    PtcBuf text;
    bob.owner = PTC_TEXT("bob");
    open_node(&n, NULL);
    PtcShelf *s = &n.kept.shelf;
    CHECK(allow_on(&n, "ann", "write", 0) && is_granted(&n, "ann", "write"));
    ptc_buf_init(&text, &mem, 4096);
    CHECK(s->read(s, &ann, &text, &mark, &why) == PTC_SHEET_OK);
    const PtcSheetWrite how = {.over = {{0}}};
    CHECK(s->write(s, &bob, ptc_buf_view(&text), &how, &mark, &why) == PTC_SHEET_OK);
    CHECK(!is_granted(&n, "bob", "write"));
    for (const char *const *bad =
             (const char *const[]){"", "{", "[]", "{\"format\":3,\"approvals\":[]}",
                                   "{\"format\":2,\"approvals\":[7,{\"until\":\"x\"}]}", NULL};
         *bad; bad++) {
        CHECK(write_sheet(s, &bob, *bad, &mark) == PTC_SHEET_OK);
        CHECK(!is_granted(&n, "bob", "write"));
    }
    ptc_buf_deinit(&text);
    close_node(&n);
}

/* ------------------------------------------------------------------------------------ shapes */

static PtcSeenOf seen_of(const char *owner, const char *tool)
{
    static const uint8_t entry[PTC_SHA256_BYTES] = {1};
    return (PtcSeenOf){"http:", owner,        PTC_TEXT("notes"), ptc_text_cstr(tool),
                       entry,   PTC_TEXT("1")};
}

/* What a server that begins now knows. */
static bool is_seen(Node *n, const char *owner, const char *tool)
{
    PtcBuf out;
    PtcSeenBook *book = ptc_seen_book_new(&mem, &n->kept.shelf);
    ptc_buf_init(&out, &mem, 1000);
    (void)ptc_seen_book_refresh(book, "http:", owner);
    bool known = ptc_seen_book_get(book, seen_of(owner, tool), NULL, &out);
    ptc_buf_deinit(&out);
    ptc_seen_book_free(book);
    return known;
}

static bool keeps(PtcSeenBook *book, const char *owner)
{
    PtcWhy why;
    return ptc_seen_book_keep(book, "http:", owner, &why);
}

/* What programs on one server got is known on the other, to that owner, for as long as it is used. */
static void test_shared_shapes(Node *a, Node *b)
{
    PtcSeenBook *books[2] = {ptc_seen_book_new(&mem, &a->kept.shelf),
                             ptc_seen_book_new(&mem, &b->kept.shelf)};
    CHECK(ptc_seen_book_add(books[0], seen_of("ann", "get"), NULL, PTC_TEXT("{id int}")));
    CHECK(ptc_seen_book_add(books[1], seen_of("ann", "put"), NULL, PTC_TEXT("{id int}")));
    CHECK(keeps(books[0], "ann") && keeps(books[1], "ann") && keeps(books[1], "bob"));
    for (int i = 0; i < 2; i++) {
        Node *n = i ? b : a;
        CHECK(is_seen(n, "ann", "get") && is_seen(n, "ann", "put"));
        CHECK(!is_seen(n, "bob", "get") && !is_seen(n, "", "get"));
    }
    ahead_ms = (int64_t)20 * 24 * 3600 * 1000;
    PtcBuf out;
    ptc_buf_init(&out, &mem, 1000);
    CHECK(ptc_seen_book_get(books[1], seen_of("ann", "put"), NULL, &out));
    ptc_buf_deinit(&out);
    PtcSeenBook *later = ptc_seen_book_new(&mem, &b->kept.shelf); /* it says that they are used */
    ptc_buf_init(&out, &mem, 1000);
    (void)ptc_seen_book_refresh(later, "http:", "ann");
    CHECK(ptc_seen_book_get(later, seen_of("ann", "get"), NULL, &out) && keeps(later, "ann"));
    ptc_buf_deinit(&out);
    ahead_ms = (int64_t)49 * 24 * 3600 * 1000;
    CHECK(is_seen(a, "ann", "get"));
    ahead_ms = (int64_t)51 * 24 * 3600 * 1000;
    CHECK(!is_seen(a, "ann", "get"));
    ahead_ms = 0;
    ptc_seen_book_free(later);
    for (int i = 0; i < 2; i++)
        ptc_seen_book_free(books[i]);
}

/* ----------------------------------------------------------------------------------- secrets */

static bool file_has(const char *what)
{
    char command[200];
    snprintf(command, sizeof command, "cat %s/s.db* | grep -q '%s'", dir, what);
    return system(command) == 0;
}

/* They cannot be read in the file, and can be with the key alone, of which there may be a new one. */
static void test_secrets(void)
{
    Node n;
    PtcSheetMark mark = {{0}};
    PtcSheet sheet = sheet_of("-", "k");
    size_t count;
    PtcWhy why;
    clear_dir();
    sheet.kind = "oauth";
    sheet.secret = true;
    write_keys(first_key, NULL);
    open_node(&n, first_key);
    CHECK(n.kept.shelf.secrets);
    CHECK(write_sheet(&n.kept.shelf, &sheet, "hush-hush-token-0123456789-0123456789", &mark) ==
          PTC_SHEET_OK);
    CHECK_STR(read_sheet(&n.kept.shelf, &sheet, &mark), "0 hush-hush-token-0123456789-0123456789");
    CHECK(!file_has("hush-hush"));
    close_node(&n);
    write_keys(second_key, first_key);
    open_node(&n, second_key);
    CHECK(ptc_store_reseal(n.store, &count) == PTC_STORE_OK && count == 1);
    close_node(&n);
    write_keys(second_key, NULL);
    open_node(&n, second_key);
    CHECK_STR(read_sheet(&n.kept.shelf, &sheet, &mark), "0 hush-hush-token-0123456789-0123456789");
    PtcStored stored;
    const PtcStoreKey key = {"oauth", PTC_TEXT("-"), PTC_TEXT("k")};
    CHECK(ptc_store_get(n.store, &key, NULL, &stored, NULL) == PTC_STORE_OK);
    const PtcStorePut plain = {.expected = stored.version,
                               .used_ms = stored.used_ms,
                               .expires_ms = PTC_STORE_NEVER,
                               .bytes = PTC_TEXT("{\"access_token\":\"x\"}")};
    uint64_t version;
    CHECK(ptc_store_put(n.store, &key, &plain, &version) == PTC_STORE_OK);
    CHECK_STR(read_sheet(&n.kept.shelf, &sheet, &mark), "3 "); /* it was not hidden */
    close_node(&n);
    clear_dir();
    PtcStoreConfig config = {.url = "memory:"};
    n.store = ptc_store_open(&config, &why);
    ptc_store_shelf_init(&n.kept, n.store);
    mark = (PtcSheetMark){{0}};
    CHECK(!n.kept.shelf.secrets);
    CHECK(write_sheet(&n.kept.shelf, &sheet, "hush", &mark) == PTC_SHEET_FAILED);
    close_node(&n);
}

int main(void)
{
    PtcFileShelf files[2];
    Node a, b;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    snprintf(dir, sizeof dir, "/tmp/ptc-shelf-XXXXXX");
    CHECK(mkdtemp(dir) != NULL);
    for (int i = 0; i < 2; i++)
        CHECK(ptc_file_shelf_init(&files[i], dir));
    test_sheet(&files[0].shelf, &files[1].shelf);
    open_node(&a, NULL);
    open_node(&b, NULL);
    test_sheet(&a.kept.shelf, &b.kept.shelf);
    test_shared_sheet(&a, &b);
    test_shared_grants(&a, &b);
    test_grants_at_once((Node *[]){&a, &b});
    test_shared_shapes(&a, &b);
    test_hostile_grants(&a, &b);
    close_node(&a);
    close_node(&b);
    test_forged_grants();
    test_secrets();
    clear_dir();
    CHECK(rmdir(dir) == 0);
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("shelf");
}
