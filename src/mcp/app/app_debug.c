/* SPDX-License-Identifier: MIT
 * lisp_debug: what the recorder knows about an owner's calls. */
#include "mcp/app/app_int.h"

enum { RECENT_DEFAULT = 20, RECENT_MAX = 200 };

static bool recent(PtcJob *job, PtcBuf *out)
{
    int64_t limit = RECENT_DEFAULT, seconds = 0;
    PtcRecent wanted = {0};
    if (!ptc_job_int(job, "limit", 1, RECENT_MAX, &limit) ||
        !ptc_job_int(job, "since_seconds", 1, INT32_MAX, &seconds) ||
        !ptc_job_flag(job, "errors_only", &wanted.errors_only))
        return false;
    wanted.limit = (size_t)limit;
    wanted.since_ms = seconds ? ptc_clock_wall_ms() - seconds * 1000 : 0;
    ptc_recorder_recent(job->app->recorder, job->owner, &wanted, out);
    return true;
}

static bool get_recorded_call(PtcJob *job, PtcBuf *out)
{
    PtcText id;
    return ptc_job_text(job, "request_id", true, &id) &&
           (ptc_recorder_get(job->app->recorder, job->owner, id, out) ||
            ptc_job_fail(job, "unknown_request",
                         "no call of that id is kept; op `recent` lists those that are"));
}

/* Everything that is known about calls, and the state of the servers that they went to. */
static void write_call_stats(PtcJob *job, PtcBuf *out)
{
    const PtcAppConfig *config = &job->app->config;
    PtcBuf upstreams;
    ptc_buf_init(&upstreams, out->mem, out->max / 2);
    if (config->upstream_stats)
        config->upstream_stats(config->user, job->owner, &upstreams);
    ptc_recorder_stats(job->app->recorder, job->owner,
                       ptc_buf_ok(&upstreams) ? ptc_buf_view(&upstreams) : PTC_TEXT(""), out);
    ptc_buf_deinit(&upstreams);
}

static void debug(PtcJob *job)
{
    PtcText op;
    PtcBuf out;
    bool ok = false;
    if (!ptc_job_text(job, "op", true, &op))
        return;
    ptc_buf_init(&out, ptc_mcp_mem(ptc_mcp_server(job->call)), 1 << 20);
    if (ptc_text_is(op, "stats")) {
        write_call_stats(job, &out);
        ok = true;
    } else if (ptc_text_is(op, "recent")) {
        ok = recent(job, &out);
    } else if (ptc_text_is(op, "get")) {
        ok = get_recorded_call(job, &out);
    } else {
        ptc_job_fail(job, "args_error", "`op` is one of stats, recent, get");
    }
    if (ok)
        ptc_job_json(job, &out);
    ptc_buf_deinit(&out);
}

/* Looking at the records is not itself recorded: it would push out what one is looking for. */
void ptc_app_debug(PtcMcpCall *call)
{
    PtcJob job;
    ptc_job_init(&job, call, "lisp_debug");
    debug(&job);
    job.unrecorded = true;
    ptc_job_done(&job);
}
