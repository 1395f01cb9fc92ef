/* SPDX-License-Identifier: MIT
 * One pmap from its caller's side: begins the job, works on it, waits for the helpers, merges what all did. */
#include "lisp/parallel/crew_int.h"

#include "base/os/watch.h"
#include "lisp/number/random.h"
#include "lisp/vm/element.h"
#include "lisp/vm/notes.h"
#include "value/coll/map.h"
#include "value/copy.h"

#include <string.h>

enum {
    JOB_TICKS = 1000,        /* of beginning and ending a job, its items aside */
    GRACE_NS = 1000 * PTC_MS /* for merging, when the time of the run is over */
};

/* The lock also keeps a helper from a job that is about to go. */
static void close_crew_job(PtcCrewJob *job)
{
    PtcCrew *crew = job->crew;
    pthread_mutex_lock(&crew->lock);
    if (atomic_load(&job->offered)) {
        PtcCrewJob **at = &crew->jobs;
        while (*at && *at != job)
            at = &(*at)->next;
        if (*at)
            *at = job->next;
    }
    while (job->busy > 0)
        pthread_cond_wait(&crew->done, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

static int64_t add_time_capped(int64_t a, int64_t b)
{
    return b > 0 && a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* All worked at the same time: the program has used what the slowest seat has.  Waiting is not computing, and what does
 * not count for a seat does not count for the program. */
static void settle_time(const PtcCrewJob *job, PtcVM *vm)
{
    PtcBudget *b = &vm->budget;
    int64_t compute = INT64_MAX, wait = INT64_MAX, now = b->clock_ns(b->clock_user);
    for (const PtcSeat *s = job->seats; s; s = s->next) {
        compute = s->compute_ns < compute ? s->compute_ns : compute;
        wait = s->wait_ns < wait ? s->wait_ns : wait;
    }
    b->compute_end_ns = add_time_capped(compute, now);
    b->deadline_ns = job->cut_ns == INT64_MAX
                         ? INT64_MAX
                         : add_time_capped(add_time_capped(wait, now), job->cut_ns);
    b->pmap_ms = job->model.budget.pmap_ms;
}

static void give_back_vm(const PtcCrewJob *job, PtcVM *vm)
{
    const PtcVM *m = &job->model;
    vm->heap = m->heap;
    vm->globals = m->globals;
    vm->budget.cancel = m->budget.cancel;
    vm->seat = m->seat;
    vm->may_stop = m->may_stop;
    vm->defined = m->defined;
    vm->memo = m->memo;
    vm->journal = m->journal;
    vm->summaries = m->summaries;
    vm->loops_left = m->loops_left;
    vm->random = ptc_random_of(m->random, UINT64_MAX - 1); /* whichever items this thread did */
    vm->call_path = m->call_path;
    vm->call_count = m->call_count + 1; /* the pmap counts as one */
    vm->prints = m->prints;
    vm->log = m->log;
    vm->warnings = m->warnings;
}

/* ----------------------------------------------------------------------------- merging */

static bool merge_prints(PtcVM *vm, const PtcItem *item)
{
    const PtcSeat *seat = item->seat;
    size_t end = item->first_print + item->print_count;
    for (size_t k = item->first_print; k < end; k++) {
        PtcText line = ptc_prints_line(&seat->prints, k);
        if (!ptc_vm_print(vm, line.bytes, line.len, k + 1 < end || !item->prints_open))
            return false;
    }
    vm->prints.cut = vm->prints.cut || item->prints_cut;
    return true;
}

/* Of all items, also those that were cancelled because one below them failed: what they did was done. */
static bool merge_journals(const PtcCrewJob *job, PtcVM *vm)
{
    const PtcValue *journals = job->values + job->n;
    for (size_t i = 0; i < job->n; i++)
        if (!ptc_notes_merge(vm, &vm->journal, job->model.journal.all, journals[i]))
            return false;
    return true;
}

static bool merge_item(PtcCrewJob *job, PtcVM *vm, size_t i)
{
    const PtcItem *item = &job->items[i];
    const PtcValue *summaries = job->values + 2 * job->n;
    if (!item->seat)
        return true;
    if (i > job->lowest) /* cancelled: its effects outside are reported, its result is not */
        return true;
    vm->loops_left -= item->loops;
    ptc_warnings_merge(&vm->warnings, vm->mem, &item->seat->warnings, item->first_warning,
                       item->warning_count);
    return ptc_notes_merge(vm, &vm->summaries, job->model.summaries.all, summaries[i]) &&
           merge_prints(vm, item);
}

/* No limit ends this: what was done outside must be known. */
static void merge_calls(const PtcCrewJob *job, PtcVM *vm)
{
    for (const PtcItem *item = job->items; item < job->items + job->n; item++) {
        if (!item->seat)
            continue;
        ptc_log_move(&vm->log, vm->mem, &item->seat->log, item->first_call, item->call_count,
                     item->call_total);
        ptc_writes_move(&vm->log.writes, vm->mem, &item->seat->log.writes, item->first_write,
                        item->write_count, item->write_total);
    }
}

static bool merge_items(PtcCrewJob *job, PtcVM *vm)
{
    merge_calls(job, vm);
    if (!merge_journals(job, vm))
        return false;
    for (size_t i = 0; i < job->n; i++)
        if (!ptc_tick(&vm->budget, 1) || !merge_item(job, vm, i))
            return false;
    if (vm->loops_left >= 0 || job->lowest < job->n)
        return true;
    vm->loops_left = 0;
    return ptc_budget_halt(&vm->budget, PTC_STOP_LOOP);
}

/* Makes the failure of the lowest item that of the whole; its values are in the VM already. */
static bool report_lowest_failure(const PtcCrewJob *job, PtcVM *vm)
{
    const PtcSeat *seat = job->items[job->lowest].seat;
    vm->failed = true;
    vm->error = seat->error;
    if (vm->error.about_nil && job->f != PTC_NONE)
        ptc_element_tell(vm, "pmap", job->lowest,
                         ptc_seq_nth(job->rows, job->lowest * (size_t)job->width));
    if (seat->stop == PTC_STOP_NONE)
        return false;
    vm->budget.what = seat->what;
    vm->budget.limit = seat->limit;
    return ptc_budget_halt(&vm->budget, seat->stop);
}

/* A vector of the values, after a collection if need be. */
static bool gather_item_values(const PtcCrewJob *job, PtcVM *vm, PtcValue *out)
{
    *out = PTC_RETRY(vm, ptc_vec_new(vm->heap, job->values, job->n, PTC_SEQ));
    return *out != PTC_NONE;
}

/* ------------------------------------------------------------------------------- heaps */

static bool move_value(PtcCopy *copy, PtcValue *v)
{
    PtcValue moved = ptc_is_obj(*v) ? ptc_copy_value(copy, *v) : *v;
    if (moved == PTC_NONE && *v != PTC_NONE)
        return false;
    *v = moved;
    return true;
}

/* What a seat has made, copied into the VM's heap.  False: it is not all there. */
static bool move_values(PtcCrewJob *job, PtcSeat *s, PtcCopy *copy)
{
    bool ok = move_value(copy, &s->error_value) && move_value(copy, &s->error_source);
    for (size_t at = s->last; ok && at > 0; at = job->items[at - 1].before)
        for (size_t k = 0; ok && k < 3; k++)
            ok = move_value(copy, &job->values[k * job->n + at - 1]);
    for (size_t i = s->log.settled; ok && i < s->log.count; i++)
        ok = move_value(copy, &s->log.items[i].args) && move_value(copy, &s->log.items[i].result);
    PtcWrites *writes = &s->log.writes;
    for (size_t i = writes->settled; ok && i < writes->count; i++)
        ok = move_value(copy, &writes->items[i].args) && move_value(copy, &writes->items[i].result);
    return ok;
}

/* Bytes of pages with one object each, which would be no denser elsewhere. */
static size_t large_bytes(const PtcHeap *heap)
{
    size_t n = 0;
    for (const PtcPage *p = heap->large; p; p = p->next)
        n += p->bytes;
    return n;
}

/* Pages that are nearly empty are not taken over: they would add up with every pmap. */
static bool evacuate(PtcCrewJob *job, PtcSeat *s, PtcVM *vm)
{
    PtcCopy copy;
    if (s->heap.live > s->heap.page_bytes / 4 * 3 || large_bytes(&s->heap) > s->heap.page_bytes / 2)
        return false;
    ptc_copy_init(&copy, vm->heap);
    copy.from = &s->heap;
    bool ok = move_values(job, s, &copy);
    ptc_copy_deinit(&copy);
    if (vm->budget.stop == PTC_STOP_MEMORY)
        vm->budget.stop = PTC_STOP_NONE; /* there was no room: the pages are taken over instead */
    return ok;
}

/* Copying takes time, and there may be none left. */
static void take_heaps(PtcCrewJob *job, PtcVM *vm, bool late)
{
    for (PtcSeat *s = job->seats; s; s = s->next) {
        ptc_heap_take_raised(vm->heap, &s->heap);
        if (!late && evacuate(job, s, vm))
            ptc_heap_deinit(&s->heap);
        else
            ptc_heap_adopt(vm->heap, &s->heap);
    }
}

/* From here on a collection keeps what is to be merged. */
static void keep_values(PtcCrewJob *job, PtcVM *vm)
{
    PtcValue *more = job->values + 3 * job->n;
    more[0] = job->model.journal.all;
    more[1] = job->model.summaries.all;
    vm->kept = job->values;
    vm->kept_count = 3 * job->n + PTC_JOB_MORE;
    if (job->lowest < job->n) {
        vm->error_value = job->items[job->lowest].seat->error_value;
        vm->error_source = job->items[job->lowest].seat->error_source;
    }
}

/* The caller's heap, after share_room. */
static void work_again(PtcCrewJob *job)
{
    if (job->account != &job->own)
        atomic_fetch_add_explicit(&job->account->heaps, 1, memory_order_relaxed);
}

/* While values are copied they exist twice, and both copies count. */
static void take_over_seats(PtcCrewJob *job, PtcVM *vm, bool late)
{
    bool outermost = job->account == &job->own;
    if (outermost)
        ptc_account_join(vm->heap, job->account);
    work_again(job);
    take_heaps(job, vm, late);
    keep_values(job, vm);
    ptc_memo_absorb(job->memo, vm);
    if (outermost)
        ptc_account_part(vm->heap);
}

static void free_seats(PtcCrewJob *job)
{
    while (job->seats) {
        PtcSeat *s = job->seats;
        job->seats = s->next;
        ptc_seat_free(s);
        if (s != &job->first)
            ptc_mem_free(job->model.mem, s, sizeof *s);
    }
}

static bool is_budget_late(const PtcBudget *b)
{
    return b->stop == PTC_STOP_TIMEOUT || b->stop == PTC_STOP_DEADLINE;
}

/* When time has run out for an item, it has for the caller as well, and a run may have been cancelled.  What tasks did
 * is merged all the same: a little later than the run should end, but not later with every pmap around this one. */
static bool collect_work(PtcCrewJob *job, PtcVM *vm)
{
    PtcBudget *b = &vm->budget;
    int64_t compute_end = b->compute_end_ns, deadline = b->deadline_ns, hard = b->hard_ns;
    int64_t now = b->clock_ns(b->clock_user);
    const PtcCancel *cancel = b->cancel;
    b->compute_end_ns = add_time_capped(compute_end, GRACE_NS);
    b->deadline_ns = add_time_capped(deadline, GRACE_NS);
    b->hard_ns = add_time_capped(hard, GRACE_NS);
    b->cancel = NULL;
    take_over_seats(job, vm, now >= compute_end || now >= deadline || ptc_cancelled(cancel));
    bool ok = merge_items(job, vm);
    ptc_watch_pause(b); /* it may have seen the later ends */
    b->compute_end_ns = compute_end;
    b->deadline_ns = deadline;
    b->hard_ns = hard;
    b->cancel = cancel;
    return ok;
}

/* If there was no time to merge all of it, an item that failed still says where. */
static bool finish_crew_job(PtcCrewJob *job, PtcVM *vm, PtcValue *out)
{
    ptc_seat_leave(&job->first);
    close_crew_job(job);
    settle_time(job, vm);
    give_back_vm(job, vm);
    bool ok = collect_work(job, vm);
    if (!ok && job->lowest < job->n && is_budget_late(&vm->budget)) {
        vm->budget.stop = PTC_STOP_NONE;
        ok = report_lowest_failure(job, vm);
    } else if (!ok) {
        vm->error_value = vm->error_source = PTC_NIL;
    } else if (atomic_load(
                   &job->aside)) { /* results and errors of the items count in the next run */
        ok = ptc_budget_halt(&vm->budget, PTC_STOP_ASIDE);
    } else {
        ok = job->lowest < job->n ? report_lowest_failure(job, vm)
                                  : gather_item_values(job, vm, out);
    }
    vm->kept_count = 0;
    free_seats(job);
    return ok;
}

/* --------------------------------------------------------------------------- beginning */

/* All threads take from one account, which a pmap inside of another shares.  Garbage of the caller would stand beside
 * what they make for as long as the job takes.  The caller's own heap does not work meanwhile, so nobody waits for
 * it. */
static void share_room(PtcCrewJob *job, PtcVM *vm)
{
    PtcHeap *heap = vm->heap;
    if (heap->used - heap->live > heap->limit / 16 && !vm->held)
        ptc_vm_collect(vm);
    job->account = heap->account ? heap->account : &job->own;
    if (job->account == &job->own)
        ptc_account_open(&job->own, heap);
    else {
        ptc_account_rest(heap);
        atomic_fetch_sub_explicit(&job->account->heaps, 1, memory_order_relaxed);
    }
}

/* The job's own limit, if it ends before the deadline that is there. */
static void limit_time(PtcCrewJob *job, PtcVM *vm, int64_t now)
{
    PtcBudget *b = &vm->budget;
    bool limited = vm->pmap_ms > 0 && vm->pmap_ms < INT64_MAX / PTC_MS;
    int64_t end = limited ? add_time_capped(now, vm->pmap_ms * PTC_MS) : INT64_MAX;
    job->cut_ns = 0;
    if (end < b->deadline_ns) {
        job->cut_ns = b->deadline_ns == INT64_MAX ? INT64_MAX : b->deadline_ns - end;
        b->deadline_ns = end;
        b->pmap_ms = vm->pmap_ms;
    }
    job->pmap_ms = b->pmap_ms;
    int64_t left = b->deadline_ns == INT64_MAX ? INT64_MAX : b->deadline_ns - now;
    atomic_init(&job->wait_ns, left);
}

static void start_job(PtcCrewJob *job, PtcVM *vm)
{
    PtcBudget *b = &vm->budget;
    memset(job->items, 0, job->n * sizeof *job->items);
    for (size_t i = 0; i < 3 * job->n + PTC_JOB_MORE; i++)
        job->values[i] = PTC_NIL;
    share_room(job, vm);
    job->crew = vm->crew;
    ptc_watch_pause(b); /* a copy must not be watched */
    job->model = *vm;
    int64_t now = b->clock_ns(b->clock_user);
    job->compute_ns = b->compute_end_ns == INT64_MAX ? INT64_MAX : b->compute_end_ns - now;
    limit_time(job, vm, now);
    atomic_init(&job->offered, false);
    atomic_init(&job->aside, false);
    job->next_item = 0;
    job->lowest = job->n;
    job->seat_count = 1;
    job->busy = 0;
    job->next = NULL;
    job->seats = NULL;
    job->memo = NULL;
}

static bool run_crew_job(PtcCrewJob *job, PtcVM *vm, PtcValue *out)
{
    start_job(job, vm);
    if (!ptc_seat_take(&job->first, job, vm)) {
        work_again(job);
        return ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    }
    job->seats = &job->first;
    ptc_seat_work(&job->first);
    return finish_crew_job(job, vm, out);
}

bool ptc_crew_map(PtcVM *vm, PtcValue f, PtcValue rows, int width, PtcValue *out)
{
    size_t n = ptc_seq_count(rows) / (size_t)width;
    size_t bytes = n * sizeof(PtcItem), value_bytes = (3 * n + PTC_JOB_MORE) * sizeof(PtcValue);
    if (n == 0)
        return ptc_give(out, ptc_vec_new(vm->heap, NULL, 0, PTC_SEQ));
    if (!ptc_tick(&vm->budget, JOB_TICKS))
        return false;
    PtcHeap *heap = vm->heap;
    PtcCrewJob *job = ptc_heap_scratch(heap, NULL, 0, sizeof *job);
    PtcItem *items = job ? ptc_heap_scratch(heap, NULL, 0, bytes) : NULL;
    PtcValue *values = items ? ptc_heap_scratch(heap, NULL, 0, value_bytes) : NULL;
    bool ok = values != NULL;
    if (ok) {
        job->f = f;
        job->rows = rows;
        job->width = width;
        job->n = n;
        job->items = items;
        job->values = values;
        ok = run_crew_job(job, vm, out);
    }
    ptc_heap_scratch_free(heap, values, value_bytes);
    ptc_heap_scratch_free(heap, items, bytes);
    ptc_heap_scratch_free(heap, job, sizeof *job);
    return ok;
}
