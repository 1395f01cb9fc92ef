/* SPDX-License-Identifier: MIT
 * The roots of the client, for servers that programs call.  These may ask for them at any time, also right after they
 * were started, when no call of the client is there to ask it with: so it is asked before a program runs, and what it
 * said is kept. */
#include "base/units.h"
#include "mcp/app/app_int.h"

#include "json/emit.h"
#include "value/coll/map.h"

enum { ROOTS_ANSWER_BYTES = 512 * PTC_KB, ROOTS_ASK_MS = 5000 };
static const int64_t KEPT_NS = 5 * 60 * PTC_S;

/* A modern client cannot tell that they have changed. */
static bool are_roots_known(PtcJob *job, unsigned changes)
{
    PtcAppRoots *r = &job->app->roots;
    bool modern = ptc_mcp_era(job->call) == PTC_MCP_MODERN;
    pthread_mutex_lock(&r->lock);
    bool known =
        r->asked && r->changes == changes && (!modern || ptc_clock_ns(NULL) - r->at_ns < KEPT_NS);
    pthread_mutex_unlock(&r->lock);
    return known;
}

static void keep_client_roots(PtcJob *job, unsigned changes, PtcValue answer)
{
    PtcAppRoots *r = &job->app->roots;
    PtcBuf text;
    ptc_buf_init(&text, ptc_mcp_mem(ptc_mcp_server(job->call)), ROOTS_ANSWER_BYTES);
    bool has = answer != PTC_NONE && ptc_is_map(answer) &&
               ptc_emit_value(&text, ptc_mcp_heap(job->call), answer);
    job->app->config.roots(job->app->config.user, has ? ptc_buf_view(&text) : (PtcText){NULL, 0});
    ptc_buf_deinit(&text);
    pthread_mutex_lock(&r->lock);
    r->asked = true;
    r->changes = changes;
    r->at_ns = ptc_clock_ns(NULL);
    pthread_mutex_unlock(&r->lock);
}

/* One that gives no answer in time is not asked again before it says that something has changed: calls would only be
 * slow. */
bool ptc_job_roots(PtcJob *job)
{
    PtcValue answer;
    if (!job->app->config.roots || !ptc_mcp_can_ask(job->call, "roots/list"))
        return true;
    unsigned changes = ptc_mcp_roots_changes(job->call);
    if (are_roots_known(job, changes))
        return true;
    switch (ptc_mcp_ask_soon(job->call, ROOTS_ASK_MS, "roots", "roots/list", "{}", &answer)) {
    case PTC_MCP_ASK_PENDING: job->unrecorded = true; return false;
    case PTC_MCP_ASK_UNSUPPORTED: return true;
    case PTC_MCP_ASK_READY:
    case PTC_MCP_ASK_FAILED: break;
    }
    if (!ptc_mcp_cancelled(job->call))
        keep_client_roots(job, changes, answer);
    return true;
}
