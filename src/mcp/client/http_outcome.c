/* SPDX-License-Identifier: MIT
 * What the end of an exchange over HTTP means for whoever asked. */
#include <time.h>

#include "json/members.h"
#include "mcp/client/wire_http_int.h"
#include "net/retry_after.h"

enum { OUTCOME_SHOWN = 300 }; /* bytes of a body that explains a fault */

/* The error object in a body, where a status says what a JSON-RPC error would. */
static PtcText error_in(const PtcLinkJob *job)
{
    const PtcClientAnswer *a = &job->answer;
    PtcText none = {NULL, 0};
    if (a->status < 400 || a->status >= 500 || a->status == 429)
        return none;
    PtcText error = ptc_members_get(ptc_buf_view(&a->error_body), "error");
    return ptc_members_is_object(error) ? error : none;
}

static int64_t retry_after(const PtcClientAnswer *a)
{
    return a->retry_after[0]
               ? ptc_retry_after_ms(ptc_text_cstr(a->retry_after), ptc_clock_wall_ms())
               : -1;
}

/* A status that is no success. */
static void fill_fault(PtcLinkReply *r, const PtcLinkJob *job)
{
    const PtcClientAnswer *a = &job->answer;
    PtcText error = error_in(job), body = ptc_buf_view(&a->error_body);
    r->retry_after_ms = retry_after(a);
    if (a->status == 401 || a->status == 403) {
        r->end = PTC_LINK_AUTH;
        ptc_buf_add_cstr(&r->text, a->www_authenticate);
    } else if (error.bytes) {
        r->end = PTC_LINK_ERROR;
        ptc_buf_add(&r->text, error.bytes, error.len);
    } else if (a->status >= 300 && a->status < 400) {
        r->end = PTC_LINK_HTTP_FAULT;
        ptc_buf_addf(&r->text,
                     "it redirects (status %d), and not to another place on its own server",
                     a->status);
    } else {
        r->end = PTC_LINK_HTTP_FAULT;
        ptc_buf_addf(&r->text, "it answered with status %d", a->status);
        if (body.len)
            ptc_buf_addf(&r->text, ": %.*s", PTC_ARG(ptc_text_cut(body, OUTCOME_SHOWN)));
    }
}

void ptc_http_outcome(PtcLinkReply *r, const PtcLinkJob *job)
{
    const PtcClientAnswer *a = &job->answer;
    r->delivered = a->sent;
    r->status = a->status;
    r->bytes = job->bytes + a->error_body.len;
    if (job->no_memory || a->why.class == PTC_WHY_NO_MEMORY) {
        r->end = PTC_LINK_NO_MEMORY;
    } else if (job->too_large || a->why.code == PTC_CLIENT_TOO_LARGE) {
        r->end = PTC_LINK_TOO_LARGE;
        ptc_buf_addf(&r->text, "its answer has more than %zu bytes", job->link->config.max_message);
    } else if (job->why.class != PTC_WHY_NONE) {
        r->end = PTC_LINK_AUTH;
        r->delivered = false;
        r->own = true;
        ptc_buf_add_cstr(&r->text, job->why.text);
    } else if (!ptc_client_answered(a)) {
        r->end = a->why.code == PTC_CLIENT_NOT_HTTP ? PTC_LINK_BAD_ANSWER : PTC_LINK_BROKEN;
        ptc_buf_add_cstr(&r->text, a->why.text);
    } else if (a->status < 200 || a->status > 299) {
        fill_fault(r, job);
    } else {
        r->end = job->is_stream ? PTC_LINK_BROKEN : PTC_LINK_BAD_ANSWER;
        ptc_buf_add_cstr(&r->text, job->is_stream ? "the stream ended without an answer"
                                                  : "its response is not an answer to the request");
    }
    if (r->end == PTC_LINK_HTTP_FAULT && job->is_stream)
        r->end = PTC_LINK_BROKEN; /* the stream was there, and could not be taken up again */
}
