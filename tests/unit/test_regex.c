/* SPDX-License-Identifier: MIT
 * Regular expressions where .ptct cases cannot reach: every allocation failing, cancelling, sessions, and that work
 * grows with the length of the string only. */
#include <pthread.h>
#include <stdlib.h>

#include "api_help.h"

/* ------------------------------------------------------------------------ allocation failures */

/* Literals and patterns, all functions, a match that has to be begun again carefully, a callback, an error. */
static const char *const programs[] = {
    "(let [s (apply str (repeat 300 \"ab=12 \"))]"
    " [(count (re-seq #\"(\\w+)=(\\d+)\" s)) (count (replace s #\"(?i)B\" \"$0x\")) (count (split "
    "s #\" \"))])",
    "(count (re-find (re-pattern (str \"(?:a|b)*\" \"[yz]\")) (str (apply str (repeat 2000 "
    "\"ab\")) \"y\")))",
    "(str/replace \"a1b22\" #\"\\d+\" (fn [d] (str \"<\" (re-find #\".\" d) \">\")))",
    "[(extract-int \"n=(\\\\d+)\" \"n=42\") (re-matches #\"\\p{Alpha}+\" \"abc\") (pr-str "
    "#\"a\\\"b\")]",
    "(re-pattern \"(?<n>[a-z]+\")",
    "#\"[z-a]\"",
};
enum { PROGRAM_COUNT = sizeof programs / sizeof programs[0] };

static void test_allocations(void)
{
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        char want[TEXT], got[TEXT];
        Ptc *ptc = patient_engine();
        PtcOutcome *o = start(ptc, programs[i], NULL, 0);
        tell(o, want);
        ptc_outcome_free(o);
        bool reached = true;
        for (uint64_t n = 1; reached && n < 5000; n++) {
            PtcRun run = a_run(programs[i], NULL, 0);
            o = NULL;
            ptc_mem_fail_at(&ptc->mem, n);
            PtcStatus status = ptc_eval(ptc, &run, &o);
            reached = atomic_load(&ptc->mem.count) >= n;
            ptc_mem_fail_at(&ptc->mem, 0);
            CHECK(status == PTC_OK || status == PTC_NO_MEMORY);
            if (status == PTC_OK) {
                tell(o, got);
                /* A collection may have made up for it. */
                if (strncmp(got, "!memory_exceeded", 16) != 0)
                    CHECK_STR(got, want);
            }
            ptc_outcome_free(o);
        }
        CHECK(!reached);
        end_engine(ptc);
    }
}

/* -------------------------------------------------------------------------------- sessions */

/* A regex is copied into the session's heap and that heap into another; the code must bear it. */
static void test_session(void)
{
    Ptc *ptc = patient_engine();
    PtcSession *s = ptc_session_new(ptc);
    EXPECT(ptc, s, "(def word #\"(?i)([a-z]+)-(\\d+)\") (def f (fn [x] (re-find #\"\\d\" x))) 1",
           "1");
    for (int i = 0; i < 40; i++) {
        EXPECT(ptc, s, "(def junk (vec (range 2000))) (re-find word \"an Item-42\")",
               "[\"Item-42\" \"Item\" \"42\"]");
        EXPECT(ptc, s, "[(f \"a7\") (regex? word) (pr-str word)]",
               "[\"7\" true \"#\\\"(?i)([a-z]+)-(\\\\d+)\\\"\"]");
    }
    ptc_session_free(s);
    end_engine(ptc);
}

/* ------------------------------------------------------------------------ limits and lengths */

static PtcOutcome *run_large(Ptc *ptc, const char *program, int64_t timeout_ms)
{
    PtcLimits limits;
    PtcOutcome *o = NULL;
    PtcRun run = a_run(program, NULL, 0);
    ptc_limits_init(&limits, sizeof limits);
    limits.timeout_ms = timeout_ms;
    limits.memory_bytes = (int64_t)512 << 20;
    run.limits = &limits;
    CHECK(ptc_eval(ptc, &run, &o) == PTC_OK);
    return o;
}

/* About a million characters each; quadratic work would take minutes. */
static void test_linear(void)
{
    static const char *const parts[] = {
        "(count (re-seq #\"\\w+\" s))",
        "(count (re-seq #\"(?i)FOX\" s))",
        "(count (re-seq #\"[eE]\" s))",
        "(count (re-seq #\"(?im)^THE\" s))",
        "(count (re-seq #\"\" s))",
        "(count (split s #\"[ \\n]\"))",
        "(count (replace s #\"(\\w+)=(\\d+)\" \"$2:$1\"))",
        "(count (str/replace s #\"\\w+\" str/upper-case))",
    };
    Ptc *ptc = patient_engine();
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        for (int wide = 0; wide < 2; wide++) {
            char program[TEXT], got[TEXT];
            snprintf(program, sizeof program,
                     "(let [s (apply str (repeat 22727 \"the quick %s fox jumps over=12 lazy "
                     "dogs\\n\"))] %s)",
                     wide ? "br\xc3\xb8wn" : "brown", parts[i]);
            PtcOutcome *o = run_large(ptc, program, 120000);
            tell(o, got);
            CHECK(got[0] != '!');
            ptc_outcome_free(o);
        }
    end_engine(ptc);
}

static const char *const endless[] = {
    "(re-find #\"(a+)+$\" (str (apply str (repeat 5000 \"a\")) \"b\"))",
    "(re-find #\"a*+[xy]\" (apply str (repeat 1000000 \"a\")))",
    "(re-find #\"(?:a*+[xy]|a)*z?[xy]\" (apply str (repeat 100000 \"a\")))",
    "(re-find #\"(.)\\1*+[xy]\" (apply str (repeat 1000000 \"\xc3\xa9\")))",
    "(re-matches #\"(a|aa)+\" (str (apply str (repeat 100 \"a\")) \"b\"))",
    "(re-seq #\"(?i)(x+x+)+[yz]\" (apply str (repeat 3000 \"x\")))",
    "(str/replace (str (apply str (repeat 60 \"a\")) \"b\") #\"(a|aa)+$\" \"x\")",
};
enum { ENDLESS_COUNT = sizeof endless / sizeof endless[0] };

static void test_timeout(void)
{
    Ptc *ptc = patient_engine();
    for (size_t i = 0; i < ENDLESS_COUNT; i++) {
        int64_t before = check_cpu_ms();
        PtcOutcome *o = run_large(ptc, endless[i], 200);
        int64_t computed = check_cpu_ms() - before;
        CHECK_STR(first_error(o).kind, "timeout");
        CHECK(computed < 3000); /* 1.2 times the limit on a quiet machine */
        if (getenv("PTC_TEST_TIMES"))
            printf("timeout %zu: %lld ms\n", i, (long long)computed);
        ptc_outcome_free(o);
    }
    end_engine(ptc);
}

typedef struct {
    Ptc *ptc;
    const char *program;
    char kind[32];
    atomic_bool done;
} Job;

static void *job_body(void *arg)
{
    Job *job = arg;
    PtcOutcome *o = run_large(job->ptc, job->program, 120000);
    snprintf(job->kind, sizeof job->kind, "%s", first_error(o).kind);
    ptc_outcome_free(o);
    atomic_store(&job->done, true);
    return NULL;
}

static void test_cancel(void)
{
    Ptc *ptc = patient_engine();
    for (size_t i = 0; i < ENDLESS_COUNT; i++) {
        Job job = {.ptc = ptc, .program = endless[i]};
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, job_body, &job) == 0);
        check_pause_us(100000); /* time enough to make the text and begin to search it */
        int64_t before = check_cpu_ms();
        while (!atomic_load(&job.done)) {
            ptc_cancel(ptc); /* again, in case the run had not begun */
            check_pause_us(100);
        }
        int64_t computed = check_cpu_ms() - before;
        pthread_join(thread, NULL);
        CHECK_STR(job.kind, "cancelled");
        CHECK(computed < 1000); /* 10 ms on a quiet machine */
        if (getenv("PTC_TEST_TIMES"))
            printf("cancel %zu: %lld ms\n", i, (long long)computed);
    }
    end_engine(ptc);
}

int main(void)
{
    CHECK_RUN(test_allocations());
    CHECK_RUN(test_session());
    CHECK_RUN(test_linear());
    CHECK_RUN(test_timeout());
    CHECK_RUN(test_cancel());
    return check_done("regex");
}
