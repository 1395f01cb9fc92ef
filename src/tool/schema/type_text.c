/* SPDX-License-Identifier: MIT
 * Types of schemas.  Recursion is over the schema and counted; the text of a type is bounded, and so is the number of
 * schemas that are looked at for it, so however often references make a schema contain parts of itself, little is
 * done.  A whole type is never narrower than its schema: what it rules out cannot be. */
#include "tool/schema/type_text.h"

#include "base/text/clean.h"
#include "json/emit.h"
#include "json/sketch.h"
#include "tool/schema/schema_view.h"
#include "value/coll/fields.h"

enum {
    NESTED = 12,  /* schemas inside each other, of any kind */
    LOOKS = 1000, /* schemas in one text */
    WHOLE_LEVELS = 6,
    WHOLE_SHOWN = 64,
    WHOLE_VALUES = 8, /* of an enum; of one with more only the kinds are said */
};

typedef struct {
    PtcBuf *out;
    PtcHeap *heap;
    PtcValue root;
    PtcValue open[NESTED]; /* schemas that are being written */
    bool whole, gives;
    int levels; /* of maps */
    size_t shown;
    int depth, maps, looks;
} Typing;

static void add_type_of_schema(Typing *t, PtcValue schema);

/* ----------------------------------------------------------------------------- alternatives */

/* Is the last alternative, from `from` on, one of those before it since `start`?  Alternatives of their parts are
 * none. */
static bool is_repeated(const PtcBuf *out, size_t start, size_t from)
{
    size_t begin = start, len = out->len - from;
    int inside = 0;
    bool quoted = false;
    for (size_t i = start; i < from; i++) {
        char c = out->data[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted)
            inside += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (c != '|' || quoted || inside > 0)
            continue;
        if (i - begin == len && memcmp(out->data + begin, out->data + from, len) == 0)
            return true;
        begin = i + 1;
    }
    return false;
}

/* Takes back what was written from `from` on, and the | before it, if the choice already has that type. */
static void end_choice(Typing *t, size_t start, size_t from)
{
    if (from > start && ptc_buf_ok(t->out) && is_repeated(t->out, start, from))
        t->out->len = from - 1;
}

static size_t begin_choice(Typing *t, size_t start)
{
    if (t->out->len > start)
        ptc_buf_add_char(t->out, '|');
    return t->out->len;
}

static void add_word_choice(Typing *t, size_t start, const char *word)
{
    size_t from = begin_choice(t, start);
    ptc_buf_add_cstr(t->out, word);
    end_choice(t, start, from);
}

static void add_choice_types(Typing *t, PtcValue choices)
{
    size_t start = t->out->len, n = ptc_fields_count(choices);
    for (size_t i = 0; i < n && i < PTC_TYPE_TEXT_SHOWN; i++) {
        size_t from = begin_choice(t, start);
        add_type_of_schema(t, ptc_seq_nth(choices, i));
        end_choice(t, start, from);
    }
    if (n > PTC_TYPE_TEXT_SHOWN)
        ptc_buf_add_cstr(t->out, "|...");
}

static const char *kind_of_json(PtcValue v)
{
    return v == PTC_NIL           ? "nil"
           : ptc_is_bool(v)       ? "bool"
           : ptc_is_string(v)     ? "string"
           : ptc_is_map(v)        ? "map"
           : ptc_is_sequential(v) ? "[any]"
           : ptc_is_int(v)        ? "int"
                                  : "number";
}

/* A value as a program writes it; of others, for a whole type, only the kind. */
static void add_literal(Typing *t, PtcValue v)
{
    PtcBuf json;
    bool plain = ptc_is_bool(v) || ptc_is_int(v);
    if (ptc_is_string(v)) {
        ptc_sketch_write_string(t->out, ptc_str_text(v));
        return;
    }
    ptc_buf_init(&json, t->heap->pool->mem, PTC_TYPE_TEXT_BYTES);
    if (v == PTC_NIL || (t->whole && !plain) || !ptc_emit_value(&json, t->heap, v))
        ptc_buf_add_cstr(t->out, kind_of_json(v));
    else
        ptc_buf_add(t->out, json.data, json.len);
    ptc_buf_end_part(t->out, &json);
}

static void add_enum(Typing *t, PtcValue values)
{
    size_t start = t->out->len, n = ptc_fields_count(values);
    bool kinds = t->whole && n > WHOLE_VALUES;
    for (size_t i = 0; i < n && (kinds || i < PTC_TYPE_TEXT_SHOWN); i++) {
        if (kinds) {
            add_word_choice(t, start, kind_of_json(ptc_seq_nth(values, i)));
            continue;
        }
        begin_choice(t, start);
        add_literal(t, ptc_seq_nth(values, i));
    }
    if (!kinds && n > PTC_TYPE_TEXT_SHOWN)
        ptc_buf_add_cstr(t->out, "|...");
}

/* ------------------------------------------------------------------------------------ maps */

/* What a schema says of the members of an object. */
typedef struct {
    PtcValue named, required;
    PtcValue others; /* the schema of all that have no name here; PTC_NONE: nothing is known */
    bool closed;
} SchemaMembers;

static SchemaMembers members_of(Typing *t, PtcValue schema)
{
    SchemaMembers m = {ptc_schema_view_properties(t->heap, t->root, schema),
                       ptc_schema_view_required(t->heap, t->root, schema), PTC_NONE, false};
    PtcValue others = ptc_map_field(t->heap, schema, "additionalProperties");
    bool patterns = t->whole && ptc_map_field(t->heap, schema, "patternProperties") != PTC_NONE;
    if (m.named != PTC_NONE && ptc_map_count(m.named) == 0)
        m.named = PTC_NONE;
    if (others != PTC_NONE && ptc_is_map(others) && ptc_map_count(others) && !patterns)
        m.others = others;
    m.closed = others == PTC_FALSE && !patterns;
    return m;
}

/* A member that a tool fills in itself if it is not given may be left out. */
static bool is_member_required(const Typing *t, const SchemaMembers *m, PtcText name,
                               PtcValue schema)
{
    return ptc_schema_view_lists(m->required, name) &&
           (t->gives || ptc_schema_view_implied(t->heap, t->root, schema) == PTC_NONE);
}

/* How many were written; a name that is too long is none to be read. */
static size_t add_property_types(Typing *t, const SchemaMembers *m)
{
    PtcValue name, schema;
    size_t n = 0;
    for (size_t pos = 0; ptc_map_next(m->named, &pos, &name, &schema); n++) {
        PtcText text = ptc_str_text(name);
        ptc_buf_add_cstr(t->out, n ? ", " : "");
        if (n == t->shown || text.len > PTC_CLEAN_LINE) {
            ptc_buf_add_cstr(t->out, "...");
            if (n == t->shown)
                break;
            continue;
        }
        ptc_sketch_write_name(t->out, text);
        ptc_buf_add_cstr(t->out, is_member_required(t, m, text, schema) ? " " : "? ");
        add_type_of_schema(t, schema);
    }
    return n;
}

static void add_object_type(Typing *t, PtcValue schema)
{
    SchemaMembers m = members_of(t, schema);
    if (t->maps == t->levels || (m.named == PTC_NONE && m.others == PTC_NONE)) {
        ptc_buf_add_cstr(t->out, "map");
        return;
    }
    t->maps++;
    ptc_buf_add_char(t->out, '{');
    size_t n = m.named == PTC_NONE ? 0 : add_property_types(t, &m);
    if (m.others != PTC_NONE && (t->whole || n == 0)) {
        ptc_buf_add_cstr(t->out, n ? ", * " : "* ");
        add_type_of_schema(t, m.others);
    }
    ptc_buf_add_cstr(t->out, t->whole && m.closed ? "}!" : "}");
    t->maps--;
}

static void add_array(Typing *t, PtcValue schema)
{
    PtcValue items = ptc_map_field(t->heap, schema, "items");
    bool said = items != PTC_NONE && ptc_is_map(items) &&
                ptc_map_field(t->heap, schema, "prefixItems") == PTC_NONE;
    ptc_buf_add_char(t->out, '[');
    if (said)
        add_type_of_schema(t, items);
    else
        ptc_buf_add_cstr(t->out, "any");
    ptc_buf_add_char(t->out, ']');
}

/* ---------------------------------------------------------------------------------- schemas */

static void add_named_types(Typing *t, PtcValue schema, unsigned types)
{
    static const char *const words[] = {"string", "int", "number", "bool"};
    size_t start = t->out->len;
    for (int i = 0; i < 4; i++)
        if (types & 1u << i)
            add_word_choice(t, start, words[i]);
    if (types & PTC_SCHEMA_TYPE_ARRAY) {
        begin_choice(t, start);
        add_array(t, schema);
    }
    if (types & PTC_SCHEMA_TYPE_OBJECT) {
        begin_choice(t, start);
        add_object_type(t, schema);
    }
    if (types & PTC_SCHEMA_TYPE_NULL)
        add_word_choice(t, start, "nil");
}

/* Several schemas of which all hold are an object if any of them has properties. */
static bool is_object_of_all(Typing *t, PtcValue schema)
{
    return !t->whole || ptc_schema_view_properties(t->heap, t->root, schema) != PTC_NONE;
}

static void add_schema(Typing *t, PtcValue schema)
{
    PtcValue values = ptc_map_field(t->heap, schema, "enum");
    PtcValue constant = ptc_map_field(t->heap, schema, "const");
    PtcValue choices = ptc_schema_view_choices(t->heap, schema);
    PtcValue all = ptc_map_field(t->heap, schema, "allOf");
    unsigned types = ptc_schema_view_types(t->heap, schema);
    size_t start = t->out->len;
    if (constant != PTC_NONE)
        add_literal(t, constant);
    else if (values != PTC_NONE && ptc_fields_count(values))
        add_enum(t, values);
    else if (choices != PTC_NONE && !(types & PTC_SCHEMA_TYPE_OBJECT))
        add_choice_types(t, choices);
    else if (ptc_fields_count(all) == 1 && !types)
        add_type_of_schema(t, ptc_seq_nth(all, 0));
    else if (ptc_fields_count(all) && !types && is_object_of_all(t, schema))
        add_object_type(t, schema);
    else if (types)
        add_named_types(t, schema, types);
    else
        ptc_buf_add_cstr(t->out, "any");
    if (t->whole && ptc_fields_is(t->heap, schema, "nullable", PTC_TRUE))
        add_word_choice(t, start, "nil");
}

static bool is_open_schema(const Typing *t, PtcValue schema)
{
    for (int i = 0; i < t->depth; i++)
        if (t->open[i] == schema)
            return true;
    return false;
}

static void add_type_of_schema(Typing *t, PtcValue schema)
{
    PtcValue to = ptc_schema_view_follow(t->heap, t->root, schema);
    bool deep = t->depth == NESTED || (!t->whole && is_open_schema(t, to));
    if (to == PTC_NONE || !ptc_is_map(to) || --t->looks < 0) {
        ptc_buf_add_cstr(t->out, "any");
    } else if (deep) {
        ptc_buf_add_cstr(t->out, t->whole ? "any" : "map");
    } else if (ptc_buf_ok(t->out)) {
        t->open[t->depth++] = to;
        add_schema(t, to);
        t->depth--;
    }
}

/* Is all of it there? */
static bool write_type(const Typing *how, PtcBuf *text, PtcValue schema)
{
    Typing t = *how;
    t.out = text;
    t.looks = LOOKS;
    ptc_buf_clear(text);
    add_type_of_schema(&t, schema);
    return ptc_buf_ok(text) && t.looks >= 0;
}

static void add_type(PtcBuf *out, Typing *t, PtcValue schema)
{
    PtcBuf text;
    ptc_buf_init(&text, t->heap->pool->mem, PTC_TYPE_TEXT_BYTES);
    bool fits = write_type(t, &text, schema);
    while (!fits && t->whole && !text.failed && --t->levels > 0)
        fits = write_type(t, &text, schema);
    if (fits)
        ptc_buf_add(out, text.data, text.len);
    else
        ptc_buf_add_cstr(out, "any");
    ptc_buf_end_part(out, &text);
}

void ptc_type_text_add(PtcBuf *out, PtcHeap *heap, PtcValue root, PtcValue schema, bool gives)
{
    Typing t = {.heap = heap,
                .root = root,
                .gives = gives,
                .levels = PTC_TYPE_TEXT_LEVELS,
                .shown = PTC_TYPE_TEXT_SHOWN};
    add_type(out, &t, schema);
}

void ptc_type_text_add_whole(PtcBuf *out, PtcHeap *heap, PtcValue root, PtcValue schema, bool gives)
{
    Typing t = {.heap = heap,
                .root = root,
                .gives = gives,
                .whole = true,
                .levels = WHOLE_LEVELS,
                .shown = WHOLE_SHOWN};
    add_type(out, &t, schema);
}
