/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <stdlib.h>

void ptc_mem_init(PtcMem *mem, size_t limit)
{
    atomic_init(&mem->used, 0);
    atomic_init(&mem->count, 0);
    mem->limit = limit;
    mem->fail_at = 0;
}

void ptc_mem_fail_at(PtcMem *mem, uint64_t n)
{
    atomic_store_explicit(&mem->count, 0, memory_order_relaxed);
    mem->fail_at = n;
}

/* Charges `n` bytes, or says no and charges nothing. */
static bool charge(PtcMem *mem, size_t n)
{
    uint64_t nth = atomic_fetch_add_explicit(&mem->count, 1, memory_order_relaxed) + 1;
    if (mem->fail_at && nth == mem->fail_at)
        return false;
    size_t before = atomic_fetch_add_explicit(&mem->used, n, memory_order_relaxed);
    if (n <= mem->limit && before <= mem->limit - n)
        return true;
    atomic_fetch_sub_explicit(&mem->used, n, memory_order_relaxed);
    return false;
}

static void credit(PtcMem *mem, size_t n)
{
    atomic_fetch_sub_explicit(&mem->used, n, memory_order_relaxed);
}

void *ptc_mem_resize(PtcMem *mem, void *block, size_t old, size_t size)
{
    if (size == 0) {
        free(block);
        credit(mem, old);
        return NULL;
    }
    if (size > old && !charge(mem, size - old))
        return NULL;
    void *moved = realloc(block, size);
    if (size > old && !moved)
        credit(mem, size - old);
    else if (size < old && moved)
        credit(mem, old - size);
    return moved;
}

void *ptc_mem_alloc_aligned(PtcMem *mem, size_t align, size_t size)
{
    if (size > SIZE_MAX - align || !charge(mem, size))
        return NULL;
    void *block = NULL;
    if (posix_memalign(&block, align, size) != 0) {
        credit(mem, size);
        return NULL;
    }
    return block;
}

void ptc_mem_free_aligned(PtcMem *mem, void *block, size_t size)
{
    if (!block)
        return;
    free(block);
    credit(mem, size);
}
