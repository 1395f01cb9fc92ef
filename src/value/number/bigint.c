/* SPDX-License-Identifier: MIT
 * Integers of any size: small operands first, then GMP's mpn layer on magnitudes.  Time is charged before the work,
 * at the cost of the schoolbook method: for large numbers GMP is faster than that, so the clock is checked more often
 * than needed, never less often. */
#include "value/number/bigint_int.h"

#include <math.h>

#include "value/str.h"

enum {
    LIMB_BITS = 64,
    DOUBLE_LIMBS = 1024 / LIMB_BITS, /* of the largest finite double */
    LIMBS_PER_TICK = 8,              /* multiplications of two limbs in one tick */
};

void ptc_big_load(PtcNum *num, PtcValue v)
{
    if (ptc_is_int(v)) {
        int64_t i = ptc_to_int(v);
        num->negative = i < 0;
        num->word = i < 0 ? -(mp_limb_t)i : (mp_limb_t)i;
        num->limbs = &num->word;
        num->n = i != 0;
        return;
    }
    const PtcBig *big = (const PtcBig *)ptc_obj(v);
    num->limbs = (const mp_limb_t *)big->limbs;
    num->n = big->obj.count;
    num->negative = (big->obj.flags & PTC_BIG_NEGATIVE) != 0;
}

static int64_t limbs_bit_length(const mp_limb_t *limbs, mp_size_t n)
{
    return n ? (int64_t)n * LIMB_BITS - __builtin_clzll(limbs[n - 1]) : 0;
}

static int compare_magnitude(const PtcNum *a, const PtcNum *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return a->n ? mpn_cmp(a->limbs, b->limbs, a->n) : 0;
}

bool ptc_big_allow(PtcHeap *heap, int64_t bits)
{
    PtcBudget *budget = heap->budget;
    if (bits <= budget->max_int_bits && bits <= PTC_INT_BITS_MAX)
        return true;
    return ptc_budget_exceed(budget, PTC_STOP_SIZE, "an integer may not have more bits than",
                             budget->max_int_bits);
}

bool ptc_big_charge(PtcHeap *heap, mp_size_t a, mp_size_t b)
{
    int64_t ticks = (int64_t)a * b / LIMBS_PER_TICK;
    return ticks == 0 || ptc_tick(heap->budget, ticks);
}

bool ptc_limb_scratch_init(PtcHeap *heap, PtcLimbScratch *s, size_t count)
{
    s->count = count;
    s->limbs = s->stack;
    if (count > PTC_BIG_STACK_LIMBS)
        s->limbs = ptc_mem_alloc(heap->pool->mem, count * sizeof(mp_limb_t));
    return s->limbs || ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
}

void ptc_limb_scratch_deinit(PtcHeap *heap, PtcLimbScratch *s)
{
    if (s->limbs != s->stack)
        ptc_mem_free(heap->pool->mem, s->limbs, s->count * sizeof(mp_limb_t));
}

/* ------------------------------------------------------------- new integers */

PtcValue ptc_float_new(PtcHeap *heap, double d)
{
    PtcValue word = ptc_flonum(d);
    if (PTC_LIKELY(word != PTC_NONE))
        return word;
    PtcFloat *f = ptc_heap_object(heap, PTC_T_FLOAT, sizeof *f, 0);
    if (!f)
        return PTC_NONE;
    f->value = d;
    return ptc_from_obj(f);
}

static PtcBig *new_big(PtcHeap *heap, mp_size_t n)
{
    size_t size = sizeof(PtcBig) + (size_t)n * sizeof(mp_limb_t);
    return ptc_heap_object(heap, PTC_T_BIGINT, size, (uint32_t)n);
}

static mp_limb_t *limbs_of(PtcBig *big)
{
    return (mp_limb_t *)big->limbs;
}

static mp_size_t without_zeros(const mp_limb_t *limbs, mp_size_t n)
{
    while (n && limbs[n - 1] == 0)
        n--;
    return n;
}

/* The word for a magnitude without leading zeros, or PTC_NONE if it does not fit. */
static PtcValue small_word(const mp_limb_t *limbs, mp_size_t n, bool negative)
{
    mp_limb_t most = (mp_limb_t)PTC_INT_MAX + negative;
    if (n == 0)
        return ptc_int(0);
    if (n > 1 || limbs[0] > most)
        return PTC_NONE;
    return ptc_int(negative ? -(int64_t)limbs[0] : (int64_t)limbs[0]);
}

/* Makes the value of a big object whose first n limbs have been filled in. */
static PtcValue finish_big_value(PtcHeap *heap, PtcBig *big, mp_size_t n, bool negative)
{
    n = without_zeros(limbs_of(big), n);
    PtcValue word = small_word(limbs_of(big), n, negative);
    if (word)
        return word;
    if (!ptc_big_allow(heap, limbs_bit_length(limbs_of(big), n)))
        return PTC_NONE;
    big->obj.count = (uint32_t)n;
    big->obj.flags = negative ? PTC_BIG_NEGATIVE : 0;
    return ptc_from_obj(big);
}

PtcValue ptc_big_from_limbs(PtcHeap *heap, const mp_limb_t *limbs, mp_size_t n, bool negative)
{
    n = without_zeros(limbs, n);
    PtcValue word = small_word(limbs, n, negative);
    if (word || !ptc_big_allow(heap, limbs_bit_length(limbs, n)))
        return word;
    PtcBig *big = new_big(heap, n);
    if (!big)
        return PTC_NONE;
    mpn_copyi(limbs_of(big), limbs, n);
    return finish_big_value(heap, big, n, negative);
}

PtcValue ptc_int_new(PtcHeap *heap, int64_t n)
{
    if (PTC_LIKELY(ptc_fits_int(n)))
        return ptc_int(n);
    mp_limb_t magnitude = n < 0 ? -(mp_limb_t)n : (mp_limb_t)n;
    return ptc_big_from_limbs(heap, &magnitude, 1, n < 0);
}

/* --------------------------------------------------------------- arithmetic */

static PtcValue add_magnitudes(PtcHeap *heap, const PtcNum *a, const PtcNum *b, bool negative)
{
    if (a->n < b->n) {
        const PtcNum *t = a;
        a = b;
        b = t;
    }
    PtcBig *big = ptc_big_charge(heap, a->n, 1) ? new_big(heap, a->n + 1) : NULL;
    if (!big)
        return PTC_NONE;
    limbs_of(big)[a->n] = mpn_add(limbs_of(big), a->limbs, a->n, b->limbs, b->n);
    return finish_big_value(heap, big, a->n + 1, negative);
}

/* |a| - |b|, negated when `negative`. */
static PtcValue subtract_magnitudes(PtcHeap *heap, const PtcNum *a, const PtcNum *b, bool negative)
{
    int order = compare_magnitude(a, b);
    if (order == 0)
        return ptc_int(0);
    if (order < 0) {
        const PtcNum *t = a;
        a = b;
        b = t;
        negative = !negative;
    }
    PtcBig *big = ptc_big_charge(heap, a->n, 1) ? new_big(heap, a->n) : NULL;
    if (!big)
        return PTC_NONE;
    mpn_sub(limbs_of(big), a->limbs, a->n, b->limbs, b->n);
    return finish_big_value(heap, big, a->n, negative);
}

/* a + b, or a - b when `minus`; at least one is big. */
static PtcValue add_big(PtcHeap *heap, PtcValue a, PtcValue b, bool minus)
{
    PtcNum x, y;
    ptc_big_load(&x, a);
    ptc_big_load(&y, b);
    if (y.n == 0)
        return a;
    if (minus)
        y.negative = !y.negative;
    if (x.negative == y.negative)
        return add_magnitudes(heap, &x, &y, x.negative);
    return subtract_magnitudes(heap, &x, &y, x.negative);
}

PtcValue ptc_int_add(PtcHeap *heap, PtcValue a, PtcValue b)
{
    if (PTC_LIKELY(ptc_is_int(a) && ptc_is_int(b))) /* 63 bits each: no overflow */
        return ptc_int_new(heap, ptc_to_int(a) + ptc_to_int(b));
    return add_big(heap, a, b, false);
}

PtcValue ptc_int_sub(PtcHeap *heap, PtcValue a, PtcValue b)
{
    if (PTC_LIKELY(ptc_is_int(a) && ptc_is_int(b)))
        return ptc_int_new(heap, ptc_to_int(a) - ptc_to_int(b));
    return add_big(heap, a, b, true);
}

static PtcValue multiply_big(PtcHeap *heap, const PtcNum *a, const PtcNum *b)
{
    if (a->n == 0 || b->n == 0)
        return ptc_int(0);
    if (a->n < b->n) {
        const PtcNum *t = a;
        a = b;
        b = t;
    }
    /* The product has this many bits or one more; finish checks again. */
    int64_t bits = limbs_bit_length(a->limbs, a->n) + limbs_bit_length(b->limbs, b->n) - 1;
    if (!ptc_big_allow(heap, bits) || !ptc_big_charge(heap, a->n, b->n))
        return PTC_NONE;
    PtcBig *big = new_big(heap, a->n + b->n);
    if (!big)
        return PTC_NONE;
    if (a->limbs == b->limbs && a->n == b->n)
        mpn_sqr(limbs_of(big), a->limbs, a->n);
    else
        mpn_mul(limbs_of(big), a->limbs, a->n, b->limbs, b->n);
    return finish_big_value(heap, big, a->n + b->n, a->negative != b->negative);
}

PtcValue ptc_int_mul(PtcHeap *heap, PtcValue a, PtcValue b)
{
    int64_t product;
    if (PTC_LIKELY(ptc_is_int(a) && ptc_is_int(b)) &&
        !__builtin_mul_overflow(ptc_to_int(a), ptc_to_int(b), &product))
        return ptc_int_new(heap, product);
    PtcNum x, y;
    ptc_big_load(&x, a);
    ptc_big_load(&y, b);
    return multiply_big(heap, &x, &y);
}

/* |a| >= |b| > 0 */
static bool divide_big_limbs(PtcHeap *heap, const PtcNum *a, const PtcNum *b, PtcValue *quot,
                             PtcValue *rem)
{
    PtcLimbScratch s;
    mp_size_t n = a->n - b->n + 1;
    if (!ptc_big_charge(heap, n, b->n) || !ptc_limb_scratch_init(heap, &s, (size_t)a->n + 1))
        return false;
    mp_limb_t *quotient = s.limbs, *remainder = s.limbs + n;
    mpn_tdiv_qr(quotient, remainder, 0, a->limbs, a->n, b->limbs, b->n);
    bool ok = true;
    if (quot) {
        *quot = ptc_big_from_limbs(heap, quotient, n, a->negative != b->negative);
        ok = *quot != PTC_NONE;
    }
    if (rem && ok) {
        *rem = ptc_big_from_limbs(heap, remainder, b->n, a->negative);
        ok = *rem != PTC_NONE;
    }
    ptc_limb_scratch_deinit(heap, &s);
    return ok;
}

static bool divide_small_ints(PtcHeap *heap, int64_t a, int64_t b, PtcValue *quot, PtcValue *rem)
{
    if (rem)
        *rem = ptc_int(a % b);
    if (!quot)
        return true;
    *quot = ptc_int_new(heap, a / b); /* only PTC_INT_MIN / -1 needs the heap */
    return *quot != PTC_NONE;
}

bool ptc_int_divide(PtcHeap *heap, PtcValue a, PtcValue b, PtcValue *quot, PtcValue *rem)
{
    if (PTC_LIKELY(ptc_is_int(a) && ptc_is_int(b)))
        return divide_small_ints(heap, ptc_to_int(a), ptc_to_int(b), quot, rem);
    PtcNum x, y;
    ptc_big_load(&x, a);
    ptc_big_load(&y, b);
    if (compare_magnitude(&x, &y) >= 0)
        return divide_big_limbs(heap, &x, &y, quot, rem);
    if (quot)
        *quot = ptc_int(0);
    if (rem)
        *rem = a;
    return true;
}

/* ---------------------------------------------------------------- questions */

int ptc_int_compare(PtcValue a, PtcValue b)
{
    if (PTC_LIKELY(ptc_is_int(a) && ptc_is_int(b)))
        return (ptc_to_int(a) > ptc_to_int(b)) - (ptc_to_int(a) < ptc_to_int(b));
    PtcNum x, y;
    ptc_big_load(&x, a);
    ptc_big_load(&y, b);
    if (x.negative != y.negative)
        return x.negative ? -1 : 1;
    int order = compare_magnitude(&x, &y);
    return x.negative ? -order : order;
}

int ptc_int_sign(PtcValue a)
{
    if (ptc_is_int(a))
        return (ptc_to_int(a) > 0) - (ptc_to_int(a) < 0);
    return ptc_obj(a)->flags & PTC_BIG_NEGATIVE ? -1 : 1;
}

bool ptc_int_is_even(PtcValue a)
{
    if (ptc_is_int(a))
        return (ptc_to_int(a) & 1) == 0;
    return (((const PtcBig *)ptc_obj(a))->limbs[0] & 1) == 0;
}

uint32_t ptc_int_hash(PtcValue a)
{
    if (PTC_LIKELY(ptc_is_int(a)))
        return ptc_hash_finish(ptc_hash_step(ptc_hash_begin(0), (uint64_t)ptc_to_int(a)));
    PtcNum x;
    ptc_big_load(&x, a);
    uint64_t h = ptc_hash_begin((uint64_t)x.n * 2 + x.negative);
    for (mp_size_t i = 0; i < x.n; i++)
        h = ptc_hash_step(h, x.limbs[i]);
    return ptc_hash_finish(h);
}

/* ------------------------------------------------------------------ doubles */

double ptc_int_to_double(PtcValue a)
{
    if (PTC_LIKELY(ptc_is_int(a)))
        return (double)ptc_to_int(a);
    PtcNum x;
    ptc_big_load(&x, a);
    int64_t bits = limbs_bit_length(x.limbs, x.n);
    double d = INFINITY;
    if (bits <= DOUBLE_LIMBS * LIMB_BITS) {
        /* The top 64 bits, with the last one set if anything follows, round like the whole. */
        mp_limb_t top = x.limbs[x.n - 1];
        int shift = __builtin_clzll(top);
        bool more = false;
        if (x.n > 1 && shift) {
            mp_limb_t next = x.limbs[x.n - 2];
            top = top << shift | next >> (LIMB_BITS - shift);
            more = next << shift != 0;
        } else if (x.n > 1) {
            more = x.limbs[x.n - 2] != 0;
        } else {
            top <<= shift;
        }
        more |= x.n > 2 && without_zeros(x.limbs, x.n - 2) != 0;
        d = ldexp((double)(top | more), (int)bits - LIMB_BITS);
    }
    return x.negative ? -d : d;
}

/* The limbs of an integral double of at least 2^52; returns how many. */
static mp_size_t double_limbs(double d, mp_limb_t out[DOUBLE_LIMBS])
{
    int exponent;
    mp_limb_t mantissa = (mp_limb_t)ldexp(frexp(d, &exponent), 53);
    exponent -= 53;
    mp_size_t low = exponent / LIMB_BITS;
    int shift = exponent % LIMB_BITS;
    for (mp_size_t i = 0; i < low; i++)
        out[i] = 0;
    out[low] = mantissa << shift;
    mp_limb_t high = shift ? mantissa >> (LIMB_BITS - shift) : 0;
    if (high == 0)
        return low + 1;
    out[low + 1] = high;
    return low + 2;
}

static int compare_small_double(int64_t a, double d)
{
    if (d >= 0x1p63)
        return -1;
    if (d < -0x1p63)
        return 1;
    int64_t whole = (int64_t)d;
    if (a != whole)
        return a < whole ? -1 : 1;
    double rest = d - (double)whole;
    return (rest < 0) - (rest > 0);
}

int ptc_int_compare_double(PtcValue a, double d)
{
    if (PTC_LIKELY(ptc_is_int(a)))
        return compare_small_double(ptc_to_int(a), d);
    PtcNum x, y;
    mp_limb_t limbs[DOUBLE_LIMBS];
    ptc_big_load(&x, a);
    int away = x.negative ? -1 : 1; /* the answer when |a| is the larger one */
    if (isinf(d))
        return d > 0 ? -1 : 1;
    if (fabs(d) < 0x1p62 || (d < 0) != x.negative)
        return away;
    y.limbs = limbs;
    y.n = double_limbs(fabs(d), limbs);
    return away * compare_magnitude(&x, &y);
}

PtcValue ptc_int_from_double(PtcHeap *heap, double d)
{
    if (d > -0x1p63 && d < 0x1p63)
        return ptc_int_new(heap, (int64_t)d);
    mp_limb_t limbs[DOUBLE_LIMBS];
    mp_size_t n = double_limbs(fabs(d), limbs);
    return ptc_big_from_limbs(heap, limbs, n, d < 0);
}

bool ptc_int_get(PtcValue a, int64_t *out)
{
    if (ptc_is_int(a)) {
        *out = ptc_to_int(a);
        return true;
    }
    if (ptc_obj(a)->count != 1)
        return false;
    uint64_t magnitude = ((const PtcBig *)(uintptr_t)a)->limbs[0];
    bool negative = (ptc_obj(a)->flags & PTC_BIG_NEGATIVE) != 0;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}
