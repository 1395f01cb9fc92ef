/* SPDX-License-Identifier: MIT
 * Connections that fail: how long they are left alone, and when the breaker opens.  What always holds: a server that
 * answers, if only with a refusal, has not failed; calls that waited for one that went down are tried again, or get the
 * reason. */
#include <stdio.h>

#include "base/text/clean.h"
#include "base/utf8.h"
#include "upstream/connect/manager_int.h"

enum {
    BACKOFF_MS = 500,
    BACKOFF_MAX_MS = 60 * 1000,
    REFUSED_MS = 100,         /* somebody may have signed in meanwhile, which is quick to see */
    BREAKER_AFTER = 5,        /* failures in a row */
    EXITS_MS = 2 * 60 * 1000, /* or so many exits of a process in this time: PTC_INSTANCE_EXITS */
    BREAKER_MS = 15 * 1000,
    BREAKER_MAX_MS = 5 * 60 * 1000,
    /* ns */
};

static int64_t doubled(int64_t first, int64_t most, unsigned times)
{
    while (times-- && first < most)
        first *= 2;
    return first < most ? first : most;
}

/* Later each time; after several failures in a row much later. */
static int64_t pause_ms(unsigned failures)
{
    if (failures >= BREAKER_AFTER)
        return doubled(BREAKER_MS, BREAKER_MAX_MS, failures - BREAKER_AFTER);
    return doubled(BACKOFF_MS, BACKOFF_MAX_MS, failures ? failures - 1 : 0);
}

/* Why it is down goes to failures, logs of calls and people, and what a server wrote before it died may have its
 * credentials in it.  The beginning may have been cut off already. */
static void keep_why(PtcInstance *i, PtcText why)
{
    PtcManager *m = i->upstream->manager;
    PtcBuf safe, valid, out = {.data = i->why, .cap = sizeof i->why, .max = sizeof i->why};
    ptc_buf_init(&safe, m->mem, 64 * PTC_KB);
    why.len = why.len < 16 * PTC_KB ? why.len : 16 * PTC_KB;
    ptc_buf_init(&valid, m->mem, 64 * PTC_KB);
    ptc_secrets_blot(&m->told, &safe, why, true);
    ptc_utf8_add(&valid, ptc_buf_view(&safe));
    bool ok = ptc_buf_ok(&safe) && ptc_buf_ok(&valid);
    ptc_clean_add(&out, ok ? ptc_buf_view(&valid) : PTC_TEXT("out of memory"), sizeof i->why - 1,
                  false);
    i->why[out.len] = '\0';
    ptc_buf_deinit(&valid);
    ptc_buf_deinit(&safe);
}

/* A process that starts and lists well, and then dies, has no failures in a row; that it dies again and again opens the
 * breaker all the same, for longer each time. */
static void note_exit(PtcInstance *i, int64_t now)
{
    memmove(i->exits, i->exits + 1, sizeof i->exits - sizeof *i->exits);
    i->exits[PTC_INSTANCE_EXITS - 1] = now;
    if (!i->exits[0] || now - i->exits[0] > EXITS_MS * PTC_MS)
        i->openings = 0;
    else if (i->failures < BREAKER_AFTER + i->openings)
        i->failures = BREAKER_AFTER + i->openings++;
}

/* A connection that is still there (only its listing failed) is ended by the loop, so that the next start is a new
 * one. */
void ptc_instance_down(PtcInstance *i, PtcText why)
{
    bool was_down = i->state == PTC_INSTANCE_DOWN, starting = i->state == PTC_INSTANCE_STARTING;
    const PtcEntry *e = &i->upstream->entry;
    int64_t now = ptc_clock_ns(NULL);
    unsigned before = i->failures;
    i->state = PTC_INSTANCE_DOWN;
    i->listing = false;
    if (was_down) /* its connection ends now, which says less than the reason why */
        return;
    keep_why(i, why);
    i->failures += !i->refused; /* one that answers, if only with no, is not broken */
    if (!e->web && !e->openapi && !i->connected)
        note_exit(i, now);
    if (before < BREAKER_AFTER && i->failures >= BREAKER_AFTER)
        ptc_call_count(&i->upstream->counts.breaker_opened, 1);
    i->retry_ns = now + (i->refused ? REFUSED_MS : pause_ms(i->failures)) * PTC_MS;
    if (e->openapi)
        i->connected = false; /* a service has no connection that would have to be ended */
    else if (i->connected)
        (void)!ptc_loop_post(i->upstream->manager->loop, &i->drop); /* a loop with a link runs */
    ptc_queue_fail(i, i->why, starting);
}

void ptc_instance_drop(PtcLoopTask *task)
{
    PtcInstance *i = (PtcInstance *)((char *)task - offsetof(PtcInstance, drop));
    PtcManager *m = i->upstream->manager;
    pthread_mutex_lock(&m->lock);
    PtcEndpoint *endpoint = i->connected && i->state == PTC_INSTANCE_DOWN ? i->endpoint : NULL;
    pthread_mutex_unlock(&m->lock);
    if (endpoint) /* only this thread closes links, so it is there */
        ptc_endpoint_disconnect(endpoint, PTC_TEXT("its list of tools could not be read"));
}

/* A link tells itself when its server is gone.  Of a service only answers tell: it is down when several requests in a
 * row had none, or only one of a gateway in front of it. */
void ptc_instance_heard(PtcInstance *i, const PtcLinkReply *reply)
{
    bool gateway =
        reply->end == PTC_LINK_HTTP_FAULT && reply->status >= 502 && reply->status <= 504;
    bool failed = reply->end == PTC_LINK_BROKEN || gateway;
    if (!i->upstream->entry.openapi || i->state != PTC_INSTANCE_READY)
        return;
    if (failed && i->failures + 1 >= BREAKER_AFTER) {
        ptc_endpoint_doubt(i->endpoint);
        ptc_instance_down(
            i, gateway ? PTC_TEXT("its gateway answered instead of it five times in a row")
                       : ptc_buf_view(&reply->text));
    } else if (failed) {
        i->failures++;
    } else if (reply->end == PTC_LINK_ANSWER || reply->end == PTC_LINK_HTTP_FAULT) {
        i->failures = 0;
    }
}

bool ptc_instance_rests(const PtcInstance *i)
{
    return i->state == PTC_INSTANCE_DOWN && i->failures >= BREAKER_AFTER;
}
