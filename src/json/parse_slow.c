/* SPDX-License-Identifier: MIT
 * The parser's rare paths: errors, members kept as text, strings that are not plain ASCII, doubles. */
#include "json/parse_int.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/check.h"
#include "json/swar.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/number/number.h"
#include "value/str.h"

/* -------------------------------------------------------------------- failure */

void ptc_json_place_error(PtcJsonError *error, const char *text, size_t offset)
{
    error->offset = offset;
    error->line = error->column = 1;
    for (const char *p = text; p < text + offset; p++) {
        if (*p == '\n') {
            error->line++;
            error->column = 1;
        } else if (((unsigned char)*p & 0xc0) != 0x80) {
            error->column++;
        }
    }
}

const char *ptc_json_fail(const PtcJsonParser *ps, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ps->error->message, sizeof ps->error->message, format, args);
    va_end(args);
    ptc_json_place_error(ps->error, ps->text, (size_t)(at - ps->text));
    return NULL;
}

const char *ptc_json_stopped(const PtcJsonParser *ps, const char *at)
{
    bool size = ps->heap->budget->stop == PTC_STOP_SIZE;
    ptc_json_fail(ps, at, size ? "this integer is too large" : "stopped by a limit");
    ps->error->stopped = !size;
    return NULL;
}

const char *ptc_json_unexpected(const PtcJsonParser *ps, const char *at, const char *wanted)
{
    if (at >= ps->end)
        return ptc_json_fail(ps, at, "expected %s, but the text ends", wanted);
    unsigned char c = (unsigned char)*at;
    if (c > ' ' && c < 0x7f)
        return ptc_json_fail(ps, at, "expected %s, found %c", wanted, c);
    return ptc_json_fail(ps, at, "expected %s, found byte 0x%02X", wanted, c);
}

/* Moves the elements of an array off the stack into a vector, so that a long one is not held twice. */
static bool spill(PtcJsonParser *ps, PtcJsonLevel *level, size_t end)
{
    if (level->shape == PTC_NONE && (level->shape = ptc_build_new(ps->heap)) == PTC_NONE)
        return false;
    for (size_t i = level->base; i < end; i++)
        if (!ptc_build_add(ps->heap, level->shape, ps->stack[i]))
            return false;
    memmove(ps->stack + level->base, ps->stack + end, (ps->top - end) * sizeof *ps->stack);
    size_t gone = end - level->base;
    ps->top -= gone;
    while (level++ < ps->level)
        level->base -= (uint32_t)gone;
    return true;
}

/* The outermost array with many elements on the stack, or NULL; *end is where they end. */
static PtcJsonLevel *long_array(PtcJsonParser *ps, size_t *end)
{
    for (PtcJsonLevel *level = ps->levels + 1; level <= ps->level; level++) {
        *end = level < ps->level ? level[1].base : ps->top;
        if (!level->is_object && *end - level->base >= PTC_JSON_SPILL)
            return level;
    }
    return NULL;
}

bool ptc_json_grow(PtcJsonParser *ps)
{
    size_t end = 0;
    PtcJsonLevel *array = ps->top >= PTC_JSON_SPILL ? long_array(ps, &end) : NULL;
    if (array)
        return spill(ps, array, end);
    size_t size = ps->cap * sizeof(PtcValue);
    bool outside = ps->stack != ps->first;
    PtcValue *p =
        ptc_heap_scratch(ps->heap, outside ? ps->stack : NULL, outside ? size : 0, 2 * size);
    if (!p)
        return false;
    if (!outside)
        memcpy(p, ps->first, size);
    ps->stack = p;
    ps->cap *= 2;
    return true;
}

/* -------------------------------------------------------------- members kept as text */

/* The key read last, in the innermost object. */
static PtcText last_key(const PtcJsonParser *ps)
{
    const PtcJsonLevel *level = ps->level;
    if (level->shape == PTC_NONE)
        return ptc_str_text(ps->stack[ps->top - 1]);
    return ptc_str_text(((const PtcShape *)ptc_obj(level->shape))->keys[ps->top - level->base]);
}

/* A key at depth d (1 is the outermost object) counts only if the d - 1 keys above it led here.  Since `matched` is
 * set to at most d, whatever matched in an object that has been closed since is forgotten. */
void ptc_json_note_key(PtcJsonParser *ps)
{
    const PtcJsonKeep *keep = ps->keep;
    size_t depth = (size_t)(ps->level - ps->levels), length = 0;
    ps->kept = NULL;
    while (keep->path[length])
        length++;
    if (depth > length + 1 || ps->matched + 1 < depth)
        return;
    PtcText key = last_key(ps);
    ps->matched = depth - 1;
    if (depth <= length && ptc_text_is(key, keep->path[depth - 1]))
        ps->matched = depth;
    for (size_t i = 0; depth == length + 1 && keep->names[i]; i++)
        if (ptc_text_is(key, keep->names[i])) {
            ps->kept = &keep->texts[i];
            *ps->kept = (PtcText){NULL, 0}; /* the last of several members with one name counts */
        }
}

/* Anything but an object is parsed as usual, so that its user can report the wrong type. */
const char *ptc_json_keep_text(PtcJsonParser *ps, const char *p, PtcValue *out)
{
    PtcText *kept = ps->kept;
    const PtcJsonKeep *keep = ps->keep;
    PtcText rest = {p, (size_t)(ps->end - p)};
    size_t len = ptc_json_peek(ps, p) != '{' ? 0
                 : keep->read                ? keep->read(keep->user, rest)
                                             : ptc_json_value_len(rest.bytes, rest.len);
    ps->kept = NULL;
    *out = PTC_NONE;
    if (len == 0)
        return p;
    *kept = (PtcText){p, len};
    *out = ptc_map_empty(ps->heap);
    return *out != PTC_NONE ? p + len : ptc_json_stopped(ps, p);
}

/* -------------------------------------------------------------------- strings */

/* Four hexadecimal digits; -1 if they are not there. */
static int32_t read_hex4(const char *p, const char *end)
{
    int32_t n = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = ptc_ascii_hex_value(p[i]);
        if (digit < 0)
            return -1;
        n = n * 16 + digit;
    }
    return n;
}

/* \uXXXX, or two of them for one code point; p is just past the u. */
static const char *read_unicode(const PtcJsonParser *ps, const char *p, uint32_t *code)
{
    int32_t high = read_hex4(p, ps->end);
    if (high < 0)
        return ptc_json_fail(ps, p, "expected four hexadecimal digits");
    *code = (uint32_t)high;
    if (high < 0xd800 || high > 0xdfff)
        return p + 4;
    bool more = ps->end - p >= 6 && p[4] == '\\' && p[5] == 'u';
    int32_t low = more ? read_hex4(p + 6, ps->end) : -1;
    if (high > 0xdbff || low < 0xdc00 || low > 0xdfff)
        return ptc_json_fail(ps, p, "half of a surrogate pair is not a character");
    *code = 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
    return p + 10;
}

/* One escape; p is at the backslash. */
static const char *read_escape(const PtcJsonParser *ps, const char *p, uint32_t *code)
{
    static const char names[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    char c = ptc_json_peek(ps, p + 1);
    if (c == 'u')
        return read_unicode(ps, p + 2, code);
    const char *found = c ? strchr(names, c) : NULL;
    if (!found)
        return ptc_json_unexpected(ps, p + 1, "an escape");
    *code = (uint32_t)meant[found - names];
    return p + 2;
}

/* Checks a string up to its closing quote, which is returned; *len becomes its length once decoded. */
static const char *measure_string(const PtcJsonParser *ps, const char *p, size_t *len)
{
    size_t n = 0;
    for (;;) {
        const char *run = p;
        uint32_t code;
        char bytes[4];
        p = ptc_json_skip_plain(p, ps->end);
        size_t valid = ptc_utf8_valid_prefix(run, (size_t)(p - run));
        n += valid;
        if (run + valid != p)
            return ptc_json_fail(ps, run + valid, "invalid UTF-8 in a string");
        if (p == ps->end)
            return ptc_json_fail(ps, p, "the text ends inside a string");
        if (*p == '"') {
            *len = n;
            return p;
        }
        if (*p != '\\')
            return ptc_json_fail(ps, p, "control character 0x%02X in a string: use an escape", *p);
        p = read_escape(ps, p, &code);
        if (!p)
            return NULL;
        n += ptc_utf8_encode(code, bytes);
    }
}

/* Decodes what measure_string has checked, so nothing can fail here. */
static void decode_string(const PtcJsonParser *ps, const char *p, const char *quote, char *out)
{
    for (;;) {
        const char *run = p;
        uint32_t code;
        p = ptc_json_skip_plain(p, quote);
        memcpy(out, run, (size_t)(p - run));
        out += p - run;
        if (p == quote)
            return;
        char bytes[4];
        p = read_escape(ps, p, &code);
        size_t n = ptc_utf8_encode(code, bytes);
        memcpy(out, bytes, n);
        out += n;
    }
}

/* Measured first, so that the string is allocated once, at its final size. */
const char *ptc_json_read_odd_string(PtcJsonParser *ps, const char *p, PtcValue *out)
{
    size_t len = 0;
    const char *quote = measure_string(ps, p, &len);
    if (!quote)
        return NULL;
    *out = ptc_str_begin(ps->heap, PTC_T_STRING, len);
    if (*out == PTC_NONE)
        return ptc_json_stopped(ps, p);
    decode_string(ps, p, quote, ptc_str_room(*out));
    ptc_str_seal(*out);
    return quote + 1;
}

/* -------------------------------------------------------------------- numbers */

static const char *skip_digits(const PtcJsonParser *ps, const char *p)
{
    if (!ptc_json_is_digit(ptc_json_peek(ps, p)))
        return ptc_json_unexpected(ps, p, "a digit");
    while (p < ps->end && ptc_json_is_digit(*p))
        p++;
    return p;
}

static PtcValue new_double(PtcHeap *heap, double d)
{
    PtcValue v = ptc_flonum(d);
    if (PTC_LIKELY(v != PTC_NONE))
        return v;
    PtcFloat *f = ptc_heap_object(heap, PTC_T_FLOAT, sizeof *f, 0);
    if (!f)
        return PTC_NONE;
    f->value = d;
    return ptc_from_obj(f);
}

const char *ptc_json_read_double(PtcJsonParser *ps, const char *start, const char *p, PtcValue *out)
{
    double d;
    if (*p == '.')
        p = skip_digits(ps, p + 1);
    if (p && (ptc_json_peek(ps, p) | 0x20) == 'e') {
        p++;
        p = skip_digits(ps, ptc_json_peek(ps, p) == '-' || ptc_json_peek(ps, p) == '+' ? p + 1 : p);
    }
    if (!p)
        return NULL;
    if (!ptc_double_parse(start, (size_t)(p - start), &d) || !isfinite(d))
        return ptc_json_fail(ps, start, "this number is too large for a double");
    *out = new_double(ps->heap, d);
    return *out != PTC_NONE ? p : ptc_json_stopped(ps, start);
}
