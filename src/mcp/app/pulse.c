/* SPDX-License-Identifier: MIT
 * Progress notifications for calls that take long.  What always holds: the list is in the order in which
 * notifications are due; after ptc_pulse_end nothing is sent for a call. */
#include "mcp/app/pulse.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"

enum { LINE_NS = 1000 * 1000 * 1000 }; /* between two lines of other servers, at least */

struct PtcPulse {
    PtcMem *mem;
    int64_t every_ns;
    /* guards everything below; held while a notification is sent, which no transport does for long */
    pthread_mutex_t lock;
    pthread_cond_t change;
    PtcBeat *first, *last; /* in the order in which they are due */
    pthread_t thread;
    bool has_thread, asleep, quit;
};

/* Most beats have the same interval, so that the place is nearly always at the end. */
static void insert(PtcPulse *p, PtcBeat *beat, int64_t due_ns)
{
    PtcBeat *before = p->last;
    while (before && before->due_ns > due_ns)
        before = before->prev;
    beat->due_ns = due_ns;
    beat->prev = before;
    beat->next = before ? before->next : p->first;
    *(before ? &before->next : &p->first) = beat;
    *(beat->next ? &beat->next->prev : &p->last) = beat;
}

static void unlink_beat(PtcPulse *p, PtcBeat *beat)
{
    *(beat->prev ? &beat->prev->next : &p->first) = beat->next;
    *(beat->next ? &beat->next->prev : &p->last) = beat->prev;
}

/* Progress is the time that has passed, in seconds: it grows, and nobody knows how much is left. */
static void tell(PtcBeat *beat, int64_t now)
{
    double seconds = (double)((now - beat->begun_ns) / 1000000) / 1000;
    if (!beat->line[0])
        snprintf(beat->line, sizeof beat->line, "running for %.0f s", seconds);
    ptc_mcp_progress(beat->call, seconds, -1, beat->line);
    beat->line[0] = 0;
    beat->told_ns = now;
}

static void tell_due(PtcPulse *p)
{
    int64_t now = ptc_clock_ns(NULL);
    for (PtcBeat *beat; (beat = p->first) && beat->due_ns <= now;) {
        tell(beat, now);
        unlink_beat(p, beat);
        insert(p, beat, now + p->every_ns);
    }
}

/* When there are no more calls the thread waits one more round, so that calls in quick succession need not wake it. */
static void *serve(void *user)
{
    PtcPulse *p = user;
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        bool had = p->first != NULL;
        int64_t until = had ? p->first->due_ns : ptc_clock_ns(NULL) + p->every_ns;
        struct timespec at = {until / 1000000000, until % 1000000000};
        pthread_cond_timedwait(&p->change, &p->lock, &at);
        p->asleep = !had && !p->first;
        while (p->asleep && !p->quit)
            pthread_cond_wait(&p->change, &p->lock);
        tell_due(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* With the lock held. */
static bool has_thread(PtcPulse *p)
{
    if (!p->has_thread)
        p->has_thread = pthread_create(&p->thread, NULL, serve, p) == 0;
    return p->has_thread;
}

/* A server may say as much as it likes: the last line of a second is told.  Whoever tells holds a lock that all
 * upstreams need, while the thread of the pulse may be writing to a client that does not read: then the line is
 * dropped, since another one or the next beat will come, and nobody else waits for that client. */
static void on_progress(PtcRemoteListener *listener, PtcText line)
{
    PtcBeat *beat = (PtcBeat *)(void *)listener;
    PtcPulse *p = beat->pulse;
    if (pthread_mutex_trylock(&p->lock) != 0)
        return;
    int64_t now = ptc_clock_ns(NULL), due = beat->told_ns + LINE_NS;
    size_t n = line.len < sizeof beat->line
                   ? line.len
                   : ptc_utf8_valid_prefix(line.bytes, sizeof beat->line - 1);
    memcpy(beat->line, line.bytes, n);
    beat->line[n] = 0;
    due = due > now ? due : now;
    if (due < beat->due_ns) {
        unlink_beat(p, beat);
        insert(p, beat, due);
        pthread_cond_signal(&p->change);
    }
    pthread_mutex_unlock(&p->lock);
}

PtcRemoteListener *ptc_pulse_listener(PtcBeat *beat)
{
    return beat->call ? &beat->listener : NULL;
}

/* Calls without a token cost nothing: no lock, no thread. */
void ptc_pulse_begin(PtcPulse *p, PtcBeat *beat, PtcMcpCall *call)
{
    *beat = (PtcBeat){0};
    if (!ptc_mcp_wants_progress(call))
        return;
    int64_t now = ptc_clock_ns(NULL);
    pthread_mutex_lock(&p->lock);
    if (has_thread(p)) {
        beat->listener.progress = on_progress;
        beat->pulse = p;
        beat->call = call;
        beat->begun_ns = now;
        beat->told_ns = now - LINE_NS;
        insert(p, beat, now + p->every_ns);
        if (p->asleep)
            pthread_cond_signal(&p->change);
        p->asleep = false;
    }
    pthread_mutex_unlock(&p->lock);
}

void ptc_pulse_end(PtcPulse *p, PtcBeat *beat)
{
    if (!beat->call)
        return;
    pthread_mutex_lock(&p->lock);
    unlink_beat(p, beat);
    pthread_mutex_unlock(&p->lock);
    beat->call = NULL;
}

PtcPulse *ptc_pulse_new(PtcMem *mem, int64_t every_ms)
{
    pthread_condattr_t attr;
    PtcPulse *p = ptc_mem_alloc(mem, sizeof *p);
    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    p->mem = mem;
    p->every_ns = every_ms * 1000000;
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->change, &attr);
    pthread_condattr_destroy(&attr);
    return p;
}

void ptc_pulse_free(PtcPulse *p)
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
