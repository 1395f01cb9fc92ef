/* SPDX-License-Identifier: MIT
 * fuzz_snapshot.c - any bytes as a snapshot, behind the authentication.  What is accepted is used: every binding is
 * printed, counted, hashed, compared, called and changed by programs, and stored and restored again with equal bytes.
 * The first byte may make an allocation fail or the session small.  Nothing may leak.  A mutator of its own changes the
 * inside of one section and keeps the lengths around it right. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/snapshot/snapshot.h"
#include "unit/even_engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

typedef struct {
    int64_t looks;
} Clock;

static int64_t clock_ms(void *user)
{
    return ++((Clock *)user)->looks;
}

static Ptc *open_engine(Clock *clock, bool small)
{
    PtcOptions options;
    PtcLimits limits;
    ptc_options_init(&options, sizeof options);
    ptc_limits_init(&limits, sizeof limits);
    limits.timeout_ms = 40;
    limits.memory_bytes = 1 << 20;
    limits.loop_limit = 2000;
    limits.max_depth = 200;
    limits.session_bytes = small ? 70000 : 1 << 20;
    limits.program_bytes = 4096;
    limits.result_bytes = limits.print_bytes = 4096;
    options.limits = &limits;
    options.clock_ms = clock_ms;
    options.clock_user = clock;
    clock->looks = 0;
    Ptc *ptc = ptc_new(&options);
    assert(ptc);
    return ptc;
}

static bool decode(Ptc *ptc, const void *bytes, size_t len, PtcSession **out)
{
    PtcWhy why;
    *out = NULL;
    bool ok = ptc_snapshot_decode(ptc, bytes, len, out, &why);
    assert(ok == (*out != NULL));
    assert(ok || (why.class && why.text[0]));
    return ok;
}

static void run(Ptc *ptc, PtcSession *s, Clock *clock, const char *program)
{
    PtcRun r;
    PtcOutcome *o = NULL;
    size_t len;
    ptc_run_init(&r, sizeof r);
    r.program = program;
    r.program_len = strlen(program);
    r.session = s;
    clock->looks = 0;
    assert(ptc_eval(ptc, &r, &o) == PTC_OK);
    (void)ptc_outcome_text(o, &len, NULL);
    (void)ptc_outcome_json(o, &len);
    ptc_outcome_free(o);
}

/* NAME is a binding. */
static const char *const uses[] = {
    "(pr-str NAME)",
    "[(count NAME) (empty? NAME) (type NAME)]",
    "(NAME 1)",
    "(NAME)",
    "(NAME 1 2 3)",
    "(NAME NAME)",
    "(let [m {NAME 1}] [(get m NAME) (= NAME NAME) (hash NAME)])",
    "(take 40 (map identity NAME))",
    "(take 5 (drop 3 NAME))",
    "(nth NAME 2000)",
    "[(first NAME) (last NAME) (vec (rest NAME))]",
    "(reduce (fn [a x] [x]) nil NAME)",
    "(into [] NAME [1 2 [3] nil 4])",
    "(into [] (comp NAME (take 5)) (range 10))",
    "(conj NAME 1)",
    "(conj NAME [1 2])",
    "(pop (conj NAME 7))",
    "(assoc NAME 0 :x)",
    "(assoc NAME :new NAME)",
    "(dissoc NAME 1 2 :a \"b\")",
    "(disj NAME 1 2 :a)",
    "(get NAME :a)",
    "(keys NAME)",
    "(merge NAME {1 2})",
    "(into {} NAME)",
    "(into #{} NAME)",
    "(sort NAME)",
    "(subseq NAME > 1)",
    "(subvec NAME 1)",
    "(reverse NAME)",
    "(+ NAME 1)",
    "(* NAME NAME)",
    "(str NAME \"x\")",
    "(re-find NAME \"abab\")",
    "(throw NAME)",
    "[(ex-message NAME) (ex-data NAME) (ex-cause NAME)]",
    "(.plusDays NAME 1)",
    "(.format (LocalDate/of 2024 1 1) NAME)",
    "(.getSeconds NAME)",
    "(peek NAME)",
    "(compare NAME NAME)",
    "(.setScale NAME 1 RoundingMode/HALF_UP)",
    "(set NAME)",
    "(group-by identity NAME)",
    "(frequencies NAME)",
    "(apply max NAME)",
    "(partition 2 NAME)",
    "(meta NAME)",
    "(def NAME [NAME])",
};
enum { USES = sizeof uses / sizeof *uses };

static void use_binding(Ptc *ptc, PtcSession *s, Clock *clock, const char *name, size_t len,
                        uint32_t which)
{
    char program[600];
    const char *from = uses[which % USES], *at;
    size_t n = 0;
    if (len > 40)
        return;
    while ((at = strstr(from, "NAME")) != NULL) {
        memcpy(program + n, from, (size_t)(at - from));
        n += (size_t)(at - from);
        memcpy(program + n, name, len);
        n += len;
        from = at + 4;
    }
    memcpy(program + n, from, strlen(from) + 1);
    run(ptc, s, clock, program);
}

static void use_session(Ptc *ptc, PtcSession *s, Clock *clock, uint32_t seed)
{
    char name[64];
    size_t len, count = ptc_session_count(s);
    for (size_t i = 0; i < count && i < 12; i++) {
        const char *found = ptc_session_name(s, i, &len);
        if (!found || len >= sizeof name)
            continue;
        memcpy(name, found, len + 1);
        for (uint32_t k = 0; k < 4; k++) {
            seed = seed * 1664525 + 1013904223;
            use_binding(ptc, s, clock, name, len, seed >> 8);
        }
    }
    run(ptc, s, clock, "[*1 *2 *3]");
    char *json;
    clock->looks = 0;
    if (ptc_session_inspect(s, &json, &len) == PTC_OK)
        ptc_text_free(ptc, json, len);
}

/* What was restored is stored, restored and stored again. */
static void check_again(Ptc *ptc, PtcSession *s, Clock *clock)
{
    PtcBuf one, two;
    PtcSession *t = NULL;
    PtcWhy why;
    ptc_buf_init(&one, &ptc->mem, SIZE_MAX / 4);
    ptc_buf_init(&two, &ptc->mem, SIZE_MAX / 4);
    clock->looks = 0;
    bool ok = ptc_snapshot_encode(s, &one, &why);
    assert(ok || (why.class && why.text[0]));
    clock->looks = 0;
    if (ok && decode(ptc, one.data, one.len, &t)) {
        clock->looks = 0;
        ok = ptc_snapshot_encode(t, &two, &why);
        assert(!ok || (one.len == two.len && memcmp(one.data, two.data, one.len) == 0));
    }
    ptc_session_free(t);
    ptc_buf_deinit(&one);
    ptc_buf_deinit(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    uint8_t *copy = malloc(size); /* of exact size, so that reads beyond it are seen */
    memcpy(copy, data, size);
    Clock clock;
    PtcSession *s;
    uint32_t seed = 2166136261u;
    for (size_t i = 0; i < size; i++)
        seed = (seed ^ data[i]) * 16777619u;
    Ptc *ptc = open_engine(&clock, data[0] == 1);
    if (data[0] >= 0x80)
        ptc_mem_fail_at(&ptc->mem, data[0] & 0x7f);
    bool ok = decode(ptc, copy + 1, size - 1, &s);
    ptc_mem_fail_at(&ptc->mem, 0);
    if (ok) {
        check_again(ptc, s, &clock);
        use_session(ptc, s, &clock, seed);
        ptc_session_free(s);
    }
    free(copy);
    bool even = free_even_engine(ptc);
    assert(even);
    (void)even;
    return 0;
}

/* ----------------------------------------------------------------------------- mutating */

enum { HEAD = 9, INPUT_BYTES = 1 << 16 }; /* first byte, magic */

static size_t get_number(const uint8_t *data, size_t size, size_t *at)
{
    size_t n = 0;
    for (unsigned shift = 0; *at < size && shift < 56; shift += 7) {
        uint8_t byte = data[(*at)++];
        n |= (size_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return n;
}

static size_t put_number(uint8_t *out, size_t n)
{
    size_t len = 0;
    for (; n >= 0x80; n >>= 7)
        out[len++] = (uint8_t)(n | 0x80);
    out[len++] = (uint8_t)n;
    return len;
}

/* Finds the length and the body of section `which`; false when there is none. */
static bool find_section(const uint8_t *data, size_t size, unsigned which, size_t *length_at,
                         size_t *body, size_t *len)
{
    size_t at = HEAD;
    for (unsigned i = 0; at < size; i++) {
        (void)get_number(data, size, &at);
        *length_at = at;
        *len = get_number(data, size, &at);
        *body = at;
        if (*len > size - at)
            return false;
        if (i == which)
            return true;
        at += *len;
    }
    return false;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    static uint8_t made[INPUT_BYTES], body[INPUT_BYTES];
    size_t length_at, from, len, room = max < INPUT_BYTES ? max : INPUT_BYTES;
    unsigned which = seed % 8 == 0 ? 0 : seed % 8 == 1 ? 2 : 1;
    if (seed % 16 == 15 || size > room || size + 16 > room ||
        !find_section(data, size, which, &length_at, &from, &len))
        return LLVMFuzzerMutate(data, size, max);
    memcpy(body, data + from, len);
    size_t more = LLVMFuzzerMutate(body, len, room - 16 - (size - len));
    memcpy(made, data, length_at);
    size_t n = length_at + put_number(made + length_at, more);
    memcpy(made + n, body, more);
    n += more;
    memcpy(made + n, data + from + len, size - from - len);
    n += size - from - len;
    memcpy(data, made, n);
    return n;
}
