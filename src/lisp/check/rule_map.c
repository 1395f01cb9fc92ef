/* SPDX-License-Identifier: MIT
 * Rules of functions that look into maps and change them. */
#include "lisp/check/check_int.h"

static bool name_of(const PtcOutline *key, PtcText *name)
{
    bool named = key->literal != PTC_NONE && key->kinds & (PTC_IS_KEYWORD | PTC_IS_STRING);
    if (named)
        *name = (PtcText){ptc_str_bytes(key->literal), ptc_str_len(key->literal)};
    return named;
}

static const PtcOutline *get(Checker *c, const RuleCall *call)
{
    const PtcOutline *m = call->args[0];
    bool otherwise = call->argc > 2;
    if (call->argc < 2)
        return NULL;
    if (call->args[1]->kinds == PTC_IS_INT && m->kinds & PTC_IS_LIST)
        return ptc_outline_join(&c->os, ptc_outline_item(&c->os, m),
                                otherwise ? call->args[2] : &ptc_outline_nil);
    const PtcOutline *o =
        ptc_check_key(c, call->at, m, call->args[1], otherwise ? KEY_DEFAULT : KEY_READ);
    return otherwise ? ptc_outline_join(&c->os, o, call->args[2]) : o;
}

/* One step of a path: into a map, or to an element by its number. */
static const PtcOutline *step(Checker *c, const RuleCall *call, const PtcOutline *m,
                              const PtcOutline *key, KeyAsk ask)
{
    if (key->kinds == PTC_IS_INT && m->kinds & PTC_IS_LIST)
        return ptc_outline_join(&c->os, ptc_outline_item(&c->os, m), &ptc_outline_nil);
    return ptc_check_key(c, call->at, m, key, ask);
}

static const PtcOutline *follow(Checker *c, const RuleCall *call, KeyAsk ask)
{
    const PtcOutline *m = call->args[0], *path = call->args[1];
    if (!ptc_outline_is_tuple(path))
        return NULL;
    for (size_t i = 0; i < path->count; i++)
        m = step(c, call, m, path->fields[i].of, ask);
    return m;
}

static const PtcOutline *get_in(Checker *c, const RuleCall *call)
{
    bool otherwise = call->argc > 2;
    const PtcOutline *o =
        call->argc < 2 ? NULL : follow(c, call, otherwise ? KEY_DEFAULT : KEY_READ);
    return o && otherwise ? ptc_outline_join(&c->os, o, call->args[2]) : o;
}

/* The map that something is put into; NULL: it is not known to be one. */
static const PtcOutline *target(Checker *c, const PtcOutline *o)
{
    PtcOutline none = {.kinds = PTC_IS_MAP};
    if (o->kinds == PTC_IS_NIL)
        return ptc_outline_make(&c->os, &none);
    if ((o->kinds & ~(unsigned)PTC_IS_NIL) != PTC_IS_MAP)
        return NULL;
    if (o->kinds == PTC_IS_MAP)
        return o;
    /* It was nil, or had all that it has. */
    return ptc_outline_join(&c->os, ptc_outline_only(&c->os, o, PTC_IS_MAP),
                            ptc_outline_make(&c->os, &none));
}

static const PtcOutline *put(Checker *c, const PtcOutline *m, const PtcOutline *key,
                             const PtcOutline *of)
{
    PtcText name;
    PtcOutlineEdit e;
    ptc_outline_edit(&e, m);
    if (name_of(key, &name))
        ptc_outline_put(&c->os, &e, name, of);
    else
        ptc_outline_put_any(&c->os, &e, key, of);
    return ptc_outline_make(&c->os, &e.map);
}

static const PtcOutline *assoc(Checker *c, const RuleCall *call)
{
    const PtcOutline *m = target(c, call->args[0]);
    for (uint32_t i = 1; m && i + 1 < call->argc; i += 2)
        m = put(c, m, call->args[i], call->args[i + 1]);
    return m;
}

/* Something deeper changed: of the member at the beginning of the path nothing is known any more. */
static const PtcOutline *put_in(Checker *c, const RuleCall *call)
{
    const PtcOutline *m = target(c, call->args[0]), *path = call->args[1];
    if (!m || !ptc_outline_is_tuple(path) || path->count == 0)
        return NULL;
    for (uint32_t i = 0; i < call->argc; i++)
        ptc_outline_lose(&c->os, call->args[i]);
    return put(c, m, path->fields[0].of, &ptc_outline_any);
}

static const PtcOutline *dissoc(Checker *c, const RuleCall *call)
{
    const PtcOutline *m = call->args[0]->kinds == PTC_IS_MAP ? call->args[0] : NULL;
    PtcText name;
    for (uint32_t i = 1; m && i < call->argc; i++) {
        if (!name_of(call->args[i], &name))
            return NULL;
        if (ptc_outline_field(m, name))
            m = ptc_outline_with(&c->os, m, name, &ptc_outline_nil);
    }
    if (m && call->argc > 1) {
        PtcOutline to = *m;
        to.least = 0;
        m = ptc_outline_make(&c->os, &to);
    }
    return m;
}

/* f gets what is there; nothing is asked, since f may know what to do with nil. */
static const PtcOutline *call_update(Checker *c, const RuleCall *call, const PtcOutline *old)
{
    const PtcOutline *args[CHECK_ARGS] = {old};
    uint32_t n = call->argc - 2;
    bool updating = c->updating;
    for (uint32_t i = 3; i < call->argc; i++)
        args[i - 2] = call->args[i];
    c->updating = true;
    const PtcOutline *o = ptc_check_callback(c, call->at, call->args[2], args, n, 1);
    c->updating = updating;
    return o;
}

static const PtcOutline *update(Checker *c, const RuleCall *call)
{
    const PtcOutline *m = call->args[0];
    if (call->argc < 3)
        return NULL;
    const PtcOutline *old = ptc_check_key(c, call->at, m, call->args[1], KEY_PEEK);
    const PtcOutline *now = call_update(c, call, old), *to = target(c, m);
    return to && now->kinds ? put(c, to, call->args[1], now) : now->kinds ? NULL : now;
}

static const PtcOutline *update_in(Checker *c, const RuleCall *call)
{
    const PtcOutline *old = call->argc < 3 ? NULL : follow(c, call, KEY_PEEK);
    if (!old)
        return NULL;
    const PtcOutline *now = call_update(c, call, old);
    return now->kinds ? put_in(c, call) : now;
}

static const PtcOutline *merge(Checker *c, const RuleCall *call)
{
    const PtcOutline *to = target(c, call->args[0]);
    for (uint32_t i = 1; to && i < call->argc; i++) {
        const PtcOutline *from = call->args[i];
        PtcOutlineEdit e;
        if ((from->kinds & ~(unsigned)PTC_IS_NIL) & ~(unsigned)PTC_IS_MAP)
            return NULL;
        bool sure = from->kinds == PTC_IS_MAP;
        ptc_outline_edit(&e, to);
        for (size_t k = 0; k < from->count; k++) {
            const PtcOutlineField *f = &from->fields[k], *old = ptc_outline_field(&e.map, f->name);
            bool stays = !sure || f->optional;
            const PtcOutline *of =
                stays ? ptc_outline_join(&c->os, f->of, old ? old->of : &ptc_outline_nil) : f->of;
            ptc_outline_put(&c->os, &e, f->name, of);
        }
        PtcOutline o = e.map;
        o.flags |= from->flags & (PTC_OUTLINE_OPEN | PTC_OUTLINE_DECLARED | PTC_OUTLINE_SEEN);
        if (from->kinds & PTC_IS_MAP && !(from->flags & PTC_OUTLINE_GIVEN) && from->count == 0)
            o.flags &= (uint8_t)~PTC_OUTLINE_GIVEN;
        if (from->rest)
            o.rest = o.rest ? ptc_outline_join(&c->os, o.rest, from->rest) : from->rest;
        to = ptc_outline_make(&c->os, &o);
    }
    if (to && call->args[0]->kinds & PTC_IS_NIL)
        to = ptc_outline_join(&c->os, to, &ptc_outline_nil); /* nothing but nil is nil */
    return to;
}

static const PtcOutline *select_keys(Checker *c, const RuleCall *call)
{
    const PtcOutline *m = call->args[0], *path = call->argc > 1 ? call->args[1] : NULL;
    PtcOutline start = {.kinds = PTC_IS_MAP,
                        .flags = m->flags & (PTC_OUTLINE_DECLARED | PTC_OUTLINE_GIVEN)};
    PtcText name;
    if (!path || m->kinds != PTC_IS_MAP || m->flags & PTC_OUTLINE_OPEN || m->rest ||
        !ptc_outline_is_tuple(path))
        return NULL;
    PtcOutlineEdit e;
    ptc_outline_edit(&e, &start);
    for (size_t i = 0; i < path->count; i++) {
        if (!name_of(path->fields[i].of, &name))
            return NULL;
        const PtcOutlineField *f = ptc_outline_field(m, name);
        if (!f)
            continue;
        uint8_t least = e.map.least;
        ptc_outline_put(&c->os, &e, f->name,
                        f->optional ? ptc_outline_join(&c->os, f->of, &ptc_outline_nil) : f->of);
        if (f->optional)
            e.map.least = least;
    }
    return ptc_outline_make(&c->os, &e.map);
}

static const PtcOutline *vals(Checker *c, const PtcOutline *m)
{
    if (ptc_outline_is_tuple(m) && m->flags & PTC_OUTLINE_ENTRY)
        return m->fields[1].of;
    if ((m->kinds & ~(unsigned)PTC_IS_NIL) != PTC_IS_MAP)
        return NULL;
    PtcOutline o = {.kinds = PTC_IS_LIST | (m->least && m->kinds == PTC_IS_MAP ? 0 : PTC_IS_NIL),
                    .least = m->kinds == PTC_IS_MAP ? m->least : 0,
                    .flags = m->flags & PTC_OUTLINE_GIVEN,
                    .item = ptc_outline_member(&c->os, m)};
    if (o.item == &ptc_outline_any)
        o.item = NULL;
    return ptc_outline_make(&c->os, &o);
}

static const PtcOutline *update_vals(Checker *c, const RuleCall *call)
{
    const PtcOutline *m = call->args[0], *old = ptc_outline_member(&c->os, m);
    if (call->argc != 2 || m->kinds != PTC_IS_MAP)
        return NULL;
    const PtcOutline *rest = ptc_check_callback(c, call->at, call->args[1], &old, 1, m->least);
    PtcOutline o = {.kinds = PTC_IS_MAP, .least = m->least, .rest = rest->kinds ? rest : NULL};
    return ptc_outline_make(&c->os, &o);
}

static const PtcOutline *zipmap(Checker *c, const RuleCall *call)
{
    PtcOutline o = {.kinds = PTC_IS_MAP};
    o.rest = call->argc == 2 ? ptc_outline_item(&c->os, call->args[1]) : NULL;
    if (!o.rest || o.rest->kinds == 0)
        return NULL;
    return ptc_outline_make(&c->os, &o);
}

const PtcOutline *ptc_check_map_rule(Checker *c, PtcRule rule, const RuleCall *call)
{
    PtcText name;
    switch (rule) {
    case PTC_RULE_GET: return get(c, call);
    case PTC_RULE_GET_IN: return get_in(c, call);
    case PTC_RULE_CONTAINS:
        if (call->argc == 2 && name_of(call->args[1], &name))
            ptc_check_note_tested(c, ptc_str_hash(call->args[1]->literal));
        return ptc_outline_of_kinds(&c->os, PTC_IS_BOOL);
    case PTC_RULE_ASSOC: return assoc(c, call);
    case PTC_RULE_ASSOC_IN: return call->argc == 3 ? put_in(c, call) : NULL;
    case PTC_RULE_DISSOC: return dissoc(c, call);
    case PTC_RULE_UPDATE: return update(c, call);
    case PTC_RULE_UPDATE_IN: return update_in(c, call);
    case PTC_RULE_MERGE: return merge(c, call);
    case PTC_RULE_SELECT_KEYS: return select_keys(c, call);
    case PTC_RULE_VALS: return vals(c, call->args[0]);
    case PTC_RULE_UPDATE_VALS: return update_vals(c, call);
    case PTC_RULE_ZIPMAP: return zipmap(c, call);
    default: return NULL;
    }
}
