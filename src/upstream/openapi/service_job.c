/* SPDX-License-Identifier: MIT
 * One exchange with a service.  What always holds: credentials are read at the moment they are sent, and go to the
 * server of the request and no other; only GET and HEAD follow a redirect, within that server; a request is sent a
 * second time only if it was refused for its credentials and there are new ones. */
#include <stdio.h>
#include <time.h>

#include "base/text/secret.h"
#include "json/parse.h"
#include "net/retry_after.h"
#include "upstream/openapi/service_int.h"
#include "value/coll/fields.h"
#include "value/scratch.h"

enum {
    SERVICE_HEADERS = 320,
    SERVICE_HOPS = 5,
    SERVICE_SCRATCH_BYTES = 16 * PTC_MB,
    SERVICE_HEAD_BYTES = 64 * PTC_KB
};

/* ---------------------------------------------------------------------------------- headers */

static void clear_secret(PtcBuf *buf)
{
    if (buf->data)
        ptc_secret_wipe(buf->data, buf->cap);
    ptc_buf_clear(buf);
}

static PtcValue parse_request_json(PtcScratch *scratch, PtcText text)
{
    PtcJsonError error;
    return text.len ? ptc_json_parse(&scratch->heap, text.bytes, text.len, &error) : PTC_NONE;
}

/* Puts the token that a binding by client credentials stands for into the headers; true also if there is none. */
static bool put_client_token(PtcServiceJob *job, PtcScratch *scratch, PtcValue auth,
                             PtcValue *headers)
{
    PtcHeap *heap = &scratch->heap;
    PtcBuf value;
    PtcText url = {NULL, 0};
    for (size_t i = 0; i < ptc_fields_count(auth) && !url.bytes; i++)
        url = ptc_fields_text(heap, ptc_seq_nth(auth, i), "token_url");
    if (!url.bytes)
        return true;
    ptc_buf_init(&value, job->service->mem, 2 * PTC_SERVICE_TOKEN);
    ptc_buf_add_cstr(&value, "Bearer ");
    bool ok = ptc_service_token(job, url, &value);
    if (ok && *headers == PTC_NONE)
        *headers = ptc_fields_map(heap);
    if (ok)
        ptc_fields_put(heap, headers, "authorization", ptc_fields_buf(heap, &value));
    clear_secret(&value);
    ptc_buf_deinit(&value);
    return ok && ptc_fields_ok(heap);
}

/* The bindings without it. */
static PtcValue bound(PtcScratch *scratch, PtcValue auth)
{
    PtcValue list = ptc_fields_list(&scratch->heap);
    for (size_t i = 0; i < ptc_fields_count(auth); i++)
        if (!ptc_fields_text(&scratch->heap, ptc_seq_nth(auth, i), "token_url").bytes)
            ptc_fields_push(&scratch->heap, &list, ptc_seq_nth(auth, i));
    return list;
}

/* False: credentials cannot be had; job->why says so. */
static bool write_auth_lines(PtcServiceJob *job)
{
    PtcScratch scratch;
    const PtcServiceConfig *c = &job->service->config;
    clear_secret(&job->lines);
    clear_secret(&job->query);
    ptc_scratch_init(&scratch, job->service->mem, SERVICE_SCRATCH_BYTES);
    PtcValue headers = parse_request_json(&scratch, job->request.headers),
             auth = parse_request_json(&scratch, job->request.auth);
    bool ok = put_client_token(job, &scratch, auth, &headers) &&
              ptc_credentials_apply(c->credentials, c->entry, headers, bound(&scratch, auth),
                                    &job->lines, &job->query, &job->why);
    ptc_scratch_deinit(&scratch);
    ok = ok && ptc_buf_ok(&job->lines) && ptc_buf_ok(&job->query);
    if (!ok && job->why.class == PTC_WHY_NONE)
        ptc_why_say(&job->why, PTC_WHY_NO_MEMORY,
                    "its headers are too large, or ptc is out of memory");
    return ok;
}

/* ----------------------------------------------------------------------------------- answer */

static PtcPiece take_response_piece(void *user, const PtcClientAnswer *answer, PtcText bytes)
{
    PtcServiceJob *job = user;
    (void)answer;
    return ptc_buf_add(&job->text, bytes.bytes, bytes.len) ? PTC_PIECE_MORE : PTC_PIECE_STOP;
}

/* What does not fit is left out: these are for people and programs that look at them, not for us. */
static void take_response_header(void *user, PtcText line)
{
    PtcServiceJob *job = user;
    PtcBuf *head = job->request.head;
    if (!head)
        return;
    if (!line.bytes)
        ptc_buf_clear(head);
    else if (head->len + line.len + 1 <= SERVICE_HEAD_BYTES &&
             ptc_buf_add(head, line.bytes, line.len))
        ptc_buf_add_char(head, '\n');
}

/* ------------------------------------------------------------------------------------- send */

/* The address with what credentials add to it. */
static bool put_query(const PtcServiceJob *job, char url[PTC_URL_BYTES + 1])
{
    const char *joint = strchr(job->url, '?') ? "&" : "?";
    PtcText query = ptc_buf_view(&job->query);
    int n = query.len > 1 ? snprintf(url, PTC_URL_BYTES + 1, "%s%s%.*s", job->url, joint,
                                     PTC_ARG_OF(query.bytes + 1, query.len - 1))
                          : snprintf(url, PTC_URL_BYTES + 1, "%s", job->url);
    return n > 0 && n <= PTC_URL_BYTES;
}

/* POST, PUT and PATCH send a Content-Length even when there is no body: some servers demand one. */
static PtcText request_body_of(const PtcServiceRequest *r)
{
    bool carries = *r->method == 'P';
    return r->body.bytes ? r->body : carries ? (PtcText){"", 0} : (PtcText){NULL, 0};
}

static void send_service_request(PtcServiceJob *job)
{
    PtcText lines[SERVICE_HEADERS];
    char url[PTC_URL_BYTES + 1];
    const PtcServiceConfig *c = &job->service->config;
    ptc_client_answer_deinit(&job->answer);
    job->answer = (PtcClientAnswer){.why = {PTC_WHY_INVALID, PTC_CLIENT_BAD_REQUEST, "", ""}};
    ptc_buf_clear(&job->text);
    if (!put_query(job, url)) {
        ptc_why_say_code(&job->answer.why, PTC_WHY_INVALID, PTC_CLIENT_BAD_REQUEST,
                         "the address has more than %d bytes", PTC_URL_BYTES);
        return;
    }
    PtcClientRequest r = {
        .method = job->request.method,
        .url = url,
        .body = request_body_of(&job->request),
        .headers = lines,
        .header_count = ptc_client_header_lines(ptc_buf_view(&job->lines), lines, SERVICE_HEADERS),
        .plain = c->entry->insecure_http,
        .outside = job->request.outside,
        .max_body = job->most,
        .connect_ms = c->entry->connect_ms,
        .silence_ms = INT64_MAX,
        .total_ms = INT64_MAX,
        .deadline_ns = job->end_ns,
        .cancel = &job->cancel,
        .piece = take_response_piece,
        .header = take_response_header,
        .user = job};
    ptc_client_send(c->http, job->service->mem, &r, &job->answer);
    ptc_secret_wipe(url, sizeof url);
}

/* May it be sent on to where it was told to go? */
static bool may_follow_redirect(PtcServiceJob *job)
{
    const PtcClientAnswer *a = &job->answer;
    PtcUrl here, there;
    const char *method = job->request.method;
    char url[PTC_URL_BYTES + 1];
    bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    bool moved = a->status == 301 || a->status == 302 || a->status == 303 || a->status == 307 ||
                 a->status == 308;
    if (!ptc_client_answered(a) || !moved || !a->location[0])
        return false;
    job->strayed = true;
    if (!reads || job->hops == SERVICE_HOPS ||
        !ptc_url_parse(ptc_text_cstr(job->url), &here, NULL) ||
        !ptc_url_resolve(job->url, a->location, url) ||
        !ptc_url_parse(ptc_text_cstr(url), &there, NULL) || !ptc_url_same_server(&here, &there))
        return false;
    memcpy(job->url, url, strlen(url) + 1);
    job->hops++;
    job->strayed = false;
    return true;
}

static void send_all(PtcServiceJob *job)
{
    job->hops = 0;
    job->strayed = false;
    snprintf(job->url, sizeof job->url, "%.*s", PTC_ARG(job->request.url));
    do
        send_service_request(job);
    while (may_follow_redirect(job));
}

/* After 401: are there other credentials now than those that were sent? */
static bool has_new_credentials(PtcServiceJob *job)
{
    PtcBuf lines = job->lines, query = job->query;
    if (!ptc_client_answered(&job->answer) || job->answer.status != 401)
        return false;
    ptc_service_token_refused(job->service, ptc_buf_view(&lines));
    (void)ptc_credentials_forget(job->service->config.credentials, job->service->config.entry);
    ptc_buf_init(&job->lines, job->service->mem, lines.max);
    ptc_buf_init(&job->query, job->service->mem, query.max);
    bool new =
        write_auth_lines(job) && !(ptc_text_same(ptc_buf_view(&lines), ptc_buf_view(&job->lines)) &&
                                   ptc_text_same(ptc_buf_view(&query), ptc_buf_view(&job->query)));
    ptc_why_init(&job->why); /* that they are gone now does not change what was answered */
    clear_secret(&lines);
    clear_secret(&query);
    ptc_buf_deinit(&lines);
    ptc_buf_deinit(&query);
    return new;
}

void ptc_service_send(PtcServiceJob *job)
{
    job->answer = (PtcClientAnswer){.why = {PTC_WHY_INVALID, PTC_CLIENT_BAD_REQUEST, "", ""}};
    if (job->request.url.len > PTC_URL_BYTES || !write_auth_lines(job))
        return;
    send_all(job);
    if (has_new_credentials(job))
        send_all(job);
}

/* ------------------------------------------------------------------------------------ reply */

static int64_t retry_after(const PtcClientAnswer *a)
{
    return a->retry_after[0]
               ? ptc_retry_after_ms(ptc_text_cstr(a->retry_after), ptc_clock_wall_ms())
               : -1;
}

static PtcLinkEnd link_end_of_job(const PtcServiceJob *job)
{
    if (ptc_client_answered(&job->answer))
        return job->answer.status >= 200 && job->answer.status <= 299 ? PTC_LINK_ANSWER
                                                                      : PTC_LINK_HTTP_FAULT;
    if (job->answer.why.class == PTC_WHY_NO_MEMORY)
        return PTC_LINK_NO_MEMORY;
    switch (job->answer.why.code) {
    case PTC_CLIENT_SILENCE:
    case PTC_CLIENT_TIMEOUT:
    case PTC_CLIENT_DEADLINE: return PTC_LINK_TIMEOUT;
    case PTC_CLIENT_CANCELLED: return PTC_LINK_CANCELLED;
    case PTC_CLIENT_STOPPED: /* by the buffer of the body */
        return job->text.failed ? PTC_LINK_NO_MEMORY : PTC_LINK_TOO_LARGE;
    case PTC_CLIENT_TOO_LARGE: return PTC_LINK_TOO_LARGE;
    case PTC_CLIENT_NOT_HTTP: return PTC_LINK_BAD_ANSWER;
    default: return PTC_LINK_BROKEN;
    }
}

void ptc_service_reply(PtcServiceJob *job, PtcLinkReply *r)
{
    PtcClientAnswer *a = &job->answer;
    r->delivered = a->sent;
    r->status = a->status;
    r->retry_after_ms = retry_after(a);
    r->bytes = job->text.len + a->error_body.len;
    r->end = job->why.class ? PTC_LINK_AUTH : link_end_of_job(job);
    if (job->why.class) {
        r->own = true;
        ptc_buf_add_cstr(&r->text, job->why.text);
    } else if (r->end == PTC_LINK_ANSWER) {
        ptc_buf_deinit(&r->text);
        r->text = job->text;
        job->text = (PtcBuf){0};
    } else if (job->strayed) {
        ptc_buf_addf(&r->text, "it redirects (status %d) where a request may not follow",
                     a->status);
    } else if (r->end == PTC_LINK_HTTP_FAULT) {
        ptc_buf_add(&r->text, a->error_body.data, a->error_body.len);
    } else if (r->end == PTC_LINK_BROKEN || r->end == PTC_LINK_BAD_ANSWER) {
        ptc_buf_add_cstr(&r->text, a->why.text);
    }
}
