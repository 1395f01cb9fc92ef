/* SPDX-License-Identifier: MIT
 * Sessions: definitions that live on between runs, in a heap of their own.  That heap only grows; when it has doubled,
 * what is still bound is copied to a new one, and the old one goes when the last outcome that points into it does. */
#include "api/api_int.h"
#include "lisp/vm_int.h"
#include "value/copy.h"

#include <string.h>

enum { COMPACT_FIRST = 256 * 1024 };

PtcHeapBox *ptc_box_new(Ptc *ptc, size_t limit)
{
    PtcHeapBox *box = ptc_mem_alloc(&ptc->mem, sizeof *box);
    if (!box)
        return NULL;
    ptc_budget_start(ptc, &box->budget, ptc->limits.timeout_ms);
    ptc_heap_init(&box->heap, &ptc->pool, &box->budget, limit);
    return box;
}

void ptc_heap_retain(PtcHeap *heap)
{
    heap->refs++;
}

void ptc_heap_release(PtcHeap *heap)
{
    if (--heap->refs > 0)
        return;
    PtcMem *mem = heap->pool->mem;
    ptc_heap_deinit(heap);
    ptc_mem_free(mem, (PtcHeapBox *)(void *)heap, sizeof(PtcHeapBox));
}

PtcSession *ptc_session_new(Ptc *ptc)
{
    PtcSession *s = ptc ? ptc_mem_alloc(&ptc->mem, sizeof *s) : NULL;
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    s->ptc = ptc;
    s->compact_at = COMPACT_FIRST;
    ptc_names_init(&s->names, &ptc->mem);
    s->box = ptc_box_new(ptc, (size_t)ptc->limits.session_bytes);
    if (s->box)
        return s;
    ptc_mem_free(&ptc->mem, s, sizeof *s);
    return NULL;
}

void ptc_session_free(PtcSession *s)
{
    if (!s)
        return;
    PtcMem *mem = &s->ptc->mem;
    ptc_heap_release(&s->box->heap);
    ptc_names_deinit(&s->names);
    ptc_mem_free(mem, s->globals, s->global_cap * sizeof *s->globals);
    ptc_mem_free(mem, s, sizeof *s);
}

size_t ptc_session_bytes(const PtcSession *s)
{
    return s ? s->box->heap.used : 0;
}

size_t ptc_session_count(const PtcSession *s)
{
    size_t n = 0;
    for (size_t i = 0; s && i < s->names.count && i < s->global_cap; i++)
        n += s->globals[i] != PTC_UNBOUND;
    return n;
}

static bool room_for(PtcSession *s, size_t n)
{
    if (n <= s->global_cap)
        return true;
    size_t cap = s->global_cap ? s->global_cap : 16;
    while (cap < n)
        cap *= 2;
    PtcValue *p = ptc_mem_resize(&s->ptc->mem, s->globals, s->global_cap * sizeof *p, cap * sizeof *p);
    if (!p)
        return false;
    for (size_t i = s->global_cap; i < cap; i++)
        p[i] = PTC_UNBOUND;
    s->globals = p;
    s->global_cap = cap;
    return true;
}

/* Copies values[0..n) into the heap of `box`; results in place. */
static bool copy_all(PtcHeapBox *box, PtcValue *values, size_t n)
{
    PtcCopy copy;
    bool ok = true;
    ptc_copy_init(&copy, &box->heap);
    for (size_t i = 0; ok && i < n; i++)
        if (values[i] != PTC_UNBOUND)
            ok = (values[i] = ptc_copy_value(&copy, values[i])) != PTC_NONE;
    ptc_copy_deinit(&copy);
    return ok;
}

/* Moves what is bound to a new heap.  When that fails, the old one stays. */
static void compact(PtcSession *s)
{
    Ptc *ptc = s->ptc;
    size_t bytes = s->names.count * sizeof(PtcValue);
    PtcHeapBox *box = ptc_box_new(ptc, s->box->heap.limit);
    PtcValue *values = box ? ptc_mem_alloc(&ptc->mem, bytes ? bytes : 1) : NULL;
    if (values) {
        if (bytes)
            memcpy(values, s->globals, bytes);
        if (copy_all(box, values, s->names.count)) {
            if (bytes)
                memcpy(s->globals, values, bytes);
            PtcHeapBox *old = s->box;
            s->box = box;
            box = old;
        }
        ptc_mem_free(&ptc->mem, values, bytes ? bytes : 1);
    }
    if (box)
        ptc_heap_release(&box->heap);
    s->compact_at = s->box->heap.used * 2 > COMPACT_FIRST ? s->box->heap.used * 2 : COMPACT_FIRST;
}

static bool fail_commit(PtcSession *s, PtcVM *vm)
{
    if (s->box->budget.stop == PTC_STOP_MEMORY && !vm->failed) {
        vm->control = PTC_CONTROL_NONE;
        vm->failed = true;
        memset(&vm->error, 0, sizeof vm->error);
        vm->error.kind = PTC_E_MEMORY;
        ptc_diag_format(vm->error.message, sizeof vm->error.message,
                        "the session's definitions passed their limit of %lld bytes; none were kept",
                        (long long)s->box->heap.limit);
        ptc_diag_format(vm->error.hint, sizeof vm->error.hint, "def less data, or end the session");
        return false;
    }
    vm->budget.stop = s->box->budget.stop;
    vm->control = PTC_CONTROL_NONE;
    return ptc_vm_stopped(vm);
}

/* Compacts, and lets the run's unchanged values point to their new places. */
static void compact_for(PtcSession *s, PtcVM *vm, PtcValue *scratch)
{
    size_t n = s->names.count < vm->global_count ? s->names.count : vm->global_count;
    for (size_t i = 0; i < n; i++)
        scratch[i] = vm->globals[i] == s->globals[i] ? PTC_TRUE : PTC_FALSE;
    compact(s);
    for (size_t i = 0; i < n; i++)
        if (scratch[i] == PTC_TRUE)
            vm->globals[i] = s->globals[i];
}

/* The values are copied in a scratch array first: a failure leaves the session as it was. */
static bool commit_into(PtcSession *s, PtcVM *vm, PtcValue *scratch)
{
    size_t bytes = vm->global_count * sizeof *scratch;
    ptc_budget_start(s->ptc, &s->box->budget, vm->timeout_ms);
    if (bytes)
        memcpy(scratch, vm->globals, bytes);
    if (!copy_all(s->box, scratch, vm->global_count))
        return false;
    if (bytes)
        memcpy(s->globals, scratch, bytes);
    return true;
}

bool ptc_session_commit(PtcSession *s, PtcVM *vm)
{
    size_t bytes = (vm->global_count + 1) * sizeof(PtcValue);
    PtcValue *scratch = room_for(s, vm->global_count) ? ptc_mem_alloc(&s->ptc->mem, bytes) : NULL;
    if (!scratch) {
        s->box->budget.stop = PTC_STOP_MEMORY;
        return fail_commit(s, vm);
    }
    bool ok = commit_into(s, vm, scratch);
    if (!ok && s->box->budget.stop == PTC_STOP_MEMORY) {
        compact_for(s, vm, scratch);
        ok = commit_into(s, vm, scratch);
    }
    ptc_mem_free(&s->ptc->mem, scratch, bytes);
    if (!ok)
        return fail_commit(s, vm);
    if (s->box->heap.used > s->compact_at)
        compact(s);
    return true;
}
