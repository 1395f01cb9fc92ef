/* SPDX-License-Identifier: MIT
 * Rules of functions that take collections apart and put them together, without calling anything. */
#include "lisp/check/check_int.h"

static const PtcOutline *or_nil(Checker *c, const PtcOutline *o)
{
    return ptc_outline_join(&c->os, o, &ptc_outline_nil);
}

/* Number i of what there is; nil where it may not be. */
static const PtcOutline *element(Checker *c, const PtcOutline *coll, size_t i)
{
    const PtcOutline *o = ptc_outline_element(&c->os, coll, i);
    if (o->kinds == 0)
        return &ptc_outline_nil;
    bool there = i < coll->least || (ptc_outline_is_tuple(coll) && i < coll->count);
    return there && !(coll->kinds & PTC_IS_NIL) ? o : or_nil(c, o);
}

static const PtcOutline *nth(Checker *c, const RuleCall *call)
{
    const PtcOutline *coll = call->args[0];
    PtcValue at = call->argc > 1 ? call->args[1]->literal : PTC_NONE;
    ptc_check_pair(c, call->at, coll);
    if (coll->kinds & PTC_IS_MAP)
        return &ptc_outline_any;
    if (at == PTC_NONE || !ptc_is_int(at) || ptc_to_int(at) < 0)
        return or_nil(c, ptc_outline_item(&c->os, coll));
    const PtcOutline *o = element(c, coll, (size_t)ptc_to_int(at));
    return call->argc > 2 ? ptc_outline_join(&c->os, o, call->args[2]) : o;
}

/* What is left of an outline's flags in lists made of its elements. */
static const PtcOutline *list_like(Checker *c, const PtcOutline *coll, const PtcOutline *item,
                                   unsigned least)
{
    PtcOutline o = {.kinds = PTC_IS_LIST,
                    .least = (uint8_t)(least < PTC_ENOUGH ? least : PTC_ENOUGH),
                    .flags = coll->flags & PTC_OUTLINE_GIVEN,
                    .item = item == &ptc_outline_any ? NULL : item};
    return ptc_outline_make(&c->os, &o);
}

static const PtcOutline *elements(Checker *c, const PtcOutline *coll, unsigned least)
{
    return list_like(c, coll, ptc_outline_item(&c->os, coll), least);
}

static const PtcOutline *fewer(Checker *c, const RuleCall *call, const PtcOutline *coll)
{
    const PtcOutline *o = elements(c, coll, 0);
    bool nil = ptc_row_gives(ptc_builtin_row(call->index)->flags) & PTC_IS_NIL;
    return nil ? or_nil(c, o) : o;
}

static const PtcOutline *conjoined(Checker *c, const RuleCall *call)
{
    const PtcOutline *to = call->args[0];
    unsigned kinds = to->kinds & ~(unsigned)PTC_IS_NIL;
    if (kinds & ~(unsigned)(PTC_IS_LIST | PTC_IS_SET) || kinds == (PTC_IS_LIST | PTC_IS_SET))
        return NULL;
    PtcOutline o = {.kinds = (uint16_t)(kinds ? kinds : PTC_IS_LIST), .least = 1};
    const PtcOutline *item = kinds ? ptc_outline_item(&c->os, to) : &ptc_outline_never;
    for (uint32_t i = 1; i < call->argc; i++)
        item = ptc_outline_join(&c->os, item, call->args[i]);
    o.item = item == &ptc_outline_any ? NULL : item;
    return call->argc > 1 ? ptc_outline_make(&c->os, &o) : to;
}

static const PtcOutline *concat(Checker *c, const RuleCall *call)
{
    const PtcOutline *item = &ptc_outline_never;
    unsigned least = 0, flags = PTC_OUTLINE_GIVEN;
    for (uint32_t i = 0; i < call->argc; i++) {
        const PtcOutline *coll = call->args[i];
        item = ptc_outline_join(&c->os, item, ptc_outline_item(&c->os, coll));
        least = coll->least > least ? coll->least : least;
        flags &= coll->flags;
    }
    PtcOutline like = {.flags = (uint8_t)flags};
    return list_like(c, &like, item, least);
}

static const PtcOutline *poured(Checker *c, const RuleCall *call)
{
    const PtcOutline *to = call->args[0], *from = call->args[call->argc - 1];
    unsigned least = from->least;
    const PtcOutline *item = ptc_outline_item(&c->os, from);
    if (call->argc == 1)
        return to;
    if (call->argc == 3 && !(item = ptc_check_each_xform(c, call->at, call->args[1], item, &least)))
        return NULL;
    if (to->kinds & ~(unsigned)(PTC_IS_LIST | PTC_IS_SET) ||
        to->kinds == (PTC_IS_LIST | PTC_IS_SET))
        return NULL;
    item = ptc_outline_join(&c->os, item, ptc_outline_item(&c->os, to));
    PtcOutline o = {.kinds = to->kinds,
                    .least = (uint8_t)(to->least > least ? to->least : least),
                    .item = item == &ptc_outline_any ? NULL : item};
    return ptc_outline_make(&c->os, &o);
}

static const PtcOutline *set_of(Checker *c, const PtcOutline *coll)
{
    const PtcOutline *item = ptc_outline_item(&c->os, coll);
    PtcOutline o = {.kinds = PTC_IS_SET,
                    .least = coll->least > 0,
                    .item = item == &ptc_outline_any ? NULL : item};
    return ptc_outline_make(&c->os, &o);
}

const PtcOutline *ptc_check_seq_rule(Checker *c, PtcRule rule, const RuleCall *call)
{
    const PtcOutline *const *args = call->args, *first = args[0], *last = args[call->argc - 1];
    switch (rule) {
    case PTC_RULE_TUPLE: return ptc_outline_tuple(&c->os, args, call->argc, 0);
    case PTC_RULE_FIRST: return element(c, first, 0);
    case PTC_RULE_SECOND: return element(c, first, 1);
    case PTC_RULE_LAST:
        return ptc_outline_is_tuple(first) ? first->fields[first->count - 1].of
               : first->least && !(first->kinds & PTC_IS_NIL)
                   ? ptc_outline_item(&c->os, first)
                   : or_nil(c, ptc_outline_item(&c->os, first));
    case PTC_RULE_NTH: return nth(c, call);
    case PTC_RULE_SEQ:
        return first->kinds & ~(unsigned)(PTC_IS_LIST | PTC_IS_NIL) ? NULL : or_nil(c, first);
    case PTC_RULE_ELEMENTS:
        if (call->argc > 1) { /* a comparator */
            ptc_check_escape(c, first);
            ptc_check_unknown_call(c);
        }
        return elements(c, last, last->least);
    case PTC_RULE_SOME_OF: return fewer(c, call, first);
    case PTC_RULE_SOME_OF_2: return call->argc > 1 ? fewer(c, call, args[1]) : NULL;
    case PTC_RULE_SET_OF: return set_of(c, first);
    case PTC_RULE_CONJ: return conjoined(c, call);
    case PTC_RULE_CONCAT: return concat(c, call);
    case PTC_RULE_INTO: return poured(c, call);
    case PTC_RULE_COUNT_BY: {
        PtcOutline o = {.kinds = PTC_IS_MAP, .least = first->least > 0};
        o.rest = ptc_outline_of_kinds(&c->os, PTC_IS_INT);
        return ptc_outline_make(&c->os, &o);
    }
    case PTC_RULE_PARTITION:
        return call->argc < 4 ? ptc_outline_list(&c->os, elements(c, last, 1), 0) : NULL;
    default: return NULL;
    }
}
