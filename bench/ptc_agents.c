/* SPDX-License-Identifier: MIT
 * ptc_agents.c - what agents cost beside their models: a turn, a thousand agents at once, a nested fan-out.  The model
 * is a function that answers at once, or after a time that is known.  Every outcome is checked.
 *
 * Status: 0 every floor is met, 1 one is missed, 2 an outcome was wrong. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "agent/run/agent_outcome.h"
#include "llm/callback_model.h"

enum {
    TURNS = 100,
    ROUNDS = 9,
    AGENTS = 1000,
    CHILDREN = 200,
    WORKERS = 64,
    MODEL_MS = 50,
    TURN_US_MOST = 100,
    PEAK_MB_MOST = 150,
};

static int missed;

static void die(const char *what)
{
    fprintf(stderr, "wrong: %s\n", what);
    exit(2);
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void floor_row(const char *name, double got, double most, const char *unit)
{
    missed |= got > most;
    printf("%-46s %10.1f %-3s at most %6.0f  %s\n", name, got, unit, most,
           got > most ? "MISSED" : "ok");
}

/* -------------------------------------------------------------------------------- agents */

static PtcAgentDef *read_agent(const char *json)
{
    PtcAgentReading how = {0};
    PtcWhy fault;
    PtcAgentDef *def = ptc_definition_read_json(ptc_text_cstr(json), &how, &fault);
    if (!def)
        die(fault.text);
    return def;
}

static void say(PtcLlmReply *reply, PtcArena *arena, const char *text)
{
    size_t n = strlen(text);
    char *copy = ptc_arena_alloc(arena, n + 1);
    memcpy(copy, text, n + 1);
    reply->text = (PtcText){copy, n};
}

static void call(PtcLlmReply *reply, PtcArena *arena, const char *name, const char *args)
{
    PtcMessageCall *c = ptc_arena_zalloc(arena, sizeof *c);
    *c = (PtcMessageCall){.name = ptc_text_cstr(name), .args = ptc_text_cstr(args)};
    reply->calls = c;
    reply->call_count = 1;
}

/* Runs an agent whose answer must be this. */
static void run_agent(const PtcAgentDef *def, PtcModel *model, const char *answer)
{
    PtcAgentTree tree;
    PtcAgentRun *run = malloc(sizeof *run);
    PtcAgentOptions options = ptc_agent_options();
    options.model = model;
    if (!run || !ptc_tree_init(&tree, NULL, def->turn_budget, 0))
        die("no memory");
    ptc_agent_run_begin(run, &tree, def, &options);
    ptc_agent_run_go(run);
    const PtcVerdict *v = &run->step.now.verdict;
    if (run->invalid || !v->ok || !ptc_text_is(v->value, answer)) {
        fprintf(stderr, "%s\n",
                run->invalid ? run->fault.text
                : v->reason  ? ptc_agent_fault_word(v->reason)
                             : "");
        die(answer);
    }
    ptc_agent_run_end(run);
    ptc_tree_deinit(&tree);
    free(run);
}

/* --------------------------------------------------------------------------------- turns */

typedef struct Replies {
    int mode; /* 0: content, 1: tool_call, 2: native tools */
    int count;
} Replies;

static void answer_turn(void *user, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    Replies *r = user;
    (void)q;
    bool last = ++r->count % TURNS == 0;
    if (r->mode == 0)
        say(reply, arena,
            last ? "```clojure\n(return a)\n```"
                 : "```clojure\n(def a (reduce + (map inc [1 2 3])))\n```");
    else if (last)
        say(reply, arena, "9");
    else if (r->mode == 1)
        call(reply, arena, "lisp_eval", "{\"program\":\"(def a (reduce + (map inc [1 2 3])))\"}");
    else
        call(reply, arena, "f", "{\"n\":1}");
}

static void measure_turns(PtcMem *mem)
{
    static const struct {
        const char *name, *agent;
    } modes[] = {
        {"a turn, content", "\"prompt\":\"p\",\"signature\":\":int\""},
        {"a turn, tool_call",
         "\"prompt\":\"p\",\"signature\":\":int\",\"ptc_transport\":\"tool_call\""},
        {"a turn, text with a native tool", "\"prompt\":\"p\",\"signature\":\":int\",\"output\":"
                                            "\"text\",\"tools\":{\"f\":{\"echo\":true}}"},
    };
    for (int mode = 0; mode < 3; mode++) {
        char json[400];
        double best = 1e9;
        Replies replies = {.mode = mode};
        snprintf(json, sizeof json, "{%s,\"max_turns\":%d,\"turn_budget\":%d}", modes[mode].agent,
                 TURNS, TURNS);
        PtcAgentDef *def = read_agent(json);
        PtcModel *model = ptc_callback_model_new(mem, "bench", answer_turn, &replies);
        for (int round = 0; round < ROUNDS; round++) {
            double begun = now(CLOCK_PROCESS_CPUTIME_ID);
            run_agent(def, model, "9");
            double took = now(CLOCK_PROCESS_CPUTIME_ID) - begun;
            best = took < best ? took : best;
        }
        model->free(model);
        ptc_definition_release(def);
        floor_row(modes[mode].name, best / TURNS * 1e6, TURN_US_MOST, "us");
    }
}

/* --------------------------------------------------------------------------- all at once */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t all;
    int waiting;
    const PtcAgentDef *def;
    PtcModel *model;
} crowd = {.lock = PTHREAD_MUTEX_INITIALIZER, .all = PTHREAD_COND_INITIALIZER};

/* The second reply comes when every agent has asked for it. */
static void answer_crowd(void *user, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    (void)user;
    size_t count = ptc_llm_message_count(q);
    if (count == 1) {
        say(reply, arena,
            "```clojure\n(def rows (map (fn [i] {:id i :n (* i i)}) (range 50)))\n```");
        return;
    }
    pthread_mutex_lock(&crowd.lock);
    if (++crowd.waiting >= AGENTS)
        pthread_cond_broadcast(&crowd.all);
    while (crowd.waiting < AGENTS)
        pthread_cond_wait(&crowd.all, &crowd.lock);
    pthread_mutex_unlock(&crowd.lock);
    say(reply, arena, "```clojure\n(return (reduce + (map :n rows)))\n```");
}

static void *crowd_thread(void *unused)
{
    (void)unused;
    run_agent(crowd.def, crowd.model, "40425");
    return NULL;
}

static void measure_crowd(PtcMem *mem)
{
    static pthread_t threads[AGENTS];
    pthread_attr_t attr;
    struct rusage usage;
    PtcAgentDef *def = read_agent("{\"prompt\":\"p\",\"signature\":\":int\",\"timeout\":60000}");
    PtcModel *model = ptc_callback_model_new(mem, "bench", answer_crowd, NULL);
    crowd.def = def;
    crowd.model = model;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 1024 * 1024);
    double begun = now(CLOCK_MONOTONIC);
    for (int i = 0; i < AGENTS; i++)
        if (pthread_create(&threads[i], &attr, crowd_thread, NULL) != 0)
            die("a thread could not be had");
    for (int i = 0; i < AGENTS; i++)
        pthread_join(threads[i], NULL);
    double took = now(CLOCK_MONOTONIC) - begun;
    pthread_attr_destroy(&attr);
    model->free(model);
    ptc_definition_release(def);
    getrusage(RUSAGE_SELF, &usage);
    floor_row("1,000 agents at once, peak of the process", (double)usage.ru_maxrss / 1024,
              PEAK_MB_MOST, "MB");
    printf("%-46s %10.1f ms\n", "1,000 agents at once, two turns each", took * 1e3);
}

/* ------------------------------------------------------------------------------- fan-out */

static void answer_fan(void *user, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    (void)user;
    if (q->agent.len == 0) {
        say(reply, arena,
            "```clojure\n(return (reduce + (pmap (fn [i] (tool/child {:i i})) (range 200))))\n```");
        return;
    }
    nanosleep(&(struct timespec){0, MODEL_MS * 1000000L}, NULL);
    say(reply, arena, "```clojure\n(return data/i)\n```");
}

static void measure_fan(PtcMem *mem)
{
    char json[500];
    snprintf(
        json, sizeof json,
        "{\"prompt\":\"p\",\"signature\":\":int\",\"turn_budget\":1000,\"pmap_max_concurrency\":%d,"
        "\"tools\":{\"child\":{\"agent\":{\"prompt\":\"c\",\"signature\":\"(i :int) -> :int\"}}}}",
        WORKERS);
    PtcAgentDef *def = read_agent(json);
    PtcModel *model = ptc_callback_model_new(mem, "bench", answer_fan, NULL);
    double best = 1e9, path = (double)((CHILDREN + WORKERS - 1) / WORKERS) * MODEL_MS;
    for (int round = 0; round < 3; round++) {
        double begun = now(CLOCK_MONOTONIC);
        run_agent(def, model, "19900");
        double took = (now(CLOCK_MONOTONIC) - begun) * 1e3;
        best = took < best ? took : best;
    }
    model->free(model);
    ptc_definition_release(def);
    floor_row("200 children by pmap, 64 at a time, 50 ms each", best, path * 1.5, "ms");
    printf("%-46s %10.1f ms\n", "  the slowest path: four models after each other", path);
}

int main(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    measure_turns(&mem);
    measure_crowd(&mem);
    measure_fan(&mem);
    return missed;
}
