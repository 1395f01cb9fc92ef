/* SPDX-License-Identifier: MIT
 * test_mcp_progress_sender.c - progress of other servers on its way to a client, clients that do not read: nobody
 * else waits for them; and calls by the thousand, of which the client hears some, and always the last. */
#include "mcp_help.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/units.h"
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

/* ------------------------------------------------------------------------------------- calls */

enum { FEW = 20, MANY = 10000, MOST_AT_ONCE = 200 };

static struct {
    int calls, told;
    double progress;
    bool grows;
    char last[64];
} heard;

static void call_row(PtcMcpCall *call)
{
    PtcProgressCall waiting;
    char line[64];
    ptc_progress_sender_begin(sender, &waiting, call);
    PtcRemoteListener *listener = ptc_progress_sender_listener(&waiting);
    for (int i = 0; i < heard.calls; i++) {
        snprintf(line, sizeof line, "calling files/%d", i);
        listener->called(listener, ptc_text_cstr(line));
    }
    ptc_progress_sender_end(sender, &waiting);
}

static const PtcMcpTool calling_rows[] = {{.name = "wait", .handler = call_row}};

static bool hear_line(void *user, const char *json, size_t len)
{
    char text[512];
    (void)user;
    snprintf(text, sizeof text, "%.*s", (int)len, json);
    const char *progress = strstr(text, "\"progress\":"), *message = strstr(text, "\"message\":\"");
    if (!progress || !message)
        return true; /* the answer */
    double was = heard.progress;
    heard.progress = atof(progress + strlen("\"progress\":"));
    heard.grows = heard.grows && heard.progress > was;
    heard.told++;
    sscanf(message + strlen("\"message\":\""), "%63[^\"]", heard.last);
    return true;
}

static void hear_calls(PtcMcp *mcp, int calls)
{
    static const char message[] =
        REQUEST("1", "tools/call", "\"name\":\"wait\",\"_meta\":{\"progressToken\":1}");
    PtcMcpIn in = {
        .text = message, .len = sizeof message - 1, .sink = (PtcMcpSink){hear_line, NULL}};
    memset(&heard, 0, sizeof heard);
    heard.calls = calls;
    heard.grows = true;
    PtcMcpCall *call = ptc_mcp_begin(mcp, &in);
    if (call)
        ptc_mcp_run(call);
    ptc_mcp_call_free(call);
}

static void test_calls(void)
{
    PtcMcpConfig config = {.name = "t", .version = "1", .tools = calling_rows, .tool_count = 1};
    PtcMcp *mcp = help_server(config);
    sender = ptc_progress_sender_new(&mem, 60 * 1000);
    hear_calls(mcp, FEW);
    CHECK(heard.told == FEW && heard.grows);
    CHECK_STR(heard.last, "calling files/19");
    int64_t began = ptc_clock_ns(NULL);
    hear_calls(mcp, MANY);
    int64_t s = (ptc_clock_ns(NULL) - began) / PTC_S;
    CHECK(heard.told <= MOST_AT_ONCE + 20 * (int)s && heard.grows);
    CHECK_STR(heard.last, "calling files/9999");
    ptc_mem_fail_at(&mem, 1);
    hear_calls(mcp, FEW);
    ptc_mem_fail_at(&mem, 0);
    CHECK(heard.told >= 1 && heard.grows);
    CHECK_STR(heard.last, "calling files/19");
    ptc_progress_sender_free(sender);
    ptc_mcp_free(mcp);
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
    CHECK_RUN(test_calls());
    CHECK_RUN(test_no_memory());
    CHECK(atomic_load(&mem.used) == 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sem_destroy(all[i]);
    return check_done("mcp_pulse");
}
