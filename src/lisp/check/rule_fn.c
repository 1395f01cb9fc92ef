/* SPDX-License-Identifier: MIT
 * Rules of functions that make functions, or call one with arguments they were given. */
#include "lisp/check/check_int.h"

static const PtcOutline *made_of(Checker *c, CalleeKind kind, const RuleCall *call)
{
    PtcCallee *k = call->argc > CHECK_PARTS ? NULL : ptc_check_callee(c, kind, call->argc);
    for (uint32_t i = 0; k && i < call->argc; i++)
        k->parts[i] = call->args[i];
    return k ? ptc_check_fn_value(c, k) : NULL;
}

/* Does it take any number of arguments, and does what it gives not depend on how many there are? */
static bool takes_any_number(const PtcOutline *f)
{
    const PtcCallee *k = f->callee;
    const PtcBuiltin *row = k && k->kind == CALLEE_BUILTIN ? ptc_builtin_row(k->index) : NULL;
    if (!row || row->max >= 0)
        return false;
    switch (ptc_row_rule(row->flags)) {
    case PTC_RULE_NONE:
    case PTC_RULE_COMPARE:
    case PTC_RULE_EQUAL:
    case PTC_RULE_CONCAT:
    case PTC_RULE_CONJ:
    case PTC_RULE_MERGE: return true;
    default: return false;
    }
}

static const PtcOutline *apply(Checker *c, const RuleCall *call)
{
    const PtcOutline *args[CHECK_ARGS], *f = call->args[0], *coll = call->args[call->argc - 1];
    uint32_t n = 0;
    if (call->argc < 2)
        return NULL;
    for (uint32_t i = 1; i + 1 < call->argc; i++)
        args[n++] = call->args[i];
    if (ptc_outline_is_tuple(coll) && n + coll->count <= CHECK_ARGS) {
        for (size_t i = 0; i < coll->count; i++)
            args[n++] = coll->fields[i].of;
        return ptc_check_callback(c, call->at, f, args, n, 1);
    }
    const PtcOutline *item = ptc_outline_item(&c->os, coll);
    if (!takes_any_number(f) || item->kinds == 0 || n + PTC_ENOUGH > CHECK_ARGS)
        return NULL;
    for (int i = 0; i < PTC_ENOUGH; i++)
        args[n++] = item;
    return ptc_check_callback(c, call->at, f, args, n, coll->least / PTC_ENOUGH);
}

static const PtcOutline *call_all(Checker *c, const RuleCall *call)
{
    const PtcOutline *all[CHECK_ARGS];
    for (uint32_t i = 0; i < call->argc; i++)
        if (!(all[i] = ptc_check_callback(c, call->at, call->args[i], NULL, 0, 1))->kinds)
            return all[i];
    return ptc_outline_tuple(&c->os, all, call->argc, 0);
}

const PtcOutline *ptc_check_fn_rule(Checker *c, PtcRule rule, const RuleCall *call)
{
    switch (rule) {
    case PTC_RULE_COMP: return made_of(c, CALLEE_COMP, call);
    case PTC_RULE_PARTIAL: return made_of(c, CALLEE_PARTIAL, call);
    case PTC_RULE_JUXT: return made_of(c, CALLEE_JUXT, call);
    case PTC_RULE_CONSTANTLY: return made_of(c, CALLEE_GIVES, call);
    case PTC_RULE_APPLY: return apply(c, call);
    case PTC_RULE_CALL_ALL: return call_all(c, call);
    default: return NULL;
    }
}
