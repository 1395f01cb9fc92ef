/* SPDX-License-Identifier: MIT
 * grow.h - arrays that grow: an address and a capacity, and a count that whoever appends keeps. */
#ifndef PTC_BASE_GROW_H
#define PTC_BASE_GROW_H

#include "base/mem.h"

/* The capacity with which an array holds `need` items of `size` bytes: a doubling of `cap`, 8 at least, so that appends
 * stay linear; 0: no memory can hold them. */
size_t ptc_grow_cap(size_t cap, size_t need, size_t size);

/* Slow half of ptc_grow_array. */
PTC_MUST_USE bool ptc_grow_now(PtcMem *mem, void *items, size_t *cap, size_t need, size_t size);

static inline PTC_MUST_USE bool ptc_grow_array(PtcMem *mem, void *items, size_t *cap, size_t need,
                                               size_t size)
{
    return PTC_LIKELY(need <= *cap) || ptc_grow_now(mem, items, cap, need, size);
}

/* Makes room for `need` items in the array *items of *cap items, which is NULL while *cap is 0.  New room holds
 * anything.  False: out of memory; then nothing has changed. */
#define PTC_GROW(mem, items, cap, need) \
    ptc_grow_array((mem), (items), (cap), (need), sizeof **(items))

#endif
