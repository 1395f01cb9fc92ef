/* SPDX-License-Identifier: MIT
 * Fields of CSV as values.  Nearly all fields have no quotes, and are short numbers or texts that the column had
 * before: those are read in one go from the text of the file, and everything else field by field. */
#include "data/csv_int.h"

#include <math.h>

#include "base/ascii.h"
#include "json/swar.h"
#include "value/number/bigint.h"
#include "value/number/number.h"
#include "value/str.h"

enum {
    SEEN_MIN_BITS = 4, /* strings remembered of a column of a short text ... */
    SEEN_MAX_BITS = 10,
    SEEN_ALL = 16 * PTC_KB, /* ... and, about, of all columns together */
    SEEN_BYTES = 64,        /* longer ones are not remembered */
    INT_DIGITS = 300,
    SMALL_DIGITS = 18, /* they always fit a word */
};

/* ----------------------------------------------------------------------------------- kinds */

/* Is it a number as JSON writes them?  *whole: without point and exponent. */
static bool is_csv_number(const char *p, const char *end, bool *whole)
{
    const char *first = p += p < end && *p == '-';
    while (p < end && ptc_ascii_is_digit(*p))
        p++;
    if (p == first || (p - first > 1 && *first == '0'))
        return false;
    *whole = p == end;
    if (p < end && *p == '.') {
        const char *point = p++;
        while (p < end && ptc_ascii_is_digit(*p))
            p++;
        if (p == point + 1)
            return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '-' || *p == '+');
        first = p;
        while (p < end && ptc_ascii_is_digit(*p))
            p++;
        if (p == first)
            return false;
    }
    return p == end;
}

/* true, True, TRUE: the spellings that spreadsheets write. */
static bool is_spelled_word(const PtcCsvField *f, const char *lower, const char *upper)
{
    if (f->len != strlen(lower))
        return false;
    bool first = f->bytes[0] == lower[0] || f->bytes[0] == upper[0];
    return first && (memcmp(f->bytes + 1, lower + 1, f->len - 1) == 0 ||
                     memcmp(f->bytes, upper, f->len) == 0);
}

static bool is_true(const PtcCsvField *f)
{
    return is_spelled_word(f, "true", "TRUE");
}

/* An empty field in quotes is an empty text among texts, and nil among numbers.  Numbers too large for a float stay
 * text. */
PtcCsvKind ptc_csv_kind(const PtcCsvField *f)
{
    bool whole;
    double d;
    if (f->len == 0)
        return PTC_CSV_EMPTY;
    if (f->quoted)
        return PTC_CSV_TEXT;
    if (is_true(f) || is_spelled_word(f, "false", "FALSE"))
        return PTC_CSV_BOOL;
    if (!is_csv_number(f->bytes, f->bytes + f->len, &whole))
        return PTC_CSV_TEXT;
    if (whole)
        return f->len <= INT_DIGITS ? PTC_CSV_INT : PTC_CSV_TEXT;
    return ptc_double_parse(f->bytes, f->len, &d) && isfinite(d) ? PTC_CSV_FLOAT : PTC_CSV_TEXT;
}

PtcCsvKind ptc_csv_type(unsigned kinds)
{
    switch (kinds & ~(unsigned)PTC_CSV_EMPTY) {
    case 0: return PTC_CSV_EMPTY;
    case PTC_CSV_INT: return PTC_CSV_INT;
    case PTC_CSV_FLOAT:
    case PTC_CSV_INT | PTC_CSV_FLOAT: return PTC_CSV_FLOAT;
    case PTC_CSV_BOOL: return PTC_CSV_BOOL;
    default: return PTC_CSV_TEXT;
    }
}

/* ----------------------------------------------------------------------------------- texts */

/* A column of a long text may have some hundred different ones (dates), and a table many columns. */
bool ptc_csv_remember(PtcCsv *c, size_t text_len)
{
    size_t columns = c->count ? c->count : 1,
           most = text_len / 16 < SEEN_ALL ? text_len / 16 : SEEN_ALL;
    unsigned bits = SEEN_MIN_BITS;
    while (bits < SEEN_MAX_BITS && (columns << (bits + 1)) <= most)
        bits++;
    size_t need = columns << bits;
    if (!PTC_GROW_SCRATCH(c->heap, &c->seen, &c->seen_cap, need))
        return false;
    memset(c->seen, 0, c->seen_cap * sizeof *c->seen);
    c->seen_bits = bits;
    return true;
}

/* Texts of less than eight bytes have words of their own; others may share them.  Up to `end` can be read. */
static inline uint64_t seen_word(const char *p, size_t len, const char *end)
{
    uint64_t w = 0;
    if (len >= 8) {
        for (size_t i = 0; len - i > 8; i += 8)
            w = (w ^ ptc_json_load8(p + i)) * 0x9fb21c651e98df25;
        return (w >> 31 ^ w) + ptc_json_load8(p + len - 8);
    }
    if (end - p >= 8)
        w = ptc_json_load8(p) & (((uint64_t)1 << len * 8) - 1);
    else
        for (size_t i = 0; i < len; i++)
            w |= (uint64_t)(unsigned char)p[i] << i * 8;
    return w | (uint64_t)len << 56;
}

static inline bool is_seen(const PtcCsvSeen *seen, uint64_t word, const char *bytes, size_t len)
{
    return seen->text && seen->word == word && ptc_str_len(seen->text) == len &&
           (len < 8 || memcmp(ptc_str_bytes(seen->text), bytes, len) == 0);
}

static PtcValue new_text(PtcHeap *heap, const char *bytes, size_t len)
{
    PtcValue v = ptc_str_new(heap, bytes, len);
    if (v != PTC_NONE)
        (void)ptc_str_hash(v);
    return v;
}

/* A string of a column; the same object as before if it is among those seen lately, because columns repeat
 * themselves.  One that comes again stays longer than one that does not. */
static PtcValue text_value(PtcCsv *c, size_t column, const char *bytes, size_t len, const char *end)
{
    if (!c->seen || len > SEEN_BYTES)
        return new_text(c->heap, bytes, len);
    uint64_t word = seen_word(bytes, len, end);
    size_t at = (size_t)(word * 0x9e3779b97f4a7c15 >> (64 - c->seen_bits));
    PtcCsvSeen *first = &c->seen[(column << c->seen_bits) + at];
    PtcCsvSeen *second = &c->seen[(column << c->seen_bits) + (at ^ 1)];
    if (PTC_LIKELY(is_seen(first, word, bytes, len)))
        return first->text;
    if (is_seen(second, word, bytes, len))
        return second->text;
    PtcValue v = new_text(c->heap, bytes, len);
    if (v != PTC_NONE) {
        *second = *first;
        *first = (PtcCsvSeen){word, v};
    }
    return v;
}

/* ---------------------------------------------------------------------------------- values */

static PtcValue small_int(const char *p, size_t len)
{
    int64_t n = 0;
    for (size_t i = *p == '-'; i < len; i++)
        n = n * 10 + (p[i] - '0');
    return ptc_int(*p == '-' ? -n : n);
}

/* Longer ones may need a big integer. */
static PtcValue int_value(PtcCsv *c, const PtcCsvField *f)
{
    if (f->len <= SMALL_DIGITS)
        return small_int(f->bytes, f->len);
    return ptc_int_parse(c->heap, f->bytes, f->len);
}

PtcValue ptc_csv_value(PtcCsv *c, size_t column, const PtcCsvField *f)
{
    PtcCsvKind type = c->columns[column].type;
    double d;
    if (type == PTC_CSV_APART)
        type = ptc_csv_type(ptc_csv_kind(f));
    bool texts = type == PTC_CSV_TEXT || type == PTC_CSV_EMPTY;
    if (f->len == 0 && !(f->quoted && texts))
        return PTC_NIL;
    switch (type) {
    case PTC_CSV_INT: return int_value(c, f);
    case PTC_CSV_FLOAT:
        return ptc_double_parse(f->bytes, f->len, &d) ? ptc_float_new(c->heap, d) : PTC_NONE;
    case PTC_CSV_BOOL: return ptc_bool(is_true(f));
    default: return text_value(c, column, f->bytes, f->len, f->bytes + f->len);
    }
}

/* ----------------------------------------------------------------------------- plain fields */

static inline uint64_t bytes_equal_to(uint64_t w, char c)
{
    uint64_t zeros = w ^ (PTC_JSON_ONES * (unsigned char)c);
    return (zeros - PTC_JSON_ONES) & ~zeros & PTC_JSON_HIGHS;
}

/* Eight bytes at a time: it is most of the work on texts. */
static inline const char *plain_end(const char *p, const char *end, char separator)
{
    for (; end - p >= 8; p += 8) {
        uint64_t w = ptc_json_load8(p);
        uint64_t ends =
            bytes_equal_to(w, separator) | bytes_equal_to(w, '\n') | bytes_equal_to(w, '\r');
        if (ends)
            return p + ptc_json_first(ends);
    }
    while (p < end && *p != separator && *p != '\n' && *p != '\r')
        p++;
    return p;
}

const char *ptc_csv_plain_end(const PtcCsv *c, const char *p)
{
    return plain_end(p, c->end, c->separator);
}

typedef struct {
    uint64_t digits; /* as one number */
    int scale;       /* how many of them are behind the point */
    bool negative, whole;
} QuickNumber;

/* A number of few digits without exponent; returns where it ends.  NULL: it is something else. */
static inline const char *quick_number(const char *p, const char *end, QuickNumber *out)
{
    const char *begin = p;
    out->negative = p < end && *p == '-';
    const char *first = p += out->negative;
    uint64_t n = 0;
    for (; p < end && ptc_ascii_is_digit(*p); p++)
        n = n * 10 + (uint64_t)(*p - '0');
    if (p == first || (p - first > 1 && *first == '0'))
        return NULL;
    out->whole = p == end || *p != '.';
    out->scale = 0;
    if (!out->whole) {
        const char *point = p++;
        for (; p < end && ptc_ascii_is_digit(*p); p++)
            n = n * 10 + (uint64_t)(*p - '0');
        out->scale = (int)(p - point) - 1;
        if (out->scale == 0)
            return NULL;
    }
    out->digits = n;
    return p - begin <= SMALL_DIGITS ? p : NULL;
}

static inline PtcValue quick_int(const QuickNumber *n)
{
    return ptc_int(n->negative ? -(int64_t)n->digits : (int64_t)n->digits);
}

/* Below 2^53 the digits are exact, as these powers are, so that one division rounds as reading the text would. */
static inline PtcValue quick_float(PtcCsv *c, const QuickNumber *n)
{
    static const double powers[SMALL_DIGITS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                                                    1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13,
                                                    1e14, 1e15, 1e16, 1e17, 1e18};
    if (n->digits >> 53)
        return PTC_NONE;
    double d = (double)n->digits / powers[n->scale];
    return ptc_float_new(c->heap, n->negative ? -d : d);
}

static inline PtcValue quick_text(PtcCsv *c, size_t column, const char *p, const char **next)
{
    if (p < c->end && *p == '"')
        return PTC_NONE;
    *next = plain_end(p, c->end, c->separator);
    return *next == p ? PTC_NIL : text_value(c, column, p, (size_t)(*next - p), c->end);
}

/* Of a field that has its own type.  A text that begins as a number goes on with what no number has: 2026-01-31. */
static inline PtcValue quick_apart(PtcCsv *c, size_t column, const char *p, const char **next)
{
    QuickNumber n;
    if (p < c->end && memchr("tTfF", *p, 4))
        return PTC_NONE;
    if (p == c->end || (!ptc_ascii_is_digit(*p) && *p != '-'))
        return quick_text(c, column, p, next);
    if (!(*next = quick_number(p, c->end, &n)))
        return PTC_NONE;
    if (!ptc_csv_ends_field(c, *next))
        return memchr(".eE", **next, 3) ? PTC_NONE : quick_text(c, column, p, next);
    return n.whole ? quick_int(&n) : quick_float(c, &n);
}

/* The field at p as a value of the column's type; *next: where it ends.  PTC_NONE: it asks for more care. */
static inline PtcValue quick_value(PtcCsv *c, size_t column, const char *p, const char **next)
{
    QuickNumber n;
    switch (c->columns[column].type) {
    case PTC_CSV_INT:
    case PTC_CSV_FLOAT:
        if (!(*next = quick_number(p, c->end, &n)) || !ptc_csv_ends_field(c, *next))
            return PTC_NONE;
        if (c->columns[column].type == PTC_CSV_FLOAT)
            return quick_float(c, &n);
        return n.whole ? quick_int(&n) : PTC_NONE;
    case PTC_CSV_TEXT: return quick_text(c, column, p, next);
    case PTC_CSV_APART: return quick_apart(c, column, p, next);
    default: return PTC_NONE;
    }
}

size_t ptc_csv_quick_fields(PtcCsv *c, size_t i)
{
    bool wide = ptc_csv_is_wide(c);
    size_t begin = i;
    const char *at = c->at, *next = at;
    for (; i < c->count; i++) {
        PtcValue v = quick_value(c, i, at, &next);
        if (v == PTC_NONE)
            break;
        c->fields[wide ? 2 * i + 1 : i] = v;
        c->at = next;
        if (next == c->end || *next != c->separator)
            return i + 1 - begin;
        at = next + 1;
    }
    return i - begin;
}
