/* SPDX-License-Identifier: MIT
 * Calls of builtins: what the row takes is held against the arguments; what comes out is what the row's rule makes of
 * them, or else the kinds it gives. */
#include "lisp/check/check_int.h"

static bool looks_at_arguments(const PtcBuiltin *row, uint32_t argc)
{
    if (row->flags & PTC_B_LONE && argc == 1)
        return false;
    return ptc_row_rule(row->flags) != PTC_RULE_COMPARE || argc == 2;
}

static const PtcExpr *argument_of(const PtcExpr *at, uint32_t index, uint32_t i)
{
    bool here = at->kind == PTC_X_CALLB && at->index == index && i < at->count;
    return here ? at->items[i] : NULL;
}

/* (get :a :b) is nil where the key stands in the program, and a failure elsewhere. */
static bool is_lenient(PtcRule rule, const PtcOutline *const *args, uint32_t argc)
{
    return rule == PTC_RULE_GET && argc == 2 && args[1]->kinds & (PTC_IS_KEYWORD | PTC_IS_STRING);
}

static void hold_against(Checker *c, PtcExpr *at, uint32_t index, const PtcBuiltin *row,
                         const PtcOutline *const *args, uint32_t argc)
{
    bool test = ptc_row_rule(row->flags) == PTC_RULE_KIND_TEST;
    if (is_lenient(ptc_row_rule(row->flags), args, argc))
        return;
    for (uint32_t i = 0; i < argc && i < CHECK_ARGS; i++) {
        unsigned wanted = test && i > 0 ? PTC_IS_ANY : ptc_row_takes_of(row->flags, i, argc);
        ptc_check_type(c, at, index, i, args[i], wanted);
        ptc_check_maybe(c, at, argument_of(at, index, i), index, args[i], wanted);
    }
}

static const PtcOutline *bool_of(Checker *c, bool known, bool value)
{
    PtcOutline o = {.kinds = PTC_IS_BOOL, .literal = known ? ptc_bool(value) : PTC_NONE};
    return ptc_outline_make(&c->os, &o);
}

/* Of anything that was declared the kind is only what somebody says, so a test of it decides nothing for certain
 * unless every kind agrees. */
static const PtcOutline *kind_test(Checker *c, const PtcBuiltin *row, const PtcOutline *o)
{
    unsigned kinds = ptc_row_takes(row->flags, 1);
    if (o->flags & PTC_OUTLINE_MAYBE)
        ptc_check_note_tested(c, o->source);
    bool all = !(o->kinds & ~kinds), none = !(o->kinds & kinds);
    return bool_of(c, all || none, all);
}

/* Numbers, strings, keywords and lists are in order among themselves only; nil is in none, and that is no mistake. */
static unsigned order_of(const PtcOutline *o)
{
    unsigned kinds = o->kinds;
    if (kinds & ~(unsigned)(PTC_IS_NUMBER | PTC_IS_STRING | PTC_IS_KEYWORD | PTC_IS_LIST))
        return 0;
    return kinds & PTC_IS_NUMBER ? kinds | PTC_IS_NUMBER : kinds;
}

static const PtcOutline *compare(Checker *c, const RuleCall *call)
{
    unsigned a = call->argc == 2 ? order_of(call->args[0]) : 0;
    unsigned b = a ? order_of(call->args[1]) : 0;
    if (b && !(a & b))
        ptc_check_type(c, call->at, call->index, 1, call->args[1], a);
    return NULL;
}

static bool is_word(const PtcOutline *o)
{
    return o->literal != PTC_NONE && o->kinds & (PTC_IS_BOOL | PTC_IS_KEYWORD | PTC_IS_INT);
}

static const PtcOutline *test_rule(Checker *c, PtcRule rule, const PtcBuiltin *row,
                                   const PtcOutline *const *args, uint32_t argc)
{
    switch (rule) {
    case PTC_RULE_KIND_TEST: return kind_test(c, row, args[0]);
    case PTC_RULE_NOT: {
        bool yes = ptc_outline_may_be_true(args[0]), no = ptc_outline_may_be_false(args[0]);
        return bool_of(c, yes != no, no);
    }
    case PTC_RULE_EQUAL:
        for (uint32_t i = 0; i < argc && i < CHECK_ARGS; i++)
            if (args[i]->flags & PTC_OUTLINE_MAYBE)
                ptc_check_note_tested(c, args[i]->source);
        if (argc == 2 && is_word(args[0]) && is_word(args[1]) && args[0]->kinds != PTC_IS_KEYWORD)
            return bool_of(c, args[0]->kinds == args[1]->kinds,
                           args[0]->literal == args[1]->literal);
        return bool_of(c, false, false);
    case PTC_RULE_SAME: return args[0];
    default: return NULL;
    }
}

static const PtcOutline *by_rule(Checker *c, PtcRule rule, const PtcBuiltin *row,
                                 const RuleCall *call)
{
    const PtcOutline *o = NULL;
    if (call->argc == 0 || call->argc > CHECK_ARGS)
        return NULL;
    if (rule == PTC_RULE_COMPARE)
        return compare(c, call);
    if (!(o = test_rule(c, rule, row, call->args, call->argc)) &&
        !(o = ptc_check_seq_rule(c, rule, call)) && !(o = ptc_check_each_rule(c, rule, call)) &&
        !(o = ptc_check_map_rule(c, rule, call)))
        o = ptc_check_fn_rule(c, rule, call);
    return o;
}

const PtcOutline *ptc_check_builtin(Checker *c, PtcExpr *at, uint32_t index,
                                    const PtcOutline *const *args, uint32_t argc)
{
    const PtcBuiltin *row = ptc_builtin_row(index);
    PtcRule rule = ptc_row_rule(row->flags);
    RuleCall call = {at, index, args, argc};
    if (looks_at_arguments(row, argc))
        hold_against(c, at, index, row, args, argc);
    const PtcOutline *o = rule ? by_rule(c, rule, row, &call) : NULL;
    if (o)
        return o;
    if (rule == PTC_RULE_NONE && strcmp(row->name, "throw") == 0) {
        c->here.stopped = true;
        return &ptc_outline_never;
    }
    for (uint32_t i = 0; i < argc && i < CHECK_ARGS; i++)
        ptc_check_escape(c, args[i]);
    if (row->flags & PTC_B_CALLS)
        ptc_check_unknown_call(c);
    return ptc_outline_of_kinds(&c->os, ptc_row_gives(row->flags));
}
