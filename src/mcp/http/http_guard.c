/* SPDX-License-Identifier: MIT
 * http_guard.c - Host, Origin and bearer tokens.
 *
 * A browser page can make its visitor send requests to servers on the visitor's own machine, under a name
 * that its author's DNS points there.  The browser then sends that name as Host and the page as Origin: both
 * are checked on every request, the metrics among them. */
#include "mcp/http/http_guard.h"

#include <string.h>

#include "base/budget.h"

enum { PEER_WAYS = 4 };

bool ptc_http_guard_init(PtcHttpGuard *guard, PtcMem *mem, bool loopback)
{
    *guard = (PtcHttpGuard){.loopback = loopback, .mem = mem};
    guard->token = ptc_mem_alloc(mem, PTC_HTTP_TOKENS_MAX * sizeof *guard->token);
    guard->failures = ptc_mem_alloc(mem, PTC_HTTP_PEERS * sizeof *guard->failures);
    if (guard->failures)
        memset(guard->failures, 0, PTC_HTTP_PEERS * sizeof *guard->failures);
    pthread_mutex_init(&guard->lock, NULL);
    if (guard->token && guard->failures)
        return true;
    ptc_http_guard_deinit(guard);
    return false;
}

void ptc_http_guard_deinit(PtcHttpGuard *guard)
{
    if (guard->token)
        explicit_bzero(guard->token, PTC_HTTP_TOKENS_MAX * sizeof *guard->token);
    ptc_mem_free(guard->mem, guard->token, PTC_HTTP_TOKENS_MAX * sizeof *guard->token);
    ptc_mem_free(guard->mem, guard->failures, PTC_HTTP_PEERS * sizeof *guard->failures);
    pthread_mutex_destroy(&guard->lock);
    guard->token = NULL;
    guard->failures = NULL;
}

/* ------------------------------------------------------------ configuration */

static bool all_visible(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return true;
}

const char *ptc_http_guard_add_token(PtcHttpGuard *guard, const char *token, size_t len,
                                     const char *owner, size_t owner_len)
{
    if (len < PTC_HTTP_TOKEN_MIN)
        return "a token has at least 16 characters; `openssl rand -hex 32` makes a good one";
    if (len > PTC_HTTP_TOKEN_MAX)
        return "a token has at most 256 characters";
    if (!all_visible(token, len))
        return "a token consists of visible ASCII characters without spaces";
    if (owner_len == 0 || owner_len >= PTC_HTTP_OWNER_MAX || !all_visible(owner, owner_len))
        return "an owner's name has 1 to 63 visible ASCII characters without spaces";
    if (guard->token_count == PTC_HTTP_TOKENS_MAX)
        return "there are at most 64 tokens";
    PtcHttpToken *slot = &guard->token[guard->token_count++];
    memset(slot, 0, sizeof *slot);
    memcpy(slot->bytes, token, len);
    memcpy(slot->owner, owner, owner_len);
    slot->len = len;
    return NULL;
}

/* Length of the first word of a line, and where the next one begins. */
static size_t word(const char *text, size_t len, size_t *next)
{
    size_t end = 0;
    while (end < len && text[end] != ' ' && text[end] != '\t')
        end++;
    *next = end;
    while (*next < len && (text[*next] == ' ' || text[*next] == '\t'))
        ++*next;
    return end;
}

static const char *add_line(PtcHttpGuard *guard, const char *line, size_t len)
{
    while (len && (line[len - 1] == '\r' || line[len - 1] == ' ' || line[len - 1] == '\t'))
        len--;
    if (len == 0 || *line == '#')
        return NULL;
    size_t next, first = word(line, len, &next);
    if (next == len)
        return ptc_http_guard_add_token(guard, line, len, "default", strlen("default"));
    return ptc_http_guard_add_token(guard, line + next, len - next, line, first);
}

const char *ptc_http_guard_add_tokens(PtcHttpGuard *guard, const char *text, size_t len,
                                      size_t *line)
{
    *line = 0;
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t n = end ? (size_t)(end - text) - at : len - at;
        ++*line;
        const char *why = add_line(guard, text + at, n);
        if (why)
            return why;
        at += n + 1;
    }
    return guard->token_count ? NULL : "it holds no token";
}

const char *ptc_http_names_add(PtcHttpNames *names, const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len >= PTC_HTTP_NAME_MAX || !all_visible(name, len))
        return "a name has 1 to 255 visible ASCII characters without spaces";
    if (names->count == PTC_HTTP_NAMES_MAX)
        return "there are at most 32 names";
    char *to = names->name[names->count++];
    for (size_t i = 0; i <= len; i++)
        to[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 32) : name[i];
    return NULL;
}

/* ------------------------------------------------------------ Host, Origin */

static bool all_digits(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return true;
}

/* The name without its port; *ok is false when what follows the name is no port. */
static PtcText without_port(PtcText host, bool *ok)
{
    const char *close = host.len && *host.bytes == '[' ? memchr(host.bytes, ']', host.len) : NULL;
    size_t name = close ? (size_t)(close - host.bytes) + 1 : 0;
    while (name < host.len && host.bytes[name] != ':')
        name++;
    *ok = name == host.len || all_digits(host.bytes + name + 1, host.len - name - 1);
    return (PtcText){host.bytes, name};
}

/* 127.x.y.z, every address of which is this machine. */
static bool is_loopback_v4(PtcText name)
{
    static const char first[] = "127.";
    size_t dots = 0, digits = 0;
    if (name.len < sizeof first || memcmp(name.bytes, first, sizeof first - 1) != 0)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        bool dot = name.bytes[i] == '.';
        if (!dot && (name.bytes[i] < '0' || name.bytes[i] > '9' || digits == 3))
            return false;
        if (dot && digits == 0)
            return false;
        dots += dot;
        digits = dot ? 0 : digits + 1;
    }
    return dots == 3 && digits > 0;
}

bool ptc_http_is_local_name(PtcText host)
{
    bool ok;
    PtcText name = without_port(host, &ok);
    return ok && (ptc_http_text_is_nocase(name, "localhost") || ptc_http_text_is(name, "[::1]") ||
                  is_loopback_v4(name));
}

static bool listed(const PtcHttpNames *names, PtcText text)
{
    for (size_t i = 0; i < names->count; i++)
        if (ptc_http_text_is_nocase(text, names->name[i]))
            return true;
    return false;
}

static bool host_ok(const PtcHttpGuard *guard, PtcText host)
{
    bool ok;
    if (!guard->loopback && guard->hosts.count == 0)
        return true;
    if (!host.bytes)
        return false;
    PtcText name = without_port(host, &ok);
    return (ok && listed(&guard->hosts, name)) || ptc_http_is_local_name(host);
}

/* The host[:port] of an http or https origin; data is NULL for any other. */
static PtcText origin_host(PtcText origin)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(schemes[i]);
        PtcText front = {origin.bytes, n};
        if (origin.len > n && ptc_http_text_is_nocase(front, schemes[i]))
            return (PtcText){origin.bytes + n, origin.len - n};
    }
    return (PtcText){NULL, 0};
}

static bool origin_ok(const PtcHttpGuard *guard, PtcText origin)
{
    if (!origin.bytes || listed(&guard->origins, origin))
        return true;
    PtcText host = origin_host(origin);
    return guard->loopback && host.bytes && ptc_http_is_local_name(host);
}

PtcHttpVerdict ptc_http_guard_place(const PtcHttpGuard *guard, const PtcHttpHead *head)
{
    if (!host_ok(guard, head->field[PTC_HTTP_HOST]))
        return PTC_HTTP_BAD_HOST;
    return origin_ok(guard, head->field[PTC_HTTP_ORIGIN]) ? PTC_HTTP_PASS : PTC_HTTP_BAD_ORIGIN;
}

/* ------------------------------------------------------------------ tokens */

/* Takes the same time wherever the two differ. */
static bool same_token(const PtcHttpToken *token, const char given[PTC_HTTP_TOKEN_MAX], size_t len)
{
    volatile unsigned char differ = (unsigned char)(token->len != len);
    for (size_t i = 0; i < PTC_HTTP_TOKEN_MAX; i++)
        differ = (unsigned char)(differ | (token->bytes[i] ^ given[i]));
    return differ == 0;
}

/* Looks at all tokens, so that the time does not tell which one it was. */
static const PtcHttpToken *find_token(const PtcHttpGuard *guard, PtcText text)
{
    char given[PTC_HTTP_TOKEN_MAX] = {0};
    const PtcHttpToken *found = NULL;
    if (text.len > sizeof given)
        return NULL;
    memcpy(given, text.bytes, text.len);
    for (size_t i = 0; i < guard->token_count; i++)
        if (same_token(&guard->token[i], given, text.len))
            found = &guard->token[i];
    explicit_bzero(given, sizeof given);
    return found;
}

/* What follows "Bearer"; data is NULL for another scheme. */
static PtcText bearer(PtcText field)
{
    static const char scheme[] = "bearer ";
    PtcText front = {field.bytes, sizeof scheme - 1};
    if (field.len <= front.len || !ptc_http_text_is_nocase(front, scheme))
        return (PtcText){NULL, 0};
    PtcText rest = {field.bytes + front.len, field.len - front.len};
    while (rest.len && *rest.bytes == ' ')
        rest.bytes++, rest.len--;
    return rest;
}

static bool same_peer(PtcHttpPeer a, PtcHttpPeer b)
{
    return a.high == b.high && a.v6 == b.v6;
}

static bool expired(const PtcHttpFailures *f, int64_t now_ns)
{
    return f->count == 0 || now_ns - f->since_ns >= PTC_HTTP_FAILURE_WINDOW_S * INT64_C(1000000000);
}

/* The peer's entry; without one and with `make`, the set's free or oldest entry becomes its own. */
static PtcHttpFailures *failures_of(PtcHttpGuard *guard, PtcHttpPeer peer, int64_t now_ns,
                                    bool make)
{
    uint64_t hash = (peer.high + peer.v6) * UINT64_C(0x9e3779b97f4a7c15);
    PtcHttpFailures *set =
        guard->failures + (hash >> 32) % (PTC_HTTP_PEERS / PEER_WAYS) * PEER_WAYS;
    PtcHttpFailures *oldest = set;
    for (PtcHttpFailures *f = set; f < set + PEER_WAYS; f++) {
        if (f->count && same_peer(f->peer, peer) && !expired(f, now_ns))
            return f;
        if (expired(f, now_ns) || f->since_ns < oldest->since_ns)
            oldest = f;
    }
    if (!make)
        return NULL;
    *oldest = (PtcHttpFailures){.peer = peer, .since_ns = now_ns};
    return oldest;
}

static bool blocked(PtcHttpGuard *guard, PtcHttpPeer peer, int64_t now_ns)
{
    pthread_mutex_lock(&guard->lock);
    const PtcHttpFailures *f = failures_of(guard, peer, now_ns, false);
    bool too_many = f && f->count >= PTC_HTTP_FAILURES_MAX;
    pthread_mutex_unlock(&guard->lock);
    return too_many;
}

static void note_failure(PtcHttpGuard *guard, PtcHttpPeer peer, int64_t now_ns)
{
    pthread_mutex_lock(&guard->lock);
    PtcHttpFailures *f = failures_of(guard, peer, now_ns, true);
    if (f->count < PTC_HTTP_FAILURES_MAX)
        f->count++;
    pthread_mutex_unlock(&guard->lock);
}

PtcHttpVerdict ptc_http_guard_token(PtcHttpGuard *guard, const PtcHttpHead *head, PtcHttpPeer peer,
                                    int64_t now_ns, const char **owner)
{
    *owner = "";
    if (guard->token_count == 0)
        return PTC_HTTP_PASS;
    if (blocked(guard, peer, now_ns))
        return PTC_HTTP_TOO_MANY_BAD;
    PtcText given = bearer(head->field[PTC_HTTP_AUTHORIZATION]);
    if (!given.bytes)
        return PTC_HTTP_NO_TOKEN;
    const PtcHttpToken *token = find_token(guard, given);
    if (!token) {
        note_failure(guard, peer, now_ns);
        return PTC_HTTP_WRONG_TOKEN;
    }
    *owner = token->owner;
    return PTC_HTTP_PASS;
}
