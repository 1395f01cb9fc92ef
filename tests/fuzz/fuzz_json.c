/* SPDX-License-Identifier: MIT
 * fuzz_json.c - any bytes as JSON.  What is accepted is written, read again and compared, and read with a member kept
 * as text; memory runs out in some runs (first byte 0x80 and up); nothing may leak. */
#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "json/parse.h"
#include "json/write.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"
#include "value/print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
} Place;

static void open_place(Place *at, size_t limit)
{
    ptc_mem_init(&at->mem, 64 << 20);
    ptc_pool_init(&at->pool, &at->mem);
    ptc_budget_init(&at->budget);
    ptc_heap_init(&at->heap, &at->pool, &at->budget, limit);
}

static void close_place(Place *at)
{
    ptc_heap_deinit(&at->heap);
    ptc_pool_deinit(&at->pool);
    assert(atomic_load(&at->mem.used) == 0);
}

/* Parses text of exact size, so that reads beyond it are seen. */
static PtcValue parse(Place *at, const void *text, size_t len)
{
    PtcJsonError e;
    char *copy = malloc(len ? len : 1);
    if (len)
        memcpy(copy, text, len);
    PtcValue v = ptc_json_parse(&at->heap, copy, len, &e);
    assert(v != PTC_NONE || (e.message[0] && e.line && e.column && e.offset <= len));
    assert(v != PTC_NONE || e.stopped == (at->budget.stop != PTC_STOP_NONE));
    free(copy);
    return v;
}

/* Two copies in an array: the second meets what was learnt from the first. */
static void check_twice(Place *at, PtcValue v, const PtcBuf *text)
{
    PtcBuf two;
    ptc_buf_init(&two, &at->mem, SIZE_MAX / 2);
    ptc_buf_add(&two, "[", 1);
    ptc_buf_add(&two, text->data, text->len);
    ptc_buf_add(&two, ",", 1);
    ptc_buf_add(&two, text->data, text->len);
    ptc_buf_add(&two, "]", 1);
    PtcValue both = parse(at, two.data, two.len);
    /* Only nesting at its limit may refuse one level more. */
    assert(both != PTC_NONE || text->len >= PTC_JSON_MAX_DEPTH);
    for (size_t i = 0; both != PTC_NONE && i < 2; i++)
        assert(ptc_equal(&at->heap, v, ptc_seq_nth(both, i)));
    ptc_buf_deinit(&two);
}

static void check_value(Place *at, PtcValue v)
{
    PtcJsonError e;
    PtcJsonWriter w = {&at->heap, -1, NULL};
    PtcPrinter p = {&at->heap, true, -1, NULL, NULL};
    PtcBuf first, second;
    ptc_buf_init(&first, &at->mem, SIZE_MAX / 2);
    ptc_buf_init(&second, &at->mem, SIZE_MAX / 2);
    bool ok = ptc_json_write(&w, &first, v, &e);
    assert(ok && ptc_utf8_valid(first.data, first.len));
    PtcValue back = parse(at, first.data, first.len);
    assert(back != PTC_NONE && ptc_equal(&at->heap, v, back));
    ok = ptc_json_write(&w, &second, back, &e);
    assert(ok && first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    check_twice(at, v, &first);
    ptc_buf_clear(&second);
    ok = ptc_print(&p, &second, v);
    assert(ok && ptc_utf8_valid(second.data, second.len));
    ptc_buf_deinit(&first);
    ptc_buf_deinit(&second);
}

/* The same with {"a":{"b":{...}}} kept as text: all else is as before, and the text is what it stands for. */
static void check_keeping(Place *at, PtcText text, PtcValue v)
{
    static const char *const path[] = {"a", NULL}, *const names[] = {"b", NULL};
    PtcJsonError e;
    PtcText kept;
    const PtcJsonKeep keep = {.path = path, .names = names, .texts = &kept};
    PtcValue w = ptc_json_parse_keeping(&at->heap, text, &keep, &e);
    if (v ==
        PTC_NONE) /* numbers and nesting in a kept text are for its reader, who may find nothing wrong */
        return;
    assert(w != PTC_NONE);
    if (!kept.bytes)
        assert(ptc_equal(&at->heap, v, w));
    else
        assert(ptc_equal(&at->heap, parse(at, kept.bytes, kept.len),
                         ptc_map_field(&at->heap, ptc_map_field(&at->heap, v, "a"), "b")));
}

/* One allocation fails, or the heap is small. */
static void run_short(const uint8_t *data, size_t size)
{
    Place at;
    PtcJsonError e;
    PtcBuf buf;
    bool small = (data[0] & 0x40) != 0;
    open_place(&at, small ? (size_t)(data[0] & 0x3f) << 12 : SIZE_MAX / 4);
    if (!small)
        ptc_mem_fail_at(&at.mem, (data[0] & 0x3f) + 1);
    ptc_buf_init(&buf, &at.mem, 1000);
    PtcValue v = parse(&at, data + 1, size - 1);
    if (v != PTC_NONE && !ptc_json_write(&(PtcJsonWriter){&at.heap, 3, NULL}, &buf, v, &e))
        assert(e.message[0] && (buf.full || at.budget.stop == PTC_STOP_MEMORY));
    ptc_buf_deinit(&buf);
    close_place(&at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] >= 0x80) {
        run_short(data, size);
        return 0;
    }
    Place at;
    open_place(&at, 16 << 20);
    PtcValue v = parse(&at, data, size);
    if (v != PTC_NONE)
        check_value(&at, v);
    if (at.budget.stop == PTC_STOP_NONE)
        check_keeping(&at, (PtcText){(const char *)data, size}, v);
    close_place(&at);
    return 0;
}
