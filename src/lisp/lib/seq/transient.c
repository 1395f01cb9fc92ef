/* SPDX-License-Identifier: MIT
 * Transients, which are plain values here: conj! and its kin are conj and its kin.  A program that goes on using what
 * it called conj! on is therefore right, though it would not be in Clojure. */
#include "lisp/vm/builtin.h"
#include "value/coll/vec.h"

/* Runs another builtin in the place of this one. */
static bool instead(PtcVM *vm, const char *name, int argc, const PtcValue *argv, PtcValue *out)
{
    return ptc_builtin_row((uint32_t)ptc_builtin_find(name, strlen(name)))->fn(vm, argc, argv, out);
}

static bool arg_transient(PtcVM *vm, const PtcValue *argv)
{
    PtcValue v = argv[0];
    return ptc_is_map(v) || ptc_is_set(v) || (ptc_is_sequential(v) && !ptc_is_seq_flagged(v)) ||
           ptc_fail_type(vm, argv, 0, "a vector, map or set");
}

PTC_BUILTIN_EXPR(
    core_transient, "clojure.core", "transient", 1, 1, 0, "(transient coll)",
    "The collection itself: adding to plain collections is quick enough here.",
    "(persistent! (conj! (transient [1]) 2)) => [1 2]\n(transient (list 1)) !! type_error",
    arg_transient(vm, argv) && ptc_give(out, argv[0]))

PTC_BUILTIN_EXPR(
    core_persistent, "clojure.core", "persistent!", 1, 1, 0, "(persistent! coll)",
    "The collection itself.",
    "(persistent! (assoc! (transient {}) :a 1)) => {:a 1}\n(persistent! 5) !! type_error",
    arg_transient(vm, argv) && ptc_give(out, argv[0]))

PTC_BUILTIN(core_conj_bang, "clojure.core", "conj!", 0, 2, 0, "(conj! coll x)",
            "The same as conj: the result has x added, coll stays as it is.",
            "(conj! (transient [1]) 2) => [1 2]\n(conj! (transient #{}) 2) => #{2}\n(conj! 5 1) !! "
            "type_error")
{
    if (argc == 0)
        return ptc_give(out, ptc_vec_new(vm->heap, NULL, 0, 0));
    return arg_transient(vm, argv) && instead(vm, "conj", argc, argv, out);
}

PTC_BUILTIN_EXPR(
    core_assoc_bang, "clojure.core", "assoc!", 3, -1, 0, "(assoc! coll key value ...)",
    "The same as assoc: the result has the keys set, coll stays as it is.",
    "(assoc! (transient {}) :a 1) => {:a 1}\n(assoc! (transient [1]) 0 5) => [5]\n(assoc! "
    "5 1 1) !! type_error",
    arg_transient(vm, argv) && instead(vm, "assoc", argc, argv, out))

PTC_BUILTIN_EXPR(core_dissoc_bang, "clojure.core", "dissoc!", 2, -1, 0, "(dissoc! map & keys)",
                 "The same as dissoc: the result lacks the keys, the map stays as it is.",
                 "(dissoc! (transient {:a 1 :b 2}) :a) => {:b 2}\n(dissoc! [1] 0) !! type_error",
                 ptc_arg_map(vm, argv, 0) && instead(vm, "dissoc", argc, argv, out))

PTC_BUILTIN_EXPR(core_disj_bang, "clojure.core", "disj!", 1, -1, 0, "(disj! set & elements)",
                 "The same as disj: the result lacks the elements, the set stays as it is.",
                 "(disj! (transient #{1 2}) 1) => #{2}\n(disj! [1] 1) !! type_error",
                 instead(vm, "disj", argc, argv, out))

PTC_BUILTIN_EXPR(core_pop_bang, "clojure.core", "pop!", 1, 1, 0, "(pop! vector)",
                 "The same as pop: the result lacks the last element, the vector stays as it is.",
                 "(pop! (transient [1 2])) => [1]\n(pop! {}) !! type_error",
                 instead(vm, "pop", argc, argv, out))

PTC_BUILTIN_TABLE(ptc_lib_transient, core_transient, core_persistent, core_conj_bang,
                  core_assoc_bang, core_dissoc_bang, core_disj_bang, core_pop_bang);
