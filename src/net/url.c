/* SPDX-License-Identifier: MIT
 * Addresses.  What always holds: what is accepted is printable ASCII, and its host contains no character with a
 * special meaning, so libcurl takes it apart the same way. */
#include "net/url.h"

#include <stdio.h>

#include <strings.h>

#include "base/ascii.h"

static bool is_host_char(char c)
{
    return ptc_ascii_is_alnum(c) || c == '.' || c == '-' || c == '_';
}

/* Four numbers of up to three digits with dots between them; *first becomes the first. */
static bool is_ipv4(PtcText host, int *first)
{
    int parts = 0, number = 0, digits = 0;
    for (size_t i = 0; i <= host.len; i++) {
        char c = i < host.len ? host.bytes[i] : '.';
        if (ptc_ascii_is_digit(c) && digits < 3) {
            number = number * 10 + (c - '0');
            digits++;
            continue;
        }
        if (c != '.' || digits == 0 || number > 255 || parts == 4)
            return false;
        if (parts++ == 0)
            *first = number;
        number = digits = 0;
    }
    return parts == 4;
}

/* [...]: hexadecimal digits, colons and dots.  The caller has seen the bracket. */
static bool take_ipv6(PtcText *rest, PtcUrl *url)
{
    size_t n = 1;
    while (n < rest->len &&
           (ptc_ascii_is_hex(rest->bytes[n]) || rest->bytes[n] == ':' || rest->bytes[n] == '.'))
        n++;
    if (n >= rest->len || rest->bytes[n] != ']' || n < 3)
        return false;
    url->host = (PtcText){rest->bytes + 1, n - 1};
    url->literal = true;
    url->loopback = ptc_text_is(url->host, "::1");
    *rest = (PtcText){rest->bytes + n + 1, rest->len - n - 1};
    return true;
}

static bool take_host_name(PtcText *rest, PtcUrl *url)
{
    size_t n = 0;
    int first = 0;
    while (n < rest->len && is_host_char(rest->bytes[n]))
        n++;
    url->host = (PtcText){rest->bytes, n};
    url->literal = is_ipv4(url->host, &first);
    url->loopback =
        url->literal ? first == 127 : n == 9 && strncasecmp(url->host.bytes, "localhost", 9) == 0;
    *rest = (PtcText){rest->bytes + n, rest->len - n};
    return n > 0 && n <= 253;
}

static bool take_port(PtcText *rest, PtcUrl *url)
{
    size_t n = 1;
    unsigned number = 0;
    while (n < rest->len && n <= 5 && ptc_ascii_is_digit(rest->bytes[n]))
        number = number * 10 + (unsigned)(rest->bytes[n++] - '0');
    url->port = (PtcText){rest->bytes + 1, n - 1};
    *rest = (PtcText){rest->bytes + n, rest->len - n};
    return n > 1 && number >= 1 && number <= 65535;
}

/* Characters that some reader would treat specially are refused, not escaped. */
static bool check_url_path(PtcText path)
{
    if (path.len && path.bytes[0] != '/' && path.bytes[0] != '?')
        return false;
    for (size_t i = 0; i < path.len; i++) {
        char c = path.bytes[i];
        if (c <= ' ' || c > '~' || strchr("\"#<>\\^`{|}", c))
            return false;
    }
    return true;
}

bool ptc_url_parse(PtcText text, PtcUrl *url, PtcWhy *why)
{
    *url = (PtcUrl){.https = ptc_text_starts(text, "https://")};
    if (text.len > PTC_URL_BYTES || !(url->https || ptc_text_starts(text, "http://")))
        return ptc_why_say(why, PTC_WHY_INVALID, "must begin with https:// or http://");
    size_t scheme = url->https ? 8 : 7;
    PtcText rest = {text.bytes + scheme, text.len - scheme};
    if (!(rest.len && rest.bytes[0] == '[' ? take_ipv6(&rest, url) : take_host_name(&rest, url)))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "needs a host of letters, digits, dots and hyphens");
    if ((rest.len && rest.bytes[0] == ':' && !take_port(&rest, url)) ||
        (rest.len && rest.bytes[0] == '@'))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "may have a port from 1 to 65535 after its host, and no user name or "
                           "password");
    url->path = rest;
    return check_url_path(rest) ||
           ptc_why_say(why, PTC_WHY_INVALID,
                       "may have a path of printable ASCII after its host, without spaces, quotes, "
                       "# and \\");
}

static PtcText port_of(const PtcUrl *url)
{
    return url->port.bytes ? url->port : url->https ? PTC_TEXT("443") : PTC_TEXT("80");
}

bool ptc_url_same_server(const PtcUrl *a, const PtcUrl *b)
{
    return a->https == b->https && a->host.len == b->host.len &&
           strncasecmp(a->host.bytes, b->host.bytes, a->host.len) == 0 &&
           ptc_text_same(port_of(a), port_of(b));
}

/* How much of the base stays before a location that is no whole address. */
static size_t kept_of(const char *base, size_t origin, char first)
{
    size_t keep = origin, end = origin + strcspn(base + origin, "?");
    if (first == '?')
        return end;
    for (size_t i = origin; first != '/' && i < end; i++)
        keep = base[i] == '/' ? i + 1 : keep;
    return keep;
}

bool ptc_url_resolve(const char *base, const char *location, char out[PTC_URL_BYTES + 1])
{
    PtcUrl url;
    char first = location[0];
    bool whole = location[strcspn(location, ":/?#")] == ':';
    if (!ptc_url_parse(ptc_text_cstr(base), &url, NULL) || (first == '/' && location[1] == '/'))
        return false;
    size_t origin = (size_t)(url.path.bytes - base);
    size_t keep = whole ? 0 : kept_of(base, origin, first);
    const char *joint = keep == origin && !whole && first != '/' && first != '?' ? "/" : "";
    int n = snprintf(out, PTC_URL_BYTES + 1, "%.*s%s%.*s", PTC_ARG_OF(base, keep), joint,
                     PTC_ARG_OF(location, strcspn(location, "#")));
    return n > 0 && n <= PTC_URL_BYTES && ptc_url_parse(ptc_text_cstr(out), &url, NULL);
}

/* The character at *i, with those decoded that decide where a path leads; *i is moved to its last byte. */
static char path_char(PtcText path, size_t *i)
{
    static const char codes[][4] = {"2e.", "2f/", "5c/"};
    if (path.bytes[*i] == '\\')
        return '/';
    if (path.bytes[*i] != '%' || path.len - *i < 3)
        return path.bytes[*i];
    for (size_t n = 0; n < sizeof codes / sizeof *codes; n++)
        if (strncasecmp(path.bytes + *i + 1, codes[n], 2) == 0) {
            *i += 2;
            return codes[n][2];
        }
    return '%';
}

/* Some servers cut a segment at a semicolon before they look at it. */
bool ptc_url_path_stays(PtcText path)
{
    size_t dots = 0;
    bool other = false;
    for (size_t i = 0; i < path.len; i++) {
        char c = path_char(path, &i);
        if ((c == '/' || c == ';') && !other && (dots == 1 || dots == 2))
            return false;
        dots = c == '/' ? 0 : dots + (c == '.');
        other = c != '/' && (other || c != '.');
    }
    return other || (dots != 1 && dots != 2);
}

bool ptc_url_encode(PtcBuf *out, PtcText text)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len && ptc_buf_ok(out); i++) {
        char c = text.bytes[i];
        char code[3] = {'%', digits[(unsigned char)c >> 4], digits[c & 15]};
        if (ptc_ascii_is_alnum(c) || (c && strchr("-._~", c)))
            ptc_buf_add_char(out, c);
        else
            ptc_buf_add(out, code, sizeof code);
    }
    return ptc_buf_ok(out);
}
