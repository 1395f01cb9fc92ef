/* SPDX-License-Identifier: MIT
 * tasks/get, tasks/update and tasks/cancel, and which tasks a client listens for.  What always holds: the id of nobody,
 * of another owner and of a task that is forgotten are refused in the same words. */
#include "mcp/server/task_record.h"
#include "value/coll/vec.h"

bool ptc_mcp_tasks_declared(PtcMcpCall *call)
{
    PtcValue all = ptc_map_field(&call->heap, call->capabilities, "extensions");
    PtcValue one = all != PTC_NONE && ptc_is_map(all)
                       ? ptc_map_field(&call->heap, all, PTC_MCP_TASKS_EXTENSION)
                       : PTC_NONE;
    return call->era == PTC_MCP_MODERN && one != PTC_NONE && ptc_is_map(one);
}

void ptc_mcp_need_tasks(PtcMcpCall *call)
{
    bool modern = call->era == PTC_MCP_MODERN;
    ptc_mcp_error(call, modern ? PTC_MCP_MISSING_CAPABILITY : PTC_MCP_INVALID_PARAMS,
                  "the client must declare the extension " PTC_MCP_TASKS_EXTENSION,
                  "{\"requiredCapabilities\":{\"extensions\":{\"" PTC_MCP_TASKS_EXTENSION
                  "\":{}}}}");
}

static void refuse_task_id(PtcMcpCall *call)
{
    ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL,
                   "\"taskId\" is no task of yours, or it is over and forgotten");
}

/* The id of the call, ending in NUL; false: the call was refused. */
static bool take_task_id(PtcMcpCall *call, char id[PTC_MCP_TASK_ID + 1])
{
    PtcText text = ptc_str_text(ptc_map_field(&call->heap, call->params, "taskId"));
    if (!text.bytes || !ptc_mcp_task_is_id(text)) {
        refuse_task_id(call);
        return false;
    }
    memcpy(id, text.bytes, text.len);
    id[text.len] = 0;
    return true;
}

static void answer_from_book(PtcMcpCall *call, PtcMcpBookAnswer got)
{
    if (got == PTC_MCP_BOOK_ABSENT)
        refuse_task_id(call);
    else if (got != PTC_MCP_BOOK_OK)
        ptc_mcp_refuse(call, 200, PTC_MCP_INTERNAL_ERROR, NULL,
                       "store_failed: the tasks cannot be read or written now; try again a little "
                       "later");
}

static void begin_task_method(PtcMcpCall *call, PtcMcpHandler *handler)
{
    if (!ptc_mcp_tasks_declared(call))
        ptc_mcp_need_tasks(call);
    else
        ptc_mcp_will_run(call, PTC_MCP_BODY_OWN, handler, NULL);
}

/* ------------------------------------------------------------------------------------ tasks/get */

/* If its questions were answered through a node that has ended since, it goes on here. */
static void get_one_task(PtcMcpCall *call)
{
    char id[PTC_MCP_TASK_ID + 1];
    PtcMcpTask task;
    if (!take_task_id(call, id))
        return;
    ptc_mcp_task_init(&task, call->mcp);
    PtcMcpBookAnswer got = ptc_mcp_task_read(call->mcp, call->owner, id, &task);
    answer_from_book(call, got);
    if (got == PTC_MCP_BOOK_OK) {
        ptc_mcp_work_resume(call->mcp, call->owner, id, &task);
        ptc_mcp_result_begin(call);
        ptc_mcp_task_emit(&call->answer, id, &task, true);
        ptc_mcp_result_end(call);
    }
    ptc_mcp_task_deinit(&task);
}

void ptc_mcp_do_task_get(PtcMcpCall *call)
{
    begin_task_method(call, get_one_task);
}

/* --------------------------------------------------------------------------------- tasks/update */

/* The number of an open question by its key, from 1; 0: there is none. */
static uint32_t find_open_ask(const PtcMcpTask *task, PtcText key)
{
    uint64_t n = 0;
    if (key.len < 2 || key.len > 10 || key.bytes[0] != 'q' || key.bytes[1] == '0')
        return 0;
    for (size_t i = 1; i < key.len; i++) {
        if (key.bytes[i] < '0' || key.bytes[i] > '9')
            return 0;
        n = n * 10 + (uint64_t)(key.bytes[i] - '0');
    }
    if (n <= task->asked || n > (uint64_t)task->asked + task->ask_count)
        return 0;
    uint32_t nth = (uint32_t)(n - task->asked);
    return task->asks[nth - 1].answer.bytes ? 0 : nth;
}

/* PtcMcpTaskChange: answers to questions that are not open are nothing. */
static bool add_answers(void *user, PtcMcpTask *task)
{
    PtcMcpCall *call = user;
    PtcValue key, value;
    size_t pos = 0;
    bool any = false;
    if (task->status != PTC_MCP_TASK_ASKING)
        return false;
    while (ptc_map_next(call->replies, &pos, &key, &value)) {
        uint32_t nth = find_open_ask(task, ptc_str_text(key));
        if (!nth)
            continue;
        ptc_buf_clear(&call->scratch);
        PtcValue text = ptc_emit_value(&call->scratch, &call->heap, value)
                            ? ptc_str_new(&call->heap, call->scratch.data, call->scratch.len)
                            : PTC_NONE;
        if (text == PTC_NONE)
            return false;
        task->asks[nth - 1].answer = ptc_str_text(text);
        any = true;
    }
    return any;
}

static void update_one_task(PtcMcpCall *call)
{
    char id[PTC_MCP_TASK_ID + 1];
    PtcMcpTask task;
    if (!take_task_id(call, id))
        return;
    ptc_mcp_task_init(&task, call->mcp);
    PtcMcpBookAnswer got = ptc_mcp_task_read(call->mcp, call->owner, id, &task);
    if (got == PTC_MCP_BOOK_OK)
        got = ptc_mcp_task_change(call->mcp, call->owner, id, &task, add_answers, call);
    answer_from_book(call, got);
    if (got == PTC_MCP_BOOK_OK) {
        ptc_mcp_work_resume(call->mcp, call->owner, id, &task);
        ptc_mcp_empty_result(call);
    }
    ptc_mcp_task_deinit(&task);
}

void ptc_mcp_do_task_update(PtcMcpCall *call)
{
    PtcValue replies = ptc_map_field(&call->heap, call->params, "inputResponses"), key, value;
    size_t pos = 0;
    bool good = replies != PTC_NONE && ptc_is_map(replies);
    while (good && ptc_map_next(replies, &pos, &key, &value))
        good = ptc_is_map(value);
    call->replies = replies;
    begin_task_method(call, update_one_task);
    if (!good)
        ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL,
                       "\"inputResponses\" must be an object of objects");
}

/* --------------------------------------------------------------------------------- tasks/cancel */

/* PtcMcpTaskChange: whoever runs it sees the flag; if nobody does, it ends here. */
static bool cancel_task(void *user, PtcMcpTask *task)
{
    (void)user;
    if (ptc_mcp_task_is_over(task) || task->cancel)
        return false;
    if (task->status == PTC_MCP_TASK_ASKING)
        ptc_mcp_task_end(task, PTC_MCP_TASK_CANCELLED, (PtcText){NULL, 0});
    else
        task->cancel = true;
    return true;
}

static void cancel_one_task(PtcMcpCall *call)
{
    char id[PTC_MCP_TASK_ID + 1];
    PtcMcpTask task;
    if (!take_task_id(call, id))
        return;
    ptc_mcp_task_init(&task, call->mcp);
    PtcMcpBookAnswer got = ptc_mcp_task_read(call->mcp, call->owner, id, &task);
    if (got == PTC_MCP_BOOK_OK)
        got = ptc_mcp_task_change(call->mcp, call->owner, id, &task, cancel_task, NULL);
    answer_from_book(call, got);
    if (got == PTC_MCP_BOOK_OK)
        ptc_mcp_empty_result(call);
    ptc_mcp_task_deinit(&task);
}

void ptc_mcp_do_task_cancel(PtcMcpCall *call)
{
    begin_task_method(call, cancel_one_task);
}

/* -------------------------------------------------------------------------------- subscriptions */

static void listen_for_task(PtcMcpCall *call, PtcText text)
{
    char id[PTC_MCP_TASK_ID + 1];
    PtcMcpTask task;
    if (!text.bytes || !ptc_mcp_task_is_id(text))
        return;
    memcpy(id, text.bytes, text.len);
    id[text.len] = 0;
    ptc_mcp_task_init(&task, call->mcp);
    if (ptc_mcp_task_read(call->mcp, call->owner, id, &task) == PTC_MCP_BOOK_OK)
        (void)!ptc_mcp_uris_add(&call->tasks, text);
    ptc_mcp_task_deinit(&task);
}

bool ptc_mcp_take_task_ids(PtcMcpCall *call, PtcValue list)
{
    bool good = ptc_is_sequential(list) && ptc_seq_count(list) <= PTC_MCP_TASK_LISTEN;
    if (!ptc_mcp_tasks_declared(call)) {
        ptc_mcp_need_tasks(call);
        return false;
    }
    for (size_t i = 0; good && i < ptc_seq_count(list); i++)
        listen_for_task(call, ptc_str_text(ptc_seq_nth(list, i)));
    if (!good)
        ptc_mcp_refuse(call, 200, PTC_MCP_INVALID_PARAMS, NULL,
                       "\"taskIds\" must be an array of up to %d ids", PTC_MCP_TASK_LISTEN);
    if (!good || !call->tasks.count)
        return good;
    size_t size = call->tasks.count * sizeof *call->told;
    if ((call->told = ptc_mem_alloc(&call->mcp->mem, size))) {
        memset(call->told, 0, size);
        return true;
    }
    call->tasks.count = 0;
    ptc_mcp_refuse(call, 503, PTC_MCP_INTERNAL_ERROR, NULL, "out of memory");
    return false;
}
