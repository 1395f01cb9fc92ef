/* SPDX-License-Identifier: MIT
 * A link: asks by id, and the one task that the loop runs for it.  What always holds: an ask is in the table, or in the
 * list of those that have ended, or in no list while the loop's thread ends it; whoever takes it out of the table ends
 * it, so it ends once.  No callback is called with the lock held. */
#include "mcp/client/link_int.h"

#include <stdio.h>

#include "json/emit.h"
#include "mcp/client/link_task.h"

/* ---------------------------------------------------------------------------- table */

static PtcLinkAsk **find_link_ask(PtcLink *l, uint64_t id)
{
    PtcLinkAsk **at = &l->asks[id % ASK_BUCKETS];
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

static void insert_link_ask(PtcLink *l, PtcLinkAsk *ask)
{
    PtcLinkAsk **bucket = &l->asks[ask->id % ASK_BUCKETS];
    ask->next = *bucket;
    *bucket = ask;
}

static PtcLinkAsk *take_locked(PtcLink *l, uint64_t id)
{
    PtcLinkAsk **at = find_link_ask(l, id), *ask = *at;
    if (ask) {
        *at = ask->next;
        l->ending -= ask->ending;
    }
    return ask;
}

PtcLinkAsk *ptc_link_take_ask(PtcLink *l, uint64_t id)
{
    pthread_mutex_lock(&l->lock);
    PtcLinkAsk *ask = take_locked(l, id);
    if (ask)
        l->wire->forget(l, ask);
    pthread_mutex_unlock(&l->lock);
    return ask;
}

bool ptc_link_has_ask(PtcLink *l, uint64_t id)
{
    pthread_mutex_lock(&l->lock);
    bool there = *find_link_ask(l, id);
    pthread_mutex_unlock(&l->lock);
    return there;
}

struct PtcLinkTask *ptc_link_task_of(PtcLink *l, uint64_t id, bool *polled)
{
    pthread_mutex_lock(&l->lock);
    const PtcLinkAsk *ask = *find_link_ask(l, id);
    struct PtcLinkTask *task = ask ? ask->task : NULL;
    *polled = task && ask->polled;
    pthread_mutex_unlock(&l->lock);
    return task;
}

PtcLinkAsk *ptc_link_renumber(PtcLink *l, uint64_t id, bool tasks)
{
    PtcLinkAsk **at = find_link_ask(l, id), *ask = *at;
    if (!ask || (tasks && !ask->tasks))
        return NULL;
    *at = ask->next;
    l->wire->forget(l, ask);
    ask->id = ++l->last_id;
    ask->polled = true;
    insert_link_ask(l, ask);
    return ask;
}

void ptc_link_drop_ask(PtcLink *l, PtcLinkAsk *ask)
{
    if (ask->id)
        (void)ptc_link_take_ask(l, ask->id);
    ask->id = 0;
}

/* ------------------------------------------------------------------------------ end */

PtcLinkReply ptc_link_reply(PtcLink *l, PtcLinkEnd end)
{
    PtcLinkReply reply = {.end = end, .retry_after_ms = -1};
    ptc_buf_init(&reply.text, l->mem, PTC_UNBOUNDED);
    return reply;
}

void ptc_link_end_ask(PtcLink *l, PtcLinkAsk *ask, PtcLinkReply *reply)
{
    if (ask->task)
        ptc_link_task_left(l, ask, false);
    ask->done(ask, reply); /* may free the ask */
    ptc_buf_deinit(&reply->text);
}

void ptc_link_end_ask_why(PtcLink *l, PtcLinkAsk *ask, PtcLinkEnd end, PtcText why)
{
    PtcLinkReply reply = ptc_link_reply(l, end);
    reply.delivered = ask->delivered;
    ptc_buf_add(&reply.text, why.bytes, why.len);
    ptc_link_end_ask(l, ask, &reply);
}

/* On modern HTTP closing the stream says it; wire->forget has done that. */
static void tell_cancelled(PtcLink *l, const PtcLinkAsk *ask)
{
    bool by_closing = l->http && ptc_link_era(l) == PTC_LINK_MODERN;
    if (!ask->delivered || by_closing || ask->opens)
        return;
    char params[96];
    int n = snprintf(params, sizeof params, "{\"requestId\":%llu,\"reason\":\"%s\"}",
                     (unsigned long long)ask->id,
                     ask->wanted == PTC_LINK_TIMEOUT ? "no answer in time" : "no longer wanted");
    ptc_link_notify(l, "notifications/cancelled", (PtcText){params, (size_t)n});
}

/* All asks that are to end without an answer, oldest first as far as the buckets tell. */
static PtcLinkAsk *collect_ending(PtcLink *l)
{
    pthread_mutex_lock(&l->lock);
    PtcLinkAsk *list = l->ended;
    l->ended = NULL;
    for (size_t i = 0; l->ending && i < ASK_BUCKETS; i++)
        for (PtcLinkAsk **at = &l->asks[i]; *at;) {
            PtcLinkAsk *ask = *at;
            if (!ask->ending) {
                at = &ask->next;
                continue;
            }
            *at = ask->next;
            l->ending--;
            l->wire->forget(l, ask);
            ask->next = list;
            list = ask;
        }
    pthread_mutex_unlock(&l->lock);
    return list;
}

static const char *words_of_ask(const PtcLinkAsk *ask)
{
    return ask->why                          ? ask->why
           : ask->wanted == PTC_LINK_TIMEOUT ? "no answer came in time"
                                             : "it was cancelled";
}

static void end_list(PtcLink *l, PtcLinkAsk *list)
{
    while (list) {
        PtcLinkAsk *ask = list;
        list = ask->next;
        bool given_up = ask->wanted == PTC_LINK_TIMEOUT || ask->wanted == PTC_LINK_CANCELLED;
        if (given_up && !ask->polled)
            tell_cancelled(l, ask);
        if (given_up && ask->task)
            ptc_link_task_left(l, ask, true);
        ptc_link_end_ask_why(l, ask, ask->wanted, ptc_text_cstr(words_of_ask(ask)));
    }
}

static void end_all(PtcLink *l, PtcText why)
{
    PtcLinkAsk *list = collect_ending(l);
    end_list(l, list);
    list = NULL;
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < ASK_BUCKETS; i++)
        while (l->asks[i]) {
            PtcLinkAsk *ask = take_locked(l, l->asks[i]->id);
            l->wire->forget(l, ask);
            ask->next = list;
            list = ask;
        }
    pthread_mutex_unlock(&l->lock);
    while (list) {
        PtcLinkAsk *ask = list;
        list = ask->next;
        ptc_link_end_ask_why(l, ask, PTC_LINK_BROKEN, why);
    }
}

/* ------------------------------------------------------------------------------ ask */

static void prepare_link_ask(PtcLinkAsk *ask)
{
    int64_t now = ptc_clock_ns(NULL);
    if (ask->end_ns == 0)
        ask->end_ns = INT64_MAX;
    ask->given_ns = ask->end_ns - now;
    ask->out = NULL;
    ask->job = NULL;
    ask->why = NULL;
    ask->delivered = ask->resent = ask->ending = ask->opens = false;
    ask->tasks = ask->polled = false;
    ask->task = NULL;
}

/* Locked.  True: the loop has to set its timer earlier. */
static bool note_due(PtcLink *l, int64_t end_ns)
{
    if (end_ns == INT64_MAX || (l->due_ns && l->due_ns <= end_ns))
        return false;
    l->due_ns = end_ns;
    return true;
}

/* Locked.  NULL, or why it was not sent; *failed: there was no memory. */
static const char *send_ask(PtcLink *l, PtcLinkAsk *ask, const Outgoing *out, bool *failed)
{
    *failed = !ptc_link_write(l, out->text, ask->id, out->method, out->params, ask->progress);
    if (*failed)
        return NULL;
    ask->tasks = l->offers_tasks && strcmp(out->method, "tools/call") == 0;
    insert_link_ask(l, ask);
    const char *why = l->wire->send(l, out);
    if (why)
        (void)take_locked(l, ask->id);
    return why;
}

bool ptc_link_ask(PtcLink *l, PtcLinkAsk *ask, const char *method, PtcText params, PtcText headers)
{
    PtcBuf text, update;
    bool wake = false;
    ptc_buf_init(&text, l->mem, PTC_UNBOUNDED);
    ptc_buf_init(&update, l->mem, PTC_UNBOUNDED);
    prepare_link_ask(ask);
    bool failed =
        strcmp(method, "tools/call") == 0 && !ptc_link_task_again(l, ask, &params, &update);
    Outgoing out = {ask, ask->task ? "tasks/update" : method, params,
                    ask->task ? (PtcText){NULL, 0} : headers, &text};
    pthread_mutex_lock(&l->lock);
    ask->id = ++l->last_id;
    failed = failed || l->closing;
    ask->why = failed                       ? NULL
               : l->state == PTC_LINK_READY ? send_ask(l, ask, &out, &failed)
                                            : "it is not connected";
    if (ask->why && !failed) {
        ask->wanted = PTC_LINK_BROKEN;
        ask->next = l->ended;
        l->ended = ask;
        wake = true;
    } else if (!failed) {
        wake = note_due(l, ask->end_ns);
    }
    /* Only a loop that never ran cannot be woken: nobody has taken the ask out of the list meanwhile. */
    if (wake && !ptc_link_wake(l)) {
        l->ended = ask->next;
        failed = true;
    }
    pthread_mutex_unlock(&l->lock);
    ptc_buf_deinit(&text);
    ptc_buf_deinit(&update);
    if (failed && ask->task)
        ptc_link_task_left(l, ask, false);
    return !failed;
}

bool ptc_link_ask_inner(PtcLink *l, PtcLinkAsk *ask, const char *method, PtcText params)
{
    PtcBuf text;
    Outgoing out = {ask, method, params, {NULL, 0}, &text};
    bool failed = false;
    ptc_buf_init(&text, l->mem, PTC_UNBOUNDED);
    prepare_link_ask(ask);
    ask->opens = strcmp(method, "initialize") == 0;
    pthread_mutex_lock(&l->lock);
    ask->id = ++l->last_id;
    const char *why = send_ask(l, ask, &out, &failed);
    bool sent = !why && !failed;
    if (sent && note_due(l, ask->end_ns))
        (void)ptc_link_wake(l); /* this is its thread */
    pthread_mutex_unlock(&l->lock);
    ptc_buf_deinit(&text);
    if (!sent)
        ask->id = 0;
    return sent;
}

/* The caller may be too late, and the ask's memory may be gone: it is looked for by its address only. */
void ptc_link_cancel(PtcLink *l, PtcLinkAsk *ask)
{
    bool found = false;
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; !found && i < ASK_BUCKETS; i++)
        for (PtcLinkAsk *a = l->asks[i]; a && !found; a = a->next)
            found = a == ask;
    if (found && !ask->ending) {
        ask->ending = true;
        ask->wanted = PTC_LINK_CANCELLED;
        l->ending++;
        (void)ptc_link_wake(l); /* a loop that has an ask runs */
    }
    pthread_mutex_unlock(&l->lock);
}

/* The ask is looked for by its address, as above. */
void ptc_link_extend(PtcLink *l, PtcLinkAsk *ask, int64_t end_ns, int64_t most_ns)
{
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < ASK_BUCKETS; i++)
        for (PtcLinkAsk *a = l->asks[i]; a; a = a->next)
            if (a == ask) {
                ask->given_ns = end_ns - ptc_clock_ns(NULL);
                ask->end_ns = end_ns;
                ask->most_ns = most_ns;
                if (note_due(l, end_ns))
                    (void)ptc_link_wake(l);
            }
    pthread_mutex_unlock(&l->lock);
}

void ptc_link_offer(PtcLink *l, PtcText capabilities)
{
    pthread_mutex_lock(&l->lock);
    l->config.capabilities = capabilities;
    pthread_mutex_unlock(&l->lock);
}

void ptc_link_send_text(PtcLink *l, PtcBuf *text)
{
    Outgoing out = {.method = "", .text = text};
    pthread_mutex_lock(&l->lock);
    const char *why = ptc_buf_ok(text) ? l->wire->send(l, &out) : "out of memory";
    pthread_mutex_unlock(&l->lock);
    if (why)
        ptc_link_log(l, "a message was not sent: %s", why);
}

/* NULL, or why it was not sent. */
static const char *send_notice(PtcLink *l, const char *method, PtcText params, bool ready)
{
    PtcBuf text;
    Outgoing out = {.method = method, .params = params, .text = &text};
    const char *why = "out of memory";
    ptc_buf_init(&text, l->mem, PTC_UNBOUNDED);
    pthread_mutex_lock(&l->lock);
    if (ready && l->state != PTC_LINK_READY)
        why = "there is no connection";
    else if (ptc_link_write(l, &text, 0, method, params, false))
        why = l->wire->send(l, &out);
    pthread_mutex_unlock(&l->lock);
    ptc_buf_deinit(&text);
    return why;
}

void ptc_link_notify(PtcLink *l, const char *method, PtcText params)
{
    const char *why = send_notice(l, method, params, false);
    if (why)
        ptc_link_log(l, "%s was not sent: %s", method, why);
}

bool ptc_link_tell(PtcLink *l, const char *method)
{
    return !send_notice(l, method, PTC_TEXT("{}"), true);
}

/* Progress is a sign of life: the time begins again, up to the end that the caller allows. */
void ptc_link_progress(PtcLink *l, uint64_t id, double done, double total, PtcText message)
{
    int64_t now = ptc_clock_ns(NULL);
    pthread_mutex_lock(&l->lock);
    PtcLinkAsk *ask = *find_link_ask(l, id);
    if (ask && ask->most_ns > ask->end_ns && ask->end_ns != INT64_MAX)
        ask->end_ns = ask->given_ns < ask->most_ns - now ? now + ask->given_ns : ask->most_ns;
    pthread_mutex_unlock(&l->lock);
    if (ask && ask->progress) /* only this thread ends asks */
        ask->progress(ask, done, total, message);
}

/* ---------------------------------------------------------------------------- state */

static void log_now(PtcLink *l, const char *format, va_list args)
{
    PtcBuf line;
    ptc_buf_init(&line, l->mem, 2 * LOG_LINE);
    ptc_buf_addf(&line, "[%.*s] ", PTC_ARG(l->config.name));
    ptc_buf_vaddf(&line, format, args);
    l->config.log(l->config.user, ptc_buf_view(&line));
    ptc_buf_deinit(&line);
}

/* Every line there is comes through here, since a server decides how many there are. */
void ptc_link_log(PtcLink *l, const char *format, ...)
{
    va_list args;
    int64_t now = ptc_clock_ns(NULL);
    if (!l->config.log)
        return;
    if (!l->minute_ns || now - l->minute_ns > MINUTE_MS * PTC_MS) {
        size_t left_out = l->left_out;
        l->minute_ns = now;
        l->logged = l->left_out = 0;
        if (left_out)
            ptc_link_log(l, "(%zu line%s left out)", left_out, left_out == 1 ? " was" : "s were");
    }
    if (l->logged++ >= LOG_LINES) {
        l->left_out++;
        return;
    }
    va_start(args, format);
    log_now(l, format, args);
    va_end(args);
}

void ptc_link_set_state(PtcLink *l, PtcLinkState state, PtcText why)
{
    pthread_mutex_lock(&l->lock);
    l->state = state;
    pthread_mutex_unlock(&l->lock);
    if (l->config.state)
        l->config.state(l->config.user, state, why);
}

void ptc_link_down(PtcLink *l, PtcText why)
{
    PtcBuf copy; /* what ends may be what `why` is part of */
    ptc_buf_init(&copy, l->mem, WHY_BYTES);
    if (!ptc_buf_add(&copy, why.bytes, why.len))
        ptc_buf_add_cstr(&copy, "the connection is over");
    pthread_mutex_lock(&l->lock);
    l->state = PTC_LINK_DOWN; /* from now on nothing is sent */
    pthread_mutex_unlock(&l->lock);
    ptc_link_hand_stop(l);
    l->wire->shut(l);
    end_all(l, ptc_buf_view(&copy));
    ptc_link_set_state(l, PTC_LINK_DOWN, ptc_buf_view(&copy));
    ptc_buf_deinit(&copy);
}

static void begin_connect(PtcLink *l)
{
    PtcBuf why;
    ptc_link_set_state(l, PTC_LINK_CONNECTING, PTC_TEXT(""));
    l->probed = l->reprobed = l->respawned = false;
    ptc_buf_clear(&l->auth);
    l->refused = false;
    l->hand_end_ns = ptc_clock_ns(NULL) + l->config.handshake_ms * PTC_MS;
    ptc_buf_init(&why, l->mem, WHY_BYTES);
    if (l->wire->open(l, &why))
        ptc_link_hand_begin(l);
    else
        ptc_link_down(l, ptc_buf_view(&why));
    ptc_buf_deinit(&why);
}

PtcLinkEra ptc_link_era(PtcLink *l)
{
    pthread_mutex_lock(&l->lock);
    PtcLinkEra era = l->era;
    pthread_mutex_unlock(&l->lock);
    return era;
}

PtcText ptc_link_about(PtcLink *l)
{
    return ptc_buf_view(&l->about);
}

PtcText ptc_link_auth(PtcLink *l)
{
    return l->refused ? ptc_buf_view(&l->auth) : (PtcText){NULL, 0};
}

/* ----------------------------------------------------------------------------- loop */

bool ptc_link_wake(PtcLink *l)
{
    return ptc_loop_post(l->loop, &l->task);
}

static void on_due(PtcLoopTimer *timer)
{
    PtcLink *l = LINK_OF(timer, due);
    int64_t now = ptc_clock_ns(NULL), next = INT64_MAX;
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < ASK_BUCKETS; i++)
        for (PtcLinkAsk *ask = l->asks[i]; ask; ask = ask->next) {
            if (ask->end_ns <= now && !ask->ending) {
                ask->ending = true;
                ask->wanted = PTC_LINK_TIMEOUT;
                l->ending++;
            }
            if (!ask->ending && ask->end_ns < next)
                next = ask->end_ns;
        }
    l->due_ns = next == INT64_MAX ? 0 : next;
    pthread_mutex_unlock(&l->lock);
    if (next != INT64_MAX)
        ptc_loop_set(l->loop, timer, next);
    end_list(l, collect_ending(l));
}

/* Servers are told of what nobody waits for any more, tasks included, while there is a connection. */
static void end_unwanted(PtcLink *l)
{
    pthread_mutex_lock(&l->lock);
    bool there = l->state == PTC_LINK_READY;
    for (size_t i = 0; there && i < ASK_BUCKETS; i++)
        for (PtcLinkAsk *ask = l->asks[i]; ask; ask = ask->next)
            if (ask->polled && !ask->ending) {
                ask->ending = true;
                ask->wanted = PTC_LINK_CANCELLED;
                l->ending++;
            }
    pthread_mutex_unlock(&l->lock);
    if (there)
        end_list(l, collect_ending(l));
}

/* Everything that the link has in the loop goes; after `closed` the link is not touched here. */
static void close_now(PtcLink *l)
{
    end_unwanted(l);
    pthread_mutex_lock(&l->lock);
    l->state = PTC_LINK_DOWN;
    l->closing = true;
    pthread_mutex_unlock(&l->lock);
    ptc_link_hand_stop(l);
    l->wire->shut(l);
    end_all(l, PTC_TEXT("the connection was closed"));
    ptc_loop_unset(&l->due);
    pthread_mutex_lock(&l->lock);
    l->closed = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static void on_task(PtcLoopTask *task)
{
    PtcLink *l = LINK_OF(task, task);
    pthread_mutex_lock(&l->lock);
    bool close = l->close_wanted, closed = l->closed;
    bool connect = l->connect_wanted && (l->state == PTC_LINK_IDLE || l->state == PTC_LINK_DOWN);
    int64_t due_ns = l->due_ns;
    l->connect_wanted = false;
    pthread_mutex_unlock(&l->lock);
    if (closed)
        return;
    if (close) {
        close_now(l);
        return;
    }
    if (due_ns && due_ns != l->due.at_ns)
        ptc_loop_set(l->loop, &l->due, due_ns);
    if (connect)
        begin_connect(l);
    l->wire->wake(l);
    end_list(l, collect_ending(l));
}

bool ptc_link_connect(PtcLink *l)
{
    pthread_mutex_lock(&l->lock);
    l->connect_wanted = true;
    pthread_mutex_unlock(&l->lock);
    return ptc_link_wake(l);
}

void ptc_link_disconnect(PtcLink *l, PtcText why)
{
    pthread_mutex_lock(&l->lock);
    bool there = !l->closed && l->state == PTC_LINK_READY;
    pthread_mutex_unlock(&l->lock);
    if (there)
        ptc_link_down(l, why);
}

/* ----------------------------------------------------------------------------- life */

static PtcText copy_link_text(PtcArena *arena, PtcText text)
{
    char *copy = text.bytes ? ptc_arena_alloc(arena, text.len + 1) : NULL;
    if (!copy)
        return (PtcText){NULL, 0};
    if (text.len)
        memcpy(copy, text.bytes, text.len);
    copy[text.len] = 0;
    return (PtcText){copy, text.len};
}

static const char *copy_cstr(PtcArena *arena, const char *text)
{
    return copy_link_text(arena, ptc_text_cstr(text)).bytes;
}

static const char *const *copy_list(PtcArena *arena, const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    const char **copy = list ? ptc_arena_alloc(arena, (n + 1) * sizeof *copy) : NULL;
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = copy_cstr(arena, list[i]);
    if (copy)
        copy[n] = NULL;
    return copy;
}

static bool copy_config(PtcLink *l, const PtcLinkConfig *config)
{
    PtcArena *a = &l->arena;
    PtcLinkConfig *c = &l->config;
    *c = *config;
    c->name = copy_link_text(a, c->name.bytes ? c->name : PTC_TEXT(""));
    c->argv = copy_list(a, c->argv);
    c->env = copy_list(a, c->env);
    c->cwd = copy_cstr(a, c->cwd);
    c->leash = copy_cstr(a, c->leash);
    c->url = copy_cstr(a, c->url);
    c->version = copy_link_text(a, c->version);
    c->capabilities = copy_link_text(a, c->capabilities.bytes ? c->capabilities : PTC_TEXT("{}"));
    if (c->max_message == 0)
        c->max_message = MESSAGE_BYTES;
    if (c->handshake_ms <= 0)
        c->handshake_ms = HANDSHAKE_MS;
    return !a->failed;
}

static void free_link_memory(PtcLink *l)
{
    ptc_buf_deinit(&l->about);
    ptc_buf_deinit(&l->auth);
    ptc_arena_deinit(&l->arena);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    ptc_mem_free(l->mem, l, sizeof *l);
}

PtcLink *ptc_link_new(PtcMem *mem, PtcLoop *loop, const PtcLinkConfig *config)
{
    PtcLink *l = ptc_mem_alloc(mem, sizeof *l);
    if (!l)
        return NULL;
    *l = (PtcLink){.mem = mem, .loop = loop, .task.run = on_task, .due.fire = on_due};
    l->hand_due.fire = ptc_link_hand_due;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    ptc_arena_init(&l->arena, mem);
    ptc_buf_init(&l->about, mem, ABOUT_BYTES);
    ptc_buf_init(&l->auth, mem, WHY_BYTES);
    bool stdio = config->transport == PTC_LINK_STDIO;
    l->wire = stdio ? &ptc_stdio_wire : &ptc_http_wire;
    if (copy_config(l, config) && (stdio ? ptc_stdio_wire_new(l) : ptc_http_wire_new(l)))
        return l;
    free_link_memory(l);
    return NULL;
}

typedef struct {
    PtcLoopTask task;
    PtcLink *link;
    bool passed;
} Barrier;

static void on_barrier(PtcLoopTask *task)
{
    Barrier *b = (Barrier *)(void *)task;
    pthread_mutex_lock(&b->link->lock);
    b->passed = true;
    pthread_cond_broadcast(&b->link->changed);
    pthread_mutex_unlock(&b->link->lock);
}

/* Behind whatever was posted for this link. */
static void wait_for_queue(PtcLink *l)
{
    Barrier b = {.task.run = on_barrier, .link = l};
    if (!ptc_loop_post(l->loop, &b.task))
        return;
    pthread_mutex_lock(&l->lock);
    while (!b.passed)
        pthread_cond_wait(&l->changed, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

void ptc_link_free(PtcLink *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->close_wanted = true;
    bool runs = ptc_link_wake(l);
    while (runs && !l->closed)
        pthread_cond_wait(&l->changed, &l->lock);
    pthread_mutex_unlock(&l->lock);
    if (l->http)
        ptc_http_wire_free(l);
    if (runs)
        wait_for_queue(l);
    if (l->stdio)
        ptc_stdio_wire_free(l);
    free_link_memory(l);
}
