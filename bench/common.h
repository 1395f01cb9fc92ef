/* SPDX-License-Identifier: MIT
 *
 * common.h - what the C benchmark drivers share: a clock, the sources that change with every
 * evaluation, and the one way of measuring.  Drivers print lines "workload TAB runner TAB ns". */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stddef.h>
#include <stdint.h>

/* Prints a message and ends the process with status 2: the run is void. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

uint64_t bench_now_ns(void);

/* A whole file, NUL-ended; the caller frees it. */
char *bench_read_file(const char *path, size_t *len);

/* A program in which the mark "@K@" has become a number that grows with every call of
 * bench_source_next, so that no cache keyed by text can help. */
typedef struct {
    char *text;
    size_t len;
    char *digits; /* the number, inside text */
    int64_t k;    /* its value */
} BenchSource;

void bench_source_load(BenchSource *source, const char *path);
void bench_source_next(BenchSource *source);
void bench_source_free(BenchSource *source);

/* Runs step over and over: first to warm up, then in batches.  Prints the time of one step in the
 * best batch. */
void bench_measure(const char *workload, const char *runner, void (*step)(void *), void *context);

/* What every workload answers. */
#define BENCH_SMALL_ANSWER(k) ((k) + 10)
#define BENCH_DEPT "d6"
#define BENCH_TOTAL 19994
#define BENCH_FIB 46368
#define BENCH_LOOP INT64_C(499999500000)
#define BENCH_CALL INT64_C(50005000) /* 10,000 calls of a host function: n + 1 */

#endif
