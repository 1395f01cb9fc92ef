/* SPDX-License-Identifier: MIT
 * JSON Schema to types.  Recursion follows the schema and is counted. */
#include "driver/signature_forms.h"

#include <stdio.h>

#include "base/utf8.h"
#include "tool/sig/sig_int.h"
#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/str.h"

typedef struct {
    PtcArena *arena;
    PtcHeap *heap;
    int depth;
    PtcSigError *error;
} Import;

/* Where in the schema, for messages; lives on the C stack. */
typedef struct Place {
    const struct Place *up;
    const char *name;
} Place;

typedef enum {
    K_TYPE,
    K_DESCRIPTION,
    K_ITEMS,
    K_PROPERTIES,
    K_REQUIRED,
    K_ADDITIONAL,
    K_COUNT
} Key;

static const char *const key_names[K_COUNT] = {"type",       "description", "items",
                                               "properties", "required",    "additionalProperties"};

/* --------------------------------------------------------------------------------- errors */

/* "properties.lines.items: " before a message; the outer places first. */
static size_t write_place(const Place *place, char *out, size_t size)
{
    if (!place)
        return 0;
    size_t n = write_place(place->up, out, size);
    size_t len = strlen(place->name);
    size_t shown = len > 24 ? ptc_utf8_valid_prefix(place->name, 24) : len;
    if (n + 1 < size)
        n += (size_t)snprintf(out + n, size - n, "%s%.*s", place->up ? "." : "",
                              PTC_ARG_OF(place->name, shown));
    return n < size ? n : size - 1;
}

static bool fail(Import *im, const Place *place, const char *format, ...) PTC_PRINTF(3, 4);
static bool fail(Import *im, const Place *place, const char *format, ...)
{
    enum { PLACE_MAX = 120 };
    char *text = im->error->message;
    size_t n = write_place(place, text, PLACE_MAX);
    if (n)
        n += (size_t)snprintf(text + n, sizeof im->error->message - n, ": ");
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, sizeof im->error->message - n, format, args);
    va_end(args);
    text[ptc_utf8_valid_prefix(text, strlen(text))] = 0;
    return false;
}

static bool fail_stopped(Import *im)
{
    im->error->stopped = true;
    return fail(im, NULL, "out of memory or time while reading the schema");
}

/* ----------------------------------------------------------------------------------- keys */

static bool is_text(PtcValue v, const char *text)
{
    return ptc_is_string(v) && ptc_str_len(v) == strlen(text) &&
           memcmp(ptc_str_bytes(v), text, ptc_str_len(v)) == 0;
}

/* The values of the keys that we know; PTC_NONE for absent ones.  Unknown keys are refused. */
static bool read_keys(Import *im, PtcValue schema, PtcValue values[K_COUNT], const Place *place)
{
    char got[PTC_SIG_SHOWN];
    PtcValue key, value;
    if (!ptc_is_map(schema))
        return fail(im, place, "a schema is an object, got %s", ptc_sig_describe(schema, got));
    for (int k = 0; k < K_COUNT; k++)
        values[k] = PTC_NONE;
    for (size_t pos = 0; ptc_map_next(schema, &pos, &key, &value);) {
        int k = 0;
        while (k < K_COUNT && !is_text(key, key_names[k]))
            k++;
        if (!ptc_tick(im->heap->budget, 1))
            return fail_stopped(im);
        if (k == K_COUNT)
            return fail(im, place, "a signature cannot say what %s means here",
                        ptc_sig_describe(key, got));
        values[k] = value;
    }
    return true;
}

/* Only these keys are allowed besides type and description. */
static bool allow(Import *im, const PtcValue values[K_COUNT], unsigned keys, const Place *place)
{
    for (int k = K_ITEMS; k < K_COUNT; k++)
        if (values[k] != PTC_NONE && !(keys >> k & 1))
            return fail(im, place, "\"%s\" has no meaning for this type", key_names[k]);
    return true;
}

/* --------------------------------------------------------------------------------- fields */

static bool import_type(Import *im, PtcValue schema, const PtcSigType **out, const Place *place);

static int compare_names(const PtcSigField *a, const char *name, size_t len)
{
    size_t n = a->name_len < len ? a->name_len : len;
    int order = memcmp(a->name, name, n);
    return order ? order : (a->name_len > len) - (a->name_len < len);
}

/* Where a name is, or belongs, among the sorted fields. */
static size_t place_of(const PtcSigType *type, const char *name, size_t len)
{
    size_t low = 0, high = type->field_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_names(&type->fields[middle], name, len) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const PtcSigType *make_optional(Import *im, const PtcSigType *item)
{
    PtcSigType *type = ptc_arena_zalloc(im->arena, sizeof *type);
    if (!type)
        return NULL;
    type->kind = PTC_SIG_OPTIONAL;
    type->item = item;
    return type;
}

/* Adds a field at its sorted position, as optional for now. */
static bool add_field(Import *im, PtcSigType *type, PtcSigField *fields, PtcValue name,
                      PtcValue schema, const Place *place)
{
    PtcSigField field;
    size_t at = place_of(type, ptc_str_bytes(name), ptc_str_len(name));
    Place here = {place, ptc_str_bytes(name)};
    const PtcSigType *inner;
    if (!ptc_sig_field_init(im->arena, &field, ptc_str_bytes(name), ptc_str_len(name)))
        return fail_stopped(im);
    if (!import_type(im, schema, &inner, &here))
        return false;
    if (!(field.type = make_optional(im, inner)))
        return fail_stopped(im);
    for (size_t i = 0; i < type->field_count && !type->aliased; i++)
        type->aliased = ptc_sig_fields_clash(&fields[i], &field);
    memmove(fields + at + 1, fields + at, (type->field_count - at) * sizeof *fields);
    fields[at] = field;
    type->field_count++;
    return true;
}

static bool import_properties(Import *im, PtcSigType *type, PtcValue properties, const Place *place)
{
    Place here = {place, "properties"};
    PtcValue key, schema;
    if (!ptc_is_map(properties))
        return fail(im, &here, "an object with a schema for each name is expected");
    size_t n = ptc_map_count(properties);
    if (n > PTC_SIG_MAX_FIELDS)
        return fail(im, &here, "more than %d properties", PTC_SIG_MAX_FIELDS);
    PtcSigField *fields = ptc_arena_zalloc(im->arena, n * sizeof *fields + 1);
    if (!fields)
        return fail_stopped(im);
    type->fields = fields;
    for (size_t pos = 0; ptc_map_next(properties, &pos, &key, &schema);) {
        if (!ptc_is_string(key))
            return fail(im, &here, "the names of properties are strings");
        if (!ptc_tick(im->heap->budget, (int64_t)n))
            return fail_stopped(im);
        if (!add_field(im, type, fields, key, schema, &here))
            return false;
    }
    return true;
}

static bool import_required(Import *im, PtcSigType *type, PtcValue required, const Place *place)
{
    char got[PTC_SIG_SHOWN];
    Place here = {place, "required"};
    PtcIter it;
    PtcValue name;
    if (!ptc_is_sequential(required) || !ptc_iter_init(&it, im->heap, required))
        return fail(im, &here, "a list of names is expected");
    while (ptc_iter_next(&it, &name)) {
        if (!ptc_tick(im->heap->budget, 1))
            return fail_stopped(im);
        if (!ptc_is_string(name))
            return fail(im, &here, "names are strings, got %s", ptc_sig_describe(name, got));
        size_t at = place_of(type, ptc_str_bytes(name), ptc_str_len(name));
        if (at == type->field_count ||
            compare_names(&type->fields[at], ptc_str_bytes(name), ptc_str_len(name)) != 0)
            return fail(im, &here, "there is no property for %s", ptc_sig_describe(name, got));
        PtcSigField *f = (PtcSigField *)(uintptr_t)&type->fields[at];
        f->type = ptc_sig_required(f->type);
    }
    return true;
}

/* ---------------------------------------------------------------------------------- types */

static bool import_object(Import *im, const PtcValue values[K_COUNT], const PtcSigType **out,
                          const Place *place)
{
    PtcValue additional = values[K_ADDITIONAL];
    PtcSigType *type = ptc_arena_zalloc(im->arena, sizeof *type);
    if (!type)
        return fail_stopped(im);
    if (additional != PTC_NONE && !ptc_is_bool(additional))
        return fail(im, place, "\"additionalProperties\" may be true or false only");
    type->kind = additional == PTC_FALSE ? PTC_SIG_CLOSED : PTC_SIG_FIELDS;
    if (values[K_PROPERTIES] != PTC_NONE &&
        !import_properties(im, type, values[K_PROPERTIES], place))
        return false;
    if (values[K_REQUIRED] != PTC_NONE && !import_required(im, type, values[K_REQUIRED], place))
        return false;
    bool any = values[K_PROPERTIES] == PTC_NONE && type->kind == PTC_SIG_FIELDS;
    if (any)
        type->kind = PTC_SIG_MAP;
    *out = type;
    return true;
}

static bool import_array(Import *im, const PtcValue values[K_COUNT], const PtcSigType **out,
                         const Place *place)
{
    Place here = {place, "items"};
    if (values[K_ITEMS] == PTC_NONE)
        return fail(im, place, "an array needs \"items\", the schema of its elements");
    PtcSigType *type = ptc_arena_zalloc(im->arena, sizeof *type);
    if (!type)
        return fail_stopped(im);
    type->kind = PTC_SIG_LIST;
    *out = type;
    return import_type(im, values[K_ITEMS], &type->item, &here);
}

static bool import_named(Import *im, const PtcValue values[K_COUNT], const PtcSigType **out,
                         const Place *place)
{
    static const struct {
        const char *name;
        PtcSigType type;
    } scalars[] = {{"string", {.kind = PTC_SIG_STRING}},
                   {"integer", {.kind = PTC_SIG_INT}},
                   {"number", {.kind = PTC_SIG_FLOAT}},
                   {"boolean", {.kind = PTC_SIG_BOOL}}};
    char got[PTC_SIG_SHOWN];
    PtcValue name = values[K_TYPE];
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        if (is_text(name, scalars[i].name)) {
            *out = &scalars[i].type;
            return allow(im, values, 0, place);
        }
    if (is_text(name, "array"))
        return allow(im, values, 1u << K_ITEMS, place) && import_array(im, values, out, place);
    if (is_text(name, "object"))
        return allow(im, values, 1u << K_PROPERTIES | 1u << K_REQUIRED | 1u << K_ADDITIONAL,
                     place) &&
               import_object(im, values, out, place);
    return fail(im, place, "\"type\" is string, integer, number, boolean, array or object, not %s",
                ptc_sig_describe(name, got));
}

static bool import_type(Import *im, PtcValue schema, const PtcSigType **out, const Place *place)
{
    PtcValue values[K_COUNT];
    if (im->depth == PTC_SIG_MAX_DEPTH)
        return fail(im, NULL, "the schema is nested deeper than %d", PTC_SIG_MAX_DEPTH);
    if (!read_keys(im, schema, values, place))
        return false;
    if (values[K_TYPE] == PTC_NONE)
        return fail(im, place, "a schema needs a \"type\"");
    im->depth++;
    bool ok = import_named(im, values, out, place);
    im->depth--;
    return ok;
}

bool ptc_sig_import(PtcArena *arena, PtcHeap *heap, PtcValue schema, const PtcSigType **out,
                    PtcSigError *error)
{
    Import im = {arena, heap, 0, error};
    *error = (PtcSigError){.offset = 0};
    return import_type(&im, schema, out, NULL);
}
