/* SPDX-License-Identifier: MIT */
#include "value/str.h"

#include <stdlib.h>

#include "check.h"

static CheckHeap h;

static PtcValue str(const char *s)
{
    return ptc_str_new(&h.heap, s, strlen(s));
}

static void test_make(void)
{
    PtcValue s = ptc_str_new(&h.heap, "a\0b", 3), k = ptc_keyword_new(&h.heap, "key", 3);
    PtcValue y = ptc_symbol_new(&h.heap, "sym", 3), e = ptc_str_new(&h.heap, NULL, 0);
    CHECK(ptc_is_string(s) && ptc_str_len(s) == 3 && memcmp(ptc_str_bytes(s), "a\0b", 4) == 0);
    CHECK(ptc_is_keyword(k) && ptc_is(y, PTC_T_SYMBOL));
    CHECK(ptc_is_named(s) && ptc_is_named(k) && ptc_is_named(y) && !ptc_is_named(ptc_int(1)));
    CHECK_STR(ptc_str_bytes(k), "key");
    CHECK(ptc_str_len(e) == 0 && ptc_str_simple(e) && ptc_str_graphemes(NULL, e) == 0);
    CHECK(ptc_str_hash(e) == ptc_str_hash_bytes("", 0) && ptc_str_hash(e) != 0);
    CHECK(ptc_str_fold_equal(e, e));
    PtcValue two = ptc_str_begin(&h.heap, PTC_T_STRING, 4);
    memcpy(ptc_str_room(two), "room", 4);
    ptc_str_seal(two);
    CHECK(ptc_str_same_bytes(two, str("room")) && !ptc_str_same_bytes(two, str("rooms")));
}

static void test_too_long(void)
{
    CHECK(ptc_str_begin(&h.heap, PTC_T_STRING, (size_t)UINT32_MAX - 63) == PTC_NONE);
    CHECK(h.budget.stop == PTC_STOP_SIZE);
    CHECK(strstr(h.budget.what, "string") != NULL);
    ptc_budget_init(&h.budget);
    CHECK(ptc_str_begin(&h.heap, PTC_T_STRING, SIZE_MAX) == PTC_NONE);
    ptc_budget_init(&h.budget);
    h.heap.limit = 100000;
    CHECK(ptc_str_begin(&h.heap, PTC_T_STRING, 200000) == PTC_NONE);
    CHECK(h.budget.stop == PTC_STOP_MEMORY);
    h.heap.limit = SIZE_MAX / 4;
    ptc_budget_init(&h.budget);
}

static void test_simple(void)
{
    CHECK(ptc_str_simple(str("plain text\n\ttab")));
    CHECK(ptc_str_simple(str("line\r\nline")));
    CHECK(!ptc_str_simple(str("caf\xc3\xa9")));
    CHECK(ptc_str_graphemes(NULL, str("plain")) == 5);
    CHECK(ptc_str_graphemes(NULL, str("a\r\nb")) == 4);
    CHECK(ptc_str_graphemes(NULL, str("\xc3\xa9\r\nb")) == 4);
    CHECK(ptc_str_graphemes(NULL, str("cafe\xcc\x81!")) == 5);
    char bytes[40];
    for (size_t len = 1; len <= sizeof bytes; len++)
        for (size_t at = 0; at < len; at++) {
            memset(bytes, 0x7f, sizeof bytes);
            CHECK(ptc_bytes_simple(bytes, len));
            bytes[at] = (char)0x80;
            CHECK(!ptc_bytes_simple(bytes, len));
            CHECK(ptc_bytes_simple(bytes, at));
        }
}

static void test_spellings(void)
{
    const char *spellings[] = {"a-b", "a_b", "first-name-of-user", "first_name_of_user",
                               "first-name_of-user"};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++) {
            const char *a = spellings[i], *b = spellings[j];
            PtcValue s = str(a), k = ptc_keyword_new(&h.heap, b, strlen(b));
            bool same = (i < 2) == (j < 2);
            CHECK((ptc_str_hash(s) == ptc_str_hash(k)) == same);
            CHECK(ptc_str_fold_equal(s, k) == same);
        }
}

static char fold(char c)
{
    return c == '-' ? '_' : c;
}

static bool slow_fold_equal(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (fold(a[i]) != fold(b[i]))
            return false;
    return true;
}

/* Any bytes near `-` and `_`, so that SWAR would show a carry from one byte into the next. */
static void test_fold_random(void)
{
    static const char near[] = {'-', '_', ',', '.', '^', '`', 0, 1, (char)0xad, (char)0xdf};
    uint64_t state = 7;
    for (int i = 0; i < 100000; i++) {
        char a[40], b[40];
        size_t len = check_random(&state) % 33;
        for (size_t n = 0; n < len; n++) {
            a[n] = near[check_random(&state) % sizeof near];
            b[n] = a[n] == '-' || a[n] == '_' ? near[check_random(&state) % 2] : a[n];
        }
        if (len && (i & 1))
            b[check_random(&state) % len] = near[check_random(&state) % sizeof near];
        /* not always UTF-8, which neither function looks at */
        bool same = slow_fold_equal(a, b, len);
        PtcValue x = ptc_str_new(&h.heap, a, len), y = ptc_str_new(&h.heap, b, len);
        CHECK(ptc_str_fold_equal(x, y) == same);
        CHECK((ptc_str_hash(x) == ptc_str_hash(y)) == same);
        CHECK(ptc_str_hash(x) == ptc_str_hash_bytes(a, len) && ptc_str_hash(x) != 0);
    }
}

static int order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Keys as programs have them must spread as chance would: 2^17 keys have about two clashes in 32
 * bits, and each of 64 buckets by any six bits about 2048 of them (standard deviation 45). */
static void test_spread(const char *format)
{
    enum { KEYS = 1 << 17 };
    static uint32_t hashes[KEYS];
    unsigned buckets[6][64] = {{0}};
    for (int i = 0; i < KEYS; i++) {
        char text[64];
        int len = snprintf(text, sizeof text, format, i);
        hashes[i] = ptc_str_hash_bytes(text, (size_t)len);
        for (int level = 0; level < 6; level++)
            buckets[level][hashes[i] >> level * 5 & 63]++;
    }
    for (int level = 0; level < 5; level++)
        for (int b = 0; b < 64; b++)
            CHECK(buckets[level][b] > 1748 && buckets[level][b] < 2348);
    qsort(hashes, KEYS, sizeof hashes[0], order);
    int clashes = 0;
    for (int i = 1; i < KEYS; i++)
        clashes += hashes[i] == hashes[i - 1];
    CHECK(clashes < 16);
}

/* Text of every length around those where a buffer's block is mapped and where it becomes the string. */
static void test_take(size_t len)
{
    PtcBuf buf;
    ptc_heap_buf_init(&h.heap, &buf);
    for (size_t i = 0; i < len; i++)
        CHECK(ptc_buf_add_char(&buf, (char)('a' + i % 23)));
    CHECK(h.heap.scratch == buf.cap && (len == 0 || buf.cap >= len));
    PtcValue s = ptc_str_take(&h.heap, &buf);
    CHECK(s != PTC_NONE && buf.cap == 0 && h.heap.scratch == 0 && ptc_str_len(s) == len);
    CHECK(ptc_str_bytes(s)[len] == 0 && ptc_str_simple(s) && ptc_heap_owns(&h.heap, s));
    bool same = true;
    for (size_t i = 0; i < len; i++)
        same = same && ptc_str_bytes(s)[i] == (char)('a' + i % 23);
    CHECK(same);
    ptc_heap_mark_begin(&h.heap);
    ptc_heap_mark(&h.heap, s);
    ptc_heap_mark_finish(&h.heap);
    CHECK(h.heap.live >= len && ptc_str_bytes(s)[len] == 0);
}

/* A buffer counts against the heap's limit, goes up to it, and leaves it as it was. */
static void test_take_limit(void)
{
    CheckHeap small;
    PtcBuf buf;
    check_heap_init(&small);
    small.heap.limit = 1 << 20;
    ptc_heap_buf_init(&small.heap, &buf);
    size_t n = 0;
    while (ptc_buf_add_char(&buf, 'x'))
        n++;
    CHECK(n > (1 << 20) - 8192 && n <= 1 << 20 && small.heap.scratch == buf.cap);
    CHECK(small.budget.stop == PTC_STOP_NONE);
    CHECK(ptc_str_take(&small.heap, &buf) == PTC_NONE && buf.len == n);
    CHECK(small.budget.stop == PTC_STOP_MEMORY);
    ptc_buf_deinit(&buf);
    CHECK(small.heap.scratch == 0);
    check_heap_deinit(&small);
}

int main(void)
{
    check_heap_init(&h);
    for (size_t near = 64 * 1024; near <= 512 * 1024; near *= 8)
        for (size_t len = near - 2; len <= near + 2; len++)
            test_take(len);
    test_take(0);
    test_take(3000000);
    test_take_limit();
    test_make();
    test_too_long();
    test_simple();
    test_spellings();
    test_fold_random();
    test_spread("%d");
    test_spread("%08d");
    test_spread("key-%d");
    test_spread("a-rather-long-key-with-number-%d");
    check_heap_deinit(&h);
    return check_done("str");
}
