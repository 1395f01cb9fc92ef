/* SPDX-License-Identifier: MIT
 * Lines of traces: events, parts that are put together, reports, whatever a file has in it. */
#include <unistd.h>

#include "check.h"
#include "viewer/trace_report.h"

#define LONG "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static PtcTraceEvent event;
static PtcWhy why;

static bool reads(const char *line)
{
    ptc_why_init(&why);
    return ptc_trace_event_read(&event, ptc_text_cstr(line), &why);
}

/* ---------------------------------------------------------------------------------- events */

static void test_events(void)
{
    CHECK(reads(
        "{\"event\":\"run.start\",\"id\":\"r1\",\"parent\":null,\"at_us\":7,\"name\":\"a\"}"));
    CHECK(event.step == PTC_EVENT_BEGIN && event.kind == PTC_TRACE_PART_RUN && event.at_us == 7);
    CHECK(ptc_text_is(event.id, "r1") && !event.parent.bytes && event.duration_us == -1);
    CHECK(reads("{\"id\":\"r1.t1.c1\",\"parent\":\"r1.t1.p\",\"ok\":true,\"event\":\"tool\","
                "\"start_us\":3}"));
    CHECK(event.step == PTC_EVENT_WHOLE && event.ok && event.start_us == 3);
    CHECK(reads("{\"event\":\"llm.stop\",\"id\":\"m\",\"status\":\"ok\",\"tokens\":{\"input\":5,"
                "\"output\":-1}}"));
    CHECK(event.ok && ptc_trace_event_tokens(&event).input == 5);
    CHECK(ptc_trace_event_tokens(&event).output == 0);
    CHECK(reads("{\"event\":\"no.such\",\"id\":\"x\"}") && event.step == PTC_EVENT_OTHER);
    CHECK(reads("{\"event\":\"run.stop\",\"id\":\"r1\",\"left_out\":true}"));
    CHECK(event.step == PTC_EVENT_OTHER);
    CHECK(reads("{\"event\":\"run.stop\",\"id\":\"r1\",\"duration_us\":9e999,\"at_us\":"
                "99999999999999999999}"));
    CHECK(event.duration_us == -1 && event.at_us == 0 && !event.ok);
    CHECK(reads(
        "{\"event\":\"run.stop\",\"id\":\"r1\",\"at_us\":9223372036854775807,\"duration_us\":-4}"));
    CHECK(event.at_us == PTC_TRACE_TIME && event.duration_us == 0);
    static const struct {
        const char *json;
        int64_t us;
    } ms[] = {{"0", 0},      {"7", 7000}, {"0.04", 40},      {"4.3926", 4392},
              {"1.5e3", -1}, {"1e3", -1}, {"null", -1},      {"\"4\"", -1},
              {"-1.5", 500}, {"9e9", -1}, {"12.0001", 12000}};
    for (size_t i = 0; i < sizeof ms / sizeof *ms; i++) {
        char line[100];
        snprintf(line, sizeof line, "{\"event\":\"x\",\"duration_ms\":%s}", ms[i].json);
        CHECK(reads(line));
        if (event.duration_us != ms[i].us)
            printf("%s: %lld\n", ms[i].json, (long long)event.duration_us);
        CHECK(event.duration_us == ms[i].us);
    }
}

static void test_refused(void)
{
    static const char *const lines[] = {
        "",
        "x",
        "null",
        "7",
        "\"event\"",
        "[]",
        "[{\"event\":\"tool\"}]",
        "{}",
        "{\"event\":7}",
        "{\"event\":\"tool\"",
        "{\"event\":\"tool\",}",
        "{\"event\":\"tool\"} x",
        "{\"event\":\"tool\",\"id\":\"\"}",
        "{\"event\":\"tool\",\"id\":7}",
        "{\"event\":\"tool\",\"id\":\"a b\"}",
        "{\"event\":\"tool\",\"id\":\"a\\u0041\"}",
        "{\"event\":\"tool\",\"id\":\"\xc3\xa9\"}",
        "{\"event\":\"tool\",\"id\":\"x\",\"parent\":[]}",
        "{\"event\":\"tool\"}",
        "{\"event\":\"x\",\"name\":\"\\ud83d x\"}",
        "{\"event\":\"tool\",\"id\":\"\xff\"}",
        ("{\"event\":\"tool\",\"id\":\"" LONG "\"}"),
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        bool read = reads(lines[i]);
        if (read)
            printf("case %zu was read\n", i);
        CHECK(!read && why.text[0]);
    }
}

static const char *shown(const char *json, size_t size)
{
    static char out[200], line[400];
    snprintf(line, sizeof line, "{\"event\":\"x\",\"name\":%s}", json);
    CHECK(reads(line));
    ptc_trace_event_show(&event, PTC_FIELD_name, out, size);
    return out;
}

static void test_show(void)
{
    CHECK(strcmp(shown("\"a \\\"b\\\" \\\\ \\/ \\u00e9\"", 100), "a \"b\" \\ / \xc3\xa9") == 0);
    CHECK(strcmp(shown("\"\\ud83d\\ude00\"", 100), "\xf0\x9f\x98\x80") == 0);
    CHECK(strcmp(shown("\"a\\n\\t\\u001b[31m\\u202e\\u0000b\"", 100), "a   [31m  b") == 0);
    CHECK(strcmp(shown("\"0123456789abcdef\"", 12), "01234567...") == 0);
    CHECK(strcmp(shown("\"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\"", 10),
                 "\xc3\xa9\xc3\xa9\xc3\xa9...") == 0);
    CHECK(strcmp(shown("7", 100), "") == 0 && strcmp(shown("{\"a\":1}", 100), "") == 0);
}

/* ----------------------------------------------------------------------------------- parts */

typedef struct {
    size_t began, ended, unfinished;
    PtcTracePart last, parts[64];
} Seen;

static void on_began(void *user, const PtcTracePart *part)
{
    Seen *seen = user;
    seen->began++;
    seen->last = *part;
}

static void on_ended(void *user, const PtcTracePart *part, const PtcTraceEvent *e)
{
    Seen *seen = user;
    if (seen->ended < 64)
        seen->parts[seen->ended] = *part;
    seen->ended++;
    seen->unfinished += e == NULL;
    CHECK((e != NULL) == part->ended);
}

static void give(PtcParts *parts, const char *line)
{
    CHECK(reads(line));
    CHECK(ptc_parts_take(parts, &event));
}

static void test_parts(void)
{
    PtcMem mem;
    Seen seen = {0};
    ptc_mem_init(&mem, 64 << 20);
    PtcParts *parts = ptc_parts_new(&mem, (PtcPartsSink){on_began, on_ended, &seen});
    give(parts, "{\"event\":\"run.start\",\"id\":\"r1\",\"name\":\"boss\",\"mode\":\"content\","
                "\"at_us\":10}");
    give(parts, "{\"event\":\"turn.start\",\"id\":\"r1.t1\",\"parent\":\"r1\",\"at_us\":20}");
    CHECK(seen.began == 2 && seen.last.depth == 1 && strcmp(seen.last.name, "1") == 0);
    give(parts,
         "{\"event\":\"program.start\",\"id\":\"r1.t1.p\",\"parent\":\"r1.t1\",\"at_us\":30}");
    give(parts, "{\"event\":\"tool\",\"id\":\"r1.t1.c1\",\"parent\":\"r1.t1.p\",\"at_us\":90,"
                "\"start_us\":40,\"duration_us\":30,\"name\":\"a\",\"ok\":true}");
    give(parts,
         "{\"event\":\"tool\",\"id\":\"r1.t1.c2\",\"parent\":\"r1.t1.p\",\"at_us\":90,\"start_us\":"
         "45,\"duration_us\":30,\"name\":\"b\",\"ok\":false,\"message\":\"no\"}");
    give(parts, "{\"event\":\"tool\",\"id\":\"r1.t1.c3\",\"parent\":\"r1.t1.p\",\"at_us\":90,"
                "\"duration_us\":20,\"name\":\"c\",\"ok\":true}");
    CHECK(seen.ended == 3 && seen.parts[0].depth == 3 && seen.parts[0].run == 1);
    CHECK(seen.parts[0].lane == 0 && seen.parts[1].lane == 1 && seen.parts[2].lane == 0);
    CHECK(!seen.parts[1].ok && strcmp(seen.parts[1].reason, "no") == 0);
    CHECK(seen.parts[2].start_us == 70 && seen.parts[2].duration_us == 20);
    give(parts,
         "{\"event\":\"program.stop\",\"id\":\"r1.t1.p\",\"parent\":\"r1.t1\",\"at_us\":91,"
         "\"duration_us\":61,\"end\":\"error\",\"reason\":\"type_error\",\"warnings\":\"[]\"}");
    CHECK(!seen.parts[3].ok && strcmp(seen.parts[3].reason, "type_error") == 0 &&
          seen.parts[3].warned);
    CHECK(seen.parts[3].start_us == 30 && seen.parts[3].end_us == 91);
    CHECK(seen.parts[1].end_us == 75);
    /* an end that never began, and one of another kind */
    give(parts, "{\"event\":\"run.stop\",\"id\":\"r9\",\"at_us\":95,\"duration_us\":15,\"outcome\":"
                "\"ok\"}");
    CHECK(seen.parts[4].start_us == 80 && seen.parts[4].ok && seen.parts[4].run == 2);
    give(parts, "{\"event\":\"turn.stop\",\"id\":\"r1\",\"at_us\":96,\"ok\":true}");
    ptc_parts_end(parts);
    CHECK(seen.ended == 8 && seen.unfinished == 2 && seen.parts[6].duration_us == 86);
    ptc_parts_free(parts);
    CHECK(atomic_load(&mem.used) == 0);
}

/* Calls of other servers, inside a call of `ptc mcp`; and a list of tools that its program called. */
static void test_calls(void)
{
    PtcMem mem;
    Seen seen = {0};
    ptc_mem_init(&mem, 64 << 20);
    PtcParts *parts = ptc_parts_new(&mem, (PtcPartsSink){on_began, on_ended, &seen});
    give(parts, "{\"event\":\"trace.start\",\"request_id\":\"c7\"}");
    give(parts,
         "{\"event\":\"call.start\",\"ts\":\"2026-11-15T20:22:19.046Z\",\"tool\":\"lisp_eval\"}");
    give(parts, "{\"event\":\"upstream.start\",\"id\":\"u1\",\"ts\":\"2026-11-15T20:22:19.050Z\","
                "\"server\":\"gh\",\"tool\":\"list\"}");
    give(parts,
         "{\"event\":\"upstream.stop\",\"id\":\"u1\",\"status\":\"ok\",\"duration_ms\":12.75}");
    give(parts,
         "{\"event\":\"upstream.stop\",\"id\":\"u2\",\"status\":\"error\",\"reason\":\"denied\"}");
    give(parts,
         "{\"event\":\"call.stop\",\"ok\":true,\"duration_us\":90000,\"calls\":[{\"name\":\"t\","
         "\"ok\":true,\"duration_us\":5},7,null,{}]}");
    CHECK(seen.ended == 5 && strcmp(seen.parts[0].name, "gh/list") == 0 && seen.parts[0].ok);
    CHECK(seen.parts[0].start_us == 4000 && seen.parts[0].duration_us == 12750);
    CHECK(strcmp(seen.parts[0].parent, "c7") == 0 && seen.parts[0].depth == 1);
    CHECK(!seen.parts[1].ok && strcmp(seen.parts[1].reason, "denied") == 0);
    CHECK(strcmp(seen.parts[2].id, "c7.c1") == 0 && seen.parts[2].ok && !seen.parts[3].ok);
    CHECK(strcmp(seen.parts[4].id, "c7") == 0 && seen.parts[4].duration_us == 90000);
    give(parts, "{\"event\":\"upstream.start\",\"id\":\"u3\",\"ts\":\"9999-01-01T00:00:00Z\"}");
    ptc_parts_end(parts);
    CHECK(seen.ended == 6 && seen.unfinished == 1 && seen.parts[5].parent[0] == '\0');
    ptc_parts_free(parts);
    CHECK(atomic_load(&mem.used) == 0);
}

/* Beginnings without ends: the table stays within its bound, and ids that come again are counted. */
static void test_many_open(void)
{
    PtcMem mem;
    Seen seen = {0};
    char line[200];
    ptc_mem_init(&mem, 64 << 20);
    PtcParts *parts = ptc_parts_new(&mem, (PtcPartsSink){on_began, on_ended, &seen});
    for (int i = 0; i < PTC_PARTS_OPEN + 100; i++) {
        snprintf(line, sizeof line, "{\"event\":\"run.start\",\"id\":\"r%d\",\"parent\":\"r%d\"}",
                 i, i - 1);
        give(parts, line);
    }
    CHECK(ptc_parts_forgotten(parts) == 100);
    give(parts, "{\"event\":\"run.start\",\"id\":\"r5\",\"parent\":\"r5\"}");
    CHECK(ptc_parts_forgotten(parts) == 101);
    ptc_parts_end(parts);
    CHECK(seen.unfinished == PTC_PARTS_OPEN);
    give(parts, "{\"event\":\"run.start\",\"id\":\"r1\"}");
    ptc_parts_end(parts);
    CHECK(seen.unfinished == PTC_PARTS_OPEN + 1);
    ptc_parts_free(parts);
    CHECK(atomic_load(&mem.used) == 0);
}

/* --------------------------------------------------------------------------------- reports */

typedef struct {
    PtcBuf text;
    size_t told;
    uint64_t told_line;
} Reported;

static bool write_text(void *user, PtcText text)
{
    return ptc_buf_add(&((Reported *)user)->text, text.bytes, text.len);
}

static void tell(void *user, const char *file, uint64_t line, const char *what)
{
    Reported *reported = user;
    CHECK(file && what[0]);
    reported->told++;
    reported->told_line = line;
}

/* The report of a text; false: out of memory. */
static bool report(PtcMem *mem, const char *form, PtcText trace, Reported *reported)
{
    PtcReport r = {.top = 3, .write = write_text, .tell = tell, .user = reported};
    FILE *file = tmpfile();
    bool ok = false;
    CHECK(file && fwrite(trace.bytes, 1, trace.len, file) == trace.len && fflush(file) == 0);
    CHECK(lseek(fileno(file), 0, SEEK_SET) == 0);
    if (ptc_trace_report_init(&r, mem, ptc_trace_report_form(form))) {
        ok = ptc_trace_report_read(&r, fileno(file), "t.jsonl") == NULL;
        ok = ptc_trace_report_finish(&r) && ok;
        ptc_trace_report_deinit(&r);
    }
    fclose(file);
    return ok;
}

static const char sample[] =
    "{\"event\":\"trace.start\",\"version\":1,\"ts\":\"2026-11-15T20:22:19.046Z\"}\n"
    "{\"event\":\"run.start\",\"id\":\"r1\",\"parent\":null,\"at_us\":0,\"name\":\"a\",\"mode\":"
    "\"content\"}\n"
    "{\"event\":\"turn.start\",\"id\":\"r1.t1\",\"parent\":\"r1\",\"at_us\":1,\"type\":\"normal\"}"
    "\n"
    "{\"event\":\"llm.start\",\"id\":\"r1.t1.m1\",\"parent\":\"r1.t1\",\"at_us\":1,\"model\":\"m\"}"
    "\n"
    "broken\n"
    "{\"event\":\"llm.stop\",\"id\":\"r1.t1.m1\",\"parent\":\"r1.t1\",\"at_us\":5001,\"duration_"
    "us\":5000,\"status\":\"ok\",\"tokens\":{\"input\":4,\"output\":2}}\n"
    "{\"event\":\"tool\",\"id\":\"r1.t1.c1\",\"parent\":\"r1.t1\",\"at_us\":6000,\"start_us\":5500,"
    "\"duration_us\":400,\"name\":\"t\",\"layer\":\"native\",\"ok\":true,\"cached\":false}\n"
    "{\"event\":\"turn.stop\",\"id\":\"r1.t1\",\"parent\":\"r1\",\"at_us\":6001,\"duration_us\":"
    "6000,\"ok\":true}\n"
    "{\"event\":\"run.stop\",\"id\":\"r1\",\"parent\":null,\"at_us\":6002,\"duration_us\":6002,"
    "\"outcome\":\"ok\"}\n";

static void test_reports(void)
{
    static const struct {
        const char *form, *text;
    } cases[] = {
        {"summary", "requests    1; 4 tokens in (0 from cache), 2 out\n"},
        {"timeline", "        5.5      400 us      tool t\n"},
        {"slowest", "     5.00 ms          1 us  model    m                        r1.t1.m1\n"},
        {"chrome", "\"ph\":\"X\",\"name\":\"t\",\"cat\":\"tool\",\"ts\":5500,\"dur\":400,\"pid\":1,"
                   "\"tid\":66"},
        {"otlp", "\"startTimeUnixNano\":\"1794774139051500000\",\"endTimeUnixNano\":"
                 "\"1794774139051900000\""},
    };
    PtcMem mem;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Reported reported = {0};
        ptc_mem_init(&mem, 64 << 20);
        ptc_buf_init(&reported.text, &mem, 1 << 20);
        CHECK(report(&mem, cases[i].form, ptc_text_cstr(sample), &reported));
        CHECK(reported.told == 1 && reported.told_line == 5);
        bool has = strstr(ptc_buf_text(&reported.text), cases[i].text) != NULL;
        if (!has)
            printf("%s:\n%s\n", cases[i].form, ptc_buf_text(&reported.text));
        CHECK(has);
        ptc_buf_deinit(&reported.text);
        CHECK(atomic_load(&mem.used) == 0);
    }
    CHECK(ptc_trace_report_form("nothing") == NULL);
}

/* Every allocation fails once: no crash, nothing is left, and a report that is not whole says so. */
static void test_no_memory(void)
{
    static const char *const forms[] = {"summary", "timeline", "slowest", "chrome", "otlp"};
    PtcMem mem, own;
    ptc_mem_init(&own, 64 << 20);
    for (size_t i = 0; i < 5; i++)
        for (uint64_t n = 1; n < 100; n++) {
            Reported reported = {0};
            ptc_mem_init(&mem, 64 << 20);
            ptc_buf_init(&reported.text, &own, 1 << 20);
            ptc_mem_fail_at(&mem, n);
            bool ok = report(&mem, forms[i], ptc_text_cstr(sample), &reported);
            CHECK(atomic_load(&mem.used) == 0);
            ptc_buf_deinit(&reported.text);
            if (ok)
                break;
            CHECK(n < 99);
        }
}

int main(void)
{
    CHECK_RUN(test_events());
    CHECK_RUN(test_refused());
    CHECK_RUN(test_show());
    CHECK_RUN(test_parts());
    CHECK_RUN(test_calls());
    CHECK_RUN(test_many_open());
    CHECK_RUN(test_reports());
    CHECK_RUN(test_no_memory());
    return check_done("test_viewer_trace");
}
