/* SPDX-License-Identifier: MIT
 * CSV and the files of --data. */
#include "data/csv.h"

#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "exec/task.h"
#include "json/write.h"
#include "tool/call.h"
#include "value/coll/vec.h"
#include "value/str.h"

/* What the text becomes, as JSON; or "! line: message". */
static const char *parse(const char *text, size_t len)
{
    static char out[4096];
    CheckHeap h;
    PtcCsvError error;
    PtcJsonError wrong;
    PtcBuf buf;
    check_heap_init(&h);
    ptc_buf_init(&buf, &h.mem, sizeof out - 1);
    PtcValue v = ptc_csv_parse(&h.heap, text, len, &(PtcCsvPart){0}, &error);
    if (v == PTC_NONE)
        ptc_buf_addf(&buf, "! %zu:%zu %s", error.line, error.column, error.message);
    else
        CHECK(ptc_json_write(&(PtcJsonWriter){&h.heap, -1, NULL}, &buf, v, &wrong));
    snprintf(out, sizeof out, "%.*s", (int)buf.len, buf.data ? buf.data : "");
    ptc_buf_deinit(&buf);
    check_heap_deinit(&h);
    return out;
}

static const char *const cases[][2] = {
    {"a,b\n1,2\n", "[{\"a\":1,\"b\":2}]"},
    {"a,b\r\n1,2\r\n3,4", "[{\"a\":1,\"b\":2},{\"a\":3,\"b\":4}]"},
    {"a\r1\r2\r", "[{\"a\":1},{\"a\":2}]"},
    {"\xef\xbb\xbf"
     "a\n1",
     "[{\"a\":1}]"},
    {"a,b\n", "[]"},
    {"a", "[]"},
    {"a,b\n,\n", "[{\"a\":null,\"b\":null}]"},
    {"a,b\n\"\",x\n", "[{\"a\":\"\",\"b\":\"x\"}]"},
    {"a,b\n\"x,y\",\"say \"\"hi\"\"\"\n", "[{\"a\":\"x,y\",\"b\":\"say \\\"hi\\\"\"}]"},
    {"a\n\"two\nlines\"\n", "[{\"a\":\"two\\nlines\"}]"},
    {"a\n\n\n1\n\n", "[{\"a\":1}]"},
    {"n\n1.5\n-2\n1e3\n-0\n-0.0\n",
     "[{\"n\":1.5},{\"n\":-2.0},{\"n\":1000.0},{\"n\":-0.0},{\"n\":-0.0}]"},
    {"n\n007\n+1\n.5\n1.\n0x1\n1e\n--1\n-\n",
     "[{\"n\":\"007\"},{\"n\":\"+1\"},{\"n\":\".5\"},{\"n\":\"1.\"},"
     "{\"n\":\"0x1\"},{\"n\":\"1e\"},{\"n\":\"--1\"},{\"n\":\"-\"}]"},
    {"n\n\"12\"\n", "[{\"n\":\"12\"}]"},
    {"n\n123456789012345678\n1234567890123456789012345678901234567890\n",
     "[{\"n\":123456789012345678},{\"n\":1234567890123456789012345678901234567890}]"},
    {"n\n1e999\n", "[{\"n\":\"1e999\"}]"},
    {"n\n true \n", "[{\"n\":\" true \"}]"},
    {"1,2\n3,4\n", "[{\"1\":3,\"2\":4}]"},
    {"a,,a,a\n1,2,3,4\n", "[{\"a\":1,\"column2\":2,\"a_2\":3,\"a_3\":4}]"},
    {"a,a_2,a,a_3,a,a_2\n", "[]"},
    {"a,a_2,a,a,a_2\n1,2,3,4,5\n", "[{\"a\":1,\"a_2\":2,\"a_3\":3,\"a_4\":4,\"a_2_2\":5}]"},
    {"a\nx\nx\ny\n", "[{\"a\":\"x\"},{\"a\":\"x\"},{\"a\":\"y\"}]"},
    {"\xc3\xa4\n\xe2\x82\xac\n", "[{\"\xc3\xa4\":\"\xe2\x82\xac\"}]"},
    /* a column has one type */
    {"zip,n\n00501,1\n10001,2\n", "[{\"zip\":\"00501\",\"n\":1},{\"zip\":\"10001\",\"n\":2}]"},
    {"zip\n10001\nK1A 0B1\n\n94107\n",
     "[{\"zip\":\"10001\"},{\"zip\":\"K1A 0B1\"},{\"zip\":\"94107\"}]"},
    {"a,b\n1,x\n,\n2.5,y\n",
     "[{\"a\":1.0,\"b\":\"x\"},{\"a\":null,\"b\":null},{\"a\":2.5,\"b\":\"y\"}]"},
    {"a\n1\n\"2\"\n", "[{\"a\":\"1\"},{\"a\":\"2\"}]"},
    {"a,b\n1,x\n\"\",\"\"\n", "[{\"a\":1,\"b\":\"x\"},{\"a\":null,\"b\":\"\"}]"},
    {"on,b,c,d\ntrue,true,TRUE,true\nfalse,,False,1\n",
     "[{\"on\":true,\"b\":true,\"c\":true,\"d\":\"true\"},"
     "{\"on\":false,\"b\":null,\"c\":false,\"d\":\"1\"}]"},
    {"a\n1e999\n1\n", "[{\"a\":\"1e999\"},{\"a\":\"1\"}]"},
    {"a\ntRUE\n", "[{\"a\":\"tRUE\"}]"},
    /* separators */
    {"a;b\n1;2,5\n", "[{\"a\":1,\"b\":\"2,5\"}]"},
    {"a\tb\n1\tx, y\n", "[{\"a\":1,\"b\":\"x, y\"}]"},
    {"a;\"b;c\"\n1;2\n", "[{\"a\":1,\"b;c\":2}]"},
    {"name,note; more\nx,y\n", "[{\"name\":\"x\",\"note; more\":\"y\"}]"},
    {"a,b;c\n1;2\n", "[{\"a,b\":1,\"c\":2}]"},
    {"a b\nx;y\n", "[{\"a b\":\"x;y\"}]"},
    {" a , b\t,c\n1,2,3\n", "[{\"a\":1,\"b\":2,\"c\":3}]"},
    /* encodings */
    {"stra\xdf"
     "e;\x80\nK\xf6ln;1\n",
     "[{\"stra\xc3\x9f"
     "e\":\"K\xc3\xb6ln\",\"\xe2\x82\xac\":1}]"},
    {"a\nb\nc\xff\n", "[{\"a\":\"b\"},{\"a\":\"c\xc3\xbf\"}]"},
    {"a\n\xc3\xa4\n b \xff\n", "! 3:4 a byte here is not UTF-8, though the text is"},
    {"\xef\xbb\xbf"
     "a\n\xff\n",
     "! 2:1 a byte here is not UTF-8, though the text begins as such"},
    {"a\nx\x81\n", "! 2:2 a byte here is neither UTF-8 nor Latin-1 (Windows-1252)"},
    {"", "! 0:0 there is no line that names the columns"},
    {"\n\r\n", "! 0:0 there is no line that names the columns"},
    {"a,b\n1\n", "! 2:2 this line has 1 of 2 fields"},
    {"a,b\n1,2\n\n1,2,3\n",
     "! 4:5 this line has more than 2 fields, the columns that the first line names"},
    {"a\n\"x", "! 2:1 the quote that opens here is never closed"},
    {"a,b\n1,\"x\n\"\"y\n", "! 2:3 the quote that opens here is never closed"},
    {"a\n\"x\"y\n",
     "! 2:4 after a closing quote comes a separator or the end of the line; a quote inside "
     "quotes is written \"\""},
    {"a\n\"1\n2\n3\",x\n",
     "! 4:4 this line has more than 1 fields, the columns that the first line names"},
};

static void test_cases(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(parse(cases[i][0], strlen(cases[i][0])), cases[i][1]);
    CHECK_STR(parse("a\n\0\n", 4), "[{\"a\":\"\\u0000\"}]");
}

/* UTF-16 of either kind, with a mark or without; what is broken is named. */
static void test_utf16(void)
{
    static const char want[] = "[{\"id\":1,\"\xc3\xa4\":\"\xf0\x9f\x98\x80\"}]";
#define LE                \
    "i\0d\0,\0\xe4\0\n\0" \
    "1\0,\0\x3d\xd8\x00\xde\n\0"
#define BE                  \
    "\0i\0d\0,\0\xe4\0\n\0" \
    "1\0,\xd8\x3d\xde\x00\0\n"
    CHECK_STR(parse("\xff\xfe" LE, sizeof LE - 1 + 2), want);
    CHECK_STR(parse("\xfe\xff" BE, sizeof BE - 1 + 2), want);
    CHECK_STR(parse(LE, sizeof LE - 1), want);
    CHECK_STR(parse(BE, sizeof BE - 1), want);
    CHECK(strstr(parse("\xff\xfe" LE, sizeof LE - 1 + 1), "half a character is missing"));
    CHECK(strstr(parse("\xff\xfe"
                       "a\0\n\0\x3d\xd8",
                       8),
                 "! 2:2 the text is UTF-16, but this is half"));
    CHECK(strstr(parse("\xff\xfe\0\0a\0\0\0", 8), "UTF-32"));
}

/* Wide rows share an index: every key of every row is found. */
static void test_wide(void)
{
    CheckHeap h;
    PtcCsvError error;
    PtcBuf text;
    check_heap_init(&h);
    ptc_buf_init(&text, &h.mem, 1 << 20);
    for (int row = 0; row < 4; row++)
        for (int i = 0; i < 40; i++)
            ptc_buf_addf(&text, "%s%d%s", row ? "" : "k", row * 100 + i, i == 39 ? "\n" : ",");
    PtcValue v = ptc_csv_parse(&h.heap, text.data, text.len, &(PtcCsvPart){0}, &error);
    CHECK(v != PTC_NONE && ptc_value_count(v) == 3);
    for (size_t row = 0; v && row < 3; row++)
        for (int i = 0; i < 40; i++) {
            char key[16];
            int64_t n = 0;
            int len = snprintf(key, sizeof key, "k%d", i);
            CHECK(ptc_value_int(ptc_value_get(ptc_value_at(v, row), key, (size_t)len), &n));
            CHECK(n == (int64_t)(row + 1) * 100 + i);
        }
    ptc_buf_deinit(&text);
    check_heap_deinit(&h);
}

static void test_many_columns(void)
{
    size_t len = (size_t)PTC_CSV_COLUMNS + 10;
    char *text = malloc(len);
    memset(text, ',', len);
    CHECK_STR(parse(text, len), "! 1:4097 there are more than 4096 columns");
    free(text);
}

static int64_t count_looks(void *user)
{
    return ++*(int64_t *)user;
}

/* Columns of one name cost a few looks through the names each, however many there are. */
static void test_many_namesakes(void)
{
    enum { MOST_LOOKS = 20000 };
    static char text[2 * PTC_CSV_COLUMNS];
    CheckHeap h;
    PtcCsvError error;
    int64_t looks = 0;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 ? ',' : 'a';
    text[sizeof text - 1] = '\n';
    check_heap_init(&h);
    h.budget.clock_ns = count_looks;
    h.budget.clock_user = &looks;
    h.budget.deadline_ns = MOST_LOOKS;
    CHECK(ptc_csv_parse(&h.heap, text, sizeof text, &(PtcCsvPart){0}, &error) != PTC_NONE);
    CHECK(looks > 0);
    check_heap_deinit(&h);
}

/* A field in quotes costs what it is long, not what its line is: this would take many minutes. */
static void test_long_line(void)
{
    enum { LONG = 64 << 20, FIELD = 4, REST = (PTC_CSV_COLUMNS - 1) * FIELD };
    char *text = malloc(PTC_CSV_COLUMNS + LONG + REST), *p = text;
    CheckHeap h;
    PtcCsvError error;
    memset(p, ',', PTC_CSV_COLUMNS);
    p[PTC_CSV_COLUMNS - 1] = '\n';
    p += PTC_CSV_COLUMNS;
    memset(p, 'x', LONG);
    p += LONG;
    for (int i = 0; i < REST; i += FIELD)
        memcpy(p + i, ",\"y\"", FIELD);
    check_heap_init(&h);
    PtcValue rows =
        ptc_csv_parse(&h.heap, text, PTC_CSV_COLUMNS + LONG + REST, &(PtcCsvPart){0}, &error);
    CHECK(rows != PTC_NONE && ptc_value_count(rows) == 1);
    check_heap_deinit(&h);
    free(text);
}

/* Every allocation gets to fail; nothing is left behind. */
static void test_no_memory(void)
{
    static const char text[] =
        "a,b,\"c \"\"d\"\"\",e\n1,x,1.5,\n2,\"y\nz\",3,long enough to be kept apart "
        "from the others because it is more than sixty-four bytes\n";
    for (uint64_t n = 1; n < 200; n++) {
        CheckHeap h;
        PtcCsvError error;
        check_heap_init(&h);
        ptc_mem_fail_at(&h.mem, n);
        PtcValue v = ptc_csv_parse(&h.heap, text, sizeof text - 1, &(PtcCsvPart){0}, &error);
        bool failed = atomic_load(&h.mem.count) >= n;
        CHECK(v != PTC_NONE || (failed && error.stopped && error.message[0]));
        check_heap_deinit(&h);
        if (!failed)
            break;
    }
}

/* -------------------------------------------------------------------------------- --data */

static char dir[] = "/tmp/ptc-test-csv-XXXXXX";

static const char *file(const char *name, const char *text)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    return path;
}

static const char *load(PtcShared *s, const char *name, const char *path)
{
    static PtcWhy why;
    return ptc_shared_load(s, name, path, NULL, &why) ? "" : why.text;
}

static bool all_hashed(PtcValue rows)
{
    bool all = true;
    for (size_t i = 0; i < ptc_value_count(rows); i++)
        for (size_t k = 0; k < ptc_value_count(ptc_value_at(rows, i)); k++) {
            PtcValue v = ptc_value_at(ptc_value_at(rows, i), k);
            if (ptc_is_string(v))
                all = all && atomic_load(&((PtcStr *)(uintptr_t)v)->hash) != 0;
        }
    return all;
}

static void test_shared(void)
{
    PtcShared *s = ptc_shared_new();
    char cut[40];
    CHECK_STR(load(s, "orders", file("o.csv", "id,who\n1,ann\n2,bob\n")), "");
    CHECK_STR(load(s, "events", file("e.jsonl", "{\"k\":\"v\"}\n\n{\"k\":\"w\"}")), "");
    CHECK_STR(load(s, "config", file("c.json", "{\"depth\":3}")), "");
    CHECK_STR(load(s, "list", file("l.ndjson", "1\n2\n")), "");
    snprintf(cut, sizeof cut, "%s", load(s, "orders", file("o.csv", "a\n1\n")));
    CHECK_STR(cut, "orders: there is already data of that n");
    CHECK(strstr(load(s, "x", file("x.dat", "PK\3\4 and so on")), "it is a spreadsheet or"));
    CHECK(strstr(load(s, "a/b", file("x.csv", "")), "cannot be a name of data"));
    CHECK(strstr(load(s, "x", "/no/such.csv"), "/no/such.csv: No such file"));
    CHECK(strstr(load(s, "x", file("x.csv", "a,b\n1\n")),
                 "x.csv: line 2, column 2: this line has 1 of 2"));
    CHECK(strstr(load(s, "x", file("x.json", "{\"a\":}")), "x.json: line 1, column 6"));
    CHECK(strstr(load(s, "x", file("x.jsonl", "1\n{\n")), "x.jsonl: line 2, column 2"));

    Ptc *ptc = ptc_new(NULL);
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    PtcValue mine = ptc_make_json(data, "{\"config\":7,\"own\":1}", 20, NULL, 0);
    PtcValue context = ptc_shared_context(s, data->heap, mine);
    int64_t n = 0;
    CHECK(ptc_value_count(context) == 5);
    CHECK(ptc_value_int(ptc_value_get(context, "config", 6), &n) && n == 7);
    CHECK(all_hashed(ptc_value_get(context, "orders", 6)));
    CHECK(all_hashed(ptc_value_get(context, "events", 6)));
    PtcMem mem;
    PtcBuf buf;
    ptc_mem_init(&mem, 1 << 20);
    ptc_buf_init(&buf, &mem, 1 << 16);
    ptc_shared_describe(s, &buf, 1000);
    CHECK_STR(ptc_buf_text(&buf), "data/orders: 2 rows: :id int, :who string\n"
                                  "data/events: 2 rows: :k string\n"
                                  "data/config: a map of 1 key: :depth int\ndata/list: 2 items\n");
    ptc_buf_clear(&buf);
    ptc_shared_describe(s, &buf, 50);
    CHECK_STR(ptc_buf_text(&buf),
              "data/orders: 2 rows: :id int, :who string\nand 3 more: (dir 'data)\n");
    ptc_buf_deinit(&buf);
    const char *name;
    size_t count, bytes;
    CHECK(ptc_shared_item(s, 1, &name, &count, &bytes) && count == 2);
    CHECK(ptc_page_of(ptc_shared_value(s, "orders"))->heap->page_bytes > 0);
    CHECK(!ptc_shared_item(s, 4, &name, &count, &bytes));
    ptc_data_free(data);
    ptc_free(ptc);
    ptc_shared_free(s);
}

/* What the description of lisp_eval says of data with names that no keyword finds. */
static void test_awkward(void)
{
    PtcShared *s = ptc_shared_new();
    PtcMem mem;
    PtcBuf buf;
    CHECK_STR(load(s, "sales",
                   file("s.csv", "Unit Price,Price (EUR),paid,\"a\n\"\"b\"\"\"\n"
                                 "1,2.5,true,\n2.5,,false,x\n")),
              "");
    CHECK_STR(load(s, "one", file("n.json", "{\"a\":[],\"b\":{},\"c\":null}")), "");
    CHECK_STR(load(s, "text", file("t.json", "\"a\"")), "");
    ptc_mem_init(&mem, 1 << 20);
    ptc_buf_init(&buf, &mem, 1 << 16);
    ptc_shared_describe(s, &buf, 1000);
    CHECK_STR(ptc_buf_text(&buf),
              "data/sales: 2 rows: :unit-price float, \"Price (EUR)\" float or nil, :paid bool, "
              "\"a\\n\\\"b\\\"\" string or nil\n"
              "data/one: a map of 3 keys: :a list, :b map, :c nil\n"
              "data/text: a string\n"
              "A name in quotes is not a keyword: (get row \"...\") reads it.\n");
    ptc_buf_deinit(&buf);
    ptc_shared_free(s);
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    test_cases();
    test_utf16();
    test_wide();
    test_many_columns();
    test_many_namesakes();
    test_long_line();
    test_no_memory();
    test_shared();
    test_awkward();
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    CHECK(system(command) == 0);
    return check_done("mcp_csv");
}
