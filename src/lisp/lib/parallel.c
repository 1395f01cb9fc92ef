/* SPDX-License-Identifier: MIT
 * pmap and pcalls: the same function, or several, at the same time.  See crew.h for what that means. */
#include "lisp/lazy/force.h"
#include "lisp/lazy/seq_int.h"
#include "lisp/parallel/crew.h"

enum { WIDEST = 64 };

/* The elements of several collections, row after row, as one vector in the slot. */
static bool root_rows(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *slots)
{
    PtcZip zip;
    if (!ptc_zip_init(vm, &zip, argc, argv, 1, true))
        return false;
    bool ok = ptc_root_build(vm, slots);
    while (ok && ptc_zip_next(vm, &zip, slots + 1))
        for (int k = 1; ok && k < argc; k++)
            ok = ptc_root_push(vm, slots, slots[k]);
    ok = ok && !zip.failed;
    ptc_zip_deinit(vm, &zip);
    return ok && ptc_root_done(vm, slots, 0, slots);
}

PTC_BUILTIN(core_pmap, "clojure.core", "pmap", 2, -1,
            PTC_B_CALLS | PTC_B_EFFECT | PTC_TAKES3(PTC_IS_KEYED, PTC_IS_SEQABLE, PTC_IS_SEQABLE) |
                PTC_GIVES(PTC_IS_LIST) | PTC_RULE(MAP),
            "(pmap f coll & colls)",
            "As map, with several elements at the same time: for functions that wait, such as "
            "tool calls. Definitions made inside are not seen outside.",
            "(pmap inc [1 2 3]) => [2 3 4]\n(pmap + [1 2] [10 20]) => [11 22]\n"
            "(pmap str \"ab\") => [\"a\" \"b\"]\n(pmap inc 5) !! type_error\n"
            "(pmap (fn [x] (return x)) [1]) !! invalid_form")
{
    if (argc - 1 > WIDEST)
        return ptc_fail(vm, PTC_E_ARITY, "pmap takes at most %d collections", WIDEST);
    PtcValue *slots = ptc_roots(vm, argc); /* the rows, then one element of each collection */
    if (!slots || !ptc_arg_callable(vm, argv, 0))
        return false;
    bool ok = argc == 2 ? ptc_root_seq(vm, argv, 1, true, slots) : root_rows(vm, argc, argv, slots);
    return ok && ptc_force_deep(vm, argv[0], true, "pmap", PTC_FORCE_MOST) &&
           ptc_force_deep(vm, *slots, true, "pmap", PTC_FORCE_MOST) &&
           ptc_crew_map(vm, argv[0], *slots, argc - 1, out);
}

PTC_BUILTIN(core_pcalls, "clojure.core", "pcalls", 0, -1,
            PTC_B_CALLS | PTC_B_EFFECT | PTC_TAKES_ALL(PTC_IS_CALLED) | PTC_GIVES(PTC_IS_LIST) |
                PTC_RULE(CALL_ALL),
            "(pcalls & fs)",
            "A list of what the functions give when called without arguments, at the same time.",
            "(pcalls (fn [] 1) (fn [] 2)) => [1 2]\n(pcalls) => []\n(pcalls 5) !! type_error")
{
    PtcValue *slot = ptc_roots(vm, 1);
    for (int i = 0; i < argc; i++)
        if (!ptc_arg_callable(vm, argv, i) || !ptc_tick(&vm->budget, 1))
            return false;
    if (!slot)
        return false;
    *slot = PTC_RETRY(vm, ptc_vec_new(vm->heap, argv, (size_t)argc, 0));
    return *slot != PTC_NONE && ptc_force_deep(vm, *slot, true, "pcalls", PTC_FORCE_MOST) &&
           ptc_crew_map(vm, PTC_NONE, *slot, 1, out);
}

PTC_BUILTIN_TABLE(ptc_lib_parallel, core_pmap, core_pcalls);
