/* SPDX-License-Identifier: MIT
 * fuzz_llm_stream.c - streams in pieces.  The first byte says which: server-sent events or those of AWS; the second how
 * many of the bytes that follow are lengths of pieces, over and over again.  The events are the same as without
 * cuts. */
#include <assert.h>
#include <string.h>

#include "net/eventstream.h"
#include "net/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX = 4096 };

static bool note_event(void *user, PtcText name, PtcText data)
{
    ptc_buf_addf(user, "(%zu:", name.len);
    ptc_buf_add(user, name.bytes, name.len);
    ptc_buf_add(user, data.bytes, data.len);
    return ptc_buf_add_cstr(user, ")");
}

static bool note_message(void *user, const PtcEventMessage *m)
{
    return note_event(user, m->event_type.bytes ? m->event_type : m->error_code, m->payload);
}

/* What the pieces give; the lengths NULL: all at once. */
static PtcWhyClass play(bool sse, PtcText bytes, const uint8_t *lengths, size_t count, PtcMem *mem,
                        PtcBuf *seen)
{
    PtcSse s;
    PtcEventStream e;
    PtcWhy why;
    bool ok = true;
    ptc_why_init(&why);
    ptc_sse_init(&s, mem, MAX);
    ptc_eventstream_init(&e, mem, MAX);
    s.event = note_event;
    e.message = note_message;
    s.user = e.user = seen;
    for (size_t at = 0, i = 0, n; at < bytes.len && ok; at += n) {
        n = count ? lengths[i++ % count] + 1u : bytes.len;
        n = n < bytes.len - at ? n : bytes.len - at;
        PtcText piece = {bytes.bytes + at, n};
        ok = sse ? ptc_sse_feed(&s, piece, &why) : ptc_eventstream_feed(&e, piece, &why);
    }
    if (ok && sse)
        (void)!ptc_sse_end(&s, &why);
    ptc_sse_deinit(&s);
    ptc_eventstream_deinit(&e);
    return why.class;
}

/* A text that an input can hardly hit by chance: the sums of AWS's messages are made right. */
static void mend(char *p, size_t size)
{
    for (size_t at = 0; size - at >= 16;) {
        const unsigned char *b = (const unsigned char *)p + at;
        size_t total = (size_t)b[2] << 8 | b[3];
        p[at] = p[at + 1] = 0;
        if (total < 16 || total > size - at)
            return;
        uint32_t sum = __builtin_bswap32(ptc_eventstream_crc32(0, p + at, 8));
        memcpy(p + at + 8, &sum, 4);
        sum = __builtin_bswap32(ptc_eventstream_crc32(0, p + at, total - 4));
        memcpy(p + at + total - 4, &sum, 4);
        at += total;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcMem mem;
    PtcBuf bytes, whole, cut;
    if (size < 2 || size - 2 < data[1])
        return 0;
    size_t count = data[1];
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_buf_init(&bytes, &mem, SIZE_MAX / 2);
    ptc_buf_init(&whole, &mem, SIZE_MAX / 2);
    ptc_buf_init(&cut, &mem, SIZE_MAX / 2);
    ptc_buf_add(&bytes, data + 2 + count, size - 2 - count);
    if (data[0] & 2)
        mend(bytes.data, bytes.len);
    int a = play(data[0] & 1, ptc_buf_view(&bytes), NULL, 0, &mem, &whole);
    int b = play(data[0] & 1, ptc_buf_view(&bytes), data + 2, count, &mem, &cut);
    assert(a == b && ptc_text_same(ptc_buf_view(&whole), ptc_buf_view(&cut)));
    ptc_buf_deinit(&bytes);
    ptc_buf_deinit(&whole);
    ptc_buf_deinit(&cut);
    assert(atomic_load(&mem.used) == 0);
    return 0;
}
