/* SPDX-License-Identifier: MIT
 * fuzz_sketch.c - any bytes as what is known of a value: what can be read is written, and reads back as the same; cut
 * to any length it can still be read.  The bytes as a JSON Schema give a type that can be read. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "json/parse.h"
#include "json/sketch.h"
#include "tool/schema/type_text.h"
#include "value/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_short(PtcArena *arena, PtcMem *mem, const PtcSketch *s)
{
    const PtcSketch *back;
    PtcBuf text;
    for (size_t most = 0; most < 300; most += 37) {
        ptc_buf_init(&text, mem, SIZE_MAX / 2);
        ptc_sketch_write_short(&text, s, most);
        assert(text.len <= most || text.len == 3);
        assert(ptc_sketch_read(arena, ptc_buf_view(&text), &back));
        ptc_buf_deinit(&text);
    }
}

/* Escapes may make a text too long to be read again. */
static void check_text(PtcArena *arena, PtcMem *mem, PtcText text)
{
    const PtcSketch *s, *back;
    PtcBuf one, two;
    if (!ptc_sketch_read(arena, text, &s))
        return;
    ptc_buf_init(&one, mem, SIZE_MAX / 2);
    ptc_buf_init(&two, mem, SIZE_MAX / 2);
    ptc_sketch_write(&one, s);
    if (one.len <= PTC_SKETCH_BYTES) {
        assert(ptc_sketch_read(arena, ptc_buf_view(&one), &back));
        ptc_sketch_write(&two, back);
        assert(ptc_text_same(ptc_buf_view(&one), ptc_buf_view(&two)));
    }
    check_short(arena, mem, s);
    ptc_buf_deinit(&one);
    ptc_buf_deinit(&two);
}

static void check_schema(PtcScratch *at, PtcMem *mem, PtcText json)
{
    PtcJsonError error;
    const PtcSketch *s;
    PtcValue schema = ptc_json_parse(&at->heap, json.bytes, json.len, &error);
    for (int gives = 0; schema != PTC_NONE && gives < 2; gives++) {
        PtcBuf text;
        ptc_buf_init(&text, mem, SIZE_MAX / 2);
        ptc_type_text_add_whole(&text, &at->heap, schema, schema, gives);
        if (at->heap.budget->stop == PTC_STOP_NONE)
            assert(ptc_sketch_read(&at->arena, ptc_buf_view(&text), &s));
        ptc_buf_deinit(&text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcMem mem;
    PtcScratch scratch;
    char *copy = malloc(size ? size : 1); /* of exact size, so that reads beyond it are seen */
    memcpy(copy, data, size);
    ptc_mem_init(&mem, 64 << 20);
    ptc_scratch_init(&scratch, &mem, 16 << 20);
    check_text(&scratch.arena, &mem, (PtcText){copy, size});
    check_schema(&scratch, &mem, (PtcText){copy, size});
    ptc_scratch_deinit(&scratch);
    assert(atomic_load(&mem.used) == 0);
    free(copy);
    return 0;
}
