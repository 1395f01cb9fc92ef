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
