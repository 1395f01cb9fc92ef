/* SPDX-License-Identifier: MIT
 * Rules for objects.  Each member is looked up once among the names that the rules mention; which of these were found
 * is what `required` and the dependents use. */
#include "tool/schema/schema_run.h"

#include "base/text/nearest.h"
#include "value/coll/map.h"

typedef PtcSchemaRun Run;
typedef PtcSchemaFrame Frame;
typedef PtcSchemaNode Node;

enum { NEAREST_TICKS = 16 }; /* comparing two words costs more than most steps */

static bool check_member_count(Run *run, const Frame *f, size_t n)
{
    const PtcSchemaObject *rules = f->node->object;
    if (n < rules->min)
        return ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, PTC_NONE,
                                   "expected at least %llu key%s, got %zu",
                                   (unsigned long long)rules->min, rules->min == 1 ? "" : "s", n);
    if (n > rules->max)
        return ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, PTC_NONE,
                                   "expected at most %llu key%s, got %zu",
                                   (unsigned long long)rules->max, rules->max == 1 ? "" : "s", n);
    return true;
}

/* -------------------------------------------------------------------- members */

/* The name that may have been meant, or nothing. */
static const char *show_best(const PtcNearest *nearest, char out[PTC_SCHEMA_LINE])
{
    PtcText best = {nearest->best ? nearest->best : "", nearest->best ? nearest->best_len : 0};
    return ptc_schema_line(out, best, 60);
}

/* A key that no rule allows; suggests the nearest known name. */
static bool refuse_member(Run *run, const Frame *f, const PtcSchemaPlace *place,
                          const PtcSchemaKey *key)
{
    PtcNearest nearest;
    char meant[PTC_SCHEMA_LINE];
    const PtcSchemaObject *rules = f->node->object;
    if (!ptc_schema_collects(run))
        return false;
    ptc_nearest_init(&nearest, key->bytes, key->len);
    for (uint32_t i = 0; rules && i < rules->name_count; i++)
        if (rules->names[i].property && ptc_tick(run->work.budget, NEAREST_TICKS))
            ptc_nearest_offer(&nearest, rules->names[i].text.bytes, rules->names[i].text.len);
    return ptc_schema_complain(run, place, PTC_SCHEMA_ALMOST, PTC_NONE,
                               "this key is not allowed%s%s%s",
                               nearest.best ? "; did you mean \"" : "", show_best(&nearest, meant),
                               nearest.best ? "\"?" : "");
}

static bool check_member(Run *run, const Frame *f, const Node *node, PtcValue v,
                         const PtcSchemaPlace *place, const PtcSchemaKey *key)
{
    if (node->form == PTC_SCHEMA_NOTHING)
        return refuse_member(run, f, place, key);
    return ptc_schema_apply(run, node, v, place, f, NULL);
}

static bool check_member_name(Run *run, const Frame *f, PtcValue key, const PtcSchemaKey *text)
{
    PtcSchemaPlace place = {.up = f->place, .key = key, .name = true};
    PtcValue str = ptc_schema_string(&run->work, key, text);
    if (str == PTC_NONE)
        return !(run->broken = true);
    return ptc_schema_apply(run, f->node->object->property_names, str, &place, f, NULL);
}

/* One member as it goes through the rules. */
typedef struct {
    PtcSchemaPlace place;
    PtcSchemaKey text;
    PtcValue value;
    bool evaluated;
} Member;

static bool check_patterns(Run *run, const Frame *f, Member *m)
{
    const PtcSchemaObject *rules = f->node->object;
    bool ok = true;
    PtcValue str =
        rules->pattern_count ? ptc_schema_string(&run->work, m->place.key, &m->text) : PTC_NONE;
    for (uint32_t i = 0; i < rules->pattern_count && !run->broken; i++) {
        if (!ptc_schema_matches(run, &rules->patterns[i], str, &m->place))
            continue;
        m->evaluated = true;
        ok = ptc_schema_apply(run, rules->patterns[i].node, m->value, &m->place, f, NULL) && ok;
    }
    return ok && !run->broken;
}

static bool check_member_rules(Run *run, const Frame *f, Member *m, int64_t name)
{
    const PtcSchemaObject *rules = f->node->object;
    const Node *property = name >= 0 ? rules->names[name].property : NULL;
    bool ok = true;
    m->evaluated = property != NULL;
    if (property)
        ok = check_member(run, f, property, m->value, &m->place, &m->text);
    ok = check_patterns(run, f, m) && ok;
    if (!m->evaluated && rules->additional) {
        m->evaluated = true;
        ok = check_member(run, f, rules->additional, m->value, &m->place, &m->text) && ok;
    }
    if (rules->property_names && (ok || ptc_schema_collects(run)))
        ok = check_member_name(run, f, m->place.key, &m->text) && ok;
    return ok;
}

/* Sets *json to false when a key cannot be JSON. */
static bool next_member(Run *run, PtcValue v, size_t *pos, Member *m, bool *json)
{
    if (!ptc_map_next(v, pos, &m->place.key, &m->value))
        return false;
    if (ptc_tick(run->work.budget, 1) && ptc_schema_key(&run->work, m->place.key, &m->text, json))
        return true;
    run->broken = true;
    return false;
}

static bool check_object_members(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *present,
                                 PtcSchemaBits *marks)
{
    Member m = {.place = {.up = f->place}};
    bool ok = true, json;
    size_t pos = 0;
    for (size_t i = 0; next_member(run, v, &pos, &m, &json); i++) {
        if (!json) {
            ok = ptc_schema_complain(run, f->place, PTC_SCHEMA_ALMOST, m.place.key,
                                     "expected keys that can be JSON");
        } else {
            int64_t name = ptc_schema_find_name(f->node->object, m.text.bytes, m.text.len);
            if (name >= 0)
                ptc_schema_mark(present, (size_t)name);
            ok = check_member_rules(run, f, &m, name) && ok;
            if (m.evaluated)
                ptc_schema_mark(marks, i);
        }
        if (!ok && !ptc_schema_collects(run))
            return false;
    }
    return ok && !run->broken;
}

/* --------------------------------------------------------------- what is there */

/* The member that may be a misspelling of a missing name: one that no rule mentions. */
static void find_slip(Run *run, const PtcSchemaObject *rules, PtcValue v, PtcNearest *nearest)
{
    Member m;
    bool json;
    size_t pos = 0;
    while (next_member(run, v, &pos, &m, &json))
        if (m.text.bytes != m.text.few && /* such a text is only temporary */
            ptc_schema_find_name(rules, m.text.bytes, m.text.len) < 0 &&
            ptc_tick(run->work.budget, NEAREST_TICKS))
            ptc_nearest_offer(nearest, m.text.bytes, m.text.len);
}

/* A name that should be present, because of another one or in any case (NULL). */
static bool miss(Run *run, const Frame *f, PtcValue v, const PtcSchemaName *name,
                 const PtcSchemaName *because)
{
    PtcNearest nearest;
    char missing[PTC_SCHEMA_LINE], reason[PTC_SCHEMA_LINE], meant[PTC_SCHEMA_LINE];
    if (!ptc_schema_collects(run))
        return false;
    ptc_nearest_init(&nearest, name->text.bytes, name->text.len);
    find_slip(run, f->node->object, v, &nearest);
    return ptc_schema_complain(
        run, f->place, PTC_SCHEMA_ALMOST, PTC_NONE, "the key \"%s\" is missing%s%s%s%s%s%s",
        ptc_schema_line(missing, name->text, 60), because ? ", which \"" : "",
        ptc_schema_line(reason, because ? because->text : (PtcText){"", 0}, 60),
        because ? "\" needs" : "", nearest.best ? "; did you mean it by \"" : "",
        show_best(&nearest, meant), nearest.best ? "\"?" : "");
}

static bool check_required_members(Run *run, const Frame *f, PtcValue v,
                                   const PtcSchemaBits *present)
{
    const PtcSchemaObject *rules = f->node->object;
    bool ok = ptc_tick(run->work.budget, rules->name_count / 64);
    for (uint32_t i = 0; i < rules->name_count; i++) {
        if (!rules->names[i].required || ptc_schema_is_marked(present, i))
            continue;
        ok = miss(run, f, v, &rules->names[i], NULL);
        if (!ptc_schema_collects(run))
            return false;
    }
    return ok;
}

static bool check_needs(Run *run, const Frame *f, PtcValue v, const PtcSchemaName *name,
                        const PtcSchemaBits *present)
{
    const PtcSchemaObject *rules = f->node->object;
    bool ok = ptc_tick(run->work.budget, 1 + name->need_count / 64);
    for (uint32_t k = 0; k < name->need_count; k++) {
        if (ptc_schema_is_marked(present, name->needs[k]))
            continue;
        ok = miss(run, f, v, &rules->names[name->needs[k]], name);
        if (!ptc_schema_collects(run))
            return false;
    }
    return ok;
}

static bool check_dependents(Run *run, const Frame *f, PtcValue v, const PtcSchemaBits *present,
                             PtcSchemaBits *marks)
{
    const PtcSchemaObject *rules = f->node->object;
    bool ok = true;
    for (uint32_t i = 0; rules->has_dependents && i < rules->name_count; i++) {
        const PtcSchemaName *name = &rules->names[i];
        if (!ptc_schema_is_marked(present, i))
            continue;
        ok = check_needs(run, f, v, name, present) && ok;
        if (name->dependent && (ok || ptc_schema_collects(run)))
            ok = ptc_schema_apply(run, name->dependent, v, f->place, f, marks) && ok;
        if (!ok && !ptc_schema_collects(run))
            return false;
    }
    return ok;
}

bool ptc_schema_check_object(Run *run, const Frame *f, PtcValue v, PtcSchemaBits *marks)
{
    PtcSchemaBits present;
    bool ok = check_member_count(run, f, ptc_schema_count(v));
    if (!ok && !ptc_schema_collects(run))
        return false;
    if (!ptc_schema_bits_init(run, &present, f->node->object->name_count)) {
        if (present.words)
            ptc_schema_bits_deinit(run, &present);
        return false;
    }
    ok = check_object_members(run, f, v, &present, marks) && ok;
    if (ok || ptc_schema_collects(run))
        ok = check_required_members(run, f, v, &present) && ok;
    if (ok || ptc_schema_collects(run))
        ok = check_dependents(run, f, v, &present, marks) && ok;
    ptc_schema_bits_deinit(run, &present);
    return ok;
}

bool ptc_schema_check_unevaluated_properties(Run *run, const Frame *f, PtcValue v,
                                             const PtcSchemaBits *marks)
{
    Member m = {.place = {.up = f->place}};
    bool ok = true, json;
    size_t pos = 0;
    for (size_t i = 0; next_member(run, v, &pos, &m, &json); i++) {
        if (ptc_schema_is_marked(marks, i))
            continue;
        ok =
            check_member(run, f, f->node->unevaluated_properties, m.value, &m.place, &m.text) && ok;
        if (!ok && !ptc_schema_collects(run))
            return false;
    }
    return ok && !run->broken;
}
