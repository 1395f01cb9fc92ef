/* SPDX-License-Identifier: MIT
 * fuzz_read.c - any bytes as a program: the reader answers, within its limits, and leaks nothing. */
#include <assert.h>
#include <string.h>

#include "base/utf8.h"
#include "lisp/read/form.h"
#include "value/number/decimal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every form lies within its parent, in order; its text can be read. */
static void check_form(const PtcForm *f, uint32_t first, uint32_t last, int depth)
{
    assert(first <= f->first && f->first < f->last && f->last <= last);
    assert(depth <= PTC_FORM_DEPTH);
    switch (f->kind) {
    case PTC_F_STRING:
    case PTC_F_REGEX:
    case PTC_F_KEYWORD:
    case PTC_F_SYMBOL:
    case PTC_F_VAR: assert(ptc_utf8_valid(f->text, f->len)); break;
    case PTC_F_MAP: assert(f->count % 2 == 0); /* fall through */
    case PTC_F_LIST:
    case PTC_F_VECTOR:
    case PTC_F_SET:
    case PTC_F_SHORT_FN:
    case PTC_F_QUOTE:
    case PTC_F_TEMPLATE:
    case PTC_F_UNQUOTE:
    case PTC_F_SPLICE:
        for (uint32_t i = 0; i < f->count; i++) {
            check_form(f->items[i], first, f->last, depth + 1);
            first = f->items[i]->last;
        }
        break;
    case PTC_F_NUMBER: assert(ptc_is_number(f->value) || ptc_is_decimal(f->value)); break;
    default: break;
    }
}

static void check_answer(const PtcReader *in, bool ok, PtcForm **forms, size_t count)
{
    uint32_t from = 0;
    if (!ok) {
        const PtcDiag *d = in->diags->items;
        bool stopped = in->arena->failed || in->heap->budget->stop != PTC_STOP_NONE;
        assert(in->diags->count == 1 || stopped);
        for (size_t i = 0; i < in->diags->count; i++) {
            assert(d[i].first <= d[i].last && d[i].last <= in->len);
            assert(ptc_utf8_valid(d[i].message, strlen(d[i].message)));
            assert(ptc_utf8_valid(d[i].hint, strlen(d[i].hint)));
            assert(strlen(d[i].message) < PTC_MESSAGE_MAX && strlen(d[i].hint) > 0);
        }
        return;
    }
    assert(in->diags->count == 0);
    for (size_t i = 0; i < count; i++) {
        check_form(forms[i], from, (uint32_t)in->len, 0);
        from = forms[i]->last;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcMem mem;
    PtcPool pool;
    PtcBudget budget;
    PtcHeap heap;
    PtcArena arena;
    PtcDiags diags;
    ptc_mem_init(&mem, 8 << 20);
    ptc_pool_init(&pool, &mem);
    ptc_budget_init(&budget);
    ptc_heap_init(&heap, &pool, &budget, 4 << 20);
    ptc_arena_init(&arena, &mem);
    ptc_diags_init(&diags, &arena);
    PtcReader reader = {(const char *)data, size, &arena, &heap, &diags};
    PtcForm **forms;
    size_t count;
    bool ok = ptc_read(&reader, &forms, &count);
    check_answer(&reader, ok, forms, count);
    ptc_heap_deinit(&heap);
    ptc_arena_deinit(&arena);
    ptc_pool_deinit(&pool);
    assert(atomic_load(&mem.used) == 0);
    return 0;
}
