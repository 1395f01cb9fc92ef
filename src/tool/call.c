/* SPDX-License-Identifier: MIT
 * A call from the program's side: arguments, limits, cache, waiting, the record, errors. */
#include "tool/call.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "lisp/crew.h"
#include "lisp/vm_int.h"
#include "tool/cache_key.h"
#include "tool/keys.h"

enum { WAIT_MS = 4, KEY_BYTES = 1024 * 1024, SLOTS = 2 };

/* What one call has gathered so far.  slots are roots: the arguments, the result. */
typedef struct Job {
    PtcVM *vm;
    PtcToolRun *run;
    PtcTool *tool;
    uint32_t number;
    PtcValue *slots;
    PtcCacheEntry *flight;
    bool cached;
    int64_t now_ns; /* the clock when it was last read */
    int64_t took_ns;
    char *told; /* a failure is told here, instead of to the program; or NULL */
    size_t told_size;
} Job;

/* ---------------------------------------------------------------------------- arguments */

static bool fail_args(Job *job, const char *message)
{
    const PtcToolInfo *info = &job->tool->info;
    ptc_fail(job->vm, PTC_E_TOOL_ARGS, "tool/%.*s: %s", (int)info->name_len, info->name, message);
    if (info->signature)
        return ptc_fail_hint(job->vm, "its signature is %.*s",
                             (int)(info->signature_len < 150 ? info->signature_len : 150),
                             info->signature);
    return ptc_fail_hint(job->vm, "call it as (tool/%.*s {:name value})", (int)info->name_len,
                         info->name);
}

static bool read_args(Job *job, int argc, const PtcValue *argv)
{
    PtcKeysError error;
    const PtcToolInfo *info = &job->tool->info;
    PtcHeap *heap = job->vm->heap;
    PtcValue v = ptc_tool_args_pairs(heap, info->name, info->name_len, argc, argv, &error);
    if (v == PTC_NONE && error.stopped && ptc_recover(job->vm))
        v = ptc_tool_args_pairs(heap, info->name, info->name_len, argc, argv, &error);
    if (v == PTC_NONE)
        return !error.stopped && fail_args(job, error.message);
    job->slots[0] = v;
    return true;
}

static bool report_issues(Job *job, const PtcSigIssues *errors)
{
    PtcBuf buf;
    ptc_buf_init(&buf, job->vm->mem, PTC_MESSAGE_MAX);
    ptc_sig_issues_print(&buf, errors, "; ");
    buf.full = false;
    const char *text = ptc_buf_text(&buf);
    fail_args(job, text ? text : "its arguments are not what its signature says");
    ptc_buf_deinit(&buf);
    return false;
}

/* Coercion leaves out what the signature does not name; the tool gets it all the same. */
static PtcValue keep_others(PtcHeap *heap, PtcValue args, PtcValue coerced)
{
    PtcValue key, value;
    if (ptc_map_count(coerced) == ptc_map_count(args))
        return coerced;
    for (size_t pos = 0; args != PTC_NONE && ptc_map_next(coerced, &pos, &key, &value);)
        args = ptc_map_assoc(heap, args, key, value);
    return args;
}

static bool coerce_args(Job *job)
{
    const PtcSig *sig = job->tool->info.sig;
    PtcSigIssues warnings, errors;
    if (!sig || !sig->has_params)
        return true;
    ptc_sig_issues_init(&warnings, job->vm->mem);
    ptc_sig_issues_init(&errors, job->vm->mem);
    PtcValue v =
        ptc_sig_input(job->vm->heap, sig, job->tool->mode, job->slots[0], &warnings, &errors);
    if (v == PTC_NONE && errors.count == 0 && ptc_recover(job->vm))
        v = ptc_sig_input(job->vm->heap, sig, job->tool->mode, job->slots[0], &warnings, &errors);
    if (v != PTC_NONE)
        v = keep_others(job->vm->heap, job->slots[0], v);
    if (v != PTC_NONE)
        job->slots[0] = v;
    else if (errors.count > 0)
        report_issues(job, &errors);
    ptc_sig_issues_deinit(&warnings);
    ptc_sig_issues_deinit(&errors);
    return v != PTC_NONE;
}

/* ------------------------------------------------------------------------------- answers */

/* Text that is too long for a message is cut by it; what it was called with comes first. */
static bool fail_tool(Job *job, const char *message, size_t len)
{
    const PtcToolInfo *info = &job->tool->info;
    PtcBuf buf;
    ptc_buf_init(&buf, job->vm->mem, 100);
    PtcPrinter printer = ptc_vm_printer(job->vm, true);
    bool whole = ptc_print(&printer, &buf, job->slots[0]);
    ptc_fail(job->vm, PTC_E_TOOL, "tool/%.*s failed: %.*s", (int)info->name_len, info->name,
             (int)(len < 2000 ? len : 2000), message);
    ptc_fail_hint(job->vm, "it was called with %.*s%s", (int)buf.len, buf.data ? buf.data : "",
                  whole ? "" : "...");
    ptc_buf_deinit(&buf);
    return false;
}

static void record(Job *job, bool ok, PtcValue result)
{
    PtcLogEntry *e = ptc_log_add(&job->vm->log, job->vm->mem);
    if (!e)
        return;
    e->tool = job->number;
    e->ok = ok;
    e->cached = job->cached;
    e->args = job->slots[0];
    e->result = result;
    e->took_ns = job->took_ns;
}

/* {:ok false, :message "..."} */
static PtcValue error_value(PtcVM *vm, PtcValue message)
{
    PtcValue ok = ptc_keyword_new(vm->heap, "ok", 2);
    PtcValue key = ptc_keyword_new(vm->heap, "message", 7);
    PtcValue map = ptc_map_empty(vm->heap);
    if (ok == PTC_NONE || key == PTC_NONE || map == PTC_NONE)
        return PTC_NONE;
    map = ptc_map_assoc(vm->heap, map, ok, PTC_FALSE);
    return map == PTC_NONE ? map : ptc_map_assoc(vm->heap, map, key, message);
}

/* A failure: recorded, then the program's end, or a value for it. */
static bool give_failure(Job *job, const char *message, size_t len, PtcValue *out)
{
    PtcVM *vm = job->vm;
    len = ptc_utf8_valid_prefix(message, len);
    PtcValue text = ptc_str_new(vm->heap, message, len);
    if (text == PTC_NONE)
        return false;
    job->slots[1] = text;
    record(job, false, text);
    if (job->told) {
        snprintf(job->told, job->told_size, "%.*s", (int)len, message);
        return false;
    }
    if (!job->tool->info.on_error_value)
        return fail_tool(job, message, len);
    *out = error_value(vm, text);
    if (*out == PTC_NONE && ptc_recover(vm))
        *out = error_value(vm, text);
    return *out != PTC_NONE;
}

/* ------------------------------------------------------------------------------- waiting */

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* In the system's clock: when the call times out or the run is over. */
static int64_t end_of(const Job *job, int64_t begun)
{
    const PtcBudget *b = &job->vm->budget;
    int64_t now = b->clock_ns == ptc_clock_ns ? begun : ptc_clock_ns(NULL);
    int64_t left = b->deadline_ns - begun;
    int64_t most = job->tool->info.timeout_ms;
    if (b->deadline_ns == INT64_MAX)
        left = INT64_MAX;
    if (most > 0 && most < INT64_MAX / 1000000)
        left = min64(left, most * 1000000);
    return left > INT64_MAX - now ? INT64_MAX : now + left;
}

/* Until the condition is signalled or it is `end`, in the system's clock; WAIT_MS at most. */
static void wait_a_little(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t end)
{
    int64_t until = min64(ptc_clock_ns(NULL) + WAIT_MS * 1000000, end);
    struct timespec t = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    pthread_cond_timedwait(cond, lock, &t);
}

/* Until the tool answers or nobody may wait any longer.  Short waits, so that a cancel is noticed soon. */
static void wait_for(PtcToolCall *call)
{
    PtcBudget *b = &call->vm->budget;
    pthread_mutex_lock(&call->lock);
    while (!call->answered && !atomic_load(&call->cancelled)) {
        wait_a_little(&call->answered_now, &call->lock, call->end_ns);
        if (!call->answered && (ptc_cancelled(b->cancel) || ptc_clock_ns(NULL) >= call->end_ns ||
                                b->clock_ns(b->clock_user) >= b->deadline_ns))
            atomic_store(&call->cancelled, true);
    }
    pthread_mutex_unlock(&call->lock);
}

/* The program has waited since the clock was last read. */
static void end_wait(Job *job)
{
    PtcBudget *b = &job->vm->budget;
    int64_t now = b->clock_ns(b->clock_user), waited = now - job->now_ns;
    job->now_ns = now;
    if (b->compute_end_ns < INT64_MAX - waited)
        b->compute_end_ns += waited;
}

/* Waits for the turn with a serial tool; its time for the call begins after that.  False: the run is over. */
static bool take_turn(Job *job, PtcTurn *turn)
{
    bool go_on;
    pthread_mutex_lock(&turn->lock);
    while ((go_on = ptc_budget_look_waiting(&job->vm->budget)) && turn->taken)
        wait_a_little(&turn->over, &turn->lock, INT64_MAX);
    turn->taken = turn->taken || go_on;
    pthread_mutex_unlock(&turn->lock);
    end_wait(job);
    return go_on;
}

static void give_turn(PtcTurn *turn)
{
    pthread_mutex_lock(&turn->lock);
    turn->taken = false;
    pthread_cond_signal(&turn->over);
    pthread_mutex_unlock(&turn->lock);
}

/* -------------------------------------------------------------------------- calling it */

static void begin(Job *job, PtcToolCall *call)
{
    call->tool = job->tool;
    call->tools = job->run->tools;
    call->vm = job->vm;
    call->args = job->slots[0];
    call->data = (PtcData){NULL, job->vm->heap};
    call->result = PTC_NONE;
    call->text = NULL;
    call->answered = call->ok = call->counted = call->elsewhere = false;
    atomic_init(&call->cancelled, false);
    atomic_init(&call->inside, true);
    ptc_buf_init(&call->json, job->vm->mem, (size_t)job->vm->room.tool_bytes);
    call->begun_ns = job->now_ns;
    call->end_ns = end_of(job, job->now_ns);
}

static PtcToolCall *new_counted(Job *job)
{
    PtcMem *mem = &job->run->tools->mem;
    pthread_condattr_t attr;
    PtcToolCall *call = ptc_mem_alloc(mem, sizeof *call);
    if (!call)
        return NULL;
    begin(job, call);
    ptc_tools_retain(call->tools);
    call->counted = true;
    call->thread = pthread_self();
    atomic_init(&call->refs, 2);
    pthread_mutex_init(&call->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&call->answered_now, &attr);
    pthread_condattr_destroy(&attr);
    return call;
}

/* The answer of a call that is over: a value in slots[1] and true, or false with a message to free, or a stop. */
static bool take_answer(Job *job, PtcToolCall *call, char *error, size_t size)
{
    PtcVM *vm = job->vm;
    error[0] = 0;
    if (!call->answered) {
        bool late = (atomic_load(&call->cancelled) || ptc_clock_ns(NULL) >= call->end_ns) &&
                    job->tool->info.timeout_ms > 0 && ptc_budget_look(&vm->budget);
        if (late)
            snprintf(error, size, "it did not answer within %lld ms",
                     (long long)job->tool->info.timeout_ms);
        else if (vm->budget.stop == PTC_STOP_NONE && ptc_budget_look(&vm->budget))
            snprintf(error, size, "it gave no answer");
        return false;
    }
    if (!call->ok) {
        size_t n = call->text_len < size - 1 ? call->text_len : size - 1;
        if (n)
            memcpy(error, call->text, n);
        error[n] = 0;
        return false;
    }
    job->slots[1] = call->result != PTC_NONE
                        ? call->result
                        : ptc_call_parse(vm, call->text, call->text_len, error, size);
    return job->slots[1] != PTC_NONE;
}

/* What the result takes beyond the heap's limit is allowed for, up to tool_bytes in all. */
static size_t raise_limit(const Job *job)
{
    PtcHeap *heap = job->vm->heap;
    size_t before = heap->limit;
    heap->limit = (size_t)job->vm->room.heap_bytes + (size_t)job->vm->room.tool_bytes +
                  (heap->used > heap->limit ? heap->used - heap->limit : 0);
    return before;
}

static void settle_limit(const Job *job, size_t before, size_t used)
{
    PtcHeap *heap = job->vm->heap;
    size_t grown = heap->used > used ? heap->used - used : 0;
    size_t most = (size_t)job->vm->room.heap_bytes + (size_t)job->vm->room.tool_bytes;
    heap->limit = before + grown < most ? before + grown : before > most ? before : most;
}

typedef struct Answer {
    bool ok;
    char error[2048];
} Answer;

/* Is the tool's share of a counted call for us to end?  A call that is answered elsewhere ends it there. */
static bool share_is_left(PtcToolCall *call, bool pending)
{
    pthread_mutex_lock(&call->lock);
    bool left = pending ? call->answered && !call->elsewhere : !call->elsewhere;
    pthread_mutex_unlock(&call->lock);
    return left;
}

static void call_function(Job *job, PtcToolCall *call, Answer *a)
{
    PtcVM *vm = job->vm;
    size_t used = vm->heap->used, before = raise_limit(job);
    PtcToolAnswer how = job->tool->function(call, job->tool->user);
    bool pending = how == PTC_TOOL_PENDING && call->counted;
    if (pending) {
        atomic_store(&call->inside, false);
        wait_for(call);
    }
    job->took_ns += ptc_call_pause(call);
    job->now_ns = call->begun_ns;
    a->ok = take_answer(job, call, a->error, sizeof a->error);
    settle_limit(job, before, used);
    ptc_buf_deinit(&call->json);
    if (!call->counted)
        ptc_mem_free(&call->tools->mem, call->text, call->text_len + 1);
    else if (share_is_left(call, pending))
        ptc_call_release(call);
}

static void call_native(Job *job, Answer *a)
{
    PtcToolCall plain;
    if (!job->tool->pending) {
        begin(job, &plain);
        call_function(job, &plain, a);
        return;
    }
    PtcToolCall *call = new_counted(job);
    if (!call) {
        ptc_budget_halt(&job->vm->budget, PTC_STOP_MEMORY);
        return;
    }
    call_function(job, call, a);
    ptc_call_release(call);
}

/* A tool in PTC-Lisp runs in the program's VM, under its limits; return and fail end only the tool. */
static void call_lisp(Job *job, Answer *a)
{
    PtcVM *vm = job->vm;
    PtcPrinter printer = ptc_vm_printer(vm, false);
    bool outer = vm->may_stop;
    vm->may_stop = true; /* return and fail are not those of a pmap around the call */
    a->ok = ptc_call(vm, job->tool->lisp, 1, &job->slots[0], &job->slots[1]);
    vm->may_stop = outer;
    int64_t now = vm->budget.clock_ns(vm->budget.clock_user);
    job->took_ns = now - job->now_ns;
    job->now_ns = now;
    if (a->ok || vm->budget.stop != PTC_STOP_NONE)
        return;
    if (vm->control == PTC_CONTROL_RETURN) {
        job->slots[1] = vm->result;
        a->ok = true;
    } else if (vm->control == PTC_CONTROL_FAIL) {
        PtcBuf buf = {.mem = vm->mem, .data = a->error, .cap = sizeof a->error, .max = 400};
        if (!ptc_print(&printer, &buf, vm->result))
            buf.len = ptc_utf8_valid_prefix(a->error, buf.len);
        a->error[buf.len] = 0;
    } else if (vm->failed && !ptc_error_is_terminal(vm->error.kind)) {
        snprintf(a->error, sizeof a->error, "%s", vm->error.message);
    } else {
        return;
    }
    vm->control = PTC_CONTROL_NONE;
    vm->failed = false;
    vm->error_value = vm->error_source = PTC_NIL;
    vm->error.first = vm->error.last = PTC_NO_PLACE;
}

/* False: it was not called. */
static bool call_in_turn(Job *job, Answer *a)
{
    PtcTurn *turn = job->tool->turn;
    if (turn && !take_turn(job, turn))
        return false;
    if (job->tool->lisp != PTC_NONE)
        call_lisp(job, a);
    else
        call_native(job, a);
    if (turn)
        give_turn(turn);
    return true;
}

static bool run_tool(Job *job, PtcValue *out)
{
    Answer a;
    a.ok = false;
    a.error[0] = 0;
    ptc_crew_offer(job->vm);
    bool called = call_in_turn(job, &a);
    bool over = job->vm->failed || !ptc_budget_look_at(&job->vm->budget, job->now_ns);
    if (job->flight && a.ok)
        ptc_cache_put(job->run->cache, job->flight, job->slots[1]);
    else if (job->flight)
        ptc_cache_abandon(job->run->cache, job->flight);
    if (called && (a.ok || over)) /* what happened outside is told also when the run is over */
        record(job, a.ok, a.ok ? job->slots[1] : PTC_NONE);
    if (over)
        return false;
    if (!a.ok)
        return give_failure(job, a.error, strlen(a.error), out);
    *out = job->slots[1];
    return true;
}

/* --------------------------------------------------------------------------------- cache */

static bool go_on(void *user)
{
    PtcVM *vm = user;
    return ptc_budget_look_waiting(&vm->budget);
}

/* Waiting for another thread's call of the same is waiting for a tool. */
static PtcCacheAnswer look_up(Job *job, const PtcBuf *key)
{
    PtcCacheWait wait = {go_on, job->vm};
    size_t used = job->vm->heap->used, before = raise_limit(job);
    PtcCacheAnswer answer = ptc_cache_begin(job->run->cache, key->data, key->len, job->vm->heap,
                                            &wait, &job->slots[1], &job->flight);
    end_wait(job);
    settle_limit(job, before, used);
    return answer;
}

static bool call_cached(Job *job, PtcValue *out)
{
    PtcBuf key;
    PtcKeysError error;
    const PtcToolInfo *info = &job->tool->info;
    ptc_buf_init(&key, job->vm->mem, KEY_BYTES);
    bool keyed =
        ptc_cache_key(job->vm->heap, &key, info->name, info->name_len, job->slots[0], &error);
    ptc_crew_offer(job->vm);
    PtcCacheAnswer answer = keyed ? look_up(job, &key) : PTC_CACHE_BYPASS;
    ptc_buf_deinit(&key);
    if (answer == PTC_CACHE_STOPPED || job->vm->budget.stop != PTC_STOP_NONE)
        return ptc_budget_halt(&job->vm->budget, PTC_STOP_MEMORY);
    if (answer != PTC_CACHE_HIT)
        return run_tool(job, out);
    job->cached = true;
    record(job, true, job->slots[1]);
    *out = job->slots[1];
    return true;
}

/* ---------------------------------------------------------------------------------- all */

static bool count_call(Job *job)
{
    if (atomic_fetch_add(&job->run->calls, 1) < job->run->max_calls)
        return true;
    ptc_fail(job->vm, PTC_E_TOOL_LIMIT, "the program passed its limit of %lld tool call%s",
             (long long)job->run->max_calls, job->run->max_calls == 1 ? "" : "s");
    return ptc_fail_hint(job->vm, "ask for more at once with fewer calls, or raise max_tool_calls");
}

/* A call is not made again when there is no room for its result: what is dead must go before. */
static bool make_room(PtcVM *vm)
{
    const PtcHeap *heap = vm->heap;
    if (heap->used - heap->live <= heap->limit / 4 && !vm->budget.wake)
        return true;
    vm->budget.wake = true;
    return ptc_vm_safepoint(vm);
}

static bool do_job(Job *job, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcVM *vm = job->vm;
    job->run = vm->host_user;
    job->tool = &job->run->tools->items[job->number];
    job->slots = ptc_roots(vm, SLOTS);
    if (!job->slots)
        return false;
    job->slots[0] = argc ? argv[0] : PTC_NIL; /* who asks has no roots */
    if (!make_room(vm))
        return false;
    job->now_ns = vm->budget.clock_ns(vm->budget.clock_user);
    if (!ptc_budget_look_at(&vm->budget, job->now_ns) || !read_args(job, argc, argv) ||
        !coerce_args(job) || !count_call(job))
        return false;
    return job->tool->info.cache && job->run->cache ? call_cached(job, out) : run_tool(job, out);
}

bool ptc_tools_run(PtcVM *vm, uint32_t number, int argc, const PtcValue *argv, PtcValue *out)
{
    Job job = {.vm = vm, .number = number};
    return do_job(&job, argc, argv, out);
}

bool ptc_tools_ask(PtcVM *vm, uint32_t number, PtcValue args, PtcValue *out, char *error,
                   size_t size)
{
    Job job = {.vm = vm, .number = number, .told = error, .told_size = size};
    error[0] = 0;
    return do_job(&job, 1, &args, out);
}
