/* SPDX-License-Identifier: MIT
 * Signatures as text and as JSON, and whether two are equal.  Recursion follows the type, whose depth is bounded. */
#include "json/emit.h"
#include "tool/sig/sig.h"

/* ----------------------------------------------------------------------------------- text */

static bool print_fields(PtcBuf *buf, const PtcSigType *type, char open, char close)
{
    ptc_buf_add_char(buf, open);
    for (size_t i = 0; i < type->field_count; i++) {
        const PtcSigField *f = &type->fields[i];
        if (i)
            ptc_buf_add_cstr(buf, ", ");
        ptc_buf_add(buf, f->name, f->name_len);
        ptc_buf_add_char(buf, ' ');
        ptc_sig_type_print(buf, f->type);
    }
    return ptc_buf_add_char(buf, close);
}

bool ptc_sig_type_print(PtcBuf *buf, const PtcSigType *type)
{
    switch (type->kind) {
    case PTC_SIG_LIST:
        ptc_buf_add_char(buf, '[');
        ptc_sig_type_print(buf, type->item);
        return ptc_buf_add_char(buf, ']');
    case PTC_SIG_OPTIONAL: ptc_sig_type_print(buf, type->item); return ptc_buf_add_char(buf, '?');
    case PTC_SIG_FIELDS:
    case PTC_SIG_CLOSED: return print_fields(buf, type, '{', '}');
    default:
        ptc_buf_add_char(buf, ':');
        return ptc_buf_add_cstr(buf, ptc_sig_kind_name(type->kind));
    }
}

bool ptc_sig_print(PtcBuf *buf, const PtcSig *sig)
{
    if (sig->has_params) {
        print_fields(buf, &sig->params, '(', ')');
        ptc_buf_add_cstr(buf, " -> ");
    }
    return ptc_sig_type_print(buf, sig->result);
}

/* ----------------------------------------------------------------------------------- JSON */

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

/* ------------------------------------------------------------------------------- equality */

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
