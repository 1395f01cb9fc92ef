/* SPDX-License-Identifier: MIT
 * Signatures as JSON Schema.  What always holds: only keywords that strict providers accept are written. */
#include "tool/sig/sig_schema.h"

#include "json/emit.h"

/* `open`: maps may have other members than those that are named, which is what schemas say by saying nothing. */
static bool write_schema_type(PtcBuf *buf, const PtcSigType *type, bool open);

static void add_properties(PtcBuf *buf, const PtcSigType *type, bool open)
{
    ptc_emit_field_cstr(buf, "type", "object");
    ptc_emit_key(buf, "properties");
    ptc_emit_object(buf);
    for (size_t i = 0; i < type->field_count; i++) {
        const PtcSigField *f = &type->fields[i];
        ptc_emit_key_text(buf, (PtcText){f->name, f->name_len});
        write_schema_type(buf, f->type, open);
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

static bool add_schema_list(PtcBuf *buf, const PtcSigType *type, bool open)
{
    ptc_emit_object(buf);
    ptc_emit_field_cstr(buf, "type", "array");
    ptc_emit_key(buf, "items");
    write_schema_type(buf, type->item, open);
    return ptc_emit_object_end(buf);
}

static bool add_schema_fields(PtcBuf *buf, const PtcSigType *type, bool open)
{
    ptc_emit_object(buf);
    add_properties(buf, type, open);
    add_required(buf, type);
    if (!open)
        ptc_emit_field_bool(buf, "additionalProperties", false);
    return ptc_emit_object_end(buf);
}

static bool write_schema_type(PtcBuf *buf, const PtcSigType *type, bool open)
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
    case PTC_SIG_OPTIONAL: return write_schema_type(buf, type->item, open);
    case PTC_SIG_LIST: return add_schema_list(buf, type, open);
    case PTC_SIG_FIELDS:
    case PTC_SIG_CLOSED: return add_schema_fields(buf, type, open);
    }
    return false;
}

bool ptc_sig_schema_type(PtcBuf *buf, const PtcSigType *type)
{
    return write_schema_type(buf, type, false);
}

/* A list is wrapped in an object, because clients want one at the root. */
bool ptc_sig_schema_result(PtcBuf *buf, const PtcSigType *result)
{
    PtcSigField field = {.name = "items", .name_len = 5, .type = result};
    PtcSigType object = {.kind = PTC_SIG_FIELDS, .fields = &field, .field_count = 1};
    bool is_list = ptc_sig_required(result)->kind == PTC_SIG_LIST;
    return write_schema_type(buf, is_list ? &object : result, false);
}

bool ptc_sig_schema_params(PtcBuf *buf, const PtcSig *sig, bool extra)
{
    static const PtcSigType none = {.kind = PTC_SIG_FIELDS};
    const PtcSigType *params = sig ? &sig->params : &none;
    bool open = extra || !sig || !sig->has_params;
    ptc_emit_object(buf);
    add_properties(buf, params, open);
    if (params->field_count)
        add_required(buf, params);
    if (!open)
        ptc_emit_field_bool(buf, "additionalProperties", false);
    return ptc_emit_object_end(buf);
}
