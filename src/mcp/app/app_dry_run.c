/* SPDX-License-Identifier: MIT
 * Dry runs: what a program would call, as its result.  What always holds: nothing but reads was called. */
#include "mcp/app/app_int.h"

#include "base/utf8.h"
#include "json/parse.h"
#include "value/map.h"
#include "value/str.h"
#include "value/vec.h"

enum { LIST_BYTES = 512 * 1024, SHOWN_ARGS = 300 };

/* ---------------------------------------------------------------------------------------- plan */

static void find_place(PtcText program, size_t at, size_t *line, size_t *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < at && i < program.len; i++) {
        bool ends = program.bytes[i] == '\n';
        *line += ends;
        *column = ends ? 1 : *column + (((unsigned char)program.bytes[i] & 0xc0) != 0x80);
    }
}

static PtcText field(PtcHeap *heap, PtcValue map, const char *name)
{
    PtcValue v = ptc_map_field(heap, map, name);
    return v != PTC_NONE && ptc_is_string(v) ? ptc_str_text(v) : (PtcText){NULL, 0};
}

static void put_member(PtcBuf *json, PtcHeap *heap, PtcValue site, const char *name)
{
    PtcValue v = ptc_map_field(heap, site, name);
    if (v == PTC_NONE)
        return;
    ptc_emit_key(json, name);
    ptc_emit_value(json, heap, v);
}

static void put_args(PtcBuf *text, PtcHeap *heap, PtcValue args)
{
    PtcBuf json;
    ptc_buf_init(&json, text->mem, LIST_BYTES);
    ptc_emit_value(&json, heap, args);
    size_t most = json.len < SHOWN_ARGS ? json.len : SHOWN_ARGS;
    ptc_buf_addf(text, " %.*s", (int)ptc_utf8_valid_prefix(json.data ? json.data : "", most),
                 json.data ? json.data : "");
    ptc_buf_deinit(&json);
}

/* notes/write (destructive, ask) once {"text":"a"} */
static void put_line(PtcBuf *text, PtcHeap *heap, PtcValue site, bool many)
{
    PtcText name = field(heap, site, "name"), effect = field(heap, site, "effect"),
            policy = field(heap, site, "policy");
    PtcValue args = ptc_map_field(heap, site, "args");
    if (!name.bytes)
        name = PTC_TEXT("a tool that is only known when it runs");
    ptc_buf_addf(text, "%.*s", (int)name.len, name.bytes);
    if (effect.bytes)
        ptc_buf_addf(text, " (%.*s, %.*s)", (int)effect.len, effect.bytes, (int)policy.len,
                     policy.bytes ? policy.bytes : "");
    ptc_buf_addf(text, " %s", many ? "perhaps many times" : "once");
    if (args != PTC_NONE)
        put_args(text, heap, args);
}

static void put_site(PtcJob *job, PtcValue site)
{
    static const char *const names[] = {"name",   "server", "tool", "effect",
                                        "policy", "args",   "open"};
    PtcHeap *heap = ptc_mcp_heap(job->call);
    PtcBuf *json = &job->out.json;
    PtcValue at = ptc_map_field(heap, site, "at");
    bool many = ptc_map_field(heap, site, "many") == PTC_TRUE;
    size_t line, column;
    find_place(job->in.program, at != PTC_NONE && ptc_is_int(at) ? (size_t)ptc_to_int(at) : 0,
               &line, &column);
    ptc_emit_object(json);
    ptc_emit_field_uint(json, "line", line);
    ptc_emit_field_uint(json, "column", column);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_member(json, heap, site, names[i]);
    ptc_emit_field_cstr(json, "times", many ? "many" : "once");
    ptc_emit_object_end(json);
    ptc_buf_addf(&job->out.text, "\n%zu:%zu ", line, column);
    put_line(&job->out.text, heap, site, many);
}

static void list_sites(PtcJob *job)
{
    PtcBuf list;
    PtcJsonError error;
    const char *why;
    PtcRemote *remote = job->app->config.remote;
    size_t n = remote->waiting(job->asking.run, &why);
    ptc_buf_init(&list, ptc_mcp_mem(ptc_mcp_server(job->call)), LIST_BYTES);
    remote->question(job->asking.run, 0, 0, &list);
    PtcValue sites = ptc_buf_ok(&list)
                         ? ptc_json_parse(ptc_mcp_heap(job->call), list.data, list.len, &error)
                         : PTC_NONE;
    size_t told = sites != PTC_NONE && ptc_is_sequential(sites) ? ptc_seq_count(sites) : 0;
    ptc_buf_addf(&job->out.text, "plan: %zu place%s where other servers may be called", n,
                 n == 1 ? "" : "s");
    ptc_emit_array(&job->out.json);
    for (size_t i = 0; i < told; i++)
        put_site(job, ptc_seq_nth(sites, i));
    ptc_emit_array_end(&job->out.json);
    ptc_emit_field_uint(&job->out.json, "count", n);
    ptc_buf_deinit(&list);
}

/* --------------------------------------------------------------------------------------- reads */

static void list_calls(PtcJob *job)
{
    PtcBuf calls;
    ptc_buf_init(&calls, ptc_mcp_mem(ptc_mcp_server(job->call)), LIST_BYTES);
    size_t n = ptc_job_add_calls(job, &calls, &job->out.json);
    ptc_emit_field_uint(&job->out.json, "count", n);
    ptc_buf_addf(&job->out.text, "dry run: the program stops here, before %zu call%s:", n,
                 n == 1 ? "" : "s");
    ptc_buf_add(&job->out.text, calls.data, calls.len);
    ptc_buf_deinit(&calls);
}

void ptc_job_list_waiting(PtcJob *job)
{
    PtcTaskOut *out = &job->out;
    bool plan = job->asking.mode == PTC_REMOTE_PLANS;
    ptc_buf_clear(&out->text);
    ptc_buf_clear(&out->json);
    ptc_buf_clear(&out->feedback);
    ptc_emit_object(&out->json);
    ptc_emit_field_cstr(&out->json, "dry_run", plan ? "plan" : "reads");
    ptc_emit_key(&out->json, "calls");
    if (plan)
        list_sites(job);
    else
        list_calls(job);
    ptc_emit_object_end(&out->json);
    out->ok = true;
    out->text_cut = out->validated = false;
    out->reason[0] = out->kind[0] = out->message[0] = '\0';
    ptc_job_end_run(job);
}
