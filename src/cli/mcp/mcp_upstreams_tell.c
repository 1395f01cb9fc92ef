/* SPDX-License-Identifier: MIT
 * The manager of upstreams and the app do not see each other; these are the functions between them.  Any thread may
 * call them. */
#include <string.h>

#include "cli/mcp/mcp_upstreams.h"
#include "upstream/catalog/catalog_text.h"

/* Kept for the managers of later. */
static void keep_warm_owner(PtcMcpUpstreams *u, const char *owner, unsigned offers)
{
    size_t len = strlen(owner) + 1;
    pthread_mutex_lock(&u->lock);
    if (!u->warm_owner && (u->warm_owner = ptc_mem_alloc(u->mem, len))) {
        memcpy(u->warm_owner, owner, len);
        u->warm_offers = offers;
    }
    pthread_mutex_unlock(&u->lock);
}

/* PtcAppConfig.listed: now there is time to get to know the others.  A moment later, so that a client that is still
 * asking for other lists is answered first. */
static void warm_owner_upstreams(void *user, const char *owner, unsigned offers)
{
    enum { LATER_MS = 1000 };
    PtcMcpUpstreams *u = user;
    keep_warm_owner(u, owner, offers);
    PtcManager *manager = ptc_mcp_upstreams_hold(u);
    ptc_manager_warm(manager, owner, offers, LATER_MS);
    ptc_mcp_upstreams_release(u, manager);
}

/* PtcAppConfig.upstream_stats. */
static void write_owner_stats(void *user, const char *owner, PtcBuf *out)
{
    PtcManager *manager = ptc_mcp_upstreams_hold(user);
    ptc_manager_stats(manager, owner, out);
    ptc_mcp_upstreams_release(user, manager);
}

/* PtcAppConfig.roots. */
static void set_roots(void *user, PtcText result)
{
    PtcManager *manager = ptc_mcp_upstreams_hold(user);
    ptc_manager_set_roots(manager, result);
    ptc_mcp_upstreams_release(user, manager);
}

void ptc_mcp_upstreams_metrics(void *user, PtcBuf *out)
{
    PtcManager *manager = ptc_mcp_upstreams_hold(user);
    ptc_manager_metrics(manager, out);
    ptc_mcp_upstreams_release(user, manager);
}

void ptc_mcp_upstreams_describe(PtcMcpUpstreams *u, PtcBuf *out, size_t budget)
{
    PtcManager *manager = ptc_mcp_upstreams_hold(u);
    ptc_manager_describe(manager, out, budget);
    ptc_mcp_upstreams_release(u, manager);
}

bool ptc_mcp_upstreams_are_read_only(PtcMcpUpstreams *u)
{
    PtcManager *manager = ptc_mcp_upstreams_hold(u);
    bool all = ptc_manager_is_read_only(manager);
    ptc_mcp_upstreams_release(u, manager);
    return all;
}

/* Secrets need no word: the options name who keeps records, and hears of every one. */
void ptc_mcp_upstreams_tell(PtcMcpUpstreams *u, const char *about, bool one_client, PtcAppConfig *c)
{
    PtcManager *manager = ptc_mcp_upstreams_hold(u);
    c->remote = &u->remote;
    c->about_upstreams = about;
    c->listed = warm_owner_upstreams;
    c->upstream_stats = write_owner_stats;
    c->roots = one_client && ptc_manager_takes_roots(manager) ? set_roots : NULL;
    c->upstreams_later = !ptc_manager_is_known(manager);
    c->user = u;
    c->upstreams_change = !ptc_manager_is_read_only(manager);
    ptc_mcp_upstreams_release(u, manager);
}

static void retell_app(PtcMcpUpstreams *u)
{
    PtcBuf about;
    ptc_buf_init(&about, u->mem, PTC_MCP_ABOUT_BYTES);
    ptc_mcp_upstreams_describe(u, &about, PTC_CATALOG_TEXT_BYTES);
    const char *text = ptc_buf_text(&about);
    if (text)
        ptc_app_retell(u->app, text, !ptc_mcp_upstreams_are_read_only(u));
    ptc_buf_deinit(&about);
}

void ptc_mcp_upstreams_retell(void *user)
{
    PtcMcpUpstreams *u = user;
    pthread_mutex_lock(&u->app_lock);
    if (u->app)
        retell_app(u);
    pthread_mutex_unlock(&u->app_lock);
}

void ptc_mcp_upstreams_follow(PtcMcpUpstreams *u, PtcApp *app)
{
    PtcManager *manager = ptc_mcp_upstreams_hold(u);
    if (!manager)
        return;
    pthread_mutex_lock(&u->app_lock);
    u->app = app;
    pthread_mutex_unlock(&u->app_lock);
    if (app)
        ptc_manager_on_known(manager, ptc_mcp_upstreams_retell, u);
    ptc_mcp_upstreams_release(u, manager);
}
