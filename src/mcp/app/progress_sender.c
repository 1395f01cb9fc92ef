/* SPDX-License-Identifier: MIT
 * Progress notifications for calls that take long.  What always holds: the list is in the order in which
 * notifications are due; a call is sent one notification at a time; after ptc_progress_sender_end nothing is sent for
 * it. */
#include "mcp/app/progress_sender.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/os/cond.h"
#include "base/units.h"
#include "base/utf8.h"

enum {
    REPORT_NS = PTC_S,    /* between two reports of other servers, at least */
    CALL_NS = PTC_S / 20, /* between two lines about calls, in the long run */
};

struct PtcProgressSender {
    PtcMem *mem;
    int64_t every_ns;
    /* It guards everything below and all of a PtcProgressCall, and is not held while a notification is sent, since
     * some clients do not read: whoever tells a line may hold locks that all upstreams need. */
    pthread_mutex_t lock;
    pthread_cond_t change, sent;
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

/* ----------------------------------------------------------------------------------- sending */

static void copy_progress_line(char to[PTC_PROGRESS_LINE], PtcText line)
{
    size_t n = line.len < PTC_PROGRESS_LINE
                   ? line.len
                   : ptc_utf8_valid_prefix(line.bytes, PTC_PROGRESS_LINE - 1);
    memcpy(to, line.bytes, n);
    to[n] = 0;
}

/* Takes what is to be told next: lines about calls in their order, then the last line, then a sign of life. */
static void take_line(PtcProgressCall *waiting, int64_t now, char line[PTC_PROGRESS_LINE])
{
    if (waiting->line_count) {
        memcpy(line, waiting->lines[waiting->line_at], PTC_PROGRESS_LINE);
        waiting->line_at = (waiting->line_at + 1) % PTC_PROGRESS_CALLS;
        waiting->line_count--;
    } else if (waiting->last[0]) {
        memcpy(line, waiting->last, PTC_PROGRESS_LINE);
        waiting->last[0] = 0;
        if (!waiting->last_of_call)
            waiting->reported_ns = now;
    } else {
        snprintf(line, PTC_PROGRESS_LINE, "running for %.0f s",
                 (double)((now - waiting->begun_ns) / PTC_MS) / 1000);
    }
}

/* Progress is the time that has passed, in seconds: it grows, and nobody knows how much is left.  What is told within
 * the same millisecond counts one more each. */
static double next_progress(PtcProgressCall *waiting, int64_t now)
{
    int64_t ms = (now - waiting->begun_ns) / PTC_MS;
    waiting->told_ms = ms > waiting->told_ms ? ms : waiting->told_ms + 1;
    return (double)waiting->told_ms / 1000;
}

static int64_t next_due(const PtcProgressSender *p, const PtcProgressCall *waiting, int64_t now)
{
    int64_t beat = now + p->every_ns;
    if (waiting->line_count)
        return now;
    return waiting->last[0] && waiting->last_due_ns < beat ? waiting->last_due_ns : beat;
}

/* With the lock held, which is released meanwhile. */
static void tell_call_progress(PtcProgressSender *p, PtcProgressCall *waiting, int64_t now)
{
    char line[PTC_PROGRESS_LINE];
    take_line(waiting, now, line);
    double progress = next_progress(waiting, now);
    unlink_beat(p, waiting);
    insert_due_call(p, waiting, next_due(p, waiting, now));
    waiting->sending = true;
    pthread_mutex_unlock(&p->lock);
    ptc_mcp_progress(waiting->call, progress, -1, line);
    pthread_mutex_lock(&p->lock);
    waiting->sending = false;
    pthread_cond_broadcast(&p->sent);
}

static void tell_due(PtcProgressSender *p)
{
    int64_t now = ptc_clock_ns(NULL);
    for (PtcProgressCall *waiting; (waiting = p->first) && waiting->due_ns <= now;)
        tell_call_progress(p, waiting, now);
}

/* When there are no more calls the thread waits one more round, so that calls in quick succession need not wake it. */
static void *serve_progress_calls(void *user)
{
    PtcProgressSender *p = user;
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        bool had = p->first != NULL;
        int64_t until = had ? p->first->due_ns : ptc_clock_ns(NULL) + p->every_ns;
        if (until > ptc_clock_ns(NULL))
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

/* ------------------------------------------------------------------------------------- lines */

static void hurry_call(PtcProgressSender *p, PtcProgressCall *waiting, int64_t due)
{
    if (due >= waiting->due_ns)
        return;
    unlink_beat(p, waiting);
    insert_due_call(p, waiting, due);
    pthread_cond_signal(&p->change);
}

static void keep_last(PtcProgressCall *waiting, PtcText line, int64_t due, bool of_call)
{
    copy_progress_line(waiting->last, line);
    waiting->last_due_ns = due;
    waiting->last_of_call = of_call;
}

/* A server may say as much as it likes: the last line of a second is told, unless one about a call waits. */
static void note_report(PtcRemoteListener *listener, PtcText line)
{
    PtcProgressCall *waiting = (PtcProgressCall *)(void *)listener;
    PtcProgressSender *p = waiting->sender;
    pthread_mutex_lock(&p->lock);
    int64_t now = ptc_clock_ns(NULL), due = waiting->reported_ns + REPORT_NS;
    if (!waiting->last[0] || !waiting->last_of_call) {
        keep_last(waiting, line, due > now ? due : now, false);
        hurry_call(p, waiting, waiting->last_due_ns);
    }
    pthread_mutex_unlock(&p->lock);
}

/* May one more line about a call be told now?  As many as there is room for come at once, then one each CALL_NS. */
static bool take_turn(PtcProgressCall *waiting, int64_t now)
{
    int64_t full = now - (int64_t)PTC_PROGRESS_CALLS * CALL_NS;
    int64_t paid = waiting->paid_ns > full ? waiting->paid_ns : full;
    if (paid + CALL_NS > now || waiting->line_count == PTC_PROGRESS_CALLS || !waiting->lines)
        return false;
    waiting->paid_ns = paid + CALL_NS;
    return true;
}

static void add_call_line(PtcProgressCall *waiting, PtcText line)
{
    unsigned at = (waiting->line_at + waiting->line_count++) % PTC_PROGRESS_CALLS;
    copy_progress_line(waiting->lines[at], line);
    waiting->last[0] = 0; /* it is older */
}

/* Most calls of ours make no calls, so the lines are allocated with the first; without memory there is only the last
 * one. */
static void note_call(PtcRemoteListener *listener, PtcText line)
{
    PtcProgressCall *waiting = (PtcProgressCall *)(void *)listener;
    PtcProgressSender *p = waiting->sender;
    pthread_mutex_lock(&p->lock);
    int64_t now = ptc_clock_ns(NULL);
    if (!waiting->lines)
        waiting->lines = ptc_mem_alloc(p->mem, PTC_PROGRESS_CALLS * sizeof *waiting->lines);
    if (take_turn(waiting, now))
        add_call_line(waiting, line);
    else
        keep_last(waiting, line, now + CALL_NS, true);
    hurry_call(p, waiting, waiting->line_count ? now : waiting->last_due_ns);
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
        waiting->listener = (PtcRemoteListener){.progress = note_report, .called = note_call};
        waiting->sender = p;
        waiting->call = call;
        waiting->begun_ns = now;
        waiting->reported_ns = now - REPORT_NS;
        waiting->paid_ns = INT64_MIN;
        insert_due_call(p, waiting, now + p->every_ns);
        if (p->asleep)
            pthread_cond_signal(&p->change);
        p->asleep = false;
    }
    pthread_mutex_unlock(&p->lock);
}

/* What the thread has not come to: everything about calls, the last line included. */
static void tell_rest(PtcProgressCall *waiting)
{
    char line[PTC_PROGRESS_LINE];
    int64_t now = ptc_clock_ns(NULL);
    while (waiting->line_count || (waiting->last[0] && waiting->last_of_call)) {
        take_line(waiting, now, line);
        ptc_mcp_progress(waiting->call, next_progress(waiting, now), -1, line);
    }
}

void ptc_progress_sender_end(PtcProgressSender *p, PtcProgressCall *waiting)
{
    if (!waiting->call)
        return;
    pthread_mutex_lock(&p->lock);
    while (waiting->sending)
        pthread_cond_wait(&p->sent, &p->lock);
    unlink_beat(p, waiting);
    pthread_mutex_unlock(&p->lock);
    tell_rest(waiting);
    ptc_mem_free(p->mem, waiting->lines, PTC_PROGRESS_CALLS * sizeof *waiting->lines);
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
    pthread_cond_init(&p->sent, NULL);
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
    pthread_cond_destroy(&p->sent);
    pthread_mutex_destroy(&p->lock);
    ptc_mem_free(p->mem, p, sizeof *p);
}
