/* SPDX-License-Identifier: MIT
 * Ledgers of calls in other servers: sums, ratios, outcomes; hostile ones; memory that ends. */
#include "json/emit.h"
#include "trace/call_outcomes.h"
#include "unit/check.h"

static const char SOME[] =
    "[{\"server\":\"a\",\"status\":\"ok\",\"result_bytes\":300,\"oversize\":false},"
    "{\"server\":\"a\",\"status\":\"error\",\"reason\":\"timeout\",\"result_bytes\":20},"
    "{\"server\":\"b\",\"status\":\"error\",\"reason\":\"response_too_large\",\"result_bytes\":99,"
    "\"oversize\":true},{\"server\":\"b\",\"status\":\"unknown\"}]";

static void test_sums(void)
{
    PtcMem mem;
    PtcCallLog l;
    PtcCallSums sums;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_call_log_open(&l, &mem, ptc_text_cstr(SOME));
    ptc_call_log_sum(&l, &sums);
    CHECK(sums.calls == 4 && sums.ok == 1 && sums.errors == 2 && sums.oversize == 1);
    CHECK(sums.result_bytes == 300 && sums.error_bytes == 20 && sums.oversize_bytes == 99);
    CHECK(ptc_text_is(ptc_call_log_reason(&l, 3), "unknown"));
    ptc_call_log_close(&l);
    CHECK(atomic_load(&mem.used) == 0);
}

static void test_ratios(void)
{
    CHECK(ptc_call_log_ratio(0, 10) == -1 && ptc_call_log_ratio(10, 0) == -1);
    CHECK(ptc_call_log_ratio(48122, 812) == 5926);
    CHECK(ptc_call_log_ratio(1, 3) == 33);
}

/* Whatever is not an array of maps has no calls, and members may be anything. */
static void test_hostile(void)
{
    static const char *const texts[] = {
        "",    "{}",  "[",    "7",      "null",
        "[1]", "[[]", "[{}]", "[null]", "[{\"server\":7,\"status\":[],\"result_bytes\":-5}]"};
    PtcMem mem;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        PtcCallLog l;
        PtcCallSums sums;
        PtcCallOutcomes outcomes = {0};
        ptc_call_log_open(&l, &mem, ptc_text_cstr(texts[i]));
        ptc_call_log_sum(&l, &sums);
        CHECK(sums.ok == 0 && sums.error_bytes == 0 && sums.calls <= 1);
        ptc_call_outcomes_add_log(&outcomes, &mem, &l);
        ptc_call_outcomes_free(&outcomes, &mem);
        ptc_call_log_close(&l);
    }
    CHECK(atomic_load(&mem.used) == 0);
}

static void test_outcomes(void)
{
    PtcMem mem;
    PtcBuf out;
    PtcCallLog l;
    PtcCallOutcomes one = {0}, all = {0};
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_buf_init(&out, &mem, 1 << 20);
    ptc_call_log_open(&l, &mem, ptc_text_cstr(SOME));
    ptc_call_outcomes_add_log(&one, &mem, &l);
    ptc_call_log_close(&l);
    ptc_call_outcomes_add_all(&all, &mem, &one);
    ptc_call_outcomes_add_all(&all, &mem, &one);
    ptc_call_outcomes_put(&all, &out);
    CHECK_STR(ptc_buf_text(&out),
              "{\"total\":8,\"ok\":2,\"by_reason\":{\"timeout\":2,\"response_too_large\":2,"
              "\"unknown\":2},\"by_server\":{\"a\":{\"total\":4,\"ok\":2,\"by_reason\":{"
              "\"timeout\":2}},\"b\":{\"total\":4,\"ok\":0,\"by_reason\":{"
              "\"response_too_large\":2,\"unknown\":2}}}}");
    ptc_call_outcomes_free(&one, &mem);
    ptc_call_outcomes_free(&all, &mem);
    ptc_buf_deinit(&out);
    CHECK(atomic_load(&mem.used) == 0);
}

/* Names without end are counted together. */
static void test_bounds(void)
{
    PtcMem mem;
    PtcCallOutcomes all = {0};
    char name[200];
    uint64_t calls = 0;
    ptc_mem_init(&mem, SIZE_MAX / 2);
    for (int i = 0; i < 2000; i++) {
        int n = snprintf(name, sizeof name, "%d-%0150d", i, 0);
        ptc_call_outcomes_add(&all, &mem, (PtcText){name, (size_t)n}, PTC_TEXT("timeout"), 1);
    }
    CHECK(all.count == PTC_CALL_OUTCOMES_MAX + 1);
    for (size_t i = 0; i < all.count; i++)
        calls += all.items[i].calls;
    CHECK(calls == 2000);
    ptc_call_outcomes_free(&all, &mem);
    mem.limit = 100;
    ptc_call_outcomes_add(&all, &mem, PTC_TEXT("a"), PTC_TEXT(""), 1);
    CHECK(all.count == 0 && atomic_load(&mem.used) == 0);
}

int main(void)
{
    test_sums();
    test_ratios();
    test_hostile();
    test_outcomes();
    test_bounds();
    return check_done("ledger");
}
