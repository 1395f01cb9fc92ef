/* SPDX-License-Identifier: MIT
 * The loop.  What always holds: lists of watches and timers are changed by the loop's thread only (or before it runs);
 * the list of tasks is under the lock.  A node that a callback takes out is not called any more in this round. */
#define _GNU_SOURCE /* eventfd, which glibc has without it as well */
#include "net/loop.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/grow.h"
#include "base/os/thread.h"

enum {
    LOOP_STACK = PTC_MB,  /* calls that waited for a listing are checked on it */
    LOOP_FIRST_ROOM = 32, /* descriptors there is room for from the start */
    SHORT_OF_MS = 10,     /* the longest round while there is no memory to poll all descriptors */
    LONGEST_MS = 1 << 30,
};

struct PtcLoop {
    PtcMem *mem;
    /* It guards first, last, started and quit.  Any thread takes it to post, holding whatever locks it has; the
     * loop takes it to fetch tasks and runs them without it.  No other lock is taken inside. */
    pthread_mutex_t lock;
    PtcLoopTask *first, **last;
    bool started, quit;
    pthread_t thread;
    int kick; /* an eventfd */
    PtcLoopWatch *watches;
    PtcLoopTimer *timers;
    /* one round: the kick, then a descriptor for each watch, NULL when it was taken out meanwhile */
    struct pollfd *polled;
    PtcLoopWatch **owners;
    size_t count, polled_cap, room; /* room: of owners, which grow last */
};

/* --------------------------------------------------------------------------- life */

static bool grow_polled(PtcLoop *loop, size_t wanted)
{
    return PTC_GROW(loop->mem, &loop->polled, &loop->polled_cap, wanted) &&
           PTC_GROW(loop->mem, &loop->owners, &loop->room, wanted);
}

PtcLoop *ptc_loop_new(PtcMem *mem)
{
    PtcLoop *loop = ptc_mem_alloc(mem, sizeof *loop);
    if (!loop)
        return NULL;
    *loop = (PtcLoop){.mem = mem, .kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    loop->last = &loop->first;
    pthread_mutex_init(&loop->lock, NULL);
    if (loop->kick >= 0 && grow_polled(loop, LOOP_FIRST_ROOM))
        return loop;
    ptc_loop_free(loop);
    return NULL;
}

static void wake_loop(PtcLoop *loop)
{
    (void)!write(loop->kick, &(uint64_t){1}, sizeof(uint64_t));
}

static void drop_watches(PtcLoop *loop)
{
    while (loop->watches) {
        PtcLoopWatch *w = loop->watches;
        ptc_loop_unwatch(w);
        if (w->drop)
            w->drop(w);
    }
}

void ptc_loop_free(PtcLoop *loop)
{
    if (!loop)
        return;
    pthread_mutex_lock(&loop->lock);
    bool started = loop->started;
    loop->quit = true;
    pthread_mutex_unlock(&loop->lock);
    if (started) {
        wake_loop(loop);
        pthread_join(loop->thread, NULL);
    }
    drop_watches(loop);
    if (loop->kick >= 0)
        close(loop->kick);
    ptc_mem_free(loop->mem, loop->polled, loop->polled_cap * sizeof *loop->polled);
    ptc_mem_free(loop->mem, loop->owners, loop->room * sizeof *loop->owners);
    pthread_mutex_destroy(&loop->lock);
    ptc_mem_free(loop->mem, loop, sizeof *loop);
}

/* -------------------------------------------------------------------------- nodes */

void ptc_loop_watch(PtcLoop *loop, PtcLoopWatch *w)
{
    w->loop = loop;
    w->place = 0;
    w->next = loop->watches;
    w->at = &loop->watches;
    if (w->next)
        w->next->at = &w->next;
    loop->watches = w;
}

void ptc_loop_unwatch(PtcLoopWatch *w)
{
    if (!w->at)
        return;
    *w->at = w->next;
    if (w->next)
        w->next->at = w->at;
    w->at = NULL;
    if (w->place && w->place < w->loop->count && w->loop->owners[w->place] == w)
        w->loop->owners[w->place] = NULL;
}

static void link_timer(PtcLoopTimer **list, PtcLoopTimer *t)
{
    t->next = *list;
    t->at = list;
    if (t->next)
        t->next->at = &t->next;
    *list = t;
}

void ptc_loop_unset(PtcLoopTimer *t)
{
    if (!t->at)
        return;
    *t->at = t->next;
    if (t->next)
        t->next->at = t->at;
    t->at = NULL;
    t->at_ns = 0;
}

void ptc_loop_set(PtcLoop *loop, PtcLoopTimer *t, int64_t at_ns)
{
    ptc_loop_unset(t);
    t->at_ns = at_ns > 0 ? at_ns : 1;
    link_timer(&loop->timers, t);
}

/* -------------------------------------------------------------------------- round */

/* Each task may be freed or posted again by its own function. */
static void run_tasks(PtcLoop *loop, bool *quit)
{
    pthread_mutex_lock(&loop->lock);
    PtcLoopTask *list = loop->first;
    loop->first = NULL;
    loop->last = &loop->first;
    while (list) {
        PtcLoopTask *task = list;
        list = task->next;
        task->queued = false;
        pthread_mutex_unlock(&loop->lock);
        task->run(task);
        pthread_mutex_lock(&loop->lock);
    }
    *quit = loop->quit && !loop->first;
    pthread_mutex_unlock(&loop->lock);
}

/* Those that are due now go to a list of their own first, so that one that sets itself again cannot keep the others
 * from their turn. */
static void fire_timers(PtcLoop *loop)
{
    PtcLoopTimer *due = NULL;
    int64_t now = ptc_clock_ns(NULL);
    for (PtcLoopTimer *t = loop->timers, *next; t; t = next) {
        next = t->next;
        if (t->at_ns > now)
            continue;
        ptc_loop_unset(t);
        link_timer(&due, t);
    }
    while (due) {
        PtcLoopTimer *t = due;
        ptc_loop_unset(t);
        t->fire(t);
    }
}

static int timeout_ms(const PtcLoop *loop, bool short_of)
{
    int64_t first = INT64_MAX;
    for (const PtcLoopTimer *t = loop->timers; t; t = t->next)
        first = t->at_ns < first ? t->at_ns : first;
    if (first == INT64_MAX)
        return short_of ? SHORT_OF_MS : -1;
    int64_t left = first - ptc_clock_ns(NULL);
    int64_t ms = left <= 0 ? 0 : left / PTC_MS + 1;
    if (short_of && ms > SHORT_OF_MS)
        ms = SHORT_OF_MS;
    return ms < LONGEST_MS ? (int)ms : LONGEST_MS;
}

/* The descriptors of this round.  True: there was no memory for all of them, so some have to wait for another round. */
static bool gather_polled(PtcLoop *loop)
{
    size_t wanted = 1;
    for (const PtcLoopWatch *w = loop->watches; w; w = w->next)
        wanted++;
    bool short_of = !grow_polled(loop, wanted);
    loop->polled[0] = (struct pollfd){loop->kick, POLLIN, 0};
    loop->owners[0] = NULL;
    loop->count = 1;
    for (PtcLoopWatch *w = loop->watches; w && loop->count < loop->room; w = w->next) {
        w->place = loop->count;
        loop->owners[loop->count] = w;
        loop->polled[loop->count++] = (struct pollfd){w->events ? w->fd : -1, w->events, 0};
    }
    return short_of;
}

static void *run_loop(void *user)
{
    PtcLoop *loop = user;
    uint64_t kicks;
    bool quit;
    for (;;) {
        run_tasks(loop, &quit);
        if (quit)
            return NULL;
        bool short_of = gather_polled(loop);
        int n = poll(loop->polled, loop->count, timeout_ms(loop, short_of));
        if (n > 0 && loop->polled[0].revents)
            (void)!read(loop->kick, &kicks, sizeof kicks);
        for (size_t i = 1; n > 0 && i < loop->count; i++) {
            PtcLoopWatch *w = loop->owners[i];
            if (w && loop->polled[i].revents)
                w->ready(w, loop->polled[i].revents);
        }
        loop->count = 0;
        fire_timers(loop);
    }
}

bool ptc_loop_post(PtcLoop *loop, PtcLoopTask *task)
{
    pthread_mutex_lock(&loop->lock);
    bool ok = loop->started ||
              (loop->started = ptc_thread_start(&loop->thread, LOOP_STACK, run_loop, loop));
    bool first = ok && !loop->first;
    if (ok && !task->queued) {
        task->queued = true;
        task->next = NULL;
        *loop->last = task;
        loop->last = &task->next;
    }
    pthread_mutex_unlock(&loop->lock);
    if (first)
        wake_loop(loop);
    return ok;
}
