/* SPDX-License-Identifier: MIT
 * Small blocks come from malloc.  Large ones are mapped, so that their pages go back to the system as soon as they
 * are freed: malloc may keep them, and the process would then hold on to what earlier runs used.  Of those that every
 * engine has, one of each size stays mapped for the next engine, if there is little in them. */
#define _GNU_SOURCE /* mremap */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sanitized.h"

#include "base/poison.h"

enum { GRAIN = 16 * PTC_KB }; /* the system's pages are 4 or 16 KiB */
#ifdef PTC_HAS_ASAN
static const size_t LARGE = SIZE_MAX; /* the sanitizer's malloc detects overruns and leaks */
static const size_t LARGE_ALIGNED = SIZE_MAX;
#else
static const size_t LARGE = 64 * PTC_KB;
/* Between aligned blocks malloc leaves gaps, which may take memory that no ledger counts. */
static const size_t LARGE_ALIGNED = 32 * PTC_KB;
#endif

void ptc_mem_init(PtcMem *mem, size_t limit)
{
    atomic_init(&mem->used, 0);
    atomic_init(&mem->count, 0);
    mem->limit = limit;
    atomic_init(&mem->fail_at, 0);
}

void ptc_mem_fail_at(PtcMem *mem, uint64_t n)
{
    atomic_store_explicit(&mem->count, 0, memory_order_relaxed);
    atomic_store_explicit(&mem->fail_at, n, memory_order_relaxed);
}

/* Charges `n` bytes, or refuses and charges nothing. */
static bool charge_memory(PtcMem *mem, size_t n)
{
    uint64_t nth = atomic_fetch_add_explicit(&mem->count, 1, memory_order_relaxed) + 1;
    uint64_t fail_at = atomic_load_explicit(&mem->fail_at, memory_order_relaxed);
    /* A buffer that is refused asks for less at once: if only one allocation failed, no buffer ever would. */
    if (fail_at && (nth == fail_at || nth == fail_at + 1))
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

static size_t whole_pages(size_t size)
{
    return (size + GRAIN - 1) & ~(size_t)(GRAIN - 1);
}

/* ------------------------------------------------------------------------ spare blocks */

/* One for each power of two from LARGE on.  A block begins with its size.  With them a new engine asks the system for
 * nothing: with its first run it takes 1.6 us, not 33. */
enum { SPARES = 8, SPARE_FIRST = 16 };
static _Atomic(size_t *) spares[SPARES];

static _Atomic(size_t *) *spare_slot(size_t pages)
{
    unsigned i = 63 - (unsigned)__builtin_clzll(pages | 1);
    return i >= SPARE_FIRST && i < SPARE_FIRST + SPARES ? &spares[i - SPARE_FIRST] : NULL;
}

static void keep_spare(_Atomic(size_t *) *slot, size_t *block, size_t pages)
{
    *block = pages;
    size_t *old = atomic_exchange(slot, block);
    if (old)
        munmap(old, *old);
}

/* NULL: there is none of this size. */
static void *take_spare(size_t pages)
{
    _Atomic(size_t *) *slot = spare_slot(pages);
    size_t *block = slot && atomic_load_explicit(slot, memory_order_relaxed)
                        ? atomic_exchange(slot, NULL)
                        : NULL;
    if (block && *block != pages) {
        keep_spare(slot, block, *block);
        return NULL;
    }
    return block;
}

void ptc_mem_keep(PtcMem *mem, void *block, size_t size)
{
    size_t pages = whole_pages(size);
    _Atomic(size_t *) *slot = block && size >= LARGE ? spare_slot(pages) : NULL;
    if (!slot) {
        ptc_mem_free(mem, block, size);
        return;
    }
    keep_spare(slot, block, pages);
    credit(mem, size);
}

/* ------------------------------------------------------------------------ large blocks */

static void *map(size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    void *p = take_spare(whole_pages(size));
    if (p)
        return p;
    p = mmap(NULL, whole_pages(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void free_block_or_pages(void *block, size_t size, size_t large)
{
    if (size < large)
        free(block);
    else
        munmap(block, whole_pages(size));
}

/* Another block with as much of the contents as both have room for. */
static void *move_block(void *block, size_t old, size_t size)
{
    void *p = size < LARGE ? malloc(size) : map(size);
    if (!p)
        return NULL;
    memcpy(p, block, old < size ? old : size);
    free_block_or_pages(block, old, LARGE);
    return p;
}

static void *remap(void *block, size_t old, size_t size)
{
#if defined MREMAP_MAYMOVE && !PTC_SANITIZED /* whose run time does not see that pages move */
    void *p = size > SIZE_MAX / 2
                  ? MAP_FAILED
                  : mremap(block, whole_pages(old), whole_pages(size), MREMAP_MAYMOVE);
    return p == MAP_FAILED ? NULL : p;
#else
    return whole_pages(old) == whole_pages(size) ? block : move_block(block, old, size);
#endif
}

static void *resize_block(void *block, size_t old, size_t size)
{
    if (!block)
        return size < LARGE ? malloc(size) : map(size);
    if (old < LARGE && size < LARGE)
        return realloc(block, size);
    return old < LARGE || size < LARGE ? move_block(block, old, size) : remap(block, old, size);
}

void *ptc_mem_resize(PtcMem *mem, void *block, size_t old, size_t size)
{
    if (size == 0) {
        if (block)
            free_block_or_pages(block, old, LARGE);
        credit(mem, old);
        return NULL;
    }
    if (size > old && !charge_memory(mem, size - old))
        return NULL;
    void *moved = resize_block(block, old, size);
    if (size > old && !moved)
        credit(mem, size - old);
    else if (size < old && moved)
        credit(mem, old - size);
    return moved;
}

/* Maps more than is needed and unmaps what lies before and after. */
static void *map_aligned(size_t align, size_t size)
{
    size_t pages = whole_pages(size);
    char *p = take_spare(pages);
    if (p && (uintptr_t)p % align == 0)
        return p;
    if (p)
        munmap(p, pages);
    p = map(pages + align);
    if (!p)
        return NULL;
    size_t before = (align - (uintptr_t)p % align) % align;
    if (before)
        munmap(p, before);
    if (align > before)
        munmap(p + before + pages, align - before);
    return p + before;
}

void *ptc_mem_alloc_aligned(PtcMem *mem, size_t align, size_t size)
{
    if (size > SIZE_MAX / 2 - align || !charge_memory(mem, size))
        return NULL;
    void *block = NULL;
    if (size >= LARGE_ALIGNED)
        block = map_aligned(align, size);
    else if (posix_memalign(&block, align, size) != 0)
        block = NULL;
    if (!block)
        credit(mem, size);
    return block;
}

void ptc_mem_free_aligned(PtcMem *mem, void *block, size_t size)
{
    if (!block)
        return;
    free_block_or_pages(block, size, LARGE_ALIGNED);
    credit(mem, size);
}

size_t ptc_mem_grain(void)
{
    long n = sysconf(_SC_PAGESIZE);
    return n > 0 ? (size_t)n : GRAIN;
}

void ptc_mem_forget(void *bytes, size_t size)
{
    size_t page = ptc_mem_grain(), skip = (page - (uintptr_t)bytes % page) % page;
    if (size >= skip + page)
        (void)madvise((char *)bytes + skip, (size - skip) / page * page, MADV_DONTNEED);
}
