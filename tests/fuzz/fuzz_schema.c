/* SPDX-License-Identifier: MIT
 * fuzz_schema.c - a schema, a NUL or line end, a value.  The verdict must be the same with and without issues; issues
 * are whole UTF-8; memory runs out in some runs (first byte 0x80 and up); nothing may leak. */
#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "json/parse.h"
#include "tool/schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOOKS = 200 }; /* at the clock, before the deadline */

typedef struct {
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena arena;
    int64_t now;
} Place;

static int64_t clock_of(void *user)
{
    return ++*(int64_t *)user;
}

static void open_place(Place *at)
{
    ptc_mem_init(&at->mem, 64 << 20);
    ptc_pool_init(&at->pool, &at->mem);
    ptc_budget_init(&at->budget);
    at->now = 0;
    at->budget.clock_ns = clock_of;
    at->budget.clock_user = &at->now;
    at->budget.deadline_ns = LOOKS;
    ptc_heap_init(&at->heap, &at->pool, &at->budget, 16 << 20);
    ptc_arena_init(&at->arena, &at->mem);
}

static void close_place(Place *at)
{
    ptc_arena_deinit(&at->arena);
    ptc_heap_deinit(&at->heap);
    ptc_pool_deinit(&at->pool);
    assert(atomic_load(&at->mem.used) == 0);
}

static bool is_text(const char *text)
{
    return ptc_utf8_valid(text, strlen(text));
}

static void check_issues(Place *at, const PtcSchemaIssues *issues)
{
    PtcBuf buf;
    assert(issues->count <= PTC_SCHEMA_MAX_ISSUES);
    for (size_t i = 0; i < issues->count; i++) {
        const PtcSchemaIssue *issue = &issues->items[i];
        assert(issue->message[0] && is_text(issue->message) && is_text(issue->path));
        ptc_buf_init(&buf, &at->mem, 1000);
        (void)ptc_schema_issue_text(&buf, issue);
        ptc_buf_deinit(&buf);
    }
}

static void check_value(Place *at, const PtcSchema *schema, PtcValue v)
{
    PtcSchemaIssues issues;
    PtcSchemaVerdict got = ptc_schema_validate(schema, v, &at->mem, &at->budget, &issues);
    assert((got == PTC_SCHEMA_STOPPED) == (at->budget.stop != PTC_STOP_NONE));
    if (got == PTC_SCHEMA_STOPPED)
        return;
    assert((got == PTC_SCHEMA_INVALID) == (issues.count > 0));
    check_issues(at, &issues);
    PtcSchemaVerdict quiet = ptc_schema_validate(schema, v, &at->mem, &at->budget, NULL);
    /* One of them may pass over a part that goes round, or takes too long. */
    assert(quiet == got || quiet == PTC_SCHEMA_STOPPED || issues.more);
}

static void run(Place *at, const char *text, size_t size)
{
    PtcJsonError e;
    PtcSchemaError mistake;
    const PtcSchema *schema;
    size_t cut = 0;
    while (cut < size && text[cut] != 0 && text[cut] != '\n')
        cut++;
    PtcValue s = ptc_json_parse(&at->heap, text, cut, &e);
    if (s == PTC_NONE)
        return;
    if (!ptc_schema_compile(&at->arena, &at->mem, &at->budget, s, &schema, &mistake)) {
        assert(mistake.message[0] && is_text(mistake.message) && is_text(mistake.path));
        assert(mistake.stopped == (at->budget.stop != PTC_STOP_NONE));
        return;
    }
    PtcValue v = cut < size ? ptc_json_parse(&at->heap, text + cut + 1, size - cut - 1, &e) : s;
    if (v != PTC_NONE)
        check_value(at, schema, v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Place at;
    bool failing = size > 0 && data[0] >= 0x80;
    size_t skip = failing ? 1 : 0;
    char *copy = malloc(size - skip + 1);
    memcpy(copy, data + skip, size - skip);
    open_place(&at);
    if (failing)
        ptc_mem_fail_at(&at.mem, (data[0] & 0x7f) + 1u);
    run(&at, copy, size - skip);
    close_place(&at);
    free(copy);
    return 0;
}
