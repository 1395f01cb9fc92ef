/* SPDX-License-Identifier: MIT
 * The thread that looks after the tasks of this node: it renews their leases, sees that another node was asked to
 * cancel them or brought answers, ends those whose time is over, and tells clients that listen.  What always holds: it
 * waits for no client and no handler, and looks at least each PTC_MCP_TASK_POLL_MS while there is anything to see. */
#include "base/os/cond.h"
#include "base/os/thread.h"
#include "mcp/server/task_work.h"

enum { MIND_STACK = 512 * PTC_KB, MIND_IDS_BYTES = PTC_MB };

/* What is to be done about a work. */
typedef enum { MIND_NOTHING, MIND_LOST, MIND_CANCEL, MIND_LATE, MIND_GO_ON } MindVerdict;

typedef struct {
    const PtcMcp *mcp;
    bool parked, noted;
    bool mine; /* no other node has taken it */
    char message[PTC_MCP_TASK_MESSAGE];
    MindVerdict verdict;
} MindLook;

static MindVerdict judge_task(MindLook *look, const PtcMcpTask *task, int64_t now)
{
    look->mine = memcmp(task->node, look->mcp->tasks.node, sizeof task->node) == 0;
    if (ptc_mcp_task_is_over(task) || !look->mine)
        return MIND_LOST;
    if (task->cancel)
        return MIND_CANCEL;
    if (now > task->ends_ms)
        return MIND_LATE;
    return look->parked && task->status == PTC_MCP_TASK_ASKING && !ptc_mcp_task_open(task)
               ? MIND_GO_ON
               : MIND_NOTHING;
}

/* PtcMcpTaskChange */
static bool look_at_task(void *user, PtcMcpTask *task)
{
    MindLook *look = user;
    const PtcMcpBook *book = look->mcp->config.book;
    int64_t now = book->now_ms(book->user), lease = look->mcp->config.task_lease_ms;
    look->verdict = judge_task(look, task, now);
    if (look->verdict == MIND_LATE && look->parked)
        ptc_mcp_task_end(task, PTC_MCP_TASK_FAILED,
                         PTC_TEXT("{\"code\":-32603,\"message\":\"nobody has answered in "
                                  "time\"}"));
    if (look->verdict != MIND_NOTHING)
        return look->verdict == MIND_LATE && look->parked;
    task->quiet = !look->noted;
    if (look->noted)
        task->message = ptc_text_cstr(look->message);
    else if (task->lease_ms - now > lease / 3 * 2)
        return false;
    task->lease_ms = now + lease;
    return true;
}

/* Without the lock; the caller has a reference.  False: it is not to be looked at any more. */
static bool look_at_work(PtcMcpWork *w, MindLook *look)
{
    PtcMcpTask task;
    ptc_mcp_task_init(&task, w->mcp);
    PtcMcpBookAnswer got = ptc_mcp_task_change(w->mcp, w->owner, w->id, &task, look_at_task, look);
    ptc_mcp_task_deinit(&task);
    if (got == PTC_MCP_BOOK_ABSENT)
        look->verdict = MIND_LOST;
    else if (got != PTC_MCP_BOOK_OK)
        look->verdict = MIND_NOTHING;
    if (look->verdict == MIND_GO_ON)
        ptc_mcp_work_go_on(w);
    bool stays = !look->parked || look->verdict == MIND_NOTHING || look->verdict == MIND_GO_ON;
    if (!stays && look->mine)
        ptc_mcp_work_drop(w);
    return stays;
}

/* With the lock held, which is released meanwhile; the caller has a reference. */
static void mind_work(PtcMcpWork *w)
{
    static const int fates[] = {[MIND_LOST] = PTC_WORK_LOST,
                                [MIND_CANCEL] = PTC_WORK_CANCELLED,
                                [MIND_LATE] = PTC_WORK_LATE};
    MindLook look = {.mcp = w->mcp, .parked = w->phase == PTC_WORK_PARKED, .noted = w->noted};
    memcpy(look.message, w->message, sizeof look.message);
    w->noted = false;
    pthread_mutex_unlock(&w->mcp->tasks.lock);
    bool stays = look_at_work(w, &look);
    pthread_mutex_lock(&w->mcp->tasks.lock);
    if (!stays && w->phase == PTC_WORK_PARKED) {
        w->phase = PTC_WORK_DETACHED;
        ptc_mcp_work_unref(w); /* that of being parked */
    } else if (w->phase == PTC_WORK_DETACHED && !look.parked && look.verdict != MIND_NOTHING &&
               look.verdict != MIND_GO_ON) {
        ptc_mcp_work_stop(w, fates[look.verdict]);
    }
}

/* With the lock held.  How many there are to be looked after. */
static unsigned mind_works(PtcMcp *mcp)
{
    unsigned count = 0;
    for (PtcMcpWork *w = mcp->tasks.works, *next; w; w = next) {
        w->refs++;
        if (w->phase == PTC_WORK_DETACHED || w->phase == PTC_WORK_PARKED) {
            count++;
            mind_work(w);
        }
        next = w->next;
        ptc_mcp_work_unref(w);
    }
    return count;
}

/* -------------------------------------------------------------------------------------- telling */

/* With the lock of the server held: owner and id of each task that a client wants to hear of. */
static unsigned gather_told(PtcMcp *mcp, PtcBuf *out)
{
    unsigned count = 0;
    for (PtcMcpCall *call = mcp->listeners; call; call = call->listen_next) {
        const char *id = call->tasks.text.data;
        for (size_t i = 0; i < call->tasks.count; i++, id += strlen(id) + 1) {
            if (call->told[i] == UINT32_MAX)
                continue;
            count++;
            ptc_buf_add(out, call->owner, strlen(call->owner) + 1);
            ptc_buf_add(out, id, strlen(id) + 1);
        }
    }
    return count;
}

/* Under the lock of the server; a task that is gone or has ended is told no more. */
static void tell_task_listener(PtcMcpCall *call, const char *owner, const char *id,
                               const PtcMcpTask *task, PtcBuf *out)
{
    const char *own = call->tasks.text.data;
    if (strcmp(call->owner, owner) != 0)
        return;
    for (size_t i = 0; i < call->tasks.count; i++, own += strlen(own) + 1) {
        if (strcmp(own, id) != 0 || (task && call->told[i] == task->changes))
            continue;
        if (task && call->told[i] != UINT32_MAX)
            ptc_mcp_tell_task(call, id, task, out);
        if (call->told[i] != UINT32_MAX)
            call->told[i] = !task || ptc_mcp_task_is_over(task) ? UINT32_MAX : task->changes;
    }
}

static void tell_task_listeners(PtcMcp *mcp, const char *owner, const char *id)
{
    PtcMcpTask task;
    PtcBuf out;
    ptc_mcp_task_init(&task, mcp);
    PtcMcpBookAnswer got = ptc_mcp_task_read(mcp, owner, id, &task);
    ptc_buf_init(&out, &mcp->mem, mcp->config.max_answer_bytes);
    pthread_mutex_lock(&mcp->lock);
    for (PtcMcpCall *call = got == PTC_MCP_BOOK_FAILED ? NULL : mcp->listeners; call;
         call = call->listen_next)
        tell_task_listener(call, owner, id, got == PTC_MCP_BOOK_OK ? &task : NULL, &out);
    pthread_mutex_unlock(&mcp->lock);
    ptc_buf_deinit(&out);
    ptc_mcp_task_deinit(&task);
}

/* Without the lock.  How many there are to be told about. */
static unsigned tell_about_tasks(PtcMcp *mcp)
{
    PtcBuf ids;
    ptc_buf_init(&ids, &mcp->mem, MIND_IDS_BYTES);
    pthread_mutex_lock(&mcp->lock);
    unsigned count = gather_told(mcp, &ids);
    pthread_mutex_unlock(&mcp->lock);
    for (size_t at = 0; at < ids.len && ids.data[ids.len - 1] == 0;) {
        const char *owner = ids.data + at, *id = owner + strlen(owner) + 1;
        if ((size_t)(id - ids.data) >= ids.len)
            break;
        tell_task_listeners(mcp, owner, id);
        at = (size_t)(id - ids.data) + strlen(id) + 1;
    }
    ptc_buf_deinit(&ids);
    return count;
}

/* ----------------------------------------------------------------------------------- the thread */

static void *mind_tasks(void *user)
{
    PtcMcp *mcp = user;
    PtcMcpWorkList *tasks = &mcp->tasks;
    pthread_mutex_lock(&tasks->lock);
    while (!tasks->ending) {
        tasks->woken = false;
        unsigned count = mind_works(mcp);
        pthread_mutex_unlock(&tasks->lock);
        count += tell_about_tasks(mcp);
        pthread_mutex_lock(&tasks->lock);
        int64_t until = count ? ptc_clock_ns(NULL) + PTC_MCP_TASK_POLL_MS * PTC_MS : INT64_MAX;
        while (!tasks->woken && !tasks->ending &&
               ptc_cond_wait_until(&tasks->changed, &tasks->lock, until))
            continue;
    }
    pthread_mutex_unlock(&tasks->lock);
    return NULL;
}

void ptc_mcp_mind_wake(PtcMcp *mcp)
{
    PtcMcpWorkList *tasks = &mcp->tasks;
    pthread_mutex_lock(&tasks->lock);
    if (!tasks->has_mind && !tasks->ending)
        tasks->has_mind = ptc_thread_start(&tasks->mind, MIND_STACK, mind_tasks, mcp);
    tasks->woken = true;
    pthread_cond_broadcast(&tasks->changed);
    pthread_mutex_unlock(&tasks->lock);
}

unsigned ptc_mcp_tasks_to_await(PtcMcp *mcp)
{
    pthread_mutex_lock(&mcp->tasks.lock);
    unsigned count = mcp->config.book && mcp->config.book->shared ? mcp->tasks.detached : 0;
    pthread_mutex_unlock(&mcp->tasks.lock);
    return count;
}

void ptc_mcp_tasks_init(PtcMcp *mcp)
{
    pthread_mutex_init(&mcp->tasks.lock, NULL);
    ptc_cond_init(&mcp->tasks.changed);
}

/* With the lock held: those that run are cancelled, those that wait are left to others. */
static void end_works(PtcMcp *mcp)
{
    for (PtcMcpWork *w = mcp->tasks.works, *next; w; w = next) {
        w->refs++;
        if (w->phase == PTC_WORK_PARKED) {
            w->phase = PTC_WORK_DETACHED;
            w->refs--;
        }
        ptc_mcp_work_stop(w, PTC_WORK_WANTED);
        next = w->next;
        ptc_mcp_work_unref(w);
    }
}

void ptc_mcp_end_tasks(PtcMcp *mcp)
{
    PtcMcpWorkList *tasks = &mcp->tasks;
    pthread_mutex_lock(&tasks->lock);
    bool first = !tasks->ending;
    tasks->ending = true;
    pthread_cond_broadcast(&tasks->changed);
    if (first)
        end_works(mcp);
    while (tasks->threads)
        pthread_cond_wait(&tasks->changed, &tasks->lock);
    bool has_mind = tasks->has_mind;
    tasks->has_mind = false;
    pthread_mutex_unlock(&tasks->lock);
    if (has_mind)
        pthread_join(tasks->mind, NULL);
}

void ptc_mcp_tasks_deinit(PtcMcp *mcp)
{
    ptc_mcp_end_tasks(mcp);
    pthread_cond_destroy(&mcp->tasks.changed);
    pthread_mutex_destroy(&mcp->tasks.lock);
}
