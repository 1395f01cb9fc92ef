/* SPDX-License-Identifier: MIT
 * Texts without secrets: whole ones, cut ones, quoted ones; memory that fails. */
#include "trace/redact.h"

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
    CHECK(secrets.count == 4); /* no doubles, nothing short, one quoted */
    ptc_buf_init(&out, &mem, 1 << 20);
    for (size_t i = 0; i < sizeof blots / sizeof *blots; i++) {
        ptc_buf_clear(&out);
        ptc_secrets_blot(&secrets, &out, ptc_text_cstr(blots[i].text), blots[i].headless);
        CHECK_STR(ptc_buf_text(&out), blots[i].blotted);
    }
    ptc_buf_deinit(&out);
    ptc_secrets_deinit(&secrets);
    int failures = 0;
    for (uint64_t n = 1; n <= 12; n++) {
        PtcMem small;
        ptc_mem_init(&small, SIZE_MAX / 2);
        ptc_mem_fail_at(&small, n);
        ptc_secrets_init(&secrets, &small, PTC_SECRET_MIN);
        bool ok =
            ptc_secrets_add(&secrets, "topsecret", 9) && ptc_secrets_add(&secrets, "pem\nkey", 7);
        failures += !ok;
        CHECK(ok == (secrets.count == 3) && (ok || n < 12));
        ptc_secrets_deinit(&secrets);
        CHECK(atomic_load(&small.used) == 0);
    }
    CHECK(failures >= 3);
}

/* What counts as a secret depends on who reads. */
static void test_lengths(void)
{
    PtcSecrets secrets;
    ptc_secrets_init(&secrets, &mem, PTC_SECRET_MIN_TOLD);
    CHECK(ptc_secrets_add(&secrets, "json!", 5) && secrets.count == 0);
    CHECK(ptc_secrets_add(&secrets, "sesame", 6) && secrets.count == 1);
    ptc_secrets_deinit(&secrets);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    test_secrets();
    test_lengths();
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("redact");
}
