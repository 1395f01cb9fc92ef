/* SPDX-License-Identifier: MIT
 * What a server keeps: sessions, large results, records of calls.  The clock is ours. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "mcp/app/results.h"
#include "mcp/app/sessions.h"
#include "mcp/app/suspended.h"
#include "trace/recorder.h"

#define VIEW(text) ((PtcText){text, strlen(text)})
static const PtcText none = {NULL, 0};

static PtcMem mem;
static int64_t clock_ms;

static int64_t tell_time(void *user)
{
    (void)user;
    return clock_ms;
}

static PtcStore *open_store(const char *url)
{
    PtcWhy why;
    PtcStore *store = ptc_store_open(&(PtcStoreConfig){.url = url, .now_ms = tell_time}, &why);
    CHECK(store != NULL);
    return store;
}

static PtcSessions *sessions_in(PtcSessionsConfig config, PtcStore *store)
{
    config.store = store;
    config.wait_ms = 1;
    PtcSessions *s = ptc_sessions_new(&config);
    CHECK(s != NULL);
    return s;
}

static PtcSessions *sessions(PtcSessionsConfig config)
{
    return sessions_in(config, open_store(NULL));
}

static void free_sessions(PtcSessions *s)
{
    PtcStore *store = ptc_sessions_store(s);
    ptc_sessions_free(s);
    ptc_store_free(store);
}

static bool lives(PtcSessions *s, const char *owner, const char *handle)
{
    PtcSessionEntry *held;
    PtcText bytes;
    if (ptc_sessions_hold(s, owner, VIEW(handle), false, &held, &bytes) != PTC_STORE_OK)
        return false;
    ptc_sessions_let_go(s, held, NULL);
    return true;
}

static PtcStoreStatus change(PtcSessions *s, const char *handle, size_t bytes)
{
    static char block[1 << 16];
    PtcSessionEntry *held;
    PtcText old;
    PtcSessionChange to = {.bytes = {block, bytes}, .bindings = 1, .evaluated = true};
    CHECK(ptc_sessions_hold(s, "", VIEW(handle), false, &held, &old) == PTC_STORE_OK);
    PtcStoreStatus status = ptc_sessions_change(s, held, &to);
    ptc_sessions_let_go(s, held, NULL);
    return status;
}

static size_t count_listed(PtcSessions *s, const char *owner, PtcSessionInfo *infos, size_t max)
{
    size_t all;
    CHECK(ptc_sessions_list(s, owner, infos, max, &all) == PTC_STORE_OK);
    return all;
}

static void test_times(void)
{
    PtcSessions *s = sessions((PtcSessionsConfig){.ttl_ms = 1000, .idle_ms = 100});
    PtcSessionInfo a, b, c;
    clock_ms = 5000;
    CHECK(ptc_sessions_start(s, "", VIEW("a"), 0, &a) == PTC_STORE_OK);
    CHECK(ptc_sessions_start(s, "", none, 150, &b) == PTC_STORE_OK);
    CHECK(ptc_sessions_start(s, "", none, 99999, &c) == PTC_STORE_OK);
    CHECK(a.created_ms == 5000 && a.expires_ms == 5100 && strcmp(a.title, "a") == 0);
    CHECK(strcmp(a.handle, b.handle) != 0);
    clock_ms = 5099;
    CHECK(lives(s, "", a.handle) && lives(s, "", b.handle));
    clock_ms = 5100; /* c was idle for too long */
    CHECK(!lives(s, "", c.handle));
    clock_ms = 5150; /* b's own end */
    CHECK(lives(s, "", a.handle) && !lives(s, "", b.handle));
    for (; clock_ms < 6000; clock_ms += 50)
        CHECK(lives(s, "", a.handle));
    CHECK(!lives(s, "", a.handle)); /* the end of all sessions, used or not */
    CHECK(count_listed(s, "", NULL, 0) == 0);
    free_sessions(s);
}

static void test_held(void)
{
    PtcSessions *s = sessions((PtcSessionsConfig){.idle_ms = 100});
    PtcSessionInfo a;
    PtcSessionEntry *held, *again;
    PtcText bytes;
    clock_ms = 0;
    CHECK(ptc_sessions_start(s, "ann", none, 0, &a) == PTC_STORE_OK);
    CHECK(ptc_sessions_hold(s, "bob", VIEW(a.handle), false, &held, &bytes) == PTC_STORE_ABSENT);
    CHECK(ptc_sessions_hold(s, "ann", VIEW(a.handle), false, &held, &bytes) == PTC_STORE_OK);
    CHECK(ptc_sessions_hold(s, "ann", VIEW(a.handle), false, &again, &bytes) == PTC_STORE_HELD);
    CHECK(ptc_sessions_close(s, "ann", VIEW(a.handle)) == PTC_STORE_HELD);
    clock_ms = 1000; /* its time is over, but it is held */
    CHECK(count_listed(s, "ann", &a, 1) == 1 && a.busy);
    ptc_sessions_let_go(s, held, &a);
    CHECK(!a.busy);
    CHECK(ptc_sessions_close(s, "bob", VIEW(a.handle)) == PTC_STORE_ABSENT);
    CHECK(ptc_sessions_close(s, "ann", VIEW(a.handle)) == PTC_STORE_OK);
    CHECK(ptc_sessions_close(s, "ann", VIEW(a.handle)) == PTC_STORE_ABSENT);
    free_sessions(s);
}

static void test_bounds(void)
{
    PtcSessions *s = sessions(
        (PtcSessionsConfig){.max = 3, .owner_share = 66, .bytes = 1000, .total_bytes = 2272});
    PtcSessionInfo a, b, c, list[2];
    clock_ms = 0;
    CHECK(ptc_sessions_start(s, "", none, 0, &a) == PTC_STORE_OK);
    clock_ms = 1;
    CHECK(ptc_sessions_start(s, "", none, 0, &b) == PTC_STORE_OK);
    CHECK(ptc_sessions_start(s, "", none, 0, &c) == PTC_STORE_FULL);
    CHECK(ptc_sessions_start(s, "x", none, 0, &c) == PTC_STORE_OK);
    CHECK(ptc_sessions_start(s, "y", none, 0, &c) == PTC_STORE_FULL);
    CHECK(change(s, a.handle, 1000) == PTC_STORE_OK && change(s, a.handle, 1001) == PTC_STORE_FULL);
    CHECK(change(s, b.handle, 501) == PTC_STORE_FULL && change(s, b.handle, 500) == PTC_STORE_OK);
    CHECK(count_listed(s, "", list, 2) == 2 && list[0].bytes + list[1].bytes == 1500);
    CHECK(count_listed(s, "x", list, 2) == 1 && list[0].bytes == 0);
    clock_ms = 2;
    CHECK(change(s, a.handle, 10) == PTC_STORE_OK && change(s, b.handle, 900) == PTC_STORE_OK);
    clock_ms = 3;
    CHECK(lives(s, "", a.handle));
    CHECK(count_listed(s, "", list, 1) == 2 && strcmp(list[0].handle, a.handle) == 0);
    CHECK(count_listed(s, "", list, 2) == 2 && list[1].bytes == 900 && list[1].evals == 3);
    free_sessions(s);
}

/* ---------------------------------------------------------------- two servers, one file */

static PtcSessionEntry *hold(PtcSessions *s, const char *handle, PtcText *bytes)
{
    PtcSessionEntry *held = NULL;
    CHECK(ptc_sessions_hold(s, "ann", VIEW(handle), false, &held, bytes) == PTC_STORE_OK);
    return held;
}

static PtcSessionChange to(const char *text)
{
    return (PtcSessionChange){.bytes = VIEW(text), .bindings = 1, .evaluated = true};
}

/* One holds it; who has lost the hold comes too late, and does it again to the newer state; what was closed stays
 * closed. */
static void test_two_servers(PtcSessions *a, PtcSessions *b)
{
    PtcSessionInfo info;
    PtcText old_a, old_b;
    clock_ms = 0;
    CHECK(ptc_sessions_start(a, "ann", none, 0, &info) == PTC_STORE_OK);
    PtcSessionEntry *in_a = hold(a, info.handle, &old_a), *in_b;
    CHECK(ptc_sessions_hold(b, "ann", VIEW(info.handle), true, &in_b, &old_b) == PTC_STORE_HELD);
    clock_ms = 6000;
    in_b = hold(b, info.handle, &old_b);
    PtcSessionChange one = to("one"), two = to("two");
    CHECK(ptc_sessions_change(b, in_b, &one) == PTC_STORE_OK);
    CHECK(ptc_sessions_change(a, in_a, &two) == PTC_STORE_CONFLICT);
    CHECK(ptc_sessions_renew(a, in_a, &old_a) == PTC_STORE_OK && ptc_text_is(old_a, "one"));
    CHECK(ptc_sessions_change(a, in_a, &two) == PTC_STORE_OK);
    ptc_sessions_let_go(b, in_b, NULL);
    ptc_sessions_let_go(a, in_a, &info);
    CHECK(info.evals == 2 && info.bytes == 3);
    in_a = hold(a, info.handle, &old_a);
    CHECK(ptc_text_is(old_a, "two"));
    CHECK(ptc_sessions_close(b, "ann", VIEW(info.handle)) == PTC_STORE_OK);
    CHECK(ptc_sessions_change(a, in_a, &one) == PTC_STORE_ABSENT);
    CHECK(ptc_sessions_renew(a, in_a, &old_a) == PTC_STORE_ABSENT);
    ptc_sessions_let_go(a, in_a, NULL);
    CHECK(count_listed(a, "ann", NULL, 0) == 0 && count_listed(b, "ann", NULL, 0) == 0);
}

/* A session that another server works on does not end because nobody used it. */
static void test_lease(PtcSessions *a, PtcSessions *b)
{
    PtcSessionInfo info, seen;
    PtcText bytes;
    PtcSessionChange one = to("one");
    clock_ms = 0;
    CHECK(ptc_sessions_start(a, "ann", none, 5000, &info) == PTC_STORE_OK);
    clock_ms = 90;
    PtcSessionEntry *held = hold(a, info.handle, &bytes);
    clock_ms = 1000; /* idle_ms is 100, lease_ms 2000 */
    CHECK(count_listed(b, "ann", &seen, 1) == 1 && seen.used_ms <= 1000);
    CHECK(ptc_sessions_change(a, held, &one) == PTC_STORE_OK);
    ptc_sessions_let_go(a, held, NULL);
    clock_ms = 1099;
    CHECK(lives(b, "ann", info.handle));
    clock_ms = 1200;
    CHECK(count_listed(b, "ann", NULL, 0) == 0);
    CHECK(!lives(a, "ann", info.handle));
    /* its own end counts everywhere; what ran meanwhile is not told that something went wrong */
    CHECK(ptc_sessions_start(a, "ann", none, 50, &info) == PTC_STORE_OK);
    held = hold(a, info.handle, &bytes);
    clock_ms = 1300;
    CHECK(count_listed(b, "ann", NULL, 0) == 0);
    CHECK(ptc_sessions_change(a, held, &one) == PTC_STORE_OK);
    ptc_sessions_let_go(a, held, NULL);
    CHECK(!lives(a, "ann", info.handle));
    /* a server that died in the middle holds it up for no longer than a program can take */
    CHECK(ptc_sessions_start(a, "ann", none, 50000, &info) == PTC_STORE_OK);
    held = hold(a, info.handle, &bytes);
    clock_ms = 1300 + 2000;
    CHECK(count_listed(b, "ann", NULL, 0) == 0);
    ptc_sessions_let_go(a, held, NULL);
}

static void test_shared(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", ".key"};
    char directory[] = "/tmp/ptc-stores-XXXXXX", path[100], place[120];
    CHECK(mkdtemp(directory) != NULL);
    snprintf(place, sizeof place, "sqlite:%s/s.db", directory);
    PtcStore *one = open_store(place), *two = open_store(place);
    PtcSessionsConfig config = {.idle_ms = 100, .lease_ms = 2000}, usual = {0};
    PtcSessions *a = sessions_in(usual, one), *b = sessions_in(usual, two);
    test_two_servers(a, b);
    ptc_sessions_free(a);
    ptc_sessions_free(b);
    a = sessions_in(config, one);
    b = sessions_in(config, two);
    test_lease(a, b);
    free_sessions(a);
    free_sessions(b);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s/s.db%s", directory, ends[i]);
        unlink(path);
    }
    CHECK(rmdir(directory) == 0);
}

static void test_results(void)
{
    PtcResults results = {open_store(NULL), &mem, {.owner_count = 3, .owner_bytes = 133}},
               *r = &results;
    char handles[5][PTC_RESULT_HANDLE];
    PtcBuf out;
    PtcResultPage page;
    ptc_buf_init(&out, &mem, 1000);
    PtcText parts[PTC_RESULT_PARTS] = {VIEW("a\xc3\xa4"
                                            "b"),
                                       {NULL, 0},
                                       VIEW("p")};
    for (int i = 0; i < 4; i++)
        CHECK(ptc_results_keep(r, "ann", parts, handles[i]));
    CHECK(ptc_results_page(r, "ann", VIEW(handles[0]), 0, 0, 10, &out, &page) ==
          PTC_RESULTS_UNKNOWN);
    CHECK(ptc_results_page(r, "bob", VIEW(handles[3]), 0, 0, 10, &out, &page) ==
          PTC_RESULTS_UNKNOWN);
    CHECK(ptc_results_page(r, "ann", VIEW(handles[3]), PTC_RESULT_JSON, 0, 10, &out, &page) ==
          PTC_RESULTS_ABSENT);
    CHECK(ptc_results_page(r, "ann", VIEW(handles[3]), 0, 4, 10, &out, &page) ==
          PTC_RESULTS_BEYOND);
    CHECK(ptc_results_page(r, "ann", VIEW(handles[3]), 0, 0, 10, &out, &page) == PTC_RESULTS_OK);
    CHECK_STR(ptc_buf_text(&out), "a\xc3\xa4"
                                  "b");
    CHECK(page.next == 4 && page.total == 4);
    ptc_buf_clear(&out); /* in the middle of a character */
    CHECK(ptc_results_page(r, "ann", VIEW(handles[3]), 0, 2, 10, &out, &page) == PTC_RESULTS_OK);
    CHECK(page.offset == 1 && out.len == 3);
    char large[101] = {0};
    memset(large, 'x', 100);
    CHECK(!ptc_results_keep(r, "ann", (PtcText[]){VIEW(large), VIEW("y"), none}, handles[4]));
    CHECK(ptc_results_keep(r, "ann", (PtcText[]){VIEW(large), none, none}, handles[4]));
    CHECK(ptc_results_page(r, "ann", VIEW(handles[3]), 0, 0, 10, &out, &page) ==
          PTC_RESULTS_UNKNOWN);
    ptc_buf_deinit(&out);
    ptc_store_free(results.store);
}

static bool is_kept(PtcResults *r, const char *owner, const char *handle)
{
    PtcBuf out;
    PtcResultPage page;
    ptc_buf_init(&out, &mem, 1000);
    bool kept = ptc_results_page(r, owner, VIEW(handle), 0, 0, 10, &out, &page) == PTC_RESULTS_OK;
    ptc_buf_deinit(&out);
    return kept;
}

/* Whoever keeps many results pushes out his own. */
static void test_results_of_owners(void)
{
    PtcResults results = {open_store(NULL),
                          &mem,
                          {.count = 8, .owner_count = 3, .bytes = 1500, .owner_bytes = 1000}},
               *r = &results;
    char bob[PTC_RESULT_HANDLE], ann[10][PTC_RESULT_HANDLE];
    PtcText small[PTC_RESULT_PARTS] = {VIEW("x")};
    CHECK(ptc_results_keep(r, "bob", small, bob));
    for (int i = 0; i < 10; i++)
        CHECK(ptc_results_keep(r, "ann", small, ann[i]));
    CHECK(is_kept(r, "bob", bob) && !is_kept(r, "ann", ann[6]) && is_kept(r, "ann", ann[7]));
    static char block[600];
    memset(block, 'x', sizeof block);
    PtcText large[PTC_RESULT_PARTS] = {{block, sizeof block}};
    for (int i = 0; i < 3; i++)
        CHECK(ptc_results_keep(r, "ann", large, ann[i]));
    CHECK(is_kept(r, "bob", bob) && is_kept(r, "ann", ann[2]) && !is_kept(r, "ann", ann[1]));
    CHECK(ptc_results_keep(r, "cay", large, ann[3]) && is_kept(r, "ann", ann[2]));
    CHECK(ptc_results_keep(r, "dan", large, ann[4]) && !is_kept(r, "ann", ann[2]));
    CHECK(is_kept(r, "bob", bob) && is_kept(r, "cay", ann[3]) && is_kept(r, "dan", ann[4]));
    ptc_store_free(results.store);
}

enum { KEEPERS = 8, KEEPS = 40 };
static atomic_int not_kept;

static void *keep_many(void *user)
{
    static const PtcText parts[PTC_RESULT_PARTS] = {{"0123456789", 10}};
    char owner[20], handle[PTC_RESULT_HANDLE];
    for (int i = 0; i < KEEPS; i++) {
        snprintf(owner, sizeof owner, "o%d", rand() % 30);
        atomic_fetch_add(&not_kept, !ptc_results_keep(user, owner, parts, handle));
    }
    return NULL;
}

/* Room that was made for one may be taken by another, so one may hardly ever be left without. */
static void test_results_at_once(void)
{
    PtcResults results = {
        open_store(NULL), &mem, {.count = 20, .owner_count = 3, .bytes = 500, .owner_bytes = 200}};
    pthread_t threads[KEEPERS];
    for (int i = 0; i < KEEPERS; i++)
        CHECK(pthread_create(&threads[i], NULL, keep_many, &results) == 0);
    for (int i = 0; i < KEEPERS; i++)
        pthread_join(threads[i], NULL);
    CHECK(atomic_load(&not_kept) <= KEEPERS);
    ptc_store_free(results.store);
}

static void add_waiting_run(PtcStore *store, const char *owner, int nth, PtcRowState state)
{
    PtcSuspendedRow *row = ptc_suspended_row_new(&mem, VIEW(owner));
    CHECK(row != NULL);
    row->state = state;
    snprintf((char *)row->id, sizeof row->id, "%d", nth);
    row->ends_ms = row->expires_ms = clock_ms + 1000;
    row->run = row->program = VIEW("x");
    ptc_buf_add_cstr(&row->asked, "may it?");
    CHECK(ptc_suspended_row_write(store, &mem, row) == PTC_STORE_OK);
    ptc_suspended_row_free(&mem, row);
}

/* Runs that were answered do not hide one that waits. */
static void test_desk(void)
{
    PtcStore *store = open_store(NULL);
    char owner[20];
    PtcBuf out;
    for (int i = 0; i < 1100; i++) {
        snprintf(owner, sizeof owner, "a%d", i / 100);
        add_waiting_run(store, owner, i, PTC_ROW_ANSWERED);
    }
    add_waiting_run(store, "zoe", 0, PTC_ROW_WAITING);
    ptc_buf_init(&out, &mem, PTC_MB);
    CHECK(ptc_suspended_list(store, &mem, &out));
    CHECK(strstr(ptc_buf_text(&out), "zoe") && !strstr(ptc_buf_text(&out), "a1"));
    ptc_buf_deinit(&out);
    ptc_store_free(store);
}

static const char *get(PtcRecorder *r, const char *owner, const char *id)
{
    static char text[4096];
    PtcBuf out;
    ptc_buf_init(&out, &mem, 1 << 20);
    bool found = ptc_recorder_get(r, owner, VIEW(id), &out);
    snprintf(text, sizeof text, "%.*s", found ? (int)out.len : 0, found ? out.data : "");
    ptc_buf_deinit(&out);
    return text;
}

static void test_records(void)
{
    PtcWhy why;
    PtcSecrets secrets;
    ptc_secrets_init(&secrets, &mem, PTC_SECRET_MIN);
    CHECK(ptc_secrets_add(&secrets, "", 0) && ptc_secrets_add(&secrets, "topsecret", 9));
    for (int policy = PTC_PAYLOADS_NONE; policy <= PTC_PAYLOADS_FULL; policy++) {
        PtcRecorder *r = ptc_recorder_new(
            &(PtcRecorderConfig){.ring = 4, .payloads = (PtcPayloads)policy, .secrets = &secrets},
            &why);
        PtcCallNote note = {.tool = "lisp_eval",
                            .owner = "ann",
                            .ok = false,
                            .reason = "fail",
                            .program = VIEW("(str \"topsecret\")"),
                            .message = VIEW("has topsecret too")};
        for (int i = 0; i < 6; i++) {
            note.ok = i % 2 == 0;
            ptc_recorder_note(r, &note);
        }
        CHECK_STR(get(r, "ann", "c2"), "");
        CHECK_STR(get(r, "bob", "c6"), "");
        const char *text = get(r, "ann", "c6");
        CHECK(strstr(text, "\"program\":{\"bytes\":17") && strstr(text, "\"reason\":\"fail\""));
        CHECK(!strstr(text, "topsecret") &&
              (strstr(text, "[secret]") != NULL) == (policy == PTC_PAYLOADS_FULL));
        CHECK((strstr(text, "sha256") != NULL) == (policy != PTC_PAYLOADS_NONE));
        PtcBuf out;
        ptc_buf_init(&out, &mem, 1 << 20);
        ptc_recorder_stats(r, "ann", PTC_TEXT(""), &out);
        CHECK(strstr(ptc_buf_text(&out), "\"lisp_eval\":{\"calls\":4,\"ok\":2,\"error\":2"));
        ptc_buf_clear(&out);
        ptc_recorder_stats(r, "bob", PTC_TEXT(""), &out);
        CHECK(strstr(ptc_buf_text(&out), "\"calls\":0,"));
        ptc_buf_clear(&out);
        ptc_recorder_recent(r, "ann", &(PtcRecent){.limit = 1, .errors_only = true}, &out);
        CHECK(strstr(ptc_buf_text(&out), "\"c6\"") && strstr(ptc_buf_text(&out), "\"count\":1"));
        ptc_buf_deinit(&out);
        ptc_recorder_free(r);
    }
    ptc_secrets_deinit(&secrets);
}

/* What tools were given and gave, without secrets, also where a preview was cut in the middle of one. */
static void test_recorded_calls(void)
{
    PtcWhy why;
    PtcSecrets secrets;
    ptc_secrets_init(&secrets, &mem, PTC_SECRET_MIN);
    CHECK(ptc_secrets_add(&secrets, "topsecret", 9));
    PtcRecorder *r = ptc_recorder_new(
        &(PtcRecorderConfig){.ring = 4, .payloads = PTC_PAYLOADS_FULL, .secrets = &secrets}, &why);
    PtcCallNote note = {.tool = "lisp_eval", .owner = "ann", .ok = true, .tool_calls = 2};
    note.calls =
        VIEW("[{\"name\":\"a\",\"ok\":true,\"cached\":true,\"duration_us\":7,\"arguments\":"
             "\"{:k \\\"topsecret\\\"}\",\"result\":\"it is topse...\"},{},7]");
    ptc_recorder_note(r, &note);
    const char *text = get(r, "ann", "c1");
    CHECK(strstr(text, "\"tool_calls\":2,\"calls\":[{\"name\":\"a\",\"ok\":true,\"cached\":true,"
                       "\"duration_us\":7,\"arguments\":{\"bytes\":16,"));
    CHECK(strstr(text, "\"text\":\"{:k \\\"[secret]\\\"}\"") &&
          strstr(text, "\"text\":\"it is [secret]\""));
    CHECK(!strstr(text, "topse"));
    note.calls = VIEW("{\"not\":\"a list\"}");
    ptc_recorder_note(r, &note);
    CHECK(!strstr(get(r, "ann", "c2"), "\"calls\""));
    ptc_recorder_free(r);
    ptc_secrets_deinit(&secrets);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    test_times();
    test_held();
    test_bounds();
    test_shared();
    test_results();
    test_results_of_owners();
    test_results_at_once();
    test_desk();
    test_records();
    test_recorded_calls();
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("mcp_stores");
}
