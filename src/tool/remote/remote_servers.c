/* SPDX-License-Identifier: MIT
 * What the analyzer asks: which names there are, and whether arguments fit.  What always holds: an answer is data of
 * somebody else; a member that is missing or of another kind makes it an answer that nobody can use, never a fault. */
#include "tool/remote/remote_servers.h"

#include <stdio.h>

#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "json/sketch.h"
#include "tool/call_reason.h"
#include "tool/convert.h"
#include "tool/remote/remote_ask.h"

enum { SERVERS_ANSWER_BYTES = PTC_MB, SERVERS_NAME_BYTES = 400, SITE_BYTES = 64 * PTC_KB };

static PtcRemoteServers *as_remote_servers(PtcServers *servers)
{
    return (PtcRemoteServers *)(void *)servers;
}

/* -------------------------------------------------------------------------------- answers */

static PtcText answer_text_field(PtcHeap *heap, PtcValue map, const char *name)
{
    PtcValue v = ptc_is_map(map) ? ptc_map_field(heap, map, name) : PTC_NONE;
    return v != PTC_NONE && ptc_is_string(v) ? ptc_str_text(v) : (PtcText){NULL, 0};
}

/* Between 0 and UINT32_MAX; false: it is no such number. */
static bool answer_number_field(PtcHeap *heap, PtcValue map, const char *name, uint32_t *out)
{
    PtcValue v = ptc_is_map(map) ? ptc_map_field(heap, map, name) : PTC_NONE;
    if (v == PTC_NONE || !ptc_is_int(v) || ptc_to_int(v) < 0 || ptc_to_int(v) > UINT32_MAX)
        return false;
    *out = (uint32_t)ptc_to_int(v);
    return true;
}

static void copy_cut_text(char *out, size_t size, PtcText text)
{
    size_t n = text.bytes
                   ? ptc_utf8_valid_prefix(text.bytes, text.len < size - 1 ? text.len : size - 1)
                   : 0;
    if (n)
        memcpy(out, text.bytes, n);
    out[n] = 0;
}

/* Asks and reads the answer; PTC_NONE: the budget has stopped. */
static PtcValue ask_remote_servers(const PtcRemoteServers *s, PtcHeap *heap,
                                   const PtcRemoteQuestion *q, bool *ok)
{
    PtcRemoteAnswer answer = {.heap = NULL};
    PtcJsonError error;
    PtcValue v = PTC_NONE;
    ptc_buf_init(&answer.text, s->mem, SERVERS_ANSWER_BYTES);
    if (ptc_remote_ask(s->run, heap->budget, q, &answer)) {
        PtcText text = ptc_buf_view(&answer.text);
        *ok = answer.ok;
        v = ptc_json_parse(heap, text.bytes, text.len, &error);
        if (v == PTC_NONE && heap->budget->stop == PTC_STOP_NONE) {
            *ok = false; /* not JSON: nobody can use it */
            v = PTC_NIL;
        }
    }
    ptc_buf_deinit(&answer.text);
    return v;
}

/* ---------------------------------------------------------------------------------- names */

/* "ns/name" in room; absent: too long. */
static PtcText join_remote_name(char room[SERVERS_NAME_BYTES], PtcText ns, PtcText name)
{
    if (ns.len + name.len + 1 > SERVERS_NAME_BYTES)
        return (PtcText){NULL, 0};
    memcpy(room, ns.bytes, ns.len);
    room[ns.len] = '/';
    if (name.len)
        memcpy(room + ns.len + 1, name.bytes, name.len);
    return (PtcText){room, ns.len + 1 + name.len};
}

static bool knows_server(PtcServers *servers, PtcText ns, PtcServerWord *word)
{
    PtcRemoteServers *s = as_remote_servers(servers);
    PtcRemote *remote = s->run->remote;
    char room[SERVERS_NAME_BYTES];
    PtcBuf nearest;
    PtcText key = join_remote_name(room, ns, (PtcText){"", 0});
    word->message[0] = word->nearest[0] = 0;
    if (!key.bytes)
        return false;
    if (ptc_remote_names_find(s->names, key) >= 0)
        return true;
    ptc_buf_init(&nearest, s->mem, sizeof word->nearest - 1);
    bool known = remote->knows(remote, ns, &nearest);
    if (known)
        (void)ptc_remote_names_add(s->names, key, (PtcRemoteName){0});
    else
        copy_cut_text(word->nearest, sizeof word->nearest, ptc_buf_view(&nearest));
    ptc_buf_deinit(&nearest);
    return known;
}

static PtcServerAnswer read_server_refusal(PtcHeap *heap, PtcValue answer, PtcServerWord *word)
{
    PtcCallReason reason = ptc_call_reason_find(answer_text_field(heap, answer, "reason"));
    copy_cut_text(word->message, sizeof word->message, answer_text_field(heap, answer, "message"));
    copy_cut_text(word->nearest, sizeof word->nearest, answer_text_field(heap, answer, "nearest"));
    word->refused = reason == PTC_CALL_AUTH_FAILED;
    if (reason == PTC_CALL_UNKNOWN_SERVER)
        return PTC_SERVER_UNKNOWN;
    bool no_tool = reason == PTC_CALL_UNKNOWN_TOOL || reason == PTC_CALL_AMBIGUOUS;
    return no_tool ? PTC_SERVER_NO_TOOL : PTC_SERVER_UNSURE;
}

static void keep_only_required(PtcHeap *heap, PtcValue answer, PtcRemoteName *found)
{
    PtcValue schema = ptc_map_field(heap, answer, "schema");
    PtcValue all = schema != PTC_NONE && ptc_is_map(schema)
                       ? ptc_map_field(heap, schema, "required")
                       : PTC_NONE;
    if (all == PTC_NONE || !ptc_is_sequential(all) || ptc_seq_count(all) != 1)
        return;
    PtcValue only = ptc_seq_nth(all, 0);
    if (ptc_is_string(only) && ptc_str_len(only) < sizeof found->only)
        copy_cut_text(found->only, sizeof found->only, ptc_str_text(only));
}

/* What is too long to be read is not kept. */
static PtcText answer_sketch(PtcHeap *heap, PtcValue answer, const char *name)
{
    PtcText text = answer_text_field(heap, answer, name);
    return text.len <= PTC_SKETCH_BYTES ? text : (PtcText){NULL, 0};
}

static PtcServerAnswer take_found(PtcRemoteServers *s, PtcHeap *heap, PtcText full, PtcValue answer,
                                  uint32_t *number, PtcServerWord *word)
{
    PtcRemoteName found = {0};
    if (ptc_text_is(answer_text_field(heap, answer, "policy"), "deny")) {
        PtcText rule = answer_text_field(heap, answer, "rule");
        snprintf(word->message, sizeof word->message, "it may not be called%s%.*s",
                 rule.len ? ": " : "", PTC_ARG(ptc_text_cut(rule, 180)));
        return PTC_SERVER_DENIED;
    }
    if (!answer_number_field(heap, answer, "slot", &found.slot) ||
        !answer_number_field(heap, answer, "tool", &found.tool))
        return PTC_SERVER_UNSURE;
    PtcValue version = ptc_map_field(heap, answer, "version");
    found.once = version != PTC_NONE &&
                 !(ptc_is_int(version) && (uint64_t)ptc_to_int(version) == s->run->version);
    found.reads = ptc_text_is(answer_text_field(heap, answer, "effect"), "read");
    found.takes = answer_sketch(heap, answer, "takes");
    found.gives = answer_sketch(heap, answer, "gives");
    found.seen = answer_sketch(heap, answer, "seen");
    keep_only_required(heap, answer, &found);
    int64_t got = ptc_remote_names_add(s->names, full, found);
    if (got < 0) {
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
        return PTC_SERVER_STOPPED;
    }
    *number = (uint32_t)got;
    return PTC_SERVER_FOUND;
}

static PtcServerAnswer find_server_function(PtcServers *servers, PtcHeap *heap, PtcText ns,
                                            PtcText name, uint32_t *number, PtcServerWord *word)
{
    PtcRemoteServers *s = as_remote_servers(servers);
    char room[SERVERS_NAME_BYTES];
    bool ok = false;
    PtcBuf text;
    PtcText full = join_remote_name(room, ns, name);
    word->message[0] = word->nearest[0] = 0;
    word->refused = false;
    if (!full.bytes)
        return PTC_SERVER_UNKNOWN;
    int64_t known = ptc_remote_names_find(s->names, full);
    *number = (uint32_t)known;
    if (known >= 0)
        return PTC_SERVER_FOUND;
    ptc_buf_init(&text, s->mem, 8 * SERVERS_NAME_BYTES);
    ptc_emit_object(&text);
    ptc_emit_field_text(&text, "ns", ns);
    ptc_emit_field_text(&text, "name", name);
    ptc_emit_object_end(&text);
    PtcRemoteQuestion q = {.op = PTC_REMOTE_LOOKUP, .text = ptc_buf_view(&text)};
    PtcValue answer = PTC_NONE;
    if (ptc_buf_ok(&text))
        answer = ask_remote_servers(s, heap, &q, &ok);
    else
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    ptc_buf_deinit(&text);
    if (answer == PTC_NONE)
        return PTC_SERVER_STOPPED;
    return ok ? take_found(s, heap, full, answer, number, word)
              : read_server_refusal(heap, answer, word);
}

static PtcText server_function_name(PtcServers *servers, uint32_t number)
{
    PtcRemoteName name;
    if (!ptc_remote_names_get(as_remote_servers(servers)->names, number, &name))
        return (PtcText){NULL, 0};
    return (PtcText){name.text, name.len};
}

static bool server_function_shapes(PtcServers *servers, uint32_t number, PtcToolShapes *out)
{
    PtcRemoteName name;
    if (!ptc_remote_names_get(as_remote_servers(servers)->names, number, &name))
        return false;
    *out = (PtcToolShapes){name.takes, name.gives, name.seen, name.reads};
    return true;
}

/* ------------------------------------------------------------------------------ arguments */

static void report_arg_issues(PtcHeap *heap, PtcValue answer,
                              void (*issue)(void *user, const PtcServerIssue *issue), void *user)
{
    PtcValue all = ptc_is_map(answer) ? ptc_map_field(heap, answer, "issues") : PTC_NONE;
    size_t n = all != PTC_NONE && ptc_is_sequential(all) ? ptc_seq_count(all) : 0;
    for (size_t i = 0; i < n; i++) {
        PtcValue one = ptc_seq_nth(all, i);
        PtcServerIssue found = {
            answer_text_field(heap, one, "path"), answer_text_field(heap, one, "problem"),
            answer_text_field(heap, one, "message"), answer_text_field(heap, one, "nearest")};
        if (found.message.bytes)
            issue(user, &found);
    }
}

static bool has_issues(PtcHeap *heap, PtcValue answer)
{
    PtcValue all = ptc_is_map(answer) ? ptc_map_field(heap, answer, "issues") : PTC_NONE;
    return all != PTC_NONE && ptc_is_sequential(all) && ptc_seq_count(all) > 0;
}

/* False: something in it has no JSON; the call will say so. */
static bool write_question(PtcHeap *heap, PtcBuf *text, PtcValue args, PtcValue open)
{
    PtcJsonError error;
    ptc_emit_object(text);
    ptc_emit_key(text, "args");
    bool ok = ptc_to_json_value(heap, text, args, -1, &error);
    ptc_emit_key(text, "open");
    ok = ok && ptc_to_json_value(heap, text, open, -1, &error);
    return ptc_emit_object_end(text) && ok && ptc_buf_ok(text);
}

static bool ask_check(PtcRemoteServers *s, PtcHeap *heap, const PtcRemoteName *name, PtcText text,
                      void (*issue)(void *user, const PtcServerIssue *issue), void *user)
{
    bool ok = false;
    uint64_t print = ptc_remote_names_hash(PTC_REMOTE_HASH, name->text, name->len);
    print = ptc_remote_names_hash(print, text.bytes, text.len);
    if (ptc_remote_names_checked(s->names, print))
        return true;
    PtcRemoteQuestion q = {
        .op = PTC_REMOTE_CHECK, .slot = name->slot, .tool = name->tool, .text = text};
    PtcValue answer = ask_remote_servers(s, heap, &q, &ok);
    if (answer == PTC_NONE)
        return false;
    if (ok && !has_issues(heap, answer))
        ptc_remote_names_check(s->names, print);
    else
        report_arg_issues(heap, answer, issue, user);
    return true;
}

static bool check_server_args(PtcServers *servers, PtcHeap *heap, uint32_t number, PtcValue args,
                              PtcValue open, void (*issue)(void *user, const PtcServerIssue *issue),
                              void *user)
{
    PtcRemoteServers *s = as_remote_servers(servers);
    PtcRemoteName name;
    PtcBuf text;
    if (!ptc_remote_names_get(s->names, number, &name))
        return true;
    ptc_buf_init(&text, s->mem, SERVERS_ANSWER_BYTES);
    bool ok = !write_question(heap, &text, args, open) ||
              ask_check(s, heap, &name, ptc_buf_view(&text), issue, user);
    ptc_buf_deinit(&text);
    return ok && heap->budget->stop == PTC_STOP_NONE;
}

/* ----------------------------------------------------------------------------------- sites */

/* Arguments that have no JSON, or too much of it, are left out. */
static void put_known(PtcHeap *heap, PtcBuf *text, const PtcServerSite *site)
{
    PtcJsonError error;
    size_t before = text->len;
    if (site->args == PTC_NONE)
        return;
    ptc_emit_key(text, "args");
    bool ok = ptc_to_json_value(heap, text, site->args, -1, &error);
    ptc_emit_key(text, "open");
    ok = ok && ptc_to_json_value(heap, text, site->open, -1, &error);
    if (ok && ptc_buf_ok(text))
        return;
    text->len = before;
    text->full = false;
}

static void tell_server_site(PtcServers *servers, PtcHeap *heap, const PtcServerSite *site)
{
    PtcRemoteServers *s = as_remote_servers(servers);
    PtcRemoteName name = {0};
    PtcBuf text;
    bool ok = false, known = site->known && ptc_remote_names_get(s->names, site->number, &name);
    ptc_buf_init(&text, s->mem, SITE_BYTES);
    ptc_emit_object(&text);
    ptc_emit_field_uint(&text, "at", site->at);
    ptc_emit_field_bool(&text, "many", site->many);
    ptc_emit_field_bool(&text, "known", known);
    if (site->name.bytes)
        ptc_emit_field_text(&text, "name", site->name);
    put_known(heap, &text, site);
    ptc_emit_object_end(&text);
    PtcRemoteQuestion q = {
        .op = PTC_REMOTE_SITE, .slot = name.slot, .tool = name.tool, .text = ptc_buf_view(&text)};
    if (ptc_buf_ok(&text))
        (void)ask_remote_servers(s, heap, &q, &ok);
    else
        ptc_budget_halt(heap->budget, PTC_STOP_MEMORY);
    ptc_buf_deinit(&text);
}

void ptc_remote_servers_init(PtcRemoteServers *servers, const PtcRemoteRun *run,
                             PtcRemoteNames *names, PtcMem *mem)
{
    servers->base = (PtcServers){.find = find_server_function,
                                 .knows = knows_server,
                                 .check = check_server_args,
                                 .name = server_function_name,
                                 .shapes = server_function_shapes,
                                 .call = ptc_remote_call,
                                 .refuse = ptc_remote_refuse,
                                 .ask = ptc_remote_question,
                                 .site = run->plan ? tell_server_site : NULL};
    servers->run = run;
    servers->names = names;
    servers->mem = mem;
    atomic_init(&servers->looks, 0);
    ptc_remote_names_begin(names, run->version);
}
