/* SPDX-License-Identifier: MIT
 * traceparent: 00-(32 digits, the trace)-(16 digits, the caller)-(2 digits, flags), hexadecimal in lower case. */
#include "upstream/connect/trace_parent.h"

#include <inttypes.h>
#include <string.h>

#include "base/ascii.h"
#include "base/text/secret.h"
#include "json/emit.h"

enum { TRACE_AT = 3, TRACE_LEN = 32, PARENT_AT = 36, PARENT_LEN = 16, FLAGS_AT = 53 };

static bool is_place_of_dash(size_t i)
{
    return i == TRACE_AT - 1 || i == PARENT_AT - 1 || i == FLAGS_AT - 1;
}

static bool is_zero(const char *digits, size_t n)
{
    return strspn(digits, "0") >= n;
}

static bool is_whole_trace_parent(PtcText text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.bytes[i];
        if (is_place_of_dash(i) ? c != '-' : !ptc_ascii_is_lower_hex(c))
            return false;
    }
    return text.len == PTC_TRACE_PARENT - 1 && memcmp(text.bytes, "00", 2) == 0;
}

void ptc_trace_parent_read(PtcText text, char out[PTC_TRACE_PARENT])
{
    out[0] = '\0';
    if (!text.bytes || !is_whole_trace_parent(text))
        return;
    memcpy(out, text.bytes, text.len);
    out[text.len] = '\0';
    if (is_zero(out + TRACE_AT, TRACE_LEN) || is_zero(out + PARENT_AT, PARENT_LEN))
        out[0] = '\0';
}

void ptc_trace_parent_put(PtcBuf *params, const char parent[PTC_TRACE_PARENT])
{
    uint64_t id;
    if (!parent[0] || !ptc_random_bytes(&id, sizeof id))
        return;
    ptc_emit_key(params, "_meta");
    ptc_emit_object(params);
    ptc_emit_key(params, "traceparent");
    ptc_buf_addf(params, "\"%.*s%016" PRIx64 "%s\"", PTC_ARG_OF(parent, PARENT_AT), id ? id : 1,
                 parent + FLAGS_AT - 1);
    ptc_emit_object_end(params);
}
