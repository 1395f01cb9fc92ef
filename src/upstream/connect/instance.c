/* SPDX-License-Identifier: MIT
 * One connection to one upstream for one owner: started when it is needed, listed as soon as it is there, tried again
 * after a failure, later each time.  What always holds: no call is sent before the connection's own listing is there,
 * so what is known of a tool is never older than the process that runs it; a listing that comes from an earlier start
 * is thrown away. */
#include "base/text/one_line.h"
#include "upstream/connect/manager_int.h"
#include "upstream/run/serve_int.h"

#include <stdio.h>

#include "json/emit.h"
#include "json/members.h"
#include "json/parse.h"
#include "net/jsonrpc.h"
#include "upstream/config/rule_check.h"
#include "upstream/connect/inquiry.h"
#include "upstream/connect/roots.h"
#include "upstream/run/blot_json.h"
#include "value/coll/fields.h"

enum {
    INSTANCE_SETTLE_MS = 150, /* for a server to look at the roots that it was told */
    LIST_SOON_MS = 250,
    LIST_EVERY_MS = 5 * 1000,
    WARM_AT_ONCE = 2,
    CHANGES_TOLD = 8, /* tools of one listing */
    INSTANCE_ERROR_BYTES = PTC_MB,
    /* ns */
};

/* Without secrets, and on one line whatever a server said. */
static void log_safe(PtcManager *m, bool notice, PtcText line)
{
    PtcBuf safe, clean;
    void (*log)(void *, PtcText) = notice && m->config.notice ? m->config.notice : m->config.log;
    if (!log)
        return;
    ptc_buf_init(&safe, m->mem, 16 * PTC_KB);
    ptc_buf_init(&clean, m->mem, 128 * PTC_KB);
    line.len = line.len < 4096 ? line.len : 4096;
    ptc_secrets_blot(&m->told, &safe, line, false);
    ptc_one_line_add(&clean, ptc_buf_view(&safe));
    log(m->config.user, ptc_buf_view(&clean));
    ptc_buf_deinit(&clean);
    ptc_buf_deinit(&safe);
}

static void log_instance_line(PtcInstance *i, bool notice, const char *what, PtcText why)
{
    PtcManager *m = i->upstream->manager;
    PtcBuf line;
    ptc_buf_init(&line, m->mem, 2048);
    ptc_buf_addf(&line, "[%.*s] %s", PTC_ARG(i->upstream->entry.name), what);
    if (why.len)
        ptc_buf_addf(&line, ": %.*s", PTC_ARG(ptc_text_cut(why, 1500)));
    log_safe(m, notice, ptc_buf_view(&line));
    ptc_buf_deinit(&line);
}

static void log_instance_event(PtcInstance *i, const char *what, PtcText why)
{
    log_instance_line(i, false, what, why);
}

static void log_instance_rule(void *instance, PtcText line)
{
    log_instance_line(instance, true, "policy", line);
}

/* ---------------------------------------------------------------------------------- listing */

/* What one start listed, on its way to the work loop. */
typedef struct {
    PtcLoopTask task;
    PtcInstance *instance;
    unsigned start;
    bool modern;
    PtcBuf tools, about;
} Listed;

static void free_listed(PtcMem *mem, Listed *job)
{
    ptc_buf_deinit(&job->tools);
    ptc_buf_deinit(&job->about);
    ptc_mem_free(mem, job, sizeof *job);
}

/* With the lock held: everybody who waited for the listing goes on; returns those that can go on now. */
static PtcUpCall *take_listing(PtcInstance *i, PtcListing *listing)
{
    PtcUpstream *up = i->upstream;
    PtcListing *old = up->listing;
    up->listing = listing;
    atomic_fetch_add(&up->manager->version, 1);
    ptc_listing_drop(old);
    i->state = PTC_INSTANCE_READY;
    i->listed = i->asked;
    i->failures = 0;
    PtcUpCall *ready = ptc_queue_listed(i);
    ptc_queue_pump(i);
    return ready;
}

/* What an upstream says of itself is shown, kept on disk and given to workers, so its secrets go out of it first. */
static bool clean_listing_text(PtcManager *m, PtcBuf *text)
{
    PtcScratch scratch;
    PtcJsonError error;
    PtcBuf json, clean;
    if (!text->len || !ptc_secrets_any(&m->hidden))
        return true;
    ptc_scratch_init(&scratch, m->mem, PTC_LISTING_BYTES);
    ptc_buf_init(&json, m->mem, PTC_LISTING_BYTES);
    ptc_buf_init(&clean, m->mem, 2 * PTC_LISTING_BYTES);
    PtcValue value = ptc_json_parse(&scratch.heap, text->data, text->len, &error);
    bool ok = value != PTC_NONE && ptc_emit_value(&json, &scratch.heap, value);
    ptc_blot_json(&m->hidden, &clean, ptc_buf_view(&json));
    ok = ok && ptc_buf_ok(&clean);
    ptc_buf_deinit(&json);
    ptc_scratch_deinit(&scratch);
    ptc_buf_deinit(ok ? text : &clean);
    if (ok)
        *text = clean;
    return ok;
}

/* Tools of a listing that have changed. */
typedef struct {
    PtcInstance *instance;
    size_t count;
} Changes;

static void tell_changed(void *user, PtcText tool, unsigned parts)
{
    char what[64], line[700], word[PTC_ONE_LINE_WORD];
    Changes *changes = user;
    PtcInstance *i = changes->instance;
    if (++changes->count > CHANGES_TOLD)
        return;
    PtcText name = i->upstream->entry.name;
    ptc_pins_parts(parts, what);
    int n = snprintf(line, sizeof line, "%.*s (%s); ptc upstreams approve %s accepts it as it is",
                     PTC_ARG(ptc_text_cut(tool, 100)), what, ptc_one_line_word(word, name, tool));
    log_instance_event(
        i, "a tool has changed since it was pinned",
        (PtcText){line, n > 0 && (size_t)n < sizeof line ? (size_t)n : strlen(line)});
}

/* On the work loop's thread. */
static void compare_pins(PtcInstance *i, PtcListing *listing)
{
    PtcWhy why;
    char all[80];
    Changes changes = {.instance = i};
    if (!ptc_pins_see(i->upstream->manager->pins, ptc_upstream_pinned(i->upstream), listing,
                      tell_changed, &changes, &why))
        log_instance_event(i, "its tools could not be pinned", ptc_text_cstr(why.text));
    snprintf(all, sizeof all, "%zu in all; ptc upstreams pins shows them", changes.count);
    if (changes.count > CHANGES_TOLD)
        log_instance_event(i, "tools have changed since they were pinned", ptc_text_cstr(all));
}

/* On the work loop's thread: reads the listing, and keeps it on disk. */
static PtcListing *read_listing(Listed *job)
{
    PtcUpstream *up = job->instance->upstream;
    PtcManager *m = up->manager;
    if (!clean_listing_text(m, &job->tools) || !clean_listing_text(m, &job->about))
        return NULL;
    PtcText tools = ptc_buf_view(&job->tools), about = ptc_buf_view(&job->about);
    PtcListing *listing = ptc_listing_new(m->mem, &up->entry, tools, about, job->modern);
    if (listing)
        ptc_rule_check_tools(listing, &up->entry, m->config.policy,
                             up->rules_told ? NULL : log_instance_rule, job->instance);
    up->rules_told = true;
    if (listing && m->pins && !up->entry.no_pins)
        compare_pins(job->instance, listing);
    if (listing && up->cache_path &&
        !ptc_listing_cache_save(m->mem, up->cache_path, tools, about, job->modern))
        log_instance_event(job->instance, "its list of tools could not be kept on disk",
                           (PtcText){NULL, 0});
    return listing;
}

/* With the lock held.  A later one leaves the old one to those that began with it. */
static void lose_listing(PtcInstance *i, PtcText why)
{
    if (i->state == PTC_INSTANCE_STARTING)
        ptc_instance_down(i, why);
    else
        ptc_queue_unlisted(i, why);
}

/* On the work loop's thread. */
static void make_listing(PtcLoopTask *task)
{
    Listed *job = (Listed *)(void *)task;
    PtcInstance *i = job->instance;
    PtcManager *m = i->upstream->manager;
    PtcEndpoint *done = NULL;
    PtcUpCall *ready = NULL;
    PtcListing *listing = read_listing(job);
    pthread_mutex_lock(&m->lock);
    bool current = job->start == i->start && i->endpoint &&
                   (i->state == PTC_INSTANCE_STARTING || i->state == PTC_INSTANCE_READY);
    i->jobs--;
    if (current) {
        i->listing = false;
        i->listed_ns = ptc_clock_ns(NULL);
    }
    if (current && listing) {
        ready = take_listing(i, listing);
        listing = NULL;
        done = ready ? NULL : ptc_instance_rest_unused(i);
    } else if (current) {
        lose_listing(i, PTC_TEXT("its list of tools cannot be used, or ptc is out of memory"));
    }
    (void)!ptc_manager_wake(m);
    pthread_mutex_unlock(&m->lock);
    ptc_listing_drop(listing);
    free_listed(m->mem, job);
    ptc_serve_go_on(ready);
    if (done)
        ptc_instance_rest_end(i, done);
}

/* A server without tools says so with an error. */
static bool has_no_tools(const PtcLinkReply *reply)
{
    int64_t code;
    return reply->end == PTC_LINK_ERROR &&
           ptc_members_int(ptc_members_get(ptc_buf_view(&reply->text), "code"), &code) &&
           code == PTC_RPC_METHOD_NOT_FOUND;
}

/* The text of the reply becomes the job's.  NULL: it is no list, or out of memory. */
static Listed *new_listed(PtcInstance *i, PtcLink *link, PtcLinkReply *reply)
{
    PtcManager *m = i->upstream->manager;
    bool none = has_no_tools(reply);
    PtcText about = link ? ptc_link_about(link) : (PtcText){"", 0}; /* in a document already */
    Listed *job = reply->end == PTC_LINK_ANSWER || none ? ptc_mem_alloc(m->mem, sizeof *job) : NULL;
    if (!job)
        return NULL;
    *job = (Listed){.task.run = make_listing,
                    .instance = i,
                    .modern = link && ptc_link_era(link) == PTC_LINK_MODERN};
    ptc_buf_init(&job->about, m->mem, PTC_LISTING_BYTES);
    ptc_buf_init(&job->tools, m->mem, PTC_LISTING_BYTES);
    bool ok = ptc_buf_add(&job->about, about.bytes, about.len);
    if (none) {
        ok = ptc_buf_add_cstr(&job->tools, "[]") && ok;
    } else {
        job->tools = reply->text;
        reply->text = (PtcBuf){0};
    }
    if (ok)
        return job;
    free_listed(m->mem, job);
    return NULL;
}

/* The error that a server answered with, in words. */
static PtcText say_error(PtcInstance *i, PtcText error, char out[400])
{
    PtcScratch scratch;
    PtcJsonError broken;
    ptc_scratch_init(&scratch, i->upstream->manager->mem, INSTANCE_ERROR_BYTES);
    PtcValue v = ptc_json_parse(&scratch.heap, error.bytes, error.len, &broken);
    PtcText said = v == PTC_NONE ? error : ptc_fields_text(&scratch.heap, v, "message");
    PtcText code = ptc_members_get(error, "code");
    snprintf(out, 400, "it answered tools/list with an error: %.*s (%.*s)",
             PTC_ARG(ptc_text_cut(said, 300)), PTC_ARG(ptc_text_cut(code, 20)));
    ptc_scratch_deinit(&scratch);
    return ptc_text_cstr(out);
}

static PtcText why_not_listed(PtcInstance *i, const PtcLinkReply *reply, char out[400])
{
    PtcText said = ptc_buf_view(&reply->text);
    if (reply->end == PTC_LINK_ERROR)
        return say_error(i, said, out);
    if (reply->end != PTC_LINK_AUTH)
        return said.len ? said : PTC_TEXT("it did not list its tools");
    ptc_sign_in_tell(&i->upstream->sign_in, reply->own ? said : (PtcText){NULL, 0}, out, 400);
    return ptc_text_cstr(out);
}

/* On the loop's thread, or a service's. */
static void take_listed_tools(PtcLinkList *list, PtcLinkReply *reply)
{
    PtcInstance *i = (PtcInstance *)((char *)list - offsetof(PtcInstance, list));
    PtcManager *m = i->upstream->manager;
    char text[400];
    Listed *job = new_listed(i, list->link, reply);
    PtcText why = job ? PTC_TEXT("out of memory") : why_not_listed(i, reply, text);
    ptc_buf_deinit(&list->first);
    pthread_mutex_lock(&m->lock);
    if (job)
        job->start = i->start;
    if (job && ptc_loop_post(m->work_loop, &job->task)) {
        i->jobs++; /* it needs the lock to end */
        pthread_mutex_unlock(&m->lock);
        return;
    }
    i->listing = false;
    if (i->state == PTC_INSTANCE_STARTING)
        i->refused = reply->end == PTC_LINK_AUTH;
    lose_listing(i, why);
    (void)!ptc_manager_wake(m);
    pthread_mutex_unlock(&m->lock);
    if (job)
        free_listed(m->mem, job);
}

void ptc_instance_list(PtcInstance *i)
{
    if (i->listing || !i->endpoint)
        return;
    i->asked = i->upstream->manager->changes;
    i->upstream->stamp = ptc_entry_stamp(&i->upstream->entry);
    i->list.listed = take_listed_tools;
    i->list.ask.end_ns = i->list.ask.most_ns =
        ptc_clock_ns(NULL) + i->upstream->entry.handshake_ms * PTC_MS;
    i->listing = ptc_endpoint_list(i->endpoint, &i->list);
    if (!i->listing && i->state == PTC_INSTANCE_STARTING)
        ptc_instance_down(i, PTC_TEXT("out of memory"));
}

/* ---------------------------------------------------------------------------- of the client */

/* Why it is down.  If the server wants somebody to sign in, the text says how. */
static PtcText instance_refusal_text(PtcInstance *i, PtcText why, char out[400])
{
    PtcText challenge = i->endpoint ? ptc_endpoint_auth(i->endpoint) : (PtcText){NULL, 0};
    if (!challenge.bytes)
        return why;
    i->refused = true;
    ptc_sign_in_tell(&i->upstream->sign_in, challenge.len ? (PtcText){NULL, 0} : why, out, 400);
    return ptc_text_cstr(out);
}

static void on_state(void *user, PtcLinkState state, PtcText why)
{
    PtcInstance *i = user;
    PtcManager *m = i->upstream->manager;
    char refused[400];
    pthread_mutex_lock(&m->lock);
    if (state == PTC_LINK_DOWN)
        why = instance_refusal_text(i, why, refused);
    bool told = state == PTC_LINK_DOWN && !i->resting;
    if (state == PTC_LINK_READY || state == PTC_LINK_DOWN)
        i->connected = state == PTC_LINK_READY;
    if (state == PTC_LINK_READY && i->state == PTC_INSTANCE_STARTING)
        ptc_instance_list(i);
    else if (told)
        ptc_instance_down(i, why);
    (void)!ptc_manager_wake(m);
    pthread_mutex_unlock(&m->lock);
    if (told)
        log_instance_event(i, "is down", why);
}

/* A listing that is under way may lack the change that was just announced, so another one follows it. */
static void list_later(PtcLoopTimer *timer)
{
    PtcInstance *i = (PtcInstance *)((char *)timer - offsetof(PtcInstance, list_timer));
    PtcManager *m = i->upstream->manager;
    pthread_mutex_lock(&m->lock);
    bool busy = i->state == PTC_INSTANCE_STARTING || i->listing;
    if (i->state == PTC_INSTANCE_READY && !busy && i->changed > i->listed)
        ptc_instance_list(i);
    pthread_mutex_unlock(&m->lock);
    if (busy)
        ptc_loop_set(m->loop, timer, ptc_clock_ns(NULL) + LIST_SOON_MS * PTC_MS);
}

static void on_notice(void *user, PtcText method, PtcText params)
{
    PtcInstance *i = user;
    PtcManager *m = i->upstream->manager;
    if (ptc_text_is(method, "notifications/cancelled"))
        ptc_inquiry_withdraw(i, ptc_members_get(params, "requestId"));
    if (!ptc_text_is(method, "notifications/tools/list_changed"))
        return;
    int64_t now = ptc_clock_ns(NULL);
    int64_t soon = now + LIST_SOON_MS * PTC_MS;
    pthread_mutex_lock(&m->lock);
    i->changed = ++m->changes;
    atomic_fetch_add(&m->version,
                     1); /* what was found before does not count for programs that begin now */
    int64_t next = i->listed_ns + LIST_EVERY_MS * PTC_MS;
    pthread_mutex_unlock(&m->lock);
    if (i->list_timer.at_ns == 0)
        ptc_loop_set(m->loop, &i->list_timer, soon > next ? soon : next);
}

/* The line has the name already. */
static void log_instance_output(void *user, PtcText line)
{
    PtcInstance *i = user;
    log_safe(i->upstream->manager, false, line);
}

static bool on_headers(void *user, PtcBuf *lines, PtcWhy *why)
{
    PtcInstance *i = user;
    PtcManager *m = i->upstream->manager;
    PtcBuf query;
    ptc_buf_init(&query, m->mem, 64 * PTC_KB);
    bool ok = ptc_credentials_headers(&m->credentials, &i->upstream->entry, lines, &query, why);
    if (ok && query.len) { /* a request without them would go out as somebody else's */
        ok = ptc_why_say(why, PTC_WHY_REFUSED,
                         "credentials in the address of an MCP server cannot be sent yet");
    }
    ok = ok && ptc_buf_ok(&query);
    ptc_buf_deinit(&query);
    return ok && ptc_sign_in_add(&i->upstream->sign_in, i->http, lines, why);
}

static bool on_refused(void *user, int status, const char *challenge, PtcText lines, PtcWhy *why)
{
    PtcInstance *i = user;
    PtcManager *m = i->upstream->manager;
    if (status == 401 && ptc_credentials_forget(&m->credentials, &i->upstream->entry))
        return true; /* programs that print credentials are asked once more */
    return ptc_sign_in_again(&i->upstream->sign_in, i->http, status, challenge, lines, why);
}

static bool on_request(void *user, PtcText method, PtcText params, PtcBuf *result)
{
    PtcInstance *i = user;
    PtcManager *m = i->upstream->manager;
    (void)params;
    if (!ptc_text_is(method, "roots/list"))
        return false;
    pthread_mutex_lock(&m->lock);
    bool told = ptc_roots_answer(i->upstream, i->client_roots, result);
    i->stale_roots = false;
    if (told)
        i->settled_ns = ptc_clock_ns(NULL) + INSTANCE_SETTLE_MS * PTC_MS;
    pthread_mutex_unlock(&m->lock);
    return told;
}

static bool make_service(PtcInstance *i)
{
    PtcManager *m = i->upstream->manager;
    PtcServiceConfig config = {.entry = &i->upstream->entry,
                               .credentials = &m->credentials,
                               .http = i->http,
                               .state = on_state,
                               .user = i};
    i->endpoint = ptc_endpoint_service(m->mem, &config);
    return i->endpoint != NULL;
}

static bool make_endpoint(PtcInstance *i)
{
    PtcUpstream *up = i->upstream;
    PtcManager *m = up->manager;
    const PtcEntry *e = &up->entry;
    PtcLinkConfig config = {.name = e->name,
                            .transport = e->web ? e->transport : PTC_LINK_STDIO,
                            .argv = e->argv,
                            .env = e->env,
                            .cwd = e->cwd,
                            .leash = m->config.leash,
                            .url = e->url,
                            .headers = e->web ? on_headers : NULL,
                            .refused = e->web ? on_refused : NULL,
                            .insecure_http = e->insecure_http,
                            .handshake_ms = e->handshake_ms,
                            .connect_ms = e->connect_ms,
                            .max_message = e->max_response,
                            .state = on_state,
                            .notice = on_notice,
                            .question = ptc_inquiry_take,
                            .request = on_request,
                            .log = log_instance_output,
                            .user = i};
    if (up->listing)
        config.era = up->listing->modern ? PTC_LINK_MODERN : PTC_LINK_LEGACY;
    bool http = e->web || e->openapi;
    if (http && !i->http && !(i->http = ptc_client_new(m->mem, e->ca_file)))
        return false;
    if (e->openapi)
        return make_service(i);
    config.http = i->http;
    i->endpoint = ptc_endpoint_link(m->mem, m->loop, &config);
    return i->endpoint != NULL;
}

/* ------------------------------------------------------------------------------------ start */

static bool may_start(const PtcInstance *i, int64_t now)
{
    if (i->upstream->manager->ending || i->resting || i->connected)
        return false;
    return i->state == PTC_INSTANCE_COLD || (i->state == PTC_INSTANCE_DOWN && now >= i->retry_ns);
}

void ptc_instance_start(PtcInstance *i)
{
    int64_t now = ptc_clock_ns(NULL);
    if (!may_start(i, now))
        return;
    if (!i->endpoint && !make_endpoint(i)) {
        ptc_instance_down(i, PTC_TEXT("out of memory"));
        return;
    }
    ptc_call_count(&i->upstream->counts.starts, 1);
    ptc_call_count(&i->upstream->counts.restarts, i->state == PTC_INSTANCE_DOWN);
    i->start++;
    i->restarts += i->state == PTC_INSTANCE_DOWN;
    i->refused = false;
    i->state = PTC_INSTANCE_STARTING;
    i->started_ns = i->last_ns = now;
    i->client_roots = ptc_roots_of_client(i->upstream);
    i->stale_roots = false;
    ptc_endpoint_offer(i->endpoint, ptc_inquiry_capabilities(i));
    if (!ptc_endpoint_connect(i->endpoint))
        ptc_instance_down(i, PTC_TEXT("no thread could be started"));
}

PtcInstance *ptc_instance_find(PtcManager *m, const PtcUpstream *up, const char *owner)
{
    owner = up->entry.shared ? "" : owner; /* no owner has an empty name */
    for (PtcInstance *i = m->instances; i; i = i->next)
        if (i->upstream == up && strcmp(i->owner, owner) == 0)
            return i;
    return NULL;
}

/* One that has no connection and nothing to do: it may serve somebody else. */
static PtcInstance *find_idle(PtcManager *m)
{
    for (PtcInstance *i = m->instances; i; i = i->next)
        if (i->state == PTC_INSTANCE_COLD && !i->endpoint && !i->resting && !i->first &&
            !i->waiting && !i->under_way && !i->jobs)
            return i;
    return NULL;
}

static void give_to(PtcInstance *i, PtcUpstream *up, char *owner)
{
    PtcManager *m = up->manager;
    if (i->http)
        ptc_client_free(i->http);
    i->http = NULL;
    ptc_mem_free(m->mem, i->owner, strlen(i->owner) + 1);
    i->owner = owner;
    i->upstream = up;
    i->used = i->warming = i->listing = false;
    i->failures = i->openings = i->restarts = 0;
    i->changed = 0;
    memset(i->exits, 0, sizeof i->exits);
    i->retry_ns = i->started_ns = i->listed_ns = 0;
    i->why[0] = '\0';
}

static PtcInstance *new_instance(PtcManager *m, PtcUpstream *up, char *owner)
{
    PtcInstance *i = ptc_mem_alloc(m->mem, sizeof *i);
    if (!i)
        return NULL;
    memset(i, 0, sizeof *i);
    i->owner = owner;
    i->upstream = up;
    i->last = &i->first;
    i->drop.run = ptc_instance_drop;
    i->rest.run = ptc_instance_rest_run;
    i->list_timer.fire = list_later;
    i->next = m->instances;
    m->instances = i;
    m->instance_count++;
    return i;
}

PtcInstance *ptc_instance_get(PtcManager *m, PtcUpstream *up, const char *owner, PtcWhy *why)
{
    owner = up->entry.shared ? "" : owner;
    size_t len = strlen(owner) + 1;
    PtcInstance *i = ptc_instance_find(m, up, owner), *idle = NULL;
    if (i)
        return i;
    if (m->instance_count == PTC_MANAGER_INSTANCES && !(idle = find_idle(m))) {
        ptc_why_say(why, PTC_WHY_REFUSED, "too many upstreams are running");
        return NULL;
    }
    char *name = ptc_mem_alloc(m->mem, len);
    if (name)
        memcpy(name, owner, len);
    if (name && idle)
        give_to(idle, up, name);
    else if (name && !(idle = new_instance(m, up, name)))
        ptc_mem_free(m->mem, name, len);
    if (!name || !idle)
        ptc_why_no_memory(why);
    return name ? idle : NULL;
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
    bool may = m->warm_owner && !m->ending && ptc_clock_ns(NULL) >= m->warm_at_ns;
    for (size_t n = 0; may && n < m->count && warming(m) < WARM_AT_ONCE; n++) {
        PtcUpstream *up = &m->upstreams[n];
        if (up->warmed || up->listing || up->entry.unusable.bytes || up->entry.disabled)
            continue;
        up->warmed = true;
        PtcInstance *i = ptc_instance_get(m, up, m->warm_owner, NULL);
        if (!i || i->state != PTC_INSTANCE_COLD)
            continue;
        i->warming = true;
        i->offers = ptc_inquiry_allowed(m->warm_offers, &up->entry);
        ptc_instance_start(i);
    }
}

void ptc_instance_end(PtcInstance *i)
{
    PtcManager *m = i->upstream->manager;
    pthread_mutex_lock(&m->lock);
    PtcEndpoint *endpoint = i->endpoint;
    i->endpoint = NULL;
    i->state = PTC_INSTANCE_DOWN;
    pthread_mutex_unlock(&m->lock);
    ptc_endpoint_free(endpoint);
}

void ptc_instance_free(PtcInstance *i)
{
    PtcMem *mem = i->upstream->manager->mem;
    if (i->http)
        ptc_client_free(i->http);
    ptc_mem_free(mem, i->owner, strlen(i->owner) + 1);
    ptc_mem_free(mem, i, sizeof *i);
}
