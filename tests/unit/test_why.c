/* SPDX-License-Identifier: MIT */
#include "base/why.h"

#include "base/utf8.h"
#include "check.h"

static bool is_why(const PtcWhy *why, PtcWhyClass class, int code, const char *text,
                   const char *path)
{
    return why->class == class && why->code == code && strcmp(why->text, text) == 0 &&
           strcmp(why->path, path) == 0;
}

static void test_say(void)
{
    PtcWhy why, copy;
    memset(&why, 'x', sizeof why);
    ptc_why_init(&why);
    CHECK(is_why(&why, PTC_WHY_NONE, 0, "", ""));
    CHECK(!ptc_why_say(&why, PTC_WHY_INVALID, "%s is not %d", "seven", 8));
    CHECK(is_why(&why, PTC_WHY_INVALID, 0, "seven is not 8", ""));
    CHECK(!ptc_why_at(&why, "tools[%d].name", 2));
    CHECK(is_why(&why, PTC_WHY_INVALID, 0, "seven is not 8", "tools[2].name"));
    CHECK(!ptc_why_say_code(&why, PTC_WHY_LATE, 7, "%d ms", 5));
    CHECK(
        is_why(&why, PTC_WHY_LATE, 7, "5 ms", "")); /* the place of another failure is forgotten */
    CHECK(!ptc_why_at(&why, "a"));
    CHECK(!ptc_why_prefix(&why, "%s: ", "FILE"));
    CHECK(is_why(&why, PTC_WHY_LATE, 7, "FILE: 5 ms", "a"));
    CHECK(!ptc_why_say(&why, PTC_WHY_REFUSED, "[%s]", why.text)); /* its own text as an argument */
    CHECK_STR(why.text, "[FILE: 5 ms]");
    CHECK(!ptc_why_prefix(&why, "%s ", why.text));
    CHECK_STR(why.text, "[FILE: 5 ms] [FILE: 5 ms]");
    memset(&copy, 'x', sizeof copy);
    ptc_why_say_code(&why, PTC_WHY_UNAVAILABLE, 3, "gone");
    ptc_why_at(&why, "here");
    CHECK(!ptc_why_copy(&copy, &why) && is_why(&copy, PTC_WHY_UNAVAILABLE, 3, "gone", "here"));
    CHECK(!ptc_why_copy(&copy, &copy) && is_why(&copy, PTC_WHY_UNAVAILABLE, 3, "gone", "here"));
    CHECK(!ptc_why_no_memory(&copy) && is_why(&copy, PTC_WHY_NO_MEMORY, 0, "out of memory", ""));
}

/* Whoever only asks whether passes nothing. */
static void test_nobody_asks(void)
{
    PtcWhy why;
    ptc_why_no_memory(&why);
    CHECK(!ptc_why_say(NULL, PTC_WHY_INVALID, "%d", 1));
    CHECK(!ptc_why_say_code(NULL, PTC_WHY_INVALID, 1, "%d", 1));
    CHECK(!ptc_why_no_memory(NULL) && !ptc_why_copy(NULL, &why));
    CHECK(!ptc_why_prefix(NULL, "%d", 1) && !ptc_why_at(NULL, "%d", 1));
}

/* Texts of every length around the ends of the arrays, of characters of one to four bytes: whole or marked as cut,
 * valid, and the next byte untouched. */
static void test_cut_text(const char *character, size_t width)
{
    char text[PTC_WHY_TEXT + 64];
    struct {
        PtcWhy why;
        char after;
    } box = {.after = 'x'};
    for (size_t n = 0; n + width < sizeof text; n++) {
        for (size_t i = 0; i < n; i++)
            text[i] = i % (width + 1) == 0 ? '.' : character[i % (width + 1) - 1];
        text[ptc_utf8_valid_prefix(text, n)] = '\0';
        for (int prefixed = 0; prefixed < 2; prefixed++) {
            ptc_why_say(&box.why, PTC_WHY_INVALID, "%s", prefixed ? "!" : text);
            if (prefixed)
                ptc_why_prefix(&box.why, "%s", text);
            size_t whole = strlen(text) + (size_t)prefixed, len = strlen(box.why.text);
            bool cut = whole >= PTC_WHY_TEXT;
            CHECK(ptc_utf8_valid(box.why.text, len) && box.after == 'x');
            CHECK(cut ? len < PTC_WHY_TEXT && len >= PTC_WHY_TEXT - 5 &&
                            strcmp(box.why.text + len - 3, "...") == 0
                      : len == whole && memcmp(box.why.text, text, strlen(text)) == 0);
        }
        ptc_why_at(&box.why, "%s", text);
        CHECK(strlen(box.why.path) < PTC_WHY_PATH && box.after == 'x');
        CHECK(ptc_utf8_valid(box.why.path, strlen(box.why.path)));
    }
}

/* A long text stays, what comes in front of it is whole, and bytes that are no UTF-8 end too. */
static void test_long_prefix(void)
{
    PtcWhy why;
    char text[2 * PTC_WHY_TEXT];
    memset(text, 'a', sizeof text);
    text[PTC_WHY_TEXT - 1] = '\0';
    ptc_why_say(&why, PTC_WHY_INVALID, "%s", text);
    CHECK_STR(why.text, text);
    ptc_why_prefix(&why, "FILE: ");
    CHECK(strlen(why.text) == PTC_WHY_TEXT - 1 && memcmp(why.text, "FILE: aaa", 9) == 0);
    CHECK_STR(why.text + PTC_WHY_TEXT - 5, "a...");
    memset(text, '\x80', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ptc_why_say(&why, PTC_WHY_INVALID, "%s", text);
    CHECK(strlen(why.text) >= PTC_WHY_TEXT - 5 && strstr(why.text, "..."));
}

int main(void)
{
    CHECK_RUN(test_say());
    CHECK_RUN(test_nobody_asks());
    CHECK_RUN(test_cut_text("a", 1));
    CHECK_RUN(test_cut_text("\xc3\xa9", 2));
    CHECK_RUN(test_cut_text("\xe2\x82\xac", 3));
    CHECK_RUN(test_cut_text("\xf0\x9f\x98\x80", 4));
    CHECK_RUN(test_long_prefix());
    return check_done("why");
}
