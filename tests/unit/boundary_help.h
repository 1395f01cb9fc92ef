/* SPDX-License-Identifier: MIT
 * boundary_help.h - the case files of tests/boundary, and programs whose values are wanted. */
#ifndef PTC_TESTS_BOUNDARY_HELP_H
#define PTC_TESTS_BOUNDARY_HELP_H

#include "api_help.h"

#include "value/coll/iter.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/equal.h"
#include "value/time/time.h"

#include "json_help.h"

/* Where the case files are; a test may be given another directory. */
static const char *boundary_dir = "tests/boundary";
static char case_id[32]; /* of the case that is running */

/* The value at a key, or PTC_NONE. */
static inline PtcValue get(PtcValue map, const char *key)
{
    return ptc_is_map(map) ? ptc_map_get(&h.heap, map, str(key)) : PTC_NONE;
}

static inline bool is_text(PtcValue v, const char *text)
{
    return v != PTC_NONE && ptc_is_string(v) && strcmp(ptc_str_bytes(v), text) == 0;
}

static inline PtcValue time_record(unsigned kind, const char *iso)
{
    PtcMoment p;
    CHECK(ptc_iso_parse(PTC_ISO_JAVA, iso, strlen(iso), &p, NULL));
    PtcTime t = ptc_moment_time(&p);
    size_t n = kind == PTC_R_DATE ? 1 : 2;
    PtcRecord *r = ptc_heap_object(&h.heap, PTC_T_RECORD, sizeof *r + 2 * sizeof(PtcValue), 0);
    r->obj.aux = (uint16_t)kind;
    r->obj.count = (uint32_t)n;
    r->fields[0] = ptc_int(n == 1 ? ptc_moment_days(&p) : t.seconds);
    r->fields[1] = ptc_int(t.nanos);
    return ptc_from_obj(r);
}

static inline PtcValue untag(PtcValue v);

static inline PtcValue untag_map(PtcValue pairs)
{
    PtcIter it;
    PtcValue pair, map = ptc_map_empty(&h.heap);
    CHECK(ptc_iter_init(&it, &h.heap, pairs));
    while (ptc_iter_next(&it, &pair))
        map = ptc_map_assoc(&h.heap, map, untag(ptc_seq_nth(pair, 0)), untag(ptc_seq_nth(pair, 1)));
    return map;
}

static inline PtcValue untag_items(PtcValue items, bool is_set)
{
    PtcIter it;
    PtcValue x, to = is_set ? ptc_set_empty(&h.heap) : ptc_vec_new(&h.heap, NULL, 0, 0);
    CHECK(ptc_iter_init(&it, &h.heap, items));
    while (ptc_iter_next(&it, &x))
        to = is_set ? ptc_set_add(&h.heap, to, untag(x)) : ptc_vec_conj(&h.heap, to, untag(x));
    return to;
}

static inline PtcValue untag_one(const char *tag, PtcValue v)
{
    if (strcmp(tag, "$kw") == 0)
        return ptc_keyword_new(&h.heap, ptc_str_bytes(v), ptc_str_len(v));
    if (strcmp(tag, "$date") == 0)
        return time_record(PTC_R_DATE, ptc_str_bytes(v));
    if (strcmp(tag, "$datetime") == 0)
        return time_record(PTC_R_INSTANT, ptc_str_bytes(v));
    if (strcmp(tag, "$set") == 0)
        return untag_items(v, true);
    if (strcmp(tag, "$map") == 0)
        return untag_map(v);
    if (strcmp(tag, "$tuple") == 0 || strcmp(tag, "$fn") == 0)
        return ptc_builtin(1); /* what JSON has not */
    return PTC_NONE;
}

/* A value of a case with its tags turned into what they mean. */
static inline PtcValue untag(PtcValue v)
{
    PtcValue key, value;
    size_t pos = 0;
    if (ptc_is_sequential(v))
        return untag_items(v, false);
    if (!ptc_is_map(v))
        return v;
    if (ptc_map_count(v) == 1 && ptc_map_next(v, &pos, &key, &value)) {
        PtcValue one = untag_one(ptc_str_bytes(key), value);
        if (one != PTC_NONE)
            return one;
    }
    PtcValue map = ptc_map_empty(&h.heap);
    for (pos = 0; ptc_map_next(v, &pos, &key, &value);)
        map = ptc_map_assoc(&h.heap, map, key, untag(value));
    return map;
}

/* Runs every case of a file; returns how many there were. */
static inline int each_case(const char *file, void (*run)(PtcValue input, PtcValue expect))
{
    static char path[512], line[1 << 16];
    int n = 0;
    snprintf(path, sizeof path, "%s/%s", boundary_dir, file);
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    while (f && fgets(line, sizeof line, f)) {
        PtcValue v = parse(line);
        snprintf(case_id, sizeof case_id, "%s",
                 v == PTC_NONE ? "unreadable" : ptc_str_bytes(get(v, "id")));
        CHECK(v != PTC_NONE);
        if (v != PTC_NONE)
            run(get(v, "input"), get(v, "expect"));
        n++;
    }
    if (f)
        fclose(f);
    return n;
}

/* Counts a check of the running case. */
static inline void check_case(bool ok, const char *what)
{
    if (check_count(ok))
        printf("%s: %s\n", case_id, what);
}

/* The value of a program, which lives as long as the outcome. */
static inline PtcOutcome *run_program(Ptc *ptc, const char *program)
{
    PtcOutcome *o = start(ptc, program, NULL, 0);
    if (check_count(ptc_outcome_ok(o)))
        printf("%s: this program fails: %s\n", case_id, program);
    return o;
}

#endif
