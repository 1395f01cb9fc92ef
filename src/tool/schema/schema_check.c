/* SPDX-License-Identifier: MIT
 * Applies a compiled schema to a value.  Every check answers whether the value is valid; issues are recorded on the
 * way as long as they are wanted.  Once the run is broken all answers are false and none of them counts.
 *
 * Depth is bounded by PTC_SCHEMA_MAX_DEPTH; frames are kept small. */
#include "tool/schema/schema_run.h"

#include <string.h>

#include "base/utf8.h"
#include "value/coll/iter.h"
#include "value/regex/regex.h"
#include "value/str.h"

typedef PtcSchemaRun Run;
typedef PtcSchemaFrame Frame;
typedef PtcSchemaNode Node;

/* ----------------------------------------------------------------------- bits */

/* Stops the budget.  Always false. */
static bool stop_schema_run(Run *run)
{
    run->broken = true;
    return false;
}

bool ptc_schema_bits_init(Run *run, PtcSchemaBits *bits, size_t n)
{
    enum { FEW = sizeof bits->few / sizeof bits->few[0] };
    bits->count = (n + 63) / 64;
    bits->words = bits->few;
    if (bits->count > FEW)
        bits->words = ptc_mem_alloc(run->work.mem, bits->count * sizeof *bits->words);
    if (!bits->words) {
        ptc_budget_halt(run->work.budget, PTC_STOP_MEMORY);
        return stop_schema_run(run);
    }
    memset(bits->words, 0, bits->count * sizeof *bits->words);
    return ptc_tick(run->work.budget, (int64_t)(bits->count / 64)) || stop_schema_run(run);
}

void ptc_schema_bits_deinit(Run *run, PtcSchemaBits *bits)
{
    if (bits->words != bits->few)
        ptc_mem_free(run->work.mem, bits->words, bits->count * sizeof *bits->words);
}

void ptc_schema_bits_merge(Run *run, PtcSchemaBits *into, const PtcSchemaBits *from)
{
    for (size_t i = 0; i < from->count; i++)
        into->words[i] |= from->words[i];
    if (!ptc_tick(run->work.budget, (int64_t)(from->count / 64)))
        stop_schema_run(run);
}

/* -------------------------------------------------------------------- scalars */

static bool check_schema_type(Run *run, const Frame *f, PtcValue v)
{
    char names[80];
    PtcSchemaKind kind = ptc_schema_kind(v);
    if (kind == PTC_SCHEMA_NOT_JSON)
        return ptc_schema_complain(run, f->place, PTC_SCHEMA_OTHER_TYPE, v,
                                   "expected a JSON value");
    if (!f->node->types || (f->node->types >> kind & 1))
        return true;
    ptc_schema_type_names(f->node->types, names, sizeof names);
    return ptc_schema_complain(run, f->place, PTC_SCHEMA_OTHER_TYPE, v, "expected %s", names);
}

static bool check_const(Run *run, const Frame *f, PtcValue v)
{
    char shown[PTC_SCHEMA_SHOWN];
    if (ptc_schema_equal(&run->work, v, f->node->fixed))
        return true;
    return ptc_schema_complain(run, f->place, PTC_SCHEMA_OTHER_VALUE, v, "expected %s",
                               ptc_schema_show(run, f->node->fixed, shown));
}

/* The choices as text, as many as fit. */
static void list_choices(Run *run, PtcValue choices, char *out, size_t size)
{
    char shown[PTC_SCHEMA_SHOWN];
    PtcIter it;
    PtcValue choice;
    size_t len = 0;
    out[0] = 0;
    if (!ptc_iter_init(&it, &run->work.heap, choices))
        return;
    while (ptc_iter_next(&it, &choice)) {
        const char *text = ptc_schema_show(run, choice, shown);
        size_t n = strlen(text);
        bool fits = len + n + 6 < size;
        memcpy(out + len, ", ", len ? 2 : 0);
        len += len ? 2 : 0;
        memcpy(out + len, fits ? text : "...", fits ? n + 1 : 4);
        len += n;
        if (!fits)
            return;
    }
}

static bool check_enum(Run *run, const Frame *f, PtcValue v)
{
    char listed[120];
    PtcIter it;
    PtcValue choice;
    if (!ptc_iter_init(&it, &run->work.heap, f->node->choices))
        return false;
    while (ptc_iter_next(&it, &choice))
        if (!ptc_tick(run->work.budget, 1) || ptc_schema_equal(&run->work, v, choice))
            return true; /* after a stop no answer counts */
    if (!ptc_schema_collects(run) || run->work.budget->stop != PTC_STOP_NONE)
        return false;
    list_choices(run, f->node->choices, listed, sizeof listed);
    return ptc_schema_complain(run, f->place, PTC_SCHEMA_OTHER_VALUE, v, "expected one of %s",
                               listed);
}

static bool obeys(Run *run, int rule, PtcValue v, PtcValue limit)
{
    switch (rule) {
    case PTC_SCHEMA_AT_LEAST: return ptc_schema_compare(v, limit) >= 0;
    case PTC_SCHEMA_AT_MOST: return ptc_schema_compare(v, limit) <= 0;
    case PTC_SCHEMA_MORE_THAN: return ptc_schema_compare(v, limit) > 0;
    case PTC_SCHEMA_LESS_THAN: return ptc_schema_compare(v, limit) < 0;
    default: return ptc_schema_is_multiple(&run->work, v, limit);
    }
}

static bool check_number(Run *run, const Frame *f, PtcValue v)
{
    static const char *const words[PTC_SCHEMA_NUMBER_RULES] = {"at least", "at most", "more than",
                                                               "less than", "a multiple of"};
    char shown[PTC_SCHEMA_SHOWN];
    bool ok = true;
    for (int rule = 0; rule < PTC_SCHEMA_NUMBER_RULES; rule++) {
        PtcValue limit = f->node->number->limits[rule];
        if (limit == PTC_NONE || obeys(run, rule, v, limit))
            continue;
        ok = ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, v, "expected %s %s", words[rule],
                                 ptc_schema_show(run, limit, shown));
    }
    return ok;
}

bool ptc_schema_matches(Run *run, const PtcSchemaPattern *pattern, PtcValue str,
                        const PtcSchemaPlace *place)
{
    PtcMatcher m;
    PtcMatch found = PTC_MATCH_FAILED;
    if (str != PTC_NONE && ptc_matcher_init(&m, &run->work.heap, pattern->regex, str))
        found = ptc_matcher_next(&m);
    const char *why = str == PTC_NONE ? NULL : m.why;
    if (str != PTC_NONE)
        ptc_matcher_deinit(&m);
    if (found == PTC_MATCH_FAILED)
        return why ? ptc_schema_give_up(run, place, why) : stop_schema_run(run);
    return found == PTC_MATCH_FOUND;
}

static bool check_string_length(Run *run, const Frame *f, size_t n)
{
    const PtcSchemaString *rules = f->node->string;
    if (n < rules->min)
        return ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, PTC_NONE,
                                   "expected at least %llu character%s, got %zu",
                                   (unsigned long long)rules->min, rules->min == 1 ? "" : "s", n);
    if (n > rules->max)
        return ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, PTC_NONE,
                                   "expected at most %llu character%s, got %zu",
                                   (unsigned long long)rules->max, rules->max == 1 ? "" : "s", n);
    return true;
}

static bool check_string(Run *run, const Frame *f, PtcValue v)
{
    PtcSchemaKey text;
    char shown[PTC_SCHEMA_LINE];
    const PtcSchemaPattern *pattern = &f->node->string->pattern;
    if (!ptc_schema_text(&run->work, v, &text) ||
        !ptc_tick(run->work.budget, (int64_t)(text.len / 64)))
        return stop_schema_run(run);
    bool ok = check_string_length(run, f, ptc_utf8_count(text.bytes, text.len));
    if (pattern->regex == PTC_NONE || (!ok && !ptc_schema_collects(run)))
        return ok;
    if (ptc_schema_matches(run, pattern, ptc_schema_string(&run->work, v, &text), f->place))
        return ok;
    return ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, v, "expected text that matches %s",
                               ptc_schema_line(shown, pattern->text, 80));
}

/* ----------------------------------------------------------------------- nodes */

/* The rules for the value's own kind. */
static bool check_kind(Run *run, const Frame *f, PtcValue v, PtcSchemaKind kind,
                       PtcSchemaBits *marks)
{
    const Node *node = f->node;
    if (ptc_schema_is_number(kind) && node->number)
        return check_number(run, f, v);
    if (kind == PTC_SCHEMA_STRING && node->string)
        return check_string(run, f, v);
    if (kind == PTC_SCHEMA_ARRAY && node->array)
        return ptc_schema_check_array(run, f, v, marks);
    if (kind == PTC_SCHEMA_OBJECT && node->object)
        return ptc_schema_check_object(run, f, v, marks);
    return true;
}

/* Everything except what depends on the marks. */
static bool check_node_rules(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *marks)
{
    const Node *node = f->node;
    if (!check_schema_type(run, f, v))
        return false;
    bool ok = (node->fixed == PTC_NONE || check_const(run, f, v)) &&
              (node->choices == PTC_NONE || check_enum(run, f, v));
    if (ok || ptc_schema_collects(run))
        ok = check_kind(run, f, v, ptc_schema_kind(v), marks) && ok;
    if (node->logic && (ok || ptc_schema_collects(run)))
        ok = ptc_schema_check_logic(run, f, v, marks) && ok;
    return ok && !run->broken;
}

/* Which rule about leftover members or elements applies to this kind of value? */
static const Node *leftover_node(const Node *node, PtcSchemaKind kind)
{
    return kind == PTC_SCHEMA_OBJECT  ? node->unevaluated_properties
           : kind == PTC_SCHEMA_ARRAY ? node->unevaluated_items
                                      : NULL;
}

/* With separate marks, since what was marked around it does not count inside. */
static bool check_leftovers(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *marks)
{
    PtcSchemaBits own;
    size_t n = ptc_schema_count(v);
    bool ok = ptc_schema_bits_init(run, &own, n) && check_node_rules(run, f, v, &own);
    if (ok)
        ok = ptc_is_map(v) ? ptc_schema_check_unevaluated_properties(run, f, v, &own)
                           : ptc_schema_check_unevaluated_items(run, f, v, &own);
    for (size_t i = 0; ok && marks && i < n; i++)
        ptc_schema_mark(marks, i);
    if (own.words)
        ptc_schema_bits_deinit(run, &own);
    return ok;
}

static bool check_meta(Run *run, const Frame *f, PtcValue v)
{
    if (ptc_schema_is_schema(run->work.mem, run->work.budget, v))
        return true;
    if (run->work.budget->stop != PTC_STOP_NONE)
        return stop_schema_run(run);
    return ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, v, "expected a JSON Schema");
}

static bool apply_schema_node(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *marks)
{
    switch (f->node->form) {
    case PTC_SCHEMA_ANYTHING: return true;
    case PTC_SCHEMA_NOTHING:
        return ptc_schema_complain(run, f->place, PTC_SCHEMA_OTHER_VALUE, PTC_NONE,
                                   "no value is allowed here");
    case PTC_SCHEMA_META: return check_meta(run, f, v);
    default: break;
    }
    if (leftover_node(f->node, ptc_schema_kind(v)))
        return check_leftovers(run, f, v, marks);
    return check_node_rules(run, f, v, marks);
}

bool ptc_schema_apply(Run *run, const Node *node, PtcValue v, const PtcSchemaPlace *place,
                      const Frame *up, PtcSchemaBits *marks)
{
    Frame f = {up, node, place};
    if (run->broken || !ptc_tick(run->work.budget, 1))
        return stop_schema_run(run);
    if (run->depth >= PTC_SCHEMA_MAX_DEPTH)
        return ptc_schema_give_up(run, place, "schema and value are nested too deep to be checked");
    run->depth++;
    bool ok = apply_schema_node(run, &f, v, marks);
    run->depth--;
    if (run->work.budget->stop != PTC_STOP_NONE)
        return stop_schema_run(run);
    return ok;
}

PtcSchemaVerdict ptc_schema_validate(const PtcSchema *schema, PtcValue value, PtcMem *mem,
                                     PtcBudget *budget, PtcSchemaIssues *issues)
{
    Run run = {.issues = issues};
    PtcSchemaPlace place = {.key = PTC_NONE};
    if (issues)
        issues->count = 0;
    ptc_schema_work_init(&run.work, mem, budget);
    bool ok = ptc_schema_apply(&run, schema->root, value, &place, NULL, NULL);
    ptc_schema_work_deinit(&run.work);
    if (issues)
        issues->more = run.hopeless || issues->count == PTC_SCHEMA_MAX_ISSUES;
    if (budget->stop != PTC_STOP_NONE)
        return PTC_SCHEMA_STOPPED;
    return ok ? PTC_SCHEMA_VALID : PTC_SCHEMA_INVALID;
}
