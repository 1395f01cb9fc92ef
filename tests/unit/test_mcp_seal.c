/* SPDX-License-Identifier: MIT
 * SHA-256, HMAC, base64 and sealed texts. */
#include "check.h"
#include "mcp/seal.h"

static const char *hex(const unsigned char *bytes, size_t n)
{
    static char text[2 * PTC_SHA256_BYTES + 1];
    for (size_t i = 0; i < n; i++)
        sprintf(text + 2 * i, "%02x", bytes[i]);
    return text;
}

static const char *sha(const char *bytes, size_t len, size_t step)
{
    unsigned char out[PTC_SHA256_BYTES];
    PtcSha256 s;
    ptc_sha256_init(&s);
    for (size_t i = 0; i < len; i += step)
        ptc_sha256_add(&s, bytes + i, len - i < step ? len - i : step);
    ptc_sha256_done(&s, out);
    return hex(out, sizeof out);
}

/* The examples of FIPS 180-4, in pieces of several sizes. */
static void test_sha256(void)
{
    static char many[1000000];
    memset(many, 'a', sizeof many);
    for (size_t step = 1; step < 130; step += 7) {
        CHECK_STR(sha("", 0, step),
                  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        CHECK_STR(sha("abc", 3, step),
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        CHECK_STR(sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, step),
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }
    CHECK_STR(sha(many, sizeof many, 1000),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static PtcMem mem;
static PtcBuf buf;

static const char *text(void)
{
    const char *t = ptc_buf_text(&buf);
    return t ? t : "(failed)";
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
    CHECK(ptc_same_secret("abc", "abc", 3) && !ptc_same_secret("abc", "abd", 3));
}

/* The parts of a message cannot flow into each other. */
static void test_hmac(void)
{
    unsigned char key[PTC_SEAL_KEY] = {0}, a[PTC_SHA256_BYTES], b[PTC_SHA256_BYTES];
    ptc_hmac_sha256(key, "ab", 2, "c", 1, a);
    ptc_hmac_sha256(key, "a", 1, "bc", 2, b);
    CHECK(memcmp(a, b, sizeof a) != 0);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_buf_init(&buf, &mem, SIZE_MAX / 2);
    test_sha256();
    test_base64();
    test_seal();
    test_hmac();
    ptc_buf_deinit(&buf);
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("mcp_seal");
}
