/* SPDX-License-Identifier: MIT
 * Requests to authorization servers.  What always holds: no redirect is followed; where the upstream itself is on the
 * public internet, an address that it named is https and does not lead inside, whatever its name resolves to. */
#include "oauth/oauth_work.h"

#include <stdio.h>

#include "base/text/base64.h"
#include "base/text/secret.h"
#include "net/address.h"
#include "oauth/oauth_assertion.h"
#include "oauth/oauth_doc.h"
#include "oauth/oauth_url.h"

enum { REQUEST_MS = 20 * 1000, OAUTH_WORK_SHOWN = 200 };

void ptc_oauth_work_init(PtcOauthWork *w, PtcMem *mem, PtcClient *http, const PtcCancel *cancel,
                         int64_t ms)
{
    *w = (PtcOauthWork){
        .mem = mem, .http = http, .cancel = cancel, .end_ns = ptc_clock_ns(NULL) + ms * PTC_MS};
    ptc_arena_init(&w->arena, mem);
}

void ptc_oauth_work_deinit(PtcOauthWork *w)
{
    ptc_arena_deinit(&w->arena);
}

bool ptc_oauth_work_allows(PtcOauthWork *w, const char *what, const char *url)
{
    PtcUrl parts;
    if (!url || !ptc_url_parse(ptc_text_cstr(url), &parts, NULL))
        return ptc_why_say(&w->why, PTC_WHY_REFUSED, "%s cannot be used as an address", what);
    bool leads_inside = parts.loopback || ptc_address_text_is_inside(parts.host);
    if (leads_inside && !w->inside)
        return ptc_why_say(&w->why, PTC_WHY_REFUSED,
                           "%s leads to this machine or a private network, and the "
                           "upstream does not",
                           what);
    if (!parts.https && !(w->inside && (parts.loopback || w->insecure_http)))
        return ptc_why_say(&w->why, PTC_WHY_REFUSED, "%s must begin with https://", what);
    return true;
}

/* ---------------------------------------------------------------------------------- requests */

void ptc_oauth_work_drop(PtcOauthReply *reply)
{
    if (reply->body.data)
        ptc_secret_wipe(reply->body.data, reply->body.len);
    ptc_buf_deinit(&reply->body);
}

static PtcPiece keep_oauth_body(void *user, const PtcClientAnswer *answer, PtcText bytes)
{
    PtcBuf *body = user;
    (void)answer;
    return ptc_buf_add(body, bytes.bytes, bytes.len) ? PTC_PIECE_MORE : PTC_PIECE_STOP;
}

static bool send_it(PtcOauthWork *w, PtcClientRequest *r, PtcOauthReply *reply)
{
    PtcClientAnswer answer;
    ptc_buf_init(&reply->body, w->mem, PTC_OAUTH_DOC_BYTES);
    r->plain = w->inside && w->insecure_http;
    r->outside = !w->inside;
    r->max_body = PTC_OAUTH_DOC_BYTES;
    r->total_ms = REQUEST_MS;
    r->deadline_ns = w->end_ns;
    r->cancel = w->cancel;
    r->piece = keep_oauth_body;
    r->user = &reply->body;
    ptc_client_send(w->http, w->mem, r, &answer);
    reply->status = answer.status;
    bool ok = ptc_client_answered(&answer);
    if (ok && answer.error_body.len)
        ok = ptc_buf_add(&reply->body, answer.error_body.data, answer.error_body.len) ||
             ptc_why_no_memory(&answer.why);
    if (!ok) {
        ptc_why_copy(&w->why, &answer.why);
        w->why.code = 0;
        ptc_why_prefix(&w->why, "%.200s: ", r->url);
    }
    ptc_client_answer_deinit(&answer);
    return ok;
}

bool ptc_oauth_work_get(PtcOauthWork *w, const char *url, PtcOauthReply *reply)
{
    PtcText headers[] = {PTC_TEXT("Accept: application/json"),
                         PTC_TEXT("MCP-Protocol-Version: 2025-11-25")};
    PtcClientRequest r = {.method = "GET", .url = url, .headers = headers, .header_count = 2};
    return send_it(w, &r, reply);
}

bool ptc_oauth_work_post_json(PtcOauthWork *w, const char *url, const PtcBuf *json,
                              PtcOauthReply *reply)
{
    PtcText headers[] = {PTC_TEXT("Accept: application/json"),
                         PTC_TEXT("Content-Type: application/json")};
    PtcClientRequest r = {.method = "POST",
                          .url = url,
                          .headers = headers,
                          .header_count = 2,
                          .body = ptc_buf_view(json)};
    ptc_buf_init(&reply->body, w->mem, PTC_OAUTH_DOC_BYTES);
    return ptc_buf_ok(json) ? send_it(w, &r, reply) : ptc_why_no_memory(&w->why);
}

/* Authorization: Basic, of both parts encoded as in a form (RFC 6749, 2.3.1). */
static bool add_basic_header(PtcOauthWork *w, PtcBuf *line, const PtcOauthClient *client)
{
    PtcBuf pair;
    ptc_buf_init(&pair, w->mem, PTC_OAUTH_DOC_BYTES);
    (void)ptc_url_encode(&pair, ptc_text_cstr(client->id));
    ptc_buf_add_char(&pair, ':');
    (void)ptc_url_encode(&pair, ptc_text_cstr(client->secret));
    ptc_buf_add_cstr(line, "Authorization: Basic ");
    bool ok = ptc_buf_ok(&pair) && ptc_base64_add(line, pair.data, pair.len, false);
    if (pair.data)
        ptc_secret_wipe(pair.data, pair.len);
    ptc_buf_deinit(&pair);
    return ok && ptc_buf_ok(line);
}

bool ptc_oauth_work_post_form(PtcOauthWork *w, const char *url, PtcBuf *form,
                              const PtcOauthClient *client, PtcOauthReply *reply)
{
    PtcBuf basic;
    bool header = client->secret && client->auth == PTC_OAUTH_AUTH_BASIC;
    ptc_buf_init(&basic, w->mem, PTC_OAUTH_DOC_BYTES);
    ptc_buf_init(&reply->body, w->mem, PTC_OAUTH_DOC_BYTES);
    if (!header)
        ptc_oauth_url_add(form, "client_id", client->id);
    if (client->secret && client->auth == PTC_OAUTH_AUTH_POST)
        ptc_oauth_url_add(form, "client_secret", client->secret);
    ptc_why_init(&w->why);
    bool ok = client->auth != PTC_OAUTH_AUTH_KEY || ptc_oauth_assertion_add(w, client, form);
    ok = ok && ptc_buf_ok(form) && (!header || add_basic_header(w, &basic, client));
    PtcText headers[] = {PTC_TEXT("Accept: application/json"),
                         PTC_TEXT("Content-Type: application/x-www-form-urlencoded"),
                         ptc_buf_view(&basic)};
    PtcClientRequest r = {.method = "POST",
                          .url = url,
                          .headers = headers,
                          .header_count = header ? 3 : 2,
                          .body = ptc_buf_view(form)};
    if (ok)
        ok = send_it(w, &r, reply);
    else if (w->why.class == PTC_WHY_NONE)
        ptc_why_no_memory(&w->why);
    if (basic.data)
        ptc_secret_wipe(basic.data, basic.len);
    ptc_buf_deinit(&basic);
    return ok;
}

/* ------------------------------------------------------------------------------------ answers */

bool ptc_oauth_work_refused(PtcOauthWork *w, const char *what, const PtcOauthReply *reply)
{
    PtcOauthError e;
    ptc_oauth_answer_error(w->mem, &w->arena, ptc_buf_view(&reply->body), &e);
    if (!e.error)
        return ptc_why_say(&w->why, PTC_WHY_REFUSED, "%s: the server answered with status %d", what,
                           reply->status);
    return ptc_why_say_code(&w->why, PTC_WHY_REFUSED, (int)ptc_oauth_fault_of(e.error),
                            "%s: the server says %.60s%s%.*s", what, e.error,
                            e.description ? ": " : "", PTC_ARG_OF(e.description, OAUTH_WORK_SHOWN));
}

bool ptc_oauth_work_tokens(PtcOauthWork *w, const char *endpoint, PtcBuf *form,
                           const PtcOauthClient *client, PtcOauthTokens *out)
{
    static const char what[] = "no token";
    PtcOauthReply reply;
    bool ok = ptc_oauth_work_post_form(w, endpoint, form, client, &reply);
    if (ok && (reply.status < 200 || reply.status > 299))
        ok = ptc_oauth_work_refused(w, what, &reply);
    else if (ok)
        ok = ptc_oauth_answer_tokens(w->mem, &w->arena, ptc_buf_view(&reply.body), out, &w->why) ||
             ptc_why_prefix(&w->why, "%s: ", what);
    ptc_oauth_work_drop(&reply);
    return ok;
}
