/* SPDX-License-Identifier: MIT
 * Writes JSON member by member.  What always holds: between two calls the buffer is a prefix of a JSON text (or of
 * lines of them), as long as the caller closes what it opens and alternates keys and values; no call looks at more
 * of it than the last byte. */
#include "json/emit.h"

#include <math.h>

#include "base/ascii.h"
#include "json/write.h"
#include "value/number/number.h"

enum { EMIT_DIGITS = 20 }; /* of the largest unsigned integer */

bool ptc_emit_key_text(PtcBuf *out, PtcText key)
{
    return ptc_emit_next(out) && ptc_json_write_string(out, key.bytes, key.len) &&
           ptc_buf_add(out, ":", 1);
}

bool ptc_emit_null(PtcBuf *out)
{
    return ptc_emit_next(out) && ptc_buf_add(out, "null", 4);
}

bool ptc_emit_text(PtcBuf *out, PtcText text)
{
    if (!text.bytes)
        return ptc_emit_null(out);
    return ptc_emit_next(out) && ptc_json_write_string(out, text.bytes, text.len);
}

bool ptc_emit_cstr(PtcBuf *out, const char *text)
{
    return ptc_emit_text(out, ptc_text_cstr(text));
}

bool ptc_emit_string(PtcBuf *out)
{
    return ptc_emit_next(out) && ptc_buf_add(out, "\"", 1);
}

bool ptc_emit_string_part(PtcBuf *out, PtcText part)
{
    return ptc_json_write_escaped(out, part.bytes, part.len);
}

bool ptc_emit_string_end(PtcBuf *out)
{
    return ptc_buf_add(out, "\"", 1);
}

/* Written from the end, so that no length is needed beforehand; INT64_MIN is safe because the sign is separate. */
static bool emit_digits(PtcBuf *out, bool negative, uint64_t n)
{
    char text[EMIT_DIGITS + 1];
    char *p = text + sizeof text;
    do {
        *--p = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    if (negative)
        *--p = '-';
    return ptc_emit_next(out) && ptc_buf_add(out, p, (size_t)(text + sizeof text - p));
}

bool ptc_emit_int(PtcBuf *out, int64_t n)
{
    return emit_digits(out, n < 0, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

bool ptc_emit_uint(PtcBuf *out, uint64_t n)
{
    return emit_digits(out, false, n);
}

bool ptc_emit_double(PtcBuf *out, double d)
{
    char text[PTC_DOUBLE_TEXT];
    if (!isfinite(d))
        return ptc_emit_null(out);
    return ptc_emit_next(out) && ptc_buf_add(out, text, ptc_double_json(d, text));
}

bool ptc_emit_bool(PtcBuf *out, bool b)
{
    return ptc_emit_next(out) && ptc_buf_add(out, b ? "true" : "false", b ? 4 : 5);
}

bool ptc_emit_hex(PtcBuf *out, const void *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bytes;
    bool ok = ptc_emit_string(out);
    for (size_t i = 0; ok && i < len; i++)
        ok = ptc_buf_add(out, (char[]){digits[from[i] >> 4], digits[from[i] & 15]}, 2);
    return ok && ptc_emit_string_end(out);
}

bool ptc_emit_value(PtcBuf *out, PtcHeap *heap, PtcValue v)
{
    PtcJsonError error;
    PtcJsonWriter writer = {heap, -1, NULL};
    return ptc_emit_next(out) && ptc_json_write(&writer, out, v, &error);
}

/* White space at the end would hide that a value stands there, and the next comma would be missing. */
bool ptc_emit_raw(PtcBuf *out, PtcText json)
{
    if (!json.bytes)
        return ptc_emit_null(out);
    while (json.len && ptc_ascii_is_space(json.bytes[json.len - 1]))
        json.len--;
    return ptc_emit_next(out) && ptc_buf_add(out, json.bytes, json.len);
}
