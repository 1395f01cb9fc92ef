/* SPDX-License-Identifier: MIT
 * Text of signatures to types.
 *
 *   signature = [ "(" [ fields ] ")" "->" ] type
 *   type      = ( ":" word | "[" type "]" | "{" [ fields ] "}" ) [ "?" ]
 *   fields    = name type { "," name type }
 *
 * White space is blank, tab, line feed, carriage return; it is allowed between all parts except after ":" and before
 * "?".  The cost is linear except for finding duplicate names, which the limit on fields bounds. */
#include "tool/sig/sig.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/text/nearest.h"
#include "base/utf8.h"
#include "tool/sig/sig_int.h"

typedef struct {
    PtcArena *arena;
    const char *text, *p, *end;
    int depth;
    PtcSigError *error;
} SigParser;

/* --------------------------------------------------------------------- types without parts */

static const struct {
    const char *name;
    PtcSigType type, optional;
} plain[] = {
#define SIG_PLAIN(kind_, name_) \
    [kind_] = {name_, {.kind = kind_}, {.kind = PTC_SIG_OPTIONAL, .item = &plain[kind_].type}}
    SIG_PLAIN(PTC_SIG_ANY, "any"),           SIG_PLAIN(PTC_SIG_STRING, "string"),
    SIG_PLAIN(PTC_SIG_INT, "int"),           SIG_PLAIN(PTC_SIG_FLOAT, "float"),
    SIG_PLAIN(PTC_SIG_BOOL, "bool"),         SIG_PLAIN(PTC_SIG_KEYWORD, "keyword"),
    SIG_PLAIN(PTC_SIG_DATETIME, "datetime"), SIG_PLAIN(PTC_SIG_MAP, "map"),
#undef SIG_PLAIN
};
enum { PLAINS = sizeof plain / sizeof *plain };

const char *ptc_sig_kind_name(PtcSigKind kind)
{
    if ((size_t)kind < PLAINS)
        return plain[kind].name;
    return kind == PTC_SIG_LIST ? "list" : kind == PTC_SIG_OPTIONAL ? "optional" : "map";
}

/* --------------------------------------------------------------------------------- errors */

/* The place of an error, in lines and characters.  The text may be any bytes: each one that is not UTF-8 counts as a
 * character. */
static void locate(const SigParser *p, const char *at)
{
    PtcSigError *e = p->error;
    e->offset = (size_t)(at - p->text);
    e->line = e->column = 1;
    for (const char *s = p->text; s < at; s++) {
        if (*s == '\n') {
            e->line++;
            e->column = 1;
        } else if (((unsigned char)*s & 0xc0) != 0x80) {
            e->column++;
        }
    }
}

static bool fail_signature(const SigParser *p, const char *is_signature_char, const char *format,
                           ...) PTC_PRINTF(3, 4);
static bool fail_signature(const SigParser *p, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->error->message, sizeof p->error->message, format, args);
    va_end(args);
    locate(p, at);
    return false;
}

static bool fail_signature_memory(const SigParser *p)
{
    p->error->stopped = true;
    return fail_signature(p, p->p, "out of memory while reading the signature");
}

/* What is at p, for "expected ..., got ...". */
static const char *describe_next_char(const SigParser *p, char out[24])
{
    size_t left = (size_t)(p->end - p->p);
    unsigned char c = left ? (unsigned char)*p->p : 0;
    size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (!left)
        snprintf(out, 24, "the end");
    else if (c < 0x20 || c == 0x7f || n > left || !ptc_utf8_valid(p->p, n))
        snprintf(out, 24, "byte 0x%02x", c);
    else
        snprintf(out, 24, "'%.*s'", PTC_ARG_OF(p->p, n));
    return out;
}

static bool expected(const SigParser *p, const char *what)
{
    char got[24];
    return fail_signature(p, p->p, "expected %s, got %s", what, describe_next_char(p, got));
}

/* --------------------------------------------------------------------------------- tokens */

static void skip_signature_space(SigParser *p)
{
    while (p->p < p->end && ptc_ascii_is_space(*p->p))
        p->p++;
}

static bool is_signature_char(const SigParser *p, char c)
{
    return p->p < p->end && *p->p == c;
}

static bool take_signature_char(SigParser *p, char c)
{
    skip_signature_space(p);
    if (!is_signature_char(p, c))
        return false;
    p->p++;
    return true;
}

static size_t word_length(const SigParser *p)
{
    const char *s = p->p;
    while (s < p->end && (ptc_ascii_is_name(*s) || *s == '-'))
        s++;
    return (size_t)(s - p->p);
}

static bool is_signature_word(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(word, name, len) == 0;
}

/* ---------------------------------------------------------------------------- plain types */

/* Names that other languages use for our types. */
static const struct {
    const char *word, *hint, *nearest;
} other_names[] = {
    {"list", "write [:string] for a list", NULL},
    {"vector", "write [:string] for a list", NULL},
    {"array", "write [:string] for a list", NULL},
    {"tuple", "write a map with named fields, {x :int, y :int}", NULL},
    {"object", "write :map, or {name :string} with its fields", "map"},
    {"dict", "write :map, or {name :string} with its fields", "map"},
    {"struct", "write {name :string} with its fields", NULL},
    {"integer", "did you mean :int?", "int"},
    {"long", "did you mean :int?", "int"},
    {"number", "did you mean :float? It takes integers too", "float"},
    {"double", "did you mean :float?", "float"},
    {"str", "did you mean :string?", "string"},
    {"text", "did you mean :string?", "string"},
    {"date", "did you mean :datetime?", "datetime"},
    {"timestamp", "did you mean :datetime?", "datetime"},
    {"atom", "did you mean :keyword?", "keyword"},
    {"symbol", "did you mean :keyword?", "keyword"},
    {"nil", "add ? to the type of what may be nil, as in :string?", NULL},
    {"null", "add ? to the type of what may be nil, as in :string?", NULL},
};

static bool unknown_type(SigParser *p, size_t len)
{
    const char *word = p->p;
    PtcText shown = ptc_text_cut((PtcText){word, len}, 40);
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (is_signature_word(word, len, other_names[i].word)) {
            p->error->nearest = other_names[i].nearest;
            return fail_signature(p, word - 1, "no type :%.*s; %s", PTC_ARG(shown),
                                  other_names[i].hint);
        }
    PtcNearest nearest;
    ptc_nearest_init(&nearest, word, len);
    for (size_t i = 0; i < PLAINS; i++)
        ptc_nearest_offer(&nearest, plain[i].name, strlen(plain[i].name));
    p->error->nearest = nearest.best;
    if (nearest.best)
        return fail_signature(p, word - 1, "no type :%.*s; did you mean :%s?", PTC_ARG(shown),
                              nearest.best);
    return fail_signature(
        p, word - 1,
        "no type :%.*s; there are :string :int :float :bool :keyword :datetime :any :map",
        PTC_ARG(shown));
}

/* After the colon. */
static bool parse_plain(SigParser *p, const PtcSigType **out)
{
    size_t len = word_length(p);
    if (len == 0)
        return expected(p, "the name of a type right after the colon, as in :int");
    size_t i = 0;
    while (i < PLAINS && !is_signature_word(p->p, len, plain[i].name))
        i++;
    if (is_signature_word(p->p, len, "boolean"))
        i = PTC_SIG_BOOL;
    if (i == PLAINS)
        return unknown_type(p, len);
    p->p += len;
    bool optional = is_signature_char(p, '?');
    p->p += optional;
    *out = optional ? &plain[i].optional : &plain[i].type;
    return true;
}

/* --------------------------------------------------------------------------------- fields */

static bool parse_type(SigParser *p, const PtcSigType **out);

/* Is the latest name new?  Also notes names that differ only in hyphens. */
static bool check_new(SigParser *p, PtcSigType *type, const char *begin)
{
    const PtcSigField *fields = type->fields, *last = fields + type->field_count - 1;
    for (const PtcSigField *f = fields; f < last; f++) {
        if (f->hash != last->hash)
            continue;
        if (f->name_len == last->name_len && memcmp(f->name, last->name, f->name_len) == 0)
            return fail_signature(p, begin, "the name %.60s is given twice", f->name);
        type->aliased = type->aliased || ptc_sig_fields_clash(f, last);
    }
    return true;
}

static bool parse_field(SigParser *p, PtcSigType *type)
{
    skip_signature_space(p);
    const char *begin = p->p;
    size_t len = word_length(p);
    if (len == 0 || !ptc_ascii_begins_name(*begin))
        return expected(p, "a name (letters, digits, _ and -, not a digit or - first)");
    if (type->field_count == PTC_SIG_MAX_FIELDS)
        return fail_signature(p, begin, "more than %d names in one place", PTC_SIG_MAX_FIELDS);
    PtcSigField *fields = ptc_arena_push(p->arena, (void *)(uintptr_t)type->fields,
                                         type->field_count, sizeof *fields);
    if (!fields || !ptc_sig_field_init(p->arena, &fields[type->field_count], begin, len))
        return fail_signature_memory(p);
    type->fields = fields;
    PtcSigField *f = &fields[type->field_count++];
    p->p += len;
    skip_signature_space(p);
    return parse_type(p, &f->type) && check_new(p, type, begin);
}

/* Up to and including the closing bracket. */
static bool parse_fields(SigParser *p, PtcSigType *type, char close)
{
    if (take_signature_char(p, close))
        return true;
    do {
        if (!parse_field(p, type))
            return false;
    } while (take_signature_char(p, ','));
    return take_signature_char(p, close) || expected(p, close == '}' ? "',' or '}'" : "',' or ')'");
}

/* ---------------------------------------------------------------------------------- types */

static bool parse_parts(SigParser *p, PtcSigType *type)
{
    if (*p->p++ == '{') {
        type->kind = PTC_SIG_FIELDS;
        return parse_fields(p, type, '}');
    }
    type->kind = PTC_SIG_LIST;
    skip_signature_space(p);
    if (is_signature_char(p, ']'))
        return expected(p, "the type of the elements, as in [:any]");
    return parse_type(p, &type->item) &&
           (take_signature_char(p, ']') ||
            expected(p, "']' (a list has one type for all its elements)"));
}

/* The type, or, if a ? follows, its optional form. */
static bool parse_mark(SigParser *p, const PtcSigType *type, const PtcSigType **out)
{
    *out = type;
    if (!is_signature_char(p, '?'))
        return true;
    PtcSigType *optional = ptc_arena_zalloc(p->arena, sizeof *optional);
    if (!optional)
        return fail_signature_memory(p);
    p->p++;
    *optional = (PtcSigType){.kind = PTC_SIG_OPTIONAL, .item = type};
    *out = optional;
    return true;
}

static bool parse_nested(SigParser *p, const PtcSigType **out)
{
    if (p->depth == PTC_SIG_MAX_DEPTH)
        return fail_signature(p, p->p, "types are nested deeper than %d", PTC_SIG_MAX_DEPTH);
    PtcSigType *type = ptc_arena_zalloc(p->arena, sizeof *type);
    if (!type)
        return fail_signature_memory(p);
    p->depth++;
    bool ok = parse_parts(p, type);
    p->depth--;
    return ok && parse_mark(p, type, out);
}

static bool parse_type(SigParser *p, const PtcSigType **out)
{
    if (is_signature_char(p, '[') || is_signature_char(p, '{'))
        return parse_nested(p, out);
    if (is_signature_char(p, ':')) {
        p->p++;
        return parse_plain(p, out);
    }
    size_t len = word_length(p);
    for (size_t i = 0; i < PLAINS; i++)
        if (is_signature_word(p->p, len, plain[i].name)) {
            p->error->nearest = plain[i].name;
            return fail_signature(p, p->p, "a type begins with a colon: write :%s", plain[i].name);
        }
    return expected(p, "a type: :int, [:int] or {name :int}");
}

static bool parse_params(SigParser *p, PtcSig *sig)
{
    sig->params.kind = PTC_SIG_FIELDS;
    if (!take_signature_char(p, '('))
        return true;
    sig->has_params = true;
    if (!parse_fields(p, &sig->params, ')'))
        return false;
    skip_signature_space(p);
    if (p->end - p->p < 2 || p->p[0] != '-' || p->p[1] != '>')
        return expected(p, "'->' and the type of the result after the parameters");
    p->p += 2;
    skip_signature_space(p);
    return true;
}

static bool parse_whole_signature(SigParser *p, PtcSig *sig)
{
    skip_signature_space(p);
    if (p->p == p->end)
        return fail_signature(p, p->p, "the signature is empty; write a type such as {count :int}");
    if (!parse_params(p, sig) || !parse_type(p, &sig->result))
        return false;
    skip_signature_space(p);
    return p->p == p->end || expected(p, "the end of the signature");
}

bool ptc_sig_parse(PtcArena *arena, const char *text, size_t len, const PtcSig **out,
                   PtcSigError *error)
{
    SigParser p = {arena, text, text, text + len, 0, error};
    *error = (PtcSigError){.line = 1, .column = 1};
    if (len > PTC_SIG_MAX_BYTES)
        return fail_signature(&p, text, "the signature is longer than %d bytes", PTC_SIG_MAX_BYTES);
    PtcSig *sig = ptc_arena_zalloc(arena, sizeof *sig);
    if (!sig)
        return fail_signature_memory(&p);
    *out = sig;
    return parse_whole_signature(&p, sig);
}
