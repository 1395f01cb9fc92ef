/* SPDX-License-Identifier: MIT
 * fuzz_seen.c - any bytes as results and as texts of a file: what is learnt is short, can be read, has only names in
 * it, and stays as it is when the same is seen again. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "json/parse.h"
#include "json/sketch.h"
#include "tool/seen/seen.h"
#include "value/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Nothing that a prompt could take for an end, a fence or a direction. */
static void check_seen_text(PtcArena *arena, PtcText text)
{
    const PtcSketch *s;
    assert(text.len <= PTC_SEEN_BYTES);
    assert(ptc_sketch_read(arena, text, &s));
    for (size_t i = 0; i < text.len; i++)
        assert(ptc_ascii_is_alnum(text.bytes[i]) || memchr(" {}[]|?,*_-$@", text.bytes[i], 13));
}

/* What was merged stays readable, and soon does not change any more. */
static void check_merge(PtcArena *arena, PtcMem *mem, PtcText one, PtcText other)
{
    PtcBuf at, next;
    ptc_buf_init(&at, mem, SIZE_MAX / 2);
    ptc_buf_init(&next, mem, SIZE_MAX / 2);
    assert(ptc_seen_merge(mem, NULL, one, other, &at));
    check_seen_text(arena, ptc_buf_view(&at));
    assert(ptc_seen_merge(mem, NULL, ptc_buf_view(&at), ptc_buf_view(&at), &next));
    check_seen_text(arena, ptc_buf_view(&next));
    ptc_buf_deinit(&at);
    ptc_buf_deinit(&next);
}

static void check_value(PtcScratch *at, PtcMem *mem, PtcText json, PtcText other)
{
    PtcJsonError error;
    PtcBuf text;
    PtcValue v = ptc_json_parse(&at->heap, json.bytes, json.len, &error);
    if (v == PTC_NONE)
        return;
    ptc_buf_init(&text, mem, SIZE_MAX / 2);
    assert(ptc_seen_shape(mem, NULL, v, &text));
    check_seen_text(&at->arena, ptc_buf_view(&text));
    check_merge(&at->arena, mem, ptc_buf_view(&text), other);
    ptc_buf_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcMem mem;
    PtcScratch scratch;
    char *copy = malloc(size ? size : 1); /* of exact size, so that reads beyond it are seen */
    memcpy(copy, data, size);
    ptc_mem_init(&mem, 64 << 20);
    ptc_scratch_init(&scratch, &mem, 16 << 20);
    const char *line = size ? memchr(copy, '\n', size) : NULL;
    size_t n = line ? (size_t)(line - copy) : size;
    PtcText first = {copy, n}, rest = {line ? line + 1 : copy, line ? size - n - 1 : size};
    check_merge(&scratch.arena, &mem, first, rest);
    check_value(&scratch, &mem, first, rest);
    ptc_scratch_deinit(&scratch);
    assert(atomic_load(&mem.used) == 0);
    free(copy);
    return 0;
}
