/* SPDX-License-Identifier: MIT
 * Signed assertions.  The library for it is loaded when the first is signed, and not before.  What always holds: the
 * key is in memory only while something is signed with it. */
#include "oauth/oauth_assertion.h"

#include <stdio.h>
#include <time.h>

#include "base/library.h"
#include "base/os/private_file.h"
#include "base/os/whole_file.h"
#include "base/text/base64.h"
#include "base/text/hex.h"
#include "base/text/secret.h"
#include "json/emit.h"
#include "oauth/oauth_doc.h"
#include "oauth/oauth_url.h"

enum {
    RSA = 6,
    EC = 408,
    ASSERTION_HALF = 32,
    SIGNATURE = 1024,
    ASSERTION_KEY_BYTES = 64 * PTC_KB,
    GOOD_S = 60
};

/* Of OpenSSL 3, in the order of their names below. */
typedef struct {
    void *(*new_bio)(const void *bytes, int len);
    int (*free_bio)(void *bio);
    void *(*read_key)(void *bio, void **key, int (*phrase)(char *, int, int, void *), void *user);
    void (*free_key)(void *key);
    int (*kind)(const void *key);
    int (*bits)(const void *key);
    void *(*new_work)(void);
    void (*free_work)(void *work);
    const void *(*sha256)(void);
    int (*begin)(void *work, void **context, const void *digest, void *engine, void *key);
    int (*sign)(void *work, uint8_t *out, size_t *len, const void *text, size_t text_len);
} Crypto;

static const char *const files[] = {"libcrypto.so.3", NULL};
static const char *const names[] = {
    "BIO_new_mem_buf",      "BIO_free",           "PEM_read_bio_PrivateKey", "EVP_PKEY_free",
    "EVP_PKEY_get_base_id", "EVP_PKEY_get_bits",  "EVP_MD_CTX_new",          "EVP_MD_CTX_free",
    "EVP_sha256",           "EVP_DigestSignInit", "EVP_DigestSign"};

/* A key with a passphrase would be asked for at the terminal. */
static int no_phrase(char *out, int size, int writing, void *user)
{
    (void)out;
    (void)size;
    (void)writing;
    (void)user;
    return -1;
}

/* The two integers of a DER signature as 32 bytes each (RFC 7518, 3.4). */
static bool unpack_signature(uint8_t *bytes, size_t *len)
{
    uint8_t out[2 * ASSERTION_HALF] = {0};
    size_t at = 2;
    for (size_t i = 0; i < 2; i++) {
        if (at + 2 > *len || bytes[at] != 2 || bytes[at + 1] > *len - at - 2)
            return false;
        size_t n = bytes[at + 1], zeros = n > ASSERTION_HALF ? n - ASSERTION_HALF : 0;
        memcpy(out + (i + 1) * ASSERTION_HALF - (n - zeros), bytes + at + 2 + zeros, n - zeros);
        at += 2 + n;
    }
    memcpy(bytes, out, sizeof out);
    *len = sizeof out;
    return true;
}

/* The header that goes with a key; NULL: it cannot be used. */
static const char *header_of(const Crypto *crypto, const void *key)
{
    int kind = crypto->kind(key);
    return kind == RSA ? "{\"alg\":\"RS256\",\"typ\":\"JWT\"}"
           : kind == EC && crypto->bits(key) == 8 * ASSERTION_HALF
               ? "{\"alg\":\"ES256\",\"typ\":\"JWT\"}"
               : NULL;
}

static bool sign_jwt(const Crypto *crypto, void *key, PtcBuf *jwt)
{
    uint8_t bytes[SIGNATURE];
    size_t len = sizeof bytes;
    void *work = crypto->new_work();
    bool ok = work && crypto->begin(work, NULL, crypto->sha256(), NULL, key) == 1 &&
              crypto->sign(work, bytes, &len, jwt->data, jwt->len) == 1;
    ok = ok && (crypto->kind(key) != EC || unpack_signature(bytes, &len));
    crypto->free_work(work);
    return ok && ptc_buf_add_char(jwt, '.') && ptc_base64_add(jwt, bytes, len, true);
}

/* What is said: that we are this client, to this server, now. */
static bool add_claims(const PtcOauthWork *w, const PtcOauthClient *client, PtcBuf *jwt)
{
    struct timespec now;
    uint8_t id[16];
    char hex[2 * sizeof id + 1];
    PtcBuf json;
    ptc_buf_init(&json, w->mem, PTC_OAUTH_DOC_BYTES);
    clock_gettime(CLOCK_REALTIME, &now);
    bool ok = ptc_random_bytes(id, sizeof id);
    ptc_hex_write(hex, id, sizeof id);
    ptc_emit_object(&json);
    ptc_emit_field_cstr(&json, "iss", client->id);
    ptc_emit_field_cstr(&json, "sub", client->id);
    ptc_emit_field_cstr(&json, "aud", client->audience);
    ptc_emit_field_int(&json, "iat", now.tv_sec);
    ptc_emit_field_int(&json, "exp", now.tv_sec + GOOD_S);
    ptc_emit_field_cstr(&json, "jti", hex);
    ptc_emit_object_end(&json);
    ok = ok && ptc_buf_ok(&json) && ptc_buf_add_char(jwt, '.') &&
         ptc_base64_add(jwt, json.data, json.len, true);
    ptc_buf_deinit(&json);
    return ok;
}

static bool write_jwt(PtcOauthWork *w, const PtcOauthClient *client, PtcText pem, PtcBuf *jwt)
{
    Crypto crypto;
    const char *missing;
    if (!PTC_LIBRARY_LOAD(files, names, &crypto, &missing)) /* it stays: it cannot be unloaded */
        return ptc_why_say(&w->why, PTC_WHY_REFUSED,
                           "signing needs OpenSSL 3 (libcrypto.so.3); on Debian and "
                           "Ubuntu it is in the package libssl3");
    void *bio = crypto.new_bio(pem.bytes, (int)pem.len);
    void *key = bio ? crypto.read_key(bio, NULL, no_phrase, NULL) : NULL;
    const char *header = key ? header_of(&crypto, key) : NULL;
    bool ok = header && ptc_base64_add(jwt, header, strlen(header), true) &&
              add_claims(w, client, jwt) && sign_jwt(&crypto, key, jwt);
    crypto.free_key(key);
    crypto.free_bio(bio);
    return ok || ptc_why_say(&w->why, PTC_WHY_REFUSED,
                             "%.300s has no private key in PEM, RSA or P-256, without a "
                             "passphrase",
                             client->key_file);
}

bool ptc_oauth_assertion_add(PtcOauthWork *w, const PtcOauthClient *client, PtcBuf *form)
{
    PtcBuf pem, jwt;
    ptc_buf_init(&pem, w->mem, ASSERTION_KEY_BYTES);
    ptc_buf_init(&jwt, w->mem, PTC_OAUTH_DOC_BYTES);
    bool ok = ptc_private_file_check(client->key_file, &w->why);
    if (ok && !ptc_whole_file_read(client->key_file, &pem))
        ok = ptc_why_say(&w->why, PTC_WHY_REFUSED, "%.300s cannot be read as the key of a client",
                         client->key_file);
    ok = ok && write_jwt(w, client, ptc_buf_view(&pem), &jwt);
    const char *text = ok ? ptc_buf_text(&jwt) : NULL;
    ptc_oauth_url_add(form, "client_assertion_type",
                      "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    ptc_oauth_url_add(form, "client_assertion", text);
    if (pem.data)
        ptc_secret_wipe(pem.data, pem.cap);
    ptc_buf_deinit(&pem);
    ptc_buf_deinit(&jwt);
    return ok && (text || ptc_why_no_memory(&w->why));
}
