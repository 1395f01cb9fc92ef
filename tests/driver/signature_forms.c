/* SPDX-License-Identifier: MIT
 * Signatures compared and written as JSON. */
#include "driver/signature_forms.h"

#include <string.h>

#include "json/emit.h"
#include "tool/sig/sig_schema.h"

bool ptc_sig_fields_json(PtcBuf *buf, const PtcSigType *type)
{
    ptc_emit_array(buf);
    for (size_t i = 0; i < type->field_count; i++) {
        const PtcSigField *f = &type->fields[i];
        ptc_emit_object(buf);
        ptc_emit_field_text(buf, "name", (PtcText){f->name, f->name_len});
        ptc_emit_key(buf, "type");
        ptc_sig_type_json(buf, f->type);
        ptc_emit_object_end(buf);
    }
    return ptc_emit_array_end(buf);
}

bool ptc_sig_type_json(PtcBuf *buf, const PtcSigType *type)
{
    switch (type->kind) {
    case PTC_SIG_LIST:
    case PTC_SIG_OPTIONAL:
        ptc_emit_object(buf);
        ptc_emit_key(buf, type->kind == PTC_SIG_LIST ? "list" : "optional");
        ptc_sig_type_json(buf, type->item);
        return ptc_emit_object_end(buf);
    case PTC_SIG_FIELDS:
    case PTC_SIG_CLOSED:
        ptc_emit_object(buf);
        ptc_emit_key(buf, type->kind == PTC_SIG_FIELDS ? "map" : "closed_map");
        ptc_sig_fields_json(buf, type);
        return ptc_emit_object_end(buf);
    default: return ptc_emit_cstr(buf, ptc_sig_kind_name(type->kind));
    }
}

static bool fields_equal(const PtcSigType *a, const PtcSigType *b)
{
    if (a->field_count != b->field_count)
        return false;
    for (size_t i = 0; i < a->field_count; i++) {
        const PtcSigField *f = &a->fields[i], *g = &b->fields[i];
        if (f->name_len != g->name_len || memcmp(f->name, g->name, f->name_len) != 0 ||
            !ptc_sig_type_equal(f->type, g->type))
            return false;
    }
    return true;
}

bool ptc_sig_type_equal(const PtcSigType *a, const PtcSigType *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == PTC_SIG_LIST || a->kind == PTC_SIG_OPTIONAL)
        return ptc_sig_type_equal(a->item, b->item);
    return fields_equal(a, b);
}

bool ptc_sig_equal(const PtcSig *a, const PtcSig *b)
{
    return a->has_params == b->has_params && fields_equal(&a->params, &b->params) &&
           ptc_sig_type_equal(a->result, b->result);
}

bool ptc_sig_schema_tool(PtcBuf *buf, const char *name, size_t name_len, const char *description,
                         size_t description_len, const PtcSig *sig)
{
    ptc_emit_object(buf);
    ptc_emit_field_cstr(buf, "type", "function");
    ptc_emit_key(buf, "function");
    ptc_emit_object(buf);
    ptc_emit_key(buf, "name");
    size_t begin = buf->len;
    ptc_emit_text(buf, (PtcText){name, name_len});
    for (size_t i = begin; i < buf->len; i++)
        if (buf->data[i] == '-')
            buf->data[i] = '_';
    if (description)
        ptc_emit_field_text(buf, "description", (PtcText){description, description_len});
    ptc_emit_key(buf, "parameters");
    ptc_sig_schema_params(buf, sig, false);
    ptc_emit_object_end(buf);
    return ptc_emit_object_end(buf);
}

bool ptc_sig_mode_named(const char *name, size_t len, PtcSigMode *out)
{
    static const char *const names[] = {[PTC_SIG_ENABLED] = "enabled",
                                        [PTC_SIG_WARN_ONLY] = "warn_only",
                                        [PTC_SIG_DISABLED] = "disabled",
                                        [PTC_SIG_STRICT] = "strict"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0) {
            *out = (PtcSigMode)i;
            return true;
        }
    return false;
}
