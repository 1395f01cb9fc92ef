/* SPDX-License-Identifier: MIT
 * What a person has allowed beyond a call, when the manager that was asked is followed by another. */
#define _GNU_SOURCE
#include "store/store_shelf.h"
#include "unit/manager_help.h"

static bool writes(World *w, void *run)
{
    char answer[4096];
    return ask(w, run, PTC_REMOTE_CALL_NAMED,
               "{\"server\":\"s\",\"tool\":\"write\",\"args\":{\"text\":\"x\"}}", answer,
               sizeof answer);
}

static bool may_write(World *w)
{
    void *run = run_begin(w, "me");
    w->remote->allow(run, PTC_REMOTE_ASKS);
    bool may = writes(w, run);
    w->remote->end(run, NULL);
    return may;
}

static void allow_in_process(World *w)
{
    PtcBuf shown;
    ptc_buf_init(&shown, &w->mem, 1 << 16);
    void *run = run_begin(w, "me");
    CHECK(ptc_manager_runs(w->manager) == 1);
    w->remote->allow(run, PTC_REMOTE_ASKS);
    CHECK(!writes(w, run));
    CHECK(w->remote->question(run, &shown, NULL) == 1);
    CHECK(w->remote->decide(run, PTC_REMOTE_PROCESS, NULL));
    w->remote->end(run, NULL);
    CHECK(ptc_manager_runs(w->manager) == 0);
    ptc_buf_deinit(&shown);
}

/* What was allowed until the process ends is allowed to the manager that comes after, if the server is the same. */
static void test_grants_taken(void)
{
    World w, next;
    char a[1024];
    world_init(&w);
    world_open(&w, entry(a, sizeof a, &w, "s", "", "1", ""));
    allow_in_process(&w);
    CHECK(may_write(&w));
    ptc_manager_reread_grants(w.manager); /* those of the file */
    CHECK(may_write(&w));
    for (int same = 1; same >= 0; same--) {
        next = w;
        ptc_mem_init(&next.mem, SIZE_MAX / 2);
        world_open(&next, entry(a, sizeof a, &w, "s", same ? "" : "number", "1", ""));
        CHECK(!may_write(&next));
        CHECK(ptc_manager_take_grants(next.manager, w.manager));
        CHECK(may_write(&next) == (bool)same);
        world_close(&next);
    }
    world_end(&w);
}

static PtcStore *share_store(World *w, PtcStoreShelf *kept, const char *url)
{
    PtcWhy why;
    PtcStore *store = ptc_store_open(&(PtcStoreConfig){.url = url}, &why);
    CHECK(store != NULL);
    ptc_store_shelf_init(kept, store);
    w->shelf = &kept->shelf;
    return store;
}

/* What one server is told counts for those with the same store, also after it has ended. */
static void test_grants_shared(void)
{
    World a, b;
    PtcStoreShelf kept[2];
    char members[1024], url[120];
    size_t count;
    world_init(&a);
    b = a;
    ptc_mem_init(&b.mem, SIZE_MAX / 2);
    snprintf(url, sizeof url, "sqlite:%.60s/s.db", a.dir);
    PtcStore *stores[2] = {share_store(&a, &kept[0], url), share_store(&b, &kept[1], url)};
    entry(members, sizeof members, &a, "s", "", "1", "");
    world_open(&a, members);
    world_open(&b, members);
    CHECK(!may_write(&a) && !may_write(&b));
    allow_in_process(&a);
    CHECK(may_write(&a) && may_write(&b));
    world_close(&a);
    CHECK(may_write(&b));
    CHECK(ptc_store_erase(stores[1], PTC_TEXT("me"), &count) == PTC_STORE_OK && count == 1);
    CHECK(!may_write(&b));
    world_close(&b);
    for (int i = 0; i < 2; i++) {
        ptc_store_shelf_deinit(&kept[i]);
        ptc_store_free(stores[i]);
    }
    world_remove(&b);
}

int main(void)
{
    CHECK_RUN(test_grants_taken());
    CHECK_RUN(test_grants_shared());
    return check_done("test_upstream_grants");
}
