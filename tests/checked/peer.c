/* SPDX-License-Identifier: MIT
 * peer.c - runs lines of a batch (docs/batch.md) in several ways, named by its arguments, and answers each line with
 * one line for each way:
 *
 *   error, warn, off   what is found is an error, or a warning, or nothing is looked for
 *   brief-error, brief-off
 *                      the same with little time and memory, for programs that may not end
 *   stress             garbage is collected at every safepoint
 *   torture            {"allocations": N}: one allocation of the line fails after the other, and the line must end as
 *                      it does without, or out of memory; lines share no session then
 *   count              {"ns": N}: how long a run of the line takes, on average of many
 *
 * Whatever does not end as it should ends the process with status 2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/batch.h"
#include "unit/even_engine.h"

enum {
    MOST_BYTES = 1 << 24,
    MOST_WAYS = 8,
    CALM_RUNS = 40,
    MOST_ALLOCATIONS = 5000,
    TIMED_RUNS = 500
};

typedef struct Way {
    const char *name;
    int64_t check;
    int64_t stress;
    bool brief; /* little time and memory */
} Way;

static const Way ways[] = {
    {"error", PTC_CHECK_ERROR, 0, false},      {"warn", PTC_CHECK_WARN, 0, false},
    {"off", PTC_CHECK_OFF, 0, false},          {"stress", PTC_CHECK_ERROR, 1, false},
    {"torture", PTC_CHECK_ERROR, 0, false},    {"count", PTC_CHECK_ERROR, 0, false},
    {"brief-error", PTC_CHECK_ERROR, 0, true}, {"brief-off", PTC_CHECK_OFF, 0, true},
};

static void fail(const char *why, const char *line)
{
    fprintf(stderr, "peer: %s: %.300s\n", why, line);
    exit(2);
}

static Ptc *open_engine(const Way *way, int64_t fail_at)
{
    PtcOptions options;
    PtcLimits limits;
    ptc_options_init(&options, sizeof options);
    ptc_limits_init(&limits, sizeof limits);
    limits.check = way->check;
    limits.timeout_ms = way->brief ? 200 : 20000;
    if (way->brief) {
        limits.loop_limit = 3000;
        limits.memory_bytes = 4 << 20;
    }
    options.limits = &limits;
    options.gc_stress = way->stress;
    if (fail_at)
        options.fail_allocation = fail_at;
    Ptc *ptc = ptc_new(&options);
    if (!ptc)
        fail("no engine", "");
    return ptc;
}

static void close_engine(Ptc *ptc, const char *line)
{
    if (!free_even_engine(ptc))
        fail("the ledger is not even after", line);
}

/* The answer as a string of its own, or NULL out of memory. */
static char *answer(Ptc *ptc, const char *line)
{
    PtcBatchOptions options = {.allow = {.command = true}, .now_ms = 1};
    char *text, *copy;
    size_t len;
    if (ptc_batch_line(ptc, line, strlen(line), &options, &text, &len) != PTC_OK)
        return NULL;
    copy = strndup(text, len);
    ptc_text_free(ptc, text, len);
    if (!copy)
        fail("no memory", line);
    return copy;
}

static char *answer_once(const Way *way, int64_t fail_at, const char *line)
{
    Ptc *ptc = open_engine(way, fail_at);
    char *text = answer(ptc, line);
    close_engine(ptc, line);
    return text;
}

/* The end is the same; which calls were noted, what was warned of and which value failed may be lost with memory. */
static bool ends_alike(const char *a, const char *b)
{
    const char *end =
        strncmp(a, "{\"id\":null,\"ok\":true", 20) == 0 ? "\"prints\":" : "\"message\":";
    const char *x = strstr(a, end), *y = strstr(b, end);
    return x && y && x - a == y - b && memcmp(a, b, (size_t)(x - a)) == 0;
}

/* A collection may make up for an allocation that failed, so one run without effect is not the end. */
static void torture(const Way *way, const char *line)
{
    char *normal = answer_once(way, 0, line);
    int64_t n = 0;
    for (int calm = 0; normal && calm < CALM_RUNS && n < MOST_ALLOCATIONS;) {
        char *text = answer_once(way, ++n, line);
        bool alike = text && ends_alike(text, normal);
        calm = alike ? calm + 1 : 0;
        if (text && !alike && !strstr(text, "\"memory_limit\""))
            fprintf(stderr, "allocation %lld: ", (long long)n), fail(text, line);
        free(text);
    }
    free(normal);
    printf("{\"allocations\":%lld}\n", (long long)n);
}

static void count(const Way *way, const char *line)
{
    Ptc *ptc = open_engine(way, 0);
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < TIMED_RUNS; i++)
        free(answer(ptc, line));
    clock_gettime(CLOCK_MONOTONIC, &b);
    close_engine(ptc, line);
    long long ns = (b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec;
    printf("{\"ns\":%lld}\n", ns / TIMED_RUNS);
}

static void tell(const Way *way, Ptc *ptc, const char *line)
{
    if (strcmp(way->name, "torture") == 0) {
        torture(way, line);
        return;
    }
    if (strcmp(way->name, "count") == 0) {
        count(way, line);
        return;
    }
    char *text = answer(ptc, line);
    if (!text)
        fail("no memory", line);
    printf("%s\n", text);
    free(text);
}

static const Way *find_way(const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, name) == 0)
            return &ways[i];
    fail("no such way", name);
    return NULL;
}

int main(int argc, char **argv)
{
    Ptc *engines[MOST_WAYS];
    static char line[MOST_BYTES];
    for (int i = 1; i < argc && i <= MOST_WAYS; i++)
        engines[i - 1] = open_engine(find_way(argv[i]), 0);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        for (int i = 1; i < argc && i <= MOST_WAYS; i++)
            tell(find_way(argv[i]), engines[i - 1], line);
        fflush(stdout);
    }
    for (int i = 1; i < argc && i <= MOST_WAYS; i++)
        close_engine(engines[i - 1], "the last line");
    return 0;
}
