/* SPDX-License-Identifier: MIT
 * Texts without secrets: whole ones, cut ones, encoded ones, those that come in pieces; memory that fails. */
#include "trace/redact.h"

#include "base/text/base64.h"
#include "check.h"

static PtcMem mem;

static const struct {
    const char *text, *blotted;
    bool headless;
} blots[] = {
    {"", "", false},
    {"plain", "plain", false},
    {"topsecret", "[secret]", false},
    {"a topsecret, a topsecretsss", "a [secret], a [secret]ss", false},
    {"topsecrets", "[secret]", false},
    {"toptopsecret.", "top[secret].", false},
    {"cut: topse", "cut: [secret]", false},
    {"cut: top", "cut: top", false},
    {"one\nline", "one\nline", false},
    {"pem\nkey", "[secret]", false},
    {"as text: \"pem\\nkey\"", "as text: \"[secret]\"", false},
    {"yes", "yes", false},
    /* cut by somebody who does not know it */
    {"cut: topse...", "cut: [secret]...", false},
    {"cut: \"topse...\" and more", "cut: \"[secret]...\" and more", false},
    {"cut: topse ... more", "cut: [secret] ... more", false},
    {"cut: topse\xe2\x80\xa6 x", "cut: [secret]\xe2\x80\xa6 x", false},
    {"cut twice: topse..", "cut twice: [secret]..", false},
    {"topse.", "[secret].", false},
    {"topse. And", "topse. And", false},
    {"top...", "top...", false},
    {"a ... psecret b", "a ... [secret] b", false},
    {"a ...psecrets", "a ...[secret]", false},
    {"a... ret b", "a... ret b", false},
    {"..ecret", "..ecret", false},
    {"topsecret...", "[secret]...", false},
    /* the beginning was cut off */
    {"secret and more", "[secret] and more", true},
    {"secret and more", "secret and more", false},
    {"psecrets, topsecret", "[secret], [secret]", true},
    {"cret", "[secret]", true},
    {"ret", "ret", true},
    {"topsecret", "[secret]", true},
    {"no secret", "no secret", true},
};

static void test_secrets(void)
{
    PtcSecrets secrets;
    PtcBuf out;
    ptc_secrets_init(&secrets, &mem, PTC_SECRET_MIN);
    static const char *const texts[] = {"topsecret", "topsecrets", "topsecret", "pem\nkey", "yes"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(ptc_secrets_add(&secrets, texts[i], strlen(texts[i])));
    /* no doubles, nothing short: three texts, digits in two cases and base64 at three places of each; one quoted,
     * and one percent-encoded twice, and each of them wholly so twice */
    CHECK(secrets.count == 3 * 8 + 3);
    ptc_buf_init(&out, &mem, 1 << 20);
    for (size_t i = 0; i < sizeof blots / sizeof *blots; i++) {
        ptc_buf_clear(&out);
        ptc_secrets_blot(&secrets, &out, ptc_text_cstr(blots[i].text), blots[i].headless);
        CHECK_STR(ptc_buf_text(&out), blots[i].blotted);
    }
    ptc_buf_deinit(&out);
    ptc_secrets_deinit(&secrets);
    int failures = 0;
    for (uint64_t n = 1; n <= 60; n++) {
        PtcMem small;
        ptc_mem_init(&small, SIZE_MAX / 2);
        ptc_mem_fail_at(&small, n);
        ptc_secrets_init(&secrets, &small, PTC_SECRET_MIN);
        bool ok =
            ptc_secrets_add(&secrets, "topsecret", 9) && ptc_secrets_add(&secrets, "pem\nkey", 7);
        failures += !ok;
        /* The form that failed may be one that is there already, so all of them prove nothing. */
        CHECK(ok ? secrets.count == 8 + 8 + 3 : n < 60);
        ptc_secrets_deinit(&secrets);
        CHECK(atomic_load(&small.used) == 0);
    }
    CHECK(failures >= 12);
}

/* Every form of a key; none of them may stay. */
static const char *const forms[] = {
    "raw: sk/t+e~s%t\"1 ends",
    "json: \"sk/t+e~s%t\\\"1\" ends",
    "url: ?key=sk%2Ft%2Be~s%25t%221&x",
    "url: ?key=sk%2ft%2be~s%25t%221&x",
    "basic: dXNlcjpzay90K2V+cyV0IjE= ends", /* user:KEY */
    "b64: c2svdCtlfnMldCIx ends",
    "b64: YXNrL3QrZX5zJXQiMQ== ends", /* aKEY */
    "b64: YWFzay90K2V+cyV0IjE= ends", /* aaKEY */
    "b64url: dXNlcjpzay90K2V-cyV0IjE ends",
    "url: ?key=%73%6b%2f%74%2b%65%7e%73%25%74%22%31&x",
    "url: ?key=%73%6B%2F%74%2B%65%7E%73%25%74%22%31&x",
    "hex: 736b2f742b657e7325742231 ends",
    "hex: 736B2F742B657E7325742231 ends",
};

static void test_forms(void)
{
    static const char key[] = "sk/t+e~s%t\"1";
    PtcSecrets secrets;
    PtcBuf out;
    ptc_secrets_init(&secrets, &mem, PTC_SECRET_MIN_TOLD);
    CHECK(ptc_secrets_add(&secrets, key, sizeof key - 1));
    ptc_buf_init(&out, &mem, 1 << 20);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        ptc_buf_clear(&out);
        ptc_secrets_blot(&secrets, &out, ptc_text_cstr(forms[i]), false);
        CHECK(strstr(ptc_buf_text(&out), "[secret]") != NULL);
        CHECK(!strstr(out.data, "3QrZX") && !strstr(out.data, "ay90") && !strstr(out.data, "t+e"));
        CHECK(!strstr(out.data, "2Ft") && !strstr(out.data, "2ft") && !strstr(out.data, "svdC"));
        CHECK(!strstr(out.data, "%73"));
        CHECK(!strchr(out.data, '=') || strstr(out.data, "key="));
    }
    ptc_buf_deinit(&out);
    ptc_secrets_deinit(&secrets);
}

/* In base64, behind and before any number of other bytes: no letter stays that has a bit of the secret in it. */
static void test_base64(void)
{
    static const char secret[] = "hunter22-and-more";
    PtcSecrets secrets;
    PtcBuf plain, code, out, want;
    ptc_secrets_init(&secrets, &mem, 8);
    ptc_buf_init(&plain, &mem, 1000);
    ptc_buf_init(&code, &mem, 1000);
    ptc_buf_init(&out, &mem, 1000);
    ptc_buf_init(&want, &mem, 1000);
    for (size_t len = 10; len < sizeof secret; len++) {
        CHECK(ptc_secrets_add(&secrets, secret, len));
        for (size_t n = 0; n < 5 * 5 * 2; n++) {
            size_t before = n % 5, behind = n / 5 % 5;
            ptc_buf_clear(&plain);
            ptc_buf_clear(&code);
            ptc_buf_clear(&out);
            ptc_buf_clear(&want);
            ptc_buf_add(&plain, "user:", before);
            ptc_buf_add(&plain, secret, len);
            ptc_buf_add(&plain, ":host", behind);
            CHECK(ptc_base64_add(&code, plain.data, plain.len, n / 25));
            size_t from = before * 8 / 6, to = ((before + len) * 8 + 5) / 6;
            ptc_buf_add(&want, code.data, from);
            ptc_buf_add_cstr(&want, "[secret]");
            if (behind)
                ptc_buf_add(&want, code.data + to, code.len - to);
            ptc_secrets_blot_part(&secrets, &out, ptc_buf_view(&code), true);
            CHECK_STR(ptc_buf_text(&out), ptc_buf_text(&want));
        }
        ptc_secrets_drop(&secrets, secret, len);
        CHECK(secrets.count == 0);
    }
    ptc_buf_deinit(&plain);
    ptc_buf_deinit(&code);
    ptc_buf_deinit(&out);
    ptc_buf_deinit(&want);
    ptc_secrets_deinit(&secrets);
}

/* A text in pieces of every length gives what the whole text gives. */
static void test_parts(void)
{
    static const char text[] =
        "a topsecret, toptopsecrets and topsec topsecrettopsecret, topse..., topse";
    PtcSecrets secrets;
    PtcBuf whole, out, held;
    ptc_secrets_init(&secrets, &mem, PTC_SECRET_MIN);
    CHECK(ptc_secrets_add(&secrets, "topsecret", 9) && ptc_secrets_add(&secrets, "topsecrets", 10));
    ptc_buf_init(&whole, &mem, 1 << 20);
    ptc_buf_init(&out, &mem, 1 << 20);
    ptc_buf_init(&held, &mem, 1 << 20);
    CHECK(ptc_secrets_blot_part(&secrets, &whole, ptc_text_cstr(text), true) == sizeof text - 1);
    CHECK_STR(ptc_buf_text(&whole),
              "a [secret], top[secret] and topsec [secret][secret], topse..., [secret]");
    for (size_t step = 1; step < sizeof text; step++) {
        ptc_buf_clear(&out);
        ptc_buf_clear(&held);
        for (size_t at = 0, n; at < sizeof text - 1; at += n) {
            n = sizeof text - 1 - at < step ? sizeof text - 1 - at : step;
            ptc_buf_add(&held, text + at, n);
            size_t done = ptc_secrets_blot_part(&secrets, &out, ptc_buf_view(&held), false);
            memmove(held.data, held.data + done, held.len - done);
            held.len -= done;
            CHECK(held.len < 10);
        }
        ptc_secrets_blot_part(&secrets, &out, ptc_buf_view(&held), true);
        CHECK_STR(ptc_buf_text(&out), ptc_buf_text(&whole));
    }
    ptc_buf_deinit(&whole);
    ptc_buf_deinit(&out);
    ptc_buf_deinit(&held);
    ptc_secrets_deinit(&secrets);
}

/* What counts as a secret depends on who reads. */
static void test_lengths(void)
{
    PtcSecrets secrets;
    ptc_secrets_init(&secrets, &mem, PTC_SECRET_MIN_TOLD);
    CHECK(ptc_secrets_add(&secrets, "json!", 5) && secrets.count == 0);
    CHECK(ptc_secrets_add(&secrets, "sesame", 6) && secrets.count == 8);
    size_t used = atomic_load(&mem.used);
    CHECK(ptc_secrets_add(&secrets, "another/ secret", 15) && secrets.count > 8);
    CHECK(ptc_secrets_add(&secrets, "another/ secret",
                          15)); /* by somebody else, who has it as well */
    ptc_secrets_drop(&secrets, "another/ secret", 15);
    CHECK(secrets.count > 8);
    ptc_secrets_drop(&secrets, "another/ secret", 15);
    ptc_secrets_drop(&secrets, "never added", 11);
    CHECK(secrets.count == 8 && atomic_load(&mem.used) <= used + 64 * sizeof(PtcSecret));
    for (size_t b = 0; b < 256; b++)
        CHECK(secrets.starts[b] <= secrets.starts[b + 1]);
    CHECK(secrets.starts[256] == 8);
    ptc_secrets_deinit(&secrets);
}

/* A text of nothing but dots is no reason to compare each of them with every part of a long token. */
static void test_dots(void)
{
    enum { TOKEN = 2000, DOTS = 256 * 1024 };
    static char token[TOKEN], dots[DOTS];
    PtcSecrets secrets;
    PtcBuf out;
    for (size_t i = 0; i < TOKEN; i++)
        token[i] = "abcdefghij"[i * i % 101 % 10];
    memset(dots, '.', DOTS);
    ptc_secrets_init(&secrets, &mem, PTC_SECRET_MIN_TOLD);
    CHECK(ptc_secrets_add(&secrets, token, TOKEN));
    ptc_buf_init(&out, &mem, 2 * DOTS);
    int64_t before = check_cpu_ms();
    ptc_secrets_blot(&secrets, &out, (PtcText){dots, DOTS}, true);
    CHECK(check_cpu_ms() - before < 5000);
    CHECK(out.len == DOTS);
    ptc_buf_deinit(&out);
    ptc_secrets_deinit(&secrets);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    test_dots();
    test_secrets();
    test_lengths();
    test_forms();
    test_base64();
    test_parts();
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("redact");
}
