/* SPDX-License-Identifier: MIT
 * test_mcp_progress_sender.c - progress of other servers on its way to a client, and clients that do not read: nobody
 * else waits for them. */
#include "mcp_help.h"

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "mcp/app/progress_sender.h"

enum { EVERY_MS = 20, PATIENCE_S = 20 };

static PtcMem mem;
static PtcProgressSender *sender;
static struct {
    sem_t begun, end; /* the call: it is waited for, it may end */
    PtcProgressCall waiting;
    sem_t writing, written; /* the client: it is being written to, it reads on */
    bool reads, ended;
} peer;

/* False: it took too long, which is a failure and not the end of the test. */
static bool await(sem_t *s)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    return sem_timedwait(s, &until) == 0;
}

static void wait_row(PtcMcpCall *call)
{
    ptc_progress_sender_begin(sender, &peer.waiting, call);
    sem_post(&peer.begun);
    peer.ended = await(&peer.end);
    ptc_progress_sender_end(sender, &peer.waiting);
}

static const PtcMcpTool rows[] = {{.name = "wait", .handler = wait_row}};

/* A client that reads only when it is told to. */
static bool write_slowly(void *user, const char *json, size_t len)
{
    (void)user, (void)json, (void)len;
    if (!peer.reads) {
        sem_post(&peer.writing);
        (void)await(&peer.written);
    }
    return true;
}

static void *run_call(void *user)
{
    static const char message[] =
        REQUEST("1", "tools/call", "\"name\":\"wait\",\"_meta\":{\"progressToken\":1}");
    PtcMcpIn in = {
        .text = message, .len = sizeof message - 1, .sink = (PtcMcpSink){write_slowly, NULL}};
    PtcMcpCall *call = ptc_mcp_begin(user, &in);
    if (call)
        ptc_mcp_run(call);
    ptc_mcp_call_free(call);
    return NULL;
}

static void *say(void *user)
{
    PtcRemoteListener *listener = ptc_progress_sender_listener(&peer.waiting);
    listener->progress(listener, PTC_TEXT("files: 1 of 2"));
    sem_post(user);
    return NULL;
}

/* The sender writes to a client that does not read, and a server says how far it is: whoever tells that goes on at
 * once. */
static void test_client_does_not_read(void)
{
    PtcMcpConfig config = {.name = "t", .version = "1", .tools = rows, .tool_count = 1};
    PtcMcp *mcp = help_server(config);
    pthread_t call, server;
    sem_t said;
    sem_init(&said, 0, 0);
    peer.reads = false;
    sender = ptc_progress_sender_new(&mem, EVERY_MS);
    CHECK(pthread_create(&call, NULL, run_call, mcp) == 0);
    CHECK(await(&peer.begun) && await(&peer.writing));
    CHECK(pthread_create(&server, NULL, say, &said) == 0);
    CHECK(await(&said)); /* while the client still does not read */
    peer.reads = true;
    sem_post(&peer.written);
    sem_post(&peer.end);
    pthread_join(server, NULL);
    pthread_join(call, NULL);
    CHECK(peer.ended);
    ptc_progress_sender_free(sender);
    ptc_mcp_free(mcp);
    sem_destroy(&said);
}

static void test_no_memory(void)
{
    ptc_mem_fail_at(&mem, 1);
    CHECK(ptc_progress_sender_new(&mem, EVERY_MS) == NULL);
    ptc_mem_fail_at(&mem, 0);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    sem_t *all[] = {&peer.begun, &peer.end, &peer.writing, &peer.written};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sem_init(all[i], 0, 0);
    CHECK_RUN(test_client_does_not_read());
    CHECK_RUN(test_no_memory());
    CHECK(atomic_load(&mem.used) == 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sem_destroy(all[i]);
    return check_done("mcp_pulse");
}
