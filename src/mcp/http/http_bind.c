/* SPDX-License-Identifier: MIT
 * http_bind.c - the listening socket.  What always holds: no name is ever looked up, so starting never waits for a
 * network. */
#include "mcp/http/http_bind.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/ascii.h"

enum { BIND_BACKLOG = 512, HOST_MAX = 64 };

static bool parse_port(const char *text, unsigned *port)
{
    unsigned n = 0;
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        if (!ptc_ascii_is_digit(text[i]))
            return false;
        n = n * 10 + (unsigned)(text[i] - '0');
        if (n > 65535)
            return false;
    }
    *port = n;
    return len > 0;
}

/* The part before the last colon, without brackets; false if it is too long for an address. */
static bool split_host(char host[HOST_MAX], const char *text, const char *colon)
{
    size_t len = (size_t)(colon - text);
    if (len >= 2 && *text == '[' && text[len - 1] == ']')
        text++, len -= 2;
    if (len >= HOST_MAX)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    return true;
}

static bool parse_host(PtcHttpAddress *address, const char *host)
{
    memset(address, 0, sizeof *address);
    if (strcmp(host, "localhost") == 0)
        host = "127.0.0.1";
    if (inet_pton(AF_INET, host, &address->v4.sin_addr) == 1) {
        address->v4.sin_family = AF_INET;
        return true;
    }
    if (inet_pton(AF_INET6, host, &address->v6.sin6_addr) != 1)
        return false;
    address->v6.sin6_family = AF_INET6;
    return true;
}

bool ptc_http_address_parse(PtcHttpAddress *address, const char *text, PtcWhy *why)
{
    const char *colon = strrchr(text, ':');
    char host[HOST_MAX];
    unsigned port;
    if (colon && parse_port(colon + 1, &port) && split_host(host, text, colon) &&
        parse_host(address, host)) {
        address->v4.sin_port = htons((uint16_t)port); /* at the same offset in both kinds */
        return true;
    }
    return ptc_why_say(why, PTC_WHY_INVALID,
                       "`%.60s` is not an address to listen on: write ADDRESS:PORT, such as "
                       "127.0.0.1:7332 or [::1]:7332",
                       text);
}

bool ptc_http_address_is_local(const PtcHttpAddress *address)
{
    if (address->any.sa_family == AF_INET)
        return ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
}

unsigned ptc_http_address_port(const PtcHttpAddress *address)
{
    return ntohs(address->v4.sin_port);
}

static bool bind_and_listen(int fd, PtcHttpAddress *address)
{
    int on = 1;
    socklen_t len = address->any.sa_family == AF_INET ? sizeof address->v4 : sizeof address->v6;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return bind(fd, &address->any, len) == 0 && listen(fd, BIND_BACKLOG) == 0 &&
           getsockname(fd, &address->any, &len) == 0;
}

int ptc_http_listen(PtcHttpAddress *address, PtcWhy *why)
{
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind_and_listen(fd, address))
        return fd;
    ptc_why_say(why, PTC_WHY_UNAVAILABLE, "cannot listen on port %u: %s%s",
                ptc_http_address_port(address), strerror(errno),
                errno == EADDRINUSE ? "; is another server running there?" : "");
    if (fd >= 0)
        close(fd);
    return -1;
}
