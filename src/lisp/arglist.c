/* SPDX-License-Identifier: MIT
 * The parameters are taken from the text of the function.  It was read once without findings, so brackets match; the
 * scanner stops at the end of the text all the same. */
#include "lisp/arglist.h"

#include "lisp/function.h"
#include "lisp/vm_int.h"

typedef struct {
    const char *at, *end;
} Scan;

static bool is_blank(char c)
{
    return c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

/* Past a string, a comment or a character, or past one byte of anything else. */
static void step(Scan *s)
{
    char c = *s->at++;
    if (c == '\\' && s->at < s->end)
        s->at++;
    while (c == ';' && s->at < s->end && *s->at != '\n')
        s->at++;
    while (c == '"' && s->at < s->end && *s->at != '"')
        s->at += *s->at == '\\' && s->at + 1 < s->end ? 2 : 1;
    if (c == '"' && s->at < s->end)
        s->at++;
}

static void skip_blanks(Scan *s)
{
    while (s->at < s->end && (is_blank(*s->at) || *s->at == ';'))
        step(s);
}

/* From an opening bracket past the one that closes it. */
static void skip_form(Scan *s)
{
    size_t depth = 0;
    do {
        char c = *s->at;
        depth += c == '(' || c == '[' || c == '{';
        depth -= (c == ')' || c == ']' || c == '}') && depth > 0;
        step(s);
    } while (s->at < s->end && depth > 0);
}

/* What is between the brackets at the scanner, with one blank for each stretch of them, as a call of `name`. */
static void add_call(PtcBuf *out, PtcText name, Scan *s)
{
    Scan inside = {s->at + 1, s->at};
    skip_form(s);
    inside.end = s->at - 1;
    ptc_buf_add_cstr(out, out->len ? " (" : "(");
    ptc_buf_add(out, name.bytes, name.len);
    for (skip_blanks(&inside); inside.at < inside.end;) {
        ptc_buf_add_char(out, ' ');
        while (inside.at < inside.end && !is_blank(*inside.at) && *inside.at != ';') {
            const char *from = inside.at;
            step(&inside);
            ptc_buf_add(out, from, (size_t)(inside.at - from));
        }
        skip_blanks(&inside);
    }
    ptc_buf_add_char(out, ')');
}

/* The parameters in a form (fn [a b] ...) or (defn f ([a] ...) ([a b] ...)).  False: there are none. */
static bool add_calls(PtcBuf *out, PtcText name, Scan s)
{
    bool any = false;
    step(&s);
    while (s.at < s.end && *s.at != ')') {
        Scan clause = {s.at + 1, s.end};
        if (*s.at == '[') {
            add_call(out, name, &s);
            return true;
        }
        if (*s.at != '(' && *s.at != '{') {
            step(&s);
            continue;
        }
        skip_blanks(&clause);
        if (*s.at == '(' && clause.at < clause.end && *clause.at == '[') {
            add_call(out, name, &clause);
            any = true;
        }
        skip_form(&s);
    }
    return any;
}

static void add_numbered(PtcBuf *out, PtcText name, const PtcProto *p)
{
    ptc_buf_add_cstr(out, out->len ? " (" : "(");
    ptc_buf_add(out, name.bytes, name.len);
    for (unsigned i = 1; i <= p->params; i++)
        ptc_buf_addf(out, " arg%u", i);
    ptc_buf_add_cstr(out, p->variadic ? " & more)" : ")");
}

void ptc_arglist_add(PtcBuf *out, PtcText name, const PtcClosure *f)
{
    const PtcProto *p = ptc_closure_proto(f);
    PtcFnText text;
    if (ptc_function_text(ptc_function_main(f->proto), &text) && text.len > 1 &&
        text.text[0] == '(' && add_calls(out, name, (Scan){text.text, text.text + text.len}))
        return;
    if (p->arities == PTC_NIL) {
        add_numbered(out, name, p);
        return;
    }
    const PtcNode *all = (const PtcNode *)(uintptr_t)p->arities;
    for (uint32_t i = 0; i < all->obj.count; i++)
        add_numbered(out, name, (const PtcProto *)(uintptr_t)all->slots[i]);
}
