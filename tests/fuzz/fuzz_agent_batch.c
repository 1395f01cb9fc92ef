/* SPDX-License-Identifier: MIT
 * fuzz_agent_batch.c - whole lines of `ptc run --jsonl`: an agent, its context, options and replies, run to the end.
 * The answer is one line of JSON with an outcome, whatever came in, and the same when it is asked for again. */
#define _GNU_SOURCE
#include <assert.h>
#include <stdlib.h>

#include "agent/run/agent_batch.h"
#include "json/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Runs end after half a second, so that no input is slow. */
static const PtcAgentBatchOptions options = {.deadline_ms = 500};

static void answer(PtcText line, PtcBuf *out)
{
    assert(ptc_agent_batch_line(&options, line, out));
    assert(ptc_json_is_line(out->data, out->len));
    assert(memmem(out->data, out->len, "\"outcome\":\"", 11));
    assert(!memmem(out->data, out->len, "internal_error", 14) ||
           memmem(line.bytes, line.len, "internal", 8));
}

/* Time and threads may end a run another way. */
static bool may_differ(PtcText line)
{
    static const char *const words[] = {"sleep", "timeout", "pmap", "pcalls",
                                        "retry", "delay",   "loop"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(line.bytes, line.len, words[i], strlen(words[i])))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcMem mem;
    PtcBuf first, second;
    char *copy = malloc(size + !size); /* exactly its size, so that reads beyond it are seen */
    if (size)
        memcpy(copy, data, size);
    PtcText line = {copy, size};
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_buf_init(&first, &mem, SIZE_MAX / 4);
    ptc_buf_init(&second, &mem, SIZE_MAX / 4);
    int64_t begun = ptc_clock_ns(NULL);
    answer(line, &first);
    bool quick = ptc_clock_ns(NULL) - begun < 100 * 1000000;
    if (quick && !may_differ(line)) {
        answer(line, &second);
        assert(second.len == first.len && memcmp(first.data, second.data, first.len) == 0);
    }
    ptc_buf_deinit(&second);
    ptc_buf_deinit(&first);
    assert(atomic_load(&mem.used) == 0);
    free(copy);
    return 0;
}
