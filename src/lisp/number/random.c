/* SPDX-License-Identifier: MIT
 * Random numbers: rand, rand-int, rand-nth, shuffle and kin.  They come from the seed of the run (SplitMix64), so that
 * a run with the same seed, program and data repeats exactly; in a pmap every item begins at a place of its own. */
#include "lisp/number/random.h"

#include <math.h>

#include "lisp/lazy/seq_int.h"

static uint64_t mix_random_bits(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t next_random(uint64_t *state)
{
    return mix_random_bits(*state += 0x9e3779b97f4a7c15u);
}

uint64_t ptc_random_of(uint64_t state, uint64_t i)
{
    return mix_random_bits(state + (i + 1) * 0xd1342543de82ef95u);
}

/* At least 0, below 1. */
static double fraction(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* At least 0, below n > 0; the same for every n but for what 64 bits cannot divide evenly. */
static uint64_t below(uint64_t *state, uint64_t n)
{
    return (uint64_t)((unsigned __int128)next_random(state) * n >> 64);
}

double ptc_random_fraction(PtcVM *vm)
{
    return fraction(&vm->random);
}

static bool give_fraction(PtcVM *vm, double scale, PtcValue *out)
{
    uint64_t state = vm->random;
    if (!ptc_give(out, ptc_float_new(vm->heap, fraction(&state) * scale)))
        return false;
    vm->random = state;
    return true;
}

PTC_BUILTIN(core_rand, "clojure.core", "rand", 0, 1,
            PTC_B_EFFECT | PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_FLOAT), "(rand n?)",
            "A random float from 0 to below n (1); the seed of the run decides which.",
            "(<= 0 (rand) 1) => true\n(< (rand 10) 10) => true\n(rand :a) !! type_error")
{
    double n = 1;
    return (argc == 0 || ptc_arg_double(vm, argv, 0, &n)) && give_fraction(vm, n, out);
}

PTC_BUILTIN_EXPR(math_random, "Math", "random", 0, 0, PTC_B_EFFECT, "(Math/random)",
                 "A random float from 0 to below 1.",
                 "(<= 0 (Math/random) 1) => true\n(Math/random 1) !! arity_error",
                 give_fraction(vm, 1, out))

PTC_BUILTIN_EXPR(clj_math_random, "clojure.math", "random", 0, 0, PTC_B_EFFECT,
                 "(clojure.math/random)", "The same as Math/random.",
                 "(<= 0 (clojure.math/random) 1) => true\n(clojure.math/random 1) !! arity_error",
                 give_fraction(vm, 1, out))

PTC_BUILTIN(core_rand_int, "clojure.core", "rand-int", 1, 1,
            PTC_B_EFFECT | PTC_TAKES(PTC_IS_NUMBER) | PTC_GIVES(PTC_IS_INT), "(rand-int n)",
            "A random integer from 0 to below n, or down to above a negative n.",
            "(< -1 (rand-int 6) 6) => true\n(rand-int 1) => 0\n(rand-int nil) !! type_error")
{
    double n;
    uint64_t state = vm->random;
    if (!ptc_arg_double(vm, argv, 0, &n))
        return false;
    double d = trunc(fraction(&state) * n);
    if (!(fabs(d) < 0x1p62))
        return ptc_fail(vm, PTC_E_VALUE, "rand-int: the number is too large");
    vm->random = state;
    return ptc_give(out, ptc_int((int64_t)d));
}

PTC_BUILTIN(core_rand_nth, "clojure.core", "rand-nth", 1, 1,
            PTC_B_EFFECT | PTC_TAKES(PTC_IS_NIL | PTC_IS_STRING | PTC_IS_LIST), "(rand-nth coll)",
            "A random element of a vector or other sequence; nil for an empty one.",
            "(contains? #{1 2 3} (rand-nth [1 2 3])) => true\n(rand-nth []) => nil\n(rand-nth 5) "
            "!! type_error")
{
    if (ptc_is_map(argv[0]) || ptc_is_set(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a vector, sequence or string; (seq coll) makes one");
    PtcValue seq = ptc_arg_finite(vm, argv, 0);
    uint64_t state = vm->random;
    if (seq == PTC_NONE || (seq = ptc_seq_flat(vm, seq)) == PTC_NONE)
        return false;
    size_t n = ptc_seq_count(seq);
    *out = n == 0 ? PTC_NIL : ptc_seq_nth(seq, below(&state, n));
    vm->random = state;
    return true;
}

/* The elements in a new order, in memory beside the heap. */
static bool shuffled(PtcVM *vm, PtcValue seq, PtcValue *items, size_t n, uint64_t *state,
                     PtcValue *out)
{
    for (size_t i = 0; i < n; i++) {
        if (!ptc_tick(&vm->budget, 2))
            return false;
        size_t k = below(state, i + 1);
        items[i] = items[k];
        items[k] = ptc_seq_nth(seq, i);
    }
    PtcValue b = ptc_build_new(vm->heap);
    for (size_t i = 0; b != PTC_NONE && i < n; i++)
        if (!ptc_build_add(vm->heap, b, items[i]))
            return false;
    return b != PTC_NONE && ptc_give(out, ptc_build_done(vm->heap, b, 0));
}

PTC_BUILTIN(core_shuffle, "clojure.core", "shuffle", 1, 1,
            PTC_B_EFFECT | PTC_TAKES(PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP) |
                PTC_GIVES(PTC_IS_LIST) | PTC_RULE(ELEMENTS),
            "(shuffle coll)", "The elements of a collection in a random order, as a vector.",
            "(sort (shuffle [3 1 2])) => [1 2 3]\n(shuffle []) => []\n(shuffle 5) !! type_error")
{
    if (!ptc_is_sequential(argv[0]) && !ptc_is_set(argv[0]) && !ptc_is_map(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a collection with an end");
    PtcValue seq = ptc_arg_finite(vm, argv, 0);
    uint64_t state = vm->random;
    if (seq == PTC_NONE || (seq = ptc_seq_flat(vm, seq)) == PTC_NONE)
        return false;
    size_t n = ptc_seq_count(seq), bytes = (n + 1) * sizeof(PtcValue);
    PtcValue *items = ptc_heap_scratch(vm->heap, NULL, 0, bytes);
    bool ok = items && shuffled(vm, seq, items, n, &state, out);
    ptc_heap_scratch_free(vm->heap, items, bytes);
    if (ok)
        vm->random = state;
    return ok;
}

PTC_BUILTIN(core_random_uuid, "clojure.core", "random-uuid", 0, 0,
            PTC_B_EFFECT | PTC_GIVES(PTC_IS_STRING), "(random-uuid)",
            "A random UUID as a string; the seed of the run decides which, so it is none to keep.",
            "(uuid? (random-uuid)) => true\n(random-uuid 1) !! arity_error")
{
    static const char hex[] = "0123456789abcdef";
    char text[36];
    uint64_t state = vm->random, bits[2] = {next_random(&state), next_random(&state)};
    for (size_t i = 0, k = 0; i < sizeof text; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        unsigned digit = dash ? 0 : (unsigned)(bits[k / 16] >> (k % 16 * 4) & 15);
        k += !dash;
        text[i] = dash ? '-' : i == 14 ? '4' : hex[i == 19 ? 8 + digit % 4 : digit];
    }
    if (!ptc_give(out, ptc_str_new(vm->heap, text, sizeof text)))
        return false;
    vm->random = state;
    return true;
}

PTC_BUILTIN_TABLE(ptc_lib_random, core_rand, math_random, clj_math_random, core_rand_int,
                  core_rand_nth, core_shuffle, core_random_uuid);
