/* SPDX-License-Identifier: MIT */
#include "value/number/bigint.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"

typedef __int128 Wide;

static CheckHeap h;
static uint64_t state = 123456789;

static PtcValue parse(const char *text)
{
    return ptc_int_parse(&h.heap, text, strlen(text));
}

/* The text, valid until the next call. */
static const char *print(PtcValue v)
{
    static char text[200000];
    PtcBuf buf;
    ptc_buf_init(&buf, &h.mem, sizeof text - 1);
    bool ok = ptc_int_print(&h.heap, &buf, v);
    if (ok)
        memcpy(text, buf.data, buf.len);
    text[ok ? buf.len : 0] = 0;
    ptc_buf_deinit(&buf);
    return text;
}

static bool same(PtcValue a, PtcValue b)
{
    return a && b && ptc_int_compare(a, b) == 0;
}

static PtcValue from_wide(Wide w)
{
    char text[48];
    char *p = text + sizeof text;
    unsigned __int128 rest = w < 0 ? -(unsigned __int128)w : (unsigned __int128)w;
    do {
        *--p = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest);
    if (w < 0)
        *--p = '-';
    return ptc_int_parse(&h.heap, p, (size_t)(text + sizeof text - p));
}

/* A number of up to `bits` bits, any length being as likely as any other. */
static Wide random_wide(unsigned bits)
{
    unsigned n = (unsigned)(check_random(&state) % (bits + 1));
    unsigned __int128 all = (unsigned __int128)check_random(&state) << 64 | check_random(&state);
    Wide w = n ? (Wide)(all >> (128 - n)) : 0;
    if (check_random(&state) % 8 == 0 && n)
        w = ((Wide)1 << (n - 1)) - (Wide)(check_random(&state) % 3) + 1;
    return check_random(&state) & 1 ? -w : w;
}

/* A number of so many limbs, with runs of ones and zeros among them. */
static PtcValue random_big(unsigned limbs)
{
    PtcValue v = ptc_int(0), base = parse("18446744073709551616");
    for (unsigned i = 0; i < limbs; i++) {
        uint64_t limb = check_random(&state);
        if (limb % 4 == 0)
            limb = limb & 64 ? UINT64_MAX : 0;
        v = ptc_int_add(&h.heap, ptc_int_mul(&h.heap, v, base), from_wide((Wide)limb));
    }
    return check_random(&state) & 1 ? ptc_int_sub(&h.heap, ptc_int(0), v) : v;
}

static void test_words(void)
{
    CHECK(ptc_int_new(&h.heap, PTC_INT_MAX) == ptc_int(PTC_INT_MAX));
    CHECK(ptc_int_new(&h.heap, PTC_INT_MIN) == ptc_int(PTC_INT_MIN));
    CHECK(ptc_is_bigint(ptc_int_new(&h.heap, PTC_INT_MAX + 1)));
    CHECK(ptc_is_bigint(ptc_int_new(&h.heap, PTC_INT_MIN - 1)));
    CHECK_STR(print(ptc_int_new(&h.heap, INT64_MIN)), "-9223372036854775808");
    CHECK_STR(print(ptc_int_new(&h.heap, INT64_MAX)), "9223372036854775807");
    CHECK_STR(print(ptc_int(0)), "0");
    CHECK_STR(print(ptc_int(-42)), "-42");
    CHECK(parse("-4611686018427387904") == ptc_int(PTC_INT_MIN));
    CHECK(parse("4611686018427387903") == ptc_int(PTC_INT_MAX));
    CHECK(ptc_is_bigint(parse("4611686018427387904")));
    CHECK(parse("+000000000000000000000000000000000012") == ptc_int(12));
    CHECK(parse("-0") == ptc_int(0) && parse("-000000000000000000000000") == ptc_int(0));
    PtcValue q, r;
    CHECK(ptc_int_divide(&h.heap, ptc_int(PTC_INT_MIN), ptc_int(-1), &q, &r));
    CHECK_STR(print(q), "4611686018427387904");
    CHECK(r == ptc_int(0));
    CHECK(ptc_int_divide(&h.heap, ptc_int(-7), ptc_int(2), &q, &r));
    CHECK(q == ptc_int(-3) && r == ptc_int(-1));
    /* back into the word, on both sides */
    CHECK(ptc_int_sub(&h.heap, parse("4611686018427387904"), ptc_int(1)) == ptc_int(PTC_INT_MAX));
    CHECK(ptc_int_add(&h.heap, parse("-4611686018427387905"), ptc_int(1)) == ptc_int(PTC_INT_MIN));
    CHECK(ptc_int_add(&h.heap, parse("99999999999999999999"), parse("-99999999999999999999")) ==
          ptc_int(0));
}

static void test_known(void)
{
    PtcValue factorial = ptc_int(1), power = ptc_int(1);
    for (int i = 1; i <= 30; i++)
        factorial = ptc_int_mul(&h.heap, factorial, ptc_int(i));
    CHECK_STR(print(factorial), "265252859812191058636308480000000");
    for (int i = 0; i < 200; i++)
        power = ptc_int_mul(&h.heap, power, ptc_int(-2));
    CHECK_STR(print(power), "1606938044258990275541962092341162602522202993782792835301376");
    CHECK(ptc_int_is_even(power) && !ptc_int_is_even(ptc_int_add(&h.heap, power, ptc_int(-1))));
    CHECK(ptc_int_is_even(ptc_int(0)) && !ptc_int_is_even(ptc_int(-3)));
    CHECK(ptc_int_sign(power) == 1 && ptc_int_sign(ptc_int(0)) == 0 &&
          ptc_int_sign(ptc_int(-5)) == -1);
    CHECK(ptc_int_sign(ptc_int_mul(&h.heap, power, ptc_int(-1))) == -1);
    CHECK(ptc_int_mul(&h.heap, power, ptc_int(0)) == ptc_int(0));
    CHECK(ptc_int_add(&h.heap, power, ptc_int(0)) == power);
}

static void check_divide(Wide a, Wide b)
{
    PtcValue x = from_wide(a), y = from_wide(b), q, r, alone;
    CHECK(ptc_int_divide(&h.heap, x, y, &q, &r));
    CHECK(same(q, from_wide(a / b)) && same(r, from_wide(a % b)));
    CHECK(ptc_int_divide(&h.heap, x, y, &alone, NULL) && same(alone, q));
    CHECK(ptc_int_divide(&h.heap, x, y, NULL, &alone) && same(alone, r));
}

/* Against the compiler's 128-bit arithmetic. */
static void test_wide(void)
{
    for (int i = 0; i < 50000; i++) {
        Wide a = random_wide(126), b = random_wide(126);
        PtcValue x = from_wide(a), y = from_wide(b);
        CHECK(same(ptc_int_add(&h.heap, x, y), from_wide(a + b)));
        CHECK(same(ptc_int_sub(&h.heap, x, y), from_wide(a - b)));
        CHECK(ptc_int_compare(x, y) == (a > b) - (a < b));
        CHECK(ptc_int_sign(x) == (a > 0) - (a < 0) && ptc_int_is_even(x) == (a % 2 == 0));
        CHECK(ptc_int_hash(x) == ptc_int_hash(from_wide(a)) && ptc_int_hash(x) != 0);
        CHECK(ptc_is_int(x) == (a >= PTC_INT_MIN && a <= PTC_INT_MAX));
        CHECK(ptc_int_to_double(x) == (double)a);
        if (b)
            check_divide(a, b);
        Wide m = random_wide(63), n = random_wide(63);
        CHECK(same(ptc_int_mul(&h.heap, from_wide(m), from_wide(n)), from_wide(m * n)));
    }
}

static void check_identities(PtcValue a, PtcValue b)
{
    PtcHeap *heap = &h.heap;
    PtcValue q, r, sum = ptc_int_add(heap, a, b), difference = ptc_int_sub(heap, a, b);
    CHECK(same(ptc_int_sub(heap, sum, b), a) && same(ptc_int_add(heap, difference, b), a));
    CHECK(same(ptc_int_mul(heap, a, b), ptc_int_mul(heap, b, a)));
    /* (a + b)(a - b) = aa - bb */
    CHECK(same(ptc_int_mul(heap, sum, difference),
               ptc_int_sub(heap, ptc_int_mul(heap, a, a), ptc_int_mul(heap, b, b))));
    CHECK(same(parse(print(a)), a));
    if (ptc_int_sign(b) == 0)
        return;
    CHECK(ptc_int_divide(heap, a, b, &q, &r));
    CHECK(same(ptc_int_add(heap, ptc_int_mul(heap, q, b), r), a));
    CHECK(ptc_int_sign(r) == 0 || ptc_int_sign(r) == ptc_int_sign(a));
    PtcValue minus = ptc_int_sub(heap, ptc_int(0), b);
    PtcValue size = ptc_int_sign(b) < 0 ? minus : b;
    PtcValue rest = ptc_int_sign(r) < 0 ? ptc_int_sub(heap, ptc_int(0), r) : r;
    CHECK(ptc_int_compare(rest, size) < 0);
    CHECK(ptc_int_divide(heap, ptc_int_mul(heap, a, b), b, &q, &r));
    CHECK(same(q, a) && r == ptc_int(0));
}

static void test_large(void)
{
    for (int i = 0; i < 2000; i++) {
        PtcValue a = random_big(1 + (unsigned)(check_random(&state) % 60));
        PtcValue b = random_big((unsigned)(check_random(&state) % 40));
        check_identities(a, b);
    }
    for (unsigned i = 0; i < 4; i++) {
        PtcValue a = random_big(1500);
        PtcValue b = random_big(700 + i);
        check_identities(a, b);
    }
}

static void test_doubles(void)
{
    PtcHeap *heap = &h.heap;
    for (int i = 0; i < 20000; i++) {
        PtcValue x = random_big(1 + (unsigned)(check_random(&state) % 18));
        double d = ptc_int_to_double(x), want = strtod(print(x), NULL);
        CHECK(d == want);
        if (isinf(d)) {
            CHECK(ptc_int_compare_double(x, d) == (d > 0 ? -1 : 1));
            continue;
        }
        PtcValue back = ptc_int_from_double(heap, d);
        CHECK(ptc_int_compare_double(x, d) == ptc_int_compare(x, back));
        CHECK(ptc_int_compare_double(back, d) == 0 && ptc_int_to_double(back) == d);
        CHECK(ptc_int_compare_double(ptc_int_add(heap, back, ptc_int(1)), d) == 1);
        CHECK(ptc_int_compare_double(ptc_int_sub(heap, back, ptc_int(1)), d) == -1);
        CHECK(ptc_int_compare_double(x, -d) == ptc_int_sign(x) || d == 0);
        CHECK(ptc_int_compare_double(x, 0.5) == (ptc_int_sign(x) > 0 ? 1 : -1));
    }
    CHECK(ptc_int_compare_double(ptc_int(1), 1.5) == -1);
    CHECK(ptc_int_compare_double(ptc_int(-1), -1.5) == 1);
    CHECK(ptc_int_compare_double(ptc_int(2), 2.0) == 0);
    CHECK(ptc_int_compare_double(ptc_int(0), -0.0) == 0);
    CHECK(ptc_int_compare_double(ptc_int(PTC_INT_MAX), 0x1p62) == -1);
    CHECK(ptc_int_compare_double(ptc_int(PTC_INT_MIN), -0x1p62) == 0);
    CHECK(ptc_int_compare_double(ptc_int(5), INFINITY) == -1);
    CHECK(ptc_int_compare_double(ptc_int(5), -INFINITY) == 1);
    CHECK(ptc_int_compare_double(parse("4611686018427387904"), 0x1p62) == 0);
    CHECK(ptc_int_from_double(heap, -3.99) == ptc_int(-3));
    CHECK(same(ptc_int_from_double(heap, -0x1p63), parse("-9223372036854775808")));
    CHECK(same(ptc_int_from_double(heap, 0x1p64), parse("18446744073709551616")));
    CHECK(ptc_int_to_double(ptc_int_from_double(heap, 1.7976931348623157e308)) ==
          1.7976931348623157e308);
}

static void test_floats(void)
{
    static const double all[] = {0.0, -0.0, 1.5, 1e300, -1e-300, 5e-324, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        PtcValue v = ptc_float_new(&h.heap, all[i]);
        double d = ptc_to_float(v);
        CHECK(ptc_is_float(v) && memcmp(&d, &all[i], sizeof d) == 0);
    }
    CHECK(isnan(ptc_to_float(ptc_float_new(&h.heap, NAN))));
    CHECK(ptc_is_flonum(ptc_float_new(&h.heap, 1.5)));
    CHECK(ptc_is(ptc_float_new(&h.heap, -0.0), PTC_T_FLOAT));
}

/* Stops with PTC_STOP_SIZE, and starts afresh. */
static bool too_large(PtcValue v)
{
    bool yes =
        v == PTC_NONE && h.budget.stop == PTC_STOP_SIZE && h.budget.limit == h.budget.max_int_bits;
    ptc_budget_init(&h.budget);
    return yes;
}

static void test_limits(void)
{
    PtcHeap *heap = &h.heap;
    PtcValue x = ptc_int(2), q;
    for (int i = 0; i < 17; i++)
        x = ptc_int_mul(heap, x, x); /* 2^(2^17) */
    PtcValue almost = ptc_int_sub(heap, x, ptc_int(1));
    CHECK(too_large(ptc_int_mul(heap, x, x))); /* one bit more than 2^18 */
    PtcValue most = ptc_int_mul(heap, x, almost);
    CHECK(most != PTC_NONE);
    most = ptc_int_add(heap, most, almost); /* 2^(2^18) - 1 */
    CHECK(most != PTC_NONE);
    CHECK(too_large(ptc_int_add(heap, most, ptc_int(1))));
    CHECK(too_large(ptc_int_sub(heap, ptc_int(-1), most)));
    CHECK(same(parse(print(most)), most));
    h.budget.max_int_bits = 1000;
    CHECK(too_large(ptc_int_mul(heap, almost, ptc_int(3))));
    static char digits[2000000];
    memset(digits, '9', sizeof digits - 1);
    CHECK(too_large(parse(digits)));
    h.budget.max_int_bits = INT64_MAX;
    CHECK(too_large(parse(digits))); /* 6.6 million bits: over the hard cap */
    /* no time left */
    h.budget.compute_end_ns = 0;
    CHECK(ptc_int_mul(heap, almost, almost) == PTC_NONE && h.budget.stop == PTC_STOP_TIMEOUT);
    CHECK(!ptc_int_divide(heap, most, almost, &q, NULL));
    CHECK_STR(print(most), "");
    ptc_budget_init(&h.budget);
}

/* No memory for the scratch space of each operation that takes some. */
static void test_no_memory(void)
{
    PtcValue x = random_big(200), y = random_big(90), q;
    char digits[1001];
    memset(digits, '7', 1000);
    digits[1000] = 0;
    ptc_mem_fail_at(&h.mem, 1);
    CHECK(!ptc_int_divide(&h.heap, x, y, &q, NULL) && h.budget.stop == PTC_STOP_MEMORY);
    ptc_budget_init(&h.budget);
    ptc_mem_fail_at(&h.mem, 1);
    CHECK(parse(digits) == PTC_NONE && h.budget.stop == PTC_STOP_MEMORY);
    ptc_budget_init(&h.budget);
    ptc_mem_fail_at(&h.mem, 1);
    CHECK_STR(print(x), "");
    CHECK(h.budget.stop == PTC_STOP_MEMORY);
    ptc_budget_init(&h.budget);
    ptc_mem_fail_at(&h.mem, 0);
    h.heap.limit = h.heap.used; /* the objects themselves */
    while (ptc_int_new(&h.heap, INT64_MAX) != PTC_NONE)
        ;
    CHECK(h.budget.stop == PTC_STOP_MEMORY);
    CHECK(ptc_int_add(&h.heap, x, y) == PTC_NONE && ptc_int_mul(&h.heap, x, y) == PTC_NONE);
    CHECK(ptc_float_new(&h.heap, 1e300) == PTC_NONE);
    ptc_budget_init(&h.budget);
    h.heap.limit = SIZE_MAX / 4;
}

/* Numbers in a row must not share buckets: any six bits of the hash spread as chance would. */
static void test_hash(void)
{
    for (int step = 1; step <= 1 << 20; step *= 32) {
        unsigned buckets[6][64] = {{0}};
        for (int i = 0; i < 1 << 17; i++) {
            uint32_t hash = ptc_int_hash(ptc_int((int64_t)i * step));
            for (int level = 0; level < 6; level++)
                buckets[level][hash >> level * 5 & 63]++;
        }
        for (int level = 0; level < 5; level++)
            for (int b = 0; b < 64; b++)
                CHECK(buckets[level][b] > 1748 && buckets[level][b] < 2348);
    }
    PtcValue big = parse("123456789012345678901234567890");
    CHECK(ptc_int_hash(big) != ptc_int_hash(ptc_int_sub(&h.heap, ptc_int(0), big)));
    CHECK(ptc_int_hash(big) == ptc_int_hash(parse("123456789012345678901234567890")));
}

int main(void)
{
    check_heap_init(&h);
    test_words();
    test_known();
    test_wide();
    test_large();
    test_doubles();
    test_floats();
    test_limits();
    test_no_memory();
    test_hash();
    check_heap_deinit(&h);
    return check_done("bigint");
}
