/* SPDX-License-Identifier: MIT
 * test_resident.c - what a process holds while it runs hostile programs: the memory limit is about that, whatever the
 * programs make, in however many threads.  Every program runs in a process of its own. */
#define _DEFAULT_SOURCE /* wait4 */
#include "api_help.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sanitized.h"

enum { MIB = 1024 * 1024, PROGRAM = 1000, TIMEOUT_MS = 150 };

/* One thing to make, for the number i.  Sizes lie around those at which memory is taken in another way. */
static const char *const things[] = {
    "[i i i]",
    "{:a i :b (str i)}",
    "(vec (range 40))",
    "(apply str (repeat 100 \"x\"))",
    "(apply str (repeat 4100 \"x\"))",
    "(apply str (repeat 8300 \"x\"))",
    "(apply str (repeat 9000 \"x\"))",
    "(apply str (repeat 11400 \"x\"))",
    "(apply str (repeat 16500 \"x\"))",
    "(apply str (repeat 30000 \"x\"))",
    "(apply str (repeat 33000 \"x\"))",
    "(apply str (repeat 66000 \"x\"))",
    "(apply str (repeat 600000 \"x\"))",
    "(vec (range 2000))",
    "(vec (range 100000))",
    "(set (range i (+ i 300)))",
    "(zipmap (range 300) (range 300))",
    "(into (sorted-map) (zipmap (range 100) (range 100)))",
    "(reduce * (repeat 400 (+ i 1234567890123)))",
    "(if (= 0 (mod i 5)) (apply str (repeat 20000 \"x\")) (vec (range (mod i 700))))",
};

/* What to do with it: %s stands for the thing. */
static const char *const ways[] = {
    "(loop [i 0 v []] (recur (inc i) (conj v %s)))",
    "(loop [i 0] %s (recur (inc i)))",
    "(loop [i 0 v []] (let [x %s] (recur (inc i) (if (= 0 (mod i 8)) (conj v x) v))))",
    "(count (pmap (fn [k] (mapv (fn [i] %s) (range 40))) (range 4000)))",
    "(count (pmap (fn [k] (count (mapv (fn [i] %s) (range 40)))) (range 4000)))",
    "(loop [i 0 v []] (recur (inc i) (conj v (pmap (fn [k] %s) (range 16)))))",
    "(reduce (fn [m i] (assoc m i %s)) {} (range 1000000))",
    "(defn f [i] (let [x %s] (pmap (fn [k] (f (inc i))) [1 2])) (count [i])) (f 0)",
    "(count (filterv (fn [x] (= 0 (mod x 257))) (vec (range 300000)))) "
    "(def keep (filterv some? (map (fn [k] (if (= 0 (mod k 300)) [k k] nil)) (range 60000)))) "
    "(loop [i 0 v []] (recur (inc i) (conj v %s)))",
    "(mapv (fn [i] %s) (range 60))",
};

enum { THINGS = sizeof things / sizeof *things, WAYS = sizeof ways / sizeof *ways };

static void run_program(const char *program, int64_t memory)
{
    PtcLimits limits;
    PtcOptions options;
    ptc_limits_init(&limits, sizeof limits);
    limits.memory_bytes = memory;
    limits.timeout_ms = TIMEOUT_MS;
    limits.loop_limit = INT64_MAX / 4;
    ptc_options_init(&options, sizeof options);
    options.limits = &limits;
    Ptc *ptc = ptc_new(&options);
    PtcOutcome *o = start(ptc, program, NULL, 0);
    (void)ptc_outcome_text(o, NULL, NULL);
    ptc_outcome_free(o);
    ptc_free(ptc);
}

/* Bytes resident at the peak of a process that runs it. */
static size_t peak_of(const char *program, int64_t memory)
{
    struct rusage usage = {0};
    int status = 1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        run_program(program, memory);
        _exit(0);
    }
    if (check_count(child > 0 && wait4(child, &status, 0, &usage) == child && status == 0))
        printf("%s\n", program);
    return (size_t)usage.ru_maxrss * 1024;
}

static void test_hostile(int64_t memory, size_t first, size_t step)
{
    size_t idle = peak_of("(+ 1 2)", memory), worst = 0, count = 0;
    size_t most = (size_t)memory / 10 * 13 + 4 * MIB;
    char program[PROGRAM], worst_program[PROGRAM] = "";
    for (size_t i = first; i < (size_t)THINGS * WAYS; i += step, count++) {
        snprintf(program, sizeof program, ways[i / THINGS], things[i % THINGS]);
        size_t peak = peak_of(program, memory);
        peak = peak > idle ? peak - idle : 0;
        if (check_count(peak <= most))
            printf("%zu KiB resident: %s\n", peak / 1024, program);
        if (peak > worst) {
            worst = peak;
            snprintf(worst_program, sizeof worst_program, "%s", program);
        }
    }
    printf("%zu programs, limit %zu KiB: at most %zu KiB resident beside an idle process, "
           "%.2f times the limit, by %s\n",
           count, (size_t)memory / 1024, worst / 1024, (double)worst / (double)memory,
           worst_program);
}

int main(void)
{
    if (!PTC_SANITIZED) { /* shadow memory is resident, too */
        CHECK_RUN(test_hostile(10 * MIB, 0, getenv("PTC_TEST_FULL") ? 1 : 4));
        CHECK_RUN(test_hostile(3 * MIB, 3, 7));
        CHECK_RUN(test_hostile(40 * MIB, 1, 11));
    }
    return check_done("resident");
}
