/* SPDX-License-Identifier: MIT
 * mem.h - the memory ledger.  Every byte the library holds comes from one of these, so that it can be limited,
 * counted and made to fail on purpose.  This is the only caller of malloc and free. */
#ifndef PTC_BASE_MEM_H
#define PTC_BASE_MEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/units.h"

typedef struct PtcMem {
    atomic_size_t used;           /* bytes in use; threads of one run share a ledger */
    size_t limit;                 /* no allocation takes `used` beyond this */
    atomic_uint_fast64_t count;   /* allocations requested so far */
    atomic_uint_fast64_t fail_at; /* testing: this allocation and the next fail; 0: none does */
} PtcMem;

void ptc_mem_init(PtcMem *mem, size_t limit);

/* Counts from here; the Nth allocation and the next fail (a buffer that is refused asks for less at once); 0: none. */
void ptc_mem_fail_at(PtcMem *mem, uint64_t n);

/* Allocates, grows, shrinks or (size 0) frees.  `old` is the current size, 0 with NULL.  NULL when the ledger or the
 * system refuses; the old block is then untouched. */
PTC_MUST_USE void *ptc_mem_resize(PtcMem *mem, void *block, size_t old, size_t size);

/* A block whose address is a multiple of `align` (a power of two). */
PTC_MUST_USE void *ptc_mem_alloc_aligned(PtcMem *mem, size_t align, size_t size);
void ptc_mem_free_aligned(PtcMem *mem, void *block, size_t size);

/* The unit in which the system hands out memory, in bytes: a power of two. */
size_t ptc_mem_grain(void);
/* The contents of these bytes are no longer needed: the system gets the memory behind them back, in whole pages.
 * Afterwards their contents are undefined. */
void ptc_mem_forget(void *bytes, size_t size);

static inline PTC_MUST_USE void *ptc_mem_alloc(PtcMem *mem, size_t size)
{
    return ptc_mem_resize(mem, NULL, 0, size);
}

/* Frees a block of which little was ever written.  If it is large, and the process has no other of its size, its pages
 * stay for the next block of that size, which may begin with anything. */
void ptc_mem_keep(PtcMem *mem, void *block, size_t size);

static inline void ptc_mem_free(PtcMem *mem, void *block, size_t size)
{
    if (block)
        (void)!ptc_mem_resize(mem, block, size, 0);
}

#endif
