/* SPDX-License-Identifier: MIT
 * driver_login.h - a client that signs in whenever a server wants it, for client_driver.c: the browser is one request,
 * since the authorization servers of the suite agree at once. */
#ifndef PTC_TESTS_DRIVER_LOGIN_H
#define PTC_TESTS_DRIVER_LOGIN_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "oauth/oauth_doc.h"
#include "oauth/oauth_login.h"

typedef struct Visitor {
    pthread_mutex_t lock;
    PtcMem *mem;
    PtcClient *http;
    PtcOauthSite site;
    PtcOauthWork work;
    PtcOauthRecord record; /* access NULL: not signed in */
    int step_ups;
    bool by_client; /* it has credentials of its own, and no person signs in */
    char shown[8192];
} Visitor;

static inline void visitor_show(void *user, const char *url, const char *code)
{
    Visitor *v = user;
    (void)code;
    snprintf(v->shown, sizeof v->shown, "%s", url);
}

/* Opens the address, and gives where it redirects to. */
static inline bool visitor_paste(void *user, PtcBuf *address)
{
    Visitor *v = user;
    PtcClientAnswer answer;
    PtcClientRequest r = {
        .method = "GET", .url = v->shown, .max_body = 100000, .deadline_ns = INT64_MAX};
    ptc_client_send(v->http, v->mem, &r, &answer);
    fprintf(stderr, "browser: %s\n  -> %d %s\n", v->shown, answer.status, answer.location);
    bool ok = answer.location[0] && ptc_buf_add_cstr(address, answer.location);
    ptc_client_answer_deinit(&answer);
    return ok;
}

static inline bool visitor_login(Visitor *v)
{
    PtcOauthPerson person = {visitor_show, visitor_paste, v};
    PtcOauthRecord record;
    PtcOauthWay way = v->by_client ? PTC_OAUTH_CLIENT : PTC_OAUTH_PASTE;
    bool ok = ptc_oauth_login(&v->work, &v->site, way, &person,
                              v->record.access ? &v->record : NULL, &record);
    fprintf(stderr, "login: %s\n", ok ? "ok" : v->work.why.text);
    if (ok)
        v->record = record;
    return ok;
}

/* Both callbacks come from threads of the link. */
static inline bool visitor_headers(void *user, PtcBuf *lines, PtcWhy *why)
{
    Visitor *v = user;
    (void)why;
    pthread_mutex_lock(&v->lock);
    bool ok =
        !v->record.access || ptc_buf_addf(lines, "Authorization: Bearer %s\n", v->record.access);
    pthread_mutex_unlock(&v->lock);
    return ok;
}

static inline bool visitor_refused(void *user, int status, const char *text, PtcText lines,
                                   PtcWhy *why)
{
    Visitor *v = user;
    PtcChallenge challenge;
    (void)why;
    ptc_challenge_parse(ptc_text_cstr(text), &challenge);
    pthread_mutex_lock(&v->lock);
    bool more = status == 403 && strcmp(challenge.error, "insufficient_scope") == 0;
    bool may = status == 401 || (more && v->step_ups++ < PTC_OAUTH_STEP_UPS);
    bool newer = v->record.access &&
                 !memmem(lines.bytes, lines.len, v->record.access, strlen(v->record.access));
    if (more)
        v->record.wanted = ptc_oauth_doc_keep(&v->work.arena, ptc_text_cstr(challenge.scope));
    bool ok = newer || (may && visitor_login(v));
    pthread_mutex_unlock(&v->lock);
    return ok;
}

static inline void visitor_init(Visitor *v, PtcMem *mem, PtcClient *http, const char *url)
{
    *v = (Visitor){.mem = mem, .http = http};
    pthread_mutex_init(&v->lock, NULL);
    v->site = (PtcOauthSite){
        .url = url, .client_id_url = "https://conformance-test.local/client-metadata.json"};
    ptc_oauth_work_init(&v->work, mem, http, NULL, 60 * 1000);
}

static inline void visitor_deinit(Visitor *v)
{
    ptc_oauth_work_deinit(&v->work);
    pthread_mutex_destroy(&v->lock);
}

#endif
