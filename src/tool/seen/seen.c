/* SPDX-License-Identifier: MIT
 * What was seen of results, gathered in nodes that grow with each, then written.  What always holds: of values only
 * their kind goes into a node, and of keys only names (seen_key.c); looking at a result is bounded, however large it
 * is, and so is what is written.  Recursion stops at PTC_SEEN_DEPTH. */
#include "tool/seen/seen.h"

#include "base/arena.h"
#include "json/sketch.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/number/decimal.h"
#include "value/str.h"

enum { SEEN_VALUE_COSTS = 16, SEEN_COMPARED = 8, SEEN_UNION = 4 };

#define SEEN_BIT(kind) (1u << (kind))

typedef struct SeenNode SeenNode;

typedef struct {
    PtcText name;
    SeenNode *type;
    uint32_t last; /* map of the node that had it */
    bool optional; /* not all had */
} SeenField;

struct SeenNode {
    unsigned kinds;         /* SEEN_BIT; 0: nothing was looked at */
    uint32_t maps;          /* that were seen */
    uint32_t count;         /* of fields, at most PTC_SEEN_KEYS */
    SeenField *fields;      /* with names, in the order in which they came */
    SeenNode *other, *item; /* members whose keys are data; items of lists; NULL: none */
};

typedef struct {
    PtcArena arena;
    const PtcSecrets *secrets;
    uint32_t maps; /* that may still be looked at */
    size_t bytes;
} Seeing;

/* How much of it is written. */
typedef struct {
    int levels; /* maps inside each other */
    uint32_t keys;
} SeenCut;

static SeenNode *seen_part(Seeing *s, SeenNode **part)
{
    if (!*part)
        *part = ptc_arena_zalloc(&s->arena, sizeof **part);
    return *part;
}

/* ------------------------------------------------------------------------------- members */

static bool is_key_named(Seeing *s, PtcText key)
{
    size_t len;
    return !ptc_seen_is_data(key) &&
           (!s->secrets || ptc_secrets_find(s->secrets, key, 0, &len) == key.len);
}

/* Members mostly come in the same order: `from` is where this one may be. */
static SeenField *find_seen_field(SeenNode *n, PtcText key, uint32_t from)
{
    for (uint32_t i = 0; i < n->count; i++) {
        SeenField *f = &n->fields[(from + i) % n->count];
        if (ptc_text_same(f->name, key))
            return f;
    }
    return NULL;
}

static SeenField *add_seen_field(Seeing *s, SeenNode *n, PtcText key)
{
    char *name = ptc_arena_alloc(&s->arena, key.len);
    SeenNode *type = ptc_arena_zalloc(&s->arena, sizeof *type);
    SeenField *fields = ptc_arena_push(&s->arena, n->fields, n->count, sizeof *fields);
    if (!name || !type || !fields)
        return NULL;
    memcpy(name, key.bytes, key.len);
    n->fields = fields;
    fields[n->count] = (SeenField){{name, key.len}, type, 0, n->maps > 1};
    return &fields[n->count++];
}

/* Where the member of the map that is looked at goes; NULL: out of memory. */
static SeenNode *seen_member(Seeing *s, SeenNode *n, PtcText key, uint32_t from, bool optional)
{
    SeenField *f = key.bytes ? find_seen_field(n, key, from) : NULL;
    if (!f && key.bytes && n->count < PTC_SEEN_KEYS && is_key_named(s, key)) {
        if (!(f = add_seen_field(s, n, key)))
            return NULL;
    }
    if (!f)
        return seen_part(s, &n->other);
    f->last = n->maps;
    f->optional = f->optional || optional;
    return f->type;
}

/* What the map did not have that was looked at. */
static void end_seen_map(SeenNode *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        n->fields[i].optional = n->fields[i].optional || n->fields[i].last != n->maps;
}

/* -------------------------------------------------------------------------------- values */

static void see_value(Seeing *s, SeenNode *n, PtcValue v, int depth);

static bool may_look(Seeing *s, size_t bytes)
{
    bool may = s->bytes >= bytes && !s->arena.failed;
    s->bytes = may ? s->bytes - bytes : 0;
    return may;
}

static void see_list(Seeing *s, SeenNode *n, PtcValue list, int depth)
{
    size_t count = ptc_seq_count(list);
    SeenNode *item = count ? seen_part(s, &n->item) : NULL;
    if (item && depth == PTC_SEEN_DEPTH)
        item->kinds |= SEEN_BIT(PTC_SKETCH_ANY);
    for (size_t i = 0; item && depth < PTC_SEEN_DEPTH && i < count && s->maps && s->bytes; i++)
        see_value(s, item, ptc_seq_nth(list, i), depth + 1);
}

static void see_map(Seeing *s, SeenNode *n, PtcValue map, int depth)
{
    PtcValue key, value;
    uint32_t at = 0;
    bool whole = true;
    if (s->maps == 0 || depth == PTC_SEEN_DEPTH)
        return;
    s->maps--;
    n->maps++;
    for (size_t pos = 0; whole && ptc_map_next(map, &pos, &key, &value); at++) {
        PtcText name = ptc_is_named(key) ? ptc_str_text(key) : (PtcText){NULL, 0};
        whole = may_look(s, name.len);
        SeenNode *member = whole ? seen_member(s, n, name, at, false) : NULL;
        whole = member != NULL;
        if (member)
            see_value(s, member, value, depth + 1);
    }
    if (whole)
        end_seen_map(n);
}

static PtcSketchKind seen_kind(PtcValue v)
{
    return v == PTC_NIL           ? PTC_SKETCH_NIL
           : ptc_is_bool(v)       ? PTC_SKETCH_BOOL
           : ptc_is_integer(v)    ? PTC_SKETCH_INT
           : ptc_is_number(v)     ? PTC_SKETCH_NUMBER
           : ptc_is_decimal(v)    ? PTC_SKETCH_NUMBER
           : ptc_is_string(v)     ? PTC_SKETCH_STRING
           : ptc_is_keyword(v)    ? PTC_SKETCH_KEYWORD
           : ptc_is_map(v)        ? PTC_SKETCH_MAP
           : ptc_is_sequential(v) ? PTC_SKETCH_LIST
                                  : PTC_SKETCH_ANY;
}

static void see_value(Seeing *s, SeenNode *n, PtcValue v, int depth)
{
    PtcSketchKind kind = seen_kind(v);
    if (!may_look(s, SEEN_VALUE_COSTS))
        return;
    n->kinds |= SEEN_BIT(kind);
    if (kind == PTC_SKETCH_MAP)
        see_map(s, n, v, depth);
    else if (kind == PTC_SKETCH_LIST)
        see_list(s, n, v, depth);
}

/* ------------------------------------------------------------------------------ sketches */

static void see_sketch(Seeing *s, SeenNode *n, const PtcSketch *k, int depth);

static void see_sketched_map(Seeing *s, SeenNode *n, const PtcSketch *k, int depth)
{
    n->maps++;
    for (uint32_t i = 0; i < k->count && depth < PTC_SEEN_DEPTH; i++) {
        const PtcSketchField *f = &k->fields[i];
        SeenNode *member = seen_member(s, n, f->name, i, f->optional);
        if (member)
            see_sketch(s, member, f->type, depth + 1);
    }
    SeenNode *other = k->item && depth < PTC_SEEN_DEPTH ? seen_part(s, &n->other) : NULL;
    if (other)
        see_sketch(s, other, k->item, depth + 1);
    end_seen_map(n);
}

static void see_sketch(Seeing *s, SeenNode *n, const PtcSketch *k, int depth)
{
    if (k->kind == PTC_SKETCH_UNION) {
        for (uint32_t i = 0; i < k->count; i++)
            see_sketch(s, n, k->of[i], depth);
        return;
    }
    n->kinds |= SEEN_BIT(k->kind);
    if (k->kind == PTC_SKETCH_MAP)
        see_sketched_map(s, n, k, depth);
    SeenNode *item = k->kind == PTC_SKETCH_LIST && k->item ? seen_part(s, &n->item) : NULL;
    if (item && depth == PTC_SEEN_DEPTH)
        item->kinds |= SEEN_BIT(PTC_SKETCH_ANY);
    else if (item)
        see_sketch(s, item, k->item, depth + 1);
}

/* ------------------------------------------------------------------------------- to text */

static const PtcSketch *sketch_of(Seeing *s, const SeenNode *n, SeenCut cut);

static const PtcSketch any_seen = {.kind = PTC_SKETCH_ANY};

/* Members that are left out may be anything. */
static bool sketch_map(Seeing *s, const SeenNode *n, SeenCut cut, PtcSketch *out)
{
    if (cut.levels-- == 0)
        return true;
    uint32_t count = n->count < cut.keys ? n->count : cut.keys;
    PtcSketchField *fields = ptc_arena_zalloc(&s->arena, (count + 1) * sizeof *fields);
    for (uint32_t i = 0; fields && i < count; i++) {
        const SeenField *f = &n->fields[i];
        fields[i] = (PtcSketchField){f->name, sketch_of(s, f->type, cut), f->optional};
        if (!fields[i].type)
            return false;
    }
    out->fields = fields;
    out->count = count;
    if (count < n->count)
        out->item = &any_seen;
    else if (n->other)
        out->item = sketch_of(s, n->other, cut);
    return fields && (out->item || !n->other);
}

static const PtcSketch *sketch_kind(Seeing *s, const SeenNode *n, PtcSketchKind kind, SeenCut cut)
{
    PtcSketch *out = ptc_arena_zalloc(&s->arena, sizeof *out);
    if (!out)
        return NULL;
    out->kind = kind;
    if (kind == PTC_SKETCH_MAP && !sketch_map(s, n, cut, out))
        return NULL;
    if (kind == PTC_SKETCH_LIST && n->item && !(out->item = sketch_of(s, n->item, cut)))
        return NULL;
    return out;
}

/* nil comes last, as readers expect. */
static const PtcSketch *sketch_of(Seeing *s, const SeenNode *n, SeenCut cut)
{
    static const PtcSketchKind order[] = {
        PTC_SKETCH_BOOL,   PTC_SKETCH_INT,     PTC_SKETCH_NUMBER,
        PTC_SKETCH_STRING, PTC_SKETCH_KEYWORD, PTC_SKETCH_DATETIME,
        PTC_SKETCH_LIST,   PTC_SKETCH_MAP,     PTC_SKETCH_NIL};
    const PtcSketch *of[SEEN_UNION];
    uint32_t count = 0;
    unsigned kinds = n->kinds;
    if (kinds & SEEN_BIT(PTC_SKETCH_NUMBER))
        kinds &= ~SEEN_BIT(PTC_SKETCH_INT);
    if (kinds == 0 || kinds & SEEN_BIT(PTC_SKETCH_ANY) || __builtin_popcount(kinds) > SEEN_UNION)
        return &any_seen;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (kinds & SEEN_BIT(order[i]) && !(of[count++] = sketch_kind(s, n, order[i], cut)))
            return NULL;
    if (count == 1)
        return of[0];
    PtcSketch *out = ptc_arena_zalloc(&s->arena, sizeof *out);
    const PtcSketch **all = ptc_arena_alloc(&s->arena, sizeof of);
    if (!out || !all)
        return NULL;
    memcpy(all, of, count * sizeof *of);
    *out = (PtcSketch){.kind = PTC_SKETCH_UNION, .count = count, .of = all};
    return out;
}

/* ------------------------------------------------------------------------------ settling */

/* Maps are when they share half of their first names. */
static bool are_maps_alike(SeenNode *a, SeenNode *b)
{
    uint32_t looked = a->count < SEEN_COMPARED ? a->count : SEEN_COMPARED, shared = 0;
    if (a->count == 0 || b->count == 0)
        return true;
    for (uint32_t i = 0; i < looked; i++)
        shared += find_seen_field(b, a->fields[i].name, i) != NULL;
    return 2 * shared >= looked;
}

static unsigned shape_kinds(const SeenNode *n)
{
    unsigned numbers = SEEN_BIT(PTC_SKETCH_INT) | SEEN_BIT(PTC_SKETCH_NUMBER);
    unsigned kinds = n->kinds & ~SEEN_BIT(PTC_SKETCH_NIL);
    return kinds & numbers ? kinds | numbers : kinds;
}

/* Is it of the shape of the other, whether or not it may be nil? */
static bool is_alike(SeenNode *n, SeenNode *like)
{
    unsigned kinds = shape_kinds(n);
    bool fewer = n->count < like->count;
    if (kinds == 0 || kinds != shape_kinds(like))
        return kinds == 0;
    return !(kinds & SEEN_BIT(PTC_SKETCH_MAP)) ||
           are_maps_alike(fewer ? n : like, fewer ? like : n);
}

/* Members like this one lose their names. */
static void absorb_alike(Seeing *s, SeenNode *n, SeenNode *like)
{
    uint32_t left = 0;
    SeenNode *other = seen_part(s, &n->other);
    for (uint32_t i = 0; other && i < n->count; i++) {
        SeenField *f = &n->fields[i];
        bool alike = is_alike(f->type, like);
        const PtcSketch *k =
            alike ? sketch_of(s, f->type, (SeenCut){PTC_SEEN_DEPTH, PTC_SEEN_KEYS}) : NULL;
        if (k)
            see_sketch(s, other, k, 1);
        else if (!alike)
            n->fields[left++] = *f;
    }
    n->count = other ? left : n->count;
}

static void absorb_crowds(Seeing *s, SeenNode *n)
{
    for (uint32_t i = 0; n->count - i > PTC_SEEN_ALIKE && i < n->count; i++) {
        uint32_t alike = 1;
        SeenNode *like = n->fields[i].type;
        for (uint32_t j = i + 1; j < n->count; j++)
            alike += is_alike(n->fields[j].type, like);
        if (alike <= PTC_SEEN_ALIKE)
            continue;
        absorb_alike(s, n, like);
        i = (uint32_t)-1; /* the others have moved */
    }
}

/* Keys that turn out to be data, once everything was seen. */
static void settle_seen(Seeing *s, SeenNode *n, int depth)
{
    if (depth > PTC_SEEN_DEPTH)
        return;
    for (uint32_t i = 0; i < n->count; i++)
        settle_seen(s, n->fields[i].type, depth + 1);
    if (n->item)
        settle_seen(s, n->item, depth + 1);
    absorb_crowds(s, n);
    if (!n->other)
        return;
    SeenNode like = *n->other; /* as it was before it takes in others */
    absorb_alike(s, n, &like);
    settle_seen(s, n->other, depth + 1);
}

/* All of it, or the most that fits. */
static bool write_seen(Seeing *s, SeenNode *n, PtcBuf *out)
{
    static const SeenCut cuts[] = {{PTC_SEEN_DEPTH, PTC_SEEN_KEYS},
                                   {4, 48},
                                   {3, 32},
                                   {3, 16},
                                   {2, 32},
                                   {2, 12},
                                   {1, 24},
                                   {1, 8},
                                   {0, 0}};
    PtcBuf text;
    bool fits = false;
    settle_seen(s, n, 0);
    ptc_buf_init(&text, s->arena.mem, PTC_SEEN_BYTES);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts && !fits && !s->arena.failed; i++) {
        const PtcSketch *k = sketch_of(s, n, cuts[i]);
        ptc_buf_clear(&text);
        if (k)
            ptc_sketch_write(&text, k);
        fits = k && ptc_buf_ok(&text);
    }
    if (fits)
        ptc_buf_add(out, text.data, text.len);
    ptc_buf_deinit(&text);
    return fits && !s->arena.failed && ptc_buf_ok(out);
}

static void begin_seeing(Seeing *s, PtcMem *mem, const PtcSecrets *secrets)
{
    *s = (Seeing){.secrets = secrets, .maps = PTC_SEEN_MAPS, .bytes = PTC_SEEN_LOOKED};
    ptc_arena_init(&s->arena, mem);
}

bool ptc_seen_shape(PtcMem *mem, const PtcSecrets *secrets, PtcValue result, PtcBuf *out)
{
    Seeing s;
    SeenNode root = {0};
    begin_seeing(&s, mem, secrets);
    see_value(&s, &root, result, 0);
    bool ok = write_seen(&s, &root, out);
    ptc_arena_deinit(&s.arena);
    return ok;
}

bool ptc_seen_merge(PtcMem *mem, const PtcSecrets *secrets, PtcText one, PtcText other, PtcBuf *out)
{
    Seeing s;
    SeenNode root = {0};
    const PtcText texts[] = {one, other};
    begin_seeing(&s, mem, secrets);
    for (int i = 0; i < 2; i++) {
        const PtcSketch *k;
        if (ptc_sketch_read(&s.arena, texts[i], &k))
            see_sketch(&s, &root, k, 0);
    }
    bool ok = write_seen(&s, &root, out);
    ptc_arena_deinit(&s.arena);
    return ok;
}

void ptc_seen_add_short(PtcBuf *out, PtcText shape, size_t most)
{
    const PtcSketch *k;
    PtcArena arena;
    ptc_arena_init(&arena, out->mem);
    bool read = ptc_sketch_read(&arena, shape, &k);
    ptc_sketch_write_short(out, read ? k : &any_seen, most);
    ptc_arena_deinit(&arena);
}

/* Recursion is as deep as the text, which is bounded (PTC_SKETCH_DEPTH). */
static bool is_sketch_open(const PtcSketch *k)
{
    bool open = k->kind == PTC_SKETCH_ANY || (k->item && is_sketch_open(k->item));
    if (k->kind == PTC_SKETCH_MAP)
        open = open || (k->count == 0 && !k->item && !k->closed);
    for (uint32_t i = 0; !open && i < k->count; i++)
        open = is_sketch_open(k->kind == PTC_SKETCH_MAP ? k->fields[i].type : k->of[i]);
    return open;
}

bool ptc_seen_leaves_open(PtcMem *mem, PtcText declared)
{
    const PtcSketch *k;
    PtcArena arena;
    ptc_arena_init(&arena, mem);
    bool open = ptc_sketch_read(&arena, declared, &k) && is_sketch_open(k);
    ptc_arena_deinit(&arena);
    return open;
}
