/* SPDX-License-Identifier: MIT
 * test_deep.c - functions called by builtins, nested: as deep as documented in every builtin, on small stacks and in
 * the threads of a pmap, in bounded C stack, and with an error rather than a crash beyond. */
#include "api_help.h"

#include "base/sanitized.h"

enum { DEEP = 2000, PROGRAM = 800 };

/* Ways to call (f m) through a builtin; m is the number of levels left. */
static const char *const ways[] = {
    "(first (map f [m]))",
    "(first (mapv f [m]))",
    "(first (map (fn [_ x] (f x)) [1] [m]))",
    "(first (map-indexed (fn [i x] (f x)) [m]))",
    "(first (keep f [m]))",
    "(do (doall (filter f [m])) m)",
    "(do (doall (remove f [m])) m)",
    "(first (mapcat (fn [x] [(f x)]) [m]))",
    "(reduce (fn [a x] (f x)) 0 [m])",
    "(reduce-kv (fn [a k v] (f v)) 0 {:a m})",
    "(some f [m])",
    "(every? f [m])",
    "(apply f [m])",
    "((partial f) m)",
    "((comp f identity) m)",
    "(:a (update {:a m} :a f))",
    "(group-by f [m])",
    "(first (into [] (map f) [m]))",
    "(transduce (map f) + 0 [m])",
    "(sort (fn [a b] (f m)) [1 2])",
    "(take-while f [m])",
    "(try (f m) (catch Exception e (throw e)))",
    "((memoize f) m)",
    "(first (sort-by (fn [x] (if (= x 0) (f m) 1)) [0 1]))",
};

static void make(char *program, const char *way, const char *call)
{
    snprintf(program, PROGRAM, "(defn f [n] (if (= n 0) 0 (let [m (dec n)] %s n))) %s", way, call);
}

/* It ends with the error for depth, wherever that is met. */
static void expect_end(Ptc *ptc, const char *program)
{
    char got[TEXT];
    PtcOutcome *o = start(ptc, program, NULL, 0);
    tell(o, got);
    if (check_count(strncmp(got, "!depth_exceeded", 15) == 0))
        printf("%s, not depth_exceeded: %s\n", got, program);
    ptc_outcome_free(o);
}

static void test_ways(void)
{
    char program[PROGRAM], call[40], want[20];
    Ptc *ptc = patient_engine();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(call, sizeof call, "(f %d)", DEEP);
        snprintf(want, sizeof want, "%d", DEEP);
        make(program, ways[i], call);
        EXPECT(ptc, NULL, program, want);
        make(program, ways[i], "(f 1000000)");
        expect_end(ptc, program);
        EXPECT(ptc, NULL, "(+ 1 2)", "3");
    }
    end_engine(ptc);
}

/* Half a mebibyte is what callers are asked for, wherever programs go. */
static void *on_small_stack(void *unused)
{
    test_ways();
    return unused;
}

static void test_small_stack(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    if (!PTC_SANITIZED)
        pthread_attr_setstacksize(&attr, 512 * 1024);
    bool started = pthread_create(&thread, &attr, on_small_stack, NULL) == 0;
    if (started)
        pthread_join(thread, NULL);
    CHECK(started);
    pthread_attr_destroy(&attr);
}

/* In every thread; and a pmap in the depth. */
static void test_pmap(void)
{
    char program[PROGRAM];
    PtcLimits limits = patient_limits();
    PtcOptions options;
    limits.memory_bytes = 100 << 20;
    ptc_options_init(&options, sizeof options);
    options.limits = &limits;
    Ptc *ptc = ptc_new(&options);
    make(program, "(first (map f [m]))", "(reduce + (pmap (fn [i] (f 2000)) (range 20)))");
    EXPECT(ptc, NULL, program, "40000");
    make(program, "(if (= m 3) (reduce + (pmap f [m m])) (first (map f [m])))", "(f 2000)");
    EXPECT(ptc, NULL, program, "2000");
    make(program, "(first (map f [m]))", "(pmap (fn [i] (f 1000000)) (range 20))");
    expect_end(ptc, program);
    end_engine(ptc);
}

int main(void)
{
    CHECK_RUN(test_ways());
    CHECK_RUN(test_small_stack());
    CHECK_RUN(test_pmap());
    return check_done("deep");
}
