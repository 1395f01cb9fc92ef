/* SPDX-License-Identifier: MIT
 * Tasks of the MCP library with a book of our own: memory that runs out, records that are broken, a book that fails,
 * conflicts, times.  (AddressSanitizer watches too.) */
#include <time.h>

#include "json/parse.h"
#include "mcp/server/task_record.h"
#include "mcp_help.h"

#define TASKS_M                                                \
    MODERN("{\"elicitation\":{},\"roots\":{},\"extensions\":{" \
           "\"io.modelcontextprotocol/tasks\":{}}}",           \
           "")
#define CALL(name) REQUEST("1", "tools/call", "\"name\":\"" name "\"," TASKS_M)

/* ------------------------------------------------------------------------------------- the book */

enum { BOOK_ROWS = 8, BOOK_TEXT = 1 << 16 };

typedef struct {
    pthread_mutex_t lock;
    struct {
        char key[64];
        char bytes[BOOK_TEXT];
        size_t len;
        uint64_t version;
    } rows[BOOK_ROWS];
    int64_t now;
    PtcMcpBookAnswer fails; /* what it says to everything; OK: it works */
    int conflicts;          /* that come next */
} Book;

static Book book;

static int find_row(const char *key)
{
    for (int i = 0; i < BOOK_ROWS; i++)
        if (strcmp(book.rows[i].key, key) == 0)
            return i;
    return -1;
}

static PtcMcpBookAnswer get(void *user, const char *owner, const char *key, PtcBuf *bytes,
                            uint64_t *version)
{
    (void)user, (void)owner;
    pthread_mutex_lock(&book.lock);
    int i = find_row(key);
    PtcMcpBookAnswer got = book.fails ? book.fails
                           : i < 0    ? PTC_MCP_BOOK_ABSENT
                           : ptc_buf_add(bytes, book.rows[i].bytes, book.rows[i].len)
                               ? PTC_MCP_BOOK_OK
                               : PTC_MCP_BOOK_FAILED;
    *version = i < 0 ? 0 : book.rows[i].version;
    pthread_mutex_unlock(&book.lock);
    return got;
}

static PtcMcpBookAnswer put(void *user, const char *owner, const char *key, PtcText bytes,
                            int64_t expires_ms, uint64_t *version)
{
    (void)user, (void)owner, (void)expires_ms;
    pthread_mutex_lock(&book.lock);
    int i = find_row(key);
    uint64_t there = i < 0 ? 0 : book.rows[i].version;
    i = i < 0 ? find_row("") : i;
    PtcMcpBookAnswer done = book.fails                            ? book.fails
                            : there != *version || book.conflicts ? PTC_MCP_BOOK_CONFLICT
                            : i < 0 || bytes.len > BOOK_TEXT      ? PTC_MCP_BOOK_FULL
                                                                  : PTC_MCP_BOOK_OK;
    book.conflicts -= done == PTC_MCP_BOOK_CONFLICT && book.conflicts;
    if (done == PTC_MCP_BOOK_OK) {
        snprintf(book.rows[i].key, sizeof book.rows[i].key, "%s", key);
        memcpy(book.rows[i].bytes, bytes.bytes, bytes.len);
        book.rows[i].len = bytes.len;
        *version = book.rows[i].version = there + 1;
    }
    pthread_mutex_unlock(&book.lock);
    return done;
}

static void take_out(void *user, const char *owner, const char *key)
{
    (void)user, (void)owner;
    pthread_mutex_lock(&book.lock);
    int i = find_row(key);
    if (i >= 0)
        memset(&book.rows[i], 0, sizeof book.rows[i]);
    pthread_mutex_unlock(&book.lock);
}

static int64_t now(void *user)
{
    (void)user;
    return book.now;
}

static const PtcMcpBook the_book = {
    .get = get, .put = put, .remove = take_out, .now_ms = now, .shared = true, .user = NULL};

static void empty_book(void)
{
    memset(book.rows, 0, sizeof book.rows);
    book.now = 1000000;
    book.fails = PTC_MCP_BOOK_OK;
    book.conflicts = 0;
}

/* ----------------------------------------------------------------------------------- the server */

static void row_waits(PtcMcpCall *call)
{
    while (!ptc_mcp_cancelled(call))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static const PtcMcpTool task_tools[] = {
    {.name = "ask",
     .handler = row_ask,
     .task = PTC_MCP_TASK_MAY,
     .task_after_ms = PTC_MCP_TASK_AT_ONCE},
    {.name = "say", .handler = row_liar, .task = PTC_MCP_TASK_MAY},
    {.name = "wait",
     .handler = row_waits,
     .task = PTC_MCP_TASK_MUST,
     .task_after_ms = PTC_MCP_TASK_AT_ONCE},
};

static PtcMcp *task_server(void)
{
    PtcMcpConfig c = help_config();
    c.tools = task_tools;
    c.tool_count = sizeof task_tools / sizeof *task_tools;
    c.book = &the_book;
    return help_server(c);
}

/* tasks/METHOD for the task that a text names; `more`: further params. */
static const char *about(PtcMcp *mcp, const char *id, const char *method, const char *more)
{
    char text[1000];
    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/%s\",\"params\":{\"taskId\":\"%s\","
             "%s" TASKS_M "}}",
             method, id, more);
    return tell(mcp, NULL, text);
}

static bool id_in(const char *said, char id[PTC_MCP_TASK_ID + 1])
{
    const char *at = strstr(said, "\"taskId\":\"t-");
    snprintf(id, PTC_MCP_TASK_ID + 1, "%s", at ? at + strlen("\"taskId\":\"") : "");
    return at != NULL;
}

/* Until the task is in this state, for so many milliseconds or a little more. */
static bool comes_to(PtcMcp *mcp, const char *id, const char *status, int ms)
{
    char word[60];
    snprintf(word, sizeof word, "\"status\":\"%s\"", status);
    for (int i = 0; i < ms; i++) {
        if (strstr(about(mcp, id, "get", ""), word))
            return true;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return false;
}

/* -------------------------------------------------------------------------------------- memory */

/* What was not written for want of memory is written a second later. */
static bool answered_to_its_end(PtcMcp *mcp, const char *id)
{
    for (int i = 0; i < 100; i++) {
        (void)about(mcp, id, "update", "\"inputResponses\":{\"q1\":{},\"q2\":{}},");
        if (comes_to(mcp, id, "completed", 50) || comes_to(mcp, id, "failed", 1))
            return true;
    }
    return false;
}

/* The nth allocation fails; true when none did. */
static bool try_task(uint64_t n)
{
    char id[PTC_MCP_TASK_ID + 1];
    empty_book();
    PtcMcp *mcp = task_server();
    ptc_mem_fail_at(&mcp->mem, n);
    const char *out = tell(mcp, NULL, CALL("ask"));
    /* It may have no memory to be a task, and asks in the call then. */
    CHECK(strcmp(out, "no call") == 0 || strstr(out, "\"error\"") || strstr(out, "\"task\"") ||
          strstr(out, "\"input_required\""));
    if (id_in(out, id)) {
        CHECK(answered_to_its_end(mcp, id));
    }
    bool all = atomic_load(&mcp->mem.count) < n;
    ptc_mem_fail_at(&mcp->mem, 0);
    ptc_mcp_end_tasks(mcp);
    ptc_mcp_free(mcp);
    return all;
}

static void test_memory(void)
{
    uint64_t n = 1;
    while (n < 2000 && !try_task(n))
        n += 2;
    CHECK(n < 2000);
}

/* ------------------------------------------------------------------------------------- records */

static void test_broken_records(void)
{
    char id[PTC_MCP_TASK_ID + 1];
    static char whole[BOOK_TEXT];
    empty_book();
    PtcMcp *mcp = task_server();
    CHECK(id_in(tell(mcp, NULL, CALL("ask")), id));
    CHECK(comes_to(mcp, id, "input_required", 5000));
    ptc_mcp_end_tasks(mcp);
    int row = find_row(id);
    size_t len = book.rows[row].len;
    memcpy(whole, book.rows[row].bytes, len);
    for (size_t i = 0; i < len; i++) {
        book.rows[row].len = i;
        CHECK(strstr(about(mcp, id, "get", ""), "store_failed"));
        CHECK(strstr(about(mcp, id, "cancel", ""), "store_failed"));
        book.rows[row].len = len;
    }
    for (size_t i = 0; i < len; i++) {
        book.rows[row].bytes[i] = (char)(whole[i] ^ 0x81);
        CHECK(strstr(about(mcp, id, "update", "\"inputResponses\":{\"q1\":{}},"), "jsonrpc"));
        memcpy(book.rows[row].bytes, whole, len);
        book.rows[row].len = len;
    }
    ptc_mcp_free(mcp);
}

static void test_book_that_fails(void)
{
    char id[PTC_MCP_TASK_ID + 1];
    empty_book();
    PtcMcp *mcp = task_server();
    book.fails = PTC_MCP_BOOK_FULL;
    CHECK(strstr(tell(mcp, NULL, CALL("ask")), "-32000"));
    book.fails = PTC_MCP_BOOK_OK;
    CHECK(id_in(tell(mcp, NULL, CALL("wait")), id));
    book.fails = PTC_MCP_BOOK_FAILED;
    CHECK(strstr(about(mcp, id, "get", ""), "store_failed"));
    CHECK(strstr(about(mcp, id, "cancel", ""), "store_failed"));
    book.fails = PTC_MCP_BOOK_OK;
    book.conflicts = 5;
    CHECK(!strstr(about(mcp, id, "cancel", ""), "error"));
    CHECK(comes_to(mcp, id, "cancelled", 5000));
    CHECK(strstr(tell(mcp, NULL, CALL("say")), "no data")); /* quick, so there is no task */
    ptc_mcp_free(mcp);
}

static void test_times(void)
{
    char id[PTC_MCP_TASK_ID + 1], other[PTC_MCP_TASK_ID + 1];
    empty_book();
    PtcMcp *mcp = task_server(), *second = task_server();
    CHECK(id_in(tell(mcp, NULL, CALL("wait")), id));
    CHECK(id_in(tell(mcp, NULL, CALL("ask")), other));
    CHECK(comes_to(mcp, other, "input_required", 5000));
    ptc_mcp_end_tasks(mcp); /* as if it were stopped: nobody looks after them */
    CHECK(strstr(about(second, id, "get", ""), "was stopped"));
    CHECK(comes_to(second, other, "input_required", 5000));
    book.now += 40000; /* the lease is over */
    (void)about(second, other, "update", "\"inputResponses\":{\"q1\":{}},");
    CHECK(strstr(about(second, other, "get", ""), "\"q2\""));
    CHECK(!strstr(about(second, other, "get", ""), "\"q1\""));
    (void)about(second, other, "update", "\"inputResponses\":{\"q2\":{},\"q1\":{\"a\":1}},");
    CHECK(comes_to(second, other, "completed", 5000));
    CHECK(strstr(about(second, other, "get", ""), "state S, 0 fields"));
    CHECK(id_in(tell(second, NULL, CALL("wait")), id));
    book.now += 2 * 3600 * 1000;
    CHECK(comes_to(second, id, "failed", 5000));
    CHECK(strstr(about(second, id, "get", ""), "is over"));
    ptc_mcp_free(second);
    ptc_mcp_free(mcp);
}

int main(void)
{
    pthread_mutex_init(&book.lock, NULL);
    test_broken_records();
    test_book_that_fails();
    test_times();
    test_memory();
    return check_done("mcp_tasks");
}
