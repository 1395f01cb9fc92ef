/* SPDX-License-Identifier: MIT
 * Agent control without a journal: a task is simply run, a step's summary is simply given back.  What a journal
 * adds comes with the host boundary. */
#include "lisp/builtin.h"

static bool arg_id(PtcVM *vm, const PtcValue *argv)
{
    return ptc_is_string(argv[0]) || ptc_is_keyword(argv[0]) || ptc_is_number(argv[0]) ||
           ptc_fail_type(vm, argv, 0, "an id: a string, keyword or number");
}

PTC_BUILTIN(core_task, "clojure.core", "task", 2, 2, 0, "(task id expr)",
            "The value of the expression; with a journal, the value recorded under the id when "
            "there is one.",
            "(task \"add\" (+ 1 2)) => 3\n(task [] 1) !! type_error\n(task \"add\") !! arity_error")
{
    PTC_UNUSED(argc);
    return arg_id(vm, argv) && ptc_give(out, argv[1]);
}

PTC_BUILTIN(core_task_reset, "clojure.core", "task-reset", 1, 1, 0, "(task-reset id)",
            "Forgets what the journal recorded under the id; nil.",
            "(task-reset \"add\") => nil\n(task-reset nil) !! type_error")
{
    PTC_UNUSED(argc);
    *out = PTC_NIL;
    return arg_id(vm, argv);
}

PTC_BUILTIN(
    core_step_done, "clojure.core", "step-done", 2, 2, 0, "(step-done id summary)",
    "Reports a step of the plan as done; gives the summary.",
    "(step-done \"fetch\" \"42 rows\") => \"42 rows\"\n(step-done \"fetch\" 42) !! type_error")
{
    PTC_UNUSED(argc);
    if (!ptc_is_string(argv[1]))
        return ptc_fail_type(vm, argv, 1, "a string");
    return arg_id(vm, argv) && ptc_give(out, argv[1]);
}

PTC_BUILTIN(tool_servers, "tool", "servers", 0, 0, 0, "(tool/servers)",
            "The servers whose tools this run may call; none without a host.",
            "(tool/servers) => []\n(tool/servers 1) !! arity_error")
{
    PTC_UNUSED(argc);
    PTC_UNUSED(argv);
    return ptc_give(out, ptc_vec_new(vm->heap, NULL, 0, 0));
}

const PtcBuiltin *const ptc_lib_agent[] = {&core_task_def, &core_task_reset_def,
                                           &core_step_done_def, &tool_servers_def, NULL};
