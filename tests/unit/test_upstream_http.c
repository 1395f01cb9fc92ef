/* SPDX-License-Identifier: MIT
 * test_upstream_http.c - a link over HTTP, with every fault of tests/upstream/faulty.py that has to do with it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/wait.h>

#include "unit/link_help.h"

static PtcMem mem;
static PtcLoop *loop;
static PtcClient *http;
static Peer peer;
static Call call;
static Listing listing;
static struct {
    pid_t pid;
    int in, port;
    char counted[64];
} server;

/* -------------------------------------------------------------------------- server */

static void start_server(const char *modes, const char *era, const char *seconds)
{
    int in[2], err[2];
    char line[256];
    size_t n = 0;
    snprintf(server.counted, sizeof server.counted, "/tmp/ptc-link-%d", (int)getpid());
    unlink(server.counted);
    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0);
    server.pid = fork();
    if (server.pid == 0) {
        dup2(in[0], 0);
        dup2(err[1], 2);
        execlp("python3", "python3", "tests/upstream/faulty.py", modes, "--http", "--era", era,
               "--seconds", seconds, "--count", server.counted, NULL);
        _exit(127);
    }
    close(in[0]);
    close(err[1]);
    server.in = in[1];
    while (n < sizeof line - 1 && read(err[0], line + n, 1) == 1 && line[n] != '\n')
        n++;
    line[n] = 0;
    close(err[0]);
    server.port = 0;
    CHECK(sscanf(line, "listening on port %d", &server.port) == 1);
}

/* It ends when its standard input does. */
static void stop_server(void)
{
    close(server.in);
    waitpid(server.pid, NULL, 0);
    unlink(server.counted);
}

/* How many lines of the count file are this one? */
static size_t counted(const char *what)
{
    char line[256];
    size_t n = 0;
    FILE *file = fopen(server.counted, "r");
    while (file && fgets(line, sizeof line, file))
        n += strncmp(line, what, strlen(what)) == 0;
    if (file)
        fclose(file);
    return n;
}

/* The same, when that many are on their way: what a link sends at its end is not waited for. */
static size_t counted_in_time(const char *what, size_t wanted)
{
    size_t n = counted(what);
    for (int i = 0; i < 500 && n < wanted; i++, n = counted(what))
        nanosleep(&(struct timespec){0, 20 * 1000 * 1000}, NULL);
    return n;
}

static bool add_token(void *user, PtcBuf *lines, PtcWhy *why)
{
    (void)user;
    (void)why;
    return ptc_buf_add_cstr(lines, "Authorization: Bearer abc\n");
}

static bool no_token(void *user, PtcBuf *lines, PtcWhy *why)
{
    (void)user;
    (void)lines;
    return ptc_why_say(why, PTC_WHY_UNAVAILABLE, "the credential is not there");
}

static void open_link(PtcLinkTransport transport, const char *path, const PtcLinkConfig *more)
{
    char url[128];
    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", server.port, path);
    peer_init(&peer, &mem, loop);
    PtcLinkConfig c = peer_config(&peer);
    c.transport = transport;
    c.url = url;
    c.http = http;
    if (more) {
        c.headers = more->headers;
        c.max_message = more->max_message;
        c.era = more->era;
        c.handshake_ms = more->handshake_ms ? more->handshake_ms : c.handshake_ms;
    }
    peer.link = ptc_link_new(&mem, loop, &c);
    CHECK(peer.link);
}

static void close_link(void)
{
    peer_free(&peer);
    free(call.text);
    memset(&call, 0, sizeof call);
}

static bool begin(const char *modes, const char *era)
{
    start_server(modes, era, "1");
    open_link(PTC_LINK_HTTP, "/mcp", NULL);
    return peer_connect(&peer);
}

static void end(void)
{
    close_link();
    stop_server();
}

static void check_works(void)
{
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_ANSWER);
    CHECK(strstr(call.text, "\"hello\""));
}

/* --------------------------------------------------------------------------- tests */

static void test_eras(void)
{
    static const struct {
        const char *modes, *era;
        PtcLinkEra is;
    } rows[] = {{"", "legacy", PTC_LINK_LEGACY},
                {"", "modern", PTC_LINK_MODERN},
                {"sse", "both", PTC_LINK_MODERN},
                {"sse,session", "legacy", PTC_LINK_LEGACY},
                {"session", "legacy", PTC_LINK_LEGACY},
                {"session,session_long", "legacy", PTC_LINK_LEGACY}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(begin(rows[i].modes, rows[i].era));
        CHECK(ptc_link_era(peer.link) == rows[i].is);
        check_works();
        CHECK(list_tools(&listing, &peer) == PTC_LINK_ANSWER && listing.items == 7);
        check_works();
        close_link();
        CHECK(counted("echo") == 2);
        size_t ended = strstr(rows[i].modes, "session") != NULL;
        CHECK(counted_in_time("DELETE", ended) == ended);
        stop_server();
    }
}

static void test_transports(void)
{
    start_server("", "legacy", "1");
    open_link(PTC_LINK_SSE, "/sse", NULL);
    CHECK(peer_connect(&peer) && ptc_link_era(peer.link) == PTC_LINK_LEGACY);
    check_works();
    CHECK(list_tools(&listing, &peer) == PTC_LINK_ANSWER && listing.items == 7);
    close_link();
    open_link(PTC_LINK_HTTP_OR_SSE, "/mcp", NULL);
    CHECK(peer_connect(&peer));
    check_works();
    end();
    start_server("foreign_endpoint", "legacy", "1");
    open_link(PTC_LINK_SSE, "/sse", NULL);
    CHECK(!peer_connect(&peer) && strstr(peer.why, "another server"));
    end();
}

static void test_sessions(void)
{
    static const char *const modes[] = {"session_lost", "session_400", "session_lost,sse"};
    for (size_t i = 0; i < 3; i++) {
        CHECK(begin(modes[i], "legacy"));
        check_works(); /* the server forgets the session at the first call */
        check_works();
        CHECK(counted("echo") == 2);
        end();
    }
}

/* With more lines than are sent, nothing is sent: the last of them are the credentials. */
static void test_many_headers(void)
{
    PtcLinkConfig more = {.headers = add_token};
    static char lines[120 * 8 + 1];
    for (size_t i = 0; i < 120; i++)
        memcpy(lines + 8 * i, "X-A: bc\n", 8);
    start_server("auth", "modern", "1");
    open_link(PTC_LINK_HTTP, "/mcp", &more);
    CHECK(peer_connect(&peer));
    check_works();
    for (size_t n = 80; n <= 120; n += 40) {
        free(call.text);
        call = (Call){.peer = &peer, .ask = {.done = call_done}};
        CHECK(ptc_link_ask(peer.link, &call.ask, "tools/call", PTC_TEXT(ECHO),
                           (PtcText){lines, 8 * n}));
        CHECK(call_wait(&call) == (n == 80 ? PTC_LINK_ANSWER : PTC_LINK_BROKEN));
        CHECK(n == 80 || (!call.delivered && strstr(call.text, "more than 96 lines")));
    }
    end();
}

/* A server that does not answer when a session is to begin keeps calls waiting for the time of a handshake, not for
 * ever. */
static void test_hanging_sessions(void)
{
    PtcLinkConfig more = {.handshake_ms = 1000};
    start_server("session_lost,renew_hangs", "legacy", "1");
    open_link(PTC_LINK_HTTP, "/mcp", &more);
    CHECK(peer_connect(&peer));
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_HTTP_FAULT && call.session_lost);
    if (call.session_lost)
        PEER_WAIT(&peer, peer.downs > 0);
    end();
    start_server("initialized_hangs", "legacy", "1");
    open_link(PTC_LINK_HTTP, "/mcp", &more);
    CHECK(peer_connect(&peer));
    check_works();
    end();
}

/* The connection stays open behind the answer, so whoever believed these would wait. */
static void test_lengths(void)
{
    static const struct {
        const char *mode;
        PtcLinkEnd end;
    } rows[] = {{"length_huge", PTC_LINK_TOO_LARGE},
                {"length_negative", PTC_LINK_BAD_ANSWER},
                {"bad_gzip", PTC_LINK_BAD_ANSWER},
                {"length_text", PTC_LINK_BAD_ANSWER},
                {"length_two", PTC_LINK_BAD_ANSWER}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(begin(rows[i].mode, i % 2 ? "legacy" : "modern"));
        if (check_count(call_tool(&call, &peer, ECHO, 20000) == rows[i].end && call.delivered))
            printf("%s: %d %s\n", rows[i].mode, call.end, call.text);
        end();
    }
}

static void test_faults(void)
{
    CHECK(begin("server_error", "legacy"));
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_HTTP_FAULT && call.status == 503);
    CHECK(strstr(call.text, "503") && strstr(call.text, "sorry"));
    end();
    CHECK(begin("rate_limit", "modern"));
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_HTTP_FAULT && call.status == 429);
    CHECK(call.retry_after_ms == 7000);
    end();
    CHECK(begin("reset", "legacy"));
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_BROKEN && call.delivered);
    end();
    CHECK(begin("protocol_error,sse", "legacy"));
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_ERROR &&
          strstr(call.text, "something broke"));
    end();
    CHECK(begin("bad_result", "legacy"));
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_BAD_ANSWER && call.delivered);
    end();
    CHECK(begin("hangs", "legacy"));
    CHECK(call_tool(&call, &peer, ECHO, 300) == PTC_LINK_TIMEOUT && call.delivered);
    end();
    CHECK(begin("dies", "legacy"));
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_BROKEN && call.delivered);
    waitpid(server.pid, NULL, 0);
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_BROKEN && !call.delivered);
    close_link();
    open_link(PTC_LINK_HTTP, "/mcp", NULL); /* nobody is there */
    CHECK(!peer_connect(&peer) && peer.why[0]);
    end();
}

static void test_auth(void)
{
    PtcLinkConfig more = {.headers = add_token};
    CHECK(!begin("auth", "legacy"));
    CHECK(strstr(peer.auth, "resource_metadata=\"http://127.0.0.1/meta\""));
    close_link();
    open_link(PTC_LINK_HTTP, "/mcp", &more);
    CHECK(peer_connect(&peer));
    check_works();
    close_link();
    more.headers = no_token;
    open_link(PTC_LINK_HTTP, "/mcp", &more);
    CHECK(!peer_connect(&peer) && strstr(peer.why, "the credential is not there"));
    end();
}

static void test_redirects(void)
{
    CHECK(begin("redirect", "legacy"));
    check_works();
    end();
    CHECK(!begin("wrong_redirect", "legacy"));
    CHECK(strstr(peer.why, "redirects"));
    end();
}

static void test_streams(void)
{
    CHECK(begin("sse_resume", "legacy"));
    check_works();
    end();
    CHECK(begin("progress", "legacy"));
    call.ask.progress = call_progress;
    call.ask.most_ns = ptc_clock_ns(NULL) + (int64_t)60 * 1000000000;
    CHECK(call_tool(&call, &peer, ECHO, 900) == PTC_LINK_ANSWER && peer.progress == 5);
    end();
    CHECK(begin("wants_roots", "legacy"));
    peer.answer = "{\"roots\":[]}";
    CHECK(call_tool(&call, &peer, ECHO, 20000) == PTC_LINK_ANSWER && strstr(call.text, "roots"));
    end();
    CHECK(begin("listen", "legacy"));
    PEER_WAIT(&peer, peer.notices > 0);
    CHECK_STR(peer.notice, "notifications/tools/list_changed");
    end();
    CHECK(begin("listen", "modern"));
    PEER_WAIT(&peer, !strcmp(peer.notice, "notifications/tools/list_changed"));
    end();
    CHECK(begin("flood", "legacy"));
    CHECK(call_tool(&call, &peer, ECHO, 60000) == PTC_LINK_ANSWER);
    CHECK(peer.notices == 20000 && atomic_load(&mem.used) < 64 << 20);
    end();
    CHECK(begin("pings", "legacy")); /* each answer is a request of its own */
    CHECK(call_tool(&call, &peer, ECHO, 60000) == PTC_LINK_ANSWER);
    CHECK(atomic_load(&mem.used) < 16 << 20);
    end();
}

static void test_sizes(void)
{
    PtcLinkConfig more = {.max_message = 1 << 20};
    static const char *const modes[] = {"long_answer", "long_answer,sse"};
    for (size_t i = 0; i < 2; i++) {
        start_server(modes[i], "legacy", "1");
        open_link(PTC_LINK_HTTP, "/mcp", &more);
        CHECK(peer_connect(&peer));
        CHECK(call_tool(&call, &peer, ECHO, 60000) == PTC_LINK_TOO_LARGE);
        end();
    }
}

static void test_cancel(void)
{
    CHECK(begin("hangs", "modern"));
    call_begin(&call, &peer, "tools/call", ECHO, 60000);
    ptc_link_cancel(peer.link, &call.ask);
    CHECK(call_wait(&call) == PTC_LINK_CANCELLED);
    call_begin(&call, &peer, "tools/call", ECHO, 60000);
    ptc_link_free(peer.link);
    CHECK(call.over && call.end == PTC_LINK_BROKEN);
    peer.link = NULL;
    end();
}

/* Many at once. */
static void test_parallel(void)
{
    static Call many[100];
    CHECK(begin("session", "legacy"));
    for (size_t i = 0; i < 100; i++)
        call_begin(&many[i], &peer, "tools/call", ECHO, 60000);
    for (size_t i = 0; i < 100; i++) {
        CHECK(call_wait(&many[i]) == PTC_LINK_ANSWER);
        free(many[i].text);
        many[i].text = NULL;
    }
    CHECK(counted("echo") == 100);
    end();
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    loop = ptc_loop_new(&mem);
    http = ptc_client_new(&mem, NULL);
    const char *only = argc > 1 ? argv[1] : "";
#define RUN(call)            \
    if (strstr(#call, only)) \
    CHECK_RUN(call)
    RUN(test_eras());
    RUN(test_transports());
    RUN(test_many_headers());
    RUN(test_sessions());
    RUN(test_hanging_sessions());
    RUN(test_faults());
    RUN(test_lengths());
    RUN(test_auth());
    RUN(test_redirects());
    RUN(test_streams());
    RUN(test_sizes());
    RUN(test_cancel());
    RUN(test_parallel());
    ptc_client_free(http);
    ptc_loop_free(loop);
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("link over HTTP");
}
