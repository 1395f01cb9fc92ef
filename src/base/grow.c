/* SPDX-License-Identifier: MIT
 * Arrays that grow.  An array is reached through the address of a pointer of any type, so the pointer is copied as
 * bytes. */
#include "base/grow.h"

#include <string.h>

enum { GROW_FIRST = 8 };

size_t ptc_grow_cap(size_t cap, size_t need, size_t size)
{
    if (need > SIZE_MAX / 2 / size)
        return 0;
    cap = cap ? cap : GROW_FIRST;
    while (cap < need)
        cap *= 2;
    return cap;
}

bool ptc_grow_now(PtcMem *mem, void *items, size_t *cap, size_t need, size_t size)
{
    void *block;
    size_t wider = ptc_grow_cap(*cap, need, size);
    memcpy(&block, items, sizeof block);
    if (!wider || !(block = ptc_mem_resize(mem, block, *cap * size, wider * size)))
        return false;
    memcpy(items, &block, sizeof block);
    *cap = wider;
    return true;
}
