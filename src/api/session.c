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
    PtcValue *p =
        ptc_mem_resize(&s->ptc->mem, s->globals, s->global_cap * sizeof *p, cap * sizeof *p);
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

/* Gives the session a new heap with copies of `values`, one for each name, instead of what it holds.  When that
 * fails, everything stays; *stop says why. */
static bool replace(PtcSession *s, const PtcValue *values, PtcStop *stop)
{
    Ptc *ptc = s->ptc;
    size_t n = s->names.count, bytes = (n + 1) * sizeof(PtcValue);
    PtcHeapBox *box = ptc_box_new(ptc, s->box->heap.limit);
    PtcValue *copies = box ? ptc_mem_alloc(&ptc->mem, bytes) : NULL;
    bool ok = false;
    *stop = PTC_STOP_MEMORY;
    if (copies) {
        for (size_t i = 0; i < n; i++)
            copies[i] = values[i];
        ok = copy_all(box, copies, n);
        *stop = box->budget.stop;
    }
    if (ok) {
        for (size_t i = 0; i < n; i++)
            s->globals[i] = copies[i];
        PtcHeapBox *old = s->box;
        s->box = box;
        box = old;
    }
    ptc_mem_free(&ptc->mem, copies, bytes);
    if (box)
        ptc_heap_release(&box->heap);
    s->compact_at = s->box->heap.used * 2 > COMPACT_FIRST ? s->box->heap.used * 2 : COMPACT_FIRST;
    return ok;
}

/* Moves what is bound to a new heap, so that the rest goes. */
static void compact(PtcSession *s)
{
    PtcStop stop;
    (void)replace(s, s->globals, &stop);
}

static bool fail_commit(PtcSession *s, PtcVM *vm, PtcStop stop)
{
    if (stop == PTC_STOP_MEMORY && !vm->failed) {
        vm->control = PTC_CONTROL_NONE;
        vm->failed = true;
        memset(&vm->error, 0, sizeof vm->error);
        vm->error.kind = PTC_E_MEMORY;
        ptc_diag_format(
            vm->error.message, sizeof vm->error.message,
            "the session's definitions passed their limit of %lld bytes; none were kept",
            (long long)s->box->heap.limit);
        ptc_diag_format(vm->error.hint, sizeof vm->error.hint, "def less data, or end the session");
        return false;
    }
    vm->budget.stop = stop;
    vm->control = PTC_CONTROL_NONE;
    return ptc_vm_stopped(vm);
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

bool ptc_session_commit(PtcSession *s, PtcVM *vm, PtcOutcome *o)
{
    if (!ptc_outcome_note_changes(o, s, vm))
        return fail_commit(s, vm, PTC_STOP_MEMORY);
    size_t bytes = (vm->global_count + 1) * sizeof(PtcValue);
    PtcValue *scratch = room_for(s, vm->global_count) ? ptc_mem_alloc(&s->ptc->mem, bytes) : NULL;
    if (!scratch)
        return fail_commit(s, vm, PTC_STOP_MEMORY);
    bool ok = commit_into(s, vm, scratch);
    PtcStop stop = s->box->budget.stop;
    ptc_mem_free(&s->ptc->mem, scratch, bytes);
    if (!ok && stop == PTC_STOP_MEMORY) /* without what the run let go of, it may fit */
        ok = replace(s, vm->globals, &stop);
    if (!ok)
        fail_commit(s, vm, stop);
    if (!ok || s->box->heap.used > s->compact_at) /* a failure leaves what was copied before it */
        compact(s);
    return ok;
}
