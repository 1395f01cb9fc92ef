/* SPDX-License-Identifier: MIT
 * Connections to Redis.  What always holds: the socket is ours and never waits, so every wait ends when it must; a
 * connection on which anything went wrong is never used again, because an answer that comes late would be taken for
 * that of the next command; no text that is shown has a password in it. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/os/sigpipe.h"
#include "store/store_redis_int.h"

enum { REPLY_MOST = 64 * PTC_MB, SHOWN_ERROR = 100 };

/* --------------------------------------------------------------------------------- addresses */

size_t ptc_redis_unescape(char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++, n++) {
        bool escaped = text[i] == '%' && len - i > 2 && ptc_ascii_hex_value(text[i + 1]) >= 0 &&
                       ptc_ascii_hex_value(text[i + 2]) >= 0;
        text[n] =
            escaped
                ? (char)(16 * ptc_ascii_hex_value(text[i + 1]) + ptc_ascii_hex_value(text[i + 2]))
                : text[i];
        i += escaped ? 2 : 0;
    }
    return n;
}

/* Copies a part of a URL without its %XX; false: it is too long, or no text. */
static bool copy_part(char *to, size_t room, PtcText part)
{
    if (part.len >= room)
        return false;
    if (part.len)
        memcpy(to, part.bytes, part.len);
    size_t len = ptc_redis_unescape(to, part.len);
    to[len] = '\0';
    return strlen(to) == len;
}

/* Cuts what is behind the first (or with `last`, the last) of this character off; absent: there is none. */
static PtcText cut_behind(PtcText *text, char c, bool last)
{
    for (size_t i = 0; i < text->len; i++) {
        size_t at = last ? text->len - 1 - i : i;
        if (text->bytes[at] != c)
            continue;
        PtcText behind = {text->bytes + at + 1, text->len - at - 1};
        text->len = at;
        return behind;
    }
    return (PtcText){NULL, 0};
}

static bool is_digits(PtcText text, size_t most)
{
    bool ok = text.len <= most;
    for (size_t i = 0; ok && i < text.len; i++)
        ok = ptc_ascii_is_digit(text.bytes[i]);
    return ok;
}

/* user:password@ */
static bool read_user(PtcRedisPlace *place, PtcText user)
{
    PtcText password = cut_behind(&user, ':', false);
    return (!user.len || copy_part(place->user, sizeof place->user, user)) &&
           (!password.len || copy_part(place->password, sizeof place->password, password));
}

/* host:port or [address]:port */
static bool read_host(PtcRedisPlace *place, PtcText host)
{
    bool literal = host.len && host.bytes[0] == '[';
    PtcText behind = literal ? cut_behind(&host, ']', true) : host;
    PtcText port = cut_behind(literal ? &behind : &host, ':', true);
    if (literal)
        host = (PtcText){host.bytes + 1, host.len - 1};
    return host.len && is_digits(port, 5) && (!literal || (behind.bytes && !behind.len)) &&
           copy_part(place->host, sizeof place->host, host) &&
           (!port.len || copy_part(place->port, sizeof place->port, port));
}

static bool read_place(PtcRedisPlace *place, PtcText text)
{
    PtcText query = cut_behind(&text, '?', false), from = text;
    PtcText host = cut_behind(&from, '@', true); /* a password may have been written with one */
    PtcText at = host.bytes ? host : text;
    PtcText database = cut_behind(&at, '/', false);
    static const char prefix[] = "prefix=";
    size_t len = sizeof prefix - 1;
    bool prefixed = query.len > len && memcmp(query.bytes, prefix, len) == 0;
    return (!host.bytes || read_user(place, from)) && read_host(place, at) &&
           is_digits(database, sizeof place->database - 1) &&
           copy_part(place->database, sizeof place->database, database) &&
           (prefixed ? copy_part(place->prefix, sizeof place->prefix,
                                 (PtcText){query.bytes + len, query.len - len})
                     : !query.len);
}

bool ptc_redis_place_read(PtcRedisPlace *place, const char *url, PtcWhy *why)
{
    const char *password = getenv("PTC_STORE_PASSWORD");
    *place = (PtcRedisPlace){.tls = strncmp(url, "rediss:", 7) == 0,
                             .host = "",
                             .port = "6379",
                             .user = "",
                             .prefix = "ptc:"};
    if (!read_place(place, ptc_text_cstr(url + strlen("redis://") + place->tls)))
        return ptc_why_say(why, PTC_WHY_INVALID,
                           "a store on Redis is redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]"
                           "[?prefix=TEXT]");
    if (!place->password[0] && password &&
        snprintf(place->password, sizeof place->password, "%s", password) >=
            (int)sizeof place->password)
        return ptc_why_say(why, PTC_WHY_INVALID, "PTC_STORE_PASSWORD is too long");
    return true;
}

/* --------------------------------------------------------------------------------- sockets */

/* False: time ran out. */
static bool wait_for_socket(int fd, short events, int64_t until_ns)
{
    struct pollfd p = {.fd = fd, .events = events};
    for (;;) {
        int64_t left = until_ns - ptc_clock_ns(NULL);
        int n = left <= 0 ? 0 : poll(&p, 1, (int)((left + PTC_MS - 1) / PTC_MS));
        if (n >= 0 || errno != EINTR)
            return n > 0;
    }
}

/* A connected socket, or -1 with errno. */
static int connect_to(const struct addrinfo *at, int64_t until_ns)
{
    static const int on = 1;
    int error = 0;
    socklen_t len = sizeof error;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (connect(fd, at->ai_addr, at->ai_addrlen) != 0)
        error = errno;
    if (error == EINPROGRESS && !wait_for_socket(fd, POLLOUT, until_ns))
        error = ETIMEDOUT;
    else if (error == EINPROGRESS)
        (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
    if (!error)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

static const char *words_of_errno(int error, char room[80])
{
    if (error == ECONNREFUSED)
        return "connection refused";
    if (error == ETIMEDOUT)
        return "it does not answer";
    return strerror_r(error, room, 80) == 0 ? room : "it cannot be reached";
}

static int open_socket(const PtcRedisPlace *place, int64_t until_ns, PtcWhy *why)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char room[80];
    int fd = -1, code = getaddrinfo(place->host, place->port, &hints, &found);
    for (struct addrinfo *at = found; fd < 0 && at; at = at->ai_next)
        fd = connect_to(at, until_ns);
    if (fd < 0)
        ptc_why_say(why, PTC_WHY_UNAVAILABLE, "cannot connect to %.*s:%s: %s",
                    PTC_ARG(ptc_text_cut(ptc_text_cstr(place->host), 100)), place->port,
                    code ? gai_strerror(code) : words_of_errno(errno, room));
    if (found)
        freeaddrinfo(found);
    return fd;
}

/* --------------------------------------------------------------------------------- asking */

static PtcStoreStatus end_link(PtcRedisStore *s, PtcRedisLink *link, bool late)
{
    link->broken = true;
    ptc_store_trouble_say(&s->base.trouble, late ? "the store is busy: it does not answer"
                                                 : "the connection to the store was lost");
    return PTC_STORE_UNKNOWN;
}

static PtcStoreStatus send_command(PtcRedisStore *s, PtcRedisLink *link, int64_t until_ns)
{
    PtcSigpipe held;
    for (int done = 0;;) {
        ptc_sigpipe_hold(&held);
        int code = s->lib.call.write(link->context, &done);
        ptc_sigpipe_release(&held);
        if (code != PTC_REDIS_OK)
            return end_link(s, link, false);
        if (done)
            return PTC_STORE_OK;
        if (!wait_for_socket(link->fd, POLLOUT, until_ns))
            return end_link(s, link, true);
    }
}

static PtcStoreStatus hear_reply(PtcRedisStore *s, PtcRedisLink *link, int64_t until_ns,
                                 PtcRedisReply **reply)
{
    void *reader = ptc_redis_reader(link->context), *made = NULL;
    size_t total = 0;
    *reply = NULL;
    for (;;) {
        if (s->lib.call.reader_get(reader, &made) != PTC_REDIS_OK || total > REPLY_MOST)
            return end_link(s, link, false);
        if ((*reply = made))
            return PTC_STORE_OK;
        if (!wait_for_socket(link->fd, POLLIN, until_ns))
            return end_link(s, link, true);
        size_t before = ptc_redis_unread(reader);
        if (s->lib.call.read(link->context) != PTC_REDIS_OK)
            return end_link(s, link, false);
        total += ptc_redis_unread(reader) - before;
    }
}

PtcStoreStatus ptc_redis_ask(PtcRedisStore *s, PtcRedisLink *link, const PtcRedisCommand *c,
                             int64_t until_ns, PtcRedisReply **reply)
{
    *reply = NULL;
    if (s->lib.call.append(link->context, (int)c->count, (const char **)c->words, c->lens) !=
        PTC_REDIS_OK) {
        link->broken = true;
        return PTC_STORE_NO_MEMORY;
    }
    PtcStoreStatus status = send_command(s, link, until_ns);
    return status == PTC_STORE_OK ? hear_reply(s, link, until_ns, reply) : status;
}

/* --------------------------------------------------------------------------------- verdicts */

/* What a server says when it has done nothing; versions write more before and behind it. */
static const struct {
    const char *says;
    PtcStoreStatus status;
    const char *words;
} verdicts[] = {
    {"OOM command not allowed", PTC_STORE_FAILED, "the store is full"},
    {"READONLY ", PTC_STORE_FAILED, "the store is read-only"},
    {"MISCONF ", PTC_STORE_FAILED, "the store is read-only: Redis cannot save to its disk"},
    {"NOREPLICAS ", PTC_STORE_FAILED, "the store has too few replicas"},
    {"LOADING ", PTC_STORE_FAILED, "the store is starting"},
    {"MASTERDOWN ", PTC_STORE_FAILED, "the store is a replica without its primary"},
    {"BUSY Redis is busy", PTC_STORE_BUSY, "the store is busy: it runs a script"},
    {"WRONGTYPE ", PTC_STORE_DAMAGED, "a record of the store has another type"},
    {"CLUSTERDOWN ", PTC_STORE_FAILED, "the store is a Redis Cluster, which ptc does not use"},
    {"MOVED ", PTC_STORE_FAILED, "the store is a Redis Cluster, which ptc does not use"},
    {"NOPERM ", PTC_STORE_FAILED, "the store does not let this user run its scripts"},
    {"NOAUTH ", PTC_STORE_FAILED, "the store wants a password"},
};

PtcStoreStatus ptc_redis_verdict(PtcRedisStore *s, const PtcRedisReply *error,
                                 PtcStoreStatus otherwise)
{
    PtcStoreTrouble *trouble = &s->base.trouble;
    if (error->type != PTC_REDIS_ERROR) {
        ptc_store_trouble_say(trouble, "the store gave an answer that Redis does not give");
        return otherwise;
    }
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        if (strstr(error->text, verdicts[i].says)) {
            ptc_store_trouble_say(trouble, "%s", verdicts[i].words);
            return verdicts[i].status;
        }
    char shown[SHOWN_ERROR + 1];
    snprintf(shown, sizeof shown, "%s", error->text);
    for (char *at = shown; *at; at++)
        *at = *at < ' ' || *at > '~' ? '?' : *at;
    ptc_store_trouble_say(trouble, "the store answered: %s", shown);
    return otherwise;
}

/* --------------------------------------------------------------------------------- greeting */

PtcText ptc_redis_info(const PtcRedisReply *info, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = info ? strstr(info->text, name) : NULL; at; at = strstr(at + 1, name))
        if ((at == info->text || at[-1] == '\n') && at[len] == ':')
            return (PtcText){at + len + 1, strcspn(at + len + 1, "\r\n")};
    return (PtcText){NULL, 0};
}

/* Asks with up to three words. */
static PtcRedisReply *ask_words(PtcRedisStore *s, PtcRedisLink *link, const char *const words[4],
                                int64_t until_ns)
{
    PtcRedisCommand c;
    PtcRedisReply *reply;
    c.count = 0;
    for (int i = 0; i < 4 && words[i]; i++)
        ptc_redis_word(&c, ptc_text_cstr(words[i]));
    return ptc_redis_ask(s, link, &c, until_ns, &reply) == PTC_STORE_OK ? reply : NULL;
}

/* What went wrong in the words of the trouble. */
static bool say_trouble(PtcRedisStore *s, PtcWhyClass class, const char *before, PtcWhy *why)
{
    char text[PTC_STORE_WHY];
    pthread_mutex_lock(&s->base.trouble.lock);
    memcpy(text, s->base.trouble.text, sizeof text);
    pthread_mutex_unlock(&s->base.trouble.lock);
    return ptc_why_say(why, class, "%s%s", before, text);
}

static bool refuse_reply(PtcRedisStore *s, const PtcRedisReply *reply, PtcWhy *why)
{
    if (reply)
        (void)ptc_redis_verdict(s, reply, PTC_STORE_FAILED);
    return say_trouble(s, PTC_WHY_UNAVAILABLE, "", why);
}

/* Asks, and wants anything but an error.  The reply is the caller's; NULL with a text in why. */
static PtcRedisReply *ask_well(PtcRedisStore *s, PtcRedisLink *link, const char *const words[4],
                               int64_t until_ns, PtcWhy *why)
{
    PtcRedisReply *reply = ask_words(s, link, words, until_ns);
    if (reply && reply->type != PTC_REDIS_ERROR)
        return reply;
    refuse_reply(s, reply, why);
    ptc_redis_reply_free(reply);
    return NULL;
}

static bool log_in(PtcRedisStore *s, PtcRedisLink *link, int64_t until_ns, PtcWhy *why)
{
    const PtcRedisPlace *p = &s->place;
    const char *const with_user[4] = {"AUTH", p->user, p->password}, *const without[4] = {
                                                                         "AUTH", p->password};
    if (!p->password[0])
        return true;
    PtcRedisReply *reply = ask_words(s, link, p->user[0] ? with_user : without, until_ns);
    bool ok = reply && reply->type == PTC_REDIS_STATUS;
    if (reply && !ok)
        ptc_why_say(why, PTC_WHY_REFUSED, "the store refused user \"%.100s\"",
                    p->user[0] ? p->user : "default");
    else if (!ok)
        refuse_reply(s, reply, why);
    ptc_redis_reply_free(reply);
    return ok;
}

static bool is_old_server(PtcText version)
{
    int major = 0, minor = 0;
    return version.len && sscanf(version.bytes, "%4d.%4d", &major, &minor) == 2 &&
           (major < 6 || (major == 6 && minor < 2));
}

/* Is it a server that we can use?  A replica is, once it was none: then it can still be read. */
static bool check_server(PtcRedisStore *s, PtcRedisLink *link, int64_t until_ns, PtcWhy *why)
{
    const char *const words[4] = {"INFO"};
    PtcRedisReply *info = ask_words(s, link, words, until_ns);
    if (!info)
        return refuse_reply(s, info, why);
    PtcText version = ptc_redis_info(info, "redis_version");
    bool ok = true;
    if (info->type == PTC_REDIS_ERROR && !strncmp(info->text, "NOAUTH", 6))
        ok = ptc_why_say(why, PTC_WHY_REFUSED,
                         "the store refused user \"default\": it wants a password");
    else if (info->type != PTC_REDIS_STRING && info->type != PTC_REDIS_ERROR)
        ok = refuse_reply(s, info, why);
    else if (is_old_server(version))
        ok = ptc_why_say(why, PTC_WHY_REFUSED,
                         "the store is Redis %.*s: 6.2 or newer is needed, or Valkey",
                         PTC_ARG(ptc_text_cut(version, 20)));
    else if (ptc_text_is(ptc_redis_info(info, "cluster_enabled"), "1"))
        ok = ptc_why_say(why, PTC_WHY_REFUSED,
                         "the store is a Redis Cluster, which ptc does not use: name a single "
                         "server");
    else if (!s->opened && ptc_text_is(ptc_redis_info(info, "role"), "slave"))
        ok = ptc_why_say(why, PTC_WHY_REFUSED, "the store is read-only: it is a replica");
    else if (ptc_text_is(ptc_redis_info(info, "loading"), "1"))
        ok = ptc_why_say(why, PTC_WHY_UNAVAILABLE, "the store is starting");
    ptc_redis_reply_free(info);
    return ok;
}

/* Whoever comes first writes it down. */
static bool check_redis_schema(PtcRedisStore *s, PtcRedisLink *link, int64_t until_ns, PtcWhy *why)
{
    char key[PTC_REDIS_URL_PART + 8];
    snprintf(key, sizeof key, "%smeta", s->place.prefix);
    const char *const words[4] = {"EVAL", ptc_redis_schema, "1", key};
    PtcRedisReply *reply = ask_well(s, link, words, until_ns, why);
    if (!reply)
        return false;
    long found = strtol(reply->text, NULL, 10);
    ptc_redis_reply_free(reply);
    if (found > PTC_STORE_SCHEMA)
        return ptc_why_say(why, PTC_WHY_REFUSED, "schema %ld is newer than this ptc knows (%d)",
                           found, PTC_STORE_SCHEMA);
    return found == PTC_STORE_SCHEMA ||
           ptc_why_say(why, PTC_WHY_REFUSED, "%s holds something else than the schema of a store",
                       key);
}

/* Encrypts it, where that is wanted. */
static bool secure_link(PtcRedisStore *s, PtcRedisLink *link, int64_t until_ns, PtcWhy *why)
{
    PtcSigpipe held;
    const char *words = "the TLS handshake failed";
    ptc_sigpipe_hold(&held);
    void *secure = s->lib.trust ? ptc_redis_secure(&s->lib, link->context, s->place.host) : NULL;
    short wants = secure ? POLLIN : (short)(s->lib.trust ? -1 : 0);
    while (wants > 0 && (wants = ptc_redis_shake(&s->lib, secure, &words)) > 0)
        if (!wait_for_socket(link->fd, wants, until_ns))
            wants = -1;
    ptc_sigpipe_release(&held);
    return wants == 0 || ptc_why_say(why, PTC_WHY_UNAVAILABLE, "cannot connect to %.100s:%s: %s",
                                     s->place.host, s->place.port, words);
}

static bool select_database(PtcRedisStore *s, PtcRedisLink *link, int64_t until_ns, PtcWhy *why)
{
    const char *const words[4] = {"SELECT", s->place.database};
    PtcRedisReply *reply = s->place.database[0] ? ask_well(s, link, words, until_ns, why) : NULL;
    bool ok = reply || !s->place.database[0];
    ptc_redis_reply_free(reply);
    return ok;
}

/* --------------------------------------------------------------------------------- life */

void ptc_redis_disconnect(void *store, void *link)
{
    PtcRedisStore *s = store;
    PtcRedisLink *l = link;
    s->lib.call.free(l->context);
    ptc_mem_free(&s->mem, l, sizeof *l);
}

bool ptc_redis_is_alive(void *store, void *link)
{
    PtcRedisLink *l = link;
    struct pollfd p = {.fd = l->fd, .events = POLLIN};
    (void)store;
    return !l->broken && poll(&p, 1, 0) == 0; /* nothing is to be read: no end, and no answer */
}

void *ptc_redis_connect(void *store, int64_t until_ns, PtcWhy *why)
{
    PtcRedisStore *s = store;
    PtcRedisLink *link = ptc_mem_alloc(&s->mem, sizeof *link);
    ptc_why_no_memory(why);
    if (!link)
        return NULL;
    memset(link, 0, sizeof *link);
    link->fd = open_socket(&s->place, until_ns, why);
    link->context = link->fd >= 0 ? ptc_redis_context(&s->lib, link->fd) : NULL;
    if (!link->context) {
        ptc_mem_free(&s->mem, link, sizeof *link);
        return NULL;
    }
    if (secure_link(s, link, until_ns, why) && log_in(s, link, until_ns, why) &&
        select_database(s, link, until_ns, why) && check_server(s, link, until_ns, why) &&
        check_redis_schema(s, link, until_ns, why))
        return link;
    ptc_redis_disconnect(s, link);
    return NULL;
}
