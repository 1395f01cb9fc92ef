/* SPDX-License-Identifier: MIT
 * A sign-in that a program needs, asked for as a question to whoever runs it: an address to be opened.  What always
 * holds: a run asks only once, for one upstream, so that a sign-in that does not help leads to the same failure as
 * none. */
#include <stdio.h>

#include "base/buf.h"
#include "base/text/clean.h"
#include "json/emit.h"
#include "json/members.h"
#include "upstream/connect/inquiry.h"
#include "upstream/connect/sign_in_flow.h"
#include "value/coll/fields.h"

enum { ADDRESS_MS = 10 * 1000, ADDRESS_BYTES = 64 * PTC_KB };

static bool can_sign_in(const PtcUpstream *up)
{
    const PtcEntry *e = &up->entry;
    return e->web && e->url && !ptc_fields_count(e->auth) && !e->client_grant &&
           up->sign_in.bearer.place && !ptc_sign_in_forbidden(e);
}

bool ptc_inquiry_note_refusal(PtcUpCall *call)
{
    PtcUpRun *run = call->run;
    bool refused = (call->reason ? call->reason : call->said) == PTC_CALL_AUTH_FAILED;
    if (!refused || !call->instance || !(run->offers & PTC_REMOTE_OPENS))
        return false;
    PtcUpstream *up = call->instance->upstream;
    pthread_mutex_lock(&run->manager->lock);
    if (!run->sign_in && can_sign_in(up))
        run->sign_in = up;
    bool noted = run->sign_in == up && !run->sign_in_asked;
    pthread_mutex_unlock(&run->manager->lock);
    return noted;
}

static bool wants_sign_in(void *user)
{
    PtcUpRun *run = user;
    pthread_mutex_lock(&run->manager->lock);
    bool wants = run->sign_in && !run->sign_in_asked;
    pthread_mutex_unlock(&run->manager->lock);
    return wants && !run->replay.full && !run->replay.diverged;
}

/* With the lock held. */
static PtcSignInFlow *flow_of(PtcUpRun *run)
{
    PtcManager *m = run->manager;
    PtcUpstream *up = run->sign_in;
    if (!up->flow)
        up->flow =
            ptc_sign_in_flow_new(m->mem, &up->entry, &m->scratch.heap, up->sign_in.bearer.place);
    return m->ending ? NULL : up->flow;
}

static void put_sign_in_inquiry(const PtcUpRun *run, PtcText url, PtcBuf *out)
{
    char id[48];
    PtcBuf message;
    PtcText name = run->sign_in->entry.name;
    snprintf(id, sizeof id, "ptc-%llu", (unsigned long long)run->sign_in_number);
    ptc_buf_init(&message, out->mem, 1024);
    ptc_buf_add_cstr(&message, "The program calls the server \"");
    ptc_clean_add(&message, name, PTC_CLEAN_LINE, false);
    ptc_buf_add_cstr(&message, "\", which wants you to sign in. Open the address in a browser on "
                               "this machine.");
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "method", "elicitation/create");
    ptc_emit_key(out, "params");
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "mode", "url");
    ptc_emit_field_text(out, "message", ptc_buf_view(&message));
    ptc_emit_field_text(out, "url", url);
    ptc_emit_field_cstr(out, "elicitationId", id);
    ptc_emit_object_end(out);
    ptc_emit_object_end(out);
    ptc_buf_end_part(out, &message);
}

uint64_t ptc_inquiry_sign_in(PtcUpRun *run, PtcBuf *out)
{
    PtcManager *m = run->manager;
    PtcBuf url;
    pthread_mutex_lock(&m->lock);
    bool wants = run->sign_in && !run->sign_in_over;
    bool first = !run->sign_in_asked;
    PtcSignInFlow *flow = wants ? flow_of(run) : NULL;
    run->sign_in_asked = run->sign_in_asked || wants;
    pthread_mutex_unlock(&m->lock);
    if (!flow || (first && !ptc_sign_in_flow_begin(flow)))
        return 0;
    ptc_buf_init(&url, m->mem, ADDRESS_BYTES);
    run->sign_in_told = ptc_sign_in_flow_address(flow, run->sign_in_told, ADDRESS_MS, &url);
    run->sign_in_over = !run->sign_in_told;
    run->sign_in_number = 0;
    if (run->sign_in_told) {
        pthread_mutex_lock(&m->lock);
        run->sign_in_number = ++m->last_inquiry;
        pthread_mutex_unlock(&m->lock);
        ptc_buf_clear(out);
        put_sign_in_inquiry(run, ptc_buf_view(&url), out);
    }
    ptc_buf_end_part(out, &url);
    return run->sign_in_number;
}

bool ptc_inquiry_reply_sign_in(PtcUpRun *run, uint64_t number, PtcText answer)
{
    if (!number || number != run->sign_in_number)
        return false;
    run->sign_in_number = 0;
    PtcText action =
        answer.bytes ? ptc_members_plain(ptc_members_get(answer, "action")) : (PtcText){NULL, 0};
    if (!action.bytes || !ptc_text_is(action, "accept")) {
        run->sign_in_over = true;
        ptc_sign_in_flow_cancel(run->sign_in->flow);
    }
    return true;
}

static bool signed_in(void *user, int64_t ms)
{
    PtcUpRun *run = user;
    return !run->sign_in || run->sign_in_over || !run->sign_in->flow ||
           ptc_sign_in_flow_await(run->sign_in->flow, run->sign_in_told, ms);
}

void ptc_inquiry_fill_sign_in(PtcRemote *remote)
{
    remote->wants_sign_in = wants_sign_in;
    remote->signed_in = signed_in;
}
