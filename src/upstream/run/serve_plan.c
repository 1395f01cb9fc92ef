/* SPDX-License-Identifier: MIT
 * A program that is planned and not run: the places where it may call something, with what is known here of the
 * tools. */
#include "json/emit.h"
#include "upstream/run/serve_int.h"
#include "value/coll/fields.h"
#include "value/coll/map.h"

enum { SITES = 500 };

static void put_planned_tool(PtcUpCall *call, PtcScratch *scratch, PtcListing *l, PtcBuf *out)
{
    PtcUpRun *run = call->run;
    const PtcUpstream *up = ptc_run_upstream(run, call->slot);
    PtcPolicyOut policy = ptc_serve_policy(run, &scratch->heap, up, l, call->tool);
    ptc_emit_field_text(out, "server", up->entry.name);
    ptc_emit_field_text(out, "tool", l->server.tools[call->tool].name);
    ptc_emit_field_cstr(out, "effect", ptc_effect_name(policy.effect.kind));
    ptc_emit_field_cstr(out, "policy", ptc_policy_name(policy.decision));
}

static void put_planned_site(PtcUpCall *call, PtcScratch *scratch, PtcValue in, PtcBuf *out)
{
    static const char *const names[] = {"at", "many", "name", "args", "open"};
    PtcListing *l = ptc_fields_is(&scratch->heap, in, "known", PTC_TRUE)
                        ? ptc_run_view(call->run, call->slot)
                        : NULL;
    ptc_emit_object(out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PtcValue v = ptc_map_field(&scratch->heap, in, names[i]);
        if (v == PTC_NONE)
            continue;
        ptc_emit_key(out, names[i]);
        ptc_emit_value(out, &scratch->heap, v);
    }
    if (l && call->tool < l->server.count)
        put_planned_tool(call, scratch, l, out);
    ptc_emit_object_end(out);
}

bool ptc_serve_site(PtcUpCall *call, PtcScratch *scratch, PtcValue in)
{
    PtcUpRun *run = call->run;
    PtcBuf site;
    if (run->mode != PTC_REMOTE_PLANS)
        return ptc_call_refuse(call, PTC_CALL_BAD_ANSWER, "this program is not planned");
    ptc_buf_init(&site, run->mem, run->plan.max);
    put_planned_site(call, scratch, in, &site);
    pthread_mutex_lock(&run->lock);
    bool fits = ptc_buf_ok(&site) && run->site_count < SITES &&
                site.len + 1 < run->plan.max - run->plan.len;
    run->site_count++;
    if (fits && run->plan.len)
        ptc_buf_add_char(&run->plan, ',');
    if (fits)
        ptc_buf_add(&run->plan, site.data, site.len);
    pthread_mutex_unlock(&run->lock);
    ptc_buf_deinit(&site);
    return false;
}
