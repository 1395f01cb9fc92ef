/* SPDX-License-Identifier: MIT
 * Rewrites JSON Schemas for providers that enforce them.  What always holds: a schema that cannot be closed is left
 * unwritten, and the walk is bounded by the depth that the JSON box allows. */
#include "llm/provider/closed_schema.h"

#include "json/emit.h"
#include "llm/llm.h"
#include "value/coll/map.h"
#include "value/str.h"

typedef struct SchemaWalk {
    PtcJsonBox *box;
    PtcBuf *out;
    PtcClosedSchema form;
} SchemaWalk;

static void write_closed_schema(SchemaWalk *w, PtcValue schema, size_t depth);

static bool is_keyword_among(PtcText name, const char *const *names)
{
    for (; *names; names++)
        if (ptc_text_is(name, *names))
            return true;
    return false;
}

/* Limits on values, which providers refuse or ignore. */
static bool is_left_out(PtcText name)
{
    static const char *const names[] = {"minimum",
                                        "maximum",
                                        "exclusiveMinimum",
                                        "exclusiveMaximum",
                                        "multipleOf",
                                        "minLength",
                                        "maxLength",
                                        "minItems",
                                        "maxItems",
                                        "uniqueItems",
                                        "minProperties",
                                        "maxProperties",
                                        "$schema",
                                        "additionalProperties",
                                        NULL};
    return is_keyword_among(name, names);
}

/* Keywords whose value is a schema, a map of schemas, a list of schemas. */
static const char *const ones[] = {"items", "not", "contains", NULL};
static const char *const maps[] = {"properties", "$defs", "definitions", NULL};
static const char *const lists[] = {"anyOf", "allOf", "oneOf", "prefixItems", NULL};

static void write_map(SchemaWalk *w, PtcValue map, size_t depth)
{
    size_t pos = 0;
    PtcValue key, value;
    ptc_emit_object(w->out);
    while (ptc_map_next(map, &pos, &key, &value)) {
        ptc_emit_key_text(w->out, ptc_str_text(key));
        write_closed_schema(w, value, depth + 1);
    }
    ptc_emit_object_end(w->out);
}

static void write_schema_list(SchemaWalk *w, PtcValue list, size_t depth)
{
    ptc_emit_array(w->out);
    for (size_t i = 0; i < ptc_json_box_length(list); i++)
        write_closed_schema(w, ptc_json_box_item(list, i), depth + 1);
    ptc_emit_array_end(w->out);
}

static void write_member(SchemaWalk *w, PtcText name, PtcValue value, size_t depth)
{
    ptc_emit_key_text(w->out, name);
    if (is_keyword_among(name, ones))
        write_closed_schema(w, value, depth + 1);
    else if (is_keyword_among(name, maps) && ptc_is_map(value))
        write_map(w, value, depth);
    else if (is_keyword_among(name, lists) && ptc_json_box_length(value))
        write_schema_list(w, value, depth);
    else
        ptc_emit_value(w->out, &w->box->heap, value);
}

/* Can the value be an object?  If no type is given, look for properties, or for the absence of any other keyword. */
static bool is_object_schema(SchemaWalk *w, PtcValue schema, PtcValue properties)
{
    PtcValue type = ptc_json_box_get(w->box, schema, "type");
    if (ptc_is_string(type))
        return ptc_text_is(ptc_str_text(type), "object");
    for (size_t i = 0; i < ptc_json_box_length(type); i++)
        if (ptc_text_is(ptc_str_text(ptc_json_box_item(type, i)), "object"))
            return true;
    return properties != PTC_NONE;
}

static void judge_object(SchemaWalk *w, PtcValue schema, PtcValue properties)
{
    PtcValue more = ptc_json_box_get(w->box, schema, "additionalProperties");
    PtcValue required = ptc_json_box_get(w->box, schema, "required");
    bool named = properties != PTC_NONE && ptc_is_map(properties);
    if (!named || (more != PTC_NONE && more != PTC_FALSE))
        w->form = PTC_CLOSED_SCHEMA_OPEN;
    else if (w->form == PTC_CLOSED_SCHEMA_STRICT &&
             ptc_json_box_length(required) < ptc_map_count(properties))
        w->form = PTC_CLOSED_SCHEMA_CLOSED;
}

static void write_closed_schema(SchemaWalk *w, PtcValue schema, size_t depth)
{
    size_t pos = 0;
    PtcValue key, value;
    /* a schema that is `true`, or has no keywords, accepts any object */
    if (!ptc_is_map(schema) || ptc_map_count(schema) == 0 || depth > PTC_LLM_JSON_DEPTH) {
        w->form = PTC_CLOSED_SCHEMA_OPEN;
        return;
    }
    PtcValue properties = ptc_json_box_get(w->box, schema, "properties");
    bool object = is_object_schema(w, schema, properties);
    ptc_emit_object(w->out);
    while (ptc_map_next(schema, &pos, &key, &value) && w->form != PTC_CLOSED_SCHEMA_OPEN)
        if (!is_left_out(ptc_str_text(key)))
            write_member(w, ptc_str_text(key), value, depth);
    if (object) {
        judge_object(w, schema, properties);
        ptc_emit_field_bool(w->out, "additionalProperties", false);
    }
    ptc_emit_object_end(w->out);
}

PtcClosedSchema ptc_closed_schema_write(PtcJsonBox *box, PtcText schema, PtcBuf *out)
{
    PtcWhy why;
    SchemaWalk w = {box, out, PTC_CLOSED_SCHEMA_STRICT};
    size_t before = out->len;
    PtcValue v = ptc_json_box_read(box, schema, &why);
    if (v == PTC_NONE && why.class != PTC_WHY_INVALID)
        out->failed = true;
    if (v == PTC_NONE)
        return PTC_CLOSED_SCHEMA_OPEN;
    write_closed_schema(&w, v, 0);
    if (w.form == PTC_CLOSED_SCHEMA_OPEN)
        out->len = before;
    return w.form;
}
