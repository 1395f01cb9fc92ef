/* SPDX-License-Identifier: MIT
 * Rules for arrays.  What always holds: every element is examined at most once for each rule, and ticks. */
#include "tool/schema/schema_run.h"

#include "value/coll/iter.h"

typedef PtcSchemaRun Run;
typedef PtcSchemaFrame Frame;
typedef PtcSchemaNode Node;

static bool check_item_count(Run *run, const Frame *f, size_t n)
{
    const PtcSchemaArray *rules = f->node->array;
    if (n < rules->min)
        return ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, PTC_NONE,
                                   "expected at least %llu item%s, got %zu",
                                   (unsigned long long)rules->min, rules->min == 1 ? "" : "s", n);
    if (n > rules->max)
        return ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, PTC_NONE,
                                   "expected at most %llu item%s, got %zu",
                                   (unsigned long long)rules->max, rules->max == 1 ? "" : "s", n);
    return true;
}

static bool check_unique(Run *run, const Frame *f, PtcValue v)
{
    size_t first, second;
    if (!f->node->array->unique || !ptc_schema_find_twins(&run->work, v, &first, &second))
        return true;
    return ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, PTC_NONE,
                               "expected items that differ, but items %zu and %zu are equal", first,
                               second);
}

/* The rule for element i, or NULL. */
static const Node *item_node(const PtcSchemaArray *rules, size_t i)
{
    return i < rules->prefix_count ? rules->prefix[i] : rules->items;
}

static bool check_item(Run *run, const Frame *f, PtcValue item, size_t i, PtcSchemaBits *marks)
{
    PtcSchemaPlace place = {.up = f->place, .key = PTC_NONE, .index = i};
    const Node *node = item_node(f->node->array, i);
    if (!node)
        return true;
    ptc_schema_mark(marks, i);
    return ptc_schema_apply(run, node, item, &place, f, NULL);
}

static bool is_contained(Run *run, const Frame *f, PtcValue item, size_t i, PtcSchemaBits *marks)
{
    PtcSchemaPlace place = {.up = f->place, .key = PTC_NONE, .index = i};
    run->mute++;
    bool ok = ptc_schema_apply(run, f->node->array->contains, item, &place, f, NULL);
    run->mute--;
    if (ok)
        ptc_schema_mark(marks, i);
    return ok;
}

static bool check_array_items(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *marks)
{
    PtcIter it;
    PtcValue item;
    bool ok = true;
    const PtcSchemaArray *rules = f->node->array;
    if (!ptc_iter_init(&it, &run->work.heap, v))
        return false;
    for (size_t i = 0; ptc_iter_next(&it, &item); i++) {
        if (!rules->items && i >= rules->prefix_count)
            break;
        ok = check_item(run, f, item, i, marks) && ok;
        if (!ok && !ptc_schema_collects(run))
            return false;
    }
    return ok;
}

static bool check_contains(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *marks)
{
    PtcIter it;
    PtcValue item;
    uint64_t found = 0;
    const PtcSchemaArray *rules = f->node->array;
    if (!rules->contains)
        return true;
    if (!ptc_iter_init(&it, &run->work.heap, v))
        return false;
    for (size_t i = 0; ptc_iter_next(&it, &item) && !run->broken; i++) {
        found += is_contained(run, f, item, i, marks);
        if (!marks && found >= rules->min_contains && rules->max_contains == UINT64_MAX)
            return true;
    }
    if (found >= rules->min_contains && found <= rules->max_contains)
        return true;
    bool few = found < rules->min_contains;
    uint64_t limit = few ? rules->min_contains : rules->max_contains;
    return ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, PTC_NONE,
                               "expected %s %llu item%s that match \"contains\", got %llu",
                               few ? "at least" : "at most", (unsigned long long)limit,
                               limit == 1 ? "" : "s", (unsigned long long)found);
}

bool ptc_schema_check_array(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *marks)
{
    bool ok = check_item_count(run, f, ptc_schema_count(v));
    if (ok || ptc_schema_collects(run))
        ok = check_array_items(run, f, v, marks) && ok;
    if (ok || ptc_schema_collects(run))
        ok = check_contains(run, f, v, marks) && ok;
    if (ok || ptc_schema_collects(run))
        ok = check_unique(run, f, v) && ok;
    return ok;
}

bool ptc_schema_check_unevaluated_items(Run *run, const Frame *f, PtcValue v,
                                        const PtcSchemaBits *marks)
{
    PtcIter it;
    PtcValue item;
    bool ok = true;
    PtcSchemaPlace place = {.up = f->place, .key = PTC_NONE};
    const Node *node = f->node->unevaluated_items;
    if (!ptc_iter_init(&it, &run->work.heap, v))
        return false;
    for (; ptc_iter_next(&it, &item); place.index++) {
        if (ptc_schema_is_marked(marks, place.index))
            continue;
        if (node->form == PTC_SCHEMA_NOTHING)
            ok = ptc_schema_complain(run, &place, PTC_SCHEMA_ALMOST, PTC_NONE,
                                     "no item is allowed here");
        else
            ok = ptc_schema_apply(run, node, item, &place, f, NULL) && ok;
        if (!ok && !ptc_schema_collects(run))
            return false;
    }
    return ok;
}
