/* SPDX-License-Identifier: MIT
 * fuzz_llm_headers.c - small texts from the other side: the value of a Retry-After, a delay, an address, the id of a
 * Claude model, a difference of two JSON texts apart by a line feed. */
#include <assert.h>
#include <string.h>

#include "llm/json_difference.h"
#include "llm/provider/wire.h"
#include "net/retry_after.h"
#include "net/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_delay(int64_t ms)
{
    assert(ms >= -1 && ms <= PTC_RETRY_AFTER_MAX);
}

/* An address that is accepted is put together again from its parts. */
static void check_url(PtcText text, PtcMem *mem)
{
    PtcUrl url;
    PtcWhy why;
    PtcBuf again;
    if (!ptc_url_parse(text, &url, &why)) {
        assert(why.class == PTC_WHY_INVALID && why.text[0]);
        return;
    }
    ptc_buf_init(&again, mem, 10000);
    bool v6 = memchr(url.host.bytes, ':', url.host.len) || url.host.bytes[-1] == '[';
    ptc_buf_addf(&again, v6 ? "http%s://[%.*s]" : "http%s://%.*s", url.https ? "s" : "",
                 (int)url.host.len, url.host.bytes);
    if (url.port.bytes)
        ptc_buf_addf(&again, ":%.*s", (int)url.port.len, url.port.bytes);
    ptc_buf_add(&again, url.path.bytes, url.path.len);
    assert(ptc_text_same(ptc_buf_view(&again), text));
    assert(ptc_url_same_server(&url, &url));
    ptc_buf_deinit(&again);
}

static void check_difference(PtcText text, PtcMem *mem)
{
    PtcJsonBox box;
    PtcBuf words;
    const char *end = text.len ? memchr(text.bytes, '\n', text.len) : NULL;
    if (!end)
        return;
    PtcText a = {text.bytes, (size_t)(end - text.bytes)}, b = {end + 1, text.len - a.len - 1};
    ptc_json_box_init(&box, mem);
    ptc_buf_init(&words, mem, SIZE_MAX / 2);
    PtcValue then = ptc_json_box_read(&box, a, NULL);
    PtcValue now = ptc_json_box_read(&box, b, NULL);
    if (then != PTC_NONE && now != PTC_NONE) {
        bool differs = ptc_json_difference(&box, then, now, &words);
        assert(differs == (words.len > 0));
        ptc_buf_clear(&words);
        assert(!ptc_json_difference(&box, then, then, &words));
        assert(differs == ptc_json_difference(&box, now, then, &words));
    }
    ptc_buf_deinit(&words);
    ptc_json_box_deinit(&box);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcMem mem;
    PtcText text = {(const char *)data, size};
    ptc_mem_init(&mem, SIZE_MAX / 2);
    check_delay(ptc_retry_after_ms(text, 1700000000000));
    check_delay(ptc_retry_delay_ms(text, 1));
    check_url(text, &mem);
    assert(ptc_wire_claude(text) >= 0);
    (void)ptc_wire_class(text);
    check_difference(text, &mem);
    assert(atomic_load(&mem.used) == 0);
    return 0;
}
