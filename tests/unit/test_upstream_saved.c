/* SPDX-License-Identifier: MIT
 * Runs that wait for a person, written by one manager and gone on with by another: what was called is not called
 * again, what was approved is for the same server and the same tool, and bytes of any kind do no harm. */
#define _GNU_SOURCE
#include "unit/manager_help.h"

#include <signal.h>

#include "base/os/leash.h"
#include "upstream/connect/manager_int.h"

static char answer[4096];

/* A call that is the nth of its program. */
static bool call_nth(World *w, void *run, uint32_t nth, const char *text)
{
    Asked a;
    memset(&a, 0, sizeof a);
    pthread_mutex_init(&a.lock, NULL);
    pthread_cond_init(&a.came, NULL);
    snprintf(a.text, sizeof a.text, "%s", text);
    a.base = (PtcRemoteAsk){.op = PTC_REMOTE_CALL_NAMED,
                            .id = {0, nth},
                            .text = ptc_text_cstr(a.text),
                            .ready = asked_ready};
    a.status = w->remote->ask(run, &a.base);
    return ask_end(w, run, &a, answer, sizeof answer);
}

/* The program: an echo, then two writes. */
static int run_program(World *w, void *run)
{
    return call_nth(w, run, 0, "{\"server\":\"s\",\"tool\":\"echo\",\"args\":{\"text\":\"hi\"}}") +
           2 * call_nth(w, run, 1,
                        "{\"server\":\"s\",\"tool\":\"write\",\"args\":{\"text\":\"x\"}}") +
           4 * call_nth(w, run, 2,
                        "{\"server\":\"s\",\"tool\":\"write\",\"args\":{\"text\":\"y\"}}");
}

static bool ask_person(World *w, void *run, PtcBuf *shown)
{
    ptc_buf_clear(shown);
    return w->remote->question(run, shown, NULL) == 2 &&
           strstr(ptc_buf_text(shown),
                  "destructive \"s\"/\"write\", 2 calls:\n   {\"text\":\"x\"}");
}

static void open_world(World *w, const char *modes)
{
    char a[1024];
    world_open(w, entry(a, sizeof a, w, "s", modes, "1", ""));
}

/* Another process: the same directory, the same upstreams or others. */
static void open_next(World *next, const World *w, const char *modes)
{
    *next = *w;
    ptc_mem_init(&next->mem, SIZE_MAX / 2);
    open_world(next, modes);
}

/* A run that waits, as bytes. */
static void save_waiting(World *w, PtcBuf *saved, PtcBuf *shown)
{
    void *run = run_begin(w, "me");
    w->remote->allow(run, PTC_REMOTE_ASKS);
    CHECK(run_program(w, run) == 1);
    CHECK(ask_person(w, run, shown));
    CHECK(w->remote->save(run, saved));
    w->remote->end(run, NULL);
}

static void *restore(World *w, const PtcBuf *saved)
{
    return w->remote->restore(w->remote, "me", ptc_buf_view(saved));
}

/* The first call is not made again, the others are made once; what they did is known. */
static void test_goes_on(World *w, const PtcBuf *saved, PtcBuf *shown)
{
    World next;
    uint64_t version;
    int before = lines_of(w, "s.count");
    open_next(&next, w, "");
    void *run = restore(&next, saved);
    if (check_count(run != NULL)) {
        world_close(&next);
        return;
    }
    CHECK(ask_person(&next, run, shown));
    CHECK(next.remote->decide(run, PTC_REMOTE_ONCE, NULL));
    next.remote->again(run, INT64_MAX, NULL, &version);
    CHECK(run_program(&next, run) == 7);
    CHECK(lines_of(&next, "s.count") == before + 2);
    CHECK(!next.remote->diverged(run));
    ptc_buf_clear(shown);
    CHECK(next.remote->effects(run, shown));
    CHECK(strstr(ptc_buf_text(shown), "{\"name\":\"s/write\",\"times\":2}"));
    ptc_buf_clear(shown);
    next.remote->end(run, shown);
    CHECK(
        strstr(ptc_buf_text(shown), "\"tool\":\"echo\"")); /* which the other process has called */
    world_close(&next);
}

/* The decision was about another server. */
static void test_other_server(World *w, const PtcBuf *saved, PtcBuf *shown)
{
    World next;
    uint64_t version;
    open_next(&next, w, "number");
    void *run = restore(&next, saved);
    CHECK(run && next.remote->question(run, NULL, NULL) == 0);
    CHECK(next.remote->decide(run, PTC_REMOTE_ONCE, NULL));
    next.remote->again(run, INT64_MAX, NULL, &version);
    CHECK(run_program(&next, run) == 1);
    CHECK(ask_person(&next, run, shown));
    next.remote->end(run, NULL);
    world_close(&next);
}

/* A run that was refused leaves nothing behind; one that was accepted works. */
static void try_restore(World *w, const char *bytes, size_t len, PtcBuf *shown)
{
    size_t before = atomic_load(&w->mem.used);
    void *run = w->remote->restore(w->remote, "me", (PtcText){bytes, len});
    if (run) {
        ptc_buf_clear(shown);
        (void)w->remote->question(run, shown, NULL);
        (void)w->remote->effects(run, shown);
        (void)w->remote->decide(run, PTC_REMOTE_RUN, NULL);
        w->remote->end(run, shown);
    }
    CHECK(atomic_load(&w->mem.used) == before);
}

static void test_any_bytes(World *w, const PtcBuf *saved, PtcBuf *shown)
{
    char *copy = malloc(saved->len);
    memcpy(copy, saved->data, saved->len);
    for (size_t n = 0; n < saved->len; n++) {
        CHECK(!w->remote->restore(w->remote, "me", (PtcText){copy, n}));
        copy[n] = (char)(copy[n] ^ (1 << n % 8));
        try_restore(w, copy, saved->len, shown);
        copy[n] = (char)~copy[n];
        try_restore(w, copy, saved->len, shown);
        copy[n] = saved->data[n];
    }
    free(copy);
}

static void test_saved_no_memory(World *w, const PtcBuf *saved)
{
    bool reached = true;
    for (uint64_t n = 1; reached && n < 1000; n++) {
        size_t before = atomic_load(&w->mem.used);
        ptc_mem_fail_at(&w->mem, n);
        void *run = restore(w, saved);
        reached = atomic_load(&w->mem.count) >= n;
        ptc_mem_fail_at(&w->mem, 0);
        CHECK(run || reached);
        if (run)
            w->remote->end(run, NULL);
        CHECK(atomic_load(&w->mem.used) == before);
    }
    CHECK(!reached);
}

/* What cannot be written says so. */
static void test_save_fails(World *w, PtcBuf *shown)
{
    PtcMem own;
    PtcBuf out;
    ptc_mem_init(&own, SIZE_MAX / 2);
    void *run = run_begin(w, "me");
    w->remote->allow(run, PTC_REMOTE_ASKS);
    CHECK(run_program(w, run) == 1 && ask_person(w, run, shown));
    ptc_buf_init(&out, &own, 100);
    CHECK(!w->remote->save(run, &out));
    ptc_buf_deinit(&out);
    w->remote->end(run, NULL);
}

static void test_saved_run(void)
{
    World w;
    PtcMem own;
    PtcBuf saved, shown;
    ptc_mem_init(&own, SIZE_MAX / 2);
    ptc_buf_init(&saved, &own, 1 << 20);
    ptc_buf_init(&shown, &own, 1 << 20);
    world_init(&w);
    open_world(&w, "");
    save_waiting(&w, &saved, &shown);
    test_save_fails(&w, &shown);
    test_any_bytes(&w, &saved, &shown);
    test_saved_no_memory(&w, &saved);
    test_goes_on(&w, &saved, &shown);
    test_other_server(&w, &saved, &shown);
    ptc_buf_deinit(&saved);
    ptc_buf_deinit(&shown);
    world_end(&w);
}

/* ------------------------------------------------------------------------- questions of servers */

static bool call_echo(World *w, void *run)
{
    return call_nth(w, run, 0, "{\"server\":\"s\",\"tool\":\"echo\",\"args\":{\"text\":\"hi\"}}");
}

/* A question of the modern era goes along, with its number; a call that is open keeps the run where it is. */
static void test_saved_question(const char *modes, const char *era, bool goes)
{
    World w, next;
    PtcMem own;
    PtcBuf saved, asked;
    char a[1200], seconds[40];
    uint64_t version;
    ptc_mem_init(&own, SIZE_MAX / 2);
    ptc_buf_init(&saved, &own, 1 << 20);
    ptc_buf_init(&asked, &own, 1 << 20);
    world_init(&w);
    snprintf(seconds, sizeof seconds, "1\",\"--era\",\"%s", era);
    world_open(&w, entry(a, sizeof a, &w, "s", modes, seconds, ""));
    void *run = run_begin(&w, "me");
    w.remote->offer(run, PTC_REMOTE_ELICITS);
    CHECK(!call_echo(&w, run) && strstr(answer, "suspended"));
    uint64_t number = w.remote->inquiry(run, 0, &asked);
    CHECK(number != 0);
    CHECK(w.remote->save(run, &saved) == goes);
    w.remote->end(run, NULL);
    for (int again = 0; again < 2 && goes; again++) {
        next = w;
        ptc_mem_init(&next.mem, SIZE_MAX / 2);
        world_open(&next, entry(a, sizeof a, &w, "s", modes, seconds, ""));
        ptc_buf_clear(&asked);
        test_saved_no_memory(&next, &saved);
        run = restore(&next, &saved);
        CHECK(run && next.remote->inquiry(run, 0, &asked) == number);
        CHECK(strstr(ptc_buf_text(&asked), "elicitation/create"));
        next.remote->reply(run, number,
                           PTC_TEXT("{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}"));
        if (again) { /* with the answer, once more */
            ptc_buf_clear(&saved);
            CHECK(next.remote->save(run, &saved));
            next.remote->end(run, NULL);
            test_any_bytes(&next, &saved, &asked);
            run = restore(&next, &saved);
        }
        next.remote->again(run, INT64_MAX, NULL, &version);
        if (check_count(call_echo(&next, run)))
            printf("%s\n", answer);
        next.remote->end(run, NULL);
        world_close(&next);
    }
    ptc_buf_deinit(&saved);
    ptc_buf_deinit(&asked);
    world_end(&w);
}

int main(int argc, char **argv)
{
    if (ptc_leash_asked(argc, argv))
        return ptc_leash_main(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    CHECK_RUN(test_saved_run());
    CHECK_RUN(test_saved_question("wants_input", "modern", true));
    CHECK_RUN(test_saved_question("asks", "legacy", false));
    return check_done("test_upstream_saved");
}
