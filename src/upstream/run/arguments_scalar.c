/* SPDX-License-Identifier: MIT
 * Single values of arguments: coerced where there is only one way to do it, as signatures do, and refused otherwise. */
#include <math.h>

#include "base/text/nearest.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "tool/convert.h"
#include "tool/schema/schema_view.h"
#include "tool/schema/type_text.h"
#include "tool/sig/sig_check.h"
#include "upstream/run/arguments_int.h"
#include "value/coll/fields.h"
#include "value/equal.h"

enum { EXPECTED_BYTES = 220 }; /* a longer text is left to `doc` */

void ptc_arguments_issue(Fitting *f, const char *problem, PtcText nearest, const char *message)
{
    ptc_arguments_refuse(f->issues, f->path, problem, nearest, message);
}

void ptc_arguments_expect(Fitting *f, PtcValue schema, const char *problem, PtcText nearest,
                          const char *message)
{
    PtcBuf text;
    if (f->trying || f->issues->count == PTC_ARGUMENTS_ISSUES) {
        ptc_arguments_issue(f, problem, nearest, message);
        return;
    }
    ptc_buf_init(&text, f->heap->pool->mem, EXPECTED_BYTES);
    ptc_buf_addf(&text, "%s; expected ", message);
    ptc_type_text_add(&text, f->heap, f->in->root, schema, false);
    ptc_buf_add_char(&text, '\0');
    ptc_arguments_issue(f, problem, nearest, ptc_buf_ok(&text) ? text.data : message);
    ptc_buf_deinit(&text);
}

void ptc_arguments_enter(Fitting *f, PtcText name, char keep[PTC_PATH_BYTES])
{
    memcpy(keep, f->path, PTC_PATH_BYTES);
    PtcValue key = ptc_fields_string(f->heap, name);
    if (key != PTC_NONE)
        ptc_path_add_key(f->path, sizeof f->path, key);
}

PtcValue ptc_arguments_generic(Fitting *f, PtcValue v)
{
    PtcBuf json;
    PtcJsonError error;
    PtcValue out = PTC_NIL;
    if (v == PTC_NIL || ptc_is_bool(v) || ptc_is_string(v) || ptc_is_integer(v))
        return v;
    ptc_buf_init(&json, f->heap->pool->mem, 4 * PTC_ARGUMENTS_BYTES);
    if (ptc_to_json_value(f->heap, &json, v, -1, &error))
        out = ptc_json_parse(f->heap, json.data, json.len, &error);
    else if (!error.stopped && !json.failed)
        ptc_arguments_issue(f, "type", (PtcText){NULL, 0}, error.message);
    if (json.failed)
        ptc_budget_halt(f->heap->budget, PTC_STOP_MEMORY);
    ptc_buf_deinit(&json);
    return out;
}

/* ----------------------------------------------------------------------------------- types */

static bool is_whole_number(PtcValue v)
{
    return ptc_is_integer(v) || (ptc_is_float(v) && ptc_to_float(v) == floor(ptc_to_float(v)) &&
                                 isfinite(ptc_to_float(v)));
}

static bool fits_scalar_types(unsigned types, PtcValue v)
{
    return types == 0 || (v == PTC_NIL && types & PTC_SCHEMA_TYPE_NULL) ||
           (ptc_is_string(v) && types & PTC_SCHEMA_TYPE_STRING) ||
           (ptc_is_bool(v) && types & PTC_SCHEMA_TYPE_BOOLEAN) ||
           (ptc_is_number(v) && types & PTC_SCHEMA_TYPE_NUMBER) ||
           (is_whole_number(v) && types & PTC_SCHEMA_TYPE_INTEGER);
}

/* 5.0 where whole numbers are wanted goes out as 5: many readers of JSON tell the two apart. */
static PtcValue without_fraction(PtcValue v)
{
    double d = ptc_is_float(v) ? ptc_to_float(v) : 0.5;
    return d == floor(d) && fabs(d) < 1e15 ? ptc_int((int64_t)d) : v;
}

/* The value as a signature with this type takes it; PTC_NONE: it does not. */
static PtcValue coerce_as(Fitting *f, PtcSigKind kind, PtcValue v)
{
    PtcSigType type = {.kind = kind};
    PtcSigIssues warnings, errors;
    ptc_sig_issues_init(&warnings, f->heap->pool->mem);
    ptc_sig_issues_init(&errors, f->heap->pool->mem);
    PtcValue out = ptc_sig_coerce(f->heap, &type, PTC_SIG_EXTRA_LEFT_OUT, v, &warnings, &errors);
    ptc_sig_issues_deinit(&errors);
    ptc_sig_issues_deinit(&warnings);
    return out;
}

/* The text that an integer or a boolean has in an address. */
static PtcValue text_of_scalar(Fitting *f, PtcValue v)
{
    PtcBuf text;
    if (!ptc_is_integer(v) && !ptc_is_bool(v))
        return PTC_NONE;
    ptc_buf_init(&text, f->heap->pool->mem, PTC_ARGUMENTS_BYTES);
    ptc_emit_value(&text, f->heap, v);
    PtcValue out = ptc_fields_buf(f->heap, &text);
    ptc_buf_deinit(&text);
    return out;
}

/* In the order in which a text is more likely to be meant. */
static PtcValue coerce_scalar(Fitting *f, unsigned types, PtcValue v)
{
    PtcValue out = PTC_NONE;
    if (types & PTC_SCHEMA_TYPE_INTEGER)
        out = coerce_as(f, PTC_SIG_INT, v);
    if (out == PTC_NONE && types & PTC_SCHEMA_TYPE_NUMBER) {
        out = coerce_as(f, PTC_SIG_INT, v);
        if (out == PTC_NONE)
            out = coerce_as(f, PTC_SIG_FLOAT, v);
    }
    if (out == PTC_NONE && types & PTC_SCHEMA_TYPE_BOOLEAN)
        out = coerce_as(f, PTC_SIG_BOOL, v);
    if (out == PTC_NONE && types & PTC_SCHEMA_TYPE_STRING)
        out = f->text ? text_of_scalar(f, v) : PTC_NONE;
    if (out == PTC_NONE && types & PTC_SCHEMA_TYPE_STRING)
        out = coerce_as(f, PTC_SIG_STRING, v);
    return out;
}

/* ----------------------------------------------------------------------------------- enums */

static bool is_among_values(Fitting *f, PtcValue values, PtcValue v)
{
    for (size_t i = 0; i < ptc_fields_count(values); i++)
        if (ptc_equal(f->heap, ptc_seq_nth(values, i), v))
            return true;
    return false;
}

static PtcText nearest_value(PtcValue values, PtcValue v)
{
    PtcNearest near;
    if (!ptc_is_string(v))
        return (PtcText){NULL, 0};
    ptc_nearest_init(&near, ptc_str_bytes(v), ptc_str_len(v));
    for (size_t i = 0; i < ptc_fields_count(values); i++) {
        PtcText text = ptc_str_text(ptc_seq_nth(values, i));
        if (text.bytes && text.len == ptc_str_len(v) &&
            ptc_utf8_alike(text.bytes, ptc_str_bytes(v), text.len))
            return text;
        if (text.bytes)
            ptc_nearest_offer(&near, text.bytes, text.len);
    }
    return (PtcText){near.best, near.best_len};
}

/* `enum` and `const`. */
static void check_values(Fitting *f, PtcValue schema, PtcValue v)
{
    PtcValue values = ptc_map_field(f->heap, schema, "enum");
    PtcValue constant = ptc_map_field(f->heap, schema, "const");
    if (constant != PTC_NONE && !ptc_equal(f->heap, constant, v))
        ptc_arguments_expect(f, schema, "enum", ptc_str_text(constant), "it is another value");
    else if (values != PTC_NONE && ptc_fields_count(values) && !is_among_values(f, values, v))
        ptc_arguments_expect(f, schema, "enum", nearest_value(values, v),
                             "it is not one of the allowed values");
}

PtcValue ptc_arguments_scalar(Fitting *f, PtcValue schema, unsigned types, PtcValue v)
{
    if (types == 0) {
        v = ptc_arguments_generic(f, v);
    } else if (!fits_scalar_types(types, v)) {
        PtcValue to = v == PTC_NIL || f->as_is ? PTC_NONE : coerce_scalar(f, types, v);
        if (to == PTC_NONE) {
            if (ptc_fields_ok(f->heap))
                ptc_arguments_expect(f, schema, "type", (PtcText){NULL, 0},
                                     "it has the wrong type");
            return PTC_NIL;
        }
        v = to;
    }
    if (types & PTC_SCHEMA_TYPE_INTEGER && !(types & PTC_SCHEMA_TYPE_NUMBER))
        v = without_fraction(v);
    if (v != PTC_NONE)
        check_values(f, schema, v);
    return v;
}
