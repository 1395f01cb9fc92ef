/* SPDX-License-Identifier: MIT
 * store_redis_int.h - what the files of the Redis store share: store_redis.c does what a driver does,
 * store_redis_link.c has the connections, store_redis_scripts.c what runs inside of Redis. */
#ifndef PTC_STORE_STORE_REDIS_INT_H
#define PTC_STORE_STORE_REDIS_INT_H

#include <stdatomic.h>

#include "base/mem.h"
#include "store/redis_library.h"
#include "store/store_pool.h"

typedef enum {
    PTC_REDIS_GET,
    PTC_REDIS_PUT,
    PTC_REDIS_REMOVE,
    PTC_REDIS_HOLD,
    PTC_REDIS_NAMES,
    PTC_REDIS_ROWS,
    PTC_REDIS_EXPIRE,
    PTC_REDIS_SUM,
    PTC_REDIS_SCRIPTS
} PtcRedisScript;

extern const char *const ptc_redis_scripts[PTC_REDIS_SCRIPTS];
extern const char ptc_redis_schema[];

enum {
    PTC_REDIS_URL_PART = 512,
    PTC_REDIS_SHA = 41,
    PTC_REDIS_WORDS = 1024 + 8, /* of a command */
};

/* Where a server is and who asks; the password is wiped in the end. */
typedef struct PtcRedisPlace {
    bool tls;
    char host[PTC_REDIS_URL_PART], port[8], user[PTC_REDIS_URL_PART], password[PTC_REDIS_URL_PART];
    char database[12], prefix[PTC_REDIS_URL_PART];
} PtcRedisPlace;

typedef struct PtcRedisStore {
    PtcStoreDriver base;
    PtcMem mem;
    PtcRedisLibrary lib;
    PtcRedisPlace place;
    PtcStorePool *pool;
    char sha[PTC_REDIS_SCRIPTS][PTC_REDIS_SHA]; /* by which the server knows them */
    int64_t timeout_ms;
    _Atomic bool opened; /* later on a server may become a replica, which can still be read */
    pthread_t listener;
    bool has_listener;
    /* It guards the rest. */
    pthread_mutex_t lock;
    pthread_cond_t ending;
    bool ends;
    int listens; /* the socket of the listener, or -1 */
} PtcRedisStore;

typedef struct PtcRedisLink {
    void *context;
    int fd;
    bool broken;
} PtcRedisLink;

/* A command: words, which are borrowed. */
typedef struct PtcRedisCommand {
    size_t count;
    const char *words[PTC_REDIS_WORDS];
    size_t lens[PTC_REDIS_WORDS];
} PtcRedisCommand;

static inline void ptc_redis_word(PtcRedisCommand *c, PtcText word)
{
    if (c->count < PTC_REDIS_WORDS) {
        c->words[c->count] = word.bytes;
        c->lens[c->count++] = word.len;
    }
}

/* ---- store_redis_link.c */
PTC_MUST_USE bool ptc_redis_place_read(PtcRedisPlace *place, const char *url, PtcWhy *why);
/* Puts bytes in the place of their %XX; how long it is then. */
size_t ptc_redis_unescape(char *text, size_t len);
/* For the pool. */
void *ptc_redis_connect(void *store, int64_t until_ns, PtcWhy *why);
void ptc_redis_disconnect(void *store, void *link);
bool ptc_redis_is_alive(void *store, void *link);
/* Sends a command and waits for its answer, which the caller frees.  PTC_STORE_OK, then *reply may be an error of the
 * server; PTC_STORE_NO_MEMORY: nothing was sent; PTC_STORE_UNKNOWN: it may have been done, and the link is broken. */
PTC_MUST_USE PtcStoreStatus ptc_redis_ask(PtcRedisStore *store, PtcRedisLink *link,
                                          const PtcRedisCommand *command, int64_t until_ns,
                                          PtcRedisReply **reply);
/* What an error of the server means, with the words in the trouble; `otherwise` when it is none that we know. */
PtcStoreStatus ptc_redis_verdict(PtcRedisStore *store, const PtcRedisReply *error,
                                 PtcStoreStatus otherwise);
/* The value of a line "name:value" of INFO; absent if there is none. */
PtcText ptc_redis_info(const PtcRedisReply *info, const char *name);

#endif
