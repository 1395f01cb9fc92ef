/* SPDX-License-Identifier: MIT
 * What results are like of tools that do not say: learnt from what programs get, told to whoever looks them up.  What
 * always holds: what one owner's results were like is told to that owner alone. */
#include <stdio.h>

#include "tool/seen/seen.h"
#include "upstream/run/serve_int.h"

/* Without a realm all owners are the person of this process, whatever they are called. */
static PtcSeenOf seen_of(PtcManager *m, const char *owner, const PtcUpstream *up, PtcListing *l,
                         size_t tool)
{
    const char *realm = m->config.realm ? m->config.realm : "",
               *digest = ptc_listing_digest(l, tool);
    return (PtcSeenOf){.realm = realm,
                       .owner = *realm ? owner : "",
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

void ptc_serve_keep_seen(PtcManager *m)
{
    PtcWhy why;
    if (!m->seen)
        return;
    if (!ptc_seen_book_keep(m->seen, &why) && m->config.log)
        m->config.log(m->config.user, ptc_text_cstr(why.text));
    if (ptc_seen_book_complains(m->seen, &why))
        tell_seen(m, "what was seen of tools is not known", &why);
}

PtcCatalogTool *ptc_serve_seen_tools(PtcManager *m, PtcArena *arena, const PtcUpstream *up,
                                     PtcListing *l)
{
    const char *realm = m->config.realm ? m->config.realm : "";
    if (!m->seen || *realm || ptc_seen_book_count(m->seen, up->entry.name) == 0)
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
