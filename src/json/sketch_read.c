/* SPDX-License-Identifier: MIT
 * Text to what is known of values.  What always holds: recursion is counted, so is every type, and a text that is wrong
 * anywhere gives nothing. */
#include "base/utf8.h"
#include "json/sketch.h"

typedef struct {
    PtcArena *arena;
    const char *p, *end;
    int depth, parts;
    bool marked; /* the last type had a ? */
} SketchReader;

static const PtcSketch *read_union(SketchReader *r);

/* --------------------------------------------------------------------------------- tokens */

static bool at_sketch_char(const SketchReader *r, char c)
{
    return r->p < r->end && *r->p == c;
}

static void skip_sketch_space(SketchReader *r)
{
    while (r->p < r->end && ptc_ascii_is_space(*r->p))
        r->p++;
}

static bool take_sketch_char(SketchReader *r, char c)
{
    skip_sketch_space(r);
    bool there = at_sketch_char(r, c);
    r->p += there;
    return there;
}

static bool take_dots(SketchReader *r)
{
    skip_sketch_space(r);
    bool there = ptc_text_starts((PtcText){r->p, (size_t)(r->end - r->p)}, "...");
    r->p += there ? 3 : 0;
    return there;
}

/* Up to a space or a mark; empty: there is none. */
static PtcText take_word(SketchReader *r)
{
    const char *from = r->p;
    while (r->p < r->end && (unsigned char)*r->p > ' ' && *r->p != 0x7f &&
           !memchr("\"{}[]|?!,", *r->p, 9))
        r->p++;
    return (PtcText){from, (size_t)(r->p - from)};
}

/* The digits of \u0041 or \u{41}; false: there are none. */
static bool take_hex(SketchReader *r, uint32_t *code)
{
    bool braced = at_sketch_char(r, '{');
    int digits = 0, most = braced ? 6 : 4;
    *code = 0;
    r->p += braced;
    for (; digits < most && r->p < r->end && ptc_ascii_hex_value(*r->p) >= 0; digits++)
        *code = *code * 16 + (uint32_t)ptc_ascii_hex_value(*r->p++);
    if (!braced)
        return digits == 4;
    bool ended = digits > 0 && at_sketch_char(r, '}');
    r->p += ended;
    return ended;
}

/* What follows a backslash. */
static bool take_escape(SketchReader *r, PtcBuf *to)
{
    static const char marks[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char utf8[4];
    uint32_t code;
    if (r->p == r->end)
        return false;
    char c = *r->p++;
    const char *mark = c ? strchr(marks, c) : NULL;
    if (mark)
        return ptc_buf_add_char(to, meant[mark - marks]);
    size_t n = c == 'u' && take_hex(r, &code) ? ptc_utf8_encode(code, utf8) : 0;
    return n && ptc_buf_add(to, utf8, n);
}

static PtcText copy_sketch_text(SketchReader *r, PtcText text)
{
    char *bytes = ptc_arena_alloc(r->arena, text.len + 1);
    if (bytes && text.len)
        memcpy(bytes, text.bytes, text.len);
    return (PtcText){bytes, text.len};
}

/* Behind the quote; absent: it does not end, or out of memory. */
static PtcText take_string(SketchReader *r)
{
    PtcBuf text;
    bool ok = true;
    ptc_buf_init(&text, r->arena->mem, PTC_SKETCH_BYTES);
    while (ok && r->p < r->end && *r->p != '"') {
        char c = *r->p++;
        ok = c == '\\' ? take_escape(r, &text)
                       : (unsigned char)c >= ' ' && ptc_buf_add_char(&text, c);
    }
    ok = ok && take_sketch_char(r, '"');
    r->arena->failed = r->arena->failed || text.failed;
    PtcText out = ok ? copy_sketch_text(r, ptc_buf_view(&text)) : (PtcText){NULL, 0};
    ptc_buf_deinit(&text);
    return out;
}

/* ---------------------------------------------------------------------------------- types */

/* NULL: too many, or out of memory. */
static PtcSketch *new_sketch(SketchReader *r, PtcSketchKind kind)
{
    PtcSketch *s = ++r->parts <= PTC_SKETCH_PARTS ? ptc_arena_zalloc(r->arena, sizeof *s) : NULL;
    if (s)
        s->kind = kind;
    return s;
}

static const PtcSketch *new_literal(SketchReader *r, PtcSketchKind kind, PtcText text)
{
    PtcSketch *s = text.bytes ? new_sketch(r, kind) : NULL;
    if (s)
        s->literal = text;
    return s;
}

/* What has a point or an exponent is any number; of others the value is known. */
static const PtcSketch *number_named(SketchReader *r, PtcText word)
{
    bool whole = true;
    for (size_t i = *word.bytes == '-'; i < word.len; i++)
        if (!ptc_ascii_is_digit(word.bytes[i])) {
            whole = false;
            if (!strchr(".eE+-", word.bytes[i]))
                return NULL;
        }
    if (!ptc_ascii_is_digit(word.bytes[word.len - 1]))
        return NULL;
    return whole ? new_literal(r, PTC_SKETCH_INT, copy_sketch_text(r, word))
                 : new_sketch(r, PTC_SKETCH_NUMBER);
}

static const PtcSketch *type_named(SketchReader *r, PtcText word)
{
    static const struct {
        const char *name;
        PtcSketchKind kind;
    } names[] = {
        {"any", PTC_SKETCH_ANY},           {"unknown", PTC_SKETCH_ANY},
        {"nil", PTC_SKETCH_NIL},           {"bool", PTC_SKETCH_BOOL},
        {"boolean", PTC_SKETCH_BOOL},      {"int", PTC_SKETCH_INT},
        {"number", PTC_SKETCH_NUMBER},     {"float", PTC_SKETCH_NUMBER},
        {"string", PTC_SKETCH_STRING},     {"keyword", PTC_SKETCH_KEYWORD},
        {"datetime", PTC_SKETCH_DATETIME}, {"map", PTC_SKETCH_MAP},
    };
    if (ptc_text_is(word, "true") || ptc_text_is(word, "false"))
        return new_literal(r, PTC_SKETCH_BOOL, copy_sketch_text(r, word));
    if (word.len && (*word.bytes == '-' || ptc_ascii_is_digit(*word.bytes)))
        return number_named(r, word);
    if (ptc_text_starts(word, ":"))
        word = (PtcText){word.bytes + 1, word.len - 1};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ptc_text_is(word, names[i].name))
            return new_sketch(r, names[i].kind);
    return NULL;
}

static const PtcSketch *read_list(SketchReader *r)
{
    PtcSketch *list = new_sketch(r, PTC_SKETCH_LIST);
    if (!list || take_sketch_char(r, ']'))
        return list;
    list->item = read_union(r);
    return list->item && take_sketch_char(r, ']') ? list : NULL;
}

static bool read_member(SketchReader *r, PtcSketch *map)
{
    skip_sketch_space(r);
    bool quoted = take_sketch_char(r, '"');
    PtcText name = quoted ? take_string(r) : copy_sketch_text(r, take_word(r));
    if (!name.bytes || (!quoted && (name.len == 0 || strchr(":*", *name.bytes))))
        return false;
    bool optional = at_sketch_char(r, '?');
    r->p += optional;
    const PtcSketch *type = read_union(r);
    if (!type)
        return false;
    PtcSketchField *fields =
        ptc_arena_push(r->arena, (void *)(uintptr_t)map->fields, map->count, sizeof *fields);
    if (!fields)
        return false;
    /* What may be nil may be absent too, as in signatures. */
    fields[map->count++] = (PtcSketchField){name, type, optional || r->marked};
    map->fields = fields;
    return true;
}

static bool read_part(SketchReader *r, PtcSketch *map, bool *cut)
{
    if (take_dots(r)) {
        *cut = true;
        return true;
    }
    if (!take_sketch_char(r, '*'))
        return read_member(r, map);
    return !map->item && (map->item = read_union(r));
}

/* Nothing is said of other members once some were left out. */
static const PtcSketch *read_map(SketchReader *r)
{
    PtcSketch *map = new_sketch(r, PTC_SKETCH_MAP);
    bool cut = false, empty = map && take_sketch_char(r, '}');
    if (!map)
        return NULL;
    if (!empty) {
        do {
            if (!read_part(r, map, &cut))
                return NULL;
        } while (take_sketch_char(r, ','));
        if (!take_sketch_char(r, '}'))
            return NULL;
    }
    map->closed = at_sketch_char(r, '!');
    r->p += map->closed;
    map->closed = map->closed && !cut && !map->item;
    if (cut)
        map->item = NULL;
    return map;
}

static const PtcSketch *read_one(SketchReader *r)
{
    if (take_dots(r))
        return new_sketch(r, PTC_SKETCH_ANY);
    if (take_sketch_char(r, '['))
        return read_list(r);
    if (take_sketch_char(r, '{'))
        return read_map(r);
    if (take_sketch_char(r, '"'))
        return new_literal(r, PTC_SKETCH_STRING, take_string(r));
    PtcText word = take_word(r);
    return word.len ? type_named(r, word) : NULL;
}

/* Adds a type, or what it consists of.  What may be anything is nothing else. */
static bool add_alternative(SketchReader *r, PtcSketch *all, const PtcSketch *one)
{
    bool many = one->kind == PTC_SKETCH_UNION;
    if (one->kind == PTC_SKETCH_ANY)
        all->kind = PTC_SKETCH_ANY;
    for (uint32_t i = 0; i < (many ? one->count : 1); i++) {
        const PtcSketch **of =
            ptc_arena_push(r->arena, (void *)(uintptr_t)all->of, all->count, sizeof *of);
        if (!of)
            return false;
        of[all->count++] = many ? one->of[i] : one;
        all->of = of;
    }
    return true;
}

/* What may be anything is nothing else. */
static const PtcSketch *settle_union(PtcSketch *all)
{
    if (all->kind == PTC_SKETCH_ANY)
        *all = (PtcSketch){.kind = PTC_SKETCH_ANY};
    return all;
}

/* With the ? behind it, if there is one. */
static const PtcSketch *read_marked(SketchReader *r)
{
    const PtcSketch *one = read_one(r);
    r->marked = one && at_sketch_char(r, '?');
    if (!r->marked)
        return one;
    r->p++;
    PtcSketch *all = new_sketch(r, PTC_SKETCH_UNION), *nil = new_sketch(r, PTC_SKETCH_NIL);
    bool ok = all && nil && add_alternative(r, all, one) && add_alternative(r, all, nil);
    return ok ? settle_union(all) : NULL;
}

static const PtcSketch *read_alternatives(SketchReader *r)
{
    const PtcSketch *one = read_marked(r);
    if (!one || !take_sketch_char(r, '|'))
        return one;
    PtcSketch *all = new_sketch(r, PTC_SKETCH_UNION);
    bool ok = all && add_alternative(r, all, one);
    do
        ok = ok && (one = read_marked(r)) && add_alternative(r, all, one);
    while (ok && take_sketch_char(r, '|'));
    return ok ? settle_union(all) : NULL;
}

static const PtcSketch *read_union(SketchReader *r)
{
    skip_sketch_space(r);
    if (r->depth == PTC_SKETCH_DEPTH)
        return NULL;
    r->depth++;
    const PtcSketch *s = read_alternatives(r);
    r->depth--;
    return s;
}

bool ptc_sketch_read(PtcArena *arena, PtcText text, const PtcSketch **out)
{
    if (!text.bytes || text.len > PTC_SKETCH_BYTES || !ptc_utf8_valid(text.bytes, text.len))
        return false;
    SketchReader r = {.arena = arena, .p = text.bytes, .end = text.bytes + text.len};
    *out = read_union(&r);
    skip_sketch_space(&r);
    return *out && r.p == r.end;
}
