/* SPDX-License-Identifier: MIT
 * Calls of tools: the arguments against what the tool takes, and what it gives. */
#include <stdio.h>

#include "base/text/name_list.h"
#include "base/text/nearest.h"
#include "lisp/check/check_int.h"
#include "lisp/vm/vm_int.h"
#include "value/record_kinds.h"

/* What is known of the tool behind a function value. */
typedef struct Tool {
    PtcText name;
    const PtcSketch *takes, *gives, *seen;
    size_t number;
    bool reads, far;
} Tool;

static const PtcSketch *read_text(Checker *c, PtcText text)
{
    const PtcSketch *s = NULL;
    if (!text.bytes || text.len == 0 || !ptc_sketch_read(c->arena, text, &s))
        return NULL;
    return s;
}

static void far_tool(Checker *c, uint32_t number, Tool *t)
{
    PtcServers *servers = c->job->analysis->servers;
    PtcToolShapes shapes = {.reads = false};
    t->far = true;
    if (!servers || !servers->shapes || !servers->shapes(servers, number, &shapes))
        return;
    t->takes = read_text(c, shapes.takes);
    t->gives = read_text(c, shapes.gives);
    t->seen = read_text(c, shapes.seen);
    t->reads = shapes.reads;
}

static const PtcSketch *read_seen(Checker *c, const PtcHost *host, size_t number)
{
    PtcBuf text;
    ptc_buf_init(&text, c->arena->mem, PTC_SKETCH_BYTES);
    host->seen(host, number, &text);
    c->passing |= text.len > 0;
    const char *written = text.full || text.len == 0 ? NULL : ptc_buf_text(&text);
    const PtcSketch *s = written ? read_text(c, (PtcText){written, text.len}) : NULL;
    ptc_buf_deinit(&text);
    return s;
}

/* Names of other servers have a slash, those of the host have none. */
static void look_up_tool(Checker *c, PtcValue tool, Tool *t)
{
    PtcValue name = ptc_record_field(tool, 1), number = ptc_record_field(tool, 2);
    const PtcHost *host = c->job->analysis->host;
    PtcHostShapes shapes = {.reads = false};
    *t = (Tool){.name = {ptc_str_bytes(name), ptc_str_len(name)},
                .number = (size_t)ptc_to_int(number)};
    if (memchr(t->name.bytes, '/', t->name.len)) {
        far_tool(c, (uint32_t)ptc_to_int(number), t);
        return;
    }
    if (host && host->seen)
        t->seen = read_seen(c, host, (size_t)ptc_to_int(number));
    if (!host || !host->shapes || !host->shapes(host, (size_t)ptc_to_int(number), &shapes))
        return;
    t->takes = shapes.takes;
    t->gives = shapes.gives;
    t->reads = shapes.reads;
}

static void write_name(const Tool *t, char out[96])
{
    snprintf(out, 96, "%s%.*s", t->far ? "" : "tool/", PTC_ARG(ptc_text_cut(t->name, 80)));
}

/* ------------------------------------------------------------------------------ arguments */

/* The same words as where the call itself is refused. */
static void say_unexpected(Finding *f, const char *name, const Misfit *m)
{
    char there[PTC_NAME_LIST_SHOWN];
    PtcNearest near;
    PtcNameList list = {0};
    ptc_nearest_init(&near, m->extra.bytes, m->extra.len);
    for (uint32_t i = 0; i < m->in->count; i++) {
        PtcText known = m->in->fields[i].name;
        ptc_nearest_offer(&near, known.bytes, known.len);
        if (!near.best && known.len > m->extra.len &&
            memcmp(known.bytes, m->extra.bytes, m->extra.len) == 0)
            near = (PtcNearest){.word = near.word, .best = known.bytes, .best_len = known.len};
        ptc_name_list_add(&list, known);
    }
    ptc_name_list_show(&list, near.best ? 'T' : 't', there);
    if (near.best)
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1, "%s: %s: %s; did you mean %.*s? %s", name,
                        m->path, m->what, PTC_ARG_OF(near.best, near.best_len), there);
    else
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1, "%s: %s: %s; %s", name, m->path, m->what,
                        there);
}

static void say_wrong_arguments(Finding *f, const Tool *t, const Misfit *m)
{
    char name[96];
    write_name(t, name);
    if (m->extra.bytes && m->in)
        say_unexpected(f, name, m);
    else
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1, "%s: %s: %s", name,
                        m->path[0] ? m->path : "argument 1", m->what);
    ptc_diag_format(f->hint, PTC_HINT_MAX + 1, "(doc %s) says what it takes", name);
}

static void claim_arguments(Checker *c, PtcExpr *at, const Tool *t, const Misfit *m)
{
    Finding *f = ptc_check_claim(c, at, c->here.certain, PTC_E_TOOL_ARGS, PTC_W_TOOL_ARGS);
    if (f)
        say_wrong_arguments(f, t, m);
}

static const PtcSketchField *only_required(const PtcSketch *takes)
{
    const PtcSketchField *one = NULL;
    for (uint32_t i = 0; i < takes->count; i++) {
        if (takes->fields[i].optional)
            continue;
        if (one)
            return NULL;
        one = &takes->fields[i];
    }
    return one;
}

/* (tool/name :key value ...) as a map. */
static const PtcOutline *map_of_pairs(Checker *c, const PtcOutline *const *args, uint32_t argc)
{
    PtcOutlineEdit e;
    ptc_outline_edit(&e, &(PtcOutline){.kinds = PTC_IS_MAP});
    for (uint32_t i = 0; i + 1 < argc; i += 2) {
        PtcValue key = args[i]->literal;
        if (key == PTC_NONE || !(ptc_is_keyword(key) || ptc_is_string(key)))
            return &ptc_outline_any;
        ptc_outline_put(&c->os, &e, (PtcText){ptc_str_bytes(key), ptc_str_len(key)}, args[i + 1]);
    }
    return ptc_outline_make(&c->os, &e.map);
}

/* What stands in the program is judged by the one who will be called. */
static bool judge_literal(Checker *c, PtcExpr *at, const Tool *t)
{
    const PtcHost *host = c->job->analysis->host;
    PtcHostRefusal why;
    bool literal = at->kind == PTC_X_CALLB && at->count == 2 && at->items[1]->kind == PTC_X_CONST &&
                   ptc_is_map(at->items[1]->value);
    if (t->far || !literal || !host->refuses || c->dry || c->here.muted)
        return false;
    if (!host->refuses(host, t->number, c->heap, c->arena->mem, at->items[1]->value, &why))
        return true;
    Finding *f = ptc_check_claim(c, at, c->here.certain, PTC_E_TOOL_ARGS, PTC_W_TOOL_ARGS);
    if (f) {
        ptc_diag_format(f->message, PTC_MESSAGE_MAX + 1, "%s", why.message);
        ptc_diag_format(f->hint, PTC_HINT_MAX + 1, "%s", why.hint);
    }
    return true;
}

/* (shop/query "select ..." {:id 7}): the parameter that is required, and a map for the other one. */
static bool is_value_and_map(const Tool *t, const PtcOutline *const *args, uint32_t argc)
{
    return argc == 2 && t->takes->count == 2 && args[0]->literal != PTC_NONE &&
           ptc_is_string(args[0]->literal) && (args[1]->kinds & PTC_IS_MAP) &&
           only_required(t->takes);
}

static void check_arguments(Checker *c, PtcExpr *at, const Tool *t, const PtcOutline *const *args,
                            uint32_t argc)
{
    Misfit m;
    FitMode mode = t->far ? FIT_FAR : FIT_ARGUMENT;
    if (!t->takes || t->takes->kind != PTC_SKETCH_MAP || argc > CHECK_ARGS ||
        is_value_and_map(t, args, argc) || judge_literal(c, at, t))
        return;
    const PtcOutline *given = argc == 1 ? args[0] : map_of_pairs(c, args, argc & ~1u);
    if (argc > 1 && argc % 2)
        return;
    if (argc == 1 && !(given->kinds & (PTC_IS_MAP | PTC_IS_NIL))) {
        const PtcSketchField *one = only_required(t->takes);
        if (one && ptc_check_misfit(c, mode, given, one->type, &m) && !m.path[0]) {
            (void)ptc_check_word(one->name, m.path);
            claim_arguments(c, at, t, &m);
        }
        return;
    }
    if (given->kinds == PTC_IS_MAP && ptc_check_misfit(c, mode, given, t->takes, &m))
        claim_arguments(c, at, t, &m);
}

/* --------------------------------------------------------------------------------- results */

static const PtcOutline *result_of(Checker *c, const Tool *t)
{
    const PtcOutline *o = ptc_outline_of_sketch(&c->os, t->gives, t->far);
    if (t->seen && (o == &ptc_outline_any || (o->kinds == PTC_IS_MAP && o->count == 0)))
        return ptc_outline_of_seen(&c->os, t->seen);
    if (!(o->flags & PTC_OUTLINE_MAYBE) || o->source)
        return o;
    PtcOutline to = *o;
    to.source = ptc_str_hash_bytes(t->name.bytes, t->name.len) ^ 1;
    return ptc_outline_make(&c->os, &to);
}

const PtcOutline *ptc_check_tool_call(Checker *c, PtcExpr *at, PtcValue tool,
                                      const PtcOutline *const *args, uint32_t argc)
{
    Tool t;
    if (!ptc_is_record(tool, PTC_R_FN))
        return &ptc_outline_any;
    look_up_tool(c, tool, &t);
    check_arguments(c, at, &t, args, argc);
    for (uint32_t i = 0; i < argc && i < CHECK_ARGS; i++)
        ptc_check_escape(c, args[i]);
    if (!t.reads)
        c->here.wrote = true;
    return result_of(c, &t);
}
