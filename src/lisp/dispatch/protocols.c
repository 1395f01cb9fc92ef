/* SPDX-License-Identifier: MIT
 * Protocols: which types have methods for one, and how they get them.  dispatch.h has the layout and the calls. */
#include "lisp/dispatch/cells.h"
#include "lisp/dispatch/class.h"
#include "lisp/dispatch/dispatch.h"
#include "lisp/vm/vm_int.h"
#include "value/cell.h"
#include "value/coll/typed.h"

static PtcValue impls_of(const PtcVM *vm, PtcValue protocol)
{
    PtcValue v = ptc_cell_get(vm->heap, ptc_record_field(protocol, PTC_PROTOCOL_CELL));
    return ptc_is_map(v) ? v : PTC_NONE;
}

static PtcValue map_in(PtcVM *vm, PtcValue map, PtcValue key)
{
    PtcValue v = map == PTC_NONE || !ptc_is_map(map) ? PTC_NONE : ptc_map_get(vm->heap, map, key);
    return v != PTC_NONE && ptc_is_map(v) ? v : PTC_NONE;
}

/* The methods of the narrowest class that v belongs to; of two that are as narrow, those that were given first. */
static PtcValue by_class(PtcVM *vm, PtcValue impls, PtcValue v)
{
    PtcValue key, methods, best = PTC_NONE;
    int narrowest = INT32_MAX;
    for (size_t pos = 0; ptc_map_next(impls, &pos, &key, &methods);) {
        int breadth = ptc_class_breadth(key);
        if (!ptc_tick(&vm->budget, 4))
            return PTC_NONE;
        if (breadth < 0 || breadth >= narrowest || !ptc_is_map(methods) ||
            !ptc_class_has(vm, key, v))
            continue;
        narrowest = breadth;
        best = methods;
    }
    return best;
}

PtcValue ptc_protocol_methods(PtcVM *vm, PtcValue protocol, PtcValue v)
{
    PtcValue impls = impls_of(vm, protocol), type = ptc_typed_type(v);
    PtcValue name = ptc_record_field(protocol, PTC_PROTOCOL_NAME), found = PTC_NONE;
    if (ptc_is_object(v))
        found = map_in(vm, ptc_record_field(v, PTC_OBJECT_METHODS), name);
    if (found != PTC_NONE || impls == PTC_NONE)
        return found;
    if (v == PTC_NIL)
        return map_in(vm, impls, PTC_NIL);
    if (type != PTC_NONE)
        found = map_in(vm, impls, ptc_type_field(type, PTC_TYPE_NAME));
    return found == PTC_NONE ? by_class(vm, impls, v) : found;
}

/* -------------------------------------------------------------------------- definitions */

PTC_BUILTIN(protocol_new, "ptc", "protocol", 2, 2, PTC_B_HIDDEN, "", "", "")
{
    PtcValue empty = ptc_map_empty(vm->heap);
    PtcValue cell =
        empty == PTC_NONE ? empty : ptc_cell_new(vm->heap, PTC_CELL_ATOM, empty, PTC_NIL);
    PtcValue fields[PTC_PROTOCOL_FIELDS] = {argv[0], argv[1], cell};
    return cell != PTC_NONE &&
           ptc_give(out, ptc_record_new(vm, PTC_R_PROTOCOL, fields, PTC_PROTOCOL_FIELDS));
}

PTC_BUILTIN_EXPR(protocol_method, "ptc", "method", 2, 2, PTC_B_HIDDEN, "", "", "",
                 ptc_give(out, ptc_record_new(vm, PTC_R_METHOD, argv, PTC_METHOD_FIELDS)))

static bool arg_protocol(PtcVM *vm, PtcValue v)
{
    if (ptc_is_record(v, PTC_R_PROTOCOL))
        return true;
    ptc_fail(vm, PTC_E_TYPE, "methods belong to a protocol; this is %s", ptc_type_name(v));
    return ptc_fail_hint(vm, ptc_is(v, PTC_T_SYMBOL)
                                 ? "methods of Object and of Java's interfaces cannot be written "
                                   "here: make a protocol with defprotocol, or a plain function"
                                 : "define it first: (defprotocol P (method [x]))");
}

/* What impls are filed under: nil, or the symbol of a type or class. */
static bool arg_target(PtcVM *vm, PtcValue v, PtcValue *key)
{
    *key = ptc_is_type(v) ? ptc_type_field(v, PTC_TYPE_NAME) : v;
    if (v == PTC_NIL || ptc_is_type(v) || ptc_class_breadth(v) >= 0)
        return true;
    ptc_fail(vm, PTC_E_TYPE, "a protocol is extended to a type, a class or nil; this is %s",
             ptc_type_name(v));
    return ptc_fail_hint(vm,
                         "write the name of a defrecord, or String, Long, Number, Object, nil ...");
}

static bool check_method(PtcVM *vm, PtcValue protocol, PtcValue key)
{
    PtcValue all = ptc_record_field(protocol, PTC_PROTOCOL_METHODS);
    for (size_t i = 0, n = ptc_seq_count(all); i < n && ptc_tick(&vm->budget, 1); i++)
        if (ptc_same(vm->heap, ptc_seq_nth(all, i), key))
            return true;
    if (vm->budget.stop != PTC_STOP_NONE)
        return false;
    return ptc_fail(vm, PTC_E_VALUE, "the protocol %s has no method %s",
                    ptc_str_bytes(ptc_record_field(protocol, PTC_PROTOCOL_NAME)),
                    ptc_is_keyword(key) ? ptc_str_bytes(key) : "that is not a keyword");
}

/* Number of the field that capture i of a closure stands for, -1: it is none. */
static int64_t capture_field_index(PtcVM *vm, PtcValue type, const char **names)
{
    const char *end = strchr(*names, ' ');
    size_t len = end ? (size_t)(end - *names) : strlen(*names);
    PtcValue key = ptc_keyword_new(vm->heap, *names, len);
    *names += len + (end ? 1 : 0);
    return key == PTC_NONE ? -1 : ptc_type_find(vm->heap, type, key);
}

/* A method of a type: as it is if it uses no fields. */
static PtcValue inline_of(PtcVM *vm, PtcValue type, PtcValue f)
{
    const PtcClosure *c = (const PtcClosure *)(uintptr_t)f;
    PtcValue captures = ptc_is(f, PTC_T_CLOSURE) ? ptc_closure_proto(c)->captures : PTC_NIL;
    if (!ptc_is_string(captures))
        return f;
    const char *names = ptc_str_bytes(captures);
    PtcValue b = ptc_build_new(vm->heap);
    for (size_t i = 0; b != PTC_NONE && i < c->obj.count; i++)
        if (!ptc_build_add(vm->heap, b, ptc_int(capture_field_index(vm, type, &names))))
            return PTC_NONE;
    PtcValue places = b == PTC_NONE ? b : ptc_build_done(vm->heap, b, 0);
    PtcValue fields[PTC_INLINE_FIELDS] = {f, places};
    return places == PTC_NONE ? places
                              : ptc_record_new(vm, PTC_R_INLINE, fields, PTC_INLINE_FIELDS);
}

/* The methods, keyword and function by turns, in a map.  Those with the same name become a vector. */
static PtcValue gather_methods(PtcVM *vm, PtcValue type, int argc, const PtcValue *argv)
{
    PtcValue all = ptc_map_empty(vm->heap);
    for (int i = 0; all != PTC_NONE && i + 1 < argc; i += 2) {
        PtcValue f = type == PTC_NONE ? argv[i + 1] : inline_of(vm, type, argv[i + 1]);
        PtcValue before = f == PTC_NONE ? f : ptc_map_get(vm->heap, all, argv[i]);
        if (before != PTC_NONE && ptc_is(before, PTC_T_FLAT))
            f = ptc_vec_conj(vm->heap, before, f);
        else if (before != PTC_NONE)
            f = ptc_vec_new(vm->heap, (PtcValue[2]){before, f}, 2, 0);
        all = f == PTC_NONE ? f : ptc_map_assoc(vm->heap, all, argv[i], f);
    }
    return all;
}

/* Files the methods of a type; those that it had under other names stay. */
static bool file_methods(PtcVM *vm, PtcValue protocol, PtcValue key, PtcValue methods)
{
    PtcValue impls = impls_of(vm, protocol), name, f;
    PtcValue all = impls == PTC_NONE ? ptc_map_empty(vm->heap) : impls;
    PtcValue own = all == PTC_NONE ? all : map_in(vm, all, key);
    own = own == PTC_NONE && all != PTC_NONE ? ptc_map_empty(vm->heap) : own;
    for (size_t pos = 0; own != PTC_NONE && ptc_map_next(methods, &pos, &name, &f);) {
        if (!check_method(vm, protocol, name))
            return false;
        own = ptc_map_assoc(vm->heap, own, name, f);
    }
    all = own == PTC_NONE ? own : ptc_map_assoc(vm->heap, all, key, own);
    return all != PTC_NONE &&
           ptc_cells_store(vm, ptc_record_field(protocol, PTC_PROTOCOL_CELL), all, "a protocol");
}

/* (%extend type protocol :method f ...); with `within`, the functions see the fields of the type. */
static bool extend(PtcVM *vm, int argc, const PtcValue *argv, bool within, PtcValue *out)
{
    PtcValue key;
    if (!arg_protocol(vm, argv[1]) || !arg_target(vm, argv[0], &key))
        return false;
    PtcValue methods = gather_methods(vm, within ? argv[0] : PTC_NONE, argc - 2, argv + 2);
    return methods != PTC_NONE && file_methods(vm, argv[1], key, methods) && ptc_give(out, PTC_NIL);
}

PTC_BUILTIN_EXPR(protocol_extend, "ptc", "extend", 2, -1, PTC_B_HIDDEN, "", "", "",
                 extend(vm, argc, argv, false, out))

PTC_BUILTIN_EXPR(protocol_inline, "ptc", "inline", 2, -1, PTC_B_HIDDEN, "", "", "",
                 extend(vm, argc, argv, true, out))

/* One protocol of reify into the map of all: protocol, number of values after it, :method, f ... */
static PtcValue reify_one(PtcVM *vm, PtcValue all, int n, const PtcValue *argv)
{
    PtcValue name = ptc_record_field(argv[0], PTC_PROTOCOL_NAME), key;
    PtcValue methods = gather_methods(vm, PTC_NONE, n, argv + 2);
    for (size_t pos = 0; methods != PTC_NONE && ptc_map_next(methods, &pos, &key, NULL);)
        if (!check_method(vm, argv[0], key))
            return PTC_NONE;
    return methods == PTC_NONE ? methods : ptc_map_assoc(vm->heap, all, name, methods);
}

PTC_BUILTIN(protocol_reify, "ptc", "reify", 1, -1, PTC_B_HIDDEN, "", "", "")
{
    PtcValue all = ptc_map_empty(vm->heap);
    for (int i = 1; all != PTC_NONE && i + 1 < argc;) {
        int n = (int)ptc_to_int(argv[i + 1]);
        if (!arg_protocol(vm, argv[i]))
            return false;
        all = reify_one(vm, all, n, argv + i);
        i += n + 2;
    }
    PtcValue fields[PTC_OBJECT_VALUES] = {argv[0], ptc_int(vm->heap->cell_count++), all};
    return all != PTC_NONE &&
           ptc_give(out, ptc_record_new(vm, PTC_R_OBJECT, fields, PTC_OBJECT_VALUES));
}

PTC_BUILTIN(
    core_extend, "clojure.core", "extend", 1, -1, PTC_B_EFFECT,
    "(extend type protocol {:method f ...} ...)",
    "Gives a type methods for protocols, as extend-type does, from maps of functions.",
    "(defprotocol Sized (size [x])) (extend String Sized {:size count}) (size \"abc\") => 3\n"
    "(extend String 5 {}) !! type_error\n(extend String) => nil")
{
    PtcValue key;
    if (!arg_target(vm, argv[0], &key))
        return false;
    if (argc % 2 == 0)
        return ptc_fail(vm, PTC_E_ARITY, "extend takes a type, then protocols each with a map");
    for (int i = 1; i + 1 < argc; i += 2)
        if (!arg_protocol(vm, argv[i]) || !ptc_arg_map(vm, argv, i + 1) ||
            !file_methods(vm, argv[i], key, argv[i + 1]))
            return false;
    return ptc_give(out, PTC_NIL);
}

PTC_BUILTIN(core_satisfies, "clojure.core", "satisfies?", 2, 2, PTC_GIVES(PTC_IS_BOOL),
            "(satisfies? protocol x)", "Does the protocol have methods for the value?",
            "(defprotocol Sized (size [x])) (extend-type String Sized (size [s] (count s))) "
            "[(satisfies? Sized \"a\") (satisfies? Sized 1)] => [true false]\n"
            "(satisfies? 1 2) !! type_error")
{
    return arg_protocol(vm, argv[0]) &&
           ptc_give(out, ptc_bool(ptc_protocol_methods(vm, argv[0], argv[1]) != PTC_NONE));
}

PTC_BUILTIN(
    core_extends, "clojure.core", "extends?", 2, 2, PTC_GIVES(PTC_IS_BOOL),
    "(extends? protocol type)", "Was the protocol extended to this very type?",
    "(defprotocol Sized (size [x])) (extend-type String Sized (size [s] 1)) [(extends? Sized "
    "String) (extends? Sized Long)] => [true false]\n(extends? 1 String) !! type_error")
{
    PtcValue key;
    return arg_protocol(vm, argv[0]) && arg_target(vm, argv[1], &key) &&
           ptc_give(out, ptc_bool(map_in(vm, impls_of(vm, argv[0]), key) != PTC_NONE));
}

PTC_BUILTIN(core_extenders, "clojure.core", "extenders", 1, 1, 0, "(extenders protocol)",
            "The types that the protocol was extended to, as the symbols of their names; or nil.",
            "(defprotocol Sized (size [x])) (extend-type String Sized (size [s] 1)) (extenders "
            "Sized) => [java.lang.String]\n(extenders 1) !! type_error")
{
    PtcValue key, impls = arg_protocol(vm, argv[0]) ? impls_of(vm, argv[0]) : PTC_NONE;
    if (vm->failed)
        return false;
    if (impls == PTC_NONE || ptc_map_count(impls) == 0)
        return ptc_give(out, PTC_NIL);
    PtcValue b = ptc_build_new(vm->heap);
    for (size_t pos = 0; b != PTC_NONE && ptc_map_next(impls, &pos, &key, NULL);)
        if (!ptc_build_add(vm->heap, b, key) || !ptc_tick(&vm->budget, 1))
            return false;
    return b != PTC_NONE && ptc_give(out, ptc_build_done(vm->heap, b, PTC_SEQ));
}

PTC_BUILTIN_TABLE(ptc_lib_protocols, protocol_new, protocol_method, protocol_extend,
                  protocol_inline, protocol_reify, core_extend, core_satisfies, core_extends,
                  core_extenders);
