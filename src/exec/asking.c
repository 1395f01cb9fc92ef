/* SPDX-License-Identifier: MIT
 * Runs in other servers that may wait for a person.  What always holds: a run is either ended here or handed to the
 * submitter, who has to end it. */
#include "exec/asking.h"

#include <stdio.h>

void *ptc_asking_begin(PtcTaskAsking *asking, PtcRemote *remote, const char *owner,
                       int64_t deadline_ns, const PtcCancel *cancel, uint64_t *version)
{
    void *run = asking ? asking->run : NULL;
    if (run) {
        asking->run = NULL;
        remote->again(run, deadline_ns, cancel, version);
        return run;
    }
    run = remote->begin(remote, owner, deadline_ns, cancel, version);
    if (run && asking && remote->allow)
        remote->allow(run, (PtcRemoteMode)asking->mode);
    if (run && asking && remote->offer)
        remote->offer(run, asking->offers);
    return run;
}

void ptc_asking_about(PtcRemote *remote, void *run, const PtcTaskIn *in)
{
    if (remote->trace)
        remote->trace(run, &in->trace);
    if (remote->listen)
        remote->listen(run, in->listener);
}

static void fail_asking_task(PtcTaskOut *out, const char *kind, const char *message)
{
    ptc_task_out_clear(out);
    snprintf(out->reason, sizeof out->reason, "runtime_error");
    snprintf(out->kind, sizeof out->kind, "%s", kind);
    snprintf(out->message, sizeof out->message, "%s", message);
}

/* Does it wait for a person?  A worker that says so when nothing waits is not believed. */
static bool is_waiting_for_person(const PtcTaskAsking *asking, PtcRemote *remote, void *run,
                                  PtcTaskOut *out)
{
    PtcWhy why;
    ptc_why_init(&why);
    if (!out->ok && remote->wants_sign_in && remote->wants_sign_in(run))
        return true;
    if (out->ok || !out->suspended)
        return false;
    if (asking->mode == PTC_REMOTE_PLANS)
        return true;
    if (remote->waiting && remote->waiting(run, &why) > 0)
        return true;
    if (remote->diverged && remote->diverged(run))
        fail_asking_task(
            out, "replay_diverged",
            "after the question was answered the program called something other than before; "
            "nothing more was called");
    else
        fail_asking_task(out, "tool_denied",
                         why.class ? why.text : "nothing was left to ask about");
    return false;
}

void ptc_asking_end(PtcTaskAsking *asking, PtcRemote *remote, void *run, PtcTaskOut *out)
{
    if (remote->listen)
        remote->listen(run, NULL);
    if (remote->effects)
        out->took_any = remote->effects(run, &out->took);
    if (asking && is_waiting_for_person(asking, remote, run, out)) {
        asking->run = run;
        return;
    }
    remote->end(run, &out->call_log);
}
