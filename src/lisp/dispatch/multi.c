/* SPDX-License-Identifier: MIT
 * Multimethods: their methods by dispatch value, and which of several fits best.  dispatch.h has the layout and
 * the calls. */
#include "lisp/dispatch/cells.h"
#include "lisp/dispatch/dispatch.h"
#include "lisp/vm/vm_int.h"
#include "value/cell.h"

static bool arg_multi(PtcVM *vm, const PtcValue *argv)
{
    return ptc_is_record(argv[0], PTC_R_MULTI) ||
           ptc_fail_type(vm, argv, 0, "a multimethod, which defmulti makes");
}

/* What one of its cells holds; PTC_NONE when that is no map. */
static PtcValue multimethod_table(const PtcVM *vm, PtcValue multi, size_t field)
{
    PtcValue v = ptc_cell_get(vm->heap, ptc_record_field(multi, field));
    return ptc_is_map(v) ? v : PTC_NONE;
}

static bool store_multimethod_table(PtcVM *vm, PtcValue multi, size_t field, PtcValue map)
{
    return map != PTC_NONE &&
           ptc_cells_store(vm, ptc_record_field(multi, field), map, "a multimethod");
}

/* ----------------------------------------------------------------------------- choosing */

/* Was x, or something above it, preferred to y, or to something above that? */
static bool is_preferred(PtcVM *vm, PtcValue multi, PtcValue h, PtcValue x, PtcValue y)
{
    PtcValue prefers = multimethod_table(vm, multi, PTC_MULTI_PREFERS), from, to, other;
    for (size_t pos = 0; prefers != PTC_NONE && ptc_map_next(prefers, &pos, &from, &to);) {
        if (!ptc_tick(&vm->budget, 1) || !ptc_is_set(to) || !ptc_isa(vm, h, x, from))
            continue;
        for (size_t at = 0; ptc_map_next(to, &at, &other, NULL);)
            if (ptc_tick(&vm->budget, 1) && ptc_isa(vm, h, y, other))
                return true;
    }
    return false;
}

static bool is_better(PtcVM *vm, PtcValue multi, PtcValue h, PtcValue x, PtcValue y)
{
    return is_preferred(vm, multi, h, x, y) || ptc_isa(vm, h, x, y);
}

static bool fail_ambiguous(PtcVM *vm, PtcValue multi, PtcValue a, PtcValue b)
{
    const char *name = ptc_str_bytes(ptc_record_field(multi, PTC_MULTI_NAME));
    PtcBuf x, y;
    ptc_buf_init(&x, vm->mem, 100);
    ptc_buf_init(&y, vm->mem, 100);
    (void)!ptc_vm_write(vm, &x, a, true);
    (void)!ptc_vm_write(vm, &y, b, true);
    vm->budget.stop = PTC_STOP_NONE; /* a text that was cut is no failure of the run */
    ptc_fail(vm, PTC_E_VALUE, "two methods of the multimethod %s fit: %.*s and %.*s", name,
             PTC_ARG_OF(x.data, x.len), PTC_ARG_OF(y.data, y.len));
    ptc_fail_hint(vm, "say which is meant: (prefer-method %s %.*s %.*s)", name,
                  PTC_ARG_OF(x.data, x.len), PTC_ARG_OF(y.data, y.len));
    ptc_buf_deinit(&x);
    ptc_buf_deinit(&y);
    return false;
}

/* The best method whose value is above the given one.  False: two fit equally well. */
static bool find_above(PtcVM *vm, PtcValue multi, PtcValue methods, PtcValue value, PtcValue *out)
{
    PtcValue h = ptc_hierarchy_of(vm, ptc_record_field(multi, PTC_MULTI_HIERARCHY));
    PtcValue key, f, best = PTC_NONE, rival = PTC_NONE;
    for (size_t pos = 0; ptc_map_next(methods, &pos, &key, &f);) {
        if (!ptc_tick(&vm->budget, 1))
            return false;
        if (!ptc_isa(vm, h, value, key))
            continue;
        if (best == PTC_NONE || is_better(vm, multi, h, key, best)) {
            best = key;
            *out = f;
            rival = rival != PTC_NONE && is_better(vm, multi, h, key, rival) ? PTC_NONE : rival;
        } else if (!is_better(vm, multi, h, best, key)) {
            rival = key;
        }
    }
    return rival == PTC_NONE || fail_ambiguous(vm, multi, best, rival);
}

bool ptc_multi_find(PtcVM *vm, PtcValue multi, PtcValue value, PtcValue *out)
{
    PtcValue methods = multimethod_table(vm, multi, PTC_MULTI_METHODS);
    *out = methods == PTC_NONE ? PTC_NONE : ptc_map_get(vm->heap, methods, value);
    if (*out != PTC_NONE || methods == PTC_NONE)
        return true;
    if (!find_above(vm, multi, methods, value, out))
        return false;
    if (*out == PTC_NONE)
        *out = ptc_map_get(vm->heap, methods, ptc_record_field(multi, PTC_MULTI_DEFAULT));
    return true;
}

/* -------------------------------------------------------------------------- definitions */

PTC_BUILTIN(multi_new, "ptc", "multi", 4, 4, PTC_B_HIDDEN, "", "", "")
{
    if (!ptc_is_callable(argv[1]))
        return ptc_fail(vm, PTC_E_TYPE,
                        "defmulti takes a function that gives the value to choose "
                        "by; this is %s",
                        ptc_type_name(argv[1]));
    PtcValue none = ptc_map_empty(vm->heap), fields[PTC_MULTI_FIELDS];
    for (int i = 0; i < 4; i++)
        fields[i] = argv[i];
    for (int i = PTC_MULTI_METHODS; i < PTC_MULTI_FIELDS; i++) {
        fields[i] = none == PTC_NONE ? none : ptc_cell_new(vm->heap, PTC_CELL_ATOM, none, PTC_NIL);
        if (fields[i] == PTC_NONE)
            return false;
    }
    return ptc_give(out, ptc_record_new(vm, PTC_R_MULTI, fields, PTC_MULTI_FIELDS));
}

PTC_BUILTIN(multi_add, "ptc", "defmethod", 3, 3, PTC_B_HIDDEN, "", "", "")
{
    if (!ptc_is_record(argv[0], PTC_R_MULTI)) {
        ptc_fail(vm, PTC_E_TYPE, "defmethod adds to a multimethod; this is %s",
                 ptc_type_name(argv[0]));
        return ptc_fail_hint(vm, "define it first: (defmulti name dispatch-function)");
    }
    PtcValue methods = multimethod_table(vm, argv[0], PTC_MULTI_METHODS);
    methods = methods == PTC_NONE ? ptc_map_empty(vm->heap) : methods;
    methods = methods == PTC_NONE ? methods : ptc_map_assoc(vm->heap, methods, argv[1], argv[2]);
    return store_multimethod_table(vm, argv[0], PTC_MULTI_METHODS, methods) &&
           ptc_give(out, argv[0]);
}

#define SHAPES "(defmulti area :shape) (defmethod area :square [s] (* (:side s) (:side s))) "

PTC_BUILTIN(core_methods, "clojure.core", "methods", 1, 1, 0, "(methods multimethod)",
            "The methods of a multimethod: a map from dispatch value to function.",
            SHAPES "(keys (methods area)) => [:square]\n(methods 5) !! type_error")
{
    if (!arg_multi(vm, argv))
        return false;
    PtcValue methods = multimethod_table(vm, argv[0], PTC_MULTI_METHODS);
    return ptc_give(out, methods == PTC_NONE ? ptc_map_empty(vm->heap) : methods);
}

PTC_BUILTIN(
    core_get_method, "clojure.core", "get-method", 2, 2, 0, "(get-method multimethod value)",
    "The method that a dispatch value leads to, the default one included; nil when there is "
    "none.",
    SHAPES "[((get-method area :square) {:side 3}) (get-method area :circle)] => [9 nil]\n"
           "(get-method 5 1) !! type_error")
{
    PtcValue f;
    return arg_multi(vm, argv) && ptc_multi_find(vm, argv[0], argv[1], &f) &&
           ptc_give(out, f == PTC_NONE ? PTC_NIL : f);
}

PTC_BUILTIN(core_remove_method, "clojure.core", "remove-method", 2, 2, PTC_B_EFFECT,
            "(remove-method multimethod value)", "Takes a method away; gives the multimethod.",
            SHAPES "(remove-method area :square) (methods area) => {}\n(remove-method 5 1) !! "
                   "type_error")
{
    if (!arg_multi(vm, argv))
        return false;
    PtcValue methods = multimethod_table(vm, argv[0], PTC_MULTI_METHODS);
    return (methods == PTC_NONE ||
            store_multimethod_table(vm, argv[0], PTC_MULTI_METHODS,
                                    ptc_map_dissoc(vm->heap, methods, argv[1]))) &&
           ptc_give(out, argv[0]);
}

PTC_BUILTIN(core_remove_all_methods, "clojure.core", "remove-all-methods", 1, 1, PTC_B_EFFECT,
            "(remove-all-methods multimethod)", "Takes all methods away; gives the multimethod.",
            SHAPES "(remove-all-methods area) (methods area) => {}\n(remove-all-methods 5) !! "
                   "type_error")
{
    return arg_multi(vm, argv) &&
           store_multimethod_table(vm, argv[0], PTC_MULTI_METHODS, ptc_map_empty(vm->heap)) &&
           ptc_give(out, argv[0]);
}

PTC_BUILTIN(
    core_prefer_method, "clojure.core", "prefer-method", 3, 3, PTC_B_EFFECT,
    "(prefer-method multimethod value other)",
    "When two methods fit, the one for the first value is meant; gives the multimethod.",
    "(derive ::ship ::vehicle) (derive ::ship ::property) (defmulti tax identity) (defmethod "
    "tax ::vehicle [_] 10) (defmethod tax ::property [_] 20) (prefer-method tax ::property "
    "::vehicle) (tax ::ship) => 20\n(prefer-method 5 1 2) !! type_error")
{
    if (!arg_multi(vm, argv))
        return false;
    PtcValue h = ptc_hierarchy_of(vm, ptc_record_field(argv[0], PTC_MULTI_HIERARCHY));
    if (is_preferred(vm, argv[0], h, argv[2], argv[1]))
        return ptc_fail(vm, PTC_E_VALUE,
                        "prefer-method: the other is preferred to this one already");
    PtcValue prefers = multimethod_table(vm, argv[0], PTC_MULTI_PREFERS);
    prefers = prefers == PTC_NONE ? ptc_map_empty(vm->heap) : prefers;
    PtcValue set = prefers == PTC_NONE ? prefers : ptc_map_get(vm->heap, prefers, argv[1]);
    set = set == PTC_NONE || !ptc_is_set(set) ? ptc_set_empty(vm->heap) : set;
    set = set == PTC_NONE ? set : ptc_set_add(vm->heap, set, argv[2]);
    prefers = set == PTC_NONE || prefers == PTC_NONE
                  ? PTC_NONE
                  : ptc_map_assoc(vm->heap, prefers, argv[1], set);
    return store_multimethod_table(vm, argv[0], PTC_MULTI_PREFERS, prefers) &&
           ptc_give(out, argv[0]);
}

PTC_BUILTIN(core_prefers, "clojure.core", "prefers", 1, 1, 0, "(prefers multimethod)",
            "What prefer-method said: a map from a value to the set of those it goes before.",
            SHAPES
            "(prefer-method area :a :b) (prefers area) => {:a #{:b}}\n(prefers 5) !! type_error")
{
    if (!arg_multi(vm, argv))
        return false;
    PtcValue prefers = multimethod_table(vm, argv[0], PTC_MULTI_PREFERS);
    return ptc_give(out, prefers == PTC_NONE ? ptc_map_empty(vm->heap) : prefers);
}

PTC_BUILTIN_TABLE(ptc_lib_multi, multi_new, multi_add, core_methods, core_get_method,
                  core_remove_method, core_remove_all_methods, core_prefer_method, core_prefers);
