/* SPDX-License-Identifier: MIT
 * test_agent_http.c - http tools of agents against a server on loopback, which is a thread of this test. */
#define _GNU_SOURCE
#include "agent_run_help.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/client.h"

/* -------------------------------------------------------------------------------- server */

typedef struct Server {
    int fd;
    int port;
    pthread_t thread;
    atomic_long served;
    char seen[1 << 16]; /* the last request */
    const struct Server *other;
    Trial *trial;
} Server;

static void send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        bytes += n;
        len -= (size_t)n;
    }
}

static void answer(int fd, const char *status, const char *more, const char *body, size_t len)
{
    char head[400];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n%s\r\n", status,
                     len, more);
    send_all(fd, head, (size_t)n);
    send_all(fd, body, len);
}

static void answer_text(int fd, const char *status, const char *body)
{
    answer(fd, status, "", body, strlen(body));
}

/* More than may be taken; said to be so, or not. */
static void answer_big(int fd, bool said)
{
    enum { SIZE = 17 * 1024 * 1024 };
    char *big = malloc(SIZE);
    memset(big, '1', SIZE);
    if (said)
        answer(fd, "200 OK", "", big, SIZE);
    else {
        send_all(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", 38);
        send_all(fd, big, SIZE);
    }
    free(big);
}

/* Reads up to the end of the headers and of the body. */
static bool read_request(Server *s, int fd)
{
    size_t n = 0, want = 0;
    for (;;) {
        ssize_t got = recv(fd, s->seen + n, sizeof s->seen - 1 - n, 0);
        if (got <= 0)
            return n > 0;
        n += (size_t)got;
        s->seen[n] = 0;
        char *end = strstr(s->seen, "\r\n\r\n"), *length = strcasestr(s->seen, "content-length:");
        want =
            end ? (size_t)(end + 4 - s->seen) + (length ? strtoul(length + 15, NULL, 10) : 0) : 0;
        if (end && n >= want)
            return true;
    }
}

static bool asks(const Server *s, const char *path)
{
    const char *at = strchr(s->seen, ' ');
    return at && strncmp(at + 1, path, strlen(path)) == 0;
}

static void serve(Server *s, int fd)
{
    char text[300];
    if (asks(s, "/ok"))
        answer_text(fd, "200 OK", "{\"n\": 5}");
    else if (asks(s, "/empty"))
        answer_text(fd, "204 No Content", "");
    else if (asks(s, "/text"))
        answer_text(fd, "200 OK", "hello");
    else if (asks(s, "/bad")) {
        snprintf(text, sizeof text, "no such thing %0250d", 7);
        answer_text(fd, "404 Not Found", text);
    } else if (asks(s, "/there"))
        answer(fd, "302 Found", "Location: /ok?moved=1\r\n", "", 0);
    else if (asks(s, "/round"))
        answer(fd, "302 Found", "Location: /round\r\n", "", 0);
    else if (asks(s, "/away") || asks(s, "/trick")) {
        snprintf(text, sizeof text, "Location: http://%s127.0.0.1:%d/ok\r\n",
                 asks(s, "/trick") ? "localhost@" : "", s->other->port);
        answer(fd, "307 Temporary Redirect", text, "", 0);
    } else if (asks(s, "/big"))
        answer_big(fd, asks(s, "/big?said"));
    else if (asks(s, "/hang")) {
        atomic_store(&s->trial->under_way, true);
        (void)!recv(fd, text, sizeof text, 0); /* until the other side lets go */
    } else
        answer_text(fd, "500 Oops", "");
}

static void *server_thread(void *user)
{
    Server *s = user;
    for (;;) {
        int fd = accept(s->fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        if (read_request(s, fd)) {
            serve(s, fd);
            atomic_fetch_add(&s->served, 1);
        }
        close(fd);
    }
}

static void server_start(Server *s)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(s->fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(s->fd, 16) == 0);
    CHECK(getsockname(s->fd, (struct sockaddr *)&a, &len) == 0);
    s->port = ntohs(a.sin_port);
    bool begun = pthread_create(&s->thread, NULL, server_thread, s) == 0;
    CHECK(begun);
}

static void server_stop(Server *s)
{
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
}

/* --------------------------------------------------------------------------------- tools */

static Server here, other;

static const char *variable(void *user, const char *name)
{
    (void)user;
    if (strcmp(name, "KEY") == 0)
        return "s3cret";
    return strcmp(name, "LINES") == 0 ? "a\r\nX-Evil: 1" : NULL;
}

static void call_it(Trial *t, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    (void)q;
    trial_say(reply, arena, t->user);
}

#define TRY(args) "(return (try (tool/get " args ") (catch Exception e (ex-message e))))"

static const struct {
    const char *path, *more, *program;
    const char *has;  /* of the outcome */
    const char *sent; /* of the request; NULL: none must come */
} cases[] = {
    {"/ok", "", TRY("{}"), "\"return\":{\"n\":5}", "POST /ok HTTP"},
    {"/ok", "", TRY("{:a-b [1 \"x\"]}"), "\"return\":{\"n\":5}", "{\"a_b\":[1,\"x\"]}"},
    {"/ok?z=1", ",\"method\":\"GET\"", TRY("{:q \"a b&c\" :l [1 2] :nil nil}"),
     "\"return\":{\"n\":5}", "GET /ok?z=1&q=a%20b%26c&l=%5B1%2C2%5D HTTP"},
    {"/ok", ",\"method\":\"DELETE\"", TRY("{:id 5}"), "\"return\":{\"n\":5}",
     "DELETE /ok?id=5 HTTP"},
    {"/ok", ",\"headers\":{\"X-Key\":\"Bearer ${KEY}\"}", TRY("{}"), "\"return\":{\"n\":5}",
     "Bearer s3cret"},
    {"/ok", ",\"headers\":{\"X-Key\":\"${NONE}\"}", TRY("{}"), "NONE is not set", NULL},
    {"/ok", ",\"headers\":{\"X-Key\":\"${LINES}\"}", TRY("{}"), "line end", NULL},
    {"/empty", "", TRY("{}"), "\"return\":null", "POST"},
    {"/text", "", TRY("{}"), "JSON", "POST"},
    {"/bad", "", TRY("{}"), "HTTP status 404: no such thing 0000", "POST"},
    {"/there", ",\"method\":\"GET\"", TRY("{}"), "\"return\":{\"n\":5}", "GET /ok?moved=1"},
    {"/there", "", TRY("{}"), "HTTP status 302", "POST /there"},
    {"/round", ",\"method\":\"GET\"", TRY("{}"), "HTTP status 302", "GET /round"},
    {"/away", ",\"method\":\"GET\",\"headers\":{\"X-Key\":\"${KEY}\"}", TRY("{}"),
     "HTTP status 307", "GET /away"},
    {"/trick", ",\"method\":\"GET\",\"headers\":{\"X-Key\":\"${KEY}\"}", TRY("{}"),
     "HTTP status 307", "GET /trick"},
    {"/big?said", "", TRY("{}"), "16 MiB", "POST"},
    {"/big", "", TRY("{}"), "16 MiB", "POST"},
};

static void open_tool(Trial *t, PtcClient *client, const char *path, const char *more,
                      const char *program)
{
    char json[700];
    snprintf(json, sizeof json,
             "{\"prompt\":\"p\",\"timeout\":100000,\"tools\":{\"get\":{\"http\":{\"url\":"
             "\"http://127.0.0.1:%d%s\"%s}}}}",
             here.port, path, more);
    trial_open(t, json, call_it, (void *)program);
    t->host.client = client;
    t->host.variable = variable;
    here.trial = t;
}

static void test_calls(PtcClient *client)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Trial t;
        long before = atomic_load(&here.served), elsewhere = atomic_load(&other.served);
        here.seen[0] = 0;
        open_tool(&t, client, cases[i].path, cases[i].more, cases[i].program);
        trial_go(&t);
        TRIAL_HAS(&t, cases[i].has);
        CHECK(!trial_has(&t, "s3cret") && t.out.len < 20000);
        CHECK(atomic_load(&other.served) == elsewhere);
        if (!cases[i].sent)
            CHECK(atomic_load(&here.served) == before);
        else {
            bool sent = strstr(here.seen, cases[i].sent) != NULL;
            CHECK(sent);
            if (!sent)
                printf("  wanted %s in %s\n", cases[i].sent, here.seen);
        }
        trial_close(&t);
    }
}

static void test_silence(PtcClient *client)
{
    Trial t;
    open_tool(&t, client, "/hang", "", TRY("{}"));
    trial_go_cancelled(&t);
    TRIAL_HAS(&t, "\"reason\":\"cancelled\"");
    TRIAL_HAS(&t, "\"unknown\":[{\"name\":\"get\",\"times\":1}]");
    TRIAL_HAS(&t, "\"safe_to_retry\":false");
    trial_close(&t);
}

static void test_nobody_there(PtcClient *client)
{
    Trial t;
    int port = other.port;
    server_stop(&other);
    char json[400];
    snprintf(json, sizeof json,
             "{\"prompt\":\"p\",\"timeout\":100000,\"tools\":{\"get\":{\"http\":{\"url\":"
             "\"http://127.0.0.1:%d/\"}}}}",
             port);
    trial_open(&t, json, call_it, TRY("{}"));
    t.host.client = client;
    trial_go(&t);
    TRIAL_HAS(&t, "\"outcome\":\"ok\",\"return\":\"tool/get failed");
    trial_close(&t);
    trial_of(&t, json, call_it, TRY("{}")); /* nobody who could send */
    TRIAL_HAS(&t, "not possible here");
    trial_close(&t);
}

int main(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    PtcClient *client = ptc_client_new(&mem, NULL);
    here.other = &other;
    other.other = &here;
    server_start(&here);
    server_start(&other);
    CHECK_RUN(test_calls(client));
    CHECK_RUN(test_silence(client));
    CHECK_RUN(test_nobody_there(client));
    server_stop(&here);
    ptc_client_free(client);
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("agent_http");
}
