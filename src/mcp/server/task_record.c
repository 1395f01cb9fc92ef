/* SPDX-License-Identifier: MIT
 * The record of a task: as bytes in the book, and as JSON for clients. */
#include "mcp/server/task_record.h"

#include <stdio.h>
#include <time.h>

#include "base/text/secret.h"

enum { TASK_FORMAT = 1, TASK_BYTES_MOST = 16 * PTC_MB - 1024, TASK_TRIES = 50 };

void ptc_mcp_task_init(PtcMcpTask *task, PtcMcp *mcp)
{
    *task = (PtcMcpTask){0};
    ptc_buf_init(&task->bytes, &mcp->mem, TASK_BYTES_MOST);
}

void ptc_mcp_task_deinit(PtcMcpTask *task)
{
    ptc_buf_deinit(&task->bytes);
}

/* ---------------------------------------------------------------------------------------- ids */

static const char task_letters[] = "abcdefghijklmnopqrstuvwxyz234567";

/* Five bits a letter; the last one has three. */
bool ptc_mcp_task_new_id(char id[PTC_MCP_TASK_ID + 1])
{
    uint8_t bits[16];
    unsigned have = 0, held = 0;
    if (!ptc_random_bytes(bits, sizeof bits))
        return false;
    *id++ = 't';
    *id++ = '-';
    for (size_t i = 0; i < sizeof bits; i++) {
        held = (held << 8 | bits[i]) & 0xfff;
        for (have += 8; have >= 5; have -= 5)
            *id++ = task_letters[held >> (have - 5) & 31];
    }
    *id++ = task_letters[held << (5 - have) & 31];
    *id = 0;
    return true;
}

bool ptc_mcp_task_is_id(PtcText id)
{
    if (id.len != PTC_MCP_TASK_ID || memcmp(id.bytes, "t-", 2) != 0)
        return false;
    for (size_t i = 2; i < id.len; i++)
        if (!id.bytes[i] || !strchr(task_letters, id.bytes[i]))
            return false;
    return true;
}

/* --------------------------------------------------------------------------------------- bytes */

/* One record is read by whoever runs the same program, so numbers are as the machine has them. */
typedef struct {
    uint8_t format, status, cancel, ask_count;
    uint32_t changes, asked, zero;
    uint8_t node[PTC_MCP_TASK_NODE];
    int64_t times[5];
} TaskHead;

static void put_task_text(PtcBuf *out, PtcText text)
{
    uint32_t len = text.bytes ? (uint32_t)text.len : UINT32_MAX;
    ptc_buf_add(out, &len, sizeof len);
    if (text.bytes)
        ptc_buf_add(out, text.bytes, text.len);
}

static bool put_task(const PtcMcpTask *task, PtcBuf *out)
{
    TaskHead head = {.format = TASK_FORMAT,
                     .status = (uint8_t)task->status,
                     .cancel = task->cancel,
                     .ask_count = (uint8_t)task->ask_count,
                     .changes = task->changes,
                     .asked = task->asked,
                     .times = {task->made_ms, task->changed_ms, task->lease_ms, task->ends_ms,
                               task->expires_ms}};
    memcpy(head.node, task->node, sizeof head.node);
    ptc_buf_add(out, &head, sizeof head);
    put_task_text(out, task->message);
    put_task_text(out, task->outcome);
    put_task_text(out, task->state);
    for (uint32_t i = 0; i < task->ask_count; i++) {
        put_task_text(out, task->asks[i].key);
        put_task_text(out, task->asks[i].request);
        put_task_text(out, task->asks[i].answer);
    }
    return ptc_buf_ok(out);
}

static bool get_task_text(PtcText *from, PtcText *text)
{
    uint32_t len;
    *text = (PtcText){NULL, 0};
    if (from->len < sizeof len)
        return false;
    memcpy(&len, from->bytes, sizeof len);
    from->bytes += sizeof len;
    from->len -= sizeof len;
    if (len == UINT32_MAX)
        return true;
    if (len > from->len)
        return false;
    *text = (PtcText){from->bytes, len};
    from->bytes += len;
    from->len -= len;
    return true;
}

/* False: not what put_task wrote, or in a newer way. */
static bool get_task(PtcMcpTask *task)
{
    TaskHead head;
    PtcText from = ptc_buf_view(&task->bytes);
    if (from.len < sizeof head)
        return false;
    memcpy(&head, from.bytes, sizeof head);
    from = (PtcText){from.bytes + sizeof head, from.len - sizeof head};
    task->status = (PtcMcpTaskStatus)head.status;
    task->cancel = head.cancel != 0;
    task->ask_count = head.ask_count;
    task->changes = head.changes;
    task->asked = head.asked;
    memcpy(task->node, head.node, sizeof head.node);
    int64_t *times[] = {&task->made_ms, &task->changed_ms, &task->lease_ms, &task->ends_ms,
                        &task->expires_ms};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        *times[i] = head.times[i];
    bool ok = head.format == TASK_FORMAT && head.status <= PTC_MCP_TASK_CANCELLED &&
              head.ask_count <= PTC_MCP_TASK_ASKS && get_task_text(&from, &task->message) &&
              get_task_text(&from, &task->outcome) && get_task_text(&from, &task->state);
    for (uint32_t i = 0; ok && i < task->ask_count; i++)
        ok = get_task_text(&from, &task->asks[i].key) &&
             get_task_text(&from, &task->asks[i].request) &&
             get_task_text(&from, &task->asks[i].answer);
    return ok;
}

/* ------------------------------------------------------------------------------------- the book */

bool ptc_mcp_task_is_over(const PtcMcpTask *task)
{
    return task->status >= PTC_MCP_TASK_COMPLETED;
}

uint32_t ptc_mcp_task_open(const PtcMcpTask *task)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < task->ask_count; i++)
        open += !task->asks[i].answer.bytes;
    return open;
}

void ptc_mcp_task_end(PtcMcpTask *task, PtcMcpTaskStatus status, PtcText outcome)
{
    task->status = status;
    task->outcome = outcome;
    task->state = task->message = (PtcText){NULL, 0};
    task->asked += task->ask_count;
    task->ask_count = 0;
}

static PtcMcpBookAnswer get_task_record(PtcMcp *mcp, const char *owner, const char *id,
                                        PtcMcpTask *task)
{
    const PtcMcpBook *book = mcp->config.book;
    ptc_buf_clear(&task->bytes);
    task->quiet = false;
    PtcMcpBookAnswer got = book->get(book->user, owner, id, &task->bytes, &task->version);
    return got == PTC_MCP_BOOK_OK && !get_task(task) ? PTC_MCP_BOOK_FAILED : got;
}

PtcMcpBookAnswer ptc_mcp_task_write(PtcMcp *mcp, const char *owner, const char *id,
                                    PtcMcpTask *task)
{
    const PtcMcpBook *book = mcp->config.book;
    int64_t last = task->ends_ms + 2 * mcp->config.task_lease_ms; /* by then it has ended */
    bool stays = ptc_mcp_task_is_over(task) || task->expires_ms > last;
    PtcBuf bytes;
    ptc_buf_init(&bytes, &mcp->mem, TASK_BYTES_MOST);
    PtcMcpBookAnswer put = put_task(task, &bytes)
                               ? book->put(book->user, owner, id, ptc_buf_view(&bytes),
                                           stays ? task->expires_ms : last, &task->version)
                           : bytes.full ? PTC_MCP_BOOK_FULL
                                        : PTC_MCP_BOOK_FAILED;
    ptc_buf_deinit(&bytes);
    return put;
}

/* Nobody runs it any more, or for too long. */
static bool end_task_left_alone(void *user, PtcMcpTask *task)
{
    const PtcMcp *mcp = user;
    int64_t now = mcp->config.book->now_ms(mcp->config.book->user);
    if (ptc_mcp_task_is_over(task))
        return false;
    if (now > task->ends_ms + mcp->config.task_lease_ms ||
        (now > task->ends_ms && task->status == PTC_MCP_TASK_ASKING))
        ptc_mcp_task_end(task, PTC_MCP_TASK_FAILED,
                         PTC_TEXT("{\"code\":-32603,\"message\":\"the time for this task is "
                                  "over\"}"));
    else if (task->status == PTC_MCP_TASK_WORKING && now > task->lease_ms)
        ptc_mcp_task_end(task, PTC_MCP_TASK_FAILED,
                         PTC_TEXT("{\"code\":-32603,\"message\":\"the server that ran this task "
                                  "has ended; what its program called may have taken "
                                  "effect\"}"));
    return ptc_mcp_task_is_over(task);
}

PtcMcpBookAnswer ptc_mcp_task_read(PtcMcp *mcp, const char *owner, const char *id, PtcMcpTask *task)
{
    return ptc_mcp_task_change(mcp, owner, id, task, end_task_left_alone, mcp);
}

PtcMcpBookAnswer ptc_mcp_task_change(PtcMcp *mcp, const char *owner, const char *id,
                                     PtcMcpTask *task, PtcMcpTaskChange *change, void *user)
{
    const PtcMcpBook *book = mcp->config.book;
    PtcMcpBookAnswer done = PTC_MCP_BOOK_CONFLICT;
    for (int i = 0; done == PTC_MCP_BOOK_CONFLICT && i < TASK_TRIES; i++) {
        done = get_task_record(mcp, owner, id, task);
        uint32_t before = task->changes;
        if (done != PTC_MCP_BOOK_OK || !change(user, task))
            return done;
        if (!task->quiet) {
            task->changes = before + 1;
            task->changed_ms = book->now_ms(book->user);
        }
        done = ptc_mcp_task_write(mcp, owner, id, task);
        if (done == PTC_MCP_BOOK_OK && !task->quiet)
            ptc_mcp_mind_wake(mcp);
    }
    return done == PTC_MCP_BOOK_CONFLICT ? PTC_MCP_BOOK_FAILED : done;
}

/* ----------------------------------------------------------------------------------------- JSON */

static const char *const task_words[] = {[PTC_MCP_TASK_WORKING] = "working",
                                         [PTC_MCP_TASK_ASKING] = "input_required",
                                         [PTC_MCP_TASK_COMPLETED] = "completed",
                                         [PTC_MCP_TASK_FAILED] = "failed",
                                         [PTC_MCP_TASK_CANCELLED] = "cancelled"};

static void emit_task_time(PtcBuf *out, const char *key, int64_t ms)
{
    char day[32], text[48];
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text, sizeof text, "%s.%03dZ", day, (int)(ms % 1000));
    ptc_emit_field_cstr(out, key, text);
}

static void emit_task_asks(PtcBuf *out, const PtcMcpTask *task)
{
    char key[24];
    ptc_emit_key(out, "inputRequests");
    ptc_emit_object(out);
    for (uint32_t i = 0; i < task->ask_count; i++) {
        snprintf(key, sizeof key, "q%u", (unsigned)(task->asked + i + 1));
        if (!task->asks[i].answer.bytes)
            ptc_emit_field_raw(out, key, task->asks[i].request);
    }
    ptc_emit_object_end(out);
}

/* Questions that are all answered are work for us, whoever of us will do it. */
static PtcMcpTaskStatus told_status(const PtcMcpTask *task)
{
    return task->status == PTC_MCP_TASK_ASKING && !ptc_mcp_task_open(task) ? PTC_MCP_TASK_WORKING
                                                                           : task->status;
}

void ptc_mcp_task_emit(PtcBuf *out, const char *id, const PtcMcpTask *task, bool all)
{
    PtcMcpTaskStatus status = told_status(task);
    ptc_emit_field_cstr(out, "taskId", id);
    ptc_emit_field_cstr(out, "status", task_words[status]);
    if (task->message.len)
        ptc_emit_field_text(out, "statusMessage", task->message);
    emit_task_time(out, "createdAt", task->made_ms);
    emit_task_time(out, "lastUpdatedAt", task->changed_ms);
    ptc_emit_field_int(out, "ttlMs", task->expires_ms - task->made_ms);
    ptc_emit_field_int(out, "pollIntervalMs", PTC_MCP_TASK_POLL_MS);
    if (!all)
        return;
    if (status == PTC_MCP_TASK_ASKING)
        emit_task_asks(out, task);
    if (status == PTC_MCP_TASK_COMPLETED)
        ptc_emit_field_raw(out, "result", task->outcome);
    if (status == PTC_MCP_TASK_FAILED)
        ptc_emit_field_raw(out, "error", task->outcome);
}
