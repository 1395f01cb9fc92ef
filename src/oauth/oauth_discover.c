/* SPDX-License-Identifier: MIT
 * Discovery: RFC 9728, then RFC 8414 or OpenID Connect.  What always holds: an authorization server counts only if its
 * metadata names exactly the issuer that it was looked up by, or if it is the upstream's own server and has none. */
#include "oauth/oauth_discover.h"

#include <stdio.h>

#include "base/text/secret.h"
#include "oauth/oauth_doc.h"
#include "oauth/oauth_url.h"

enum { DISCOVER_ASK_MS = 15 * 1000 };

/* --------------------------------------------------------------------------------- challenge */

static PtcPiece ignore_probe_body(void *user, const PtcClientAnswer *answer, PtcText bytes)
{
    (void)user;
    (void)answer;
    (void)bytes;
    return PTC_PIECE_ENOUGH; /* the status is all we want, and a stream would never end */
}

static bool probe_upstream(PtcOauthWork *w, const char *url, const char *token, bool get,
                           int *status, PtcChallenge *challenge)
{
    static const char body[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    PtcBuf line;
    PtcClientAnswer answer;
    ptc_buf_init(&line, w->mem, PTC_OAUTH_DOC_BYTES);
    ptc_buf_addf(&line, "Authorization: Bearer %s", token ? token : "");
    PtcText headers[] = {PTC_TEXT("Accept: application/json, text/event-stream"),
                         PTC_TEXT("Content-Type: application/json"), ptc_buf_view(&line)};
    PtcClientRequest r = {.method = get ? "GET" : "POST",
                          .url = url,
                          .headers = headers,
                          .header_count = token ? 3 : 2,
                          .body = get ? (PtcText){NULL, 0} : (PtcText){body, sizeof body - 1},
                          .plain = w->insecure_http,
                          .max_body = PTC_UNBOUNDED,
                          .total_ms = DISCOVER_ASK_MS,
                          .deadline_ns = w->end_ns,
                          .cancel = w->cancel,
                          .piece = ignore_probe_body};
    if (ptc_buf_ok(&line))
        ptc_client_send(w->http, w->mem, &r, &answer);
    else
        answer = (PtcClientAnswer){.why = {PTC_WHY_NO_MEMORY, 0, "out of memory", ""}};
    bool ok = ptc_client_answered(&answer);
    *status = answer.status;
    w->inside = answer.inside;
    ptc_challenge_parse(ptc_text_cstr(answer.www_authenticate), challenge);
    if (!ok)
        ptc_why_say(&w->why, answer.why.class, "the upstream does not answer: %s", answer.why.text);
    if (line.data)
        ptc_secret_wipe(line.data, line.len);
    ptc_buf_deinit(&line);
    ptc_client_answer_deinit(&answer);
    return ok;
}

/* Servers with the transport of 2024 (HTTP with SSE) take only GET at this address. */
bool ptc_oauth_discover_ask(PtcOauthWork *w, const char *url, const char *token, int *status,
                            PtcChallenge *challenge)
{
    bool ok = probe_upstream(w, url, token, false, status, challenge);
    if (ok && (*status == 404 || *status == 405))
        ok = probe_upstream(w, url, token, true, status, challenge);
    return ok;
}

/* ---------------------------------------------------------------------------------- resource */

typedef enum { DISCOVER_FOUND, DISCOVER_ABSENT, DISCOVER_BAD } Look;

static Look look_at_resource(PtcOauthWork *w, const char *place, const char *url,
                             PtcOauthResource *out)
{
    PtcOauthReply reply;
    Look look = DISCOVER_ABSENT;
    if (!ptc_oauth_work_get(w, place, &reply)) {
        look = DISCOVER_BAD;
    } else if (reply.status == 200) {
        bool good = ptc_oauth_metadata_resource(w->mem, &w->arena, ptc_buf_view(&reply.body), url,
                                                out, &w->why) ||
                    ptc_why_prefix(&w->why, "%.200s: ", place);
        look = good ? DISCOVER_FOUND : DISCOVER_BAD;
    } else {
        ptc_why_say(&w->why, PTC_WHY_REFUSED, "%.200s: the server answered with status %d", place,
                    reply.status);
    }
    ptc_oauth_work_drop(&reply);
    return look;
}

/* Without metadata, as in the specification of 2025-03: the upstream's own server is the authorization server. */
static bool assume_itself(PtcOauthWork *w, const char *url, PtcOauthResource *out)
{
    PtcUrl parts;
    if (!ptc_url_parse(ptc_text_cstr(url), &parts, NULL))
        return ptc_why_say(&w->why, PTC_WHY_REFUSED, "the address of the upstream cannot be used");
    PtcText origin = {url, (size_t)(parts.path.bytes - url)};
    *out = (PtcOauthResource){
        .resource = url, .issuers = {ptc_oauth_doc_keep(&w->arena, origin)}, .issuer_count = 1};
    return out->issuers[0] || ptc_why_no_memory(&w->why);
}

/* *itself: nothing says where the authorization server is. */
static bool find_protected_resource(PtcOauthWork *w, const char *url, const PtcChallenge *challenge,
                                    PtcOauthResource *out, bool *itself)
{
    PtcOauthPlaces places;
    *itself = false;
    if (challenge->metadata[0])
        return look_at_resource(w, challenge->metadata, url, out) == DISCOVER_FOUND;
    ptc_oauth_url_of_resource(url, &places);
    for (size_t i = 0; i < places.count; i++) {
        Look look = look_at_resource(w, places.urls[i], url, out);
        if (look != DISCOVER_ABSENT)
            return look == DISCOVER_FOUND;
    }
    return *itself = assume_itself(w, url, out);
}

/* ------------------------------------------------------------------------------------ server */

/* Several places are tried, so `wrong` keeps the reason that says most: that a document is wrong rather than
 * missing. */
static bool look_at_server(PtcOauthWork *w, const char *place, const char *issuer, PtcWhy *wrong,
                           PtcOauthServer *out)
{
    PtcOauthReply reply;
    bool ok = ptc_oauth_work_get(w, place, &reply), there = ok && reply.status == 200;
    if (there)
        ok = ptc_oauth_metadata_server(w->mem, &w->arena, ptc_buf_view(&reply.body), issuer, out,
                                       &w->why) ||
             ptc_why_prefix(&w->why, "%.200s: ", place);
    if (!ok)
        ptc_why_copy(wrong, &w->why);
    ptc_oauth_work_drop(&reply);
    return there && ok;
}

/* *bad: what it says of itself cannot be used. */
static bool find_auth_server(PtcOauthWork *w, const char *issuer, PtcOauthServer *out, bool *bad)
{
    PtcOauthPlaces places;
    PtcWhy wrong;
    ptc_why_init(&wrong);
    ptc_oauth_url_of_issuer(issuer, &places);
    for (size_t i = 0; i < places.count; i++)
        if (look_at_server(w, places.urls[i], issuer, &wrong, out))
            return true;
    *bad = wrong.class != PTC_WHY_NONE;
    if (*bad)
        return ptc_why_copy(&w->why, &wrong);
    return ptc_why_say(&w->why, PTC_WHY_REFUSED,
                       "%.200s has no metadata of an authorization server", issuer);
}

/* The addresses of a server without metadata, as in the specification of 2025-03. */
static bool assume_addresses(PtcOauthWork *w, const char *origin, PtcOauthServer *out)
{
    static const char *const paths[] = {"/authorize", "/token", "/register"};
    const char *urls[3];
    for (size_t i = 0; i < 3; i++) {
        char url[PTC_URL_BYTES + 16];
        snprintf(url, sizeof url, "%s%s", origin, paths[i]);
        if (!(urls[i] = ptc_oauth_doc_keep(&w->arena, ptc_text_cstr(url))))
            return ptc_why_no_memory(&w->why);
    }
    *out = (PtcOauthServer){.issuer = origin,
                            .authorize = urls[0],
                            .token = urls[1],
                            .registration = urls[2],
                            .s256 = true,
                            .assumed = true};
    return true;
}

bool ptc_oauth_discover(PtcOauthWork *w, const char *url, const PtcChallenge *challenge,
                        PtcOauthPlan *out)
{
    bool itself, wrong = false;
    if (!find_protected_resource(w, url, challenge, &out->resource, &itself))
        return false;
    for (size_t i = 0; i < out->resource.issuer_count; i++)
        if (find_auth_server(w, out->resource.issuers[i], &out->server, &wrong))
            return true;
    return itself && !wrong && assume_addresses(w, out->resource.issuers[0], &out->server);
}
