/* SPDX-License-Identifier: MIT
 * Functions that make functions.  What they give is a record: a hidden builtin and what it needs.
 * The hidden builtin gets that record as its first argument. */
#include "lisp/lazy/force.h"
#include "lisp/lazy/produce.h"
#include "lisp/vm/memo.h"
#include "lisp/vm/record.h"

/* Arguments put together in a C array; ptc_call keeps so few alive itself. */
enum { FN_FEW_ARGS = 32 };

/* Field i of the record that a hidden builtin was called through, from 0. */
static PtcValue kept(const PtcValue *argv, size_t i)
{
    return ptc_record_field(argv[0], i + 1);
}

static size_t kept_count(const PtcValue *argv)
{
    return ptc_obj(argv[0])->count - 1;
}

/* A function made of callable things. */
static bool make_of_functions(PtcVM *vm, const char *hidden, int argc, const PtcValue *argv,
                              PtcValue *out)
{
    for (int i = 0; i < argc; i++)
        if (!ptc_arg_callable(vm, argv, i) || !ptc_tick(&vm->budget, 1))
            return false;
    return ptc_give(out, ptc_fn_record(vm, hidden, argv, (size_t)argc));
}

/* An array of n values in the heap, kept alive by *root; its slots must be filled before the next call. */
static PtcNode *new_rooted_array(PtcVM *vm, PtcValue *root, size_t n)
{
    if (n > INT32_MAX / 2) {
        ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
        return NULL;
    }
    size_t bytes = sizeof(PtcNode) + n * sizeof(PtcValue);
    PtcNode *node = ptc_heap_object(vm->heap, PTC_T_NODE, bytes, (uint32_t)n);
    if (node)
        *root = ptc_from_obj(node);
    return node;
}

/* (f a... b...) */
static bool call_joined(PtcVM *vm, PtcValue f, const PtcValue *a, size_t na, const PtcValue *b,
                        size_t nb, PtcValue *out)
{
    PtcValue few[FN_FEW_ARGS], *all = few;
    if (na + nb > FN_FEW_ARGS) {
        PtcValue *root = ptc_roots(vm, 1);
        PtcNode *node = root ? new_rooted_array(vm, root, na + nb) : NULL;
        if (root && !node && ptc_recover(vm))
            node = new_rooted_array(vm, root, na + nb);
        if (!node)
            return false;
        all = node->slots;
    }
    for (size_t i = 0; i < na; i++)
        all[i] = a[i];
    for (size_t i = 0; i < nb; i++)
        all[na + i] = b[i];
    return ptc_call(vm, f, (int)(na + nb), all, out);
}

/* ----------------------------------------------------------------------- apply */

/* The arguments of apply as one array: argv[1] ... and the elements of the last one. */
static PtcNode *spread_apply_args(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *root)
{
    PtcIter it;
    PtcValue x;
    size_t n = (size_t)argc - 2;
    if (!ptc_iter_init(&it, vm->heap, argv[argc - 1]))
        return NULL;
    PtcNode *node = new_rooted_array(vm, root, n + ptc_iter_hint(&it));
    if (!node)
        return NULL;
    uint32_t room = node->obj.count;
    for (size_t i = 0; i < room; i++)
        node->slots[i] = i < n ? argv[i + 1] : PTC_NIL;
    for (; n < room && ptc_iter_next(&it, &x); n++) {
        node->slots[n] = x;
        if (!ptc_tick(&vm->budget, 1))
            return NULL;
    }
    if (it.failed)
        return NULL;
    node->obj.count = (uint32_t)n; /* a string has fewer graphemes than bytes */
    return node;
}

static bool is_concat(PtcValue f)
{
    return ptc_is_builtin(f) && strcmp(ptc_builtin_row(ptc_builtin_index(f))->name, "concat") == 0;
}

/* The arguments between the function and the last, then `rest`. */
static PtcValue join_apply_args(PtcVM *vm, int argc, const PtcValue *argv, PtcValue rest)
{
    PtcValue all = ptc_vec_new(vm->heap, argv + 1, (size_t)argc - 2, 0);
    all = all == PTC_NONE ? all : ptc_vec_conj(vm->heap, all, rest);
    return all == PTC_NONE ? all : ptc_force_new(vm, all, PTC_UNBOUND, PTC_NIL, false);
}

/* (apply concat colls... endless): its elements are walked one by one. */
static bool concat_all(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcValue *slots = ptc_roots(vm, 1);
    if (!slots || !ptc_stage(vm, PTC_STEP_CAT, 1, argv + argc - 1, slots))
        return false;
    if (argc == 2)
        return ptc_give(out, *slots);
    return ptc_give(out, PTC_RETRY(vm, join_apply_args(vm, argc, argv, *slots)));
}

PTC_BUILTIN(core_apply, "clojure.core", "apply", 2, -1,
            PTC_B_CALLS | PTC_TAKES(PTC_IS_CALLED) | PTC_RULE(APPLY), "(apply f & args coll)",
            "Calls f with the given arguments followed by the elements of the last one.",
            "(apply + [1 2 3]) => 6\n(apply max 4 [1 9]) => 9\n(apply str \"ab\" nil) => \"ab\"\n"
            "(apply + 1) !! type_error")
{
    PtcValue last = argv[argc - 1];
    if (PTC_UNLIKELY(ptc_seq_endless(last)) && is_concat(argv[0]))
        return concat_all(vm, argc, argv, out);
    if (ptc_seq_endless(last))
        return ptc_fail_endless(vm, argc - 1);
    if (!ptc_is_seqable(last))
        return ptc_fail_type(vm, argv, argc - 1, "a collection of arguments");
    if (argc == 2 && ptc_is(last, PTC_T_FLAT))
        return ptc_call(vm, argv[0], (int)ptc_obj(last)->count, ((PtcFlat *)(uintptr_t)last)->items,
                        out);
    PtcValue *root = ptc_roots(vm, 1);
    if (!root)
        return false;
    PtcNode *all = PTC_RETRY(vm, spread_apply_args(vm, argc, argv, root));
    return all && ptc_call(vm, argv[0], (int)all->obj.count, all->slots, out);
}

/* ----------------------------------------------------------------- composition */

PTC_BUILTIN(core_comp, "clojure.core", "comp", 0, -1,
            PTC_TAKES_ALL(PTC_IS_CALLED) | PTC_GIVES(PTC_IS_CALLED) | PTC_RULE(COMP), "(comp & fs)",
            "The composition of functions: the last takes the arguments, each other what the one "
            "after it gave.",
            "((comp str inc) 5) => \"6\"\n((comp) 1) => 1\n((comp inc str) 1) !! type_error")
{
    if (argc == 0) {
        *out = ptc_builtin((uint32_t)ptc_builtin_find("identity", strlen("identity")));
        return true;
    }
    if (argc == 1 && ptc_arg_callable(vm, argv, 0))
        return ptc_give(out, argv[0]);
    return make_of_functions(vm, "composed", argc, argv, out);
}

PTC_BUILTIN(fn_composed, "clojure.core", "composed", 1, -1, PTC_B_CALLS | PTC_B_HIDDEN,
            "((comp & fs) & args)", "What comp gives.", "")
{
    size_t i = kept_count(argv) - 1;
    PtcValue v;
    if (!ptc_call(vm, kept(argv, i), argc - 1, argv + 1, &v))
        return false;
    while (i-- > 0)
        if (!ptc_call1(vm, kept(argv, i), v, &v))
            return false;
    *out = v;
    return true;
}

PTC_BUILTIN(core_partial, "clojure.core", "partial", 1, -1,
            PTC_TAKES(PTC_IS_CALLED) | PTC_GIVES(PTC_IS_FN) | PTC_RULE(PARTIAL),
            "(partial f & args)", "A function that calls f with these arguments before its own.",
            "((partial + 10) 5) => 15\n(map (partial str \"id-\") [1 2]) => [\"id-1\" \"id-2\"]\n"
            "(partial 5 1) !! type_error")
{
    return ptc_arg_callable(vm, argv, 0) &&
           ptc_give(out, ptc_fn_record(vm, "partly", argv, (size_t)argc));
}

PTC_BUILTIN(fn_partly, "clojure.core", "partly", 1, -1, PTC_B_CALLS | PTC_B_HIDDEN,
            "((partial f & args) & more)", "What partial gives.", "")
{
    const PtcRecord *r = (const PtcRecord *)(uintptr_t)argv[0];
    return call_joined(vm, r->fields[1], r->fields + 2, kept_count(argv) - 1, argv + 1,
                       (size_t)argc - 1, out);
}

PTC_BUILTIN_EXPR(core_complement, "clojure.core", "complement", 1, 1,
                 PTC_TAKES(PTC_IS_CALLED) | PTC_GIVES(PTC_IS_FN), "(complement f)",
                 "A function that gives true where f gives false or nil, and false otherwise.",
                 "(filter (complement nil?) [1 nil 2]) => [1 2]\n((complement :ok) {}) => true\n"
                 "(complement nil) !! type_error",
                 make_of_functions(vm, "negated", argc, argv, out))

PTC_BUILTIN(fn_negated, "clojure.core", "negated", 1, -1, PTC_B_CALLS | PTC_B_HIDDEN,
            "((complement f) & args)", "What complement gives.", "")
{
    PtcValue v;
    if (!ptc_call(vm, kept(argv, 0), argc - 1, argv + 1, &v))
        return false;
    *out = ptc_bool(!ptc_truthy(v));
    return true;
}

PTC_BUILTIN_EXPR(core_constantly, "clojure.core", "constantly", 1, 1,
                 PTC_GIVES(PTC_IS_FN) | PTC_RULE(CONSTANTLY), "(constantly x)",
                 "A function that takes any arguments and gives x.",
                 "((constantly 5) 1 2) => 5\n(map (constantly 0) [1 2]) => [0 0]",
                 ptc_give(out, ptc_fn_record(vm, "constant", argv, (size_t)argc)))

PTC_BUILTIN_EXPR(fn_constant, "clojure.core", "constant", 1, -1, PTC_B_HIDDEN,
                 "((constantly x) & args)", "What constantly gives.", "",
                 ptc_give(out, kept(argv, 0)))

PTC_BUILTIN_EXPR(
    core_juxt, "clojure.core", "juxt", 1, -1,
    PTC_TAKES_ALL(PTC_IS_KEYED) | PTC_GIVES(PTC_IS_FN) | PTC_RULE(JUXT), "(juxt & fs)",
    "A function that gives a vector of what each function gives for the same arguments.",
    "((juxt :a :b) {:a 1 :b 2}) => [1 2]\n((juxt min max) 3 1 2) => [1 3]\n(juxt 5) !! type_error",
    make_of_functions(vm, "juxtaposed", argc, argv, out))

PTC_BUILTIN(fn_juxtaposed, "clojure.core", "juxtaposed", 1, -1, PTC_B_CALLS | PTC_B_HIDDEN,
            "((juxt & fs) & args)", "What juxt gives.", "")
{
    PtcValue v;
    PtcValue *slot = ptc_roots(vm, 1);
    if (!slot || !ptc_root_build(vm, slot))
        return false;
    for (size_t i = 0; i < kept_count(argv); i++)
        if (!(argc == 2 ? ptc_call_element(vm, kept(argv, i), argv[1], &v)
                        : ptc_call(vm, kept(argv, i), argc - 1, argv + 1, &v)) ||
            !ptc_root_push(vm, slot, v))
            return false;
    return ptc_root_done(vm, slot, 0, out);
}

PTC_BUILTIN(
    core_fnil, "clojure.core", "fnil", 2, 4, PTC_TAKES(PTC_IS_CALLED) | PTC_GIVES(PTC_IS_FN),
    "(fnil f x y? z?)",
    "A function that calls f with x, y and z in place of nil as first, second and third argument.",
    "((fnil inc 0) nil) => 1\n(update {} :n (fnil + 10) 5) => {:n 15}\n(fnil nil 0) !! type_error")
{
    return ptc_arg_callable(vm, argv, 0) &&
           ptc_give(out, ptc_fn_record(vm, "nil-filled", argv, (size_t)argc));
}

PTC_BUILTIN(fn_nil_filled, "clojure.core", "nil-filled", 1, -1, PTC_B_CALLS | PTC_B_HIDDEN,
            "((fnil f x) & args)", "What fnil gives.", "")
{
    PtcValue first[3];
    size_t n = (size_t)argc - 1, given = n < 3 ? n : 3;
    for (size_t i = 0; i < given; i++)
        first[i] =
            argv[i + 1] == PTC_NIL && i + 1 < kept_count(argv) ? kept(argv, i + 1) : argv[i + 1];
    return call_joined(vm, kept(argv, 0), first, given, argv + 1 + given, n - given, out);
}

/* ------------------------------------------------------------------ predicates */

PTC_BUILTIN_EXPR(
    core_every_pred, "clojure.core", "every-pred", 1, -1,
    PTC_TAKES_ALL(PTC_IS_CALLED) | PTC_GIVES(PTC_IS_FN), "(every-pred & preds)",
    "A function that says whether all predicates hold for all of its arguments.",
    "((every-pred number? pos?) 3) => true\n(filter (every-pred int? even?) [1 2 \"x\"]) => [2]\n"
    "(every-pred 1) !! type_error",
    make_of_functions(vm, "every-of", argc, argv, out))

PTC_BUILTIN(fn_every_of, "clojure.core", "every-of", 1, -1, PTC_B_CALLS | PTC_B_HIDDEN,
            "((every-pred & preds) & args)", "What every-pred gives.", "")
{
    PtcValue v = PTC_TRUE;
    for (int a = 1; a < argc; a++)
        for (size_t i = 0; i < kept_count(argv) && ptc_truthy(v); i++)
            if (!ptc_call1(vm, kept(argv, i), argv[a], &v))
                return false;
    *out = ptc_bool(ptc_truthy(v));
    return true;
}

PTC_BUILTIN_EXPR(
    core_some_fn, "clojure.core", "some-fn", 1, -1,
    PTC_TAKES_ALL(PTC_IS_CALLED) | PTC_GIVES(PTC_IS_FN), "(some-fn & fs)",
    "A function that gives the first true result of any of the functions for any of its arguments.",
    "((some-fn :a :b) {:b 2}) => 2\n((some-fn even? neg?) 3) => false\n(some-fn) !! arity_error",
    make_of_functions(vm, "some-of", argc, argv, out))

PTC_BUILTIN(fn_some_of, "clojure.core", "some-of", 1, -1, PTC_B_CALLS | PTC_B_HIDDEN,
            "((some-fn & fs) & args)", "What some-fn gives.", "")
{
    PtcValue v = PTC_NIL;
    for (size_t i = 0; i < kept_count(argv); i++)
        for (int a = 1; a < argc && !ptc_truthy(v); a++)
            if (!ptc_call1(vm, kept(argv, i), argv[a], &v))
                return false;
    *out = v;
    return true;
}

/* ---------------------------------------------------------------- memoize, trampoline */

/* What a memoized function (a record) is known by: the function itself where that is told apart quickly. */
static PtcValue memo_key(PtcValue record)
{
    PtcValue f = ptc_record_field(record, 1);
    return ptc_is(f, PTC_T_CLOSURE) || ptc_is_builtin(f) ? f : record;
}

PTC_BUILTIN_EXPR(
    core_memoize, "clojure.core", "memoize", 1, 1, PTC_TAKES(PTC_IS_CALLED) | PTC_GIVES(PTC_IS_FN),
    "(memoize f)",
    "A function that calls f once for the same arguments and gives what it gave again, as long as "
    "the run "
    "lasts.",
    "((memoize inc) 1) => 2\n(let [f (memoize (fn [a b] (* a b)))] [(f 6 7) (f 6 7)]) => [42 42]\n"
    "(memoize 5) !! type_error",
    ptc_arg_callable(vm, argv, 0) && ptc_give(out, ptc_fn_record(vm, "memoized", argv, 1)))

/* Calls the function, unless another item of a pmap does so with the same arguments: then its result is taken. */
static bool call_once(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *slots)
{
    PtcMemoCall pending;
    PtcMemoAnswer answer = ptc_memo_begin(vm, memo_key(argv[0]), slots[0], &pending, &slots[1]);
    if (answer != PTC_MEMO_CALL)
        return answer == PTC_MEMO_HIT;
    bool ok = ptc_call(vm, ptc_record_field(argv[0], 1), argc - 1, argv + 1, &slots[1]);
    ptc_memo_end(vm, &pending, ok ? slots[1] : PTC_NONE);
    return ok;
}

PTC_BUILTIN(fn_memoized, "clojure.core", "memoized", 1, -1, PTC_B_CALLS | PTC_B_HIDDEN,
            "((memoize f) & args)", "What memoize gives.", "")
{
    PtcValue *slots = ptc_roots(vm, 2); /* arguments, result */
    if (!slots)
        return false;
    PtcValue args = PTC_RETRY(vm, ptc_vec_new(vm->heap, argv + 1, (size_t)argc - 1, 0));
    if (args == PTC_NONE)
        return false;
    slots[0] = args;
    PtcValue known = ptc_memo_recall(vm, memo_key(argv[0]), args);
    if (vm->budget.stop != PTC_STOP_NONE)
        return false;
    if (known != PTC_NONE)
        return ptc_give(out, known);
    if (!call_once(vm, argc, argv, slots))
        return false;
    *out = slots[1];
    return PTC_RETRY(vm, ptc_memo_remember(vm, memo_key(argv[0]), slots[0], slots[1]));
}

PTC_BUILTIN(core_trampoline, "clojure.core", "trampoline", 1, -1, PTC_B_CALLS,
            "(trampoline f & args)",
            "Calls f with the arguments, then, as long as the result is a function, calls that "
            "without any.",
            "(trampoline (fn f [n] (if (pos? n) (fn [] (f (dec n))) :done)) 1000) => "
            ":done\n(trampoline + 1 2) => 3\n"
            "(trampoline 5) !! not_callable")
{
    PtcValue *v = ptc_roots(vm, 1);
    if (!v || !ptc_call(vm, argv[0], argc - 1, argv + 1, v))
        return false;
    while (ptc_is_function(*v))
        if (!ptc_tick(&vm->budget, 1) || !ptc_call(vm, *v, 0, NULL, v))
            return false;
    return ptc_give(out, *v);
}

/* ------------------------------------------------------------------------ reduced */

PTC_BUILTIN_EXPR(core_reduced, "clojure.core", "reduced", 1, 1, 0, "(reduced x)",
                 "Wraps a result so that the reduce that gets it stops with x.",
                 "(reduce (fn [a x] (if (> x 2) (reduced a) (+ a x))) 0 [1 2 3 4]) => 3",
                 ptc_give(out, ptc_record_new(vm, PTC_R_REDUCED, argv, (size_t)argc)))

PTC_BUILTIN(core_is_reduced, "clojure.core", "reduced?", 1, 1, PTC_GIVES(PTC_IS_BOOL),
            "(reduced? x)", "Is this what reduced gives?",
            "(reduced? (reduced 1)) => true\n(reduced? 1) => false")
{
    *out = ptc_bool(ptc_is_record(argv[0], PTC_R_REDUCED));
    return true;
}

PTC_BUILTIN(core_unreduced, "clojure.core", "unreduced", 1, 1, 0, "(unreduced x)",
            "What reduced wrapped; anything else as it is.",
            "(unreduced (reduced 1)) => 1\n(unreduced 2) => 2")
{
    return ptc_give(out,
                    ptc_is_record(argv[0], PTC_R_REDUCED) ? ptc_record_field(argv[0], 0) : argv[0]);
}

PTC_BUILTIN_TABLE(ptc_lib_fn, core_apply, core_comp, fn_composed, core_partial, fn_partly,
                  core_complement, fn_negated, core_constantly, fn_constant, core_juxt,
                  fn_juxtaposed, core_fnil, fn_nil_filled, core_every_pred, fn_every_of,
                  core_some_fn, fn_some_of, core_reduced, core_is_reduced, core_unreduced,
                  core_memoize, fn_memoized, core_trampoline);
