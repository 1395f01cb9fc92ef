/* SPDX-License-Identifier: MIT
 * Heaps: allocation in pages, mark and sweep.  heap.h states the invariants. */
#include "value/heap.h"

#include "base/grow.h"
#include "base/poison.h"
#include "value/cell.h"

enum {
    MARK_STACK_FIRST = PTC_KB,
    MARK_STACK_MAX = 16 * PTC_KB, /* entries; beyond that pages are rescanned */
    MIN_HOLE = 32,                /* bytes; smaller ones are left alone */
    HEAP_SMALL_BYTES = 64,        /* larger objects do not use small holes */
    FIRST_LINE = PTC_PAGE_FIRST / PTC_LINE_BYTES,
    PAGE_ROOM = PTC_PAGE_BYTES - PTC_PAGE_FIRST,
};

/* ---------------------------------------------------------------- allocation */

void ptc_heap_init(PtcHeap *heap, PtcPool *pool, PtcBudget *budget, size_t limit)
{
    memset(heap, 0, sizeof *heap);
    heap->pool = pool;
    heap->budget = budget;
    heap->limit = limit;
    heap->refs = 1;
    heap->collect_at = ptc_account_threshold(heap);
}

static void free_large(PtcHeap *heap, PtcPage *list)
{
    PtcPage *ours = NULL;
    while (list) {
        PtcPage *p = list;
        list = p->next;
        heap->page_bytes -= p->bytes;
        if (p->chunk) {
            p->next = ours;
            ours = p;
        } else {
            ptc_mem_free_aligned(heap->pool->mem, p->block, p->bytes);
        }
    }
    ptc_pool_give(heap->pool, ours);
}

void ptc_heap_deinit(PtcHeap *heap)
{
    ptc_pool_give(heap->pool, heap->pages);
    free_large(heap, heap->large);
    ptc_mem_free(heap->pool->mem, heap->mark_stack, heap->mark_cap * sizeof(PtcValue));
    heap->pages = heap->large = NULL;
    heap->mark_stack = NULL;
    heap->cur = heap->end = heap->over = heap->over_end = NULL;
    ptc_cells_free(heap);
    ptc_account_leave(heap);
}

bool ptc_heap_fits(PtcHeap *heap, size_t n)
{
    return ptc_account_fits(heap, n) || ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
}

/* Called before memory is taken from outside the pool: free pages must not remain unused beside it. */
static void make_way(PtcHeap *heap, size_t n)
{
    size_t held = heap->page_bytes + heap->scratch + n;
    size_t warm = atomic_load_explicit(&heap->pool->warm, memory_order_relaxed);
    if (warm > 0 && ptc_size_add(held, warm) > (heap->account ? 0 : heap->limit / 2))
        ptc_pool_empty(heap->pool);
}

/* Counts scratch memory that changes from `old` to `size` bytes, if it is allowed. */
static bool charge_scratch(void *user, size_t old, size_t size)
{
    PtcHeap *heap = user;
    size_t n = size > old ? size - old : 0;
    if (n > 0 && (!ptc_account_fits(heap, n) || !ptc_account_holds(heap, n)))
        return false;
    if (n >= PTC_PAGE_BYTES)
        make_way(heap, n);
    heap->scratch += size - old;
    if (heap->account && size < old)
        ptc_account_settle(heap);
    return true;
}

void *ptc_heap_scratch(PtcHeap *heap, void *block, size_t old, size_t size)
{
    void *p = NULL;
    if (charge_scratch(heap, old, size)) {
        p = ptc_mem_resize(heap->pool->mem, block, old, size);
        if (p || !size)
            return p;
        heap->scratch -= size - old;
    }
    ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    return NULL;
}

bool ptc_heap_grow_now(PtcHeap *heap, void *items, size_t *cap, size_t need, size_t size)
{
    void *block;
    size_t wider = ptc_grow_cap(*cap, need, size);
    memcpy(&block, items, sizeof block);
    if (!wider)
        return ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    if (!(block = ptc_heap_scratch(heap, block, *cap * size, wider * size)))
        return false;
    memcpy(items, &block, sizeof block);
    *cap = wider;
    return true;
}

bool ptc_heap_stack(PtcHeap *heap, size_t n)
{
    if (!charge_scratch(heap, 0, n))
        return ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    heap->stack_bytes += n;
    return true;
}

void ptc_heap_stack_free(PtcHeap *heap)
{
    (void)!charge_scratch(heap, heap->stack_bytes, 0);
    heap->stack_bytes = 0;
}

void ptc_heap_buf_init(PtcHeap *heap, PtcBuf *buf)
{
    ptc_buf_init(buf, heap->pool->mem, ptc_account_limit(heap));
    buf->charge = charge_scratch;
    buf->charge_user = heap;
}

/* Charges bytes to the heap, and the time it takes to fill them; requests a collection when it is due. */
static bool charge_heap(PtcHeap *heap, size_t n)
{
    if (!ptc_heap_fits(heap, n))
        return false;
    /* Whoever asked for the memory notices a stop. */
    (void)!ptc_tick_bytes(heap->budget, n);
    heap->used += n;
    if (heap->used > heap->collect_at)
        heap->budget->wake = true;
    return true;
}

static PtcPage *new_page(PtcHeap *heap)
{
    PtcPage *p =
        ptc_account_holds(heap, PTC_PAGE_BYTES) ? ptc_pool_take(heap->pool, PTC_PAGE_BYTES) : NULL;
    if (!p) {
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
        return NULL;
    }
    PTC_UNPOISON((char *)p + PTC_PAGE_FIRST, PAGE_ROOM);
    p->heap = heap;
    p->rescan = p->recycled = false;
    p->next = heap->pages;
    heap->pages = p;
    heap->page_bytes += PTC_PAGE_BYTES;
    return p;
}

/* A page with one object; returns where that begins. */
static void *add_large(PtcHeap *heap, PtcPage *p)
{
    p->heap = heap;
    p->rescan = p->recycled = false;
    memset(p->marks, 0, sizeof p->marks);
    p->next = heap->large;
    heap->large = p;
    heap->page_bytes += p->bytes;
    return (char *)p + PTC_PAGE_FIRST;
}

static PtcPage *take_large_block(PtcHeap *heap, size_t bytes)
{
    make_way(heap, bytes);
    PtcPage *p = ptc_mem_alloc_aligned(heap->pool->mem, PTC_PAGE_BYTES, bytes);
    if (p) {
        p->chunk = NULL;
        p->block = p;
        p->bytes = bytes;
    }
    return p;
}

static void *alloc_large(PtcHeap *heap, size_t size)
{
    if (size > PTC_UNBOUNDED) {
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
        return NULL;
    }
    size_t bytes = ptc_pool_charge(heap->pool, PTC_PAGE_FIRST + size);
    if (!ptc_account_holds(heap, bytes) || !charge_heap(heap, size)) {
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
        return NULL;
    }
    PtcPage *p = size <= PAGE_ROOM ? ptc_pool_take(heap->pool, PTC_PAGE_FIRST + size)
                                   : take_large_block(heap, bytes);
    if (!p) {
        heap->used -= size;
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
        return NULL;
    }
    if (p->chunk)
        PTC_UNPOISON((char *)p + PTC_PAGE_FIRST, size);
    return add_large(heap, p);
}

void *ptc_heap_take_buf(PtcHeap *heap, PtcBuf *buf, size_t head)
{
    size_t len = buf->len, size = head + len + 1;
    size_t bytes = PTC_PAGE_BYTES + PTC_PAGE_FIRST + size; /* enough wherever the block begins */
    if (!ptc_buf_resize(buf, bytes)) {
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
        return NULL;
    }
    char *block = buf->data;
    uintptr_t before = (PTC_PAGE_BYTES - (uintptr_t)block % PTC_PAGE_BYTES) % PTC_PAGE_BYTES;
    char *page = block + before, *object = page + PTC_PAGE_FIRST;
    memmove(object + head, block, len);
    object[head + len] = 0;
    buf->data = NULL;
    buf->len = buf->cap = 0;
    heap->scratch -= bytes;
    heap->used += size;
    if (heap->used > heap->collect_at)
        heap->budget->wake = true;
    PtcPage *p = (PtcPage *)(void *)page;
    p->chunk = NULL;
    p->block = block;
    p->bytes = bytes;
    return add_large(heap, p);
}

/* The first line at or after `from` that is in use, or free; PTC_PAGE_LINES if there is none. */
static size_t next_page_line(const PtcPage *p, size_t from, bool in_use)
{
    while (from < PTC_PAGE_LINES) {
        uint64_t bits = (in_use ? p->lines[from / 64] : ~p->lines[from / 64]) >> (from % 64);
        if (bits)
            return from + (size_t)__builtin_ctzll(bits);
        from = (from | 63) + 1;
    }
    return PTC_PAGE_LINES;
}

/* Sets the bits of lines from `first` up to but not including `last`. */
static void use_lines(PtcPage *p, size_t first, size_t last)
{
    while (first < last) {
        size_t bit = first % 64, n = last - first < 64 - bit ? last - first : 64 - bit;
        p->lines[first / 64] |= (~(uint64_t)0 >> (64 - n)) << bit;
        first += n;
    }
}

/* The first line at or after `from` that begins eight free lines sharing a byte of the bits. */
static size_t next_free_byte(const PtcPage *p, size_t from)
{
    const uint64_t ones = 0x0101010101010101;
    uint64_t before = ((uint64_t)1 << from % 64) - 1;
    for (size_t word = from / 64; word < PTC_PAGE_LINES / 64; word++, before = 0) {
        uint64_t bits = p->lines[word] | before, zeros = (bits - ones) & ~bits & ones << 7;
        if (zeros)
            return word * 64 + (size_t)__builtin_ctzll(zeros) / 8 * 8;
    }
    return PTC_PAGE_LINES;
}

/* The next run of free lines in `p` at or after line `from` with room for `size` bytes.  A run of 15 lines contains a
 * free byte, which is quicker to find among many short runs. */
static bool find_hole(const PtcPage *p, size_t from, size_t size, size_t *first, size_t *last)
{
    size_t need = (size > MIN_HOLE ? size + PTC_LINE_BYTES - 1 : MIN_HOLE) / PTC_LINE_BYTES;
    for (; from < PTC_PAGE_LINES; from = *last) {
        size_t at = need < 15 ? next_page_line(p, from, false) : next_free_byte(p, from);
        if (at == PTC_PAGE_LINES)
            return false;
        while (at > from && !(p->lines[(at - 1) / 64] >> (at - 1) % 64 & 1))
            at--;
        *first = at;
        *last = next_page_line(p, at, true);
        if (*last - at >= need)
            return true;
    }
    return false;
}

/* Takes free lines out of a recycled page. */
static bool take_page_lines(PtcHeap *heap, PtcPage *p, size_t first, size_t last)
{
    if (!charge_heap(heap, (last - first) * PTC_LINE_BYTES))
        return false;
    use_lines(p, first, last);
    PTC_UNPOISON((char *)p + first * PTC_LINE_BYTES, (last - first) * PTC_LINE_BYTES);
    return true;
}

static bool use_hole(PtcHeap *heap, PtcPage *p, size_t first, size_t last)
{
    if (!take_page_lines(heap, p, first, last))
        return false;
    heap->hole_page = p;
    heap->cur = (char *)p + first * PTC_LINE_BYTES;
    heap->end = (char *)p + last * PTC_LINE_BYTES;
    return true;
}

/* Finds the next hole for a larger object.  Sizes of one class share a position in the pages, so that every page is
 * searched only a few times in all, and a large object does not hide holes from smaller ones. */
static bool over_hole(PtcHeap *heap, size_t size)
{
    size_t class = size <= 128 ? 0 : size <= 512 ? 1 : size <= 2048 ? 2 : 3, first, last;
    PtcPage *p;
    while ((p = heap->over_reuse[class].page) != NULL) {
        if (p->recycled && find_hole(p, heap->over_reuse[class].line, size, &first, &last)) {
            if (!take_page_lines(heap, p, first, last))
                return false;
            heap->over_reuse[class].line = last;
            heap->over = (char *)p + first * PTC_LINE_BYTES;
            heap->over_end = (char *)p + last * PTC_LINE_BYTES;
            return true;
        }
        heap->over_reuse[class].page = p->next;
        heap->over_reuse[class].line = FIRST_LINE;
    }
    return false;
}

/* For larger objects that do not fit the current hole: from one that is wide enough or a fresh page, so that small
 * holes are not wasted. */
static void *alloc_over(PtcHeap *heap, size_t size)
{
    if (size > (size_t)(heap->over_end - heap->over) && !over_hole(heap, size)) {
        size_t room = PAGE_ROOM;
        if (!charge_heap(heap, room))
            return NULL;
        PtcPage *p = new_page(heap);
        if (!p) {
            heap->used -= room;
            return NULL;
        }
        heap->over = (char *)p + PTC_PAGE_FIRST;
        heap->over_end = (char *)p + PTC_PAGE_BYTES;
    }
    void *p = heap->over;
    heap->over += size;
    return p;
}

/* Points the cursor at the next hole for `size` bytes: in the rest of this page, recycled pages, or a new page. */
static bool next_hole(PtcHeap *heap, size_t size)
{
    size_t first, last;
    PtcPage *p = heap->hole_page;
    if (p && p->recycled) {
        size_t at = (size_t)(heap->end - (char *)p) / PTC_LINE_BYTES;
        if (find_hole(p, at, size, &first, &last))
            return use_hole(heap, p, first, last);
    }
    while ((p = heap->reuse) != NULL) {
        if (p->recycled && find_hole(p, FIRST_LINE, size, &first, &last)) {
            if (!use_hole(heap, p, first, last))
                return false;
            heap->reuse = p->next;
            return true;
        }
        heap->reuse = p->next;
    }
    size_t room = PAGE_ROOM;
    if (!charge_heap(heap, room))
        return false;
    p = new_page(heap);
    if (!p) {
        heap->used -= room;
        return false;
    }
    heap->hole_page = p;
    heap->cur = (char *)p + PTC_PAGE_FIRST;
    heap->end = (char *)p + PTC_PAGE_BYTES;
    return true;
}

void *ptc_heap_refill(PtcHeap *heap, size_t size)
{
    if (size > PTC_LARGE_BYTES)
        return alloc_large(heap, size);
    if (size > HEAP_SMALL_BYTES && (heap->reuse || heap->end - heap->cur >= HEAP_SMALL_BYTES))
        return alloc_over(heap, size);
    if (!next_hole(heap, size))
        return NULL;
    void *p = heap->cur;
    heap->cur += size;
    return p;
}

/* ---------------------------------------------------------------- collection */

/* The word with the mark of a page's only object. */
static uint64_t *large_mark(PtcPage *p)
{
    return &p->marks[p->chunk ? PTC_PAGE_FIRST / 8 / 64 : 0];
}

void ptc_heap_mark_begin(PtcHeap *heap)
{
    for (PtcPage *p = heap->pages; p; p = p->next) {
        memset(p->lines, 0, sizeof p->lines);
        memset(p->marks, 0, sizeof p->marks);
        p->rescan = false;
    }
    for (PtcPage *p = heap->large; p; p = p->next)
        *large_mark(p) = 0;
    memset(heap->lookups, 0, sizeof heap->lookups);
    memset(heap->transitions, 0, sizeof heap->transitions);
    heap->empty_shape = PTC_NONE;
    heap->live = heap->tool_live = 0;
    heap->mark_count = 0;
    heap->mark_overflow = false;
    if (heap->cells)
        ptc_cells_mark(heap);
}

/* Sets the mark of an object; false if it was set already. */
static bool set_mark(PtcPage *page, PtcValue v)
{
    size_t slot = page->chunk ? (size_t)(v & (PTC_PAGE_BYTES - 1)) / 8 : 0;
    uint64_t bit = (uint64_t)1 << (slot & 63);
    if (page->marks[slot / 64] & bit)
        return false;
    page->marks[slot / 64] |= bit;
    return true;
}

static void add_live(PtcHeap *heap, PtcValue v, size_t size)
{
    heap->live += size;
    if (PTC_UNLIKELY(ptc_obj(v)->flags & PTC_FROM_TOOL))
        heap->tool_live += size;
}

static void mark_lines(PtcHeap *heap, PtcPage *page, PtcValue v, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    add_live(heap, v, size);
    if (!page->chunk)
        return;
    size_t at = (size_t)(v & (PTC_PAGE_BYTES - 1));
    use_lines(page, at / PTC_LINE_BYTES, (at + size - 1) / PTC_LINE_BYTES + 1);
}

static bool grow_mark_stack(PtcHeap *heap)
{
    size_t need = heap->mark_cap ? heap->mark_cap + 1 : MARK_STACK_FIRST;
    return need <= MARK_STACK_MAX &&
           PTC_GROW(heap->pool->mem, &heap->mark_stack, &heap->mark_cap, need);
}

/* Marks an object of this heap and queues it to be followed. */
static void visit(PtcHeap *heap, PtcValue v)
{
    if (!ptc_is_obj(v))
        return;
    PtcPage *page = ptc_page_of(v);
    if (page->heap != heap || !set_mark(page, v))
        return;
    if (heap->mark_count == heap->mark_cap && !grow_mark_stack(heap)) {
        page->rescan = heap->mark_overflow = true;
        return;
    }
    heap->mark_stack[heap->mark_count++] = v;
}

static void mark_children(PtcHeap *heap, PtcValue v)
{
    PtcLayout at = ptc_object_layout(ptc_obj(v));
    mark_lines(heap, ptc_page_of(v), v, at.size);
    for (size_t i = 0; i < at.value_count; i++)
        visit(heap, at.values[i]);
}

static void drain_mark_stack(PtcHeap *heap)
{
    while (heap->mark_count)
        mark_children(heap, heap->mark_stack[--heap->mark_count]);
}

/* Calls `fn` for every marked object of a page. */
static void each_marked(PtcHeap *heap, PtcPage *page, void (*fn)(PtcHeap *, PtcValue))
{
    if (!page->chunk) {
        if (page->marks[0])
            fn(heap, ptc_from_obj((char *)page + PTC_PAGE_FIRST));
        return;
    }
    for (size_t word = 0; word < sizeof page->marks / sizeof page->marks[0]; word++)
        for (uint64_t bits = page->marks[word]; bits; bits &= bits - 1) {
            size_t slot = word * 64 + (size_t)__builtin_ctzll(bits);
            fn(heap, ptc_from_obj((char *)page + slot * 8));
        }
}

static void follow_again(PtcHeap *heap, PtcValue v)
{
    mark_children(heap, v);
    drain_mark_stack(heap);
}

static void count_live(PtcHeap *heap, PtcValue v)
{
    add_live(heap, v, (ptc_object_layout(ptc_obj(v)).size + 7) & ~(size_t)7);
}

static bool rescan_list(PtcHeap *heap, PtcPage *list)
{
    bool any = false;
    for (PtcPage *p = list; p; p = p->next) {
        if (p->rescan) {
            any = true;
            p->rescan = false;
            each_marked(heap, p, follow_again);
        }
    }
    return any;
}

void ptc_heap_mark(PtcHeap *heap, PtcValue root)
{
    visit(heap, root);
    drain_mark_stack(heap);
}

/* A full mark stack left marked objects unfollowed: follows all of their pages again until none is left.  Some
 * objects are then followed twice, so live bytes are counted again. */
static void finish_overflow(PtcHeap *heap)
{
    while (heap->mark_overflow) {
        heap->mark_overflow = false;
        bool small = rescan_list(heap, heap->pages);
        bool large = rescan_list(heap, heap->large);
        if (!small && !large)
            break;
    }
    heap->live = heap->tool_live = 0;
    for (PtcPage *p = heap->pages; p; p = p->next)
        each_marked(heap, p, count_live);
    for (PtcPage *p = heap->large; p; p = p->next)
        each_marked(heap, p, count_live);
}

static void poison_holes(PtcPage *p)
{
#ifdef PTC_HAS_ASAN
    for (size_t first, last = FIRST_LINE;
         (first = next_page_line(p, last, false)) < PTC_PAGE_LINES;) {
        last = next_page_line(p, first, true);
        PTC_POISON((char *)p + first * PTC_LINE_BYTES, (last - first) * PTC_LINE_BYTES);
    }
#else
    (void)p;
#endif
}

/* Frees pages without a mark; the others become recycled. */
static PtcPage *sweep_pages(PtcHeap *heap)
{
    PtcPage *dead = NULL;
    for (PtcPage **at = &heap->pages; *at;) {
        PtcPage *p = *at;
        if (next_page_line(p, 0, true) == PTC_PAGE_LINES) {
            *at = p->next;
            p->next = dead;
            dead = p;
            heap->page_bytes -= PTC_PAGE_BYTES;
        } else {
            use_lines(p, 0, FIRST_LINE);
            p->recycled = true;
            poison_holes(p);
            at = &p->next;
        }
    }
    return dead;
}

static void sweep_large(PtcHeap *heap)
{
    for (PtcPage **at = &heap->large; *at;) {
        PtcPage *p = *at;
        if (*large_mark(p)) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        p->next = NULL;
        free_large(heap, p);
    }
}

/* What is gone no longer counts, in the account either. */
static void settle_raised_bytes(PtcHeap *heap)
{
    size_t fallen = heap->raised > heap->tool_live ? heap->raised - heap->tool_live : 0;
    PtcAccount *a = heap->account;
    heap->raised -= fallen;
    if (!a)
        return;
    atomic_fetch_sub_explicit(&a->raised, fallen, memory_order_relaxed);
    ptc_account_settle(heap);
    heap->answered = atomic_load_explicit(&a->asked, memory_order_relaxed);
}

void ptc_heap_mark_finish(PtcHeap *heap)
{
    if (heap->mark_overflow)
        finish_overflow(heap);
    ptc_pool_give(heap->pool, sweep_pages(heap));
    sweep_large(heap);
    heap->used = heap->live;
    heap->reuse = heap->pages;
    for (size_t i = 0; i < PTC_OVER_CLASSES; i++) {
        heap->over_reuse[i].page = heap->pages;
        heap->over_reuse[i].line = FIRST_LINE;
    }
    heap->hole_page = NULL;
    heap->cur = heap->end = heap->over = heap->over_end = NULL;
    settle_raised_bytes(heap);
    heap->collect_at = ptc_account_threshold(heap);
    heap->budget->wake = false;
}

static void adopt_list(PtcHeap *heap, PtcPage **mine, PtcPage *theirs)
{
    while (theirs) {
        PtcPage *p = theirs;
        theirs = p->next;
        p->heap = heap;
        p->next = *mine;
        *mine = p;
    }
}

void ptc_heap_take_raised(PtcHeap *heap, PtcHeap *from)
{
    size_t most = heap->tool_bytes > heap->raised ? heap->tool_bytes - heap->raised : 0;
    heap->raised += from->raised < most ? from->raised : most;
    if (from->account && !heap->account)
        atomic_fetch_sub_explicit(&from->account->raised, from->raised, memory_order_relaxed);
    from->raised = 0;
}

void ptc_heap_adopt(PtcHeap *heap, PtcHeap *from)
{
    ptc_heap_take_raised(heap, from);
    adopt_list(heap, &heap->pages, from->pages);
    adopt_list(heap, &heap->large, from->large);
    heap->page_bytes += from->page_bytes;
    heap->used += from->used;
    if (heap->account && heap->account == from->account) {
        heap->used_grant += from->used_grant;
        heap->held_grant += from->held_grant;
        from->used_grant = from->held_grant = 0;
    }
    if (heap->used > heap->collect_at)
        heap->budget->wake = true;
    from->pages = from->large = NULL;
    ptc_heap_deinit(from);
    /* No cursor may point into pages that were given away. */
    ptc_heap_init(from, from->pool, from->budget, from->limit);
}

/* -------------------------------------------------------------------- results of tools */

void ptc_heap_tool_begin(PtcHeap *heap)
{
    heap->in_tool = true;
    heap->tool_from = heap->used;
}

/* Queues an object of this heap for note_result. */
static void note_object(PtcHeap *heap, PtcValue v)
{
    if (!ptc_is_obj(v) || !ptc_heap_owns(heap, v) || (ptc_obj(v)->flags & PTC_FROM_TOOL))
        return;
    ptc_obj(v)->flags |= PTC_FROM_TOOL;
    if (heap->mark_count < heap->mark_cap || grow_mark_stack(heap))
        heap->mark_stack[heap->mark_count++] = v;
}

/* Marks everything that came with a result.  What there is no room to follow counts as the program's own. */
static void note_result(PtcHeap *heap, PtcValue result)
{
    heap->mark_count = 0;
    note_object(heap, result);
    while (heap->mark_count > 0 && ptc_tick(heap->budget, 1)) {
        PtcLayout at = ptc_object_layout(ptc_obj(heap->mark_stack[--heap->mark_count]));
        for (size_t i = 0; i < at.value_count; i++)
            note_object(heap, at.values[i]);
    }
    heap->mark_count = 0;
}

/* The result took memory: it raises the limit, and is marked so that it gives that back when it is collected. */
static PTC_NOINLINE void raise_by(PtcHeap *heap, PtcValue result, size_t grown)
{
    size_t left = heap->tool_bytes > heap->raised ? heap->tool_bytes - heap->raised : 0;
    size_t n = heap->account ? ptc_account_raised(heap, grown) : grown < left ? grown : left;
    heap->raised += n;
    if (result != PTC_NONE && n > 0)
        note_result(heap, result);
}

void ptc_heap_tool_end(PtcHeap *heap, PtcValue result)
{
    size_t grown = heap->used > heap->tool_from ? heap->used - heap->tool_from : 0;
    if (grown > 0 || heap->raising > 0)
        raise_by(heap, result, grown);
    heap->in_tool = false;
}
