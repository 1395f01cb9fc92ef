/* SPDX-License-Identifier: MIT
 * peer.c - our side of the differential tests: reads requests from standard input until it ends, answers each with a
 * line.
 *
 *   json BYTES            then so many bytes: "+ JSON" as we write the value, or "- LINE:COLUMN MESSAGE"
 *   schema BYTES BYTES    then a schema and a value: "+", "- ISSUE", or "! PLACE MESSAGE" for a schema that is refused
 *
 * A request that breaks this form ends the process with status 2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/parse.h"
#include "json/write.h"
#include "tool/schema/schema.h"

enum { MOST_BYTES = 1 << 26 };

typedef struct {
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena arena;
} Place;

static void open_place(Place *at)
{
    ptc_mem_init(&at->mem, SIZE_MAX / 2);
    ptc_pool_init(&at->pool, &at->mem);
    ptc_budget_init(&at->budget);
    ptc_heap_init(&at->heap, &at->pool, &at->budget, SIZE_MAX / 4);
    ptc_arena_init(&at->arena, &at->mem);
}

static void close_place(Place *at)
{
    ptc_arena_deinit(&at->arena);
    ptc_heap_deinit(&at->heap);
    ptc_pool_deinit(&at->pool);
}

static void fail(const char *why)
{
    fprintf(stderr, "peer: %s\n", why);
    exit(2);
}

/* A block of exactly that size, so that a sanitizer sees reads beyond it. */
static char *read_bytes(size_t n)
{
    if (n > MOST_BYTES)
        fail("a request is too large");
    char *bytes = malloc(n + !n);
    if (!bytes || fread(bytes, 1, n, stdin) != n)
        fail("a request ends too early");
    return bytes;
}

static PtcValue read_json(Place *at, size_t n, PtcJsonError *e)
{
    char *bytes = read_bytes(n);
    PtcValue v = ptc_json_parse(&at->heap, bytes, n, e);
    free(bytes);
    return v;
}

static void answer_json(Place *at, size_t n)
{
    PtcJsonError e;
    PtcBuf buf;
    PtcValue v = read_json(at, n, &e);
    ptc_buf_init(&buf, &at->mem, SIZE_MAX / 2);
    if (v == PTC_NONE)
        printf("- %u:%u %s\n", e.line, e.column, e.message);
    else if (ptc_json_write(&(PtcJsonWriter){&at->heap, -1, NULL}, &buf, v, &e))
        printf("+ %.*s\n", (int)buf.len, buf.data);
    else
        printf("- cannot be written: %s\n", e.message);
    ptc_buf_deinit(&buf);
}

static void answer_verdict(Place *at, const PtcSchema *schema, PtcValue v)
{
    PtcSchemaIssues issues;
    PtcBuf buf;
    PtcSchemaVerdict got = ptc_schema_validate(schema, v, &at->mem, &at->budget, &issues);
    ptc_buf_init(&buf, &at->mem, SIZE_MAX / 2);
    if (got == PTC_SCHEMA_INVALID && ptc_schema_issue_text(&buf, &issues.items[0]))
        printf("- %s\n", ptc_buf_text(&buf));
    else
        puts(got == PTC_SCHEMA_VALID ? "+" : "- stopped");
    ptc_buf_deinit(&buf);
}

static void answer_schema(Place *at, size_t schema_bytes, size_t value_bytes)
{
    PtcJsonError e;
    PtcSchemaError mistake;
    const PtcSchema *made;
    PtcValue schema = read_json(at, schema_bytes, &e);
    PtcValue value = read_json(at, value_bytes, &e);
    if (schema == PTC_NONE || value == PTC_NONE)
        printf("! # not JSON: %s\n", e.message);
    else if (!ptc_schema_compile(&at->arena, &at->mem, &at->budget, schema, &made, &mistake))
        printf("! %s %s\n", mistake.path, mistake.message);
    else
        answer_verdict(at, made, value);
}

int main(void)
{
    char line[100];
    size_t a, b;
    while (fgets(line, sizeof line, stdin)) {
        Place at;
        open_place(&at);
        if (sscanf(line, "json %zu\n", &a) == 1)
            answer_json(&at, a);
        else if (sscanf(line, "schema %zu %zu\n", &a, &b) == 2)
            answer_schema(&at, a, b);
        else
            fail("not a request");
        close_place(&at);
    }
    return 0;
}
