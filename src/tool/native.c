/* SPDX-License-Identifier: MIT */
#include "tool/native.h"

#include <stdio.h>

#include "json/parse.h"
#include "lisp/program.h"
#include "tool/convert.h"

enum { MIB = 1024 * 1024, MEMORY = 32 * MIB, DEPTH = 1000 };

/* The VM is for tools in PTC-Lisp, and for the heap and the budget that all tools see. */
struct PtcNative {
    PtcMem mem;
    PtcPool pool;
    PtcNames names;
    PtcVM vm;
};

static const PtcLimits limits = {
    .size = sizeof(PtcLimits),
    .timeout_ms = 1000,
    .deadline_ms = (int64_t)1 << 40,
    .loop_limit = 1000000,
    .max_depth = DEPTH,
    .max_int_bits = 1 << 18,
    .program_bytes = 0,
    .print_bytes = 4096,
    .max_workers = 1,
};

/* It lives in the ledger that it holds, as engines do. */
PtcNative *ptc_native_new(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    PtcNative *n = ptc_mem_alloc(&mem, sizeof *n);
    if (!n)
        return NULL;
    ptc_mem_init(&n->mem, SIZE_MAX / 2);
    ptc_pool_init(&n->pool, &n->mem);
    ptc_names_init(&n->names, &n->mem);
    if (ptc_vm_init(&n->vm, &n->mem, DEPTH))
        return n;
    ptc_pool_deinit(&n->pool);
    ptc_mem_free(&mem, n, sizeof *n);
    return NULL;
}

void ptc_native_free(PtcNative *n)
{
    PtcMem mem;
    if (!n)
        return;
    ptc_vm_deinit(&n->vm);
    ptc_names_deinit(&n->names);
    ptc_pool_deinit(&n->pool);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    atomic_store(&mem.used, sizeof *n);
    ptc_mem_free(&mem, n, sizeof *n);
}

/* ------------------------------------------------------------------------------ one call */

/* What went wrong where no tool said so. */
static const char *reason(const PtcVM *vm)
{
    switch (vm->budget.stop) {
    case PTC_STOP_NONE: return vm->failed ? vm->error.message : "it gave no answer";
    case PTC_STOP_CANCELLED: return "it was cancelled";
    case PTC_STOP_TIMEOUT:
    case PTC_STOP_DEADLINE: return "it did not answer in time";
    default: return "its arguments and result take too much memory";
    }
}

static bool say(PtcBuf *out, const char *text)
{
    ptc_buf_clear(out);
    return ptc_buf_add_cstr(out, text);
}

/* The result as JSON; what has none is the tool's mistake. */
static bool give(PtcVM *vm, PtcValue result, PtcBuf *out, bool *ok)
{
    PtcJsonError e = {0};
    char text[400];
    *ok = ptc_to_json_value(vm->heap, out, result, -1, &e);
    if (*ok)
        return true;
    if (out->failed)
        return false;
    snprintf(text, sizeof text,
             "its result has no JSON%s%s%s%s: it is too large, or holds what JSON cannot say",
             e.what[0] ? ": " : "", e.what, e.path[0] ? " at " : "", e.path);
    return say(out, text);
}

/* What a model sees of the result: all of it, or a preview that names the program for the rest. */
static bool show(PtcVM *vm, const PtcTool *tool, PtcValue args, PtcValue result, PtcBuf *out,
                 bool *ok)
{
    PtcNativeResult how = tool->info.native_result;
    how.user = (void *)(uintptr_t)tool;
    *ok = ptc_preview(vm->heap, out, &how, tool->info.name, tool->info.name_len, args, result) !=
          PTC_PREVIEW_FAILED;
    return *ok || (!out->failed && say(out, reason(vm)));
}

static bool ask(PtcVM *vm, size_t tool, bool preview, const char *args, size_t len, PtcBuf *out,
                bool *ok)
{
    PtcJsonError e = {0};
    PtcValue result = PTC_NONE, map = ptc_json_parse(vm->heap, args, len, &e);
    char error[2048];
    *ok = false;
    if (map == PTC_NONE)
        return say(out, e.stopped ? reason(vm) : "its arguments are not JSON");
    if (!ptc_is_map(map))
        return say(out, "its arguments must be an object");
    const PtcToolRun *run = vm->host_user;
    const PtcTool *t = &run->tools->items[tool];
    bool shown = preview && run->cache && t->info.has_native_result;
    if (ptc_tools_ask(vm, (uint32_t)tool, map, &result, error, sizeof error))
        return shown ? show(vm, t, map, result, out, ok) : give(vm, result, out, ok);
    return say(out, error[0] ? error : reason(vm));
}

static void begin(PtcNative *n, PtcHeap *heap, PtcToolRun *run, const PtcNativeOptions *options)
{
    PtcVM *vm = &n->vm;
    PtcProgram p = {.source = "",
                    .context = PTC_NIL,
                    .names = &n->names,
                    .limits = limits,
                    .host = &run->tools->host,
                    .host_user = run,
                    .journal = PTC_NIL,
                    .remaining = PTC_NIL,
                    .heap = heap};
    p.limits.memory_bytes = options->memory_bytes > 0 ? options->memory_bytes : MEMORY;
    p.limits.tool_bytes = p.limits.memory_bytes;
    ptc_budget_init(&vm->budget);
    ptc_heap_init(heap, &n->pool, &vm->budget, (size_t)p.limits.memory_bytes);
    ptc_vm_start(vm, &p);
    vm->budget.cancel = options->cancel;
    if (options->deadline_ns > 0)
        vm->budget.deadline_ns = options->deadline_ns;
}

static void end(PtcVM *vm, PtcHeap *heap)
{
    ptc_prints_deinit(&vm->prints);
    ptc_log_deinit(&vm->log, vm->mem);
    ptc_heap_deinit(heap);
}

bool ptc_native_call(PtcNative *n, PtcTools *tools, size_t tool, const char *args, size_t args_len,
                     const PtcNativeOptions *options, PtcBuf *out, bool *ok)
{
    static const PtcNativeOptions none;
    PtcHeap heap;
    if (!options)
        options = &none;
    PtcToolRun run = {.tools = tools, .cache = options->cache, .max_calls = INT64_MAX};
    begin(n, &heap, &run, options);
    bool told = ask(&n->vm, tool, options->preview, args, args_len, out, ok);
    end(&n->vm, &heap);
    return told;
}

bool ptc_tools_call_json(PtcTools *tools, const char *name, size_t name_len, const char *args,
                         size_t args_len, const PtcNativeOptions *options, PtcBuf *out, bool *ok)
{
    int tool = tools->host.find(&tools->host, name, name_len);
    *ok = false;
    if (tool < 0)
        return say(out, "there is no such tool");
    PtcNative *n = ptc_native_new();
    bool told = n && ptc_native_call(n, tools, (size_t)tool, args, args_len, options, out, ok);
    ptc_native_free(n);
    return told;
}
