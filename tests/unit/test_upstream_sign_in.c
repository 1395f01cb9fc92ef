/* SPDX-License-Identifier: MIT
 * A sign-in that a program needs, asked for in the background, with memory that runs out at every allocation.  Whatever
 * fails, every ask ends, no lock stays locked, nothing is lost, and the program is told to sign in by hand.  (Every
 * allocation with PTC_TEST_FULL, else every fourth.) */
#define _GNU_SOURCE
#include "manager_help.h"

#include "http_help.h"

#include "upstream/connect/manager_int.h"
#include "upstream/connect/sign_in_flow.h"

static char answer[64 * 1024];
static PtcMem own; /* of the test: it never runs out */

static void begin(World *w, Http *http, PtcBuf *asked)
{
    char members[400];
    http_start(http);
    world_init(w);
    snprintf(members, sizeof members,
             "\"s\":{\"url\":\"http://127.0.0.1:%d/mcp\",\"transport\":\"http\",\"oauth\":"
             "{\"client_id\":\"me\"}}",
             http->port);
    world_open(w, members);
    ptc_mem_init(&own, SIZE_MAX / 2);
    ptc_buf_init(asked, &own, 1 << 20);
}

static void finish(World *w, Http *http, PtcBuf *asked)
{
    ptc_buf_deinit(asked);
    http_stop(http); /* connections end with it */
    world_close(w);
    world_remove(w);
}

static bool call(World *w, void *run)
{
    return ask(w, run, PTC_REMOTE_CALL_NAMED, "{\"server\":\"s\",\"tool\":\"echo\",\"args\":{}}",
               answer, sizeof answer);
}

/* Declines; true: there was an address. */
static bool talk(World *w, void *run, PtcBuf *asked)
{
    uint64_t version, number;
    w->remote->allow(run, PTC_REMOTE_ASKS);
    w->remote->offer(run, PTC_REMOTE_OPENS);
    CHECK(!call(w, run));
    bool wanted = w->remote->wants_sign_in(run);
    if (!wanted || !(number = w->remote->inquiry(run, 0, asked)))
        return false;
    w->remote->reply(run, number, PTC_TEXT("{\"action\":\"decline\"}"));
    CHECK(w->remote->signed_in(run, 0));
    w->remote->again(run, INT64_MAX, NULL, &version);
    CHECK(!call(w, run));
    CHECK(!w->remote->wants_sign_in(run)); /* once */
    return true;
}

static void check_rest(World *w)
{
    bool is_free = pthread_mutex_trylock(&w->manager->lock) == 0;
    CHECK(is_free);
    if (is_free)
        pthread_mutex_unlock(&w->manager->lock);
}

static void test_asked(void)
{
    World w;
    Http http;
    PtcBuf asked;
    begin(&w, &http, &asked);
    void *run = run_begin(&w, "me");
    CHECK(talk(&w, run, &asked));
    CHECK(strstr(ptc_buf_text(&asked), "/authorize?") && strstr(asked.data, "\"mode\":\"url\"") &&
          strstr(asked.data, "code_challenge_method"));
    CHECK(strstr(answer, "\"auth_failed\"") && strstr(answer, "ptc upstreams login s"));
    w.remote->end(run, NULL);
    finish(&w, &http, &asked);
}

/* That it is out of memory, or that somebody has to sign in. */
static bool is_told(void)
{
    return !answer[0] || strstr(answer, "memory") || strstr(answer, "could not be sent") ||
           strstr(answer, "ptc upstreams login s");
}

static void test_no_memory(uint64_t step)
{
    bool reached = true;
    int64_t end = ptc_clock_ns(NULL) + (int64_t)60 * 1000000000;
    for (uint64_t n = 1; reached && ptc_clock_ns(NULL) < end; n += step) {
        World w;
        Http http;
        PtcBuf asked;
        begin(&w, &http, &asked);
        ptc_mem_fail_at(&w.mem, n);
        void *run = run_begin(&w, "me");
        bool worked = run && talk(&w, run, &asked);
        if (run && check_count(worked || is_told()))
            printf("allocation %d: %s\n", (int)n, answer);
        reached = atomic_load(&w.mem.count) >= n;
        ptc_mem_fail_at(&w.mem, 0);
        if (run)
            w.remote->end(run, NULL);
        check_rest(&w);
        CHECK(worked || reached);
        finish(&w, &http, &asked);
    }
    CHECK(!reached);
}

int main(void)
{
    CHECK_RUN(test_asked());
    CHECK_RUN(test_no_memory(getenv("PTC_TEST_FULL") ? 1 : 4));
    return check_done("upstream_sign_in");
}
