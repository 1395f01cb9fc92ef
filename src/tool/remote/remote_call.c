/* SPDX-License-Identifier: MIT
 * Calls that programs make in other servers: arguments to JSON, the answer into the run's heap, failures thrown with
 * what is known of them as ex-data.
 *
 * What always holds: a call is made once.  A step after it that runs out of memory is repeated by itself, never by
 * calling again. */
#include <stdio.h>

#include "base/utf8.h"
#include "json/emit.h"
#include "json/parse.h"
#include "lisp/parallel/crew.h"
#include "lisp/vm/record.h"
#include "lisp/vm/vm_int.h"
#include "tool/call.h"
#include "tool/call_reason.h"
#include "tool/convert.h"
#include "tool/keys.h"
#include "tool/remote/remote_ask.h"
#include "tool/remote/remote_servers.h"

enum {
    REMOTE_ARGUMENTS_BYTES = PTC_MB,
    REMOTE_ANSWER_BYTES = 64 * PTC_MB,
    PARSE_TRIES = 20,
    REMOTE_LOOKS = 100, /* discovery forms of a program */
    REMOTE_SHOWN = 120,
};

static PtcRemoteServers *remote_servers_of_vm(const PtcVM *vm)
{
    return (PtcRemoteServers *)(void *)vm->servers;
}

/* ------------------------------------------------------------------------------ arguments */

static bool fail_remote_args(PtcVM *vm, PtcText name, const char *what, const char *path)
{
    bool whole = !path[0] || strcmp(path, "<root>") == 0;
    ptc_fail(vm, PTC_E_TOOL_ARGS, "%.*s: %s%s%s%s", PTC_ARG(ptc_text_cut(name, REMOTE_SHOWN)),
             whole ? "" : "argument ", whole ? "" : path, whole ? "" : " is ", what);
    return ptc_fail_hint(vm, "call it as (%.*s {:key value}) or (%.*s :key value)",
                         PTC_ARG(ptc_text_cut(name, REMOTE_SHOWN)),
                         PTC_ARG(ptc_text_cut(name, REMOTE_SHOWN)));
}

/* False: it cannot be written; the VM has failed, or the budget has stopped. */
static bool write_remote_value(PtcVM *vm, PtcText name, PtcBuf *text, PtcValue v)
{
    PtcJsonError error = {0};
    if (ptc_to_json_value(vm->heap, text, v, -1, &error))
        return true;
    if (text->full && !text->failed)
        return fail_remote_args(vm, name, "its arguments have more than 1 MiB as JSON", "");
    if (error.stopped || !error.what[0])
        return ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
    return fail_remote_args(vm, name, error.what, error.path);
}

/* The name of a keyword. */
static PtcText keyword_text(PtcValue key)
{
    return (PtcText){ptc_str_bytes(key), ptc_str_len(key)};
}

static bool given_before(const PtcValue *argv, int i)
{
    for (int k = 0; k < i; k += 2)
        if (ptc_text_same(keyword_text(argv[k]), keyword_text(argv[i])))
            return true;
    return false;
}

static bool write_pairs(PtcVM *vm, PtcText name, PtcBuf *text, int argc, const PtcValue *argv)
{
    ptc_emit_object(text);
    for (int i = 0; i < argc; i += 2) {
        if (!ptc_tick(&vm->budget, 1 + i / 4))
            return false;
        if (i + 1 == argc || !ptc_is_keyword(argv[i]))
            return fail_remote_args(vm, name, "it takes one map, or keywords and values in turn",
                                    "");
        if (given_before(argv, i))
            return fail_remote_args(vm, name, "a keyword is given twice", "");
        ptc_emit_key_text(text, keyword_text(argv[i]));
        if (!write_remote_value(vm, name, text, argv[i + 1]))
            return false;
    }
    return ptc_emit_object_end(text) || ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY);
}

/* What a tool is mapped over is its only required argument. */
static bool write_lone_argument(PtcVM *vm, const PtcRemoteName *tool, PtcBuf *text, PtcValue v)
{
    ptc_emit_object(text);
    ptc_emit_key(text, tool->only);
    return write_remote_value(vm, (PtcText){tool->text, tool->len}, text, v) &&
           (ptc_emit_object_end(text) || ptc_budget_halt(&vm->budget, PTC_STOP_MEMORY));
}

static bool write_args(PtcVM *vm, const PtcRemoteName *tool, PtcBuf *text, int argc,
                       const PtcValue *argv)
{
    PtcText name = {tool->text, tool->len};
    if (argc == 1 && ptc_is_map(argv[0]))
        return write_remote_value(vm, name, text, argv[0]);
    if (tool->only[0] && ptc_is_lone_argument(argc, argv))
        return write_lone_argument(vm, tool, text, argv[0]);
    return write_pairs(vm, name, text, argc, argv);
}

/* -------------------------------------------------------------------------------- answers */

/* Dead values are collected before an answer comes in: it cannot be had twice. */
static bool make_room_for_answer(PtcVM *vm)
{
    const PtcHeap *heap = vm->heap;
    if (heap->used - heap->live <= heap->limit / 4 && !vm->budget.wake)
        return true;
    vm->budget.wake = true;
    return ptc_vm_safepoint(vm);
}

/* What the program asked, and what came back. */
typedef struct RemoteReply {
    PtcVM *vm;
    /* The answer; rooted, unless nothing is collected.  Behind it are the arguments of a call. */
    PtcValue *slot;
    PtcText name; /* of what is called, as long as the run lives */
    bool ok;
    const char *kind; /* the answer is the value of a call, of this kind; NULL: it has that in it */
    bool collects;
    bool alone; /* before the last try to read it: no other thread took from the same account */
    int tries;
} RemoteReply;

/* Answers that reach several threads at the same time may not fit together: so they are read one after another. */
static bool make_room_again(RemoteReply *reply)
{
    PtcVM *vm = reply->vm;
    int tries = reply->tries++;
    if (!reply->collects || vm->budget.stop != PTC_STOP_MEMORY || (reply->alone && tries > 0) ||
        tries == PARSE_TRIES || !ptc_recover(vm))
        return false;
    reply->alone = !ptc_heap_is_shared(vm->heap);
    return true;
}

static bool make_room_in_run(PtcRemoteAnswer *answer)
{
    return make_room_again(answer->user);
}

/* An answer that came as text. */
static PtcValue read_remote_answer(RemoteReply *reply, PtcText text)
{
    PtcVM *vm = reply->vm;
    PtcJsonError error;
    PtcValue v = PTC_NONE;
    ptc_heap_tool_begin(vm->heap);
    do
        v = ptc_json_parse(vm->heap, text.bytes, text.len, &error);
    while (v == PTC_NONE && make_room_again(reply));
    ptc_heap_tool_end(vm->heap, v);
    /* no JSON: an answer that says nothing */
    return v == PTC_NONE && vm->budget.stop == PTC_STOP_NONE ? PTC_NIL : v;
}

static PtcValue remote_member(PtcVM *vm, PtcValue map, const char *name)
{
    PtcValue v = ptc_is_map(map) ? ptc_map_field(vm->heap, map, name) : PTC_NIL;
    return v == PTC_NONE ? PTC_NIL : v;
}

static PtcValue value_of_call(const RemoteReply *reply)
{
    return reply->kind ? *reply->slot : remote_member(reply->vm, *reply->slot, "value");
}

/* For whoever corrects the program, as note_write() of tool/call.c. */
static void note_remote_write(const RemoteReply *reply, PtcTookEffect took)
{
    PtcVM *vm = reply->vm;
    PtcWrite *w = took == PTC_TOOK_NO_EFFECT ? NULL : ptc_writes_add(&vm->log.writes, vm->mem);
    if (w)
        *w = (PtcWrite){.tool = reply->name,
                        .unknown = took == PTC_TOOK_UNKNOWN,
                        .args = reply->slot[1],
                        .result = reply->ok ? value_of_call(reply) : PTC_NIL};
}

/* False: the budget has stopped. */
static bool exchange_with_remote(const PtcRemoteQuestion *q, RemoteReply *reply)
{
    PtcVM *vm = reply->vm;
    PtcRemoteAnswer answer = {
        .heap = reply->collects ? vm->heap : NULL, .make_room = make_room_in_run, .user = reply};
    PtcValue v = PTC_NONE;
    ptc_buf_init(&answer.text, vm->mem, REMOTE_ANSWER_BYTES);
    ptc_crew_offer(vm);
    if (ptc_remote_ask(remote_servers_of_vm(vm)->run, &vm->budget, q, &answer))
        v = answer.value != PTC_NONE ? answer.value
                                     : read_remote_answer(reply, ptc_buf_view(&answer.text));
    ptc_buf_deinit(&answer.text);
    reply->ok = answer.ok;
    reply->kind = answer.kind;
    *reply->slot = v == PTC_NONE ? PTC_NIL : v;
    note_remote_write(reply, answer.took);
    return v != PTC_NONE;
}

static bool put_keyword_member(PtcVM *vm, PtcValue *map, const char *name, PtcValue value)
{
    PtcValue key = *map == PTC_NONE || value == PTC_NONE
                       ? PTC_NONE
                       : ptc_keyword_new(vm->heap, name, strlen(name));
    *map = key == PTC_NONE ? key : ptc_map_assoc(vm->heap, *map, key, value);
    return *map != PTC_NONE;
}

/* A word such as "timeout" as a keyword. */
static PtcValue keyword_of_word(PtcVM *vm, PtcValue v)
{
    return ptc_is_string(v) ? ptc_keyword_new(vm->heap, ptc_str_bytes(v), ptc_str_len(v)) : v;
}

/* ------------------------------------------------------------------------------- failures */

static PtcCallReason find_failure_reason(PtcVM *vm, PtcValue failure)
{
    PtcValue reason = remote_member(vm, failure, "reason");
    return ptc_is_string(reason) ? ptc_call_reason_find(ptc_str_text(reason)) : PTC_CALL_OTHER;
}

static PtcValue failure_data(PtcVM *vm, PtcValue failure)
{
    static const struct {
        const char *name;
        bool word;
    } members[] = {{"server", false},  {"tool", false},   {"reason", true},
                   {"message", false}, {"status", false}, {"retry_after_ms", false},
                   {"effect", true}};
    PtcValue map = ptc_map_empty(vm->heap);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        PtcValue v = remote_member(vm, failure, members[i].name);
        if (v != PTC_NIL && !put_keyword_member(vm, &map, members[i].name,
                                                members[i].word ? keyword_of_word(vm, v) : v))
            break;
    }
    return map;
}

static bool throw_once(PtcVM *vm, PtcText name, PtcValue failure)
{
    char text[PTC_MESSAGE_MAX * 2];
    PtcValue message = remote_member(vm, failure, "message");
    bool args = find_failure_reason(vm, failure) == PTC_CALL_INVALID_ARGS;
    PtcText said = ptc_is_string(message) ? ptc_str_text(message) : PTC_TEXT("it gave no answer");
    int len = snprintf(text, sizeof text, args ? "%.*s: %.*s" : "%.*s failed: %.*s",
                       PTC_ARG(ptc_text_cut(name, REMOTE_SHOWN)), PTC_ARG(ptc_text_cut(said, 400)));
    PtcValue whole = ptc_str_new(vm->heap, text, (size_t)len), data = failure_data(vm, failure);
    if (whole == PTC_NONE || data == PTC_NONE)
        return false;
    ptc_except_throw(vm, args ? PTC_E_TOOL_ARGS : PTC_E_TOOL, whole, data);
    if (args && vm->failed)
        ptc_fail_hint(vm, "(doc '%.*s) says what it takes",
                      PTC_ARG(ptc_text_cut(name, REMOTE_SHOWN)));
    return false;
}

/* *failure is rooted when `collect`.  Always false. */
static bool throw_failure(PtcVM *vm, PtcText name, const PtcValue *failure, bool collect)
{
    if (find_failure_reason(vm, *failure) == PTC_CALL_ASIDE)
        return ptc_budget_halt(&vm->budget, PTC_STOP_ASIDE);
    throw_once(vm, name, *failure);
    if (!vm->failed && collect && ptc_recover(vm))
        throw_once(vm, name, *failure);
    return false;
}

static PtcErrorKind refusal_error_kind(PtcServerAnswer answer)
{
    return answer == PTC_SERVER_DENIED ? PTC_E_TOOL_DENIED : PTC_E_UNKNOWN_TOOL;
}

bool ptc_remote_refuse(PtcVM *vm, PtcText name, PtcServerAnswer answer, const PtcServerWord *word)
{
    if (answer == PTC_SERVER_STOPPED)
        return false;
    if (answer == PTC_SERVER_UNSURE) {
        PtcValue map = ptc_map_empty(vm->heap);
        const char *why =
            ptc_call_reason_word(word->refused ? PTC_CALL_AUTH_FAILED : PTC_CALL_UNAVAILABLE);
        PtcValue reason = ptc_keyword_new(vm->heap, why, strlen(why));
        PtcValue text = ptc_str_new(vm->heap, word->message, strlen(word->message));
        return put_keyword_member(vm, &map, "reason", reason) &&
               put_keyword_member(vm, &map, "message", text) &&
               ptc_except_throw(vm, PTC_E_TOOL, text, map);
    }
    bool told = word->message[0] != 0;
    ptc_fail(vm, refusal_error_kind(answer), "%.*s: %s", PTC_ARG(ptc_text_cut(name, REMOTE_SHOWN)),
             told ? word->message : "there is no such server");
    if (word->nearest[0])
        ptc_fail_hint(vm, "did you mean %s?", word->nearest);
    return false;
}

/* ---------------------------------------------------------------------------------- calls */

/* Only the other side knows the schema.  With arguments that it refuses there was no call, as with a signature. */
static void uncount_unmade_call(const RemoteReply *reply)
{
    if (!reply->ok && find_failure_reason(reply->vm, *reply->slot) == PTC_CALL_INVALID_ARGS)
        ptc_program_uncount_call(reply->vm);
}

static PtcRemoteId next_id(PtcVM *vm)
{
    return (PtcRemoteId){vm->call_path ^ remote_servers_of_vm(vm)->run->program, vm->call_count++};
}

static PtcValue remote_args_as_map(PtcVM *vm, const PtcRemoteName *tool, int argc,
                                   const PtcValue *argv)
{
    PtcKeysError error = {0};
    PtcValue pair[2];
    bool lone = tool->only[0] && ptc_is_lone_argument(argc, argv);
    if (argc == 1 && !lone)
        return argv[0];
    if (!lone)
        return ptc_tool_args_pairs(vm->heap, tool->text, tool->len, argc, argv, &error);
    pair[0] = ptc_keyword_new(vm->heap, tool->only, strlen(tool->only));
    pair[1] = argv[0];
    return pair[0] == PTC_NONE
               ? PTC_NONE
               : ptc_tool_args_pairs(vm->heap, tool->text, tool->len, 2, pair, &error);
}

/* The arguments, to be remembered; they have been written, so that only memory may be missing.  False: it is. */
static bool keep_remote_args(PtcVM *vm, const PtcRemoteName *tool, int argc, const PtcValue *argv,
                             PtcValue *out)
{
    PtcValue v = remote_args_as_map(vm, tool, argc, argv);
    if (v == PTC_NONE && ptc_recover(vm))
        v = remote_args_as_map(vm, tool, argc, argv);
    if (v != PTC_NONE)
        *out = v;
    return vm->budget.stop == PTC_STOP_NONE;
}

bool ptc_remote_call(PtcVM *vm, uint32_t number, int argc, const PtcValue *argv, PtcValue *out)
{
    PtcRemoteName name;
    PtcBuf text;
    RemoteReply reply = {.vm = vm, .slot = ptc_roots(vm, 2), .collects = true};
    if (!reply.slot || !ptc_remote_names_get(remote_servers_of_vm(vm)->names, number, &name) ||
        !make_room_for_answer(vm))
        return false;
    PtcText full = reply.name = (PtcText){name.text, name.len};
    ptc_buf_init(&text, vm->mem, REMOTE_ARGUMENTS_BYTES);
    bool asked = write_args(vm, &name, &text, argc, argv) &&
                 (name.reads || keep_remote_args(vm, &name, argc, argv, &reply.slot[1])) &&
                 ptc_program_count_call(vm);
    PtcRemoteQuestion q = {PTC_REMOTE_CALL,     name.slot,   name.tool,
                           ptc_buf_view(&text), next_id(vm), name.reads};
    asked = asked && exchange_with_remote(&q, &reply);
    ptc_buf_deinit(&text);
    if (!asked)
        return false;
    uncount_unmade_call(&reply);
    if (!reply.ok)
        return throw_failure(vm, full, reply.slot, true);
    *out = value_of_call(&reply);
    return true;
}

/* {:ok true :value v :value_kind :json}, {:ok false :reason :timeout :message "..."} */
static PtcValue tagged(const RemoteReply *reply)
{
    PtcVM *vm = reply->vm;
    bool ok = reply->ok;
    PtcValue map = ptc_map_empty(vm->heap);
    PtcValue word =
        reply->kind ? ptc_keyword_new(vm->heap, reply->kind, strlen(reply->kind))
                    : keyword_of_word(vm, remote_member(vm, *reply->slot, ok ? "kind" : "reason"));
    put_keyword_member(vm, &map, "ok", ptc_bool(ok));
    if (ok)
        put_keyword_member(vm, &map, "value", value_of_call(reply));
    put_keyword_member(vm, &map, ok ? "value_kind" : "reason", word);
    if (!ok)
        put_keyword_member(vm, &map, "message", remote_member(vm, *reply->slot, "message"));
    return map;
}

static bool give_tagged(const RemoteReply *reply, PtcValue *out)
{
    *out = tagged(reply);
    if (*out == PTC_NONE && ptc_recover(reply->vm))
        *out = tagged(reply);
    return *out != PTC_NONE;
}

static const struct {
    PtcRemoteOp op;
    const char *name;
} asks[] = {
    [PTC_SERVER_CALL] = {PTC_REMOTE_CALL_NAMED, "tool/call"},
    [PTC_SERVER_LOOK] = {PTC_REMOTE_LOOK, "looking around"},
    [PTC_SERVER_BLOB] = {PTC_REMOTE_BLOB, "tool/blob"},
    [PTC_SERVER_RESOURCE] = {PTC_REMOTE_RESOURCE, "tool/resource"},
};

static bool give_remote_answer(PtcServerAsk what, const RemoteReply *reply, PtcValue *out)
{
    PtcVM *vm = reply->vm;
    bool call = what == PTC_SERVER_CALL, ok = reply->ok;
    if (call && !ok && find_failure_reason(vm, *reply->slot) == PTC_CALL_ASIDE)
        return ptc_budget_halt(&vm->budget, PTC_STOP_ASIDE);
    if (call)
        return give_tagged(reply, out);
    if (!ok)
        return throw_failure(vm, ptc_text_cstr(asks[what].name), reply->slot, reply->collects);
    *out = what == PTC_SERVER_RESOURCE ? value_of_call(reply) : *reply->slot;
    return true;
}

/* Builtins that look around are no PTC_B_CALLS: nothing may be collected meanwhile, and they may be run again. */
bool ptc_remote_question(PtcVM *vm, PtcServerAsk what, PtcValue question, PtcValue *out)
{
    PtcBuf text;
    PtcValue here = PTC_NIL;
    bool look = what == PTC_SERVER_LOOK;
    bool counts = what == PTC_SERVER_CALL || what == PTC_SERVER_RESOURCE; /* it reaches a server */
    RemoteReply reply = {.vm = vm, .slot = look ? &here : ptc_roots(vm, 2), .collects = !look};
    *out = PTC_NIL;
    if (look && atomic_fetch_add(&remote_servers_of_vm(vm)->looks, 1) >= REMOTE_LOOKS)
        return true;
    if (!reply.slot || (!look && !make_room_for_answer(vm)))
        return false;
    ptc_buf_init(&text, vm->mem, REMOTE_ARGUMENTS_BYTES);
    reply.name = ptc_text_cstr(asks[what].name);
    if (!look)
        reply.slot[1] = question;
    bool asked = write_remote_value(vm, reply.name, &text, question) &&
                 (!counts || ptc_program_count_call(vm));
    PtcRemoteQuestion q = {.op = asks[what].op, .text = ptc_buf_view(&text)};
    if (!look)
        q.id = next_id(vm);
    asked = asked && exchange_with_remote(&q, &reply);
    ptc_buf_deinit(&text);
    if (asked && what == PTC_SERVER_CALL)
        uncount_unmade_call(&reply);
    return asked && give_remote_answer(what, &reply, out);
}
