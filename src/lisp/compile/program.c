/* SPDX-License-Identifier: MIT
 * One run from text to result: limits and clock, then reader, analyzer, compiler and VM in turn.  What always holds: a
 * run that hits a limit reports the limit, whatever else was found; what leaves the program holds nothing lazy. */
#include "lisp/compile/program.h"

#include <stdio.h>

#include "base/os/watch.h"
#include "lisp/analyze/expr.h"
#include "lisp/compile/compile.h"
#include "lisp/dispatch/dispatch.h"
#include "lisp/lazy/force.h"
#include "lisp/vm/deep.h"
#include "lisp/vm/registry.h"
#include "lisp/vm/vm_int.h"
#include "value/cell.h"
#include "value/coll/typed.h"
#include "value/regex/regex.h"
#include "value/time/time.h"

enum { FIRST_STACK = 256, STACK_KEPT = 8 * PTC_KB };

/* ------------------------------------------------------------------------ the VM */

bool ptc_vm_init(PtcVM *vm, PtcMem *mem, int64_t max_depth)
{
    memset(vm, 0, sizeof *vm);
    vm->mem = mem;
    size_t calls = (size_t)max_depth + 2;
    vm->stack = ptc_mem_alloc(mem, PTC_STACK_VALUES * sizeof *vm->stack);
    vm->calls = ptc_mem_alloc(mem, calls * sizeof *vm->calls);
    vm->roots = ptc_mem_alloc(mem, PTC_ROOT_SLOTS * sizeof *vm->roots);
    vm->calls_cap = calls;
    if (vm->stack && vm->calls && vm->roots) {
        vm->stack_end = vm->stack + PTC_STACK_VALUES;
        return true;
    }
    ptc_vm_deinit(vm);
    return false;
}

void ptc_vm_deinit(PtcVM *vm)
{
    bool deep = vm->stack_most && vm->stack_most - vm->stack > STACK_KEPT;
    void (*give)(PtcMem *, void *, size_t) = deep ? ptc_mem_free : ptc_mem_keep;
    give(vm->mem, vm->stack, PTC_STACK_VALUES * sizeof *vm->stack);
    give(vm->mem, vm->calls, vm->calls_cap * sizeof *vm->calls);
    give(vm->mem, vm->roots, PTC_ROOT_SLOTS * sizeof *vm->roots);
    ptc_stack_deinit(&vm->deep, vm->mem);
    vm->stack = NULL;
    vm->calls = NULL;
    vm->roots = NULL;
}

bool ptc_vm_ensure_depth(PtcVM *vm, int64_t depth)
{
    size_t need = (size_t)depth + 2;
    if (need <= vm->calls_cap)
        return true;
    PtcCall *p = ptc_mem_resize(vm->mem, vm->calls, vm->calls_cap * sizeof *p, need * sizeof *p);
    if (!p)
        return false;
    vm->calls = p;
    vm->calls_cap = need;
    return true;
}

void ptc_vm_trim(PtcVM *vm)
{
    size_t used = vm->stack_limit > vm->stack ? (size_t)(vm->stack_limit - vm->stack) : 0;
    if (used <= STACK_KEPT)
        return;
    ptc_vm_empty_stack(vm);
    ptc_mem_forget(vm->stack + STACK_KEPT, (used - STACK_KEPT) * sizeof *vm->stack);
    ptc_mem_forget(vm->calls, vm->calls_cap * sizeof *vm->calls);
}

static int64_t after_ms(int64_t now, int64_t ms)
{
    return ms > (INT64_MAX - now) / PTC_MS ? INT64_MAX : now + ms * PTC_MS;
}

/* A time of the system's clock in that of a budget, where it is `now`. */
static int64_t in_clock_of(const PtcBudget *b, int64_t now, int64_t ns)
{
    if (b->clock_ns == ptc_clock_ns || ns == INT64_MAX)
        return ns;
    int64_t left = ns - ptc_clock_ns(NULL);
    return left > INT64_MAX - now ? INT64_MAX : now + left;
}

static void start_budget(PtcVM *vm, const PtcProgram *p)
{
    const PtcLimits *limits = &p->limits;
    PtcBudget *b = &vm->budget;
    int64_t now = b->clock_ns(b->clock_user);
    ptc_fuel_fill(b);
    b->wake = vm->gc_stress;
    b->stop = PTC_STOP_NONE;
    b->what = NULL;
    b->nesting = 0;
    b->max_int_bits = limits->max_int_bits;
    b->compute_end_ns = after_ms(now, limits->timeout_ms);
    if (p->end_ns && p->end_ns < b->compute_end_ns)
        b->compute_end_ns = p->end_ns;
    b->deadline_ns = after_ms(now, limits->deadline_ms);
    b->hard_ns = p->hard_ns > 0 ? in_clock_of(b, now, p->hard_ns) : b->deadline_ns;
    b->pmap_ms = 0;
    atomic_store(&b->paused, false);
    ptc_watch_begin(vm->watch, b, now);
}

void ptc_vm_empty_stack(PtcVM *vm)
{
    vm->call = vm->calls - 1;
    vm->stack_limit = vm->stack + FIRST_STACK;
    for (size_t i = 0; i < FIRST_STACK; i++)
        vm->stack[i] = PTC_NIL;
    vm->running = 0;
    vm->native_depth = 0;
    vm->root_count = 0;
    vm->kept_count = 0;
    vm->args_end = NULL;
}

void ptc_vm_start(PtcVM *vm, const PtcProgram *p)
{
    start_budget(vm, p);
    vm->pmap_ms = p->pmap_ms;
    vm->heap = p->heap;
    size_t depth = (size_t)p->limits.max_depth + 1;
    vm->calls_end = vm->calls + (depth < vm->calls_cap ? depth : vm->calls_cap);
    ptc_vm_empty_stack(vm);
    vm->loops_left = p->limits.loop_limit;
    vm->names = p->names;
    vm->globals = NULL;
    vm->global_count = 0;
    vm->context = p->context;
    vm->program = vm->result = vm->error_value = vm->error_source = vm->memo = PTC_NIL;
    vm->held = vm->rooted = vm->defined = false;
    vm->host = p->host;
    vm->host_user = p->host_user;
    vm->servers = p->servers;
    vm->journal = (PtcNotes){p->journal, PTC_NIL};
    vm->remaining = p->remaining;
    vm->now_ms = p->now_ms ? p->now_ms : ptc_clock_wall_ms();
    vm->random = (uint64_t)p->limits.seed;
    vm->call_path = vm->call_count = 0;
    vm->math_digits = 0;
    vm->math_mode = 0;
    vm->summaries = (PtcNotes){PTC_NIL, PTC_NIL};
    vm->log = p->log;
    vm->seat = NULL;
    vm->limits = p->limits;
    vm->heap->tool_bytes = (size_t)p->limits.tool_bytes;
    vm->may_stop = true;
    vm->endless = NULL;
    vm->made_lazy = vm->lazy_refused = false;
    ptc_prints_init(&vm->prints, vm->mem, (size_t)p->limits.print_bytes);
    vm->warnings = (PtcWarnings){0};
    vm->control = PTC_CONTROL_NONE;
    vm->failed = false;
    vm->error.first = vm->error.last = PTC_NO_PLACE;
}

/* --------------------------------------------------------------------- the phases */

/* A phase before the run failed.  When memory or time ran out, findings may be missing or wrong: the
 * limit is what is reported then. */
static bool fail_early(PtcVM *vm, PtcDiags *diags, PtcArena *arena)
{
    if (diags->count > 0 && !arena->failed && vm->budget.stop == PTC_STOP_NONE)
        return false;
    ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY); /* unless a stop stands already */
    ptc_vm_stopped(vm);
    vm->error.first = vm->error.last = 0;
    return false;
}

static bool check_program_size(PtcDiags *diags, const PtcProgram *p)
{
    if (p->len <= (size_t)p->limits.program_bytes)
        return true;
    PtcDiag *d =
        ptc_diag_add(diags, PTC_E_SIZE, 0, 0, "the program has %zu bytes, the limit is %lld",
                     p->len, (long long)p->limits.program_bytes);
    ptc_diag_hint(d, "pass data as context instead of writing it into the program");
    return false;
}

static PtcValue prepare_program(PtcVM *vm, const PtcProgram *p, PtcArena *arena, PtcDiags *diags,
                                PtcPhase *phase)
{
    PtcForm **forms;
    size_t count;
    *phase = PTC_PHASE_PARSE;
    PtcReader reader = {p->source, p->len, arena, vm->heap, diags};
    if (!check_program_size(diags, p) || !ptc_read(&reader, &forms, &count))
        return PTC_NONE;
    *phase = PTC_PHASE_CHECK;
    PtcProgramFacts facts;
    PtcAnalysis job = {arena,   vm->heap,   diags,      p->names,      p->source,    p->len,
                       p->host, p->servers, p->context, &vm->warnings, p->bare_data, &facts};
    PtcFn *fn = ptc_analyze(&job, forms, count);
    if (p->only_check) /* whoever asks wants to hear everything */
        facts.outside = facts.calls = true;
    PtcCheckJob check = {&job,      &facts,         p->limits.check, p->globals,
                         p->answer, p->bare_answer, p->checked,      p->answer_text};
    if (!fn || !ptc_check_program(&check, fn))
        return PTC_NONE;
    PtcCompiler compiler = {arena, vm->heap, diags, PTC_NIL, 0};
    if ((compiler.source = ptc_str_new(vm->heap, p->source, p->len)) == PTC_NONE)
        return PTC_NONE;
    return ptc_compile(&compiler, fn);
}

static bool copy_program_globals(PtcVM *vm, const PtcProgram *p, PtcArena *arena, size_t known)
{
    size_t n = p->names->count;
    vm->globals = ptc_arena_alloc(arena, (n ? n : 1) * sizeof *vm->globals);
    if (!vm->globals)
        return false;
    for (size_t i = 0; i < n; i++)
        vm->globals[i] = i < known ? p->globals[i] : PTC_UNBOUND;
    vm->global_count = n;
    return true;
}

/* The error has no place of its own: it is the whole program's. */
static void place_whole(PtcVM *vm)
{
    if (vm->error.first == PTC_NO_PLACE)
        vm->error.first = vm->error.last = 0;
}

/* A sequence without end may be walked by a program but not be its answer. */
static bool check_program_result(PtcVM *vm)
{
    bool endless = ptc_is_record(vm->result, PTC_R_PRODUCER) ||
                   (ptc_is_sequential(vm->result) && ptc_seq_count(vm->result) >= PTC_ENDLESS);
    if (!endless)
        return true;
    ptc_fail(vm, PTC_E_VALUE, "the program's result is a sequence without end");
    ptc_fail_hint(vm, "cut it with (take n coll)");
    vm->control = PTC_CONTROL_NONE;
    place_whole(vm);
    return false;
}

/* What cells of the session hold from now on.  A body that is computed may change further ones: they are finitely many,
 * and all are looked at again. */
static bool compute_cells(PtcVM *vm)
{
    PtcValue cell, *slot;
    size_t pos = 0;
    while (vm->heap->cells && ptc_cells_next(vm->heap->cells, &pos, &cell, &slot)) {
        size_t before = vm->heap->cells->count;
        if (!ptc_force_deep(vm, *slot, true, "keeping an atom in the session", PTC_FORCE_MOST))
            return false;
        if (vm->heap->cells->count != before)
            pos = 0;
    }
    return true;
}

/* What leaves the program is computed, as long as there is a VM for it: the result and, with a session, what was
 * defined and what its cells hold. */
static bool compute_lazy(PtcVM *vm, bool keeps, char who[96])
{
    if (!ptc_force_deep(vm, vm->result, true, "the program's result", PTC_FORCE_MOST) ||
        !ptc_force_deep(vm, vm->journal.all, false, "the journal", PTC_FORCE_MOST) ||
        !ptc_force_deep(vm, vm->summaries.all, false, "step-done", PTC_FORCE_MOST))
        return false;
    for (size_t i = 0; keeps && i < vm->global_count; i++) {
        const PtcName *name = &vm->names->items[i];
        snprintf(who, 96, "keeping %.*s in the session",
                 PTC_ARG(ptc_text_cut((PtcText){name->text, name->len}, 60)));
        if (!ptc_force_deep(vm, vm->globals[i], true, who, PTC_FORCE_MOST))
            return false;
    }
    return !keeps || compute_cells(vm);
}

static bool check_lazy(PtcVM *vm, bool keeps)
{
    PtcControl control = vm->control;
    char who[96];
    if (!vm->made_lazy)
        return true;
    vm->control = PTC_CONTROL_NONE; /* a body may use return too */
    if (compute_lazy(vm, keeps, who)) {
        PtcValue plain = ptc_lazy_plain(vm->result);
        vm->result = plain == PTC_NONE ? vm->result : plain;
        vm->control = control;
        return true;
    }
    if (!vm->failed && vm->budget.stop != PTC_STOP_NONE)
        ptc_vm_stopped(vm);
    place_whole(vm);
    return false;
}

static bool execute(PtcVM *vm, bool keeps)
{
    PtcClosure *main = ptc_heap_object(vm->heap, PTC_T_CLOSURE, sizeof *main, 0);
    if (!main)
        return ptc_vm_stopped(vm);
    main->proto = vm->program;
    vm->stack[0] = ptc_from_obj(main);
    bool ok = ptc_vm_enter(vm, main, 0, vm->stack + 1) && ptc_vm_run(vm, &vm->result);
    /* A limit that tripped inside an operation that cannot fail, such as =, is noticed here at the latest. */
    if (vm->budget.stop != PTC_STOP_NONE) {
        vm->control = PTC_CONTROL_NONE;
        if (!vm->failed)
            ptc_vm_stopped(vm);
        place_whole(vm);
        return false;
    }
    bool answered = ok || vm->control == PTC_CONTROL_RETURN;
    return answered && check_lazy(vm, keeps) && check_program_result(vm) && ok;
}

static bool run_phases(PtcVM *vm, const PtcProgram *p, PtcArena *arena, PtcDiags *diags,
                       PtcPhase *phase)
{
    size_t known = p->names->count;
    ptc_vm_start(vm, p);
    vm->program = prepare_program(vm, p, arena, diags, phase);
    if (vm->program == PTC_NONE) {
        vm->program = PTC_NIL;
        return fail_early(vm, diags, arena);
    }
    if (p->only_check)
        return true;
    if (!copy_program_globals(vm, p, arena, known))
        return fail_early(vm, diags, arena);
    *phase = PTC_PHASE_RUN;
    if (p->servers && p->servers->site) { /* all that was wanted is known now */
        ptc_budget_halt(&vm->budget, PTC_STOP_ASIDE);
        ptc_vm_stopped(vm);
        place_whole(vm);
        return false;
    }
    return execute(vm, p->globals != NULL);
}

bool ptc_program_run(PtcVM *vm, const PtcProgram *p, PtcArena *arena, PtcDiags *diags,
                     PtcPhase *phase)
{
    bool ok = run_phases(vm, p, arena, diags, phase);
    vm->heap->force = NULL; /* values outlive the VM */
    ptc_watch_drop(&vm->budget);
    ptc_deep_tidy(vm);
    return ok;
}

/* ------------------------------------------------------------------------ printing */

/* What has a name of its own: types are their name. */
static bool print_named(PtcBuf *buf, PtcValue v)
{
    static const struct {
        const char *before, *after;
        uint8_t field;
    } how[PTC_R_KINDS] = {[PTC_R_TYPE] = {"", "", PTC_TYPE_NAME},
                          [PTC_R_OBJECT] = {"#object[", "]", PTC_TYPE_NAME},
                          [PTC_R_PROTOCOL] = {"#protocol[", "]", PTC_PROTOCOL_NAME},
                          [PTC_R_METHOD] = {"#fn[", "]", PTC_METHOD_KEY},
                          [PTC_R_MULTI] = {"#multifn[", "]", PTC_MULTI_NAME}};
    unsigned kind = ptc_obj(v)->aux;
    PtcValue of = kind == PTC_R_OBJECT ? ptc_typed_type(v) : v;
    PtcValue name = ptc_record_field(of, how[kind].field);
    return ptc_buf_add_cstr(buf, how[kind].before) &&
           ptc_buf_add(buf, ptc_str_bytes(name), ptc_str_len(name)) &&
           ptc_buf_add_cstr(buf, how[kind].after);
}

static bool print_other(const PtcPrinter *printer, PtcBuf *buf, PtcValue v);

/* What an exception holds may hold others, which are not shown whole: this goes no deeper. */
static bool print_held(const PtcPrinter *printer, PtcBuf *buf, PtcValue v)
{
    return ptc_except_class(v) ? ptc_except_print(printer, buf, v, false)
                               : print_other(printer, buf, v);
}

static bool print_other(const PtcPrinter *printer, PtcBuf *buf, PtcValue v)
{
    PtcPrinter held = *printer;
    held.other = print_held;
    if (ptc_except_class(v))
        return ptc_except_print(&held, buf, v, true);
    if (ptc_is(v, PTC_T_CLOSURE)) {
        const PtcProto *p = ptc_closure_proto((const PtcClosure *)(uintptr_t)v);
        bool named = p->name != PTC_NIL;
        return ptc_buf_add_cstr(buf, "#fn[") &&
               ptc_buf_add(buf, named ? ptc_str_bytes(p->name) : "anonymous",
                           named ? ptc_str_len(p->name) : 9) &&
               ptc_buf_add_char(buf, ']');
    }
    if (ptc_is_dispatch(v) || ptc_is_record(v, PTC_R_PROTOCOL) || ptc_is_type(v) ||
        ptc_is_object(v))
        return print_named(buf, v);
    if (ptc_is(v, PTC_T_RECORD) && ptc_is_callable(v))
        return ptc_buf_add_cstr(buf, "#fn[composed]");
    if (ptc_is_lazy(v))
        return ptc_buf_add_cstr(buf, "#seq[lazy]");
    if (ptc_is_record(v, PTC_R_PRODUCER))
        return ptc_buf_add_cstr(buf, "#seq[endless]");
    if (ptc_is_record(v, PTC_R_MATCHER))
        return ptc_buf_add_cstr(buf, "#matcher");
    if (ptc_is_regex(v))
        return ptc_regex_print(buf, v);
    return ptc_time_print(buf, v, printer->readable);
}

/* The same for programs: something lazy stops the budget, so that it is computed and printed again. */
static bool print_computed(const PtcPrinter *printer, PtcBuf *buf, PtcValue v)
{
    if (ptc_is_lazy(v) && ptc_lazy_demand(printer->heap, v) == PTC_NONE)
        return false;
    return print_other(printer, buf, v);
}

PtcPrinter ptc_vm_printer(PtcVM *vm, bool readable)
{
    return (PtcPrinter){vm->heap, readable, -1, ptc_builtin_name, print_other};
}

bool ptc_vm_write(PtcVM *vm, PtcBuf *buf, PtcValue v, bool readable)
{
    PtcPrinter printer = ptc_vm_printer(vm, readable);
    printer.other = print_computed;
    if (!readable && ptc_is_regex(v))
        v = ptc_regex_pattern(v); /* so that (str #"a" "b") can be a pattern again */
    if (!readable && ptc_except_class(v) ? ptc_except_write(&printer, buf, v)
                                         : ptc_print(&printer, buf, v))
        return true;
    return ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
}

bool ptc_vm_print(PtcVM *vm, const char *text, size_t len, bool ends)
{
    return ptc_prints_add(&vm->prints, text, len, ends) ||
           ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
}
