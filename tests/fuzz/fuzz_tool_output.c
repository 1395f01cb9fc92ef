/* SPDX-License-Identifier: MIT
 * fuzz_tool_output.c - any bytes as what a command leaves behind (first byte below 0x80), or as a tools file.  No
 * process is started and no command allowed.
 *
 * Output: how it ended, the length of standard error, then standard error and output.  File: tools are read and, when
 * they are in order, called; some runs are short of memory. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "json/parse.h"
#include "tool/file.h"
#include "tool/kind/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
} Place;

/* The bytes in a block of their size, so that reads beyond it are seen. */
static PtcBuf exact(const uint8_t *data, size_t size)
{
    PtcBuf buf = {.data = size ? malloc(size) : NULL, .len = size, .cap = size, .max = size};
    if (size)
        memcpy(buf.data, data, size);
    return buf;
}

static void parse(const char *json, size_t len, bool small)
{
    Place at;
    PtcJsonError error;
    ptc_mem_init(&at.mem, 64 << 20);
    ptc_pool_init(&at.pool, &at.mem);
    ptc_budget_init(&at.budget);
    ptc_heap_init(&at.heap, &at.pool, &at.budget, small ? 4096 : 16 << 20);
    PtcValue v = ptc_json_parse(&at.heap, json, len, &error);
    assert(v != PTC_NONE || error.message[0]);
    ptc_heap_deinit(&at.heap);
    ptc_pool_deinit(&at.pool);
    assert(atomic_load(&at.mem.used) == 0);
}

static void check_output(const uint8_t *data, size_t size)
{
    static const PtcProcessEnd ends[] = {PTC_PROCESS_EXITED, PTC_PROCESS_EXITED, PTC_PROCESS_KILLED,
                                         PTC_PROCESS_TOO_MUCH, PTC_PROCESS_NO_START};
    char *argv[] = {"a program", NULL}, text[PTC_COMMAND_TEXT];
    const char *json;
    size_t len, split = data[2] < size - 3 ? data[2] : size - 3;
    PtcBuf err = exact(data + 3, split), out = exact(data + 3 + split, size - 3 - split);
    PtcProcess p = {.argv = argv, .out = &out, .err = &err, .end = ends[data[0] % 5]};
    p.code = data[0] % 5 == 0 ? 0 : data[1];
    memset(text, 'x', sizeof text);
    if (ptc_command_judge(&p, &json, &len, text))
        parse(json, len, (data[0] & 0x40) != 0);
    else
        assert(memchr(text, 0, sizeof text) && text[0] && ptc_utf8_valid(text, strlen(text)));
    free(err.data);
    free(out.data);
}

/* ---------------------------------------------------------------------------------- file */

/* Calls every tool twice, with and without an argument. */
static void call_all(const PtcTools *tools, Ptc *ptc)
{
    char program[400];
    for (size_t i = 0; i < ptc_tools_count(tools) && i < 8; i++) {
        PtcRun run;
        PtcOutcome *o = NULL;
        const char *name = ptc_tools_name(tools, i);
        ptc_run_init(&run, sizeof run);
        run.program_len =
            (size_t)snprintf(program, sizeof program, "[(tool/%s {:a 1}) (tool/%s)]", name, name);
        run.program = program;
        run.tools = (PtcTools *)(uintptr_t)tools;
        if (ptc_eval(ptc, &run, &o) == PTC_OK) {
            size_t len;
            ptc_outcome_json(o, &len);
            ptc_outcome_free(o);
        }
    }
}

static Ptc *an_engine(void)
{
    PtcLimits limits;
    PtcOptions options;
    ptc_limits_init(&limits, sizeof limits);
    ptc_options_init(&options, sizeof options);
    limits.timeout_ms = limits.deadline_ms = 100;
    limits.memory_bytes = 1 << 20;
    limits.loop_limit = 10000;
    options.limits = &limits;
    return ptc_new(&options);
}

static void check_file(const uint8_t *data, size_t size)
{
    static const PtcToolsFileOptions none;
    PtcWhy why;
    PtcTools *tools = ptc_tools_new();
    PtcBuf text = exact(data + 1, size - 1);
    memset(&why, 'x', sizeof why);
    if (data[0] & 0x40)
        ptc_mem_fail_at(&tools->mem, (data[0] & 0x3f) + 1);
    if (ptc_tools_read_json(tools, text.data, text.len, &none, &why)) {
        Ptc *ptc = an_engine();
        call_all(tools, ptc);
        ptc_free(ptc);
    } else {
        assert(memchr(why.text, 0, sizeof why.text) && why.text[0]);
    }
    free(text.data);
    ptc_tools_free(tools);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    if (data[0] < 0x80)
        check_output(data, size);
    else
        check_file(data, size);
    return 0;
}
