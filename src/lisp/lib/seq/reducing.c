/* SPDX-License-Identifier: MIT
 * What helps functions along: ensure-reduced, comparator, iteration, random-sample; and a few questions that Clojure
 * asks of values of classes. */
#include "lisp/lazy/seq_int.h"
#include "lisp/number/random.h"
#include "lisp/vm/predicate.h"
#include "lisp/vm/vm_int.h"

PTC_BUILTIN(core_ensure_reduced, "clojure.core", "ensure-reduced", 1, 1, 0, "(ensure-reduced x)",
            "x if it ends a reduction already, else (reduced x).",
            "(reduce (fn [a x] (ensure-reduced x)) 0 [7 8]) => 7\n"
            "(unreduced (ensure-reduced (reduced 5))) => 5\n(reduced? (ensure-reduced 1)) => true")
{
    bool is = ptc_is_record(argv[0], PTC_R_REDUCED);
    return ptc_give(out, is ? argv[0] : ptc_record_new(vm, PTC_R_REDUCED, argv, (size_t)argc));
}

/* ------------------------------------------------------------------------- comparator */

PTC_BUILTIN(core_comparator, "clojure.core", "comparator", 1, 1,
            PTC_TAKES(PTC_IS_CALLED) | PTC_GIVES(PTC_IS_FN), "(comparator pred)",
            "A function that compares by a predicate: -1 when (pred a b) holds, 1 when (pred b a) "
            "does, else 0.",
            "((comparator >) 1 2) => 1\n((comparator <) 1 1) => 0\n"
            "(sort (comparator >) [1 3 2]) => [3 2 1]\n(comparator 5) !! type_error")
{
    return ptc_arg_callable(vm, argv, 0) &&
           ptc_give(out, ptc_fn_record(vm, "compared", argv, (size_t)argc));
}

PTC_BUILTIN(hidden_compared, "clojure.core", "compared", 3, 3, PTC_B_CALLS | PTC_B_HIDDEN,
            "((comparator pred) a b)", "What comparator gives.", "")
{
    PtcValue pred = ptc_record_field(argv[0], 1), y;
    if (!ptc_call2(vm, pred, argv[1], argv[2], &y))
        return false;
    if (ptc_truthy(y))
        return ptc_give(out, ptc_int(-1));
    return ptc_call2(vm, pred, argv[2], argv[1], &y) &&
           ptc_give(out, ptc_int(ptc_truthy(y) ? 1 : 0));
}

/* -------------------------------------------------------------------------- iteration */

/* The functions of an iteration, by option; those that are left out are nil and mean the value itself. */
enum { SOMEF, VF, KF, INITK, OPTIONS };

static const char *const option_names[OPTIONS] = {"somef", "vf", "kf", "initk"};

static bool set_option(PtcVM *vm, PtcValue key, PtcValue value, PtcValue *options)
{
    for (int i = 0; i < OPTIONS && ptc_is_keyword(key); i++)
        if (ptc_text_is((PtcText){ptc_str_bytes(key), ptc_str_len(key)}, option_names[i])) {
            options[i] = value;
            return i == INITK || ptc_is_callable(value) ||
                   ptc_fail_value_type(vm, value, "an option", "a function");
        }
    return ptc_fail_value_type(vm, key, "an option", ":somef, :vf, :kf or :initk");
}

/* :option value ..., or one map of them. */
static bool read_iteration_options(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *options)
{
    PtcValue key, value;
    if (argc == 2 && ptc_is_map(argv[1])) {
        for (size_t pos = 0; ptc_map_next(argv[1], &pos, &key, &value);)
            if (!ptc_tick(&vm->budget, 1) || !set_option(vm, key, value, options))
                return false;
        return true;
    }
    if (argc % 2 == 0)
        return ptc_fail(vm, PTC_E_ARITY, "iteration: the last option has no value");
    for (int i = 1; i < argc; i += 2)
        if (!set_option(vm, argv[i], argv[i + 1], options))
            return false;
    return true;
}

static bool through(PtcVM *vm, PtcValue f, PtcValue x, PtcValue *out)
{
    return f == PTC_NIL ? ptc_give(out, x) : ptc_call1(vm, f, x, out);
}

/* Calls step with the key in *key; *more is false when there is nothing left.  *page, a root, is what step gave. */
static bool run_iteration_step(PtcVM *vm, PtcValue step, const PtcValue *options, PtcValue *key,
                               PtcValue *page, PtcValue *list, bool *more)
{
    PtcValue y;
    if (!ptc_tick(&vm->budget, 1) || !ptc_call1(vm, step, *key, page) ||
        !through(vm, options[SOMEF], *page, &y))
        return false;
    *more = options[SOMEF] == PTC_NIL ? *page != PTC_NIL : ptc_truthy(y);
    if (!*more)
        return true;
    if (!through(vm, options[VF], *page, &y) || !ptc_root_push(vm, list, y) ||
        !through(vm, options[KF], *page, key))
        return false;
    *more = *key != PTC_NIL;
    return true;
}

PTC_BUILTIN(
    core_iteration, "clojure.core", "iteration", 1, -1, PTC_B_CALLS,
    "(iteration step :initk k :kf kf :vf vf :somef somef)",
    "Pages one after the other: calls step with initk (nil), then with what kf makes of each page, "
    "until that is nil or somef says that there is none; gives what vf makes of each page.  All of "
    "them are fetched at once.",
    "(iteration (fn [k] {:n k, :next (when (< k 3) (inc k))}) :initk 1 :kf :next :vf :n) => [1 2 "
    "3]\n"
    "(iteration (fn [k] nil)) => []\n(iteration 5) !! type_error\n"
    "(iteration (fn [k] k) :by 1) !! type_error")
{
    enum { REDUCING_KEY = OPTIONS, REDUCING_PAGE, REDUCING_LIST, REDUCING_SLOTS };
    PtcValue *slots = ptc_arg_callable(vm, argv, 0) ? ptc_roots(vm, REDUCING_SLOTS) : NULL;
    if (!slots || !read_iteration_options(vm, argc, argv, slots) ||
        !ptc_root_build(vm, &slots[REDUCING_LIST]))
        return false;
    slots[REDUCING_KEY] = slots[INITK];
    for (bool more = true; more;)
        if (!run_iteration_step(vm, argv[0], slots, &slots[REDUCING_KEY], &slots[REDUCING_PAGE],
                                &slots[REDUCING_LIST], &more))
            return false;
    return ptc_root_done(vm, &slots[REDUCING_LIST], PTC_SEQ, out);
}

/* ---------------------------------------------------------------------- random-sample */

PTC_BUILTIN(core_random_sample, "clojure.core", "random-sample", 1, 2, PTC_B_CALLS,
            "(random-sample prob coll?)",
            "Each element with this probability from 0 to 1; a transducer without a collection.",
            "(random-sample 1.0 [1 2]) => [1 2]\n(random-sample 0 [1 2]) => []\n"
            "(random-sample :a [1]) !! type_error")
{
    double prob;
    PtcValue *slots = ptc_arg_double(vm, argv, 0, &prob) ? ptc_roots(vm, 2) : NULL;
    if (!slots)
        return false;
    slots[0] = PTC_RETRY(vm, ptc_fn_record(vm, "sampled", argv, 1));
    if (slots[0] == PTC_NONE)
        return false;
    slots[1] = argc == 2 ? argv[1] : PTC_NIL;
    PtcValue filter = ptc_builtin((uint32_t)ptc_builtin_find("filter", strlen("filter")));
    return ptc_call(vm, filter, argc, slots, out);
}

PTC_BUILTIN(hidden_sampled, "clojure.core", "sampled", 2, 2, PTC_B_HIDDEN | PTC_B_EFFECT,
            "((random-sample prob) x)", "Is this element taken?", "")
{
    double prob;
    PtcValue p = ptc_record_field(argv[0], 1);
    return ptc_arg_double(vm, &p, 0, &prob) &&
           ptc_give(out, ptc_bool(ptc_random_fraction(vm) < prob));
}

/* ------------------------------------------------------------------------- gensym */

PTC_BUILTIN(core_gensym, "clojure.core", "gensym", 0, 1, PTC_B_EFFECT, "(gensym prefix?)",
            "A new symbol, G__ or the prefix with a number that the seed of the run decides.",
            "(symbol? (gensym)) => true\n(= (gensym) (gensym)) => false\n"
            "(subs (str (gensym \"row-\")) 0 4) => \"row-\"\n(gensym nil) !! type_error")
{
    char number[24];
    if (argc == 1 && !ptc_is_named(argv[0]))
        return ptc_fail_type(vm, argv, 0, "a string");
    const char *prefix = argc == 1 ? ptc_str_bytes(argv[0]) : "G__";
    size_t n = argc == 1 ? ptc_str_len(argv[0]) : 3, digits = 0;
    PtcBuf buf;
    ptc_buf_init(&buf, vm->heap->pool->mem, PTC_UNBOUNDED);
    uint64_t before = vm->random, bits = (uint64_t)(ptc_random_fraction(vm) * 1e15);
    for (; digits < 15; bits /= 10)
        number[digits++] = (char)('0' + bits % 10);
    bool ok = ptc_tick_bytes(&vm->budget, n) && ptc_buf_add(&buf, prefix, n) &&
              ptc_buf_add(&buf, number, digits);
    if (!ok && vm->budget.stop == PTC_STOP_NONE)
        ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    *out = ok ? ptc_symbol_new(vm->heap, buf.data, buf.len) : PTC_NONE;
    ptc_buf_deinit(&buf);
    if (*out == PTC_NONE)
        vm->random = before; /* when out of memory it is run again, and must give the same */
    return *out != PTC_NONE;
}

/* --------------------------------------------------------------------------- questions */

PTC_PREDICATE(core_is_inst, "inst?", "Is it a point in time: an instant, such as #inst gives?",
              "(inst? #inst \"2024-05-31\") => true\n(inst? \"2024-05-31\") => false",
              ptc_is_record(x, PTC_R_INSTANT))
PTC_PREDICATE(core_is_uri, "uri?", "Is it a java.net.URI?  Never: addresses are strings here.",
              "(uri? \"http://a.example\") => false", false)
PTC_PREDICATE(core_is_bytes, "bytes?", "Is it an array of bytes?  Never: there are none here.",
              "(bytes? [1 2]) => false", false)

PTC_BUILTIN(core_inst_ms, "clojure.core", "inst-ms", 1, 1, 0, "(inst-ms instant)",
            "Milliseconds since 1970-01-01T00:00:00Z.",
            "(inst-ms #inst \"1970-01-01T00:00:01Z\") => 1000\n(inst-ms \"2024\") !! type_error")
{
    int row = ptc_builtin_find(".toEpochMilli", strlen(".toEpochMilli"));
    if (!ptc_is_record(argv[0], PTC_R_INSTANT))
        return ptc_fail_type(vm, argv, 0, "an instant");
    return ptc_builtin_row((uint32_t)row)->fn(vm, 1, argv, out);
}

PTC_BUILTIN(core_replicate, "clojure.core", "replicate", 2, 2, 0, "(replicate n x)",
            "The same as (repeat n x).",
            "(replicate 2 :a) => [:a :a]\n(replicate :a 1) !! type_error")
{
    int row = ptc_builtin_find("repeat", strlen("repeat"));
    return ptc_builtin_row((uint32_t)row)->fn(vm, argc, argv, out);
}

PTC_BUILTIN_EXPR(core_clojure_version, "clojure.core", "clojure-version", 0, 0, 0,
                 "(clojure-version)", "The version of Clojure that this language follows.",
                 "(clojure-version) => \"1.11.1\"\n(clojure-version 1) !! arity_error",
                 ptc_give(out, ptc_str_new(vm->heap, "1.11.1", strlen("1.11.1"))))

PTC_BUILTIN_TABLE(ptc_lib_reducing, core_ensure_reduced, core_comparator, hidden_compared,
                  core_iteration, core_random_sample, hidden_sampled, core_gensym, core_is_inst,
                  core_is_uri, core_is_bytes, core_inst_ms, core_replicate, core_clojure_version);
