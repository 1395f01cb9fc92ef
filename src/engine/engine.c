/* SPDX-License-Identifier: MIT
 * The engine handle: options, limits, one run after another.  What always holds: at most one run is under way in an
 * engine, and its limits have every field set. */
#include "engine/engine.h"

#include <string.h>

#include "base/units.h"
#include "engine/session_named.h"
#include "lisp/lib/builtins.h"

enum { HISTORY = 3 };
enum { ENGINE_AFTER_NS = 250 * PTC_MS }; /* for a task, once its program has ended */

static int64_t host_clock_ns(void *user)
{
    Ptc *ptc = user;
    int64_t ms = ptc->clock_ms(ptc->clock_user), most = INT64_MAX / (2 * PTC_MS);
    return (ms < 0 ? 0 : ms > most ? most : ms) * PTC_MS;
}

static void set_clock(Ptc *ptc, PtcBudget *budget)
{
    ptc_budget_init(budget);
    if (ptc->clock_ms) {
        budget->clock_ns = host_clock_ns;
        budget->clock_user = ptc;
    }
}

void ptc_engine_budget(Ptc *ptc, PtcBudget *budget, int64_t ms)
{
    int64_t bits = ptc->limits.max_int_bits;
    set_clock(ptc, budget);
    budget->max_int_bits = bits;
    int64_t now = budget->clock_ns(budget->clock_user);
    int64_t end = ms > (INT64_MAX - now) / PTC_MS ? INT64_MAX : now + ms * PTC_MS;
    budget->compute_end_ns = end < ptc->task_end_ns ? end : ptc->task_end_ns;
}

void ptc_engine_budget_unclocked(Ptc *ptc, PtcBudget *budget)
{
    ptc_engine_budget(ptc, budget, 0);
    budget->compute_end_ns = INT64_MAX;
}

void ptc_engine_task_begin(Ptc *ptc, int64_t timeout_ms)
{
    PtcBudget clock;
    ptc->task_end_ns = INT64_MAX;
    ptc_engine_budget(ptc, &clock, timeout_ms == PTC_UNSET ? ptc->limits.timeout_ms : timeout_ms);
    ptc->task_end_ns = clock.compute_end_ns;
}

void ptc_engine_task_after(Ptc *ptc)
{
    const PtcBudget *b = &ptc->vm.budget;
    int64_t end = b->compute_end_ns < b->deadline_ns ? b->compute_end_ns : b->deadline_ns;
    if (ptc->task_end_ns != INT64_MAX)
        ptc->task_end_ns =
            end > INT64_MAX - ENGINE_AFTER_NS ? INT64_MAX - 1 : end + ENGINE_AFTER_NS;
}

void ptc_engine_task_end(Ptc *ptc)
{
    ptc->task_end_ns = INT64_MAX;
}

/* The engine lives in the ledger that it contains. */
static Ptc *alloc_engine(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    Ptc *ptc = ptc_mem_alloc(&mem, sizeof *ptc);
    if (!ptc)
        return NULL;
    memset(ptc, 0, sizeof *ptc);
    ptc_mem_init(&ptc->mem, PTC_UNBOUNDED);
    atomic_store(&ptc->mem.used, sizeof *ptc);
    return ptc;
}

static void free_engine(Ptc *ptc)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *ptc);
    ptc_mem_free(&mem, ptc, sizeof *ptc);
}

static void set_options(Ptc *ptc, const PtcOptions *options)
{
    static const PtcOptions none = {
        .float_precision = PTC_UNSET, .fail_allocation = PTC_UNSET, .history_depth = PTC_UNSET};
    if (!options)
        options = &none;
    ptc->float_precision = (int)(options->float_precision < 0 ? -1 : options->float_precision);
    ptc->history = options->history_depth < 0 ? HISTORY : (uint32_t)options->history_depth;
    ptc->fail_allocation = options->fail_allocation > 0 ? options->fail_allocation : 0;
    ptc->clock_ms = options->clock_ms;
    ptc->clock_user = options->clock_user;
}

Ptc *ptc_engine_new(const PtcOptions *options, const PtcLimits *all)
{
    Ptc *ptc = alloc_engine();
    if (!ptc)
        return NULL;
    ptc->limits = *all;
    ptc->task_end_ns = INT64_MAX;
    set_options(ptc, options);
    ptc_pool_init(&ptc->pool, &ptc->mem);
    ptc_arena_init(&ptc->arena, &ptc->mem);
    ptc_names_init(&ptc->no_names, &ptc->mem);
    ptc->crew = ptc_crew_new(&ptc->mem, &ptc->pool);
    ptc_watch_init(&ptc->reminder);
    ptc_builtins_ready();
    if (!ptc->crew || !ptc_vm_init(&ptc->vm, &ptc->mem, all->max_depth)) {
        ptc_watch_deinit(&ptc->reminder);
        ptc_crew_free(ptc->crew);
        free_engine(ptc);
        return NULL;
    }
    set_clock(ptc, &ptc->vm.budget);
    ptc->vm.budget.cancel = &ptc->cancel;
    ptc->vm.gc_stress = options && options->gc_stress > 0;
    ptc->vm.crew = ptc->crew;
    ptc->vm.watch = &ptc->reminder;
    return ptc;
}

Ptc *ptc_engine_with(const PtcLimits *given)
{
    PtcLimits all;
    return ptc_limits_merge(&all, given, &ptc_default_limits) ? ptc_engine_new(NULL, &all) : NULL;
}

void ptc_engine_free(Ptc *ptc)
{
    ptc_session_named_drop(ptc);
    ptc_native_free(ptc->native);
    if (ptc->remote_names)
        ptc_remote_names_deinit(ptc->remote_names);
    ptc_mem_free(&ptc->mem, ptc->remote_names, sizeof *ptc->remote_names);
    ptc_check_kept_deinit(&ptc->checked, &ptc->mem);
    ptc_crew_free(ptc->crew);
    ptc_watch_deinit(&ptc->reminder);
    ptc_mem_free(&ptc->mem, ptc->spare, sizeof *ptc->spare);
    ptc_log_deinit(&ptc->spare_log, &ptc->mem);
    ptc_vm_deinit(&ptc->vm);
    ptc_names_deinit(&ptc->no_names);
    ptc_arena_deinit(&ptc->arena);
    ptc_pool_deinit(&ptc->pool);
    free_engine(ptc);
}

void ptc_engine_rest(Ptc *ptc)
{
    ptc_crew_rest(ptc->crew);
    ptc_native_free(ptc->native);
    ptc->native = NULL;
    ptc_vm_trim(&ptc->vm);
    ptc_arena_deinit(&ptc->arena);
    ptc_arena_init(&ptc->arena, &ptc->mem);
    ptc_log_deinit(&ptc->spare_log, &ptc->mem);
    ptc_pool_empty(&ptc->pool);
}

void ptc_engine_set_remote(Ptc *ptc, PtcRemote *remote, PtcBuf *call_log)
{
    ptc->remote_home = remote;
    ptc->remote_call_log = call_log;
}

bool ptc_engine_start_threads(Ptc *ptc)
{
    bool watched = ptc_watch_start(&ptc->reminder);
    return ptc_crew_start(ptc->crew, ptc->limits.max_workers) && watched;
}

void ptc_engine_cancel(Ptc *ptc)
{
    if (atomic_load(&ptc->running))
        atomic_store(&ptc->cancel.asked, true);
}

void ptc_engine_wait_begin(Ptc *ptc)
{
    atomic_store(&ptc->cancel.asked, false);
    atomic_store(&ptc->running, true);
}

void ptc_engine_wait_end(Ptc *ptc)
{
    atomic_store(&ptc->running, false);
}

/* ---------------------------------------------------------------------------------- texts */

/* The size is stored in front of a text, so that it can be freed even by a caller that did not ask for the length. */
PtcStatus ptc_engine_give_text(PtcBuf *buf, bool ok, char **out, size_t *out_len)
{
    size_t n = buf->len, size = sizeof(size_t) + n + 1;
    char *block = ok && ptc_buf_ok(buf) ? ptc_mem_alloc(buf->mem, size) : NULL;
    if (block) {
        memcpy(block, &size, sizeof size);
        if (n)
            memcpy(block + sizeof size, buf->data, n);
        block[size - 1] = 0;
        *out = block + sizeof size;
        if (out_len)
            *out_len = n;
    }
    ptc_buf_deinit(buf);
    return block ? PTC_OK : PTC_NO_MEMORY;
}

void ptc_engine_text_free(Ptc *ptc, char *text)
{
    size_t size;
    char *block = text - sizeof size;
    memcpy(&size, block, sizeof size);
    ptc_mem_free(&ptc->mem, block, size);
}
