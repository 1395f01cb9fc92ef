/* SPDX-License-Identifier: MIT
 * Reads the fields of an agent by their rows.  Every message about a wrong field says what was found and what is
 * allowed. */
#include <stdio.h>

#include "agent/definition/definition_int.h"
#include "base/text/nearest.h"
#include "base/utf8.h"
#include "lisp/read/diag.h"
#include "tool/convert.h"
#include "value/coll/map.h"
#include "value/str.h"

enum {
    ALLOWED = 200,
    FIELD_JSON_BYTES = 4 * PTC_AGENT_FILE_BYTES,
    FIELD_WORDS = 8,
    FIELD_SHOWN = 60
};

bool ptc_fields_refuse(PtcFieldReader *r, PtcValue found, const char *allowed)
{
    char text[PTC_FOUND_BYTES];
    return ptc_fault_set(r->fault, r->path, "found %s; allowed is %s", ptc_fault_found(found, text),
                         allowed);
}

bool ptc_fields_copy(PtcFieldReader *r, PtcText from, PtcText *out)
{
    char *copy = ptc_arena_alloc(&r->def->arena, from.len + 1);
    if (!copy)
        return ptc_why_no_memory(r->fault);
    memcpy(copy, from.bytes, from.len);
    copy[from.len] = 0;
    *out = (PtcText){copy, from.len};
    return true;
}

bool ptc_fields_text(PtcFieldReader *r, PtcValue v, PtcText *out)
{
    if (!ptc_is_string(v) || ptc_str_len(v) == 0)
        return ptc_fields_refuse(r, v, "a text that is not empty");
    return ptc_fields_copy(r, ptc_str_text(v), out);
}

bool ptc_fields_json(PtcFieldReader *r, PtcValue v, PtcText *out)
{
    PtcBuf buf;
    PtcJsonError e = {0};
    ptc_buf_init(&buf, &r->def->mem, FIELD_JSON_BYTES);
    bool ok = ptc_to_json_value(r->heap, &buf, v, -1, &e)
                  ? ptc_fields_copy(r, ptc_buf_view(&buf), out)
                  : ptc_why_no_memory(r->fault);
    ptc_buf_deinit(&buf);
    return ok;
}

/* -------------------------------------------------------------------------------- words */

/* The index of `text` among words such as "strict rollback", or -1; each word is offered to `near`. */
static int find_field_word(const char *words, PtcText text, PtcNearest *near)
{
    int number = 0, found = -1;
    while (*words) {
        size_t n = strcspn(words, " ");
        if (ptc_text_same(text, (PtcText){words, n}))
            found = number;
        if (near)
            ptc_nearest_offer(near, words, n);
        words += n + (words[n] == ' ');
        number++;
    }
    return found;
}

/* "strict" or "rollback" */
static void list_words(const char *words, char *out, size_t size)
{
    out[0] = 0;
    while (*words) {
        size_t n = strcspn(words, " "), len = strlen(out);
        bool last = words[n] == 0;
        snprintf(out + len, size - len, "%s\"%.*s\"",
                 len == 0 ? ""
                 : last   ? " or "
                          : ", ",
                 PTC_ARG_OF(words, n));
        words += n + (words[n] == ' ');
    }
}

static bool refuse_word(PtcFieldReader *r, const PtcFieldRow *row, PtcValue v)
{
    char allowed[ALLOWED], found[PTC_FOUND_BYTES];
    PtcText text = ptc_str_text(v);
    PtcNearest near;
    ptc_nearest_init(&near, text.bytes ? text.bytes : "", text.len);
    find_field_word(row->words, text, &near);
    list_words(row->words, allowed, sizeof allowed);
    if (!near.best)
        return ptc_fields_refuse(r, v, allowed);
    return ptc_fault_set(r->fault, r->path, "found %s; allowed is %s; did you mean \"%.*s\"?",
                         ptc_fault_found(v, found), allowed, PTC_ARG_OF(near.best, near.best_len));
}

/* --------------------------------------------------------------------------------- rows */

static void *field_place(const PtcAgentDef *def, const PtcFieldRow *row)
{
    return (char *)(uintptr_t)def + row->offset;
}

static void range_text(const PtcFieldRow *row, char out[ALLOWED])
{
    snprintf(out, ALLOWED, "a whole number from %lld to %lld", (long long)row->min,
             (long long)row->max);
}

static bool read_field_int(PtcFieldReader *r, const PtcFieldRow *row, PtcValue v)
{
    char allowed[ALLOWED];
    if (ptc_is_int(v) && ptc_to_int(v) >= row->min && ptc_to_int(v) <= row->max) {
        *(int64_t *)field_place(r->def, row) = ptc_to_int(v);
        return true;
    }
    range_text(row, allowed);
    return ptc_fields_refuse(r, v, allowed);
}

static bool read_field_word(PtcFieldReader *r, const PtcFieldRow *row, PtcValue v)
{
    int n = ptc_is_string(v) ? find_field_word(row->words, ptc_str_text(v), NULL) : -1;
    if (n < 0)
        return refuse_word(r, row, v);
    if (row->size == sizeof(bool))
        *(bool *)field_place(r->def, row) = n != 0;
    else
        *(int *)field_place(r->def, row) = n;
    return true;
}

static bool read_field_row(PtcFieldReader *r, const PtcFieldRow *row, PtcValue v)
{
    if (v == PTC_NIL && row->nullable)
        return true;
    switch (row->kind) {
    case PTC_FIELD_TEXT: return ptc_fields_text(r, v, field_place(r->def, row));
    case PTC_FIELD_INT: return read_field_int(r, row, v);
    case PTC_FIELD_WORD: return read_field_word(r, row, v);
    case PTC_FIELD_OTHER: return row->read(r, v);
    case PTC_FIELD_BOOL: break;
    }
    if (!ptc_is_bool(v))
        return ptc_fields_refuse(r, v, "true or false");
    *(bool *)field_place(r->def, row) = v == PTC_TRUE;
    return true;
}

static const PtcFieldRow *find_field_row(const PtcFieldRow *rows, PtcText name)
{
    for (; rows->name; rows++)
        if (ptc_text_is(name, rows->name))
            return rows;
    return NULL;
}

/* What a field is called here that others call by this name; NULL: not known, or this object has no such field. */
static const char *field_by_other_name(PtcText name, const PtcFieldRow *rows)
{
    static const char *const words[][2] = {
        {"model", "llm"},
        {"models", "llm"},
        {"system", "system_prompt"},
        {"instructions", "prompt"},
        {"task", "prompt"},
        {"mission", "prompt"},
        {"output_schema", "schema"},
        {"response_format", "schema"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptc_text_is(name, words[i][0]) && find_field_row(rows, ptc_text_cstr(words[i][1])))
            return words[i][1];
    return NULL;
}

static bool refuse_field_name(PtcFieldReader *r, PtcText name, const PtcFieldRow *rows)
{
    PtcNearest near;
    const char *other = field_by_other_name(name, rows);
    if (other)
        return ptc_fault_set(r->fault, r->path, "there is no such field; it is called %s here",
                             other);
    ptc_nearest_init(&near, name.bytes, name.len);
    for (; rows->name; rows++)
        ptc_nearest_offer(&near, rows->name, strlen(rows->name));
    if (near.best)
        return ptc_fault_set(r->fault, r->path, "there is no such field; did you mean %.*s?",
                             PTC_ARG_OF(near.best, near.best_len));
    return ptc_fault_set(r->fault, r->path, "there is no such field");
}

bool ptc_fields_read(PtcFieldReader *r, PtcValue object, const PtcFieldRow *rows, uint64_t *given)
{
    PtcValue key, value;
    char outer[sizeof r->path];
    if (!ptc_is_map(object))
        return ptc_fields_refuse(r, object, "an object");
    memcpy(outer, r->path, sizeof outer);
    for (size_t pos = 0; ptc_map_next(object, &pos, &key, &value);) {
        PtcText name = ptc_str_text(key);
        if (!name.bytes)
            return ptc_fault_set(r->fault, outer, "names of fields must be strings");
        ptc_diag_format(r->path, sizeof r->path, "%s%s%.*s", outer, *outer ? "." : "",
                        PTC_ARG(ptc_text_cut(name, FIELD_SHOWN)));
        const PtcFieldRow *row = find_field_row(rows, name);
        if (!row)
            return refuse_field_name(r, name, rows);
        if (!read_field_row(r, row, value))
            return false;
        if (given && value != PTC_NIL)
            *given |= (uint64_t)1 << (row - rows);
    }
    memcpy(r->path, outer, sizeof outer);
    return true;
}

/* ------------------------------------------------------------------------------- checks */

static const char *mode_name(PtcAgentMode mode)
{
    static const char *const names[] = {
        "output \"ptc_lisp\"", "output \"ptc_lisp\" with ptc_transport \"tool_call\"",
        "output \"text\"", "output \"text\" with ptc_transport \"tool_call\""};
    return names[mode];
}

/* A field that has no effect in this mode is a mistake now, or will become one. */
static bool check_effect(const PtcAgentDef *def, const PtcFieldRow *row, size_t number,
                         PtcWhy *fault)
{
    bool there = def->given >> number & 1;
    if (row->modes == PTC_MODES_ALL || row->modes >> def->mode & 1 || !there)
        return true;
    return ptc_fault_set(fault, row->name, "it has no effect in an agent with %s; leave it out",
                         mode_name(def->mode));
}

static bool check_range(const PtcAgentDef *def, const PtcFieldRow *row, PtcWhy *fault)
{
    char allowed[ALLOWED];
    int64_t n = row->kind == PTC_FIELD_INT ? *(int64_t *)field_place(def, row) : 0;
    bool none = row->nullable && n <= 0; /* as the defaults have it */
    if (row->kind != PTC_FIELD_INT || none || (n >= row->min && n <= row->max))
        return true;
    range_text(row, allowed);
    return ptc_fault_set(fault, row->name, "found %lld; allowed is %s", (long long)n, allowed);
}

bool ptc_fields_check(const PtcAgentDef *def, PtcWhy *fault)
{
    const PtcFieldRow *rows = ptc_definition_rows;
    for (size_t i = 0; rows[i].name; i++)
        if (!check_effect(def, &rows[i], i, fault) || !check_range(def, &rows[i], fault))
            return false;
    return true;
}
