/* SPDX-License-Identifier: MIT
 * Records in Redis.  What always holds: whatever checks and changes is one script, which Redis runs alone; the name of
 * a key in Redis never has a byte of an owner or a key that means something there; a write whose answer did not come is
 * unknown, and what only reads is asked once more. */
#include <errno.h>
#include <poll.h>
#include <sha1.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/budget.h"
#include "base/os/cond.h"
#include "base/os/thread.h"
#include "base/text/secret.h"
#include "store/store_redis_int.h"

enum {
    KEYS_MOST = 40 * PTC_KB, /* bytes of the names of a command */
    NUMBER_ROOM = 24,
    ROW_ITEMS = 10,
    ROWS_ONCE = 500,
    LISTENER_STACK = 512 * PTC_KB,
    LISTEN_AGAIN_MS = 1000
};

static PtcRedisStore *as_redis(PtcStoreDriver *driver)
{
    return (PtcRedisStore *)(void *)driver;
}

/* --------------------------------------------------------------------------------- commands */

/* A script to run, and the bytes that its words are in; nothing moves, because the room is taken before. */
typedef struct {
    PtcRedisScript script;
    PtcRedisCommand command;
    PtcBuf names;
    char numbers[16][NUMBER_ROOM];
    size_t numbered;
} RedisCall;

static PtcText number_word(RedisCall *c, uint64_t n)
{
    char *room = c->numbers[c->numbered++];
    return (PtcText){room, (size_t)snprintf(room, NUMBER_ROOM, "%llu", (unsigned long long)n)};
}

static void add_number(RedisCall *c, int64_t n)
{
    ptc_redis_word(&c->command, number_word(c, n > 0 ? (uint64_t)n : 0));
}

/* The first two words are filled in when it is known how the server calls the script. */
static bool begin_call(PtcRedisStore *s, RedisCall *c, PtcRedisScript script, size_t keys,
                       size_t room)
{
    c->script = script;
    c->command.count = 2;
    c->numbered = 0;
    ptc_buf_init(&c->names, &s->mem, room);
    ptc_redis_word(&c->command, number_word(c, keys));
    return ptc_buf_resize(&c->names, room);
}

static bool is_plain(char c)
{
    return ptc_ascii_is_alnum(c) || c == '_' || c == '.' || c == '-';
}

static void add_escaped(PtcBuf *out, PtcText text)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = (uint8_t)text.bytes[i];
        const char escaped[3] = {'%', digits[c >> 4], digits[c & 15]};
        if (is_plain(text.bytes[i]))
            ptc_buf_add_char(out, text.bytes[i]);
        else
            ptc_buf_add(out, escaped, 3);
    }
}

/* Adds a name: the prefix, a letter and what follows it.  Parts that are absent are left out. */
static void add_name(PtcRedisStore *s, RedisCall *c, const char *letter, const char *kind,
                     PtcText owner, PtcText key)
{
    const char *from = c->names.data + c->names.len;
    size_t before = c->names.len;
    if (letter)
        ptc_buf_addf(&c->names, "%s%s", s->place.prefix, letter);
    if (kind)
        ptc_buf_addf(&c->names, ":%s", kind);
    if (owner.bytes && letter)
        ptc_buf_add_char(&c->names, ':');
    if (owner.bytes)
        add_escaped(&c->names, owner);
    if (key.bytes && (letter || owner.bytes))
        ptc_buf_add_char(&c->names, ':');
    if (key.bytes)
        add_escaped(&c->names, key);
    ptc_redis_word(&c->command, (PtcText){from, c->names.len - before});
}

static const PtcText none = {NULL, 0};

static void add_record(PtcRedisStore *s, RedisCall *c, const char *letter, const PtcStoreKey *key)
{
    add_name(s, c, letter, key->kind, key->owner, key->key);
}

static void add_indexes(PtcRedisStore *s, RedisCall *c, const PtcStoreKey *key)
{
    add_name(s, c, "o", key->kind, key->owner, none);
    add_name(s, c, "k", key->kind, none, none);
}

/* With the name of the script, and with its text where the server has forgotten it. */
static PtcStoreStatus run_script(PtcRedisStore *s, PtcRedisLink *link, RedisCall *c,
                                 int64_t until_ns, PtcRedisReply **reply)
{
    const char *ways[2][2] = {{"EVALSHA", s->sha[c->script]},
                              {"EVAL", ptc_redis_scripts[c->script]}};
    PtcStoreStatus status = PTC_STORE_OK;
    for (int way = 0; way < 2; way++) {
        for (int i = 0; i < 2; i++) {
            c->command.words[i] = ways[way][i];
            c->command.lens[i] = strlen(ways[way][i]);
        }
        status = ptc_redis_ask(s, link, &c->command, until_ns, reply);
        bool forgotten = status == PTC_STORE_OK && (*reply)->type == PTC_REDIS_ERROR &&
                         strncmp((*reply)->text, "NOSCRIPT", 8) == 0;
        if (!forgotten || way)
            break;
        ptc_redis_reply_free(*reply);
    }
    return status;
}

/* What the first word of an answer means. */
static PtcStoreStatus status_of(PtcRedisStore *s, const PtcRedisReply *reply, bool writes)
{
    static const struct {
        const char *word;
        PtcStoreStatus status;
    } words[] = {
        {"ok", PTC_STORE_OK},     {"absent", PTC_STORE_ABSENT}, {"conflict", PTC_STORE_CONFLICT},
        {"held", PTC_STORE_HELD}, {"fenced", PTC_STORE_FENCED}, {"full", PTC_STORE_FULL}};
    const PtcRedisReply *first =
        reply->type == PTC_REDIS_ARRAY && reply->count ? reply->items[0] : NULL;
    for (size_t i = 0; first && i < sizeof words / sizeof *words; i++)
        if (strcmp(first->text, words[i].word) == 0)
            return words[i].status;
    return ptc_redis_verdict(s, reply, writes ? PTC_STORE_UNKNOWN : PTC_STORE_FAILED);
}

/* Takes a connection, asks, gives it back.  A script, or the command alone. */
static PtcStoreStatus ask_once(PtcRedisStore *s, RedisCall *c, bool is_script, int64_t until_ns,
                               PtcRedisReply **reply)
{
    void *taken;
    *reply = NULL;
    PtcStoreStatus status = ptc_store_pool_take(s->pool, until_ns, &taken);
    if (status != PTC_STORE_OK)
        return status;
    PtcRedisLink *link = taken;
    status = is_script ? run_script(s, link, c, until_ns, reply)
                       : ptc_redis_ask(s, link, &c->command, until_ns, reply);
    /* one that has become a replica may have been replaced by another server */
    bool stale = *reply && (*reply)->type == PTC_REDIS_ERROR && strstr((*reply)->text, "READONLY");
    ptc_store_pool_give(s->pool, link, link->broken || stale);
    return status;
}

/* *answer is the caller's, or NULL. */
static PtcStoreStatus run_call(PtcRedisStore *s, RedisCall *c, bool writes, bool is_script,
                               PtcRedisReply **answer)
{
    int64_t until = ptc_clock_ns(NULL) + s->timeout_ms * PTC_MS;
    PtcStoreStatus status = PTC_STORE_NO_MEMORY;
    *answer = NULL;
    if (ptc_buf_ok(&c->names))
        status = ask_once(s, c, is_script, until, answer);
    if (status == PTC_STORE_UNKNOWN && !writes && ptc_clock_ns(NULL) < until)
        status = ask_once(s, c, is_script, until, answer);
    if (status == PTC_STORE_UNKNOWN && !writes)
        status = ptc_clock_ns(NULL) < until ? PTC_STORE_FAILED : PTC_STORE_BUSY;
    if (status == PTC_STORE_OK && is_script)
        status = status_of(s, *answer, writes);
    else if (status == PTC_STORE_OK && (*answer)->type == PTC_REDIS_ERROR)
        status = ptc_redis_verdict(s, *answer, PTC_STORE_FAILED);
    ptc_buf_deinit(&c->names);
    return status;
}

/* Where nothing but the status matters. */
static PtcStoreStatus finish_call(PtcRedisStore *s, RedisCall *c, bool writes)
{
    PtcRedisReply *reply;
    PtcStoreStatus status = run_call(s, c, writes, true, &reply);
    ptc_redis_reply_free(reply);
    return status;
}

/* --------------------------------------------------------------------------------- reading */

static PtcText text_of(const PtcRedisReply *reply, size_t at)
{
    const PtcRedisReply *item = at < reply->count ? reply->items[at] : NULL;
    return item ? (PtcText){item->text, item->len} : PTC_TEXT("");
}

/* Numbers that somebody else has changed are as good as any: their seal tells. */
static int64_t number_of(const PtcRedisReply *reply, size_t at)
{
    const PtcRedisReply *item = at < reply->count ? reply->items[at] : NULL;
    return !item                             ? 0
           : item->type == PTC_REDIS_INTEGER ? item->integer
                                             : strtoll(item->text, NULL, 10);
}

static PtcStoreRow redis_row(const PtcRedisReply *reply, size_t at)
{
    PtcText tag = text_of(reply, at + 1);
    PtcStoreRow row = {.version = (uint64_t)number_of(reply, at),
                       .created_ms = number_of(reply, at + 2),
                       .used_ms = number_of(reply, at + 3),
                       .expires_ms = number_of(reply, at + 4),
                       .idle_ms = number_of(reply, at + 5),
                       .meta = text_of(reply, at + 6),
                       .seal = text_of(reply, at + 7),
                       .rest_seal = text_of(reply, at + 8),
                       .size = (size_t)number_of(reply, at + 9)};
    if (tag.len == PTC_STORE_TAG)
        memcpy(row.tag, tag.bytes, PTC_STORE_TAG);
    return row;
}

static void add_claim(RedisCall *c, const PtcStoreClaim *claim)
{
    ptc_redis_word(&c->command,
                   claim ? (PtcText){(const char *)claim->node, PTC_STORE_NODE} : PTC_TEXT(""));
    add_number(c, claim ? claim->n : 0);
    add_number(c, claim ? claim->most : 0);
    add_number(c, claim ? claim->ms : 0);
}

static PtcStoreStatus get_from_redis(PtcStoreDriver *driver, const PtcStoreKey *key,
                                     const PtcStoreClaim *claim, bool with_bytes,
                                     PtcStoreTakeRow *take, void *user)
{
    PtcRedisStore *s = as_redis(driver);
    PtcRedisReply *reply;
    RedisCall c;
    if (!begin_call(s, &c, PTC_REDIS_GET, 2, KEYS_MOST))
        return PTC_STORE_NO_MEMORY;
    add_record(s, &c, "r", key);
    add_record(s, &c, "h", key);
    ptc_redis_word(&c.command, with_bytes ? PTC_TEXT("1") : PTC_TEXT("0"));
    add_claim(&c, claim);
    PtcStoreStatus status = run_call(s, &c, false, true, &reply);
    if (status == PTC_STORE_OK) {
        PtcStoreRow row = redis_row(reply, 1);
        if (with_bytes)
            row.bytes = text_of(reply, 1 + ROW_ITEMS);
        take(user, key, &row);
    }
    ptc_redis_reply_free(reply);
    return status;
}

static PtcStoreStatus hold_in_redis(PtcStoreDriver *driver, const PtcStoreKey *key,
                                    const PtcStoreClaim *claim)
{
    PtcRedisStore *s = as_redis(driver);
    RedisCall c;
    if (!begin_call(s, &c, PTC_REDIS_HOLD, 1, KEYS_MOST))
        return PTC_STORE_NO_MEMORY;
    add_record(s, &c, "h", key);
    add_claim(&c, claim);
    return finish_call(s, &c, false); /* taken twice, it is the same hold */
}

/* --------------------------------------------------------------------------------- writing */

static PtcStoreStatus put_in_redis(PtcStoreDriver *driver, const PtcStoreKey *key,
                                   const PtcStoreWrite *w, uint64_t *there)
{
    PtcRedisStore *s = as_redis(driver);
    const PtcStoreRow *row = &w->row;
    bool whole = row->bytes.bytes != NULL;
    PtcRedisReply *reply;
    RedisCall c;
    if (!begin_call(s, &c, PTC_REDIS_PUT, 6, KEYS_MOST))
        return PTC_STORE_NO_MEMORY;
    add_record(s, &c, "r", key);
    add_indexes(s, &c, key);
    add_name(s, &c, "kinds", NULL, none, none);
    add_record(s, &c, "h", key);
    add_record(s, &c, "r", w->guard ? w->guard : key);
    add_number(&c, (int64_t)w->expected);
    add_number(&c, (int64_t)row->version);
    ptc_redis_word(&c.command, (PtcText){(const char *)row->tag, PTC_STORE_TAG});
    const int64_t times[4] = {row->created_ms, row->used_ms, row->expires_ms, row->idle_ms};
    for (int i = 0; i < 4; i++)
        add_number(&c, times[i]);
    const PtcText texts[5] = {row->meta, whole ? row->bytes : PTC_TEXT(""),
                              whole ? row->seal : PTC_TEXT(""), row->rest_seal,
                              whole ? PTC_TEXT("1") : PTC_TEXT("0")};
    for (int i = 0; i < 5; i++)
        ptc_redis_word(&c.command, texts[i]);
    add_name(s, &c, NULL, NULL, none, key->key);
    add_name(s, &c, NULL, NULL, key->owner, key->key);
    ptc_redis_word(&c.command, ptc_text_cstr(key->kind));
    add_number(&c, (int64_t)w->bounds.owner_count);
    add_number(&c, (int64_t)w->bounds.count);
    ptc_redis_word(&c.command, w->guard ? number_word(&c, w->guard_version) : PTC_TEXT(""));
    ptc_redis_word(&c.command,
                   w->release ? (PtcText){(const char *)w->release, PTC_STORE_NODE} : PTC_TEXT(""));
    if (w->wakes)
        add_name(s, &c, "w", NULL, none, none);
    else
        ptc_redis_word(&c.command, PTC_TEXT(""));
    PtcStoreStatus status = run_call(s, &c, true, true, &reply);
    if (status == PTC_STORE_CONFLICT)
        *there = (uint64_t)number_of(reply, 1);
    ptc_redis_reply_free(reply);
    return status;
}

static PtcStoreStatus remove_from_redis(PtcStoreDriver *driver, const PtcStoreKey *key,
                                        uint64_t expected)
{
    PtcRedisStore *s = as_redis(driver);
    RedisCall c;
    if (!begin_call(s, &c, PTC_REDIS_REMOVE, 3, KEYS_MOST))
        return PTC_STORE_NO_MEMORY;
    add_record(s, &c, "r", key);
    add_indexes(s, &c, key);
    add_number(&c, (int64_t)expected);
    add_name(s, &c, NULL, NULL, none, key->key);
    add_name(s, &c, NULL, NULL, key->owner, key->key);
    return finish_call(s, &c, true);
}

/* --------------------------------------------------------------------------------- many */

/* A command without a script; words are added behind. */
static bool begin_plain(PtcRedisStore *s, RedisCall *c, const char *command)
{
    if (!begin_call(s, c, PTC_REDIS_GET, 0, KEYS_MOST))
        return false;
    c->command.count = 0;
    ptc_redis_word(&c->command, ptc_text_cstr(command));
    return true;
}

/* An answer that is no list is an empty one. */
static PtcStoreStatus ask_list(PtcRedisStore *s, RedisCall *c, PtcRedisReply **reply)
{
    PtcStoreStatus status = run_call(s, c, false, false, reply);
    if (status == PTC_STORE_OK && (*reply)->type != PTC_REDIS_ARRAY)
        status = ptc_redis_verdict(s, *reply, PTC_STORE_FAILED);
    return status;
}

/* All that are wanted, in `reply`: kinds and names by turns. */
static PtcStoreStatus ask_names(PtcRedisStore *s, const char *kind, PtcText owner,
                                PtcRedisReply **reply)
{
    RedisCall c;
    *reply = NULL;
    if (!begin_call(s, &c, PTC_REDIS_NAMES, 1, KEYS_MOST))
        return PTC_STORE_NO_MEMORY;
    add_name(s, &c, "kinds", NULL, none, none);
    ptc_redis_word(&c.command, ptc_text_cstr(s->place.prefix));
    ptc_redis_word(&c.command, ptc_text_cstr(kind ? kind : ""));
    ptc_redis_word(&c.command, owner.bytes ? PTC_TEXT("o:") : PTC_TEXT("k:"));
    add_name(s, &c, NULL, NULL, owner, owner.bytes ? none : PTC_TEXT(""));
    return run_call(s, &c, false, true, reply);
}

/* "KEY" of an owner or "OWNER:KEY"; false: somebody else wrote it. */
static bool read_name(PtcRedisReply *item, const char *kind, PtcText owner, PtcStoreKey *key)
{
    char *colon = owner.bytes ? NULL : memchr(item->text, ':', item->len);
    size_t at = colon ? (size_t)(colon - item->text) : 0;
    if (!owner.bytes && !colon)
        return false;
    size_t begin = colon ? at + 1 : 0;
    *key = (PtcStoreKey){kind, owner, {item->text + begin, item->len - begin}};
    if (colon)
        key->owner = (PtcText){item->text, ptc_redis_unescape(item->text, at)};
    key->key.len = ptc_redis_unescape(item->text + begin, key->key.len);
    return true;
}

static int compare_listed(const void *a, const void *b)
{
    return ptc_store_key_order(a, b);
}

/* The keys of a listing, which point into the answer. */
typedef struct {
    PtcStoreKey *keys;
    size_t count, room;
} RedisListing;

static PtcStoreStatus sort_names(PtcRedisStore *s, RedisListing *l, PtcRedisReply *names,
                                 PtcText owner, const PtcStoreKey *after)
{
    l->room = names->count / 2 + 1;
    if (!(l->keys = ptc_mem_alloc(&s->mem, l->room * sizeof *l->keys)))
        return PTC_STORE_NO_MEMORY;
    for (size_t i = 1; i + 1 < names->count; i += 2) {
        PtcStoreKey *key = &l->keys[l->count];
        const PtcRedisReply *kind = names->items[i];
        PtcRedisReply *item = names->items[i + 1];
        if (kind && item && read_name(item, kind->text, owner, key) &&
            (!after || ptc_store_key_order(key, after) > 0))
            l->count++;
    }
    qsort(l->keys, l->count, sizeof *l->keys, compare_listed);
    return PTC_STORE_OK;
}

/* Those of one command, from *at on; *left more are wanted. */
static PtcStoreStatus take_some(PtcRedisStore *s, const RedisListing *l, size_t *at, size_t *left,
                                PtcStoreTakeRow *take, void *user)
{
    size_t from = *at, room = PTC_KB, n = *left < ROWS_ONCE ? *left : ROWS_ONCE;
    PtcRedisReply *reply;
    RedisCall c;
    n = n < l->count - from ? n : l->count - from;
    for (size_t i = from; i < from + n; i++)
        room += 3 * (l->keys[i].owner.len + l->keys[i].key.len) + strlen(l->keys[i].kind) +
                sizeof s->place.prefix;
    if (!begin_call(s, &c, PTC_REDIS_ROWS, n, room))
        return PTC_STORE_NO_MEMORY;
    for (size_t i = from; i < from + n; i++)
        add_record(s, &c, "r", &l->keys[i]);
    PtcStoreStatus status = run_call(s, &c, false, true, &reply);
    for (size_t i = 0; status == PTC_STORE_OK && i < n && *left; i++) {
        PtcStoreRow row = redis_row(reply, 1 + i * ROW_ITEMS);
        if (row.version) /* it has not ended meanwhile */
            *left = take(user, &l->keys[from + i], &row) ? *left - 1 : 0;
    }
    *at += n;
    ptc_redis_reply_free(reply);
    return status;
}

static PtcStoreStatus list_redis(PtcStoreDriver *driver, const char *kind, PtcText owner,
                                 const PtcStoreKey *after, size_t n, PtcStoreTakeRow *take,
                                 void *user)
{
    PtcRedisStore *s = as_redis(driver);
    RedisListing l = {.count = 0};
    PtcRedisReply *names;
    PtcStoreStatus status = ask_names(s, kind, owner, &names);
    if (status == PTC_STORE_OK)
        status = sort_names(s, &l, names, owner, after);
    for (size_t at = 0; status == PTC_STORE_OK && n && at < l.count;)
        status = take_some(s, &l, &at, &n, take, user);
    ptc_mem_free(&s->mem, l.keys, l.room * sizeof *l.keys);
    ptc_redis_reply_free(names);
    return status;
}

/* Redis removes the records by its own clock; this cleans the indexes, by the same one. */
static PtcStoreStatus expire_redis(PtcStoreDriver *driver, const char *kind, int64_t now_ms,
                                   size_t n)
{
    PtcRedisStore *s = as_redis(driver);
    RedisCall c;
    (void)now_ms;
    if (!begin_call(s, &c, PTC_REDIS_EXPIRE, 1, KEYS_MOST))
        return PTC_STORE_NO_MEMORY;
    add_name(s, &c, "k", kind, none, none);
    add_name(s, &c, "o", kind, none, PTC_TEXT(""));
    add_number(&c, (int64_t)n);
    return finish_call(s, &c, false);
}

static PtcStoreStatus sum_redis(PtcStoreDriver *driver, const char *kind, PtcText owner,
                                size_t *count, size_t *bytes)
{
    PtcRedisStore *s = as_redis(driver);
    PtcRedisReply *reply;
    RedisCall c;
    if (!begin_call(s, &c, PTC_REDIS_SUM, 1, KEYS_MOST))
        return PTC_STORE_NO_MEMORY;
    add_name(s, &c, owner.bytes ? "o" : "k", kind, owner, none);
    add_name(s, &c, "r", kind, owner, PTC_TEXT(""));
    PtcStoreStatus status = run_call(s, &c, false, true, &reply);
    *count = status == PTC_STORE_OK ? (size_t)number_of(reply, 1) : 0;
    *bytes = status == PTC_STORE_OK ? (size_t)number_of(reply, 2) : 0;
    ptc_redis_reply_free(reply);
    return status;
}

static PtcStoreStatus clock_of_redis(PtcStoreDriver *driver, int64_t *now_ms)
{
    PtcRedisStore *s = as_redis(driver);
    PtcRedisReply *reply;
    RedisCall c;
    if (!begin_plain(s, &c, "TIME"))
        return PTC_STORE_NO_MEMORY;
    PtcStoreStatus status = ask_list(s, &c, &reply);
    if (status == PTC_STORE_OK)
        *now_ms = number_of(reply, 0) * 1000 + number_of(reply, 1) / 1000;
    ptc_redis_reply_free(reply);
    return status;
}

/* --------------------------------------------------------------------------------- telling */

/* One line for a setting that loses what was acknowledged. */
static bool tell_setting(PtcRedisStore *s, PtcBuf *out, const char *name, const char *wanted)
{
    PtcRedisReply *reply = NULL;
    PtcStoreStatus status = PTC_STORE_NO_MEMORY;
    RedisCall c;
    if (begin_plain(s, &c, "CONFIG")) {
        ptc_redis_word(&c.command, PTC_TEXT("GET"));
        ptc_redis_word(&c.command, ptc_text_cstr(name));
        status = ask_list(s, &c, &reply);
    }
    PtcText value = status == PTC_STORE_OK ? text_of(reply, 1) : none;
    bool right = ptc_text_is(value, wanted);
    if (!right && value.len)
        ptc_buf_addf(out, "\nruns and tasks: no: %s is \"%.*s\", not \"%s\"", name,
                     PTC_ARG(ptc_text_cut(value, 40)), wanted);
    else if (!right)
        ptc_buf_addf(out, "\nruns and tasks: no: the server does not tell its %s", name);
    ptc_redis_reply_free(reply);
    return right;
}

static PtcStoreStatus tell_redis(PtcStoreDriver *driver, PtcBuf *out, bool *durable)
{
    PtcRedisStore *s = as_redis(driver);
    PtcRedisReply *info;
    RedisCall c;
    if (!begin_plain(s, &c, "INFO"))
        return PTC_STORE_NO_MEMORY;
    PtcStoreStatus status = run_call(s, &c, false, false, &info);
    PtcText valkey = ptc_redis_info(info, "valkey_version"),
            redis = ptc_redis_info(info, "redis_version"), version = valkey.len ? valkey : redis;
    ptc_buf_addf(out, "%s %.*s, schema %d", valkey.len ? "valkey" : "redis",
                 PTC_ARG(version.len ? ptc_text_cut(version, 40) : PTC_TEXT("(unknown)")),
                 PTC_STORE_SCHEMA);
    ptc_redis_reply_free(info);
    bool logs = tell_setting(s, out, "appendonly", "yes"),
         waits = tell_setting(s, out, "appendfsync", "always"),
         stays = tell_setting(s, out, "maxmemory-policy", "noeviction");
    *durable = logs && waits && stays;
    return status == PTC_STORE_OK && !ptc_buf_ok(out) ? PTC_STORE_NO_MEMORY : status;
}

/* --------------------------------------------------------------------------------- hearing */

/* Tells those who wait, until the connection ends. */
static void hear_changes(PtcRedisStore *s, PtcRedisLink *link)
{
    void *reader = ptc_redis_reader(link->context), *reply;
    struct pollfd p = {.fd = link->fd, .events = POLLIN};
    bool works = true;
    while (works && (poll(&p, 1, -1) > 0 || errno == EINTR)) {
        works =
            s->lib.call.read(link->context) == PTC_REDIS_OK && ptc_redis_unread(reader) < PTC_MB;
        for (reply = reader; works && reply; ptc_redis_reply_free(reply)) {
            reply = NULL;
            works = s->lib.call.reader_get(reader, &reply) == PTC_REDIS_OK;
        }
        s->base.woke(s->base.woke_user);
    }
}

static PtcRedisLink *subscribe(PtcRedisStore *s)
{
    char channel[PTC_REDIS_URL_PART + 2];
    int64_t until = ptc_clock_ns(NULL) + PTC_STORE_CONNECT_MS * PTC_MS;
    PtcRedisReply *reply = NULL;
    PtcRedisCommand c = {.count = 0};
    PtcWhy why;
    PtcRedisLink *link = ptc_redis_connect(s, until, &why);
    snprintf(channel, sizeof channel, "%sw", s->place.prefix);
    ptc_redis_word(&c, PTC_TEXT("SUBSCRIBE"));
    ptc_redis_word(&c, ptc_text_cstr(channel));
    if (link && ptc_redis_ask(s, link, &c, until, &reply) != PTC_STORE_OK) {
        ptc_redis_disconnect(s, link);
        link = NULL;
    }
    ptc_redis_reply_free(reply);
    return link;
}

/* Whoever ends the store shuts the socket down, which ends the hearing. */
static void *listen_to_redis(void *user)
{
    PtcRedisStore *s = user;
    pthread_mutex_lock(&s->lock);
    while (!s->ends) {
        pthread_mutex_unlock(&s->lock);
        PtcRedisLink *link = subscribe(s);
        pthread_mutex_lock(&s->lock);
        s->listens = link && !s->ends ? link->fd : -1;
        pthread_mutex_unlock(&s->lock);
        if (link && s->listens >= 0)
            hear_changes(s, link);
        pthread_mutex_lock(&s->lock);
        s->listens = -1;
        if (link)
            ptc_redis_disconnect(s, link);
        if (!s->ends)
            ptc_cond_wait_ms(&s->ending, &s->lock, LISTEN_AGAIN_MS);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void end_listener(PtcRedisStore *s)
{
    pthread_mutex_lock(&s->lock);
    s->ends = true;
    if (s->listens >= 0)
        shutdown(s->listens, SHUT_RDWR);
    pthread_cond_signal(&s->ending);
    pthread_mutex_unlock(&s->lock);
    if (s->has_listener)
        pthread_join(s->listener, NULL);
}

/* --------------------------------------------------------------------------------- life */

static void free_redis(PtcStoreDriver *driver)
{
    PtcRedisStore *s = as_redis(driver);
    PtcMem mem;
    end_listener(s);
    ptc_store_pool_free(s->pool);
    ptc_redis_unload(&s->lib);
    ptc_secret_wipe(&s->place, sizeof s->place);
    pthread_cond_destroy(&s->ending);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->base.trouble.lock);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *s);
    ptc_mem_free(&mem, s, sizeof *s);
}

static bool open_redis(PtcRedisStore *s, const PtcStoreOpening *opening, PtcWhy *why)
{
    static const PtcStorePoolClass links = {ptc_redis_connect, ptc_redis_disconnect,
                                            ptc_redis_is_alive};
    if (!ptc_redis_place_read(&s->place, opening->url, why) ||
        !ptc_redis_load(&s->lib, s->place.tls, why))
        return false;
    for (int i = 0; i < PTC_REDIS_SCRIPTS; i++)
        SHA1Data((const uint8_t *)ptc_redis_scripts[i], strlen(ptc_redis_scripts[i]), s->sha[i]);
    s->pool = ptc_store_pool_new(&s->mem, &links, s, opening->connections, &s->base.trouble);
    if (!s->pool)
        return ptc_why_no_memory(why);
    if (!ptc_store_pool_begin(s->pool, s->timeout_ms, why))
        return false;
    s->opened = true;
    s->has_listener = ptc_thread_start(&s->listener, LISTENER_STACK, listen_to_redis, s);
    return s->has_listener || ptc_why_no_memory(why);
}

PtcStoreDriver *ptc_store_redis(const PtcStoreOpening *opening, PtcWhy *why)
{
    static const PtcStoreDriverClass class = {
        "redis",      true,      get_from_redis, put_in_redis,   remove_from_redis, list_redis,
        expire_redis, sum_redis, hold_in_redis,  clock_of_redis, tell_redis,        free_redis};
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcRedisStore *s = ptc_mem_alloc(&mem, sizeof *s);
    ptc_why_no_memory(why);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    s->base =
        (PtcStoreDriver){.class = &class, .woke = opening->woke, .woke_user = opening->woke_user};
    ptc_mem_init(&s->mem, PTC_UNBOUNDED);
    pthread_mutex_init(&s->base.trouble.lock, NULL);
    pthread_mutex_init(&s->lock, NULL);
    ptc_cond_init(&s->ending);
    s->timeout_ms = opening->timeout_ms;
    s->listens = -1;
    if (open_redis(s, opening, why))
        return &s->base;
    free_redis(&s->base);
    return NULL;
}
