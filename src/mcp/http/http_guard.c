/* SPDX-License-Identifier: MIT
 * http_guard.c - who may speak.  What always holds: a valid token passes, whatever else its sender or others did. */
#include "mcp/http/http_guard.h"

#include <string.h>

#include "base/ascii.h"
#include "base/text/hmac.h"

bool ptc_http_guard_init(PtcHttpGuard *guard, PtcMem *mem, bool loopback)
{
    *guard = (PtcHttpGuard){.loopback = loopback, .mem = mem};
    if (!ptc_http_tokens_init(&guard->tokens, mem))
        return false;
    if (!ptc_http_brake_init(&guard->brake, mem)) {
        ptc_http_tokens_deinit(&guard->tokens);
        return false;
    }
    pthread_rwlock_init(&guard->lock, NULL);
    return true;
}

void ptc_http_guard_deinit(PtcHttpGuard *guard)
{
    ptc_http_tokens_deinit(&guard->tokens);
    ptc_http_brake_deinit(&guard->brake);
    pthread_rwlock_destroy(&guard->lock);
}

/* The old tokens go back to the caller, who wipes them outside the lock. */
void ptc_http_guard_replace(PtcHttpGuard *guard, PtcHttpTokens *tokens)
{
    pthread_rwlock_wrlock(&guard->lock);
    PtcHttpTokens old = guard->tokens;
    guard->tokens = *tokens;
    pthread_rwlock_unlock(&guard->lock);
    *tokens = old;
}

bool ptc_http_guard_has_owner(PtcHttpGuard *guard, const char *owner)
{
    pthread_rwlock_rdlock(&guard->lock);
    bool has = guard->tokens.count == 0 || ptc_http_tokens_have_owner(&guard->tokens, owner);
    pthread_rwlock_unlock(&guard->lock);
    return has;
}

static bool is_visible_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return true;
}

bool ptc_http_names_add(PtcHttpNames *names, const char *name, PtcWhy *why)
{
    size_t len = strlen(name);
    if (len == 0 || len >= PTC_HTTP_NAME_MAX || !is_visible_name(name, len))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "a name has 1 to 255 visible ASCII characters without spaces");
    if (names->count == PTC_HTTP_NAMES_MAX)
        return ptc_why_say(why, PTC_WHY_REFUSED, "there are at most 32 names");
    char *to = names->name[names->count++];
    for (size_t i = 0; i <= len; i++)
        to[i] = ptc_ascii_lower(name[i]);
    return true;
}

/* ------------------------------------------------------------ Host, Origin */

static bool all_digits(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!ptc_ascii_is_digit(text[i]))
            return false;
    return true;
}

/* The name without its port; *ok is false if what follows the name is not a port. */
static PtcText without_port(PtcText host, bool *ok)
{
    const char *close = host.len && *host.bytes == '[' ? memchr(host.bytes, ']', host.len) : NULL;
    size_t name = close ? (size_t)(close - host.bytes) + 1 : 0;
    while (name < host.len && host.bytes[name] != ':')
        name++;
    *ok = name == host.len || all_digits(host.bytes + name + 1, host.len - name - 1);
    return (PtcText){host.bytes, name};
}

/* 127.x.y.z: every such address is this machine. */
static bool is_loopback_v4(PtcText name)
{
    static const char first[] = "127.";
    size_t dots = 0, digits = 0;
    if (name.len < sizeof first || memcmp(name.bytes, first, sizeof first - 1) != 0)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        bool dot = name.bytes[i] == '.';
        if (!dot && (!ptc_ascii_is_digit(name.bytes[i]) || digits == 3))
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

static bool is_name_listed(const PtcHttpNames *names, PtcText text)
{
    for (size_t i = 0; i < names->count; i++)
        if (ptc_http_text_is_nocase(text, names->name[i]))
            return true;
    return false;
}

/* Guards against names that an attacker points at 127.0.0.1. */
static bool host_ok(const PtcHttpGuard *guard, PtcText host)
{
    bool ok;
    if (!guard->loopback && guard->hosts.count == 0)
        return true;
    if (!host.bytes)
        return false;
    PtcText name = without_port(host, &ok);
    return (ok && is_name_listed(&guard->hosts, name)) || ptc_http_is_local_name(host);
}

/* The host[:port] of an http or https origin; absent for any other. */
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

bool ptc_http_guard_lists_origin(const PtcHttpGuard *guard, PtcText origin)
{
    return origin.bytes && is_name_listed(&guard->origins, origin);
}

/* A page's POST always has an Origin, so a request without one does not come from a page. */
static bool origin_ok(const PtcHttpGuard *guard, PtcText origin)
{
    if (!origin.bytes || is_name_listed(&guard->origins, origin))
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

/* What follows "Bearer"; absent for another scheme. */
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

/* A digest, so that the brake's table holds no tokens. */
static uint64_t token_key(PtcText given)
{
    uint8_t digest[PTC_SHA256_BYTES];
    uint64_t key;
    ptc_sha256(given.bytes, given.len, digest);
    memcpy(&key, digest, sizeof key);
    return key;
}

/* A wrong token counts against its sender and against itself.  Behind a proxy all clients have one address, so a
 * client that keeps sending an old token is stopped long before the others notice. */
static PtcHttpVerdict judge_wrong(PtcHttpGuard *guard, PtcText given, PtcHttpPeer peer,
                                  int64_t now_ns)
{
    uint32_t same = ptc_http_brake_count(&guard->brake, token_key(given), now_ns);
    uint32_t by_peer = ptc_http_brake_count(&guard->brake, peer.high ^ peer.v6, now_ns);
    bool many = same > PTC_HTTP_SAME_TOKEN_MAX || by_peer > PTC_HTTP_PEER_TOKENS_MAX;
    return many ? PTC_HTTP_TOO_MANY_BAD : PTC_HTTP_WRONG_TOKEN;
}

/* True: it is one of ours, or none is required. */
static bool find_owner(PtcHttpGuard *guard, PtcText given, char owner[PTC_HTTP_OWNER_MAX])
{
    pthread_rwlock_rdlock(&guard->lock);
    const PtcHttpToken *token = given.bytes ? ptc_http_tokens_find(&guard->tokens, given) : NULL;
    bool passes = token || guard->tokens.count == 0;
    if (token)
        memcpy(owner, token->owner, PTC_HTTP_OWNER_MAX);
    else
        owner[0] = '\0';
    pthread_rwlock_unlock(&guard->lock);
    return passes;
}

PtcHttpVerdict ptc_http_guard_token(PtcHttpGuard *guard, const PtcHttpHead *head, PtcHttpPeer peer,
                                    int64_t now_ns, char owner[PTC_HTTP_OWNER_MAX])
{
    PtcText given = bearer(head->field[PTC_HTTP_AUTHORIZATION]);
    if (find_owner(guard, given, owner))
        return PTC_HTTP_PASS;
    return given.bytes ? judge_wrong(guard, given, peer, now_ns) : PTC_HTTP_NO_TOKEN;
}
