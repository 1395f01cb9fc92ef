/* SPDX-License-Identifier: MIT
 * Runs that wait for a person between two calls of a client, in one process and in two with one store: who goes on,
 * what the same answer gets again, how they end; with memory that runs out at every allocation, and records of any
 * bytes. */
#define _GNU_SOURCE
#include "check.h"

#include <unistd.h>

#include "base/utf8.h"
#include "mcp/app/suspended.h"

static PtcMem mem;

/* ------------------------------------------------------------------------------------- the runs */

/* A run is a number; `writes`: it can be written. */
typedef struct {
    PtcRemote base; /* first */
    bool writes;
    int begun, ended;
} Runs;

static Runs *counted; /* end() is not told whose run it is */

static void end_run(void *run, PtcBuf *call_log)
{
    (void)run;
    (void)call_log;
    counted->ended++;
}

static bool save_run(void *run, PtcBuf *out)
{
    return counted->writes && ptc_buf_add(out, run, 4);
}

static char one_run[] = "run1";

static void *restore_run(PtcRemote *self, const char *owner, PtcText bytes)
{
    (void)self;
    (void)owner;
    CHECK(ptc_text_is(bytes, one_run));
    counted->begun++;
    return one_run;
}

static void init_runs(Runs *runs, bool writes)
{
    *runs = (Runs){.base = {.end = end_run, .save = save_run, .restore = restore_run},
                   .writes = writes};
    counted = runs;
}

/* ----------------------------------------------------------------------------------- one table */

static PtcSuspendedRow *add(PtcSuspended *t, const char *owner)
{
    PtcTaskIn in = {.program = PTC_TEXT("(a)"), .context = PTC_TEXT("{}"), .now_ms = 7};
    PtcSuspendedNew new = {.owner = owner, .in = &in, .session = PTC_TEXT("s-1")};
    return ptc_suspended_add(t, &new);
}

/* A run that waits; ttl -1: its time is over. */
static bool park(PtcSuspended *t, const char *owner, int64_t ttl, PtcBuf *token)
{
    PtcSuspendedRow *row = add(t, owner);
    if (!row)
        return false;
    row->here.run = one_run;
    counted->begun++;
    CHECK(ptc_suspended_set_end(t, row, true));
    row->ends_ms = ptc_clock_wall_ms() + ttl;
    ptc_buf_clear(token);
    ptc_suspended_put_token(row, PTC_TEXT("[effects]"), token);
    return ptc_suspended_wait(t, row);
}

static PtcSuspendedFound take(PtcSuspended *t, const char *owner, const PtcBuf *token,
                              const char *reply, PtcSuspendedRow **row)
{
    PtcSuspendedToken said;
    uint8_t print[PTC_SHA256_BYTES];
    ptc_sha256(reply, strlen(reply), print);
    CHECK(ptc_suspended_get_token(ptc_buf_view(token), &said));
    return ptc_suspended_take(t, owner, &said, print, false, row);
}

/* Whoever took it has the run, restored if it was written. */
static void go_on(PtcSuspendedRow *row)
{
    if (!row->here.run)
        row->here.run = restore_run(NULL, "", row->run);
}

static void answer(PtcSuspended *t, PtcSuspendedRow *row, const char *text)
{
    counted->base.end(row->here.run, NULL);
    row->here.run = NULL;
    row->has_out = true;
    ptc_task_out_init(&row->out, &mem, 1 << 20);
    row->out.ok = true;
    ptc_buf_add_cstr(&row->out.text, text);
    ptc_buf_add_cstr(&row->out.took, "{\"run_again\":\"safe\"}");
    snprintf(row->info.handle, sizeof row->info.handle, "s-1");
    row->info.evals = 3;
    ptc_suspended_answered(t, row);
}

static void test_suspended(bool writes)
{
    Runs runs;
    PtcWhy why;
    PtcSuspendedRow *row, *same;
    PtcSuspendedToken said;
    PtcBuf token;
    PtcStore *store = ptc_store_open(&(PtcStoreConfig){.url = NULL}, &why);
    init_runs(&runs, writes);
    PtcSuspended *t = ptc_suspended_new(&mem, &runs.base, store, 1000);
    ptc_buf_init(&token, &mem, PTC_SUSPENDED_TOKEN);
    CHECK(park(t, "ann", 60000, &token));
    CHECK(take(t, "bob", &token, "yes", &row) == PTC_SUSPENDED_GONE);
    CHECK(take(t, "ann", &token, "yes", &row) == PTC_SUSPENDED_TAKEN);
    CHECK(ptc_text_is(row->program, "(a)") && ptc_text_is(row->context, "{}"));
    CHECK(ptc_text_is(row->session, "s-1") && row->now_ms == 7 && !row->signature.bytes);
    CHECK(take(t, "ann", &token, "yes", &same) == PTC_SUSPENDED_BUSY);
    CHECK(take(t, "ann", &token, "no", &same) == PTC_SUSPENDED_USED);
    go_on(row);
    row->round++; /* another question */
    CHECK(ptc_suspended_wait(t, row));
    CHECK(take(t, "ann", &token, "no", &same) == PTC_SUSPENDED_USED);
    CHECK(take(t, "ann", &token, "yes", &row) == PTC_SUSPENDED_SAME && row->state == PTC_ROW_TAKEN);
    row->round++; /* and one more within the same call: the first token still gets what came of it */
    CHECK(ptc_suspended_wait(t, row)); /* left as it was */
    CHECK(take(t, "ann", &token, "yes", &row) == PTC_SUSPENDED_SAME && row->state == PTC_ROW_TAKEN);
    go_on(row);
    answer(t, row, "42");
    for (int i = 0; i < 2; i++) {
        CHECK(take(t, "ann", &token, "yes", &row) == PTC_SUSPENDED_SAME);
        CHECK(row->state == PTC_ROW_ANSWERED && row->has_out && row->out.ok);
        CHECK_STR(ptc_buf_text(&row->out.text), "42");
        CHECK_STR(ptc_buf_text(&row->out.took), "{\"run_again\":\"safe\"}");
        CHECK_STR(row->info.handle, "s-1");
        CHECK(row->info.evals == 3);
        ptc_suspended_drop(t, row);
    }
    CHECK(take(t, "ann", &token, "no", &same) == PTC_SUSPENDED_USED);
    CHECK(!ptc_suspended_get_token(PTC_TEXT("short"), &said));
    CHECK(park(t, "ann", -1, &token));
    CHECK(take(t, "ann", &token, "yes", &row) == PTC_SUSPENDED_GONE);
    CHECK(take(t, "ann", &token, "yes", &row) == PTC_SUSPENDED_GONE);
    CHECK(runs.ended == runs.begun);
    ptc_suspended_free(t);
    ptc_store_free(store);
    ptc_buf_deinit(&token);
}

/* So many wait for one owner; old answers make room. */
static void test_room(void)
{
    Runs runs;
    PtcWhy why;
    PtcBuf token;
    PtcSuspendedRow *row;
    PtcStore *store = ptc_store_open(&(PtcStoreConfig){.url = NULL}, &why);
    init_runs(&runs, false);
    PtcSuspended *t = ptc_suspended_new(&mem, &runs.base, store, 1000);
    ptc_buf_init(&token, &mem, PTC_SUSPENDED_TOKEN);
    for (int i = 0; i < 200; i++) {
        CHECK(park(t, "ann", 60000, &token));
        CHECK(take(t, "ann", &token, "yes", &row) == PTC_SUSPENDED_TAKEN);
        answer(t, row, "1");
    }
    for (int i = 0; i < PTC_SUSPENDED_OF_OWNER; i++)
        CHECK(park(t, "ann", 60000, &token));
    CHECK(!park(t, "ann", 60000, &token) && park(t, "bob", 60000, &token));
    ptc_suspended_free(t);
    CHECK(runs.ended == runs.begun);
    ptc_store_free(store);
    ptc_buf_deinit(&token);
}

/* ---------------------------------------------------------------------------- two processes */

/* One of the two, with the store as it sees it. */
typedef struct {
    PtcStore *store;
    PtcSuspended *table;
} Node;

static bool start_node(Node *node, const char *url, Runs *runs)
{
    PtcWhy why;
    node->store = ptc_store_open(&(PtcStoreConfig){.url = url}, &why);
    node->table = node->store ? ptc_suspended_new(&mem, &runs->base, node->store, 60000) : NULL;
    if (!node->table)
        printf("skipped: %s\n", why.text);
    return node->table != NULL;
}

static void stop_node(Node *node)
{
    ptc_suspended_free(node->table);
    ptc_store_free(node->store);
}

/* What is written is gone on with anywhere, once; what is not stays where it is, and ends with its process. */
static void use_two(Node *a, Node *b, const char *url, Runs *runs, PtcBuf *token)
{
    PtcSuspendedRow *row, *other;
    CHECK(park(a->table, "ann", 60000, token) && runs->ended == 1);
    stop_node(a);
    CHECK(start_node(a, url, runs));
    CHECK(take(b->table, "ann", token, "yes", &row) == PTC_SUSPENDED_TAKEN);
    CHECK(take(a->table, "ann", token, "yes", &other) == PTC_SUSPENDED_BUSY);
    CHECK(take(a->table, "ann", token, "no", &other) == PTC_SUSPENDED_USED);
    go_on(row);
    answer(b->table, row, "42");
    CHECK(take(a->table, "ann", token, "yes", &other) == PTC_SUSPENDED_SAME);
    CHECK_STR(ptc_buf_text(&other->out.text), "42");
    ptc_suspended_drop(a->table, other);
    CHECK(runs->ended == runs->begun);
    runs->writes = false;
    CHECK(park(a->table, "ann", 60000, token));
    CHECK(take(b->table, "ann", token, "yes", &other) == PTC_SUSPENDED_ELSEWHERE);
    CHECK(take(a->table, "ann", token, "yes", &row) == PTC_SUSPENDED_TAKEN && row->here.run);
    CHECK(ptc_suspended_wait(a->table, row));
    stop_node(a);
    CHECK(runs->ended == runs->begun);
    CHECK(take(b->table, "ann", token, "yes", &other) == PTC_SUSPENDED_ELSEWHERE);
}

static void test_two(void)
{
    Runs runs;
    Node a, b;
    PtcBuf token;
    char dir[] = "/tmp/ptc-suspended-XXXXXX", url[100], command[100];
    CHECK(mkdtemp(dir) != NULL);
    snprintf(url, sizeof url, "sqlite:%s/store", dir);
    init_runs(&runs, true);
    ptc_buf_init(&token, &mem, PTC_SUSPENDED_TOKEN);
    if (start_node(&a, url, &runs) && start_node(&b, url, &runs)) {
        use_two(&a, &b, url, &runs, &token);
        stop_node(&b);
    }
    ptc_buf_deinit(&token);
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    CHECK(system(command) == 0);
}

/* ------------------------------------------------------------------------------------- tokens */

/* What took effect is told by the token when the run is gone, so it is text even where it was cut. */
static void test_long_effects(void)
{
    static char effects[1002] = "x"; /* letters of two bytes behind it, and a NUL */
    PtcSuspendedRow row = {.round = 1};
    PtcSuspendedToken said;
    PtcBuf token;
    for (size_t i = 1; i + 2 < sizeof effects; i += 2)
        memcpy(effects + i, "\xc3\xa9", 2);
    ptc_buf_init(&row.message, &mem, 4096);
    ptc_buf_init(&token, &mem, PTC_SUSPENDED_TOKEN);
    ptc_suspended_put_token(&row, ptc_text_cstr(effects), &token);
    CHECK(ptc_suspended_get_token(ptc_buf_view(&token), &said) && said.effects.len > 500);
    CHECK(ptc_utf8_valid(said.effects.bytes, said.effects.len));
    ptc_buf_deinit(&row.message);
    ptc_buf_deinit(&token);
}

/* However many questions a run has, it ends; and an old token says what a later question knew. */
static void test_ends(void)
{
    Runs runs;
    PtcWhy why;
    PtcSuspendedToken said;
    PtcSuspendedRow *row;
    PtcBuf token, later;
    uint8_t print[PTC_SHA256_BYTES] = {0};
    PtcStore *store = ptc_store_open(&(PtcStoreConfig){.url = NULL}, &why);
    init_runs(&runs, false);
    PtcSuspended *t = ptc_suspended_new(&mem, &runs.base, store, 60000);
    ptc_buf_init(&token, &mem, PTC_SUSPENDED_TOKEN);
    ptc_buf_init(&later, &mem, PTC_SUSPENDED_TOKEN);
    CHECK(park(t, "ann", 60000, &token));
    CHECK(take(t, "ann", &token, "yes", &row) == PTC_SUSPENDED_TAKEN);
    int64_t end = row->ends_ms;
    CHECK(ptc_suspended_set_end(t, row, false) && row->ends_ms == end); /* the same question */
    row->first_ms -= (PTC_SUSPENDED_TIMES - 1) * t->ttl_ms + 30000;
    CHECK(ptc_suspended_set_end(t, row, true));
    CHECK(row->ends_ms < end && row->ends_ms > end - 60000);
    row->first_ms -= 60000;
    CHECK(!ptc_suspended_set_end(t, row, true));
    row->round++;
    ptc_suspended_put_token(row, PTC_TEXT("[later]"), &later);
    row->ends_ms = ptc_clock_wall_ms() - 1;
    CHECK(ptc_suspended_wait(t, row));
    CHECK(ptc_suspended_get_token(ptc_buf_view(&token), &said));
    CHECK(ptc_suspended_take(t, "ann", &said, print, true, &row) == PTC_SUSPENDED_GONE);
    CHECK(ptc_text_is(said.effects, "[later]") && ptc_suspended_is_late(t, &said));
    CHECK(runs.ended == 1);
    ptc_suspended_free(t);
    CHECK(runs.ended == 1);
    ptc_store_free(store);
    ptc_buf_deinit(&token);
    ptc_buf_deinit(&later);
}

/* ------------------------------------------------------------------------------------ bad luck */

/* Whichever allocation fails, a run is added whole or not at all, taken whole or not at all, and ended once. */
static void test_no_memory(bool writes)
{
    bool reached = true;
    for (uint64_t n = 1; reached && n < 100; n++) {
        Runs runs;
        PtcWhy why;
        PtcSuspendedRow *row = NULL;
        PtcBuf token;
        PtcStore *store = ptc_store_open(&(PtcStoreConfig){.url = NULL}, &why);
        init_runs(&runs, writes);
        ptc_buf_init(&token, &mem, PTC_SUSPENDED_TOKEN);
        ptc_mem_fail_at(&mem, n);
        PtcSuspended *t = ptc_suspended_new(&mem, &runs.base, store, 60000);
        bool parked = t && park(t, "ann", 60000, &token) && ptc_buf_ok(&token);
        if (parked && take(t, "ann", &token, "yes", &row) == PTC_SUSPENDED_TAKEN) {
            go_on(row);
            answer(t, row, "42");
        }
        reached = atomic_load(&mem.count) >= n;
        ptc_mem_fail_at(&mem, 0);
        CHECK(parked || reached);
        CHECK(!t || (pthread_mutex_trylock(&t->lock) == 0 && pthread_mutex_unlock(&t->lock) == 0));
        ptc_suspended_free(t);
        CHECK(runs.ended == runs.begun);
        ptc_store_free(store);
        ptc_buf_deinit(&token);
    }
    CHECK(!reached);
}

static bool unpack(PtcSuspended *t, const char *bytes, size_t len)
{
    PtcSuspendedRow *row = add(t, "ann");
    ptc_buf_clear(&row->bytes);
    ptc_buf_add(&row->bytes, bytes, len);
    bool ok = ptc_suspended_unpack(row, ptc_buf_view(&row->bytes));
    ptc_suspended_drop(t, row);
    return ok;
}

static void test_any_bytes(void)
{
    Runs runs;
    PtcWhy why;
    PtcBuf packed;
    PtcStore *store = ptc_store_open(&(PtcStoreConfig){.url = NULL}, &why);
    init_runs(&runs, true);
    PtcSuspended *t = ptc_suspended_new(&mem, &runs.base, store, 60000);
    PtcSuspendedRow *row = add(t, "ann");
    ptc_buf_init(&packed, &mem, PTC_SUSPENDED_BYTES);
    row->state = PTC_ROW_ANSWERED;
    row->has_out = true;
    ptc_task_out_init(&row->out, &mem, 1 << 20);
    ptc_buf_add_cstr(&row->out.text, "42");
    ptc_buf_add_cstr(&row->told, "{}");
    ptc_suspended_pack(row, &packed);
    CHECK(unpack(t, packed.data, packed.len));
    for (size_t n = 0; n < packed.len; n++) {
        CHECK(!unpack(t, packed.data, n));
        packed.data[n] = (char)(packed.data[n] ^ (1 << n % 8));
        (void)unpack(t, packed.data, packed.len);
        packed.data[n] = (char)(packed.data[n] ^ (1 << n % 8));
    }
    ptc_suspended_drop(t, row);
    ptc_suspended_free(t);
    ptc_store_free(store);
    ptc_buf_deinit(&packed);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    test_suspended(true);
    test_suspended(false);
    test_room();
    test_two();
    test_long_effects();
    test_ends();
    test_no_memory(true);
    test_no_memory(false);
    test_any_bytes();
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("mcp_suspended");
}
