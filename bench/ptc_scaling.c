/* SPDX-License-Identifier: MIT
 *
 * ptc_scaling.c - runs one program over rows that are there before the clock starts.
 *
 * Usage: ptc_scaling time|once ROWS.json PROGRAM.clj ANSWER.txt
 * time: prints the nanoseconds of the best run.  once: runs it a single time, for callgrind with
 * --toggle-collect=bench_measured.  The answer, an integer or a string, must be ANSWER's text. */
#include "common.h"
#include "ptc_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_NS UINT64_C(400000000) /* keep on measuring this long */
enum { MIN_RUNS = 5, MAX_RUNS = 2000, LONG_MS = 1800000 };

/* Callgrind counts what runs inside: so never inlined, and no tail call that would leave early. */
PtcOutcome *bench_measured(Ptc *ptc, const char *program, size_t len, PtcValue context);

__attribute__((noinline)) PtcOutcome *bench_measured(Ptc *ptc, const char *program, size_t len,
                                                     PtcValue context)
{
    PtcOutcome *volatile outcome = host_eval(ptc, program, len, context, NULL);
    return outcome;
}

static void check(PtcValue answer, const char *wanted, size_t wanted_len)
{
    char digits[24];
    const char *got;
    size_t len;
    int64_t number;
    if (ptc_value_int(answer, &number)) {
        len = (size_t)snprintf(digits, sizeof digits, "%lld", (long long)number);
        got = digits;
    } else if (!ptc_value_string(answer, &got, &len)) {
        bench_die("the answer is neither an integer nor a string");
    }
    if (len != wanted_len || memcmp(got, wanted, len) != 0)
        bench_die("wrong answer: %.*s, expected %.*s", (int)(len < 60 ? len : 60), got,
                  (int)(wanted_len < 60 ? wanted_len : 60), wanted);
}

static Ptc *roomy_engine(void)
{
    PtcLimits limits;
    ptc_limits_init(&limits, sizeof limits);
    limits.timeout_ms = LONG_MS;
    limits.deadline_ms = LONG_MS;
    limits.memory_bytes = INT64_C(2) << 30;
    limits.context_bytes = INT64_C(2) << 30;
    limits.loop_limit = 1000000000;
    return host_engine(&limits);
}

int main(int argc, char **argv)
{
    size_t rows_len, program_len, answer_len;
    if (argc != 5)
        bench_die("usage: %s time|once ROWS PROGRAM ANSWER", argv[0]);
    bool once = !strcmp(argv[1], "once");
    char *rows = bench_read_file(argv[2], &rows_len);
    char *program = bench_read_file(argv[3], &program_len);
    char *wanted = bench_read_file(argv[4], &answer_len);

    Ptc *ptc = roomy_engine();
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    if (!data)
        bench_die("ptc_data_new failed");
    PtcValue context = host_rows(data, rows, rows_len);

    uint64_t best = UINT64_MAX, begun = bench_now_ns();
    for (int runs = 0; runs < (once ? 1 : MAX_RUNS); runs++) {
        if (runs >= MIN_RUNS && bench_now_ns() - begun > TIME_NS)
            break;
        uint64_t start = bench_now_ns();
        PtcOutcome *outcome = bench_measured(ptc, program, program_len, context);
        uint64_t elapsed = bench_now_ns() - start;
        best = elapsed < best ? elapsed : best;
        check(ptc_outcome_value(outcome), wanted, answer_len);
        ptc_outcome_free(outcome);
    }
    printf("%llu\n", (unsigned long long)best);

    ptc_data_free(data);
    ptc_free(ptc);
    free(rows);
    free(program);
    free(wanted);
    return 0;
}
