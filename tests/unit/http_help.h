/* SPDX-License-Identifier: MIT
 * http_help.h - a small HTTP server on loopback whose answers follow from the path, faults included:
 *
 *   /echo            what was asked, as JSON          /status/404     that status, {"detail": "said 404"}
 *   /text, /png      other media types                /broken         JSON that ends early
 *   /empty           204                              /silent         no answer until the client is gone
 *   /cut             fewer bytes than announced       /flood          a body without end
 *   /moved           to /echo?moved=1&back=http://h/  /away           to the same path of another port
 *   /round           to itself                        /flaky          closes every other connection unanswered
 *   /limited         429 once, then 200               /doc            the document that was given
 *   /guarded         401 unless Authorization is the one that was given
 *   /token           another token each time, which is the one that /guarded wants; what the client sent is in `last`
 *   /mcp             401 with a challenge, whose metadata are at the usual places: a sign-in can begin here */
#ifndef PTC_TESTS_HTTP_HELP_H
#define PTC_TESTS_HTTP_HELP_H

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/check.h"

enum { HTTP_REQUEST = 64 * 1024, HTTP_CONNECTIONS = 256 };

typedef struct {
    int fd, port, other_port; /* other_port: where /away leads */
    pthread_t acceptor, workers[HTTP_CONNECTIONS];
    size_t worker_count;
    atomic_bool stop;
    atomic_int requests, flaky, limited, tokens;
    pthread_mutex_t lock;    /* guards the texts */
    char last[HTTP_REQUEST]; /* the last request, whole */
    char authorization[100]; /* that /guarded wants */
    const char *document;    /* or NULL */
} Http;

typedef struct {
    Http *http;
    int fd;
    char request[HTTP_REQUEST];
    char path[2048];
} HttpConnection;

static inline bool http_put(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

/* `more` are header lines, each with its end. */
static inline bool http_answer(int fd, int status, const char *type, const char *more,
                               const char *body, size_t len)
{
    char head[2048];
    int n =
        snprintf(head, sizeof head, "HTTP/1.1 %d X\r\n%s%s%s%sContent-Length: %zu\r\n\r\n", status,
                 type ? "Content-Type: " : "", type ? type : "", type ? "\r\n" : "", more, len);
    return http_put(fd, head, (size_t)n) && http_put(fd, body, len);
}

static inline bool http_json(int fd, int status, const char *more, const char *body)
{
    return http_answer(fd, status, "application/json", more, body, strlen(body));
}

/* Until the client has closed, or the test ends. */
static inline void http_wait(HttpConnection *c)
{
    char byte;
    while (!c->http->stop) {
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        if (poll(&p, 1, 20) > 0 && recv(c->fd, &byte, 1, 0) <= 0)
            return;
    }
}

static inline void http_flood(HttpConnection *c)
{
    char block[16 * 1024];
    memset(block, 'x', sizeof block);
    static const char head[] = "HTTP/1.1 200 X\r\nContent-Type: text/plain\r\n\r\n";
    bool ok = http_put(c->fd, head, sizeof head - 1);
    while (ok && !c->http->stop)
        ok = http_put(c->fd, block, sizeof block);
}

/* The request as a JSON object, up to a NUL; what would have to be escaped is another character in it. */
static inline bool http_echo(HttpConnection *c)
{
    static const char begin[] = "{\"request\":\"";
    char body[HTTP_REQUEST + 64];
    size_t n = (size_t)snprintf(body, sizeof body, "%s", begin);
    for (const char *at = c->request; *at && n < sizeof body - 3; at++)
        body[n++] = *at == '"' || *at == '\\' ? '\'' : *at >= ' ' && *at <= '~' ? *at : '|';
    memcpy(body + n, "\"}", 3);
    return http_json(c->fd, 200, "X-Kind: echo\r\n", body);
}

static inline bool http_guard(HttpConnection *c)
{
    char want[160];
    pthread_mutex_lock(&c->http->lock);
    snprintf(want, sizeof want, "authorization: %s\r\n", c->http->authorization);
    pthread_mutex_unlock(&c->http->lock);
    return strstr(c->request, want) ? http_echo(c)
                                    : http_json(c->fd, 401, "", "{\"detail\":\"who are you\"}");
}

static inline bool http_is(const HttpConnection *c, const char *path)
{
    size_t n = strlen(path);
    return strncmp(c->path, path, n) == 0 && (!c->path[n] || strchr("?/", c->path[n]));
}

/* From a challenge to an authorization server: this one. */
static inline bool http_sign_in(HttpConnection *c)
{
    int port = c->http->port;
    char more[200], body[600];
    if (http_is(c, "/mcp")) {
        snprintf(more, sizeof more,
                 "WWW-Authenticate: Bearer resource_metadata=\"http://127.0.0.1:%d/.well-known/"
                 "oauth-protected-resource/mcp\"\r\n",
                 port);
        return http_json(c->fd, 401, more, "{}");
    }
    if (strstr(c->path, "protected-resource"))
        snprintf(body, sizeof body,
                 "{\"resource\":\"http://127.0.0.1:%d/mcp\",\"authorization_servers\":"
                 "[\"http://127.0.0.1:%d\"]}",
                 port, port);
    else
        snprintf(body, sizeof body,
                 "{\"issuer\":\"http://127.0.0.1:%d\",\"authorization_endpoint\":"
                 "\"http://127.0.0.1:%d/authorize\",\"token_endpoint\":"
                 "\"http://127.0.0.1:%d/token\",\"code_challenge_methods_supported\":[\"S256\"]}",
                 port, port, port);
    return http_json(c->fd, 200, "", body);
}

static inline bool http_token(HttpConnection *c)
{
    char body[200];
    int n = ++c->http->tokens;
    pthread_mutex_lock(&c->http->lock);
    snprintf(c->http->authorization, sizeof c->http->authorization, "Bearer given-token-%d", n);
    pthread_mutex_unlock(&c->http->lock);
    snprintf(body, sizeof body,
             "{\"access_token\":\"given-token-%d\",\"token_type\":\"Bearer\",\"expires_in\":3600}",
             n);
    /* the id and the secret, in base64, as the test has them */
    bool known = strstr(c->request, "Authorization: Basic bWU6aHVzaC1odXNo\r\n") &&
                 strstr(c->request, "grant_type=client_credentials&scope=a%20b");
    return http_json(c->fd, known ? 200 : 401, "", known ? body : "{\"error\":\"invalid_client\"}");
}

static inline bool http_move(HttpConnection *c, const char *host, int port, const char *path)
{
    char more[300];
    if (host)
        snprintf(more, sizeof more, "Location: http://%s:%d%s\r\n", host, port, path);
    else
        snprintf(more, sizeof more, "Location: %s\r\n", path);
    return http_json(c->fd, 302, more, "{}");
}

/* False: the connection is closed. */
static inline bool http_serve(HttpConnection *c)
{
    Http *h = c->http;
    static const char cut[] = "HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\n{\"a\"";
    static const char head[] = "HTTP/1.1 200 X\r\nContent-Length: 7\r\n\r\n";
    char text[100];
    if (strncmp(c->request, "HEAD ", 5) == 0)
        return http_put(c->fd, head, sizeof head - 1);
    if (http_is(c, "/status")) {
        int status = atoi(c->path + 8);
        snprintf(text, sizeof text, "{\"detail\":\"said %d\"}", status);
        return http_json(c->fd, status, "", text);
    }
    if (http_is(c, "/text"))
        return http_answer(c->fd, 200, "text/plain; charset=utf-8", "", "hello", 5);
    if (http_is(c, "/png"))
        return http_answer(c->fd, 200, "image/png", "", "\x89PNG\r\n\x1a\n\0\xff", 10);
    if (http_is(c, "/broken"))
        return http_json(c->fd, 200, "", "{\"a\":");
    if (http_is(c, "/empty"))
        return http_put(c->fd, "HTTP/1.1 204 X\r\n\r\n", 18);
    if (http_is(c, "/moved"))
        return http_move(c, NULL, 0, "/echo?moved=1&back=http://h/");
    if (http_is(c, "/away"))
        return http_move(c, "127.0.0.1", h->other_port, "/echo?stolen=1");
    if (http_is(c, "/round"))
        return http_move(c, NULL, 0, "round");
    if (http_is(c, "/limited"))
        return h->limited++
                   ? http_echo(c)
                   : http_json(c->fd, 429, "Retry-After: 0\r\n", "{\"detail\":\"slowly\"}");
    if (http_is(c, "/doc") && h->document)
        return http_answer(c->fd, 200, "application/yaml", "", h->document, strlen(h->document));
    if (http_is(c, "/guarded"))
        return http_guard(c);
    if (http_is(c, "/token"))
        return http_token(c);
    if (http_is(c, "/mcp") || http_is(c, "/.well-known"))
        return http_sign_in(c);
    if (http_is(c, "/cut"))
        (void)!http_put(c->fd, cut, sizeof cut - 1);
    else if (http_is(c, "/flood"))
        http_flood(c);
    else if (http_is(c, "/silent"))
        http_wait(c);
    else if (!http_is(c, "/flaky") || h->flaky++ % 2)
        return http_echo(c);
    return false;
}

/* One request, its body included; false: there is none. */
static inline bool http_read(HttpConnection *c)
{
    size_t n = 0, want = SIZE_MAX;
    c->request[0] = 0;
    while (n < want && n < sizeof c->request - 1 && !c->http->stop) {
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        if (poll(&p, 1, 20) == 0)
            continue;
        ssize_t got = recv(c->fd, c->request + n, sizeof c->request - 1 - n, 0);
        if (got <= 0)
            return false;
        n += (size_t)got;
        c->request[n] = 0;
        const char *end = strstr(c->request, "\r\n\r\n"), *size;
        if (end && want == SIZE_MAX) {
            want = (size_t)(end - c->request) + 4;
            if ((size = strcasestr(c->request, "\r\ncontent-length:")) && size < end)
                want += strtoul(size + 17, NULL, 10);
        }
    }
    return n >= want && sscanf(c->request, "%*s %2047s", c->path) == 1;
}

static inline void *http_work(void *user)
{
    HttpConnection *c = user;
    Http *h = c->http;
    while (!h->stop && http_read(c)) {
        h->requests++;
        pthread_mutex_lock(&h->lock);
        memcpy(h->last, c->request, sizeof h->last);
        pthread_mutex_unlock(&h->lock);
        if (!http_serve(c))
            break;
    }
    close(c->fd);
    free(c);
    return NULL;
}

static inline void *http_accept(void *user)
{
    Http *h = user;
    while (!h->stop && h->worker_count < HTTP_CONNECTIONS) {
        struct pollfd p = {.fd = h->fd, .events = POLLIN};
        if (poll(&p, 1, 20) <= 0)
            continue;
        HttpConnection *c = calloc(1, sizeof *c);
        c->http = h;
        c->fd = accept4(h->fd, NULL, NULL, SOCK_CLOEXEC);
        if (c->fd >= 0 && pthread_create(&h->workers[h->worker_count], NULL, http_work, c) == 0)
            h->worker_count++;
        else
            free(c);
    }
    return NULL;
}

static inline void http_start(Http *h)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    memset(h, 0, sizeof *h);
    pthread_mutex_init(&h->lock, NULL);
    h->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(h->fd >= 0 && bind(h->fd, (struct sockaddr *)&at, sizeof at) == 0 &&
          listen(h->fd, 64) == 0 && getsockname(h->fd, (struct sockaddr *)&at, &len) == 0);
    h->port = ntohs(at.sin_port);
    CHECK(pthread_create(&h->acceptor, NULL, http_accept, h) == 0);
}

static inline void http_stop(Http *h)
{
    h->stop = true;
    pthread_join(h->acceptor, NULL);
    for (size_t i = 0; i < h->worker_count; i++)
        pthread_join(h->workers[i], NULL);
    close(h->fd);
    pthread_mutex_destroy(&h->lock);
}

/* Was this in the last request? */
static inline bool http_had(Http *h, const char *part)
{
    pthread_mutex_lock(&h->lock);
    bool had = strstr(h->last, part) != NULL;
    pthread_mutex_unlock(&h->lock);
    return had;
}

#endif
