/* SPDX-License-Identifier: MIT
 * apropos: builtins, tools and data that fit some words, best first.  Scores of all are known before the first is
 * given, so that :offset goes through the same order again. */
#include "lisp/lib/agent/discover_int.h"

#include <stdio.h>

#include "lisp/analyze/left_out.h"
#include "lisp/lazy/seq_int.h"
#include "lisp/lib/agent/servers.h"
#include "lisp/lib/builtin_doc.h"
#include "lisp/vm/vm_int.h"

/* What a search has found: rows in their order, and a score for each tool and data. */
typedef struct {
    PtcVM *vm;
    PtcRows rows;
    int row_scores[PTC_ROWS_MAX];
    size_t next_row;
    int *scores; /* of things, 0 when it does not fit or was given already */
    size_t things;
    PtcText left;     /* the query, for names that are left out; empty: all is asked for */
    size_t next_left; /* they come last */
} Search;

static bool score_things(Search *s, const char *query, size_t len, bool all)
{
    PtcHostThing thing;
    PtcHostThings each = ptc_host_things_of(s->vm, true, true);
    for (size_t i = 0; i < s->things && ptc_host_things_next(&each, &thing); i++) {
        s->scores[i] = all ? 1 : ptc_host_thing_score(s->vm, &thing, query, len);
        if (!ptc_tick(&s->vm->budget, 50))
            return false;
    }
    return true;
}

static bool give_thing(Search *s, PtcValue list, size_t number)
{
    PtcHostThing thing;
    PtcHostThings each = ptc_host_things_of(s->vm, true, true);
    if (list == PTC_NONE)
        return true;
    for (size_t i = 0; i <= number; i++)
        if (!ptc_host_things_next(&each, &thing))
            return true;
    const char *start = thing.kind == PTC_HOST_TOOL ? "tool: " : "data: ";
    return ptc_disc_add_thing(s->vm, list, start, &thing, true);
}

static bool give_row(Search *s, PtcValue list, uint32_t row)
{
    char ref[PTC_ROW_NAME];
    ptc_row_ref(row, ref);
    return list == PTC_NONE ||
           ptc_disc_add_line(s->vm, list, "local: ", ref, ptc_builtin_row(row)->doc, 3000);
}

static bool give_left_line(Search *s, PtcValue list, PtcText name, const PtcLeftOut *row)
{
    char ref[PTC_ROW_NAME], why[PTC_HINT_MAX];
    snprintf(ref, sizeof ref, "%.*s", PTC_ARG(name));
    snprintf(why, sizeof why, "%s. %s", row->kind, row->hint);
    return list == PTC_NONE || ptc_disc_add_line(s->vm, list, "left out: ", ref, why, 3000);
}

/* The next name of Clojure that is left out and has the query in it. */
static bool give_left(Search *s, PtcValue list, bool *more)
{
    PtcLeftOut row;
    PtcText name;
    do
        *more = ptc_left_out_search(s->left, s->next_left++, &name, &row);
    while (*more && ptc_text_same(name, s->left)); /* that one came first */
    return ptc_tick(&s->vm->budget, 500) && (!*more || give_left_line(s, list, name, &row));
}

/* The next best, into a list or (PTC_NONE) nowhere; *more is false when there is none.  Of equals, what the host
 * gave. */
static bool give_best(Search *s, PtcValue list, bool *more)
{
    size_t best = 0;
    for (size_t i = 1; i < s->things; i++)
        if (s->scores[i] > s->scores[best])
            best = i;
    int thing = s->things ? s->scores[best] : 0;
    int row = s->next_row < s->rows.count ? s->row_scores[s->rows.at[s->next_row]] : 0;
    *more = thing > 0 || row > 0;
    if (!ptc_tick(&s->vm->budget, 1 + (int64_t)s->things / 8))
        return false;
    if (thing > 0 && thing >= row) {
        s->scores[best] = 0;
        return give_thing(s, list, best);
    }
    return row > 0 ? give_row(s, list, s->rows.at[s->next_row++]) : give_left(s, list, more);
}

/* Tools of servers come first: *offset and *limit are left for the rest. */
static bool give_servers(Search *s, PtcValue list, PtcText query, bool load, int64_t *offset,
                         int64_t *limit)
{
    PtcValue lines = PTC_NIL;
    int64_t most = *offset > 200 - *limit ? 200 : *offset + *limit;
    PtcServerQuestion q = {
        .op = "apropos", .query = query, .limit = most, .offset = -1, .load = load};
    if (!s->vm->servers)
        return true;
    if (!ptc_servers_look(s->vm, &q, &lines))
        return false;
    int64_t n = ptc_is_sequential(lines) ? (int64_t)ptc_seq_count(lines) : 0;
    int64_t first = *offset < n ? *offset : n;
    for (int64_t i = first; i<n && * limit> 0; i++, --*limit)
        if (!ptc_tick(&s->vm->budget, 1) ||
            !ptc_build_add(s->vm->heap, list, ptc_seq_nth(lines, (size_t)i)))
            return false;
    *offset -= first;
    return true;
}

static bool search_names(Search *s, const char *query, size_t len, bool load, int64_t offset,
                         int64_t limit, PtcValue *out)
{
    PtcLeftOut row;
    bool all = ptc_text_is_blank((PtcText){query, len}), more = true;
    PtcValue list = ptc_build_new(s->vm->heap);
    if (list == PTC_NONE || !ptc_tick(&s->vm->budget, 20000))
        return false;
    s->rows.count = 0;
    s->left = all ? (PtcText){"", 0} : (PtcText){query, len};
    if (!all)
        ptc_rows_apropos(&s->rows, query, len, s->row_scores);
    if (!score_things(s, query, len, all) ||
        !give_servers(s, list, (PtcText){query, len}, load, &offset, &limit))
        return false;
    if (ptc_left_out_find(s->left, &row)) {
        if (offset == 0 && !give_left_line(s, list, s->left, &row))
            return false;
        limit -= offset == 0;
        offset -= offset > 0;
    }
    for (; offset > 0 && more; offset--)
        if (!give_best(s, PTC_NONE, &more))
            return false;
    for (; limit > 0 && more; limit--)
        if (!give_best(s, list, &more))
            return false;
    return ptc_give(out, ptc_build_done(s->vm->heap, list, PTC_SEQ));
}

PTC_BUILTIN(
    disc_apropos, "clojure.core", "apropos", 1, 2, 0,
    "(apropos text {:limit n :offset n :load false}?)",
    "Searches names and descriptions of functions, tools and data for words; the best 8 (or "
    ":limit up to 200) as lines. An empty text finds all tools and data. Tools of servers come "
    "first; with :load true also of those that were never listed.",
    "(starts-with? (first (apropos \"group-by\")) \"local: group-by - \") => true\n"
    "(count (apropos \"string\" {:limit 3})) => 3\n"
    "(apropos \"zzzz\") => []\n(apropos \"\") => []\n(apropos 5) !! type_error")
{
    Search s = {.vm = vm};
    const char *query;
    size_t len;
    int64_t limit = 8, offset = 0;
    if (!ptc_arg_string(vm, argv, 0, &query, &len) || !ptc_disc_arg_options(vm, argc, argv, 1))
        return false;
    len = len < PTC_QUERY_BYTES ? len : PTC_QUERY_BYTES;
    if (ptc_text_is_blank((PtcText){query, len}))
        limit = 50;
    if (argc > 1 && (!ptc_disc_int_option(vm, argv[1], "limit", 1, 200, &limit) ||
                     !ptc_disc_int_option(vm, argv[1], "offset", 0, PTC_INT_MAX, &offset)))
        return false;
    PtcValue load = PTC_NONE, key = ptc_keyword_new(vm->heap, "load", 4);
    if (key == PTC_NONE)
        return false;
    if (argc > 1)
        load = ptc_map_get_flex(vm->heap, argv[1], key);
    s.things = ptc_host_things_count(vm, true, true);
    size_t bytes = (s.things + 1) * sizeof *s.scores;
    s.scores = ptc_vm_scratch(vm, bytes);
    if (s.scores)
        memset(s.scores, 0, bytes);
    bool ok = s.scores && search_names(&s, query, len, load != PTC_NONE && ptc_truthy(load), offset,
                                       limit, out);
    ptc_heap_scratch_free(vm->heap, s.scores, bytes);
    return ok;
}

PTC_BUILTIN_TABLE(ptc_lib_discover_search, disc_apropos);
