/* SPDX-License-Identifier: MIT
 * Progress notifications for calls that take long.  What always holds: the list is in the order in which
 * notifications are due; after ptc_progress_sender_end nothing is sent for a call. */
#include "mcp/app/progress_sender.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/os/cond.h"
#include "base/units.h"
#include "base/utf8.h"

enum { LINE_NS = PTC_S }; /* between two lines of other servers, at least */

struct PtcProgressSender {
    PtcMem *mem;
    int64_t every_ns;
    /* It guards everything below, and is held while a notification is sent, which no transport does for long;
     * sending takes the lock of the call inside.  Calls take it to begin and to end, and the thread of the sender. */
    pthread_mutex_t lock;
    pthread_cond_t change;
    PtcProgressCall *first, *last; /* in the order in which they are due */
    pthread_t thread;
    bool has_thread, asleep, quit;
};

/* Most beats have the same interval, so that the place is nearly always at the end. */
static void insert_due_call(PtcProgressSender *p, PtcProgressCall *waiting, int64_t due_ns)
{
    PtcProgressCall *before = p->last;
    while (before && before->due_ns > due_ns)
        before = before->prev;
    waiting->due_ns = due_ns;
    waiting->prev = before;
    waiting->next = before ? before->next : p->first;
    *(before ? &before->next : &p->first) = waiting;
    *(waiting->next ? &waiting->next->prev : &p->last) = waiting;
}

static void unlink_beat(PtcProgressSender *p, PtcProgressCall *waiting)
{
    *(waiting->prev ? &waiting->prev->next : &p->first) = waiting->next;
    *(waiting->next ? &waiting->next->prev : &p->last) = waiting->prev;
}

/* Progress is the time that has passed, in seconds: it grows, and nobody knows how much is left. */
static void tell_call_progress(PtcProgressCall *waiting, int64_t now)
{
    double seconds = (double)((now - waiting->begun_ns) / PTC_MS) / 1000;
    if (!waiting->line[0])
        snprintf(waiting->line, sizeof waiting->line, "running for %.0f s", seconds);
    ptc_mcp_progress(waiting->call, seconds, -1, waiting->line);
    waiting->line[0] = 0;
    waiting->told_ns = now;
}

static void tell_due(PtcProgressSender *p)
{
    int64_t now = ptc_clock_ns(NULL);
    for (PtcProgressCall *waiting; (waiting = p->first) && waiting->due_ns <= now;) {
        tell_call_progress(waiting, now);
        unlink_beat(p, waiting);
        insert_due_call(p, waiting, now + p->every_ns);
    }
}

/* When there are no more calls the thread waits one more round, so that calls in quick succession need not wake it. */
static void *serve_progress_calls(void *user)
{
    PtcProgressSender *p = user;
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        bool had = p->first != NULL;
        int64_t until = had ? p->first->due_ns : ptc_clock_ns(NULL) + p->every_ns;
        (void)ptc_cond_wait_until(&p->change, &p->lock, until);
        p->asleep = !had && !p->first;
        while (p->asleep && !p->quit)
            pthread_cond_wait(&p->change, &p->lock);
        tell_due(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* With the lock held. */
static bool has_thread(PtcProgressSender *p)
{
    if (!p->has_thread)
        p->has_thread = pthread_create(&p->thread, NULL, serve_progress_calls, p) == 0;
    return p->has_thread;
}

/* A server may say as much as it likes: the last line of a second is told.  Whoever tells holds a lock that all
 * upstreams need, while the thread of the sender may be writing to a client that does not read: then the line is
 * dropped, since another one or the next notification will come, and nobody else waits for that client. */
static void note_progress_line(PtcRemoteListener *listener, PtcText line)
{
    PtcProgressCall *waiting = (PtcProgressCall *)(void *)listener;
    PtcProgressSender *p = waiting->sender;
    if (pthread_mutex_trylock(&p->lock) != 0)
        return;
    int64_t now = ptc_clock_ns(NULL), due = waiting->told_ns + LINE_NS;
    size_t n = line.len < sizeof waiting->line
                   ? line.len
                   : ptc_utf8_valid_prefix(line.bytes, sizeof waiting->line - 1);
    memcpy(waiting->line, line.bytes, n);
    waiting->line[n] = 0;
    due = due > now ? due : now;
    if (due < waiting->due_ns) {
        unlink_beat(p, waiting);
        insert_due_call(p, waiting, due);
        pthread_cond_signal(&p->change);
    }
    pthread_mutex_unlock(&p->lock);
}

PtcRemoteListener *ptc_progress_sender_listener(PtcProgressCall *waiting)
{
    return waiting->call ? &waiting->listener : NULL;
}

/* Calls without a token cost nothing: no lock, no thread. */
void ptc_progress_sender_begin(PtcProgressSender *p, PtcProgressCall *waiting, PtcMcpCall *call)
{
    *waiting = (PtcProgressCall){0};
    if (!ptc_mcp_wants_progress(call))
        return;
    int64_t now = ptc_clock_ns(NULL);
    pthread_mutex_lock(&p->lock);
    if (has_thread(p)) {
        waiting->listener.progress = note_progress_line;
        waiting->sender = p;
        waiting->call = call;
        waiting->begun_ns = now;
        waiting->told_ns = now - LINE_NS;
        insert_due_call(p, waiting, now + p->every_ns);
        if (p->asleep)
            pthread_cond_signal(&p->change);
        p->asleep = false;
    }
    pthread_mutex_unlock(&p->lock);
}

void ptc_progress_sender_end(PtcProgressSender *p, PtcProgressCall *waiting)
{
    if (!waiting->call)
        return;
    pthread_mutex_lock(&p->lock);
    unlink_beat(p, waiting);
    pthread_mutex_unlock(&p->lock);
    waiting->call = NULL;
}

PtcProgressSender *ptc_progress_sender_new(PtcMem *mem, int64_t every_ms)
{
    PtcProgressSender *p = ptc_mem_alloc(mem, sizeof *p);
    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    p->mem = mem;
    p->every_ns = every_ms * PTC_MS;
    pthread_mutex_init(&p->lock, NULL);
    ptc_cond_init(&p->change);
    return p;
}

void ptc_progress_sender_free(PtcProgressSender *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_signal(&p->change);
    pthread_mutex_unlock(&p->lock);
    if (p->has_thread)
        pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->change);
    pthread_mutex_destroy(&p->lock);
    ptc_mem_free(p->mem, p, sizeof *p);
}
