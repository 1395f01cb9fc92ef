/* SPDX-License-Identifier: MIT
 * fuzz_llm_provider.c - what providers send, and what they are sent.  The first byte chooses the provider (low four
 * bits) and what the rest is: an answer that comes whole or as a stream, an answer with another status, or (high bit) a
 * request in JSON, of which a body is written that must be JSON.  The second byte is the size of the pieces and says
 * whether an allocation fails.  Replies are within their limits and without the secret; nothing leaks. */
#define _GNU_SOURCE /* memmem */
#include <assert.h>

#include "base/utf8.h"
#include "json/check.h"
#include "llm/llm_json.h"
#include "llm/provider/provider.h"
#include "llm/request_help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SECRET "sk-secret-0123"

static const char *get(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "OPENAI_API_KEY") == 0 ? SECRET : NULL;
}

static bool take_piece(void *user, PtcText piece)
{
    assert(ptc_utf8_valid(piece.bytes, piece.len));
    return ptc_buf_add(user, piece.bytes, piece.len);
}

static void check_text(PtcText text)
{
    if (!text.bytes)
        return;
    assert(ptc_utf8_valid(text.bytes, text.len));
    assert(!memmem(text.bytes, text.len, SECRET, sizeof SECRET - 1));
}

static void check_reply(const PtcLlmReply *reply, const PtcBuf *pieces, PtcMem *mem)
{
    PtcBuf json;
    check_text(reply->text);
    check_text(reply->error);
    assert(reply->text.len <= 2 * PTC_LLM_TEXT_BYTES && reply->call_count <= PTC_LLM_CALLS);
    assert(reply->error.len <= PTC_REPLY_ERROR_BYTES);
    assert(reply->tokens.input >= 0 && reply->tokens.input <= PTC_WIRE_TOKENS);
    assert(reply->tokens.output >= 0 && reply->tokens.output <= PTC_WIRE_TOKENS);
    for (size_t i = 0; i < reply->call_count; i++) {
        check_text(reply->calls[i].name);
        check_text(reply->calls[i].args);
    }
    if (reply->status == PTC_LLM_OK && pieces->len)
        assert(ptc_text_same(reply->text, ptc_buf_view(pieces)));
    ptc_buf_init(&json, mem, SIZE_MAX / 2);
    ptc_llm_json_write_reply(&json, reply);
    assert(ptc_json_is_line(json.data, json.len));
    ptc_buf_deinit(&json);
}

static void read_answer(const PtcProvider *p, const PtcProviderKeys *keys, uint8_t how,
                        uint8_t step, PtcText bytes, PtcMem *call_log, PtcMem *mem)
{
    PtcWire wire;
    PtcArena arena;
    PtcLlmReply reply;
    PtcBuf pieces;
    PtcLlmRequest request = {.deadline_ns = INT64_MAX};
    size_t piece = step % 64 + 1;
    ptc_buf_init(&pieces, mem, SIZE_MAX / 2);
    request.stream = how & 1 ? take_piece : NULL;
    request.stream_user = &pieces;
    ptc_arena_init(&arena, call_log);
    ptc_wire_init(&wire, call_log, p->dialect, &request, keys);
    if (how & 2) {
        ptc_wire_http_error(&wire, 400 + step, bytes, PTC_TEXT("Odd:thing"));
    } else {
        bool more = true;
        for (size_t at = 0, n; more && at < bytes.len; at += n) {
            n = piece < bytes.len - at ? piece : bytes.len - at;
            more = ptc_wire_feed(&wire, (PtcText){bytes.bytes + at, n});
        }
        ptc_wire_end(&wire);
    }
    ptc_reply_finish(&wire.reply, &arena, &reply);
    check_reply(&reply, &pieces, mem);
    ptc_wire_deinit(&wire);
    ptc_arena_deinit(&arena);
    ptc_buf_deinit(&pieces);
}

static void write_body(const PtcProvider *p, PtcText json, bool stream, PtcMem *mem)
{
    PtcJsonBox box, scratch;
    PtcArena arena;
    PtcLlmRequest request;
    PtcBuf body;
    PtcTarget target = {
        .provider = p, .model = PTC_TEXT("anthropic/claude-4-5"), .base = PTC_TEXT("x")};
    ptc_json_box_init(&box, mem);
    ptc_json_box_init(&scratch, mem);
    ptc_arena_init(&arena, mem);
    ptc_buf_init(&body, mem, PTC_LLM_REQUEST_BYTES);
    PtcValue v = ptc_json_box_read(&box, json, NULL);
    if (v != PTC_NONE) {
        help_request(&box, &arena, v, &request);
        PtcWireOut w = {&body, p->dialect, &target, &request, stream, stream, &scratch};
        for (size_t i = 0; i < request.tool_count; i++)
            if (!request.tools[i].parameters.bytes)
                ((PtcLlmTool *)(uintptr_t)request.tools)[i].parameters = PTC_TEXT("{}");
        p->dialect->write(&w);
        if (ptc_buf_ok(&body))
            assert(ptc_json_is_line(body.data, body.len));
    }
    ptc_buf_deinit(&body);
    ptc_arena_deinit(&arena);
    ptc_json_box_deinit(&scratch);
    ptc_json_box_deinit(&box);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PtcMem mem, call_log;
    PtcProviderKeys keys;
    if (size < 2)
        return 0;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_mem_init(&call_log, SIZE_MAX / 2);
    const PtcProvider *p = &ptc_providers[(data[0] & 15) % ptc_provider_count];
    PtcText rest = {(const char *)data + 2, size - 2};
    assert(ptc_provider_keys_init(&keys, &mem, get, NULL, NULL));
    if (data[1] >= 192)
        ptc_mem_fail_at(&call_log, data[1] - 191);
    if (data[0] & 128)
        write_body(p, rest, data[1] & 1, &mem);
    else
        read_answer(p, &keys, data[0] >> 4 & 3, data[1], rest, &call_log, &mem);
    ptc_provider_keys_deinit(&keys);
    assert(atomic_load(&mem.used) == 0 && atomic_load(&call_log.used) == 0);
    return 0;
}
