/* SPDX-License-Identifier: MIT
 * Reads Mustache templates.  One pass over the text: each tag is read once, and text between tags is never copied.
 *
 * A tag that is alone on its line (apart from blanks) takes the line with it, unless it is replaced by a value. */
#include "agent/prompt/template.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "lisp/read/diag.h"

enum { DELIMITER_MAX = 16, TEMPLATE_SHOWN = 60 };

typedef struct TemplateReading {
    PtcArena *arena;
    PtcText text;
    size_t pos;          /* what lies before it is in nodes */
    PtcText open, close; /* the delimiters */
    PtcTemplate *out;
    size_t stack[PTC_TEMPLATE_DEPTH]; /* open sections */
    size_t depth;
    PtcTemplateError *error;
} TemplateReading;

/* One tag: bytes [first, last) of the text, and what is in it. */
typedef struct Tag {
    size_t first, last;
    char sign; /* # ^ / ! = or 0 for a value */
    PtcText body;
} Tag;

/* ------------------------------------------------------------------------------ reasons */

static bool refuse_template_text(TemplateReading *r, size_t at, const char *format, ...)
    PTC_PRINTF(3, 4);

static bool refuse_template_text(TemplateReading *r, size_t at, const char *format, ...)
{
    va_list args;
    PtcTemplateError *e = r->error;
    va_start(args, format);
    vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    ptc_diag_place(r->text.bytes, r->text.len, (uint32_t)at, &e->line, &e->column);
    return false;
}

static bool refuse_template_memory(TemplateReading *r)
{
    r->error->no_memory = true;
    return refuse_template_text(r, 0, "out of memory");
}

/* -------------------------------------------------------------------------------- nodes */

static PtcTemplateNode *add_template_node(TemplateReading *r, PtcTemplateKind kind, PtcText text)
{
    PtcTemplate *t = r->out;
    PtcTemplateNode *nodes = ptc_arena_push(r->arena, t->nodes, t->count, sizeof *nodes);
    if (!nodes) {
        refuse_template_memory(r);
        return NULL;
    }
    t->nodes = nodes;
    nodes[t->count] = (PtcTemplateNode){.kind = kind, .text = text};
    return &nodes[t->count++];
}

static bool add_text_node(TemplateReading *r, size_t first, size_t last)
{
    return last <= first ||
           add_template_node(r, PTC_TEMPLATE_TEXT, (PtcText){r->text.bytes + first, last - first});
}

static size_t count_path_names(PtcText path)
{
    size_t n = 1;
    for (size_t i = 0; i < path.len; i++)
        n += path.bytes[i] == '.';
    return n;
}

/* Splits a.b.c into its names; "." has none. */
static bool read_path_names(TemplateReading *r, const Tag *tag, PtcTemplateNode *node)
{
    PtcText path = tag->body;
    size_t n = count_path_names(path), from = 0;
    if (ptc_text_is(path, "."))
        return true;
    if (path.len == 0)
        return refuse_template_text(r, tag->first, "a tag without a name; write {{name}}");
    if (n > PTC_TEMPLATE_NAMES)
        return refuse_template_text(r, tag->first, "a name of %zu parts; at most %d are allowed", n,
                                    PTC_TEMPLATE_NAMES);
    PtcText *names = ptc_arena_alloc(r->arena, n * sizeof *names);
    if (!names)
        return refuse_template_memory(r);
    for (size_t i = 0; i < n; i++) {
        size_t to = from;
        while (to < path.len && path.bytes[to] != '.')
            to++;
        if (to == from)
            return refuse_template_text(r, tag->first, "`%.*s` has an empty part",
                                        PTC_ARG(ptc_text_cut(path, TEMPLATE_SHOWN)));
        names[i] = (PtcText){path.bytes + from, to - from};
        from = to + 1;
    }
    node->names = names;
    node->name_count = n;
    node->first_name = r->out->name_count;
    r->out->name_count += n;
    return true;
}

/* --------------------------------------------------------------------------------- tags */

/* The position of `what` from `from` on; the length of the text if there is none. */
static size_t find_in_template(PtcText text, size_t from, PtcText what)
{
    while (from + what.len <= text.len) {
        const char *p = memchr(text.bytes + from, what.bytes[0], text.len - what.len - from + 1);
        if (!p)
            break;
        from = (size_t)(p - text.bytes);
        if (memcmp(p, what.bytes, what.len) == 0)
            return from;
        from++;
    }
    return text.len;
}

static bool has_text_at(PtcText text, size_t at, PtcText what)
{
    return at + what.len <= text.len && memcmp(text.bytes + at, what.bytes, what.len) == 0;
}

static bool refuse_unclosed_tag(TemplateReading *r, size_t at)
{
    return refuse_template_text(r, at, "`%.*s` opens a tag that no `%.*s` closes", PTC_ARG(r->open),
                                PTC_ARG(r->close));
}

/* {{{name}}}: the closing brace belongs to the tag. */
static bool read_triple(TemplateReading *r, size_t inside, Tag *tag)
{
    char end[DELIMITER_MAX + 1] = "}";
    memcpy(end + 1, r->close.bytes, r->close.len);
    PtcText closing = {end, r->close.len + 1};
    size_t at = find_in_template(r->text, inside, closing);
    if (at == r->text.len)
        return refuse_unclosed_tag(r, tag->first);
    tag->body = ptc_text_trim((PtcText){r->text.bytes + inside, at - inside}, " \t\r\n");
    tag->last = at + closing.len;
    return true;
}

/* Reads the tag that begins at `first`. */
static bool read_tag(TemplateReading *r, size_t first, Tag *tag)
{
    size_t inside = first + r->open.len;
    *tag = (Tag){.first = first};
    if (has_text_at(r->text, inside, PTC_TEXT("{")))
        return read_triple(r, inside + 1, tag);
    size_t from = inside;
    if (has_text_at(r->text, inside, PTC_TEXT("="))) /* the new delimiters may hold the old ones */
        from = find_in_template(r->text, inside + 1, PTC_TEXT("="));
    size_t at = find_in_template(r->text, from, r->close);
    if (at == r->text.len)
        return refuse_unclosed_tag(r, first);
    PtcText body = ptc_text_trim((PtcText){r->text.bytes + inside, at - inside}, " \t\r\n");
    if (body.len && memchr("#^/!=&>", body.bytes[0], 7)) {
        tag->sign = body.bytes[0];
        body = ptc_text_trim((PtcText){body.bytes + 1, body.len - 1}, " \t\r\n");
    }
    if (tag->sign == '&')
        tag->sign = 0;
    tag->body = body;
    tag->last = at + r->close.len;
    return true;
}

/* Is the tag alone on its line?  Then *first and *last become the whole line's. */
static bool is_alone_on_line(const TemplateReading *r, const Tag *tag, size_t *first, size_t *last)
{
    const char *s = r->text.bytes;
    size_t from = tag->first, to = tag->last;
    while (from > 0 && ptc_ascii_is_blank(s[from - 1]))
        from--;
    while (to < r->text.len && ptc_ascii_is_blank(s[to]))
        to++;
    if (from > 0 && s[from - 1] != '\n')
        return false;
    if (to < r->text.len && s[to] == '\r')
        to++;
    if (to < r->text.len && s[to] != '\n')
        return false;
    *first = from;
    *last = to < r->text.len ? to + 1 : to;
    return true;
}

static bool open_section_node(TemplateReading *r, const Tag *tag)
{
    PtcText whole = {r->text.bytes + tag->first, tag->last - tag->first};
    PtcTemplateNode *node = add_template_node(
        r, tag->sign == '#' ? PTC_TEMPLATE_SECTION : PTC_TEMPLATE_INVERTED, whole);
    if (!node || !read_path_names(r, tag, node))
        return false;
    if (r->depth == PTC_TEMPLATE_DEPTH)
        return refuse_template_text(r, tag->first, "sections nested deeper than %d",
                                    PTC_TEMPLATE_DEPTH);
    r->stack[r->depth++] = r->out->count - 1;
    return true;
}

static PtcText section_name(const PtcTemplateNode *node)
{
    if (node->name_count == 0)
        return PTC_TEXT(".");
    const PtcText *last = &node->names[node->name_count - 1];
    const char *first = node->names[0].bytes;
    return (PtcText){first, (size_t)(last->bytes + last->len - first)};
}

static bool close_section(TemplateReading *r, const Tag *tag)
{
    if (r->depth == 0)
        return refuse_template_text(r, tag->first, "{{/%.*s}} closes a section that was not opened",
                                    PTC_ARG(ptc_text_cut(tag->body, TEMPLATE_SHOWN)));
    size_t opened = r->stack[--r->depth];
    PtcText name = section_name(&r->out->nodes[opened]);
    if (!ptc_text_same(name, tag->body))
        return refuse_template_text(r, tag->first, "{{/%.*s}} where {{/%.*s}} was expected",
                                    PTC_ARG(ptc_text_cut(tag->body, TEMPLATE_SHOWN)),
                                    PTC_ARG(ptc_text_cut(name, TEMPLATE_SHOWN)));
    PtcText whole = {r->text.bytes + tag->first, tag->last - tag->first};
    PtcTemplateNode *node = add_template_node(r, PTC_TEMPLATE_END, whole);
    if (!node)
        return false;
    node->end = opened;
    r->out->nodes[opened].end = r->out->count - 1;
    return true;
}

/* {{=<% %>=}} */
static bool set_delimiters(TemplateReading *r, const Tag *tag)
{
    PtcText body = tag->body;
    if (body.len && body.bytes[body.len - 1] == '=')
        body = ptc_text_trim((PtcText){body.bytes, body.len - 1}, " \t\r\n");
    size_t n = 0;
    while (n < body.len && !ptc_ascii_is_space(body.bytes[n]))
        n++;
    PtcText open = {body.bytes, n};
    PtcText close = ptc_text_trim((PtcText){body.bytes + n, body.len - n}, " \t\r\n");
    bool ok = open.len && close.len && open.len <= DELIMITER_MAX && close.len <= DELIMITER_MAX;
    for (size_t i = 0; i < body.len; i++)
        ok = ok && body.bytes[i] != '=';
    for (size_t i = 0; i < close.len; i++)
        ok = ok && !ptc_ascii_is_space(close.bytes[i]);
    if (!ok)
        return refuse_template_text(r, tag->first,
                                    "new delimiters are written {{=<%% %%>=}}, %d bytes at most",
                                    DELIMITER_MAX);
    r->open = open;
    r->close = close;
    return true;
}

static bool add_value_node(TemplateReading *r, const Tag *tag)
{
    PtcText whole = {r->text.bytes + tag->first, tag->last - tag->first};
    PtcTemplateNode *node = add_template_node(r, PTC_TEMPLATE_VALUE, whole);
    return node && read_path_names(r, tag, node);
}

static bool take_tag(TemplateReading *r, const Tag *tag)
{
    size_t first = tag->first, last = tag->last;
    if (tag->sign)
        is_alone_on_line(r, tag, &first, &last);
    /* A line that an earlier tag took reaches up to r->pos; this text begins after it. */
    if (!add_text_node(r, r->pos, first))
        return false;
    r->pos = last;
    switch (tag->sign) {
    case '#':
    case '^': return open_section_node(r, tag);
    case '/': return close_section(r, tag);
    case '=': return set_delimiters(r, tag);
    case '!': return true;
    case '>':
        return refuse_template_text(r, tag->first,
                                    "partials, {{>name}}, are not possible in a prompt");
    default: return add_value_node(r, tag);
    }
}

bool ptc_template_read(PtcArena *arena, PtcText text, PtcTemplate *out, PtcTemplateError *error)
{
    TemplateReading r = {.arena = arena,
                         .text = text,
                         .open = PTC_TEXT("{{"),
                         .close = PTC_TEXT("}}"),
                         .out = out,
                         .error = error};
    Tag tag;
    *out = (PtcTemplate){0};
    *error = (PtcTemplateError){0};
    for (size_t at; (at = find_in_template(text, r.pos, r.open)) < text.len;)
        if (!read_tag(&r, at, &tag) || !take_tag(&r, &tag))
            return false;
    if (r.depth > 0) {
        const PtcTemplateNode *node = &out->nodes[r.stack[r.depth - 1]];
        PtcText name = section_name(node);
        return refuse_template_text(&r, (size_t)(node->text.bytes - text.bytes),
                                    "the section %.*s is not closed: {{/%.*s}} is missing",
                                    PTC_ARG(ptc_text_cut(name, TEMPLATE_SHOWN)),
                                    PTC_ARG(ptc_text_cut(name, TEMPLATE_SHOWN)));
    }
    return add_text_node(&r, r.pos, text.len);
}
