/* SPDX-License-Identifier: MIT
 * test_limits.c - every limit from outside: where exactly it bites, that nothing gets around it, that memory and
 * time stay within bounds meanwhile, and that the engine is as good as new afterwards. */
#define _DEFAULT_SOURCE /* wait4 */
#include "api_help.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sanitized.h"
#include "base/utf8.h"

enum { MIB = 1024 * 1024 };

/* The engine that has the limits of one test. */
static Ptc *limited(const PtcLimits *limits)
{
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    options.limits = limits;
    return ptc_new(&options);
}

static PtcOutcome *start_limited(Ptc *ptc, const char *program, const PtcLimits *limits)
{
    PtcRun run = a_run(program, NULL, 0);
    PtcOutcome *o = NULL;
    run.limits = limits;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
    return o;
}

/* Runs with these limits, then the simplest program without. */
static void expect_limited(int line, Ptc *ptc, const PtcLimits *limits, const char *program,
                           const char *want)
{
    char got[TEXT] = "no outcome";
    PtcOutcome *o = start_limited(ptc, program, limits);
    tell(o, got);
    ptc_outcome_free(o);
    check_str("", line, program, got, want);
    EXPECT(ptc, NULL, "(+ 1 2)", "3");
}

#define LIMITED(ptc, limits, program, want) expect_limited(__LINE__, ptc, limits, program, want)

/* ------------------------------------------------------------------------- counted limits */

static void test_loops(void)
{
    Ptc *ptc = patient_engine();
    PtcLimits limits = patient_limits();
    limits.loop_limit = 100;
    LIMITED(ptc, &limits, "(loop [i 0] (if (< i 99) (recur (inc i)) i))", "99");
    LIMITED(ptc, &limits, "(loop [i 0] (if (< i 100) (recur (inc i)) i))", "100");
    LIMITED(ptc, &limits, "(loop [i 0] (if (< i 101) (recur (inc i)) i))",
            "!loop_limit_exceeded 1:27");
    LIMITED(ptc, &limits, "(defn f [i] (if (< i 100) (recur (inc i)) i)) (f 0)", "100");
    LIMITED(ptc, &limits, "(defn f [i] (if (< i 101) (recur (inc i)) i)) (f 0)",
            "!loop_limit_exceeded 1:27");
    LIMITED(ptc, &limits,
            "(loop [i 0] (if (< i 10) (do (loop [k 0] (if (< k 9) (recur (inc k)) k)) (recur (inc "
            "i))) i))",
            "10");
    LIMITED(ptc, &limits,
            "(loop [i 0] (if (< i 10) (do (loop [k 0] (if (< k 10) (recur (inc k)) k)) (recur (inc "
            "i))) i))",
            "!loop_limit_exceeded 1:55");
    limits.loop_limit = 0;
    LIMITED(ptc, &limits, "(reduce + (map inc (range 1000)))", "500500");
    LIMITED(ptc, &limits, "(loop [i 0] (if (< i 1) (recur 1) i))", "!loop_limit_exceeded 1:25");
    limits.loop_limit = PTC_UNSET;
    LIMITED(ptc, &limits, "(loop [i 0] (if (< i 1000001) (recur (inc i)) i))", "1000001");
    end_engine(ptc);
}

static void test_depth(void)
{
    static const struct {
        int64_t limit, depth;
        bool ok;
    } cases[] = {{50, 49, true},       {50, 50, true},        {50, 51, false},
                 {10000, 9999, true},  {10000, 10000, true},  {10000, 10001, false},
                 {20000, 20000, true}, {20000, 20001, false}, {1, 1, true},
                 {1, 2, false},        {0, 0, true},          {0, 1, false}};
    char program[200], want[40];
    Ptc *ptc = patient_engine();
    PtcLimits limits = patient_limits();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        /* `depth` calls inside each other */
        int64_t n = cases[i].depth;
        limits.max_depth = cases[i].limit;
        snprintf(program, sizeof program,
                 n ? "(defn f [n] (if (= n 1) 1 (+ 1 (f (dec n))))) (f %d)" : "%d", (int)n);
        snprintf(want, sizeof want,
                 cases[i].ok ? "%d"
                 : n == 1    ? "!depth_exceeded 1:47"
                             : "!depth_exceeded 1:32",
                 (int)n);
        LIMITED(ptc, &limits, program, want);
    }
    limits.max_depth = PTC_UNSET;
    LIMITED(ptc, &limits,
            "(defn f [n] (if (= n 0) 0 (first (map (fn [_] (f (dec n))) [1])))) (f 150)", "0");
    LIMITED(ptc, &limits,
            "(defn f [n] (if (= n 0) 0 (first (map (fn [_] (f (dec n))) [1])))) (f 2500)", "0");
    LIMITED(ptc, &limits, "(defn f [n] (if (= n 0) 0 (first (map f [(dec n)])))) (f 5000)", "0");
    LIMITED(ptc, &limits, "(defn f [n] (if (= n 0) 0 (first (map f [(dec n)])))) (f 5001)",
            "!depth_exceeded 1:34");
    LIMITED(ptc, &limits, "(defn f [x] (map f [x])) (f 1)", "!depth_exceeded 1:13");
    LIMITED(ptc, &limits, "(defn f [x] (reduce (fn [a b] (f b)) 0 [x])) (f 1)",
            "!depth_exceeded 1:31");
    LIMITED(ptc, &limits, "(defn f [x] (apply f [x])) (f 1)", "!depth_exceeded 1:13");
    LIMITED(ptc, &limits, "(defn f [x] (sort-by f [x x])) (f 1)", "!depth_exceeded 1:13");
    LIMITED(ptc, &limits, "(def f (fn [x] (update {:a x} :a f))) (f 1)", "!depth_exceeded 1:16");
    LIMITED(ptc, &limits, "(defn f [n] (+ 1 (f (inc n)))) (f 1)", "!depth_exceeded 1:18");
    end_engine(ptc);
}

/* 2^k has k+1 bits. */
static void test_int_bits(void)
{
    static const int sizes[] = {64, 65, 100, 128, 1000, 4096};
    char program[200], want[1400];
    Ptc *ptc = patient_engine();
    PtcLimits limits = patient_limits();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int bits = sizes[i] - 1; bits <= sizes[i] + 1; bits++) {
            limits.max_int_bits = sizes[i];
            snprintf(program, sizeof program, "(let [x (reduce * (repeat %d 2))] (= 0 (mod x 2)))",
                     bits - 1);
            snprintf(want, sizeof want, bits <= sizes[i] ? "true" : "!size_exceeded 1:9");
            LIMITED(ptc, &limits, program, want);
        }
    limits.max_int_bits = 64;
    LIMITED(ptc, &limits, "(+ 18446744073709551615 0)", "18446744073709551615");
    LIMITED(ptc, &limits, "(+ 18446744073709551615 1)", "!size_exceeded 1:1");
    LIMITED(ptc, &limits, "(- 0 18446744073709551615 1)", "!size_exceeded 1:1");
    LIMITED(ptc, &limits, "(* 4294967296 4294967296)", "!size_exceeded 1:1");
    LIMITED(ptc, &limits, "(reduce * (range 1 50))", "!size_exceeded 1:1");
    limits.max_int_bits = PTC_UNSET;
    LIMITED(ptc, &limits, "(loop [x 2 i 0] (if (< i 60) (recur (* x x) (inc i)) x))",
            "!size_exceeded 1:37");
    end_engine(ptc);
}

static void test_program_bytes(void)
{
    static char program[70000];
    Ptc *ptc = patient_engine();
    PtcLimits limits = patient_limits();
    for (size_t n = 65535; n <= 65537; n++) {
        memset(program, ' ', n);
        program[n - 1] = '7';
        program[n] = 0;
        EXPECT(ptc, NULL, program, n <= 65536 ? "7" : "!size_exceeded 1:1");
        limits.program_bytes = (int64_t)n;
        LIMITED(ptc, &limits, program, "7");
        limits.program_bytes = (int64_t)n - 1;
        LIMITED(ptc, &limits, program, "!size_exceeded 1:1");
    }
    limits.program_bytes = 0;
    LIMITED(ptc, &limits, "", "nil");
    LIMITED(ptc, &limits, "1", "!size_exceeded 1:1");
    limits.program_bytes = sizeof program;
    memset(program, '[', 10000); /* nested deeper than any form may be */
    memset(program + 10000, ']', 10000);
    program[20000] = 0;
    LIMITED(ptc, &limits, program, "!depth_exceeded 1:201");
    end_engine(ptc);
}

/* Is there room for a string of n bytes in a PtcData with this limit? */
static bool fits(Ptc *ptc, int64_t limit, size_t n, const char *text)
{
    PtcData *d = ptc_data_new(ptc, limit);
    bool ok = ptc_make_string(d, text, n) != 0;
    ptc_data_free(d);
    return ok;
}

static void test_context_bytes(void)
{
    static char text[2 * MIB];
    memset(text, 'x', sizeof text);
    PtcLimits limits = patient_limits();
    limits.context_bytes = 1000000;
    Ptc *ptc = limited(&limits);
    size_t low = 0, high = sizeof text; /* the largest that fits is low */
    while (high - low > 1) {
        size_t mid = (low + high) / 2;
        if (fits(ptc, PTC_UNSET, mid, text))
            low = mid;
        else
            high = mid;
    }
    CHECK(low > 990000 && low < 1000000);
    CHECK(fits(ptc, 1000000, low, text) && !fits(ptc, 1000000, low + 1, text));
    PtcData *d = ptc_data_new(ptc, 100000);
    size_t made = 0;
    while (made < 10000 && ptc_make_string(d, text, 100))
        made++;
    CHECK(made >= 100000 / 160 && made <= 100000 / 112);
    ptc_data_free(d);
    end_engine(ptc);
}

static void test_prints(void)
{
    Ptc *ptc = patient_engine();
    static const char *const floods[] = {"(doseq [i (range 300000)] (println))",
                                         "(doseq [i (range 100000)] (println \"abc\" i))",
                                         "(dotimes [i 10000] (println (repeat 100 \"\xc3\xa9\")))",
                                         "(println (apply str (repeat 100000 \"\xc3\xa9\")))"};
    for (size_t i = 0; i < sizeof floods / sizeof floods[0]; i++) {
        PtcOutcome *o = start(ptc, floods[i], NULL, 0);
        size_t sum = 0, lines = ptc_outcome_print_count(o);
        CHECK(ptc_outcome_ok(o) && ptc_outcome_prints_cut(o));
        for (size_t k = 0; k < lines; k++) {
            size_t len = 0;
            const char *text = ptc_outcome_print(o, k, &len);
            CHECK(text && ptc_utf8_valid(text, len));
            sum += len;
        }
        CHECK(sum <= 65536 && lines <= 65537 && sum + lines >= 65530);
        ptc_outcome_free(o);
        EXPECT(ptc, NULL, "(+ 1 2)", "3");
    }
    end_engine(ptc);
}

/* No program can catch a limit, nor go on in a finally. */
static void test_uncatchable(void)
{
    static const char *const bodies[][2] = {{"(loop [] (recur))", "loop_limit_exceeded"},
                                            {"(reduce + (range 1000000000))", "timeout"},
                                            {"(vec (range 100000000))", "memory_exceeded"},
                                            {"(f 1)", "depth_exceeded"},
                                            {"(map g [1])", "depth_exceeded"},
                                            {"(loop [x 2] (recur (* x x)))", "size_exceeded"},
                                            {"(fail 7)", "fail"}};
    static const char *const frames[] = {
        "(try %s (catch Exception e :caught))", "(try %s (catch Throwable e :caught) (finally 8))",
        "(try (try %s (finally (println :no))) (catch Exception e :caught))",
        "(mapv (fn [x] (try %s (catch Exception e :caught))) [1 2])",
        "(try %s (finally (return :escaped)))"};
    Ptc *ptc = patient_engine();
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        for (size_t k = 0; k < sizeof frames / sizeof frames[0]; k++) {
            char body[200], program[300] = "(defn f [n] (+ 1 (f n))) (defn g [x] (map g [x])) ";
            snprintf(body, sizeof body, frames[k], bodies[i][0]);
            snprintf(program + strlen(program), sizeof program - strlen(program), "%s", body);
            bool left = i == 6 && k == 4; /* a fail is no limit: finally may return instead */
            PtcLimits limits = patient_limits();
            limits.loop_limit = 100000;
            if (strcmp(bodies[i][1], "timeout") == 0)
                limits.timeout_ms = 50;
            PtcOutcome *o = start_limited(ptc, program, &limits);
            CHECK(ptc_outcome_ok(o) == left);
            CHECK(left || ptc_outcome_print_count(o) == (i == 6 && k == 2));
            CHECK_STR(first_error(o).kind, left ? "" : bodies[i][1]);
            ptc_outcome_free(o);
            EXPECT(ptc, NULL, "(+ 1 2)", "3");
        }
    end_engine(ptc);
}

/* --------------------------------------------------------------------------------- memory */

/* A clock that also looks at the ledger; time passes as usual.  1.2 times the limit and 2 MiB are allowed. */
typedef struct {
    Ptc *ptc;
    size_t most;
} Watch;

static int64_t real_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t watch_ms(void *user)
{
    Watch *w = user;
    size_t used = w->ptc ? atomic_load(&w->ptc->mem.used) : 0;
    w->most = used > w->most ? used : w->most;
    return real_ms();
}

typedef struct {
    const char *program, *want;
} Case;

/* Bytes that one run takes at its peak beyond what the idle engine holds. */
static size_t peak_of(const Case *c, int64_t memory)
{
    PtcLimits limits = patient_limits();
    PtcOptions options;
    Watch watch = {0};
    ptc_options_init(&options, sizeof options);
    limits.memory_bytes = memory;
    limits.timeout_ms = 100000;
    limits.loop_limit = 100000000;
    options.limits = &limits;
    options.clock_ms = watch_ms;
    options.clock_user = &watch;
    Ptc *ptc = ptc_new(&options);
    watch.ptc = ptc;
    size_t base = atomic_load(&ptc->mem.used);
    watch.most = base;
    expect_limited(__LINE__, ptc, NULL, c->program, c->want);
    end_engine(ptc);
    return watch.most - base;
}

#if PTC_SANITIZED
#define GARBAGE_LOOPS "1000000"
#else
#define GARBAGE_LOOPS "3000000"
#endif

#define BIG "(def s (reduce (fn [s _] (str s s)) \"a\" (range 21))) "

static const Case memory_cases[] = {
    {"(first (loop [i 0 v nil] (if (< i " GARBAGE_LOOPS
     ") (recur (inc i) [i i i i i i i i i i i i]) [(count v)])))",
     "12"},
    {"(loop [i 0 s \"\"] (if (< i 20000) (recur (inc i) (str \"abc\" i (subs s 0 (min 20000 (count "
     "s))) s \"x\")) 1))",
     "!memory_exceeded 1:49"},
    {"(loop [i 0 m {}] (if (< i 200000) (recur (inc i) (assoc m (mod i 100) [i (str i)])) (count "
     "m)))",
     "100"},
    {"(count (reduce (fn [m i] (if (> (count m) 50) {} (assoc m (str i) i))) {} (range 100000)))",
     "4"},
    {"(reduce + (range 1000000))", "499999500000"},
    {"(reduce + (map inc (range 200000)))", "20000100000"},
    {"(count (vec (range 1000000)))", "1000000"},
    {"(count (vec (range 2000000)))", "!memory_exceeded 1:8"},
    {"(loop [s \"ab\" i 0] (if (< i 60) (recur (str s s) (inc i)) (count s)))",
     "!memory_exceeded 1:40"},
    {"(str/join \",\" (range 10000000))", "!memory_exceeded 1:1"},
    {"(reduce conj [] (range 10000000))", "!memory_exceeded 1:1"},
    {"(loop [x []] (recur [x x x]))", "!memory_exceeded 1:21"},
    {"(loop [x nil] (recur (cons 1 x)))", "!memory_exceeded 1:22"},
    {"(defn f [n] (cons n (f (inc n)))) (f 0)", "!depth_exceeded 1:21"},
    {"(for [x (range 3000) y (range 3000)] [x y])", "!memory_exceeded 1:1"},
    {"(def a (vec (range 300000))) (def b (mapv inc a)) (def c (mapv inc b)) (def d (mapv inc c)) "
     "(mapv inc d)",
     "!memory_exceeded 1:93"},
    {"(partition 2 (range 10000000))", "!memory_exceeded 1:1"},
    {"(vec (take 10000000 (for [x (iterate inc 1)] x)))", "!memory_exceeded 1:1"},
    {"(take 2 (for [x (iterate inc 1)] x))", "[1 2]"},
    {"(str/replace (apply str (repeat 1000 \"a\")) \"a\" (apply str (repeat 100000 \"b\")))",
     "!memory_exceeded 1:1"},
    {"(count (sort (range 200000)))", "200000"},
    {"(count (sort (range 1000000)))", "1000000"},
    {"(last (sort (map #(mod (* % 7919) 200003) (range 200000))))", "200002"},
    {"(count (sort-by - (range 200000)))", "200000"},
    {"(count (sort-by :b (mapv (fn [i] {:a i :b (mod (* i 7919) 150001)}) (range 150000))))",
     "150000"},
    {"(count (set (range 1000000)))", "!memory_exceeded 1:8"},
    {"(count (zipmap (range 1000000) (range 1000000)))", "!memory_exceeded 1:8"},
    {"(count (frequencies (range 1000000)))", "!memory_exceeded 1:8"},
    {"(count (reduce (fn [m i] (assoc m (str i) i)) {} (range 1000000)))", "!memory_exceeded 1:26"},
    {"(count (reduce (fn [m i] (assoc m (str i) i)) {} (range 100000)))", "100000"},
    {"(reduce conj #{} (range 1000000))", "!memory_exceeded 1:1"},
    /* text is made in a buffer that counts, and a long one becomes the string */
    {"(format \"%1000000000d\" 1)", "!memory_exceeded 1:1"},
    {"(count (pr-str (range 10000000)))", "!memory_exceeded 1:8"},
    {"(count (pr-str (range 1000000)))", "6888891"},
    {"(count (pr-str (vec (range 1000000))))", "!memory_exceeded 1:8"},
    {"(count (format \"%s\" (vec (range 1000000))))", "!memory_exceeded 1:8"},
    {"(count (json/generate-string (vec (range 1000000))))", "!memory_exceeded 1:8"},
    {"(count (json/generate-string (vec (range 500000))))", "3388891"},
    {BIG "(count (re-seq #\"a\" s))", "!memory_exceeded 1:61"},
    {BIG "(count (str/split s #\"\"))", "!memory_exceeded 1:61"},
    {BIG "(count (str/replace s #\"a\" \"bbb\"))", "6291456"},
    {BIG "(count (re-find #\"(a|b)*\" s))", "!memory_exceeded 1:61"},
    {BIG "(count (vec s))", "!memory_exceeded 1:61"},
};

/* What one program takes at its peak: by the ledger, and in pages of the system. */
typedef struct {
    size_t call_log, resident;
} Peak;

/* Runs it in a process of its own, which is small to begin with. */
static Peak measure(const Case *c, int64_t memory)
{
    Peak peak = {0, 0};
    struct rusage usage = {0};
    int fds[2], status = 1;
    CHECK(pipe(fds) == 0);
    pid_t child = fork();
    if (child == 0) {
        check_watch();
        check_counts.failed = 0;
        peak.call_log = peak_of(c, memory);
        bool told = write(fds[1], &peak.call_log, sizeof peak.call_log) == sizeof peak.call_log;
        _exit(!told || check_counts.failed != 0);
    }
    close(fds[1]);
    CHECK(child > 0 && read(fds[0], &peak.call_log, sizeof peak.call_log) == sizeof peak.call_log);
    CHECK(child > 0 && wait4(child, &status, 0, &usage) == child && status == 0);
    close(fds[0]);
    peak.resident = (size_t)usage.ru_maxrss * 1024;
    return peak;
}

/* Within bounds by the ledger; what is freed goes back to the system, so that the process is within bounds too. */
static void test_memory(void)
{
    size_t idle = measure(&(Case){"(+ 1 2)", "3"}, 10 * MIB).resident, most = 0, most_resident = 0;
    size_t stride = (size_t)(5 / check_rounds(5));
    for (size_t i = 0; i < sizeof memory_cases / sizeof memory_cases[0]; i += stride) {
        const Case *c = &memory_cases[i];
        Peak peak = measure(c, 10 * MIB);
        peak.resident = peak.resident > idle ? peak.resident - idle : 0;
        if (check_count(peak.call_log <= 13 * MIB))
            printf("%zu KiB at most: %s\n", peak.call_log / 1024, c->program);
        if (check_count(PTC_SANITIZED || peak.resident <= 12 * MIB))
            printf("%zu KiB resident: %s\n", peak.resident / 1024, c->program);
        most = peak.call_log > most ? peak.call_log : most;
        most_resident = peak.resident > most_resident ? peak.resident : most_resident;
    }
    printf("memory limit 10240 KiB: at most %zu KiB, %zu KiB resident\n", most / 1024,
           most_resident / 1024);
}

/* The limit is on what is alive, to within the grain of pages. */
static void test_memory_grain(void)
{
    char program[200], want[40];
    Ptc *ptc = patient_engine();
    PtcLimits limits = patient_limits();
    for (int64_t mib = 1; mib <= 16; mib *= 2) {
        limits.memory_bytes = mib * MIB;
        for (int tenth = 1; tenth <= 14; tenth++) {
            int64_t n = mib * MIB / 8 * tenth / 10;
            if (tenth == 9 || tenth == 10)
                continue; /* 8.5 bytes an element: too close to tell */
            snprintf(program, sizeof program, "(count (vec (range %d)))", (int)n);
            snprintf(want, sizeof want, "%d", (int)n);
            LIMITED(ptc, &limits, program, tenth <= 8 ? want : "!memory_exceeded 1:8");
        }
    }
    limits.memory_bytes = 0;
    LIMITED(ptc, &limits, "(+ 1 2)", "!memory_exceeded 1:1");
    limits.memory_bytes = 100;
    LIMITED(ptc, &limits, "(+ 1 2)", "!memory_exceeded 1:1");
    limits.memory_bytes = 200000;
    LIMITED(ptc, &limits, "(+ 1 2)", "3");
    end_engine(ptc);
}

/* ------------------------------------------------------------------------------------ time */

#define DAG "(defn dag [] (reduce (fn [a _] [a a]) [] (range 40)))"

/* A range so long that every one of these would go on for minutes, or for ever. */
static const char *const endless[] = {
    "(loop [] (recur))",
    "(loop [i 0] (recur (inc i)))",
    "(defn f [n] (if (< n 1) 1 (+ (f (- n 1)) (f (- n 2))))) (f 60)",
    "(reduce (fn [a x] (+ a x)) 0 (range 1000000000))",
    "(reduce + (range 1000000000))",
    "(count (filter neg? (range 1000000000)))",
    "(doseq [a (range 100000) b (range 100000) c (range 100000)] a)",
    "(for [a (range 10000) b (range 10000) c (range 10000) :when (< a 0)] a)",
    "(dotimes [i 1000000000] i)",
    "(doseq [i (range 1000)] (sort (fn [a b] (- b a)) (range 100000)))",
    "(sort (fn [a b] -1) (range 5000000))",
    "(sort (fn [a b] (- (mod (* a 7919) 13) (mod (* b 104729) 11))) (range 5000000))",
    "(loop [x 3] (recur (* 3 (quot (reduce * (repeat 16000 65537)) 3))))",
    "(let [big (reduce * (repeat 16000 65537))] (loop [i 0] (str big) (recur (inc i))))",
    "(let [v (vec (range 100000))] (loop [n 0] (recur (count (str/join \",\" v)))))",
    "(let [s (reduce (fn [s _] (str s s)) \"ab\" (range 20))] (loop [] (str/replace s \"a\" \"b\") "
    "(recur)))",
    "(let [s (reduce (fn [s _] (str s s)) \"ab\" (range 20))] (loop [] (str/includes? s \"ba?\") "
    "(recur)))",
    "(let [s (reduce (fn [s _] (str s s)) \"ab\" (range 20))] (loop [] (str/upper-case s) "
    "(recur)))",
    DAG "(= (dag) (dag))",
    DAG "(if (= (dag) (dag)) 1 2)",
    DAG "(return (= (dag) (dag)))",
    DAG "(case (dag) 1 2 [[1]] 3 (= [(dag)] [(dag)]))",
    DAG "(compare (dag) (dag))",
    DAG "(sort [(dag) (dag)])",
    DAG "(pr-str (dag))",
    DAG "(println (dag))",
    DAG "{(dag) 1}",
    DAG "(get {1 2} (dag))",
    DAG "(#{1} (dag))",
    DAG "(distinct [(dag) (dag)])",
    DAG "(frequencies [(dag)])",
    DAG "(flatten (dag))",
    DAG "(walk/postwalk identity (dag))",
    DAG "(count (tree-seq vector? identity (dag)))",
    "(every? number? (range 1000000000))",
    "(some neg? (range 1000000000))",
    "(let [v (range 1000000)] (reduce (fn [a i] (+ a (reduce + v))) 0 (range 100000)))",
    "(reduce (fn [a b] (max a (count (group-by odd? (range b))))) 0 (range 100000))",
};

/* Computing that goes on after the time was up, in milliseconds, at most. */
enum { OVERTIME = PTC_SANITIZED ? 5000 : 1000 };

/* Runs for 50 ms and ends soon after; what it computed, in milliseconds. */
static int64_t time_of(Ptc *ptc, const char *program, const PtcLimits *limits)
{
    int64_t begun = real_ms(), computed = check_cpu_ms();
    PtcOutcome *o = start_limited(ptc, program, limits);
    int64_t took = real_ms() - begun;
    computed = check_cpu_ms() - computed;
    PtcError e = first_error(o);
    if (check_count(strcmp(e.kind, "timeout") == 0 && took >= 49 && computed < OVERTIME))
        printf("%d ms, %d computed, %s: %s\n", (int)took, (int)computed, e.kind, program);
    ptc_outcome_free(o);
    return computed;
}

static void test_time(void)
{
    PtcLimits limits = patient_limits();
    limits.timeout_ms = 50;
    limits.memory_bytes = 1 << 30; /* so that time runs out first */
    limits.loop_limit = INT64_MAX / 2;
    Ptc *ptc = patient_engine();
    const char *slowest = "";
    int64_t most = 0;
    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++) {
        int64_t computed = time_of(ptc, endless[i], &limits);
        EXPECT(ptc, NULL, "(+ 1 2)", "3");
        if (computed > most)
            slowest = endless[i];
        most = computed > most ? computed : most;
    }
    printf("timeout 50 ms: at most %d ms, by %s\n", (int)most, slowest);
    end_engine(ptc);
}

/* Rendering a result has the same time, and is cut: one that would take for ever ends. */
static void test_rendering(void)
{
    PtcLimits limits = patient_limits();
    limits.timeout_ms = 500; /* enough for the program, however busy the machine */
    limits.memory_bytes = 1 << 30;
    Ptc *ptc = limited(&limits);
    PtcOutcome *o = start(ptc, DAG "(dag)", NULL, 0);
    bool cut = false;
    int64_t before = check_cpu_ms();
    CHECK(ptc_outcome_ok(o) && ptc_outcome_text(o, NULL, &cut) && cut);
    CHECK(ptc_outcome_json(o, NULL) == NULL && check_cpu_ms() - before < 2 * 500 + OVERTIME);
    ptc_outcome_free(o);
    end_engine(ptc);
}

/* A clock that stands still between two looks at it: time is what was charged, whatever the machine does. */
static int64_t looks_ms(void *user)
{
    return ++*(int64_t *)user;
}

#define TEXTS                                                                  \
    "(def a (reduce (fn [s _] (str s s)) \"ab\" (range 20)))"                  \
    "(def b (reduce (fn [s _] (str s s)) \"ab\" (range 20)))"                  \
    "(def u (str \"e\" (reduce (fn [s _] (str s s)) \"\\u0301\" (range 20))))" \
    "(def m (str \"\\u00e9\" a))"
#define NUMBERS "(def a (reduce (fn [n _] (* n n)) 3 (range 17))) (def b (+ 0 a))"

/* What works on much at once: the same 500 times is more than 400 looks. */
static const struct {
    const char *defs, *body;
} charged[] = {
    {TEXTS, "(= a b)"},
    {TEXTS, "(compare a b)"},
    {TEXTS, "(str/starts-with? a b)"},
    {TEXTS, "(str/ends-with? a b)"},
    {TEXTS, "(str/includes? a \"c\")"},
    {TEXTS, "(str/index-of a \"c\")"},
    {TEXTS, "(str/index-of m \"b\" 1000000)"},
    {TEXTS, "(contains? #{a} b)"},
    {TEXTS, "(get {a 1} b)"},
    {TEXTS, "(hash-map (str a 1) 1)"},
    {TEXTS, "(subs a 1)"},
    {TEXTS, "(subs u 1)"},
    {TEXTS, "(char u)"},
    {TEXTS, "(char? u)"},
    {TEXTS, "(.charAt u 0)"},
    {TEXTS, "(contains? u 1)"},
    {TEXTS, "(get u 0)"},
    {TEXTS, "(first u)"},
    {TEXTS, "(count u)"},
    {TEXTS, "(count m)"},
    {TEXTS, "(format \"%c\" u)"},
    {TEXTS, "(Character/isLetter u)"},
    {TEXTS, "(str/capitalize u)"},
    {TEXTS, "(str/upper-case a)"},
    {TEXTS, "(str/trim a)(str/replace a \"b\" \"c\")"},
    {TEXTS, "(str a \"c\")"},
    {TEXTS, "(keyword a)"},
    {TEXTS, "(pr-str a)"},
    {TEXTS, "(json/generate-string a)"},
    {TEXTS, "(println a)"},
    {TEXTS, "(.equalsIgnoreCase a b)"},
    {TEXTS, "(parse-long (str/replace a \"ab\" \"11\"))"},
    {NUMBERS, "(dotimes [_ 100] (= a b))"},
    {NUMBERS, "(dotimes [_ 100] (< a b))"},
    {NUMBERS, "(dotimes [_ 100] (compare a b))"},
    {NUMBERS, "(dotimes [_ 100] (get {a 1} b))"},
    {NUMBERS, "(dotimes [_ 100] (+ a b))"},
    {NUMBERS, "(str a)"},
    {"", "(dir) (doc map) (apropos \"map\")"},
    {"", "(pmap inc [1 2]) (pmap inc [1 2]) (pmap inc [1 2]) (pmap inc [1 2])"},
};

static void test_charged(void)
{
    char program[1000];
    int64_t now = 0;
    PtcLimits limits = patient_limits();
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    limits.timeout_ms = 400;
    limits.deadline_ms = 1000000;
    limits.memory_bytes = 64 * MIB;
    limits.max_workers = 1;
    options.limits = &limits;
    options.clock_ms = looks_ms;
    options.clock_user = &now;
    Ptc *ptc = ptc_new(&options);
    for (size_t i = 0; i < sizeof charged / sizeof charged[0]; i++) {
        char got[TEXT];
        snprintf(program, sizeof program, "%s (dotimes [_ 500] %s)", charged[i].defs,
                 charged[i].body);
        PtcOutcome *o = start(ptc, program, NULL, 0);
        tell(o, got);
        if (check_count(strncmp(got, "!timeout", 8) == 0))
            printf("%s, not timeout: %s\n", got, charged[i].body);
        ptc_outcome_free(o);
    }
    end_engine(ptc);
}

int main(void)
{
    CHECK_RUN(test_memory()); /* first, while this process is small */
    CHECK_RUN(test_loops());
    CHECK_RUN(test_depth());
    CHECK_RUN(test_int_bits());
    CHECK_RUN(test_program_bytes());
    CHECK_RUN(test_context_bytes());
    CHECK_RUN(test_prints());
    CHECK_RUN(test_uncatchable());
    CHECK_RUN(test_memory_grain());
    CHECK_RUN(test_time());
    CHECK_RUN(test_rendering());
    CHECK_RUN(test_charged());
    return check_done("test_limits");
}
