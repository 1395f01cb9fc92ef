/* SPDX-License-Identifier: MIT
 * test_agent_chain.c - agents one after the other: what goes from one to the next, and how a chain breaks. */
#define _GNU_SOURCE
#include "agent_run_help.h"

#include "agent/run/agent_chain.h"

enum { LINKS = 3 };

typedef struct Links {
    const char *agents[LINKS], *replies[LINKS]; /* one reply each */
    const char *context;
    const char *outcome; /* part of the outcome */
    long asked;          /* requests that were sent */
} Links;

static const Links chains[] = {
    {{"{\"prompt\":\"a\"}"}, {"(return 1)"}, NULL, "\"outcome\":\"ok\",\"return\":1", 1},
    {{"{\"prompt\":\"a\",\"signature\":\"{n :int}\"}",
      "{\"prompt\":\"b {{n}}\",\"signature\":\"(n :int) -> :int\"}"},
     {"(return {:n 4})", "(return (* 2 data/n))"},
     NULL,
     "\"outcome\":\"ok\",\"return\":8,\"by\":\"return\"",
     2},
    /* what is no object fills the only parameter */
    {{"{\"prompt\":\"a\"}", "{\"prompt\":\"b {{rows}}\",\"signature\":\"(rows [:int]) -> :int\"}",
      "{\"prompt\":\"c {{n}}\",\"signature\":\"(n :int) -> :int\"}"},
     {"(return [1 2])", "(return (count data/rows))", "(return (inc data/n))"},
     NULL,
     "\"return\":3",
     3},
    {{"{\"prompt\":\"a\",\"signature\":\"{a-b :int}\"}",
      "{\"prompt\":\"b\",\"signature\":\"(a_b :int) -> :int\"}"},
     {"(return {:a-b 4})", "(return data/a-b)"},
     NULL,
     "\"return\":4",
     2},
    /* never filled: nothing is sent */
    {{"{\"prompt\":\"a\",\"signature\":\"{n :int}\"}",
      "{\"prompt\":\"b\",\"signature\":\"(m :int) -> :int\"}"},
     {"(return {:n 4})", "(return 1)"},
     NULL,
     "\"outcome\":\"error\",\"reason\":\"chain_error\"",
     0},
    /* not filled this time, or by something else */
    {{"{\"prompt\":\"a\"}", "{\"prompt\":\"b\",\"signature\":\"(m :int) -> :int\"}"},
     {"(return {:n 4})", "(return 1)"},
     NULL,
     "\"path\":\"context.m\"",
     1},
    {{"{\"prompt\":\"a\"}", "{\"prompt\":\"b\",\"signature\":\"(m :int) -> :int\"}"},
     {"(return \"x\")", "(return 1)"},
     NULL,
     "\"reason\":\"chain_error\"",
     1},
    {{"{\"prompt\":\"a\"}", "{\"prompt\":\"b\"}"},
     {"(return [1])", "(return 1)"},
     NULL,
     "\"reason\":\"chain_error\"",
     1},
    /* a failure in front */
    {{"{\"prompt\":\"a\"}", "{\"prompt\":\"b\"}", "{\"prompt\":\"c\"}"},
     {"(return {})", "(fail \"no\")", "(return 1)"},
     NULL,
     "\"reason\":\"chained_failure\"",
     2},
    {{"{\"prompt\":\"a\"}", "{\"prompt\":\"b\"}"},
     {"(fail \"no\")", "(return 1)"},
     NULL,
     "\"cause\":\"failed\"",
     1},
    /* at the end: its own reason */
    {{"{\"prompt\":\"a\"}", "{\"prompt\":\"b\"}"},
     {"(return {})", "(fail \"no\")"},
     NULL,
     "\"outcome\":\"error\",\"reason\":\"failed\"",
     2},
    /* the input of the first one is no matter of the chain */
    {{"{\"prompt\":\"a\",\"signature\":\"(n :int) -> :any\"}", "{\"prompt\":\"b\"}"},
     {"(return 1)", "(return 1)"},
     "{\"n\":\"x\"}",
     "\"reason\":\"chained_failure\"",
     0},
    {{"{\"prompt\":\"a\",\"signature\":\"(n :int) -> :any\"}"},
     {"(return 1)"},
     "{\"n\":\"x\"}",
     "\"outcome\":\"invalid\",\"reason\":\"invalid_input\"",
     0},
};

typedef struct Answers {
    const Links *links;
    atomic_long asked;
} Answers;

static void reply_in_turn(void *user, const PtcLlmRequest *q, PtcArena *arena, PtcLlmReply *reply)
{
    Answers *a = user;
    (void)q;
    trial_say(reply, arena, a->links->replies[atomic_fetch_add(&a->asked, 1)]);
}

static size_t read_agents(const Links *links, PtcAgentDef **defs)
{
    PtcAgentReading how = {.files = NULL};
    PtcWhy fault;
    size_t n = 0;
    for (; n < LINKS && links->agents[n]; n++) {
        defs[n] = ptc_definition_read_json(ptc_text_cstr(links->agents[n]), &how, &fault);
        CHECK(defs[n] != NULL);
    }
    return n;
}

/* Runs a chain; the outcome goes to `out`. */
static bool run_chain(const Links *links, const PtcCancel *cancel, PtcMem *mem, PtcBuf *out,
                      long *asked)
{
    PtcAgentDef *defs[LINKS];
    Answers answers = {.links = links};
    PtcOutcomeOptions options = {.messages = false};
    size_t n = read_agents(links, defs);
    PtcModel *model = ptc_callback_model_new(mem, "test", reply_in_turn, &answers);
    PtcChain chain = {.defs = defs, .count = n, .options = ptc_agent_options()};
    chain.options.model = model;
    chain.options.cancel = cancel;
    if (links->context)
        chain.options.input.context = ptc_text_cstr(links->context);
    CHECK(ptc_chain_run(&chain));
    bool ok = ptc_chain_ok(&chain);
    ptc_emit_object(out);
    ptc_chain_write(&chain, &options, out);
    ptc_emit_object_end(out);
    ptc_chain_end(&chain);
    model->free(model);
    for (size_t i = 0; i < n; i++)
        ptc_definition_release(defs[i]);
    *asked = atomic_load(&answers.asked);
    return ok;
}

static void test_chains(void)
{
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        PtcMem mem;
        PtcBuf out;
        long asked;
        ptc_mem_init(&mem, SIZE_MAX / 2);
        ptc_buf_init(&out, &mem, 1 << 24);
        bool ok = run_chain(&chains[i], NULL, &mem, &out, &asked);
        const char *text = ptc_buf_text(&out);
        CHECK(ok == (strstr(text, "{\"outcome\":\"ok\"") == text));
        CHECK(asked == chains[i].asked);
        CHECK((strstr(text, "\"chain\":[") != NULL) == (chains[i].agents[1] != NULL));
        bool has = strstr(text, chains[i].outcome) != NULL;
        CHECK(has);
        if (!has)
            printf("  chain %zu: wanted %s in %.900s\n", i, chains[i].outcome, text);
        ptc_buf_deinit(&out);
        CHECK(atomic_load(&mem.used) == 0);
    }
}

static void test_cancelled(void)
{
    PtcMem mem;
    PtcBuf out;
    long asked;
    PtcCancel cancel = {.outer = NULL};
    atomic_store(&cancel.asked, true);
    ptc_mem_init(&mem, SIZE_MAX / 2);
    ptc_buf_init(&out, &mem, 1 << 24);
    CHECK(!run_chain(&chains[1], &cancel, &mem, &out, &asked) && asked == 0);
    CHECK(strstr(ptc_buf_text(&out), "cancelled") != NULL);
    ptc_buf_deinit(&out);
}

int main(void)
{
    CHECK_RUN(test_chains());
    CHECK_RUN(test_cancelled());
    return check_done("agent_chain");
}
