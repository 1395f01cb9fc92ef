/* SPDX-License-Identifier: MIT
 * Server-sent events.  What always holds: `line` has the beginning of a line that is not complete yet, `data` the
 * data of the event so far, with a line feed between two lines and none at the end. */
#include "net/sse.h"

void ptc_sse_init(PtcSse *sse, PtcMem *mem, size_t max)
{
    *sse = (PtcSse){.retry_ms = -1};
    ptc_buf_init(&sse->line, mem, max);
    ptc_buf_init(&sse->data, mem, max);
}

void ptc_sse_deinit(PtcSse *sse)
{
    ptc_buf_deinit(&sse->line);
    ptc_buf_deinit(&sse->data);
}

static PtcSseStatus refused(const PtcBuf *buf)
{
    return buf->failed ? PTC_SSE_NO_MEMORY : PTC_SSE_TOO_LARGE;
}

static PtcSseStatus dispatch(PtcSse *sse)
{
    bool go_on = true;
    if (sse->has_data && sse->event)
        go_on =
            sse->event(sse->user, (PtcText){sse->name, sse->name_len}, ptc_buf_view(&sse->data));
    ptc_buf_clear(&sse->data);
    sse->has_data = false;
    sse->name_len = 0;
    return go_on ? PTC_SSE_OK : PTC_SSE_STOPPED;
}

/* Only a number of up to nine digits: nobody waits longer than that. */
static void take_retry(PtcSse *sse, PtcText value)
{
    int64_t ms = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (value.bytes[i] < '0' || value.bytes[i] > '9' || i == 9)
            return;
        ms = ms * 10 + (value.bytes[i] - '0');
    }
    if (value.len)
        sse->retry_ms = ms;
}

/* It goes into a header, so it must not contain what ends one. */
static void take_id(PtcSse *sse, PtcText value)
{
    if (value.len > sizeof sse->id || (value.len && memchr(value.bytes, 0, value.len)))
        return;
    if (value.len)
        memcpy(sse->id, value.bytes, value.len);
    sse->id_len = value.len;
}

/* A name that is too long is cut: no event we know has one. */
static PtcSseStatus take_field(PtcSse *sse, PtcText name, PtcText value)
{
    if (ptc_text_is(name, "event")) {
        sse->name_len = value.len < sizeof sse->name ? value.len : sizeof sse->name;
        if (sse->name_len)
            memcpy(sse->name, value.bytes, sse->name_len);
    }
    if (ptc_text_is(name, "id"))
        take_id(sse, value);
    if (ptc_text_is(name, "retry"))
        take_retry(sse, value);
    if (!ptc_text_is(name, "data"))
        return PTC_SSE_OK;
    if ((sse->has_data && !ptc_buf_add(&sse->data, "\n", 1)) ||
        !ptc_buf_add(&sse->data, value.bytes, value.len))
        return refused(&sse->data);
    sse->has_data = true;
    return PTC_SSE_OK;
}

static PtcSseStatus take_line(PtcSse *sse, PtcText line)
{
    if (!sse->begun && ptc_text_starts(line, "\xef\xbb\xbf"))
        line = (PtcText){line.bytes + 3, line.len - 3};
    sse->begun = true;
    if (line.len == 0)
        return dispatch(sse);
    const char *colon = memchr(line.bytes, ':', line.len);
    PtcText name = {line.bytes, colon ? (size_t)(colon - line.bytes) : line.len};
    PtcText value = {colon ? colon + 1 : "", colon ? line.len - name.len - 1 : 0};
    if (value.len && value.bytes[0] == ' ')
        value = (PtcText){value.bytes + 1, value.len - 1};
    return take_field(sse, name, value);
}

/* A line ends here: what was kept of it, followed by its last bytes. */
static PtcSseStatus end_line(PtcSse *sse, PtcText last)
{
    if (sse->line.len == 0) /* the limit is the same for a line that came in one piece */
        return last.len > sse->line.max ? PTC_SSE_TOO_LARGE : take_line(sse, last);
    if (!ptc_buf_add(&sse->line, last.bytes, last.len))
        return refused(&sse->line);
    PtcSseStatus status = take_line(sse, ptc_buf_view(&sse->line));
    ptc_buf_clear(&sse->line);
    return status;
}

static size_t line_length(PtcText text)
{
    size_t n = 0;
    while (n < text.len && text.bytes[n] != '\n' && text.bytes[n] != '\r')
        n++;
    return n;
}

/* CR LF may be split between two pieces; after_cr remembers the first half. */
PtcSseStatus ptc_sse_feed(PtcSse *sse, PtcText bytes)
{
    while (bytes.len) {
        if (sse->after_cr && bytes.bytes[0] == '\n')
            bytes = (PtcText){bytes.bytes + 1, bytes.len - 1};
        sse->after_cr = false;
        size_t n = line_length(bytes);
        if (n == bytes.len)
            return ptc_buf_add(&sse->line, bytes.bytes, n) ? PTC_SSE_OK : refused(&sse->line);
        sse->after_cr = bytes.bytes[n] == '\r';
        PtcSseStatus status = end_line(sse, (PtcText){bytes.bytes, n});
        if (status != PTC_SSE_OK)
            return status;
        bytes = (PtcText){bytes.bytes + n + 1, bytes.len - n - 1};
    }
    return PTC_SSE_OK;
}

PtcSseStatus ptc_sse_end(PtcSse *sse)
{
    PtcSseStatus status = sse->line.len ? end_line(sse, PTC_TEXT("")) : PTC_SSE_OK;
    return status == PTC_SSE_OK ? dispatch(sse) : status;
}
