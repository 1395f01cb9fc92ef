/* SPDX-License-Identifier: MIT
 * Files of data: what they are, row by row, and allocations that fail. */
#include "data/row_stream.h"

#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "json/write.h"
#include "value/coll/vec.h"

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
    PtcWhy why;
    CheckHeap h;
    check_heap_init(&h);
    PtcDataFile f = {.heap = &h.heap, .why = &why};
    const char *text = shown(&h.heap, ptc_data_file_read(&f, path), why.text);
    check_heap_deinit(&h);
    return text;
}

/* All rows that a stream gives, one behind the other; or its error. */
static const char *streamed(const char *path)
{
    PtcWhy why;
    CheckHeap h;
    PtcRowStream s;
    PtcValue rows = PTC_NONE, part;
    check_heap_init(&h);
    if (ptc_row_stream_open(&s, &h.mem, path, &(PtcDataForm){0}, &why)) {
        PtcValue all = ptc_build_new(&h.heap);
        while ((part = ptc_row_stream_next(&s, &h.heap, NULL)) != PTC_NIL && part != PTC_NONE)
            for (size_t i = 0; i < ptc_seq_count(part); i++)
                CHECK(ptc_build_add(&h.heap, all, ptc_seq_nth(part, i)));
        rows = part == PTC_NONE ? part : ptc_build_done(&h.heap, all, 0);
        ptc_row_stream_close(&s);
    }
    const char *text = shown(&h.heap, rows, why.text);
    check_heap_deinit(&h);
    return text;
}

static void test_kinds(void)
{
    CHECK(ptc_data_kind("a.json") == PTC_DATA_JSON &&
          ptc_data_kind("a.b/c.jsonl.gz") == PTC_DATA_JSONL);
    CHECK(ptc_data_kind("a.tsv") == PTC_DATA_CSV && ptc_data_kind("x/y.log") == PTC_DATA_LINES);
    CHECK(ptc_data_kind("a.dat") == PTC_DATA_TOLD && ptc_data_kind(".json") == PTC_DATA_TOLD);
    CHECK_STR(whole(text_file("a.dat", "a;b\n1;2\n")), "[{\"a\":1,\"b\":2}]");
    CHECK(ptc_data_kind("a.b/c") == PTC_DATA_TOLD && ptc_data_kind("c.gz") == PTC_DATA_TOLD);
    CHECK_STR(whole(text_file("told", " {\"a\":1}\n[2]")), "[{\"a\":1},[2]]");
    CHECK_STR(whole(text_file("told", "\"a\";b\n1;2\n")), "[{\"a\":1,\"b\":2}]");
    CHECK_STR(whole(text_file("told", "null")), "null");
    CHECK_STR(whole(text_file("told", "nothing\n")), "[\"nothing\"]");
    CHECK_STR(whole(text_file("told", "1 2")), "[\"1 2\"]");
    CHECK_STR(whole(text_file("told", "1\n2\n")), "[1,2]");
    CHECK_STR(whole(text_file("told", "")), "[]");
    CHECK_STR(whole(text_file("told", "\n")), "[\"\"]");
    CHECK_STR(whole(text_file("a.json", "1 2 ]")),
              "! a.json: line 1, column 5: expected a value, found ]");
    CHECK_STR(whole(text_file("a.json", "[1]\n{\"\xc3\xaf\": 1}  {\"b\": tru}\n")),
              "! a.json: line 2, column 17: expected a value, found t");
    CHECK_STR(whole(text_file("a.json", "[1]\n\n[2,]")),
              "! a.json: line 3, column 4: expected a value, found ]");
}

static void test_rows(void)
{
    CHECK_STR(streamed(text_file("r.jsonl", "1\n\n[2]\r\n\"x\"")), "[1,[2],\"x\"]");
    CHECK_STR(streamed(text_file("r.jsonl", "1\n[2\n")),
              "! r.jsonl: line 2, column 3: expected ',' or ']', but the text ends");
    CHECK_STR(streamed(text_file("r.csv", "\n\"a\nb\",c\n1,00501\n2,10001")),
              "[{\"a\\nb\":1,\"c\":\"00501\"},{\"a\\nb\":2,\"c\":10001}]");
    CHECK_STR(streamed(text_file("r.csv", "a;b\n\"x;\n\";1\n5\" y;2\n")),
              "[{\"a\":\"x;\\n\",\"b\":1},{\"a\":\"5\\\" y\",\"b\":2}]");
    CHECK_STR(streamed(text_file("r.csv", "a,b\n1,2\n\n\n3\n")),
              "! r.csv: line 5, column 2: this line has 1 of 2 fields");
    CHECK_STR(streamed(text_file("r.csv", "a,b\n1,\"x\n")),
              "! r.csv: line 2, column 3: the quote that opens here is never closed");
    CHECK_STR(streamed(text_file("r.csv", "a,b\n")), "[]");
    CHECK_STR(streamed(text_file("r.txt", "x\r\n\ny")), "[\"x\",\"\",\"y\"]");
    CHECK_STR(streamed(text_file("r.txt", "x\n\xff")), "! r.txt: line 2: it is not UTF-8");
    CHECK_STR(streamed(text_file("r.jsonl", "")), "[]");
}

/* ------------------------------------------------------------------------------- guesses */

/* A guess about a copy that ends where its memory does: "JSON", "CSV 3,", "lines", with "/" and what else it may be. */
static const char *guessed(const char *text, size_t len, bool is_whole)
{
    static const char *const names[] = {"", "JSON", "JSONL", "CSV", "TSV", "YAML", "lines"};
    static char out[40];
    PtcMem mem;
    PtcDataForm form = {0};
    char *copy = malloc(len ? len : 1);
    CHECK(copy != NULL);
    memcpy(copy, text, len);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    CHECK(ptc_data_guess(&mem, (PtcText){copy, len}, is_whole, &form) && form.guessed);
    free(copy);
    int n = snprintf(out, sizeof out, "%s", names[form.kind]);
    if (form.columns)
        n += snprintf(out + n, sizeof out - (size_t)n, " %zu%c", form.columns, form.separator);
    if (form.other != PTC_DATA_TOLD)
        snprintf(out + n, sizeof out - (size_t)n, "/%s", names[form.other]);
    return out;
}

static const char *guess(const char *text)
{
    return guessed(text, strlen(text), true);
}

static void test_guesses(void)
{
    static const char *const json[] = {
        "{}",    " [1,\n2]\n",        "{\"a\":1}{\"a\":2} [3]\n", "\xef\xbb\xbf[1]",
        "\"x\"", "\"x\"\r\n\"y\"\r\n"};
    static const char *const number[] = {"7", "1\n2\n\n3", "true\n{\"a\":1}\nnull\n"};
    static const char *const table[] = {"a,b\n1,2\n",
                                        "a,b\r\n1,2",
                                        ("\xef\xbb\xbf"
                                         "a,b\n\n,\n"),
                                        "\"a\",\"b,\"\n1,2",
                                        "a,b\n\"x\n,\"\"y\",2\n",
                                        "\n\na,b\r1,2\r",
                                        "First name,\xc3\xa9\nx;,y;\n"};
    static const char *const line[] = {"",
                                       "\n",
                                       "7 apples",
                                       "1 2",
                                       "\"x\" 1",
                                       "nothing",
                                       "01\n02\n",
                                       "one\ntwo\n",
                                       "1.2.3.4 \"X (a; b)\"\n1.2.3.4 \"Y (a)\"\n",
                                       "2024-01-01,x;y\n",
                                       "[10:00] x\n",
                                       "[1] x",
                                       "[",
                                       "{main} x\n"};
    static const char *const nearly_json[] = {"{\"a\":1,}", "{\"a\":1}\n{\"a\":\n", "{'a': 1}",
                                              "[[1", "{\"a\":1}\n7 8\n"};
    static const char *const nearly_csv[] = {"a,b\n",           "a,b\n1\n",        "a,a\n1,2\n",
                                             "a,2024\n1,2\n",   "a,\n1,2\n",       "a,b\n\"x,2\n",
                                             "a,b\n\"x\"y,2\n", "year,2024\n1,2\n"};
    for (size_t i = 0; i < sizeof json / sizeof *json; i++)
        CHECK_STR(guess(json[i]), "JSON");
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        CHECK_STR(guess(number[i]), "JSON/lines");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        CHECK_STR(guess(table[i]), "CSV 2,/lines");
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        CHECK_STR(guess(line[i]), "lines");
    for (size_t i = 0; i < sizeof nearly_json / sizeof *nearly_json; i++)
        CHECK_STR(guess(nearly_json[i]), "lines/JSON");
    for (size_t i = 0; i < sizeof nearly_csv / sizeof *nearly_csv; i++)
        CHECK_STR(guess(nearly_csv[i]), "lines/CSV");
    CHECK_STR(guess("a;b;c\n1,5;2;3\n"), "CSV 3;/lines");
    CHECK_STR(guess("a\tb\n1,5\t2,5\n"), "CSV 2\t/lines");
    CHECK_STR(guess("a\tb\n1\n"), "lines/TSV");
    CHECK_STR(guess("4.0K\t./x\n8.0K\t.\n"), "lines");
}

static void test_guesses_in_utf16(void)
{
    CHECK_STR(guessed("\xff\xfe"
                      "a\0,\0b\0\n\0"
                      "1\0,\0"
                      "2\0",
                      16, true),
              "CSV 2,/lines");
    CHECK_STR(guessed("\xfe\xff\0a\0,\0b\0\n\0"
                      "1\0,\0"
                      "2",
                      16, true),
              "CSV 2,/lines");
}

/* A text that goes on is what it would be as a whole, wherever it is cut behind `from`. */
static void check_cuts(const char *text, size_t len, size_t from, const char *want)
{
    CHECK_STR(guessed(text, len, true), want);
    for (size_t n = from; n < len; n++)
        CHECK_STR(guessed(text, n, false), want);
}

/* The same with a filler of every length before it, so that the cut is at the bound of a guess: `record` is repeated
 * behind `head` and one record of `before`, the filler and `after`. */
static void check_bound(const char *head, const char *before, const char *after, const char *record,
                        const char *want)
{
    PtcMem mem;
    PtcBuf text;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    for (size_t fill = 0; fill <= strlen(record); fill++) {
        ptc_buf_init(&text, &mem, 1u << 20);
        ptc_buf_addf(&text, "%s%s%0*d%s", head, before, (int)fill + 1, 1, after);
        while (text.len < PTC_GUESS_BYTES + 100)
            ptc_buf_add_cstr(&text, record);
        CHECK_STR(guessed(text.data, text.len, true), want);
        ptc_buf_deinit(&text);
    }
}

static void test_cuts(void)
{
    static const char csv[] =
        "id,na\xc3\xafve\r\n1,\"\xe2\x82\xac \"\",\r\n\"\r\n2,\xf0\x9f\x98\x80\r\n3,\r\n";
    static const char json[] =
        "{\"\xc3\xaf\":[-1.5e+3,true,null,\"\\u00e9\\ud83d\\ude00\\n\xe2\x82\xac\",{}],\"b\":[]}\n";
    static const char log[] =
        "1.2.3.4 - \"GET /?a,b\" 500 \"X (a; \xc3\xaf)\"\n5.6.7.8 - \"\" 200 \"Y\"\n";
    static const char wide[] = "\xff\xfe"
                               "a\0,\0b\0\n\0"
                               "1\0,\0\x0a\x01\n\0"
                               "\x3d\xd8\x00\xde,\0"
                               "2\0\n\0";
    check_cuts(csv, sizeof csv - 1, strlen("id,na..ve\r\n1,\"... \"\",\r\n\"\r\n2"),
               "CSV 2,/lines");
    check_cuts(json, sizeof json - 1, 1, "JSON");
    check_cuts(log, sizeof log - 1, strlen("1.2."), "lines");
    for (size_t n = 20; n < sizeof wide; n += 2)
        CHECK_STR(guessed(wide, n, false), "CSV 2,/lines");
    check_bound("id,name\n", "1,", "\n", csv + strlen("id,na..ve\r\n"), "CSV 2,/lines");
    check_bound("", "{\"a\":1", "}\n", json, "JSON");
    check_bound("[", "1", "\n", ",{\"a\":[tru\x65,\"\\\"\xc3\xaf\"]}\n", "JSON");
    check_bound("", "1", "\n", "-1.5e3\nfalse\n\"x\"\n", "JSON/lines");
    check_bound("", "1.2.3.4 ", "\n", log, "lines");
}

/* Rows of every length, so that batches end everywhere; quotes and line feeds inside them. */
static void test_batches(void)
{
    PtcMem mem;
    PtcBuf text;
    PtcWhy why;
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
    CHECK(ptc_row_stream_open(&s, &h.mem, path, &(PtcDataForm){0}, &why));
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

/* A long table whose last line is given: its first and last row, or the error. */
static const char *ends_of_table(const char *last)
{
    PtcWhy why;
    PtcMem mem;
    CheckHeap h;
    PtcBuf text;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_buf_init(&text, &mem, 64u << 20);
    ptc_buf_add_cstr(&text, "n,f,t\n");
    for (int i = 1; i <= 40000; i++)
        ptc_buf_addf(&text, "%d,%d.%d,name%d\n", i, i % 5, i % 3 * 25, i % 300);
    ptc_buf_add_cstr(&text, last);
    const char *path = file("t.csv", text.data, text.len);
    check_heap_init(&h);
    PtcDataFile f = {.heap = &h.heap, .why = &why};
    PtcValue rows = ptc_data_file_read(&f, path);
    if (rows != PTC_NONE) {
        PtcValue both[] = {ptc_seq_nth(rows, 0), ptc_seq_nth(rows, ptc_seq_count(rows) - 1)};
        rows = ptc_vec_new(&h.heap, both, 2, 0);
    }
    const char *out = shown(&h.heap, rows, why.text);
    check_heap_deinit(&h);
    ptc_buf_deinit(&text);
    return out;
}

/* Types are guessed from the beginning of a long text, and the end may tell otherwise. */
static void test_late_types(void)
{
    static const char plain[] = "{\"n\":1,\"f\":1.25,\"t\":\"name1\"}";
    static const struct {
        const char *last, *first_row, *last_row;
    } cases[] = {
        {"-7,-0.5,\"a\"\n", plain, "{\"n\":-7,\"f\":-0.5,\"t\":\"a\"}"},
        {"\"\",3,\"\"", plain, "{\"n\":null,\"f\":3.0,\"t\":\"\"}"},
        {"1.5,,1\r\n", "{\"n\":1.0,\"f\":1.25,\"t\":\"name1\"}",
         "{\"n\":1.5,\"f\":null,\"t\":\"1\"}"},
        {"007,1e999,\n", "{\"n\":\"1\",\"f\":\"1.25\",\"t\":\"name1\"}",
         "{\"n\":\"007\",\"f\":\"1e999\",\"t\":null}"},
        {"1234567890123456789,1e2,x", plain, "{\"n\":1234567890123456789,\"f\":100.0,\"t\":\"x\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char want[200];
        snprintf(want, sizeof want, "[%s,%s]", cases[i].first_row, cases[i].last_row);
        CHECK_STR(ends_of_table(cases[i].last), want);
    }
    CHECK_STR(ends_of_table("x,1,2\n1,2\n"),
              "! t.csv: line 40003, column 4: this line has 2 of 3 fields");
    CHECK_STR(ends_of_table("1,2,\"3\n"),
              "! t.csv: line 40002, column 5: the quote that opens here is never closed");
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
            PtcWhy why;
            CheckHeap h;
            PtcRowStream s;
            PtcValue rows = PTC_NONE;
            const char *path = text_file("m", texts[i]);
            check_heap_init(&h);
            PtcDataFile f = {.heap = &h.heap, .why = &why};
            ptc_mem_fail_at(&h.mem, n);
            PtcValue v = ptc_data_file_read(&f, path);
            CHECK(v != PTC_NONE || strstr(why.text, "memory"));
            ptc_mem_fail_at(&h.mem, n);
            h.budget.stop = PTC_STOP_NONE;
            if (ptc_row_stream_open(&s, &h.mem, path, &(PtcDataForm){0}, &why)) {
                rows = ptc_row_stream_next(&s, &h.heap, NULL);
                ptc_row_stream_close(&s);
            }
            CHECK(rows != PTC_NONE || strstr(why.text, "memory"));
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
    test_guesses();
    test_guesses_in_utf16();
    test_cuts();
    test_batches();
    test_late_types();
    test_packed();
    test_no_memory();
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    CHECK(system(command) == 0);
    return check_done("data_file");
}
