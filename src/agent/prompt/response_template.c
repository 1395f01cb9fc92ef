/* SPDX-License-Identifier: MIT
 * A program around an answer, (if {{urgent}} :high :low).  Placeholders are replaced once, by names that do not occur
 * in the text; reading the program with those names shows whether each is a whole form.  When it runs, values are
 * bound to the names and never become text, so no answer can inject code. */
#include "agent/prompt/response_template.h"

#include <stdio.h>

#include "agent/prompt/template.h"
#include "agent/step/bench.h"
#include "lisp/read/form.h"

enum { TEMPLATE_FIELDS = 100, TEMPLATE_BYTES = 64 * PTC_KB };

static bool say_template_fault(PtcWhy *why, const char *text)
{
    return ptc_why_say(why, PTC_WHY_INVALID, "%s", text);
}

static const PtcSigField *find_exact_field(const PtcSigType *type, PtcText name)
{
    for (size_t i = 0; i < type->field_count; i++)
        if (ptc_text_same(name, (PtcText){type->fields[i].name, type->fields[i].name_len}))
            return &type->fields[i];
    return NULL;
}

/* Each placeholder must be a field of the answer. */
static bool check_nodes(const PtcTemplate *t, const PtcSigType *type, PtcWhy *why)
{
    type = ptc_sig_required(type);
    bool any = type->kind == PTC_SIG_ANY || type->kind == PTC_SIG_MAP;
    for (size_t i = 0; i < t->count; i++) {
        const PtcTemplateNode *n = &t->nodes[i];
        if (n->kind == PTC_TEMPLATE_TEXT)
            continue;
        if (n->kind != PTC_TEMPLATE_VALUE || n->name_count != 1)
            return say_template_fault(why, "only placeholders such as {{field}} are possible here");
        if (any || find_exact_field(type, n->names[0]))
            continue;
        ptc_why_say(why, PTC_WHY_INVALID, "{{%.*s}} is not a field of the answer",
                    PTC_ARG(ptc_text_cut(n->names[0], 60)));
        return false;
    }
    return true;
}

/* The index of the field in out->fields, added when it is new; SIZE_MAX: no room. */
static size_t field_number(PtcArena *arena, PtcResponseTemplate *out, PtcText name)
{
    PtcDescribed *fields = (PtcDescribed *)(uintptr_t)out->fields;
    char local[32];
    for (size_t i = 0; i < out->field_count; i++)
        if (ptc_text_same(fields[i].key, name))
            return i;
    if (out->field_count == TEMPLATE_FIELDS)
        return SIZE_MAX;
    fields = ptc_arena_push(arena, fields, out->field_count, sizeof *fields);
    int n = snprintf(local, sizeof local, "field-%zu__", out->field_count);
    char *copy = fields ? ptc_arena_alloc(arena, (size_t)n + 1) : NULL;
    if (!copy)
        return SIZE_MAX;
    memcpy(copy, local, (size_t)n + 1);
    fields[out->field_count] = (PtcDescribed){name, {copy, (size_t)n}};
    out->fields = fields;
    return out->field_count++;
}

/* The text with names in place of placeholders; *uses counts them. */
static bool name_fields(PtcArena *arena, const PtcTemplate *t, PtcBuf *buf,
                        PtcResponseTemplate *out, size_t *uses)
{
    for (size_t i = 0; i < t->count; i++) {
        const PtcTemplateNode *n = &t->nodes[i];
        PtcText piece = n->text;
        if (n->kind == PTC_TEMPLATE_VALUE) {
            size_t number = field_number(arena, out, n->names[0]);
            if (number == SIZE_MAX)
                return false;
            piece = out->fields[number].text;
            ++*uses;
        }
        if (!ptc_buf_add(buf, piece.bytes, piece.len))
            return false;
    }
    return true;
}

/* How often names of fields occur as forms of their own.  Recurses no deeper than forms nest, which the reader limits
 * (PTC_FORM_DEPTH). */
static size_t count_field_forms(PtcForm *const *forms, size_t count, const PtcResponseTemplate *t)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const PtcForm *f = forms[i];
        if (f->kind == PTC_F_SYMBOL)
            for (size_t k = 0; k < t->field_count; k++)
                n += ptc_text_same((PtcText){f->text, f->len}, t->fields[k].text);
        else if (f->kind >= PTC_F_LIST && f->kind <= PTC_F_SHORT_FN)
            n += count_field_forms(f->items, f->count, t);
    }
    return n;
}

/* Can the program be read, with every placeholder as a form of its own?  Quoted ones would never become values. */
static bool check_forms(const PtcResponseTemplate *t, size_t uses, PtcWhy *why)
{
    PtcBench b;
    PtcDiags diags;
    PtcForm **forms;
    size_t count;
    ptc_bench_init(&b);
    ptc_diags_init(&diags, &b.arena);
    PtcReader reader = {t->source.bytes, t->source.len, &b.arena, &b.heap, &diags};
    bool reads = ptc_read(&reader, &forms, &count);
    bool ok = reads && count > 0 && count_field_forms(forms, count, t) == uses;
    if (!reads && diags.count > 0)
        say_template_fault(why, diags.items[0].message);
    else if (!reads)
        say_template_fault(why, "out of memory");
    else if (!ok)
        say_template_fault(
            why, "each {{field}} must be a form by itself, not part of a string or of a name");
    ptc_bench_deinit(&b);
    return ok;
}

bool ptc_response_template_read(PtcArena *arena, PtcText text, const PtcSigType *type,
                                PtcResponseTemplate *out, PtcWhy *why)
{
    PtcTemplate t;
    PtcTemplateError e;
    PtcBuf buf;
    size_t uses = 0;
    *out = (PtcResponseTemplate){.fields = NULL};
    if (!ptc_template_read(arena, text, &t, &e))
        return say_template_fault(why, e.message);
    if (!check_nodes(&t, type, why))
        return false;
    ptc_buf_init(&buf, arena->mem, TEMPLATE_BYTES);
    bool named = name_fields(arena, &t, &buf, out, &uses);
    char *copy = named ? ptc_arena_alloc(arena, buf.len + 1) : NULL;
    if (copy) {
        memcpy(copy, ptc_buf_view(&buf).bytes, buf.len);
        copy[buf.len] = 0;
        out->source = (PtcText){copy, buf.len};
    }
    ptc_buf_deinit(&buf);
    return copy ? check_forms(out, uses, why)
                : say_template_fault(
                      why, "it is too long or has too many fields, or the system is out of memory");
}
