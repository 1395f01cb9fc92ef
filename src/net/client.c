/* SPDX-License-Identifier: MIT
 * The pool of handles behind a client.  What always holds: a slot is with one thread, or in the list `idle`, or in
 * the list `lost` because a look-up that was given up still uses it; the counts match the lists. */
#include "net/client.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/os/cond.h"
#include "net/address.h"
#include "net/client_int.h"

struct PtcClient {
    PtcMem *mem;
    char *ca_file; /* or NULL */
    /* It guards everything below.  Whoever sends a request takes it to get a slot and to give it back, and not
     * while the exchange lasts; no other lock is taken inside. */
    pthread_mutex_t lock;
    pthread_cond_t freed; /* a slot has come back */
    Slot *idle, *lost;
    size_t idle_count, in_use, streams, lost_count;
};

/* -------------------------------------------------------------------------------- slots */

static void free_client_slot(Slot *s)
{
    if (s->multi)
        s->curl->multi_cleanup(s->multi);
    if (s->easy)
        s->curl->easy_cleanup(s->easy);
    ptc_mem_free(s->mem, s, sizeof *s);
}

static Slot *new_slot(PtcClient *c, const PtcCurl *curl)
{
    Slot *s = ptc_mem_alloc(c->mem, sizeof *s);
    if (!s)
        return NULL;
    *s = (Slot){.curl = curl, .mem = c->mem, .ca_file = c->ca_file};
    s->easy = curl->easy_init();
    s->multi = curl->multi_init();
    if (s->easy && s->multi)
        return s;
    if (s->multi)
        curl->multi_cleanup(s->multi);
    if (s->easy)
        curl->easy_cleanup(s->easy);
    ptc_mem_free(c->mem, s, sizeof *s);
    return NULL;
}

/* Frees the slots whose look-up has ended in the meantime. */
static void sweep_lost_slots(PtcClient *c)
{
    for (Slot **at = &c->lost; *at;) {
        Slot *s = *at;
        if (!ptc_client_exchange_over(s)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        c->lost_count--;
        free_client_slot(s);
    }
}

/* An idle slot, preferably one with a connection to this server. */
static Slot *take_idle_slot(PtcClient *c, const char *server)
{
    Slot **at = &c->idle;
    while (*at && strcmp((*at)->server, server) != 0)
        at = &(*at)->next;
    if (!*at)
        at = &c->idle;
    Slot *s = *at;
    if (s) {
        *at = s->next;
        c->idle_count--;
    }
    return s;
}

static void give_slot_back(PtcClient *c, bool stream)
{
    *(stream ? &c->streams : &c->in_use) -= 1;
    pthread_cond_signal(&c->freed);
}

/* Gets a slot for this thread, waiting while too many are in use; NULL with the reason in the answer. */
static Slot *acquire(PtcClient *c, const PtcCurl *curl, const PtcClientRequest *r,
                     const PtcUrl *url, const char *server, PtcClientAnswer *a)
{
    int64_t asked = ptc_clock_ns(NULL);
    Slot *s = NULL;
    pthread_mutex_lock(&c->lock);
    sweep_lost_slots(c);
    while (!r->stream && c->in_use >= PTC_CLIENT_IN_USE && !ptc_client_must_end(r, asked, a))
        (void)ptc_cond_wait_ms(&c->freed, &c->lock, PTC_CLIENT_SLICE_MS);
    if (r->stream && c->streams >= PTC_CLIENT_STREAMS)
        ptc_client_end(a, PTC_CLIENT_NO_CONNECTION, "too many streams are open");
    if (c->lost_count >= PTC_CLIENT_LOOKUPS && !url->literal)
        ptc_client_end(a, PTC_CLIENT_NO_CONNECTION, "too many look-ups of names are hanging");
    if (ptc_client_answered(a)) {
        *(r->stream ? &c->streams : &c->in_use) += 1;
        s = take_idle_slot(c, server);
    }
    pthread_mutex_unlock(&c->lock);
    if (ptc_client_answered(a) && !s && !(s = new_slot(c, curl))) {
        ptc_why_no_memory(&a->why);
        pthread_mutex_lock(&c->lock);
        give_slot_back(c, r->stream);
        pthread_mutex_unlock(&c->lock);
    }
    if (s)
        s->asked_ns = asked;
    return s;
}

/* A slot whose look-up still runs must not be freed: libcurl's thread uses it. */
static void release_slot(PtcClient *c, Slot *s, bool stream, bool idle)
{
    pthread_mutex_lock(&c->lock);
    give_slot_back(c, stream);
    Slot *drop = idle && c->idle_count >= PTC_CLIENT_IDLE ? s : NULL;
    if (!drop) {
        Slot **list = idle ? &c->idle : &c->lost;
        s->next = *list;
        *list = s;
        c->idle_count += idle;
        c->lost_count += !idle;
    }
    pthread_mutex_unlock(&c->lock);
    if (drop)
        free_client_slot(drop);
}

/* ------------------------------------------------------------------------------- client */

PtcClient *ptc_client_new(PtcMem *mem, const char *ca_file)
{
    PtcClient *c = ptc_mem_alloc(mem, sizeof *c);
    if (!c)
        return NULL;
    *c = (PtcClient){.mem = mem};
    if (ca_file && !(c->ca_file = ptc_mem_alloc(mem, strlen(ca_file) + 1))) {
        ptc_mem_free(mem, c, sizeof *c);
        return NULL;
    }
    if (ca_file)
        memcpy(c->ca_file, ca_file, strlen(ca_file) + 1);
    pthread_mutex_init(&c->lock, NULL);
    ptc_cond_init(&c->freed);
    return c;
}

void ptc_client_free(PtcClient *c)
{
    if (!c)
        return;
    sweep_lost_slots(c);
    for (Slot *s = c->idle, *next; s; s = next) {
        next = s->next;
        free_client_slot(s);
    }
    /* A look-up that still runs is left to the library: waiting for it here could take long. */
    for (Slot *s = c->lost, *next; s; s = next) {
        next = s->next;
        s->curl->multi_remove_handle(s->multi, s->easy);
        free_client_slot(s);
    }
    pthread_cond_destroy(&c->freed);
    pthread_mutex_destroy(&c->lock);
    if (c->ca_file)
        ptc_mem_free(c->mem, c->ca_file, strlen(c->ca_file) + 1);
    ptc_mem_free(c->mem, c, sizeof *c);
}

/* A header with a line end in it would become two headers. */
static bool headers_are_lines(const PtcClientRequest *r)
{
    for (size_t i = 0; i < r->header_count; i++)
        for (size_t k = 0; k < r->headers[i].len; k++)
            if (strchr("\r\n", r->headers[i].bytes[k])) /* finds NUL as well */
                return false;
    return true;
}

/* Checked before the library is loaded, so that a wrong address is reported even without it. */
static bool check_request_address(const PtcClientRequest *r, PtcUrl *url, PtcClientAnswer *a)
{
    if (!ptc_url_parse(ptc_text_cstr(r->url), url, &a->why)) {
        a->why.code = PTC_CLIENT_BAD_REQUEST;
        ptc_why_prefix(&a->why, "the address ");
    } else if (!url->https && !url->loopback && !r->plain) {
        ptc_client_end(a, PTC_CLIENT_BAD_REQUEST,
                       "http:// is for servers on this machine; use https://");
    } else if (r->outside && !url->https) {
        ptc_client_end(a, PTC_CLIENT_BAD_REQUEST, "the address must begin with https://");
    } else if (r->outside && (url->loopback || ptc_address_text_is_inside(url->host))) {
        ptc_client_end(a, PTC_CLIENT_BAD_REQUEST,
                       "it leads to a private network or to this machine");
    } else if (!headers_are_lines(r)) {
        ptc_client_end(a, PTC_CLIENT_BAD_REQUEST, "a header has a line end or a NUL in it");
    }
    return ptc_client_answered(a);
}

static void name_server(const PtcUrl *url, char *server, size_t size)
{
    snprintf(server, size, "%d %.*s %.*s", url->https, PTC_ARG(url->host), PTC_ARG(url->port));
}

void ptc_client_send(PtcClient *c, PtcMem *mem, const PtcClientRequest *r, PtcClientAnswer *a)
{
    PtcUrl url;
    char server[PTC_URL_BYTES + 1];
    memset(a, 0, sizeof *a);
    ptc_buf_init(&a->error_body, mem, PTC_CLIENT_ERROR_BYTES);
    if (!check_request_address(r, &url, a))
        return;
    const PtcCurl *curl = ptc_curl_load(&a->why);
    if (!curl) {
        a->why.code = PTC_CLIENT_BAD_REQUEST;
        return;
    }
    name_server(&url, server, sizeof server);
    Slot *s = acquire(c, curl, r, &url, server, a);
    if (!s)
        return;
    memcpy(s->server, server, sizeof server);
    release_slot(c, s, r->stream, ptc_client_exchange(s, &url, r, a));
}

void ptc_client_answer_deinit(PtcClientAnswer *a)
{
    ptc_buf_deinit(&a->error_body);
}

size_t ptc_client_header_lines(PtcText all, PtcText *lines, size_t most)
{
    size_t n = 0;
    while (all.len && n < most) {
        const char *lf = memchr(all.bytes, '\n', all.len);
        size_t len = lf ? (size_t)(lf - all.bytes) : all.len;
        if (len)
            lines[n++] = (PtcText){all.bytes, len};
        all.bytes += len + (lf != NULL);
        all.len -= len + (lf != NULL);
    }
    return n;
}
