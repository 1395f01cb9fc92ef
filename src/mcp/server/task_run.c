/* SPDX-License-Identifier: MIT
 * Calls that may become tasks.  The call of the client waits while a second one, made from the same message, runs on a
 * thread of its own; when that takes long, a task is put into the book and the client gets its id.  What always holds:
 * a task is in the book before its id is told; the end of a call is told to its client or written into the book, never
 * both. */
#include <stdio.h>
#include <time.h>

#include "base/os/cond.h"
#include "base/os/thread.h"
#include "base/text/secret.h"
#include "mcp/server/task_work.h"

enum {
    WORK_STACK = 8 * PTC_MB,
    WORK_TRY_MS = 1000,  /* until a call that could not become a task tries again */
    WORK_KEEP_MS = 1000, /* between attempts to write an end */
    WORK_KEEP_TIMES = 300,
    WORK_LEAST_TTL_MS = 5 * 60 * 1000, /* after its end a task stays at least this long */
};

/* ------------------------------------------------------------------------------------- of works */

static void free_work(PtcMcpWork *w)
{
    PtcMem *mem = &w->mcp->mem;
    ptc_buf_deinit(&w->request);
    ptc_buf_deinit(&w->state);
    if (w->owner)
        ptc_mem_free(mem, w->owner, strlen(w->owner) + 1);
    ptc_mem_free(mem, w, sizeof *w);
}

void ptc_mcp_work_unref(PtcMcpWork *w)
{
    if (--w->refs)
        return;
    PtcMcpWork **at = &w->mcp->tasks.works;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    free_work(w);
}

PtcMcpWork *ptc_mcp_work_new(PtcMcp *mcp, const char *owner, PtcText request)
{
    PtcMcpWork *w = ptc_mem_alloc(&mcp->mem, sizeof *w);
    if (!w)
        return NULL;
    *w = (PtcMcpWork){.mcp = mcp};
    size_t len = strlen(owner) + 1;
    ptc_buf_init(&w->request, &mcp->mem, mcp->config.max_frame_bytes);
    ptc_buf_init(&w->state, &mcp->mem, mcp->config.max_answer_bytes);
    w->owner = ptc_mem_alloc(&mcp->mem, len);
    if (w->owner && ptc_buf_add(&w->request, request.bytes, request.len)) {
        memcpy(w->owner, owner, len);
        return w;
    }
    free_work(w);
    return NULL;
}

void ptc_mcp_work_enter(PtcMcpWork *w)
{
    w->refs = 1;
    w->next = w->mcp->tasks.works;
    w->mcp->tasks.works = w;
}

PtcMcpCall *ptc_mcp_work_begin(PtcMcpWork *w)
{
    PtcMcpIn in = {.text = w->request.data, .len = w->request.len, .owner = w->owner};
    PtcMcpCall *inner = ptc_mcp_begin(w->mcp, &in);
    if (!inner)
        return NULL;
    inner->work = w;
    ptc_buf_deinit(&inner->message);
    ptc_buf_init(&inner->message, &w->mcp->mem, 0);
    return inner;
}

void ptc_mcp_work_stop(PtcMcpWork *w, int fate)
{
    PtcMcpWorkList *tasks = &w->mcp->tasks;
    if (w->fate == PTC_WORK_WANTED)
        w->fate = fate;
    if (!w->inner || w->done)
        return;
    w->uses_inner++;
    pthread_mutex_unlock(&tasks->lock);
    ptc_mcp_cancel(w->inner);
    pthread_mutex_lock(&tasks->lock);
    w->uses_inner--;
    pthread_cond_broadcast(&tasks->changed);
}

/* ---------------------------------------------------------------------------------- the outcome */

/* The answer of a call without what surrounds its result or error. */
static PtcText outcome_of(PtcMcpCall *inner)
{
    PtcBuf *head = &inner->scratch;
    ptc_buf_clear(head);
    ptc_rpc_begin_result(head, ptc_mcp_id_of(inner));
    size_t from = head->len;
    if (inner->code)
        from -= strlen("\"result\":") - strlen("\"error\":");
    if (!ptc_buf_ok(head) || !ptc_buf_ok(&inner->answer) || inner->answer.len < from + 3 ||
        inner->answer.data[from] != '{')
        return PTC_TEXT("{\"code\":-32603,\"message\":\"out of memory\"}");
    return (PtcText){inner->answer.data + from, inner->answer.len - from - 1};
}

/* What the handler asks, as texts of the call's heap; false: too much. */
static bool take_asks(PtcMcpCall *inner, PtcMcpTask *task)
{
    PtcJsonError error;
    PtcValue asks, key, value;
    size_t pos = 0;
    PtcBuf *all = &inner->scratch;
    ptc_buf_clear(all);
    ptc_buf_add_char(all, '{');
    ptc_buf_add(all, inner->asks.data, inner->asks.len);
    if (!ptc_buf_add_char(all, '}'))
        return false;
    asks = ptc_json_parse(&inner->heap, all->data, all->len, &error);
    while (asks != PTC_NONE && ptc_map_next(asks, &pos, &key, &value)) {
        if (task->ask_count == PTC_MCP_TASK_ASKS)
            return false;
        ptc_buf_clear(all);
        PtcValue text = ptc_emit_value(all, &inner->heap, value)
                            ? ptc_str_new(&inner->heap, all->data, all->len)
                            : PTC_NONE;
        if (text == PTC_NONE)
            return false;
        task->asks[task->ask_count++] = (PtcMcpTaskAsk){
            .key = ptc_str_text(key), .request = ptc_str_text(text), .answer = {NULL, 0}};
    }
    return asks != PTC_NONE;
}

typedef struct {
    PtcMcpWork *work;
    PtcMcpCall *inner;
    int fate;
    bool parked;
} WorkEnd;

static void end_unanswered_work(PtcMcpTask *task, int fate)
{
    if (fate == PTC_WORK_LATE)
        ptc_mcp_task_end(task, PTC_MCP_TASK_FAILED,
                         PTC_TEXT("{\"code\":-32603,\"message\":\"the time for this task is "
                                  "over\"}"));
    else if (fate == PTC_WORK_CANCELLED)
        ptc_mcp_task_end(task, PTC_MCP_TASK_CANCELLED, (PtcText){NULL, 0});
    else
        ptc_mcp_task_end(task, PTC_MCP_TASK_FAILED,
                         PTC_TEXT("{\"code\":-32603,\"message\":\"the server that ran this task "
                                  "was stopped; what its program called may have taken "
                                  "effect\"}"));
}

/* Its questions take the place of those before, whose keys are never used again. */
static bool park_task(WorkEnd *e, PtcMcpTask *task)
{
    task->asked += task->ask_count;
    task->ask_count = 0;
    task->status = PTC_MCP_TASK_ASKING;
    task->message = (PtcText){NULL, 0};
    task->state = e->inner->has_state ? ptc_buf_view(&e->inner->state) : (PtcText){NULL, 0};
    return e->parked = take_asks(e->inner, task);
}

/* PtcMcpTaskChange: nothing when somebody else has ended or taken it. */
static bool end_work(void *user, PtcMcpTask *task)
{
    WorkEnd *e = user;
    PtcMcpWorkList *tasks = &e->work->mcp->tasks;
    const PtcMcpBook *book = e->work->mcp->config.book;
    int64_t now = book->now_ms(book->user);
    e->parked = false;
    if (ptc_mcp_task_is_over(task) || memcmp(task->node, tasks->node, sizeof task->node) != 0)
        return false;
    if (task->cancel && !e->inner->has_answer)
        e->fate = PTC_WORK_CANCELLED;
    if (!e->inner->has_answer)
        end_unanswered_work(task, e->fate);
    else if (!e->inner->asks_client || !park_task(e, task))
        ptc_mcp_task_end(
            task,
            e->inner->code || e->inner->asks_client ? PTC_MCP_TASK_FAILED : PTC_MCP_TASK_COMPLETED,
            e->inner->asks_client ? PTC_TEXT("{\"code\":-32603,\"message\":\"too many questions\"}")
                                  : outcome_of(e->inner));
    if (task->expires_ms < now + WORK_LEAST_TTL_MS)
        task->expires_ms = now + WORK_LEAST_TTL_MS;
    return true;
}

/* PtcMcpTaskChange: what was to be kept does not fit. */
static bool end_too_large(void *user, PtcMcpTask *task)
{
    WorkEnd *e = user;
    PtcMcpWorkList *tasks = &e->work->mcp->tasks;
    if (ptc_mcp_task_is_over(task) || memcmp(task->node, tasks->node, sizeof task->node) != 0)
        return false;
    ptc_mcp_task_end(task, PTC_MCP_TASK_FAILED,
                     PTC_TEXT("{\"code\":-32603,\"message\":\"the result is too large to be kept, "
                              "or the store is full\"}"));
    return true;
}

/* What would be needed to run it again. */
static void forget_request(PtcMcpWork *w)
{
    const PtcMcpBook *book = w->mcp->config.book;
    char key[PTC_MCP_TASK_ID + 3];
    snprintf(key, sizeof key, "%s/r", w->id);
    book->remove(book->user, w->owner, key);
}

/* A store that fails may come back, so this is tried for some minutes. */
static void write_end(WorkEnd *e)
{
    PtcMcpWork *w = e->work;
    PtcMcpWorkList *tasks = &w->mcp->tasks;
    PtcMcpTask task;
    bool ending = false;
    ptc_mcp_task_init(&task, w->mcp);
    for (int i = 0; i < WORK_KEEP_TIMES && !ending; i++) {
        PtcMcpBookAnswer put = ptc_mcp_task_change(w->mcp, w->owner, w->id, &task, end_work, e);
        if (put == PTC_MCP_BOOK_FULL)
            put = ptc_mcp_task_change(w->mcp, w->owner, w->id, &task, end_too_large, e);
        if (put != PTC_MCP_BOOK_FAILED && put != PTC_MCP_BOOK_FULL)
            break;
        e->parked = false;
        pthread_mutex_lock(&tasks->lock);
        ending = tasks->ending;
        if (!ending)
            (void)ptc_cond_wait_ms(&tasks->changed, &tasks->lock, WORK_KEEP_MS);
        pthread_mutex_unlock(&tasks->lock);
    }
    ptc_mcp_task_deinit(&task);
    if (!e->parked)
        forget_request(w);
}

/* ----------------------------------------------------------------------------------- its thread */

static void swap_bufs(PtcBuf *a, PtcBuf *b)
{
    PtcBuf held = *a;
    *a = *b;
    *b = held;
}

/* With the lock held: nobody else uses the inner call any more. */
static void give_up_inner(PtcMcpWork *w)
{
    PtcMcpWorkList *tasks = &w->mcp->tasks;
    while (w->uses_inner)
        pthread_cond_wait(&tasks->changed, &tasks->lock);
    PtcMcpCall *inner = w->inner;
    w->inner = NULL;
    pthread_mutex_unlock(&tasks->lock);
    ptc_mcp_call_free(inner);
    pthread_mutex_lock(&tasks->lock);
}

/* With the lock held, which is released meanwhile: the task is written as it is now. */
static void end_task_work(PtcMcpWork *w)
{
    PtcMcpWorkList *tasks = &w->mcp->tasks;
    WorkEnd e = {.work = w, .inner = w->inner, .fate = w->fate};
    if (w->fate != PTC_WORK_LOST) {
        pthread_mutex_unlock(&tasks->lock);
        write_end(&e);
        pthread_mutex_lock(&tasks->lock);
    }
    tasks->detached--;
    if (e.parked && !tasks->ending) {
        swap_bufs(&w->state, &e.inner->state);
        w->phase = PTC_WORK_PARKED;
        w->done = false;
        w->noted = false;
        w->refs++;
        tasks->woken = true;
    }
}

static void *run_work(void *user)
{
    PtcMcpWork *w = user;
    PtcMcpWorkList *tasks = &w->mcp->tasks;
    ptc_mcp_run(w->inner);
    pthread_mutex_lock(&tasks->lock);
    w->done = true;
    pthread_cond_broadcast(&tasks->changed);
    while (w->phase == PTC_WORK_MAKING || (w->phase == PTC_WORK_ATTACHED && !w->taken))
        pthread_cond_wait(&tasks->changed, &tasks->lock);
    if (w->phase == PTC_WORK_DETACHED)
        end_task_work(w);
    give_up_inner(w);
    ptc_mcp_work_unref(w);
    tasks->threads--;
    pthread_cond_broadcast(&tasks->changed);
    pthread_mutex_unlock(&tasks->lock);
    return NULL;
}

bool ptc_mcp_work_start(PtcMcpWork *w)
{
    PtcMcpWorkList *tasks = &w->mcp->tasks;
    pthread_t thread;
    w->refs++;
    tasks->threads++;
    if (!tasks->ending && ptc_thread_start(&thread, WORK_STACK, run_work, w)) {
        pthread_detach(thread);
        return true;
    }
    w->refs--;
    tasks->threads--;
    return false;
}

/* -------------------------------------------------------------------------------- while attached */

void ptc_mcp_work_note(PtcMcpWork *w, const char *message)
{
    pthread_mutex_lock(&w->mcp->tasks.lock);
    PtcText text = ptc_text_cut(ptc_text_cstr(message), sizeof w->message - 1);
    memcpy(w->message, text.bytes, text.len);
    w->message[text.len] = 0;
    w->noted = true;
    pthread_mutex_unlock(&w->mcp->tasks.lock);
}

/* The lock is not held while the client is written to. */
bool ptc_mcp_work_send(PtcMcpWork *w, const PtcBuf *message)
{
    PtcMcpWorkList *tasks = &w->mcp->tasks;
    pthread_mutex_lock(&tasks->lock);
    PtcMcpCall *outer = w->phase == PTC_WORK_ATTACHED && !w->client_gone ? w->outer : NULL;
    bool sent = false;
    if (outer) {
        w->uses_outer++;
        pthread_mutex_unlock(&tasks->lock);
        sent = ptc_mcp_call_send(outer, message);
        pthread_mutex_lock(&tasks->lock);
        w->uses_outer--;
        pthread_cond_broadcast(&tasks->changed);
    }
    pthread_mutex_unlock(&tasks->lock);
    return sent;
}

/* With the lock of the outer call held. */
static void note_client_gone(void *user)
{
    PtcMcpWork *w = user;
    pthread_mutex_lock(&w->mcp->tasks.lock);
    w->client_gone = true;
    pthread_cond_broadcast(&w->mcp->tasks.changed);
    pthread_mutex_unlock(&w->mcp->tasks.lock);
}

/* Puts the task into the book: first what is needed to run it again, then the task. */
static PtcMcpBookAnswer put_new_task(PtcMcpWork *w, PtcMcpTask *task)
{
    const PtcMcpConfig *c = &w->mcp->config;
    const PtcMcpBook *book = c->book;
    char request[PTC_MCP_TASK_ID + 3];
    uint64_t version = 0;
    int64_t now = book->now_ms(book->user);
    if (!ptc_mcp_task_new_id(w->id))
        return PTC_MCP_BOOK_FAILED;
    snprintf(request, sizeof request, "%s/r", w->id);
    task->made_ms = task->changed_ms = now;
    task->lease_ms = now + c->task_lease_ms;
    task->ends_ms = now + c->task_max_ms;
    task->expires_ms = now + c->task_ttl_ms;
    task->changes = 1;
    memcpy(task->node, w->mcp->tasks.node, sizeof task->node);
    pthread_mutex_lock(&w->mcp->tasks.lock);
    char message[PTC_MCP_TASK_MESSAGE];
    memcpy(message, w->message, sizeof message);
    w->noted = false;
    pthread_mutex_unlock(&w->mcp->tasks.lock);
    task->message = ptc_text_cstr(message);
    PtcMcpBookAnswer put =
        book->put(book->user, w->owner, request, ptc_buf_view(&w->request),
                  task->expires_ms > task->ends_ms ? task->expires_ms : task->ends_ms, &version);
    if (put == PTC_MCP_BOOK_OK)
        put = ptc_mcp_task_write(w->mcp, w->owner, w->id, task);
    task->message = (PtcText){NULL, 0};
    return put;
}

/* With the lock held, which is released meanwhile.  False: it stays attached. */
static bool make_task(PtcMcpWork *w, PtcMcpTask *task)
{
    PtcMcpWorkList *tasks = &w->mcp->tasks;
    bool made = false;
    if (tasks->detached < w->mcp->config.max_tasks && !tasks->ending) {
        tasks->detached++;
        w->phase = PTC_WORK_MAKING;
        while (w->uses_outer)
            pthread_cond_wait(&tasks->changed, &tasks->lock);
        pthread_mutex_unlock(&tasks->lock);
        made = put_new_task(w, task) == PTC_MCP_BOOK_OK;
        if (made)
            ptc_mcp_mind_wake(w->mcp);
        pthread_mutex_lock(&tasks->lock);
        w->phase = made ? PTC_WORK_DETACHED : PTC_WORK_ATTACHED;
        tasks->detached -= !made;
        pthread_cond_broadcast(&tasks->changed);
    }
    return made;
}

/* With the lock held: waits until the work is done, or is a task. */
static bool await_work(PtcMcpWork *w, int64_t after_ms, PtcMcpTask *task)
{
    const PtcMcpConfig *c = &w->mcp->config;
    PtcMcpWorkList *tasks = &w->mcp->tasks;
    int64_t next = w->outer->begun_ns + after_ms * PTC_MS;
    int64_t last = w->outer->begun_ns + c->task_refused_ms * PTC_MS;
    while (!w->done) {
        if (w->client_gone && w->fate == PTC_WORK_WANTED)
            ptc_mcp_work_stop(w, PTC_WORK_CANCELLED);
        if (w->done || ptc_cond_wait_until(&tasks->changed, &tasks->lock,
                                           w->fate == PTC_WORK_WANTED ? next : INT64_MAX))
            continue;
        if (make_task(w, task))
            return true;
        next = ptc_clock_ns(NULL) + WORK_TRY_MS * PTC_MS;
        if (next > last)
            ptc_mcp_work_stop(w, PTC_WORK_LATE);
    }
    return false;
}

/* -------------------------------------------------------------------------------------- the call */

/* The answer of the inner call is that of the outer one. */
static void take_inner_answer(PtcMcpCall *outer, PtcMcpCall *inner)
{
    swap_bufs(&outer->answer, &inner->answer);
    outer->has_answer = inner->has_answer;
    outer->status = inner->status;
    outer->code = inner->code;
    outer->is_error = inner->is_error;
    outer->settled = inner->settled && inner->has_answer;
    memcpy(outer->reason, inner->reason, sizeof outer->reason);
}

static void refuse_task(PtcMcpCall *outer)
{
    ptc_mcp_refuse(outer, 200, PTC_MCP_BUSY, NULL,
                   "this call took too long and could not be made a task: there are too many, or "
                   "the store failed; what its program called may have taken effect");
}

static void answer_with_task(PtcMcpCall *outer, PtcMcpWork *w, const PtcMcpTask *task)
{
    ptc_mcp_result_begin_as(outer, "task");
    ptc_mcp_task_emit(&outer->answer, w->id, task, false);
    ptc_mcp_result_end(outer);
}

/* With the lock held: no hook of the outer call, nobody who sends to it. */
static void leave_outer(PtcMcpWork *w)
{
    PtcMcpWorkList *tasks = &w->mcp->tasks;
    PtcMcpCall *outer = w->outer;
    while (w->uses_outer)
        pthread_cond_wait(&tasks->changed, &tasks->lock);
    w->outer = NULL;
    pthread_mutex_unlock(&tasks->lock);
    ptc_mcp_on_cancel(outer, NULL, NULL);
    pthread_mutex_lock(&tasks->lock);
}

/* With the lock held: the work runs, or the call is answered. */
static void serve_outer(PtcMcpWork *w, PtcMcpCall *outer, bool is_task, int64_t after_ms,
                        PtcMcpTask *task)
{
    is_task = is_task || await_work(w, after_ms, task);
    leave_outer(w);
    if (is_task) {
        answer_with_task(outer, w, task);
        if (w->client_gone || ptc_mcp_cancelled(outer)) /* it will never know the id */
            ptc_mcp_work_stop(w, PTC_WORK_CANCELLED);
        return;
    }
    take_inner_answer(outer, w->inner);
    w->taken = true;
    pthread_cond_broadcast(&w->mcp->tasks.changed);
    if (w->fate == PTC_WORK_LATE && !outer->has_answer)
        refuse_task(outer);
}

/* A ticket that counts as waiting, or has waited, is used up by whoever runs. */
static void move_ticket(PtcMcpCall *from, PtcMcpCall *to)
{
    const char *owner = to->ticket.owner;
    to->ticket = from->ticket;
    to->ticket.owner = owner;
    to->begun_ns = from->begun_ns;
    ptc_gate_ticket(&from->ticket, from->owner, 0);
}

/* With the lock held. */
static void begin_work(PtcMcpWork *w, PtcMcpCall *outer, PtcMcpTask *task)
{
    int64_t after =
        outer->tool->task_after_ms ? outer->tool->task_after_ms : w->mcp->config.task_after_ms;
    bool at_once = after < 0;
    bool made = at_once && make_task(w, task);
    if (at_once && !made) {
        refuse_task(outer);
    } else if (ptc_mcp_work_start(w)) {
        serve_outer(w, outer, made, after, task);
    } else {
        if (made)
            w->mcp->tasks.detached--;
        ptc_mcp_refuse(outer, 200, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
    }
}

bool ptc_mcp_work_run(PtcMcpCall *outer)
{
    PtcMcp *mcp = outer->mcp;
    PtcMcpWorkList *tasks = &mcp->tasks;
    PtcMcpTask task;
    PtcMcpWork *w = ptc_mcp_work_new(mcp, outer->owner, ptc_buf_view(&outer->message));
    if (!w)
        return false;
    w->outer = outer;
    if (!(w->inner = ptc_mcp_work_begin(w))) {
        free_work(w);
        return false;
    }
    move_ticket(outer, w->inner);
    ptc_mcp_task_init(&task, mcp);
    ptc_mcp_on_cancel(outer, note_client_gone, w);
    pthread_mutex_lock(&tasks->lock);
    ptc_mcp_work_enter(w);
    begin_work(w, outer, &task);
    bool unused = w->refs == 1 && w->inner; /* it has never run */
    if (w->outer)
        leave_outer(w);
    if (unused) {
        ptc_gate_give_up(&mcp->gate, &w->inner->ticket);
        give_up_inner(w);
    }
    ptc_mcp_work_unref(w);
    pthread_mutex_unlock(&tasks->lock);
    ptc_mcp_task_deinit(&task);
    return true;
}

bool ptc_mcp_may_be_task(const PtcMcpCall *call)
{
    return call->work != NULL;
}
