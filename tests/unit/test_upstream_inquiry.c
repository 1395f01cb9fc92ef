/* SPDX-License-Identifier: MIT
 * What servers say and ask while a call is under way: progress, forms, sampling, in both eras, with memory that runs
 * out at every allocation.  Whatever fails, every ask ends, no lock stays locked, nothing is held or lost, and the next
 * run works. */
#define _GNU_SOURCE
#include "manager_help.h"

#include <signal.h>

#include "base/os/leash.h"
#include "upstream/connect/call_progress.h"
#include "upstream/connect/inquiry.h"
#include "upstream/connect/manager_int.h"

static char answer[64 * 1024];

/* ---------------------------------------------------------------------------------- progress */

typedef struct {
    PtcRemoteListener base; /* first */
    atomic_int told;
} Listener;

static void hear_progress(PtcRemoteListener *base, PtcText line)
{
    Listener *l = (Listener *)(void *)base;
    (void)line;
    l->told++;
}

/* A call that no server has: enough for whoever tells of its progress. */
typedef struct {
    PtcUpCall call;
    PtcInstance instance;
    Listener listener;
} Told;

/* In a world of its own, with a run. */
static void *told_begin(Told *t, World *w)
{
    char a[1024];
    world_init(w);
    world_open(w, entry(a, sizeof a, w, "s", "", "1", ""));
    void *run = run_begin(w, "me");
    *t = (Told){.listener.base = {hear_progress, hear_progress}};
    t->instance.upstream = &w->manager->upstreams[0];
    t->call.instance = &t->instance;
    t->call.run = run;
    w->remote->listen(run, &t->listener.base);
    return run;
}

/* A flood costs no more than a look at the clock: a line is made for what may be told. */
static void test_flood(void)
{
    World w;
    Told t;
    void *run = told_begin(&t, &w);
    int64_t begun = ptc_clock_ns(NULL);
    ptc_mem_fail_at(&w.mem, UINT64_MAX); /* counts allocations */
    for (int i = 0; i < 20000; i++)
        ptc_progress_take(&t.call.mcp, i, 20000, PTC_TEXT("reading"));
    uint64_t allocations = atomic_load(&w.mem.count);
    int64_t fifths = (ptc_clock_ns(NULL) - begun) / (200 * 1000000) + 1;
    ptc_mem_fail_at(&w.mem, 0);
    CHECK(t.listener.told >= 1 && t.listener.told <= fifths);
    CHECK(allocations <= (uint64_t)fifths * 20);
    w.remote->listen(run, NULL);
    ptc_progress_take(&t.call.mcp, 1, 2, PTC_TEXT("reading"));
    CHECK(t.listener.told <= fifths);
    w.remote->end(run, NULL);
    world_close(&w);
    world_remove(&w);
}

static void test_progress_no_memory(void)
{
    World w;
    Told t;
    void *run = told_begin(&t, &w);
    size_t before = atomic_load(&w.mem.used);
    bool reached = true;
    for (uint64_t n = 1; reached && n < 100; n++) {
        ((PtcUpRun *)run)->told_ns = 0;
        ptc_mem_fail_at(&w.mem, n);
        ptc_progress_take(&t.call.mcp, 1, 2, PTC_TEXT("reading \xe2\x80\x8b"));
        reached = atomic_load(&w.mem.count) >= n;
        ptc_mem_fail_at(&w.mem, 0);
        CHECK(atomic_load(&w.mem.used) == before);
    }
    CHECK(!reached && t.listener.told >= 1);
    w.remote->end(run, NULL);
    world_close(&w);
    world_remove(&w);
}

/* -------------------------------------------------------------------------------------- words */

#define FORM(properties)                                                                         \
    "{\"message\":\"Who?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" properties \
    "}}}"
#define ASK(text)                                                                        \
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"a\"}}," \
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"" text                \
    "\"}]}],\"maxTokens\":5}"

/* What is asked, and what the client reads of it; NULL: it is not asked. */
static const struct {
    bool samples;
    const char *params, *has;
} asked_words[] = {
    {false, FORM("\"name\":{\"type\":\"string\",\"title\":\"Na\\u200bme\"}"),
     "\"Na\\\\u{200b}me\""},
    {false, FORM("\"name\":{\"type\":\"string\",\"default\":\"a\\nb\"}"), "\"a\\nb\""},
    {false, FORM("\"na\\u001b[2Jme\":{\"type\":\"string\"}"), NULL},
    {false, FORM("\"name\":{\"type\":\"string\",\"enum\":[\"a\",\"\\u202eb\"]}"), NULL},
    {false, FORM("\"name\":{\"type\":\"string\",\"enum\":[\"a\",\"b\\n 3. c\"]}"), NULL},
    {false, FORM("\"na\\nme\":{\"type\":\"string\"}"), NULL},
    {false, FORM("\"name\":{\"type\":\"string\",\"default\":\"\\u001b[5m\"}"), NULL},
    {true, ASK("b\\nc"), "\"b\\nc\""},
    {true, ASK("b\\u200bc\\u001b"), "\"b\\\\u{200b}c\\\\u{1b}\""},
    {true, "{\"messages\":[7],\"maxTokens\":5}", NULL},
    {true, "{\"messages\":[],\"systemPrompt\":\"x\\u2066\",\"maxTokens\":5}",
     "[s\\\\u{1b}] x\\\\u{2066}"},
};

/* People see all that they are asked and all that a model is asked in their name. */
static void test_words(void)
{
    World w;
    char a[1024];
    PtcBuf out;
    world_init(&w);
    world_open(&w, entry(a, sizeof a, &w, "s", "", "1", ""));
    ptc_buf_init(&out, &w.mem, 1 << 20);
    for (size_t i = 0; i < sizeof asked_words / sizeof *asked_words; i++) {
        PtcInquiry q = {.samples = asked_words[i].samples, .server = PTC_TEXT("s\x1b")};
        const char *has = asked_words[i].has;
        ptc_buf_clear(&out);
        bool ok = ptc_inquiry_words(w.manager, &q, ptc_text_cstr(asked_words[i].params), &out);
        if (check_count(has ? ok && strstr(ptc_buf_text(&out), has) : !ok))
            printf("words %d: %s\n", (int)i, out.len ? ptc_buf_text(&out) : "nothing");
    }
    ptc_buf_deinit(&out);
    world_close(&w);
    world_remove(&w);
}

/* --------------------------------------------------------------------------------- questions */

static bool call_echo(World *w, void *run)
{
    return ask(w, run, PTC_REMOTE_CALL_NAMED,
               "{\"server\":\"s\",\"tool\":\"echo\",\"args\":{\"text\":\"hi\"}}", answer,
               sizeof answer);
}

/* Calls echo, and answers what the server asks first; true: the call has its result. */
static bool talk(World *w, void *run, PtcBuf *asked)
{
    uint64_t version;
    w->remote->allow(run, PTC_REMOTE_ASKS);
    w->remote->offer(run, PTC_REMOTE_ELICITS | PTC_REMOTE_SAMPLES);
    for (int round = 0; round < 4; round++) {
        if (call_echo(w, run))
            return true;
        if (!strstr(answer, "suspended"))
            return false;
        uint64_t number = w->remote->inquiry(run, 0, asked);
        if (number) /* else there was no memory to ask, and the server was told so */
            w->remote->reply(run, number,
                             PTC_TEXT("{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}"));
        w->remote->again(run, INT64_MAX, NULL, &version);
    }
    return false;
}

/* Nothing is locked, and nothing is held. */
static void check_rest(World *w)
{
    PtcManager *m = w->manager;
    bool is_free = pthread_mutex_trylock(&m->lock) == 0;
    CHECK(is_free);
    if (!is_free)
        return;
    CHECK(m->held == 0);
    pthread_mutex_unlock(&m->lock);
}

/* One run in which the nth allocation fails; 0: none does.  True: it was reached. */
static bool try_run(World *w, PtcBuf *asked, uint64_t n, bool *worked)
{
    ptc_buf_clear(asked);
    void *run = run_begin(w, "me");
    ptc_mem_fail_at(&w->mem, n);
    *worked = talk(w, run, asked);
    bool reached = n && atomic_load(&w->mem.count) >= n;
    ptc_mem_fail_at(&w->mem, 0);
    w->remote->end(run, NULL);
    check_rest(w);
    return reached;
}

static bool works(World *w, PtcBuf *asked)
{
    bool worked = false;
    for (int again = 0; again < 50 && !worked; again++) {
        if (again)
            check_pause_us(200000);
        (void)try_run(w, asked, 0, &worked);
    }
    return worked;
}

/* The loop's thread allocates as well, so the order is not always the same. */
static void test_no_memory(const char *modes, const char *era, const char *words)
{
    World w;
    PtcMem own;
    PtcBuf asked;
    char a[1200], seconds[40];
    bool reached = true, worked;
    int64_t end = ptc_clock_ns(NULL) + (int64_t)60 * 1000000000;
    world_init(&w);
    snprintf(seconds, sizeof seconds, "1\",\"--era\",\"%s", era);
    world_open(&w, entry(a, sizeof a, &w, "s", modes, seconds,
                         ",\"call_timeout_ms\":1000,\"retry\":\"none\""));
    ptc_mem_init(&own, SIZE_MAX / 2);
    ptc_buf_init(&asked, &own, 1 << 20);
    CHECK(works(&w, &asked) && asked.len && strstr(ptc_buf_text(&asked), words));
    CHECK(strstr(answer, "Ada") || strcmp(era, "modern") == 0);
    for (uint64_t n = 1; reached && ptc_clock_ns(NULL) < end; n++) {
        reached = try_run(&w, &asked, n, &worked);
        if (check_count(worked || !answer[0] || strstr(answer, "memory")))
            printf("%s: allocation %d: %s\n", modes, (int)n, answer);
    }
    CHECK(!reached);
    CHECK(works(&w, &asked));
    ptc_buf_deinit(&asked);
    world_close(&w);
    world_remove(&w);
}

/* After an answer the run has more time, and progress gives the call of it. */
static void test_progress_after_answer(void)
{
    World w;
    PtcMem own;
    PtcBuf asked;
    char a[1024];
    uint64_t version;
    bool worked = false;
    int tries = 3;
    world_init(&w);
    world_open(&w, entry(a, sizeof a, &w, "s", "asks,progress", "2", ",\"call_timeout_ms\":1500"));
    ptc_mem_init(&own, SIZE_MAX / 2);
    ptc_buf_init(&asked, &own, 1 << 20);
    for (int again = 0; again < 50 && tries && !worked; again++) { /* until it asks in time */
        int64_t soon = ptc_clock_ns(NULL) + (int64_t)300 * 1000000;
        void *run = w.remote->begin(w.remote, "me", soon, NULL, &version);
        w.remote->offer(run, PTC_REMOTE_ELICITS);
        (void)!call_echo(&w, run);
        bool aside = strstr(answer, "suspended") != NULL;
        tries -= aside;
        uint64_t number = aside ? w.remote->inquiry(run, 0, &asked) : 0;
        if (number) {
            w.remote->reply(run, number, PTC_TEXT("{\"action\":\"decline\"}"));
            w.remote->again(run, INT64_MAX, NULL, &version);
            worked = call_echo(&w, run);
        }
        w.remote->end(run, NULL);
        if (!aside)
            check_pause_us(100000);
    }
    if (check_count(worked))
        printf("after an answer: %s\n", answer);
    ptc_buf_deinit(&asked);
    world_close(&w);
    world_remove(&w);
}

/* One owner has as many calls held as it may: others are asked all the same. */
static void test_other_owners(void)
{
    World w;
    PtcMem own;
    PtcBuf asked;
    char a[1024];
    bool worked;
    world_init(&w);
    world_open(&w, entry(a, sizeof a, &w, "s", "asks", "1", ""));
    PtcManager *m = w.manager;
    ptc_mem_init(&own, SIZE_MAX / 2);
    ptc_buf_init(&asked, &own, 1 << 20);
    for (int round = 0; round < 2; round++) {
        pthread_mutex_lock(&m->lock);
        PtcInstance *i = ptc_instance_get(m, &m->upstreams[0], round ? "me" : "other", NULL);
        CHECK(i != NULL);
        m->held = i->held = PTC_INQUIRY_HELD;
        pthread_mutex_unlock(&m->lock);
        ptc_buf_clear(&asked);
        void *run = run_begin(&w, "me");
        worked = talk(&w, run, &asked);
        w.remote->end(run, NULL);
        CHECK(worked && (asked.len > 0) == (round == 0));
        pthread_mutex_lock(&m->lock);
        m->held = i->held = 0;
        pthread_mutex_unlock(&m->lock);
    }
    ptc_buf_deinit(&asked);
    world_close(&w);
    world_remove(&w);
}

int main(int argc, char **argv)
{
    if (ptc_leash_asked(argc, argv))
        return ptc_leash_main(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    CHECK_RUN(test_flood());
    CHECK_RUN(test_progress_no_memory());
    CHECK_RUN(test_words());
    CHECK_RUN(test_other_owners());
    CHECK_RUN(test_progress_after_answer());
    CHECK_RUN(test_no_memory("asks", "legacy", "elicitation/create"));
    CHECK_RUN(test_no_memory("samples", "legacy", "sampling/createMessage"));
    CHECK_RUN(test_no_memory("wants_input", "modern", "elicitation/create"));
    return check_done("upstream_inquiry");
}
