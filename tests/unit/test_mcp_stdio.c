/* SPDX-License-Identifier: MIT
 * MCP over descriptors: lines of all sizes, the end of input, clients that do not read or vanish. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mcp/stdio/stdio.h"
#include "mcp_help.h"

/* The server has threads of its own; this one is the client.  Pipes are of any size, down to a page, and the server may
 * end whenever it likes: the client writes and reads without blocking until it is done or the server has ended. */
typedef struct {
    PtcMcp *mcp;
    PtcMcpStdio io;
    int to, from; /* the client's ends */
    pthread_t thread;
    int error;
    atomic_bool ended;
} Served;

static void *serve(void *user)
{
    Served *s = user;
    s->error = ptc_mcp_stdio_serve(s->mcp, &s->io);
    atomic_store(&s->ended, true);
    return NULL;
}

static void open_served(Served *s, PtcMcpConfig config, bool sockets)
{
    int in[2], out[2];
    memset(s, 0, sizeof *s);
    s->mcp = help_server(config);
    if (sockets) {
        CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, in) == 0 &&
              socketpair(AF_UNIX, SOCK_STREAM, 0, out) == 0);
    } else {
        CHECK(pipe(in) == 0 && pipe(out) == 0);
    }
    s->io.in = in[0];
    s->to = in[1];
    s->io.out = out[1];
    s->from = out[0];
    s->io.write_ms = 60000;
    CHECK(fcntl(s->to, F_SETFL, O_NONBLOCK) == 0 && fcntl(s->from, F_SETFL, O_NONBLOCK) == 0);
}

static void start(Served *s)
{
    atomic_store(&s->ended, false);
    pthread_create(&s->thread, NULL, serve, s);
}

/* Waits for room or for text.  False: there is none, and will be none because the server has ended. */
static bool await(Served *s, int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};
    for (;;) {
        bool ended = atomic_load(&s->ended); /* before the last look */
        if (poll(&p, 1, ended ? 0 : 5) > 0)
            return true;
        if (ended)
            return false;
    }
}

static void put(Served *s, const char *text, size_t len)
{
    while (len && await(s, s->to, POLLOUT)) {
        ssize_t n = write(s->to, text, len);
        if (n < 0 && errno != EAGAIN)
            return;
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

static void say(Served *s, const char *text)
{
    put(s, text, strlen(text));
}

/* Reads up to the nth line end from now; returns the text. */
static const char *lines(Served *s, int n)
{
    static char text[1 << 20];
    size_t len = 0;
    while (n && len < sizeof text - 1 && await(s, s->from, POLLIN) &&
           read(s->from, text + len, 1) == 1)
        if (text[len++] == '\n')
            n--;
    text[len] = 0;
    return text;
}

static void close_client(Served *s)
{
    if (s->to >= 0)
        close(s->to);
    s->to = -1;
}

static int join(Served *s)
{
    pthread_join(s->thread, NULL);
    close(s->io.in);
    close(s->io.out);
    close(s->from);
    ptc_mcp_free(s->mcp);
    return s->error;
}

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}\n"
#define PONG(id) RESULT(id, "") "\n"
#define ECHO(id, text) \
    REQUEST(id, "tools/call", "\"name\":\"echo\",\"arguments\":{\"say\":\"" text "\"}") "\n"

static void test_lines(bool sockets)
{
    Served s;
    PtcMcpConfig c = help_config();
    c.max_frame_bytes = 1000;
    open_served(&s, c, sockets);
    start(&s);
    say(&s, PING("1"));
    CHECK_STR(lines(&s, 1), PONG("1"));
    say(&s, "\n  \r\n\t\n{\"jsonrpc\":\"2.0\",");
    say(&s, "\"id\":2,\"method\":\"ping\"}\r\n" PING("3") PING("4"));
    CHECK_STR(lines(&s, 3), PONG("2") PONG("3") PONG("4"));
    say(&s, "\xff\xfe\n" PING("5"));
    CHECK(strstr(lines(&s, 1), "-32700"));
    CHECK_STR(lines(&s, 1), PONG("5"));
    say(&s, ECHO("6", "hey"));
    CHECK(strstr(lines(&s, 1), "hey"));
    /* 10 MB in a line: skipped, answered, forgotten. */
    static char big[10 << 20];
    memset(big, 'x', sizeof big);
    put(&s, big, sizeof big);
    say(&s, "\n" PING("7"));
    CHECK(strstr(lines(&s, 1), "a message may have at most 1000 bytes"));
    CHECK_STR(lines(&s, 1), PONG("7"));
    put(&s, big, 1001);
    say(&s, "\n");
    CHECK(strstr(lines(&s, 1), "at most 1000 bytes"));
    put(&s, big, 1000);
    say(&s, "\n");
    CHECK(strstr(lines(&s, 1), "-32700"));
    /* The last line needs no end. */
    say(&s, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}");
    close_client(&s);
    CHECK_STR(lines(&s, 1), PONG("8"));
    CHECK(join(&s) == 0);
}

/* Many calls at once, answered each by its id. */
static void test_many(void)
{
    enum { CALLS = 300 };
    Served s;
    PtcMcpConfig c = help_config();
    c.max_waiting = CALLS;
    open_served(&s, c, false);
    start(&s);
    for (int i = 0; i < CALLS; i++) {
        char in[200];
        sprintf(in, ECHO("%d", "n%d"), i, i);
        say(&s, in);
    }
    bool seen[CALLS] = {false};
    for (int i = 0; i < CALLS; i++) {
        int id = -1, n = -2;
        const char *out = lines(&s, 1), *text = strstr(out, "\"text\":\"n");
        sscanf(out, "{\"jsonrpc\":\"2.0\",\"id\":%d", &id);
        if (text)
            sscanf(text + 9, "%d", &n);
        CHECK(id == n && id >= 0 && id < CALLS && !seen[id]);
        if (id >= 0 && id < CALLS)
            seen[id] = true;
    }
    close_client(&s);
    CHECK(join(&s) == 0);
}

/* ---------------------------------------------------------------------------------- ends */

static atomic_int waits, stopped;

static void row_wait(PtcMcpCall *call)
{
    atomic_fetch_add(&waits, 1);
    while (!ptc_mcp_cancelled(call))
        check_pause_us(200);
    atomic_fetch_add(&stopped, 1);
}

static const PtcMcpTool end_tools[] = {
    {.name = "wait", .handler = row_wait},
};

static PtcMcpConfig end_config(void)
{
    PtcMcpConfig c = help_config();
    c.tools = end_tools;
    c.tool_count = 1;
    c.max_running = 1;
    c.max_waiting = 1;
    return c;
}

#define WAIT(id) REQUEST(id, "tools/call", "\"name\":\"wait\"") "\n"

/* At the end of input calls are cancelled, those that run and those that wait, and threads joined. */
static void test_end(void)
{
    Served s;
    atomic_store(&waits, 0);
    atomic_store(&stopped, 0);
    open_served(&s, end_config(), true);
    s.io.grace_ms = 1;
    start(&s);
    say(&s, WAIT("1"));
    while (!atomic_load(&waits))
        check_pause_us(200);
    say(&s, WAIT("2") WAIT("3") PING("4"));
    const char *out = lines(&s, 2); /* which of 2 and 3 waits is chance; the other is busy */
    CHECK(strstr(out, "busy") && strstr(out, PONG("4")));
    say(&s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
            "cancelled\",\"params\":{\"requestId\":1}}\n");
    while (atomic_load(&waits) < 2)
        check_pause_us(200);
    say(&s, PING("5"));
    CHECK_STR(lines(&s, 1), PONG("5"));
    close_client(&s);
    CHECK(join(&s) == 0);
    CHECK(atomic_load(&waits) == 2 && atomic_load(&stopped) == 2);
}

/* A client that asks and asks and reads nothing: the server waits a bounded time, then ends with an error. */
static void test_deaf(bool sockets)
{
    Served s;
    open_served(&s, help_config(), sockets);
    s.io.write_ms = 20;
    start(&s);
    while (!atomic_load(&s.ended))
        say(&s, REQUEST("1", "tools/list", "") "\n");
    CHECK(join(&s) == ETIMEDOUT);
    close_client(&s);
}

/* A client that vanishes. */
static void test_gone(bool sockets)
{
    Served s;
    open_served(&s, end_config(), sockets);
    start(&s);
    say(&s, PING("1"));
    lines(&s, 1);
    close(s.from);
    s.from = open("/dev/null", O_RDONLY);
    for (int i = 0; i < 3; i++)
        say(&s, PING("2"));
    pthread_join(s.thread, NULL);
    CHECK(s.error == EPIPE);
    start(&s); /* the server itself is still good */
    close_client(&s);
    CHECK(join(&s) == EPIPE || s.error == 0);
}

static void test_stop(void)
{
    Served s;
    open_served(&s, end_config(), false);
    start(&s);
    say(&s, PING("1"));
    CHECK_STR(lines(&s, 1), PONG("1"));
    ptc_mcp_stop(s.mcp);
    CHECK(join(&s) == 0);
    close_client(&s);
}

/* Subscriptions end with an answer each. */
static void test_listen_end(void)
{
    Served s;
    open_served(&s, help_config(), true);
    start(&s);
    say(&s, REQUEST("9", "subscriptions/listen",
                    MODERN("{}", "") ",\"notifications\":{\"toolsListChanged\":true}") "\n");
    CHECK(strstr(lines(&s, 1), "acknowledged"));
    ptc_mcp_list_changed(s.mcp, PTC_MCP_TOOLS);
    CHECK(strstr(lines(&s, 1), "list_changed"));
    close_client(&s);
    CHECK(strstr(lines(&s, 1), "\"id\":9,\"result\":{\"resultType\":\"complete\""));
    CHECK(join(&s) == 0);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    for (int sockets = 0; sockets < 2; sockets++) {
        CHECK_RUN(test_lines(sockets));
        CHECK_RUN(test_deaf(sockets));
        CHECK_RUN(test_gone(sockets));
    }
    CHECK_RUN(test_many());
    CHECK_RUN(test_end());
    CHECK_RUN(test_stop());
    CHECK_RUN(test_listen_end());
    return check_done("mcp_stdio");
}
