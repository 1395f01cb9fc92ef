/* SPDX-License-Identifier: MIT
 * Signatures as JSON Schema. */
#include "tool/sig/sig_schema.h"

#include "json/write.h"

static void add_properties(PtcBuf *buf, const PtcSigType *type)
{
    ptc_buf_add_cstr(buf, "{\"type\":\"object\",\"properties\":{");
    for (size_t i = 0; i < type->field_count; i++) {
        const PtcSigField *f = &type->fields[i];
        if (i)
            ptc_buf_add_char(buf, ',');
        ptc_json_write_string(buf, f->name, f->name_len);
        ptc_buf_add_char(buf, ':');
        ptc_sig_schema_type(buf, f->type);
    }
    ptc_buf_add_char(buf, '}');
}

static void add_required(PtcBuf *buf, const PtcSigType *type)
{
    bool first = true;
    ptc_buf_add_cstr(buf, ",\"required\":[");
    for (size_t i = 0; i < type->field_count; i++) {
        const PtcSigField *f = &type->fields[i];
        if (f->type->kind == PTC_SIG_OPTIONAL)
            continue;
        if (!first)
            ptc_buf_add_char(buf, ',');
        ptc_json_write_string(buf, f->name, f->name_len);
        first = false;
    }
    ptc_buf_add_char(buf, ']');
}

bool ptc_sig_schema_type(PtcBuf *buf, const PtcSigType *type)
{
    switch (type->kind) {
    case PTC_SIG_ANY: return ptc_buf_add_cstr(buf, "{}");
    case PTC_SIG_STRING:
    case PTC_SIG_KEYWORD:
    case PTC_SIG_DATETIME: return ptc_buf_add_cstr(buf, "{\"type\":\"string\"}");
    case PTC_SIG_INT: return ptc_buf_add_cstr(buf, "{\"type\":\"integer\"}");
    case PTC_SIG_FLOAT: return ptc_buf_add_cstr(buf, "{\"type\":\"number\"}");
    case PTC_SIG_BOOL: return ptc_buf_add_cstr(buf, "{\"type\":\"boolean\"}");
    case PTC_SIG_MAP: return ptc_buf_add_cstr(buf, "{\"type\":\"object\"}");
    case PTC_SIG_OPTIONAL: return ptc_sig_schema_type(buf, type->item);
    case PTC_SIG_LIST:
        ptc_buf_add_cstr(buf, "{\"type\":\"array\",\"items\":");
        ptc_sig_schema_type(buf, type->item);
        return ptc_buf_add_char(buf, '}');
    case PTC_SIG_FIELDS:
    case PTC_SIG_CLOSED:
        add_properties(buf, type);
        add_required(buf, type);
        return ptc_buf_add_cstr(buf, ",\"additionalProperties\":false}");
    }
    return false;
}

bool ptc_sig_schema_result(PtcBuf *buf, const PtcSigType *result)
{
    if (result->kind != PTC_SIG_LIST)
        return ptc_sig_schema_type(buf, result);
    ptc_buf_add_cstr(buf, "{\"type\":\"object\",\"properties\":{\"items\":");
    ptc_sig_schema_type(buf, result);
    return ptc_buf_add_cstr(buf, "},\"required\":[\"items\"],\"additionalProperties\":false}");
}

bool ptc_sig_schema_params(PtcBuf *buf, const PtcSig *sig)
{
    if (!sig || sig->params.field_count == 0)
        return ptc_buf_add_cstr(buf, "{\"type\":\"object\",\"properties\":{}}");
    add_properties(buf, &sig->params);
    add_required(buf, &sig->params);
    return ptc_buf_add_char(buf, '}');
}

bool ptc_sig_schema_tool(PtcBuf *buf, const char *name, size_t name_len, const char *description,
                         size_t description_len, const PtcSig *sig)
{
    ptc_buf_add_cstr(buf, "{\"type\":\"function\",\"function\":{\"name\":");
    size_t begin = buf->len;
    ptc_json_write_string(buf, name, name_len);
    for (size_t i = begin; i < buf->len; i++)
        if (buf->data[i] == '-')
            buf->data[i] = '_';
    if (description) {
        ptc_buf_add_cstr(buf, ",\"description\":");
        ptc_json_write_string(buf, description, description_len);
    }
    ptc_buf_add_cstr(buf, ",\"parameters\":");
    ptc_sig_schema_params(buf, sig);
    return ptc_buf_add_cstr(buf, "}}");
}
