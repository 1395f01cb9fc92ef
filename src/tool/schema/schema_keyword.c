/* SPDX-License-Identifier: MIT
 * One row for each keyword: which function reads it, and which part of the node it fills. */
#include "tool/schema/schema_keyword.h"

#include <string.h>

#include "base/ascii.h"
#include "base/text/nearest.h"
#include "value/coll/iter.h"
#include "value/str.h"

typedef PtcSchemaCompiler Compiler;
typedef PtcSchemaPending Pending;
typedef PtcSchemaNode Node;
typedef struct KeywordRow KeywordRow;

struct KeywordRow {
    const char *name;
    bool (*read)(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value);
    int slot;
};

enum {
    SLOT_ADDITIONAL,
    SLOT_PROPERTY_NAMES,
    SLOT_ITEMS,
    SLOT_CONTAINS,
    SLOT_NOT,
    SLOT_IF,
    SLOT_THEN,
    SLOT_ELSE,
    SLOT_UNEVALUATED_ITEMS,
    SLOT_UNEVALUATED_PROPERTIES,
    SLOT_CONTENT,
    SLOT_ALL,
    SLOT_ANY,
    SLOT_ONE,
    SLOT_PREFIX,
    SLOT_MIN_LENGTH,
    SLOT_MAX_LENGTH,
    SLOT_MIN_ITEMS,
    SLOT_MAX_ITEMS,
    SLOT_MIN_CONTAINS,
    SLOT_MAX_CONTAINS,
    SLOT_MIN_PROPERTIES,
    SLOT_MAX_PROPERTIES,
};

/* ---------------------------------------------------------------------- parts */

/* A zeroed part of a node, made on first use. */
static void *get_node_part(Compiler *c, void *have, size_t size)
{
    void *p = have ? have : ptc_arena_zalloc(c->arena, size);
    if (!p)
        ptc_schema_no_memory(c);
    return p;
}

static PtcSchemaObject *object_of(Compiler *c, Node *node)
{
    bool new = !node->object;
    node->object = get_node_part(c, node->object, sizeof *node->object);
    if (new && node->object)
        node->object->max = UINT64_MAX;
    return node->object;
}

static PtcSchemaArray *array_of(Compiler *c, Node *node)
{
    bool new = !node->array;
    node->array = get_node_part(c, node->array, sizeof *node->array);
    if (new && node->array) {
        node->array->max = node->array->max_contains = UINT64_MAX;
        node->array->min_contains = 1;
    }
    return node->array;
}

static PtcSchemaString *string_of(Compiler *c, Node *node)
{
    bool new = !node->string;
    node->string = get_node_part(c, node->string, sizeof *node->string);
    if (new && node->string)
        node->string->max = UINT64_MAX;
    return node->string;
}

static PtcSchemaLogic *logic_of(Compiler *c, Node *node)
{
    return node->logic = get_node_part(c, node->logic, sizeof *node->logic);
}

/* ----------------------------------------------------------------- subschemas */

static const Node **node_slot(Compiler *c, Node *node, int slot)
{
    switch (slot) {
    case SLOT_UNEVALUATED_ITEMS: return &node->unevaluated_items;
    case SLOT_UNEVALUATED_PROPERTIES: return &node->unevaluated_properties;
    case SLOT_ADDITIONAL: return object_of(c, node) ? &node->object->additional : NULL;
    case SLOT_PROPERTY_NAMES: return object_of(c, node) ? &node->object->property_names : NULL;
    case SLOT_ITEMS: return array_of(c, node) ? &node->array->items : NULL;
    case SLOT_CONTAINS: return array_of(c, node) ? &node->array->contains : NULL;
    default: break;
    }
    PtcSchemaLogic *logic = logic_of(c, node);
    if (!logic)
        return NULL;
    return slot == SLOT_NOT    ? &logic->not
           : slot == SLOT_IF   ? &logic->when
           : slot == SLOT_THEN ? &logic->then
                               : &logic->otherwise;
}

static bool read_subschema(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    PtcSchemaStep step = {.up = at, .keyword = row->name, .index = -1};
    if (row->slot == SLOT_ITEMS && ptc_schema_kind(value) == PTC_SCHEMA_ARRAY)
        return ptc_schema_refuse(c, at, row->name,
                                 "expected a schema; a list of schemas is written prefixItems");
    const Node *node = ptc_schema_node(c, value, at->resource, &step);
    if (!node || row->slot == SLOT_CONTENT) /* content is never examined */
        return node != NULL;
    const Node **slot = node_slot(c, at->node, row->slot);
    if (slot)
        *slot = node;
    return slot != NULL;
}

static bool read_list(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value,
                      PtcSchemaList *out)
{
    PtcIter it;
    PtcValue item;
    size_t n = ptc_schema_count(value);
    out->nodes = ptc_arena_alloc(c->arena, n * sizeof *out->nodes);
    if (!out->nodes || !ptc_iter_init(&it, &c->work.heap, value))
        return ptc_schema_no_memory(c);
    while (ptc_iter_next(&it, &item) && ptc_tick(c->work.budget, 1)) {
        PtcSchemaStep step = {.up = at, .keyword = row->name, .index = (int64_t)out->count};
        const Node *node = ptc_schema_node(c, item, at->resource, &step);
        if (!node)
            return false;
        out->nodes[out->count++] = node;
    }
    return out->count == n;
}

static bool read_schemas(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    PtcSchemaList list = {NULL, 0};
    if (ptc_schema_kind(value) != PTC_SCHEMA_ARRAY || ptc_schema_count(value) == 0)
        return ptc_schema_refuse(c, at, row->name, "expected an array of at least one schema");
    if (!read_list(c, at, row, value, &list))
        return false;
    if (row->slot == SLOT_PREFIX) {
        PtcSchemaArray *array = array_of(c, at->node);
        if (array) {
            array->prefix = list.nodes;
            array->prefix_count = list.count;
        }
        return array != NULL;
    }
    PtcSchemaLogic *logic = logic_of(c, at->node);
    if (!logic)
        return false;
    *(row->slot == SLOT_ALL   ? &logic->all
      : row->slot == SLOT_ANY ? &logic->any
                              : &logic->one) = list;
    return true;
}

/* ----------------------------------------------------------- objects of things */

/* One member of an object-valued keyword. */
typedef bool (*ReadMember)(Compiler *c, Pending *at, const KeywordRow *row, PtcText name,
                           PtcValue value);

static bool read_schema_members(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value,
                                ReadMember read)
{
    PtcValue key, item;
    PtcSchemaKey text;
    PtcText name;
    bool json;
    if (!ptc_is_map(value))
        return ptc_schema_refuse(c, at, row->name, "expected an object");
    for (size_t pos = 0; ptc_map_next(value, &pos, &key, &item);) {
        if (!ptc_tick(c->work.budget, 1) || !ptc_schema_key(&c->work, key, &text, &json))
            return false;
        if (!json)
            return ptc_schema_refuse(c, at, row->name, "a key of this object cannot be JSON");
        if (!ptc_schema_keep(c, text.bytes, text.len, &name) || !read(c, at, row, name, item))
            return false;
    }
    return true;
}

static const Node *member_node(Compiler *c, Pending *at, const KeywordRow *row, PtcText name,
                               PtcValue value)
{
    PtcSchemaStep step = {.up = at, .keyword = row->name, .key = name, .index = -1};
    return ptc_schema_node(c, value, at->resource, &step);
}

static bool add_definition(Compiler *c, Pending *at, const KeywordRow *row, PtcText name,
                           PtcValue value)
{
    return member_node(c, at, row, name, value) != NULL;
}

static bool add_property(Compiler *c, Pending *at, const KeywordRow *row, PtcText name,
                         PtcValue value)
{
    uint32_t i;
    const Node *node = member_node(c, at, row, name, value);
    PtcSchemaObject *object = node ? object_of(c, at->node) : NULL;
    if (!object || !ptc_schema_add_name(c, object, name.bytes, name.len, &i))
        return false;
    object->names[i].property = node;
    return true;
}

static bool add_dependent(Compiler *c, Pending *at, const KeywordRow *row, PtcText name,
                          PtcValue value)
{
    uint32_t i;
    const Node *node = member_node(c, at, row, name, value);
    PtcSchemaObject *object = node ? object_of(c, at->node) : NULL;
    if (!object || !ptc_schema_add_name(c, object, name.bytes, name.len, &i))
        return false;
    object->names[i].dependent = node;
    return object->has_dependents = true;
}

static bool add_pattern(Compiler *c, Pending *at, const KeywordRow *row, PtcText name,
                        PtcValue value)
{
    const Node *node = member_node(c, at, row, name, value);
    PtcSchemaObject *object = node ? object_of(c, at->node) : NULL;
    if (!object)
        return false;
    object->patterns =
        ptc_arena_push(c->arena, object->patterns, object->pattern_count, sizeof *object->patterns);
    if (!object->patterns)
        return ptc_schema_no_memory(c);
    PtcSchemaPattern *pattern = &object->patterns[object->pattern_count++];
    *pattern = (PtcSchemaPattern){.regex = PTC_NONE, .node = node};
    return ptc_schema_pattern(c, at, row->name, name.bytes, name.len, pattern);
}

static bool read_definitions(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    return read_schema_members(c, at, row, value, add_definition);
}

static bool read_properties(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    return read_schema_members(c, at, row, value, add_property);
}

static bool read_dependents(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    return read_schema_members(c, at, row, value, add_dependent);
}

static bool read_patterns(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    return read_schema_members(c, at, row, value, add_pattern);
}

/* ---------------------------------------------------------------------- names */

/* Indexes of the names in an array of strings. */
static bool read_schema_names(Compiler *c, Pending *at, const char *keyword, PtcValue value,
                              uint32_t **numbers)
{
    PtcIter it;
    PtcValue item;
    size_t n = 0, first, second;
    PtcSchemaObject *object = object_of(c, at->node);
    if (ptc_schema_kind(value) != PTC_SCHEMA_ARRAY)
        return ptc_schema_refuse(c, at, keyword, "expected an array of names");
    if (ptc_schema_find_twins(&c->work, value, &first, &second))
        return ptc_schema_refuse(c, at, keyword, "the names %zu and %zu are the same", first,
                                 second);
    *numbers = ptc_arena_alloc(c->arena, ptc_schema_count(value) * sizeof **numbers);
    if (!object || !*numbers || !ptc_iter_init(&it, &c->work.heap, value))
        return ptc_schema_no_memory(c);
    while (ptc_iter_next(&it, &item)) {
        if (!ptc_is_named(item))
            return ptc_schema_refuse(c, at, keyword, "expected an array of names");
        if (!ptc_tick(c->work.budget, 1) ||
            !ptc_schema_add_name(c, object, ptc_str_bytes(item), ptc_str_len(item),
                                 &(*numbers)[n++]))
            return false;
    }
    return c->work.budget->stop == PTC_STOP_NONE;
}

static bool read_required(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    uint32_t *numbers;
    if (ptc_is_bool(value))
        return ptc_schema_refuse(c, at, row->name,
                                 "expected an array of names, beside properties of the object");
    if (!read_schema_names(c, at, row->name, value, &numbers))
        return false;
    for (size_t i = 0; i < ptc_schema_count(value); i++)
        at->node->object->names[numbers[i]].required = true;
    return true;
}

static bool add_needs(Compiler *c, Pending *at, const KeywordRow *row, PtcText name, PtcValue value)
{
    uint32_t *numbers, i;
    PtcSchemaObject *object = object_of(c, at->node);
    if (!object || !ptc_schema_add_name(c, object, name.bytes, name.len, &i) ||
        !read_schema_names(c, at, row->name, value, &numbers))
        return false;
    object->names[i].needs = numbers;
    object->names[i].need_count = (uint32_t)ptc_schema_count(value);
    return object->has_dependents = true;
}

static bool read_needs(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    return read_schema_members(c, at, row, value, add_needs);
}

/* Older drafts have both kinds in one keyword. */
static bool add_dependency(Compiler *c, Pending *at, const KeywordRow *row, PtcText name,
                           PtcValue value)
{
    bool names = ptc_schema_kind(value) == PTC_SCHEMA_ARRAY;
    return (names ? add_needs : add_dependent)(c, at, row, name, value);
}

static bool read_dependencies(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    return read_schema_members(c, at, row, value, add_dependency);
}

/* ------------------------------------------------------------------ assertions */

static const struct {
    const char *name;
    uint32_t bits;
} types[] = {
    {"null", 1u << PTC_SCHEMA_NULL},
    {"boolean", 1u << PTC_SCHEMA_BOOLEAN},
    {"number", 1u << PTC_SCHEMA_INTEGER | 1u << PTC_SCHEMA_FRACTION},
    {"integer", 1u << PTC_SCHEMA_INTEGER},
    {"string", 1u << PTC_SCHEMA_STRING},
    {"array", 1u << PTC_SCHEMA_ARRAY},
    {"object", 1u << PTC_SCHEMA_OBJECT},
};
enum { TYPES = sizeof types / sizeof types[0] };

void ptc_schema_type_names(uint32_t bits, char *out, size_t size)
{
    size_t len = 0;
    out[0] = 0;
    for (size_t i = 0; i < TYPES; i++) {
        if ((bits & types[i].bits) != types[i].bits)
            continue;
        bits &= ~types[i].bits;
        const char *between = !len ? "" : bits ? ", " : " or ";
        size_t n = strlen(between) + strlen(types[i].name);
        if (n >= size - len)
            return;
        memcpy(out + len, between, strlen(between));
        memcpy(out + len + strlen(between), types[i].name, strlen(types[i].name) + 1);
        len += n;
    }
}

static bool add_allowed_type(Compiler *c, Pending *at, const KeywordRow *row, PtcValue name)
{
    PtcNearest nearest;
    char shown[PTC_SCHEMA_LINE];
    if (!ptc_is_named(name))
        return ptc_schema_refuse(c, at, row->name,
                                 "expected the name of a type, or an array of them");
    PtcText text = {ptc_str_bytes(name), ptc_str_len(name)};
    ptc_nearest_init(&nearest, text.bytes, text.len);
    for (size_t i = 0; i < TYPES; i++) {
        if (strlen(types[i].name) == text.len && memcmp(types[i].name, text.bytes, text.len) == 0) {
            at->node->types |= types[i].bits;
            return true;
        }
        ptc_nearest_offer(&nearest, types[i].name, strlen(types[i].name));
    }
    return ptc_schema_refuse(
        c, at, row->name, "\"%s\" is not a type; %s %s", ptc_schema_line(shown, text, 40),
        nearest.best ? "did you mean" : "there are",
        nearest.best ? nearest.best : "null, boolean, number, integer, string, array, object");
}

static bool read_type_keyword(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    PtcIter it;
    PtcValue name;
    size_t first, second;
    if (ptc_schema_kind(value) != PTC_SCHEMA_ARRAY)
        return add_allowed_type(c, at, row, value);
    if (ptc_schema_count(value) == 0)
        return ptc_schema_refuse(c, at, row->name, "expected at least one type");
    if (ptc_schema_find_twins(&c->work, value, &first, &second))
        return ptc_schema_refuse(c, at, row->name, "the types %zu and %zu are the same", first,
                                 second);
    if (!ptc_iter_init(&it, &c->work.heap, value))
        return false;
    while (ptc_iter_next(&it, &name))
        if (!ptc_tick(c->work.budget, 1) || !add_allowed_type(c, at, row, name))
            return false;
    return true;
}

static bool read_const(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    (void)row;
    return ptc_schema_freeze(c, value, &at->node->fixed);
}

static bool read_enum_keyword(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    if (ptc_schema_kind(value) != PTC_SCHEMA_ARRAY)
        return ptc_schema_refuse(c, at, row->name, "expected an array of the allowed values");
    return ptc_schema_freeze(c, value, &at->node->choices);
}

static uint64_t *natural_slot(Compiler *c, Node *node, int slot)
{
    switch (slot) {
    case SLOT_MIN_LENGTH: return string_of(c, node) ? &node->string->min : NULL;
    case SLOT_MAX_LENGTH: return string_of(c, node) ? &node->string->max : NULL;
    case SLOT_MIN_ITEMS: return array_of(c, node) ? &node->array->min : NULL;
    case SLOT_MAX_ITEMS: return array_of(c, node) ? &node->array->max : NULL;
    case SLOT_MIN_CONTAINS: return array_of(c, node) ? &node->array->min_contains : NULL;
    case SLOT_MAX_CONTAINS: return array_of(c, node) ? &node->array->max_contains : NULL;
    case SLOT_MIN_PROPERTIES: return object_of(c, node) ? &node->object->min : NULL;
    default: return object_of(c, node) ? &node->object->max : NULL;
    }
}

static bool read_natural(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    uint64_t n;
    if (!ptc_schema_natural(value, &n))
        return ptc_schema_refuse(c, at, row->name, "expected a whole number, 0 or more");
    uint64_t *slot = natural_slot(c, at->node, row->slot);
    if (slot)
        *slot = n;
    return slot != NULL;
}

static bool read_number_keyword(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    if (!ptc_schema_is_number(ptc_schema_kind(value)))
        return ptc_schema_refuse(c, at, row->name, "expected a number%s",
                                 ptc_is_bool(value) ? " (true and false are of draft 4)" : "");
    if (row->slot == PTC_SCHEMA_MULTIPLE_OF && ptc_schema_compare(value, ptc_int(0)) <= 0)
        return ptc_schema_refuse(c, at, row->name, "expected a number above 0");
    PtcSchemaNumber *number = get_node_part(c, at->node->number, sizeof *number);
    if (!number)
        return false;
    at->node->number = number;
    return ptc_schema_freeze(c, value, &number->limits[row->slot]);
}

static bool read_unique(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    if (!ptc_is_bool(value))
        return ptc_schema_refuse(c, at, row->name, "expected true or false");
    PtcSchemaArray *array = array_of(c, at->node);
    if (array)
        array->unique = value == PTC_TRUE;
    return array != NULL;
}

static bool read_pattern_keyword(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    if (!ptc_is_named(value))
        return ptc_schema_refuse(c, at, row->name, "expected a regular expression in a string");
    PtcSchemaString *string = string_of(c, at->node);
    return string && ptc_schema_pattern(c, at, row->name, ptc_str_bytes(value), ptc_str_len(value),
                                        &string->pattern);
}

/* ------------------------------------------------------------------ references */

static bool keep_keyword_text(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value,
                              PtcText *out)
{
    if (!ptc_is_named(value))
        return ptc_schema_refuse(c, at, row->name, "expected a string");
    return ptc_schema_keep(c, ptc_str_bytes(value), ptc_str_len(value), out);
}

static bool read_ref(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    PtcText text;
    if (!keep_keyword_text(c, at, row, value, &text))
        return false;
    if (c->form_only)
        return true;
    PtcSchemaRef *ref = ptc_arena_zalloc(c->arena, sizeof *ref);
    if (!ref)
        return ptc_schema_no_memory(c);
    *ref = (PtcSchemaRef){.at = at, .text = text, .dynamic = row->slot != 0};
    *(c->last_ref ? &c->last_ref->next : &c->refs) = ref;
    c->last_ref = ref;
    return true;
}

static bool is_anchor(PtcText name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.bytes[i];
        if (!ptc_ascii_is_name(c) && c != '-' && c != '.')
            return false;
    }
    return name.len > 0 && ptc_ascii_begins_name(*name.bytes);
}

static bool read_anchor(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    PtcText name;
    if (!keep_keyword_text(c, at, row, value, &name))
        return false;
    if (!is_anchor(name))
        return ptc_schema_refuse(c, at, row->name,
                                 "expected a letter or _, then letters, digits, - _ or .");
    return ptc_schema_add_anchor(c, at, row->name, name, row->slot != 0);
}

/* The document's $schema, or that of a resource inside it. */
static bool read_dialect(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    static const char *const known[] = {"https://json-schema.org/draft/2020-12/schema",
                                        "https://json-schema.org/draft/2019-09/schema",
                                        "http://json-schema.org/draft-07/schema"};
    PtcText text;
    char shown[PTC_SCHEMA_LINE];
    if (!keep_keyword_text(c, at, row, value, &text))
        return false;
    size_t len = text.len && text.bytes[text.len - 1] == '#' ? text.len - 1 : text.len;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == len && memcmp(known[i], text.bytes, len) == 0) {
            c->older = c->older || i > 0;
            return true;
        }
    return c->form_only ||
           ptc_schema_refuse(c, at, row->name, "the rules of %s are not known; use %s",
                             ptc_schema_line(shown, text, 80), known[0]);
}

/* Keywords of older drafts that have another name now: ignored by 2020-12, an error if the schema says that it is
 * older. */
static bool read_older(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    static const char *const now[] = {"$dynamicRef", "prefixItems and items"};
    (void)value;
    if (!c->older || c->form_only)
        return true;
    return ptc_schema_refuse(c, at, row->name, "this is of an older draft; use %s", now[row->slot]);
}

/* ----------------------------------------------------------------------- notes */

/* Keywords that say nothing about values.  Their form only matters if a schema is itself the value. */
static bool read_note(Compiler *c, Pending *at, const KeywordRow *row, PtcValue value)
{
    if (!c->form_only || ptc_schema_kind(value) == (PtcSchemaKind)row->slot)
        return true;
    return ptc_schema_refuse(c, at, row->name, "this keyword has another form");
}

static const KeywordRow rows[] = {
    {"$ref", read_ref, 0},
    {"$dynamicRef", read_ref, 1},
    {"$anchor", read_anchor, 0},
    {"$dynamicAnchor", read_anchor, 1},
    {"$schema", read_dialect, 0},
    {"$defs", read_definitions, 0},
    {"definitions", read_definitions, 0},
    {"$comment", read_note, PTC_SCHEMA_STRING},
    {"$vocabulary", read_note, PTC_SCHEMA_OBJECT},
    {"type", read_type_keyword, 0},
    {"const", read_const, 0},
    {"enum", read_enum_keyword, 0},
    {"properties", read_properties, 0},
    {"required", read_required, 0},
    {"additionalProperties", read_subschema, SLOT_ADDITIONAL},
    {"patternProperties", read_patterns, 0},
    {"propertyNames", read_subschema, SLOT_PROPERTY_NAMES},
    {"minProperties", read_natural, SLOT_MIN_PROPERTIES},
    {"maxProperties", read_natural, SLOT_MAX_PROPERTIES},
    {"dependentRequired", read_needs, 0},
    {"dependentSchemas", read_dependents, 0},
    {"unevaluatedProperties", read_subschema, SLOT_UNEVALUATED_PROPERTIES},
    {"items", read_subschema, SLOT_ITEMS},
    {"prefixItems", read_schemas, SLOT_PREFIX},
    {"contains", read_subschema, SLOT_CONTAINS},
    {"minContains", read_natural, SLOT_MIN_CONTAINS},
    {"maxContains", read_natural, SLOT_MAX_CONTAINS},
    {"minItems", read_natural, SLOT_MIN_ITEMS},
    {"maxItems", read_natural, SLOT_MAX_ITEMS},
    {"uniqueItems", read_unique, 0},
    {"unevaluatedItems", read_subschema, SLOT_UNEVALUATED_ITEMS},
    {"minLength", read_natural, SLOT_MIN_LENGTH},
    {"maxLength", read_natural, SLOT_MAX_LENGTH},
    {"pattern", read_pattern_keyword, 0},
    {"minimum", read_number_keyword, PTC_SCHEMA_AT_LEAST},
    {"maximum", read_number_keyword, PTC_SCHEMA_AT_MOST},
    {"exclusiveMinimum", read_number_keyword, PTC_SCHEMA_MORE_THAN},
    {"exclusiveMaximum", read_number_keyword, PTC_SCHEMA_LESS_THAN},
    {"multipleOf", read_number_keyword, PTC_SCHEMA_MULTIPLE_OF},
    {"allOf", read_schemas, SLOT_ALL},
    {"anyOf", read_schemas, SLOT_ANY},
    {"oneOf", read_schemas, SLOT_ONE},
    {"not", read_subschema, SLOT_NOT},
    {"if", read_subschema, SLOT_IF},
    {"then", read_subschema, SLOT_THEN},
    {"else", read_subschema, SLOT_ELSE},
    {"contentSchema", read_subschema, SLOT_CONTENT},
    {"contentMediaType", read_note, PTC_SCHEMA_STRING},
    {"contentEncoding", read_note, PTC_SCHEMA_STRING},
    {"format", read_note, PTC_SCHEMA_STRING},
    {"title", read_note, PTC_SCHEMA_STRING},
    {"description", read_note, PTC_SCHEMA_STRING},
    {"deprecated", read_note, PTC_SCHEMA_BOOLEAN},
    {"readOnly", read_note, PTC_SCHEMA_BOOLEAN},
    {"writeOnly", read_note, PTC_SCHEMA_BOOLEAN},
    {"examples", read_note, PTC_SCHEMA_ARRAY},
    {"dependencies", read_dependencies, 0},
    {"$recursiveRef", read_older, 0},
    {"additionalItems", read_older, 1},
};

bool ptc_schema_read_keyword(Compiler *c, Pending *at, PtcText name, PtcValue value)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strlen(rows[i].name) == name.len && memcmp(rows[i].name, name.bytes, name.len) == 0)
            return rows[i].read(c, at, &rows[i], value);
    return true;
}
