/* SPDX-License-Identifier: MIT
 * link_help.h - a link to tests/upstream/faulty.py whose callbacks can be waited for. */
#ifndef PTC_TESTS_LINK_HELP_H
#define PTC_TESTS_LINK_HELP_H

#include <pthread.h>
#include <unistd.h>

#include "base/budget.h"
#include "mcp/client/link.h"
#include "unit/check.h"

enum { PEER_TEXTS = 64 };

/* A link with what its callbacks have told. */
typedef struct Peer {
    PtcMem *mem;
    PtcLoop *loop;
    PtcLink *link;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    PtcLinkState state;
    unsigned downs, readies, notices, progress, requests;
    double last_progress;
    char why[16 * 1024], notice[256], request[256], message[256], auth[256];
    char log[64 * 1024];
    size_t log_lines;
    const char *answer; /* to requests of the server; NULL: refused */
} Peer;

/* One ask and its end. */
typedef struct {
    PtcLinkAsk ask;
    Peer *peer;
    bool over;
    PtcLinkEnd end;
    bool delivered, session_lost;
    int status;
    int64_t retry_after_ms;
    size_t bytes;
    char *text; /* freed by the next call */
} Call;

typedef struct {
    PtcLinkList list;
    Peer *peer;
    bool over;
    PtcLinkEnd end;
    size_t items;
    const char *note;
    char text[64 * 1024], first[1024];
} Listing;

static inline void peer_lock(Peer *p)
{
    pthread_mutex_lock(&p->lock);
}

static inline void peer_told(Peer *p)
{
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static inline void peer_copy(char *to, size_t size, PtcText text)
{
    size_t n = text.len < size - 1 ? text.len : size - 1;
    memcpy(to, text.bytes ? text.bytes : "", n);
    to[n] = 0;
}

static inline void peer_on_state(void *user, PtcLinkState state, PtcText why)
{
    Peer *p = user;
    peer_lock(p);
    p->state = state;
    p->downs += state == PTC_LINK_DOWN;
    p->readies += state == PTC_LINK_READY;
    peer_copy(p->why, sizeof p->why, why);
    if (state == PTC_LINK_DOWN)
        peer_copy(p->auth, sizeof p->auth, ptc_link_auth(p->link));
    peer_told(p);
}

static inline void peer_on_notice(void *user, PtcText method, PtcText params)
{
    Peer *p = user;
    (void)params;
    peer_lock(p);
    p->notices++;
    peer_copy(p->notice, sizeof p->notice, method);
    peer_told(p);
}

static inline bool peer_on_request(void *user, PtcText method, PtcText params, PtcBuf *result)
{
    Peer *p = user;
    (void)params;
    peer_lock(p);
    p->requests++;
    peer_copy(p->request, sizeof p->request, method);
    const char *answer = p->answer;
    peer_told(p);
    return answer && ptc_buf_add_cstr(result, answer);
}

static inline void peer_on_log(void *user, PtcText line)
{
    Peer *p = user;
    peer_lock(p);
    p->log_lines++;
    size_t used = strlen(p->log);
    if (used + line.len + 2 < sizeof p->log)
        snprintf(p->log + used, sizeof p->log - used, "%.*s\n", (int)line.len, line.bytes);
    peer_told(p);
}

static inline PtcLinkConfig peer_config(Peer *p)
{
    return (PtcLinkConfig){.name = PTC_TEXT("faulty"),
                           .state = peer_on_state,
                           .notice = peer_on_notice,
                           .request = peer_on_request,
                           .log = peer_on_log,
                           .handshake_ms = 30 * 1000,
                           .user = p};
}

static inline void peer_init(Peer *p, PtcMem *mem, PtcLoop *loop)
{
    memset(p, 0, sizeof *p);
    p->mem = mem;
    p->loop = loop;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
}

/* Waits until a condition over `p` holds. */
#define PEER_WAIT(p, cond)                                \
    do {                                                  \
        check_at(__FILE__, __LINE__);                     \
        peer_lock(p);                                     \
        while (!(cond))                                   \
            pthread_cond_wait(&(p)->changed, &(p)->lock); \
        pthread_mutex_unlock(&(p)->lock);                 \
    } while (0)

/* Connects and waits for the outcome. */
static inline bool peer_connect(Peer *p)
{
    unsigned before = p->downs + p->readies;
    CHECK(ptc_link_connect(p->link));
    PEER_WAIT(p, p->downs + p->readies > before);
    return p->state == PTC_LINK_READY;
}

static inline void peer_free(Peer *p)
{
    ptc_link_free(p->link);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

static inline void call_done(PtcLinkAsk *ask, PtcLinkReply *reply)
{
    Call *c = (Call *)(void *)ask;
    Peer *p = c->peer;
    c->end = reply->end;
    c->delivered = reply->delivered;
    c->session_lost = reply->session_lost;
    c->status = reply->status;
    c->retry_after_ms = reply->retry_after_ms;
    c->bytes = reply->bytes;
    c->text = malloc(reply->text.len + 1);
    peer_copy(c->text, reply->text.len + 1, ptc_buf_view(&reply->text));
    peer_lock(p);
    c->over = true;
    peer_told(p);
}

static inline void call_progress(PtcLinkAsk *ask, double done, double total, PtcText message)
{
    Peer *p = ((Call *)(void *)ask)->peer;
    (void)total;
    peer_lock(p);
    p->progress++;
    p->last_progress = done;
    peer_copy(p->message, sizeof p->message, message);
    peer_told(p);
}

static inline void call_begin(Call *c, Peer *p, const char *method, const char *params, int64_t ms)
{
    free(c->text);
    *c = (Call){.peer = p,
                .ask = {.done = call_done, .progress = c->ask.progress, .most_ns = c->ask.most_ns}};
    c->ask.end_ns = ptc_clock_ns(NULL) + ms * 1000000;
    CHECK(ptc_link_ask(p->link, &c->ask, method, ptc_text_cstr(params), (PtcText){NULL, 0}));
}

static inline PtcLinkEnd call_wait(Call *c)
{
    PEER_WAIT(c->peer, c->over);
    return c->end;
}

static inline PtcLinkEnd call_tool(Call *c, Peer *p, const char *params, int64_t ms)
{
    call_begin(c, p, "tools/call", params, ms);
    return call_wait(c);
}

#define ECHO "{\"name\":\"echo\",\"arguments\":{\"text\":\"hello\"}}"

static inline void listing_done(PtcLinkList *list, PtcLinkReply *reply)
{
    Listing *g = (Listing *)(void *)list;
    Peer *p = g->peer;
    g->end = reply->end;
    g->items = list->items;
    g->note = list->note;
    peer_copy(g->text, sizeof g->text, ptc_buf_view(&reply->text));
    peer_copy(g->first, sizeof g->first, ptc_buf_view(&list->first));
    ptc_buf_deinit(&list->first);
    peer_lock(p);
    g->over = true;
    peer_told(p);
}

static inline PtcLinkEnd list_tools(Listing *g, Peer *p)
{
    *g = (Listing){.peer = p, .list.listed = listing_done};
    g->list.ask.end_ns = ptc_clock_ns(NULL) + (int64_t)60 * 1000000000;
    CHECK(ptc_link_list(p->link, &g->list, "tools/list", "tools"));
    PEER_WAIT(p, g->over);
    return g->end;
}

#endif
