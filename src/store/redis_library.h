/* SPDX-License-Identifier: MIT
 * redis_library.h - the hiredis functions in use, loaded when a store is on Redis and not before.  Nothing of its
 * headers: versions 0.14 and 1.x lay their structures out differently, and which one is there is known when it has been
 * loaded.  Replies are our own, made by functions that the library calls, so that no length or depth that a server
 * writes decides how much memory is taken. */
#ifndef PTC_STORE_REDIS_LIBRARY_H
#define PTC_STORE_REDIS_LIBRARY_H

#include "base/text.h"
#include "base/why.h"

typedef enum {
    PTC_REDIS_STRING = 1,
    PTC_REDIS_ARRAY,
    PTC_REDIS_INTEGER,
    PTC_REDIS_NIL,
    PTC_REDIS_STATUS,
    PTC_REDIS_ERROR
} PtcRedisType;

enum { PTC_REDIS_OK = 0, PTC_REDIS_ITEMS = 1 << 20 };

/* What a server answered; an array has no arrays in it.  Texts end with a NUL that is not counted. */
typedef struct PtcRedisReply PtcRedisReply;
struct PtcRedisReply {
    int type; /* PtcRedisType */
    long long integer;
    char *text;
    size_t len, count, block; /* of the text; of the items; of this */
    PtcRedisReply **items;
};

/* Only pointers to functions, in the order of the names in redis_library.c. */
typedef struct PtcRedis {
    void *(*connect_fd)(int fd);
    void (*free)(void *context); /* and closes it */
    void *(*reader_new)(void *functions);
    void (*reader_free)(void *reader);
    int (*reader_get)(void *reader, void **reply);
    int (*append)(void *context, int count, const char **words, const size_t *lens);
    int (*write)(void *context, int *done);
    int (*read)(void *context);
} PtcRedis;

/* The same for encrypted connections. */
typedef struct PtcRedisTls {
    int (*initiate)(void *context, void *ssl);
    const void *(*method)(void);
    void *(*trust_new)(const void *method);
    void (*trust_free)(void *trust);
    int (*trust_system)(void *trust);
    void (*trust_checks)(void *trust, int how, void *more);
    void *(*ssl_new)(void *trust);
    void (*ssl_free)(void *ssl);
    int (*expect_host)(void *ssl, const char *host);
    long (*control)(void *ssl, int what, long n, void *value);
    int (*shake)(void *ssl);
    int (*error)(const void *ssl, int done);
    long (*verdict)(const void *ssl);
    const char *(*words)(long verdict);
} PtcRedisTls;

typedef struct PtcRedisLibrary {
    PtcRedis call;
    PtcRedisTls tls;
    void *trust; /* whose certificates are believed; NULL: without TLS */
} PtcRedisLibrary;

/* Loads it; it stays loaded.  False with a text in why. */
PTC_MUST_USE bool ptc_redis_load(PtcRedisLibrary *lib, bool tls, PtcWhy *why);
void ptc_redis_unload(PtcRedisLibrary *lib);
/* A connection that does not wait, over a connected socket, which it closes in the end.  NULL: no memory. */
PTC_MUST_USE void *ptc_redis_context(const PtcRedisLibrary *lib, int fd);
/* Its reader. */
void *ptc_redis_reader(void *context);
/* How many bytes the reader has that belong to no reply yet. */
size_t ptc_redis_unread(const void *reader);
/* Begins to encrypt a connection to the host of this name, for which the server must have a certificate. */
PTC_MUST_USE void *ptc_redis_secure(const PtcRedisLibrary *lib, void *context, const char *host);
/* Goes on with that: what is to be waited for, 0: it is done, -1: it has failed, with words in *why. */
short ptc_redis_shake(const PtcRedisLibrary *lib, void *secure, const char **why);

void ptc_redis_reply_free(PtcRedisReply *reply);

#endif
