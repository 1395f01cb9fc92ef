/* SPDX-License-Identifier: MIT
 * A call from the caller's side: arguments, limits, cache, turns, waiting, the record.  What is counted, cached and
 * recorded here applies to programs and models alike. */
#include "tool/call.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/os/cond.h"
#include "base/utf8.h"
#include "tool/cache_key.h"
#include "tool/keys.h"
#include "tool/learn.h"

enum { CALL_WAIT_MS = 4, CALL_KEY_BYTES = PTC_MB, MAX_ISSUES_TEXT = 300, PARSE_TRIES = 20 };

/* The state of one call. */
typedef struct CallJob {
    PtcCaller *caller;
    PtcTool *tool;
    uint32_t number;
    PtcCacheEntry *pending; /* others wait for this call's result; or NULL */
    bool cached;
    bool unknown;   /* a try may have taken effect, and nobody knows */
    uint32_t tries; /* how often it was called */
    int64_t now_ns; /* the clock when it was last read */
    int64_t took_ns;
    PtcToolFailure *failure;
} CallJob;

static bool fail_tool_call(CallJob *job, PtcErrorKind kind, const char *text)
{
    job->failure->kind = kind;
    snprintf(job->failure->text, sizeof job->failure->text, "%s", text);
    return false;
}

static bool recover_caller(const CallJob *job)
{
    const PtcCallerHooks *hooks = job->caller->hooks;
    return hooks->recover && hooks->recover(job->caller->user);
}

/* ---------------------------------------------------------------------------- arguments */

/* The one parameter that a call must give; NULL: there are none, or several. */
static const PtcSigField *only_required_field(const PtcSig *sig)
{
    const PtcSigField *only = NULL;
    for (size_t i = 0; sig && i < sig->params.field_count; i++) {
        const PtcSigField *f = &sig->params.fields[i];
        if (f->type->kind == PTC_SIG_OPTIONAL)
            continue;
        if (only)
            return NULL;
        only = f;
    }
    return only;
}

/* (tool/get_order 7) is (tool/get_order {:id 7}) when nothing else is required, so that tools can be mapped. */
static PTC_NOINLINE PtcValue lone_arg_as_map(CallJob *job, const PtcValue *argv,
                                             PtcKeysError *error)
{
    const PtcToolInfo *info = &job->tool->info;
    PtcHeap *heap = job->caller->heap;
    const PtcSigField *only = only_required_field(info->sig);
    if (!only)
        return ptc_tool_args_pairs(heap, info->name, info->name_len, 1, argv, error);
    PtcValue pair[2] = {ptc_keyword_new(heap, only->name, only->name_len), argv[0]};
    error->stopped = true;
    return pair[0] == PTC_NONE
               ? PTC_NONE
               : ptc_tool_args_pairs(heap, info->name, info->name_len, 2, pair, error);
}

/* (shop/query "select ..." {:id 7}) is (shop/query {:query "select ..." :params {:id 7}}) where the tool takes one
 * parameter that is required, and one that is not, a map. */
static const PtcSigField *map_behind_lone(const PtcSig *sig, int argc, const PtcValue *argv)
{
    if (!sig || argc != 2 || sig->params.field_count != 2 || ptc_is_map(argv[0]) ||
        ptc_is_keyword(argv[0]) || !ptc_is_map(argv[1]) || !only_required_field(sig))
        return NULL;
    for (size_t i = 0; i < 2; i++) /* "name" and a value, as a pair */
        if (ptc_text_same_name(ptc_str_text(argv[0]), (PtcText){sig->params.fields[i].name,
                                                                sig->params.fields[i].name_len}))
            return NULL;
    const PtcSigField *second = &sig->params.fields[1];
    return second->type->kind == PTC_SIG_OPTIONAL ? second : NULL;
}

static PtcValue two_args_as_map(CallJob *job, const PtcSigField *second, const PtcValue *argv,
                                PtcKeysError *error)
{
    const PtcToolInfo *info = &job->tool->info;
    const PtcSigField *first = &info->sig->params.fields[0];
    PtcHeap *heap = job->caller->heap;
    PtcValue pairs[] = {ptc_keyword_new(heap, first->name, first->name_len), argv[0],
                        ptc_keyword_new(heap, second->name, second->name_len), argv[1]};
    error->stopped = true;
    return pairs[0] == PTC_NONE || pairs[2] == PTC_NONE
               ? PTC_NONE
               : ptc_tool_args_pairs(heap, info->name, info->name_len, 4, pairs, error);
}

static PtcValue tool_args_as_map(CallJob *job, int argc, const PtcValue *argv, PtcKeysError *error)
{
    const PtcToolInfo *info = &job->tool->info;
    if (ptc_is_lone_argument(argc, argv))
        return lone_arg_as_map(job, argv, error);
    const PtcSigField *second = map_behind_lone(info->sig, argc, argv);
    if (second)
        return two_args_as_map(job, second, argv, error);
    return ptc_tool_args_pairs(job->caller->heap, info->name, info->name_len, argc, argv, error);
}

static bool read_tool_args(CallJob *job, int argc, const PtcValue *argv)
{
    PtcKeysError error;
    PtcValue v = argc == 1 ? ptc_tool_args_quick(job->caller->heap, argv[0]) : PTC_NONE;
    if (v == PTC_NONE)
        v = tool_args_as_map(job, argc, argv, &error);
    if (v == PTC_NONE && error.stopped && recover_caller(job))
        v = tool_args_as_map(job, argc, argv, &error);
    if (v == PTC_NONE)
        return !error.stopped && fail_tool_call(job, PTC_E_TOOL_ARGS, error.message);
    job->caller->slots[0] = v;
    return true;
}

static bool report_issues(CallJob *job, const PtcSigIssues *errors)
{
    PtcBuf buf;
    if (job->caller->issues)
        ptc_sig_issues_json(job->caller->issues, errors);
    ptc_buf_init(&buf, job->caller->mem, MAX_ISSUES_TEXT);
    bool whole = ptc_sig_issues_print(&buf, errors, "; ");
    buf.full = false;
    buf.max += sizeof "...";
    ptc_buf_add_cstr(&buf, whole ? "" : "...");
    const char *text = ptc_buf_text(&buf);
    fail_tool_call(job, PTC_E_TOOL_ARGS,
                   text ? text : "its arguments are not what its signature says");
    ptc_buf_deinit(&buf);
    return false;
}

static bool leave_out_nil(CallJob *job, const PtcSig *sig)
{
    PtcCaller *c = job->caller;
    PtcValue v = ptc_sig_leave_out_nil(c->heap, sig, c->slots[0]);
    if (v == PTC_NONE && recover_caller(job))
        v = ptc_sig_leave_out_nil(c->heap, sig, c->slots[0]);
    if (v != PTC_NONE)
        c->slots[0] = v;
    return v != PTC_NONE;
}

static PtcValue call_input(const CallJob *job, PtcSigIssues *warnings, PtcSigIssues *errors)
{
    const PtcTool *tool = job->tool;
    PtcSigExtra extra = tool->info.extra ? PTC_SIG_EXTRA_KEPT : PTC_SIG_EXTRA_REFUSED;
    return ptc_sig_input(job->caller->heap, tool->info.sig, tool->mode, extra,
                         job->caller->slots[0], warnings, errors);
}

static bool has_sig_params(const PtcTool *tool)
{
    return tool->info.sig && tool->info.sig->has_params && tool->mode != PTC_SIG_DISABLED;
}

static bool coerce_args(CallJob *job)
{
    const PtcSig *sig = job->tool->info.sig;
    PtcCaller *c = job->caller;
    PtcSigIssues warnings, errors;
    if (!leave_out_nil(job, sig))
        return false;
    ptc_sig_issues_init(&warnings, c->mem);
    ptc_sig_issues_init(&errors, c->mem);
    PtcValue v = call_input(job, &warnings, &errors);
    if (v == PTC_NONE && errors.count == 0 && recover_caller(job))
        v = call_input(job, &warnings, &errors);
    if (v != PTC_NONE)
        c->slots[0] = v;
    else if (errors.count > 0)
        report_issues(job, &errors);
    else /* what is wrong did not fit into memory */
        ptc_budget_halt(c->heap->budget, PTC_STOP_MEMORY);
    ptc_sig_issues_deinit(&warnings);
    ptc_sig_issues_deinit(&errors);
    return v != PTC_NONE;
}

/* ------------------------------------------------------------------------------- answers */

static void log_tool_call(const CallJob *job, bool ok, PtcValue result)
{
    PtcLogEntry *e = ptc_log_add(job->caller->log, job->caller->mem);
    if (!e)
        return;
    e->tool = job->number;
    e->ok = ok;
    e->cached = job->cached;
    e->unknown = job->unknown;
    e->tries = job->tries;
    e->args = job->caller->slots[0];
    e->result = result;
    e->took_ns = job->took_ns;
    e->ended_ns = job->now_ns;
}

/* A call that changed something, or may have, is also remembered for whoever corrects the program.  A tool that
 * ended well has done its work even if its result cannot be used. */
static void note_write(const CallJob *job, const PtcToolReply *reply)
{
    PtcCaller *c = job->caller;
    const PtcToolInfo *info = &job->tool->info;
    PtcWrite *w = info->read_only || (!reply->did && reply->ended)
                      ? NULL
                      : ptc_writes_add(&c->log->writes, c->mem);
    if (w)
        *w = (PtcWrite){.tool = {info->name, info->name_len},
                        .unknown = !reply->did,
                        .args = c->slots[0],
                        .result = reply->ok ? c->slots[1] : PTC_NIL};
}

/* {:ok false, :message "..."} */
static PtcValue new_error_map(PtcHeap *heap, PtcValue message)
{
    PtcValue ok = ptc_keyword_new(heap, "ok", 2), key = ptc_keyword_new(heap, "message", 7);
    PtcValue map = ptc_map_empty(heap);
    if (ok == PTC_NONE || key == PTC_NONE || map == PTC_NONE)
        return PTC_NONE;
    map = ptc_map_assoc(heap, map, ok, PTC_FALSE);
    return map == PTC_NONE ? map : ptc_map_assoc(heap, map, key, message);
}

/* What went wrong, how often it was tried, and for a tool that changes something whether it may have done so. */
static PtcValue new_failure_text(const CallJob *job, const PtcToolReply *reply)
{
    char text[PTC_TOOL_TEXT], tail[80] = "";
    size_t most = sizeof text - sizeof tail, len = strlen(reply->error);
    size_t n = ptc_utf8_valid_prefix(reply->error, len < most ? len : most);
    if (job->tries > 1)
        snprintf(tail, sizeof tail, " (tried %u times)", (unsigned)job->tries);
    if (reply->fault.reason && !job->tool->info.read_only)
        snprintf(tail + strlen(tail), sizeof tail - strlen(tail), "; it %s",
                 job->unknown ? "may have taken effect" : "did not take effect");
    snprintf(text, sizeof text, "%.*s%s", PTC_ARG_OF(reply->error, n), tail);
    return ptc_str_new(job->caller->heap, text, strlen(text));
}

/* A failure: recorded, then reported, or turned into a value. */
static bool give_failure(CallJob *job, const PtcToolReply *reply, PtcValue *out)
{
    PtcCaller *c = job->caller;
    PtcValue text = new_failure_text(job, reply);
    if (text == PTC_NONE)
        return false;
    c->slots[1] = text;
    log_tool_call(job, false, text);
    if (c->raw || !job->tool->info.on_error_value)
        return fail_tool_call(job, PTC_E_TOOL, ptc_str_bytes(text));
    *out = new_error_map(c->heap, text);
    if (*out == PTC_NONE && recover_caller(job))
        *out = new_error_map(c->heap, c->slots[1]);
    return *out != PTC_NONE;
}

/* ------------------------------------------------------------------------------- waiting */

static int64_t earlier_time(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* In the system's clock: when the call times out or the run is over. */
static int64_t tool_call_end(const CallJob *job)
{
    const PtcBudget *b = job->caller->budget;
    int64_t begun = job->now_ns, most = job->tool->info.timeout_ms;
    int64_t now = b->clock_ns == ptc_clock_ns ? begun : ptc_clock_ns(NULL);
    int64_t end = ptc_budget_end(b), left = end == INT64_MAX ? INT64_MAX : end - begun;
    if (most > 0 && most < INT64_MAX / PTC_MS)
        left = earlier_time(left, most * PTC_MS);
    return left > INT64_MAX - now ? INT64_MAX : now + left;
}

/* Waits until the condition is signalled or `end`, in the system's clock, but for WAIT_MS at most. */
static void wait_a_little(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t end)
{
    int64_t until = earlier_time(ptc_clock_ns(NULL) + CALL_WAIT_MS * PTC_MS, end);
    (void)ptc_cond_wait_until(cond, lock, until);
}

/* Waits until the tool answers or the wait must end.  In short steps, so that a cancel is noticed soon. */
static void wait_for_tool(PtcToolCall *call)
{
    PtcBudget *b = call->budget;
    pthread_mutex_lock(&call->lock);
    while (!call->answered && !atomic_load(&call->cancelled)) {
        wait_a_little(&call->answered_now, &call->lock, call->end_ns);
        if (!call->answered && (ptc_cancelled(b->cancel) || ptc_clock_ns(NULL) >= call->end_ns ||
                                b->clock_ns(b->clock_user) >= ptc_budget_end(b)))
            atomic_store(&call->cancelled, true);
    }
    pthread_mutex_unlock(&call->lock);
}

/* The caller has been waiting since the clock was last read, perhaps in a pause. */
static void end_tool_pause(CallJob *job, bool paused)
{
    PtcBudget *b = job->caller->budget;
    int64_t now = ptc_budget_now(b), waited = now - job->now_ns;
    job->now_ns = now;
    if (paused)
        ptc_budget_resume(b, waited);
    else
        ptc_budget_waited(b, waited);
}

/* Waits for its turn with a serial tool; the time limit of the call starts after that.  False: the run is over. */
static bool take_serial_turn(CallJob *job, PtcSerial *turn)
{
    bool go_on;
    pthread_mutex_lock(&turn->lock);
    while ((go_on = ptc_budget_look_waiting(job->caller->budget)) && turn->taken)
        wait_a_little(&turn->over, &turn->lock, INT64_MAX);
    turn->taken = turn->taken || go_on;
    pthread_mutex_unlock(&turn->lock);
    end_tool_pause(job, false);
    return go_on;
}

static void give_turn(PtcSerial *turn)
{
    pthread_mutex_lock(&turn->lock);
    turn->taken = false;
    pthread_cond_signal(&turn->over);
    pthread_mutex_unlock(&turn->lock);
}

/* -------------------------------------------------------------------------- calling it */

static void begin_tool_call(const CallJob *job, PtcToolCall *call)
{
    PtcCaller *c = job->caller;
    call->tool = job->tool;
    call->tools = c->run->tools;
    call->mem = c->mem;
    call->budget = c->budget;
    call->args = c->slots[0];
    call->host = c->run->host;
    call->data = (PtcData){NULL, c->heap};
    call->most_bytes = c->heap->tool_bytes;
    call->result = PTC_NONE;
    call->text = NULL;
    call->answered = call->ok = call->did = call->counted = call->elsewhere = false;
    call->fault = (PtcCallFault){.retry_after_ms = -1};
    atomic_init(&call->cancelled, false);
    atomic_init(&call->inside, true);
    ptc_buf_init(&call->json, c->mem, call->most_bytes);
    call->begun_ns = job->now_ns;
    if (job->tool->info.uncounted)
        ptc_budget_pause(c->budget);
    call->end_ns = tool_call_end(job);
}

static void clear_reply(PtcToolReply *reply)
{
    reply->ok = reply->ended = reply->did = false;
    reply->fault = (PtcCallFault){.retry_after_ms = -1};
    reply->error[0] = 0;
}

static PtcToolCall *new_counted(const CallJob *job)
{
    PtcMem *mem = &job->caller->run->tools->mem;
    PtcToolCall *call = ptc_mem_alloc(mem, sizeof *call);
    if (!call)
        return NULL;
    begin_tool_call(job, call);
    ptc_toolset_retain(call->tools);
    call->counted = true;
    call->thread = pthread_self();
    atomic_init(&call->refs, 2);
    pthread_mutex_init(&call->lock, NULL);
    ptc_cond_init(&call->answered_now);
    return call;
}

/* There was no answer: the tool was too slow, the run is over, or its function forgot to answer. */
static void explain_silence(const CallJob *job, PtcToolCall *call, PtcToolReply *reply)
{
    PtcBudget *b = job->caller->budget;
    bool late = (atomic_load(&call->cancelled) || ptc_clock_ns(NULL) >= call->end_ns) &&
                job->tool->info.timeout_ms > 0 && ptc_budget_look(b);
    job->failure->late = late;
    reply->fault = (PtcCallFault){late ? PTC_CALL_LATE : PTC_CALL_WELL, true, -1};
    if (late)
        snprintf(reply->error, sizeof reply->error, "it did not answer within %lld ms",
                 (long long)job->tool->info.timeout_ms);
    else if (b->stop == PTC_STOP_NONE && ptc_budget_look(b))
        snprintf(reply->error, sizeof reply->error, "it gave no answer");
}

/* Results that reach several threads at the same time may not fit together: so they are parsed one after another. */
static PtcValue parse_text(const CallJob *job, const PtcToolCall *call, PtcToolReply *reply)
{
    PtcCaller *c = job->caller;
    PtcText text = {call->text, call->text_len};
    for (int i = 0;; i++) {
        bool crowded;
        PtcValue v = ptc_call_parse(c->heap, text, reply->error, sizeof reply->error, &crowded);
        if (v != PTC_NONE || !crowded || i == PARSE_TRIES || !recover_caller(job))
            return v;
        reply->error[0] = 0;
    }
}

static void take_tool_answer(CallJob *job, PtcToolCall *call, PtcToolReply *reply)
{
    PtcCaller *c = job->caller;
    if (!call->answered) {
        explain_silence(job, call, reply);
        return;
    }
    reply->ended = !ptc_call_is_unsure(&call->fault);
    reply->did = call->ok || call->did;
    if (!call->ok) {
        reply->fault = call->fault;
        size_t most = sizeof reply->error - 1, n = call->text_len < most ? call->text_len : most;
        if (n)
            memcpy(reply->error, call->text, n);
        reply->error[n] = 0;
        return;
    }
    c->slots[1] = call->result == PTC_NONE ? parse_text(job, call, reply) : call->result;
    reply->ok = c->slots[1] != PTC_NONE;
}

/* Do we have to end the tool's share of a counted call?  A call that is answered elsewhere ends it there. */
static bool share_is_left(PtcToolCall *call, bool pending)
{
    pthread_mutex_lock(&call->lock);
    bool left = pending ? call->answered && !call->elsewhere : !call->elsewhere;
    pthread_mutex_unlock(&call->lock);
    return left;
}

/* After the function, and the wait if there was one. */
static void end_tool_call(CallJob *job, PtcToolCall *call, PtcToolReply *reply)
{
    PtcHeap *heap = job->caller->heap;
    /* Before its result is parsed, which is not the tool's time; one that answered in JSON has paused already. */
    ptc_call_pause(call);
    job->took_ns += call->begun_ns - job->now_ns;
    job->now_ns = call->begun_ns;
    take_tool_answer(job, call, reply);
    ptc_heap_tool_end(heap, reply->ok ? job->caller->slots[1] : PTC_NONE);
    if (call->json.data)
        ptc_buf_deinit(&call->json);
}

static PTC_NOINLINE void call_counted(CallJob *job, PtcToolReply *reply)
{
    PtcToolCall *call = new_counted(job);
    if (!call) {
        ptc_budget_halt(job->caller->budget, PTC_STOP_MEMORY);
        return;
    }
    ptc_heap_tool_begin(job->caller->heap);
    bool pending = job->tool->function(call, job->tool->user) == PTC_TOOL_PENDING;
    if (pending) {
        atomic_store(&call->inside, false);
        wait_for_tool(call);
    }
    end_tool_call(job, call, reply);
    if (share_is_left(call, pending))
        ptc_call_release(call);
    ptc_call_release(call);
}

static void call_native(CallJob *job, PtcToolReply *reply)
{
    PtcToolCall call;
    if (job->tool->pending) {
        call_counted(job, reply);
        return;
    }
    begin_tool_call(job, &call);
    ptc_heap_tool_begin(job->caller->heap);
    (void)job->tool->function(&call, job->tool->user);
    end_tool_call(job, &call, reply);
    if (call.text)
        ptc_mem_free(&call.tools->mem, call.text, call.text_len + 1);
}

static void call_lisp(CallJob *job, PtcToolReply *reply)
{
    PtcBudget *b = job->caller->budget;
    job->caller->hooks->run_lisp(job->caller->user, job->tool->lisp, job->caller->slots, reply);
    reply->ended = reply->ok || b->stop == PTC_STOP_NONE;
    reply->did = reply->ok;
    int64_t now = ptc_budget_now(b);
    job->took_ns = now - job->now_ns;
    job->now_ns = now;
}

/* Counted before the call, so that a call whose end is never seen is known to have started. */
static void count_start(const CallJob *job)
{
    PtcToolTally *tally = job->caller->run->tally;
    if (tally)
        atomic_fetch_add(&tally[job->number].started, 1);
}

static void count_end(CallJob *job, const PtcToolReply *reply)
{
    PtcToolTally *tally = job->caller->run->tally;
    job->unknown = job->unknown && !reply->ok;
    if (tally && !job->unknown)
        atomic_fetch_add(reply->ok ? &tally[job->number].ok : &tally[job->number].failed, 1);
}

/* A call that changes something is awaited even if another item of its pmap has failed meanwhile: whoever corrects
 * the program must know what was done. */
static void call_to_its_end(CallJob *job, PtcToolReply *reply)
{
    PtcBudget *b = job->caller->budget;
    const PtcCancel *cancel = b->cancel;
    if (!job->tool->info.read_only)
        b->cancel = ptc_cancel_from_outside(cancel);
    if (job->tool->lisp != PTC_NONE)
        call_lisp(job, reply);
    else
        call_native(job, reply);
    b->cancel = cancel;
}

/* False: it was not called. */
static bool call_in_turn(CallJob *job, PtcToolReply *reply)
{
    PtcSerial *turn = job->tool->turn;
    if (turn && !take_serial_turn(job, turn))
        return false;
    if (job->tries++ == 0)
        count_start(job);
    call_to_its_end(job, reply);
    job->unknown = job->unknown || !reply->ended;
    if (turn)
        give_turn(turn);
    return true;
}

/* ------------------------------------------------------------------------------- retries */

/* How long to wait before the next try; -1: there is none.  A wait beyond the time that is left would be in vain. */
static int64_t find_retry_wait(const CallJob *job, const PtcCallFault *fault)
{
    const PtcToolInfo *info = &job->tool->info;
    int64_t left = ptc_budget_end(job->caller->budget) - job->now_ns;
    if (!ptc_call_reasons[fault->reason].may_repeat || !ptc_tool_is_retried(info) ||
        job->tries >= info->retry.attempts)
        return -1;
    int64_t ms = fault->retry_after_ms >= 0 ? fault->retry_after_ms
                                            : info->retry.base_ms << (job->tries - 1);
    return ms < left / PTC_MS ? ms * PTC_MS : -1;
}

/* Waits in short steps, so that a cancel is noticed soon.  False: the run is over. */
static bool sit_out_retry_wait(CallJob *job, int64_t wait_ns)
{
    struct timespec step = {.tv_nsec = CALL_WAIT_MS * PTC_MS};
    int64_t end = ptc_clock_ns(NULL) + wait_ns;
    bool go_on;
    while ((go_on = ptc_budget_look_waiting(job->caller->budget)) && ptc_clock_ns(NULL) < end)
        nanosleep(&step, NULL);
    end_tool_pause(job, false);
    return go_on;
}

static PTC_NOINLINE void call_again(CallJob *job, PtcToolReply *reply)
{
    int64_t wait;
    while (!reply->ok && (wait = find_retry_wait(job, &reply->fault)) >= 0 &&
           sit_out_retry_wait(job, wait)) {
        job->failure->late = false;
        clear_reply(reply);
        (void)call_in_turn(job, reply); /* if the run is over, no reason is left to go on */
    }
}

/* Calls it until that goes well or another try is of no use.  To everybody else this is one call.  False: it was not
 * called. */
static bool call_with_retries(CallJob *job, PtcToolReply *reply)
{
    bool called = call_in_turn(job, reply);
    if (called && !reply->ok)
        call_again(job, reply);
    if (called)
        count_end(job, reply);
    return called;
}

/* The same with notifications to the observer, from before the turn is taken until after it is given back: an
 * observer that waits in `end` does not hold up anybody. */
static bool call_watched(CallJob *job, PtcToolReply *reply)
{
    const PtcToolWatch *watch = job->tool->lisp == PTC_NONE ? job->caller->run->watch : NULL;
    if (!watch)
        return call_with_retries(job, reply);
    watch->begin(watch->user, job->tool);
    bool called = call_with_retries(job, reply);
    job->now_ns = ptc_budget_now(job->caller->budget);
    watch->end(watch->user, job->tool, reply->ok);
    end_tool_pause(job, false);
    return called;
}

static void offer_caller_work(const CallJob *job)
{
    if (job->caller->hooks->offer)
        job->caller->hooks->offer(job->caller->user);
}

static bool run_tool(CallJob *job, PtcValue *out)
{
    PtcCaller *c = job->caller;
    PtcToolReply reply;
    clear_reply(&reply);
    offer_caller_work(job);
    bool called = call_watched(job, &reply);
    bool over = !ptc_budget_look_at(c->budget, job->now_ns);
    if (job->pending && reply.ok)
        ptc_cache_put(c->run->cache, job->pending, c->slots[1]);
    else if (job->pending)
        ptc_cache_abandon(c->run->cache, job->pending);
    /* What happened outside is reported even when the run is over. */
    if (called)
        note_write(job, &reply);
    if (reply.ok && c->run->tools->learns && ptc_tool_is_open(job->tool))
        ptc_tool_learn(c->run->tools, job->number, c->mem, c->slots[1]);
    if (called && (reply.ok || over))
        log_tool_call(job, reply.ok, reply.ok ? c->slots[1] : PTC_NONE);
    if (over)
        return false;
    if (!reply.ok)
        return give_failure(job, &reply, out);
    *out = c->slots[1];
    return true;
}

/* --------------------------------------------------------------------------------- cache */

/* Part of the wait is over.  Its time counts unless the other call's time did not; whoever waits for this call sees
 * the same. */
static bool keep_waiting_for_cache(void *user, bool paused)
{
    CallJob *job = user;
    PtcBudget *b = job->caller->budget;
    end_tool_pause(job, paused);
    if (paused)
        ptc_budget_pause(b);
    else
        ptc_budget_resume(b, 0);
    return ptc_budget_look_waiting(b);
}

/* Waiting for another thread's identical call counts as waiting for a tool. */
static PtcCacheAnswer look_up_cached(CallJob *job, const PtcBuf *key)
{
    PtcCaller *c = job->caller;
    PtcCacheWait wait = {keep_waiting_for_cache, job};
    ptc_heap_tool_begin(c->heap);
    PtcCacheAnswer answer = ptc_cache_begin(c->run->cache, key->data, key->len, c->heap, &wait,
                                            &c->slots[1], &job->pending);
    end_tool_pause(job, atomic_load(&c->budget->paused));
    ptc_heap_tool_end(c->heap, answer == PTC_CACHE_HIT ? c->slots[1] : PTC_NONE);
    return answer;
}

static bool call_cached(CallJob *job, PtcValue *out)
{
    PtcCaller *c = job->caller;
    const PtcToolInfo *info = &job->tool->info;
    PtcBuf key;
    PtcKeysError error;
    ptc_buf_init(&key, c->mem, CALL_KEY_BYTES);
    bool keyed = ptc_cache_key(c->heap, &key, info->name, info->name_len, c->slots[0], &error);
    offer_caller_work(job);
    PtcCacheAnswer answer = keyed ? look_up_cached(job, &key) : PTC_CACHE_BYPASS;
    ptc_buf_deinit(&key);
    if (answer == PTC_CACHE_STOPPED || c->budget->stop != PTC_STOP_NONE)
        return ptc_budget_halt(c->budget, PTC_STOP_MEMORY);
    if (answer != PTC_CACHE_HIT)
        return run_tool(job, out);
    job->cached = true;
    log_tool_call(job, true, c->slots[1]);
    *out = c->slots[1];
    return true;
}

/* ---------------------------------------------------------------------------------- all */

static bool count_tool_call(CallJob *job)
{
    PtcToolRun *run = job->caller->run;
    int64_t before = atomic_load_explicit(&run->calls, memory_order_relaxed);
    if (job->caller->heap->account) /* in a pmap */
        before = atomic_fetch_add(&run->calls, 1);
    else /* nobody else calls; a locked instruction would be 5% of a call */
        atomic_store_explicit(&run->calls, before + 1, memory_order_relaxed);
    return before < run->max_calls || fail_tool_call(job, PTC_E_TOOL_LIMIT, "");
}

/* When the call begins.  False: the run is over.  A tool that is called in a small loop finds that next to no time has
 * passed since the end of the last call, and only a cancel is new: that saves 30 instructions and a look at the counter
 * of the processor, a tenth of the call. */
static bool begin_job_time(CallJob *job)
{
    PtcBudget *b = job->caller->budget;
    if (ptc_budget_just_looked(b) && !ptc_cancelled(b->cancel)) {
        job->now_ns = b->read_ns;
        return true;
    }
    job->now_ns = ptc_budget_now(b);
    return ptc_budget_look_at(b, job->now_ns);
}

bool ptc_tool_call(PtcCaller *c, uint32_t number, int argc, const PtcValue *argv, PtcValue *out,
                   PtcToolFailure *failure)
{
    CallJob job = {.caller = c, .number = number, .failure = failure};
    job.tool = &c->run->tools->items[number];
    failure->kind = PTC_E_NONE;
    failure->late = false;
    failure->text[0] = 0;
    if (c->hooks->make_room && !c->hooks->make_room(c->user))
        return false;
    if (!begin_job_time(&job) || !read_tool_args(&job, argc, argv) ||
        (has_sig_params(job.tool) && !coerce_args(&job)) || !count_tool_call(&job))
        return false;
    return job.tool->info.cache && c->run->cache ? call_cached(&job, out) : run_tool(&job, out);
}
