/* SPDX-License-Identifier: MIT
 * How many bytes values take.  Objects are marked in a separate map, since the heaps they live in belong to others. */
#include "engine/weigh.h"

#include "engine/snapshot/idmap.h"
#include "value/coll/walk.h"

typedef struct {
    PtcWalk walk;
    PtcIdMap seen;
    size_t bytes, most;
} Scale;

/* Puts an object that was not seen before on the scale.  False: out of memory. */
static bool weigh_if_new(Scale *s, PtcValue v)
{
    bool fresh = false;
    if (!ptc_is_obj(v))
        return true;
    if (!ptc_idmap_at(&s->seen, v, &fresh))
        return false;
    if (!fresh)
        return true;
    s->bytes += ptc_object_layout(ptc_obj(v)).size;
    return ptc_walk_push(&s->walk, v, 0);
}

/* Weighs everything on the walk, until it is too much. */
static bool weigh_reachable(Scale *s)
{
    bool ok = true;
    for (PtcFrame *f; ok && s->bytes <= s->most && (f = ptc_walk_top(&s->walk)) != NULL;) {
        PtcLayout at = ptc_object_layout(ptc_obj(f->a));
        if (f->pos >= at.value_count)
            s->walk.count--;
        else
            ok = weigh_if_new(s, at.values[f->pos++]);
    }
    return ok;
}

bool ptc_weigh(PtcHeap *heap, const PtcValue *values, size_t n, size_t most, size_t *bytes)
{
    Scale s = {.most = most};
    bool ok = true;
    ptc_walk_init(&s.walk, heap);
    ptc_idmap_init(&s.seen, heap->pool->mem);
    for (size_t i = 0; ok && i < n && s.bytes <= most; i++)
        ok = values[i] == PTC_UNBOUND || (weigh_if_new(&s, values[i]) && weigh_reachable(&s));
    ptc_walk_deinit(&s.walk);
    ptc_idmap_deinit(&s.seen);
    *bytes = s.bytes;
    return ok;
}
