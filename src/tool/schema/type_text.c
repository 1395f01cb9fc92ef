/* SPDX-License-Identifier: MIT
 * Types for readers.  Recursion is over the schema and counted; the whole text of a type is bounded, so however often
 * references make a schema contain parts of itself, little is written. */
#include "tool/schema/type_text.h"

#include "base/text/clean.h"
#include "json/emit.h"
#include "tool/schema/schema_view.h"
#include "value/coll/fields.h"

enum { NESTED = 12 }; /* schemas inside each other, of any kind */

typedef struct {
    PtcBuf *out;
    PtcHeap *heap;
    PtcValue root;
    PtcValue open[NESTED]; /* schemas that are being written */
    int depth, maps;
} Typing;

static void add_type_of_schema(Typing *t, PtcValue schema);

/* A value as a program writes it, with text that cannot be seen made visible. */
static void add_literal(Typing *t, PtcValue v)
{
    PtcBuf json;
    if (v == PTC_NIL) {
        ptc_buf_add_cstr(t->out, "nil");
        return;
    }
    ptc_buf_init(&json, t->heap->pool->mem, PTC_TYPE_TEXT_BYTES);
    if (ptc_emit_value(&json, t->heap, v))
        ptc_clean_add(t->out, ptc_buf_view(&json), PTC_TYPE_TEXT_BYTES, false);
    else
        ptc_buf_add_cstr(t->out, "any");
    ptc_buf_deinit(&json);
}

static void add_enum(Typing *t, PtcValue values)
{
    size_t n = ptc_fields_count(values);
    for (size_t i = 0; i < n && i < PTC_TYPE_TEXT_SHOWN; i++) {
        if (i)
            ptc_buf_add_char(t->out, '|');
        add_literal(t, ptc_seq_nth(values, i));
    }
    if (n > PTC_TYPE_TEXT_SHOWN)
        ptc_buf_add_cstr(t->out, "|...");
}

/* ------------------------------------------------------------------------------------ maps */

static void add_property_types(Typing *t, PtcValue properties, PtcValue required)
{
    PtcValue name, schema;
    size_t shown = 0;
    ptc_buf_add_char(t->out, '{');
    for (size_t pos = 0; ptc_map_next(properties, &pos, &name, &schema); shown++) {
        if (shown)
            ptc_buf_add_cstr(t->out, ", ");
        if (shown == PTC_TYPE_TEXT_SHOWN) {
            ptc_buf_add_cstr(t->out, "...");
            break;
        }
        bool must = ptc_schema_view_lists(required, ptc_str_text(name)) &&
                    ptc_schema_view_implied(t->heap, t->root, schema) == PTC_NONE;
        ptc_clean_add(t->out, ptc_str_text(name), PTC_CLEAN_LINE, false);
        ptc_buf_add_cstr(t->out, must ? " " : "? ");
        add_type_of_schema(t, schema);
    }
    ptc_buf_add_char(t->out, '}');
}

static void add_object_type(Typing *t, PtcValue schema)
{
    PtcValue properties = ptc_schema_view_properties(t->heap, t->root, schema);
    PtcValue others = ptc_map_field(t->heap, schema, "additionalProperties");
    bool typed = others != PTC_NONE && ptc_is_map(others) && ptc_map_count(others);
    bool named = properties != PTC_NONE && ptc_map_count(properties);
    if (t->maps == PTC_TYPE_TEXT_LEVELS || (!named && !typed)) {
        ptc_buf_add_cstr(t->out, "map");
        return;
    }
    t->maps++;
    if (named) {
        add_property_types(t, properties, ptc_schema_view_required(t->heap, t->root, schema));
    } else {
        ptc_buf_add_cstr(t->out, "{* ");
        add_type_of_schema(t, others);
        ptc_buf_add_char(t->out, '}');
    }
    t->maps--;
}

static void add_array(Typing *t, PtcValue schema)
{
    PtcValue items = ptc_map_field(t->heap, schema, "items");
    ptc_buf_add_char(t->out, '[');
    if (items != PTC_NONE && ptc_is_map(items))
        add_type_of_schema(t, items);
    else
        ptc_buf_add_cstr(t->out, "any");
    ptc_buf_add_char(t->out, ']');
}

/* ----------------------------------------------------------------------------- alternatives */

/* Is the last alternative, from `from` on, one of those before it since `start`? */
static bool is_repeated(const PtcBuf *out, size_t start, size_t from)
{
    if (!ptc_buf_ok(out))
        return false;
    PtcText last = {out->data + from, out->len - from};
    for (size_t i = start; i + last.len < from; i++) {
        bool begins = i == start || out->data[i - 1] == '|';
        if (begins && memcmp(out->data + i, last.bytes, last.len) == 0 &&
            out->data[i + last.len] == '|')
            return true;
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

static void add_choice_types(Typing *t, PtcValue choices)
{
    size_t start = t->out->len, n = ptc_fields_count(choices);
    for (size_t i = 0; i < n; i++) {
        size_t from = begin_choice(t, start);
        if (i == PTC_TYPE_TEXT_SHOWN) {
            ptc_buf_add_cstr(t->out, "...");
            return;
        }
        add_type_of_schema(t, ptc_seq_nth(choices, i));
        end_choice(t, start, from);
    }
}

static void add_named_types(Typing *t, PtcValue schema, unsigned types)
{
    static const char *const words[] = {"string", "int", "number", "bool", "nil"};
    size_t start = t->out->len;
    for (int i = 0; i < 5; i++)
        if (types & 1u << i && i != 4) {
            begin_choice(t, start);
            ptc_buf_add_cstr(t->out, words[i]);
        }
    if (types & PTC_SCHEMA_TYPE_ARRAY) {
        begin_choice(t, start);
        add_array(t, schema);
    }
    if (types & PTC_SCHEMA_TYPE_OBJECT) {
        begin_choice(t, start);
        add_object_type(t, schema);
    }
    if (types & PTC_SCHEMA_TYPE_NULL) {
        begin_choice(t, start);
        ptc_buf_add_cstr(t->out, words[4]);
    }
}

/* ---------------------------------------------------------------------------------- schemas */

static void add_schema(Typing *t, PtcValue schema)
{
    PtcValue values = ptc_map_field(t->heap, schema, "enum");
    PtcValue constant = ptc_map_field(t->heap, schema, "const");
    PtcValue choices = ptc_schema_view_choices(t->heap, schema);
    PtcValue all = ptc_map_field(t->heap, schema, "allOf");
    unsigned types = ptc_schema_view_types(t->heap, schema);
    if (constant != PTC_NONE)
        add_literal(t, constant);
    else if (values != PTC_NONE && ptc_fields_count(values))
        add_enum(t, values);
    else if (choices != PTC_NONE && !(types & PTC_SCHEMA_TYPE_OBJECT))
        add_choice_types(t, choices);
    else if (ptc_fields_count(all) == 1 && !types)
        add_type_of_schema(t, ptc_seq_nth(all, 0));
    else if (ptc_fields_count(all) && !types)
        add_object_type(t, schema);
    else if (types)
        add_named_types(t, schema, types);
    else
        ptc_buf_add_cstr(t->out, "any");
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
    if (to == PTC_NONE || !ptc_is_map(to)) {
        ptc_buf_add_cstr(t->out, "any");
    } else if (t->depth == NESTED || is_open_schema(t, to)) {
        ptc_buf_add_cstr(t->out, "map");
    } else if (ptc_buf_ok(t->out)) {
        t->open[t->depth++] = to;
        add_schema(t, to);
        t->depth--;
    }
}

void ptc_type_text_add(PtcBuf *out, PtcHeap *heap, PtcValue root, PtcValue schema)
{
    PtcBuf text;
    Typing t = {.out = &text, .heap = heap, .root = root};
    ptc_buf_init(&text, heap->pool->mem, PTC_TYPE_TEXT_BYTES);
    add_type_of_schema(&t, schema);
    if (text.failed)
        out->failed = true;
    else if (text.full)
        ptc_buf_add_cstr(out, "any");
    else
        ptc_buf_add(out, text.data, text.len);
    ptc_buf_deinit(&text);
}
