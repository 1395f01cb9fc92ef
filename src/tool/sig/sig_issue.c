/* SPDX-License-Identifier: MIT
 * Issues: what is wrong with a value, and where in it.  What always holds: only a bounded number is kept; the rest is
 * counted. */
#include <stdio.h>

#include "base/ascii.h"
#include "base/text/name_list.h"
#include "base/text/nearest.h"
#include "base/text/one_line.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/write.h"
#include "tool/sig/sig_int.h"
#include "value/coll/map.h"
#include "value/number/number.h"
#include "value/str.h"

enum {
    SIG_SHOWN_BYTES = 40,  /* of a string in a message */
    NEAREST_KEYS = 64,     /* examined for a name that may have been meant */
    NEAREST_TICKS = 16,    /* comparing two words costs more than most steps */
    EXTRA_KEY_BYTES = 64,  /* of a key; a longer one is near to no other */
    EXTRA_KEY_SHOWN = 400, /* the same, with the longest escapes */
};

void ptc_sig_issues_init(PtcSigIssues *issues, PtcMem *mem)
{
    ptc_arena_init(&issues->arena, mem);
    issues->count = issues->total = 0;
    issues->listed = NULL;
}

void ptc_sig_issues_deinit(PtcSigIssues *issues)
{
    ptc_arena_deinit(&issues->arena);
}

/* --------------------------------------------------------------------------------- adding */

static const char *copy_issue_text(PtcArena *arena, const char *text, size_t len)
{
    char *copy = ptc_arena_alloc(arena, len + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

static bool copy_issue_path(PtcSigIssues *issues, PtcSigIssue *issue, const PtcSigPath *path)
{
    size_t n = 0;
    for (const PtcSigPath *p = path; p; p = p->up)
        n++;
    PtcSigStep *steps = ptc_arena_alloc(&issues->arena, n * sizeof *steps + 1);
    if (!steps)
        return false;
    issue->path = steps;
    issue->path_len = n;
    for (const PtcSigPath *p = path; p; p = p->up) {
        steps[--n] = (PtcSigStep){NULL, p->len, p->index};
        if (p->name && !(steps[n].name = copy_issue_text(&issues->arena, p->name, p->len)))
            return false;
    }
    return true;
}

/* When out of memory, an issue is counted but not kept. */
void ptc_sig_issue_add(PtcSigIssues *issues, const PtcSigPath *path, const char *format, ...)
{
    char text[320];
    PtcSigIssue issue;
    va_list args;
    issues->total++;
    if (issues->count == PTC_SIG_ISSUES_MAX)
        return;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    issue.message_len = ptc_utf8_valid_prefix(text, len);
    issue.message = copy_issue_text(&issues->arena, text, issue.message_len);
    if (issue.message && copy_issue_path(issues, &issue, path))
        issues->items[issues->count++] = issue;
}

/* ---------------------------------------------------------------------------- description */

/* A string in quotes, cut to a length, with control characters and quotes escaped. */
static void show_string(const char *text, size_t len, char *out, size_t size)
{
    size_t cut = len > SIG_SHOWN_BYTES ? ptc_utf8_valid_prefix(text, SIG_SHOWN_BYTES) : len, n = 0;
    out[n++] = '"';
    for (size_t i = 0; i < cut && n + 8 < size; i++) {
        char c = text[i];
        bool escape = c == '"' || c == '\\' || c == '\n' || c == '\t' || c == '\r';
        if (escape)
            out[n++] = '\\';
        if (escape)
            c = c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : c;
        out[n++] = (unsigned char)c < 0x20 || c == 0x7f ? ' ' : c;
    }
    snprintf(out + n, size - n, "%s\"", cut < len ? "..." : "");
}

static const char *record_kind_name(PtcValue v)
{
    switch (ptc_obj(v)->aux) {
    case PTC_R_DATE: return "date";
    case PTC_R_DECIMAL: return "decimal";
    case PTC_R_DATETIME: return "date-time without offset";
    case PTC_R_INSTANT: return "datetime";
    case PTC_R_DURATION: return "duration";
    case PTC_R_REGEX: return "regular expression";
    case PTC_R_FN: return "function";
    case PTC_R_PRODUCER: return "endless sequence";
    default: return "object";
    }
}

static const char *signature_kind_of(PtcValue v)
{
    if (v == PTC_NIL)
        return "nil";
    if (ptc_is_builtin(v) || ptc_is(v, PTC_T_CLOSURE))
        return "function";
    return ptc_is_map(v)             ? "map"
           : ptc_is_sequential(v)    ? "list"
           : ptc_is_set(v)           ? "set"
           : ptc_is_integer(v)       ? "int"
           : ptc_is(v, PTC_T_SYMBOL) ? "symbol"
           : ptc_is(v, PTC_T_RECORD) ? record_kind_name(v)
                                     : "object";
}

const char *ptc_sig_describe(PtcValue v, char out[PTC_SIG_SHOWN])
{
    char number[PTC_DOUBLE_TEXT];
    if (ptc_is_string(v)) {
        memcpy(out, "string ", 7);
        show_string(ptc_str_bytes(v), ptc_str_len(v), out + 7, PTC_SIG_SHOWN - 7);
    } else if (ptc_is_keyword(v)) {
        size_t len = ptc_str_len(v);
        size_t cut =
            len > SIG_SHOWN_BYTES ? ptc_utf8_valid_prefix(ptc_str_bytes(v), SIG_SHOWN_BYTES) : len;
        snprintf(out, PTC_SIG_SHOWN, "keyword :%.*s", PTC_ARG_OF(ptc_str_bytes(v), cut));
    } else if (ptc_is_int(v)) {
        snprintf(out, PTC_SIG_SHOWN, "int %lld", (long long)ptc_to_int(v));
    } else if (ptc_is_float(v)) {
        ptc_double_print(ptc_to_float(v), number);
        snprintf(out, PTC_SIG_SHOWN, "float %s", number);
    } else if (ptc_is_bool(v)) {
        snprintf(out, PTC_SIG_SHOWN, "bool %s", v == PTC_TRUE ? "true" : "false");
    } else {
        snprintf(out, PTC_SIG_SHOWN, "%s", signature_kind_of(v));
    }
    return out;
}

const char *ptc_sig_expected(const PtcSigType *type, char out[32])
{
    snprintf(out, 32, "%s%s", ptc_sig_kind_name(ptc_sig_required(type)->kind),
             type->kind == PTC_SIG_OPTIONAL ? " or nil" : "");
    return out;
}

/* --------------------------------------------------------------------------------- fields */

/* A key as a message may have it: it comes from a program, and a message may end up on a terminal. */
static PtcText show_key(const char *key, size_t len, char out[EXTRA_KEY_SHOWN])
{
    PtcBuf clean = {.data = out, .cap = EXTRA_KEY_SHOWN, .max = EXTRA_KEY_SHOWN};
    PtcText shown = ptc_text_cut((PtcText){key, len}, EXTRA_KEY_BYTES);
    ptc_one_line_add(&clean, shown);
    if (shown.len < len)
        ptc_buf_add_cstr(&clean, "...");
    return ptc_buf_view(&clean);
}

/* Once no more issues are kept, looking for near names would be wasted effort. */
static bool is_issue_list_full(PtcSigIssues *issues)
{
    if (issues->count < PTC_SIG_ISSUES_MAX)
        return false;
    issues->total++;
    return true;
}

/* Offers the keys of the map that belong to no field. */
static void offer_keys(PtcNearest *nearest, const PtcSigType *type, PtcValue map)
{
    PtcValue key;
    size_t seen = 0;
    for (size_t pos = 0; seen++ < NEAREST_KEYS && ptc_map_next(map, &pos, &key, NULL);) {
        bool known = !ptc_is_string(key) && !ptc_is_keyword(key);
        for (size_t i = 0; !known && i < type->field_count && i < NEAREST_KEYS; i++)
            known = ptc_str_hash(key) == type->fields[i].hash;
        if (!known)
            ptc_nearest_offer(nearest, ptc_str_bytes(key), ptc_str_len(key));
    }
}

void ptc_sig_issue_missing(PtcSigIssues *issues, const PtcSigPath *path, const PtcSigField *field,
                           const PtcSigType *type, PtcValue map)
{
    char name[32], key[EXTRA_KEY_SHOWN];
    PtcSigPath here = {path, field->name, field->name_len, 0};
    PtcNearest nearest;
    if (is_issue_list_full(issues))
        return;
    ptc_nearest_init(&nearest, field->name, field->name_len);
    offer_keys(&nearest, type, map);
    ptc_sig_expected(field->type, name);
    if (nearest.best)
        ptc_sig_issue_add(issues, &here, "missing, expected %s; there is \"%.*s\"", name,
                          PTC_ARG(show_key(nearest.best, nearest.best_len, key)));
    else
        ptc_sig_issue_add(issues, &here, "missing, expected %s", name);
}

/* The fields that there are, and among them the one that may be meant. */
static void offer_fields(PtcHeap *heap, PtcNearest *nearest, PtcNameList *names,
                         const PtcSigType *type)
{
    for (size_t i = 0; i < type->field_count && ptc_tick(heap->budget, NEAREST_TICKS); i++) {
        PtcText name = {type->fields[i].name, type->fields[i].name_len};
        if (i < NEAREST_KEYS)
            ptc_nearest_offer(nearest, name.bytes, name.len);
        ptc_name_list_add(names, name);
    }
}

void ptc_sig_issue_extra(PtcHeap *heap, PtcSigIssues *issues, const PtcSigPath *path,
                         const PtcSigType *type, PtcValue key)
{
    char shown[EXTRA_KEY_SHOWN], there[PTC_NAME_LIST_SHOWN] = "";
    if (is_issue_list_full(issues))
        return;
    bool named = ptc_is_string(key) || ptc_is_keyword(key);
    PtcText name = named ? ptc_str_view(key) : ptc_text_cstr(ptc_sig_describe(key, shown));
    PtcNearest nearest;
    PtcNameList names = {0};
    ptc_nearest_init(&nearest, name.bytes, name.len);
    offer_fields(heap, &nearest, &names, type);
    if (named)
        name = show_key(name.bytes, name.len, shown);
    PtcSigPath here = {path, name.bytes, name.len, 0};
    bool listed = issues->listed == type;
    if (!listed)
        ptc_name_list_show(&names, nearest.best ? 'T' : 't', there);
    issues->listed = type;
    if (nearest.best)
        ptc_sig_issue_add(issues, &here, "unexpected field; did you mean %.*s?%s%s",
                          PTC_ARG_OF(nearest.best, nearest.best_len), listed ? "" : " ", there);
    else
        ptc_sig_issue_add(issues, &here, "unexpected field%s%s", listed ? "" : "; ", there);
}

/* -------------------------------------------------------------------------------- showing */

static bool is_plain_name(const PtcSigStep *step)
{
    for (size_t i = 0; i < step->len; i++) {
        char c = step->name[i];
        if (!(ptc_ascii_is_name(c) || c == '-' || c == '?'))
            return false;
    }
    return step->len > 0;
}

static void print_step(PtcBuf *buf, const PtcSigStep *step, bool first)
{
    if (!step->name) {
        ptc_buf_addf(buf, "[%zu]", step->index);
    } else if (is_plain_name(step)) {
        if (!first)
            ptc_buf_add_char(buf, '.');
        ptc_buf_add(buf, step->name, step->len);
    } else {
        ptc_buf_add_char(buf, '[');
        ptc_json_write_string(buf, step->name, step->len);
        ptc_buf_add_char(buf, ']');
    }
}

bool ptc_sig_issue_print(PtcBuf *buf, const PtcSigIssue *issue)
{
    for (size_t i = 0; i < issue->path_len; i++)
        print_step(buf, &issue->path[i], i == 0);
    if (issue->path_len)
        ptc_buf_add_cstr(buf, ": ");
    return ptc_buf_add(buf, issue->message, issue->message_len);
}

bool ptc_sig_issues_print(PtcBuf *buf, const PtcSigIssues *issues, const char *separator)
{
    for (size_t i = 0; i < issues->count; i++) {
        if (i)
            ptc_buf_add_cstr(buf, separator);
        ptc_sig_issue_print(buf, &issues->items[i]);
    }
    if (issues->total > issues->count)
        ptc_buf_addf(buf, "%s%zu more", issues->count ? separator : "",
                     issues->total - issues->count);
    return ptc_buf_ok(buf);
}

static void write_signature_issue(PtcBuf *buf, const PtcSigIssue *issue)
{
    ptc_emit_object(buf);
    ptc_emit_key(buf, "path");
    ptc_emit_array(buf);
    for (size_t i = 0; i < issue->path_len; i++) {
        if (issue->path[i].name)
            ptc_emit_text(buf, (PtcText){issue->path[i].name, issue->path[i].len});
        else
            ptc_emit_uint(buf, issue->path[i].index);
    }
    ptc_emit_array_end(buf);
    ptc_emit_field_text(buf, "message", (PtcText){issue->message, issue->message_len});
    ptc_emit_object_end(buf);
}

bool ptc_sig_issues_json(PtcBuf *buf, const PtcSigIssues *issues)
{
    ptc_emit_array(buf);
    for (size_t i = 0; i < issues->count; i++)
        write_signature_issue(buf, &issues->items[i]);
    return ptc_emit_array_end(buf);
}
