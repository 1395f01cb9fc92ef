/* SPDX-License-Identifier: MIT
 * Checks the placeholders of a template against the parameters of a signature, before anything runs.
 *
 * Sections bring names into scope: a list its elements' fields, a map its fields, and then no others, so that typing
 * mistakes are found.  A section over a scalar is a condition and hides nothing. */
#include "agent/prompt/template.h"

#include <stdio.h>

#include "base/text/nearest.h"
#include "base/utf8.h"
#include "lisp/read/diag.h"

enum { CHECK_SHOWN = 60 };

/* What is in scope: the fields of a type, or anything (NULL), and what {{.}} is (NULL: anything). */
typedef struct Sight {
    const PtcSigType *fields; /* FIELDS or CLOSED; NULL: any name will do */
    const PtcSigType *dot;
    bool nothing; /* no name is in scope: the elements are scalars */
} Sight;

typedef struct TemplateCheck {
    const PtcTemplate *t;
    Sight stack[PTC_TEMPLATE_DEPTH + 1];
    size_t depth;
    PtcWhy *why;
} TemplateCheck;

static bool has_fields(const PtcSigType *type)
{
    return type && (type->kind == PTC_SIG_FIELDS || type->kind == PTC_SIG_CLOSED);
}

/* :any and :map have every field. */
static bool is_open_type(const PtcSigType *type)
{
    return !type || type->kind == PTC_SIG_ANY || type->kind == PTC_SIG_MAP;
}

static PtcText field_name(const PtcSigField *f)
{
    return (PtcText){f->name, f->name_len};
}

static const PtcSigField *find_type_field(const PtcSigType *type, PtcText name)
{
    for (size_t i = 0; i < type->field_count; i++)
        if (ptc_text_same_name(name, field_name(&type->fields[i])))
            return &type->fields[i];
    return NULL;
}

/* ------------------------------------------------------------------------------ reasons */

static bool refuse_template_name(TemplateCheck *c, const PtcTemplateNode *node, PtcText name,
                                 const PtcSigType *fields, const char *what)
{
    PtcNearest near;
    ptc_nearest_init(&near, name.bytes, name.len);
    for (size_t i = 0; fields && i < fields->field_count; i++)
        ptc_nearest_offer(&near, fields->fields[i].name, fields->fields[i].name_len);
    if (near.best)
        return ptc_why_say(c->why, PTC_WHY_INVALID, "%.*s: `%.*s` is %s; did you mean %.*s?",
                           PTC_ARG(ptc_text_cut(node->text, CHECK_SHOWN)),
                           PTC_ARG(ptc_text_cut(name, CHECK_SHOWN)), what,
                           PTC_ARG_OF(near.best, near.best_len));
    return ptc_why_say(c->why, PTC_WHY_INVALID, "%.*s: `%.*s` is %s",
                       PTC_ARG(ptc_text_cut(node->text, CHECK_SHOWN)),
                       PTC_ARG(ptc_text_cut(name, CHECK_SHOWN)), what);
}

static bool refuse_dot(TemplateCheck *c)
{
    return ptc_why_say(c->why, PTC_WHY_INVALID,
                       "{{.}} stands for an element that is not a scalar; name one of its fields");
}

/* -------------------------------------------------------------------------------- types */

/* The type that a path leads to, or NULL in *type for anything. */
static bool follow_template_path(TemplateCheck *c, const PtcTemplateNode *node,
                                 const PtcSigType **type)
{
    const Sight *sight = &c->stack[c->depth];
    const char *what = c->depth ? "not a field of the element" : "not a parameter of the signature";
    const PtcSigType *at = sight->fields;
    *type = NULL;
    if (sight->nothing)
        return refuse_template_name(c, node, node->names[0], NULL, "not a field of a scalar");
    for (size_t i = 0; i < node->name_count; i++) {
        if (is_open_type(at))
            return true;
        if (!has_fields(at))
            return refuse_template_name(c, node, node->names[i], NULL,
                                        "a field of something that has none");
        const PtcSigField *f = find_type_field(at, node->names[i]);
        if (!f)
            return refuse_template_name(c, node, node->names[i], at,
                                        i ? "not a field there" : what);
        at = ptc_sig_required(f->type);
    }
    *type = at;
    return true;
}

/* The type of {{.}} or of a name. */
static bool type_of_tag(TemplateCheck *c, const PtcTemplateNode *node, const PtcSigType **type)
{
    if (node->name_count > 0)
        return follow_template_path(c, node, type);
    *type = c->stack[c->depth].dot;
    return true;
}

static bool check_value_tag(TemplateCheck *c, const PtcTemplateNode *node)
{
    const PtcSigType *type;
    if (!type_of_tag(c, node, &type))
        return false;
    if (node->name_count == 0 && !is_open_type(type) &&
        (has_fields(type) || type->kind == PTC_SIG_LIST))
        return refuse_dot(c);
    return true;
}

/* What a section over this type brings into scope. */
static Sight look_into(const Sight *outer, const PtcSigType *type)
{
    if (is_open_type(type))
        return (Sight){0};
    if (has_fields(type))
        return (Sight){.fields = type, .dot = type};
    if (type->kind != PTC_SIG_LIST)
        return (Sight){.fields = outer->fields, .dot = type, .nothing = outer->nothing};
    const PtcSigType *item = ptc_sig_required(type->item);
    if (is_open_type(item))
        return (Sight){0};
    if (has_fields(item))
        return (Sight){.fields = item, .dot = item};
    return (Sight){.dot = item, .nothing = true};
}

static bool enter_template_section(TemplateCheck *c, const PtcTemplateNode *node)
{
    const PtcSigType *type;
    if (!type_of_tag(c, node, &type))
        return false;
    Sight inner = node->kind == PTC_TEMPLATE_SECTION ? look_into(&c->stack[c->depth], type)
                                                     : c->stack[c->depth];
    c->stack[++c->depth] = inner;
    return true;
}

bool ptc_template_check(const PtcTemplate *t, const PtcSig *sig, PtcWhy *why)
{
    TemplateCheck c = {.t = t, .why = why};
    c.stack[0] = (Sight){.fields = &sig->params, .dot = &sig->params};
    for (size_t i = 0; i < t->count; i++) {
        const PtcTemplateNode *node = &t->nodes[i];
        bool ok = true;
        switch (node->kind) {
        case PTC_TEMPLATE_TEXT: break;
        case PTC_TEMPLATE_VALUE: ok = check_value_tag(&c, node); break;
        case PTC_TEMPLATE_SECTION:
        case PTC_TEMPLATE_INVERTED: ok = enter_template_section(&c, node); break;
        case PTC_TEMPLATE_END: c.depth--; break;
        }
        if (!ok)
            return false;
    }
    return true;
}

/* Only names outside of sections, or that open one there, can be meant: inside, names belong to elements.  A
 * condition hides nothing, so names inside it do count; telling the two apart would need types, and counting a name
 * too many as used does no harm. */
bool ptc_template_uses(const PtcTemplate *t, PtcText name)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->nodes[i].name_count > 0 && ptc_text_same_name(t->nodes[i].names[0], name))
            return true;
    return false;
}
