/* SPDX-License-Identifier: MIT
 * A value that fits a type, as a program would write it: what a reader of an error copies.  Recursion stops at
 * EXAMPLE_DEPTH, where a list or map is left empty: an example that is longer helps nobody. */
#include <string.h>

#include "tool/sig/sig.h"

enum { EXAMPLE_DEPTH = 3 };

static const char *const plain[] = {
    [PTC_SIG_ANY] = "1",
    [PTC_SIG_STRING] = "\"text\"",
    [PTC_SIG_INT] = "1",
    [PTC_SIG_FLOAT] = "1.5",
    [PTC_SIG_BOOL] = "true",
    [PTC_SIG_KEYWORD] = ":word",
    [PTC_SIG_DATETIME] = "\"2024-05-01T12:00:00Z\"",
    [PTC_SIG_MAP] = "{}",
};

/* Can it be written as a keyword?  Names from JSON Schema may be anything. */
static bool is_keyword_field(const PtcSigField *f)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return f->name_len > 0 && strspn(f->name, allowed) == f->name_len;
}

static bool add_type_example(PtcBuf *buf, const PtcSigType *type, int depth);

/* The fields that must be there. */
static bool add_example_fields(PtcBuf *buf, const PtcSigType *type, int depth)
{
    bool first = true;
    ptc_buf_add_char(buf, '{');
    for (size_t i = 0; depth < EXAMPLE_DEPTH && i < type->field_count; i++) {
        const PtcSigField *f = &type->fields[i];
        if (f->type->kind == PTC_SIG_OPTIONAL)
            continue;
        if (!is_keyword_field(f))
            return false;
        ptc_buf_addf(buf, "%s:%.*s ", first ? "" : ", ", PTC_ARG_OF(f->name, f->name_len));
        first = false;
        if (!add_type_example(buf, f->type, depth + 1))
            return false;
    }
    return ptc_buf_add_char(buf, '}');
}

static bool add_type_example(PtcBuf *buf, const PtcSigType *type, int depth)
{
    type = ptc_sig_required(type);
    switch (type->kind) {
    case PTC_SIG_FIELDS:
    case PTC_SIG_CLOSED: return add_example_fields(buf, type, depth);
    case PTC_SIG_LIST:
        ptc_buf_add_char(buf, '[');
        return (depth >= EXAMPLE_DEPTH || add_type_example(buf, type->item, depth + 1)) &&
               ptc_buf_add_char(buf, ']');
    case PTC_SIG_OPTIONAL: return false; /* the parser makes none inside another */
    default: return ptc_buf_add_cstr(buf, plain[type->kind]);
    }
}

bool ptc_sig_example(PtcBuf *buf, const PtcSigType *type)
{
    return add_type_example(buf, type, 0);
}
