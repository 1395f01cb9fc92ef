/* SPDX-License-Identifier: MIT
 * fuzz_agent_file.c - agent files, and the prompts of those that are in order.  The first byte says when memory fails;
 * then the file, a NUL, the context. */
#include <assert.h>
#include <stdlib.h>

#include "agent/prompt/prompt.h"
#include "base/utf8.h"
#include "json/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const PtcAgentReading reading = {.allow_http = true, .allow_scripts = true};

static void check_fault(const PtcWhy *fault)
{
    assert(memchr(fault->path, 0, sizeof fault->path) &&
           memchr(fault->text, 0, sizeof fault->text));
    assert(fault->text[0] && ptc_utf8_valid(fault->text, strlen(fault->text)));
    assert(ptc_utf8_valid(fault->path, strlen(fault->path)));
}

static void check_prompt(const PtcAgentDef *def, PtcText json, uint8_t fail_at)
{
    PtcBench b;
    PtcJsonError e;
    PtcWhy fault;
    PtcPrompt prompt;
    ptc_bench_init(&b);
    PtcValue v = ptc_json_parse(&b.heap, json.bytes, json.len, &e);
    ptc_mem_fail_at(&b.mem, fail_at);
    PtcPromptInput in = {.context = PTC_NONE};
    if (v != PTC_NONE)
        in.context = ptc_definition_context(def, &b.heap, &b.mem, v, &fault);
    if (v != PTC_NONE &&
        (in.context == PTC_NONE || !ptc_prompt_make(&b, def, &in, &prompt, &fault)))
        check_fault(&fault);
    else if (v != PTC_NONE)
        assert(ptc_utf8_valid(prompt.system.bytes, prompt.system.len) &&
               ptc_utf8_valid(prompt.user.bytes, prompt.user.len));
    ptc_bench_deinit(&b);
    assert(atomic_load(&b.mem.used) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcWhy fault;
    if (size < 1)
        return 0;
    char *copy = malloc(size);
    memcpy(copy, data + 1, size - 1);
    const char *end = size > 1 ? memchr(copy, 0, size - 1) : NULL;
    size_t n = end ? (size_t)(end - copy) : size - 1;
    PtcAgentDef *def = ptc_definition_read_json((PtcText){copy, n}, &reading, &fault);
    if (def)
        check_prompt(def, end ? (PtcText){end + 1, size - 2 - n} : PTC_TEXT("{}"), data[0]);
    else
        check_fault(&fault);
    ptc_definition_release(def);
    free(copy);
    return 0;
}
