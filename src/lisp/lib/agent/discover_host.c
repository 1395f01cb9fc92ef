/* SPDX-License-Identifier: MIT
 * Tools and data of a run as documentation.  Texts of tools are somebody else's and of any length: they are cut in
 * lines and whole only in what doc gives. */
#include "lisp/lib/agent/discover_host.h"

#include <stdio.h>

#include "base/utf8.h"
#include "lisp/analyze/suggest.h"
#include "lisp/lazy/seq_int.h"
#include "lisp/lib/builtin_doc.h"
#include "lisp/vm/vm_int.h"
#include "value/coll/columns.h"
#include "value/coll/key_name.h"

enum {
    COLUMNS_IN_LINE = 6,
    HOST_SAMPLE_BYTES = 600,
    HOST_LINE_BYTES = 200, /* of a description in a line */
    HOST_SEEN_BYTES = 2048,
    SEARCHED_BYTES = 1000
};

/* ------------------------------------------------------------------------ one by one */

static bool get_tool(const PtcVM *vm, size_t i, PtcHostThing *out)
{
    if (!vm->host || !vm->host->about || !vm->host->about(vm->host, i, &out->tool))
        return false;
    out->kind = PTC_HOST_TOOL;
    out->number = i;
    size_t n = ptc_utf8_valid_prefix(out->tool.name.bytes,
                                     out->tool.name.len < 140 ? out->tool.name.len : 140);
    snprintf(out->ref, sizeof out->ref, "tool/%.*s", PTC_ARG_OF(out->tool.name.bytes, n));
    return true;
}

static void set_data(PtcHostThing *out, PtcValue key, PtcValue value)
{
    char name[PTC_KEY_WRITTEN];
    out->kind = PTC_HOST_DATA;
    out->key = key;
    out->value = value;
    if (ptc_is_named(key) && ptc_key_as_name(key, name))
        snprintf(out->ref, sizeof out->ref, "data/%s", name);
    else
        snprintf(out->ref, sizeof out->ref, "data/?");
}

size_t ptc_host_things_count(const PtcVM *vm, bool tools, bool data)
{
    size_t n = 0, len;
    while (tools && vm->host && vm->host->name(vm->host, n, &len))
        n++;
    return n + (data && ptc_is_map(vm->context) ? ptc_map_count(vm->context) : 0);
}

PtcHostThings ptc_host_things_of(PtcVM *vm, bool tools, bool data)
{
    return (PtcHostThings){.vm = vm, .tools = tools, .data = data && ptc_is_map(vm->context)};
}

bool ptc_host_things_next(PtcHostThings *all, PtcHostThing *out)
{
    PtcValue key, value;
    *out = (PtcHostThing){.kind = PTC_HOST_NONE};
    if (all->tools && get_tool(all->vm, all->tool, out)) {
        all->tool++;
        return true;
    }
    all->tools = false;
    if (!all->data || !ptc_map_next(all->vm->context, &all->entry, &key, &value))
        return false;
    set_data(out, key, value);
    return true;
}

/* ---------------------------------------------------------------------------- by name */

static bool fail_missing(PtcVM *vm, const char *what, const char *name, size_t len, bool tools)
{
    PtcSuggest s;
    PtcHostThing thing;
    size_t slash = tools ? strlen("tool/") : strlen("data/"), n = len < 80 ? len : 80;
    ptc_suggest_init(&s, name, len);
    PtcHostThings all = ptc_host_things_of(vm, tools, !tools);
    while (ptc_host_things_next(&all, &thing)) {
        if (!ptc_tick(&vm->budget, 20))
            return false;
        ptc_suggest_offer(&s, tools ? "tool/" : "data/", thing.ref + slash,
                          strlen(thing.ref) - slash, PTC_SUGGEST_OWN);
    }
    ptc_fail(vm, PTC_E_VALUE, "there %s named %.*s", what,
             PTC_ARG_OF(name, ptc_utf8_valid_prefix(name, n)));
    if (ptc_suggest_found(&s))
        return ptc_fail_hint(vm, "did you mean %s?", s.best);
    return ptc_fail_hint(vm, "(dir '%s) lists them", tools ? "tool" : "data");
}

/* ns/name that is the tool ns.name; anything else is none of ours. */
static bool grouped_tool(const PtcVM *vm, PtcText written, PtcHostThing *out)
{
    char name[PTC_HOST_NAME];
    const char *slash = memchr(written.bytes, '/', written.len);
    size_t at = slash ? (size_t)(slash - written.bytes) : 0;
    size_t len = ptc_host_grouped(vm->host, written, at, name);
    return len == 0 || get_tool(vm, (size_t)vm->host->find(vm->host, name, len), out);
}

bool ptc_host_thing_named(PtcVM *vm, const char *name, size_t len, PtcHostThing *out)
{
    *out = (PtcHostThing){.kind = PTC_HOST_NONE};
    bool tool = len > 5 && memcmp(name, "tool/", 5) == 0;
    bool data = len > 5 && memcmp(name, "data/", 5) == 0;
    if (ptc_builtin_find(name, len) >= 0)
        return true;
    if (!tool && !data)
        return grouped_tool(vm, (PtcText){name, len}, out);
    name += 5;
    len -= 5;
    int number = tool && vm->host ? vm->host->find(vm->host, name, len) : -1;
    if (tool)
        return (number >= 0 && get_tool(vm, (size_t)number, out)) ||
               fail_missing(vm, "is no tool", name, len, true);
    PtcValue asked = ptc_keyword_new(vm->heap, name, len), key = PTC_NONE;
    if (asked == PTC_NONE)
        return false;
    if (ptc_is_map(vm->context))
        key = ptc_map_key_flex(vm->heap, vm->context, asked);
    if (key == PTC_NONE)
        return fail_missing(vm, "are no data", name, len, false);
    set_data(out, key, ptc_map_get(vm->heap, vm->context, key));
    return true;
}

/* ---------------------------------------------------------------------------- describing */

/* As a program would print it, cut. */
static void add_data_sample(PtcVM *vm, PtcBuf *buf, PtcValue v)
{
    char shown[HOST_SAMPLE_BYTES];
    PtcBuf sample = {.mem = vm->mem, .data = shown, .cap = sizeof shown, .max = sizeof shown};
    PtcPrinter printer = ptc_vm_printer(vm, true);
    bool whole = ptc_print(&printer, &sample, v);
    ptc_buf_add(buf, shown, ptc_utf8_valid_prefix(shown, sample.len));
    if (!whole)
        ptc_buf_add_cstr(buf, "...");
}

static void describe_data(PtcVM *vm, PtcBuf *buf, const PtcHostThing *thing)
{
    PtcColumns t;
    PtcValue v = thing->value;
    bool table = ptc_columns_see(vm->heap, &t, v);
    ptc_buf_addf(buf, "%s\nKind: data\nType: ", thing->ref);
    if (!ptc_columns_write_size(buf, v, table))
        ptc_buf_add_cstr(buf, ptc_type_name(v));
    for (size_t i = 0; table && i < t.count; i++) {
        ptc_buf_add_cstr(buf, i ? "\n  " : ptc_is_map(v) ? "\nKeys:\n  " : "\nColumns:\n  ");
        ptc_column_write(buf, &t, &t.items[i], true);
    }
    if (table && t.more)
        ptc_buf_add_cstr(buf, "\n  and more");
    bool rows = ptc_is_sequential(v) && ptc_seq_count(v) > 0;
    ptc_buf_add_cstr(buf, rows ? "\nFirst: " : "\nValue: ");
    add_data_sample(vm, buf, rows ? ptc_seq_nth(v, 0) : v);
}

static void add_cut_line(PtcBuf *buf, PtcText text, size_t most)
{
    size_t n =
        ptc_utf8_valid_prefix(text.bytes ? text.bytes : "", text.len < most ? text.len : most);
    ptc_buf_add(buf, text.bytes, n);
    if (n < text.len)
        ptc_buf_add_cstr(buf, "...");
}

/* What results of a tool were like, behind these words; nothing when nobody knows. */
static void add_seen(const PtcVM *vm, PtcBuf *buf, const PtcHostThing *thing, const char *words,
                     size_t most)
{
    PtcBuf seen;
    ptc_buf_init(&seen, vm->mem, HOST_SEEN_BYTES);
    if (vm->host->seen)
        vm->host->seen(vm->host, thing->number, &seen);
    if (seen.len) {
        ptc_buf_add_cstr(buf, words);
        add_cut_line(buf, ptc_buf_view(&seen), most);
    }
    ptc_buf_end_part(buf, &seen);
}

static void describe_tool(const PtcVM *vm, PtcBuf *buf, const PtcHostThing *thing)
{
    const PtcHostTool *t = &thing->tool;
    ptc_buf_add_cstr(buf, thing->ref);
    if (t->description.len) {
        ptc_buf_add_cstr(buf, "\nDescription: ");
        ptc_buf_add(buf, t->description.bytes, t->description.len);
    }
    ptc_buf_add_cstr(buf, "\nKind: tool\nNamespace: tool\nSignature: ");
    if (t->signature.len)
        ptc_buf_add(buf, t->signature.bytes, t->signature.len);
    else
        ptc_buf_add_cstr(buf, "none: any arguments, any result");
    add_seen(vm, buf, thing, "\nSeen so far (not declared): ", HOST_SEEN_BYTES);
    ptc_buf_addf(buf, "\nCall: (%s {:name value ...})", thing->ref);
}

bool ptc_host_thing_describe(PtcVM *vm, PtcBuf *buf, const PtcHostThing *thing)
{
    if (thing->kind == PTC_HOST_TOOL)
        describe_tool(vm, buf, thing);
    else
        describe_data(vm, buf, thing);
    return ptc_tick(&vm->budget, 2000);
}

/* -------------------------------------------------------------------------------- lines */

static void data_line(PtcVM *vm, PtcBuf *buf, PtcValue v)
{
    if (!ptc_columns_write_line(vm->heap, buf, v, COLUMNS_IN_LINE))
        ptc_buf_add_cstr(buf, ptc_type_name(v));
}

bool ptc_host_thing_line(PtcVM *vm, PtcBuf *buf, const PtcHostThing *thing, bool whole)
{
    ptc_buf_add_cstr(buf, thing->ref + (whole ? 0 : 5));
    if (thing->kind == PTC_HOST_DATA) {
        ptc_buf_add_cstr(buf, " - ");
        data_line(vm, buf, thing->value);
        return ptc_tick(&vm->budget, 2000);
    }
    if (thing->tool.signature.len) {
        ptc_buf_add_char(buf, ' ');
        add_cut_line(buf, thing->tool.signature, HOST_LINE_BYTES);
    }
    add_seen(vm, buf, thing, " => seen ", HOST_LINE_BYTES);
    if (thing->tool.description.len) {
        ptc_buf_add_cstr(buf, " - ");
        add_cut_line(buf, thing->tool.description, HOST_LINE_BYTES);
    }
    return ptc_tick(&vm->budget, 10);
}

int ptc_host_thing_score(PtcVM *vm, const PtcHostThing *thing, const char *query, size_t len)
{
    char text[SEARCHED_BYTES + 1];
    PtcBuf buf = {.mem = vm->mem, .data = text, .cap = SEARCHED_BYTES, .max = SEARCHED_BYTES};
    if (thing->kind == PTC_HOST_TOOL) {
        add_cut_line(&buf, thing->tool.signature, SEARCHED_BYTES / 2);
        ptc_buf_add_char(&buf, ' ');
        add_cut_line(&buf, thing->tool.description, SEARCHED_BYTES / 2);
    } else {
        data_line(vm, &buf, thing->value);
    }
    text[buf.len] = 0;
    return ptc_rows_score(query, len, thing->ref, text);
}
