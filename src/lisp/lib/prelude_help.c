/* SPDX-License-Identifier: MIT
 * Hidden builtins for the prelude (lisp/prelude/prelude.h): what its definitions need and programs have no name for.
 * Those that check or fail do so in the name of the row that the program has called. */
#include "base/utf8.h"
#include "lisp/lazy/seq_int.h"
#include "lisp/prelude/prelude.h"
#include "lisp/vm/record.h"
#include "lisp/vm/registry.h"

#include <stdio.h>

/* ----------------------------------------------------------------------------- failing */

PTC_BUILTIN(hidden_refuse_argument, "clojure.core", "refuse-argument", 3, 3, PTC_B_HIDDEN,
            "(refuse-argument i x expected)", "Fails: argument i, from 0, is x.", "")
{
    char role[32];
    vm->running = ptc_prelude_running(vm);
    snprintf(role, sizeof role, "argument %d", (int)ptc_to_int(argv[0]) + 1);
    return ptc_fail_value_type(vm, argv[1], role, ptc_str_bytes(argv[2]));
}

PTC_BUILTIN(hidden_refuse_part, "clojure.core", "refuse-part", 3, 3, PTC_B_HIDDEN,
            "(refuse-part role x expected)", "Fails: `role`, such as \"a row\", is x.", "")
{
    vm->running = ptc_prelude_running(vm);
    return ptc_fail_value_type(vm, argv[1], ptc_str_bytes(argv[0]), ptc_str_bytes(argv[2]));
}

PTC_BUILTIN(hidden_refuse, "clojure.core", "refuse", 2, 3, PTC_B_HIDDEN,
            "(refuse kind message hint?)", "Fails: message, after the name of the function.", "")
{
    static const struct {
        char name[12];
        unsigned kind;
    } kinds[] = {{"type", PTC_E_TYPE},
                 {"value", PTC_E_VALUE},
                 {"exception", PTC_E_VALUE | PTC_AS(EXCEPTION)},
                 {"assertion", PTC_E_VALUE | PTC_AS(ASSERTION)}};
    unsigned kind = PTC_E_VALUE;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (ptc_text_is((PtcText){ptc_str_bytes(argv[0]), ptc_str_len(argv[0])}, kinds[i].name))
            kind = kinds[i].kind;
    vm->running = ptc_prelude_running(vm);
    ptc_fail_here(vm, kind, "%s", ptc_str_bytes(argv[1]));
    return argc == 3 && ptc_fail_hint(vm, "%s", ptc_str_bytes(argv[2]));
}

/* ---------------------------------------------------------------------------- checking */

enum { MOST_CHECKED = 4 };

/* argv is (i x): x at its place among arguments, for functions that name it by its number. */
static int place_argument(PtcVM *vm, const PtcValue *argv, PtcValue args[MOST_CHECKED])
{
    int i = (int)ptc_to_int(argv[0]) % MOST_CHECKED;
    vm->running = ptc_prelude_running(vm);
    args[i] = argv[1];
    return i;
}

PTC_BUILTIN(hidden_finite, "clojure.core", "finite", 2, 2, PTC_B_HIDDEN, "(finite i x)",
            "x, which is argument i, if it can be walked to its end; else fails.", "")
{
    PtcIter it;
    PtcValue args[MOST_CHECKED];
    return ptc_arg_all(vm, args, place_argument(vm, argv, args), &it) && ptc_give(out, argv[1]);
}

PTC_BUILTIN(hidden_callable, "clojure.core", "callable", 2, 2, PTC_B_HIDDEN, "(callable i f)",
            "f, which is argument i, if it can be called; else fails.", "")
{
    PtcValue args[MOST_CHECKED];
    return ptc_arg_callable(vm, args, place_argument(vm, argv, args)) && ptc_give(out, argv[1]);
}

PTC_BUILTIN(hidden_check_key, "clojure.core", "check-key", 2, 2, PTC_B_HIDDEN,
            "(check-key key rows)", "Warns if no row has the key; gives nil.", "")
{
    *out = PTC_NIL;
    vm->running = ptc_prelude_running(vm);
    return ptc_key_check(vm, argv[0], argv[1], false);
}

PTC_BUILTIN(hidden_is_finite, "clojure.core", "finite?", 1, 1, PTC_B_HIDDEN, "(finite? x)",
            "Is it a sequence with an end?", "")
{
    if (ptc_is_lazy(argv[0])) /* is computed, and asked about again */
        return ptc_fail_type(vm, argv, 0, "a sequence that is computed");
    return ptc_give(out, ptc_bool(ptc_is_sequential(argv[0]) && !ptc_seq_endless(argv[0])));
}

/* --------------------------------------------------------- maps by the very key, and more */

PTC_BUILTIN(hidden_lookup, "clojure.core", "lookup", 3, 3, PTC_B_HIDDEN,
            "(lookup map key otherwise)",
            "What a map has under this very key, not under another spelling of it.", "")
{
    PtcValue v = ptc_map_get(vm->heap, argv[0], argv[1]);
    return ptc_give(out, v == PTC_NONE ? argv[2] : v);
}

PTC_BUILTIN_EXPR(hidden_put, "clojure.core", "put", 3, 3, PTC_B_HIDDEN, "(put map key value)",
                 "The map with this very key set.", "",
                 ptc_give(out, ptc_map_assoc(vm->heap, argv[0], argv[1], argv[2])))

PTC_BUILTIN(hidden_code_points, "clojure.core", "code-points", 1, 1, PTC_B_HIDDEN,
            "(code-points s)", "The number of code points of a string.", "")
{
    size_t len = ptc_str_len(argv[0]);
    return ptc_tick_scan(&vm->budget, len) &&
           ptc_give(out, ptc_int((int64_t)ptc_utf8_count(ptc_str_bytes(argv[0]), len)));
}

/* Functions that a program gets are records, which can be stored, as those of fn.c. */
PTC_BUILTIN_EXPR(hidden_function, "clojure.core", "function", 2, 2, PTC_B_HIDDEN,
                 "(function name x)",
                 "A function: (f a ...) is what the hidden builtin `name` gives for f, a ...", "",
                 ptc_give(out, ptc_fn_record(vm, ptc_str_bytes(argv[0]), argv + 1, 1)))

PTC_BUILTIN_EXPR(hidden_kept, "clojure.core", "kept", 1, 1, PTC_B_HIDDEN, "(kept f)",
                 "The x of such a function.", "", ptc_give(out, ptc_record_field(argv[0], 1)))

PTC_BUILTIN_TABLE(ptc_lib_prelude_help, hidden_refuse_argument, hidden_refuse_part, hidden_refuse,
                  hidden_finite, hidden_callable, hidden_check_key, hidden_is_finite, hidden_lookup,
                  hidden_put, hidden_code_points, hidden_function, hidden_kept);
