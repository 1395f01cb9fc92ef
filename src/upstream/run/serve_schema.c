/* SPDX-License-Identifier: MIT
 * Schemas of upstreams, applied to what a run sends and gets.  A server can make that as costly as it likes, with one
 * pattern, and it happens here and not in a worker.  What always holds: the checks of a run, on all of its threads,
 * take CHECKS_MS together and end with the run; a schema that ran out of that time is not used again. */
#include "tool/schema/schema.h"
#include "upstream/run/serve_int.h"

/* A check takes microseconds as a rule, but machines are busy.  Of the checks that were under way when the time was
 * used up, those that had taken LATE_MS themselves are to blame. */
enum { CHECKS_MS = 2000, LATE_MS = 10 };
#define NEVER_NS (INT64_MAX - 1) /* less than the end of compute time, which there is none of */
enum { DIGEST = PTC_LISTING_DIGEST / 4 };

/* ------------------------------------------------------------------------------ slow schemas */

/* Listings come and go, so a schema is known by its digest.  NULL: out of memory; then it is not remembered. */
static const char *digest_of_schema(const PtcRunCheck *c)
{
    const char *all = ptc_listing_digest(c->listing, c->tool);
    return all ? all + (size_t)DIGEST * (c->results ? 2 : 1) : NULL;
}

/* With manager->lock held; -1: it is not among them. */
static int find_slow(const PtcUpstream *up, const char *digest)
{
    for (size_t i = 0; i < PTC_UPSTREAM_SLOW && i < up->slow.count; i++)
        if (memcmp(up->slow.items[i].digest, digest, DIGEST) == 0)
            return (int)i;
    return -1;
}

static bool is_slow(const PtcRunCheck *c)
{
    PtcManager *m = c->run->manager;
    const char *digest = atomic_load(&c->upstream->slow.count) ? digest_of_schema(c) : NULL;
    if (!digest)
        return false;
    pthread_mutex_lock(&m->lock);
    int at = find_slow(c->upstream, digest);
    pthread_mutex_unlock(&m->lock);
    return at >= 0;
}

/* Nothing is checked with the schema any more.  True, once: a call is there to be told. */
static bool give_up_schema(PtcRunCheck *c, bool has_call)
{
    PtcManager *m = c->run->manager;
    PtcUpstream *up = c->upstream;
    const char *digest = digest_of_schema(c);
    if (!digest)
        return false;
    pthread_mutex_lock(&m->lock);
    int at = find_slow(up, digest);
    if (at < 0) {
        at = (int)(up->slow.count++ % PTC_UPSTREAM_SLOW);
        memcpy(up->slow.items[at].digest, digest, DIGEST);
        up->slow.items[at].told = false;
    }
    bool news = has_call && !up->slow.items[at].told;
    up->slow.items[at].told |= news;
    pthread_mutex_unlock(&m->lock);
    return news;
}

/* ------------------------------------------------------------------------------------ checks */

/* What all checks of the run have taken counts, so it is added up whenever one of them looks at the clock. */
static int64_t check_clock(void *user)
{
    PtcRunCheck *c = user;
    int64_t now = ptc_clock_ns(NULL), used = now - c->seen_ns;
    c->seen_ns = now;
    c->late = atomic_fetch_add(&c->run->checked_ns, used) + used > CHECKS_MS * PTC_MS;
    return c->late ? NEVER_NS : now;
}

void ptc_run_check_begin(PtcRunCheck *c, PtcUpCall *call, PtcListing *l, size_t tool, bool results)
{
    PtcUpRun *run = call->run;
    *c = (PtcRunCheck){.run = run,
                       .upstream = ptc_run_upstream(run, call->slot),
                       .listing = l,
                       .tool = tool,
                       .results = results};
    ptc_budget_init(&c->budget);
    c->begun_ns = c->seen_ns = ptc_clock_ns(NULL);
    c->budget.clock_ns = check_clock;
    c->budget.clock_user = c;
    c->budget.cancel = run->cancel;
    c->budget.deadline_ns = run->deadline_ns < NEVER_NS ? run->deadline_ns : NEVER_NS;
    c->given_up = is_slow(c);
    c->schema = c->given_up ? NULL : ptc_listing_schema(l, tool, results, &c->budget);
}

unsigned ptc_run_check_end(PtcRunCheck *c, PtcBudget *budget, bool has_call)
{
    (void)check_clock(c);
    if (c->budget.stop == PTC_STOP_MEMORY)
        ptc_budget_halt(budget, PTC_STOP_MEMORY);
    bool blamed = c->budget.stop == PTC_STOP_DEADLINE && c->late &&
                  c->seen_ns - c->begun_ns >= LATE_MS * PTC_MS;
    return (blamed || c->given_up) && give_up_schema(c, has_call) ? PTC_NOTE_SCHEMA_SLOW : 0;
}
