/* SPDX-License-Identifier: MIT
 * Calls that the host makes for a model.  They need no VM, except for a tool written in PTC-Lisp: the VM is made for
 * the first of those. */
#include "tool/kind/native.h"

#include <stdio.h>

#include "json/parse.h"
#include "lisp/compile/program.h"
#include "lisp/vm/limits.h"
#include "tool/call.h"
#include "tool/convert.h"

enum { NATIVE_MEMORY = 32 * PTC_MB, NATIVE_DEPTH = 1000, NATIVE_SLOTS = 2 };

struct PtcNative {
    PtcMem mem;
    PtcPool pool;
    PtcNames names; /* always empty: a tool has no globals */
    PtcBudget budget;
    PtcVM vm; /* its mem is NULL before the first tool in PTC-Lisp */
};

/* A call in progress. */
typedef struct Call {
    PtcNative *native;
    const PtcNativeOptions *options;
    PtcHeap heap;
    PtcToolRun run;
    PtcLog log; /* nobody reads it, but the call adds to it all the same */
    PtcValue slots[NATIVE_SLOTS];
    PtcCaller caller;
    PtcNativeAnswer *answer;
} Call;

/* It lives in the ledger that it contains, as engines do. */
PtcNative *ptc_native_new(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcNative *n = ptc_mem_alloc(&mem, sizeof *n);
    if (!n)
        return NULL;
    ptc_mem_init(&n->mem, PTC_UNBOUNDED);
    ptc_pool_init(&n->pool, &n->mem);
    ptc_names_init(&n->names, &n->mem);
    n->vm.mem = NULL;
    return n;
}

void ptc_native_free(PtcNative *n)
{
    PtcMem mem;
    if (!n)
        return;
    if (n->vm.mem)
        ptc_vm_deinit(&n->vm);
    ptc_names_deinit(&n->names);
    ptc_pool_deinit(&n->pool);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *n);
    ptc_mem_free(&mem, n, sizeof *n);
}

/* ---------------------------------------------------------------------- tools in PTC-Lisp */

/* The run around the call has a deadline; the heap of the call is all that it may fill. */
static PtcLimits native_limits(const Call *call)
{
    PtcLimits limits = ptc_default_limits;
    limits.deadline_ms = (int64_t)1 << 40;
    limits.max_depth = NATIVE_DEPTH;
    limits.print_bytes = 4096;
    limits.max_workers = 1;
    limits.memory_bytes = limits.tool_bytes = (int64_t)call->heap.limit;
    return limits;
}

/* The first slot is the argument, the second becomes the result; all of them stay alive. */
static void run_in_vm(Call *call, PtcValue function, PtcValue *slots, size_t slot_count,
                      PtcToolReply *reply)
{
    PtcVM *vm = &call->native->vm;
    PtcProgram p = {.source = "",
                    .context = PTC_NIL,
                    .names = &call->native->names,
                    .limits = native_limits(call),
                    .host = &call->run.tools->host,
                    .host_user = &call->run,
                    .journal = PTC_NIL,
                    .remaining = PTC_NIL,
                    .heap = &call->heap};
    vm->budget = *call->caller.budget;
    ptc_vm_start(vm, &p);
    vm->budget.cancel = call->caller.budget->cancel;
    vm->budget.deadline_ns = call->caller.budget->deadline_ns;
    vm->budget.hard_ns = call->caller.budget->hard_ns;
    vm->kept = slots;
    vm->kept_count = slot_count;
    call->heap.budget = &vm->budget;
    ptc_vm_run_tool(vm, function, slots, reply);
    call->heap.budget = call->caller.budget;
    call->caller.budget->stop = vm->budget.stop;
    ptc_prints_deinit(&vm->prints);
    ptc_warnings_deinit(&vm->warnings);
    ptc_log_deinit(&vm->log, vm->mem);
}

static void run_native_lisp(void *user, PtcValue function, PtcValue *slots, PtcToolReply *reply)
{
    Call *call = user;
    PtcNative *n = call->native;
    if (n->vm.mem || ptc_vm_init(&n->vm, &n->mem, NATIVE_DEPTH))
        run_in_vm(call, function, slots, NATIVE_SLOTS, reply);
    else
        ptc_budget_halt(call->caller.budget, PTC_STOP_MEMORY);
}

/* A preview that is being made. */
typedef struct LispPreview {
    Call *call;
    const PtcTool *tool;
    PtcValue args;
} LispPreview;

/* A preview that takes too long or too much memory is dropped: the call itself goes on. */
bool ptc_native_preview(void *user, PtcHeap *heap, PtcValue result, PtcValue *preview)
{
    LispPreview *p = user;
    PtcNative *n = p->call->native;
    PtcBudget *budget = p->call->caller.budget;
    PtcToolReply reply = {.ok = false};
    PtcValue slots[] = {result, PTC_NIL, result, p->args};
    if (heap != &p->call->heap || (!n->vm.mem && !ptc_vm_init(&n->vm, &n->mem, NATIVE_DEPTH)))
        return false;
    run_in_vm(p->call, p->tool->preview_lisp, slots, sizeof slots / sizeof *slots, &reply);
    if (budget->stop != PTC_STOP_CANCELLED && budget->stop != PTC_STOP_DEADLINE)
        budget->stop = PTC_STOP_NONE;
    *preview = slots[1];
    return reply.ok;
}

static const PtcCallerHooks hooks = {.run_lisp = run_native_lisp};

/* ------------------------------------------------------------------------------ one call */

static const char *native_stop_text(PtcStop stop)
{
    switch (stop) {
    case PTC_STOP_NONE: return "it gave no answer";
    case PTC_STOP_CANCELLED: return "it was cancelled";
    case PTC_STOP_TIMEOUT:
    case PTC_STOP_DEADLINE: return "it did not answer in time";
    default: return "its arguments and result take too much memory";
    }
}

/* Text in place of a result. */
static bool say_native_end(Call *call, PtcNativeEnd end, const char *text, PtcBuf *out)
{
    call->answer->end = end;
    ptc_buf_clear(out);
    return ptc_buf_add_cstr(out, text);
}

static bool say_stop(Call *call, PtcBuf *out)
{
    PtcStop stop = call->caller.budget->stop;
    PtcNativeEnd end = stop == PTC_STOP_NONE        ? PTC_NATIVE_FAILED
                       : stop == PTC_STOP_CANCELLED ? PTC_NATIVE_CANCELLED
                       : stop == PTC_STOP_TIMEOUT || stop == PTC_STOP_DEADLINE ? PTC_NATIVE_TIMEOUT
                                                                               : PTC_NATIVE_MEMORY;
    return say_native_end(call, end, native_stop_text(stop), out);
}

/* The result as JSON; a result without a JSON form is the tool's mistake. */
static bool give_native_json(Call *call, PtcValue result, PtcBuf *out)
{
    PtcJsonError e = {0};
    char text[400];
    if (ptc_to_json_value(&call->heap, out, result, -1, &e))
        return true;
    if (out->failed)
        return false;
    snprintf(
        text, sizeof text,
        "its result has no JSON%s%s%s%s: it is too large, or has values that JSON cannot express",
        e.what[0] ? ": " : "", e.what, e.path[0] ? " at " : "", e.path);
    return say_native_end(call, PTC_NATIVE_FAILED, text, out);
}

/* What a model sees of the result: all of it, or a preview with the program that gets the rest. */
static bool show_native_result(Call *call, const PtcTool *tool, PtcValue args, PtcValue result,
                               PtcBuf *out)
{
    PtcNativeResult how = tool->info.native_result;
    LispPreview by_lisp = {call, tool, args};
    how.user = tool->preview_lisp == PTC_NONE ? (void *)(uintptr_t)tool : &by_lisp;
    call->answer->preview = ptc_preview(&call->heap, out, &how, tool->info.name,
                                        tool->info.name_len, args, result) != PTC_PREVIEW_FAILED;
    return call->answer->preview || (!out->failed && say_stop(call, out));
}

/* Programs are told which tool it was; a model knows, so it only gets the reason, except for wrong arguments. */
static bool explain_native_failure(Call *call, const PtcTool *tool, const PtcToolFailure *failure,
                                   PtcBuf *out)
{
    if (failure->kind == PTC_E_TOOL)
        return say_native_end(call, failure->late ? PTC_NATIVE_TIMEOUT : PTC_NATIVE_FAILED,
                              failure->text, out);
    if (failure->kind != PTC_E_TOOL_ARGS)
        return say_stop(call, out);
    call->answer->end = PTC_NATIVE_ARGS;
    ptc_buf_clear(out);
    return ptc_buf_addf(out, "tool/%.*s: %s", PTC_ARG_OF(tool->info.name, tool->info.name_len),
                        failure->text);
}

static bool wants_preview(const PtcNativeOptions *options, const PtcToolInfo *info)
{
    return (options->preview && info->has_native_result) ||
           (options->preview_all && info->cache && info->expose == PTC_EXPOSE_BOTH);
}

static bool call_native_tool(Call *call, const PtcTool *tool, PtcValue map, PtcBuf *out)
{
    PtcToolFailure failure;
    PtcValue result = PTC_NONE;
    uint32_t number = (uint32_t)(tool - call->run.tools->items);
    bool shown = call->run.cache && wants_preview(call->options, &tool->info);
    bool ok = ptc_tool_call(&call->caller, number, 1, &map, &result, &failure);
    if (call->log.count > 0) {
        const PtcLogEntry *e = &call->log.items[call->log.count - 1];
        call->answer->cached = e->cached;
        call->answer->unknown = e->unknown;
        call->answer->tries = e->tries;
        call->answer->took_ns = e->took_ns;
        call->answer->ended_ns = e->ended_ns;
    }
    if (!ok)
        return explain_native_failure(call, tool, &failure, out);
    return shown ? show_native_result(call, tool, call->slots[0], result, out)
                 : give_native_json(call, result, out);
}

static bool ask_native_tool(Call *call, int number, PtcText args, PtcBuf *out)
{
    PtcJsonError e = {0};
    if (number < 0)
        return say_native_end(call, PTC_NATIVE_UNKNOWN, "there is no such tool", out);
    PtcValue map = ptc_json_parse(&call->heap, args.bytes, args.len, &e);
    if (map == PTC_NONE && e.stopped)
        return say_stop(call, out);
    if (map == PTC_NONE)
        return say_native_end(call, PTC_NATIVE_ARGS, "its arguments are not JSON", out);
    if (!ptc_is_map(map))
        return say_native_end(call, PTC_NATIVE_ARGS, "its arguments must be an object", out);
    return call_native_tool(call, &call->run.tools->items[number], map, out);
}

static void begin_native_call(Call *call)
{
    PtcNative *n = call->native;
    const PtcNativeOptions *o = call->options;
    int64_t bytes = o->memory_bytes > 0 ? o->memory_bytes : NATIVE_MEMORY;
    ptc_budget_init(&n->budget);
    n->budget.cancel = o->cancel;
    n->budget.max_int_bits = ptc_default_limits.max_int_bits;
    if (o->deadline_ns > 0)
        n->budget.deadline_ns = n->budget.hard_ns = o->deadline_ns;
    if (o->hard_ns > 0)
        n->budget.hard_ns = o->hard_ns;
    ptc_heap_init(&call->heap, &n->pool, &n->budget, (size_t)bytes);
    call->heap.tool_bytes = (size_t)bytes;
    call->slots[0] = call->slots[1] = PTC_NIL;
    call->caller = (PtcCaller){.heap = &call->heap,
                               .mem = &n->mem,
                               .budget = &n->budget,
                               .run = &call->run,
                               .log = &call->log,
                               .slots = call->slots,
                               .hooks = &hooks,
                               .user = call,
                               .raw = true,
                               .issues = o->issues};
}

bool ptc_native_ask(PtcNative *n, PtcTools *tools, int tool, PtcText args,
                    const PtcNativeOptions *options, PtcBuf *out, PtcNativeAnswer *answer)
{
    static const PtcNativeOptions none;
    Call call = {.native = n, .options = options ? options : &none, .answer = answer};
    call.run = (PtcToolRun){.tools = tools,
                            .cache = call.options->cache,
                            .max_calls = INT64_MAX,
                            .host = call.options->host,
                            .tally = call.options->tally};
    *answer = (PtcNativeAnswer){.end = PTC_NATIVE_OK};
    begin_native_call(&call);
    bool told = ask_native_tool(&call, tool, args, out);
    ptc_log_deinit(&call.log, &n->mem);
    ptc_heap_deinit(&call.heap);
    return told;
}

bool ptc_native_call(PtcNative *n, PtcTools *tools, size_t tool, const char *args, size_t args_len,
                     const PtcNativeOptions *options, PtcBuf *out, bool *ok)
{
    PtcNativeAnswer answer;
    bool told =
        ptc_native_ask(n, tools, (int)tool, (PtcText){args, args_len}, options, out, &answer);
    *ok = told && answer.end == PTC_NATIVE_OK;
    return told;
}
