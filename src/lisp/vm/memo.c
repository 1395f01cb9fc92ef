/* SPDX-License-Identifier: MIT
 * The table is under its lock, which is held while values are copied.  Entries stay until the pmap ends; one without a
 * value and without a caller is free for the next who asks. */
#include "lisp/vm/memo.h"

#include <time.h>

#include "base/os/cond.h"
#include "lisp/parallel/crew_int.h"
#include "lisp/vm/builtin.h"
#include "value/copy.h"

enum { MEMO_WAIT_MS = 4, FIRST_ENTRIES = 16 };

typedef struct MemoEntry {
    uint32_t hash;
    const PtcVM *by; /* who is calling it; or NULL */
    PtcValue f;      /* of a heap that is older than the pmap */
    PtcValue args;   /* these two are in the table's heap */
    PtcValue value;  /* or PTC_NONE */
} MemoEntry;

struct PtcMemo {
    PtcMem *mem;
    const PtcCrewJob *job;
    /* It guards everything below.  The threads of the job take it to look up and to store, not while a function runs.
     * Copying into the heap takes the lock of the pool inside. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a call has ended */
    PtcBudget budget;       /* of the heap; never runs out of time */
    PtcHeap heap;
    MemoEntry *entries;
    size_t count, cap;
    uint32_t *table; /* twice as many places: number of an entry plus 1, or 0 */
};

/* -------------------------------------------------------------------------- one VM's own */

PtcValue ptc_memo_recall(PtcVM *vm, PtcValue f, PtcValue args)
{
    PtcValue own = vm->memo == PTC_NIL ? PTC_NONE : ptc_map_get(vm->heap, vm->memo, f);
    return own == PTC_NONE ? own : ptc_map_get(vm->heap, own, args);
}

bool ptc_memo_remember(PtcVM *vm, PtcValue f, PtcValue args, PtcValue result)
{
    PtcValue all = vm->memo == PTC_NIL ? ptc_map_empty(vm->heap) : vm->memo;
    if (all == PTC_NONE)
        return false;
    PtcValue own = ptc_map_get(vm->heap, all, f);
    own = own == PTC_NONE ? ptc_map_empty(vm->heap) : own;
    own = own == PTC_NONE ? own : ptc_map_assoc(vm->heap, own, args, result);
    all = own == PTC_NONE ? own : ptc_map_assoc(vm->heap, all, f, own);
    if (all == PTC_NONE)
        return false;
    vm->memo = all;
    return true;
}

/* ------------------------------------------------------------------------------ a table */

static PtcMemo *new_memo(const PtcCrewJob *job)
{
    PtcMem *mem = job->model.mem;
    PtcMemo *memo = ptc_mem_alloc(mem, sizeof *memo);
    if (!memo)
        return NULL;
    memset(memo, 0, sizeof *memo);
    memo->mem = mem;
    memo->job = job;
    pthread_mutex_init(&memo->lock, NULL);
    ptc_cond_init(&memo->changed);
    ptc_budget_init(&memo->budget);
    ptc_heap_init(&memo->heap, job->model.heap->pool, &memo->budget, job->model.heap->limit);
    ptc_account_share(&memo->heap, job->account);
    return memo;
}

static void free_memo(PtcMemo *memo)
{
    ptc_heap_scratch_free(&memo->heap, memo->entries, memo->cap * sizeof *memo->entries);
    ptc_heap_scratch_free(&memo->heap, memo->table, 2 * memo->cap * sizeof *memo->table);
    ptc_heap_deinit(&memo->heap);
    pthread_cond_destroy(&memo->changed);
    pthread_mutex_destroy(&memo->lock);
    ptc_mem_free(memo->mem, memo, sizeof *memo);
}

/* The table of the outermost pmap in which f is not made anew; NULL: f belongs to this item alone, or out of memory. */
static PtcMemo *memo_table_of(PtcVM *vm, PtcValue f)
{
    PtcCrewJob *job = NULL;
    if (vm->servers) /* which item makes a call must not depend on who is first: it has to repeat */
        return NULL;
    const PtcHeap *owner = ptc_is_obj(f) ? ptc_page_of(f)->heap : NULL;
    for (PtcSeat *s = vm->seat; s && owner != &s->heap; s = s->job->model.seat)
        job = s->job;
    if (!job)
        return NULL;
    pthread_mutex_lock(&job->crew->lock);
    if (!job->memo)
        job->memo = new_memo(job);
    PtcMemo *memo = job->memo;
    pthread_mutex_unlock(&job->crew->lock);
    return memo;
}

/* Where an entry is noted, or a free place for it. */
static uint32_t *memo_entry_place(const PtcMemo *memo, PtcVM *vm, uint32_t hash, PtcValue f,
                                  PtcValue args)
{
    size_t mask = 2 * memo->cap - 1, at = hash & mask;
    for (; memo->table[at] && ptc_tick(&vm->budget, 1); at = (at + 1) & mask) {
        const MemoEntry *e = &memo->entries[memo->table[at] - 1];
        if (e->hash == hash && e->f == f && (args == e->args || ptc_same(vm->heap, e->args, args)))
            break;
    }
    return &memo->table[at];
}

static bool grow_memo(PtcMemo *memo)
{
    size_t old = memo->cap, cap = old ? 2 * old : FIRST_ENTRIES;
    PtcHeap *heap = &memo->heap;
    uint32_t *table = ptc_heap_scratch(heap, NULL, 0, 2 * cap * sizeof *table);
    bool ok = table && PTC_GROW_SCRATCH(heap, &memo->entries, &memo->cap, cap);
    memo->budget.stop = PTC_STOP_NONE; /* when it is full, it takes no more: that is all */
    if (!ok) {
        ptc_heap_scratch_free(heap, table, 2 * cap * sizeof *table);
        return false;
    }
    memset(table, 0, 2 * cap * sizeof *table);
    for (size_t i = 0; i < memo->count; i++) {
        size_t at = memo->entries[i].hash & (2 * cap - 1);
        while (table[at])
            at = (at + 1) & (2 * cap - 1);
        table[at] = (uint32_t)i + 1;
    }
    ptc_heap_scratch_free(heap, memo->table, 2 * old * sizeof *table);
    memo->table = table;
    return true;
}

/* A copy in the table's heap; PTC_NONE also for what holds an atom: each item that asks for it has to get one of its
 * own, since who would be first, and could change it, is not known.  Values of a pmap inside of the table's own may lie
 * in the heaps of several seats, which go one after the other: of those everything is copied. */
static PtcValue copy_into_memo(PtcMemo *memo, PtcVM *vm, PtcValue v)
{
    PtcCopy copy;
    ptc_copy_init(&copy, &memo->heap);
    copy.from = vm->seat->job == memo->job ? vm->heap : NULL;
    PtcValue copied = ptc_copy_value(&copy, v);
    ptc_copy_deinit(&copy);
    memo->budget.stop = PTC_STOP_NONE; /* when it is full, it takes no more: that is all */
    return copy.own ? PTC_NONE : copied;
}

static PtcValue copy_out_of_memo(PtcMemo *memo, PtcVM *vm, PtcValue v)
{
    PtcCopy copy;
    ptc_copy_init(&copy, vm->heap);
    copy.from = &memo->heap;
    PtcValue copied = ptc_copy_value(&copy, v);
    ptc_copy_deinit(&copy);
    return copied;
}

/* --------------------------------------------------------------------------------- calls */

/* The entry for a call, made if need be; NULL: there is no room for it, or the budget stopped. */
static MemoEntry *find_memo_entry(PtcMemo *memo, PtcVM *vm, uint32_t hash, PtcValue f,
                                  PtcValue args)
{
    if (memo->count == memo->cap && !grow_memo(memo))
        return NULL;
    uint32_t *place = memo_entry_place(memo, vm, hash, f, args);
    if (vm->budget.stop != PTC_STOP_NONE)
        return NULL;
    if (*place == 0) {
        PtcValue copied = copy_into_memo(memo, vm, args);
        if (copied == PTC_NONE)
            return NULL;
        memo->entries[memo->count++] = (MemoEntry){hash, NULL, f, copied, PTC_NONE};
        *place = (uint32_t)memo->count;
    }
    return &memo->entries[*place - 1];
}

/* Waits until a call has ended, but only for a moment at a time, so that a cancel is noticed soon.  Waiting does
 * not count as computing. */
static bool wait_for_change(PtcMemo *memo, PtcVM *vm)
{
    PtcBudget *b = &vm->budget;
    int64_t before = b->clock_ns(b->clock_user);
    (void)ptc_cond_wait_ms(&memo->changed, &memo->lock, MEMO_WAIT_MS);
    int64_t waited = b->clock_ns(b->clock_user) - before;
    if (b->compute_end_ns < INT64_MAX - waited)
        b->compute_end_ns += waited;
    return ptc_budget_look_waiting(b);
}

/* With the lock held. */
static PtcMemoAnswer ask_memo(PtcMemo *memo, PtcVM *vm, uint32_t hash, PtcValue f, PtcValue args,
                              PtcMemoCall *pending, PtcValue *result)
{
    for (;;) {
        MemoEntry *e = find_memo_entry(memo, vm, hash, f, args);
        if (vm->budget.stop != PTC_STOP_NONE)
            return PTC_MEMO_STOPPED;
        if (!e || e->by == vm) /* a function that calls itself with the same arguments has no end */
            return PTC_MEMO_CALL;
        if (e->value != PTC_NONE) {
            PtcValue v = copy_out_of_memo(memo, vm, e->value);
            if (v != PTC_NONE)
                *result = v;
            return v == PTC_NONE ? PTC_MEMO_STOPPED : PTC_MEMO_HIT;
        }
        if (!e->by) {
            e->by = vm;
            *pending = (PtcMemoCall){memo, (size_t)(e - memo->entries)};
            return PTC_MEMO_CALL;
        }
        if (!wait_for_change(memo, vm))
            return PTC_MEMO_STOPPED;
    }
}

static PtcMemoAnswer ask_table(PtcMemo *memo, PtcVM *vm, PtcValue f, PtcValue args,
                               PtcMemoCall *pending, PtcValue *result)
{
    uint32_t hash = ptc_hash(vm->heap, args) ^ (uint32_t)(f >> 4);
    if (vm->budget.stop != PTC_STOP_NONE)
        return PTC_MEMO_STOPPED;
    pthread_mutex_lock(&memo->lock);
    PtcMemoAnswer answer = ask_memo(memo, vm, hash, f, args, pending, result);
    pthread_mutex_unlock(&memo->lock);
    return answer;
}

PtcMemoAnswer ptc_memo_begin(PtcVM *vm, PtcValue f, PtcValue args, PtcMemoCall *pending,
                             PtcValue *result)
{
    *pending = (PtcMemoCall){0};
    PtcMemo *memo = memo_table_of(vm, f);
    if (!memo)
        return PTC_MEMO_CALL;
    PtcMemoAnswer answer = ask_table(memo, vm, f, args, pending, result);
    if (answer == PTC_MEMO_STOPPED && ptc_recover(vm))
        answer = ask_table(memo, vm, f, args, pending, result);
    return answer;
}

void ptc_memo_end(PtcVM *vm, const PtcMemoCall *pending, PtcValue result)
{
    PtcMemo *memo = pending->memo;
    if (!memo)
        return;
    pthread_mutex_lock(&memo->lock);
    MemoEntry *e = &memo->entries[pending->entry];
    e->by = NULL;
    if (result != PTC_NONE)
        e->value = copy_into_memo(memo, vm, result);
    pthread_cond_broadcast(&memo->changed);
    pthread_mutex_unlock(&memo->lock);
}

void ptc_memo_absorb(PtcMemo *memo, PtcVM *vm)
{
    if (!memo)
        return;
    PtcStop before = vm->budget.stop;
    for (size_t i = 0; i < memo->count; i++) {
        const MemoEntry *e = &memo->entries[i];
        PtcValue args = e->value == PTC_NONE ? PTC_NONE : copy_out_of_memo(memo, vm, e->args);
        PtcValue value = args == PTC_NONE ? PTC_NONE : copy_out_of_memo(memo, vm, e->value);
        if (value != PTC_NONE && !ptc_memo_remember(vm, e->f, args, value))
            break;
    }
    if (before == PTC_STOP_NONE && vm->budget.stop == PTC_STOP_MEMORY)
        vm->budget.stop = PTC_STOP_NONE; /* what is not remembered is called again */
    free_memo(memo);
}
