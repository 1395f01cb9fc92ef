/* SPDX-License-Identifier: MIT
 * Calls of methods and multimethods.  What always holds: choosing costs a constant amount of C stack, and what is
 * chosen is called by whoever asked, so that a recursion through methods is as deep as one through functions. */
#include "lisp/dispatch/dispatch.h"

#include "lisp/vm/vm_int.h"
#include "value/cell.h"
#include "value/coll/typed.h"

/* Methods that are methods of other protocols in turn: nobody needs more. */
enum { CHAIN = 100, DISPATCH_SHOWN = 100, DISPATCH_NAMES = 300 };

/* ------------------------------------------------------------------------ words of errors */

/* The value as text for a message; cut if it is long. */
static const char *show_dispatch_value(PtcVM *vm, PtcValue v, char out[DISPATCH_SHOWN + 4])
{
    PtcBuf buf = {.mem = vm->mem, .data = out, .cap = DISPATCH_SHOWN, .max = DISPATCH_SHOWN};
    PtcPrinter printer = ptc_vm_printer(vm, true);
    bool whole = ptc_print(&printer, &buf, v);
    memcpy(out + buf.len, whole ? "" : "...", whole ? 1 : 4);
    return out;
}

/* The keys of a map, separated by commas, as many as fit. */
static const char *list_method_keys(PtcVM *vm, PtcValue map, char out[DISPATCH_NAMES])
{
    char one[DISPATCH_SHOWN + 4];
    PtcValue key;
    size_t len = 0;
    out[0] = 0;
    for (size_t pos = 0; ptc_is_map(map) && ptc_map_next(map, &pos, &key, NULL);) {
        size_t n = strlen(show_dispatch_value(vm, key, one));
        if (len + n + 8 >= DISPATCH_NAMES) {
            memcpy(out + len, ", ...", 6);
            break;
        }
        memcpy(out + len, ", ", 3);
        memcpy(out + len + (len ? 2 : 0), one, n + 1);
        len += n + (len ? 2 : 0);
    }
    return out[0] ? out : "none";
}

static const char *record_field_text(PtcValue record, size_t field)
{
    return ptc_str_bytes(ptc_record_field(record, field));
}

/* user.Shape is written as Shape. */
static const char *name_after_dot(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot[1] ? dot + 1 : name;
}

static bool fail_method(PtcVM *vm, PtcValue f, int argc, const PtcValue *argv)
{
    char value[DISPATCH_SHOWN + 4], types[DISPATCH_NAMES];
    PtcValue protocol = ptc_record_field(f, PTC_METHOD_PROTOCOL);
    const char *name = name_after_dot(record_field_text(protocol, PTC_PROTOCOL_NAME));
    const char *method = record_field_text(f, PTC_METHOD_KEY);
    if (argc == 0)
        return ptc_fail(vm, PTC_E_ARITY,
                        "%s takes at least the value that it is a method of, got 0", method);
    PtcValue impls = ptc_cell_get(vm->heap, ptc_record_field(protocol, PTC_PROTOCOL_CELL));
    ptc_fail(vm, PTC_E_VALUE, "%s of the protocol %s has no method for %s %s; there are: %s",
             method, name, ptc_type_name(argv[0]), show_dispatch_value(vm, argv[0], value),
             list_method_keys(vm, impls, types));
    return ptc_fail_hint(vm,
                         "write (extend-type T %s (%s [x] ...)), where T is a type, nil or Object",
                         name, method);
}

static bool fail_multi(PtcVM *vm, PtcValue f, PtcValue value)
{
    char text[DISPATCH_SHOWN + 4], all[DISPATCH_NAMES];
    PtcValue methods = ptc_cell_get(vm->heap, ptc_record_field(f, PTC_MULTI_METHODS));
    const char *name = record_field_text(f, PTC_MULTI_NAME);
    ptc_fail(vm, PTC_E_VALUE, "the multimethod %s has no method for %s; there are: %s", name,
             show_dispatch_value(vm, value, text), list_method_keys(vm, methods, all));
    return ptc_fail_hint(vm, "write (defmethod %s %s [x] ...), or one for :default", name, text);
}

/* ------------------------------------------------------------------------------ methods */

/* The value of field number i of a record or object. */
static PtcValue typed_field_value(PtcVM *vm, PtcValue v, size_t i)
{
    PtcValue basis = ptc_type_field(ptc_typed_type(v), PTC_TYPE_BASIS);
    if (ptc_is_object(v))
        return PTC_OBJECT_VALUES + i < ptc_obj(v)->count
                   ? ptc_record_field(v, PTC_OBJECT_VALUES + i)
                   : PTC_NIL;
    PtcValue found =
        i < ptc_seq_count(basis) ? ptc_map_get(vm->heap, v, ptc_seq_nth(basis, i)) : PTC_NONE;
    return found == PTC_NONE ? PTC_NIL : found;
}

/* The closure with the fields of v in the places of what it captures. */
static bool bind_closure_fields(PtcVM *vm, PtcValue inner, PtcValue v, PtcValue *out)
{
    PtcValue f = ptc_record_field(inner, PTC_INLINE_CLOSURE);
    PtcValue places = ptc_record_field(inner, PTC_INLINE_PLACES);
    const PtcClosure *c = (const PtcClosure *)(uintptr_t)f;
    size_t n = c->obj.count, bytes = sizeof *c + n * sizeof f;
    PtcClosure *o = PTC_RETRY(vm, ptc_heap_object(vm->heap, PTC_T_CLOSURE, bytes, (uint32_t)n));
    if (!o)
        return false;
    o->proto = c->proto;
    for (size_t i = 0; i < n; i++) {
        int64_t place = ptc_to_int(ptc_seq_nth(places, i));
        o->captured[i] = place < 0 ? c->captured[i] : typed_field_value(vm, v, (size_t)place);
    }
    return ptc_give(out, ptc_from_obj(o));
}

static bool accepts_one(const PtcProto *p, int argc)
{
    return p->variadic ? argc >= p->params : argc == p->params;
}

static bool method_accepts(PtcValue f, int argc)
{
    if (ptc_is_record(f, PTC_R_INLINE))
        f = ptc_record_field(f, PTC_INLINE_CLOSURE);
    if (!ptc_is(f, PTC_T_CLOSURE))
        return true;
    const PtcProto *p = ptc_closure_proto((const PtcClosure *)(uintptr_t)f);
    bool fits = accepts_one(p, argc);
    const PtcNode *all = p->arities == PTC_NIL ? NULL : (const PtcNode *)(uintptr_t)p->arities;
    for (size_t i = 0; all && !fits && i < all->obj.count; i++)
        fits = accepts_one((const PtcProto *)(uintptr_t)all->slots[i], argc);
    return fits;
}

/* Of methods that were written one by one for different numbers of arguments, the one that fits. */
static PtcValue by_arity(PtcValue method, int argc)
{
    if (!ptc_is(method, PTC_T_FLAT))
        return method;
    size_t n = ptc_seq_count(method), i = 0;
    while (i + 1 < n && !method_accepts(ptc_seq_nth(method, i), argc))
        i++;
    return n ? ptc_seq_nth(method, i) : PTC_NIL;
}

static bool choose_method(PtcVM *vm, PtcValue f, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcValue protocol = ptc_record_field(f, PTC_METHOD_PROTOCOL);
    PtcValue methods = argc > 0 ? ptc_protocol_methods(vm, protocol, argv[0]) : PTC_NONE;
    PtcValue method = methods == PTC_NONE
                          ? PTC_NONE
                          : ptc_map_get(vm->heap, methods, ptc_record_field(f, PTC_METHOD_KEY));
    if (method == PTC_NONE)
        return vm->budget.stop == PTC_STOP_NONE && fail_method(vm, f, argc, argv);
    method = by_arity(method, argc);
    if (!ptc_is_record(method, PTC_R_INLINE))
        return ptc_give(out, method);
    return ptc_typed_type(argv[0]) == PTC_NONE ? fail_method(vm, f, argc, argv)
                                               : bind_closure_fields(vm, method, argv[0], out);
}

/* ------------------------------------------------------------------------- multimethods */

static bool choose_multi(PtcVM *vm, PtcValue f, int argc, const PtcValue *argv, PtcValue *out)
{
    size_t roots = vm->root_count;
    PtcValue *value = ptc_roots(vm, 1), method = PTC_NONE;
    bool ok = value && ptc_call(vm, ptc_record_field(f, PTC_MULTI_BY), argc, argv, value) &&
              ptc_multi_find(vm, f, *value, &method);
    if (ok && method == PTC_NONE)
        ok = vm->budget.stop == PTC_STOP_NONE && fail_multi(vm, f, *value);
    vm->root_count = roots;
    return ok && ptc_give(out, method);
}

bool ptc_dispatch(PtcVM *vm, PtcValue f, int argc, const PtcValue *argv, PtcValue *out)
{
    size_t roots = vm->root_count;
    PtcValue *now = ptc_roots(vm, 1);
    bool ok = now != NULL;
    if (ok)
        *now = f;
    for (int i = 0; ok && ptc_is_dispatch(*now); i++) {
        if (i == CHAIN)
            ok = ptc_budget_exceed(&vm->budget, PTC_STOP_DEPTH,
                                   "methods that lead to other methods are more than", CHAIN);
        else
            ok = ptc_tick(&vm->budget, 1) &&
                 (ptc_is_record(*now, PTC_R_METHOD) ? choose_method : choose_multi)(vm, *now, argc,
                                                                                    argv, now);
    }
    vm->root_count = roots;
    return ok && ptc_give(out, *now);
}
