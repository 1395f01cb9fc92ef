/* SPDX-License-Identifier: MIT
 * What the agents of a tree share.  Counters saturate, since a provider may report any number. */
#include "agent/run/agent_tree.h"

#include "agent/step/step_int.h"

#include <stdio.h>

enum { TREE_BYTES = 64 * PTC_MB };
#define HOUR_MS ((int64_t)3600 * 1000)

void ptc_tree_renew(PtcAgentTree *t, int64_t turn_budget, int64_t deadline_ms)
{
    t->budget = turn_budget;
    t->sums = (PtcTreeSums){.turns = 0};
    t->runs = 0;
    t->tool_count = 0;
    t->began_ns = ptc_clock_ns(NULL);
    t->deadline_ns =
        t->began_ns + (deadline_ms > 0 ? deadline_ms : PTC_TREE_HOURS * HOUR_MS) * PTC_MS;
}

bool ptc_tree_init(PtcAgentTree *t, const PtcTreeHost *host, int64_t turn_budget,
                   int64_t deadline_ms)
{
    memset(t, 0, sizeof *t);
    if (host)
        t->host = *host;
    ptc_tree_renew(t, turn_budget, deadline_ms);
    ptc_mem_init(&t->mem, TREE_BYTES);
    ptc_arena_init(&t->arena, &t->mem);
    return pthread_mutex_init(&t->lock, NULL) == 0;
}

void ptc_tree_deinit(PtcAgentTree *t)
{
    for (PtcTreeModel *m = t->models; m; m = m->next)
        m->model->free(m->model);
    ptc_arena_deinit(&t->arena);
    pthread_mutex_destroy(&t->lock);
}

/* -------------------------------------------------------------------------------- models */

static PtcModel *find_tree_model(PtcAgentTree *t, PtcText key, bool script)
{
    for (PtcTreeModel *m = t->models; m; m = m->next)
        if (m->script == script &&
            (script ? m->key.bytes == key.bytes : ptc_text_same(m->key, key)))
            return m->model;
    return NULL;
}

static PtcModel *keep_model(PtcAgentTree *t, PtcText key, bool script, PtcModel *model, PtcWhy *why)
{
    PtcTreeModel *m = ptc_arena_zalloc(&t->arena, sizeof *m);
    PtcText kept = script ? key : ptc_messages_keep(&t->arena, key);
    if (!m || !kept.bytes) {
        model->free(model);
        ptc_why_no_memory(why);
        return NULL;
    }
    *m = (PtcTreeModel){.key = kept, .script = script, .model = model, .next = t->models};
    t->models = m;
    return model;
}

/* The lock is held while a model is opened, so that two agents do not open the same one twice. */
PtcModel *ptc_tree_model(PtcAgentTree *t, PtcText spec, bool program, PtcWhy *why)
{
    pthread_mutex_lock(&t->lock);
    PtcModel *model = find_tree_model(t, spec, false);
    if (!model && !t->host.open_model)
        ptc_why_say(why, PTC_WHY_INVALID, "models cannot be named here");
    else if (!model && (model = t->host.open_model(t->host.user, spec, program, why)))
        model = keep_model(t, spec, false, model, why);
    pthread_mutex_unlock(&t->lock);
    return model;
}

PtcModel *ptc_tree_script(PtcAgentTree *t, PtcText script, PtcWhy *why)
{
    pthread_mutex_lock(&t->lock);
    PtcModel *model = find_tree_model(t, script, true);
    if (!model && !t->host.open_script)
        ptc_why_say(why, PTC_WHY_INVALID, "scripts cannot be models here");
    else if (!model && (model = t->host.open_script(t->host.user, script, why)))
        model = keep_model(t, script, true, model, why);
    pthread_mutex_unlock(&t->lock);
    return model;
}

/* ------------------------------------------------------------------------------ counting */

void ptc_tree_tell(PtcAgentTree *t, PtcProgress progress)
{
    if (!t->host.progress)
        return;
    progress.at_ns = ptc_clock_ns(NULL) - t->began_ns;
    t->host.progress(t->host.progress_user, &progress);
}

void ptc_tree_add_tokens(PtcAgentTree *t, const PtcTokens *tokens)
{
    ptc_step_add_tokens(&t->sums.tokens, tokens);
}

void ptc_tree_add_sums(PtcTreeSums *all, const PtcTreeSums *more)
{
    all->turns += more->turns;
    all->requests += more->requests;
    all->errors += more->errors;
    ptc_step_add_tokens(&all->tokens, &more->tokens);
}

int64_t ptc_tree_tokens(const PtcAgentTree *t)
{
    return t->tokens_before + t->sums.tokens.input + t->sums.tokens.output;
}

void ptc_tree_count_tool(PtcAgentTree *t, PtcText name, uint64_t times)
{
    for (size_t i = 0; i < t->tool_count; i++) {
        if (ptc_text_same(t->tools[i].name, name)) {
            t->tools[i].times += times;
            return;
        }
    }
    PtcText kept = ptc_messages_keep(&t->arena, name);
    PtcToolCount *tools = t->tool_count < PTC_TREE_TOOLS && kept.bytes
                              ? ptc_arena_push(&t->arena, t->tools, t->tool_count, sizeof *tools)
                              : NULL;
    if (!tools)
        return;
    t->tools = tools;
    tools[t->tool_count++] = (PtcToolCount){kept, times};
}
