/* SPDX-License-Identifier: MIT
 * A task whose questions are answered goes on: its handler is called again for the same message, with the answers and
 * the state that it had set, as if a client had done so.  What always holds: one node takes it, by a write to the
 * book. */
#include <stdio.h>

#include "mcp/server/task_work.h"

typedef struct {
    PtcMcp *mcp;
    PtcMcpTaskAsk asks[PTC_MCP_TASK_ASKS];
    uint32_t count;
    PtcText state;
} TakenTask;

static bool is_ready(const PtcMcpTask *task)
{
    return task->status == PTC_MCP_TASK_ASKING && !ptc_mcp_task_open(task);
}

/* PtcMcpTaskChange.  Its node is this one, or has left it. */
static bool take_task(void *user, PtcMcpTask *task)
{
    TakenTask *t = user;
    const PtcMcpBook *book = t->mcp->config.book;
    int64_t now = book->now_ms(book->user);
    bool mine = memcmp(task->node, t->mcp->tasks.node, sizeof task->node) == 0;
    t->count = UINT32_MAX;
    if (!is_ready(task) || (!mine && now <= task->lease_ms))
        return false;
    memcpy(t->asks, task->asks, sizeof t->asks);
    t->count = task->ask_count;
    t->state = task->state;
    task->asked += task->ask_count;
    task->ask_count = 0;
    task->state = (PtcText){NULL, 0};
    task->status = PTC_MCP_TASK_WORKING;
    task->lease_ms = now + t->mcp->config.task_lease_ms;
    memcpy(task->node, t->mcp->tasks.node, sizeof task->node);
    return true;
}

/* What a client would have sent as inputResponses and requestState; false: no memory. */
static bool give_answers(PtcMcpCall *inner, const TakenTask *t)
{
    PtcJsonError error;
    PtcBuf *out = &inner->scratch;
    ptc_buf_clear(out);
    ptc_emit_object(out);
    for (uint32_t i = 0; i < t->count; i++) {
        ptc_emit_key_text(out, t->asks[i].key);
        ptc_emit_raw(out, t->asks[i].answer);
    }
    if (!ptc_emit_object_end(out))
        return false;
    inner->replies = ptc_json_parse(&inner->heap, out->data, out->len, &error);
    ptc_buf_clear(&inner->given);
    inner->was_given = t->state.bytes != NULL;
    return inner->replies != PTC_NONE &&
           (!t->state.bytes || ptc_buf_add(&inner->given, t->state.bytes, t->state.len));
}

/* The work is MAKING, so nobody else touches it; `task` is taken and written.  False: no memory. */
static bool run_on(PtcMcpWork *w, const TakenTask *t)
{
    PtcMcpWorkList *tasks = &w->mcp->tasks;
    PtcMcpCall *inner = ptc_mcp_work_begin(w);
    if (!inner || !give_answers(inner, t)) {
        ptc_mcp_call_free(inner);
        return false;
    }
    pthread_mutex_lock(&tasks->lock);
    w->inner = inner;
    w->done = false;
    w->fate = PTC_WORK_WANTED;
    tasks->detached++;
    bool started = ptc_mcp_work_start(w);
    if (!started) {
        w->inner = NULL;
        tasks->detached--;
    }
    w->phase = PTC_WORK_DETACHED;
    pthread_cond_broadcast(&tasks->changed);
    pthread_mutex_unlock(&tasks->lock);
    if (!started)
        ptc_mcp_call_free(inner);
    return started;
}

static bool end_out_of_memory(void *user, PtcMcpTask *task)
{
    (void)user;
    if (ptc_mcp_task_is_over(task))
        return false;
    ptc_mcp_task_end(task, PTC_MCP_TASK_FAILED,
                     PTC_TEXT("{\"code\":-32603,\"message\":\"out of memory\"}"));
    return true;
}

/* The work is MAKING.  False: it stays as it was, for whoever may go on with it. */
static bool go_on_taken(PtcMcpWork *w)
{
    PtcMcpTask task;
    TakenTask t = {.mcp = w->mcp};
    ptc_mcp_task_init(&task, w->mcp);
    bool taken =
        ptc_mcp_task_change(w->mcp, w->owner, w->id, &task, take_task, &t) == PTC_MCP_BOOK_OK &&
        t.count != UINT32_MAX;
    if (taken && !run_on(w, &t))
        (void)ptc_mcp_task_change(w->mcp, w->owner, w->id, &task, end_out_of_memory, NULL);
    ptc_mcp_task_deinit(&task);
    return taken;
}

/* Its thread keeps it; else it is parked again, and whoever looks after it sees what became of the task. */
void ptc_mcp_work_go_on(PtcMcpWork *w)
{
    PtcMcpWorkList *tasks = &w->mcp->tasks;
    pthread_mutex_lock(&tasks->lock);
    bool mine = w->phase == PTC_WORK_PARKED && !tasks->ending;
    if (mine)
        w->phase = PTC_WORK_MAKING;
    pthread_mutex_unlock(&tasks->lock);
    if (!mine)
        return;
    (void)go_on_taken(w);
    pthread_mutex_lock(&tasks->lock);
    if (w->inner || w->phase != PTC_WORK_MAKING)
        ptc_mcp_work_unref(w); /* that of being parked */
    else
        w->phase = PTC_WORK_PARKED;
    pthread_mutex_unlock(&tasks->lock);
}

/* On the thread that looks after tasks: the handler is only to let go of things. */
void ptc_mcp_work_drop(PtcMcpWork *w)
{
    TakenTask none = {.mcp = w->mcp, .state = {NULL, 0}};
    PtcMcpCall *inner = w->state.len ? ptc_mcp_work_begin(w) : NULL;
    if (!inner)
        return;
    none.state = ptc_buf_view(&w->state);
    if (give_answers(inner, &none)) {
        ptc_mcp_cancel(inner);
        inner->dropped = true;
        ptc_mcp_run(inner);
    }
    ptc_mcp_call_free(inner);
}

/* With a reference for the caller; NULL: it is not here. */
static PtcMcpWork *find_work(PtcMcp *mcp, const char *owner, const char *id)
{
    pthread_mutex_lock(&mcp->tasks.lock);
    PtcMcpWork *w = mcp->tasks.works;
    while (w && (strcmp(w->id, id) != 0 || strcmp(w->owner, owner) != 0))
        w = w->next;
    if (w)
        w->refs++;
    pthread_mutex_unlock(&mcp->tasks.lock);
    return w;
}

/* A work for a task of another node, parked; NULL: its request cannot be had. */
static PtcMcpWork *adopt_task(PtcMcp *mcp, const char *owner, const char *id)
{
    const PtcMcpBook *book = mcp->config.book;
    char key[PTC_MCP_TASK_ID + 3];
    uint64_t version;
    PtcBuf request;
    PtcMcpWork *w = NULL;
    ptc_buf_init(&request, &mcp->mem, mcp->config.max_frame_bytes);
    snprintf(key, sizeof key, "%s/r", id);
    if (book->get(book->user, owner, key, &request, &version) == PTC_MCP_BOOK_OK)
        w = ptc_mcp_work_new(mcp, owner, ptc_buf_view(&request));
    ptc_buf_deinit(&request);
    if (!w)
        return NULL;
    memcpy(w->id, id, sizeof w->id);
    w->phase = PTC_WORK_PARKED;
    pthread_mutex_lock(&mcp->tasks.lock);
    ptc_mcp_work_enter(w);
    w->refs++;
    pthread_mutex_unlock(&mcp->tasks.lock);
    return w;
}

void ptc_mcp_work_resume(PtcMcp *mcp, const char *owner, const char *id, const PtcMcpTask *task)
{
    const PtcMcpBook *book = mcp->config.book;
    PtcMcpWork *w = is_ready(task) ? find_work(mcp, owner, id) : NULL;
    if (is_ready(task) && !w && book->now_ms(book->user) > task->lease_ms)
        w = adopt_task(mcp, owner, id);
    if (!w)
        return;
    ptc_mcp_work_go_on(w);
    pthread_mutex_lock(&mcp->tasks.lock);
    ptc_mcp_work_unref(w);
    pthread_mutex_unlock(&mcp->tasks.lock);
}
