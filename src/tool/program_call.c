/* SPDX-License-Identifier: MIT
 * Calls that programs make: the VM as a caller, and failures as errors of the program.  What always holds: the VM is
 * in a safe state to collect whenever a hook is called. */
#include "tool/call.h"

#include <stdio.h>

#include "base/utf8.h"
#include "lisp/parallel/crew.h"
#include "lisp/vm/vm_int.h"

enum {
    PROGRAM_SLOTS = 2,
    SIGNATURE_SHOWN = 150,
    HINT_SHOWN = 180, /* of a signature and an example together, which a hint has room for */
    ARGS_SHOWN = 100,
    FAIL_SHOWN = 400
};

/* ----------------------------------------------------------------------------------- hooks */

static bool recover_vm(void *vm)
{
    return ptc_recover(vm);
}

/* Dead values are collected before a result comes in. */
static bool make_room_for_result(void *user)
{
    PtcVM *vm = user;
    const PtcHeap *heap = vm->heap;
    if (heap->used - heap->live <= heap->limit / 4 && !vm->budget.wake)
        return true;
    vm->budget.wake = true;
    return ptc_vm_safepoint(vm);
}

static void offer_vm_work(void *vm)
{
    ptc_crew_offer(vm);
}

/* How the function ended if it did not simply return a value: return gives one, fail and errors become the tool's
 * failure. */
static void take_lisp_end(PtcVM *vm, PtcValue *result, PtcToolReply *reply)
{
    PtcPrinter printer = ptc_vm_printer(vm, false);
    if (vm->control == PTC_CONTROL_RETURN) {
        *result = vm->result;
        reply->ok = true;
    } else if (vm->control == PTC_CONTROL_FAIL) {
        PtcBuf buf = {
            .mem = vm->mem, .data = reply->error, .cap = sizeof reply->error, .max = FAIL_SHOWN};
        if (!ptc_print(&printer, &buf, vm->result))
            buf.len = ptc_utf8_valid_prefix(reply->error, buf.len);
        reply->error[buf.len] = 0;
    } else {
        snprintf(reply->error, sizeof reply->error, "%s", vm->error.message);
    }
    vm->control = PTC_CONTROL_NONE;
    vm->failed = false;
    vm->error_value = vm->error_source = PTC_NIL;
    vm->error.first = vm->error.last = PTC_NO_PLACE;
}

void ptc_vm_run_tool(PtcVM *vm, PtcValue function, PtcValue *slots, PtcToolReply *reply)
{
    bool outer = vm->may_stop;
    vm->may_stop = true; /* return and fail must not be those of a pmap around the call */
    reply->ok = ptc_call(vm, function, 1, &slots[0], &slots[1]);
    vm->may_stop = outer;
    if (!reply->ok && vm->budget.stop == PTC_STOP_NONE)
        take_lisp_end(vm, &slots[1], reply);
}

static void run_vm_lisp(void *vm, PtcValue function, PtcValue *slots, PtcToolReply *reply)
{
    ptc_vm_run_tool(vm, function, slots, reply);
}

static const PtcCallerHooks vm_hooks = {recover_vm, make_room_for_result, NULL, run_vm_lisp};
/* In a pmap. */
static const PtcCallerHooks seat_hooks = {recover_vm, make_room_for_result, offer_vm_work,
                                          run_vm_lisp};

/* ---------------------------------------------------------------------------------- errors */

/* A call that would be right: "; for example (tool/price {:sku "text"})". */
static bool add_call_example(PtcBuf *out, const PtcToolInfo *info)
{
    if (!info->sig || !info->sig->has_params || info->sig->params.field_count == 0)
        return false;
    ptc_buf_addf(out, "; for example (tool/%.*s ", PTC_ARG_OF(info->name, info->name_len));
    return ptc_sig_example(out, &info->sig->params) && ptc_buf_add_char(out, ')');
}

static void write_call_hint(PtcMem *mem, const PtcToolInfo *info, char *out, size_t size)
{
    PtcBuf example;
    size_t shown = info->signature_len < SIGNATURE_SHOWN ? info->signature_len : SIGNATURE_SHOWN;
    if (!info->signature) {
        ptc_diag_format(out, size, "call it as (tool/%.*s {:name value})",
                        PTC_ARG_OF(info->name, info->name_len));
        return;
    }
    ptc_buf_init(&example, mem, HINT_SHOWN - shown);
    bool fits = add_call_example(&example, info);
    ptc_diag_format(out, size, "its signature is %.*s%.*s", PTC_ARG_OF(info->signature, shown),
                    PTC_ARG_OF(example.data, fits ? example.len : 0));
    ptc_buf_deinit(&example);
}

static bool fail_tool_args(PtcVM *vm, const PtcToolInfo *info, const char *text)
{
    char hint[PTC_HINT_MAX + 1];
    ptc_fail(vm, PTC_E_TOOL_ARGS, "tool/%.*s: %s", PTC_ARG_OF(info->name, info->name_len), text);
    write_call_hint(vm->mem, info, hint, sizeof hint);
    return ptc_fail_hint(vm, "%s", hint);
}

static void write_refusal(PtcMem *mem, const PtcToolInfo *info, const PtcSigIssues *errors,
                          PtcHostRefusal *out)
{
    PtcBuf text;
    ptc_buf_init(&text, mem, PTC_MESSAGE_MAX);
    if (!ptc_sig_issues_print(&text, errors, "; "))
        text.full = false;
    const char *issues = ptc_buf_text(&text);
    ptc_diag_format(out->message, PTC_MESSAGE_MAX, "tool/%.*s: %s",
                    PTC_ARG_OF(info->name, info->name_len),
                    issues ? issues : "its arguments are not what its signature says");
    write_call_hint(mem, info, out->hint, PTC_HINT_MAX);
    ptc_buf_deinit(&text);
}

bool ptc_program_refuses(const PtcHost *host, size_t number, PtcHeap *heap, PtcMem *mem,
                         PtcValue args, PtcHostRefusal *out)
{
    const PtcTools *tools = (const PtcTools *)(const void *)host;
    const PtcTool *t = number < tools->count ? &tools->items[number] : NULL;
    PtcSigIssues warnings, errors;
    if (!t || !t->shapes.takes) /* nothing is certain of it */
        return false;
    ptc_sig_issues_init(&warnings, mem);
    ptc_sig_issues_init(&errors, mem);
    PtcValue v = ptc_sig_leave_out_nil(heap, t->info.sig, args);
    if (v != PTC_NONE)
        v = ptc_sig_input(heap, t->info.sig, t->mode,
                          t->info.extra ? PTC_SIG_EXTRA_KEPT : PTC_SIG_EXTRA_REFUSED, v, &warnings,
                          &errors);
    bool refused = v == PTC_NONE && errors.count > 0;
    if (refused)
        write_refusal(mem, &t->info, &errors, out);
    else if (v == PTC_NONE)
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    ptc_sig_issues_deinit(&warnings);
    ptc_sig_issues_deinit(&errors);
    return refused;
}

static bool fail_call_limit(PtcVM *vm, int64_t most)
{
    ptc_fail(vm, PTC_E_TOOL_LIMIT, "the program passed its limit of %lld tool call%s",
             (long long)most, most == 1 ? "" : "s");
    return ptc_fail_hint(vm, "ask for more at once with fewer calls");
}

bool ptc_program_count_call(PtcVM *vm)
{
    PtcToolRun *run = vm->host_user;
    return !run || atomic_fetch_add(&run->calls, 1) < run->max_calls ||
           fail_call_limit(vm, run->max_calls);
}

void ptc_program_uncount_call(PtcVM *vm)
{
    PtcToolRun *run = vm->host_user;
    if (run)
        atomic_fetch_sub(&run->calls, 1);
}

static bool fail_tool(PtcVM *vm, const PtcToolInfo *info, const char *text, PtcValue args)
{
    PtcBuf buf;
    ptc_buf_init(&buf, vm->mem, ARGS_SHOWN);
    PtcPrinter printer = ptc_vm_printer(vm, true);
    bool whole = ptc_print(&printer, &buf, args);
    ptc_fail(vm, PTC_E_TOOL, "tool/%.*s failed: %s", PTC_ARG_OF(info->name, info->name_len), text);
    ptc_fail_hint(vm, "it was called with %.*s%s", PTC_ARG_OF(buf.data, buf.len),
                  whole ? "" : "...");
    ptc_buf_deinit(&buf);
    return false;
}

static bool report_tool_failure(PtcVM *vm, const PtcToolRun *run, uint32_t number, PtcValue args,
                                const PtcToolFailure *failure)
{
    const PtcToolInfo *info = &run->tools->items[number].info;
    switch (failure->kind) {
    case PTC_E_TOOL_ARGS: return fail_tool_args(vm, info, failure->text);
    case PTC_E_TOOL_LIMIT: return fail_call_limit(vm, run->max_calls);
    case PTC_E_TOOL: return fail_tool(vm, info, failure->text, args);
    default: return false; /* the budget says why */
    }
}

bool ptc_program_call(PtcVM *vm, uint32_t number, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcToolFailure failure;
    PtcToolRun *run = vm->host_user;
    PtcValue *slots = ptc_roots(vm, PROGRAM_SLOTS);
    if (!slots)
        return false;
    PtcCaller caller = {.heap = vm->heap,
                        .mem = vm->mem,
                        .budget = &vm->budget,
                        .run = run,
                        .log = &vm->log,
                        .slots = slots,
                        .hooks = vm->seat ? &seat_hooks : &vm_hooks,
                        .user = vm};
    return ptc_tool_call(&caller, number, argc, argv, out, &failure) ||
           report_tool_failure(vm, run, number, slots[0], &failure);
}
