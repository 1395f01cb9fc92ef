/* SPDX-License-Identifier: MIT
 * Connections that nobody needs any more end, and begin again with the next call.  What always holds: nothing is under
 * way, queued or being listed when one ends, and nothing is started before the old one can no longer send anything. */
#include "upstream/connect/manager_int.h"

static bool is_busy(const PtcInstance *i)
{
    return i->first || i->waiting || i->sent || i->listing || i->jobs || i->resting;
}

static PtcEndpoint *begin_instance_rest(PtcInstance *i)
{
    PtcEndpoint *endpoint = i->endpoint;
    i->endpoint = NULL;
    i->resting = true;
    i->state = PTC_INSTANCE_COLD;
    return endpoint;
}

PtcEndpoint *ptc_instance_rest_unused(PtcInstance *i)
{
    return !i->warming || i->used || is_busy(i) ? NULL : begin_instance_rest(i);
}

void ptc_instance_rest_end(PtcInstance *i, PtcEndpoint *endpoint)
{
    PtcManager *m = i->upstream->manager;
    ptc_endpoint_free(endpoint);
    pthread_mutex_lock(&m->lock);
    i->resting = i->connected = i->warming = false;
    if (i->first || i->waiting)
        ptc_instance_start(i);
    (void)!ptc_manager_wake(m);
    pthread_mutex_unlock(&m->lock);
}

void ptc_instance_rest_run(PtcLoopTask *task)
{
    PtcInstance *i = (PtcInstance *)((char *)task - offsetof(PtcInstance, rest));
    PtcEndpoint *endpoint = i->ended;
    i->ended = NULL;
    ptc_instance_rest_end(i, endpoint);
}

/* Ending waits for the server to go, which the loop's thread must not: the work loop does it. */
int64_t ptc_instance_rest_idle(PtcInstance *i, int64_t now)
{
    PtcManager *m = i->upstream->manager;
    int64_t idle_ns = m->config.idle_ms * PTC_MS, end = i->last_ns + idle_ns;
    bool up = i->state == PTC_INSTANCE_READY || i->state == PTC_INSTANCE_DOWN;
    if (idle_ns <= 0 || !i->endpoint || !up || i->upstream->entry.shared)
        return INT64_MAX;
    if (is_busy(i) || now < end)
        return now < end ? end : now + idle_ns;
    bool was_down = i->state == PTC_INSTANCE_DOWN;
    i->ended = begin_instance_rest(i);
    i->used = false;
    if (ptc_loop_post(m->work_loop, &i->rest))
        return INT64_MAX;
    i->endpoint = i->ended; /* no thread could be started: it stays */
    i->state = was_down ? PTC_INSTANCE_DOWN : PTC_INSTANCE_READY;
    i->resting = false;
    i->used = true;
    return now + idle_ns;
}
