/* SPDX-License-Identifier: MIT
 * test_prelude.c - builtins that are written in the language: all of them compile, with every allocation failing once
 * and on several threads at once; what programs define does not reach them; what they give can be kept and stored.
 * Definitions are compiled once in a process, so the tests that see that happen have processes of their own. */
#include "api_help.h"

#include <sys/wait.h>
#include <unistd.h>

#include "lisp/prelude/prelude.h"
#include "lisp/vm/vm_int.h"

enum { THREADS = 4, ROUNDS = 20 };

static bool is_of_prelude(uint32_t row)
{
    return ptc_builtin_row(row)->fn == ptc_prelude_run;
}

/* --------------------------------------------------------------------------- all of it */

static bool takes(const PtcProto *p, int argc)
{
    return p->variadic ? argc >= p->params : argc == p->params;
}

/* Does one of its parameter lists take so many arguments? */
static bool function_takes(PtcValue f, int argc)
{
    const PtcProto *p = ptc_closure_proto((const PtcClosure *)(uintptr_t)f);
    if (p->arities == PTC_NIL)
        return takes(p, argc);
    const PtcNode *all = (const PtcNode *)(uintptr_t)p->arities;
    bool any = false;
    for (size_t i = 0; i < all->obj.count; i++)
        any |= takes((const PtcProto *)(uintptr_t)all->slots[i], argc);
    return any;
}

static void check_row(uint32_t row)
{
    PtcDiag why = {.message = "out of memory, or not in its file"};
    const PtcBuiltin *b = ptc_builtin_row(row);
    PtcValue f = ptc_prelude_function(row, &why);
    CHECK(f != PTC_NONE);
    if (f == PTC_NONE) {
        printf("%s/%s: %s (byte %u of its form)\n", b->ns, b->name, why.message, why.first);
        return;
    }
    CHECK(ptc_prelude_function(row, NULL) == f);
    CHECK(ptc_closure_proto((const PtcClosure *)(uintptr_t)f)->source == PTC_NIL);
    CHECK(ptc_closure_proto((const PtcClosure *)(uintptr_t)f)->row == row + 1);
    for (int argc = 0; argc < 8; argc++)
        CHECK(function_takes(f, argc) == (argc >= b->min && (b->max < 0 || argc <= b->max)));
}

static void test_all(void)
{
    size_t count = 0;
    for (uint32_t i = 0; i < ptc_builtin_count(); i++)
        if (is_of_prelude(i)) {
            check_row(i);
            count++;
        }
    CHECK(count > 25);
    CHECK(ptc_prelude_pending() == 0); /* no definition is there for nothing */
}

/* Rows of which two have one name would hide each other. */
static void test_hidden_names(void)
{
    for (uint32_t i = 0; i < ptc_builtin_count(); i++) {
        char name[80];
        const PtcBuiltin *b = ptc_builtin_row(i);
        snprintf(name, sizeof name, "%%%s", b->name);
        if (b->flags & PTC_B_HIDDEN)
            CHECK(ptc_builtin_find(name, strlen(name)) == (int)i);
    }
}

/* ------------------------------------------------------------------------------ memory */

/* Every allocation fails once on the way to a definition; the next attempt begins from nothing, and what failed ones
 * left does not add up.  Gives how often it failed. */
static uint64_t fail_row(uint32_t row)
{
    enum { AGAIN = 500 };
    PtcMem *mem = ptc_prelude_mem();
    uint64_t n = 0;
    for (PtcValue f = PTC_NONE; f == PTC_NONE && n < 1000 * AGAIN; n++) {
        ptc_mem_fail_at(mem, 1 + n / AGAIN);
        f = ptc_prelude_function(row, NULL);
        ptc_mem_fail_at(mem, 0);
        CHECK(atomic_load(&mem->used) < 12 * PTC_PAGE_BYTES);
    }
    check_row(row);
    return n - 1;
}

static void test_memory(void)
{
    Ptc *ptc = patient_engine();
    uint64_t failures = 0;
    ptc_mem_fail_at(ptc_prelude_mem(), 1);
    EXPECT(ptc, NULL, "[1\n (zip/node (zip/vector-zip [1]))]", "!memory_exceeded 2:12");
    ptc_mem_fail_at(ptc_prelude_mem(), 0);
    EXPECT(ptc, NULL, "(zip/node (zip/vector-zip [1]))", "[1]");
    for (uint32_t i = 0; i < ptc_builtin_count(); i++)
        if (is_of_prelude(i))
            failures += fail_row(i);
    CHECK(failures > 1000);
    CHECK(ptc_prelude_pending() == 0);
    EXPECT(ptc, NULL, "(zip/root (zip/edit (zip/down (zip/vector-zip [1 2])) inc))", "[2 2]");
    end_engine(ptc);
}

/* ----------------------------------------------------------------------------- threads */

static const struct {
    const char *program, *want;
} programs[] = {
    {"(zip/root (zip/append-child (zip/vector-zip [1]) 2))", "[1 2]"},
    {"(pmap #(zip/root (zip/edit (zip/down (zip/vector-zip [% 2])) inc)) [1 2 3])",
     "[[2 2] [3 2] [4 2]]"},
    {"(clojure.data/diff {:a 1 :b [1 2]} {:b [1 3]})",
     "[{:a 1, :b [nil 2]} {:b [nil 3]} {:b [1]}]"},
    {"(isa? (derive (make-hierarchy) :dog :animal) :dog :animal)", "true"},
    {"(set/index [{:a 1 :b 2} {:a 1 :b 3}] [:a])", "{{:a 1} #{{:a 1, :b 2} {:a 1, :b 3}}}"},
    {"(with-out-str (print-table [{:a 1}]))", "\"\\n| :a |\\n|----|\\n|  1 |\\n\""},
    {"(reduce (fn [n _] (+ n (count (zip/children (zip/seq-zip '(1 2)))))) 0 (range 500))", "1000"},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static void *run_programs(void *arg)
{
    size_t first = *(const size_t *)arg;
    Ptc *ptc = patient_engine();
    for (size_t i = 0; i < ROUNDS; i++) {
        size_t p = (first + i) % PROGRAMS;
        PtcRun run = a_run(programs[p].program, NULL, 0);
        PtcOutcome *o = NULL;
        bool ran = ptc_eval(ptc, &run, &o) == PTC_OK;
        const char *got = ran ? ptc_outcome_text(o, NULL, NULL) : NULL;
        bool right = got && strcmp(got, programs[p].want) == 0;
        if (!right)
            dprintf(1, "%s gave %s\n", programs[p].program, got ? got : "an error");
        ptc_outcome_free(o);
        if (!right) {
            ptc_free(ptc);
            return arg;
        }
    }
    ptc_free(ptc);
    return NULL;
}

/* Several engines meet a definition at the same time; only the main thread counts checks. */
static void test_threads(void)
{
    pthread_t threads[THREADS];
    size_t first[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        first[i] = i / 2;
        CHECK(pthread_create(&threads[i], NULL, run_programs, &first[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *bad;
        CHECK(pthread_join(threads[i], &bad) == 0);
        CHECK(bad == NULL);
    }
}

/* -------------------------------------------------------------------------- in programs */

static void test_programs(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    EXPECT(ptc, s, "(defn seq [x] :mine) (defn checked [x] :mine) (def conj 5) (def vector? 6)",
           "#'vector?");
    EXPECT(ptc, s, "(-> (zip/vector-zip [1 [2 3]]) zip/down zip/right zip/down zip/node)", "2");
    EXPECT(ptc, s, "(%lookup {} 1 2)", "!unbound_var 1:2");
    EXPECT(ptc, s, "(opened [1])", "!unbound_var 1:2");
    /* Errors are those of the form that called, or of what the program itself passed. */
    EXPECT(ptc, s, "(let [x 5]\n  (inc (zip/root x)))", "!type_error 2:8");
    EXPECT(ptc, s, "(zip/edit (zip/vector-zip [1])\n  (fn [x]\n (/ 1 0)))",
           "!arithmetic_error 3:2");
    EXPECT(ptc, s, "(zip/edit (zip/vector-zip [1])\n  /)", "!type_error 1:1");
    EXPECT(ptc, s, "(map zip/node\n [1])", "!type_error 1:1");
    EXPECT(ptc, s, "(pmap zip/node [1])", "!type_error 1:1");
    EXPECT(ptc, s, "(try (zip/up 5) (catch Exception e (str (ex-message e))))",
           "\"up: argument 1 is an integer 5, expected a location, as vector-zip or zipper gives "
           "it\"");
    /* What it gives outlives the run, and a program changed by what it calls goes on. */
    EXPECT(ptc, s, "(def at (zip/down (zip/vector-zip [1 2]))) (def ups (comp zip/root zip/up))",
           "#'ups");
    EXPECT(ptc, s, "[(ups (zip/replace at :x)) zip/root (= zip/root zip/root)]",
           "[[:x 2] #fn[root] true]");
    ptc_session_free(s);
    end_engine(ptc);
}

/* The limits of a run hold in the prelude as in a program. */
static void test_limits(void)
{
    PtcOptions options;
    PtcLimits limits = patient_limits();
    ptc_options_init(&options, sizeof options);
    limits.max_depth = 60;
    limits.loop_limit = 5000;
    options.limits = &limits;
    Ptc *ptc = ptc_new(&options);
    EXPECT(ptc, NULL,
           "(def deep (reduce (fn [x _] [x]) 1 (range 80)))\n"
           "(clojure.data/diff deep (assoc-in deep (repeat 70 0) 2))",
           "!depth_exceeded 2:1");
    EXPECT(ptc, NULL, "(clojure.data/diff (vec (range 9000)) (assoc (vec (range 9000)) 8000 1))",
           "!loop_limit_exceeded 1:1");
    end_engine(ptc);
}

/* ---------------------------------------------------------------------------- processes */

/* In a process of its own, in which nothing is compiled yet. */
static void run_apart(void (*test)(void))
{
    int status = 1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        check_watch();
        check_counts.failed = 0;
        test();
        _exit(check_counts.failed > 0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    CHECK_RUN(run_apart(test_memory));
    CHECK_RUN(run_apart(test_programs));
    CHECK_RUN(test_threads());
    CHECK_RUN(test_all());
    CHECK_RUN(test_hidden_names());
    CHECK_RUN(test_limits());
    return check_done("prelude");
}
