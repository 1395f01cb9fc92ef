/* SPDX-License-Identifier: MIT
 * Progress of calls.  What always holds: a listener is told only while the manager's lock is held, so that none is told
 * after ptc_progress_listen has replaced it; servers write the words, so secrets are blotted out and the rest is
 * cleaned. */
#include "upstream/connect/call_progress.h"

#include "base/text/clean.h"
#include "base/units.h"
#include "upstream/connect/manager_int.h"

enum { PROGRESS_LINE_BYTES = 300, PROGRESS_NAME_BYTES = 128, PROGRESS_TAKEN_BYTES = 4096 };
static const int64_t PAUSE_NS = 200 * PTC_MS; /* between two lines of a run, at least */

void ptc_progress_listen(void *user, PtcRemoteListener *listener)
{
    PtcUpRun *run = user;
    pthread_mutex_lock(&run->manager->lock);
    run->listener = listener;
    pthread_mutex_unlock(&run->manager->lock);
}

/* "files: 3 of 10, reading b.txt" */
static void add_progress_line(PtcManager *m, PtcBuf *out, const PtcUpCall *call, double done,
                              double total, PtcText message)
{
    PtcBuf safe;
    PtcText name = call->instance->upstream->entry.name;
    message.len = message.len < PROGRESS_TAKEN_BYTES ? message.len : PROGRESS_TAKEN_BYTES;
    ptc_buf_init(&safe, m->mem, 4 * PROGRESS_TAKEN_BYTES);
    ptc_secrets_blot(&m->told, &safe, message, false);
    ptc_clean_add(out, name, PTC_CLEAN_LINE, false);
    ptc_buf_addf(out, total > 0 ? ": %g of %g" : ": %g", done, total);
    if (safe.len && ptc_buf_ok(&safe)) {
        ptc_buf_add_cstr(out, ", ");
        ptc_clean_add(out, ptc_buf_view(&safe), PROGRESS_LINE_BYTES - 100, false);
    }
    ptc_buf_deinit(&safe);
}

/* With the lock held: the listener to tell; NULL: nobody.  Making a line costs us far more than a notification costs
 * the server, so those that come faster than a listener is told are not looked at. */
static PtcRemoteListener *listener_of(const PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    int64_t now = ptc_clock_ns(NULL);
    if (!run || call->held || !run->listener || now - run->told_ns < PAUSE_NS)
        return NULL;
    run->told_ns = now;
    return run->listener;
}

void ptc_progress_take(PtcLinkAsk *ask, double done, double total, PtcText message)
{
    PtcUpCall *call = (PtcUpCall *)ask;
    PtcManager *m = call->instance->upstream->manager;
    PtcBuf line;
    pthread_mutex_lock(&m->lock);
    PtcRemoteListener *listener = listener_of(call);
    if (listener) {
        ptc_buf_init(&line, m->mem, 4 * PROGRESS_LINE_BYTES);
        add_progress_line(m, &line, call, done, total, message);
        if (ptc_buf_ok(&line))
            listener->progress(listener, ptc_buf_view(&line));
        ptc_buf_deinit(&line);
    }
    pthread_mutex_unlock(&m->lock);
}

void ptc_progress_called(const PtcUpCall *call, const char *before, const char *after)
{
    PtcManager *m = call->instance->upstream->manager;
    PtcRemoteListener *listener = call->run && !call->held ? call->run->listener : NULL;
    if (!listener || !call->method)
        return;
    PtcBuf line;
    ptc_buf_init(&line, m->mem, 4 * PROGRESS_LINE_BYTES);
    ptc_buf_add_cstr(&line, before);
    ptc_clean_add(&line, call->instance->upstream->entry.name, PTC_CLEAN_LINE, false);
    ptc_buf_add_cstr(&line, "/");
    if (call->seen)
        ptc_clean_add(&line, call->seen->server.tools[call->tool].name, PROGRESS_NAME_BYTES, false);
    else
        ptc_buf_add_cstr(&line, call->method);
    ptc_buf_add_cstr(&line, after);
    if (ptc_buf_ok(&line))
        listener->called(listener, ptc_buf_view(&line));
    ptc_buf_deinit(&line);
}
