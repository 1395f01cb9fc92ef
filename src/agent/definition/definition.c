/* SPDX-License-Identifier: MIT
 * Definitions: made, counted, finished.  A definition lives in the ledger that it contains, as engines and sets of
 * tools do. */
#include "agent/definition/definition.h"

#include <stdio.h>

#include "agent/definition/definition_int.h"
#include "base/utf8.h"
#include "lisp/read/diag.h"
#include "lisp/vm/builtin.h"

enum { DEF_LEDGER_BYTES = 256 * PTC_MB };

/* ------------------------------------------------------------------------------- faults */

const char *ptc_fault_found(PtcValue v, char out[PTC_FOUND_BYTES])
{
    enum { DEF_SHOWN = 40 };
    if (ptc_is_string(v)) {
        size_t len = ptc_str_len(v), n = len;
        if (len > DEF_SHOWN)
            n = ptc_utf8_valid_prefix(ptc_str_bytes(v), DEF_SHOWN);
        snprintf(out, PTC_FOUND_BYTES, "\"%.*s%s\"", PTC_ARG_OF(ptc_str_bytes(v), n),
                 n < len ? "..." : "");
    } else if (ptc_is_int(v)) {
        snprintf(out, PTC_FOUND_BYTES, "%lld", (long long)ptc_to_int(v));
    } else {
        bool list = ptc_is_sequential(v), object = ptc_is_map(v);
        snprintf(out, PTC_FOUND_BYTES, "%s",
                 v == PTC_NIL     ? "null"
                 : v == PTC_TRUE  ? "true"
                 : v == PTC_FALSE ? "false"
                 : list           ? "a list"
                 : object         ? "an object"
                                  : ptc_type_name(v));
    }
    return out;
}

/* ------------------------------------------------------------------------------- making */

static void set_definition_defaults(PtcAgentDef *def)
{
    def->max_turns = 5;
    def->turn_budget = 20;
    def->max_depth = 3;
    def->timeout_ms = def->pmap_timeout_ms = 5000;
    def->deadline_ms = 60000;
    def->pmap_workers = 8;
    def->max_heap = 10 * PTC_MB;
    def->memory_limit = PTC_MB;
    def->retry = (PtcLlmRetry){.base_delay_ms = 1000,
                               .retryable = 1u << PTC_LLM_RATE_LIMIT | 1u << PTC_LLM_TIMEOUT |
                                            1u << PTC_LLM_SERVER_ERROR};
    def->compaction =
        (PtcCompactionRule){.turns = 8, .keep_recent_turns = 3, .keep_initial_user = true};
    def->format = (PtcAgentFormat){.feedback_limit = 10,
                                   .feedback_max_chars = 512,
                                   .preview_max_chars = 250,
                                   .history_max_bytes = 65536,
                                   .result_limit = 50,
                                   .result_max_chars = 500,
                                   .max_print_length = 1 << 20,
                                   .output_max_bytes = 4096};
    def->float_precision = -1;
}

PtcAgentDef *ptc_definition_new(void)
{
    PtcMem mem;
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    PtcAgentDef *def = ptc_mem_alloc(&mem, sizeof *def);
    if (!def)
        return NULL;
    memset(def, 0, sizeof *def);
    ptc_mem_init(&def->mem, DEF_LEDGER_BYTES);
    atomic_store(&def->mem.used, sizeof *def);
    ptc_arena_init(&def->arena, &def->mem);
    set_definition_defaults(def);
    atomic_init(&def->refs, 1);
    def->tools = ptc_toolset_new();
    if (def->tools)
        return def;
    ptc_definition_release(def);
    return NULL;
}

PtcAgentDef *ptc_definition_retain(PtcAgentDef *def)
{
    if (def)
        atomic_fetch_add(&def->refs, 1);
    return def;
}

/* Children were made before their parent and nest at most PTC_AGENT_FILE_DEPTH levels deep, so this recursion ends. */
void ptc_definition_release(PtcAgentDef *def)
{
    PtcMem mem;
    if (!def || atomic_fetch_sub(&def->refs, 1) > 1)
        return;
    for (const PtcAgentNote *note = def->notes; note; note = note->next)
        if (note->tool.child != def)
            ptc_definition_release(note->tool.child);
    ptc_toolset_release(def->tools);
    ptc_toolset_release(def->host_tools);
    ptc_arena_deinit(&def->arena);
    ptc_mem_init(&mem, PTC_UNBOUNDED);
    atomic_store(&mem.used, sizeof *def);
    ptc_mem_free(&mem, def, sizeof *def);
}

/* ---------------------------------------------------------------------------- finishing */

static bool find_mode(PtcAgentDef *def, PtcWhy *fault)
{
    bool text = def->output == PTC_OUTPUT_TEXT, call = def->transport == PTC_TRANSPORT_TOOL_CALL;
    if (text && def->transport == PTC_TRANSPORT_CONTENT)
        return ptc_fault_set(fault, "ptc_transport",
                             "\"content\" does not go with output \"text\", which has no programs "
                             "in its text; use \"tool_call\", or leave it out");
    def->mode = text ? (call ? PTC_MODE_COMBINED : PTC_MODE_TEXT)
                     : (call ? PTC_MODE_TOOL_CALL : PTC_MODE_CONTENT);
    return true;
}

static void count_levels(PtcAgentDef *def)
{
    def->levels = 1;
    for (size_t i = 0; i < def->tools->count; i++) {
        const PtcAgentDef *child = def->agent_tools[i]->child;
        bool is_agent = def->tools->items[i].info.type == PTC_TOOL_SUBAGENT;
        if (is_agent && child && child != def && child->levels >= def->levels)
            def->levels = child->levels + 1;
    }
}

bool ptc_definition_finish(PtcAgentDef *def, PtcWhy *fault)
{
    if (!find_mode(def, fault) || !ptc_fields_check(def, fault) ||
        !ptc_definition_check(def, fault) || !ptc_definition_finish_tools(def, fault))
        return false;
    count_levels(def);
    def->finished = true;
    return true;
}
