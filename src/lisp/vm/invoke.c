/* SPDX-License-Identifier: MIT
 * Calling things: functions, builtins, keywords, maps, sets, vectors, composed functions. */
#include "lisp/dispatch/dispatch.h"
#include "lisp/lazy/force.h"
#include "lisp/vm/deep.h"
#include "lisp/vm/element.h"
#include "lisp/vm/record.h"
#include "lisp/vm/registry.h"
#include "lisp/vm/vm_int.h"

/* Arguments of a call that need a rooted copy; longer lists are rooted by their maker (apply). */
enum { COPIED_ARGS = 64, STACK_STEP = 1024 };

bool ptc_is_callable(PtcValue v)
{
    switch (ptc_tag(v)) {
    case PTC_T_CLOSURE:
    case PTC_T_KEYWORD:
    case PTC_T_SMAP:
    case PTC_T_BMAP:
    case PTC_T_SSET:
    case PTC_T_BSET:
    case PTC_T_VAR: return true;
    case PTC_T_RECORD: return ptc_obj(v)->aux == PTC_R_FN || ptc_is_dispatch(v);
    case PTC_T_FLAT:
    case PTC_T_VEC:
    case PTC_T_SLICE: return !ptc_is_seq_flagged(v);
    default: return ptc_is_builtin(v);
    }
}

/* ---------------------------------------------------------------------- lookups */

PtcValue ptc_lookup(PtcVM *vm, PtcValue coll, PtcValue key, PtcValue otherwise)
{
    PtcValue v = PTC_NONE;
    switch (ptc_tag(coll)) {
    case PTC_T_SMAP:
    case PTC_T_BMAP: v = ptc_map_get_flex(vm->heap, coll, key); break;
    case PTC_T_SSET:
    case PTC_T_BSET: v = ptc_set_get(vm->heap, coll, key); break;
    case PTC_T_FLAT:
    case PTC_T_VEC:
    case PTC_T_SLICE:
        if (ptc_is_int(key) && ptc_to_int(key) >= 0 &&
            (size_t)ptc_to_int(key) < ptc_seq_count(coll))
            v = ptc_seq_nth(coll, (size_t)ptc_to_int(key));
        break;
    default: break;
    }
    return v == PTC_NONE ? otherwise : v;
}

/* ----------------------------------------------------------------------- frames */

/* The new slots are set, so that the collector never meets junk. */
bool ptc_vm_grow_stack(PtcVM *vm, const PtcValue *end)
{
    if (end > vm->stack_end)
        return ptc_budget_exceed(&vm->budget, PTC_STOP_DEPTH,
                                 "the values of nested calls are more than", PTC_STACK_VALUES);
    PtcValue *limit = vm->stack_limit;
    while (limit < end)
        limit += STACK_STEP;
    if (limit > vm->stack_end)
        limit = vm->stack_end;
    for (PtcValue *p = vm->stack_limit; p < limit; p++)
        *p = PTC_NIL;
    vm->stack_limit = limit;
    if (vm->stack_most < limit)
        vm->stack_most = limit;
    return true;
}

static bool fail_closure_arity(PtcVM *vm, const PtcProto *p, int argc)
{
    char takes[64];
    const char *name = p->name == PTC_NIL ? "this function" : ptc_str_bytes(p->name);
    ptc_arity_text(takes, sizeof takes, p->params, p->variadic ? -1 : p->params);
    if (p->arities != PTC_NIL)
        return ptc_fail(vm, PTC_E_ARITY, "%s has no variant for %d argument%s", name, argc,
                        argc == 1 ? "" : "s");
    return ptc_fail_arity(vm, name, takes, argc, NULL);
}

static bool proto_accepts(const PtcProto *p, int argc)
{
    return p->variadic ? argc >= p->params : argc == p->params;
}

/* The variant of a function that takes argc arguments, or NULL. */
static const PtcProto *select_arity(const PtcProto *p, int argc)
{
    if (proto_accepts(p, argc) && !(p->variadic && p->arities != PTC_NIL))
        return p;
    if (p->arities == PTC_NIL)
        return NULL;
    const PtcNode *all = (const PtcNode *)(uintptr_t)p->arities;
    const PtcProto *variadic = p->variadic && proto_accepts(p, argc) ? p : NULL;
    for (size_t i = 0; i < all->obj.count; i++) {
        const PtcProto *q = (const PtcProto *)(uintptr_t)all->slots[i];
        if (!q->variadic && proto_accepts(q, argc))
            return q;
        if (q->variadic && proto_accepts(q, argc))
            variadic = q;
    }
    return variadic;
}

/* Replaces the arguments beyond the parameters by one seq of them, or nil. */
static bool gather_rest(PtcVM *vm, const PtcProto *p, int argc, PtcValue *args)
{
    size_t extra = (size_t)(argc - p->params);
    PtcValue rest = PTC_NIL;
    if (extra) {
        rest = PTC_RETRY(vm, ptc_vec_new(vm->heap, args + p->params, extra, PTC_SEQ));
    }
    args[p->params] = rest;
    return rest != PTC_NONE;
}

/* A function of several arities is entered through a closure of the chosen one. */
static const PtcClosure *closure_of_arity(PtcVM *vm, const PtcClosure *c, const PtcProto *p)
{
    if (p == ptc_closure_proto(c))
        return c;
    size_t bytes = sizeof *c + c->obj.count * sizeof(PtcValue);
    PtcClosure *o = PTC_RETRY(vm, ptc_heap_object(vm->heap, PTC_T_CLOSURE, bytes, c->obj.count));
    if (!o)
        return NULL;
    memcpy(o, c, bytes);
    o->proto = ptc_from_obj(p);
    return o;
}

bool ptc_vm_enter(PtcVM *vm, const PtcClosure *c, int argc, PtcValue *args)
{
    const PtcProto *p = select_arity(ptc_closure_proto(c), argc);
    if (!p)
        return fail_closure_arity(vm, ptc_closure_proto(c), argc);
    const PtcValue *end = args + (p->registers > argc ? p->registers : argc) + 1;
    if (vm->call + 1 >= vm->calls_end)
        return ptc_budget_exceed(&vm->budget, PTC_STOP_DEPTH, "calls are nested deeper than",
                                 vm->limits.max_depth);
    if (end > vm->stack_limit && !ptc_vm_grow_stack(vm, end))
        return false;
    if (p->variadic && !gather_rest(vm, p, argc, args))
        return false;
    c = closure_of_arity(vm, c, p);
    if (!c)
        return false;
    PtcCall *call = ++vm->call;
    call->base = args;
    call->closure = c;
    call->pc = ptc_proto_code(p);
    return true;
}

/* ptc_vm_enter for arguments above the current frame, which a collection would take for free slots. */
static bool enter_above(PtcVM *vm, const PtcClosure *c, int argc, PtcValue *args)
{
    vm->args_end = args + argc;
    bool ok = ptc_vm_enter(vm, c, argc, args);
    vm->args_end = NULL;
    return ok;
}

/* Runs a closure with arguments from anywhere. */
static bool call_closure(PtcVM *vm, PtcValue f, int argc, const PtcValue *argv, PtcValue *out)
{
    const PtcClosure *c = (const PtcClosure *)(uintptr_t)f;
    const PtcProto *p = ptc_closure_proto(c);
    PtcValue *args = ptc_vm_frame_end(vm) + 1;
    if (args + argc >= vm->stack_limit && !ptc_vm_grow_stack(vm, args + argc + 1))
        return false;
    args[-1] = f;
    ptc_copy_few(args, argv, (size_t)argc);
    if (PTC_LIKELY(p->params == argc && !p->variadic && p->arities == PTC_NIL &&
                   args + p->registers < vm->stack_limit && vm->call + 1 < vm->calls_end)) {
        PtcCall *call = ++vm->call;
        call->base = args;
        call->closure = c;
        call->pc = ptc_proto_code(p);
    } else if (!enter_above(vm, c, argc, args)) {
        return false;
    }
    if (PTC_UNLIKELY(ptc_fuel_use(&vm->budget, p->ticks) <= 0 || vm->budget.wake) &&
        !ptc_vm_safepoint(vm)) {
        vm->call--;
        return false;
    }
    if (PTC_UNLIKELY(vm->native_depth >= PTC_SHALLOW))
        return ptc_deep_run(vm, out);
    vm->native_depth++;
    bool ok = ptc_vm_run(vm, out);
    vm->native_depth--;
    return ok;
}

/* --------------------------------------------------------------------- builtins */

bool ptc_recover_keeping(PtcVM *vm, int argc, const PtcValue *argv, PtcValue keep)
{
    size_t roots = vm->root_count;
    int copied = argc <= COPIED_ARGS ? argc : 0;
    PtcValue *slots = ptc_roots(vm, copied + 1);
    if (!slots)
        return false;
    slots[copied] = keep;
    ptc_copy_few(slots, argv, (size_t)copied);
    bool ok = ptc_recover(vm);
    vm->root_count = roots;
    return ok;
}

/* Tries a builtin again after a collection.  Only for those that may be run twice. */
static PTC_NOINLINE bool retry(PtcVM *vm, const PtcBuiltin *row, int argc, const PtcValue *argv,
                               PtcValue *out)
{
    return ptc_recover_keeping(vm, argc, argv, PTC_NIL) && row->fn(vm, argc, argv, out) &&
           vm->budget.stop == PTC_STOP_NONE;
}

bool ptc_vm_builtin(PtcVM *vm, uint32_t index, int argc, const PtcValue *argv, PtcValue *out)
{
    const PtcBuiltin *row = ptc_builtin_row(index);
    uint32_t outer = vm->running;
    size_t roots = vm->root_count;
    PtcValue result;
    vm->running = index;
    ptc_fuel_use(&vm->budget, 1);
    /* A limit may have tripped in something that cannot fail, such as a hash: the result is then worth nothing. */
    bool ok = true;
    if (PTC_UNLIKELY(vm->made_lazy) && (row->flags & PTC_B_EFFECT))
        ok = (argv = ptc_force_args(vm, row, argc, argv)) != NULL;
    ok = ok && row->fn(vm, argc, argv, &result) && vm->budget.stop == PTC_STOP_NONE;
    if (PTC_UNLIKELY(!ok) && vm->budget.stop == PTC_STOP_MEMORY &&
        !(row->flags & (PTC_B_CALLS | PTC_B_EFFECT)))
        ok = retry(vm, row, argc, argv, &result);
    /* Without arguments it failed before the builtin, which computing a lazy one did. */
    if (PTC_UNLIKELY(!ok) && argv && ptc_force_wanted(vm))
        ok = ptc_force_retry(vm, row, argc, argv, &result);
    if (PTC_UNLIKELY(!ok) && argv && vm->failed && vm->error.about_nil &&
        (row->flags & PTC_B_CALLS))
        ptc_element_find(vm, row, argc, argv);
    vm->root_count = roots;
    vm->running = outer;
    if (ok)
        *out = result;
    return ok;
}

static bool check_arity(PtcVM *vm, const PtcBuiltin *row, int argc)
{
    if (argc >= row->min && (row->max < 0 || argc <= row->max))
        return true;
    char takes[64];
    ptc_arity_text(takes, sizeof takes, row->min, row->max);
    return ptc_fail_arity(vm, row->name, takes, argc, row->usage);
}

static bool invoke_builtin(PtcVM *vm, uint32_t index, int argc, const PtcValue *argv, PtcValue *out)
{
    const PtcBuiltin *row = ptc_builtin_row(index);
    if (!check_arity(vm, row, argc))
        return false;
    if (!(row->flags & PTC_B_CALLS) && PTC_LIKELY(!vm->made_lazy)) /* something lazy may call */
        return ptc_vm_builtin(vm, index, argc, argv, out);
    size_t roots = vm->root_count;
    if (argc <= COPIED_ARGS) {
        PtcValue *copy = ptc_roots(vm, argc);
        if (!copy)
            return false;
        for (int k = 0; k < argc; k++)
            copy[k] = argv[k];
        argv = copy;
    }
    bool ok;
    if (PTC_UNLIKELY(vm->native_depth >= PTC_SHALLOW)) {
        ok = ptc_deep_builtin(vm, index, argc, argv, out);
    } else {
        vm->native_depth++;
        ok = ptc_vm_builtin(vm, index, argc, argv, out);
        vm->native_depth--;
    }
    vm->root_count = roots;
    return ok;
}

/* More arguments than fit on the C stack: with the record before them, in a rooted array. */
static bool call_record_long(PtcVM *vm, PtcValue f, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcValue *root = ptc_roots(vm, 1);
    size_t n = (size_t)argc + 1;
    if (!root)
        return false;
    *root = f;
    PtcNode *all = PTC_RETRY(
        vm, ptc_heap_object(vm->heap, PTC_T_NODE, sizeof *all + n * sizeof f, (uint32_t)n));
    if (!all)
        return false;
    all->slots[0] = f;
    memcpy(all->slots + 1, argv, (size_t)argc * sizeof f);
    *root = ptc_from_obj(all);
    bool ok =
        invoke_builtin(vm, ptc_builtin_index(ptc_record_field(f, 0)), (int)n, all->slots, out);
    vm->root_count--;
    return ok;
}

static bool call_record(PtcVM *vm, PtcValue f, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcValue with[COPIED_ARGS];
    if (argc + 1 > COPIED_ARGS)
        return call_record_long(vm, f, argc, argv, out);
    with[0] = f;
    for (int k = 0; k < argc; k++)
        with[k + 1] = argv[k];
    return invoke_builtin(vm, ptc_builtin_index(ptc_record_field(f, 0)), argc + 1, with, out);
}

bool ptc_call_key(PtcVM *vm, PtcValue name, PtcValue x, PtcValue *out)
{
    *out = ptc_lookup(vm, x, name, PTC_NIL);
    return vm->budget.stop == PTC_STOP_NONE;
}

/* A keyword or collection as function: one argument, and a default for keywords and maps. */
static bool call_lookup(PtcVM *vm, PtcValue f, int argc, const PtcValue *argv, PtcValue *out)
{
    bool keyword = ptc_is_keyword(f), map = ptc_is_map(f);
    if (argc < 1 || argc > (keyword || map ? 2 : 1)) {
        ptc_fail(vm, PTC_E_ARITY | (keyword ? PTC_AS(ILLEGAL_ARGUMENT) : 0),
                 "%s as a function takes %s, got %d", keyword ? "a keyword" : ptc_type_name(f),
                 keyword || map ? "1 to 2 arguments" : "1 argument", argc);
        return ptc_fail_hint(vm, "usage: %s", keyword ? "(:key map default)" : "(coll key)");
    }
    PtcValue otherwise = argc == 2 ? argv[1] : PTC_NIL;
    if (keyword) {
        *out = ptc_lookup(vm, argv[0], f, otherwise);
        return true;
    }
    if (map || ptc_is_set(f)) {
        *out = ptc_lookup(vm, f, argv[0], otherwise);
        return true;
    }
    *out = ptc_lookup(vm, f, argv[0], PTC_NONE);
    if (*out != PTC_NONE)
        return true;
    if (!ptc_is_integer(argv[0]))
        return ptc_fail(vm, PTC_E_TYPE | PTC_AS(ILLEGAL_ARGUMENT),
                        "a vector as a function takes an index, got %s", ptc_type_name(argv[0]));
    return ptc_fail(vm, PTC_E_INDEX, "index out of range: the vector has %zu element%s",
                    ptc_seq_count(f), ptc_seq_count(f) == 1 ? "" : "s");
}

static bool call_var(PtcVM *vm, PtcValue f, int argc, const PtcValue *argv, PtcValue *out)
{
    int64_t index = ptc_to_int(ptc_record_field(f, 1));
    PtcValue target = (size_t)index < vm->global_count ? vm->globals[index] : PTC_UNBOUND;
    if (target == PTC_UNBOUND || ptc_is(target, PTC_T_VAR))
        return ptc_fail(vm, PTC_E_UNBOUND, "#'%s has no value to call",
                        ptc_str_bytes(ptc_record_field(f, 0)));
    return ptc_call(vm, target, argc, argv, out);
}

/* A method of a protocol, or a multimethod: calls what it chooses.  Which is never another of them, so this nests no
 * deeper. */
static bool call_chosen(PtcVM *vm, PtcValue f, int argc, const PtcValue *argv, PtcValue *out)
{
    size_t roots = vm->root_count;
    int copied = argc <= COPIED_ARGS ? argc : 0; /* longer lists are rooted by their maker */
    PtcValue *kept = ptc_roots(vm, copied + 1);
    if (!kept)
        return false;
    ptc_copy_few(kept + 1, argv, (size_t)copied);
    argv = copied ? kept + 1 : argv;
    bool ok = ptc_dispatch(vm, f, argc, argv, kept) && ptc_call(vm, *kept, argc, argv, out);
    vm->root_count = roots;
    return ok;
}

static bool fail_not_callable(PtcVM *vm, PtcValue f)
{
    ptc_fail(vm, PTC_E_NOT_CALLABLE | (f == PTC_NIL ? PTC_AS(NULL_POINTER) : 0),
             "%s is not a function and cannot be called", ptc_type_name(f));
    return ptc_fail_hint(vm, "%s",
                         f == PTC_NIL       ? "the expression in call position gave nil"
                         : ptc_is_string(f) ? ptc_hint_string_called
                                            : ptc_hint_data_called);
}

bool ptc_call(PtcVM *vm, PtcValue f, int argc, const PtcValue *argv, PtcValue *out)
{
    if (ptc_is_builtin(f))
        return invoke_builtin(vm, ptc_builtin_index(f), argc, argv, out);
    switch (ptc_tag(f)) {
    case PTC_T_CLOSURE: return call_closure(vm, f, argc, argv, out);
    case PTC_T_RECORD:
        if (ptc_obj(f)->aux == PTC_R_FN)
            return call_record(vm, f, argc, argv, out);
        if (ptc_is_dispatch(f))
            return call_chosen(vm, f, argc, argv, out);
        break;
    case PTC_T_VAR: return call_var(vm, f, argc, argv, out);
    default:
        if (ptc_is_callable(f))
            return call_lookup(vm, f, argc, argv, out) && vm->budget.stop == PTC_STOP_NONE;
    }
    return fail_not_callable(vm, f);
}

bool ptc_vm_call(PtcVM *vm, PtcValue f, int argc, PtcValue *args, PtcValue *out)
{
    PtcValue result;
    if (!ptc_call(vm, f, argc, args, &result))
        return false;
    *out = result;
    return true;
}

PtcValue ptc_fn_record(PtcVM *vm, const char *hidden, const PtcValue *fields, size_t n)
{
    char name[64];
    name[0] = '%';
    size_t len = strlen(hidden);
    if (len > sizeof name - 2)
        return PTC_NONE;
    memcpy(name + 1, hidden, len);
    int row = ptc_builtin_find(name, len + 1);
    PtcRecord *o = ptc_heap_object(vm->heap, PTC_T_RECORD, sizeof *o + (n + 1) * sizeof *fields,
                                   (uint32_t)n + 1);
    if (!o)
        return PTC_NONE;
    o->obj.aux = PTC_R_FN;
    o->fields[0] = ptc_builtin((uint32_t)row);
    memcpy(o->fields + 1, fields, n * sizeof *fields);
    return ptc_from_obj(o);
}
