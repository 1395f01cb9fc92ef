/* SPDX-License-Identifier: MIT
 * Tools of other servers: what ns/name means, and arguments that stand in the program, checked before anything runs.
 *
 * What is found here is a finding; what cannot be known yet (a server that does not answer, a value that is computed)
 * is left to the call. */
#include <stdio.h>

#include "base/text/nearest.h"
#include "base/utf8.h"
#include "lisp/analyze/analyze_int.h"

enum { SERVER_SHOWN_BYTES = 120, SERVER_NAME_BYTES = 400 };

bool ptc_analyze_is_server(Analyzer *an, PtcText ns)
{
    PtcServerWord word;
    return an->servers && an->servers->knows(an->servers, ns, &word);
}

/* ------------------------------------------------------------------------------- findings */

static void hint_nearest(PtcDiag *d, PtcText nearest)
{
    if (nearest.len)
        ptc_diag_hint(d, "did you mean %.*s?", PTC_ARG(ptc_text_cut(nearest, SERVER_SHOWN_BYTES)));
}

static PtcErrorKind server_error_kind(PtcServerAnswer answer)
{
    return answer == PTC_SERVER_UNKNOWN  ? PTC_E_UNBOUND
           : answer == PTC_SERVER_DENIED ? PTC_E_TOOL_DENIED
                                         : PTC_E_UNKNOWN_TOOL;
}

static void report_server_answer(Analyzer *an, const PtcForm *at, PtcServerAnswer answer,
                                 PtcText ns, PtcText name, const PtcServerWord *word)
{
    PtcDiag *d;
    if (answer == PTC_SERVER_UNKNOWN)
        d = ptc_diag_add(an->diags, PTC_E_UNBOUND, at->first, at->last, "there is no server %.*s",
                         PTC_ARG(ptc_text_cut(ns, SERVER_SHOWN_BYTES)));
    else
        d = ptc_diag_add(an->diags, server_error_kind(answer), at->first, at->last, "%.*s/%.*s: %s",
                         PTC_ARG(ptc_text_cut(ns, SERVER_SHOWN_BYTES)),
                         PTC_ARG(ptc_text_cut(name, SERVER_SHOWN_BYTES)), word->message);
    if (word->nearest[0])
        hint_nearest(d, ptc_text_cstr(word->nearest));
    else if (answer == PTC_SERVER_NO_TOOL)
        ptc_diag_hint(d, "(dir '%.*s) lists its tools",
                      PTC_ARG(ptc_text_cut(ns, SERVER_SHOWN_BYTES)));
    else if (answer == PTC_SERVER_UNKNOWN)
        ptc_diag_hint(d, "(tool/servers) lists them");
}

/* ------------------------------------------------------------------------------- literals */

/* Quoted words too: :state, "open" and 'open are one text. */
static bool is_scalar(const PtcForm *f)
{
    switch (f->kind) {
    case PTC_F_NIL:
    case PTC_F_TRUE:
    case PTC_F_FALSE:
    case PTC_F_NUMBER:
    case PTC_F_STRING:
    case PTC_F_KEYWORD: return true;
    default: return false;
    }
}

/* Forms nest at most PTC_FORM_DEPTH deep, so this may recurse. */
static bool is_literal(const PtcForm *f)
{
    if (f->kind != PTC_F_VECTOR && f->kind != PTC_F_MAP && f->kind != PTC_F_SET)
        return is_scalar(f);
    for (size_t i = 0; i < f->count; i++)
        if (!is_literal(f->items[i]))
            return false;
    return true;
}

/* Arguments as far as they are known. */
typedef struct Literal {
    PtcValue args; /* map */
    PtcValue open; /* list of keys, as strings */
    PtcValue keys; /* map of all keys, as strings */
    const PtcForm *map;
    const PtcForm *twice; /* a key that was there before; NULL: none was */
} Literal;

/* False: out of memory. */
static bool note_literal_key(Analyzer *an, Literal *lit, const PtcForm *key)
{
    PtcValue name = ptc_str_new(an->heap, key->text, key->len);
    if (name == PTC_NONE)
        return false;
    if (ptc_map_get(an->heap, lit->keys, name) != PTC_NONE)
        lit->twice = key;
    lit->keys = ptc_map_assoc(an->heap, lit->keys, name, PTC_TRUE);
    return lit->keys != PTC_NONE;
}

static bool add_literal_entry(Analyzer *an, Literal *lit, const PtcForm *key, const PtcForm *value)
{
    if (!is_literal(value)) {
        PtcValue name = ptc_str_new(an->heap, key->text, key->len);
        lit->open = name == PTC_NONE ? name : ptc_vec_conj(an->heap, lit->open, name);
        return lit->open != PTC_NONE;
    }
    PtcValue k = ptc_analyze_quote(an, key), v = ptc_analyze_quote(an, value);
    if (k == PTC_NONE || v == PTC_NONE)
        return false;
    lit->args = ptc_map_assoc(an->heap, lit->args, k, v);
    return lit->args != PTC_NONE;
}

static bool is_key_form(const PtcForm *f)
{
    return f->kind == PTC_F_KEYWORD || f->kind == PTC_F_STRING;
}

/* Keys and values in turn; false: they are not, or a key is computed, or out of memory. */
static bool read_literal_entries(Analyzer *an, PtcForm *const *items, size_t count, Literal *lit)
{
    lit->args = ptc_map_empty(an->heap);
    lit->open = ptc_vec_new(an->heap, NULL, 0, 0);
    lit->keys = ptc_map_empty(an->heap);
    lit->twice = NULL;
    if (lit->args == PTC_NONE || lit->open == PTC_NONE || lit->keys == PTC_NONE || count % 2 != 0)
        return false;
    for (size_t i = 0; i < count; i += 2)
        if (!is_key_form(items[i]) || !note_literal_key(an, lit, items[i]) ||
            !add_literal_entry(an, lit, items[i], items[i + 1]))
            return false;
    return true;
}

/* The arguments of (ns/name {...}) or (ns/name :key value ...). */
static bool read_literal_arguments(Analyzer *an, const PtcForm *call, Literal *lit)
{
    const PtcForm *first = call->count == 2 ? call->items[1] : NULL;
    lit->map = first ? first : call;
    if (first)
        return first->kind == PTC_F_MAP &&
               read_literal_entries(an, first->items, first->count, lit);
    return read_literal_entries(an, call->items + 1, call->count - 1, lit);
}

/* ------------------------------------------------------------------------------- checking */

typedef struct Place {
    Analyzer *an;
    const PtcForm *call;
    PtcText name; /* ns/name */
} Place;

static size_t skip_joints(PtcText t, size_t i)
{
    while (i < t.len && (t.bytes[i] == '-' || t.bytes[i] == '_'))
        i++;
    return i;
}

/* The same without case and without - and _: the issue has the spelling of the schema, the program may have another. */
static bool is_same_spelling(PtcText a, PtcText b)
{
    size_t i = skip_joints(a, 0), k = skip_joints(b, 0);
    for (; i < a.len && k < b.len; i = skip_joints(a, i + 1), k = skip_joints(b, k + 1))
        if ((a.bytes[i] | 0x20) != (b.bytes[k] | 0x20))
            return false;
    return i == a.len && k == b.len;
}

/* The key that an issue is about, which its path begins with; else the whole map. */
static const PtcForm *form_at(const Place *p, const PtcForm *map, PtcText path)
{
    size_t n = 0;
    while (n < path.len && path.bytes[n] != '.' && path.bytes[n] != '[')
        n++;
    size_t first = map == p->call ? 1 : 0;
    for (size_t i = first; n > 0 && i < map->count; i += 2) {
        const PtcForm *key = map->items[i];
        if (is_key_form(key) &&
            is_same_spelling((PtcText){key->text, key->len}, (PtcText){path.bytes, n}))
            return key;
    }
    return map;
}

typedef struct Issues {
    Place place;
    const PtcForm *map;
} Issues;

static void take_issue(void *user, const PtcServerIssue *issue)
{
    const Issues *is = user;
    Analyzer *an = is->place.an;
    const PtcForm *at = form_at(&is->place, is->map, issue->path);
    bool path = issue->path.len > 0;
    PtcDiag *d = ptc_diag_add(
        an->diags, PTC_E_TOOL_ARGS, at->first, at->last, "%.*s: %s%.*s%s%.*s",
        PTC_ARG(ptc_text_cut(is->place.name, SERVER_SHOWN_BYTES)), path ? "argument " : "",
        PTC_ARG(ptc_text_cut(issue->path, SERVER_SHOWN_BYTES)), path ? ": " : "",
        PTC_ARG(ptc_text_cut(issue->message, SERVER_SHOWN_BYTES)));
    if (issue->nearest.len)
        hint_nearest(d, issue->nearest);
    else
        ptc_diag_hint(d, "(doc '%.*s) says what it takes",
                      PTC_ARG(ptc_text_cut(is->place.name, SERVER_SHOWN_BYTES)));
}

static bool check_literal(Analyzer *an, const PtcForm *call, PtcText name, uint32_t number,
                          const Literal *lit)
{
    Issues is = {{an, call, name}, lit->map};
    if (lit->twice) {
        PtcText key = {lit->twice->text, lit->twice->len};
        take_issue(&is, &(PtcServerIssue){.path = key, .message = PTC_TEXT("it is given twice")});
        return true;
    }
    return an->servers->check(an->servers, an->heap, number, lit->args, lit->open, take_issue, &is);
}

/* ---------------------------------------------------------------------------------- sites */

static void tell_call_site(Analyzer *an, const PtcForm *at, PtcText name, const uint32_t *number,
                           const Literal *lit)
{
    if (!an->servers->site)
        return;
    PtcServerSite site = {.at = at->first,
                          .many = an->fn->parent || an->loop || an->repeats || !lit,
                          .known = number != NULL,
                          .number = number ? *number : 0,
                          .name = name,
                          .args = lit ? lit->args : PTC_NONE,
                          .open = lit && lit->args != PTC_NONE ? lit->open : PTC_NONE};
    an->servers->site(an->servers, an->heap, &site);
}

/* ------------------------------------------------------------------------------ ns/name */

static PtcExpr *give_tool(Analyzer *an, const PtcForm *form, PtcText full, uint32_t number)
{
    PtcValue f = ptc_analyze_tool_value(an, number, full.bytes, full.len);
    return f == PTC_NONE ? NULL : ptc_analyze_const(an, f, form);
}

/* False: out of memory, or the name is too long. */
static bool join_server_name(char out[SERVER_NAME_BYTES], PtcText ns, PtcText name, PtcText *full)
{
    if (ns.len + name.len + 2 > SERVER_NAME_BYTES)
        return false;
    memcpy(out, ns.bytes, ns.len);
    out[ns.len] = '/';
    memcpy(out + ns.len + 1, name.bytes, name.len);
    *full = (PtcText){out, ns.len + 1 + name.len};
    return true;
}

/* In a function that was stored, every such name may be a tool: a call will tell. */
static PtcExpr *stored(Analyzer *an, const PtcForm *form, PtcText full, PtcText ns, bool *known)
{
    *known = an->lone && !ptc_namespace_known(ns.bytes, ns.len);
    return *known ? give_tool(an, form, full, 0) : NULL;
}

PtcExpr *ptc_analyze_server(Analyzer *an, const PtcForm *form, PtcText ns, PtcText name,
                            bool *known)
{
    char room[SERVER_NAME_BYTES];
    PtcText full;
    PtcServerWord word = {"", "", false};
    uint32_t number = 0;
    *known = false;
    if (!join_server_name(room, ns, name, &full))
        return NULL;
    if (!an->servers)
        return stored(an, form, full, ns, known);
    if (!an->servers->knows(an->servers, ns, &word)) {
        *known = word.nearest[0] != 0 && !ptc_namespace_known(ns.bytes, ns.len);
        if (*known)
            report_server_answer(an, form, PTC_SERVER_UNKNOWN, ns, name, &word);
        return *known ? ptc_analyze_nil(an, form) : NULL;
    }
    *known = true;
    PtcServerAnswer answer = an->servers->find(an->servers, an->heap, ns, name, &number, &word);
    if (answer == PTC_SERVER_STOPPED)
        return NULL;
    if (answer != PTC_SERVER_FOUND && answer != PTC_SERVER_UNSURE) {
        report_server_answer(an, form, answer, ns, name, &word);
        return ptc_analyze_nil(an, form);
    }
    const PtcForm *call = an->parent;
    Literal lit = {.args = PTC_NONE};
    bool called = call && call->kind == PTC_F_LIST && call->items[0] == form;
    bool read = answer == PTC_SERVER_FOUND && called && read_literal_arguments(an, call, &lit);
    if (read && !check_literal(an, call, full, number, &lit))
        return NULL;
    if (!read)
        lit.args = PTC_NONE;
    tell_call_site(an, form, full, answer == PTC_SERVER_FOUND ? &number : NULL,
                   called ? &lit : NULL);
    return give_tool(an, form, full, number);
}

/* ----------------------------------------------------------------------------- tool/call */

static const PtcForm *find_map_form_entry(const PtcForm *map, const char *key)
{
    for (size_t i = 0; i + 1 < map->count; i += 2)
        if (is_key_form(map->items[i]) &&
            ptc_text_is((PtcText){map->items[i]->text, map->items[i]->len}, key))
            return map->items[i + 1];
    return NULL;
}

static void check_tool_call_keys(Analyzer *an, const PtcForm *map)
{
    static const char *const keys[] = {"server", "tool", "args", "raw"};
    for (size_t i = 0; i < map->count; i += 2) {
        const PtcForm *key = map->items[i];
        PtcNearest near;
        bool found = !is_key_form(key);
        ptc_nearest_init(&near, key->text, key->len);
        for (size_t k = 0; !found && k < sizeof keys / sizeof *keys; k++) {
            found = ptc_text_is((PtcText){key->text, key->len}, keys[k]);
            ptc_nearest_offer(&near, keys[k], strlen(keys[k]));
        }
        if (found)
            continue;
        PtcDiag *d =
            ptc_diag_add(an->diags, PTC_E_TOOL_ARGS, key->first, key->last,
                         "tool/call takes :server, :tool, :args and :raw, not :%.*s",
                         PTC_ARG(ptc_text_cut((PtcText){key->text, key->len}, SERVER_SHOWN_BYTES)));
        hint_nearest(d, (PtcText){near.best, near.best_len});
    }
}

static void check_named(Analyzer *an, const PtcForm *call, PtcText ns, PtcText name,
                        const PtcForm *args, const PtcForm *at)
{
    char room[SERVER_NAME_BYTES];
    PtcText full;
    PtcServerWord word = {"", "", false};
    uint32_t number = 0;
    Literal lit = {.map = args};
    if (!join_server_name(room, ns, name, &full))
        return;
    PtcServerAnswer answer =
        an->servers->knows(an->servers, ns, &word)
            ? an->servers->find(an->servers, an->heap, ns, name, &number, &word)
            : PTC_SERVER_UNKNOWN;
    if (answer == PTC_SERVER_UNKNOWN || answer == PTC_SERVER_NO_TOOL || answer == PTC_SERVER_DENIED)
        report_server_answer(an, at, answer, ns, name, &word);
    bool read = answer == PTC_SERVER_FOUND && args && args->kind == PTC_F_MAP &&
                read_literal_entries(an, args->items, args->count, &lit);
    if (read)
        (void)!check_literal(an, call, full, number, &lit);
    if (!read)
        lit.args = PTC_NONE;
    tell_call_site(an, at, full, answer == PTC_SERVER_FOUND ? &number : NULL, &lit);
}

void ptc_analyze_check_call(Analyzer *an, const PtcForm *call)
{
    const PtcForm *map = call->count == 2 ? call->items[1] : NULL;
    bool written = map && map->kind == PTC_F_MAP;
    if (written)
        check_tool_call_keys(an, map);
    const PtcForm *server = written ? find_map_form_entry(map, "server") : NULL;
    const PtcForm *tool = written ? find_map_form_entry(map, "tool") : NULL;
    Literal unknown = {.args = PTC_NONE};
    if (!server || !tool || !is_key_form(server) || !is_key_form(tool))
        tell_call_site(an, call, (PtcText){NULL, 0}, NULL, &unknown);
    else
        check_named(an, call, (PtcText){server->text, server->len},
                    (PtcText){tool->text, tool->len}, find_map_form_entry(map, "args"), tool);
}
