/* SPDX-License-Identifier: MIT
 * test_mcp_background_task.c - tasks on threads of their own: from call to call, left behind, and with memory that runs
 * out at every allocation. */
#include "mcp_help.h"

#include "base/os/cancel.h"
#include "mcp/app/suspended.h"

static PtcMem mem;
static PtcBackgroundTasks backgrounds;
static int told; /* lines of progress that the call heard */

static void hear_line(PtcRemoteListener *self, PtcText line)
{
    (void)self;
    told += ptc_text_is(line, "a: 1");
}

/* The task: tells how far it is, asks, and says whether somebody answered. */
static void do_task(void *user, PtcAppTask *task)
{
    PtcBuf *message = &task->message;
    task->listener->progress(task->listener, PTC_TEXT("a: 1"));
    task->listener->called(task->listener, PTC_TEXT("calling a/b"));
    bool answered = task->ask(task, user);
    ptc_buf_add_cstr(message, answered                      ? "answered "
                              : ptc_cancelled(task->cancel) ? "cancelled "
                                                            : "over ");
    ptc_buf_add(message, task->task.bytes, task->task.len);
    ptc_buf_add_cstr(message, task->owner);
}

static PtcBackgroundTask *begin(PtcMcpCall *call)
{
    static const PtcAppTasks tasks = {.run = do_task, .user = &told};
    PtcBuf *list[PTC_BACKGROUND_BUFS];
    PtcAppTask task = {.owner = "ann", .task = PTC_TEXT("mow "), .context = PTC_TEXT("{}")};
    ptc_background_task_bufs(&task, list);
    for (size_t i = 0; i < PTC_BACKGROUND_BUFS; i++)
        ptc_buf_init(list[i], &mem, 1000);
    return ptc_background_task_new(&backgrounds, &tasks, &task, call);
}

/* With the nth allocation failing; true when it was reached. */
static bool try_background(PtcMcpCall *call, uint64_t n)
{
    PtcRemoteListener listener = {hear_line, hear_line};
    ptc_mem_fail_at(&mem, n);
    PtcBackgroundTask *e = begin(call);
    bool asks = e && ptc_background_task_await(e, call, &listener) == PTC_BACKGROUND_ASKS;
    CHECK(!e || (asks && e->run == &told));
    if (asks) {
        ptc_background_task_go_on(e, call);
        CHECK(ptc_background_task_await(e, call, &listener) == PTC_BACKGROUND_DONE);
    }
    bool reached = atomic_load(&mem.count) >= n;
    ptc_mem_fail_at(&mem, 0);
    if (e && ptc_buf_ok(&e->task.message))
        CHECK_STR(ptc_buf_text(&e->task.message), "answered mow ann");
    CHECK(e || reached);
    if (e)
        ptc_background_task_free(e);
    return reached;
}

static void row_no_memory(PtcMcpCall *call)
{
    uint64_t n = 1;
    while (n < 50 && try_background(call, n))
        n++;
    CHECK(n > 2 && n < 50);
}

/* It asks, and nobody wants it any more: it ends by itself, and whoever waits for all of them waits for it. */
static void row_left(PtcMcpCall *call)
{
    for (int i = 0; i < 3; i++) {
        PtcBackgroundTask *e = begin(call);
        CHECK(e && ptc_background_task_await(e, call, NULL) == PTC_BACKGROUND_ASKS);
        if (e)
            ptc_background_task_free(e);
    }
}

/* The call is over while the task works: what it says reaches nobody. */
static void row_nobody(PtcMcpCall *call)
{
    PtcBackgroundTask *e = begin(call);
    int before = told;
    CHECK(e && ptc_background_task_await(e, call, NULL) == PTC_BACKGROUND_ASKS);
    if (!e)
        return;
    e->listener.progress(&e->listener, PTC_TEXT("a: 1"));
    e->listener.called(&e->listener, PTC_TEXT("a/b done"));
    CHECK(told == before);
    ptc_background_task_free(e);
}

/* Nobody answers in time: the row outlives the task, to say what had taken effect, and ends it once. */
static void row_expired(PtcMcpCall *call)
{
    PtcWhy why;
    PtcRemote remote = {.begin = NULL};
    PtcStore *store = ptc_store_open(&(PtcStoreConfig){.url = NULL}, &why);
    PtcSuspended *table = ptc_suspended_new(&mem, &remote, store, 60000);
    PtcTaskIn in = {.program = PTC_TEXT("")};
    PtcSuspendedNew new = {.owner = "ann", .is_task = true, .in = &in};
    for (int i = 0; i < 3; i++) {
        PtcBackgroundTask *e = begin(call);
        PtcSuspendedRow *row = ptc_suspended_add(table, &new);
        CHECK(e && row && ptc_background_task_await(e, call, NULL) == PTC_BACKGROUND_ASKS);
        if (!e || !row)
            return;
        row->here.background = e;
        row->here.run = e->run;
        row->ends_ms = ptc_clock_wall_ms() - 1;
        CHECK(ptc_suspended_wait(table, row) && table->here);
        ptc_suspended_sweep(table);
        CHECK(!table->here);
    }
    ptc_suspended_free(table);
    ptc_store_free(store);
}

static const PtcMcpTool rows[] = {{.name = "no_memory", .handler = row_no_memory},
                                  {.name = "expired", .handler = row_expired},
                                  {.name = "left", .handler = row_left},
                                  {.name = "nobody", .handler = row_nobody}};

int main(void)
{
    PtcMcpConfig config = {
        .name = "t", .version = "1", .tools = rows, .tool_count = sizeof rows / sizeof *rows};
    PtcMcp *mcp = help_server(config);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char message[200];
        ptc_background_tasks_init(&backgrounds, &mem);
        snprintf(message, sizeof message, REQUEST("1", "tools/call", "\"name\":\"%s\""),
                 rows[i].name);
        CHECK(strstr(tell(mcp, NULL, message), "\"content\""));
        ptc_background_tasks_deinit(&backgrounds);
        CHECK(atomic_load(&mem.used) == 0);
    }
    ptc_mcp_free(mcp);
    return check_done("mcp_errand");
}
