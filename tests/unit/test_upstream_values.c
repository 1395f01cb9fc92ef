/* SPDX-License-Identifier: MIT
 * What calls give, as values in the heap of whoever asks: parsed once, straight there, for its budget, without secrets;
 * and as text where text is wanted. */
#define _GNU_SOURCE /* memmem */
#include <signal.h>
#include <string.h>

#include "base/os/leash.h"
#include "unit/manager_help.h"
#include "value/coll/map.h"
#include "value/str.h"

enum { HEAP_BYTES = 8 << 20, ONE_MB = 1000000 };

/* A heap as that of a run, and one answer. */
typedef struct {
    PtcScratch scratch;
    PtcRemoteAnswer answer;
    PtcMem own;
    int asked_for_room; /* how often */
    int refuses_at;     /* from then on there is no room */
    size_t gives;       /* bytes more each time */
} Asker;

static bool make_more_room(PtcRemoteAnswer *answer)
{
    Asker *a = answer->user;
    if (++a->asked_for_room >= a->refuses_at)
        return false;
    answer->heap->limit += a->gives;
    answer->heap->budget->stop = PTC_STOP_NONE;
    return true;
}

static void asker_begin(Asker *a, size_t heap_bytes)
{
    memset(a, 0, sizeof *a);
    ptc_scratch_init(&a->scratch, NULL, HEAP_BYTES);
    a->scratch.heap.limit = heap_bytes;
    ptc_mem_init(&a->own, 64 << 20);
    a->answer = (PtcRemoteAnswer){
        .heap = &a->scratch.heap, .make_room = make_more_room, .user = a, .value = PTC_NONE};
    ptc_buf_init(&a->answer.text, &a->own, 64 << 20);
}

static void asker_end(Asker *a)
{
    ptc_buf_deinit(&a->answer.text);
    ptc_scratch_deinit(&a->scratch);
}

/* Asks for values. */
static bool call_for(World *w, void *run, Asker *a, const char *tool, const char *args)
{
    Asked asked;
    char text[400];
    snprintf(text, sizeof text, "{\"server\":\"s\",\"tool\":\"%s\",\"args\":%s}", tool, args);
    ptc_buf_clear(&a->answer.text);
    ask_begin(w, run, &asked, PTC_REMOTE_CALL_NAMED, 0, 0, text);
    bool told = ask_finish(w, run, &asked, &a->answer);
    return told && a->answer.ok;
}

static bool has_text(const Asker *a, const char *part)
{
    PtcText text = ptc_buf_view(&a->answer.text);
    return memmem(text.bytes, text.len, part, strlen(part)) != NULL;
}

/* Nothing was written as text, so nothing is parsed a second time. */
static bool is_value_alone(const Asker *a, const char *kind)
{
    PtcValue v = a->answer.value;
    return v != PTC_NONE && a->answer.text.len == 0 && strcmp(a->answer.kind, kind) == 0 &&
           ptc_is_obj(v) && ptc_heap_owns(&a->scratch.heap, v);
}

static void open_server(World *w, const char *modes, const char *more)
{
    char text[1000];
    world_open(w, entry(text, sizeof text, w, "s", modes, "20", more));
}

static void test_values(void)
{
    World w;
    Asker a;
    world_init(&w);
    open_server(&w, "", "");
    void *run = run_begin(&w, "me");
    asker_begin(&a, HEAP_BYTES);
    CHECK(call_for(&w, run, &a, "sum", "{\"a\":1,\"b\":2}") && is_value_alone(&a, "json"));
    CHECK(ptc_map_field(&a.scratch.heap, a.answer.value, "sum") == ptc_int(3));
    CHECK(call_for(&w, run, &a, "echo", "{\"text\":\" {\\\"a\\\":[1,2]} \"}") &&
          is_value_alone(&a, "json") && ptc_map_count(a.answer.value) == 1);
    CHECK(call_for(&w, run, &a, "echo", "{\"text\":\"[1,2] and more\"}") &&
          is_value_alone(&a, "text"));
    CHECK(ptc_text_is(ptc_str_text(a.answer.value), "[1,2] and more"));
    /* A failure is text, and nothing of the asker has stopped. */
    CHECK(!call_for(&w, run, &a, "fail", "{}") && a.answer.value == PTC_NONE &&
          has_text(&a, "it did not work"));
    CHECK(a.scratch.budget.stop == PTC_STOP_NONE && a.asked_for_room == 0);
    asker_end(&a);
    w.remote->end(run, NULL);
    world_end(&w);
}

/* A megabyte is charged to the heap of the asker, once. */
static void test_charged(void)
{
    World w;
    Asker a;
    world_init(&w);
    open_server(&w, "", "");
    void *run = run_begin(&w, "me");
    asker_begin(&a, HEAP_BYTES);
    size_t before = a.scratch.heap.used;
    CHECK(call_for(&w, run, &a, "big", "{\"bytes\":1000000}") && is_value_alone(&a, "text"));
    size_t charged = a.scratch.heap.used - before;
    CHECK(charged >= ONE_MB && charged < ONE_MB + ONE_MB / 10);
    CHECK(atomic_load(&a.own.used) == 0);
    asker_end(&a);

    /* Too little room: the asker is asked for more until it refuses; then the answer is text, and the run stops. */
    asker_begin(&a, ONE_MB / 2);
    a.refuses_at = 3;
    a.gives = 1000;
    CHECK(call_for(&w, run, &a, "big", "{\"bytes\":1000000}") && a.answer.value == PTC_NONE);
    CHECK(a.asked_for_room == 3 && a.scratch.budget.stop == PTC_STOP_MEMORY);
    CHECK(a.answer.text.len > ONE_MB && has_text(&a, "\"kind\":\"text\""));
    /* What was called is told even so. */
    CHECK(call_for(&w, run, &a, "sum", "{\"a\":1,\"b\":2}") && a.answer.value == PTC_NONE &&
          has_text(&a, "{\"value\":{\"sum\":3},\"kind\":\"json\"}"));
    asker_end(&a);

    asker_begin(&a, ONE_MB / 2);
    a.refuses_at = 3;
    a.gives = ONE_MB;
    CHECK(call_for(&w, run, &a, "big", "{\"bytes\":1000000}") && is_value_alone(&a, "text"));
    CHECK(a.asked_for_room == 1 && a.scratch.budget.stop == PTC_STOP_NONE);
    asker_end(&a);
    w.remote->end(run, NULL);
    world_end(&w);
}

/* Whoever may run the program again needs the text as well. */
static void test_recorded(void)
{
    World w;
    Asker a;
    world_init(&w);
    open_server(&w, "", "");
    void *run = run_begin(&w, "me");
    w.remote->allow(run, PTC_REMOTE_ASKS);
    asker_begin(&a, HEAP_BYTES);
    CHECK(call_for(&w, run, &a, "sum", "{\"a\":1,\"b\":2}") && a.answer.value != PTC_NONE &&
          has_text(&a, "{\"value\":{\"sum\":3},\"kind\":\"json\"}"));
    uint64_t version;
    w.remote->again(run, INT64_MAX, NULL, &version);
    CHECK(call_for(&w, run, &a, "sum", "{\"a\":1,\"b\":2}") && a.answer.value == PTC_NONE &&
          has_text(&a, "{\"value\":{\"sum\":3},\"kind\":\"json\"}"));
    CHECK(lines_of(&w, "s.count") == 1);
    asker_end(&a);
    w.remote->end(run, NULL);
    world_end(&w);
}

/* A value with a secret in it, in a string or as a number, does not get there. */
static void test_hidden(void)
{
    World w;
    Asker a;
    world_init(&w);
    w.token = "7301948265";
    open_server(&w, "number", ",\"env\":{\"TOKEN\":\"${TOKEN}\"}");
    void *run = run_begin(&w, "me");
    asker_begin(&a, HEAP_BYTES);
    CHECK(call_for(&w, run, &a, "sum", "{}") && a.answer.value == PTC_NONE);
    CHECK(has_text(&a, "\"id\":\"[secret]\"") && !has_text(&a, w.token));
    asker_end(&a);
    w.remote->end(run, NULL);
    world_end(&w);

    world_init(&w);
    w.token = "a-secret-of-this-test";
    open_server(&w, "", ",\"env\":{\"TOKEN\":\"${TOKEN}\"}");
    run = run_begin(&w, "me");
    asker_begin(&a, HEAP_BYTES);
    CHECK(call_for(&w, run, &a, "echo", "{\"text\":\"{\\\"a-secret-of-this-test\\\":1}\"}") &&
          a.answer.value == PTC_NONE && has_text(&a, "[secret]") && !has_text(&a, w.token));
    CHECK(call_for(&w, run, &a, "echo", "{\"text\":\"{\\\"no secret\\\":[1.5,null,true]}\"}") &&
          is_value_alone(&a, "json"));
    asker_end(&a);
    w.remote->end(run, NULL);
    world_end(&w);
}

/* A number that no value can be is told where it stands, and the asker goes on. */
static void test_unreadable(void)
{
    World w;
    Asker a;
    world_init(&w);
    open_server(&w, "huge_number", "");
    void *run = run_begin(&w, "me");
    asker_begin(&a, HEAP_BYTES);
    CHECK(!call_for(&w, run, &a, "sum", "{}") && a.answer.value == PTC_NONE);
    CHECK(has_text(&a, "this number is too large for a double, at byte 44 of its result"));
    CHECK(a.scratch.budget.stop == PTC_STOP_NONE);
    asker_end(&a);
    w.remote->end(run, NULL);
    world_end(&w);
}

int main(int argc, char **argv)
{
    if (ptc_leash_asked(argc, argv))
        return ptc_leash_main(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    CHECK_RUN(test_values());
    CHECK_RUN(test_charged());
    CHECK_RUN(test_recorded());
    CHECK_RUN(test_hidden());
    CHECK_RUN(test_unreadable());
    return check_done("test_upstream_values");
}
