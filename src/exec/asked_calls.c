/* SPDX-License-Identifier: MIT
 * What has not been called, in words and as JSON: the same wherever it is told. */
#include "exec/asked_calls.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "value/coll/map.h"
#include "value/coll/vec.h"
#include "value/str.h"

enum { ASKED_LIST_BYTES = 512 * PTC_KB, SHOWN_ARGS = 300 };

/* ---------------------------------------------------------------------------------------- plan */

static void find_program_place(PtcText program, size_t at, size_t *line, size_t *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < at && i < program.len; i++) {
        bool ends = program.bytes[i] == '\n';
        *line += ends;
        *column = ends ? 1 : *column + (((unsigned char)program.bytes[i] & 0xc0) != 0x80);
    }
}

static PtcText site_field(PtcHeap *heap, PtcValue map, const char *name)
{
    PtcValue v = ptc_map_field(heap, map, name);
    return v != PTC_NONE && ptc_is_string(v) ? ptc_str_text(v) : (PtcText){NULL, 0};
}

static void put_site_member(PtcBuf *json, PtcHeap *heap, PtcValue site, const char *name)
{
    PtcValue v = ptc_map_field(heap, site, name);
    if (v == PTC_NONE)
        return;
    ptc_emit_key(json, name);
    ptc_emit_value(json, heap, v);
}

static void put_site_args(PtcBuf *text, PtcHeap *heap, PtcValue args)
{
    PtcBuf json;
    ptc_buf_init(&json, text->mem, ASKED_LIST_BYTES);
    ptc_emit_value(&json, heap, args);
    ptc_buf_addf(text, " %.*s", PTC_ARG(ptc_text_cut(ptc_buf_view(&json), SHOWN_ARGS)));
    ptc_buf_end_part(text, &json);
}

/* notes/write (destructive, ask) once {"text":"a"} */
static void put_site_line(PtcBuf *text, PtcHeap *heap, PtcValue site, bool many)
{
    PtcText name = site_field(heap, site, "name"), effect = site_field(heap, site, "effect"),
            policy = site_field(heap, site, "policy");
    PtcValue args = ptc_map_field(heap, site, "args");
    if (!name.bytes)
        name = PTC_TEXT("a tool that is only known when it runs");
    ptc_buf_addf(text, "%.*s", PTC_ARG(name));
    if (effect.bytes)
        ptc_buf_addf(text, " (%.*s, %.*s)", PTC_ARG(effect), PTC_ARG(policy));
    ptc_buf_addf(text, " %s", many ? "perhaps many times" : "once");
    if (args != PTC_NONE)
        put_site_args(text, heap, args);
}

static void put_call_site(const PtcAskedCalls *c, PtcText program, PtcValue site, PtcBuf *text,
                          PtcBuf *json)
{
    static const char *const names[] = {"name",   "server", "tool", "effect",
                                        "policy", "args",   "open"};
    PtcValue at = ptc_map_field(c->heap, site, "at");
    bool many = ptc_map_field(c->heap, site, "many") == PTC_TRUE;
    size_t line, column;
    find_program_place(program, at != PTC_NONE && ptc_is_int(at) ? (size_t)ptc_to_int(at) : 0,
                       &line, &column);
    ptc_emit_object(json);
    ptc_emit_field_uint(json, "line", line);
    ptc_emit_field_uint(json, "column", column);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_site_member(json, c->heap, site, names[i]);
    ptc_emit_field_cstr(json, "times", many ? "many" : "once");
    ptc_emit_object_end(json);
    ptc_buf_addf(text, "\n%zu:%zu ", line, column);
    put_site_line(text, c->heap, site, many);
}

static void list_sites(const PtcAskedCalls *c, PtcText program, PtcBuf *text, PtcBuf *json)
{
    PtcBuf list;
    PtcJsonError error;
    size_t n = c->remote->waiting(c->run, NULL);
    ptc_buf_init(&list, c->mem, ASKED_LIST_BYTES);
    (void)c->remote->question(c->run, NULL, &list);
    PtcValue sites =
        ptc_buf_ok(&list) ? ptc_json_parse(c->heap, list.data, list.len, &error) : PTC_NONE;
    ptc_buf_addf(text, "plan: %zu place%s where other servers may be called", n, n == 1 ? "" : "s");
    ptc_emit_array(json);
    for (size_t i = 0; sites != PTC_NONE && ptc_is_sequential(sites) && i < ptc_seq_count(sites);
         i++)
        put_call_site(c, program, ptc_seq_nth(sites, i), text, json);
    ptc_emit_array_end(json);
    ptc_emit_field_uint(json, "count", n);
    ptc_buf_deinit(&list);
}

/* --------------------------------------------------------------------------------------- calls */

static void list_calls(const PtcAskedCalls *c, PtcBuf *text, PtcBuf *json)
{
    PtcBuf list;
    size_t n = c->remote->question(c->run, NULL, NULL);
    ptc_buf_init(&list, c->mem, ASKED_LIST_BYTES);
    ptc_buf_addf(text, "dry run: the program stops here, before %zu call%s:", n, n == 1 ? "" : "s");
    (void)c->remote->question(c->run, text, &list);
    ptc_emit_raw(json, ptc_buf_view(&list));
    ptc_emit_field_uint(json, "count", n);
    ptc_buf_end_part(json, &list);
}

void ptc_asked_calls_dry_run(const PtcAskedCalls *c, bool plan, PtcText program, PtcBuf *text,
                             PtcBuf *json)
{
    ptc_emit_object(json);
    ptc_emit_field_cstr(json, "dry_run", plan ? "plan" : "reads");
    ptc_emit_key(json, "calls");
    if (plan)
        list_sites(c, program, text, json);
    else
        list_calls(c, text, json);
    ptc_emit_object_end(json);
}
