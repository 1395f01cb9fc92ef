/* SPDX-License-Identifier: MIT
 * str.h - strings, keywords and symbols.  Their bytes are always valid UTF-8. */
#ifndef PTC_VALUE_STR_H
#define PTC_VALUE_STR_H

#include "base/bytes.h"
#include "value/heap.h"

/* A copy of `len` bytes, which must be valid UTF-8.  PTC_NONE if out of memory. */
PTC_MUST_USE PtcValue ptc_str_new(PtcHeap *heap, const char *bytes, size_t len);
PTC_MUST_USE PtcValue ptc_keyword_new(PtcHeap *heap, const char *bytes, size_t len);
PTC_MUST_USE PtcValue ptc_symbol_new(PtcHeap *heap, const char *bytes, size_t len);

/* The text of a buffer that ptc_heap_buf_init made; a long one is not copied.  The buffer is empty afterwards, or,
 * with PTC_NONE, unchanged: after a collection this may be tried again. */
PTC_MUST_USE PtcValue ptc_str_take(PtcHeap *heap, PtcBuf *buf);

/* In two steps: room for `len` bytes, to be written through ptc_str_room; then sealed. */
PTC_MUST_USE PtcValue ptc_str_begin(PtcHeap *heap, PtcTag tag, size_t len);
static inline char *ptc_str_room(PtcValue str)
{
    return ((PtcStr *)(uintptr_t)str)->bytes;
}
void ptc_str_seal(PtcValue str);

static inline const char *ptc_str_bytes(PtcValue str)
{
    return ((const PtcStr *)(uintptr_t)str)->bytes;
}

static inline size_t ptc_str_len(PtcValue str)
{
    return ptc_obj(str)->count;
}

/* The text of what has one: a string, a keyword or a symbol. */
static inline PtcText ptc_str_view(PtcValue str)
{
    return (PtcText){ptc_str_bytes(str), ptc_str_len(str)};
}

/* The text of a string; absent for anything else. */
static inline PtcText ptc_str_text(PtcValue v)
{
    return ptc_is(v, PTC_T_STRING) ? ptc_str_view(v) : (PtcText){NULL, 0};
}

/* One byte is one grapheme. */
static inline bool ptc_str_simple(PtcValue str)
{
    return (ptc_obj(str)->flags & PTC_STR_SIMPLE) != 0;
}

static inline bool ptc_is_named(PtcValue v)
{
    PtcTag t = ptc_tag(v);
    return t == PTC_T_STRING || t == PTC_T_KEYWORD || t == PTC_T_SYMBOL;
}

/* Hashing in steps, for anything that can be a key: begin with a number that distinguishes what could take the same
 * steps (a length), one step for each 64-bit word, finish (never 0).  The secret behind it is where the anchor was
 * loaded (address randomisation), which needs no start-up and no state, and is the same for every heap of the
 * process. */
extern const unsigned char ptc_hash_anchor;

static inline uint64_t ptc_hash_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 wide = (unsigned __int128)a * b;
    return (uint64_t)wide ^ (uint64_t)(wide >> 64);
}

static inline uint64_t ptc_hash_secret(void)
{
    return ptc_hash_fold((uintptr_t)&ptc_hash_anchor ^ 0x5bd1e9955bd1e995, 0xa24baed4963ee407) | 1;
}

static inline uint64_t ptc_hash_begin(uint64_t start)
{
    return ptc_hash_secret() + start * 0xc3a5c85c97cb3127;
}

static inline uint64_t ptc_hash_step(uint64_t h, uint64_t word)
{
    return ptc_hash_fold(h ^ word, ptc_hash_secret());
}

static inline uint32_t ptc_hash_finish(uint64_t h)
{
    h = ptc_hash_fold(h, 0x9fb21c651e98df25);
    uint32_t half = (uint32_t)(h ^ h >> 32);
    return half ? half : 1;
}

/* Never 0; the same for all spellings that flexible keys treat as equal (`-` is `_`, keyword is string). */
uint32_t ptc_str_hash_bytes(const char *bytes, size_t len);
uint32_t ptc_str_hash(PtcValue str);
/* Is it known already, so that asking costs nothing? */
static inline bool ptc_str_hashed(PtcValue str)
{
    return atomic_load_explicit(&((PtcStr *)(uintptr_t)str)->hash, memory_order_relaxed) != 0;
}

/* Same bytes / same bytes apart from `-` and `_`.  For keys whose lengths were bounded or charged elsewhere ... */
static inline bool ptc_str_same_bytes(PtcValue a, PtcValue b)
{
    return ptc_str_len(a) == ptc_str_len(b) &&
           memcmp(ptc_str_bytes(a), ptc_str_bytes(b), ptc_str_len(a)) == 0;
}
bool ptc_str_fold_equal(PtcValue a, PtcValue b);
/* ... and for any. */
static inline bool ptc_str_same(PtcBudget *budget, PtcValue a, PtcValue b)
{
    return ptc_str_len(a) == ptc_str_len(b) &&
           ptc_bytes_same(budget, ptc_str_bytes(a), ptc_str_bytes(b), ptc_str_len(a));
}

/* Number of graphemes; cost is linear unless the string is simple.  The budget may be NULL. */
size_t ptc_str_graphemes(PtcBudget *budget, PtcValue str);

/* Is every byte of this run (from start to end) one grapheme? */
bool ptc_bytes_simple(const char *bytes, size_t len);

#endif
