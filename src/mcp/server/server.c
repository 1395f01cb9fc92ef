/* SPDX-License-Identifier: MIT
 * The server: its defaults, its rows, its life. */
#include <stdio.h>
#include <unistd.h>

#include "base/text/secret.h"
#include "mcp/server/task_record.h"

/* 0 means "the default" everywhere, so a config can be written with the fields that matter. */
static void set_server_defaults(PtcMcpConfig *c)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!c->max_running)
        c->max_running = cores > 0 ? (unsigned)cores : 1;
    if (!c->max_waiting)
        c->max_waiting = 1000;
    else if (c->max_waiting == PTC_MCP_NO_WAITING)
        c->max_waiting = 0;
    if (!c->max_paused)
        c->max_paused = 64;
    if (!c->wait_ms)
        c->wait_ms = 30 * 1000;
    if (!c->waiting_bytes)
        c->waiting_bytes = (size_t)64 * PTC_MB;
    if (!c->owner_share)
        c->owner_share = 100;
    if (!c->page_size)
        c->page_size = SIZE_MAX;
    if (!c->list_ttl_ms)
        c->list_ttl_ms = 5 * 60 * 1000;
    if (!c->max_frame_bytes)
        c->max_frame_bytes = 4 * PTC_MB;
    if (!c->max_answer_bytes)
        c->max_answer_bytes = 32 * PTC_MB;
    if (!c->memory_bytes)
        c->memory_bytes = (size_t)512 * PTC_MB;
    if (!c->ask_timeout_ms)
        c->ask_timeout_ms = 5 * 60 * 1000;
    if (!c->state_ttl_ms)
        c->state_ttl_ms = 10 * 60 * 1000;
    if (!c->task_after_ms)
        c->task_after_ms = 10 * 1000;
    if (!c->task_max_ms)
        c->task_max_ms = 60 * 60 * 1000;
    if (!c->task_ttl_ms)
        c->task_ttl_ms = 60 * 60 * 1000;
    if (!c->task_lease_ms)
        c->task_lease_ms = 30 * 1000;
    if (!c->task_refused_ms)
        c->task_refused_ms = 50 * 1000;
    if (!c->max_tasks)
        c->max_tasks = 48;
}

/* The struct is charged to the ledger inside it, as if that had existed before. */
static PtcMcp *alloc_server(size_t limit, uint64_t fail_at)
{
    PtcMem mem;
    ptc_mem_init(&mem, limit);
    PtcMcp *mcp = ptc_mem_alloc(&mem, sizeof *mcp);
    if (!mcp)
        return NULL;
    memset(mcp, 0, sizeof *mcp);
    ptc_mem_init(&mcp->mem, limit);
    atomic_store(&mcp->mem.used, sizeof *mcp);
    ptc_mem_fail_at(&mcp->mem, fail_at);
    return mcp;
}

static void free_server(PtcMcp *mcp)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *mcp);
    ptc_mem_free(&mem, mcp, sizeof *mcp);
}

/* What clients will be told is checked and rendered here, so that a wrong row stops the start and not a call. */
PtcMcp *ptc_mcp_new(const PtcMcpConfig *config, PtcWhy *why)
{
    PtcMcpConfig c = *config;
    set_server_defaults(&c);
    ptc_why_no_memory(why);
    PtcMcp *mcp = alloc_server(c.memory_bytes, config->fail_allocation);
    if (!mcp)
        return NULL;
    mcp->config = c;
    ptc_pool_init(&mcp->pool, &mcp->mem);
    ptc_gate_init(&mcp->gate, &(PtcGateBounds){.max_running = c.max_running,
                                               .max_waiting = c.max_waiting,
                                               .max_paused = c.max_paused,
                                               .max_bytes = c.waiting_bytes,
                                               .share = c.owner_share});
    pthread_mutex_init(&mcp->lock, NULL);
    pthread_mutex_init(&mcp->retold_lock, NULL);
    ptc_mcp_tasks_init(mcp);
    if (c.key)
        memcpy(mcp->key, c.key, sizeof mcp->key);
    if ((!c.key && !ptc_random_bytes(mcp->key, sizeof mcp->key)) ||
        !ptc_random_bytes(mcp->tasks.node, sizeof mcp->tasks.node)) {
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "the system gives no random bytes");
    } else if (!c.name || !c.version) {
        ptc_why_say(why, PTC_WHY_INVALID, "a server needs a name and a version");
    } else if (ptc_mcp_raw_init(mcp, why) && ptc_mcp_rows_init(mcp, why) &&
               ptc_mcp_checks_init(mcp, why)) {
        return mcp;
    }
    ptc_mcp_free(mcp);
    return NULL;
}

void ptc_mcp_free(PtcMcp *mcp)
{
    if (!mcp)
        return;
    ptc_mcp_tasks_deinit(mcp);
    ptc_mcp_rows_deinit(mcp);
    ptc_mcp_checks_deinit(mcp);
    pthread_mutex_destroy(&mcp->lock);
    pthread_mutex_destroy(&mcp->retold_lock);
    ptc_gate_deinit(&mcp->gate);
    ptc_pool_deinit(&mcp->pool);
    free_server(mcp);
}

void *ptc_mcp_server_user(const PtcMcp *mcp)
{
    return mcp->config.user;
}

size_t ptc_mcp_max_frame(const PtcMcp *mcp)
{
    return mcp->config.max_frame_bytes;
}

unsigned ptc_mcp_max_threads(const PtcMcp *mcp)
{
    return mcp->config.max_running + mcp->config.max_paused;
}

unsigned ptc_mcp_max_waiting(const PtcMcp *mcp)
{
    return mcp->config.max_waiting;
}

void ptc_mcp_load(PtcMcp *mcp, unsigned *running, unsigned *waiting)
{
    ptc_gate_load(&mcp->gate, running, waiting);
}

PtcMem *ptc_mcp_mem(PtcMcp *mcp)
{
    return &mcp->mem;
}

/* Calls fn at once if the server was stopped before, so that a transport cannot miss it. */
void ptc_mcp_on_stop(PtcMcp *mcp, void (*fn)(void *user), void *user)
{
    pthread_mutex_lock(&mcp->lock);
    mcp->on_stop = fn;
    mcp->stop_user = user;
    if (fn && mcp->stopped)
        fn(user);
    pthread_mutex_unlock(&mcp->lock);
}

/* The gate first: whoever waits there is turned away before the transport is told. */
void ptc_mcp_stop(PtcMcp *mcp)
{
    ptc_gate_stop(&mcp->gate);
    pthread_mutex_lock(&mcp->lock);
    if (!mcp->stopped && mcp->on_stop)
        mcp->on_stop(mcp->stop_user);
    mcp->stopped = true;
    pthread_mutex_unlock(&mcp->lock);
}
