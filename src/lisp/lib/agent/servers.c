/* SPDX-License-Identifier: MIT
 * Other servers, as programs see them: tool/call, tool/servers, tool/blob, tool/resource, and the questions that doc,
 * dir and their kin ask.  Who answers is behind vm->servers (host.h). */
#include "lisp/lib/agent/servers.h"

#include <stdio.h>

#include "base/text/nearest.h"
#include "value/coll/map.h"
#include "value/str.h"

/* ------------------------------------------------------------------------------ questions */

static bool put_question_member(PtcHeap *heap, PtcValue *map, const char *name, PtcValue value)
{
    PtcValue key =
        *map == PTC_NONE || value == PTC_NONE ? PTC_NONE : ptc_str_new(heap, name, strlen(name));
    *map = key == PTC_NONE ? key : ptc_map_assoc(heap, *map, key, value);
    return *map != PTC_NONE;
}

static bool put_question_text(PtcHeap *heap, PtcValue *map, const char *name, PtcText text)
{
    return !text.bytes ||
           put_question_member(heap, map, name, ptc_str_new(heap, text.bytes, text.len));
}

bool ptc_servers_know(PtcVM *vm, PtcText ns)
{
    PtcServerWord word;
    return vm->servers && vm->servers->knows(vm->servers, ns, &word);
}

bool ptc_servers_look(PtcVM *vm, const PtcServerQuestion *q, PtcValue *out)
{
    PtcHeap *heap = vm->heap;
    PtcValue map = ptc_map_empty(heap);
    bool ok = put_question_text(heap, &map, "op", ptc_text_cstr(q->op)) &&
              put_question_text(heap, &map, "ns", q->ns) &&
              put_question_text(heap, &map, "name", q->name) &&
              put_question_text(heap, &map, "query", q->query) &&
              (q->limit < 0 || put_question_member(heap, &map, "limit", ptc_int(q->limit))) &&
              (q->offset < 0 || put_question_member(heap, &map, "offset", ptc_int(q->offset))) &&
              (!q->load || put_question_member(heap, &map, "load", PTC_TRUE));
    return ok && vm->servers->ask(vm, PTC_SERVER_LOOK, map, out);
}

bool ptc_servers_split(PtcVM *vm, PtcText text, PtcText *ns, PtcText *name)
{
    const char *slash = text.len > 1 ? memchr(text.bytes + 1, '/', text.len - 1) : NULL;
    size_t n = slash ? (size_t)(slash - text.bytes) : text.len;
    *ns = (PtcText){text.bytes, n};
    *name = slash ? (PtcText){slash + 1, text.len - n - 1} : (PtcText){NULL, 0};
    return ptc_servers_know(vm, *ns);
}

PtcValue ptc_servers_keywords(PtcVM *vm, PtcValue map)
{
    PtcValue key, value, out = ptc_map_empty(vm->heap);
    if (!ptc_is_map(map))
        return map;
    for (size_t pos = 0; out != PTC_NONE && ptc_map_next(map, &pos, &key, &value);) {
        PtcValue word = ptc_is_string(key)
                            ? ptc_keyword_new(vm->heap, ptc_str_bytes(key), ptc_str_len(key))
                            : key;
        out = word == PTC_NONE || !ptc_tick(&vm->budget, 1)
                  ? PTC_NONE
                  : ptc_map_assoc(vm->heap, out, word, value);
    }
    return out;
}

/* ------------------------------------------------------------------------------- builtins */

static bool fail_no_servers(PtcVM *vm, const char *what)
{
    ptc_fail(vm, PTC_E_UNKNOWN_TOOL, "%s: this run was given no servers", what);
    return ptc_fail_hint(vm, "(tool/servers) lists those that there are");
}

PTC_BUILTIN(tool_servers, "tool", "servers", 0, 0, 0, "(tool/servers)",
            "The servers whose tools this run may call, as maps: :name :namespace :description "
            ":state :tool_count :catalog_loaded, and :reason where one cannot be used.",
            "(tool/servers) => []\n(tool/servers 1) !! arity_error")
{
    PtcValue all = PTC_NIL;
    PtcServerQuestion q = {.op = "servers", .limit = -1, .offset = -1};
    if (vm->servers && !ptc_servers_look(vm, &q, &all))
        return false;
    PtcValue list = ptc_vec_new(vm->heap, NULL, 0, 0);
    size_t n = ptc_is_sequential(all) ? ptc_seq_count(all) : 0;
    for (size_t i = 0; i < n && list != PTC_NONE; i++) {
        PtcValue one = ptc_servers_keywords(vm, ptc_seq_nth(all, i));
        list = one == PTC_NONE ? one : ptc_vec_conj(vm->heap, list, one);
    }
    return ptc_give(out, list);
}

/* A key of tool/call or tool/resource that is none of `keys`; they end with NULL. */
static bool check_question_keys(PtcVM *vm, PtcValue map, const char *what, const char *const *keys)
{
    PtcValue key;
    for (size_t pos = 0; ptc_map_next(map, &pos, &key, NULL);) {
        bool found = false;
        PtcText word =
            ptc_is_named(key) ? (PtcText){ptc_str_bytes(key), ptc_str_len(key)} : PTC_TEXT("?");
        PtcNearest near;
        ptc_nearest_init(&near, word.bytes, word.len);
        for (size_t i = 0; keys[i] && !found; i++) {
            found = ptc_text_is(word, keys[i]);
            ptc_nearest_offer(&near, keys[i], strlen(keys[i]));
        }
        if (found)
            continue;
        int n = (int)(word.len > 60 ? 60 : word.len);
        ptc_fail(vm, PTC_E_TOOL_ARGS, "%s has no key :%.*s", what, PTC_ARG_OF(word.bytes, n));
        return near.best
                   ? ptc_fail_hint(vm, "did you mean :%.*s?", PTC_ARG_OF(near.best, near.best_len))
                   : ptc_fail_hint(vm, "see (doc %s)", what);
    }
    return true;
}

static bool need_text(PtcVM *vm, PtcValue map, const char *what, const char *key)
{
    PtcValue word = ptc_keyword_new(vm->heap, key, strlen(key));
    PtcValue v = word == PTC_NONE ? word : ptc_map_get_flex(vm->heap, map, word);
    if (word == PTC_NONE)
        return false;
    if (v != PTC_NONE && ptc_is_named(v))
        return true;
    ptc_fail(vm, PTC_E_TOOL_ARGS, "%s needs a text for :%s", what, key);
    return ptc_fail_hint(vm, "see (doc %s)", what);
}

PTC_BUILTIN(
    tool_call, "tool", "call", 1, 1, PTC_B_CALLS | PTC_B_EFFECT,
    "(tool/call {:server s :tool t :args {...} :raw false})",
    "Calls a tool of another server by name and gives {:ok true :value v :value_kind :json} (or "
    ":text :none :content); a failure is {:ok false :reason :timeout :message \"...\"} instead of "
    "an error. With :raw true the value is the whole answer of the server.",
    "(tool/call {:server \"github\" :tool \"get_pr\" :args {:number 7}}) !! unknown_tool\n"
    "(tool/call 1) !! type_error")
{
    static const char *const keys[] = {"server", "tool", "args", "raw", NULL};
    if (!ptc_arg_map(vm, argv, 0))
        return false;
    if (!vm->servers)
        return fail_no_servers(vm, "tool/call");
    return check_question_keys(vm, argv[0], "tool/call", keys) &&
           need_text(vm, argv[0], "tool/call", "server") &&
           need_text(vm, argv[0], "tool/call", "tool") &&
           vm->servers->ask(vm, PTC_SERVER_CALL, argv[0], out);
}

PTC_BUILTIN(tool_resource, "tool", "resource", 1, 1, PTC_B_CALLS | PTC_B_EFFECT,
            "(tool/resource {:server s :uri u})",
            "Reads a resource of another server, as a value like that of a tool call.",
            "(tool/resource {:server \"docs\" :uri \"file:///a\"}) !! unknown_tool\n"
            "(tool/resource 1) !! type_error")
{
    static const char *const keys[] = {"server", "uri", NULL};
    if (!ptc_arg_map(vm, argv, 0))
        return false;
    if (!vm->servers)
        return fail_no_servers(vm, "tool/resource");
    return check_question_keys(vm, argv[0], "tool/resource", keys) &&
           need_text(vm, argv[0], "tool/resource", "server") &&
           need_text(vm, argv[0], "tool/resource", "uri") &&
           vm->servers->ask(vm, PTC_SERVER_RESOURCE, argv[0], out);
}

PTC_BUILTIN(tool_blob, "tool", "blob", 1, 1, PTC_B_CALLS | PTC_B_EFFECT, "(tool/blob ref)",
            "The bytes behind the :ref of a picture, sound or file that a server sent, as base64.",
            "(tool/blob \"blob-1\") !! unknown_tool\n(tool/blob 1) !! type_error")
{
    const char *ref;
    size_t len;
    PtcValue *map = ptc_roots(vm, 1);
    if (!map || !ptc_arg_string(vm, argv, 0, &ref, &len))
        return false;
    if (!vm->servers)
        return fail_no_servers(vm, "tool/blob");
    *map = ptc_map_empty(vm->heap);
    if (!put_question_member(vm->heap, map, "ref", argv[0])) {
        *map = PTC_NIL;
        return false;
    }
    return vm->servers->ask(vm, PTC_SERVER_BLOB, *map, out);
}

PTC_BUILTIN_TABLE(ptc_lib_servers, tool_servers, tool_call, tool_resource, tool_blob);
