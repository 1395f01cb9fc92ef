/* SPDX-License-Identifier: MIT
 * Subschemas applied to the same place: references, allOf, anyOf, oneOf, not, if.
 *
 * Marks: a subschema that must hold anyway may write into the marks of the schema around it, since those are
 * discarded if it does not hold.  An alternative gets separate marks, which are merged if it fits. */
#include "tool/schema/schema_run.h"

#include <string.h>

typedef PtcSchemaRun Run;
typedef PtcSchemaFrame Frame;
typedef PtcSchemaNode Node;

/* ----------------------------------------------------------------- references */

/* The outermost resource in the dynamic scope that has the anchor decides. */
static const Node *dynamic_target(Run *run, const Frame *f)
{
    const PtcSchemaLogic *logic = f->node->logic;
    PtcText name = logic->dynamic_name;
    const Node *target = logic->dynamic;
    if (!name.bytes)
        return target;
    const PtcSchemaResource *last = NULL;
    for (; f; f = f->up) {
        const PtcSchemaResource *r = f->node->resource;
        if (r == last || !r)
            continue;
        last = r;
        for (const PtcSchemaAnchor *a = r->anchors; a; a = a->next) {
            if (!ptc_tick(run->work.budget, 1))
                return target;
            if (a->dynamic && a->name.len == name.len &&
                memcmp(a->name.bytes, name.bytes, name.len) == 0)
                target = a->node;
        }
    }
    return target;
}

/* Every cycle goes through a reference, so it is enough to check here. */
static bool follow_reference(Run *run, const Frame *f, const Node *target, PtcValue v,
                             PtcSchemaBits *marks)
{
    for (const Frame *g = f; g && g->place == f->place; g = g->up)
        if (g->node == target)
            return ptc_schema_give_up(run, f->place,
                                      "the schema refers to itself here without end");
    return ptc_schema_apply(run, target, v, f->place, f, marks);
}

/* --------------------------------------------------------------- alternatives */

/* Applies an alternative; what it evaluated only counts if it fits. */
static bool try(Run *run, const Frame *f, const Node *node, PtcValue v, PtcSchemaBits *marks)
{
    PtcSchemaBits own;
    if (!marks)
        return ptc_schema_apply(run, node, v, f->place, f, NULL);
    bool ok = ptc_schema_bits_init(run, &own, ptc_schema_count(v)) &&
              ptc_schema_apply(run, node, v, f->place, f, &own);
    if (ok)
        ptc_schema_bits_merge(run, marks, &own);
    if (own.words)
        ptc_schema_bits_deinit(run, &own);
    return ok;
}

static bool try_quietly(Run *run, const Frame *f, const Node *node, PtcValue v,
                        PtcSchemaBits *marks)
{
    run->mute++;
    bool ok = try(run, f, node, v, marks);
    run->mute--;
    return ok;
}

/* Issues of the alternative that was most likely meant, kept at the end of the list. */
typedef struct {
    size_t first, count; /* where its issues are */
    int rank;            /* -1: none yet */
    bool tie;            /* another one was equally likely */
    uint32_t types;      /* all types that the alternatives accept; 0: one of them accepts any */
    bool open;
} Best;

static int rank_of_issues(const PtcSchemaIssues *issues, size_t from, size_t depth)
{
    int rank = PTC_SCHEMA_ALMOST;
    for (size_t i = from; i < issues->count; i++) {
        const PtcSchemaIssue *issue = &issues->items[i];
        bool here = issue->depth == depth;
        bool near = here || (issue->depth == depth + 1 && issue->rank == PTC_SCHEMA_OTHER_VALUE);
        if (near && issue->rank < rank)
            rank = issue->rank;
    }
    return rank;
}

static size_t place_depth(const PtcSchemaPlace *place)
{
    size_t n = 0;
    for (; place && place->up; place = place->up)
        n++;
    return n;
}

/* After an alternative did not fit: its issues, starting at `from`, are kept if it is the best so far. */
static void keep_best(Run *run, Best *best, size_t from, size_t depth)
{
    PtcSchemaIssues *issues = run->issues;
    size_t count = issues->count - from;
    int rank = rank_of_issues(issues, from, depth);
    best->tie = best->tie && rank <= best->rank;
    if (rank == best->rank)
        best->tie = true;
    if (rank > best->rank) {
        memmove(&issues->items[best->first], &issues->items[from], count * sizeof issues->items[0]);
        best->count = count;
        best->rank = rank;
    }
    issues->count = best->first + best->count;
}

/* None fits: reports the issues of the one that was meant, if that is clear, or one issue for all of them. */
static bool blame_best_branch(Run *run, const Frame *f, PtcValue v, const char *keyword, size_t n,
                              Best *best)
{
    char names[80];
    if (run->issues && !run->mute && !run->broken) {
        if (best->rank == PTC_SCHEMA_ALMOST && !best->tie && best->count > 0)
            return false;
        run->issues->count = best->first;
    }
    if (!best->open && best->rank == PTC_SCHEMA_OTHER_TYPE) {
        ptc_schema_type_names(best->types, names, sizeof names);
        return ptc_schema_complain(run, f->place, PTC_SCHEMA_OTHER_TYPE, v, "expected %s", names);
    }
    return ptc_schema_complain(run, f->place, best->rank < 0 ? PTC_SCHEMA_ALMOST : best->rank, v,
                               "expected one of the %zu forms of \"%s\"", n, keyword);
}

/* Tries alternative i and keeps its issues if it is the best so far. */
static bool try_next(Run *run, const Frame *f, const Node *node, PtcValue v, PtcSchemaBits *marks,
                     Best *best)
{
    if (!ptc_schema_collects(run))
        return try_quietly(run, f, node, v, marks);
    size_t from = run->issues->count;
    bool ok = try(run, f, node, v, marks);
    best->types |= node->types;
    best->open = best->open || !node->types;
    if (run->broken)
        return false;
    if (ok)
        run->issues->count = best->first + best->count;
    else
        keep_best(run, best, from, place_depth(f->place));
    return ok;
}

static Best no_best(const Run *run)
{
    return (Best){.first = run->issues ? run->issues->count : 0, .rank = -1};
}

/* One fits: there is nothing to report about the others. */
static void forget_branch_issues(Run *run, const Best *best)
{
    if (run->issues && !run->mute)
        run->issues->count = best->first;
}

static bool check_any(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *marks)
{
    const PtcSchemaList *list = &f->node->logic->any;
    Best best = no_best(run);
    bool ok = list->count == 0;
    for (size_t i = 0; i < list->count && !run->broken && (marks || !ok); i++)
        ok = try_next(run, f, list->nodes[i], v, marks, &best) || ok;
    if (run->broken)
        return false;
    if (!ok)
        return blame_best_branch(run, f, v, "anyOf", list->count, &best);
    forget_branch_issues(run, &best);
    return true;
}

static bool check_one_of(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *marks)
{
    const PtcSchemaList *list = &f->node->logic->one;
    Best best = no_best(run);
    size_t fits = 0, first = 0, second = 0;
    for (size_t i = 0; i < list->count && !run->broken && fits < 2; i++)
        if (try_next(run, f, list->nodes[i], v, marks, &best)) {
            *(fits ? &second : &first) = i;
            fits++;
        }
    if (run->broken || (list->count && fits == 0))
        return !run->broken && blame_best_branch(run, f, v, "oneOf", list->count, &best);
    forget_branch_issues(run, &best);
    if (fits < 2)
        return true;
    return ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, v,
                               "expected exactly one form of \"oneOf\" to fit, but numbers %zu and "
                               "%zu both do",
                               first, second);
}

/* ----------------------------------------------------------------- conditions */

static bool check_all_of(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *marks)
{
    const PtcSchemaList *list = &f->node->logic->all;
    bool ok = true;
    for (size_t i = 0; i < list->count && (ok || ptc_schema_collects(run)); i++)
        ok = ptc_schema_apply(run, list->nodes[i], v, f->place, f, marks) && ok;
    return ok;
}

static bool check_not(Run *run, const Frame *f, PtcValue v)
{
    const Node *node = f->node->logic->not ;
    if (!node || !try_quietly(run, f, node, v, NULL))
        return !run->broken;
    return ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, v,
                               "expected a value that does not fit \"not\"");
}

static bool check_if(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *marks)
{
    const PtcSchemaLogic *logic = f->node->logic;
    if (!logic->when || (!logic->then && !logic->otherwise && !marks))
        return true;
    const Node *next = try_quietly(run, f, logic->when, v, marks) ? logic->then : logic->otherwise;
    if (run->broken)
        return false;
    return !next || ptc_schema_apply(run, next, v, f->place, f, marks);
}

static bool check_refs(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *marks)
{
    const PtcSchemaLogic *logic = f->node->logic;
    bool ok = !logic->ref || follow_reference(run, f, logic->ref, v, marks);
    if (logic->dynamic && (ok || ptc_schema_collects(run)))
        ok = follow_reference(run, f, dynamic_target(run, f), v, marks) && ok;
    return ok;
}

bool ptc_schema_check_logic(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *marks)
{
    bool ok = check_refs(run, f, v, marks);
    if (ok || ptc_schema_collects(run))
        ok = check_all_of(run, f, v, marks) && ok;
    if (ok || ptc_schema_collects(run))
        ok = check_any(run, f, v, marks) && ok;
    if (ok || ptc_schema_collects(run))
        ok = check_one_of(run, f, v, marks) && ok;
    if (ok || ptc_schema_collects(run))
        ok = check_not(run, f, v) && ok;
    if (ok || ptc_schema_collects(run))
        ok = check_if(run, f, v, marks) && ok;
    return ok;
}
