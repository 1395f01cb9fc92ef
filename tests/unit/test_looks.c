/* SPDX-License-Identifier: MIT
 * test_looks.c - no builtin works long without a look at the clock.
 *
 * Every row of the registry is called with inputs as large as the default limits allow, in every combination of a few
 * dozen of them for one and two arguments and of fewer for three and four.  What counts is CPU time between two looks,
 * never time on the wall; a gap above the bound is tried again and counts only when it comes back.  A call that never
 * looks is repeated, as a program would in a loop, until it does.
 *
 * Usage: test_looks [EVERY [TOLD_US [NAME...]]]
 * EVERY: of two and more arguments only every Nth combination.  TOLD_US: gaps above that are told.  Names: only these
 * builtins. */
#include "api_help.h"

#include <stdlib.h>
#include <time.h>

#include "engine/session.h"
#include "lisp/vm/record.h"
#include "lisp/vm/vm_int.h"

enum {
    BOUND_MS = 20, /* of CPU between two looks */
    TRIES = 3,
    CALL_MS =
        6, /* of CPU, after which a call is stopped, so that it does not take its second ... */
    LONG_EVERY = 16, /* ... but one in so many does */
    MOST_INPUTS = 80,
    TOLD_EVERY = 20, /* builtins between two lines of progress, for whoever waits an hour */
};

/* An input: a name, what makes it, and in how wide a combination it is used. */
typedef struct {
    const char *name, *text;
    int width; /* 1: alone, 2: in pairs too, 3: in threes, 4: in fours */
} Input;

#define DOUBLED(s, n) "(reduce (fn [s _] (str s s)) \"" s "\" (range " #n "))"

static const Input inputs[] = {
    {"nil", "nil", 3},
    {"zero", "0", 2},
    {"one", "1", 4},
    {"minus", "-3", 2},
    {"many", "100000", 2},
    {"float", "1.5", 2},
    {"nan", "##NaN", 1},
    {"true", "true", 2},
    {"big", "(dec (reduce (fn [n _] (* n n)) 2 (range 17)))", 3},
    {"big-too", "(dec (reduce (fn [n _] (* n n)) 2 (range 17)))", 2},
    {"minus-big", "(- 7 (reduce (fn [n _] (* n n)) 2 (range 17)))", 2},
    {"empty", "\"\"", 2},
    {"letter", "\"a\"", 2},
    {"ascii", DOUBLED("ab", 20), 4},
    {"ascii-too", DOUBLED("ab", 20), 2},
    {"longest", DOUBLED("ab", 22), 2},
    {"longest-digits", DOUBLED("1", 23), 1},
    {"longest-blanks", DOUBLED(" ", 23), 1},
    {"needle", "(str " DOUBLED("ab", 6) " \"c\")", 2},
    {"grapheme", "(str \"e\" " DOUBLED("\\u0301", 20) ")", 3},
    {"mixed", DOUBLED("a\\u00e9\\u6f22\\ud83d\\ude00\\r\\n", 17), 3},
    {"digits", DOUBLED("1", 21), 2},
    {"zeros", DOUBLED("0", 21), 2},
    {"blanks", DOUBLED(" ", 21), 2},
    {"lines", DOUBLED("a,b\\n", 18), 2},
    {"percents", DOUBLED("%s", 18), 2},
    {"sigmas", DOUBLED("\\u03a3", 19), 2},
    {"json-flat", "(str \"[\" " DOUBLED("1,", 19) " \"1]\")", 1},
    {"json-deep", "(str " DOUBLED("[", 17) ")", 1},
    {"json-map", "(str \"{\\\"a\\\":1\" " DOUBLED(",\\\"b\\\":2", 17) " \"}\")", 1},
    {"keyword", ":a", 3},
    {"long-keyword", "(keyword " DOUBLED("ab", 19) ")", 2},
    {"symbol", "'a/b", 1},
    {"vector", "(vec (range 200000))", 4},
    {"vector-too", "(vec (range 200000))", 2},
    {"strings", "(mapv str (range 60000))", 2},
    {"long-strings", "(mapv (fn [i] (str i " DOUBLED("ab", 9) ")) (range 2000))", 2},
    {"same-strings", "(let [s " DOUBLED("ab", 16) "] (mapv (fn [_] s) (range 20000)))", 2},
    {"bigs",
     "(let [n (reduce (fn [n _] (* n n)) 2 (range 15))] (mapv (fn [i] (+ n i)) (range 500)))", 2},
    {"floats", "(mapv (fn [i] (* 1.25 i)) (range 100000))", 2},
    {"slice", "(rest (vec (range 200000)))", 2},
    {"list", "(reduce conj '() (range 150000))", 2},
    {"cells", "(reduce (fn [l i] (cons i l)) nil (range 150000))", 2},
    {"range", "(range 5000000)", 2},
    {"deep", "(reduce (fn [v _] [v]) [] (range 100000))", 2},
    {"deep-map", "(reduce (fn [v i] {:a v}) {} (range 50000))", 2},
    {"pairs", "(mapv (fn [i] [i (str i)]) (range 40000))", 2},
    {"rows", "(mapv (fn [i] {:id i :name (str \"n\" i) :n (mod i 7)}) (range 20000))", 3},
    {"wide", "(mapv (fn [_] (vec (range 1000))) (range 150))", 2},
    {"set", "(set (range 80000))", 3},
    {"string-set", "(set (map str (range 30000)))", 2},
    {"map", "(into {} (map (fn [i] [i i]) (range 50000)))", 4},
    {"string-map", "(into {} (map (fn [i] [(str \"k\" i) i]) (range 30000)))", 2},
    {"long-keys",
     "(let [s " DOUBLED("a_", 15) "] (into {} (map (fn [i] [(str s i) i]) (range 12))))", 2},
    {"long-key", "(str " DOUBLED("a-", 15) " 7)", 2},
    {"small-map", "{:a 1 \"b\" 2}", 2},
    {"sorted-map", "(into (sorted-map) (map (fn [i] [i i]) (range 30000)))", 2},
    {"sorted-set", "(into (sorted-set) (map str (range 20000)))", 2},
    {"sorted-by", "(into (sorted-set-by (fn [a b] (< a b))) (range 3000))", 1},
    {"backtrack", "#\"(a+)+$\"", 2},
    {"alternate", "#\"(?:a|ab|b)*c\"", 2},
    {"any", "#\"[ab]+|\\\\d\"", 3},
    {"date", "(java.time.LocalDate/parse \"2024-02-29\")", 2},
    {"time", "(java.time.Instant/parse \"2024-02-29T10:00:00Z\")", 2},
    {"pattern", "\"yyyy-MM-dd HH:mm\"", 1},
    {"inc", "inc", 2},
    {"str", "str", 2},
    {"compare", "compare", 2},
    {"identity", "identity", 2},
    {"first", "(fn [& xs] (first xs))", 4},
    {"second", "(fn [a b] b)", 2},
    {"truth", "(fn [& _] true)", 2},
    {"composed", "(comp str (partial + 1))", 2},
    {"transducer", "(comp (map identity) (filter some?))", 2},
    {"endless", "(iterate inc 0)", 2},
    {"repeated", "(repeat \"ab\")", 2},
    {"error", "(try (throw (ex-info \"x\" {:a 1})) (catch Exception e e))", 1},
};
enum { INPUTS = sizeof inputs / sizeof inputs[0] };
_Static_assert((int)INPUTS <= (int)MOST_INPUTS, "room for the inputs");

static struct {
    Ptc *ptc;
    PtcSession *session;
    PtcValue values[MOST_INPUTS];
    PtcVM *vm;
    PtcHeap heap;
    PtcLimits limits;
    int64_t worst_ns;
    char worst[256];
    long calls;
    int64_t told_us;
} lab;

/* -------------------------------------------------------------------------------- the lab */

static void make_input(size_t i)
{
    char program[512];
    PtcLimits roomy = lab.limits;
    PtcOutcome *o = NULL;
    roomy.memory_bytes = roomy.session_bytes = 1 << 30;
    roomy.timeout_ms = 60000;
    snprintf(program, sizeof program, "(def in-%s %s) 1", inputs[i].name, inputs[i].text);
    PtcRun run = a_run(program, lab.session, 0);
    run.limits = &roomy;
    if (ptc_eval(lab.ptc, &run, &o) != PTC_OK || !ptc_outcome_ok(o)) {
        printf("%s: %s\n", inputs[i].name, o ? first_error(o).message : "no outcome");
        exit(1);
    }
    ptc_outcome_free(o);
}

/* The clock that calls are stopped by. */
static int64_t thread_ns(void *unused)
{
    struct timespec t;
    (void)unused;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void open_lab(void)
{
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    ptc_limits_init(&lab.limits, sizeof lab.limits);
    lab.limits.session_bytes = 1 << 30;
    options.limits = &lab.limits;
    lab.ptc = ptc_new(&options);
    lab.limits = lab.ptc->limits;
    lab.session = ptc_session_new(lab.ptc);
    for (size_t i = 0; i < INPUTS; i++)
        make_input(i);
    for (size_t i = 0; i < INPUTS; i++) {
        char name[64];
        snprintf(name, sizeof name, "in-%s", inputs[i].name);
        lab.values[i] = ptc_session_value(lab.session, name, strlen(name));
        if (lab.values[i] == PTC_NONE)
            exit(1);
    }
    lab.vm = &lab.ptc->vm;
    lab.vm->budget.clock_ns = thread_ns;
    ptc_heap_init(&lab.heap, &lab.ptc->pool, &lab.vm->budget, (size_t)lab.limits.memory_bytes);
}

/* The VM as a program finds it that has just begun. */
static void start_vm(void)
{
    static PtcValue globals[1];
    PtcProgram p = {.context = PTC_NIL,
                    .names = &lab.session->names,
                    .limits = lab.limits,
                    .journal = PTC_NIL,
                    .remaining = PTC_NIL,
                    .heap = &lab.heap};
    ptc_prints_deinit(&lab.vm->prints);
    ptc_vm_start(lab.vm, &p);
    lab.vm->globals = globals;
    if (lab.heap.used > lab.heap.limit / 8)
        ptc_vm_collect(lab.vm);
}

static void close_lab(void)
{
    ptc_prints_deinit(&lab.vm->prints);
    lab.vm->prints = (PtcPrints){0};
    ptc_heap_deinit(&lab.heap);
    ptc_session_free(lab.session);
    end_engine(lab.ptc);
}

/* --------------------------------------------------------------------------------- calls */

/* One call as a program makes it; false: it failed. */
static bool call_once(uint32_t row, int argc, const PtcValue *args)
{
    PtcValue out;
    lab.calls++;
    return ptc_call(lab.vm, ptc_builtin(row), argc, args, &out);
}

/* The longest gap in one call. */
static int64_t gap_of_one(uint32_t row, int argc, const PtcValue *args, int64_t *ticks)
{
    start_vm();
    ptc_looks_begin(&lab.vm->budget);
    call_once(row, argc, args);
    int64_t looks = lab.vm->budget.looks, fuel = ptc_fuel(&lab.vm->budget);
    int64_t gap = ptc_looks_end(&lab.vm->budget);
    *ticks = looks ? PTC_TICKS_PER_LOOK : PTC_TICKS_PER_LOOK - fuel;
    return gap;
}

/* The same of a call that is made again and again until there is a look; an error is caught each time. */
static int64_t gap_of_many(uint32_t row, int argc, const PtcValue *args)
{
    const int64_t most = (int64_t)BOUND_MS * 2000000;
    start_vm();
    PtcBudget *b = &lab.vm->budget;
    ptc_looks_begin(b);
    int64_t first = b->looked_ns;
    for (long i = 0; b->looks == 0 && b->stop == PTC_STOP_NONE; i++) {
        call_once(row, argc, args);
        lab.vm->failed = false;
        if (!ptc_tick(b, 1)) /* of the loop around it */
            break;
        if (i % 16 == 0 && b->looks == 0) {
            int64_t looks = b->looks;
            ptc_looks_end(b);
            b->looks = looks;
            if (b->looked_ns - first > most)
                break;
        }
    }
    ptc_looks_end(b);
    return b->looked_ns - first;
}

/* The gap that this call brings into a program, the least of a few tries when it is long. */
static int64_t gap_of(uint32_t row, int argc, const PtcValue *args)
{
    const int64_t bound = (int64_t)BOUND_MS * 1000000, doubtful = bound / 2;
    int64_t ticks, gap = gap_of_one(row, argc, args, &ticks);
    for (int i = 1; i < TRIES && gap > doubtful; i++) {
        int64_t again = gap_of_one(row, argc, args, &ticks);
        gap = again < gap ? again : gap;
    }
    int64_t repeats = ticks >= PTC_TICKS_PER_LOOK ? 1 : PTC_TICKS_PER_LOOK / (ticks + 1);
    if (repeats < 2 || gap * repeats < doubtful)
        return gap;
    gap = gap_of_many(row, argc, args);
    for (int i = 1; i < TRIES && gap > bound; i++) {
        int64_t again = gap_of_many(row, argc, args);
        gap = again < gap ? again : gap;
    }
    return gap;
}

static void describe(char out[256], uint32_t row, int argc, const size_t *which)
{
    const PtcBuiltin *b = ptc_builtin_row(row);
    size_t len = (size_t)snprintf(out, 256, "(%s/%s", b->ns, b->name);
    for (int i = 0; i < argc && len < 200; i++)
        len += (size_t)snprintf(out + len, 256 - len, " %s", inputs[which[i]].name);
    snprintf(out + len, 256 - len, ")");
}

static void try_call(uint32_t row, int argc, const size_t *which)
{
    PtcValue args[4];
    char text[256];
    for (int i = 0; i < argc; i++)
        args[i] = lab.values[which[i]];
    int64_t gap = gap_of(row, argc, args);
    bool ok = gap <= (int64_t)BOUND_MS * 1000000;
    if (gap > lab.worst_ns) {
        lab.worst_ns = gap;
        describe(lab.worst, row, argc, which);
    }
    if (!ok || gap > lab.told_us * 1000) {
        describe(text, row, argc, which);
        printf("%s: %lld us between two looks\n", text, (long long)gap / 1000);
    }
    check_count(ok);
}

/* --------------------------------------------------------------------------------- sweep */

/* All combinations of inputs that are wide enough; every `step`th of them. */
static void sweep_arity(uint32_t row, int argc, size_t step, size_t *at)
{
    size_t chosen[INPUTS], count = 0, which[4] = {0}, total = 1;
    for (size_t i = 0; i < INPUTS; i++)
        if (inputs[i].width >= argc)
            chosen[count++] = i;
    for (int k = 0; k < argc; k++)
        total *= count;
    for (; *at < total; *at += step) {
        size_t rest = *at;
        for (int k = 0; k < argc; k++) {
            which[k] = chosen[rest % count];
            rest /= count;
        }
        lab.limits.timeout_ms = argc < 2 || *at % LONG_EVERY == 0 ? 1000 : CALL_MS;
        try_call(row, argc, which);
    }
    *at -= total; /* goes on with the next arity, so that a sample is spread over all */
}

/* ------------------------------------------------------------------------------ programs */

/* A program: what comes before, a part that fills up the rest of the 64 KiB, what comes after. */
typedef struct {
    const char *before, *again, *after;
} Program;

#define LONG "(def a " DOUBLED("ab", 20) ") (def b " DOUBLED("ab", 20) ") "
#define BIG "(def a (reduce (fn [n _] (* n n)) 3 (range 16))) (def b (+ a 0)) "

static const Program programs[] = {
    {"(def u (str \"e\" " DOUBLED("\\u0301", 21) ")) (loop [] (subs u 1) (recur))", "", ""},
    {LONG "(loop [] ", "(= a b) ", "(recur))"},
    {LONG "(loop [] ", "(compare a b) ", "(recur))"},
    {LONG "(loop [] ", "(str/starts-with? a b) ", "(recur))"},
    {LONG "(loop [] ", "(get {a 1} b) ", "(recur))"},
    {BIG "(loop [] ", "(= a b) ", "(recur))"},
    {BIG "(loop [] ", "(< a b) ", "(recur))"},
    {BIG "(loop [] ", "(+ a b) ", "(recur))"},
    {BIG "(loop [] ", "(hash-map a b) ", "(recur))"},
    {"(loop [x 1] ", "(+ x 1) ", "(recur 1))"},
    {"(loop [x 1.5] ", "(* x 2) ", "(recur 1.5))"},
    {"(loop [x 4611686018427387903] ", "(+ x x) ", "(recur x))"},
    {"(loop [x [1 2]] ", "(first x) ", "(recur x))"},
    {"(loop [x {:a 1}] ", "(:a x) ", "(recur x))"},
    {"(loop [x 1] ", "[x x x] ", "(recur x))"},
    {"(loop [x 1] ", "(try (+ x nil) (catch Exception e 1)) ", "(recur x))"},
    {"(loop [[a b] [1 2]] ", "(let [[x & y] [a b]] y) ", "(recur [a b]))"},
    {"(defn f [x] ", "(inc x) ", "1) (loop [] (f 1) (recur))"},
    {"(defn f [x] ", "(if x 1 2) ", "1) (loop [] (run! f (range 1000)) (recur))"},
    {"(doseq [x (range 1000000)] ", "(inc x) ", "1)"},
    {"(loop [] ", "(str \"ab\" 1) ", "(recur))"},
    {"(loop [] ", "(fn [x] x) ", "(recur))"},
    {"(loop [] (re-find #\"(a+)+b\" \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaac\") (recur))", "", ""},
    {"(reduce (fn [a i] (assoc a i (str i))) {} (range 1000000))", "", ""},
    {"(defn f [n] (if (pos? n) (+ 1 (f (dec n))) 0)) (loop [] (f 9000) (recur))", "", ""},
    {"(loop [] (doall (pmap (fn [x] (reduce + (range x))) (range 100))) (recur))", "", ""},
    {"", "(+ 1 2) ", ""},
    {"[", "[] ", "]"},
    {"'(", "a ", ")"},
    {"'(", "(a b) ", ")"},
    {"[", "#\"a{1,50}b\" ", "]"},
    {"[", "\"\\u00e9\" ", "]"},
    {"(+ ", "1 ", ")"},
    {"(str \"", "a", "\")"},
    {"", "7", ""},
    {"(case 1 ", "2 3 ", "4)"},
    {"(cond ", "false 1 ", ":else 2)"},
    {"(let [", "a 1 ", "] a)"},
    {"(-> 1 ", "inc ", ")"},
    {"", "\\a ", ""},
    {"", "; comment\n", "1"},
    {"", "(defn f [x] x) ", ""},
    {"", "undefined-name ", ""},
    {"", "(undefined-name 1) ", ""},
    {"", "#(inc %) ", ""},
};

/* Fills a program up to the limit of its size and runs it with 200 ms. */
static void try_program(const Program *p, size_t size, char *text)
{
    int64_t gap = INT64_MAX;
    size_t before = strlen(p->before), again = strlen(p->again), len = before;
    memcpy(text, p->before, before);
    while (again && len + again + strlen(p->after) <= size) {
        memcpy(text + len, p->again, again);
        len += again;
    }
    memcpy(text + len, p->after, strlen(p->after) + 1);
    PtcRun run = a_run(text, NULL, 0);
    PtcLimits limits = lab.limits;
    limits.timeout_ms = 200;
    run.limits = &limits;
    for (int i = 0; i < TRIES && gap > (int64_t)BOUND_MS * 1000000; i++) {
        PtcOutcome *o = NULL;
        ptc_looks_begin(&lab.vm->budget);
        CHECK(ptc_eval(lab.ptc, &run, &o) == PTC_OK);
        int64_t now = ptc_looks_end(&lab.vm->budget);
        gap = now < gap ? now : gap;
        ptc_outcome_free(o);
    }
    bool ok = gap <= (int64_t)BOUND_MS * 1000000;
    if (gap > lab.worst_ns) {
        lab.worst_ns = gap;
        snprintf(lab.worst, sizeof lab.worst, "%s%s%s", p->before, p->again, p->after);
    }
    if (!ok || gap > lab.told_us * 1000)
        printf("%s%s ... %s: %lld us between two looks\n", p->before, p->again, p->after,
               (long long)gap / 1000);
    check_count(ok);
}

/* What is not in a builtin: reading, checking, compiling, straight code, and what comes after the run. */
static void sweep_programs(void)
{
    size_t size = (size_t)lab.limits.program_bytes;
    char *text = malloc(size + 1024);
    if (!text)
        exit(1);
    lab.limits.loop_limit = (int64_t)1 << 40;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        try_program(&programs[i], size, text);
    free(text);
}

static bool is_wanted(const PtcBuiltin *b, int names, char **wanted)
{
    for (int i = 0; i < names; i++)
        if (strcmp(b->name, wanted[i]) == 0)
            return true;
    return names == 0;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    size_t rows = 0, hidden = 0, at = 0, all = 0, every = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    int names = argc > 3 ? argc - 3 : 0;
    lab.told_us = argc > 2 ? strtol(argv[2], NULL, 10) : INT64_MAX / 1000;
    open_lab();
    for (uint32_t row = 0; row < ptc_builtin_count(); row++) {
        const PtcBuiltin *b = ptc_builtin_row(row);
        if (!is_wanted(b, names, argv + argc - names))
            continue;
        if (b->flags & (PTC_B_HIDDEN | PTC_B_FORM)) { /* reached through others, or no function */
            hidden++;
            continue;
        }
        if (rows++ % TOLD_EVERY == 0)
            fprintf(stderr, "row %u of %u: %s/%s\n", row, (unsigned)ptc_builtin_count(), b->ns,
                    b->name);
        for (int n = b->min; n <= 4 && (b->max < 0 || n <= b->max); n++)
            sweep_arity(row, n, n > 1 ? every : 1, n > 1 ? &at : &all);
    }
    printf("%zu builtins called %ld times with %d inputs; %zu more rows are forms or hidden\n",
           rows, lab.calls, (int)INPUTS, hidden);
    printf("longest CPU time between two looks: %lld us, by %s\n", (long long)lab.worst_ns / 1000,
           lab.worst);
    if (names == 0)
        sweep_programs();
    printf("with programs: %lld us, by %.200s\n", (long long)lab.worst_ns / 1000, lab.worst);
    close_lab();
    return check_done("looks");
}
