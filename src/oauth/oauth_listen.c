/* SPDX-License-Identifier: MIT
 * A server for one request.  Browsers also ask for icons and open connections that they do not use, and anybody may ask
 * for anything, so what does not have the state of the sign-in gets 404, and nobody is listened to for long. */
#define _GNU_SOURCE /* accept4 */
#include "oauth/oauth_listen.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "oauth/oauth_redirect.h"

#define LISTEN_PATH "/callback"

enum { REQUEST_BYTES = 16 * PTC_KB, ONE_MS = 1000, LISTEN_LOOK_MS = 50, PENDING = 8 };

bool ptc_oauth_listen_open(PtcOauthListen *listener, int port)
{
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    listener->fd = fd;
    if (fd < 0)
        return false;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (const struct sockaddr *)&here, sizeof here) != 0 || listen(fd, PENDING) != 0 ||
        getsockname(fd, (struct sockaddr *)&here, &size) != 0) {
        ptc_oauth_listen_close(listener);
        return false;
    }
    snprintf(listener->redirect, sizeof listener->redirect, "http://127.0.0.1:%d" LISTEN_PATH,
             ntohs(here.sin_port));
    return true;
}

void ptc_oauth_listen_close(PtcOauthListen *listener)
{
    if (listener->fd >= 0)
        close(listener->fd);
    listener->fd = -1;
}

/* ------------------------------------------------------------------------------- one request */

/* Is there something to read before the time is over? */
static bool is_readable_in_time(int fd, int64_t end_ns, const PtcCancel *cancel)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (!ptc_cancelled(cancel) && ptc_clock_ns(NULL) < end_ns)
        if (poll(&p, 1, LISTEN_LOOK_MS) > 0)
            return true;
    return false;
}

/* The beginning of a request, up to the end of its headers. */
static size_t read_redirect_request(int fd, char *text, size_t size, const PtcCancel *cancel)
{
    int64_t end_ns = ptc_clock_ns(NULL) + ONE_MS * PTC_MS;
    size_t n = 0;
    while (n < size && is_readable_in_time(fd, end_ns, cancel)) {
        ssize_t got = recv(fd, text + n, size - n, MSG_DONTWAIT);
        if (got <= 0)
            break;
        n += (size_t)got;
        if (memmem(text, n, "\r\n\r\n", 4))
            break;
    }
    return n;
}

/* What the request line asks for, if it is our path with a query; absent otherwise. */
static PtcText target_of(const char *text, size_t n)
{
    static const char begin[] = "GET " LISTEN_PATH "?";
    const char *end = memmem(text, n, "\r\n", 2);
    size_t line = end ? (size_t)(end - text) : 0;
    if (line < sizeof begin - 1 || memcmp(text, begin, sizeof begin - 1) != 0)
        return (PtcText){NULL, 0};
    const char *blank = memchr(text + 4, ' ', line - 4);
    return blank ? (PtcText){text + 4, (size_t)(blank - text) - 4} : (PtcText){NULL, 0};
}

static void answer_browser(int fd, bool ours)
{
    static const char body[] = "<!doctype html><title>ptc</title><p>ptc has the answer. You can "
                               "close this window and go back to the terminal.\n";
    static const char none[] = "not here\n";
    char text[1024];
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: "
                     "%zu\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
                     "Connection: close\r\n\r\n%s",
                     ours ? "200 OK" : "404 Not Found", ours ? sizeof body - 1 : sizeof none - 1,
                     ours ? body : none);
    (void)!send(fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(fd, SHUT_WR);
}

bool ptc_oauth_listen_wait(PtcOauthListen *listener, const char *state, int64_t end_ns,
                           const PtcCancel *cancel, PtcBuf *address)
{
    char text[REQUEST_BYTES];
    bool found = false;
    while (!found && is_readable_in_time(listener->fd, end_ns, cancel)) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            /* Out of descriptors, say: the connection stays in the queue, and accepting it again at once would only
             * burn time. */
            poll(NULL, 0, LISTEN_LOOK_MS);
            continue;
        }
        PtcText target = target_of(text, read_redirect_request(fd, text, sizeof text, cancel));
        found = target.bytes && ptc_oauth_redirect_is_ours(target, state);
        answer_browser(fd, found);
        close(fd);
        if (found)
            ptc_buf_add(address, target.bytes, target.len);
    }
    return found && ptc_buf_ok(address);
}
