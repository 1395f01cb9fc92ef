/* SPDX-License-Identifier: MIT
 * Tokens by client credentials (RFC 6749, 4.4): what the entry's `oauth` has, sent to where the document says.  What
 * always holds: a token is kept for the service until a minute before it ends or until it is refused; one thread at a
 * time asks for one, and the others take what it got. */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>

#include "base/text/base64.h"
#include "base/text/secret.h"
#include "json/parse.h"
#include "net/address.h"
#include "upstream/config/header.h"
#include "upstream/openapi/service_int.h"
#include "value/coll/fields.h"
#include "value/scratch.h"

enum {
    TOKEN_SCRATCH_BYTES = PTC_MB,
    TOKEN_ANSWER_BYTES = 64 * PTC_KB,
    TOTAL_MS = 10 * 1000, /* in which others wait as well */
    EARLY_S = 60,
    USUAL_S = 300, /* that a token lasts when nobody says it */
    TOKEN_MOST_S = 24 * 3600,
};

/* ---------------------------------------------------------------------------------- request */

static bool fail_token(PtcServiceJob *job, const char *url, const char *why)
{
    return ptc_why_say(&job->why, PTC_WHY_UNAVAILABLE, "no token could be obtained from %s: %s",
                       url, why);
}

/* Authorization: Basic, with both parts encoded as in a form (RFC 6749, 2.3.1). */
static void write_authorization(PtcBuf *out, PtcMem *mem, PtcText id, PtcText secret)
{
    PtcBuf pair;
    ptc_buf_init(&pair, mem, TOKEN_ANSWER_BYTES);
    ptc_url_encode(&pair, id);
    ptc_buf_add_char(&pair, ':');
    ptc_url_encode(&pair, secret);
    ptc_buf_add_cstr(out, "Authorization: Basic ");
    ptc_base64_add(out, ptc_buf_view(&pair).bytes, pair.len, false);
    out->failed = out->failed || !ptc_buf_ok(&pair);
    if (pair.data)
        ptc_secret_wipe(pair.data, pair.cap);
    ptc_buf_deinit(&pair);
}

static void write_token_body(PtcBuf *out, PtcValue scopes)
{
    ptc_buf_add_cstr(out, "grant_type=client_credentials");
    for (size_t i = 0; i < ptc_fields_count(scopes); i++) {
        ptc_buf_add_cstr(out, i ? "%20" : "&scope=");
        ptc_url_encode(out, ptc_str_text(ptc_seq_nth(scopes, i)));
    }
}

/* A stranger's address must not lead inside, unless the service is there itself. */
static bool is_strange_token_url(const PtcServiceJob *job, const char *url)
{
    PtcUrl service, token;
    if (!ptc_url_parse(job->request.url, &service, NULL) ||
        !ptc_url_parse(ptc_text_cstr(url), &token, NULL))
        return true;
    return !ptc_url_same_server(&service, &token) && !service.loopback &&
           !ptc_address_text_is_inside(service.host);
}

static PtcPiece take_token_piece(void *user, const PtcClientAnswer *answer, PtcText bytes)
{
    (void)answer;
    return ptc_buf_add(user, bytes.bytes, bytes.len) ? PTC_PIECE_MORE : PTC_PIECE_STOP;
}

/* ----------------------------------------------------------------------------------- answer */

static int64_t lasts_s(PtcHeap *heap, PtcValue answer)
{
    PtcValue v = ptc_map_field(heap, answer, "expires_in");
    int64_t s = v != PTC_NONE && ptc_is_int(v) ? ptc_to_int(v) : USUAL_S;
    return s < 0 ? 0 : s < TOKEN_MOST_S ? s : TOKEN_MOST_S;
}

/* The token becomes a secret before anybody can see it. */
static bool take_service_token(PtcServiceJob *job, PtcScratch *scratch, const char *url,
                               PtcText text)
{
    PtcService *s = job->service;
    PtcJsonError error;
    PtcValue v = ptc_json_parse(&scratch->heap, text.bytes, text.len, &error);
    PtcText token =
        v == PTC_NONE ? (PtcText){NULL, 0} : ptc_fields_text(&scratch->heap, v, "access_token");
    if (!token.len || token.len >= sizeof s->token || !ptc_header_is_value(token))
        return fail_token(job, url, "its answer has no token");
    if (!ptc_secret_ring_learn(&s->tokens, token))
        return fail_token(job, url, "out of memory");
    int64_t lasts = lasts_s(&scratch->heap, v), early = lasts > 2 * EARLY_S ? EARLY_S : lasts / 2;
    pthread_mutex_lock(&s->lock);
    memcpy(s->token, token.bytes, token.len);
    s->token[token.len] = '\0';
    s->token_end_ns = ptc_clock_ns(NULL) + (lasts - early) * PTC_S;
    pthread_mutex_unlock(&s->lock);
    return true;
}

static bool ask_for_token(PtcServiceJob *job, PtcScratch *scratch, const char *url, PtcText line,
                          PtcText body)
{
    const PtcServiceConfig *c = &job->service->config;
    PtcText lines[] = {PTC_TEXT("Content-Type: application/x-www-form-urlencoded"),
                       PTC_TEXT("Accept: application/json"), line};
    PtcClientAnswer answer;
    PtcBuf text;
    char status[40];
    ptc_buf_init(&text, job->service->mem, TOKEN_ANSWER_BYTES);
    PtcClientRequest r = {.method = "POST",
                          .url = url,
                          .body = body,
                          .headers = lines,
                          .header_count = 3,
                          .outside = is_strange_token_url(job, url),
                          .max_body = TOKEN_ANSWER_BYTES,
                          .connect_ms = c->entry->connect_ms,
                          .total_ms = TOTAL_MS,
                          .deadline_ns = job->end_ns ? job->end_ns : INT64_MAX,
                          .cancel = &job->cancel,
                          .piece = take_token_piece,
                          .user = &text};
    ptc_client_send(c->http, job->service->mem, &r, &answer);
    snprintf(status, sizeof status, "status %d", answer.status);
    bool good = ptc_client_answered(&answer) && answer.status >= 200 && answer.status <= 299;
    bool ok = good ? take_service_token(job, scratch, url, ptc_buf_view(&text))
                   : fail_token(job, url, ptc_client_answered(&answer) ? status : answer.why.text);
    ptc_client_answer_deinit(&answer);
    if (text.data)
        ptc_secret_wipe(text.data, text.cap);
    ptc_buf_deinit(&text);
    return ok;
}

static bool fetch(PtcServiceJob *job, const char *url)
{
    PtcScratch scratch;
    PtcMem *mem = job->service->mem;
    PtcCredentials *c = job->service->config.credentials;
    PtcBuf line, body;
    ptc_scratch_init(&scratch, mem, TOKEN_SCRATCH_BYTES);
    ptc_buf_init(&line, mem, TOKEN_ANSWER_BYTES);
    ptc_buf_init(&body, mem, TOKEN_ANSWER_BYTES);
    PtcValue oauth = ptc_map_field(&scratch.heap, job->service->config.entry->form, "oauth");
    PtcText id = ptc_fields_text(&scratch.heap, oauth, "client_id");
    PtcText secret = ptc_fields_text(&scratch.heap, oauth, "client_secret");
    bool ok = secret.len && ptc_credentials_hide(c, secret);
    write_authorization(&line, mem, id, secret);
    write_token_body(&body, ptc_map_field(&scratch.heap, oauth, "scopes"));
    ok = ok && ptc_buf_ok(&line) && ptc_buf_ok(&body);
    ok = ok ? ask_for_token(job, &scratch, url, ptc_buf_view(&line), ptc_buf_view(&body))
            : fail_token(job, url, "out of memory");
    if (line.data)
        ptc_secret_wipe(line.data, line.cap);
    ptc_buf_deinit(&line);
    ptc_buf_deinit(&body);
    ptc_scratch_deinit(&scratch);
    return ok;
}

/* ------------------------------------------------------------------------------------- kept */

static bool copy_token(PtcService *s, PtcBuf *out)
{
    pthread_mutex_lock(&s->lock);
    bool good = s->token[0] && ptc_clock_ns(NULL) < s->token_end_ns;
    if (good)
        ptc_buf_add_cstr(out, s->token);
    pthread_mutex_unlock(&s->lock);
    return good;
}

bool ptc_service_token(PtcServiceJob *job, PtcText url, PtcBuf *out)
{
    PtcService *s = job->service;
    char address[PTC_URL_BYTES + 1];
    if (url.len >= sizeof address)
        return fail_token(job, "the document", "its address is too long");
    memcpy(address, url.bytes, url.len);
    address[url.len] = '\0';
    if (copy_token(s, out))
        return ptc_buf_ok(out);
    pthread_mutex_lock(&s->token_lock);
    bool ok = copy_token(s, out) || (fetch(job, address) && copy_token(s, out));
    pthread_mutex_unlock(&s->token_lock);
    return ok && ptc_buf_ok(out);
}

void ptc_service_token_refused(PtcService *s, PtcText lines)
{
    pthread_mutex_lock(&s->lock);
    if (s->token[0] && lines.len && memmem(lines.bytes, lines.len, s->token, strlen(s->token)))
        s->token[0] = '\0';
    pthread_mutex_unlock(&s->lock);
}
