/* SPDX-License-Identifier: MIT
 * agent_run_help.h - agents with a function of the test as their model.
 *
 *     Trial t;
 *     trial_open(&t, "{\"prompt\":\"p\"}", answer, &anything);
 *     trial_go(&t);                        t.text is the outcome as JSON
 *     trial_close(&t);                     checks that turns add up and that nothing is left */
#ifndef PTC_TESTS_AGENT_RUN_HELP_H
#define PTC_TESTS_AGENT_RUN_HELP_H

#include <pthread.h>
#include <sched.h>

#include "check.h"

#include "agent/run/agent_outcome.h"
#include "json/emit.h"
#include "llm/callback_model.h"
#include "llm/waiting.h"

typedef struct Trial Trial;

/* Answers a request; `reply` is an empty one that went well. */
typedef void (*TrialAnswer)(Trial *t, const PtcLlmRequest *request, PtcArena *arena,
                            PtcLlmReply *reply);

struct Trial {
    PtcMem mem;
    PtcAgentDef *def;
    PtcWhy fault;
    PtcModel *model;
    TrialAnswer answer;
    void *user;
    PtcTreeHost host;
    PtcAgentOptions options;
    int64_t llm_timeout_ms;
    PtcCancel cancel;
    PtcAgentTree tree;
    PtcAgentRun *run;
    int64_t budget; /* at the start */
    PtcBuf out;
    const char *text;
    atomic_long asked;      /* requests that reached the model */
    atomic_bool under_way;  /* what the test waits for has begun */
    atomic_int deepest;     /* levels of agents, as far as requests were seen */
    atomic_long free_turns; /* requests of llm tools: they cost no turns */
};

/* ------------------------------------------------------------------------------- replies */

static inline PtcText trial_keep(PtcArena *arena, const char *text)
{
    size_t n = strlen(text);
    char *copy = ptc_arena_alloc(arena, n + 1);
    memcpy(copy, text, n + 1);
    return (PtcText){copy, n};
}

static inline void trial_say(PtcLlmReply *reply, PtcArena *arena, const char *text)
{
    reply->text = trial_keep(arena, text);
}

static inline void trial_call(PtcLlmReply *reply, PtcArena *arena, const char *name,
                              const char *args)
{
    PtcMessageCall *call = ptc_arena_zalloc(arena, sizeof *call);
    *call = (PtcMessageCall){.name = trial_keep(arena, name), .args = trial_keep(arena, args)};
    reply->calls = call;
    reply->call_count = 1;
}

/* Fails as a request of this class does. */
static inline void trial_fail(PtcLlmReply *reply, PtcLlmStatus status, int64_t retry_after_ms)
{
    reply->status = status;
    reply->error = PTC_TEXT("on purpose");
    reply->retry_after_ms = retry_after_ms;
}

/* A model that does not answer until it must. */
static inline void trial_hang(Trial *t, const PtcLlmRequest *request, PtcArena *arena,
                              PtcLlmReply *reply)
{
    atomic_store(&t->under_way, true);
    ptc_waiting_stopped(ptc_waiting_sleep(request, 200 * 1000), arena, reply);
}

static inline bool trial_is(const PtcLlmRequest *request, const char *agent)
{
    return ptc_text_is(request->agent, agent);
}

/* Does the last message hold this text? */
static inline bool trial_heard(const PtcLlmRequest *request, const char *text)
{
    const PtcMessage *m = ptc_llm_message(request, ptc_llm_message_count(request) - 1);
    return m->content.bytes && memmem(m->content.bytes, m->content.len, text, strlen(text)) != NULL;
}

static inline void trial_note(Trial *t, const PtcLlmRequest *request)
{
    int levels = request->agent.len > 0;
    for (size_t i = 0; i < request->agent.len; i++)
        levels += request->agent.bytes[i] == '/';
    int seen = atomic_load(&t->deepest);
    while (levels > seen && !atomic_compare_exchange_weak(&t->deepest, &seen, levels))
        continue;
    atomic_fetch_add(&t->asked, 1);
}

static inline void trial_ask(void *user, const PtcLlmRequest *request, PtcArena *arena,
                             PtcLlmReply *reply)
{
    Trial *t = user;
    trial_note(t, request);
    t->answer(t, request, arena, reply);
}

/* --------------------------------------------------------------------------------- trial */

static inline void trial_open(Trial *t, const char *agent, TrialAnswer answer, void *user)
{
    PtcAgentReading how = {.allow_http = true, .allow_commands = true, .allow_scripts = true};
    memset(t, 0, sizeof *t);
    ptc_mem_init(&t->mem, SIZE_MAX / 2);
    ptc_buf_init(&t->out, &t->mem, SIZE_MAX / 4);
    t->answer = answer;
    t->user = user;
    t->def = ptc_definition_read_json(ptc_text_cstr(agent), &how, &t->fault);
    if (!t->def)
        printf("%s: %s\n", t->fault.path, t->fault.text);
    CHECK(t->def != NULL);
    t->model = ptc_callback_model_new(&t->mem, "test", trial_ask, t);
    t->options = ptc_agent_options();
    t->options.model = t->model;
    t->options.cancel = &t->cancel;
}

static inline void trial_go(Trial *t)
{
    PtcOutcomeOptions options = {.messages = true};
    t->run = ptc_mem_alloc(&t->mem, sizeof *t->run);
    t->budget = t->def->turn_budget;
    CHECK(ptc_tree_init(&t->tree, &t->host, t->budget, t->def->mission_timeout_ms));
    t->tree.llm_timeout_ms = t->llm_timeout_ms;
    ptc_agent_run_begin(t->run, &t->tree, t->def, &t->options);
    ptc_agent_run_go(t->run);
    ptc_emit_object(&t->out);
    ptc_agent_outcome_write(t->run, &options, &t->out);
    ptc_emit_object_end(&t->out);
    CHECK(ptc_buf_ok(&t->out));
    t->text = ptc_buf_text(&t->out);
}

static inline bool trial_has(const Trial *t, const char *text)
{
    return strstr(t->text, text) != NULL;
}

#define TRIAL_HAS(t, what)                                         \
    do {                                                           \
        bool has = trial_has(t, what);                             \
        CHECK(has);                                                \
        if (!has)                                                  \
            printf("  wanted %s in %.3000s\n", (what), (t)->text); \
    } while (0)

/* Turns that were there at the start are used or left, and none was used twice. */
static inline void trial_close(Trial *t)
{
    int64_t used = t->tree.sums.turns - atomic_load(&t->free_turns);
    CHECK(t->budget == used + t->tree.budget);
    CHECK(t->tree.budget >= 0);
    ptc_agent_run_end(t->run);
    ptc_mem_free(&t->mem, t->run, sizeof *t->run);
    ptc_tree_deinit(&t->tree);
    t->model->free(t->model);
    ptc_definition_release(t->def);
    ptc_buf_deinit(&t->out);
    CHECK(atomic_load(&t->mem.used) == 0);
}

/* The whole of it for agents that need nothing special. */
static inline void trial_of(Trial *t, const char *agent, TrialAnswer answer, void *user)
{
    trial_open(t, agent, answer, user);
    trial_go(t);
}

/* -------------------------------------------------------------------------------- cancel */

/* Cancels as soon as what is to be cancelled has begun. */
static inline void *trial_cancel_thread(void *user)
{
    Trial *t = user;
    while (!atomic_load(&t->under_way))
        check_pause_us(200);
    check_pause_us(2000);
    atomic_store(&t->cancel.asked, true);
    return NULL;
}

static inline void trial_go_cancelled(Trial *t)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, trial_cancel_thread, t) == 0);
    trial_go(t);
    pthread_join(thread, NULL);
}

#endif
