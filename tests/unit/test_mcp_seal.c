/* SPDX-License-Identifier: MIT
 * HMAC, base64 and sealed texts. */
#include <stdio.h>

#include "base/text/base64.h"
#include "base/text/hmac.h"
#include "base/text/secret.h"
#include "check.h"
#include "mcp/server/seal.h"

static PtcMem mem;
static PtcBuf buf;

static const char *text(void)
{
    const char *t = ptc_buf_text(&buf);
    return t ? t : "(failed)";
}

static void tag_of(const char *k, size_t k_len, const char *text, size_t len, char out[65])
{
    uint8_t tag[PTC_SHA256_BYTES];
    ptc_hmac((PtcText){k, k_len}, text, len, tag);
    for (size_t i = 0; i < sizeof tag; i++)
        snprintf(out + 2 * i, 3, "%02x", tag[i]);
}

/* Cases 1, 2 and 6 of RFC 4231. */
static void test_hmac(void)
{
    char got[65], k[131];
    memset(k, 0x0b, 20);
    tag_of(k, 20, "Hi There", 8, got);
    CHECK_STR(got, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    tag_of("Jefe", 4, "what do ya want for nothing?", 28, got);
    CHECK_STR(got, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(k, 0xaa, sizeof k);
    tag_of(k, sizeof k, "Test Using Larger Than Block-Size Key - Hash Key First", 54, got);
    CHECK_STR(got, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    uint8_t a[PTC_SHA256_BYTES] = {0}, b[PTC_SHA256_BYTES] = {0};
    CHECK(ptc_secret_same(a, b, sizeof a));
    b[31] = 1;
    CHECK(!ptc_secret_same(a, b, sizeof a));
}

static void test_base64(void)
{
    static const char *const rows[][2] = {{"", ""},
                                          {"f", "Zg=="},
                                          {"fo", "Zm8="},
                                          {"foo", "Zm9v"},
                                          {"foob", "Zm9vYg=="},
                                          {"fooba", "Zm9vYmE="},
                                          {"foobar", "Zm9vYmFy"},
                                          {"\xfb\xff\xbf", "+/+/"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ptc_buf_clear(&buf);
        CHECK(ptc_base64_add(&buf, rows[i][0], strlen(rows[i][0]), false));
        CHECK_STR(text(), rows[i][1]);
        ptc_buf_clear(&buf);
        CHECK(ptc_base64_decode(&buf, rows[i][1], strlen(rows[i][1]), false));
        CHECK_STR(text(), rows[i][0]);
    }
    ptc_buf_clear(&buf);
    CHECK(ptc_base64_add(&buf, "\xfb\xff\xbf\xfb", 4, true));
    CHECK_STR(text(), "-_-_-w");
    static const char *const bad[] = {
        "Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zm9v!A==", "-_-_", "Zg==Zg=="};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!ptc_base64_decode(&buf, bad[i], strlen(bad[i]), false));
    static const char *const bad_url[] = {"Z", "Zh", "Zm9vY", "+/+/", "Zg=="};
    for (size_t i = 0; i < sizeof bad_url / sizeof *bad_url; i++)
        CHECK(!ptc_base64_decode(&buf, bad_url[i], strlen(bad_url[i]), true));
}

static bool opens(const unsigned char *key, const char *context, const char *sealed, size_t len)
{
    ptc_buf_clear(&buf);
    return ptc_seal_open(&buf, key, context, strlen(context), sealed, len);
}

static void test_seal(void)
{
    unsigned char key[PTC_SEAL_KEY], other[PTC_SEAL_KEY];
    char sealed[200];
    CHECK(ptc_random_bytes(key, sizeof key) && ptc_random_bytes(other, sizeof other));
    CHECK(memcmp(key, other, sizeof key) != 0);
    for (size_t n = 0; n < 40; n++) {
        char payload[40];
        memset(payload, (int)n, sizeof payload);
        ptc_buf_clear(&buf);
        CHECK(ptc_seal_add(&buf, key, "here", 4, payload, n));
        size_t len = buf.len;
        memcpy(sealed, buf.data, len);
        CHECK(opens(key, "here", sealed, len) && buf.len == n && memcmp(buf.data, payload, n) == 0);
        CHECK(!opens(key, "there", sealed, len));
        CHECK(!opens(other, "here", sealed, len));
        CHECK(!opens(key, "here", sealed, len - 1));
        sealed[len] = 'A';
        CHECK(!opens(key, "here", sealed, len + 1));
        for (size_t i = 0; i < len; i++) {
            sealed[i] ^= 1;
            CHECK(!opens(key, "here", sealed, len));
            sealed[i] ^= 1;
        }
    }
    CHECK(!opens(key, "here", "", 0));
    CHECK(ptc_secret_same("abc", "abc", 3) && !ptc_secret_same("abc", "abd", 3));
}

/* Context and payload cannot flow into each other. */
static void test_border(void)
{
    unsigned char key[PTC_SEAL_KEY] = {0};
    char sealed[2][64] = {0};
    const char *context[] = {"ab", "a"}, *payload[] = {"c", "bc"};
    for (int i = 0; i < 2; i++) {
        ptc_buf_clear(&buf);
        CHECK(ptc_seal_add(&buf, key, context[i], strlen(context[i]), payload[i], 1));
        memcpy(sealed[i], buf.data, buf.len);
    }
    CHECK(memcmp(sealed[0], sealed[1], 20) != 0);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_buf_init(&buf, &mem, SIZE_MAX / 2);
    test_hmac();
    test_base64();
    test_seal();
    test_border();
    ptc_buf_deinit(&buf);
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("mcp_seal");
}
