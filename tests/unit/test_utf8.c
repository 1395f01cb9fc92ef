/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include "check.h"

#define PREFIX(s) ptc_utf8_valid_prefix(s, sizeof(s) - 1)
#define GRAPHEME(s) ptc_utf8_grapheme(NULL, s, sizeof(s) - 1)

static void test_valid(void)
{
    CHECK(ptc_utf8_valid("", 0));
    CHECK(ptc_utf8_valid("a\0b", 3));
    CHECK(ptc_utf8_valid("0123456789abcdef\xc3\xa9", 18));
    CHECK(PREFIX("\xf4\x8f\xbf\xbf") == 4);
    CHECK(PREFIX("\xed\x9f\xbf\xee\x80\x80") == 6);
    CHECK(PREFIX("a\x80") == 1);
    CHECK(PREFIX("ab\xc0\x80") == 2);
    CHECK(PREFIX("\xc1\xbf") == 0);
    CHECK(PREFIX("\xe0\x9f\xbf") == 0);
    CHECK(PREFIX("\xed\xa0\x80") == 0);
    CHECK(PREFIX("\xf0\x8f\xbf\xbf") == 0);
    CHECK(PREFIX("\xf4\x90\x80\x80") == 0);
    CHECK(PREFIX("\xf5\x80\x80\x80") == 0);
    CHECK(PREFIX("\xff") == 0);
    CHECK(PREFIX("12345678\xe2\x82") == 8);
    CHECK(PREFIX("1234567\xe2\x82\xac"
                 "9\xe2\x28\xa1") == 11);
}

/* Every code point there and back; everything else refused. */
static void test_codes(void)
{
    bool ok = true;
    for (uint32_t code = 0; code < 0x120000; code++) {
        char bytes[4];
        uint32_t back = 0;
        size_t n = ptc_utf8_encode(code, bytes);
        bool scalar = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
        if (!scalar) {
            ok = ok && n == 0;
            continue;
        }
        ok = ok && n > 0 && ptc_utf8_valid(bytes, n) && ptc_utf8_count(bytes, n) == 1 &&
             ptc_utf8_decode(bytes, n, &back) == n && back == code;
        ok = ok && (n == 1 || ptc_utf8_valid_prefix(bytes, n - 1) == 0);
    }
    CHECK(ok);
    uint32_t code = 0;
    CHECK(ptc_utf8_decode("\xe2\x82", 2, &code) == 1 && code == 0xfffd);
}

/* Two and three bytes of every kind, against a decoder that reads bits and looks at the result. */
static bool slow_valid(const unsigned char *p, size_t len)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    while (len) {
        size_t n = p[0] < 0x80             ? 1
                   : (p[0] & 0xe0) == 0xc0 ? 2
                   : (p[0] & 0xf0) == 0xe0 ? 3
                   : (p[0] & 0xf8) == 0xf0 ? 4
                                           : 0;
        if (n == 0 || n > len)
            return false;
        uint32_t code = n == 1 ? p[0] : p[0] & (0x7fu >> n);
        for (size_t i = 1; i < n; i++) {
            if ((p[i] & 0xc0) != 0x80)
                return false;
            code = code << 6 | (p[i] & 0x3f);
        }
        if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return false;
        p += n;
        len -= n;
    }
    return true;
}

static void test_valid_random(void)
{
    uint64_t state = 42;
    bool ok = true;
    for (uint32_t i = 0; i < 1 << 24; i++) {
        unsigned char b[3] = {(unsigned char)(i >> 16), (unsigned char)(i >> 8), (unsigned char)i};
        ok = ok && ptc_utf8_valid((const char *)b, 3) == slow_valid(b, 3);
    }
    CHECK(ok);
    for (int i = 0; i < 1000000; i++) {
        uint64_t r = check_random(&state);
        unsigned char b[12] = "abcdefghijkl";
        unsigned char four[4] = {(unsigned char)(0xf0 | (r & 7)), (unsigned char)(r >> 8),
                                 (unsigned char)(0x80 | (r >> 16 & 0x7f)),
                                 (unsigned char)(0x80 | (r >> 24 & 0x7f))};
        memcpy(b + (r >> 32 & 7), four, 4);
        ok = ok && ptc_utf8_valid((const char *)b, 12) == slow_valid(b, 12);
    }
    CHECK(ok);
}

static void test_count(void)
{
    CHECK(ptc_utf8_count("", 0) == 0);
    CHECK(ptc_utf8_count("abcdefghij", 10) == 10);
    CHECK(ptc_utf8_count("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 10) == 5);
    CHECK(ptc_utf8_count("x\xf0\x9f\x98\x80y\xe2\x82\xacz", 10) == 5);
}

/* What "%.*s" shows of a text: no part of a character, nothing of an absent one, and a length that an int can hold. */
static void test_shown(void)
{
    static const char whole[] =
        "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"; /* of 1, 2, 3, 4 and 1 bytes */
    static const size_t lens[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    char out[40];
    for (size_t most = 0; most < sizeof lens / sizeof *lens; most++)
        CHECK(ptc_text_cut(ptc_text_cstr(whole), most).len == lens[most]);
    CHECK(ptc_text_cut((PtcText){"\x80\x80\x80\x80\x80\x80", 6}, 5).len ==
          2); /* no character: near the bound */
    CHECK(ptc_text_cut((PtcText){NULL, 0}, 5).len == 0);
    CHECK(ptc_text_precision(SIZE_MAX) == INT_MAX && ptc_text_precision(INT_MAX) == INT_MAX);
    PtcText absent = {NULL, 0}, both = PTC_TEXT("both");
    snprintf(out, sizeof out, "<%.*s|%.*s|%.*s>", PTC_ARG(absent), PTC_ARG(both),
             PTC_ARG_OF("cut off", 3));
    CHECK(strcmp(out, "<|both|cut>") == 0);
}

static void test_graphemes(void)
{
    CHECK(GRAPHEME("a") == 1);
    CHECK(GRAPHEME("ab") == 1);
    CHECK(GRAPHEME("\r\n") == 1); /* two characters, as in Clojure */
    CHECK(GRAPHEME("\r\nx") == 1);
    CHECK(GRAPHEME("\n\r") == 1);
    CHECK(GRAPHEME("\r") == 1);
    CHECK(GRAPHEME("e\xcc\x81x") == 3);               /* e, combining acute */
    CHECK(GRAPHEME("\r\xcc\x81") == 1);               /* nothing joins a control character */
    CHECK(GRAPHEME("\xc3\xa9\xc3\xa9") == 2);         /* two separate letters */
    CHECK(GRAPHEME("\xf0\x9f\x98\x80!") == 4);        /* emoji, then ASCII */
    CHECK(GRAPHEME("\xea\xb0\x80\xe1\x86\xa8") == 6); /* Hangul syllable and final */
    /* flags: two regional indicators each */
    CHECK(GRAPHEME("\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa\xf0\x9f\x87\xab\xf0\x9f\x87\xb7") == 8);
    /* family: man, joiner, woman, joiner, girl */
    CHECK(GRAPHEME("\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7z") ==
          18);
    /* thumb with skin tone */
    CHECK(GRAPHEME("\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd\xf0\x9f\x91\x8d") == 8);
}

int main(void)
{
    test_valid();
    test_codes();
    test_valid_random();
    test_count();
    test_shown();
    test_graphemes();
    return check_done("utf8");
}
