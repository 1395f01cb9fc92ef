/* SPDX-License-Identifier: MIT
 * The walk over expressions.  What always holds: every visit is counted, so is the depth; what an expression gives is
 * never claimed to be less than it may be; `here` after a branch claims no more than both its sides. */
#include "lisp/check/check_int.h"

#include "value/coll/map.h"

static const PtcOutline *walk(Checker *c, PtcExpr *x, bool tail);

static const PtcOutline *value_of(Checker *c, PtcExpr *x)
{
    return walk(c, x, false);
}

/* ------------------------------------------------------------------------------- branches */

/* Two ways lead here, which began `before`.  never: control does not come out of that one. */
static Here join_here(const Here *before, const Here *a, bool never_a, const Here *b, bool never_b)
{
    Here h = *before;
    h.stopped = a->stopped || b->stopped || before->stopped;
    h.certain = before->certain && (before->stopped || !h.stopped);
    h.wrote = never_a ? b->wrote : never_b ? a->wrote : a->wrote && b->wrote;
    h.sure = before->sure && !never_a && !never_b;
    return h;
}

typedef struct Branch {
    Here before, first;
    uint32_t trail, guards;
    bool never; /* the first way */
} Branch;

static Branch begin_branch(Checker *c, const PtcExpr *test)
{
    Branch b = {.before = c->here, .trail = c->trail_count, .guards = c->guard_count};
    ptc_check_guard(c, test);
    c->here.certain = c->here.sure = false;
    c->here.muted |= ptc_check_is_fixed(test, 0);
    return b;
}

static void other_branch(Checker *c, Branch *b, const PtcOutline *gave)
{
    b->first = c->here;
    b->never = gave->kinds == 0;
    ptc_check_undo(c, b->trail);
    c->here = b->before;
    c->here.certain = c->here.sure = false;
    c->here.muted = b->first.muted;
}

static void end_branch(Checker *c, Branch *b, const PtcExpr *test, const PtcOutline *gave)
{
    bool never = gave->kinds == 0;
    ptc_check_undo(c, b->trail);
    c->guard_count = b->guards;
    c->here = join_here(&b->before, &b->first, b->never, &c->here, never);
    if (b->never != never) /* the other one was taken by whoever comes on */
        ptc_check_assume(c, test, never);
}

/* The branch that is taken, when the test says which; a missing one is nil. */
static const PtcOutline *take_branch(Checker *c, PtcExpr *x, const PtcExpr *at, bool tail)
{
    if (x)
        return walk(c, x, tail);
    if (tail)
        ptc_check_answer(c, at, &ptc_outline_nil);
    return &ptc_outline_nil;
}

static const PtcOutline *walk_if(Checker *c, PtcExpr *at, PtcExpr *test, PtcExpr *then,
                                 PtcExpr *otherwise, bool tail)
{
    const PtcOutline *t = ptc_check_test(c, test);
    if (t->kinds == 0)
        return t;
    bool yes = ptc_outline_may_be_true(t), no = ptc_outline_may_be_false(t);
    if (yes != no) {
        ptc_check_assume(c, test, yes);
        return take_branch(c, yes ? then : otherwise, at, tail);
    }
    Branch b = begin_branch(c, test);
    ptc_check_assume(c, test, true);
    const PtcOutline *r1 = take_branch(c, then, at, tail);
    other_branch(c, &b, r1);
    ptc_check_assume(c, test, false);
    const PtcOutline *r2 = take_branch(c, otherwise, at, tail);
    end_branch(c, &b, test, r2);
    return ptc_outline_join(&c->os, r1, r2);
}

/* Pairs of test and result from number i on. */
static const PtcOutline *walk_cond(Checker *c, PtcExpr *x, uint32_t i, bool tail)
{
    if (i + 1 >= x->count)
        return take_branch(c, x->a, x, tail);
    if (++c->depth > CHECK_DEPTH)
        c->silent = true;
    if (c->silent)
        return &ptc_outline_any;
    const PtcOutline *t = ptc_check_test(c, x->items[i]), *all = t;
    bool yes = ptc_outline_may_be_true(t), no = ptc_outline_may_be_false(t);
    if (t->kinds && yes != no) {
        ptc_check_assume(c, x->items[i], yes);
        all = yes ? walk(c, x->items[i + 1], tail) : walk_cond(c, x, i + 2, tail);
    } else if (t->kinds) {
        Branch b = begin_branch(c, x->items[i]);
        ptc_check_assume(c, x->items[i], true);
        const PtcOutline *r1 = walk(c, x->items[i + 1], tail);
        other_branch(c, &b, r1);
        ptc_check_assume(c, x->items[i], false);
        const PtcOutline *r2 = walk_cond(c, x, i + 2, tail);
        end_branch(c, &b, x->items[i], r2);
        all = ptc_outline_join(&c->os, r1, r2);
    }
    c->depth--;
    return all;
}

/* The subject is a local; of each result it is known which constant it was. */
static const PtcOutline *walk_case(Checker *c, PtcExpr *x, bool tail)
{
    const PtcOutline *subject = value_of(c, x->a), *all = &ptc_outline_never;
    const PtcOutline **slot = ptc_check_slot(c, x->a);
    Here before = c->here, end = before;
    uint32_t trail = c->trail_count, guards = c->guard_count;
    bool any = false;
    if (subject->kinds == 0)
        return subject;
    ptc_check_guard(c, x->a);
    for (uint32_t i = 0; i + 1 < x->count + 2; i += 2) {
        bool last = i + 1 >= x->count;
        if (last && !x->b)
            break;
        c->here = before;
        c->here.certain = c->here.sure = false;
        const PtcOutline *is = last ? NULL : ptc_outline_of_value(&c->text, x->items[i]->value);
        if (is && slot && !c->os.out)
            ptc_check_set(c, slot, is);
        const PtcOutline *r = walk(c, last ? x->b : x->items[i + 1], tail);
        ptc_check_undo(c, trail);
        end = any ? join_here(&before, &end, false, &c->here, r->kinds == 0) : c->here;
        any = true;
        all = ptc_outline_join(&c->os, all, r);
        if (last)
            break;
    }
    c->guard_count = guards;
    end.certain = before.certain && (before.stopped || !end.stopped);
    end.sure = before.sure && !end.stopped;
    c->here = end;
    return any ? all : &ptc_outline_any;
}

/* and, or: each item is a test of whether the next is looked at. */
static const PtcOutline *walk_logic(Checker *c, PtcExpr *x, bool tail)
{
    bool is_and = x->kind == PTC_X_AND;
    const PtcOutline *all = &ptc_outline_never;
    Here before = c->here, after_first = before;
    uint32_t trail = c->trail_count, guards = c->guard_count;
    for (uint32_t i = 0; i < x->count; i++) {
        bool last = i + 1 == x->count;
        const PtcOutline *o = last && !c->asking && is_and ? value_of(c, x->items[i])
                                                           : ptc_check_test(c, x->items[i]);
        if (i == 0)
            after_first = c->here;
        if (o->kinds == 0)
            break;
        bool stays = is_and ? ptc_outline_may_be_false(o) : ptc_outline_may_be_true(o);
        unsigned kinds = is_and ? PTC_IS_NIL | PTC_IS_BOOL : (unsigned)PTC_IS_ANY & ~PTC_IS_NIL;
        if (last || stays)
            all = ptc_outline_join(&c->os, all, last ? o : ptc_outline_only(&c->os, o, kinds));
        if (!last && !(is_and ? ptc_outline_may_be_true(o) : ptc_outline_may_be_false(o)))
            break; /* the rest is never reached */
        if (!last) {
            ptc_check_guard(c, x->items[i]);
            ptc_check_assume(c, x->items[i], is_and);
            c->here.certain = c->here.sure = false;
        }
    }
    ptc_check_undo(c, trail);
    c->guard_count = guards;
    bool stopped = c->here.stopped;
    c->here = after_first;
    c->here.stopped |= stopped;
    c->here.certain &= before.stopped || !c->here.stopped;
    if (tail)
        ptc_check_answer(c, x, all);
    return all;
}

/* -------------------------------------------------------------------------------- binding */

static void bind(Checker *c, PtcLocal *local, const PtcExpr *init, const PtcOutline *o)
{
    local->now = o;
    local->init = init;
    local->root = init ? ptc_check_root(c, init) : NULL;
    if (!local->root)
        local->root = local;
}

static const PtcOutline *walk_let(Checker *c, PtcExpr *x, bool tail)
{
    for (uint32_t i = 0; i < x->count; i++) {
        const PtcOutline *o = value_of(c, x->items[i]);
        if (o->kinds == 0)
            return o;
        bind(c, x->locals[i], x->items[i], o);
    }
    return walk(c, x->a, tail);
}

static const PtcOutline *walk_letfn(Checker *c, PtcExpr *x, bool tail)
{
    for (uint32_t i = 0; i < x->count; i++)
        bind(c, x->locals[i], NULL, &ptc_outline_any);
    for (uint32_t i = 0; i < x->count; i++)
        ptc_check_escape(c, value_of(c, x->items[i])); /* the others may call it with anything */
    return walk(c, x->a, tail);
}

/* ---------------------------------------------------------------------------------- loops */

/* Takes over what recur gave; false: nothing has changed. */
static bool widen_loop(Checker *c, PtcExpr *x, const RecurFrame *frame, uint32_t round)
{
    bool changed = false;
    for (uint32_t i = 0; i < x->count; i++) {
        const PtcOutline *old = x->locals[i]->now;
        const PtcOutline *o =
            i < CHECK_ARGS ? ptc_outline_join(&c->os, old, frame->next[i]) : &ptc_outline_any;
        if (o != old && round >= CHECK_ROUNDS)
            o = &ptc_outline_any;
        changed |= o != old;
        x->locals[i]->now = o;
    }
    return changed;
}

static void begin_frame(Checker *c, RecurFrame *frame, const PtcExpr *loop, uint32_t count)
{
    *frame = (RecurFrame){.outer = c->frames, .loop = loop, .count = count};
    for (uint32_t i = 0; i < CHECK_ARGS; i++)
        frame->next[i] = &ptc_outline_never;
    c->frames = frame;
}

static const PtcOutline *walk_loop(Checker *c, PtcExpr *x, bool tail)
{
    RecurFrame frame;
    Here before;
    bool dry = c->dry, first = c->first;
    for (uint32_t i = 0; i < x->count; i++) {
        const PtcOutline *o = value_of(c, x->items[i]);
        if (o->kinds == 0)
            return o;
        bind(c, x->locals[i], NULL, o);
    }
    before = c->here;
    uint32_t trail = c->trail_count;
    for (uint32_t round = 0; round <= CHECK_ROUNDS && !c->silent; round++) {
        begin_frame(c, &frame, x, x->count);
        c->first = round == 0 && (!dry || first);
        c->dry = true;
        (void)walk(c, x->a, false);
        c->frames = frame.outer;
        c->here = before;
        ptc_check_undo(c, trail);
        if (!frame.again || !widen_loop(c, x, &frame, round))
            break;
    }
    c->dry = dry;
    c->first = first;
    begin_frame(c, &frame, x, x->count);
    const PtcOutline *o = walk(c, x->a, tail);
    c->frames = frame.outer;
    c->here.certain = before.certain && (before.stopped || !c->here.stopped);
    c->here.sure = before.sure && !c->here.stopped;
    c->here.muted = before.muted;
    return o;
}

static const PtcOutline *walk_recur(Checker *c, PtcExpr *x)
{
    RecurFrame *f = c->frames;
    while (f && f->loop != x->target)
        f = f->outer;
    for (uint32_t i = 0; i < x->count; i++) {
        const PtcOutline *o = value_of(c, x->items[i]);
        if (o->kinds == 0)
            return o;
        if (f && i < CHECK_ARGS)
            f->next[i] = ptc_outline_join(&c->os, f->next[i], o);
    }
    if (f)
        f->again = true;
    return &ptc_outline_never;
}

/* What may be computed later, or never, is eager only where its elements are known to be there. */
static bool is_eager(const PtcOutline *o)
{
    return o->least > 0 || !(o->kinds & (PTC_IS_LIST | PTC_IS_OTHER | PTC_IS_FN));
}

static const PtcOutline *walk_each(Checker *c, PtcExpr *x)
{
    const PtcOutline *coll = value_of(c, x->a);
    if (coll->kinds == 0)
        return coll;
    ptc_check_type(c, x, UINT32_MAX, 0, coll, PTC_IS_SEQABLE);
    const PtcOutline *item = ptc_outline_item(&c->os, coll);
    if (item->kinds == 0)
        return &ptc_outline_nil;
    Here before = c->here;
    unsigned repeats = c->builds ? c->builds->repeats : 0;
    bind(c, x->locals[0], NULL, item);
    const PtcLocal *root = ptc_check_root(c, x->a);
    x->locals[0]->root = root ? root : x->locals[0];
    if (coll->least == 0)
        c->here.certain = c->here.sure = false;
    c->here.muted |= c->job->facts->catches && !is_eager(coll);
    if (c->builds)
        c->builds->repeats = coll->least > repeats ? coll->least : repeats;
    uint32_t trail = c->trail_count;
    const PtcOutline *o = walk(c, x->b, false);
    ptc_check_undo(c, trail); /* perhaps there was no element, or a :while ended it */
    if (c->builds)
        c->builds->repeats = repeats;
    bool wrote = coll->least > 0 && o->kinds && c->here.wrote;
    bool stopped = c->here.stopped;
    c->here = before;
    c->here.wrote |= wrote;
    c->here.stopped |= stopped;
    c->here.certain &= before.stopped || !stopped;
    return &ptc_outline_nil;
}

static const PtcOutline *walk_build(Checker *c, PtcExpr *x)
{
    Build b = {.outer = c->builds, .local = x->locals[0], .item = &ptc_outline_never, .repeats = 1};
    bool sure = c->here.sure;
    c->builds = &b;
    c->here.sure = true;
    const PtcOutline *o = walk(c, x->a, false);
    c->builds = b.outer;
    c->here.sure = sure && !c->here.stopped;
    return o->kinds ? ptc_outline_list(&c->os, b.item, b.least) : o;
}

static const PtcOutline *walk_push(Checker *c, PtcExpr *x)
{
    const PtcOutline *o = value_of(c, x->a);
    Build *b = c->builds;
    while (b && b->local != x->locals[0])
        b = b->outer;
    if (b && o->kinds) {
        b->item = ptc_outline_join(&c->os, b->item, o);
        if (c->here.sure && b->repeats > b->least)
            b->least = b->repeats;
    }
    return o->kinds ? &ptc_outline_nil : o;
}

/* --------------------------------------------------------------------------------- makers */

static const PtcOutline *walk_vector(Checker *c, PtcExpr *x)
{
    const PtcOutline *items[PTC_OUTLINE_TUPLE], *item = &ptc_outline_never;
    for (uint32_t i = 0; i < x->count; i++) {
        const PtcOutline *o = value_of(c, x->items[i]);
        if (o->kinds == 0)
            return o;
        if (i < PTC_OUTLINE_TUPLE)
            items[i] = o;
        item = ptc_outline_join(&c->os, item, o);
    }
    if (x->kind == PTC_X_SET) {
        PtcOutline set = {.kinds = PTC_IS_SET, .least = x->count > 0, .item = item};
        return ptc_outline_make(&c->os, &set);
    }
    return x->count <= PTC_OUTLINE_TUPLE ? ptc_outline_tuple(&c->os, items, x->count, 0)
                                         : ptc_outline_list(&c->os, item, PTC_ENOUGH);
}

static bool is_name(const PtcOutline *o)
{
    return o->literal != PTC_NONE && (ptc_is_keyword(o->literal) || ptc_is_string(o->literal));
}

static const PtcOutline *walk_map(Checker *c, PtcExpr *x)
{
    PtcOutlineEdit e;
    PtcOutline *map = &e.map;
    ptc_outline_edit(&e, &(PtcOutline){.kinds = PTC_IS_MAP});
    for (uint32_t i = 0; i + 1 < x->count; i += 2) {
        const PtcOutline *k = value_of(c, x->items[i]);
        const PtcOutline *v = k->kinds ? value_of(c, x->items[i + 1]) : k;
        if (v->kinds == 0)
            return v;
        if (is_name(k)) {
            PtcText name = {ptc_str_bytes(k->literal), ptc_str_len(k->literal)};
            const PtcOutlineField *alike = ptc_outline_field(map, name);
            if (alike) /* {:id 1 "id" 2} has both */
                v = ptc_outline_join(&c->os, alike->of, v);
            ptc_outline_put(&c->os, &e, name,
                            map->rest ? ptc_outline_join(&c->os, v, map->rest) : v);
            continue;
        }
        ptc_outline_put_any(&c->os, &e, k, v);
    }
    return ptc_outline_make(&c->os, map);
}

/* ----------------------------------------------------------------------------------- names */

static const PtcOutline *data_of(Checker *c, PtcExpr *x)
{
    PtcValue context = c->job->analysis->context;
    PtcValue v = ptc_is_map(context) ? ptc_map_get_flex(c->heap, context, x->value) : PTC_NONE;
    return v == PTC_NONE ? &ptc_outline_any : ptc_outline_of_value(&c->data, v);
}

static const PtcOutline *global_of(Checker *c, uint32_t number)
{
    const PtcProgramFacts *f = c->job->facts;
    if (number >= f->def_count || c->fn == NULL)
        return &ptc_outline_any;
    if (c->globals[number])
        return c->globals[number];
    bool earlier = number < f->earlier && f->defs[number] == 0;
    if (earlier && c->job->globals && c->job->globals[number] != PTC_UNBOUND)
        c->globals[number] = ptc_outline_of_value(&c->data, c->job->globals[number]);
    return c->globals[number] ? c->globals[number] : &ptc_outline_any;
}

/* Only what is defined once, on the way through the program, keeps what is known of it. */
static const PtcOutline *walk_def(Checker *c, PtcExpr *x)
{
    const PtcOutline *o = value_of(c, x->a);
    const PtcProgramFacts *f = c->job->facts;
    bool plain = !x->once && c->here.certain && !c->frames && c->fn && !c->fn->parent;
    if (o->kinds == 0)
        return o;
    if (x->index < f->def_count) {
        plain = plain && f->defs[x->index] == 1;
        c->globals[x->index] = plain ? o : &ptc_outline_any;
        if (!plain)
            ptc_check_escape(c, o);
    }
    return ptc_outline_of_kinds(&c->os, PTC_IS_OTHER);
}

static const PtcOutline *const_of(Checker *c, PtcExpr *x)
{
    if (x->value == PTC_NIL)
        return &ptc_outline_nil;
    return ptc_outline_of_value(&c->text, x->value);
}

/* ----------------------------------------------------------------------------------- calls */

/* False: control does not come out of one of them. */
static bool walk_args(Checker *c, PtcExpr *x, const PtcOutline **args, uint32_t most)
{
    for (uint32_t i = 0; i < x->count; i++) {
        const PtcOutline *o = value_of(c, x->items[i]);
        if (o->kinds == 0)
            return false;
        if (i < most)
            args[i] = o;
        else
            ptc_check_escape(c, o);
    }
    return true;
}

static const PtcOutline *walk_call(Checker *c, PtcExpr *x)
{
    const PtcOutline *args[CHECK_ARGS], *f = value_of(c, x->a);
    if (f->kinds == 0 || !walk_args(c, x, args, CHECK_ARGS))
        return &ptc_outline_never;
    return ptc_check_call(c, x, f, args, x->count);
}

static const PtcOutline *walk_stop(Checker *c, PtcExpr *x)
{
    const PtcOutline *o = value_of(c, x->a);
    if (o->kinds && x->index == 0)
        ptc_check_answer(c, x, o);
    c->here.stopped = true;
    return &ptc_outline_never;
}

/* The parts of try are functions without a name: they are walked in place. */
static const PtcOutline *walk_try(Checker *c, PtcExpr *x)
{
    Here before = c->here;
    bool catches = x->count > 2;
    c->here.muted |= catches;
    const PtcOutline *all = ptc_check_call(c, x, value_of(c, x->items[0]), NULL, 0);
    bool stopped = c->here.stopped;
    for (uint32_t i = 3; i < x->count; i += 2) {
        const PtcOutline *error = &ptc_outline_any;
        c->here = before;
        c->here.certain = c->here.sure = false;
        all = ptc_outline_join(&c->os, all,
                               ptc_check_call(c, x, value_of(c, x->items[i]), &error, 1));
        stopped |= c->here.stopped;
    }
    bool wrote = c->here.wrote && !catches;
    c->here = before;
    c->here.wrote |= wrote;
    c->here.stopped |= stopped;
    c->here.certain &= before.stopped || !c->here.stopped;
    c->here.sure &= !c->here.stopped;
    if (x->items[1]->kind == PTC_X_FN) {
        Here now = c->here;
        c->here.certain = c->here.sure = false;
        (void)ptc_check_call(c, x, value_of(c, x->items[1]), NULL, 0);
        c->here = now;
    }
    return all;
}

static bool is_row(uint32_t index, const char *name)
{
    const PtcBuiltin *row = ptc_builtin_row(index);
    return (row->flags & PTC_B_HIDDEN) && strcmp(row->name, name) == 0;
}

static const PtcOutline *walk_builtin(Checker *c, PtcExpr *x)
{
    const PtcOutline *args[CHECK_ARGS + 1]; /* a tool comes before its arguments */
    const PtcBuiltin *row = ptc_builtin_row(x->index);
    if ((row->flags & PTC_B_HIDDEN) && is_row(x->index, "try"))
        return walk_try(c, x);
    bool tests = ptc_row_rule(row->flags) == PTC_RULE_NOT;
    if (tests) {
        args[0] = ptc_check_test(c, x->items[0]);
        return args[0]->kinds ? ptc_check_builtin(c, x, x->index, args, 1) : args[0];
    }
    uint32_t asking = c->asking;
    c->asking = 0;
    bool reached = walk_args(c, x, args, CHECK_ARGS + 1);
    c->asking = asking;
    if (!reached)
        return &ptc_outline_never;
    if ((row->flags & PTC_B_HIDDEN) && is_row(x->index, "tool"))
        return ptc_check_tool_call(c, x, x->items[0]->value, args + 1, x->count - 1);
    return ptc_check_builtin(c, x, x->index, args, x->count);
}

/* ------------------------------------------------------------------------------------ all */

static const PtcOutline *local_of(const PtcExpr *x)
{
    return x->local->now ? x->local->now : &ptc_outline_any;
}

static const PtcOutline *capture_of(const Checker *c, const PtcExpr *x)
{
    return c->captures && x->index < CHECK_CAPTURES ? c->captures[x->index] : &ptc_outline_any;
}

static const PtcOutline *walk_do(Checker *c, PtcExpr *x, bool tail)
{
    const PtcOutline *o = &ptc_outline_nil;
    for (uint32_t i = 0; i < x->count && o->kinds; i++)
        o = walk(c, x->items[i], tail && i + 1 == x->count);
    return o;
}

/* Those whose value is not that of a part. */
static const PtcOutline *walk_leaf(Checker *c, PtcExpr *x)
{
    switch (x->kind) {
    case PTC_X_CONST: return const_of(c, x);
    case PTC_X_LOCAL: return local_of(x);
    case PTC_X_CAPTURE: return capture_of(c, x);
    case PTC_X_SELF: return ptc_check_self(c);
    case PTC_X_GLOBAL: return global_of(c, x->index);
    case PTC_X_DATA: return data_of(c, x);
    case PTC_X_FN: return ptc_check_closure(c, x);
    case PTC_X_CALL: return walk_call(c, x);
    case PTC_X_CALLB: return walk_builtin(c, x);
    case PTC_X_DEF: return walk_def(c, x);
    case PTC_X_VECTOR:
    case PTC_X_SET: return walk_vector(c, x);
    case PTC_X_MAP: return walk_map(c, x);
    case PTC_X_EACH: return walk_each(c, x);
    case PTC_X_BUILD: return walk_build(c, x);
    case PTC_X_PUSH: return walk_push(c, x);
    default: return &ptc_outline_any;
    }
}

static const PtcOutline *walk_node(Checker *c, PtcExpr *x, bool tail)
{
    switch (x->kind) {
    case PTC_X_IF: return walk_if(c, x, x->a, x->b, x->c, tail);
    case PTC_X_COND: return walk_cond(c, x, 0, tail);
    case PTC_X_CASE: return walk_case(c, x, tail);
    case PTC_X_DO: return walk_do(c, x, tail);
    case PTC_X_LET: return walk_let(c, x, tail);
    case PTC_X_LETFN: return walk_letfn(c, x, tail);
    case PTC_X_LOOP: return walk_loop(c, x, tail);
    case PTC_X_AND:
    case PTC_X_OR: return walk_logic(c, x, tail);
    case PTC_X_RECUR: return walk_recur(c, x);
    case PTC_X_STOP: return walk_stop(c, x);
    case PTC_X_BREAK: return &ptc_outline_never;
    default: break;
    }
    const PtcOutline *o = walk_leaf(c, x);
    if (tail && o->kinds)
        ptc_check_answer(c, x, o);
    return o;
}

static const PtcOutline *walk(Checker *c, PtcExpr *x, bool tail)
{
    if (x->visits++ >= CHECK_NODE_VISITS || c->visits++ >= CHECK_VISITS ||
        c->depth >= CHECK_DEPTH || c->os.out ||
        ((c->visits & 63) == 0 && !ptc_tick(c->heap->budget, 64)))
        c->silent = true;
    if (c->silent)
        return &ptc_outline_any;
    c->depth++;
    const PtcOutline *o = walk_node(c, x, tail);
    c->depth--;
    return o;
}

const PtcOutline *ptc_check_expr(Checker *c, PtcExpr *x, bool tail)
{
    return walk(c, x, tail);
}

const PtcOutline *ptc_check_test(Checker *c, PtcExpr *x)
{
    c->asking++;
    const PtcOutline *o = walk(c, x, false);
    c->asking--;
    ptc_check_key_asked(c, x);
    if (o->flags & PTC_OUTLINE_MAYBE)
        ptc_check_note_tested(c, o->source);
    return o;
}
