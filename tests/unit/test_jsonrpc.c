/* SPDX-License-Identifier: MIT
 * JSON-RPC messages: what is one and what is not, and that what is written is read back as the same. */
#include "net/jsonrpc.h"

#include "check.h"
#include "value/coll/map.h"
#include "value/str.h"

static CheckHeap h;
static PtcRpcMessage m;
static PtcWhy why;

static bool parse(const char *text)
{
    return ptc_rpc_parse(&h.heap, ptc_text_cstr(text), NULL, &m, &why);
}

static void test_kinds(void)
{
    CHECK(parse("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a/b\",\"params\":{\"x\":1}}"));
    CHECK(m.kind == PTC_RPC_REQUEST && m.id == ptc_int(7) && ptc_text_is(m.method, "a/b"));
    CHECK(ptc_map_field(&h.heap, m.params, "x") == ptc_int(1));
    CHECK(parse("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"m\"}"));
    CHECK(m.kind == PTC_RPC_REQUEST && ptc_text_is(ptc_str_text(m.id), "q"));
    CHECK(m.params == PTC_NONE);
    CHECK(parse("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}"));
    CHECK(m.kind == PTC_RPC_NOTIFICATION && m.id == PTC_NONE);
    CHECK(parse("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}"));
    CHECK(m.kind == PTC_RPC_RESULT && m.result == PTC_NIL && m.id == ptc_int(1));
    CHECK(
        parse("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"no\"}}"));
    CHECK(m.kind == PTC_RPC_ERROR &&
          ptc_map_field(&h.heap, m.error, "code") == ptc_int(PTC_RPC_PARSE_ERROR));
    CHECK(parse("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"odd\"}"));
    CHECK(m.kind == PTC_RPC_ERROR && ptc_text_is(ptc_str_text(m.error), "odd"));
}

static void wrong(const char *text, int fault, PtcRpcKind kind, bool has_id)
{
    CHECK(!parse(text));
    if (check_count(why.code == fault && m.kind == kind && (m.id != PTC_NONE) == has_id &&
                    why.text[0]))
        printf("%s: fault %d, kind %d, %s\n", text, why.code, (int)m.kind, why.text);
    CHECK(why.class == PTC_WHY_INVALID);
}

/* The id and the kind are known as far as they can be. */
static void test_faults(void)
{
    wrong("{", PTC_RPC_PARSE_ERROR, PTC_RPC_BAD, false);
    wrong("", PTC_RPC_PARSE_ERROR, PTC_RPC_BAD, false);
    wrong("[]", PTC_RPC_INVALID_REQUEST, PTC_RPC_BAD, false);
    wrong("1", PTC_RPC_INVALID_REQUEST, PTC_RPC_BAD, false);
    wrong("{}", PTC_RPC_INVALID_REQUEST, PTC_RPC_BAD, false);
    wrong("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", PTC_RPC_INVALID_REQUEST, PTC_RPC_BAD,
          true);
    wrong("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", PTC_RPC_INVALID_REQUEST,
          PTC_RPC_BAD, false);
    wrong("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"m\"}", PTC_RPC_INVALID_REQUEST, PTC_RPC_BAD,
          false);
    wrong("{\"jsonrpc\":\"2.0\",\"id\":1}", PTC_RPC_INVALID_REQUEST, PTC_RPC_BAD, true);
    wrong("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":2}", PTC_RPC_INVALID_REQUEST, PTC_RPC_BAD,
          true);
    wrong("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[]}", PTC_RPC_INVALID_PARAMS,
          PTC_RPC_REQUEST, true);
    wrong("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":1}", PTC_RPC_INVALID_PARAMS,
          PTC_RPC_NOTIFICATION, false);
    wrong("{\"id\":1,\"result\":1}", PTC_RPC_INVALID_REQUEST, PTC_RPC_RESULT, true);
}

static void test_memory(void)
{
    CheckHeap small;
    char text[4096] = "{\"a\":[";
    check_heap_init(&small);
    for (int i = 0; i < 500; i++)
        strcat(text, "\"x\",");
    strcat(text, "1]}");
    small.heap.limit = 1024;
    CHECK(!ptc_rpc_parse(&small.heap, ptc_text_cstr(text), NULL, &m, &why));
    CHECK(why.class == PTC_WHY_NO_MEMORY && why.code == PTC_RPC_INTERNAL_ERROR);
    check_heap_deinit(&small);
}

static void test_writing(void)
{
    PtcBuf out;
    ptc_buf_init(&out, &h.mem, SIZE_MAX / 2);
    ptc_rpc_begin_request(&out, PTC_TEXT("\"q\""), "tools/call");
    ptc_emit_key(&out, "params");
    ptc_emit_object(&out);
    ptc_emit_object_end(&out);
    ptc_emit_object_end(&out);
    CHECK_STR(ptc_buf_text(&out),
              "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"tools/call\",\"params\":{}}");
    CHECK(parse(ptc_buf_text(&out)) && m.kind == PTC_RPC_REQUEST);
    ptc_buf_clear(&out);
    ptc_rpc_begin_notification(&out, "n");
    ptc_emit_object_end(&out);
    CHECK_STR(ptc_buf_text(&out), "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}");
    ptc_buf_clear(&out);
    ptc_rpc_begin_result(&out, PTC_TEXT("7"));
    ptc_emit_null(&out);
    ptc_emit_object_end(&out);
    CHECK_STR(ptc_buf_text(&out), "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":null}");
    ptc_buf_clear(&out);
    ptc_rpc_add_error(&out, (PtcText){NULL, 0}, -1, PTC_TEXT("a \"b\""), PTC_TEXT("[1]"));
    CHECK_STR(
        ptc_buf_text(&out),
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-1,\"message\":\"a \\\"b\\\"\",\"data\":[1]}}");
    CHECK(parse(ptc_buf_text(&out)) && m.kind == PTC_RPC_ERROR && m.id == PTC_NONE);
    ptc_buf_deinit(&out);
}

int main(void)
{
    check_heap_init(&h);
    test_kinds();
    test_faults();
    test_memory();
    test_writing();
    check_heap_deinit(&h);
    return check_done("jsonrpc");
}
