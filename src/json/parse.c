/* SPDX-License-Identifier: MIT
 * The parser's fast path: one loop and an explicit stack of open containers.  The elements of all open containers
 * lie on one scratch stack of values; closing a container turns its part into one object of exactly the right size.
 *
 * Data repeats itself, and three guesses make use of that:
 *  - an object probably has the keys of the object last closed at its depth: as long as its keys
 *    agree, they are compared in the text and neither made nor hashed;
 *  - another object may have had the same keys: a table of shapes finds it;
 *  - a short string was probably seen before: a table of strings hands it out again.
 *
 * Functions that read take the cursor and return it past what they read, or NULL. */
#include "json/parse.h"

#include "base/ascii.h"
#include "json/parse_int.h"
#include "json/swar.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/number/bigint.h"
#include "value/str.h"

enum {
    SHORT_STRING = 16, /* bytes; two words */
    SAFE_DIGITS = 18,  /* always fit the value word */
};

typedef PtcJsonParser Parser;
typedef PtcJsonLevel Level;

static inline const char *skip_parsed_space(const Parser *ps, const char *p)
{
    if (PTC_LIKELY(p < ps->end && (unsigned char)*p > ' '))
        return p;
    while (p < ps->end && ptc_ascii_is_space(*p))
        p++;
    return p;
}

static inline bool push_parsed_value(Parser *ps, PtcValue v)
{
    if (PTC_UNLIKELY(ps->top == ps->cap) && !ptc_json_grow(ps))
        return false;
    ps->stack[ps->top++] = v;
    return true;
}

/* -------------------------------------------------------------------- scalars */

/* A string of plain ASCII, which therefore counts as simple. */
static PtcValue ascii_string(PtcHeap *heap, const char *bytes, size_t len)
{
    PtcStr *s = ptc_heap_object(heap, PTC_T_STRING, sizeof(PtcStr) + len + 1, (uint32_t)len);
    if (PTC_UNLIKELY(!s))
        return PTC_NONE;
    s->obj.flags = PTC_STR_SIMPLE;
    atomic_init(&s->hash, 0);
    memcpy(s->bytes, bytes, len);
    s->bytes[len] = 0;
    return ptc_from_obj(s);
}

/* The first n bytes of a word. */
static inline uint64_t low_bytes(uint64_t w, size_t n)
{
    return n >= 8 ? w : w & (((uint64_t)1 << (8 * n)) - 1);
}

/* Loads up to 16 bytes, padded with zeros. */
static inline void load_short(const Parser *ps, const char *p, size_t len, uint64_t words[2])
{
    char copy[SHORT_STRING] = {0};
    if (PTC_UNLIKELY(ps->end - p < SHORT_STRING)) {
        memcpy(copy, p, len);
        p = copy;
    }
    words[0] = low_bytes(ptc_json_load8(p), len);
    words[1] = len > 8 ? low_bytes(ptc_json_load8(p + 8), len - 8) : 0;
}

/* A short plain string; the same object as last time if the table still has it.  Plain strings contain no NUL, so
 * the padded words tell them apart without the length. */
static inline PtcValue short_string(Parser *ps, const char *p, size_t len)
{
    uint64_t words[2];
    load_short(ps, p, len, words);
    uint64_t mixed = (words[0] ^ (words[1] * 0x9e3779b97f4a7c15)) * 0xd6e8feb86659fd93;
    size_t i = (size_t)(mixed >> (64 - PTC_JSON_STRING_BITS));
    uint64_t *known = ps->string_words[i];
    if (ps->strings[i] != PTC_NONE && known[0] == words[0] && known[1] == words[1])
        return ps->strings[i];
    known[0] = words[0];
    known[1] = words[1];
    return ps->strings[i] = ascii_string(ps->heap, p, len);
}

/* p is just past the opening quote. */
static inline const char *read_string(Parser *ps, const char *p, PtcValue *out)
{
    const char *q = ptc_json_skip_ascii(p, ps->end);
    if (PTC_UNLIKELY(ptc_json_peek(ps, q) != '"'))
        return ptc_json_read_odd_string(ps, p, out);
    size_t len = (size_t)(q - p);
    *out = len <= SHORT_STRING ? short_string(ps, p, len) : ascii_string(ps->heap, p, len);
    return PTC_LIKELY(*out != PTC_NONE) ? q + 1 : ptc_json_stopped(ps, p);
}

static inline const char *parse_json_number(Parser *ps, const char *p, PtcValue *out)
{
    const char *start = p;
    bool negative = *p == '-';
    uint64_t n = 0; /* may wrap: then it is not used */
    p += negative;
    const char *digits = p;
    for (; p < ps->end && ptc_json_is_digit(*p); p++)
        n = n * 10 + (uint64_t)(*p - '0');
    size_t count = (size_t)(p - digits);
    if (PTC_UNLIKELY(count == 0))
        return ptc_json_unexpected(ps, p, "a digit");
    if (PTC_UNLIKELY(count > 1 && *digits == '0'))
        return ptc_json_fail(ps, digits, "a number must not begin with 0");
    char c = ptc_json_peek(ps, p);
    if (c == '.' || (c | 0x20) == 'e')
        return ptc_json_read_double(ps, start, p, out);
    if (PTC_LIKELY(count <= SAFE_DIGITS)) {
        *out = ptc_int(negative ? -(int64_t)n : (int64_t)n);
        return p;
    }
    *out = ptc_int_parse(ps->heap, start, (size_t)(p - start));
    return *out != PTC_NONE ? p : ptc_json_stopped(ps, start);
}

static inline const char *parse_json_word(const Parser *ps, const char *p, const char *word,
                                          size_t len)
{
    if ((size_t)(ps->end - p) >= len && memcmp(p, word, len) == 0)
        return p + len;
    return ptc_json_unexpected(ps, p, "a value");
}

static inline const char *read_scalar(Parser *ps, const char *p, char c, PtcValue *out)
{
    switch (c) {
    case '"': return read_string(ps, p + 1, out);
    case 't': *out = PTC_TRUE; return parse_json_word(ps, p, "true", 4);
    case 'f': *out = PTC_FALSE; return parse_json_word(ps, p, "false", 5);
    case 'n': *out = PTC_NIL; return parse_json_word(ps, p, "null", 4);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return parse_json_number(ps, p, out);
    default: return ptc_json_unexpected(ps, p, "a value");
    }
}

/* -------------------------------------------------------------------- objects */

/* At the first key that the guess has wrong: inserts the keys between the values gathered so far. */
static PTC_NOINLINE bool leave_guess(Parser *ps, Level *level)
{
    const PtcShape *shape = (const PtcShape *)ptc_obj(level->shape);
    size_t n = ps->top - level->base;
    for (size_t i = 0; i < n; i++) {
        if (!push_parsed_value(ps, PTC_NIL))
            return false;
    }
    PtcValue *slots = ps->stack + level->base;
    for (size_t i = n; i-- > 0;) {
        slots[2 * i + 1] = slots[i];
        slots[2 * i] = shape->keys[i];
    }
    level->shape = PTC_NONE;
    return true;
}

static inline uint64_t load_four_bytes(const char *p)
{
    uint32_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

/* memcmp without the call for short runs: two loads that overlap cover all bytes. */
static inline bool same_bytes(const char *a, const char *b, size_t n)
{
    if (n > 16)
        return memcmp(a, b, n) == 0;
    if (n >= 8)
        return ((ptc_json_load8(a) ^ ptc_json_load8(b)) |
                (ptc_json_load8(a + n - 8) ^ ptc_json_load8(b + n - 8))) == 0;
    if (n >= 4)
        return ((load_four_bytes(a) ^ load_four_bytes(b)) |
                (load_four_bytes(a + n - 4) ^ load_four_bytes(b + n - 4))) == 0;
    return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}

/* Does the text continue with this key and its closing quote?  Keys of a guess need no escapes. */
static inline bool key_is_at(const Parser *ps, const char *p, PtcValue key)
{
    size_t len = ptc_str_len(key);
    return (size_t)(ps->end - p) > len && p[len] == '"' && same_bytes(p, ptc_str_bytes(key), len);
}

static PTC_NOINLINE const char *read_new_key(Parser *ps, const char *p, Level *level)
{
    PtcValue key;
    if (level->shape != PTC_NONE && !leave_guess(ps, level))
        return ptc_json_stopped(ps, p);
    const char *q = read_string(ps, p, &key);
    if (!q)
        return NULL;
    if (ptc_str_len(key) != (size_t)(q - p) - 1)
        level->escapes = true;
    return push_parsed_value(ps, key) ? q : ptc_json_stopped(ps, p);
}

/* A key and the colon after it. */
static inline const char *parse_json_key(Parser *ps, const char *p)
{
    Level *level = ps->level;
    p = skip_parsed_space(ps, p);
    if (PTC_UNLIKELY(ptc_json_peek(ps, p) != '"'))
        return ptc_json_unexpected(ps, p, "a key in quotes");
    p++;
    const PtcShape *shape = (const PtcShape *)ptc_obj(level->shape);
    size_t n = ps->top - level->base;
    if (PTC_LIKELY(shape && n < shape->obj.count && key_is_at(ps, p, shape->keys[n])))
        p += ptc_str_len(shape->keys[n]) + 1;
    else if (!(p = read_new_key(ps, p, level)))
        return NULL;
    p = skip_parsed_space(ps, p);
    if (PTC_UNLIKELY(ptc_json_peek(ps, p) != ':'))
        return ptc_json_unexpected(ps, p, "':'");
    return p + 1;
}

static bool shape_has_keys(PtcValue shape, const PtcValue *keys, size_t n)
{
    const PtcShape *s = (const PtcShape *)ptc_obj(shape);
    if (s->obj.count != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s->keys[i] != keys[i] && !ptc_str_same_bytes(s->keys[i], keys[i]))
            return false;
    }
    return true;
}

/* The shape for these distinct keys: one seen before, or a new one. */
static PtcValue find_shape(Parser *ps, const PtcValue *keys, const uint32_t *hashes, size_t n)
{
    uint32_t mixed = 0;
    for (size_t i = 0; i < n; i++)
        mixed = (mixed ^ hashes[i]) * 0x9e3779b1;
    PtcValue *known = &ps->shapes[mixed >> (32 - PTC_JSON_SHAPE_BITS)];
    if (*known != PTC_NONE && shape_has_keys(*known, keys, n))
        return *known;
    PtcValue shape = ptc_shape_new(ps->heap, keys, hashes, n);
    if (shape != PTC_NONE)
        *known = shape;
    return shape;
}

/* From n <= PTC_SMALL_MAX alternating keys and values, where keys may repeat. */
static PtcValue small_object(Parser *ps, const PtcValue *pairs, size_t n, PtcValue *shape)
{
    PtcValue keys[PTC_SMALL_MAX], values[PTC_SMALL_MAX];
    uint32_t hashes[PTC_SMALL_MAX];
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        PtcValue key = pairs[2 * i];
        uint32_t hash = ptc_str_hash(key);
        size_t at = 0;
        while (at < count && !(hashes[at] == hash && ptc_str_same_bytes(keys[at], key)))
            at++;
        if (at == count) {
            keys[count] = key;
            hashes[count++] = hash;
        }
        values[at] = pairs[2 * i + 1];
    }
    *shape = find_shape(ps, keys, hashes, count);
    return *shape != PTC_NONE ? ptc_smap_new(ps->heap, *shape, values) : PTC_NONE;
}

static PtcValue large_object(Parser *ps, const PtcValue *pairs, size_t n)
{
    PtcDictBuild build;
    if (!ptc_dict_build_init(&build, ps->heap, false))
        return PTC_NONE;
    for (size_t i = 0; i < n; i++) {
        if (!ptc_dict_build_put(&build, pairs[2 * i], pairs[2 * i + 1]) ||
            !ptc_tick(ps->heap->budget, 1)) {
            ptc_dict_build_cancel(&build);
            return PTC_NONE;
        }
    }
    return ptc_dict_build_done(&build);
}

/* The map of an object whose keys were not guessed; its shape becomes the guess at this depth. */
static PTC_NOINLINE PtcValue object_of_pairs(Parser *ps, Level *level)
{
    if (level->shape != PTC_NONE && !leave_guess(ps, level))
        return PTC_NONE;
    const PtcValue *pairs = ps->stack + level->base;
    size_t n = (ps->top - level->base) / 2;
    if (n == 0)
        return ptc_map_empty(ps->heap);
    if (n > PTC_SMALL_MAX)
        return large_object(ps, pairs, n);
    PtcValue shape;
    PtcValue map = small_object(ps, pairs, n, &shape);
    size_t depth = (size_t)(level - ps->levels);
    if (map != PTC_NONE && !level->escapes && depth < PTC_JSON_GUESS_DEPTHS)
        ps->guesses[depth] = shape;
    return map;
}

/* ----------------------------------------------------------------- containers */

/* Adds the rest of an array, part of which has left the stack. */
static PTC_NOINLINE PtcValue end_long_array(Parser *ps, PtcValue build, const PtcValue *items,
                                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!ptc_build_add(ps->heap, build, items[i]))
            return PTC_NONE;
    return ptc_build_done(ps->heap, build, 0);
}

/* Makes the value of the innermost container; p is at its closing bracket. */
static inline const char *close_json_container(Parser *ps, const char *p, PtcValue *out)
{
    Level *level = ps->level;
    const PtcValue *items = ps->stack + level->base;
    size_t n = ps->top - level->base;
    if (!level->is_object)
        *out = PTC_LIKELY(level->shape == PTC_NONE) ? ptc_vec_new(ps->heap, items, n, 0)
                                                    : end_long_array(ps, level->shape, items, n);
    else if (PTC_LIKELY(level->shape != PTC_NONE && ptc_obj(level->shape)->count == n))
        *out = ptc_smap_new(ps->heap, level->shape, items);
    else
        *out = object_of_pairs(ps, level);
    ps->top = level->base;
    ps->level--;
    return PTC_LIKELY(*out != PTC_NONE) ? p + 1 : ptc_json_stopped(ps, p);
}

/* p is at the bracket.  *out becomes the value if the container is empty, else PTC_NONE. */
static inline const char *open_json_container(Parser *ps, const char *p, PtcValue *out)
{
    bool is_object = *p == '{';
    size_t depth = (size_t)(ps->level + 1 - ps->levels);
    if (PTC_UNLIKELY(depth > PTC_JSON_MAX_DEPTH))
        return ptc_json_fail(ps, p, "nested deeper than %d levels", PTC_JSON_MAX_DEPTH);
    bool guess = is_object && depth < PTC_JSON_GUESS_DEPTHS;
    *++ps->level =
        (Level){guess ? ps->guesses[depth] : PTC_NONE, (uint32_t)ps->top, is_object, false};
    *out = PTC_NONE;
    p = skip_parsed_space(ps, p + 1);
    if (ptc_json_peek(ps, p) == (is_object ? '}' : ']'))
        return close_json_container(ps, p, out);
    return p;
}

/* What follows element *v: after a comma *v becomes PTC_NONE; at the end of the container *v becomes that container. */
static inline const char *after_element(Parser *ps, const char *p, PtcValue *v)
{
    if (!ptc_tick(ps->heap->budget, 1) || !push_parsed_value(ps, *v))
        return ptc_json_stopped(ps, p);
    bool is_object = ps->level->is_object;
    p = skip_parsed_space(ps, p);
    char c = ptc_json_peek(ps, p);
    if (c == ',') {
        *v = PTC_NONE;
        return p + 1;
    }
    if (PTC_LIKELY(c == (is_object ? '}' : ']')))
        return close_json_container(ps, p, v);
    return ptc_json_unexpected(ps, p, is_object ? "',' or '}'" : "',' or ']'");
}

static const char *parse_json_value(Parser *ps, const char *p, PtcValue *out)
{
    for (;;) {
        PtcValue v = PTC_NONE;
        p = skip_parsed_space(ps, p);
        char c = ptc_json_peek(ps, p);
        if (PTC_UNLIKELY(ps->kept != NULL))
            p = ptc_json_keep_text(ps, p, &v);
        if (PTC_LIKELY(v == PTC_NONE) && p)
            p = c == '{' || c == '[' ? open_json_container(ps, p, &v) : read_scalar(ps, p, c, &v);
        while (p && v != PTC_NONE) {
            if (ps->level == ps->levels) {
                *out = v;
                return p;
            }
            p = after_element(ps, p, &v);
        }
        if (p && ps->level->is_object)
            p = parse_json_key(ps, p);
        if (!p)
            return NULL;
        if (PTC_UNLIKELY(ps->keep != NULL) && ps->level->is_object)
            ptc_json_note_key(ps);
    }
}

/* Reads one value and the white space around it; returns the cursor past it, or NULL.  The bytes are paid for before
 * they are read, the values while they are made. */
static const char *parse_json_text(Parser *ps, PtcValue *out)
{
    if ((size_t)(ps->end - ps->text) > UINT32_MAX)
        return ptc_json_fail(ps, ps->text, "more than 4 GiB of text");
    if (!ptc_tick_scan(ps->heap->budget, (size_t)(ps->end - ps->text)))
        return ptc_json_stopped(ps, ps->text);
    const char *p = parse_json_value(ps, ps->text, out);
    if (ps->stack != ps->first)
        ptc_heap_scratch_free(ps->heap, ps->stack, ps->cap * sizeof(PtcValue));
    return p ? skip_parsed_space(ps, p) : NULL;
}

static void init_json_parser(Parser *ps, PtcHeap *heap, const char *text, size_t len,
                             PtcJsonError *error)
{
    memset(ps, 0, offsetof(Parser, string_words));
    memset(error, 0, sizeof *error);
    ps->heap = heap;
    ps->text = text;
    ps->end = text + len;
    ps->error = error;
    ps->stack = ps->first;
    ps->level = ps->levels;
    ps->cap = PTC_JSON_FIRST_SLOTS;
}

static PtcValue parse_all(Parser *ps)
{
    PtcValue v = PTC_NONE;
    const char *p = parse_json_text(ps, &v);
    if (p && p != ps->end)
        p = ptc_json_unexpected(ps, p, "the end of the text");
    return p ? v : PTC_NONE;
}

PtcValue ptc_json_parse(PtcHeap *heap, const char *text, size_t len, PtcJsonError *error)
{
    Parser ps;
    init_json_parser(&ps, heap, text, len, error);
    return parse_all(&ps);
}

PtcValue ptc_json_parse_keeping(PtcHeap *heap, PtcText text, const PtcJsonKeep *keep,
                                PtcJsonError *error)
{
    Parser ps;
    init_json_parser(&ps, heap, text.bytes, text.len, error);
    ps.keep = keep;
    for (size_t i = 0; keep->names[i]; i++)
        keep->texts[i] = (PtcText){NULL, 0};
    return parse_all(&ps);
}

PtcValue ptc_json_parse_prefix(PtcHeap *heap, const char *text, size_t len, size_t *used,
                               PtcJsonError *error)
{
    Parser ps;
    PtcValue v = PTC_NONE;
    init_json_parser(&ps, heap, text, len, error);
    const char *p = parse_json_text(&ps, &v);
    *used = p ? (size_t)(p - text) : 0;
    return p ? v : PTC_NONE;
}

/* Begins another text with what was learned from those before it. */
static void begin_next_json_text(Parser *ps, const char *text, const char *end)
{
    ps->text = text;
    ps->end = end;
    ps->stack = ps->first;
    ps->level = ps->levels;
    ps->cap = PTC_JSON_FIRST_SLOTS;
    ps->top = 0;
}

static bool leave_out_line(PtcBadLines *bad, PtcJsonError *error)
{
    if (!bad || error->stopped)
        return false;
    ptc_bad_lines_add(bad, error->line, error->column, error->message);
    memset(error, 0, sizeof *error);
    return true;
}

/* One value a line; they are alike, so the guesses of one line serve the next. */
PtcValue ptc_json_parse_lines(PtcHeap *heap, PtcText text, PtcBadLines *bad, PtcJsonError *error)
{
    Parser ps;
    uint32_t number = 0;
    const char *p = text.bytes, *end = p + text.len;
    init_json_parser(&ps, heap, p, text.len, error);
    PtcValue all = ptc_build_new(heap);
    while (all != PTC_NONE && p < end) {
        const char *lf = memchr(p, '\n', (size_t)(end - p)), *stop = lf ? lf : end;
        number++;
        begin_next_json_text(&ps, p, stop);
        PtcValue v =
            ptc_text_is_blank((PtcText){p, (size_t)(stop - p)}) ? PTC_UNBOUND : parse_all(&ps);
        if (v == PTC_NONE)
            error->line = number;
        if (v == PTC_NONE && leave_out_line(bad, error))
            v = PTC_UNBOUND;
        if (v == PTC_NONE || (v != PTC_UNBOUND && !ptc_build_add(heap, all, v)))
            all = PTC_NONE;
        p = stop + (lf != NULL);
    }
    PtcValue done = all == PTC_NONE ? all : ptc_build_done(heap, all, 0);
    error->stopped = error->stopped || (done == PTC_NONE && !error->message[0]);
    return done;
}
