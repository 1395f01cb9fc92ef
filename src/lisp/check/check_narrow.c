/* SPDX-License-Identifier: MIT
 * What tests tell: on each side of a branch the values that were asked about are known better.  What always holds: what
 * a branch narrowed is undone at its end; a narrowing that the trail has no room for is left out. */
#include "lisp/check/check_int.h"

enum { NARROW_DEPTH = 8, MENTION_DEPTH = 24 };

const PtcOutline **ptc_check_slot(Checker *c, const PtcExpr *x)
{
    if (x->kind == PTC_X_LOCAL)
        return x->local->now ? &x->local->now : NULL;
    if (x->kind == PTC_X_CAPTURE && c->captures && x->index < CHECK_CAPTURES)
        return &c->captures[x->index];
    return NULL;
}

void ptc_check_set(Checker *c, const PtcOutline **slot, const PtcOutline *now)
{
    if (*slot == now || c->trail_count == CHECK_TRAIL)
        return;
    c->trail[c->trail_count++] = (Narrowed){slot, *slot};
    *slot = now;
}

void ptc_check_undo(Checker *c, uint32_t trail)
{
    while (c->trail_count > trail) {
        const Narrowed *n = &c->trail[--c->trail_count];
        *n->slot = n->old;
    }
}

/* ------------------------------------------------------------------------------- narrowing */

static PtcRule rule_of(const PtcExpr *x)
{
    return x->kind == PTC_X_CALLB ? ptc_row_rule(ptc_builtin_row(x->index)->flags) : PTC_RULE_NONE;
}

static void keep_kinds(Checker *c, const PtcOutline **slot, unsigned kinds)
{
    const PtcOutline *to = ptc_outline_only(&c->os, *slot, kinds);
    if (to->kinds)
        ptc_check_set(c, slot, to);
}

static PtcText key_name(PtcValue v)
{
    bool named = v != PTC_NONE && (ptc_is_keyword(v) || ptc_is_string(v));
    return named ? (PtcText){ptc_str_bytes(v), ptc_str_len(v)} : (PtcText){NULL, 0};
}

/* (:key x) or (get x :key): x, and the key; NULL: it is no such look-up. */
static const PtcExpr *key_of(const PtcExpr *x, PtcText *key)
{
    if (x->kind == PTC_X_CALL && x->a->kind == PTC_X_CONST && x->count == 1) {
        *key = key_name(x->a->value);
        return key->bytes && ptc_is_keyword(x->a->value) ? x->items[0] : NULL;
    }
    if (rule_of(x) == PTC_RULE_GET && x->count >= 2 && x->items[1]->kind == PTC_X_CONST) {
        *key = key_name(x->items[1]->value);
        return key->bytes ? x->items[0] : NULL;
    }
    return NULL;
}

/* A member that is known to be of these kinds: its map has it. */
static void keep_member(Checker *c, const PtcExpr *x, unsigned kinds)
{
    PtcText key;
    const PtcExpr *map = key_of(x, &key);
    const PtcOutline **slot = map ? ptc_check_slot(c, map) : NULL;
    const PtcOutlineField *f = slot && *slot ? ptc_outline_field(*slot, key) : NULL;
    if (!f || kinds & PTC_IS_NIL || !((*slot)->kinds & PTC_IS_MAP))
        return;
    const PtcOutline *of = ptc_outline_only(&c->os, f->of, kinds);
    const PtcOutline *to = ptc_outline_only(&c->os, *slot, PTC_IS_MAP);
    if (of->kinds)
        ptc_check_set(c, slot, ptc_outline_with(&c->os, to, key, of));
}

/* x is of one of these kinds. */
static void keep(Checker *c, const PtcExpr *x, unsigned kinds)
{
    const PtcOutline **slot = ptc_check_slot(c, x);
    if (slot)
        keep_kinds(c, slot, kinds);
    else
        keep_member(c, x, kinds);
    if (x->kind == PTC_X_LOCAL && x->local->init)
        keep_member(c, x->local->init, kinds);
}

static void assume_truth(Checker *c, const PtcExpr *x, bool truth)
{
    const PtcOutline **slot = ptc_check_slot(c, x);
    unsigned kinds = truth ? PTC_IS_ANY & ~(unsigned)PTC_IS_NIL : PTC_IS_NIL | PTC_IS_BOOL;
    if (slot && truth && (*slot)->kinds & PTC_IS_BOOL && (*slot)->literal == PTC_FALSE)
        kinds &= ~(unsigned)PTC_IS_BOOL;
    keep(c, x, kinds);
}

static const PtcExpr *constant_side(const PtcExpr *x, const PtcExpr **other)
{
    for (int i = 0; i < 2; i++)
        if (x->items[i]->kind == PTC_X_CONST) {
            *other = x->items[1 - i];
            return x->items[i];
        }
    return NULL;
}

/* (= x constant): of the constant's kind; numbers are equal only to those written alike. */
static void assume_equal(Checker *c, const PtcExpr *x, bool truth)
{
    const PtcExpr *other, *k = x->count == 2 ? constant_side(x, &other) : NULL;
    if (!k)
        return;
    const PtcOutline *is = ptc_outline_of_value(&c->text, k->value);
    if (is->kinds & (PTC_IS_LIST | PTC_IS_SET | PTC_IS_MAP | PTC_IS_OTHER | PTC_IS_NUMBER))
        return;
    if (truth)
        keep(c, other, is->kinds);
    else if (k->value == PTC_NIL)
        keep(c, other, PTC_IS_ANY & ~(unsigned)PTC_IS_NIL);
}

static void assume_call(Checker *c, const PtcExpr *x, bool truth, int depth);

static void assume(Checker *c, const PtcExpr *x, bool truth, int depth)
{
    if (depth > NARROW_DEPTH)
        return;
    switch (x->kind) {
    case PTC_X_LOCAL:
    case PTC_X_CAPTURE:
    case PTC_X_CALL: assume_truth(c, x, truth); break;
    case PTC_X_AND:
    case PTC_X_OR:
        for (uint32_t i = 0; i < x->count && (x->kind == PTC_X_AND) == truth; i++)
            assume(c, x->items[i], truth, depth + 1);
        break;
    case PTC_X_CALLB: assume_call(c, x, truth, depth); break;
    default: break;
    }
    if (x->kind == PTC_X_LOCAL && x->local->init && x->local->init->kind != PTC_X_LOCAL)
        assume(c, x->local->init, truth, depth + 1); /* (let [there (some? (:a m))] (if there ... */
}

static void assume_call(Checker *c, const PtcExpr *x, bool truth, int depth)
{
    const PtcBuiltin *row = ptc_builtin_row(x->index);
    switch (rule_of(x)) {
    case PTC_RULE_NOT: assume(c, x->items[0], !truth, depth + 1); break;
    case PTC_RULE_KIND_TEST: {
        unsigned kinds = ptc_row_takes(row->flags, 1);
        keep(c, x->items[0], truth ? kinds : PTC_IS_ANY & ~kinds);
        break;
    }
    case PTC_RULE_EQUAL: assume_equal(c, x, truth); break;
    case PTC_RULE_GET: assume_truth(c, x, truth); break;
    case PTC_RULE_SEQ:
        if (truth)
            keep(c, x->items[0], PTC_IS_ANY & ~(unsigned)PTC_IS_NIL);
        break;
    default: break;
    }
}

void ptc_check_assume(Checker *c, const PtcExpr *test, bool truth)
{
    assume(c, test, truth, 0);
}

/* ---------------------------------------------------------------------------------- guards */

static const PtcLocal *local_behind(const Checker *c, const PtcExpr *x)
{
    if (x->kind == PTC_X_LOCAL)
        return x->local;
    return x->kind == PTC_X_CAPTURE && c->fn && x->index < c->fn->capture_count
               ? c->fn->captures[x->index].local
               : NULL;
}

const PtcLocal *ptc_check_root(const Checker *c, const PtcExpr *x)
{
    for (int depth = 0; x && depth < MENTION_DEPTH; depth++) {
        const PtcLocal *local = local_behind(c, x);
        if (local)
            return local->root ? local->root : local;
        if (x->kind != PTC_X_CALL && x->kind != PTC_X_CALLB)
            return NULL;
        const PtcExpr *part = NULL; /* the first argument that is anybody's */
        for (uint32_t i = 0; i < x->count && !part; i++)
            part = x->items[i]->kind != PTC_X_CONST && x->items[i]->kind != PTC_X_FN ? x->items[i]
                                                                                     : NULL;
        x = part;
    }
    return NULL;
}

static void mention_local(Checker *c, const PtcLocal *local)
{
    if (c->guard_count < CHECK_GUARDS)
        c->guards[c->guard_count++] = local->root ? local->root : local;
}

static void mention(Checker *c, const PtcExpr *x, int depth)
{
    const PtcLocal *local = local_behind(c, x);
    if (local)
        mention_local(c, local);
    for (uint32_t i = 0; x->kind == PTC_X_FN && i < x->fn->capture_count; i++)
        mention_local(c, x->fn->captures[i].local);
    if (depth > MENTION_DEPTH)
        return;
    if (x->a)
        mention(c, x->a, depth + 1);
    if (x->b)
        mention(c, x->b, depth + 1);
    for (uint32_t i = 0; x->items && i < x->count && c->guard_count < CHECK_GUARDS; i++)
        mention(c, x->items[i], depth + 1);
}

void ptc_check_guard(Checker *c, const PtcExpr *test)
{
    mention(c, test, 0);
}

void ptc_check_note_tested(Checker *c, uint32_t source)
{
    for (uint32_t i = 0; i < c->tested_count; i++)
        if (c->tested[i] == source)
            return;
    if (c->tested_count < CHECK_TESTED)
        c->tested[c->tested_count++] = source;
    else
        c->silent = true;
}

bool ptc_check_is_fixed(const PtcExpr *x, int depth)
{
    if (depth > NARROW_DEPTH)
        return false;
    switch (x->kind) {
    case PTC_X_CONST: return true;
    case PTC_X_CALLB:
    case PTC_X_VECTOR:
    case PTC_X_AND:
    case PTC_X_OR: break;
    default: return false;
    }
    if (x->kind == PTC_X_CALLB && ptc_builtin_row(x->index)->flags & (PTC_B_EFFECT | PTC_B_HIDDEN))
        return false;
    for (uint32_t i = 0; i < x->count; i++)
        if (!ptc_check_is_fixed(x->items[i], depth + 1))
            return false;
    return true;
}
