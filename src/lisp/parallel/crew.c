/* SPDX-License-Identifier: MIT
 * The threads of a crew, and what one of them does on its seat. */
#include "lisp/number/random.h"
#include "lisp/parallel/crew_int.h"

#include <string.h>

#include "base/os/cancel.h"
#include "base/os/thread.h"
#include "base/os/watch.h"
#include "lisp/lazy/force.h"
#include "lisp/vm/deep.h"
#include "value/cell.h"

enum { THREAD_STACK = 8 * PTC_MB, WIDEST = 64 };

/* -------------------------------------------------------------------------- the seat */

static bool copy_seat_globals(PtcSeat *seat)
{
    const PtcVM *model = &seat->job->model;
    size_t bytes = model->global_count * sizeof *seat->globals;
    seat->globals = ptc_mem_alloc(model->mem, bytes + sizeof *seat->globals);
    if (seat->globals && bytes)
        memcpy(seat->globals, model->globals, bytes);
    return seat->globals != NULL;
}

bool ptc_seat_take(PtcSeat *seat, PtcCrewJob *job, PtcVM *vm)
{
    memset(seat, 0, sizeof *seat);
    seat->job = job;
    seat->vm = vm;
    seat->index = SIZE_MAX;
    if (!copy_seat_globals(seat))
        return false;
    seat->cancel.outer = job->model.budget.cancel;
    seat->cancel.of_item = true;
    const PtcHeap *outer = job->model.heap;
    ptc_heap_init(&seat->heap, outer->pool, &vm->budget, outer->limit);
    seat->heap.tool_bytes = outer->tool_bytes;
    ptc_cells_share(&seat->heap, outer);
    atomic_fetch_add_explicit(&job->account->heaps, 1, memory_order_relaxed);
    ptc_account_share(&seat->heap, job->account);
    vm->heap = &seat->heap;
    vm->globals = seat->globals;
    vm->budget.cancel = &seat->cancel;
    vm->seat = seat;
    vm->defined = vm->may_stop = false;
    ptc_prints_init(&vm->prints, vm->mem, (size_t)vm->limits.print_bytes);
    vm->log = (PtcLog){0};
    vm->warnings = (PtcWarnings){0};
    return true;
}

/* A result is often a small part of what was allocated, so dead objects are collected before the heap is taken
 * over. */
static void collect_seat(PtcSeat *seat)
{
    PtcHeap *heap = &seat->heap;
    if (heap->page_bytes == 0)
        return;
    /* The log as text instead of values, so that what only the log holds can be collected. */
    if (heap->used > heap->limit / 8)
        ptc_log_settle(seat->vm);
    ptc_heap_mark_begin(heap);
    ptc_crew_mark(seat->vm);
    for (size_t i = seat->vm->log.settled; i < seat->vm->log.count; i++) {
        ptc_heap_mark(heap, seat->vm->log.items[i].args);
        ptc_heap_mark(heap, seat->vm->log.items[i].result);
    }
    const PtcWrites *writes = &seat->vm->log.writes;
    for (size_t i = writes->settled; i < writes->count; i++) {
        ptc_heap_mark(heap, writes->items[i].args);
        ptc_heap_mark(heap, writes->items[i].result);
    }
    ptc_heap_mark_finish(heap);
}

static int64_t left_until(const PtcBudget *b, int64_t end)
{
    return end == INT64_MAX ? INT64_MAX : end - b->clock_ns(b->clock_user);
}

void ptc_seat_leave(PtcSeat *seat)
{
    PtcVM *vm = seat->vm;
    PtcBudget *b = &vm->budget;
    ptc_watch_pause(b);
    collect_seat(seat);
    ptc_deep_tidy(vm);
    atomic_fetch_sub_explicit(&seat->job->account->heaps, 1, memory_order_relaxed);
    seat->compute_ns = left_until(b, b->compute_end_ns);
    seat->wait_ns = left_until(b, b->deadline_ns);
    seat->prints = ptc_prints_take(&vm->prints);
    seat->log = vm->log;
    seat->warnings = vm->warnings;
    vm->log = (PtcLog){0};
    vm->warnings = (PtcWarnings){0};
    vm->seat = NULL;
    vm->budget.cancel = NULL;
}

void ptc_seat_free(PtcSeat *seat)
{
    PtcMem *mem = seat->job->model.mem;
    ptc_heap_deinit(&seat->heap);
    ptc_prints_deinit(&seat->prints);
    ptc_warnings_deinit(&seat->warnings);
    ptc_log_deinit(&seat->log, mem);
    ptc_mem_free(mem, seat->globals, (seat->job->model.global_count + 1) * sizeof *seat->globals);
}

/* ---------------------------------------------------------------------------- an item */

/* Every item begins with the run as it was when the job began, and with random numbers of its own, whatever thread it
 * meets. */
static void begin_item(PtcSeat *seat, PtcItem *item)
{
    PtcVM *vm = seat->vm;
    const PtcVM *model = &seat->job->model;
    if (seat == &seat->job->first &&
        atomic_load_explicit(&seat->job->offered, memory_order_relaxed))
        atomic_store(&seat->job->wait_ns, left_until(&vm->budget, vm->budget.deadline_ns));
    if (vm->defined && model->global_count)
        memcpy(seat->globals, model->globals, model->global_count * sizeof *seat->globals);
    vm->defined = false;
    vm->memo = model->memo;
    vm->journal = (PtcNotes){model->journal.all, PTC_NIL};
    vm->summaries = (PtcNotes){model->summaries.all, PTC_NIL};
    vm->loops_left = model->loops_left;
    uint64_t number = (uint64_t)(item - seat->job->items);
    vm->random = ptc_random_of(model->random, number);
    vm->call_path = ptc_random_of(ptc_random_of(model->call_path, model->call_count), number);
    vm->call_count = 0;
    item->seat = seat;
    vm->prints.open = false; /* of the item before */
    item->first_print = (uint32_t)vm->prints.count;
    item->first_call = (uint32_t)vm->log.count;
    item->first_warning = (uint32_t)vm->warnings.count;
    item->call_total = (uint32_t)vm->log.total;
    item->first_write = (uint32_t)vm->log.writes.count;
    item->write_total = (uint32_t)vm->log.writes.total;
}

static bool call_item_function(PtcSeat *seat, size_t i, PtcValue *out)
{
    const PtcCrewJob *job = seat->job;
    PtcValue args[WIDEST];
    if (job->f == PTC_NONE)
        return ptc_call(seat->vm, ptc_seq_nth(job->rows, i), 0, NULL, out);
    for (int k = 0; k < job->width; k++)
        args[k] = ptc_seq_nth(job->rows, i * (size_t)job->width + (size_t)k);
    return job->width == 1 ? ptc_call_element(seat->vm, job->f, args[0], out)
                           : ptc_call(seat->vm, job->f, job->width, args, out);
}

/* What is lazy belongs to the heap of this thread: it is computed before the item ends. */
static bool call_item(PtcSeat *seat, size_t i, PtcValue *out)
{
    return call_item_function(seat, i, out) &&
           ptc_force_deep(seat->vm, *out, true, "pmap", PTC_FORCE_MOST);
}

/* Notes why the item failed and makes the VM fit to go on.  An item that was cancelled because one below it failed
 * has not failed itself; nor has one that waits for a person, which keeps no other from its work. */
static void take_item_failure(PtcSeat *seat, size_t i)
{
    PtcVM *vm = seat->vm;
    if (!vm->failed && vm->budget.stop != PTC_STOP_NONE)
        ptc_vm_stopped(vm);
    bool aside = vm->budget.stop == PTC_STOP_ASIDE;
    bool dropped = vm->budget.stop == PTC_STOP_CANCELLED && !ptc_cancelled(seat->cancel.outer);
    if (aside)
        atomic_store(&seat->job->aside, true);
    if (!dropped && !aside) {
        seat->failed = true;
        seat->failed_at = i;
        seat->stop = vm->budget.stop;
        seat->what = vm->budget.what;
        seat->limit = vm->budget.limit;
        seat->error = vm->error;
        seat->error_source = vm->error_source;
        seat->error_value = vm->error_value;
    }
    vm->failed = false;
    vm->control = PTC_CONTROL_NONE;
    vm->error.first = vm->error.last = PTC_NO_PLACE;
    vm->error_value = vm->error_source = PTC_NIL;
    if (vm->budget.stop != PTC_STOP_NONE) {
        vm->budget.stop = PTC_STOP_NONE;
        ptc_fuel_fill(&vm->budget); /* the job is over: this is for its end */
    }
}

/* What the item leaves behind. */
static void end_item(PtcSeat *seat, size_t i, PtcValue value)
{
    PtcVM *vm = seat->vm;
    PtcCrewJob *job = seat->job;
    PtcItem *item = &job->items[i];
    item->print_count = (uint32_t)vm->prints.count - item->first_print;
    item->prints_cut = vm->prints.cut;
    item->prints_open = vm->prints.open;
    item->call_count = (uint32_t)vm->log.count - item->first_call;
    item->warning_count = (uint32_t)vm->warnings.count - item->first_warning;
    item->call_total = (uint32_t)vm->log.total - item->call_total;
    item->write_count = (uint32_t)vm->log.writes.count - item->first_write;
    item->write_total = (uint32_t)vm->log.writes.total - item->write_total;
    item->loops = job->model.loops_left - vm->loops_left;
    job->values[i] = value;
    job->values[job->n + i] = vm->journal.changes;
    job->values[2 * job->n + i] = vm->summaries.changes;
    item->before = seat->last;
    seat->last = (uint32_t)i + 1;
}

static void run_item(PtcSeat *seat, size_t i)
{
    PtcVM *vm = seat->vm;
    PtcCall *call = vm->call;
    size_t roots = vm->root_count;
    uint32_t depth = vm->native_depth, running = vm->running;
    begin_item(seat, &seat->job->items[i]);
    PtcValue v = PTC_NIL;
    bool ok =
        ptc_tick(&vm->budget, 1) && call_item(seat, i, &v) && vm->budget.stop == PTC_STOP_NONE;
    end_item(seat, i, ok ? v : PTC_NIL);
    vm->call = call;
    vm->root_count = roots;
    vm->native_depth = depth;
    vm->running = running;
    if (!ok)
        take_item_failure(seat, i);
}

void ptc_crew_mark(PtcVM *vm)
{
    const PtcSeat *seat = vm->seat;
    const PtcCrewJob *job = seat->job;
    for (size_t at = seat->last; at > 0; at = job->items[at - 1].before) {
        ptc_heap_mark(vm->heap, job->values[at - 1]);
        ptc_heap_mark(vm->heap, job->values[job->n + at - 1]);
        ptc_heap_mark(vm->heap, job->values[2 * job->n + at - 1]);
    }
    ptc_heap_mark(vm->heap, seat->error_value);
    ptc_heap_mark(vm->heap, seat->error_source);
}

/* ------------------------------------------------------------------- taking of items */

/* With the lock held: the next item, or false. */
static bool take_item(PtcSeat *seat)
{
    PtcCrewJob *job = seat->job;
    if (job->next_item >= job->n || job->next_item > job->lowest)
        return false;
    seat->index = job->next_item++;
    atomic_store(&seat->cancel.asked, false);
    return true;
}

/* With the lock held. */
static void finish_item(PtcSeat *seat)
{
    PtcCrewJob *job = seat->job;
    seat->index = SIZE_MAX;
    if (!seat->failed || seat->failed_at >= job->lowest)
        return;
    job->lowest = seat->failed_at;
    for (PtcSeat *s = job->seats; s; s = s->next)
        if (s->index != SIZE_MAX && s->index > job->lowest)
            ptc_cancel_ask(&s->cancel);
}

void ptc_seat_work(PtcSeat *seat)
{
    PtcCrew *crew = seat->job->crew;
    pthread_mutex_lock(&crew->lock);
    while (take_item(seat)) {
        pthread_mutex_unlock(&crew->lock);
        run_item(seat, seat->index);
        pthread_mutex_lock(&crew->lock);
        finish_item(seat);
    }
    pthread_mutex_unlock(&crew->lock);
}

/* ------------------------------------------------------------------------- the helpers */

/* A helper's VM, as if it were the caller's where the caller met the job. */
static bool model_vm(PtcVM *vm, const PtcCrewJob *job)
{
    const PtcVM *m = &job->model;
    if (!ptc_vm_ensure_depth(vm, m->limits.max_depth))
        return false;
    ptc_vm_empty_stack(vm);
    vm->native_depth = m->native_depth;
    vm->running = m->running;
    vm->calls_end = vm->calls + (m->calls_end - m->call) - 1;
    vm->budget = m->budget;
    ptc_fuel_fill(&vm->budget);
    vm->budget.wake = m->gc_stress;
    vm->budget.nesting = 0;
    int64_t now = vm->budget.clock_ns(vm->budget.clock_user);
    int64_t wait_ns = atomic_load(&job->wait_ns);
    vm->budget.compute_end_ns =
        job->compute_ns > INT64_MAX - now ? INT64_MAX : now + job->compute_ns;
    vm->budget.deadline_ns = wait_ns > INT64_MAX - now ? INT64_MAX : now + wait_ns;
    vm->budget.pmap_ms = job->pmap_ms;
    atomic_store(&vm->budget.paused, false);
    vm->pmap_ms = m->pmap_ms;
    vm->global_count = m->global_count;
    vm->names = m->names;
    vm->context = m->context;
    vm->remaining = m->remaining;
    vm->now_ms = m->now_ms;
    vm->math_digits = m->math_digits;
    vm->math_mode = m->math_mode;
    vm->host = m->host;
    vm->host_user = m->host_user;
    vm->servers = m->servers;
    vm->crew = m->crew;
    vm->limits = m->limits;
    vm->gc_stress = m->gc_stress;
    vm->held = vm->rooted = vm->failed = false;
    vm->made_lazy = vm->lazy_refused = false;
    vm->endless = NULL;
    vm->control = PTC_CONTROL_NONE;
    vm->program = m->program;
    vm->result = vm->error_value = vm->error_source = PTC_NIL;
    vm->error.first = vm->error.last = PTC_NO_PLACE;
    return true;
}

static PtcSeat *new_seat(PtcCrewJob *job, PtcVM *vm)
{
    PtcSeat *seat = model_vm(vm, job) ? ptc_mem_alloc(job->model.mem, sizeof *seat) : NULL;
    if (!seat || ptc_seat_take(seat, job, vm))
        return seat;
    ptc_mem_free(job->model.mem, seat, sizeof *seat);
    return NULL;
}

/* With the lock held, which is released meanwhile. */
static void help_with_job(PtcCrew *crew, PtcCrewJob *job, PtcVM *vm)
{
    job->busy++;
    job->seat_count++;
    pthread_mutex_unlock(&crew->lock);
    PtcSeat *seat = new_seat(job, vm);
    if (seat) {
        pthread_mutex_lock(&crew->lock);
        seat->next = job->seats;
        job->seats = seat;
        pthread_mutex_unlock(&crew->lock);
        ptc_seat_work(seat);
        ptc_seat_leave(seat);
    }
    pthread_mutex_lock(&crew->lock);
    if (--job->busy == 0)
        pthread_cond_broadcast(&crew->done);
}

static PtcCrewJob *find_job(PtcCrew *crew)
{
    PtcCrewJob *job = crew->jobs;
    while (job && (job->next_item >= job->n || job->next_item > job->lowest ||
                   job->seat_count >= job->model.limits.max_workers))
        job = job->next;
    return job;
}

/* With the lock held: waits for a job; NULL: the crew is to end. */
static PtcCrewJob *await_job(PtcCrew *crew)
{
    PtcCrewJob *job = NULL;
    while (!crew->quit && !(job = find_job(crew))) {
        crew->idle++;
        pthread_cond_wait(&crew->work, &crew->lock);
        crew->idle--;
    }
    return crew->quit ? NULL : job;
}

/* The VM is made for the first job: threads may be there long before there is one. */
static void *helper(void *arg)
{
    PtcCrew *crew = arg;
    PtcVM vm;
    bool made = false;
    pthread_mutex_lock(&crew->lock);
    for (PtcCrewJob *job; (job = await_job(crew)) != NULL;) {
        if (!made && !(made = ptc_vm_init(&vm, crew->mem, 64)))
            break;
        help_with_job(crew, job, &vm);
    }
    pthread_mutex_unlock(&crew->lock);
    if (made)
        ptc_vm_deinit(&vm);
    return NULL;
}

/* ---------------------------------------------------------------------------- the crew */

PtcCrew *ptc_crew_new(PtcMem *mem, PtcPool *pool)
{
    PtcCrew *crew = ptc_mem_alloc(mem, sizeof *crew);
    if (!crew)
        return NULL;
    memset(crew, 0, sizeof *crew);
    crew->mem = mem;
    crew->pool = pool;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->work, NULL);
    pthread_cond_init(&crew->done, NULL);
    return crew;
}

/* Of all crews of the process. */
static atomic_int threads_out;

static bool take_thread_token(void)
{
    if (atomic_fetch_add(&threads_out, 1) < PTC_CREW_THREADS)
        return true;
    atomic_fetch_sub(&threads_out, 1);
    return false;
}

void ptc_crew_rest(PtcCrew *crew)
{
    if (crew->thread_count == 0)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->quit = true;
    pthread_cond_broadcast(&crew->work);
    pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 0; i < crew->thread_count; i++)
        pthread_join(crew->threads[i], NULL);
    atomic_fetch_sub(&threads_out, (int)crew->thread_count);
    crew->thread_count = 0;
    crew->quit = false;
}

void ptc_crew_free(PtcCrew *crew)
{
    if (!crew)
        return;
    ptc_crew_rest(crew);
    pthread_mutex_destroy(&crew->lock);
    pthread_cond_destroy(&crew->work);
    pthread_cond_destroy(&crew->done);
    ptc_mem_free(crew->mem, crew, sizeof *crew);
}

/* With the lock held.  Without a thread the job is done all the same, by its caller. */
static void start_threads(PtcCrew *crew, unsigned wanted)
{
    while (crew->thread_count < wanted && take_thread_token()) {
        if (!ptc_thread_start(&crew->threads[crew->thread_count], THREAD_STACK, helper, crew)) {
            atomic_fetch_sub(&threads_out, 1);
            break;
        }
        crew->thread_count++;
    }
}

bool ptc_crew_start(PtcCrew *crew, int64_t max_workers)
{
    pthread_mutex_lock(&crew->lock);
    start_threads(crew, (unsigned)max_workers - 1);
    bool all = crew->thread_count >= (unsigned)max_workers - 1;
    pthread_mutex_unlock(&crew->lock);
    return all;
}

static void offer_job(PtcCrewJob *job)
{
    PtcCrew *crew = job->crew;
    if (atomic_load_explicit(&job->offered, memory_order_relaxed))
        return;
    pthread_mutex_lock(&crew->lock);
    size_t open = job->n - job->next_item, most = (size_t)job->model.limits.max_workers - 1;
    if (!atomic_load(&job->offered) && open > 0) {
        job->next = crew->jobs;
        crew->jobs = job;
        start_threads(crew, (unsigned)(open < most ? open : most));
        pthread_cond_broadcast(&crew->work);
    }
    atomic_store(&job->offered, true);
    pthread_mutex_unlock(&crew->lock);
}

void ptc_crew_offer(PtcVM *vm)
{
    for (const PtcSeat *seat = vm->seat; seat; seat = seat->job->model.seat)
        if (seat->job->model.limits.max_workers > 1)
            offer_job(seat->job);
}
