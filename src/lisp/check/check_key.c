/* SPDX-License-Identifier: MIT
 * Keys that are asked for.  A key is wrong at a place only if nothing that comes there has it: that is known at the
 * end, so what was asked for is kept until then. */
#include <stdio.h>

#include "lisp/analyze/suggest.h"
#include "lisp/check/check_int.h"

enum { KEY_PREFIX = 3 };

/* --------------------------------------------------------------------------- remembering */

static Lookup *find_lookup(Checker *c, const PtcExpr *at, PtcText key)
{
    for (uint32_t i = 0; i < c->lookup_count; i++) {
        Lookup *l = &c->lookups[i];
        if (l->at == at && l->key.len == key.len &&
            (key.len == 0 || memcmp(l->key.bytes, key.bytes, key.len) == 0))
            return l;
    }
    return NULL;
}

static Lookup *note_lookup(Checker *c, const PtcExpr *at, PtcText key)
{
    Lookup *l = find_lookup(c, at, key);
    if (l)
        return l;
    Lookup *all = c->lookup_count == CHECK_LOOKUPS
                      ? NULL
                      : ptc_arena_push(c->arena, c->lookups, c->lookup_count, sizeof *all);
    if (!all) {
        c->silent = true;
        return NULL;
    }
    c->lookups = all;
    l = &all[c->lookup_count++];
    *l = (Lookup){.at = at, .key = key, .fn = c->fn};
    ptc_check_place(c, at, &l->first, &l->last);
    return l;
}

static void note_hit(Checker *c, const PtcExpr *at, PtcText key)
{
    Lookup *l = note_lookup(c, at, key);
    if (l)
        l->hit = true;
}

/* A step of some->, which goes on only while there is something. */
static bool is_threaded(const PtcExpr *at)
{
    const PtcExpr *x = at->count > 0 ? at->items[0] : NULL;
    const PtcLocal *local = x && x->kind == PTC_X_LOCAL ? x->local : NULL;
    return local && ptc_text_is((PtcText){local->name, local->len}, " threaded ");
}

static void note_miss(Checker *c, const PtcExpr *at, PtcText key, const PtcOutline *map, bool pair)
{
    Lookup *l = c->dry ? NULL : note_lookup(c, at, key);
    if (!l)
        return;
    if (!l->map)
        l->map = map;
    l->pair = pair;
    l->asked |= c->asking > 0 || is_threaded(at);
    l->wondered |= c->wondering;
    l->wrote |= c->here.wrote && !c->here.muted;
    l->heard |= !c->here.muted;
}

/* Through what only asks about its argument. */
static bool is_question(const PtcExpr *x)
{
    if (x->kind != PTC_X_CALLB || x->count == 0)
        return false;
    PtcRule rule = ptc_row_rule(ptc_builtin_row(x->index)->flags);
    return rule == PTC_RULE_KIND_TEST || rule == PTC_RULE_NOT || rule == PTC_RULE_SEQ ||
           rule == PTC_RULE_EQUAL;
}

void ptc_check_key_asked(Checker *c, const PtcExpr *x)
{
    for (int depth = 0; depth < 4; depth++)
        if (is_question(x))
            x = x->items[0];
        else if (x->kind == PTC_X_LOCAL && x->local->init)
            x = x->local->init;
    for (uint32_t i = 0; i < c->lookup_count; i++)
        if (c->lookups[i].at == x)
            c->lookups[i].asked = true;
}

/* ---------------------------------------------------------------------------------- asking */

/* nil, because the map has no such key. */
static const PtcOutline *missing(Checker *c, const PtcOutline *map, const PtcOutline *key)
{
    if (map->flags & PTC_OUTLINE_SEEN)
        return &ptc_outline_any;
    PtcOutline o = {.kinds = PTC_IS_NIL,
                    .flags = map->flags & PTC_OUTLINE_DECLARED,
                    .item = map,
                    .source = ptc_str_hash(key->literal),
                    .literal = key->literal};
    return map->flags & PTC_OUTLINE_GIVEN || !(map->flags & PTC_OUTLINE_DECLARED)
               ? ptc_outline_make(&c->os, &o)
               : &ptc_outline_any;
}

static const PtcOutline *ask_map(Checker *c, PtcExpr *at, const PtcOutline *map,
                                 const PtcOutline *key, PtcText name, KeyAsk ask)
{
    const PtcOutlineField *f = ptc_outline_field(map, name);
    bool given = map->flags & PTC_OUTLINE_GIVEN && ask == KEY_READ;
    if (f || map->rest || map->flags & PTC_OUTLINE_OPEN) {
        if (ask == KEY_READ)
            note_hit(c, at, name);
        const PtcOutline *o = f ? f->of : map->rest ? map->rest : &ptc_outline_any;
        bool may_lack = !f || (f->optional && !(o->flags & PTC_OUTLINE_MAYBE));
        return may_lack ? ptc_outline_join(&c->os, o, &ptc_outline_nil) : o;
    }
    if (given)
        note_miss(c, at, name, map, false);
    else if (ask == KEY_READ && map->item)
        note_hit(c, at, name);
    return missing(c, map, key);
}

static const PtcOutline *nil_of(Checker *c, const PtcOutline *map)
{
    PtcOutline o = {.kinds = PTC_IS_NIL,
                    .flags = map->flags & PTC_OUTLINE_MAYBE,
                    .source = map->flags & PTC_OUTLINE_MAYBE ? map->source : 0};
    return o.flags ? ptc_outline_make(&c->os, &o) : &ptc_outline_nil;
}

const PtcOutline *ptc_check_key(Checker *c, PtcExpr *at, const PtcOutline *map,
                                const PtcOutline *key, KeyAsk ask)
{
    const PtcOutline *all = &ptc_outline_never;
    bool named = key->literal != PTC_NONE && key->kinds & (PTC_IS_KEYWORD | PTC_IS_STRING);
    if (map->kinds == 0 || key->kinds == 0)
        return &ptc_outline_never;
    if (!named)
        return map->kinds == PTC_IS_MAP
                   ? ptc_outline_join(&c->os, ptc_outline_member(&c->os, map), &ptc_outline_nil)
                   : &ptc_outline_any;
    PtcText name = {ptc_str_bytes(key->literal), ptc_str_len(key->literal)};
    if (c->asking || c->picking || ask == KEY_DEFAULT)
        ptc_check_note_tested(c, ptc_str_hash(key->literal));
    if (map->kinds & (PTC_IS_OTHER | PTC_IS_FN | PTC_IS_SET)) {
        note_hit(c, at, name);
        return &ptc_outline_any;
    }
    if (map->kinds & PTC_IS_MAP)
        all = ask_map(c, at, map, key, name, ask);
    if (map->kinds & PTC_IS_LIST) {
        if (map->flags & PTC_OUTLINE_GIVEN && ask == KEY_READ && key->kinds == PTC_IS_KEYWORD &&
            !(map->kinds & PTC_IS_MAP))
            note_miss(c, at, name, map, false);
        all = ptc_outline_join(&c->os, all, &ptc_outline_nil);
    }
    if (map->kinds & PTC_IS_NIL)
        all = ptc_outline_join(&c->os, all, nil_of(c, map));
    if (map->kinds & ~(unsigned)(PTC_IS_MAP | PTC_IS_LIST | PTC_IS_NIL))
        all = ptc_outline_join(&c->os, all, &ptc_outline_nil);
    return all;
}

void ptc_check_pair(Checker *c, PtcExpr *at, const PtcOutline *map)
{
    if ((map->kinds & ~(unsigned)PTC_IS_NIL) == PTC_IS_MAP && map->flags & PTC_OUTLINE_GIVEN)
        note_miss(c, at, PTC_TEXT(""), map, true);
    else
        note_hit(c, at, PTC_TEXT(""));
}

/* ------------------------------------------------------------------------------- near names */

static bool is_joint(char ch)
{
    return ch == '-' || ch == '_';
}

static size_t common_start(PtcText a, PtcText b)
{
    size_t n = 0;
    while (n < a.len && n < b.len &&
           (a.bytes[n] == b.bytes[n] || (is_joint(a.bytes[n]) && is_joint(b.bytes[n]))))
        n++;
    return n;
}

/* Are all letters of the shorter one in the longer, in their order, from its first on? */
static bool is_cut_short(PtcText a, PtcText b)
{
    if (a.len > b.len) {
        PtcText t = a;
        a = b;
        b = t;
    }
    size_t i = 0;
    for (size_t k = 0; k < b.len && i < a.len; k++)
        i += a.bytes[i] == b.bytes[k];
    return a.len >= KEY_PREFIX && i == a.len && a.bytes[0] == b.bytes[0];
}

/* Does one of them have the other as a word: price, unit_price? */
static bool has_word(PtcText a, PtcText b)
{
    if (a.len > b.len) {
        PtcText t = a;
        a = b;
        b = t;
    }
    for (size_t at = 0; a.len >= KEY_PREFIX && at + a.len <= b.len; at++)
        if ((at == 0 || is_joint(b.bytes[at - 1])) &&
            (at + a.len == b.len || is_joint(b.bytes[at + a.len])) &&
            memcmp(a.bytes, b.bytes + at, a.len) == 0)
            return true;
    return false;
}

/* The member that may have been meant; NULL: none is near. */
static const PtcOutlineField *near_field(const PtcOutline *map, PtcText key)
{
    const PtcOutlineField *best = NULL;
    size_t best_start = KEY_PREFIX - 1;
    PtcSuggest s;
    ptc_suggest_init(&s, key.bytes, key.len);
    for (size_t i = 0; i < map->count; i++)
        ptc_suggest_offer(&s, "", map->fields[i].name.bytes, map->fields[i].name.len,
                          PTC_SUGGEST_OWN);
    for (size_t i = 0; i < map->count && ptc_suggest_found(&s); i++)
        if (ptc_text_is(map->fields[i].name, s.best))
            return &map->fields[i];
    for (size_t i = 0; i < map->count; i++) {
        PtcText name = map->fields[i].name;
        size_t start = common_start(name, key);
        if (has_word(name, key) || is_cut_short(name, key))
            start += 2 * KEY_PREFIX;
        if (start > best_start) {
            best_start = start;
            best = &map->fields[i];
        }
    }
    return best;
}

/* The map that a member is, or that the elements of its list are. */
static const PtcOutline *map_in(const PtcOutline *o)
{
    if (o->kinds & PTC_IS_LIST && o->item)
        o = o->item;
    return o->kinds & PTC_IS_MAP ? o : NULL;
}

/* A member of a member: where the key is one level below. */
static const PtcOutlineField *below(const PtcOutline *map, PtcText key,
                                    const PtcOutlineField **inner)
{
    for (int near = 0; near < 2; near++)
        for (size_t i = 0; i < map->count; i++) {
            const PtcOutline *m = map_in(map->fields[i].of);
            const PtcOutlineField *f = !m     ? NULL
                                       : near ? near_field(m, key)
                                              : ptc_outline_field(m, key);
            if (f) {
                *inner = f;
                return &map->fields[i];
            }
        }
    return NULL;
}

/* ------------------------------------------------------------------------------- reporting */

/* What stands in the way of a map: a list of them, or an entry. */
static bool say_level(Finding *f, const Lookup *l)
{
    char asked[CHECK_WORD];
    const PtcOutline *o = l->map;
    const char *key = ptc_check_word(l->key, asked);
    if (l->pair) {
        char keys[160];
        ptc_check_list_keys(o, keys, sizeof keys);
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1,
                        "a map is taken apart here as if it were a pair; it has the keys %s", keys);
        ptc_diag_format(f->hint, PTC_HINT_MAX + 1,
                        "take it apart by its keys, {:keys [...]}, or walk the entries of a map");
        return true;
    }
    if (o->kinds & PTC_IS_MAP)
        return false;
    if (o->flags & PTC_OUTLINE_ENTRY) {
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1,
                        "the key :%s is asked of an entry [key value] of a map, and is nil", key);
        ptc_diag_format(f->hint, PTC_HINT_MAX + 1,
                        "the map is its value: (:%s (val entry)), or "
                        "walk (vals m)",
                        key);
        return true;
    }
    char keys[160] = "";
    if (o->item)
        ptc_check_list_keys(o->item, keys, sizeof keys);
    ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1,
                    keys[0] ? "the key :%s is asked of a list, and is nil; its elements have %s"
                            : "the key :%s is asked of a list%s, and is nil",
                    key, keys);
    ptc_diag_format(f->hint, PTC_HINT_MAX + 1,
                    "ask each element, (map :%s rows), or one, (:%s (first rows))", key, key);
    return true;
}

static bool say_key(Finding *f, const Lookup *l)
{
    char keys[200], word[CHECK_WORD], other[CHECK_WORD], asked[CHECK_WORD];
    const PtcOutlineField *inner, *near = near_field(l->map, l->key), *outer = NULL;
    const char *key = ptc_check_word(l->key, asked);
    if (!near)
        outer = below(l->map, l->key, &inner);
    ptc_check_list_keys(l->map, keys, sizeof keys);
    if (l->map->flags & PTC_OUTLINE_SEEN)
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1,
                        "no result had the key :%s so far; there were %s", key, keys);
    else
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1,
                        keys[0] ? "there is no key :%s here; there are %s"
                                : "there is no key :%s here%s, the map is empty",
                        key, keys);
    if (near)
        ptc_diag_format(f->hint, PTC_HINT_MAX + 1, "did you mean :%s?",
                        ptc_check_word(near->name, word));
    else if (outer)
        ptc_diag_format(f->hint, PTC_HINT_MAX + 1, "it is inside of :%s, as :%s",
                        ptc_check_word(outer->name, word), ptc_check_word(inner->name, other));
    else
        ptc_diag_format(f->hint, PTC_HINT_MAX + 1,
                        "if it may be there all the same, say what else it is: (get m :%s nil)",
                        key);
    return near || outer;
}

/* Whoever asks whether a key is there may well be told that it is not; unless another is so near that it was meant. */
static bool is_fair_question(const Lookup *l)
{
    const PtcOutlineField *inner;
    bool level = l->pair || !(l->map->kinds & PTC_IS_MAP);
    return (l->asked || l->wondered) && !level && !near_field(l->map, l->key) &&
           !below(l->map, l->key, &inner);
}

static void report_lookup(Checker *c, const Lookup *l)
{
    if (l->hit || !l->heard || !l->map || ptc_check_is_doubted(l->fn) || is_fair_question(l))
        return;
    c->placed = true;
    c->place_first = l->first;
    c->place_last = l->last;
    c->fn = l->fn;
    Finding *f = ptc_check_claim(c, l->at, false, PTC_E_KEY, PTC_W_UNKNOWN_KEY);
    if (!f)
        return;
    bool near = say_level(f, l) || say_key(f, l);
    f->error = near && l->wrote && !l->asked && !(l->map->flags & PTC_OUTLINE_SEEN);
}

void ptc_check_report_keys(Checker *c)
{
    c->here.muted = c->dry = false;
    for (uint32_t i = 0; i < c->lookup_count; i++)
        report_lookup(c, &c->lookups[i]);
}
