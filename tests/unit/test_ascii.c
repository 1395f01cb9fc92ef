/* SPDX-License-Identifier: MIT
 * Every byte against the C library, which in the locale "C" knows no letter beyond ASCII. */
#include "base/ascii.h"

#include <ctype.h>

#include "base/text.h"
#include "check.h"

static void test_bytes(void)
{
    for (int c = 0; c < 256; c++) {
        char byte = (char)c;
        CHECK(ptc_ascii_is_white(byte) == (isspace(c) != 0));
        CHECK(ptc_ascii_is_blank(byte) == (isblank(c) != 0));
        CHECK(ptc_ascii_is_space(byte) == (isspace(c) && c != '\v' && c != '\f'));
        CHECK(ptc_ascii_is_digit(byte) == (isdigit(c) != 0));
        CHECK(ptc_ascii_is_lower(byte) == (islower(c) != 0));
        CHECK(ptc_ascii_is_upper(byte) == (isupper(c) != 0));
        CHECK(ptc_ascii_is_letter(byte) == (isalpha(c) != 0));
        CHECK(ptc_ascii_is_alnum(byte) == (isalnum(c) != 0));
        CHECK(ptc_ascii_begins_name(byte) == (isalpha(c) || c == '_'));
        CHECK(ptc_ascii_is_name(byte) == (isalnum(c) || c == '_'));
        CHECK(ptc_ascii_is_hex(byte) == (isxdigit(c) != 0));
        CHECK(ptc_ascii_lower(byte) == (char)tolower(c));
        CHECK(ptc_ascii_upper(byte) == (char)toupper(c));
    }
}

static void test_digit_values(void)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    for (int i = 0; i < 36; i++) {
        CHECK(ptc_ascii_digit_value(digits[i]) == i);
        CHECK(ptc_ascii_digit_value(ptc_ascii_upper(digits[i])) == i);
        CHECK(ptc_ascii_hex_value(digits[i]) == (i < 16 ? i : -1));
    }
    CHECK(ptc_ascii_digit_value('/') == 36);
    CHECK(ptc_ascii_digit_value('\xe9') == 36);
}

static void test_spaces(void)
{
    CHECK(ptc_text_is_blank(PTC_TEXT("")));
    CHECK(ptc_text_is_blank(PTC_TEXT(" \t\r\n")));
    CHECK(!ptc_text_is_blank(PTC_TEXT(" \0")));
    CHECK(!ptc_text_is_blank(PTC_TEXT("\f")));
    CHECK(ptc_text_is(ptc_text_skip_spaces(PTC_TEXT("\n a ")), "a "));
}

int main(void)
{
    CHECK_RUN(test_bytes());
    CHECK_RUN(test_digit_values());
    CHECK_RUN(test_spaces());
    return check_done("ascii");
}
