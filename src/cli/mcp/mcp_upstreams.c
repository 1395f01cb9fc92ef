/* SPDX-License-Identifier: MIT
 * Which manager of upstreams a server has now.  What always holds: a manager is freed by the thread here, or at the
 * end, when no run of it is left and nobody holds it; and nobody begins a run of one that is not the newest. */
#include "cli/mcp/mcp_upstreams.h"

#include <stdio.h>
#include <string.h>

#include "base/os/cond.h"
#include "base/os/thread.h"
#include "base/text/secret.h"
#include "cli/cmd/cmd.h"
#include "json/emit.h"
#include "upstream/connect/manager.h"
#include "value/coll/fields.h"

enum {
    READER_STACK = PTC_MB,
    LOOK_AGAIN_MS = 500, /* whether the runs of an older manager have ended */
    VERSION_BITS = 32,   /* of listings of one manager */
};

/* -------------------------------------------------------------------------------- the newest */

PtcManager *ptc_mcp_upstreams_hold(PtcMcpUpstreams *u)
{
    if (!u->mem)
        return NULL;
    pthread_mutex_lock(&u->lock);
    u->now->holds++;
    PtcManager *manager = u->now->files.manager;
    pthread_mutex_unlock(&u->lock);
    return manager;
}

void ptc_mcp_upstreams_release(PtcMcpUpstreams *u, PtcManager *manager)
{
    pthread_mutex_lock(&u->lock);
    PtcMcpUpstreamsRead *read = u->now;
    while (read->files.manager != manager)
        read = read->before;
    read->holds--;
    pthread_mutex_unlock(&u->lock);
}

/* A run counts in its manager from here on, so it is held no longer. */
static void *begin_newest_run(PtcRemote *self, const char *owner, int64_t deadline_ns,
                              const PtcCancel *cancel, uint64_t *version)
{
    PtcMcpUpstreams *u = (PtcMcpUpstreams *)self;
    PtcManager *manager = ptc_mcp_upstreams_hold(u);
    PtcRemote *remote = ptc_manager_remote(manager);
    void *run = remote->begin(remote, owner, deadline_ns, cancel, version);
    ptc_mcp_upstreams_release(u, manager);
    return run;
}

static bool newest_knows(PtcRemote *self, PtcText ns, PtcBuf *nearest)
{
    PtcMcpUpstreams *u = (PtcMcpUpstreams *)self;
    PtcManager *manager = ptc_mcp_upstreams_hold(u);
    PtcRemote *remote = ptc_manager_remote(manager);
    bool known = remote->knows(remote, ns, nearest);
    ptc_mcp_upstreams_release(u, manager);
    return known;
}

PtcRemote *ptc_mcp_upstreams_remote(PtcMcpUpstreams *u)
{
    return u->mem ? &u->remote : NULL;
}

/* -------------------------------------------------------------------------------------- read */

/* The secrets in it are wiped. */
static bool digest_files(PtcMcpUpstreamsRead *read)
{
    PtcUpstreams *f = &read->files;
    const PtcValue parts[] = {f->entries, f->policy, f->credentials, f->secrets};
    PtcBuf text;
    bool ok = true;
    ptc_buf_init(&text, f->mem, PTC_UNBOUNDED);
    for (size_t i = 0; ok && i < sizeof parts / sizeof *parts; i++)
        ok = ptc_buf_add_char(&text, '\n') &&
             (parts[i] == PTC_NONE || ptc_emit_value(&text, &f->scratch.heap, parts[i]));
    if (ok)
        ptc_sha256(text.data, text.len, read->digest);
    if (text.data)
        ptc_secret_wipe(text.data, text.cap);
    ptc_buf_deinit(&text);
    return ok;
}

static void free_read(PtcMem *mem, PtcMcpUpstreamsRead *read)
{
    ptc_upstreams_close(&read->files);
    ptc_mem_free(mem, read, sizeof *read);
}

/* NULL: nothing was read, or out of memory; `*status` is the exit status then.  Without a manager: there are none. */
static PtcMcpUpstreamsRead *read_files(PtcMcpUpstreams *u, PtcMem *mem, int *status)
{
    PtcMcpUpstreamsRead *read = ptc_mem_alloc(mem, sizeof *read);
    *status = PTC_EXIT_FAILED;
    if (!read)
        return NULL;
    memset(read, 0, sizeof *read);
    if (ptc_upstreams_open(&read->files, mem, "mcp", &u->options, u->log, u->user, status) &&
        (!read->files.manager || digest_files(read)))
        return read;
    free_read(mem, read);
    return NULL;
}

bool ptc_mcp_upstreams_open(PtcMcpUpstreams *u, PtcMem *mem, const PtcUpstreamsOptions *options,
                            void (*log)(void *user, PtcText line), void *user, int *status)
{
    memset(u, 0, sizeof *u);
    u->options = *options;
    u->options.version = 1;
    u->log = log;
    u->user = user;
    PtcMcpUpstreamsRead *read = read_files(u, mem, status);
    if (!read)
        return false;
    if (!read->files.manager) {
        free_read(mem, read);
        return true;
    }
    u->mem = mem;
    u->now = read;
    u->remote = *ptc_manager_remote(read->files.manager);
    u->remote.begin = begin_newest_run;
    u->remote.knows = newest_knows;
    pthread_mutex_init(&u->lock, NULL);
    pthread_mutex_init(&u->app_lock, NULL);
    ptc_cond_init(&u->wake);
    return true;
}

/* ------------------------------------------------------------------------------------- again */

/* Those who have the older one stay with it; whoever begins now gets this one. */
static void replace_newest(PtcMcpUpstreams *u, PtcMcpUpstreamsRead *read)
{
    PtcManager *old = u->now->files.manager; /* only this thread changes it */
    pthread_mutex_lock(&u->lock);
    read->before = u->now;
    u->now = read;
    const char *owner = u->warm_owner;
    unsigned offers = u->warm_offers;
    pthread_mutex_unlock(&u->lock);
    ptc_manager_on_known(old, NULL, NULL);
    ptc_manager_on_known(read->files.manager, ptc_mcp_upstreams_retell, u);
    if (owner)
        ptc_manager_warm(read->files.manager, owner, offers, 0);
    ptc_mcp_upstreams_retell(u);
}

/* NULL: it can be used. */
static const char *why_unusable(PtcMcpUpstreams *u, const PtcMcpUpstreamsRead *read)
{
    if (!read) /* which was told already */
        return "the upstreams stay as they were";
    if (!read->files.manager)
        return "the upstreams stay as they were: the files name none; without any, start again";
    if (memcmp(read->digest, u->now->digest, sizeof read->digest) == 0)
        return "the files of upstreams say what they said";
    return ptc_manager_take_grants(read->files.manager, u->now->files.manager)
               ? NULL
               : "the upstreams stay as they were: out of memory";
}

static void read_files_again(PtcMcpUpstreams *u)
{
    char line[100];
    int status;
    u->options.say = u->log;
    u->options.say_user = u->user;
    u->options.strict = false;
    u->options.version += (uint64_t)1 << VERSION_BITS;
    ptc_manager_reread_grants(u->now->files.manager);
    PtcMcpUpstreamsRead *read = read_files(u, u->mem, &status);
    const char *why = why_unusable(u, read);
    if (!why) {
        size_t count = ptc_manager_count(read->files.manager);
        replace_newest(u, read);
        snprintf(line, sizeof line, "the files of upstreams were read again: %zu upstream%s", count,
                 count == 1 ? "" : "s");
    } else if (read) {
        free_read(u->mem, read);
    }
    u->log(u->user, ptc_text_cstr(why ? why : line));
}

/* With the lock held: takes one that is over out of the list; NULL: there is none.  `*older`: others are left. */
static PtcMcpUpstreamsRead *take_ended(PtcMcpUpstreams *u, bool *older)
{
    PtcMcpUpstreamsRead **at = &u->now->before;
    while (*at && ((*at)->holds || ptc_manager_runs((*at)->files.manager)))
        at = &(*at)->before;
    PtcMcpUpstreamsRead *ended = *at;
    if (ended)
        *at = ended->before;
    *older = u->now->before != NULL;
    return ended;
}

static void *read_and_free(void *user)
{
    PtcMcpUpstreams *u = user;
    bool older = false;
    pthread_mutex_lock(&u->lock);
    while (!u->ending) {
        bool again = u->again;
        PtcMcpUpstreamsRead *ended = again ? NULL : take_ended(u, &older);
        u->again = false;
        if (again || ended) {
            pthread_mutex_unlock(&u->lock);
            if (again)
                read_files_again(u);
            else
                free_read(u->mem, ended);
            pthread_mutex_lock(&u->lock);
        } else if (older) {
            (void)ptc_cond_wait_ms(&u->wake, &u->lock, LOOK_AGAIN_MS);
        } else {
            pthread_cond_wait(&u->wake, &u->lock);
        }
    }
    pthread_mutex_unlock(&u->lock);
    return NULL;
}

void ptc_mcp_upstreams_read_again(void *user)
{
    PtcMcpUpstreams *u = user;
    pthread_mutex_lock(&u->lock);
    u->again = true;
    if (!u->has_thread)
        u->has_thread = ptc_thread_start(&u->thread, READER_STACK, read_and_free, u);
    bool there = u->has_thread;
    pthread_cond_signal(&u->wake);
    pthread_mutex_unlock(&u->lock);
    if (!there)
        u->log(u->user, PTC_TEXT("the upstreams stay as they were: no thread can be started"));
}

void ptc_mcp_upstreams_close(PtcMcpUpstreams *u)
{
    if (!u->mem)
        return;
    pthread_mutex_lock(&u->lock);
    u->ending = true;
    pthread_cond_signal(&u->wake);
    pthread_mutex_unlock(&u->lock);
    if (u->has_thread)
        pthread_join(u->thread, NULL);
    for (PtcMcpUpstreamsRead *read = u->now, *before; read; read = before) {
        before = read->before;
        free_read(u->mem, read);
    }
    if (u->warm_owner)
        ptc_mem_free(u->mem, u->warm_owner, strlen(u->warm_owner) + 1);
    pthread_cond_destroy(&u->wake);
    pthread_mutex_destroy(&u->lock);
    pthread_mutex_destroy(&u->app_lock);
    memset(u, 0, sizeof *u);
}
