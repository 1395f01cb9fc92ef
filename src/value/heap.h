/* SPDX-License-Identifier: MIT
 * heap.h - where values live.
 *
 * Invariants:
 *  - Objects are bump-allocated in 32 KiB pages, aligned to their size; the page header names the heap.
 *    Objects over PTC_LARGE_BYTES have a page of their own, of any length; up to the size of a page it is one of the
 *    pool's, and counts for the memory that it takes.
 *  - An object is complete before the next safepoint and never changes afterwards, except: string
 *    hashes (relaxed atomics), the unused slots of a tail node, objects still being built, and lazy
 *    sequences, which the VM that owns their heap computes (lazy.h).
 *  - A heap points only into itself and into heaps that outlive it.
 *  - Memory is reclaimed only between ptc_heap_mark_begin and ptc_heap_mark_finish, which callers run at safepoints.
 *  - An allocation that would take the heap, or all heaps of its account, beyond the limit returns NULL and sets
 *    PTC_STOP_MEMORY in the budget.  The limit is about `used`, and with a little more about what is resident.  The VM
 *    may clear that, collect, and try once more. */
#ifndef PTC_VALUE_HEAP_H
#define PTC_VALUE_HEAP_H

#include "base/budget.h"
#include "base/buf.h"
#include "base/grow.h"
#include "value/account.h"
#include "value/object.h"
#include "value/pool.h"

enum {
    PTC_LARGE_BYTES = 8 * PTC_KB,
    PTC_LOOKUPS = 128,
    PTC_TRANSITIONS = 32,
    PTC_OVER_CLASSES = 4,
};

typedef struct PtcHeap PtcHeap;

/* Caches of one heap, cleared by every collection (addresses may be reused after it). */
typedef struct {
    PtcValue shape, key; /* shape 0: empty */
    PtcValue answer; /* look-ups: position + 1, or 0 for absent; transitions: the longer shape */
} PtcShapeCache;

/* Where the values of one run, context, session or worker thread live.  One thread at a time allocates in it and
 * collects it; others read its objects once they are published, and only look at its pages. */
struct PtcHeap {
    char *cur, *end;       /* free bytes of the current hole */
    char *over, *over_end; /* the same, for larger objects */
    PtcBudget *budget;     /* never NULL */
    PtcPool *pool;
    PtcPage *pages; /* ordinary pages */
    PtcPage *large;
    PtcPage *hole_page; /* page of the current hole */
    PtcPage *reuse;     /* next page to look for holes in, after a collection */
    struct {
        PtcPage *page;
        size_t line;
    } over_reuse[PTC_OVER_CLASSES]; /* the same for `over`, by size of the object */
    size_t used;                    /* bytes live after the last collection plus handed out since */
    size_t live;                    /* bytes live after the last collection */
    size_t limit;                   /* for `used`, not counting results of tools */
    size_t tool_bytes;              /* the most that these may take on top of it */
    size_t raised;                  /* what they do take: falls again when they are freed */
    /* Bytes of objects that came with results and were live at the last collection. */
    size_t tool_live;
    bool in_tool;     /* a result is being received */
    size_t tool_from; /* `used` when that began */
    size_t raising; /* what it has raised the account's limit by so far; becomes part of `raised` */
    /* Shared by several heaps; or NULL.  It then has the limit and the sum of `raised`. */
    PtcAccount *account;
    size_t used_grant, held_grant; /* of the account */
    size_t lacking;                /* bytes of the last request to it */
    unsigned answered;             /* account->asked at the last collection */
    size_t collect_at;  /* once `used` exceeds this, budget->wake requests a collection */
    size_t scratch;     /* bytes handed out by ptc_heap_scratch, counted against the limit */
    size_t stack_bytes; /* of these, C stack of the thread that works on the heap */
    size_t page_bytes;  /* held from the pool and as large pages */
    uint32_t refs;      /* owners, for heaps that several share */
    PtcValue *mark_stack;
    size_t mark_count, mark_cap;
    bool mark_overflow;
    struct PtcCells *cells; /* what cells of older heaps hold for this run (cell.h); or NULL */
    uint32_t cell_count;    /* made so far */
    bool cells_closed;      /* the table is that of an older heap, and only read */
    PtcValue empty_shape;   /* shared by all empty maps and sets, or 0 */
    /* Computes something lazy now, if that may be; or NULL. */
    bool (*force)(void *vm, PtcValue lazy);
    void *force_vm;
    PtcShapeCache lookups[PTC_LOOKUPS]; /* (shape, key) -> position */
    /* (shape, key) -> shape with key added; with PTC_UNBOUND as key: as a tool gets it (tool/keys.c). */
    PtcShapeCache transitions[PTC_TRANSITIONS];
};

/* Fills a new, empty heap.  Cheap: takes no page yet. */
void ptc_heap_init(PtcHeap *heap, PtcPool *pool, PtcBudget *budget, size_t limit);
/* Gives every page back. */
void ptc_heap_deinit(PtcHeap *heap);

/* Slow half of ptc_heap_alloc. */
void *ptc_heap_refill(PtcHeap *heap, size_t size);

/* Uninitialised memory for one object; NULL when over the limit (see above). */
static inline PTC_MUST_USE void *ptc_heap_alloc(PtcHeap *heap, size_t size)
{
    size_t need = (size + 7) & ~(size_t)7;
    if (PTC_UNLIKELY(need > (size_t)(heap->end - heap->cur)))
        return ptc_heap_refill(heap, need);
    void *p = heap->cur;
    heap->cur += need;
    return p;
}

static inline PtcPage *ptc_page_of(PtcValue v)
{
    return (PtcPage *)(uintptr_t)(v & ~(PtcValue)(PTC_PAGE_BYTES - 1));
}

/* Does this heap own the object v?  v must be a heap object. */
static inline bool ptc_heap_owns(const PtcHeap *heap, PtcValue v)
{
    return ptc_page_of(v)->heap == heap;
}

/* Results of tools: between these calls the heap may take tool_bytes on top of its limit.  What came in with `result`
 * (or PTC_NONE) raises the limit for as long as it lives. */
void ptc_heap_tool_begin(PtcHeap *heap);
void ptc_heap_tool_end(PtcHeap *heap, PtcValue result);

/* Is another thread working that takes from the same account? */
static inline bool ptc_heap_is_shared(const PtcHeap *heap)
{
    return heap->account && atomic_load_explicit(&heap->account->heaps, memory_order_relaxed) > 1;
}

/* Has this one been asked to collect since its last collection? */
static inline bool ptc_heap_is_asked(const PtcHeap *heap)
{
    return heap->account &&
           atomic_load_explicit(&heap->account->asked, memory_order_relaxed) != heap->answered;
}

/* Memory outside the heap for work on its values, counted against the heap's limit: like ptc_mem_resize, but a
 * refusal stops the budget with PTC_STOP_MEMORY. */
PTC_MUST_USE void *ptc_heap_scratch(PtcHeap *heap, void *block, size_t old, size_t size);
/* PTC_GROW for arrays in such memory; false: the budget is stopped. */
PTC_MUST_USE bool ptc_heap_grow_now(PtcHeap *heap, void *items, size_t *cap, size_t need,
                                    size_t size);
static inline PTC_MUST_USE bool ptc_heap_grow(PtcHeap *heap, void *items, size_t *cap, size_t need,
                                              size_t size)
{
    return PTC_LIKELY(need <= *cap) || ptc_heap_grow_now(heap, items, cap, need, size);
}
#define PTC_GROW_SCRATCH(heap, items, cap, need) \
    ptc_heap_grow((heap), (items), (cap), (need), sizeof **(items))

static inline void ptc_heap_scratch_free(PtcHeap *heap, void *block, size_t size)
{
    if (block)
        (void)!ptc_heap_scratch(heap, block, size, 0);
}
/* Counts n bytes of C stack as scratch, until ptc_heap_stack_free.  False stops the budget. */
PTC_MUST_USE bool ptc_heap_stack(PtcHeap *heap, size_t n);
void ptc_heap_stack_free(PtcHeap *heap);
/* Is there room for n more bytes?  If not, stops the budget. */
PTC_MUST_USE bool ptc_heap_fits(PtcHeap *heap, size_t n);

/* A buffer whose block counts against the heap's limit, like scratch.  It fails when that is reached; its owner must
 * then stop the budget. */
void ptc_heap_buf_init(PtcHeap *heap, PtcBuf *buf);
/* Turns the block of such a buffer into a large object: `head` bytes to be filled in, the buffer's contents, a NUL.
 * The buffer is empty afterwards.  NULL stops the budget and leaves the buffer unchanged. */
PTC_MUST_USE void *ptc_heap_take_buf(PtcHeap *heap, PtcBuf *buf, size_t head);

/* Collection: begin, mark every root, finish.  Objects that were not reached are freed. */
void ptc_heap_mark_begin(PtcHeap *heap);
void ptc_heap_mark(PtcHeap *heap, PtcValue root);
void ptc_heap_mark_finish(PtcHeap *heap);

/* Takes over another heap's share of what results of tools raised. */
void ptc_heap_take_raised(PtcHeap *heap, PtcHeap *from);
/* Moves every page of `from` (a joined worker's) to `heap`; `from` is empty afterwards.  What results of tools raised
 * comes with them. */
void ptc_heap_adopt(PtcHeap *heap, PtcHeap *from);

/* Starts an object of the given type; count and flags may be set later. */
static inline PTC_MUST_USE void *ptc_heap_object(PtcHeap *heap, PtcTag type, size_t size,
                                                 uint32_t count)
{
    PtcObj *o = ptc_heap_alloc(heap, size);
    if (PTC_LIKELY(o != NULL))
        *o = (PtcObj){(uint8_t)type, 0, 0, count};
    return o;
}

#endif
