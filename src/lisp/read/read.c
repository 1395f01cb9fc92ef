/* SPDX-License-Identifier: MIT
 * read.c - the structure of program text: brackets, prefixes, comments. */
#include "lisp/read/read_int.h"

#include <string.h>

#include "base/utf8.h"

enum { NOWHERE = UINT32_MAX };

static bool next_form(PtcReading *r, PtcForm **out);

/* ------------------------------------------------------------- small parts */

PtcForm *ptc_read_new(PtcReading *r, PtcFormKind kind, uint32_t first)
{
    PtcForm *f = ptc_arena_alloc(r->in->arena, sizeof *f);
    if (f)
        *f = (PtcForm){.kind = kind, .first = first, .last = r->pos};
    return f;
}

PtcExcerpt ptc_read_excerpt(const PtcReading *r, uint32_t first, uint32_t last)
{
    PtcExcerpt e;
    uint32_t n = last - first < 2 * sizeof e.text ? last - first : 2 * sizeof e.text;
    ptc_diag_format(e.text, sizeof e.text, "%.*s", PTC_ARG_OF(r->source + first, n));
    for (char *c = e.text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return e;
}

/* The character at `at`, 0 at the end of the program. */
static char peek_source(const PtcReading *r, uint32_t at)
{
    return at < r->len ? r->source[at] : 0;
}

/* What closes the form that begins at `at`; 0 when it is only a prefix. */
static char closer_of(const PtcReading *r, uint32_t at)
{
    char c = peek_source(r, at);
    switch (c == '#' ? peek_source(r, at + 1) : c) {
    case '(': return ')';
    case '[': return ']';
    case '{': return '}';
    default: return 0;
    }
}

static bool is_closer(char c)
{
    return c == ')' || c == ']' || c == '}';
}

/* How the opener at `at` is written. */
static int opener_len(const PtcReading *r, uint32_t at)
{
    return peek_source(r, at) == '#' ? 2 : 1;
}

/* Goes one level deeper, into the form that begins at `at`. */
static bool enter_read_form(PtcReading *r, uint32_t at)
{
    if (r->depth == PTC_FORM_DEPTH) {
        PtcDiag *d = ptc_diag_add(r->in->diags, PTC_E_DEPTH, at, at + 1,
                                  "forms are nested deeper than %d", PTC_FORM_DEPTH);
        ptc_diag_hint(d, "name inner parts with let or def and use the names");
        return false;
    }
    if (r->depth > 0 && r->margin == 0 && peek_source(r, at) == '(' && r->source[at - 1] == '\n')
        r->margin = at;
    r->open[r->depth++] = at;
    return true;
}

static void leave_read_form(PtcReading *r)
{
    if (r->margin > r->open[--r->depth])
        r->margin = 0;
}

/* ---------------------------------------------------------------- brackets */

/* Writes the closers of all open forms, innermost first; false when there are too many. */
static bool missing_closers(const PtcReading *r, char *out, size_t size)
{
    size_t n = 0;
    for (uint32_t i = r->depth; i-- > 0;) {
        char c = closer_of(r, r->open[i]);
        if (c && n + 1 == size)
            return false;
        if (c)
            out[n++] = c;
    }
    out[n] = 0;
    return true;
}

/* The program ended inside the form that begins at `first`. */
static PtcForm *fail_unclosed(PtcReading *r, uint32_t first)
{
    uint32_t line, column;
    char missing[24];
    ptc_diag_place(r->source, r->len, first, &line, &column);
    PtcDiag *d = PTC_READ_FAIL(
        r, first, r->len, "`%.*s` opened at line %u, column %u is never closed: `%c` is missing",
        PTC_ARG_OF(r->source + first, opener_len(r, first)), line, column, closer_of(r, first));
    if (d)
        d->detail = PTC_DETAIL_UNCLOSED;
    if (r->margin) {
        ptc_diag_place(r->source, r->len, r->margin, &line, &column);
        ptc_diag_hint(d,
                      "line %u begins a form at the left margin while this one is still open: "
                      "perhaps `%c` is missing just before it",
                      line, closer_of(r, first));
    } else if (missing_closers(r, missing, sizeof missing)) {
        ptc_diag_hint(d, "add `%s` at the end of the program, or `%c` where this form should end",
                      missing, closer_of(r, first));
    } else {
        ptc_diag_hint(d, "add `%c` where this form should end", closer_of(r, first));
    }
    return NULL;
}

/* Does the closer c belong to a form further out than the innermost? */
static bool closes_outer(const PtcReading *r, char c)
{
    for (uint32_t i = 0; i + 1 < r->depth; i++)
        if (closer_of(r, r->open[i]) == c)
            return true;
    return false;
}

/* The form that begins at `first` meets a closer of another kind. */
static PtcForm *mismatched(PtcReading *r, uint32_t first)
{
    uint32_t line, column, end_line, end_column;
    char found = r->source[r->pos], wanted = closer_of(r, first);
    ptc_diag_place(r->source, r->len, first, &line, &column);
    ptc_diag_place(r->source, r->len, r->pos, &end_line, &end_column);
    PtcDiag *d = PTC_READ_FAIL(r, first, r->pos + 1,
                               "`%.*s` opened at line %u, column %u is closed by `%c` at line %u, "
                               "column %u: `%c` expected",
                               PTC_ARG_OF(r->source + first, opener_len(r, first)), line, column,
                               found, end_line, end_column, wanted);
    if (closes_outer(r, found))
        ptc_diag_hint(d, "add `%c` where the form that `%.*s` opens should end, before this `%c`",
                      wanted, PTC_ARG_OF(r->source + first, opener_len(r, first)), found);
    else
        ptc_diag_hint(d, "write `%c` instead of `%c`", wanted, found);
    return NULL;
}

/* A closer at top level.  `before`: where the form before it begins, or NOWHERE. */
static void stray_closer(PtcReading *r, uint32_t before)
{
    uint32_t line, column;
    char c = r->source[r->pos];
    PtcDiag *d =
        PTC_READ_FAIL(r, r->pos, r->pos + 1, "`%c` closes nothing: no form is open here", c);
    if (before == NOWHERE) {
        ptc_diag_hint(d, "remove it");
        return;
    }
    ptc_diag_place(r->source, r->len, before, &line, &column);
    ptc_diag_hint(d,
                  "remove it, or one closer too many before it: the form that began at line %u, "
                  "column %u is complete already",
                  line, column);
}

static bool push_item(PtcReading *r, PtcForm ***items, size_t count, PtcForm *item)
{
    PtcForm **grown = ptc_arena_push(r->in->arena, *items, count, sizeof *grown);
    if (!grown)
        return false;
    grown[count] = item;
    *items = grown;
    return true;
}

/* Reads the items of `f` up to its closer. */
static PtcForm *read_items(PtcReading *r, PtcForm *f)
{
    PtcForm **items = NULL, *item;
    for (;;) {
        if (!next_form(r, &item))
            return NULL;
        if (!item)
            break;
        if (!push_item(r, &items, f->count, item))
            return NULL;
        f->count++;
    }
    if (r->pos == r->len)
        return fail_unclosed(r, f->first);
    if (r->source[r->pos] != closer_of(r, f->first))
        return mismatched(r, f->first);
    f->last = ++r->pos;
    f->items = items;
    return f;
}

/* Reads a bracketed form. */
static PtcForm *read_group(PtcReading *r, PtcFormKind kind)
{
    uint32_t at = r->pos;
    if (!enter_read_form(r, at))
        return NULL;
    r->pos += (uint32_t)opener_len(r, at);
    PtcForm *f = ptc_read_new(r, kind, at);
    if (!f || !read_items(r, f))
        return NULL;
    leave_read_form(r);
    return f;
}

/* A keyword in a key's place with another keyword as its value, in a map whose last key is none: that
 * is where the value was left out. */
static const PtcForm *likely_lone_key(const PtcForm *map)
{
    if (map->items[map->count - 1]->kind == PTC_F_KEYWORD)
        return NULL;
    for (uint32_t i = 0; i + 1 < map->count; i += 2)
        if (map->items[i]->kind == PTC_F_KEYWORD && map->items[i + 1]->kind == PTC_F_KEYWORD)
            return map->items[i];
    return NULL;
}

PtcForm *ptc_read_map(PtcReading *r)
{
    PtcForm *f = read_group(r, PTC_F_MAP);
    if (!f || f->count % 2 == 0)
        return f;
    const PtcForm *key = f->items[f->count - 1], *lone = likely_lone_key(f);
    PtcDiag *d = PTC_READ_FAIL(r, key->first, key->last,
                               "map literal with an odd number of forms (%u): `%s` has no value",
                               f->count, ptc_read_excerpt(r, key->first, key->last).text);
    if (lone)
        ptc_diag_hint(d, "perhaps the value of `%s` was left out: the next form is a keyword too",
                      ptc_read_excerpt(r, lone->first, lone->last).text);
    else
        ptc_diag_hint(d, "write a value after each key: {:a 1, :b 2}");
    return NULL;
}

static PtcForm *read_short_fn(PtcReading *r)
{
    if (r->in_short_fn) {
        PtcDiag *d = PTC_READ_FAIL(r, r->pos, r->pos + 2, "`#(...)` inside another `#(...)`");
        ptc_diag_hint(d, "write the inner function as (fn [x] ...)");
        return NULL;
    }
    r->in_short_fn = true;
    PtcForm *f = read_group(r, PTC_F_SHORT_FN);
    r->in_short_fn = false;
    return f;
}

/* ---------------------------------------------------------------- prefixes */

/* Reads the form that a prefix of `width` bytes applies to. */
PtcForm *ptc_read_operand(PtcReading *r, uint32_t width)
{
    uint32_t at = r->pos;
    PtcForm *f;
    if (!enter_read_form(r, at))
        return NULL;
    r->pos += width;
    if (!next_form(r, &f))
        return NULL;
    if (!f) {
        PtcDiag *d = PTC_READ_FAIL(r, at, at + width, "no form follows `%.*s`",
                                   PTC_ARG_OF(r->source + at, width));
        ptc_diag_hint(d, "write a form after it, or remove it");
        return NULL;
    }
    leave_read_form(r);
    return f;
}

/* 'x, `x, ~x and ~@x: a prefix and its form. */
static PtcForm *read_prefixed(PtcReading *r, PtcFormKind kind, uint32_t width)
{
    uint32_t at = r->pos;
    PtcForm **items = ptc_arena_alloc(r->in->arena, sizeof *items);
    if (!items)
        return NULL;
    items[0] = ptc_read_operand(r, width);
    PtcForm *f = items[0] ? ptc_read_new(r, kind, at) : NULL;
    if (f) {
        f->items = items;
        f->count = 1;
    }
    return f;
}

/* @x is (clojure.core/deref x), whatever deref means here. */
static PtcForm *read_deref(PtcReading *r)
{
    uint32_t at = r->pos;
    PtcForm **items = ptc_arena_alloc(r->in->arena, 2 * sizeof *items);
    PtcForm *operand = items ? ptc_read_operand(r, 1) : NULL;
    PtcForm *f = operand ? ptc_read_new(r, PTC_F_LIST, at) : NULL;
    if (!f || !(items[0] = ptc_read_new(r, PTC_F_SYMBOL, at)))
        return NULL;
    items[0]->last = at + 1; /* the sign stands for it */
    items[0]->text = "clojure.core/deref";
    items[0]->len = strlen(items[0]->text);
    items[1] = operand;
    f->items = items;
    f->count = 2;
    return f;
}

/* Does the template take anything from the program?  Nesting is bounded by the reader. */
static bool has_unquote(const PtcForm *f)
{
    if (f->kind == PTC_F_UNQUOTE || f->kind == PTC_F_SPLICE)
        return true;
    if (f->kind == PTC_F_SYMBOL)
        return f->len > 1 && f->text[f->len - 1] == '#';
    for (size_t i = 0; f->kind >= PTC_F_LIST && f->kind <= PTC_F_TEMPLATE && i < f->count; i++)
        if (has_unquote(f->items[i]))
            return true;
    return false;
}

/* `(a ~b), a template for data.  Without ~ it would be ' with other symbols, as only macros need it. */
static PtcForm *read_template(PtcReading *r)
{
    uint32_t at = r->pos;
    PtcForm *f = read_prefixed(r, PTC_F_TEMPLATE, 1);
    if (!f || f->items[0]->kind < PTC_F_LIST || has_unquote(f->items[0]))
        return f;
    PtcDiag *d = PTC_READ_FAIL(r, at, r->pos, "the template %s takes nothing from the program",
                               ptc_read_excerpt(r, at, r->pos).text);
    ptc_diag_hint(d, "quote data with ' instead, or put values in with ~: `(a ~b ~@c)");
    return NULL;
}

static PtcForm *read_var(PtcReading *r)
{
    uint32_t at = r->pos;
    const PtcForm *name = ptc_read_operand(r, 2);
    if (!name)
        return NULL;
    if (name->kind != PTC_F_SYMBOL) {
        PtcDiag *d = PTC_READ_FAIL(r, at, r->pos, "`#'` is followed by `%s`, which is not a symbol",
                                   ptc_read_excerpt(r, name->first, name->last).text);
        ptc_diag_hint(d, "write the name of a var: #'my-var");
        return NULL;
    }
    PtcForm *f = ptc_read_new(r, PTC_F_VAR, at);
    if (f) {
        f->text = name->text;
        f->len = name->len;
    }
    return f;
}

/* Skips ^:private, ^String, ^{...}: programs write them, nothing here needs them. */
static bool skip_metadata(PtcReading *r, uint32_t width)
{
    uint32_t at = r->pos;
    const PtcForm *f = ptc_read_operand(r, width);
    if (!f)
        return false;
    if (f->kind == PTC_F_KEYWORD || f->kind == PTC_F_SYMBOL || f->kind == PTC_F_STRING ||
        f->kind == PTC_F_MAP || f->kind == PTC_F_VECTOR)
        return true;
    PtcDiag *d =
        PTC_READ_FAIL(r, at, r->pos, "`%s` is not metadata", ptc_read_excerpt(r, at, r->pos).text);
    ptc_diag_hint(d, "metadata is a keyword, symbol, string or map, and is ignored: leave it out");
    return false;
}

/* Reader syntax of Clojure that this language does not have.  The first match counts. */
static const struct {
    const char *start, *message, *hint;
} refused[] = {
    {"#?", "reader conditionals are not supported", "write only the form meant for :clj"},
    {"#!", "this does not begin a comment", "comments begin with `;`"},
    {"#=", "nothing is evaluated while reading", "write the expression without `#=`"},
    {"#<", "the printed form of an object cannot be read",
     "write the expression that makes the value"},
    {"#fn[", "the printed form of a function cannot be read",
     "write the function's name or (fn [x] ...)"},
    {"#", "no form begins like this",
     "`#` begins #{a set}, #(a function), #\"a regex\", #'a-var, #_skipped, ##Inf, #inst, #uuid or "
     "#:a{...}"},
};

static PtcForm *refuse_reader_syntax(PtcReading *r)
{
    const char *s = r->source + r->pos;
    size_t i = 0, left = r->len - r->pos;
    while (strlen(refused[i].start) > left ||
           memcmp(s, refused[i].start, strlen(refused[i].start)) != 0)
        i++;
    PtcDiag *d;
    if (*s == '#') {
        uint32_t last = ptc_read_token_end(r, r->pos + 1);
        d = PTC_READ_FAIL(r, r->pos, last, "%s: `%s`", refused[i].message,
                          ptc_read_excerpt(r, r->pos, last).text);
    } else {
        d = PTC_READ_FAIL(r, r->pos, r->pos + 1, "%s", refused[i].message);
    }
    ptc_diag_hint(d, "%s", refused[i].hint);
    return NULL;
}

static PtcForm *read_tagged(PtcReading *r)
{
    bool known;
    PtcForm *f = ptc_read_tagged(r, &known);
    return known ? f : refuse_reader_syntax(r);
}

static PtcForm *read_hash(PtcReading *r)
{
    switch (peek_source(r, r->pos + 1)) {
    case '{': return read_group(r, PTC_F_SET);
    case '(': return read_short_fn(r);
    case '"': return ptc_read_regex(r);
    case '\'': return read_var(r);
    case '#': return ptc_read_special(r);
    default: return read_tagged(r);
    }
}

/* --------------------------------------------------------------- any form */

static bool skip_lisp_comment(PtcReading *r)
{
    const char *s = r->source + r->pos;
    const char *end = memchr(s, '\n', r->len - r->pos);
    size_t n = end ? (size_t)(end - s) : r->len - r->pos;
    const char *nul = memchr(s, 0, n);
    if (nul) {
        uint32_t at = (uint32_t)(nul - r->source);
        PtcDiag *d = PTC_READ_FAIL(r, at, at + 1, "NUL byte in a comment");
        ptc_diag_hint(d, "remove it");
        return false;
    }
    r->pos += (uint32_t)n;
    return true;
}

/* Skips white space and comments. */
static bool skip_lisp_blanks(PtcReading *r)
{
    while (r->pos < r->len) {
        uint32_t n = ptc_read_blank(r, r->pos);
        if (n)
            r->pos += n;
        else if (r->source[r->pos] != ';')
            return true;
        else if (!skip_lisp_comment(r))
            return false;
    }
    return true;
}

/* Length of the prefix at r->pos when it is #_ (c '_') or ^ or #^ (c '^'); else 0. */
static uint32_t reader_prefix_len(const PtcReading *r, char c)
{
    char here = peek_source(r, r->pos);
    if (here == '#' && peek_source(r, r->pos + 1) == c)
        return 2;
    return here == '^' && c == '^' ? 1 : 0;
}

static PtcForm *read_form(PtcReading *r)
{
    switch (r->source[r->pos]) {
    case '(': return read_group(r, PTC_F_LIST);
    case '[': return read_group(r, PTC_F_VECTOR);
    case '{': return ptc_read_map(r);
    case '\'': return read_prefixed(r, PTC_F_QUOTE, 1);
    case '`': return read_template(r);
    case '~':
        return peek_source(r, r->pos + 1) == '@' ? read_prefixed(r, PTC_F_SPLICE, 2)
                                                 : read_prefixed(r, PTC_F_UNQUOTE, 1);
    case '#': return read_hash(r);
    case '"': return ptc_read_string(r);
    case '\\': return ptc_read_char(r);
    case ':': return ptc_read_keyword(r);
    case '@': return read_deref(r);
    default: return ptc_read_token(r);
    }
}

/* Metadata at `meta` that no form follows. */
static bool lone_metadata(PtcReading *r, uint32_t meta)
{
    PtcDiag *d =
        PTC_READ_FAIL(r, meta, meta + 1, "the metadata that begins here belongs to no form");
    ptc_diag_hint(d, "write the form after it, or remove it");
    return false;
}

/* Reads the next form, past comments, #_ and metadata.  *out is NULL at a closer and at the end.
 * Recursion ends at PTC_FORM_DEPTH: every path back here goes through enter. */
static bool next_form(PtcReading *r, PtcForm **out)
{
    uint32_t meta = NOWHERE, n;
    *out = NULL;
    for (;;) {
        if (!skip_lisp_blanks(r) || !ptc_tick(r->in->heap->budget, 1))
            return false;
        if (r->pos == r->len || is_closer(r->source[r->pos]))
            return meta == NOWHERE || lone_metadata(r, meta);
        if ((n = reader_prefix_len(r, '_')) != 0) {
            if (!ptc_read_operand(r, n))
                return false;
        } else if ((n = reader_prefix_len(r, '^')) != 0) {
            meta = r->pos;
            if (!skip_metadata(r, n))
                return false;
        } else {
            *out = read_form(r);
            return *out != NULL;
        }
    }
}

/* Can this be a program at all? */
static bool check_source(const PtcReader *in)
{
    if (in->len >= NOWHERE) {
        (void)ptc_diag_add(in->diags, PTC_E_SIZE, 0, 0, "the program is larger than 4 GiB");
        return false;
    }
    if (!ptc_tick(in->heap->budget, 1 + (int64_t)in->len / 64))
        return false;
    size_t valid = ptc_utf8_valid_prefix(in->source, in->len);
    if (valid == in->len)
        return true;
    PtcDiag *d = ptc_diag_add(in->diags, PTC_E_PARSE, (uint32_t)valid, (uint32_t)valid + 1,
                              "the program is not valid UTF-8: byte %zu (counted from 0) is 0x%02X",
                              valid, (unsigned char)in->source[valid]);
    ptc_diag_hint(d, "save or send the program as UTF-8");
    return false;
}

bool ptc_read_first(const PtcReader *reader, PtcForm **form)
{
    *form = NULL;
    if (!check_source(reader))
        return false;
    PtcReading r = {.in = reader, .source = reader->source, .len = (uint32_t)reader->len};
    if (!next_form(&r, form))
        return false;
    if (*form || r.pos == r.len)
        return true;
    stray_closer(&r, NOWHERE);
    return false;
}

bool ptc_read(const PtcReader *reader, PtcForm ***forms, size_t *count)
{
    *forms = NULL;
    *count = 0;
    if (!check_source(reader))
        return false;
    PtcReading r = {.in = reader, .source = reader->source, .len = (uint32_t)reader->len};
    uint32_t before = NOWHERE;
    PtcForm *form;
    for (;;) {
        if (!next_form(&r, &form))
            return false;
        if (!form)
            break;
        if (!push_item(&r, forms, *count, form))
            return false;
        ++*count;
        before = form->first;
    }
    if (r.pos == r.len)
        return true;
    stray_closer(&r, before);
    return false;
}
