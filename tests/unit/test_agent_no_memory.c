/* SPDX-License-Identifier: MIT
 * test_agent_no_memory.c - agents with every allocation failing once: the scenarios of tests/agent, each again and
 * again, with the first allocation of the process failing, then the second, and so on.  What must hold: nothing
 * crashes, nothing leaks, and what is told as ok is what it is when memory lasts.
 *
 * All ledgers are watched, since a run opens many: the linker puts the functions below in place of the
 * library's. */
#include "check.h"

#include "agent/run/agent_batch.h"
#include "base/sanitized.h"

enum {
    STEPS = 40,                      /* allocations of a scenario that fail, spread over it */
    ALL_OF = PTC_SANITIZED ? 20 : 5, /* every so-manyth scenario has each allocation fail */
};

static struct {
    atomic_long count, fail_at,
        live; /* allocations asked for; the one that fails; blocks out now */
} call_log;

void *__real_ptc_mem_resize(PtcMem *mem, void *block, size_t old, size_t size);
void *__wrap_ptc_mem_resize(PtcMem *mem, void *block, size_t old, size_t size);
void *__real_ptc_mem_alloc_aligned(PtcMem *mem, size_t align, size_t size);
void *__wrap_ptc_mem_alloc_aligned(PtcMem *mem, size_t align, size_t size);
void __real_ptc_mem_free_aligned(PtcMem *mem, void *block, size_t size);
void __wrap_ptc_mem_free_aligned(PtcMem *mem, void *block, size_t size);
void __real_ptc_mem_keep(PtcMem *mem, void *block, size_t size);
void __wrap_ptc_mem_keep(PtcMem *mem, void *block, size_t size);

static bool fails(void)
{
    return atomic_fetch_add(&call_log.count, 1) + 1 == atomic_load(&call_log.fail_at);
}

void *__wrap_ptc_mem_resize(PtcMem *mem, void *block, size_t old, size_t size)
{
    if (size > old && fails())
        return NULL;
    void *got = __real_ptc_mem_resize(mem, block, old, size);
    if (!block && got)
        atomic_fetch_add(&call_log.live, 1);
    if (block && size == 0)
        atomic_fetch_sub(&call_log.live, 1);
    return got;
}

void *__wrap_ptc_mem_alloc_aligned(PtcMem *mem, size_t align, size_t size)
{
    void *got = fails() ? NULL : __real_ptc_mem_alloc_aligned(mem, align, size);
    if (got)
        atomic_fetch_add(&call_log.live, 1);
    return got;
}

void __wrap_ptc_mem_free_aligned(PtcMem *mem, void *block, size_t size)
{
    if (block)
        atomic_fetch_sub(&call_log.live, 1);
    __real_ptc_mem_free_aligned(mem, block, size);
}

/* Within its own file it frees by a call that the linker does not replace. */
void __wrap_ptc_mem_keep(PtcMem *mem, void *block, size_t size)
{
    if (block)
        atomic_fetch_sub(&call_log.live, 1);
    __real_ptc_mem_keep(mem, block, size);
}

/* ------------------------------------------------------------------------------ scenarios */

/* The answer to a line, as text of the test; NULL: no memory. */
static char *answer(const char *line, long fail_at)
{
    static const PtcAgentBatchOptions options;
    PtcMem mem;
    PtcBuf out;
    char *copy = NULL;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_buf_init(&out, &mem, SIZE_MAX / 4);
    atomic_store(&call_log.count, 0);
    atomic_store(&call_log.live, 0);
    atomic_store(&call_log.fail_at, fail_at);
    if (ptc_agent_batch_line(&options, ptc_text_cstr(line), &out)) {
        copy = malloc(out.len + 1);
        memcpy(copy, out.data, out.len);
        copy[out.len] = 0;
    }
    atomic_store(&call_log.fail_at, 0);
    ptc_buf_deinit(&out);
    CHECK(atomic_load(&mem.used) == 0);
    if (check_count(atomic_load(&call_log.live) == 0))
        printf("%ld blocks are left when allocation %ld fails: %.100s\n",
               atomic_load(&call_log.live), fail_at, line);
    return copy;
}

static bool says(const char *answer, const char *what)
{
    return answer && strstr(answer, what) != NULL;
}

/* Up to here an answer is what came of the run; what follows may tell of more or fewer requests. */
static size_t head(const char *answer)
{
    const char *end = strstr(answer, "\"turns\":[");
    return end ? (size_t)(end - answer) : strlen(answer);
}

/* Does it say that something went wrong?  A tool, a program or a child without memory is an error that its caller sees,
 * so that a run may go another way. */
static bool tells(const char *got, const char *whole)
{
    static const char *const words[] = {"no_memory", "out of memory", "out of memory",
                                        "memory_exceeded", "fit in memory"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (says(got, words[i]))
            return true;
    return !says(got, "\"outcome\":\"ok\"") ||
           (says(got, "\"ok\":false") && !says(whole, "\"ok\":false"));
}

/* With one allocation failing: the same end, or one that says so. */
static void check_failing(const char *line, const char *whole, long fail_at)
{
    char *got = answer(line, fail_at);
    bool same = got && head(got) == head(whole) && memcmp(got, whole, head(got)) == 0;
    bool again = says(line, "\"cache\""); /* what could not be kept is asked for again */
    CHECK(!says(got, "internal"));
    if (check_count(!got || same || again || tells(got, whole)))
        printf("allocation %ld: %.3000s\n  whole: %.300s\n  got:   %.300s\n", fail_at, line, whole,
               got);
    free(got);
}

/* Time decides about some of them. */
static bool is_timed(const char *line)
{
    return strstr(line, "sleep_ms") || strstr(line, "mission_timeout") ||
           strstr(line, "\"timeout\"");
}

static void check_line(const char *line, long number)
{
    if (is_timed(line))
        return;
    char *whole = answer(line, 0);
    long all = atomic_load(&call_log.count);
    CHECK(whole != NULL);
    if (!whole)
        return;
    long stride = number % ALL_OF == 0 ? 1 : all / STEPS + 1;
    for (long n = 1 + number % stride; n <= all; n += stride)
        check_failing(line, whole, n);
    free(whole);
}

static void test_scenarios(void)
{
    enum { MOST = 1024 * 1024 };
    static char text[MOST];
    long number = 0;
    FILE *file = fopen("tests/agent/scenarios.jsonl", "rb");
    CHECK(file != NULL);
    CHECK(file && fread(text, 1, MOST - 1, file) < MOST - 1);
    for (char *line = text, *end; line && *line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = 0;
        check_line(line, number++);
    }
    CHECK(number > 300);
    if (file)
        fclose(file);
}

int main(void)
{
    CHECK_RUN(test_scenarios());
    return check_done("agent_no_memory");
}
