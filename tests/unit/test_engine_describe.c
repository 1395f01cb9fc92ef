/* SPDX-License-Identifier: MIT
 * test_engine_describe.c - what prompts tell of a session and of a context. */
#include "api_help.h"

#include "engine/describe.h"

/* "name type count sample|call|doc", with + for cut and * for changed, a line each. */
static const char *show(const PtcDescription *d)
{
    static char out[4 * TEXT];
    size_t n = 0;
    out[0] = 0;
    for (size_t i = 0; i < d->count; i++) {
        const PtcDescribed *x = &d->items[i];
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s %s %zu %s|%s|%s%s\n",
                              x->changed ? "*" : "", x->name.bytes, x->type, x->count,
                              x->sample.bytes ? x->sample.bytes : "",
                              x->call.bytes ? x->call.bytes : "", x->doc.bytes ? x->doc.bytes : "",
                              x->cut ? "+" : "");
    }
    return out;
}

static const char definitions[] =
    "(def n 5)"
    "(def words [\"one\" \"two\\nlines\" \"three and many more letters than fit\"])"
    "(defn area \"The area.\\nMore.\" [w h] (* w h))"
    "(defn many \"All ( of [ them.\" ([a] a) ([a {:keys [b c]} & [d]]\n [a b c d]))"
    "(def odd (fn [x ; first ]\n  y] \"[\" (vector x y)))"
    "(def short #(+ % %2))"
    "(def both (comp inc dec))"
    "(def adder (let [k 1] (fn add [x] (+ x k))))";

static void test_session(Ptc *ptc)
{
    PtcMem mem;
    PtcArena arena;
    PtcDescription d;
    PtcDescribeOptions options = {.most = 100, .sample_chars = 40};
    PtcSession *s = ptc_session_new(ptc);
    ptc_mem_init(&mem, 1 << 20);
    ptc_arena_init(&arena, &mem);
    CHECK(ptc_describe_session(s, NULL, &options, &arena, &d) && d.count == 0 && d.total == 0);
    PtcOutcome *o = start(ptc, definitions, s, 0);
    CHECK(o->ok);
    CHECK(ptc_describe_session(s, NULL, &options, &arena, &d) && d.total == 8);
    CHECK_STR(show(&d), "n integer 0 5||\n"
                        "words vector 3 [\"one\" \"two\\nlines\" \"three and many more||+\n"
                        "area function 0 |(area w h)|The area.\n"
                        "many function 0 |(many a) (many a {:keys [b c]} & [d])|All ( of [ them.\n"
                        "odd function 0 |(odd x y)|\n"
                        "short function 0 |(short arg1 arg2)|\n"
                        "both function 0 #fn[composed]||\n"
                        "adder function 0 |(adder x)|\n");
    ptc_outcome_drop(o);
    o = start(ptc, "(def n 5) (def short 1) (def new {:a 1})", s, 0);
    CHECK(ptc_describe_session(s, o, &options, &arena, &d) && d.count == 9);
    CHECK(!d.items[0].changed && d.items[5].changed && d.items[8].changed && !d.items[1].changed);
    options.most = 3;
    CHECK(ptc_describe_session(s, o, &options, &arena, &d) && d.total == 9);
    CHECK_STR(show(&d), "*short integer 0 1||\n*new map 1 {:a 1}||\nn integer 0 5||\n");
    ptc_outcome_drop(o);
    ptc_session_free(s);
    ptc_arena_deinit(&arena);
}

static void test_context(Ptc *ptc)
{
    PtcMem mem;
    PtcArena arena;
    PtcDescription d;
    PtcDescribeOptions options = {.most = 100, .sample_chars = 12};
    static const char json[] = "{\"rows\":[{\"id\":1},{\"id\":2}],\"na me\":\"\xc3\xa4\xc3\xb6\","
                               "\"none\":null,\"x\":1.5}";
    PtcData *data = ptc_data_new(ptc, PTC_UNSET);
    PtcValue map = ptc_make_json(data, json, sizeof json - 1, NULL, 0);
    ptc_mem_init(&mem, 1 << 20);
    ptc_arena_init(&arena, &mem);
    CHECK(ptc_describe_map(ptc, map, &options, &arena, &d) && d.total == 4);
    CHECK_STR(show(&d), "rows vector 2 [{\"id\" 1} {\"||+\n"
                        "na me string 2 \"\xc3\xa4\xc3\xb6\"||\n"
                        "none nil 0 nil||\n"
                        "x float 0 1.5||\n");
    options.most = 1;
    CHECK(ptc_describe_map(ptc, map, &options, &arena, &d) && d.count == 1 && d.total == 4);
    CHECK(ptc_describe_map(ptc, PTC_NIL, &options, &arena, &d) && d.total == 0);
    mem.limit = 100;
    ptc_arena_deinit(&arena);
    CHECK(!ptc_describe_map(ptc, map, &options, &arena, &d));
    ptc_arena_deinit(&arena);
    ptc_data_free(data);
}

int main(void)
{
    Ptc *ptc = ptc_new(NULL);
    test_session(ptc);
    test_context(ptc);
    end_engine(ptc);
    return check_done("test_engine_describe");
}
