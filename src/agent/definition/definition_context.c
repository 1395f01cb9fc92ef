/* SPDX-License-Identifier: MIT
 * The input of a run, checked against the agent's parameters before anything is sent. */
#include <stdio.h>

#include "agent/definition/definition_int.h"
#include "lisp/read/diag.h"
#include "tool/keys.h"
#include "tool/sig/sig_check.h"
#include "value/coll/map.h"
#include "value/str.h"

static PtcValue refuse_context(PtcWhy *fault, const char *path, const char *message)
{
    ptc_fault_input(fault, "", "%s", message);
    ptc_why_at(fault, "context%s%s", *path && *path != '[' ? "." : "", path);
    return PTC_NONE;
}

static PtcValue refuse_context_memory(PtcWhy *fault)
{
    ptc_why_no_memory(fault);
    return PTC_NONE;
}

/* The place of a finding as text: n, rows[0].id. */
static void path_text(const PtcSigIssue *issue, char *out, size_t size)
{
    out[0] = 0;
    for (size_t i = 0; i < issue->path_len; i++) {
        const PtcSigStep *s = &issue->path[i];
        if (!s->name) {
            ptc_path_add_index(out, size, s->index);
            continue;
        }
        ptc_path_add_text(out, size, ".", *out ? 1 : 0);
        ptc_path_add_text(out, size, s->name, s->len);
    }
}

/* A key with the name of a tool would make one name mean two things. */
static bool check_tools(const PtcAgentDef *def, PtcValue context, PtcWhy *fault)
{
    PtcValue key;
    for (size_t pos = 0; ptc_map_next(context, &pos, &key, NULL);) {
        PtcText name = ptc_str_text(key);
        if (!name.bytes || ptc_toolset_find(def->tools, name) < 0)
            continue;
        char path[PTC_PATH_BYTES] = "";
        ptc_path_add_text(path, sizeof path, name.bytes, name.len);
        refuse_context(fault, path, "there is a tool of this name: choose another key");
        return false;
    }
    return true;
}

/* Coercion drops what the signature does not name; it is put back here. */
static PtcValue keep_other_keys(PtcHeap *heap, PtcValue context, PtcValue coerced)
{
    PtcValue key, value;
    for (size_t pos = 0; context != PTC_NONE && ptc_map_next(coerced, &pos, &key, &value);)
        context = ptc_map_assoc_flex(heap, context, key, value);
    return context;
}

static PtcValue coerce_context(const PtcAgentDef *def, PtcHeap *heap, PtcMem *mem, PtcValue context,
                               PtcWhy *fault)
{
    PtcSigIssues *issues = ptc_mem_alloc(mem, 2 * sizeof *issues);
    char path[PTC_PATH_BYTES];
    if (!issues)
        return refuse_context_memory(fault);
    ptc_sig_issues_init(&issues[0], mem);
    ptc_sig_issues_init(&issues[1], mem);
    PtcValue v = ptc_sig_input(heap, def->sig, PTC_SIG_ENABLED, PTC_SIG_EXTRA_LEFT_OUT, context,
                               &issues[0], &issues[1]);
    if (v != PTC_NONE) {
        v = keep_other_keys(heap, context, v);
        if (v == PTC_NONE)
            ptc_why_no_memory(fault);
    } else if (issues[1].count > 0) {
        path_text(&issues[1].items[0], path, sizeof path);
        refuse_context(fault, path, issues[1].items[0].message);
    } else {
        ptc_why_no_memory(fault);
    }
    ptc_sig_issues_deinit(&issues[0]);
    ptc_sig_issues_deinit(&issues[1]);
    ptc_mem_free(mem, issues, 2 * sizeof *issues);
    return v;
}

PtcValue ptc_definition_context(const PtcAgentDef *def, PtcHeap *heap, PtcMem *mem,
                                PtcValue context, PtcWhy *fault)
{
    char found[PTC_FOUND_BYTES], text[200];
    if (context == PTC_NIL || context == PTC_NONE)
        context = ptc_map_empty(heap);
    if (context == PTC_NONE)
        return refuse_context_memory(fault);
    if (!ptc_is_map(context)) {
        snprintf(text, sizeof text, "found %s; allowed is an object",
                 ptc_fault_found(context, found));
        return refuse_context(fault, "", text);
    }
    if (!check_tools(def, context, fault))
        return PTC_NONE;
    return def->sig && def->sig->has_params ? coerce_context(def, heap, mem, context, fault)
                                            : context;
}
