/* SPDX-License-Identifier: MIT
 * Loads hiredis, and is the only file that knows how its versions lay things out.  What always holds: the name of the
 * library that was loaded decides the layout; a name that does not say its version is not loaded. */
#include "store/redis_library.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/library.h"
#include "base/mem.h"

static const char *const old_files[] = {"libhiredis.so.0.14", NULL};
static const char *const files[] = {"libhiredis.so.1.4.0",
                                    "libhiredis.so.1.3.0",
                                    "libhiredis.so.1.2.0",
                                    "libhiredis.so.1.1.0",
                                    "libhiredis.so.1.0.0",
                                    "libhiredis.so.1",
                                    NULL};
static const char *const names[] = {
    "redisConnectFd",   "redisFree",           "redisReaderCreateWithFunctions",
    "redisReaderFree",  "redisReaderGetReply", "redisAppendCommandArgv",
    "redisBufferWrite", "redisBufferRead",
};

/* Those of OpenSSL are of the one that the library itself was linked with. */
static const char *const tls_files[] = {"libhiredis_ssl.so.1.4.0",
                                        "libhiredis_ssl.so.1.3.0",
                                        "libhiredis_ssl.so.1.2.0",
                                        "libhiredis_ssl.so.1.1.0",
                                        "libhiredis_ssl.so.1.0.0",
                                        "libhiredis_ssl.so.1",
                                        NULL};
static const char *const tls_names[] = {
    "redisInitiateSSL",
    "TLS_client_method",
    "SSL_CTX_new",
    "SSL_CTX_free",
    "SSL_CTX_set_default_verify_paths",
    "SSL_CTX_set_verify",
    "SSL_new",
    "SSL_free",
    "SSL_set1_host",
    "SSL_ctrl",
    "SSL_do_handshake",
    "SSL_get_error",
    "SSL_get_verify_result",
    "X509_verify_cert_error_string",
};
enum { TLS_CHECKS = 1, TLS_WANTS_READ = 2, TLS_WANTS_WRITE = 3, TLS_SERVER_NAME = 55 };

/* --------------------------------------------------------------------------------- layouts */

enum { FLAG_WAITS = 1 };

typedef struct {
    int error;
    char text[128];
    int fd, flags;
    char *unsent;
    void *reader;
} OldContext;

typedef struct {
    const void *functions;
    int error;
    char text[128];
    int fd, flags;
    char *unsent;
    void *reader;
} NewContext;

/* The same in both, as far as this. */
typedef struct {
    int error;
    char text[128];
    char *bytes;
    size_t at, len;
} Reader;

/* A part of a reply that is being read, from where the layouts differ. */
typedef struct OldPart {
    int type, count, nth;
    PtcRedisReply *made;
    const struct OldPart *in;
} OldPart;

typedef struct NewPart {
    int type;
    long long count;
    int nth;
    PtcRedisReply *made;
    const struct NewPart *in;
} NewPart;

/* What makes replies; 0.14 has an int for the count of an array, and neither numbers nor truths. */
typedef struct {
    void *(*string)(const void *part, char *text, size_t len);
    void *(*array)(const void *part, int count);
    void *(*integer)(const void *part, long long n);
    void *(*nil)(const void *part);
    void (*free)(void *reply);
} OldFunctions;

typedef struct {
    void *(*string)(const void *part, char *text, size_t len);
    void *(*array)(const void *part, size_t count);
    void *(*integer)(const void *part, long long n);
    void *(*number)(const void *part, double n, char *text, size_t len);
    void *(*nil)(const void *part);
    void *(*truth)(const void *part, int value);
    void (*free)(void *reply);
} NewFunctions;

/* Of the library that this process has loaded, which stays the same. */
static _Atomic bool is_old;

/* --------------------------------------------------------------------------------- replies */

/* Replies live for one operation and are not counted: PTC_REDIS_ITEMS and what a connection reads bound them. */
static void *reply_block(size_t size)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    return ptc_mem_alloc(&mem, size);
}

static void free_reply_block(void *block, size_t size)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, size);
    ptc_mem_free(&mem, block, size);
}

/* Frees it and its items, which have none of their own. */
void ptc_redis_reply_free(PtcRedisReply *reply)
{
    for (size_t i = 0; reply && i < reply->count; i++)
        if (reply->items[i])
            free_reply_block(reply->items[i], reply->items[i]->block);
    if (reply)
        free_reply_block(reply, reply->block);
}

static void free_reply(void *reply)
{
    ptc_redis_reply_free(reply);
}

/* What an array is that this is a part of, or NULL. */
static PtcRedisReply *array_of(const void *part, int *nth)
{
    const OldPart *old = part;
    const NewPart *new = part;
    *nth = is_old ? old->nth : new->nth;
    return is_old ? old->in ? old->in->made : NULL : new->in ? new->in->made : NULL;
}

/* A reply with room behind it, as an item of its array if it has one.  NULL ends the connection. */
static PtcRedisReply *make_reply(const void *part, int type, size_t room)
{
    int nth;
    size_t block = sizeof(PtcRedisReply) + room;
    PtcRedisReply *in = array_of(part, &nth);
    bool fits = !in || (nth >= 0 && (size_t)nth < in->count && !in->items[nth]);
    PtcRedisReply *r = fits ? reply_block(block) : NULL;
    if (!r)
        return NULL;
    *r = (PtcRedisReply){.type = type, .text = (char *)(r + 1), .block = block};
    memset(r + 1, 0, room);
    if (in)
        in->items[nth] = r;
    return r;
}

static void *make_text(const void *part, char *text, size_t len)
{
    PtcRedisReply *r = make_reply(part, *(const int *)part, len + 1); /* both begin with the type */
    if (!r)
        return NULL;
    memcpy(r->text, text, len);
    r->len = len;
    return r;
}

static void *make_array(const void *part, size_t count)
{
    int nth;
    if (count > PTC_REDIS_ITEMS || array_of(part, &nth))
        return NULL;
    PtcRedisReply *r = make_reply(part, PTC_REDIS_ARRAY, count * sizeof(PtcRedisReply *) + 1);
    if (!r)
        return NULL;
    r->items = (PtcRedisReply **)(void *)(r + 1);
    r->count = count;
    return r;
}

static void *make_old_array(const void *part, int count)
{
    return count < 0 ? NULL : make_array(part, (size_t)count);
}

static void *make_integer(const void *part, long long n)
{
    PtcRedisReply *r = make_reply(part, PTC_REDIS_INTEGER, 1);
    if (r)
        r->integer = n;
    return r;
}

static void *make_nil(const void *part)
{
    return make_reply(part, PTC_REDIS_NIL, 1);
}

/* Servers send neither unless they are asked to. */
static void *no_number(const void *part, double n, char *text, size_t len)
{
    (void)part, (void)n, (void)text, (void)len;
    return NULL;
}

static void *no_truth(const void *part, int value)
{
    (void)part, (void)value;
    return NULL;
}

/* --------------------------------------------------------------------------------- loading */

static bool load_tls(PtcRedisLibrary *lib, PtcWhy *why)
{
    const char *missing;
    ptc_library_share(files);
    if (PTC_LIBRARY_LOAD(tls_files, tls_names, &lib->tls, &missing))
        lib->trust = lib->tls.trust_new(lib->tls.method());
    if (!lib->trust)
        return ptc_why_say(why, PTC_WHY_REFUSED,
                           "rediss: needs libhiredis_ssl, of the version of "
                           "the hiredis library that is installed");
    lib->tls.trust_system(lib->trust);
    lib->tls.trust_checks(lib->trust, TLS_CHECKS, NULL);
    return true;
}

bool ptc_redis_load(PtcRedisLibrary *lib, bool tls, PtcWhy *why)
{
    const char *missing, *before;
    bool new = PTC_LIBRARY_LOAD(files, names, &lib->call, &missing);
    bool old = !new &&PTC_LIBRARY_LOAD(old_files, names, &lib->call, &before);
    is_old = old;
    if (new || (old && !tls))
        return !tls || load_tls(lib, why);
    if (old)
        return ptc_why_say(why, PTC_WHY_REFUSED,
                           "rediss: needs hiredis 1.0 or newer: libhiredis 0.14, which is "
                           "installed here, has no TLS");
    return ptc_why_say(why, PTC_WHY_UNAVAILABLE,
                       "the hiredis library (libhiredis.so.1.1.0 or libhiredis.so.0.14) is not "
                       "installed%s%s",
                       missing ? ", or too old: it has no " : "", missing ? missing : "");
}

/* The reader that it made is replaced by one that makes our replies. */
void *ptc_redis_context(const PtcRedisLibrary *lib, int fd)
{
    static OldFunctions old = {make_text, make_old_array, make_integer, make_nil, free_reply};
    static NewFunctions new = {make_text, make_array, make_integer, no_number,
                               make_nil,  no_truth,   free_reply};
    void *context = lib->call.connect_fd(fd);
    void *reader = context ? lib->call.reader_new(is_old ? (void *)&old : (void *)&new) : NULL;
    if (!reader)
        return NULL;
    OldContext *before = context;
    NewContext *now = context;
    void **at = is_old ? &before->reader : &now->reader;
    *(is_old ? &before->flags : &now->flags) &= ~FLAG_WAITS;
    lib->call.reader_free(*at);
    *at = reader;
    return context;
}

void *ptc_redis_reader(void *context)
{
    return is_old ? ((OldContext *)context)->reader : ((NewContext *)context)->reader;
}

size_t ptc_redis_unread(const void *reader)
{
    const Reader *r = reader;
    return r->len - r->at;
}

/* --------------------------------------------------------------------------------- encryption */

void *ptc_redis_secure(const PtcRedisLibrary *lib, void *context, const char *host)
{
    void *ssl = lib->tls.ssl_new(lib->trust);
    if (!ssl)
        return NULL;
    lib->tls.control(ssl, TLS_SERVER_NAME, 0, (void *)(uintptr_t)host);
    if (lib->tls.expect_host(ssl, host) == 1 && lib->tls.initiate(context, ssl) == PTC_REDIS_OK)
        return ssl; /* now it is the context's */
    lib->tls.ssl_free(ssl);
    return NULL;
}

short ptc_redis_shake(const PtcRedisLibrary *lib, void *ssl, const char **why)
{
    int done = lib->tls.shake(ssl), wants = done == 1 ? 0 : lib->tls.error(ssl, done);
    long trouble = lib->tls.verdict(ssl);
    *why = trouble ? lib->tls.words(trouble) : "the TLS handshake failed";
    return wants == TLS_WANTS_READ    ? POLLIN
           : wants == TLS_WANTS_WRITE ? POLLOUT
                                      : (short)(done == 1 ? 0 : -1);
}

void ptc_redis_unload(PtcRedisLibrary *lib)
{
    if (lib->trust)
        lib->tls.trust_free(lib->trust);
}
