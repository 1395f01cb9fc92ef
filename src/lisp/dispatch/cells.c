/* SPDX-License-Identifier: MIT
 * Atoms, volatiles and delays.  value/cell.h has the rules: a cell is an anonymous variable of the run.  What a
 * function of the program computes for a cell is stored when that function has returned; there are no other threads
 * that could have changed the cell meanwhile, only the function itself, and what it stored is then overwritten, as
 * Clojure's last write wins. */
#include "lisp/dispatch/cells.h"

#include "lisp/vm/record.h"
#include "value/cell.h"

static bool is_kind(PtcValue v, PtcCellKind kind)
{
    return ptc_is_cell(v) && ptc_cell_kind(v) == kind;
}

static bool arg_cell(PtcVM *vm, const PtcValue *argv, PtcCellKind kind)
{
    return is_kind(argv[0], kind) ||
           ptc_fail_type(vm, argv, 0, kind == PTC_CELL_ATOM ? "an atom" : "a volatile");
}

bool ptc_cells_store(PtcVM *vm, PtcValue cell, PtcValue v, const char *what)
{
    if (ptc_cell_set(vm->heap, cell, v))
        return true;
    if (vm->heap->budget->stop != PTC_STOP_NONE)
        return false;
    ptc_fail(vm, PTC_E_VALUE,
             "%s that was made outside of a pmap or pcalls cannot be changed inside: what its "
             "items see would depend on which of them is first",
             what);
    return ptc_fail_hint(vm, "let each item give its part, and put them together after it: "
                             "(reduce f init (pmap g coll))");
}

static bool store_in_cell(PtcVM *vm, PtcValue cell, PtcValue v)
{
    return ptc_cells_store(vm, cell, v,
                           ptc_cell_kind(cell) == PTC_CELL_ATOM ? "an atom" : "a volatile");
}

/* New cell value: (f old args...), where argv is cell, f, args. */
static bool compute_cell_value(PtcVM *vm, int argc, const PtcValue *argv, PtcValue old,
                               PtcValue *out)
{
    PtcNode *args;
    PtcValue few[8], *root = ptc_roots(vm, 1);
    size_t n = (size_t)argc - 1;
    if (!root)
        return false;
    if (n <= sizeof few / sizeof few[0]) {
        few[0] = old;
        ptc_copy_few(few + 1, argv + 2, n - 1);
        return ptc_call(vm, argv[1], (int)n, few, out);
    }
    size_t size = sizeof *args + n * sizeof old;
    *root = old;
    args = PTC_RETRY(vm, ptc_heap_object(vm->heap, PTC_T_NODE, size, (uint32_t)n));
    if (!args)
        return false;
    args->slots[0] = old;
    memcpy(args->slots + 1, argv + 2, (n - 1) * sizeof old);
    *root = ptc_from_obj(args);
    return ptc_call(vm, argv[1], (int)n, args->slots, out);
}

static bool swap_cell(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *old, PtcValue *out)
{
    *old = ptc_cell_get(vm->heap, argv[0]);
    return compute_cell_value(vm, argc, argv, *old, out) && store_in_cell(vm, argv[0], *out);
}

/* [old new] */
static bool give_pair(PtcVM *vm, PtcValue *kept, PtcValue *out)
{
    PtcValue pair = PTC_RETRY(vm, ptc_vec_new(vm->heap, kept, 2, 0));
    return ptc_give(out, pair);
}

/* -------------------------------------------------------------------------------- atoms */

static bool is_validator(PtcValue v)
{
    return ptc_is_keyword(v) &&
           ptc_text_is((PtcText){ptc_str_bytes(v), ptc_str_len(v)}, "validator");
}

PTC_BUILTIN(
    core_atom, "clojure.core", "atom", 1, -1, PTC_GIVES(PTC_IS_OTHER), "(atom value)",
    "A place for a value that can be changed with swap! and reset!, and read with deref or "
    "@. It lives as def does: a session keeps it, and a run that fails changes nothing.",
    "(let [a (atom 1)] (swap! a inc) @a) => 2\n"
    "(def hits (atom {})) (doseq [w [\"a\" \"b\" \"a\"]] (swap! hits update w (fnil inc 0))) "
    "@hits => {\"a\" 2, \"b\" 1}\n"
    "(atom 5) => #atom[5]\n(= (atom 1) (atom 1)) => false\n(atom 0 :validator pos?) !! "
    "value_error")
{
    for (int i = 1; i < argc; i += 2) {
        if (!is_validator(argv[i]) || i + 1 >= argc || argv[i + 1] == PTC_NIL)
            continue;
        ptc_fail(vm, PTC_E_VALUE, "atom takes a value; there are no validators and watches");
        return ptc_fail_hint(vm, "check the value before swap! or reset!");
    }
    return ptc_give(out, ptc_cell_new(vm->heap, PTC_CELL_ATOM, argv[0], PTC_NIL));
}

PTC_BUILTIN(core_swap, "clojure.core", "swap!", 2, -1,
            PTC_B_CALLS | PTC_B_EFFECT | PTC_TAKES(PTC_IS_OTHER), "(swap! atom f & args)",
            "Changes what an atom holds to (f old args...), and gives that.",
            "(let [a (atom 1)] (swap! a + 2 3)) => 6\n"
            "(let [a (atom {})] (swap! a assoc :k 1) (swap! a update :k inc) @a) => {:k 2}\n"
            "(let [a (atom 0)] (pmap (fn [x] (swap! a + x)) [1 2])) !! value_error\n"
            "(swap! 5 inc) !! type_error")
{
    PtcValue *old = ptc_roots(vm, 1);
    return old && arg_cell(vm, argv, PTC_CELL_ATOM) && swap_cell(vm, argc, argv, old, out);
}

PTC_BUILTIN(core_swap_vals, "clojure.core", "swap-vals!", 2, -1,
            PTC_B_CALLS | PTC_B_EFFECT | PTC_TAKES(PTC_IS_OTHER) | PTC_GIVES(PTC_IS_LIST),
            "(swap-vals! atom f & args)", "As swap!, but gives [old new].",
            "(let [a (atom [1 2])] (swap-vals! a pop)) => [[1 2] [1]]\n"
            "(swap-vals! nil inc) !! type_error")
{
    PtcValue *kept = ptc_roots(vm, 2);
    return kept && arg_cell(vm, argv, PTC_CELL_ATOM) && swap_cell(vm, argc, argv, kept, kept + 1) &&
           give_pair(vm, kept, out);
}

PTC_BUILTIN(core_reset, "clojure.core", "reset!", 2, 2, PTC_B_EFFECT | PTC_TAKES(PTC_IS_OTHER),
            "(reset! atom value)", "Changes what an atom holds, and gives the new value.",
            "(let [a (atom 1)] (reset! a 5) @a) => 5\n(reset! {} 1) !! type_error")
{
    return arg_cell(vm, argv, PTC_CELL_ATOM) && store_in_cell(vm, argv[0], argv[1]) &&
           ptc_give(out, argv[1]);
}

PTC_BUILTIN(core_reset_vals, "clojure.core", "reset-vals!", 2, 2,
            PTC_B_CALLS | PTC_B_EFFECT | PTC_TAKES(PTC_IS_OTHER) | PTC_GIVES(PTC_IS_LIST),
            "(reset-vals! atom value)", "As reset!, but gives [old new].",
            "(let [a (atom 1)] (reset-vals! a 2)) => [1 2]\n(reset-vals! 1 2) !! type_error")
{
    PtcValue *kept = ptc_roots(vm, 2);
    if (!kept || !arg_cell(vm, argv, PTC_CELL_ATOM))
        return false;
    kept[0] = ptc_cell_get(vm->heap, argv[0]);
    kept[1] = argv[1];
    return store_in_cell(vm, argv[0], argv[1]) && give_pair(vm, kept, out);
}

PTC_BUILTIN(core_compare_and_set, "clojure.core", "compare-and-set!", 3, 3,
            PTC_B_EFFECT | PTC_TAKES(PTC_IS_OTHER) | PTC_GIVES(PTC_IS_BOOL),
            "(compare-and-set! atom old new)",
            "Changes what an atom holds if that is the old value, and says whether it was.",
            "(let [a (atom 1)] [(compare-and-set! a 1 2) (compare-and-set! a 1 3) @a]) => [true "
            "false 2]\n(compare-and-set! 1 1 2) !! type_error")
{
    if (!arg_cell(vm, argv, PTC_CELL_ATOM))
        return false;
    bool same = ptc_same(vm->heap, ptc_cell_get(vm->heap, argv[0]), argv[1]);
    return (!same || store_in_cell(vm, argv[0], argv[2])) && ptc_give(out, ptc_bool(same));
}

PTC_BUILTIN_EXPR(core_is_atom, "clojure.core", "atom?", 1, 1, PTC_GIVES(PTC_IS_BOOL), "(atom? x)",
                 "Is it an atom?", "(atom? (atom 1)) => true\n(atom? 1) => false",
                 ptc_give(out, ptc_bool(is_kind(argv[0], PTC_CELL_ATOM))))

/* ---------------------------------------------------------------------------- volatiles */

PTC_BUILTIN_EXPR(core_volatile, "clojure.core", "volatile!", 1, 1, PTC_GIVES(PTC_IS_OTHER),
                 "(volatile! value)",
                 "A place for a value, as atom makes; changed with vswap! and vreset!.",
                 "(let [v (volatile! 0)] (doseq [x [1 2 3]] (vswap! v + x)) @v) => 6\n"
                 "(volatile!) !! arity_error",
                 ptc_give(out, ptc_cell_new(vm->heap, PTC_CELL_VOLATILE, argv[0], PTC_NIL)))

PTC_BUILTIN(core_vswap, "clojure.core", "vswap!", 2, -1,
            PTC_B_CALLS | PTC_B_EFFECT | PTC_TAKES(PTC_IS_OTHER), "(vswap! volatile f & args)",
            "Changes what a volatile holds to (f old args...), and gives that.",
            "(let [v (volatile! [])] (vswap! v conj 1) @v) => [1]\n(vswap! (atom 1) inc) !! "
            "type_error")
{
    PtcValue *old = ptc_roots(vm, 1);
    return old && arg_cell(vm, argv, PTC_CELL_VOLATILE) && swap_cell(vm, argc, argv, old, out);
}

PTC_BUILTIN(core_vreset, "clojure.core", "vreset!", 2, 2, PTC_B_EFFECT | PTC_TAKES(PTC_IS_OTHER),
            "(vreset! volatile value)", "Changes what a volatile holds, and gives the new value.",
            "(let [v (volatile! 1)] (vreset! v :x) @v) => :x\n(vreset! 1 2) !! type_error")
{
    return arg_cell(vm, argv, PTC_CELL_VOLATILE) && store_in_cell(vm, argv[0], argv[1]) &&
           ptc_give(out, argv[1]);
}

PTC_BUILTIN_EXPR(core_is_volatile, "clojure.core", "volatile?", 1, 1, PTC_GIVES(PTC_IS_BOOL),
                 "(volatile? x)", "Is it a volatile?",
                 "(volatile? (volatile! 1)) => true\n(volatile? (atom 1)) => false",
                 ptc_give(out, ptc_bool(is_kind(argv[0], PTC_CELL_VOLATILE))))

/* ------------------------------------------------------------------------------- delays */

PTC_FORM(form_delay, "clojure.core", "delay", "(delay body...)",
         "The body, computed when force, deref or @ asks for it first, and kept from then on.",
         "(let [d (delay (println \"once\") 5)] [@d (force d) (realized? d)]) => [5 5 true]\n"
         "(delay (fail \"never asked for\")) => #delay[pending]");

PTC_BUILTIN_EXPR(delay_new, "ptc", "delay", 1, 1, PTC_B_HIDDEN | PTC_GIVES(PTC_IS_OTHER), "", "",
                 "", ptc_give(out, ptc_cell_new(vm->heap, PTC_CELL_DELAY, PTC_UNBOUND, argv[0])))

/* Inside of a pmap, a delay from outside is computed by every item that asks: who would be first is not known. */
static bool force(PtcVM *vm, PtcValue delay, PtcValue *out)
{
    PtcValue *kept = ptc_roots(vm, 1);
    *out = ptc_cell_get(vm->heap, delay);
    if (*out != PTC_UNBOUND)
        return true;
    if (!kept || !ptc_call(vm, ptc_record_field(delay, PTC_CELL_MORE), 0, NULL, kept))
        return false;
    *out = *kept;
    return ptc_cell_set(vm->heap, delay, *kept) || vm->heap->budget->stop == PTC_STOP_NONE;
}

PTC_BUILTIN_EXPR(
    core_force, "clojure.core", "force", 1, 1, PTC_B_CALLS, "(force x)",
    "The value of a delay, computed if that has not been done yet; anything else as it is.",
    "(force (delay (+ 1 2))) => 3\n(force 7) => 7\n(force (delay (fail \"no\"))) !! fail",
    is_kind(argv[0], PTC_CELL_DELAY) ? force(vm, argv[0], out) : ptc_give(out, argv[0]))

PTC_BUILTIN_EXPR(core_is_delay, "clojure.core", "delay?", 1, 1, PTC_GIVES(PTC_IS_BOOL),
                 "(delay? x)", "Is it a delay?", "(delay? (delay 1)) => true\n(delay? 1) => false",
                 ptc_give(out, ptc_bool(is_kind(argv[0], PTC_CELL_DELAY))))

/* -------------------------------------------------------------------------------- deref */

static bool deref_var(PtcVM *vm, PtcValue var, PtcValue *out)
{
    int64_t index = ptc_to_int(ptc_record_field(var, 1));
    PtcValue v = (size_t)index < vm->global_count ? vm->globals[index] : PTC_UNBOUND;
    if (v == PTC_UNBOUND)
        return ptc_fail(vm, PTC_E_UNBOUND, "#'%s has no value",
                        ptc_str_bytes(ptc_record_field(var, 0)));
    return ptc_give(out, v);
}

PTC_BUILTIN(core_deref, "clojure.core", "deref", 1, 1, PTC_B_CALLS | PTC_TAKES(PTC_IS_OTHER),
            "(deref x)",
            "What an atom, a volatile, a var, a delay or a reduced holds; @x is short for it.",
            "(deref (atom 5)) => 5\n@(volatile! [1]) => [1]\n@(delay (+ 1 2)) => 3\n"
            "(def x 4) @#'x => 4\n(deref 5) !! type_error")
{
    PtcValue v = argv[0];
    if (is_kind(v, PTC_CELL_DELAY))
        return force(vm, v, out);
    if (ptc_is_cell(v))
        return ptc_give(out, ptc_cell_get(vm->heap, v));
    if (ptc_is(v, PTC_T_VAR))
        return deref_var(vm, v, out);
    if (ptc_is_record(v, PTC_R_REDUCED))
        return ptc_give(out, ptc_record_field(v, 0));
    return ptc_fail_type(vm, argv, 0, "an atom, a volatile, a delay or a var");
}

PTC_BUILTIN_TABLE(ptc_lib_cells, core_atom, core_swap, core_swap_vals, core_reset, core_reset_vals,
                  core_is_atom, core_compare_and_set, core_volatile, core_vswap, core_vreset,
                  core_is_volatile, form_delay, delay_new, core_force, core_is_delay, core_deref);
