/* SPDX-License-Identifier: MIT
 * manager_help.h - a manager over tests/upstream/faulty.py in a directory of its own, and asks that can be waited
 * for. */
#ifndef PTC_TESTS_MANAGER_HELP_H
#define PTC_TESTS_MANAGER_HELP_H

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/emit.h"
#include "unit/check.h"
#include "upstream/config/config.h"
#include "upstream/connect/manager.h"
#include "value/scratch.h"

typedef struct {
    PtcMem mem;
    PtcScratch scratch;
    PtcConfig config;
    PtcManager *manager;
    PtcRemote *remote;
    char dir[64], cache[96], state[96];
    int64_t load_ms, idle_ms;
    PtcShelf *shelf;   /* or NULL */
    const char *token; /* the variable TOKEN */
    atomic_int
        wrong; /* asks that were answered twice, or at once and later; counted here because threads ask */
} World;

/* What was asked, and what came. */
typedef struct {
    PtcRemoteAsk base; /* first */
    pthread_mutex_t lock;
    pthread_cond_t came;
    unsigned readies;
    PtcRemoteStatus status;
    char text[512];
} Asked;

/* ------------------------------------------------------------------------------------ world */

static inline PtcText world_variable(void *user, PtcText name)
{
    World *w = user;
    return ptc_text_is(name, "TOKEN") && w->token ? ptc_text_cstr(w->token) : (PtcText){NULL, 0};
}

/* Files are there; what they hold is read when it is needed. */
static inline PtcText world_file(void *user, PtcText path)
{
    (void)user;
    (void)path;
    return PTC_TEXT("-");
}

/* A directory, which world_end and world_remove remove.  Runs wait long for servers to start: on a busy machine ten
 * seconds are not enough for nine of them. */
static inline void world_init(World *w)
{
    *w = (World){.load_ms = 60000};
    snprintf(w->dir, sizeof w->dir, "/tmp/ptc-manager-XXXXXX");
    CHECK(mkdtemp(w->dir) != NULL);
    snprintf(w->cache, sizeof w->cache, "%s/cache", w->dir);
    snprintf(w->state, sizeof w->state, "%s/state", w->dir);
    ptc_mem_init(&w->mem, SIZE_MAX / 2);
}

/* The upstreams are members of a JSON object: MEMBERS of {"upstreams": {...}}. */
static inline void world_open(World *w, const char *members)
{
    static const char *path[2];
    static char variable[8192];
    char text[16 * 1024];
    int n = snprintf(text, sizeof text, "{\"upstreams\":{%s}}", members);
    PtcConfigIn in = {.text = {text, (size_t)n},
                      .file = PTC_TEXT("u.json"),
                      .project = PTC_TEXT("/"),
                      .dialect = PTC_DIALECT_OURS,
                      .variable = world_variable,
                      .read = world_file,
                      .user = w};
    snprintf(variable, sizeof variable, "PATH=%s", getenv("PATH"));
    path[0] = variable;
    ptc_scratch_init(&w->scratch, &w->mem, 64 << 20);
    CHECK(ptc_config_read(&w->scratch.heap, &in, &w->config) && w->config.ok);
    PtcManagerConfig config = {.heap = &w->scratch.heap,
                               .entries = w->config.upstreams,
                               .policy = w->config.policy,
                               .credentials = w->config.credentials,
                               .secrets = w->config.secrets,
                               .cache_dir = w->cache,
                               .state_dir = w->state,
                               .shelf = w->shelf,
                               .load_ms = w->load_ms,
                               .idle_ms = w->idle_ms,
                               .environment = path};
    w->manager = ptc_manager_new(&w->mem, &config);
    CHECK(w->manager != NULL);
    w->remote = w->manager ? ptc_manager_remote(w->manager) : NULL;
}

/* Nothing of the manager is left. */
static inline void world_close(World *w)
{
    ptc_manager_free(w->manager);
    ptc_scratch_deinit(&w->scratch);
    w->manager = NULL;
    CHECK(w->wrong == 0);
    CHECK(atomic_load(&w->mem.used) == 0);
}

/* A server that is about to be killed may still write into the directory. */
static inline void world_remove(World *w)
{
    char command[256];
    snprintf(command, sizeof command,
             "for i in $(seq 100); do rm -rf '%s' 2>&- && exit; sleep 0.1; done; exit 1", w->dir);
    CHECK(system(command) == 0);
}

static inline void world_end(World *w)
{
    world_close(w);
    world_remove(w);
}

/* An entry that starts faulty.py: "NAME": {...}.  MORE are further members of it, each with a comma before it. */
static inline const char *entry(char *out, size_t size, const World *w, const char *name,
                                const char *modes, const char *seconds, const char *more)
{
    snprintf(out, size,
             "\"%s\":{\"command\":\"python3\",\"args\":[\"tests/upstream/faulty.py\",\"%s\","
             "\"--seconds\",\"%s\",\"--count\",\"%s/%s.count\",\"--starts\",\"%s/%s.starts\"]%s}",
             name, modes, seconds, w->dir, name, w->dir, name, more);
    return out;
}

/* Lines of a file of the directory. */
static inline int lines_of(const World *w, const char *name)
{
    char path[160];
    int lines = 0;
    snprintf(path, sizeof path, "%s/%s", w->dir, name);
    FILE *f = fopen(path, "r");
    for (int c; f && (c = getc(f)) != EOF;)
        lines += c == '\n';
    if (f)
        fclose(f);
    return lines;
}

static inline PtcUpstreamState state_of(World *w, size_t i)
{
    PtcUpstreamState state;
    ptc_manager_state(w->manager, i, &state);
    return state;
}

/* Waits until the upstream is in that state; false: it never was. */
static inline bool wait_for(World *w, size_t i, PtcInstanceState state)
{
    for (int n = 0; n < 6000; n++) {
        if (state_of(w, i).state == state)
            return true;
        check_pause_us(10000);
    }
    return false;
}

/* ------------------------------------------------------------------------------------- asks */

static inline void asked_ready(PtcRemoteAsk *base)
{
    Asked *a = (Asked *)(void *)base;
    pthread_mutex_lock(&a->lock);
    a->readies++;
    pthread_cond_signal(&a->came);
    pthread_mutex_unlock(&a->lock);
}

static inline void ask_begin(World *w, void *run, Asked *a, PtcRemoteOp op, uint32_t slot,
                             uint32_t tool, const char *text)
{
    memset(a, 0, sizeof *a);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->came, NULL);
    snprintf(a->text, sizeof a->text, "%s", text);
    a->base = (PtcRemoteAsk){
        .op = op, .slot = slot, .tool = tool, .text = ptc_text_cstr(a->text), .ready = asked_ready};
    a->status = w->remote->ask(run, &a->base);
}

/* Waits for it, whatever happened to it.  False: there was no memory. */
static inline bool ask_finish(World *w, void *run, Asked *a, PtcRemoteAnswer *answer)
{
    pthread_mutex_lock(&a->lock);
    while (a->status == PTC_REMOTE_PENDING && a->readies == 0)
        pthread_cond_wait(&a->came, &a->lock);
    pthread_mutex_unlock(&a->lock);
    bool told = a->status != PTC_REMOTE_NO_MEMORY && w->remote->finish(run, &a->base, answer);
    w->wrong += a->readies != (a->status == PTC_REMOTE_PENDING);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->came);
    return told;
}

/* The same with the answer as text, which ends with a NUL; "": there was no memory. */
static inline bool ask_end(World *w, void *run, Asked *a, char *out, size_t size)
{
    PtcRemoteAnswer answer = {.heap = NULL};
    PtcMem own;
    out[0] = '\0';
    ptc_mem_init(&own, SIZE_MAX / 2);
    ptc_buf_init(&answer.text, &own, 64 << 20);
    if (ask_finish(w, run, a, &answer))
        snprintf(out, size, "%.*s", PTC_ARG(ptc_buf_view(&answer.text)));
    ptc_buf_deinit(&answer.text);
    return answer.ok;
}

static inline bool ask(World *w, void *run, PtcRemoteOp op, const char *text, char *out,
                       size_t size)
{
    Asked a;
    ask_begin(w, run, &a, op, 0, 0, text);
    return ask_end(w, run, &a, out, size);
}

static inline void *run_begin(World *w, const char *owner)
{
    uint64_t version;
    return w->remote->begin(w->remote, owner, INT64_MAX, NULL, &version);
}

/* The number behind a key of an answer. */
static inline uint32_t number_of(const char *answer, const char *key)
{
    const char *at = strstr(answer, key);
    return at ? (uint32_t)strtoul(at + strlen(key), NULL, 10) : UINT32_MAX;
}

#endif
