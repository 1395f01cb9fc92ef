/* SPDX-License-Identifier: MIT
 * remote_fake.h - a PtcRemote without any server behind it: a table of servers, tools, schemas and answers, some of
 * them at once, some from another thread, some never. */
#ifndef PTC_TESTS_REMOTE_FAKE_H
#define PTC_TESTS_REMOTE_FAKE_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/emit.h"
#include "json/parse.h"
#include "tool/remote/remote.h"
#include "upstream/run/arguments_check.h"
#include "value/coll/fields.h"

typedef enum {
    FAKE_NOW,    /* answers at once */
    FAKE_LATER,  /* from another thread, as soon as it can */
    FAKE_SLOW,   /* from another thread, after some milliseconds */
    FAKE_NEVER,  /* only when it is cancelled */
    FAKE_BROKEN, /* with something that is not JSON */
} FakeWay;

typedef struct FakeTool {
    const char *ns, *name;
    FakeWay way;
    const char *effect, *policy;
    const char *schema; /* or NULL */
    const char *answer; /* NULL: {"value": the arguments} */
    bool fails;
} FakeTool;

static const FakeTool fake_tools[] = {
    {"github", "get_pr", FAKE_LATER, "read", "allow",
     "{\"type\":\"object\",\"properties\":{\"number\":{\"type\":\"integer\"},\"state\":{\"enum\":"
     "[\"open\",\"closed\"]},\"perPage\":{\"type\":\"integer\"}},\"required\":[\"number\"],"
     "\"additionalProperties\":false}",
     NULL, false},
    {"github", "create_issue", FAKE_LATER, "write", "allow", NULL, NULL, false},
    {"github", "delete_repo", FAKE_NOW, "destructive", "deny", NULL, NULL, false},
    {"github", "status", FAKE_NOW, "read", "allow", NULL, "{\"value\":\"fine\",\"kind\":\"text\"}",
     false},
    {"github", "slow", FAKE_SLOW, "read", "allow", NULL, NULL, false},
    {"github", "stuck", FAKE_NEVER, "write", "allow", NULL, NULL, false},
    {"github", "broken", FAKE_BROKEN, "read", "allow", NULL, NULL, false},
    {"github", "limited", FAKE_LATER, "read", "allow", NULL,
     "{\"reason\":\"rate_limited\",\"message\":\"too many\",\"server\":\"github\",\"tool\":"
     "\"limited\",\"status\":429,\"retry_after_ms\":1500,\"effect\":\"none\"}",
     true},
    {"github", "picky", FAKE_NOW, "read", "allow", NULL,
     "{\"reason\":\"invalid_tool_args\",\"message\":\"argument id: it is required\",\"server\":"
     "\"github\",\"tool\":\"picky\"}",
     true},
    {"files", "read", FAKE_LATER, "read", "allow", NULL, NULL, false},
    {"down", "ping", FAKE_NOW, "read", "allow", NULL, NULL, false},
};
enum { FAKE_TOOLS = sizeof fake_tools / sizeof *fake_tools };

typedef struct Fake {
    PtcRemote base; /* first */
    PtcMem mem;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    PtcRemoteAsk *queue;
    bool quit;
    uint64_t version;
    int cap; /* calls of a run */
    int slow_ms;
    bool unsettled; /* what LOOKUP says is true for its run only */
    bool hasty;     /* what never answers does so at once */
    bool gone;      /* the server github is not there any more */
    atomic_int begun, ended, asks, finished, cancelled, lookups, checks, calls, looks;
} Fake;

typedef struct FakeRun {
    Fake *fake;
    atomic_int calls, open;
} FakeRun;

/* ------------------------------------------------------------------------------- the thread */

static inline void fake_ready(PtcRemoteAsk *ask)
{
    ask->ready(ask);
}

static inline void *fake_work(void *arg)
{
    Fake *f = arg;
    pthread_mutex_lock(&f->lock);
    while (!f->quit || f->queue) {
        PtcRemoteAsk *ask = f->queue;
        if (!ask) {
            pthread_cond_wait(&f->work, &f->lock);
            continue;
        }
        f->queue = ask->next;
        pthread_mutex_unlock(&f->lock);
        const FakeTool *tool = ask->op == PTC_REMOTE_CALL ? &fake_tools[ask->tool] : NULL;
        if (tool && tool->way == FAKE_SLOW) {
            struct timespec t = {0, f->slow_ms * 1000000};
            nanosleep(&t, NULL);
        }
        fake_ready(ask);
        pthread_mutex_lock(&f->lock);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

static inline void fake_later(Fake *f, PtcRemoteAsk *ask)
{
    pthread_mutex_lock(&f->lock);
    ask->next = f->queue;
    f->queue = ask;
    pthread_cond_signal(&f->work);
    pthread_mutex_unlock(&f->lock);
}

/* ------------------------------------------------------------------------------------ asks */

static inline void *fake_begin(PtcRemote *self, const char *owner, int64_t deadline_ns,
                               const PtcCancel *cancel, uint64_t *version)
{
    Fake *f = (Fake *)(void *)self;
    (void)owner;
    (void)deadline_ns;
    (void)cancel;
    FakeRun *run = ptc_mem_alloc(&f->mem, sizeof *run);
    if (!run)
        return NULL;
    *run = (FakeRun){.fake = f};
    *version = f->version;
    atomic_fetch_add(&f->begun, 1);
    return run;
}

static inline bool fake_is_call(const PtcRemoteAsk *ask)
{
    return ask->op == PTC_REMOTE_CALL && ask->slot == 7 && ask->tool < FAKE_TOOLS;
}

static inline PtcRemoteStatus fake_ask(void *user, PtcRemoteAsk *ask)
{
    FakeRun *run = user;
    Fake *f = run->fake;
    atomic_fetch_add(&f->asks, 1);
    atomic_fetch_add(&run->open, 1);
    if (!fake_is_call(ask)) {
        bool later = ask->op == PTC_REMOTE_LOOKUP || ask->op == PTC_REMOTE_CALL_NAMED;
        if (later)
            fake_later(f, ask);
        return later ? PTC_REMOTE_PENDING : PTC_REMOTE_NOW;
    }
    FakeWay way = fake_tools[ask->tool].way;
    if (way == FAKE_NOW || way == FAKE_BROKEN)
        return PTC_REMOTE_NOW;
    if (way != FAKE_NEVER || f->hasty)
        fake_later(f, ask);
    return PTC_REMOTE_PENDING;
}

/* What was slow is late all the same: its ready() comes from the thread. */
static inline void fake_cancel(void *user, PtcRemoteAsk *ask)
{
    FakeRun *run = user;
    atomic_fetch_add(&run->fake->cancelled, 1);
    if (fake_is_call(ask) && fake_tools[ask->tool].way == FAKE_NEVER && !run->fake->hasty)
        fake_later(run->fake, ask);
}

/* --------------------------------------------------------------------------------- answers */

static inline PtcText fake_field(PtcHeap *heap, PtcValue map, const char *name)
{
    return map != PTC_NONE && ptc_is_map(map) ? ptc_fields_text(heap, map, name)
                                              : (PtcText){NULL, 0};
}

static inline bool fake_fail(PtcBuf *out, const char *reason, const char *message,
                             const char *nearest)
{
    ptc_emit_object(out);
    ptc_emit_field_text(out, "reason", ptc_text_cstr(reason));
    ptc_emit_field_text(out, "message", ptc_text_cstr(message));
    if (nearest)
        ptc_emit_field_text(out, "nearest", ptc_text_cstr(nearest));
    ptc_emit_object_end(out);
    return false;
}

static inline bool fake_knows_ns(const Fake *f, PtcText ns)
{
    return (ptc_text_is(ns, "github") && !f->gone) || ptc_text_is(ns, "files") ||
           ptc_text_is(ns, "down");
}

static inline int fake_find(PtcText ns, PtcText name)
{
    for (int i = 0; i < FAKE_TOOLS; i++)
        if (ptc_text_is(ns, fake_tools[i].ns) && ptc_text_is(name, fake_tools[i].name))
            return i;
    return -1;
}

static inline bool fake_lookup(Fake *f, PtcHeap *heap, PtcValue q, PtcBuf *out)
{
    PtcText ns = fake_field(heap, q, "ns"), name = fake_field(heap, q, "name");
    atomic_fetch_add(&f->lookups, 1);
    if (!fake_knows_ns(f, ns))
        return fake_fail(out, "unknown_server", "there is no such server", NULL);
    if (ptc_text_is(ns, "down"))
        return fake_fail(out, "upstream_unavailable", "it is starting since 3 s", NULL);
    int i = fake_find(ns, name);
    if (i < 0)
        return fake_fail(out, "unknown_tool", "the server has no such tool",
                         ptc_text_is(name, "get_prs") ? "github/get_pr" : NULL);
    ptc_emit_object(out);
    ptc_emit_key(out, "slot");
    ptc_emit_int(out, 7);
    ptc_emit_key(out, "tool");
    ptc_emit_int(out, i);
    ptc_emit_key(out, "version");
    ptc_emit_uint(out, f->unsettled ? 0 : f->version);
    ptc_emit_field_text(out, "effect", ptc_text_cstr(fake_tools[i].effect));
    ptc_emit_field_text(out, "policy", ptc_text_cstr(fake_tools[i].policy));
    if (strcmp(fake_tools[i].policy, "deny") == 0)
        ptc_emit_field_text(out, "rule", PTC_TEXT("deny github/delete_*"));
    if (fake_tools[i].schema)
        ptc_emit_field_text(out, "takes", PTC_TEXT("{number int}"));
    ptc_emit_field_text(out, fake_tools[i].schema ? "gives" : "seen", PTC_TEXT("{title string}"));
    return ptc_emit_object_end(out);
}

static inline bool fake_call(FakeRun *run, int tool, PtcText args, PtcBuf *out)
{
    const FakeTool *t = tool >= 0 ? &fake_tools[tool] : NULL;
    atomic_fetch_add(&run->fake->calls, 1);
    if (!t)
        return fake_fail(out, "unknown_tool", "the server has no such tool", NULL);
    if (atomic_fetch_add(&run->calls, 1) >= run->fake->cap)
        return fake_fail(out, "cap_exhausted", "a program may make so many calls", NULL);
    if (t->way == FAKE_BROKEN)
        return ptc_buf_add_cstr(out, "{\"value\":");
    if (t->answer)
        return ptc_buf_add_cstr(out, t->answer) && !t->fails;
    ptc_buf_add_cstr(out, "{\"value\":");
    ptc_buf_add(out, args.bytes, args.len);
    return ptc_buf_add_cstr(out, ",\"kind\":\"json\"}");
}

static inline bool fake_call_named(FakeRun *run, PtcHeap *heap, PtcValue q, PtcBuf *out)
{
    PtcBuf args;
    PtcValue given = q == PTC_NONE ? q : ptc_map_field(heap, q, "args");
    ptc_buf_init(&args, &run->fake->mem, 1 << 20);
    if (given != PTC_NONE)
        ptc_emit_value(&args, heap, given);
    else
        ptc_buf_add_cstr(&args, "{}");
    bool ok = fake_call(run, fake_find(fake_field(heap, q, "server"), fake_field(heap, q, "tool")),
                        ptc_buf_view(&args), out);
    ptc_buf_deinit(&args);
    return ok;
}

static inline bool fake_look(Fake *f, PtcHeap *heap, PtcValue q, PtcBuf *out)
{
    PtcText op = fake_field(heap, q, "op"), name = fake_field(heap, q, "name");
    atomic_fetch_add(&f->looks, 1);
    if (ptc_text_is(op, "servers"))
        return ptc_buf_add_cstr(out,
                                "[{\"name\":\"GitHub\",\"namespace\":\"github\",\"description\":"
                                "\"Issues\",\"state\":\"ready\",\"tool_count\":9,"
                                "\"catalog_loaded\":true}]");
    if (ptc_text_is(op, "apropos"))
        return ptc_buf_add_cstr(out,
                                "[\"github/get_pr - Get a pull request\",\"github/slow - Wait\"]");
    if (ptc_text_is(op, "dir"))
        return ptc_buf_add_cstr(out, "[\"github/get_pr - Get a pull request\"]");
    if (ptc_text_is(op, "publics"))
        return ptc_buf_add_cstr(out, "[\"get_pr\",\"slow\"]");
    if (ptc_text_is(op, "meta"))
        return ptc_buf_add_cstr(out, "{\"ns\":\"github\",\"name\":\"get_pr\",\"effect\":\"read\"}");
    if (name.bytes && fake_find(fake_field(heap, q, "ns"), name) < 0)
        return ptc_buf_add_cstr(out, "null");
    return ptc_buf_add_cstr(out, name.bytes ? "\"Get a pull request\"" : "\"Issues of a forge\"");
}

static inline bool fake_check(Fake *f, PtcHeap *heap, const PtcRemoteAsk *ask, PtcBuf *out)
{
    PtcJsonError error;
    PtcValue schema = PTC_NONE;
    atomic_fetch_add(&f->checks, 1);
    const char *text = ask->tool < FAKE_TOOLS ? fake_tools[ask->tool].schema : NULL;
    if (text)
        schema = ptc_json_parse(heap, text, strlen(text), &error);
    PtcArgumentsIn in = {.schema = schema, .root = schema};
    return ptc_arguments_check(heap, in, ask->text, out);
}

static inline bool fake_answer(FakeRun *run, PtcHeap *heap, const PtcRemoteAsk *ask, PtcBuf *out)
{
    PtcJsonError error;
    PtcValue q = ptc_json_parse(heap, ask->text.bytes, ask->text.len, &error);
    switch (ask->op) {
    case PTC_REMOTE_LOOKUP: return fake_lookup(run->fake, heap, q, out);
    case PTC_REMOTE_CALL:
        return fake_call(run, fake_is_call(ask) ? (int)ask->tool : -1, ask->text, out);
    case PTC_REMOTE_CALL_NAMED: return fake_call_named(run, heap, q, out);
    case PTC_REMOTE_LOOK: return fake_look(run->fake, heap, q, out);
    case PTC_REMOTE_BLOB:
        if (ptc_text_is(fake_field(heap, q, "ref"), "blob-1"))
            return ptc_buf_add_cstr(out, "\"aGVsbG8=\"");
        return fake_fail(out, "tool_error", "there is no such blob", NULL);
    case PTC_REMOTE_CHECK: return fake_check(run->fake, heap, ask, out);
    case PTC_REMOTE_RESOURCE:
        return ptc_buf_add_cstr(out, "{\"value\":\"text\",\"kind\":\"text\"}");
    default: return fake_fail(out, "upstream_error", "there is no such question", NULL);
    }
}

static inline bool fake_finish(void *user, PtcRemoteAsk *ask, PtcRemoteAnswer *answer)
{
    FakeRun *run = user;
    PtcPool pool;
    PtcHeap heap;
    PtcBudget budget;
    ptc_pool_init(&pool, &run->fake->mem);
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &pool, &budget, 16 << 20);
    answer->may_repeat = !fake_is_call(ask) || strcmp(fake_tools[ask->tool].effect, "read") == 0;
    answer->ok = fake_answer(run, &heap, ask, &answer->text);
    ptc_heap_deinit(&heap);
    ptc_pool_deinit(&pool);
    atomic_fetch_add(&run->fake->finished, 1);
    atomic_fetch_sub(&run->open, 1);
    return ptc_buf_ok(&answer->text);
}

static inline void fake_end(void *user, PtcBuf *call_log)
{
    FakeRun *run = user;
    if (atomic_load(&run->open) != 0) {
        printf("a run ended with %d asks open\n", atomic_load(&run->open));
        abort();
    }
    if (call_log)
        ptc_buf_addf(call_log, "[%d]", atomic_load(&run->calls));
    atomic_fetch_add(&run->fake->ended, 1);
    ptc_mem_free(&run->fake->mem, run, sizeof *run);
}

static inline bool fake_knows(PtcRemote *self, PtcText ns, PtcBuf *nearest)
{
    const Fake *f = (const Fake *)(void *)self;
    if (!fake_knows_ns(f, ns) && nearest && ptc_text_is(ns, "gihub"))
        ptc_buf_add_cstr(nearest, "github");
    return fake_knows_ns(f, ns);
}

static inline void fake_start(Fake *f)
{
    memset(f, 0, sizeof *f);
    f->base = (PtcRemote){.begin = fake_begin,
                          .ask = fake_ask,
                          .finish = fake_finish,
                          .cancel = fake_cancel,
                          .end = fake_end,
                          .knows = fake_knows};
    ptc_mem_init(&f->mem, SIZE_MAX / 2);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->work, NULL);
    f->version = 1;
    f->cap = 200;
    f->slow_ms = 20;
    if (pthread_create(&f->thread, NULL, fake_work, f) != 0)
        abort();
}

static inline void fake_stop(Fake *f)
{
    pthread_mutex_lock(&f->lock);
    f->quit = true;
    pthread_cond_signal(&f->work);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    pthread_cond_destroy(&f->work);
    pthread_mutex_destroy(&f->lock);
}

#endif
