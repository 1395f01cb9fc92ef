/* SPDX-License-Identifier: MIT
 * Bodies of requests: JSON, forms, multipart, text, bytes.  What always holds: nothing in a value or a file can end its
 * part of a multipart body or the header lines of that part. */
#include "upstream/openapi_body.h"

#include "base/base64.h"
#include "base/hmac.h"
#include "json/emit.h"
#include "upstream/fields.h"
#include "upstream/header.h"
#include "upstream/openapi_style.h"

enum { BOUNDARY_HEX = 24 };

/* The bytes behind {"ref": "blob-1"}; false: it is no such thing. */
static bool add_blob(PtcBuf *out, PtcHeap *heap, const PtcOpenapiBodyIn *in, PtcValue v)
{
    PtcText ref = ptc_fields_text(heap, v, "ref");
    PtcText data = ref.bytes && in->blob ? in->blob(in->user, ref) : (PtcText){NULL, 0};
    return data.bytes && ptc_base64_decode(out, data.bytes, data.len, false);
}

/* The name of a field or a file in quotes; what would end the quotes or the line is encoded as browsers do. */
static void add_quoted(PtcBuf *out, PtcText text)
{
    ptc_buf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.bytes[i];
        if (c == '"')
            ptc_buf_add_cstr(out, "%22");
        else if (c == '\r' || c == '\n' || c == 0)
            ptc_buf_add_cstr(out, c == '\n' ? "%0A" : "%0D");
        else
            ptc_buf_add_char(out, c);
    }
    ptc_buf_add_char(out, '"');
}

static bool add_part(PtcBuf *out, PtcHeap *heap, const PtcOpenapiBodyIn *in, const char *boundary,
                     PtcText name, PtcValue v)
{
    PtcText ref = ptc_fields_text(heap, v, "ref"), mime = ptc_fields_text(heap, v, "mimeType");
    ptc_buf_addf(out, "--%s\r\nContent-Disposition: form-data; name=", boundary);
    add_quoted(out, name);
    if (ref.bytes) {
        bool typed = mime.bytes && ptc_header_is_value(mime);
        ptc_buf_add_cstr(out, "; filename=");
        add_quoted(out, ref);
        ptc_buf_add_cstr(out, "\r\nContent-Type: ");
        ptc_buf_add(out, typed ? mime.bytes : "application/octet-stream", typed ? mime.len : 24);
    } else if (ptc_is_map(v)) {
        ptc_buf_add_cstr(out, "\r\nContent-Type: application/json");
    }
    ptc_buf_add_cstr(out, "\r\n\r\n");
    if (ref.bytes && !add_blob(out, heap, in, v))
        return false;
    if (!ref.bytes)
        ptc_openapi_style_text(out, heap, v);
    ptc_buf_add_cstr(out, "\r\n");
    return true;
}

/* An array is sent as one part for each item. */
static size_t part_count(PtcValue v)
{
    return ptc_is_sequential(v) ? ptc_seq_count(v) : 1;
}

static PtcValue part_at(PtcValue v, size_t i)
{
    return ptc_is_sequential(v) ? ptc_seq_nth(v, i) : v;
}

/* Appends the digest of each file that a member of the body refers to. */
static void add_file_digests(PtcBuf *out, PtcHeap *heap, const PtcOpenapiBodyIn *in, PtcValue v)
{
    uint8_t digest[PTC_SHA256_BYTES];
    for (size_t i = 0; in->blob && i < part_count(v); i++) {
        PtcText ref = ptc_fields_text(heap, part_at(v, i), "ref");
        PtcText data = ref.bytes ? in->blob(in->user, ref) : (PtcText){NULL, 0};
        if (!data.bytes)
            continue;
        ptc_sha256(data.bytes, data.len, digest);
        ptc_buf_add(out, (const char *)digest, sizeof digest);
    }
}

/* The boundary follows from the value and the bytes of its files, so that a request can be made again and compared, and
 * so that no text or file can contain it: whoever makes one cannot know the digest that it becomes a part of.  False:
 * out of memory. */
static bool make_boundary(PtcHeap *heap, const PtcOpenapiBodyIn *in, char out[BOUNDARY_HEX + 5])
{
    PtcValue key, value;
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[PTC_SHA256_BYTES];
    PtcBuf json;
    ptc_buf_init(&json, heap->pool->mem, SIZE_MAX / 4);
    ptc_emit_value(&json, heap, in->value);
    for (size_t pos = 0; ptc_map_next(in->value, &pos, &key, &value);)
        add_file_digests(&json, heap, in, value);
    ptc_sha256(ptc_buf_view(&json).bytes, json.len, digest);
    bool ok = ptc_buf_ok(&json);
    ptc_buf_deinit(&json);
    memcpy(out, "ptc-", 4);
    for (size_t i = 0; i < BOUNDARY_HEX; i++)
        out[4 + i] = digits[i % 2 ? digest[i / 2] & 15 : digest[i / 2] >> 4];
    out[4 + BOUNDARY_HEX] = 0;
    return ok;
}

static PtcValue write_multipart(PtcBuf *out, PtcHeap *heap, const PtcOpenapiBodyIn *in)
{
    char boundary[BOUNDARY_HEX + 5];
    PtcValue key, value;
    PtcBuf type;
    bool ok = true;
    if (!make_boundary(heap, in, boundary))
        out->failed = true;
    for (size_t pos = 0; ok && ptc_map_next(in->value, &pos, &key, &value);)
        for (size_t i = 0; ok && i < part_count(value); i++) {
            PtcValue part = part_at(value, i);
            ok = part == PTC_NIL || add_part(out, heap, in, boundary, ptc_str_text(key), part);
        }
    ptc_buf_addf(out, "--%s--\r\n", boundary);
    ptc_buf_init(&type, heap->pool->mem, SIZE_MAX / 4);
    ptc_buf_addf(&type, "multipart/form-data; boundary=%s", boundary);
    PtcValue media = ok ? ptc_fields_buf(heap, &type) : PTC_NONE;
    ptc_buf_deinit(&type);
    return media;
}

PtcValue ptc_openapi_body_write(PtcBuf *out, PtcHeap *heap, const PtcOpenapiBodyIn *in)
{
    bool ok = true;
    if (in->kind == PTC_BODY_NONE || !ptc_header_is_value(in->media_type))
        return PTC_NONE;
    switch (in->kind) {
    case PTC_BODY_JSON: ok = ptc_emit_value(out, heap, in->value); break;
    case PTC_BODY_FORM:
        ok = ptc_is_map(in->value);
        if (ok)
            ptc_openapi_style_form(out, heap, in->value);
        break;
    case PTC_BODY_MULTIPART:
        return ptc_is_map(in->value) ? write_multipart(out, heap, in) : PTC_NONE;
    case PTC_BODY_TEXT: ptc_openapi_style_text(out, heap, in->value); break;
    default:
        ok = ptc_is_string(in->value) || add_blob(out, heap, in, in->value);
        if (ptc_is_string(in->value))
            ptc_openapi_style_text(out, heap, in->value);
    }
    return ok ? ptc_fields_string(heap, in->media_type) : PTC_NONE;
}
