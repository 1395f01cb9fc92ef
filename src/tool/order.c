/* SPDX-License-Identifier: MIT
 * Heapsort, because its worst case is no worse than the usual one, whoever chose the keys. */
#include "tool/order.h"

#include <string.h>

typedef struct {
    PtcBudget *budget;
    char *items;
    size_t size;
} Sort;

int ptc_order_compare(const PtcText *a, const PtcText *b)
{
    size_t n = a->len < b->len ? a->len : b->len;
    int order = n ? memcmp(a->bytes, b->bytes, n) : 0;
    if (order)
        return order;
    return a->len < b->len ? -1 : a->len > b->len;
}

static char *order_item_at(const Sort *s, size_t i)
{
    return s->items + i * s->size;
}

static bool is_before(const Sort *s, size_t i, size_t k)
{
    return ptc_order_compare((const PtcText *)(const void *)order_item_at(s, i),
                             (const PtcText *)(const void *)order_item_at(s, k)) < 0;
}

static void swap_order_items(const Sort *s, size_t i, size_t k)
{
    char spare[PTC_ORDER_ITEM_MAX];
    memcpy(spare, order_item_at(s, i), s->size);
    memcpy(order_item_at(s, i), order_item_at(s, k), s->size);
    memcpy(order_item_at(s, k), spare, s->size);
}

/* Lets item i sink until neither item below it (2i+1 and 2i+2 of the first n) belongs after it. */
static bool sink(const Sort *s, size_t i, size_t n)
{
    for (size_t below; (below = 2 * i + 1) < n; i = below) {
        if (s->budget && !ptc_tick(s->budget, 2))
            return false;
        if (below + 1 < n && is_before(s, below, below + 1))
            below++;
        if (!is_before(s, i, below))
            break;
        swap_order_items(s, i, below);
    }
    return true;
}

bool ptc_order_sort(PtcBudget *budget, void *items, size_t n, size_t size)
{
    Sort s = {budget, items, size};
    bool ok = true;
    for (size_t i = n / 2; ok && i-- > 0;)
        ok = sink(&s, i, n);
    for (size_t last = n; ok && last-- > 1;) {
        swap_order_items(&s, 0, last);
        ok = sink(&s, 0, last);
    }
    return ok;
}
