/* SPDX-License-Identifier: MIT
 * Signatures as JSON Schema.  What always holds: only keywords that strict providers accept are written. */
#include "tool/sig/sig_schema.h"

#include "json/emit.h"

static void add_properties(PtcBuf *buf, const PtcSigType *type)
{
    ptc_emit_field_cstr(buf, "type", "object");
    ptc_emit_key(buf, "properties");
    ptc_emit_object(buf);
    for (size_t i = 0; i < type->field_count; i++) {
        const PtcSigField *f = &type->fields[i];
        ptc_emit_key_text(buf, (PtcText){f->name, f->name_len});
        ptc_sig_schema_type(buf, f->type);
    }
    ptc_emit_object_end(buf);
}

static void add_required(PtcBuf *buf, const PtcSigType *type)
{
    ptc_emit_key(buf, "required");
    ptc_emit_array(buf);
    for (size_t i = 0; i < type->field_count; i++) {
        const PtcSigField *f = &type->fields[i];
        if (f->type->kind != PTC_SIG_OPTIONAL)
            ptc_emit_text(buf, (PtcText){f->name, f->name_len});
    }
    ptc_emit_array_end(buf);
}

static bool add_schema_type(PtcBuf *buf, const char *name)
{
    ptc_emit_object(buf);
    ptc_emit_field_cstr(buf, "type", name);
    return ptc_emit_object_end(buf);
}

static bool add_schema_list(PtcBuf *buf, const PtcSigType *type)
{
    ptc_emit_object(buf);
    ptc_emit_field_cstr(buf, "type", "array");
    ptc_emit_key(buf, "items");
    ptc_sig_schema_type(buf, type->item);
    return ptc_emit_object_end(buf);
}

static bool add_schema_fields(PtcBuf *buf, const PtcSigType *type)
{
    ptc_emit_object(buf);
    add_properties(buf, type);
    add_required(buf, type);
    ptc_emit_field_bool(buf, "additionalProperties", false);
    return ptc_emit_object_end(buf);
}

bool ptc_sig_schema_type(PtcBuf *buf, const PtcSigType *type)
{
    switch (type->kind) {
    case PTC_SIG_ANY: return ptc_emit_object(buf) && ptc_emit_object_end(buf);
    case PTC_SIG_STRING:
    case PTC_SIG_KEYWORD:
    case PTC_SIG_DATETIME: return add_schema_type(buf, "string");
    case PTC_SIG_INT: return add_schema_type(buf, "integer");
    case PTC_SIG_FLOAT: return add_schema_type(buf, "number");
    case PTC_SIG_BOOL: return add_schema_type(buf, "boolean");
    case PTC_SIG_MAP: return add_schema_type(buf, "object");
    case PTC_SIG_OPTIONAL: return ptc_sig_schema_type(buf, type->item);
    case PTC_SIG_LIST: return add_schema_list(buf, type);
    case PTC_SIG_FIELDS:
    case PTC_SIG_CLOSED: return add_schema_fields(buf, type);
    }
    return false;
}

/* A list is wrapped in an object, because clients want one at the root. */
bool ptc_sig_schema_result(PtcBuf *buf, const PtcSigType *result)
{
    PtcSigField field = {.name = "items", .name_len = 5, .type = result};
    PtcSigType object = {.kind = PTC_SIG_FIELDS, .fields = &field, .field_count = 1};
    bool is_list = ptc_sig_required(result)->kind == PTC_SIG_LIST;
    return is_list ? add_schema_fields(buf, &object) : ptc_sig_schema_type(buf, result);
}

bool ptc_sig_schema_params(PtcBuf *buf, const PtcSig *sig)
{
    static const PtcSigType none = {.kind = PTC_SIG_FIELDS};
    const PtcSigType *params = sig ? &sig->params : &none;
    ptc_emit_object(buf);
    add_properties(buf, params);
    if (params->field_count)
        add_required(buf, params);
    return ptc_emit_object_end(buf);
}
