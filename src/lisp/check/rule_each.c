/* SPDX-License-Identifier: MIT
 * Rules of functions that call a function with elements. */
#include "lisp/check/check_int.h"

/* What f gives for an element; what it asks about tells elements apart. */
static const PtcOutline *pick(Checker *c, const RuleCall *call, const PtcOutline *coll)
{
    const PtcOutline *item = ptc_outline_item(&c->os, coll);
    PtcRule rule = ptc_row_rule(ptc_builtin_row(call->index)->flags);
    bool wondering = c->wondering;
    c->wondering |= rule >= PTC_RULE_FILTER && rule <= PTC_RULE_EVERY;
    c->picking++;
    const PtcOutline *o = ptc_check_callback(c, call->at, call->args[0], &item, 1, coll->least);
    c->picking--;
    c->wondering = wondering;
    if (o->flags & PTC_OUTLINE_MAYBE)
        ptc_check_note_tested(c, o->source);
    return o;
}

static const PtcOutline *listed(Checker *c, const PtcOutline *coll, const PtcOutline *item,
                                unsigned least)
{
    PtcOutline o = {.kinds = PTC_IS_LIST,
                    .least = (uint8_t)least,
                    .flags = coll->flags & PTC_OUTLINE_GIVEN,
                    .item = item == &ptc_outline_any ? NULL : item};
    return ptc_outline_make(&c->os, &o);
}

static const PtcOutline *map_over(Checker *c, const RuleCall *call, bool indexed)
{
    const PtcOutline *items[CHECK_ARGS];
    unsigned least = PTC_ENOUGH, n = 0;
    if (indexed)
        items[n++] = ptc_outline_of_kinds(&c->os, PTC_IS_INT);
    for (uint32_t i = 1; i < call->argc; i++) {
        items[n++] = ptc_outline_item(&c->os, call->args[i]);
        least = call->args[i]->least < least ? call->args[i]->least : least;
    }
    const PtcOutline *o = ptc_check_callback(c, call->at, call->args[0], items, n, least);
    return ptc_outline_list(&c->os, o, least);
}

static const PtcOutline *map_rest(Checker *c, const PtcOutline *rest, unsigned least)
{
    PtcOutline o = {.kinds = PTC_IS_MAP, .least = (uint8_t)least, .rest = rest};
    return ptc_outline_make(&c->os, &o);
}

/* (f acc item) until it gives nothing new. */
static const PtcOutline *fold(Checker *c, const RuleCall *call, const PtcOutline *f,
                              const PtcOutline *acc, const PtcOutline *const *item, uint32_t n,
                              unsigned least)
{
    const PtcOutline *args[3];
    bool dry = c->dry, first = c->first;
    for (uint32_t i = 0; i < n; i++)
        args[i + 1] = item[i];
    for (uint32_t round = 0; round <= CHECK_ROUNDS && !c->silent; round++) {
        args[0] = acc;
        c->first = round == 0 && (!dry || first);
        c->dry = true;
        const PtcOutline *o = ptc_check_callback(c, call->at, f, args, n + 1, least);
        const PtcOutline *to = ptc_outline_join(&c->os, acc, o);
        if (to == acc)
            break;
        acc = round == CHECK_ROUNDS ? &ptc_outline_any : to;
    }
    c->dry = dry;
    c->first = first;
    args[0] = acc;
    return ptc_outline_join(&c->os, acc, ptc_check_callback(c, call->at, f, args, n + 1, least));
}

static const PtcOutline *reduce(Checker *c, const RuleCall *call)
{
    bool init = call->argc == 3;
    const PtcOutline *coll = call->args[call->argc - 1];
    const PtcOutline *item = ptc_outline_item(&c->os, coll);
    if (item->kinds == 0)
        return init ? call->args[1] : NULL;
    unsigned least = init ? coll->least : coll->least / 2; /* of a single one it is not called */
    return fold(c, call, call->args[0], init ? call->args[1] : item, &item, 1, least);
}

static const PtcOutline *reduce_kv(Checker *c, const RuleCall *call)
{
    const PtcOutline *kv[2] = {&ptc_outline_any, ptc_outline_member(&c->os, call->args[2])};
    if (call->args[2]->kinds != PTC_IS_MAP)
        return NULL;
    return fold(c, call, call->args[0], call->args[1], kv, 2, call->args[2]->least);
}

static const PtcOutline *transduce(Checker *c, const RuleCall *call)
{
    const PtcOutline *coll = call->args[call->argc - 1];
    const PtcOutline *item = ptc_outline_item(&c->os, coll);
    unsigned least = coll->least;
    if (call->argc < 3 || !(item = ptc_check_each_xform(c, call->at, call->args[0], item, &least)))
        return NULL;
    if (call->argc == 3) /* the first is what f gives without arguments */
        return call->args[1]->callee && call->args[1]->callee->kind == CALLEE_BUILTIN
                   ? fold(c, call, call->args[1], item, &item, 1, 0)
                   : NULL;
    return fold(c, call, call->args[1], call->args[2], &item, 1, least);
}

static const PtcOutline *sorted_by(Checker *c, const RuleCall *call)
{
    const PtcOutline *coll = call->args[call->argc - 1];
    (void)pick(c, call, coll);
    if (call->argc == 3) {
        ptc_check_escape(c, call->args[1]);
        ptc_check_unknown_call(c);
    }
    return listed(c, coll, ptc_outline_item(&c->os, coll), coll->least);
}

static const PtcOutline *number_by(Checker *c, const RuleCall *call)
{
    const PtcOutline *coll = call->args[call->argc - 1];
    const PtcOutline *item = ptc_outline_item(&c->os, coll);
    (void)ptc_check_callback(c, call->at, call->args[0], &item, 1, coll->least);
    return ptc_outline_of_kinds(&c->os, ptc_row_gives(ptc_builtin_row(call->index)->flags));
}

static const PtcOutline *xform_value(Checker *c, const RuleCall *call)
{
    PtcCallee *k = ptc_check_callee(c, CALLEE_XFORM, call->argc);
    if (!k)
        return &ptc_outline_any;
    k->index = call->index;
    for (uint32_t i = 0; i < call->argc; i++)
        k->parts[i] = call->args[i];
    return ptc_check_fn_value(c, k);
}

static const PtcOutline *with_elements(Checker *c, PtcRule rule, const RuleCall *call)
{
    const PtcOutline *coll = call->args[1], *item = ptc_outline_item(&c->os, coll), *o;
    switch (rule) {
    case PTC_RULE_MAP: return map_over(c, call, false);
    case PTC_RULE_MAP_INDEXED: return map_over(c, call, true);
    case PTC_RULE_MAPCAT:
        if (call->argc != 2)
            return NULL;
        o = ptc_check_callback(c, call->at, call->args[0], &item, 1, coll->least);
        return listed(c, coll, o->kinds ? ptc_outline_item(&c->os, o) : o, 0);
    case PTC_RULE_FILTER:
    case PTC_RULE_REMOVE:
    case PTC_RULE_WHILE:
        (void)pick(c, call, coll);
        return listed(c, coll, ptc_outline_sure(&c->os, item), 0);
    case PTC_RULE_KEEP:
        o = pick(c, call, coll);
        return listed(c, coll, ptc_outline_only(&c->os, o, PTC_IS_ANY & ~(unsigned)PTC_IS_NIL), 0);
    case PTC_RULE_SOME: return ptc_outline_join(&c->os, pick(c, call, coll), &ptc_outline_nil);
    case PTC_RULE_EVERY:
        (void)pick(c, call, coll);
        return ptc_outline_of_kinds(&c->os, PTC_IS_BOOL);
    case PTC_RULE_EACH:
        (void)ptc_check_callback(c, call->at, call->args[0], &item, 1, coll->least);
        return &ptc_outline_nil;
    case PTC_RULE_GROUP_BY:
        (void)pick(c, call, coll);
        return map_rest(c, listed(c, coll, ptc_outline_sure(&c->os, item), 1), coll->least > 0);
    case PTC_RULE_INDEX_BY:
        (void)pick(c, call, coll);
        return map_rest(c, ptc_outline_sure(&c->os, item), coll->least > 0);
    case PTC_RULE_PICK_BY:
        if (call->argc != 2)
            return NULL;
        (void)pick(c, call, coll);
        return coll->least ? item : ptc_outline_join(&c->os, item, &ptc_outline_nil);
    case PTC_RULE_PARTITION_BY:
        (void)pick(c, call, coll);
        return ptc_outline_list(&c->os, listed(c, coll, ptc_outline_sure(&c->os, item), 1),
                                coll->least > 0);
    default: return NULL;
    }
}

const PtcOutline *ptc_check_each_rule(Checker *c, PtcRule rule, const RuleCall *call)
{
    bool first = rule >= PTC_RULE_MAP && rule <= PTC_RULE_KEEP;
    if (call->argc == 1 && (first || rule == PTC_RULE_SOME_OF_2))
        return xform_value(c, call);
    if (call->argc < 2)
        return NULL;
    switch (rule) {
    case PTC_RULE_REDUCE: return reduce(c, call);
    case PTC_RULE_REDUCE_KV: return call->argc == 3 ? reduce_kv(c, call) : NULL;
    case PTC_RULE_TRANSDUCE: return transduce(c, call);
    case PTC_RULE_SORT_BY: return sorted_by(c, call);
    case PTC_RULE_NUMBER_BY: return number_by(c, call);
    default: return with_elements(c, rule, call);
    }
}

/* ---------------------------------------------------------------------------- transducers */

static const PtcOutline *one_xform(Checker *c, PtcExpr *at, const PtcCallee *k,
                                   const PtcOutline *item, unsigned *least)
{
    PtcRule rule = ptc_row_rule(ptc_builtin_row(k->index)->flags);
    const PtcOutline *args[2] = {k->parts[0], ptc_outline_list(&c->os, item, *least)};
    RuleCall call = {at, k->index, args, 2};
    if (rule == PTC_RULE_SOME_OF_2) {
        *least = 0;
        return item;
    }
    const PtcOutline *o = with_elements(c, rule, &call);
    *least = o ? o->least : 0;
    return o ? ptc_outline_item(&c->os, o) : NULL;
}

const PtcOutline *ptc_check_each_xform(Checker *c, PtcExpr *at, const PtcOutline *xform,
                                       const PtcOutline *item, unsigned *least)
{
    const PtcCallee *k = xform->callee;
    if (k && k->kind == CALLEE_XFORM)
        return one_xform(c, at, k, item, least);
    for (uint32_t i = 0; k && k->kind == CALLEE_COMP && i < k->count && item; i++) {
        const PtcCallee *part = k->parts[i]->callee;
        item = part && part->kind == CALLEE_XFORM ? one_xform(c, at, part, item, least) : NULL;
        if (!item)
            break;
        if (i + 1 == k->count)
            return item;
    }
    ptc_check_escape(c, xform);
    ptc_check_unknown_call(c);
    return NULL;
}
