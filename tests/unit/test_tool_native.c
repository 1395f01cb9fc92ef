/* SPDX-License-Identifier: MIT
 * test_tool_native.c - tools called by the host, JSON in and JSON out: arguments, answers at once and later, failures,
 * limits, the cache shared with programs, calls that must not overlap. */
#include "check.h"
#include "native_help.h"

#include <pthread.h>

static PtcMem mem;
static atomic_int runs, inside, most_inside;

static PtcToolAnswer same(PtcToolCall *call, void *user)
{
    (void)user;
    atomic_fetch_add(&runs, 1);
    ptc_call_return(call, ptc_call_args(call));
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer fails(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_fail(call, "no luck today", 13);
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer silent(PtcToolCall *call, void *user)
{
    (void)call;
    (void)user;
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer bad_json(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_return_json(call, "[1,", 3);
    return PTC_TOOL_ANSWERED;
}

static PtcToolAnswer infinite(PtcToolCall *call, void *user)
{
    (void)user;
    ptc_call_return(call, ptc_make_float(ptc_call_data(call), 1e308 * 10));
    return PTC_TOOL_ANSWERED;
}

/* Until nobody waits. */
static PtcToolAnswer waits(PtcToolCall *call, void *user)
{
    (void)user;
    while (!ptc_call_cancelled(call))
        check_pause_us(1000);
    return PTC_TOOL_ANSWERED;
}

static void *complete(void *arg)
{
    check_pause_us(3000);
    ptc_call_return_json(arg, "{\"late\":true}", 13);
    return NULL;
}

static PtcToolAnswer later(PtcToolCall *call, void *user)
{
    pthread_t thread;
    (void)user;
    if (pthread_create(&thread, NULL, complete, call) != 0)
        return PTC_TOOL_ANSWERED;
    pthread_detach(thread);
    return PTC_TOOL_PENDING;
}

static PtcToolAnswer alone(PtcToolCall *call, void *user)
{
    (void)user;
    int n = atomic_fetch_add(&inside, 1) + 1;
    if (n > atomic_load(&most_inside))
        atomic_store(&most_inside, n);
    check_pause_us(1000);
    atomic_fetch_sub(&inside, 1);
    ptc_call_return(call, ptc_make_int(ptc_call_data(call), n));
    return PTC_TOOL_ANSWERED;
}

static void add(PtcTools *tools, PtcToolDef def)
{
    char error[200] = "";
    def.size = sizeof def;
    def.name_len = strlen(def.name);
    def.signature_len = def.signature ? strlen(def.signature) : 0;
    def.preview_limit = PTC_UNSET;
    def.timeout_ms = def.timeout_ms ? def.timeout_ms : PTC_UNSET;
    CHECK(ptc_tools_add(tools, &def, error, sizeof error) == PTC_OK);
    CHECK_STR(error, "");
}

static PtcTools *some_tools(void)
{
    PtcTools *tools = ptc_tools_new();
    add(tools, (PtcToolDef){.name = "same", .function = same});
    add(tools, (PtcToolDef){.name = "typed", .function = same, .signature = "(n :int) -> :any"});
    add(tools, (PtcToolDef){.name = "fails", .function = fails});
    add(tools, (PtcToolDef){.name = "soft", .function = fails, .on_error_value = true});
    add(tools, (PtcToolDef){.name = "silent", .function = silent});
    add(tools, (PtcToolDef){.name = "bad", .function = bad_json});
    add(tools, (PtcToolDef){.name = "infinite", .function = infinite});
    add(tools, (PtcToolDef){.name = "later", .function = later, .pending = true});
    add(tools, (PtcToolDef){.name = "waits", .function = waits});
    add(tools, (PtcToolDef){.name = "short", .function = waits, .timeout_ms = 10});
    add(tools, (PtcToolDef){.name = "cached", .function = same, .cache = true});
    add(tools, (PtcToolDef){.name = "alone", .function = alone, .serial = true});
    return tools;
}

/* "+JSON" or "-message". */
static void call(PtcTools *tools, const char *name, const char *args,
                 const PtcNativeOptions *options, char out[300])
{
    PtcBuf buf;
    bool ok = false;
    ptc_buf_init(&buf, &mem, 10000);
    bool told =
        native_call_named(tools, ptc_text_cstr(name), ptc_text_cstr(args), options, &buf, &ok);
    snprintf(out, 300, "%s%.*s",
             !told ? "none"
             : ok  ? "+"
                   : "-",
             (int)buf.len, buf.data ? buf.data : "");
    ptc_buf_deinit(&buf);
}

static void check_calls(PtcTools *tools)
{
    static const struct {
        const char *name, *args, *want;
    } cases[] = {
        {"same", "{\"a\":[1,2.5,null],\"b\":{\"c\":\"\\n\"}}",
         "+{\"a\":[1,2.5,null],\"b\":{\"c\":\"\\n\"}}"},
        {"same", "{}", "+{}"},
        {"same", "[1]", "-its arguments must be an object"},
        {"same", "{\"a\":", "-its arguments are not JSON"},
        {"typed", "{\"n\":3}", "+{\"n\":3}"},
        {"fails", "{}", "-no luck today"},
        {"soft", "{}", "-no luck today"},
        {"silent", "{}", "-it gave no answer"},
        {"later", "{}", "+{\"late\":true}"},
        {"short", "{}", "-it did not answer within 10 ms; it may have taken effect"},
        {"nobody", "{}", "-there is no such tool"},
    };
    char got[300];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call(tools, cases[i].name, cases[i].args, NULL, got);
        CHECK_STR(got, cases[i].want);
    }
    call(tools, "typed", "{\"n\":\"x\"}", NULL, got);
    CHECK(got[0] == '-' && strstr(got, "tool/typed"));
    call(tools, "bad", "{}", NULL, got);
    CHECK(strstr(got, "-its result is not JSON"));
    call(tools, "infinite", "{}", NULL, got);
    CHECK(strstr(got, "-its result has no JSON"));
}

static void check_limits(PtcTools *tools)
{
    char got[300];
    PtcCancel cancel = {.asked = true};
    call(tools, "waits", "{}", &(PtcNativeOptions){.cancel = &cancel}, got);
    CHECK_STR(got, "-it was cancelled");
    call(tools, "waits", "{}", &(PtcNativeOptions){.deadline_ns = ptc_clock_ns(NULL) + 5000000},
         got);
    CHECK_STR(got, "-it did not answer in time");
    call(tools, "same", "{\"a\":[1,2,3,4,5,6,7,8,9]}", &(PtcNativeOptions){.memory_bytes = 1}, got);
    CHECK(got[0] == '-');
}

static void check_cache(PtcTools *tools)
{
    CheckHeap place;
    PtcCache cache;
    char got[300];
    check_heap_init(&place);
    CHECK(ptc_cache_init(&cache, &place.pool, 100000, 10));
    PtcNativeOptions options = {.cache = &cache};
    atomic_store(&runs, 0);
    for (int i = 0; i < 3; i++) {
        call(tools, "cached", "{\"a\":1}", &options, got);
        CHECK_STR(got, "+{\"a\":1}");
    }
    CHECK(atomic_load(&runs) == 1);
    call(tools, "cached", "{\"a\":2}", &options, got);
    CHECK(atomic_load(&runs) == 2);
    ptc_cache_deinit(&cache);
    check_heap_deinit(&place);
}

static void *call_alone(void *tools)
{
    char got[300];
    for (int i = 0; i < 5; i++)
        call(tools, "alone", "{}", NULL, got);
    return NULL;
}

static void check_serial(PtcTools *tools)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, call_alone, tools);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(atomic_load(&most_inside) == 1);
}

/* One for many calls of many sets. */
static void check_reuse(PtcTools *tools)
{
    PtcNative *native = ptc_native_new();
    PtcBuf buf;
    bool ok;
    ptc_buf_init(&buf, &mem, 10000);
    for (int i = 0; i < 1000; i++) {
        ptc_buf_clear(&buf);
        CHECK(ptc_native_call(native, tools, i % 2 ? 0 : 2, "{\"a\":1}", 7, NULL, &buf, &ok));
        CHECK(ok == (i % 2 != 0));
    }
    buf.max = 3;
    ptc_buf_clear(&buf);
    bool told = ptc_native_call(native, tools, 0, "{\"a\":1}", 7, NULL, &buf, &ok);
    CHECK(!told || !ok);
    ptc_buf_deinit(&buf);
    ptc_native_free(native);
}

int main(void)
{
    ptc_mem_init(&mem, SIZE_MAX / 2);
    PtcTools *tools = some_tools();
    CHECK_RUN(check_calls(tools));
    CHECK_RUN(check_limits(tools));
    CHECK_RUN(check_cache(tools));
    CHECK_RUN(check_serial(tools));
    CHECK_RUN(check_reuse(tools));
    ptc_tools_free(tools);
    CHECK(atomic_load(&mem.used) == 0);
    return check_done("test_tool_native");
}
