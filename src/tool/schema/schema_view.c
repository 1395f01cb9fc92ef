/* SPDX-License-Identifier: MIT
 * Reads what schemas declare.  They are hostile: references are followed a bounded number of times, and allOf to a
 * bounded depth. */
#include "tool/schema/schema_view.h"

#include "base/ascii.h"
#include "value/coll/fields.h"

enum { VIEW_HOPS = 32, VIEW_DEPTH = 8, VIEW_LOOKS = 1000, POINTER_BYTES = 1024 };

/* ------------------------------------------------------------------------------ references */

size_t ptc_schema_view_step(PtcText step, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < step.len; i++) {
        char c = step.bytes[i];
        if (c == '~' && i + 1 < step.len &&
            (step.bytes[i + 1] == '0' || step.bytes[i + 1] == '1')) {
            c = step.bytes[++i] == '0' ? '~' : '/';
        } else if (c == '%' && i + 2 < step.len && ptc_ascii_hex_value(step.bytes[i + 1]) >= 0 &&
                   ptc_ascii_hex_value(step.bytes[i + 2]) >= 0) {
            c = (char)(ptc_ascii_hex_value(step.bytes[i + 1]) * 16 +
                       ptc_ascii_hex_value(step.bytes[i + 2]));
            i += 2;
        }
        out[n++] = c;
    }
    return n;
}

static PtcValue take_pointer_step(PtcHeap *heap, PtcValue at, PtcText step)
{
    if (ptc_is_map(at))
        return ptc_fields_get(heap, at, step);
    size_t index = 0;
    if (!ptc_is_sequential(at) || step.len == 0 || step.len > 6)
        return PTC_NONE;
    for (size_t i = 0; i < step.len; i++) {
        if (!ptc_ascii_is_digit(step.bytes[i]))
            return PTC_NONE;
        index = index * 10 + (size_t)(step.bytes[i] - '0');
    }
    return index < ptc_seq_count(at) ? ptc_seq_nth(at, index) : PTC_NONE;
}

/* What a pointer (#/$defs/pet) leads to; PTC_NONE: nothing, or it leaves the document. */
static PtcValue schema_view_pointer(PtcHeap *heap, PtcValue root, PtcText ref)
{
    char step[POINTER_BYTES];
    if (ref.len == 0 || ref.bytes[0] != '#' || ref.len > POINTER_BYTES)
        return PTC_NONE;
    PtcValue at = root;
    for (size_t i = 1; i < ref.len && at != PTC_NONE;) {
        if (ref.bytes[i] != '/')
            return PTC_NONE; /* an anchor */
        size_t from = ++i;
        while (i < ref.len && ref.bytes[i] != '/')
            i++;
        size_t len = ptc_schema_view_step((PtcText){ref.bytes + from, i - from}, step);
        at = take_pointer_step(heap, at, (PtcText){step, len});
    }
    return at;
}

PtcValue ptc_schema_view_follow(PtcHeap *heap, PtcValue root, PtcValue schema)
{
    for (int hops = 0; hops < VIEW_HOPS && schema != PTC_NONE && ptc_is_map(schema); hops++) {
        PtcText ref = ptc_fields_text(heap, schema, "$ref");
        if (!ref.bytes)
            return schema;
        schema = schema_view_pointer(heap, root, ref);
    }
    return schema != PTC_NONE && ptc_is_bool(schema) ? schema : PTC_NONE;
}

/* ----------------------------------------------------------------------------------- types */

static unsigned type_bit(PtcText name)
{
    static const char *const names[] = {"string", "integer", "number", "boolean",
                                        "null",   "array",   "object"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name.bytes && ptc_text_is(name, names[i]))
            return 1u << i;
    return 0;
}

unsigned ptc_schema_view_types(PtcHeap *heap, PtcValue schema)
{
    PtcValue type = ptc_map_field(heap, schema, "type");
    unsigned bits = type == PTC_NONE ? 0 : type_bit(ptc_str_text(type));
    for (size_t i = 0; i < ptc_fields_count(type); i++)
        bits |= type_bit(ptc_str_text(ptc_seq_nth(type, i)));
    if (bits && ptc_fields_is(heap, schema, "nullable", PTC_TRUE))
        bits |= PTC_SCHEMA_TYPE_NULL;
    if (bits)
        return bits;
    if (ptc_map_field(heap, schema, "properties") != PTC_NONE ||
        ptc_map_field(heap, schema, "additionalProperties") != PTC_NONE)
        return PTC_SCHEMA_TYPE_OBJECT;
    return ptc_map_field(heap, schema, "items") != PTC_NONE ? PTC_SCHEMA_TYPE_ARRAY : 0;
}

PtcValue ptc_schema_view_choices(PtcHeap *heap, PtcValue schema)
{
    PtcValue any = ptc_map_field(heap, schema, "anyOf");
    if (any == PTC_NONE || ptc_fields_count(any) == 0)
        any = ptc_map_field(heap, schema, "oneOf");
    return any != PTC_NONE && ptc_fields_count(any) ? any : PTC_NONE;
}

static bool holds_null(PtcValue list)
{
    for (size_t i = 0; i < ptc_fields_count(list); i++)
        if (ptc_seq_nth(list, i) == PTC_NIL)
            return true;
    return false;
}

/* `left`: schemas that may still be looked at, since references can make a small document a very large one. */
static bool takes_null(PtcHeap *heap, PtcValue root, PtcValue schema, int depth, int *left)
{
    schema = ptc_schema_view_follow(heap, root, schema);
    if (schema == PTC_NONE || !ptc_is_map(schema) || depth > VIEW_DEPTH || --*left < 0)
        return schema != PTC_FALSE;
    unsigned types = ptc_schema_view_types(heap, schema);
    PtcValue choices = ptc_schema_view_choices(heap, schema);
    PtcValue all = ptc_map_field(heap, schema, "allOf");
    PtcValue values = ptc_map_field(heap, schema, "enum");
    PtcValue constant = ptc_map_field(heap, schema, "const");
    if ((types && !(types & PTC_SCHEMA_TYPE_NULL)) ||
        (constant != PTC_NONE && constant != PTC_NIL) ||
        (values != PTC_NONE && !holds_null(values)))
        return false;
    for (size_t i = 0; i < ptc_fields_count(all); i++)
        if (!takes_null(heap, root, ptc_seq_nth(all, i), depth + 1, left))
            return false;
    for (size_t i = 0; i < ptc_fields_count(choices); i++)
        if (takes_null(heap, root, ptc_seq_nth(choices, i), depth + 1, left))
            return true;
    return choices == PTC_NONE;
}

bool ptc_schema_view_null(PtcHeap *heap, PtcValue root, PtcValue schema)
{
    int left = VIEW_LOOKS;
    return takes_null(heap, root, schema, 0, &left);
}

/* ------------------------------------------------------------------------------ properties */

/* Adds the members of `key` of a schema and of its allOf, by their names or (a list) one after the other. */
static void gather_schema_members(PtcHeap *heap, PtcValue root, PtcValue schema, const char *key,
                                  PtcValue *to, int depth, int *left)
{
    PtcValue name, value;
    schema = ptc_schema_view_follow(heap, root, schema);
    if (schema == PTC_NONE || !ptc_is_map(schema) || depth > VIEW_DEPTH || --*left < 0)
        return;
    PtcValue from = ptc_map_field(heap, schema, key);
    PtcValue all = ptc_map_field(heap, schema, "allOf");
    if (from != PTC_NONE && ptc_is_map(from) && ptc_is_map(*to))
        for (size_t pos = 0; ptc_map_next(from, &pos, &name, &value);)
            ptc_fields_put_key(heap, to, ptc_str_text(name), value);
    else if (!ptc_is_map(*to))
        for (size_t i = 0; i < ptc_fields_count(from); i++)
            ptc_fields_push(heap, to, ptc_seq_nth(from, i));
    for (size_t i = 0; i < ptc_fields_count(all); i++)
        gather_schema_members(heap, root, ptc_seq_nth(all, i), key, to, depth + 1, left);
}

PtcValue ptc_schema_view_properties(PtcHeap *heap, PtcValue root, PtcValue schema)
{
    PtcValue own = ptc_map_field(heap, schema, "properties");
    if (ptc_map_field(heap, schema, "allOf") == PTC_NONE)
        return own != PTC_NONE && ptc_is_map(own) ? own : PTC_NONE;
    int left = VIEW_LOOKS;
    PtcValue to = ptc_fields_map(heap);
    if (to != PTC_NONE)
        gather_schema_members(heap, root, schema, "properties", &to, 0, &left);
    return to != PTC_NONE && ptc_map_count(to) ? to : PTC_NONE;
}

PtcValue ptc_schema_view_required(PtcHeap *heap, PtcValue root, PtcValue schema)
{
    PtcValue own = ptc_map_field(heap, schema, "required");
    if (ptc_map_field(heap, schema, "allOf") == PTC_NONE)
        return own;
    int left = VIEW_LOOKS;
    PtcValue to = ptc_fields_list(heap);
    if (to != PTC_NONE)
        gather_schema_members(heap, root, schema, "required", &to, 0, &left);
    return to;
}

PtcValue ptc_schema_view_implied(PtcHeap *heap, PtcValue root, PtcValue schema)
{
    PtcValue behind = ptc_schema_view_follow(heap, root, schema), values;
    PtcValue v = ptc_map_field(heap, schema, "default");
    if (v == PTC_NONE)
        v = ptc_map_field(heap, behind, "default");
    if (v == PTC_NONE)
        v = ptc_map_field(heap, behind, "const");
    if (v == PTC_NONE && ptc_fields_count(values = ptc_map_field(heap, behind, "enum")) == 1)
        v = ptc_seq_nth(values, 0);
    return v;
}

bool ptc_schema_view_lists(PtcValue list, PtcText text)
{
    for (size_t i = 0; i < ptc_fields_count(list); i++)
        if (ptc_text_same(ptc_str_text(ptc_seq_nth(list, i)), text))
            return true;
    return false;
}
