/* SPDX-License-Identifier: MIT
 * The JSON emitter: commas, escapes, numbers at their edges, buffers that are full or cut back. */
#include "json/emit.h"

#include <math.h>

#include "check.h"

static PtcMem mem;

/* The text so far, and the buffer empty again. */
static const char *take(PtcBuf *out)
{
    static char text[1 << 12];
    snprintf(text, sizeof text, "%.*s", (int)out->len, out->data ? out->data : "");
    ptc_buf_clear(out);
    return text;
}

static void test_commas(PtcBuf *out)
{
    ptc_emit_object(out);
    ptc_emit_object_end(out);
    CHECK_STR(take(out), "{}");
    ptc_emit_object(out);
    ptc_emit_field_cstr(out, "a", "x");
    ptc_emit_key(out, "b");
    ptc_emit_array(out);
    ptc_emit_int(out, 1);
    ptc_emit_array(out);
    ptc_emit_array_end(out);
    ptc_emit_object(out);
    ptc_emit_object_end(out);
    ptc_emit_bool(out, true);
    ptc_emit_null(out);
    ptc_emit_array_end(out);
    ptc_emit_field_bool(out, "c", false);
    ptc_emit_object_end(out);
    CHECK_STR(take(out), "{\"a\":\"x\",\"b\":[1,[],{},true,null],\"c\":false}");
    for (int i = 0; i < 2; i++) { /* lines of JSON */
        ptc_emit_object(out);
        ptc_emit_field_int(out, "n", i);
        ptc_emit_object_end(out);
        ptc_buf_add_char(out, '\n');
    }
    CHECK_STR(take(out), "{\"n\":0}\n{\"n\":1}\n");
    ptc_emit_field_int(out, "x", 1); /* members that somebody else puts into an object */
    ptc_emit_field_int(out, "y", 2);
    CHECK_STR(take(out), "\"x\":1,\"y\":2");
}

/* Texts that end like an opening bracket are still values. */
static void test_strings(PtcBuf *out)
{
    static const char *const ends[] = {"{", "[", ":", "\n", ",", "\"", "\\", ""};
    ptc_emit_array(out);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        ptc_emit_cstr(out, ends[i]);
    ptc_emit_array_end(out);
    CHECK_STR(take(out), "[\"{\",\"[\",\":\",\"\\n\",\",\",\"\\\"\",\"\\\\\",\"\"]");
    ptc_emit_object(out);
    ptc_emit_key_text(out, (PtcText){"a\"\0b", 4});
    ptc_emit_text(out, (PtcText){"long enough to be looked at by words \x01 \xc3\xa9", 41});
    ptc_emit_field_text(out, "absent", (PtcText){NULL, 0});
    ptc_emit_field_cstr(out, "none", NULL);
    ptc_emit_key(out, "parts");
    ptc_emit_string(out);
    ptc_emit_string_part(out, PTC_TEXT("one\n"));
    ptc_emit_string_part(out, (PtcText){NULL, 0});
    ptc_emit_string_part(out, PTC_TEXT("{"));
    ptc_emit_string_end(out);
    ptc_emit_key(out, "hex");
    ptc_emit_hex(out, "\x00\x7f\xff", 3);
    ptc_emit_object_end(out);
    CHECK_STR(take(out),
              "{\"a\\\"\\u0000b\":\"long enough to be looked at by words \\u0001 \xc3\xa9\","
              "\"absent\":null,\"none\":null,\"parts\":\"one\\n{\",\"hex\":\"007fff\"}");
}

static void test_numbers(PtcBuf *out)
{
    ptc_emit_array(out);
    ptc_emit_int(out, INT64_MIN);
    ptc_emit_int(out, -1);
    ptc_emit_int(out, 0);
    ptc_emit_int(out, INT64_MAX);
    ptc_emit_uint(out, UINT64_MAX);
    ptc_emit_double(out, 0.1);
    ptc_emit_double(out, 3);
    ptc_emit_double(out, NAN);
    ptc_emit_double(out, -INFINITY);
    ptc_emit_array_end(out);
    CHECK_STR(
        take(out),
        "[-9223372036854775808,-1,0,9223372036854775807,18446744073709551615,0.1,3.0,null,null]");
}

static void test_raw(PtcBuf *out)
{
    ptc_emit_object(out);
    ptc_emit_field_raw(out, "a", PTC_TEXT("[1, 2]\n"));
    ptc_emit_field_raw(out, "b", PTC_TEXT("\"x\" \t"));
    ptc_emit_field_raw(out, "c", (PtcText){NULL, 0});
    ptc_emit_object_end(out);
    CHECK_STR(take(out), "{\"a\":[1, 2],\"b\":\"x\",\"c\":null}");
}

/* A writer that has gone too far goes back and on. */
static void test_cut(PtcBuf *out)
{
    ptc_emit_array(out);
    ptc_emit_int(out, 1);
    size_t before = out->len;
    ptc_emit_object(out);
    ptc_emit_key(out, "half");
    out->len = before;
    ptc_emit_int(out, 2);
    ptc_emit_array_end(out);
    CHECK_STR(take(out), "[1,2]");
}

/* Whatever the room, what is there is a prefix of the whole, and nothing more is added after the failure. */
static void test_full(void)
{
    static const char whole[] = "{\"key\":[true,\"a\\nb\",12]}";
    for (size_t max = 0; max <= sizeof whole; max++) {
        PtcBuf out;
        ptc_buf_init(&out, &mem, max);
        ptc_emit_object(&out);
        ptc_emit_key(&out, "key");
        ptc_emit_array(&out);
        ptc_emit_bool(&out, true);
        ptc_emit_cstr(&out, "a\nb");
        ptc_emit_int(&out, 12);
        ptc_emit_array_end(&out);
        bool ok = ptc_emit_object_end(&out);
        CHECK(ok == (max >= sizeof whole - 1));
        CHECK(out.len <= max && memcmp(out.len ? out.data : "", whole, out.len) == 0);
        ptc_buf_deinit(&out);
    }
}

int main(void)
{
    PtcBuf out;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_buf_init(&out, &mem, SIZE_MAX / 2);
    test_commas(&out);
    test_strings(&out);
    test_numbers(&out);
    test_raw(&out);
    test_cut(&out);
    ptc_buf_deinit(&out);
    test_full();
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("test_emit");
}
