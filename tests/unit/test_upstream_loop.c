/* SPDX-License-Identifier: MIT
 * test_upstream_loop.c - the loop by itself: tasks, times and descriptors, also when callbacks change what is
 * watched. */
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "base/budget.h"
#include "json/members.h"
#include "net/loop.h"
#include "unit/check.h"

enum { TASKS = 1000, PIPES = 100 };

static PtcMem mem;
static PtcLoop *loop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ran, fired, read_bytes, dropped;

static void tell(int *count)
{
    pthread_mutex_lock(&lock);
    ++*count;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_for(const int *count, int n)
{
    pthread_mutex_lock(&lock);
    while (*count < n)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void on_task(PtcLoopTask *task)
{
    (void)task;
    tell(&ran);
}

static void test_tasks(void)
{
    static PtcLoopTask tasks[TASKS];
    int before = ran;
    for (int i = 0; i < TASKS; i++) {
        tasks[i].run = on_task;
        CHECK(ptc_loop_post(loop, &tasks[i]));
    }
    wait_for(&ran, before + TASKS);
    CHECK(ran == before + TASKS);
}

/* ---------------------------------------------------------------------------- times */

static PtcLoopTimer timers[3];
static int order[3];

static void on_timer(PtcLoopTimer *timer)
{
    order[fired] = (int)(timer - timers);
    tell(&fired);
}

static void set_timers(PtcLoopTask *task)
{
    int64_t now = ptc_clock_ns(NULL);
    static const int after_ms[] = {40, 1, 20};
    (void)task;
    for (int i = 0; i < 3; i++) {
        timers[i].fire = on_timer;
        ptc_loop_set(loop, &timers[i], now + (int64_t)60000 * 1000000);
        ptc_loop_set(loop, &timers[i], now + (int64_t)after_ms[i] * 1000000); /* moved */
    }
    ptc_loop_unset(&timers[2]);
}

static void test_timers(void)
{
    PtcLoopTask task = {.run = set_timers};
    CHECK(ptc_loop_post(loop, &task));
    wait_for(&fired, 2);
    CHECK(order[0] == 1 && order[1] == 0 && timers[0].at_ns == 0);
}

/* ---------------------------------------------------------------------- descriptors */

static PtcLoopWatch watches[PIPES];
static int pipes[PIPES][2];

/* The first that is readable takes all others out. */
static void on_first(PtcLoopWatch *watch, short events)
{
    char byte;
    bool ok = (events & POLLIN) && read(watch->fd, &byte, 1) == 1;
    for (int i = 0; i < PIPES; i++)
        ptc_loop_unwatch(&watches[i]);
    if (ok)
        tell(&read_bytes);
}

static void watch_all(PtcLoopTask *task)
{
    (void)task;
    for (int i = 0; i < PIPES; i++) {
        watches[i] = (PtcLoopWatch){.fd = pipes[i][0], .events = POLLIN, .ready = on_first};
        ptc_loop_watch(loop, &watches[i]);
    }
}

static void test_watches(void)
{
    PtcLoopTask task = {.run = watch_all};
    for (int i = 0; i < PIPES; i++)
        CHECK(pipe(pipes[i]) == 0 && write(pipes[i][1], "x", 1) == 1);
    CHECK(ptc_loop_post(loop, &task));
    wait_for(&read_bytes, 1);
    test_tasks(); /* some rounds later */
    CHECK(read_bytes == 1);
    for (int i = 0; i < PIPES; i++) {
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
}

static void on_drop(PtcLoopWatch *watch)
{
    dropped++;
    CHECK(!watch->at);
}

/* What is still watched at the end is told so. */
static void test_end(void)
{
    PtcLoopWatch watch = {.fd = 0, .drop = on_drop};
    PtcLoop *other = ptc_loop_new(&mem);
    ptc_loop_watch(other, &watch);
    ptc_loop_free(other);
    CHECK(dropped == 1);
}

static void test_no_memory(void)
{
    for (uint64_t n = 1; n < 10; n++) {
        ptc_mem_fail_at(&mem, n);
        ptc_loop_free(ptc_loop_new(&mem));
        ptc_mem_fail_at(&mem, 0);
    }
}

/* -------------------------------------------------------------------------- members */

/* The members of a text as "key=value;", with "!" behind them if it is broken. */
static const char *members_of(const char *text)
{
    static char out[256];
    PtcText key, value;
    PtcMembers m = ptc_members_of(ptc_text_cstr(text));
    out[0] = 0;
    while (ptc_members_next(&m, &key, &value))
        snprintf(out + strlen(out), sizeof out - strlen(out), "%.*s=%.*s;", (int)key.len,
                 key.bytes ? key.bytes : "", (int)value.len, value.bytes);
    strcat(out, m.broken ? "!" : m.ended ? "" : "?");
    return out;
}

static void test_members(void)
{
    static const char *const rows[][2] = {
        {"{}", ""},
        {" { } ", ""},
        {"{\"a\":1}", "a=1;"},
        {" {\"a\" : [1, {\"b\":2}] ,\"c\":\"x\\\"y\"}\n", "a=[1, {\"b\":2}];c=\"x\\\"y\";"},
        {"[1,\"b\",{}]", "=1;=\"b\";={};"},
        {"[]", ""},
        {"{\"a\":1,}", "a=1;!"},
        {"{,}", "!"},
        {"{\"a\":1 \"b\":2}", "a=1;!"},
        {"{\"a\":1}x", "a=1;!"},
        {"{\"a\":1", "a=1;!"},
        {"{a:1}", "!"},
        {"{1:1}", "!"},
        {"7", "!"},
        {"", "!"},
        {"{\"a\":\"\xff\"}", "!"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(members_of(rows[i][0]), rows[i][1]);
    int64_t n;
    CHECK(ptc_members_int(PTC_TEXT("-12"), &n) && n == -12);
    CHECK(ptc_members_int(PTC_TEXT("9223372036854775807"), &n) && n == INT64_MAX);
    CHECK(!ptc_members_int(PTC_TEXT("9223372036854775808"), &n) &&
          !ptc_members_int(PTC_TEXT("1.5"), &n));
    CHECK(!ptc_members_int(PTC_TEXT("-"), &n) && !ptc_members_int(PTC_TEXT(""), &n));
    CHECK(ptc_text_is(ptc_members_get(PTC_TEXT("{\"a\":1,\"a\":2}"), "a"), "2"));
    CHECK(!ptc_members_get(PTC_TEXT("{\"a\":1,"), "a").bytes &&
          !ptc_members_get(PTC_TEXT("[1]"), "a").bytes);
    CHECK(ptc_text_is(ptc_members_plain(PTC_TEXT("\"x\"")), "x") &&
          !ptc_members_plain(PTC_TEXT("\"\\n\"")).bytes);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    loop = ptc_loop_new(&mem);
    CHECK_RUN(test_tasks());
    CHECK_RUN(test_timers());
    CHECK_RUN(test_watches());
    CHECK_RUN(test_end());
    CHECK_RUN(test_no_memory());
    CHECK_RUN(test_members());
    ptc_loop_free(loop);
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("loop");
}
