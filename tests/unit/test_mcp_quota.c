/* SPDX-License-Identifier: MIT
 * Calls of an owner at once and in a minute: of one server, of three with one store, of those whose store fails; what
 * others write into the bucket. */
#define _GNU_SOURCE
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "mcp/app/quotas.h"
#include "sqlite/sqlite_library.h"

enum { NODES = 3, CALLS = 30, RATE = 600 };

static char path[80], url[100];

typedef struct {
    PtcStore *store;
    PtcMcpQuotas *quotas;
    const PtcMcpQuota *q;
} Node;

static void remove_files(void)
{
    char command[200];
    snprintf(command, sizeof command, "rm -f %s*", path);
    CHECK(system(command) == 0);
}

static void open_node(Node *n, const char *where, int64_t calls, int64_t rate)
{
    PtcWhy why;
    n->store = ptc_store_open(&(PtcStoreConfig){.url = where}, &why);
    n->quotas = n->store ? ptc_mcp_quotas_new(n->store, calls, rate) : NULL;
    CHECK(n->quotas != NULL);
    n->q = ptc_mcp_quotas_of(n->quotas);
}

static void close_node(Node *n)
{
    ptc_mcp_quotas_free(n->quotas);
    ptc_store_free(n->store);
}

static void open_nodes(Node nodes[NODES], int64_t calls, int64_t rate)
{
    remove_files();
    for (int i = 0; i < NODES; i++)
        open_node(&nodes[i], url, calls, rate);
}

static bool begins(Node *n, const char *owner)
{
    int64_t ms = -1;
    const char *why = n->q->begin(n->q->user, owner, &ms);
    CHECK(!why || (ms > 0 && ms <= 60 * 1000));
    return !why;
}

static void ends(Node *n, const char *owner)
{
    n->q->end(n->q->user, owner);
}

/* Tries until it is so, for things that a thread does a moment later. */
static bool comes(Node *n, const char *owner)
{
    for (int i = 0; i < 1000; i++) {
        if (begins(n, owner))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10 * PTC_MS}, NULL);
    }
    return false;
}

static void test_alone(void)
{
    Node n;
    open_node(&n, "memory:", 2, 0);
    CHECK(begins(&n, "ann") && begins(&n, "ann") && !begins(&n, "ann"));
    CHECK(begins(&n, "bob") && begins(&n, ""));
    ends(&n, "ann");
    CHECK(begins(&n, "ann") && !begins(&n, "ann"));
    close_node(&n);
    open_node(&n, "memory:", 0, 5);
    for (int i = 0; i < 5; i++)
        CHECK(begins(&n, "ann"));
    CHECK(!begins(&n, "ann") && begins(&n, "bob"));
    close_node(&n);
}

/* However they are spread, there are never more than was said, and all of it can be had. */
static void test_at_once(void)
{
    Node nodes[NODES];
    int begun = 0, of[NODES] = {0};
    open_nodes(nodes, CALLS, 0);
    for (int i = 0; i < 2 * CALLS; i++) {
        bool may = begins(&nodes[i % NODES], "ann");
        begun += may;
        of[i % NODES] += may;
    }
    CHECK(begun == CALLS);
    CHECK(begins(&nodes[0], "bob"));
    while (of[1]-- > 0)
        ends(&nodes[1], "ann");
    CHECK(comes(&nodes[2], "ann"));
    for (int i = 0; i < CALLS; i++)
        (void)begins(&nodes[2], "ann");
    CHECK(!begins(&nodes[2], "ann"));
    for (int i = 0; i < NODES; i++)
        close_node(&nodes[i]);
}

static void test_rate(void)
{
    Node nodes[NODES];
    int begun = 0, refused = 0;
    open_nodes(nodes, 0, RATE);
    int64_t from = ptc_clock_ns(NULL);
    for (int i = 0; refused < 2 * NODES && i < 10 * RATE; i++) {
        bool may = begins(&nodes[i % NODES], "ann");
        begun += may;
        refused += !may;
    }
    int64_t fair = RATE + RATE * (ptc_clock_ns(NULL) - from) / PTC_S / 60;
    printf("rate: %d of %d begun on %d servers\n", begun, (int)fair, NODES);
    CHECK(begun >= fair * 9 / 10 && begun <= fair * 11 / 10);
    CHECK(begins(&nodes[0], "bob"));
    for (int i = 0; i < NODES; i++)
        close_node(&nodes[i]);
}

/* What is in the bucket that no server writes: a text, a time that never comes. */
static void test_forged_bucket(void)
{
    static const char *const forged[] = {
        "", "x", "-5", "99999999999999999999", "9000000000000000000", "0"};
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        Node n;
        uint64_t version;
        remove_files();
        open_node(&n, url, 0, 2);
        const PtcStoreKey key = {"rate", PTC_TEXT("ann"), PTC_TEXT("ann")};
        const PtcStorePut put = {.used_ms = ptc_store_now(n.store),
                                 .expires_ms = PTC_STORE_NEVER,
                                 .bytes = ptc_text_cstr(forged[i])};
        CHECK(ptc_store_put(n.store, &key, &put, &version) == PTC_STORE_OK);
        CHECK(begins(&n, "ann") && begins(&n, "ann") && !begins(&n, "ann"));
        close_node(&n);
    }
}

static void break_store(void)
{
    sqlite3 *db;
    PtcWhy why;
    PtcSqlite lib;
    CHECK(ptc_sqlite_load(&lib, &why) != NULL);
    CHECK(lib.open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
    CHECK(lib.exec(db, "DROP TABLE ptc_hold;DROP TABLE ptc_record", NULL, NULL, NULL) == SQLITE_OK);
    lib.close_v2(db);
}

static bool count_one(void *user, const PtcStoreKey *key, const PtcStored *stored)
{
    (void)key;
    (void)stored;
    ++*(int *)user;
    return true;
}

static int nodes_in(PtcStore *store)
{
    int n = 0;
    CHECK(ptc_store_list(store, "node", PTC_TEXT("-"), NULL, 10, count_one, &n) == PTC_STORE_OK);
    return n;
}

/* Each server goes on with its part of what there is, at least one. */
static void test_store_fails(void)
{
    Node nodes[NODES];
    open_nodes(nodes, CALLS, 0);
    for (int i = 0; i < 1000 && nodes_in(nodes[0].store) < NODES; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10 * PTC_MS}, NULL);
    Node last; /* it begins when all of them are there */
    open_node(&last, url, CALLS, 0);
    for (int i = 0; i < 1000 && nodes_in(nodes[0].store) < NODES + 1; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10 * PTC_MS}, NULL);
    break_store();
    int begun = 0;
    for (int i = 0; i < 2 * CALLS; i++)
        begun += begins(&last, "ann");
    CHECK(begun >= 1 && begun <= CALLS);
    printf("without the store: %d of %d\n", begun, CALLS);
    close_node(&last);
    for (int i = 0; i < NODES; i++)
        close_node(&nodes[i]);
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/ptc-quota-%d.db", (int)getpid());
    snprintf(url, sizeof url, "sqlite:%s", path);
    test_alone();
    test_at_once();
    test_rate();
    test_forged_bucket();
    test_store_fails();
    remove_files();
    return check_done("mcp_quota");
}
