/* SPDX-License-Identifier: MIT
 * The app as a whole: its defaults, the stores behind its tools, its MCP server. */
#include "mcp/app/app.h"

#include <stdio.h>

#include "mcp/app/app_int.h"

/* So many full owners together. */
enum { OWNERS_RESULTS = 4 };
enum { KEPT_RESULTS = 64, RING = 500, APP_PROGRESS_MS = 10000, TASK_ABOUT_BYTES = 64 * PTC_KB };
/* ASK_MS: clients give up after a minute.  A state is checked by the app itself, which can say what had taken
 * effect. */
enum {
    APPROVAL_MS = 10 * 60 * 1000,
    APP_ASK_MS = 45 * 1000,
    STATE_MS = 24 * 60 * 60 * 1000,
    APP_TASK_MS = 60 * 60 * 1000
};

/* Without the debug tool nobody could read the ring, so none is kept. */
static void set_app_defaults(PtcAppConfig *c)
{
    c->max_program_bytes = c->max_program_bytes ? c->max_program_bytes : 64 * PTC_KB;
    c->max_context_bytes = c->max_context_bytes ? c->max_context_bytes : 4 * PTC_MB;
    c->kept_bytes = c->kept_bytes ? c->kept_bytes : 64 * PTC_MB;
    c->approval_ttl_ms = c->approval_ttl_ms ? c->approval_ttl_ms : APPROVAL_MS;
    c->approval_wait_ms = c->approval_wait_ms ? c->approval_wait_ms : APP_ASK_MS;
    c->progress_ms = c->progress_ms ? c->progress_ms : APP_PROGRESS_MS;
    c->task_max_ms = c->task_max_ms ? c->task_max_ms : APP_TASK_MS;
    if (!c->debug_tool)
        c->recorder.ring = 0;
    else if (!c->recorder.ring)
        c->recorder.ring = RING;
}

static bool make_stores(PtcApp *app, PtcWhy *why)
{
    const PtcAppConfig *c = &app->config;
    PtcSessionsConfig sessions = c->session;
    sessions.store = c->store;
    if (c->sessions && !(app->sessions = ptc_sessions_new(&sessions)))
        return ptc_why_no_memory(why);
    if ((c->debug_tool || c->recorder.trace_dir || c->recorder.traced) &&
        !(app->recorder = ptc_recorder_new(&c->recorder, why)))
        return false;
    ptc_why_no_memory(why);
    if (c->remote &&
        !(app->suspended = ptc_suspended_new(&app->mem, c->remote, c->store, c->approval_ttl_ms)))
        return false;
    ptc_task_book_init(&app->book, c->store, c->owner_share);
    app->results = (PtcResults){c->store,
                                &app->mem,
                                {.count = OWNERS_RESULTS * KEPT_RESULTS,
                                 .owner_count = KEPT_RESULTS,
                                 .bytes = OWNERS_RESULTS * c->kept_bytes,
                                 .owner_bytes = c->kept_bytes}};
    return (app->sender = ptc_progress_sender_new(&app->mem, c->progress_ms)) && ptc_app_rows(app);
}

static void on_listed(PtcMcpCall *call)
{
    const PtcApp *app = ptc_mcp_server_user(ptc_mcp_server(call));
    app->config.listed(app->config.user, ptc_mcp_owner(call), ptc_app_offers(app, call));
}

/* A task that was told of must not be lost with its engine: on a store that may forget, there are none.  In memory all
 * ends together. */
static bool keeps_tasks(const PtcAppConfig *c)
{
    return !ptc_store_is_shared(c->store) || ptc_store_is_durable(c->store);
}

/* Lists are private as soon as they tell of tools or data, because a shared cache would hand them to others. */
static bool make_server(PtcApp *app, PtcWhy *why)
{
    const PtcAppConfig *c = &app->config;
    PtcMcpConfig mcp = {
        .name = "ptc",
        .version = PTC_VERSION,
        .title = "PTC-Lisp",
        .instructions =
            "Runs small programs in PTC-Lisp, a Clojure subset, inside hard limits. Use it "
            "to count, filter, join and compute instead of doing so in your head: one "
            "program replaces many steps, and large data stays out of the conversation.",
        .tools = app->tools,
        .tool_count = app->tool_count,
        .max_frame_bytes = c->max_frame_bytes,
        .max_running = c->max_running,
        .max_waiting = c->max_waiting,
        .wait_ms = c->wait_ms,
        .owner_share = c->owner_share,
        .quota = c->quota,
        .structured = c->structured,
        .private_lists = c->private_lists || (c->about_data && *c->about_data) ||
                         (c->about_upstreams && *c->about_upstreams) ||
                         (c->tools && ptc_tools_count(c->tools)),
        .ask_timeout_ms = c->approval_wait_ms,
        .state_ttl_ms = STATE_MS,
        .key = c->key,
        .book = keeps_tasks(c) ? &app->book.book : NULL,
        .task_after_ms = c->task_after_ms,
        .task_max_ms = c->task_max_ms,
        .task_ttl_ms = c->task_ttl_ms,
        .task_lease_ms = c->task_lease_ms,
        .task_refused_ms = app->deadline_ms,
        .listed = c->listed ? on_listed : NULL,
        .list_changed = c->upstreams_later,
        .user = app,
    };
    return (app->mcp = ptc_mcp_new(&mcp, why)) != NULL;
}

/* The limit on time is kept here as well, because it counts from the arrival of a call. */
PtcApp *ptc_app_new(const PtcAppConfig *config, PtcWhy *why)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcApp *app = ptc_mem_alloc(&mem, sizeof *app);
    ptc_why_no_memory(why);
    if (!app)
        return NULL;
    memset(app, 0, sizeof *app);
    ptc_mem_init(&app->mem, PTC_UNBOUNDED);
    ptc_background_tasks_init(&app->backgrounds, &app->mem);
    pthread_mutex_init(&app->roots.lock, NULL);
    app->config = *config;
    set_app_defaults(&app->config);
    app->sizes = &ptc_app_sizes[config->profile];
    app->deadline_ms = config->limits ? config->limits->deadline_ms : 0;
    ptc_buf_init(&app->description, &app->mem, PTC_MB);
    ptc_buf_init(&app->task_description, &app->mem, TASK_ABOUT_BYTES);
    if (make_stores(app, why) && make_server(app, why))
        return app;
    ptc_app_free(app);
    return NULL;
}

PtcMcp *ptc_app_mcp(PtcApp *app)
{
    return app->mcp;
}

int64_t ptc_app_time_for(const PtcApp *app, const PtcMcpCall *call)
{
    bool longer = ptc_mcp_may_be_task(call) && app->config.task_max_ms > app->deadline_ms;
    return app->deadline_ms > 0 && longer ? app->config.task_max_ms : app->deadline_ms;
}

void ptc_app_free(PtcApp *app)
{
    PtcMem mem;
    if (!app)
        return;
    if (app->mcp)
        ptc_mcp_end_tasks(app->mcp);
    ptc_suspended_free(app->suspended);
    ptc_background_tasks_deinit(&app->backgrounds);
    pthread_mutex_destroy(&app->roots.lock);
    if (app->mcp)
        ptc_mcp_free(app->mcp);
    ptc_sessions_free(app->sessions);
    ptc_recorder_free(app->recorder);
    ptc_progress_sender_free(app->sender);
    ptc_buf_deinit(&app->description);
    ptc_buf_deinit(&app->task_description);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *app);
    ptc_mem_free(&mem, app, sizeof *app);
}
