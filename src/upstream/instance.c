/* SPDX-License-Identifier: MIT
 * One connection to one upstream for one owner: started when it is needed, listed as soon as it is there, tried again
 * after a failure, later each time.  What always holds: no call is sent before the connection's own listing is there, so
 * what is known of a tool is never older than the process that runs it. */
#include "upstream/manager_int.h"
#include "upstream/serve_int.h"

#include <stdio.h>

#include "upstream/fields.h"

enum {
    BACKOFF_MS = 500,
    BACKOFF_MAX_MS = 60 * 1000,
    BREAKER_AFTER = 5, /* failures in a row */
    BREAKER_MS = 15 * 1000,
    BREAKER_MAX_MS = 5 * 60 * 1000,
    LIST_SOON_MS = 250,
    LIST_EVERY_MS = 5 * 1000,
    WARM_AT_ONCE = 2,
    MS = 1000 * 1000, /* ns */
};

static void tell(PtcInstance *i, const char *what, PtcText why)
{
    PtcManager *m = i->upstream->manager;
    PtcBuf line, safe;
    if (!m->config.log)
        return;
    ptc_buf_init(&line, m->mem, 2048);
    ptc_buf_init(&safe, m->mem, 8192);
    ptc_buf_addf(&line, "[%.*s] %s", (int)i->upstream->entry.name.len,
                 i->upstream->entry.name.bytes, what);
    if (why.len)
        ptc_buf_addf(&line, ": %.*s", (int)(why.len < 1500 ? why.len : 1500), why.bytes);
    ptc_secrets_blot(&m->told, &safe, ptc_buf_view(&line), false);
    m->config.log(m->config.user, ptc_buf_view(&safe));
    ptc_buf_deinit(&line);
    ptc_buf_deinit(&safe);
}

/* ------------------------------------------------------------------------------ going down */

static int64_t doubled(int64_t first, int64_t most, unsigned times)
{
    while (times-- && first < most)
        first *= 2;
    return first < most ? first : most;
}

/* Later each time; after several failures in a row much later. */
static int64_t pause_ms(unsigned failures)
{
    if (failures >= BREAKER_AFTER)
        return doubled(BREAKER_MS, BREAKER_MAX_MS, failures - BREAKER_AFTER);
    return doubled(BACKOFF_MS, BACKOFF_MAX_MS, failures ? failures - 1 : 0);
}

/* With the lock held. */
static void go_down(PtcInstance *i, PtcText why)
{
    bool was_down = i->state == PTC_INSTANCE_DOWN;
    snprintf(i->why, sizeof i->why, "%.*s", (int)(why.len < 255 ? why.len : 255), why.bytes);
    i->state = PTC_INSTANCE_DOWN;
    i->listing = false;
    if (was_down)
        return;
    i->failures++;
    i->retry_ns = ptc_clock_ns(NULL) + pause_ms(i->failures) * MS;
    ptc_queue_fail(i, i->why);
    ptc_instance_warm_next(i->upstream->manager);
}

/* ---------------------------------------------------------------------------------- listing */

/* One that was started only to be listed, and that nobody has called, ends again.  The client is to be freed when the
 * lock is not held. */
static PtcLink *rest(PtcInstance *i)
{
    PtcLink *client = i->client;
    if (!i->warming || i->used || i->first || i->waiting || i->under_way)
        return NULL;
    i->client = NULL;
    i->state = PTC_INSTANCE_COLD;
    return client;
}

/* On the clerk's thread: what came becomes a listing, and everybody who waited for it goes on. */
static void make_listing(PtcLoopTask *task)
{
    PtcInstance *i = (PtcInstance *)((char *)task - offsetof(PtcInstance, clerk_list));
    PtcUpstream *up = i->upstream;
    PtcManager *m = up->manager;
    PtcText tools = ptc_buf_view(&i->tools), about = ptc_buf_view(&i->about);
    PtcLink *done = NULL;
    PtcUpCall *ready = NULL;
    PtcListing *listing = ptc_listing_new(m->mem, &up->entry, tools, about, i->modern);
    if (listing && up->cache_path &&
        !ptc_listing_cache_save(m->mem, up->cache_path, tools, about, i->modern))
        tell(i, "its list of tools could not be kept on disk", (PtcText){NULL, 0});
    ptc_buf_deinit(&i->tools);
    ptc_buf_deinit(&i->about);
    pthread_mutex_lock(&m->lock);
    i->listing = false;
    i->listed_ns = ptc_clock_ns(NULL);
    if (!listing) {
        go_down(i, PTC_TEXT("its list of tools cannot be used, or memory is short"));
    } else if (i->state == PTC_INSTANCE_STARTING || i->state == PTC_INSTANCE_READY) {
        PtcListing *old = up->listing;
        up->listing = listing;
        atomic_fetch_add(&m->version, 1);
        ptc_listing_drop(old);
        i->state = PTC_INSTANCE_READY;
        i->failures = 0;
        ready = ptc_queue_listed(i);
        ptc_queue_pump(i);
        done = ready ? NULL : rest(i);
    } else {
        ptc_listing_drop(listing);
    }
    ptc_instance_warm_next(m);
    ptc_manager_wake(m);
    pthread_mutex_unlock(&m->lock);
    ptc_serve_go_on(ready);
    if (done)
        ptc_link_free(done);
}

/* A server without tools says so with an error. */
static bool has_no_tools(const PtcLinkReply *reply)
{
    static const char code[] = "-32601";
    PtcText text = ptc_buf_view(&reply->text);
    for (size_t at = 0; reply->end == PTC_LINK_ERROR && at + sizeof code - 1 <= text.len; at++)
        if (memcmp(text.bytes + at, code, sizeof code - 1) == 0)
            return true;
    return false;
}

/* On the loop's thread. */
static void listed(PtcLinkList *list, PtcLinkReply *reply)
{
    PtcInstance *i = (PtcInstance *)((char *)list - offsetof(PtcInstance, list));
    PtcManager *m = i->upstream->manager;
    PtcText about = ptc_link_about(i->client);
    i->modern = ptc_link_era(i->client) == PTC_LINK_MODERN;
    ptc_buf_init(&i->about, m->mem, PTC_LISTING_BYTES);
    ptc_buf_init(&i->tools, m->mem, PTC_LISTING_BYTES);
    bool good = reply->end == PTC_LINK_ANSWER;
    if (good) {
        i->tools = reply->text;
        reply->text = (PtcBuf){0};
    } else if (has_no_tools(reply)) {
        good = ptc_buf_add_cstr(&i->tools, "[]");
    }
    good = good && ptc_buf_add(&i->about, about.bytes, about.len);
    if (good && ptc_loop_post(m->clerk, &i->clerk_list))
        return;
    ptc_buf_deinit(&i->tools);
    ptc_buf_deinit(&i->about);
    pthread_mutex_lock(&m->lock);
    bool fresh = i->state == PTC_INSTANCE_STARTING;
    i->listing = false;
    if (fresh) /* a later listing that fails leaves the old one */
        go_down(i, reply->text.len ? ptc_buf_view(&reply->text)
                                   : PTC_TEXT("it did not list its tools"));
    ptc_manager_wake(m);
    pthread_mutex_unlock(&m->lock);
}

/* With the lock held. */
static void begin_list(PtcInstance *i)
{
    if (i->listing || !i->client)
        return;
    i->list.listed = listed;
    i->list.ask.end_ns = i->list.ask.most_ns =
        ptc_clock_ns(NULL) + i->upstream->entry.handshake_ms * MS;
    i->listing = ptc_link_list(i->client, &i->list, "tools/list", "tools");
    if (!i->listing && i->state == PTC_INSTANCE_STARTING)
        go_down(i, PTC_TEXT("memory is short"));
}

/* ---------------------------------------------------------------------------- of the client */

static void on_state(void *user, PtcLinkState state, PtcText why)
{
    PtcInstance *i = user;
    PtcManager *m = i->upstream->manager;
    pthread_mutex_lock(&m->lock);
    if (state == PTC_LINK_READY && i->state == PTC_INSTANCE_STARTING) {
        begin_list(i);
    } else if (state == PTC_LINK_DOWN) {
        go_down(i, why);
    }
    ptc_manager_wake(m);
    pthread_mutex_unlock(&m->lock);
    if (state == PTC_LINK_DOWN)
        tell(i, "is down", why);
}

static void list_later(PtcLoopTimer *timer)
{
    PtcInstance *i = (PtcInstance *)((char *)timer - offsetof(PtcInstance, list_timer));
    PtcManager *m = i->upstream->manager;
    pthread_mutex_lock(&m->lock);
    if (i->state == PTC_INSTANCE_READY)
        begin_list(i);
    pthread_mutex_unlock(&m->lock);
}

static void on_notice(void *user, PtcText method, PtcText params)
{
    PtcInstance *i = user;
    PtcManager *m = i->upstream->manager;
    (void)params;
    if (!ptc_text_is(method, "notifications/tools/list_changed"))
        return;
    int64_t now = ptc_clock_ns(NULL);
    int64_t soon = now + (int64_t)LIST_SOON_MS * MS;
    pthread_mutex_lock(&m->lock);
    int64_t next = i->listed_ns + (int64_t)LIST_EVERY_MS * MS;
    pthread_mutex_unlock(&m->lock);
    if (i->list_timer.at_ns == 0)
        ptc_loop_set(m->loop, &i->list_timer, soon > next ? soon : next);
}

static void on_log(void *user, PtcText line)
{
    tell(user, "says", line);
}

static bool on_headers(void *user, PtcBuf *lines, PtcBuf *why)
{
    PtcInstance *i = user;
    PtcManager *m = i->upstream->manager;
    PtcBuf query;
    ptc_buf_init(&query, m->mem, 64 * 1024);
    bool ok = ptc_credentials_headers(&m->credentials, &i->upstream->entry, lines, &query, why);
    ptc_buf_deinit(&query);
    return ok;
}

static bool make_client(PtcInstance *i)
{
    PtcUpstream *up = i->upstream;
    PtcManager *m = up->manager;
    const PtcEntry *e = &up->entry;
    PtcLinkConfig config = {.name = e->name,
                            .transport = e->web ? e->transport : PTC_LINK_STDIO,
                            .argv = e->argv,
                            .env = e->env,
                            .cwd = e->cwd,
                            .url = e->url,
                            .headers = e->web ? on_headers : NULL,
                            .insecure_http = e->insecure_http,
                            .handshake_ms = e->handshake_ms,
                            .connect_ms = e->connect_ms,
                            .max_message = e->max_response,
                            .state = on_state,
                            .notice = on_notice,
                            .log = on_log,
                            .user = i};
    if (up->listing)
        config.era = up->listing->modern ? PTC_LINK_MODERN : PTC_LINK_LEGACY;
    if (e->web && !i->http && !(i->http = ptc_client_new(m->mem, e->ca_file)))
        return false;
    config.http = i->http;
    i->client = ptc_link_new(m->mem, m->loop, &config);
    return i->client != NULL;
}

/* ------------------------------------------------------------------------------------ start */

void ptc_instance_start(PtcInstance *i)
{
    int64_t now = ptc_clock_ns(NULL);
    bool may =
        i->state == PTC_INSTANCE_COLD || (i->state == PTC_INSTANCE_DOWN && now >= i->retry_ns);
    if (!may)
        return;
    if (!i->client && !make_client(i)) {
        go_down(i, PTC_TEXT("memory is short"));
        return;
    }
    if (i->started_ns)
        i->restarts++;
    i->state = PTC_INSTANCE_STARTING;
    i->started_ns = now;
    ptc_link_connect(i->client);
}

static PtcInstance *find(PtcManager *m, const PtcUpstream *up, const char *owner)
{
    for (PtcInstance *i = m->instances; i; i = i->next)
        if (i->upstream == up && strcmp(i->owner, owner) == 0)
            return i;
    return NULL;
}

PtcInstance *ptc_instance_get(PtcManager *m, PtcUpstream *up, const char *owner, const char **why)
{
    size_t len = strlen(owner) + 1;
    PtcInstance *i = find(m, up, owner);
    *why = "too many upstreams run already";
    if (i || m->instance_count == PTC_MANAGER_INSTANCES)
        return i;
    *why = "memory is short";
    i = ptc_mem_alloc(m->mem, sizeof *i);
    char *name = ptc_mem_alloc(m->mem, len);
    if (!i || !name) {
        ptc_mem_free(m->mem, i, sizeof *i);
        ptc_mem_free(m->mem, name, len);
        return NULL;
    }
    memset(i, 0, sizeof *i);
    memcpy(name, owner, len);
    i->owner = name;
    i->upstream = up;
    i->last = &i->first;
    i->clerk_list.run = make_listing;
    i->list_timer.fire = list_later;
    i->next = m->instances;
    m->instances = i;
    m->instance_count++;
    return i;
}

/* ------------------------------------------------------------------------------- background */

static unsigned warming(const PtcManager *m)
{
    unsigned n = 0;
    for (const PtcInstance *i = m->instances; i; i = i->next)
        n += i->warming && i->state == PTC_INSTANCE_STARTING;
    return n;
}

void ptc_instance_warm_next(PtcManager *m)
{
    const char *why;
    for (size_t n = 0; m->warm_owner && n < m->count && warming(m) < WARM_AT_ONCE; n++) {
        PtcUpstream *up = &m->upstreams[n];
        if (up->warmed || up->listing || up->entry.unusable.bytes || up->entry.disabled)
            continue;
        up->warmed = true;
        PtcInstance *i = ptc_instance_get(m, up, m->warm_owner, &why);
        if (!i || i->state != PTC_INSTANCE_COLD)
            continue;
        i->warming = true;
        ptc_instance_start(i);
    }
}

void ptc_instance_end(PtcInstance *i)
{
    if (i->client)
        ptc_link_free(i->client);
    i->client = NULL;
}

void ptc_instance_free(PtcInstance *i)
{
    PtcMem *mem = i->upstream->manager->mem;
    if (i->http)
        ptc_client_free(i->http);
    ptc_mem_free(mem, i->owner, strlen(i->owner) + 1);
    ptc_mem_free(mem, i, sizeof *i);
}
