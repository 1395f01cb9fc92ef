/* SPDX-License-Identifier: MIT
 *
 * common.c - see common.h. */
#include "common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { K_DIGITS = 7, BATCHES = 8 };
#define K_MARK "@K@"
#define K_FIRST 1000000
#define WARM_NS UINT64_C(60000000)
#define BATCH_NS UINT64_C(25000000)

void bench_die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

uint64_t bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

char *bench_read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        bench_die("cannot open %s", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = size < 0 ? NULL : malloc((size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size)
        bench_die("cannot read %s", path);
    fclose(file);
    text[size] = '\0';
    *len = (size_t)size;
    return text;
}

void bench_source_load(BenchSource *source, const char *path)
{
    size_t len;
    char *template = bench_read_file(path, &len);
    const char *mark = strstr(template, K_MARK);
    if (!mark)
        bench_die("%s has no %s", path, K_MARK);
    size_t before = (size_t)(mark - template);
    source->text = malloc(len + K_DIGITS + 1);
    if (!source->text)
        bench_die("out of memory");
    source->k = K_FIRST;
    source->digits = source->text + before;
    source->len = (size_t)sprintf(source->text, "%.*s%d%s", (int)before, template, K_FIRST,
                                  mark + strlen(K_MARK));
    free(template);
}

/* Counts up in place: a few instructions, so that making the source is not what is measured. */
void bench_source_next(BenchSource *source)
{
    source->k++;
    for (int i = K_DIGITS - 1; i >= 0; i--) {
        if (source->digits[i] != '9') {
            source->digits[i]++;
            return;
        }
        source->digits[i] = '0';
    }
    bench_die("the sources are used up");
}

void bench_source_free(BenchSource *source)
{
    free(source->text);
}

/* Runs step for at least the given time; returns the time of one step. */
static double run_for(uint64_t budget_ns, void (*step)(void *), void *context)
{
    uint64_t count = 0, chunk = 1, start = bench_now_ns(), elapsed;
    do {
        for (uint64_t i = 0; i < chunk; i++)
            step(context);
        count += chunk;
        elapsed = bench_now_ns() - start;
        if (elapsed * 8 < budget_ns)
            chunk *= 2;
    } while (elapsed < budget_ns);
    return (double)elapsed / (double)count;
}

static double run_count(uint64_t count, void (*step)(void *), void *context)
{
    uint64_t start = bench_now_ns();
    for (uint64_t i = 0; i < count; i++)
        step(context);
    return (double)(bench_now_ns() - start) / (double)count;
}

void bench_measure(const char *workload, const char *runner, void (*step)(void *), void *context)
{
    double ns = run_for(WARM_NS, step, context);
    uint64_t count = (uint64_t)((double)BATCH_NS / ns) + 1;
    double best = run_count(count, step, context);
    for (int i = 1; i < BATCHES; i++) {
        double batch = run_count(count, step, context);
        if (batch < best)
            best = batch;
    }
    printf("%s\t%s\t%.1f\n", workload, runner, best);
    fflush(stdout);
}
