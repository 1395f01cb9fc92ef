/* SPDX-License-Identifier: MIT
 * Variables.  What is put in is not looked at again, so the value of a variable cannot name another. */
#include "upstream/config/variables.h"

#include <unistd.h>

#include "base/ascii.h"
#include "value/coll/fields.h"

extern char **environ;

/* Length of the name that a text begins with. */
static size_t name_len(PtcText t)
{
    size_t n = t.len && ptc_ascii_begins_name(t.bytes[0]);
    while (n && n < t.len && ptc_ascii_is_name(t.bytes[n]))
        n++;
    return n;
}

static PtcText text_behind(PtcText t, size_t n)
{
    return (PtcText){t.bytes + n, t.len - n};
}

/* One text on its way. */
typedef struct {
    PtcBuf *out;
    const PtcVariables *v;
    PtcExpanded state;
} Expanding;

static void put_expanded_text(Expanding *e, PtcText text)
{
    e->state.changed = true;
    ptc_buf_add(e->out, text.bytes, text.len);
}

/* The same for what came from outside of the file. */
static void put_given(Expanding *e, PtcText name, PtcText value)
{
    if (e->v->told)
        e->v->told(e->v->input_user, name, value);
    put_expanded_text(e, value);
}

static void lack(Expanding *e, PtcVariableFault fault, PtcText name)
{
    e->state.fault = fault;
    e->state.lacking = name;
}

static void put_expanded_variable(Expanding *e, PtcText name)
{
    PtcText value = e->v->variable(e->v->user, name);
    if (value.bytes)
        put_given(e, name, value);
    else
        lack(e, PTC_VARIABLE_UNSET, name);
}

/* VAR or VAR:-text; false: it is neither. */
static bool take_variable(Expanding *e, PtcText inside)
{
    size_t n = name_len(inside);
    PtcText name = {inside.bytes, n}, rest = text_behind(inside, n);
    if (n == 0 || (rest.len && !ptc_text_starts(rest, ":-")))
        return false;
    PtcText value = rest.len ? e->v->variable(e->v->user, name) : (PtcText){NULL, 0};
    if (value.bytes && value.len)
        put_given(e, name, value);
    else if (rest.len)
        put_expanded_text(e, text_behind(rest, 2));
    else
        put_expanded_variable(e, name);
    return true;
}

/* PTC_INPUT_<ID>, then whoever else has it. */
static void put_input(Expanding *e, PtcText id)
{
    char name[160] = "PTC_INPUT_";
    size_t n = strlen(name);
    for (size_t i = 0; i < id.len && n < sizeof name; i++) {
        char c = id.bytes[i];
        name[n++] = ptc_ascii_is_name(c) ? ptc_ascii_upper(c) : '_';
    }
    PtcText value = e->v->variable(e->v->user, (PtcText){name, n});
    if (!value.bytes)
        value = e->v->input(e->v->input_user, id);
    if (value.bytes)
        put_given(e, id, value);
    else
        lack(e, PTC_VARIABLE_NO_INPUT, id);
}

static PtcText last_path_part(PtcText path)
{
    while (path.len > 1 && path.bytes[path.len - 1] == '/')
        path.len--;
    for (size_t i = path.len; i > 0; i--)
        if (path.bytes[i - 1] == '/')
            return text_behind(path, i);
    return path;
}

/* The words that editors know; false: it is none of them. */
static bool take_editor_word(Expanding *e, PtcText inside)
{
    const PtcVariables *v = e->v;
    if (ptc_text_is(inside, "workspaceFolder"))
        put_expanded_text(e, v->project);
    else if (ptc_text_is(inside, "workspaceFolderBasename"))
        put_expanded_text(e, last_path_part(v->project));
    else if (ptc_text_is(inside, "userHome"))
        put_expanded_variable(e, PTC_TEXT("HOME"));
    else if (ptc_text_is(inside, "cwd"))
        put_expanded_text(e, v->cwd.bytes ? v->cwd : v->project);
    else if (ptc_text_is(inside, "pathSeparator") || ptc_text_is(inside, "/"))
        put_expanded_text(e, PTC_TEXT("/"));
    else
        return false;
    return true;
}

/* What is in ${...}; false: it stays as it is. */
static bool take_placeholder(Expanding *e, PtcText inside)
{
    size_t n = name_len(inside);
    if (take_editor_word(e, inside))
        return true;
    if (ptc_text_starts(inside, "env:") && take_variable(e, text_behind(inside, 4)))
        return true;
    if (ptc_text_starts(inside, "input:") && inside.len > 6) {
        put_input(e, text_behind(inside, 6));
        return true;
    }
    if (take_variable(e, inside))
        return true;
    if (!e->v->lenient || (n && n < inside.len && inside.bytes[n] == ':'))
        e->state.fault = PTC_VARIABLE_BAD;
    else
        e->state.note = "placeholder_left";
    return false;
}

/* At a $; returns how many bytes were taken, 0: it is text. */
static size_t take_dollar(Expanding *e, PtcText t)
{
    size_t n = name_len(text_behind(t, 1));
    if (t.len > 1 && t.bytes[1] == '{') {
        const char *end = memchr(t.bytes, '}', t.len);
        size_t len = end ? (size_t)(end - t.bytes) + 1 : t.len;
        PtcText inside = {t.bytes + 2, end ? len - 3 : 0};
        return take_placeholder(e, inside) ? len : 0;
    }
    if (n && e->v->bare) {
        put_expanded_variable(e, (PtcText){t.bytes + 1, n});
        return n + 1;
    }
    if (n && !e->state.note)
        e->state.note = "looks_like_variable";
    return 0;
}

PtcExpanded ptc_variables_expand(PtcBuf *out, const PtcVariables *v, PtcText text)
{
    Expanding e = {.out = out, .v = v};
    for (size_t i = 0; i < text.len && !e.state.fault;) {
        size_t n = text.bytes[i] == '$' ? take_dollar(&e, text_behind(text, i)) : 0;
        if (n == 0)
            ptc_buf_add_char(out, text.bytes[i]);
        i += n ? n : 1;
    }
    return e.state;
}

PtcText ptc_variables_environ(void *user, PtcText name)
{
    (void)user;
    for (char **v = environ; *v; v++)
        if (strncmp(*v, name.bytes, name.len) == 0 && (*v)[name.len] == '=')
            return ptc_text_cstr(*v + name.len + 1);
    return (PtcText){NULL, 0};
}
