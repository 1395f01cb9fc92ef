/* SPDX-License-Identifier: MIT
 * The manager of upstreams and the app do not see each other; these are the functions between them.  Any thread may
 * call them. */
#include "cli/mcp/mcp_upstreams.h"

#include "upstream/catalog/catalog_text.h"

/* PtcAppConfig.listed: now there is time to get to know the others.  A moment later, so that a client that is still
 * asking for other lists is answered first. */
static void warm_owner_upstreams(void *user, const char *owner, unsigned offers)
{
    enum { LATER_MS = 1000 };
    const PtcUpstreams *u = user;
    ptc_manager_warm(u->manager, owner, offers, LATER_MS);
}

/* PtcAppConfig.upstream_stats. */
static void write_owner_stats(void *user, const char *owner, PtcBuf *out)
{
    const PtcUpstreams *u = user;
    ptc_manager_stats(u->manager, owner, out);
}

/* PtcAppConfig.roots. */
static void set_roots(void *user, PtcText result)
{
    const PtcUpstreams *u = user;
    ptc_manager_set_roots(u->manager, result);
}

void ptc_mcp_upstreams_metrics(void *user, PtcBuf *out)
{
    const PtcUpstreams *u = user;
    ptc_manager_metrics(u->manager, out);
}

void ptc_mcp_upstreams_tell(PtcUpstreams *u, const char *about, bool one_client, PtcAppConfig *c)
{
    c->about_upstreams = about;
    c->listed = warm_owner_upstreams;
    c->upstream_stats = write_owner_stats;
    c->roots = one_client && ptc_manager_takes_roots(u->manager) ? set_roots : NULL;
    c->upstreams_later = !ptc_manager_is_known(u->manager);
    c->user = u;
    c->upstreams_change = !ptc_manager_is_read_only(u->manager);
    c->recorder.more_secrets = ptc_manager_secrets(u->manager);
}

/* The upstreams that were not known are now, as far as that goes. */
static void retell(void *user)
{
    PtcMcpFollow *f = user;
    PtcBuf about;
    ptc_buf_init(&about, f->upstreams->mem, PTC_MCP_ABOUT_BYTES);
    ptc_manager_describe(f->upstreams->manager, &about, PTC_CATALOG_TEXT_BYTES);
    const char *text = ptc_buf_text(&about);
    if (text)
        ptc_app_retell(f->app, text, !ptc_manager_is_read_only(f->upstreams->manager));
    ptc_buf_deinit(&about);
}

void ptc_mcp_upstreams_follow(PtcMcpFollow *f, PtcUpstreams *upstreams, PtcApp *app)
{
    if (!upstreams->manager)
        return;
    *f = (PtcMcpFollow){upstreams, app};
    ptc_manager_on_known(upstreams->manager, retell, f);
}

void ptc_mcp_upstreams_unfollow(PtcMcpFollow *f)
{
    if (f->upstreams)
        ptc_manager_on_known(f->upstreams->manager, NULL, NULL);
}
