/* SPDX-License-Identifier: MIT
 * What results are like of tools that do not say: learnt from what programs get, told to whoever looks them up.  What
 * always holds: what one owner's results were like is told to that owner alone. */
#include <stdio.h>

#include "tool/seen/seen.h"
#include "upstream/run/serve_int.h"

static const char *realm_of(const PtcManager *m)
{
    return m->config.realm ? m->config.realm : "";
}

/* Without a realm all owners are the person of this process, whatever they are called. */
static const char *owner_in(const PtcManager *m, const char *owner)
{
    return *realm_of(m) ? owner : "";
}

static PtcSeenOf seen_of(PtcManager *m, const char *owner, const PtcUpstream *up, PtcListing *l,
                         size_t tool)
{
    const char *digest = ptc_listing_digest(l, tool);
    return (PtcSeenOf){.realm = realm_of(m),
                       .owner = owner_in(m, owner),
                       .server = up->entry.name,
                       .tool = l->server.tools[tool].name,
                       .entry = up->identity,
                       .definition = {digest, digest ? PTC_LISTING_DIGEST : 0}};
}

bool ptc_serve_seen(PtcManager *m, const char *owner, const PtcUpstream *up, PtcListing *l,
                    size_t tool, PtcBuf *out)
{
    if (!m->seen || !ptc_listing_is_open(l, tool))
        return false;
    PtcSeenOf of = seen_of(m, owner, up, l, tool);
    return of.definition.bytes && ptc_seen_book_get(m->seen, of, &m->told, out);
}

/* Programs that begin from now on look the tool up again. */
void ptc_serve_learn(PtcUpCall *call, PtcValue value)
{
    PtcUpRun *run = call->run;
    PtcManager *m = run->manager;
    PtcListing *l = call->seen;
    PtcBuf shape;
    if (!m->seen || !l || call->raw || !ptc_listing_is_open(l, call->tool))
        return;
    PtcSeenOf of = seen_of(m, run->owner, ptc_run_upstream(run, call->slot), l, call->tool);
    ptc_buf_init(&shape, m->mem, PTC_SEEN_BYTES);
    if (of.definition.bytes && ptc_seen_shape(m->mem, &m->told, value, &shape) &&
        ptc_seen_book_add(m->seen, of, &m->told, ptc_buf_view(&shape)))
        atomic_fetch_add(&m->version, 1);
    ptc_buf_deinit(&shape);
}

static void tell_seen(PtcManager *m, const char *what, const PtcWhy *why)
{
    char line[PTC_WHY_TEXT];
    int n = snprintf(line, sizeof line, "%s: %s", what, why->text);
    void (*tell)(void *, PtcText) = m->config.notice ? m->config.notice : m->config.log;
    if (tell && n > 0)
        tell(m->config.user,
             (PtcText){line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1});
}

bool ptc_serve_refresh_seen(PtcManager *m, const char *owner)
{
    return ptc_seen_book_refresh(m->seen, realm_of(m), owner_in(m, owner));
}

void ptc_serve_keep_seen(PtcManager *m, const char *owner)
{
    PtcWhy why;
    if (!m->seen)
        return;
    const char *who = owner_in(m, owner);
    if (!ptc_seen_book_keep(m->seen, realm_of(m), who, &why) && m->config.log)
        m->config.log(m->config.user, ptc_text_cstr(why.text));
    if (ptc_seen_book_complains(m->seen, realm_of(m), who, &why))
        tell_seen(m, "what was seen of tools is not known", &why);
}

PtcCatalogTool *ptc_serve_seen_tools(PtcManager *m, PtcArena *arena, const PtcUpstream *up,
                                     PtcListing *l)
{
    if (!m->seen || *realm_of(m) || ptc_seen_book_count(m->seen, up->entry.name) == 0)
        return NULL;
    PtcCatalogTool *tools = ptc_arena_alloc(arena, l->server.count * sizeof *tools);
    for (size_t i = 0; tools && i < l->server.count; i++) {
        PtcBuf seen;
        tools[i] = l->server.tools[i];
        ptc_buf_init(&seen, m->mem, PTC_SEEN_BYTES);
        char *text =
            ptc_serve_seen(m, "", up, l, i, &seen) ? ptc_arena_alloc(arena, seen.len) : NULL;
        if (text)
            tools[i].seen = (PtcText){memcpy(text, seen.data, seen.len), seen.len};
        ptc_buf_deinit(&seen);
    }
    return tools;
}
