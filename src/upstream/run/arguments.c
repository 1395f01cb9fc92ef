/* SPDX-License-Identifier: MIT
 * Arguments.  The schema comes from an upstream and the arguments from a program, so both may be hostile: recursion is
 * counted, and the work of trying alternatives is bounded for a whole call.
 *
 * Two passes.  The first goes through value and schema together: it finds spellings, coerces, and reports what it can
 * name (keys, types, enums).  Only what passes it is given to the validator, which knows the rest of JSON Schema. */
#include "upstream/run/arguments.h"

#include <stdio.h>

#include "base/text/name_list.h"
#include "base/text/nearest.h"
#include "base/text/one_line.h"
#include "json/parse.h"
#include "json/write.h"
#include "tool/convert.h"
#include "tool/keys.h"
#include "tool/schema/schema.h"
#include "tool/schema/schema_view.h"
#include "upstream/catalog/naming.h"
#include "upstream/run/arguments_int.h"
#include "value/coll/fields.h"
#include "value/time/time.h"

/* Schemas inside each other, and alternatives that one call may try. */
enum { ARGUMENTS_DEPTH = 64, ARGUMENTS_TRIES = 4000, AROUND_BYTES = 60 };

enum { NEAREST_TICKS = 16 }; /* comparing two words costs more than most steps */

/* Names are the program's and the upstream's, and a message may end up on a terminal. */
static void put_clean(char *out, size_t size, PtcText text)
{
    PtcBuf clean = {.data = out, .cap = size - 1, .max = size - 1};
    ptc_one_line_add(&clean, text);
    out[clean.len] = '\0';
}

void ptc_arguments_refuse(PtcArgumentIssues *issues, const char *path, const char *problem,
                          PtcText nearest, const char *message)
{
    if (issues->count == PTC_ARGUMENTS_ISSUES)
        return;
    PtcArgumentIssue *issue = &issues->items[issues->count++];
    *issue = (PtcArgumentIssue){.problem = problem};
    put_clean(issue->path, sizeof issue->path, ptc_text_cstr(path));
    put_clean(issue->nearest, sizeof issue->nearest, nearest);
    put_clean(issue->message, sizeof issue->message, ptc_text_cstr(message));
}

/* ------------------------------------------------------------------------------------ keys */

/* A search for the property that a key means. */
typedef struct {
    PtcValue name; /* PTC_NONE: none */
    bool several;
} Property;

static bool fold_argument_name(Fitting *f, PtcText text, PtcText *folded)
{
    if (ptc_naming_fold(&f->arena, text, folded))
        return true;
    ptc_budget_halt(f->heap->budget, PTC_STOP_MEMORY);
    return false;
}

static Property find_property(Fitting *f, PtcValue properties, PtcText key)
{
    Property found = {PTC_NONE, false};
    PtcValue name, schema;
    PtcText word, other;
    if (ptc_fields_get(f->heap, properties, key) != PTC_NONE) {
        found.name = ptc_fields_string(f->heap, key);
        return found;
    }
    if (!fold_argument_name(f, key, &word))
        return found;
    for (size_t pos = 0; ptc_map_next(properties, &pos, &name, &schema);) {
        if (!fold_argument_name(f, ptc_str_text(name), &other))
            return found;
        if (!ptc_text_same(word, other))
            continue;
        found.several = found.name != PTC_NONE;
        found.name = name;
        if (found.several)
            return found;
    }
    return found;
}

/* Nobody will read another issue. */
static bool is_told_enough(const Fitting *f)
{
    return f->issues->count == PTC_ARGUMENTS_ISSUES;
}

/* The property nearest to a key, of those that are not given.  Where a key that has one is refused, and others are
 * sent, only typing mistakes count. */
static PtcText nearest_property(Fitting *f, PtcValue properties, PtcValue given, PtcText key,
                                bool closed)
{
    PtcNearest near;
    PtcValue name, schema;
    ptc_nearest_init(&near, key.bytes, key.len);
    near.mistakes_only = !closed;
    for (size_t pos = 0; ptc_map_next(properties, &pos, &name, &schema) &&
                         ptc_tick(f->heap->budget, NEAREST_TICKS);)
        if (ptc_map_get(f->heap, given, name) == PTC_NONE)
            ptc_nearest_offer(&near, ptc_str_bytes(name), ptc_str_len(name));
    return (PtcText){near.best, near.best_len};
}

/* --------------------------------------------------------------------------------- objects */

/* What is known while the members of one map are looked at. */
typedef struct {
    PtcValue properties; /* PTC_NONE: none declared */
    PtcValue others;     /* additionalProperties; PTC_NONE: not said */
    PtcValue given;      /* name -> true, of declared properties */
    PtcValue strangers;  /* key -> value, of keys that no property has */
    PtcValue out;
} Members;

static void put_fitted_member(Fitting *f, Members *m, PtcText name, PtcValue v)
{
    ptc_fields_put_key(f->heap, &m->out, name, v);
}

static PtcValue arguments_convert(Fitting *f, PtcValue schema, PtcValue v);

static void add_declared(Fitting *f, Members *m, PtcValue required, PtcText name, PtcValue v)
{
    PtcValue schema = ptc_fields_get(f->heap, m->properties, name);
    if (v == PTC_NIL && !ptc_schema_view_lists(required, name) &&
        !ptc_schema_view_null(f->heap, f->in->root, schema))
        return;
    bool text = f->text;
    f->text = text || ptc_map_field(f->heap, schema, PTC_SCHEMA_PLACE) != PTC_NONE;
    put_fitted_member(f, m, name, arguments_convert(f, schema, v));
    f->text = text;
}

static void add_fitted_member(Fitting *f, Members *m, PtcValue required, PtcText key, PtcValue v)
{
    char keep[PTC_PATH_BYTES];
    Property found = {PTC_NONE, false};
    ptc_arguments_enter(f, key, keep);
    if (m->properties != PTC_NONE)
        found = find_property(f, m->properties, key);
    if (found.several) {
        ptc_arguments_issue(f, "ambiguous", (PtcText){NULL, 0},
                            "several properties are spelled like this; write one of them exactly");
    } else if (found.name == PTC_NONE) {
        ptc_fields_put_key(f->heap, &m->strangers, key, v);
    } else if (ptc_map_get(f->heap, m->given, found.name) != PTC_NONE) {
        ptc_arguments_issue(f, "duplicate", (PtcText){NULL, 0}, "it is given twice");
    } else {
        PtcText name = ptc_str_text(found.name);
        memcpy(f->path, keep, sizeof keep);
        ptc_arguments_enter(f, name, keep);
        ptc_fields_put_key(f->heap, &m->given, name, PTC_TRUE);
        add_declared(f, m, required, name, v);
    }
    memcpy(f->path, keep, sizeof keep);
}

/* A property that is a map with a member of this name, as the body of a request is; PTC_NONE: there is none. */
static PtcValue property_around(Fitting *f, PtcValue properties, PtcText key)
{
    PtcValue name, schema;
    for (size_t pos = 0; f->tries-- > 0 && ptc_map_next(properties, &pos, &name, &schema);) {
        PtcValue behind = ptc_schema_view_follow(f->heap, f->in->root, schema);
        PtcValue inside = behind == PTC_NONE || !ptc_is_map(behind)
                              ? PTC_NONE
                              : ptc_schema_view_properties(f->heap, f->in->root, behind);
        if (inside != PTC_NONE && ptc_fields_get(f->heap, inside, key) != PTC_NONE &&
            ptc_str_len(name) <= AROUND_BYTES)
            return name;
    }
    return PTC_NONE;
}

static const char *list_properties(Fitting *f, PtcValue properties, char out[PTC_NAME_LIST_SHOWN])
{
    PtcNameList names = {0};
    PtcValue name;
    for (size_t pos = 0; properties != PTC_NONE && ptc_map_next(properties, &pos, &name, NULL) &&
                         ptc_tick(f->heap->budget, 1);)
        ptc_name_list_add(&names, ptc_str_text(name));
    return ptc_name_list_show(&names, 't', out);
}

static void refuse_stranger(Fitting *f, PtcValue properties, PtcText key, PtcText nearest)
{
    char text[240], there[PTC_NAME_LIST_SHOWN];
    PtcValue around = PTC_NONE;
    if (f->trying || is_told_enough(f)) {
        ptc_arguments_issue(f, "unknown", nearest, "the tool has no such argument");
        return;
    }
    if (properties != PTC_NONE && !nearest.bytes)
        around = property_around(f, properties, key);
    if (around == PTC_NONE)
        snprintf(text, sizeof text, "the tool has no such argument; %s",
                 list_properties(f, properties, there));
    else
        snprintf(text, sizeof text,
                 "the tool has no such argument; it is a part of %.*s, which is a map",
                 PTC_ARG(ptc_str_text(around)));
    ptc_arguments_issue(f, "unknown", nearest, text);
}

/* A key that no property has: refused where the schema refuses others, or where it looks like a slip. */
static void add_stranger(Fitting *f, Members *m, bool closed, PtcText key, PtcValue v)
{
    char keep[PTC_PATH_BYTES];
    PtcText nearest = {NULL, 0};
    ptc_arguments_enter(f, key, keep);
    closed = closed || m->others == PTC_FALSE;
    bool open = m->others != PTC_NONE && !closed;
    if (m->properties != PTC_NONE && !open && !is_told_enough(f))
        nearest = nearest_property(f, m->properties, m->given, key, closed);
    if (closed || (!open && nearest.bytes))
        refuse_stranger(f, m->properties, key, nearest);
    else if (open && ptc_is_map(m->others))
        put_fitted_member(f, m, key, arguments_convert(f, m->others, v));
    else
        put_fitted_member(f, m, key, ptc_arguments_generic(f, v));
    memcpy(f->path, keep, sizeof keep);
}

/* What is sent for a required member that is left out, where the schema says it. */
static bool add_implied(Fitting *f, Members *m, PtcText name)
{
    PtcValue schema = ptc_fields_get(f->heap, m->properties, name);
    PtcValue v = ptc_schema_view_implied(f->heap, f->in->root, schema);
    size_t before = f->issues->count;
    if (v == PTC_NONE)
        return false;
    v = arguments_convert(f, schema, v);
    bool good = f->issues->count == before;
    f->issues->count = before; /* a default that does not fit is not the caller's mistake */
    if (good)
        put_fitted_member(f, m, name, v);
    return good;
}

static void check_required_arguments(Fitting *f, Members *m, PtcValue required)
{
    char keep[PTC_PATH_BYTES];
    for (size_t i = 0; i < ptc_fields_count(required); i++) {
        PtcText name = ptc_str_text(ptc_seq_nth(required, i));
        if (!name.bytes || ptc_fields_get(f->heap, m->out, name) != PTC_NONE ||
            (m->given != PTC_NONE && ptc_fields_get(f->heap, m->given, name) != PTC_NONE) ||
            add_implied(f, m, name))
            continue;
        ptc_arguments_enter(f, name, keep);
        ptc_arguments_issue(f, "missing", (PtcText){NULL, 0}, "it is required");
        memcpy(f->path, keep, sizeof keep);
    }
}

static PtcValue fit_object(Fitting *f, PtcValue schema, PtcValue v)
{
    PtcHeap *heap = f->heap;
    PtcValue required = ptc_schema_view_required(heap, f->in->root, schema), key, value;
    PtcValue empty = ptc_fields_map(heap);
    Members m = {ptc_schema_view_properties(heap, f->in->root, schema),
                 ptc_map_field(heap, schema, "additionalProperties"), empty, empty, empty};
    bool closed = f->in->closed && f->depth == 1;
    if (ptc_map_field(heap, schema, "patternProperties") != PTC_NONE && m.others != PTC_NONE)
        m.others = PTC_TRUE; /* the validator knows which of them fit */
    for (size_t pos = 0; ptc_map_next(v, &pos, &key, &value) && ptc_fields_ok(heap);) {
        PtcValue name = ptc_key_string(heap, key, false);
        if (name != PTC_NONE)
            add_fitted_member(f, &m, required, ptc_str_text(name), value);
        else if (ptc_fields_ok(heap))
            ptc_arguments_issue(f, "type", (PtcText){NULL, 0}, "one of its keys is not text");
    }
    for (size_t pos = 0; ptc_map_next(m.strangers, &pos, &key, &value) && ptc_fields_ok(heap);)
        add_stranger(f, &m, closed, ptc_str_text(key), value);
    check_required_arguments(f, &m, required);
    return m.out;
}

/* ----------------------------------------------------------------------------- alternatives */

/* The first alternative that takes the value; PTC_NONE: none does.  When the list of issues was full before, nobody can
 * tell whether one does: the call is refused anyway. */
static PtcValue try_choices(Fitting *f, PtcValue choices, PtcValue v)
{
    size_t before = f->issues->count;
    for (size_t i = 0; i < ptc_fields_count(choices) && f->tries-- > 0 && ptc_fields_ok(f->heap);
         i++) {
        f->trying++;
        PtcValue out = arguments_convert(f, ptc_seq_nth(choices, i), v);
        f->trying--;
        if (f->issues->count == before || before == PTC_ARGUMENTS_ISSUES)
            return out;
        f->issues->count = before;
    }
    return PTC_NONE;
}

/* The only alternative of the value's own kind, whose issues say more than that none fits; PTC_NONE: there is none, or
 * several. */
static PtcValue likely_choice(Fitting *f, PtcValue choices, PtcValue v)
{
    unsigned kind = ptc_is_map(v)          ? PTC_SCHEMA_TYPE_OBJECT
                    : ptc_is_sequential(v) ? PTC_SCHEMA_TYPE_ARRAY
                                           : 0;
    PtcValue only = PTC_NONE;
    for (size_t i = 0; i < ptc_fields_count(choices); i++) {
        PtcValue one = ptc_schema_view_follow(f->heap, f->in->root, ptc_seq_nth(choices, i));
        if (one == PTC_NONE || !ptc_is_map(one) || !(ptc_schema_view_types(f->heap, one) & kind))
            continue;
        if (only != PTC_NONE)
            return PTC_NONE;
        only = one;
    }
    return ptc_fields_count(choices) == 1 ? ptc_seq_nth(choices, 0) : only;
}

/* An alternative that takes the value as it is wins over one that would change it. */
static PtcValue fit_choice(Fitting *f, PtcValue schema, PtcValue choices, PtcValue v)
{
    bool as_is = f->as_is;
    f->as_is = true;
    PtcValue out = try_choices(f, choices, v);
    f->as_is = as_is;
    if (out == PTC_NONE && !as_is)
        out = try_choices(f, choices, v);
    if (out != PTC_NONE || !ptc_fields_ok(f->heap))
        return out;
    PtcValue likely = as_is ? PTC_NONE : likely_choice(f, choices, v);
    if (likely != PTC_NONE && f->tries-- > 0)
        return arguments_convert(f, likely, v);
    ptc_arguments_expect(f, schema, "type", (PtcText){NULL, 0},
                         "it fits none of the allowed forms");
    return PTC_NIL;
}

static PtcValue fit_array(Fitting *f, PtcValue schema, PtcValue v)
{
    PtcHeap *heap = f->heap;
    PtcValue items = ptc_map_field(heap, schema, "items"), item, out = ptc_fields_list(heap);
    PtcValue first = ptc_map_field(heap, schema, "prefixItems");
    PtcIter it;
    if (!ptc_iter_init(&it, heap, v))
        return PTC_NONE;
    for (size_t i = 0; ptc_iter_next(&it, &item) && ptc_fields_ok(heap); i++) {
        char keep[PTC_PATH_BYTES];
        memcpy(keep, f->path, sizeof keep);
        ptc_path_add_index(f->path, sizeof f->path, i);
        PtcValue of = i < ptc_fields_count(first) ? ptc_seq_nth(first, i) : items;
        bool known = of != PTC_NONE && ptc_is_map(of);
        ptc_fields_push(heap, &out,
                        known ? arguments_convert(f, of, item) : ptc_arguments_generic(f, item));
        memcpy(f->path, keep, sizeof keep);
    }
    return out;
}

static PtcValue fit_schema(Fitting *f, PtcValue schema, PtcValue v)
{
    PtcValue choices = ptc_schema_view_choices(f->heap, schema);
    unsigned types = ptc_schema_view_types(f->heap, schema);
    if (ptc_is_map(v) && ptc_schema_view_properties(f->heap, f->in->root, schema) != PTC_NONE)
        types |= PTC_SCHEMA_TYPE_OBJECT;
    if (choices != PTC_NONE && !(types & PTC_SCHEMA_TYPE_OBJECT))
        return fit_choice(f, schema, choices, v);
    if (v == PTC_NIL && (types == 0 || types & PTC_SCHEMA_TYPE_NULL))
        return ptc_arguments_scalar(f, schema, types, v);
    if (ptc_is_map(v) && types & PTC_SCHEMA_TYPE_OBJECT)
        return fit_object(f, schema, v);
    if ((ptc_is_sequential(v) || ptc_is_set(v)) && types & PTC_SCHEMA_TYPE_ARRAY)
        return fit_array(f, schema, v);
    return ptc_arguments_scalar(f, schema, types, v);
}

static PtcValue arguments_convert(Fitting *f, PtcValue schema, PtcValue v)
{
    PtcValue behind = ptc_schema_view_follow(f->heap, f->in->root, schema);
    if (behind == PTC_NONE || !ptc_is_map(behind) || f->depth >= ARGUMENTS_DEPTH)
        return ptc_arguments_generic(f, v);
    PtcValue all = ptc_map_field(f->heap, behind, "allOf");
    bool alone = ptc_fields_count(all) == 1 && ptc_schema_view_types(f->heap, behind) == 0;
    f->depth++;
    PtcValue out = alone ? arguments_convert(f, ptc_seq_nth(all, 0), v) : fit_schema(f, behind, v);
    f->depth--;
    return out;
}

/* ------------------------------------------------------------------------------- validating */

/* What the validator has to say, in our words. */
static void take_issues(Fitting *f, const PtcSchemaIssues *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const PtcSchemaIssue *issue = &from->items[i];
        ptc_arguments_refuse(f->issues, issue->path, "type", (PtcText){NULL, 0}, issue->message);
    }
}

/* A schema that cannot be compiled, or takes too long, is the upstream's fault and stops no call: the upstream will say
 * what it wants.  Most calls are valid, so the validator is first run without the list of issues, which is large. */
static void validate(Fitting *f, PtcValue args)
{
    const PtcSchema *schema = f->in->compiled;
    PtcSchemaError error;
    PtcSchemaIssues *found;
    PtcMem *mem = f->heap->pool->mem;
    PtcBudget *budget = f->in->checks ? f->in->checks : f->heap->budget;
    if (!schema && (f->in->checks ||
                    !ptc_schema_compile(&f->arena, mem, budget, f->in->schema, &schema, &error)))
        return;
    if (ptc_schema_validate(schema, args, mem, budget, NULL) != PTC_SCHEMA_INVALID)
        return;
    if (!(found = ptc_arena_zalloc(&f->arena, sizeof *found)))
        ptc_budget_halt(f->heap->budget, PTC_STOP_MEMORY);
    else if (ptc_schema_validate(schema, args, mem, budget, found) == PTC_SCHEMA_INVALID)
        take_issues(f, found);
}

static void check_arguments_size(Fitting *f, PtcValue args)
{
    PtcBuf json;
    PtcJsonError error;
    ptc_buf_init(&json, f->heap->pool->mem, PTC_ARGUMENTS_BYTES);
    if (!ptc_to_json_value(f->heap, &json, args, -1, &error) && json.full)
        ptc_arguments_issue(f, "type", (PtcText){NULL, 0}, "they have more than 1 MiB as JSON");
    ptc_buf_deinit(&json);
}

PtcValue ptc_arguments_fit(PtcHeap *heap, const PtcArgumentsIn *in, PtcArgumentIssues *issues)
{
    Fitting f = {.heap = heap, .in = in, .issues = issues, .tries = ARGUMENTS_TRIES};
    PtcValue args = in->args == PTC_NIL ? ptc_fields_map(heap) : in->args, out = PTC_NONE;
    issues->count = 0;
    ptc_arena_init(&f.arena, heap->pool->mem);
    if (!ptc_is_map(args))
        ptc_arguments_issue(&f, "type", (PtcText){NULL, 0}, "the arguments must be a map");
    else if (in->schema == PTC_NONE)
        out = ptc_arguments_generic(&f, args);
    else
        out = arguments_convert(&f, in->schema, args);
    if (issues->count == 0 && ptc_fields_ok(heap) && !in->unchecked && in->schema != PTC_NONE)
        validate(&f, out);
    if (issues->count == 0 && ptc_fields_ok(heap))
        check_arguments_size(&f, out);
    ptc_arena_deinit(&f.arena);
    return issues->count || !ptc_fields_ok(heap) ? PTC_NONE : out;
}
