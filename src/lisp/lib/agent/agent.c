/* SPDX-License-Identifier: MIT
 * What a program has to do with its host: tools, the journal of tasks, the steps of a plan, the budget. */
#include <stdio.h>

#include "lisp/prelude/prelude.h"
#include "lisp/vm/notes.h"
#include "lisp/vm/record.h"

/* ------------------------------------------------------------------------------- tools */

/* Does the tool still have the number it had when the function was made?  In most runs it does. */
static bool has_number(const PtcHost *host, PtcValue name, uint32_t number)
{
    size_t len;
    const char *text = host->name(host, number, &len);
    return text && len == ptc_str_len(name) && memcmp(text, ptc_str_bytes(name), len) == 0;
}

/* A tool of another server, "ns/name". */
static bool call_server(PtcVM *vm, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcServers *servers = vm->servers;
    PtcText full = ptc_str_text(ptc_record_field(argv[0], 1));
    uint32_t number = (uint32_t)ptc_to_int(ptc_record_field(argv[0], 2));
    PtcServerWord word = {"", "", false};
    if (!servers) {
        ptc_fail(vm, PTC_E_UNKNOWN_TOOL, "this run has no servers, so %.*s cannot be called",
                 PTC_ARG(ptc_text_cut(full, 120)));
        return ptc_fail_hint(vm, "the function was made in an earlier run that had them");
    }
    if (ptc_text_same(servers->name(servers, number), full))
        return servers->call(vm, number, argc - 1, argv + 1, out);
    size_t ns = (size_t)((const char *)memchr(full.bytes, '/', full.len) - full.bytes);
    PtcServerAnswer answer =
        servers->find(servers, vm->heap, (PtcText){full.bytes, ns},
                      (PtcText){full.bytes + ns + 1, full.len - ns - 1}, &number, &word);
    if (answer == PTC_SERVER_FOUND)
        return servers->call(vm, number, argc - 1, argv + 1, out);
    return servers->refuse(vm, full, answer, &word);
}

/* argv[0] is the function that tool/name or ns/name stands for, see analyze_name.c. */
PTC_BUILTIN(agent_tool, "ptc", "tool", 1, -1, PTC_B_HIDDEN | PTC_B_CALLS | PTC_B_EFFECT,
            "(tool/name {:arg value})", "Calls a tool of the host.", "")
{
    PtcValue name = ptc_record_field(argv[0], 1);
    uint32_t number = (uint32_t)ptc_to_int(ptc_record_field(argv[0], 2));
    if (vm->host && has_number(vm->host, name, number))
        return vm->host->call(vm, number, argc - 1, argv + 1, out);
    if (memchr(ptc_str_bytes(name), '/', ptc_str_len(name)))
        return call_server(vm, argc, argv, out);
    int now = vm->host ? vm->host->find(vm->host, ptc_str_bytes(name), ptc_str_len(name)) : -1;
    if (now >= 0)
        return vm->host->call(vm, (uint32_t)now, argc - 1, argv + 1, out);
    ptc_fail(vm, PTC_E_UNKNOWN_TOOL, "this run has no tool named %s", ptc_str_bytes(name));
    return ptc_fail_hint(vm, "the function was made in an earlier run that had it");
}

/* ------------------------------------------------------------------------------- pages */

static bool is_tool_function(PtcValue v)
{
    return ptc_is_record(v, PTC_R_FN) &&
           ptc_record_field(v, 0) == ptc_builtin((uint32_t)ptc_builtin_find("%tool", 5)) &&
           ptc_is_string(ptc_record_field(v, 1));
}

static PtcValue host_tool_params(PtcVM *vm, PtcText name)
{
    int tool = vm->host ? vm->host->find(vm->host, name.bytes, name.len) : -1;
    return tool >= 0 && vm->host->params ? vm->host->params(vm->host, (size_t)tool, vm->heap)
                                         : PTC_NIL;
}

PTC_BUILTIN(agent_tool_about, "ptc", "tool-about", 1, 1, PTC_B_HIDDEN, "(tool-about f)",
            "[how a program writes it, names of its parameters or nil when they are not known]", "")
{
    char text[200];
    PtcValue pair[2] = {PTC_NONE, PTC_NIL};
    bool tool = is_tool_function(argv[0]);
    PtcText name = tool ? ptc_str_text(ptc_record_field(argv[0], 1)) : PTC_TEXT("the function");
    bool ours = tool && !memchr(name.bytes, '/', name.len);
    int n = snprintf(text, sizeof text, "%s%.*s", ours ? "tool/" : "",
                     PTC_ARG(ptc_text_cut(name, 150)));
    pair[0] = ptc_str_new(vm->heap, text, (size_t)n);
    if (ours)
        pair[1] = host_tool_params(vm, name);
    if (pair[0] == PTC_NONE || pair[1] == PTC_NONE)
        return false;
    return ptc_give(out, ptc_vec_new(vm->heap, pair, 2, 0));
}

PTC_BUILTIN(agent_page_call, "ptc", "page-call", 4, 4, PTC_B_HIDDEN | PTC_B_CALLS | PTC_B_EFFECT,
            "(page-call f args page rows)", "(f args); an error says which page it was.", "")
{
    if (ptc_call(vm, argv[0], 1, &argv[1], out))
        return true;
    size_t len = vm->failed ? strlen(vm->error.message) : sizeof vm->error.message;
    if (len < sizeof vm->error.message)
        snprintf(vm->error.message + len, sizeof vm->error.message - len,
                 " (page %lld of pages, after %lld rows)", (long long)ptc_to_int(argv[2]),
                 (long long)ptc_to_int(argv[3]));
    return false;
}

PTC_PRELUDE(
    core_pages, "clojure.core", "pages", 1, 3, PTC_B_CALLS, "(pages tool/name args? options?)",
    "All rows of a tool that gives them page by page, as a vector. How it goes on is known from "
    "its "
    "parameters and its first result: next_cursor, nextPageToken, cursor, has_more; offset; page, "
    "from 1 unless the arguments begin elsewhere. Options: :items, the key of the rows (or a "
    "path); "
    ":next, the key of the next cursor; :as, the parameter that takes it; :max-pages, 100.",
    "(pages (fn [{:keys [cursor]}] (if cursor {:items [3]} {:items [1 2] :next_cursor \"b\"}))) => "
    "[1 2 3]\n"
    "(pages (fn [{:keys [offset]}] (take 2 (drop offset [1 2 3]))) {:offset 0}) => [1 2 3]\n"
    "(pages (fn [m] {:rows [(:at m)] :after (get {nil 7} (:at m))}) {} {:next :after :as :at}) => "
    "[nil 7]\n"
    "(pages (fn [m] {:items [1] :next_cursor \"a\"})) !! value_error\n(pages 5) !! type_error");

/* ------------------------------------------------------------------------------ budget */

PTC_BUILTIN_EXPR(
    budget_remaining, "budget", "remaining", 0, 0, PTC_GIVES(PTC_IS_MAP), "(budget/remaining)",
    "What is left to the agent that runs this program, such as :turns; {} outside of one.",
    "(budget/remaining) => {}\n(budget/remaining 1) !! arity_error",
    ptc_give(out, vm->remaining == PTC_NIL ? ptc_map_empty(vm->heap) : vm->remaining))

/* ----------------------------------------------------------------------------- journal */

/* Ids and summaries are strings, whatever the program writes: :fetch and "fetch" are one task. */
static PtcValue task_id_string(PtcVM *vm, const PtcValue *argv)
{
    PtcBuf buf;
    if (ptc_is_string(argv[0]))
        return argv[0];
    if (ptc_is_keyword(argv[0]))
        return ptc_str_new(vm->heap, ptc_str_bytes(argv[0]), ptc_str_len(argv[0]));
    if (!ptc_is_number(argv[0])) {
        ptc_fail_type(vm, argv, 0, "a string, keyword or number");
        return PTC_NONE;
    }
    ptc_buf_init(&buf, vm->mem, (size_t)vm->limits.memory_bytes);
    PtcValue id = ptc_vm_write(vm, &buf, argv[0], false) ? ptc_str_new(vm->heap, buf.data, buf.len)
                                                         : PTC_NONE;
    ptc_buf_deinit(&buf);
    return id;
}

static bool root_id(PtcVM *vm, const PtcValue *argv, PtcValue *slot)
{
    PtcValue id = PTC_RETRY(vm, task_id_string(vm, argv));
    *slot = id == PTC_NONE ? PTC_NIL : id;
    return id != PTC_NONE;
}

/* argv[1] is the expression as a function, see ptc_analyze_task. */
PTC_BUILTIN(agent_task, "ptc", "task", 2, 2, PTC_B_HIDDEN | PTC_B_CALLS | PTC_B_EFFECT,
            "(task id expr)", "The result of a task.", "")
{
    PtcValue *slots = ptc_roots(vm, 2); /* id, result */
    if (!slots || !root_id(vm, argv, slots))
        return false;
    if (vm->journal.all == PTC_NIL)
        return ptc_call(vm, argv[1], 0, NULL, out);
    PtcValue known = ptc_map_get(vm->heap, vm->journal.all, slots[0]);
    if (known != PTC_NONE)
        return ptc_give(out, known);
    size_t calls = vm->log.count;
    if (!ptc_call(vm, argv[1], 0, NULL, &slots[1]) ||
        !ptc_notes_put(vm, &vm->journal, slots[0], slots[1]))
        return false;
    ptc_log_journaled(&vm->log, calls);
    *out = slots[1];
    return true;
}

PTC_BUILTIN(core_task_reset, "clojure.core", "task-reset", 1, 1, PTC_B_CALLS | PTC_B_EFFECT,
            "(task-reset id)", "Forgets what the journal recorded under the id; nil.",
            "(task-reset \"add\") => nil\n(task-reset nil) !! type_error")
{
    PtcValue *id = ptc_roots(vm, 1);
    *out = PTC_NIL;
    if (!id || !root_id(vm, argv, id))
        return false;
    if (vm->journal.all == PTC_NIL)
        return true;
    size_t before = ptc_map_count(vm->journal.all);
    if (!ptc_notes_remove(vm, &vm->journal, *id))
        return false;
    if (ptc_map_count(vm->journal.all) < before)
        ptc_log_forget(&vm->log);
    return true;
}

PTC_BUILTIN(core_step_done, "clojure.core", "step-done", 2, 2, PTC_B_CALLS | PTC_B_EFFECT,
            "(step-done id summary)", "Reports a step of the plan as done; gives the summary.",
            "(step-done \"fetch\" \"42 rows\") => \"42 rows\"\n(step-done \"fetch\" 42) => \"42\"")
{
    PtcValue *slots = ptc_roots(vm, 2); /* id, summary */
    if (!slots || !root_id(vm, argv, slots) || !root_id(vm, argv + 1, slots + 1))
        return false;
    *out = slots[1];
    return ptc_notes_put(vm, &vm->summaries, slots[0], slots[1]);
}

PTC_BUILTIN_TABLE(ptc_lib_agent, agent_tool, agent_tool_about, agent_page_call, core_pages,
                  budget_remaining, agent_task, core_task_reset, core_step_done);
