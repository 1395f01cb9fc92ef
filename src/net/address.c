/* SPDX-License-Identifier: MIT
 * Addresses of private networks, by their prefixes (RFC 6890 and those that carry an IPv4 address inside). */
#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is_inside_4(uint32_t ip)
{
    static const struct {
        uint32_t prefix;
        int bits;
    } inside[] = {
        {0x00000000, 8},  {0x0a000000, 8},  {0x64400000, 10}, {0x7f000000, 8},  {0xa9fe0000, 16},
        {0xac100000, 12}, {0xc0000000, 24}, {0xc0a80000, 16}, {0xc6120000, 15}, {0xe0000000, 3},
    };
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        if ((ip ^ inside[i].prefix) >> (32 - inside[i].bits) == 0)
            return true;
    return false;
}

static uint32_t ip_at(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool is_inside_6(const uint8_t b[16])
{
    static const uint8_t zeros[12] = {0}, mapped[12] = {[10] = 0xff, [11] = 0xff},
                         translated[12] = {0x00, 0x64, 0xff, 0x9b};
    if (memcmp(b, zeros, 12) == 0) /* ::, ::1, and IPv4 in its oldest form */
        return true;
    if (memcmp(b, mapped, 12) == 0 || memcmp(b, translated, 12) == 0)
        return is_inside_4(ip_at(b + 12));
    /* 64:ff9b:1::/48 is for local use: where the IPv4 address is in it is not known. */
    if (memcmp(b, translated, 4) == 0 && b[4] == 0 && b[5] == 1)
        return true;
    if (b[0] == 0x20 && b[1] == 0x02) /* 6to4 */
        return is_inside_4(ip_at(b + 2));
    return (b[0] & 0xfe) == 0xfc || (b[0] == 0xfe && (b[1] & 0x80)) || b[0] == 0xff;
}

bool ptc_address_is_inside(const struct sockaddr *address)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    if (address->sa_family == AF_INET) {
        memcpy(&four, address, sizeof four);
        return is_inside_4(ntohl(four.sin_addr.s_addr));
    }
    if (address->sa_family != AF_INET6)
        return true;
    memcpy(&six, address, sizeof six);
    return is_inside_6(six.sin6_addr.s6_addr);
}

bool ptc_address_text_is_inside(PtcText host)
{
    char text[64];
    struct in_addr four;
    struct in6_addr six;
    if (host.len >= sizeof text)
        return false;
    memcpy(text, host.bytes, host.len);
    text[host.len] = '\0';
    if (inet_pton(AF_INET, text, &four) == 1)
        return is_inside_4(ntohl(four.s_addr));
    return inet_pton(AF_INET6, text, &six) == 1 && is_inside_6(six.s6_addr);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* As libcurl reads them: HTTP_PROXY in capitals would be a header of a request to a CGI program. */
bool ptc_address_has_proxy(bool https)
{
    bool own = https ? is_set("https_proxy") || is_set("HTTPS_PROXY") : is_set("http_proxy");
    return own || is_set("all_proxy") || is_set("ALL_PROXY");
}
