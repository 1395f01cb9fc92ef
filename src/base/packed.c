/* SPDX-License-Identifier: MIT
 * What always holds: no pointer outside of what is read is ever made. */
#include "base/packed.h"

#define PACKED_ABSENT UINT32_MAX

bool ptc_pack_u32(PtcBuf *buf, uint32_t n)
{
    return ptc_buf_add(buf, &n, sizeof n);
}

bool ptc_pack_i64(PtcBuf *buf, int64_t n)
{
    return ptc_buf_add(buf, &n, sizeof n);
}

bool ptc_pack_text(PtcBuf *buf, PtcText text)
{
    if (!text.bytes)
        return ptc_pack_u32(buf, PACKED_ABSENT);
    if (text.len > PTC_PACKED_TEXT) {
        buf->full = true;
        return false;
    }
    return ptc_pack_u32(buf, (uint32_t)text.len) && ptc_buf_add(buf, text.bytes, text.len);
}

PtcPackedReader ptc_unpack_begin(const char *bytes, size_t len)
{
    if (!bytes)
        bytes = "";
    return (PtcPackedReader){bytes, bytes + len, false};
}

const char *ptc_unpack_bytes(PtcPackedReader *in, size_t n)
{
    const char *p = in->at;
    if (in->bad || (size_t)(in->end - in->at) < n) {
        in->bad = true;
        return NULL;
    }
    in->at += n;
    return p;
}

void ptc_unpack_copy(PtcPackedReader *in, void *to, size_t n)
{
    const char *p = ptc_unpack_bytes(in, n);
    if (p)
        memcpy(to, p, n);
}

uint32_t ptc_unpack_u32(PtcPackedReader *in)
{
    uint32_t n = 0;
    ptc_unpack_copy(in, &n, sizeof n);
    return n;
}

int64_t ptc_unpack_i64(PtcPackedReader *in)
{
    int64_t n = 0;
    ptc_unpack_copy(in, &n, sizeof n);
    return n;
}

uint32_t ptc_unpack_below(PtcPackedReader *in, uint32_t most)
{
    uint32_t n = ptc_unpack_u32(in);
    in->bad = in->bad || n > most;
    return in->bad ? 0 : n;
}

int64_t ptc_unpack_upto(PtcPackedReader *in, int64_t most)
{
    int64_t n = ptc_unpack_i64(in);
    in->bad = in->bad || n < 0 || n > most;
    return in->bad ? 0 : n;
}

PtcText ptc_unpack_text(PtcPackedReader *in)
{
    PtcText text = {NULL, 0};
    uint32_t len = ptc_unpack_u32(in);
    if (in->bad || len == PACKED_ABSENT)
        return text;
    text.bytes = ptc_unpack_bytes(in, len);
    text.len = text.bytes ? len : 0;
    return text;
}

bool ptc_unpack_is_done(const PtcPackedReader *in)
{
    return !in->bad && in->at == in->end;
}
