/* SPDX-License-Identifier: MIT
 * Strings, keywords and symbols.  What always holds: a hash is computed once and then only read; it is the same for
 * all spellings that flexible keys treat as equal. */
#include "value/str.h"

#include "base/utf8.h"

/* Eight bytes are examined in one 64-bit word.  Nothing here lets a carry or borrow pass from one byte to the next,
 * so every byte's answer is exact. */
#define ONES ((uint64_t)0x0101010101010101)
#define HIGHS ((uint64_t)0x8080808080808080)

/* The header counts in 32 bits; the rest leaves room for header, NUL and rounding. */
#define MAX_BYTES ((size_t)UINT32_MAX - 64)
/* From this size on the text of a buffer stays in place: the page around it is small in comparison. */
enum { STR_TAKEN_BYTES = 512 * PTC_KB };

const unsigned char ptc_hash_anchor = 0;

static uint64_t load_eight_bytes(const char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

static uint64_t load_str_word(const char *p)
{
    uint32_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

/* 0x80 in every byte of w that is c, 0 in the others. */
static uint64_t bytes_equal(uint64_t w, char c)
{
    uint64_t x = w ^ ONES * (unsigned char)c;
    return ~(((x & ~HIGHS) + ~HIGHS) | x | ~HIGHS);
}

/* `-` becomes `_` in every byte. */
static uint64_t fold_dashes(uint64_t w)
{
    return w ^ (bytes_equal(w, '-') >> 7) * ('-' ^ '_');
}

/* The last 1 to 8 of `len` bytes as one word.  Bytes may be in it twice; for a given length the word determines all
 * of them. */
static uint64_t load_last(const char *p, size_t len)
{
    if (len >= 8)
        return load_eight_bytes(p + len - 8);
    if (len >= 4)
        return load_str_word(p) | load_str_word(p + len - 4) << 32;
    const unsigned char *b = (const unsigned char *)p;
    return b[0] | (uint64_t)b[len / 2] << 8 | (uint64_t)b[len - 1] << 16;
}

uint32_t ptc_str_hash_bytes(const char *bytes, size_t len)
{
    uint64_t h = ptc_hash_begin(len);
    size_t i = 0;
    for (; len - i > 8; i += 8)
        h = ptc_hash_step(h, fold_dashes(load_eight_bytes(bytes + i)));
    if (len)
        h = ptc_hash_step(h, fold_dashes(load_last(bytes, len)));
    return ptc_hash_finish(h);
}

uint32_t ptc_str_hash(PtcValue str)
{
    PtcStr *s = (PtcStr *)(uintptr_t)str;
    uint32_t hash = atomic_load_explicit(&s->hash, memory_order_relaxed);
    if (PTC_UNLIKELY(hash == 0)) {
        hash = ptc_str_hash_bytes(s->bytes, s->obj.count);
        atomic_store_explicit(&s->hash, hash, memory_order_relaxed);
    }
    return hash;
}

bool ptc_str_fold_equal(PtcValue a, PtcValue b)
{
    size_t len = ptc_str_len(a), i = 0;
    const char *x = ptc_str_bytes(a), *y = ptc_str_bytes(b);
    if (len != ptc_str_len(b))
        return false;
    for (; len - i > 8; i += 8)
        if (fold_dashes(load_eight_bytes(x + i)) != fold_dashes(load_eight_bytes(y + i)))
            return false;
    return len == 0 || fold_dashes(load_last(x, len)) == fold_dashes(load_last(y, len));
}

bool ptc_bytes_simple(const char *bytes, size_t len)
{
    uint64_t bad = 0;
    for (size_t i = 0; len - i > 8 && !bad; i += 8)
        bad = load_eight_bytes(bytes + i) & HIGHS;
    if (len && !bad)
        bad = load_last(bytes, len) & HIGHS;
    return !bad;
}

PtcValue ptc_str_begin(PtcHeap *heap, PtcTag tag, size_t len)
{
    if (len > MAX_BYTES) {
        ptc_budget_exceed(heap->budget, PTC_STOP_SIZE, "a string may not have more bytes than",
                          MAX_BYTES);
        return PTC_NONE;
    }
    PtcStr *s = ptc_heap_object(heap, tag, sizeof(PtcStr) + len + 1, (uint32_t)len);
    if (!s)
        return PTC_NONE;
    atomic_init(&s->hash, 0);
    return ptc_from_obj(s);
}

void ptc_str_seal(PtcValue str)
{
    PtcStr *s = (PtcStr *)(uintptr_t)str;
    s->bytes[s->obj.count] = 0;
    s->obj.flags = ptc_bytes_simple(s->bytes, s->obj.count) ? PTC_STR_SIMPLE : 0;
}

static PtcValue copy_str_bytes(PtcHeap *heap, PtcTag tag, const char *bytes, size_t len)
{
    PtcValue str = ptc_str_begin(heap, tag, len);
    if (!str)
        return PTC_NONE;
    if (len)
        memcpy(ptc_str_room(str), bytes, len);
    ptc_str_seal(str);
    return str;
}

PtcValue ptc_str_new(PtcHeap *heap, const char *bytes, size_t len)
{
    return copy_str_bytes(heap, PTC_T_STRING, bytes, len);
}

PtcValue ptc_str_take(PtcHeap *heap, PtcBuf *buf)
{
    size_t len = buf->len;
    if (len < STR_TAKEN_BYTES || len > MAX_BYTES) {
        PtcValue str = ptc_str_new(heap, len ? buf->data : "", len);
        if (str != PTC_NONE)
            ptc_buf_deinit(buf);
        return str;
    }
    PtcStr *s = ptc_heap_take_buf(heap, buf, sizeof *s);
    if (!s)
        return PTC_NONE;
    s->obj = (PtcObj){PTC_T_STRING, 0, 0, (uint32_t)len};
    atomic_init(&s->hash, 0);
    ptc_str_seal(ptc_from_obj(s));
    return ptc_from_obj(s);
}

PtcValue ptc_keyword_new(PtcHeap *heap, const char *bytes, size_t len)
{
    return copy_str_bytes(heap, PTC_T_KEYWORD, bytes, len);
}

PtcValue ptc_symbol_new(PtcHeap *heap, const char *bytes, size_t len)
{
    return copy_str_bytes(heap, PTC_T_SYMBOL, bytes, len);
}

size_t ptc_str_graphemes(PtcBudget *budget, PtcValue str)
{
    size_t len = ptc_str_len(str);
    return ptc_str_simple(str) ? len : ptc_utf8_graphemes(budget, ptc_str_bytes(str), len);
}
