/* SPDX-License-Identifier: MIT
 * Bodies of requests: JSON, forms, multipart, text, bytes.  What always holds: nothing in a value or a file can end its
 * part of a multipart body or the header lines of that part. */
#include "upstream/openapi/openapi_body.h"

#include "base/text/base64.h"
#include "base/text/hmac.h"
#include "json/emit.h"
#include "tool/schema/schema_view.h"
#include "upstream/config/header.h"
#include "upstream/openapi/openapi_style.h"
#include "value/coll/fields.h"

enum { BOUNDARY_HEX = 24 };

/* The bytes behind {"ref": "blob-1"}; false: it is no such thing. */
static bool add_blob(PtcBuf *out, PtcHeap *heap, const PtcOpenapiBodyIn *in, PtcValue v)
{
    PtcText ref = ptc_fields_text(heap, v, "ref");
    PtcText data = ref.bytes && in->blob ? in->blob(in->user, ref) : (PtcText){NULL, 0};
    return data.bytes && ptc_base64_decode(out, data.bytes, data.len, false);
}

/* The name of a field or a file in quotes; what would end the quotes or the line is encoded as browsers do. */
static void add_quoted_field_name(PtcBuf *out, PtcText text)
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

/* One part of a multipart body. */
typedef struct {
    PtcText name;
    PtcValue how; /* its encoding */
    bool file;    /* the document says that it is one */
} BodyPart;

/* What the part is: as the value says, else the document, else what it looks like; absent: text. */
static PtcText part_type(PtcHeap *heap, const BodyPart *part, PtcValue v)
{
    PtcText own = ptc_fields_text(heap, v, "mimeType");
    PtcText said = ptc_fields_text(heap, part->how, "contentType");
    bool file = part->file || ptc_fields_text(heap, v, "ref").bytes;
    if (file && own.len && ptc_header_is_value(own))
        return own;
    for (size_t i = 0; i < said.len; i++)
        if (said.bytes[i] == ',')
            said.len = i; /* the first of several */
    if (said.len && ptc_header_is_value(said) && !memchr(said.bytes, '*', said.len))
        return said;
    return file            ? PTC_TEXT("application/octet-stream")
           : ptc_is_map(v) ? PTC_TEXT("application/json")
                           : (PtcText){NULL, 0};
}

static bool add_multipart_part(PtcBuf *out, PtcHeap *heap, const PtcOpenapiBodyIn *in,
                               const char *boundary, const BodyPart *part, PtcValue v)
{
    PtcText ref = ptc_fields_text(heap, v, "ref"), text = ptc_fields_text(heap, v, "text");
    PtcText called = ptc_fields_text(heap, v, "filename"), type = part_type(heap, part, v);
    ptc_buf_addf(out, "--%s\r\nContent-Disposition: form-data; name=", boundary);
    add_quoted_field_name(out, part->name);
    if (ref.bytes || part->file) {
        ptc_buf_add_cstr(out, "; filename=");
        add_quoted_field_name(out, called.len ? called : ref.bytes ? ref : part->name);
    }
    if (type.bytes) {
        ptc_buf_add_cstr(out, "\r\nContent-Type: ");
        ptc_buf_add(out, type.bytes, type.len);
    }
    ptc_buf_add_cstr(out, "\r\n\r\n");
    bool empty = part->file && ptc_is_map(v) && !ref.bytes && !text.bytes;
    if (empty || (ref.bytes && !add_blob(out, heap, in, v)))
        return false;
    if (!ref.bytes && part->file && text.bytes)
        ptc_buf_add(out, text.bytes, text.len);
    else if (!ref.bytes)
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
    ptc_buf_init(&json, heap->pool->mem, PTC_UNBOUNDED);
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

/* A member of the body: one part, or one for each item unless the document has them joined. */
static bool add_member_parts(PtcBuf *out, PtcHeap *heap, const PtcOpenapiBodyIn *in,
                             const char *boundary, const BodyPart *part, PtcValue v)
{
    PtcParameter p = {.in = PTC_IN_HEADER};
    PtcBuf joined;
    bool ok = true;
    ptc_openapi_style_read(heap, part->how, &p);
    if (ptc_is_sequential(v) && ptc_fields_is(heap, part->how, "explode", PTC_FALSE)) {
        ptc_buf_init(&joined, heap->pool->mem, PTC_UNBOUNDED);
        ptc_openapi_style_add(&joined, heap, &p, v);
        v = ptc_fields_buf(heap, &joined);
        ptc_buf_deinit(&joined);
    }
    for (size_t i = 0; v != PTC_NONE && ok && i < part_count(v); i++) {
        PtcValue item = part_at(v, i);
        ok = item == PTC_NIL || add_multipart_part(out, heap, in, boundary, part, item);
    }
    return ok;
}

static PtcValue write_multipart(PtcBuf *out, PtcHeap *heap, const PtcOpenapiBodyIn *in)
{
    char boundary[BOUNDARY_HEX + 5];
    PtcValue key, value, seen = ptc_schema_view_follow(heap, in->document, in->media.schema);
    PtcValue members = ptc_schema_view_properties(heap, in->document, seen);
    PtcBuf type;
    bool ok = true;
    if (!make_boundary(heap, in, boundary))
        out->failed = true;
    for (size_t pos = 0; ok && ptc_map_next(in->value, &pos, &key, &value);) {
        BodyPart part = {.name = ptc_str_text(key)};
        PtcValue schema = ptc_fields_get(heap, members, part.name);
        part.how = ptc_fields_get(heap, in->media.encoding, part.name);
        part.file = ptc_openapi_media_is_file(heap, in->document, schema);
        ok = add_member_parts(out, heap, in, boundary, &part, value);
    }
    ptc_buf_addf(out, "--%s--\r\n", boundary);
    ptc_buf_init(&type, heap->pool->mem, PTC_UNBOUNDED);
    ptc_buf_addf(&type, "multipart/form-data; boundary=%s", boundary);
    PtcValue media = ok ? ptc_fields_buf(heap, &type) : PTC_NONE;
    ptc_buf_deinit(&type);
    return media;
}

/* A string, or a file. */
static bool write_bytes(PtcBuf *out, PtcHeap *heap, const PtcOpenapiBodyIn *in)
{
    PtcText text = ptc_is_string(in->value) ? ptc_str_text(in->value)
                                            : ptc_fields_text(heap, in->value, "text");
    if (!text.bytes)
        return add_blob(out, heap, in, in->value);
    ptc_buf_add(out, text.bytes, text.len);
    return true;
}

PtcValue ptc_openapi_body_write(PtcBuf *out, PtcHeap *heap, const PtcOpenapiBodyIn *in)
{
    bool ok = true;
    if (in->media.kind == PTC_BODY_NONE || !ptc_header_is_value(in->media.type))
        return PTC_NONE;
    switch (in->media.kind) {
    case PTC_BODY_JSON: ok = ptc_emit_value(out, heap, in->value); break;
    case PTC_BODY_FORM:
        ok = ptc_is_map(in->value);
        if (ok)
            ptc_openapi_style_form(out, heap, in->value, in->media.encoding);
        break;
    case PTC_BODY_MULTIPART:
        return ptc_is_map(in->value) ? write_multipart(out, heap, in) : PTC_NONE;
    case PTC_BODY_TEXT: ptc_openapi_style_text(out, heap, in->value); break;
    default: ok = write_bytes(out, heap, in);
    }
    return ok ? ptc_fields_string(heap, in->media.type) : PTC_NONE;
}
