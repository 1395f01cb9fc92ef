/* SPDX-License-Identifier: MIT
 * Files of data: what they are, row by row, and allocations that fail. */
#include "data/row_stream.h"

#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "json/write.h"
#include "value/vec.h"

static char dir[] = "/tmp/ptc-data-XXXXXX";

static const char *file(const char *name, const void *bytes, size_t len)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    CHECK(f && fwrite(bytes, 1, len, f) == len);
    if (f)
        fclose(f);
    return path;
}

static const char *text_file(const char *name, const char *text)
{
    return file(name, text, strlen(text));
}

/* A value as JSON, or "! message" without the directory. */
static const char *shown(PtcHeap *heap, PtcValue v, const char *why)
{
    static char out[2000];
    PtcBuf buf;
    PtcJsonError wrong;
    ptc_buf_init(&buf, heap->pool->mem, sizeof out - 1);
    if (v == PTC_NONE)
        ptc_buf_addf(&buf, "! %s", why + strlen(dir) + 1);
    else
        CHECK(ptc_json_write(&(PtcJsonWriter){heap, -1, NULL}, &buf, v, &wrong));
    snprintf(out, sizeof out, "%.*s", (int)buf.len, buf.data);
    ptc_buf_deinit(&buf);
    return out;
}

static const char *whole(const char *path)
{
    char why[400] = "";
    CheckHeap h;
    check_heap_init(&h);
    PtcDataFile f = {.heap = &h.heap, .why = why, .size = sizeof why};
    const char *text = shown(&h.heap, ptc_data_file_read(&f, path), why);
    check_heap_deinit(&h);
    return text;
}

/* All rows that a stream gives, one behind the other; or its error. */
static const char *streamed(const char *path)
{
    char why[400] = "";
    CheckHeap h;
    PtcRowStream s;
    PtcValue rows = PTC_NONE, part;
    check_heap_init(&h);
    if (ptc_row_stream_open(&s, &h.mem, path, why, sizeof why)) {
        PtcValue all = ptc_build_new(&h.heap);
        while ((part = ptc_row_stream_next(&s, &h.heap, NULL)) != PTC_NIL && part != PTC_NONE)
            for (size_t i = 0; i < ptc_seq_count(part); i++)
                CHECK(ptc_build_add(&h.heap, all, ptc_seq_nth(part, i)));
        rows = part == PTC_NONE ? part : ptc_build_done(&h.heap, all, 0);
        ptc_row_stream_close(&s);
    }
    const char *text = shown(&h.heap, rows, why);
    check_heap_deinit(&h);
    return text;
}

static void test_kinds(void)
{
    CHECK(ptc_data_kind("a.json") == PTC_DATA_JSON &&
          ptc_data_kind("a.b/c.jsonl.gz") == PTC_DATA_JSONL);
    CHECK(ptc_data_kind("a.tsv") == PTC_DATA_CSV && ptc_data_kind("x/y.log") == PTC_DATA_LINES);
    CHECK(ptc_data_kind("a.xlsx") == PTC_DATA_UNKNOWN &&
          ptc_data_kind(".json") == PTC_DATA_UNKNOWN);
    CHECK(ptc_data_kind("a.b/c") == PTC_DATA_TOLD && ptc_data_kind("c.gz") == PTC_DATA_TOLD);
    CHECK_STR(whole(text_file("told", " {\"a\":1}\n[2]")), "[{\"a\":1},[2]]");
    CHECK_STR(whole(text_file("told", "\"a\";b\n1;2\n")), "[{\"a\":1,\"b\":2}]");
    CHECK_STR(whole(text_file("told", "null")), "null");
    CHECK_STR(whole(text_file("told", "nothing\n")), "[\"nothing\"]");
    CHECK_STR(whole(text_file("told", "1 2")), "[1,2]");
    CHECK_STR(whole(text_file("a.json", "1 2 ]")),
              "! a.json: line 1, column 1: expected a value, found ]");
    CHECK_STR(whole(text_file("a.json", "[1]\n\n[2,]")),
              "! a.json: line 3, column 4: expected a value, found ]");
}

static void test_rows(void)
{
    CHECK_STR(streamed(text_file("r.jsonl", "1\n\n[2]\r\n\"x\"")), "[1,[2],\"x\"]");
    CHECK_STR(streamed(text_file("r.jsonl", "1\n[2\n")),
              "! r.jsonl: line 2: column 3: expected ',' or ']', but the text ends");
    CHECK_STR(streamed(text_file("r.csv", "\n\"a\nb\",c\n1,00501\n2,10001")),
              "[{\"a\\nb\":1,\"c\":\"00501\"},{\"a\\nb\":2,\"c\":10001}]");
    CHECK_STR(streamed(text_file("r.csv", "a;b\n\"x;\n\";1\n5\" y;2\n")),
              "[{\"a\":\"x;\\n\",\"b\":1},{\"a\":\"5\\\" y\",\"b\":2}]");
    CHECK_STR(streamed(text_file("r.csv", "a,b\n1,2\n\n\n3\n")),
              "! r.csv: line 5: this line has 1 of 2 fields");
    CHECK_STR(streamed(text_file("r.csv", "a,b\n1,\"x\n")),
              "! r.csv: line 2: the quote that opens here is never closed");
    CHECK_STR(streamed(text_file("r.csv", "a,b\n")), "[]");
    CHECK_STR(streamed(text_file("r.txt", "x\r\n\ny")), "[\"x\",\"\",\"y\"]");
    CHECK_STR(streamed(text_file("r.txt", "x\n\xff")), "! r.txt: line 2: it is not UTF-8");
    CHECK_STR(streamed(text_file("r.jsonl", "")), "[]");
}

/* Rows of every length, so that batches end everywhere; quotes and line feeds inside them. */
static void test_batches(void)
{
    PtcMem mem;
    PtcBuf text;
    char why[400];
    CheckHeap h;
    PtcRowStream s;
    size_t count = 0, line = 0;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_buf_init(&text, &mem, 64u << 20);
    ptc_buf_add_cstr(&text, "id,text\n");
    for (int i = 0; i < 4000; i++)
        ptc_buf_addf(&text, "%d,\"%0*d\"\"\n,\"\n", i, 1 + i * 7 % 900, i);
    const char *path = file("b.csv", text.data, text.len);
    check_heap_init(&h);
    CHECK(ptc_row_stream_open(&s, &h.mem, path, why, sizeof why));
    for (PtcValue rows; (rows = ptc_row_stream_next(&s, &h.heap, &line)) != PTC_NIL;) {
        CHECK(rows != PTC_NONE && line == 2 + 2 * count);
        for (size_t i = 0; rows != PTC_NONE && i < ptc_seq_count(rows); i++, count++) {
            int64_t id = -1;
            CHECK(ptc_value_int(ptc_value_get(ptc_seq_nth(rows, i), "id", 2), &id) &&
                  id == (int64_t)count);
        }
        if (rows == PTC_NONE)
            break;
    }
    CHECK(count == 4000);
    ptc_row_stream_close(&s);
    check_heap_deinit(&h);
    ptc_buf_deinit(&text);
}

static void test_packed(void)
{
    static const unsigned char packed[] = {0x1f, 0x8b, 8,    0,    0,    0,    0,    0, 0,
                                           3,    0x8b, 0x36, 0xd4, 0x31, 0x8a, 0xe5, 2, 0,
                                           0x56, 0xcb, 0x60, 0x5c, 6,    0,    0,    0};
    char twice[2 * sizeof packed];
    memcpy(twice, packed, sizeof packed);
    memcpy(twice + sizeof packed, packed, sizeof packed);
    CHECK_STR(whole(file("p.json", packed, 10)),
              "! p.json: it is cut off: its packed bytes end too early");
    CHECK(strstr(whole(file("p.json", "\x1f\x8b", 2)), "cut off"));
    CHECK(strstr(whole(file("p.json", "\x1f\x8b\x09zzzzzzzzzzzzz", 16)), "damaged"));
    CHECK(strstr(whole(file("p.json", packed, sizeof packed)),
                 "damaged")); /* its check sum is wrong */
    CHECK(strstr(streamed(file("p.jsonl", twice, sizeof twice)), "damaged"));
}

/* Fails every allocation in turn, until all succeed. */
static void test_no_memory(void)
{
    static const char *const texts[] = {"a,b\n1,x\n2,y\n", "{\"a\":[1,\"x\"]}\n{\"a\":2}\n",
                                        "one\ntwo\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (uint64_t n = 1, done = 0; !done; n++) {
            char why[400] = "";
            CheckHeap h;
            PtcRowStream s;
            PtcValue rows = PTC_NONE;
            const char *path = text_file("m", texts[i]);
            check_heap_init(&h);
            PtcDataFile f = {.heap = &h.heap, .why = why, .size = sizeof why};
            ptc_mem_fail_at(&h.mem, n);
            PtcValue v = ptc_data_file_read(&f, path);
            CHECK(v != PTC_NONE || strstr(why, "memory"));
            ptc_mem_fail_at(&h.mem, n);
            h.budget.stop = PTC_STOP_NONE;
            if (ptc_row_stream_open(&s, &h.mem, path, why, sizeof why)) {
                rows = ptc_row_stream_next(&s, &h.heap, NULL);
                ptc_row_stream_close(&s);
            }
            CHECK(rows != PTC_NONE || strstr(why, "memory"));
            done = v != PTC_NONE && rows != PTC_NONE && n > 60;
            ptc_mem_fail_at(&h.mem, 0);
            check_heap_deinit(&h);
            CHECK(n < 1000);
        }
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    test_kinds();
    test_rows();
    test_batches();
    test_packed();
    test_no_memory();
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    CHECK(system(command) == 0);
    return check_done("data_file");
}
