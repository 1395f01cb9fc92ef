/* SPDX-License-Identifier: MIT
 * Walking and taking parts of sequences, for all files of builtins that do so.  What always holds: every element that
 * is walked ticks, and parts share with the whole. */
#include "lisp/lazy/seq_int.h"

#include <math.h>

#include "lisp/compile/live.h"
#include "lisp/lazy/produce.h"
#include "lisp/vm/vm_int.h"

const char *ptc_walk(PtcVM *vm, const PtcValue *argv, int i)
{
    const char *outer = vm->endless;
    if (PTC_UNLIKELY(ptc_seq_endless(argv[i]))) {
        vm->endless = ptc_builtin_row(vm->running)->name;
        ptc_live_release(vm, argv, i);
    }
    return outer;
}

bool ptc_fail_endless(PtcVM *vm, int i)
{
    ptc_fail_here(vm, PTC_E_VALUE, "argument %d is a sequence without end", i + 1);
    vm->lazy_refused = vm->failed; /* if it is lazy, it is computed, and the builtin run again */
    return ptc_fail_hint(vm, "all of it would be needed: cut it first with (take n coll)");
}

bool ptc_fail_too_long(PtcVM *vm)
{
    return ptc_budget_exceed(&vm->budget, PTC_STOP_SIZE,
                             "a collection may not have more elements than", PTC_ENDLESS - 1);
}

/* The next element of a cursor, which ticks itself. */
static bool pull(PtcVM *vm, PtcIter *it, PtcValue *x)
{
    int got = ptc_cursor_next(vm, it->coll, x);
    it->failed = got < 0;
    return got > 0;
}

bool ptc_each_slow(PtcVM *vm, PtcIter *it, PtcValue *x)
{
    if (PTC_UNLIKELY(!it->heap))
        return pull(vm, it, x);
    if (it->at == it->chunk_end)
        ptc_fuel_use(&vm->budget, 1);
    if ((ptc_fuel(&vm->budget) <= 0 || vm->budget.wake) && !ptc_vm_safepoint(vm)) {
        it->failed = true;
        return false;
    }
    size_t pos = it->pos;
    if (ptc_iter_next(it, x))
        return true;
    if (!it->failed || !ptc_recover(vm))
        return false;
    it->failed = false;
    it->pos = pos; /* only entries and graphemes need memory, and pos is all they move */
    return ptc_iter_next(it, x);
}

bool ptc_zip_init(PtcVM *vm, PtcZip *zip, int argc, const PtcValue *argv, int from, bool calls)
{
    zip->n = argc - from;
    zip->calls = calls;
    zip->failed = false;
    zip->its = zip->few;
    if (zip->n > (int)(sizeof zip->few / sizeof zip->few[0]))
        zip->its = ptc_vm_scratch(vm, (size_t)zip->n * sizeof *zip->its);
    bool ok = zip->its != NULL, endless = zip->n > 0;
    for (int i = from; ok && i < argc; i++) {
        ok = calls ? ptc_arg_pull(vm, argv, i, &zip->its[i - from])
                   : ptc_arg_iter(vm, argv, i, &zip->its[i - from]);
        endless = endless && ptc_seq_endless(argv[i]);
    }
    if (ok && endless)
        ok = ptc_fail_endless(vm, from);
    if (!ok)
        ptc_zip_deinit(vm, zip);
    return ok;
}

void ptc_zip_deinit(PtcVM *vm, PtcZip *zip)
{
    if (zip->its != zip->few)
        ptc_heap_scratch_free(vm->heap, zip->its, (size_t)zip->n * sizeof *zip->its);
    zip->its = zip->few;
}

bool ptc_zip_next(PtcVM *vm, PtcZip *zip, PtcValue *row)
{
    for (int i = 0; i < zip->n; i++) {
        PtcIter *it = &zip->its[i];
        if (zip->calls ? ptc_each(vm, it, &row[i]) : ptc_next(vm, it, &row[i]))
            continue;
        zip->failed = it->failed;
        return false;
    }
    return zip->n > 0;
}

bool ptc_arg_pull(PtcVM *vm, const PtcValue *argv, int i, PtcIter *it)
{
    if (PTC_UNLIKELY(ptc_is_producer(argv[i])))
        return ptc_cursor_iter(vm, argv[i], PTC_NIL, it);
    return ptc_arg_iter(vm, argv, i, it);
}

bool ptc_arg_all(PtcVM *vm, const PtcValue *argv, int i, PtcIter *it)
{
    if (PTC_UNLIKELY(ptc_seq_endless(argv[i])))
        return ptc_fail_endless(vm, i);
    return ptc_arg_iter(vm, argv, i, it);
}

bool ptc_arg_n(PtcVM *vm, const PtcValue *argv, int i, size_t *n)
{
    if (PTC_LIKELY(ptc_is_int(argv[i]))) {
        int64_t k = ptc_to_int(argv[i]);
        *n = k < 0 ? 0 : (size_t)k;
        return true;
    }
    double d;
    if (!ptc_arg_double(vm, argv, i, &d))
        return false;
    *n = !(d > 0) ? 0 : d >= 4e18 ? PTC_UNBOUNDED : (size_t)ceil(d);
    return true;
}

PtcValue ptc_seq_copy(PtcVM *vm, PtcIter *it, int flags)
{
    PtcValue x, b = ptc_build_new(vm->heap);
    if (b == PTC_NONE)
        return b;
    while (ptc_next(vm, it, &x))
        if (!ptc_build_add(vm->heap, b, x))
            return PTC_NONE;
    return ptc_iter_end(it) ? ptc_build_done(vm->heap, b, flags) : PTC_NONE;
}

PtcValue ptc_arg_seq(PtcVM *vm, const PtcValue *argv, int i)
{
    PtcIter it;
    if (PTC_LIKELY(ptc_is_sequential(argv[i])))
        return argv[i];
    return ptc_arg_iter(vm, argv, i, &it) ? ptc_seq_copy(vm, &it, PTC_SEQ) : PTC_NONE;
}

PtcValue ptc_arg_finite(PtcVM *vm, const PtcValue *argv, int i)
{
    if (!ptc_seq_endless(argv[i]))
        return ptc_arg_seq(vm, argv, i);
    ptc_fail_endless(vm, i);
    return PTC_NONE;
}

PtcValue ptc_seq_prepend(PtcVM *vm, PtcValue x, PtcValue seq)
{
    if (ptc_is_producer(seq))
        return ptc_producer_cons(vm, x, seq);
    if (seq == PTC_NIL || ptc_seq_count(seq) == 0)
        return ptc_vec_new(vm->heap, &x, 1, PTC_SEQ);
    return ptc_cons_new(vm->heap, x, seq);
}

PtcValue ptc_seq_flat(PtcVM *vm, PtcValue seq)
{
    PtcIter it;
    if (!ptc_is(seq, PTC_T_CONS) || ptc_seq_endless(seq) || !ptc_iter_init(&it, vm->heap, seq))
        return seq;
    return ptc_seq_copy(vm, &it, PTC_SEQ);
}

bool ptc_root_seq(PtcVM *vm, const PtcValue *argv, int i, bool finite, PtcValue *slot)
{
    for (int tries = 0; tries < 2; tries++) {
        PtcValue seq = finite ? ptc_arg_finite(vm, argv, i) : ptc_arg_seq(vm, argv, i);
        if (seq != PTC_NONE)
            seq = ptc_seq_flat(vm, seq);
        if (seq != PTC_NONE) {
            *slot = seq;
            return true;
        }
        if (!ptc_recover(vm))
            return false;
    }
    return false;
}

void *ptc_vm_scratch(PtcVM *vm, size_t bytes)
{
    return ptc_heap_scratch(vm->heap, NULL, 0, bytes);
}

bool ptc_items_init(PtcVM *vm, PtcItems *items, PtcIter *it)
{
    items->n = 0;
    items->cap = ptc_iter_hint(it) + 1;
    items->at = ptc_vm_scratch(vm, items->cap * sizeof *items->at);
    if (!items->at)
        return false;
    while (items->n < items->cap && ptc_next(vm, it, &items->at[items->n]))
        items->n++;
    if (ptc_iter_end(it))
        return true;
    ptc_items_deinit(vm, items);
    return false;
}

void ptc_items_deinit(PtcVM *vm, PtcItems *items)
{
    ptc_heap_scratch_free(vm->heap, items->at, items->cap * sizeof *items->at);
    items->at = NULL;
}

PtcValue ptc_seq_skip(PtcVM *vm, PtcValue seq, size_t *n)
{
    for (; *n > 0 && ptc_is(seq, PTC_T_CONS); --*n) {
        if (!ptc_tick(&vm->budget, 1))
            return PTC_NONE;
        seq = ((PtcCons *)(uintptr_t)seq)->rest;
    }
    return seq;
}

static PtcValue drop_endless(PtcVM *vm, PtcValue seq, size_t n)
{
    seq = ptc_seq_skip(vm, seq, &n);
    if (seq == PTC_NONE || n == 0)
        return seq;
    const PtcRange *r = (const PtcRange *)(uintptr_t)seq;
    int64_t far;
    if (__builtin_mul_overflow((int64_t)n, r->step, &far) ||
        __builtin_add_overflow(far, r->start, &far) || far > PTC_INT_MAX / 2 ||
        far < PTC_INT_MIN / 2) {
        ptc_fail_too_long(vm);
        return PTC_NONE;
    }
    return ptc_range_new(vm->heap, far, r->step, r->obj.count);
}

PtcValue ptc_seq_drop(PtcVM *vm, PtcValue seq, size_t n)
{
    size_t count = ptc_seq_count(seq);
    if (PTC_UNLIKELY(ptc_seq_endless(seq)))
        return ptc_is_producer(seq) ? ptc_producer_drop(vm, seq, n) : drop_endless(vm, seq, n);
    if (n >= count)
        return ptc_vec_new(vm->heap, NULL, 0, PTC_SEQ);
    return ptc_seq_slice(vm->heap, seq, n, count - n, PTC_SEQ);
}

PtcValue ptc_seq_take(PtcVM *vm, PtcValue seq, size_t n)
{
    size_t count = ptc_seq_count(seq);
    if (n >= count && ptc_seq_endless(seq))
        return seq;
    return ptc_seq_slice(vm->heap, seq, 0, n < count ? n : count, PTC_SEQ);
}
