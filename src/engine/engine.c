/* SPDX-License-Identifier: MIT
 * The engine handle: options, limits, one run after the other. */
#include "engine/engine_int.h"

#include <string.h>

enum { MIB = 1024 * 1024, NO_LIMIT = 1 << 30, HISTORY = 3 };

static const PtcLimits default_limits = {
    .size = sizeof(PtcLimits),
    .timeout_ms = 1000,
    .deadline_ms = 60000,
    .memory_bytes = 10 * MIB,
    .loop_limit = 1000000,
    .max_depth = 10000,
    .max_int_bits = 1 << 18,
    .program_bytes = 64 * 1024,
    .context_bytes = 4 * MIB,
    .session_bytes = 10 * MIB,
    .print_bytes = 64 * 1024,
    .result_bytes = 1 * MIB,
    .max_tool_calls = NO_LIMIT,
    .tool_bytes = 16 * MIB,
    .max_workers = 8,
};

/* Largest value of each limit, in the order of the struct. */
static const int64_t ceilings[] = {
    (int64_t)1 << 40, (int64_t)1 << 40, (int64_t)1 << 46, (int64_t)1 << 62, 1000000,
    PTC_INT_BITS_MAX, 64 * MIB,         (int64_t)1 << 46, (int64_t)1 << 46, (int64_t)1 << 31,
    (int64_t)1 << 31, NO_LIMIT,         (int64_t)1 << 46, PTC_WORKERS_MAX,
};

enum { LIMIT_COUNT = (sizeof(PtcLimits) - offsetof(PtcLimits, timeout_ms)) / sizeof(int64_t) };
_Static_assert(sizeof ceilings / sizeof ceilings[0] == LIMIT_COUNT, "one ceiling for each limit");

/* The limits as an array; they all have one type. */
static int64_t *fields(PtcLimits *limits)
{
    return &limits->timeout_ms;
}

void ptc_limits_init(PtcLimits *limits, size_t size)
{
    PtcLimits all = {.size = size};
    for (size_t i = 0; i < LIMIT_COUNT; i++)
        fields(&all)[i] = PTC_UNSET;
    memcpy(limits, &all, size < sizeof all ? size : sizeof all);
}

void ptc_options_init(PtcOptions *options, size_t size)
{
    PtcOptions all = {.size = size,
                      .float_precision = PTC_UNSET,
                      .fail_allocation = PTC_UNSET,
                      .history_depth = PTC_UNSET};
    memcpy(options, &all, size < sizeof all ? size : sizeof all);
}

void ptc_run_init(PtcRun *run, size_t size)
{
    PtcRun all = {.size = size};
    memcpy(run, &all, size < sizeof all ? size : sizeof all);
}

bool ptc_limits_merge(PtcLimits *limits, const PtcLimits *given, const PtcLimits *from)
{
    PtcLimits mine;
    ptc_limits_init(&mine, sizeof mine);
    if (given && given->size < sizeof(size_t))
        return false;
    if (given)
        memcpy(&mine, given, given->size < sizeof mine ? given->size : sizeof mine);
    *limits = *from;
    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        int64_t n = fields(&mine)[i];
        if (n == PTC_UNSET)
            continue;
        if (n < 0 || n > ceilings[i])
            return false;
        fields(limits)[i] = n;
    }
    return true;
}

static int64_t host_clock_ns(void *user)
{
    Ptc *ptc = user;
    int64_t ms = ptc->clock_ms(ptc->clock_user), most = INT64_MAX / 2000000;
    return (ms < 0 ? 0 : ms > most ? most : ms) * 1000000;
}

static void set_clock(Ptc *ptc, PtcBudget *budget)
{
    ptc_budget_init(budget);
    if (ptc->clock_ms) {
        budget->clock_ns = host_clock_ns;
        budget->clock_user = ptc;
    }
}

void ptc_budget_start(Ptc *ptc, PtcBudget *budget, int64_t ms)
{
    int64_t bits = ptc->limits.max_int_bits;
    set_clock(ptc, budget);
    budget->max_int_bits = bits;
    int64_t now = budget->clock_ns(budget->clock_user);
    budget->compute_end_ns = ms > (INT64_MAX - now) / 1000000 ? INT64_MAX : now + ms * 1000000;
}

/* The engine lives in the ledger that it holds. */
static Ptc *alloc_engine(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    Ptc *ptc = ptc_mem_alloc(&mem, sizeof *ptc);
    if (!ptc)
        return NULL;
    memset(ptc, 0, sizeof *ptc);
    ptc_mem_init(&ptc->mem, SIZE_MAX / 2);
    atomic_store(&ptc->mem.used, sizeof *ptc);
    return ptc;
}

static void free_engine(Ptc *ptc)
{
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    atomic_store(&mem.used, sizeof *ptc);
    ptc_mem_free(&mem, ptc, sizeof *ptc);
}

Ptc *ptc_new(const PtcOptions *given)
{
    PtcOptions options;
    ptc_options_init(&options, sizeof options);
    if (given && given->size < sizeof(size_t))
        return NULL;
    if (given)
        memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    PtcLimits limits;
    if (!ptc_limits_merge(&limits, options.limits, &default_limits) ||
        options.float_precision > 15 || options.history_depth > PTC_HISTORY_MAX)
        return NULL;
    Ptc *ptc = alloc_engine();
    if (!ptc)
        return NULL;
    ptc->limits = limits;
    ptc->float_precision = (int)(options.float_precision < 0 ? -1 : options.float_precision);
    ptc->history = options.history_depth < 0 ? HISTORY : (uint32_t)options.history_depth;
    ptc->fail_allocation = options.fail_allocation > 0 ? options.fail_allocation : 0;
    ptc->clock_ms = options.clock_ms;
    ptc->clock_user = options.clock_user;
    ptc_pool_init(&ptc->pool, &ptc->mem);
    ptc_arena_init(&ptc->arena, &ptc->mem);
    ptc_names_init(&ptc->no_names, &ptc->mem);
    ptc->crew = ptc_crew_new(&ptc->mem, &ptc->pool);
    if (!ptc->crew || !ptc_vm_init(&ptc->vm, &ptc->mem, limits.max_depth)) {
        ptc_crew_free(ptc->crew);
        free_engine(ptc);
        return NULL;
    }
    set_clock(ptc, &ptc->vm.budget);
    ptc->vm.budget.cancel = &ptc->cancel;
    ptc->vm.gc_stress = options.gc_stress > 0;
    ptc->vm.crew = ptc->crew;
    return ptc;
}

void ptc_free(Ptc *ptc)
{
    if (!ptc)
        return;
    ptc_batch_deinit(ptc);
    ptc_native_free(ptc->native);
    ptc_crew_free(ptc->crew);
    ptc_mem_free(&ptc->mem, ptc->spare, sizeof *ptc->spare);
    ptc_vm_deinit(&ptc->vm);
    ptc_names_deinit(&ptc->no_names);
    ptc_arena_deinit(&ptc->arena);
    ptc_pool_deinit(&ptc->pool);
    free_engine(ptc);
}

const PtcLimits *ptc_limits_of(const Ptc *ptc)
{
    return ptc ? &ptc->limits : NULL;
}

void ptc_cancel(Ptc *ptc)
{
    if (ptc && atomic_load(&ptc->running))
        atomic_store(&ptc->cancel.asked, true);
}

const char *ptc_version(void)
{
    return PTC_VERSION;
}
